//! Reading records back, in order.

use crate::field::get_varint;
use crate::format::{BLOCK_HEADER_BYTES, BlockHeader, LENGTH_BYTES_MAX};
use crate::options::RECORD_BYTES_MAX;
use crate::scan::{BlockReader, Chain};
use crate::segments::{Active, SegmentFile};
use crate::{LogError, Lsn};
use pikepole_machine::BLOCK;

/// A record as a [`Reader`] lends it: its position, its bytes (kind first), and the position behind it.
pub type Entry<'a> = (Lsn, &'a [u8], Lsn);

/// Streams the records of a log from a start to its end, as they were when it was opened.
///
/// It reads the segments itself: a truncation that frees what is still to be read makes it fail with
/// [`LogError::Corrupt`].
#[derive(Clone)]
pub struct Reader {
    log_id: u64,
    /// The segments that are still to be read, youngest first; the last one is being read.
    segments: Vec<Active>,
    blocks: BlockReader,
    /// Where the next block lies in the segment that is being read.
    offset: u64,
    /// What the next block must say.
    next_sequence: Option<u64>,
    next_lsn: u64,
    /// Where the chain ends: in the youngest segment, at this byte.
    end_offset: u64,
    end: u64,
    /// The payload of the block that is being read, or a record's bytes from several blocks in front of it.
    bytes: Vec<u8>,
    at: usize,
    /// The LSN of `bytes[at]`.
    lsn: u64,
    blocks_read: u64,
    padding_bytes: u64,
}

impl Reader {
    pub(crate) fn new(chain: &Chain) -> Self {
        let mut segments = chain.active[chain.first..=chain.last].to_vec();
        segments.reverse();
        Self {
            log_id: chain.log_id,
            segments,
            blocks: BlockReader::default(),
            offset: chain.first_offset,
            next_sequence: None,
            next_lsn: 0,
            end_offset: chain.end_offset,
            end: chain.end,
            bytes: Vec::new(),
            at: 0,
            lsn: chain.start,
            blocks_read: 0,
            padding_bytes: 0,
        }
    }

    /// The next record: its position, its bytes (kind first), and the position behind it. None at the end.
    ///
    /// # Errors
    /// [`LogError::Corrupt`] when the bytes are not a record, [`LogError::Io`].
    #[allow(clippy::should_implement_trait, reason = "the record is lent by the reader")]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, LogError> {
        let (length_bytes, len) = loop {
            self.skip_padding();
            if let Some(framing) = self.framing()? {
                break framing;
            }
            if !self.next_block()? {
                // A record whose end was never written ends nowhere.
                return Ok(None);
            }
        };
        let (lsn, body) = (self.lsn, self.at + length_bytes);
        self.at = body + len;
        self.lsn += (length_bytes + len) as u64;
        Ok(Some((Lsn(lsn), &self.bytes[body..body + len], Lsn(self.lsn))))
    }

    /// Zeros where a length should be are what was left of a chunk.
    fn skip_padding(&mut self) {
        let zeros = self.bytes[self.at..].iter().take_while(|byte| **byte == 0).count();
        self.at += zeros;
        self.lsn += zeros as u64;
        self.padding_bytes += zeros as u64;
    }

    /// Bytes between the records read so far.
    pub fn padding_bytes(&self) -> u64 {
        self.padding_bytes
    }

    /// Where the last record ended, or, at the end, where the log does: the next record begins here or above.
    pub fn position(&self) -> Lsn {
        Lsn(self.lsn)
    }

    /// Where the log ended.
    pub fn end(&self) -> Lsn {
        Lsn(self.end)
    }

    /// Blocks read so far.
    pub fn blocks_read(&self) -> u64 {
        self.blocks_read
    }

    /// The lengths of the record at `at`, if it is there as a whole.
    fn framing(&self) -> Result<Option<(usize, usize)>, LogError> {
        let rest = &self.bytes[self.at..];
        let (len, length_bytes) = match get_varint(&rest[..rest.len().min(LENGTH_BYTES_MAX)]) {
            Ok(length) => length,
            Err(_) if rest.len() < LENGTH_BYTES_MAX => return Ok(None),
            Err(_) => return Err(self.corrupt("a record's length is not a number")),
        };
        if len == 0 || len > RECORD_BYTES_MAX as u64 {
            return Err(self.corrupt("a record's length is out of bounds"));
        }
        let len = len as usize;
        Ok((rest.len() - length_bytes >= len).then_some((length_bytes, len)))
    }

    /// Reads the next block behind what is left of this one. Returns false at the end.
    fn next_block(&mut self) -> Result<bool, LogError> {
        loop {
            let Some(current) = self.segments.last() else { return Ok(false) };
            let segment = current.segment.clone();
            let in_last = self.segments.len() == 1;
            if in_last && self.offset >= self.end_offset {
                return Ok(false);
            }
            let block = self.blocks.block(&segment, self.offset, self.log_id)?;
            let Some((header, block)) =
                block.filter(|(header, _)| self.next_sequence.is_none_or(|next| next == header.sequence))
            else {
                if in_last {
                    return Err(missing(&segment, self.offset, self.next_lsn));
                }
                self.next_segment(&segment)?;
                continue;
            };
            self.next_sequence = Some(header.sequence + 1);
            self.next_lsn = header.end();
            self.offset += header.disk_bytes();
            self.blocks_read += 1;
            let payload = &block[BLOCK_HEADER_BYTES..BLOCK_HEADER_BYTES + header.payload_len];
            // Borrowed apart: `payload` lives in `blocks`.
            take(&mut self.bytes, &mut self.at, &mut self.lsn, &header, payload);
            return Ok(true);
        }
    }

    fn next_segment(&mut self, ended: &SegmentFile) -> Result<(), LogError> {
        let gone = self.segments.pop();
        let next = self.segments.last().expect("the last segment is handled by the caller");
        // The scan that made the chain found the next segment to begin right behind this one.
        if self.next_sequence.is_some() && next.start != self.next_lsn {
            let offset = self.offset;
            self.segments.extend(gone);
            return Err(missing(ended, offset, self.next_lsn));
        }
        self.offset = BLOCK as u64;
        self.blocks.reset();
        Ok(())
    }

    fn corrupt(&self, why: &str) -> LogError {
        let segment = self.segments.last().map_or_else(String::new, |active| active.segment.name.clone());
        LogError::Corrupt { segment, offset: self.offset, lsn: Lsn(self.lsn), why: why.to_string() }
    }
}

/// Puts a block's payload behind what is left of the one before.
fn take(bytes: &mut Vec<u8>, at: &mut usize, lsn: &mut u64, header: &BlockHeader, payload: &[u8]) {
    if header.raise {
        // What the incarnation before left unfinished ends nowhere.
        bytes.clear();
        *lsn = (*lsn).max(header.start);
    } else {
        bytes.drain(..*at);
    }
    *at = 0;
    // The start may lie in the middle of the first block.
    let skipped = (lsn.saturating_sub(header.start) as usize).min(payload.len());
    let skipped = if bytes.is_empty() { skipped } else { 0 };
    bytes.extend_from_slice(&payload[skipped..]);
}

fn missing(segment: &SegmentFile, offset: u64, lsn: u64) -> LogError {
    LogError::Corrupt {
        segment: segment.name.clone(),
        offset,
        lsn: Lsn(lsn),
        why: "a block that was there when the log was opened is not there any more".to_string(),
    }
}
