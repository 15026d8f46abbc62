//! Table functions whose arguments ask queries: `f((SELECT ...), 2) AS r` is
//! `(SELECT r.* FROM (SELECT (SELECT ...) AS [1]) AS arguments CROSS APPLY f(arguments.[1], 2) AS r) AS r`.

use super::Binder;
use super::join::JoinTree;
use super::query::column_tree;
use crate::expression::Fault;
use pikepole_tsql::{
    DerivedTable, FunctionArgument, Join, JoinKind, Name, ObjectName, Query, QueryBody, Select, SelectItem, Span,
    TableFunction, TableSource,
};

/// What the row of arguments is called.
const ARGUMENTS: &str = "arguments of a function";
/// "Subqueries are not allowed in this context."
const SUBQUERY_NOT_ALLOWED: i32 = 1046;

impl Binder<'_> {
    /// A call of a table function; its arguments may ask queries.
    pub(super) fn table_function(&mut self, function: &TableFunction, lateral: bool) -> Result<JoinTree, Fault> {
        let (pending, sources) = (self.pending.len(), self.scope().sources.len());
        match self.plain_table_function(function, lateral) {
            Err(fault) if fault.number == SUBQUERY_NOT_ALLOWED => {
                let Some(derived) = with_row_of_arguments(function) else { return Err(fault) };
                self.pending.truncate(pending);
                self.scope().sources.truncate(sources);
                self.derived(&derived, lateral)
            }
            bound => bound,
        }
    }
}

/// None: no argument is more than a constant or a column.
fn with_row_of_arguments(function: &TableFunction) -> Option<DerivedTable> {
    use pikepole_tsql::ExprKind::{Column, Literal};
    let word = |text: String| Name { text, span: Span::default() };
    let alias = function.alias.clone().unwrap_or_else(|| function.call.name.name.clone());
    let mut called = TableFunction { alias: Some(alias.clone()), ..function.clone() };
    let mut items = Vec::new();
    for (place, argument) in called.call.arguments.iter_mut().enumerate() {
        match argument {
            FunctionArgument::Expr(expr) if !matches!(expr.kind, Column(_) | Literal(_)) => {
                let name = (place + 1).to_string();
                let read = column_tree(Some(ARGUMENTS.to_owned()), &name);
                items.push(SelectItem::Expr { expr: std::mem::replace(expr, read), alias: Some(word(name)) });
            }
            _ => {}
        }
    }
    if items.is_empty() {
        return None;
    }
    let arguments = selected(items, Vec::new(), None);
    let arguments = DerivedTable { query: arguments, alias: word(ARGUMENTS.to_owned()), columns: Vec::new() };
    let join = Join {
        left: TableSource::Derived(Box::new(arguments)),
        kind: JoinKind::CrossApply,
        hint: None,
        right: TableSource::Function(Box::new(called)),
        on: None,
    };
    let all = SelectItem::Star { qualifier: Some(Box::new(ObjectName::of(alias.clone()))), span: Span::default() };
    let query = selected(vec![all], vec![TableSource::Join(Box::new(join))], None);
    Some(DerivedTable { query, alias, columns: Vec::new() })
}

/// `SELECT items FROM from WHERE filter`
pub(super) fn selected(
    items: Vec<SelectItem>,
    from: Vec<TableSource>,
    filter: Option<pikepole_tsql::Condition>,
) -> Query {
    let span = Span::default();
    let select = Select {
        distinct: false,
        top: None,
        items,
        into: None,
        into_on: None,
        from,
        filter,
        group_by: Vec::new(),
        having: None,
        windows: Vec::new(),
        span,
    };
    Query::bare(QueryBody::Select(Box::new(select)), span)
}
