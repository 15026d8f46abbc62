//! Triggers and functions of several statements become programs.

use std::sync::Arc;

use super::compile::{CompileContext, Compiler, SUBQUERY_NOT_ALLOWED};
use super::{FunctionResult, Instruction, LateKind, ProcedureIdentity, Program, Variable, check_statements};
use crate::bind::{Binder, COLUMNS_UPDATED, Declared, PendingApply, SchemaBound, TriggerShape, TypePlace};
use crate::expression::{Expr, Fault};
use crate::plan::Told;
use pikepole_tsql::{self as tree, StatementKind};
use pikepole_types::{Length, SqlError, SqlType};

/// Compiles a trigger from its stored text; one of definitions has no shape.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_trigger(
    text: &str,
    identity: ProcedureIdentity,
    shape: Option<TriggerShape>,
    context: &CompileContext<'_>,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let batch = super::parse(text, identity.parse_options()).map_err(|error| vec![error])?;
    let Some(StatementKind::CreateTrigger(trigger)) = batch.statements.first().map(|statement| &statement.kind) else {
        return Err(vec![SqlError::procedure_unknown(&identity.name)]);
    };
    let mut compiler = Compiler::new(text, context);
    let statements = trigger.body.statements();
    compiler.reserve(shape.as_ref().map_or(0, |shape| 1 + shape.len()), statements);
    if let Some(shape) = shape {
        compiler.variables.push(Variable::new("", COLUMNS_UPDATED));
        compiler.variables.extend((0..shape.len()).map(|_| Variable::new("", SqlType::Bit)));
        compiler.trigger = Some(Arc::new(shape));
    }
    if matches!(trigger.body, tree::ModuleBody::External(_)) {
        let fault = crate::errors::unsupported("EXTERNAL NAME");
        compiler.errors.push(*fault);
    }
    let bound = || SchemaBound::of("trigger", &trigger.name.dotted(), &trigger.options);
    let bound =
        identity.is_to_be().then(bound).flatten().filter(|_| tree::says(&trigger.options, "NATIVE_COMPILATION"));
    compiler.module_body(&trigger.options, &trigger.body, bound);
    compiler.finish(Some(identity))
}

/// Compiles a function of statements, of a value or of rows, from its stored text.
///
/// # Errors
/// As [`compile`].
pub(crate) fn compile_function(
    text: &str,
    identity: ProcedureIdentity,
    context: &CompileContext<'_>,
) -> Result<Arc<Program>, Vec<SqlError>> {
    let batch = super::parse(text, identity.parse_options()).map_err(|error| vec![error])?;
    let kind = batch.statements.first().map(|statement| &statement.kind);
    let Some(StatementKind::CreateFunction(function)) = kind else {
        return Err(vec![SqlError::invalid_object(&identity.name)]);
    };
    let body = match &function.returns {
        tree::FunctionReturns::Table { body, .. } | tree::FunctionReturns::Scalar { body, .. } => body,
        tree::FunctionReturns::Inline(_) => return Err(vec![SqlError::invalid_object(&identity.name)]),
    };
    let mut compiler = Compiler::new(text, context);
    // What SCHEMABINDING asks of a text is asked when it is made.
    if identity.is_to_be() {
        compiler.schema_bound = SchemaBound::of("function", &function.name.dotted(), &function.options);
        compiler.in_function = true;
    }
    let statements = body.statements();
    compiler.reserve(function.parameters.len(), statements);
    compiler.parameters(&function.parameters);
    match &function.returns {
        tree::FunctionReturns::Table { variable, elements, .. } => {
            let returned = tree::TableVariable { name: variable.clone(), elements: elements.clone() };
            compiler.returned_table(returned);
            compiler.returns = Some(FunctionResult::Table(variable.text.as_str().into()));
        }
        tree::FunctionReturns::Scalar { data_type, .. } => {
            let declared = compiler.declared(data_type, TypePlace::Declaration, 1);
            if let Some(Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty)) =
                compiler.keep(declared)
            {
                compiler.returns = Some(FunctionResult::Value(compiler.return_slot(), ty));
            }
        }
        tree::FunctionReturns::Inline(_) => {}
    }
    let checked = check_statements(statements);
    compiler.keep(checked);
    compiler.module_body(&function.options, body, None);
    if compiler.in_function {
        compiler.check_unbound_texts(text);
    }
    compiler.finish(Some(identity))
}

impl Compiler<'_> {
    /// Statements on tables that the function declares are bound when it runs: here their text alone is looked at for what no function
    /// may do.
    fn check_unbound_texts(&mut self, text: &str) {
        let refused = |error: &SqlError| {
            error.number == SqlError::side_effect_in_function("").number
                || error.number == SqlError::temporary_table_in_function().number
        };
        if self.errors.iter().any(refused) {
            return;
        }
        let is_refused = |name: &str| {
            let changes = pikepole_types::lookup(name).is_some_and(pikepole_types::Function::has_side_effects);
            changes || name.eq_ignore_ascii_case("NEWSEQUENTIALID")
        };
        if let Some((name, line)) = tree::bare_calls(text).into_iter().find(|(name, _)| is_refused(name)) {
            self.errors.push(SqlError::side_effect_in_function(name.to_ascii_lowercase()).at_line(line));
        } else if tree::names_temporary(text) {
            self.errors.push(SqlError::temporary_table_in_function());
        }
    }

    /// The text of an expression that calls functions, which a statement of its own evaluates before.
    pub(super) fn text_of_function(&mut self, expr: &tree::Expr) -> Option<Result<Expr, Fault>> {
        let ty = {
            let names = self.names();
            let mut binder = Binder::new(&names, self.reserved);
            let typed = binder.expr(expr).ok()?;
            if binder.is_plain() || !binder.pending.iter().all(PendingApply::is_call) {
                return None;
            }
            if typed.ty.is_string() { typed.ty } else { SqlType::NVarChar(Length::Limit(4000)) }
        };
        let slot = self.return_slot();
        self.late_statement(LateKind::Value { expr: expr.clone(), slot, ty, told: Told::Nothing });
        Some(Ok(Expr::Slot(slot)))
    }

    /// RETURN of a function that gives a value.
    pub(super) fn return_of_function(
        &mut self,
        value: Option<&tree::Expr>,
        slot: usize,
        ty: SqlType,
    ) -> Result<(), Fault> {
        let value = value.ok_or_else(SqlError::return_without_value)?;
        match self.typed_as(value, &ty) {
            Ok(value) => {
                self.emit(Instruction::Assign { slot, value });
            }
            Err(fault) if fault.number == SUBQUERY_NOT_ALLOWED || self.is_deferred(&fault) => {
                self.late_statement(LateKind::Value { expr: value.clone(), slot, ty, told: Told::Nothing });
            }
            Err(fault) => return Err(fault),
        }
        self.return_from(None);
        Ok(())
    }
}
