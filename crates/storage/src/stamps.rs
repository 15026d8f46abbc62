//! The stamps of pages: how each was last written, so that a write that the disk has lost is seen.
//!
//! ```text
//!   a page is written  --> stamp = (its lsn, its checksum)      in memory
//!   a checkpoint       --> pages synced --> blocks of changed stamps written and synced --> master (flag "stamps")
//!   a page is read     --> compared with its stamp
//!
//!   file `stamps`: block n, of pages 336 n to 336 n + 335, twice: at 8192 n and 8192 n + 4096, written in turn
//!   0      4       8       12  16         24          64
//!   | crc  | "PKST"| block | 0 | sequence | zeros     | lsn u64, checksum u32 | ... 336 times    | 4096
//! ```
//! A valid checksum says that a page is whole, not that it is the newest one. What a read finds, against the stamp:
//!
//! | lsn of the page | means |
//! |---|---|
//! | equal, and so is the checksum | the page as it was last written |
//! | equal, another checksum | an older one, of the same record: rows that were not logged came later |
//! | lower | an older one: a write was lost |
//! | higher, above the redo start that the store was opened with | written after the last checkpoint, before a crash |
//! | higher, below that redo start | the stamp is the older one: a write of this file was lost |
//! | any, no stamp | a page that this file has not met yet |
//! | above the end of the log | the log, or the master, is older than the page |
//!
//! # Invariants
//! - a stamp on disk is never newer than what is durable of its page: it is written behind a sync of the pages. So an older
//!   page is damage, also after a crash, where redo needs the page as the checkpoint left it, or newer;
//! - a stamp in memory is that of the last write that succeeded, or of the last read: a write that failed leaves its page in
//!   the pool;
//! - a block is written over the older of its copies: a torn write leaves the other, which the last master was written with;
//! - the file counts only if the master says so. A program that does not know it writes masters that do not.

use std::collections::{BTreeSet, HashMap};

use pikepole_log::Lsn;
use pikepole_machine::File;

use crate::error::PageId;
use crate::page::{Page, get_u32, get_u64};

/// Bytes of a block.
const BLOCK_BYTES: usize = 4096;
const BLOCK_HEADER_BYTES: usize = 64;
const STAMP_BYTES: usize = 12;
/// Stamps of a block.
pub(crate) const BLOCK_STAMPS: u32 = ((BLOCK_BYTES - BLOCK_HEADER_BYTES) / STAMP_BYTES) as u32;
const MAGIC: &[u8; 4] = b"PKST";
/// Fewest blocks that may stay in memory: 4 MB, for 2.7 GB of pages.
const BLOCKS_MIN: usize = 1024;

/// How a page was last written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    /// 0: not known.
    lsn: u64,
    crc: u32,
}

impl Stamp {
    fn of(page: Page<'_>) -> Stamp {
        Stamp { lsn: page.lsn(), crc: page.stored_crc() }
    }
}

/// A block in memory, as it is on disk but for its checksum.
struct Block {
    bytes: Box<[u8; BLOCK_BYTES]>,
    /// The sequence of the last write that succeeded.
    sequence: u64,
}

impl Block {
    fn new(number: u32) -> Block {
        let mut bytes = Box::new([0; BLOCK_BYTES]);
        bytes[4..8].copy_from_slice(MAGIC);
        bytes[8..12].copy_from_slice(&number.to_le_bytes());
        Block { bytes, sequence: 0 }
    }

    fn at(page: PageId) -> usize {
        BLOCK_HEADER_BYTES + STAMP_BYTES * (page.0 % BLOCK_STAMPS) as usize
    }

    fn stamp(&self, page: PageId) -> Stamp {
        let at = Block::at(page);
        Stamp { lsn: get_u64(&self.bytes[..], at), crc: get_u32(&self.bytes[..], at + 8) }
    }

    fn set(&mut self, page: PageId, stamp: Stamp) {
        let at = Block::at(page);
        self.bytes[at..at + 8].copy_from_slice(&stamp.lsn.to_le_bytes());
        self.bytes[at + 8..at + 12].copy_from_slice(&stamp.crc.to_le_bytes());
    }

    /// Seals the block for its next write, which goes to the copy that is returned.
    fn seal(&mut self) -> u64 {
        let sequence = self.sequence + 1;
        self.bytes[16..24].copy_from_slice(&sequence.to_le_bytes());
        let crc = crc32c::crc32c(&self.bytes[4..]);
        self.bytes[..4].copy_from_slice(&crc.to_le_bytes());
        sequence % 2
    }

    /// One copy as it was read, if it is whole.
    fn decode(copy: &[u8], number: u32) -> Option<Block> {
        let bytes: Box<[u8; BLOCK_BYTES]> = Box::new(copy.try_into().ok()?);
        let whole = crc32c::crc32c(&bytes[4..]) == get_u32(&bytes[..], 0);
        let own = bytes[4..8] == *MAGIC && get_u32(&bytes[..], 8) == number;
        let sequence = get_u64(&bytes[..], 16);
        (whole && own).then_some(Block { bytes, sequence })
    }
}

/// A page that was read, compared with its stamp.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Verdict {
    /// As far as is known, what was last written.
    Current,
    /// An older one, and why it is taken for that.
    Stale(String),
    /// The page is right, its stamp is older than it: why.
    StampLost(String),
}

/// See the module.
pub(crate) struct Stamps {
    file: File,
    blocks: HashMap<u32, Block>,
    /// Blocks with stamps that the file lacks.
    unsaved: BTreeSet<u32>,
    /// Blocks that may stay in memory, but for unsaved ones.
    blocks_max: usize,
    /// Pages at or below this lsn have the stamps of the checkpoint that the store was opened with.
    opened_redo_lsn: u64,
    /// The file's content counts; otherwise it is begun again.
    counts: bool,
    /// A write could not be noted, so that the file does not count any more.
    incomplete: bool,
}

/// Blocks that are kept beside a pool of so many bytes.
fn blocks_max(pool_bytes: usize) -> usize {
    (pool_bytes / 16 / BLOCK_BYTES).max(BLOCKS_MIN)
}

impl Stamps {
    /// The stamps in `file`, which count if the master that the store is opened with `says` so.
    pub fn new(file: File, says: bool, opened_redo_lsn: Lsn, pool_bytes: usize) -> Stamps {
        let opened_redo_lsn = opened_redo_lsn.0;
        let (blocks, unsaved) = (HashMap::new(), BTreeSet::new());
        let blocks_max = blocks_max(pool_bytes);
        Stamps { file, blocks, unsaved, blocks_max, opened_redo_lsn, counts: says, incomplete: false }
    }

    /// Takes the size that suits a pool of so many bytes; blocks beyond it that are on disk leave.
    pub fn fit(&mut self, pool_bytes: usize) {
        self.blocks_max = blocks_max(pool_bytes);
        self.forget(self.blocks.len().saturating_sub(self.blocks_max));
    }

    /// Forgets what a program left in the file that does not know it.
    fn begin(&mut self) -> std::io::Result<()> {
        if !self.counts {
            self.file.set_len(0)?;
            self.counts = true;
        }
        Ok(())
    }

    /// Takes the space that the stamps of so many pages need, so that a checkpoint can write them on a full disk.
    ///
    /// # Errors
    /// No room.
    pub fn allocate(&mut self, pages: u32) -> std::io::Result<()> {
        self.begin()?;
        let bytes = u64::from(pages.div_ceil(BLOCK_STAMPS)) * 2 * BLOCK_BYTES as u64;
        if self.file.len()? >= bytes {
            return Ok(());
        }
        self.file.allocate(0, bytes)?;
        if self.file.len()? < bytes { self.file.set_len(bytes) } else { Ok(()) }
    }

    /// Notes how a page was written. When the file cannot be read, it does not count any more.
    pub fn written(&mut self, id: PageId, page: Page<'_>) {
        match self.block(id) {
            Ok(block) => {
                block.set(id, Stamp::of(page));
                self.unsaved.insert(id.0 / BLOCK_STAMPS);
            }
            Err(_) => self.incomplete = true,
        }
    }

    /// Whether a page is what was last written, or read, as far as that can be told.
    pub fn is_last(&mut self, id: PageId, page: Page<'_>) -> bool {
        self.block(id).is_ok_and(|block| block.stamp(id) == Stamp::of(page))
    }

    /// Compares a page that was read, and found whole, with its stamp. A newer page is noted, so that no older one is
    /// taken for it later.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn judge(&mut self, id: PageId, page: Page<'_>) -> std::io::Result<Verdict> {
        let opened_redo_lsn = self.opened_redo_lsn;
        let block = self.block(id)?;
        let (stamp, found) = (block.stamp(id), Stamp::of(page));
        if found == stamp {
            return Ok(Verdict::Current);
        }
        if found.lsn < stamp.lsn {
            let (found, written) = (Lsn(found.lsn).in_parts(), Lsn(stamp.lsn).in_parts());
            return Ok(Verdict::Stale(format!(
                "stale page (a page read returned a log sequence number (LSN) ({found}) that is older than the last one \
                 that was written ({written}))"
            )));
        }
        if found.lsn == stamp.lsn {
            let lsn = Lsn(found.lsn).in_parts();
            return Ok(Verdict::Stale(format!(
                "stale page (a page read returned the log sequence number (LSN) ({lsn}) that was last written, but not \
                 the checksum)"
            )));
        }
        block.set(id, found);
        self.unsaved.insert(id.0 / BLOCK_STAMPS);
        if stamp.lsn != 0 && found.lsn <= opened_redo_lsn {
            let (found, noted) = (Lsn(found.lsn).in_parts(), Lsn(stamp.lsn).in_parts());
            return Ok(Verdict::StampLost(format!(
                "its last write, with LSN ({found}), is not among the stamps, which have an older one ({noted}): a write \
                 of the file of stamps was lost"
            )));
        }
        Ok(Verdict::Current)
    }

    /// Writes what the file lacks, durably; the caller has made all pages written so far durable. Returns whether the file
    /// counts: a checkpoint goes on without it, and says so in its master.
    pub fn save(&mut self) -> bool {
        if self.incomplete || self.save_unsaved().is_err() {
            return false;
        }
        for number in std::mem::take(&mut self.unsaved) {
            if let Some(block) = self.blocks.get_mut(&number) {
                block.sequence += 1;
            }
        }
        true
    }

    fn save_unsaved(&mut self) -> std::io::Result<()> {
        self.begin()?;
        for number in &self.unsaved {
            let Some(block) = self.blocks.get_mut(number) else { continue };
            let copy = block.seal();
            self.file.write_at(&block.bytes[..], (u64::from(*number) * 2 + copy) * BLOCK_BYTES as u64)?;
        }
        if self.unsaved.is_empty() { Ok(()) } else { self.file.sync() }
    }

    /// How many blocks the file lacks.
    pub fn unsaved(&self) -> usize {
        self.unsaved.len()
    }

    fn block(&mut self, page: PageId) -> std::io::Result<&mut Block> {
        let number = page.0 / BLOCK_STAMPS;
        if !self.blocks.contains_key(&number) {
            self.forget_some();
            let block = if self.counts { self.read(number)? } else { Block::new(number) };
            self.blocks.insert(number, block);
        }
        Ok(self.blocks.entry(number).or_insert_with(|| Block::new(number)))
    }

    /// Makes room for one more block, if there are too many.
    fn forget_some(&mut self) {
        if self.blocks.len() >= self.blocks_max {
            self.forget(self.blocks_max / 8);
        }
    }

    /// Drops so many blocks that are on disk, or as many as there are.
    fn forget(&mut self, count: usize) {
        let saved = self.blocks.keys().filter(|number| !self.unsaved.contains(number));
        let out: Vec<u32> = saved.copied().take(count).collect();
        for number in out {
            self.blocks.remove(&number);
        }
    }

    /// The newer copy of a block that is whole; an empty block where there is none.
    fn read(&self, number: u32) -> std::io::Result<Block> {
        let mut copies = [0; 2 * BLOCK_BYTES];
        let at = u64::from(number) * copies.len() as u64;
        if at + copies.len() as u64 > self.file.len()? {
            return Ok(Block::new(number));
        }
        self.file.read_at(&mut copies, at)?;
        let whole = copies.chunks_exact(BLOCK_BYTES).filter_map(|copy| Block::decode(copy, number));
        Ok(whole.max_by_key(|block| block.sequence).unwrap_or_else(|| Block::new(number)))
    }
}
