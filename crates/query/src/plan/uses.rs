//! Which indexes a plan uses, and how.

use std::sync::Arc;

use super::{Action, RowSubqueries, Scan, Statement};
use crate::access::Table;
use pikepole_engine::{IndexUse, UseCounter};

impl Statement {
    /// Tells the tables that runs of this plan are counted here.
    pub(crate) fn tell_uses(&self, counter: &Arc<dyn UseCounter>) {
        let mut read = |scan: &Scan| {
            let range = &scan.range;
            let how = if range.is_seek() { IndexUse::Seek } else { IndexUse::Scan };
            let table = &scan.table.engine;
            table.tell_use(range.index.unwrap_or(table.base_index_id()), how, counter);
            if range.index.is_some_and(|index| scan.place.is_some() || !table.covers(index, &scan.wanted)) {
                table.tell_use(table.base_index_id(), IndexUse::Lookup, counter);
            }
        };
        self.source.visit_scans(&mut read);
        let changed = match &self.action {
            Action::Select { .. } | Action::Assign { .. } | Action::Instead(_) => return,
            Action::Insert(insert) => (&insert.table, None),
            Action::Delete(delete) => (&delete.changed.table, None),
            Action::Change(change) => (&change.table, change.updates_alone()),
            Action::Update(update) => {
                if let RowSubqueries::Again(node) = &update.changed.subqueries {
                    node.visit_scans(&mut read);
                }
                (&update.changed.table, Some(update.assignments.iter().map(|(column, _)| *column).collect()))
            }
        };
        tell_changes(changed.0, changed.1.as_deref(), counter);
    }
}

/// The indexes whose rows change with those of their table: all, or those with one of the columns that an UPDATE changes.
fn tell_changes(table: &Table, columns: Option<&[usize]>, counter: &Arc<dyn UseCounter>) {
    let table = &table.engine;
    table.tell_use(table.base_index_id(), IndexUse::Update, counter);
    for index in table.live_indexes().filter(|index| !index.clustered) {
        let mut own = index.columns.iter().map(|key| key.column).chain(index.included.iter().copied());
        if columns.is_none_or(|columns| own.any(|column| columns.contains(&column))) {
            table.tell_use(index.index_id, IndexUse::Update, counter);
        }
    }
}
