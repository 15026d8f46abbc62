//! Statements of atomic blocks that are about one row of an in-memory table, by the shortest way.
//!
//! The general way keeps where a statement is, so that it can wait, fire triggers, send rows or be undone half done. An INSERT of one row into
//! an in-memory table does none of that, nor does a SELECT that assigns, an UPDATE or a DELETE of the row of a whole unique key: they have
//! come to their end, or have changed nothing. What they do is undone with the block, and seen by the statements behind it. Whatever is not
//! as it mostly is goes the general way: the first run, a plan that is outdated, a client that wants to see plans or times.

use std::collections::BTreeSet;

use super::Machine;
use super::statement::StatementState;
use crate::access::{KeyBound, Stop, Table, check_required, equal_bound};
use crate::expression::Expr;
use crate::plan::{Action, Changed, ColumnSource, Delete, Insert, Node, RowSubqueries, Scan, Statement, Told, Update};
use crate::program::Program;
use pikepole_engine::{KeyLookup, Residence, RowCount};
use pikepole_types::Value;

/// The shortest way of a plan.
pub(super) enum Short {
    /// The columns whose values are computed for each row.
    Insert(Box<[usize]>),
    /// The other statements, about the row that a lookup finds.
    Row(Point),
}

/// A row that is found by its key.
pub(super) struct Point {
    lookup: KeyLookup,
    /// The columns that are read.
    columns: Vec<usize>,
    /// Room for the values of the key, and for those that are read.
    key: Vec<Value>,
    row: Vec<Value>,
}

/// The shortest way of a plan; None: it has none.
pub(super) fn short_way(plan: &Statement) -> Option<Short> {
    let is_plain = plan.rules.is_none()
        && plan.triggers.is_none()
        && plan.virtual_sources.is_empty()
        && plan.others.is_empty()
        && plan.masks.is_empty()
        && plan.memory_percent.is_none();
    let Some(scan) = looked_up(plan) else {
        return match &plan.action {
            Action::Insert(insert) if is_plain && inserts_one(plan, insert) => Some(Short::Insert(computed(insert))),
            _ => None,
        };
    };
    let is_short = is_plain
        && match &plan.action {
            Action::Assign { told: Told::Rows, .. } => scan.is_lookup(),
            Action::Update(update) => updates_in_place(update),
            Action::Delete(delete) => delete.output.is_none() && changes_what_it_finds(&delete.changed),
            _ => false,
        };
    if is_short { Point::of(scan, &plan.action).map(Short::Row) } else { None }
}

/// The scan whose row a statement is about. The conditions of a change are tested on the row that is found.
fn looked_up(plan: &Statement) -> Option<&Scan> {
    let is_change = matches!(plan.action, Action::Update(_) | Action::Delete(_));
    match &plan.source {
        Node::Scan(scan) => Some(scan),
        Node::Filter { input, .. } if is_change => match &**input {
            Node::Scan(scan) => Some(scan),
            _ => None,
        },
        _ => None,
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

/// The columns whose values an INSERT of one row computes.
fn computed(insert: &Insert) -> Box<[usize]> {
    let sources = insert.rows[0].iter().enumerate();
    sources.filter_map(|(column, source)| matches!(source, ColumnSource::Value(_)).then_some(column)).collect()
}

fn changes_what_it_finds(changed: &Changed) -> bool {
    matches!(changed.subqueries, RowSubqueries::None)
}

/// Tells if an update changes no key.
fn updates_in_place(update: &Update) -> bool {
    let mut keys = update.changed.table.indexes.iter().flat_map(|index| &index.key);
    let changes_key = keys.any(|key| update.assignments.iter().any(|(column, _)| *column == key.column));
    let is_quiet = update.output.is_none() && update.variables.is_empty();
    is_quiet && !changes_key && changes_what_it_finds(&update.changed)
}

/// The columns of the row at hand that a change reads.
fn columns_read(changed: &Changed, assignments: &[(usize, Expr)]) -> Vec<usize> {
    let registers = changed.registers.range();
    let mut read = BTreeSet::new();
    let mut visit = |slot: usize| read.extend(registers.contains(&slot).then(|| slot - registers.start));
    assignments.iter().for_each(|(_, value)| value.visit_slots(&mut visit));
    changed.recheck.iter().for_each(|condition| condition.visit_slots(&mut visit));
    read.into_iter().collect()
}

impl Point {
    fn of(scan: &Scan, action: &Action) -> Option<Point> {
        let range = &scan.range;
        let is_equality = range.among.is_empty() && range.low.is_none() && range.high.is_none();
        if !is_equality || scan.narrowing.is_some() {
            return None;
        }
        let (index, parts, level) = (range.index?, range.prefix.len(), scan.hints.memory);
        let lookup = |columns: Vec<usize>| {
            let lookup = scan.table.engine.key_lookup(index, parts, &columns, level)?;
            let row = vec![Value::Null; columns.len()];
            Some(Point { lookup, columns, key: vec![Value::Null; parts], row })
        };
        match action {
            Action::Update(update) => {
                let Update { changed, assignments, .. } = &**update;
                let assigned: Vec<usize> = assignments.iter().map(|(column, _)| *column).collect();
                let point = lookup(columns_read(changed, assignments))?;
                match point.lookup.change(&scan.table.engine, &assigned) {
                    Some(lookup) => Some(Point { lookup, ..point }),
                    // The new row is made of all values.
                    None => lookup(changed.registers.range().map(|slot| slot - changed.registers.first).collect()),
                }
            }
            Action::Delete(delete) => lookup(columns_read(&delete.changed, &[])),
            _ => lookup(scan.wanted.clone()),
        }
    }

    /// Moves the values that were read to their places.
    #[inline]
    fn show(&mut self, registers: &mut [Value]) {
        for (column, value) in self.columns.iter().zip(&mut self.row) {
            std::mem::swap(&mut registers[*column], value);
        }
    }
}

#[cfg(test)]
std::thread_local! {
    /// Statements that this thread has run by the shortest way.
    pub(crate) static TAKEN: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

impl Machine<'_> {
    /// Runs `late[index]` of an atomic block by the shortest way. False: it is to go the general one.
    pub(super) fn short_statement(&mut self, program: &Program, index: usize) -> Result<bool, Stop> {
        let Some(mut state) = self.frame.states[index].take() else { return Ok(false) };
        let done = self.try_short(program, &mut state);
        self.frame.states[index] = Some(state);
        self.frame.has_run |= done.is_err();
        done
    }

    fn try_short(&mut self, program: &Program, state: &mut StatementState) -> Result<bool, Stop> {
        let Some((plan, mut way)) = state.take_short_plan() else { return Ok(false) };
        let context = &self.context;
        let is_usual = context.state.transaction_count > 0
            && !context.state.doomed
            && context.functions == 0
            && context.identity_table().is_none()
            && state.is_checked(context.security_serial())
            && self.frame.slots.len() >= plan.slots
            && self.fits(&plan, context.catalog_stamp())
            && !context.settings.watches_statements()
            && !context.server().native_counting().counts_statements()
            && program.trigger.is_none();
        if plan.reads_clock && is_usual {
            self.functions.now = crate::clock::now();
        }
        let done = match (&plan.action, &mut *way) {
            _ if !is_usual => Ok(false),
            (Action::Insert(insert), Short::Insert(computed)) => {
                self.insert_shortly(insert, computed, state).map(|()| true)
            }
            (_, Short::Row(point)) => self.row_shortly(&plan, point, state),
            _ => Ok(false),
        };
        #[cfg(test)]
        TAKEN.set(TAKEN.get() + u32::from(matches!(done, Ok(true))));
        state.put_short_plan_back(plan, way);
        done
    }

    fn insert_shortly(&mut self, insert: &Insert, computed: &[usize], state: &mut StatementState) -> Result<(), Stop> {
        let modify = &mut state.modify;
        for column in computed {
            if let ColumnSource::Value(expr) = &insert.rows[0][*column] {
                expr.eval_into(&mut self.env(), &mut modify.row[*column])?;
            }
        }
        self.identity(insert, &mut modify.row)?;
        check_required(&insert.table, insert.required.iter().copied(), &modify.row, "INSERT")?;
        let Some(writer) = &mut modify.writer else { return Err(crate::errors::definition_changed().into()) };
        let (database, tx) = self.context.engine();
        database.try_insert(tx, &insert.table.engine, writer, &modify.row, RowCount::Many)?;
        self.changed_shortly(&insert.table);
        Ok(())
    }

    /// Counts the row that a statement has changed.
    fn changed_shortly(&mut self, table: &Table) {
        self.context.rows_changed += 1;
        table.engine.count_changes(1);
        self.context.state.row_count = 1;
    }

    /// Runs a statement about the row that a lookup finds. False: its key is one that the index does not tell from others.
    fn row_shortly(&mut self, plan: &Statement, point: &mut Point, state: &mut StatementState) -> Result<bool, Stop> {
        let Some(scan) = looked_up(plan) else { return Ok(false) };
        let mut may_be_there = true;
        for (value, own) in point.key.iter_mut().zip(&scan.range.prefix) {
            match equal_bound(own, &mut self.env())? {
                KeyBound::Value(of_key) => *value = of_key,
                KeyBound::Nothing => may_be_there = false,
                KeyBound::All => return Ok(false),
            }
        }
        let (database, tx) = self.context.engine();
        database.begin_statement_in_memory(tx);
        self.context.state.row_count = 0;
        if may_be_there {
            match &plan.action {
                Action::Assign { assignments, .. } => self.look_up_shortly(scan, point, assignments)?,
                Action::Update(update) => self.update_shortly(update, point, state)?,
                Action::Delete(delete) => self.delete_shortly(delete, point, state)?,
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Assigns the values of the row, if it is there. Nothing stops it behind the assignment.
    fn look_up_shortly(&mut self, scan: &Scan, point: &mut Point, assignments: &[(usize, Expr)]) -> Result<(), Stop> {
        let (database, tx) = self.context.engine();
        let Point { lookup, key, row, .. } = point;
        if !database.try_look_up(tx, &scan.table.engine, lookup, key, row)? {
            return Ok(());
        }
        point.show(&mut self.frame.slots[scan.registers.range()]);
        for (slot, value) in assignments {
            self.assign(*slot, value)?;
        }
        self.context.state.row_count = 1;
        Ok(())
    }

    /// Reads the row to be changed into the registers. False: there is none, or it is not to be changed.
    fn find_shortly(&mut self, changed: &Changed, point: &mut Point, state: &mut StatementState) -> Result<bool, Stop> {
        let Some(writer) = &mut state.modify.writer else { return Err(crate::errors::definition_changed().into()) };
        let (database, tx) = self.context.engine();
        let table = &changed.table.engine;
        let Point { lookup, key, row, .. } = point;
        if !database.try_find_to_change(tx, table, lookup, key, writer, row)? {
            return Ok(false);
        }
        point.show(&mut self.frame.slots[changed.registers.range()]);
        match &changed.recheck {
            Some(condition) => Ok(condition.holds(&mut self.env())?),
            None => Ok(true),
        }
    }

    fn update_shortly(&mut self, update: &Update, point: &mut Point, state: &mut StatementState) -> Result<(), Stop> {
        if !self.find_shortly(&update.changed, point, state)? {
            return Ok(());
        }
        if point.lookup.is_spliced() {
            self.assigned_columns(update, state)?;
        } else {
            self.updated_row(update, state)?;
        }
        let Some(writer) = &mut state.modify.writer else { return Err(crate::errors::definition_changed().into()) };
        let (database, tx) = self.context.engine();
        if database.try_replace_found(tx, &update.changed.table.engine, &point.lookup, writer, &state.modify.row)? {
            self.changed_shortly(&update.changed.table);
        }
        Ok(())
    }

    fn delete_shortly(&mut self, delete: &Delete, point: &mut Point, state: &mut StatementState) -> Result<(), Stop> {
        if !self.find_shortly(&delete.changed, point, state)? {
            return Ok(());
        }
        let (database, tx) = self.context.engine();
        if database.try_delete_found(tx, &delete.changed.table.engine)? {
            self.changed_shortly(&delete.changed.table);
        }
        Ok(())
    }
}
