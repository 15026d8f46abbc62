//! What characters a document and its names may have.

/// Whether XML has the character at all.
pub fn is_character(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

/// Whether it is one of XML's blanks.
pub(super) fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Whether a name without a colon may begin with it.
pub fn starts_name(c: char) -> bool {
    matches!(c,
        'A'..='Z' | '_' | 'a'..='z'
        | '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{F6}' | '\u{F8}'..='\u{2FF}' | '\u{370}'..='\u{37D}'
        | '\u{37F}'..='\u{1FFF}' | '\u{200C}'..='\u{200D}' | '\u{2070}'..='\u{218F}' | '\u{2C00}'..='\u{2FEF}'
        | '\u{3001}'..='\u{D7FF}' | '\u{F900}'..='\u{FDCF}' | '\u{FDF0}'..='\u{FFFD}' | '\u{10000}'..='\u{EFFFF}')
}

/// Whether a name without a colon may go on with it.
pub fn continues_name(c: char) -> bool {
    starts_name(c) || matches!(c, '-' | '.' | '0'..='9' | '\u{B7}' | '\u{300}'..='\u{36F}' | '\u{203F}'..='\u{2040}')
}

/// The name without a colon that a text begins with; empty when it begins with none.
pub(super) fn leading_name(text: &str) -> &str {
    if !text.starts_with(starts_name) {
        return "";
    }
    let end = text.find(|c| !continues_name(c)).unwrap_or(text.len());
    &text[..end]
}
