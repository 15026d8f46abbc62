//! Definitions: CREATE, ALTER, DROP and TRUNCATE become calls of the engine.
//!
//! Each is a statement of the session's transaction; under autocommit it commits at its end. What a definition's text means
//! is checked first: types, names, defaults, the bodies of procedures and views.

use std::sync::Arc;

use super::Definer;
use super::columnstore::WantedColumnstore;
use super::definition_trigger::Watched;
use super::elsewhere::defined;
use super::filegroup::{self, DeclaredFilegroups};
use super::hides_rows_of;
use super::index_filter::{FilterColumn, FilterOf};
use super::sequence::names_sequence;
use super::table_definition;
use crate::access::Table;
use crate::bind::{self, Names};
use crate::errors;
use crate::expression::Fault;
use crate::output::{Definition, DoneKind};
use crate::program::{CompileContext, ProcedureIdentity, compile_function, compile_procedure};
use pikepole_engine::{
    DatabaseOption, DeclaredNames, DelayedDurability, IndexDefinition, IndexKind, ModuleDefinition, PutMode,
    RecoveryModel, Residence, Switches, UserAccess,
};
use pikepole_tsql::{self as tree, ObjectName, Statement, StatementKind, bracketed};
use pikepole_types::{Collation, SqlError};

/// Whether a definition is of a temporary table of the session, which nobody else can find.
fn defines_own_table(statement: &Statement) -> bool {
    let is_own = |name: &ObjectName| name.is_temporary() && !name.is_global_temporary();
    match &statement.kind {
        StatementKind::Drop(drop) => !drop.names.is_empty() && drop.names.iter().all(is_own),
        _ => defined(statement).is_some_and(|(name, _)| is_own(name)),
    }
}

/// The names that the text of a module declares.
pub fn declared_names(text: &str) -> DeclaredNames {
    let (parameters, columns) = tree::declared_names(text);
    DeclaredNames { parameters, columns }
}

impl Definer<'_> {
    /// Runs a definition in the current database; `text` is what is kept of a module. Those who watch it are given; without
    /// them, it has ended.
    pub(super) async fn define_here(&mut self, statement: &Statement, text: &str) -> Result<Vec<Watched>, Fault> {
        match &statement.kind {
            StatementKind::CreateDatabase(create) => self.create_database(create).await?,
            StatementKind::AlterDatabase(alter) => self.alter_database(alter).await?,
            StatementKind::Drop(drop) if drop.kind == tree::DropKind::Database => {
                self.drop_databases(drop).await?;
            }
            StatementKind::ChangeOwner(change) if change.class.as_deref() == Some("DATABASE") => {
                self.change_database_owner(change).await?;
            }
            _ => {
                let watched = self.watched(statement);
                self.hides_rows = hides_rows_of(self.context, &statement.kind);
                self.context.begin_statement(true)?;
                self.define_locked(statement, text)
                    .await
                    .map_err(|fault| self.as_constraint_failure(statement, fault))?;
                if watched.is_empty() {
                    self.context.end_definition().await?;
                }
                return Ok(watched);
            }
        }
        Ok(Vec::new())
    }

    /// Defines under the lock of the catalog: what is looked up before the change is still so when it is made. A session's own
    /// tables are in no catalog.
    async fn define_locked(&mut self, statement: &Statement, text: &str) -> Result<(), Fault> {
        if defines_own_table(statement) {
            return self.define_object(statement, text).await;
        }
        let (database, tx) = self.context.engine();
        let before = database.lock_catalog(tx).await?;
        self.define_object(statement, text).await?;
        let (database, tx) = self.context.engine();
        database.unlock_unchanged_catalog(tx, before);
        Ok(())
    }

    /// A key that cannot be made with or for a table is told of by two errors: why, and what did not come of it.
    fn as_constraint_failure(&mut self, statement: &Statement, fault: Fault) -> Fault {
        let by_two = match statement.kind {
            StatementKind::CreateTable(_) | StatementKind::CreateType(_) => {
                matches!(fault.number, 1505 | 1779 | 1909 | 1911 | 1919 | 10664 | 10791 | 41327)
            }
            // A name that is taken is a constraint's here.
            StatementKind::AlterTable(_) => {
                matches!(fault.number, 1505 | 1779 | 1909 | 1911 | 1913 | 1919 | 2714 | 10791)
            }
            _ => false,
        };
        if by_two {
            self.tell_why(*fault);
            return Box::new(SqlError::constraint_not_created());
        }
        fault
    }

    async fn define_object(&mut self, statement: &Statement, text: &str) -> Result<(), Fault> {
        self.check_in_memory(&statement.kind)?;
        match &statement.kind {
            StatementKind::CreateTable(create) => self.create_table(create).await,
            StatementKind::AlterTable(alter) => self.alter_table(alter).await,
            StatementKind::CreateIndex(create) => self.create_index(create).await,
            StatementKind::AlterIndex(alter) => self.alter_index(alter).await,
            StatementKind::DropIndex(drop) => self.drop_indexes(drop).await,
            StatementKind::TransferToSchema(transfer) => self.transfer(transfer).await,
            StatementKind::ChangeOwner(change) => self.change_owner(change).await,
            StatementKind::Truncate(name) => self.truncate(name).await,
            StatementKind::CreateProcedure(create) => self.create_procedure(create, text).await,
            StatementKind::CreateView(create) => self.create_view(create, text).await,
            StatementKind::CreateFunction(create) => self.create_function(create, text).await,
            StatementKind::CreateTrigger(create) => self.create_trigger(create, text).await,
            StatementKind::SetTrigger(set) => self.set_triggers(set).await,
            StatementKind::CreateType(create) => self.create_type(create).await,
            StatementKind::CreateSequence(create) => self.define_sequence(create).await,
            StatementKind::CreateSynonym(create) => self.create_synonym(create).await,
            StatementKind::SecurityPolicy(policy) => self.define_security_policy(policy).await,
            StatementKind::Partition(partition) => self.define_partition(partition).await,
            StatementKind::Drop(drop) if drop.kind == tree::DropKind::Type => self.drop_types(drop).await,
            StatementKind::Drop(drop) if drop.kind == tree::DropKind::SchemaCollection => {
                self.drop_schema_collections(drop).await
            }
            StatementKind::CreateSchema(create) => self.create_schema(create, text).await,
            StatementKind::Drop(drop) => self.drop_objects(drop).await,
            _ => Err(errors::unsupported("This statement")),
        }
    }

    /// The schema of an object that is to be made.
    pub(crate) fn own_schema(&self, name: &ObjectName) -> Result<String, Fault> {
        let home = self.context.database().id();
        match self.context.catalog().place_itself(name)?.filter(|_| !name.is_temporary()) {
            Some(place) if place.view.database.id() == home => Ok(place.schema.into_owned()),
            _ if name.is_in_tempdb() => {
                Err(errors::unsupported("A temporary object other than a table or a procedure"))
            }
            _ => Err(errors::unsupported("Defining objects of several databases in one statement")),
        }
    }

    /// The schema of an object that is made under this name: the user's default one when the name says none. What is altered is
    /// looked up like any other name.
    pub(crate) fn schema_of(&self, name: &ObjectName, alters: bool) -> Result<String, Fault> {
        let found = self.own_schema(name)?;
        match self.context.default_schema() {
            Some(own) if !alters && name.schema.is_none() && name.database.is_none() => Ok(own.to_string()),
            _ => Ok(found),
        }
    }

    /// What the text of a module of a schema is compiled against.
    pub(super) fn compile_context_in(&self, schema: &str) -> CompileContext<'_> {
        let context = self.context.compile_context(&*self.host);
        CompileContext { catalog: context.catalog.clone().in_schema(schema), ..context }
    }

    pub(super) async fn create_table(&mut self, create: &tree::CreateTable) -> Result<(), Fault> {
        let residence = if create.name.is_temporary() { Residence::Temporary } else { Residence::Database };
        self.create_table_as(create, residence).await
    }

    /// A DEFAULT may call functions, and name no column and no variable.
    pub(crate) fn check_default(&self, expr: &tree::Expr) -> Result<(), Fault> {
        let catalog = self.context.catalog();
        let names = Names::of(&catalog, &*self.host);
        let mut binder = bind::Binder::new(&names, 0);
        binder.allow_numbers(0);
        match binder.default_expr(expr) {
            Err(fault) if fault.number == 207 => {
                let name = match &expr.kind {
                    tree::ExprKind::Column(column) => column.name.text.clone(),
                    _ => fault.message.split('\'').nth(1).unwrap_or_default().to_owned(),
                };
                Err(Box::new(SqlError::name_not_permitted_here(name)))
            }
            Err(fault) => Err(fault),
            Ok(_) if !binder.takes_only_numbers() => Err(Box::new(SqlError::subquery_not_allowed())),
            Ok(_) => Ok(()),
        }
    }

    async fn create_index(&mut self, create: &tree::CreateIndex) -> Result<(), Fault> {
        match create.kind {
            tree::IndexKind::Rows => {}
            tree::IndexKind::Columnstore => {
                return self.create_columnstore(&create.table, &WantedColumnstore::of(create)?).await;
            }
            tree::IndexKind::Xml => return self.create_xml_index(create).await,
            tree::IndexKind::Spatial => return Err(errors::unsupported("A spatial index")),
        }
        table_definition::check_ignores_duplicates(&create.options, create.unique)?;
        let shown = || create.table.dotted();
        if self.context.catalog().view(&create.table)?.is_some() {
            return Err(errors::unsupported("An index on a view"));
        }
        let table = self.table_itself(
            &create.table,
            || SqlError::object_not_found(shown()),
            || SqlError::index_of_other_object(shown()),
        )?;
        let definition = self.index_definition(create, &table)?;
        self.check_index_columns(&table, &create.table.dotted(), &definition)?;
        if create.options.iter().any(|option| option.name == "STATISTICS_ONLY") {
            let (database, tx) = self.context.engine();
            database.add_hypothetical_index(tx, &table.engine, &definition).await?;
            return Ok(());
        }
        self.build_index(&table.engine, definition, table_definition::degree(&create.options)?).await?;
        self.warn_of_keys(&create.table, &table.engine.indexes)?;
        self.partition_index(&create.table, &create.name.text, create.on.as_ref()).await
    }

    fn index_definition(&self, create: &tree::CreateIndex, table: &Table) -> Result<IndexDefinition, Fault> {
        let catalog = Arc::clone(&self.context.catalog().catalog);
        let of_column = |name: &str| FilterColumn::of(table, name);
        let of =
            FilterOf { index: &create.name.text, table: &create.table.dotted(), catalog: &catalog, column: &of_column };
        let mut extras = table_definition::extras(&create.include, create.filter.as_ref(), &create.options, &of)?;
        extras.storage.filegroup = filegroup::placed(&self.filegroups_of(&create.table), create.on.as_ref())?;
        Ok(IndexDefinition {
            name: Some(create.name.text.clone()),
            kind: IndexKind::Index,
            unique: create.unique,
            clustered: create.clustered.unwrap_or(false),
            columns: table_definition::key_columns(&create.columns),
            extras,
            replaces: table_definition::is_on(&create.options, "DROP_EXISTING"),
        })
    }

    async fn drop_indexes(&mut self, drop: &tree::DropIndex) -> Result<(), Fault> {
        for index in &drop.indexes {
            let table = self.context.catalog().table(&index.table)?;
            let exists =
                table.as_ref().is_some_and(|table| table.engine.indexes.iter().any(|own| index.name.is(&own.name)));
            if drop.if_exists && !exists {
                continue;
            }
            let name = format!("{}.{}", index.table.name.text, index.name.text);
            let Some(table) = table else {
                return Err(Box::new(SqlError::object_missing("drop", "index", name)));
            };
            self.drop_index_moving(&index.table, &table, &index.name, (false, &index.options)).await?;
        }
        Ok(())
    }

    async fn truncate(&mut self, name: &ObjectName) -> Result<(), Fault> {
        let missing = || SqlError::truncate_not_found(&name.name.text);
        let table = self.table_itself(name, missing, || SqlError::truncate_not_a_table(name.dotted()))?;
        let (database, tx) = self.context.engine();
        let truncated = database.truncate_table(tx, &table.engine).await;
        Ok(truncated.map_err(|error| as_written(error, name))?)
    }

    async fn create_procedure(&mut self, create: &tree::CreateProcedure, text: &str) -> Result<(), Fault> {
        if create.name.is_temporary() {
            if tree::execute_as(&create.options).is_some_and(|says| !says.eq_ignore_ascii_case("CALLER")) {
                return Err(errors::unsupported("EXECUTE AS other than CALLER of a temporary procedure"));
            }
            return self.create_temporary_procedure(create, text);
        }
        let schema = self.schema_of(&create.name, create.mode == tree::ModuleMode::Alter)?;
        let acts_for = self.module_principal(&create.options, &schema)?;
        let identity = ProcedureIdentity::to_be(&create.name.name.text, &schema, &self.context.settings);
        let context = self.compile_context_in(&schema);
        if let Err(found) = compile_procedure(text, identity, &context) {
            return Err(self.report_all(found));
        }
        let name = create.name.name.text.as_str();
        let definition = self.module(&schema, name, text, acts_for);
        let (database, tx) = self.context.engine();
        let put = database.put_procedure(tx, definition, put_mode(create.mode)).await;
        Ok(put.map_err(|error| as_written(error, &create.name))?)
    }

    /// A module with what it keeps of the session's settings.
    fn module<'m>(
        &self,
        schema: &'m str,
        name: &'m str,
        text: &'m str,
        execute_as: Option<i32>,
    ) -> ModuleDefinition<'m> {
        let settings = &self.context.settings;
        let (ansi_nulls, quoted_identifier) = (settings.ansi_nulls, settings.quoted_identifier);
        let declared = declared_names;
        ModuleDefinition { schema, name, text, execute_as, ansi_nulls, quoted_identifier, columns: &[], declared }
    }

    /// Who a module of a schema is to act for.
    pub(super) fn module_principal(&self, options: &[tree::ModuleOption], schema: &str) -> Result<Option<i32>, Fault> {
        let Some(says) = tree::execute_as(options) else { return Ok(None) };
        let owner = self.context.catalog().catalog.schema(schema).map_or(pikepole_engine::DBO, |found| found.owner);
        Ok(self.context.module_principal(says, owner)?)
    }

    /// Reports all errors but the last, which is the statement's.
    pub(crate) fn report_all(&mut self, mut found: Vec<SqlError>) -> Fault {
        let last = found.pop();
        for error in &found {
            self.output.error(error);
        }
        Box::new(last.unwrap_or_else(|| SqlError::incorrect_syntax("")))
    }

    pub(super) async fn create_view(&mut self, create: &tree::CreateView, text: &str) -> Result<(), Fault> {
        if create.name.is_temporary() {
            return Err(Box::new(SqlError::temporary_view(&create.name.name.text)));
        }
        let schema = self.schema_of(&create.name, create.mode == tree::ModuleMode::Alter)?;
        if let Some(says) = tree::execute_as(&create.options) {
            return Err(Box::new(SqlError::incorrect_syntax(says)));
        }
        if tree::says(&create.options, "NATIVE_COMPILATION") {
            return Err(Box::new(SqlError::incorrect_syntax("NATIVE_COMPILATION")));
        }
        let columns = {
            let catalog = self.context.catalog().in_schema(&schema);
            let names = Names::of(&catalog, &*self.host);
            let columns = bind::checked_view(create, &names)?;
            if create.check_option {
                bind::check_option(create, &names)?;
            }
            columns
        };
        self.check_unbound_to_alter(&create.name, &schema, create.mode)?;
        let definition = self.module(&schema, &create.name.name.text, text, None);
        let definition = ModuleDefinition { columns: &columns, ..definition };
        let (database, tx) = self.context.engine();
        let put = database.put_view(tx, definition, put_mode(create.mode)).await;
        Ok(put.map_err(|error| as_written(error, &create.name))?)
    }

    async fn create_function(&mut self, create: &tree::CreateFunction, text: &str) -> Result<(), Fault> {
        if create.name.is_temporary() {
            return Err(Box::new(SqlError::temporary_function()));
        }
        let schema = self.schema_of(&create.name, create.mode == tree::ModuleMode::Alter)?;
        let columns = {
            let catalog = self.context.catalog().in_schema(&schema);
            let names = Names { in_function: true, ..Names::of(&catalog, &*self.host) };
            bind::checked_function(create, &names)?
        };
        if bind::is_run(create) {
            let identity = ProcedureIdentity::to_be(&create.name.name.text, &schema, &self.context.settings);
            let context = self.compile_context_in(&schema);
            if let Err(found) = compile_function(text, identity, &context) {
                return Err(self.report_all(found));
            }
        }
        self.check_unbound_to_alter(&create.name, &schema, create.mode)?;
        let acts_for = self.module_principal(&create.options, &schema)?;
        let definition = self.module(&schema, &create.name.name.text, text, acts_for);
        let definition = ModuleDefinition { columns: &columns, ..definition };
        let (database, tx) = self.context.engine();
        let put = database.put_function(tx, definition, put_mode(create.mode)).await;
        Ok(put.map_err(|error| as_written(error, &create.name))?)
    }

    /// ALTER SCHEMA ... TRANSFER.
    async fn transfer(&mut self, transfer: &tree::TransferToSchema) -> Result<(), Fault> {
        let from = self.own_schema(&transfer.object)?;
        let (name, to) = (transfer.object.name.text.as_str(), transfer.schema.text.as_str());
        match transfer.class.as_deref() {
            None | Some("OBJECT") => {}
            Some("TYPE") => {
                let (database, tx) = self.context.engine();
                return Ok(database.transfer_type(tx, &from, name, to).await?);
            }
            Some(_) => return Err(errors::unsupported("ALTER SCHEMA ... TRANSFER of what is no object")),
        }
        if self.bound_to(&from, name).is_some() {
            return Err(Box::new(SqlError::transfer_of_schema_bound()));
        }
        let (schema_name, own) = (from.clone(), name.to_owned());
        let names = move |default: &str| names_sequence(default, &schema_name, &own);
        let (database, tx) = self.context.engine();
        Ok(database.transfer(tx, &from, name, to, &names).await?)
    }

    /// What a synonym stands for is looked for when it is used.
    async fn create_synonym(&mut self, create: &tree::CreateSynonym) -> Result<(), Fault> {
        let schema = self.schema_of(&create.name, false)?;
        let base = &create.target;
        let parts = [&base.server, &base.database, &base.schema].into_iter();
        let mut parts: Vec<&str> = parts.map(|part| part.as_ref().map_or("", tree::Name::as_str)).collect();
        parts.push(&base.name.text);
        let first = parts.iter().position(|part| !part.is_empty()).unwrap_or_default();
        let quoted = |part: &&str| if part.is_empty() { String::new() } else { bracketed(part) };
        let base = parts[first..].iter().map(quoted).collect::<Vec<_>>().join(".");
        let (database, tx) = self.context.engine();
        Ok(database.create_synonym(tx, &schema, &create.name.name.text, &base).await?)
    }

    async fn drop_objects(&mut self, drop: &tree::Drop) -> Result<(), Fault> {
        for name in &drop.names {
            if name.is_temporary() && drop.kind == tree::DropKind::Table {
                self.drop_temporary(name, drop.if_exists)?;
                continue;
            }
            if name.is_temporary() && drop.kind == tree::DropKind::Procedure {
                self.drop_temporary_procedure(name, drop.if_exists)?;
                continue;
            }
            if drop.kind == tree::DropKind::Trigger {
                self.drop_trigger(drop, name).await?;
                continue;
            }
            let schema = self.own_schema(name)?;
            let view = self.context.catalog();
            let text = name.name.text.as_str();
            let exists = match drop.kind {
                tree::DropKind::Table => view.catalog.table(&schema, text).is_some(),
                tree::DropKind::View => view.catalog.view(&schema, text).is_some(),
                tree::DropKind::Procedure => view.catalog.procedure(&schema, text).is_some(),
                tree::DropKind::Function => view.catalog.function(&schema, text).is_some(),
                tree::DropKind::Schema => view.catalog.schema(text).is_some(),
                tree::DropKind::Sequence => view.catalog.sequence(&schema, text).is_some(),
                tree::DropKind::Synonym => view.catalog.synonym(&schema, text).is_some(),
                tree::DropKind::SecurityPolicy => view.catalog.security_policy(&schema, text).is_some(),
                _ => return Err(errors::unsupported("Dropping an object of this kind")),
            };
            if drop.kind == tree::DropKind::Schema && super::permission::is_of_every_database(&name.name) {
                return Err(Box::new(SqlError::principal_cannot("drop", "schema", text)));
            }
            self.check_dropped_kind(drop.kind, name, &schema)?;
            if drop.if_exists && !exists {
                continue;
            }
            let shown = name.dotted();
            if drop.kind == tree::DropKind::Sequence {
                if !exists {
                    return Err(Box::new(SqlError::object_missing("drop", "sequence", shown)));
                }
                self.drop_sequence(name, &schema).await?;
                continue;
            }
            self.check_unbound_to_drop(drop.kind, name, &schema)?;
            let (database, tx) = self.context.engine();
            let dropped = match drop.kind {
                tree::DropKind::Table if !exists => Err(SqlError::object_missing("drop", "table", shown)),
                tree::DropKind::View if !exists => Err(SqlError::object_missing("drop", "view", shown)),
                tree::DropKind::Procedure if !exists => Err(SqlError::object_missing("drop", "procedure", shown)),
                tree::DropKind::Function if !exists => Err(SqlError::object_missing("drop", "function", shown)),
                tree::DropKind::Synonym if !exists => Err(SqlError::object_missing("drop", "synonym", shown)),
                tree::DropKind::SecurityPolicy if !exists => {
                    Err(SqlError::object_missing("drop", "security policy", shown))
                }
                tree::DropKind::SecurityPolicy => database.drop_security_policy(tx, &schema, text).await,
                tree::DropKind::Function => database.drop_function(tx, &schema, text).await,
                tree::DropKind::Synonym => database.drop_synonym(tx, &schema, text).await,
                tree::DropKind::Table => database.drop_table(tx, &schema, text).await,
                tree::DropKind::View => database.drop_view(tx, &schema, text).await,
                tree::DropKind::Procedure => database.drop_procedure(tx, &schema, text).await,
                _ => database.drop_schema(tx, text).await,
            };
            dropped.map_err(|error| as_written(error, name))?;
        }
        Ok(())
    }

    /// Databases are made and dropped outside of transactions.
    pub(super) fn check_no_transaction(&self, statement: &str) -> Result<(), Fault> {
        if self.context.state.transaction_count == 0 {
            return Ok(());
        }
        Err(Box::new(SqlError::new(
            226,
            16,
            6,
            format!("{statement} statement not allowed within multi-statement transaction."),
        )))
    }

    async fn create_database(&mut self, create: &tree::CreateDatabase) -> Result<(), Fault> {
        self.check_no_transaction("CREATE DATABASE")?;
        if create.attach.is_some() || create.snapshot_of.is_some() {
            return Err(errors::unsupported("FOR ATTACH or AS SNAPSHOT OF"));
        }
        let collation = create.collation.as_ref().map_or(Ok(Collation::default()), bind::database_collation)?;
        let (filegroups, files) = (DeclaredFilegroups::of(create)?, self.declared_files(create)?);
        let server = std::sync::Arc::clone(self.context.server());
        server.create_database_to_size(&create.name.text, collation, files.are_sized()).await?;
        let (database, session_id) = (server.database(&create.name.text)?, self.context.state.session_id);
        let mut made = filegroups.make(&database, session_id).await;
        if made.is_ok() {
            made = files.make(&database, session_id).await;
        }
        drop(database);
        if let Err(fault) = made {
            // The error says more than one of its undoing would.
            let _ = server.drop_database(&create.name.text).await;
            return Err(fault);
        }
        let owner = self.context.token().login().clone();
        if owner.id != pikepole_engine::SA {
            let database = server.database(&create.name.text)?;
            database.set_owner(self.context.state.session_id, &owner).await?;
        }
        Ok(())
    }

    async fn drop_databases(&mut self, drop: &tree::Drop) -> Result<(), Fault> {
        self.check_no_transaction("DROP DATABASE")?;
        let server = std::sync::Arc::clone(self.context.server());
        for name in &drop.names {
            let missing = server.database(&name.name.text).is_err_and(|error| error.number == 911);
            if drop.if_exists && missing {
                continue;
            }
            server.drop_database(&name.name.text).await?;
        }
        Ok(())
    }

    /// ALTER DATABASE. Two errors say that an option cannot be set: why, and that the statement has failed.
    async fn alter_database(&mut self, alter: &tree::AlterDatabase) -> Result<(), Fault> {
        match self.change_database(alter).await {
            Err(fault)
                if matches!(fault.number, 5030 | 5058 | 5064 | 5070)
                    && !matches!(alter.action, tree::AlterDatabaseAction::Rename(_)) =>
            {
                self.output.error(&fault.at_line(self.line()));
                Err(Box::new(SqlError::alter_database_failed()))
            }
            done => done,
        }
    }

    /// ALTER DATABASE ... COLLATE. What compares texts by the database's collation, and is kept, stands in the way.
    fn recollate_database(&mut self, name: &str, collation: &tree::Name) -> Result<(), Fault> {
        let collation = bind::database_collation(collation)?;
        let server = Arc::clone(self.context.server());
        let database = server.database(name)?;
        if database.options().collation == collation {
            return Ok(());
        }
        let catalog = database.current_catalog();
        let mut dependents = Vec::new();
        for table in catalog.tables() {
            dependents.extend(table.checks.iter().map(|check| ("object", check.name.clone())));
            let computed = table.columns.iter().filter(|column| column.computed.is_some());
            dependents.extend(computed.map(|column| ("column", format!("{}.{}", table.name, column.name))));
        }
        if dependents.is_empty() {
            return Ok(server.set_database_collation(name, collation, self.context.database())?);
        }
        for (kind, dependent) in dependents {
            let error = Box::new(SqlError::depends_on_database_collation(kind, dependent));
            self.output.error(&error.at_line(self.line()));
        }
        Err(Box::new(SqlError::database_collation_not_set(name, collation.name())))
    }

    async fn change_database(&mut self, alter: &tree::AlterDatabase) -> Result<(), Fault> {
        self.check_no_transaction("ALTER DATABASE")?;
        let name = match &alter.name {
            Some(name) => name.text.clone(),
            None => self.context.database().name().to_owned(),
        };
        let server = Arc::clone(self.context.server());
        if name.eq_ignore_ascii_case(pikepole_engine::TEMPDB) {
            // It is made when it is first needed.
            server.tempdb().await?;
        }
        if !sets_state(&alter.action) {
            server.database(&name)?;
        }
        match &alter.action {
            tree::AlterDatabaseAction::Set { options, termination } => {
                for option in options {
                    match option.name.as_str() {
                        "ONLINE" => {
                            server.set_online(&name).await?;
                            continue;
                        }
                        "OFFLINE" => {
                            self.take_offline(&name, termination.as_ref()).await?;
                            continue;
                        }
                        _ => {}
                    }
                    match database_option(option, &name)? {
                        Some(DatabaseOption::UserAccess(access)) => {
                            self.set_user_access(&name, access, termination.as_ref()).await?;
                        }
                        Some(DatabaseOption::ReadCommittedSnapshot(versioned)) => {
                            self.set_versioned_reads(&name, versioned, termination.as_ref()).await?;
                        }
                        Some(option) => server.set_database_option(&name, option)?,
                        None => {}
                    }
                }
                Ok(())
            }
            action @ (tree::AlterDatabaseAction::AddFiles { .. }
            | tree::AlterDatabaseAction::AddLogFiles(_)
            | tree::AlterDatabaseAction::RemoveFile(_)
            | tree::AlterDatabaseAction::ModifyFile(_)) => self.alter_files(&server.database(&name)?, action).await,
            action @ (tree::AlterDatabaseAction::AddFilegroup { .. }
            | tree::AlterDatabaseAction::RemoveFilegroup(_)
            | tree::AlterDatabaseAction::ModifyFilegroup { .. }) => {
                self.alter_filegroup(&server.database(&name)?, action).await
            }
            tree::AlterDatabaseAction::Rename(new) => {
                self.modify_name(alter.name.as_ref().map(|name| name.text.as_str()), &new.text).await
            }
            tree::AlterDatabaseAction::Collate(collation) => self.recollate_database(&name, collation),
            tree::AlterDatabaseAction::ScopedConfiguration { name, secondary, value } => {
                self.set_scoped(name, *secondary, value.as_ref())
            }
        }
    }
}

/// What the end of a definition says that it was.
pub(crate) fn definition_kind(kind: &StatementKind) -> DoneKind {
    DoneKind::Definition(match kind {
        StatementKind::CreateTable(_) => Definition::CreateTable,
        StatementKind::AlterTable(_) => Definition::AlterTable,
        StatementKind::CreateIndex(_) => Definition::CreateIndex,
        StatementKind::AlterIndex(_) => Definition::AlterIndex,
        StatementKind::DropIndex(_) => Definition::DropIndex,
        StatementKind::CreateView(_) => Definition::CreateView,
        StatementKind::CreateProcedure(_) => Definition::CreateProcedure,
        StatementKind::CreateFunction(_) => Definition::CreateFunction,
        StatementKind::CreateTrigger(_) => Definition::CreateTrigger,
        StatementKind::CreateType(_) => Definition::CreateType,
        StatementKind::CreateSynonym(_) => Definition::CreateSynonym,
        StatementKind::CreateSchema(_) => Definition::CreateSchema,
        StatementKind::TransferToSchema(_) => Definition::AlterSchema,
        StatementKind::CreateDatabase(_) => Definition::CreateDatabase,
        StatementKind::AlterDatabase(_) => Definition::AlterDatabase,
        StatementKind::Drop(drop) => match drop.kind {
            tree::DropKind::Table => Definition::DropTable,
            tree::DropKind::View => Definition::DropView,
            tree::DropKind::Procedure => Definition::DropProcedure,
            tree::DropKind::Function => Definition::DropFunction,
            tree::DropKind::Trigger => Definition::DropTrigger,
            tree::DropKind::Schema => Definition::DropSchema,
            tree::DropKind::Database => Definition::DropDatabase,
            tree::DropKind::Type => Definition::DropType,
            tree::DropKind::Synonym => Definition::DropSynonym,
            _ => return DoneKind::Other,
        },
        _ => return DoneKind::Other,
    })
}

pub(super) fn put_mode(mode: tree::ModuleMode) -> PutMode {
    match mode {
        tree::ModuleMode::Create => PutMode::Create,
        tree::ModuleMode::Alter => PutMode::Alter,
        tree::ModuleMode::CreateOrAlter => PutMode::CreateOrAlter,
    }
}

/// Options that describe what this engine does anyway, or that only other features read: accepted without effect.
const ACCEPTED_OPTIONS: &[&str] = &[
    "ACCELERATED_DATABASE_RECOVERY",
    "OPTIMIZED_LOCKING",
    "COMPATIBILITY_LEVEL",
    "CURSOR_DEFAULT",
    "ERROR_BROKER_CONVERSATIONS",
    "FILESTREAM",
    "MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT",
    "MIXED_PAGE_ALLOCATION",
    "PAGE_VERIFY",
    "PARAMETERIZATION",
    "QUERY_STORE",
    "READ_WRITE",
    "TARGET_RECOVERY_TIME",
    "TEMPORAL_HISTORY_RETENTION",
    "TORN_PAGE_DETECTION",
];

pub(super) fn is_of_the_server(database: &str) -> bool {
    [pikepole_engine::MASTER, pikepole_engine::TEMPDB].iter().any(|name| database.eq_ignore_ascii_case(name))
}

/// Whether ALTER DATABASE is for a database that is closed, too.
fn sets_state(action: &tree::AlterDatabaseAction) -> bool {
    let is_state = |option: &tree::SettingOption| matches!(option.name.as_str(), "ONLINE" | "OFFLINE");
    matches!(action, tree::AlterDatabaseAction::Set { options, .. } if options.first().is_some_and(is_state))
}

/// An option of ALTER DATABASE ... SET; `None` for one without effect.
fn database_option(option: &tree::SettingOption, database: &str) -> Result<Option<DatabaseOption>, Fault> {
    let invalid = || {
        let error = SqlError::database_option_not_settable(&option.name, database);
        Box::new(error)
    };
    let word = match &option.value {
        Some(tree::SettingValue::Word(word)) => word.as_str(),
        _ => "",
    };
    let switch = || match &option.value {
        Some(tree::SettingValue::OnWith(_)) => Ok(true),
        _ => option.on_off().ok_or_else(invalid),
    };
    Ok(Some(match option.name.as_str() {
        "DELAYED_DURABILITY" => DatabaseOption::DelayedDurability(match word {
            "DISABLED" => DelayedDurability::Disabled,
            "ALLOWED" => DelayedDurability::Allowed,
            "FORCED" => DelayedDurability::Forced,
            _ => return Err(invalid()),
        }),
        "RECOVERY" => DatabaseOption::Recovery(match word {
            "FULL" => RecoveryModel::Full,
            "SIMPLE" => RecoveryModel::Simple,
            "BULK_LOGGED" => RecoveryModel::BulkLogged,
            _ => return Err(invalid()),
        }),
        "READ_COMMITTED_SNAPSHOT" => DatabaseOption::ReadCommittedSnapshot(switch()?),
        "ALLOW_SNAPSHOT_ISOLATION" => DatabaseOption::AllowSnapshotIsolation(switch()?),
        "MULTI_USER" => DatabaseOption::UserAccess(UserAccess::Multi),
        // The databases that sessions cannot do without are for all of them.
        "SINGLE_USER" | "RESTRICTED_USER" if is_of_the_server(database) => return Err(invalid()),
        "SINGLE_USER" => DatabaseOption::UserAccess(UserAccess::Single),
        "RESTRICTED_USER" => DatabaseOption::UserAccess(UserAccess::Restricted),
        "RECURSIVE_TRIGGERS" => DatabaseOption::RecursiveTriggers(switch()?),
        "NEW_BROKER" | "ENABLE_BROKER" => DatabaseOption::Switch("ENABLE_BROKER", true),
        "DISABLE_BROKER" => DatabaseOption::Switch("ENABLE_BROKER", false),
        "CONTAINMENT" if word == "NONE" => return Ok(None),
        // Of what is not there it can be said that it is off.
        "CHANGE_TRACKING" | "ENCRYPTION" | "SUPPLEMENTAL_LOGGING" if option.on_off() == Some(false) => return Ok(None),
        name => match Switches::named(name) {
            Some(name) => DatabaseOption::Switch(name, switch()?),
            None if ACCEPTED_OPTIONS.contains(&name) => return Ok(None),
            None => return Err(invalid()),
        },
    }))
}

/// An error about the table that a statement names, which tells of it as the statement does.
pub(super) fn as_written(error: SqlError, name: &ObjectName) -> SqlError {
    match error.number {
        TRUNCATED_IS_REFERENCED => SqlError::truncate_is_referenced(name.dotted()),
        DROPPED_IS_REFERENCED => SqlError::object_is_referenced(name.dotted()),
        ALTERED_IS_OTHER => SqlError::incompatible_object_kind("alter", name.dotted()),
        ALTERED_IS_MISSING => SqlError::invalid_object(name.dotted()).with_state(6),
        MODULE_EXISTS => error.with_state(3),
        _ => error,
    }
}

/// The numbers of errors of tables that foreign keys refer to.
const TRUNCATED_IS_REFERENCED: i32 = 4712;
const DROPPED_IS_REFERENCED: i32 = 3726;

/// The numbers of errors of modules that are to be made or altered.
const ALTERED_IS_MISSING: i32 = 208;
const ALTERED_IS_OTHER: i32 = 2010;
const MODULE_EXISTS: i32 = 2714;
