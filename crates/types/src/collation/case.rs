//! The cases of characters where a language has no say.

/// Simple lower case: characters whose lower case is longer stay as they are.
pub(super) fn lower(c: char) -> char {
    single(c, c.to_lowercase())
}

/// Simple upper case, likewise.
pub(super) fn upper(c: char) -> char {
    single(c, c.to_uppercase())
}

fn single(c: char, mut mapped: impl Iterator<Item = char>) -> char {
    match (mapped.next(), mapped.next()) {
        (Some(one), None) => one,
        _ => c,
    }
}
