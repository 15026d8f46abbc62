//! UPDATE and DELETE of rows that FROM, a view or a common table finds.

use std::sync::Arc;

use super::current::cursor_of;
use super::output::{OutputRows, column_of};
use super::scope::{Clause, Source};
use super::target::TargetRows;
use super::typed::Typed;
use super::{Binder, PendingApply, applied, assign_to};
use crate::access::Table;
use crate::expression::{Expr, Fault};
use crate::output::DoneKind;
use crate::plan::{Action, Branch, BranchAction, BranchRows, Change, LiveSlots, Node, Registers, Statement, TopCount};
use pikepole_engine::Permission;
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// What SET makes a column.
pub(super) enum NewValue<'t> {
    Default,
    Expr(&'t tree::Expr),
    Method(&'t tree::Name, &'t [tree::Expr]),
    Property(&'t tree::Name, &'t tree::Expr),
}

/// Whether a qualifier is the name of the table that is changed, or of the view through which it is, though FROM gives that an alias.
fn names_target(qualifier: &tree::ObjectName, table: &Table, target: &Source) -> bool {
    let is_written = target.written.as_ref().is_some_and(|written| written.eq_ignore_ascii_case(&qualifier.dotted()));
    let is_of_schema = qualifier.schema_str().is_none_or(|schema| schema.eq_ignore_ascii_case(&table.engine.schema));
    let is_of_database = qualifier.database_str().is_none_or(|name| name.eq_ignore_ascii_case(&table.database));
    is_written || qualifier.name.is(&table.name) && is_of_schema && is_of_database
}

/// The column that is assigned to and its new value: `c.property = value` parses as a column with a qualifier. `target` is what is
/// changed, rows of `table`, and `find` its columns.
///
/// # Errors
/// 4104 for a column of something else; those of `find`.
pub(super) fn assigned<'t>(
    column: &'t tree::ColumnRef,
    op: tree::AssignOp,
    value: NewValue<'t>,
    (target, table): (&Source, &Table),
    find: impl Fn(&tree::Name) -> Result<usize, Fault>,
) -> Result<(usize, NewValue<'t>), Fault> {
    let is_property =
        |qualifier: &&tree::ObjectName| !target.answers_to(qualifier) && !names_target(qualifier, table, target);
    let Some(qualifier) = column.qualifier.as_deref().filter(is_property) else {
        return Ok((find(&column.name)?, value));
    };
    // Before the column there may be the name of what is changed.
    let is_of_target = match &qualifier.schema {
        None => true,
        Some(name) => qualifier.database.is_none() && target.answers_to(&tree::ObjectName::of(name.clone())),
    };
    match (find(&qualifier.name), value) {
        (Ok(index), NewValue::Expr(value)) if op == tree::AssignOp::Set && is_of_target => {
            Ok((index, NewValue::Property(&column.name, value)))
        }
        _ => {
            let name = format!("{}.{}", qualifier.dotted(), column.name.text);
            Err(Box::new(SqlError::identifier_not_bound(name).at_line(column.name.span.line)))
        }
    }
}

/// The columns that SET changes, and the variables it sets.
#[derive(Default)]
pub(super) struct SetClause {
    pub(super) assignments: Vec<(usize, Expr)>,
    pub(super) variables: Vec<(usize, Expr)>,
}

/// A table variable as a table of its name.
fn table_called(variable: &tree::Name) -> tree::Target {
    tree::Target::Table { name: tree::ObjectName::of(variable.clone()), hints: Vec::new() }
}

impl Binder<'_> {
    /// An UPDATE with more than one table to read, or through a view or common table.
    pub(super) fn joined_update(mut self, update: &tree::Update) -> Result<Arc<Statement>, Fault> {
        if let tree::Target::Variable(name) = &update.target {
            let target = table_called(name);
            return self.joined_update(&tree::Update { target, ..update.clone() });
        }
        let wanted: Vec<String> = update
            .assignments
            .iter()
            .filter_map(|assignment| match assignment {
                tree::Assignment::Column { column, .. }
                | tree::Assignment::Both { column, .. }
                | tree::Assignment::Method { column, .. } => Some(column.name.text.clone()),
                _ => None,
            })
            .collect();
        self.target_permissions = vec![Permission::Update, Permission::Select];
        let (tree, target) = match cursor_of(update.filter.as_ref()) {
            Some(cursor) => self.current_row(&update.target, &update.from, cursor, wanted)?,
            None => self.target_rows(&update.target, &update.from, wanted)?,
        };
        let (conditions, _) = self.modified_conditions(update.filter.as_ref(), None)?;
        let top = self.change_top(update.top.as_ref())?;
        let mark = self.pending.len();
        let set = self.set_clause(&target, &update.assignments)?;
        let set_pending = self.pending.split_off(mark);
        let inserted = self.inserted_registers(update.output.as_ref(), &target.table);
        self.watch_inserted(&target, inserted);
        let others = self.other_sources(&target);
        let rows = OutputRows { inserted, deleted: Some(target.registers), others, ..OutputRows::default() };
        let output = self.output_clause(update.output.as_ref(), &Arc::clone(&target.table), rows)?;
        let SetClause { assignments, variables } = set;
        let branch = Branch {
            rows: BranchRows::Matched,
            condition: None,
            action: BranchAction::Update { assignments, variables },
        };
        let rows = self.rows(Some(tree), conditions);
        let rows = self.counted(rows);
        let change = Change {
            table: target.table,
            registers: target.registers,
            locator: target.locator,
            source: None,
            kept: Vec::new(),
            branches: vec![branch],
            top,
            refuses_twice: false,
            source_keys: Vec::new(),
            output,
            kind: DoneKind::Update,
        };
        Ok(self.change_plan(rows, set_pending, change))
    }

    /// A DELETE with more than one table to read, or through a view or common table.
    pub(super) fn joined_delete(mut self, delete: &tree::Delete) -> Result<Arc<Statement>, Fault> {
        if let tree::Target::Variable(name) = &delete.target {
            let target = table_called(name);
            return self.joined_delete(&tree::Delete { target, ..delete.clone() });
        }
        self.target_permissions = vec![Permission::Delete, Permission::Select];
        let (tree, target) = match cursor_of(delete.filter.as_ref()) {
            Some(cursor) => self.current_row(&delete.target, &delete.from, cursor, Vec::new())?,
            None => self.target_rows(&delete.target, &delete.from, Vec::new())?,
        };
        let (conditions, _) = self.modified_conditions(delete.filter.as_ref(), None)?;
        let top = self.change_top(delete.top.as_ref())?;
        let others = self.other_sources(&target);
        let rows = OutputRows { deleted: Some(target.registers), others, ..OutputRows::default() };
        let output = self.output_clause(delete.output.as_ref(), &Arc::clone(&target.table), rows)?;
        let branch = Branch { rows: BranchRows::Matched, condition: None, action: BranchAction::Delete };
        let rows = self.rows(Some(tree), conditions);
        let rows = self.counted(rows);
        let change = Change {
            table: target.table,
            registers: target.registers,
            locator: target.locator,
            source: None,
            kept: Vec::new(),
            branches: vec![branch],
            top,
            refuses_twice: false,
            source_keys: Vec::new(),
            output,
            kind: DoneKind::Delete,
        };
        Ok(self.change_plan(rows, Vec::new(), change))
    }

    /// OUTPUT reads what rows have become.
    pub(super) fn watch_inserted(&mut self, target: &TargetRows, inserted: Option<Registers>) {
        let names = target.table.columns.iter().map(|column| column.name.clone());
        if let Some(inserted) = inserted {
            self.watch(inserted, target.reads.clone(), names.collect());
        }
    }

    /// The sources that are not changed, as OUTPUT sees them.
    pub(super) fn other_sources(&mut self, target: &TargetRows) -> Vec<Source> {
        let sources = self.scope().sources.iter().enumerate();
        sources.filter(|(at, _)| *at != target.source).map(|(_, source)| source.clone()).collect()
    }

    /// The count of TOP in a statement that changes rows.
    pub(super) fn change_top(&mut self, top: Option<&tree::Top>) -> Result<Option<TopCount>, Fault> {
        match top {
            None => Ok(None),
            Some(top) if top.with_ties => Err(Box::new(SqlError::incorrect_syntax("TIES"))),
            Some(top) if top.percent => Ok(Some(TopCount::Percent(self.percent(&top.count)?))),
            Some(top) => {
                let count = self.row_count(&top.count)?;
                let is_late = !self.scope().counting.is_empty();
                Ok(Some(if is_late { TopCount::OfRow(count) } else { TopCount::Rows(count) }))
            }
        }
    }

    /// The statement that changes rows as joined rows say.
    pub(super) fn change_plan(self, rows: Node, pending: Vec<PendingApply>, mut change: Change) -> Arc<Statement> {
        let source = applied(rows, pending);
        let mut read = LiveSlots::default();
        change.visit_read(&mut |slot| read.add(slot));
        let mut kept: Vec<usize> = change.registers.range().collect();
        source.visit_filled(&mut |slot| {
            if read.has(slot) && !kept.contains(&slot) {
                kept.push(slot);
            }
        });
        change.kept = kept;
        Arc::new(self.finish(source, Action::Change(Box::new(change))))
    }

    /// SET.
    pub(super) fn set_clause(
        &mut self,
        target: &TargetRows,
        assignments: &[tree::Assignment],
    ) -> Result<SetClause, Fault> {
        let outer = std::mem::replace(&mut self.scope().clause, Clause::Set);
        let mut set = SetClause::default();
        for assignment in assignments {
            self.set_item(target, assignment, &mut set)?;
        }
        self.scope().clause = outer;
        Ok(set)
    }

    fn set_item(
        &mut self,
        target: &TargetRows,
        assignment: &tree::Assignment,
        set: &mut SetClause,
    ) -> Result<(), Fault> {
        let (column, op, value) = match assignment {
            tree::Assignment::Variable { variable, op, value } => {
                set.variables.push(self.assignment(&variable.text, *op, value)?);
                return Ok(());
            }
            tree::Assignment::Method { column, method, arguments } => {
                (column, tree::AssignOp::Set, NewValue::Method(method, arguments))
            }
            tree::Assignment::Column { column, op, value } => match value {
                tree::InsertValue::Default => (column, *op, NewValue::Default),
                tree::InsertValue::Expr(value) => (column, *op, NewValue::Expr(value)),
            },
            tree::Assignment::Both { column, op, value, .. } => (column, *op, NewValue::Expr(value)),
        };
        let table = Arc::clone(&target.table);
        let source = &self.scope().sources[target.source];
        let (index, value) = assigned(column, op, value, (source, &table), |name| target.column(name))?;
        if set.assignments.iter().any(|(column, _)| *column == index) {
            return Err(Box::new(SqlError::column_set_twice(&column.name.text)));
        }
        if table.columns[index].computed {
            return Err(Box::new(SqlError::column_cannot_be_modified(&table.columns[index].name)));
        }
        if table.columns[index].rowversion {
            return Err(Box::new(SqlError::rowversion_not_updatable()));
        }
        if table.columns[index].generated {
            return Err(Box::new(SqlError::generated_not_updatable(&table.display)));
        }
        if table.identity == Some(index) {
            return Err(Box::new(SqlError::identity_not_updatable(&column.name.text)));
        }
        let expr = match value {
            NewValue::Default => self.default_value(&table, index)?,
            NewValue::Method(method, arguments) => {
                let old = column_of(target.registers, &table, index);
                let value = self.written(&table, index, old, (method, arguments))?;
                super::modify::column_value(&table, index, value)?
            }
            NewValue::Property(property, value) => {
                let old = column_of(target.registers, &table, index);
                let value = self.with_property(old, &table.columns[index].name, property, value)?;
                super::modify::column_value(&table, index, value)?
            }
            NewValue::Expr(value) => {
                let mut value = self.expr(value)?;
                if let Some(op) = super::query::binary_of(op) {
                    let old = column_of(target.registers, &table, index);
                    value = super::expression::binary_value(op, old, value)?;
                }
                super::modify::column_value(&table, index, value)?
            }
        };
        if let tree::Assignment::Both { variable, .. } = assignment {
            let (slot, ty) = self.variable(&variable.text)?;
            let column = &table.columns[index];
            let typed = Typed::new(expr.clone(), column.ty, true).collated(column.collated());
            set.variables.push((slot, assign_to(typed, &ty, self.collation(), None)?));
        }
        set.assignments.push((index, expr));
        Ok(())
    }
}
