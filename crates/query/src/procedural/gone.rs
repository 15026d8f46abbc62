//! Keys that rows had, and the order in which the rows that refer to them follow.
//!
//! Referring rows follow one key after the other. Where one row takes the key that another has left, the rows that refer to
//! the other's must have gone before:
//!
//! ```text
//!   1 -> 2, 2 -> 3, 3 -> 4     the rows of 3 first, then those of 2, then those of 1
//!   1 -> 2, 2 -> 1             a ring: the rows of 1 are found, then those of 2 follow, then the ones that were found
//! ```

use std::collections::HashMap;

use pikepole_types::{Collation, Value, hash};

/// A key that a row had.
pub(super) struct GoneKey {
    /// The foreign key that refers to it, by its place among the rules.
    pub(super) rule: usize,
    pub(super) old: Vec<Value>,
    /// What the key has become; None for a row that was deleted.
    pub(super) new: Option<Vec<Value>>,
    pub(super) part: Part,
}

/// The part of a key in the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// It is in no ring, or within one.
    Plain,
    /// It is the first of a ring: the rows that refer to the key at this place, the last one, are to be found before.
    Opens(usize),
    /// It is the last of a ring.
    Closes,
}

/// Where a walk has come to a key.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Unseen,
    /// On the present path, at this place.
    On(usize),
    Done,
}

/// Puts the keys in an order in which no row follows twice. `follows` says whether rows follow a rule's changed keys.
pub(super) fn put_in_order(gone: &mut Vec<GoneKey>, follows: impl Fn(usize) -> bool) {
    let changed = |key: &GoneKey| key.new.is_some() && follows(key.rule);
    if gone.iter().filter(|key| changed(key)).take(2).count() < 2 {
        return;
    }
    let mut places: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    for (at, key) in gone.iter().enumerate().filter(|(_, key)| changed(key)) {
        places.entry((key.rule, hash_of(&key.old))).or_default().push(at);
    }
    let next = |at: usize| {
        let key = &gone[at];
        let new = key.new.as_ref().filter(|_| follows(key.rule))?;
        places.get(&(key.rule, hash_of(new)))?.iter().copied().find(|other| gone[*other].old == *new)
    };
    let mut marks = vec![Mark::Unseen; gone.len()];
    let mut order: Vec<(usize, Part)> = Vec::with_capacity(gone.len());
    for start in 0..gone.len() {
        let mut path = Vec::new();
        let mut at = Some(start);
        let mut ring = None;
        while let Some(here) = at {
            match marks[here] {
                Mark::Done => break,
                Mark::On(place) => {
                    ring = Some(place);
                    break;
                }
                Mark::Unseen => {}
            }
            marks[here] = Mark::On(path.len());
            path.push(here);
            at = next(here);
        }
        let first = order.len();
        order.extend(path.iter().rev().map(|at| (*at, Part::Plain)));
        if let Some(place) = ring {
            let last = order.len() - 1 - place;
            order[first].1 = Part::Opens(last);
            order[last].1 = Part::Closes;
        }
        path.iter().for_each(|at| marks[*at] = Mark::Done);
    }
    let mut keys: Vec<Option<GoneKey>> = gone.drain(..).map(Some).collect();
    gone.extend(order.into_iter().filter_map(|(at, part)| Some(GoneKey { part, ..keys[at].take()? })));
}

fn hash_of(key: &[Value]) -> u64 {
    key.iter().fold(0, |code: u64, value| code.rotate_left(23) ^ hash(value, Collation::default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(pairs: &[(i32, i32)]) -> Vec<(i32, Part)> {
        let key = |(old, new): &(i32, i32)| GoneKey {
            rule: 0,
            old: vec![Value::Int(*old)],
            new: Some(vec![Value::Int(*new)]),
            part: Part::Plain,
        };
        let mut gone: Vec<GoneKey> = pairs.iter().map(key).collect();
        put_in_order(&mut gone, |_| true);
        gone.iter().map(|key| (key.old[0].as_i64().unwrap_or_default() as i32, key.part)).collect()
    }

    #[test]
    fn a_chain_goes_from_its_end() {
        let plain = |at| (at, Part::Plain);
        assert_eq!(ordered(&[(1, 2), (2, 3), (3, 4)]), [plain(3), plain(2), plain(1)]);
        assert_eq!(ordered(&[(3, 4), (1, 2), (2, 3), (9, 8)]), [plain(3), plain(2), plain(1), plain(9)]);
        assert_eq!(ordered(&[(5, 5)]), [plain(5)]);
    }

    #[test]
    fn a_ring_is_opened_by_the_key_before_its_first_one() {
        let (opens, plain, closes) =
            (|at, last| (at, Part::Opens(last)), |at| (at, Part::Plain), |at| (at, Part::Closes));
        assert_eq!(ordered(&[(1, 2), (2, 1)]), [opens(2, 1), closes(1)]);
        assert_eq!(ordered(&[(7, 8), (1, 2), (2, 3), (3, 1)]), [plain(7), opens(3, 3), plain(2), closes(1)]);
    }
}
