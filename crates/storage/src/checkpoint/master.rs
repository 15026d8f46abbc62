//! The master: where recovery begins.
//!
//! ```text
//!   file `master`:  copy 0 at 0, copy 1 at 4096; the valid one of the higher sequence counts
//!   0            8         12      16         24          32        40         48          56     60     64      68
//!   | "PIKEMSTR" | version | flags | sequence | checkpoint| redo    | recovery | next xid  |pages | 0    | crc32c |
//!   68           72        80         88       96       104           112   120      128
//!   | crc32c     | segment | offset   | block  | its lsn | incarnation | end | sequence |
//! ```
//! Written alternately, durably, so that a torn write of one copy leaves the other. What stands from 68 on only spares
//! reading: where in the log the checkpoint's record is. Without it, or with a checksum that does not fit, opening reads more.

use std::path::Path;

use pikepole_log::{Lsn, OpenFrom, Place};
use pikepole_machine::{BLOCK, Disk, File};

use crate::error::StorageError;
use crate::page::{get_u32, get_u64};
use crate::store::MASTER_FILE;

/// Version of the format of all files of a store.
pub const FORMAT_VERSION: u32 = 2;
/// Version of a store that was closed in order: then the double-write area, which alone has another format since, holds nothing
/// that counts. Builds that know no other version open such a store, and refuse the one whose torn pages they cannot rebuild.
const FORMAT_VERSION_CLEAN: u32 = 1;

const MAGIC: &[u8; 8] = b"PIKEMSTR";
const BYTES: usize = 68;
/// Bytes with the part that spares reading.
const BYTES_ALL: usize = 128;
const FLAG_CLEAN: u32 = 1;
const FLAG_PATCHED: u32 = 2;
const FLAG_STAMPS: u32 = 4;

/// Where recovery begins, as the last checkpoint left it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Master {
    /// Counts the masters written.
    pub sequence: u64,
    /// Start of the checkpoint's record.
    pub checkpoint_lsn: Lsn,
    /// Every change logged below is on disk: redo begins here.
    pub redo_lsn: Lsn,
    /// The log is needed from here on: the redo start, or the first record of the oldest transaction open then.
    pub recovery_lsn: Lsn,
    /// No transaction id from here on was dealt before the checkpoint.
    pub next_transaction: u64,
    /// Pages of the data file then; a shorter file was cut off.
    pub pages: u32,
    /// The database was closed in order: the log holds nothing to redo or undo.
    pub clean: bool,
    /// Pages that are newer than the redo start, and whose rows the log does not have, were put in from log backups:
    /// redo looks at what the disk has of a page before it makes it anew. Until the first checkpoint.
    pub patched: bool,
    /// The file `stamps` holds how each page was last written. Programs that do not know it write masters without.
    pub stamps: bool,
    /// End of the checkpoint's record; 0: not known.
    pub end_lsn: Lsn,
    /// Where the log was right before the checkpoint's record.
    pub place: Option<Place>,
}

impl Master {
    pub(crate) fn first(lsn: Lsn) -> Master {
        Master {
            sequence: 0,
            checkpoint_lsn: lsn,
            redo_lsn: lsn,
            recovery_lsn: lsn,
            next_transaction: 1,
            pages: 0,
            clean: false,
            patched: false,
            stamps: false,
            end_lsn: Lsn(0),
            place: None,
        }
    }

    /// What to open the log with.
    pub fn log_from(&self) -> OpenFrom {
        let closed_at = (self.clean && self.end_lsn.0 != 0).then_some(self.end_lsn);
        OpenFrom { start: self.recovery_lsn, place: self.place, closed_at }
    }

    fn encode(&self) -> [u8; BYTES_ALL] {
        let mut bytes = [0; BYTES_ALL];
        bytes[..8].copy_from_slice(MAGIC);
        let version = if self.clean { FORMAT_VERSION_CLEAN } else { FORMAT_VERSION };
        bytes[8..12].copy_from_slice(&version.to_le_bytes());
        let flags = [(self.clean, FLAG_CLEAN), (self.patched, FLAG_PATCHED), (self.stamps, FLAG_STAMPS)];
        let flags = flags.into_iter().fold(0, |flags, (is, flag)| flags | (u32::from(is) * flag));
        bytes[12..16].copy_from_slice(&flags.to_le_bytes());
        let numbers =
            [self.sequence, self.checkpoint_lsn.0, self.redo_lsn.0, self.recovery_lsn.0, self.next_transaction];
        for (index, number) in numbers.into_iter().enumerate() {
            bytes[16 + 8 * index..24 + 8 * index].copy_from_slice(&number.to_le_bytes());
        }
        bytes[56..60].copy_from_slice(&self.pages.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..64]);
        bytes[64..68].copy_from_slice(&crc.to_le_bytes());
        if let Some(place) = self.place {
            let numbers = [
                place.segment,
                place.offset,
                place.block,
                place.lsn.0,
                place.incarnation,
                self.end_lsn.0,
                self.sequence,
            ];
            for (index, number) in numbers.into_iter().enumerate() {
                bytes[72 + 8 * index..80 + 8 * index].copy_from_slice(&number.to_le_bytes());
            }
            let crc = crc32c::crc32c(&bytes[72..]);
            bytes[68..72].copy_from_slice(&crc.to_le_bytes());
        }
        bytes
    }

    /// Where the log was, and the end of the checkpoint's record, if the master says so.
    fn decode_place(bytes: &[u8], sequence: u64) -> Option<(Place, Lsn)> {
        let bytes = bytes.get(..BYTES_ALL)?;
        let fits = crc32c::crc32c(&bytes[72..]) == get_u32(bytes, 68) && get_u64(bytes, 120) == sequence;
        fits.then(|| {
            let place = Place {
                segment: get_u64(bytes, 72),
                offset: get_u64(bytes, 80),
                block: get_u64(bytes, 88),
                lsn: Lsn(get_u64(bytes, 96)),
                incarnation: get_u64(bytes, 104),
            };
            (place, Lsn(get_u64(bytes, 112)))
        })
    }

    fn decode(bytes: &[u8]) -> Result<Master, String> {
        if bytes.len() < BYTES || &bytes[..8] != MAGIC {
            return Err("it is not a master".into());
        }
        if crc32c::crc32c(&bytes[..64]) != get_u32(bytes, 64) {
            return Err("its checksum does not match".into());
        }
        let version = get_u32(bytes, 8);
        if !(FORMAT_VERSION_CLEAN..=FORMAT_VERSION).contains(&version) {
            let known = format!("{FORMAT_VERSION_CLEAN} and {FORMAT_VERSION}");
            return Err(format!("format version {version}; this program knows {known}"));
        }
        let lsn = |at| Lsn(get_u64(bytes, at));
        let sequence = get_u64(bytes, 16);
        let (place, end_lsn) = Self::decode_place(bytes, sequence).unzip();
        Ok(Master {
            place,
            end_lsn: end_lsn.unwrap_or(Lsn(0)),
            clean: get_u32(bytes, 12) & FLAG_CLEAN != 0,
            patched: get_u32(bytes, 12) & FLAG_PATCHED != 0,
            stamps: get_u32(bytes, 12) & FLAG_STAMPS != 0,
            sequence,
            checkpoint_lsn: lsn(24),
            redo_lsn: lsn(32),
            recovery_lsn: lsn(40),
            next_transaction: get_u64(bytes, 48),
            pages: get_u32(bytes, 56),
        })
    }

    pub(crate) fn read(disk: &Disk, folder: &Path) -> Result<Master, StorageError> {
        let path = folder.join(MASTER_FILE);
        if !disk.exists(&path) {
            return Err(StorageError::bad_file(MASTER_FILE, "it is missing"));
        }
        let bytes = disk.read(&path).map_err(|error| StorageError::io("reading the master", error))?;
        let copies = [0, BLOCK].map(|at| Master::decode(bytes.get(at..).unwrap_or_default()));
        match copies {
            [Ok(a), Ok(b)] => Ok(if a.sequence > b.sequence { a } else { b }),
            [Ok(master), Err(_)] | [Err(_), Ok(master)] => Ok(master),
            [Err(why), Err(_)] => Err(StorageError::bad_file(MASTER_FILE, why)),
        }
    }

    pub(crate) fn write(&self, file: &File) -> std::io::Result<()> {
        let mut block = [0; BLOCK];
        block[..BYTES_ALL].copy_from_slice(&self.encode());
        file.write_durable_at(&block, (self.sequence % 2) * BLOCK as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_machine::{OpenOptions, SimulatedDisk};

    #[test]
    fn the_last_whole_copy_counts() {
        let simulated = SimulatedDisk::new(1);
        let disk = Disk::simulated(simulated.clone());
        let folder = Path::new("/data");
        disk.create_dir_all(folder).expect("a folder");
        assert!(matches!(Master::read(&disk, folder), Err(StorageError::BadFile { .. })));
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        let file = disk.open(folder.join(MASTER_FILE), options).expect("a file");
        let mut master = Master::first(Lsn(7));
        for sequence in 1..=4 {
            let place = Place { segment: 1, offset: 2, block: 3, incarnation: 4, lsn: Lsn(sequence) };
            let place = Some(place).filter(|_| sequence > 1);
            let end_lsn = Lsn(if sequence > 1 { 9 } else { 0 });
            let (patched, stamps) = (sequence == 3, sequence > 2);
            let redo_lsn = Lsn(100 * sequence);
            master = Master { sequence, redo_lsn, pages: 9, clean: true, patched, stamps, end_lsn, place, ..master };
            master.write(&file).expect("written");
            assert_eq!(Master::read(&disk, folder).expect("read"), master);
        }
        // Damage behind the part that counts costs no more than reading.
        simulated.flip_bit(folder.join(MASTER_FILE), 80).expect("a bit");
        let less = Master::read(&disk, folder).expect("read");
        assert_eq!(less, Master { place: None, end_lsn: Lsn(0), ..master });
        assert_eq!(less.log_from(), Lsn(7).into());
        simulated.flip_bit(folder.join(MASTER_FILE), 33).expect("a bit");
        assert_eq!(Master::read(&disk, folder).expect("the other copy").sequence, 3);
        simulated.flip_bit(folder.join(MASTER_FILE), BLOCK as u64 + 12).expect("a bit");
        assert!(matches!(Master::read(&disk, folder), Err(StorageError::BadFile { .. })));
    }
}
