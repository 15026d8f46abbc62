//! The alias type that a value has beside its type: a user's name for it, or `sysname`.
//!
//! In all that is computed, a value of an alias type is one of the type behind it. Only columns keep the name: those of a table that
//! SELECT INTO makes, of a view, a function or a described result. So it is read off the text of a select list, as the name of a
//! decimal is ([`super::decimal_name`]). Choices of one type keep it, as does a function whose result is one of its arguments; every
//! other operation loses it.

use super::Binder;
use super::typed::Typed;
use crate::expression::Expr;
use pikepole_tsql as tree;
use pikepole_types::{SecondName, SqlType};

/// The functions whose result is a value of their first argument.
const OF_ARGUMENT: [&str; 7] = ["FIRST_VALUE", "ISNULL", "LAG", "LAST_VALUE", "LEAD", "MAX", "MIN"];

/// The system functions whose results are documented as `sysname`.
const GIVES_NAMES: [&str; 8] = [
    "COL_NAME",
    "OBJECT_NAME",
    "OBJECT_SCHEMA_NAME",
    "ORIGINAL_LOGIN",
    "PARSENAME",
    "SCHEMA_NAME",
    "TYPE_NAME",
    "USER_NAME",
];

/// The alias type of a value that may be one of two: a NULL without a type is of each.
pub(super) fn meet(
    (one, one_type): (&SqlType, Option<i32>),
    (other, other_type): (&SqlType, Option<i32>),
) -> Option<i32> {
    match (*one == SqlType::Null, *other == SqlType::Null) {
        (true, _) => other_type,
        (false, true) => one_type,
        (false, false) => one_type.filter(|_| one_type == other_type),
    }
}

/// `sysname`, by its number.
fn sysname() -> Option<i32> {
    SecondName::by_name("sysname").map(|second| second.user_type_id)
}

fn of_written(written: &tree::DataType) -> Option<i32> {
    let is_system = written.schema.as_ref().is_none_or(|schema| schema.is("sys"));
    sysname().filter(|_| is_system && written.name.is("sysname"))
}

/// A bare NULL.
fn is_null(item: &tree::Expr) -> bool {
    matches!(item.kind, tree::ExprKind::Literal(tree::Literal::Null))
}

impl Binder<'_> {
    /// The alias type of an item of a select list; the item is bound already.
    pub(super) fn user_type_of(&self, item: &tree::Expr, typed: &Typed) -> Option<i32> {
        match (&item.kind, &typed.expr) {
            (tree::ExprKind::Subquery(_), Expr::Slot(slot)) => self.subquery_types.get(slot).copied(),
            _ => self.user_type(item),
        }
    }

    fn user_type(&self, item: &tree::Expr) -> Option<i32> {
        use tree::ExprKind;
        match &item.kind {
            ExprKind::Column(column) => self.seen_column(column)?.user_type,
            ExprKind::Variable(name) => self.names.variables.iter().find(|variable| name.is(&variable.name))?.user_type,
            ExprKind::Cast(cast) if !cast.parse => of_written(&cast.data_type),
            ExprKind::Convert(convert) => of_written(&convert.data_type),
            ExprKind::Function(call) if call.name.schema.is_none() => {
                if GIVES_NAMES.iter().any(|name| call.name.name.is(name)) {
                    return sysname();
                }
                let of_argument = OF_ARGUMENT.iter().any(|name| call.name.name.is(name));
                self.user_type(call.arguments.first().filter(|_| of_argument)?.expr()?)
            }
            ExprKind::Niladic(tree::Niladic::CurrentUser) => sysname(),
            ExprKind::NullIf(operands) => self.user_type(&operands[0]),
            ExprKind::Iif(iif) => self.user_type_of_choices([&iif.then, &iif.otherwise]),
            ExprKind::Coalesce(choices) => self.user_type_of_choices(choices),
            ExprKind::Case(case) => {
                let results: Vec<&tree::Expr> = match &case.branches {
                    tree::CaseBranches::Simple { branches, .. } => branches.iter().map(|(_, result)| result).collect(),
                    tree::CaseBranches::Searched(branches) => branches.iter().map(|(_, result)| result).collect(),
                };
                self.user_type_of_choices(results.into_iter().chain(&case.otherwise))
            }
            _ => None,
        }
    }

    /// That of what all choices are; a bare NULL among them is of each type.
    fn user_type_of_choices<'t>(&self, choices: impl IntoIterator<Item = &'t tree::Expr>) -> Option<i32> {
        let mut types = choices.into_iter().filter(|choice| !is_null(choice)).map(|choice| self.user_type(choice));
        let first = types.next()??;
        types.all(|other| other == Some(first)).then_some(first)
    }
}
