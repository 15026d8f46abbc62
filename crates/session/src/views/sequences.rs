//! `sys.sequences` and `INFORMATION_SCHEMA.SEQUENCES`.

use super::Kind::{BigInt, Bit, Int, Name, SmallInt, TinyInt};
use super::Nullable::{No, Yes};
use super::objects::{OBJECT, of_sequence};
use super::{Rows, Source, View, columns_of};
use pikepole_engine::{Sequence, SequenceCache};
use pikepole_types::{SqlError, Value};

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "sequences",
        columns: columns_of![OBJECT;
            ("start_value", BigInt, No),
            ("increment", BigInt, No),
            ("minimum_value", BigInt, No),
            ("maximum_value", BigInt, No),
            ("is_cycling", Bit, Yes),
            ("is_cached", Bit, Yes),
            ("cache_size", Int, Yes),
            ("system_type_id", TinyInt, No),
            ("user_type_id", Int, No),
            ("precision", TinyInt, No),
            ("scale", TinyInt, Yes),
            ("current_value", BigInt, No),
            ("is_exhausted", Bit, No),
            ("last_used_value", BigInt, Yes),
        ],
        rows: sequences,
    },
    View {
        schema: "INFORMATION_SCHEMA",
        name: "SEQUENCES",
        columns: &[
            ("SEQUENCE_CATALOG", Name, Yes),
            ("SEQUENCE_SCHEMA", Name, Yes),
            ("SEQUENCE_NAME", Name, No),
            ("DATA_TYPE", Name, Yes),
            ("NUMERIC_PRECISION", TinyInt, Yes),
            ("NUMERIC_PRECISION_RADIX", SmallInt, Yes),
            ("NUMERIC_SCALE", Int, Yes),
            ("START_VALUE", BigInt, No),
            ("MINIMUM_VALUE", BigInt, No),
            ("MAXIMUM_VALUE", BigInt, No),
            ("INCREMENT", BigInt, No),
            ("CYCLE_OPTION", Bit, Yes),
            ("DECLARED_DATA_TYPE", Int, Yes),
            ("DECLARED_NUMERIC_PRECISION", Int, Yes),
            ("DECLARED_NUMERIC_SCALE", Int, Yes),
        ],
        rows: standard,
    },
];

fn sequences(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |sequence: &Sequence| {
        let position = sequence.position();
        let row = of_sequence(sequence)
            .row(view)
            .value("start_value", whole(sequence.start))
            .value("increment", whole(sequence.increment))
            .value("minimum_value", whole(sequence.minimum))
            .value("maximum_value", whole(sequence.maximum))
            .bit("is_cycling", sequence.cycle)
            .bit("is_cached", sequence.cache != SequenceCache::Off)
            .integer("system_type_id", sequence.ty.system_type_id())
            .integer("user_type_id", sequence.ty.system_type_id())
            .integer("precision", sequence.ty.precision())
            .integer("scale", 0)
            .value("current_value", whole(position.last))
            .bit("is_exhausted", position.exhausted);
        let row = match sequence.cache {
            SequenceCache::Size(size) => row.integer("cache_size", size),
            SequenceCache::Default | SequenceCache::Off => row,
        };
        let used = position.next != position.last || position.exhausted;
        if used { row.value("last_used_value", whole(position.last)).done() } else { row.done() }
    };
    Ok(source.catalog.sequences().map(|sequence| row(sequence)).collect())
}

fn standard(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |sequence: &Sequence| {
        view.row()
            .text("SEQUENCE_CATALOG", source.database.name())
            .text("SEQUENCE_SCHEMA", &sequence.schema)
            .text("SEQUENCE_NAME", &sequence.name)
            .text("DATA_TYPE", sequence.ty.name())
            .integer("NUMERIC_PRECISION", sequence.ty.precision())
            .integer("NUMERIC_PRECISION_RADIX", 10)
            .integer("NUMERIC_SCALE", 0)
            .value("START_VALUE", whole(sequence.start))
            .value("MINIMUM_VALUE", whole(sequence.minimum))
            .value("MAXIMUM_VALUE", whole(sequence.maximum))
            .value("INCREMENT", whole(sequence.increment))
            .bit("CYCLE_OPTION", sequence.cycle)
            .done()
    };
    Ok(source.catalog.sequences().map(|sequence| row(sequence)).collect())
}

/// A number of a sequence; those of more than 18 digits are shown as the nearest that fits.
fn whole(number: i128) -> Value {
    Value::BigInt(number.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
}
