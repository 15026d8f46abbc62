//! Which of its two names a decimal goes by.
//!
//! `numeric` and `decimal` are one type in all that is computed, and two in what clients see: in the type that a column travels as and
//! in the catalog. A column, a variable and a conversion have the name that was written; a constant is `numeric`; an operation has the
//! name of its operands, and `numeric` where these differ. Only who shows a column asks, so the name is read off the text and is no part
//! of types.

use super::Binder;
use super::typed::Typed;
use crate::output::DecimalName;
use pikepole_engine::Column;
use pikepole_tsql as tree;
use pikepole_types::{SecondName, SqlType};

/// The functions whose result is of their first argument's type.
const OF_ARGUMENT: &[&str] = &[
    "ABS",
    "AVG",
    "CEILING",
    "FIRST_VALUE",
    "FLOOR",
    "ISNULL",
    "LAG",
    "LAST_VALUE",
    "LEAD",
    "MAX",
    "MIN",
    "POWER",
    "ROUND",
    "SIGN",
    "SUM",
];

impl DecimalName {
    /// The name of a type that was written.
    pub(crate) fn written(second: Option<&SecondName>) -> DecimalName {
        if second.is_some() { DecimalName::Numeric } else { DecimalName::Decimal }
    }

    /// That of what two values become together.
    fn meet(self, other: DecimalName) -> DecimalName {
        if self == other { self } else { DecimalName::Numeric }
    }

    /// The name of a table's column: for a computed one nobody has written any.
    pub(crate) fn of_column(column: &Column) -> DecimalName {
        if column.computed.is_some() { DecimalName::default() } else { DecimalName::written(column.second_name()) }
    }
}

/// As [`DecimalName::meet`], where a value may be no decimal.
pub(super) fn meet(one: Option<DecimalName>, other: Option<DecimalName>) -> Option<DecimalName> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.meet(other)),
        (one, other) => one.or(other),
    }
}

fn of_written(written: &tree::DataType) -> Option<DecimalName> {
    let name = &written.name;
    if name.is("decimal") || name.is("dec") {
        Some(DecimalName::Decimal)
    } else {
        name.is("numeric").then_some(DecimalName::Numeric)
    }
}

fn of_type(ty: SqlType, name: DecimalName) -> Option<DecimalName> {
    matches!(ty, SqlType::Decimal { .. }).then_some(name)
}

impl Binder<'_> {
    /// A variable that nothing declares goes by the name of what it stands beside.
    pub(super) fn want_name(&self, value: &Typed, beside: &tree::Expr) {
        if let (Some(wanted), Some(name)) = (&value.undeclared, self.decimal_name(beside)) {
            wanted.by_name(name);
        }
    }

    /// The name of a decimal that an item of a select list shows; the item is bound already.
    pub(crate) fn decimal_name_of(&self, item: &tree::Expr, ty: SqlType) -> DecimalName {
        match ty {
            SqlType::Decimal { .. } => self.decimal_name(item).unwrap_or_default(),
            _ => DecimalName::default(),
        }
    }

    /// The name of an expression's type; none for what is no decimal, or comes from where nothing was written.
    fn decimal_name(&self, item: &tree::Expr) -> Option<DecimalName> {
        use tree::ExprKind;
        let all = |items: &[&tree::Expr]| items.iter().fold(None, |name, item| meet(name, self.decimal_name(item)));
        match &item.kind {
            ExprKind::Literal(tree::Literal::Decimal(_)) => Some(DecimalName::Numeric),
            ExprKind::Column(column) => self.seen_column(column).and_then(|seen| of_type(seen.ty, seen.decimal_name)),
            ExprKind::Variable(name) => {
                let variable = self.names.variables.iter().find(|variable| name.is(&variable.name))?;
                of_type(variable.ty, variable.decimal_name)
            }
            ExprKind::Cast(cast) => of_written(&cast.data_type),
            ExprKind::Convert(convert) => of_written(&convert.data_type),
            ExprKind::Unary(_, operand) => self.decimal_name(operand),
            ExprKind::Chain(chain) => chain.operands().fold(None, |name, item| meet(name, self.decimal_name(item))),
            ExprKind::Function(call) if OF_ARGUMENT.iter().any(|name| call.name.name.is(name)) => {
                self.decimal_name(call.arguments.first()?.expr()?)
            }
            ExprKind::Iif(iif) => all(&[&iif.then, &iif.otherwise]),
            ExprKind::NullIf(operands) => self.decimal_name(&operands[0]),
            ExprKind::Coalesce(choices) => all(&choices.iter().collect::<Vec<_>>()),
            ExprKind::Case(case) => {
                let results: Vec<&tree::Expr> = match &case.branches {
                    tree::CaseBranches::Simple { branches, .. } => branches.iter().map(|(_, result)| result).collect(),
                    tree::CaseBranches::Searched(branches) => branches.iter().map(|(_, result)| result).collect(),
                };
                let otherwise = case.otherwise.as_ref().and_then(|otherwise| self.decimal_name(otherwise));
                meet(all(&results), otherwise)
            }
            _ => None,
        }
    }
}
