//! The peers, each with the settings that make it comparable: durable at commit, or delayed but safe on a crash of the
//! process, as its documentation says.

use crate::Failure;
use crate::drive::{Engine, Session, value};
use std::path::Path;
use std::sync::Mutex;

type Open = fn(&Path, bool) -> Result<Box<dyn Engine>, Failure>;

/// Every embedded peer by name.
pub const ALL: &[(&str, Open)] = &[
    ("redb", |folder, durable| Ok(Box::new(Redb::open(folder, durable)?))),
    ("fjall", |folder, durable| Ok(Box::new(Fjall::open(folder, durable)?))),
    ("sqlite", |folder, durable| Ok(Box::new(Sqlite::open(folder, durable)?))),
    ("lmdb", |folder, durable| Ok(Box::new(Lmdb::open(folder, durable)?))),
    ("surrealkv", |folder, durable| Ok(Box::new(SurrealKv::open(folder, durable)?))),
    #[cfg(feature = "rocksdb")]
    ("rocksdb", |folder, durable| Ok(Box::new(RocksDb::open(folder, durable)?))),
];

// ---- redb: Durability::Immediate, or None with a periodic durable commit left out ----

const REDB_TABLE: redb::TableDefinition<u64, &[u8]> = redb::TableDefinition::new("rows");

struct Redb {
    database: redb::Database,
    durable: bool,
}

impl Redb {
    fn open(folder: &Path, durable: bool) -> Result<Self, Failure> {
        Ok(Redb { database: redb::Database::create(folder.join("rows.redb"))?, durable })
    }
}

impl Engine for Redb {
    fn session(&self) -> Result<Session<'_>, Failure> {
        Ok(Box::new(move |key, _| {
            let mut transaction = self.database.begin_write()?;
            let durability = if self.durable { redb::Durability::Immediate } else { redb::Durability::None };
            transaction.set_durability(durability)?;
            transaction.open_table(REDB_TABLE)?.insert(key, value(key).as_slice())?;
            transaction.commit()?;
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        use redb::{ReadableDatabase, ReadableTableMetadata};
        Ok(self.database.begin_read()?.open_table(REDB_TABLE)?.len()?)
    }
}

// ---- fjall: persist(SyncData) after each insert, or its default of flushing to the system ----

struct Fjall {
    database: fjall::Database,
    rows: fjall::Keyspace,
    durable: bool,
}

impl Fjall {
    fn open(folder: &Path, durable: bool) -> Result<Self, Failure> {
        let database = fjall::Database::builder(folder).open()?;
        let rows = database.keyspace("rows", fjall::KeyspaceCreateOptions::default)?;
        Ok(Fjall { database, rows, durable })
    }
}

impl Engine for Fjall {
    fn session(&self) -> Result<Session<'_>, Failure> {
        Ok(Box::new(move |key, _| {
            self.rows.insert(key.to_be_bytes(), value(key))?;
            if self.durable {
                self.database.persist(fjall::PersistMode::SyncData)?;
            }
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        Ok(self.rows.len()? as u64)
    }
}

// ---- SQLite: WAL, synchronous FULL or NORMAL, a connection a session ----

struct Sqlite {
    path: std::path::PathBuf,
    durable: bool,
}

impl Sqlite {
    fn open(folder: &Path, durable: bool) -> Result<Self, Failure> {
        let sqlite = Sqlite { path: folder.join("rows.db"), durable };
        sqlite.connect()?.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, value BLOB)", [])?;
        Ok(sqlite)
    }

    fn connect(&self) -> Result<rusqlite::Connection, Failure> {
        let connection = rusqlite::Connection::open(&self.path)?;
        connection.busy_timeout(std::time::Duration::from_secs(60))?;
        connection.pragma_update(None, "journal_mode", "WAL")?;
        connection.pragma_update(None, "synchronous", if self.durable { "FULL" } else { "NORMAL" })?;
        Ok(connection)
    }
}

impl Engine for Sqlite {
    fn session(&self) -> Result<Session<'_>, Failure> {
        let connection = self.connect()?;
        Ok(Box::new(move |key, _| {
            let mut insert = connection.prepare_cached("INSERT INTO rows VALUES (?, ?)")?;
            insert.execute(rusqlite::params![key as i64, value(key)])?;
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        let count: i64 = self.connect()?.query_row("SELECT count(*) FROM rows", [], |row| row.get(0))?;
        Ok(count as u64)
    }
}

// ---- LMDB: its default, or NO_SYNC (not safe on a crash of the machine; a ceiling) ----

type LmdbRows = heed::Database<heed::types::U64<heed::byteorder::BigEndian>, heed::types::Bytes>;

struct Lmdb {
    environment: heed::Env,
    rows: LmdbRows,
}

impl Lmdb {
    fn open(folder: &Path, durable: bool) -> Result<Self, Failure> {
        let mut options = heed::EnvOpenOptions::new();
        options.map_size(16 << 30).max_readers(1024);
        if !durable {
            // SAFETY: NO_SYNC risks only the folder of this measurement, which is removed afterwards.
            unsafe { options.flags(heed::EnvFlags::NO_SYNC) };
        }
        // SAFETY: the folder is this process's own and is opened once.
        let environment = unsafe { options.open(folder)? };
        let mut transaction = environment.write_txn()?;
        let rows = environment.create_database(&mut transaction, None)?;
        transaction.commit()?;
        Ok(Lmdb { environment, rows })
    }
}

impl Engine for Lmdb {
    fn session(&self) -> Result<Session<'_>, Failure> {
        Ok(Box::new(move |key, _| {
            let mut transaction = self.environment.write_txn()?;
            self.rows.put(&mut transaction, &key, &value(key))?;
            transaction.commit()?;
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        let transaction = self.environment.read_txn()?;
        Ok(self.rows.len(&transaction)?)
    }
}

// ---- SurrealKV: Immediate or its default, Eventual; a transaction a row on a runtime of its own ----

struct SurrealKv {
    runtime: tokio::runtime::Runtime,
    tree: surrealkv::Tree,
    durable: bool,
    rows: Mutex<u64>,
}

impl SurrealKv {
    fn open(folder: &Path, durable: bool) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let guard = runtime.enter();
        let tree = surrealkv::TreeBuilder::new().with_path(folder.to_path_buf()).build()?;
        drop(guard);
        Ok(SurrealKv { runtime, tree, durable, rows: Mutex::new(0) })
    }
}

impl Engine for SurrealKv {
    fn session(&self) -> Result<Session<'_>, Failure> {
        let handle = self.runtime.handle().clone();
        Ok(Box::new(move |key, _| {
            handle.block_on(async {
                let mut transaction = self.tree.begin()?;
                if self.durable {
                    transaction.set_durability(surrealkv::Durability::Immediate);
                }
                transaction.set(key.to_be_bytes().as_slice(), value(key).as_slice())?;
                transaction.commit().await
            })?;
            *self.rows.lock().map_err(|_| "poisoned")? += 1;
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        Ok(*self.rows.lock().map_err(|_| "poisoned")?)
    }
}

// ---- RocksDB: sync writes, or its default of one write() a commit ----

#[cfg(feature = "rocksdb")]
struct RocksDb {
    database: rocksdb::DB,
    durable: bool,
}

#[cfg(feature = "rocksdb")]
impl RocksDb {
    fn open(folder: &Path, durable: bool) -> Result<Self, Failure> {
        Ok(RocksDb { database: rocksdb::DB::open_default(folder)?, durable })
    }
}

#[cfg(feature = "rocksdb")]
impl Engine for RocksDb {
    fn session(&self) -> Result<Session<'_>, Failure> {
        let mut options = rocksdb::WriteOptions::default();
        options.set_sync(self.durable);
        Ok(Box::new(move |key, _| {
            self.database.put_opt(key.to_be_bytes(), value(key), &options)?;
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        Ok(self.database.iterator(rocksdb::IteratorMode::Start).count() as u64)
    }
}

// ---- PostgreSQL: a procedure that commits after each row, called by each session ----

/// A PostgreSQL server reached by its connection string.
pub struct Postgres {
    connection: String,
    durable: bool,
}

const POSTGRES_TABLE: &str = "
DROP TABLE IF EXISTS peer_rows;
CREATE TABLE peer_rows (id bigint PRIMARY KEY, value bytea NOT NULL);
CREATE OR REPLACE PROCEDURE peer_insert(first bigint, amount bigint) LANGUAGE plpgsql AS $$
BEGIN
    FOR i IN first .. first + amount - 1 LOOP
        INSERT INTO peer_rows VALUES (i, '\\x202020202020202020202020202020202020202020202020');
        COMMIT;
    END LOOP;
END $$;";

/// Makes the table and the procedure.
pub fn postgres(connection: &str, durable: bool) -> Result<Postgres, Failure> {
    let mut client = ::postgres::Client::connect(connection, ::postgres::NoTls)?;
    client.batch_execute(POSTGRES_TABLE)?;
    Ok(Postgres { connection: connection.to_string(), durable })
}

impl Engine for Postgres {
    fn session(&self) -> Result<Session<'_>, Failure> {
        let mut client = ::postgres::Client::connect(&self.connection, ::postgres::NoTls)?;
        let level = if self.durable { "on" } else { "off" };
        client.batch_execute(&format!("SET synchronous_commit = {level}"))?;
        Ok(Box::new(move |first, count| {
            client.batch_execute(&format!("CALL peer_insert({first}, {count})"))?;
            Ok(())
        }))
    }

    fn count(&self) -> Result<u64, Failure> {
        let mut client = ::postgres::Client::connect(&self.connection, ::postgres::NoTls)?;
        let count: i64 = client.query_one("SELECT count(*) FROM peer_rows", &[])?.get(0);
        Ok(count as u64)
    }

    fn rows_per_call(&self) -> u64 {
        if self.durable { 200 } else { 5_000 }
    }
}
