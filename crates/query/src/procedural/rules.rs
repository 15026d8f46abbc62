//! Keeps the rules of a table while its rows are changed.
//!
//! What is to be looked at after the last row is kept in [`LateWork`], with how far the looks have come: each of them can stop
//! for a need. Rows that refer to a changed or deleted one follow it by statements of their own, made from the foreign key
//! and run within the one that changed the row; each sees the newest rows, and is run again while one is left.

use std::collections::HashMap;
use std::sync::Arc;

use super::Machine;
use super::block_rules::Blocking;
use super::former_rows::Keeping;
use super::gone::{GoneKey, Part, put_in_order};
use super::statement::{StatementState, function_elsewhere};
use super::statement_rows::quantum_over;
use crate::access::Stop;
use crate::bind::{self, Names};
use crate::context::ExecutionContext;
use crate::executor::Cursor;
use crate::executor::Making;
use crate::expression::Fault;
use crate::host::{Host, HostFuture};
use crate::output::ColumnInfo;
use crate::output::Output;
use crate::plan::{Action, Node, Statement};
use crate::program::{LateKind, Variable};
use crate::rules::{ReferencedRule, Rules};
use pikepole_engine::{Reference, ReferentialAction, Residence, Table};
use pikepole_tsql::bracketed;
use pikepole_types::{SqlError, SqlType, Value};

/// A cascade that always finds another row is not a race any more.
const RUNS_MAX: u32 = 100;

/// The functions that the rules of a row call.
struct Calls {
    cursor: Cursor,
    /// They are being called for the row at hand.
    under_way: bool,
}

/// A statement that has found the rows that refer to the last key of a ring, for when their turn comes.
struct Held {
    state: Box<StatementState>,
    values: Vec<Value>,
}

/// What rules ask for beside the row itself, and what is left to do after the last row.
#[derive(Default)]
pub(crate) struct LateWork {
    calls: Option<Calls>,
    /// Keys that must be there, by rule.
    wanted: Vec<(usize, Vec<Value>)>,
    gone: Vec<GoneKey>,
    ordered: bool,
    /// The first key of the ring at hand has been reached; what was found for its last one.
    opened: bool,
    held: Option<Held>,
    found: usize,
    cascaded: usize,
    verified: usize,
    runs: u32,
    running: Option<Box<StatementState>>,
    looks: HashMap<(Side, usize), Reference>,
    pub(crate) keeping: Keeping,
    pub(super) blocking: Blocking,
}

/// Where a look looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Side {
    /// At the table that a new row refers to.
    Target,
    /// At the rows that refer to a changed one.
    Source,
    /// At the changed table itself, for a row that has the key still or again.
    Own,
}

impl LateWork {
    pub(crate) fn reset(&mut self) {
        self.wanted.clear();
        self.gone.clear();
        (self.found, self.cascaded, self.verified, self.runs) = (0, 0, 0, 0);
        self.calls = None;
        self.blocking = Blocking::default();
        (self.ordered, self.opened) = (false, false);
        self.held = None;
        self.running = None;
        self.keeping.reset();
    }

    /// A row was inserted, or has become `new`.
    pub(crate) fn note_new(&mut self, rules: &Rules, new: &[Value]) {
        for (at, rule) in rules.references.iter().enumerate() {
            let key: Vec<Value> = rule.columns.iter().map(|column| new[*column].clone()).collect();
            let complete = key.iter().all(|value| !value.is_null());
            if complete && self.wanted.last() != Some(&(at, key.clone())) {
                self.wanted.push((at, key));
            }
        }
    }

    /// A row was deleted, or has become `new`.
    pub(crate) fn note_old(&mut self, rules: &Rules, old: &[Value], new: Option<&[Value]>) {
        for (at, rule) in rules.referenced.iter().enumerate() {
            let key_of = |row: &[Value]| rule.columns.iter().map(|column| row[*column].clone()).collect::<Vec<_>>();
            let old = key_of(old);
            let new = new.map(key_of);
            let complete = old.iter().all(|value| !value.is_null());
            if complete && new.as_ref() != Some(&old) {
                self.gone.push(GoneKey { rule: at, old, new, part: Part::Plain });
            }
        }
    }
}

impl Machine<'_> {
    /// The number for a row that is about to be written, where its table has a rowversion column. It comes first in the row's
    /// making: what waits here begins again, and must not have changed anything. Who waits behind it keeps it.
    pub(crate) fn row_number(&mut self, rules: Option<&Rules>, table: &Table) -> Result<Option<u64>, Stop> {
        if rules.is_none_or(|rules| rules.rowversion.is_none()) {
            return Ok(None);
        }
        let (database, tx) = self.context.engine();
        Ok(Some(database.try_next_rowversion(tx, table)?))
    }

    /// The row gets its number and its computed columns.
    pub(crate) fn shape_row(&mut self, rules: &Rules, number: Option<u64>, row: &mut [Value]) -> Result<(), Fault> {
        if let (Some(column), Some(number)) = (rules.rowversion, number) {
            row[column] = Value::Bin(number.to_be_bytes().to_vec());
        }
        if let Some(period) = &rules.period {
            period.begin(self.context.transaction_time(), row);
        }
        if rules.computed.is_empty() && rules.checks.is_empty() && rules.check_options.is_empty() {
            return Ok(());
        }
        self.show_row(rules, row);
        for (column, expr) in &rules.computed {
            row[*column] = expr.eval(&mut self.env())?;
        }
        self.show_row(rules, row);
        Ok(())
    }

    fn show_row(&mut self, rules: &Rules, row: &[Value]) {
        let slots = &mut self.frame.slots[rules.registers.range()];
        slots.iter_mut().zip(row).for_each(|(slot, value)| slot.clone_from(value));
    }

    /// The CHECK constraints of the row that was shaped last: one fails that is false, not one that is unknown.
    pub(crate) fn check_row(
        &mut self,
        plan: &Statement,
        rules: &Rules,
        state: &mut StatementState,
    ) -> Result<(), Stop> {
        if let Some(node) = &rules.calls {
            self.call_for_checks(node, plan, state)?;
        }
        Ok(self.test_row(rules)?)
    }

    /// Runs the functions that conditions call.
    fn call_for_checks(&mut self, node: &Node, plan: &Statement, state: &mut StatementState) -> Result<(), Stop> {
        let mut calls = match state.modify.late.calls.take() {
            Some(calls) => calls,
            None => Calls { cursor: Cursor::new(node, Making::plain(&plan.live)), under_way: false },
        };
        if !calls.under_way {
            calls.cursor.open();
            calls.under_way = true;
        }
        let mut run = self.run_view(&state.virtual_rows, &state.shared, plan);
        let called = calls.cursor.evaluate(node, &mut run);
        self.scratch = std::mem::take(&mut run.scratch);
        calls.under_way = called.is_err();
        state.modify.late.calls = Some(calls);
        called
    }

    fn test_row(&mut self, rules: &Rules) -> Result<(), Fault> {
        for option in &rules.check_options {
            if !option.holds(&mut self.env())? {
                return Err(Box::new(SqlError::view_check_failed()));
            }
        }
        for check in &rules.checks {
            if check.condition.eval(&mut self.env())? == Some(false) {
                let column = check.column.as_ref().map(|column| format!(", column '{column}'")).unwrap_or_default();
                return Err(Box::new(SqlError::constraint_conflict(
                    rules.verb,
                    "CHECK",
                    &check.name,
                    &rules.database,
                    &rules.table,
                    column,
                )));
            }
        }
        Ok(())
    }

    /// The work after the last row. False: the quantum is over, there is more.
    #[inline]
    pub(crate) fn finish_rows(&mut self, plan: &Statement, state: &mut StatementState) -> Result<bool, Stop> {
        match &plan.rules {
            None => Ok(true),
            Some(rules) => self.finish_ruled_rows(plan, rules, state),
        }
    }

    fn finish_ruled_rows(&mut self, plan: &Statement, rules: &Rules, state: &mut StatementState) -> Result<bool, Stop> {
        loop {
            if let Some(mut running) = state.modify.late.running.take() {
                let done = self.run_cascade(&mut running);
                if !matches!(done, Ok(true)) {
                    state.modify.late.running = Some(running);
                    return done;
                }
                if let Some(plan) = running.plan() {
                    state.firing.absorb(&plan, &mut running.firing);
                }
            }
            if !state.modify.late.ordered {
                let follows = |rule: usize| rules.referenced[rule].on_update == ReferentialAction::Cascade;
                put_in_order(&mut state.modify.late.gone, follows);
                state.modify.late.ordered = true;
            }
            if state.modify.late.cascaded < state.modify.late.gone.len() {
                self.next_cascade(plan, rules, state)?;
                continue;
            }
            let late = &mut state.modify.late;
            if let Some(gone) = late.gone.get(late.verified) {
                let (at, old) = (gone.rule, gone.old.clone());
                let rule = &rules.referenced[at];
                let refers = !self.look(late, (Side::Own, at), &rule.own, &rule.columns, &old)?
                    && self.look(late, (Side::Source, at), &rule.source, &rule.source_columns, &old)?;
                if refers {
                    return Err(self.referenced_error(rules, rule).into());
                }
                state.modify.late.verified += 1;
                continue;
            }
            if let Some((at, key)) = late.wanted.get(late.found) {
                let (at, key) = (*at, key.clone());
                let rule = &rules.references[at];
                if !self.look(late, (Side::Target, at), &rule.target, &rule.target_columns, &key)? {
                    let kind = if rule.same_table { "FOREIGN KEY SAME TABLE" } else { "FOREIGN KEY" };
                    let target = (&*rule.target, rule.target_columns.as_slice());
                    return Err(self.key_error(rules, kind, &rule.name, target).into());
                }
                state.modify.late.found += 1;
                continue;
            }
            return Ok(true);
        }
    }

    /// Goes on to the next key that rows must follow, or begins a statement that lets them follow the one at hand.
    fn next_cascade(&mut self, plan: &Statement, rules: &Rules, state: &mut StatementState) -> Result<(), Stop> {
        let late = &mut state.modify.late;
        let part = late.gone[late.cascaded].part;
        if let Part::Opens(last) = part
            && !late.opened
        {
            self.hold(plan, rules, last, state)?;
            state.modify.late.opened = true;
            return Ok(());
        }
        if part == Part::Closes {
            late.opened = false;
            match late.held.take() {
                None => late.cascaded += 1,
                Some(held) => {
                    let slots = held.state.plan().map_or(0, |plan| plan.slots);
                    show_values(&mut self.frame.slots, plan.slots, held.values, slots);
                    late.running = Some(held.state);
                }
            }
            return Ok(());
        }
        let at = late.cascaded;
        let Some((rule, action)) = self.referring(rules, at, late)? else {
            late.cascaded += 1;
            late.runs = 0;
            return Ok(());
        };
        late.runs += 1;
        if late.runs > RUNS_MAX {
            return Err(self.referenced_error(rules, rule).into());
        }
        let (running, _) = self.cascade(plan, rule, action, &late.gone[at])?;
        late.running = Some(running);
        Ok(())
    }

    /// The rule of a gone key and what it asks for, if rows refer to the key.
    fn referring<'r>(
        &mut self,
        rules: &'r Rules,
        at: usize,
        late: &mut LateWork,
    ) -> Result<Option<(&'r ReferencedRule, ReferentialAction)>, Stop> {
        let gone = &late.gone[at];
        let rule = &rules.referenced[gone.rule];
        let action = if gone.new.is_some() { rule.on_update } else { rule.on_delete };
        let (place, old) = ((Side::Source, gone.rule), gone.old.clone());
        let refers = action != ReferentialAction::NoAction
            && self.look(late, place, &rule.source, &rule.source_columns, &old)?;
        Ok(refers.then_some((rule, action)))
    }

    /// Finds the rows that refer to the last key of a ring, before others refer to it that follow the one before.
    fn hold(&mut self, plan: &Statement, rules: &Rules, last: usize, state: &mut StatementState) -> Result<(), Stop> {
        let late = &mut state.modify.late;
        let mut held = match late.held.take() {
            Some(held) => held,
            None => match self.referring(rules, last, late)? {
                None => return Ok(()),
                Some((rule, action)) => {
                    let (state, values) = self.cascade(plan, rule, action, &late.gone[last])?;
                    Held { state, values }
                }
            },
        };
        let found = self.find_targets(&mut held.state);
        state.modify.late.held = Some(held);
        found
    }

    fn look(
        &mut self,
        late: &mut LateWork,
        place: (Side, usize),
        table: &Arc<Table>,
        columns: &[usize],
        key: &[Value],
    ) -> Result<bool, Stop> {
        let look = late.looks.entry(place).or_insert_with(|| Reference::new(table, columns));
        let (database, tx) = self.context.engine();
        Ok(database.try_find_now(tx, table, look, key)?)
    }

    fn referenced_error(&self, rules: &Rules, rule: &ReferencedRule) -> Fault {
        let kind = if rule.same_table { "SAME TABLE REFERENCE" } else { "REFERENCE" };
        self.key_error(rules, kind, &rule.name, (&rule.source, &rule.source_columns))
    }

    fn key_error(&self, rules: &Rules, kind: &str, name: &str, (table, columns): (&Table, &[usize])) -> Fault {
        let column = match columns {
            [column] => format!(", column '{}'", table.columns[*column].name),
            _ => String::new(),
        };
        let (database, full) = (&rules.database, table.full_name());
        Box::new(SqlError::constraint_conflict(rules.verb, kind, name, database, full, column))
    }

    fn run_cascade(&mut self, running: &mut StatementState) -> Result<bool, Stop> {
        let Some(plan) = running.plan() else {
            return Ok(true);
        };
        if !running.has_rows_done() {
            // SET ROWCOUNT is for the statement that was asked for.
            let limit = std::mem::take(&mut self.context.settings.row_count);
            let done = self.rows(&plan, running);
            self.context.settings.row_count = limit;
            if !done? {
                return Ok(false);
            }
            running.set_rows_done();
        }
        self.finish_rows(&plan, running)
    }

    /// The statement that lets the referring rows follow, and its values. Its registers lie behind those of the statement it is for.
    fn cascade(
        &mut self,
        outer: &Statement,
        rule: &ReferencedRule,
        action: ReferentialAction,
        gone: &GoneKey,
    ) -> Result<(Box<StatementState>, Vec<Value>), Fault> {
        let (old, new) = (gone.old.as_slice(), gone.new.as_deref());
        let source = &rule.source;
        let names: Vec<String> = rule.source_columns.iter().map(|at| bracketed(&source.columns[*at].name)).collect();
        let mut table = format!("{}.{}", bracketed(&source.schema), bracketed(&source.name));
        if let (Residence::Other(_), Some(rules)) = (source.residence(), &outer.rules) {
            table = format!("{}.{table}", bracketed(&rules.database));
        }
        let condition: Vec<String> = (0..names.len()).map(|at| format!("{} = @o{at}", names[at])).collect();
        let condition = condition.join(" AND ");
        let set = |value: &dyn Fn(usize) -> String| {
            let parts: Vec<String> = (0..names.len()).map(|at| format!("{} = {}", names[at], value(at))).collect();
            format!("UPDATE {table} SET {} WHERE {condition}", parts.join(", "))
        };
        let text = match action {
            ReferentialAction::SetNull => set(&|_| "NULL".to_owned()),
            ReferentialAction::SetDefault => set(&|_| "DEFAULT".to_owned()),
            _ if new.is_some() => set(&|at| format!("@n{at}")),
            _ => format!("DELETE {table} WHERE {condition}"),
        };
        let mut variables = internal_names(outer.slots, Vec::new());
        let mut values = Vec::new();
        for (letter, row) in [("o", Some(old)), ("n", new)] {
            for (at, value) in row.into_iter().flatten().enumerate() {
                let ty = source.columns[rule.source_columns[at]].ty;
                variables.push(Variable::new(format!("@{letter}{at}"), ty));
                values.push(value.clone());
            }
        }
        let plan = self.internal_statement(&text, &variables)?;
        if !plan.virtual_sources.is_empty() {
            return Err(function_elsewhere());
        }
        show_values(&mut self.frame.slots, outer.slots, values.clone(), plan.slots);
        self.context.refresh_snapshot();
        let mut running = Box::new(StatementState::default());
        running.begin_inner(plan);
        Ok((running, values))
    }

    /// The plan of a statement that no user wrote.
    pub(crate) fn internal_statement(&self, text: &str, variables: &[Variable]) -> Result<Arc<Statement>, Fault> {
        let batch = pikepole_tsql::parse(text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
        let statement = batch.statements.into_iter().next().ok_or_else(|| SqlError::incorrect_syntax(text))?;
        let catalog = self.context.catalog();
        let names = Names { variables, unguarded: true, ..Names::of(&catalog, &*self.host) };
        bind::bind(&LateKind::Statement(Arc::new(statement)), &names, variables.len())
    }

    /// All rows of a query that is run within the statement at hand.
    pub(crate) async fn select_rows(
        &mut self,
        plan: &Arc<Statement>,
    ) -> Result<(Vec<ColumnInfo>, Vec<Vec<Value>>), Fault> {
        self.select_rows_in(plan, &mut StatementState::default()).await
    }

    /// The same; what there is to tell of the query is in its state.
    pub(crate) async fn select_rows_in(
        &mut self,
        plan: &Arc<Statement>,
        state: &mut StatementState,
    ) -> Result<(Vec<ColumnInfo>, Vec<Vec<Value>>), Fault> {
        state.begin_inner(Arc::clone(plan));
        self.show_masked(plan);
        if !plan.virtual_sources.is_empty() && self.fetch_all(state).await?.is_some() {
            return Err(function_elsewhere());
        }
        let mut rows = Vec::new();
        loop {
            match self.collect_rows(plan, state, &mut rows) {
                Ok(true) => break,
                Ok(false) | Err(Stop::Yield) => {
                    self.context.check_cancelled()?;
                    pikepole_scheduler::yield_now().await;
                }
                Err(Stop::Blocked(need)) => self.context.satisfy(need).await?,
                Err(Stop::Rows(call)) => self.fetch_call(state, call).await?,
                Err(Stop::Team(team)) => team.ended().await,
                Err(Stop::Memory(wait)) => self.context.await_memory(wait).await?,
                Err(Stop::Stale | Stop::Again(_) | Stop::Fill(_) | Stop::File(_)) => {
                    return Err(crate::errors::definition_changed());
                }
                Err(Stop::Error(fault)) => return Err(fault),
            }
        }
        let columns = match &plan.action {
            Action::Select { columns, .. } => columns.clone(),
            _ => Vec::new(),
        };
        Ok((columns, rows))
    }

    fn collect_rows(
        &mut self,
        plan: &Statement,
        state: &mut StatementState,
        rows: &mut Vec<Vec<Value>>,
    ) -> Result<bool, Stop> {
        let Action::Select { values, .. } = &plan.action else {
            return Ok(true);
        };
        loop {
            let collect = |machine: &mut Self, state: &mut StatementState| {
                let mut row = Vec::with_capacity(values.len());
                for value in values {
                    row.push(value.eval(&mut machine.env())?);
                }
                rows.push(row);
                state.rows += 1;
                Ok(())
            };
            if !self.next_row(plan, state, collect)? {
                return Ok(true);
            }
            if quantum_over(state.rows) {
                return Ok(false);
            }
        }
    }
}

/// Variables whose slots begin at `base`: those before have no names.
pub(crate) fn internal_names(base: usize, variables: Vec<Variable>) -> Vec<Variable> {
    let mut names = vec![Variable::new("", SqlType::Int); base];
    names.extend(variables);
    names
}

/// Puts values into the slots from `base` on, which are then as many as a plan needs.
pub(crate) fn show_values(slots: &mut Vec<Value>, base: usize, values: Vec<Value>, count: usize) {
    let needed = count.max(base + values.len());
    if slots.len() < needed {
        slots.resize(needed, Value::Null);
    }
    for (slot, value) in slots[base..].iter_mut().zip(values) {
        *slot = value;
    }
}

/// Whether the statement's rows must not be committed one by one: something is looked at after the last one.
pub(crate) fn has_late_work(plan: &Statement) -> bool {
    plan.triggers.is_some() || plan.rules.as_ref().is_some_and(|rules| rules.has_late())
}

/// The error that keeps a statement from running: its rules could not be bound.
#[inline]
pub(crate) fn rules_fault(plan: &Statement) -> Option<Fault> {
    let changes = !matches!(plan.action, Action::Select { .. } | Action::Assign { .. });
    plan.rules.as_ref().filter(|_| changes).and_then(|rules| rules.fault.clone())
}

/// Says whether a condition over tables holds, for definitions that must look at rows: a query by a machine of its own.
pub(super) fn holds<'a>(
    context: &'a mut ExecutionContext,
    host: &'a mut dyn Host,
    output: &'a mut dyn Output,
    condition: &'a str,
) -> HostFuture<'a, Result<bool, Fault>> {
    Box::pin(async move {
        let mut machine = Machine::of_no_program(context, host, output);
        let text = format!("SELECT CASE WHEN {condition} THEN 1 ELSE 0 END");
        let plan = machine.internal_statement(&text, &[])?;
        machine.frame.slots.resize(plan.slots, Value::Null);
        let (_, rows) = machine.select_rows(&plan).await?;
        Ok(rows.first().and_then(|row| row.first()) == Some(&Value::Int(1)))
    })
}
