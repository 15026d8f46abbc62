//! The grouping values of rows in batches, each combination of them with a number.
//!
//! Grouping values are kept column by column, as codes as long as the batches have codes of one kind, else as values. A hash table has
//! the numbers of groups; it knows no values itself. Codes of a single column that lie close together, such as small integers or the
//! days of some years, are looked up by their distance from the least one first.

use hashbrown::HashTable;
use pikepole_types::{Collation, Value, hash, hash_code, hash_text, order};

use super::vector::{Code, Vector, VectorBuilder};
use arrow_array::Array;

/// The groups so far.
#[derive(Clone)]
pub(crate) struct GroupKeys {
    index: HashTable<u32>,
    /// By group.
    hashes: Vec<u64>,
    /// The batch that each has come with.
    firsts: Vec<u64>,
    columns: Vec<KeyColumn>,
    /// Bytes of texts and the like in the grouping values.
    heap_bytes: usize,
    /// The hashes of the rows at hand.
    row_hashes: Vec<u64>,
    near: NearCodes,
}

/// The groups of codes that lie close together.
#[derive(Clone, Default)]
struct NearCodes {
    least: i64,
    /// The group of each code from the least one on, and one more; 0: the hash table has to tell.
    groups: Vec<u32>,
    /// True once codes have come that lie apart.
    is_off: bool,
}

/// One of the grouping values, by group.
#[derive(Clone)]
struct KeyColumn {
    collation: Collation,
    known: Known,
}

#[derive(Clone)]
enum Known {
    Codes { code: Code, codes: Vec<Option<i64>> },
    Values(Vec<Value>),
}

impl GroupKeys {
    /// None yet; there is a collation for each grouping value.
    pub(crate) fn new(collations: impl Iterator<Item = Collation>) -> GroupKeys {
        let column = |collation| KeyColumn { collation, known: Known::Values(Vec::new()) };
        GroupKeys {
            index: HashTable::new(),
            hashes: Vec::new(),
            firsts: Vec::new(),
            columns: collations.map(column).collect(),
            heap_bytes: 0,
            row_hashes: Vec::new(),
            near: NearCodes::default(),
        }
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Bytes that they take.
    pub(crate) fn bytes(&self) -> usize {
        // A hash, and a number in the table with the room that is free there.
        let each = 2 * size_of::<u64>() + 2 * size_of::<u32>();
        let each = each + self.columns.iter().map(|column| column.known.bytes_each()).sum::<usize>();
        self.len() * each + self.heap_bytes + self.near.groups.len() * size_of::<u32>()
    }

    /// The groups of the rows of a batch whose grouping values these are: known ones, or new ones with the next numbers.
    pub(crate) fn find(&mut self, keys: &[Vector], rows: usize, batch: u64, places: &mut Vec<u32>) {
        for (place, vector) in keys.iter().enumerate() {
            if self.columns[place].known.widens_for(vector) {
                self.hash_again();
            }
        }
        if self.find_near(keys, batch, places) {
            return;
        }
        let mut row_hashes = std::mem::take(&mut self.row_hashes);
        row_hashes.clear();
        row_hashes.resize(rows, 0);
        for (column, vector) in self.columns.iter().zip(keys) {
            column.hash(vector, &mut row_hashes);
        }
        places.clear();
        places.extend(row_hashes.iter().enumerate().map(|(row, &hash)| self.find_or_add(hash, keys, row, batch)));
        self.row_hashes = row_hashes;
    }

    /// The same without hashes, where the codes of the only column allow it. False: they do not.
    fn find_near(&mut self, keys: &[Vector], batch: u64, places: &mut Vec<u32>) -> bool {
        let ([column], [Vector::Coded(_, codes)]) = (&self.columns[..], keys) else { return false };
        if !matches!(column.known, Known::Codes { .. }) || codes.null_count() > 0 || !self.near.reach(codes.values()) {
            return false;
        }
        let mut near = std::mem::take(&mut self.near);
        places.clear();
        places.extend(codes.values().iter().enumerate().map(|(row, &code)| {
            // It is in reach.
            let known = &mut near.groups[code.wrapping_sub(near.least) as usize];
            if *known == 0 {
                *known = self.find_or_add(combine(0, hash_code(code)), keys, row, batch) + 1;
            }
            *known - 1
        }));
        self.near = near;
        true
    }

    #[inline]
    fn find_or_add(&mut self, hash: u64, keys: &[Vector], row: usize, batch: u64) -> u32 {
        match self.index.find(hash, |&group| self.is_group(group, hash, keys, row)) {
            Some(&group) => group,
            None => self.add(hash, keys, row, batch),
        }
    }

    #[inline]
    fn is_group(&self, group: u32, code: u64, keys: &[Vector], row: usize) -> bool {
        let group = group as usize;
        let is_same = |(column, vector): (&KeyColumn, &Vector)| column.is_same(group, vector, row);
        self.hashes[group] == code && self.columns.iter().zip(keys).all(is_same)
    }

    fn add(&mut self, code: u64, keys: &[Vector], row: usize, batch: u64) -> u32 {
        let group = self.hashes.len() as u32;
        self.hashes.push(code);
        self.firsts.push(batch);
        for (column, vector) in self.columns.iter_mut().zip(keys) {
            self.heap_bytes += column.known.push(vector, row);
        }
        let hashes = &self.hashes;
        self.index.insert_unique(code, group, |&group| hashes[group as usize]);
        group
    }

    /// Takes in the groups of another part of the rows. Of values that are equal and yet differ the first one stays, as if all rows had
    /// come in their order.
    pub(crate) fn merge(&mut self, other: &GroupKeys, places: &mut Vec<u32>) {
        self.find_first(&other.vectors(), other.len(), &other.firsts, places);
    }

    /// [`GroupKeys::find`] of rows that have come with these batches.
    pub(crate) fn find_first(&mut self, keys: &[Vector], rows: usize, firsts: &[u64], places: &mut Vec<u32>) {
        self.find(keys, rows, u64::MAX, places);
        for (row, (&place, &first)) in places.iter().zip(firsts).enumerate() {
            let place = place as usize;
            if first < self.firsts[place] {
                self.firsts[place] = first;
                self.columns.iter_mut().zip(keys).for_each(|(column, vector)| column.known.set(place, vector, row));
            }
        }
    }

    /// The batches that some groups have come with.
    pub(crate) fn firsts(&self, groups: std::ops::Range<usize>) -> &[u64] {
        &self.firsts[groups]
    }

    /// The batch that a group has come with.
    pub(crate) fn first(&self, group: usize) -> u64 {
        self.firsts[group]
    }

    /// Values are hashed otherwise than codes.
    fn hash_again(&mut self) {
        let keys = self.vectors();
        self.hashes.iter_mut().for_each(|hash| *hash = 0);
        for (column, vector) in self.columns.iter().zip(&keys) {
            column.hash(vector, &mut self.hashes);
        }
        let hashes = &self.hashes;
        self.index.clear();
        for (group, &code) in hashes.iter().enumerate() {
            self.index.insert_unique(code, group as u32, |&group| hashes[group as usize]);
        }
    }

    /// The grouping values, by group.
    pub(crate) fn vectors(&self) -> Vec<Vector> {
        let vector = |column: &KeyColumn| {
            let mut out = VectorBuilder::new();
            (0..self.len()).for_each(|group| out.push(&column.known.get(group)));
            out.finish()
        };
        self.columns.iter().map(vector).collect()
    }

    /// One of the grouping values of some groups.
    pub(crate) fn vector(&self, column: usize, groups: &[u32]) -> Vector {
        match &self.columns[column].known {
            Known::Codes { code, codes } => {
                Vector::Coded(*code, groups.iter().map(|&group| codes[group as usize]).collect())
            }
            Known::Values(values) => {
                let mut out = VectorBuilder::new();
                groups.iter().for_each(|&group| out.push(&values[group as usize]));
                out.finish()
            }
        }
    }

    /// A group's values.
    pub(crate) fn values(&self, group: usize) -> impl Iterator<Item = Value> {
        self.columns.iter().map(move |column| column.known.get(group))
    }
}

impl NearCodes {
    /// Codes that are near each other, from the least to the greatest.
    const SPAN_MAX: u64 = 1 << 16;

    /// Makes room for these codes too. False: they lie apart.
    fn reach(&mut self, codes: &[i64]) -> bool {
        let Some(&first) = codes.first().filter(|_| !self.is_off) else { return false };
        let (mut low, mut high) =
            codes.iter().fold((first, first), |(low, high), &code| (low.min(code), high.max(code)));
        if let Some(last) = self.groups.len().checked_sub(1) {
            (low, high) = (low.min(self.least), high.max(self.least + last as i64));
        }
        let span = high.abs_diff(low);
        if span >= Self::SPAN_MAX {
            *self = NearCodes { is_off: true, ..NearCodes::default() };
            return false;
        }
        if self.groups.len() as u64 <= span {
            let in_front = if self.groups.is_empty() { 0 } else { self.least.abs_diff(low) as usize };
            self.groups.splice(0..0, std::iter::repeat_n(0, in_front));
            self.groups.resize(span as usize + 1, 0);
            self.least = low;
        }
        true
    }
}

/// The hash of values: that of those before, and of one more.
#[inline(always)]
pub(super) fn combine(before: u64, hash: u64) -> u64 {
    before.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash
}

impl Known {
    /// Makes values of codes, where what comes is no code of their kind. Whether it has.
    fn widens_for(&mut self, vector: &Vector) -> bool {
        let kind = match vector {
            Vector::Coded(code, _) => Some(*code),
            Vector::Same(Value::Null) => match self {
                Known::Codes { code, .. } => Some(*code),
                Known::Values(_) => None,
            },
            Vector::Same(value) => Code::encode(value).map(|(code, _)| code),
            Vector::Texts(_) | Vector::Any(_) => None,
        };
        match (&mut *self, kind) {
            (Known::Codes { code, .. }, Some(kind)) if *code == kind => false,
            (Known::Values(values), Some(kind)) if values.is_empty() && !matches!(kind, Code::Decimal { .. }) => {
                *self = Known::Codes { code: kind, codes: Vec::new() };
                false
            }
            (Known::Values(_), _) => false,
            (Known::Codes { code, codes }, _) => {
                let value = |known: &Option<i64>| known.map_or(Value::Null, |known| code.decode(known));
                *self = Known::Values(codes.iter().map(value).collect());
                true
            }
        }
    }

    /// Bytes that a value takes, but for those of texts and the like.
    fn bytes_each(&self) -> usize {
        match self {
            Known::Codes { .. } => size_of::<Option<i64>>(),
            Known::Values(_) => size_of::<Value>(),
        }
    }

    /// Adds a row's value; gives the bytes that it has beside its own.
    fn push(&mut self, vector: &Vector, row: usize) -> usize {
        match self {
            Known::Codes { codes, .. } => {
                codes.push(code_at(vector, row));
                0
            }
            Known::Values(values) => {
                let mut value = Value::Null;
                vector.read(row, &mut value);
                let bytes = value.heap_bytes();
                values.push(value);
                bytes
            }
        }
    }

    /// Puts a row's value, which is equal, in the place of a group's own.
    fn set(&mut self, group: usize, vector: &Vector, row: usize) {
        match self {
            // Equal codes are the same.
            Known::Codes { .. } => {}
            Known::Values(values) => vector.read(row, &mut values[group]),
        }
    }

    fn get(&self, group: usize) -> Value {
        match self {
            Known::Codes { code, codes } => codes[group].map_or(Value::Null, |known| code.decode(known)),
            Known::Values(values) => values[group].clone(),
        }
    }
}

/// A row's code; none for NULL.
#[inline]
fn code_at(vector: &Vector, row: usize) -> Option<i64> {
    match vector {
        Vector::Coded(_, codes) => codes.is_valid(row).then(|| codes.values()[row]),
        Vector::Same(value) => Code::encode(value).map(|(_, code)| code),
        Vector::Texts(_) | Vector::Any(_) => None,
    }
}

impl KeyColumn {
    /// Adds the hashes of a column's values to those of its rows so far.
    fn hash(&self, vector: &Vector, hashes: &mut [u64]) {
        let add = |hash: &mut u64, code: u64| *hash = combine(*hash, code);
        let null = hash(&Value::Null, self.collation);
        match (&self.known, vector) {
            (Known::Codes { .. }, Vector::Coded(_, codes)) if codes.null_count() == 0 => {
                hashes.iter_mut().zip(codes.values()).for_each(|(hash, &code)| add(hash, hash_code(code)));
            }
            (Known::Codes { .. }, _) => {
                for (row, hash) in hashes.iter_mut().enumerate() {
                    add(hash, code_at(vector, row).map_or(null, hash_code));
                }
            }
            (Known::Values(_), Vector::Texts(texts)) => {
                // The same text often comes several times in a row.
                let mut last = (None, null);
                for (row, hash) in hashes.iter_mut().enumerate() {
                    let text = texts.get(row);
                    if text != last.0 {
                        last = (text, text.map_or(null, |text| hash_text(text, self.collation)));
                    }
                    add(hash, last.1);
                }
            }
            (Known::Values(_), _) => {
                let mut value = Value::Null;
                for (row, out) in hashes.iter_mut().enumerate() {
                    vector.read(row, &mut value);
                    add(out, hash(&value, self.collation));
                }
            }
        }
    }

    /// Whether a group has a row's value.
    #[inline]
    fn is_same(&self, group: usize, vector: &Vector, row: usize) -> bool {
        match (&self.known, vector) {
            (Known::Codes { codes, .. }, _) => codes[group] == code_at(vector, row),
            (Known::Values(values), Vector::Texts(texts)) => match (&values[group], texts.get(row)) {
                (Value::Str(known), Some(text)) => known == text || self.collation.compare(known, text).is_eq(),
                (known, text) => known.is_null() && text.is_none(),
            },
            (Known::Values(values), _) => {
                let mut value = Value::Null;
                vector.read(row, &mut value);
                order(&values[group], &value, self.collation).is_eq()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vector(values: &[Value]) -> Vector {
        let mut out = VectorBuilder::new();
        values.iter().for_each(|value| out.push(value));
        out.finish()
    }

    /// The groups of rows, a batch after the other.
    fn groups_of(batches: &[&[Value]]) -> (Vec<u32>, GroupKeys) {
        let mut keys = GroupKeys::new([Collation::DEFAULT].into_iter());
        let (mut found, mut places) = (Vec::new(), Vec::new());
        for batch in batches {
            keys.find(&[vector(batch)], batch.len(), 0, &mut places);
            found.extend_from_slice(&places);
        }
        (found, keys)
    }

    #[test]
    fn equal_values_are_of_one_group_whatever_batches_have_them() {
        let text = |text: &str| Value::Str(text.into());
        let int = Value::Int;
        let (found, _) = groups_of(&[&[int(1), Value::Null, int(2)], &[Value::Null], &[int(2)], &[int(3), int(1)]]);
        assert_eq!(found, [0, 1, 2, 1, 2, 3, 0]);
        // Case and blanks at the end count for nothing in the default collation.
        let (found, _) =
            groups_of(&[&[text("a"), text("A "), Value::Null, text("")], &[text(" "), text("b"), text("a")]]);
        assert_eq!(found, [0, 0, 1, 2, 2, 3, 0]);
        let (found, _) = groups_of(&[&[Value::Float(0.0), Value::Float(-0.0)], &[Value::Float(1.0)]]);
        assert_eq!(found, [0, 0, 1]);
    }

    #[test]
    fn codes_are_found_near_and_apart() {
        let int = |numbers: &[i32]| numbers.iter().map(|&number| Value::Int(number)).collect::<Vec<_>>();
        let batches = [
            int(&[5, 7, 5]),
            int(&[3, 9, 7]),
            vec![Value::Null, Value::Int(9)],
            int(&[-1, 5]),
            // From here on they lie apart.
            int(&[i32::MIN, i32::MAX, 9]),
            int(&[-1, 3, 4, i32::MAX]),
        ];
        let (found, keys) = groups_of(&batches.each_ref().map(|batch| &batch[..]));
        assert_eq!(found, [0, 1, 0, 2, 3, 1, 4, 3, 5, 0, 6, 7, 3, 5, 2, 8, 7]);
        assert!(keys.near.is_off && keys.near.groups.is_empty());
        let big = |numbers: &[i64]| numbers.iter().map(|&number| Value::BigInt(number)).collect::<Vec<_>>();
        let ends = [big(&[i64::MIN, i64::MIN + 1]), big(&[i64::MAX]), big(&[i64::MIN])];
        assert_eq!(groups_of(&ends.each_ref().map(|batch| &batch[..])).0, [0, 1, 2, 0]);
        let (found, keys) = groups_of(&[&big(&[i64::MAX]), &big(&[i64::MAX - 9, i64::MAX])]);
        assert_eq!((found, keys.near.groups.len()), (vec![0, 1, 0], 10));
    }

    #[test]
    fn of_equal_values_the_first_batch_has_the_say() {
        let part = |text: &str, batch: u64| {
            let mut keys = GroupKeys::new([Collation::DEFAULT].into_iter());
            keys.find(&[vector(&[Value::Str(text.into())])], 1, batch, &mut Vec::new());
            keys
        };
        for order in [[0, 1], [1, 0]] {
            let parts = [part("a", 3), part("A", 2)];
            let mut whole = GroupKeys::new([Collation::DEFAULT].into_iter());
            order.iter().for_each(|&number| whole.merge(&parts[number], &mut Vec::new()));
            assert_eq!((whole.len(), whole.first(0)), (1, 2));
            assert_eq!(whole.values(0).collect::<Vec<_>>(), [Value::Str("A".into())]);
        }
    }

    #[test]
    fn groups_stay_when_other_kinds_of_values_come() {
        let (found, keys) =
            groups_of(&[&[Value::Int(1), Value::Null], &[Value::BigInt(7), Value::BigInt(1)], &[Value::Int(1)]]);
        assert_eq!(found, [0, 1, 2, 0, 0]);
        let values: Vec<Value> = (0..keys.len()).flat_map(|group| keys.values(group)).collect();
        assert_eq!(values, [Value::Int(1), Value::Null, Value::BigInt(7)]);
        let decimal = |digits, scale| Value::Decimal(pikepole_types::Decimal::new(digits, 18, scale).expect("short"));
        let (found, _) = groups_of(&[&[decimal(10, 1), decimal(100, 2)], &[decimal(1, 0)]]);
        assert_eq!(found, [0, 0, 0]);
    }
}
