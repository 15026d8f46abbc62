//! Table variables and SELECT ... INTO.

use std::sync::Arc;

use super::compile::{Compiler, is_missing};
use super::{DeclaredKind, DeclaredTable, Instruction, LateKind, Parameter, SelectInto, Variable};
use crate::bind::{Declared, TypePlace};
use crate::expression::Fault;
use pikepole_engine::UserType;
use pikepole_tsql::{self as tree, Statement, StatementKind};
use pikepole_types::{SqlError, SqlType};

impl Compiler<'_> {
    /// The table variables declared anywhere in the text come to be when it begins to run, whether their declarations are
    /// reached or not; they are known from their declarations on.
    pub(super) fn declare_tables(&mut self, statements: &[Statement]) {
        let parameter = |(slot, name, user_type): &(usize, tree::Name, Arc<UserType>)| DeclaredTable {
            kind: DeclaredKind::Parameter { slot: *slot, name: name.text.clone(), user_type: Arc::clone(user_type) },
            line: name.span.line,
        };
        let mut tables: Vec<DeclaredTable> = self.table_parameters.iter().map(parameter).collect();
        each_declaration(statements, &mut |statement| match &statement.kind {
            StatementKind::DeclareTable(variable) => {
                let kind = DeclaredKind::Inline(tree::TableVariable::clone(variable));
                tables.push(DeclaredTable { kind, line: statement.line() });
            }
            StatementKind::Declare(variables) => {
                for variable in variables {
                    if let tree::VariableKind::Value { data_type, .. } = &variable.kind
                        && let Ok(Declared::Table(user_type)) = self.declared(data_type, TypePlace::Declaration, 1)
                    {
                        let kind = DeclaredKind::OfType { name: variable.name.text.clone(), user_type };
                        tables.push(DeclaredTable { kind, line: statement.line() });
                    }
                }
            }
            _ => {}
        });
        if !tables.is_empty() {
            self.emit(Instruction::DeclareTables(tables.into()));
        }
    }

    /// The table that a function fills.
    pub(super) fn returned_table(&mut self, variable: tree::TableVariable) {
        let (name, line) = (variable.name.clone(), variable.name.span.line);
        let kind = DeclaredKind::Inline(variable);
        self.emit(Instruction::DeclareTables([DeclaredTable { kind, line }].into()));
        self.tables.push(name);
    }

    /// A table-valued parameter.
    pub(super) fn table_parameter(
        &mut self,
        at: usize,
        parameter: &tree::Parameter,
        user_type: Arc<UserType>,
    ) -> Result<Parameter, Fault> {
        if !parameter.readonly {
            return Err(Box::new(SqlError::readonly_needed(&parameter.name.text)));
        }
        if parameter.default.is_some() || parameter.output {
            return Err(Box::new(SqlError::operand_type_clash("void type", &user_type.name)));
        }
        self.table_variable(&parameter.name)?;
        // Parameters and variables have the same numbers.
        self.variables.push(Variable::new("", SqlType::Int));
        self.table_parameters.push((at, parameter.name.clone(), Arc::clone(&user_type)));
        let (name, ty) = (parameter.name.text.clone(), SqlType::Int);
        Ok(Parameter { name, ty, default: None, output: false, cursor: false, table: Some(user_type) })
    }

    /// Refuses a statement that changes a table-valued parameter. What reaches one in another way, as through an alias, is
    /// refused when it is bound.
    pub(super) fn check_not_read_only(&self, statement: &Statement) -> Result<(), Fault> {
        let (target, output) = match &statement.kind {
            StatementKind::Insert(insert) => (&insert.target, insert.output.as_ref()),
            StatementKind::Update(update) => (&update.target, update.output.as_ref()),
            StatementKind::Delete(delete) => (&delete.target, delete.output.as_ref()),
            StatementKind::Merge(merge) => (&merge.target, merge.output.as_ref()),
            _ => return Ok(()),
        };
        let into = output.and_then(|output| output.into.as_ref()).map(|into| &into.target);
        for target in [target].into_iter().chain(into) {
            if let tree::Target::Variable(name) = target
                && self.table_parameters.iter().any(|(_, parameter, _)| parameter.is(&name.text))
            {
                return Err(Box::new(SqlError::read_only_table_parameter(&name.text)));
            }
        }
        Ok(())
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
        // Whoever runs the module may have ended the table's versioning, to write its history as well.
        const PERIOD_IS_KEPT: [i32; 2] = [13536, 13537];
        let named = fault.message.split('"').nth(1).unwrap_or_default();
        let declared = || self.tables.iter().any(|table| table.is(named));
        let is_declared = fault.number == TABLE_VARIABLE_UNKNOWN && declared();
        let in_module = !self.is_batch;
        is_missing(fault)
            || is_declared
            || (in_module && PERIOD_IS_KEPT.contains(&fault.number))
            || self.context.catalog.wants_format_file()
    }

    pub(super) fn select_into(&mut self, query: &tree::Query) {
        let mut query = query.clone();
        let Some(select) = first_select(&mut query.body) else { return };
        let on = select.into_on.take();
        let Some(target) = select.into.take() else { return };
        let into = Arc::new(SelectInto { query, target, on });
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
            tree::QueryBody::SetOperation(operation) => body = &operation.first,
            tree::QueryBody::Part(part) => body = &part.body,
            tree::QueryBody::Values(_) => return None,
        }
    }
}

fn first_select(body: &mut tree::QueryBody) -> Option<&mut tree::Select> {
    let mut body = body;
    loop {
        match body {
            tree::QueryBody::Select(select) => return Some(select),
            tree::QueryBody::SetOperation(operation) => body = &mut operation.first,
            tree::QueryBody::Part(part) => body = &mut part.body,
            tree::QueryBody::Values(_) => return None,
        }
    }
}

/// Calls `visit` with every DECLARE of variables, in blocks too.
fn each_declaration(statements: &[Statement], visit: &mut dyn FnMut(&Statement)) {
    for statement in statements {
        match &statement.kind {
            StatementKind::DeclareTable(_) | StatementKind::Declare(_) => visit(statement),
            StatementKind::Block(inner) => each_declaration(inner, visit),
            StatementKind::If(branch) => {
                each_declaration(std::slice::from_ref(&branch.then), visit);
                if let Some(otherwise) = &branch.otherwise {
                    each_declaration(std::slice::from_ref(otherwise), visit);
                }
            }
            StatementKind::While(repeat) => each_declaration(std::slice::from_ref(&repeat.body), visit),
            StatementKind::TryCatch(block) => {
                each_declaration(&block.body, visit);
                each_declaration(&block.handler, visit);
            }
            _ => {}
        }
    }
}
