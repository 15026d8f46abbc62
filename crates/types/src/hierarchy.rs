//! `hierarchyid`: a place in an ordered tree, and its bytes.
//!
//! A place is the way to it: `/1/2.5/` has two levels, and each level has a label of one or more whole numbers, so that between any two
//! labels there is another one. The bytes are bits, the first one highest, filled up with zeros ([MS-SSCLRT] 2.2.2):
//!
//! ```text
//! | number | number | ... | 0..0 |
//!   = prefix, bits of the number in its range, 1 where the label ends or 0 where another number of it follows
//! ```
//!
//! `RANGES` has the prefixes. They grow with the numbers, so bytes are in the order of the tree: a place before its descendants, and
//! these before its next sibling. A number that another one of its label follows is written as its successor: so `/1.1/` is behind `/1/`
//! and all that is below it.

use crate::clr::HIERARCHY_BYTES_MAX;
use crate::error::SqlError;
use crate::value::Value;
use std::fmt;

/// Numbers of one prefix. In `bits`, `x` is a bit of the number above `first`; what stands between these keeps the order of the bytes.
struct Range {
    first: i64,
    last: i64,
    bits: &'static str,
}

const fn range(first: i64, last: i64, bits: &'static str) -> Range {
    Range { first, last, bits }
}

/// Every number of a label lies in one.
const RANGES: [Range; 13] = [
    range(-281_479_271_682_120, -4_294_971_465, "000100xxxxxxxxxxxxxx0xxxxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
    range(-4_294_971_464, -4169, "000101xxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
    range(-4168, -73, "000110xxxxx0xxx0x1xxx"),
    range(-72, -9, "0010xx0x1xxx"),
    range(-8, -1, "00111xxx"),
    range(0, 3, "01xx"),
    range(4, 7, "100xx"),
    range(8, 15, "101xxx"),
    range(16, 79, "110xx0x1xxx"),
    range(80, 1103, "1110xxx0xxx0x1xxx"),
    range(1104, 5199, "11110xxxxx0xxx0x1xxx"),
    range(5200, 4_294_972_495, "111110xxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
    range(4_294_972_496, 281_479_271_683_151, "111111xxxxxxxxxxxxxx0xxxxxxxxxxxxxxxxxxxxx0xxxxxx0xxx0x1xxx"),
];

/// A way through the tree: the label of each level. The root has none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Path {
    levels: Vec<Vec<i64>>,
}

impl Path {
    /// The place that bytes are.
    ///
    /// # Errors
    /// 6522 (24000) for bytes that are none, and for zeros that fill up more than a byte.
    pub fn read(bytes: &[u8]) -> Result<Path, SqlError> {
        Bits { bytes, at: 0 }.path().filter(|_| bytes.len() <= HIERARCHY_BYTES_MAX).ok_or_else(invalid_bytes)
    }

    /// The bytes of the place.
    ///
    /// # Errors
    /// 6522 for a place with a number beyond all ranges (24006), or of more than 892 bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, SqlError> {
        let mut out = BitsOut::default();
        for label in &self.levels {
            let (last, inner) = label.split_last().ok_or_else(invalid_bytes)?;
            inner.iter().try_for_each(|number| out.put(number.saturating_add(1), false))?;
            out.put(*last, true)?;
        }
        if out.bytes.len() > HIERARCHY_BYTES_MAX {
            return Err(failure(
                "System.Data.SqlTypes.SqlTypeException",
                "The buffer is insufficient. Read or write operation failed.",
            ));
        }
        Ok(out.bytes)
    }

    /// The value of the place.
    ///
    /// # Errors
    /// As [`Path::to_bytes`].
    pub fn to_value(&self) -> Result<Value, SqlError> {
        self.to_bytes().map(Value::Bin)
    }

    /// The place that `/1/2.5/` says.
    ///
    /// # Errors
    /// 6522 (24001) for a text that says none.
    pub fn parse(text: &str) -> Result<Path, SqlError> {
        let failed = || {
            exception(format!(
                "24001: SqlHierarchyId.Parse failed because the input string '{text}' is not a valid string representation of a \
                 SqlHierarchyId node."
            ))
        };
        let inner = text.strip_prefix('/').ok_or_else(failed)?;
        let mut path = Path::default();
        if !inner.is_empty() {
            for label in inner.strip_suffix('/').ok_or_else(failed)?.split('/') {
                let numbers: Option<Vec<i64>> = label.split('.').map(number).collect();
                path.levels.push(numbers.ok_or_else(failed)?);
            }
        }
        if path.levels.iter().any(|label| !is_writable(label)) {
            return Err(failed());
        }
        Ok(path)
    }

    /// How many levels are above it.
    pub fn level(&self) -> usize {
        self.levels.len()
    }

    /// The place `count` levels up; None above the root.
    pub fn ancestor(&self, count: usize) -> Option<Path> {
        let kept = self.levels.len().checked_sub(count)?;
        Some(Path { levels: self.levels[..kept].to_vec() })
    }

    /// Whether `ancestor` is on the way to it, or is it.
    pub fn is_descendant_of(&self, ancestor: &Path) -> bool {
        self.levels.starts_with(&ancestor.levels)
    }

    /// A child between two others, either of which may be missing.
    ///
    /// # Errors
    /// 6522 for others that are no children of it (24008), or not in their order (24009).
    pub fn descendant(&self, after: Option<&Path>, before: Option<&Path>) -> Result<Path, SqlError> {
        let after = after.map(|child| self.label_of(child, "child1")).transpose()?;
        let before = before.map(|child| self.label_of(child, "child2")).transpose()?;
        let label = match (after, before) {
            (None, None) => vec![1],
            (Some(after), None) => stepped(after, 1),
            (None, Some(before)) => stepped(before, -1),
            (Some(after), Some(before)) if after < before => between(after, before),
            (Some(after), Some(before)) => {
                let [after, before] = [after, before].map(|label| self.child(label.to_vec()));
                return Err(exception(format!(
                    "24009: SqlHierarchyId.GetDescendant failed because 'child1' must be less than 'child2'.  'child1' was '{after}' and \
                     'child2' was '{before}'."
                )));
            }
        };
        Ok(self.child(label))
    }

    fn child(&self, label: Vec<i64>) -> Path {
        let mut levels = self.levels.clone();
        levels.push(label);
        Path { levels }
    }

    /// The label that a child has below it.
    fn label_of<'p>(&self, child: &'p Path, name: &str) -> Result<&'p [i64], SqlError> {
        match child.levels.split_last() {
            Some((label, above)) if above == self.levels => Ok(label),
            _ => Err(exception(format!(
                "24008: SqlHierarchyId.GetDescendant failed because '{name}' must be a child of 'this'.  '{name}' was '{child}' and 'this' \
                 was '{self}'."
            ))),
        }
    }

    /// The place that it has below `new`, as it is now below `old`.
    ///
    /// # Errors
    /// 6522 (24007) when it is not below `old`.
    pub fn reparented(&self, old: &Path, new: &Path) -> Result<Path, SqlError> {
        let Some(rest) = self.levels.strip_prefix(&old.levels[..]) else {
            return Err(exception(format!(
                "24007: SqlHierarchyId.GetReparentedValue failed because 'oldRoot' was not an ancestor node of 'this'.  'oldRoot' was \
                 '{old}', and 'this' was '{self}'."
            )));
        };
        Ok(Path { levels: [&new.levels[..], rest].concat() })
    }
}

/// A label's number as it is written: without leading zeros and signs other than `-`.
fn number(text: &str) -> Option<i64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let leading = digits.len() > 1 && digits.starts_with('0');
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    (plain && !leading && text != "-0").then(|| text.parse().ok()).flatten()
}

/// Whether each number of a label is in a range, where it stands.
fn is_writable(label: &[i64]) -> bool {
    let last = label.len() - 1;
    label
        .iter()
        .enumerate()
        .all(|(at, number)| range_of(if at == last { *number } else { number.saturating_add(1) }).is_some())
}

/// The label whose last number is `step` further.
fn stepped(label: &[i64], step: i64) -> Vec<i64> {
    let mut label = label.to_vec();
    if let Some(last) = label.last_mut() {
        *last += step;
    }
    label
}

/// A label between two, of which the first is less.
fn between(after: &[i64], before: &[i64]) -> Vec<i64> {
    let common = after.iter().zip(before).take_while(|(a, b)| a == b).count();
    let Some(&number) = after.get(common) else {
        // `before` goes on where `after` ends: 1 and 1.5 have 1.4 between them.
        return stepped(&before[..=common], -1);
    };
    let head = &after[..=common];
    if before[common] - number > 1 {
        return stepped(head, 1);
    }
    match after.get(common + 1) {
        Some(_) => stepped(&after[..=common + 1], 1),
        None => [head, &[1]].concat(),
    }
}

fn range_of(number: i64) -> Option<&'static Range> {
    RANGES.iter().find(|range| (range.first..=range.last).contains(&number))
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("/")?;
        for label in &self.levels {
            for (at, number) in label.iter().enumerate() {
                write!(f, "{}{number}", if at == 0 { "" } else { "." })?;
            }
            f.write_str("/")?;
        }
        Ok(())
    }
}

/// Bits on their way out.
#[derive(Default)]
struct BitsOut {
    bytes: Vec<u8>,
    /// Bits that the last byte has; 0 for all.
    used: u8,
}

impl BitsOut {
    fn put(&mut self, number: i64, ends: bool) -> Result<(), SqlError> {
        let range = range_of(number).ok_or_else(|| {
            exception(
                "24006: SqlHierarchyId operation failed because the ordinal is out of the range of a node.".to_owned(),
            )
        })?;
        let offset = number - range.first;
        let mut left = range.bits.bytes().filter(|bit| *bit == b'x').count();
        for bit in range.bits.bytes() {
            let set = match bit {
                b'x' => {
                    left -= 1;
                    offset >> left & 1 == 1
                }
                bit => bit == b'1',
            };
            self.push(set);
        }
        self.push(ends);
        Ok(())
    }

    fn push(&mut self, set: bool) {
        if self.used == 0 {
            self.bytes.push(0);
        }
        if let Some(last) = self.bytes.last_mut() {
            *last |= u8::from(set) << (7 - self.used);
        }
        self.used = (self.used + 1) % 8;
    }
}

/// Bits that are read.
struct Bits<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl Bits<'_> {
    fn bit(&self, at: usize) -> Option<bool> {
        let byte = self.bytes.get(at / 8)?;
        Some(byte >> (7 - at % 8) & 1 == 1)
    }

    fn path(mut self) -> Option<Path> {
        let mut path = Path::default();
        let mut label = Vec::new();
        let end = self.bytes.len() * 8;
        while !self.only_filling(end) {
            let (number, ends) = self.number()?;
            if ends {
                label.push(number);
                path.levels.push(std::mem::take(&mut label));
            } else {
                label.push(number - 1);
            }
        }
        label.is_empty().then_some(path)
    }

    /// Whether what is left are zeros that fill up a byte.
    fn only_filling(&self, end: usize) -> bool {
        end - self.at < 8 && (self.at..end).all(|at| self.bit(at) == Some(false))
    }

    /// The next number, and whether its label ends with it.
    fn number(&mut self) -> Option<(i64, bool)> {
        let range = RANGES.iter().find(|range| self.offset(range).is_some())?;
        let offset = self.offset(range)?;
        let ends = self.bit(self.at + range.bits.len())?;
        self.at += range.bits.len() + 1;
        Some((range.first + offset, ends))
    }

    /// The bits of a number of this range, if these are one's.
    fn offset(&self, range: &Range) -> Option<i64> {
        let mut offset = 0;
        for (place, bit) in range.bits.bytes().enumerate() {
            let set = self.bit(self.at + place)?;
            match bit {
                b'x' => offset = offset << 1 | i64::from(set),
                bit if set != (bit == b'1') => return None,
                _ => {}
            }
        }
        Some(offset)
    }
}

fn invalid_bytes() -> SqlError {
    exception(
        "24000: SqlHierarchyId operation failed because HierarchyId object was constructed from an invalid binary string. "
            .to_owned(),
    )
}

fn exception(text: String) -> SqlError {
    failure("Microsoft.SqlServer.Types.HierarchyIdException", &text)
}

fn failure(class: &str, text: &str) -> SqlError {
    SqlError::clr_exception("hierarchyid", class, text).with_state(2)
}

#[cfg(test)]
mod tests;
