//! Conditions.

use super::collate::{compared, compared_type};
use super::typed::{Typed, convert_to};
use super::{Binder, Dependence};
use crate::errors;
use crate::expression::{Comparison, Expr, Fault, InList, Integer, Predicate, Width};
use crate::plan::{Node, Test};
use pikepole_tsql as tree;
use pikepole_types::{Collation, LikePattern, SqlError, SqlType, Value, implicit_type, memory};

impl Binder<'_> {
    /// Binds a condition.
    ///
    /// # Errors
    /// As [`Binder::expr`].
    pub(crate) fn condition(&mut self, condition: &tree::Condition) -> Result<Predicate, Fault> {
        self.deeper(|binder| binder.condition_kind(condition))
    }

    fn condition_kind(&mut self, condition: &tree::Condition) -> Result<Predicate, Fault> {
        use tree::Condition;
        match condition {
            Condition::Compare(compare) => {
                let [left, right] = self.operands([&compare.left, &compare.right])?;
                self.want_name(&left, &compare.right);
                self.want_name(&right, &compare.left);
                match (compare.op, self.catalog().ansi_nulls) {
                    (tree::CompareOp::Equal | tree::CompareOp::NotEqual, false)
                        if may_be_null(&compare.left) || may_be_null(&compare.right) =>
                    {
                        self.compare_nulls(left, right, compare.op == tree::CompareOp::NotEqual)
                    }
                    (op, _) => self.compare(comparison(op), left, right),
                }
            }
            Condition::CompareQuery(compare) => self.compare_query(compare),
            Condition::And(parts) => self.all(parts).map(|parts| settled(parts, false)),
            Condition::Or(parts) => match factored(parts) {
                Some(condition) => self.condition_kind(&condition),
                None => self.all(parts).map(|parts| settled(parts, true)),
            },
            Condition::Not(inner) => Ok(Predicate::Not(Box::new(self.condition(inner)?))),
            Condition::IsNull { expr, negated } => {
                let expr = self.maybe_node(expr)?;
                Ok(negate(*negated, Predicate::IsNull(Box::new(expr.expr))))
            }
            Condition::IsDistinct { operands, negated } => {
                let [left, right] = self.operands([&operands[0], &operands[1]])?;
                self.distinct(left, right, *negated)
            }
            Condition::Between { expr, bounds, negated } => {
                let [expr, low, high] = self.operands([expr, &bounds[0], &bounds[1]])?;
                let above = self.compare(Comparison::GreaterOrEqual, expr.clone(), low)?;
                let below = self.compare(Comparison::LessOrEqual, expr, high)?;
                Ok(negate(*negated, settled(vec![above, below], false)))
            }
            Condition::In { expr, list, negated } => {
                let found = match list {
                    tree::InList::Values(values) => self.in_list(expr, values)?,
                    tree::InList::Query(query) => {
                        let left = self.expr(expr)?;
                        self.in_query(left, query)?
                    }
                };
                Ok(negate(*negated, found))
            }
            Condition::Like(like) => self.like(like),
            Condition::Exists(query) => self.exists(query),
            Condition::Updated(column) => self.updated(column),
            Condition::FullText(_) => Err(errors::unsupported("Full-text search")),
        }
    }

    fn all(&mut self, parts: &[tree::Condition]) -> Result<Vec<Predicate>, Fault> {
        parts.iter().map(|part| self.condition(part)).collect()
    }

    /// `left op right`, both bound.
    pub(crate) fn compare(&mut self, op: Comparison, left: Typed, right: Typed) -> Result<Predicate, Fault> {
        let ty = compared_type(op, &left, &right)?;
        if ty == SqlType::Null {
            return Ok(Predicate::Const(None));
        }
        if let (Some(left), Some(right)) = (left.whole(), right.whole())
            && ![&left, &right].into_iter().any(|side| matches!(side, Integer::Const(None)))
        {
            return Ok(Predicate::Integers(op, Box::new([left, right])));
        }
        let collation = compared(op, &left, &right, &ty)?;
        let left = convert_to(left, &ty)?;
        let right = convert_to(right, &ty)?;
        if [&left, &right].into_iter().any(is_null) {
            return Ok(Predicate::Const(None));
        }
        if Width::of(&ty).is_some() {
            let operands = Box::new([left.integer(), right.integer()]);
            return Ok(Predicate::Integers(op, operands));
        }
        let operands = Box::new([left.expr, right.expr]);
        Ok(Predicate::Values(op, operands, collation))
    }

    /// `=` and `<>` of ANSI_NULLS OFF, where NULL is equal to NULL and to nothing else. A side that is never NULL leaves the comparison
    /// as it is, so that a key can be searched by it.
    fn compare_nulls(&mut self, left: Typed, right: Typed, negated: bool) -> Result<Predicate, Fault> {
        let other = match (left.nullable, right.nullable) {
            (true, true) => return self.distinct(left, right, !negated),
            (true, false) => left.expr.clone(),
            (false, _) => right.expr.clone(),
        };
        let is_null = Predicate::IsNull(Box::new(other));
        let op = if negated { Comparison::NotEqual } else { Comparison::Equal };
        let compared = self.compare(op, left, right)?;
        Ok(match negated {
            true => Predicate::Or(vec![is_null, compared]),
            false => Predicate::And(vec![Predicate::Not(Box::new(is_null)), compared]),
        })
    }

    fn distinct(&mut self, left: Typed, right: Typed, negated: bool) -> Result<Predicate, Fault> {
        let null_left = Predicate::IsNull(Box::new(left.expr.clone()));
        let null_right = Predicate::IsNull(Box::new(right.expr.clone()));
        let equal = self.compare(Comparison::Equal, left, right)?;
        let not_null = |test: &Predicate| Predicate::Not(Box::new(test.clone()));
        // The same: both NULL, or neither NULL and equal.
        let same = Predicate::Or(vec![
            Predicate::And(vec![null_left.clone(), null_right.clone()]),
            Predicate::And(vec![not_null(&null_left), not_null(&null_right), equal]),
        ]);
        Ok(negate(!negated, same))
    }

    fn in_list(&mut self, expr: &tree::Expr, values: &[tree::Expr]) -> Result<Predicate, Fault> {
        if !self.catalog().ansi_nulls && values.iter().any(may_be_null) {
            let equal = |value: &tree::Expr| {
                let [left, right] = self.operands([expr, value])?;
                if may_be_null(value) {
                    return self.compare_nulls(left, right, false);
                }
                self.compare(Comparison::Equal, left, right)
            };
            return Ok(Predicate::Or(values.iter().map(equal).collect::<Result<_, Fault>>()?));
        }
        let left = self.expr(expr)?;
        let mut ty = left.ty;
        memory::ask(values.len().saturating_mul(size_of::<Typed>() + size_of::<Expr>())).map_err(Box::new)?;
        let mut items = Vec::with_capacity(values.len());
        for value in values {
            let item = self.expr(value)?;
            compared_type(Comparison::Equal, &left, &item)?;
            ty = implicit_type(&ty, &item.ty)?;
            items.push(item);
        }
        if ty == SqlType::Null {
            return Ok(Predicate::Const(None));
        }
        let mut collations = Vec::with_capacity(items.len());
        for item in &items {
            collations.push(compared(Comparison::Equal, &left, item, &ty)?);
        }
        let left = convert_to(left, &ty)?;
        let mut list = Vec::with_capacity(items.len());
        for item in items {
            list.push(convert_to(item, &ty)?.expr);
        }
        if Width::of(&ty).is_some() && list.iter().all(Expr::is_const) {
            let values = list.iter().filter_map(|item| match item {
                Expr::Const(value) => value.as_i64(),
                _ => None,
            });
            let mut integers: Vec<i64> = values.collect();
            let has_null = integers.len() < list.len();
            integers.sort_unstable();
            return Ok(Predicate::InIntegers(Box::new(left.integer()), integers, has_null));
        }
        let first = collations.first().copied().unwrap_or_default();
        if collations.iter().all(|collation| *collation == first) {
            return Ok(Predicate::InValues(Box::new(left.expr), InList::new(list, first), first));
        }
        let equal =
            |(item, collation)| Predicate::Values(Comparison::Equal, Box::new([left.expr.clone(), item]), collation);
        Ok(Predicate::Or(list.into_iter().zip(collations).map(equal).collect()))
    }

    fn in_query(&mut self, left: Typed, query: &tree::Query) -> Result<Predicate, Fault> {
        let test = |left, right, collation| Test::In { left, right, collation };
        self.row_test(left, query, Comparison::Equal, test)
    }

    /// A test of a value against those of a subquery's rows.
    fn row_test(
        &mut self,
        left: Typed,
        query: &tree::Query,
        op: Comparison,
        test: impl FnOnce(Expr, Expr, Collation) -> Test,
    ) -> Result<Predicate, Fault> {
        let (bound, dependence) = self.subquery(query)?;
        let [column] = bound.columns.as_slice() else {
            return Err(Box::new(SqlError::one_expression_in_subquery()));
        };
        let nullable = column.nullable;
        let right = bound.values.into_iter().next().unwrap_or(Expr::NULL);
        let right = Typed::new(right, column.ty, nullable).collated(column.collated.of_column());
        let ty = compared_type(op, &left, &right)?;
        let collation = compared(op, &left, &right, &ty)?;
        let left = convert_to(left, &ty)?.expr;
        let right = convert_to(right, &ty)?.expr;
        Ok(self.apply(bound.node, test(left, right, collation), dependence))
    }

    fn exists(&mut self, query: &tree::Query) -> Result<Predicate, Fault> {
        // A star that stands for nothing binds to nothing.
        let plain = without_star(query, self.schema_bound.is_some());
        let (bound, dependence) = self.subquery(plain.as_ref().unwrap_or(query))?;
        Ok(self.apply(bound.node, Test::Exists, dependence))
    }

    fn apply(&mut self, subquery: Node, test: Test, dependence: Dependence) -> Predicate {
        Predicate::Slot(self.wait_for(subquery, test, dependence))
    }

    /// `= ANY` is IN, `<> ALL` is NOT IN; the others look at the extremes of the rows' values.
    fn compare_query(&mut self, compare: &tree::CompareQuery) -> Result<Predicate, Fault> {
        use tree::CompareOp;
        let left = self.expr(&compare.left)?;
        match (compare.op, compare.all) {
            (CompareOp::Equal, false) => self.in_query(left, &compare.query),
            (CompareOp::NotEqual, true) => Ok(negate(true, self.in_query(left, &compare.query)?)),
            (op, all) => {
                let op = comparison(op);
                let test = |left, right, collation| Test::Extremes { left, right, op, all, collation };
                self.row_test(left, &compare.query, op, test)
            }
        }
    }

    fn like(&mut self, like: &tree::Like) -> Result<Predicate, Fault> {
        let text = self.text_of_like(&like.expr, 1)?;
        let pattern = self.text_of_like(&like.pattern, 2)?;
        let escape = match &like.escape {
            None => None,
            Some(escape) => Some(self.text_of_like(escape, 3)?.expr),
        };
        let ty = if pattern.ty.is_unicode() { &pattern.ty } else { &text.ty };
        let collation = text.collated.compared(pattern.collated, "like")?.comparing(ty);
        let (text, pattern) = (text.expr, pattern.expr);
        let found = match (&pattern, &escape) {
            (Expr::Const(Value::Str(pattern)), None) => {
                let pattern = LikePattern::new(pattern, None, collation);
                Predicate::LikeConst(Box::new(text), Box::new(pattern))
            }
            _ => Predicate::Like { operands: Box::new([text, pattern]), escape: escape.map(Box::new), collation },
        };
        Ok(negate(like.negated, found))
    }

    /// An operand of LIKE as text.
    fn text_of_like(&mut self, expr: &tree::Expr, place: usize) -> Result<Typed, Fault> {
        let typed = self.expr(expr)?;
        if typed.ty.is_string() {
            return Ok(typed);
        }
        if matches!(typed.ty, SqlType::Variant | SqlType::Xml | SqlType::Image | SqlType::Clr(_)) {
            return Err(Box::new(SqlError::argument_type_invalid(typed.ty.error_name(), place, "like")));
        }
        let ty = SqlType::NVarChar(pikepole_types::Length::Limit(4000));
        convert_to(typed, &ty)
    }
}

fn is_null(typed: &Typed) -> bool {
    matches!(typed.expr, Expr::Const(Value::Null))
}

/// AND or OR, which are what one of their parts says that is known now, without the others: those may be ones that fail.
fn settled(parts: Vec<Predicate>, decisive: bool) -> Predicate {
    if parts.iter().any(|part| known(part) == Some(decisive)) {
        return Predicate::Const(Some(decisive));
    }
    if decisive { Predicate::Or(parts) } else { Predicate::And(parts) }
}

/// What a condition of constants says.
pub(super) fn known(condition: &Predicate) -> Option<bool> {
    match condition {
        Predicate::Const(truth) => *truth,
        Predicate::Integers(op, operands) => match &**operands {
            [Integer::Const(Some(left)), Integer::Const(Some(right))] => Some(op.holds(left.cmp(right))),
            _ => None,
        },
        Predicate::Not(inner) => known(inner).map(|truth| !truth),
        _ => None,
    }
}

/// `(a AND b) OR (a AND c)` as `a AND (b OR c)`: an equality in `a` can join tables then. None when no condition is in all parts.
fn factored(parts: &[tree::Condition]) -> Option<tree::Condition> {
    use tree::Condition;
    fn list<'c>(condition: &'c Condition, into: &mut Vec<&'c Condition>) {
        match condition {
            Condition::And(parts) => parts.iter().for_each(|part| list(part, into)),
            other => into.push(other),
        }
    }
    if !parts.iter().all(|part| matches!(part, Condition::And(_))) {
        return None;
    }
    let mut lists = vec![Vec::new(); parts.len()];
    parts.iter().zip(&mut lists).for_each(|(part, into)| list(part, into));
    let (first, others) = lists.split_first()?;
    let in_all = |condition: &&Condition| others.iter().all(|other| other.contains(condition));
    let common: Vec<&Condition> = first.iter().copied().filter(in_all).collect();
    if common.is_empty() {
        return None;
    }
    let mut rests = Vec::with_capacity(lists.len());
    for list in &lists {
        let rest = list.iter().copied().filter(|condition| !common.contains(condition));
        rests.push(Condition::And(rest.cloned().collect()));
    }
    let mut all: Vec<Condition> = common.into_iter().cloned().collect();
    // A part that says nothing else lets every row pass that the others do.
    if !rests.iter().any(|rest| matches!(rest, Condition::And(parts) if parts.is_empty())) {
        all.push(Condition::Or(rests));
    }
    Some(Condition::And(all))
}

fn negate(negated: bool, predicate: Predicate) -> Predicate {
    if negated { Predicate::Not(Box::new(predicate)) } else { predicate }
}

fn comparison(op: tree::CompareOp) -> Comparison {
    match op {
        tree::CompareOp::Equal => Comparison::Equal,
        tree::CompareOp::NotEqual => Comparison::NotEqual,
        tree::CompareOp::Less => Comparison::Less,
        tree::CompareOp::LessOrEqual => Comparison::LessOrEqual,
        tree::CompareOp::Greater => Comparison::Greater,
        tree::CompareOp::GreaterOrEqual => Comparison::GreaterOrEqual,
    }
}

/// The query of EXISTS with a constant for the `*` of a SELECT with groups, or of any: it names no columns, so they need not be in GROUP BY.
fn without_star(query: &tree::Query, any: bool) -> Option<tree::Query> {
    let tree::QueryBody::Select(select) = &query.body else { return None };
    let [tree::SelectItem::Star { qualifier: None, span }] = select.items.as_slice() else { return None };
    if !any && select.group_by.is_empty() && select.having.is_none() && !select.from.is_empty() {
        return None;
    }
    let one = tree::Expr::new(tree::ExprKind::Literal(tree::Literal::Int(1)), *span);
    let items = vec![tree::SelectItem::Expr { expr: one, alias: None }];
    let body = tree::QueryBody::Select(Box::new(tree::Select { items, ..(**select).clone() }));
    Some(tree::Query { body, ..query.clone() })
}

/// Whether an operand is NULL or a variable: those alone ANSI_NULLS OFF compares with NULL.
fn may_be_null(expr: &tree::Expr) -> bool {
    matches!(expr.kind, tree::ExprKind::Literal(tree::Literal::Null) | tree::ExprKind::Variable(_))
}

#[cfg(test)]
mod tests {
    use super::factored;
    use pikepole_tsql::{Condition, QueryBody, StatementKind, parse};

    /// What `factored` makes of the condition of a WHERE.
    fn text(condition: &str) -> Option<String> {
        let batch = parse(&format!("SELECT 1 WHERE {condition}")).expect("it can be parsed");
        let StatementKind::Select(query) = &batch.statements[0].kind else { panic!("no query") };
        let QueryBody::Select(select) = &query.body else { panic!("no SELECT") };
        let Some(Condition::Or(parts)) = &select.filter else { panic!("no OR") };
        factored(parts).map(|condition| condition.to_string())
    }

    #[test]
    fn what_all_parts_of_an_or_say_stands_before_it() {
        let found = text("(a = b AND c = 1 AND d > 2) OR (a = b AND d > 2 AND e = 3)");
        assert_eq!(found.as_deref(), Some("a = b AND d > 2 AND (c = 1 OR e = 3)"));
        let found = text("(a = b AND c = 1) OR a = b AND (c = 1 AND d = 2)");
        assert_eq!(found.as_deref(), Some("a = b AND c = 1"), "the second part says more than the first");
    }

    #[test]
    fn an_or_without_a_common_condition_stays() {
        assert_eq!(text("(a = b AND c = 1) OR (a = d AND e = 1)"), None);
        assert_eq!(text("a = b OR (a = b AND c = 1)"), None);
    }
}
