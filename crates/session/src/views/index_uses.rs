//! How statements have used indexes: `sys.dm_db_index_usage_stats`.

use super::Kind::{BigInt, DateTime, Int, SmallInt};
use super::Nullable::{No, Yes};
use super::{RowBuilder, Rows, Source, View, now_us};
use pikepole_engine::{IndexUse, UseCount};
use pikepole_machine::clock;
use pikepole_types::SqlError;
use std::collections::BTreeSet;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_db_index_usage_stats",
    columns: &[
        ("database_id", SmallInt, No),
        ("object_id", Int, No),
        ("index_id", Int, No),
        ("user_seeks", BigInt, No),
        ("user_scans", BigInt, No),
        ("user_lookups", BigInt, No),
        ("user_updates", BigInt, No),
        ("last_user_seek", DateTime, Yes),
        ("last_user_scan", DateTime, Yes),
        ("last_user_lookup", DateTime, Yes),
        ("last_user_update", DateTime, Yes),
        ("system_seeks", BigInt, No),
        ("system_scans", BigInt, No),
        ("system_lookups", BigInt, No),
        ("system_updates", BigInt, No),
        ("last_system_seek", DateTime, Yes),
        ("last_system_scan", DateTime, Yes),
        ("last_system_lookup", DateTime, Yes),
        ("last_system_update", DateTime, Yes),
    ],
    rows: usage,
}];

/// An index that was used has a row, of all open databases.
fn usage(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows = Vec::new();
    for database in source.every_database() {
        for table in database.current_catalog().tables() {
            let uses = table.index_uses();
            let indexes: BTreeSet<i32> = uses.keys().map(|(index_id, _)| *index_id).collect();
            for index_id in indexes {
                let row = view
                    .row()
                    .integer("database_id", database.id())
                    .integer("object_id", table.object_id)
                    .integer("index_id", index_id);
                let own = uses.iter().filter(|((of, _), _)| *of == index_id);
                rows.push(own.fold(row, |row, ((_, how), uses)| with_uses(row, *how, *uses)).done());
            }
        }
    }
    Ok(rows)
}

fn with_uses(row: RowBuilder, how: IndexUse, uses: UseCount) -> RowBuilder {
    let (count, last) = match how {
        IndexUse::Seek => ("user_seeks", "last_user_seek"),
        IndexUse::Scan => ("user_scans", "last_user_scan"),
        IndexUse::Lookup => ("user_lookups", "last_user_lookup"),
        IndexUse::Update => ("user_updates", "last_user_update"),
    };
    let ago = clock::ticks_to_us(clock::ticks().saturating_sub(uses.last));
    row.integer(count, uses.count).moment(last, now_us().saturating_sub(ago))
}
