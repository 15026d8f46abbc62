//! The state of a simulated disk, and each operation on it.
//!
//! An operation asks `begin` how it shall go: as usual, cut short by the crash point, or failing by an injected
//! fault. Invariant: with nothing pending and no failed sync, the live and the durable side of everything are equal.

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;
use std::path::Path;

use super::Operation;
use super::image::{Content, FILE_BYTES_MAX, Image};
use super::names::{self, Folder, InodeId, NameChange, Place, ROOT, split};
use super::pending::{Mood, Pending};
use super::random::Random;
use crate::error::PowerLost;
use crate::{OpenOptions, SECTOR};

#[derive(Debug)]
enum Inode {
    Folder(Folder),
    File(FileState),
}

#[derive(Debug, Default)]
struct FileState {
    /// What a program reads.
    live: Image,
    /// What is on stable storage.
    durable: Image,
    pending: Pending,
    /// Whether a name leads to it, as a program sees names.
    linked: bool,
    /// Open descriptors.
    handles: usize,
}

/// How an operation goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Course {
    Usual,
    /// The crash point: the operation may be done in part, as pending changes.
    Cut,
    /// An injected fault.
    Fails,
}

#[derive(Debug)]
pub(super) struct State {
    random: Random,
    inodes: Vec<Inode>,
    /// Changes of names that are not durable, oldest first.
    pending_names: Vec<NameChange>,
    pub(super) locks: BTreeSet<InodeId>,
    pub(super) counts: [u64; Operation::COUNT],
    pub(super) mutations: u64,
    /// How many mutating operations are left until the one that is cut short, itself included.
    pub(super) crash_in: Option<u64>,
    pub(super) off: bool,
    /// Operations that shall fail, each by the count it will have.
    pub(super) faults: Vec<(Operation, u64)>,
    pub(super) capacity: Option<u64>,
    /// Bytes of files that writes do not reach, though they are answered as done.
    lost: Vec<(InodeId, Range<u64>)>,
}

fn power_lost() -> io::Error {
    io::Error::other(PowerLost)
}

impl Course {
    /// The error of an operation that does not go as usual.
    fn error(self) -> io::Error {
        match self {
            Self::Cut => power_lost(),
            _ => io::Error::from_raw_os_error(libc::EIO),
        }
    }
}

impl State {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: Random::new(seed),
            inodes: vec![Inode::Folder(Folder::default())],
            pending_names: Vec::new(),
            locks: BTreeSet::new(),
            counts: [0; Operation::COUNT],
            mutations: 0,
            crash_in: None,
            off: false,
            faults: Vec::new(),
            capacity: None,
            lost: Vec::new(),
        }
    }

    /// What a power failure leaves.
    pub(super) fn crash(&self, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mood = Mood::draw(&mut random);
        let mut after = Self::new(seed);
        after.capacity = self.capacity;
        after.inodes = self.inodes.iter().map(|inode| survivor(inode, &mut random, mood)).collect();
        for change in names::survivors(self.pending_names.clone(), &mut random, mood) {
            after.commit_names(change);
        }
        for inode in &mut after.inodes {
            if let Inode::Folder(folder) = inode {
                folder.live.clone_from(&folder.durable);
            }
        }
        after.drop_unreachable();
        after.random = random;
        after
    }

    /// Empties what no name leads to, and marks the files that have one.
    fn drop_unreachable(&mut self) {
        let mut reached = BTreeSet::from([ROOT]);
        let mut ahead = vec![ROOT];
        while let Some(id) = ahead.pop() {
            match &mut self.inodes[id] {
                Inode::Folder(folder) => {
                    let new = folder.live.values().filter(|inner| reached.insert(**inner));
                    ahead.extend(new);
                }
                Inode::File(file) => file.linked = true,
            }
        }
        for (id, inode) in self.inodes.iter_mut().enumerate() {
            if !reached.contains(&id) {
                *inode = Inode::File(FileState::default());
            }
        }
    }

    /// Counts an operation and decides how it goes.
    fn begin(&mut self, operation: Operation) -> io::Result<Course> {
        if self.off {
            return Err(power_lost());
        }
        let count = &mut self.counts[operation as usize];
        *count += 1;
        let fault = (operation, *count);
        if operation.is_mutation() {
            self.mutations += 1;
            if let Some(left) = &mut self.crash_in {
                *left -= 1;
                if *left == 0 {
                    self.off = true;
                    return Ok(Course::Cut);
                }
            }
        }
        let planned = self.faults.len();
        self.faults.retain(|known| *known != fault);
        Ok(if self.faults.len() < planned { Course::Fails } else { Course::Usual })
    }

    /// `begin` for operations without a partial effect.
    fn begin_whole(&mut self, operation: Operation) -> io::Result<()> {
        match self.begin(operation)? {
            Course::Usual => Ok(()),
            other => Err(other.error()),
        }
    }

    pub(super) fn used(&self) -> u64 {
        let space = |inode: &Inode| match inode {
            Inode::File(file) if file.linked || file.handles > 0 => file.live.allocated(),
            _ => 0,
        };
        self.inodes.iter().map(space).sum()
    }

    fn free(&self) -> u64 {
        self.capacity.map_or(u64::MAX, |capacity| capacity.saturating_sub(self.used()))
    }
}

/// What a power failure leaves of one inode; names are seen to apart.
fn survivor(inode: &Inode, random: &mut Random, mood: Mood) -> Inode {
    match inode {
        Inode::Folder(folder) => {
            let durable = folder.durable.clone();
            Inode::Folder(Folder { live: durable.clone(), durable })
        }
        Inode::File(file) => {
            let mut durable = file.durable.clone();
            file.pending.clone().crash(&mut durable, random, mood);
            let live = durable.clone();
            Inode::File(FileState { live, durable, ..FileState::default() })
        }
    }
}

/// Operations on an open file.
impl State {
    fn file(&mut self, id: InodeId) -> &mut FileState {
        match &mut self.inodes[id] {
            Inode::File(file) => file,
            Inode::Folder(_) => unreachable!("folders are not opened"),
        }
    }

    pub(super) fn close(&mut self, id: InodeId) {
        self.file(id).handles -= 1;
        self.free_if_unused(id);
    }

    pub(super) fn len(&mut self, id: InodeId) -> io::Result<u64> {
        if self.off {
            return Err(power_lost());
        }
        Ok(self.file(id).live.len())
    }

    pub(super) fn read_at(&mut self, id: InodeId, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.begin_whole(Operation::Read)?;
        let live = &self.file(id).live;
        let end = offset.checked_add(buffer.len() as u64);
        if !buffer.is_empty() && end.is_none_or(|end| end > live.len()) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        live.read(offset, buffer);
        Ok(())
    }

    pub(super) fn write_at(&mut self, id: InodeId, bytes: &[u8], offset: u64) -> io::Result<()> {
        let range = checked_range(offset, bytes.len() as u64)?;
        let course = self.begin(Operation::Write)?;
        let content = Content::new(bytes);
        if course != Course::Usual {
            self.write_in_part(id, range, &content);
            return Err(course.error());
        }
        let fits = self.fits(id, &range);
        self.write_what_arrives(id, offset, &content.slice(0..fits));
        full_unless(fits == content.len())
    }

    /// Writes those bytes that are not to be lost.
    fn write_what_arrives(&mut self, id: InodeId, offset: u64, content: &Content) {
        let end = offset + content.len();
        let lost = self.lost.iter().find(|(of, lost)| *of == id && lost.start < end && offset < lost.end);
        let Some((_, lost)) = lost.cloned() else {
            return self.file(id).write(offset, content.clone());
        };
        let before = lost.start.max(offset) - offset;
        let behind = lost.end.min(end) - offset;
        if before > 0 {
            self.file(id).write(offset, content.slice(0..before));
        }
        if behind < content.len() {
            self.file(id).write(offset + behind, content.slice(behind..content.len()));
        }
    }

    pub(super) fn lose_writes(&mut self, path: &Path, bytes: Option<Range<u64>>) -> io::Result<()> {
        let id = self.find_path(path)?;
        self.lost.retain(|(of, _)| *of != id);
        self.lost.extend(bytes.map(|bytes| (id, bytes)));
        Ok(())
    }

    pub(super) fn write_durable_at(&mut self, id: InodeId, bytes: &[u8], offset: u64) -> io::Result<()> {
        let range = checked_range(offset, bytes.len() as u64)?;
        let course = self.begin(Operation::DurableWrite)?;
        let content = Content::new(bytes);
        match course {
            Course::Cut => {
                self.write_in_part(id, range, &content);
                return Err(course.error());
            }
            Course::Fails => {
                self.fail_durable_write(id, range, &content);
                return Err(course.error());
            }
            Course::Usual => {}
        }
        let fits = self.fits(id, &range);
        if fits < content.len() {
            self.file(id).write(offset, content.slice(0..fits));
            return full_unless(false);
        }
        if !bytes.is_empty() {
            self.file(id).write_durable(offset, &content);
        }
        Ok(())
    }

    /// Begins a durable write, which `write_durable_at` finishes: that is the operation that counts, and the point of a
    /// crash or a fault. One at which this write was not begun yet would leave nothing else.
    pub(super) fn begin_durable(&mut self, id: InodeId, bytes: &[u8], offset: u64) -> io::Result<()> {
        let range = checked_range(offset, bytes.len() as u64)?;
        if self.off {
            return Err(power_lost());
        }
        // What does not fit fails when it is finished.
        let fits = self.fits(id, &range);
        self.file(id).write(offset, Content::new(bytes).slice(0..fits));
        Ok(())
    }

    /// A number below `bound`.
    pub(super) fn draw(&mut self, bound: u64) -> u64 {
        self.random.below(bound)
    }

    /// How many bytes of `range` there is room for.
    fn fits(&mut self, id: InodeId, range: &Range<u64>) -> u64 {
        let free = self.free();
        let len = range.end - range.start;
        if free == u64::MAX { len } else { self.file(id).live.writable(range.start, len, free) }
    }

    /// A write that is cut short: parts of it are pending.
    fn write_in_part(&mut self, id: InodeId, range: Range<u64>, content: &Content) {
        for part in self.draw_parts(&range) {
            let slice = content.slice(part.start - range.start..part.end - range.start);
            self.file(id).write(part.start, slice);
        }
    }

    /// A durable write that fails: parts of it are on stable storage, and the rest never will be, whether or not the
    /// page cache shows it.
    fn fail_durable_write(&mut self, id: InodeId, range: Range<u64>, content: &Content) {
        let shown = self.random.coin();
        let parts = self.draw_parts(&range);
        let file = self.file(id);
        for part in parts {
            let slice = content.slice(part.start - range.start..part.end - range.start);
            file.write_durable(part.start, &slice);
        }
        if shown {
            file.live.write(range.start, content);
        }
    }

    fn draw_parts(&mut self, range: &Range<u64>) -> Vec<Range<u64>> {
        let mood = Mood::draw(&mut self.random);
        mood.survivors(&mut self.random, range.clone())
    }

    pub(super) fn sync(&mut self, id: InodeId) -> io::Result<()> {
        let course = self.begin(Operation::Sync)?;
        let Inode::File(file) = &mut self.inodes[id] else { unreachable!("folders are not opened") };
        match course {
            Course::Usual => file.pending.sync(&mut file.durable),
            Course::Cut => return Err(course.error()),
            Course::Fails => {
                let mood = Mood::draw(&mut self.random);
                std::mem::take(&mut file.pending).crash(&mut file.durable, &mut self.random, mood);
                return Err(course.error());
            }
        }
        Ok(())
    }

    pub(super) fn set_len(&mut self, id: InodeId, len: u64) -> io::Result<()> {
        checked_range(0, len)?;
        let course = self.begin(Operation::Resize)?;
        if course == Course::Usual || (course == Course::Cut && self.random.coin()) {
            self.file(id).resize(len);
        }
        if course == Course::Usual { Ok(()) } else { Err(course.error()) }
    }

    pub(super) fn allocate(&mut self, id: InodeId, offset: u64, len: u64) -> io::Result<()> {
        let range = checked_range(offset, len)?;
        let course = self.begin(Operation::Resize)?;
        if course == Course::Fails {
            return Err(course.error());
        }
        if self.fits(id, &range) < len {
            return full_unless(false);
        }
        if course == Course::Usual || self.random.coin() {
            let file = self.file(id);
            // Space shows nowhere but in `used`; giving it to both sides at once keeps it over a power failure.
            file.live.allocate(range.clone());
            file.durable.allocate(range.clone());
            if range.end > file.live.len() {
                file.resize(range.end);
            }
        }
        if course == Course::Usual { Ok(()) } else { Err(course.error()) }
    }
}

impl FileState {
    fn write(&mut self, offset: u64, content: Content) {
        if content.len() > 0 {
            self.live.write(offset, &content);
            self.pending.write(offset, content);
        }
    }

    /// Makes the bytes durable, and with them the rest of the sectors they lie in: a sector is written whole.
    fn write_durable(&mut self, offset: u64, content: &Content) {
        self.live.write(offset, content);
        let sector = SECTOR as u64;
        let end = offset + content.len();
        if offset.is_multiple_of(sector) && end.is_multiple_of(sector) {
            return self.pending.write_durable(&mut self.durable, offset, content);
        }
        let start = offset - offset % sector;
        let end = end.next_multiple_of(sector).min(self.live.len());
        let mut sectors = vec![0; (end - start) as usize];
        self.live.read(start, &mut sectors);
        self.pending.write_durable(&mut self.durable, start, &Content::new(&sectors));
    }

    fn resize(&mut self, len: u64) {
        self.pending.resize(self.live.len(), len);
        self.live.set_len(len);
    }
}

fn checked_range(offset: u64, len: u64) -> io::Result<Range<u64>> {
    match offset.checked_add(len) {
        Some(end) if end <= FILE_BYTES_MAX => Ok(offset..end),
        _ => Err(io::ErrorKind::FileTooLarge.into()),
    }
}

fn full_unless(fits: bool) -> io::Result<()> {
    if fits { Ok(()) } else { Err(io::Error::from_raw_os_error(libc::ENOSPC)) }
}

/// Operations on names.
impl State {
    /// The inode that `names` leads to.
    fn find(&self, names: &[&str]) -> io::Result<InodeId> {
        let mut id = ROOT;
        for name in names {
            let Inode::Folder(folder) = &self.inodes[id] else {
                return Err(io::ErrorKind::NotADirectory.into());
            };
            id = *folder.live.get(*name).ok_or(io::ErrorKind::NotFound)?;
        }
        Ok(id)
    }

    fn find_path(&self, path: &Path) -> io::Result<InodeId> {
        self.find(&split(path)?)
    }

    fn folder(&self, id: InodeId) -> io::Result<&Folder> {
        match &self.inodes[id] {
            Inode::Folder(folder) => Ok(folder),
            Inode::File(_) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    /// The place that `path` names, in a folder that exists, and what is there.
    fn place(&self, path: &Path) -> io::Result<(Place, Option<InodeId>)> {
        let names = split(path)?;
        let Some((name, parents)) = names.split_last() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        let parent = self.find(parents)?;
        let there = self.folder(parent)?.live.get(*name).copied();
        Ok(((parent, (*name).to_owned()), there))
    }

    /// Makes a change of names, pending.
    fn change_names(&mut self, change: NameChange) {
        for ((folder, name), inode) in &change.0 {
            let Inode::Folder(folder) = &mut self.inodes[*folder] else { unreachable!("places are in folders") };
            match inode {
                Some(inode) => folder.live.insert(name.clone(), *inode),
                None => folder.live.remove(name),
            };
        }
        self.pending_names.push(change);
    }

    /// Makes a change of names durable.
    fn commit_names(&mut self, change: NameChange) {
        for ((folder, name), inode) in change.0 {
            // A folder whose removal became durable first takes no names.
            let Inode::Folder(folder) = &mut self.inodes[folder] else { continue };
            match inode {
                Some(inode) => folder.durable.insert(name, inode),
                None => folder.durable.remove(&name),
            };
        }
    }

    /// Puts a new inode at a free place, or by chance does not when it is cut short.
    fn create(&mut self, place: Place, inode: Inode) -> io::Result<InodeId> {
        let course = self.begin(Operation::Create)?;
        let id = self.inodes.len();
        if course == Course::Usual || (course == Course::Cut && self.random.coin()) {
            self.inodes.push(inode);
            self.change_names(NameChange(vec![(place, Some(id))]));
        }
        if course == Course::Usual { Ok(id) } else { Err(course.error()) }
    }

    pub(super) fn create_dir(&mut self, path: &Path) -> io::Result<()> {
        let (place, there) = self.place(path)?;
        if there.is_some() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        self.create(place, Inode::Folder(Folder::default())).map(drop)
    }

    pub(super) fn open(&mut self, path: &Path, options: OpenOptions) -> io::Result<InodeId> {
        if self.off {
            return Err(power_lost());
        }
        let (place, there) = self.place(path)?;
        let id = match there {
            Some(id) => {
                if let Inode::Folder(_) = self.inodes[id] {
                    return Err(io::ErrorKind::IsADirectory.into());
                }
                self.begin_whole(Operation::Open)?;
                id
            }
            None if options.create && !options.read_only => {
                let file = FileState { linked: true, ..FileState::default() };
                self.create(place, Inode::File(file))?
            }
            None => return Err(io::ErrorKind::NotFound.into()),
        };
        self.file(id).handles += 1;
        Ok(id)
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> io::Result<()> {
        let (place, there) = self.place(path)?;
        let id = there.ok_or(io::ErrorKind::NotFound)?;
        if let Inode::Folder(_) = self.inodes[id] {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        self.remove(place, id)
    }

    pub(super) fn remove_dir_all(&mut self, path: &Path) -> io::Result<()> {
        let (place, there) = self.place(path)?;
        let id = there.ok_or(io::ErrorKind::NotFound)?;
        self.remove_below(id)?;
        self.remove(place, id)
    }

    fn remove_below(&mut self, id: InodeId) -> io::Result<()> {
        for (name, inner) in self.folder(id)?.live.clone() {
            if let Inode::Folder(_) = self.inodes[inner] {
                self.remove_below(inner)?;
            }
            self.remove((id, name), inner)?;
        }
        Ok(())
    }

    fn remove(&mut self, place: Place, id: InodeId) -> io::Result<()> {
        let course = self.begin(Operation::Remove)?;
        if course == Course::Usual || (course == Course::Cut && self.random.coin()) {
            self.change_names(NameChange(vec![(place, None)]));
            self.unlink(id);
        }
        if course == Course::Usual { Ok(()) } else { Err(course.error()) }
    }

    fn unlink(&mut self, id: InodeId) {
        if let Inode::File(file) = &mut self.inodes[id] {
            file.linked = false;
        }
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let (from_names, to_names) = (split(from)?, split(to)?);
        let (from, moved) = self.place(from)?;
        let (to, replaced) = self.place(to)?;
        let moved = moved.ok_or(io::ErrorKind::NotFound)?;
        if to_names.len() > from_names.len() && to_names.starts_with(&from_names) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if let Some(replaced) = replaced {
            match (&self.inodes[moved], &self.inodes[replaced]) {
                (Inode::File(_), Inode::File(_)) => {}
                (Inode::Folder(_), Inode::Folder(there)) if there.live.is_empty() => {}
                (Inode::Folder(_), Inode::Folder(_)) => {
                    return Err(io::ErrorKind::DirectoryNotEmpty.into());
                }
                (Inode::File(_), _) => return Err(io::ErrorKind::IsADirectory.into()),
                (Inode::Folder(_), _) => return Err(io::ErrorKind::NotADirectory.into()),
            }
        }
        let course = self.begin(Operation::Rename)?;
        let happens = course == Course::Usual || (course == Course::Cut && self.random.coin());
        if happens && from != to {
            self.change_names(NameChange(vec![(from, None), (to, Some(moved))]));
            if let Some(replaced) = replaced {
                self.unlink(replaced);
            }
        }
        if course == Course::Usual { Ok(()) } else { Err(course.error()) }
    }

    pub(super) fn list(&self, path: &Path) -> io::Result<Vec<String>> {
        if self.off {
            return Err(power_lost());
        }
        Ok(self.folder(self.find_path(path)?)?.live.keys().cloned().collect())
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        !self.off && self.find_path(path).is_ok()
    }

    pub(super) fn is_dir(&self, path: &Path) -> bool {
        !self.off && self.find_path(path).is_ok_and(|id| self.folder(id).is_ok())
    }

    pub(super) fn sync_dir(&mut self, path: &Path) -> io::Result<()> {
        if self.off {
            return Err(power_lost());
        }
        let id = self.find_path(path)?;
        self.folder(id)?;
        let course = self.begin(Operation::SyncDir)?;
        if course == Course::Cut && self.random.coin() {
            return Err(course.error());
        }
        let mut synced = names::take_synced(&mut self.pending_names, id);
        if course == Course::Fails {
            let mood = Mood::draw(&mut self.random);
            synced = names::survivors(synced, &mut self.random, mood);
        }
        for change in synced {
            self.commit_names(change);
        }
        if course != Course::Usual {
            return Err(course.error());
        }
        for id in 0..self.inodes.len() {
            self.free_if_unused(id);
        }
        Ok(())
    }

    /// Takes the folder's lock; `None` when it is taken.
    pub(super) fn lock(&mut self, path: &Path) -> io::Result<Option<InodeId>> {
        if self.off {
            return Err(power_lost());
        }
        let id = self.find_path(path)?;
        self.folder(id)?;
        Ok(self.locks.insert(id).then_some(id))
    }

    /// Gives back the memory of a file that no name leads to, now or after a power failure, and nobody has open.
    fn free_if_unused(&mut self, id: InodeId) {
        match &self.inodes[id] {
            Inode::File(file) if !file.linked && file.handles == 0 && file.live.len() > 0 => {}
            _ => return,
        }
        let durable = |inode: &Inode| match inode {
            Inode::Folder(folder) => folder.durable.values().any(|known| *known == id),
            Inode::File(_) => false,
        };
        let pending = |change: &NameChange| change.0.iter().any(|(_, known)| *known == Some(id));
        if !self.inodes.iter().any(durable) && !self.pending_names.iter().any(pending) {
            self.inodes[id] = Inode::File(FileState::default());
        }
    }
}

/// Damage.
impl State {
    /// The file `path`, which is at least `len` bytes long.
    fn file_of_len(&mut self, path: &Path, len: u64) -> io::Result<&mut FileState> {
        let id = self.find_path(path)?;
        match &mut self.inodes[id] {
            Inode::Folder(_) => Err(io::ErrorKind::IsADirectory.into()),
            Inode::File(file) if file.live.len() < len => Err(io::ErrorKind::UnexpectedEof.into()),
            Inode::File(file) => Ok(file),
        }
    }

    pub(super) fn flip_bit(&mut self, path: &Path, offset: u64) -> io::Result<()> {
        let file = self.file_of_len(path, offset.saturating_add(1))?;
        file.live.flip_bit(offset);
        if offset < file.durable.len() {
            file.durable.flip_bit(offset);
        }
        Ok(())
    }

    pub(super) fn truncate(&mut self, path: &Path, len: u64) -> io::Result<()> {
        let file = self.file_of_len(path, len)?;
        file.resize(len);
        file.pending.sync(&mut file.durable);
        Ok(())
    }
}
