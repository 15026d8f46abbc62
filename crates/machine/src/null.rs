//! A disk that accepts everything and keeps nothing but names and lengths: what is left of an engine's time when the
//! device costs none.

use std::io;
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

use crate::named_files::NamedFiles;

/// The names on a null disk. Cheap to clone; clones are the same disk.
pub(crate) type NullDisk = NamedFiles<NullFile>;

/// A file of which only the length is known. Reads give zeros.
#[derive(Clone, Debug, Default)]
pub(crate) struct NullFile(Arc<AtomicU64>);

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
