//! One owner for a folder, across processes and within this one.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pikepole_contention::sync::{Mutex, OnceLock};

use crate::SimulatedDisk;
use crate::error::{FolderBusy, describe};
use crate::memory_disk::MemoryDisk;
use crate::real::OWNER_ONLY_FILE;

/// The name of the file, inside the folder, that carries the lock. It stays when the lock is gone; only an owner may remove it.
pub const LOCK_FILE: &str = "lock";

/// The device and inode numbers of the lock files that this process holds. The kernel's lock belongs to an open file
/// and would refuse a second one by itself; where a network file system turns it into a lock of the whole process it
/// does not, and this set does.
fn held() -> &'static Mutex<BTreeSet<(u64, u64)>> {
    static HELD: OnceLock<Mutex<BTreeSet<(u64, u64)>>> = OnceLock::new();
    HELD.get_or_init(|| Mutex::new(BTreeSet::new()))
}

/// The proof that a folder is this owner's alone. Released when dropped, and by the kernel when the process ends.
#[derive(Debug)]
pub struct FolderLock(Holder);

#[derive(Debug)]
enum Holder {
    /// The descriptor carries the kernel's lock.
    Real {
        file: fs::File,
        identity: (u64, u64),
    },
    Simulated {
        disk: SimulatedDisk,
        folder: usize,
    },
    /// The name that says so among those of a disk in memory.
    Memory {
        disk: MemoryDisk,
        name: PathBuf,
    },
}

impl FolderLock {
    pub(crate) fn real(folder: &Path) -> io::Result<Self> {
        loop {
            if let Some(lock) = Self::attempt(folder)? {
                return Ok(lock);
            }
        }
    }

    /// Takes the lock; none: an owner has removed the file between the opening and the lock, which then locks nothing.
    fn attempt(folder: &Path) -> io::Result<Option<Self>> {
        let path = folder.join(LOCK_FILE);
        let mut file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(OWNER_ONLY_FILE)
            .open(&path)
            .map_err(|error| describe(action_for(error.kind()), folder, error))?;
        let about = file.metadata().map_err(|error| describe("look at", &path, error))?;
        let identity = (about.dev(), about.ino());
        let busy = |process| FolderBusy { folder: folder.to_path_buf(), process }.into_io();

        let mut held = held().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if held.contains(&identity) {
            return Err(busy(Some(std::process::id())));
        }
        if let Err(error) = try_flock(&file, libc::LOCK_EX) {
            return Err(match error.kind() {
                io::ErrorKind::WouldBlock => busy(read_process(&mut file)),
                _ => describe("lock the folder", folder, error),
            });
        }
        let is_current = fs::metadata(&path).is_ok_and(|about| (about.dev(), about.ino()) == identity);
        if !is_current {
            return Ok(None);
        }
        write_process(&mut file).map_err(|error| describe("write to", &path, error))?;
        held.insert(identity);
        Ok(Some(Self(Holder::Real { file, identity })))
    }

    /// Who has the lock at the moment.
    pub(crate) fn owner_of(folder: &Path) -> io::Result<Option<FolderBusy>> {
        let path = folder.join(LOCK_FILE);
        let mut file = match fs::File::open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(describe("open", &path, error)),
        };
        let about = file.metadata().map_err(|error| describe("look at", &path, error))?;
        let ours = held().lock().unwrap_or_else(|poisoned| poisoned.into_inner()).contains(&(about.dev(), about.ino()));
        let busy = |process| Some(FolderBusy { folder: folder.to_path_buf(), process });
        if ours {
            return Ok(busy(Some(std::process::id())));
        }
        match try_flock(&file, libc::LOCK_SH) {
            // Closing the file lets go of it.
            Ok(()) => Ok(None),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(busy(read_process(&mut file))),
            Err(error) => Err(describe("look at the lock of", folder, error)),
        }
    }

    pub(crate) fn simulated(disk: &SimulatedDisk, folder: &Path) -> io::Result<Self> {
        let taken = disk.lock(folder).map_err(|error| describe("lock the folder", folder, error))?;
        let Some(folder) = taken else {
            let process = Some(std::process::id());
            return Err(FolderBusy { folder: folder.to_path_buf(), process }.into_io());
        };
        Ok(Self(Holder::Simulated { disk: disk.clone(), folder }))
    }

    pub(crate) fn memory(disk: &MemoryDisk, folder: &Path) -> io::Result<Self> {
        let name = folder.join(LOCK_FILE);
        // Two cannot make the same folder.
        disk.names().create_dir(&name).map_err(|_| {
            let process = Some(std::process::id());
            FolderBusy { folder: folder.to_path_buf(), process }.into_io()
        })?;
        Ok(Self(Holder::Memory { disk: disk.clone(), name }))
    }
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        match &self.0 {
            Holder::Real { file, identity } => {
                let mut held = held().lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                // Said aloud: a process being started at this moment has a copy of the descriptor for an instant, and
                // closing ours would not free the lock until then. If it fails, closing the file frees it.
                let _ = try_flock(file, libc::LOCK_UN);
                held.remove(identity);
            }
            Holder::Simulated { disk, folder } => disk.unlock(*folder),
            Holder::Memory { disk, name } => {
                // It is there as long as this is.
                let _ = disk.names().remove_dir_all(name);
            }
        }
    }
}

/// The words for a lock file that does not open; a read-only folder is the usual reason.
fn action_for(kind: io::ErrorKind) -> &'static str {
    match kind {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            "open for writing (its lock file cannot be written) the folder"
        }
        _ => "lock the folder",
    }
}

fn try_flock(file: &fs::File, kind: libc::c_int) -> io::Result<()> {
    loop {
        // SAFETY: the call takes no memory of ours, and `file` keeps the descriptor open.
        if unsafe { libc::flock(file.as_raw_fd(), kind | libc::LOCK_NB) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// The process id that the holder wrote; `None` when it has not, or wrote something else.
fn read_process(file: &mut fs::File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

fn write_process(file: &mut fs::File) -> io::Result<()> {
    file.set_len(0)?;
    file.seek(SeekFrom::Start(0))?;
    writeln!(file, "{}", std::process::id())
}
