//! Files and folders, on the operating system, in memory, on a simulated disk or on none, behind one shape.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};

use crate::error::{FolderBusy, describe};
use crate::folder_lock::FolderLock;
use crate::memory_disk::{MemoryDisk, MemoryFile};
use crate::null::{NullDisk, NullFile};
use crate::real::{self, RealFile};
use crate::simulated::{SimulatedDisk, SimulatedFile};
use crate::slow::{SlowDevice, Slowed};
use crate::{AlignedBuffer, BLOCK, DurableMethod};

/// Bytes of one write of [`File::prewrite`].
const PREWRITE_BYTES: u64 = 1 << 20;

/// A file system. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Disk {
    kind: DiskKind,
    /// The slower device that durable writes and syncs act, if any.
    slowed: Option<Arc<Slowed>>,
}

#[derive(Clone, Debug)]
enum DiskKind {
    Real,
    Simulated(SimulatedDisk),
    Null(NullDisk),
    Memory(MemoryDisk),
}

/// How to open a file. The default opens an existing file for buffered reading and writing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OpenOptions {
    /// Create the file, empty and for its owner alone, if it does not exist. Its name is durable after [`Disk::sync_dir`] of its folder.
    pub create: bool,
    /// Go round the page cache where the file system allows it. Buffers, offsets and lengths of reads and writes
    /// must be multiples of [`BLOCK`], whether it does or not.
    pub direct: bool,
    /// Prepare for [`File::write_durable_at`] to be the usual way of writing.
    pub durable_writes: bool,
    /// Refuse every change.
    pub read_only: bool,
}

impl Disk {
    /// The operating system's file system.
    pub fn real() -> Self {
        Self::of(DiskKind::Real)
    }

    /// A disk that can lose its power.
    pub fn simulated(disk: SimulatedDisk) -> Self {
        Self::of(DiskKind::Simulated(disk))
    }

    /// A disk that takes everything at once and forgets all but names and lengths: for measuring what an engine costs
    /// where the device is not the limit. It has no locks. Paths are absolute.
    pub fn null() -> Self {
        Self::of(DiskKind::Null(NullDisk::default()))
    }

    /// A disk in memory whose files have so many bytes together at most. It ends with its last clone and its last open file. Paths are
    /// absolute.
    pub fn memory(bytes_max: u64) -> Self {
        Self::of(DiskKind::Memory(MemoryDisk::new(bytes_max)))
    }

    /// This disk as if its device were slower: durable writes and syncs of the files opened from now on take at least as
    /// long as on that device. All of them share its bandwidth. Other reads and writes are as quick as ever.
    pub fn slowed(mut self, device: SlowDevice) -> Self {
        self.slowed = Some(Arc::new(Slowed::new(device)));
        self
    }

    /// Whether it acts a slower device.
    pub fn is_slowed(&self) -> bool {
        self.slowed.is_some()
    }

    fn of(kind: DiskKind) -> Self {
        Self { kind, slowed: None }
    }

    /// The simulated disk behind this one, if it is simulated.
    pub fn as_simulated(&self) -> Option<&SimulatedDisk> {
        match &self.kind {
            DiskKind::Simulated(disk) => Some(disk),
            DiskKind::Real | DiskKind::Null(_) | DiskKind::Memory(_) => None,
        }
    }

    /// Whether its durable writes take time, or are to be seen as if they did: commits are gathered for them then.
    pub fn takes_time(&self) -> bool {
        !matches!(self.kind, DiskKind::Simulated(_) | DiskKind::Memory(_)) || self.is_slowed()
    }

    /// Whether this is the operating system's file system.
    pub fn is_real(&self) -> bool {
        matches!(self.kind, DiskKind::Real)
    }

    /// Creates the folder `path` and its missing parents, for their owner alone, and makes their names durable.
    pub fn create_dir_all(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        if path.as_os_str().is_empty() || self.is_dir(path) {
            return Ok(());
        }
        let parent = parent_of(path);
        if parent != path {
            self.create_dir_all(parent)?;
        }
        let created = match &self.kind {
            DiskKind::Real => real::create_dir(path),
            DiskKind::Simulated(disk) => disk.create_dir(path),
            DiskKind::Null(disk) => disk.create_dir(path),
            DiskKind::Memory(disk) => disk.names().create_dir(path),
        };
        match created {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && self.is_dir(path) => {}
            other => other.map_err(|error| describe("create the folder", path, error))?,
        }
        self.sync_dir(parent)
    }

    /// Removes the file `path`. Durable after [`Disk::sync_dir`] of its folder.
    pub fn remove_file(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        match &self.kind {
            DiskKind::Real => std::fs::remove_file(path),
            DiskKind::Simulated(disk) => disk.remove_file(path),
            DiskKind::Null(disk) => disk.remove_file(path),
            DiskKind::Memory(disk) => disk.names().remove_file(path),
        }
        .map_err(|error| describe("remove", path, error))
    }

    /// Removes the folder `path` with all that is in it. Durable after [`Disk::sync_dir`] of its parent; a crash
    /// before that can leave any part of it.
    pub fn remove_dir_all(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        match &self.kind {
            DiskKind::Real => std::fs::remove_dir_all(path),
            DiskKind::Simulated(disk) => disk.remove_dir_all(path),
            DiskKind::Null(disk) => disk.remove_dir_all(path),
            DiskKind::Memory(disk) => disk.names().remove_dir_all(path),
        }
        .map_err(|error| describe("remove the folder", path, error))
    }

    /// Gives the file or folder `from` the name `to`, in place of a file of that name, in one step: whenever the
    /// machine stops, `to` is the old or the new one. Durable after [`Disk::sync_dir`] of the folders of both.
    pub fn rename(&self, from: impl AsRef<Path>, to: impl AsRef<Path>) -> io::Result<()> {
        let (from, to) = (from.as_ref(), to.as_ref());
        match &self.kind {
            DiskKind::Real => std::fs::rename(from, to),
            DiskKind::Simulated(disk) => disk.rename(from, to),
            DiskKind::Null(disk) => disk.rename(from, to),
            DiskKind::Memory(disk) => disk.names().rename(from, to),
        }
        .map_err(|error| describe("rename", from, error))
    }

    /// The names in the folder `path`, files and folders, sorted.
    pub fn list(&self, path: impl AsRef<Path>) -> io::Result<Vec<String>> {
        let path = path.as_ref();
        match &self.kind {
            DiskKind::Real => real::list(path),
            DiskKind::Simulated(disk) => disk.list(path),
            DiskKind::Null(disk) => disk.list(path),
            DiskKind::Memory(disk) => disk.names().list(path),
        }
        .map_err(|error| describe("list the folder", path, error))
    }

    /// Whether there is a file or a folder `path`.
    pub fn exists(&self, path: impl AsRef<Path>) -> bool {
        match &self.kind {
            DiskKind::Real => path.as_ref().exists(),
            DiskKind::Simulated(disk) => disk.exists(path.as_ref()),
            DiskKind::Null(disk) => disk.exists(path.as_ref()),
            DiskKind::Memory(disk) => disk.names().exists(path.as_ref()),
        }
    }

    /// Whether `path` is a folder.
    pub fn is_dir(&self, path: impl AsRef<Path>) -> bool {
        match &self.kind {
            DiskKind::Real => path.as_ref().is_dir(),
            DiskKind::Simulated(disk) => disk.is_dir(path.as_ref()),
            DiskKind::Null(disk) => disk.is_dir(path.as_ref()),
            DiskKind::Memory(disk) => disk.names().is_dir(path.as_ref()),
        }
    }

    /// Whether `path` is a file proper: no folder, and no pipe or device, which opening may wait for.
    pub fn is_file(&self, path: impl AsRef<Path>) -> bool {
        match &self.kind {
            DiskKind::Real => path.as_ref().is_file(),
            DiskKind::Simulated(_) | DiskKind::Null(_) | DiskKind::Memory(_) => {
                self.exists(&path) && !self.is_dir(&path)
            }
        }
    }

    /// How many files and folders there are, the folder `path` among them, that others than their owner may read or change, and the
    /// first of them; none on disks without owners. Links are not followed, and what cannot be read is passed over.
    pub fn open_to_others(&self, path: impl AsRef<Path>) -> Option<(usize, PathBuf)> {
        match &self.kind {
            DiskKind::Real => real::open_to_others(path.as_ref()),
            DiskKind::Simulated(_) | DiskKind::Null(_) | DiskKind::Memory(_) => None,
        }
    }

    /// Makes the names in the folder `path` durable: what was created there, removed, or renamed from or to it.
    pub fn sync_dir(&self, path: impl AsRef<Path>) -> io::Result<()> {
        let path = path.as_ref();
        match &self.kind {
            DiskKind::Real => real::sync_dir(path),
            DiskKind::Simulated(disk) => disk.sync_dir(path),
            DiskKind::Null(_) | DiskKind::Memory(_) => Ok(()),
        }
        .map_err(|error| describe("sync the folder", path, error))
    }

    /// Opens the file `path`.
    ///
    /// # Errors
    /// `NotFound` when it is not there and `create` is not asked for; otherwise what the file system answers.
    pub fn open(&self, path: impl AsRef<Path>, options: OpenOptions) -> io::Result<File> {
        let path = path.as_ref();
        let kind = match &self.kind {
            DiskKind::Real => RealFile::open(path, options).map(FileKind::Real),
            DiskKind::Simulated(disk) => disk.open(path, options).map(FileKind::Simulated),
            DiskKind::Null(disk) => disk.open(path, options).map(FileKind::Null),
            DiskKind::Memory(disk) => disk.open(path, options).map(FileKind::Memory),
        }
        .map_err(|error| describe("open", path, error))?;
        Ok(self.file(kind, path, options))
    }

    fn file(&self, kind: FileKind, path: &Path, options: OpenOptions) -> File {
        File(Arc::new(FileInner {
            kind,
            slowed: self.slowed.clone(),
            path: path.to_path_buf(),
            options,
            sync_turn: Mutex::new(()),
            sync_failed: AtomicBool::new(false),
        }))
    }

    /// A file that was opened elsewhere, as one of this disk.
    pub(crate) fn real_file(&self, file: RealFile, path: &Path, options: OpenOptions) -> File {
        self.file(FileKind::Real(file), path, options)
    }

    /// The whole content of the file `path`.
    pub fn read(&self, path: impl AsRef<Path>) -> io::Result<Vec<u8>> {
        let file = self.open(path, OpenOptions { read_only: true, ..OpenOptions::default() })?;
        let mut content = vec![0; usize::try_from(file.len()?).map_err(io::Error::other)?];
        file.read_at(&mut content, 0)?;
        Ok(content)
    }

    /// Puts `content` in place of the file `path` in one durable step: whenever the machine stops, the file is the
    /// old or the new one. Writes a file beside it, named `path` with `.new` appended.
    pub fn replace(&self, path: impl AsRef<Path>, content: &[u8]) -> io::Result<()> {
        let path = path.as_ref();
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let beside = PathBuf::from(beside);
        if self.exists(&beside) {
            // Of an interrupted call; it may be readable for others.
            self.remove_file(&beside)?;
        }
        let file = self.open(&beside, OpenOptions { create: true, ..OpenOptions::default() })?;
        file.write_at(content, 0)?;
        file.sync()?;
        self.rename(&beside, path)?;
        self.sync_dir(parent_of(path))
    }

    /// Takes the folder `path` for this owner until the lock is dropped.
    ///
    /// # Errors
    /// `ResourceBusy`, holding a [`FolderBusy`](crate::FolderBusy), when somebody has it, in this process or in
    /// another; an error that names the folder when it cannot be written to.
    pub fn lock_folder(&self, path: impl AsRef<Path>) -> io::Result<FolderLock> {
        match &self.kind {
            DiskKind::Real => FolderLock::real(path.as_ref()),
            DiskKind::Simulated(disk) => FolderLock::simulated(disk, path.as_ref()),
            DiskKind::Null(_) => Err(io::ErrorKind::Unsupported.into()),
            DiskKind::Memory(disk) => FolderLock::memory(disk, path.as_ref()),
        }
    }

    /// Who has the folder `path` locked; `None` when nobody has. The answer may be old by the time it is read. Changes
    /// nothing, but an owner that wants the folder in the very moment of the look is told that it is busy.
    ///
    /// # Errors
    /// When the lock file is there and cannot be read.
    pub fn folder_owner(&self, path: impl AsRef<Path>) -> io::Result<Option<FolderBusy>> {
        match &self.kind {
            DiskKind::Real => FolderLock::owner_of(path.as_ref()),
            DiskKind::Simulated(_) | DiskKind::Null(_) | DiskKind::Memory(_) => Ok(None),
        }
    }
}

/// The folder that holds `path`'s name.
fn parent_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        Some(_) => Path::new("."),
        None => path,
    }
}

/// Reads into one buffer after the other.
pub(crate) fn in_turn(
    buffers: &mut [io::IoSliceMut<'_>],
    mut offset: u64,
    mut read_at: impl FnMut(&mut [u8], u64) -> io::Result<()>,
) -> io::Result<()> {
    for buffer in buffers {
        read_at(buffer, offset)?;
        offset += buffer.len() as u64;
    }
    Ok(())
}

/// An open file. Cheap to clone: clones are the same open file. All methods take offsets from the file's start and
/// may be called from several threads at once.
#[derive(Clone, Debug)]
pub struct File(Arc<FileInner>);

#[derive(Debug)]
struct FileInner {
    kind: FileKind,
    slowed: Option<Arc<Slowed>>,
    path: PathBuf,
    options: OpenOptions,
    /// One sync at a time: the kernel tells a failure to one of several callers only.
    sync_turn: Mutex<()>,
    /// A sync or a durable write failed. The kernel may have dropped what it could not write and would call the next
    /// sync a success, so there is no next one.
    sync_failed: AtomicBool,
}

#[derive(Debug)]
enum FileKind {
    Real(RealFile),
    Simulated(SimulatedFile),
    Null(NullFile),
    Memory(MemoryFile),
}

impl File {
    /// The path this file was opened by.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether the page cache is really gone round; false when that was not asked for or was refused.
    pub fn is_direct(&self) -> bool {
        match &self.0.kind {
            FileKind::Real(file) => file.is_direct(),
            FileKind::Simulated(_) | FileKind::Null(_) | FileKind::Memory(_) => self.0.options.direct,
        }
    }

    /// Fills `buffer` from `offset` on.
    ///
    /// # Errors
    /// `UnexpectedEof` when the file ends before the buffer is full.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.assert_aligned(buffer, offset);
        match &self.0.kind {
            FileKind::Real(file) => file.read_at(buffer, offset),
            FileKind::Simulated(file) => file.read_at(buffer, offset),
            FileKind::Null(file) => file.read_at(buffer, offset),
            FileKind::Memory(file) => file.read_at(buffer, offset),
        }
        .map_err(|error| self.describe("read", error))
    }

    /// Fills `buffers`, one after the other, from `offset` on: one request of the device where that can be.
    ///
    /// # Errors
    /// As of [`read_at`](Self::read_at).
    pub fn read_parts_at(&self, buffers: &mut [io::IoSliceMut<'_>], offset: u64) -> io::Result<()> {
        buffers.iter().for_each(|buffer| self.assert_aligned(buffer, offset));
        match &self.0.kind {
            FileKind::Real(file) => file.read_parts_at(buffers, offset),
            FileKind::Simulated(file) => in_turn(buffers, offset, |buffer, at| file.read_at(buffer, at)),
            FileKind::Null(file) => in_turn(buffers, offset, |buffer, at| file.read_at(buffer, at)),
            FileKind::Memory(file) => in_turn(buffers, offset, |buffer, at| file.read_at(buffer, at)),
        }
        .map_err(|error| self.describe("read", error))
    }

    /// Writes `bytes` at `offset`, extending the file when needed. Until a sync they can be lost or torn.
    ///
    /// # Errors
    /// [`is_full`](crate::is_full) when there is no room: a part of the bytes may have been written.
    pub fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.assert_aligned(bytes, offset);
        match &self.0.kind {
            FileKind::Real(file) => file.write_at(bytes, offset),
            FileKind::Simulated(file) => file.write_at(bytes, offset),
            FileKind::Null(file) => {
                file.extend_to(offset + bytes.len() as u64);
                Ok(())
            }
            FileKind::Memory(file) => file.write_at(bytes, offset),
        }
        .map_err(|error| self.describe("write", error))
    }

    /// Writes `bytes` at `offset` and returns when they, and what is needed to find them again, are on stable
    /// storage. Earlier writes to other places of the file stay as they are.
    ///
    /// # Errors
    /// After any error but a lack of room the file takes no durable write and no sync any more: what is on stable
    /// storage is not known then, and the kernel does not tell twice.
    pub fn write_durable_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.assert_aligned(bytes, offset);
        self.refuse_after_failed_sync()?;
        let write = || match &self.0.kind {
            FileKind::Real(file) => file.write_durable_at(bytes, offset),
            FileKind::Simulated(file) => file.write_durable_at(bytes, offset),
            FileKind::Null(file) => {
                file.extend_to(offset + bytes.len() as u64);
                Ok(())
            }
            FileKind::Memory(file) => file.write_at(bytes, offset),
        };
        self.at_device_speed(bytes.len(), write).map_err(|error| self.failed_durable(error))
    }

    /// Makes a request of so many bytes as the slower device would, if there is one.
    fn at_device_speed<T>(&self, bytes: usize, request: impl FnOnce() -> T) -> T {
        match &self.0.slowed {
            Some(slowed) => slowed.make(bytes, request),
            None => request(),
        }
    }

    /// Before a durable write is handed to a queue: the checks of [`write_durable_at`](Self::write_durable_at).
    pub(crate) fn check_durable(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.assert_aligned(bytes, offset);
        self.refuse_after_failed_sync()
    }

    /// Notes that a durable write failed, and describes the failure.
    pub(crate) fn failed_durable(&self, error: io::Error) -> io::Error {
        // In the page cache, a lack of room may show only when the pages are written back: too late. A disk in memory has none.
        let has_cache = !self.is_direct() && !matches!(self.0.kind, FileKind::Memory(_));
        if has_cache || !crate::is_full(&error) {
            self.0.sync_failed.store(true, Ordering::Relaxed);
        }
        self.describe("write durably", error)
    }

    /// The file's descriptor, for a queue in the kernel; None where there is no kernel below.
    pub(crate) fn as_real(&self) -> Option<&RealFile> {
        match &self.0.kind {
            FileKind::Real(file) => Some(file),
            FileKind::Simulated(_) | FileKind::Null(_) | FileKind::Memory(_) => None,
        }
    }

    pub(crate) fn as_simulated(&self) -> Option<&SimulatedFile> {
        match &self.0.kind {
            FileKind::Real(_) | FileKind::Null(_) | FileKind::Memory(_) => None,
            FileKind::Simulated(file) => Some(file),
        }
    }

    /// How durable writes are made from now on, or the first way behind it that the kernel grants.
    pub fn write_durable_by(&self, method: DurableMethod) {
        if let Some(file) = self.as_real() {
            file.set_durable_method(method);
        }
    }

    /// How durable writes are made, as far as it has been found out by making one.
    pub fn durable_method(&self) -> DurableMethod {
        self.as_real().map_or(DurableMethod::Simulated, RealFile::durable_method)
    }

    /// Returns when all that was written to this file is on stable storage, and its length.
    ///
    /// # Errors
    /// A failure is final: the kernel may have dropped the pages it could not write. Later calls fail at once.
    pub fn sync(&self) -> io::Result<()> {
        let _turn = self.0.sync_turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        self.refuse_after_failed_sync()?;
        let sync = || match &self.0.kind {
            FileKind::Real(file) => file.sync(),
            FileKind::Simulated(file) => file.sync(),
            FileKind::Null(_) | FileKind::Memory(_) => Ok(()),
        };
        self.at_device_speed(0, sync).map_err(|error| {
            self.0.sync_failed.store(true, Ordering::Relaxed);
            self.describe("sync", error)
        })
    }

    /// The file's length in bytes.
    pub fn len(&self) -> io::Result<u64> {
        match &self.0.kind {
            FileKind::Real(file) => file.len(),
            FileKind::Simulated(file) => file.len(),
            FileKind::Null(file) => Ok(file.len()),
            FileKind::Memory(file) => Ok(file.len()),
        }
        .map_err(|error| self.describe("read the length of", error))
    }

    /// Whether the file has no bytes.
    pub fn is_empty(&self) -> io::Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Cuts the file to `len` bytes or extends it with zeros that take no space yet.
    pub fn set_len(&self, len: u64) -> io::Result<()> {
        match &self.0.kind {
            FileKind::Real(file) => file.set_len(len),
            FileKind::Simulated(file) => file.set_len(len),
            FileKind::Null(file) => {
                file.set_len(len);
                Ok(())
            }
            FileKind::Memory(file) => file.set_len(len),
        }
        .map_err(|error| self.describe("set the length of", error))
    }

    /// Takes space for `len` bytes from `offset` on, keeping what is there, and extends the file to their end. Does
    /// nothing where the file system cannot take space ahead.
    ///
    /// # Errors
    /// [`is_full`](crate::is_full) when there is not so much room.
    pub fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        match &self.0.kind {
            FileKind::Real(file) => file.allocate(offset, len),
            FileKind::Simulated(file) => file.allocate(offset, len),
            FileKind::Null(file) => {
                file.extend_to(offset.saturating_add(len));
                Ok(())
            }
            FileKind::Memory(file) => file.allocate(offset, len),
        }
        .map_err(|error| self.describe("allocate space for", error))
    }

    /// Writes zeros over `len` bytes from `offset` on and syncs, so that a later durable write there changes no
    /// metadata. Both must be multiples of [`BLOCK`].
    ///
    /// # Errors
    /// [`is_full`](crate::is_full) when there is not so much room; found before the first byte is written where the
    /// file system can take space ahead.
    pub fn prewrite(&self, offset: u64, len: u64) -> io::Result<()> {
        self.write_zeros(offset, len)?;
        self.sync()
    }

    /// As [`prewrite`](Self::prewrite), without the sync: for a part of what is synced as a whole.
    ///
    /// # Errors
    /// As of [`prewrite`](Self::prewrite).
    pub fn write_zeros(&self, offset: u64, len: u64) -> io::Result<()> {
        let block = BLOCK as u64;
        assert!(offset.is_multiple_of(block) && len.is_multiple_of(block), "prewriting goes by whole blocks");
        self.allocate(offset, len)?;
        let zeros = AlignedBuffer::zeroed(PREWRITE_BYTES.min(len) as usize);
        let end = offset + len;
        let mut position = offset;
        while position < end {
            let step = PREWRITE_BYTES.min(end - position);
            self.write_at(&zeros[..step as usize], position)?;
            position += step;
        }
        Ok(())
    }

    fn refuse_after_failed_sync(&self) -> io::Result<()> {
        // Relaxed: the flag carries no other memory. A thread that reads it late meets the failure a little later.
        if self.0.sync_failed.load(Ordering::Relaxed) {
            let why = io::Error::other("an earlier sync of this file failed, and cannot be made good");
            return Err(self.describe("sync", why));
        }
        Ok(())
    }

    fn assert_aligned(&self, bytes: &[u8], offset: u64) {
        if self.0.options.direct {
            let position = bytes.as_ptr() as usize | bytes.len() | (offset as usize & (BLOCK - 1));
            assert!(position.is_multiple_of(BLOCK), "direct I/O takes whole, aligned blocks");
        }
    }

    fn describe(&self, action: &'static str, error: io::Error) -> io::Error {
        describe(action, &self.0.path, error)
    }
}
