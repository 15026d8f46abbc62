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
use crate::expression::{Expr, Fault};
use crate::host::Host;
use crate::output::DecimalName;
use crate::program::{CompileContext, compile, syntax_error};
use crate::security::Requirement;
use pikepole_contention::sync::{Mutex, OnceLock};
use pikepole_engine::Permission;
use pikepole_tsql::{self as tree, StatementKind};
use pikepole_types::{SqlError, SqlType};

/// The type that one variable is wanted in, and the name that this goes by if it is a decimal.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted(Arc<(OnceLock<SqlType>, OnceLock<DecimalName>)>);

impl Wanted {
    /// The first type stays.
    pub(crate) fn in_type(&self, ty: &SqlType) {
        if *ty != SqlType::Null {
            let _ = self.0.0.set(*ty);
        }
    }

    /// The first name stays.
    pub(crate) fn by_name(&self, name: DecimalName) {
        let _ = self.0.1.set(name);
    }
}

/// The undeclared variables that have been met.
#[derive(Debug, Default)]
pub struct Undeclared(Mutex<Vec<(String, Wanted)>>);

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
        let mut met = self.0.lock().unwrap_or_else(|e| e.into_inner());
        let known = met.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, wanted)| wanted.clone());
        let wanted = known.unwrap_or_else(|| {
            let wanted = Wanted::default();
            met.push((name.to_owned(), wanted.clone()));
            wanted
        });
        Typed { undeclared: Some(wanted), ..Typed::new(Expr::NULL, SqlType::Null, true) }
    }
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
                let called = arguments_of(call, &undeclared, &mut arguments, &compiling.catalog);
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
    for (name, wanted) in undeclared.0.into_inner().unwrap_or_else(|e| e.into_inner()) {
        let Some([place]) = places.get(&name.to_ascii_lowercase()).map(Vec::as_slice) else {
            return Err(vec![SqlError::undeclared_parameter_used_twice(name)]);
        };
        let argument = arguments.iter().find(|argument| argument.variable.eq_ignore_ascii_case(&name));
        let of_users = argument.and_then(|argument| argument.of_users.clone());
        let declared = of_users.or_else(|| wanted.0.0.get().map(|ty| Declared::System(*ty)));
        let declared = declared.ok_or_else(|| vec![SqlError::parameter_type_not_deduced(&name)])?;
        let formal = argument.map(|argument| argument.formal.clone());
        let output = argument.is_some_and(|argument| argument.output);
        let is_decimal = matches!(declared.scalar(), Some(SqlType::Decimal { .. }));
        let is_numeric = is_decimal && wanted.0.1.get() == Some(&DecimalName::Numeric);
        found.push((*place, UndeclaredParameter { name, declared, is_numeric, formal, output }));
    }
    found.sort_unstable_by_key(|(place, _)| *place);
    Ok(found.into_iter().map(|(_, parameter)| parameter).collect())
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
    let catalog = &place.view.catalog;
    let Some(procedure) = catalog.procedure(&place.schema, &place.name) else { return Ok(None) };
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
        let declared = super::declared(catalog, &parameter.data_type, 1)?;
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
