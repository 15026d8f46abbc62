//! Files named from outside: a folder that names are confined to, and files that must be files proper.
//!
//! A name that comes from a client may hold `..`, lead through symbolic links, or name a device. A [`ConfinedFolder`] is an
//! open folder; names are resolved beneath it by the kernel (`openat2` with `RESOLVE_BENEATH` and `RESOLVE_NO_SYMLINKS`, or
//! component by component with `O_NOFOLLOW` where the kernel lacks it), and what is opened is looked at after it is open. So
//! nothing that others rename or link meanwhile changes what is reached.
//!
//! | rule | by |
//! |---|---|
//! | nothing above the folder | `RESOLVE_BENEATH`; a component that is not a plain name is refused |
//! | no symbolic link on the way, none at the end | `RESOLVE_NO_SYMLINKS`, `O_NOFOLLOW` |
//! | no folder, device, pipe or socket is opened | `O_PATH` first, `fstat`, then the file that was looked at is opened |
//! | a new file replaces nothing | `O_EXCL`; a rename names both files by the open folder |
//!
//! On simulated and null disks, which have neither links nor devices, names are only checked and joined.

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, Stat};

use crate::error::describe;
use crate::real::RealFile;
use crate::{Disk, File, OpenOptions};

/// Folders are opened to reach what is in them.
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// Only looks: opening a device or a pipe in this way does nothing to it.
const LOOK: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open folder beneath which names from outside are reached. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ConfinedFolder {
    disk: Disk,
    /// Open on the operating system's disk only.
    folder: Option<Arc<OwnedFd>>,
    path: PathBuf,
}

/// The kinds of what a name in a folder leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// A file proper.
    File {
        /// Hard links beside this one.
        has_other_names: bool,
    },
    /// A symbolic link, folder, device, pipe or socket.
    Other,
}

impl Disk {
    /// Opens the folder `root` for names from outside. Its own path may lead through links.
    ///
    /// # Errors
    /// A folder that is not there or is none.
    pub fn confine(&self, root: impl AsRef<Path>) -> io::Result<ConfinedFolder> {
        let path = root.as_ref().to_path_buf();
        if !self.is_real() {
            return match self.is_dir(&path) {
                true => Ok(ConfinedFolder { disk: self.clone(), folder: None, path }),
                false => Err(describe("open the folder", &path, io::ErrorKind::NotFound.into())),
            };
        }
        let opened = rustix::fs::open(&path, FOLDER, Mode::empty());
        let folder = opened.map_err(|error| describe("open the folder", &path, error.into()))?;
        Ok(ConfinedFolder { disk: self.clone(), folder: Some(Arc::new(folder)), path })
    }

    /// Opens the file `path` for reading if it is a file proper; its path may lead through links. Also where it really is.
    /// Devices and pipes are not touched.
    ///
    /// # Errors
    /// `PermissionDenied` for what is no file proper; otherwise what the file system answers.
    pub fn open_proper(&self, path: impl AsRef<Path>) -> io::Result<(File, PathBuf)> {
        let path = path.as_ref();
        let options = OpenOptions { read_only: true, ..OpenOptions::default() };
        if !self.is_real() {
            if self.is_dir(path) {
                return Err(describe("open", path, not_proper()));
            }
            return Ok((self.open(path, options)?, path.to_path_buf()));
        }
        let open = || {
            let looked = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())?;
            let file = reopen(&looked, options)?;
            let real = fs::read_link(format!("/proc/self/fd/{}", looked.as_raw_fd()))?;
            Ok((file, real))
        };
        let (file, real) = open().map_err(|error| describe("open", path, error))?;
        Ok((self.real_file(file, path, options), real))
    }

    /// The path without links and `..`, as far as it is there; on disks without links, as it is.
    pub fn real_path(&self, path: impl AsRef<Path>) -> PathBuf {
        let path = path.as_ref();
        let absolute = || std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
        if self.is_real() { path.canonicalize().unwrap_or_else(|_| absolute()) } else { path.to_path_buf() }
    }
}

impl ConfinedFolder {
    /// The folder `below` this one; an empty path is this folder.
    ///
    /// # Errors
    /// A way that is not there, leads through a link or out of the folder.
    pub fn subfolder(&self, below: &Path) -> io::Result<ConfinedFolder> {
        check_plain(below)?;
        let path = self.path.join(below);
        let Some(folder) = &self.folder else { return self.disk.confine(path) };
        if below.as_os_str().is_empty() {
            return Ok(self.clone());
        }
        let opened = open_beneath(folder, below).map_err(|error| describe("open the folder", &path, error))?;
        Ok(ConfinedFolder { disk: self.disk.clone(), folder: Some(Arc::new(opened)), path })
    }

    /// The path of the file `name`, to be shown and compared.
    pub fn path_of(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The disk that the folder is on.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Looks at `name` without following or opening it; none when there is no such name.
    ///
    /// # Errors
    /// What the file system answers.
    pub fn look(&self, name: &str) -> io::Result<Option<Found>> {
        check_plain(Path::new(name))?;
        let path = self.path_of(name);
        let Some(folder) = &self.folder else {
            let there = self.disk.exists(&path);
            let found = if self.disk.is_dir(&path) { Found::Other } else { Found::File { has_other_names: false } };
            return Ok(there.then_some(found));
        };
        match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(found(&stat))),
            Err(rustix::io::Errno::NOENT) => Ok(None),
            Err(error) => Err(describe("look at", &path, error.into())),
        }
    }

    /// Opens the file `name`, which must be there and a file proper; to be written only when it has no other name.
    ///
    /// # Errors
    /// `NotFound`; `PermissionDenied` for what is no such file.
    pub fn open(&self, name: &str, options: OpenOptions) -> io::Result<File> {
        check_plain(Path::new(name))?;
        let path = self.path_of(name);
        let options = OpenOptions { create: false, ..options };
        let Some(folder) = &self.folder else {
            return match self.disk.is_dir(&path) {
                true => Err(describe("open", &path, not_proper())),
                false => self.disk.open(&path, options),
            };
        };
        let open = || reopen(&rustix::fs::openat(folder, name, LOOK, Mode::empty())?, options);
        Ok(self.disk.real_file(open().map_err(|error| describe("open", &path, error))?, &path, options))
    }

    /// Makes the file `name`, which must not be there, for its owner alone. Its name is durable after [`sync`](Self::sync).
    ///
    /// # Errors
    /// `AlreadyExists`, also for a link that leads nowhere.
    pub fn create_new(&self, name: &str, options: OpenOptions) -> io::Result<File> {
        check_plain(Path::new(name))?;
        let path = self.path_of(name);
        let options = OpenOptions { create: true, read_only: false, ..options };
        let Some(folder) = &self.folder else {
            return match self.disk.exists(&path) {
                true => Err(describe("create", &path, io::ErrorKind::AlreadyExists.into())),
                false => self.disk.open(&path, options),
            };
        };
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let create = || rustix::fs::openat(folder, name, flags, Mode::RUSR | Mode::WUSR);
        let made = create().map_err(|error| describe("create", &path, error.into()))?;
        // What O_DIRECT refuses is found out by opening the same file again.
        let file = RealFile::of_flags(options, |more| open_again(&made, options, more));
        Ok(self.disk.real_file(file.map_err(|error| describe("create", &path, error))?, &path, options))
    }

    /// Gives `file` the mode and the owner that `name` has.
    ///
    /// # Errors
    /// `PermissionDenied` for an owner that this process cannot give it.
    pub fn adopt_mode(&self, name: &str, file: &File) -> io::Result<()> {
        let (Some(folder), Some(file)) = (&self.folder, file.as_real()) else { return Ok(()) };
        let adopt = || -> io::Result<()> {
            let (old, new) = (rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?, rustix::fs::fstat(file)?);
            if (old.st_uid, old.st_gid) != (new.st_uid, new.st_gid) {
                let (user, group) = (rustix::fs::Uid::from_raw(old.st_uid), rustix::fs::Gid::from_raw(old.st_gid));
                rustix::fs::fchown(file, Some(user), Some(group))?;
            }
            // Behind the owner: a change of the owner takes bits away.
            Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(old.st_mode))?)
        };
        adopt().map_err(|error| describe("keep the mode and owner of", &self.path_of(name), error))
    }

    /// Gives the file `from` the name `to`, in place of a file of that name. Durable after [`sync`](Self::sync).
    ///
    /// # Errors
    /// What the file system answers.
    pub fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        check_plain(Path::new(from)).and_then(|()| check_plain(Path::new(to)))?;
        match &self.folder {
            None => self.disk.rename(self.path_of(from), self.path_of(to)),
            Some(folder) => rustix::fs::renameat(folder, from, folder, to)
                .map_err(|error| describe("rename", &self.path_of(from), error.into())),
        }
    }

    /// Gives the file `from` the name `to`, which must not be there. Durable after [`sync`](Self::sync).
    ///
    /// # Errors
    /// `AlreadyExists`; what the file system answers.
    pub fn rename_new(&self, from: &str, to: &str) -> io::Result<()> {
        check_plain(Path::new(from)).and_then(|()| check_plain(Path::new(to)))?;
        let taken = || describe("rename", &self.path_of(from), io::ErrorKind::AlreadyExists.into());
        let Some(folder) = &self.folder else {
            return if self.disk.exists(self.path_of(to)) { Err(taken()) } else { self.rename(from, to) };
        };
        match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            // Not on every file system.
            Err(rustix::io::Errno::INVAL | rustix::io::Errno::NOSYS) => match self.look(to)? {
                None => self.rename(from, to),
                Some(_) => Err(taken()),
            },
            Err(error) => Err(describe("rename", &self.path_of(from), error.into())),
        }
    }

    /// Removes the file `name`.
    ///
    /// # Errors
    /// What the file system answers.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        check_plain(Path::new(name))?;
        match &self.folder {
            None => self.disk.remove_file(self.path_of(name)),
            Some(folder) => rustix::fs::unlinkat(folder, name, AtFlags::empty())
                .map_err(|error| describe("remove", &self.path_of(name), error.into())),
        }
    }

    /// Makes the names in the folder durable.
    ///
    /// # Errors
    /// What the file system answers.
    pub fn sync(&self) -> io::Result<()> {
        match &self.folder {
            None => self.disk.sync_dir(&self.path),
            Some(folder) => {
                rustix::fs::fsync(folder).map_err(|error| describe("sync the folder", &self.path, error.into()))
            }
        }
    }
}

fn not_proper() -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, "it is not a file proper, or has other names")
}

/// Refuses a path that has more than plain names.
fn check_plain(path: &Path) -> io::Result<()> {
    let is_plain = |component: Component<'_>| match component {
        Component::Normal(name) => !name.as_encoded_bytes().contains(&0),
        Component::CurDir => true,
        Component::RootDir | Component::ParentDir | Component::Prefix(_) => false,
    };
    match path.components().all(is_plain) {
        true => Ok(()),
        false => Err(describe("open", path, io::ErrorKind::PermissionDenied.into())),
    }
}

fn found(stat: &Stat) -> Found {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Found::File { has_other_names: stat.st_nlink > 1 },
        _ => Found::Other,
    }
}

/// Opens a folder beneath another one, by the kernel's own check where it has one.
fn open_beneath(folder: &OwnedFd, below: &Path) -> io::Result<OwnedFd> {
    let rules = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(folder, below, FOLDER, Mode::empty(), rules) {
        Ok(opened) => Ok(opened),
        // Before Linux 5.6, and in containers whose filter does not know the call.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => open_by_components(folder, below),
        Err(error) => Err(error.into()),
    }
}

fn open_by_components(folder: &OwnedFd, below: &Path) -> io::Result<OwnedFd> {
    let mut reached = folder.try_clone()?;
    for component in below.components() {
        if let Component::Normal(name) = component {
            reached = rustix::fs::openat(&reached, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
        }
    }
    Ok(reached)
}

/// Opens what was looked at, if it is a file proper.
fn reopen(looked: &OwnedFd, options: OpenOptions) -> io::Result<RealFile> {
    match found(&rustix::fs::fstat(looked)?) {
        Found::File { has_other_names } if !has_other_names || options.read_only => {}
        Found::File { .. } | Found::Other => return Err(not_proper()),
    }
    RealFile::of_flags(options, |more| open_again(looked, options, more))
}

/// Opens an open file once more, whatever its name is by now.
fn open_again(open: &impl AsFd, options: OpenOptions, more: i32) -> io::Result<fs::File> {
    use std::os::unix::fs::OpenOptionsExt;
    let path = format!("/proc/self/fd/{}", open.as_fd().as_raw_fd());
    fs::OpenOptions::new().read(true).write(!options.read_only).custom_flags(more).open(path)
}

#[cfg(test)]
#[path = "confined_tests.rs"]
mod tests;
