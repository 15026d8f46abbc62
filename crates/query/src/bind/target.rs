//! Which rows UPDATE, DELETE and MERGE change: a table named in FROM or beside it, or the table below a view or common table.

use std::sync::Arc;

use super::check_option::RowConditions;
use super::hint::{check_index_hints, check_memory_hints, hints_of, target_hints};
use super::join::{JoinTree, Leaf};
use super::kept_columns::name_columns;
use super::permission::TargetNeeds;
use super::query::Items;
use super::scope::{Source, SourceColumn};
use super::source::{infos, table_columns};
use super::typed::Typed;
use super::virtual_column::VirtualColumns;
use super::{Binder, Bound, Scope};
use crate::access::Table;
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::output::ColumnInfo;
use crate::plan::{JoinKind, Registers};
use pikepole_engine::{ReadHints, TriggerEvent};
use pikepole_tsql as tree;
use pikepole_types::{Length, SqlError, SqlType};

/// The type of the place of a row.
const PLACE: SqlType = SqlType::VarBinary(Length::Limit(8000));

/// What is asked of the query of a view or common table whose rows are changed.
#[derive(Debug, Default)]
pub(super) struct Expose {
    /// Its rows are a cursor's: of the table's columns only those are wanted that tell whether a row has changed.
    for_cursor: bool,
    /// The columns of its result that SET names; of no matter when it reads one table.
    wanted: Vec<String>,
    /// Its name, for errors.
    name: String,
}

/// The table below a query: its columns and the place of each row come behind the query's own columns.
pub(super) struct Exposed {
    pub(super) table: Arc<Table>,
    /// Per column of the query, the table's column it is.
    pub(super) columns: Vec<Option<usize>>,
    pub(super) conditions: RowConditions,
}

/// The rows that a statement changes, as a source of its scope.
pub(super) struct TargetRows {
    /// The index of the source.
    pub(super) source: usize,
    pub(super) table: Arc<Table>,
    /// The registers of the table's columns.
    pub(super) registers: Registers,
    /// The slot of each row's place.
    pub(super) locator: usize,
    /// Per column of the source, its name, and the table's column it is.
    pub(super) shown: Vec<String>,
    pub(super) columns: Vec<Option<usize>>,
    /// The name a derived column is refused under.
    pub(super) name: String,
    /// What reading columns of the table itself needs.
    pub(super) reads: Vec<usize>,
    /// What stands between the table and the rows.
    pub(super) conditions: RowConditions,
}

impl TargetRows {
    /// The table's column that a column of the source is.
    pub(super) fn column(&self, name: &tree::Name) -> Result<usize, Fault> {
        let at = self.shown.iter().position(|shown| name.is(shown));
        let at = at.ok_or_else(|| SqlError::invalid_column(&name.text))?;
        match self.columns.get(at) {
            Some(Some(column)) => Ok(*column),
            _ => Err(Box::new(SqlError::view_column_is_derived(&self.name))),
        }
    }
}

impl Binder<'_> {
    /// Whether UPDATE or DELETE names a plain table and nothing else to read.
    pub(super) fn is_plain_target(&self, target: &tree::Target, from: &[tree::TableSource]) -> Result<bool, Fault> {
        let tree::Target::Table { name, .. } = target else {
            return Ok(true);
        };
        let named = match from {
            [] => name,
            [tree::TableSource::Table(table)] => {
                let alias = table.alias.as_ref();
                let by_alias = alias.is_some_and(|alias| name.schema.is_none() && name.name.is(&alias.text));
                if !by_alias && !table.name.name.is(&name.name.text) {
                    return Ok(false);
                }
                &table.name
            }
            _ => return Ok(false),
        };
        let common = named.schema.is_none() && named.database.is_none() && self.common_table(&named.name).is_some();
        Ok(!common && self.catalog().view(named)?.is_none())
    }

    /// Binds FROM and, in it or joined to it, the rows to change. `wanted` are the columns that SET names.
    pub(super) fn target_rows(
        &mut self,
        target: &tree::Target,
        from: &[tree::TableSource],
        wanted: Vec<String>,
    ) -> Result<(JoinTree, TargetRows), Fault> {
        let tree::Target::Table { name, hints } = target else {
            return Err(errors::unsupported("This target with FROM"));
        };
        self.target_hints.clone_from(hints);
        let chosen = chosen(from, name)?;
        self.target_ref = chosen.map(std::ptr::from_ref);
        self.target_wanted = wanted;
        let mut tree = self.from(from)?;
        if chosen.is_none() {
            let own =
                tree::TableRef { name: name.clone(), system_time: None, alias: None, sample: None, hints: Vec::new() };
            self.target_ref = Some(std::ptr::from_ref(&own));
            let right = self.target_source(&own)?;
            tree = Some(match tree {
                None => right,
                Some(left) => JoinTree::Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind: JoinKind::Inner,
                    lateral: false,
                    on: Vec::new(),
                },
            });
        }
        self.target_ref = None;
        match (tree, self.take_target()) {
            (Some(tree), Some(rows)) => Ok((tree, rows)),
            _ => Err(Box::new(SqlError::invalid_object(name.dotted()))),
        }
    }

    /// The target that was found, with what its views demand of its rows.
    pub(super) fn take_target(&mut self) -> Option<TargetRows> {
        let mut rows = self.target_found.take()?;
        self.check_options = std::mem::take(&mut rows.conditions).demanded();
        Some(rows)
    }

    /// The source of FROM whose rows are changed.
    pub(super) fn target_source(&mut self, reference: &tree::TableRef) -> Result<JoinTree, Fault> {
        let name = &reference.name;
        let shown = reference.alias.as_ref().unwrap_or(&name.name).text.clone();
        let schema = match &reference.alias {
            Some(_) => None,
            None => Some(name.schema_str().unwrap_or("dbo").to_owned()),
        };
        let mut needs = TargetNeeds::default();
        let mut inner = self.catalog().clone();
        let common =
            if name.schema.is_none() && name.database.is_none() { self.common_table(&name.name) } else { None };
        let (mut kept, mut demands) = (None, false);
        let (query, columns, scope, whole) = if let Some(common) = common {
            let scope = Scope { barrier: true, common: common.earlier(), ..Scope::default() };
            let table = common.tree.as_ref().clone();
            (table.query, table.columns, scope, table.name.text)
        } else if let Some((module, catalog)) = self.catalog().view(name)? {
            needs = self.require_target(name)?;
            let options = catalog.parse_options();
            inner = catalog;
            let batch = tree::parse_with(&module.text, options)
                .map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
            let Some(tree::StatementKind::CreateView(view)) =
                batch.statements.into_iter().next().map(|statement| statement.kind)
            else {
                return Err(Box::new(SqlError::invalid_object(name.dotted())));
            };
            kept = Some(module);
            demands = view.check_option;
            let scope = Scope { barrier: true, ..Scope::default() };
            (view.query, view.columns, scope, view.name.name.text)
        } else {
            return self.plain_target(reference, shown, schema);
        };
        // A common table has no permissions of its own; a view's owner need not own the table below it.
        let (bound, mut exposed) = self.nested(|binder| {
            let outer = needs.owner.or(binder.view_owner);
            binder.in_view_of(outer, |binder| {
                binder.in_catalog(inner, |binder| {
                    let exposed = binder.exposing(&query, scope, &whole)?;
                    let below = exposed.1.table.object_name(name.span());
                    for permission in binder.target_permissions.clone() {
                        binder.require(permission, &below)?;
                    }
                    Ok(exposed)
                })
            })
        })?;
        if demands {
            exposed.conditions.demand();
        }
        let visible = exposed.columns.len();
        let mut columns_shown = infos(&bound.columns[..visible]);
        let kept = kept.as_ref().map_or(&[][..], |view| &view.columns);
        name_columns(kept, name, &columns, &mut columns_shown)?;
        let count = exposed.table.columns.len();
        let registers = self.registers(bound.values.len());
        let used = vec![true; visible];
        let shown_columns: Vec<String> = columns_shown.iter().map(|column| column.name.clone()).collect();
        self.columns_of_target(&needs, registers, shown_columns.clone());
        let source = Source {
            alias: shown,
            schema,
            written: None,
            columns: columns_shown,
            registers,
            used,
            hidden: false,
            located: false,
            virtual_columns: VirtualColumns::None,
            hints: ReadHints::default(),
        };
        self.scope().sources.push(source);
        let at = self.scope().sources.len() - 1;
        self.target_found = Some(TargetRows {
            source: at,
            table: exposed.table,
            registers: Registers { first: registers.first + visible, count },
            locator: registers.first + visible + count,
            shown: shown_columns,
            columns: exposed.columns,
            name: whole,
            reads: Vec::new(),
            conditions: exposed.conditions,
        });
        Ok(JoinTree::Leaf(at, Leaf::Derived(bound)))
    }

    /// The same for one that is a table.
    fn plain_target(
        &mut self,
        reference: &tree::TableRef,
        shown: String,
        schema: Option<String>,
    ) -> Result<JoinTree, Fault> {
        let table = self.target_table(&reference.name)?;
        let needs = self.require_target(&reference.name)?;
        let hints = hints_of(&table, target_hints(&reference.hints, &self.target_hints)?);
        check_index_hints(&table, &reference.name, &reference.hints)?;
        check_index_hints(&table, &reference.name, &self.target_hints)?;
        check_memory_hints(&table, &reference.hints)?;
        check_memory_hints(&table, &self.target_hints)?;
        if let Some(filtered) = self.filtered_target(reference, &table, schema.clone(), &needs)? {
            return Ok(filtered);
        }
        let found = self.table_target(Arc::clone(&table), shown, schema, hints, &needs);
        let source = self.scope().sources.len() - 1;
        self.filter_rows(&table, source)?;
        Ok(found)
    }

    fn table_target(
        &mut self,
        table: Arc<Table>,
        shown: String,
        schema: Option<String>,
        hints: ReadHints,
        needs: &TargetNeeds,
    ) -> JoinTree {
        let columns: Vec<SourceColumn> = table_columns(&table);
        let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
        let count = columns.len();
        let registers = self.registers(count + 1 + self.virtual_registers());
        let virtual_columns = self.virtual_columns();
        self.columns_of_target(needs, registers, names.clone());
        let used = vec![true; count];
        let alias = shown.clone();
        let (hidden, located, written) = (false, true, None);
        let source =
            Source { alias, schema, written, columns, registers, used, hidden, located, virtual_columns, hints };
        self.scope().sources.push(source);
        let at = self.scope().sources.len() - 1;
        self.target_found = Some(TargetRows {
            source: at,
            table: Arc::clone(&table),
            registers: Registers { first: registers.first, count },
            locator: registers.first + count,
            shown: names,
            columns: (0..count).map(Some).collect(),
            name: shown,
            reads: needs.reads.clone(),
            conditions: RowConditions::default(),
        });
        JoinTree::Leaf(at, Leaf::Table(table))
    }

    /// Binds a query with the columns and places of the table below it.
    pub(super) fn exposing(
        &mut self,
        query: &tree::Query,
        scope: Scope,
        name: &str,
    ) -> Result<(Bound, Exposed), Fault> {
        if !matches!(query.body, tree::QueryBody::Select(_)) {
            return Err(errors::unsupported("Changing rows through a set operation or VALUES"));
        }
        let wanted = self.target_wanted.clone();
        let target = self.target_ref.take();
        let expose = Expose { for_cursor: false, wanted: wanted.clone(), name: name.to_owned() };
        let bound = self.expose(query, scope, expose);
        (self.target_ref, self.target_wanted) = (target, wanted);
        bound
    }

    /// The same for a cursor.
    pub(super) fn exposing_for_cursor(&mut self, query: &tree::Query, scope: Scope) -> Result<(Bound, Exposed), Fault> {
        self.expose(query, scope, Expose { for_cursor: true, ..Expose::default() })
    }

    fn expose(&mut self, query: &tree::Query, scope: Scope, expose: Expose) -> Result<(Bound, Exposed), Fault> {
        self.scopes.push(scope);
        self.expose = Some(expose);
        let bound = self.query(query);
        self.expose = None;
        self.scopes.pop();
        let bound = bound?;
        match self.exposed.take() {
            Some(exposed) => Ok((bound, exposed)),
            None => Err(errors::unsupported("Changing rows through this query")),
        }
    }

    /// Where the one source of a query is a view or a common table, the rows to change lie below that: it is to bring them along.
    pub(super) fn aim_below(&mut self, expose: &Expose, select: &tree::Select) -> Result<(), Fault> {
        let [tree::TableSource::Table(table)] = select.from.as_slice() else { return Ok(()) };
        let is_plain = table.system_time.is_none() && table.sample.is_none();
        if expose.for_cursor || !is_plain || !self.reaches_rows(&table.name)? {
            return Ok(());
        }
        let named = |item: &tree::SelectItem| match item {
            tree::SelectItem::Expr { expr, alias } => {
                let tree::ExprKind::Column(column) = &expr.kind else { return None };
                let shown = alias.as_ref().unwrap_or(&column.name);
                let is_wanted = expose.wanted.iter().any(|wanted| shown.is(wanted));
                is_wanted.then(|| vec![column.name.text.clone()])
            }
            tree::SelectItem::Star { .. } => Some(expose.wanted.clone()),
            tree::SelectItem::Assign { .. } => None,
        };
        self.target_wanted = select.items.iter().filter_map(named).flatten().collect();
        self.target_ref = Some(std::ptr::from_ref(&**table));
        Ok(())
    }

    /// Whether a name means a common table, or a view that no trigger stands in for: what lies below it may be changed.
    fn reaches_rows(&self, name: &tree::ObjectName) -> Result<bool, Fault> {
        if name.schema.is_none()
            && name.database.is_none()
            && let Some(common) = self.common_table(&name.name)
        {
            return Ok(!super::recursive::is_recursive(&common.tree));
        }
        if self.names_transition(name).is_some() || self.catalog().table(name)?.is_some() {
            return Ok(false);
        }
        let found = self.catalog().view(name)?;
        Ok(found.is_some_and(|(view, catalog)| {
            let stands_in = |event| catalog.catalog.instead_of(view.object_id, event).is_some();
            !TriggerEvent::ALL.into_iter().any(stands_in)
        }))
    }

    /// Adds the columns and places of the table below a query of another view or common table, which that brings along.
    pub(super) fn expose_below(
        &mut self,
        expose: &Expose,
        select: &tree::Select,
        inner: TargetRows,
        items: &mut Items,
    ) -> Result<(), Fault> {
        if select.distinct || self.scope().grouping.is_some() {
            return Err(Box::new(SqlError::view_groups_rows(&expose.name)));
        }
        let conditions = self.conditions_below(select, &inner);
        let first = self.scope().sources[inner.source].registers.first;
        let origin = |value: &Typed| match value.expr {
            Expr::Slot(slot) => inner.columns.get(slot.wrapping_sub(first)).copied().flatten(),
            _ => None,
        };
        let columns = items.values.iter().map(origin).collect();
        let types = inner.table.columns.iter().map(|column| column.ty);
        for (slot, ty) in inner.registers.range().zip(types).chain([(inner.locator, PLACE)]) {
            items.columns.push(ColumnInfo::new("", ty, true));
            items.values.push(Typed::new(Expr::Slot(slot), ty, true));
            items.trees.push(None);
        }
        self.exposed = Some(Exposed { table: inner.table, columns, conditions });
        Ok(())
    }

    /// Adds the columns and places of the table below a query to its select list.
    pub(super) fn expose_table(
        &mut self,
        expose: &Expose,
        select: &tree::Select,
        from: Option<&JoinTree>,
        items: &mut Items,
    ) -> Result<(), Fault> {
        if select.distinct || self.scope().grouping.is_some() {
            return Err(Box::new(SqlError::view_groups_rows(&expose.name)));
        }
        let mut tables = Vec::new();
        if let Some(from) = from {
            from.visit_tables(&mut |index, table| tables.push((index, Arc::clone(table))));
        }
        let sources = &self.scope().sources;
        let origin = |expr: &Expr| {
            let Expr::Slot(slot) = expr else { return None };
            let found = tables.iter().position(|(index, _)| sources[*index].registers.range().contains(slot))?;
            Some((found, slot - sources[tables[found].0].registers.first))
        };
        let origins: Vec<_> = items.values.iter().map(|value| origin(&value.expr)).collect();
        let mut chosen = None;
        for (info, origin) in items.columns.iter().zip(&origins) {
            let asked = expose.wanted.iter().any(|name| name.eq_ignore_ascii_case(&info.name));
            if let (true, Some((table, _))) = (asked, origin) {
                if chosen.is_some_and(|chosen| chosen != *table) {
                    return Err(Box::new(SqlError::view_of_many_tables(&expose.name)));
                }
                chosen = Some(*table);
            }
        }
        let chosen = match chosen {
            Some(chosen) => chosen,
            None if tables.len() == 1 && sources.len() == 1 => 0,
            None if tables.is_empty() => return Err(errors::unsupported("Changing rows through this query")),
            None => return Err(Box::new(SqlError::view_of_many_tables(&expose.name))),
        };
        let (index, table) = tables.swap_remove(chosen);
        super::modify::check_writable(&table, &table.object_name(tree::Span::default()))?;
        let columns = origins.iter().map(|origin| origin.filter(|(of, _)| *of == chosen).map(|(_, column)| column));
        let columns = columns.collect();
        let source = &mut self.scope().sources[index];
        source.located = true;
        source.hints.changes = !expose.for_cursor;
        let wanted = |ty: &SqlType| !expose.for_cursor || super::is_watched(ty);
        for (used, column) in source.used.iter_mut().zip(&table.columns) {
            *used |= wanted(&column.ty);
        }
        let first = source.registers.first;
        let hidden = table.columns.iter().map(|column| column.ty).chain([PLACE]).enumerate();
        for (offset, ty) in hidden.filter(|(_, ty)| wanted(ty)) {
            items.columns.push(ColumnInfo::new("", ty, true));
            items.values.push(Typed::new(Expr::Slot(first + offset), ty, true));
            items.trees.push(None);
        }
        let mut conditions = RowConditions::default();
        conditions.add_of_table(select, &table);
        self.exposed = Some(Exposed { table, columns, conditions });
        Ok(())
    }

    /// Whether a source of FROM is the one whose rows are changed.
    pub(super) fn is_target_ref(&self, reference: &tree::TableRef) -> bool {
        self.target_ref.is_some_and(|target| std::ptr::eq(target, reference))
    }

    /// A scope for a statement that changes rows.
    pub(super) fn push_change_scope(&mut self, with: &tree::With) -> Result<(), Fault> {
        let clause = super::scope::Clause::Where;
        let common = self.with_clause(with, None)?;
        self.scopes.push(Scope { common, clause, ..Scope::default() });
        Ok(())
    }
}

/// The target and FROM of a statement that changes a table variable which FROM names, by its name or an alias: the variable as a
/// table of that name, which is how the rows to change are found. None where FROM does not name the target as a variable.
pub(super) fn variable_as_table(
    target: &tree::Target,
    from: &[tree::TableSource],
) -> Option<(tree::Target, Vec<tree::TableSource>)> {
    let named = match target {
        tree::Target::Table { name, .. } => name.clone(),
        tree::Target::Variable(name) => tree::ObjectName::of(name.clone()),
        tree::Target::Function(_) => return None,
    };
    if from.is_empty() || named.schema.is_some() {
        return None;
    }
    let mut from = from.to_vec();
    let mut found = false;
    from.iter_mut().for_each(|source| found |= name_variables(source, &named.name));
    let is_variable = matches!(target, tree::Target::Variable(_));
    let hints = match target {
        tree::Target::Table { hints, .. } => hints.clone(),
        _ => Vec::new(),
    };
    (found || is_variable).then_some((tree::Target::Table { name: named, hints }, from))
}

/// Makes the table variables that a target's name means tables of their names. Whether there are any.
fn name_variables(source: &mut tree::TableSource, target: &tree::Name) -> bool {
    match source {
        tree::TableSource::Variable { name, alias } => {
            let is_meant = name.is(&target.text) || alias.as_ref().is_some_and(|alias| alias.is(&target.text));
            if is_meant {
                let (name, alias) = (tree::ObjectName::of(name.clone()), alias.clone());
                let table = tree::TableRef { name, system_time: None, alias, sample: None, hints: Vec::new() };
                *source = tree::TableSource::Table(Box::new(table));
            }
            is_meant
        }
        tree::TableSource::Join(join) => {
            name_variables(&mut join.left, target) | name_variables(&mut join.right, target)
        }
        _ => false,
    }
}

/// The table of FROM that the target's name means: by its alias, or by its own name.
pub(super) fn chosen<'t>(
    from: &'t [tree::TableSource],
    name: &tree::ObjectName,
) -> Result<Option<&'t tree::TableRef>, Fault> {
    let mut tables = Vec::new();
    from.iter().for_each(|source| list_tables(source, &mut tables));
    let by_alias = |table: &&tree::TableRef| {
        name.schema.is_none() && table.alias.as_ref().is_some_and(|alias| name.name.is(&alias.text))
    };
    if let Some(table) = tables.iter().copied().find(|table| by_alias(table)) {
        return Ok(Some(table));
    }
    let schema = |name: &tree::ObjectName| name.schema_str().unwrap_or("dbo").to_ascii_lowercase();
    let same = |table: &&tree::TableRef| name.name.is(&table.name.name.text) && schema(name) == schema(&table.name);
    let named: Vec<&tree::TableRef> = tables.into_iter().filter(same).collect();
    let mut plain = named.iter().copied().filter(|table| table.alias.is_none());
    match (plain.next(), named.as_slice()) {
        (Some(table), _) => Ok(Some(table)),
        (None, []) => Ok(None),
        (None, [table]) => Ok(Some(table)),
        (None, _) => Err(Box::new(SqlError::target_is_ambiguous(name.dotted()))),
    }
}

fn list_tables<'t>(source: &'t tree::TableSource, into: &mut Vec<&'t tree::TableRef>) {
    match source {
        tree::TableSource::Table(table) => into.push(table),
        tree::TableSource::Join(join) => {
            list_tables(&join.left, into);
            list_tables(&join.right, into);
        }
        _ => {}
    }
}
