//! ALTER DATABASE ... MODIFY NAME, and ALTER DATABASE SCOPED CONFIGURATION.

use std::sync::Arc;

use super::Definer;
use super::define::is_of_the_server;
use crate::context::ExecutionContext;
use crate::expression::Fault;
use pikepole_engine::{DatabaseOption, MASTER, Permission, ScopedKind, ScopedName, ScopedValue, Securable};
use pikepole_tsql::{ExprKind, Literal, SettingValue, UnaryOp};
use pikepole_types::SqlError;

impl ExecutionContext {
    /// Whether the session has a permission on a database, or may alter every one.
    pub fn has_on_database(&self, permission: Permission, name: &str) -> bool {
        if self.token().has(Permission::AlterAnyDatabase, Securable::Server) {
            return true;
        }
        let database = self.server().database(name).ok();
        let token = database.and_then(|database| self.token_in(&database));
        token.is_some_and(|token| token.has(permission, Securable::Database))
    }

    /// Gives a database another name. A session that is in it is in it afterwards.
    ///
    /// # Errors
    /// 911 when there is none; 5016 for one of the system's; 1801 when the name is taken; 5030 when other sessions use it.
    pub async fn rename_database(&mut self, name: &str, new: &str) -> Result<Vec<SqlError>, Fault> {
        let server = Arc::clone(self.server());
        server.check_rename(name, new)?;
        let is_own = server.database(name)?.id() == self.database().id();
        if is_own {
            self.use_database(MASTER)?;
        }
        let renamed = server.rename_database(name, new).await;
        if is_own {
            self.use_database(if renamed.is_ok() { new } else { name })?;
        }
        renamed?;
        let mut messages = vec![SqlError::database_name_set(new)];
        if is_own {
            messages.push(SqlError::changed_database(new));
        }
        Ok(messages)
    }
}

impl Definer<'_> {
    /// MODIFY NAME; `name` is none for CURRENT.
    pub(super) async fn modify_name(&mut self, name: Option<&str>, new: &str) -> Result<(), Fault> {
        let current = self.context.database().name().to_owned();
        if name.is_none() && is_of_the_server(&current) {
            return Err(Box::new(SqlError::current_is_system_database(current)));
        }
        let messages = self.context.rename_database(name.unwrap_or(&current), new).await?;
        for message in messages {
            self.output.message(&message.at_line(self.line()));
        }
        Ok(())
    }

    /// SCOPED CONFIGURATION of the current database; without a value, CLEAR PROCEDURE_CACHE.
    pub(super) fn set_scoped(
        &mut self,
        name: &str,
        secondary: bool,
        value: Option<&SettingValue>,
    ) -> Result<(), Fault> {
        let server = Arc::clone(self.context.server());
        let database = self.context.database().name();
        let Some(value) = value else { return Ok(server.clear_procedure_cache(database)?) };
        let wanted = ScopedName::of(name).ok_or_else(|| SqlError::incorrect_syntax(name))?;
        let value = scoped_value(wanted.kind(), value)?;
        Ok(server.set_database_option(database, DatabaseOption::Scoped(wanted, secondary, value))?)
    }
}

/// A value as the kind of its configuration takes it.
fn scoped_value(kind: ScopedKind, value: &SettingValue) -> Result<ScopedValue, Fault> {
    let place = |words: &[&str], word: &str| words.iter().position(|own| *own == word);
    let number = match (kind, value) {
        (ScopedKind::Switch | ScopedKind::Number(_), SettingValue::Word(word)) if word == "PRIMARY" => {
            return Ok(ScopedValue::Primary);
        }
        (ScopedKind::Switch, SettingValue::On) => Some(1),
        (ScopedKind::Switch, SettingValue::Off) => Some(0),
        (ScopedKind::Word(words), SettingValue::Off) => place(words, "OFF").map(|place| place as i64),
        (ScopedKind::Word(words), SettingValue::Word(word)) => place(words, word).map(|place| place as i64),
        (ScopedKind::Number(_), SettingValue::Expr(expr)) => {
            let (sign, expr) = match &expr.kind {
                ExprKind::Unary(UnaryOp::Minus, operand) => (-1, operand.as_ref()),
                _ => (1, expr),
            };
            match expr.literal() {
                Some(Literal::Int(number)) => Some(sign * i64::from(*number)),
                _ => None,
            }
        }
        _ => None,
    };
    let wrong = || match value {
        SettingValue::On => SqlError::incorrect_syntax_keyword("ON"),
        value => SqlError::incorrect_syntax(value.to_string()),
    };
    Ok(ScopedValue::Of(number.ok_or_else(wrong)?))
}
