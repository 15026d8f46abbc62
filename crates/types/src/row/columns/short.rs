//! Short rows of differing lengths.
//!
//! ```text
//!   places of one size, filled column by column        rows, each with its length in front
//!   | 5 | bitmap | a a | b | c |       |               | 5 | bitmap | a a | b | c | 6 | bitmap | a | b | c c c |
//!   | 6 | bitmap | a | b | c c c |     |       -->
//! ```
//! A loop over one column decides nothing for each row, and no row in it waits until the end of the row before is known. Row by
//! row, the rows of three numbers take twice as long.

use super::{Coding, RowBytes, Source, write_code};
use crate::row::RestColumn;

/// Rows that are in places at a time: these stay in the first cache of a CPU.
const PLACES: usize = 64;
/// The size of places is a multiple of this, so that rows are moved, with what is behind their ends, by few and known moves.
const MOVED_BYTES: usize = 32;
/// Numbers are written so many bytes at a time.
const WRITTEN_BYTES: usize = 8;

/// Rows on their way, and where each ends.
struct Places {
    bytes: Vec<u8>,
    size: usize,
    ends: [usize; PLACES],
}

impl Places {
    /// The rows and their ends.
    fn each(&mut self) -> impl Iterator<Item = (&mut [u8], &mut usize)> {
        self.bytes.chunks_exact_mut(self.size).zip(&mut self.ends)
    }

    fn put(&mut self, part: &RestColumn, source: &Source<'_>, first: usize) {
        match source {
            Source::Codes { codes, valid: None, coding, .. } => {
                let codes = &codes[first..];
                // A loop for each, in which the coding is a constant.
                match coding {
                    Coding::Byte => self.put_codes(codes, Coding::Byte),
                    Coding::Varint => self.put_codes(codes, Coding::Varint),
                    Coding::Zigzag => self.put_codes(codes, Coding::Zigzag),
                }
            }
            Source::Codes { codes, valid: Some(valid), coding, .. } => {
                let given = codes[first..].iter().zip(&valid[first..]);
                for ((place, end), (&code, &valid)) in self.each().zip(given) {
                    if valid {
                        *end += write_code(code, *coding, place, *end);
                    } else {
                        put_null(place, part);
                    }
                }
            }
            Source::Bytes(own) => {
                for (place, end) in self.each() {
                    place[*end..*end + own.len()].copy_from_slice(own);
                    *end += own.len();
                }
            }
            Source::Null => self.each().for_each(|(place, _)| put_null(place, part)),
            Source::Values(_) => unreachable!("how long values are is not known before"),
        }
    }

    #[inline(always)]
    fn put_codes(&mut self, codes: &[i64], coding: Coding) {
        for ((place, end), &code) in self.each().zip(codes) {
            *end += write_code(code, coding, place, *end);
        }
    }
}

fn put_null(place: &mut [u8], part: &RestColumn) {
    if let Some(bit) = part.null_bit {
        place[1 + bit / 8] |= 1 << (bit % 8);
    }
}

/// Rows whose length is one byte: none is longer than `longest`, which is below 128.
pub(super) fn encode(
    parts: &[(&RestColumn, &Source<'_>)],
    (bitmap_bytes, marked): (usize, bool),
    rows: usize,
    longest: usize,
    out: &mut RowBytes,
) {
    let size = (1 + longest + WRITTEN_BYTES).next_multiple_of(MOVED_BYTES);
    let pack = match size / MOVED_BYTES {
        1 => pack::<{ MOVED_BYTES }>,
        2 => pack::<{ 2 * MOVED_BYTES }>,
        3 => pack::<{ 3 * MOVED_BYTES }>,
        4 => pack::<{ 4 * MOVED_BYTES }>,
        _ => pack::<{ 5 * MOVED_BYTES }>,
    };
    let mut places = Places { bytes: vec![0; PLACES * size], size, ends: [0; PLACES] };
    out.bytes.resize(rows * (1 + longest) + size, 0);
    out.lengths.reserve(rows);
    let mut begin = 0;
    for first in (0..rows).step_by(PLACES) {
        for (place, end) in places.each() {
            *end = 1 + bitmap_bytes;
            place[1..*end].fill(0);
        }
        parts.iter().for_each(|(part, source)| places.put(part, source, first));
        if marked {
            for (place, end) in places.each() {
                place[*end] = 0;
                *end += 1;
            }
        }
        begin = pack(&mut places, rows - first, out, begin);
    }
    out.bytes.truncate(begin);
}

/// Moves rows, at most so many, behind those that are there already; where they end then.
fn pack<const SIZE: usize>(places: &mut Places, rows: usize, out: &mut RowBytes, begin: usize) -> usize {
    let mut begin = begin;
    let (from, _) = places.bytes.as_chunks_mut::<SIZE>();
    for (place, &end) in from.iter_mut().zip(&places.ends).take(rows) {
        place[0] = (end - 1) as u8;
        let to = out.bytes[begin..].first_chunk_mut::<SIZE>();
        *to.expect("room for a whole place behind every row") = *place;
        out.lengths.push(end as u32 - 1);
        begin += end;
    }
    begin
}
