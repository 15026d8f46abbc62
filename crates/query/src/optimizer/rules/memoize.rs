//! Results of subqueries that are remembered by the values they depend on.
//!
//! ```text
//!   SELECT .. FROM orders o WHERE o.total > (SELECT AVG(i.total) FROM orders i WHERE i.customer = o.customer)
//!                                            asked once for each customer, not for each order
//! ```
//! The rule says which slots of the row outside decide a subquery's result; [`crate::executor`] remembers results by them, and gives
//! that up where values hardly come again. PostgreSQL's Memoize does so for the inner side of nested loops, SQL Server's lazy index spool
//! for the rows of a correlated subquery. Nothing is remembered of a subquery with a random number, a called function or the next number
//! of a sequence in it.

use crate::expression::Expr;
use crate::plan::{LiveSlots, More, Node, Test};

/// Slots that a key has at most. With more, values hardly come again.
const SLOTS_MAX: usize = 8;

/// The slots of rows outside that decide the result of a subquery that reads such; `None` if something else decides it, too, or if it
/// looks a single row up, which is as quick.
pub(crate) fn memo_key(subquery: &Node, test: &Test) -> Option<Box<[usize]>> {
    let mut is_repeatable = !is_lookup(subquery);
    subquery.visit_nodes(&mut |node| {
        is_repeatable &= match node {
            Node::Call { .. } | Node::File(_) => false,
            Node::More(more) => !matches!(**more, More::Next(_)),
            _ => true,
        };
    });
    let mut slots = Vec::new();
    subquery.visit_outer(&mut |slot| slots.push(slot));
    let mut filled = LiveSlots::default();
    subquery.visit_filled(&mut |slot| filled.add(slot));
    let mut read = |value: &Expr| {
        value.visit_slots(&mut |slot| {
            if !filled.has(slot) {
                slots.push(slot);
            }
        });
    };
    match test {
        Test::Exists => {}
        Test::Scalar(value) => read(value),
        Test::In { left, right, .. } | Test::Extremes { left, right, .. } => {
            // It is bound outside of the subquery: nothing has looked yet at what it calls.
            is_repeatable &= !calls(left);
            read(left);
            read(right);
        }
    }
    slots.sort_unstable();
    slots.dedup();
    (is_repeatable && slots.len() <= SLOTS_MAX).then(|| slots.into())
}

/// True for a row that is found by its whole key.
fn is_lookup(node: &Node) -> bool {
    match node {
        Node::Filter { input, .. } | Node::Compute { input, .. } | Node::Top { input, .. } => is_lookup(input),
        Node::Scan(scan) => scan.range.point,
        _ => false,
    }
}

/// True if the value is that of a call.
fn calls(value: &Expr) -> bool {
    let mut calls = false;
    value.visit_all(&mut |part| {
        calls |= matches!(part, Expr::Call(_) | Expr::Host(..) | Expr::Global(_) | Expr::Xml(_) | Expr::Clr(_));
    });
    calls
}
