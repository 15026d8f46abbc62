//! Power losses at every kind of moment: a seeded workload of several sessions on the simulated disk, stopped after each k-th
//! change of the disk, opened again, compared with what the sessions know.
//!
//! What a session knows: a commit that was acknowledged is there whole; one that was under way is there whole or not at all;
//! nothing else is there. Each session works on keys of its own, so that what it knows is the whole truth about them; all
//! work on the same pages.
//!
//! A canary that is planted (commits acknowledged before they are durable) must be found.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::sync::Mutex;
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_memory::Timestamps;
use pikepole_scheduler::{Placement, TaskInfo};
use pikepole_types::Value;

use crate::tests::{definition, index, options, primary_key, row};
use crate::*;

const SESSIONS: usize = 4;
const TRANSACTIONS: usize = 30;

/// Keys and values of one session.
type Model = BTreeMap<i64, i32>;

/// What a session knows: what is there for certain, and what a commit under way would make of it.
#[derive(Debug, Clone, Default)]
struct Known {
    acknowledged: Model,
    under_way: Option<Model>,
    /// Earlier states that were acknowledged.
    former: Vec<Model>,
}

/// A small generator: what is random in a run follows from its seed alone.
struct Random(u64);

impl Random {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

struct Session {
    db: Arc<Database>,
    tx: Transaction,
    /// All have the same rows: what is done to one is done to the others in the same transaction.
    tables: Vec<Arc<Table>>,
    first_key: i64,
    random: Random,
    known: Arc<Mutex<Known>>,
    durability: Durability,
    texts: Texts,
}

/// Where the rows of a run are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Base {
    /// In the order of their keys, which are unique.
    Clustered,
    Heap,
    /// In the order of their texts, of which many are the same.
    Repeated,
    /// In memory, and the same rows in a table on disk.
    InMemory,
}

/// What the rows of a run have in their text column.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Texts {
    Short,
    /// Every other one is longer than a page.
    Long,
    /// They differ in the middle alone, and in length: of a change the log has a part.
    Alike,
}

impl Texts {
    fn of(self, value: i32) -> String {
        match self {
            Texts::Long if value % 2 == 0 => crate::long_tests::text(value as usize, 8_000 + value as usize * 40),
            Texts::Alike => format!("{}{}{}", "a".repeat(40), "m".repeat(value as usize % 13), "z".repeat(40)),
            _ => "v".repeat(value as usize % 50),
        }
    }
}

impl Session {
    async fn run(mut self) {
        for _ in 0..TRANSACTIONS {
            let ended = if self.random.next(3) == 0 { self.run_single().await } else { self.run_transaction().await };
            // The power is off: what the session knows is what it knew.
            if ended.is_err() {
                return;
            }
        }
    }

    fn known(&self) -> pikepole_contention::sync::MutexGuard<'_, Known> {
        self.known.lock().expect("no panic holds it")
    }

    /// One insert as a transaction of one record.
    async fn run_single(&mut self) -> Result<(), ()> {
        let mut model = self.known().acknowledged.clone();
        let key = self.first_key + self.random.next(12) as i64;
        if model.contains_key(&key) {
            return Ok(());
        }
        let value = self.random.next(1_000) as i32;
        model.insert(key, value);
        self.known().under_way = Some(model);
        self.db.begin_statement(&mut self.tx);
        let new = row(key, value, &self.texts.of(value));
        let (db, tables) = (self.db.clone(), self.tables.clone());
        let count = if tables.len() == 1 { RowCount::One } else { RowCount::Many };
        for table in &tables {
            let mut writer = table.writer();
            let inserted = db.drive(&mut self.tx, |tx| db.try_insert(tx, table, &mut writer, &new, count)).await;
            inserted.map_err(|_| ())?;
        }
        self.db.end_statement(&mut self.tx);
        self.acknowledge().await
    }

    async fn acknowledge(&mut self) -> Result<(), ()> {
        let committed = self.db.commit(&mut self.tx, self.durability).await;
        committed.map_err(|_| ())?;
        let mut known = self.known();
        let model = known.under_way.take().expect("it was noted before the commit");
        let former = std::mem::replace(&mut known.acknowledged, model);
        known.former.push(former);
        Ok(())
    }

    /// Several changes, a savepoint now and then, a commit or a rollback.
    async fn run_transaction(&mut self) -> Result<(), ()> {
        let mut model = self.known().acknowledged.clone();
        self.tx.begin();
        for _ in 0..1 + self.random.next(5) {
            self.pause().await;
            let (mark, before) = (self.tx.mark(), model.clone());
            let (key, value) = (self.first_key + self.random.next(12) as i64, self.random.next(1_000) as i32);
            for table in self.tables.clone() {
                self.change(&table, &model, (key, value)).await?;
            }
            match model.contains_key(&key) && value % 3 == 0 {
                true => model.remove(&key),
                false => model.insert(key, value),
            };
            if self.random.next(5) == 0 {
                self.pause().await;
                self.db.rollback_to(&mut self.tx, mark).await.map_err(|_| ())?;
                model = before;
            }
        }
        if self.random.next(4) == 0 {
            return self.db.rollback(&mut self.tx).await.map_err(|_| ());
        }
        self.known().under_way = Some(model);
        self.acknowledge().await
    }

    /// Lets the others go on, some of them so far that they commit, or that a checkpoint comes in between.
    async fn pause(&mut self) {
        match self.random.next(8) {
            0 => pikepole_scheduler::sleep(Duration::from_millis(4)).await,
            1..4 => pikepole_scheduler::sleep(Duration::from_micros(300)).await,
            _ => pikepole_scheduler::yield_now().await,
        }
    }

    /// Inserts a row, or updates or deletes the one that is there.
    async fn change(&mut self, table: &Arc<Table>, model: &Model, (key, value): (i64, i32)) -> Result<(), ()> {
        let db = self.db.clone();
        let new = row(key, value, &self.texts.of(value));
        let mut writer = table.writer();
        let mark = db.begin_statement(&mut self.tx);
        let tx = &mut self.tx;
        let inserted = db.drive(tx, |tx| db.try_insert(tx, table, &mut writer, &new, RowCount::One)).await;
        match inserted {
            Ok(()) => {
                assert!(!model.contains_key(&key), "the key was free");
            }
            Err(Interrupted::Error(error)) if error.number == 2627 => {
                assert!(model.contains_key(&key), "the session's own key");
                db.rollback_to(tx, mark).await.map_err(|_| ())?;
                let delete = value % 3 == 0;
                self.change_row(table, key, (!delete).then_some(&new)).await?;
            }
            Err(_) => return Err(()),
        }
        db.end_statement(&mut self.tx);
        Ok(())
    }

    async fn change_row(&mut self, table: &Arc<Table>, key: i64, new: Option<&Vec<Value>>) -> Result<(), ()> {
        let db = self.db.clone();
        let mut writer = table.writer();
        let mut scan = table.scan(ScanRange::all(), &[0]);
        let (mut found, key) = ([Value::Null], Value::BigInt(key));
        let tx = &mut self.tx;
        while found[0] != key {
            let next = db.drive(tx, |tx| db.try_next(tx, table, &mut scan, &mut found)).await;
            assert!(next.map_err(|_| ())?, "the key is there");
        }
        let locator = scan.locator().clone();
        let mut current = row(0, 0, "");
        db.drive(tx, |tx| db.try_read_current(tx, table, &mut writer, &locator, &mut current)).await.map_err(|_| ())?;
        let changed = db
            .drive(tx, |tx| match new {
                Some(new) => db.try_update(tx, table, &mut writer, &locator, new),
                None => db.try_delete(tx, table, &mut writer, &locator),
            })
            .await;
        assert!(changed.map_err(|_| ())?, "nobody else changes the row");
        while !db.drive(tx, |tx| db.try_place_moved(tx, table, &mut writer)).await.map_err(|_| ())? {}
        Ok(())
    }
}

fn table_definition(base: Base, texts: Texts) -> TableDefinition {
    let mut indexes = primary_key();
    indexes[0].clustered = base == Base::Clustered;
    if base == Base::InMemory {
        let memory = Some(InMemory::new(InMemoryDurability::SchemaAndData));
        indexes[0].extras.hash = HashIndex::with_buckets(16);
        indexes.push(IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) });
        return TableDefinition { memory, ..rows_definition("t", indexes, texts) };
    }
    if base == Base::Repeated {
        indexes.push(IndexDefinition { name: Some("by_s".into()), ..index(IndexKind::Index, true, &["s"]) });
    }
    rows_definition("t", indexes, texts)
}

fn rows_definition(name: &str, indexes: Vec<IndexDefinition>, texts: Texts) -> TableDefinition {
    match texts {
        Texts::Short | Texts::Alike => definition(name, indexes),
        Texts::Long => crate::long_tests::long_definition(name, indexes),
    }
}

/// A fresh server with the table, closed in order; later runs begin with copies of it.
fn fresh_disk(seed: u64, base: Base, texts: Texts) -> SimulatedDisk {
    let disk = SimulatedDisk::new(seed);
    let server = Server::open(options(&disk)).expect("an empty disk");
    let db = server.database(MASTER).expect("it is always there");
    server.schedulers().block_on(async {
        let mut tx = db.transaction(50);
        db.create_table(&mut tx, table_definition(base, texts)).await.expect("a new table");
        if base == Base::InMemory {
            crate::in_memory_tests::elevate(&db);
            db.create_table(&mut tx, rows_definition(TWIN, primary_key(), texts)).await.expect("a new table");
        }
        db.commit(&mut tx, Durability::Full).await.expect("a commit");
        drop(tx);
        server.shutdown().await.expect("a clean shutdown");
    });
    server.schedulers().shutdown();
    disk
}

/// Runs the workload until it ends or the power goes off; what the sessions know at that moment.
fn run(disk: &SimulatedDisk, seed: u64, durability: Durability, texts: Texts) -> Vec<Known> {
    let known: Vec<Arc<Mutex<Known>>> = (0..SESSIONS).map(|_| Arc::default()).collect();
    let mut open = options(disk);
    open.schedulers = SchedulerChoice::Simulated { seed, count: 2 };
    let Ok(server) = Server::open(open) else {
        return vec![Known::default(); SESSIONS];
    };
    if let Ok(db) = server.database(MASTER) {
        run_sessions(&server, &db, (seed, durability, texts), &known);
    }
    server.schedulers().shutdown();
    known.iter().map(|k| k.lock().expect("no panic holds it").clone()).collect()
}

fn run_sessions(
    server: &Arc<Server>,
    db: &Arc<Database>,
    (seed, durability, texts): (u64, Durability, Texts),
    known: &[Arc<Mutex<Known>>],
) {
    server
        .set_database_option(MASTER, DatabaseOption::DelayedDurability(DelayedDurability::Allowed))
        .unwrap_or_default();
    // The times of rows in memory have another origin after each start then.
    if seed % 2 == 1 {
        db.memory().set_timestamps(Timestamps::Clock);
    }
    let tables = tables_of(db);
    assert!(!tables.is_empty(), "they were made before");
    let handles: Vec<_> = known
        .iter()
        .enumerate()
        .map(|(at, known)| {
            let session = Session {
                db: db.clone(),
                tx: db.transaction(51 + at as i32),
                tables: tables.clone(),
                first_key: at as i64 * 100,
                random: Random(seed * 31 + at as u64),
                known: known.clone(),
                durability,
                texts,
            };
            let info = TaskInfo { session_id: Some(51 + at as i32), command: "TEST" };
            server.schedulers().spawn(info, Placement::LeastLoaded, session.run())
        })
        .collect();
    let disk = server_disk(server);
    let ended = server.schedulers().block_on(async {
        let mut tx = db.transaction(60);
        // Time passes until the sessions have ended or the power is off, with checkpoints in between.
        for round in 0..2_000 {
            pikepole_scheduler::sleep(Duration::from_millis(1)).await;
            if disk.is_off() || handles.iter().all(|handle| handle.is_finished()) {
                return true;
            }
            if round % 10 == 5 {
                let _ = db.checkpoint(&mut tx).await;
            }
        }
        false
    });
    assert!(ended, "the workload ends by itself or by the crash");
    for handle in handles.into_iter().filter(|handle| handle.is_finished()) {
        handle.join().expect("what a session asserts holds");
    }
}

fn server_disk(server: &Server) -> SimulatedDisk {
    server.disk().as_simulated().expect("a simulated disk").clone()
}

/// The name of the table on disk that has the rows of one in memory.
const TWIN: &str = "twin";

fn tables_of(db: &Database) -> Vec<Arc<Table>> {
    let catalog = db.current_catalog();
    ["t", TWIN].iter().filter_map(|name| catalog.table("dbo", name).cloned()).collect()
}

/// The rows of the tables, which are the same, after a restart, by session; each row must be whole.
fn read_back(disk: &SimulatedDisk, texts: Texts) -> Result<Vec<Model>, String> {
    let server = Server::open(options(disk)).map_err(|e| e.to_string())?;
    let db = server.database(MASTER).map_err(|e| e.to_string())?;
    let mut models = vec![Model::new(); SESSIONS];
    let result = server.schedulers().block_on(async {
        let tables = tables_of(&db);
        for (at, table) in tables.iter().enumerate() {
            let rows = rows_of(&db, table, texts).await?;
            if at > 0 && rows != models {
                return Err(format!("{} has {rows:?}, and {} {models:?}", table.name, tables[0].name));
            }
            models = rows;
        }
        server.shutdown().await.map_err(|e| e.to_string())
    });
    server.schedulers().shutdown();
    result?;
    drop(server);
    let report = Server::check(&Disk::simulated(disk.clone()), "/server".as_ref(), &mut |_| ());
    let damage = report.map_err(|e| e.to_string())?.damage;
    match damage.first() {
        Some(damage) => Err(damage.clone()),
        None => Ok(models),
    }
}

/// The rows of a table, by session.
async fn rows_of(db: &Arc<Database>, table: &Arc<Table>, texts: Texts) -> Result<Vec<Model>, String> {
    let mut models = vec![Model::new(); SESSIONS];
    let mut tx = db.transaction(50);
    let mut scan = table.scan(ScanRange::all(), &[0, 1, 2]);
    let mut out = row(0, 0, "");
    while db.drive(&mut tx, |tx| db.try_next(tx, table, &mut scan, &mut out)).await.map_err(|e| format!("{e:?}"))? {
        let [Value::BigInt(key), Value::Int(value), Value::Str(text)] = &out[..] else {
            return Err(format!("{out:?} is no row"));
        };
        if *text != texts.of(*value) {
            return Err(format!("row {key} is not whole"));
        }
        if models[(*key / 100) as usize].insert(*key, *value).is_some() {
            return Err(format!("row {key} is there twice"));
        }
    }
    db.end_statement(&mut tx);
    Ok(models)
}

/// Compares; what does not hold, for people.
fn compare(known: &[Known], found: &[Model], may_be_late: bool) -> Result<(), String> {
    for (at, (known, found)) in known.iter().zip(found).enumerate() {
        let late = may_be_late && known.former.contains(found);
        let whole = late || *found == known.acknowledged || known.under_way.as_ref() == Some(found);
        if !whole {
            return Err(format!("session {at} knows {known:?}, found {found:?}"));
        }
    }
    Ok(())
}

/// One run with the power going off after `crash_at` changes of the disk, or at its end (false).
fn crash_run(
    fresh: &SimulatedDisk,
    seed: u64,
    crash_at: u64,
    (durability, may_be_late): (Durability, bool),
    texts: Texts,
) -> (bool, Result<(), String>) {
    // Nothing is unwritten on the fresh disk: what is there after a power loss is a copy of it.
    let disk = fresh.crash(seed);
    disk.crash_after_ops(crash_at);
    let known = run(&disk, seed, durability, texts);
    let crashed = disk.is_off();
    disk.power_off();
    // The power goes off again while the first recovery is under way, then all is well.
    let mut after = disk.crash(seed ^ crash_at);
    if crash_at.is_multiple_of(3) {
        after.crash_after_ops(1 + crash_at % 17);
        let _ = read_back(&after, texts);
        after.power_off();
        after = after.crash(seed ^ crash_at ^ 1);
    }
    let result = read_back(&after, texts).and_then(|found| compare(&known, &found, may_be_late));
    (crashed, result)
}

fn crash_everywhere(seed: u64, base: Base, texts: Texts, step: u64) {
    crash_everywhere_with(seed, base, texts, step, Durability::Full);
}

fn crash_everywhere_with(seed: u64, base: Base, texts: Texts, step: u64, durability: Durability) {
    let late = (durability, durability == Durability::Delayed);
    let fresh = fresh_disk(seed, base, texts);
    let whole = run(&fresh.crash(seed), seed, durability, texts);
    assert!(whole.iter().all(|known| known.acknowledged.len() > 2), "{whole:?}");
    let mut crash_at = 1 + seed % step;
    let mut points = 0;
    loop {
        let (crashed, result) = crash_run(&fresh, seed, crash_at, late, texts);
        if let Err(why) = result {
            panic!("seed {seed}, {base:?}, crash after {crash_at} changes of the disk: {why}");
        }
        if !crashed {
            break;
        }
        crash_at += step;
        points += 1;
    }
    println!("seed {seed}, {base:?}: {points} crash points");
    assert!(points > 8, "the workload changes the disk often enough: {points}");
}

/// How many seeds, and every how many changes of the disk: few, unless `PIKEPOLE_CRASH_SEEDS` asks for many and each.
fn extent(seeds: u64, step: u64) -> (u64, u64) {
    match std::env::var("PIKEPOLE_CRASH_SEEDS") {
        Ok(text) => (text.parse().expect("PIKEPOLE_CRASH_SEEDS is a number"), 1),
        Err(_) => (seeds, step),
    }
}

#[test]
fn acknowledged_commits_survive_and_nothing_is_half_there() {
    let (seeds, step) = extent(2, 9);
    for seed in 1..1 + seeds {
        crash_everywhere(seed, Base::Clustered, Texts::Short, step);
    }
}

#[test]
fn the_same_with_a_heap_and_an_index() {
    let (seeds, step) = extent(1, 7);
    for seed in 1_001..1_001 + seeds {
        crash_everywhere(seed, Base::Heap, Texts::Short, step);
    }
}

#[test]
fn the_same_with_repeated_keys() {
    let (seeds, step) = extent(1, 7);
    for seed in 3_001..3_001 + seeds {
        crash_everywhere(seed, Base::Repeated, Texts::Short, step);
    }
}

#[test]
fn the_same_with_changes_of_a_part() {
    // This seed finds a second recovery that puts a part into columns that have it already.
    let (seeds, step) = extent(1, 1);
    for seed in 4_003..4_003 + seeds {
        crash_everywhere(seed, Base::Clustered, Texts::Alike, step);
    }
}

#[test]
fn the_same_with_values_longer_than_a_page() {
    let (seeds, step) = extent(1, 23);
    for seed in 2_001..2_001 + seeds {
        crash_everywhere(seed, Base::Clustered, Texts::Long, step);
        crash_everywhere(seed + 500, Base::Heap, Texts::Long, step);
    }
}

#[test]
fn the_same_in_memory_and_on_disk_as_one() {
    let (seeds, step) = extent(2, 7);
    for seed in 5_001..5_001 + seeds {
        crash_everywhere(seed, Base::InMemory, Texts::Short, step);
    }
    let (seeds, step) = extent(1, 23);
    for seed in 6_001..6_001 + seeds {
        crash_everywhere(seed, Base::InMemory, Texts::Long, step);
    }
}

/// Commits that need not be durable may be lost, the last ones first; in memory and on disk the same ones.
#[test]
fn delayed_commits_in_memory_and_on_disk_are_lost_as_one() {
    let (seeds, step) = extent(2, 3);
    for seed in 7_001..7_001 + seeds {
        crash_everywhere_with(seed, Base::InMemory, Texts::Short, step, Durability::Delayed);
    }
}

/// Commits that are acknowledged before they are durable are found lost.
#[test]
fn the_canary_is_caught() {
    for texts in [Texts::Short, Texts::Long] {
        let fresh = fresh_disk(21, Base::Clustered, texts);
        let caught =
            (1..40).any(|round| crash_run(&fresh, 21, 3 + round * 2, (Durability::Delayed, false), texts).1.is_err());
        assert!(caught, "delayed commits were taken for durable, and no crash lost one");
    }
}
