//! Users' functions: a call is replaced by what the function's body says, its parameters by the arguments.
//!
//! A scalar function whose body is one RETURN, or goes straight to it ([`super::straight`]), becomes that expression; an inline table-valued function becomes its query, as
//! a view does. A body sees its parameters and nothing of the query around the call. A function of several statements, or one
//! that calls itself, is run for its rows or its value (see [`crate::run`]).

use std::sync::Arc;

use super::collate::{ColumnDefaults, column_collation};
use super::data_type::{Declared, TypePlace, declared, sql_type};
use super::expression::cases;
use super::join::{JoinTree, Leaf};
use super::kept_columns::{COLUMNS_MAX, kept, name_columns};
use super::rules::{TableColumn, computed_column};
use super::scope::{Clause, SourceColumn};
use super::source::{infos, rename, table_columns, too_few_arguments};
use super::straight::Straight;
use super::typed::Typed;
use super::{Binder, Dependence, Names, PendingApply, Scope, assign_to, is_bound, of_known_types};
use crate::access::CatalogView;
use crate::errors;
use crate::expression::{Expr, Fault, Predicate};
use crate::output::DecimalName;
use crate::plan::{Guard, Node, Test, VirtualSource};
use pikepole_engine::{Column, Function, KeptColumn, Object, Permission, TableRecord, UserType};
use pikepole_tsql as tree;
use pikepole_types::{Collated, SqlError, SqlType, Value};

/// What a parameter of a function stands for while the function is expanded.
#[derive(Clone)]
pub(crate) enum Given {
    /// An expression of the caller's.
    Value(Typed),
    /// A table variable of the caller's.
    Table(String),
    /// Any table of the type: the function is only looked at.
    Shape(Arc<UserType>),
}

/// The function that a stored text makes.
pub(crate) fn parsed_function(module: &Function, name: &str) -> Result<tree::CreateFunction, Fault> {
    let options = tree::ParseOptions { quoted_identifier: module.quoted_identifier };
    let batch =
        tree::parse_with(&module.text, options).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
    match batch.statements.into_iter().next().map(|statement| statement.kind) {
        Some(tree::StatementKind::CreateFunction(function)) => Ok(*function),
        _ => Err(Box::new(SqlError::invalid_object(name))),
    }
}

/// Checks a function that is to be made; the columns of one that is a query.
///
/// # Errors
/// Names and types of its body; 4514 for a column without a name; what is not supported, by name.
pub(crate) fn checked_function(function: &tree::CreateFunction, names: &Names<'_>) -> Result<Vec<KeptColumn>, Fault> {
    let acts = tree::execute_as(&function.options).is_some_and(|says| !says.eq_ignore_ascii_case("CALLER"));
    if acts && matches!(function.returns, tree::FunctionReturns::Inline(_)) {
        return Err(errors::unsupported("EXECUTE AS other than CALLER of an inline function"));
    }
    if let tree::FunctionReturns::Scalar { data_type, .. } = &function.returns {
        check_return_type(data_type)?;
    }
    let mut binder = Binder::new(names, 0);
    binder.begin_module("function", &function.name.dotted(), &function.options);
    let mut arguments = Vec::new();
    for (place, parameter) in function.parameters.iter().enumerate() {
        if parameter.output {
            return Err(Box::new(SqlError::output_of_function()));
        }
        if arguments.iter().any(|(name, _): &(String, Given)| parameter.name.is(name)) {
            return Err(Box::new(SqlError::variable_declared_twice(&parameter.name.text)));
        }
        if parameter.data_type.is_rowversion() {
            return Err(Box::new(SqlError::type_invalid_for(&parameter.name.text)));
        }
        let given = match parameter_type(names.catalog, parameter, place)? {
            Declared::Table(user_type) => Given::Shape(user_type),
            Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty) => {
                Given::Value(Typed::new(Expr::Slot(binder.register()), ty, true))
            }
        };
        arguments.push((parameter.name.text.clone(), given));
    }
    match &function.returns {
        tree::FunctionReturns::Scalar { data_type, body } => {
            let meant = names.catalog.meant(data_type);
            let ty = sql_type(&names.catalog.catalog, &meant, TypePlace::Declaration, 1)?;
            let Some(value) = returned(body) else {
                return Ok(Vec::new());
            };
            match binder.in_body(arguments, |binder| binder.expr(value)) {
                // What it calls may be made later, as the function itself is.
                Err(fault) if crate::program::is_missing(&fault) => Ok(Vec::new()),
                typed => assign_to(typed?, &ty, names.catalog.collation(), None).map(|_| Vec::new()),
            }
        }
        tree::FunctionReturns::Inline(query) => {
            let bound = binder.in_body(arguments, |binder| binder.query(query))?.of_known_types();
            let name = &function.name.name.text;
            if let Some(column) = bound.columns.get(COLUMNS_MAX) {
                return Err(Box::new(SqlError::too_many_function_columns(&column.name, name, COLUMNS_MAX)));
            }
            match bound.columns.iter().position(|column| column.name.is_empty()) {
                None => {
                    let names: Vec<&str> = bound.columns.iter().map(|column| column.name.as_str()).collect();
                    check_column_names(&names, &function.name.name.text)?;
                    Ok(kept(&infos(&bound.columns)))
                }
                Some(at) => Err(Box::new(SqlError::function_column_unnamed(at + 1))),
            }
        }
        tree::FunctionReturns::Table { variable, elements, .. } => {
            if let Some(column) = returned_columns(names.catalog, names, elements)?.get(COLUMNS_MAX) {
                return Err(Box::new(SqlError::too_many_columns(&column.name, &variable.text, COLUMNS_MAX)));
            }
            Ok(Vec::new())
        }
    }
}

/// Refuses the types that no function returns.
///
/// # Errors
/// 2733.
fn check_return_type(data_type: &tree::DataType) -> Result<(), Fault> {
    let is_system = data_type.schema.as_ref().is_none_or(|schema| schema.is("sys"));
    let long = ["text", "ntext", "image"].into_iter().find(|name| is_system && data_type.name.is(name));
    match long.or_else(|| data_type.is_rowversion().then_some("timestamp")) {
        Some(name) => Err(Box::new(SqlError::type_invalid_for_return(name))),
        None => Ok(()),
    }
}

/// Whether the columns of a view or an inline function can be told apart.
///
/// # Errors
/// 4506.
pub(crate) fn check_column_names(names: &[&str], module: &str) -> Result<(), Fault> {
    for (at, name) in names.iter().enumerate() {
        if names[..at].iter().any(|earlier| earlier.eq_ignore_ascii_case(name)) {
            return Err(Box::new(SqlError::module_column_twice(name, module)));
        }
    }
    Ok(())
}

/// What a parameter of a function is declared as.
fn parameter_type(catalog: &CatalogView, parameter: &tree::Parameter, place: usize) -> Result<Declared, Fault> {
    let declared = declared(&catalog.catalog, &catalog.meant(&parameter.data_type), place + 1)?;
    match (&declared, parameter.readonly) {
        (Declared::Table(_), false) => Err(Box::new(SqlError::readonly_needed(&parameter.name.text))),
        (Declared::System(_) | Declared::Second(..) | Declared::Alias(..), true) => {
            Err(Box::new(SqlError::readonly_of_scalar(&parameter.name.text)))
        }
        _ => Ok(declared),
    }
}

/// The columns of the table that a function fills.
fn returned_columns(
    catalog: &CatalogView,
    names: &Names<'_>,
    elements: &[tree::TableElement],
) -> Result<Vec<SourceColumn>, Fault> {
    let (mut columns, defaults) = (Vec::new(), ColumnDefaults::of(catalog.collation()));
    let mut computed = Vec::new();
    for element in elements {
        let tree::TableElement::Column(column) = element else { continue };
        if let tree::ColumnKind::Computed { expr, .. } = &column.kind {
            computed.push((columns.len(), expr));
            columns.push(SourceColumn::new(&column.name.text, SqlType::Null, true));
            continue;
        }
        let Some(data_type) = column.data_type() else { continue };
        if names.in_function && data_type.is_rowversion() {
            return Err(Box::new(SqlError::side_effect_in_function("TIMESTAMP").with_state(16)));
        }
        let (decimal_name, user_type);
        let ty = match declared(&catalog.catalog, &catalog.meant(data_type), columns.len() + 1)? {
            ref declared @ (Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty)) => {
                (decimal_name, user_type) = (DecimalName::written(declared.second_name()), declared.alias_type());
                ty
            }
            Declared::Table(user_type) => {
                return Err(Box::new(SqlError::type_unknown(columns.len() + 1, user_type.full_name())));
            }
        };
        let collated = Collated::of_stored(&ty, column_collation(column, &ty, defaults)?);
        let nullable = column.nullable != Some(false);
        let plain = SourceColumn::new(&column.name.text, ty, nullable);
        columns.push(SourceColumn { collated, decimal_name, user_type, ..plain });
    }
    let stored: Vec<TableColumn> = columns.iter().map(TableColumn::of_source).collect();
    for (place, expr) in computed {
        let (typed, _) = computed_column(expr, "", &stored, &Names::of(catalog, names.host))?;
        let ty = if typed.ty == SqlType::Null { SqlType::Int } else { typed.ty };
        let name = std::mem::take(&mut columns[place].name);
        columns[place] = SourceColumn { collated: typed.collated.of_column(), ..SourceColumn::new(&name, ty, true) };
    }
    Ok(columns)
}

/// Whether a function has statements to compile. Calls run them, unless they follow each other straight ([`super::straight`]).
pub(crate) fn is_run(function: &tree::CreateFunction) -> bool {
    match &function.returns {
        tree::FunctionReturns::Table { .. } => true,
        tree::FunctionReturns::Scalar { body, .. } => returned(body).is_none(),
        tree::FunctionReturns::Inline(_) => false,
    }
}

/// The statements of a body, without the blocks around all of them.
pub(super) fn statements_of(body: &tree::ModuleBody) -> &[tree::Statement] {
    let mut statements = body.statements();
    while let [tree::Statement { kind: tree::StatementKind::Block(inner), .. }] = statements {
        statements = inner;
    }
    statements
}

/// The expression of a body that is one RETURN.
fn returned(body: &tree::ModuleBody) -> Option<&tree::Expr> {
    match statements_of(body) {
        [tree::Statement { kind: tree::StatementKind::Return(Some(value)), .. }] => Some(value),
        _ => None,
    }
}

impl Binder<'_> {
    /// What a parameter of the function being expanded stands for; None outside of functions.
    pub(crate) fn parameter(&self, name: &tree::Name) -> Result<Option<Typed>, Fault> {
        let Some(parameters) = self.parameters.last() else {
            return Ok(None);
        };
        match parameters.iter().find(|(parameter, _)| name.is(parameter)) {
            Some((_, Given::Value(argument))) => Ok(Some(argument.clone())),
            _ => Err(Box::new(SqlError::variable_not_declared(&name.text))),
        }
    }

    /// What a parameter or variable of the function being expanded stands for.
    pub(super) fn stood_for(&self, name: &str) -> Option<&Given> {
        let mut known = self.parameters.last()?.iter();
        known.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, given)| given)
    }

    /// From here on it stands for this.
    pub(super) fn give(&mut self, name: &str, given: Given) {
        let Some(known) = self.parameters.last_mut() else { return };
        known.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        known.push((name.to_owned(), given));
    }

    /// The table variable of a name: within a function what its parameter stands for.
    pub(super) fn table_variable(&mut self, name: &tree::Name) -> Result<(Leaf, Vec<SourceColumn>), Fault> {
        let unknown = || Box::new(SqlError::table_variable_not_declared(&name.text));
        let variable = match self.parameters.last() {
            None => name.text.clone(),
            Some(parameters) => match parameters.iter().find(|(parameter, _)| name.is(parameter)) {
                Some((_, Given::Table(variable))) => variable.clone(),
                Some((_, Given::Shape(user_type))) => {
                    let user_type = Arc::clone(user_type);
                    return user_type.table().map(|shape| self.no_rows(shape)).ok_or_else(unknown);
                }
                _ => return Err(unknown()),
            },
        };
        let found = self.catalog().table(&tree::ObjectName::of(tree::Name { text: variable, span: name.span }))?;
        let table = found.ok_or_else(unknown)?;
        let columns = table_columns(&table);
        Ok((Leaf::Table(table), columns))
    }

    /// No rows of a table type's columns.
    fn no_rows(&mut self, shape: &TableRecord) -> (Leaf, Vec<SourceColumn>) {
        let registers = self.registers(shape.columns.len());
        let column = |column: &Column| SourceColumn {
            collated: column.collated(),
            decimal_name: DecimalName::of_column(column),
            ..SourceColumn::new(&column.name, column.ty, column.nullable)
        };
        let columns = shape.columns.iter().map(column).collect();
        (Leaf::Rows(Node::Values { rows: Vec::new(), registers }), columns)
    }

    /// The caller's table variable that is passed for a parameter of this type.
    fn table_argument(&self, argument: Option<&tree::Expr>, user_type: &UserType) -> Result<Given, Fault> {
        let clash = |from: &str| Err(Box::new(SqlError::operand_type_clash(from, &user_type.name)));
        let Some(tree::ExprKind::Variable(name)) = argument.map(|argument| &argument.kind) else {
            return clash("void type");
        };
        if let Some(parameters) = self.parameters.last() {
            return match parameters.iter().find(|(parameter, _)| name.is(parameter)) {
                Some((_, Given::Shape(own))) if own.user_type_id != user_type.user_type_id => clash(&own.name),
                Some((_, given @ (Given::Table(_) | Given::Shape(_)))) => Ok(given.clone()),
                _ => clash("void type"),
            };
        }
        let catalog = self.catalog();
        let Some(variable) = catalog.table_variable(&name.text) else {
            // It may be declared by the time the statement runs.
            return Err(Box::new(SqlError::table_variable_not_declared(&name.text)));
        };
        if variable.user_type != Some(user_type.user_type_id) {
            let own = variable.user_type.and_then(|id| catalog.catalog.user_type_by_id(id));
            return clash(own.map_or("table", |own| own.name.as_str()));
        }
        Ok(Given::Table(variable.name.clone()))
    }

    /// Binds a function's body: it sees its parameters and no column from outside.
    pub(super) fn in_body<T>(
        &mut self,
        arguments: Vec<(String, Given)>,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.parameters.push(arguments);
        self.scopes.push(Scope { barrier: true, ..Scope::default() });
        let namespaces = std::mem::take(&mut self.namespaces);
        let bound = self.nested(bind);
        self.namespaces = namespaces;
        self.scopes.pop();
        self.parameters.pop();
        bound
    }

    pub(super) fn function_of(&self, name: &tree::ObjectName) -> Result<Option<(Arc<Function>, CatalogView)>, Fault> {
        let Some(place) = self.catalog().place(name)? else {
            return Ok(None);
        };
        let found = place.view.catalog.function(&place.schema, &place.name).cloned();
        Ok(found.map(|function| {
            let view = place.view.of_module(&function);
            (function, view)
        }))
    }

    /// The arguments of a call, each of its parameter's type in the catalog of the function.
    pub(super) fn routine_arguments(
        &mut self,
        (function, catalog): (&tree::CreateFunction, &CatalogView),
        call: &tree::FunctionCall,
    ) -> Result<Vec<(String, Given)>, Fault> {
        let shown = call.name.dotted();
        if call.arguments.len() > function.parameters.len() {
            return Err(Box::new(SqlError::too_many_arguments(shown)));
        }
        if call.arguments.len() < function.parameters.len() {
            return Err(Box::new(too_few_arguments(&shown)));
        }
        let mut arguments = Vec::with_capacity(function.parameters.len());
        for (place, (parameter, argument)) in function.parameters.iter().zip(&call.arguments).enumerate() {
            let ty = match parameter_type(catalog, parameter, place)? {
                Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty) => ty,
                Declared::Table(user_type) => {
                    let given = self.table_argument(argument.expr(), &user_type)?;
                    arguments.push((parameter.name.text.clone(), given));
                    continue;
                }
            };
            let value = argument.expr().or(parameter.default.as_ref());
            let typed = match value {
                Some(value) => self.expr(value)?,
                // DEFAULT where there is none is NULL for a function of rows, and an error for one of a value.
                None if !matches!(function.returns, tree::FunctionReturns::Scalar { .. }) => {
                    Typed::constant(Value::Null, SqlType::Null)
                }
                None => {
                    let missing = SqlError::parameter_not_supplied(&shown, &parameter.name.text);
                    return Err(Box::new(missing));
                }
            };
            let nullable = typed.nullable;
            let value = assign_to(typed, &ty, self.collation(), None)?;
            arguments.push((parameter.name.text.clone(), Given::Value(Typed::new(value, ty, nullable))));
        }
        Ok(arguments)
    }

    /// A call of a scalar function.
    ///
    /// # Errors
    /// 4121 when there is none; its body's errors.
    pub(crate) fn user_function(&mut self, call: &tree::FunctionCall) -> Result<Typed, Fault> {
        let unknown = || {
            let schema = call.name.schema_str().unwrap_or_default();
            let name = call.name.dotted();
            let text = format!(
                "Cannot find either column \"{schema}\" or the user-defined function or aggregate \"{name}\", or the name is ambiguous."
            );
            Box::new(SqlError::new(4121, 16, 1, text))
        };
        let (module, catalog) = self.function_of(&call.name)?.ok_or_else(unknown)?;
        self.check_bound_module(&call.name, &module.text)?;
        if !is_bound(&module.text) {
            self.undetermined();
        }
        let function = parsed_function(&module, &call.name.dotted())?;
        let tree::FunctionReturns::Scalar { data_type, .. } = &function.returns else {
            return Err(unknown());
        };
        let ty: SqlType = sql_type(&catalog.catalog, &catalog.meant(data_type), TypePlace::Declaration, 1)?;
        let owner = self.require(Permission::Execute, &call.name)?.or(self.view_owner);
        let arguments = self.routine_arguments((&function, &catalog), call)?;
        let mut nulls = Vec::new();
        if tree::says(&function.options, "RETURNS NULL ON NULL INPUT") {
            let values = arguments.iter().filter_map(|(_, given)| match given {
                Given::Value(typed) => Some(Predicate::IsNull(Box::new(typed.expr.clone()))),
                _ => None,
            });
            nulls.extend(values);
        }
        if nulls.is_empty() {
            return self.function_value(&function, (module, catalog), owner, arguments, ty);
        }
        // It is not called for a NULL.
        let condition = Predicate::Or(nulls);
        let guard = Guard { condition: condition.clone(), holds: false };
        let called = |binder: &mut Self| binder.function_value(&function, (module, catalog), owner, arguments, ty);
        let value = self.guarded(guard, called)?;
        cases(vec![(condition, Typed::constant(Value::Null, ty))], Some(value))
    }

    /// The value of a function for arguments of its parameters' types.
    fn function_value(
        &mut self,
        function: &tree::CreateFunction,
        (module, catalog): (Arc<Function>, CatalogView),
        owner: Option<i32>,
        arguments: Vec<(String, Given)>,
        ty: SqlType,
    ) -> Result<Typed, Fault> {
        let database = catalog.database.id();
        let place = (database, module.object_id);
        // Where a body can be run, its errors name it and their line; and who it acts for is known there.
        let straight = Straight::of(function).filter(|body| body.steps.is_empty() || self.in_computed);
        let body = match straight.filter(|_| module.execute_as.is_none()) {
            Some(body) if !self.expanding.contains(&place) => body,
            _ if database != self.names.catalog.database.id() => {
                return Err(errors::unsupported("A function of several statements in another database"));
            }
            _ => return self.called_value(module, arguments, ty),
        };
        let (mark, given) = (self.pending.len(), arguments.clone());
        self.expanding.push(place);
        // Who may call it may have what its owner has, as where it is run.
        let typed = self.in_view_of(owner, |binder| {
            binder.in_catalog(catalog, |binder| binder.in_body(arguments, |binder| binder.straight(&body)))
        });
        self.expanding.pop();
        let typed = typed?;
        // A definition has no place for a query: a function with one is run.
        let defines = self.scopes.last().is_some_and(|scope| scope.clause == Clause::Definition);
        if defines && !self.pending[mark..].iter().all(PendingApply::is_call) {
            self.pending.truncate(mark);
            return self.called_value(module, given, ty);
        }
        // A subquery of the body can read an argument, and so the row that the call stands in.
        for pending in &mut self.pending[mark..] {
            pending.correlated = true;
        }
        let nullable = typed.nullable;
        Ok(Typed::new(assign_to(typed, &ty, self.collation(), None)?, ty, nullable))
    }

    /// A call of a scalar function that is run: its value is the only one of the only row.
    fn called_value(
        &mut self,
        module: Arc<Function>,
        arguments: Vec<(String, Given)>,
        ty: SqlType,
    ) -> Result<Typed, Fault> {
        let mut values = Vec::new();
        for (_, given) in arguments {
            let Given::Value(typed) = given else {
                return Err(errors::unsupported("A table-valued parameter of a function of several statements"));
            };
            values.push(typed.expr);
        }
        // Its statements are not looked at here.
        self.undetermined();
        let variables = self.names.variables.len();
        let mut dependence = Dependence::None;
        let mut meet = |slot: usize| {
            if slot >= variables {
                dependence = Dependence::OnTime;
            }
        };
        values.iter().for_each(|value| value.visit_slots(&mut meet));
        let registers = self.registers(1);
        let index = self.virtual_sources.len();
        self.virtual_sources.push(VirtualSource::Function { function: module, arguments: None });
        let node = Node::Call { index, arguments: values, registers };
        let slot = self.wait_for(node, Test::Scalar(Expr::Slot(registers.first)), dependence);
        Ok(Typed::new(Expr::Slot(slot), ty, true))
    }

    /// A call of a table-valued function of several statements: its rows are fetched by running it.
    fn called_function(
        &mut self,
        source: &tree::TableFunction,
        lateral: bool,
        (function, catalog): (&tree::CreateFunction, &CatalogView),
        elements: &[tree::TableElement],
    ) -> Result<JoinTree, Fault> {
        let name = &source.call.name;
        let unknown = || Box::new(SqlError::invalid_object(name.dotted()));
        self.require(Permission::Select, name)?;
        let place = self.catalog().place(name)?.ok_or_else(unknown)?;
        if place.view.database.id() != self.names.catalog.database.id() {
            return Err(errors::unsupported("A function of several statements in another database"));
        }
        let Some(Object::Function(module)) = place.object().cloned() else {
            return Err(unknown());
        };
        let mut columns = returned_columns(catalog, self.names, elements)?;
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let mark = self.pending.len();
        let arguments = self.routine_arguments((function, catalog), &source.call);
        if !lateral {
            self.scope().sources = sources;
        }
        let mut values = Vec::new();
        for (_, given) in arguments? {
            let Given::Value(typed) = given else {
                return Err(errors::unsupported("A table-valued parameter of a function of several statements"));
            };
            values.push(typed.expr);
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        let alias = source.alias.as_ref().map_or_else(|| name.name.text.clone(), |alias| alias.text.clone());
        let rows = |arguments| VirtualSource::Function { function: module, arguments };
        let node = self.called(columns.len(), values, rows);
        rename(&mut columns, &source.columns, &alias)?;
        self.add(alias, None, columns, Leaf::Rows(node))
    }

    /// A call of a table-valued function in FROM.
    ///
    /// # Errors
    /// 208 when there is none; its body's errors.
    pub(crate) fn user_table_function(
        &mut self,
        source: &tree::TableFunction,
        lateral: bool,
    ) -> Result<JoinTree, Fault> {
        let name = &source.call.name;
        let unknown = || Box::new(SqlError::invalid_object(name.dotted()));
        let (module, catalog) = self.function_of(name)?.ok_or_else(unknown)?;
        let function = parsed_function(&module, &name.dotted())?;
        let query = match &function.returns {
            tree::FunctionReturns::Inline(query) => query,
            tree::FunctionReturns::Scalar { .. } => return Err(unknown()),
            tree::FunctionReturns::Table { elements, .. } => {
                return self.called_function(source, lateral, (&function, &catalog), elements);
            }
        };
        let owner = self.require(Permission::Select, name)?;
        // Arguments do not see the siblings in FROM; those at the right side of APPLY do.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let mark = self.pending.len();
        let arguments = self.routine_arguments((&function, &catalog), &source.call);
        let source_rows = arguments.and_then(|arguments| {
            if self.pending.len() > mark {
                return Err(Box::new(SqlError::subquery_not_allowed()));
            }
            self.in_view_of(owner, |binder| {
                binder.in_catalog(catalog, |binder| binder.in_body(arguments, |binder| binder.source_query(query)))
            })
        });
        if !lateral {
            self.scope().sources = sources;
        }
        let (mut leaf, mut columns) = source_rows?;
        of_known_types(&mut columns);
        let alias = source.alias.as_ref().map_or_else(|| name.name.text.clone(), |alias| alias.text.clone());
        let mut columns = infos(&columns);
        name_columns(&module.columns, name, &[], &mut columns)?;
        leaf.cut(&mut columns, module.columns.len());
        rename(&mut columns, &source.columns, &alias)?;
        self.add(alias, None, columns, leaf)
    }
}
