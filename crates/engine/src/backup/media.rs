//! The file that backups are written to: a directory of backup sets, and the sets.
//!
//! ```text
//!   0                4096             8192
//!   | directory      | directory      | set 1: head, pages, log, tail | set 2 ... |  (what an append left half-written)
//!     copy 0           copy 1
//!
//!   directory:
//!   0            8     12        16         24         32     36   40    48       64
//!   | "PIKEBACK" | crc | version | sequence | media id | sets | 0  | end | zeros  | offset u64, bytes u64 | ... | 4096
//! ```
//! A set counts when the directory names it, which is the last step of writing it: the set is durable by then. So a set that
//! was not written to its end is none, and the next one takes its place. A file that is begun again is written under the
//! name `<file>.new` (or `<file>.1.new` and so on, where that is something else) and renamed: until then the old one stays.
//! Until its directory is written it begins with "PIKEPART", by which a later backup knows what a crash has left.
//!
//! Nothing but a file of backups is ever replaced: a file proper, with one name, that begins as one.
//!
//! Both copies of the directory are written, one after the other: a crash leaves one whole, and so does a damaged byte.

use std::io;
use std::path::PathBuf;

use pikepole_machine::{AlignedBuffer, BLOCK, ConfinedFolder, File, Found, OpenOptions, is_full};
use pikepole_types::SqlError;

use super::set::MediaRow;
use crate::chunk::{ChunkKind, ChunkReader, ChunkWriter, ReadError};

const MAGIC: &[u8; 8] = b"PIKEBACK";
/// The beginning of a file that is being written.
const UNFINISHED: &[u8; 8] = b"PIKEPART";
/// Names that are tried for it.
const NAMES_BESIDE_MAX: usize = 100;
/// Version of the format of backups.
pub(super) const VERSION: u32 = 2;
const ENTRIES_AT: usize = 64;
const ENTRY_BYTES: usize = 16;
/// Sets that a file can hold.
const SETS_MAX: usize = (BLOCK - ENTRIES_AT) / ENTRY_BYTES;
/// Where the first set begins.
const SETS_AT: u64 = 2 * BLOCK as u64;

/// A file to back up to or to restore from.
#[derive(Debug, Clone)]
pub(crate) struct Device {
    pub folder: ConfinedFolder,
    /// Its name in the folder.
    pub file: String,
    /// As the statement names it.
    pub name: String,
    pub direct: bool,
    /// The null device: writes to it are thrown away.
    pub discards: bool,
}

impl Device {
    /// The device as an error for what could not be read from it.
    pub(super) fn not_read(&self, error: &ReadError) -> SqlError {
        SqlError::device_not_read(&self.name, error)
    }

    /// The device as an error for what could not be written to it.
    pub(super) fn not_written(&self, error: &io::Error) -> SqlError {
        let why = if is_full(error) {
            format!("112(There is not enough space on the disk.) {error}")
        } else {
            error.to_string()
        };
        SqlError::device_not_written(&self.name, why)
    }

    fn not_opened(&self, error: &io::Error) -> SqlError {
        let why = match error.kind() {
            io::ErrorKind::NotFound => format!("2(The system cannot find the file specified.): {error}"),
            io::ErrorKind::PermissionDenied => format!("5(Access is denied.): {error}"),
            _ => format!("{}({error})", error.raw_os_error().unwrap_or(-1)),
        };
        SqlError::device_not_opened(&self.name, why)
    }

    /// Its path, to tell files from each other.
    pub fn path(&self) -> PathBuf {
        self.folder.path_of(&self.file)
    }

    fn options(&self, read_only: bool) -> OpenOptions {
        OpenOptions { create: false, direct: self.direct, durable_writes: false, read_only }
    }

    /// Opens the file and reads its directory.
    ///
    /// # Errors
    /// 3201 when it is not there, 3254 when it is empty, 3242 when it is something else, 3243 of another version, 3241 when
    /// its directory is damaged.
    pub(super) fn open(&self) -> Result<Media, SqlError> {
        self.open_media(true)
    }

    fn open_media(&self, read_only: bool) -> Result<Media, SqlError> {
        let file = self.folder.open(&self.file, self.options(read_only)).map_err(|error| self.not_opened(&error))?;
        let io = |error| self.not_read(&ReadError::Io(error));
        let len = file.len().map_err(io)?;
        if len == 0 {
            return Err(SqlError::media_is_empty(&self.name));
        }
        if len < SETS_AT {
            return Err(SqlError::not_a_backup(&self.name));
        }
        let mut copies = AlignedBuffer::zeroed(SETS_AT as usize);
        file.read_at(&mut copies, 0).map_err(io)?;
        let (first, second) = copies.split_at(BLOCK);
        let directory = match (Directory::decode(first), Directory::decode(second)) {
            (Ok(a), Ok(b)) => Ok(if a.sequence >= b.sequence { a } else { b }),
            (Ok(directory), Err(_)) | (Err(_), Ok(directory)) => Ok(directory),
            (Err(first), Err(second)) => Err(first.max(second)),
        };
        let directory = directory.map_err(|bad| match bad {
            Bad::Foreign => SqlError::not_a_backup(&self.name),
            Bad::Damaged => SqlError::media_damaged(&self.name),
            Bad::Version(found) => SqlError::media_version(&self.name, found, VERSION),
        })?;
        if directory.end > len {
            return Err(SqlError::backup_set_incomplete(&self.name));
        }
        Ok(Media { device: self.clone(), file, directory })
    }
}

/// Why a copy of the directory is none. The later one says more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Bad {
    Foreign,
    Damaged,
    Version(u32),
}

/// Where a set lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Place {
    offset: u64,
    bytes: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Directory {
    sequence: u64,
    media_id: u64,
    /// Where the next set goes.
    end: u64,
    sets: Vec<Place>,
}

impl Directory {
    fn encode(&self) -> AlignedBuffer {
        let mut block = AlignedBuffer::zeroed(BLOCK);
        block[..8].copy_from_slice(MAGIC);
        block[12..16].copy_from_slice(&VERSION.to_le_bytes());
        block[16..24].copy_from_slice(&self.sequence.to_le_bytes());
        block[24..32].copy_from_slice(&self.media_id.to_le_bytes());
        block[32..36].copy_from_slice(&(self.sets.len() as u32).to_le_bytes());
        block[40..48].copy_from_slice(&self.end.to_le_bytes());
        for (index, place) in self.sets.iter().enumerate() {
            let at = ENTRIES_AT + ENTRY_BYTES * index;
            block[at..at + 8].copy_from_slice(&place.offset.to_le_bytes());
            block[at + 8..at + 16].copy_from_slice(&place.bytes.to_le_bytes());
        }
        let crc = crc32c::crc32c(&block[12..]);
        block[8..12].copy_from_slice(&crc.to_le_bytes());
        block
    }

    fn decode(block: &[u8]) -> Result<Directory, Bad> {
        let number = |at: usize| u64::from_le_bytes(block[at..at + 8].try_into().expect("eight bytes"));
        let short = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
        if &block[..8] != MAGIC {
            return Err(Bad::Foreign);
        }
        if crc32c::crc32c(&block[12..]) != short(8) {
            return Err(Bad::Damaged);
        }
        if short(12) != VERSION {
            return Err(Bad::Version(short(12)));
        }
        let (sets, end) = (short(32) as usize, number(40));
        if sets > SETS_MAX {
            return Err(Bad::Damaged);
        }
        let places = (0..sets).map(|index| ENTRIES_AT + ENTRY_BYTES * index);
        let sets: Vec<Place> = places.map(|at| Place { offset: number(at), bytes: number(at + 8) }).collect();
        let fits = |place: &Place| {
            place.offset >= SETS_AT
                && place.offset.is_multiple_of(BLOCK as u64)
                && place.offset.checked_add(place.bytes).is_some_and(|behind| behind <= end)
        };
        if !sets.iter().all(fits) {
            return Err(Bad::Damaged);
        }
        Ok(Directory { sequence: number(16), media_id: number(24), end, sets })
    }

    /// Writes both copies, durably, one after the other.
    fn write(&self, file: &File) -> io::Result<()> {
        let block = self.encode();
        file.write_at(&block, 0)?;
        file.sync()?;
        file.write_at(&block, BLOCK as u64)?;
        file.sync()
    }
}

/// A file of backups that is open.
pub(super) struct Media {
    device: Device,
    file: File,
    directory: Directory,
}

impl Media {
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The number of its sets.
    pub fn sets(&self) -> usize {
        self.directory.sets.len()
    }

    /// Drawn when the file was begun.
    pub fn id(&self) -> u64 {
        self.directory.media_id
    }

    /// Bytes of the set of this number, from 1.
    pub fn bytes(&self, position: usize) -> u64 {
        self.directory.sets[position - 1].bytes
    }

    /// The chunks of the set of this number, from 1.
    ///
    /// # Errors
    /// 4038 when there is none.
    pub fn set(&self, position: usize) -> Result<ChunkReader, SqlError> {
        let place = position.checked_sub(1).and_then(|index| self.directory.sets.get(index));
        let place = place.ok_or_else(|| SqlError::backup_file_unknown(position, &self.device.name))?;
        Ok(ChunkReader::new(self.file.clone(), place.offset, place.offset + place.bytes))
    }

    /// The last chunk of the set of this number alone, without the others.
    pub fn tail(&self, position: usize) -> Option<Vec<u8>> {
        let place = self.directory.sets.get(position.checked_sub(1)?)?;
        let mut block = AlignedBuffer::zeroed(BLOCK);
        self.file.read_at(&mut block, (place.offset + place.bytes).checked_sub(BLOCK as u64)?).ok()?;
        let short = |at: usize| u32::from_le_bytes(block[at..at + 4].try_into().expect("four bytes"));
        let whole = crc32c::crc32c(&block[8..]) == short(4) && short(24) == ChunkKind::Tail as u32;
        let end = crate::chunk::CHUNK_HEADER_BYTES + short(28) as usize;
        (whole && end <= BLOCK).then(|| block[crate::chunk::CHUNK_HEADER_BYTES..end].to_vec())
    }
}

/// What becomes of the sets that the file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Begin {
    /// They stay.
    Append,
    /// They go.
    Overwrite,
    /// They go, also when the directory of them is damaged or of another version.
    Format,
}

/// The file behind a device's name as a backup finds it.
enum Former {
    Nothing,
    /// Backups, whose directory cannot be read.
    Damaged,
    Backups(Media),
}

impl Device {
    /// Looks at the file that a backup would write to or replace.
    ///
    /// # Errors
    /// 3201, 3242 and their like for what is not replaced.
    fn former(&self, begin: Begin) -> Result<Former, SqlError> {
        match self.folder.look(&self.file).map_err(|error| self.not_opened(&error))? {
            None => return Ok(Former::Nothing),
            Some(Found::File { has_other_names: false }) => {}
            Some(found) => {
                let why = match found {
                    Found::File { .. } => "the file has another name, too",
                    Found::Other => "it is not a file proper",
                };
                return Err(SqlError::device_not_opened(&self.name, format!("5(Access is denied.): {why}")));
            }
        }
        match self.open_media(begin != Begin::Append) {
            Ok(media) => Ok(Former::Backups(media)),
            Err(error) if begin == Begin::Format && self.is_of_backups(&error) => Ok(Former::Damaged),
            Err(error) => Err(error),
        }
    }

    /// True for the errors of a file that cannot be read but begins as one of backups.
    fn is_of_backups(&self, error: &SqlError) -> bool {
        let damaged =
            [SqlError::media_damaged(""), SqlError::media_version("", 0, 0), SqlError::backup_set_incomplete("")];
        damaged.iter().any(|damaged| damaged.number == error.number)
    }

    /// Makes a file beside the device's. One that an interrupted backup has left makes room for it.
    ///
    /// # Errors
    /// 3201; 3202.
    fn create_beside(&self) -> Result<(String, File), SqlError> {
        let numbered = (1..NAMES_BESIDE_MAX).map(|number| format!("{}.{number}.new", self.file));
        for name in std::iter::once(format!("{}.new", self.file)).chain(numbered) {
            if self.is_unfinished(&name) {
                self.folder.remove(&name).map_err(|error| self.not_opened(&error))?;
            }
            let file = match self.folder.create_new(&name, self.options(false)) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file.map_err(|error| self.not_opened(&error))?,
            };
            let mut mark = AlignedBuffer::zeroed(BLOCK);
            mark[..8].copy_from_slice(UNFINISHED);
            file.write_at(&mark, 0).and_then(|()| file.sync()).map_err(|error| self.not_written(&error))?;
            return Ok((name, file));
        }
        let why = format!("80(The file exists.): {}.new and its like", self.name);
        Err(SqlError::device_not_opened(&self.name, why))
    }

    fn is_unfinished(&self, name: &str) -> bool {
        let Ok(Some(Found::File { has_other_names: false })) = self.folder.look(name) else { return false };
        let Ok(file) = self.folder.open(name, self.options(true)) else { return false };
        let mut block = AlignedBuffer::zeroed(BLOCK);
        file.read_at(&mut block, 0).is_ok() && &block[..8] == UNFINISHED
    }
}

/// A set that is being written. Dropped before [`SetWriter::commit`] is done, it leaves the file as it was.
pub(super) struct SetWriter {
    device: Device,
    /// The name of the file beside the device's that it is written to, if it is not written to that.
    beside: Option<String>,
    /// The device's file is replaced.
    replaces: bool,
    file: File,
    directory: Directory,
    start: u64,
    chunks: ChunkWriter,
    /// The set is whole, and a directory may name it.
    named: bool,
    /// The file beside has the device's name.
    renamed: bool,
}

impl SetWriter {
    /// Begins a set.
    ///
    /// # Errors
    /// 3201 when the file cannot be made; 3242 and its like when it is none of backups; 3246 when it holds as many sets as
    /// it can.
    pub fn begin(device: &Device, begin: Begin, set_id: u64, compresses: bool) -> Result<SetWriter, SqlError> {
        let former = device.former(begin)?;
        let replaces = !matches!(former, Former::Nothing);
        let (beside, directory, file) = match former {
            Former::Backups(media) if begin == Begin::Append => {
                if media.sets() >= SETS_MAX {
                    return Err(SqlError::media_is_full(&device.name));
                }
                (None, media.directory, media.file)
            }
            _ => {
                let (beside, file) = device.create_beside()?;
                (Some(beside), Directory { sequence: 0, media_id: set_id, end: SETS_AT, sets: Vec::new() }, file)
            }
        };
        let start = directory.end;
        let mut chunks = ChunkWriter::new(file.clone(), start, set_id);
        if compresses {
            chunks.compress();
        }
        let writer = SetWriter {
            device: device.clone(),
            beside,
            replaces,
            file,
            directory,
            start,
            chunks,
            named: false,
            renamed: false,
        };
        if writer.beside.is_some() && replaces {
            let kept = device.folder.adopt_mode(&device.file, &writer.file);
            kept.map_err(|error| device.not_opened(&error))?;
        }
        Ok(writer)
    }

    /// Adds a chunk.
    ///
    /// # Errors
    /// 3202.
    pub fn add(&mut self, kind: ChunkKind, fields: [u64; 3], payload: &[u8]) -> Result<(), SqlError> {
        self.chunks.add(kind, fields, payload).map_err(|error| self.device.not_written(&error))
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.chunks.position() - self.start
    }

    /// Bytes so far, if nothing were deflated.
    pub fn plain_bytes(&self) -> u64 {
        self.chunks.plain_bytes()
    }

    /// Makes the set one of the file's, durably. Returns its bytes, and the file with it as the last set.
    ///
    /// # Errors
    /// 3202.
    pub fn commit(mut self) -> Result<(u64, MediaRow), SqlError> {
        self.commit_file().map_err(|error| self.device.not_written(&error))?;
        let bytes = self.directory.sets.last().map_or(0, |place| place.bytes);
        Ok((bytes, MediaRow { media_id: self.directory.media_id, sets: self.directory.sets.len() }))
    }

    fn commit_file(&mut self) -> io::Result<()> {
        let end = self.chunks.finish()?;
        self.directory.sets.push(Place { offset: self.start, bytes: end - self.start });
        self.directory.end = end;
        self.directory.sequence += 1;
        self.named = true;
        self.directory.write(&self.file)?;
        let (folder, name) = (&self.device.folder, &self.device.file);
        match &self.beside {
            Some(beside) if self.replaces => folder.rename(beside, name)?,
            Some(beside) => folder.rename_new(beside, name)?,
            None => {}
        }
        self.renamed = true;
        folder.sync()
    }
}

impl Drop for SetWriter {
    fn drop(&mut self) {
        // No directory names what was written, or the file has no name yet: what cannot be cleared away does no harm.
        match &self.beside {
            Some(beside) if !self.renamed => drop(self.device.folder.remove(beside)),
            None if !self.named => drop(self.file.set_len(self.start)),
            _ => {}
        }
    }
}

/// Empty sets, for tests of where they go.
#[cfg(test)]
pub(crate) struct SetWriterForTests;

#[cfg(test)]
impl SetWriterForTests {
    pub fn write(device: &Device, format: bool) -> Result<(), SqlError> {
        let begin = if format { Begin::Format } else { Begin::Overwrite };
        let mut writer = SetWriter::begin(device, begin, 7, false)?;
        writer.add(ChunkKind::Tail, [0; 3], b"{}")?;
        writer.commit().map(drop)
    }

    pub fn open(device: &Device) -> Result<(), i32> {
        device.open().map(drop).map_err(|error| error.number)
    }
}

/// A device of a test's server.
#[cfg(test)]
pub(crate) fn device_of_test(disk: &pikepole_machine::SimulatedDisk, file: &str) -> Result<Device, SqlError> {
    let disk = pikepole_machine::Disk::simulated(disk.clone());
    let options = crate::server::ServerOptions { disk, ..crate::server::ServerOptions::new("/server") };
    crate::server::StatementFolders::new(&options).backup(file, false)
}
