//! The bytes of a file at one moment.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::BLOCK;

/// The longest file: far beyond what tests write, far from where offsets overflow.
pub(super) const FILE_BYTES_MAX: u64 = 1 << 44;

/// Bytes to be written, shared by all who hold them; long runs of zeros take no memory.
#[derive(Clone, Debug)]
pub(super) struct Content {
    /// `None` for zeros.
    bytes: Option<Arc<[u8]>>,
    /// The part of `bytes` that is meant.
    part: Range<usize>,
}

impl Content {
    pub(super) fn new(bytes: &[u8]) -> Self {
        let zeros = bytes.len() >= BLOCK && bytes.iter().all(|byte| *byte == 0);
        let part = 0..bytes.len();
        Self { bytes: (!zeros).then(|| bytes.into()), part }
    }

    pub(super) fn len(&self) -> u64 {
        self.part.len() as u64
    }

    /// The bytes from `part.start` to `part.end` of these.
    pub(super) fn slice(&self, part: Range<u64>) -> Self {
        assert!(part.start <= part.end && part.end <= self.len(), "a slice lies within");
        let start = self.part.start;
        Self { bytes: self.bytes.clone(), part: start + part.start as usize..start + part.end as usize }
    }

    /// `None` for zeros.
    fn bytes(&self) -> Option<&[u8]> {
        self.bytes.as_ref().map(|bytes| &bytes[self.part.clone()])
    }
}

/// A block that has space on the disk.
#[derive(Clone, Debug)]
enum Block {
    Zeros,
    Data(Arc<[u8; BLOCK]>),
}

/// The bytes of a file: sparse, and cheap to clone since blocks are shared until written.
///
/// Invariant: bytes at and above `len` are zero, so that growing shows zeros.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    len: u64,
    /// Blocks by their number; a missing one reads as zeros and takes no space.
    blocks: BTreeMap<u64, Block>,
}

impl Image {
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Bytes of space taken.
    pub(super) fn allocated(&self) -> u64 {
        (self.blocks.len() * BLOCK) as u64
    }

    /// Fills `buffer` from `offset` on; what lies behind the end reads as zeros.
    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) {
        for (block, inside, part) in by_block(offset, buffer.len() as u64) {
            let target = &mut buffer[part.start as usize..part.end as usize];
            match self.blocks.get(&block) {
                Some(Block::Data(data)) => target.copy_from_slice(&data[inside]),
                Some(Block::Zeros) | None => target.fill(0),
            }
        }
    }

    /// Writes `content` at `offset` and extends the file to its end.
    pub(super) fn write(&mut self, offset: u64, content: &Content) {
        assert!(offset + content.len() <= FILE_BYTES_MAX, "the caller refuses files so long");
        for (number, inside, part) in by_block(offset, content.len()) {
            let block = self.blocks.entry(number).or_insert(Block::Zeros);
            let whole = inside.len() == BLOCK;
            match (content.bytes(), &mut *block) {
                (None, Block::Zeros) => {}
                (None, Block::Data(_)) if whole => *block = Block::Zeros,
                (None, Block::Data(data)) => Arc::make_mut(data)[inside].fill(0),
                (Some(bytes), Block::Data(data)) => {
                    let bytes = &bytes[part.start as usize..part.end as usize];
                    Arc::make_mut(data)[inside].copy_from_slice(bytes);
                }
                (Some(bytes), Block::Zeros) => {
                    let mut data = [0; BLOCK];
                    data[inside].copy_from_slice(&bytes[part.start as usize..part.end as usize]);
                    *block = Block::Data(Arc::new(data));
                }
            }
        }
        self.len = self.len.max(offset + content.len());
    }

    /// Cuts or extends the file.
    pub(super) fn set_len(&mut self, len: u64) {
        assert!(len <= FILE_BYTES_MAX, "the caller refuses files so long");
        if len < self.len {
            let block = BLOCK as u64;
            drop(self.blocks.split_off(&len.div_ceil(block)));
            let inside = (len % block) as usize;
            if inside > 0
                && let Some(Block::Data(data)) = self.blocks.get_mut(&(len / block))
            {
                Arc::make_mut(data)[inside..].fill(0);
            }
        }
        self.len = len;
    }

    /// Gives every block of the range space, keeping content and length.
    pub(super) fn allocate(&mut self, range: Range<u64>) {
        for (block, ..) in by_block(range.start, range.end - range.start) {
            self.blocks.entry(block).or_insert(Block::Zeros);
        }
    }

    /// How many bytes from `offset` on, up to `len`, can be written when `free` bytes of space are left.
    pub(super) fn writable(&self, offset: u64, len: u64, free: u64) -> u64 {
        let mut blocks_left = free / BLOCK as u64;
        for (block, _, part) in by_block(offset, len) {
            if !self.blocks.contains_key(&block) {
                if blocks_left == 0 {
                    return part.start;
                }
                blocks_left -= 1;
            }
        }
        len
    }

    /// Turns over the lowest bit of one byte, which lies within the file.
    pub(super) fn flip_bit(&mut self, offset: u64) {
        let mut byte = [0];
        self.read(offset, &mut byte);
        byte[0] ^= 1;
        self.write(offset, &Content::new(&byte));
    }
}

/// Cuts `len` bytes from `offset` on at block borders: the block's number, the range inside it, and the range of the
/// `len` bytes.
fn by_block(offset: u64, len: u64) -> impl Iterator<Item = (u64, Range<usize>, Range<u64>)> {
    let block = BLOCK as u64;
    let end = offset + len;
    let mut position = offset;
    std::iter::from_fn(move || {
        if position >= end {
            return None;
        }
        let next = end.min((position / block + 1) * block);
        let start = (position % block) as usize;
        let inside = start..start + (next - position) as usize;
        let item = (position / block, inside, position - offset..next - offset);
        position = next;
        Some(item)
    })
}
