//! Transactions that lock tables, rows, ranges and definitions in random orders, under threads that are switched by chance, by
//! shuttle: the locks, the wait graph and the ends of transactions as they are.
//!
//! ```text
//!   2-4 sessions   transactions of a few steps: rows written and read under locks, ranges, whole tables, definitions, and
//!                  lookups of foreign keys, each on things that the others want too
//!   1 family       a parent with two children, of which one waits while the other comes to hold something
//! ```
//! Whatever the order: each circle has a victim, so every session comes to its end, and no lock, wait or circle is left. What
//! stays in a circle is seen by shuttle: no thread can run.
//!
//! ```sh
//! .ci/shuttle                                       # some seconds
//! PIKEPOLE_SHUTTLE_RUNS=20000 .ci/shuttle           # for each model and kind of schedule
//! ```

use std::collections::HashMap;
use std::future::Future;
use std::ops::Bound;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};

use pikepole_contention::shuttle_runs::{canary, check, runs};
use pikepole_contention::sync::{Arc, Mutex, thread};
use pikepole_contention::{Statistics, fault};
use pikepole_log::{Log, LogOptions, LsnRange};
use pikepole_machine::{Disk, SimulatedDisk};
use shuttle::rand::{Rng, thread_rng};

use crate::error::{Need, Stop, TransactionError};
use crate::id::{TransactionId, TransactionIds};
use crate::key_lock::{KeyLock, LockedKeys};
use crate::lock::{LockMode, TableLock};
use crate::nested::NestedTransactions;
use crate::registry::lock;
use crate::status::Status;
use crate::transaction::Transaction;
use crate::transactions::Transactions;
use crate::wait::WaitGraph;

/// Runs of a model for each kind of schedule unless `PIKEPOLE_SHUTTLE_RUNS` says how many.
const RUNS: usize = 400;
/// Runs within which a planted fault must show.
const RUNS_TO_NOTICE: usize = 8000;

const TABLES: u32 = 2;
const KEYS: u8 = 2;

/// Wakes by letting a thread go on.
struct Unpark(thread::Thread);

impl Wake for Unpark {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(std::sync::Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return output;
        }
        // Who waits for the middle of a commit wakes itself; a schedule by priority then runs another.
        thread::yield_now();
        thread::park();
    }
}

/// Who wrote the row of a key last, under what acts the latch of its page.
type Pages = Mutex<HashMap<(u32, u8), TransactionId>>;

struct World {
    home: Arc<Transactions>,
    catalog: Arc<TableLock>,
    tables: Vec<Arc<TableLock>>,
    pages: Pages,
}

impl World {
    fn new() -> Arc<World> {
        let statistics = Statistics::new();
        let disk = Disk::simulated(SimulatedDisk::new(1));
        let log = Log::create(&disk, "/log", LogOptions::small(), &statistics).expect("an empty disk");
        let graph = Arc::<WaitGraph>::default();
        let home = Transactions::new(Arc::new(log), statistics, TransactionId(1), TransactionIds::default(), graph);
        Arc::new(World {
            home,
            catalog: Arc::new(TableLock::new(0)),
            tables: (1..=TABLES).map(|number| Arc::new(TableLock::new(number))).collect(),
            pages: Pages::default(),
        })
    }

    /// The need to wait for the row's writer, if it is another transaction which has not ended.
    fn written_by_another(&self, tx: &Transaction, table: u32, key: u8) -> Result<(), Stop> {
        let writer = lock(&self.pages).get(&(table, key)).copied();
        self.ended_or_own(tx, writer)
    }

    fn ended_or_own(&self, tx: &Transaction, writer: Option<TransactionId>) -> Result<(), Stop> {
        match writer.filter(|writer| tx.id() != Some(*writer)) {
            Some(writer) if matches!(self.home.status(writer), Status::Active | Status::Committing) => {
                Err(Need::TransactionEnd(writer).into())
            }
            _ => Ok(()),
        }
    }

    /// Writes the row of a key, or inserts it: as the calls of rows do, without pages.
    fn try_write(&self, tx: &mut Transaction, table: u32, key: u8, mode: LockMode) -> Result<(), Stop> {
        tx.try_lock(&self.tables[table as usize], LockMode::IX)?;
        // The latch of the page is held from the look to the write.
        let mut page = lock(&self.pages);
        self.ended_or_own(tx, page.get(&(table, key)).copied())?;
        if !self.home.keys.admits(tx.cell.owner, table, &[key], mode) {
            let lock = KeyLock { object: table, keys: LockedKeys::One([key].as_slice().into()), mode };
            return Err(Need::Keys(Box::new(lock)).into());
        }
        tx.announce();
        let at = self.home.log().reserved();
        tx.changed(LsnRange { start: at, end: at });
        page.insert((table, key), tx.id().expect("it is announced"));
        Ok(())
    }

    /// Reads the row of a key under a lock; `mode` is S or U.
    fn try_read(&self, tx: &mut Transaction, table: u32, key: u8, mode: LockMode) -> Result<(), Stop> {
        let of_table = if mode == LockMode::S { LockMode::IS } else { LockMode::IX };
        tx.try_lock(&self.tables[table as usize], of_table)?;
        let is_new =
            tx.try_lock_keys(KeyLock { object: table, keys: LockedKeys::One([key].as_slice().into()), mode })?;
        let read = self.written_by_another(tx, table, key);
        if read.is_err() && is_new {
            tx.unlock_row(table, &[key]);
        }
        read
    }

    fn try_range(&self, tx: &mut Transaction, table: u32) -> Result<(), Stop> {
        tx.try_lock(&self.tables[table as usize], LockMode::IS)?;
        let keys = LockedKeys::Range(Bound::Included(vec![0]), Bound::Unbounded);
        tx.try_lock_keys(KeyLock { object: table, keys, mode: LockMode::RangeSS })?;
        (0..KEYS).try_for_each(|key| self.written_by_another(tx, table, key))
    }

    /// A row of the last table refers to one of the first.
    fn try_child(&self, tx: &mut Transaction, key: u8, is_written: &mut bool) -> Result<(), Stop> {
        if !*is_written {
            self.try_write(tx, TABLES - 1, key, LockMode::RangeIN)?;
            *is_written = true;
        }
        tx.try_lock(&self.tables[0], LockMode::SchS)?;
        self.written_by_another(tx, 0, key)
    }

    fn try_define(&self, tx: &mut Transaction, table: u32) -> Result<(), Stop> {
        tx.try_lock(&self.catalog, LockMode::X)?;
        tx.try_lock(&self.tables[table as usize], LockMode::SchM)
    }

    /// A step drawn by chance, to its end.
    fn step(&self, tx: &mut Transaction) -> Result<(), TransactionError> {
        let (table, key) = (thread_rng().gen_range(0..TABLES), thread_rng().gen_range(0..KEYS));
        let kind = thread_rng().gen_range(0..12);
        let whole = [LockMode::S, LockMode::BU, LockMode::X][thread_rng().gen_range(0..3)];
        let mut is_written = false;
        let done = self.drive(tx, |tx| match kind {
            0..=3 => self.try_write(tx, table, key, LockMode::X),
            4 => self.try_read(tx, table, key, LockMode::S),
            5 => self.try_read(tx, table, key, LockMode::U),
            6 => self.try_range(tx, table),
            7 => self.try_child(tx, key, &mut is_written),
            8 => self.try_define(tx, table),
            9 => tx.try_lock(&self.tables[table as usize], LockMode::SchS),
            _ => tx.try_lock(&self.tables[table as usize], whole),
        });
        tx.end_statement();
        done
    }

    /// The one loop that waits, as the engine has it.
    fn drive<T>(
        &self,
        tx: &mut Transaction,
        mut operation: impl FnMut(&mut Transaction) -> Result<T, Stop>,
    ) -> Result<T, TransactionError> {
        loop {
            match operation(tx) {
                Ok(done) => return Ok(done),
                Err(Stop::Need(need)) => block_on(tx.satisfy(&need))?,
                Err(Stop::Error(error)) => return Err(error),
            }
        }
    }

    fn end(&self, tx: &mut Transaction, outcome: Result<(), TransactionError>) {
        match outcome {
            Ok(()) => self.drive(tx, |tx| tx.try_commit(None, |_| ())).expect("it commits"),
            Err(TransactionError::Deadlock) => self.drive(tx, Transaction::try_rollback).expect("it rolls back"),
            Err(error) => panic!("{error}"),
        }
        tx.rest();
    }

    /// Nothing is left.
    fn check(&self) {
        assert_eq!(self.home.graph.search(), 0, "a circle was left");
        assert!(self.home.locks().is_empty(), "locks are left: {:?}", self.home.locks());
        for table in self.tables.iter().chain([&self.catalog]) {
            assert!(!table.is_wanted_against(LockMode::SchM), "a lock's gate is left closed");
        }
    }
}

/// See the module.
fn lock_orders() {
    let world = World::new();
    let sessions = thread_rng().gen_range(2..=4);
    let threads: Vec<_> = (0..sessions)
        .map(|at| {
            let world = Arc::clone(&world);
            thread::spawn(move || {
                let mut tx = world.home.session(51 + at);
                for _ in 0..2 {
                    tx.begin();
                    let steps = thread_rng().gen_range(2..=3);
                    let outcome = (0..steps).try_for_each(|_| world.step(&mut tx));
                    world.end(&mut tx, outcome);
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a session ends"));
    world.check();
}

/// Of a family one waits for a session, while the other comes to hold what that session waits for.
fn families() {
    let world = World::new();
    let table = Arc::clone(&world.tables[1]);
    let run = |session_id, steps: fn(&World, &mut Transaction) -> Result<(), TransactionError>| {
        let world = Arc::clone(&world);
        thread::spawn(move || {
            let mut tx = world.home.session(session_id);
            tx.begin();
            let outcome = steps(&world, &mut tx);
            world.end(&mut tx, outcome);
        })
    };
    let writer = run(51, |world, tx| {
        world.drive(tx, |tx| world.try_write(tx, 0, 0, LockMode::X))?;
        world.drive(tx, |tx| tx.try_lock(&world.tables[1], LockMode::X))
    });
    let other = run(52, |world, tx| world.drive(tx, |tx| tx.try_lock(&world.tables[1], LockMode::IX)));
    let mut parent = world.home.session(53);
    parent.begin();
    let begun = world.drive(&mut parent, |tx| tx.try_lock(&table, LockMode::SchS));
    let outcome = begun.and_then(|()| {
        let mut children =
            world.drive(&mut parent, |tx| tx.try_begin_children(NestedTransactions::Private, 2, true))?;
        let (mut holds, mut waits) = (children.pop().expect("two"), children.pop().expect("two"));
        let (of_waits, of_holds) = (Arc::clone(&world), Arc::clone(&world));
        let table = Arc::clone(&table);
        // Each keeps what it holds until both have ended, as the workers of a statement do.
        let waits = thread::spawn(move || {
            let outcome = of_waits.drive(&mut waits, |tx| of_waits.written_by_another(tx, 0, 0));
            (outcome, waits)
        });
        let holds = thread::spawn(move || {
            let outcome = of_holds.drive(&mut holds, |tx| tx.try_lock(&table, LockMode::IX));
            (outcome, holds)
        });
        let ((one, _one), (two, _two)) = (waits.join().expect("a child ends"), holds.join().expect("a child ends"));
        one.and(two)
    });
    world.end(&mut parent, outcome);
    drop(parent);
    writer.join().expect("a session ends");
    other.join().expect("a session ends");
    world.check();
}

#[test]
fn shuttle_lock_orders() {
    check(lock_orders, runs(RUNS));
}

#[test]
fn shuttle_families() {
    check(families, runs(RUNS));
}

/// The ways in which a run shows a fault.
const WAYS: &[&str] = &["deadlock!", "a circle was left", "max_steps"];

macro_rules! canaries {
    ($($name:ident: $model:ident with $fault:literal;)+) => { $(
        #[test]
        fn $name() {
            canary(concat!("shuttle_models::", stringify!($name)), || fault::plant($fault), $model, RUNS_TO_NOTICE, WAYS);
        }
    )+ };
}

canaries! {
    shuttle_canary_a_list_that_is_entered_after_the_search: lock_orders with "enters_list_late";
    shuttle_canary_no_search: lock_orders with "looks_for_no_circle";
    shuttle_canary_a_family_that_looks_only_when_it_waits: families with "families_look_once";
}
