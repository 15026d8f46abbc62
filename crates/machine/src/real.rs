//! Files of the operating system.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use pikepole_contention::sync::OnceLock;
use pikepole_contention::sync::atomic::{AtomicU8, Ordering};

use crate::disk::in_turn;
use crate::{BLOCK, DurableMethod, OpenOptions};

/// The mode of new files: what a database holds is its owner's alone, whatever the umask says.
pub(crate) const OWNER_ONLY_FILE: u32 = 0o600;
/// The mode of new folders.
const OWNER_ONLY_FOLDER: u32 = 0o700;

/// An open file of the operating system.
#[derive(Debug)]
pub(crate) struct RealFile {
    file: fs::File,
    direct: bool,
    durable: DurableWrites,
}

impl AsFd for RealFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// How durable writes are made: the first of these that the kernel grants, found out by trying.
#[derive(Debug)]
struct DurableWrites {
    /// One of the constants below; it only grows.
    method: AtomicU8,
    /// The second descriptor of `DSYNC_DESCRIPTOR`; `None` when it could not be opened.
    descriptor: OnceLock<Option<fs::File>>,
}

/// One system call that writes and makes durable.
const PER_WRITE_FLAG: u8 = 0;
/// A descriptor opened so that each write through it is durable.
const DSYNC_DESCRIPTOR: u8 = 1;
/// A plain write, then a sync of the whole file.
const WRITE_THEN_SYNC: u8 = 2;

impl RealFile {
    pub(crate) fn open(path: &Path, options: OpenOptions) -> io::Result<Self> {
        Self::of_flags(options, |flags| {
            fs::OpenOptions::new()
                .read(true)
                .write(!options.read_only)
                .create(options.create && !options.read_only)
                .mode(OWNER_ONLY_FILE)
                .custom_flags(flags)
                .open(path)
        })
    }

    /// The file that `open` opens with the flags it is given: those of direct I/O first, if that is asked for.
    pub(crate) fn of_flags(options: OpenOptions, open: impl Fn(i32) -> io::Result<fs::File>) -> io::Result<Self> {
        let (file, direct) = match options.direct.then(|| open(libc::O_DIRECT)) {
            Some(Ok(file)) => (file, true),
            Some(Err(error)) if error.raw_os_error() != Some(libc::EINVAL) => return Err(error),
            // The file system has no direct I/O, or none was asked for.
            _ => (open(0)?, false),
        };
        let durable = DurableWrites { method: AtomicU8::new(PER_WRITE_FLAG), descriptor: OnceLock::new() };
        Ok(Self { file, direct, durable })
    }

    pub(crate) fn descriptor(&self) -> RawFd {
        self.file.as_raw_fd()
    }

    pub(crate) fn durable_method(&self) -> DurableMethod {
        match self.durable.method.load(Ordering::Relaxed) {
            PER_WRITE_FLAG => DurableMethod::WriteFlag,
            DSYNC_DESCRIPTOR => DurableMethod::Dsync,
            _ => DurableMethod::WriteThenSync,
        }
    }

    pub(crate) fn set_durable_method(&self, method: DurableMethod) {
        let first = match method {
            DurableMethod::IoUring | DurableMethod::WriteFlag | DurableMethod::Simulated => PER_WRITE_FLAG,
            DurableMethod::Dsync => DSYNC_DESCRIPTOR,
            DurableMethod::WriteThenSync => WRITE_THEN_SYNC,
        };
        // Relaxed: as in `write_durable_at`.
        self.durable.method.fetch_max(first, Ordering::Relaxed);
    }

    pub(crate) fn is_direct(&self) -> bool {
        self.direct
    }

    pub(crate) fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.file.read_exact_at(buffer, offset)
    }

    /// Reads into all buffers by one call; what that leaves out, because the file ends there or the kernel stopped, by one for each.
    pub(crate) fn read_parts_at(&self, buffers: &mut [io::IoSliceMut<'_>], offset: u64) -> io::Result<()> {
        let mut done = read_parts(&self.file, buffers, offset).unwrap_or(0);
        in_turn(buffers, offset, |buffer, at| {
            let whole = done >= buffer.len();
            done = done.saturating_sub(buffer.len());
            if whole { Ok(()) } else { self.read_at(buffer, at) }
        })
    }

    pub(crate) fn write_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all(bytes, offset, |part, at| self.file.write_at(part, at))
    }

    pub(crate) fn write_durable_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        // Relaxed: the number says only which method to try; each of them is complete by itself.
        let mut method = self.durable.method.load(Ordering::Relaxed);
        loop {
            let written = match method {
                PER_WRITE_FLAG => self.write_all(bytes, offset, |part, at| write_flagged(&self.file, part, at)),
                DSYNC_DESCRIPTOR => self.write_through_descriptor(bytes, offset),
                _ => self.write_at(bytes, offset).and_then(|()| self.sync()),
            };
            match written {
                Err(error) if method < WRITE_THEN_SYNC && is_refusal(&error) => {
                    method += 1;
                    self.durable.method.fetch_max(method, Ordering::Relaxed);
                }
                other => return other,
            }
        }
    }

    fn write_through_descriptor(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        let descriptor = self.durable.descriptor.get_or_init(|| {
            // The path may have been renamed since: reopen what is open.
            let path = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            let direct = if self.direct { libc::O_DIRECT } else { 0 };
            fs::OpenOptions::new().write(true).custom_flags(libc::O_DSYNC | direct).open(path).ok()
        });
        let Some(file) = descriptor else {
            return Err(io::Error::from_raw_os_error(libc::EOPNOTSUPP));
        };
        self.write_all(bytes, offset, |part, at| file.write_at(part, at))
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        // std calls again only when a signal came first; any other answer is the last one.
        self.file.sync_data()
    }

    pub(crate) fn len(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    pub(crate) fn set_len(&self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    pub(crate) fn allocate(&self, offset: u64, len: u64) -> io::Result<()> {
        let too_far = |_| io::Error::from(io::ErrorKind::FileTooLarge);
        let offset = libc::off64_t::try_from(offset).map_err(too_far)?;
        let len = libc::off64_t::try_from(len).map_err(too_far)?;
        loop {
            // SAFETY: the call takes no memory of ours, and `self.file` keeps the descriptor open.
            if unsafe { libc::fallocate64(self.file.as_raw_fd(), 0, offset, len) } == 0 {
                return Ok(());
            }
            let error = io::Error::last_os_error();
            if error.kind() == io::ErrorKind::Interrupted {
                continue;
            }
            return if is_refusal(&error) { Ok(()) } else { Err(error) };
        }
    }

    /// Calls `write` until all `bytes` are written.
    fn write_all(
        &self,
        mut bytes: &[u8],
        mut offset: u64,
        write: impl Fn(&[u8], u64) -> io::Result<usize>,
    ) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut count = match write(bytes, offset) {
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if self.direct && count < bytes.len() {
                // The rest must start at a block again; the cut block is written once more.
                count -= count % BLOCK;
            }
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            bytes = &bytes[count..];
            offset += count as u64;
        }
        Ok(())
    }
}

/// The bytes that one call read: parts of it may be missing.
fn read_parts(file: &fs::File, buffers: &mut [io::IoSliceMut<'_>], offset: u64) -> io::Result<usize> {
    let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let count = libc::c_int::try_from(buffers.len()).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // SAFETY: `IoSliceMut` is documented to have the layout of `iovec`; `buffers` are live, exclusively borrowed for the call, and
    // counted; `file` keeps the descriptor open.
    let read = unsafe { libc::preadv(file.as_raw_fd(), buffers.as_mut_ptr().cast(), count, offset) };
    usize::try_from(read).map_err(|_| io::Error::last_os_error())
}

/// One write that returns when its bytes are on stable storage; may write less than asked for.
fn write_flagged(file: &fs::File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    let offset = libc::off_t::try_from(offset).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge))?;
    let part = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
    // SAFETY: `part` names the live slice `bytes`, which the kernel only reads; one part is given, one is counted;
    // `file` keeps the descriptor open.
    let count = unsafe { libc::pwritev2(file.as_raw_fd(), &part, 1, offset, libc::RWF_DSYNC) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

/// Whether the kernel or the file system says that it does not know this call or flag.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS))
}

pub(crate) fn create_dir(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().mode(OWNER_ONLY_FOLDER).create(path)
}

pub(crate) fn open_to_others(path: &Path) -> Option<(usize, PathBuf)> {
    const OTHERS: u32 = 0o077;
    let (mut count, mut first) = (0, None);
    let mut left = vec![path.to_path_buf()];
    while let Some(path) = left.pop() {
        let Ok(about) = path.symlink_metadata() else { continue };
        if about.is_symlink() {
            continue;
        }
        if about.is_dir()
            && let Ok(entries) = fs::read_dir(&path)
        {
            left.extend(entries.flatten().map(|entry| entry.path()));
        }
        if about.mode() & OTHERS != 0 {
            count += 1;
            first.get_or_insert(path);
        }
    }
    first.map(|first| (count, first))
}

pub(crate) fn list(path: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    Ok(names)
}

pub(crate) fn sync_dir(path: &Path) -> io::Result<()> {
    fs::File::open(path)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AlignedBuffer;
    use crate::tests::TestFolder;

    const DIRECT: OpenOptions = OpenOptions { create: true, direct: true, durable_writes: true, read_only: false };

    #[test]
    fn every_method_of_durable_writes_writes() {
        let folder = TestFolder::new("durable");
        for method in [PER_WRITE_FLAG, DSYNC_DESCRIPTOR, WRITE_THEN_SYNC] {
            for direct in [true, false] {
                let path = folder.path().join(format!("{method}{direct}"));
                let file = RealFile::open(&path, OpenOptions { direct, ..DIRECT }).expect("a file");
                file.durable.method.store(method, Ordering::Relaxed);
                let mut page = AlignedBuffer::zeroed(BLOCK);
                page.fill(5);
                std::fs::rename(&path, path.with_extension("renamed")).expect("a rename");
                file.write_durable_at(&page, BLOCK as u64).expect("a write");
                let mut read = AlignedBuffer::zeroed(BLOCK);
                file.read_at(&mut read, BLOCK as u64).expect("a read");
                assert_eq!(read[..], page[..]);
                let now = file.durable.method.load(Ordering::Relaxed);
                assert!(now >= method, "a method is given up for the next one only");
            }
        }
    }

    #[test]
    fn short_and_interrupted_writes_are_continued_at_a_block() {
        let folder = TestFolder::new("short");
        for direct in [true, false] {
            let path = folder.path().join(format!("{direct}"));
            let mut file = RealFile::open(&path, OpenOptions { direct: false, ..DIRECT }).expect("a file");
            file.direct = direct;
            let content: Vec<u8> = (0..4 * BLOCK).map(|byte| byte as u8).collect();
            let written = std::cell::RefCell::new(vec![0; 4 * BLOCK]);
            let calls = std::cell::Cell::new(0);
            let write = |bytes: &[u8], offset: u64| {
                calls.set(calls.get() + 1);
                let count = match calls.get() {
                    1 => return Err(io::ErrorKind::Interrupted.into()),
                    2 => BLOCK + 100,
                    _ => bytes.len().min(2 * BLOCK),
                };
                assert!(!direct || offset.is_multiple_of(BLOCK as u64));
                written.borrow_mut()[offset as usize..][..count].copy_from_slice(&bytes[..count]);
                Ok(count)
            };
            file.write_all(&content, 0, write).expect("all of it");
            assert_eq!(*written.borrow(), content);
            let stuck = file.write_all(&content, 0, |_, _| Ok(if direct { 512 } else { 0 }));
            assert_eq!(stuck.expect_err("no progress").kind(), io::ErrorKind::WriteZero);
            let full = file.write_all(&content, 0, |_, _| Err(io::Error::from_raw_os_error(libc::ENOSPC)));
            assert_eq!(full.expect_err("full").kind(), io::ErrorKind::StorageFull);
        }
    }

    #[test]
    fn files_that_refuse_direct_io_are_buffered() {
        let options = OpenOptions { create: false, read_only: true, ..DIRECT };
        let file = RealFile::open(Path::new("/proc/self/status"), options).expect("a file");
        assert!(!file.is_direct());
    }
}
