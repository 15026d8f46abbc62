//! A picture of a log's segments: a line a segment, a character for an equal part of its bytes.
//!
//! | character | the part holds |
//! |---|---|
//! | `#` | blocks of the log |
//! | `:` | good blocks that are not: left from before, or cut off by the end of the log |
//! | `x` | something that begins like a block and is none |
//! | `.` | nothing |

use pikepole_log::{SegmentFileInfo, SegmentUsage, Stretch};
use std::io::{self, Write};

/// Characters of the longest segment.
const WIDTH: u64 = 64;

/// What the characters mean, for below the picture.
pub const LEGEND: &str = "# blocks of the log  : blocks left from before  x torn or damaged  . empty";

/// The parts of each segment, gathered while the log is walked through.
pub struct Picture {
    segments: Vec<SegmentFileInfo>,
    bytes_max: u64,
    parts: Vec<Vec<u8>>,
}

impl Picture {
    /// A picture of empty segments.
    pub fn new(segments: &[SegmentFileInfo]) -> Picture {
        let bytes_max = segments.iter().map(|segment| segment.bytes).max().unwrap_or(1).max(1);
        let width = |segment: &SegmentFileInfo| (segment.bytes * WIDTH).div_ceil(bytes_max).max(1) as usize;
        let parts = segments.iter().map(|segment| vec![b'.'; width(segment)]).collect();
        Picture { segments: segments.to_vec(), bytes_max, parts }
    }

    /// Draws one stretch. What is rarer covers what is more common.
    pub fn draw(&mut self, stretch: &Stretch) {
        let (segment, offset, bytes, mark) = match *stretch {
            Stretch::Block(block) if block.of_the_log => (block.segment, block.offset, block.bytes, b'#'),
            Stretch::Block(block) => (block.segment, block.offset, block.bytes, b':'),
            Stretch::Broken { segment, offset } => (segment, offset, 1, b'x'),
            Stretch::Empty { .. } => return,
        };
        let part = |byte: u64| (byte * WIDTH / self.bytes_max) as usize;
        let parts = &mut self.parts[segment];
        let last = parts.len() - 1;
        for place in &mut parts[part(offset).min(last)..=part(offset + bytes - 1).min(last)] {
            if rank(mark) > rank(*place) {
                *place = mark;
            }
        }
    }

    /// Prints the segments: those in use in their order, then the others.
    pub fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let mut order: Vec<usize> = (0..self.segments.len()).collect();
        order.sort_by_key(|index| match self.segments[*index].usage {
            SegmentUsage::Active { sequence, .. } => sequence,
            SegmentUsage::Free => u64::MAX - 1,
            SegmentUsage::NoHeader => u64::MAX,
        });
        for index in order {
            let segment = &self.segments[index];
            let usage = match segment.usage {
                SegmentUsage::Active { sequence, start, .. } => format!("number {sequence}, from LSN {start}"),
                SegmentUsage::Free => "free".to_string(),
                SegmentUsage::NoHeader => "without a header".to_string(),
            };
            let parts = String::from_utf8_lossy(&self.parts[index]);
            writeln!(out, "  {}  {:>9}  [{parts}]  {usage}", segment.name, super::size(segment.bytes))?;
        }
        Ok(())
    }
}

fn rank(mark: u8) -> u8 {
    match mark {
        b'x' => 3,
        b'#' => 2,
        b':' => 1,
        _ => 0,
    }
}
