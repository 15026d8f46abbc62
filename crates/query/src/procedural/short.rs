//! Statements of atomic blocks that are one row of an in-memory table, by the shortest way.
//!
//! The general way keeps where a statement is, so that it can wait, fire triggers, send rows or be undone half done. An INSERT of one row into
//! an in-memory table, and a SELECT that assigns the values of the row of a whole unique key, do none of that: they have come to their end, or
//! have changed nothing. An INSERT is undone with its block, and seen by the statements behind it. Whatever is not as it mostly is goes
//! the general way: the first run, a plan that is outdated, a client that wants to see plans or times.

use super::Machine;
use super::statement::StatementState;
use crate::access::{Stop, Table, check_required};
use crate::plan::{Action, ColumnSource, Insert, Node, Scan, Statement, Told};
use crate::program::Program;
use pikepole_engine::{Residence, RowCount};

/// Tells if a plan has a shortest way.
pub(super) fn is_short(plan: &Statement) -> bool {
    let is_plain = plan.rules.is_none()
        && plan.triggers.is_none()
        && plan.virtual_sources.is_empty()
        && plan.others.is_empty()
        && plan.masks.is_empty()
        && plan.memory_percent.is_none();
    is_plain
        && match &plan.action {
            Action::Insert(insert) => inserts_one(plan, insert),
            Action::Assign { told: Told::Rows, .. } => matches!(&plan.source, Node::Scan(scan) if finds_one(scan)),
            _ => false,
        }
}

/// Tells if the rows of a table are in memory, in the database of the statement.
fn is_in_memory(table: &Table) -> bool {
    table.engine.residence() == Residence::Database && table.engine.is_in_memory()
}

fn inserts_one(plan: &Statement, insert: &Insert) -> bool {
    let is_one = matches!(plan.source, Node::One) && insert.rows.len() == 1 && insert.output.is_none();
    let is_alone = insert.table_lock.is_none() && insert.explicit_identity.is_none();
    is_one && is_alone && is_in_memory(&insert.table) && !insert.table.engine.ignores_duplicates()
}

/// Tells if a scan looks for a whole unique key.
fn finds_one(scan: &Scan) -> bool {
    let range = &scan.range;
    let is_equality = range.among.is_empty() && range.low.is_none() && range.high.is_none();
    let index = scan.table.engine.live_indexes().find(|index| Some(index.index_id) == range.index);
    let is_whole = index.is_some_and(|index| index.unique && index.columns.len() == range.prefix.len());
    is_in_memory(&scan.table) && is_equality && is_whole && scan.is_lookup()
}

impl Machine<'_> {
    /// Runs `late[index]` of an atomic block by the shortest way. False: it is to go the general one.
    pub(super) fn short_statement(&mut self, program: &Program, index: usize) -> Result<bool, Stop> {
        let Some(mut state) = self.frame.states[index].take() else { return Ok(false) };
        let done = self.try_short(program, &mut state);
        self.frame.states[index] = Some(state);
        done
    }

    fn try_short(&mut self, program: &Program, state: &mut StatementState) -> Result<bool, Stop> {
        let Some(plan) = state.take_short_plan() else { return Ok(false) };
        let context = &self.context;
        let is_usual = context.state.transaction_count > 0
            && !context.state.doomed
            && context.functions == 0
            && context.identity_table().is_none()
            && state.is_checked(context.security_serial())
            && self.frame.slots.len() >= plan.slots
            && self.fits(&plan, context.catalog_stamp())
            && !context.settings.watches_statements()
            && program.trigger.is_none();
        let done = match &plan.action {
            _ if !is_usual => Ok(false),
            Action::Insert(insert) => self.insert_shortly(&plan, insert, state).map(|()| true),
            _ => self.look_up_shortly(&plan, state).map(|()| true),
        };
        state.put_plan_back(plan);
        done
    }

    fn insert_shortly(&mut self, plan: &Statement, insert: &Insert, state: &mut StatementState) -> Result<(), Stop> {
        if plan.reads_clock {
            self.functions.now = crate::clock::now();
        }
        let modify = &mut state.modify;
        for (source, value) in insert.rows[0].iter().zip(&mut modify.row) {
            if let ColumnSource::Value(expr) = source {
                expr.eval_into(&mut self.env(), value)?;
            }
        }
        self.identity(insert, &mut modify.row)?;
        check_required(&insert.table, insert.required.iter().copied(), &modify.row, "INSERT")?;
        let Some(writer) = &mut modify.writer else { return Err(crate::errors::definition_changed().into()) };
        let (database, tx) = self.context.engine();
        database.try_insert(tx, &insert.table.engine, writer, &modify.row, RowCount::Many)?;
        self.context.rows_changed += 1;
        insert.table.engine.count_changes(1);
        self.context.state.row_count = 1;
        Ok(())
    }

    /// Assigns the values of the row that the plan finds, if there is one. Nothing stops it behind the assignment.
    fn look_up_shortly(&mut self, plan: &Statement, state: &mut StatementState) -> Result<(), Stop> {
        if plan.reads_clock {
            self.functions.now = crate::clock::now();
        }
        let (database, tx) = self.context.engine();
        database.begin_statement_in_memory(tx);
        state.rows = 0;
        if let Some(cursor) = &mut state.cursor {
            cursor.open();
        }
        let passed = self.next_row(plan, state, |machine, state| machine.pass_row(plan, state));
        if let Some(cursor) = &mut state.cursor {
            cursor.forget();
        }
        passed?;
        self.context.state.row_count = i64::try_from(state.rows).unwrap_or(i64::MAX);
        Ok(())
    }
}
