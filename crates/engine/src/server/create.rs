//! CREATE DATABASE.

use std::sync::Arc;

use pikepole_storage::FileLimits;
use pikepole_types::{Collation, SqlError};

use super::{BACKUP_FOLDER, DATABASE_BYTES, Entry, Server, folder_name, free_id, read, system_databases, write};
use crate::database::{DATABASE_FILE, Database, DatabaseOptions, NotMade, lock};
use crate::file_operation::file_operation;
use crate::temporary::TEMPDB;

impl Server {
    /// CREATE DATABASE.
    ///
    /// # Errors
    /// 1801 when there is one of this name; 1802 when its files cannot be made.
    pub async fn create_database(self: &Arc<Self>, name: &str, collation: Collation) -> Result<(), SqlError> {
        self.create_database_to_size(name, collation, false).await
    }

    /// CREATE DATABASE, for one whose data file `is_sized` next, and grows by itself no further.
    ///
    /// # Errors
    /// As of [`Server::create_database`].
    pub async fn create_database_to_size(
        self: &Arc<Self>,
        name: &str,
        collation: Collation,
        is_sized: bool,
    ) -> Result<(), SqlError> {
        let id = {
            let databases = read(&self.databases);
            let is_system = name.eq_ignore_ascii_case(TEMPDB) || system_databases::id_of(name).is_some();
            if databases.contains_key(&name.to_lowercase()) || is_system {
                return Err(SqlError::database_exists(name));
            }
            free_id(&databases)
        };
        if !self.budget.has_room(DATABASE_BYTES) {
            return Err(SqlError::insufficient_pool_memory());
        }
        let (server, owned) = (self.clone(), name.to_owned());
        let made = file_operation(move || {
            server.create_sized_now(&owned, id, collation, is_sized)?;
            let (Some(options), Ok(database)) = (server.options_of_model(), server.database(&owned)) else {
                return Ok(());
            };
            // Its collation is what was asked for, not the model's.
            Ok(database.set_options(DatabaseOptions { collation, ..options })?)
        })
        .await;
        made.map_err(NotMade::into_error)
    }

    pub(crate) fn create_now(&self, name: &str, id: i32, collation: Collation) -> Result<(), NotMade> {
        self.create_sized_now(name, id, collation, false)
    }

    fn create_sized_now(&self, name: &str, id: i32, collation: Collation, is_sized: bool) -> Result<(), NotMade> {
        let mut folder = self.options.folder.join(folder_name(name));
        if self.options.disk.exists(folder.join(DATABASE_FILE)) || folder.ends_with(BACKUP_FOLDER) {
            // A database that has another name now was made there, or it is where backups are.
            folder = self.new_folder(name);
        }
        let database = Database::create(&self.context, &folder, name, id)?;
        if collation != Collation::DEFAULT {
            let options = DatabaseOptions { collation, ..database.options() };
            database.set_options(options)?;
        }
        database.store().set_file_limits(FileLimits { is_sized, ..FileLimits::default() });
        database.start();
        self.put_in_force(&lock(&self.configuration), &database);
        write(&self.databases).insert(name.to_lowercase(), Entry::Online(database));
        Ok(())
    }
}
