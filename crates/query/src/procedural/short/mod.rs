//! Statements of atomic blocks that are about one row of an in-memory table, by the shortest way.
//!
//! The general way keeps where a statement is, so that it can wait, fire triggers, send rows or be undone half done. An INSERT of one row into
//! an in-memory table does none of that, nor does a SELECT that assigns, an UPDATE or a DELETE of the row of a whole unique key: they have
//! come to their end, or have changed nothing. What they do is undone with the block, and seen by the statements behind it. Whatever is not
//! as it mostly is goes the general way: the first run, a plan that is outdated, a client that wants to see plans or times.
//!
//! A turn of the machine lasts as long as a module's code runs and nothing but its short statements does ([`Machine::begin_turn`]). It is looked
//! at once in a turn if all is as it mostly is, and if the table may be used.

mod insert;
mod point;

use std::sync::Arc;

#[cfg(test)]
pub(crate) use self::insert::MADE;
use self::insert::{NewRow, inserts_one};
use self::point::{Point, looked_up};
use super::Machine;
use super::statement::StatementState;
use crate::access::{Stop, Table};
use crate::plan::{Action, Statement};
use crate::program::Program;
use pikepole_engine::{MemoryUse, Residence};

/// The shortest way of a statement, with its plan.
pub(super) struct Short {
    plan: Arc<Statement>,
    way: Way,
    /// The leave to use its table, and the turn that it is for.
    admitted: Option<(u64, MemoryUse)>,
}

/// The shortest way of a plan.
enum Way {
    Insert(NewRow),
    /// The other statements, about the row that a lookup finds.
    Row(Point),
}

impl Short {
    /// The shortest way of a plan; None: it has none.
    pub(super) fn of(plan: &Arc<Statement>) -> Option<Short> {
        let is_plain = plan.rules.is_none()
            && plan.triggers.is_none()
            && plan.virtual_sources.is_empty()
            && plan.others.is_empty()
            && plan.masks.is_empty()
            && plan.memory_percent.is_none();
        if !is_plain {
            return None;
        }
        let way = match &plan.action {
            Action::Insert(insert) if inserts_one(plan, insert) => Way::Insert(NewRow::of(insert)),
            action => Way::Row(Point::of(looked_up(plan)?, action, plan)?),
        };
        Some(Short { plan: Arc::clone(plan), way, admitted: None })
    }
}

/// Tells if the rows of a table are in memory, in the database of the statement.
fn is_in_memory(table: &Table) -> bool {
    table.engine.residence() == Residence::Database && table.engine.is_in_memory()
}

#[cfg(test)]
std::thread_local! {
    /// Statements that this thread has run by the shortest way.
    pub(crate) static TAKEN: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

impl Machine<'_> {
    /// Short statements look again whether they may go their way: something else has run, or may have.
    pub(super) fn begin_turn(&mut self) {
        self.context.native_turn += 1;
    }

    /// Runs `late[index]` of an atomic block by the shortest way. False: it is to go the general one.
    pub(super) fn short_statement(&mut self, program: &Program, index: usize) -> Result<bool, Stop> {
        let Some(state) = &mut self.frame.states[index] else { return Ok(false) };
        let Some(mut short) = state.take_short() else { return Ok(false) };
        let done = self.run_shortly(program, &mut short, index);
        if let Some(state) = &mut self.frame.states[index] {
            state.put_short_back(short);
        }
        self.frame.has_run |= done.is_err();
        #[cfg(test)]
        TAKEN.set(TAKEN.get() + u32::from(matches!(done, Ok(true))));
        done
    }

    fn run_shortly(&mut self, program: &Program, short: &mut Short, index: usize) -> Result<bool, Stop> {
        let used = match short.admitted {
            Some((turn, used)) if turn == self.context.native_turn => used,
            _ => match self.admit(program, short, index)? {
                Some(used) => used,
                None => return Ok(false),
            },
        };
        let Short { plan, way, .. } = short;
        if plan.reads_clock {
            self.functions.now = crate::clock::now();
        }
        match (&plan.action, way) {
            (Action::Insert(insert), Way::Insert(row)) => {
                self.insert_shortly(program, insert, row, used).map(|()| true)
            }
            (action, Way::Row(point)) => self.row_shortly(action, point, used),
            _ => Ok(false),
        }
    }

    /// Looks if all is as it mostly is, and if the table may be used: if so, for the rest of the turn.
    fn admit(&mut self, program: &Program, short: &mut Short, index: usize) -> Result<Option<MemoryUse>, Stop> {
        let Short { plan, way, admitted } = short;
        let context = &self.context;
        let is_checked = |state: &StatementState| state.is_checked(context.security_serial());
        let is_usual = context.state.transaction_count > 0
            && !context.state.doomed
            && context.functions == 0
            && context.identity_table().is_none()
            && self.frame.states[index].as_deref().is_some_and(is_checked)
            && self.frame.slots.len() >= plan.slots
            && self.fits(plan, context.catalog_stamp())
            && !context.settings.watches_statements()
            && !context.server().native_counting().counts_statements()
            && program.trigger.is_none();
        if !is_usual {
            return Ok(None);
        }
        let (table, hint, changes) = match way {
            Way::Insert(row) => (row.table(), row.hint(), true),
            Way::Row(point) => (point.table(), point.hint(), !matches!(plan.action, Action::Assign { .. })),
        };
        let (database, tx) = self.context.engine();
        let used = database.try_use_in_memory(tx, table, hint, changes)?;
        *admitted = Some((self.context.native_turn, used));
        Ok(Some(used))
    }

    /// Counts the row that a statement has changed.
    fn changed_shortly(&mut self, table: &Table) {
        self.context.rows_changed += 1;
        table.engine.count_changes(1);
        self.context.state.row_count = 1;
    }
}
