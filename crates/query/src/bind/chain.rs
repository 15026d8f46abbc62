//! Chains of operators of one precedence, bound in a loop: a long sum costs no stack.

use super::Binder;
use super::expression::{beside_decimal, binary_value};
use super::typed::Typed;
use crate::expression::{Chain, Expr, Fault, LINKS_MAX};
use pikepole_tsql as tree;

impl Binder<'_> {
    pub(super) fn chain(&mut self, chain: &tree::Chain) -> Result<Typed, Fault> {
        let (mut result, bound) = match self.grouped_prefix(chain)? {
            Some((value, links)) => (value, links),
            None => (self.expr(&chain.first)?, 0),
        };
        let mut written = (bound == 0).then_some(&chain.first);
        let mut trees = Vec::new();
        let mut links = 0;
        for link in &chain.rest[bound..] {
            let right = self.expr(&link.operand)?;
            let (left_type, right_type) = (result.ty, right.ty);
            if let Some(left) = written.take() {
                result = beside_decimal(left, result, &right_type)?;
            }
            let right = beside_decimal(&link.operand, right, &left_type)?;
            result = binary_value(link.op, result, right)?;
            links = if result.expr.is_const() { 0 } else { links + 1 };
            if links == LINKS_MAX {
                trees.push(std::mem::replace(&mut result.expr, Expr::Carried));
                links = 0;
            }
        }
        result.expr = chained(trees, result.expr);
        Ok(result)
    }

    /// The longest beginning of a chain that is a GROUP BY expression, and how many of its operators that has.
    fn grouped_prefix(&mut self, chain: &tree::Chain) -> Result<Option<(Typed, usize)>, Fault> {
        let Some(grouping) = self.scopes.last().and_then(|scope| scope.grouping.as_ref()) else { return Ok(None) };
        // The whole of it is looked up before its parts are.
        let length = |key: &tree::Expr| match &key.kind {
            tree::ExprKind::Chain(key) if key.rest.len() < chain.rest.len() => Some(key.rest.len()),
            _ => None,
        };
        let mut lengths: Vec<usize> = grouping.keys.iter().filter_map(|key| length(&key.tree)).collect();
        lengths.sort_unstable_by(|a, b| b.cmp(a));
        lengths.dedup();
        for links in lengths {
            let prefix = tree::Chain { first: chain.first.clone(), rest: chain.rest[..links].to_vec() };
            let prefix = tree::Expr { span: prefix.first.span, kind: tree::ExprKind::Chain(Box::new(prefix)) };
            if let Some(value) = self.grouping_value(&prefix)? {
                return Ok(Some((value, links)));
            }
        }
        Ok(None)
    }
}

/// The expression of a chain's trees, of which `last` is the last.
fn chained(mut trees: Vec<Expr>, last: Expr) -> Expr {
    if trees.is_empty() {
        return last;
    }
    if !matches!(last, Expr::Carried) {
        trees.push(last);
    }
    let first = trees.remove(0);
    match trees.is_empty() {
        true => first,
        false => Expr::Chain(Box::new(Chain { first, rest: trees.into_boxed_slice() })),
    }
}
