//! The list of `x IN (a, b, ...)`.

use std::ops::Deref;
use std::sync::Arc;

use super::Expr;
use hashbrown::HashTable;
use pikepole_types::{Collation, Value, hash, hash_text, order};

/// Constants that are looked through one by one, at most.
const LOOKED_THROUGH_MAX: usize = 8;

/// The items of a list, all of one type.
#[derive(Debug, Clone)]
pub struct InList {
    items: Vec<Expr>,
    constants: Option<Arc<Constants>>,
}

/// Constants that are found by their hashes.
#[derive(Debug)]
pub(crate) struct Constants {
    values: Vec<Value>,
    places: HashTable<u32>,
    collation: Collation,
    /// NULL is one of them.
    pub(crate) has_null: bool,
}

impl InList {
    /// Of items whose texts compare by a collation.
    pub(crate) fn new(items: Vec<Expr>, collation: Collation) -> InList {
        let constants = if items.len() > LOOKED_THROUGH_MAX { Constants::of(&items, collation) } else { None };
        InList { items, constants: constants.map(Arc::new) }
    }

    /// The items, if they are many and all constants.
    pub(crate) fn constants(&self) -> Option<&Constants> {
        self.constants.as_deref()
    }

    /// The items, to be changed; they are no constants any more.
    pub(crate) fn items_mut(&mut self) -> &mut [Expr] {
        self.constants = None;
        &mut self.items
    }
}

impl Deref for InList {
    type Target = [Expr];

    fn deref(&self) -> &[Expr] {
        &self.items
    }
}

impl Constants {
    fn of(items: &[Expr], collation: Collation) -> Option<Constants> {
        let mut constants = Constants { values: Vec::new(), places: HashTable::new(), collation, has_null: false };
        for item in items {
            let Expr::Const(value) = item else { return None };
            match value {
                Value::Null => constants.has_null = true,
                // They are of several types.
                Value::Variant(_) => return None,
                value if !constants.has(value) => constants.add(value.clone()),
                _ => {}
            }
        }
        Some(constants)
    }

    /// [`Constants::has`] of a text.
    pub(crate) fn has_text(&self, text: &str) -> bool {
        let is_it = |place: &u32| match &self.values[*place as usize] {
            Value::Str(own) => self.collation.compare(own, text).is_eq(),
            _ => false,
        };
        self.places.find(hash_text(text, self.collation), is_it).is_some()
    }

    fn add(&mut self, value: Value) {
        let place = self.values.len() as u32;
        self.values.push(value);
        let Constants { values, places, collation, .. } = self;
        let hash_of = |place: &u32| hash(&values[*place as usize], *collation);
        places.insert_unique(hash_of(&place), place, hash_of);
    }

    /// True if a value that is not NULL is one of them.
    pub(crate) fn has(&self, value: &Value) -> bool {
        let is_it = |place: &u32| order(&self.values[*place as usize], value, self.collation).is_eq();
        self.places.find(hash(value, self.collation), is_it).is_some()
    }
}
