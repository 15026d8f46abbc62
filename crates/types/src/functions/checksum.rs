//! CHECKSUM and BINARY_CHECKSUM.
//!
//! Both fold 32-bit words together: `sum = rotate_left(sum, 4) ^ word`. The words are the bytes of a value, or the one word that an
//! integer is; the sums of several arguments fold in the same way, and NULL is the greatest word. BINARY_CHECKSUM takes the bytes of
//! texts as they are. CHECKSUM takes those of equal texts for the same; what numbers these get is our own, as are those of other
//! types than integers.

use super::Context;
use crate::compare::hash;
use crate::convert;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

type Evaluated = Result<Value, SqlError>;

/// The word that NULL is.
const OF_NULL: u32 = i32::MAX as u32;

fn fold(sum: u32, word: u32) -> u32 {
    sum.rotate_left(4) ^ word
}

/// The word of an integer of up to four bytes.
fn of_integer(value: &Value) -> Option<u32> {
    match value {
        Value::Bit(_) | Value::TinyInt(_) | Value::SmallInt(_) | Value::Int(_) => {
            value.as_i64().map(|number| number as u32)
        }
        _ => None,
    }
}

/// The words of all arguments folded; the first word is the sum as it is.
fn of_all(words: impl Iterator<Item = Result<u32, SqlError>>) -> Evaluated {
    let mut sum = 0;
    for word in words {
        sum = fold(sum, word?);
    }
    Ok(Value::Int(sum as i32))
}

/// Equal arguments give equal numbers.
pub(super) fn checksum(context: &mut Context, values: &[Value], _: &[SqlType]) -> Evaluated {
    let collation = context.collation;
    of_all(values.iter().map(|value| {
        if value.is_null() {
            return Ok(OF_NULL);
        }
        let hashed = || {
            let hash = hash(value, collation);
            (hash ^ hash >> 32) as u32
        };
        Ok(of_integer(value).unwrap_or_else(hashed))
    }))
}

/// Arguments of the same bytes give equal numbers.
pub(super) fn binary_checksum(_: &mut Context, values: &[Value], types: &[SqlType]) -> Evaluated {
    of_all(values.iter().zip(types).map(|(value, ty)| of_bytes(value, ty)))
}

fn of_bytes(value: &Value, ty: &SqlType) -> Result<u32, SqlError> {
    if let Value::Variant(variant) = value {
        return of_bytes(variant.value(), variant.ty());
    }
    if let Some(word) = of_integer(value) {
        return Ok(word);
    }
    // Blanks at the end make no two texts different.
    let bytes = match value {
        Value::Null => return Ok(OF_NULL),
        Value::Str(text) => {
            let trimmed = Value::Str(text.trim_end_matches(' ').to_owned());
            convert::convert(&trimmed, ty, &SqlType::VarBinary(Length::Max), None)?
        }
        other => convert::convert(other, ty, &SqlType::VarBinary(Length::Max), None)?,
    };
    let Value::Bin(bytes) = bytes else { return Ok(0) };
    Ok(bytes.iter().fold(0, |sum, byte| fold(sum, u32::from(*byte))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::datetime::DateTimeOffset;

    fn numbers(values: &[Value], types: &[SqlType]) -> [Value; 2] {
        let mut context = Context::new(DateTimeOffset::new(0, 0).expect("a time"), 0);
        let sum = checksum(&mut context, values, types).expect("a sum");
        [sum, binary_checksum(&mut context, values, types).expect("a sum")]
    }

    #[test]
    fn integers_are_their_own_sums_and_fold() {
        assert_eq!(
            numbers(&[Value::Int(123_456_789)], &[SqlType::Int]),
            [Value::Int(123_456_789), Value::Int(123_456_789)]
        );
        let two = [Value::Int(1), Value::Int(0)];
        assert_eq!(numbers(&two, &[SqlType::Int; 2]), [Value::Int(16), Value::Int(16)]);
        assert_eq!(numbers(&[Value::Null], &[SqlType::Int]), [Value::Int(i32::MAX), Value::Int(i32::MAX)]);
    }

    #[test]
    fn texts_fold_their_bytes() {
        let of = |text: &str| {
            let ty = SqlType::VarChar(Length::Limit(20));
            binary_checksum(
                &mut Context::new(DateTimeOffset::new(0, 0).expect("a time"), 0),
                &[Value::from(text)],
                &[ty],
            )
        };
        assert_eq!(of("a"), Ok(Value::Int(97)));
        assert_eq!(of("aa"), Ok(Value::Int((97 * 16) ^ 97)));
        // Two pairs of texts that are known to meet.
        assert_eq!(of("bQ"), of("aa"));
        assert_eq!(of("ABA"), of("ACQ"));
        assert_eq!(of("x  "), of("x"));
        assert_ne!(of("A"), of("a"));
    }
}
