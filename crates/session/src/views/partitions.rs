//! Partition functions and schemes: `sys.partition_functions`, `partition_schemes`, `partition_parameters`,
//! `partition_range_values`, `destination_data_spaces`, `data_spaces`.

use super::Kind::{Bit, Code, DateTime, Int, Name, SmallInt, Text, TinyInt, Variant};
use super::Nullable::{No, Yes};
use super::columns::with_type;
use super::{Rows, Source, View, files};
use pikepole_engine::{Catalog, PRIMARY_FILEGROUP, PartitionFunction, Partitioned, StorageOptions};
use pikepole_types::{SqlError, Value};

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "partition_schemes",
        columns: &[
            ("name", Name, No),
            ("data_space_id", Int, No),
            ("type", Code, No),
            ("type_desc", Text(60), Yes),
            ("is_default", Bit, Yes),
            ("is_system", Bit, Yes),
            ("function_id", Int, No),
        ],
        rows: schemes,
    },
    View {
        schema: "sys",
        name: "partition_functions",
        columns: &[
            ("name", Name, No),
            ("function_id", Int, No),
            ("type", Code, No),
            ("type_desc", Text(60), Yes),
            ("fanout", Int, No),
            ("boundary_value_on_right", Bit, No),
            ("is_system", Bit, No),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
        ],
        rows: functions,
    },
    View {
        schema: "sys",
        name: "partition_range_values",
        columns: &[
            ("function_id", Int, No),
            ("boundary_id", Int, No),
            ("parameter_id", Int, No),
            ("value", Variant, Yes),
        ],
        rows: range_values,
    },
    View {
        schema: "sys",
        name: "partition_parameters",
        columns: &[
            ("function_id", Int, No),
            ("parameter_id", Int, No),
            ("system_type_id", TinyInt, No),
            ("max_length", SmallInt, No),
            ("precision", TinyInt, No),
            ("scale", TinyInt, No),
            ("collation_name", Name, Yes),
            ("user_type_id", Int, No),
        ],
        rows: parameters,
    },
    View {
        schema: "sys",
        name: "destination_data_spaces",
        columns: &[("partition_scheme_id", Int, No), ("destination_id", Int, No), ("data_space_id", Int, No)],
        rows: destinations,
    },
    View {
        schema: "sys",
        name: "data_spaces",
        columns: &[
            ("name", Name, No),
            ("data_space_id", Int, No),
            ("type", Code, No),
            ("type_desc", Text(60), Yes),
            ("is_default", Bit, Yes),
            ("is_system", Bit, Yes),
        ],
        rows: data_spaces,
    },
];

fn schemes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.catalog.partition_schemes().map(|scheme| {
        let row = view.row().text("name", &scheme.name).integer("data_space_id", scheme.data_space_id);
        let row = row.text("type", "PS").text("type_desc", "PARTITION_SCHEME").bit("is_default", false);
        row.bit("is_system", false).integer("function_id", scheme.function_id).done()
    });
    Ok(rows.collect())
}

fn functions(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.catalog.partition_functions().map(|function| {
        view.row()
            .text("name", &function.name)
            .integer("function_id", function.function_id)
            .text("type", "R ")
            .text("type_desc", "RANGE")
            .integer("fanout", function.fanout() as i64)
            .bit("boundary_value_on_right", function.right)
            .bit("is_system", false)
            .moment("create_date", function.created_us)
            .moment("modify_date", function.modified_us)
            .done()
    });
    Ok(rows.collect())
}

fn range_values(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let of_function = |function: &PartitionFunction| {
        let row = |(place, value): (usize, Value)| {
            let row = view.row().integer("function_id", function.function_id);
            let row = row.integer("boundary_id", place as i64 + 1).integer("parameter_id", 1);
            row.value("value", super::in_variant(function.ty, value)).done()
        };
        function.values().into_iter().enumerate().map(row).collect::<Vec<_>>()
    };
    Ok(source.catalog.partition_functions().flat_map(|function| of_function(function)).collect())
}

fn parameters(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.catalog.partition_functions().map(|function| {
        let row = view.row().integer("function_id", function.function_id).integer("parameter_id", 1);
        let collation = function.ty.is_string().then(|| function.collation.name());
        with_type(row, &function.ty).text_if("collation_name", collation).done()
    });
    Ok(rows.collect())
}

fn destinations(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.catalog.partition_schemes().flat_map(|scheme| {
        let row = |(place, name): (usize, &String)| {
            let filegroup = match name.eq_ignore_ascii_case("DEFAULT") {
                true => source.catalog.default_filegroup(),
                false => source.catalog.filegroup(name).map_or(PRIMARY_FILEGROUP, |found| found.data_space_id),
            };
            let row = view.row().integer("partition_scheme_id", scheme.data_space_id);
            row.integer("destination_id", place as i64 + 1).integer("data_space_id", filegroup).done()
        };
        scheme.filegroups.iter().chain(&scheme.next_used).enumerate().map(row).collect::<Vec<_>>()
    });
    Ok(rows.collect())
}

fn data_spaces(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut rows: Rows = source.catalog.filegroups().map(|own| files::filegroup_row(view, own).done()).collect();
    rows.extend(source.catalog.partition_schemes().map(|scheme| {
        let row = view.row().text("name", &scheme.name).integer("data_space_id", scheme.data_space_id);
        let row = row.text("type", "PS").text("type_desc", "PARTITION_SCHEME");
        row.bit("is_default", false).bit("is_system", false).done()
    }));
    Ok(rows)
}

/// The function that something is partitioned by.
pub(crate) fn function_of(catalog: &Catalog, partitioned: Option<Partitioned>) -> Option<&PartitionFunction> {
    let scheme = catalog.partition_scheme_by_id(partitioned?.scheme)?;
    catalog.partition_function_by_id(scheme.function_id).map(|function| &**function)
}

/// How many partitions something has.
pub(super) fn count(catalog: &Catalog, partitioned: Option<Partitioned>) -> usize {
    function_of(catalog, partitioned).map_or(1, PartitionFunction::fanout)
}

/// The data space that something is in.
pub(super) fn data_space(partitioned: Option<Partitioned>, options: StorageOptions) -> i32 {
    partitioned.map_or(options.filegroup, |partitioned| partitioned.scheme)
}
