//! A disk that accepts everything and keeps nothing but names and lengths: what is left of an engine's time when the
//! device costs none.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};

use crate::OpenOptions;

/// The names on a null disk. Cheap to clone; clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullDisk {
    names: Arc<Mutex<BTreeMap<PathBuf, Entry>>>,
}

#[derive(Clone, Debug)]
enum Entry {
    Folder,
    File(NullFile),
}

/// A file of which only the length is known. Reads give zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullFile(Arc<AtomicU64>);

impl NullDisk {
    fn names(&self) -> MutexGuard<'_, BTreeMap<PathBuf, Entry>> {
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

    pub fn open(&self, path: &Path, options: OpenOptions) -> io::Result<NullFile> {
        let mut names = self.names();
        match names.get(path) {
            Some(Entry::File(file)) => Ok(file.clone()),
            Some(Entry::Folder) => Err(io::ErrorKind::IsADirectory.into()),
            None if options.create => {
                let file = NullFile::default();
                names.insert(path.to_path_buf(), Entry::File(file.clone()));
                Ok(file)
            }
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

// Relaxed throughout: a length carries no other memory.
impl NullFile {
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        if offset.saturating_add(buffer.len() as u64) > self.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        buffer.fill(0);
        Ok(())
    }

    pub fn extend_to(&self, end: u64) {
        self.0.fetch_max(end, Ordering::Relaxed);
    }

    pub fn len(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub fn set_len(&self, len: u64) {
        self.0.store(len, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use crate::{BLOCK, Disk, OpenOptions};
    use std::io;

    #[test]
    fn a_null_disk_keeps_names_and_lengths_and_forgets_the_rest() {
        let disk = Disk::null();
        disk.create_dir_all("/a/b").expect("folders");
        let create = OpenOptions { create: true, ..OpenOptions::default() };
        let file = disk.open("/a/b/file", create).expect("a file");
        file.write_durable_at(&[7; BLOCK], BLOCK as u64).expect("a write");
        file.prewrite(0, BLOCK as u64).expect("zeros");
        let mut read = vec![1; 2 * BLOCK];
        file.read_at(&mut read, 0).expect("a read");
        assert!(read.iter().all(|byte| *byte == 0));
        assert_eq!(file.len().expect("a length"), 2 * BLOCK as u64);
        let beyond = file.read_at(&mut read, 1).expect_err("the file ends");
        assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
        disk.rename("/a/b", "/a/c").expect("a rename");
        assert_eq!(disk.list("/a").expect("a list"), ["c"]);
        assert_eq!(disk.list("/a/c").expect("a list"), ["file"]);
        assert!(disk.exists("/a/c/file") && !disk.is_dir("/a/c/file") && disk.is_dir("/a/c"));
        assert_eq!(disk.open("/a/d", OpenOptions::default()).expect_err("none").kind(), io::ErrorKind::NotFound);
        assert_eq!(disk.lock_folder("/a").expect_err("no locks").kind(), io::ErrorKind::Unsupported);
        disk.remove_file("/a/c/file").expect("it is there");
        disk.remove_dir_all("/a").expect("it is there");
        assert!(!disk.exists("/a/c"));
    }
}
