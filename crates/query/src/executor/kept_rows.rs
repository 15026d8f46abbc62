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

    /// Puts a row in the place of an earlier one, which is lost.
    ///
    /// # Panics
    /// When there is no row of one of the numbers.
    pub(super) fn put(&mut self, from: u32, to: u32) {
        if from == to {
            return;
        }
        for at in 0..self.width {
            let value = std::mem::take(&mut self.get_mut(from)[at]);
            self.get_mut(to)[at] = value;
        }
    }

    /// Forgets the rows from a number on, and all room but that of the last piece.
    pub(super) fn truncate(&mut self, rows: usize) {
        self.rows = self.rows.min(rows);
        let last = self.rows >> self.piece_bits;
        self.pieces.truncate(last + 1);
        let in_last = (self.rows - (last << self.piece_bits)) * self.width;
        if let Some(piece) = self.pieces.get_mut(last) {
            piece.truncate(in_last);
        }
    }

    /// Forgets all, but for the room of a piece.
    pub(super) fn clear(&mut self) {
        self.truncate(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stay_in_their_places_over_pieces() {
        // Wide rows, so that a piece has few.
        let width = PIECE_BYTES / size_of::<Value>() / 4;
        let mut rows = KeptRows::default();
        let add = |rows: &mut KeptRows, number: i32| rows.push(&mut vec![Value::Int(number); width]);
        let first_values = |rows: &KeptRows| {
            let value = |row: u32| rows.get(row)[width - 1].as_i64().expect("a number");
            (0..rows.rows as u32).map(value).collect::<Vec<_>>()
        };
        for number in 0..11 {
            assert_eq!(add(&mut rows, number), number as u32);
        }
        assert_eq!(rows.pieces.len(), 3);
        for (to, from) in [0, 3, 4, 9, 10].into_iter().enumerate() {
            rows.put(from, to as u32);
        }
        rows.truncate(5);
        assert_eq!((first_values(&rows), rows.pieces.len()), (vec![0, 3, 4, 9, 10], 2));
        // To the end of a piece, and over it.
        rows.truncate(4);
        assert_eq!([add(&mut rows, 20), add(&mut rows, 21)], [4, 5]);
        assert_eq!(first_values(&rows), [0, 3, 4, 9, 20, 21]);
        rows.clear();
        assert_eq!(add(&mut rows, 30), 0);
        assert_eq!((first_values(&rows), rows.pieces.len()), (vec![30], 1));
    }
}
