//! Operators: a plan's rows, a row or a batch at a time, by the session itself or by workers.
//!
//! ```text
//!   plan::Node ──► Cursor          rows of the session, one after another; a batch of them where it reads columns
//!                    │
//!                    ├── batch     operators on batches of columns
//!                    ├── parallel  workers that run them, exchanges between them
//!                    └── spill     what does not fit its grant, on tapes
//! ```
//! Operators know a [`Run`]: the slots of the statement, its transaction, its expressions' surroundings. They do not know the
//! program that the statement stands in.

mod apply;
pub(crate) mod batch;
mod common_table;
mod cursor;
mod document;
mod document_explicit;
mod document_xml;
mod full_join;
mod group;
mod group_values;
mod join;
mod kept_rows;
mod memo;
mod more;
mod number;
mod open_json;
pub(crate) mod parallel;
mod profile;
mod recursive;
mod sort;
pub(crate) mod spill;
mod split;
mod spool;
mod windows;
mod xml_nodes;

pub(crate) use common_table::SharedTables;
pub(crate) use cursor::{Cursor, row_bounds};
pub(crate) use group::GROUPS_SORTED_MAX;
pub(crate) use memo::ROWS_BEFORE;
pub(crate) use more::{percent_of, share};
pub(crate) use profile::{Counted, Counts, Making, Profile};

use std::sync::Arc;

use batch::Operator;
use parallel::{Dispenser, Worker};
use spill::Budget;

use crate::context::ExecutionContext;
use crate::expression::{Env, Expr, Fault};
use crate::host::Host;
use crate::plan::LiveSlots;
use crate::state::SessionState;
use pikepole_engine::{Database, ReadMeter, Transaction};
use pikepole_scheduler::TaskInfo;
use pikepole_types::{Context, Value};

/// What is around operators and expressions.
pub(crate) enum Around<'a> {
    /// The session that runs the statement.
    Session { context: &'a mut ExecutionContext, host: &'a dyn Host },
    /// A worker of it, with a copy of the session's globals, and, when it reads tables, its transaction.
    Worker { state: &'a SessionState, engine: Option<(&'a Database, &'a mut Transaction)> },
}

/// What operators and expressions work on while a statement runs.
pub(crate) struct Run<'a> {
    pub(crate) slots: &'a mut Vec<Value>,
    pub(crate) around: Around<'a>,
    pub(crate) functions: &'a mut Context,
    pub(crate) virtual_rows: &'a [Arc<Vec<Vec<Value>>>],
    /// The rows of common tables that names have made; none where they share nothing.
    pub(crate) shared: Option<&'a SharedTables>,
    /// The slots that the statement reads.
    pub(crate) live: &'a LiveSlots,
    /// `OPTION (MAXDOP n)`.
    pub(crate) degree_wanted: Option<u16>,
    /// True once an aggregate has passed over a NULL.
    pub(crate) null_eliminated: bool,
    pub(crate) scratch: Value,
}

impl Run<'_> {
    /// The expressions' view.
    #[inline]
    pub(crate) fn env(&mut self) -> Env<'_> {
        let (state, host) = match &self.around {
            Around::Session { context, host } => (&context.state, Some((*host, &**context))),
            Around::Worker { state, .. } => (*state, None),
        };
        Env { slots: self.slots, state, functions: self.functions, host }
    }

    /// The database and the transaction.
    ///
    /// # Errors
    /// In a worker whose plan reads no table.
    pub(crate) fn engine(&mut self) -> Result<(&Database, &mut Transaction), Fault> {
        match &mut self.around {
            Around::Session { context, .. } => Ok(context.engine()),
            Around::Worker { engine: Some((database, child)), .. } => Ok((&**database, &mut **child)),
            Around::Worker { engine: None, .. } => Err(crate::errors::worker_lost()),
        }
    }

    /// What the session's statements may keep in memory; none within a worker, which keeps nothing.
    #[inline]
    pub(crate) fn budget(&self) -> Option<&Arc<Budget>> {
        match &self.around {
            Around::Session { context, .. } => Some(&context.budget),
            Around::Worker { .. } => None,
        }
    }

    /// Whether rows of the session are on tapes.
    #[inline]
    pub(crate) fn has_spilled(&self) -> bool {
        self.budget().is_some_and(|budget| budget.has_spilled())
    }

    /// How many workers a plan may have; none within a worker.
    pub(crate) fn degree(&self) -> Option<usize> {
        let Around::Session { context, .. } = &self.around else {
            return None;
        };
        Some(context.degree(self.degree_wanted))
    }

    /// The worker of this number, with copies of all that it reads.
    pub(crate) fn worker(&self, number: usize, operator: Operator, dispenser: &Arc<Dispenser>) -> Option<Worker> {
        let Around::Session { context, .. } = &self.around else {
            return None;
        };
        Some(Worker {
            operator,
            dispenser: Arc::clone(dispenser),
            slots: self.slots.clone(),
            state: Arc::new(context.state.clone()),
            functions: self.functions.clone(),
            cancelled: Arc::clone(&context.cancelled),
            lock_timeout_ms: context.lock_timeout_ms(),
            scheduler: context.scheduler_of(number),
            database: Arc::clone(context.database()),
            child: None,
            meter: ReadMeter::current(),
            tally: Arc::default(),
        })
    }

    /// What the views show of the session's workers.
    pub(crate) fn worker_info(&self, command: &'static str) -> TaskInfo {
        let session_id = match &self.around {
            Around::Session { context, .. } => Some(context.state.session_id),
            Around::Worker { .. } => None,
        };
        TaskInfo { session_id, command }
    }

    /// Stores an expression's value into a slot. The expression may read that slot.
    #[inline]
    pub(crate) fn assign(&mut self, slot: usize, expr: &Expr) -> Result<(), Fault> {
        if let Expr::Integer(integer, width) = expr {
            let value = integer.value(&mut self.env())?;
            width.store(value, &mut self.slots[slot]);
            return Ok(());
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        let result = expr.eval_into(&mut self.env(), &mut scratch);
        self.scratch = scratch;
        result?;
        std::mem::swap(&mut self.slots[slot], &mut self.scratch);
        Ok(())
    }
}
