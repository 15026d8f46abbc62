//! Batches and procedures become programs.

use std::cell::{Cell, RefCell};
use std::sync::{Arc, OnceLock};

use super::compile_flow::{Loop, declared_in};
use super::compile_table::into_target;
use super::jumps::Jumps;
use super::{
    Callee, FunctionResult, Handler, Instruction, Late, LateKind, NO_HANDLER, Name, Parameter, ProcedureIdentity,
    Program, Setting, Source, Variable,
};
use crate::access::CatalogView;
use crate::bind::{
    self, Binder, Declared, Names, SchemaBound, TriggerShape, TypePlace, Typed, Undeclared, Undetermined, assign_to,
    convert_to,
};
use crate::clock::ticks_of_text;
use crate::errors::syntax_error;
use crate::expression::{Expr, Fault, Predicate};
use crate::host::Host;
use crate::output::DecimalName;
use crate::plan::Told;
use crate::runs::Runs;
use crate::settings::{Isolation, Settings, ShowPlan};
use pikepole_contention::sync::Mutex;
use pikepole_engine::UserType;
use pikepole_tsql::{self as tree, Statement, StatementKind};
use pikepole_types::memory::Growth;
use pikepole_types::{Collation, Length, SqlError, SqlType, Value};

/// What a text is compiled against.
pub struct CompileContext<'a> {
    /// Where names are looked up.
    pub catalog: CatalogView,
    /// What the session provides.
    pub host: &'a dyn Host,
    /// The session's settings.
    pub settings: &'a Settings,
    /// The table with IDENTITY_INSERT ON: its database and its object id.
    pub identity_insert: Option<(i32, i32)>,
    /// Where the types are noted that undeclared variables are wanted in; None: such variables are errors.
    pub(crate) undeclared: Option<&'a Undeclared>,
    /// Where it is noted that something compiled is not deterministic.
    pub(crate) undetermined: Option<&'a Undetermined>,
}

/// Compiles a batch. Its parameters are declared as sp_executesql's are, without the parentheses: `@a int, @b int OUTPUT`.
///
/// # Errors
/// Every error found: of syntax (then only the first), of names, of types. Objects that do not exist are no errors here: the
/// statement that names one fails when it runs.
pub fn compile(text: &str, parameters: &str, context: &CompileContext<'_>) -> Result<Arc<Program>, Vec<SqlError>> {
    let options = tree::ParseOptions { quoted_identifier: context.settings.quoted_identifier };
    let batch = super::parse(text, options).map_err(|error| vec![error])?;
    let declared = if parameters.trim().is_empty() {
        Vec::new()
    } else {
        tree::parse_parameters(parameters).map_err(|error| vec![syntax_error(&error)])?
    };
    compile_batch(&batch, text, &declared, context)
}

/// Compiles a batch that has been parsed; `text` is what it was parsed from.
///
/// # Errors
/// As [`compile`].
pub fn compile_batch(
    batch: &tree::Batch,
    text: &str,
    parameters: &[tree::Parameter],
    context: &CompileContext<'_>,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let mut compiler = Compiler::new(text, context);
    compiler.reserve(parameters.len(), &batch.statements);
    compiler.parameters(parameters);
    compiler.declare_tables(&batch.statements);
    compiler.is_batch = true;
    compiler.alone = matches!(batch.statements.as_slice(), [statement] if is_option(statement));
    compiler.statements(&batch.statements);
    compiler.finish(None)
}

/// Compiles a procedure from its stored text.
///
/// # Errors
/// As [`compile`].
pub fn compile_procedure(
    text: &str,
    identity: ProcedureIdentity,
    context: &CompileContext<'_>,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let batch = super::parse(text, identity.parse_options()).map_err(|error| vec![error])?;
    let Some(StatementKind::CreateProcedure(procedure)) = batch.statements.first().map(|statement| &statement.kind)
    else {
        return Err(vec![SqlError::procedure_unknown(&identity.name)]);
    };
    let mut compiler = Compiler::new(text, context);
    compiler.reserve(procedure.parameters.len(), procedure.body.statements());
    compiler.parameters(&procedure.parameters);
    if matches!(procedure.body, tree::ModuleBody::External(_)) {
        let fault = crate::errors::unsupported("EXTERNAL NAME");
        compiler.errors.push(*fault);
    }
    let bound = || SchemaBound::of("procedure", &procedure.name.dotted(), &procedure.options);
    let bound = identity.is_to_be().then(bound).flatten();
    compiler.module_body(&procedure.options, &procedure.body, bound);
    compiler.recompiles = tree::says(&procedure.options, "RECOMPILE");
    compiler.finish(Some(identity))
}

/// The error of an expression that must be evaluated by a statement of its own.
pub(super) const SUBQUERY_NOT_ALLOWED: i32 = 1046;

pub(super) struct Compiler<'a> {
    pub(super) text: &'a str,
    /// The size of all that the statements become.
    growth: Growth,
    pub(super) context: &'a CompileContext<'a>,
    pub(super) instructions: Vec<Instruction>,
    lines: Vec<u32>,
    spans: Vec<tree::Span>,
    handler_of: Vec<u32>,
    pub(super) handlers: Vec<Handler>,
    /// The handlers of the TRY blocks around, innermost last.
    pub(super) trying: Vec<u32>,
    pub(super) catch_depth: usize,
    pub(super) loops: Vec<Loop>,
    /// Labels and GOTOs.
    pub(super) jumps: Jumps,
    /// The table variables declared so far.
    pub(super) tables: Vec<tree::Name>,
    /// The cursor variables declared so far.
    pub(super) cursors: Vec<tree::Name>,
    /// The parameters that are tables, with their places.
    pub(super) table_parameters: Vec<(usize, tree::Name, Arc<UserType>)>,
    /// The users' types that declarations name.
    user_types: RefCell<Vec<Arc<UserType>>>,
    /// What EXEC calls, as far as it is to be looked at again.
    pub(super) callees: Vec<Callee>,
    /// What the text sees, of a trigger.
    pub(super) trigger: Option<Arc<TriggerShape>>,
    /// Where a function leaves what it returns.
    pub(super) returns: Option<FunctionResult>,
    recompiles: bool,
    /// The function that is being made WITH SCHEMABINDING.
    pub(super) schema_bound: Option<SchemaBound>,
    /// A function is to be made of the text.
    pub(super) in_function: bool,
    /// The parameters that are declared NOT NULL, which natively compiled modules look at.
    pub(super) required: Vec<usize>,
    /// The text at hand is in an atomic block.
    pub(super) atomic: bool,
    late: Vec<Late>,
    pub(super) variables: Vec<Variable>,
    parameters: Vec<Parameter>,
    pub(super) errors: Vec<SqlError>,
    pub(super) line: u32,
    /// Where the statement at hand stands.
    span: tree::Span,
    /// The statement at hand is the whole batch.
    alone: bool,
    /// It is a batch that is compiled, not a module.
    pub(super) is_batch: bool,
    /// Where names are looked up once the text has switched ANSI_NULLS or NO_BROWSETABLE.
    catalog_now: Option<CatalogView>,
    /// The slots of variables: those declared anywhere in the text, then the two hidden ones.
    pub(super) reserved: usize,
    /// True once USE may have changed what names mean: statements are then bound when they run.
    pub(super) database_changes: bool,
    /// The table whose identity column takes given values at this place of the text.
    identity_insert: Option<(i32, i32)>,
    /// Set when an expression of the instruction to come asks for the present time.
    reads_clock: Cell<bool>,
}

/// OUTPUT and MERGE that the triggers of their table forbid, wherever they stand.
const REFUSED_FOR_TRIGGERS: [i32; 2] = [334, 5316];

impl<'a> Compiler<'a> {
    pub(super) fn new(text: &'a str, context: &'a CompileContext<'a>) -> Compiler<'a> {
        Compiler {
            text,
            growth: Growth::begin(),
            context,
            instructions: Vec::new(),
            lines: Vec::new(),
            spans: Vec::new(),
            handler_of: Vec::new(),
            handlers: Vec::new(),
            trying: Vec::new(),
            catch_depth: 0,
            loops: Vec::new(),
            jumps: Jumps::default(),
            tables: Vec::new(),
            cursors: Vec::new(),
            table_parameters: Vec::new(),
            user_types: RefCell::default(),
            callees: Vec::new(),
            trigger: None,
            returns: None,
            recompiles: false,
            schema_bound: None,
            in_function: false,
            required: Vec::new(),
            atomic: false,
            late: Vec::new(),
            variables: Vec::new(),
            parameters: Vec::new(),
            errors: Vec::new(),
            line: 1,
            span: tree::Span::default(),
            alone: false,
            is_batch: false,
            catalog_now: None,
            reserved: 0,
            database_changes: false,
            identity_insert: context.identity_insert,
            reads_clock: Cell::new(false),
        }
    }

    pub(super) fn finish(mut self, procedure: Option<ProcedureIdentity>) -> Result<Arc<Program>, Vec<SqlError>> {
        self.resolve_gotos();
        if let Some(identity) = &procedure {
            for error in &mut self.errors {
                error.procedure.get_or_insert_with(|| identity.name.clone());
            }
        }
        if !self.errors.is_empty() {
            return Err(self.errors);
        }
        let hidden = Variable::new("", SqlType::Int);
        self.variables.resize(self.reserved, hidden);
        let database_id = self.context.catalog.database.id();
        let object_id = procedure.as_ref().map(|identity| identity.object_id);
        Ok(Arc::new(Program {
            source: Some(Source::new(self.text, object_id.map(|object_id| (database_id, object_id)))),
            database_id,
            instructions: self.instructions,
            lines: self.lines,
            spans: self.spans,
            handler_of: self.handler_of,
            handlers: self.handlers,
            late: self.late,
            variables: self.variables,
            parameters: self.parameters,
            slots: self.reserved,
            procedure,
            user_types: self.user_types.into_inner(),
            callees: self.callees,
            trigger: self.trigger,
            returns: self.returns,
            recompiles: self.recompiles,
            runs: Runs::new(),
            code: OnceLock::new(),
        }))
    }

    pub(super) fn names(&self) -> Names<'_> {
        Names {
            catalog: self.catalog_now.as_ref().unwrap_or(&self.context.catalog),
            host: self.context.host,
            variables: &self.variables,
            identity_insert: self.identity_insert,
            trigger: self.trigger.as_deref(),
            undeclared: self.context.undeclared,
            schema_bound: self.schema_bound.as_ref(),
            in_function: self.in_function,
            undetermined: self.context.undetermined,
            unguarded: false,
            values: &[],
        }
    }

    pub(super) fn emit(&mut self, instruction: Instruction) -> usize {
        if self.reads_clock.take() {
            self.emit(Instruction::Clock);
        }
        if let Some(error) = self.refused_in_atomic(&instruction) {
            self.errors.push(error.at_line(self.line));
        }
        self.instructions.push(instruction);
        self.lines.push(self.line);
        self.spans.push(self.span);
        self.handler_of.push(self.trying.last().copied().unwrap_or(NO_HANDLER));
        self.instructions.len() - 1
    }

    pub(super) fn here(&self) -> usize {
        self.instructions.len()
    }

    /// Keeps an error and goes on, so that one compilation reports all of them.
    pub(super) fn keep<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(fault) => {
                self.errors.push(fault.at_line(self.line));
                None
            }
        }
    }

    fn declare(&mut self, name: &tree::Name, ty: SqlType, declared: &Declared) -> Result<usize, Fault> {
        let is_table = self.tables.iter().any(|table| name.is(&table.text));
        if is_table || self.variables.iter().any(|variable| name.is(&variable.name)) {
            return Err(Box::new(SqlError::variable_declared_twice(&name.text)));
        }
        let decimal_name = DecimalName::written(declared.second_name());
        let user_type = declared.alias_type();
        self.variables.push(Variable { name: name.text.clone(), ty, decimal_name, user_type });
        Ok(self.variables.len() - 1)
    }

    /// Counts the variables, so that the registers of statements lie behind all of them.
    pub(super) fn reserve(&mut self, parameters: usize, statements: &[Statement]) {
        self.reserved = parameters + declared_in(statements) + 2;
    }

    /// The slot for the outcome of a condition with a subquery, read by the very next instruction.
    fn condition_slot(&self) -> usize {
        self.reserved - 1
    }

    /// The slot for the value of RETURN, likewise.
    pub(super) fn return_slot(&self) -> usize {
        self.reserved - 2
    }

    pub(super) fn parameters(&mut self, parameters: &[tree::Parameter]) {
        for (at, parameter) in parameters.iter().enumerate() {
            let declared = self.parameter(at, parameter);
            if let Some(declared) = self.keep(declared) {
                self.parameters.push(declared);
            }
        }
    }

    fn parameter(&mut self, at: usize, parameter: &tree::Parameter) -> Result<Parameter, Fault> {
        if parameter.varying || parameter.data_type.name.is("cursor") {
            return self.cursor_parameter(parameter);
        }
        let place = TypePlace::Variable(&parameter.name.text);
        let declared = self.declared(&parameter.data_type, place, at + 1)?;
        let ty = match declared.clone() {
            Declared::Table(user_type) => return self.table_parameter(at, parameter, user_type),
            _ if parameter.readonly => return Err(Box::new(SqlError::readonly_of_scalar(&parameter.name.text))),
            Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty) => ty,
        };
        let slot = self.declare(&parameter.name, ty, &declared)?;
        self.required.extend((parameter.nullable == Some(false)).then_some(slot));
        let default = match &parameter.default {
            None => None,
            Some(default) => {
                // A bare word is the text it spells.
                let typed = match &default.kind {
                    tree::ExprKind::Column(column) if column.qualifier.is_none() => {
                        let text = column.name.text.clone();
                        let ty = SqlType::NVarChar(Length::Limit(128));
                        Typed::constant(Value::Str(text), ty)
                    }
                    _ => self.bind_expr(default)?,
                };
                Some(assign_to(typed, &ty, self.collation(), None)?)
            }
        };
        let (name, output) = (parameter.name.text.clone(), parameter.output);
        Ok(Parameter { name, ty, default, output, cursor: false, table: None })
    }

    /// What a type of the text stands for.
    pub(super) fn declared(
        &self,
        written: &tree::DataType,
        place: TypePlace<'_>,
        position: usize,
    ) -> Result<Declared, Fault> {
        let view = &self.context.catalog;
        let declared = bind::declared_at(&view.catalog, &view.meant(written), place, position)?;
        self.user_types.borrow_mut().extend(declared.user_type().cloned());
        Ok(declared)
    }

    /// The collation of the database that the text is for.
    fn collation(&self) -> Collation {
        self.context.catalog.collation()
    }

    /// Binds an expression that may hold no subquery.
    pub(super) fn bind_expr(&self, expr: &tree::Expr) -> Result<Typed, Fault> {
        let names = self.names();
        let mut binder = Binder::new(&names, self.reserved);
        let typed = binder.expr(expr)?;
        self.note_clock(&binder);
        if binder.is_plain() { Ok(typed) } else { Err(Box::new(SqlError::subquery_not_allowed())) }
    }

    fn note_clock(&self, binder: &Binder<'_>) {
        if binder.reads_clock {
            self.reads_clock.set(true);
        }
    }

    pub(super) fn typed_as(&self, expr: &tree::Expr, ty: &SqlType) -> Result<Expr, Fault> {
        assign_to(self.bind_expr(expr)?, ty, self.collation(), None)
    }

    pub(super) fn text_value(&self, expr: &tree::Expr) -> Result<Expr, Fault> {
        let typed = self.bind_expr(expr)?;
        if typed.ty.is_string() {
            return Ok(typed.expr);
        }
        let text = SqlType::NVarChar(Length::Limit(4000));
        Ok(convert_to(typed, &text)?.expr)
    }

    /// `SET @x.modify(...)`, `SET @x.STSrid = ...`
    fn mutate(
        &mut self,
        variable: &tree::Name,
        change: impl FnOnce(&mut Binder<'_>, Typed, &str) -> Result<Typed, Fault>,
    ) -> Result<(), Fault> {
        let (slot, ty) = self.variable(variable)?;
        let value = {
            let names = self.names();
            let mut binder = Binder::new(&names, self.reserved);
            let old = Typed::new(Expr::Slot(slot), ty, true);
            change(&mut binder, old, &variable.text)?.expr
        };
        self.emit(Instruction::Assign { slot, value });
        Ok(())
    }

    /// Adds a statement to be bound late; binds it now as far as its names are known, to report its errors and to save the
    /// first run from binding it.
    fn late(&mut self, kind: LateKind) -> usize {
        // The table of SELECT ... INTO is made when the statement runs; one that is there now is another one.
        let mut missing = None;
        let plan = if self.database_changes || matches!(kind, LateKind::Into(_)) {
            None
        } else {
            match bind::bind(&kind, &self.names(), self.reserved) {
                Ok(plan) => match plan.triggers.as_ref().and_then(|triggers| triggers.fault.clone()) {
                    Some(fault) if REFUSED_FOR_TRIGGERS.contains(&fault.number) => {
                        self.errors.push(fault.at_line(self.line));
                        None
                    }
                    _ => Some(plan),
                },
                // Whoever asks for types is told of what is not there.
                Err(fault)
                    if self.context.undeclared.is_none()
                        && !(self.binds_atomic() && is_missing(&fault))
                        && (self.is_deferred(&fault) || matches!(fault.number, 544 | 545)) =>
                {
                    missing = Some(fault);
                    None
                }
                Err(fault) => {
                    self.errors.push(fault.at_line(self.line));
                    None
                }
            }
        };
        let text = self.text.get(self.span.range()).unwrap_or_default().into();
        self.late.push(Late { kind, text, missing, plan: Mutex::new(plan), runs: Runs::new() });
        self.late.len() - 1
    }

    pub(super) fn late_statement(&mut self, kind: LateKind) {
        let index = self.late(kind);
        self.emit(Instruction::Statement(index));
    }

    /// Stores an expression's value into a variable.
    fn assign(&mut self, slot: usize, expr: &tree::Expr, op: tree::AssignOp) {
        let ty = self.variables[slot].ty;
        let bound = {
            let names = self.names();
            let mut binder = Binder::new(&names, self.reserved);
            binder.allow_numbers(0);
            let name = self.variables[slot].name.clone();
            let bound = binder.assignment(&name, op, expr);
            let inline = binder.is_plain();
            if inline && bound.is_ok() {
                self.note_clock(&binder);
            }
            bound.map(|(_, value)| (value, inline))
        };
        match bound {
            Ok((value, true)) => {
                self.emit(Instruction::Assign { slot, value });
            }
            Err(fault) if !self.is_deferred(&fault) => {
                self.errors.push(fault.at_line(self.line));
            }
            _ => {
                let value = match bind::binary_of(op) {
                    None => expr.clone(),
                    Some(operator) => compound(&self.variables[slot].name, operator, expr),
                };
                self.late_statement(LateKind::Value { expr: value, slot, ty, told: Told::One });
            }
        }
    }

    /// A condition as a predicate over slots; subqueries are evaluated by an instruction of their own before it.
    pub(super) fn condition(&mut self, condition: &tree::Condition) -> Predicate {
        let bound = {
            let names = self.names();
            let mut binder = Binder::new(&names, self.reserved);
            let bound = binder.condition(condition);
            let inline = binder.is_plain();
            if inline && bound.is_ok() {
                self.note_clock(&binder);
            }
            bound.map(|predicate| (predicate, inline))
        };
        match bound {
            Ok((predicate, true)) => predicate,
            Err(fault) if !self.is_deferred(&fault) => {
                self.errors.push(fault.at_line(self.line));
                Predicate::Const(None)
            }
            _ => {
                let slot = self.condition_slot();
                self.late_statement(LateKind::Condition { condition: condition.clone(), slot });
                Predicate::Slot(slot)
            }
        }
    }

    pub(super) fn statements(&mut self, statements: &[Statement]) {
        // Variables are known from their declaration to the end of the batch, whatever blocks are between.
        for statement in statements {
            if let Err(error) = self.growth.step() {
                self.errors.push(error);
                return;
            }
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &Statement) {
        self.line = statement.line();
        self.span = statement.span;
        let compiled = self.check_in_atomic(&statement.kind).and_then(|()| self.compile(statement));
        self.keep(compiled);
    }

    fn compile(&mut self, statement: &Statement) -> Result<(), Fault> {
        match &statement.kind {
            StatementKind::Block(statements) => self.statements(statements),
            StatementKind::If(branch) => self.branch(branch),
            StatementKind::While(repeat) => self.repeat(repeat),
            StatementKind::Break | StatementKind::Continue => self.leave_loop(statement)?,
            StatementKind::Return(value) => self.ret(value.as_ref())?,
            StatementKind::TryCatch(block) => self.try_catch(block),
            StatementKind::Throw(throw) => self.throw(throw.as_deref())?,
            StatementKind::RaiseError(raise) => self.raise_error(raise)?,
            StatementKind::Print(value) => {
                let text = self.text_of_function(value).unwrap_or_else(|| self.text_value(value))?;
                self.emit(Instruction::Print(text));
            }
            StatementKind::Goto(name) => {
                let at = self.emit(Instruction::Jump(usize::MAX));
                self.jumps.goto(at, name);
            }
            StatementKind::Label(name) => self.label(name)?,
            StatementKind::WaitFor(wait) => {
                let (tree::WaitFor::Delay(time) | tree::WaitFor::Time(time)) = wait;
                let Typed { expr: time, ty, .. } = self.bind_expr(time)?;
                // What is written is looked at before anything runs.
                if let Expr::Const(Value::Str(text)) = &time
                    && ticks_of_text(text).is_none()
                {
                    return Err(Box::new(SqlError::bad_waitfor_time(text)));
                }
                let until = matches!(wait, tree::WaitFor::Time(_));
                self.emit(Instruction::WaitFor { time, ty, until });
            }
            StatementKind::Declare(variables) => self.declarations(variables)?,
            StatementKind::SetVariable(set) => match &set.value {
                tree::SetValue::Expr(value) if self.is_cursor(&set.variable) => {
                    self.share_cursor(&set.variable, value)?
                }
                tree::SetValue::Expr(value) => {
                    let slot = self.variable(&set.variable)?.0;
                    self.assign(slot, value, set.op);
                }
                tree::SetValue::Cursor(definition) => self.set_cursor(statement, &set.variable, definition)?,
                tree::SetValue::Method(method, arguments) => {
                    self.mutate(&set.variable, |binder, old, name| {
                        binder.mutated(old, name, Default::default(), method, arguments)
                    })?;
                }
                tree::SetValue::Property(property, value) => {
                    self.mutate(&set.variable, |binder, old, name| binder.with_property(old, name, property, value))?;
                }
            },
            StatementKind::SetOption(option) => self.set_option(statement, option)?,
            StatementKind::SetIsolation(level) => {
                let level = Isolation::of(*level);
                self.emit(Instruction::Setting(Setting::Isolation(level)));
            }
            StatementKind::SetIdentityInsert { table, on } => {
                let setting = Setting::IdentityInsert(table.clone(), *on);
                self.emit(Instruction::Setting(setting));
                // Whether an identity value may be given is known when the statements after this one run; they are bound anew then, should
                // the text's order have misled them.
                let names = self.names();
                let found = names.catalog.table(table).ok().flatten().filter(|_| *on);
                self.identity_insert = found.map(|table| table.identity_key(names.catalog.database.id()));
            }
            StatementKind::Use(name) => self.use_database(name)?,
            StatementKind::Execute(call) => self.execute(call)?,
            _ => return self.compile_data(statement),
        }
        Ok(())
    }

    fn compile_data(&mut self, statement: &Statement) -> Result<(), Fault> {
        self.check_not_read_only(statement)?;
        match &statement.kind {
            StatementKind::BeginTransaction(begin) => {
                if begin.mark.is_some() && begin.name.is_none() {
                    return Err(Box::new(SqlError::mark_needs_name()));
                }
                let name = self.transaction_name(begin.name.as_ref())?;
                self.emit(Instruction::Begin(name));
            }
            StatementKind::Commit(commit) => {
                self.emit(Instruction::Commit { delayed: commit.delayed_durability });
            }
            StatementKind::Rollback(name) => {
                let name = self.transaction_name(name.as_ref())?;
                self.emit(Instruction::Rollback(name));
            }
            StatementKind::SaveTransaction(name) => {
                if let Some(name) = self.transaction_name(Some(name))? {
                    self.emit(Instruction::Save(name));
                }
            }
            StatementKind::Insert(insert) => match &insert.source {
                tree::InsertSource::Execute(call) => self.insert_execute(insert, call)?,
                _ => self.keep_for_later(statement)?,
            },
            StatementKind::Select(query) if into_target(query).is_some() => self.select_into(query),
            StatementKind::Select(_)
            | StatementKind::Update(_)
            | StatementKind::Delete(_)
            | StatementKind::Merge(_) => self.keep_for_later(statement)?,
            // Principals are the session's; statistics are not kept.
            StatementKind::Drop(drop) if drop.kind.is_principal() || drop.kind == tree::DropKind::Statistics => {
                self.emit(Instruction::Host(Arc::new(statement.clone())));
            }
            StatementKind::Truncate(_)
            | StatementKind::CreateTable(_)
            | StatementKind::AlterTable(_)
            | StatementKind::CreateIndex(_)
            | StatementKind::DropIndex(_)
            | StatementKind::CreateProcedure(_)
            | StatementKind::CreateView(_)
            | StatementKind::CreateFunction(_)
            | StatementKind::CreateTrigger(_)
            | StatementKind::SetTrigger(_)
            | StatementKind::CreateSchema(_)
            | StatementKind::CreateType(_)
            | StatementKind::CreateSequence(_)
            | StatementKind::CreateSynonym(_)
            | StatementKind::SecurityPolicy(_)
            | StatementKind::Partition(_)
            | StatementKind::AlterIndex(_)
            | StatementKind::TransferToSchema(_)
            | StatementKind::ChangeOwner(_)
            | StatementKind::Drop(_)
            | StatementKind::CreateDatabase(_)
            | StatementKind::AlterDatabase(_) => {
                let text = tree::module_text(self.text, statement).unwrap_or_default();
                let define = Instruction::Define(Arc::new(statement.clone()), text.into());
                self.emit(define);
            }
            StatementKind::BulkInsert(bulk) => {
                self.emit(Instruction::BulkInsert(Arc::new((**bulk).clone())));
            }
            StatementKind::DeclareTable(table) => self.table_variable(&table.name)?,
            StatementKind::DeclareCursor(_)
            | StatementKind::OpenCursor(_)
            | StatementKind::Fetch(_)
            | StatementKind::CloseCursor(_)
            | StatementKind::DeallocateCursor(_) => self.cursor(statement)?,
            _ => {
                self.emit(Instruction::Host(Arc::new(statement.clone())));
            }
        }
        Ok(())
    }

    pub(super) fn variable(&self, name: &tree::Name) -> Result<(usize, SqlType), Fault> {
        let names = self.names();
        Binder::new(&names, 0).variable(&name.text)
    }

    fn declarations(&mut self, variables: &[tree::VariableDeclaration]) -> Result<(), Fault> {
        for (at, variable) in variables.iter().enumerate() {
            let tree::VariableKind::Value { data_type, initial } = &variable.kind else {
                self.cursors.push(variable.name.clone());
                continue;
            };
            let place = TypePlace::Variable(&variable.name.text);
            let declared = self.declared(data_type, place, at + 1)?;
            let ty = match declared {
                Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty) => ty,
                Declared::Table(_) if initial.is_some() => {
                    return Err(Box::new(SqlError::default_for_local_variable()));
                }
                Declared::Table(_) => {
                    self.table_variable(&variable.name)?;
                    continue;
                }
            };
            if ty.is_text_or_image() {
                return Err(Box::new(SqlError::text_in_local_variable()));
            }
            let slot = self.declare(&variable.name, ty, &declared)?;
            if let Some(initial) = initial {
                self.assign(slot, initial, tree::AssignOp::Set);
            }
        }
        Ok(())
    }

    fn set_option(&mut self, statement: &Statement, option: &tree::SetOption) -> Result<(), Fault> {
        if !self.alone && option.names.iter().any(|name| ShowPlan::of(name).is_some()) {
            return Err(Box::new(SqlError::show_plan_not_alone()));
        }
        if !self.is_batch && option.names.iter().any(|name| name == "PARSEONLY") {
            return Err(Box::new(SqlError::parse_only_in_module()));
        }
        let on = matches!(option.value, tree::OptionSetting::On);
        // In a module it says nothing: that is compiled as it was made.
        for name in option.names.iter().filter(|_| self.is_batch) {
            let now = || self.catalog_now.as_ref().unwrap_or(&self.context.catalog).clone();
            match name.as_str() {
                "ANSI_NULLS" => self.catalog_now = Some(now().with_nulls(on)),
                "NO_BROWSETABLE" => self.catalog_now = Some(now().with_browsing(on)),
                _ => {}
            }
        }
        let mut settings = Vec::new();
        for name in &option.names {
            settings.push(match (name.as_str(), &option.value) {
                ("NOCOUNT", _) => Setting::NoCount(on),
                ("XACT_ABORT", _) => Setting::XactAbort(on),
                ("IMPLICIT_TRANSACTIONS", _) => Setting::ImplicitTransactions(on),
                ("ROWCOUNT", tree::OptionSetting::Value(value)) => {
                    Setting::RowCount(self.typed_as(value, &SqlType::BigInt)?)
                }
                ("LOCK_TIMEOUT", tree::OptionSetting::Value(value)) => {
                    Setting::LockTimeout(self.typed_as(value, &SqlType::Int)?)
                }
                _ => {
                    self.emit(Instruction::Host(Arc::new(statement.clone())));
                    return Ok(());
                }
            });
        }
        for setting in settings {
            self.emit(Instruction::Setting(setting));
        }
        Ok(())
    }

    fn transaction_name(&self, name: Option<&tree::TransactionName>) -> Result<Option<Name>, Fault> {
        Ok(match name {
            None => None,
            Some(tree::TransactionName::Name(name)) => Some(Name::Literal(name.text.as_str().into())),
            Some(tree::TransactionName::Variable(name)) => Some(Name::Variable(self.variable(name)?.0)),
        })
    }
}

fn is_option(statement: &Statement) -> bool {
    matches!(statement.kind, StatementKind::SetOption(_))
}

/// Whether an error means that an object does not exist (yet).
pub(crate) fn is_missing(error: &SqlError) -> bool {
    // 4121: a function may be made before the statement runs, as an object of FROM may.
    matches!(error.number, 208 | 4121 | 5313)
}

/// `@v op expr` as a tree.
fn compound(variable: &str, op: tree::BinaryOp, expr: &tree::Expr) -> tree::Expr {
    let name = tree::Name { text: variable.to_owned(), span: expr.span };
    let left = tree::Expr::new(tree::ExprKind::Variable(name), expr.span);
    tree::Chain::of(left, op, expr.clone())
}
