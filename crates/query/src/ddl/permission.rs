//! What definitions need permission for. Checked each time: a definition is no statement of a loop.

use super::Definer;
use crate::expression::Fault;
use crate::security::Requirement;
use pikepole_engine::{Permission, Securable, SecurityToken};
use pikepole_tsql::{self as tree, ObjectName, Statement, StatementKind};
use pikepole_types::SqlError;

impl Definer<'_> {
    /// Checks the permissions of a definition.
    ///
    /// # Errors
    /// 262 and 2760 for what is to be made; for what is to be changed or dropped the error that says that it is not there or
    /// may not be touched.
    pub(crate) fn check_definition(&mut self, statement: &Statement) -> Result<(), Fault> {
        use Permission as P;
        self.context.refresh_security()?;
        if self.context.token().is_sysadmin() {
            return Ok(());
        }
        match &statement.kind {
            StatementKind::CreateDatabase(_) => self.check_create_database(),
            StatementKind::AlterDatabase(alter) => self.check_alter_database(alter),
            StatementKind::Drop(drop) if drop.kind == tree::DropKind::Database => self.check_drop_databases(drop),
            StatementKind::ChangeOwner(change) => self.check_change_owner(change),
            _ if self.context.token().is_dbo() => Ok(()),
            StatementKind::CreateTable(create) => self.check_create(P::CreateTable, &create.name),
            StatementKind::CreateProcedure(create) => self.check_module(P::CreateProcedure, &create.name, create.mode),
            StatementKind::CreateFunction(create) => self.check_module(P::CreateFunction, &create.name, create.mode),
            StatementKind::CreateView(create) => self.check_module(P::CreateView, &create.name, create.mode),
            StatementKind::AlterTable(alter) => {
                self.check_change(&alter.table, || SqlError::alter_table_not_found(alter.table.dotted()))
            }
            StatementKind::CreateIndex(create) => {
                self.check_change(&create.table, || SqlError::object_not_found(create.table.dotted()))
            }
            StatementKind::DropIndex(drop) => drop.indexes.iter().try_for_each(|index| {
                let shown = format!("{}.{}", index.table.name.text, index.name.text);
                self.check_change(&index.table, || SqlError::object_missing("drop", "index", shown))
            }),
            StatementKind::Truncate(name) => self.check_change(name, || SqlError::truncate_not_found(&name.name.text)),
            StatementKind::CreateSchema(create) => self.check_create_schema(create),
            StatementKind::CreateTrigger(create) => self.check_trigger_target(&create.on),
            StatementKind::SetTrigger(set) => self.check_trigger_target(&set.on),
            StatementKind::CreateType(create)
                if matches!(create.kind, tree::TypeKind::SchemaCollection { add: true, .. }) =>
            {
                self.check_change_type(tree::DropKind::SchemaCollection, &create.name)
            }
            StatementKind::CreateType(create) => self.check_create(P::CreateType, &create.name),
            StatementKind::CreateSequence(create) if create.alter => {
                self.check_change(&create.name, || SqlError::invalid_object(create.name.dotted()))
            }
            StatementKind::CreateSequence(create) => self.check_schema(&create.name),
            StatementKind::SecurityPolicy(policy) => {
                self.check_security_policy(policy)?;
                if policy.alter { Ok(()) } else { self.check_schema(&policy.name) }
            }
            StatementKind::CreateSynonym(create) => self.check_create(P::CreateSynonym, &create.name),
            StatementKind::AlterIndex(alter) => {
                self.check_change(&alter.table, || SqlError::object_not_found(alter.table.dotted()))
            }
            StatementKind::TransferToSchema(transfer) => self.check_transfer(transfer),
            StatementKind::Drop(drop) => self.check_drop(drop),
            _ => Err(Box::new(SqlError::no_permission())),
        }
    }

    /// Checks what SELECT INTO needs: to create the table.
    ///
    /// # Errors
    /// 262 and 2760.
    pub(crate) fn check_create_into(&mut self, target: &ObjectName) -> Result<(), Fault> {
        self.context.refresh_security()?;
        if self.context.token().is_dbo() { Ok(()) } else { self.check_create(Permission::CreateTable, target) }
    }

    fn token(&self) -> &SecurityToken {
        self.context.token()
    }

    /// A permission of the database, and ALTER on the schema that the object is to be in.
    fn check_create(&mut self, permission: Permission, name: &ObjectName) -> Result<(), Fault> {
        if name.is_in_tempdb() {
            return Ok(());
        }
        self.context.require_of_database(permission)?;
        self.check_schema(name)
    }

    /// ALTER on the schema that the object is to be in.
    fn check_schema(&mut self, name: &ObjectName) -> Result<(), Fault> {
        let view = self.context.catalog();
        let place = view.place_itself(name)?;
        match place.as_ref().and_then(|place| place.view.catalog.schema(&place.schema)) {
            Some(schema) => {
                let securable = Securable::Schema { id: schema.schema_id, owner: schema.owner };
                if self.token().has(Permission::Alter, securable) {
                    return Ok(());
                }
                Err(Box::new(SqlError::schema_unknown(&schema.name)))
            }
            // The definition itself says that there is none.
            None => Ok(()),
        }
    }

    fn check_module(&mut self, permission: Permission, name: &ObjectName, mode: tree::ModuleMode) -> Result<(), Fault> {
        let exists = Requirement::of(&self.context.catalog(), name, Permission::Alter)?.is_some();
        if mode == tree::ModuleMode::Create || !exists {
            return self.check_create(permission, name);
        }
        self.check_change(name, || SqlError::invalid_object(name.dotted()))
    }

    /// ALTER on an object that is there; what is not there is the definition's own error.
    fn check_change(&mut self, name: &ObjectName, missing: impl FnOnce() -> SqlError) -> Result<(), Fault> {
        if name.is_in_tempdb() {
            return Ok(());
        }
        match Requirement::of(&self.context.catalog(), name, Permission::Alter)? {
            Some(need) if !self.token().has(need.permission, need.securable) => Err(Box::new(missing())),
            _ => Ok(()),
        }
    }

    /// ALTER on the table or view that a trigger watches.
    fn check_trigger_target(&mut self, on: &tree::TriggerTarget) -> Result<(), Fault> {
        match on {
            tree::TriggerTarget::Table(name) => {
                self.check_change(name, || SqlError::trigger_target_invalid(name.dotted()))
            }
            tree::TriggerTarget::Database if self.token().has(Permission::Alter, Securable::Database) => Ok(()),
            tree::TriggerTarget::Database => Err(Box::new(SqlError::no_permission())),
            // The definition itself refuses them.
            tree::TriggerTarget::Server => Ok(()),
        }
    }

    fn check_create_schema(&mut self, create: &tree::CreateSchema) -> Result<(), Fault> {
        self.context.require_of_database(Permission::CreateSchema)?;
        let Some(owner) = &create.owner else {
            return Ok(());
        };
        let id = self.schema_owner(create)?;
        let token = self.token();
        let may = token.database_ids().contains(&id) || token.has(Permission::Control, Securable::Database);
        if may { Ok(()) } else { Err(Box::new(SqlError::user_missing(&owner.text))) }
    }

    /// The principal that is to own a new schema.
    ///
    /// # Errors
    /// 15151 when there is none of that name.
    pub(crate) fn schema_owner(&self, create: &tree::CreateSchema) -> Result<i32, Fault> {
        let Some(owner) = &create.owner else {
            return Ok(self.token().user().id);
        };
        let view = self.context.catalog();
        let found = view.catalog.users().find(&owner.text);
        let found = found.ok_or_else(|| SqlError::user_missing(&owner.text))?;
        Ok(found.id)
    }

    /// CONTROL on the object, and ALTER on the schema that it goes to.
    fn check_transfer(&mut self, transfer: &tree::TransferToSchema) -> Result<(), Fault> {
        let is_type = transfer.class.as_deref() == Some("TYPE");
        let securable = if is_type {
            let view = self.context.catalog();
            let found = view.catalog.user_type(&self.own_schema(&transfer.object)?, &transfer.object.name.text);
            found.map(|user_type| view.catalog.securable_type(user_type))
        } else {
            let need = Requirement::of(&self.context.catalog(), &transfer.object, Permission::Control)?;
            need.map(|need| need.securable)
        };
        if securable.is_some_and(|securable| !self.token().has(Permission::Control, securable)) {
            let kind = if is_type { "type" } else { "object" };
            return Err(Box::new(SqlError::item_missing("find", kind, transfer.object.dotted())));
        }
        let view = self.context.catalog();
        let Some(schema) = view.catalog.schema(&transfer.schema.text) else { return Ok(()) };
        let securable = Securable::Schema { id: schema.schema_id, owner: schema.owner };
        if self.token().has(Permission::Alter, securable) {
            return Ok(());
        }
        Err(Box::new(SqlError::item_missing("alter", "schema", &transfer.schema.text)))
    }

    fn check_drop(&mut self, drop: &tree::Drop) -> Result<(), Fault> {
        for name in &drop.names {
            let shown = name.dotted();
            match drop.kind {
                tree::DropKind::Schema => {
                    let view = self.context.catalog();
                    let Some(schema) = view.catalog.schema(&name.name.text) else { continue };
                    let securable = Securable::Schema { id: schema.schema_id, owner: schema.owner };
                    let alters = self.token().has(Permission::AlterAnySchema, Securable::Database);
                    if !alters && !self.token().has(Permission::Control, securable) {
                        return Err(Box::new(SqlError::item_missing("drop", "schema", shown)));
                    }
                }
                tree::DropKind::Type | tree::DropKind::SchemaCollection => self.check_change_type(drop.kind, name)?,
                tree::DropKind::Trigger if drop.trigger_on.is_some() => {
                    if !self.token().has(Permission::Alter, Securable::Database) {
                        return Err(Box::new(SqlError::object_missing("drop", "trigger", shown)));
                    }
                }
                tree::DropKind::Trigger => {
                    self.check_change(name, || SqlError::object_missing("drop", "trigger", shown))?;
                }
                tree::DropKind::SecurityPolicy
                    if !self.token().has(Permission::AlterAnySecurityPolicy, Securable::Database) =>
                {
                    let missing = SqlError::object_missing("drop", "security policy", &name.name.text);
                    return Err(Box::new(SqlError { severity: 14, state: 20, ..missing }));
                }
                kind => {
                    let what = match kind {
                        tree::DropKind::Table => "table",
                        tree::DropKind::View => "view",
                        tree::DropKind::Sequence => "sequence object",
                        tree::DropKind::Synonym => "synonym",
                        tree::DropKind::SecurityPolicy => "security policy",
                        _ => "procedure",
                    };
                    self.check_drop_object(name, || SqlError::object_missing("drop", what, shown))?;
                }
            }
        }
        Ok(())
    }

    /// To drop a type, or add to a collection: CONTROL on it, or ALTER on its schema.
    fn check_change_type(&mut self, kind: tree::DropKind, name: &ObjectName) -> Result<(), Fault> {
        let view = self.context.catalog();
        let schema = name.schema_str().unwrap_or("dbo");
        let found = match kind {
            tree::DropKind::SchemaCollection => view.catalog.schema_collection(schema, &name.name.text),
            _ => view.catalog.user_type(schema, &name.name.text),
        };
        let Some(found) = found else { return Ok(()) };
        let securable = view.catalog.securable_type(found);
        let Securable::Type { schema_id, owner, .. } = securable else { return Ok(()) };
        let schema = Securable::Schema { id: schema_id, owner };
        if self.token().has(Permission::Control, securable) || self.token().has(Permission::Alter, schema) {
            return Ok(());
        }
        Err(Box::new(match kind {
            tree::DropKind::SchemaCollection => SqlError::item_missing("alter", "xml schema collection", name.dotted()),
            _ => SqlError::type_not_found(name.dotted()),
        }))
    }

    /// CONTROL on the object, or ALTER on its schema.
    fn check_drop_object(&mut self, name: &ObjectName, missing: impl FnOnce() -> SqlError) -> Result<(), Fault> {
        if name.is_in_tempdb() {
            return Ok(());
        }
        let Some(need) = Requirement::of(&self.context.catalog(), name, Permission::Control)? else {
            return Ok(());
        };
        let Securable::Object { schema_id, owner, .. } = need.securable else {
            return Ok(());
        };
        let schema = Securable::Schema { id: schema_id, owner };
        if self.token().has(Permission::Control, need.securable) || self.token().has(Permission::Alter, schema) {
            return Ok(());
        }
        Err(Box::new(missing()))
    }

    fn check_create_database(&self) -> Result<(), Fault> {
        if self.token().has(Permission::CreateAnyDatabase, Securable::Server) {
            return Ok(());
        }
        Err(Box::new(SqlError::database_permission_denied("CREATE DATABASE", pikepole_engine::MASTER)))
    }

    fn check_alter_database(&self, alter: &tree::AlterDatabase) -> Result<(), Fault> {
        let current = self.context.database().name();
        let name = alter.name.as_ref().map_or(current, |name| name.text.as_str());
        if self.context.has_on_database(Permission::Alter, name) {
            return Ok(());
        }
        if matches!(alter.action, tree::AlterDatabaseAction::ScopedConfiguration { .. }) {
            return Err(Box::new(SqlError { state: 13, ..SqlError::no_permission() }));
        }
        Err(Box::new(SqlError::alter_database_denied(name)))
    }

    fn check_drop_databases(&self, drop: &tree::Drop) -> Result<(), Fault> {
        let denied = drop.names.iter().find(|name| !self.context.has_on_database(Permission::Control, &name.name.text));
        match denied {
            Some(name) => Err(Box::new(SqlError::object_missing("drop", "database", &name.name.text).with_state(1))),
            None => Ok(()),
        }
    }
}

/// Whether a schema is one that every database has, and keeps.
pub(super) fn is_of_every_database(schema: &tree::Name) -> bool {
    ["dbo", "sys", "INFORMATION_SCHEMA"].iter().any(|own| schema.is(own))
}
