//! The catalog: schemas, tables, procedures and views of a database.
//!
//! ```text
//!   system tree --at start--> Arc<Catalog> (current) --clone, change--> Arc<Catalog> (of one transaction)
//!        ^                         ^                                        |
//!        \--row changes------------|--- published at its commit -----------/
//! ```
//!
//! A catalog is immutable; two that follow each other share what is the same in both, so that a change costs no copy of a database's
//! thousand tables, and a transaction that makes them all can keep each step to go back to. A transaction that changes definitions holds the catalog's lock to its end, so there is one
//! catalog in the making at most; it is the current one of that transaction only, until the commit publishes it. Each has a
//! version of its own: a compiled statement notes it and compares one number before it runs.

pub(crate) mod data_file;
pub(crate) mod definition;
pub(crate) mod event;
pub(crate) mod filegroup;
mod filegroups;
pub(crate) mod filter;
pub(crate) mod in_memory;
pub(crate) mod index;
pub(crate) mod message;
pub(crate) mod partition;
pub(crate) mod property;
pub(crate) mod rows;
pub(crate) mod security_policy;
pub(crate) mod sequence;
pub(crate) mod statistics;
pub(crate) mod storage_options;
pub(crate) mod temporal;
pub(crate) mod user_type;

use std::sync::Arc;

use crate::security::{
    DB_ACCESSADMIN, DB_BACKUPOPERATOR, DB_DATAREADER, DB_DATAWRITER, DB_DDLADMIN, DB_DENYDATAREADER, DB_DENYDATAWRITER,
    DB_OWNER, DB_SECURITYADMIN, DBO, Level, Principals, Securable, SecurityToken,
};
use crate::table::Table;
use data_file::{DATA_FILE, FileSettings, LOG_FILE};
use definition::{
    DefinitionTrigger, ForeignKey, Function, Module, Procedure, Schema, Synonym, TableRecord, Trigger, TriggerEvent,
    View,
};
use filegroup::{Filegroup, PRIMARY_FILEGROUP};
use message::UserMessage;
use partition::{FUNCTION_FIRST, PartitionFunction, PartitionScheme, SCHEME_FIRST};
use property::{Properties, PropertyHolder};
use rpds::{RedBlackTreeMapSync as Map, RedBlackTreeSetSync as Set};
use security_policy::{SecurityPolicy, SecurityPredicate};
use sequence::Sequence;
use statistics::TableStatistics;
use user_type::{USER_TYPE_FIRST, UserType};

/// The first object id of users' objects.
pub(crate) const OBJECT_ID_FIRST: i32 = 1_000_001;

/// The schema of objects that are named without one.
pub const DEFAULT_SCHEMA: &str = "dbo";

/// A schema that a new database has, with its id and its owner's. Those of the fixed roles can be dropped, and nothing needs them.
pub(crate) const BUILT_IN_SCHEMAS: [(i32, &str, i32); 13] = [
    (1, "dbo", 1),
    (2, "guest", 2),
    (3, "INFORMATION_SCHEMA", 3),
    (4, "sys", 4),
    (DB_OWNER, "db_owner", DB_OWNER),
    (DB_ACCESSADMIN, "db_accessadmin", DB_ACCESSADMIN),
    (DB_SECURITYADMIN, "db_securityadmin", DB_SECURITYADMIN),
    (DB_DDLADMIN, "db_ddladmin", DB_DDLADMIN),
    (DB_BACKUPOPERATOR, "db_backupoperator", DB_BACKUPOPERATOR),
    (DB_DATAREADER, "db_datareader", DB_DATAREADER),
    (DB_DATAWRITER, "db_datawriter", DB_DATAWRITER),
    (DB_DENYDATAREADER, "db_denydatareader", DB_DENYDATAREADER),
    (DB_DENYDATAWRITER, "db_denydatawriter", DB_DENYDATAWRITER),
];

/// An object found by name.
#[derive(Debug, Clone)]
pub enum Object {
    /// A table.
    Table(Arc<Table>),
    /// A procedure.
    Procedure(Arc<Procedure>),
    /// A view.
    View(Arc<View>),
    /// A function.
    Function(Arc<Function>),
    /// A sequence.
    Sequence(Arc<Sequence>),
    /// A trigger.
    Trigger(Arc<Trigger>),
    /// A synonym.
    Synonym(Arc<Synonym>),
    /// A security policy.
    SecurityPolicy(Arc<SecurityPolicy>),
}

impl Object {
    /// The object id.
    pub fn object_id(&self) -> i32 {
        match self {
            Object::Table(table) => table.object_id,
            Object::Sequence(sequence) => sequence.object_id,
            Object::Trigger(trigger) => trigger.module.object_id,
            Object::SecurityPolicy(policy) => policy.module.object_id,
            Object::Procedure(module) | Object::View(module) | Object::Function(module) | Object::Synonym(module) => {
                module.object_id
            }
        }
    }

    /// What error texts call such an object.
    pub fn kind(&self) -> &'static str {
        match self {
            Object::Table(_) => "table",
            Object::Procedure(_) => "procedure",
            Object::View(_) => "view",
            Object::Function(_) => "function",
            Object::Sequence(_) => "sequence object",
            Object::Trigger(_) => "trigger",
            Object::Synonym(_) => "synonym",
            Object::SecurityPolicy(_) => "security policy",
        }
    }

    /// The object's name.
    pub fn name(&self) -> &str {
        match self {
            Object::Table(table) => &table.name,
            Object::Sequence(sequence) => &sequence.name,
            Object::Trigger(trigger) => &trigger.module.name,
            Object::SecurityPolicy(policy) => &policy.module.name,
            Object::Procedure(module) | Object::View(module) | Object::Function(module) | Object::Synonym(module) => {
                &module.name
            }
        }
    }

    /// The schema's id.
    pub fn schema_id(&self) -> i32 {
        match self {
            Object::Table(table) => table.schema_id,
            Object::Sequence(sequence) => sequence.schema_id,
            Object::Trigger(trigger) => trigger.module.schema_id,
            Object::SecurityPolicy(policy) => policy.module.schema_id,
            Object::Procedure(module) | Object::View(module) | Object::Function(module) | Object::Synonym(module) => {
                module.schema_id
            }
        }
    }
}

/// The definitions of a database at one moment.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub(crate) version: u64,
    schemas: Map<String, Arc<Schema>>,
    objects: Map<i32, Object>,
    /// Objects, by their schemas and their names in lower case.
    names: Map<(i32, String), i32>,
    /// The names of tables' constraints, likewise.
    constraints: Set<(i32, String)>,
    /// The triggers of tables and views, ascending.
    watchers: Map<i32, Vec<i32>>,
    /// The security policies among the objects.
    policies: Set<i32>,
    /// The triggers of definitions, by object id.
    definition_triggers: Map<i32, Arc<DefinitionTrigger>>,
    /// Files, by their numbers.
    files: Map<i32, Arc<FileSettings>>,
    /// Filegroups, by their numbers.
    filegroups: Map<i32, Arc<Filegroup>>,
    /// Partition functions and schemes, by their numbers.
    partition_functions: Map<i32, Arc<PartitionFunction>>,
    partition_schemes: Map<i32, Arc<PartitionScheme>>,
    /// Users' types, by their schemas and their names in lower case.
    /// By schema, whether it is a collection of schemas of xml, and name.
    types: Map<(i32, bool, String), Arc<UserType>>,
    /// Extended properties, by what has them.
    properties: Map<PropertyHolder, Arc<Properties>>,
    /// Statistics, by the numbers of their tables.
    statistics: Map<i32, Arc<TableStatistics>>,
    /// Users' messages, by number; those of the server in master's catalog, and nowhere else looked at.
    messages: Map<i32, Arc<UserMessage>>,
    /// Logins and server roles; those of the server in master's catalog, and nowhere else looked at.
    logins: Arc<Principals>,
    /// Users and roles.
    users: Arc<Principals>,
}

impl Default for Catalog {
    fn default() -> Self {
        Catalog {
            version: 0,
            schemas: Map::default(),
            objects: Map::default(),
            names: Map::default(),
            constraints: Set::default(),
            watchers: Map::default(),
            policies: Set::default(),
            definition_triggers: Map::default(),
            files: [DATA_FILE, LOG_FILE].map(|id| (id, Arc::new(FileSettings::unsaid(id)))).into_iter().collect(),
            filegroups: Map::default().insert(PRIMARY_FILEGROUP, Arc::new(Filegroup::primary())),
            partition_functions: Map::default(),
            partition_schemes: Map::default(),
            types: Map::default(),
            properties: Map::default(),
            statistics: Map::default(),
            messages: Map::default(),
            logins: Arc::new(Principals::built_in(Level::Server)),
            users: Arc::new(Principals::built_in(Level::Database)),
        }
    }
}

impl Catalog {
    /// This catalog's version: no other catalog of the database, published or not, has the same.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// The schema of this name, whatever its case.
    pub fn schema(&self, name: &str) -> Option<&Arc<Schema>> {
        self.schemas.get(&name.to_lowercase())
    }

    /// The schema of this id.
    pub fn schema_by_id(&self, schema_id: i32) -> Option<&Arc<Schema>> {
        self.schemas.values().find(|schema| schema.schema_id == schema_id)
    }

    /// What permissions on an object are asked for with: a trigger is part of the table or view that it watches.
    pub fn securable(&self, object: &Object) -> Securable {
        if let Object::Trigger(trigger) = object
            && let Some(parent) = self.object_by_id(trigger.parent_id)
        {
            return self.securable(parent);
        }
        let schema_id = object.schema_id();
        let owner = self.schema_by_id(schema_id).map_or(DBO, |schema| schema.owner);
        Securable::Object { id: object.object_id(), schema_id, owner }
    }

    /// What permissions on a type are asked for with.
    pub fn securable_type(&self, user_type: &UserType) -> Securable {
        let owner = self.schema_by_id(user_type.schema_id).map_or(DBO, |schema| schema.owner);
        Securable::Type { id: user_type.user_type_id, schema_id: user_type.schema_id, owner }
    }

    /// The catalog as `token` may see it: without the objects on which it has no permission at all. Temporary objects of all
    /// sessions need none.
    pub fn visible_to(&self, token: &SecurityToken) -> Catalog {
        let mut visible = self.clone();
        for object in self.objects.values() {
            if !object.name().starts_with("##") && !token.sees(self.securable(object)) {
                visible.remove(object.object_id());
            }
        }
        for user_type in self.types.values().filter(|user_type| !token.sees(self.securable_type(user_type))) {
            visible.remove_type(user_type);
        }
        for holder in self.properties.keys() {
            let is_visible = match holder {
                PropertyHolder::Object(id) => {
                    visible.objects.contains_key(id) || visible.definition_trigger_by_id(*id).is_some()
                }
                PropertyHolder::Type(id) => visible.user_type_by_id(*id).is_some(),
                PropertyHolder::Database | PropertyHolder::Schema(_) | PropertyHolder::Principal(_) => true,
            };
            if !is_visible {
                visible.properties.remove_mut(holder);
            }
        }
        for object_id in self.statistics.keys() {
            if !visible.objects.contains_key(object_id) {
                visible.statistics.remove_mut(object_id);
            }
        }
        visible
    }

    /// The number of the next schema: behind those of users, and none of a fixed role's.
    pub(crate) fn next_schema_id(&self) -> i32 {
        let of_roles = DB_OWNER..=DB_DENYDATAWRITER;
        let ids = self.schemas().map(|schema| schema.schema_id).filter(|id| !of_roles.contains(id));
        let next = ids.max().unwrap_or(4).max(4) + 1;
        if of_roles.contains(&next) { DB_DENYDATAWRITER + 1 } else { next }
    }

    /// All schemas, by name.
    pub fn schemas(&self) -> impl Iterator<Item = &Arc<Schema>> {
        self.schemas.values()
    }

    /// The object of this name in the schema of that name, whatever their case.
    pub fn object(&self, schema: &str, name: &str) -> Option<&Object> {
        let schema = self.schema(schema)?;
        let id = self.names.get(&(schema.schema_id, name.to_lowercase()))?;
        self.objects.get(id)
    }

    /// The object of this id.
    pub fn object_by_id(&self, object_id: i32) -> Option<&Object> {
        self.objects.get(&object_id)
    }

    /// All objects, by id.
    pub fn objects(&self) -> impl Iterator<Item = &Object> {
        self.objects.values()
    }

    /// The table of this name.
    pub fn table(&self, schema: &str, name: &str) -> Option<&Arc<Table>> {
        match self.object(schema, name)? {
            Object::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The table of this object id.
    pub fn table_by_id(&self, object_id: i32) -> Option<&Arc<Table>> {
        match self.objects.get(&object_id)? {
            Object::Table(table) => Some(table),
            _ => None,
        }
    }

    /// The procedure of this name.
    pub fn procedure(&self, schema: &str, name: &str) -> Option<&Arc<Procedure>> {
        match self.object(schema, name)? {
            Object::Procedure(procedure) => Some(procedure),
            _ => None,
        }
    }

    /// The view of this name.
    pub fn view(&self, schema: &str, name: &str) -> Option<&Arc<View>> {
        match self.object(schema, name)? {
            Object::View(view) => Some(view),
            _ => None,
        }
    }

    /// The function of this name.
    pub fn function(&self, schema: &str, name: &str) -> Option<&Arc<Function>> {
        match self.object(schema, name)? {
            Object::Function(function) => Some(function),
            _ => None,
        }
    }

    /// The sequence of this name.
    pub fn sequence(&self, schema: &str, name: &str) -> Option<&Arc<Sequence>> {
        match self.object(schema, name)? {
            Object::Sequence(sequence) => Some(sequence),
            _ => None,
        }
    }

    /// The trigger of this name.
    pub fn trigger(&self, schema: &str, name: &str) -> Option<&Arc<Trigger>> {
        match self.object(schema, name)? {
            Object::Trigger(trigger) => Some(trigger),
            _ => None,
        }
    }

    /// The synonym of this name.
    pub fn synonym(&self, schema: &str, name: &str) -> Option<&Arc<Synonym>> {
        match self.object(schema, name)? {
            Object::Synonym(synonym) => Some(synonym),
            _ => None,
        }
    }

    /// The security policy of this name.
    pub fn security_policy(&self, schema: &str, name: &str) -> Option<&Arc<SecurityPolicy>> {
        match self.object(schema, name)? {
            Object::SecurityPolicy(policy) => Some(policy),
            _ => None,
        }
    }

    /// All security policies, by object id.
    pub fn security_policies(&self) -> impl Iterator<Item = &Arc<SecurityPolicy>> {
        self.policies.iter().filter_map(|id| match self.objects.get(id)? {
            Object::SecurityPolicy(policy) => Some(policy),
            _ => None,
        })
    }

    /// The predicates of enabled policies on a table, with their policies.
    pub fn predicates_on(&self, object_id: i32) -> impl Iterator<Item = (&Arc<SecurityPolicy>, &SecurityPredicate)> {
        let enabled = self.security_policies().filter(|policy| policy.enabled);
        enabled.flat_map(move |policy| {
            let own = policy.predicates.iter().filter(move |predicate| predicate.target == object_id);
            own.map(move |predicate| (policy, predicate))
        })
    }

    /// All triggers, by object id.
    pub fn triggers(&self) -> impl Iterator<Item = &Arc<Trigger>> {
        self.objects.values().filter_map(|object| match object {
            Object::Trigger(trigger) => Some(trigger),
            _ => None,
        })
    }

    /// All synonyms, by object id.
    pub fn synonyms(&self) -> impl Iterator<Item = &Arc<Synonym>> {
        self.objects.values().filter_map(|object| match object {
            Object::Synonym(synonym) => Some(synonym),
            _ => None,
        })
    }

    /// The triggers of a table or view, in the order in which they were made.
    pub fn triggers_of(&self, object_id: i32) -> impl Iterator<Item = &Arc<Trigger>> {
        self.watchers.get(&object_id).into_iter().flatten().filter_map(|trigger| match self.objects.get(trigger)? {
            Object::Trigger(trigger) => Some(trigger),
            _ => None,
        })
    }

    /// The triggers of definitions, in the order in which they were made.
    pub fn definition_triggers(&self) -> impl Iterator<Item = &Arc<DefinitionTrigger>> {
        self.definition_triggers.values()
    }

    /// The trigger of definitions of this name, whatever its case.
    pub fn definition_trigger(&self, name: &str) -> Option<&Arc<DefinitionTrigger>> {
        let name = name.to_lowercase();
        self.definition_triggers().find(|trigger| trigger.module.name.to_lowercase() == name)
    }

    /// The trigger of definitions of this object id.
    pub fn definition_trigger_by_id(&self, object_id: i32) -> Option<&Arc<DefinitionTrigger>> {
        self.definition_triggers.get(&object_id)
    }

    pub(crate) fn put_definition_trigger(&mut self, trigger: Arc<DefinitionTrigger>) {
        self.definition_triggers.insert_mut(trigger.module.object_id, trigger);
    }

    pub(crate) fn remove_definition_trigger(&mut self, object_id: i32) {
        self.definition_triggers.remove_mut(&object_id);
    }

    /// All partition functions, by number.
    pub fn partition_functions(&self) -> impl Iterator<Item = &Arc<PartitionFunction>> {
        self.partition_functions.values()
    }

    /// The partition function of this name, whatever its case.
    pub fn partition_function(&self, name: &str) -> Option<&Arc<PartitionFunction>> {
        let name = name.to_lowercase();
        self.partition_functions().find(|function| function.name.to_lowercase() == name)
    }

    /// The partition function of this number.
    pub fn partition_function_by_id(&self, function_id: i32) -> Option<&Arc<PartitionFunction>> {
        self.partition_functions.get(&function_id)
    }

    /// All partition schemes, by number.
    pub fn partition_schemes(&self) -> impl Iterator<Item = &Arc<PartitionScheme>> {
        self.partition_schemes.values()
    }

    /// The partition scheme of this name, whatever its case.
    pub fn partition_scheme(&self, name: &str) -> Option<&Arc<PartitionScheme>> {
        let name = name.to_lowercase();
        self.partition_schemes().find(|scheme| scheme.name.to_lowercase() == name)
    }

    /// The partition scheme of this number.
    pub fn partition_scheme_by_id(&self, data_space_id: i32) -> Option<&Arc<PartitionScheme>> {
        self.partition_schemes.get(&data_space_id)
    }

    /// Numbers for a new function and a new scheme: their rows in the catalog's tree share one range.
    pub(crate) fn free_partition_ids(&self) -> (i32, i32) {
        let is_taken = |id: &i32| self.partition_functions.contains_key(id) || self.partition_schemes.contains_key(id);
        let free = |first: i32| (first..).find(|id| !is_taken(id)).unwrap_or(first);
        (free(FUNCTION_FIRST), free(SCHEME_FIRST))
    }

    pub(crate) fn put_partition_function(&mut self, function: Arc<PartitionFunction>) {
        self.partition_functions.insert_mut(function.function_id, function);
    }

    pub(crate) fn put_partition_scheme(&mut self, scheme: Arc<PartitionScheme>) {
        self.partition_schemes.insert_mut(scheme.data_space_id, scheme);
    }

    pub(crate) fn remove_partition_object(&mut self, id: i32) {
        self.partition_functions.remove_mut(&id);
        self.partition_schemes.remove_mut(&id);
    }

    /// The trigger that runs in the place of a change of a table or view.
    pub fn instead_of(&self, object_id: i32, event: TriggerEvent) -> Option<&Arc<Trigger>> {
        let mut triggers = self.triggers_of(object_id).filter(|trigger| trigger.instead_of && !trigger.disabled);
        triggers.find(|trigger| trigger.events.contains(&event))
    }

    /// Everything that is kept as a text: procedures, views, functions and triggers.
    pub fn modules(&self) -> impl Iterator<Item = &Module> {
        let of_schemas = self.objects.values().filter_map(|object| match object {
            Object::Procedure(module) | Object::View(module) | Object::Function(module) => Some(&**module),
            Object::Trigger(trigger) => Some(&trigger.module),
            Object::Table(_) | Object::Sequence(_) | Object::Synonym(_) | Object::SecurityPolicy(_) => None,
        });
        of_schemas.chain(self.definition_triggers().map(|trigger| &trigger.module))
    }

    /// All sequences, by object id.
    pub fn sequences(&self) -> impl Iterator<Item = &Arc<Sequence>> {
        self.objects.values().filter_map(|object| match object {
            Object::Sequence(sequence) => Some(sequence),
            _ => None,
        })
    }

    /// The type of this name that users made.
    pub fn user_type(&self, schema: &str, name: &str) -> Option<&Arc<UserType>> {
        let schema = self.schema(schema)?;
        self.types.get(&(schema.schema_id, false, name.to_lowercase()))
    }

    /// The collection of schemas of xml of this name.
    pub fn schema_collection(&self, schema: &str, name: &str) -> Option<&Arc<UserType>> {
        let schema = self.schema(schema)?;
        self.types.get(&(schema.schema_id, true, name.to_lowercase()))
    }

    /// The type of this id that users made.
    pub fn user_type_by_id(&self, user_type_id: i32) -> Option<&Arc<UserType>> {
        self.types.values().find(|user_type| user_type.user_type_id == user_type_id)
    }

    /// All types that users made, by their ids.
    pub fn user_types(&self) -> impl Iterator<Item = &Arc<UserType>> {
        self.types_and_collections().filter(|user_type| !user_type.is_collection())
    }

    /// All collections of schemas of xml, by their ids.
    pub fn schema_collections(&self) -> impl Iterator<Item = &Arc<UserType>> {
        self.types_and_collections().filter(|user_type| user_type.is_collection())
    }

    pub(crate) fn types_and_collections(&self) -> impl Iterator<Item = &Arc<UserType>> {
        let mut types: Vec<&Arc<UserType>> = self.types.values().collect();
        types.sort_by_key(|user_type| user_type.user_type_id);
        types.into_iter()
    }

    /// The definitions of all tables, and then of the table types.
    pub fn table_shapes(&self) -> impl Iterator<Item = &TableRecord> {
        let tables = self.tables().map(|table| table.record());
        tables.chain(self.user_types().filter_map(|user_type| user_type.table()))
    }

    /// An id for a new type.
    pub(crate) fn user_type_id_free(&self) -> i32 {
        let last = self.types.values().map(|user_type| user_type.user_type_id).max();
        last.map_or(USER_TYPE_FIRST, |last| last + 1)
    }

    pub(crate) fn put_type(&mut self, user_type: Arc<UserType>) {
        let key = (user_type.schema_id, user_type.is_collection(), user_type.name.to_lowercase());
        self.types.insert_mut(key, user_type);
    }

    pub(crate) fn remove_type(&mut self, user_type: &UserType) {
        self.types.remove_mut(&(user_type.schema_id, user_type.is_collection(), user_type.name.to_lowercase()));
    }

    /// The extended properties of what has some, with those of its parts.
    pub fn properties_of(&self, holder: PropertyHolder) -> Option<&Properties> {
        self.properties.get(&holder).map(Arc::as_ref)
    }

    /// All extended properties.
    pub fn properties(&self) -> impl Iterator<Item = &Properties> {
        self.properties.values().map(Arc::as_ref)
    }

    pub(crate) fn put_properties(&mut self, properties: Properties) {
        if properties.entries.is_empty() {
            self.properties.remove_mut(&properties.holder);
        } else {
            self.properties.insert_mut(properties.holder, Arc::new(properties));
        }
    }

    /// The statistics of a table, but for those of indexes that were never updated.
    pub fn statistics_of(&self, object_id: i32) -> Option<&Arc<TableStatistics>> {
        self.statistics.get(&object_id)
    }

    /// True when an index or statistics of a table have this name, whatever its case.
    pub(crate) fn has_index_or_statistics(&self, record: &TableRecord, name: &str) -> bool {
        let lower = name.to_lowercase();
        record.indexes.iter().any(|index| index.name.to_lowercase() == lower)
            || self.statistics_of(record.object_id).is_some_and(|own| own.by_name(name).is_some())
    }

    pub(crate) fn put_statistics(&mut self, statistics: TableStatistics) {
        if statistics.entries.is_empty() {
            self.statistics.remove_mut(&statistics.object_id);
        } else {
            self.statistics.insert_mut(statistics.object_id, Arc::new(statistics));
        }
    }

    /// The message that users have added under this number.
    pub fn message(&self, number: i32) -> Option<&UserMessage> {
        self.messages.get(&number).map(Arc::as_ref)
    }

    /// All users' messages, by number.
    pub fn messages(&self) -> impl Iterator<Item = &UserMessage> {
        self.messages.values().map(Arc::as_ref)
    }

    pub(crate) fn put_message(&mut self, message: UserMessage) {
        self.messages.insert_mut(message.number, Arc::new(message));
    }

    pub(crate) fn remove_message(&mut self, number: i32) {
        self.messages.remove_mut(&number);
    }

    /// All functions, by object id.
    pub fn functions(&self) -> impl Iterator<Item = &Arc<Function>> {
        self.objects.values().filter_map(|object| match object {
            Object::Function(function) => Some(function),
            _ => None,
        })
    }

    /// All tables, by object id.
    pub fn tables(&self) -> impl Iterator<Item = &Arc<Table>> {
        self.objects.values().filter_map(|object| match object {
            Object::Table(table) => Some(table),
            _ => None,
        })
    }

    /// All procedures, by object id.
    pub fn procedures(&self) -> impl Iterator<Item = &Arc<Procedure>> {
        self.objects.values().filter_map(|object| match object {
            Object::Procedure(procedure) => Some(procedure),
            _ => None,
        })
    }

    /// All views, by object id.
    pub fn views(&self) -> impl Iterator<Item = &Arc<View>> {
        self.objects.values().filter_map(|object| match object {
            Object::View(view) => Some(view),
            _ => None,
        })
    }

    /// The logins and server roles; of the server when the catalog is master's.
    pub fn logins(&self) -> &Arc<Principals> {
        &self.logins
    }

    /// The database's users and roles.
    pub fn users(&self) -> &Arc<Principals> {
        &self.users
    }

    pub(crate) fn principals(&self, level: Level) -> &Arc<Principals> {
        match level {
            Level::Server => &self.logins,
            Level::Database => &self.users,
        }
    }

    pub(crate) fn set_principals(&mut self, level: Level, principals: Arc<Principals>) {
        match level {
            Level::Server => self.logins = principals,
            Level::Database => self.users = principals,
        }
    }

    /// A catalog with the built-in schemas of this one and nothing in them.
    pub fn only_schemas(&self) -> Catalog {
        let built_in =
            self.schemas.iter().filter(|(_, schema)| BUILT_IN_SCHEMAS.iter().any(|(id, ..)| *id == schema.schema_id));
        let schemas = built_in.map(|(name, schema)| (name.clone(), Arc::clone(schema))).collect();
        Catalog { schemas, ..Catalog::default() }
    }

    pub(crate) fn put_schema(&mut self, schema: Schema) {
        self.schemas.insert_mut(schema.name.to_lowercase(), Arc::new(schema));
    }

    pub(crate) fn remove_schema(&mut self, name: &str) {
        self.schemas.remove_mut(&name.to_lowercase());
    }

    pub(crate) fn put(&mut self, object: Object) {
        let (id, schema_id) = (object.object_id(), object.schema_id());
        self.names.insert_mut((schema_id, object.name().to_lowercase()), id);
        if let Object::Trigger(trigger) = &object {
            let mut own = self.watchers.get(&trigger.parent_id).cloned().unwrap_or_default();
            if let Err(place) = own.binary_search(&id) {
                own.insert(place, id);
            }
            self.watchers.insert_mut(trigger.parent_id, own);
        }
        if let Object::SecurityPolicy(_) = &object {
            self.policies.insert_mut(id);
        }
        if let Some(former) = self.table_by_id(id).cloned() {
            self.remove_constraints(&former);
        }
        if let Object::Table(table) = &object {
            for name in table.constraint_names() {
                self.constraints.insert_mut((schema_id, name.to_lowercase()));
            }
        }
        self.objects.insert_mut(id, object);
    }

    fn remove_constraints(&mut self, table: &Table) {
        for name in table.constraint_names() {
            self.constraints.remove_mut(&(table.schema_id, name.to_lowercase()));
        }
    }

    pub(crate) fn remove(&mut self, object_id: i32) {
        let Some(object) = self.objects.get(&object_id).cloned() else {
            return;
        };
        self.objects.remove_mut(&object_id);
        self.names.remove_mut(&(object.schema_id(), object.name().to_lowercase()));
        match &object {
            Object::Trigger(trigger) => {
                let of_parent = self.watchers.get(&trigger.parent_id).into_iter().flatten().copied();
                let others = of_parent.filter(|other| *other != object_id).collect();
                self.watchers.insert_mut(trigger.parent_id, others);
            }
            Object::Table(table) => self.remove_constraints(table),
            Object::SecurityPolicy(_) => {
                self.policies.remove_mut(&object_id);
            }
            _ => {}
        }
    }

    /// Whether a constraint of the schema has this name.
    pub(crate) fn constraint_exists(&self, schema_id: i32, name: &str) -> bool {
        self.constraints.contains(&(schema_id, name.to_lowercase()))
    }

    /// The foreign keys that refer to a table, with the tables they are of.
    pub fn references_to(&self, object_id: i32) -> impl Iterator<Item = (&Arc<Table>, &ForeignKey)> {
        self.tables().flat_map(move |table| {
            let keys = table.foreign_keys.iter().filter(move |key| key.referenced == object_id);
            keys.map(move |key| (table, key))
        })
    }

    /// The columns that a foreign key refers to, in the order of its own; none when the table is not there.
    pub fn referenced_columns(&self, key: &ForeignKey) -> Vec<usize> {
        self.table_by_id(key.referenced).map_or_else(Vec::new, |target| key.referenced_columns(target))
    }

    /// The largest object id in use, constraints included.
    pub(crate) fn object_id_max(&self) -> i32 {
        let of_tables = self.table_shapes().flat_map(|table| {
            let defaults = table.columns.iter().filter_map(|c| c.default.as_ref());
            let checks = table.checks.iter().map(|check| check.object_id);
            let foreign = table.foreign_keys.iter().map(|key| key.object_id);
            let keys = table.indexes.iter().map(|index| index.constraint_id);
            let constraints = defaults.map(|d| d.object_id).chain(keys).chain(checks).chain(foreign);
            constraints.chain([table.object_id])
        });
        of_tables.chain(self.objects.keys().chain(self.definition_triggers.keys()).copied()).max().unwrap_or(0)
    }
}
