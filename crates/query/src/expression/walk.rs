//! Which slots an expression reads.

use super::{Expr, Integer, Predicate};

impl Expr {
    /// Calls `visit` with every slot the expression reads.
    pub fn visit_slots(&self, visit: &mut dyn FnMut(usize)) {
        self.walk(true, visit);
    }

    /// Calls `visit` with every slot whose values the expression's value is made of: not with those that only its conditions read.
    pub(crate) fn visit_sources(&self, visit: &mut dyn FnMut(usize)) {
        self.walk(false, visit);
    }

    fn walk(&self, conditions: bool, visit: &mut dyn FnMut(usize)) {
        match self {
            Expr::Const(_) | Expr::Global(_) | Expr::Carried => {}
            Expr::Slot(slot) => visit(*slot),
            Expr::Integer(integer, _) | Expr::Whole(integer, _) => integer.walk(conditions, visit),
            Expr::Short(short) => short.integer.walk(conditions, visit),
            Expr::Arithmetic(arithmetic) => {
                arithmetic.operands.iter().for_each(|expr| expr.walk(conditions, visit));
            }
            Expr::Chain(chain) => chain.trees().for_each(|tree| tree.walk(conditions, visit)),
            Expr::Negate(input) | Expr::Complement(input) => input.walk(conditions, visit),
            Expr::Convert(convert) => {
                convert.input.walk(conditions, visit);
                if let Some(style) = &convert.style {
                    style.walk(conditions, visit);
                }
            }
            Expr::Assign(assign) => assign.input.walk(conditions, visit),
            Expr::Call(call) => call.arguments.iter().for_each(|expr| expr.walk(conditions, visit)),
            Expr::Host(_, many) | Expr::Coalesce(many) => {
                many.iter().for_each(|expr| expr.walk(conditions, visit));
            }
            Expr::Case(case) => {
                for (condition, value) in &case.branches {
                    if conditions {
                        condition.visit_slots(visit);
                    }
                    value.walk(conditions, visit);
                }
                case.otherwise.walk(conditions, visit);
            }
            Expr::Truth(predicate) => {
                if conditions {
                    predicate.visit_slots(visit);
                }
            }
            Expr::Xml(method) => method.operands().for_each(|expr| expr.walk(conditions, visit)),
            Expr::Clr(call) => call.operands().for_each(|expr| expr.walk(conditions, visit)),
            Expr::Masked(masked) => {
                masked.input.walk(conditions, visit);
                masked.seen.iter().for_each(|slot| visit(*slot));
            }
        }
    }
}

impl Integer {
    /// Calls `visit` with every slot the expression reads.
    pub fn visit_slots(&self, visit: &mut dyn FnMut(usize)) {
        self.walk(true, visit);
    }

    fn walk(&self, conditions: bool, visit: &mut dyn FnMut(usize)) {
        match self {
            Integer::Const(_) | Integer::Global(_) => {}
            Integer::Slot(slot) => visit(*slot),
            Integer::Binary { operands, .. } => {
                operands.iter().for_each(|operand| operand.walk(conditions, visit));
            }
            Integer::Negate(inner, _) | Integer::Complement(inner, _) | Integer::Narrow(inner, _, _) => {
                inner.walk(conditions, visit);
            }
            Integer::Short(short) => short.0.walk(conditions, visit),
            Integer::Other(expr) => expr.walk(conditions, visit),
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
