//! EXEC and INSERT ... EXEC.

use super::compile::Compiler;
use super::{CallArgument, Callee, Execute, ExecuteTarget, InsertCaptured, Instruction, LateKind, LoadOptions};
use crate::access::meant_type;
use crate::bind::{TypePlace, parsed_function, sql_type};
use crate::expression::Fault;
use crate::output::ColumnInfo;
use crate::plan::Told;
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

impl Compiler<'_> {
    pub(super) fn execute(&mut self, call: &tree::Execute) -> Result<(), Fault> {
        let promised = match &call.result_sets {
            None | Some(tree::ResultSets::Undefined) => return self.call(call),
            Some(tree::ResultSets::None) => Vec::new(),
            Some(tree::ResultSets::Sets(sets)) => {
                sets.iter().map(|set| self.promised_columns(set)).collect::<Result<Vec<_>, Fault>>()?
            }
        };
        self.emit(Instruction::Promise(promised.into()));
        self.call(call)?;
        self.emit(Instruction::Fulfil);
        Ok(())
    }

    /// The columns of one set of WITH RESULT SETS.
    fn promised_columns(&self, set: &[tree::ColumnDefinition]) -> Result<Vec<ColumnInfo>, Fault> {
        let column = |(at, definition): (usize, &tree::ColumnDefinition)| {
            let tree::ColumnKind::Stored(written) = &definition.kind else {
                return Err(crate::errors::unsupported("A computed column in WITH RESULT SETS"));
            };
            let ty = sql_type(&self.context.catalog.catalog, written, TypePlace::Declaration, at + 1)?;
            Ok(ColumnInfo::new(definition.name.text.clone(), ty, definition.nullable != Some(false)))
        };
        set.iter().enumerate().map(column).collect()
    }

    fn call(&mut self, call: &tree::Execute) -> Result<(), Fault> {
        let target = match &call.target {
            tree::ExecuteTarget::Procedure { name, .. } => match self.function_call(name, &call.arguments)? {
                None => ExecuteTarget::Named(name.clone()),
                Some((value, ty)) => {
                    let (slot, ty) = match &call.status {
                        Some(name) => self.variable(name)?,
                        // Its value is of no interest to anybody.
                        None => (self.return_slot(), ty),
                    };
                    self.late_statement(LateKind::Value { expr: value, slot, ty, told: Told::Nothing });
                    return Ok(());
                }
            },
            tree::ExecuteTarget::Variable(name) => ExecuteTarget::Variable(self.variable(name)?.0),
            tree::ExecuteTarget::Text { text, at, run_as, .. } => {
                if at.is_some() || run_as.is_some() {
                    return Err(crate::errors::unsupported("EXECUTE ... AT or AS"));
                }
                let text = self.text_value(text)?;
                self.emit(Instruction::ExecuteText(text));
                return Ok(());
            }
        };
        let mut arguments = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            arguments.push(self.argument(argument)?);
        }
        let status = match (&call.status, self.context.undeclared) {
            (None, _) => None,
            // As for output: what is only described needs no place.
            (Some(name), Some(undeclared)) if self.variable(name).is_err() => {
                undeclared.variable(&name.text).want(&SqlType::Int);
                None
            }
            (Some(name), _) => Some(self.variable(name)?),
        };
        self.emit(Instruction::Execute(Box::new(Execute { target, arguments, status, recompiles: call.recompile })));
        Ok(())
    }

    /// EXEC of a scalar function as the call that it is, and the type of its value; None for what is none when the text is
    /// compiled.
    fn function_call(
        &mut self,
        name: &tree::ObjectName,
        given: &[tree::ExecuteArgument],
    ) -> Result<Option<(tree::Expr, SqlType)>, Fault> {
        let context = self.context;
        let mut callee = |schema: &str, name: &str, is_function: bool| {
            let (schema, name) = (schema.to_owned(), name.to_owned());
            self.callees.push(Callee { schema, name, is_function });
        };
        let Ok(Some(place)) = context.catalog.place(name) else {
            callee(name.schema_str().unwrap_or("dbo"), &name.name.text, false);
            return Ok(None);
        };
        let Some(function) = place.view.catalog.function(&place.schema, &place.name) else {
            // The system's procedures are no objects, and never become functions.
            if place.object().is_none() && !place.name.starts_with("sp_") && !place.name.starts_with("xp_") {
                callee(&place.schema, &place.name, false);
            }
            return Ok(None);
        };
        if place.view.database.id() == context.catalog.database.id() {
            callee(&place.schema, &place.name, true);
        }
        let function = parsed_function(function, &name.dotted())?;
        let tree::FunctionReturns::Scalar { data_type, .. } = &function.returns else {
            let (shown, kind) = (name.dotted(), "table valued function");
            return Err(Box::new(SqlError::wrong_object_kind("procedure", &shown, &shown, kind)));
        };
        let meant = meant_type(&place.view.catalog, Some(&place.schema), data_type);
        let ty = sql_type(&place.view.catalog, &meant, TypePlace::Declaration, 1)?;
        let mut arguments = vec![tree::FunctionArgument::Default; function.parameters.len()];
        for (at, argument) in given.iter().enumerate() {
            let place = match &argument.name {
                None => at,
                Some(own) => {
                    let found = function.parameters.iter().position(|parameter| parameter.name.is(own.as_str()));
                    found.ok_or_else(|| SqlError::not_a_parameter(&own.text, name.dotted()))?
                }
            };
            let slot = arguments.get_mut(place).ok_or_else(|| SqlError::too_many_arguments(name.dotted()))?;
            if argument.output {
                return Err(Box::new(SqlError::not_an_output_parameter(&function.parameters[place].name.text)));
            }
            if let Some(value) = &argument.value {
                *slot = tree::FunctionArgument::Expr(value.clone());
            }
        }
        let mut name = name.clone();
        let schema = tree::Name { text: "dbo".to_owned(), ..name.name.clone() };
        name.schema.get_or_insert(schema);
        let span = name.name.span;
        let call = tree::FunctionCall { arguments, ..tree::FunctionCall::named(name) };
        Ok(Some((tree::Expr { kind: tree::ExprKind::Function(Box::new(call)), span }, ty)))
    }

    fn argument(&mut self, argument: &tree::ExecuteArgument) -> Result<CallArgument, Fault> {
        if let Some(tree::ExprKind::Variable(name)) = argument.value.as_ref().map(|value| &value.kind)
            && !argument.output
            && let Some(table) = self.tables.iter().find(|table| table.is(&name.text))
        {
            return Ok(CallArgument {
                name: argument.name.as_ref().map(|name| name.text.clone()),
                value: None,
                ty: SqlType::Null,
                table: Some(table.text.clone()),
                cursor: None,
                output: None,
            });
        }
        if let Some(tree::ExprKind::Variable(name)) = argument.value.as_ref().map(|value| &value.kind)
            && let Some(cursor) = self.cursors.iter().find(|cursor| cursor.is(&name.text))
        {
            return Ok(CallArgument {
                name: argument.name.as_ref().map(|name| name.text.clone()),
                value: None,
                ty: SqlType::Null,
                table: None,
                cursor: Some(cursor.text.clone()),
                output: None,
            });
        }
        let typed = match &argument.value {
            None => None,
            Some(value) => Some(self.bind_expr(value)?),
        };
        let output = match &argument.value {
            // What is only described is never run: a variable without a declaration needs no place.
            Some(_) if argument.output && typed.as_ref().is_some_and(|typed| typed.undeclared.is_some()) => None,
            Some(value) if argument.output => match &value.kind {
                tree::ExprKind::Variable(name) => Some(self.variable(name)?),
                _ => return Err(Box::new(SqlError::output_of_constant())),
            },
            _ => None,
        };
        let ty = typed.as_ref().map_or(SqlType::Null, |typed| typed.ty);
        Ok(CallArgument {
            name: argument.name.as_ref().map(|name| name.text.clone()),
            value: typed.map(|typed| typed.expr),
            ty,
            table: None,
            cursor: None,
            output,
        })
    }

    pub(super) fn insert_execute(&mut self, insert: &tree::Insert, call: &tree::Execute) -> Result<(), Fault> {
        let name = match &insert.target {
            tree::Target::Table { name, .. } => name.clone(),
            tree::Target::Variable(name) => tree::ObjectName::of(name.clone()),
            tree::Target::Function(_) => return Err(crate::errors::unsupported("A rowset function as a target")),
        };
        if insert.output.is_some() {
            return Err(Box::new(SqlError::output_in_insert_execute()));
        }
        if insert.top.is_some() {
            return Err(crate::errors::unsupported("TOP in INSERT ... EXEC"));
        }
        if call.result_sets.is_some() {
            return Err(Box::new(SqlError::incorrect_syntax("RESULT")));
        }
        self.emit(Instruction::Capture);
        self.call(call)?;
        self.emit(Instruction::InsertCaptured(Box::new(InsertCaptured {
            table: name,
            columns: insert.columns.clone(),
            options: LoadOptions {
                fires_triggers: true,
                checks_constraints: true,
                keeps_nulls: true,
                ..LoadOptions::default()
            },
        })));
        Ok(())
    }
}
