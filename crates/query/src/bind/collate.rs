//! COLLATE, and the collations that comparisons are made by. What decides which one that is: [`Collated`].

use super::Binder;
use super::typed::Typed;
use crate::errors;
use crate::expression::{Comparison, Expr, Fault};
use crate::output::ColumnInfo;
use crate::plan::{Registers, SortKey};
use pikepole_tsql as tree;
use pikepole_types::{Collated, Collation, SqlError, SqlType};

/// The collation of a name.
///
/// # Errors
/// 448 for what is no collation's name; refused by name is one that there is elsewhere.
fn named(name: &tree::Name) -> Result<Collation, Fault> {
    if ["DATABASE_DEFAULT", "CATALOG_DEFAULT"].iter().any(|own| name.is(own)) {
        return Ok(Collation::default());
    }
    if let Some(collation) = Collation::by_name(&name.text) {
        return Ok(collation);
    }
    let upper = name.text.to_ascii_uppercase();
    let marks = ["_CI_A", "_CS_A", "_BIN"];
    let is_own = upper.starts_with("LATIN1_GENERAL_") || upper.starts_with("SQL_LATIN1_GENERAL_CP1_");
    Err(match marks.iter().any(|mark| upper.contains(mark)) && !is_own {
        true => errors::unsupported(format!("COLLATE {}", name.text)),
        false => Box::new(SqlError::invalid_collation(&name.text)),
    })
}

/// The collation of a name, for texts of a type.
///
/// # Errors
/// As of [`named`]. `char` and `varchar` are kept as code page 1252: a collation of UTF-8 is refused for them.
fn named_for(name: &tree::Name, ty: &SqlType) -> Result<Collation, Fault> {
    let collation = named(name)?;
    if collation.is_utf8() && !ty.is_unicode() && *ty != SqlType::Null {
        return Err(errors::unsupported(format!("COLLATE {} of {}", name.text, ty.name())));
    }
    Ok(collation)
}

/// Refuses a collation for a database: all of them have the default one.
///
/// # Errors
/// As of [`named`].
pub(crate) fn check_collation(name: &tree::Name) -> Result<(), Fault> {
    match named(name)? == Collation::default() {
        true => Ok(()),
        false => Err(errors::unsupported(format!("COLLATE {} of a database", name.text))),
    }
}

/// The collation of a column.
///
/// # Errors
/// As of [`named_for`]; 447 for a column that holds no texts.
pub(crate) fn column_collation(definition: &tree::ColumnDefinition, ty: &SqlType) -> Result<Collation, Fault> {
    match &definition.collation {
        None => Ok(Collation::default()),
        Some(_) if !ty.is_string() => Err(Box::new(SqlError::collate_of_type(ty.error_name()))),
        Some(name) => named_for(name, ty),
    }
}

/// The collation that a list's column is grouped or ordered by; `place` counts from one.
///
/// # Errors
/// 451 when the column's parts do not agree.
pub(crate) fn in_column(collated: Collated, statement: &str, place: usize) -> Result<Collation, Fault> {
    match collated {
        Collated::Conflict { left, right, operator } => {
            let (left, right) = (left.name(), right.name());
            Err(Box::new(SqlError::collation_conflict_in_column(right, left, operator, statement, place)))
        }
        agreed => Ok(agreed.shown()),
    }
}

/// A key to order by, the `place`th.
///
/// # Errors
/// 305 for a value of xml, 451 for a text whose parts' collations do not agree.
pub(super) fn order_key(typed: Typed, descending: bool, place: usize) -> Result<SortKey, Fault> {
    comparable(&typed.ty, "ORDER BY")?;
    let collation = in_column(typed.collated, "ORDER BY", place)?;
    Ok(SortKey { expr: typed.expr, descending, collation })
}

/// What tells rows apart, and where each of their values goes.
pub(super) fn distinct_keys(values: Vec<Expr>, columns: &[ColumnInfo], registers: Registers) -> Vec<(SortKey, usize)> {
    let key = |((expr, column), slot): ((Expr, &ColumnInfo), usize)| {
        (SortKey { collation: column.collated.shown(), ..SortKey::plain(expr) }, slot)
    };
    values.into_iter().zip(columns).zip(registers.range()).map(key).collect()
}

/// What errors call a comparison.
fn operation(op: Comparison) -> &'static str {
    match op {
        Comparison::Equal => "equal to",
        Comparison::NotEqual => "not equal to",
        Comparison::Less => "less than",
        Comparison::LessOrEqual => "less than or equal to",
        Comparison::Greater => "greater than",
        Comparison::GreaterOrEqual => "greater than or equal to",
    }
}

/// The collation by which two values are compared that meet at a type.
///
/// # Errors
/// 446 and 468 when they do not agree; 305 and 402 for values of xml.
pub(super) fn compared(op: Comparison, left: &Typed, right: &Typed, ty: &SqlType) -> Result<Collation, Fault> {
    if let SqlType::Clr(of) = ty
        && !ty.is_comparable()
    {
        return Err(Box::new(SqlError::invalid_operator(operation(op), of.name())));
    }
    if *ty == SqlType::Xml {
        let is_xml = |ty: &SqlType| matches!(ty, SqlType::Xml | SqlType::Null);
        if is_xml(&left.ty) && is_xml(&right.ty) {
            return Err(Box::new(SqlError::xml_not_comparable()));
        }
        let (left, right) = (left.ty.error_name(), right.ty.error_name());
        return Err(Box::new(SqlError::types_incompatible(left, right, operation(op))));
    }
    if !ty.is_string() {
        return Ok(Collation::default());
    }
    Ok(left.collated.compared(right.collated, operation(op))?)
}

/// Refuses values that are not compared where a clause compares them.
///
/// # Errors
/// 305 for values of xml, 249 for shapes.
pub(super) fn comparable(ty: &SqlType, clause: &str) -> Result<(), Fault> {
    match ty {
        SqlType::Xml => Err(Box::new(SqlError::xml_not_comparable())),
        _ if !ty.is_comparable() => Err(Box::new(SqlError::not_comparable(ty.name(), clause))),
        _ => Ok(()),
    }
}

/// What the value of an operator or function has that is made of texts.
///
/// # Errors
/// 468 when COLLATE says different things.
pub(super) fn met<'t>(parts: impl IntoIterator<Item = &'t Typed>, operator: &'static str) -> Result<Collated, Fault> {
    let mut met = Collated::Default;
    for part in parts {
        met = met.meet(part.collated, operator)?;
    }
    Ok(met)
}

/// Functions that compare texts, and what errors call what they do.
const COMPARING: [(&str, &str); 7] = [
    ("CHARINDEX", "charindex"),
    ("GREATEST", "greatest"),
    ("LEAST", "least"),
    ("NULLIF", "equal to"),
    ("PATINDEX", "patindex"),
    ("REPLACE", "replace"),
    ("TRANSLATE", "translate"),
];

/// What the result of a function has, and the collation that the function works by.
///
/// # Errors
/// 446 and 468 when a function that compares its arguments has some that do not agree.
pub(super) fn of_call(function: &'static str, arguments: &[Typed]) -> Result<(Collated, Collation), Fault> {
    let Some((_, operation)) = COMPARING.iter().find(|(name, _)| *name == function) else {
        let met = met(arguments, function)?;
        return Ok(match met {
            // A digest of texts that each compare in their own way is the same for all that are equal.
            Collated::Conflict { .. } => (met, Collation::COARSEST),
            agreed => (agreed, agreed.shown()),
        });
    };
    let mut collated = Collated::Default;
    let mut collation = Collation::default();
    for argument in arguments.iter().filter(|argument| argument.ty.is_string()) {
        collation = collated.compared(argument.collated, operation)?;
        collated = collated.meet(argument.collated, operation)?;
    }
    Ok((collated, collation))
}

impl Binder<'_> {
    /// `x COLLATE name`: the value is that of `x`.
    pub(super) fn collated(&mut self, inner: &tree::Expr, name: &tree::Name) -> Result<Typed, Fault> {
        named(name)?;
        let typed = self.expr(inner)?;
        if !typed.ty.is_string() && typed.ty != SqlType::Null {
            return Err(Box::new(SqlError::collate_of_type(typed.ty.error_name())));
        }
        let collation = named_for(name, &typed.ty)?;
        Ok(typed.collated(Collated::Explicit(collation)))
    }

    /// Values that are compared with each other.
    pub(super) fn operands<const N: usize>(&mut self, trees: [&tree::Expr; N]) -> Result<[Typed; N], Fault> {
        let mut bound = std::array::from_fn(|_| Typed::constant(pikepole_types::Value::Null, SqlType::Null));
        for (typed, tree) in bound.iter_mut().zip(trees) {
            *typed = self.expr(tree)?;
        }
        Ok(bound)
    }
}
