//! SELECT, UPDATE and DELETE of the row that has a whole unique key.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::Machine;
use super::is_in_memory;
use crate::access::{KeyBound, Stop, check_required, equal_bound};
use crate::expression::{Expr, Predicate};
use crate::plan::{Action, Changed, Delete, KeyValue, Node, Registers, RowSubqueries, Scan, Statement, Told, Update};
use pikepole_engine::{KeyLookup, MemoryLevel, MemoryUse, Table, TableWriter};
use pikepole_types::Value;

/// A row that is found by its key.
pub(super) struct Point {
    table: Arc<Table>,
    hint: Option<MemoryLevel>,
    lookup: KeyLookup,
    /// The values of the key.
    prefix: Box<[KeyValue]>,
    /// The slots of the columns that are read, one for each.
    slots: Box<[usize]>,
    /// Room for the values of the key, and for those that are read.
    key: Vec<Value>,
    row: Vec<Value>,
    writer: TableWriter,
    /// The row that an UPDATE makes.
    new: Vec<Value>,
    /// The row of the key is wanted whatever else it has.
    is_certain: bool,
    /// The values that a SELECT reads are still to be assigned. Otherwise its `slots` are the variables.
    assigns: bool,
}

/// The scan whose row a statement is about. The conditions of a change are tested on the row that is found.
pub(super) fn looked_up(plan: &Statement) -> Option<&Scan> {
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

/// The columns in these registers that a condition and new values read.
fn columns_read(registers: Registers, condition: Option<&Predicate>, assignments: &[(usize, Expr)]) -> Vec<usize> {
    let registers = registers.range();
    let mut read = BTreeSet::new();
    let mut visit = |slot: usize| read.extend(registers.contains(&slot).then(|| slot - registers.start));
    assignments.iter().for_each(|(_, value)| value.visit_slots(&mut visit));
    condition.iter().for_each(|condition| condition.visit_slots(&mut visit));
    read.into_iter().collect()
}

/// The variables that take the values of these columns as they are, if a SELECT does nothing else with them.
fn taken_as_they_are(wanted: &[usize], registers: Registers, assignments: &[(usize, Expr)]) -> Option<Box<[usize]>> {
    let variable_of = |column: &usize| {
        let mut taken = assignments
            .iter()
            .filter(|(_, value)| matches!(value, Expr::Slot(slot) if *slot == registers.range().start + column));
        taken.next().map(|(variable, _)| *variable).filter(|_| taken.next().is_none())
    };
    let variables: Option<Box<[usize]>> = wanted.iter().map(variable_of).collect();
    let mut different: Vec<usize> = assignments.iter().map(|(variable, _)| *variable).collect();
    different.sort_unstable();
    different.dedup();
    variables.filter(|variables| variables.len() == assignments.len() && different.len() == assignments.len())
}

impl Point {
    /// The way of a statement about the row of a scan; None: it has none.
    pub(super) fn of(scan: &Scan, action: &Action, plan: &Statement) -> Option<Point> {
        let is_short = match action {
            Action::Assign { told: Told::Rows, .. } => scan.is_lookup(),
            Action::Update(update) => updates_in_place(update),
            Action::Delete(delete) => delete.output.is_none() && changes_what_it_finds(&delete.changed),
            _ => false,
        };
        let range = &scan.range;
        let is_equality = range.among.is_empty() && range.low.is_none() && range.high.is_none();
        if !is_short || !is_equality || scan.narrowing.is_some() || !is_in_memory(&scan.table) {
            return None;
        }
        let (index, parts, table) = (range.index?, range.prefix.len(), &scan.table.engine);
        let is_certain = matches!(plan.source, Node::Scan(_));
        let (condition, assignments): (_, &[(usize, Expr)]) = match action {
            Action::Update(update) => (update.changed.recheck.as_ref(), &update.assignments),
            Action::Delete(delete) => (delete.changed.recheck.as_ref(), &[]),
            Action::Assign { assignments, .. } => (None, assignments),
            _ => return None,
        };
        let columns = columns_read(scan.registers, condition.filter(|_| !is_certain), assignments);
        let first = scan.registers.range().start;
        let point = |columns: &[usize], lookup: KeyLookup| Point {
            table: Arc::clone(table),
            hint: scan.hints.memory,
            lookup,
            prefix: range.prefix.iter().cloned().collect(),
            slots: columns.iter().map(|column| first + column).collect(),
            key: vec![Value::Null; parts],
            row: vec![Value::Null; columns.len()],
            writer: table.writer(),
            new: Vec::new(),
            is_certain,
            assigns: false,
        };
        let lookup = table.key_lookup(index, parts, &columns)?;
        match action {
            Action::Update(update) => {
                let assigned: Vec<usize> = assignments.iter().map(|(column, _)| *column).collect();
                let new = vec![Value::Null; update.changed.table.columns.len()];
                let point = match lookup.change(table, &assigned) {
                    Some(lookup) => point(&columns, lookup),
                    // The new row is made of all values.
                    None => {
                        let all: Vec<usize> = (0..new.len()).collect();
                        point(&all, table.key_lookup(index, parts, &all)?)
                    }
                };
                Some(Point { new, ..point })
            }
            Action::Assign { .. } => {
                let point = point(&columns, lookup);
                Some(match taken_as_they_are(&columns, scan.registers, assignments) {
                    Some(slots) => Point { slots, ..point },
                    None => Point { assigns: true, ..point },
                })
            }
            _ => Some(point(&columns, lookup)),
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// The level that the statement asks for.
    pub(super) fn hint(&self) -> Option<MemoryLevel> {
        self.hint
    }

    /// Moves the values that were read to their places.
    #[inline]
    fn show(&mut self, slots: &mut [Value]) {
        for (slot, value) in self.slots.iter().zip(&mut self.row) {
            std::mem::swap(&mut slots[*slot], value);
        }
    }
}

impl Machine<'_> {
    /// Runs a statement about the row that a lookup finds. False: its key is one that the index does not tell from others.
    pub(super) fn row_shortly(&mut self, action: &Action, point: &mut Point, used: MemoryUse) -> Result<bool, Stop> {
        let mut may_be_there = true;
        for (value, own) in point.key.iter_mut().zip(&point.prefix) {
            match equal_bound(own, &mut self.env())? {
                KeyBound::Value(of_key) => value.set(of_key),
                KeyBound::Nothing => may_be_there = false,
                KeyBound::All => return Ok(false),
            }
        }
        let (database, tx) = self.context.engine();
        database.begin_statement_in_memory(tx);
        self.context.state.row_count = 0;
        if may_be_there {
            match action {
                Action::Assign { assignments, .. } => self.look_up_shortly(point, assignments, used)?,
                Action::Update(update) => self.update_shortly(update, point, used)?,
                Action::Delete(delete) => self.delete_shortly(delete, point, used)?,
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Assigns the values of the row, if it is there. Nothing stops it behind the assignment.
    fn look_up_shortly(
        &mut self,
        point: &mut Point,
        assignments: &[(usize, Expr)],
        used: MemoryUse,
    ) -> Result<(), Stop> {
        let (database, tx) = self.context.engine();
        let Point { table, lookup, key, row, .. } = point;
        if !database.try_look_up(tx, table, used, lookup, key, row)? {
            return Ok(());
        }
        point.show(&mut self.frame.slots);
        if point.assigns {
            for (slot, value) in assignments {
                self.assign(*slot, value)?;
            }
        }
        self.context.state.row_count = 1;
        Ok(())
    }

    /// Reads the row to be changed into the registers. False: there is none, or it is not to be changed.
    fn find_shortly(&mut self, changed: &Changed, point: &mut Point, used: MemoryUse) -> Result<bool, Stop> {
        let (database, tx) = self.context.engine();
        let Point { table, lookup, key, row, writer, .. } = point;
        if !database.try_find_to_change(tx, table, used, (lookup, key), writer, row)? {
            return Ok(false);
        }
        point.show(&mut self.frame.slots);
        match &changed.recheck {
            Some(condition) if !point.is_certain => Ok(condition.holds(&mut self.env())?),
            _ => Ok(true),
        }
    }

    fn update_shortly(&mut self, update: &Update, point: &mut Point, used: MemoryUse) -> Result<(), Stop> {
        if !self.find_shortly(&update.changed, point, used)? {
            return Ok(());
        }
        if !point.lookup.is_spliced() {
            let old = &self.frame.slots[update.changed.registers.range()];
            for (new, old) in point.new.iter_mut().zip(old) {
                new.clone_from(old);
            }
        }
        for (column, value) in &update.assignments {
            value.eval_into(&mut self.env(), &mut point.new[*column])?;
        }
        let changed = update.assignments.iter().map(|(column, _)| *column);
        check_required(&update.changed.table, changed, &point.new, "UPDATE")?;
        let (database, tx) = self.context.engine();
        if database.try_replace_found(tx, &point.table, &point.lookup, &mut point.writer, &point.new)? {
            self.changed_shortly(&update.changed.table);
        }
        Ok(())
    }

    fn delete_shortly(&mut self, delete: &Delete, point: &mut Point, used: MemoryUse) -> Result<(), Stop> {
        if !self.find_shortly(&delete.changed, point, used)? {
            return Ok(());
        }
        let (database, tx) = self.context.engine();
        if database.try_delete_found(tx, &point.table)? {
            self.changed_shortly(&delete.changed.table);
        }
        Ok(())
    }
}
