//! BACKUP, RESTORE, DBCC, SET DATEFIRST, DATEFORMAT, CONTEXT_INFO and their like with variables: the host reads the tree as parsed, so their values are put in their places first.

use pikepole_tsql::{
    Backup, Dbcc, DbccArgument, Expr, ExprKind, Literal, OptionSetting, SetOption, SettingOption, SettingValue,
    Statement, StatementKind,
};
use pikepole_types::{Length, SqlType, Value, to_text};

use super::Machine;
use crate::state::Global;

/// What CONTEXT_INFO can be set to.
const CONTEXT_INFO: SqlType = SqlType::VarBinary(Length::Limit(128));

impl Machine<'_> {
    /// The statement with values in the place of variables; None when it has none that are known.
    pub(super) fn with_values(&self, statement: &Statement) -> Option<Statement> {
        if let StatementKind::SetOption(option) = &statement.kind {
            let option = self.with_value(option)?;
            return Some(Statement { kind: StatementKind::SetOption(option), span: statement.span });
        }
        if let StatementKind::Dbcc(command) = &statement.kind {
            let command = Box::new(self.with_arguments(command));
            return Some(Statement { kind: StatementKind::Dbcc(command), span: statement.span });
        }
        let (StatementKind::Backup(backup) | StatementKind::Restore(backup)) = &statement.kind else { return None };
        let mut filled: Backup = (**backup).clone();
        let mut changed = false;
        if let Some(name) = &mut filled.database
            && let Some(Value::Str(text)) = self.variable(&name.text).map(|(value, _)| value)
        {
            name.text = text;
            changed = true;
        }
        for option in filled.devices.iter_mut().chain(&mut filled.options) {
            changed |= self.fill(option);
        }
        let mut statement = statement.clone();
        match &mut statement.kind {
            StatementKind::Backup(place) | StatementKind::Restore(place) => **place = filled,
            _ => {}
        }
        changed.then_some(statement)
    }

    /// SET DATEFIRST, DATEFORMAT, LANGUAGE, CONTEXT_INFO, DEADLOCK_PRIORITY or TEXTSIZE with the value of its variable.
    fn with_value(&self, option: &SetOption) -> Option<SetOption> {
        let OptionSetting::Value(Expr { kind: ExprKind::Variable(name), span }) = &option.value else { return None };
        let (value, ty) = self.variable(&name.text)?;
        let literal = match option.names.first()?.as_str() {
            "DATEFIRST" | "TEXTSIZE" => Literal::Int(i32::try_from(value.as_i64()?).ok()?),
            "DATEFORMAT" | "LANGUAGE" => Literal::String { value: value.as_str()?.to_owned(), national: true },
            "DEADLOCK_PRIORITY" => match value.as_i64() {
                Some(number) => Literal::Int(i32::try_from(number).ok()?),
                None => Literal::String { value: value.as_str()?.to_owned(), national: true },
            },
            "CONTEXT_INFO" => match pikepole_types::convert(&value, &ty, &CONTEXT_INFO, None).ok()? {
                Value::Bin(bytes) => Literal::Binary(bytes),
                _ => return None,
            },
            _ => return None,
        };
        let value = Expr::new(ExprKind::Literal(literal), *span);
        Some(SetOption { names: option.names.clone(), value: OptionSetting::Value(value) })
    }

    /// DBCC with the values of the variables among its arguments; NULL is left as it is written, which no command takes.
    fn with_arguments(&self, command: &Dbcc) -> Dbcc {
        let mut filled = command.clone();
        for argument in &mut filled.arguments {
            let DbccArgument::Expr(expr) = argument else { continue };
            let value = match &expr.kind {
                ExprKind::Variable(name) => self.variable(&name.text).map(|(value, _)| value),
                ExprKind::Global(name) => self.global(&name.text),
                _ => continue,
            };
            let literal = match value {
                Some(Value::Str(text)) => Some(Literal::String { value: text, national: true }),
                Some(value) => value.as_i64().and_then(|number| i32::try_from(number).ok()).map(Literal::Int),
                None => None,
            };
            if let Some(literal) = literal {
                expr.kind = ExprKind::Literal(literal);
            }
        }
        filled
    }

    /// The value of `@@name`.
    fn global(&self, name: &str) -> Option<Value> {
        if let Some(global) = Global::variable(name) {
            return Some(global.value(&self.context.state));
        }
        let function = self.host.function(name)?;
        self.host.call_function(function.id, &[], self.context).ok()
    }

    fn variable(&self, name: &str) -> Option<(Value, SqlType)> {
        let variables = &self.frame.program.variables;
        let slot = variables.iter().position(|variable| variable.name.eq_ignore_ascii_case(name))?;
        Some((self.frame.slots[slot].clone(), variables[slot].ty))
    }

    fn fill(&self, option: &mut SettingOption) -> bool {
        let Some(SettingValue::Expr(Expr { kind, .. })) = &mut option.value else { return false };
        let ExprKind::Variable(name) = kind else { return false };
        let literal = match self.variable(&name.text) {
            Some((Value::Int(number), _)) => Literal::Int(number),
            Some((Value::Null, _)) | None => return false,
            Some((value, ty)) => Literal::String { value: to_text(&value, &ty), national: true },
        };
        *kind = ExprKind::Literal(literal);
        true
    }
}
