//! CASE and COALESCE whose choice is known now: a text that they give is as long as the choice, not as the longest of all.

use super::condition::known;
use super::typed::Typed;
use crate::expression::{Expr, Predicate};
use pikepole_types::{SqlType, Value};

/// The branch that a CASE takes whatever the row; None: that is not known, or it is NULL by default.
pub(super) fn taken<'a>(branches: &'a [(Predicate, Typed)], otherwise: Option<&'a Typed>) -> Option<&'a Typed> {
    for (condition, value) in branches {
        match known(condition) {
            Some(true) => return Some(value),
            Some(false) => {}
            None if matches!(condition, Predicate::Const(None)) => {}
            None => return None,
        }
    }
    otherwise
}

/// The choice that COALESCE makes whatever the row.
pub(super) fn chosen(choices: &[Typed]) -> Option<&Typed> {
    choices
        .iter()
        .find(|choice| !matches!(choice.expr, Expr::Const(Value::Null)))
        .filter(|choice| matches!(choice.expr, Expr::Const(_)))
}

/// The type of the whole, which is `common` to all choices, once it is known which is taken.
pub(super) fn type_of(common: SqlType, taken: Option<&Typed>) -> SqlType {
    let Some(taken) = taken.filter(|taken| taken.undeclared.is_none()) else { return common };
    match (common, taken.ty) {
        (SqlType::VarChar(_) | SqlType::Char(_), own @ (SqlType::VarChar(_) | SqlType::Char(_)))
        | (SqlType::NVarChar(_) | SqlType::NChar(_), own @ (SqlType::NVarChar(_) | SqlType::NChar(_))) => own,
        (SqlType::NVarChar(_), SqlType::VarChar(length)) => SqlType::NVarChar(length),
        _ => common,
    }
}
