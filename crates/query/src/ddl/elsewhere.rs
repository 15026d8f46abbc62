//! Statements that work in another database than the session's: definitions there, calls of procedures there.
//!
//! The session moves to the other database, does there what it would do at home, and moves back; an open transaction goes along
//! (`pikepole_engine`'s parts). `##t` is an object of tempdb: whoever names it is there as a guest that may do all with it.

use std::sync::Arc;

use super::Definer;
use super::definition_trigger::Watched;
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{Database, TEMPDB};
use pikepole_tsql::{self as tree, DropKind, ObjectName, Statement, StatementKind};
use pikepole_types::SqlError;

/// The object that a definition is about, and what the statement is called where it must be in the current database.
pub(super) fn defined(statement: &Statement) -> Option<(&ObjectName, Option<&'static str>)> {
    let module = |mode: tree::ModuleMode, created, altered| match mode {
        tree::ModuleMode::Alter => Some(altered),
        _ => Some(created),
    };
    Some(match &statement.kind {
        StatementKind::CreateTable(create) => (&create.name, None),
        StatementKind::AlterTable(alter) => (&alter.table, None),
        StatementKind::CreateIndex(create) => (&create.table, None),
        StatementKind::AlterIndex(alter) => (&alter.table, None),
        StatementKind::DropIndex(drop) => (&drop.indexes.first()?.table, None),
        StatementKind::Truncate(name) => (name, None),
        StatementKind::CreateProcedure(create) => {
            (&create.name, module(create.mode, "CREATE PROCEDURE", "ALTER PROCEDURE"))
        }
        StatementKind::CreateView(create) => (&create.name, module(create.mode, "CREATE VIEW", "ALTER VIEW")),
        StatementKind::CreateFunction(create) => {
            (&create.name, module(create.mode, "CREATE FUNCTION", "ALTER FUNCTION"))
        }
        StatementKind::CreateSynonym(create) => (&create.name, Some("CREATE SYNONYM")),
        StatementKind::Drop(drop) => {
            let statement = match drop.kind {
                DropKind::Table | DropKind::Sequence => None,
                DropKind::View => Some("DROP VIEW"),
                DropKind::Procedure => Some("DROP PROCEDURE"),
                DropKind::Function => Some("DROP FUNCTION"),
                DropKind::Synonym => Some("DROP SYNONYM"),
                DropKind::SecurityPolicy => Some("DROP SECURITY POLICY"),
                _ => return None,
            };
            let elsewhere = drop.names.iter().find(|name| name.is_global_temporary() || name.database.is_some());
            (elsewhere.or(drop.names.first())?, statement)
        }
        _ => return None,
    })
}

/// Triggers of definitions run in the database that is used.
pub(super) fn definition_elsewhere() -> Fault {
    errors::unsupported("A definition in another database that has triggers of definitions")
}

impl Definer<'_> {
    /// Runs a definition in the database of what it defines.
    ///
    /// # Errors
    /// 166 for what can only be defined in the current database; 911 and 916 for a database that is not there or not the
    /// session's to use; the definition's own.
    ///
    /// DDL triggers that watch it are given, and are to run before it ends.
    pub(crate) async fn define(&mut self, statement: &Statement, text: &str) -> Result<Vec<Watched>, Fault> {
        let Some((name, only_here)) = defined(statement) else {
            self.check_definition(statement)?;
            return self.define_here(statement, text).await;
        };
        let home = Arc::clone(self.context.database());
        if name.is_global_temporary() {
            // What all may use is no question of tempdb's permissions.
            self.check_definition(statement)?;
            self.define_global(statement, text, &name.name.text).await
        } else {
            if let Some(database) = name.database_str().filter(|_| !name.is_temporary()) {
                if let Some(statement) = only_here {
                    return Err(Box::new(SqlError::database_prefix_not_allowed(statement)));
                }
                let database = self.database_named(database).await?;
                self.context.move_to(&database)?;
            }
            if !Arc::ptr_eq(&home, self.context.database()) && self.context.catalog().has_definition_triggers() {
                self.context.move_back(&home);
                return Err(definition_elsewhere());
            }
            let defined = match self.check_definition(statement) {
                Ok(()) => self.define_here(statement, text).await,
                Err(fault) => Err(fault),
            };
            self.context.move_back(&home);
            defined
        }
    }

    async fn define_global(&mut self, statement: &Statement, text: &str, name: &str) -> Result<Vec<Watched>, Fault> {
        let (home, before) = self.move_to_tempdb(name).await?;
        let defined = self.define_here(statement, text).await;
        self.leave_tempdb(&home, name, before, defined.is_ok());
        defined
    }

    /// To where `##name` is or will be. The database that the session comes from, and the number of what has the name already.
    pub(crate) async fn move_to_tempdb(&mut self, name: &str) -> Result<(Arc<Database>, Option<i32>), Fault> {
        let tempdb = self.context.server().tempdb().await?;
        let home = Arc::clone(self.context.database());
        self.context.move_silently(&tempdb);
        Ok((home, self.context.global_id(name)))
    }

    /// Back home; what the definition has made ends with the session.
    pub(super) fn leave_tempdb(&mut self, home: &Arc<Database>, name: &str, before: Option<i32>, is_defined: bool) {
        let made = self.context.global_id(name).filter(|id| is_defined && Some(*id) != before);
        if let Some(object_id) = made {
            self.context.note_global(object_id);
        }
        self.context.move_silently(home);
    }

    /// A database by its name; tempdb is made when it is first named.
    pub(crate) async fn database_named(&mut self, name: &str) -> Result<Arc<Database>, Fault> {
        if name.eq_ignore_ascii_case(TEMPDB) {
            return Ok(self.context.server().tempdb().await?);
        }
        Ok(self.context.server().database(name)?)
    }
}
