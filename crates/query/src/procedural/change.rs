//! Changes of rows that joined rows find: UPDATE and DELETE with FROM, and MERGE.
//!
//! ```text
//!   Collect   all joined rows are read; each that a branch takes is kept, a row of the table once
//!      │      (deletes come first then, updates next, inserts last)
//!   Read      the row's newest version; if it is not what was joined, the statement begins again
//!   Change    what it becomes is computed from the values kept
//!   Check     whether it may be so
//!   Write     (behind the last row, those that got new keys are put in their places, and OUTPUT in the order of Collect)
//! ```

use std::collections::HashMap;

use super::Machine;
use super::block_rules::RowChange;
use super::modify::identity_value;
use super::statement::StatementState;
use super::statement_rows::quantum_over;
use crate::access::Stop;
use crate::access::check_required;
use crate::errors;
use crate::executor::{percent_of, share};
use crate::expression::{Expr, Fault, Integer};
use crate::plan::{BranchAction, BranchRows, Change, ColumnSource, Insert, Statement, TopCount};
use pikepole_engine::{Locator, RowCount, TableWriter, TriggerEvent};
use pikepole_types::{SqlError, Value};

/// What is to be done next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    #[default]
    Collect,
    Read,
    Change,
    Check,
    Write,
}

/// A row that a branch takes.
struct Taken {
    branch: usize,
    /// What OUTPUT tells in the order of: whether the source row has a whole key, and how many were taken before it.
    rank: (bool, usize),
    locator: Locator,
    kept: Vec<Value>,
}

/// The state of a [`Change`].
#[derive(Default)]
pub(crate) struct ChangeState {
    stage: Stage,
    /// The places of the rows taken.
    found: HashMap<Vec<u8>, ()>,
    rows: Vec<Taken>,
    next: usize,
    /// Whether what OUTPUT says is in the order in which the rows were joined.
    is_output_sorted: bool,
    writer: Option<TableWriter>,
    row: Vec<Value>,
    /// The rowversion that the row was dealt.
    number: Option<u64>,
    /// The row is computed but for its identity value.
    is_computed: bool,
    /// The values of variables that the statement sets, as it found them.
    variables: Vec<(usize, Value)>,
}

impl ChangeState {
    /// The row that was written last, and its place.
    pub(super) fn written(&self) -> (&[Value], &[u8]) {
        (&self.row, self.writer.as_ref().map_or(&[], TableWriter::place))
    }

    pub(crate) fn reset(&mut self) {
        self.stage = Stage::Collect;
        self.found.clear();
        self.rows.clear();
        self.next = 0;
        self.is_output_sorted = false;
        (self.number, self.is_computed) = (None, false);
        self.variables.clear();
        self.writer.iter_mut().for_each(TableWriter::begin_statement);
    }
}

impl Machine<'_> {
    pub(crate) fn change_rows(
        &mut self,
        plan: &Statement,
        change: &Change,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        let result = self.advance_change(plan, change, state);
        if let Err(Stop::Again(_)) = &result {
            // A second attempt finds the variables as the first one did.
            for (slot, value) in state.change.variables.drain(..) {
                self.frame.slots[slot] = value;
            }
        }
        result
    }

    fn advance_change(&mut self, plan: &Statement, change: &Change, state: &mut StatementState) -> Result<bool, Stop> {
        if state.change.stage == Stage::Collect {
            if !self.collect_changes(plan, change, state)? {
                return Ok(false);
            }
            state.change.stage = Stage::Read;
        }
        state.change.writer.get_or_insert_with(|| change.table.engine.writer());
        loop {
            self.record_former(plan, &mut state.modify.late.keeping)?;
            let Some(taken) = state.change.rows.get(state.change.next) else {
                if change.branches.len() > 1 && !std::mem::replace(&mut state.change.is_output_sorted, true) {
                    state.output.sort_by(|at| state.change.rows[at].rank);
                }
                return self.place_moved(&change.table, state.change.writer.as_mut());
            };
            let action = &change.branches[taken.branch].action;
            match state.change.stage {
                Stage::Collect | Stage::Read => {
                    self.read_taken(change, action, state)?;
                    state.change.stage = Stage::Change;
                }
                Stage::Change => {
                    self.compute_change(plan, change, action, state)?;
                    state.change.stage = if state.firing.is_instead() { Stage::Write } else { Stage::Check };
                }
                Stage::Check => {
                    self.check_changed_row(plan, change, action, state)?;
                    state.change.stage = Stage::Write;
                }
                Stage::Write => {
                    if !state.firing.is_instead() && !self.write_change(change, action, state)? {
                        return Err(Stop::Again(change.table.qualified_name()));
                    }
                    self.keep_former(plan, change, action, state)?;
                    note_change(plan, change, action, &self.frame.slots, state);
                    self.tell_change(change, action, state)?;
                    state.change.stage = Stage::Read;
                    state.change.next += 1;
                    state.rows += 1;
                    if quantum_over(state.rows) {
                        return Ok(false);
                    }
                }
            }
        }
    }

    /// Reads all joined rows. False: the quantum is over, there are more.
    fn collect_changes(&mut self, plan: &Statement, change: &Change, state: &mut StatementState) -> Result<bool, Stop> {
        let mut maximum = match &change.top {
            Some(TopCount::Rows(count)) => self.rows_wanted(count)?,
            _ => usize::MAX,
        };
        while state.change.rows.len() < maximum {
            let take = |machine: &mut Self, state: &mut StatementState| {
                if let Some(TopCount::OfRow(count)) = &change.top {
                    maximum = machine.rows_wanted(count)?;
                }
                if state.change.rows.len() < maximum { machine.take_joined(change, state) } else { Ok(()) }
            };
            if !self.next_row(plan, state, take)? {
                break;
            }
        }
        if let Some(TopCount::Percent(percent)) = &change.top {
            let percent = percent_of(&percent.eval(&mut self.env())?)?;
            let count = share(percent, state.change.rows.len());
            state.change.rows.truncate(usize::try_from(count).unwrap_or(usize::MAX));
        }
        let limit = self.context.settings.row_count;
        if limit > 0 {
            state.change.rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
        // A key that is deleted can be inserted by the same statement.
        state.change.rows.sort_by_key(|taken| match change.branches[taken.branch].action {
            BranchAction::Delete => 0,
            BranchAction::Update { .. } => 1,
            BranchAction::Insert(_) => 2,
        });
        for branch in &change.branches {
            if let BranchAction::Update { variables, .. } = &branch.action {
                let values = variables.iter().map(|(slot, _)| (*slot, self.frame.slots[*slot].clone()));
                state.change.variables.extend(values);
            }
        }
        Ok(true)
    }

    fn rows_wanted(&mut self, count: &Integer) -> Result<usize, Fault> {
        match count.eval(&mut self.env())?.map(usize::try_from) {
            Some(Ok(count)) => Ok(count),
            _ => Err(errors::top_negative()),
        }
    }

    /// Keeps the joined row in the registers, if a branch takes it.
    fn take_joined(&mut self, change: &Change, state: &mut StatementState) -> Result<(), Fault> {
        let place = self.frame.slots[change.locator].clone();
        let has_source = change.source.is_none_or(|slot| !self.frame.slots[slot].is_null());
        let rows = match (&place, has_source) {
            (Value::Null, _) => BranchRows::NotMatchedByTarget,
            (_, true) => BranchRows::Matched,
            (_, false) => BranchRows::NotMatchedBySource,
        };
        let mut chosen = None;
        for (at, branch) in change.branches.iter().enumerate().filter(|(_, branch)| branch.rows == rows) {
            let holds = match &branch.condition {
                None => true,
                Some(condition) => condition.holds(&mut self.env())?,
            };
            if holds {
                chosen = Some(at);
                break;
            }
        }
        let Some(branch) = chosen else {
            return Ok(());
        };
        let place = match place {
            Value::Bin(place) => place,
            _ => Vec::new(),
        };
        if rows != BranchRows::NotMatchedByTarget && state.change.found.insert(place.clone(), ()).is_some() {
            // To delete it twice is to delete it.
            if change.refuses_twice && !matches!(change.branches[branch].action, BranchAction::Delete) {
                return Err(Box::new(SqlError::merge_row_twice()));
            }
            return Ok(());
        }
        let kept = change.kept.iter().map(|slot| self.frame.slots[*slot].clone()).collect();
        let has_key = rows != BranchRows::NotMatchedByTarget
            || change.source_keys.iter().all(|slot| !self.frame.slots[*slot].is_null());
        let rank = (has_key, state.change.rows.len());
        state.change.rows.push(Taken { branch, rank, locator: Locator::from_bytes(place), kept });
        Ok(())
    }

    /// Puts the values kept with the row at hand into their registers, when the row still is what was joined.
    fn read_taken(&mut self, change: &Change, action: &BranchAction, state: &mut StatementState) -> Result<(), Stop> {
        let taken = &state.change.rows[state.change.next];
        if !matches!(action, BranchAction::Insert(_))
            && let Some(writer) = &mut state.change.writer
        {
            let (database, tx) = self.context.engine();
            let out = &mut self.frame.slots[change.registers.range()];
            let found = database.try_read_current(tx, &change.table.engine, writer, &taken.locator, out)?;
            let own = &taken.kept[..change.registers.count];
            if !found || own.iter().zip(out).any(|(kept, now)| kept != now) {
                return Err(Stop::Again(change.table.qualified_name()));
            }
        }
        for (slot, value) in change.kept.iter().zip(&taken.kept) {
            self.frame.slots[*slot].clone_from(value);
        }
        Ok(())
    }

    /// Computes the row to be written.
    fn compute_change(
        &mut self,
        plan: &Statement,
        change: &Change,
        action: &BranchAction,
        state: &mut StatementState,
    ) -> Result<(), Stop> {
        if matches!(action, BranchAction::Delete) {
            return Ok(());
        }
        let instead = state.firing.is_instead();
        if !instead && state.change.number.is_none() {
            state.change.number = self.row_number(plan.rules.as_deref(), &change.table.engine)?;
        }
        match action {
            BranchAction::Delete => return Ok(()),
            BranchAction::Update { assignments, variables } => {
                self.compute_update(change, assignments, variables, state)?;
            }
            BranchAction::Insert(insert) => self.compute_insert(insert, state)?,
        }
        let number = state.change.number.take();
        state.change.is_computed = false;
        if let Some(rules) = &plan.rules {
            self.shape_row(rules, number, &mut state.change.row)?;
        }
        if instead {
            return Ok(());
        }
        let verb = if matches!(action, BranchAction::Insert(_)) { "INSERT" } else { "UPDATE" };
        let columns = 0..change.table.columns.len();
        Ok(check_required(&change.table, columns, &state.change.row, verb)?)
    }

    fn compute_update(
        &mut self,
        change: &Change,
        assignments: &[(usize, Expr)],
        variables: &[(usize, Expr)],
        state: &mut StatementState,
    ) -> Result<(), Fault> {
        let row = &mut state.change.row;
        row.clear();
        row.extend_from_slice(&self.frame.slots[change.registers.range()]);
        for (column, value) in assignments {
            value.eval_into(&mut self.env(), &mut row[*column])?;
        }
        for (slot, value) in variables {
            self.assign(*slot, value)?;
        }
        Ok(())
    }

    fn compute_insert(&mut self, insert: &Insert, state: &mut StatementState) -> Result<(), Stop> {
        let row = &mut state.change.row;
        if !state.change.is_computed {
            row.clone_from(&insert.template);
            for (source, value) in insert.rows.iter().flatten().zip(row.iter_mut()) {
                if let ColumnSource::Value(expr) = source {
                    expr.eval_into(&mut self.env(), value)?;
                }
            }
            state.change.is_computed = true;
        }
        if let Some(column) = insert.table.identity {
            let (database, tx) = self.context.engine();
            if state.firing.is_instead() {
                if insert.explicit_identity.is_none() {
                    row[column] = identity_value(0, &insert.table.columns[column].ty)?;
                }
                return Ok(());
            }
            if insert.explicit_identity.is_none() {
                let dealt = database.try_next_identity(tx, &insert.table.engine)?;
                row[column] = identity_value(dealt, &insert.table.columns[column].ty)?;
            } else if let Some(value) = row[column].as_i64() {
                database.try_pass_identity(tx, &insert.table.engine, value)?;
            }
            self.context.state.identity.clone_from(&row[column]);
            self.context.state.scope_identity.clone_from(&row[column]);
        } else {
            self.forget_identity();
        }
        Ok(())
    }

    /// Looks whether the row may be changed so.
    fn check_changed_row(
        &mut self,
        plan: &Statement,
        change: &Change,
        action: &BranchAction,
        state: &mut StatementState,
    ) -> Result<(), Stop> {
        let Some(rules) = &plan.rules else { return Ok(()) };
        let kind = match action {
            BranchAction::Update { .. } => RowChange::Update,
            BranchAction::Delete => RowChange::Delete,
            BranchAction::Insert(_) => RowChange::Insert,
        };
        if kind != RowChange::Delete {
            self.check_row(plan, rules, state)?;
        }
        let row = std::mem::take(&mut state.change.row);
        let passed = self.check_blocks(plan, state, kind, change.registers, &row);
        state.change.row = row;
        passed
    }

    /// Writes the row. False: somebody has changed it since it was read.
    fn write_change(
        &mut self,
        change: &Change,
        action: &BranchAction,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        let ChangeState { rows, next, writer, row, .. } = &mut state.change;
        let Some(writer) = writer else {
            return Ok(true);
        };
        let table = &change.table.engine;
        let locator = &rows[*next].locator;
        let (database, tx) = self.context.engine();
        Ok(match action {
            BranchAction::Update { .. } => database.try_update(tx, table, writer, locator, row)?,
            BranchAction::Delete => database.try_delete(tx, table, writer, locator)?,
            BranchAction::Insert(_) => {
                database.try_insert(tx, table, writer, row, RowCount::Many)?;
                true
            }
        })
    }

    /// Keeps what the row was that was just written, where its table has a history.
    fn keep_former(
        &mut self,
        plan: &Statement,
        change: &Change,
        action: &BranchAction,
        state: &mut StatementState,
    ) -> Result<(), Fault> {
        let history = plan.rules.as_ref().and_then(|rules| rules.history.as_ref());
        match history.filter(|_| !state.firing.is_instead() && !matches!(action, BranchAction::Insert(_))) {
            None => Ok(()),
            Some(history) => {
                let old = &self.frame.slots[change.registers.range()];
                state.modify.late.keeping.note(history, old, self.context.transaction_time())
            }
        }
    }

    fn tell_change(&mut self, change: &Change, action: &BranchAction, state: &mut StatementState) -> Result<(), Fault> {
        let Some(output) = &change.output else {
            return Ok(());
        };
        let word = match action {
            BranchAction::Update { .. } => "UPDATE",
            BranchAction::Delete => "DELETE",
            BranchAction::Insert(_) => "INSERT",
        };
        if let Some(slot) = output.action {
            self.frame.slots[slot] = Value::from(word);
        }
        let row = std::mem::take(&mut state.change.row);
        let new = (!matches!(action, BranchAction::Delete)).then_some(row.as_slice());
        let told = self.keep_output(output, new, state);
        state.change.row = row;
        told
    }
}

/// Notes what foreign keys ask and what triggers see of the row that was just written; the old one is in its registers.
fn note_change(plan: &Statement, change: &Change, action: &BranchAction, slots: &[Value], state: &mut StatementState) {
    let (event, has_old, has_new) = match action {
        BranchAction::Insert(_) => (TriggerEvent::Insert, false, true),
        BranchAction::Update { .. } => (TriggerEvent::Update, true, true),
        BranchAction::Delete => (TriggerEvent::Delete, true, false),
    };
    let old = has_old.then(|| &slots[change.registers.range()]);
    let new = has_new.then_some(state.change.row.as_slice());
    if let Some(rules) = plan.rules.as_ref().filter(|_| !state.firing.is_instead()) {
        let late = &mut state.modify.late;
        new.iter().for_each(|new| late.note_new(rules, new));
        old.iter().for_each(|old| late.note_old(rules, old, new));
    }
    if let Some(triggers) = &plan.triggers {
        state.firing.note(triggers, event, old, new);
    }
}
