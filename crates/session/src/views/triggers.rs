//! `sys.triggers` and `sys.trigger_events`.

use super::Kind::{Bit, Code, DateTime, Int, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::objects::of_trigger;
use super::{Rows, Source, View};
use pikepole_engine::TriggerEvent;
use pikepole_types::SqlError;

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
];

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
    Ok(rows.collect())
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
    Ok(rows.collect())
}
