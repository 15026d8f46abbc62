//! Reads of a statement: SET STATISTICS IO, as a message for each table, and how far it is, for the views.
//!
//! A statement's meter is set while its operators run, on the session's scheduler and in its workers, and nowhere else: neither
//! while it waits, nor in triggers, which tell of their own statements, nor in functions, which tell nothing.

use std::collections::HashSet;
use std::sync::Arc;

use super::statement::StatementState;
use super::{Machine, Pause};
use crate::access::Stop;
use crate::plan::{Action, Statement};
use crate::reading::Reading;
use pikepole_engine::{ReadMeter, Table, TableReads};
use pikepole_types::SqlError;

impl Machine<'_> {
    /// Counts what is read by tables, when somebody wants to know or there is so much that somebody may.
    pub(super) fn drive_metered(
        &mut self,
        plan: &Arc<Statement>,
        index: usize,
        state: &mut StatementState,
    ) -> Result<Option<Pause>, Stop> {
        let watched = !plan.drivers.is_empty();
        let wanted = self.context.settings.statistics_io || watched;
        if state.meter.is_none() && (!wanted || self.context.functions > 0) {
            return self.drive_on(plan, index, state);
        }
        let begins = state.meter.is_none();
        let meter = state.meter.get_or_insert_default().clone();
        if begins && watched {
            self.context.activity.reads(Some(Reading::new(plan, &meter, state.profile.as_ref())));
        }
        let driven = meter.during(|| self.drive_on(plan, index, state));
        let ends = matches!(driven, Ok(None) | Err(Stop::Error(_) | Stop::Again(_) | Stop::Stale));
        if ends && watched {
            self.context.activity.reads(None);
        }
        if matches!(driven, Ok(None)) {
            state.meter = None;
        }
        driven
    }

    /// Tells what was read, in the order in which tables were met. The table that rows are changed in is told of in any case.
    pub(super) fn send_reads(&mut self, plan: &Statement, meter: &ReadMeter) {
        let mut read = self.tables_read(plan, meter);
        read.sort_by_key(|(_, reads)| reads.met);
        for (name, reads) in read {
            let mut message = SqlError::new(3615, 10, 1, text(&name, &reads));
            message.line = self.line();
            self.output.message(&message);
        }
    }

    fn tables_read(&self, plan: &Statement, meter: &ReadMeter) -> Vec<(String, TableReads)> {
        let mut catalogs = vec![self.context.definitions_of(self.context.database())];
        let others = plan.others.iter().filter_map(|(id, _)| self.context.server().database_by_id(*id));
        catalogs.extend(others.map(|database| self.context.definitions_of(&database)));
        let shared = catalogs.iter().flat_map(|catalog| catalog.tables());
        let own = self.context.temporary_tables().into_iter().flat_map(|tables| tables.entries());
        let tables = shared.map(|table| (table.name.as_str(), table));
        let tables = tables.chain(own.map(|entry| (entry.name.as_str(), &entry.table)));
        let changed = changed_table(&plan.action);
        let mut seen = HashSet::new();
        let read = tables.filter_map(|(name, table)| {
            let is_changed = changed.is_some_and(|changed| is_same(changed, table));
            let nothing = is_changed.then(|| TableReads { met: usize::MAX, ..TableReads::default() });
            let reads = table.reads(meter).or(nothing)?;
            // A parameter has the table of its caller's variable.
            seen.insert(Arc::as_ptr(table)).then(|| (name.to_owned(), reads))
        });
        read.collect()
    }
}

fn is_same(one: &Table, other: &Table) -> bool {
    one.object_id == other.object_id && one.name == other.name
}

/// The table whose rows a statement changes.
fn changed_table(action: &Action) -> Option<&Table> {
    match action {
        Action::Select { .. } | Action::Assign { .. } | Action::Instead(_) => None,
        Action::Insert(insert) => Some(&insert.table.engine),
        Action::Update(update) => Some(&update.changed.table.engine),
        Action::Delete(delete) => Some(&delete.changed.table.engine),
        Action::Change(change) => Some(&change.table.engine),
    }
}

/// The message of SQL Server 2019 and later. There are no page servers here.
fn text(name: &str, reads: &TableReads) -> String {
    let TableReads { rows, long, .. } = reads;
    format!(
        "Table '{name}'. Scan count {}, logical reads {}, physical reads {}, page server reads 0, read-ahead reads {}, page server \
         read-ahead reads 0, lob logical reads {}, lob physical reads {}, lob page server reads 0, lob read-ahead reads {}, lob page \
         server read-ahead reads 0.",
        rows.scans, rows.logical, rows.physical, rows.ahead, long.logical, long.physical, long.ahead
    )
}
