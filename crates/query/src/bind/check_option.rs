//! WITH CHECK OPTION: what rows must be that are written through views.
//!
//! A view's condition is about the columns of what it reads, which may be another view. So each condition is kept with the names
//! that the columns of the table below have where it stands. A view that says WITH CHECK OPTION demands its own condition and
//! all those below it.

use super::rules::TableColumn;
use super::target::TargetRows;
use super::{Binder, Names, Scope};
use crate::access::Table;
use crate::errors;
use crate::expression::Fault;
use pikepole_tsql as tree;

/// A condition that the rows of a view meet, about the row of the table below.
#[derive(Debug, Clone)]
pub(super) struct RowCondition {
    /// The name that the condition has for what its columns belong to.
    pub(super) alias: String,
    pub(super) condition: tree::Condition,
    /// Per column of the table, the name that it has there; empty: it has none.
    names: Vec<String>,
    /// A view above says WITH CHECK OPTION.
    demanded: bool,
}

impl RowCondition {
    /// The columns of the table as the condition calls them.
    pub(super) fn columns(&self, table: &[TableColumn]) -> Vec<TableColumn> {
        let named = self.names.iter().zip(table);
        named.map(|(name, column)| TableColumn { name: name.clone(), ..column.clone() }).collect()
    }
}

/// The conditions that stand between a table and the rows of a query of it.
#[derive(Debug, Clone, Default)]
pub(super) struct RowConditions {
    all: Vec<RowCondition>,
    /// There is more that a row alone does not tell: other tables, or how many rows there are.
    more: bool,
}

impl RowConditions {
    /// A view with these conditions says WITH CHECK OPTION.
    pub(super) fn demand(&mut self) {
        self.all.iter_mut().for_each(|condition| condition.demanded = true);
    }

    /// Those that a view says WITH CHECK OPTION of.
    pub(super) fn demanded(self) -> Vec<RowCondition> {
        self.all.into_iter().filter(|condition| condition.demanded).collect()
    }

    /// Adds those of a query of one table.
    pub(super) fn add_of_table(&mut self, select: &tree::Select, table: &Table) {
        self.add(select, table.columns.iter().map(|column| column.name.clone()).collect());
    }

    fn add(&mut self, select: &tree::Select, names: Vec<String>) {
        self.more |= select.top.is_some();
        let [tree::TableSource::Table(source)] = select.from.as_slice() else {
            self.more = true;
            return;
        };
        if let Some(condition) = &select.filter {
            let alias = source.alias.as_ref().unwrap_or(&source.name.name).text.clone();
            self.all.push(RowCondition { alias, condition: condition.clone(), names, demanded: false });
        }
    }
}

impl Binder<'_> {
    /// The conditions of a query of another view or common table, with those below that.
    pub(super) fn conditions_below(&mut self, select: &tree::Select, inner: &TargetRows) -> RowConditions {
        let columns = &self.scope().sources[inner.source].columns;
        let mut names = vec![String::new(); inner.table.columns.len()];
        for (column, below) in columns.iter().zip(&inner.columns) {
            if let Some(name) = below.and_then(|below| names.get_mut(below)) {
                name.clone_from(&column.name);
            }
        }
        let mut conditions = inner.conditions.clone();
        conditions.add(select, names);
        conditions
    }
}

/// Whether WITH CHECK OPTION of a view can be kept: what it demands must be told by the row alone.
///
/// # Errors
/// A view of another shape, by name; names and types of its conditions.
pub(crate) fn check_option(view: &tree::CreateView, names: &Names<'_>) -> Result<(), Fault> {
    let unsupported = || errors::unsupported("WITH CHECK OPTION of a view that is not one table with a condition");
    let mut binder = Binder::new(names, 0);
    let scope = Scope { barrier: true, ..Scope::default() };
    let Ok((_, exposed)) = binder.exposing(&view.query, scope, &view.name.name.text) else {
        return Err(unsupported());
    };
    if exposed.conditions.more {
        return Err(unsupported());
    }
    let table = TableColumn::all(&exposed.table.engine);
    for condition in &exposed.conditions.all {
        let columns = condition.columns(&table);
        super::rules::table_condition(&condition.condition, &condition.alias, &columns, names).map_err(|fault| {
            match fault.number {
                // A subquery, or a column that is not the table's.
                1046 | 207 => unsupported(),
                _ => fault,
            }
        })?;
    }
    Ok(())
}
