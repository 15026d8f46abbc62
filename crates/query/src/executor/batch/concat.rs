//! UNION ALL: the rows of its branches, one branch after the other.
//!
//! Workers go through the branches in the same order. Each branch deals out its own ranges, so a worker goes on to the next one while
//! others are still at the last ranges of the one before.

use std::sync::Arc;

use super::Batch;
use super::evaluate::evaluate;
use super::operator::Operator;
use crate::access::Stop;
use crate::executor::Run;
use crate::executor::parallel::{Dispenser, Ordinals};
use crate::expression::Expr;
use crate::plan::{Node, Registers};

/// See the module.
pub(crate) struct Concat {
    inputs: Vec<Operator>,
    current: usize,
    /// The dealer of a worker's ranges.
    dispenser: Option<Arc<Dispenser>>,
}

impl Concat {
    pub(crate) fn new(inputs: Vec<Operator>) -> Concat {
        Concat { inputs, current: 0, dispenser: None }
    }

    pub(crate) fn inputs(&self) -> &[Operator] {
        &self.inputs
    }

    pub(crate) fn open(&mut self) {
        self.current = 0;
        self.inputs.iter_mut().for_each(Operator::open);
    }

    /// See [`Operator::forget`].
    pub(crate) fn forget(&mut self) {
        self.inputs.iter_mut().for_each(Operator::forget);
    }

    /// See [`Operator::prepare`]: none when one branch has none.
    pub(crate) fn prepare(&mut self, nodes: &[(Node, Vec<Expr>)], run: &mut Run<'_>) -> Result<Option<Ordinals>, Stop> {
        let mut branches = Vec::with_capacity(self.inputs.len());
        for (input, (node, _)) in self.inputs.iter_mut().zip(nodes) {
            let Some(ordinals) = input.prepare(node, run)? else { return Ok(None) };
            branches.push(ordinals);
        }
        Ok(Some(Ordinals::of_branches(branches)))
    }

    /// The same for a worker.
    pub(crate) fn fork(&self, dispenser: &Arc<Dispenser>) -> Option<Concat> {
        let branches = self.inputs.iter().zip(dispenser.branches());
        let inputs = branches.map(|(input, branch)| input.fork(&branch.dispenser)).collect::<Option<_>>()?;
        Some(Concat { inputs, current: 0, dispenser: Some(Arc::clone(dispenser)) })
    }

    /// See [`Operator::ordinal`].
    pub(crate) fn ordinal(&self) -> u64 {
        // At the end, that of the last branch.
        let at = self.current.min(self.inputs.len().saturating_sub(1));
        let first =
            self.dispenser.as_ref().and_then(|dispenser| dispenser.branches().get(at)).map(|branch| branch.first_batch);
        match (first, self.inputs.get(at)) {
            (Some(first), Some(input)) => first.saturating_add(input.ordinal()),
            _ => 0,
        }
    }

    /// The next rows.
    pub(crate) fn next(
        &mut self,
        nodes: &[(Node, Vec<Expr>)],
        registers: Registers,
        run: &mut Run<'_>,
    ) -> Result<Option<Batch>, Stop> {
        while let (Some(input), Some((node, values))) = (self.inputs.get_mut(self.current), nodes.get(self.current)) {
            let branch = self.dispenser.as_ref().and_then(|dispenser| dispenser.branches().get(self.current));
            let rows_before = branch.map_or(0, |branch| branch.rows_before);
            let given = input.take(node, run, |batch, run| {
                let mut out = Batch::new(batch.rows);
                out.first = rows_before + batch.first;
                for (slot, value) in registers.range().zip(values) {
                    if run.live.has(slot) {
                        out.set(slot, evaluate(value, &batch, run)?);
                    }
                }
                Ok(out)
            })?;
            if given.is_some() {
                return Ok(given);
            }
            self.current += 1;
        }
        Ok(None)
    }
}
