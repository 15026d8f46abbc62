//! The rest of rows some of whose columns always have the same values: their bytes are made once.
//!
//! ```text
//!   head: bitmap, constants | a column | constants | a column | constants, mark
//! ```

use super::{RestColumn, RowError, RowLayout, rest};
use crate::value::Value;

/// See the module. It is made by [`RowLayout::template`], and used with that layout alone.
#[derive(Debug, Clone)]
pub struct RestTemplate {
    /// The bitmap, with the bits of constants, and the constants before the first column that changes.
    head: Constants,
    /// The columns that change, each with the bytes up to the next one.
    parts: Box<[(RestColumn, Constants)]>,
    /// The length of a row depends on the columns that change, and is limited.
    is_limited: bool,
}

/// Bytes that are the same in all rows.
#[derive(Debug, Clone)]
enum Constants {
    /// The first ones of these: to copy all is quicker than to copy so many.
    Short([u8; SHORT], u8),
    Long(Box<[u8]>),
}

const SHORT: usize = 16;

impl Constants {
    fn new(bytes: &[u8]) -> Constants {
        let mut short = [0; SHORT];
        match short.get_mut(..bytes.len()) {
            Some(own) => {
                own.copy_from_slice(bytes);
                Constants::Short(short, bytes.len() as u8)
            }
            None => Constants::Long(bytes.into()),
        }
    }

    #[inline]
    fn push_to(&self, out: &mut Vec<u8>) {
        match self {
            Constants::Short(bytes, len) => {
                let end = out.len() + usize::from(*len);
                out.extend_from_slice(bytes);
                out.truncate(end);
            }
            Constants::Long(bytes) => out.extend_from_slice(bytes),
        }
    }
}

impl RowLayout {
    /// The template of rows that have the values of `row` in the columns for which `is_constant` is true.
    ///
    /// # Errors
    /// As [`RowLayout::encode_rest`], for the constants.
    pub fn template(&self, row: &[Value], is_constant: impl Fn(usize) -> bool) -> Result<RestTemplate, RowError> {
        let mut head = vec![0; self.bitmap_bytes];
        let mut parts: Vec<(RestColumn, Vec<u8>)> = Vec::new();
        for part in &self.rest {
            let value = &row[part.column];
            match part.null_bit {
                _ if !is_constant(part.column) => parts.push((*part, Vec::new())),
                Some(bit) if value.is_null() => head[bit / 8] |= 1 << (bit % 8),
                _ => {
                    let out = parts.last_mut().map_or(&mut head, |(_, behind)| behind);
                    rest::encode(value, &self.columns[part.column].ty, part.column, out)?;
                }
            }
        }
        if self.marked {
            parts.last_mut().map_or(&mut head, |(_, behind)| behind).push(0);
        }
        let parts = parts.into_iter().map(|(column, behind)| (column, Constants::new(&behind))).collect();
        Ok(RestTemplate { head: Constants::new(&head), parts, is_limited: self.row_limit.is_some() })
    }

    /// [`RowLayout::encode_rest`] of a row that has the template's constants.
    ///
    /// # Errors
    /// As of `encode_rest`, for the columns that change.
    #[inline]
    pub fn encode_rest_by<'v>(
        &self,
        template: &RestTemplate,
        value: impl Fn(usize) -> &'v Value,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        if template.is_limited {
            self.check_row(&value)?;
        }
        let bitmap = out.len();
        template.head.push_to(out);
        for (part, behind) in &template.parts {
            let value = value(part.column);
            match part.null_bit {
                Some(bit) if value.is_null() => out[bitmap + bit / 8] |= 1 << (bit % 8),
                _ => rest::encode(value, &self.columns[part.column].ty, part.column, out)?,
            }
            behind.push_to(out);
        }
        Ok(())
    }
}
