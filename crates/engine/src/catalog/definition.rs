//! What the catalog stores of each object, as it is serialised.
//!
//! The stored form is JSON with a format number in front of it (see [`super::rows`]); a field added later has a default, so
//! that older databases stay readable.

use super::data_file::FileSettings;
use super::event::DefinitionEvent;
use super::filegroup::Filegroup;
use super::in_memory::{InMemory, InMemoryDurability};
use super::index::Index;
use super::message::UserMessage;
use super::partition::{PartitionFunction, PartitionScheme, Partitioned};
use super::property::{Properties, PropertyHolder};
use super::rows::RowKind;
use super::security_policy::SecurityPolicy;
use super::sequence::SequenceRecord;
use super::statistics::TableStatistics;
use super::storage_options::StorageOptions;
use super::temporal::{Generated, Versioning};
use super::user_type::UserType;
use crate::security::{Level, Principal};
use pikepole_types::{Collated, Collation, Mask, SecondName, SqlType};
use serde::{Deserialize, Serialize};

/// Where the rows of a tree or heap are in the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageRef {
    /// The object's number in the store.
    pub object: u32,
    /// The root page of a tree; none: a heap.
    pub root: Option<u32>,
    /// The longest key, in bytes.
    pub key_bytes_max: u16,
}

/// A default: the expression as written, under the constraint's name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Default {
    /// The constraint's name.
    pub name: String,
    /// The constraint's object id.
    #[serde(default)]
    pub object_id: i32,
    /// The expression, as T-SQL.
    pub text: String,
}

/// An identity column's first value and step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The first value.
    pub seed: i64,
    /// Added for each next one.
    pub increment: i64,
}

/// The expression of a computed column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Computed {
    /// The expression, as T-SQL.
    pub text: String,
    /// PERSISTED was said; the value is stored with the row either way, unless it is computed when it is read.
    pub persisted: bool,
    /// Its value is another one each time: it is computed whenever it is read, and the row has NULL in its place.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub when_read: bool,
}

/// A CHECK constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// The constraint's name.
    pub name: String,
    /// The constraint's object id.
    pub object_id: i32,
    /// The condition, as T-SQL.
    pub text: String,
    /// The column that it was declared behind, when it was.
    pub column: Option<usize>,
    /// NOCHECK CONSTRAINT.
    pub disabled: bool,
    /// Some rows were never looked at.
    pub not_trusted: bool,
    /// The name was made up.
    #[serde(default)]
    pub system_named: bool,
}

/// What becomes of referring rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum ReferentialAction {
    /// The change fails.
    #[default]
    NoAction,
    /// They go the same way.
    Cascade,
    /// Their columns become NULL.
    SetNull,
    /// Their columns get their defaults.
    SetDefault,
}

/// A FOREIGN KEY constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignKey {
    /// The constraint's name.
    pub name: String,
    /// The constraint's object id.
    pub object_id: i32,
    /// The referring columns.
    pub columns: Vec<usize>,
    /// The table referred to.
    pub referenced: i32,
    /// The places that the columns referred to had when the constraint was made. Others may have gone since, so only their order
    /// says which they are: see [`ForeignKey::referenced_columns`].
    #[serde(rename = "referenced_columns")]
    pub referenced_when_made: Vec<usize>,
    /// The unique index of the table referred to.
    pub index_id: i32,
    /// ON DELETE.
    pub on_delete: ReferentialAction,
    /// ON UPDATE.
    pub on_update: ReferentialAction,
    /// NOCHECK CONSTRAINT.
    pub disabled: bool,
    /// Some rows were never looked at.
    pub not_trusted: bool,
    /// The name was made up.
    #[serde(default)]
    pub system_named: bool,
}

impl ForeignKey {
    /// The places of the columns referred to in `target`, each beside the own column that refers to it.
    ///
    /// A change of the target's columns writes no row of other tables' definitions: columns keep their order, and those of a key
    /// that is referred to cannot go.
    pub fn referenced_columns(&self, target: &TableRecord) -> Vec<usize> {
        let Some(index) = target.indexes.iter().find(|index| index.index_id == self.index_id) else {
            return Vec::new();
        };
        let mut places: Vec<usize> = index.columns.iter().map(|key| key.column).collect();
        places.sort_unstable();
        let rank = |place: &usize| self.referenced_when_made.iter().filter(|other| *other < place).count();
        self.referenced_when_made.iter().filter_map(|place| places.get(rank(place)).copied()).collect()
    }
}

/// `SET (LOCK_ESCALATION = ...)` of a table, numbered as the views number them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum LockEscalation {
    /// To the table.
    #[default]
    Table,
    /// Not at all.
    Disable,
    /// To the table, or to the partition of a partitioned one.
    Auto,
}

impl LockEscalation {
    /// All of them, by number.
    pub const ALL: [LockEscalation; 3] = [LockEscalation::Table, LockEscalation::Disable, LockEscalation::Auto];

    /// Its name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            LockEscalation::Table => "TABLE",
            LockEscalation::Disable => "DISABLE",
            LockEscalation::Auto => "AUTO",
        }
    }
}

/// A column of a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    /// The name, as written.
    pub name: String,
    /// The type.
    pub ty: SqlType,
    /// Whether it may hold NULL.
    pub nullable: bool,
    /// The default for inserts that leave it out.
    pub default: Option<Default>,
    /// Set for the identity column.
    pub identity: Option<Identity>,
    /// Set for a computed column.
    #[serde(default)]
    pub computed: Option<Computed>,
    /// A new number with each change of the row.
    #[serde(default)]
    pub rowversion: bool,
    /// The id of the name that it was declared with, a user's or a second one of the system's; [`Column::ty`] is what that stands for.
    #[serde(default)]
    pub user_type: Option<i32>,
    /// How its texts compare.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collation: Collation,
    /// SPARSE was said, which is shown: NULL takes a bit in each row here anyway.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub sparse: bool,
    /// GENERATED ALWAYS: the bound of the row's period that it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generated: Option<Generated>,
    /// HIDDEN: `*` does not stand for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub hidden: bool,
    /// MASKED: the function that hides its values, as the views show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask: Option<String>,
    /// Its number, where a column before it has been dropped; zero: its place, counted from one. See [`Column::number`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub id: i32,
}

fn is_zero(number: &i32) -> bool {
    *number == 0
}

fn is_default(collation: &Collation) -> bool {
    *collation == Collation::default()
}

impl Column {
    /// The system's second name that it was declared with.
    pub fn second_name(&self) -> Option<&'static SecondName> {
        self.user_type.and_then(SecondName::by_id)
    }

    /// Its alias type, or `sysname`.
    pub fn alias_type(&self) -> Option<i32> {
        let is_numeric = matches!(self.ty, SqlType::Decimal { .. }) && self.second_name().is_some();
        self.user_type.filter(|_| self.ty != SqlType::Xml && !is_numeric)
    }

    /// The number of the collection of schemas of a column of xml.
    pub fn schema_collection(&self) -> Option<i32> {
        self.user_type.filter(|_| self.ty == SqlType::Xml)
    }

    /// The name of its type as it was declared, by the system's names.
    pub fn type_name(&self) -> &'static str {
        self.second_name().map_or(self.ty.name(), |second| second.name)
    }

    /// What hides its values.
    pub fn mask(&self) -> Option<Mask> {
        let text = self.mask.as_deref()?;
        Some(Mask::parse(text, self.ty, &self.name).unwrap_or_else(|_| Mask::default_of(self.ty)))
    }

    /// What its values bring to comparisons.
    pub fn collated(&self) -> Collated {
        Collated::of_stored(&self.ty, self.collation)
    }

    /// The number that it has as long as it is there, as the one at this place among the columns of its table.
    pub fn number(&self, place: usize) -> i32 {
        if self.id == 0 { i32::try_from(place + 1).unwrap_or(i32::MAX) } else { self.id }
    }
}

/// A table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRecord {
    /// The object id.
    pub object_id: i32,
    /// The schema's id.
    pub schema_id: i32,
    /// The schema's name.
    pub schema: String,
    /// The table's name.
    pub name: String,
    /// The columns, in their order.
    pub columns: Vec<Column>,
    /// The indexes, the clustered one first.
    pub indexes: Vec<Index>,
    /// Where the rows of a table without clustered index are.
    pub heap: Option<StorageRef>,
    /// Where values are that rows have no room for. None: no row can be so long, or the table is of a time when there was no such.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub overflow: Option<StorageRef>,
    /// CHECK constraints.
    #[serde(default)]
    pub checks: Vec<Check>,
    /// FOREIGN KEY constraints of this table.
    #[serde(default)]
    pub foreign_keys: Vec<ForeignKey>,
    /// What was said of its locks. Nothing here escalates: a row's lock is the id of its last writer.
    #[serde(default)]
    pub lock_escalation: LockEscalation,
    /// What it is to system versioning: a table whose former rows are kept, or where they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub versioning: Option<Versioning>,
    /// `TEXTIMAGE_ON`: the filegroup of values that rows have no room for; None: that of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text_filegroup: Option<i32>,
    /// `ON scheme (column)`, of the heap; a clustered index says it itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitioned: Option<Partitioned>,
    /// Set for an in-memory table, whose rows are in none of its storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<InMemory>,
    /// What is said of how the rows of the heap lie; a clustered index says it itself.
    #[serde(default, skip_serializing_if = "StorageOptions::is_default")]
    pub options: StorageOptions,
    /// The highest number that a column has had, where that is more than there are columns; zero elsewhere.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub column_number_max: i32,
    /// When it was created, in microseconds since 1970.
    pub created_us: u64,
    /// When its definition changed last, in microseconds since 1970.
    pub modified_us: u64,
}

impl TableRecord {
    /// The number of the column at a place: it keeps it when others are dropped.
    pub fn column_number(&self, place: usize) -> i32 {
        self.columns.get(place).map_or(0, |column| column.number(place))
    }

    /// The place of the column with a number.
    pub fn place_of_number(&self, number: i32) -> Option<usize> {
        (0..self.columns.len()).find(|place| self.column_number(*place) == number)
    }

    /// The highest number that a column has had.
    pub fn column_numbers_used(&self) -> i32 {
        let own = (0..self.columns.len()).map(|place| self.column_number(place)).max().unwrap_or(0);
        own.max(self.column_number_max)
    }

    /// Numbers the columns after a change: those that were there, at the places of `sources`, keep their numbers of `former`, and new ones
    /// have numbers that no column has had.
    pub(crate) fn number_columns(&mut self, former: &TableRecord, sources: impl Iterator<Item = Option<usize>>) {
        let mut used = former.column_numbers_used();
        for (place, (column, source)) in self.columns.iter_mut().zip(sources).enumerate() {
            let number = source.map_or_else(|| used + 1, |source| former.column_number(source));
            used = used.max(number);
            column.id = 0;
            column.id = if column.number(place) == number { 0 } else { number };
        }
        self.column_number_max = if used as usize == self.columns.len() { 0 } else { used };
    }

    /// The clustered index.
    pub fn clustered(&self) -> Option<&Index> {
        self.indexes.iter().find(|index| index.clustered)
    }

    /// The number that the next index gets, which neither is clustered nor of xml.
    pub fn next_index_id(&self) -> i32 {
        let others = self.indexes.iter().map(|index| index.index_id).filter(|id| *id < Index::XML_ID_MIN);
        others.max().unwrap_or_default().max(Index::CLUSTERED_ID) + 1
    }

    /// The number that the next index of xml gets.
    pub fn next_xml_index_id(&self) -> i32 {
        let last = self.indexes.iter().map(|index| index.index_id).max().unwrap_or_default();
        last.max(Index::XML_ID_MIN - 1) + 1
    }

    /// Whether a clustered columnstore is declared, which stands where the views would show the heap.
    pub fn has_clustered_columnstore(&self) -> bool {
        self.indexes.iter().any(|index| !index.clustered && index.is_clustered())
    }

    /// What its rows are partitioned by.
    pub fn row_partitions(&self) -> Option<Partitioned> {
        self.clustered().map_or(self.partitioned, |index| index.partitioned)
    }

    /// Every scheme and column that it, or one of its indexes, is partitioned by.
    pub(crate) fn all_partitioned_mut(&mut self) -> impl Iterator<Item = &mut Partitioned> {
        self.partitioned.iter_mut().chain(self.indexes.iter_mut().filter_map(|index| index.partitioned.as_mut()))
    }

    /// The filegroup of its rows.
    pub fn row_filegroup(&self) -> i32 {
        self.clustered().map_or(self.options.filegroup, |index| index.options.filegroup)
    }

    /// True when it, one of its indexes or its long values are placed in a filegroup.
    pub(crate) fn uses_filegroup(&self, filegroup: i32) -> bool {
        let whole = self.indexes.iter().filter(|index| index.partitioned.is_none());
        let of_indexes = whole.map(|index| index.options.filegroup);
        let of_heap = Some(self.options.filegroup).filter(|_| self.clustered().is_none() && self.partitioned.is_none());
        of_indexes.chain(of_heap).chain(self.text_filegroup).any(|used| used == filegroup)
    }

    /// Whether it, or one of its indexes, is partitioned by a scheme.
    pub fn uses_scheme(&self, scheme: i32) -> bool {
        let of_indexes = self.indexes.iter().filter_map(|index| index.partitioned);
        self.partitioned.into_iter().chain(of_indexes).any(|partitioned| partitioned.scheme == scheme)
    }

    /// The definition of a variable of a table type, by that of the type.
    pub(crate) fn of_variable(&self, object_id: i32, name: &str, now_us: u64) -> TableRecord {
        let mut record = self.clone();
        (record.object_id, record.schema_id) = (object_id, 1);
        (record.schema, record.name) = ("dbo".to_owned(), name.to_owned());
        (record.created_us, record.modified_us) = (now_us, now_us);
        record.memory = record.memory.map(|_| InMemory::new(InMemoryDurability::SchemaOnly));
        record.columns.iter_mut().for_each(|column| column.user_type = None);
        record
    }

    /// True when its rows are versions in memory.
    pub fn is_in_memory(&self) -> bool {
        self.memory.is_some()
    }

    /// True when they are, and are logged.
    pub fn is_logged_in_memory(&self) -> bool {
        self.memory.is_some_and(InMemory::is_durable)
    }

    /// Whether the rows are in a heap.
    pub fn is_heap(&self) -> bool {
        self.heap.is_some()
    }

    /// Position of the column of this name, whatever its case.
    pub fn column(&self, name: &str) -> Option<usize> {
        let name = name.to_lowercase();
        self.columns.iter().position(|column| column.name.to_lowercase() == name)
    }

    /// Whether a column is computed whenever it is read.
    pub(crate) fn is_computed_when_read(&self) -> bool {
        self.columns.iter().any(|column| column.computed.as_ref().is_some_and(|computed| computed.when_read))
    }

    /// Whether the values of a column are hidden from some.
    pub fn has_masks(&self) -> bool {
        self.columns.iter().any(|column| column.mask.is_some())
    }

    /// Position of the identity column.
    pub fn identity_column(&self) -> Option<usize> {
        self.columns.iter().position(|column| column.identity.is_some())
    }

    /// `schema.name`, as error texts name it.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// The names of its constraints.
    pub fn constraint_names(&self) -> impl Iterator<Item = &str> {
        let keys = self.indexes.iter().filter(|index| index.constraint).map(|index| &index.name);
        let defaults = self.columns.iter().filter_map(|column| column.default.as_ref()).map(|default| &default.name);
        let checks = self.checks.iter().map(|check| &check.name);
        let foreign = self.foreign_keys.iter().map(|key| &key.name);
        keys.chain(defaults).chain(checks).chain(foreign).map(String::as_str)
    }

    /// Whether texts of a column compare otherwise than by the default collation.
    pub(crate) fn has_collations(&self) -> bool {
        self.columns.iter().any(|column| !is_default(&column.collation))
    }

    /// The indexes that are not disabled.
    pub fn live_indexes(&self) -> impl Iterator<Item = &Index> {
        self.indexes.iter().filter(|index| !index.disabled)
    }

    /// The indexes that are not disabled, to be given other storage.
    pub(crate) fn live_indexes_mut(&mut self) -> impl Iterator<Item = &mut Index> {
        self.indexes.iter_mut().filter(|index| !index.disabled)
    }

    /// Every tree and heap of the table.
    pub fn storages(&self) -> impl Iterator<Item = StorageRef> + '_ {
        self.heap.into_iter().chain(self.live_indexes().map(|index| index.storage)).chain(self.overflow)
    }
}

/// A schema.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Schema {
    /// The schema's id.
    pub schema_id: i32,
    /// The name.
    pub name: String,
    /// The user or role that owns it and what is in it.
    #[serde(default = "dbo")]
    pub owner: i32,
}

/// Schemas were `dbo`'s before they had owners.
fn dbo() -> i32 {
    crate::security::DBO
}

/// A procedure or a view: its text, which is compiled when it is used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// The object id.
    pub object_id: i32,
    /// The schema's id.
    pub schema_id: i32,
    /// The schema's name.
    pub schema: String,
    /// The name.
    pub name: String,
    /// The whole CREATE statement.
    pub text: String,
    /// When it was created, in microseconds since 1970.
    pub created_us: u64,
    /// When its text changed last, in microseconds since 1970.
    pub modified_us: u64,
    /// The user that its statements act for, or [`Module::AS_OWNER`]; None: whoever calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execute_as: Option<i32>,
    /// ANSI_NULLS as it was when the module was made: its comparisons go by that, whatever its callers have set.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub ansi_nulls: bool,
    /// QUOTED_IDENTIFIER likewise: its text is read by that.
    #[serde(default = "on", skip_serializing_if = "is_on")]
    pub quoted_identifier: bool,
    /// The columns of a view, or of a function that is one query, as they were when it was made, altered or refreshed: whatever its query
    /// gives later has these names. Empty: it is of a version that did not keep them, and has what its query gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<KeptColumn>,
}

/// A column of a view or function as it was when that was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptColumn {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: SqlType,
    /// Whether it may be NULL.
    pub nullable: bool,
    /// How its texts compare.
    #[serde(default, skip_serializing_if = "is_default")]
    pub collation: Collation,
    /// It is a table's identity column.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub identity: bool,
    /// Its type was declared as `decimal`, not `numeric`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub decimal: bool,
    /// The alias type of the column that it is, or `sysname`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_type: Option<i32>,
}

/// Modules of an earlier version were all made with ON, or can be read with it.
fn on() -> bool {
    true
}

fn is_on(setting: &bool) -> bool {
    *setting
}

impl Module {
    /// EXECUTE AS OWNER: whoever owns the module when it runs.
    pub const AS_OWNER: i32 = -2;
}

/// What a trigger watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum TriggerEvent {
    /// INSERT.
    Insert,
    /// UPDATE.
    Update,
    /// DELETE.
    Delete,
}

impl TriggerEvent {
    /// All of them, in the order of their numbers in the views.
    pub const ALL: [TriggerEvent; 3] = [TriggerEvent::Insert, TriggerEvent::Update, TriggerEvent::Delete];

    /// Its name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            TriggerEvent::Insert => "INSERT",
            TriggerEvent::Update => "UPDATE",
            TriggerEvent::Delete => "DELETE",
        }
    }
}

/// A trigger of a table or view: an object of its own, in the schema of what it watches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trigger {
    /// Its name and text.
    pub module: Module,
    /// The object id of the table or view.
    pub parent_id: i32,
    /// What it watches, without repetitions.
    pub events: Vec<TriggerEvent>,
    /// It runs in the place of the change, not behind it.
    pub instead_of: bool,
    /// NOT FOR REPLICATION was said.
    pub not_for_replication: bool,
    /// DISABLE TRIGGER.
    pub disabled: bool,
    /// The events for which it runs before the others of its table, and behind them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first: Vec<TriggerEvent>,
    /// See `first`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last: Vec<TriggerEvent>,
}

/// A trigger of the database's definitions. It is no object of a schema: its name is the database's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefinitionTrigger {
    /// Its name and text; its statements look names up in the schema that is said there.
    pub module: Module,
    /// The numbers of the events and groups that it watches, as they were written.
    pub events: Vec<i32>,
    /// DISABLE TRIGGER.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disabled: bool,
}

impl DefinitionTrigger {
    /// Whether it watches an event.
    pub fn watches(&self, event: &DefinitionEvent) -> bool {
        self.events.iter().any(|number| event.is_in(*number))
    }
}

/// Where a trigger runs among those of its table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum TriggerPlace {
    /// Before all others.
    First,
    /// Nobody has said.
    Anywhere,
    /// Behind all others.
    Last,
}

impl Trigger {
    /// Where it runs for an event.
    pub fn place(&self, event: TriggerEvent) -> TriggerPlace {
        if self.first.contains(&event) {
            TriggerPlace::First
        } else if self.last.contains(&event) {
            TriggerPlace::Last
        } else {
            TriggerPlace::Anywhere
        }
    }
}

/// A stored procedure.
pub type Procedure = Module;
/// A view.
pub type View = Module;
/// A function.
pub type Function = Module;
/// A synonym: its text is the name that it stands for, with its parts in brackets.
pub type Synonym = Module;

/// One object as it is stored.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum StoredObject {
    /// A schema.
    Schema(Schema),
    /// A table.
    Table(TableRecord),
    /// A procedure.
    Procedure(Procedure),
    /// A view.
    View(View),
    /// A login, user or role.
    Principal(Principal),
    /// A function.
    Function(Function),
    /// A type.
    Type(UserType),
    /// A sequence.
    Sequence(SequenceRecord),
    /// A trigger.
    Trigger(Trigger),
    /// A synonym.
    Synonym(Synonym),
    /// Extended properties.
    Properties(Properties),
    /// A message of the server.
    Message(UserMessage),
    /// A trigger of definitions.
    DefinitionTrigger(DefinitionTrigger),
    /// A partition function.
    PartitionFunction(PartitionFunction),
    /// A partition scheme.
    PartitionScheme(PartitionScheme),
    /// A security policy.
    SecurityPolicy(SecurityPolicy),
    /// A filegroup.
    Filegroup(Filegroup),
    /// A file.
    File(FileSettings),
    /// The statistics of a table.
    Statistics(TableStatistics),
}

impl StoredObject {
    /// Among which objects its number counts.
    pub(crate) fn row_kind(&self) -> RowKind {
        match self {
            StoredObject::Principal(principal) => match principal.kind.level() {
                Level::Server => RowKind::ServerPrincipal,
                Level::Database => RowKind::DatabasePrincipal,
            },
            StoredObject::Type(_) => RowKind::Type,
            StoredObject::Message(_) => RowKind::Message,
            StoredObject::Filegroup(_) => RowKind::Filegroup,
            StoredObject::File(_) => RowKind::File,
            StoredObject::Statistics(_) => RowKind::Statistics,
            StoredObject::Properties(properties) => match properties.holder {
                PropertyHolder::Database | PropertyHolder::Object(_) | PropertyHolder::Schema(_) => RowKind::Properties,
                PropertyHolder::Principal(_) => RowKind::PrincipalProperties,
                PropertyHolder::Type(_) => RowKind::TypeProperties,
            },
            _ => RowKind::Object,
        }
    }

    /// The number that names it among stored objects of its kind. Schemas count below zero; zero is the database.
    pub(crate) fn stored_id(&self) -> i32 {
        match self {
            StoredObject::Schema(schema) => -schema.schema_id,
            StoredObject::Table(table) => table.object_id,
            StoredObject::Procedure(module)
            | StoredObject::View(module)
            | StoredObject::Function(module)
            | StoredObject::Synonym(module) => module.object_id,
            StoredObject::Principal(principal) => principal.id,
            StoredObject::Type(user_type) => user_type.user_type_id,
            StoredObject::Message(message) => message.number,
            StoredObject::Filegroup(filegroup) => filegroup.data_space_id,
            StoredObject::File(file) => file.file_id,
            StoredObject::Statistics(statistics) => statistics.object_id,
            StoredObject::DefinitionTrigger(trigger) => trigger.module.object_id,
            StoredObject::PartitionFunction(function) => function.function_id,
            StoredObject::PartitionScheme(scheme) => scheme.data_space_id,
            StoredObject::Sequence(sequence) => sequence.object_id,
            StoredObject::Trigger(trigger) => trigger.module.object_id,
            StoredObject::SecurityPolicy(policy) => policy.module.object_id,
            StoredObject::Properties(properties) => match properties.holder {
                PropertyHolder::Database => 0,
                PropertyHolder::Schema(id) => -id,
                PropertyHolder::Object(id) | PropertyHolder::Principal(id) | PropertyHolder::Type(id) => id,
            },
        }
    }
}
