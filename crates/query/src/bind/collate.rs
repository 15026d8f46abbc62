//! COLLATE in expressions.
//!
//! Everything is compared by the database's collation, in which case does not matter. Where an expression says that it does,
//! what is compared is the texts' keys, which are bytes: nothing that works on comparisons has to know of it, and no index of the
//! texts is searched for keys.

use super::Binder;
use super::typed::Typed;
use crate::errors;
use crate::expression::{Call, Expr, Fault};
use pikepole_tsql as tree;
use pikepole_types::{COLLATION_KEY, Collation, Length, SqlError, SqlType, Value};

/// Collations of Latin letters: what stands before the marks of case and accents.
const LATIN: [&str; 4] =
    ["SQL_LATIN1_GENERAL_CP1_", "SQL_LATIN1_GENERAL_CP850_", "LATIN1_GENERAL_100_", "LATIN1_GENERAL_"];

/// The collation of a name. What differs from ours in the width of characters or in kana only counts as ours.
///
/// # Errors
/// 448 for what is no collation's name; refused by name is what no comparison here can do.
fn named(name: &tree::Name) -> Result<Collation, Fault> {
    let upper = name.text.to_ascii_uppercase();
    if upper == "DATABASE_DEFAULT" || upper == "CATALOG_DEFAULT" {
        return Ok(Collation::default());
    }
    let marks = ["_CI_AS", "_CS_AS", "_CI_AI", "_CS_AI", "_BIN2", "_BIN"];
    if !marks.iter().any(|mark| upper.contains(mark)) {
        return Err(Box::new(SqlError::invalid_collation(&name.text)));
    }
    let latin = LATIN.iter().find_map(|prefix| upper.strip_prefix(prefix));
    match latin.map(|rest| (rest.starts_with("CI_AS"), rest.starts_with("CS_AS") || rest.starts_with("BIN"))) {
        Some((true, _)) => Ok(Collation::default()),
        Some((_, true)) => Ok(Collation::Binary),
        _ => Err(errors::unsupported(format!("COLLATE {}", name.text))),
    }
}

/// Refuses a collation for what is stored: all texts are stored in the database's own.
///
/// # Errors
/// As of [`named`].
pub(crate) fn check_collation(name: &tree::Name) -> Result<(), Fault> {
    match named(name)? == Collation::default() {
        true => Ok(()),
        false => Err(errors::unsupported(format!("COLLATE {}", name.text))),
    }
}

/// Whether COLLATE says that case matters in the value of an expression.
///
/// # Errors
/// As of [`named`].
pub(super) fn is_exact(expr: &tree::Expr) -> Result<bool, Fault> {
    match &expr.kind {
        tree::ExprKind::Collate(_, name) => Ok(named(name)? == Collation::Binary),
        _ => Ok(false),
    }
}

/// Refuses an expression whose COLLATE would go unheard.
///
/// # Errors
/// As of [`is_exact`].
pub(super) fn refuse_exact(expr: &tree::Expr, place: &str) -> Result<(), Fault> {
    match is_exact(expr)? {
        true => Err(errors::unsupported(format!("A COLLATE with which case matters, in {place}"))),
        false => Ok(()),
    }
}

/// The key of a text by which case matters.
pub(super) fn exact_key(text: Typed) -> Typed {
    let is_constant = text.expr.is_const();
    let call = Call { function: &COLLATION_KEY, arguments: [text.expr].into(), types: [text.ty].into() };
    let key = Typed::new(Expr::Call(Box::new(call)), SqlType::VarBinary(Length::Max), text.nullable);
    if is_constant { key.folded() } else { key }
}

impl Binder<'_> {
    /// `x COLLATE name`: the value is that of `x`.
    pub(super) fn collated(&mut self, inner: &tree::Expr, name: &tree::Name) -> Result<Typed, Fault> {
        named(name)?;
        let typed = self.expr(inner)?;
        if typed.ty.is_string() || typed.ty == SqlType::Null {
            return Ok(typed);
        }
        Err(Box::new(SqlError::collate_of_type(typed.ty.error_name())))
    }

    /// Values that are compared with each other.
    pub(super) fn operands<const N: usize>(&mut self, trees: [&tree::Expr; N]) -> Result<[Typed; N], Fault> {
        let mut bound = std::array::from_fn(|_| Typed::constant(Value::Null, SqlType::Null));
        for (typed, tree) in bound.iter_mut().zip(trees) {
            *typed = self.expr(tree)?;
        }
        comparable(trees, bound)
    }
}

/// Values to be compared with each other: their keys, where COLLATE of one says that case matters and all are texts.
///
/// # Errors
/// As of [`is_exact`].
pub(super) fn comparable<const N: usize>(trees: [&tree::Expr; N], values: [Typed; N]) -> Result<[Typed; N], Fault> {
    let mut exact = false;
    for tree in trees {
        exact |= is_exact(tree)?;
    }
    let are_texts = values.iter().all(|value| value.ty.is_string() || value.ty == SqlType::Null);
    Ok(if exact && are_texts { values.map(exact_key) } else { values })
}
