//! What the sessions do: the built-in singleton-insert procedure, or batches of the user's own.

use super::{parallel, scan};

/// The name of the driver's database, but for scans.
pub(super) const DATABASE: &str = "stress";

/// The built-in table: the row of the published experiment on the log writer's core.
const TABLE: &str = "
CREATE TABLE dbo.singleton_insert (
    id      bigint    NOT NULL,
    created datetime  NOT NULL,
    filler  char(111) NOT NULL,
    a       int       NOT NULL,
    b       int       NOT NULL,
    c       bigint    NULL,
    CONSTRAINT pk_singleton_insert PRIMARY KEY CLUSTERED (id)
);";

/// The built-in procedure: one autocommitted insert a turn of the loop, each session in a key range of its own.
const PROCEDURE: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_rows @first bigint, @rows bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = @first;
    DECLARE @end bigint = @first + @rows;
    WHILE @i < @end
    BEGIN
        INSERT INTO dbo.singleton_insert (id, created, filler, a, b, c)
        VALUES (@@SPID * 10000000000 + @i, GETDATE(), 'pikepole', 1, 2, NULL);
        SET @i += 1;
    END;
END;";

/// The same, each insert in a transaction that is begun and committed by name.
const PROCEDURE_EXPLICIT: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_rows @first bigint, @rows bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = @first;
    DECLARE @end bigint = @first + @rows;
    WHILE @i < @end
    BEGIN
        BEGIN TRANSACTION;
        INSERT INTO dbo.singleton_insert (id, created, filler, a, b, c)
        VALUES (@@SPID * 10000000000 + @i, GETDATE(), 'pikepole', 1, 2, NULL);
        COMMIT TRANSACTION;
        SET @i += 1;
    END;
END;";

/// A heap of one column that may be NULL.
const HEAP: &str = "
CREATE TABLE dbo.heap_insert (a int NULL);";

/// One autocommitted insert into the heap a turn of the loop.
const PROCEDURE_HEAP: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_rows @first bigint, @rows bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = @first;
    DECLARE @end bigint = @first + @rows;
    WHILE @i < @end
    BEGIN
        INSERT INTO dbo.heap_insert (a) VALUES (1);
        SET @i += 1;
    END;
END;";

/// What the sessions of a run do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Workload {
    /// The singleton-insert procedure over a table with a clustered bigint key.
    SingletonInsert,
    /// The same rows, each a call of a prepared statement over the wire: of a server only.
    RpcInsert {
        /// Calls in a message.
        calls: u32,
    },
    /// The same with BEGIN TRANSACTION and COMMIT around each insert.
    ExplicitTransactions,
    /// Singleton inserts into a heap of one nullable int.
    HeapInsert,
    /// One INSERT ... SELECT of many generated rows into a heap after the other, each by parallel workers.
    ParallelInsert {
        /// Rows of a statement.
        rows: u64,
        /// Its MAXDOP.
        maxdop: u32,
        /// SIMPLE recovery: only the use of pages is logged.
        minimal_logging: bool,
    },
    /// Scans of a heap that is in the buffer pool as a whole.
    Scan {
        /// Bytes of its pages, about.
        table_bytes: u64,
    },
    /// A batch of the user's own, repeated; `setup` runs once before.
    Batch {
        /// Batches run once, in order, before the first run.
        setup: Vec<String>,
        /// The batches of one iteration.
        batches: Vec<String>,
    },
}

impl Workload {
    /// The name in tables and JSON.
    pub fn name(&self) -> &'static str {
        match self {
            Workload::SingletonInsert => "singleton-insert",
            Workload::RpcInsert { .. } => "rpc-insert",
            Workload::ExplicitTransactions => "explicit-transactions",
            Workload::HeapInsert => "heap-insert",
            Workload::ParallelInsert { .. } => "parallel-insert",
            Workload::Scan { .. } => "scan",
            Workload::Batch { .. } => "batch",
        }
    }

    /// The database that it works in.
    pub(super) fn database(&self) -> &'static str {
        match self {
            Workload::Scan { .. } => scan::DATABASE,
            _ => DATABASE,
        }
    }

    /// Whether later runs in the same folder work on what this one has made.
    pub fn keeps_its_table(&self) -> bool {
        matches!(self, Workload::Scan { .. })
    }

    /// Bytes of the buffer pool that it needs; `None`: any.
    pub fn buffer_pool_bytes(&self) -> Option<u64> {
        match self {
            Workload::Scan { table_bytes } => Some(scan::scan_pool_bytes(*table_bytes)),
            _ => None,
        }
    }

    /// Batches that make the tables, run once in the driver's database.
    pub fn setup(&self) -> Vec<String> {
        let statements = match self {
            Workload::SingletonInsert | Workload::RpcInsert { .. } => {
                ["DROP TABLE IF EXISTS dbo.singleton_insert", TABLE, PROCEDURE]
            }
            Workload::ExplicitTransactions => ["DROP TABLE IF EXISTS dbo.singleton_insert", TABLE, PROCEDURE_EXPLICIT],
            Workload::HeapInsert => ["DROP TABLE IF EXISTS dbo.heap_insert", HEAP, PROCEDURE_HEAP],
            Workload::ParallelInsert { minimal_logging, .. } => {
                let recovery = if *minimal_logging { "SIMPLE" } else { "FULL" };
                return vec![
                    format!("ALTER DATABASE {DATABASE} SET RECOVERY {recovery}"),
                    parallel::DROP.to_string(),
                    parallel::table().to_string(),
                ];
            }
            Workload::Scan { table_bytes } => return scan::setup(*table_bytes),
            Workload::Batch { setup, .. } => return setup.clone(),
        };
        statements.map(str::to_string).to_vec()
    }

    /// The T-SQL that a page shows: the batches of `setup`, and the statement of the runs where no procedure holds it.
    pub fn tsql(&self) -> Vec<String> {
        let mut batches = self.setup();
        batches.extend(self.session_setup().map(str::to_string));
        batches.extend(self.statement());
        batches
    }

    /// The batch that each session runs first.
    pub(super) fn session_setup(&self) -> Option<&'static str> {
        matches!(self, Workload::ParallelInsert { .. }).then(parallel::session_setup)
    }

    /// What differs between workloads of one name, in words.
    pub fn settings(&self) -> Vec<String> {
        match self {
            Workload::ParallelInsert { maxdop, minimal_logging: true, .. } => {
                vec![format!("SIMPLE recovery, MAXDOP {maxdop}")]
            }
            Workload::ParallelInsert { maxdop, .. } => vec![format!("FULL recovery, MAXDOP {maxdop}")],
            _ => Vec::new(),
        }
    }

    /// The statement that the sessions repeat, for a workload that is one.
    pub(super) fn statement(&self) -> Option<String> {
        match self {
            Workload::ParallelInsert { rows, maxdop, .. } => Some(parallel::statement(*rows, *maxdop)),
            Workload::Scan { .. } => Some(scan::STATEMENT.to_string()),
            _ => None,
        }
    }

    /// Batches that bring every run to the same start.
    pub(super) fn reset(&self) -> &'static [&'static str] {
        match self {
            Workload::SingletonInsert | Workload::RpcInsert { .. } | Workload::ExplicitTransactions => {
                &["TRUNCATE TABLE dbo.singleton_insert", "CHECKPOINT"]
            }
            Workload::HeapInsert => &["TRUNCATE TABLE dbo.heap_insert", "CHECKPOINT"],
            Workload::ParallelInsert { .. } => &["TRUNCATE TABLE dbo.parallel_insert", "CHECKPOINT"],
            Workload::Scan { .. } | Workload::Batch { .. } => &["CHECKPOINT"],
        }
    }

    /// The query that counts what the runs inserted, where the driver knows it.
    pub(super) fn count(&self) -> Option<&'static str> {
        match self {
            Workload::SingletonInsert | Workload::RpcInsert { .. } | Workload::ExplicitTransactions => {
                Some("SELECT COUNT_BIG(*) FROM dbo.singleton_insert")
            }
            Workload::HeapInsert => Some("SELECT COUNT_BIG(*) FROM dbo.heap_insert"),
            Workload::ParallelInsert { .. } => Some(parallel::COUNT),
            // Each scan counts.
            Workload::Scan { .. } => None,
            Workload::Batch { .. } => None,
        }
    }
}
