//! Temporary procedures (`#p`): of one session, in no catalog. They are there until they are dropped or the session ends, and no
//! transaction takes them back.

use std::sync::Arc;

use super::Definer;
use crate::expression::Fault;
use crate::program::{ProcedureIdentity, Program, compile_procedure};
use pikepole_tsql::{self as tree, ObjectName};
use pikepole_types::SqlError;

/// Object ids go down from here.
const FIRST_ID: i32 = -1_000_000_000;

struct TemporaryProcedure {
    name: String,
    text: String,
    /// Compiled for the database of this id.
    program: Arc<Program>,
    database: i32,
}

/// The temporary procedures of a session.
#[derive(Default)]
pub(crate) struct TemporaryProcedures {
    known: Vec<TemporaryProcedure>,
    made: i32,
}

impl TemporaryProcedures {
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.known.iter().position(|procedure| procedure.name.eq_ignore_ascii_case(name))
    }
}

impl Definer<'_> {
    /// CREATE, ALTER, CREATE OR ALTER PROCEDURE #p.
    pub(crate) fn create_temporary_procedure(
        &mut self,
        create: &tree::CreateProcedure,
        text: &str,
    ) -> Result<(), Fault> {
        let name = create.name.name.text.as_str();
        let place = self.context.temporary_procedures.place(name);
        match (create.mode, place) {
            (tree::ModuleMode::Create, Some(_)) => return Err(Box::new(SqlError::object_exists(name))),
            (tree::ModuleMode::Alter, None) => return Err(Box::new(SqlError::invalid_object(name))),
            _ => {}
        }
        self.context.temporary_procedures.made += 1;
        let object_id = FIRST_ID - self.context.temporary_procedures.made;
        // Its owner is who makes it: what others own it cannot reach for those who call it.
        let owner = self.context.token().user().id;
        let program = self.compile_temporary(name, object_id, owner, text).map_err(|found| self.report_all(found))?;
        let database = self.context.database().id();
        let made = TemporaryProcedure { name: name.to_owned(), text: text.to_owned(), program, database };
        match place {
            Some(place) => self.context.temporary_procedures.known[place] = made,
            None => self.context.temporary_procedures.known.push(made),
        }
        Ok(())
    }

    fn compile_temporary(
        &self,
        name: &str,
        object_id: i32,
        owner: i32,
        text: &str,
    ) -> Result<Arc<Program>, Vec<SqlError>> {
        let (name, schema) = (name.to_owned(), pikepole_engine::DEFAULT_SCHEMA.to_owned());
        let identity = ProcedureIdentity {
            object_id,
            name,
            schema,
            owner,
            execute_as: None,
            ansi_nulls: self.context.settings.ansi_nulls,
            quoted_identifier: self.context.settings.quoted_identifier,
        };
        compile_procedure(text, identity, &self.context.compile_context(&*self.host))
    }

    /// The program of a temporary procedure, for the current database.
    pub(crate) fn temporary_procedure(&mut self, name: &ObjectName) -> Result<Arc<Program>, Fault> {
        let missing = || Box::new(SqlError::procedure_unknown(name.dotted()));
        let procedures = &self.context.temporary_procedures;
        let place = procedures.place(&name.name.text).ok_or_else(missing)?;
        let known = &procedures.known[place];
        let database = self.context.database().id();
        if known.database == database && known.program.fits(|| self.context.catalog().catalog) {
            return Ok(Arc::clone(&known.program));
        }
        let identity = known.program.procedure.as_ref().ok_or_else(missing)?;
        let compiled = self.compile_temporary(&known.name, identity.object_id, identity.owner, &known.text);
        let program = compiled.map_err(crate::errors::first_error)?;
        let known = &mut self.context.temporary_procedures.known[place];
        (known.program, known.database) = (Arc::clone(&program), database);
        Ok(program)
    }

    /// DROP PROCEDURE #p.
    pub(crate) fn drop_temporary_procedure(&mut self, name: &ObjectName, if_exists: bool) -> Result<(), Fault> {
        match self.context.temporary_procedures.place(&name.name.text) {
            Some(place) => {
                self.context.temporary_procedures.known.remove(place);
                Ok(())
            }
            None if if_exists => Ok(()),
            None => Err(Box::new(SqlError::object_missing("drop", "procedure", name.dotted()))),
        }
    }
}
