//! The footer of a Parquet file: found, and looked through before it is decoded.
//!
//! ```text
//! PAR1 | pages of all columns | metadata (Thrift, compact protocol) | length of the metadata, 4 bytes | PAR1
//! ```
//!
//! The decoder of the metadata allocates as much as a list says it has elements, and calls itself for each level of the schema. So the
//! metadata is walked first: a list has at most as many elements as bytes follow it, and a schema is not deep.

use super::guard::decoded;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::file::reader::ChunkReader;

/// Bytes of the length and of the mark behind it.
const TAIL_BYTES: u64 = 8;
/// Levels of structures in the metadata; those of the format are six.
const DEPTH_MAX: usize = 32;
/// Levels of the schema.
const SCHEMA_DEPTH_MAX: usize = 64;

/// Reads the metadata of a file.
pub fn read<R: ChunkReader>(file: &R) -> Result<ParquetMetaData, String> {
    let no_file = || "this is no Parquet file".to_owned();
    let end = file.len().checked_sub(TAIL_BYTES).ok_or_else(no_file)?;
    let tail = file.get_bytes(end, TAIL_BYTES as usize).map_err(|error| error.to_string())?;
    let (length, mark) = tail.split_first_chunk::<4>().ok_or_else(no_file)?;
    match mark {
        b"PAR1" => {}
        b"PARE" => return Err("its metadata is encrypted".to_owned()),
        _ => return Err(no_file()),
    }
    let length = u32::from_le_bytes(*length);
    let damaged = |why: &str| format!("its metadata is damaged: {why}");
    let start = end.checked_sub(length.into()).ok_or_else(|| damaged("it is longer than the file"))?;
    let bytes = file.get_bytes(start, length as usize).map_err(|error| error.to_string())?;
    let is_sound = Walker { bytes: &bytes }.metadata().is_some_and(|children| is_flat_enough(&children));
    if !is_sound {
        return Err(damaged("its lists or levels do not fit"));
    }
    decoded(|| ParquetMetaDataReader::decode_metadata(&bytes)).map_err(|why| damaged(&why))
}

/// True if the elements of a schema, by their numbers of children, are one tree of few levels.
fn is_flat_enough(children: &[i64]) -> bool {
    // Children that are still to come, by level.
    let mut open = vec![1_u64];
    for count in children {
        while open.last() == Some(&0) {
            open.pop();
        }
        let Some(left) = open.last_mut() else { return false };
        *left -= 1;
        match u64::try_from(*count) {
            Ok(0) => {}
            Ok(count) if count < children.len() as u64 && open.len() < SCHEMA_DEPTH_MAX => open.push(count),
            _ => return false,
        }
    }
    open.iter().all(|left| *left == 0)
}

/// The types of fields and elements in the compact protocol.
mod kind {
    pub const TRUE: u8 = 1;
    pub const FALSE: u8 = 2;
    pub const BYTE: u8 = 3;
    pub const I16: u8 = 4;
    pub const I32: u8 = 5;
    pub const I64: u8 = 6;
    pub const DOUBLE: u8 = 7;
    pub const BINARY: u8 = 8;
    pub const LIST: u8 = 9;
    pub const SET: u8 = 10;
    pub const MAP: u8 = 11;
    pub const STRUCT: u8 = 12;
    pub const UUID: u8 = 16;
}

/// The field of the metadata that has the schema, and that of a schema's element that counts its children.
const SCHEMA_FIELD: i16 = 2;
const CHILDREN_FIELD: i16 = 5;

/// Walks structures of the compact protocol; None: they are not whole.
struct Walker<'a> {
    bytes: &'a [u8],
}

impl Walker<'_> {
    /// Walks all of the metadata; gives the number of children of each element of its schema.
    fn metadata(&mut self) -> Option<Vec<i64>> {
        let mut children = Vec::new();
        self.fields(|walker, field, ty| match (field, ty) {
            (SCHEMA_FIELD, kind::LIST) => {
                let (count, ty) = walker.list()?;
                (ty == kind::STRUCT).then_some(())?;
                for _ in 0..count {
                    children.push(walker.schema_element()?);
                }
                Some(())
            }
            _ => walker.skip(ty, 0),
        })?;
        Some(children)
    }

    fn schema_element(&mut self) -> Option<i64> {
        let mut children = 0;
        self.fields(|walker, field, ty| match (field, ty) {
            (CHILDREN_FIELD, kind::I32) => {
                children = walker.number()?;
                Some(())
            }
            _ => walker.skip(ty, 0),
        })?;
        Some(children)
    }

    /// Hands each field of a structure to `take`, which walks over it.
    fn fields(&mut self, mut take: impl FnMut(&mut Self, i16, u8) -> Option<()>) -> Option<()> {
        let mut field: i16 = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => i16::try_from(self.number()?).ok()?,
                more => field.checked_add(more.into())?,
            };
            take(self, field, head & 0xf)?;
        }
    }

    fn skip(&mut self, ty: u8, depth: usize) -> Option<()> {
        if depth > DEPTH_MAX {
            return None;
        }
        match ty {
            kind::TRUE | kind::FALSE => Some(()),
            kind::BYTE => self.byte().map(drop),
            kind::I16 | kind::I32 | kind::I64 => self.varint().map(drop),
            kind::DOUBLE => self.over(8),
            kind::UUID => self.over(16),
            kind::BINARY => {
                let length = self.varint()?;
                self.over(length)
            }
            kind::LIST | kind::SET => {
                let (count, ty) = self.list()?;
                (0..count).try_for_each(|_| self.skip_element(ty, depth))
            }
            kind::MAP => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let types = self.byte()?;
                (0..count).try_for_each(|_| {
                    self.skip_element(types >> 4, depth)?;
                    self.skip_element(types & 0xf, depth)
                })
            }
            kind::STRUCT => self.fields(|walker, _, ty| walker.skip(ty, depth + 1)),
            _ => None,
        }
    }

    /// The same within a list, where a truth value has a byte of its own.
    fn skip_element(&mut self, ty: u8, depth: usize) -> Option<()> {
        match ty {
            kind::TRUE | kind::FALSE => self.byte().map(drop),
            ty => self.skip(ty, depth + 1),
        }
    }

    /// The head of a list: how many elements it has, and their type.
    fn list(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = match head >> 4 {
            0xf => self.varint()?,
            count => count.into(),
        };
        (count <= self.bytes.len() as u64).then_some((count, head & 0xf))
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.bytes.split_first()?;
        self.bytes = rest;
        Some(*first)
    }

    fn over(&mut self, length: u64) -> Option<()> {
        self.bytes = self.bytes.get(usize::try_from(length).ok()?..)?;
        Some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    /// A number with a sign, as zigzag has it.
    fn number(&mut self) -> Option<i64> {
        let number = self.varint()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_are_longer_than_the_metadata_are_found() {
        // Field 2 is a list of 2^28 structures.
        let mut walker = Walker { bytes: &[0x29, 0xfc, 0x80, 0x80, 0x80, 0x80, 0x01, 0x00] };
        assert_eq!(walker.metadata(), None);
        // One element, without fields, and the end.
        let mut walker = Walker { bytes: &[0x29, 0x1c, 0x00, 0x00] };
        assert_eq!(walker.metadata(), Some(vec![0]));
        let mut walker = Walker { bytes: &[0x29, 0x1c, 0x55, 0x04, 0x00, 0x00] };
        assert_eq!(walker.metadata(), Some(vec![2]));
    }

    #[test]
    fn a_schema_is_one_tree_of_few_levels() {
        assert!(is_flat_enough(&[2, 0, 0]));
        assert!(is_flat_enough(&[2, 1, 0, 0]));
        assert!(is_flat_enough(&[0]));
        assert!(!is_flat_enough(&[2, 0]));
        assert!(!is_flat_enough(&[1, 0, 0]));
        assert!(!is_flat_enough(&[-1, 0]));
        assert!(!is_flat_enough(&[i64::from(i32::MAX), 0]));
        let mut deep = vec![1; 1000];
        deep.push(0);
        assert!(!is_flat_enough(&deep));
    }
}
