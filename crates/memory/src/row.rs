//! Rows and their versions, the newest first.
//!
//! ```text
//!   entry of index 0 --\                newest        older         older
//!   entry of index 1 ---+--> Row -------> Version ----> Version ----> Version
//!                                         begin: writer  begin: 17     begin: 4
//! ```
//! The version at the head may belong to a transaction that has not ended. Then it is the row's lock, and no other
//! transaction puts one before it. A version leads to the entry that it is found by in each index, so a reader who comes to a row through
//! an entry knows whether the version that it sees is the one that has this key.

use std::ptr::NonNull;

use crossbeam_epoch::Guard;
use pikepole_contention::Spinner;
use pikepole_contention::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use crate::cell::Entry;

/// Marks a begin word that is the address of a [`Writer`].
const WRITER: u64 = 1 << 63;

const ACTIVE: u64 = 0;
const ENTERING: u64 = 1;
const ABORTED: u64 = 2;
const PREPARING: u64 = 3;
const COMMITTED: u64 = 4;
const STATE_BITS: u32 = 3;

/// The standing of a transaction that writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Active,
    /// It is about to have a time.
    Entering,
    Aborted,
    /// It has a time, and may still fail.
    Preparing(u64),
    Committed(u64),
}

/// The state of a transaction, which its versions lead to until it has ended.
pub(crate) struct Writer(AtomicU64);

impl Writer {
    pub fn new() -> NonNull<Writer> {
        NonNull::from(Box::leak(Box::new(Writer(AtomicU64::new(ACTIVE)))))
    }

    /// SeqCst: see [`crate::transactions::Clock`].
    pub fn state(&self) -> State {
        let word = self.0.load(Ordering::SeqCst);
        match word & ((1 << STATE_BITS) - 1) {
            ACTIVE => State::Active,
            ENTERING => State::Entering,
            ABORTED => State::Aborted,
            PREPARING => State::Preparing(word >> STATE_BITS),
            _ => State::Committed(word >> STATE_BITS),
        }
    }

    /// SeqCst: see [`crate::transactions::Clock`].
    pub fn set(&self, state: State) {
        let word = match state {
            State::Active => ACTIVE,
            State::Entering => ENTERING,
            State::Aborted => ABORTED,
            State::Preparing(time) => time << STATE_BITS | PREPARING,
            State::Committed(time) => time << STATE_BITS | COMMITTED,
        };
        self.0.store(word, Ordering::SeqCst);
    }

    /// The time at which it has committed, if that is `latest` or before; None: later, or not. A writer that has got such a time is
    /// waited for until it is known whether it keeps it; one with a later time is not, so those who wait for each other's times end.
    pub fn committed_by(&self, latest: u64) -> Option<u64> {
        let mut spinner = Spinner::new();
        loop {
            match self.state() {
                State::Active | State::Aborted => return None,
                State::Committed(time) => return (time <= latest).then_some(time),
                State::Preparing(time) if time > latest => return None,
                State::Entering | State::Preparing(_) => {
                    spinner.spin();
                    spinner.back_off_if_due();
                }
            }
        }
    }
}

/// The origin of a version.
#[derive(Clone, Copy)]
pub(crate) enum Begin<'g> {
    Time(u64),
    Writer(&'g Writer),
}

/// One version of a row.
pub(crate) struct Version {
    begin: AtomicU64,
    pub older: AtomicPtr<Version>,
    /// The statement of its writer that has made it.
    pub statement: u64,
    /// The entries that it is found by, one of each index; none of a deleted row.
    pub entries: Box<[NonNull<Entry>]>,
    /// The row's bytes; None: the row was deleted.
    pub body: Option<Box<[u8]>>,
}

impl Version {
    pub fn new(
        writer: NonNull<Writer>,
        statement: u64,
        entries: Box<[NonNull<Entry>]>,
        body: Option<&[u8]>,
    ) -> Box<Version> {
        let begin = AtomicU64::new(writer.as_ptr().expose_provenance() as u64 | WRITER);
        Box::new(Version {
            begin,
            older: AtomicPtr::new(std::ptr::null_mut()),
            statement,
            entries,
            body: body.map(Box::from),
        })
    }

    /// Its time, or its writer. Acquire pairs with the Release of [`Version::set_time`].
    pub fn begin<'g>(&self, _guard: &'g Guard) -> Begin<'g> {
        let word = self.begin.load(Ordering::Acquire);
        if word & WRITER == 0 {
            return Begin::Time(word);
        }
        let writer = std::ptr::with_exposed_provenance::<Writer>((word & !WRITER) as usize);
        // SAFETY: a writer is given to the epochs only after all its versions have got a time or have left their chains; this one
        // had the writer's address while the guard was held.
        Begin::Writer(unsafe { &*writer })
    }

    /// The writer has committed at `time`.
    pub fn set_time(&self, time: u64) {
        self.begin.store(time, Ordering::Release);
    }

    /// The time of a version that was committed at `latest` or before; see [`Writer::committed_by`].
    pub fn committed_by(&self, latest: u64, guard: &Guard) -> Option<u64> {
        match self.begin(guard) {
            Begin::Time(time) => (time <= latest).then_some(time),
            Begin::Writer(writer) => writer.committed_by(latest),
        }
    }

    pub fn is_of(&self, writer: Option<NonNull<Writer>>, guard: &Guard) -> bool {
        matches!(self.begin(guard), Begin::Writer(own) if Some(NonNull::from(own)) == writer)
    }

    pub fn older<'g>(&self, _guard: &'g Guard) -> Option<&'g Version> {
        // SAFETY: a version is given to the epochs after it has left its chain, in which it was while the guard was held.
        // Acquire pairs with the Release that put this version before it.
        unsafe { self.older.load(Ordering::Acquire).as_ref() }
    }
}

/// A row: the head of its versions.
pub(crate) struct Row {
    /// Its number in the table.
    pub id: u64,
    pub newest: AtomicPtr<Version>,
    /// The entries that lead to it, and the transactions and pieces of garbage that know it.
    holders: AtomicU32,
}

impl Row {
    pub fn new(id: u64) -> NonNull<Row> {
        let row = Row { id, newest: AtomicPtr::new(std::ptr::null_mut()), holders: AtomicU32::new(1) };
        NonNull::from(Box::leak(Box::new(row)))
    }

    /// Acquire pairs with the AcqRel of the exchange that has put it there.
    pub fn newest<'g>(&self, _guard: &'g Guard) -> Option<&'g Version> {
        // SAFETY: as of `Version::older`.
        unsafe { self.newest.load(Ordering::Acquire).as_ref() }
    }

    pub fn hold(&self) {
        self.holders.fetch_add(1, Ordering::Relaxed);
    }

    /// One holder less; the last one gives the row to the epochs, with the mark of its deletion if that is left.
    ///
    /// # Safety
    /// The caller has held the row, and no longer uses it but under a guard.
    pub unsafe fn release(row: NonNull<Row>, guard: &Guard) {
        // SAFETY: the caller's hold has kept it until here.
        let held = unsafe { row.as_ref() };
        // AcqRel: the last one comes behind what all the others have done with the row.
        if held.holders.fetch_sub(1, Ordering::AcqRel) > 1 {
            return;
        }
        let row = row.as_ptr();
        // SAFETY: nothing leads to the row any more but readers who hold a guard: no entry, no transaction, no garbage. Its versions that
        // lead to entries have gone before their entries, so what is left in the chain are marks of deletions.
        unsafe {
            guard.defer_unchecked(move || {
                let mut row = Box::from_raw(row);
                let mut version = *row.newest.get_mut();
                while !version.is_null() {
                    let mut own = Box::from_raw(version);
                    version = *own.older.get_mut();
                }
            });
        }
    }
}
