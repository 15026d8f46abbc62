//! What expressions and conditions are made of, for who walks them: the walk itself is the caller's, who knows where to stop.

use super::{CaseBranches, Condition, Expr, ExprKind, FrameBound, FunctionArgument, FunctionCall, InList, Over, Query};

/// A direct part of an expression or a condition.
#[derive(Debug, Clone, Copy)]
pub enum Part<'t> {
    /// A value.
    Expr(&'t Expr),
    /// A condition.
    Condition(&'t Condition),
    /// A subquery.
    Query(&'t Query),
}

impl<'t> Part<'t> {
    /// Calls `visit` with each direct part, in the order of the text. A subquery's are not visited: they belong to a query of
    /// their own.
    pub fn each(self, visit: &mut dyn FnMut(Part<'t>)) {
        match self {
            Part::Expr(expr) => expr.each_part(visit),
            Part::Condition(condition) => condition.each_part(visit),
            Part::Query(_) => {}
        }
    }
}

impl Expr {
    /// Calls `visit` with each direct part. Of a chain of operators all operands are direct parts, however long it is.
    pub fn each_part<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        let mut all = |exprs: &'t [Expr]| exprs.iter().for_each(|expr| visit(Part::Expr(expr)));
        match &self.kind {
            ExprKind::Literal(_)
            | ExprKind::Column(_)
            | ExprKind::Variable(_)
            | ExprKind::Global(_)
            | ExprKind::Niladic(_) => {}
            ExprKind::Unary(_, inner) | ExprKind::Collate(inner, _) => visit(Part::Expr(inner)),
            ExprKind::Chain(chain) => chain.operands().for_each(|operand| visit(Part::Expr(operand))),
            ExprKind::Function(call) => call.each_part(visit),
            ExprKind::Method(call) => {
                visit(Part::Expr(&call.receiver));
                call.arguments.iter().flatten().for_each(|argument| visit(Part::Expr(argument)));
            }
            ExprKind::Static(call) => call.arguments.iter().flatten().for_each(|argument| visit(Part::Expr(argument))),
            ExprKind::Case(case) => {
                match &case.branches {
                    CaseBranches::Simple { operand, branches } => {
                        visit(Part::Expr(operand));
                        for (value, result) in branches {
                            visit(Part::Expr(value));
                            visit(Part::Expr(result));
                        }
                    }
                    CaseBranches::Searched(branches) => {
                        for (condition, result) in branches {
                            visit(Part::Condition(condition));
                            visit(Part::Expr(result));
                        }
                    }
                }
                case.otherwise.iter().for_each(|otherwise| visit(Part::Expr(otherwise)));
            }
            ExprKind::Cast(cast) => visit(Part::Expr(&cast.expr)),
            ExprKind::Convert(convert) => visit(Part::Expr(&convert.expr)),
            ExprKind::Trim(trim) => {
                visit(Part::Expr(&trim.characters));
                visit(Part::Expr(&trim.expr));
            }
            ExprKind::Json(json) => {
                for (key, value) in &json.members {
                    key.iter().for_each(|key| visit(Part::Expr(key)));
                    visit(Part::Expr(value));
                }
            }
            ExprKind::Iif(iif) => {
                visit(Part::Condition(&iif.condition));
                visit(Part::Expr(&iif.then));
                visit(Part::Expr(&iif.otherwise));
            }
            ExprKind::Coalesce(choices) => all(choices),
            ExprKind::NullIf(operands) | ExprKind::AtTimeZone(operands) => all(operands.as_slice()),
            ExprKind::Subquery(query) => visit(Part::Query(query)),
            ExprKind::NextValue(next) => next.order_by.iter().for_each(|item| visit(Part::Expr(&item.expr))),
        }
    }
}

impl FunctionCall {
    /// Calls `visit` with each argument, and with what WITHIN GROUP and OVER say. The name of a date part is none of them.
    pub fn each_part<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        let arguments = self.arguments.iter().enumerate().filter(|(place, _)| self.date_part(*place).is_none());
        let values = arguments.filter_map(|(_, argument)| FunctionArgument::expr(argument));
        let ordered = self.within_group.iter().map(|item| &item.expr);
        values.chain(ordered).for_each(|expr| visit(Part::Expr(expr)));
        let Some(Over::Window(window)) = &self.over else { return };
        let ordered = window.order_by.iter().map(|item| &item.expr);
        window.partition_by.iter().chain(ordered).for_each(|expr| visit(Part::Expr(expr)));
        let Some(frame) = &window.frame else { return };
        for bound in std::iter::once(&frame.start).chain(&frame.end) {
            if let FrameBound::Preceding(count) | FrameBound::Following(count) = bound {
                visit(Part::Expr(count));
            }
        }
    }
}

impl Condition {
    /// Calls `visit` with each direct part.
    pub fn each_part<'t>(&'t self, visit: &mut dyn FnMut(Part<'t>)) {
        match self {
            Condition::Compare(compare) => {
                visit(Part::Expr(&compare.left));
                visit(Part::Expr(&compare.right));
            }
            Condition::CompareQuery(compare) => {
                visit(Part::Expr(&compare.left));
                visit(Part::Query(&compare.query));
            }
            Condition::And(parts) | Condition::Or(parts) => {
                parts.iter().for_each(|part| visit(Part::Condition(part)));
            }
            Condition::Not(inner) => visit(Part::Condition(inner)),
            Condition::IsNull { expr, .. } => visit(Part::Expr(expr)),
            Condition::IsDistinct { operands, .. } => operands.iter().for_each(|operand| visit(Part::Expr(operand))),
            Condition::Between { expr, bounds, .. } => {
                visit(Part::Expr(expr));
                bounds.iter().for_each(|bound| visit(Part::Expr(bound)));
            }
            Condition::In { expr, list, .. } => {
                visit(Part::Expr(expr));
                match list {
                    InList::Values(values) => values.iter().for_each(|value| visit(Part::Expr(value))),
                    InList::Query(query) => visit(Part::Query(query)),
                }
            }
            Condition::Like(like) => {
                visit(Part::Expr(&like.expr));
                visit(Part::Expr(&like.pattern));
                like.escape.iter().for_each(|escape| visit(Part::Expr(escape)));
            }
            Condition::Exists(query) => visit(Part::Query(query)),
            Condition::Updated(_) => {}
            Condition::FullText(call) => call.each_part(visit),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Expr, Part};
    use crate::{ExprKind, QueryBody, SelectItem, StatementKind, parse};

    fn columns(part: Part<'_>, found: &mut Vec<String>) {
        match part {
            Part::Expr(Expr { kind: ExprKind::Column(column), .. }) => found.push(column.name.text.clone()),
            Part::Query(_) => found.push("(query)".into()),
            part => part.each(&mut |inner| columns(inner, found)),
        }
    }

    #[test]
    fn every_part_of_an_expression_is_met_once_in_its_order() {
        let text = "SELECT DATEDIFF(day, a, b) + CASE WHEN c LIKE d ESCAPE e AND f IN (g, h) THEN i ELSE -j END \
                    + IIF(EXISTS (SELECT z), k, CAST(l AS int)) + COALESCE(m, NULLIF(n, o), (SELECT z)) \
                    + SUM(p) OVER (PARTITION BY q ORDER BY r ROWS 1 PRECEDING) + TRIM(s FROM t COLLATE Latin1_General_BIN)";
        let batch = parse(text).expect("it can be parsed");
        let StatementKind::Select(query) = &batch.statements[0].kind else { panic!("no query") };
        let QueryBody::Select(select) = &query.body else { panic!("no SELECT") };
        let SelectItem::Expr { expr, .. } = &select.items[0] else { panic!("no value") };
        let mut found = Vec::new();
        columns(Part::Expr(expr), &mut found);
        let expected = "a b c d e f g h i j (query) k l m n o (query) p q r s t";
        assert_eq!(found.join(" "), expected);
    }
}
