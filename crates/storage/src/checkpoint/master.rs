//! The master: where recovery begins.
//!
//! ```text
//!   file `master`:  copy 0 at 0, copy 1 at 4096; the valid one of the higher sequence counts
//!   0            8         12      16         24          32        40         48          56     60     64      68
//!   | "PIKEMSTR" | version | flags | sequence | checkpoint| redo    | recovery | next xid  |pages | 0    | crc32c |
//! ```
//! Written alternately, durably, so that a torn write of one copy leaves the other.

use std::path::Path;

use pikepole_log::Lsn;
use pikepole_machine::{BLOCK, Disk, File};

use crate::error::StorageError;
use crate::page::{get_u32, get_u64};
use crate::store::MASTER_FILE;

/// Version of the format of all files of a store.
pub const FORMAT_VERSION: u32 = 1;

const MAGIC: &[u8; 8] = b"PIKEMSTR";
const BYTES: usize = 68;
const FLAG_CLEAN: u32 = 1;

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
        }
    }

    fn encode(&self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes[..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&FORMAT_VERSION.to_le_bytes());
        bytes[12..16].copy_from_slice(&(u32::from(self.clean) * FLAG_CLEAN).to_le_bytes());
        let numbers =
            [self.sequence, self.checkpoint_lsn.0, self.redo_lsn.0, self.recovery_lsn.0, self.next_transaction];
        for (index, number) in numbers.into_iter().enumerate() {
            bytes[16 + 8 * index..24 + 8 * index].copy_from_slice(&number.to_le_bytes());
        }
        bytes[56..60].copy_from_slice(&self.pages.to_le_bytes());
        let crc = crc32c::crc32c(&bytes[..64]);
        bytes[64..].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Master, String> {
        if bytes.len() < BYTES || &bytes[..8] != MAGIC {
            return Err("it is not a master".into());
        }
        if crc32c::crc32c(&bytes[..64]) != get_u32(bytes, 64) {
            return Err("its checksum does not match".into());
        }
        let version = get_u32(bytes, 8);
        if version != FORMAT_VERSION {
            return Err(format!("format version {version}; this program knows {FORMAT_VERSION}"));
        }
        let lsn = |at| Lsn(get_u64(bytes, at));
        Ok(Master {
            clean: get_u32(bytes, 12) & FLAG_CLEAN != 0,
            sequence: get_u64(bytes, 16),
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
        block[..BYTES].copy_from_slice(&self.encode());
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
            master = Master { sequence, redo_lsn: Lsn(100 * sequence), pages: 9, clean: true, ..master };
            master.write(&file).expect("written");
            assert_eq!(Master::read(&disk, folder).expect("read"), master);
        }
        simulated.flip_bit(folder.join(MASTER_FILE), 33).expect("a bit");
        assert_eq!(Master::read(&disk, folder).expect("the other copy").sequence, 3);
        simulated.flip_bit(folder.join(MASTER_FILE), BLOCK as u64 + 12).expect("a bit");
        assert!(matches!(Master::read(&disk, folder), Err(StorageError::BadFile { .. })));
    }
}
