//! Reading a log's blocks from disk, and finding where the log ends.
//!
//! ```text
//!      segment 7                 segment 8
//!   ---[b 70][b 71][b 72][b 73]  [b 74][b 75][torn ][b 77][stale]
//!                                            ^        |
//!       the chain: 70 .. 75                 end      names what was durable when it was written
//! ```
//! The chain is followed from the segment that holds the start: the next block must have the next sequence and begin
//! where the last one ended, in the same incarnation or as the first block of a later one. Where no such block lies
//! behind the last one, the chain goes on in the next segment if that segment's header says so; else the log ends
//! there.
//!
//! An end is believed only when nothing behind it contradicts: every good block of this log, wherever it lies, names
//! the block sequence below which all was durable when it was written. If one names more than the end's sequence,
//! blocks are missing that somebody was promised. That is corruption, reported with the place of the first missing
//! block.
//!
//! Two things spare reading, and neither is believed more than it proves ([`OpenFrom`]):
//!
//! - a *place*: where a block lay when a checkpoint was taken. The chain is followed from there if the very block lies there,
//!   sequence, position and incarnation; if not, from the segment's start, as without it.
//! - the position where the stream was *closed* in order. A chain that reaches exactly that far holds all that was ever
//!   promised: whatever lies behind was written by nobody, or has no records. So nothing behind is read. A chain that
//!   ends below it has lost records, which is corruption whatever lies behind.
//!
//! Why stale blocks are harmless. Blocks behind an end (from before a crash, or from a segment's former use) have
//! been written in an earlier incarnation or with an earlier sequence, so the chain never takes them. What they name
//! as durable really was durable, so it never exceeds a true end.

use crate::format::{BlockHeader, SegmentHeader, SegmentKind, VERSION, has_block_magic};
use crate::segments::{Active, Folder, SegmentFile, segment_name};
use crate::{LogError, Lsn};
use pikepole_machine::{AlignedBuffer, BLOCK, File};
use std::io;

/// Bytes read at first, so that a log that ends soon costs no more.
const WINDOW_BYTES_FIRST: u64 = 64 << 10;
/// Bytes read at once when reading goes on.
const WINDOW_BYTES: u64 = 1 << 20;

/// Where a block of a log lies: what [`Log::place`](crate::Log::place) gives and opening can begin at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The sequence of the segment.
    pub segment: u64,
    /// The byte in the segment where the block begins.
    pub offset: u64,
    /// The sequence of the block.
    pub block: u64,
    /// The incarnation that wrote it.
    pub incarnation: u64,
    /// The position of its first byte in the stream.
    pub lsn: Lsn,
}

/// Where opening a log begins, and what the caller knows that spares reading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OpenFrom {
    /// The first record to read, or [`Lsn::OLDEST`].
    pub start: Lsn,
    /// A place at or below the start.
    pub place: Option<Place>,
    /// The end of the last record, if the log was closed in order behind it.
    pub closed_at: Option<Lsn>,
}

impl From<Lsn> for OpenFrom {
    fn from(start: Lsn) -> OpenFrom {
        OpenFrom { start, place: None, closed_at: None }
    }
}

/// A window over a segment's file, for reading blocks one after the other.
#[derive(Clone)]
pub(crate) struct BlockReader {
    window: AlignedBuffer,
    start: u64,
    window_bytes: u64,
}

impl Default for BlockReader {
    fn default() -> BlockReader {
        BlockReader { window: AlignedBuffer::new(), start: 0, window_bytes: WINDOW_BYTES_FIRST }
    }
}

impl BlockReader {
    /// Forgets what was read, for another file.
    pub fn reset(&mut self) {
        self.window.clear();
    }

    /// The good block of the log `log_id` at `offset`, if there is one: its header and all its bytes.
    pub fn block(
        &mut self,
        segment: &SegmentFile,
        offset: u64,
        log_id: u64,
    ) -> io::Result<Option<(BlockHeader, &[u8])>> {
        if offset + BLOCK as u64 > segment.bytes {
            return Ok(None);
        }
        self.fill(segment, offset, BLOCK as u64)?;
        let Some(header) = BlockHeader::peek(self.at(offset), log_id) else { return Ok(None) };
        let bytes = header.disk_bytes();
        if bytes > segment.bytes - offset {
            return Ok(None);
        }
        self.fill(segment, offset, bytes)?;
        let block = &self.at(offset)[..bytes as usize];
        Ok(header.verify(block).then_some((header, block)))
    }

    /// Whether the bytes at `offset`, where [`block`](Self::block) has just looked, begin like a block.
    pub fn begins_like_a_block(&self, offset: u64) -> bool {
        has_block_magic(self.at(offset))
    }

    fn at(&self, offset: u64) -> &[u8] {
        &self.window[(offset - self.start) as usize..]
    }

    fn fill(&mut self, segment: &SegmentFile, offset: u64, bytes: u64) -> io::Result<()> {
        let end = self.start + self.window.len() as u64;
        if !self.window.is_empty() && offset >= self.start && offset + bytes <= end {
            return Ok(());
        }
        let len = bytes.max(self.window_bytes).min(segment.bytes - offset);
        self.window_bytes = (self.window_bytes * 4).min(WINDOW_BYTES);
        self.window.resize(len as usize, 0);
        self.start = offset;
        let read = segment.file.read_at(&mut self.window, offset);
        if read.is_err() {
            self.window.clear();
        }
        read
    }
}

/// A segment file as found.
pub(crate) struct Found {
    pub number: u32,
    pub segment: SegmentFile,
    /// None: no header, or a torn one.
    pub header: Option<SegmentHeader>,
}

/// All segment files of a folder.
///
/// # Errors
/// [`LogError::Missing`] when there is none; an unknown format version; I/O errors; damage that no scan could get
/// round.
pub(crate) fn find_segments(folder: &Folder, read_only: bool) -> Result<Vec<Found>, LogError> {
    let mut found = Vec::new();
    if !folder.disk.is_dir(&folder.path) {
        return Err(LogError::Missing(folder.path.clone()));
    }
    for number in folder.numbers()? {
        let name = segment_name(number);
        let file = if read_only { folder.open_read_only(&name)? } else { folder.open(&name, false)? };
        let bytes = file.len()? / BLOCK as u64 * BLOCK as u64;
        let header = read_header(&name, &file, bytes)?;
        found.push(Found { number, segment: SegmentFile { name, file, bytes }, header });
    }
    if found.is_empty() {
        return Err(LogError::Missing(folder.path.clone()));
    }
    Ok(found)
}

fn read_header(name: &str, file: &File, bytes: u64) -> Result<Option<SegmentHeader>, LogError> {
    if bytes < BLOCK as u64 {
        return Ok(None);
    }
    let mut block = AlignedBuffer::zeroed(BLOCK);
    file.read_at(&mut block, 0)?;
    match SegmentHeader::read(&block) {
        SegmentKind::Good(header) => Ok(Some(header)),
        SegmentKind::Bad => Ok(None),
        SegmentKind::OtherVersion(found) => Err(LogError::Version { segment: name.to_string(), found, known: VERSION }),
    }
}

/// What the blocks of a log say.
pub(crate) struct Chain {
    pub log_id: u64,
    /// The segments of the chain and the older ones that were not used again, oldest first.
    pub active: Vec<Active>,
    /// Which of them holds the start.
    pub first: usize,
    /// Where the first block of interest lies in it; all blocks of the chain from there on were good.
    pub first_offset: u64,
    /// The first record to read.
    pub start: u64,
    /// Which of `active` the log ends in, and where: the place for the next block.
    pub last: usize,
    pub end_offset: u64,
    /// The position behind the last good byte.
    pub end: u64,
    /// The sequence of the next block.
    pub next_sequence: u64,
    /// The highest incarnation seen anywhere.
    pub incarnation_max: u64,
    /// Good blocks from the start on.
    pub blocks: u64,
    /// The highest time that a block of the chain names.
    pub time_us: u64,
}

/// Follows the log in `found` to its end.
///
/// # Errors
/// [`LogError::StartGone`], [`LogError::Corrupt`], I/O errors.
pub(crate) fn follow(found: &[Found], from: &OpenFrom) -> Result<Chain, LogError> {
    match follow_to_damage(found, from)? {
        (_, Some(damage)) => Err(damage),
        (chain, None) => Ok(chain),
    }
}

/// As [`follow`]; where blocks are missing that were durable, the chain up to there comes with the damage.
pub(crate) fn follow_to_damage(found: &[Found], from: &OpenFrom) -> Result<(Chain, Option<LogError>), LogError> {
    let (log_id, active) = active_segments(found)?;
    if let Some(place) = from.place {
        let mut follower = Follower::begin(log_id, &active, from.start)?;
        if follower.jump_to(&place)? {
            return follower.go_on(found, from.closed_at);
        }
    }
    Follower::begin(log_id, &active, from.start)?.go_on(found, from.closed_at)
}

/// The first segment to follow.
fn first_segment(active: &[WithHeader], start: Lsn) -> Result<usize, LogError> {
    if start == Lsn::OLDEST {
        return Ok(0);
    }
    let oldest = Lsn(active[0].0.start);
    let first = active.iter().rposition(|(segment, _)| segment.start <= start.0);
    first.ok_or(LogError::StartGone { wanted: start, oldest })
}

type WithHeader = (Active, SegmentHeader);

/// The log's id and its segments in use, oldest first: the youngest run of consecutive sequences.
fn active_segments(found: &[Found]) -> Result<(u64, Vec<WithHeader>), LogError> {
    let damaged = |segment: &SegmentFile, why: &str| LogError::Corrupt {
        segment: segment.name.clone(),
        offset: 0,
        lsn: Lsn::ZERO,
        why: why.to_string(),
    };
    let log_id = match found.iter().find_map(|found| found.header) {
        Some(header) => header.log_id,
        None => return Err(damaged(&found[0].segment, "no segment has a good header")),
    };
    let mut active: Vec<WithHeader> = Vec::new();
    for found in found {
        let Some(header) = found.header else { continue };
        if header.log_id != log_id {
            return Err(damaged(&found.segment, "the segment belongs to another log"));
        }
        if header.bytes > found.segment.bytes {
            return Err(damaged(&found.segment, "the file is shorter than it was made"));
        }
        if header.sequence > 0 {
            let (segment, sequence) = (found.segment.clone(), header.sequence);
            active.push((Active { segment, sequence, start: header.start, first_block: 0 }, header));
        }
    }
    active.sort_by_key(|(active, _)| active.sequence);
    for pair in active.windows(2) {
        if pair[0].0.sequence + 1 != pair[1].0.sequence || pair[0].0.start > pair[1].0.start {
            return Err(damaged(&pair[1].0.segment, "the segment before this one is missing"));
        }
    }
    if active.is_empty() {
        return Err(damaged(&found[0].segment, "no segment has a good header that is in use"));
    }
    Ok((log_id, active))
}

/// The state of following a chain.
struct Follower {
    reader: BlockReader,
    chain: Chain,
    headers: Vec<SegmentHeader>,
    incarnation: u64,
    /// The start is wherever the oldest record is.
    oldest: bool,
    /// All blocks below this sequence were promised by somebody.
    promised: u64,
    /// Who promised.
    witness: String,
}

impl Follower {
    /// At the start of the segment that holds `start`.
    fn begin(log_id: u64, active: &[WithHeader], start: Lsn) -> Result<Follower, LogError> {
        let first = first_segment(active, start)?;
        let header = active[first].1;
        Ok(Follower {
            reader: BlockReader::default(),
            chain: Chain {
                log_id,
                first,
                first_offset: BLOCK as u64,
                start: if start == Lsn::OLDEST { header.boundary } else { start.0 },
                last: first,
                end_offset: BLOCK as u64,
                end: header.start,
                next_sequence: header.first_block,
                incarnation_max: header.incarnation,
                blocks: 0,
                time_us: 0,
                active: active.iter().map(|(active, _)| active.clone()).collect(),
            },
            headers: active.iter().map(|(_, header)| *header).collect(),
            incarnation: header.incarnation,
            oldest: start == Lsn::OLDEST,
            promised: 0,
            witness: String::new(),
        })
    }

    /// Goes to `place`, if that is at or below the start and its block lies there or in the segment behind. False: go
    /// the whole way.
    fn jump_to(&mut self, place: &Place) -> Result<bool, LogError> {
        let chain = &mut self.chain;
        let Some(at) = chain.active.iter().position(|active| active.sequence == place.segment) else {
            return Ok(false);
        };
        let header = self.headers[at];
        let in_segment = place.offset >= BLOCK as u64
            && place.offset.is_multiple_of(BLOCK as u64)
            && place.offset <= chain.active[at].segment.bytes
            && header.first_block <= place.block
            && header.start <= place.lsn.0
            && header.incarnation <= place.incarnation;
        if self.oldest || place.lsn.0 > chain.start || !in_segment {
            return Ok(false);
        }
        (chain.first, chain.last) = (at, at);
        (chain.first_offset, chain.end_offset) = (place.offset, place.offset);
        (chain.end, chain.next_sequence) = (place.lsn.0, place.block);
        chain.incarnation_max = chain.incarnation_max.max(place.incarnation);
        self.incarnation = place.incarnation;
        let segment = chain.active[at].segment.clone();
        let block = self.reader.block(&segment, place.offset, self.chain.log_id)?.map(|(header, _)| header);
        let is_there = block.is_some_and(|block| self.follows(&block)) || self.goes_on_in_next_segment();
        Ok(is_there || crate::fault::trust_place())
    }

    fn go_on(mut self, found: &[Found], closed_at: Option<Lsn>) -> Result<(Chain, Option<LogError>), LogError> {
        self.run()?;
        let closed = closed_at.is_some_and(|closed_at| closed_at.0 == self.chain.end);
        self.look_behind_the_end(found, closed)?;
        Ok(self.finish(closed_at))
    }

    fn run(&mut self) -> Result<(), LogError> {
        loop {
            let chain = &self.chain;
            let segment = chain.active[chain.last].segment.clone();
            let block = self.reader.block(&segment, chain.end_offset, chain.log_id)?;
            let header = block.map(|(header, _)| header).filter(|header| self.follows(header));
            match header {
                Some(header) => self.accept(&header, &segment.name),
                None if self.goes_on_in_next_segment() => {
                    self.reader.reset();
                    self.chain.last += 1;
                    self.chain.end_offset = BLOCK as u64;
                }
                None if crate::fault::ignore_hole() && self.step_over_hole(&segment)? => {}
                None => return Ok(()),
            }
        }
    }

    /// Goes on at the next good block of the incarnation, as if nothing was missing. A planted fault.
    fn step_over_hole(&mut self, segment: &SegmentFile) -> Result<bool, LogError> {
        let mut offset = self.chain.end_offset + BLOCK as u64;
        while offset + BLOCK as u64 <= segment.bytes {
            if let Some((header, _)) = self.reader.block(segment, offset, self.chain.log_id)?
                && header.incarnation == self.incarnation
                && header.sequence > self.chain.next_sequence
            {
                self.chain.end_offset = offset;
                self.chain.next_sequence = header.sequence;
                self.chain.end = header.start;
                return Ok(true);
            }
            offset += BLOCK as u64;
        }
        Ok(false)
    }

    fn follows(&self, header: &BlockHeader) -> bool {
        let later = header.raise && header.incarnation > self.incarnation;
        let same = header.incarnation == self.incarnation;
        header.sequence == self.chain.next_sequence && header.start == self.chain.end && (same || later)
    }

    fn accept(&mut self, header: &BlockHeader, segment: &str) {
        let chain = &mut self.chain;
        if header.raise {
            self.incarnation = header.incarnation;
            if self.oldest {
                chain.start = chain.start.min(header.start);
            }
        }
        chain.incarnation_max = chain.incarnation_max.max(header.incarnation);
        chain.blocks += 1;
        chain.time_us = chain.time_us.max(header.time_us);
        chain.next_sequence += 1;
        chain.end = header.end();
        chain.end_offset += header.disk_bytes();
        if chain.end <= chain.start && chain.last == chain.first {
            chain.first_offset = chain.end_offset;
        }
        promise(&mut self.promised, &mut self.witness, header, segment);
    }

    fn goes_on_in_next_segment(&self) -> bool {
        let chain = &self.chain;
        match self.headers.get(chain.last + 1) {
            Some(next) => {
                next.first_block == chain.next_sequence
                    && next.start == chain.end
                    && next.incarnation >= self.incarnation
            }
            None => false,
        }
    }

    /// Looks for witnesses: good blocks behind the end, in the rest of its segment, in later ones and in those
    /// without a header. The rest of the segment has nothing to say when the log was closed here.
    fn look_behind_the_end(&mut self, found: &[Found], closed: bool) -> Result<(), LogError> {
        self.reader.reset();
        if !closed {
            let rest = self.chain.active[self.chain.last].segment.clone();
            self.look_at(&rest, self.chain.end_offset)?;
        }
        for later in self.chain.last + 1..self.chain.active.len() {
            let segment = self.chain.active[later].segment.clone();
            self.look_at(&segment, BLOCK as u64)?;
        }
        // No crash tears a header, and a file that was never in use has no blocks.
        for nameless in found.iter().filter(|found| found.header.is_none()) {
            if self.look_at(&nameless.segment, 0)? {
                return Err(LogError::Corrupt {
                    segment: nameless.segment.name.clone(),
                    offset: 0,
                    lsn: Lsn::ZERO,
                    why: "the segment's header is damaged, and there are blocks in it".to_string(),
                });
            }
        }
        Ok(())
    }

    /// Listens to all good blocks from `from` on. Returns whether there are any.
    fn look_at(&mut self, segment: &SegmentFile, from: u64) -> Result<bool, LogError> {
        self.reader.reset();
        let mut any = false;
        let mut offset = from;
        while offset + BLOCK as u64 <= segment.bytes {
            match self.reader.block(segment, offset, self.chain.log_id)? {
                Some((header, _)) => {
                    self.chain.incarnation_max = self.chain.incarnation_max.max(header.incarnation);
                    promise(&mut self.promised, &mut self.witness, &header, &segment.name);
                    offset += header.disk_bytes();
                    any = true;
                }
                None => offset += BLOCK as u64,
            }
        }
        Ok(any)
    }

    fn finish(mut self, closed_at: Option<Lsn>) -> (Chain, Option<LogError>) {
        for header in &self.headers {
            self.chain.incarnation_max = self.chain.incarnation_max.max(header.incarnation);
        }
        if self.oldest {
            self.chain.start = self.chain.start.min(self.chain.end);
        }
        let chain = self.chain;
        let place = |why: String| LogError::Corrupt {
            segment: chain.active[chain.last].segment.name.clone(),
            offset: chain.end_offset,
            lsn: Lsn(chain.end),
            why,
        };
        let damage = if self.promised > chain.next_sequence {
            Some(place(format!(
                "block {} is missing or damaged, but {} says that all blocks below {} were durable",
                chain.next_sequence, self.witness, self.promised
            )))
        } else if let Some(closed_at) = closed_at.filter(|closed_at| closed_at.0 > chain.end) {
            Some(place(format!(
                "block {} is missing or damaged: the log was closed at {closed_at}",
                chain.next_sequence
            )))
        } else if chain.start > chain.end {
            Some(place(format!("the log ends before LSN {}, where reading should begin", chain.start)))
        } else {
            None
        };
        (chain, damage)
    }
}

fn promise(promised: &mut u64, witness: &mut String, header: &BlockHeader, segment: &str) {
    if header.durable_sequence > *promised {
        *promised = header.durable_sequence;
        *witness = format!("block {} in {segment}", header.sequence);
    }
}
