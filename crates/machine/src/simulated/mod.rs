//! A disk in memory that knows what a power failure would leave.
//!
//! Every file has the image that a program sees and the one that is on stable storage, and between them the changes
//! that are still pending. The rules, in the words of what a program may rely on:
//!
//! | done | after a power failure |
//! |---|---|
//! | `write_at` | each 512-byte sector has any one of the states it had since it was last durable, independently of all others |
//! | `write_durable_at` | the sectors of those bytes are there, and the file is long enough; earlier writes elsewhere stay pending |
//! | a write in a [`WriteQueue`](crate::WriteQueue) | as `write_at` until it is reaped, as `write_durable_at` from then on |
//! | `sync` | the whole file is there |
//! | `set_len`, `allocate` (its length) | atomic, in order; there after the next `sync` or `write_durable_at` of the file |
//! | creating, removing, renaming | each atomic; there after `sync_dir` of the folder, or of either folder of a rename |
//!
//! This is ext4 with barriers where ext4 promises something by design, and is harsher where it is only kind:
//! - a sync of a new file does not make its name durable (on ext4 it does); only `sync_dir` does;
//! - pending changes of names survive independently of each other unless they share a name (ext4 keeps their order);
//! - direct writes are as lossy as buffered ones: they sit in the device's cache;
//! - no replacement by rename is recognised and synced by itself;
//! - a write that extends the file and is not synced can leave the length without the bytes, or neither;
//! - a failed sync drops what it could not write: a part reaches the disk, the rest never will, though reads still
//!   show it and a later sync through another descriptor succeeds.
//!
//! It is kind in one thing: a durable byte stays, unless a test damages it.
//!
//! With one thread the disk is a function of its seed and the calls made. With more it is thread-safe.

mod image;
mod names;
mod pending;
mod random;
mod state;

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use pikepole_contention::sync::{Mutex, MutexGuard};

use self::names::InodeId;
use self::state::State;
use crate::OpenOptions;
use crate::error::describe;

/// What a simulated disk counts, and can be told to fail at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Opening a file that exists.
    Open,
    /// Creating a file or a folder.
    Create,
    /// Reading from a file.
    Read,
    /// `write_at`.
    Write,
    /// `write_durable_at`.
    DurableWrite,
    /// `sync`.
    Sync,
    /// `set_len` or `allocate`.
    Resize,
    /// Removing a file or a folder.
    Remove,
    /// Renaming a file or a folder.
    Rename,
    /// `sync_dir`.
    SyncDir,
}

impl Operation {
    const COUNT: usize = Self::SyncDir as usize + 1;

    /// Whether it changes what is on the disk, now or after a power failure. These are the points at which a disk
    /// can be crashed.
    pub fn is_mutation(self) -> bool {
        !matches!(self, Self::Open | Self::Read)
    }
}

/// A disk in memory that loses, tears and reorders what was not synced when its power fails. Clones are the same
/// disk. Used through [`Disk::simulated`](crate::Disk::simulated); the methods here are those of the test that holds
/// the power switch.
#[derive(Clone, Debug)]
pub struct SimulatedDisk(Arc<Mutex<State>>);

impl SimulatedDisk {
    /// An empty disk. The seed decides what is left of operations that a crash point or a fault cuts short.
    pub fn new(seed: u64) -> Self {
        Self(Arc::new(Mutex::new(State::new(seed))))
    }

    /// The disk as a power failure at this moment would leave it: one of the ways allowed, chosen by `seed`. This disk
    /// itself stays as it is, so that many seeds can be tried; the new one has the same capacity, no faults, and its
    /// counts start at 0.
    pub fn crash(&self, seed: u64) -> Self {
        Self(Arc::new(Mutex::new(self.state().crash(seed))))
    }

    /// Sets the crash point: counted from now, the `n`-th mutating operation (from 1) is cut short, perhaps done in
    /// part, and it and every operation after it, reads too, fail with an error that [`is_crash`](crate::is_crash)
    /// tells.
    pub fn crash_after_ops(&self, n: u64) {
        assert!(n > 0, "operations are counted from 1");
        self.state().crash_in = Some(n);
    }

    /// Fails every operation from now on, as after a crash point.
    pub fn power_off(&self) {
        self.state().off = true;
    }

    /// Whether a crash point was met or the power was turned off.
    pub fn is_off(&self) -> bool {
        self.state().off
    }

    /// Mutating operations begun so far, failed ones included: the number of crash points of a run.
    pub fn mutations(&self) -> u64 {
        self.state().mutations
    }

    /// Operations of one kind begun so far, failed ones included.
    pub fn count(&self, operation: Operation) -> u64 {
        self.state().counts[operation as usize]
    }

    /// Makes one operation fail with an input/output error: counted from now, the `n`-th of its kind (from 1).
    pub fn fail_nth(&self, operation: Operation, n: u64) {
        assert!(n > 0, "operations are counted from 1");
        let mut state = self.state();
        let at = state.counts[operation as usize] + n;
        state.faults.push((operation, at));
    }

    /// Sets the size of the disk in bytes; `None` is without end. What is stored already stays. A write beyond it
    /// writes the blocks that still fit and fails with `StorageFull`.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Bytes of space taken by files.
    pub fn used(&self) -> u64 {
        self.state().used()
    }

    /// Damages the file `path` at rest: turns over the lowest bit of the byte at `offset`. Pending writes to that
    /// byte undo it when they are synced.
    ///
    /// # Errors
    /// `NotFound`; `UnexpectedEof` when the file is not so long.
    pub fn flip_bit(&self, path: impl AsRef<Path>, offset: u64) -> io::Result<()> {
        let path = path.as_ref();
        self.state().flip_bit(path, offset).map_err(|error| describe("damage", path, error))
    }

    /// Damages the file `path` at rest: cuts it to `len` bytes, durably and without a trace.
    ///
    /// # Errors
    /// `NotFound`; `UnexpectedEof` when the file is not so long.
    pub fn truncate(&self, path: impl AsRef<Path>, len: u64) -> io::Result<()> {
        let path = path.as_ref();
        self.state().truncate(path, len).map_err(|error| describe("damage", path, error))
    }

    /// Loses what `write_at` writes to these bytes of the file `path` from now on: the writes are answered as done, and the
    /// bytes stay as they are, on stable storage too. `None`: writes arrive again.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn lose_writes(&self, path: impl AsRef<Path>, bytes: Option<Range<u64>>) -> io::Result<()> {
        let path = path.as_ref();
        self.state().lose_writes(path, bytes).map_err(|error| describe("damage", path, error))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A test that panicked in an assertion of ours has failed already; its other threads may go on.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub(crate) fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.state().create_dir(path)
    }

    pub(crate) fn remove_file(&self, path: &Path) -> io::Result<()> {
        self.state().remove_file(path)
    }

    pub(crate) fn remove_dir_all(&self, path: &Path) -> io::Result<()> {
        self.state().remove_dir_all(path)
    }

    pub(crate) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.state().rename(from, to)
    }

    pub(crate) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        self.state().list(path)
    }

    pub(crate) fn exists(&self, path: &Path) -> bool {
        self.state().exists(path)
    }

    pub(crate) fn is_dir(&self, path: &Path) -> bool {
        self.state().is_dir(path)
    }

    pub(crate) fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.state().sync_dir(path)
    }

    pub(crate) fn open(&self, path: &Path, options: OpenOptions) -> io::Result<SimulatedFile> {
        let inode = self.state().open(path, options)?;
        Ok(SimulatedFile { disk: self.clone(), inode, read_only: options.read_only })
    }

    /// Takes the folder's lock; `None` when it is taken.
    pub(crate) fn lock(&self, folder: &Path) -> io::Result<Option<InodeId>> {
        self.state().lock(folder)
    }

    pub(crate) fn unlock(&self, folder: InodeId) {
        self.state().locks.remove(&folder);
    }
}

/// An open file of a simulated disk.
#[derive(Debug)]
pub(crate) struct SimulatedFile {
    disk: SimulatedDisk,
    inode: InodeId,
    read_only: bool,
}

impl SimulatedFile {
    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.state().read_at(self.inode, buffer, offset)
    }

    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.writable()?;
        self.disk.state().write_at(self.inode, bytes, offset)
    }

    /// Begins a durable write: until it is finished, its bytes are as lossy as those of `write_at`.
    pub(crate) fn begin_durable(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.writable()?;
        self.disk.state().begin_durable(self.inode, bytes, offset)
    }

    /// A number below `bound`, of the disk's chance.
    pub(crate) fn draw(&self, bound: u64) -> u64 {
        self.disk.state().draw(bound)
    }

    pub(crate) fn write_durable_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.writable()?;
        self.disk.state().write_durable_at(self.inode, bytes, offset)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        self.disk.state().sync(self.inode)
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        self.disk.state().len(self.inode)
    }

    pub(crate) fn set_len(&self, len: u64) -> io::Result<()> {
        self.writable()?;
        self.disk.state().set_len(self.inode, len)
    }

    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        self.writable()?;
        self.disk.state().allocate(self.inode, offset, len)
    }

    /// The answer of Linux to a change through a descriptor that was opened for reading.
    fn writable(&self) -> io::Result<()> {
        match self.read_only {
            true => Err(io::Error::from_raw_os_error(libc::EBADF)),
            false => Ok(()),
        }
    }
}

impl Drop for SimulatedFile {
    fn drop(&mut self) {
        self.disk.state().close(self.inode);
    }
}

#[cfg(test)]
mod tests;
