//! ALTER DATABASE ... SET OFFLINE and ONLINE: a database is closed, its files can be copied, and it is opened again.

use std::path::Path;
use std::sync::Arc;

use pikepole_types::SqlError;

use super::backups::blocking;
use super::{Entry, Server, read};
use crate::database::DatabaseFile;

impl Server {
    /// Closes a database. It stays closed when the server is started again.
    ///
    /// # Errors
    /// 3101 while sessions use it; 911, 926, 927 and 942 for one that is not open; what closing it ends with: it is open then.
    pub async fn set_offline(self: &Arc<Self>, name: &str) -> Result<(), SqlError> {
        let database = self.database(name)?;
        let taken = self.take(name)?;
        let folder = database.folder().to_path_buf();
        let closed = database.close().await;
        let file = database.database_file();
        // Compiled statements of sessions may still hold its tables.
        database.statistics().retire();
        drop(database);
        let offline = DatabaseFile { offline: true, ..file.clone() };
        let noted = match closed {
            Ok(()) => self.note(&folder, &offline).await,
            failed => failed,
        };
        match noted {
            Ok(()) => taken.becomes(Entry::Offline { file: Box::new(offline), folder }),
            Err(_) => self.reopen(taken, &folder, file).await,
        }
        noted
    }

    /// Opens a database that was closed so; nothing happens when it is open.
    ///
    /// # Errors
    /// 911, 926, 927 for one in another state; 926 when it cannot be opened.
    pub async fn set_online(self: &Arc<Self>, name: &str) -> Result<(), SqlError> {
        let found = match read(&self.databases).get(&name.to_lowercase()) {
            Some(Entry::Offline { file, folder }) => Some((DatabaseFile::clone(file), folder.clone())),
            _ => None,
        };
        let Some((file, folder)) = found else { return self.database(name).map(drop) };
        let taken = self.take(name)?;
        let online = DatabaseFile { offline: false, ..file };
        self.note(&folder, &online).await?;
        taken.becomes(self.open_file(folder, online).await);
        self.database(name).map(drop)
    }

    pub(super) async fn note(&self, folder: &Path, file: &DatabaseFile) -> Result<(), SqlError> {
        let (disk, at, file) = (self.options.disk.clone(), folder.to_path_buf(), file.clone());
        let written = blocking(move || file.write(&disk, &at)).await;
        written.map_err(|error| SqlError::device_not_written(folder.display(), error))
    }
}
