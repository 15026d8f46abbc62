//! FROM: tables, views, derived tables and joins.

use std::rc::Rc;
use std::sync::Arc;

use super::asked_arguments::selected;
use super::hint::{check_index_hints, check_memory_hints, hints_of, read_hints};
use super::join::{JoinTree, Leaf};
use super::kept_columns::name_columns;
use super::open_query::can_fail;
use super::scope::{Clause, CommonTable, Source, SourceColumn};
use super::virtual_column::VirtualColumns;
use super::{Binder, EXPANSIONS_MAX, Scope, VIEW_DEPTH_MAX, conjuncts, of_known_types};
use crate::access::{Column, Table};
use crate::errors;
use crate::expression::{Fault, Predicate};
use crate::host::VirtualTable;
use crate::output::{ColumnInfo, Provenance};
use crate::plan::{JoinKind, Node, Registers, VirtualSource};
use pikepole_engine::{self as engine, Module, ReadHints};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// More tables than a query may name, as SQL Server has it; also bounds the depth of join trees.
const TABLES_MAX: usize = 256;

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
                    lateral: false,
                    on: Vec::new(),
                },
            });
        }
        Ok(joined)
    }

    pub(super) fn table_source(&mut self, source: &tree::TableSource) -> Result<JoinTree, Fault> {
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
                if let Some(versions) = self.versions(table)? {
                    return Ok(versions);
                }
                if let Some(sample) = &table.sample {
                    return self.sampled(table, sample);
                }
                if self.is_target_ref(table) {
                    return self.target_source(table);
                }
                self.read_table(table)
            }
            tree::TableSource::Function(function) => self.table_function(function, false),
            tree::TableSource::Bulk(rowset) => self.bulk_rowset(rowset),
            tree::TableSource::Derived(derived) => self.derived(derived, false),
            tree::TableSource::Join(join) => self.join(join),
            tree::TableSource::Variable { name, alias } => {
                let (leaf, columns) = self.table_variable(name)?;
                let alias = alias.as_ref().unwrap_or(name).text.clone();
                self.add(alias, None, columns, leaf)
            }
            tree::TableSource::Pivot(pivot) => self.pivot(pivot),
            tree::TableSource::Unpivot(unpivot) => self.unpivot(unpivot),
        }
    }

    /// A table, view or common table that a name in FROM means.
    pub(super) fn read_table(&mut self, table: &tree::TableRef) -> Result<JoinTree, Fault> {
        let is_common = table.name.schema.is_none() && self.common_table(&table.name.name).is_some();
        let (leaf, columns, needs) = self.named(&table.name)?;
        let read = match &leaf {
            Leaf::Table(table) => Some(Arc::clone(table)),
            _ => None,
        };
        if let Some(read) = &read {
            check_index_hints(read, &table.name, &table.hints)?;
            check_memory_hints(read, &table.hints)?;
        }
        let leaf = self.row_of_cursor(leaf);
        let virtual_columns = if read.is_some() { self.virtual_columns() } else { VirtualColumns::None };
        let (leaf, columns) = self.filtered_leaf(leaf, columns, &table.hints)?;
        let (alias, schema) = table_name(table);
        let alias = alias.text.clone();
        let hints = read_hints(&table.hints)?;
        let hints = read.as_ref().map_or(hints, |read| hints_of(read, hints));
        let is_filtered = matches!(leaf, Leaf::Derived(_) | Leaf::Open(_));
        let tree = self.add(alias, schema, columns, leaf)?;
        match read {
            Some(_) if is_filtered => self.carries_virtual(),
            Some(read) => {
                let source = self.scope().sources.len() - 1;
                self.filter_rows(&read, source)?;
            }
            None => {}
        }
        if let Some(source) = self.scope().sources.last_mut() {
            source.hints = hints;
            if !is_filtered {
                source.virtual_columns = virtual_columns;
            }
            source.written = (!is_common).then(|| table.name.dotted());
            let (registers, names) = (source.registers, source.names());
            self.watch(registers, needs, names);
        }
        Ok(tree)
    }

    pub(crate) fn add(
        &mut self,
        alias: String,
        schema: Option<String>,
        mut columns: Vec<SourceColumn>,
        leaf: Leaf,
    ) -> Result<JoinTree, Fault> {
        // A derived table's columns are called as its text writes them.
        columns.iter_mut().for_each(|column| column.name.truncate(tree::without_end_blanks(&column.name).len()));
        let registers = match &leaf {
            Leaf::Rows(
                Node::Virtual { registers, .. } | Node::Call { registers, .. } | Node::Values { registers, .. },
            ) => *registers,
            Leaf::Rows(Node::Series(series)) => Registers { first: series.slot, count: 1 },
            Leaf::Rows(Node::More(more)) => more.registers(),
            Leaf::Work(registers) => *registers,
            // One more: the place of each row, for a statement that changes it.
            Leaf::Table(_) => self.registers(columns.len() + 1 + self.virtual_registers()),
            _ => self.registers(columns.len()),
        };
        let used = vec![false; columns.len()];
        let virtual_columns = match &leaf {
            Leaf::Table(_) => self.virtual_columns(),
            _ => VirtualColumns::None,
        };
        let scope = self.scope();
        let taken =
            scope.sources.iter().any(|source| source.alias.eq_ignore_ascii_case(&alias) && source.schema == schema);
        if taken {
            // What has no schema is a name that the text gives.
            return Err(Box::new(match schema {
                None => SqlError::correlation_name_twice(&alias),
                Some(_) => SqlError::same_exposed_names(&alias, &alias),
            }));
        }
        let hints = ReadHints::default();
        let (hidden, located, written) = (false, false, None);
        scope.sources.push(Source {
            alias,
            schema,
            written,
            columns,
            registers,
            used,
            hidden,
            located,
            virtual_columns,
            hints,
        });
        let index = scope.sources.len() - 1;
        Ok(JoinTree::Leaf(index, leaf))
    }

    /// What a name in FROM stands for: a common table, a table, a view, or a view of the host; and the requirements whose columns
    /// are to be watched.
    pub(super) fn named(&mut self, name: &tree::ObjectName) -> Result<(Leaf, Vec<SourceColumn>, Vec<usize>), Fault> {
        if name.schema.is_none()
            && name.database.is_none()
            && let Some(common) = self.common_table(&name.name)
        {
            return self.expand_common(&common).map(|(leaf, columns)| (leaf, columns, Vec::new()));
        }
        if let Some((leaf, columns)) = self.transition(name) {
            return Ok((leaf, columns, Vec::new()));
        }
        if name.is_in_tempdb() && self.is_in_function() {
            return Err(Box::new(SqlError::temporary_table_in_function()));
        }
        if self.in_module && name.is_temporary() {
            return Err(Box::new(SqlError::module_on_temporary_table()));
        }
        self.check_bound_name(name)?;
        if let Some(table) = self.catalog().table(name)? {
            let (_, needs) = self.require_read(name)?;
            let mut columns = table_columns(&table);
            let own = self.names.catalog.database.name();
            if !table.is_temporary() && !table.database.eq_ignore_ascii_case(own) {
                columns.iter_mut().for_each(SourceColumn::leave_database);
            }
            return Ok((Leaf::Table(table), columns, needs));
        }
        if let Some((view, catalog)) = self.catalog().view(name)? {
            self.check_bound_module(name, &view.text)?;
            let (owner, needs) = self.require_read(name)?;
            let (leaf, columns) =
                self.in_view_of(owner, |binder| binder.in_catalog(catalog, |binder| binder.expand_view(name, &view)))?;
            return Ok((leaf, columns, needs));
        }
        let behind = self.catalog().system_name(name)?;
        let (database, schema, plain) = match &behind {
            Some((database, schema, plain)) => (database.as_str(), Some(schema.as_str()), plain.as_str()),
            None => {
                let inner = self.catalog().database.name();
                (name.database_str().unwrap_or(inner), name.schema_str(), name.name.text.as_str())
            }
        };
        let mut found = self.names.host.virtual_table(schema, plain);
        if let Some(table) = &mut found
            && !database.eq_ignore_ascii_case(self.names.catalog.database.name())
        {
            let unknown = || SqlError::invalid_object(name.dotted());
            table.id = self.names.host.virtual_table_of(table.id, database).ok_or_else(unknown)?;
        }
        match found {
            Some(table) if table.parameters.is_none() => {
                let (leaf, columns) = self.virtual_leaf(table, Vec::new());
                Ok((leaf, columns, Vec::new()))
            }
            Some(table) => Err(Box::new(SqlError::function_parameters_missing(table.name))),
            None => Err(Box::new(SqlError::invalid_object(name.dotted()))),
        }
    }

    fn virtual_leaf(
        &mut self,
        table: VirtualTable,
        arguments: Vec<crate::expression::Expr>,
    ) -> (Leaf, Vec<SourceColumn>) {
        let source = |arguments| VirtualSource::Host { id: table.id, arguments };
        let node = self.called(table.columns.len(), arguments, source);
        (Leaf::Rows(node), infos(&table.columns))
    }

    /// The rows of a function, and their registers in the plan.
    pub(super) fn called(
        &mut self,
        columns: usize,
        arguments: Vec<crate::expression::Expr>,
        source: impl FnOnce(Option<Vec<crate::expression::Expr>>) -> VirtualSource,
    ) -> Node {
        let registers = self.registers(columns);
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
        self.virtual_sources.push(source(arguments));
        node
    }

    pub(super) fn plain_table_function(
        &mut self,
        function: &tree::TableFunction,
        lateral: bool,
    ) -> Result<JoinTree, Fault> {
        let name = &function.call.name;
        if let Some(nodes) = self.nodes(function, lateral)? {
            return Ok(nodes);
        }
        if name.schema.is_none() && name.name.is("GENERATE_SERIES") {
            return self.generate_series(function, lateral);
        }
        if name.schema.is_none() && name.name.is("STRING_SPLIT") {
            return self.string_split(function, lateral);
        }
        if name.schema.is_none() && name.name.is("OPENJSON") {
            return self.open_json(function, lateral);
        }
        let elsewhere = ["OPENDATASOURCE", "OPENQUERY", "OPENROWSET", "OPENXML"];
        if name.schema.is_none()
            && let Some(refused) = elsewhere.into_iter().find(|refused| name.name.is(refused))
        {
            return Err(errors::unsupported(refused));
        }
        let Some(table) = self.names.host.virtual_table(name.schema_str(), &name.name.text) else {
            return self.user_table_function(function, lateral);
        };
        let Some(parameters) = &table.parameters else {
            return Err(Box::new(SqlError::not_a_function(&name.name.text)));
        };
        // Arguments do not see the siblings in FROM; those at the right side of APPLY do.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let arguments = self.function_arguments(&function.call, &table.name, parameters);
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

    fn function_arguments(
        &mut self,
        call: &tree::FunctionCall,
        name: &str,
        parameters: &[SqlType],
    ) -> Result<Vec<crate::expression::Expr>, Fault> {
        if call.arguments.len() > parameters.len() {
            return Err(Box::new(SqlError::too_many_arguments(name)));
        }
        if call.arguments.len() < parameters.len() {
            return Err(Box::new(too_few_arguments(name)));
        }
        let mark = self.pending.len();
        let mut arguments = Vec::new();
        for (argument, ty) in call.arguments.iter().zip(parameters) {
            arguments.push(match argument.expr() {
                None => crate::expression::Expr::NULL,
                Some(expr) => {
                    let typed = self.expr(expr)?;
                    super::assign_to(typed, ty, self.collation(), None)?
                }
            });
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        Ok(arguments)
    }

    pub(super) fn derived(&mut self, derived: &tree::DerivedTable, lateral: bool) -> Result<JoinTree, Fault> {
        // A derived table does not see its siblings; the right side of APPLY does.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let source = self.source_query(&derived.query);
        if !lateral {
            self.scope().sources = sources;
        }
        let (leaf, columns) = source?;
        let alias = derived.alias.text.clone();
        let mut columns = infos(&columns);
        rename(&mut columns, &derived.columns, &alias)?;
        self.add(alias, None, columns, leaf)
    }

    fn join(&mut self, join: &tree::Join) -> Result<JoinTree, Fault> {
        let keeps_unmatched =
            !matches!(join.kind, tree::JoinKind::Inner | tree::JoinKind::Cross | tree::JoinKind::CrossApply);
        self.scope().outer_joins += usize::from(keeps_unmatched);
        let joined = self.join_sides(join);
        self.scope().outer_joins -= usize::from(keeps_unmatched);
        joined
    }

    fn join_sides(&mut self, join: &tree::Join) -> Result<JoinTree, Fault> {
        let first_left = self.scope().sources.len();
        let left_is_supplied = matches!(join.kind, tree::JoinKind::Right | tree::JoinKind::Full);
        let left = self.supplied_source(&join.left, false, left_is_supplied)?;
        let first_right = self.scope().sources.len();
        let waiting = self.pending.len();
        let lateral = matches!(join.kind, tree::JoinKind::CrossApply | tree::JoinKind::OuterApply);
        let right_is_supplied =
            matches!(join.kind, tree::JoinKind::Left | tree::JoinKind::Full | tree::JoinKind::OuterApply);
        let right = self.supplied_source(&join.right, lateral, right_is_supplied)?;
        self.scope().keeps_order |= join.hint.is_some();
        let mut on = Vec::new();
        if let Some(condition) = &join.on {
            let mark = self.pending.len();
            let outer = std::mem::replace(&mut self.scope().clause, Clause::On);
            let bound = self.condition(condition);
            self.scope().clause = outer;
            conjuncts(bound?, &mut on);
            if self.pending.len() > mark {
                // An inner join's condition is tested as WHERE is, behind the subqueries.
                let inner = matches!(join.kind, tree::JoinKind::Inner | tree::JoinKind::Cross);
                if !inner || self.scope().outer_joins > 0 {
                    self.pending.truncate(waiting);
                    self.scope().sources.truncate(first_right);
                    self.scope().filters.retain(|filter| filter.source < first_right);
                    return self.applied_join(join, condition, left);
                }
                let results: Vec<usize> = self.pending[mark..].iter().map(|pending| pending.slot).collect();
                let (after, before): (Vec<_>, Vec<_>) = on.into_iter().partition(|condition: &Predicate| {
                    let mut reads = false;
                    condition.visit_slots(&mut |slot| reads |= results.contains(&slot));
                    reads
                });
                on = before;
                self.scope().joined_conditions.extend(after);
            }
        }
        if !self.scope().filters.is_empty() && matches!(join.kind, tree::JoinKind::Inner) {
            // An error would tell of rows that are not there.
            let (late, early): (Vec<_>, Vec<_>) = on.into_iter().partition(can_fail);
            on = early;
            self.scope().joined_conditions.extend(late);
        }
        let sides = match join.kind {
            tree::JoinKind::Inner | tree::JoinKind::Cross | tree::JoinKind::CrossApply => 0..0,
            tree::JoinKind::Left | tree::JoinKind::OuterApply => first_right..self.scope().sources.len(),
            tree::JoinKind::Right => first_left..first_right,
            tree::JoinKind::Full => first_left..self.scope().sources.len(),
        };
        // Where a side can be absent, so can be the values of its columns.
        for source in &mut self.scope().sources[sides] {
            source.columns.iter_mut().for_each(|column| column.nullable = true);
        }
        let (left, right, kind) = match join.kind {
            tree::JoinKind::Inner | tree::JoinKind::Cross | tree::JoinKind::CrossApply => {
                (left, right, JoinKind::Inner)
            }
            tree::JoinKind::Left | tree::JoinKind::OuterApply => (left, right, JoinKind::Left),
            tree::JoinKind::Right => (right, left, JoinKind::Left),
            tree::JoinKind::Full => {
                return Ok(JoinTree::Full { left: Box::new(left), right: Box::new(right), on });
            }
        };
        Ok(JoinTree::Join { left: Box::new(left), right: Box::new(right), kind, lateral, on })
    }

    /// A side of a join, which may leave it without a row.
    fn supplied_source(
        &mut self,
        source: &tree::TableSource,
        lateral: bool,
        is_supplied: bool,
    ) -> Result<JoinTree, Fault> {
        self.scope().supplied += usize::from(is_supplied);
        let side = match source {
            tree::TableSource::Derived(derived) => self.derived(derived, lateral),
            tree::TableSource::Function(function) => self.table_function(function, lateral),
            other => self.table_source(other),
        };
        self.scope().supplied -= usize::from(is_supplied);
        side
    }

    /// A join whose condition asks a subquery where rows may be kept without a partner: `l LEFT JOIN r ON c` is
    /// `l OUTER APPLY (SELECT * FROM r WHERE c) AS r`, where the subquery runs for the rows of `r` alone.
    fn applied_join(
        &mut self,
        join: &tree::Join,
        condition: &tree::Condition,
        left: JoinTree,
    ) -> Result<JoinTree, Fault> {
        let refused = || errors::unsupported("A subquery in the condition of such an outer join");
        let (kind, (alias, schema)) = match (join.kind, exposed_name(&join.right)) {
            (tree::JoinKind::Left, Some(name)) => (JoinKind::Left, name),
            (tree::JoinKind::Inner, Some(name)) => (JoinKind::Inner, name),
            _ => return Err(refused()),
        };
        if let tree::TableSource::Table(table) = &join.right
            && self.is_target_ref(table)
        {
            return Err(refused());
        }
        let mut items = vec![tree::SelectItem::Star { qualifier: None, span: tree::Span::default() }];
        let is_table = self.is_table(&join.right)?;
        if is_table {
            items.append(&mut self.carried_items());
        }
        let query = selected(items, vec![join.right.clone()], Some(condition.clone()));
        let right = self.derived(&tree::DerivedTable { query, alias, columns: Vec::new() }, true)?;
        if is_table {
            self.carries_virtual();
        }
        if let Some(source) = self.scope().sources.last_mut() {
            source.schema = schema;
            source.columns.iter_mut().for_each(|column| column.nullable |= kind == JoinKind::Left);
        }
        Ok(JoinTree::Join { left: Box::new(left), right: Box::new(right), kind, lateral: true, on: Vec::new() })
    }

    pub(super) fn common_table(&self, name: &tree::Name) -> Option<CommonTable> {
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
        if let Some(work) = self.recursive_reference(&table)? {
            return Ok(work);
        }
        if super::recursive::is_recursive(&table) {
            return self.nested(|binder| binder.recursive(common));
        }
        self.nested(|binder| {
            let mut scope = Scope { barrier: true, ..Scope::default() };
            scope.common = common.earlier();
            binder.scopes.push(scope);
            let was_undetermined = std::mem::take(&mut binder.is_undetermined);
            let source = binder.source_query(&table.query);
            let is_undetermined = std::mem::replace(&mut binder.is_undetermined, was_undetermined);
            binder.is_undetermined |= is_undetermined;
            binder.scopes.pop();
            let (leaf, columns) = source?;
            let mut columns = infos(&columns);
            rename(&mut columns, &table.columns, &table.name.text)?;
            let leaf = match (leaf, common.number) {
                // Rows that read others outside are not those of another name, nor are those that are other ones each time.
                (Leaf::Derived(bound), Some(number))
                    if !is_undetermined && bound.is_fixed(binder.names.variables.len()) =>
                {
                    Leaf::Common(number, bound)
                }
                (Leaf::Open(mut query), Some(number)) if !is_undetermined => {
                    query.number = Some(number);
                    Leaf::Open(query)
                }
                (leaf, _) => leaf,
            };
            Ok((leaf, columns))
        })
    }

    pub(super) fn expand_view(
        &mut self,
        name: &tree::ObjectName,
        kept: &Module,
    ) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        let options = self.catalog().parse_options();
        let batch =
            tree::parse_with(&kept.text, options).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
        let Some(tree::StatementKind::CreateView(view)) = batch.statements.first().map(|statement| &statement.kind)
        else {
            return Err(Box::new(SqlError::invalid_object(name.dotted())));
        };
        self.nested(|binder| {
            binder.scopes.push(Scope { barrier: true, ..Scope::default() });
            let source = binder.source_query(&view.query);
            binder.scopes.pop();
            let (mut leaf, mut columns) = source?;
            of_known_types(&mut columns);
            let mut columns = infos(&columns);
            name_columns(&kept.columns, name, &view.columns, &mut columns)?;
            leaf.cut(&mut columns, kept.columns.len());
            Ok((leaf, columns))
        })
    }

    pub(crate) fn nested<T>(&mut self, body: impl FnOnce(&mut Self) -> Result<T, Fault>) -> Result<T, Fault> {
        if self.views >= VIEW_DEPTH_MAX {
            return Err(Box::new(SqlError::nesting_level_exceeded(VIEW_DEPTH_MAX)));
        }
        if self.expansions >= EXPANSIONS_MAX {
            return Err(Box::new(SqlError::no_query_plan()));
        }
        self.expansions += 1;
        self.views += 1;
        let result = body(self);
        self.views -= 1;
        result
    }
}

/// The name that the columns of one table of FROM are called by, with the schema where no alias hides it.
fn exposed_name(source: &tree::TableSource) -> Option<(tree::Name, Option<String>)> {
    match source {
        tree::TableSource::Table(table) => {
            let (name, schema) = table_name(table);
            Some((name.clone(), schema))
        }
        tree::TableSource::Variable { name, alias } => Some((alias.as_ref().unwrap_or(name).clone(), None)),
        tree::TableSource::Function(function) => {
            Some((function.alias.as_ref().unwrap_or(&function.call.name.name).clone(), None))
        }
        tree::TableSource::Derived(derived) => Some((derived.alias.clone(), None)),
        _ => None,
    }
}

/// The alias of a table or, where that is none, its name and schema.
pub(super) fn table_name(table: &tree::TableRef) -> (&tree::Name, Option<String>) {
    match &table.alias {
        Some(alias) => (alias, None),
        None => (&table.name.name, Some(table.name.schema_str().unwrap_or("dbo").to_owned())),
    }
}

pub(crate) fn too_few_arguments(name: &str) -> SqlError {
    let text = format!("An insufficient number of arguments were supplied for the procedure or function {name}.");
    SqlError::new(313, 16, 3, text)
}

pub(crate) fn table_columns(table: &Table) -> Vec<SourceColumn> {
    let column = |(place, column): (usize, &Column)| SourceColumn {
        collated: column.collated(),
        provenance: match column {
            _ if table.identity == Some(place) => Provenance::Identity,
            Column { rowversion: true, .. } => Provenance::RowVersion,
            Column { computed: true, .. } => Provenance::Computed,
            _ => Provenance::Stored,
        },
        decimal_name: column.decimal_name,
        user_type: table.engine.columns.get(place).and_then(engine::Column::alias_type),
        of_schemas: is_of_schemas(table, place),
        when_read: column.when_read.as_deref().map(Into::into),
        hidden: column.hidden,
        ..SourceColumn::new(&column.name, column.ty, column.nullable)
    };
    table.columns.iter().enumerate().map(column).collect()
}

/// Whether a column is xml of a collection of schemas.
pub(super) fn is_of_schemas(table: &Table, place: usize) -> bool {
    table.engine.columns.get(place).and_then(engine::Column::schema_collection).is_some()
}

pub(crate) fn infos(columns: &[ColumnInfo]) -> Vec<SourceColumn> {
    let column = |column: &ColumnInfo| SourceColumn {
        collated: column.collated.of_column(),
        provenance: column.provenance,
        decimal_name: column.decimal_name,
        user_type: column.user_type,
        ..SourceColumn::new(&column.name, column.ty, column.nullable)
    };
    columns.iter().map(column).collect()
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
