//! EXEC and INSERT ... EXEC.

use super::compile::Compiler;
use super::{CallArgument, Execute, ExecuteTarget, InsertCaptured, Instruction, LoadOptions};
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

impl Compiler<'_> {
    pub(super) fn execute(&mut self, call: &tree::Execute) -> Result<(), Fault> {
        let target = match &call.target {
            tree::ExecuteTarget::Procedure { name, .. } => ExecuteTarget::Named(name.clone()),
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
        let status = match &call.status {
            None => None,
            Some(name) => Some(self.variable(name)?),
        };
        self.emit(Instruction::Execute(Box::new(Execute { target, arguments, status })));
        Ok(())
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
                output: None,
            });
        }
        let typed = match &argument.value {
            None => None,
            Some(value) => Some(self.bind_expr(value)?),
        };
        let output = match &argument.value {
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
            output,
        })
    }

    pub(super) fn insert_execute(&mut self, insert: &tree::Insert, call: &tree::Execute) -> Result<(), Fault> {
        let name = match &insert.target {
            tree::Target::Table { name, .. } => name.clone(),
            tree::Target::Variable(name) => tree::ObjectName::of(name.clone()),
            tree::Target::Function(_) => return Err(crate::errors::unsupported("A rowset function as a target")),
        };
        if insert.output.is_some() || insert.top.is_some() {
            return Err(crate::errors::unsupported("OUTPUT or TOP in INSERT ... EXEC"));
        }
        self.emit(Instruction::Capture);
        self.execute(call)?;
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
