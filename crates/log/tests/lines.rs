//! What an append writes, found by looking at all of the process's memory before and after it.
//!
//! One test, in a program of its own: nothing else may write meanwhile. Two threads append one after the other; the lines
//! that both wrote are what they would contend for. Records and stacks are left out: the ring is a shared mapping, and each
//! thread's stack is its own.

use pikepole_contention::Statistics;
use pikepole_contention::sync::thread;
use pikepole_log::{FlushOutcome, Log, LogOptions, Policy, Reservation};
use pikepole_machine::Disk;
use std::collections::BTreeSet;
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// Bytes that two CPUs contend for as one: two lines of 64, since the prefetcher takes them in pairs.
const LINE: u64 = 128;
/// Appends of each kind that are looked at.
const LOOKS: usize = 3;
const RECORD_BYTES: usize = 48;

/// The private writable memory of the process but for the stack that `own` lies on and what is in `not`.
fn mappings(own: u64) -> Vec<Range<u64>> {
    let text = std::fs::read_to_string("/proc/self/maps").expect("the system tells");
    let parse = |line: &str| {
        let mut words = line.split_whitespace();
        let (begin, end) = words.next()?.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        (words.next()? == "rw-p").then_some(number(begin)?..number(end)?)
    };
    text.lines().filter_map(parse).filter(|range| !range.contains(&own)).collect()
}

/// Copies of memory.
struct Snapshot(Vec<(u64, Vec<u8>)>);

impl Snapshot {
    fn room(mappings: &[Range<u64>]) -> Self {
        Self(mappings.iter().map(|range| (range.start, vec![0; (range.end - range.start) as usize])).collect())
    }

    /// Through the system, so that no byte is read as a value of this program. A mapping may have become shorter.
    fn take(&mut self, memory: &File) {
        for (begin, bytes) in &mut self.0 {
            let _short = memory.read_at(bytes, *begin);
        }
    }

    /// Whether some of its own bytes are in the line.
    fn is_in(&self, line: u64) -> bool {
        self.0.iter().any(|(_, bytes)| {
            let begin = bytes.as_ptr() as u64;
            begin < line + LINE && line < begin + bytes.len() as u64
        })
    }
}

/// The lines that `f` changes.
fn written(memory: &File, f: impl FnOnce()) -> BTreeSet<u64> {
    let here = 0u8;
    let mappings = mappings(&raw const here as u64);
    let (mut before, mut after) = (Snapshot::room(&mappings), Snapshot::room(&mappings));
    after.take(memory);
    before.take(memory);
    f();
    after.take(memory);
    let mut lines = BTreeSet::new();
    for ((begin, old), (_, new)) in before.0.iter().zip(&after.0) {
        // Mappings begin with a page, so a piece of them is a line.
        for (at, (old, new)) in old.chunks(LINE as usize).zip(new.chunks(LINE as usize)).enumerate() {
            let address = begin + at as u64 * LINE;
            if old != new && !before.is_in(address) && !after.is_in(address) {
                lines.insert(address);
            }
        }
    }
    lines
}

fn append(log: &Log) {
    log.append(RECORD_BYTES, |out, _| out.fill(1)).expect("there is room");
}

/// Until its chunks have their full size, if it is to have any.
fn fill_chunks(log: &Log) {
    for _ in 0..60 {
        (0..100).for_each(|_| append(log));
        while let FlushOutcome::Wrote(_) = log.flush_step() {}
    }
}

/// What all of these have: a thread that has just gone to sleep may have written at the first look.
fn in_all(looks: &[BTreeSet<u64>]) -> Option<BTreeSet<u64>> {
    looks.iter().cloned().reduce(|all, look| &all & &look)
}

/// The lines that one append of a thread writes under the policy in force: one that takes its place from the shared
/// reservation, and, where there is one, one that finds its place in the thread's chunk.
fn lines_of_a_thread(log: &Arc<Log>) -> (BTreeSet<u64>, Option<BTreeSet<u64>>) {
    let log = Arc::clone(log);
    thread::spawn(move || {
        let memory = File::open("/proc/self/mem").expect("the process may look at itself");
        fill_chunks(&log);
        let in_chunks = log.policies().contains(&Policy::Reservation(Reservation::Chunk));
        let (mut shared, mut own) = (Vec::new(), Vec::new());
        while shared.len() < LOOKS || (in_chunks && own.len() < LOOKS) {
            if in_chunks && shared.len() <= own.len() {
                // Ends the open chunk, so that the next append takes another one, and not a small one.
                fill_chunks(&log);
                log.now();
            }
            let chunks = log.stats().chunks;
            let lines = written(&memory, || append(&log));
            match log.stats().chunks == chunks && in_chunks {
                true => own.push(lines),
                false => shared.push(lines),
            }
        }
        (in_all(&shared).expect("an append that reserves"), in_all(&own))
    })
    .join()
    .expect("no panic")
}

#[test]
fn an_uncontended_append_writes_no_shared_line_but_the_reservations() {
    let (segment_bytes, bytes_max) = (8 << 20, 8 << 20);
    let options = LogOptions { segment_bytes, first_segment_bytes: segment_bytes, bytes_max, ..LogOptions::small() };
    let log = Arc::new(Log::create(&Disk::null(), "/log", options, &Statistics::new()).expect("a log"));
    for reservation in Reservation::all() {
        log.set_policy(Policy::Reservation(reservation)).expect("a policy");
        // The second thread begins when the first has ended, so it is kept from the first one's slot.
        let keeper = slot_keeper();
        let (first, first_own) = lines_of_a_thread(&log);
        let keeper_of_first = slot_keeper();
        let (second, second_own) = lines_of_a_thread(&log);
        drop((keeper, keeper_of_first));
        let both: BTreeSet<u64> = first.intersection(&second).copied().collect();
        // A spinlock that was taken and given back holds what it held, but for the count of acquisitions on its line.
        let shared = if reservation == Reservation::Spinlock { 2 } else { 1 };
        assert_eq!(both.len(), shared, "{reservation:?}: {first:x?} {second:x?}");
        let all = (first.len(), second.len());
        assert_eq!(all, (shared + 1, shared + 1), "{reservation:?}: the shared ones and the thread's own line");
        assert_eq!(first_own.is_some(), reservation == Reservation::Chunk);
        if let (Some(first), Some(second)) = (first_own, second_own) {
            assert!(first.is_disjoint(&second), "in chunks: {first:x?} {second:x?}");
            assert_eq!((first.len(), second.len()), (1, 1), "the thread's own line");
        }
    }
}

/// Keeps the lowest free slot taken, so that the next thread gets another one.
fn slot_keeper() -> impl Drop {
    struct Keeper(Option<std::sync::mpsc::Sender<()>>, Option<thread::JoinHandle<()>>);
    impl Drop for Keeper {
        fn drop(&mut self) {
            self.0.take();
            let _ended = self.1.take().map(thread::JoinHandle::join);
        }
    }
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let (ready, is_ready) = std::sync::mpsc::channel();
    let keeper = thread::spawn(move || {
        let _slot = pikepole_contention::slot::current();
        let _ = ready.send(());
        let _ = receiver.recv();
    });
    let _ = is_ready.recv();
    Keeper(Some(sender), Some(keeper))
}
