//! `sys.fn_helpcollations`.

use super::Kind::{Name, Text};
use super::Nullable::No;
use super::{Function, Rows, Source, View};
use pikepole_types::{Collation, SqlError};

pub(super) const FUNCTIONS: &[Function] = &[Function {
    view: View {
        schema: "sys",
        name: "fn_helpcollations",
        columns: &[("name", Name, No), ("description", Text(1000), No)],
        rows: collations,
    },
    parameters: &[],
}];

fn collations(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |collation: Collation| {
        view.row().text("name", collation.name()).text("description", collation.description()).done()
    };
    Ok(Collation::all().map(row).collect())
}
