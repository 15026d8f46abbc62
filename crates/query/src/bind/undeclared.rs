//! What types the variables of a text should have that nothing declares, for drivers that prepare such a text.
//!
//! The text is bound as if each of them were NULL, which has no type. Wherever a value is brought into a type - the column that it
//! is stored in, the other side of a comparison or an operator, a function's parameter - that type is noted for the variable.

use std::collections::HashMap;
use std::sync::Arc;

use super::Declared;
use super::typed::Typed;
use crate::access::CatalogView;
use crate::context::ExecutionContext;
use crate::errors;
use crate::errors::syntax_error;
use crate::expression::{Expr, Fault};
use crate::host::Host;
use crate::output::{ColumnInfo, DecimalName};
use crate::program::{CompileContext, compile};
use crate::security::Requirement;
use pikepole_contention::sync::{Mutex, OnceLock};
use pikepole_engine::Permission;
use pikepole_tsql::{self as tree, StatementKind};
use pikepole_types::{SqlError, SqlType};

/// What one variable is wanted for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted(Arc<Uses>);

#[derive(Debug, Default)]
struct Uses {
    /// The type that it is wanted in.
    ty: OnceLock<SqlType>,
    /// The name that this goes by if it is a decimal.
    name: OnceLock<DecimalName>,
    /// Set if a query selects the variable itself.
    selected: OnceLock<()>,
}

impl Wanted {
    /// The first type stays.
    pub(crate) fn in_type(&self, ty: &SqlType) {
        if *ty != SqlType::Null {
            let _ = self.0.ty.set(*ty);
        }
    }

    /// The first name stays.
    pub(crate) fn by_name(&self, name: DecimalName) {
        let _ = self.0.name.set(name);
    }

    /// A query selects it.
    pub(crate) fn as_column(&self) {
        let _ = self.0.selected.set(());
    }

    /// Whether it is a column of a result whose type nothing says.
    fn is_column_without_type(&self) -> bool {
        self.0.selected.get().is_some() && self.0.ty.get().is_none()
    }
}

/// What is met while a text with undeclared variables is bound.
#[derive(Debug, Default)]
pub struct Undeclared {
    /// The variables.
    met: Mutex<Vec<(String, Wanted)>>,
    /// Set if a column of a result has got no type from anything.
    untyped_column: OnceLock<()>,
}

/// A variable that nothing declares, and what it should be.
#[derive(Debug, Clone)]
pub struct UndeclaredParameter {
    /// Its name.
    pub name: String,
    /// Its type.
    pub declared: Declared,
    /// Whether that is a decimal that goes by the name of `numeric`.
    pub is_numeric: bool,
    /// The parameter of a procedure that it is given for.
    pub formal: Option<String>,
    /// Whether the call says OUTPUT.
    pub output: bool,
}

/// "Must declare the scalar variable".
const UNDECLARED: i32 = 137;

/// A variable that a procedure is given. Of a user's type, which procedures' parameters alone ask for, it has that.
struct Argument {
    variable: String,
    of_users: Option<Declared>,
    formal: String,
    output: bool,
}

impl Undeclared {
    /// A variable as an expression.
    pub(crate) fn variable(&self, name: &str) -> Typed {
        let mut met = self.met.lock().unwrap_or_else(|e| e.into_inner());
        let known = met.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, wanted)| wanted.clone());
        let wanted = known.unwrap_or_else(|| {
            let wanted = Wanted::default();
            met.push((name.to_owned(), wanted.clone()));
            wanted
        });
        Typed { undeclared: Some(wanted), ..Typed::new(Expr::NULL, SqlType::Null, true) }
    }

    /// A query's result has these columns.
    pub(crate) fn shows(&self, columns: &[ColumnInfo]) {
        if columns.iter().any(|column| column.ty == SqlType::Null) {
            let _ = self.untyped_column.set(());
        }
    }
}

/// The columns of the first result set that a text gives when it runs, in which variables may be used that nothing declares; None: it
/// gives none, or only what runs before it can tell.
///
/// # Errors
/// As [`compile`]; 11521 where the type of a column is that of a variable of which nothing says it; 11525 and 11526 where temporary
/// tables stand in the way, 11513 and 11514 where the text is dynamic SQL.
pub fn first_result_set(
    text: &str,
    parameters: &str,
    context: &ExecutionContext,
    host: &dyn Host,
) -> Result<Option<Vec<ColumnInfo>>, Vec<SqlError>> {
    let compiling = context.compile_context(host);
    let errors = match compile(text, parameters, &compiling) {
        Ok(program) => return program.first_columns(&compiling).map_err(|error| vec![error]),
        Err(errors) => errors,
    };
    if !errors.iter().all(|error| error.number == UNDECLARED) {
        return Err(errors);
    }
    let undeclared = Undeclared::default();
    let program = compile(text, parameters, &CompileContext { undeclared: Some(&undeclared), ..compiling })?;
    let columns = program.first_columns(&context.compile_context(host)).map_err(|error| vec![error])?;
    let is_untyped = columns.is_some() && undeclared.untyped_column.get().is_some();
    let met = undeclared.met.into_inner().unwrap_or_else(|e| e.into_inner());
    match met.iter().find(|(_, wanted)| wanted.is_column_without_type()) {
        Some((name, _)) if is_untyped => {
            Err(vec![SqlError::undeclared_parameter_in_metadata(statement_with(text, name))])
        }
        _ => Ok(columns),
    }
}

/// The columns of the first result set of a text that the session prepares: its temporary tables are there, too.
///
/// # Errors
/// As [`compile`].
pub fn prepared_columns(
    text: &str,
    parameters: &str,
    context: &ExecutionContext,
    host: &dyn Host,
) -> Result<Option<Vec<ColumnInfo>>, Vec<SqlError>> {
    let compiling = CompileContext { catalog: context.catalog(), ..context.compile_context(host) };
    // What cannot be told yet is told when it runs.
    Ok(compile(text, parameters, &compiling)?.first_columns(&compiling).unwrap_or_default())
}

/// The statement of a batch that uses a variable.
fn statement_with<'a>(text: &'a str, variable: &str) -> &'a str {
    let mut uses = tree::variable_uses(text).into_iter();
    let place = uses.find(|(_, name)| name.eq_ignore_ascii_case(variable)).map(|(place, _)| place);
    let batch = tree::parse(text).ok();
    let mut statements = batch.iter().flat_map(|batch| &batch.statements).map(|statement| statement.span.range());
    let holds = statements.find(|range| place.is_some_and(|place| range.contains(&place)));
    holds.and_then(|range| text.get(range)).unwrap_or(text)
}

/// The variables that a batch uses and neither it nor `parameters` declares, in the order of the text, with their types.
///
/// # Errors
/// What is wrong with the batch, objects that are not there among it; 229 for what the session may not do; 11508 for a variable
/// used twice, 11502 for one whose type nothing says.
pub fn undeclared_parameters(
    text: &str,
    parameters: &str,
    context: &mut ExecutionContext,
    host: &dyn Host,
) -> Result<Vec<UndeclaredParameter>, Vec<SqlError>> {
    let undeclared = Undeclared::default();
    let mut arguments = Vec::new();
    let (program, calls) = {
        let compiling = context.compile_context(host);
        let options = tree::ParseOptions { quoted_identifier: compiling.settings.quoted_identifier };
        let batch = tree::parse_with(text, options).map_err(|error| vec![syntax_error(&error)])?;
        let mut calls = Vec::new();
        for statement in &batch.statements {
            if let StatementKind::Execute(call) = &statement.kind {
                let view = &compiling.catalog;
                let called = match arguments_of_system(call, &undeclared, &mut arguments, host) {
                    true => Ok(None),
                    false => arguments_of(call, &undeclared, &mut arguments, view),
                };
                calls.extend(called.map_err(|fault| vec![*fault])?);
            }
        }
        let program = compile(text, parameters, &CompileContext { undeclared: Some(&undeclared), ..compiling })?;
        (program, calls)
    };
    for requirements in program.requirements().into_iter().chain([calls]) {
        context.check(&requirements, None).map_err(|fault| vec![*fault])?;
    }
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, name) in tree::variable_uses(text) {
        places.entry(name.to_ascii_lowercase()).or_default().push(place);
    }
    let mut found: Vec<(usize, UndeclaredParameter)> = Vec::new();
    for (name, wanted) in undeclared.met.into_inner().unwrap_or_else(|e| e.into_inner()) {
        let Some([place]) = places.get(&name.to_ascii_lowercase()).map(Vec::as_slice) else {
            return Err(vec![SqlError::undeclared_parameter_used_twice(name)]);
        };
        let argument = arguments.iter().find(|argument| argument.variable.eq_ignore_ascii_case(&name));
        let of_users = argument.and_then(|argument| argument.of_users.clone());
        let declared = of_users.or_else(|| wanted.0.ty.get().map(|ty| Declared::System(*ty)));
        let declared = declared.ok_or_else(|| vec![SqlError::parameter_type_not_deduced(&name)])?;
        let formal = argument.map(|argument| argument.formal.clone());
        let output = argument.is_some_and(|argument| argument.output);
        let is_decimal = matches!(declared.scalar(), Some(SqlType::Decimal { .. }));
        let is_numeric = is_decimal && wanted.0.name.get() == Some(&DecimalName::Numeric);
        found.push((*place, UndeclaredParameter { name, declared, is_numeric, formal, output }));
    }
    found.sort_unstable_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, parameter)| parameter).collect())
}

/// The same for a procedure of the system's; false for any other.
fn arguments_of_system(
    call: &tree::Execute,
    undeclared: &Undeclared,
    arguments: &mut Vec<Argument>,
    host: &dyn Host,
) -> bool {
    let tree::ExecuteTarget::Procedure { name, .. } = &call.target else { return false };
    let Some(id) = host.system_procedure(&name.name.text) else { return false };
    let parameters = host.procedure_parameters(id);
    for (at, argument) in call.arguments.iter().enumerate() {
        let Some(tree::ExprKind::Variable(variable)) = argument.value.as_ref().map(|value| &value.kind) else {
            continue;
        };
        let parameter = match &argument.name {
            Some(given) => parameters.iter().find(|(name, _)| given.is(name)),
            None => parameters.get(at),
        };
        let Some((formal, Some(ty))) = parameter else { continue };
        undeclared.variable(&variable.text).want(ty);
        arguments.push(Argument {
            variable: variable.text.clone(),
            of_users: None,
            formal: (*formal).to_owned(),
            output: argument.output,
        });
    }
    true
}

/// Notes the types of a procedure's parameters for the variables that a call gives it. What is needed to call it.
fn arguments_of(
    call: &tree::Execute,
    undeclared: &Undeclared,
    arguments: &mut Vec<Argument>,
    view: &CatalogView,
) -> Result<Option<Requirement>, Fault> {
    let tree::ExecuteTarget::Procedure { name, .. } = &call.target else { return Ok(None) };
    let Some(place) = view.place(name)? else { return Ok(None) };
    let Some(procedure) = place.view.catalog.procedure(&place.schema, &place.name).cloned() else { return Ok(None) };
    let callee = place.view.of_module(&procedure);
    let batch = tree::parse(&procedure.text).map_err(|error| Box::new(syntax_error(&error)))?;
    let Some(StatementKind::CreateProcedure(create)) = batch.statements.first().map(|statement| &statement.kind) else {
        return Err(errors::unsupported("This procedure"));
    };
    for (at, argument) in call.arguments.iter().enumerate() {
        let Some(tree::ExprKind::Variable(variable)) = argument.value.as_ref().map(|value| &value.kind) else {
            continue;
        };
        let parameter = match &argument.name {
            Some(name) => create.parameters.iter().find(|parameter| parameter.name.is(&name.text)),
            None => create.parameters.get(at),
        };
        let Some(parameter) = parameter else { continue };
        let declared = super::declared(&callee.catalog, &callee.meant(&parameter.data_type), 1)?;
        let met = undeclared.variable(&variable.text);
        if let Some(ty) = declared.scalar() {
            met.want(&ty);
            if let Some(wanted) = &met.undeclared {
                wanted.by_name(DecimalName::written(declared.second_name()));
            }
        }
        arguments.push(Argument {
            variable: variable.text.clone(),
            of_users: Some(declared).filter(|declared| declared.user_type().is_some()),
            formal: parameter.name.text.clone(),
            output: argument.output,
        });
    }
    Requirement::of(view, name, Permission::Execute)
}
