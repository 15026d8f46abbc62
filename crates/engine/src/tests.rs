//! The table API, transactions and definitions, on the simulated disk and schedulers.

use std::ops::Bound;
use std::sync::Arc;

use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_scheduler::{JoinHandle, Placement, TaskInfo};
use pikepole_types::{Collation, Length, SqlError, SqlType, Value};

use crate::*;

pub(crate) fn options(disk: &SimulatedDisk) -> ServerOptions {
    ServerOptions {
        disk: Disk::simulated(disk.clone()),
        schedulers: SchedulerChoice::Simulated { seed: 7, count: 2 },
        small: true,
        ..ServerOptions::new("/server")
    }
}

pub(crate) fn server(disk: &SimulatedDisk) -> Arc<Server> {
    Server::open(options(disk)).expect("the folder is usable")
}

pub(crate) fn stop(server: &Server) {
    server.schedulers().block_on(server.shutdown()).expect("a clean shutdown");
    server.schedulers().shutdown();
}

pub(crate) fn column(name: &str, ty: SqlType) -> ColumnDefinition {
    ColumnDefinition {
        name: name.to_owned(),
        ty,
        nullable: true,
        default: None,
        identity: None,
        user_type: None,
        collation: Collation::default(),
    }
}

pub(crate) fn index(kind: IndexKind, clustered: bool, columns: &[&str]) -> IndexDefinition {
    IndexDefinition {
        name: None,
        kind,
        unique: kind != IndexKind::Index,
        clustered,
        columns: columns.iter().map(|c| ((*c).to_owned(), false)).collect(),
        extras: crate::IndexExtras::default(),
        replaces: false,
    }
}

/// (k bigint, v int, s varchar(50)) with these indexes.
pub(crate) fn definition(name: &str, indexes: Vec<IndexDefinition>) -> TableDefinition {
    TableDefinition {
        schema: "dbo".into(),
        name: name.into(),
        columns: vec![
            column("k", SqlType::BigInt),
            column("v", SqlType::Int),
            column("s", SqlType::VarChar(Length::Limit(50))),
        ],
        indexes,
        filegroup: None,
        text_filegroup: None,
        memory: None,
    }
}

pub(crate) fn primary_key() -> Vec<IndexDefinition> {
    vec![index(IndexKind::PrimaryKey, true, &["k"])]
}

/// A session: one transaction, and the calls that statements make.
pub(crate) struct Client {
    pub db: Arc<Database>,
    pub tx: Transaction,
}

fn plain(interrupted: Interrupted) -> SqlError {
    match interrupted {
        Interrupted::Error(error) => *error,
        Interrupted::Stale => panic!("the definition is current"),
    }
}

pub(crate) fn row(k: i64, v: i32, s: &str) -> Vec<Value> {
    vec![Value::BigInt(k), Value::Int(v), Value::Str(s.into())]
}

impl Client {
    pub fn new(db: &Arc<Database>, session_id: i32) -> Self {
        Self { db: db.clone(), tx: db.transaction(session_id) }
    }

    pub async fn create(&mut self, table: TableDefinition) -> Arc<Table> {
        let made = self.db.create_table(&mut self.tx, table).await.expect("a new table");
        if !self.tx.is_explicit() {
            self.commit().await;
        }
        made
    }

    pub async fn commit(&mut self) {
        self.db.commit(&mut self.tx, Durability::Full).await.expect("a commit");
    }

    pub async fn rollback(&mut self) {
        self.db.rollback(&mut self.tx).await.expect("a rollback");
    }

    /// Ends a statement as a session does.
    async fn end<T>(&mut self, mark: Mark, result: Result<T, Interrupted>) -> Result<T, SqlError> {
        self.db.end_statement(&mut self.tx);
        let result = result.map_err(plain);
        match (&result, self.tx.is_explicit()) {
            (Ok(_), true) => (),
            (Ok(_), false) => self.db.commit(&mut self.tx, Durability::Full).await?,
            (Err(_), true) => self.db.rollback_to(&mut self.tx, mark).await?,
            (Err(_), false) => self.db.rollback(&mut self.tx).await?,
        }
        result
    }

    pub async fn insert(&mut self, table: &Table, row: &[Value]) -> Result<(), SqlError> {
        let (db, mut writer) = (self.db.clone(), table.writer());
        let mark = db.begin_statement(&mut self.tx);
        let done = db.drive(&mut self.tx, |tx| db.try_insert(tx, table, &mut writer, row, RowCount::One)).await;
        self.end(mark, done).await
    }

    /// Changes the row of this key: None deletes it. False: there is no such row.
    pub async fn change(&mut self, table: &Table, k: i64, new: Option<&[Value]>) -> Result<bool, SqlError> {
        let mark = self.db.begin_statement(&mut self.tx);
        let done = self.change_rows(table, k, new).await;
        self.end(mark, done).await
    }

    async fn change_rows(&mut self, table: &Table, k: i64, new: Option<&[Value]>) -> Result<bool, Interrupted> {
        let (db, mut writer) = (self.db.clone(), table.writer());
        let mut scan = table.scan(ScanRange::all(), &[0]);
        let mut out = [Value::Null];
        let tx = &mut self.tx;
        while db.drive(tx, |tx| db.try_next(tx, table, &mut scan, &mut out)).await? {
            if out[0] != Value::BigInt(k) {
                continue;
            }
            let locator = scan.locator().clone();
            let mut current = vec![Value::Null; table.columns.len()];
            loop {
                let there =
                    db.drive(tx, |tx| db.try_read_current(tx, table, &mut writer, &locator, &mut current)).await?;
                if !there {
                    return Ok(false);
                }
                let changed = db
                    .drive(tx, |tx| match new {
                        Some(row) => db.try_update(tx, table, &mut writer, &locator, row),
                        None => db.try_delete(tx, table, &mut writer, &locator),
                    })
                    .await?;
                if changed {
                    while !db.drive(tx, |tx| db.try_place_moved(tx, table, &mut writer)).await? {}
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    pub async fn rows_of(&mut self, table: &Table, range: ScanRange) -> Vec<Vec<Value>> {
        let db = self.db.clone();
        let mark = db.begin_statement(&mut self.tx);
        let mut scan = table.scan(range, &[0, 1, 2]);
        let mut rows = Vec::new();
        let result = loop {
            let mut out = row(0, 0, "");
            match db.drive(&mut self.tx, |tx| db.try_next(tx, table, &mut scan, &mut out)).await {
                Ok(true) => rows.push(out),
                Ok(false) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        self.end(mark, result).await.expect("a scan");
        rows
    }

    pub async fn rows(&mut self, table: &Table) -> Vec<Vec<Value>> {
        self.rows_of(table, ScanRange::all()).await
    }

    pub async fn keys(&mut self, table: &Table) -> Vec<i64> {
        let rows = self.rows(table).await;
        rows.iter().map(|row| row[0].as_i64().expect("a key")).collect()
    }

    pub async fn get(&mut self, table: &Table, k: i64) -> Option<Value> {
        let db = self.db.clone();
        let mark = db.begin_statement(&mut self.tx);
        let mut scan = table.scan(ScanRange::all(), &[2]);
        let mut out = [Value::Null];
        let key = Value::BigInt(k);
        let found = db.drive(&mut self.tx, |tx| db.try_get(tx, table, &mut scan, &[&key], &mut out)).await;
        let found = self.end(mark, found).await.expect("a lookup");
        let [value] = out;
        found.then_some(value)
    }
}

/// Runs `test` on a server of this disk, which is closed in order afterwards.
pub(crate) fn with_server(disk: &SimulatedDisk, test: impl AsyncFnOnce(Arc<Server>, Arc<Database>)) {
    let server = server(disk);
    server.schedulers().block_on(test(server.clone(), master(&server)));
    stop(&server);
}

pub(crate) fn assert_sound(disk: &SimulatedDisk) {
    let report = Server::check(&Disk::simulated(disk.clone()), "/server".as_ref(), &mut |_| ()).expect("a folder");
    assert_eq!(report.damage, Vec::<String>::new());
}

/// A table of the schema dbo.
pub(crate) fn table_of(db: &Database, name: &str) -> Arc<Table> {
    db.current_catalog().table("dbo", name).expect("it was made before").clone()
}

pub(crate) fn master(server: &Server) -> Arc<Database> {
    server.database("MASTER").expect("it is always there")
}

fn spawn<T: Send + 'static>(
    server: &Server,
    session_id: i32,
    future: impl Future<Output = T> + Send + 'static,
) -> JoinHandle<T> {
    let info = TaskInfo { session_id: Some(session_id), command: "TEST" };
    server.schedulers().spawn(info, Placement::LeastLoaded, future)
}

#[test]
fn rows_of_a_clustered_table_live_as_statements_say() {
    let server = server(&SimulatedDisk::new(1));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", primary_key())).await;
        for k in (0..300).rev() {
            a.insert(&t, &row(k, k as i32, &format!("row {k}"))).await.expect("a new key");
        }
        assert!(!a.tx.has_changes(), "each insert committed by its own record");
        let error = a.insert(&t, &row(7, 0, "again")).await.expect_err("the key is there");
        assert_eq!(error.number, 2627);
        assert!(error.message.contains("in object 'dbo.t'. The duplicate key value is (7)."), "{error}");
        assert_eq!(a.keys(&t).await, (0..300).collect::<Vec<_>>());
        let range = ScanRange {
            from: Bound::Excluded(vec![Value::BigInt(10)]),
            to: Bound::Included(vec![Value::BigInt(12)]),
            reverse: true,
            ..ScanRange::all()
        };
        assert_eq!(a.rows_of(&t, range).await, [row(12, 12, "row 12"), row(11, 11, "row 11")]);
        assert_eq!(a.get(&t, 5).await, Some(Value::Str("row 5".into())));
        assert!(a.change(&t, 5, Some(&row(5, 50, "changed"))).await.expect("an update"));
        assert!(a.change(&t, 6, None).await.expect("a delete"));
        assert!(a.change(&t, 8, Some(&row(1_000, 8, "moved"))).await.expect("a new key"));
        assert_eq!(a.get(&t, 5).await, Some(Value::Str("changed".into())));
        assert_eq!((a.get(&t, 6).await, a.get(&t, 8).await), (None, None));
        assert_eq!(a.get(&t, 1_000).await, Some(Value::Str("moved".into())));
        a.insert(&t, &row(6, 66, "back")).await.expect("the ghost is revived");
        assert_eq!(a.get(&t, 6).await, Some(Value::Str("back".into())));
        assert_eq!(a.keys(&t).await.len(), 300);
    });
    stop(&server);
}

#[test]
fn heaps_and_secondary_indexes_agree() {
    let server = server(&SimulatedDisk::new(2));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let unique = index(IndexKind::UniqueConstraint, false, &["k"]);
        let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
        let t = a.create(definition("h", vec![unique, by_v])).await;
        assert!(t.is_heap());
        for k in 0..50 {
            a.insert(&t, &row(k, (k % 5) as i32, "x")).await.expect("a new key");
        }
        let error = a.insert(&t, &row(9, 0, "again")).await.expect_err("the key is there");
        assert_eq!(error.number, 2627);
        assert_eq!(a.keys(&t).await.len(), 50, "the heap's row was rolled back");
        let by_v = |v: i32| ScanRange {
            index: Some(3),
            from: Bound::Included(vec![Value::Int(v)]),
            to: Bound::Included(vec![Value::Int(v)]),
            reverse: false,
        };
        assert_eq!(a.rows_of(&t, by_v(3)).await.len(), 10);
        let long = "y".repeat(50);
        assert!(a.change(&t, 3, Some(&row(3, 4, &long))).await.expect("an update"));
        assert!(a.change(&t, 8, None).await.expect("a delete"));
        assert_eq!(a.rows_of(&t, by_v(3)).await.len(), 8);
        assert_eq!(a.rows_of(&t, by_v(4)).await.len(), 11);
        a.insert(&t, &row(8, 1, "new")).await.expect("the key is free again");
        let t = a.db.drop_index(&mut a.tx, &t, "by_v", false).await.expect("an index");
        a.commit().await;
        let pk = index(IndexKind::Index, true, &["k"]);
        let unique_clustered = IndexDefinition { unique: true, name: Some("c".into()), ..pk };
        let t = a.db.create_index(&mut a.tx, &t, unique_clustered, &[]).await.expect("keys are unique");
        a.commit().await;
        assert!(!t.is_heap());
        assert_eq!(a.get(&t, 3).await, Some(Value::Str(long)));
        let error = a.insert(&t, &row(9, 0, "again")).await.expect_err("the key is there");
        assert_eq!(error.number, 2601);
        let by_s = index(IndexKind::UniqueConstraint, false, &["s"]);
        let error = a.db.create_index(&mut a.tx, &t, by_s, &[]).await.expect_err("most are 'x'");
        assert_eq!(error.number, 1505);
        a.rollback().await;
    });
    stop(&server);
}

#[test]
fn readers_see_what_was_committed_and_never_wait() {
    let server = server(&SimulatedDisk::new(3));
    let db = master(&server);
    server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(definition("t", primary_key())).await;
        for k in 0..5 {
            a.insert(&t, &row(k, 0, "old")).await.expect("a new key");
        }
        let mut snapshot = Client::new(&db, 53);
        snapshot.tx.set_isolation(Isolation::Snapshot);
        snapshot.tx.begin();
        let before = snapshot.rows(&t).await;
        a.tx.begin();
        a.change(&t, 1, Some(&row(1, 1, "new"))).await.expect("an update");
        a.change(&t, 2, None).await.expect("a delete");
        a.insert(&t, &row(9, 9, "new")).await.expect("a new key");
        assert_eq!(b.rows(&t).await, before, "nothing of it is committed");
        assert_eq!(a.keys(&t).await, [0, 1, 3, 4, 9], "own changes are seen");
        a.commit().await;
        assert_eq!(b.keys(&t).await, [0, 1, 3, 4, 9]);
        assert_eq!(b.get(&t, 1).await, Some(Value::Str("new".into())));
        assert_eq!(snapshot.rows(&t).await, before, "the snapshot stays");
        assert_eq!(snapshot.get(&t, 2).await, Some(Value::Str("old".into())));
        let error = snapshot.change(&t, 1, Some(&row(1, 2, "mine"))).await.expect_err("it changed since");
        assert_eq!(error.number, 3960);
        snapshot.rollback().await;
        assert_eq!(snapshot.keys(&t).await, [0, 1, 3, 4, 9]);
    });
    server.schedulers().advance(std::time::Duration::from_secs(2));
    assert_eq!(db.versions_count(), 0, "nobody needs older versions any more");
    assert_eq!(db.transactions().ghosts_count(), 0);
    stop(&server);
}

#[test]
fn rollback_to_a_savepoint_and_as_a_whole() {
    let server = server(&SimulatedDisk::new(4));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", primary_key())).await;
        for k in 0..5 {
            a.insert(&t, &row(k, 0, "old")).await.expect("a new key");
        }
        let before = a.rows(&t).await;
        a.tx.begin();
        a.change(&t, 0, Some(&row(0, 1, "first"))).await.expect("an update");
        let save = a.tx.mark();
        a.change(&t, 0, Some(&row(0, 2, "second"))).await.expect("an update");
        a.change(&t, 1, None).await.expect("a delete");
        a.insert(&t, &row(1, 7, "revived")).await.expect("its own ghost");
        a.insert(&t, &row(8, 8, "new")).await.expect("a new key");
        let error = a.insert(&t, &row(8, 9, "again")).await.expect_err("the statement alone fails");
        assert_eq!(error.number, 2627);
        assert_eq!(a.keys(&t).await, [0, 1, 2, 3, 4, 8]);
        db.rollback_to(&mut a.tx, save).await.expect("a savepoint");
        assert_eq!(a.get(&t, 0).await, Some(Value::Str("first".into())));
        assert_eq!(a.get(&t, 1).await, Some(Value::Str("old".into())));
        assert_eq!(a.keys(&t).await, [0, 1, 2, 3, 4]);
        a.change(&t, 0, Some(&row(0, 3, "third"))).await.expect("an update");
        a.rollback().await;
        assert_eq!(a.rows(&t).await, before);
        assert!(db.active_transactions().is_empty());
        a.tx.begin();
        a.insert(&t, &row(70, 7, "lost with its session")).await.expect("a new key");
        drop(a);
        pikepole_scheduler::sleep(std::time::Duration::from_secs(1)).await;
        assert_eq!(Client::new(&db, 52).rows(&t).await, before);
        assert!(db.active_transactions().is_empty());
    });
    stop(&server);
}

#[test]
fn writers_wait_for_each_other_and_a_circle_has_a_victim() {
    let server = server(&SimulatedDisk::new(5));
    let db = master(&server);
    let schedulers = server.schedulers().clone();
    let mut a = Client::new(&db, 51);
    let t = schedulers.block_on(a.create(definition("t", primary_key())));
    schedulers.block_on(async {
        for k in 0..2 {
            a.insert(&t, &row(k, 0, "old")).await.expect("a new key");
        }
        a.tx.begin();
        a.change(&t, 0, Some(&row(0, 1, "a"))).await.expect("an update");
        a.insert(&t, &row(5, 5, "a")).await.expect("a new key");
    });
    let (mut b, table) = (Client::new(&db, 52), t.clone());
    let waiting = spawn(&server, 52, async move {
        b.tx.begin();
        b.change(&table, 1, Some(&row(1, 1, "b"))).await.expect("an update");
        let duplicate = b.insert(&table, &row(5, 6, "b")).await;
        (b, duplicate)
    });
    schedulers.run_until_idle();
    assert!(!waiting.is_finished(), "the key belongs to a's transaction");
    // b waits for a; a now wants b's row. It has logged more, but it is the one that is rather ended.
    a.tx.set_patience(None, &Arc::default(), -5);
    let error = schedulers.block_on(a.change(&t, 1, Some(&row(1, 2, "a")))).expect_err("a circle");
    assert_eq!(error.number, 1205);
    assert!(error.message.starts_with("Transaction (Process ID 51) was deadlocked on lock resources"));
    schedulers.block_on(a.commit());
    let (mut b, duplicate) = schedulers.block_on(waiting).expect("the task ends");
    assert_eq!(duplicate.expect_err("a committed the key").number, 2627);
    schedulers.block_on(async {
        b.change(&t, 0, Some(&row(0, 2, "b"))).await.expect("a's change is committed");
        b.commit().await;
        assert_eq!(b.rows(&t).await, [row(0, 2, "b"), row(1, 1, "b"), row(5, 5, "a")]);
    });
    let waits = server.statistics().waits();
    assert!(waits.iter().any(|w| w.wait_type == "LCK_M_X" && w.waiting_tasks_count == 1));
    stop(&server);
}

#[test]
fn a_writer_goes_on_when_the_other_rolls_back() {
    let server = server(&SimulatedDisk::new(6));
    let db = master(&server);
    let schedulers = server.schedulers().clone();
    let mut a = Client::new(&db, 51);
    let t = schedulers.block_on(a.create(definition("t", primary_key())));
    a.tx.begin();
    schedulers.block_on(a.insert(&t, &row(5, 5, "a"))).expect("a new key");
    let (mut b, table) = (Client::new(&db, 52), t.clone());
    let waiting = spawn(&server, 52, async move { b.insert(&table, &row(5, 6, "b")).await });
    schedulers.run_until_idle();
    assert!(!waiting.is_finished());
    schedulers.block_on(a.rollback());
    schedulers.block_on(waiting).expect("the task ends").expect("the key is free");
    assert_eq!(schedulers.block_on(a.rows(&t)), [row(5, 6, "b")]);
    stop(&server);
}

#[test]
fn definitions_are_part_of_their_transaction() {
    let server = server(&SimulatedDisk::new(7));
    let db = master(&server);
    let schedulers = server.schedulers().clone();
    let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
    let t = schedulers.block_on(async {
        let t = a.create(definition("t", primary_key())).await;
        a.insert(&t, &row(1, 1, "x")).await.expect("a new key");
        let version = db.catalog_version(&b.tx);
        a.tx.begin();
        a.create(definition("u", vec![])).await;
        assert!(db.catalog(&a.tx).table("DBO", "U").is_some());
        assert!(db.catalog(&b.tx).table("dbo", "u").is_none());
        let save = a.tx.mark();
        let text = "CREATE PROCEDURE p AS SELECT 1";
        let procedure = ModuleDefinition {
            schema: "dbo",
            name: "p",
            text,
            execute_as: None,
            ansi_nulls: true,
            quoted_identifier: true,
            columns: &[],
            declared: |_| DeclaredNames::default(),
        };
        db.put_procedure(&mut a.tx, procedure, PutMode::Create).await.expect("new");
        db.rollback_to(&mut a.tx, save).await.expect("a savepoint");
        assert!(db.catalog(&a.tx).procedure("dbo", "p").is_none());
        assert!(db.catalog(&a.tx).table("dbo", "u").is_some());
        a.rollback().await;
        assert!(db.catalog(&a.tx).table("dbo", "u").is_none());
        assert_eq!(db.catalog_version(&a.tx), version);
        let error = db.create_table(&mut a.tx, definition("T", vec![])).await.expect_err("it is there");
        assert_eq!(
            (error.number, error.message.as_str()),
            (2714, "There is already an object named 'T' in the database.")
        );
        a.rollback().await;
        let error = db.drop_table(&mut a.tx, "dbo", "nothing").await.expect_err("there is none");
        assert_eq!(error.number, 3701);
        a.rollback().await;
        t
    });
    // A truncation waits for a transaction that has changed the table, and makes older plans stale.
    b.tx.begin();
    schedulers.block_on(b.insert(&t, &row(2, 2, "y"))).expect("a new key");
    let table = t.clone();
    let truncating = spawn(&server, 51, async move {
        a.db.truncate_table(&mut a.tx, &table).await.expect("a table");
        a.commit().await;
        a
    });
    schedulers.run_until_idle();
    assert!(!truncating.is_finished());
    schedulers.block_on(b.commit());
    let mut a = schedulers.block_on(truncating).expect("the task ends");
    schedulers.block_on(async {
        let mut scan = t.scan(ScanRange::all(), &[0]);
        let stale = db.try_next(&mut b.tx, &t, &mut scan, &mut [Value::Null]);
        assert!(matches!(stale, Err(Blocked::Stale)));
        db.end_statement(&mut b.tx);
        b.tx.rest();
        let t = db.catalog(&a.tx).table("dbo", "t").cloned().expect("it is there");
        assert_eq!(a.keys(&t).await, [0i64; 0]);
        db.drop_table(&mut a.tx, "dbo", "t").await.expect("a table");
        a.commit().await;
        assert!(db.catalog(&b.tx).table("dbo", "t").is_none());
    });
    schedulers.advance(std::time::Duration::from_secs(1));
    assert_eq!(db.storage_to_free(), 0, "dropped storage is given back");
    stop(&server);
}

#[test]
fn everything_is_there_after_a_restart() {
    let disk = SimulatedDisk::new(8);
    let first = server(&disk);
    let text = format!("CREATE PROCEDURE p AS PRINT '{}'", "long ".repeat(2_000));
    let mut identity = definition("i", primary_key());
    identity.columns[0].identity = Some(Identity { seed: 10, increment: 5 });
    first.schedulers().block_on(async {
        first.create_database("Sales", Collation::DEFAULT).await.expect("a new database");
        assert_eq!(first.create_database("SALES", Collation::DEFAULT).await.expect_err("it is there").number, 1801);
        first
            .set_database_option("sales", DatabaseOption::DelayedDurability(DelayedDurability::Forced))
            .expect("an option");
        let db = first.database("sales").expect("it is there");
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", primary_key())).await;
        a.insert(&t, &row(1, 1, "x")).await.expect("a new key");
        let i = a.create(identity).await;
        let next = db.drive(&mut a.tx, |tx| db.try_next_identity(tx, &i)).await.expect("a value");
        assert_eq!(next, 10);
        for number in 1..=3 {
            let next = db.drive(&mut a.tx, |tx| db.try_next_rowversion(tx, &i)).await.expect("a number");
            assert_eq!(next, number);
        }
        db.create_schema(&mut a.tx, "s", crate::DBO).await.expect("a new schema");
        let procedure = ModuleDefinition {
            schema: "s",
            name: "p",
            text: &text,
            execute_as: Some(Module::AS_OWNER),
            ansi_nulls: true,
            quoted_identifier: true,
            columns: &[],
            declared: |_| DeclaredNames::default(),
        };
        db.put_procedure(&mut a.tx, procedure, PutMode::CreateOrAlter).await.expect("new");
        a.commit().await;
    });
    first.set_policy("TRANSACTION_IDS", "SPINLOCK").expect("a policy");
    stop(&first);
    drop(first);
    let second = server(&disk);
    let rows: Vec<(i32, String)> = second.databases().into_iter().map(|d| (d.id, d.name)).collect();
    let expected = [(1, "master"), (2, "tempdb"), (3, "model"), (4, "msdb"), (5, "Sales")];
    assert_eq!(rows, expected.map(|(id, name)| (id, name.to_owned())));
    assert_eq!(second.policies()[0].value, "SPINLOCK");
    let db = second.database("sales").expect("it is there");
    assert_eq!(db.options().delayed_durability, DelayedDurability::Forced);
    second.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = db.catalog(&a.tx).table("dbo", "t").cloned().expect("it is there");
        assert_eq!(a.rows(&t).await, [row(1, 1, "x")]);
        assert_eq!(db.catalog(&a.tx).procedure("S", "P").expect("it is there").text, text);
        let i = db.catalog(&a.tx).table("dbo", "i").cloned().expect("it is there");
        let next = db.drive(&mut a.tx, |tx| db.try_next_identity(tx, &i)).await.expect("a value");
        assert_eq!(next, 15, "a clean shutdown leaves no gap");
        let next = db.drive(&mut a.tx, |tx| db.try_next_rowversion(tx, &i)).await.expect("a number");
        assert_eq!(next, 4, "a clean shutdown leaves no gap");
        drop(a);
        drop(db);
        second.drop_database("sales").await.expect("nobody uses it");
        assert_eq!(second.database("sales").expect_err("it is gone").number, 911);
    });
    stop(&second);
}

#[test]
fn a_damaged_database_is_suspect_and_the_others_open() {
    let disk = SimulatedDisk::new(9);
    let first = server(&disk);
    first.schedulers().block_on(first.create_database("d", Collation::DEFAULT)).expect("a new database");
    stop(&first);
    drop(first);
    let names = Disk::simulated(disk.clone()).list("/server/d/data").expect("a folder");
    assert!(names.contains(&"pages".to_owned()));
    disk.truncate("/server/d/data/pages", 8_192).expect("a file");
    let mut looked_at = Vec::new();
    let report = Server::check(&Disk::simulated(disk.clone()), "/server".as_ref(), &mut |name| {
        looked_at.push(name.to_owned());
    });
    let report = report.expect("the folder is free");
    assert_eq!(looked_at, ["d", "master"]);
    assert!(report.damage.iter().all(|line| line.starts_with("d: ")) && !report.damage.is_empty());
    let second = server(&disk);
    let error = second.database("d").expect_err("it is damaged");
    assert_eq!(error.number, 926);
    assert!(error.message.contains("cut off"), "{error}");
    assert!(second.database("master").is_ok());
    let busy = Server::open(options(&disk)).expect_err("the folder is open");
    assert!(matches!(busy, OpenError::InUse { .. }), "{busy}");
    stop(&second);
}

#[test]
fn a_database_whose_texts_have_another_order_is_not_read() {
    let disk = SimulatedDisk::new(9);
    let first = server(&disk);
    first.schedulers().block_on(first.create_database("d", Collation::DEFAULT)).expect("a new database");
    stop(&first);
    drop(first);
    let (files, path) = (Disk::simulated(disk.clone()), std::path::Path::new("/server/d/database.toml"));
    let file = String::from_utf8(files.read(path).expect("a file")).expect("text");
    assert!(file.starts_with("format = 5"), "{file}");
    for old in ["format = 1", "format = 4"] {
        files.replace(path, file.replacen("format = 5", old, 1).as_bytes()).expect("a file");
        let second = server(&disk);
        let error = second.database("d").expect_err("its indexes cannot be searched");
        assert_eq!(error.number, 926);
        assert!(error.message.contains("in whose indexes texts have another order"), "{error}");
        assert!(second.database("master").is_ok());
        stop(&second);
    }
}

#[test]
fn a_full_log_fails_the_statement_and_work_goes_on_after() {
    let disk = SimulatedDisk::new(10);
    let server = server(&disk);
    let db = master(&server);
    server.schedulers().block_on(async {
        let (mut a, mut b) = (Client::new(&db, 51), Client::new(&db, 52));
        let t = a.create(definition("t", primary_key())).await;
        b.insert(&t, &row(-1, 0, "before")).await.expect("a new key");
        a.tx.begin();
        let mut refused = None;
        for k in 0..40_000 {
            if let Err(error) = a.insert(&t, &row(k, 0, &"z".repeat(50))).await {
                refused = Some(error);
                break;
            }
        }
        let error = refused.expect("the log has a limit");
        assert_eq!(error.number, 9002);
        assert_eq!(error.message, "The transaction log for database 'master' is full due to 'ACTIVE_TRANSACTION'.");
        assert_eq!(b.keys(&t).await, [-1], "the database stays readable");
        a.rollback().await;
        assert_eq!(b.keys(&t).await, [-1]);
        db.checkpoint(&mut b.tx).await.expect("a checkpoint");
        b.insert(&t, &row(1, 0, "after")).await.expect("there is room again");
    });
    stop(&server);
}

#[test]
fn both_id_policies_run_and_the_spinlock_is_in_force() {
    let server = server(&SimulatedDisk::new(11));
    let db = master(&server);
    server.schedulers().block_on(async {
        let mut a = Client::new(&db, 51);
        let t = a.create(definition("t", primary_key())).await;
        for (k, policy) in ["SPINLOCK", "ATOMIC_RANGES", "SPINLOCK"].iter().enumerate() {
            assert_eq!(server.set_policy("TRANSACTION_IDS", policy).expect("a policy"), Effect::Now);
            for i in 0..1_500 {
                a.insert(&t, &row((k * 10_000 + i) as i64, 0, "x")).await.expect("a new key");
            }
        }
        assert_eq!(a.keys(&t).await.len(), 4_500);
    });
    stop(&server);
}

/// Accounts, transfers between them, readers that add them up: on real threads and a real disk.
mod threads {
    use super::*;

    const ACCOUNTS: i64 = 8;
    const TRANSFERS: usize = 150;

    fn folder(name: &str) -> std::path::PathBuf {
        std::env::temp_dir().join(format!("pikepole-engine-{name}-{}", std::process::id()))
    }

    fn open(folder: &std::path::Path, reservation: &str) -> Arc<Server> {
        let mut options = ServerOptions::new(folder);
        options.buffer_pool_bytes = Some(8 << 20);
        options.log_bytes_max = Some(256 << 20);
        options.schedulers = SchedulerChoice::Threads { cpus: None, pin: false };
        options.policies = vec![("LOG_RESERVATION".into(), reservation.into())];
        Server::open(options).expect("a temporary folder")
    }

    /// Changes one account by `amount`.
    async fn add(client: &mut Client, table: &Table, account: i64, amount: i32) -> Result<(), SqlError> {
        let mark = client.db.begin_statement(&mut client.tx);
        let (db, mut writer) = (client.db.clone(), table.writer());
        let mut scan = table.scan(ScanRange::all(), &[0]);
        let mut found = [Value::Null];
        let key = Value::BigInt(account);
        let tx = &mut client.tx;
        let mut current = row(0, 0, "");
        let result = async {
            db.drive(tx, |tx| db.try_get(tx, table, &mut scan, &[&key], &mut found)).await?;
            let locator = scan.locator().clone();
            loop {
                db.drive(tx, |tx| db.try_read_current(tx, table, &mut writer, &locator, &mut current)).await?;
                let Value::Int(old) = current[1] else {
                    panic!("an account has a value");
                };
                let new = row(account, old + amount, "changed");
                if db.drive(tx, |tx| db.try_update(tx, table, &mut writer, &locator, &new)).await? {
                    return Ok(());
                }
            }
        }
        .await;
        client.end(mark, result).await
    }

    async fn transfer(client: &mut Client, table: &Table, from: i64, to: i64) -> Result<(), SqlError> {
        client.tx.begin();
        let done = match add(client, table, from, -1).await {
            Ok(()) => add(client, table, to, 1).await,
            Err(error) => Err(error),
        };
        match done {
            Ok(()) if (from + to) % 5 == 0 => client.rollback().await,
            Ok(()) => client.db.commit(&mut client.tx, Durability::Delayed).await?,
            Err(error) => {
                client.rollback().await;
                return Err(error);
            }
        }
        Ok(())
    }

    async fn transfers(mut client: Client, table: Arc<Table>, seed: i64) -> usize {
        let mut victims = 0;
        for i in 0..TRANSFERS as i64 {
            let from = (i * 7 + seed) % ACCOUNTS;
            let to = (i * 3 + seed * 5 + 1) % ACCOUNTS;
            if from == to {
                continue;
            }
            while let Err(error) = transfer(&mut client, &table, from, to).await {
                assert_eq!(error.number, 1205, "{error}");
                victims += 1;
            }
        }
        victims
    }

    async fn sums(mut client: Client, table: Arc<Table>) {
        for _ in 0..TRANSFERS {
            let rows = client.rows(&table).await;
            let sum: i64 = rows.iter().map(|row| row[1].as_i64().expect("a value")).sum();
            assert_eq!((rows.len() as i64, sum), (ACCOUNTS, ACCOUNTS * 100));
            pikepole_scheduler::yield_now().await;
        }
    }

    fn run(reservation: &str) {
        let folder = folder(reservation);
        let server = open(&folder, reservation);
        server
            .set_database_option(MASTER, DatabaseOption::DelayedDurability(DelayedDurability::Allowed))
            .expect("an option");
        let db = master(&server);
        let table = server.schedulers().block_on(async {
            let mut client = Client::new(&db, 50);
            let table = client.create(definition("accounts", primary_key())).await;
            for account in 0..ACCOUNTS {
                client.insert(&table, &row(account, 100, "new")).await.expect("a new key");
            }
            table
        });
        let writers: Vec<_> = (0..4)
            .map(|i| spawn(&server, 51 + i, transfers(Client::new(&db, 51 + i), table.clone(), i64::from(i))))
            .collect();
        let readers: Vec<_> =
            (0..2).map(|i| spawn(&server, 61 + i, sums(Client::new(&db, 61 + i), table.clone()))).collect();
        for writer in writers {
            writer.join().expect("the transfers end");
        }
        for reader in readers {
            reader.join().expect("every sum is right");
        }
        drop(db);
        stop(&server);
        drop(server);
        let server = open(&folder, reservation);
        let db = master(&server);
        let table = db.current_catalog().table("dbo", "accounts").cloned().expect("it is there");
        server.schedulers().block_on(sums(Client::new(&db, 50), table));
        drop(db);
        stop(&server);
        drop(server);
        std::fs::remove_dir_all(&folder).expect("the folder is ours");
    }

    #[test]
    fn sums_hold_with_atomic_reservation() {
        run("ATOMIC");
    }

    #[test]
    fn sums_hold_with_chunks() {
        run("CHUNK");
    }

    #[test]
    fn sums_hold_with_the_spinlock_reservation() {
        run("SPINLOCK");
    }
}
