//! FROM: tables, views, derived tables and joins.

use std::rc::Rc;
use std::sync::Arc;

use super::key_range::key_range;
use super::scope::{CommonTable, Source, SourceColumn};
use super::{Binder, Bound, Scope, VIEW_DEPTH_MAX, conjuncts, filtered};
use crate::access::Table;
use crate::errors;
use crate::expression::{Fault, Integer, Predicate, Width};
use crate::host::VirtualTable;
use crate::output::ColumnInfo;
use crate::plan::{JoinKind, Node, Registers, Scan, Series, VirtualSource};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// More tables than a query may name, as SQL Server has it; also bounds the depth of join trees.
const TABLES_MAX: usize = 256;

/// A source's rows before the conditions are spread over the sources.
pub(crate) enum Leaf {
    Table(Arc<Table>),
    /// Any other rows; the node fills the source's registers.
    Rows(Node),
    /// A query whose values still have to be copied to the source's registers.
    Derived(Bound),
}

/// The joins of FROM.
pub(crate) enum JoinTree {
    /// The index of the source in its scope.
    Leaf(usize, Leaf),
    Join {
        left: Box<JoinTree>,
        right: Box<JoinTree>,
        kind: JoinKind,
        on: Vec<Predicate>,
    },
}

impl Binder<'_> {
    /// Binds FROM: adds the sources to the innermost scope.
    pub(crate) fn from(&mut self, sources: &[tree::TableSource]) -> Result<Option<JoinTree>, Fault> {
        let mut joined: Option<JoinTree> = None;
        for source in sources {
            let right = self.table_source(source)?;
            joined = Some(match joined {
                None => right,
                Some(left) => JoinTree::Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind: JoinKind::Inner,
                    on: Vec::new(),
                },
            });
        }
        Ok(joined)
    }

    fn table_source(&mut self, source: &tree::TableSource) -> Result<JoinTree, Fault> {
        if self.scope().sources.len() >= TABLES_MAX {
            return Err(Box::new(SqlError::new(
                106,
                15,
                1,
                format!("Too many table names in the query. The maximum allowable is {TABLES_MAX}."),
            )));
        }
        match source {
            tree::TableSource::Table(table) => {
                if table.system_time.is_some() || table.sample.is_some() {
                    return Err(errors::unsupported("FOR SYSTEM_TIME or TABLESAMPLE"));
                }
                let (leaf, columns) = self.named(&table.name)?;
                let (alias, schema) = match &table.alias {
                    Some(alias) => (alias.text.clone(), None),
                    None => (table.name.name.text.clone(), Some(table.name.schema_str().unwrap_or("dbo").to_owned())),
                };
                self.add(alias, schema, columns, leaf)
            }
            tree::TableSource::Function(function) => self.table_function(function, false),
            tree::TableSource::Derived(derived) => self.derived(derived, false),
            tree::TableSource::Join(join) => self.join(join),
            tree::TableSource::Variable { name, alias } => {
                let Some(table) = self.names.catalog.table(&tree::ObjectName::of(name.clone()))? else {
                    return Err(Box::new(SqlError::table_variable_not_declared(&name.text)));
                };
                let columns = table_columns(&table);
                let alias = alias.as_ref().unwrap_or(name).text.clone();
                self.add(alias, None, columns, Leaf::Table(table))
            }
            tree::TableSource::Pivot(_) => Err(errors::unsupported("PIVOT")),
            tree::TableSource::Unpivot(_) => Err(errors::unsupported("UNPIVOT")),
        }
    }

    pub(crate) fn add(
        &mut self,
        alias: String,
        schema: Option<String>,
        columns: Vec<SourceColumn>,
        leaf: Leaf,
    ) -> Result<JoinTree, Fault> {
        let registers = match &leaf {
            Leaf::Rows(
                Node::Virtual { registers, .. } | Node::Call { registers, .. } | Node::Values { registers, .. },
            ) => *registers,
            Leaf::Rows(Node::Series(series)) => Registers { first: series.slot, count: 1 },
            _ => self.registers(columns.len()),
        };
        let used = vec![false; columns.len()];
        let scope = self.scope();
        let taken =
            scope.sources.iter().any(|source| source.alias.eq_ignore_ascii_case(&alias) && source.schema == schema);
        if taken {
            return Err(Box::new(SqlError::same_exposed_names(&alias, &alias)));
        }
        scope.sources.push(Source { alias, schema, columns, registers, used });
        let index = scope.sources.len() - 1;
        Ok(JoinTree::Leaf(index, leaf))
    }

    /// What a name in FROM stands for: a common table, a table, a view, or a view of the host.
    fn named(&mut self, name: &tree::ObjectName) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        if name.schema.is_none()
            && name.database.is_none()
            && let Some(common) = self.common_table(&name.name)
        {
            return self.expand_common(&common);
        }
        if let Some(table) = self.names.catalog.table(name)? {
            let columns = table_columns(&table);
            return Ok((Leaf::Table(table), columns));
        }
        if let Some(text) = self.names.catalog.view_text(name)? {
            return self.expand_view(name, &text);
        }
        let schema = name.schema_str();
        let mut found = self.names.host.virtual_table(schema, &name.name.text);
        if let (Some(table), Some(database)) = (&mut found, name.database_str())
            && !database.eq_ignore_ascii_case(self.names.catalog.database.name())
        {
            let unknown = || SqlError::invalid_object(name.dotted());
            table.id = self.names.host.virtual_table_of(table.id, database).ok_or_else(unknown)?;
        }
        match found {
            Some(table) if table.parameters.is_empty() => Ok(self.virtual_leaf(table, Vec::new())),
            Some(table) => Err(Box::new(SqlError::function_parameters_missing(table.name))),
            None => Err(Box::new(SqlError::invalid_object(name.dotted()))),
        }
    }

    fn virtual_leaf(
        &mut self,
        table: VirtualTable,
        arguments: Vec<crate::expression::Expr>,
    ) -> (Leaf, Vec<SourceColumn>) {
        let registers = self.registers(table.columns.len());
        let index = self.virtual_sources.len();
        // What reads nothing but constants and variables is called once, before the statement begins.
        let variables = self.names.variables.len();
        let mut by_row = false;
        arguments.iter().for_each(|argument| argument.visit_slots(&mut |slot| by_row |= slot >= variables));
        let (arguments, node) = if by_row {
            (None, Node::Call { index, arguments, registers })
        } else {
            (Some(arguments), Node::Virtual { index, registers })
        };
        self.virtual_sources.push(VirtualSource { id: table.id, arguments });
        (Leaf::Rows(node), infos(&table.columns))
    }

    fn table_function(&mut self, function: &tree::TableFunction, lateral: bool) -> Result<JoinTree, Fault> {
        let name = &function.call.name;
        if name.schema.is_none() && name.name.is("GENERATE_SERIES") {
            return self.generate_series(function, lateral);
        }
        let Some(table) = self.names.host.virtual_table(name.schema_str(), &name.name.text) else {
            return self.user_table_function(function, lateral);
        };
        if table.parameters.is_empty() {
            return Err(Box::new(SqlError::not_a_function(&name.name.text)));
        }
        // Arguments do not see the siblings in FROM; those at the right side of APPLY do.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let arguments = self.function_arguments(&function.call, &table);
        if !lateral {
            self.scope().sources = sources;
        }
        let arguments = arguments?;
        let alias = match &function.alias {
            Some(alias) => alias.text.clone(),
            None => name.name.text.clone(),
        };
        let (leaf, mut columns) = self.virtual_leaf(table, arguments);
        rename(&mut columns, &function.columns, &alias)?;
        self.add(alias, None, columns, leaf)
    }

    fn generate_series(&mut self, function: &tree::TableFunction, lateral: bool) -> Result<JoinTree, Fault> {
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let arguments = self.series_arguments(&function.call);
        if !lateral {
            self.scope().sources = sources;
        }
        let (ty, mut arguments) = arguments?;
        let Some(width) = Width::of(&ty).filter(|width| *width != Width::Bit) else {
            return Err(errors::unsupported("GENERATE_SERIES of a type that is no integer"));
        };
        let step = arguments.split_off(2).pop();
        let (Some(stop), Some(start)) = (arguments.pop(), arguments.pop()) else {
            return Err(Box::new(too_few_arguments("GENERATE_SERIES")));
        };
        let alias = match &function.alias {
            Some(alias) => alias.text.clone(),
            None => function.call.name.name.text.clone(),
        };
        let mut columns = vec![SourceColumn { name: "value".to_owned(), ty, nullable: false }];
        rename(&mut columns, &function.columns, &alias)?;
        let series = Series { start, stop, step, slot: self.register(), width };
        self.add(alias, None, columns, Leaf::Rows(Node::Series(Box::new(series))))
    }

    /// The arguments of GENERATE_SERIES, which are of one type.
    fn series_arguments(&mut self, call: &tree::FunctionCall) -> Result<(SqlType, Vec<Integer>), Fault> {
        if call.arguments.len() > 3 {
            return Err(Box::new(SqlError::too_many_arguments("GENERATE_SERIES")));
        }
        if call.arguments.len() < 2 {
            return Err(Box::new(too_few_arguments("GENERATE_SERIES")));
        }
        let mark = self.pending.len();
        let mut typed = Vec::new();
        for argument in &call.arguments {
            let expr = argument.expr().ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
            typed.push(self.expr(expr)?);
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        let known = typed.iter().map(|argument| argument.ty).find(|ty| *ty != SqlType::Null);
        let ty = known.unwrap_or(SqlType::Int);
        if typed.iter().any(|argument| argument.ty != ty && argument.ty != SqlType::Null) {
            return Err(Box::new(SqlError::series_types_differ()));
        }
        Ok((ty, typed.into_iter().map(super::typed::Typed::integer).collect()))
    }

    fn function_arguments(
        &mut self,
        call: &tree::FunctionCall,
        table: &VirtualTable,
    ) -> Result<Vec<crate::expression::Expr>, Fault> {
        if call.arguments.len() > table.parameters.len() {
            return Err(Box::new(SqlError::too_many_arguments(&table.name)));
        }
        if call.arguments.len() < table.parameters.len() {
            return Err(Box::new(too_few_arguments(&table.name)));
        }
        let mark = self.pending.len();
        let mut arguments = Vec::new();
        for (argument, ty) in call.arguments.iter().zip(&table.parameters) {
            arguments.push(match argument.expr() {
                None => crate::expression::Expr::NULL,
                Some(expr) => {
                    let typed = self.expr(expr)?;
                    super::assign_to(typed, ty, None)?
                }
            });
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        Ok(arguments)
    }

    fn derived(&mut self, derived: &tree::DerivedTable, lateral: bool) -> Result<JoinTree, Fault> {
        // A derived table does not see its siblings; the right side of APPLY does.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let bound = self.query(&derived.query);
        if !lateral {
            self.scope().sources = sources;
        }
        let bound = bound?;
        let alias = derived.alias.text.clone();
        let mut columns = infos(&bound.columns);
        rename(&mut columns, &derived.columns, &alias)?;
        self.add(alias, None, columns, Leaf::Derived(bound))
    }

    fn join(&mut self, join: &tree::Join) -> Result<JoinTree, Fault> {
        let left = self.table_source(&join.left)?;
        let lateral = matches!(join.kind, tree::JoinKind::CrossApply | tree::JoinKind::OuterApply);
        let right = match &join.right {
            tree::TableSource::Derived(derived) => self.derived(derived, lateral)?,
            tree::TableSource::Function(function) => self.table_function(function, lateral)?,
            other => self.table_source(other)?,
        };
        let mut on = Vec::new();
        if let Some(condition) = &join.on {
            let mark = self.pending.len();
            conjuncts(self.condition(condition)?, &mut on);
            if self.pending.len() > mark {
                return Err(errors::unsupported("A subquery in a join condition"));
            }
        }
        let (left, right, kind) = match join.kind {
            tree::JoinKind::Inner | tree::JoinKind::Cross | tree::JoinKind::CrossApply => {
                (left, right, JoinKind::Inner)
            }
            tree::JoinKind::Left | tree::JoinKind::OuterApply => (left, right, JoinKind::Left),
            tree::JoinKind::Right => (right, left, JoinKind::Left),
            tree::JoinKind::Full => return Err(errors::unsupported("FULL OUTER JOIN")),
        };
        Ok(JoinTree::Join { left: Box::new(left), right: Box::new(right), kind, on })
    }

    fn common_table(&self, name: &tree::Name) -> Option<CommonTable> {
        for scope in self.scopes.iter().rev() {
            let found = scope.common.iter().rev().find(|common| name.is(&common.tree.name.text));
            if let Some(found) = found {
                return Some(found.clone());
            }
            if scope.barrier {
                break;
            }
        }
        None
    }

    fn expand_common(&mut self, common: &CommonTable) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        let table = Rc::clone(&common.tree);
        self.nested(|binder| {
            let mut scope = Scope { barrier: true, ..Scope::default() };
            scope.common = common.earlier();
            binder.scopes.push(scope);
            let bound = binder.query(&table.query);
            binder.scopes.pop();
            let bound = bound?;
            let mut columns = infos(&bound.columns);
            rename(&mut columns, &table.columns, &table.name.text)?;
            Ok((Leaf::Derived(bound), columns))
        })
    }

    fn expand_view(&mut self, name: &tree::ObjectName, text: &str) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        let batch = tree::parse(text).map_err(|error| Box::new(crate::program::syntax_error(&error)))?;
        let Some(tree::StatementKind::CreateView(view)) = batch.statements.first().map(|statement| &statement.kind)
        else {
            return Err(Box::new(SqlError::invalid_object(name.dotted())));
        };
        self.nested(|binder| {
            binder.scopes.push(Scope { barrier: true, ..Scope::default() });
            let bound = binder.query(&view.query);
            binder.scopes.pop();
            let bound = bound?;
            let mut columns = infos(&bound.columns);
            rename(&mut columns, &view.columns, &view.name.name.text)?;
            Ok((Leaf::Derived(bound), columns))
        })
    }

    pub(crate) fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.views >= VIEW_DEPTH_MAX {
            return Err(Box::new(SqlError::nesting_level_exceeded(VIEW_DEPTH_MAX)));
        }
        self.views += 1;
        let result = body(self);
        self.views -= 1;
        result
    }

    /// Turns joins into operators. Conditions go down to the first place where all they read is there; those left in
    /// `conditions` must be tested above.
    pub(crate) fn join_node(
        &mut self,
        tree: JoinTree,
        conditions: &mut Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        match tree {
            JoinTree::Leaf(index, leaf) => {
                let source = self.scope().sources[index].clone();
                self.leaf_node(&source, leaf, conditions, available)
            }
            JoinTree::Join { left, right, kind: JoinKind::Inner, on } => {
                conditions.extend(on);
                let left = self.join_node(*left, conditions, available);
                let right = self.join_node(*right, conditions, available);
                Node::Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind: JoinKind::Inner,
                    on: None,
                    right_registers: Vec::new(),
                }
            }
            JoinTree::Join { left, right, kind: JoinKind::Left, mut on } => {
                let left = self.join_node(*left, conditions, available);
                let before = available.len();
                let right = self.join_node(*right, &mut on, available);
                Node::Join {
                    left: Box::new(left),
                    right: Box::new(right),
                    kind: JoinKind::Left,
                    on: super::conjunction(on),
                    right_registers: available[before..].to_vec(),
                }
            }
        }
    }

    fn leaf_node(
        &mut self,
        source: &Source,
        leaf: Leaf,
        conditions: &mut Vec<Predicate>,
        available: &mut Vec<Registers>,
    ) -> Node {
        let all: Vec<Registers> = self.scope().sources.iter().map(|source| source.registers).collect();
        let outside = |slot: usize| !all.iter().any(|registers| registers.range().contains(&slot));
        let ready_before =
            |slot: usize| outside(slot) || available.iter().any(|registers| registers.range().contains(&slot));
        let ready = |slot: usize| ready_before(slot) || source.registers.range().contains(&slot);
        let mut mine = Vec::new();
        let mut rest = Vec::new();
        for condition in conditions.drain(..) {
            let mut all_ready = true;
            condition.visit_slots(&mut |slot| all_ready &= ready(slot));
            if all_ready {
                mine.push(condition);
            } else {
                rest.push(condition);
            }
        }
        *conditions = rest;
        let node = match leaf {
            Leaf::Table(table) => {
                let range = key_range(&table, source.registers, &mut mine, &ready_before);
                Node::Scan(Box::new(Scan {
                    table,
                    registers: source.registers,
                    wanted: source.wanted(),
                    range,
                    reverse: false,
                }))
            }
            Leaf::Rows(node) => node,
            Leaf::Derived(bound) => derived_node(source, bound),
        };
        available.push(source.registers);
        filtered(node, mine)
    }
}

pub(crate) fn too_few_arguments(name: &str) -> SqlError {
    let text = format!("An insufficient number of arguments were supplied for the procedure or function {name}.");
    SqlError::new(313, 16, 3, text)
}

/// Copies a query's values to the registers of its source; only those that are read.
fn derived_node(source: &Source, bound: Bound) -> Node {
    let assignments = bound
        .values
        .into_iter()
        .enumerate()
        .filter(|(index, _)| source.used[*index])
        .map(|(index, value)| (source.registers.first + index, value))
        .collect();
    Node::Compute { input: Box::new(bound.node), assignments }
}

pub(crate) fn table_columns(table: &Table) -> Vec<SourceColumn> {
    table
        .columns
        .iter()
        .map(|column| SourceColumn { name: column.name.clone(), ty: column.ty, nullable: column.nullable })
        .collect()
}

pub(crate) fn infos(columns: &[ColumnInfo]) -> Vec<SourceColumn> {
    columns
        .iter()
        .map(|column| SourceColumn { name: column.name.clone(), ty: column.ty, nullable: column.nullable })
        .collect()
}

/// Gives the columns the names listed behind an alias; every column must have a name in the end.
pub(crate) fn rename(columns: &mut [SourceColumn], names: &[tree::Name], table: &str) -> Result<(), Fault> {
    if !names.is_empty() {
        if columns.len() > names.len() {
            return Err(Box::new(SqlError::more_columns_than_listed(table)));
        }
        if columns.len() < names.len() {
            return Err(Box::new(SqlError::fewer_columns_than_listed(table)));
        }
        for (column, name) in columns.iter_mut().zip(names) {
            column.name.clone_from(&name.text);
        }
    }
    for (at, column) in columns.iter().enumerate() {
        if column.name.is_empty() {
            return Err(Box::new(SqlError::column_without_name(at + 1, table)));
        }
        let twice = columns[..at].iter().any(|earlier| earlier.name.eq_ignore_ascii_case(&column.name));
        if twice {
            return Err(Box::new(SqlError::column_twice_in_table(&column.name, table)));
        }
    }
    Ok(())
}
