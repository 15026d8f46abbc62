//! OUTPUT of INSERT, UPDATE, DELETE and MERGE.

use super::modify::{column_value, takes_values};
use super::query::{Items, known_type};
use super::scope::{Clause, Source, SourceColumn};
use super::source::{infos, rename, table_columns};
use super::typed::Typed;
use super::virtual_column::VirtualColumns;
use super::{Binder, Scope};
use crate::access::Table;
use crate::expression::{Expr, Fault, Predicate};
use crate::output::ColumnInfo;
use crate::plan::{OutputInto, OutputPlan, Registers, Through};
use pikepole_engine::{Catalog, Permission, ReadHints};
use pikepole_tsql as tree;
use pikepole_types::{Length, SqlError, SqlType};

/// An aggregate where OUTPUT stands.
const AGGREGATE_IN_OUTPUT: i32 = 158;

/// The rows that OUTPUT sees.
#[derive(Default)]
pub(super) struct OutputRows {
    /// The registers of `inserted`.
    pub(super) inserted: Option<Registers>,
    /// The registers of `deleted`.
    pub(super) deleted: Option<Registers>,
    /// The slot of `$action`.
    pub(super) action: Option<usize>,
    /// The other tables of FROM.
    pub(super) others: Vec<Source>,
    /// True when either row may be missing: MERGE.
    pub(super) nullable: bool,
}

/// What is sent to the client, its values, and what goes INTO a table.
type Told = (Vec<ColumnInfo>, Vec<Expr>, Option<OutputInto>);

impl Binder<'_> {
    /// Binds OUTPUT over the rows of `table`.
    pub(super) fn output_clause(
        &mut self,
        clause: Option<&tree::OutputClause>,
        table: &Table,
        rows: OutputRows,
    ) -> Result<Option<OutputPlan>, Fault> {
        let Some(clause) = clause else {
            return Ok(None);
        };
        let OutputRows { inserted, deleted, action, others, nullable } = rows;
        let mut scope = Scope { clause: Clause::Output, barrier: true, ..Scope::default() };
        for (alias, registers) in [("inserted", inserted), ("deleted", deleted)] {
            let Some(registers) = registers else { continue };
            let mut columns: Vec<SourceColumn> = table_columns(table);
            columns.iter_mut().for_each(|column| column.nullable |= nullable);
            let used = vec![true; columns.len()];
            scope.sources.push(Source {
                alias: alias.to_owned(),
                schema: None,
                written: None,
                columns,
                registers,
                used,
                hidden: true,
                located: false,
                virtual_columns: VirtualColumns::None,
                hints: ReadHints::default(),
            });
        }
        if let Some(slot) = action {
            let ty = SqlType::NVarChar(Length::Limit(10));
            scope.sources.push(Source {
                alias: String::new(),
                schema: None,
                written: None,
                columns: vec![SourceColumn::new("$action", ty, false)],
                registers: Registers { first: slot, count: 1 },
                used: vec![true],
                hidden: false,
                located: false,
                virtual_columns: VirtualColumns::None,
                hints: ReadHints::default(),
            });
        }
        scope.sources.extend(others);
        self.scopes.push(scope);
        let bound = self.output_items(clause);
        let scope = self.scopes.pop();
        // The columns of other tables that it reads are read of them.
        for source in scope.into_iter().flat_map(|scope| scope.sources) {
            let own = self.scope().sources.iter_mut().find(|own| own.registers == source.registers);
            if let Some(own) = own {
                own.used.iter_mut().zip(&source.used).for_each(|(own, used)| *own |= used);
            }
        }
        let (columns, values, into) = bound?;
        Ok(Some(OutputPlan { inserted, action, columns, values, into }))
    }

    fn output_items(&mut self, clause: &tree::OutputClause) -> Result<Told, Fault> {
        let mark = self.pending.len();
        let into = match &clause.into {
            None => None,
            Some(into) => Some(self.output_into(into, &clause.into_items)?),
        };
        let items = self.items(&clause.items)?;
        if !items.assignments.is_empty() {
            return Err(Box::new(SqlError::select_assigns_and_returns()));
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_in_output()));
        }
        let values = items.values.into_iter().map(|value| value.expr).collect();
        let mut columns = items.columns;
        columns.iter_mut().for_each(|column| column.ty = known_type(column.ty));
        Ok((columns, values, into))
    }

    fn output_into(&mut self, into: &tree::OutputInto, items: &[tree::SelectItem]) -> Result<OutputInto, Fault> {
        let table = self.target(&into.target)?;
        if let tree::Target::Table { name, .. } = &into.target {
            self.require(Permission::Insert, name)?;
        }
        self.refuse_triggers(&table).map_err(|fault| match into.through {
            Some(_) => Box::new(SqlError::changed_rows_into_triggers(&table.name)),
            None => fault,
        })?;
        refuse_rules(&table, self.catalog().catalog.as_ref(), into.through.is_some())?;
        let mut items = self.items(items)?;
        if !items.assignments.is_empty() {
            return Err(Box::new(SqlError::select_assigns_and_returns()));
        }
        let mut through = None;
        if let Some(changed) = &into.through {
            let (selected, passed) = self.through(changed, items)?;
            (items, through) = (selected, Some(Box::new(passed)));
        }
        let columns = self.insert_columns(&table, &into.columns)?;
        if columns.len() != items.values.len() {
            return Err(Box::new(SqlError::values_do_not_match_table()));
        }
        let mut values = Vec::with_capacity(columns.len());
        for (typed, column) in items.values.into_iter().zip(&columns) {
            takes_values(&table, *column)?;
            values.push(Some(column_value(&table, *column, typed)?));
        }
        let row = self.complete(&table, &columns, values)?;
        let insert = Box::new(self.insert_of(table, vec![row]));
        Ok(OutputInto { insert, through })
    }

    /// The query between what OUTPUT gives and the table of an INSERT.
    fn through(&mut self, changed: &tree::ChangedRows, given: Items) -> Result<(Items, Through), Fault> {
        let mut columns = infos(&given.columns);
        columns.iter_mut().for_each(|column| column.ty = known_type(column.ty));
        rename(&mut columns, &changed.columns, &changed.alias.text)?;
        let registers = self.registers(columns.len());
        let values = registers.range().zip(given.values).map(|(slot, value)| (slot, value.expr)).collect();
        let mark = self.pending.len();
        self.scopes.push(Scope { clause: Clause::Output, barrier: true, ..Scope::default() });
        self.add_source(&changed.alias.text, columns, registers);
        let bound = self.through_clauses(changed).map_err(|fault| match fault.number {
            AGGREGATE_IN_OUTPUT => Box::new(SqlError::aggregate_beside_changed_rows("SELECT or WHERE")),
            _ => fault,
        });
        self.scopes.pop();
        let (items, filter) = bound?;
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_beside_changed_rows("SELECT or WHERE")));
        }
        Ok((items, Through { values, filter }))
    }

    fn through_clauses(&mut self, changed: &tree::ChangedRows) -> Result<(Items, Option<Predicate>), Fault> {
        let items = self.items(&changed.items)?;
        if !items.assignments.is_empty() {
            return Err(Box::new(SqlError::select_assigns_and_returns()));
        }
        let filter = match &changed.filter {
            None => None,
            Some(filter) => Some(self.condition(filter)?),
        };
        Ok((items, filter))
    }

    /// Registers for the new rows of a statement with OUTPUT.
    pub(super) fn inserted_registers(
        &mut self,
        clause: Option<&tree::OutputClause>,
        table: &Table,
    ) -> Option<Registers> {
        clause.map(|_| self.registers(table.columns.len()))
    }
}

/// The value a column has in `registers`.
pub(super) fn column_of(registers: Registers, table: &Table, column: usize) -> Typed {
    let info = &table.columns[column];
    Typed::new(Expr::Slot(registers.first + column), info.ty, info.nullable).collated(info.collated())
}

/// OUTPUT INTO takes no table whose rows have rules beyond their columns' own.
fn refuse_rules(table: &Table, catalog: &Catalog, from_changed: bool) -> Result<(), Fault> {
    let referring = || catalog.references_to(table.object_id).map(|(_, key)| key).next();
    let key = table.engine.foreign_keys.first().or_else(referring);
    if let Some(key) = key {
        if from_changed {
            return Err(Box::new(SqlError::changed_rows_into_referenced(&table.name, &key.name)));
        }
        return Err(Box::new(SqlError::output_into_referenced(&table.name, &key.name)));
    }
    if let Some(check) = table.engine.checks.iter().find(|check| !check.disabled) {
        return Err(Box::new(SqlError::output_into_checked(&table.name, &check.name)));
    }
    if table.engine.is_history() {
        return Err(Box::new(SqlError::history_not_inserted(&table.display)));
    }
    if table.columns.iter().any(|column| column.computed || column.rowversion || column.generated) {
        return Err(crate::errors::unsupported("OUTPUT INTO a table with computed, rowversion or period columns"));
    }
    Ok(())
}
