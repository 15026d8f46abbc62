//! STRING_SPLIT.

use super::Binder;
use super::join::{JoinTree, Leaf};
use super::scope::SourceColumn;
use super::source::rename;
use super::typed::{Typed, convert_to};
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{More, Node, Split};
use pikepole_tsql as tree;
use pikepole_types::{Length, SqlError, SqlType};

impl Binder<'_> {
    /// STRING_SPLIT in FROM: `value`, and `ordinal` when the third argument asks for it.
    pub(super) fn string_split(&mut self, function: &tree::TableFunction, lateral: bool) -> Result<JoinTree, Fault> {
        // Arguments do not see the siblings in FROM; those at the right side of APPLY do.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let arguments = self.split_arguments(&function.call);
        if !lateral {
            self.scope().sources = sources;
        }
        let (text, separator, ordinal) = arguments?;
        let alias = match &function.alias {
            Some(alias) => alias.text.clone(),
            None => function.call.name.name.text.clone(),
        };
        let ty = match text.ty {
            SqlType::Char(length) => SqlType::VarChar(Length::Limit(length)),
            SqlType::NChar(length) => SqlType::NVarChar(Length::Limit(length)),
            ty => ty,
        };
        let mut columns = vec![SourceColumn::new("value", ty, false)];
        if ordinal {
            columns.push(SourceColumn::new("ordinal", SqlType::BigInt, false));
        }
        rename(&mut columns, &function.columns, &alias)?;
        let registers = self.registers(columns.len());
        let split = Split { text: text.expr, separator: separator.expr, registers };
        self.add(alias, None, columns, Leaf::Rows(Node::More(Box::new(More::Split(split)))))
    }

    fn split_arguments(&mut self, call: &tree::FunctionCall) -> Result<(Typed, Typed, bool), Fault> {
        if call.arguments.len() > 3 {
            return Err(Box::new(SqlError::too_many_arguments("STRING_SPLIT")));
        }
        let mark = self.pending.len();
        let mut bound = Vec::with_capacity(3);
        for argument in &call.arguments {
            let expr = argument.expr().ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
            bound.push(self.expr(expr)?);
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        let mut bound = bound.into_iter();
        let (Some(text), Some(separator)) = (bound.next(), bound.next()) else {
            return Err(Box::new(super::source::too_few_arguments("STRING_SPLIT")));
        };
        let ordinal = match bound.next() {
            None => false,
            Some(Typed { expr: Expr::Const(value), .. }) => match value.as_i64() {
                None => false,
                Some(0) => false,
                Some(1) => true,
                Some(other) => {
                    return Err(Box::new(SqlError::argument_value_invalid(other, 3, "STRING_SPLIT")));
                }
            },
            Some(_) => return Err(Box::new(SqlError::split_ordinal_not_constant())),
        };
        Ok((as_text(text, 1)?, as_text(separator, 2)?, ordinal))
    }
}

fn as_text(typed: Typed, position: usize) -> Result<Typed, Fault> {
    match typed.ty {
        SqlType::Null => convert_to(typed, &SqlType::NVarChar(Length::Limit(1))),
        ty if ty.is_string() => Ok(typed),
        ty if position == 1 => {
            Err(Box::new(SqlError::argument_type_invalid(ty.error_name(), position, "string_split")))
        }
        _ => Err(errors::unsupported("A separator that is no text")),
    }
}
