//! Prepared statements: a text whose plan its connection keeps.
//!
//! ```text
//!   Statement { id } ── run ──► the session's task: Kept { text, declarations } by id ──► call(program)
//!           └─ dropped ───────► forgotten with the next request
//! ```
//!
//! A batch's text is hashed, compared and found in the cache of plans each time it runs. A statement's program is found by its number, so
//! neither its text nor its declarations are looked at again, as long as the definitions that it was compiled against stand.

use crate::mailbox::Mailbox;
use crate::parameter::GivenParameter;
use pikepole_session::{Argument, Output, Prepared, Session};
use pikepole_types::{Length, PRECISION_MAX, SqlError, SqlType, Value};
use std::sync::Arc;

/// A prepared statement of a connection; see [`Connection::prepare`](crate::Connection::prepare). The connection forgets it when it is
/// dropped.
pub struct Statement {
    mailbox: Arc<Mailbox>,
    prepared: PreparedText,
}

/// What a request carries of a statement.
#[derive(Debug, Clone)]
pub(crate) struct PreparedText {
    pub(crate) id: u64,
    pub(crate) sql: Arc<str>,
    /// The declarations of its parameters; `None`: as their values are.
    pub(crate) declarations: Option<Arc<str>>,
}

impl Statement {
    pub(crate) fn new(mailbox: Arc<Mailbox>, prepared: PreparedText) -> Statement {
        Statement { mailbox, prepared }
    }

    /// Its text.
    pub fn sql(&self) -> &str {
        &self.prepared.sql
    }

    /// What a request of this connection carries of it; `None` for another's.
    pub(crate) fn of(&self, mailbox: &Arc<Mailbox>) -> Option<PreparedText> {
        Arc::ptr_eq(&self.mailbox, mailbox).then(|| self.prepared.clone())
    }
}

impl std::fmt::Debug for Statement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statement").field("sql", &self.sql()).finish_non_exhaustive()
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        self.mailbox.forget(self.prepared.id);
    }
}

/// A text or a statement, as [`ToStatement`] gives it.
#[derive(Debug, Clone, Copy)]
pub enum Text<'a> {
    /// T-SQL.
    Sql(&'a str),
    /// What was prepared of it.
    Prepared(&'a Statement),
}

/// What can be run: a text, or a [`Statement`] of the same connection.
pub trait ToStatement {
    /// Which of both it is.
    fn text(&self) -> Text<'_>;
}

impl<T: AsRef<str> + ?Sized> ToStatement for &T {
    fn text(&self) -> Text<'_> {
        Text::Sql((*self).as_ref())
    }
}

impl ToStatement for &Statement {
    fn text(&self) -> Text<'_> {
        Text::Prepared(self)
    }
}

/// A statement at the session.
pub(crate) struct KeptStatement {
    prepared: Prepared,
    /// The parameters that it is compiled with; those of given declarations stay as they are.
    declared: Vec<Declared>,
    is_typed: bool,
}

struct Declared {
    name: String,
    ty: SqlType,
    output: bool,
}

impl KeptStatement {
    /// A statement that the caller declares the parameters of, compiled.
    ///
    /// # Errors
    /// Those of compiling, in their order.
    pub(crate) fn typed(sql: &str, declarations: &str, session: &mut Session) -> Result<KeptStatement, Vec<SqlError>> {
        let mut prepared = Prepared::new(sql.to_owned(), declarations.to_owned());
        let parameters = session.parameters_of(&mut prepared)?;
        let declared = parameters.into_iter().map(|(name, ty, output)| Declared { name, ty, output }).collect();
        Ok(KeptStatement { prepared, declared, is_typed: true })
    }

    /// A statement whose parameters are declared as their values are.
    pub(crate) fn untyped(sql: &str, given: &[GivenParameter]) -> KeptStatement {
        let declare = |given: &GivenParameter| Declared { name: given.name.clone(), ty: given.ty, output: true };
        let declared: Vec<Declared> = given.iter().map(declare).collect();
        KeptStatement { prepared: Prepared::new(sql.to_owned(), declarations(&declared)), declared, is_typed: false }
    }

    /// Runs it; the parameters as it has left them.
    pub(crate) async fn run(
        &mut self,
        given: Vec<GivenParameter>,
        session: &mut Session,
        output: &mut dyn Output,
    ) -> Vec<(String, Value)> {
        if !self.is_typed {
            self.adapt(&given);
        }
        let argument = |(place, given): (usize, &GivenParameter)| {
            let declared = match given.is_named {
                true => self.declared.iter().find(|declared| declared.name.eq_ignore_ascii_case(&given.name)),
                false => self.declared.get(place),
            };
            Argument {
                name: (given.is_named || !self.is_typed).then(|| given.name.clone()),
                value: given.value.clone(),
                ty: given.ty,
                output: declared.is_some_and(|declared| declared.output),
                table: None,
            }
        };
        let mut arguments: Vec<Argument> = given.iter().enumerate().map(argument).collect();
        // What went wrong has gone to the output.
        let _ = session.call(&mut self.prepared, &mut arguments, output).await;
        given.into_iter().zip(arguments).map(|(given, argument)| (given.name, argument.value)).collect()
    }

    /// Declares the parameters again when these do not fit: each as wide as both its type and its new value need.
    fn adapt(&mut self, given: &[GivenParameter]) {
        let is_same = |(declared, given): (&Declared, &GivenParameter)| declared.name == given.name;
        if self.declared.len() != given.len() || !self.declared.iter().zip(given).all(is_same) {
            *self = KeptStatement::untyped(self.prepared.text(), given);
            return;
        }
        let mut is_changed = false;
        for (declared, given) in self.declared.iter_mut().zip(given).filter(|(_, given)| !given.value.is_null()) {
            let ty = wider(declared.ty, given.ty);
            is_changed |= ty != declared.ty;
            declared.ty = ty;
        }
        if is_changed {
            self.prepared = Prepared::new(self.prepared.text().to_owned(), declarations(&self.declared));
        }
    }
}

/// Parameters as `sp_executesql` declares them.
fn declarations(declared: &[Declared]) -> String {
    let declare = |declared: &Declared| format!("{} {} OUTPUT", declared.name, declared.ty);
    declared.iter().map(declare).collect::<Vec<_>>().join(", ")
}

/// A type that values of both have; of two kinds, the second.
fn wider(declared: SqlType, given: SqlType) -> SqlType {
    use SqlType::{BigInt, Decimal, Int, NVarChar, SmallInt, TinyInt, VarBinary};
    let rank = |ty: SqlType| [TinyInt, SmallInt, Int, BigInt].iter().position(|integer| *integer == ty);
    match (declared, given) {
        (NVarChar(Length::Max), NVarChar(_)) | (VarBinary(Length::Max), VarBinary(_)) => declared,
        (Decimal { precision: p1, scale: s1 }, Decimal { precision: p2, scale: s2 }) => {
            let scale = s1.max(s2);
            let precision = (p1 - s1).max(p2 - s2) + scale;
            if precision <= PRECISION_MAX { Decimal { precision, scale } } else { given }
        }
        _ if rank(declared) > rank(given) && rank(given).is_some() => declared,
        _ => given,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_is_declared_as_wide_as_its_values_need() {
        let decimal = |precision, scale| SqlType::Decimal { precision, scale };
        assert_eq!(wider(SqlType::Int, SqlType::BigInt), SqlType::BigInt);
        assert_eq!(wider(SqlType::BigInt, SqlType::TinyInt), SqlType::BigInt);
        assert_eq!(wider(SqlType::Int, SqlType::Float), SqlType::Float);
        assert_eq!(wider(SqlType::BigInt, SqlType::Float), SqlType::Float);
        assert_eq!(wider(decimal(4, 2), decimal(5, 1)), decimal(6, 2));
        assert_eq!(wider(decimal(38, 0), decimal(5, 1)), decimal(5, 1));
        let text = SqlType::NVarChar(Length::Limit(4000));
        assert_eq!(wider(SqlType::NVarChar(Length::Max), text), SqlType::NVarChar(Length::Max));
        assert_eq!(wider(text, SqlType::NVarChar(Length::Max)), SqlType::NVarChar(Length::Max));
    }
}
