//! Table variables and SELECT ... INTO.

use std::sync::Arc;

use super::compile::{Compiler, is_missing};
use super::{DeclaredTable, Instruction, LateKind, SelectInto};
use crate::expression::Fault;
use pikepole_tsql::{self as tree, Statement, StatementKind};
use pikepole_types::SqlError;

impl Compiler<'_> {
    /// The table variables declared anywhere in the text come to be when it begins to run, whether their declarations are
    /// reached or not; they are known from their declarations on.
    pub(super) fn declare_tables(&mut self, statements: &[Statement]) {
        let mut tables = Vec::new();
        each_table(statements, &mut |statement, variable| {
            let text = self.text.get(statement.span.range()).unwrap_or(self.text);
            tables.push(DeclaredTable {
                variable: variable.clone(),
                text: text.into(),
                start: statement.span.start,
                line: statement.line(),
            });
        });
        if !tables.is_empty() {
            self.emit(Instruction::DeclareTables(tables.into()));
        }
    }

    /// The declaration of a table variable is reached.
    pub(super) fn table_variable(&mut self, name: &tree::Name) -> Result<(), Fault> {
        let is_variable = self.variables.iter().any(|variable| name.is(&variable.name));
        if is_variable || self.tables.iter().any(|table| name.is(&table.text)) {
            return Err(Box::new(SqlError::variable_declared_twice(&name.text)));
        }
        self.tables.push(name.clone());
        Ok(())
    }

    /// Whether what a statement lacks may be there when it runs.
    pub(super) fn is_deferred(&self, fault: &SqlError) -> bool {
        const TABLE_VARIABLE_UNKNOWN: i32 = 1087;
        let named = fault.message.split('"').nth(1).unwrap_or_default();
        let declared = || self.tables.iter().any(|table| table.is(named));
        is_missing(fault) || (fault.number == TABLE_VARIABLE_UNKNOWN && declared())
    }

    pub(super) fn select_into(&mut self, query: &tree::Query) {
        let mut query = query.clone();
        let Some(target) = first_select(&mut query.body).and_then(|select| select.into.take()) else {
            return;
        };
        let into = Arc::new(SelectInto { query, target });
        self.emit(Instruction::CreateInto(Arc::clone(&into)));
        self.late_statement(LateKind::Into(into));
    }
}

/// The table that a query's rows go into: the first SELECT of a chain of set operations says so.
pub(super) fn into_target(query: &tree::Query) -> Option<&tree::ObjectName> {
    let mut body = &query.body;
    loop {
        match body {
            tree::QueryBody::Select(select) => return select.into.as_ref(),
            tree::QueryBody::SetOperation(operation) => body = &operation.left,
            tree::QueryBody::Values(_) => return None,
        }
    }
}

fn first_select(body: &mut tree::QueryBody) -> Option<&mut tree::Select> {
    let mut body = body;
    loop {
        match body {
            tree::QueryBody::Select(select) => return Some(select),
            tree::QueryBody::SetOperation(operation) => body = &mut operation.left,
            tree::QueryBody::Values(_) => return None,
        }
    }
}

/// Calls `visit` with every DECLARE of a table variable, in blocks too.
fn each_table(statements: &[Statement], visit: &mut dyn FnMut(&Statement, &tree::TableVariable)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::DeclareTable(table) => visit(statement, table),
            StatementKind::Block(inner) => each_table(inner, visit),
            StatementKind::If(branch) => {
                each_table(std::slice::from_ref(&branch.then), visit);
                if let Some(otherwise) = &branch.otherwise {
                    each_table(std::slice::from_ref(otherwise), visit);
                }
            }
            StatementKind::While(repeat) => each_table(std::slice::from_ref(&repeat.body), visit),
            StatementKind::TryCatch(block) => {
                each_table(&block.body, visit);
                each_table(&block.handler, visit);
            }
            _ => {}
        }
    }
}
