//! Statements and batches.

use super::*;

/// A batch: what a client sends at once. The whole batch parses, or none of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Batch {
    /// Its statements.
    pub statements: Vec<Statement>,
}

/// A statement.
#[derive(Debug, Clone, PartialEq)]
pub struct Statement {
    /// What it does.
    pub kind: StatementKind,
    /// Where it stands, without a semicolon behind it. Run-time errors report `span.line`.
    pub span: Span,
}

impl Statement {
    /// The line it begins in, counted from 1.
    pub fn line(&self) -> u32 {
        self.span.line
    }
}

/// The kinds of statements.
#[derive(Debug, Clone, PartialEq)]
pub enum StatementKind {
    // Control of flow.
    /// `BEGIN ... END`
    Block(Vec<Statement>),
    /// `IF ... ELSE ...`
    If(Box<If>),
    /// `WHILE ...`
    While(Box<While>),
    /// `BREAK`
    Break,
    /// `CONTINUE`
    Continue,
    /// `RETURN [x]`
    Return(Option<Expr>),
    /// `BEGIN TRY ... END TRY BEGIN CATCH ... END CATCH`
    TryCatch(Box<TryCatch>),
    /// `THROW`, alone or with number, message and state.
    Throw(Option<Box<Throw>>),
    /// `RAISERROR (...)`
    RaiseError(Box<RaiseError>),
    /// `PRINT x`
    Print(Expr),
    /// `GOTO label`
    Goto(Name),
    /// `label:`
    Label(Name),
    /// `WAITFOR DELAY '...'`, `WAITFOR TIME '...'`
    WaitFor(WaitFor),

    // Variables and options.
    /// `DECLARE @a int = 1, @b ...`
    Declare(Vec<VariableDeclaration>),
    /// `DECLARE @t TABLE (...)`
    DeclareTable(Box<TableVariable>),
    /// `SET @a = x`
    SetVariable(Box<SetVariable>),
    /// `SET NOCOUNT ON` and other options of the session.
    SetOption(SetOption),
    /// `SET TRANSACTION ISOLATION LEVEL ...`
    SetIsolation(IsolationLevel),
    /// `SET IDENTITY_INSERT t ON`
    SetIdentityInsert {
        /// The table.
        table: ObjectName,
        /// `ON`
        on: bool,
    },

    // Cursors.
    /// `DECLARE c CURSOR FOR ...`
    DeclareCursor(Box<DeclareCursor>),
    /// `OPEN c`
    OpenCursor(CursorName),
    /// `FETCH ... FROM c INTO @a`
    Fetch(Box<Fetch>),
    /// `CLOSE c`
    CloseCursor(CursorName),
    /// `DEALLOCATE c`
    DeallocateCursor(CursorName),

    // Transactions.
    /// `BEGIN TRANSACTION`
    BeginTransaction(BeginTransaction),
    /// `COMMIT`
    Commit(Commit),
    /// `ROLLBACK [TRANSACTION name]`: of a transaction or to a savepoint.
    Rollback(Option<TransactionName>),
    /// `SAVE TRANSACTION name`
    SaveTransaction(TransactionName),

    // Calls.
    /// `EXEC ...`, and a bare call at the head of a batch.
    Execute(Box<Execute>),
    /// `EXECUTE AS ...`
    ExecuteAs(Box<ExecuteAs>),
    /// `REVERT`
    Revert,

    // Rows.
    /// `SELECT ...`, also with WITH, INTO, set operators, or assigning variables.
    Select(Box<Query>),
    /// `INSERT ...`
    Insert(Box<Insert>),
    /// `UPDATE ...`
    Update(Box<Update>),
    /// `DELETE ...`
    Delete(Box<Delete>),
    /// `MERGE ...`
    Merge(Box<Merge>),
    /// `TRUNCATE TABLE t`
    Truncate(ObjectName),
    /// `BULK INSERT t FROM 'file'`
    BulkInsert(Box<BulkInsert>),

    // Tables and indexes.
    /// `CREATE TABLE`
    CreateTable(Box<CreateTable>),
    /// `ALTER TABLE`
    AlterTable(Box<AlterTable>),
    /// `CREATE INDEX`
    CreateIndex(Box<CreateIndex>),
    /// `ALTER INDEX`
    AlterIndex(Box<AlterIndex>),
    /// `DROP INDEX`
    DropIndex(Box<DropIndex>),
    /// `CREATE STATISTICS`
    CreateStatistics(Box<CreateStatistics>),
    /// `UPDATE STATISTICS`
    UpdateStatistics(Box<UpdateStatistics>),

    // Modules and other objects of a schema.
    /// `CREATE PROCEDURE`, `ALTER PROCEDURE`, `CREATE OR ALTER PROCEDURE`
    CreateProcedure(Box<CreateProcedure>),
    /// `CREATE FUNCTION` and its like.
    CreateFunction(Box<CreateFunction>),
    /// `CREATE VIEW` and its like.
    CreateView(Box<CreateView>),
    /// `CREATE TRIGGER` and its like.
    CreateTrigger(Box<CreateTrigger>),
    /// `ENABLE TRIGGER`, `DISABLE TRIGGER`
    SetTrigger(Box<SetTrigger>),
    /// `CREATE TYPE`
    CreateType(Box<CreateType>),
    /// `CREATE SEQUENCE`, `ALTER SEQUENCE`
    CreateSequence(Box<CreateSequence>),
    /// `CREATE`, `ALTER` and `DROP` of `PARTITION FUNCTION` and `PARTITION SCHEME`
    Partition(Box<PartitionStatement>),
    /// `CREATE SYNONYM`
    CreateSynonym(Box<CreateSynonym>),
    /// `CREATE SECURITY POLICY`, `ALTER SECURITY POLICY`
    SecurityPolicy(Box<SecurityPolicy>),
    /// `CREATE SCHEMA`
    CreateSchema(Box<CreateSchema>),
    /// `ALTER SCHEMA s TRANSFER o`
    TransferToSchema(Box<TransferToSchema>),
    /// `ALTER AUTHORIZATION`
    ChangeOwner(Box<ChangeOwner>),
    /// `DROP TABLE`, `DROP PROCEDURE` and other drops by name; indexes have [`StatementKind::DropIndex`].
    Drop(Box<Drop>),

    // Databases and the server.
    /// `CREATE DATABASE`
    CreateDatabase(Box<CreateDatabase>),
    /// `ALTER DATABASE`
    AlterDatabase(Box<AlterDatabase>),
    /// `USE database`
    Use(Name),
    /// `CHECKPOINT [seconds]`
    Checkpoint(Option<Expr>),
    /// `DBCC name (...) WITH ...`
    Dbcc(Box<Dbcc>),
    /// `ALTER SERVER CONFIGURATION SET ...`
    AlterServerConfiguration(ServerConfiguration),
    /// `RECONFIGURE [WITH OVERRIDE]`
    Reconfigure {
        /// `WITH OVERRIDE`
        with_override: bool,
    },
    /// `KILL session`
    Kill(Kill),
    /// `SHUTDOWN [WITH NOWAIT]`
    Shutdown {
        /// `WITH NOWAIT`
        nowait: bool,
    },
    /// `BACKUP ...`
    Backup(Box<Backup>),
    /// `RESTORE ...`
    Restore(Box<Backup>),
    /// `GRANT`, `DENY`, `REVOKE`
    Permission(Box<Permission>),
    /// `CREATE`/`ALTER` of `LOGIN`, `USER`, `ROLE`, `SERVER ROLE`, `APPLICATION ROLE`
    Principal(Box<Principal>),
}
