//! Cursors whose rows can be changed where they stand, and WHERE CURRENT OF.
//!
//! A cursor over one table keeps the place of each row, and a digest of what the row was. WHERE CURRENT OF finds the row by its
//! place and changes it as rows are changed that FROM finds: the row is a list of one.

use std::sync::Arc;

use super::check_option::RowConditions;
use super::join::{JoinTree, Leaf};
use super::scope::{Scope, Source};
use super::source::table_columns;
use super::target::{Exposed, TargetRows};
use super::virtual_column::with_virtual_columns;
use super::{Binder, Names};
use crate::access::Table;
use crate::errors;
use crate::expression::Fault;
use crate::plan::{Action, CurrentRow, Node, Registers, Statement, VirtualSource};
use pikepole_engine::ReadHints;
use pikepole_tsql as tree;
use pikepole_types::SqlType;

/// What a cursor's query gives beside its own columns: those of the table below it that tell whether a row has changed, and
/// then each row's place.
pub(crate) struct CursorTable {
    pub(crate) table: Arc<Table>,
    /// Per column of the query itself, the table's column it is.
    pub(crate) columns: Vec<Option<usize>>,
    /// No scan gives the rows in the order that is asked for.
    pub(crate) is_sorted: bool,
}

/// Whether a change of this column is noticed. Long values are not read for it.
pub(crate) fn is_watched(ty: &SqlType) -> bool {
    !ty.is_max()
}

/// The query of a cursor that can change the rows of the table below it; None: there is no one table whose rows its rows are.
pub(crate) fn cursor_rows(
    query: &tree::Query,
    names: &Names<'_>,
    first_register: usize,
) -> Option<(Arc<Statement>, CursorTable)> {
    let cut = match &query.body {
        tree::QueryBody::Select(select) => select.top.is_some() || select.into.is_some(),
        _ => true,
    };
    if cut || query.for_clause.is_some() || query.offset.is_some() || !query.options.is_empty() {
        return None;
    }
    with_virtual_columns(names, first_register, |mut binder| {
        let (bound, exposed) = binder.exposing_for_cursor(query, Scope::default()).ok()?;
        let Exposed { table, columns, .. } = exposed;
        let is_sorted = sorts(&bound.node);
        let action = Action::Select { columns: bound.columns, values: bound.values };
        Some((Arc::new(binder.finish(bound.node, action)), CursorTable { table, columns, is_sorted }))
    })
}

fn sorts(node: &Node) -> bool {
    match node {
        Node::Sort { .. } => true,
        Node::Filter { input, .. } | Node::Compute { input, .. } => sorts(input),
        _ => false,
    }
}

/// The query of such a cursor over the row that it stands on, as that is now. `checks`: with its conditions, which the row has met
/// once.
///
/// # Errors
/// As for any query, when definitions have changed since the cursor was opened.
pub(crate) fn cursor_row_again(
    query: &tree::Query,
    names: &Names<'_>,
    first_register: usize,
    cursor: &tree::CursorName,
    checks: bool,
) -> Result<Arc<Statement>, Fault> {
    let mut query = query.clone();
    query.order_by.clear();
    if let tree::QueryBody::Select(select) = &mut query.body
        && !checks
    {
        select.filter = None;
    }
    with_virtual_columns(names, first_register, |mut binder| {
        binder.rereads = Some(cursor.clone());
        binder.scopes.push(Scope::default());
        let bound = binder.query(&query)?;
        binder.scopes.pop();
        let action = Action::Select { columns: bound.columns, values: bound.values };
        Ok(Arc::new(binder.finish(bound.node, action)))
    })
}

/// The cursor that WHERE names.
pub(super) fn cursor_of(filter: Option<&tree::RowFilter>) -> Option<&tree::CursorName> {
    match filter {
        Some(tree::RowFilter::CurrentOf(cursor)) => Some(cursor),
        _ => None,
    }
}

impl Binder<'_> {
    /// What a table of FROM is read from: the row of the cursor that stands for it, if one does.
    pub(super) fn row_of_cursor(&mut self, leaf: Leaf) -> Leaf {
        let (Leaf::Table(table), Some(cursor)) = (&leaf, self.rereads.take()) else { return leaf };
        // Behind the columns as a scan has it: the locator, and what virtual columns say.
        let registers = self.registers(table.columns.len() + 1 + self.virtual_registers());
        let index = self.virtual_sources.len();
        let (table, is_placed) = (Arc::clone(&table.engine), self.reserves_virtual());
        let row = CurrentRow { cursor, table, sets: Vec::new(), is_placed };
        self.virtual_sources.push(VirtualSource::CurrentAgain(Box::new(row)));
        Leaf::Rows(Node::Virtual { index, registers })
    }

    /// The row on which a cursor stands, as the one source of the scope. `sets` are the columns that SET names.
    pub(super) fn current_row(
        &mut self,
        target: &tree::Target,
        from: &[tree::TableSource],
        cursor: &tree::CursorName,
        sets: Vec<String>,
    ) -> Result<(JoinTree, TargetRows), Fault> {
        let variable;
        let name = match (target, from) {
            (tree::Target::Table { name, .. }, []) => name,
            (tree::Target::Variable(name), []) => {
                variable = tree::ObjectName::of(name.clone());
                &variable
            }
            _ => return Err(errors::unsupported("WHERE CURRENT OF with FROM")),
        };
        let table = self.target_table(name)?;
        let needs = self.require_target(name)?;
        let count = table.columns.len();
        let registers = self.registers(count + 1 + self.virtual_registers());
        self.target_wanted.clone_from(&sets);
        let names: Vec<String> = table.columns.iter().map(|column| column.name.clone()).collect();
        self.columns_of_target(&needs, registers, names.clone());
        let index = self.virtual_sources.len();
        let is_placed = self.reserves_virtual();
        let row = CurrentRow { cursor: cursor.clone(), table: Arc::clone(&table.engine), sets, is_placed };
        self.virtual_sources.push(VirtualSource::Current(Box::new(row)));
        let shown = name.name.text.clone();
        let schema = Some(name.schema_str().unwrap_or("dbo").to_owned());
        let (columns, used) = (table_columns(&table), vec![true; count]);
        let (alias, hints) = (shown.clone(), ReadHints::default());
        let (hidden, located, written) = (false, false, None);
        let virtual_columns = self.virtual_columns();
        let source =
            Source { alias, schema, written, columns, registers, used, hidden, located, virtual_columns, hints };
        self.scope().sources.push(source);
        let at = self.scope().sources.len() - 1;
        self.filter_rows(&table, at)?;
        let rows = TargetRows {
            source: at,
            table,
            registers: Registers { first: registers.first, count },
            locator: registers.first + count,
            shown: names,
            columns: (0..count).map(Some).collect(),
            name: shown,
            reads: needs.reads,
            conditions: RowConditions::default(),
        };
        Ok((JoinTree::Leaf(at, Leaf::Rows(Node::Virtual { index, registers })), rows))
    }
}
