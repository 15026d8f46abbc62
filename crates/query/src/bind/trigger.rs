//! Triggers: which ones a statement fires, and what the statements of one see: `inserted`, `deleted`, `UPDATE(column)`.

use std::sync::Arc;

use super::join::Leaf;
use super::scope::{ColumnAccess, SourceColumn};
use super::source::table_columns;
use super::typed::Typed;
use super::{Binder, Names};
use crate::access::Table;
use crate::errors;
use crate::expression::{Expr, Fault, Predicate};
use crate::plan::{Action, BranchAction, Change, FiringEvent, Node, OutputPlan, Triggers, VirtualSource};
use pikepole_engine::{Object, Trigger, TriggerEvent};
use pikepole_tsql as tree;
use pikepole_types::{Length, SqlError, SqlType};

/// What the statements of a trigger see of the table or view that it watches. Its program's first variables have no names:
/// the bits of COLUMNS_UPDATED(), then a bit for each column.
#[derive(Debug)]
pub(crate) struct TriggerShape {
    /// The object id of the trigger; zero while it is only looked at.
    pub(crate) trigger: i32,
    /// The object id of the table or view.
    pub(crate) parent: i32,
    /// The version of the table that the columns are of; of a view that of the catalog.
    pub(crate) version: u64,
    /// The columns of `inserted` and `deleted`.
    columns: Vec<SourceColumn>,
    /// The columns whose values are computed.
    computed: Vec<bool>,
    /// The bits that the columns have in COLUMNS_UPDATED(): their numbers, from zero.
    bits: Vec<usize>,
}

/// The type of COLUMNS_UPDATED().
pub(crate) const COLUMNS_UPDATED: SqlType = SqlType::VarBinary(Length::Limit(128));

impl TriggerShape {
    /// What a trigger sees of a table or view; an AFTER trigger sees no long values of the older types.
    ///
    /// # Errors
    /// What is wrong with a view; 8197 for an object that is neither.
    pub(crate) fn of(trigger: i32, parent: i32, instead_of: bool, names: &Names<'_>) -> Result<TriggerShape, Fault> {
        let catalog = &names.catalog.catalog;
        let invalid = || Box::new(SqlError::trigger_target_invalid(parent));
        let name = match catalog.object_by_id(parent) {
            Some(Object::Table(table)) => (table.schema(), table.name.as_str()),
            Some(Object::View(view)) => (view.schema.as_str(), view.name.as_str()),
            _ => return Err(invalid()),
        };
        let part = |text: &str| tree::Name { text: text.to_owned(), span: tree::Span::default() };
        let name = tree::ObjectName { schema: Some(part(name.0)), ..tree::ObjectName::of(part(name.1)) };
        let version = TriggerShape::version_of(parent, catalog);
        if let Some(table) = names.catalog.table(&name)? {
            let computed = table.columns.iter().map(|column| column.computed).collect();
            let mut columns = table_columns(&table);
            for column in columns.iter_mut().filter(|column| !instead_of && column.ty.is_text_or_image()) {
                column.access = ColumnAccess::Withheld;
            }
            let bit = |place| usize::try_from(table.engine.column_number(place) - 1).unwrap_or(place);
            let bits = (0..columns.len()).map(bit).collect();
            return Ok(TriggerShape { trigger, parent, version, columns, computed, bits });
        }
        let (view, _) = names.catalog.view(&name)?.ok_or_else(invalid)?;
        let (_, columns) = Binder::new(names, 0).expand_view(&name, &view)?;
        let computed = vec![false; columns.len()];
        let bits = (0..columns.len()).collect();
        Ok(TriggerShape { trigger, parent, version, columns, computed, bits })
    }

    /// COLUMNS_UPDATED() of these columns; empty when none is.
    pub(crate) fn updated_bits(&self, updated: &[bool]) -> Vec<u8> {
        if !updated.contains(&true) {
            return Vec::new();
        }
        let mut bytes = vec![0; self.bits.iter().max().map_or(0, |last| last / 8 + 1)];
        for (bit, _) in self.bits.iter().zip(updated).filter(|(_, updated)| **updated) {
            bytes[bit / 8] |= 1 << (bit % 8);
        }
        bytes
    }

    /// The version that a shape of the table or view has now.
    pub(crate) fn version_of(parent: i32, catalog: &pikepole_engine::Catalog) -> u64 {
        catalog.table_by_id(parent).map_or(catalog.version(), |table| table.version())
    }

    /// How many columns there are.
    pub(crate) fn len(&self) -> usize {
        self.columns.len()
    }
}

impl Binder<'_> {
    /// `inserted` or `deleted`, where a name means one of them: in the statements of a trigger, not in the views and functions
    /// that these use.
    pub(super) fn transition(&mut self, name: &tree::ObjectName) -> Option<(Leaf, Vec<SourceColumn>)> {
        let shape = self.names.trigger?;
        let deleted = self.names_transition(name)?;
        let registers = self.registers(shape.columns.len());
        let index = self.virtual_sources.len();
        self.virtual_sources.push(if deleted { VirtualSource::Deleted } else { VirtualSource::Inserted });
        Some((Leaf::Rows(Node::Virtual { index, registers }), shape.columns.clone()))
    }

    /// Whether a name means `deleted`; none when it means neither that nor `inserted`.
    pub(super) fn names_transition(&self, name: &tree::ObjectName) -> Option<bool> {
        let plain = name.schema.is_none() && name.database.is_none() && name.server.is_none();
        let own = self.names.trigger.is_some() && self.is_own_text();
        match (plain && own, name.name.is("inserted"), name.name.is("deleted")) {
            (true, true, _) => Some(false),
            (true, _, true) => Some(true),
            _ => None,
        }
    }

    /// `UPDATE(column)`
    pub(super) fn updated(&self, column: &tree::Name) -> Result<Predicate, Fault> {
        let shape = self.names.trigger.ok_or_else(|| Box::new(SqlError::if_update_outside_trigger()))?;
        let at = shape.columns.iter().position(|own| column.is(&own.name));
        let at = at.ok_or_else(|| SqlError::invalid_column(&column.text).at_line(column.span.line))?;
        if shape.computed[at] {
            return Err(Box::new(SqlError::computed_column_in_if_update(&column.text)));
        }
        Ok(Predicate::Slot(1 + at))
    }

    /// `COLUMNS_UPDATED()`: NULL where no trigger runs.
    pub(super) fn columns_updated(&self) -> Result<Typed, Fault> {
        match self.names.trigger {
            Some(_) => Ok(Typed::new(Expr::Slot(0), COLUMNS_UPDATED, false)),
            None => Ok(Typed::new(Expr::NULL, COLUMNS_UPDATED, true)),
        }
    }

    /// The triggers that a statement fires; none: nobody watches what it does.
    pub(super) fn triggers(&self, action: &Action) -> Option<Arc<Triggers>> {
        let (table, done, output) = match action {
            Action::Insert(insert) => (&insert.table, vec![(TriggerEvent::Insert, Vec::new())], &insert.output),
            Action::Update(update) => {
                let changed = update.assignments.iter().map(|(column, _)| *column).collect();
                (&update.changed.table, vec![(TriggerEvent::Update, changed)], &update.output)
            }
            Action::Delete(delete) => (&delete.changed.table, vec![(TriggerEvent::Delete, Vec::new())], &delete.output),
            Action::Change(change) => (&change.table, events_of(change), &change.output),
            Action::Instead(instead) => return Some(Arc::new(Triggers::instead(instead))),
            Action::Select { .. } | Action::Assign { .. } => return None,
        };
        if self.passes_triggers || table.is_temporary() {
            return None;
        }
        let view = self.names.catalog.of_table(table);
        let enabled: Vec<&Arc<Trigger>> =
            view.catalog.triggers_of(table.object_id).filter(|trigger| !trigger.disabled).collect();
        if enabled.is_empty() {
            return None;
        }
        let events: Vec<FiringEvent> =
            done.iter().map(|(event, columns)| firing(table, *event, columns, &enabled)).collect();
        let is_elsewhere = view.database.id() != self.names.catalog.database.id();
        let elsewhere = || errors::unsupported("A change of a table with triggers in another database");
        let fault = is_elsewhere.then(elsewhere).or_else(|| conflict(table, &events, output.as_ref()));
        let watched = |event: &FiringEvent| event.instead.is_some() || !event.after.is_empty();
        let events: Vec<FiringEvent> = events.into_iter().filter(watched).collect();
        let triggers = Triggers { table: table.object_id, events, fault };
        (!triggers.events.is_empty()).then(|| Arc::new(triggers))
    }

    /// Error 331 for a table that OUTPUT ... INTO cannot fill.
    pub(super) fn refuse_triggers(&self, table: &Table) -> Result<(), Fault> {
        let view = self.names.catalog.of_table(table);
        let mut triggers = view.catalog.triggers_of(table.object_id);
        if !table.is_temporary() && triggers.any(|trigger| !trigger.disabled) {
            return Err(Box::new(SqlError::output_into_with_triggers(&table.name)));
        }
        Ok(())
    }
}

/// Who watches one thing that is done to rows of a table.
fn firing(table: &Table, event: TriggerEvent, columns: &[usize], enabled: &[&Arc<Trigger>]) -> FiringEvent {
    let updated = |column| event == TriggerEvent::Insert || columns.contains(&column);
    let mut watched = FiringEvent {
        event,
        instead: None,
        after: Vec::new(),
        updated: (0..table.columns.len()).map(updated).collect(),
    };
    let mut ordered: Vec<&Arc<Trigger>> = enabled.to_vec();
    ordered.sort_by_key(|trigger| trigger.place(event));
    for trigger in ordered.iter().filter(|trigger| trigger.events.contains(&event)) {
        if trigger.instead_of {
            watched.instead = Some(Arc::clone(trigger));
        } else {
            watched.after.push(Arc::clone(trigger));
        }
    }
    watched
}

/// What keeps a statement from running with the triggers of its table.
fn conflict(table: &Table, events: &[FiringEvent], output: Option<&OutputPlan>) -> Option<Fault> {
    let any = events.iter().any(|event| event.instead.is_some() || !event.after.is_empty());
    if any && output.is_some_and(OutputPlan::sends) {
        return Some(Box::new(SqlError::output_with_triggers(&table.name)));
    }
    let instead = events.iter().filter(|event| event.instead.is_some()).count();
    (instead > 0 && instead < events.len()).then(|| Box::new(SqlError::merge_instead_of_incomplete(&table.name)))
}

/// What joined rows do to the table, with the columns that an UPDATE sets.
fn events_of(change: &Change) -> Vec<(TriggerEvent, Vec<usize>)> {
    let mut events: Vec<(TriggerEvent, Vec<usize>)> = Vec::new();
    for branch in &change.branches {
        let (event, columns) = match &branch.action {
            BranchAction::Insert(_) => (TriggerEvent::Insert, Vec::new()),
            BranchAction::Update { assignments, .. } => {
                (TriggerEvent::Update, assignments.iter().map(|(column, _)| *column).collect())
            }
            BranchAction::Delete => (TriggerEvent::Delete, Vec::new()),
        };
        match events.iter_mut().find(|(known, _)| *known == event) {
            Some((_, known)) => known.extend(columns),
            None => events.push((event, columns)),
        }
    }
    events.sort_by_key(|(event, _)| *event);
    events
}
