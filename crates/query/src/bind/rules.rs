//! Binds what a table's definition says of its rows: computed columns, CHECK and FOREIGN KEY constraints.

use std::sync::Arc;

use super::determinism::{Traits, traits_of};
use super::scope::{Clause, Column, SourceColumn};
use super::typed::Typed;
use super::{Binder, Names, PendingApply, Scope, applied, assign_to};
use crate::access::Table;
use crate::expression::{Expr, Fault};
use crate::output::DoneKind;
use crate::plan::{Action, Node, Registers};
use crate::rules::{CheckRule, HistoryRule, PeriodRule, ReferenceRule, ReferencedRule, Rules};
use pikepole_engine as engine;
use pikepole_tsql as tree;
use pikepole_types::{Collated, SqlError, SqlType};

/// A column as expressions of its table's definition see it.
#[derive(Debug, Clone)]
pub(crate) struct TableColumn {
    pub(crate) name: String,
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
    pub(crate) collated: Collated,
}

impl TableColumn {
    /// The columns of a table.
    pub(crate) fn all(table: &engine::TableRecord) -> Vec<TableColumn> {
        let column = |column: &engine::Column| TableColumn {
            name: column.name.clone(),
            ty: column.ty,
            nullable: column.nullable,
            collated: column.collated(),
        };
        table.columns.iter().map(column).collect()
    }

    /// A column of a source of FROM.
    pub(super) fn of_source(column: &SourceColumn) -> TableColumn {
        TableColumn { name: column.name.clone(), ty: column.ty, nullable: column.nullable, collated: column.collated }
    }
}

/// Binds the expression of a computed column over registers that begin at zero; what its values are.
///
/// # Errors
/// Names, types; 1046 for a subquery.
pub(crate) fn computed_column(
    expr: &tree::Expr,
    table: &str,
    columns: &[TableColumn],
    names: &Names<'_>,
) -> Result<(Typed, Traits), Fault> {
    let mut binder = Binder::new(names, columns.len());
    let typed = value_over(&mut binder, expr, table, columns)?;
    let mut traits = traits_of(expr, (&typed, binder.is_undetermined), table, columns, names);
    traits.calls_methods = binder.calls_methods;
    Ok((typed, traits))
}

/// An expression over the columns of a table, in registers that begin at zero.
pub(super) fn value_over(
    binder: &mut Binder<'_>,
    expr: &tree::Expr,
    table: &str,
    columns: &[TableColumn],
) -> Result<Typed, Fault> {
    let registers = Registers { first: 0, count: columns.len() };
    binder.value_of_row(table, columns, registers, expr)
}

/// Binds a CHECK condition, to report its errors.
///
/// # Errors
/// Names, types; 1046 for a subquery, 423 for a method of xml.
pub(crate) fn table_condition(
    condition: &tree::Condition,
    table: &str,
    columns: &[TableColumn],
    names: &Names<'_>,
) -> Result<(), Fault> {
    let mut binder = Binder::new(names, columns.len());
    let registers = Registers { first: 0, count: columns.len() };
    binder.of_row(table, columns, registers, |binder| binder.condition(condition))?;
    if binder.calls_methods {
        return Err(Box::new(SqlError::xml_method_in_check(table)));
    }
    Ok(())
}

/// The columns that the text of a condition or of an expression in a table's definition reads.
///
/// # Errors
/// As [`table_condition`].
pub(crate) fn reads_columns(
    text: &str,
    is_condition: bool,
    columns: &[TableColumn],
    names: &Names<'_>,
) -> Result<Vec<usize>, Fault> {
    let mut binder = Binder::new(names, columns.len());
    let registers = Registers { first: 0, count: columns.len() };
    let mut read = Vec::new();
    let mut visit = |slot: usize| {
        if slot < columns.len() && !read.contains(&slot) {
            read.push(slot);
        }
    };
    if is_condition {
        let condition = parsed_condition(text)?;
        let (bound, calls) = binder.of_row("", columns, registers, |binder| binder.condition(&condition))?;
        bound.visit_slots(&mut visit);
        for call in &calls {
            if let Node::Call { arguments, .. } = &call.subquery {
                arguments.iter().for_each(|argument| argument.visit_slots(&mut visit));
            }
        }
    } else {
        let expr = parsed_expression(text)?;
        let bound = binder.value_of_row("", columns, registers, &expr)?;
        bound.expr.visit_slots(&mut visit);
    }
    Ok(read)
}

/// Nobody but system versioning writes into a history.
fn of_history(table: &Table, verb: &str) -> Result<(), Fault> {
    if !table.engine.is_history() {
        return Ok(());
    }
    let history = &table.display;
    Err(Box::new(match verb {
        "INSERT" => SqlError::history_not_inserted(history),
        "UPDATE" => SqlError::history_not_updated(history),
        "DELETE" => SqlError::history_not_deleted(history),
        _ => SqlError::history_not_merged(history),
    }))
}

impl PeriodRule {
    /// That of a table, if it has a period.
    fn of(table: &Table) -> Option<PeriodRule> {
        let (start, end) = table.engine.period()?;
        Some(PeriodRule { start, end, scale: table.columns[start].ty.scale() })
    }
}

pub(super) fn parsed_expression(text: &str) -> Result<tree::Expr, Fault> {
    tree::parse_expression(text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))
}

/// A condition stands in no expression: it is parsed where one can stand.
fn parsed_condition(text: &str) -> Result<tree::Condition, Fault> {
    let statement = format!("IF {text} RETURN");
    let batch = tree::parse(&statement).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
    match batch.statements.into_iter().next().map(|statement| statement.kind) {
        Some(tree::StatementKind::If(branch)) => Ok(branch.condition),
        _ => Err(Box::new(SqlError::incorrect_syntax(text))),
    }
}

impl Binder<'_> {
    /// The value of a column that is computed whenever it is read: its expression over the row of its source.
    pub(super) fn computed_when_read(&mut self, found: &Column, text: &str) -> Result<Typed, Fault> {
        let source = &self.scopes[found.level].sources[found.source];
        let (alias, registers) = (source.alias.clone(), source.registers);
        let columns: Vec<TableColumn> = source.columns.iter().map(TableColumn::of_source).collect();
        let expr = parsed_expression(text)?;
        let typed = self.value_of_row(&alias, &columns, registers, &expr)?;
        let value = assign_to(typed, &found.ty, found.collated.shown(), None)?;
        let mut read = Vec::new();
        value.visit_slots(&mut |slot| read.push(slot));
        for slot in read {
            let index = slot.wrapping_sub(registers.first);
            if let Some(used) = self.scopes[found.level].sources[found.source].used.get_mut(index) {
                *used = true;
            }
        }
        Ok(Typed::new(value, found.ty, true).collated(found.collated))
    }

    /// Binds an expression of one row that can be evaluated at once.
    fn value_of_row(
        &mut self,
        table: &str,
        columns: &[TableColumn],
        registers: Registers,
        expr: &tree::Expr,
    ) -> Result<Typed, Fault> {
        let outside = std::mem::replace(&mut self.in_computed, true);
        let bound = self.of_row(table, columns, registers, |binder| binder.expr(expr));
        self.in_computed = outside;
        let (typed, calls) = bound?;
        if calls.is_empty() {
            return Ok(typed);
        }
        Err(crate::errors::unsupported("A computed column that calls a function of several statements"))
    }

    /// Binds something that sees the columns of one row of a table and nothing else, and the functions that it calls.
    fn of_row<T>(
        &mut self,
        table: &str,
        columns: &[TableColumn],
        registers: Registers,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<(T, Vec<PendingApply>), Fault> {
        let scopes = std::mem::take(&mut self.scopes);
        let outside = std::mem::take(&mut self.pending);
        self.scopes.push(Scope { clause: Clause::Definition, ..Scope::default() });
        let seen = columns.iter().map(|column| SourceColumn {
            collated: column.collated,
            ..SourceColumn::new(&column.name, column.ty, column.nullable)
        });
        let seen = seen.collect();
        self.add_source(table, seen, registers);
        let bound = bind(self);
        self.scopes = scopes;
        let calls = std::mem::replace(&mut self.pending, outside);
        let bound = bound?;
        if !calls.iter().all(PendingApply::is_call) {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        Ok((bound, calls))
    }

    /// The rules that a statement has to keep; None: there are none.
    pub(super) fn rules(&mut self, action: &Action) -> Option<Arc<Rules>> {
        let (table, verb, changed) = match action {
            Action::Insert(insert) => (&insert.table, "INSERT", None),
            Action::Update(update) => {
                let changed: Vec<usize> = update.assignments.iter().map(|(column, _)| *column).collect();
                (&update.changed.table, "UPDATE", Some(changed))
            }
            Action::Delete(delete) => (&delete.changed.table, "DELETE", None),
            Action::Change(change) => {
                let verb = match change.kind {
                    DoneKind::Update => "UPDATE",
                    DoneKind::Delete => "DELETE",
                    _ => "MERGE",
                };
                (&change.table, verb, change.updates_alone())
            }
            Action::Select { .. } | Action::Assign { .. } | Action::Instead(_) => return None,
        };
        let table = Arc::clone(table);
        self.rules_of(&table, verb, changed.as_deref())
    }

    /// The rules for an INSERT, UPDATE (of the columns `changed`), DELETE or MERGE of rows of `table`.
    pub(crate) fn rules_of(
        &mut self,
        table: &Arc<Table>,
        verb: &'static str,
        changed: Option<&[usize]>,
    ) -> Option<Arc<Rules>> {
        let (database, qualified) = (table.database.clone(), table.qualified_name());
        let mut rules = Rules { verb, database, table: qualified, ..Rules::default() };
        let writes = verb != "DELETE";
        let view = self.catalog().of_table(table);
        let catalog = Arc::clone(&view.catalog);
        rules.fault = of_history(table, verb).err();
        rules.is_of_history = rules.fault.is_some();
        let period = PeriodRule::of(table);
        if let (Some(period), Some(history)) = (period, table.engine.history().filter(|_| verb != "INSERT"))
            && let Some(history) = catalog.table_by_id(history)
        {
            let of = table.display.clone();
            rules.history = Some(HistoryRule { table: view.reached(history), period, of });
        }
        if writes && rules.fault.is_none() {
            rules.period = period;
            rules.registers = self.registers(table.columns.len());
            let rowversion = table.columns.iter().position(|column| column.rowversion);
            rules.rowversion = rowversion.filter(|_| !self.keeps_row_versions);
            rules.fault = self.in_catalog(view.clone(), |binder| binder.row_rules(table, &mut rules)).err();
        }
        let computed: Vec<usize> = rules.computed.iter().map(|(column, _)| *column).collect();
        let is_changed =
            |column: &usize| changed.is_none_or(|changed| changed.contains(column)) || computed.contains(column);
        if writes && !self.passes_constraints {
            for key in
                table.engine.foreign_keys.iter().filter(|key| !key.disabled && key.columns.iter().any(is_changed))
            {
                let Some(target) = catalog.table_by_id(key.referenced) else { continue };
                rules.references.push(ReferenceRule {
                    name: key.name.clone(),
                    columns: key.columns.clone(),
                    target: view.reached(target),
                    target_columns: key.referenced_columns(target),
                    same_table: key.referenced == table.object_id,
                });
            }
        }
        if verb != "INSERT" && !table.is_temporary() {
            for (source, key) in catalog.references_to(table.object_id) {
                let columns = key.referenced_columns(&table.engine);
                if key.disabled || (writes && !columns.iter().any(is_changed)) {
                    continue;
                }
                rules.referenced.push(ReferencedRule {
                    name: key.name.clone(),
                    columns,
                    own: Arc::clone(&table.engine),
                    source: view.reached(source),
                    source_columns: key.columns.clone(),
                    on_delete: key.on_delete,
                    on_update: key.on_update,
                    same_table: source.object_id == table.object_id,
                });
            }
        }
        if rules.fault.is_none() {
            match self.in_catalog(view, |binder| binder.block_rules(table)) {
                Ok(blocks) => rules.blocks = blocks,
                Err(fault) => rules.fault = Some(fault),
            }
        }
        let is_checked = !rules.checks.is_empty() || !rules.check_options.is_empty() || !rules.blocks.is_empty();
        let is_temporal = rules.period.is_some() || rules.history.is_some();
        let has_row_rules = rules.rowversion.is_some() || !rules.computed.is_empty() || is_checked || is_temporal;
        (has_row_rules || rules.has_late() || rules.fault.is_some()).then(|| Arc::new(rules))
    }

    fn row_rules(&mut self, table: &Table, rules: &mut Rules) -> Result<(), Fault> {
        let columns = TableColumn::all(&table.engine);
        let registers = rules.registers;
        for (place, column) in table.engine.columns.iter().enumerate() {
            let Some(computed) = column.computed.as_ref().filter(|computed| !computed.when_read) else { continue };
            let expr = parsed_expression(&computed.text)?;
            let typed = self.value_of_row(&table.name, &columns, registers, &expr)?;
            let value: Expr = super::modify::column_value(table, place, typed)?;
            rules.computed.push((place, value));
        }
        let checked = !self.passes_constraints;
        let schema = self.catalog().catalog.schema_by_id(table.engine.schema_id);
        let owner = schema.filter(|_| !table.is_temporary()).map(|schema| schema.owner);
        let mut calls = Vec::new();
        for check in table.engine.checks.iter().filter(|check| checked && !check.disabled) {
            let condition = parsed_condition(&check.text)?;
            // Who may change the table's rows may have them checked by what its owner has.
            let (condition, called) = self.in_view_of(owner, |binder| {
                binder.of_row(&table.name, &columns, registers, |binder| binder.condition(&condition))
            })?;
            let mut read = Vec::new();
            let mut visit = |slot: usize| {
                if registers.range().contains(&slot) && !read.contains(&slot) {
                    read.push(slot);
                }
            };
            condition.visit_slots(&mut visit);
            for call in &called {
                if let Node::Call { arguments, .. } = &call.subquery {
                    arguments.iter().for_each(|argument| argument.visit_slots(&mut visit));
                }
            }
            calls.extend(called);
            let column = match read.as_slice() {
                [slot] => Some(table.columns[slot - registers.first].name.clone()),
                _ => None,
            };
            rules.checks.push(CheckRule { name: check.name.clone(), condition, column });
        }
        for option in std::mem::take(&mut self.check_options) {
            let named = option.columns(&columns);
            let (bound, called) =
                self.of_row(&option.alias, &named, registers, |binder| binder.condition(&option.condition))?;
            rules.check_options.push(bound);
            calls.extend(called);
        }
        if !calls.is_empty() {
            rules.calls = Some(applied(Node::One, calls));
        }
        Ok(())
    }
}
