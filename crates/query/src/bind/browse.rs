//! Browse mode (SET NO_BROWSETABLE ON, FOR BROWSE): which column of which table each column of a result is, and keys that nobody
//! asked for, so that a client can write statements that change the rows it shows.
//!
//! ```text
//!   SELECT name AS label, price * 2 AS twice FROM dbo.goods
//!     label   name of dbo.goods
//!     twice   an expression
//!     id      id of dbo.goods, part of its key, hidden
//! ```
//!
//! The query is bound with the keys in its select list. Only a query whose rows are rows of its tables has them: not groups,
//! DISTINCT, or the rows of a set operation. Tables alone are looked at, not what views and derived tables read.

use std::sync::Arc;

use super::aggregate_level::lists_aggregate;
use super::query::column_tree;
use super::source::table_name;
use super::{Binder, Bound};
use crate::access::Table;
use crate::expression::Fault;
use crate::output::{BrowsedColumn, ColumnInfo};
use pikepole_tsql as tree;

/// A table of FROM: the name that stands for it, and the name it was written by.
struct Browsed {
    alias: String,
    parts: Arc<[String]>,
    table: Arc<Table>,
    /// The columns that tell its rows apart; none if nothing does.
    key: Vec<usize>,
}

/// A query with its keys in the select list, and where each of its columns comes from.
pub(super) struct Browsing {
    query: tree::Query,
    origins: Vec<Option<BrowsedColumn>>,
}

impl Binder<'_> {
    /// The query as browse mode has it; None: it is not on, or says nothing of this query.
    ///
    /// # Errors
    /// What looking its tables up says.
    pub(super) fn browsing(&self, query: &tree::Query) -> Result<Option<Browsing>, Fault> {
        let is_asked = query.for_clause.as_ref().is_some_and(|clause| clause.format == tree::ForFormat::Browse);
        let has_format = query.for_clause.is_some() && !is_asked;
        if has_format || !(is_asked || self.catalog().browses) {
            return Ok(None);
        }
        let tree::QueryBody::Select(select) = &query.body else { return Ok(None) };
        let is_grouped = !select.group_by.is_empty() || select.having.is_some() || lists_aggregate(select);
        if select.distinct || select.into.is_some() || is_grouped || !query.with.is_empty() {
            return Ok(None);
        }
        let mut tables = Vec::new();
        for source in &select.from {
            if !self.browsed_tables(source, &mut tables)? {
                return Ok(None);
            }
        }
        Ok(extended(query, select, &tables))
    }

    /// Adds the tables of a source; false when it has something else.
    fn browsed_tables(&self, source: &tree::TableSource, tables: &mut Vec<Browsed>) -> Result<bool, Fault> {
        match source {
            tree::TableSource::Table(reference) => {
                let Some(table) = self.catalog().table(&reference.name)? else { return Ok(false) };
                let name = &reference.name;
                let parts = [&name.database, &name.schema].into_iter().flatten().chain([&name.name]);
                let parts = parts.map(|part| part.text.clone()).collect();
                let alias = table_name(reference).0.text.clone();
                tables.push(Browsed { alias, parts, key: key_of(&table), table });
                Ok(true)
            }
            tree::TableSource::Join(join) => {
                Ok(self.browsed_tables(&join.left, tables)? && self.browsed_tables(&join.right, tables)?)
            }
            _ => Ok(false),
        }
    }

    /// Binds the query, and says of each column where it comes from.
    ///
    /// # Errors
    /// As for any query.
    pub(super) fn browsed(&mut self, browsing: Browsing) -> Result<Bound, Fault> {
        let mut bound = self.query(&browsing.query)?;
        for (column, origin) in bound.columns.iter_mut().zip(browsing.origins) {
            let origin = origin.unwrap_or_default();
            *column = ColumnInfo { origin: Some(Box::new(origin)), ..std::mem::replace(column, empty()) };
        }
        Ok(bound)
    }
}

fn empty() -> ColumnInfo {
    ColumnInfo::new("", pikepole_types::SqlType::Int, true)
}

/// The columns of the primary key, else of a unique index of all rows; one that takes no NULL comes before others.
fn key_of(table: &Table) -> Vec<usize> {
    let unique = table.engine.indexes.iter().filter(|index| index.unique && !index.disabled && index.filter.is_none());
    let takes_null = |column: usize| table.columns[column].nullable;
    let best = unique.min_by_key(|index| {
        (!index.primary_key, index.columns.iter().any(|column| takes_null(column.column)), index.index_id)
    });
    best.map_or_else(Vec::new, |index| index.columns.iter().map(|column| column.column).collect())
}

fn extended(query: &tree::Query, select: &tree::Select, tables: &[Browsed]) -> Option<Browsing> {
    let (mut items, mut origins) = (Vec::new(), Vec::new());
    for item in &select.items {
        match item {
            tree::SelectItem::Star { qualifier, .. } => {
                for table in tables.iter().filter(|table| qualifier.as_ref().is_none_or(|name| table.answers_to(name)))
                {
                    for (place, column) in table.table.columns.iter().enumerate() {
                        let expr = column_tree(Some(table.alias.clone()), &column.name);
                        items.push(tree::SelectItem::Expr { expr, alias: None });
                        origins.push(Some(table.origin(place, false)));
                    }
                }
            }
            tree::SelectItem::Expr { expr, .. } => {
                origins.push(origin_of(expr, tables));
                items.push(item.clone());
            }
            tree::SelectItem::Assign { .. } => return None,
        }
    }
    // A star over nothing is an error, which the query itself gives.
    if items.is_empty() || select.from.is_empty() {
        return None;
    }
    for table in tables {
        for &place in &table.key {
            let key = table.origin(place, true);
            let is_there = |origin: &Option<BrowsedColumn>| {
                origin.as_ref().is_some_and(|origin| origin.column == key.column && origin.alias == key.alias)
            };
            if !origins.iter().any(is_there) {
                let expr = column_tree(Some(table.alias.clone()), &key.column);
                items.push(tree::SelectItem::Expr { expr, alias: None });
                origins.push(Some(key));
            }
        }
    }
    let body = tree::QueryBody::Select(Box::new(tree::Select { items, ..select.clone() }));
    Some(Browsing { query: tree::Query { body, for_clause: None, ..query.clone() }, origins })
}

/// The column that an item of the select list is, if it is one.
fn origin_of(item: &tree::Expr, tables: &[Browsed]) -> Option<BrowsedColumn> {
    let tree::ExprKind::Column(column) = &item.kind else { return None };
    let mut found = tables.iter().filter(|table| column.qualifier.as_ref().is_none_or(|name| table.answers_to(name)));
    found.find_map(|table| {
        let place = table.table.columns.iter().position(|own| column.name.is(&own.name))?;
        Some(table.origin(place, false))
    })
}

impl Browsed {
    fn answers_to(&self, name: &tree::ObjectName) -> bool {
        name.name.is(&self.alias)
    }

    fn origin(&self, place: usize, hidden: bool) -> BrowsedColumn {
        BrowsedColumn {
            alias: self.alias.clone(),
            table: Arc::clone(&self.parts),
            column: self.table.columns[place].name.clone(),
            key: self.key.contains(&place),
            hidden,
        }
    }
}
