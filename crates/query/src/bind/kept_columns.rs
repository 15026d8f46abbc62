//! The columns that a view, or a function that is one query, had when it was made.
//!
//! ```text
//!   CREATE VIEW v AS SELECT * FROM t CROSS JOIN u        kept:             a   b   c
//!   ALTER TABLE t ADD d int                              its query gives:  a   b   d   c      v has a, b and c, which is t.d
//! ```
//! Names go by places: a column more is not seen, and one less is an error, until `sp_refreshview` or ALTER VIEW keeps the columns anew.

use super::join::Leaf;
use super::scope::SourceColumn;
use super::source::{infos, rename};
use super::{Binder, Bound, Names, check_column_names, checked_function, of_known_types};
use crate::context::ExecutionContext;
use crate::expression::Fault;
use crate::host::Host;
use crate::output::{ColumnInfo, DecimalName, Provenance};
use pikepole_engine::{KeptColumn, Module};
use pikepole_tsql as tree;
use pikepole_types::{Collated, SqlError};

/// Columns of a table, of a view and of what a function returns.
pub(crate) const COLUMNS_MAX: usize = 1_024;

/// Columns as they are kept.
pub(super) fn kept(columns: &[SourceColumn]) -> Vec<KeptColumn> {
    let column = |column: &SourceColumn| KeptColumn {
        name: column.name.clone(),
        ty: column.ty,
        nullable: column.nullable,
        collation: column.collated.shown(),
        identity: column.provenance == Provenance::Identity,
        decimal: column.decimal_name == DecimalName::Decimal,
        user_type: column.user_type,
    };
    columns.iter().map(column).collect()
}

/// The columns that a module has by what is kept of it; empty: nothing is.
pub fn kept_columns(module: &Module) -> Vec<ColumnInfo> {
    let column = |column: &KeptColumn| ColumnInfo {
        collated: Collated::of_stored(&column.ty, column.collation),
        provenance: if column.identity { Provenance::Identity } else { Provenance::Stored },
        decimal_name: if column.decimal { DecimalName::Decimal } else { DecimalName::Numeric },
        user_type: column.user_type,
        ..ColumnInfo::new(&column.name, column.ty, column.nullable)
    };
    module.columns.iter().map(column).collect()
}

/// Checks a view that is to be made; its columns.
///
/// # Errors
/// What is wrong with its query; 4506, 4511, 8158 and 8159 for the names of its columns.
pub(crate) fn checked_view(create: &tree::CreateView, names: &Names<'_>) -> Result<Vec<KeptColumn>, Fault> {
    let mut binder = Binder::new(names, 0);
    binder.begin_module("view", &create.name.dotted(), &create.options);
    let Bound { mut columns, .. } = binder.query(&create.query)?;
    of_known_types(&mut columns);
    let view = &create.name.name.text;
    let unnamed = columns.iter().position(|column| column.name.is_empty());
    if let (Some(at), true) = (unnamed, create.columns.is_empty()) {
        return Err(Box::new(SqlError::view_column_unnamed(at + 1)));
    }
    if let Some(column) = columns.get(COLUMNS_MAX) {
        return Err(Box::new(SqlError::too_many_view_columns(&column.name, view, COLUMNS_MAX)));
    }
    let listed: Vec<&str> = match create.columns.as_slice() {
        [] => columns.iter().map(|column| column.name.as_str()).collect(),
        listed if listed.len() > columns.len() => return Err(Box::new(SqlError::fewer_columns_than_listed(view))),
        listed if listed.len() < columns.len() => return Err(Box::new(SqlError::more_columns_than_listed(view))),
        listed => listed.iter().map(tree::Name::as_str).collect(),
    };
    check_column_names(&listed, view)?;
    let mut columns = infos(&columns);
    rename(&mut columns, &create.columns, view)?;
    Ok(kept(&columns))
}

/// The columns that a view or function would have if it was made now.
///
/// # Errors
/// What is wrong with its text.
pub fn columns_made_now(
    module: &Module,
    context: &ExecutionContext,
    host: &dyn Host,
) -> Result<Vec<KeptColumn>, SqlError> {
    let catalog = context.catalog().of_module(module);
    let names = Names::of(&catalog, host);
    let batch = tree::parse_with(&module.text, catalog.parse_options());
    let batch = batch.map_err(|error| crate::errors::syntax_error(&error))?;
    let columns = match batch.statements.first().map(|statement| &statement.kind) {
        Some(tree::StatementKind::CreateView(view)) => checked_view(view, &names),
        Some(tree::StatementKind::CreateFunction(function)) => checked_function(function, &names),
        _ => Ok(Vec::new()),
    };
    columns.map_err(|fault| *fault)
}

/// Gives the columns of the query of a view or function, written so, the names that are kept of it. Those that it did not have then have none,
/// and stars do not stand for them.
///
/// # Errors
/// 4502 when its query has fewer columns now; without kept columns as [`rename`], by the names that are listed.
pub(super) fn name_columns(
    kept: &[KeptColumn],
    written: &tree::ObjectName,
    listed: &[tree::Name],
    columns: &mut [SourceColumn],
) -> Result<(), Fault> {
    if kept.is_empty() {
        return rename(columns, listed, &written.name.text);
    }
    if columns.len() < kept.len() {
        return Err(Box::new(SqlError::view_lacks_columns(written.dotted())));
    }
    let (known, added) = columns.split_at_mut(kept.len());
    known.iter_mut().zip(kept).for_each(|(column, kept)| column.name.clone_from(&kept.name));
    for column in added {
        column.name.clear();
        column.hidden = true;
    }
    Ok(())
}

impl Leaf {
    /// Leaves out the columns of a query that are beyond those that are kept, if any are.
    pub(super) fn cut(&mut self, columns: &mut Vec<SourceColumn>, kept: usize) {
        if kept == 0 {
            return;
        }
        columns.truncate(kept);
        match self {
            Leaf::Derived(bound) | Leaf::Common(_, bound) => {
                bound.columns.truncate(kept);
                bound.values.truncate(kept);
            }
            Leaf::Open(query) => query.values.truncate(kept),
            Leaf::Table(_) | Leaf::Rows(_) | Leaf::Work(_) => {}
        }
    }
}
