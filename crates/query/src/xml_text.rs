//! Texts as XML has them: documents of FOR XML, names, plans, events.

use std::fmt::Write;

/// Appends a text as XML has it, within an element or an attribute.
pub(crate) fn escape_xml(text: &str, in_attribute: bool, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            '\t' | '\n' if !in_attribute => out.push(character),
            control if control < ' ' => {
                let written = write!(out, "&#x{:02X};", u32::from(control));
                debug_assert!(written.is_ok(), "writing to a string cannot fail");
            }
            plain => out.push(plain),
        }
    }
}
