//! What WITH SCHEMABINDING asks of the text of a view or function: names of two parts that mean nothing of the system's and no module
//! that is not bound itself, and no star. It is looked at when the module is made; what other modules say is theirs.

use super::Binder;
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// The module that is being made WITH SCHEMABINDING.
#[derive(Debug, Clone)]
pub(crate) struct SchemaBound {
    /// `view` or `function`.
    kind: &'static str,
    name: String,
}

/// True when the module that a text makes is bound to the schema.
pub(crate) fn is_bound(text: &str) -> bool {
    tree::parse(text).is_ok_and(|batch| tree::says(tree::module_options(&batch), "SCHEMABINDING"))
}

impl SchemaBound {
    /// What a module of these options is bound by; None: it is not.
    pub(crate) fn of(kind: &'static str, name: &str, options: &[tree::ModuleOption]) -> Option<SchemaBound> {
        tree::says(options, "SCHEMABINDING").then(|| SchemaBound { kind, name: name.to_owned() })
    }
}

impl Binder<'_> {
    /// From here on the text of this module is bound; what is asked of it depends on its options.
    pub(crate) fn begin_module(&mut self, kind: &'static str, name: &str, options: &[tree::ModuleOption]) {
        self.schema_bound = SchemaBound::of(kind, name, options);
        self.in_module = true;
    }

    /// # Errors
    /// 4512 for a name that has not two parts, 2720 for one of the system's.
    pub(super) fn check_bound_name(&self, name: &tree::ObjectName) -> Result<(), Fault> {
        let Some(SchemaBound { kind, name: module }) = &self.schema_bound else { return Ok(()) };
        let Some(schema) = name.schema_str().filter(|_| name.database.is_none()) else {
            return Err(Box::new(SqlError::schema_bound_name_invalid(kind, module, name.dotted())));
        };
        if schema.eq_ignore_ascii_case("sys") || schema.eq_ignore_ascii_case("information_schema") {
            return Err(Box::new(SqlError::schema_bound_to_system_object(kind, module, name.dotted())));
        }
        Ok(())
    }

    /// # Errors
    /// 4513 for a view or function, of this text, that is not bound to the schema.
    pub(super) fn check_bound_module(&self, name: &tree::ObjectName, text: &str) -> Result<(), Fault> {
        let Some(SchemaBound { kind, name: module }) = &self.schema_bound else { return Ok(()) };
        if is_bound(text) {
            return Ok(());
        }
        Err(Box::new(SqlError::schema_bound_to_unbound(kind, module, name.dotted())))
    }

    /// # Errors
    /// 1054: there is no star in what is bound to the schema.
    pub(super) fn check_bound_star(&self) -> Result<(), Fault> {
        if self.schema_bound.is_none() {
            return Ok(());
        }
        Err(Box::new(SqlError::syntax_not_schema_bound("*")))
    }
}
