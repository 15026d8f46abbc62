//! Users' functions: a call is replaced by what the function's body says, its parameters by the arguments.
//!
//! A scalar function whose body is one RETURN becomes that expression; an inline table-valued function becomes its query, as
//! a view does. A body sees its parameters and nothing of the query around the call.

use super::data_type::{TypePlace, sql_type};
use super::join::{JoinTree, Leaf};
use super::source::{infos, rename, too_few_arguments};
use super::typed::Typed;
use super::{Binder, Bound, Names, Scope, assign_to};
use crate::errors;
use crate::expression::{Expr, Fault};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// The function that a stored text makes.
pub(crate) fn parsed_function(text: &str, name: &str) -> Result<tree::CreateFunction, Fault> {
    let batch = tree::parse(text).map_err(|error| Box::new(crate::program::syntax_error(&error)))?;
    match batch.statements.into_iter().next().map(|statement| statement.kind) {
        Some(tree::StatementKind::CreateFunction(function)) => Ok(*function),
        _ => Err(Box::new(SqlError::invalid_object(name))),
    }
}

/// Checks a function that is to be made.
///
/// # Errors
/// Names and types of its body; 4514 for a column without a name; what is not supported, by name.
pub(crate) fn check_function(function: &tree::CreateFunction, names: &Names<'_>) -> Result<(), Fault> {
    for option in &function.options {
        match option {
            tree::ModuleOption::Word(word) if word == "RETURNS NULL ON NULL INPUT" => {
                return Err(errors::unsupported("RETURNS NULL ON NULL INPUT"));
            }
            tree::ModuleOption::ExecuteAs(_) => return Err(errors::unsupported("EXECUTE AS of a function")),
            _ => {}
        }
    }
    let mut binder = Binder::new(names, 0);
    let mut arguments = Vec::new();
    for (place, parameter) in function.parameters.iter().enumerate() {
        if parameter.readonly || parameter.output {
            return Err(errors::unsupported("A table or OUTPUT parameter of a function"));
        }
        let ty = sql_type(&parameter.data_type, TypePlace::Declaration, place + 1)?;
        if arguments.iter().any(|(name, _): &(String, Typed)| parameter.name.is(name)) {
            return Err(Box::new(SqlError::variable_declared_twice(&parameter.name.text)));
        }
        let slot = binder.register();
        arguments.push((parameter.name.text.clone(), Typed::new(Expr::Slot(slot), ty, true)));
    }
    match &function.returns {
        tree::FunctionReturns::Scalar { data_type, body } => {
            let ty = sql_type(data_type, TypePlace::Declaration, 1)?;
            let value = returned(body)?;
            let typed = binder.in_body(arguments, |binder| binder.expr(value))?;
            assign_to(typed, &ty, None)?;
            Ok(())
        }
        tree::FunctionReturns::Inline(query) => {
            let bound = binder.in_body(arguments, |binder| binder.query(query))?;
            match bound.columns.iter().position(|column| column.name.is_empty()) {
                None => Ok(()),
                Some(at) => Err(Box::new(SqlError::new(
                    4514,
                    16,
                    1,
                    format!("CREATE FUNCTION failed because a column name is not specified for column {}.", at + 1),
                ))),
            }
        }
        tree::FunctionReturns::Table { .. } => Err(many_statements("table-valued")),
    }
}

fn many_statements(kind: &str) -> Fault {
    errors::unsupported(format!("A {kind} function of several statements"))
}

/// The expression of a body that is one RETURN.
fn returned(body: &tree::ModuleBody) -> Result<&tree::Expr, Fault> {
    let mut statements = body.statements();
    while let [tree::Statement { kind: tree::StatementKind::Block(inner), .. }] = statements {
        statements = inner;
    }
    match statements {
        [tree::Statement { kind: tree::StatementKind::Return(Some(value)), .. }] => Ok(value),
        _ => Err(many_statements("scalar")),
    }
}

impl Binder<'_> {
    /// What a parameter of the function being expanded stands for; None outside of functions.
    pub(crate) fn parameter(&self, name: &tree::Name) -> Result<Option<Typed>, Fault> {
        let Some(parameters) = self.parameters.last() else {
            return Ok(None);
        };
        let found = parameters.iter().find(|(parameter, _)| name.is(parameter));
        let unknown = || Box::new(SqlError::variable_not_declared(&name.text));
        found.map(|(_, argument)| Some(argument.clone())).ok_or_else(unknown)
    }

    /// Binds a function's body: it sees its parameters and no column from outside.
    fn in_body<T>(
        &mut self,
        arguments: Vec<(String, Typed)>,
        bind: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        self.parameters.push(arguments);
        self.scopes.push(Scope { barrier: true, ..Scope::default() });
        let bound = self.nested(bind);
        self.scopes.pop();
        self.parameters.pop();
        bound
    }

    fn function_text(&self, name: &tree::ObjectName) -> Result<Option<String>, Fault> {
        let Some(schema) = self.names.catalog.schema_of(name)? else {
            return Ok(None);
        };
        let found = self.names.catalog.catalog.function(schema, &name.name.text);
        Ok(found.map(|function| function.text.clone()))
    }

    /// The arguments of a call, each of its parameter's type.
    fn routine_arguments(
        &mut self,
        function: &tree::CreateFunction,
        call: &tree::FunctionCall,
    ) -> Result<Vec<(String, Typed)>, Fault> {
        let shown = call.name.dotted();
        if call.arguments.len() > function.parameters.len() {
            return Err(Box::new(SqlError::too_many_arguments(shown)));
        }
        if call.arguments.len() < function.parameters.len() {
            return Err(Box::new(too_few_arguments(&shown)));
        }
        let mut arguments = Vec::with_capacity(function.parameters.len());
        for (place, (parameter, argument)) in function.parameters.iter().zip(&call.arguments).enumerate() {
            let ty = sql_type(&parameter.data_type, TypePlace::Declaration, place + 1)?;
            let value = argument.expr().or(parameter.default.as_ref());
            let typed = match value {
                Some(value) => self.expr(value)?,
                None => {
                    let missing = SqlError::parameter_not_supplied(&shown, &parameter.name.text);
                    return Err(Box::new(missing));
                }
            };
            let nullable = typed.nullable;
            let value = assign_to(typed, &ty, None)?;
            arguments.push((parameter.name.text.clone(), Typed::new(value, ty, nullable)));
        }
        Ok(arguments)
    }

    /// A call of a scalar function.
    ///
    /// # Errors
    /// 4121 when there is none; its body's errors; a body that is more than one RETURN, by name.
    pub(crate) fn user_function(&mut self, call: &tree::FunctionCall) -> Result<Typed, Fault> {
        let unknown = || {
            let schema = call.name.schema_str().unwrap_or_default();
            let name = call.name.dotted();
            let text = format!(
                "Cannot find either column \"{schema}\" or the user-defined function or aggregate \"{name}\", or the name is ambiguous."
            );
            Box::new(SqlError::new(4121, 16, 1, text))
        };
        let text = self.function_text(&call.name)?.ok_or_else(unknown)?;
        let function = parsed_function(&text, &call.name.dotted())?;
        let tree::FunctionReturns::Scalar { data_type, body } = &function.returns else {
            return Err(unknown());
        };
        let ty: SqlType = sql_type(data_type, TypePlace::Declaration, 1)?;
        let value = returned(body)?;
        let arguments = self.routine_arguments(&function, call)?;
        let mark = self.pending.len();
        let typed = self.in_body(arguments, |binder| binder.expr(value))?;
        // A subquery of the body can read an argument, and so the row that the call stands in.
        for pending in &mut self.pending[mark..] {
            pending.correlated = true;
        }
        let nullable = typed.nullable;
        Ok(Typed::new(assign_to(typed, &ty, None)?, ty, nullable))
    }

    /// A call of an inline table-valued function in FROM.
    ///
    /// # Errors
    /// 208 when there is none; its body's errors; a function of several statements, by name.
    pub(crate) fn user_table_function(
        &mut self,
        source: &tree::TableFunction,
        lateral: bool,
    ) -> Result<JoinTree, Fault> {
        let name = &source.call.name;
        let unknown = || Box::new(SqlError::invalid_object(name.dotted()));
        let text = self.function_text(name)?.ok_or_else(unknown)?;
        let function = parsed_function(&text, &name.dotted())?;
        let query = match &function.returns {
            tree::FunctionReturns::Inline(query) => query,
            tree::FunctionReturns::Scalar { .. } => return Err(unknown()),
            tree::FunctionReturns::Table { .. } => return Err(many_statements("table-valued")),
        };
        // Arguments do not see the siblings in FROM; those at the right side of APPLY do.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let mark = self.pending.len();
        let arguments = self.routine_arguments(&function, &source.call);
        let bound = arguments.and_then(|arguments| {
            if self.pending.len() > mark {
                return Err(Box::new(SqlError::subquery_not_allowed()));
            }
            self.in_body(arguments, |binder| binder.query(query))
        });
        if !lateral {
            self.scope().sources = sources;
        }
        let bound: Bound = bound?;
        let alias = source.alias.as_ref().map_or_else(|| name.name.text.clone(), |alias| alias.text.clone());
        let mut columns = infos(&bound.columns);
        rename(&mut columns, &source.columns, &alias)?;
        self.add(alias, None, columns, Leaf::Derived(bound))
    }
}
