//! Natively compiled modules: their options, and the block that is all of such a module.
//!
//! `BEGIN ATOMIC WITH (...) ... END` stands or falls as one: it begins a transaction, or a savepoint in the one that is open, and an error
//! that leaves it undoes it. Its options and the fixed ones of [`Atomic::settings`] are in force in it, whatever its callers have set.

use std::sync::Arc;

use super::compile::Compiler;
use super::{Instruction, Program};
use crate::bind::SchemaBound;
use crate::expression::{Expr, Fault};
use crate::settings::Settings;
use pikepole_engine::MemoryLevel;
use pikepole_tsql::{self as tree, Literal, ModuleBody, ModuleOption, SettingOption, SettingValue, StatementKind};
use pikepole_types::{DateFormat, Language, SqlError, Value};

/// The options of an atomic block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Atomic {
    /// The level at which its statements use in-memory tables.
    pub(crate) level: MemoryLevel,
    /// DELAYED_DURABILITY = ON: its commit does not wait for the log.
    pub(crate) delayed: bool,
    language: &'static Language,
    date_format: DateFormat,
    date_first: u8,
    /// The parameters that are declared NOT NULL.
    required: Vec<usize>,
}

impl Atomic {
    /// Reads the options of BEGIN ATOMIC.
    ///
    /// # Errors
    /// 10784 for one that is missing; 10794 for a level that native modules do not have; 102 for one that is unknown or said twice; a wrong
    /// value, by its option's own error.
    fn of(options: &[SettingOption], required: &[usize]) -> Result<Atomic, Fault> {
        let find = |name: &str| options.iter().find(|option| option.name == name);
        let needed = |name: &str, shown: &str| find(name).ok_or_else(|| SqlError::atomic_option_missing(shown));
        let level = match text(needed("TRANSACTION ISOLATION LEVEL", "transaction isolation level")?).as_str() {
            "SNAPSHOT" => MemoryLevel::Snapshot,
            "REPEATABLE READ" => MemoryLevel::RepeatableRead,
            "SERIALIZABLE" => MemoryLevel::Serializable,
            other @ ("READ COMMITTED" | "READ UNCOMMITTED") => {
                return Err(Box::new(SqlError::isolation_not_in_native(other)));
            }
            other => return Err(Box::new(SqlError::incorrect_syntax(other))),
        };
        let name = text(needed("LANGUAGE", "language")?);
        let language = Language::by_name(&name).ok_or_else(|| SqlError::language_unknown(&name))?;
        let delayed = match find("DELAYED_DURABILITY") {
            None => false,
            Some(option) => option.on_off().ok_or_else(|| SqlError::incorrect_syntax(text(option)))?,
        };
        let mut atomic = Atomic {
            level,
            delayed,
            language,
            date_format: language.date_format,
            date_first: language.date_first,
            required: required.to_vec(),
        };
        if let Some(option) = find("DATEFORMAT") {
            let name = text(option);
            let format = DateFormat::by_name(&name);
            atomic.date_format = format.ok_or_else(|| SqlError::incorrect_syntax(&name))?;
        }
        if let Some(option) = find("DATEFIRST") {
            let day = text(option);
            let valid = day.parse().ok().filter(|day| (1..=7).contains(day));
            atomic.date_first = valid.ok_or_else(|| SqlError::incorrect_syntax(&day))?;
        }
        const KNOWN: [&str; 5] =
            ["TRANSACTION ISOLATION LEVEL", "LANGUAGE", "DELAYED_DURABILITY", "DATEFORMAT", "DATEFIRST"];
        let is_wrong = |(at, option): &(usize, &SettingOption)| {
            !KNOWN.contains(&option.name.as_str()) || options[..*at].iter().any(|other| other.name == option.name)
        };
        match options.iter().enumerate().find(is_wrong) {
            Some((_, wrong)) => Err(Box::new(SqlError::incorrect_syntax(&wrong.name))),
            None => Ok(atomic),
        }
    }

    /// # Errors
    /// 515 for NULL in a parameter that is declared NOT NULL.
    pub(crate) fn check_parameters(&self, program: &Program, slots: &[Value]) -> Result<(), Fault> {
        let Some(slot) = self.required.iter().find(|slot| slots[**slot].is_null()) else { return Ok(()) };
        let name = program.variables.get(*slot).map_or("", |variable| variable.name.as_str());
        let module = program.procedure.as_ref().map_or("", |module| module.name.as_str());
        Err(Box::new(SqlError::null_not_allowed(name, module, "EXECUTE")))
    }

    /// The settings in force in the block, for a caller with these.
    pub(crate) fn settings(&self, caller: &Settings) -> Settings {
        Settings {
            nocount: true,
            language: self.language,
            date_format: self.date_format,
            date_first: self.date_first,
            memory_level: Some(self.level),
            isolation: caller.isolation,
            noexec: caller.noexec,
            parseonly: caller.parseonly,
            fmtonly: caller.fmtonly,
            browses: caller.browses,
            show_plan: caller.show_plan,
            statistics_profile: caller.statistics_profile,
            statistics_xml: caller.statistics_xml,
            statistics_io: caller.statistics_io,
            statistics_time: caller.statistics_time,
            text_size: caller.text_size,
            lock_timeout_ms: caller.lock_timeout_ms,
            ..Settings::default()
        }
    }
}

/// The words, text or number that an option is set to.
fn text(option: &SettingOption) -> String {
    match &option.value {
        Some(SettingValue::Word(word)) => word.clone(),
        Some(SettingValue::Expr(expr)) => match expr.literal() {
            Some(Literal::String { value, .. }) => value.clone(),
            Some(Literal::Int(number)) => number.to_string(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}

/// The name that errors call a statement by which no atomic block has; None: it has it.
fn refused(statement: &StatementKind) -> Option<&'static str> {
    Some(match statement {
        StatementKind::BeginTransaction(_) => "BEGIN TRANSACTION",
        StatementKind::Commit(_) => "COMMIT TRANSACTION",
        StatementKind::Rollback(_) => "ROLLBACK TRANSACTION",
        StatementKind::SaveTransaction(_) => "SAVE TRANSACTION",
        StatementKind::SetOption(_) | StatementKind::SetIdentityInsert { .. } => "SET OPTION",
        StatementKind::SetIsolation(_) => "SET TRANSACTION ISOLATION LEVEL",
        StatementKind::Use(_) => "USE",
        StatementKind::WaitFor(_) => "WAITFOR",
        StatementKind::BulkInsert(_) => "BULK INSERT",
        StatementKind::Merge(_) => "MERGE",
        StatementKind::DeclareCursor(_) => "DECLARE CURSOR",
        StatementKind::OpenCursor(_) => "OPEN CURSOR",
        StatementKind::Fetch(_) => "FETCH",
        StatementKind::Truncate(_) => "TRUNCATE TABLE",
        StatementKind::Select(query) if super::compile_table::into_target(query).is_some() => "SELECT INTO",
        _ => return None,
    })
}

impl Compiler<'_> {
    /// The body of a module with these options: an atomic block where they say NATIVE_COMPILATION, and nowhere else. What binds a module to
    /// the schema is asked of procedures and triggers that are natively compiled, and of no others.
    pub(super) fn module_body(&mut self, options: &[ModuleOption], body: &ModuleBody, bound: Option<SchemaBound>) {
        let is_native = tree::says(options, "NATIVE_COMPILATION");
        let atomic = match body {
            ModuleBody::Atomic { options, .. } if is_native => Atomic::of(options, &self.required).map(Some),
            ModuleBody::Atomic { .. } => {
                Err(crate::errors::unsupported("BEGIN ATOMIC in a module that is not natively compiled"))
            }
            _ if is_native => Err(Box::new(SqlError::native_body_not_atomic())),
            _ => Ok(None),
        };
        let Some(atomic) = self.keep(atomic).flatten() else {
            self.declare_tables(body.statements());
            return self.statements(body.statements());
        };
        self.schema_bound = bound.or(self.schema_bound.take());
        self.atomic = true;
        self.emit(Instruction::BeginAtomic(Arc::new(atomic)));
        self.declare_tables(body.statements());
        self.statements(body.statements());
        self.emit(Instruction::EndAtomic);
    }

    /// True while an atomic block is made: what it names must be there.
    pub(super) fn binds_atomic(&self) -> bool {
        self.atomic && self.schema_bound.is_some()
    }

    /// # Errors
    /// 10794 for a statement that an atomic block does not have.
    pub(super) fn check_in_atomic(&self, statement: &StatementKind) -> Result<(), Fault> {
        match refused(statement).filter(|_| self.atomic) {
            Some(name) => Err(Box::new(SqlError::not_in_native("statement", name))),
            None => Ok(()),
        }
    }

    /// RETURN; from an atomic block, its value is there before the block ends.
    pub(super) fn return_from(&mut self, value: Option<Expr>) {
        if !self.atomic {
            self.emit(Instruction::Return(value));
            return;
        }
        let value = value.map(|value| {
            let slot = self.return_slot();
            self.emit(Instruction::Assign { slot, value });
            Expr::Slot(slot)
        });
        self.emit(Instruction::EndAtomic);
        self.emit(Instruction::Return(value));
    }

    /// The error of an instruction that an atomic block does not have, whatever statement it is of.
    pub(super) fn refused_in_atomic(&self, instruction: &Instruction) -> Option<SqlError> {
        let name = match instruction {
            Instruction::Define(..) => "Data definition",
            Instruction::Host(_) => "Administration",
            Instruction::ExecuteText(_) => "EXECUTE of a text",
            Instruction::Capture => "INSERT EXEC",
            _ => return None,
        };
        self.atomic.then(|| SqlError::not_in_native("statement", name))
    }
}
