//! Which slots an expression reads, and what it is made of.

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

impl Expr {
    /// Calls `visit` with the expression and with all that it is made of, conditions too.
    pub(crate) fn visit_all(&self, visit: &mut dyn FnMut(&Expr)) {
        visit(self);
        match self {
            Expr::Const(_) | Expr::Global(_) | Expr::Slot(_) | Expr::Carried => {}
            Expr::Integer(integer, _) | Expr::Whole(integer, _) => integer.visit_all(visit),
            Expr::Short(short) => short.integer.visit_all(visit),
            Expr::Arithmetic(arithmetic) => arithmetic.operands.iter().for_each(|expr| expr.visit_all(visit)),
            Expr::Chain(chain) => chain.trees().for_each(|tree| tree.visit_all(visit)),
            Expr::Negate(input) | Expr::Complement(input) => input.visit_all(visit),
            Expr::Convert(convert) => {
                convert.input.visit_all(visit);
                convert.style.iter().for_each(|style| style.visit_all(visit));
            }
            Expr::Assign(assign) => assign.input.visit_all(visit),
            Expr::Call(call) => call.arguments.iter().for_each(|expr| expr.visit_all(visit)),
            Expr::Host(_, many) | Expr::Coalesce(many) => many.iter().for_each(|expr| expr.visit_all(visit)),
            Expr::Case(case) => {
                for (condition, value) in &case.branches {
                    condition.visit_all(visit);
                    value.visit_all(visit);
                }
                case.otherwise.visit_all(visit);
            }
            Expr::Truth(predicate) => predicate.visit_all(visit),
            Expr::Xml(method) => method.operands().for_each(|expr| expr.visit_all(visit)),
            Expr::Clr(call) => call.operands().for_each(|expr| expr.visit_all(visit)),
            Expr::Masked(masked) => masked.input.visit_all(visit),
        }
    }
}

impl Integer {
    fn visit_all(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Integer::Const(_) => {}
            Integer::Slot(slot) => visit(&Expr::Slot(*slot)),
            Integer::Global(global) => visit(&Expr::Global(*global)),
            Integer::Binary { operands, .. } => operands.iter().for_each(|operand| operand.visit_all(visit)),
            Integer::Negate(inner, _) | Integer::Complement(inner, _) | Integer::Narrow(inner, _, _) => {
                inner.visit_all(visit);
            }
            Integer::Short(short) => short.0.visit_all(visit),
            Integer::Other(expr) => expr.visit_all(visit),
        }
    }
}

impl Predicate {
    fn visit_all(&self, visit: &mut dyn FnMut(&Expr)) {
        match self {
            Predicate::Const(_) => {}
            Predicate::Slot(slot) => visit(&Expr::Slot(*slot)),
            Predicate::Integers(_, operands) => operands.iter().for_each(|operand| operand.visit_all(visit)),
            Predicate::Values(_, operands, _) => operands.iter().for_each(|operand| operand.visit_all(visit)),
            Predicate::And(parts) | Predicate::Or(parts) => parts.iter().for_each(|part| part.visit_all(visit)),
            Predicate::Not(inner) => inner.visit_all(visit),
            Predicate::IsNull(expr) | Predicate::LikeConst(expr, _) => expr.visit_all(visit),
            Predicate::InIntegers(expr, _, _) => expr.visit_all(visit),
            Predicate::InValues(expr, list, _) => {
                expr.visit_all(visit);
                list.iter().for_each(|item| item.visit_all(visit));
            }
            Predicate::Like { operands, escape, .. } => {
                operands.iter().for_each(|operand| operand.visit_all(visit));
                escape.iter().for_each(|escape| escape.visit_all(visit));
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
