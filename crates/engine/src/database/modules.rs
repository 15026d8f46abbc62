//! Procedures, views, functions and synonyms: their texts in the catalog. They are compiled when they are used.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::Database;
use super::definitions::user_schema;
use super::now_us;
use crate::catalog::Object;
use crate::catalog::definition::{KeptColumn, Module, StoredObject};
use crate::catalog::property::PropertyHolder;
use crate::catalog::rows::RowKind;
use crate::security::Class;
use crate::transaction::Transaction;

/// What a CREATE or ALTER of a procedure or view may find.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PutMode {
    /// CREATE: it must not be there.
    Create,
    /// ALTER: it must be there.
    Alter,
    /// CREATE OR ALTER.
    CreateOrAlter,
}

/// A procedure to be made or changed.
#[derive(Debug, Clone, Copy)]
pub struct ModuleDefinition<'a> {
    /// Its schema.
    pub schema: &'a str,
    /// Its name.
    pub name: &'a str,
    /// The whole CREATE statement; of a synonym the name that it stands for.
    pub text: &'a str,
    /// See [`Module::execute_as`].
    pub execute_as: Option<i32>,
    /// See [`Module::ansi_nulls`].
    pub ansi_nulls: bool,
    /// See [`Module::quoted_identifier`].
    pub quoted_identifier: bool,
    /// See [`Module::columns`].
    pub columns: &'a [KeptColumn],
    /// Reads what a module's text declares: an altered one keeps the properties of what it still declares.
    pub declared: fn(&str) -> DeclaredNames,
}

/// The names that the text of a module declares, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeclaredNames {
    /// Of its parameters, with their `@`.
    pub parameters: Vec<String>,
    /// Of the columns of the table that it returns, which are in its text.
    pub columns: Vec<String>,
}

/// What the text is of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ModuleKind {
    Procedure,
    View,
    Function,
    Synonym,
}

impl ModuleKind {
    fn name(self) -> &'static str {
        match self {
            ModuleKind::Procedure => "procedure",
            ModuleKind::View => "view",
            ModuleKind::Function => "function",
            ModuleKind::Synonym => "synonym",
        }
    }

    fn stored(self, module: Module) -> StoredObject {
        match self {
            ModuleKind::Procedure => StoredObject::Procedure(module),
            ModuleKind::View => StoredObject::View(module),
            ModuleKind::Function => StoredObject::Function(module),
            ModuleKind::Synonym => StoredObject::Synonym(module),
        }
    }

    fn object(self, module: Module) -> Object {
        match self {
            ModuleKind::Procedure => Object::Procedure(Arc::new(module)),
            ModuleKind::View => Object::View(Arc::new(module)),
            ModuleKind::Function => Object::Function(Arc::new(module)),
            ModuleKind::Synonym => Object::Synonym(Arc::new(module)),
        }
    }

    fn is(self, object: &Object) -> bool {
        match self {
            ModuleKind::Procedure => matches!(object, Object::Procedure(_)),
            ModuleKind::View => matches!(object, Object::View(_)),
            ModuleKind::Function => matches!(object, Object::Function(_)),
            ModuleKind::Synonym => matches!(object, Object::Synonym(_)),
        }
    }
}

impl Database {
    /// CREATE or ALTER PROCEDURE: keeps its text.
    ///
    /// # Errors
    /// 2714 when the name is taken; 208 when there is nothing to alter; 2760 for an unknown schema.
    pub async fn put_procedure(
        &self,
        tx: &mut Transaction,
        definition: ModuleDefinition<'_>,
        mode: PutMode,
    ) -> Result<(), SqlError> {
        self.put_module(tx, ModuleKind::Procedure, definition, mode).await
    }

    /// CREATE or ALTER VIEW: keeps its text.
    ///
    /// # Errors
    /// As [`Database::put_procedure`].
    pub async fn put_view(
        &self,
        tx: &mut Transaction,
        definition: ModuleDefinition<'_>,
        mode: PutMode,
    ) -> Result<(), SqlError> {
        self.put_module(tx, ModuleKind::View, definition, mode).await
    }

    /// CREATE or ALTER FUNCTION: keeps its text.
    ///
    /// # Errors
    /// As [`Database::put_procedure`].
    pub async fn put_function(
        &self,
        tx: &mut Transaction,
        definition: ModuleDefinition<'_>,
        mode: PutMode,
    ) -> Result<(), SqlError> {
        self.put_module(tx, ModuleKind::Function, definition, mode).await
    }

    /// DROP FUNCTION.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_function(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        self.drop_module(tx, ModuleKind::Function, schema, name).await
    }

    /// CREATE SYNONYM: `base` is the name that it stands for.
    ///
    /// # Errors
    /// As [`Database::put_procedure`].
    pub async fn create_synonym(
        &self,
        tx: &mut Transaction,
        schema: &str,
        name: &str,
        base: &str,
    ) -> Result<(), SqlError> {
        let definition = ModuleDefinition {
            schema,
            name,
            text: base,
            execute_as: None,
            ansi_nulls: true,
            quoted_identifier: true,
            columns: &[],
            declared: |_| DeclaredNames::default(),
        };
        self.put_module(tx, ModuleKind::Synonym, definition, PutMode::Create).await
    }

    /// DROP SYNONYM.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_synonym(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        self.drop_module(tx, ModuleKind::Synonym, schema, name).await
    }

    async fn put_module(
        &self,
        tx: &mut Transaction,
        kind: ModuleKind,
        definition: ModuleDefinition<'_>,
        mode: PutMode,
    ) -> Result<(), SqlError> {
        let ModuleDefinition { schema, name, text, execute_as, ansi_nulls, quoted_identifier, columns, declared } =
            definition;
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let schema = user_schema(&catalog, schema)?;
        let existing = match catalog.object(&schema.name, name) {
            Some(object) if kind.is(object) && mode != PutMode::Create => Some(object.clone()),
            Some(_) if mode == PutMode::Alter => return Err(SqlError::incompatible_object_kind("alter", name)),
            Some(_) => return Err(SqlError::object_exists(name)),
            None if mode == PutMode::Alter => return Err(SqlError::invalid_object(name)),
            None => None,
        };
        let now = now_us();
        let former = match &existing {
            Some(Object::Procedure(module) | Object::View(module) | Object::Function(module)) => {
                Some(Arc::clone(module))
            }
            _ => None,
        };
        let created_us = former.as_ref().map_or(now, |former| former.created_us);
        let module = Module {
            object_id: existing.map_or_else(|| self.new_object_id(), |object| object.object_id()),
            schema_id: schema.schema_id,
            schema: schema.name.clone(),
            name: name.to_owned(),
            text: text.to_owned(),
            created_us,
            modified_us: now,
            execute_as,
            ansi_nulls,
            quoted_identifier,
            columns: columns.to_vec(),
        };
        self.store_object(tx, &kind.stored(module.clone())).await?;
        if let Some(former) = former {
            self.keep_properties(tx, &mut catalog, &former, &module, declared).await?;
        }
        catalog.remove(module.object_id);
        catalog.put(kind.object(module));
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }

    /// DROP PROCEDURE.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_procedure(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        self.drop_module(tx, ModuleKind::Procedure, schema, name).await
    }

    /// DROP VIEW.
    ///
    /// # Errors
    /// 3701 when there is none.
    pub async fn drop_view(&self, tx: &mut Transaction, schema: &str, name: &str) -> Result<(), SqlError> {
        self.drop_module(tx, ModuleKind::View, schema, name).await
    }

    async fn drop_module(
        &self,
        tx: &mut Transaction,
        kind: ModuleKind,
        schema: &str,
        name: &str,
    ) -> Result<(), SqlError> {
        let (mark, mut catalog) = self.begin_definition(tx).await?;
        let object = catalog.object(schema, name).filter(|object| kind.is(object));
        let Some(object_id) = object.map(Object::object_id) else {
            return Err(SqlError::object_missing("drop", kind.name(), name));
        };
        self.remove_rows(tx, RowKind::Object, object_id, 0).await?;
        self.forget_grants(tx, &mut catalog, Class::Object, object_id).await?;
        self.forget_properties(tx, &mut catalog, PropertyHolder::Object(object_id)).await?;
        self.remove_triggers(tx, &mut catalog, object_id).await?;
        catalog.remove(object_id);
        self.end_definition(tx, mark, catalog, self.new_version());
        Ok(())
    }
}
