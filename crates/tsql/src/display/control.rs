//! Statements, flow of control, variables, cursors, transactions, calls.

use std::fmt::{Display, Formatter, Result};

use super::{Commas, optional, statements, words};
use crate::tree::*;

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.kind.fmt(f)
    }
}

impl Display for StatementKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            StatementKind::Block(body) => block(f, "", body),
            StatementKind::If(choice) => {
                write!(f, "IF {} {}", choice.condition, choice.then)?;
                optional(f, " ELSE ", &choice.otherwise, "")
            }
            StatementKind::While(repeat) => write!(f, "WHILE {} {}", repeat.condition, repeat.body),
            StatementKind::Break => f.write_str("BREAK"),
            StatementKind::Continue => f.write_str("CONTINUE"),
            StatementKind::Return(value) => {
                f.write_str("RETURN")?;
                optional(f, " ", value, "")
            }
            StatementKind::TryCatch(both) => {
                block(f, " TRY", &both.body)?;
                f.write_str(" ")?;
                block(f, " CATCH", &both.handler)
            }
            StatementKind::Throw(None) => f.write_str("THROW"),
            StatementKind::Throw(Some(throw)) => {
                write!(f, "THROW {}, {}, {}", throw.number, throw.message, throw.state)
            }
            StatementKind::RaiseError(error) => error.fmt(f),
            StatementKind::Print(value) => write!(f, "PRINT {value}"),
            StatementKind::Goto(label) => write!(f, "GOTO {label}"),
            StatementKind::Label(label) => write!(f, "{label}:"),
            StatementKind::WaitFor(WaitFor::Delay(value)) => write!(f, "WAITFOR DELAY {value}"),
            StatementKind::WaitFor(WaitFor::Time(value)) => write!(f, "WAITFOR TIME {value}"),
            _ => variables(f, self),
        }
    }
}

/// `BEGIN word ... END word`
fn block(f: &mut Formatter<'_>, word: &str, body: &[Statement]) -> Result {
    writeln!(f, "BEGIN{word}")?;
    // A block of semicolons alone is a block all the same.
    words(f, body.is_empty(), ";\n")?;
    statements(f, body)?;
    write!(f, "END{word}")
}

fn variables(f: &mut Formatter<'_>, kind: &StatementKind) -> Result {
    match kind {
        StatementKind::Declare(all) => write!(f, "DECLARE {}", Commas(all)),
        StatementKind::DeclareTable(table) => write!(f, "DECLARE {} TABLE ({})", table.name, Commas(&table.elements)),
        StatementKind::SetVariable(set) => {
            let (variable, op) = (&set.variable, &set.op);
            match &set.value {
                SetValue::Expr(expr) => write!(f, "SET {variable} {op} {expr}"),
                SetValue::Cursor(cursor) => write!(f, "SET {variable} {op} CURSOR {cursor}"),
                SetValue::Method(method, arguments) => write!(f, "SET {variable}.{method}({})", Commas(arguments)),
                SetValue::Property(property, value) => write!(f, "SET {variable}.{property} = {value}"),
            }
        }
        StatementKind::SetOption(option) => option.fmt(f),
        StatementKind::SetIsolation(level) => {
            f.write_str("SET TRANSACTION ISOLATION LEVEL ")?;
            f.write_str(match level {
                IsolationLevel::ReadUncommitted => "READ UNCOMMITTED",
                IsolationLevel::ReadCommitted => "READ COMMITTED",
                IsolationLevel::RepeatableRead => "REPEATABLE READ",
                IsolationLevel::Snapshot => "SNAPSHOT",
                IsolationLevel::Serializable => "SERIALIZABLE",
            })
        }
        StatementKind::SetIdentityInsert { table, on } => {
            write!(f, "SET IDENTITY_INSERT {table} {}", if *on { "ON" } else { "OFF" })
        }
        StatementKind::DeclareCursor(cursor) => {
            // Words before CURSOR may stand behind it as well.
            write!(f, "DECLARE {} CURSOR {}", cursor.name, cursor.definition)
        }
        StatementKind::OpenCursor(cursor) => write!(f, "OPEN {cursor}"),
        StatementKind::Fetch(fetch) => fetch.fmt(f),
        StatementKind::CloseCursor(cursor) => write!(f, "CLOSE {cursor}"),
        StatementKind::DeallocateCursor(cursor) => write!(f, "DEALLOCATE {cursor}"),
        _ => transactions_and_calls(f, kind),
    }
}

fn transactions_and_calls(f: &mut Formatter<'_>, kind: &StatementKind) -> Result {
    match kind {
        StatementKind::BeginTransaction(begin) => {
            words(f, true, "BEGIN ")?;
            words(f, begin.distributed, "DISTRIBUTED ")?;
            f.write_str("TRANSACTION")?;
            optional(f, " ", &begin.name, "")?;
            match &begin.mark {
                Some(text) => {
                    f.write_str(" WITH MARK")?;
                    optional(f, " ", text, "")
                }
                None => Ok(()),
            }
        }
        StatementKind::Commit(commit) => {
            f.write_str("COMMIT TRANSACTION")?;
            optional(f, " ", &commit.name, "")?;
            match commit.delayed_durability {
                Some(on) => write!(f, " WITH (DELAYED_DURABILITY = {})", if on { "ON" } else { "OFF" }),
                None => Ok(()),
            }
        }
        StatementKind::Rollback(name) => {
            f.write_str("ROLLBACK TRANSACTION")?;
            optional(f, " ", name, "")
        }
        StatementKind::SaveTransaction(name) => write!(f, "SAVE TRANSACTION {name}"),
        StatementKind::Execute(call) => call.fmt(f),
        StatementKind::ExecuteAs(run_as) => {
            write!(f, "EXECUTE AS {}", run_as.kind)?;
            optional(f, " = ", &run_as.name, "")?;
            words(f, run_as.no_revert, " WITH NO REVERT")
        }
        StatementKind::Revert => f.write_str("REVERT"),
        StatementKind::Select(query) => query.fmt(f),
        StatementKind::Insert(insert) => insert.fmt(f),
        StatementKind::Update(update) => update.fmt(f),
        StatementKind::Delete(delete) => delete.fmt(f),
        StatementKind::Merge(merge) => merge.fmt(f),
        StatementKind::Truncate(table) => write!(f, "TRUNCATE TABLE {table}"),
        StatementKind::BulkInsert(bulk) => bulk.fmt(f),
        _ => super::definition::definition(f, kind),
    }
}

impl Display for RaiseError {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "RAISERROR ({}, {}, {}", self.message, self.severity, self.state)?;
        for argument in &self.arguments {
            write!(f, ", {argument}")?;
        }
        f.write_str(")")?;
        let mut before = " WITH ";
        for (wanted, word) in [(self.log, "LOG"), (self.nowait, "NOWAIT"), (self.seterror, "SETERROR")] {
            if wanted {
                write!(f, "{before}{word}")?;
                before = ", ";
            }
        }
        Ok(())
    }
}

impl Display for VariableDeclaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            VariableKind::Value { data_type, initial } => {
                write!(f, "{} {data_type}", self.name)?;
                optional(f, " = ", initial, "")
            }
            VariableKind::Cursor => write!(f, "{} CURSOR", self.name),
        }
    }
}

impl Display for SetOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("SET ")?;
        for (index, name) in self.names.iter().enumerate() {
            match (index, name.strip_prefix("STATISTICS ")) {
                (0, _) => f.write_str(name)?,
                (_, Some(counted)) => write!(f, ", {counted}")?,
                (_, None) => write!(f, ", {name}")?,
            }
        }
        match &self.value {
            OptionSetting::On => f.write_str(" ON"),
            OptionSetting::Off => f.write_str(" OFF"),
            OptionSetting::Value(value) => write!(f, " {value}"),
            OptionSetting::Word(word) => write!(f, " {word}"),
        }
    }
}

impl Display for CursorDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for property in &self.properties {
            write!(f, "{property} ")?;
        }
        write!(f, "FOR {}", self.query)?;
        words(f, self.read_only, " FOR READ ONLY")?;
        match &self.update {
            Some(columns) if columns.is_empty() => f.write_str(" FOR UPDATE"),
            Some(columns) => write!(f, " FOR UPDATE OF {}", Commas(columns)),
            None => Ok(()),
        }
    }
}

impl Display for CursorName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        words(f, self.global, "GLOBAL ")?;
        self.name.fmt(f)
    }
}

impl Display for Fetch {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.direction {
            FetchDirection::Next => f.write_str("FETCH NEXT")?,
            FetchDirection::Prior => f.write_str("FETCH PRIOR")?,
            FetchDirection::First => f.write_str("FETCH FIRST")?,
            FetchDirection::Last => f.write_str("FETCH LAST")?,
            FetchDirection::Absolute(count) => write!(f, "FETCH ABSOLUTE {count}")?,
            FetchDirection::Relative(count) => write!(f, "FETCH RELATIVE {count}")?,
        }
        write!(f, " FROM {}", self.cursor)?;
        if self.into.is_empty() { Ok(()) } else { write!(f, " INTO {}", Commas(&self.into)) }
    }
}

impl Display for TransactionName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TransactionName::Name(name) | TransactionName::Variable(name) => name.fmt(f),
        }
    }
}

impl Display for Execute {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("EXECUTE ")?;
        optional(f, "", &self.status, " = ")?;
        match &self.target {
            ExecuteTarget::Procedure { name, number } => {
                name.fmt(f)?;
                optional(f, ";", number, "")?;
            }
            ExecuteTarget::Variable(name) => name.fmt(f)?,
            ExecuteTarget::Text { text, parameters, run_as, at } => {
                write!(f, "({text}")?;
                for parameter in parameters {
                    write!(f, ", {parameter}")?;
                }
                f.write_str(")")?;
                if let Some((kind, name)) = run_as {
                    write!(f, " AS {kind} = {name}")?;
                }
                optional(f, " AT ", at, "")?;
            }
        }
        if !self.arguments.is_empty() {
            write!(f, " {}", Commas(&self.arguments))?;
        }
        match (&self.result_sets, self.recompile) {
            (None, false) => Ok(()),
            (None, true) => f.write_str(" WITH RECOMPILE"),
            (Some(sets), recompile) => {
                f.write_str(if recompile { " WITH RECOMPILE, RESULT SETS " } else { " WITH RESULT SETS " })?;
                match sets {
                    ResultSets::Undefined => f.write_str("UNDEFINED"),
                    ResultSets::None => f.write_str("NONE"),
                    ResultSets::Sets(sets) => write!(f, "({})", super::query::Rows(sets)),
                }
            }
        }
    }
}

impl Display for ExecuteArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        optional(f, "", &self.name, " = ")?;
        match &self.value {
            Some(value) => value.fmt(f)?,
            None => f.write_str("DEFAULT")?,
        }
        words(f, self.output, " OUTPUT")
    }
}
