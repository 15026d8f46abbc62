//! `sys.assemblies`, `sys.assembly_types`, `sys.spatial_reference_systems`: the types of the one assembly that there is, and what its
//! shapes on the earth refer to.

use super::Kind::{Bit, DateTime, Int, Name, Text, TinyInt};
use super::Nullable::{No, Yes};
use super::types::{TYPE, type_row};
use super::{Rows, Source, View, columns_of};
use pikepole_types::spatial::REFERENCE_SYSTEMS;
use pikepole_types::{CLR_ASSEMBLY, CLR_ASSEMBLY_FULL, ClrType, SqlError, SqlType};

/// The number of the assembly.
const ASSEMBLY_ID: i64 = 1;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "assemblies",
        columns: &[
            ("name", Name, No),
            ("principal_id", Int, Yes),
            ("assembly_id", Int, No),
            ("clr_name", Text(4000), Yes),
            ("permission_set", TinyInt, Yes),
            ("permission_set_desc", Text(60), Yes),
            ("is_visible", Bit, No),
            ("create_date", DateTime, No),
            ("modify_date", DateTime, No),
            ("is_user_defined", Bit, Yes),
        ],
        rows: assemblies,
    },
    View {
        schema: "sys",
        name: "assembly_types",
        columns: columns_of![TYPE;
            ("assembly_id", Int, No),
            ("assembly_class", Name, Yes),
            ("is_binary_ordered", Bit, Yes),
            ("is_fixed_length", Bit, Yes),
            ("prog_id", Text(40), Yes),
            ("assembly_qualified_name", Text(4000), Yes),
        ],
        rows: assembly_types,
    },
    View {
        schema: "sys",
        name: "spatial_reference_systems",
        columns: &[
            ("spatial_reference_id", Int, Yes),
            ("authority_name", Name, Yes),
            ("authorized_spatial_reference_id", Int, Yes),
            ("well_known_text", Text(4000), Yes),
            ("unit_of_measure", Name, Yes),
            ("unit_conversion_factor", super::Kind::Float, Yes),
        ],
        rows: reference_systems,
    },
];

fn assemblies(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = view
        .row()
        .text("name", CLR_ASSEMBLY)
        .integer("principal_id", 4)
        .integer("assembly_id", ASSEMBLY_ID)
        .text("clr_name", CLR_ASSEMBLY_FULL.to_lowercase())
        .integer("permission_set", 3)
        .text("permission_set_desc", "UNSAFE_ACCESS")
        .bit("is_visible", true)
        .bit("is_user_defined", false);
    Ok(vec![row.done()])
}

fn assembly_types(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |ty: ClrType| {
        type_row(view, source, ty.name(), &SqlType::Clr(ty))
            .integer("assembly_id", ASSEMBLY_ID)
            .text("assembly_class", ty.class())
            .bit("is_binary_ordered", ty.is_comparable())
            .bit("is_fixed_length", false)
            .text("assembly_qualified_name", ty.qualified_name())
            .done()
    };
    Ok(ClrType::ALL.into_iter().map(row).collect())
}

fn reference_systems(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |system: &pikepole_types::spatial::ReferenceSystem| {
        view.row()
            .integer("spatial_reference_id", system.srid)
            .text("authority_name", "EPSG")
            .integer("authorized_spatial_reference_id", system.srid)
            .text("well_known_text", system.well_known_text())
            .text("unit_of_measure", "metre")
            .value("unit_conversion_factor", pikepole_types::Value::Float(1.0))
            .done()
    };
    Ok(REFERENCE_SYSTEMS.iter().map(row).collect())
}
