//! Procedures, functions, views, triggers, types and other objects of a schema.
//!
//! A module is kept with the text of its batch: see [`crate::module_text`].

use super::{
    Batch, DataType, Expr, Literal, Name, ObjectName, Placement, Query, Span, Statement, StatementKind, TableElement,
};

/// How a module comes to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModuleMode {
    /// `CREATE`
    Create,
    /// `ALTER`
    Alter,
    /// `CREATE OR ALTER`
    CreateOrAlter,
}

/// `CREATE PROCEDURE`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateProcedure {
    /// Created or altered.
    pub mode: ModuleMode,
    /// Its name.
    pub name: ObjectName,
    /// `;n` of procedure groups.
    pub number: Option<i32>,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// `WITH ...`
    pub options: Vec<ModuleOption>,
    /// `FOR REPLICATION`
    pub for_replication: bool,
    /// Its statements. All that follows in the batch belongs to it.
    pub body: ModuleBody,
}

/// What a procedure, function or trigger runs.
#[derive(Debug, Clone, PartialEq)]
pub enum ModuleBody {
    /// Statements.
    Statements(Vec<Statement>),
    /// `BEGIN ATOMIC WITH (...) ... END`, natively compiled.
    Atomic {
        /// `WITH (...)`
        options: Vec<SettingOption>,
        /// The statements.
        statements: Vec<Statement>,
    },
    /// `EXTERNAL NAME assembly.class.method`
    External(ObjectName),
}

impl ModuleBody {
    /// The statements; none of an external module.
    pub fn statements(&self) -> &[Statement] {
        match self {
            ModuleBody::Statements(statements) | ModuleBody::Atomic { statements, .. } => statements,
            ModuleBody::External(_) => &[],
        }
    }
}

/// A parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name, with its `@`.
    pub name: Name,
    /// Its type; `cursor` for a cursor.
    pub data_type: DataType,
    /// `VARYING`, of cursors.
    pub varying: bool,
    /// `NULL` or `NOT NULL`, when one is said.
    pub nullable: Option<bool>,
    /// The value it has when a call does not give one: a constant.
    pub default: Option<Expr>,
    /// `OUTPUT` or `OUT`
    pub output: bool,
    /// `READONLY`, of table types.
    pub readonly: bool,
}

/// An option of a module's WITH.
#[derive(Debug, Clone, PartialEq)]
pub enum ModuleOption {
    /// Its words in upper case, joined by one blank: `RECOMPILE`, `ENCRYPTION`, `SCHEMABINDING`, `NATIVE_COMPILATION`,
    /// `RETURNS NULL ON NULL INPUT`, ...
    Word(String),
    /// `EXECUTE AS CALLER | SELF | OWNER | 'user'`
    ExecuteAs(Expr),
    /// `INLINE = ON | OFF`
    Inline(bool),
}

/// What the EXECUTE AS among a module's options says: `CALLER`, `SELF`, `OWNER`, or the name of a user.
pub fn execute_as(options: &[ModuleOption]) -> Option<&str> {
    options.iter().find_map(|option| match option {
        ModuleOption::ExecuteAs(who) => match who.literal() {
            Some(Literal::String { value, .. }) => Some(value.as_str()),
            _ => None,
        },
        _ => None,
    })
}

/// True when the options say a word: `SCHEMABINDING`, `NATIVE_COMPILATION`, `RETURNS NULL ON NULL INPUT`, ...
pub fn says(options: &[ModuleOption], wanted: &str) -> bool {
    options.iter().any(|option| matches!(option, ModuleOption::Word(word) if word == wanted))
}

/// The options of the module that a batch makes; none when it makes none.
pub fn module_options(batch: &Batch) -> &[ModuleOption] {
    match batch.statements.first().map(|statement| &statement.kind) {
        Some(StatementKind::CreateProcedure(procedure)) => &procedure.options,
        Some(StatementKind::CreateFunction(function)) => &function.options,
        Some(StatementKind::CreateView(view)) => &view.options,
        Some(StatementKind::CreateTrigger(trigger)) => &trigger.options,
        _ => &[],
    }
}

/// `CREATE FUNCTION`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateFunction {
    /// Created or altered.
    pub mode: ModuleMode,
    /// Its name.
    pub name: ObjectName,
    /// Its parameters.
    pub parameters: Vec<Parameter>,
    /// What it gives.
    pub returns: FunctionReturns,
    /// `WITH ...`
    pub options: Vec<ModuleOption>,
}

/// What a function gives, and how.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionReturns {
    /// A value.
    Scalar {
        /// Its type.
        data_type: DataType,
        /// The statements.
        body: ModuleBody,
    },
    /// The rows of one query.
    Inline(Box<Query>),
    /// The rows put into a table variable.
    Table {
        /// The variable, with its `@`.
        variable: Name,
        /// Its columns.
        elements: Vec<TableElement>,
        /// The statements.
        body: ModuleBody,
    },
}

/// `CREATE VIEW`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateView {
    /// Created or altered.
    pub mode: ModuleMode,
    /// Its name.
    pub name: ObjectName,
    /// Its columns' names, when they are given.
    pub columns: Vec<Name>,
    /// `WITH ...`
    pub options: Vec<ModuleOption>,
    /// Its rows.
    pub query: Query,
    /// `WITH CHECK OPTION`
    pub check_option: bool,
}

/// `CREATE TRIGGER`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateTrigger {
    /// Created or altered.
    pub mode: ModuleMode,
    /// Its name.
    pub name: ObjectName,
    /// What it watches.
    pub on: TriggerTarget,
    /// `WITH ...`
    pub options: Vec<ModuleOption>,
    /// True for `INSTEAD OF`, false for `AFTER` and `FOR`.
    pub instead_of: bool,
    /// The events in upper case: `INSERT`, `UPDATE`, `DELETE`, `CREATE_TABLE`, ...
    pub events: Vec<String>,
    /// `NOT FOR REPLICATION`
    pub not_for_replication: bool,
    /// Its statements.
    pub body: ModuleBody,
}

/// What a trigger watches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TriggerTarget {
    /// A table or view.
    Table(ObjectName),
    /// `DATABASE`
    Database,
    /// `ALL SERVER`
    Server,
}

/// `ENABLE TRIGGER`, `DISABLE TRIGGER`
#[derive(Debug, Clone, PartialEq)]
pub struct SetTrigger {
    /// True for `ENABLE`.
    pub enable: bool,
    /// The triggers; empty for ALL.
    pub names: Vec<ObjectName>,
    /// Where.
    pub on: TriggerTarget,
}

/// `CREATE TYPE`, CREATE and ALTER of `XML SCHEMA COLLECTION`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateType {
    /// Its name.
    pub name: ObjectName,
    /// What it is.
    pub kind: TypeKind,
}

/// The kinds of types.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeKind {
    /// `FROM type [NULL | NOT NULL]`
    Alias {
        /// The type it stands for.
        data_type: DataType,
        /// `NULL` or `NOT NULL`, when one is said.
        nullable: Option<bool>,
    },
    /// A collection of schemas of xml: `AS 'text'`, and of ALTER `ADD 'text'`
    SchemaCollection {
        /// The schemas.
        text: Expr,
        /// The collection is there and gets them too.
        add: bool,
    },
    /// `AS TABLE (...)`
    Table {
        /// Columns, constraints and indexes.
        elements: Vec<TableElement>,
        /// `WITH (...)`
        options: Vec<SettingOption>,
    },
}

/// `CREATE SEQUENCE`, `ALTER SEQUENCE`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSequence {
    /// True for `ALTER`.
    pub alter: bool,
    /// Its name.
    pub name: ObjectName,
    /// Its options, in the order written.
    pub options: Vec<SequenceOption>,
}

/// An option of a sequence.
#[derive(Debug, Clone, PartialEq)]
pub enum SequenceOption {
    /// `AS type`
    Type(DataType),
    /// `START WITH n`
    Start(Expr),
    /// `RESTART [WITH n]`
    Restart(Option<Expr>),
    /// `INCREMENT BY n`
    Increment(Expr),
    /// `MINVALUE n`, `NO MINVALUE`
    Minimum(Option<Expr>),
    /// `MAXVALUE n`, `NO MAXVALUE`
    Maximum(Option<Expr>),
    /// `CYCLE`, `NO CYCLE`
    Cycle(bool),
    /// `CACHE [n]`
    Cache(Option<Expr>),
    /// `NO CACHE`
    NoCache,
}

/// `CREATE SCHEMA`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSchema {
    /// Its name; absent when only AUTHORIZATION is given.
    pub name: Option<Name>,
    /// `AUTHORIZATION owner`
    pub owner: Option<Name>,
    /// Tables, views and permissions made in it by the same statement.
    pub elements: Vec<Statement>,
}

/// `CREATE SYNONYM`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateSynonym {
    /// The new name.
    pub name: ObjectName,
    /// What it stands for.
    pub target: ObjectName,
}

/// `ALTER SCHEMA schema TRANSFER object`
#[derive(Debug, Clone, PartialEq)]
pub struct TransferToSchema {
    /// The schema that receives the object.
    pub schema: Name,
    /// The class before `::` in upper case: `OBJECT`, `TYPE`.
    pub class: Option<String>,
    /// The object.
    pub object: ObjectName,
}

/// `ALTER AUTHORIZATION ON [class::]entity TO owner`
#[derive(Debug, Clone, PartialEq)]
pub struct ChangeOwner {
    /// The class before `::` in upper case: `DATABASE`, `SCHEMA`, `ROLE`, `OBJECT`.
    pub class: Option<String>,
    /// What gets another owner.
    pub name: ObjectName,
    /// The owner; `None` for `SCHEMA OWNER`.
    pub owner: Option<Name>,
}

/// `DROP kind [IF EXISTS] names`
#[derive(Debug, Clone, PartialEq)]
pub struct Drop {
    /// What is dropped.
    pub kind: DropKind,
    /// `IF EXISTS`
    pub if_exists: bool,
    /// The names.
    pub names: Vec<ObjectName>,
    /// `ON DATABASE` or `ON ALL SERVER`, of triggers.
    pub trigger_on: Option<TriggerTarget>,
}

/// What DROP drops.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DropKind {
    /// `TABLE`
    Table,
    /// `VIEW`
    View,
    /// `PROCEDURE`
    Procedure,
    /// `FUNCTION`
    Function,
    /// `TRIGGER`
    Trigger,
    /// `SCHEMA`
    Schema,
    /// `DATABASE`
    Database,
    /// `TYPE`
    Type,
    /// `XML SCHEMA COLLECTION`
    SchemaCollection,
    /// `SEQUENCE`
    Sequence,
    /// `SYNONYM`
    Synonym,
    /// `SECURITY POLICY`
    SecurityPolicy,
    /// `STATISTICS`
    Statistics,
    /// `LOGIN`
    Login,
    /// `USER`
    User,
    /// `ROLE`
    Role,
    /// `SERVER ROLE`
    ServerRole,
    /// `APPLICATION ROLE`
    ApplicationRole,
}

impl DropKind {
    /// Whether it is a login, user or role.
    pub fn is_principal(self) -> bool {
        use DropKind::{ApplicationRole, Login, Role, ServerRole, User};
        matches!(self, Login | User | Role | ServerRole | ApplicationRole)
    }
}

/// `name = value`, or a name alone, in a list of options.
#[derive(Debug, Clone, PartialEq)]
pub struct SettingOption {
    /// The option in upper case.
    pub name: String,
    /// What it is set to; absent when the name stands alone.
    pub value: Option<SettingValue>,
    /// Where it stands.
    pub span: Span,
}

impl SettingOption {
    /// Whether the option is ON: True, False, or neither.
    pub fn on_off(&self) -> Option<bool> {
        match &self.value {
            Some(SettingValue::On) => Some(true),
            Some(SettingValue::Off) => Some(false),
            _ => None,
        }
    }
}

/// The value of a [`SettingOption`].
#[derive(Debug, Clone, PartialEq)]
pub enum SettingValue {
    /// `ON`
    On,
    /// `OFF`
    Off,
    /// Words in upper case, joined by one blank: `SIMPLE`, `ROW`, `SCHEMA_ONLY`, `NONE`.
    Word(String),
    /// A number, a text or a variable.
    Expr(Expr),
    /// A number with a unit: `512 MB`, `10 %`, `5 MINUTES`; the unit in upper case.
    Measure(Expr, String),
    /// A list in parentheses.
    List(Vec<SettingOption>),
    /// `ON (...)`
    OnWith(Vec<SettingOption>),
    /// The dotted name of an object: `HISTORY_TABLE = dbo.h`.
    Name(ObjectName),
    /// Where the rows go: `MOVE TO filegroup`.
    Place(Placement),
    /// A value for some partitions only: `PAGE ON PARTITIONS (1, 3 TO 5)`.
    OnPartitions(Option<Box<SettingValue>>, Vec<(Expr, Option<Expr>)>),
}
