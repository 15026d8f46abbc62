//! Which columns of a result are never NULL, as clients, views and SELECT ... INTO are told of them.
//!
//! It is less than what can be known: a column, a constant or ISNULL stays what it is, and most other expressions count as ones that
//! can be NULL whatever they are made of (a conversion or an addition fails, or is NULL, where options say so).

use super::function::NEVER_NULL;
use pikepole_tsql::{BinaryOp, CaseBranches, Expr, ExprKind, UnaryOp};
use pikepole_types::SqlType;

/// Whether an expression of a type says that it is not NULL: texts joined are not where none of them is.
pub(crate) fn is_certain_of(expr: &Expr, ty: &SqlType) -> bool {
    match &expr.kind {
        ExprKind::Chain(chain) if ty.is_string() && chain.rest.iter().all(|link| joins(link.op)) => {
            chain.operands().all(|operand| is_certain_of(operand, ty))
        }
        _ => is_certain(expr),
    }
}

fn joins(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Concat)
}

/// Whether an expression itself says that it is not NULL if what it is made of is not.
pub(crate) fn is_certain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Column(_) | ExprKind::Literal(_) | ExprKind::Global(_) | ExprKind::Niladic(_) => true,
        // A number with its sign.
        ExprKind::Unary(UnaryOp::Minus | UnaryOp::Plus, of) => matches!(of.kind, ExprKind::Literal(_)),
        ExprKind::Collate(of, _) => is_certain(of),
        ExprKind::Function(call) => {
            let is_count = call.name.name.is("COUNT") || call.name.name.is("COUNT_BIG");
            let names = ["ISNULL", "ROW_NUMBER", "RANK", "DENSE_RANK"];
            let is_named = || names.iter().chain(&NEVER_NULL).any(|name| call.name.name.is(name));
            !is_count && (call.arguments.is_empty() || is_named())
        }
        ExprKind::Case(case) => {
            let results = match &case.branches {
                CaseBranches::Simple { branches, .. } => branches.iter().all(|(_, result)| is_certain(result)),
                CaseBranches::Searched(branches) => branches.iter().all(|(_, result)| is_certain(result)),
            };
            results && case.otherwise.as_ref().is_some_and(is_certain)
        }
        ExprKind::Iif(iif) => is_certain(&iif.then) && is_certain(&iif.otherwise),
        _ => false,
    }
}
