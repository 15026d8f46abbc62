//! Names of files and folders that are in memory, for disks without an operating system below.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::sync::{Mutex, MutexGuard};

use crate::OpenOptions;

/// The names on a disk, and the files that have them. Cheap to clone; clones are the same disk. Paths are absolute.
#[derive(Clone, Debug)]
pub(crate) struct NamedFiles<F> {
    names: Arc<Mutex<BTreeMap<PathBuf, Entry<F>>>>,
}

#[derive(Clone, Debug)]
enum Entry<F> {
    Folder,
    File(F),
}

impl<F> Default for NamedFiles<F> {
    fn default() -> Self {
        NamedFiles { names: Arc::default() }
    }
}

impl<F: Clone + Default> NamedFiles<F> {
    fn names(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Entry<F>>> {
        self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn create_dir(&self, path: &Path) -> io::Result<()> {
        let mut names = self.names();
        if names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        names.insert(path.to_path_buf(), Entry::Folder);
        Ok(())
    }

    pub fn remove_file(&self, path: &Path) -> io::Result<()> {
        let mut names = self.names();
        match names.get(path) {
            Some(Entry::File(_)) => {
                names.remove(path);
                Ok(())
            }
            Some(Entry::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }

    pub fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        let mut names = self.names();
        if !names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        names.retain(|name, _| !name.starts_with(path));
        Ok(())
    }

    pub fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut names = self.names();
        if !names.contains_key(from) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let moved: Vec<PathBuf> = names.keys().filter(|name| name.starts_with(from)).cloned().collect();
        for name in moved {
            let below = name.strip_prefix(from).unwrap_or(Path::new("")).to_path_buf();
            let target = if below.as_os_str().is_empty() { to.to_path_buf() } else { to.join(below) };
            if let Some(entry) = names.remove(&name) {
                names.insert(target, entry);
            }
        }
        Ok(())
    }

    pub fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        let names = self.names();
        if !names.contains_key(path) {
            return Err(io::ErrorKind::NotFound.into());
        }
        let inside = names.keys().filter(|name| name.parent() == Some(path));
        Ok(inside.filter_map(|name| name.file_name()).map(|name| name.to_string_lossy().into_owned()).collect())
    }

    pub fn exists(&self, path: &Path) -> bool {
        path.parent().is_none() || self.names().contains_key(path)
    }

    pub fn is_dir(&self, path: &Path) -> bool {
        path.parent().is_none() || matches!(self.names().get(path), Some(Entry::Folder))
    }

    pub fn open(&self, path: &Path, options: OpenOptions) -> io::Result<F> {
        self.open_or(path, options, F::default)
    }

    /// The file of this name; where it is to be created, `make` makes it.
    pub fn open_or(&self, path: &Path, options: OpenOptions, make: impl FnOnce() -> F) -> io::Result<F> {
        let mut names = self.names();
        match names.get(path) {
            Some(Entry::File(file)) => Ok(file.clone()),
            Some(Entry::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None if options.create => {
                let file = make();
                names.insert(path.to_path_buf(), Entry::File(file.clone()));
                Ok(file)
            }
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}
