//! What is the same in all languages: texts without what the weights of Windows pass over, and with what characters
//! stand for.

use super::{Entry, Sight, VARIATIONS, push_special};
use crate::collation::Collation;
use std::borrow::Cow;

/// A text as a language's order is asked for, and what it passes over.
#[derive(Debug)]
pub(in crate::collation) struct Reduced<'t> {
    /// The text without specials and characters without a weight; several characters for one that stands for them.
    pub(in crate::collation) text: Cow<'t, str>,
    /// Its specials, as in the sort keys of [`super`].
    pub(in crate::collation) specials: Vec<u8>,
}

/// Reduces a text.
pub(in crate::collation) fn reduced(collation: Collation, text: &str) -> Reduced<'_> {
    if super::is_simple(text) {
        return Reduced { text: Cow::Borrowed(text), specials: Vec::new() };
    }
    let sight = Sight::of(collation);
    let is_changed =
        |c: char| matches!(sight.entry(c), Entry::Ignored | Entry::Special(..) | Entry::Several(_)) && !is_left(c);
    if !text.chars().any(is_changed) {
        return Reduced { text: Cow::Borrowed(text), specials: Vec::new() };
    }
    let (mut left, mut specials, mut letters) = (String::with_capacity(text.len() + 2), Vec::new(), 0);
    for c in text.chars() {
        match sight.entry(c) {
            _ if is_left(c) => left.push(c),
            Entry::Ignored => continue,
            Entry::Special(number, _) => {
                push_special(letters, if number < VARIATIONS { number & 0x7F } else { number }, &mut specials);
                continue;
            }
            Entry::Several(several) => left.push_str(several),
            Entry::Letter(_) | Entry::Mark(_) => left.push(c),
        }
        letters += 1;
    }
    Reduced { text: Cow::Owned(left), specials }
}

/// Letters of scripts whose languages know better than Windows' table for all.
fn is_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8FF}' | '\u{F00}'..='\u{FFF}' | '\u{FB1D}'..='\u{FDFB}' | '\u{FE70}'..='\u{FEFC}')
}
