//! `sys.security_policies` and `sys.security_predicates`.

use super::Kind::{Bit, Int, LongText, Text};
use super::Nullable::{No, Yes};
use super::objects::{OBJECT, of_policy};
use super::{Rows, Source, View, columns_of};
use pikepole_engine::PredicateKind;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "security_policies",
        columns: columns_of![OBJECT;
            ("is_enabled", Bit, No),
            ("is_not_for_replication", Bit, No),
            ("uses_database_collation", Bit, Yes),
            ("is_schema_bound", Bit, No),
        ],
        rows: policies,
    },
    View {
        schema: "sys",
        name: "security_predicates",
        columns: &[
            ("object_id", Int, No),
            ("security_predicate_id", Int, No),
            ("target_object_id", Int, No),
            ("predicate_definition", LongText, Yes),
            ("predicate_type", Int, Yes),
            ("predicate_type_desc", Text(60), Yes),
            ("operation", Int, Yes),
            ("operation_desc", Text(60), Yes),
        ],
        rows: predicates,
    },
];

fn policies(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.catalog.security_policies().map(|policy| {
        of_policy(policy)
            .row(view)
            .bit("is_enabled", policy.enabled)
            .bit("is_not_for_replication", policy.not_for_replication)
            .bit("uses_database_collation", true)
            .bit("is_schema_bound", policy.schema_bound)
            .done()
    });
    Ok(rows.collect())
}

fn predicates(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Rows::new();
    for policy in source.catalog.security_policies() {
        for predicate in &policy.predicates {
            let row = view
                .row()
                .integer("object_id", policy.module.object_id)
                .integer("security_predicate_id", predicate.id)
                .integer("target_object_id", predicate.target)
                .text("predicate_definition", &predicate.call)
                .integer("predicate_type", i64::from(predicate.kind != PredicateKind::Filter))
                .text("predicate_type_desc", predicate.kind.name());
            rows.push(match predicate.kind {
                PredicateKind::Block(Some(change)) => {
                    row.integer("operation", change as i64).text("operation_desc", change.name()).done()
                }
                PredicateKind::Filter | PredicateKind::Block(None) => row.done(),
            });
        }
    }
    Ok(rows)
}
