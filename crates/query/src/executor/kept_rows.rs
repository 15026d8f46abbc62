//! Rows that an operator keeps in memory, one behind the other.
//!
//! ```text
//!   | row 0 | row 1 | ... |     | row n | ...        pieces of as many rows, so that none is moved by a later one
//! ```
//! Memory is asked for by the piece, and not for each row. Pieces are large, because sorted rows are read here and there: large blocks
//! are in large pages ([`pikepole_machine::memory::CountingAllocator`]).

use pikepole_types::Value;

/// Bytes of a piece, about: those of wide rows are no smaller.
const PIECE_BYTES: usize = 16 << 20;

/// Rows of the same width.
#[derive(Debug, Default)]
pub(super) struct KeptRows {
    pieces: Vec<Vec<Value>>,
    width: usize,
    /// Rows of a piece are two to the power of this.
    piece_bits: u32,
    rows: usize,
}

impl KeptRows {
    /// Rows that there can be.
    pub(super) const ROWS_MAX: usize = u32::MAX as usize;

    /// Adds a row and gives its number. Its values are taken out.
    pub(super) fn push(&mut self, row: &mut Vec<Value>) -> u32 {
        let (number, piece) = self.begin(row.len());
        piece.append(row);
        number
    }

    /// The same of a row of another owner, which has NULLs in its place from then on.
    pub(super) fn push_from(&mut self, row: &mut [Value]) -> u32 {
        let (number, piece) = self.begin(row.len());
        piece.extend(row.iter_mut().map(std::mem::take));
        number
    }

    /// The number of the next row, and the piece that it goes to.
    fn begin(&mut self, width: usize) -> (u32, &mut Vec<Value>) {
        if self.rows == 0 {
            self.width = width;
            self.piece_bits = (PIECE_BYTES / (width.max(1) * size_of::<Value>())).max(1).ilog2();
        }
        debug_assert_eq!(self.width, width, "rows are of one width");
        let at = self.rows >> self.piece_bits;
        if self.pieces.len() == at {
            // The first piece grows with its rows: most are few.
            let room = if at == 0 { 0 } else { width << self.piece_bits };
            self.pieces.push(Vec::with_capacity(room));
        }
        let number = u32::try_from(self.rows).expect("a caller stops at the last number");
        self.rows += 1;
        (number, &mut self.pieces[at])
    }

    /// A row.
    ///
    /// # Panics
    /// When there is no row of the number.
    pub(super) fn get(&self, row: u32) -> &[Value] {
        let (piece, at) = self.place(row);
        &self.pieces[piece][at..at + self.width]
    }

    /// A row, to take its values out.
    ///
    /// # Panics
    /// When there is no row of the number.
    pub(super) fn get_mut(&mut self, row: u32) -> &mut [Value] {
        let (piece, at) = self.place(row);
        &mut self.pieces[piece][at..at + self.width]
    }

    fn place(&self, row: u32) -> (usize, usize) {
        let row = row as usize;
        (row >> self.piece_bits, (row & ((1 << self.piece_bits) - 1)) * self.width)
    }

    /// Forgets all, but for the room of a piece.
    pub(super) fn clear(&mut self) {
        self.pieces.truncate(1);
        self.rows = 0;
        if let Some(first) = self.pieces.first_mut() {
            first.clear();
        }
    }
}
