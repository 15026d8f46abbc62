//! The pieces that a backup, or a checkpoint file of in-memory tables, is made of: each whole, in its place, and of its own set.
//!
//! ```text
//!   0        4     8        16         24     28        32  40  48   56       64
//!   | "PKBC" | crc | set id | sequence | kind | payload | three   | plain   | payload, zeros up to a multiple of 4096 |
//!   | 4      | u32 | u64    | u64      | u32  | u32     | u64s    | u64     |
//! ```
//! A piece that begins with "PKBZ" has a deflated payload, and says how many bytes that is plain; of others this is 0.
//! The checksum is over all bytes from the set id to the last zero, so that no byte can change unnoticed. A set's pieces
//! carry the id that was drawn for the set and count from 0: a piece of another backup that lies in the same place before
//! never passes for one of this.

use std::io;

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};
use pikepole_machine::{AlignedBuffer, BLOCK, File};

/// Bytes of a chunk's header.
pub(crate) const CHUNK_HEADER_BYTES: usize = 64;
const MAGIC: &[u8; 4] = b"PKBC";
const MAGIC_DEFLATED: &[u8; 4] = b"PKBZ";
/// Bytes of payload at most: a block of the log has up to 16 MB.
const PAYLOAD_MAX: usize = 17 << 20;
/// Chunks are gathered up to this before they are written, and as much is read at once.
const BATCH_BYTES: usize = 4 << 20;

/// What a chunk holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum ChunkKind {
    /// What the set is: JSON.
    Head = 1,
    /// Whole pages.
    Pages = 2,
    /// A block of the log: its start LSN, its time, and 1 if an incarnation begins with it.
    Log = 3,
    /// What the set came to: JSON. The last one.
    Tail = 4,
    /// Rows of in-memory tables: 1 if they go on in the next chunk.
    Rows = 5,
    /// In a backup, bytes of the checkpoint file of in-memory tables.
    InMemory = 6,
}

impl ChunkKind {
    fn of(number: u32) -> Option<ChunkKind> {
        use ChunkKind::{Head, InMemory, Log, Pages, Rows, Tail};
        [Head, Pages, Log, Tail, Rows, InMemory].into_iter().find(|kind| *kind as u32 == number)
    }
}

/// Why chunks could not be read.
#[derive(Debug)]
pub(crate) enum ReadError {
    /// The device said so.
    Io(io::Error),
    /// The bytes from `offset` on are not what was written.
    Damaged { offset: u64, why: &'static str },
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ReadError::Io(error) => error.fmt(f),
            ReadError::Damaged { offset, why } => write!(f, "it is damaged at byte {offset}: {why}"),
        }
    }
}

/// A chunk as its reader lends it.
pub(crate) struct Chunk<'a> {
    pub kind: ChunkKind,
    pub fields: [u64; 3],
    pub payload: &'a [u8],
}

/// Writes chunks one behind the other, many at once.
pub(crate) struct ChunkWriter {
    file: File,
    /// Where `buffer` goes.
    offset: u64,
    set_id: u64,
    sequence: u64,
    buffer: AlignedBuffer,
    /// All but heads and tails are deflated.
    compresses: bool,
    deflated: Vec<u8>,
    /// Bytes that all chunks would have if none were deflated.
    plain_bytes: u64,
}

impl ChunkWriter {
    pub fn new(file: File, offset: u64, set_id: u64) -> ChunkWriter {
        ChunkWriter {
            file,
            offset,
            set_id,
            sequence: 0,
            buffer: AlignedBuffer::new(),
            compresses: false,
            deflated: Vec::new(),
            plain_bytes: 0,
        }
    }

    /// From here on all but heads and tails are deflated.
    pub fn compress(&mut self) {
        self.compresses = true;
    }

    /// Bytes that all chunks so far would have if none were deflated.
    pub fn plain_bytes(&self) -> u64 {
        self.plain_bytes
    }

    /// Where the next chunk goes.
    pub fn position(&self) -> u64 {
        self.offset + self.buffer.len() as u64
    }

    /// Adds a chunk.
    pub fn add(&mut self, kind: ChunkKind, fields: [u64; 3], payload: &[u8]) -> io::Result<()> {
        assert!(payload.len() <= PAYLOAD_MAX, "a chunk has a largest size");
        let start = self.buffer.len();
        self.plain_bytes += (CHUNK_HEADER_BYTES + payload.len()).next_multiple_of(BLOCK) as u64;
        let may_deflate = self.compresses && matches!(kind, ChunkKind::Pages | ChunkKind::Log | ChunkKind::InMemory);
        let is_deflated = may_deflate && deflate(payload, &mut self.deflated);
        let (magic, plain) = if is_deflated { (MAGIC_DEFLATED, payload.len() as u64) } else { (MAGIC, 0) };
        let payload = if is_deflated { self.deflated.as_slice() } else { payload };
        self.buffer.extend_from_slice(magic);
        self.buffer.extend_from_slice(&[0; 4]);
        self.buffer.extend_from_slice(&self.set_id.to_le_bytes());
        self.buffer.extend_from_slice(&self.sequence.to_le_bytes());
        self.buffer.extend_from_slice(&(kind as u32).to_le_bytes());
        self.buffer.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        for field in fields {
            self.buffer.extend_from_slice(&field.to_le_bytes());
        }
        self.buffer.extend_from_slice(&plain.to_le_bytes());
        self.buffer.extend_from_slice(payload);
        self.buffer.pad_to(BLOCK);
        let crc = crc32c::crc32c(&self.buffer[start + 8..]);
        self.buffer[start + 4..start + 8].copy_from_slice(&crc.to_le_bytes());
        self.sequence += 1;
        if self.buffer.len() >= BATCH_BYTES { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_at(&self.buffer, self.offset)?;
        self.offset += self.buffer.len() as u64;
        self.buffer.clear();
        Ok(())
    }

    /// Makes all chunks durable; returns where they end.
    pub fn finish(&mut self) -> io::Result<u64> {
        self.flush()?;
        self.file.sync()?;
        Ok(self.offset)
    }
}

/// Deflates a payload. False: that makes it no smaller.
fn deflate(payload: &[u8], into: &mut Vec<u8>) -> bool {
    into.clear();
    into.reserve(payload.len());
    let status = Compress::new(Compression::fast(), false).compress_vec(payload, into, FlushCompress::Finish);
    matches!(status, Ok(Status::StreamEnd)) && into.len() < payload.len()
}

/// Makes a payload what it was before [`deflate`]. False: it never was that.
fn inflate(deflated: &[u8], plain: usize, into: &mut Vec<u8>) -> bool {
    into.clear();
    into.reserve(plain);
    let status = Decompress::new(false).decompress_vec(deflated, into, FlushDecompress::Finish);
    matches!(status, Ok(Status::StreamEnd)) && into.len() == plain
}

/// Reads chunks one after the other and checks them.
pub(crate) struct ChunkReader {
    file: File,
    offset: u64,
    end: u64,
    /// The set's id, once the first chunk has told it.
    set_id: Option<u64>,
    sequence: u64,
    window: AlignedBuffer,
    window_start: u64,
    /// The payload of the last chunk, when that was a deflated one.
    inflated: Vec<u8>,
}

impl ChunkReader {
    /// Reads the chunks from `offset` to `end`.
    pub fn new(file: File, offset: u64, end: u64) -> ChunkReader {
        let (window, inflated) = (AlignedBuffer::new(), Vec::new());
        ChunkReader { file, offset, end, set_id: None, sequence: 0, window, window_start: 0, inflated }
    }

    /// Where the next chunk lies.
    pub fn position(&self) -> u64 {
        self.offset
    }

    /// The next chunk; None at the end.
    pub fn next(&mut self) -> Result<Option<Chunk<'_>>, ReadError> {
        if self.offset >= self.end {
            return Ok(None);
        }
        let offset = self.offset;
        let damaged = |why| ReadError::Damaged { offset, why };
        if self.end - offset < BLOCK as u64 {
            return Err(damaged("it ends too early"));
        }
        self.fill(BLOCK)?;
        let header = self.at_offset(CHUNK_HEADER_BYTES);
        let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight bytes"));
        let short = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"));
        let is_deflated = &header[..4] == MAGIC_DEFLATED;
        if !is_deflated && &header[..4] != MAGIC {
            return Err(damaged("no piece begins here"));
        }
        let (kind, len) = (ChunkKind::of(short(24)), short(28) as usize);
        let (crc, set_id, sequence) = (short(4), number(8), number(16));
        let fields = [number(32), number(40), number(48)];
        let plain = usize::try_from(number(56)).unwrap_or(usize::MAX);
        let total = (CHUNK_HEADER_BYTES + len.min(PAYLOAD_MAX + 1)).next_multiple_of(BLOCK);
        if len > PAYLOAD_MAX || plain > PAYLOAD_MAX || total as u64 > self.end - offset {
            return Err(damaged("a length is out of bounds"));
        }
        self.fill(total)?;
        let bytes = self.at_offset(total);
        if crc32c::crc32c(&bytes[8..]) != crc {
            return Err(damaged("a checksum does not match"));
        }
        let Some(kind) = kind else { return Err(damaged("a piece of an unknown kind")) };
        if sequence != self.sequence || self.set_id.is_some_and(|known| known != set_id) {
            return Err(damaged("a piece of another set, or out of its order"));
        }
        self.set_id = Some(set_id);
        self.sequence += 1;
        self.offset += total as u64;
        let start = (offset - self.window_start) as usize + CHUNK_HEADER_BYTES;
        let payload = &self.window[start..start + len];
        if !is_deflated {
            return Ok(Some(Chunk { kind, fields, payload }));
        }
        if !inflate(payload, plain, &mut self.inflated) {
            return Err(damaged("a payload cannot be inflated"));
        }
        Ok(Some(Chunk { kind, fields, payload: &self.inflated }))
    }

    fn at_offset(&self, len: usize) -> &[u8] {
        &self.window[(self.offset - self.window_start) as usize..][..len]
    }

    /// Makes `len` bytes from the present place on be in the window.
    fn fill(&mut self, len: usize) -> Result<(), ReadError> {
        let window_end = self.window_start + self.window.len() as u64;
        if self.offset >= self.window_start && self.offset + len as u64 <= window_end {
            return Ok(());
        }
        let wanted = (len.max(BATCH_BYTES) as u64).min(self.end - self.offset);
        self.window.clear();
        self.window.resize(wanted as usize, 0);
        self.window_start = self.offset;
        let read = self.file.read_at(&mut self.window, self.offset);
        read.map_err(|error| {
            self.window.clear();
            ReadError::Io(error)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_machine::{Disk, OpenOptions, SimulatedDisk};

    fn written() -> (Disk, File, u64) {
        written_with(5 << 20, false)
    }

    fn written_with(pages_bytes: usize, compresses: bool) -> (Disk, File, u64) {
        let disk = Disk::simulated(SimulatedDisk::new(1));
        let file = disk.open("/chunks", OpenOptions { create: true, ..OpenOptions::default() }).expect("a file");
        let mut writer = ChunkWriter::new(file.clone(), 8192, 77);
        if compresses {
            writer.compress();
        }
        writer.add(ChunkKind::Head, [1, 2, 3], b"head").expect("written");
        writer.add(ChunkKind::Pages, [4, 5, 6], &vec![7; pages_bytes]).expect("written");
        writer.add(ChunkKind::Tail, [0; 3], b"").expect("written");
        let end = writer.finish().expect("written");
        (disk, file, end)
    }

    fn read(file: &File, end: u64) -> Result<Vec<(ChunkKind, [u64; 3], usize)>, ReadError> {
        let mut reader = ChunkReader::new(file.clone(), 8192, end);
        let mut chunks = Vec::new();
        while let Some(chunk) = reader.next()? {
            chunks.push((chunk.kind, chunk.fields, chunk.payload.len()));
        }
        Ok(chunks)
    }

    #[test]
    fn chunks_come_back() {
        let (_, file, end) = written();
        let expected =
            [(ChunkKind::Head, [1, 2, 3], 4), (ChunkKind::Pages, [4, 5, 6], 5 << 20), (ChunkKind::Tail, [0; 3], 0)];
        assert_eq!(read(&file, end).expect("sound"), expected);
    }

    #[test]
    fn deflated_chunks_come_back_and_are_smaller() {
        let (_, file, end) = written_with(5 << 20, true);
        let expected =
            [(ChunkKind::Head, [1, 2, 3], 4), (ChunkKind::Pages, [4, 5, 6], 5 << 20), (ChunkKind::Tail, [0; 3], 0)];
        assert_eq!(read(&file, end).expect("sound"), expected);
        assert!(end < 1 << 20, "sevens alone are soon said");
    }

    #[test]
    fn what_deflating_makes_no_smaller_stays_plain() {
        // Numbers without a pattern: the multiplier of a generator that passes for random here.
        let mut state = 1_u64;
        let mut noise = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        };
        let payload: Vec<u8> = (0..BLOCK).map(|_| noise()).collect();
        assert!(!deflate(&payload, &mut Vec::new()));
        let (mut small, mut back) = (Vec::new(), Vec::new());
        assert!(deflate(&[5; 100], &mut small) && inflate(&small, 100, &mut back) && back == [5; 100]);
        assert!(
            !inflate(&small, 99, &mut back) && !inflate(&small, 101, &mut back) && !inflate(&payload, 10, &mut back)
        );
    }

    #[test]
    fn any_changed_byte_is_damage() {
        for compresses in [false, true] {
            change_each_byte(compresses);
        }
    }

    fn change_each_byte(compresses: bool) {
        // Each place costs a reading of all chunks: three blocks of the middle one are as good as many.
        let (_, file, end) = written_with(2 * BLOCK, compresses);
        let mut block = vec![0; BLOCK];
        for place in 0..end - 8192 {
            let (base, at) = (8192 + place / 4096 * 4096, (place % 4096) as usize);
            file.read_at(&mut block, base).expect("read");
            block[at] ^= 0x10;
            file.write_at(&block, base).expect("written");
            assert!(matches!(read(&file, end), Err(ReadError::Damaged { .. })), "byte {place}");
            block[at] ^= 0x10;
            file.write_at(&block, base).expect("written");
        }
    }

    #[test]
    fn a_chunk_of_another_set_or_place_is_damage() {
        let (_, file, end) = written();
        let mut other = ChunkWriter::new(file.clone(), end - BLOCK as u64, 78);
        other.add(ChunkKind::Tail, [0; 3], b"").expect("written");
        other.finish().expect("written");
        assert!(matches!(read(&file, end), Err(ReadError::Damaged { .. })));
        let mut again = ChunkWriter::new(file.clone(), end - BLOCK as u64, 77);
        again.add(ChunkKind::Tail, [0; 3], b"").expect("written");
        again.finish().expect("written");
        assert!(matches!(read(&file, end), Err(ReadError::Damaged { .. })), "its number is 0");
    }
}
