//! The bytes of many rows on their way into columns, one column of all rows after the other.
//!
//! ```text
//!   bytes:    | key | rest              | key | rest            | ...       rows of a page, where they lie
//!   cursors:    ^ row 0, before the next column   ^ row 1
//! ```
//! A loop over one column of all rows knows the column's coding before it begins, and its rows do not wait for one another: a
//! processor decodes several at a time.

use super::read::{coding_of, is_text};
use super::{Coding, ColumnReader};
use crate::row::{KeyStep, Projection, RestStep, RowError, RowLayout, key, rest};
use crate::value::Value;

/// The places of rows in one piece of memory, for [`RowLayout::read_rows`].
#[derive(Debug, Default)]
pub struct RowPlaces {
    rows: Vec<Place>,
    /// The next byte of each.
    cursors: Vec<u32>,
}

/// Bytes of a row: the key up to the rest, and the rest up to the end.
#[derive(Debug, Clone, Copy)]
struct Place {
    key: u32,
    rest: u32,
    end: u32,
}

impl RowPlaces {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Adds a row: where its key begins, its rest, and where that ends.
    #[inline]
    pub fn push(&mut self, key: u32, rest: u32, end: u32) {
        self.rows.push(Place { key, rest, end });
    }

    /// Turns their order around.
    pub fn reverse(&mut self) {
        self.rows.reverse();
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }
}

impl RowLayout {
    /// Adds the wanted columns of rows to those that [`RowLayout::column_readers`] made for them. The rows lie in `bytes`.
    ///
    /// # Errors
    /// [`RowError::Corrupt`] when the bytes are no rows of this layout; the columns are of different lengths then. Numbers beyond their
    /// type are found by [`ColumnReader::check`].
    ///
    /// # Panics
    /// When a row's rest lies behind its end, or its end behind that of the bytes.
    pub fn read_rows(
        &self,
        bytes: &[u8],
        rows: &mut RowPlaces,
        projection: &Projection,
        columns: &mut [ColumnReader],
    ) -> Result<(), RowError> {
        let RowPlaces { rows, cursors } = rows;
        let is_inside = |row: &Place| row.key <= row.rest && row.rest <= row.end && row.end as usize <= bytes.len();
        assert!(rows.iter().fold(true, |all, row| all & is_inside(row)), "rows lie in their bytes");
        if !projection.key.is_empty() {
            cursors.clear();
            cursors.extend(rows.iter().map(|row| row.key));
        }
        for step in &projection.key {
            let reader = step.output.map(|place| &mut columns[place]);
            let mut column = Column::<true> { bytes, rows, cursors };
            column.read(step, reader).ok_or(RowError::Corrupt { column: step.key.column })?;
        }
        if !projection.rest.is_empty() {
            let bitmap_bytes = self.bitmap_bytes as u32;
            if bitmap_bytes > 0 && rows.iter().any(|row| row.end - row.rest < bitmap_bytes) {
                return Err(RowError::Corrupt { column: 0 });
            }
            cursors.clear();
            cursors.extend(rows.iter().map(|row| row.rest + bitmap_bytes));
        }
        for step in &projection.rest {
            let reader = step.output.map(|place| &mut columns[place]);
            let mut column = Column::<false> { bytes, rows, cursors };
            column.read(step, reader).ok_or(RowError::Corrupt { column: step.rest.column })?;
        }
        for &(from, to) in &projection.copies {
            let (low, high) = columns.split_at_mut(to);
            high[0].push_last_of(&low[from], rows.len()).ok_or(RowError::Corrupt { column: 0 })?;
        }
        Ok(())
    }
}

/// One column of all rows: the cursors stand at its values.
struct Column<'a, const IN_KEY: bool> {
    bytes: &'a [u8],
    rows: &'a [Place],
    cursors: &'a mut [u32],
}

impl<'a, const IN_KEY: bool> Column<'a, IN_KEY> {
    /// The end of the part of the row that the column is in.
    #[inline(always)]
    fn end(place: &Place) -> usize {
        (if IN_KEY { place.rest } else { place.end }) as usize
    }

    /// Adds each row's code, or NULL, which `take` reads at a place, with the place behind it.
    #[inline(always)]
    fn codes(
        &mut self,
        reader: &mut ColumnReader,
        take: impl Fn(&Place, usize) -> Option<(Option<i64>, usize)>,
    ) -> Option<()> {
        let (codes, mut nulls) = reader.begin_codes(self.rows.len())?;
        let rows = self.rows.iter().zip(self.cursors.iter_mut());
        for (row, ((place, cursor), out)) in rows.zip(codes).enumerate() {
            let (code, behind) = take(place, *cursor as usize)?;
            if behind > Self::end(place) {
                return None;
            }
            *cursor = behind as u32;
            match code {
                Some(code) => *out = code,
                None => nulls.note(row),
            }
        }
        Some(())
    }

    /// Passes each row's value; `end` tells where the one at a place ends.
    #[inline(always)]
    fn skip(&mut self, end: impl Fn(&Place, usize) -> Option<usize>) -> Option<()> {
        for (place, cursor) in self.rows.iter().zip(self.cursors.iter_mut()) {
            let behind = end(place, *cursor as usize)?;
            if behind > Self::end(place) {
                return None;
            }
            *cursor = behind as u32;
        }
        Some(())
    }

    /// Passes each row's value; `take` gets the bytes from there on and gives those behind it.
    #[inline(always)]
    fn each(&mut self, mut take: impl FnMut(&Place, &'a [u8]) -> Option<&'a [u8]>) -> Option<()> {
        for (place, cursor) in self.rows.iter().zip(self.cursors.iter_mut()) {
            let end = Self::end(place);
            let behind = take(place, &self.bytes[*cursor as usize..end])?;
            *cursor = (end - behind.len()) as u32;
        }
        Some(())
    }
}

impl Column<'_, true> {
    fn read(&mut self, step: &KeyStep, reader: Option<&mut ColumnReader>) -> Option<()> {
        let Some(reader) = reader else {
            return self.each(|_, bytes| key::decode(bytes, &step.key, &step.ty, None));
        };
        if reader.coding().is_some() {
            let (bytes, code) = (self.bytes, key::KeyCode::of(&step.key, &step.ty)?);
            return self.codes(reader, |_, at| code.take(bytes, at));
        }
        self.each(|_, bytes| {
            let mut value = Value::Null;
            let behind = key::decode(bytes, &step.key, &step.ty, Some(&mut value))?;
            reader.push_value(value)?;
            Some(behind)
        })
    }
}

impl Column<'_, false> {
    fn read(&mut self, step: &RestStep, reader: Option<&mut ColumnReader>) -> Option<()> {
        let (bytes, ty, bit) = (self.bytes, &step.ty, step.rest.null_bit);
        let varint = |at: usize| {
            let (number, behind) = varint_at(bytes, at)?;
            Some((i64::try_from(number).ok()?, behind))
        };
        let coding = reader.as_ref().map_or_else(|| coding_of(&ty.ty), |reader| reader.coding());
        match (coding, reader) {
            (Some(Coding::Byte), reader) => {
                self.numbers(bit, reader, |at| bytes.get(at).map(|&byte| (i64::from(byte), at + 1)))
            }
            (Some(Coding::Varint), reader) => self.numbers(bit, reader, varint),
            (Some(Coding::Zigzag), reader) => self.numbers(bit, reader, |at| {
                let (number, behind) = varint_at(bytes, at)?;
                Some((rest::unzigzag(number), behind))
            }),
            (None, Some(reader)) if reader.is_of_texts() => self.each(|place, own| {
                if is_null(bytes, place, bit) {
                    reader.push_null();
                    return Some(own);
                }
                let (text, behind) = rest::take_bytes(own)?;
                reader.push_text(text)?;
                Some(behind)
            }),
            (None, None) if is_text(&ty.ty) => self.numbers(bit, None, |at| {
                let (length, behind) = varint(at)?;
                Some((length, behind.checked_add(usize::try_from(length).ok()?)?))
            }),
            (None, mut reader) => self.each(|place, own| {
                let mut value = Value::Null;
                let wanted = reader.is_some().then_some(&mut value);
                let behind = if is_null(bytes, place, bit) { own } else { rest::decode(own, ty, wanted)? };
                reader.as_mut().map_or(Some(()), |reader| reader.push_value(value))?;
                Some(behind)
            }),
        }
    }

    /// Reads or passes the numbers that `take` reads at a place, with the place behind each.
    #[inline(always)]
    fn numbers(
        &mut self,
        null_bit: Option<usize>,
        reader: Option<&mut ColumnReader>,
        take: impl Fn(usize) -> Option<(i64, usize)>,
    ) -> Option<()> {
        let bytes = self.bytes;
        let code = |at| take(at).map(|(code, behind)| (Some(code), behind));
        let end = |at| take(at).map(|(_, behind)| behind);
        match (reader, null_bit) {
            (Some(reader), None) => self.codes(reader, |_, at| code(at)),
            (Some(reader), bit) => {
                self.codes(reader, |place, at| if is_null(bytes, place, bit) { Some((None, at)) } else { code(at) })
            }
            (None, None) => self.skip(|_, at| end(at)),
            (None, bit) => self.skip(|place, at| if is_null(bytes, place, bit) { Some(at) } else { end(at) }),
        }
    }
}

/// True if a row has NULL in the column of this bit. The bitmap is in front of the row's rest.
#[inline(always)]
fn is_null(bytes: &[u8], place: &Place, bit: Option<usize>) -> bool {
    bit.is_some_and(|bit| bytes[place.rest as usize + bit / 8] >> (bit % 8) & 1 == 1)
}

/// The varint at a place, and the place behind it.
#[inline(always)]
fn varint_at(bytes: &[u8], at: usize) -> Option<(u64, usize)> {
    let eight = bytes.get(at..).and_then(<[u8]>::first_chunk);
    if let Some((number, length)) = eight.and_then(|eight| rest::first_varint(*eight)) {
        return Some((number, at + length));
    }
    let (number, behind) = rest::take_varint(bytes.get(at..)?)?;
    Some((number, bytes.len() - behind.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_of_all_lengths_are_read_as_byte_by_byte() {
        let numbers =
            (0..64).flat_map(|bits| [1u64 << bits, (1 << bits) - 1, u64::MAX >> bits, 0x5A5A_5A5A_5A5A_5A5A >> bits]);
        for number in numbers {
            let mut bytes = vec![0xFF, 0x80];
            rest::push_varint(number, &mut bytes);
            let end = bytes.len();
            // With and without bytes behind it.
            for behind in [&[][..], &[0; 9], &[0xFF; 9]] {
                bytes.truncate(end);
                bytes.extend_from_slice(behind);
                assert_eq!(varint_at(&bytes, 2), Some((number, end)), "{number:#x}");
            }
            for cut in 2..end {
                assert_eq!(varint_at(&bytes[..cut], 2), None, "{number:#x}");
            }
        }
        // More than 64 bits.
        let long = [&[0xFF; 9][..], &[2]].concat();
        assert_eq!([varint_at(&long, 0), varint_at(&[0xFF; 20], 0)], [None; 2]);
    }
}
