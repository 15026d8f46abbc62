//! The list of databases, and in it `model` and `msdb`: every server has them, and they cost nothing until somebody uses them.
//!
//! ```text
//!   not made ──first use──► online ──server ends──► closed, in its folder ──first use of the next run──► online
//! ```
//! Who lists databases sees them in every state. A folder of one is not opened when the server starts, whether it was closed
//! in order or not: its recovery waits for its first use too.

use std::path::PathBuf;
use std::sync::Arc;

use pikepole_contention::sync::atomic::Ordering;
use pikepole_storage::SuspectPage;
use pikepole_types::{Collation, SqlError};

use super::{DatabaseInfo, DatabaseState, Entry, Server, lock, read, write};
use crate::database::{Database, DatabaseFile, DatabaseOptions, NotMade};
use crate::file_operation::file_operation;
use crate::temporary::TEMPDB_ID;

/// The template of new databases.
pub const MODEL: &str = "model";
/// Its id.
pub const MODEL_ID: i32 = 3;
/// The database of histories and jobs.
pub const MSDB: &str = "msdb";
/// Its id.
pub const MSDB_ID: i32 = 4;

/// The id that a name has for good, if it is one of these.
pub(super) fn id_of(name: &str) -> Option<i32> {
    let ids = [(MODEL, MODEL_ID), (MSDB, MSDB_ID)];
    ids.into_iter().find(|(own, _)| name.eq_ignore_ascii_case(own)).map(|(_, id)| id)
}

impl Server {
    /// All databases, by id.
    pub fn databases(&self) -> Vec<DatabaseInfo> {
        let mut rows: Vec<DatabaseInfo> = read(&self.databases)
            .values()
            .map(|entry| match entry {
                Entry::Online(database) => DatabaseInfo {
                    id: database.id(),
                    name: database.name().to_owned(),
                    created_us: database.created_us(),
                    state: DatabaseState::Online,
                    options: database.options(),
                },
                Entry::Restoring(entry) => DatabaseInfo {
                    id: entry.file.id,
                    name: entry.file.name.clone(),
                    created_us: entry.file.created_us,
                    state: DatabaseState::Restoring,
                    options: entry.file.options,
                },
                Entry::Suspect { id, name, why, .. } => DatabaseInfo {
                    id: *id,
                    name: name.clone(),
                    created_us: 0,
                    state: DatabaseState::Suspect(why.clone()),
                    options: DatabaseOptions::default(),
                },
                Entry::Offline { file, .. } => DatabaseInfo {
                    id: file.id,
                    name: file.name.clone(),
                    created_us: file.created_us,
                    state: DatabaseState::Offline,
                    options: file.options,
                },
                Entry::Unused { file, .. } => DatabaseInfo {
                    id: file.id,
                    name: file.name.clone(),
                    created_us: file.created_us,
                    state: DatabaseState::Online,
                    options: file.options,
                },
            })
            .collect();
        if rows.iter().all(|row| row.id != TEMPDB_ID) {
            rows.push(self.tempdb_row());
        }
        self.add_system_rows(&mut rows);
        rows.sort_by_key(|row| row.id);
        rows
    }

    /// `model` or `msdb`, made or opened if this server has not needed it yet. What is in it is for the caller to see to.
    ///
    /// # Errors
    /// 911 for another name; 1802 when its files cannot be made; 926 when it cannot be opened, 927, 942.
    pub async fn system_database(self: &Arc<Self>, name: &'static str) -> Result<Arc<Database>, SqlError> {
        let id = id_of(name).ok_or_else(|| SqlError::database_unknown(name))?;
        if read(&self.databases).contains_key(name) {
            return self.database(name);
        }
        let server = Arc::clone(self);
        let made = file_operation(move || {
            let _turn = lock(&server.making_system_database);
            if read(&server.databases).contains_key(name) {
                Ok(())
            } else {
                server.create_now(name, id, Collation::default())
            }
        });
        made.await.map_err(NotMade::into_error)?;
        self.database(name)
    }

    /// Pages that were found damaged since the last call, with the ids of their databases. Asked before every statement.
    pub fn take_suspect_pages(&self) -> Vec<(i32, SuspectPage)> {
        let seen = &self.context.store.damage_seen;
        // Acquire pairs with the Release in `Store::suspect`. The swap comes first: what is found later sets it again.
        if !seen.load(Ordering::Acquire) || !seen.swap(false, Ordering::Acquire) {
            return Vec::new();
        }
        let of = |database: &Database| {
            let pages = database.store().take_suspects().into_iter();
            pages.map(|page| (database.id(), page)).collect::<Vec<_>>()
        };
        let online = read(&self.databases);
        let pages = online.values().filter_map(|entry| match entry {
            Entry::Online(database) => Some(of(database)),
            _ => None,
        });
        pages.flatten().collect()
    }

    /// Opens a database whose folder has waited for its first use. Blocks; whoever comes at the same time waits.
    pub(super) fn open_unused(&self, key: &str) {
        let _turn = lock(&self.making_system_database);
        let (file, folder): (DatabaseFile, PathBuf) = match read(&self.databases).get(key) {
            Some(Entry::Unused { file, folder }) => (DatabaseFile::clone(file), folder.clone()),
            _ => return,
        };
        let (id, name) = (file.id, file.name.clone());
        let entry = match Database::open(&self.context, &folder, file) {
            Ok(database) => {
                database.start();
                self.put_in_force(&lock(&self.configuration), &database);
                Entry::Online(database)
            }
            Err(why) => Entry::Suspect { id, name, folder, why },
        };
        write(&self.databases).insert(key.to_owned(), entry);
    }

    /// The options that a new database begins with: those of `model`.
    pub(super) fn options_of_model(&self) -> Option<DatabaseOptions> {
        let options = match read(&self.databases).get(MODEL) {
            Some(Entry::Online(database)) if database.id() == MODEL_ID => database.options(),
            Some(Entry::Unused { file, .. }) => file.options,
            _ => return None,
        };
        Some(DatabaseOptions { user_access: DatabaseOptions::default().user_access, ..options })
    }

    /// Rows of `sys.databases` for those that nobody has needed yet.
    pub(super) fn add_system_rows(&self, rows: &mut Vec<DatabaseInfo>) {
        for (name, id) in [(MODEL, MODEL_ID), (MSDB, MSDB_ID)] {
            if rows.iter().all(|row| !row.name.eq_ignore_ascii_case(name)) {
                rows.push(DatabaseInfo {
                    id,
                    name: name.to_owned(),
                    created_us: u64::try_from(self.started_us()).unwrap_or(0),
                    state: DatabaseState::Online,
                    options: DatabaseOptions::default(),
                });
            }
        }
    }
}
