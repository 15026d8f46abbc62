//! INSERT through views, WITH CHECK OPTION, and changes of views that an INSTEAD OF trigger stands in for.

use std::sync::Arc;

use super::join::JoinTree;
use super::kept_columns::name_columns;
use super::query::cut;
use super::scope::{Source, SourceColumn};
use super::source::infos;
use super::target::{Exposed, chosen};
use super::typed::Typed;
use super::{Binder, Bound, Scope, applied, assign_to};
use crate::access::Table;
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::plan::{Action, Instead, JoinKind, Node, Statement};
use pikepole_engine::{KeptColumn, Object, Permission, Trigger, TriggerEvent, View};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

impl Binder<'_> {
    /// The table that an INSERT fills, and its columns that are named: those below the view or the common table that the statement names.
    pub(super) fn insert_target(&mut self, insert: &tree::Insert) -> Result<(Arc<Table>, Vec<tree::Name>), Fault> {
        let tree::Target::Table { name, .. } = &insert.target else {
            return Ok((self.target(&insert.target)?, insert.columns.clone()));
        };
        self.target_wanted = insert.columns.iter().map(|name| name.text.clone()).collect();
        let common = self.with_clause(&insert.with, None)?;
        let common = common.into_iter().find(|common| name.schema.is_none() && name.name.is(&common.tree.name.text));
        let (columns, exposed) = match common {
            Some(common) => {
                let scope = Scope { barrier: true, common: common.earlier(), ..Scope::default() };
                let tree::CommonTable { query, columns, .. } = &*common.tree;
                self.nested(|binder| binder.insertable(query, (&[], columns), scope, name))?
            }
            None => {
                let owner = self.require(Permission::Insert, name)?;
                if insert.output.is_some() {
                    self.require(Permission::Select, name)?;
                }
                let Some((module, options)) = self.view_below(name)? else {
                    return Ok((self.target_table(name)?, insert.columns.clone()));
                };
                let view = parsed_view(&module.text, options, name)?;
                let scope = Scope { barrier: true, ..Scope::default() };
                let of_view = (&module.columns[..], &view.columns[..]);
                let (columns, mut exposed) = self.nested(|binder| {
                    binder.in_view_of(owner, |binder| binder.insertable(&view.query, of_view, scope, name))
                })?;
                if view.check_option {
                    exposed.conditions.demand();
                }
                (columns, exposed)
            }
        };
        self.check_options = exposed.conditions.demanded();
        let table = exposed.table;
        let below = |at: usize, span: tree::Span| match exposed.columns[at] {
            Some(column) => Ok(tree::Name { text: table.columns[column].name.clone(), span }),
            None => Err(Box::new(SqlError::view_column_is_derived(&name.name.text))),
        };
        let mut names = Vec::new();
        if insert.columns.is_empty() {
            for (at, column) in exposed.columns.iter().enumerate() {
                let is_dealt = |column: usize| table.identity == Some(column) || table.columns[column].rowversion;
                if !column.is_some_and(|column| is_dealt(column) || table.columns[column].computed) {
                    names.push(below(at, name.span())?);
                }
            }
        }
        for wanted in &insert.columns {
            let at = columns.iter().position(|column| wanted.is(&column.name));
            let at = at.ok_or_else(|| SqlError::invalid_column(&wanted.text).at_line(wanted.span.line))?;
            names.push(below(at, wanted.span)?);
        }
        Ok((table, names))
    }

    /// The columns of a query that an INSERT names, and the table below it that the rows go into. `kept` and `listed` name the columns.
    fn insertable(
        &mut self,
        query: &tree::Query,
        (kept, listed): (&[KeptColumn], &[tree::Name]),
        scope: Scope,
        name: &tree::ObjectName,
    ) -> Result<(Vec<SourceColumn>, Exposed), Fault> {
        let (bound, exposed) = self.exposing(query, scope, &name.name.text)?;
        self.require(Permission::Insert, &exposed.table.object_name(name.span()))?;
        let mut columns = infos(&bound.columns[..exposed.columns.len()]);
        name_columns(kept, name, listed, &mut columns)?;
        columns.retain(|column| !column.hidden);
        let exposed = Exposed { columns: exposed.columns[..columns.len()].to_vec(), ..exposed };
        Ok((columns, exposed))
    }

    /// The view of the session's database that a name means; none: the name means something else, as a common table.
    fn view_below(&self, name: &tree::ObjectName) -> Result<Option<(Arc<View>, tree::ParseOptions)>, Fault> {
        if self.names_transition(name).is_some() || self.names.catalog.table(name)?.is_some() {
            return Ok(None);
        }
        let own = self.names.catalog.database.id();
        let found = self.names.catalog.view(name)?;
        let own = found.filter(|(_, catalog)| catalog.database.id() == own);
        Ok(own.map(|(view, catalog)| (view, catalog.parse_options())))
    }

    /// The INSTEAD OF trigger that stands in for what a statement does to a view; within the trigger itself the statement is
    /// about what is below the view.
    pub(super) fn stand_in(
        &self,
        target: &tree::Target,
        from: &[tree::TableSource],
        event: TriggerEvent,
    ) -> Result<Option<(tree::ObjectName, Arc<Trigger>)>, Fault> {
        let tree::Target::Table { name, .. } = target else { return Ok(None) };
        let name = chosen(from, name)?.map_or(name, |table| &table.name);
        let common = name.schema.is_none() && name.database.is_none() && self.common_table(&name.name).is_some();
        if common || self.names_transition(name).is_some() {
            return Ok(None);
        }
        let Some(place) = self.names.catalog.place(name)? else { return Ok(None) };
        let Some(Object::View(view)) = place.object() else { return Ok(None) };
        let trigger = place.view.catalog.instead_of(view.object_id, event);
        if trigger.is_some() && place.view.database.id() != self.names.catalog.database.id() {
            return Err(errors::unsupported("A change of a view with triggers in another database"));
        }
        let own = self.names.trigger.map(|shape| shape.trigger);
        let trigger = trigger.filter(|trigger| Some(trigger.module.object_id) != own);
        Ok(trigger.map(|trigger| (name.clone(), Arc::clone(trigger))))
    }

    /// An INSERT into a view that a trigger stands in for.
    pub(super) fn insert_instead(
        mut self,
        insert: &tree::Insert,
        name: &tree::ObjectName,
        trigger: Arc<Trigger>,
    ) -> Result<Arc<Statement>, Fault> {
        refuse_output(insert.output.as_ref(), name)?;
        self.require(Permission::Insert, name)?;
        let (view, _) = self.names.catalog.view(name)?.ok_or_else(|| SqlError::invalid_object(name.dotted()))?;
        let (_, columns) = Binder::new(self.names, 0).expand_view(name, &view)?;
        let places = view_columns(&columns, &insert.columns)?;
        self.allow_numbers(if matches!(insert.source, tree::InsertSource::Query(_)) { 2 } else { 1 });
        let mut rows = Vec::new();
        let source = match &insert.source {
            tree::InsertSource::Values(lists) => {
                let mut given = Vec::with_capacity(lists.len());
                for list in lists {
                    self.next_numbers();
                    super::modify::check_count(insert.columns.is_empty(), places.len(), list.len())?;
                    let value = |value: &tree::InsertValue| match value {
                        tree::InsertValue::Default => Ok(None),
                        tree::InsertValue::Expr(expr) => self.expr(expr).map(Some),
                    };
                    given.push(list.iter().map(value).collect::<Result<Vec<_>, Fault>>()?);
                }
                super::insert_values::unify(&mut given)?;
                let nothing = || Typed::new(Expr::NULL, SqlType::Null, true);
                for list in given {
                    let values = list.into_iter().map(|value| value.unwrap_or_else(nothing)).collect();
                    rows.push(view_row(&columns, &places, values)?);
                }
                self.place_pending(0, Node::One)
            }
            tree::InsertSource::DefaultValues => {
                rows.push(view_row(&columns, &[], Vec::new())?);
                Node::One
            }
            tree::InsertSource::Query(query) => {
                let Bound { node, columns: given, values } = self.query(query)?;
                if values.len() != places.len() {
                    return Err(Box::new(match values.len() < places.len() {
                        true => SqlError::insert_select_fewer_items(),
                        false => SqlError::insert_select_more_items(),
                    }));
                }
                let typed =
                    values.into_iter().zip(&given).map(|(value, info)| Typed::new(value, info.ty, info.nullable));
                rows.push(view_row(&columns, &places, typed.collect())?);
                self.place_pending(0, node)
            }
            tree::InsertSource::Execute(_) => return Err(errors::unsupported("INSERT ... EXEC here")),
        };
        let instead = Instead {
            event: TriggerEvent::Insert,
            trigger,
            inserted: rows,
            deleted: Vec::new(),
            types: types_of(&columns),
            updated: Vec::new(),
        };
        Ok(Arc::new(self.finish(source, Action::Instead(Box::new(instead)))))
    }

    /// An UPDATE of a view that a trigger stands in for.
    pub(super) fn update_instead(
        mut self,
        update: &tree::Update,
        name: &tree::ObjectName,
        trigger: Arc<Trigger>,
    ) -> Result<Arc<Statement>, Fault> {
        refuse_output(update.output.as_ref(), name)?;
        let (tree, at) = self.view_rows(name, &update.from)?;
        let (conditions, top) = self.modified_conditions(update.filter.as_ref(), update.top.as_ref())?;
        if self.scope().sources.len() > 1 {
            return Err(Box::new(SqlError::update_of_joined_instead_view(name.dotted())));
        }
        let mark = self.pending.len();
        let Source { columns, registers, .. } = self.scope().sources[at].clone();
        let mut row: Vec<Expr> = registers.range().map(Expr::Slot).collect();
        let mut updated = Vec::new();
        for assignment in &update.assignments {
            let tree::Assignment::Column { column, op, value } = assignment else {
                return Err(errors::unsupported("A variable or a method in SET of a view with an INSTEAD OF trigger"));
            };
            let place = view_columns(&columns, std::slice::from_ref(&column.name))?[0];
            if updated.contains(&place) {
                return Err(Box::new(SqlError::column_set_twice(&column.name.text)));
            }
            let info = &columns[place];
            let value = match value {
                tree::InsertValue::Default => Typed::new(Expr::NULL, info.ty, true),
                tree::InsertValue::Expr(value) => {
                    let value = self.expr(value)?;
                    match super::query::binary_of(*op) {
                        None => value,
                        Some(op) => {
                            let old = Typed::new(Expr::Slot(registers.first + place), info.ty, info.nullable)
                                .collated(info.collated);
                            super::expression::binary_value(op, old, value)?
                        }
                    }
                }
            };
            row[place] = assign_to(value, &info.ty, info.collated.shown(), None)?;
            updated.push(place);
        }
        let names = updated.iter().map(|place| (*place, columns[*place].name.as_str()));
        self.require_columns(Permission::Update, name, names)?;
        let set = self.pending.split_off(mark);
        let rows = self.rows(Some(tree), conditions);
        let source = applied(self.counted(cut(rows, None, top)), set);
        let (deleted, types) = (registers.range().map(Expr::Slot).collect(), types_of(&columns));
        let instead = Instead { event: TriggerEvent::Update, trigger, inserted: vec![row], deleted, types, updated };
        Ok(Arc::new(self.finish(source, Action::Instead(Box::new(instead)))))
    }

    /// A DELETE from a view that a trigger stands in for.
    pub(super) fn delete_instead(
        mut self,
        delete: &tree::Delete,
        name: &tree::ObjectName,
        trigger: Arc<Trigger>,
    ) -> Result<Arc<Statement>, Fault> {
        refuse_output(delete.output.as_ref(), name)?;
        self.require(Permission::Delete, name)?;
        let (tree, at) = self.view_rows(name, &delete.from)?;
        if self.scope().sources.len() > 1 {
            return Err(Box::new(SqlError::delete_of_joined_instead_view(name.dotted())));
        }
        let (conditions, top) = self.modified_conditions(delete.filter.as_ref(), delete.top.as_ref())?;
        let Source { columns, registers, .. } = &self.scope().sources[at];
        let (deleted, types) = (registers.range().map(Expr::Slot).collect(), types_of(columns));
        let rows = self.rows(Some(tree), conditions);
        let source = self.counted(cut(rows, None, top));
        let (inserted, updated) = (Vec::new(), Vec::new());
        let instead = Instead { event: TriggerEvent::Delete, trigger, inserted, deleted, types, updated };
        Ok(Arc::new(self.finish(source, Action::Instead(Box::new(instead)))))
    }

    /// FROM, with the view whose rows are changed in it or joined to it, and the place of that among the sources.
    fn view_rows(&mut self, name: &tree::ObjectName, from: &[tree::TableSource]) -> Result<(JoinTree, usize), Fault> {
        let reference = chosen(from, name)?.cloned();
        let mut tree = self.from(from)?;
        let own =
            tree::TableRef { name: name.clone(), system_time: None, alias: None, sample: None, hints: Vec::new() };
        let shown = reference.as_ref().unwrap_or(&own);
        if reference.is_none() {
            let right = self.table_source(&tree::TableSource::Table(Box::new(own.clone())))?;
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
        let alias = shown.alias.as_ref().unwrap_or(&shown.name.name);
        let at = self.scope().sources.iter().position(|source| alias.is(&source.alias));
        let (Some(tree), Some(at)) = (tree, at) else {
            return Err(Box::new(SqlError::invalid_object(name.dotted())));
        };
        self.scope().sources[at].used.fill(true);
        Ok((tree, at))
    }
}

fn parsed_view(text: &str, options: tree::ParseOptions, name: &tree::ObjectName) -> Result<tree::CreateView, Fault> {
    let batch = tree::parse_with(text, options).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
    match batch.statements.into_iter().next().map(|statement| statement.kind) {
        Some(tree::StatementKind::CreateView(view)) => Ok(*view),
        _ => Err(Box::new(SqlError::invalid_object(name.dotted()))),
    }
}

/// What an INSTEAD OF trigger does is nothing that OUTPUT can tell.
fn refuse_output(output: Option<&tree::OutputClause>, name: &tree::ObjectName) -> Result<(), Fault> {
    match output {
        None => Ok(()),
        Some(output) if output.into.is_none() => Err(Box::new(SqlError::output_with_triggers(name.dotted()))),
        Some(_) => Err(errors::unsupported("OUTPUT INTO of a view with an INSTEAD OF trigger")),
    }
}

fn types_of(columns: &[SourceColumn]) -> Vec<SqlType> {
    columns.iter().map(|column| column.ty).collect()
}

/// The places of a view's columns that are named; all, when none is.
fn view_columns(columns: &[SourceColumn], names: &[tree::Name]) -> Result<Vec<usize>, Fault> {
    if names.is_empty() {
        return Ok((0..columns.len()).collect());
    }
    let mut places = Vec::with_capacity(names.len());
    for name in names {
        let place = columns.iter().position(|column| name.is(&column.name));
        let place = place.ok_or_else(|| SqlError::invalid_column(&name.text).at_line(name.span.line))?;
        if places.contains(&place) {
            return Err(Box::new(SqlError::column_set_twice(&name.text)));
        }
        places.push(place);
    }
    Ok(places)
}

/// A row of a view: the values given, each of its column's type, and NULL.
fn view_row(columns: &[SourceColumn], places: &[usize], values: Vec<Typed>) -> Result<Vec<Expr>, Fault> {
    let mut row = vec![Expr::NULL; columns.len()];
    for (place, value) in places.iter().zip(values) {
        let column = &columns[*place];
        row[*place] = assign_to(value, &column.ty, column.collated.shown(), None)?;
    }
    Ok(row)
}
