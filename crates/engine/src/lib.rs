//! A server of databases: catalog, recovery, typed table API, configuration.
//!
//! ```text
//!   Server --- Database --- Catalog (Arc, versions)     definitions
//!                 |  \----- Table (Arc) -- TableWriter, TableScan     rows
//!                 |  \----- Transaction (one a session)
//!                 |  \----- LOG WRITER, LAZY WRITER, CHECKPOINT       hidden schedulers
//!                 \-------- log, store, transactions                  the crates below
//! ```
//!
//! # One place waits
//! Every `try_*` call is synchronous and never blocks. One that cannot go on returns [`Blocked::Need`];
//! [`Database::satisfy`] awaits it under its wait type, and the call is made again: that loop is [`Database::drive`].
//!
//! | for | use |
//! |---|---|
//! | opening a folder, making databases, policies | [`Server`] |
//! | statements and transactions | [`Database::begin_statement`], [`Database::try_commit`], [`Database::rollback_to`] |
//! | definitions | [`Database::catalog`], [`Database::create_table`] and its kin |
//! | a log, record by record | [`LogView`], [`Database::each_log_record`] |
//! | workers of a statement | [`Database::try_begin_children`], [`Database::merge_children`] |
//! | pages of rows | [`Database::bulk_writer`], [`Database::try_bulk_append`], [`Database::try_bulk_finish`] |
//! | parts of a table | [`Database::try_cut`], [`TableParts`] |
//! | rows in the order of keys | [`Table::portion`], [`Database::try_insert_portion`] |
//! | the same into an empty table, not logged | [`Database::begin_fill`], [`Fill::portion`], [`Database::end_fill`] |
//! | rows | [`Database::try_insert`], [`Database::try_next`], [`Database::try_get`], [`Database::try_read_current`], [`Database::try_update`] and [`Database::try_place_moved`], [`Database::try_delete`] |

mod backup;
mod catalog;
mod chunk;
mod database;
mod error;
mod fault;
mod file_operation;
#[cfg(test)]
mod filegroup_tests;
mod in_memory;
mod log_view;
#[cfg(test)]
mod long_tests;
mod memory_level;
mod part;
mod patience;
pub mod placement;
mod security;
mod server;
mod statistics;
mod table;
mod temporary;
mod transaction;

#[cfg(test)]
mod bulk_logged_tests;
#[cfg(test)]
mod bulk_tests;
#[cfg(test)]
mod covering_tests;
#[cfg(test)]
mod crash_tests;
#[cfg(test)]
mod fault_tests;
#[cfg(test)]
mod in_memory_tests;
#[cfg(test)]
mod online_check_tests;
#[cfg(test)]
mod repeated_key_tests;
#[cfg(test)]
mod stale_page_tests;
#[cfg(test)]
mod statistics_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unlogged_tests;

pub use backup::{BackupKind, BackupOptions, BackupOutcome, BackupSetRow, MadeBackup, MediaRow, RestoreOptions};
pub use catalog::data_file::{DATA_FILE, FileSettings, Growth, LOG_FILE};
pub use catalog::definition::{
    Check, Column, Computed, Default, DefinitionTrigger, ForeignKey, Function, Identity, KeptColumn, LockEscalation,
    Module, Procedure, ReferentialAction, Schema, StorageRef, Synonym, TableRecord, Trigger, TriggerEvent,
    TriggerPlace, View,
};
pub use catalog::event::DefinitionEvent;
pub use catalog::filegroup::{Filegroup, FilegroupContents, PRIMARY_FILEGROUP, PRIMARY_FILEGROUP_NAME};
pub use catalog::filter::{FilterOp, FilterTest, Passes};
pub use catalog::in_memory::{HashIndex, InMemory, InMemoryDurability};
pub use catalog::index::{Columnstore, Hypothetical, Index, IndexColumn, SecondaryXmlIndex, XmlIndex, XmlIndexPurpose};
pub use catalog::message::UserMessage;
pub use catalog::partition::{PartitionFunction, PartitionScheme, Partitioned};
pub use catalog::property::{ExtendedProperty, Properties, PropertyHolder, PropertyPart, PropertyValue};
pub use catalog::security_policy::{BlockedChange, PredicateKind, SecurityPolicy, SecurityPredicate};
pub use catalog::sequence::{Position, Sequence, SequenceCache, SequenceRecord};
pub use catalog::statistics::{HistogramStep, StatisticsOrigin, StatisticsRecord, TableStatistics, ValueStatistics};
pub use catalog::storage_options::{Compression, StorageOptions, StorageWish};
pub use catalog::temporal::{Generated, Retention, RetentionUnit, Versioning};
pub use catalog::user_type::{UserType, UserTypeKind};
pub use catalog::{Catalog, DEFAULT_SCHEMA, Object};
pub use database::{
    Admission, ColumnDefinition, Database, DatabaseOptions, DeclaredNames, DelayedDurability, Durability, FileState,
    FileWish, FilegroupChange, Fill, IndexDefinition, IndexExtras, IndexKind, LogFullReason, MessageChange,
    ModuleDefinition, NAMED_LOCK_FIRST, NamedLock, NewColumn, NumberRange, PageCheck, PageFinding, PolicyChange,
    PropertyChange, PropertyPlace, PutMode, RecordChange, RecoveryModel, RecoveryProgress, RecoveryWatch, RowMap,
    SampleSize, ScopedConfiguration, ScopedKind, ScopedName, ScopedRow, ScopedValue, StatisticsDefinition, Switches,
    TableDefinition, Tested, TriggerDefinition, UserAccess, generated_name, key_warning, row_warning,
};
pub use error::{Blocked, Interrupted, OpenError, worker_lost};
pub use in_memory::InMemoryCheckpoint;
pub use log_view::{LogRow, LogView, TellRow};
pub use memory_level::MemoryLevel;
pub use patience::{awaited, is_for_lock};
pub use pikepole_log::{LogStats, Lsn, SegmentInfo};
pub use pikepole_memory::{GarbageMemory, MemoryCounts, MemoryTable, OpenMemoryTransaction, pin};
pub use pikepole_storage::records::{Record, RowChange, RowChangeKind};
pub use pikepole_storage::{
    EncodedRows, LevelShape, LogContext, PageKind, PooledPage, ReadMeter, Reads, ShapeDepth, SuspectPage, pages_read,
};
pub use pikepole_transaction::{
    Deadlock, DeadlockProcess, Isolation, LockMode, LockRow, LockedThing, Need, OpenTransaction, TransactionId,
    TransactionRow,
};
pub use security::{
    Class, DB_OWNER, DB_SECURITYADMIN, DBO, GUEST, Grant, GrantState, LoginDetails, LoginFailure, LoginFailureReason,
    LoginPrincipal, PUBLIC_ROLE, PUBLIC_SERVER_ROLE, PasswordCost, Permission, Principal, PrincipalKind, Principals,
    SA, SYSADMIN, Securable, SecurityToken, is_member,
};
pub use server::{
    Acknowledge, BACKUP_FOLDER, CheckReport, DatabaseInfo, DatabaseMemory, DatabaseOption, DatabaseState,
    DeadlockReport, Deadlocks, Effect, Exchange, GrantRow, INIT_FILE, KeptOption, LoadErrorFiles, LockedName, MASTER,
    MODEL, MODEL_ID, MSDB, MSDB_ID, MemoryGrant, NativeCounting, NodeMemory, PolicyRow, PolicySet, ProcessAffinity,
    Progress, SchedulerChoice, Server, ServerConfiguration, ServerMemory, ServerOptions, TraceFlag, TraceFlags,
    Workspace, WorkspaceLimits, WorkspaceTotals, first_number,
};
pub use table::{
    BulkWriter, CheckWatch, IndexUse, KeyLookup, Locator, MadeRow, MemoryUse, Met, Placed, Portion, ReadHints,
    ReadLevel, ReadMode, Reference, RowCount, RowPlace, RowRecipe, ScanRange, Table, TableCheck, TableFinding,
    TableParts, TableReads, TableScan, TableWriter, UseCount, UseCounter, lock_description,
};
pub use temporary::{Residence, TEMPDB, TEMPDB_ID, TemporaryEntry, TemporaryTables};
pub use transaction::{Mark, Transaction};
