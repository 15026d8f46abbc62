//! A text in another one: CHARINDEX, REPLACE.

use super::{Collation, unicode};

/// A text that is looked for in another one.
#[derive(Debug)]
pub(crate) enum Finder<'t> {
    /// By bytes.
    Binary(&'t str, &'t str),
    /// Character by character.
    Folded(Collation, &'t str, &'t str),
    /// By what the characters stand for.
    Units(unicode::Finder<'t>),
}

impl<'t> Finder<'t> {
    /// `wanted` is not empty.
    pub(crate) fn new(collation: Collation, text: &'t str, wanted: &'t str) -> Finder<'t> {
        if collation.is_binary() {
            Finder::Binary(text, wanted)
        } else if collation.is_of_units() {
            Finder::Units(unicode::Finder::new(collation, text, wanted))
        } else {
            Finder::Folded(collation, text, wanted)
        }
    }

    /// The first place, as byte offsets, at or after `from` where the text stands.
    pub(crate) fn find(&self, from: usize) -> Option<(usize, usize)> {
        match self {
            Finder::Units(units) => units.find(from),
            Finder::Binary(text, wanted) => text[from..].find(wanted).map(|at| (from + at, from + at + wanted.len())),
            Finder::Folded(collation, text, wanted) => {
                let starts = text[from..].char_indices().map(|(at, _)| from + at);
                starts.into_iter().find_map(|start| {
                    let mut have = text[start..].chars();
                    let all = wanted.chars().all(|c| have.next().is_some_and(|h| collation.is_same(h, c)));
                    all.then(|| (start, text.len() - have.as_str().len()))
                })
            }
        }
    }
}
