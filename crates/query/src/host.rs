//! What the machine asks of the session around it.
//!
//! The machine knows tables, transactions and the language. Everything that belongs to a server as people administer it
//! (DBCC, system procedures, management views, server options, functions such as `OBJECT_ID`) is provided by a [`Host`].

use std::future::Future;
use std::pin::Pin;

use pikepole_engine::{Database, UserAccess};
use pikepole_tsql::{Statement, bracketed};
use pikepole_types::{SqlError, SqlType, Value};

use crate::context::ExecutionContext;
use crate::output::{ColumnInfo, Output};

/// A future behind a pointer.
pub type HostFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// The shape of a catalog or management view, or of a table-valued system function.
#[derive(Debug, Clone)]
pub struct VirtualTable {
    /// The host's own number for it, given back in [`Host::virtual_rows`].
    pub id: u32,
    /// The view's own name, as columns are qualified with it.
    pub name: String,
    /// Its columns.
    pub columns: Vec<ColumnInfo>,
    /// The types of its arguments when it is a function; `None`: a view.
    pub parameters: Option<Vec<SqlType>>,
}

/// A function that only the session can answer: `OBJECT_ID`, `DB_NAME`, `@@VERSION`, ...
#[derive(Debug, Clone)]
pub struct HostFunction {
    /// The host's own number for it, given back in [`Host::call_function`].
    pub id: u32,
    /// The type of its result.
    pub result: SqlType,
    /// The fewest arguments it takes.
    pub arguments_min: usize,
    /// The most arguments it takes.
    pub arguments_max: usize,
}

/// One argument of a system procedure call.
#[derive(Debug, Clone)]
pub struct Argument {
    /// The parameter's name with its `@`, when given by name.
    pub name: Option<String>,
    /// The value.
    pub value: Value,
    /// Its type.
    pub ty: SqlType,
    /// True when the caller wants the value back; the host stores it in `value`.
    pub output: bool,
    /// The rows of a table-valued parameter, in the place of a value; taken by the call.
    pub table: Option<TableRows>,
}

/// The rows of a table-valued parameter as a client sends them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TableRows {
    /// The schema of the type as the client names it; empty when it names none.
    pub type_schema: String,
    /// The name of the type as the client names it.
    pub type_name: String,
    /// The columns, in the order of the type's; their names do not matter.
    pub columns: Vec<ColumnInfo>,
    /// The places of columns that get their defaults, whatever the rows say.
    pub defaults: Vec<usize>,
    /// The rows.
    pub rows: Vec<Vec<Value>>,
    /// The client sent NULL in the place of a table: there are no columns, and it counts as an empty one.
    pub is_null: bool,
}

impl TableRows {
    /// The type's name as a text may declare it.
    pub fn quoted_type(&self) -> String {
        match self.type_schema.as_str() {
            "" => bracketed(&self.type_name),
            schema => format!("{}.{}", bracketed(schema), bracketed(&self.type_name)),
        }
    }
}

/// What is bound to an object, so that this must stay as it is: a module WITH SCHEMABINDING, a computed column or a constraint.
#[derive(Debug, Clone)]
pub struct BoundReference {
    /// The name of what refers; of a computed column, its table's.
    pub name: String,
    /// The columns of the object that it names, by their places.
    pub columns: Vec<usize>,
}

/// What the session provides to the machine.
///
/// Names are given as written; the host compares them without regard to case. Functions that only read (`virtual_table`,
/// `function`, `system_procedure`) are asked while compiling and must be quick.
pub trait Host: Send + Sync {
    /// The view `schema.name` (`schema` is `sys` or `INFORMATION_SCHEMA`, or absent for `sysprocesses` and its like).
    fn virtual_table(&self, schema: Option<&str>, name: &str) -> Option<VirtualTable>;

    /// The number of a view of `sys` or `INFORMATION_SCHEMA` as another database has it; None: there is no such database.
    fn virtual_table_of(&self, id: u32, database: &str) -> Option<u32> {
        let _ = database;
        Some(id)
    }

    /// The view's rows at this moment, or the function's for these arguments, of the types that its parameters say.
    fn virtual_rows<'a>(
        &'a mut self,
        id: u32,
        arguments: &'a [Value],
        context: &'a mut ExecutionContext,
    ) -> HostFuture<'a, Result<Vec<Vec<Value>>, SqlError>>;

    /// The function called `name`; a global is asked for as `@@NAME`.
    fn function(&self, name: &str) -> Option<HostFunction>;

    /// The name of a function, for the texts of plans.
    fn function_name(&self, id: u32) -> Option<&str> {
        let _ = id;
        None
    }

    /// The name of a view or table-valued function, for the texts of plans.
    fn virtual_name(&self, id: u32) -> Option<&str> {
        let _ = id;
        None
    }

    /// What is bound to an object of the current database and no part of it, the oldest first.
    fn bound_references(&self, object_id: i32, context: &ExecutionContext) -> Vec<BoundReference> {
        let _ = (object_id, context);
        Vec::new()
    }

    /// The next identifier of NEWSEQUENTIALID, for the rows that a table has already.
    fn sequential_guid(&self) -> [u8; 16];

    /// Writes a line into the server's log, for RAISERROR ... WITH LOG.
    fn log(&self, text: &str) {
        let _ = text;
    }

    /// Evaluates a function.
    fn call_function(&self, id: u32, arguments: &[Value], context: &ExecutionContext) -> Result<Value, SqlError>;

    /// The system procedure called `name` (`sp_configure`), as a number for [`Host::call_procedure`].
    fn system_procedure(&self, name: &str) -> Option<u32>;

    /// The parameters of a system procedure, in order: their names, and their types where these are known.
    fn procedure_parameters(&self, id: u32) -> Vec<(&'static str, Option<SqlType>)> {
        let _ = id;
        Vec::new()
    }

    /// Whether a system procedure only reads the catalog of its database, so that it can be asked of tempdb's own.
    fn reads_catalog(&self, id: u32) -> bool {
        let _ = id;
        false
    }

    /// The return status of a system procedure that has raised an error.
    fn failure_status(&self, id: u32) -> i32 {
        let _ = id;
        1
    }

    /// Runs a system procedure; the result is its return status.
    fn call_procedure<'a>(
        &'a mut self,
        id: u32,
        arguments: &'a mut [Argument],
        context: &'a mut ExecutionContext,
        output: &'a mut dyn Output,
    ) -> HostFuture<'a, Result<i32, SqlError>>;

    /// The session's settings or its current database have changed.
    fn settings_changed(&self, _context: &ExecutionContext) {}

    /// How many other sessions are in a database, or have a transaction there, that may not be under `access`; `end` asks them
    /// to end.
    fn unwelcome_sessions(&self, _database: &Database, _access: UserAccess, _end: bool) -> usize {
        0
    }

    /// A transaction has been begun, nested, committed or rolled back by a statement.
    fn transaction_changed(&self, _context: &ExecutionContext) {}

    /// Runs a statement the machine does not know: DBCC, CHECKPOINT, ALTER SERVER CONFIGURATION, KILL, and SET options that
    /// are not in [`crate::Settings`]. Expressions in it have been replaced by nothing: the host reads the tree as parsed.
    fn statement<'a>(
        &'a mut self,
        statement: &'a Statement,
        context: &'a mut ExecutionContext,
        output: &'a mut dyn Output,
    ) -> HostFuture<'a, Result<(), SqlError>>;
}
