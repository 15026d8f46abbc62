//! Folders that a start makes: when it fails, they are gone again.
//!
//! The folder of databases is looked at and emptied under its lock, which the start holds from before the look until it has failed or
//! ended. What another server has put there therefore never counts as this start's.

use pikepole_contention::sync::Arc;
use pikepole_engine::{OpenError, Server};
use pikepole_machine::{Disk, FolderLock, LOCK_FILE};
use std::io;
use std::path::{Path, PathBuf};

/// A folder of databases before a start, locked.
#[derive(Debug)]
pub struct Fresh {
    folder: PathBuf,
    lock: Arc<FolderLock>,
    /// The lock file alone was in it.
    was_empty: bool,
    /// What had to be made for it to be there, the innermost first.
    missing: Vec<PathBuf>,
}

impl Fresh {
    /// Makes the folder if it is not there, locks it, and looks at it.
    ///
    /// # Errors
    /// A folder that another server has, or that cannot be written.
    pub fn take(disk: &Disk, folder: &Path) -> Result<Fresh, OpenError> {
        let missing = missing(folder);
        // When it fails, only what is empty goes: something may have come into it.
        let lock = Server::lock_folder(disk, folder).inspect_err(|_| drop(remove_empty(&missing)))?;
        let is_own = |entry: io::Result<std::fs::DirEntry>| entry.is_ok_and(|entry| entry.file_name() == LOCK_FILE);
        let was_empty = std::fs::read_dir(folder).is_ok_and(|mut entries| entries.all(is_own));
        Ok(Fresh { folder: folder.to_path_buf(), lock: Arc::new(lock), was_empty, missing })
    }

    /// The folder's lock.
    pub fn lock(&self) -> Arc<FolderLock> {
        Arc::clone(&self.lock)
    }

    /// Removes what a start that failed has put there. A folder that had something in it before is left as it is.
    ///
    /// # Errors
    /// What cannot be removed.
    pub fn undo(&self) -> io::Result<()> {
        if !self.was_empty || !self.folder.is_dir() {
            return Ok(());
        }
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name == LOCK_FILE) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(&path)?;
            } else {
                std::fs::remove_file(&path)?;
            }
        }
        // The last file: without it another server may come in.
        std::fs::remove_file(self.folder.join(LOCK_FILE))?;
        remove_empty(&self.missing)
    }
}

/// What has to be made for a folder to be there, the innermost first.
pub fn missing(folder: &Path) -> Vec<PathBuf> {
    let folders = folder.ancestors().filter(|path| !path.as_os_str().is_empty());
    folders.take_while(|path| !path.exists()).map(Path::to_path_buf).collect()
}

/// Removes folders unless something has come into them.
///
/// # Errors
/// What cannot be removed for another reason.
pub fn remove_empty(folders: &[PathBuf]) -> io::Result<()> {
    for folder in folders {
        match std::fs::remove_dir(folder) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => break,
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_there_goes_and_what_was_there_stays() {
        let root = std::env::temp_dir().join(format!("pikepole-fresh-{}", std::process::id()));
        let (deep, empty, full) = (root.join("a/b"), root.join("empty"), root.join("full"));
        for folder in [&empty, &full] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        std::fs::write(full.join("own"), "").expect("a file");
        let disk = Disk::real();
        let fresh = [&deep, &empty, &full].map(|folder| Fresh::take(&disk, folder).expect("it is free"));
        for folder in [&deep, &empty, &full] {
            std::fs::create_dir_all(folder.join("master")).expect("a folder");
            Fresh::take(&disk, folder).expect_err("it is locked");
        }
        fresh.iter().for_each(|fresh| fresh.undo().expect("it can be removed"));
        assert!(!root.join("a").exists());
        assert_eq!(std::fs::read_dir(&empty).expect("it stays").count(), 0);
        assert_eq!(std::fs::read_dir(&full).expect("it stays").count(), 3);
        std::fs::remove_dir_all(&root).expect("it was there");
    }

    /// A server that lived between a look and the start is never undone: there is no such time, as the look holds the lock.
    #[test]
    fn another_servers_folder_is_not_removed() {
        let root = std::env::temp_dir().join(format!("pikepole-fresh-other-{}", std::process::id()));
        let disk = Disk::real();
        let data = root.join("data");
        let other = Fresh::take(&disk, &data).expect("it is free");
        Fresh::take(&disk, &data).expect_err("it is locked");
        std::fs::create_dir_all(data.join("master")).expect("a folder");
        drop(other);
        let late = Fresh::take(&disk, &data).expect("it is free again");
        late.undo().expect("nothing is to be done");
        assert!(data.join("master").is_dir());
        std::fs::remove_dir_all(&root).expect("it was there");
    }
}
