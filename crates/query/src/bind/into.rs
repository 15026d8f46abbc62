//! SELECT ... INTO: what columns the table gets, and the INSERT that fills it.

use std::sync::Arc;

use super::data_type::{TypePlace, sql_type};
use super::{Binder, Names, Scope};
use crate::expression::Fault;
use crate::output::Provenance;
use crate::plan::Statement;
use pikepole_engine::{ColumnDefinition, Identity};
use pikepole_tsql as tree;
use pikepole_types::{Collation, SqlError, SqlType};

/// The columns of the table that a query's rows go into, and the name of the one that is a rowversion as it is in the query: types and
/// NULLs as the query has them, identity as the only table of FROM has it.
///
/// # Errors
/// As the query's; 1038 for a column without a name, 2738 for a second rowversion.
pub(crate) fn into_columns(
    query: &tree::Query,
    into: &str,
    names: &Names<'_>,
    first_register: usize,
) -> Result<(Vec<ColumnDefinition>, Option<String>), Fault> {
    let mut binder = Binder::new(names, first_register);
    Binder::refuse_for(query, "SELECT INTO")?;
    let added = new_identity(query, names)?;
    let marked = added.as_ref().map(|added| added.marked(query));
    let query = marked.as_ref().unwrap_or(query);
    let bound = binder.query(query)?.of_known_types();
    let identity = inherited_identity(query, names)?;
    if let (Some(_), Some((column, _))) = (&added, &identity) {
        return Err(Box::new(SqlError::identity_inherited(into, column)));
    }
    let new = added.map(|added| (added.name, added.ty, added.identity));
    let mut columns = Vec::with_capacity(bound.columns.len());
    let mut rowversion: Option<String> = None;
    for mut column in bound.columns {
        column.name.truncate(tree::without_end_blanks(&column.name).len());
        if column.name.is_empty() {
            return Err(Box::new(SqlError::name_is_empty()));
        }
        if let Some((_, ty, identity)) = new.as_ref().filter(|(name, ..)| name.eq_ignore_ascii_case(&column.name)) {
            let (name, identity) = (column.name, Some(*identity));
            let (user_type, collation) = (None, Collation::default());
            columns.push(ColumnDefinition {
                name,
                ty: *ty,
                nullable: false,
                default: None,
                identity,
                user_type,
                collation,
            });
            continue;
        }
        if column.provenance == Provenance::RowVersion {
            if rowversion.is_some() {
                return Err(Box::new(SqlError::rowversion_exists(into, &column.name)));
            }
            rowversion = Some(column.name.clone());
        }
        let own = identity.as_ref().filter(|(name, _)| name.eq_ignore_ascii_case(&column.name));
        let inherited = own.map(|(_, identity)| *identity);
        let numeric = column.second_name().map(|second| second.user_type_id);
        columns.push(ColumnDefinition {
            name: column.name,
            ty: column.ty,
            user_type: numeric.or(column.user_type),
            nullable: column.nullable && inherited.is_none(),
            default: None,
            identity: inherited,
            collation: column.collated.shown(),
        });
    }
    Ok((columns, rowversion))
}

/// The name that the identity column of the only table of FROM has in the select list, and how it counts; a common or derived table
/// passes it on as a SELECT does. None: there is no such column, it is listed twice, or the rows are grouped, joined or those of a set
/// operation.
fn inherited_identity(query: &tree::Query, names: &Names<'_>) -> Result<Option<(String, Identity)>, Fault> {
    let tree::QueryBody::Select(select) = &query.body else { return Ok(None) };
    let [source] = select.from.as_slice() else { return Ok(None) };
    if select.distinct || !select.group_by.is_empty() {
        return Ok(None);
    }
    let Some((own, identity)) = identity_of_source(source, &query.with, names)? else { return Ok(None) };
    let own = &own;
    let mut listed = select.items.iter().filter_map(|item| match item {
        tree::SelectItem::Star { .. } => Some(own.clone()),
        tree::SelectItem::Expr { expr, alias } => match &expr.kind {
            tree::ExprKind::Column(column) if column.name.is(own) => {
                Some(alias.as_ref().map_or_else(|| own.clone(), |alias| alias.text.clone()))
            }
            _ => None,
        },
        tree::SelectItem::Assign { .. } => None,
    });
    let first = listed.next();
    Ok(first.filter(|_| listed.next().is_none()).map(|name| (name, identity)))
}

/// The identity column of a source of FROM, and how it counts.
fn identity_of_source(
    source: &tree::TableSource,
    with: &tree::With,
    names: &Names<'_>,
) -> Result<Option<(String, Identity)>, Fault> {
    let source = match source {
        tree::TableSource::Table(source) => source,
        tree::TableSource::Derived(derived) if derived.columns.is_empty() => {
            return inherited_identity(&derived.query, names);
        }
        _ => return Ok(None),
    };
    let is_it = |common: &&tree::CommonTable| source.name.schema.is_none() && source.name.name.is(&common.name.text);
    if let Some(common) = with.tables.iter().find(is_it) {
        // Another common table could be meant by a name below.
        let passes = common.columns.is_empty() && common.query.with.tables.is_empty() && with.tables.len() == 1;
        return if passes { inherited_identity(&common.query, names) } else { Ok(None) };
    }
    let Some(table) = names.catalog.table(&source.name)? else { return Ok(None) };
    let Some(place) = table.identity else { return Ok(None) };
    let identity = table.engine.columns[place].identity;
    Ok(identity.map(|identity| (table.columns[place].name.clone(), identity)))
}

/// `IDENTITY(type [, seed, increment])` in the select list of a SELECT ... INTO.
struct NewIdentity {
    /// Its place in the list.
    item: usize,
    name: String,
    ty: SqlType,
    identity: Identity,
}

impl NewIdentity {
    /// The query with a number in the place of the column, which shows where the column comes.
    fn marked(&self, query: &tree::Query) -> tree::Query {
        let mut marked = query.clone();
        if let tree::QueryBody::Select(select) = &mut marked.body
            && let Some(tree::SelectItem::Expr { expr, .. }) = select.items.get_mut(self.item)
        {
            expr.kind = tree::ExprKind::Literal(tree::Literal::Int(0));
        }
        marked
    }

    /// The query without the column, whose numbers the table deals.
    fn without(&self, query: &tree::Query) -> tree::Query {
        let mut rest = query.clone();
        if let tree::QueryBody::Select(select) = &mut rest.body {
            select.items.remove(self.item);
        }
        rest
    }
}

fn new_identity(query: &tree::Query, names: &Names<'_>) -> Result<Option<NewIdentity>, Fault> {
    let tree::QueryBody::Select(select) = &query.body else { return Ok(None) };
    for (item, listed) in select.items.iter().enumerate() {
        let tree::SelectItem::Expr { expr, alias } = listed else { continue };
        let tree::ExprKind::Function(call) = &expr.kind else { continue };
        if call.name.schema.is_some() || !call.name.name.is("IDENTITY") {
            continue;
        }
        let Some(alias) = alias else { return Err(Box::new(SqlError::name_is_empty())) };
        let name = alias.text.clone();
        let invalid = || Box::new(SqlError::identity_type_invalid(&name));
        let mut arguments = call.arguments.iter().map(tree::FunctionArgument::expr);
        let Some(Some(tree::ExprKind::Column(ty))) = arguments.next().map(|first| first.map(|expr| &expr.kind)) else {
            return Err(invalid());
        };
        let written = tree::DataType { schema: None, name: ty.name.clone(), arguments: tree::TypeArguments::None };
        let ty = sql_type(&names.catalog.catalog, &written, TypePlace::Declaration, 1)?;
        if !ty.is_integer() && !matches!(ty, SqlType::Decimal { scale: 0, .. }) {
            return Err(invalid());
        }
        let numbers: Option<Vec<i64>> = arguments.map(|argument| argument.and_then(whole)).collect();
        let (seed, increment) = match numbers.as_deref() {
            Some([]) => (1, 1),
            Some([seed, increment]) if *increment != 0 => (*seed, *increment),
            _ => return Err(invalid()),
        };
        return Ok(Some(NewIdentity { item, name, ty, identity: Identity { seed, increment } }));
    }
    Ok(None)
}

/// A whole number as it is written, with its sign.
fn whole(expr: &tree::Expr) -> Option<i64> {
    match &expr.kind {
        tree::ExprKind::Literal(tree::Literal::Int(number)) => Some(i64::from(*number)),
        tree::ExprKind::Unary(tree::UnaryOp::Minus, inner) => whole(inner)?.checked_neg(),
        _ => None,
    }
}

impl Binder<'_> {
    /// The rows of a SELECT ... INTO, put into the table that is there by now.
    pub(crate) fn into_statement(
        mut self,
        query: &tree::Query,
        target: &tree::ObjectName,
    ) -> Result<Arc<Statement>, Fault> {
        self.scopes.push(Scope::default());
        self.plan_hints(&query.options)?;
        self.options(&query.options)?;
        let added = new_identity(query, self.names)?;
        let rest = added.as_ref().map(|added| added.without(query));
        let bound = self.query(rest.as_ref().unwrap_or(query))?;
        let table = self.target_table(target)?;
        let dealt = table.identity.filter(|_| added.is_some());
        let columns: Vec<usize> = (0..table.columns.len()).filter(|at| Some(*at) != dealt).collect();
        self.keeps_row_versions = true;
        self.insert_rows(None, table, &columns, bound, None)
    }
}
