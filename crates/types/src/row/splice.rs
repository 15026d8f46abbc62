//! The rest of a row of which a few columns get other values: the bytes of all others are copied as they are.
//!
//! ```text
//!   old   bitmap | a | b     | c | d          new   bitmap | a | b' | c | d
//!                    └ decoded, changed ──encoded──────────────┘
//! ```

use super::{RestStep, RowError, RowLayout, rest};
use crate::sql_type::SqlType;
use crate::value::Value;

/// See the module. It is made by [`RowLayout::splice`], and used with that layout alone.
#[derive(Debug, Clone)]
pub struct RestSplice {
    /// The columns up to the last one that changes. The output of those that change is set.
    steps: Box<[RestStep]>,
}

impl RowLayout {
    /// The way to change these columns of rows. None: their values have no fixed length, so that a row could get too long; they are in
    /// the key, or the end of rows is the caller's.
    pub fn splice(&self, changed: &[usize]) -> Option<RestSplice> {
        let is_fixed = |column: &usize| {
            !self.key.iter().any(|part| part.column == *column) && has_fixed_length(&self.columns[*column].ty)
        };
        if self.marked || !changed.iter().all(is_fixed) {
            return None;
        }
        Some(RestSplice { steps: self.projection(changed).rest })
    }

    /// [`RowLayout::encode_rest`] of a row that has the values of `old` but for those columns.
    ///
    /// # Errors
    /// As of `encode_rest`, for the columns that change; [`RowError::Corrupt`].
    pub fn encode_rest_spliced<'v>(
        &self,
        splice: &RestSplice,
        old: &[u8],
        value: impl Fn(usize) -> &'v Value,
        out: &mut Vec<u8>,
    ) -> Result<(), RowError> {
        let (bitmap, mut kept) = old.split_at_checked(self.bitmap_bytes).ok_or(RowError::Corrupt { column: 0 })?;
        let start = out.len();
        out.extend_from_slice(bitmap);
        let mut bytes = kept;
        for RestStep { rest, ty, output } in &splice.steps {
            let column = rest.column;
            let is_null = rest.null_bit.is_some_and(|bit| bitmap[bit / 8] >> (bit % 8) & 1 == 1);
            let behind = match is_null {
                true => bytes,
                false => rest::skip(bytes, ty).ok_or(RowError::Corrupt { column })?,
            };
            if output.is_some() {
                out.extend_from_slice(&kept[..kept.len() - bytes.len()]);
                kept = behind;
                let value = value(column);
                if let Some(bit) = rest.null_bit {
                    let (byte, mask) = (&mut out[start + bit / 8], 1 << (bit % 8));
                    *byte = if value.is_null() { *byte | mask } else { *byte & !mask };
                }
                if rest.null_bit.is_none() || !value.is_null() {
                    rest::encode(value, &ty.ty, column, out)?;
                }
            }
            bytes = behind;
        }
        out.extend_from_slice(kept);
        Ok(())
    }
}

/// Tells if the length of a row does not depend on the values of such a column, as SQL Server counts it.
fn has_fixed_length(ty: &SqlType) -> bool {
    matches!(
        ty,
        SqlType::Bit
            | SqlType::TinyInt
            | SqlType::SmallInt
            | SqlType::Int
            | SqlType::BigInt
            | SqlType::Decimal { .. }
            | SqlType::Money
            | SqlType::SmallMoney
            | SqlType::Real
            | SqlType::Float
            | SqlType::Date
            | SqlType::Time(_)
            | SqlType::DateTime
            | SqlType::SmallDateTime
            | SqlType::DateTime2(_)
            | SqlType::DateTimeOffset(_)
            | SqlType::UniqueIdentifier
    )
}
