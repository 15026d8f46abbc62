//! The first bytes of what rows are sorted by, as one number: most comparisons of a sort need no more of them.
//!
//! ```text
//!   key 1, descending   key 2               as bytes that compare as the values do
//!   | !(1) ! ! ! ! |    | 1 | . . . . . . . . . . . .       0: NULL; the rest is cut off, or filled with zeros
//!   <---------------- 16 bytes, the first the highest ------------>
//! ```
//! A number is never greater than that of a row that comes later. Rows of the same number may differ, unless all of what they are
//! sorted by has found room: see [`PrefixMaker::is_whole`].
//!
//! The bytes are those of a kind of values, so each key's values are expected to be of one kind. Where they are not the numbers say
//! nothing ([`PrefixMaker::is_off`]).
//!
//! As sorts of database systems do it: Graefe, "Implementing sorting in database systems" (2006), has normalised keys, and their
//! first bytes in the array that is sorted ("poor man's normalized keys").

use std::mem::Discriminant;

use crate::collation::Collation;
use crate::compare::{GUID_ORDER, trim_zeros};
use crate::value::Value;

/// Bytes of a prefix.
const BYTES: usize = size_of::<u128>();

/// Makes the prefixes of rows; knows what all of them so far have in common.
#[derive(Debug)]
pub struct PrefixMaker {
    keys: Box<[Key]>,
    /// The bytes of a text.
    text: Vec<u8>,
    is_whole: bool,
    is_off: bool,
}

#[derive(Debug)]
struct Key {
    descending: bool,
    collation: Collation,
    /// Of the values so far; the scale of decimals.
    kind: Option<(Discriminant<Value>, u8)>,
}

/// The share of a value that has found room.
enum Taken {
    Whole,
    /// Values that differ may have the same bytes.
    Part,
}

/// A prefix that is being made.
#[derive(Default)]
struct Prefix {
    bytes: [u8; BYTES],
    filled: usize,
}

impl PrefixMaker {
    /// For keys in their order: true for those that descend, and how their texts compare.
    pub fn new(keys: impl IntoIterator<Item = (bool, Collation)>) -> PrefixMaker {
        let key = |(descending, collation)| Key { descending, collation, kind: None };
        PrefixMaker { keys: keys.into_iter().map(key).collect(), text: Vec::new(), is_whole: true, is_off: false }
    }

    /// True while rows of the same prefix are equal in all keys.
    pub fn is_whole(&self) -> bool {
        self.is_whole && !self.is_off
    }

    /// True once values of different kinds have come in a key: prefixes say nothing.
    pub fn is_off(&self) -> bool {
        self.is_off
    }

    /// True if its prefixes and those of another maker compare as the rows do.
    pub fn agrees(&self, other: &PrefixMaker) -> bool {
        let is_same = |(own, other): (&Key, &Key)| own.kind.zip(other.kind).is_none_or(|(own, other)| own == other);
        !self.is_off && !other.is_off && self.keys.iter().zip(&other.keys).all(is_same)
    }

    /// The prefix of a row with these values of the keys.
    pub fn prefix(&mut self, values: &[Value]) -> u128 {
        if self.is_off {
            return 0;
        }
        let mut prefix = Prefix::default();
        for (key, value) in self.keys.iter_mut().zip(values) {
            let before = prefix.filled;
            let taken = if value.is_null() {
                prefix.push(&[0])
            } else if key.takes(value) {
                prefix.push(&[1]).and(|| prefix.push_value(value, key.collation, &mut self.text))
            } else {
                self.is_off = true;
                return 0;
            };
            if key.descending {
                prefix.bytes[before..prefix.filled].iter_mut().for_each(|byte| *byte = !*byte);
            }
            if matches!(taken, Taken::Part) {
                self.is_whole = false;
                break;
            }
        }
        u128::from_be_bytes(prefix.bytes)
    }
}

impl Key {
    /// True if the value is of the same kind as those before it.
    fn takes(&mut self, value: &Value) -> bool {
        let scale = if let Value::Decimal(decimal) = value { decimal.scale() } else { 0 };
        let kind = (std::mem::discriminant(value), scale);
        *self.kind.get_or_insert(kind) == kind
    }
}

impl Taken {
    fn and(self, then: impl FnOnce() -> Taken) -> Taken {
        match self {
            Taken::Whole => then(),
            Taken::Part => Taken::Part,
        }
    }
}

impl Prefix {
    /// Adds bytes as far as there is room.
    #[inline]
    fn push(&mut self, bytes: &[u8]) -> Taken {
        let count = bytes.len().min(BYTES - self.filled);
        self.bytes[self.filled..self.filled + count].copy_from_slice(&bytes[..count]);
        self.filled += count;
        if count == bytes.len() { Taken::Whole } else { Taken::Part }
    }

    fn push_signed(&mut self, number: i64) -> Taken {
        self.push(&(number.cast_unsigned() ^ 1 << 63).to_be_bytes())
    }

    fn push_narrow(&mut self, number: i32) -> Taken {
        self.push(&(number.cast_unsigned() ^ 1 << 31).to_be_bytes())
    }

    /// Adds a value that is not NULL.
    fn push_value(&mut self, value: &Value, collation: Collation, text: &mut Vec<u8>) -> Taken {
        match value {
            Value::Null | Value::Variant(_) | Value::Node(_) => Taken::Part,
            Value::Bit(v) => self.push(&[u8::from(*v)]),
            Value::TinyInt(v) => self.push(&[*v]),
            Value::SmallInt(v) => self.push(&(v.cast_unsigned() ^ 1 << 15).to_be_bytes()),
            Value::Int(v) => self.push_narrow(*v),
            Value::BigInt(v) | Value::Money(v) => self.push_signed(*v),
            Value::SmallMoney(v) => self.push_narrow(*v),
            Value::Decimal(v) => match i64::try_from(v.mantissa()) {
                Ok(short) if short != i64::MIN && short != i64::MAX => self.push_signed(short),
                // As one beyond all of the short ones.
                _ => {
                    self.push_signed(if v.mantissa() < 0 { i64::MIN } else { i64::MAX });
                    Taken::Part
                }
            },
            Value::Real(v) => self.push_float(f64::from(*v)),
            Value::Float(v) => self.push_float(*v),
            Value::Date(v) => self.push_narrow(v.days()),
            Value::SmallDateTime(v) => self.push_narrow(v.minutes()),
            Value::Time(v) => self.push_signed(v.ticks()),
            Value::DateTime(v) => self.push_signed(v.ticks()),
            Value::DateTime2(v) => self.push_signed(v.ticks()),
            Value::DateTimeOffset(v) => self.push_signed(v.utc_ticks()),
            Value::Guid(bytes) => self.push(&GUID_ORDER.map(|at| bytes[at])),
            Value::Str(own) => {
                text.clear();
                collation.write_key(own, text);
                self.push(text)
            }
            Value::Bin(bytes) => {
                // Zeros at the end count for nothing, so what is behind it would not be told from them.
                self.push(trim_zeros(bytes));
                self.filled = BYTES;
                Taken::Part
            }
        }
    }

    fn push_float(&mut self, number: f64) -> Taken {
        // The bits of a negative number are all turned, of others the sign. Adding 0 makes -0 into 0.
        let bits = (number + 0.0).to_bits();
        self.push(&(if bits >> 63 == 1 { !bits } else { bits ^ 1 << 63 }).to_be_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::order;
    use crate::datetime::{Date, DateTime, DateTime2, SmallDateTime, Time};
    use crate::decimal::Decimal;
    use proptest::prelude::*;
    use std::cmp::Ordering;

    /// A value of a kind, NULL among them.
    fn value_of(kind: u8, number: i64, text: &str) -> Value {
        let near = number % 5;
        match kind {
            _ if number % 7 == 0 => Value::Null,
            0 => Value::Int(number as i32),
            1 => Value::BigInt(number),
            2 => Value::SmallInt(near as i16),
            3 => Value::TinyInt(number as u8),
            4 => Value::Bit(number % 2 == 0),
            5 => Value::Money(near),
            6 => Value::SmallMoney(number as i32),
            7 => {
                let [low, high] = [i64::MIN, i64::MAX].map(i128::from);
                let number = i128::from(number);
                let mantissa = [near.into(), number << 40, low, high, low - 1, high + 1][number.rem_euclid(6) as usize];
                Value::Decimal(Decimal::new(mantissa, 38, 3).expect("fits"))
            }
            8 => Value::Float([number as f64, 0.0, -0.0, 1e300, -1e-300][(number & 3) as usize]),
            9 => Value::Real(near as f32 / 3.0),
            10 => Value::Date(Date::from_days(number.rem_euclid(3_000_000) as i32).expect("a day")),
            11 => Value::Time(Time::from_ticks(number.rem_euclid(864_000_000_000)).expect("a time")),
            12 => Value::DateTime(DateTime::from_ticks(near).expect("a moment")),
            13 => Value::SmallDateTime(SmallDateTime::from_minutes((near.unsigned_abs()) as i32).expect("a minute")),
            14 => Value::DateTime2(DateTime2::from_ticks(near.unsigned_abs() as i64).expect("a moment")),
            15 => Value::Str(text.to_owned()),
            16 => Value::Bin(text.bytes().map(|byte| byte % 3).collect()),
            _ => Value::Guid([near as u8; 16].map(|byte| byte.wrapping_mul(number as u8))),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn prefixes_are_in_the_order_of_their_rows(
            keys in proptest::collection::vec((0u8..18, any::<bool>(), 0usize..3), 1..4),
            rows in proptest::collection::vec(proptest::collection::vec((any::<i64>(), "[aA bB\\-ßéeE]{0,9}"), 3), 2..12),
        ) {
            let names = ["Latin1_General_CI_AS", "SQL_Latin1_General_CP1_CI_AS", "Latin1_General_BIN2"];
            let collation = |at: usize| Collation::by_name(names[at]).expect("a collation");
            let mut maker = PrefixMaker::new(keys.iter().map(|&(_, descending, at)| (descending, collation(at))));
            let value = |(key, (number, text)): (&(u8, bool, usize), &(i64, String))| value_of(key.0, *number, text);
            let rows: Vec<Vec<Value>> = rows.iter().map(|row| keys.iter().zip(row).map(value).collect()).collect();
            let prefixes: Vec<u128> = rows.iter().map(|row| maker.prefix(row)).collect();
            prop_assert!(!maker.is_off());
            let by_values = |a: &[Value], b: &[Value]| {
                let mut orders = keys.iter().zip(a.iter().zip(b)).map(|(&(_, descending, at), (a, b))| {
                    let found = order(a, b, collation(at));
                    if descending { found.reverse() } else { found }
                });
                orders.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
            };
            for (a, a_prefix) in rows.iter().zip(&prefixes) {
                for (b, b_prefix) in rows.iter().zip(&prefixes) {
                    let (expected, found) = (by_values(a, b), a_prefix.cmp(b_prefix));
                    prop_assert!(found.is_eq() || found == expected, "{:?} {:?}: {:?}", a, b, found);
                    prop_assert!(!maker.is_whole() || found == expected, "{:?} {:?} are told apart", a, b);
                }
            }
        }
    }

    #[test]
    fn kinds_that_differ_turn_prefixes_off() {
        let mut maker = PrefixMaker::new([(false, Collation::DEFAULT)]);
        assert!(maker.prefix(&[Value::Int(1)]) > maker.prefix(&[Value::Null]));
        assert!(maker.is_whole());
        assert_eq!(maker.prefix(&[Value::BigInt(1)]), 0);
        assert!(maker.is_off() && !maker.is_whole());
        let decimal = |scale| Value::Decimal(Decimal::new(1, 9, scale).expect("fits"));
        let mut maker = PrefixMaker::new([(false, Collation::DEFAULT)]);
        maker.prefix(&[decimal(1)]);
        maker.prefix(&[decimal(2)]);
        assert!(maker.is_off());
    }
}
