//! The triggers that a statement fires.

use std::sync::Arc;

use crate::expression::{Expr, Fault};
use pikepole_engine::{Trigger, TriggerEvent};
use pikepole_types::SqlType;

/// The enabled triggers of the table that a statement changes, for what the statement does to its rows.
#[derive(Debug, Default)]
pub struct Triggers {
    /// The object id of the table.
    pub table: i32,
    /// What is done that a trigger watches.
    pub events: Vec<FiringEvent>,
    /// Why the statement cannot run with these triggers; it fails with it.
    pub(crate) fault: Option<Fault>,
}

/// One thing that a statement does, and who watches it.
#[derive(Debug)]
pub struct FiringEvent {
    /// What is done.
    pub event: TriggerEvent,
    /// The trigger that runs in its place.
    pub instead: Option<Arc<Trigger>>,
    /// Those that run when it is done, in their order.
    pub after: Vec<Arc<Trigger>>,
    /// Per column of the table, whether the statement gives it a value: `UPDATE(column)`.
    pub updated: Arc<[bool]>,
}

/// A change of a view that an INSTEAD OF trigger stands in for: nothing is changed, the rows are for the trigger.
#[derive(Debug, Clone)]
pub struct Instead {
    /// What is asked for.
    pub event: TriggerEvent,
    /// Who does something else.
    pub trigger: Arc<Trigger>,
    /// The rows of `inserted` that each row of the source gives, every value of its column's type.
    pub inserted: Vec<Vec<Expr>>,
    /// The row of `deleted`; empty where there is none.
    pub deleted: Vec<Expr>,
    /// The types of the columns of both.
    pub types: Vec<SqlType>,
    /// The places of the columns that an UPDATE sets.
    pub updated: Vec<usize>,
}

impl Instead {
    /// Calls `visit` with every slot it reads.
    pub fn visit_read(&self, visit: &mut dyn FnMut(usize)) {
        self.inserted.iter().flatten().chain(&self.deleted).for_each(|value| value.visit_slots(visit));
    }
}

impl Triggers {
    /// The one trigger of a change of a view.
    pub(crate) fn instead(instead: &Instead) -> Triggers {
        let updated = |column| instead.event == TriggerEvent::Insert || instead.updated.contains(&column);
        let event = FiringEvent {
            event: instead.event,
            instead: Some(Arc::clone(&instead.trigger)),
            after: Vec::new(),
            updated: (0..instead.types.len()).map(updated).collect(),
        };
        Triggers { table: instead.trigger.parent_id, events: vec![event], fault: None }
    }

    /// The place of an event among those that are watched.
    pub(crate) fn place(&self, event: TriggerEvent) -> Option<usize> {
        self.events.iter().position(|watched| watched.event == event)
    }
}
