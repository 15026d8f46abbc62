//! Flow, variables, options, cursors, transactions and calls.

use super::{AssignOp, Condition, DataType, Expr, Name, ObjectName, Query, Statement, TableElement};

/// `IF condition statement [ELSE statement]`
#[derive(Debug, Clone, PartialEq)]
pub struct If {
    /// What decides.
    pub condition: Condition,
    /// What runs when it holds.
    pub then: Statement,
    /// What runs otherwise.
    pub otherwise: Option<Statement>,
}

/// `WHILE condition statement`
#[derive(Debug, Clone, PartialEq)]
pub struct While {
    /// How long.
    pub condition: Condition,
    /// What is repeated.
    pub body: Statement,
}

/// `BEGIN TRY ... END TRY BEGIN CATCH ... END CATCH`
#[derive(Debug, Clone, PartialEq)]
pub struct TryCatch {
    /// What is tried.
    pub body: Vec<Statement>,
    /// What runs after an error; may be empty.
    pub handler: Vec<Statement>,
}

/// `THROW number, message, state`: constants or variables.
#[derive(Debug, Clone, PartialEq)]
pub struct Throw {
    /// The error's number, 50000 or above.
    pub number: Expr,
    /// Its text.
    pub message: Expr,
    /// Its state.
    pub state: Expr,
}

/// `RAISERROR (message, severity, state, arguments...) WITH options`
#[derive(Debug, Clone, PartialEq)]
pub struct RaiseError {
    /// A text, a variable, or the number of a message.
    pub message: Expr,
    /// The severity.
    pub severity: Expr,
    /// The state.
    pub state: Expr,
    /// What the text's `%s` and `%d` stand for.
    pub arguments: Vec<Expr>,
    /// `WITH LOG`
    pub log: bool,
    /// `WITH NOWAIT`
    pub nowait: bool,
    /// `WITH SETERROR`
    pub seterror: bool,
}

/// `WAITFOR`
#[derive(Debug, Clone, PartialEq)]
pub enum WaitFor {
    /// `DELAY '00:00:01'`: a text or a variable.
    Delay(Expr),
    /// `TIME '22:00'`: a text or a variable.
    Time(Expr),
}

/// One variable of a DECLARE.
#[derive(Debug, Clone, PartialEq)]
pub struct VariableDeclaration {
    /// The variable, with its `@`.
    pub name: Name,
    /// What it holds.
    pub kind: VariableKind,
}

/// What a variable holds.
#[derive(Debug, Clone, PartialEq)]
pub enum VariableKind {
    /// A value; also a table of a user-defined table type.
    Value {
        /// Its type.
        data_type: DataType,
        /// Its first value, NULL when absent.
        initial: Option<Expr>,
    },
    /// `CURSOR`
    Cursor,
}

/// `DECLARE @t TABLE (...)`
#[derive(Debug, Clone, PartialEq)]
pub struct TableVariable {
    /// The variable, with its `@`.
    pub name: Name,
    /// Columns, constraints and indexes.
    pub elements: Vec<TableElement>,
}

/// `SET @v = x`
#[derive(Debug, Clone, PartialEq)]
pub struct SetVariable {
    /// The variable, with its `@`.
    pub variable: Name,
    /// The operator.
    pub op: AssignOp,
    /// The new value.
    pub value: SetValue,
}

/// The value of a SET.
#[derive(Debug, Clone, PartialEq)]
pub enum SetValue {
    /// An expression. `SET @cursor = name` of a cursor parses as a column's name.
    Expr(Expr),
    /// `CURSOR ... FOR SELECT ...`
    Cursor(Box<CursorDefinition>),
    /// `SET @variable.method(...)`: the method and its arguments.
    Method(Name, Vec<Expr>),
    /// `SET @variable.property = value`
    Property(Name, Expr),
}

/// `SET option value`
#[derive(Debug, Clone, PartialEq)]
pub struct SetOption {
    /// The options in upper case: `NOCOUNT`, `STATISTICS TIME`, `ANSI_NULLS`; several share one value.
    pub names: Vec<String>,
    /// The value.
    pub value: OptionSetting,
}

/// The value of a SET option.
#[derive(Debug, Clone, PartialEq)]
pub enum OptionSetting {
    /// `ON`
    On,
    /// `OFF`
    Off,
    /// A number, text or variable: `LOCK_TIMEOUT -1`, `DATEFIRST 7`, `ROWCOUNT @n`.
    Value(Expr),
    /// A word: `DATEFORMAT dmy`, `DEADLOCK_PRIORITY LOW`, `LANGUAGE us_english`.
    Word(Name),
}

/// Isolation levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsolationLevel {
    /// `READ UNCOMMITTED`
    ReadUncommitted,
    /// `READ COMMITTED`
    ReadCommitted,
    /// `REPEATABLE READ`
    RepeatableRead,
    /// `SNAPSHOT`
    Snapshot,
    /// `SERIALIZABLE`
    Serializable,
}

/// `DECLARE c CURSOR ...`
#[derive(Debug, Clone, PartialEq)]
pub struct DeclareCursor {
    /// Its name.
    pub name: Name,
    /// What it is.
    pub definition: CursorDefinition,
}

/// A cursor.
#[derive(Debug, Clone, PartialEq)]
pub struct CursorDefinition {
    /// Its properties in upper case, in the order written: `LOCAL`, `FAST_FORWARD`, `STATIC`, `INSENSITIVE`, ...
    pub properties: Vec<String>,
    /// Its rows.
    pub query: Query,
    /// `FOR READ ONLY`
    pub read_only: bool,
    /// `FOR UPDATE [OF columns]`; empty for all columns.
    pub update: Option<Vec<Name>>,
}

/// The name of a cursor, or a variable that holds one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CursorName {
    /// `GLOBAL`
    pub global: bool,
    /// The name; a variable begins with `@`.
    pub name: Name,
}

/// `FETCH`
#[derive(Debug, Clone, PartialEq)]
pub struct Fetch {
    /// Which row.
    pub direction: FetchDirection,
    /// Of which cursor.
    pub cursor: CursorName,
    /// The variables that receive the row; empty to send it to the client.
    pub into: Vec<Name>,
}

/// Which row FETCH takes.
#[derive(Debug, Clone, PartialEq)]
pub enum FetchDirection {
    /// `NEXT`, and when nothing is said.
    Next,
    /// `PRIOR`
    Prior,
    /// `FIRST`
    First,
    /// `LAST`
    Last,
    /// `ABSOLUTE n`
    Absolute(Expr),
    /// `RELATIVE n`
    Relative(Expr),
}

/// The name of a transaction or savepoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionName {
    /// Written out.
    Name(Name),
    /// In a variable.
    Variable(Name),
}

/// `BEGIN [DISTRIBUTED] TRANSACTION`
#[derive(Debug, Clone, PartialEq)]
pub struct BeginTransaction {
    /// `DISTRIBUTED`
    pub distributed: bool,
    /// Its name.
    pub name: Option<TransactionName>,
    /// `WITH MARK ['description']`
    pub mark: Option<Option<Expr>>,
}

/// `COMMIT`
#[derive(Debug, Clone, PartialEq)]
pub struct Commit {
    /// The name, which has no effect.
    pub name: Option<TransactionName>,
    /// `WITH (DELAYED_DURABILITY = ON | OFF)`
    pub delayed_durability: Option<bool>,
}

/// `EXEC`
#[derive(Debug, Clone, PartialEq)]
pub struct Execute {
    /// `@status =`: the variable that receives the return status.
    pub status: Option<Name>,
    /// What is called.
    pub target: ExecuteTarget,
    /// With what. Empty for a text.
    pub arguments: Vec<ExecuteArgument>,
    /// `WITH RECOMPILE`
    pub recompile: bool,
    /// `WITH RESULT SETS ...`
    pub result_sets: Option<ResultSets>,
}

/// What EXEC calls.
#[derive(Debug, Clone, PartialEq)]
pub enum ExecuteTarget {
    /// A procedure by name; `number` is the `;n` of procedure groups.
    Procedure {
        /// Its name.
        name: ObjectName,
        /// `;n`
        number: Option<i32>,
    },
    /// A procedure whose name is in a variable.
    Variable(Name),
    /// `('text' + @more)`
    Text {
        /// The text.
        text: Expr,
        /// Values for the `?` of a text that runs elsewhere.
        parameters: Vec<ExecuteArgument>,
        /// `AS LOGIN = '...'` or `AS USER = '...'`: the word and the name.
        run_as: Option<(String, Expr)>,
        /// `AT server`
        at: Option<Name>,
    },
}

/// An argument of EXEC.
#[derive(Debug, Clone, PartialEq)]
pub struct ExecuteArgument {
    /// The parameter with its `@`, when given by name.
    pub name: Option<Name>,
    /// The value: a constant, a variable or a global; a bare word is the text it spells. None for `DEFAULT`.
    pub value: Option<Expr>,
    /// `OUTPUT`; the value is a variable then.
    pub output: bool,
}

/// `WITH RESULT SETS`
#[derive(Debug, Clone, PartialEq)]
pub enum ResultSets {
    /// `UNDEFINED`
    Undefined,
    /// `NONE`
    None,
    /// The columns of each set.
    Sets(Vec<Vec<super::ColumnDefinition>>),
}

/// `EXECUTE AS`
#[derive(Debug, Clone, PartialEq)]
pub struct ExecuteAs {
    /// `USER`, `LOGIN` or `CALLER`.
    pub kind: String,
    /// Whose name.
    pub name: Option<Expr>,
    /// `WITH NO REVERT`
    pub no_revert: bool,
}
