//! What the sessions do: the built-in singleton-insert procedure, or batches of the user's own.

use super::{TableKind, parallel, scan};

/// The name of the driver's database, but for scans.
pub(super) const DATABASE: &str = "stress";

/// Drops the built-in table of runs before.
const DROP: &str = "DROP TABLE IF EXISTS dbo.singleton_insert";

/// The built-in table: the row of the published experiment on the log writer's core.
fn table(kind: TableKind) -> String {
    let key = kind.primary_key();
    let options = kind.options().map_or_else(String::new, |options| format!(" WITH ({options})"));
    format!(
        "
CREATE TABLE dbo.singleton_insert (
    id      bigint    NOT NULL,
    created datetime  NOT NULL,
    filler  char(111) NOT NULL,
    a       int       NOT NULL,
    b       int       NOT NULL,
    c       bigint    NULL,
    CONSTRAINT pk_singleton_insert {key}
){options};"
    )
}

/// Small changes after which the memory of a dropped in-memory table has been given back: otherwise the transactions of the run do it,
/// and pay for it.
const SETTLE: &str = "
DECLARE @i int = 0;
WHILE @i < 2000
BEGIN
    INSERT INTO dbo.singleton_insert (id, created, filler, a, b, c) VALUES (-1, GETDATE(), '', 1, 2, NULL);
    DELETE FROM dbo.singleton_insert WHERE id = -1;
    SET @i += 1;
END;";

/// Lets explicit transactions at READ COMMITTED read and change in-memory tables without a hint.
fn elevate() -> String {
    format!("ALTER DATABASE {DATABASE} SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON")
}

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

/// The natively compiled procedure of one insert, a transaction by itself.
const NATIVE_ROW: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_row @id bigint
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    INSERT INTO dbo.singleton_insert (id, created, filler, a, b, c)
    VALUES (@id, GETDATE(), 'pikepole', 1, 2, NULL);
END;";

/// Calls it, a row a turn of the loop.
const PROCEDURE_NATIVE_ROW: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_rows @first bigint, @rows bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = @first;
    DECLARE @end bigint = @first + @rows;
    DECLARE @id bigint;
    WHILE @i < @end
    BEGIN
        SET @id = @@SPID * 10000000000 + @i;
        EXEC dbo.insert_row @id;
        SET @i += 1;
    END;
END;";

/// The natively compiled procedure of a loop of inserts, which are one transaction.
const NATIVE_LOOP: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_row @first bigint, @rows bigint
WITH NATIVE_COMPILATION, SCHEMABINDING
AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
    DECLARE @i bigint = 0;
    WHILE @i < @rows
    BEGIN
        INSERT INTO dbo.singleton_insert (id, created, filler, a, b, c)
        VALUES (@first + @i, GETDATE(), 'pikepole', 1, 2, NULL);
        SET @i += 1;
    END;
END;";

/// Calls it, 1,000 rows a turn of the loop.
const PROCEDURE_NATIVE_LOOP: &str = "
CREATE OR ALTER PROCEDURE dbo.insert_rows @first bigint, @rows bigint
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = 0;
    DECLARE @id bigint;
    DECLARE @part bigint;
    WHILE @i < @rows
    BEGIN
        SET @id = @@SPID * 10000000000 + @first + @i;
        SET @part = IIF(@rows - @i < 1000, @rows - @i, 1000);
        EXEC dbo.insert_row @id, @part;
        SET @i += @part;
    END;
END;";

/// Drops the natively compiled procedure, which is bound to its table.
const DROP_NATIVE: &str = "DROP PROCEDURE IF EXISTS dbo.insert_row";

/// The part of a workload that is natively compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NativeCalls {
    /// Each insert is a call, and a transaction, of a natively compiled procedure.
    Row,
    /// The loop is in it: up to 1,000 inserts are a call and a transaction.
    Loop,
}

impl NativeCalls {
    /// The natively compiled procedure, and the one that calls it.
    fn procedures(self) -> [&'static str; 2] {
        match self {
            NativeCalls::Row => [NATIVE_ROW, PROCEDURE_NATIVE_ROW],
            NativeCalls::Loop => [NATIVE_LOOP, PROCEDURE_NATIVE_LOOP],
        }
    }
}

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
    /// The same by a natively compiled procedure.
    NativeInsert(NativeCalls),
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
            Workload::NativeInsert(NativeCalls::Row) => "native-insert",
            Workload::NativeInsert(NativeCalls::Loop) => "native-loop",
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

    /// True where its table can be of another kind than the ordinary one.
    pub fn takes_table_kinds(&self) -> bool {
        matches!(
            self,
            Workload::SingletonInsert
                | Workload::RpcInsert { .. }
                | Workload::ExplicitTransactions
                | Workload::NativeInsert(_)
        )
    }

    /// Batches that make the tables, run once in the driver's database.
    pub fn setup(&self, kind: TableKind) -> Vec<String> {
        match self {
            Workload::SingletonInsert | Workload::RpcInsert { .. } => singleton_setup(kind, &[PROCEDURE]),
            Workload::ExplicitTransactions => singleton_setup(kind, &[PROCEDURE_EXPLICIT]),
            Workload::NativeInsert(calls) => singleton_setup(kind, &calls.procedures()),
            Workload::HeapInsert => {
                ["DROP TABLE IF EXISTS dbo.heap_insert", HEAP, PROCEDURE_HEAP].map(str::to_string).to_vec()
            }
            Workload::ParallelInsert { minimal_logging, .. } => {
                let recovery = if *minimal_logging { "SIMPLE" } else { "FULL" };
                vec![
                    format!("ALTER DATABASE {DATABASE} SET RECOVERY {recovery}"),
                    parallel::DROP.to_string(),
                    parallel::table().to_string(),
                ]
            }
            Workload::Scan { table_bytes } => scan::setup(*table_bytes),
            Workload::Batch { setup, .. } => setup.clone(),
        }
    }

    /// The T-SQL that a page shows: the batches of `setup`, the tables of the other kinds that its arms have, and the statement of
    /// the runs where no procedure holds it.
    pub fn tsql(&self, kinds: &[TableKind]) -> Vec<String> {
        let first = kinds.first().copied().unwrap_or_default();
        let mut batches = self.setup(first);
        if self.takes_table_kinds() {
            let others = TableKind::ALL.into_iter().filter(|kind| *kind != first && kinds.contains(kind));
            batches.extend(others.map(table));
        }
        batches.extend(self.session_setup().map(str::to_string));
        batches.extend(self.statement());
        batches
    }

    /// The batches of `setup` that no other workload has: its procedures, where they are natively compiled.
    pub fn own_procedures(&self) -> Vec<String> {
        match self {
            Workload::NativeInsert(calls) => calls.procedures().map(str::to_owned).to_vec(),
            _ => Vec::new(),
        }
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
            Workload::NativeInsert(NativeCalls::Row) => vec!["a natively compiled procedure for each row".to_owned()],
            Workload::NativeInsert(NativeCalls::Loop) => {
                vec!["a natively compiled loop, 1,000 rows a transaction".to_owned()]
            }
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
    pub(super) fn reset(&self, kind: TableKind) -> Vec<String> {
        let checkpoint = || "CHECKPOINT".to_string();
        match self {
            // In-memory tables cannot be truncated, nor dropped while a procedure is bound to them.
            Workload::NativeInsert(calls) if kind.asks_for_memory() => {
                let [native, _] = calls.procedures();
                let again = [DROP_NATIVE, DROP].map(str::to_string).into_iter().chain([table(kind)]);
                again.chain([SETTLE.to_string(), native.to_string(), checkpoint()]).collect()
            }
            Workload::SingletonInsert | Workload::RpcInsert { .. } | Workload::ExplicitTransactions
                if kind.asks_for_memory() =>
            {
                vec![DROP.to_string(), table(kind), SETTLE.to_string(), checkpoint()]
            }
            Workload::SingletonInsert
            | Workload::RpcInsert { .. }
            | Workload::ExplicitTransactions
            | Workload::NativeInsert(_) => {
                vec!["TRUNCATE TABLE dbo.singleton_insert".to_string(), checkpoint()]
            }
            Workload::HeapInsert => vec!["TRUNCATE TABLE dbo.heap_insert".to_string(), checkpoint()],
            Workload::ParallelInsert { .. } => vec!["TRUNCATE TABLE dbo.parallel_insert".to_string(), checkpoint()],
            Workload::Scan { .. } | Workload::Batch { .. } => vec![checkpoint()],
        }
    }

    /// The query that counts what the runs inserted, where the driver knows it.
    pub(super) fn count(&self) -> Option<&'static str> {
        match self {
            Workload::SingletonInsert
            | Workload::RpcInsert { .. }
            | Workload::ExplicitTransactions
            | Workload::NativeInsert(_) => Some("SELECT COUNT_BIG(*) FROM dbo.singleton_insert"),
            Workload::HeapInsert => Some("SELECT COUNT_BIG(*) FROM dbo.heap_insert"),
            Workload::ParallelInsert { .. } => Some(parallel::COUNT),
            // Each scan counts.
            Workload::Scan { .. } => None,
            Workload::Batch { .. } => None,
        }
    }
}

/// The table of singleton inserts, and the procedures that make them.
fn singleton_setup(kind: TableKind, procedures: &[&str]) -> Vec<String> {
    let elevate = kind.asks_for_memory().then(elevate);
    let made = elevate.into_iter().chain([DROP_NATIVE.to_string(), DROP.to_string(), table(kind)]);
    made.chain(procedures.iter().map(|text| (*text).to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MEMORY: &str = ") WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);";
    const SCHEMA_ONLY: &str = ") WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);";

    #[test]
    fn each_kind_has_its_table_and_all_have_one_procedure() {
        let [disk, memory, schema_only] = TableKind::ALL.map(|kind| Workload::SingletonInsert.setup(kind));
        assert!(disk[2].contains("PRIMARY KEY CLUSTERED (id)\n);"), "{disk:?}");
        assert_eq!(memory[0], "ALTER DATABASE stress SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON");
        assert!(memory[3].contains("PRIMARY KEY NONCLUSTERED (id)") && memory[3].ends_with(MEMORY));
        assert!(schema_only[3].ends_with(SCHEMA_ONLY), "{schema_only:?}");
        assert_eq!([&disk[3], &memory[4]], [&schema_only[4]; 2]);
    }

    #[test]
    fn a_native_procedure_goes_before_its_table_and_comes_back_behind_it() {
        for calls in [NativeCalls::Row, NativeCalls::Loop] {
            let [native, caller] = calls.procedures();
            assert!(native.contains("NATIVE_COMPILATION") && !caller.contains("NATIVE_COMPILATION"));
            let again = Workload::NativeInsert(calls).reset(TableKind::Memory);
            assert_eq!([&again[0], &again[1], &again[4]], [DROP_NATIVE, DROP, native]);
        }
    }

    #[test]
    fn in_memory_tables_are_made_again_and_ordinary_ones_emptied() {
        let [disk, memory, _] = TableKind::ALL.map(|kind| Workload::ExplicitTransactions.reset(kind));
        assert_eq!(disk, ["TRUNCATE TABLE dbo.singleton_insert", "CHECKPOINT"]);
        assert_eq!((memory[0].as_str(), memory.last().map(String::as_str)), (DROP, Some("CHECKPOINT")));
        assert!(memory[1].ends_with(MEMORY), "{memory:?}");
    }

    #[test]
    fn a_page_shows_every_kind_once() {
        let shown = Workload::SingletonInsert.tsql(&[TableKind::Disk, TableKind::SchemaOnly, TableKind::SchemaOnly]);
        let tables: Vec<&String> = shown.iter().filter(|text| text.contains("CREATE TABLE")).collect();
        assert_eq!(tables.len(), 2, "{tables:?}");
        assert!(tables[1].ends_with(SCHEMA_ONLY));
        let heap = Workload::HeapInsert;
        assert_eq!(heap.tsql(&[TableKind::Disk]), heap.setup(TableKind::Disk));
    }
}
