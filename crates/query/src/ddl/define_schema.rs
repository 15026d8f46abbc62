//! CREATE SCHEMA with what it holds: one statement, of which all is made or nothing.
//!
//! Tables come first, views then, permissions last, whatever their order is in the text; a name without a schema is one of the new schema.

use super::Definer;
use crate::errors;
use crate::expression::Fault;
use pikepole_tsql::{self as tree, ObjectName, Statement, StatementKind};
use pikepole_types::SqlError;

impl Definer<'_> {
    /// CREATE SCHEMA. `text` is that of its batch.
    ///
    /// # Errors
    /// 2760 for an object of another schema; what the elements report.
    pub(super) async fn create_schema(&mut self, create: &tree::CreateSchema, text: &str) -> Result<(), Fault> {
        let name =
            create.name.as_ref().or(create.owner.as_ref()).ok_or_else(|| SqlError::incorrect_syntax("SCHEMA"))?;
        if super::permission::is_of_every_database(name) {
            return Err(Box::new(SqlError::schema_unknown(&name.text)));
        }
        let owner = self.schema_owner(create)?;
        {
            let (database, tx) = self.context.engine();
            database.create_schema(tx, &name.text, owner).await?;
        }
        let mut elements: Vec<&Statement> = create.elements.iter().collect();
        elements.sort_by_key(|element| match element.kind {
            StatementKind::CreateTable(_) => 0,
            StatementKind::CreateView(_) => 1,
            _ => 2,
        });
        for element in elements {
            if let Err(fault) = self.schema_element(element, name, text).await {
                self.output.error(&fault.at_line(element.line()));
                return Err(Box::new(SqlError::schema_not_created()));
            }
        }
        Ok(())
    }

    async fn schema_element(&mut self, element: &Statement, schema: &tree::Name, text: &str) -> Result<(), Fault> {
        match &element.kind {
            StatementKind::CreateTable(create) => {
                let mut create = create.as_ref().clone();
                qualify(&mut create.name, schema)?;
                self.check_definition(&Statement {
                    kind: StatementKind::CreateTable(Box::new(create.clone())),
                    ..element.clone()
                })?;
                self.create_table(&create).await
            }
            StatementKind::CreateView(create) => {
                let mut create = create.as_ref().clone();
                qualify(&mut create.name, schema)?;
                self.check_definition(&Statement {
                    kind: StatementKind::CreateView(Box::new(create.clone())),
                    ..element.clone()
                })?;
                let own = text.get(element.span.start as usize..element.span.end as usize);
                let own = own.ok_or_else(|| SqlError::incorrect_syntax("VIEW"))?;
                self.create_view(&create, own).await
            }
            StatementKind::Permission(permission) => {
                let mut permission = permission.as_ref().clone();
                if let Some(on) =
                    permission.on.as_mut().filter(|on| on.class.as_deref().is_none_or(|class| class == "OBJECT"))
                {
                    qualify(&mut on.name, schema)?;
                }
                let statement = Statement { kind: StatementKind::Permission(Box::new(permission)), ..element.clone() };
                self.permission_element(&statement).await
            }
            _ => Err(errors::unsupported("This statement within CREATE SCHEMA")),
        }
    }
}

impl Definer<'_> {
    /// GRANT, DENY or REVOKE as a part of the statement: its end is no commit, and the statement can still be undone as a whole.
    async fn permission_element(&mut self, statement: &Statement) -> Result<(), Fault> {
        let outer = self.context.suspend_statement();
        let began = self.context.begin_for_triggers();
        let given = self.host.statement(statement, self.context, self.output).await;
        if began {
            self.context.end_for_triggers();
        }
        self.context.resume_statement(outer);
        given?;
        Ok(())
    }
}

/// Gives a name without a schema the new one.
fn qualify(name: &mut ObjectName, schema: &tree::Name) -> Result<(), Fault> {
    match &name.schema {
        None => name.schema = Some(schema.clone()),
        Some(own) if own.is(&schema.text) => {}
        Some(own) => return Err(Box::new(SqlError::schema_unknown(&own.text))),
    }
    Ok(())
}
