//! The bytes of a log on disk.
//!
//! A log is a folder of segment files. A segment is a header block, then log blocks, each a multiple of 4096 bytes:
//!
//! ```text
//!  segment-00000001                                        segment-00000002
//!  +----------------+---------+--------------+-----------+ +----------------+---------+--
//!  | segment header | block 7 | block 8      | .. 30     | | segment header | block 31| ..
//!  | 4096 bytes     | n*4096  | n*4096       |           | | sequence + 1   |         |
//!  +----------------+---------+--------------+-----------+ +----------------+---------+--
//!                    \
//!                     +--------------+------------------------------+---------+
//!                     | block header | payload: a stretch of the    | zeros   |
//!                     | 72 bytes     | stream of records            |         |
//!                     +--------------+------------------------------+---------+
//!  the stream         | [length varint][kind u8][fields]  [length]... |
//! ```
//! Zeros between records are skipped: what was left of a chunk. A record may begin in one block and end in a later one. A block lies in one segment, and is cut to the room that is
//! left there, so that segments are full to their ends. All numbers are little-endian.
//!
//! Block header (72 bytes)
//!
//! | bytes | field | meaning |
//! |---|---|---|
//! | 0-3 | magic | `PKLB` |
//! | 4-7 | crc | CRC32C of bytes 8 to the end of the payload |
//! | 8-15 | log id | drawn when the log is created |
//! | 16-23 | incarnation | raised by each opening |
//! | 24-31 | sequence | of this block, 1 more than its predecessor's |
//! | 32-39 | start LSN | position of the payload's first byte in the stream |
//! | 40-47 | durable LSN | the durable horizon when this block was sealed |
//! | 48-55 | durable sequence | all blocks below this sequence were durable when this block was sealed |
//! | 56-59 | payload length | in bytes |
//! | 60-61 | format version | [`VERSION`] |
//! | 62-63 | flags | bit 0: first block of its incarnation; the record that was being read, if any, ends nowhere |
//! | 64-71 | time | when the block was sealed, in microseconds since 1970; never below its predecessor's |
//!
//! Segment header (80 bytes in a block of 4096; all in one sector, so a power failure leaves it old or new, never torn)
//!
//! | bytes | field | meaning |
//! |---|---|---|
//! | 0-3 | magic | `PKLS` |
//! | 4-7 | crc | CRC32C of bytes 8 to 79 |
//! | 8-15 | log id | as in blocks |
//! | 16-23 | incarnation | in which the segment was taken into use |
//! | 24-31 | segment sequence | 1 more than its predecessor's; 0: prewritten and free |
//! | 32-39 | start LSN | of the first block |
//! | 40-47 | durable LSN | as in blocks |
//! | 48-55 | first sequence | of the first block |
//! | 56-63 | boundary | where the first record at or above the start LSN begins |
//! | 64-67 | format version | [`VERSION`] |
//! | 68-71 | unused | zero |
//! | 72-79 | bytes | length of the file |

use crate::options::BLOCK_PAYLOAD_MAX;
use pikepole_machine::BLOCK;

/// The format that this build writes and reads.
pub const VERSION: u32 = 2;
/// Bytes of a block's header.
pub const BLOCK_HEADER_BYTES: usize = 72;
/// Bytes of a segment's header that mean something; it takes a whole block of 4096.
pub const SEGMENT_HEADER_BYTES: usize = 80;
/// Bytes of a record's length at most: a varint of at most 64 K.
pub(crate) const LENGTH_BYTES_MAX: usize = 3;

/// Positions, sequences and incarnations above this are not believed: no log gets there, and below it sums of them
/// never overflow.
const NUMBER_MAX: u64 = 1 << 62;

fn is_believable(numbers: &[u64]) -> bool {
    numbers.iter().all(|number| *number <= NUMBER_MAX)
}

const BLOCK_MAGIC: [u8; 4] = *b"PKLB";
const SEGMENT_MAGIC: [u8; 4] = *b"PKLS";
/// The first block of its incarnation.
const FLAG_RAISE: u16 = 1;

/// The header of a log block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockHeader {
    pub log_id: u64,
    pub incarnation: u64,
    pub sequence: u64,
    pub start: u64,
    pub durable: u64,
    pub durable_sequence: u64,
    pub payload_len: usize,
    pub raise: bool,
    /// When it was sealed, in microseconds since 1970.
    pub time_us: u64,
}

impl BlockHeader {
    /// Writes the header in front of the payload that `block` holds already; the rest of `block` is padding.
    pub fn seal(&self, block: &mut [u8]) {
        block[0..4].copy_from_slice(&BLOCK_MAGIC);
        put_u64(block, 8, self.log_id);
        put_u64(block, 16, self.incarnation);
        put_u64(block, 24, self.sequence);
        put_u64(block, 32, self.start);
        put_u64(block, 40, self.durable);
        put_u64(block, 48, self.durable_sequence);
        put_u32(block, 56, self.payload_len as u32);
        block[60..62].copy_from_slice(&(VERSION as u16).to_le_bytes());
        let flags = if self.raise { FLAG_RAISE } else { 0 };
        block[62..64].copy_from_slice(&flags.to_le_bytes());
        put_u64(block, 64, self.time_us);
        let crc = crc32c::crc32c(&block[8..BLOCK_HEADER_BYTES + self.payload_len]);
        put_u32(block, 4, crc);
    }

    /// What the first [`BLOCK_HEADER_BYTES`] of `bytes` say, if they look like a block of the log `log_id`. The
    /// checksum is still to be verified.
    pub fn peek(bytes: &[u8], log_id: u64) -> Option<BlockHeader> {
        let bytes = bytes.get(..BLOCK_HEADER_BYTES)?;
        let payload_len = get_u32(bytes, 56) as usize;
        let version = u16::from_le_bytes([bytes[60], bytes[61]]);
        let flags = u16::from_le_bytes([bytes[62], bytes[63]]);
        let plausible = bytes[0..4] == BLOCK_MAGIC
            && get_u64(bytes, 8) == log_id
            && payload_len <= BLOCK_PAYLOAD_MAX
            && u32::from(version) == VERSION;
        let header = BlockHeader {
            log_id,
            incarnation: get_u64(bytes, 16),
            sequence: get_u64(bytes, 24),
            start: get_u64(bytes, 32),
            durable: get_u64(bytes, 40),
            durable_sequence: get_u64(bytes, 48),
            payload_len,
            raise: flags & FLAG_RAISE != 0,
            time_us: get_u64(bytes, 64),
        };
        let numbers = [header.incarnation, header.sequence, header.start, header.durable, header.durable_sequence];
        (plausible && is_believable(&numbers)).then_some(header)
    }

    /// Whether the checksum of `block`, which this header was read from, is right.
    pub fn verify(&self, block: &[u8]) -> bool {
        match block.get(8..BLOCK_HEADER_BYTES + self.payload_len) {
            Some(covered) => crate::fault::no_checksums() || crc32c::crc32c(covered) == get_u32(block, 4),
            None => false,
        }
    }

    /// The position behind the payload.
    pub fn end(&self) -> u64 {
        self.start.saturating_add(self.payload_len as u64)
    }

    /// Bytes of the block on disk.
    pub fn disk_bytes(&self) -> u64 {
        block_disk_bytes(self.payload_len)
    }
}

/// Whether `bytes` begin as every block of every log does.
pub(crate) fn has_block_magic(bytes: &[u8]) -> bool {
    bytes.starts_with(&BLOCK_MAGIC)
}

/// Bytes on disk of a block with `payload_len` bytes of payload.
pub(crate) fn block_disk_bytes(payload_len: usize) -> u64 {
    (BLOCK_HEADER_BYTES + payload_len).next_multiple_of(BLOCK) as u64
}

/// The header of a segment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SegmentHeader {
    pub log_id: u64,
    pub incarnation: u64,
    /// 0 for a free segment.
    pub sequence: u64,
    pub start: u64,
    pub durable: u64,
    pub first_block: u64,
    pub boundary: u64,
    pub bytes: u64,
}

/// What a segment's first block turned out to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SegmentKind {
    /// A segment of this format.
    Good(SegmentHeader),
    /// A segment of another format version.
    OtherVersion(u32),
    /// Not a segment header, or one that was torn.
    Bad,
}

impl SegmentHeader {
    /// The header of a prewritten segment that is not in use.
    pub fn free(log_id: u64, bytes: u64) -> Self {
        Self { log_id, incarnation: 0, sequence: 0, start: 0, durable: 0, first_block: 0, boundary: 0, bytes }
    }

    /// Writes the header into the front of `block`.
    pub fn seal(&self, block: &mut [u8]) {
        block[..BLOCK].fill(0);
        block[0..4].copy_from_slice(&SEGMENT_MAGIC);
        put_u64(block, 8, self.log_id);
        put_u64(block, 16, self.incarnation);
        put_u64(block, 24, self.sequence);
        put_u64(block, 32, self.start);
        put_u64(block, 40, self.durable);
        put_u64(block, 48, self.first_block);
        put_u64(block, 56, self.boundary);
        put_u32(block, 64, VERSION);
        put_u64(block, 72, self.bytes);
        let crc = crc32c::crc32c(&block[8..SEGMENT_HEADER_BYTES]);
        put_u32(block, 4, crc);
    }

    /// Reads the first block of a segment.
    pub fn read(block: &[u8]) -> SegmentKind {
        let Some(bytes) = block.get(..SEGMENT_HEADER_BYTES) else { return SegmentKind::Bad };
        if bytes[0..4] != SEGMENT_MAGIC || crc32c::crc32c(&bytes[8..]) != get_u32(bytes, 4) {
            return SegmentKind::Bad;
        }
        let version = get_u32(bytes, 64);
        if version != VERSION {
            return SegmentKind::OtherVersion(version);
        }
        let header = SegmentHeader {
            log_id: get_u64(bytes, 8),
            incarnation: get_u64(bytes, 16),
            sequence: get_u64(bytes, 24),
            start: get_u64(bytes, 32),
            durable: get_u64(bytes, 40),
            first_block: get_u64(bytes, 48),
            boundary: get_u64(bytes, 56),
            bytes: get_u64(bytes, 72),
        };
        let SegmentHeader { incarnation, sequence, start, durable, first_block, boundary, .. } = header;
        if is_believable(&[incarnation, sequence, start, durable, first_block, boundary]) {
            SegmentKind::Good(header)
        } else {
            SegmentKind::Bad
        }
    }
}

fn put_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

fn get_u64(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

fn get_u32(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header() -> BlockHeader {
        BlockHeader {
            log_id: 0x1122_3344_5566_7788,
            incarnation: 2,
            sequence: 3,
            start: 4,
            durable: 5,
            durable_sequence: 6,
            payload_len: 7,
            raise: true,
            time_us: 8,
        }
    }

    #[test]
    fn block_headers_come_back_and_lie_where_the_table_says() {
        let mut block = vec![0; BLOCK];
        block[BLOCK_HEADER_BYTES..][..7].copy_from_slice(b"payload");
        header().seal(&mut block);
        assert_eq!(&block[0..4], b"PKLB");
        assert_eq!(block[8], 0x88);
        assert_eq!([block[16], block[24], block[32], block[40], block[48], block[56]], [2, 3, 4, 5, 6, 7]);
        assert_eq!([block[60], block[61], block[62], block[63], block[64]], [2, 0, 1, 0, 8]);
        let read = BlockHeader::peek(&block, header().log_id).unwrap();
        assert_eq!(read, header());
        assert!(read.verify(&block));
        assert_eq!((read.end(), read.disk_bytes()), (11, 4096));
        assert_eq!(BlockHeader::peek(&block, 9), None);
    }

    #[test]
    fn every_flipped_bit_of_a_block_is_noticed() {
        let mut block = vec![0; BLOCK];
        header().seal(&mut block);
        for bit in 0..(BLOCK_HEADER_BYTES + 7) * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            let believed = BlockHeader::peek(&block, header().log_id).is_some_and(|read| read.verify(&block));
            assert!(!believed, "bit {bit}");
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn segment_headers_come_back_and_flips_are_noticed() {
        let header = SegmentHeader {
            log_id: 1,
            incarnation: 2,
            sequence: 3,
            start: 4,
            durable: 5,
            first_block: 6,
            boundary: 7,
            bytes: 8,
        };
        let mut block = vec![0xFF; BLOCK];
        header.seal(&mut block);
        assert_eq!(SegmentHeader::read(&block), SegmentKind::Good(header));
        for bit in 0..SEGMENT_HEADER_BYTES * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SegmentHeader::read(&block), SegmentKind::Bad);
            block[bit / 8] ^= 1 << (bit % 8);
        }
    }

    #[test]
    fn blocks_take_whole_device_blocks() {
        assert_eq!(block_disk_bytes(0), 4096);
        assert_eq!(block_disk_bytes(4096 - BLOCK_HEADER_BYTES), 4096);
        assert_eq!(block_disk_bytes(4096 - BLOCK_HEADER_BYTES + 1), 8192);
    }

    /// Any header, with a payload of the length that it names.
    fn any_header() -> impl Strategy<Value = (BlockHeader, Vec<u8>)> {
        let numbers = any::<(u64, u64, u64, u64, u64, u64, bool, u64)>();
        let payload = proptest::collection::vec(any::<u8>(), 0..3 * BLOCK);
        (numbers, payload).prop_map(|(numbers, payload)| {
            let (log_id, incarnation, sequence, start, durable, durable_sequence, raise, time_us) = numbers;
            let [incarnation, sequence, start, durable, durable_sequence] =
                [incarnation, sequence, start, durable, durable_sequence].map(|number: u64| number >> 2);
            let payload_len = payload.len();
            let header = BlockHeader {
                log_id,
                incarnation,
                sequence,
                start,
                durable,
                durable_sequence,
                payload_len,
                raise,
                time_us,
            };
            (header, payload)
        })
    }

    proptest! {
        #[test]
        fn any_block_comes_back_and_no_damage_of_it_does((header, payload) in any_header(), place: usize, bits in 1u8..) {
            let mut block = vec![0; header.disk_bytes() as usize];
            block[BLOCK_HEADER_BYTES..][..payload.len()].copy_from_slice(&payload);
            header.seal(&mut block);
            let read = BlockHeader::peek(&block, header.log_id);
            prop_assert_eq!(read, Some(header));
            prop_assert!(header.verify(&block) && block.len().is_multiple_of(BLOCK));
            prop_assert_eq!(&block[BLOCK_HEADER_BYTES..][..payload.len()], &payload[..]);
            let covered = BLOCK_HEADER_BYTES + payload.len();
            block[place % covered] ^= bits;
            let believed = BlockHeader::peek(&block, header.log_id).is_some_and(|read| read.verify(&block));
            prop_assert!(!believed, "byte {} by {:#x}", place % covered, bits);
        }

        #[test]
        fn any_bytes_are_a_header_or_none(mut bytes in proptest::collection::vec(any::<u8>(), 0..200), log_id: u64) {
            for magic in [BLOCK_MAGIC, SEGMENT_MAGIC] {
                let len = bytes.len().min(4);
                bytes[..len].copy_from_slice(&magic[..len]);
                if let Some(id) = bytes.get_mut(8..16) {
                    id.copy_from_slice(&log_id.to_le_bytes());
                }
                if let Some(header) = BlockHeader::peek(&bytes, log_id) {
                    prop_assert!(header.end() >= header.start && header.payload_len <= BLOCK_PAYLOAD_MAX);
                    header.verify(&bytes);
                }
                SegmentHeader::read(&bytes);
            }
        }

        #[test]
        fn any_segment_header_comes_back(numbers in any::<[u64; 8]>()) {
            let [log_id, incarnation, sequence, start, durable, first_block, boundary, bytes] =
                numbers.map(|number| number >> 2);
            let header =
                SegmentHeader { log_id, incarnation, sequence, start, durable, first_block, boundary, bytes };
            let mut block = vec![0; BLOCK];
            header.seal(&mut block);
            prop_assert_eq!(SegmentHeader::read(&block), SegmentKind::Good(header));
        }
    }
}
