//! A disk in memory: files that end with the process, for databases that nothing is to be left of.
//!
//! ```text
//!   name ──► MemoryFile { len, chunks: [Some(64 KiB), None, Some(64 KiB), ...] }      None: zeros that were never written over
//! ```
//!
//! Invariants:
//! - the lengths of all files together are at most `bytes_max`. A file pays for its length when it grows, as space is allocated on a real
//!   device, so a write within a file never fails for want of room;
//! - bytes at and beyond `len` are zeros, so a file that is cut and grows again shows nothing of before.
//!
//! A durable write is a write: power that fails takes the process with it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};

use crate::OpenOptions;
use crate::named_files::NamedFiles;

/// The bytes that are in memory as a whole or not at all.
const CHUNK: usize = 64 << 10;

/// The names on a disk in memory. Cheap to clone; clones are the same disk.
#[derive(Clone, Debug)]
pub(crate) struct MemoryDisk {
    names: NamedFiles<MemoryFile>,
    room: Arc<Room>,
}

/// The bytes that the files of a disk have, and may have.
#[derive(Debug, Default)]
struct Room {
    bytes: AtomicU64,
    bytes_max: u64,
}

// Relaxed throughout: the number carries no other memory.
impl Room {
    /// # Errors
    /// `StorageFull`.
    fn take(&self, more: u64) -> io::Result<()> {
        let fits = |bytes: u64| bytes.checked_add(more).filter(|bytes| *bytes <= self.bytes_max);
        let taken = self.bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.map(drop).map_err(|_| io::ErrorKind::StorageFull.into())
    }

    fn give_back(&self, bytes: u64) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

/// A file in memory. Its space is free when it has neither a name nor an opener.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryFile(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    content: Mutex<Content>,
    room: Arc<Room>,
}

#[derive(Debug, Default)]
struct Content {
    len: u64,
    chunks: Vec<Option<Box<[u8]>>>,
}

impl Drop for Shared {
    fn drop(&mut self) {
        let len = self.content.get_mut().unwrap_or_else(|poisoned| poisoned.into_inner()).len;
        self.room.give_back(len);
    }
}

impl MemoryDisk {
    pub fn new(bytes_max: u64) -> Self {
        let room = Arc::new(Room { bytes_max, ..Room::default() });
        MemoryDisk { names: NamedFiles::default(), room }
    }

    pub fn names(&self) -> &NamedFiles<MemoryFile> {
        &self.names
    }

    /// # Errors
    /// `NotFound` when neither the file nor leave to create it is there.
    pub fn open(&self, path: &Path, options: OpenOptions) -> io::Result<MemoryFile> {
        let make = || MemoryFile(Arc::new(Shared { content: Mutex::default(), room: Arc::clone(&self.room) }));
        self.names.open_or(path, options, make)
    }
}

/// The parts of the range `offset..offset + len` by the chunks that they lie in: the chunk, and the range within it.
fn parts(offset: u64, len: usize) -> impl Iterator<Item = (usize, std::ops::Range<usize>)> {
    let mut position = offset;
    let end = offset + len as u64;
    std::iter::from_fn(move || {
        if position >= end {
            return None;
        }
        let (chunk, start) = ((position / CHUNK as u64) as usize, (position % CHUNK as u64) as usize);
        let stop = CHUNK.min(start + (end - position) as usize);
        position += (stop - start) as u64;
        Some((chunk, start..stop))
    })
}

impl MemoryFile {
    fn content(&self) -> MutexGuard<'_, Content> {
        // Nothing below panics between two changes that belong together.
        self.0.content.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Makes the file `len` bytes long if it is shorter.
    fn grow(&self, content: &mut Content, len: u64) -> io::Result<()> {
        if len > content.len {
            self.0.room.take(len - content.len)?;
            content.len = len;
        }
        Ok(())
    }

    pub fn read_at(&self, mut buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let content = self.content();
        if offset.saturating_add(buffer.len() as u64) > content.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        for (chunk, range) in parts(offset, buffer.len()) {
            let (part, rest) = buffer.split_at_mut(range.len());
            match content.chunks.get(chunk) {
                Some(Some(bytes)) => part.copy_from_slice(&bytes[range]),
                _ => part.fill(0),
            }
            buffer = rest;
        }
        Ok(())
    }

    pub fn write_at(&self, mut bytes: &[u8], offset: u64) -> io::Result<()> {
        let mut content = self.content();
        let end = offset.checked_add(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?;
        self.grow(&mut content, end)?;
        for (chunk, range) in parts(offset, bytes.len()) {
            let (part, rest) = bytes.split_at(range.len());
            bytes = rest;
            // Zeros over what was never written take no memory: space is often taken so, long before it is used.
            let is_there = matches!(content.chunks.get(chunk), Some(Some(_)));
            if !is_there && part.iter().all(|byte| *byte == 0) {
                continue;
            }
            if content.chunks.len() <= chunk {
                content.chunks.resize_with(chunk + 1, || None);
            }
            let there = content.chunks[chunk].get_or_insert_with(|| vec![0; CHUNK].into_boxed_slice());
            there[range].copy_from_slice(part);
        }
        Ok(())
    }

    pub fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let end = offset.checked_add(len).ok_or(io::ErrorKind::FileTooLarge)?;
        self.grow(&mut self.content(), end)
    }

    pub fn len(&self) -> u64 {
        self.content().len
    }

    pub fn set_len(&self, len: u64) -> io::Result<()> {
        let mut content = self.content();
        if len >= content.len {
            return self.grow(&mut content, len);
        }
        self.0.room.give_back(content.len - len);
        content.len = len;
        content.chunks.truncate(len.div_ceil(CHUNK as u64) as usize);
        let rest = (len % CHUNK as u64) as usize;
        if rest > 0
            && let Some(Some(last)) = content.chunks.get_mut((len / CHUNK as u64) as usize)
        {
            last[rest..].fill(0);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::CHUNK;
    use crate::{Disk, OpenOptions, is_full};
    use std::io;

    const CREATE: OpenOptions = OpenOptions { create: true, direct: false, durable_writes: false, read_only: false };

    #[test]
    fn bytes_come_back_across_chunks_and_the_rest_is_zeros() {
        let disk = Disk::memory(1 << 30);
        disk.create_dir_all("/a/b").expect("folders");
        let file = disk.open("/a/b/file", CREATE).expect("a file");
        let written: Vec<u8> = (0..CHUNK * 2).map(|place| (place % 251) as u8 + 1).collect();
        let start = CHUNK - 100;
        file.write_durable_at(&written, start as u64).expect("a write");
        let mut read = vec![9; start + written.len()];
        file.read_at(&mut read, 0).expect("a read");
        assert!(read[..start].iter().all(|byte| *byte == 0));
        assert_eq!(&read[start..], written);
        let beyond = file.read_at(&mut read, 1).expect_err("the file ends");
        assert_eq!(beyond.kind(), io::ErrorKind::UnexpectedEof);
        // What is cut off does not come back.
        file.set_len(start as u64 + 10).expect("it is cut");
        file.set_len(start as u64 + 20).expect("it grows");
        let mut end = [9; 20];
        file.read_at(&mut end, start as u64).expect("a read");
        assert_eq!(&end[..10], &written[..10]);
        assert_eq!(end[10..], [0; 10]);
        assert_eq!(disk.read("/a/b/file").expect("all of it").len(), start + 20);
    }

    #[test]
    fn names_are_those_of_one_disk() {
        let disk = Disk::memory(1 << 30);
        disk.create_dir_all("/a").expect("a folder");
        disk.replace("/a/x", b"1").expect("a file");
        disk.replace("/a/x", b"22").expect("another in its place");
        assert_eq!(disk.read("/a/x").expect("it"), b"22");
        disk.rename("/a/x", "/a/y").expect("a name");
        assert_eq!(disk.list("/a").expect("names"), ["y"]);
        assert_eq!(disk.clone().read("/a/y").expect("the same disk"), b"22");
        assert!(!Disk::memory(1).exists("/a"), "another disk");
        let lock = disk.lock_folder("/a").expect("the first");
        let busy = disk.lock_folder("/a").expect_err("the second");
        assert_eq!(busy.kind(), io::ErrorKind::ResourceBusy);
        drop(lock);
        drop(disk.lock_folder("/a").expect("it is free again"));
    }

    #[test]
    fn a_disk_that_is_full_says_so_and_a_removed_file_makes_room() {
        let disk = Disk::memory(1 << 20);
        disk.create_dir_all("/a").expect("a folder");
        let file = disk.open("/a/x", CREATE).expect("a file");
        file.allocate(0, 1 << 20).expect("all of it");
        file.write_at(&[1; 10], 0).expect("space that was taken");
        assert!(is_full(&file.write_at(&[1; 10], 1 << 20).expect_err("there is no room")));
        assert!(is_full(&file.set_len(2 << 20).expect_err("there is no room")));
        assert!(file.allocate(u64::MAX, 2).is_err());
        let other = disk.open("/a/y", CREATE).expect("a file");
        assert!(is_full(&other.write_durable_at(&[1], 0).expect_err("there is no room")));
        other.write_durable_at(&[], 0).expect("a lack of room is not final");
        disk.remove_file("/a/x").expect("it is there");
        assert!(other.write_at(&[1], 0).is_err(), "an open file keeps its space");
        drop(file);
        other.write_at(&[1], 0).expect("there is room");
    }
}
