//! INSERT, UPDATE, DELETE.

use std::sync::Arc;

use super::change::NewValue;
use super::hint::{check_index_hints, check_memory_hints, hints_of, read_hints, target_hints};
use super::insert_values::{check_given, check_identity};
use super::join::{JoinTree, Leaf};
use super::output::OutputRows;
use super::query::cut;
use super::scope::{Clause, SourceColumn};
use super::source::table_columns;
use super::typed::Typed;
use super::{Binder, Bound, PendingApply, Scope, assign_to, conjuncts};
use crate::access::Table;
use crate::errors;
use crate::expression::{Expr, Fault, Integer, Predicate};
use crate::output::CapturedRows;
use crate::output::{ColumnInfo, DecimalName};
use crate::plan::{
    Action, Changed, ColumnSource, Delete, Insert, More, Node, OutputPlan, RowCodeCell, RowSubqueries, Statement,
    TopCount, Update, WideTop,
};
use crate::program::InsertCaptured;
use pikepole_engine::{LockMode, Permission, TriggerEvent};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType, Value};

/// A table-valued parameter can only be read.
pub(super) fn check_writable(table: &Table, name: &tree::ObjectName) -> Result<(), Fault> {
    if table.readonly {
        return Err(Box::new(SqlError::read_only_table_parameter(&name.name.text)));
    }
    Ok(())
}

impl Binder<'_> {
    /// The table that a statement changes.
    pub(super) fn target(&self, target: &tree::Target) -> Result<Arc<Table>, Fault> {
        match target {
            tree::Target::Table { name, .. } => self.target_table(name),
            tree::Target::Variable(name) => self.target_table(&tree::ObjectName::of(name.clone())),
            tree::Target::Function(_) => Err(errors::unsupported("A rowset function as a target")),
        }
    }

    pub(crate) fn target_table(&self, name: &tree::ObjectName) -> Result<Arc<Table>, Fault> {
        if self.names_transition(name).is_some() {
            return Err(Box::new(SqlError::transition_table_not_updatable()));
        }
        if let Some(table) = self.catalog().table(name)? {
            check_writable(&table, name)?;
            return Ok(table);
        }
        if name.name.text.starts_with('@') {
            return Err(Box::new(SqlError::table_variable_not_declared(&name.name.text)));
        }
        if self.catalog().view(name)?.is_some() {
            return Err(errors::unsupported("Changing rows through a view"));
        }
        let virtual_table = self.names.host.virtual_table(name.schema_str(), &name.name.text);
        Err(Box::new(if virtual_table.is_some() {
            SqlError::system_catalog_update()
        } else {
            SqlError::invalid_object(name.dotted())
        }))
    }

    /// The lock that the hints of an INSERT ask for on the whole table, and the level in one in memory.
    ///
    /// # Errors
    /// As of [`check_memory_hints`] and [`read_hints`].
    fn table_lock(&mut self, target: &tree::Target, table: &Table) -> Result<(), Fault> {
        let tree::Target::Table { hints, .. } = target else {
            return Ok(());
        };
        check_memory_hints(table, hints)?;
        self.memory_level = hints_of(table, read_hints(hints)?).memory;
        let has = |name: &str| hints.iter().any(|hint| hint.name == name);
        self.table_lock = match (has("TABLOCKX"), has("TABLOCK")) {
            (true, _) => Some(LockMode::X),
            (false, true) => Some(bulk_lock(table)),
            (false, false) => None,
        };
        Ok(())
    }

    /// An INSERT whose rows are VALUES or a query.
    pub(crate) fn insert_statement(mut self, insert: &tree::Insert) -> Result<Arc<Statement>, Fault> {
        self.plan_hints(&insert.options)?;
        if let Some((name, trigger)) = self.stand_in(&insert.target, &[], TriggerEvent::Insert)? {
            self.push_insert_scope(insert)?;
            return self.insert_instead(insert, &name, trigger);
        }
        let (table, names) = self.insert_target(insert)?;
        self.table_lock(&insert.target, &table)?;
        self.fills = true;
        self.push_insert_scope(insert)?;
        self.options(&insert.options)?;
        self.allow_numbers(if matches!(insert.source, tree::InsertSource::Query(_)) { 2 } else { 1 });
        if !insert.columns.is_empty() {
            check_given(&table, &names, &insert.source)?;
        }
        let columns = self.insert_columns(&table, &names)?;
        let inserted = self.inserted_registers(insert.output.as_ref(), &table);
        let rows = OutputRows { inserted, ..OutputRows::default() };
        let output = self.output_clause(insert.output.as_ref(), &Arc::clone(&table), rows)?;
        match &insert.source {
            tree::InsertSource::Values(rows) => {
                // A rowversion column has its place among the values without a list of columns: DEFAULT stands there.
                let takes = |column: &usize| {
                    let own = &table.columns[*column];
                    columns.contains(column) || names.is_empty() && own.rowversion && !own.hidden
                };
                let columns: Vec<usize> = match names.is_empty() {
                    true => (0..table.columns.len()).filter(takes).collect(),
                    false => columns,
                };
                self.insert_values(insert, table, &columns, rows, output)
            }
            tree::InsertSource::DefaultValues => {
                let row = self.complete(&table, &[], Vec::new())?;
                let source = self.place_pending(0, Node::One);
                self.insert_plan(source, table, vec![row], output)
            }
            tree::InsertSource::Query(query) => {
                self.options(&query.options)?;
                self.plan_hints(&query.options)?;
                Self::refuse_for(query, "INSERT")?;
                let bound = self.query(query)?;
                check_identity(names.is_empty(), &table, &columns, bound.values.len())?;
                if insert.columns.is_empty() {
                    check_count(true, columns.len(), bound.values.len())?;
                }
                self.insert_rows(insert.top.as_ref(), table, &columns, bound, output)
            }
            tree::InsertSource::Execute(_) => Err(errors::unsupported("INSERT ... EXEC here")),
        }
    }

    fn push_insert_scope(&mut self, insert: &tree::Insert) -> Result<(), Fault> {
        let body = match &insert.source {
            tree::InsertSource::Query(query) => Some(&query.body),
            _ => None,
        };
        let common = self.with_clause(&insert.with, body)?;
        self.scopes.push(Scope { common, ..Scope::default() });
        Ok(())
    }

    /// The INSERT of rows that are there already.
    pub(crate) fn insert_kept(
        mut self,
        insert: &InsertCaptured,
        results: Vec<CapturedRows>,
    ) -> Result<Arc<Statement>, Fault> {
        let table = self.target_table(&insert.table)?;
        self.require(Permission::Insert, &insert.table)?;
        self.passes_triggers = !insert.options.fires_triggers;
        if !insert.options.checks_constraints && table.engine.has_constraints() {
            // Whoever may not switch constraints off cannot write past them either.
            self.require(Permission::Alter, &insert.table)?;
            self.passes_constraints = true;
        }
        self.scopes.push(Scope::default());
        if insert.options.locks_table {
            self.table_lock = Some(bulk_lock(&table));
        }
        let columns = self.insert_columns(&table, &insert.columns)?;
        let mut bound = Vec::with_capacity(results.len());
        for result in results {
            bound.push(self.kept_rows(insert, &table, &columns, result)?);
        }
        let bound = match bound.len() {
            1 => bound.remove(0),
            _ => self.kept_together(&table, &columns, bound)?,
        };
        self.insert_rows(None, table, &columns, bound, None)
    }

    /// The rows of one result.
    fn kept_rows(
        &mut self,
        insert: &InsertCaptured,
        table: &Table,
        columns: &[usize],
        CapturedRows { columns: mut infos, rows }: CapturedRows,
    ) -> Result<Bound, Fault> {
        if infos.is_empty() && rows.is_empty() {
            // A call that returns no rows at all.
            infos.resize(columns.len(), ColumnInfo::new("", SqlType::Null, true));
        }
        let registers = self.registers(infos.len());
        if infos.len() != columns.len() {
            return Err(Box::new(SqlError::values_do_not_match_table()));
        }
        let mut values = registers.range().map(Expr::Slot).collect::<Vec<_>>();
        // Values are converted as they come: a column without any but NULL goes into one of each type.
        for (at, info) in infos.iter_mut().enumerate() {
            if rows.iter().all(|row| row.get(at).is_none_or(Value::is_null)) {
                info.ty = SqlType::Null;
            }
        }
        for (at, &column) in columns.iter().enumerate() {
            if insert.options.keeps_nulls || table.columns[column].default.is_none() {
                continue;
            }
            let given = Typed::new(values[at].clone(), infos[at].ty, infos[at].nullable);
            let given = column_value(table, column, given)?;
            values[at] = Expr::Coalesce(Box::new([given, self.default_value(table, column)?]));
            infos[at].ty = table.columns[column].ty;
        }
        Ok(Bound { node: Node::Kept { rows: Arc::new(rows), registers }, columns: infos, values })
    }

    /// The rows of several results whose columns are of different types, as what the table's columns are.
    fn kept_together(&mut self, table: &Table, columns: &[usize], results: Vec<Bound>) -> Result<Bound, Fault> {
        let mut inputs = Vec::with_capacity(results.len());
        for result in results {
            let given = result.values.into_iter().zip(&result.columns).zip(columns);
            let row = given
                .map(|((value, info), column)| column_value(table, *column, Typed::new(value, info.ty, info.nullable)));
            inputs.push((result.node, row.collect::<Result<Vec<_>, Fault>>()?));
        }
        let registers = self.registers(columns.len());
        let info = |column: &usize| ColumnInfo::new("", table.columns[*column].ty, true);
        Ok(Bound {
            node: Node::Concat { inputs, registers },
            columns: columns.iter().map(info).collect(),
            values: registers.range().map(Expr::Slot).collect(),
        })
    }

    pub(crate) fn insert_rows(
        mut self,
        top: Option<&tree::Top>,
        table: Arc<Table>,
        columns: &[usize],
        bound: Bound,
        output: Option<OutputPlan>,
    ) -> Result<Arc<Statement>, Fault> {
        if bound.values.len() < columns.len() {
            return Err(Box::new(SqlError::insert_select_fewer_items()));
        }
        if bound.values.len() > columns.len() {
            return Err(Box::new(SqlError::insert_select_more_items()));
        }
        if !self.keeps_row_versions {
            columns.iter().try_for_each(|column| takes_values(&table, *column))?;
        }
        let mut values = Vec::with_capacity(columns.len());
        for ((value, info), column) in bound.values.into_iter().zip(&bound.columns).zip(columns) {
            let typed = Typed::new(value, info.ty, info.nullable);
            values.push(Some(column_value(&table, *column, typed)?));
        }
        let row = self.complete(&table, columns, values)?;
        let source = match top {
            None => bound.node,
            Some(top) if top.percent && !top.with_ties => {
                let count = TopCount::Percent(self.percent(&top.count)?);
                let top = WideTop { input: bound.node, count, ties: Vec::new(), carry: slots_of(&row) };
                Node::More(Box::new(More::Top(top)))
            }
            Some(top) => cut(bound.node, None, Some(self.top_count(top)?)),
        };
        let source = self.counted(source);
        let source = self.place_pending(0, source);
        let source =
            if self.calls_function(&source) || scans(&source, &table) { collected(source, &row) } else { source };
        self.insert_plan(source, table, vec![row], output)
    }

    fn top_count(&mut self, top: &tree::Top) -> Result<Integer, Fault> {
        if top.with_ties {
            return Err(Box::new(SqlError::incorrect_syntax("TIES")));
        }
        self.row_count(&top.count)
    }

    pub(super) fn insert_plan(
        self,
        source: Node,
        table: Arc<Table>,
        rows: Vec<Vec<ColumnSource>>,
        output: Option<OutputPlan>,
    ) -> Result<Arc<Statement>, Fault> {
        let insert = Insert { output, ..self.insert_of(table, rows) };
        Ok(Arc::new(self.finish(source, Action::Insert(Box::new(insert)))))
    }

    /// The INSERT of rows with these sources.
    pub(super) fn insert_of(&self, table: Arc<Table>, mut rows: Vec<Vec<ColumnSource>>) -> Insert {
        let mut template = vec![Value::Null; table.columns.len()];
        if let [row] = rows.as_mut_slice() {
            let places = template.iter_mut().zip(&table.columns);
            for (column, (place, info)) in row.iter_mut().zip(places) {
                if let ColumnSource::Value(Expr::Const(value)) = column {
                    place.clone_from(value);
                    *column = ColumnSource::Template;
                }
                // Rows are stored without trailing blanks: there is no need to look for those of a constant each time.
                if let Value::Str(text) = place {
                    let padded = matches!(info.ty, SqlType::Char(_) | SqlType::NChar(_));
                    text.truncate(if padded { text.trim_end_matches(' ').len() } else { text.len() });
                }
            }
        }
        // A constant that is NULL is refused when the statement runs.
        let may_be_null = |column: usize| template[column].is_null() && !table.columns[column].nullable;
        let required = (0..table.columns.len()).filter(|column| may_be_null(*column)).collect();
        let explicit_identity =
            table.identity.filter(|identity| rows.iter().any(|row| !matches!(row[*identity], ColumnSource::Identity)));
        let (table_lock, memory_level, fills) = (self.table_lock, self.memory_level, self.fills);
        let code = RowCodeCell::default();
        Insert {
            table,
            rows,
            template,
            required,
            explicit_identity,
            table_lock,
            memory_level,
            fills,
            output: None,
            code,
        }
    }

    /// The columns that values are given for, in the order of the values.
    pub(super) fn insert_columns(&self, table: &Table, names: &[tree::Name]) -> Result<Vec<usize>, Fault> {
        let identity_insert = self.names.identity_insert == Some(table.identity_key(self.names.catalog.database.id()));
        if names.is_empty() {
            if identity_insert && let Some(_) = table.identity {
                return Err(Box::new(SqlError::identity_needs_column_list(table.qualified_name())));
            }
            let takes = |column: &usize| {
                let own = &table.columns[*column];
                table.identity != Some(*column) && !own.computed && !own.rowversion && !own.hidden
            };
            return Ok((0..table.columns.len()).filter(takes).collect());
        }
        let mut columns = Vec::with_capacity(names.len());
        for name in names {
            let column =
                table.column(&name.text).ok_or_else(|| SqlError::invalid_column(&name.text).at_line(name.span.line))?;
            if columns.contains(&column) {
                return Err(Box::new(SqlError::column_set_twice(&name.text)));
            }
            // Whoever asks for types may switch it on before the statement runs.
            let is_given = identity_insert || self.names.undeclared.is_some();
            if table.identity == Some(column) && !is_given {
                return Err(Box::new(SqlError::identity_insert_off(&table.name)));
            }
            if table.columns[column].computed {
                return Err(Box::new(SqlError::column_cannot_be_modified(&table.columns[column].name)));
            }
            columns.push(column);
        }
        if identity_insert
            && let Some(identity) = table.identity
            && !columns.contains(&identity)
        {
            return Err(Box::new(SqlError::identity_value_needed(&table.name)));
        }
        Ok(columns)
    }

    /// A source for every column of the table: the values given, identity values, defaults, NULL.
    pub(super) fn complete(
        &mut self,
        table: &Table,
        columns: &[usize],
        values: Vec<Option<Expr>>,
    ) -> Result<Vec<ColumnSource>, Fault> {
        let mut row: Vec<Option<ColumnSource>> = table.columns.iter().map(|_| None).collect();
        for (column, value) in columns.iter().zip(values) {
            row[*column] = value.map(ColumnSource::Value);
        }
        let mut complete = Vec::with_capacity(row.len());
        for (column, source) in row.into_iter().enumerate() {
            complete.push(match source {
                Some(source) => source,
                None if table.identity == Some(column) => ColumnSource::Identity,
                None => ColumnSource::Value(self.default_value(table, column)?),
            });
        }
        Ok(complete)
    }

    /// The value of a column's DEFAULT, or NULL.
    pub(super) fn default_value(&mut self, table: &Table, column: usize) -> Result<Expr, Fault> {
        let Some(text) = &table.columns[column].default else {
            return Ok(Expr::NULL);
        };
        let expr = tree::parse_expression(text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
        let scopes = std::mem::take(&mut self.scopes);
        let depth = self.numbers.depth.replace(0);
        // Who may insert into a table may have its defaults, when they are made of what its owner has.
        let catalog = self.catalog().of_table(table);
        let schema = catalog.catalog.schema_by_id(table.engine.schema_id);
        let owner = schema.filter(|_| !table.is_temporary()).map(|schema| schema.owner);
        let typed = self.in_view_of(owner, |binder| binder.in_catalog(catalog, |binder| binder.default_expr(&expr)));
        self.numbers.depth = depth;
        self.scopes = scopes;
        column_value(table, column, typed?)
    }

    /// The expression of a DEFAULT.
    pub(crate) fn default_expr(&mut self, expr: &tree::Expr) -> Result<Typed, Fault> {
        self.whole_default = matches!(&expr.kind, tree::ExprKind::Function(call) if call.arguments.is_empty());
        let typed = self.expr(expr);
        self.whole_default = false;
        typed
    }

    /// An UPDATE.
    pub(crate) fn update_statement(mut self, update: &tree::Update) -> Result<Arc<Statement>, Fault> {
        if let Some((target, from)) = super::target::variable_as_table(&update.target, &update.from) {
            return self.update_statement(&tree::Update { target, from, ..update.clone() });
        }
        self.plan_hints(&update.options)?;
        self.push_change_scope(&update.with)?;
        if let Some((name, trigger)) = self.stand_in(&update.target, &update.from, TriggerEvent::Update)? {
            return self.update_instead(update, &name, trigger);
        }
        let wide = update.top.as_ref().is_some_and(is_wide);
        let current = super::current::cursor_of(update.filter.as_ref()).is_some();
        if wide || current || self.reserves_virtual() || !self.is_plain_target(&update.target, &update.from)? {
            return self.joined_update(update);
        }
        let (table, tree) = self.modified(&update.target, &update.from)?;
        let (conditions, top) = self.modified_conditions(update.filter.as_ref(), update.top.as_ref())?;
        let mut assignments: Vec<(usize, Expr)> = Vec::new();
        let mut variables = Vec::new();
        let mark = self.pending.len();
        self.scope().clause = Clause::Set;
        self.allow_numbers(1);
        for assignment in &update.assignments {
            self.set_assignment(&table, assignment, &mut assignments, &mut variables)?;
        }
        self.reads_target |= update.output.is_some();
        let set_columns = assignments.iter().map(|(column, _)| (*column, table.columns[*column].name.as_str()));
        let reads =
            self.require_changed(Permission::Update, &update.target, &update.from, Some(set_columns.collect()))?;
        let moves = |column: usize| table.key.iter().any(|key| key.column == column);
        let made = |column: usize| table.columns[column].computed || table.columns[column].generated;
        let moves_key = assignments.iter().any(|(column, _)| moves(*column))
            || (0..table.columns.len()).any(|column| made(column) && moves(column));
        let set = self.pending.split_off(mark);
        let deleted = Some(self.scope().sources[0].registers);
        let inserted = self.inserted_registers(update.output.as_ref(), &table);
        if let Some(inserted) = inserted {
            let names = self.scope().sources[0].names();
            self.watch(inserted, reads, names);
        }
        let rows = OutputRows { inserted, deleted, ..OutputRows::default() };
        let output = self.output_clause(update.output.as_ref(), &Arc::clone(&table), rows)?;
        // A row that moves must not be found again where it has moved to.
        let collects = moves_key || table.key.is_empty();
        let (source, mut changed) = self.modified_rows(Arc::clone(&table), tree, conditions, top, set, collects);
        changed.collects |= is_read_by(&source, &table, &|column| {
            let own = &table.columns[column];
            own.computed || own.generated || assignments.iter().any(|(assigned, _)| *assigned == column)
        });
        let action = Action::Update(Box::new(Update { changed, assignments, variables, output }));
        Ok(Arc::new(self.finish(source, action)))
    }

    fn set_assignment(
        &mut self,
        table: &Table,
        assignment: &tree::Assignment,
        assignments: &mut Vec<(usize, Expr)>,
        variables: &mut Vec<(usize, Expr)>,
    ) -> Result<(), Fault> {
        let (column, op, value) = match assignment {
            tree::Assignment::Variable { variable, op, value } => {
                variables.push(self.assignment(&variable.text, *op, value)?);
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
        let find = |name: &tree::Name| {
            let found = table.column(&name.text);
            found.ok_or_else(|| Box::new(SqlError::invalid_column(&name.text)))
        };
        let (index, value) = super::change::assigned(column, op, value, (&self.scope().sources[0], table), find)?;
        if assignments.iter().any(|(column, _)| *column == index) {
            return Err(Box::new(SqlError::column_set_twice(&column.name.text)));
        }
        if table.identity == Some(index) {
            return Err(Box::new(SqlError::identity_not_updatable(&column.name.text)));
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
        let expr = match value {
            NewValue::Default => self.default_value(table, index)?,
            NewValue::Method(method, arguments) => {
                let old = self.target_column(index);
                let value = self.written(table, index, old, (method, arguments))?;
                column_value(table, index, value)?
            }
            NewValue::Property(property, value) => {
                let old = self.target_column(index);
                let value = self.with_property(old, &table.columns[index].name, property, value)?;
                column_value(table, index, value)?
            }
            NewValue::Expr(value) => {
                let value = self.expr(value)?;
                let value = match super::query::binary_of(op) {
                    None => value,
                    Some(op) => {
                        let old = self.target_column(index);
                        super::expression::binary_value(op, old, value)?
                    }
                };
                column_value(table, index, value)?
            }
        };
        if let tree::Assignment::Both { variable, .. } = assignment {
            let (slot, ty) = self.variable(&variable.text)?;
            let column = &table.columns[index];
            let typed = Typed::new(expr.clone(), column.ty, true).collated(column.collated());
            variables.push((slot, assign_to(typed, &ty, self.collation(), None)?));
        }
        assignments.push((index, expr));
        Ok(())
    }

    /// The present value of a column of the table that is changed.
    fn target_column(&mut self, index: usize) -> Typed {
        self.reads_target = true;
        let source = &mut self.scope().sources[0];
        source.used[index] = true;
        let info = &source.columns[index];
        let slot = source.registers.first + index;
        let present = Typed::new(Expr::Slot(slot), info.ty, info.nullable).collated(info.collated);
        self.slots_read.insert(slot);
        present
    }

    /// A DELETE.
    pub(crate) fn delete_statement(mut self, delete: &tree::Delete) -> Result<Arc<Statement>, Fault> {
        if let Some((target, from)) = super::target::variable_as_table(&delete.target, &delete.from) {
            return self.delete_statement(&tree::Delete { target, from, ..delete.clone() });
        }
        self.plan_hints(&delete.options)?;
        self.push_change_scope(&delete.with)?;
        if let Some((name, trigger)) = self.stand_in(&delete.target, &delete.from, TriggerEvent::Delete)? {
            return self.delete_instead(delete, &name, trigger);
        }
        let wide = delete.top.as_ref().is_some_and(is_wide);
        let current = super::current::cursor_of(delete.filter.as_ref()).is_some();
        if wide || current || self.reserves_virtual() || !self.is_plain_target(&delete.target, &delete.from)? {
            return self.joined_delete(delete);
        }
        let (table, tree) = self.modified(&delete.target, &delete.from)?;
        let (conditions, top) = self.modified_conditions(delete.filter.as_ref(), delete.top.as_ref())?;
        self.reads_target |= delete.output.is_some();
        self.require_changed(Permission::Delete, &delete.target, &delete.from, None)?;
        let deleted = Some(self.scope().sources[0].registers);
        let rows = OutputRows { deleted, ..OutputRows::default() };
        let output = self.output_clause(delete.output.as_ref(), &Arc::clone(&table), rows)?;
        let (source, changed) = self.modified_rows(table, tree, conditions, top, Vec::new(), false);
        let action = Action::Delete(Box::new(Delete { changed, output }));
        Ok(Arc::new(self.finish(source, action)))
    }

    /// The table that UPDATE or DELETE changes, as the first source of the scope. FROM may name it again, by its alias.
    fn modified(&mut self, target: &tree::Target, from: &[tree::TableSource]) -> Result<(Arc<Table>, JoinTree), Fault> {
        let variable;
        let name = match target {
            tree::Target::Table { name, .. } => name,
            tree::Target::Variable(name) => {
                variable = tree::ObjectName::of(name.clone());
                &variable
            }
            tree::Target::Function(_) => return Err(errors::unsupported("A rowset function as a target")),
        };
        let of_target = match target {
            tree::Target::Table { hints, .. } => hints.as_slice(),
            tree::Target::Variable(_) | tree::Target::Function(_) => &[],
        };
        let mut hints = target_hints(&[], of_target)?;
        let (name, alias) = match from {
            [] => (name, None),
            [tree::TableSource::Table(table)] => {
                hints = target_hints(&table.hints, of_target)?;
                let by_alias =
                    table.alias.as_ref().is_some_and(|alias| name.schema.is_none() && name.name.is(&alias.text));
                let by_name = table.name.name.is(&name.name.text);
                if !by_alias && !by_name {
                    return Err(errors::unsupported("UPDATE or DELETE with a join in FROM"));
                }
                (&table.name, table.alias.as_ref())
            }
            _ => return Err(errors::unsupported("UPDATE or DELETE with a join in FROM")),
        };
        let table = self.target_table(name)?;
        check_index_hints(&table, name, of_target)?;
        check_memory_hints(&table, of_target)?;
        if let [tree::TableSource::Table(own)] = from {
            check_index_hints(&table, name, &own.hints)?;
            check_memory_hints(&table, &own.hints)?;
        }
        let columns: Vec<SourceColumn> = table_columns(&table);
        let registers = self.registers(columns.len());
        let shown = alias.unwrap_or(&name.name);
        self.add_source(&shown.text, columns, registers);
        self.scope().sources[0].virtual_columns = self.virtual_columns();
        self.scope().sources[0].hints = hints_of(&table, hints);
        if alias.is_none() {
            let schema = name.schema_str().unwrap_or("dbo").to_owned();
            self.scope().sources[0].schema = Some(schema);
        }
        self.filter_rows(&table, 0)?;
        Ok((Arc::clone(&table), JoinTree::Leaf(0, Leaf::Table(table))))
    }

    /// The condition of WHERE in parts, and the count of TOP.
    pub(super) fn modified_conditions(
        &mut self,
        filter: Option<&tree::RowFilter>,
        top: Option<&tree::Top>,
    ) -> Result<(Vec<Predicate>, Option<Integer>), Fault> {
        let top = match top {
            None => None,
            Some(top) => Some(self.top_count(top)?),
        };
        let mut conditions = Vec::new();
        match filter {
            None => {}
            // It stands for the only row of the source.
            Some(tree::RowFilter::CurrentOf(_)) => {}
            Some(tree::RowFilter::Condition(condition)) => {
                conjuncts(self.condition(condition)?, &mut conditions);
            }
        }
        Ok((conditions, top))
    }

    /// Whether a plan calls a function of several statements: what that reads is not known.
    fn calls_function(&self, node: &Node) -> bool {
        let mut found = false;
        node.visit_nodes(&mut |node| {
            if let Node::Call { index, .. } | Node::Virtual { index, .. } = node {
                found |= self.virtual_sources[*index].is_function();
            }
        });
        found
    }

    /// The rows to change, with the subqueries of WHERE and those of SET, `set`.
    fn modified_rows(
        &mut self,
        table: Arc<Table>,
        tree: JoinTree,
        conditions: Vec<Predicate>,
        top: Option<Integer>,
        set: Vec<PendingApply>,
        collects: bool,
    ) -> (Node, Changed) {
        let registers = self.scope().sources[0].registers;
        let filters = self.scope().filters.iter().flat_map(|filter| &filter.conditions);
        let recheck = super::conjunction(filters.chain(&conditions).cloned().collect());
        let dependent: Vec<&PendingApply> =
            self.pending.iter().chain(&set).filter(|pending| pending.depends_on_row()).collect();
        // What a function reads is not known: it may be the table.
        let reads = |node: &Node| scans(node, &table) || self.calls_function(node);
        let reads_target = dependent.iter().any(|pending| pending.is_run_anew() && reads(&pending.subquery));
        let (subqueries, before) = if dependent.is_empty() {
            (RowSubqueries::None, set)
        } else if reads_target {
            let kept = registers.range().chain(dependent.iter().map(|pending| pending.slot)).collect();
            (RowSubqueries::Kept(kept), set)
        } else {
            let again = dependent.into_iter().cloned().collect();
            let once = set.into_iter().filter(|pending| !pending.depends_on_row()).collect();
            (RowSubqueries::Again(Box::new(super::applied(Node::One, again))), once)
        };
        let collects = collects || reads_target;
        if reads_target {
            // All columns are compared to find out whether the row has been changed since.
            self.scope().sources[0].used.fill(true);
        }
        let rows = self.rows(Some(tree), conditions);
        let source = super::applied(cut(rows, None, top), before);
        (source, Changed { table, registers, recheck, subqueries, collects })
    }
}

/// The rows of an INSERT that reads the table it fills, or may do so in a function, are all read before the first is inserted.
fn collected(source: Node, row: &[ColumnSource]) -> Node {
    Node::Sort { input: Box::new(source), keys: Vec::new(), carry: slots_of(row) }
}

/// What of a source's rows a row to insert is made of.
fn slots_of(row: &[ColumnSource]) -> Vec<usize> {
    let mut carry = Vec::new();
    for value in row {
        if let ColumnSource::Value(expr) = value {
            expr.visit_slots(&mut |slot| {
                if !carry.contains(&slot) {
                    carry.push(slot);
                }
            });
        }
    }
    carry
}

/// Whether TOP of UPDATE or DELETE says more than a count that is known before the first row is read.
fn is_wide(top: &tree::Top) -> bool {
    let is_known = matches!(top.count.kind, tree::ExprKind::Literal(_) | tree::ExprKind::Variable(_));
    top.percent || top.with_ties || !is_known
}

/// Whether a plan reads a table.
fn scans(node: &Node, table: &Table) -> bool {
    let mut found = false;
    node.visit_scans(&mut |scan| found |= scan.table.object_id == table.object_id);
    found
}

/// Whether a plan reads the table through an index whose key has one of the columns: an entry that moves would be met again.
fn is_read_by(node: &Node, table: &Table, has: &dyn Fn(usize) -> bool) -> bool {
    let mut found = false;
    node.visit_scans(&mut |scan| {
        let id = scan.range.index.or_else(|| scan.narrowed()?.index);
        let index = table.indexes.iter().find(|index| Some(index.id) == id);
        let own = scan.table.object_id == table.object_id;
        found |= own && index.is_some_and(|index| index.key.iter().any(|key| has(key.column)));
    });
    found
}

/// The lock of TABLOCK on a table that is filled. A heap without indexes takes rows of several who load it.
pub(super) fn bulk_lock(table: &Table) -> LockMode {
    let is_plain_heap = table.key.is_empty() && table.indexes.is_empty();
    if is_plain_heap { LockMode::BU } else { LockMode::X }
}

/// # Errors
/// 13536 for a column of a period and 273 for a rowversion: INSERT gives them no value but DEFAULT.
pub(super) fn takes_values(table: &Table, column: usize) -> Result<(), Fault> {
    match &table.columns[column] {
        own if own.generated => Err(Box::new(SqlError::generated_not_insertable(&table.display))),
        own if own.rowversion => Err(Box::new(SqlError::rowversion_not_insertable())),
        _ => Ok(()),
    }
}

/// A value for a column of a table.
pub(super) fn column_value(table: &Table, column: usize, typed: Typed) -> Result<Expr, Fault> {
    let info = &table.columns[column];
    if let (Some(wanted), Some(column)) = (&typed.undeclared, table.engine.columns.get(column)) {
        wanted.by_name(DecimalName::of_column(column));
    }
    assign_to(typed, &info.ty, info.collation, Some((&table.display, &info.name)))
}

pub(super) fn check_count(all_columns: bool, columns: usize, values: usize) -> Result<(), Fault> {
    if columns == values {
        return Ok(());
    }
    Err(Box::new(if all_columns {
        SqlError::values_do_not_match_table()
    } else if columns > values {
        SqlError::more_columns_than_values()
    } else {
        SqlError::fewer_columns_than_values()
    }))
}
