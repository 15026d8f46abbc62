//! System procedures of old that stand for a definition: `sp_addtype` and `sp_droptype`. A call of one runs the statement that
//! took its place.

use super::Machine;
use super::call::first_error;
use crate::expression::Fault;
use crate::program::Execute;
use pikepole_tsql::DataType;
use pikepole_types::{SqlError, Value};

/// One of these procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Definition {
    AddType,
    DropType,
}

impl Definition {
    pub(crate) fn of(name: &str) -> Option<Definition> {
        let all = [Definition::AddType, Definition::DropType];
        all.into_iter().find(|procedure| procedure.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            Definition::AddType => "sp_addtype",
            Definition::DropType => "sp_droptype",
        }
    }

    /// Its parameters, in order, and how many of them must be given.
    fn parameters(self) -> (&'static [&'static str], usize) {
        match self {
            Definition::AddType => (&["@typename", "@phystype", "@nulltype", "@owner"], 2),
            Definition::DropType => (&["@typename"], 1),
        }
    }

    /// The statement, from what was given for the parameters.
    fn statement(self, given: &[Option<String>]) -> Result<String, SqlError> {
        let text = |at: usize| given[at].as_deref().unwrap_or_default();
        let name = bracketed(text(0));
        match self {
            Definition::DropType => Ok(format!("DROP TYPE {name}")),
            Definition::AddType => {
                let null = match text(2).trim().to_ascii_uppercase().as_str() {
                    "" | "NULL" => "NULL",
                    "NOT NULL" | "NONULL" => "NOT NULL",
                    _ => return Err(SqlError::invalid_parameter_or_option("sys.sp_addtype")),
                };
                let owner = given[3].as_deref().map_or(String::new(), |owner| format!("{}.", bracketed(owner)));
                let base = type_of(text(1)).ok_or_else(|| SqlError::data_type_missing(text(1)))?;
                Ok(format!("CREATE TYPE {owner}{name} FROM {base} {null}"))
            }
        }
    }
}

/// The type that a text names, if it names one and says nothing else.
fn type_of(text: &str) -> Option<DataType> {
    let declared = pikepole_tsql::parse_parameters(&format!("@p {text}")).ok()?;
    let [only] = declared.as_slice() else { return None };
    let is_plain = only.default.is_none() && only.nullable.is_none() && !only.output && !only.readonly;
    is_plain.then(|| only.data_type.clone())
}

fn bracketed(name: &str) -> String {
    format!("[{}]", name.replace(']', "]]"))
}

impl Machine<'_> {
    /// Calls one of these procedures.
    pub(crate) fn execute_definition(&mut self, procedure: Definition, call: &Execute) -> Result<(), Fault> {
        let (parameters, required) = procedure.parameters();
        let mut given: Vec<Option<String>> = vec![None; parameters.len()];
        for (at, argument) in call.arguments.iter().enumerate() {
            let at = match &argument.name {
                None => at,
                Some(name) => {
                    let found = parameters.iter().position(|parameter| parameter.eq_ignore_ascii_case(name));
                    found.ok_or_else(|| SqlError::not_a_parameter(name, procedure.name()))?
                }
            };
            let place = given.get_mut(at).ok_or_else(|| SqlError::too_many_arguments(procedure.name()))?;
            *place = match argument.value.as_ref().map(|value| value.eval(&mut self.env())).transpose()? {
                Some(Value::Str(text)) => Some(text),
                _ => None,
            };
        }
        if let Some(at) = given[..required].iter().position(Option::is_none) {
            return Err(Box::new(SqlError::parameter_not_supplied(procedure.name(), parameters[at])));
        }
        let text = procedure.statement(&given)?;
        let program = crate::prepare(&text, "", self.context, &*self.host).map_err(first_error)?;
        self.call(program, &[], call.status, procedure.name())
    }
}
