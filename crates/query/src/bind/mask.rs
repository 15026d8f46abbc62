//! Masks: where values leave a statement that are made of masked columns, what hides them from who may not see them.
//!
//! ```text
//!   scan of t      columns' slots       hidden by their own masks
//!      │  each operator: a slot that is filled from hidden ones is hidden too
//!   action         values that leave    Masked { value, mask, seen }
//! ```
//!
//! A value that is a column's, unchanged, is hidden by the column's mask; one that is computed, by the default of its type. CASE and the
//! sides of UNION hide what one of their choices would; conditions hide nothing, since they see what is there.
//!
//! Errors tell of no hidden value either, wherever it is computed with: see [`super::mask_errors`].
//!
//! This looks at the finished plan, once, and adds the masks where rows become results, variables or other rows. So nothing below is
//! planned otherwise because of them, and a plan is the same for who may see the values and who may not: a slot for each masked column says
//! which it is, and every run of the plan fills it anew.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::rules::{TableColumn, reads_columns};
use super::{Binder, Names};
use crate::expression::{Expr, Integer, Masked};
use crate::plan::{
    Action, BranchAction, ColumnSource, Document, Insert, More, Node, OutputPlan, Registers, Test, VirtualSource,
    WindowFunction,
};
use crate::security::{MaskedColumn, column_number};
use pikepole_engine::{self as engine, Residence, Securable};
use pikepole_types::{Mask, SqlType};

/// How the values of a slot are hidden.
#[derive(Debug, Clone, PartialEq)]
struct Hidden {
    /// The slots that say, each of a column, whether the session sees its values.
    seen: BTreeSet<usize>,
    /// The mask of a column's own values; none for what is computed of them.
    mask: Option<Mask>,
}

impl Hidden {
    /// How values are hidden that are of either kind.
    fn either(self, other: Hidden) -> Hidden {
        let mask = self.mask.filter(|own| other.mask.as_ref() == Some(own));
        Hidden { seen: self.seen.union(&other.seen).copied().collect(), mask }
    }
}

fn either(left: Option<Hidden>, right: Option<Hidden>) -> Option<Hidden> {
    match (left, right) {
        (Some(left), Some(right)) => Some(left.either(right)),
        (left, right) => left.or(right),
    }
}

/// What is known of the slots of a plan.
#[derive(Default)]
pub(super) struct Slots {
    hidden: HashMap<usize, Hidden>,
    changed: bool,
    /// The slot of the document that is the statement's result.
    result: Option<usize>,
}

impl Slots {
    /// A slot is filled from what is hidden so.
    fn fill(&mut self, slot: usize, from: Option<Hidden>) {
        let Some(from) = from else { return };
        let old = self.hidden.get(&slot).cloned();
        let new = either(old.clone(), Some(from));
        if new != old {
            self.changed = true;
            self.hidden.extend(new.map(|new| (slot, new)));
        }
    }

    fn fill_all(&mut self, registers: Registers, from: Option<&Hidden>) {
        registers.range().for_each(|slot| self.fill(slot, from.cloned()));
    }

    /// How the value of an expression is hidden.
    fn of(&self, expr: &Expr) -> Option<Hidden> {
        match expr {
            Expr::Slot(slot) => self.hidden.get(slot).cloned(),
            Expr::Case(case) => {
                let chosen = case.branches.iter().map(|(_, value)| value).chain([&case.otherwise]);
                chosen.map(|value| self.of(value)).fold(None, either)
            }
            Expr::Coalesce(choices) => choices.iter().map(|choice| self.of(choice)).fold(None, either),
            Expr::Assign(assign) if assign.from == assign.to => self.of(&assign.input),
            Expr::Convert(convert) if convert.from == convert.to => self.of(&convert.input),
            Expr::Integer(integer, _) => match integer.as_ref() {
                Integer::Slot(slot) => self.hidden.get(slot).cloned(),
                Integer::Other(inner) => self.of(inner),
                _ => self.computed([expr]),
            },
            _ => self.computed([expr]),
        }
    }

    /// How what is computed of expressions is hidden.
    fn computed<'e>(&self, exprs: impl IntoIterator<Item = &'e Expr>) -> Option<Hidden> {
        self.made_of(|visit| exprs.into_iter().for_each(|expr| expr.visit_sources(visit)))
    }

    /// How what is computed of visited slots is hidden.
    fn made_of(&self, visit_all: impl FnOnce(&mut dyn FnMut(usize))) -> Option<Hidden> {
        let mut seen = BTreeSet::new();
        visit_all(&mut |slot| seen.extend(self.hidden.get(&slot).iter().flat_map(|hidden| &hidden.seen)));
        (!seen.is_empty()).then_some(Hidden { seen, mask: None })
    }

    /// The slots that say whether the session sees the values that visited slots are made of.
    pub(super) fn seen_by(&self, visit_all: impl FnOnce(&mut dyn FnMut(usize))) -> Option<BTreeSet<usize>> {
        self.made_of(visit_all).map(|hidden| hidden.seen)
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Call { arguments, registers, .. } => self.fill_all(*registers, self.computed(arguments).as_ref()),
            Node::Values { rows, registers } => rows.iter().for_each(|row| self.row(*registers, row)),
            Node::Compute { assignments, .. } => {
                assignments.iter().for_each(|(slot, value)| self.fill(*slot, self.of(value)));
            }
            Node::Apply { test: Test::Scalar(value), slot, .. } => self.fill(*slot, self.of(value)),
            Node::Group { keys, aggregates, .. } => {
                keys.iter().for_each(|(key, slot)| self.fill(*slot, self.of(&key.expr)));
                for aggregate in aggregates {
                    let from = self.computed(aggregate.input.iter().chain(&aggregate.separator));
                    self.fill(aggregate.slot, from);
                }
            }
            Node::Concat { inputs, registers } => inputs.iter().for_each(|(_, row)| self.row(*registers, row)),
            Node::More(more) => self.more(more),
            Node::Series(series) => {
                let bounds = [&series.start, &series.stop].into_iter().chain(&series.step);
                let from = self.made_of(|visit| bounds.into_iter().for_each(|bound| bound.visit_slots(visit)));
                self.fill(series.slot, from);
            }
            Node::One
            | Node::Scan(_)
            | Node::Virtual { .. }
            | Node::File(_)
            | Node::Kept { .. }
            | Node::Filter { .. }
            | Node::Join { .. }
            | Node::Apply { .. }
            | Node::Sort { .. }
            | Node::Number { .. }
            | Node::Top { .. } => {}
        }
    }

    /// A row of values goes into registers.
    fn row(&mut self, registers: Registers, row: &[Expr]) {
        registers.range().zip(row).for_each(|(slot, value)| self.fill(slot, self.of(value)));
    }

    fn more(&mut self, more: &More) {
        match more {
            More::Expand(expand) => {
                expand.keys.iter().for_each(|(value, slot, _)| self.fill(*slot, self.of(value)));
            }
            More::Windows(windows) => {
                windows.functions.iter().for_each(|(function, slot)| self.fill(*slot, self.of_window(function)));
            }
            More::Recursive(recursive) => {
                for (_, row) in recursive.anchors.iter().chain(&recursive.members) {
                    self.row(recursive.registers, row);
                }
                for (given, work) in recursive.registers.range().zip(recursive.work.range()) {
                    self.fill(work, self.hidden.get(&given).cloned());
                }
            }
            More::Split(split) => {
                self.fill_all(split.registers, self.computed([&split.text, &split.separator]).as_ref());
            }
            More::Document(document) if self.result == Some(document.slot) => {}
            More::Document(document) => self.fill(document.slot, self.computed(&document.values)),
            More::OpenJson(open) => {
                self.fill_all(open.registers, self.computed([&open.json].into_iter().chain(&open.path)).as_ref());
            }
            More::Nodes(nodes) => {
                let from = self.computed([&nodes.receiver].into_iter().chain(&nodes.inputs));
                self.fill_all(nodes.registers, from.as_ref());
            }
            More::Spool(_) | More::Full(_) | More::Top(_) | More::Common(_) | More::Next(_) => {}
        }
    }

    fn of_window(&self, function: &WindowFunction) -> Option<Hidden> {
        match function {
            WindowFunction::Number(_)
            | WindowFunction::Tiles(_)
            | WindowFunction::PercentRank
            | WindowFunction::CumulativeDistribution => None,
            WindowFunction::Shift { value, default, .. } => self.computed([value, default]),
            WindowFunction::End { value, .. } => self.computed([value]),
            WindowFunction::Aggregate(aggregate, _) => {
                self.computed(aggregate.input.iter().chain(&aggregate.separator))
            }
            WindowFunction::Percentile { place, value, .. } => self.computed([place, value]),
        }
    }

    /// Hides a value of a type that leaves the statement.
    fn hide(&self, value: &mut Expr, ty: SqlType) {
        let Some(Hidden { seen, mask }) = self.of(value) else {
            // Its conditions may read what is hidden.
            return self.silence(value);
        };
        // What has another type than the column is no more the column's own value.
        let mask = mask.filter(|mask| mask.is_of(&ty)).unwrap_or_else(|| Mask::default_of(ty));
        cover(value, seen, Some(mask));
    }

    fn hide_action(&self, names: &Names<'_>, action: &mut Action) {
        let output = match action {
            Action::Select { columns, values } => {
                values.iter_mut().zip(columns).for_each(|(value, column)| self.hide(value, column.ty));
                None
            }
            Action::Assign { assignments, .. } => {
                self.hide_variables(names, assignments);
                None
            }
            Action::Insert(insert) => {
                self.hide_insert(insert);
                insert.output.as_mut()
            }
            Action::Update(update) => {
                self.hide_columns(&update.changed.table, &mut update.assignments);
                self.hide_variables(names, &mut update.variables);
                update.output.as_mut()
            }
            Action::Delete(delete) => delete.output.as_mut(),
            Action::Change(change) => {
                for branch in &mut change.branches {
                    self.silence_branch(branch);
                    match &mut branch.action {
                        BranchAction::Update { assignments, variables } => {
                            self.hide_columns(&change.table, assignments);
                            self.hide_variables(names, variables);
                        }
                        BranchAction::Delete => {}
                        BranchAction::Insert(insert) => self.hide_insert(insert),
                    }
                }
                change.output.as_mut()
            }
            // The trigger is told no more than who fires it may see.
            Action::Instead(instead) => {
                for row in instead.inserted.iter_mut().chain([&mut instead.deleted]) {
                    row.iter_mut().zip(&instead.types).for_each(|(value, ty)| self.hide(value, *ty));
                }
                None
            }
        };
        if let Some(output) = output {
            self.hide_output(output);
        }
    }

    fn hide_insert(&self, insert: &mut Insert) {
        for row in &mut insert.rows {
            for (source, column) in row.iter_mut().zip(&insert.table.columns) {
                if let ColumnSource::Value(value) = source {
                    self.hide(value, column.ty);
                }
            }
        }
    }

    fn hide_output(&self, output: &mut OutputPlan) {
        let values = output.values.iter_mut().zip(&output.columns);
        values.for_each(|(value, column)| self.hide(value, column.ty));
        if let Some(into) = &mut output.into {
            self.hide_insert(&mut into.insert);
        }
    }

    fn hide_document(&self, document: &mut Document) {
        let values = document.values.iter_mut().zip(&document.types);
        values.for_each(|(value, ty)| self.hide(value, *ty));
    }

    fn hide_columns(&self, table: &crate::access::Table, assignments: &mut [(usize, Expr)]) {
        assignments.iter_mut().for_each(|(column, value)| self.hide(value, table.columns[*column].ty));
    }

    fn hide_variables(&self, names: &Names<'_>, assignments: &mut [(usize, Expr)]) {
        for (slot, value) in assignments {
            let ty = names.variables.get(*slot).map_or(SqlType::Null, |variable| variable.ty);
            self.hide(value, ty);
        }
    }
}

pub(super) fn cover(value: &mut Expr, seen: BTreeSet<usize>, mask: Option<Mask>) {
    let input = std::mem::replace(value, Expr::NULL);
    *value = Expr::Masked(Box::new(Masked { input, mask, seen: seen.into_iter().collect() }));
}

/// A table whose columns a plan has in registers.
type Source = (Arc<engine::Table>, Registers);

impl Binder<'_> {
    /// Hides what leaves a statement and is made of masked columns; the columns that this hangs on.
    pub(super) fn hide_masked(&mut self, source: &mut Node, action: &mut Action) -> Vec<MaskedColumn> {
        let mut columns = Vec::new();
        let mut slots = Slots::default();
        for (table, registers) in self.masked_sources(source, action) {
            self.masked_columns(&table, registers, &mut slots, &mut columns);
        }
        if columns.is_empty() {
            return columns;
        }
        slots.result = result_document(source, action).map(|document| document.slot);
        loop {
            slots.changed = false;
            source.visit_nodes(&mut |node| slots.node(node));
            pass_through(action, &mut slots);
            if !slots.changed {
                break;
            }
        }
        if let Some(document) = result_document(source, action) {
            slots.hide_document(document);
        }
        source.visit_nodes_mut(&mut |node| slots.silence_node(node));
        slots.hide_action(self.names, action);
        columns
    }

    /// The tables with masks whose rows a plan reads or changes.
    fn masked_sources(&self, source: &Node, action: &Action) -> Vec<Source> {
        let mut found: Vec<Source> = Vec::new();
        let mut add = |table: &Arc<engine::Table>, registers: Registers| {
            // What a session's own temporary table holds is the session's.
            if table.has_masks() && table.residence() != Residence::Temporary {
                found.push((Arc::clone(table), registers));
            }
        };
        let watched = self.names.trigger.and_then(|trigger| self.names.catalog.catalog.table_by_id(trigger.parent));
        let mut visit = |node: &Node| match node {
            Node::Scan(scan) => add(&scan.table.engine, scan.registers),
            Node::Virtual { index, registers } => match &self.virtual_sources[*index] {
                VirtualSource::Inserted | VirtualSource::Deleted => {
                    watched.iter().for_each(|table| add(table, *registers));
                }
                VirtualSource::Current(row) | VirtualSource::CurrentAgain(row) => add(&row.table, *registers),
                _ => {}
            },
            _ => {}
        };
        source.visit_nodes(&mut visit);
        let changed = match action {
            Action::Select { .. } | Action::Assign { .. } | Action::Instead(_) => None,
            Action::Insert(insert) => Some((&insert.table, None)),
            Action::Update(update) => Some((&update.changed.table, Some(&update.changed))),
            Action::Delete(delete) => Some((&delete.changed.table, Some(&delete.changed))),
            Action::Change(change) => {
                add(&change.table.engine, change.registers);
                Some((&change.table, None))
            }
        };
        if let Some((table, changed)) = changed {
            changed.iter().for_each(|changed| add(&table.engine, changed.registers));
            let inserted = action.output().and_then(|output| output.inserted);
            inserted.iter().for_each(|registers| add(&table.engine, *registers));
        }
        found
    }

    /// How the columns of a table are hidden in its registers.
    fn masked_columns(
        &mut self,
        table: &Arc<engine::Table>,
        registers: Registers,
        slots: &mut Slots,
        columns: &mut Vec<MaskedColumn>,
    ) {
        let (database, securable) = self.masked_table(table);
        let mut seen = HashMap::new();
        for (place, column) in table.columns.iter().enumerate() {
            let Some(mask) = column.mask() else { continue };
            let number = column_number(place);
            let same = |known: &&MaskedColumn| {
                (known.database, known.securable, known.column) == (database, securable, number)
            };
            let slot = match columns.iter().find(same) {
                Some(known) => known.slot,
                None => {
                    let slot = self.register();
                    columns.push(MaskedColumn { database, securable, column: number, slot });
                    slot
                }
            };
            seen.insert(place, slot);
            slots.fill(registers.first + place, Some(Hidden { seen: [slot].into(), mask: Some(mask) }));
        }
        let known = TableColumn::all(table);
        for (place, column) in table.columns.iter().enumerate() {
            let Some(computed) = &column.computed else { continue };
            let read = reads_columns(&computed.text, false, &known, self.names);
            let is_read = |place: &usize| read.as_ref().map_or(true, |read| read.contains(place));
            let seen: BTreeSet<usize> = seen.iter().filter(|(of, _)| is_read(of)).map(|(_, slot)| *slot).collect();
            slots.fill(registers.first + place, (!seen.is_empty()).then_some(Hidden { seen, mask: None }));
        }
    }

    /// The database of a table, and what UNMASK on it is asked of.
    fn masked_table(&self, table: &engine::Table) -> (i32, Securable) {
        let view = self.names.catalog.of_reached(table);
        if table.residence() == Residence::Variable {
            return (engine::TEMPDB_ID, Securable::Database);
        }
        let owner = view.catalog.schema_by_id(table.schema_id).map_or(engine::DBO, |schema| schema.owner);
        let securable = Securable::Object { id: table.object_id, schema_id: table.schema_id, owner };
        (view.database.id(), securable)
    }
}

/// FOR JSON or FOR XML of the statement itself: it has masked values in it, and is not masked as a whole.
fn result_document<'n>(source: &'n mut Node, action: &Action) -> Option<&'n mut Document> {
    match (source, action) {
        (Node::More(more), Action::Select { .. }) => match more.as_mut() {
            More::Document(document) => Some(document),
            _ => None,
        },
        _ => None,
    }
}

/// What OUTPUT gives to a query around the statement.
fn pass_through(action: &Action, slots: &mut Slots) {
    let into = action.output().and_then(|output| output.into.as_ref());
    let through = into.and_then(|into| into.through.as_ref());
    for (slot, value) in through.iter().flat_map(|through| &through.values) {
        slots.fill(*slot, slots.of(value));
    }
}
