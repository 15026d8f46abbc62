//! Rows that an operator keeps in memory, one behind the other.
//!
//! ```text
//!   | row 0 | row 1 | ... | row 1023 |     | row 1024 | ...        pieces of as many rows, so that none is moved by a later one
//! ```
//! Memory is asked for by the piece, and not for each row.

use pikepole_types::Value;

/// Rows of a piece; a power of two.
const ROWS_PER_PIECE: usize = 1024;

/// Rows of the same width.
#[derive(Debug, Default)]
pub(super) struct KeptRows {
    pieces: Vec<Vec<Value>>,
    width: usize,
    rows: usize,
}

impl KeptRows {
    /// Rows that there can be.
    pub(super) const ROWS_MAX: usize = u32::MAX as usize;

    /// Adds a row and gives its number. Its values are taken out.
    pub(super) fn push(&mut self, row: &mut Vec<Value>) -> u32 {
        let number = self.begin(row.len());
        let piece = &mut self.pieces[number as usize / ROWS_PER_PIECE];
        piece.append(row);
        number
    }

    /// The same of a row of another owner, which has NULLs in its place from then on.
    pub(super) fn push_from(&mut self, row: &mut [Value]) -> u32 {
        let number = self.begin(row.len());
        let piece = &mut self.pieces[number as usize / ROWS_PER_PIECE];
        piece.extend(row.iter_mut().map(std::mem::take));
        number
    }

    /// The number of the next row. There is room for it.
    fn begin(&mut self, width: usize) -> u32 {
        if self.rows == 0 {
            self.width = width;
        }
        debug_assert_eq!(self.width, width, "rows are of one width");
        if self.pieces.len() == self.rows / ROWS_PER_PIECE {
            // The first piece grows with its rows: most are few.
            let room = if self.rows == 0 { 0 } else { ROWS_PER_PIECE * width };
            self.pieces.push(Vec::with_capacity(room));
        }
        let number = u32::try_from(self.rows).expect("a caller stops at the last number");
        self.rows += 1;
        number
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
        (row / ROWS_PER_PIECE, row % ROWS_PER_PIECE * self.width)
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
