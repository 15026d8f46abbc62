//! Which slots an expression reads.

use super::{Expr, Integer, Predicate};

impl Expr {
    /// Calls `visit` with every slot the expression reads.
    pub fn visit_slots(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Expr::Const(_) | Expr::Global(_) => {}
            Expr::Slot(slot) => visit(*slot),
            Expr::Integer(integer, _) | Expr::Whole(integer, _) => integer.visit_slots(visit),
            Expr::Short(short) => short.integer.visit_slots(visit),
            Expr::Arithmetic(arithmetic) => {
                arithmetic.operands.iter().for_each(|expr| expr.visit_slots(visit));
            }
            Expr::Negate(input) | Expr::Complement(input) => input.visit_slots(visit),
            Expr::Convert(convert) => {
                convert.input.visit_slots(visit);
                if let Some(style) = &convert.style {
                    style.visit_slots(visit);
                }
            }
            Expr::Assign(assign) => assign.input.visit_slots(visit),
            Expr::Call(call) => call.arguments.iter().for_each(|expr| expr.visit_slots(visit)),
            Expr::Host(_, many) | Expr::Coalesce(many) => {
                many.iter().for_each(|expr| expr.visit_slots(visit));
            }
            Expr::Case(case) => {
                for (condition, value) in &case.branches {
                    condition.visit_slots(visit);
                    value.visit_slots(visit);
                }
                case.otherwise.visit_slots(visit);
            }
            Expr::Truth(predicate) => predicate.visit_slots(visit),
            Expr::Xml(method) => method.operands().for_each(|expr| expr.visit_slots(visit)),
            Expr::Clr(call) => call.operands().for_each(|expr| expr.visit_slots(visit)),
        }
    }
}

impl Integer {
    /// Calls `visit` with every slot the expression reads.
    pub fn visit_slots(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Integer::Const(_) | Integer::Global(_) => {}
            Integer::Slot(slot) => visit(*slot),
            Integer::Binary { operands, .. } => {
                operands.iter().for_each(|operand| operand.visit_slots(visit));
            }
            Integer::Negate(inner, _) | Integer::Complement(inner, _) | Integer::Narrow(inner, _, _) => {
                inner.visit_slots(visit);
            }
            Integer::Short(short) => short.0.visit_slots(visit),
            Integer::Other(expr) => expr.visit_slots(visit),
        }
    }
}

impl Predicate {
    /// Calls `visit` with every slot the condition reads.
    pub fn visit_slots(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Predicate::Const(_) => {}
            Predicate::Integers(_, operands) => {
                operands.iter().for_each(|operand| operand.visit_slots(visit));
            }
            Predicate::Values(_, operands, _) => {
                operands.iter().for_each(|operand| operand.visit_slots(visit));
            }
            Predicate::And(parts) | Predicate::Or(parts) => {
                parts.iter().for_each(|part| part.visit_slots(visit));
            }
            Predicate::Not(inner) => inner.visit_slots(visit),
            Predicate::IsNull(expr) | Predicate::LikeConst(expr, _) => expr.visit_slots(visit),
            Predicate::InIntegers(expr, _, _) => expr.visit_slots(visit),
            Predicate::InValues(expr, list, _) => {
                expr.visit_slots(visit);
                list.iter().for_each(|item| item.visit_slots(visit));
            }
            Predicate::Like { operands, escape, .. } => {
                operands.iter().for_each(|operand| operand.visit_slots(visit));
                if let Some(escape) = escape {
                    escape.visit_slots(visit);
                }
            }
            Predicate::Slot(slot) => visit(*slot),
        }
    }
}
