//! Which plans can run without their session.

use crate::expression::{Expr, Integer, Predicate};
use crate::plan::{More, Node, Sharing, Test};

/// Functions that give another result each time, but read nothing of the session except the statement's clock.
const CLOCKS: [&str; 5] = ["GETDATE", "GETUTCDATE", "SYSDATETIME", "SYSDATETIMEOFFSET", "SYSUTCDATETIME"];

/// Whether workers can evaluate a plan's expressions: none calls the host or draws random numbers. Lists are made before
/// the workers start, so that their expressions may be any.
pub(crate) fn may_run_elsewhere(node: &Node) -> bool {
    match node {
        Node::One | Node::Values { .. } | Node::Series(_) | Node::File(_) | Node::Kept { .. } => true,
        Node::Filter { input, predicate } => predicate.is_portable() && may_run_elsewhere(input),
        Node::Compute { input, assignments } => {
            assignments.iter().all(|(_, value)| value.is_portable()) && may_run_elsewhere(input)
        }
        Node::Join { left, right, on, .. } => {
            let never = on.as_ref().is_some_and(Predicate::is_never);
            let on = on.iter().all(Predicate::is_portable);
            on && may_run_elsewhere(left) && (never || may_run_elsewhere(right))
        }
        Node::Number { input, .. } | Node::Top { input, .. } => may_run_elsewhere(input),
        Node::Concat { inputs, .. } if inputs.iter().all(|(input, _)| matches!(input, Node::One)) => true,
        Node::Concat { inputs, .. } => {
            inputs.iter().all(|(input, values)| values.iter().all(Expr::is_portable) && may_run_elsewhere(input))
        }
        // The snapshot of in-memory tables is the session's alone.
        Node::Scan(scan) if scan.table.engine.is_in_memory() => false,
        Node::Scan(scan) => {
            scan.is_whole() || scan.is_lookup() && scan.range.values().all(|key| key.expr.is_portable())
        }
        // A subquery that reads nothing of the rows outside is evaluated before, too.
        Node::Apply { input, correlated: false, test: Test::Scalar(_), .. } => may_run_elsewhere(input),
        Node::Apply { input, subquery, test: Test::Exists, guards, .. } if guards.is_empty() => {
            may_run_elsewhere(input) && may_run_elsewhere(subquery)
        }
        // The session has them made before, by workers of their own.
        Node::Group { .. } => true,
        // The session makes what is looked into, and what is shared.
        Node::More(more) => match more.as_ref() {
            More::Spool(spool) => spool.keys.iter().all(|key| key.outer.is_portable()),
            More::Common(common) => matches!(common.sharing, Sharing::Shared { .. }),
            _ => false,
        },
        Node::Virtual { .. } | Node::Call { .. } | Node::Apply { .. } | Node::Sort { .. } => false,
    }
}

impl Expr {
    /// Whether a worker can evaluate it.
    pub(crate) fn is_portable(&self) -> bool {
        match self {
            Expr::Const(_) | Expr::Slot(_) | Expr::Global(_) | Expr::Carried => true,
            Expr::Integer(integer, _) | Expr::Whole(integer, _) => integer.is_portable(),
            Expr::Short(short) => short.integer.is_portable(),
            Expr::Arithmetic(arithmetic) => arithmetic.operands.iter().all(Expr::is_portable),
            Expr::Chain(chain) => chain.trees().all(Expr::is_portable),
            Expr::Negate(input) | Expr::Complement(input) => input.is_portable(),
            Expr::Convert(convert) => {
                convert.input.is_portable() && convert.style.as_ref().is_none_or(Expr::is_portable)
            }
            Expr::Assign(assign) => assign.input.is_portable(),
            Expr::Call(call) => {
                let function = call.function;
                let portable = function.deterministic || CLOCKS.contains(&function.name);
                portable && call.arguments.iter().all(Expr::is_portable)
            }
            // Who may see what is known where the statement runs.
            Expr::Host(..) | Expr::Masked(_) => false,
            Expr::Coalesce(choices) => choices.iter().all(Expr::is_portable),
            Expr::Case(case) => {
                let branch = |(condition, value): &(Predicate, Expr)| condition.is_portable() && value.is_portable();
                case.branches.iter().all(branch) && case.otherwise.is_portable()
            }
            Expr::Truth(predicate) => predicate.is_portable(),
            Expr::Xml(method) => method.operands().all(Expr::is_portable),
            Expr::Clr(call) => call.operands().all(Expr::is_portable),
        }
    }
}

impl Integer {
    /// As [`Expr::is_portable`].
    pub(crate) fn is_portable(&self) -> bool {
        match self {
            Integer::Const(_) | Integer::Slot(_) | Integer::Global(_) => true,
            Integer::Binary { operands, .. } => operands.iter().all(Integer::is_portable),
            Integer::Negate(inner, _) | Integer::Complement(inner, _) | Integer::Narrow(inner, _, _) => {
                inner.is_portable()
            }
            Integer::Short(short) => short.0.is_portable(),
            Integer::Other(expr) => expr.is_portable(),
        }
    }
}

impl Predicate {
    /// Whether it holds for no row, whatever is in it.
    pub(crate) fn is_never(&self) -> bool {
        matches!(self, Predicate::Const(truth) if *truth != Some(true))
    }

    /// Whether a worker can evaluate it.
    pub(crate) fn is_portable(&self) -> bool {
        match self {
            Predicate::Const(_) | Predicate::Slot(_) => true,
            Predicate::Integers(_, operands) => operands.iter().all(Integer::is_portable),
            Predicate::Values(_, operands, _) => operands.iter().all(Expr::is_portable),
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().all(Predicate::is_portable),
            Predicate::Not(inner) => inner.is_portable(),
            Predicate::IsNull(expr) | Predicate::LikeConst(expr, _) => expr.is_portable(),
            Predicate::InIntegers(expr, _, _) => expr.is_portable(),
            Predicate::InValues(expr, list, _) => expr.is_portable() && list.iter().all(Expr::is_portable),
            Predicate::Like { operands, escape, .. } => {
                operands.iter().all(Expr::is_portable) && escape.iter().all(|escape| escape.is_portable())
            }
        }
    }
}
