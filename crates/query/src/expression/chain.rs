//! Operators of one precedence that are too many to nest.
//!
//! ```text
//!   a + b + c + ... + y + z        first:  a + b + ... (LINKS_MAX operators)
//!                                  then:   Carried + ... , Carried + ...
//! ```
//!
//! A tree of operators leans to the left, so its height is its length, and whatever walks it by recursion (evaluating, cloning,
//! dropping) takes that much stack. A chain is cut into trees of a bounded height instead. Each but the first begins with the value
//! of those before it, [`Expr::Carried`].

use super::{Env, Expr, Fault};
use pikepole_types::Value;

/// The operators of one of a chain's trees.
pub(crate) const LINKS_MAX: usize = 64;

/// See [`Expr::Chain`].
#[derive(Debug, Clone)]
pub struct Chain {
    /// The tree of the leftmost operators.
    pub first: Expr,
    /// The trees of those that follow, in order.
    pub rest: Box<[Expr]>,
}

impl Chain {
    pub(super) fn eval(&self, env: &mut Env<'_>, out: &mut Value) -> Result<(), Fault> {
        self.first.eval_into(env, out)?;
        for tree in &self.rest {
            // An operand may be a chain too, and leaves this one's value where it was.
            let outer = std::mem::replace(&mut env.functions.carried, std::mem::take(out));
            let evaluated = tree.eval_into(env, out);
            env.functions.carried = outer;
            evaluated?;
        }
        Ok(())
    }

    /// All trees, in order.
    pub(crate) fn trees(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.first).chain(&self.rest)
    }
}
