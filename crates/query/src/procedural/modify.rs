//! INSERT, UPDATE and DELETE, row by row.
//!
//! A row that was evaluated stays in the state until the engine has taken it, so that a need awaited in between changes
//! nothing. UPDATE and DELETE read the newest version of each row the scan has found, test the condition again, and write;
//! when somebody changed the row in between they read it again. Subqueries that depend on the row are evaluated again too, unless
//! they read the table that is changed: then all run before the first change, and their results are kept with the rows.

use std::sync::Arc;

use super::Machine;
use super::block_rules::RowChange;
use super::rules::{LateWork, has_late_work};
use super::statement::StatementState;
use super::statement_rows::quantum_over;
use crate::access::{Stop, Table, check_required};
use crate::errors;
use crate::executor::Cursor;
use crate::executor::Making;
use crate::executor::batch::Operator;
use crate::executor::parallel::{self, Crew, Filling, InsertWork, PacketList, Part, Target};
use crate::expression::{Fault, Width};
use crate::plan::{
    Action, Changed, ColumnSource, Delete, Insert, Node, OutputPlan, Registers, RowSubqueries, Statement, Update,
};
use pikepole_engine::{
    Exchange, Locator, LockMode, Placed, Residence, RowCount, TableWriter, Transaction, TriggerEvent,
};
use pikepole_types::{SqlError, SqlType, Value};

/// Times that a statement begins again for a newer snapshot. It has locked its rows by then.
const RENEWALS_MAX: u32 = 10;

/// What is to be done next with the row at hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Stage {
    /// There is none.
    #[default]
    Next,
    /// An identity value is to be dealt.
    Identity,
    /// Its newest version is to be read.
    Read,
    /// The condition is to be tested on that.
    Test,
    /// What it becomes is to be computed.
    Change,
    /// What it has become is to be looked at.
    Check,
    /// It is to be written.
    Write,
    /// There is none left; those that get new keys are to be put in their places.
    Place,
}

/// The state of a statement that changes rows.
#[derive(Default)]
pub(crate) struct ModifyState {
    stage: Stage,
    pub(super) writer: Option<TableWriter>,
    /// The row to be written.
    pub(super) row: Vec<Value>,
    /// The rowversion that it was dealt.
    number: Option<u64>,
    /// The list of VALUES at hand.
    list: usize,
    /// True while the source's row has VALUES lists left.
    within: bool,
    pub(crate) locator: Locator,
    /// The rows to change, when they are collected before the first is changed, and what is kept with each.
    collected: Vec<(Locator, Vec<Value>)>,
    /// True until all are.
    collecting: bool,
    next: usize,
    /// Evaluates subqueries over the row's newest version.
    pub(crate) again: Option<Cursor>,
    bulk: Bulk,
    /// The empty table that workers fill.
    filling: Option<Arc<Filling>>,
    /// What is left to do after the last row.
    pub(crate) late: LateWork,
    /// Rows were left out whose keys are there: IGNORE_DUP_KEY.
    pub(crate) left_out: bool,
}

/// Whether workers insert a statement's rows.
#[derive(Default)]
enum Bulk {
    #[default]
    Undecided,
    /// They do not, or have done so.
    Row,
    /// They are at it; each leaves its transaction and how many rows it has inserted.
    Workers(Crew<(Option<Transaction>, u64)>),
    /// They have filled an empty table, which has their rows.
    Filled,
}

impl ModifyState {
    pub(crate) fn new(plan: &Statement) -> ModifyState {
        let (changed, row) = match &plan.action {
            Action::Insert(insert) => {
                let (table, row) = (&insert.table.engine, insert.template.clone());
                let mut writer = table.writer().with_level(insert.memory_level);
                // Rules give the row values, too.
                if let ([sources], None) = (insert.rows.as_slice(), &plan.rules) {
                    let is_constant = |column: usize| matches!(sources[column], ColumnSource::Template);
                    writer = writer.with_constants(table, &row, is_constant);
                }
                return ModifyState { writer: Some(writer), row, ..ModifyState::default() };
            }
            Action::Update(update) => (&update.changed, vec![Value::Null; update.changed.table.columns.len()]),
            Action::Delete(delete) => (&delete.changed, Vec::new()),
            Action::Select { .. } | Action::Assign { .. } | Action::Change(_) | Action::Instead(_) => {
                return ModifyState::default();
            }
        };
        // There is one row at a time, which no other can come before.
        let making = Making { regroups: false, ..Making::plain(&plan.live) };
        let again = match &changed.subqueries {
            RowSubqueries::Again(node) => Some(Cursor::new(node, making)),
            RowSubqueries::None | RowSubqueries::Kept(_) => None,
        };
        let writer = Some(changed.table.engine.writer());
        ModifyState { writer, row, again, collecting: true, ..ModifyState::default() }
    }

    /// The row that was written last, and its place.
    pub(super) fn written(&self) -> (&[Value], &[u8]) {
        (&self.row, self.writer.as_ref().map_or(&[], TableWriter::place))
    }

    /// Back to the first row; what is to be done after the last one is forgotten apart.
    pub(crate) fn reset(&mut self) {
        self.stage = Stage::Next;
        self.bulk = Bulk::Undecided;
        self.filling = None;
        self.list = 0;
        self.number = None;
        self.within = false;
        self.left_out = false;
        self.collected.clear();
        self.collecting = true;
        self.next = 0;
        self.writer.iter_mut().for_each(TableWriter::begin_statement);
        if let Some(cursor) = &mut self.again {
            cursor.forget();
            cursor.open();
        }
    }
}

/// A dealt number as a value of the column's type; 8115 when the type has no more.
pub(super) fn identity_value(dealt: i64, ty: &SqlType) -> Result<Value, Fault> {
    if let Some(width) = Width::of(ty) {
        if !width.fits(dealt) {
            return Err(Box::new(SqlError::arithmetic_overflow("IDENTITY", ty.error_name())));
        }
        return Ok(width.value(dealt));
    }
    let value = pikepole_types::convert(&Value::BigInt(dealt), &SqlType::BigInt, ty, None)?;
    Ok(value)
}

impl Machine<'_> {
    pub(crate) fn insert_rows(
        &mut self,
        plan: &Statement,
        insert: &Insert,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        let instead = state.firing.is_instead();
        let single = matches!(plan.source, Node::One) && insert.rows.len() == 1;
        let alone = single && insert.table_lock.is_none();
        if !alone && self.insert_by_workers(plan, insert, state)? {
            return Ok(true);
        }
        // A row that commits by itself must be the last thing that can go wrong.
        let is_last = !has_late_work(plan) && !insert.output.as_ref().is_some_and(OutputPlan::can_fail);
        let count = if single && is_last { RowCount::One } else { RowCount::Many };
        loop {
            if state.modify.stage == Stage::Next {
                if !state.modify.within {
                    let begin = |_: &mut Self, state: &mut StatementState| {
                        (state.modify.within, state.modify.list) = (true, 0);
                        Ok(())
                    };
                    if !self.next_row(plan, state, begin)? {
                        return Ok(true);
                    }
                }
                let Some(sources) = insert.rows.get(state.modify.list) else {
                    state.modify.within = false;
                    continue;
                };
                state.modify.list += 1;
                for (source, value) in sources.iter().zip(&mut state.modify.row) {
                    if let ColumnSource::Value(expr) = source {
                        expr.eval_into(&mut self.env(), value)?;
                    }
                }
                state.modify.stage = Stage::Identity;
            }
            if state.modify.stage == Stage::Identity {
                self.complete_row(plan, insert, state)?;
                state.modify.stage = Stage::Check;
            }
            self.check_new(plan, state, RowChange::Insert, Registers::default())?;
            let modify = &mut state.modify;
            let Some(writer) = &mut modify.writer else {
                return Ok(true);
            };
            if !instead {
                let (database, tx) = self.context.engine();
                let placed = database.try_place(tx, &insert.table.engine, writer, &modify.row, count)?;
                if placed == Placed::LeftOut {
                    modify.stage = Stage::Next;
                    modify.left_out = true;
                    if single {
                        return Ok(true);
                    }
                    if quantum_over(0) {
                        return Ok(false);
                    }
                    continue;
                }
                if let Some(rules) = &plan.rules {
                    modify.late.note_new(rules, &modify.row);
                }
            }
            if let Some(triggers) = &plan.triggers {
                state.firing.note(triggers, TriggerEvent::Insert, None, Some(&modify.row));
            }
            modify.stage = Stage::Next;
            state.rows += 1;
            if let Some(output) = &insert.output {
                let row = std::mem::take(&mut state.modify.row);
                let kept = self.keep_output(output, Some(&row), state);
                state.modify.row = row;
                kept?;
            }
            if single {
                return Ok(true);
            }
            if quantum_over(state.rows) {
                return Ok(false);
            }
        }
    }

    /// Gives the row what the statement does not: its identity value, its number, its computed columns. What an INSTEAD OF
    /// trigger sees has only the last: it decides itself what is inserted.
    fn complete_row(&mut self, plan: &Statement, insert: &Insert, state: &mut StatementState) -> Result<(), Stop> {
        if state.firing.is_instead() {
            if let (Some(column), None) = (insert.table.identity, insert.explicit_identity) {
                state.modify.row[column] = identity_value(0, &insert.table.columns[column].ty)?;
            }
            if let Some(rules) = &plan.rules {
                self.shape_row(rules, None, &mut state.modify.row)?;
            }
            return Ok(());
        }
        if state.modify.number.is_none() {
            state.modify.number = self.row_number(plan.rules.as_deref(), &insert.table.engine)?;
        }
        self.identity(insert, &mut state.modify.row)?;
        let number = state.modify.number.take();
        if let Some(rules) = &plan.rules {
            self.shape_row(rules, number, &mut state.modify.row)?;
        }
        let required = insert.required.iter().copied();
        check_required(&insert.table, required, &state.modify.row, "INSERT")?;
        Ok(())
    }

    /// Looks whether the row that was completed may be so.
    #[inline]
    fn check_new(
        &mut self,
        plan: &Statement,
        state: &mut StatementState,
        change: RowChange,
        old: Registers,
    ) -> Result<(), Stop> {
        if state.modify.stage == Stage::Check {
            if let Some(rules) = plan.rules.as_ref().filter(|_| !state.firing.is_instead()) {
                if change != RowChange::Delete {
                    self.check_row(plan, rules, state)?;
                }
                let row = std::mem::take(&mut state.modify.row);
                let passed = self.check_blocks(plan, state, change, old, &row);
                state.modify.row = row;
                passed?;
            }
            state.modify.stage = Stage::Write;
        }
        Ok(())
    }

    /// Has workers insert the rows, when they are many. False: they are to be inserted row by row.
    fn insert_by_workers(
        &mut self,
        plan: &Statement,
        insert: &Insert,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        match &mut state.modify.bulk {
            Bulk::Row => return Ok(false),
            Bulk::Filled => return Ok(true),
            Bulk::Workers(crew) => {
                let Some((left, result)) = crew.outcome() else {
                    return Err(Stop::Team(crew.team()));
                };
                if let Some(profile) = &state.profile {
                    profile.counts(&plan.source).add_workers(crew.runs());
                }
                let gathered = crew.gathered();
                state.modify.bulk = Bulk::Row;
                let (children, rows): (Vec<_>, Vec<_>) = left.into_iter().unzip();
                let (database, tx) = self.context.engine();
                // Also after a failure: what they have changed is undone with the statement.
                database.merge_children(tx, children.into_iter().flatten().collect());
                result?;
                state.rows = gathered.unwrap_or_else(|| rows.into_iter().sum());
                if let Some(filling) = state.modify.filling.take() {
                    state.modify.bulk = Bulk::Filled;
                    return Err(Stop::Fill(filling));
                }
                return Ok(true);
            }
            Bulk::Undecided => {}
        }
        let table = &insert.table.engine;
        if let Some(mode) = insert.table_lock {
            let (database, tx) = self.context.engine();
            database.try_lock_table(tx, table, mode)?;
        }
        state.modify.bulk = self.start_bulk(plan, insert, state)?;
        match &state.modify.bulk {
            Bulk::Workers(crew) => Err(Stop::Team(crew.team())),
            _ => Ok(false),
        }
    }

    fn start_bulk(&mut self, plan: &Statement, insert: &Insert, state: &mut StatementState) -> Result<Bulk, Stop> {
        // Rows with rules are checked one by one, triggers see each, and so does whoever leaves some out; temporary tables and
        // those of other databases have a transaction of their own.
        let engine = &insert.table.engine;
        let is_here = engine.residence() == Residence::Database;
        if plan.rules.is_some() || plan.triggers.is_some() || engine.ignores_duplicates() || !is_here {
            return Ok(Bulk::Row);
        }
        let mut shared = Operator::of_scan(&plan.source);
        let Some(operator) = shared.as_mut().or(state.cursor.as_mut().and_then(Cursor::operator)) else {
            return Ok(Bulk::Row);
        };
        let database = Arc::clone(self.context.database());
        let Some(work) = InsertWork::of(insert).filter(|_| self.context.settings.row_count == 0) else {
            return Ok(Bulk::Row);
        };
        let mut run = self.run_view(&state.virtual_rows, &state.shared, plan);
        let info = run.worker_info("INSERT");
        let Some(mut workers) = parallel::workers(operator, &plan.source, &mut run)? else {
            return Ok(Bulk::Row);
        };
        let (_, tx) = self.context.engine();
        let table = &insert.table.engine;
        database.try_lock_table(tx, table, insert.table_lock.unwrap_or(LockMode::IX))?;
        if state.modify.filling.is_none() && insert.fills && database.try_can_fill(tx, table)? {
            let filling = state.modify.filling.insert(Filling::new(table));
            return Err(Stop::Fill(Arc::clone(filling)));
        }
        let fill = state.modify.filling.as_ref().and_then(|filling| filling.begun());
        let target = |_: &_| match &fill {
            Some(fill) => Target::Rows(fill.portion()),
            None => Target::of(&database, tx, &insert.table),
        };
        let targets: Vec<Target> = workers.iter().map(target).collect();
        let children = database.try_begin_children(tx, workers.len(), true)?;
        let server = self.context.server();
        let packets = match server.exchange() {
            Exchange::Counts => None,
            Exchange::Packets => Some(PacketList::new(workers.len(), server.statistics())),
        };
        let rest = work.with_packets(packets.clone());
        let part = Arc::new(Part { node: plan.source.clone(), live: plan.live.clone(), rest });
        workers.iter_mut().zip(children).for_each(|(worker, child)| worker.child = Some(child));
        let jobs = workers.into_iter().zip(targets).collect();
        let crew = Crew::start(jobs, info, packets, |worker, job| parallel::insert(worker, job, Arc::clone(&part)));
        Ok(crew.map_or(Bulk::Row, Bulk::Workers))
    }

    /// A row of a table without an identity column takes `@@IDENTITY` away, unless it is a trigger that writes it.
    pub(crate) fn forget_identity(&mut self) {
        let state = &mut self.context.state;
        if !state.identity.is_null() && state.triggers.is_empty() {
            state.identity = Value::Null;
        }
    }

    /// Deals the row's identity value, or notes the one given.
    pub(super) fn identity(&mut self, insert: &Insert, row: &mut [Value]) -> Result<(), Stop> {
        let Some(column) = insert.table.identity else {
            self.forget_identity();
            return Ok(());
        };
        let table = &insert.table.engine;
        if insert.explicit_identity.is_some() {
            let given = row[column].clone();
            if let Some(value) = given.as_i64() {
                let (database, tx) = self.context.engine();
                database.try_pass_identity(tx, table, value)?;
            }
            self.context.state.identity = given.clone();
            self.context.state.scope_identity = given;
            return Ok(());
        }
        let (database, tx) = self.context.engine();
        let dealt = database.try_next_identity(tx, table)?;
        let ty = insert.table.columns[column].ty;
        let value = identity_value(dealt, &ty)?;
        self.context.state.identity = value.clone();
        self.context.state.scope_identity = value.clone();
        row[column] = value;
        Ok(())
    }

    pub(crate) fn update_rows(
        &mut self,
        plan: &Statement,
        update: &Update,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        loop {
            self.record_former(plan, &mut state.modify.late.keeping)?;
            if state.modify.stage == Stage::Place || !self.next_current(plan, &update.changed, state)? {
                state.modify.stage = Stage::Place;
                return self.place_moved(&update.changed.table, state.modify.writer.as_mut());
            }
            if state.modify.stage == Stage::Change {
                self.complete_updated(plan, update, state)?;
                state.modify.stage = Stage::Check;
            }
            self.check_new(plan, state, RowChange::Update, update.changed.registers)?;
            let modify = &mut state.modify;
            let Some(writer) = &mut modify.writer else {
                return Ok(true);
            };
            if !state.firing.is_instead() {
                let (database, tx) = self.context.engine();
                let table = &update.changed.table.engine;
                if !database.try_update(tx, table, writer, &modify.locator, &modify.row)? {
                    modify.stage = Stage::Read;
                    continue;
                }
            }
            let old = &self.frame.slots[update.changed.registers.range()];
            if let Some(rules) = plan.rules.as_ref().filter(|_| !state.firing.is_instead()) {
                if let Some(history) = &rules.history {
                    modify.late.keeping.note(history, old, self.context.transaction_time())?;
                }
                modify.late.note_new(rules, &modify.row);
                modify.late.note_old(rules, old, Some(&modify.row));
            }
            if let Some(triggers) = &plan.triggers {
                state.firing.note(triggers, TriggerEvent::Update, Some(old), Some(&modify.row));
            }
            modify.stage = Stage::Next;
            state.rows += 1;
            if let Some(output) = &update.output {
                let row = std::mem::take(&mut state.modify.row);
                let kept = self.keep_output(output, Some(&row), state);
                state.modify.row = row;
                kept?;
            }
            if quantum_over(state.rows) {
                return Ok(false);
            }
        }
    }

    /// Puts the rows that got new keys in their places. False: the quantum is over, there are more.
    pub(super) fn place_moved(&mut self, table: &Table, writer: Option<&mut TableWriter>) -> Result<bool, Stop> {
        let Some(writer) = writer else {
            return Ok(true);
        };
        let (database, tx) = self.context.engine();
        while !database.try_place_moved(tx, &table.engine, writer)? {
            if quantum_over(0) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Computes the new row.
    fn complete_updated(&mut self, plan: &Statement, update: &Update, state: &mut StatementState) -> Result<(), Stop> {
        let instead = state.firing.is_instead();
        let number = if instead { None } else { self.row_number(plan.rules.as_deref(), &update.changed.table.engine)? };
        self.updated_row(update, state)?;
        if let Some(rules) = &plan.rules {
            self.shape_row(rules, number, &mut state.modify.row)?;
            if !instead {
                let computed = rules.computed.iter().map(|(column, _)| *column);
                check_required(&update.changed.table, computed, &state.modify.row, "UPDATE")?;
            }
        }
        Ok(())
    }

    /// Computes the new row from the registers, which hold the old one.
    pub(super) fn updated_row(&mut self, update: &Update, state: &mut StatementState) -> Result<(), Fault> {
        let old = &self.frame.slots[update.changed.registers.range()];
        for (new, old) in state.modify.row.iter_mut().zip(old) {
            new.clone_from(old);
        }
        self.assigned_columns(update, state)
    }

    /// Puts the new values of the columns that an update changes into the row.
    pub(super) fn assigned_columns(&mut self, update: &Update, state: &mut StatementState) -> Result<(), Fault> {
        for (column, value) in &update.assignments {
            value.eval_into(&mut self.env(), &mut state.modify.row[*column])?;
        }
        if !state.firing.is_instead() {
            let changed = update.assignments.iter().map(|(column, _)| *column);
            check_required(&update.changed.table, changed, &state.modify.row, "UPDATE")?;
        }
        for (slot, value) in &update.variables {
            self.assign(*slot, value)?;
        }
        Ok(())
    }

    pub(crate) fn delete_rows(
        &mut self,
        plan: &Statement,
        delete: &Delete,
        state: &mut StatementState,
    ) -> Result<bool, Stop> {
        loop {
            self.record_former(plan, &mut state.modify.late.keeping)?;
            if !self.next_current(plan, &delete.changed, state)? {
                return Ok(true);
            }
            if state.modify.stage == Stage::Change {
                state.modify.stage = Stage::Check;
            }
            self.check_new(plan, state, RowChange::Delete, delete.changed.registers)?;
            let modify = &mut state.modify;
            let Some(writer) = &mut modify.writer else {
                return Ok(true);
            };
            if !state.firing.is_instead() {
                let (database, tx) = self.context.engine();
                if !database.try_delete(tx, &delete.changed.table.engine, writer, &modify.locator)? {
                    modify.stage = Stage::Read;
                    continue;
                }
            }
            let old = &self.frame.slots[delete.changed.registers.range()];
            if let Some(rules) = plan.rules.as_ref().filter(|_| !state.firing.is_instead()) {
                if let Some(history) = &rules.history {
                    modify.late.keeping.note(history, old, self.context.transaction_time())?;
                }
                modify.late.note_old(rules, old, None);
            }
            if let Some(triggers) = &plan.triggers {
                state.firing.note(triggers, TriggerEvent::Delete, Some(old), None);
            }
            modify.stage = Stage::Next;
            state.rows += 1;
            if let Some(output) = &delete.output {
                self.keep_output(output, None, state)?;
            }
            if quantum_over(state.rows) {
                return Ok(false);
            }
        }
    }

    /// Brings the next row to change into its registers: its newest version, for which the condition holds. False: there is
    /// none. Does nothing while the row at hand is being changed.
    fn next_current(&mut self, plan: &Statement, changed: &Changed, state: &mut StatementState) -> Result<bool, Stop> {
        loop {
            match state.modify.stage {
                Stage::Next | Stage::Identity | Stage::Place => {
                    if !self.next_target(plan, changed, state)? {
                        return Ok(false);
                    }
                }
                Stage::Read => {
                    if self.read_current(changed, state)? {
                        state.modify.stage = Stage::Test;
                    } else {
                        self.let_go(plan, changed, state)?;
                    }
                }
                Stage::Test => {
                    if self.still_holds(plan, changed, state)? {
                        state.modify.stage = Stage::Change;
                    } else {
                        self.let_go(plan, changed, state)?;
                    }
                }
                Stage::Change | Stage::Check | Stage::Write => return Ok(true),
            }
        }
    }

    /// The row at hand has changed since it was found, and is not to be changed any more. Rows before it may be, now:
    /// where they were looked at long before, the statement begins again, and locks what it finds.
    fn let_go(&mut self, plan: &Statement, changed: &Changed, state: &mut StatementState) -> Result<(), Stop> {
        state.modify.stage = Stage::Next;
        let table = &changed.table;
        let sets_variables = matches!(&plan.action, Action::Update(update) if !update.variables.is_empty());
        let (_, tx) = self.context.engine();
        if state.modify.next > 0 && self.attempts == 0 && !sets_variables && !tx.isolation().is_per_transaction() {
            return Err(Stop::Again(table.qualified_name()));
        }
        tx.saw_change(&table.engine);
        Ok(())
    }

    /// The next row to change: its locator is in the state then, and it is to be read.
    fn next_target(&mut self, plan: &Statement, changed: &Changed, state: &mut StatementState) -> Result<bool, Stop> {
        if !changed.collects && state.modify.collecting {
            let take = |_: &mut Self, state: &mut StatementState| {
                if state.take_locator() {
                    state.modify.stage = Stage::Read;
                }
                Ok(())
            };
            return Ok(self.next_row(plan, state, take)? && state.modify.stage == Stage::Read);
        }
        self.collect_targets(plan, changed, state)?;
        let limit = self.context.settings.row_count;
        if limit > 0 && state.rows >= limit {
            return Ok(false);
        }
        let at = state.modify.next;
        let Some((locator, _)) = state.modify.collected.get(at) else {
            return Ok(false);
        };
        state.modify.locator.clone_from(locator);
        state.modify.next += 1;
        state.modify.stage = Stage::Read;
        Ok(true)
    }

    /// Finds the rows to change that have not been found yet.
    fn collect_targets(&mut self, plan: &Statement, changed: &Changed, state: &mut StatementState) -> Result<(), Stop> {
        while state.modify.collecting {
            let collect = |machine: &mut Self, state: &mut StatementState| {
                if !state.take_locator() {
                    state.modify.collecting = false;
                    return Ok(());
                }
                let value = |slot: &usize| machine.frame.slots[*slot].clone();
                let kept = match &changed.subqueries {
                    RowSubqueries::Kept(slots) => slots.iter().map(value).collect(),
                    _ => Vec::new(),
                };
                state.modify.collected.push((state.modify.locator.clone(), kept));
                Ok(())
            };
            if !self.next_row(plan, state, collect)? {
                state.modify.collecting = false;
            }
            if !state.modify.collecting {
                self.check_subqueries(changed)?;
            }
        }
        Ok(())
    }

    /// Subqueries over the table that is changed have read a snapshot from before what was waited for, of whose rows
    /// the newest are changed: the statement begins again, with a new snapshot.
    ///
    /// # Errors
    /// [`Stop::Again`].
    fn check_subqueries(&mut self, changed: &Changed) -> Result<(), Stop> {
        let is_kept = matches!(changed.subqueries, RowSubqueries::Kept(_)) && self.attempts < RENEWALS_MAX;
        let (_, tx) = self.context.engine();
        if is_kept && !tx.isolation().is_per_transaction() && tx.has_outwaited_snapshot(&changed.table.engine) {
            return Err(Stop::Again(changed.table.qualified_name()));
        }
        Ok(())
    }

    /// Finds the rows of a statement that changes columns, for when it is run.
    pub(super) fn find_targets(&mut self, state: &mut StatementState) -> Result<(), Stop> {
        let Some(plan) = state.plan() else {
            return Ok(());
        };
        match &plan.action {
            Action::Update(update) => self.collect_targets(&plan, &update.changed, state),
            _ => Ok(()),
        }
    }

    /// Reads the newest version of the row into its registers. False: it is gone.
    fn read_current(&mut self, changed: &Changed, state: &mut StatementState) -> Result<bool, Stop> {
        let modify = &mut state.modify;
        let Some(writer) = &mut modify.writer else {
            return Ok(false);
        };
        let (database, tx) = self.context.engine();
        let out = &mut self.frame.slots[changed.registers.range()];
        let found = database.try_read_current(tx, &changed.table.engine, writer, &modify.locator, out)?;
        if let Some(cursor) = &mut modify.again {
            cursor.again();
        }
        Ok(found)
    }

    /// Whether the condition holds for the row in the registers. The results of subqueries are those for this row then.
    fn still_holds(&mut self, plan: &Statement, changed: &Changed, state: &mut StatementState) -> Result<bool, Stop> {
        match &changed.subqueries {
            RowSubqueries::None => {}
            RowSubqueries::Again(node) => self.evaluate_again(node, plan, state)?,
            RowSubqueries::Kept(slots) => {
                let (_, kept) = &state.modify.collected[state.modify.next - 1];
                let (columns, results) = slots.split_at(changed.registers.count);
                if columns.iter().zip(kept).any(|(slot, value)| self.frame.slots[*slot] != *value) {
                    // Changes of this statement would show in the result now. What variables were before is not known.
                    let table = changed.table.qualified_name();
                    let sets_variables = matches!(&plan.action, Action::Update(update) if !update.variables.is_empty());
                    return Err(match sets_variables {
                        true => errors::row_changed_under_subquery(&table).into(),
                        false => Stop::Again(table),
                    });
                }
                for (slot, value) in results.iter().zip(&kept[columns.len()..]) {
                    self.frame.slots[*slot].clone_from(value);
                }
            }
        }
        Ok(match &changed.recheck {
            None => true,
            Some(recheck) => recheck.holds(&mut self.env())?,
        })
    }
}
