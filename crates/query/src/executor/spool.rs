//! Rows that are made once and found by equality.
//!
//! ```text
//!   Spool opened the 1st time    rows pass by, those with the wanted keys are given; nothing is kept
//!   Spool opened the 2nd time    rows are made once more and kept, with a table from keys' hashes to rows
//!   from then on                 rows are looked up
//! ```
//! So an inner side that is read once costs nothing more, and one that is read for every outer row is read twice in all. Groups, joined and
//! sorted rows are kept at once: to make them costs more than to keep them. As they are made once, workers may make them.

use super::Run;
use super::cursor::Cursor;
use super::profile::Making;
use crate::access::{Pace, Stop};
use crate::executor::spill::{RowStore, equal};
use crate::expression::{Expr, Fault};
use crate::plan::{More, Node, Spool};
use pikepole_types::Value;

pub(super) fn values<'e>(exprs: impl Iterator<Item = &'e Expr>, run: &mut Run<'_>) -> Result<Vec<Value>, Fault> {
    exprs.map(|expr| expr.eval(&mut run.env())).collect()
}

/// How far a spool has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Never opened in this statement.
    New,
    /// Opened once: rows pass by.
    Passing,
    /// Opened again: the rows are being kept.
    Filling,
    /// All rows are kept.
    Full,
}

/// The state of a [`Spool`].
pub(crate) struct SpoolCursor {
    input: Cursor,
    stage: Stage,
    /// The rows are kept from the first opening on.
    keeps_at_once: bool,
    store: RowStore,
    /// The keys wanted; none before the first row of an opening.
    wanted: Option<Vec<Value>>,
    /// Whether the rows with these keys were gone to.
    found: bool,
    pace: Pace,
}

/// True for rows that are more than read.
fn is_made(node: &Node) -> bool {
    match node {
        Node::Group { .. } | Node::Join { .. } | Node::Sort { .. } => true,
        Node::Filter { input, .. }
        | Node::Compute { input, .. }
        | Node::Number { input, .. }
        | Node::Top { input, .. } => is_made(input),
        Node::More(more) => match &**more {
            More::Windows(windows) => is_made(&windows.input),
            _ => false,
        },
        _ => false,
    }
}

impl SpoolCursor {
    pub(crate) fn new(plan: &Spool, making: Making<'_>) -> SpoolCursor {
        let (store, pace) = (RowStore::default(), Pace::default());
        let keeps_at_once = is_made(&plan.input);
        let input = Cursor::new(&plan.input, Making { gathers: keeps_at_once, ..making });
        SpoolCursor { input, stage: Stage::New, keeps_at_once, store, wanted: None, found: false, pace }
    }

    pub(crate) fn open(&mut self) {
        self.wanted = None;
        self.found = false;
        match self.stage {
            Stage::New if !self.keeps_at_once => {
                self.input.open();
                self.stage = Stage::Passing;
            }
            Stage::New | Stage::Passing => {
                self.input.open();
                self.stage = Stage::Filling;
            }
            // What is being made is the same for every outer row.
            Stage::Filling | Stage::Full => {}
        }
    }

    pub(crate) fn forget(&mut self) {
        self.input.forget();
        self.store.clear();
        self.stage = Stage::New;
        self.wanted = None;
    }

    /// See [`Cursor::spilled_part`].
    pub(crate) fn spilled_part(&self, plan: &Spool, run: &mut Run<'_>) -> Result<Option<usize>, Fault> {
        if plan.keys.is_empty() || self.stage != Stage::Full || !self.store.is_spilled() {
            return Ok(None);
        }
        let wanted = values(plan.keys.iter().map(|key| &key.outer), run)?;
        Ok(Some(RowStore::part_of(&plan.keys, &wanted)))
    }

    pub(crate) fn next(&mut self, plan: &Spool, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.stage == Stage::Filling {
            self.fill(plan, run)?;
            self.stage = Stage::Full;
        }
        let wanted = match &self.wanted {
            Some(wanted) => wanted,
            None => self.wanted.insert(values(plan.keys.iter().map(|key| &key.outer), run)?),
        };
        if self.stage == Stage::Full {
            self.pace.step()?;
            if !self.found {
                self.store.seek(&plan.keys, wanted, run)?;
                self.found = true;
            }
            let Some(row) = self.store.next(&plan.keys, wanted)? else {
                return Ok(false);
            };
            for (slot, value) in plan.carry.iter().zip(&row[plan.keys.len()..]) {
                run.slots[*slot].clone_from(value);
            }
            return Ok(true);
        }
        if wanted.iter().any(Value::is_null) {
            return Ok(false);
        }
        self.input.give(&plan.input, run, |run| {
            let keys = values(plan.keys.iter().map(|key| &key.inner), run)?;
            Ok(equal(&plan.keys, wanted, &keys))
        })
    }

    fn fill(&mut self, plan: &Spool, run: &mut Run<'_>) -> Result<(), Stop> {
        loop {
            self.store.settle(&plan.keys, run)?;
            let is_complete = self.store.is_complete();
            let store = &mut self.store;
            let take = |run: &mut Run<'_>| {
                let mut row = Vec::with_capacity(plan.keys.len() + plan.carry.len());
                for key in &plan.keys {
                    row.push(key.inner.eval(&mut run.env())?);
                }
                row.extend(plan.carry.iter().map(|slot| run.slots[*slot].clone()));
                store.push(&plan.keys, row);
                Ok(())
            };
            if is_complete || !self.input.take(&plan.input, run, take)? {
                return self.store.finish(&plan.keys, run);
            }
        }
    }
}
