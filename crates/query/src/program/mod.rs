//! Programs: batches and procedures as flat lists of instructions over slots.
//!
//! A program is immutable and shared between sessions. Control flow is jumps; TRY blocks are a table that names the handler of
//! each instruction, so entering one costs nothing. Statements that touch tables are bound when they are first run (names may
//! not exist before) and bound again when the catalog has changed; the program keeps the newest plan for the next session.

mod atomic;
mod compile;
mod compile_call;
mod compile_cursor;
mod compile_error;
mod compile_flow;
mod compile_module;
mod compile_table;
mod first_rows;
mod function;
mod handle;
mod jumps;
mod native;

pub(crate) use atomic::Atomic;
pub(crate) use compile::is_missing;
pub use compile::{CompileContext, compile, compile_batch, compile_procedure};
pub(crate) use compile_module::{compile_function, compile_trigger};
pub(crate) use function::check_statements;
pub use handle::TextHandle;
#[cfg(test)]
pub(crate) use native::INSTRUCTIONS_MAX;
pub(crate) use native::{Helpers, code_of, row_code_of};

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use crate::bind::TriggerShape;
use crate::errors::syntax_error;
use crate::expression::{Expr, Predicate};
use crate::output::{ColumnInfo, DecimalName};
use crate::plan::{self, Told};
use crate::runs::Runs;
use crate::settings::Settings;
use pikepole_contention::sync::Mutex;
use pikepole_engine::{Catalog, DBO, Module, UserType};
use pikepole_native::Code;
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// A variable or parameter.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name with its `@`.
    pub name: String,
    /// The type.
    pub ty: SqlType,
    /// Which name that has, if it is a decimal.
    pub decimal_name: DecimalName,
    /// Its alias type, or `sysname`.
    pub user_type: Option<i32>,
}

impl Variable {
    /// A variable that nobody has declared.
    pub(crate) fn new(name: impl Into<String>, ty: SqlType) -> Variable {
        Variable { name: name.into(), ty, decimal_name: DecimalName::default(), user_type: None }
    }
}

/// A parameter of a procedure or of a parameterised batch. Parameter `i` is variable `i`.
#[derive(Debug, Clone)]
pub struct Parameter {
    /// The name with its `@`.
    pub name: String,
    /// The type.
    pub ty: SqlType,
    /// The default, already of the parameter's type.
    pub default: Option<Expr>,
    /// Declared OUTPUT.
    pub output: bool,
    /// Declared CURSOR VARYING: what it stands for is a cursor of its program, and its value is none then.
    pub cursor: bool,
    /// The table type of a table-valued parameter; its value has no place among the variables' then.
    pub table: Option<Arc<UserType>>,
}

/// The procedure that a program is the body of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcedureIdentity {
    /// The object id.
    pub object_id: i32,
    /// The name as errors report it.
    pub name: String,
    /// The name of its schema.
    pub schema: String,
    /// The principal that owns it.
    pub owner: i32,
    /// See [`Module::execute_as`].
    pub execute_as: Option<i32>,
    /// See [`Module::ansi_nulls`].
    pub ansi_nulls: bool,
    /// See [`Module::quoted_identifier`].
    pub quoted_identifier: bool,
}

impl ProcedureIdentity {
    /// A module of the catalog.
    pub(crate) fn of(module: &Module, owner: i32) -> ProcedureIdentity {
        let (object_id, name, schema) = (module.object_id, module.name.clone(), module.schema.clone());
        ProcedureIdentity {
            object_id,
            name,
            schema,
            owner,
            execute_as: module.execute_as,
            ansi_nulls: module.ansi_nulls,
            quoted_identifier: module.quoted_identifier,
        }
    }

    /// How its text is read.
    pub(crate) fn parse_options(&self) -> tree::ParseOptions {
        tree::ParseOptions { quoted_identifier: self.quoted_identifier }
    }

    /// Whether it was compiled with what the module keeps beside its text.
    pub(crate) fn keeps(&self, module: &Module) -> bool {
        self.execute_as == module.execute_as
            && self.ansi_nulls == module.ansi_nulls
            && self.quoted_identifier == module.quoted_identifier
    }

    /// A module that is compiled to see whether it can be.
    pub(crate) fn to_be(name: &str, schema: &str, settings: &Settings) -> ProcedureIdentity {
        let (name, schema) = (name.to_owned(), schema.to_owned());
        let (ansi_nulls, quoted_identifier) = (settings.ansi_nulls, settings.quoted_identifier);
        ProcedureIdentity { object_id: 0, name, schema, owner: DBO, execute_as: None, ansi_nulls, quoted_identifier }
    }

    /// Whether it is of a module that is being made.
    fn is_to_be(&self) -> bool {
        self.object_id == 0
    }
}

/// Where an error in a TRY block goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Handler {
    /// The first instruction of the CATCH block.
    pub(crate) target: u32,
    /// How many CATCH blocks enclose the TRY block.
    pub(crate) caught_depth: u32,
}

/// A compiled batch or procedure.
#[derive(Debug)]
pub struct Program {
    /// What it was compiled from; None: it was made of no text.
    pub(crate) source: Option<Source>,
    /// The database that was the current one then, or is the procedure's.
    pub(crate) database_id: i32,
    pub(crate) instructions: Vec<Instruction>,
    pub(crate) lines: Vec<u32>,
    /// Where each instruction's statement stands in the text.
    pub(crate) spans: Vec<tree::Span>,
    /// Per instruction, the index of its handler among `handlers`, or `NO_HANDLER`.
    pub(crate) handler_of: Vec<u32>,
    pub(crate) handlers: Vec<Handler>,
    pub(crate) late: Vec<Late>,
    pub(crate) variables: Vec<Variable>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) slots: usize,
    pub(crate) procedure: Option<ProcedureIdentity>,
    /// The users' types that it was compiled with.
    pub(crate) user_types: Vec<Arc<UserType>>,
    /// The names that EXEC calls which were scalar functions, or nothing known, when it was compiled.
    pub(crate) callees: Vec<Callee>,
    /// What it sees of the table that it watches, when it is a trigger.
    pub(crate) trigger: Option<Arc<TriggerShape>>,
    /// Where it leaves what it returns, when it is a function.
    pub(crate) returns: Option<FunctionResult>,
    /// Of a procedure WITH RECOMPILE: its plans are made for each call.
    pub(crate) recompiles: bool,
    /// Of a module, calls of it.
    pub(crate) runs: Runs,
    /// Its machine code, once it was asked for; None in it: it has none.
    pub(crate) code: OnceLock<Option<Code>>,
}

/// A text that was compiled.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    pub(crate) text: Arc<str>,
    handle: TextHandle,
}

impl Source {
    /// A batch, or the text of a module: its database and its object id.
    fn new(text: &str, module: Option<(i32, i32)>) -> Source {
        Source { text: text.into(), handle: TextHandle::of(text, module) }
    }
}

/// A name that EXEC calls: a function is compiled as another thing than a procedure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Callee {
    pub(crate) schema: String,
    pub(crate) name: String,
    pub(crate) is_function: bool,
}

/// Where a function leaves what it returns.
#[derive(Debug, Clone)]
pub(crate) enum FunctionResult {
    /// Rows in a table variable.
    Table(Arc<str>),
    /// A value of this type in a slot.
    Value(usize, SqlType),
}

pub(crate) const NO_HANDLER: u32 = u32::MAX;

impl Program {
    /// A program of these instructions, without variables, on one line.
    pub(crate) fn of(instructions: Vec<Instruction>, line: u32) -> Program {
        Program {
            source: None,
            database_id: 0,
            spans: Vec::new(),
            lines: vec![line; instructions.len()],
            handler_of: vec![NO_HANDLER; instructions.len()],
            instructions,
            handlers: Vec::new(),
            late: Vec::new(),
            variables: Vec::new(),
            parameters: Vec::new(),
            slots: 0,
            procedure: None,
            user_types: Vec::new(),
            callees: Vec::new(),
            trigger: None,
            returns: None,
            recompiles: false,
            runs: Runs::new(),
            code: OnceLock::new(),
        }
    }

    /// What it was compiled from; empty when it was made of no text.
    pub fn text(&self) -> &str {
        self.source.as_ref().map_or("", |source| &source.text)
    }

    /// What finds the text in the views, if there is one.
    pub fn handle(&self) -> Option<TextHandle> {
        self.source.as_ref().map(|source| source.handle)
    }

    /// The database that it was compiled in.
    pub fn database_id(&self) -> i32 {
        self.database_id
    }

    /// The procedure, trigger or function that it is the body of.
    pub fn procedure(&self) -> Option<&ProcedureIdentity> {
        self.procedure.as_ref()
    }

    /// Where an instruction's statement stands in the text, as the views count: its first and its last character, in bytes of UTF-16.
    pub(crate) fn place_of(&self, at: usize) -> Option<(i32, i32)> {
        let span = self.spans.get(at)?;
        let bytes = |text: &str| i32::try_from(text.encode_utf16().count() * 2).unwrap_or(i32::MAX);
        let start = bytes(self.text().get(..span.start as usize)?);
        let length = bytes(self.text().get(span.range())?);
        Some((start, start.saturating_add((length - 2).max(0))))
    }

    /// Tells if it is a natively compiled module: all of it is an atomic block.
    pub(crate) fn is_native(&self) -> bool {
        matches!(self.instructions.first(), Some(Instruction::BeginAtomic(_)))
    }

    /// True if these options are those that it was made with.
    pub(crate) fn is_made_with(&self, settings: &Settings) -> bool {
        let is_same = |own: &ProcedureIdentity| {
            own.ansi_nulls == settings.ansi_nulls && own.quoted_identifier == settings.quoted_identifier
        };
        self.procedure.as_ref().is_none_or(is_same)
    }

    /// Whether it is a trigger.
    pub fn is_trigger(&self) -> bool {
        self.trigger.is_some()
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Whether the types, the watched columns and the kinds of what it calls are still those that it was compiled with.
    pub(crate) fn fits(&self, catalog: impl FnOnce() -> Arc<Catalog>) -> bool {
        if self.user_types.is_empty() && self.callees.is_empty() && self.trigger.is_none() {
            return true;
        }
        let catalog = catalog();
        if self.trigger.as_ref().is_some_and(|shape| TriggerShape::version_of(shape.parent, &catalog) != shape.version)
        {
            return false;
        }
        let is_function = |callee: &Callee| catalog.function(&callee.schema, &callee.name).is_some();
        if self.callees.iter().any(|callee| is_function(callee) != callee.is_function) {
            return false;
        }
        self.user_types.iter().all(|known| catalog.user_type_by_id(known.user_type_id) == Some(known))
    }

    /// What each of its statements needs permission for, as far as they are bound.
    pub(crate) fn requirements(&self) -> Vec<Vec<crate::security::Requirement>> {
        let plans = self.late.iter().map(|late| late.plan.lock().unwrap_or_else(|e| e.into_inner()).clone());
        plans.flatten().map(|plan| plan.requirements.clone()).collect()
    }

    /// Whether it is one query, whose rows go to the client, and nothing else.
    pub fn is_one_query(&self) -> bool {
        self.one_query().is_some()
    }

    /// The query of a program that is nothing else, and its line.
    fn one_query(&self) -> Option<(&Arc<tree::Statement>, u32)> {
        let mut statements = self
            .instructions
            .iter()
            .zip(&self.lines)
            .filter(|(instruction, _)| !matches!(instruction, Instruction::Clock | Instruction::Return(None)));
        let (Some((Instruction::Statement(late), line)), None) = (statements.next(), statements.next()) else {
            return None;
        };
        let LateKind::Statement(statement) = &self.late[*late].kind else { return None };
        let tree::StatementKind::Select(query) = &statement.kind else { return None };
        let assigns = match &query.body {
            tree::QueryBody::Select(select) => {
                select.items.iter().any(|item| matches!(item, tree::SelectItem::Assign { .. }))
            }
            _ => false,
        };
        (!assigns).then_some((statement, *line))
    }

    /// The query that it is; none when it is something else.
    pub(crate) fn query(&self) -> Option<&tree::Query> {
        match &self.one_query()?.0.kind {
            tree::StatementKind::Select(query) => Some(query),
            _ => None,
        }
    }

    /// The program that declares and opens a cursor for the query that this one is; none when it is something else.
    pub(crate) fn opening_cursor(&self, cursor: &tree::CursorName, wish: CursorWish) -> Option<Program> {
        let (query, line) = self.one_query()?;
        let declare = CursorOperation::Declare {
            name: cursor.name.text.as_str().into(),
            local: false,
            scroll: true,
            replaces: true,
            updates: wish.writes.then(|| Arc::new([]) as Arc<[String]>),
            locks: wish.locks,
            kind: if wish.is_dynamic { CursorKind::Dynamic } else { CursorKind::Keyset },
            query: Arc::clone(query),
        };
        let operations = [declare, CursorOperation::Open(cursor.clone())];
        let operations = operations.into_iter().map(|operation| Instruction::Cursor(Box::new(operation)));
        let instructions = std::iter::once(Instruction::Clock).chain(operations).collect();
        Some(Program {
            source: self.source.clone(),
            database_id: self.database_id,
            variables: self.variables.clone(),
            parameters: self.parameters.clone(),
            slots: self.slots,
            user_types: self.user_types.clone(),
            ..Program::of(instructions, line)
        })
    }

    /// The handler of an instruction, when it stands in a TRY block.
    pub(crate) fn handler(&self, at: usize) -> Option<Handler> {
        let index = *self.handler_of.get(at)?;
        self.handlers.get(index as usize).copied()
    }
}

/// A statement bound against the catalog when it runs.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) kind: LateKind,
    /// The text of the statement that it is part of.
    pub(crate) text: Box<str>,
    /// Why it was not bound when it was compiled, if it was not.
    pub(crate) missing: Option<Box<SqlError>>,
    /// The newest plan, for the sessions to come.
    pub(crate) plan: Mutex<Option<Arc<plan::Statement>>>,
    pub(crate) runs: Runs,
}

/// What is bound late.
#[derive(Debug)]
pub(crate) enum LateKind {
    /// SELECT, INSERT, UPDATE, DELETE.
    Statement(Arc<tree::Statement>),
    /// An expression with a subquery, stored into a slot of the given type.
    Value { expr: tree::Expr, slot: usize, ty: SqlType, told: Told },
    /// SELECT ... INTO, once the table is there.
    Into(Arc<SelectInto>),
    /// A condition with a subquery, stored into a slot as a bit.
    Condition { condition: tree::Condition, slot: usize },
}

/// One instruction.
#[derive(Debug)]
pub(crate) enum Instruction {
    /// A variable takes a value, already of its type.
    Assign { slot: usize, value: Expr },
    /// Binds, if need be, and runs `late[i]`.
    Statement(usize),
    /// Goes on at another instruction.
    Jump(usize),
    /// Goes on at another instruction, where so many CATCH blocks are open.
    Leave(usize, usize),
    /// Goes on at another instruction unless the condition holds.
    JumpUnless(Predicate, usize),
    /// The next instruction's expressions ask for the present time.
    Clock,
    /// The end of a CATCH block.
    EndCatch,
    /// Leaves the procedure or the batch.
    Return(Option<Expr>),
    /// PRINT, of text.
    Print(Expr),
    /// RAISERROR.
    RaiseError(Box<RaiseError>),
    /// THROW; without arguments it throws the caught error again.
    Throw(Option<Box<[Expr; 3]>>),
    /// BEGIN TRANSACTION with its name.
    Begin(Option<Name>),
    /// BEGIN ATOMIC.
    BeginAtomic(Arc<Atomic>),
    /// The end of an atomic block: its transaction commits.
    EndAtomic,
    /// COMMIT with DELAYED_DURABILITY when given.
    Commit { delayed: Option<bool> },
    /// ROLLBACK with a transaction's or savepoint's name.
    Rollback(Option<Name>),
    /// SAVE TRANSACTION.
    Save(Name),
    /// EXEC of a procedure.
    Execute(Box<Execute>),
    /// EXEC('text').
    ExecuteText(Expr),
    /// WITH RESULT SETS: what the call in the next instruction is to send.
    Promise(Arc<[Vec<ColumnInfo>]>),
    /// That call has ended.
    Fulfil,
    /// INSERT ... EXEC begins: what the call in the next instruction returns is kept.
    Capture,
    /// INSERT ... EXEC ends: what was kept is inserted.
    InsertCaptured(Box<InsertCaptured>),
    /// The table variables that the program declares come to be.
    DeclareTables(Arc<[DeclaredTable]>),
    /// DECLARE CURSOR, OPEN, FETCH, CLOSE, DEALLOCATE.
    Cursor(Box<CursorOperation>),
    /// SELECT ... INTO makes its table; the next instruction fills it.
    CreateInto(Arc<SelectInto>),
    /// BULK INSERT.
    BulkInsert(Arc<tree::BulkInsert>),
    /// USE.
    Use(Arc<str>),
    /// WAITFOR DELAY, and WAITFOR TIME, which is `until` a time of the day: a text, or a value of a time type.
    WaitFor { time: Expr, ty: SqlType, until: bool },
    /// A SET option the machine obeys.
    Setting(Setting),
    /// A definition: CREATE, ALTER, DROP, TRUNCATE; its statement and, of a module, the text that is kept of it.
    Define(Arc<tree::Statement>, Arc<str>),
    /// A statement for the host.
    Host(Arc<tree::Statement>),
}

/// A table variable.
#[derive(Debug)]
pub(crate) struct DeclaredTable {
    pub(crate) kind: DeclaredKind,
    pub(crate) line: u32,
}

/// What a table variable is made of.
#[derive(Debug)]
pub(crate) enum DeclaredKind {
    /// `TABLE (...)`
    Inline(tree::TableVariable),
    /// A table type.
    OfType { name: String, user_type: Arc<UserType> },
    /// A parameter: what the caller gave, or an empty table.
    Parameter { slot: usize, name: String, user_type: Arc<UserType> },
}

/// What a cursor shows of changes that come after it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CursorKind {
    /// Nothing.
    Static,
    /// Its rows as they are when they are fetched, and which of them are gone.
    Keyset,
    /// The same, without those that are gone or do not meet its conditions any more, and with those that have come.
    Dynamic,
    /// Nobody has said it; it shows nothing.
    Unsaid,
}

/// What a client wants of a cursor over the rows of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CursorWish {
    /// It shows which rows there are now, and not those of its opening, if they need not be sorted.
    pub is_dynamic: bool,
    /// Rows are changed through it.
    pub writes: bool,
    /// Rows that it reads again are locked for changes until the transaction ends.
    pub locks: bool,
}

/// What is done with a cursor.
#[derive(Debug)]
pub(crate) enum CursorOperation {
    /// DECLARE CURSOR, and SET of a cursor variable.
    Declare {
        name: Arc<str>,
        local: bool,
        scroll: bool,
        /// A cursor variable takes the new cursor for the one it had.
        replaces: bool,
        /// The columns that can be changed where the cursor stands, all when empty; None: it is READ ONLY.
        updates: Option<Arc<[String]>>,
        /// SCROLL_LOCKS: rows that are fetched are locked for changes until the transaction ends.
        locks: bool,
        kind: CursorKind,
        query: Arc<tree::Statement>,
    },
    Open(tree::CursorName),
    Fetch {
        cursor: tree::CursorName,
        direction: FetchTo,
        into: Vec<(usize, SqlType)>,
    },
    /// Reads rows of a client's cursor again.
    Again {
        cursor: tree::CursorName,
        rows: Range<usize>,
    },
    /// Runs the query of a client's cursor again, whose fetch buffer has these rows.
    Refill {
        cursor: tree::CursorName,
        buffer: Range<usize>,
    },
    Close(tree::CursorName),
    Deallocate(tree::CursorName),
    /// A cursor variable stands for the cursor that another variable or name stands for.
    Share {
        variable: Arc<str>,
        of: tree::CursorName,
    },
}

/// The row that FETCH takes.
#[derive(Debug, Clone)]
pub(crate) enum FetchTo {
    Next,
    Prior,
    First,
    Last,
    Absolute(Expr),
    Relative(Expr),
}

/// A SELECT ... INTO.
#[derive(Debug)]
pub(crate) struct SelectInto {
    /// The query without INTO.
    pub(crate) query: tree::Query,
    pub(crate) target: tree::ObjectName,
    /// `ON filegroup`
    pub(crate) on: Option<Box<tree::Placement>>,
}

/// A name that may be given by a variable.
#[derive(Debug, Clone)]
pub(crate) enum Name {
    Literal(Arc<str>),
    Variable(usize),
}

/// RAISERROR's arguments.
#[derive(Debug)]
pub(crate) struct RaiseError {
    pub(crate) message: Expr,
    pub(crate) message_is_number: bool,
    pub(crate) severity: Expr,
    pub(crate) state: Expr,
    pub(crate) arguments: Vec<(Expr, SqlType)>,
    pub(crate) set_error: bool,
    pub(crate) log: bool,
    pub(crate) nowait: bool,
}

/// A call.
#[derive(Debug)]
pub(crate) struct Execute {
    pub(crate) target: ExecuteTarget,
    pub(crate) arguments: Vec<CallArgument>,
    /// The variable that takes the return status.
    pub(crate) status: Option<(usize, SqlType)>,
    /// `WITH RECOMPILE`
    pub(crate) recompiles: bool,
}

/// What is called.
#[derive(Debug)]
pub(crate) enum ExecuteTarget {
    Named(tree::ObjectName),
    /// `EXEC @name`.
    Variable(usize),
}

/// One argument of a call.
#[derive(Debug)]
pub(crate) struct CallArgument {
    pub(crate) name: Option<String>,
    /// The value; `None` is the word DEFAULT.
    pub(crate) value: Option<Expr>,
    pub(crate) ty: SqlType,
    /// The table variable that is passed, in the place of a value.
    pub(crate) table: Option<String>,
    /// The cursor variable that takes a cursor back, in the place of a value.
    pub(crate) cursor: Option<String>,
    /// The variable that takes the value back, and its type.
    pub(crate) output: Option<(usize, SqlType)>,
}

/// The target of INSERT ... EXEC, or of rows that a client sends.
#[derive(Debug)]
pub(crate) struct InsertCaptured {
    pub(crate) table: tree::ObjectName,
    pub(crate) columns: Vec<tree::Name>,
    pub(crate) options: LoadOptions,
}

/// How rows that a client or a procedure gives go into a table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// TABLOCK: the table is locked.
    pub locks_table: bool,
    /// FIRE_TRIGGERS: the table's triggers are fired.
    pub fires_triggers: bool,
    /// CHECK_CONSTRAINTS: CHECK and FOREIGN KEY constraints are looked at; else they are not to be trusted any more.
    pub checks_constraints: bool,
    /// KEEP_NULLS: NULL is NULL; else the column's default, if it has one.
    pub keeps_nulls: bool,
}

/// A SET option the machine itself obeys.
#[derive(Debug, Clone)]
pub(crate) enum Setting {
    NoCount(bool),
    XactAbort(bool),
    ImplicitTransactions(bool),
    Isolation(crate::settings::Isolation),
    RowCount(Expr),
    LockTimeout(Expr),
    IdentityInsert(tree::ObjectName, bool),
}

/// A program that inserts rows which are kept for it; names as T-SQL writes them.
pub(crate) fn insert_program(
    table: &str,
    columns: &[String],
    options: LoadOptions,
) -> Result<Arc<Program>, pikepole_types::SqlError> {
    let text = format!("INSERT INTO {table} ({}) EXECUTE x", columns.join(", "));
    let batch = tree::parse(&text).map_err(|error| syntax_error(&error))?;
    let wrong = || pikepole_types::SqlError::incorrect_syntax(table);
    let [tree::Statement { kind: tree::StatementKind::Insert(insert), .. }] = batch.statements.as_slice() else {
        return Err(wrong());
    };
    let tree::Target::Table { name, .. } = &insert.target else { return Err(wrong()) };
    let captured = InsertCaptured { table: name.clone(), columns: insert.columns.clone(), options };
    Ok(Arc::new(Program::of(vec![Instruction::InsertCaptured(Box::new(captured))], 1)))
}

/// Bytes of tokens, trees and plans that a byte of text becomes, at a guess that is seldom too low.
const BYTES_A_TEXT_BYTE: usize = 64;

/// Parses a text, if there is memory for all that becomes of it.
///
/// # Errors
/// 701; the first error of syntax.
pub(crate) fn parse(text: &str, options: tree::ParseOptions) -> Result<tree::Batch, pikepole_types::SqlError> {
    pikepole_types::memory::ask(text.len().saturating_mul(BYTES_A_TEXT_BYTE))?;
    tree::parse_with(text, options).map_err(|error| syntax_error(&error))
}
