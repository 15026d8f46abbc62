//! What the sessions do: the built-in singleton-insert procedure, or batches of the user's own.

/// The name of the driver's database.
pub const DATABASE: &str = "stress";

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

/// What the sessions of a run do.
#[derive(Debug, Clone)]
pub enum Workload {
    /// The singleton-insert procedure over a table with a clustered bigint key.
    SingletonInsert,
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
            Workload::Batch { .. } => "batch",
        }
    }

    /// Batches that make the tables, run once in the driver's database.
    pub(super) fn setup(&self) -> Vec<String> {
        match self {
            Workload::SingletonInsert => {
                vec!["DROP TABLE IF EXISTS dbo.singleton_insert".to_string(), TABLE.to_string(), PROCEDURE.to_string()]
            }
            Workload::Batch { setup, .. } => setup.clone(),
        }
    }

    /// Batches that bring every run to the same start.
    pub(super) fn reset(&self) -> &'static [&'static str] {
        match self {
            Workload::SingletonInsert => &["TRUNCATE TABLE dbo.singleton_insert", "CHECKPOINT"],
            Workload::Batch { .. } => &["CHECKPOINT"],
        }
    }

    /// The query that counts what the runs inserted, where the driver knows it.
    pub(super) fn count(&self) -> Option<&'static str> {
        match self {
            Workload::SingletonInsert => Some("SELECT COUNT_BIG(*) FROM dbo.singleton_insert"),
            Workload::Batch { .. } => None,
        }
    }
}
