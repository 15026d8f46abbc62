//! `sys.triggers`, `sys.trigger_events` and `sys.trigger_event_types`.

use super::Kind::{Bit, Code, DateTime, Int, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::objects::of_trigger;
use super::{ColumnOf, Rows, Source, View};
use pikepole_engine::{DefinitionEvent, TriggerEvent};
use pikepole_types::{SqlError, Value};

/// An event that somebody is told of.
pub(super) const EVENT: &[ColumnOf] = &[
    ("object_id", Int, No),
    ("type", Int, No),
    ("type_desc", Text(60), No),
    ("is_trigger_event", Bit, Yes),
    ("event_group_type", Int, Yes),
    ("event_group_type_desc", Text(60), Yes),
];

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "triggers",
        columns: &[
            ("name", Name, No),
            ("object_id", Int, No),
            ("parent_class", TinyInt, No),
            ("parent_class_desc", Text(60), Yes),
            ("parent_id", Int, No),
            ("type", Code, No),
            ("type_desc", Text(60), Yes),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("is_ms_shipped", Bit, No),
            ("is_disabled", Bit, No),
            ("is_not_for_replication", Bit, No),
            ("is_instead_of_trigger", Bit, No),
        ],
        rows: triggers,
    },
    View {
        schema: "sys",
        name: "trigger_events",
        columns: &[
            ("object_id", Int, No),
            ("type", Int, No),
            ("type_desc", Text(60), No),
            ("is_first", Bit, Yes),
            ("is_last", Bit, Yes),
            ("event_group_type", Int, Yes),
            ("event_group_type_desc", Text(60), Yes),
            ("is_trigger_event", Bit, Yes),
        ],
        rows: events,
    },
    View { schema: "sys", name: "events", columns: EVENT, rows: all_events },
    View {
        schema: "sys",
        name: "trigger_event_types",
        columns: &[("type", Int, No), ("type_name", Text(64), Yes), ("parent_type", Int, Yes)],
        rows: event_types,
    },
];

/// `sys.events`: those of triggers, as there are no notifications of events.
fn all_events(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let Some(of_triggers) = VIEWS.iter().find(|view| view.name == "trigger_events") else { return Ok(Rows::new()) };
    let place = |name: &str| of_triggers.columns.iter().position(|(known, ..)| *known == name);
    let places: Vec<usize> = view.columns.iter().filter_map(|(name, ..)| place(name)).collect();
    let rows = events(of_triggers, source)?;
    Ok(rows.into_iter().map(|row| places.iter().map(|place| row[*place].clone()).collect()).collect())
}

fn event_types(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |event: &DefinitionEvent| {
        let row = view.row().integer("type", event.number).text("type_name", event.name);
        if event.group == 0 { row.done() } else { row.integer("parent_type", event.group).done() }
    };
    Ok(DefinitionEvent::ALL.iter().map(row).collect())
}

/// The triggers of definitions, as `sys.triggers` shows them.
fn definition_triggers<'a>(view: &'a View, source: &'a Source<'_>) -> impl Iterator<Item = Vec<Value>> + 'a {
    source.catalog.definition_triggers().map(|trigger| {
        let module = &trigger.module;
        view.row()
            .text("name", &module.name)
            .integer("object_id", module.object_id)
            .integer("parent_class", 0)
            .text("parent_class_desc", "DATABASE")
            .integer("parent_id", 0)
            .text("type", "TR")
            .text("type_desc", "SQL_TRIGGER")
            .moment("create_date", module.created_us)
            .moment("modify_date", module.modified_us)
            .bit("is_disabled", trigger.disabled)
            .bit("is_not_for_replication", false)
            .bit("is_instead_of_trigger", false)
            .done()
    })
}

/// What triggers of definitions watch, event by event; where a group was written, with that.
fn definition_events(view: &View, source: &Source<'_>) -> Rows {
    let mut rows = Rows::new();
    for trigger in source.catalog.definition_triggers() {
        for written in trigger.events.iter().filter_map(|number| DefinitionEvent::by_number(*number)) {
            for event in written.events() {
                let row = view
                    .row()
                    .integer("object_id", trigger.module.object_id)
                    .integer("type", event.number)
                    .text("type_desc", event.name)
                    .bit("is_first", false)
                    .bit("is_last", false)
                    .bit("is_trigger_event", true);
                rows.push(match written.is_group() {
                    true => row
                        .integer("event_group_type", written.number)
                        .text("event_group_type_desc", written.name)
                        .done(),
                    false => row.done(),
                });
            }
        }
    }
    rows
}

fn triggers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.catalog.triggers().map(|trigger| {
        let object = of_trigger(trigger);
        view.row()
            .text("name", object.name)
            .integer("object_id", object.object_id)
            .integer("parent_class", 1)
            .text("parent_class_desc", "OBJECT_OR_COLUMN")
            .integer("parent_id", trigger.parent_id)
            .text("type", object.code)
            .text("type_desc", object.kind)
            .moment("create_date", object.created_us)
            .moment("modify_date", object.modified_us)
            .bit("is_disabled", trigger.disabled)
            .bit("is_not_for_replication", trigger.not_for_replication)
            .bit("is_instead_of_trigger", trigger.instead_of)
            .done()
    });
    Ok(rows.chain(definition_triggers(view, source)).collect())
}

fn events(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let number = |event: &TriggerEvent| match event {
        TriggerEvent::Insert => 1,
        TriggerEvent::Update => 2,
        TriggerEvent::Delete => 3,
    };
    let rows = source.catalog.triggers().flat_map(|trigger| {
        trigger.events.iter().map(|event| {
            view.row()
                .integer("object_id", trigger.module.object_id)
                .integer("type", number(event))
                .text("type_desc", event.name())
                .bit("is_first", trigger.first.contains(event))
                .bit("is_last", trigger.last.contains(event))
                .bit("is_trigger_event", true)
                .done()
        })
    });
    Ok(rows.chain(definition_events(view, source)).collect())
}
