//! Table variables: those that a program declares, and parameters of table types that callers pass their variables to.

use std::sync::Arc;

use super::Machine;
use crate::access::CatalogView;
use crate::ddl::of_elements;
use crate::expression::Fault;
use crate::host::TableRows;
use crate::output::CapturedRows;
use crate::program::{CallArgument, DeclaredKind, DeclaredTable, InsertCaptured, LoadOptions, Parameter};
use crate::security::Requirement;
use pikepole_engine::{Permission, Residence, Securable, UserType};
use pikepole_tsql::{self as tree, Name, ObjectName};
use pikepole_types::{SqlError, SqlType};

/// A table variable that a call passes on, and the parameter that takes it.
#[derive(Debug)]
pub(crate) struct Lent {
    variable: String,
    parameter: String,
}

impl Machine<'_> {
    /// The table variables of the program that begins to run.
    pub(crate) async fn declare_tables(&mut self, tables: &[DeclaredTable]) -> Result<(), Fault> {
        self.context.use_temporary().await?;
        for table in tables {
            let made = match &table.kind {
                DeclaredKind::Inline(variable) => self.declare_inline(variable).await,
                DeclaredKind::OfType { name, user_type } => self.declare_of_type(name, user_type).await,
                DeclaredKind::Parameter { slot, name, user_type } => self.fill_table(*slot, name, user_type).await,
            };
            made.map_err(|fault| Box::new(fault.at_line(table.line)))?;
        }
        Ok(())
    }

    async fn declare_inline(&mut self, variable: &tree::TableVariable) -> Result<(), Fault> {
        let create = of_elements(variable.name.clone(), variable.elements.clone());
        self.definer().create_table_as(&create, Residence::Variable).await
    }

    /// A table variable of a table type.
    pub(crate) async fn declare_of_type(&mut self, name: &str, user_type: &UserType) -> Result<(), Fault> {
        self.check_use(user_type)?;
        let level = self.context.state.nest_level;
        Ok(self.context.transaction().create_of_type(user_type, name, level, false).await?)
    }

    /// EXECUTE on a type, unless a procedure of its owner uses it.
    fn check_use(&mut self, user_type: &UserType) -> Result<(), Fault> {
        self.context.refresh_security()?;
        if self.context.token().is_dbo() {
            return Ok(());
        }
        let view = self.context.catalog();
        let securable = view.catalog.securable_type(user_type);
        let Securable::Type { owner, .. } = securable else { return Ok(()) };
        if self.procedure_owner() == Some(owner) {
            return Ok(());
        }
        self.context.require(&Requirement {
            permission: Permission::Execute,
            database: view.database.id(),
            securable,
            owner,
            schema: user_type.schema.clone(),
            name: user_type.name.clone(),
            columns: None,
            named_by_statement: true,
        })
    }

    /// A table-valued parameter, unless the caller has passed a variable: the rows that a client sent, or none.
    pub(crate) async fn fill_table(&mut self, slot: usize, name: &str, user_type: &UserType) -> Result<(), Fault> {
        if self.context.catalog().table_variable(name).is_some() {
            return Ok(());
        }
        let own = self.callers.is_empty();
        let sent = own.then(|| self.tables.get_mut(slot).and_then(Option::take)).flatten();
        if own {
            self.check_use(user_type)?;
        }
        let level = self.context.state.nest_level;
        let readonly = sent.is_none();
        self.context.transaction().create_of_type(user_type, name, level, readonly).await?;
        let Some(sent) = sent else { return Ok(()) };
        let wanted = user_type.table().map_or(0, |shape| shape.columns.len());
        if sent.columns.len() != wanted && !sent.is_null {
            return Err(Box::new(SqlError::table_parameter_columns(sent.columns.len(), wanted)));
        }
        self.insert_sent(name, user_type, sent).await?;
        Ok(self.context.transaction().seal_variable(name, level)?)
    }

    /// Inserts what a client sent. Columns that it leaves to the server get their defaults.
    async fn insert_sent(&mut self, name: &str, user_type: &UserType, sent: TableRows) -> Result<(), Fault> {
        if sent.rows.is_empty() {
            return Ok(());
        }
        let plain = |text: &str| Name { text: text.to_owned(), span: tree::Span::default() };
        let given: Vec<usize> = (0..sent.columns.len()).filter(|at| !sent.defaults.contains(at)).collect();
        let shape = user_type.table();
        let names: Vec<Name> = given.iter().filter_map(|at| Some(plain(&shape?.columns.get(*at)?.name))).collect();
        let columns: Vec<_> = given.iter().map(|at| sent.columns[*at].clone()).collect();
        let rows = if given.len() == sent.columns.len() {
            sent.rows
        } else {
            let kept = |mut row: Vec<_>| given.iter().map(|at| std::mem::take(&mut row[*at])).collect();
            sent.rows.into_iter().map(kept).collect()
        };
        let count = self.context.state.row_count;
        let insert = InsertCaptured {
            table: ObjectName::of(plain(name)),
            columns: names,
            options: LoadOptions { checks_constraints: true, keeps_nulls: true, ..LoadOptions::default() },
        };
        let mut state = self.kept_rows(&insert, vec![CapturedRows { columns, rows }])?;
        state.silence();
        // A table variable has no triggers.
        self.drive_to_end(&mut state).await?;
        self.context.state.row_count = count;
        Ok(())
    }

    /// The variable that is passed for a table-valued parameter.
    ///
    /// # Errors
    /// 206 for a value, a table for a value's parameter, or a table of another type.
    pub(crate) fn lent(&self, parameter: &Parameter, argument: &CallArgument) -> Result<Option<Lent>, Fault> {
        let wanted = match (&parameter.table, &argument.table) {
            (None, None) => return Ok(None),
            // DEFAULT is an empty table.
            (Some(_), None) if argument.value.is_none() => return Ok(None),
            (Some(wanted), None) => {
                let given = if argument.ty == SqlType::Null { "void type" } else { argument.ty.error_name() };
                return Err(Box::new(SqlError::operand_type_clash(given, &wanted.name)));
            }
            (None, Some(variable)) => {
                let view = self.context.catalog();
                let given = type_of_variable(&view, variable)?;
                return Err(Box::new(SqlError::operand_type_clash(given.0, parameter.ty.error_name())));
            }
            (Some(wanted), Some(_)) => wanted,
        };
        let variable = argument.table.clone().unwrap_or_default();
        let view = self.context.catalog();
        let (name, id) = type_of_variable(&view, &variable)?;
        if id != Some(wanted.user_type_id) {
            return Err(Box::new(SqlError::operand_type_clash(name, &wanted.name)));
        }
        Ok(Some(Lent { variable, parameter: parameter.name.clone() }))
    }

    /// The call that has just been entered gets the variables that its caller passes.
    pub(crate) fn lend(&mut self, lent: Vec<Lent>) -> Result<(), Fault> {
        let level = self.context.state.nest_level;
        for Lent { variable, parameter } in lent {
            self.context.transaction().lend_variable(&variable, level - 1, &parameter, level)?;
        }
        Ok(())
    }
}

/// The name of the type of a table variable, and its id when it is a user's.
fn type_of_variable(view: &CatalogView, variable: &str) -> Result<(String, Option<i32>), Fault> {
    let missing = || Box::new(SqlError::table_variable_not_declared(variable));
    let id = view.table_variable(variable).ok_or_else(missing)?.user_type;
    let found: Option<&Arc<UserType>> = id.and_then(|id| view.catalog.user_type_by_id(id));
    Ok((found.map_or_else(|| "table".to_owned(), |found| found.name.clone()), id))
}
