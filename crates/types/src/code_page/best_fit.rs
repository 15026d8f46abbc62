//! Characters that stand for others in a code page that lacks these: Windows' best fit.
//!
//! The table is Windows' for 1252, without what hardly anyone writes. Other code pages take of it what does not depend on them: letters
//! without their marks, and characters of other widths.

use super::CodePage;

/// Letters with marks, and the letters below them.
const LETTERS: &[(&str, char)] = &[
    ("ÀÁÂÃÄÅĀĂĄǍǞ", 'A'),
    ("àáâãäåāăąǎǟ", 'a'),
    ("ÇĆĈĊČ", 'C'),
    ("çćĉċč", 'c'),
    ("ÐĎĐƉ", 'D'),
    ("ðďđ", 'd'),
    ("ÈÉÊËĒĔĖĘĚ", 'E'),
    ("èéêëēĕėęě", 'e'),
    ("ĜĞĠĢǤǦ", 'G'),
    ("ĝğġģǥǧɡ", 'g'),
    ("ĤĦ", 'H'),
    ("ĥħһ", 'h'),
    ("ÌÍÎÏĨĪĬĮİƗǏ", 'I'),
    ("ìíîïĩīĭįıǐ", 'i'),
    ("Ĵ", 'J'),
    ("ĵǰ", 'j'),
    ("ĶǨ", 'K'),
    ("ķǩ", 'k'),
    ("ĹĻĽŁ", 'L'),
    ("ĺļľłƚ", 'l'),
    ("ÑŃŅŇ", 'N'),
    ("ñńņň", 'n'),
    ("ÒÓÔÕÖØŌŎŐƟƠǑǪǬ", 'O'),
    ("òóôõöøōŏőơǒǫǭ", 'o'),
    ("ŔŖŘ", 'R'),
    ("ŕŗř", 'r'),
    ("ŚŜŞŠ", 'S'),
    ("śŝşš", 's'),
    ("ŢŤŦƮ", 'T'),
    ("ţťŧƫ", 't'),
    ("ÙÚÛÜŨŪŬŮŰŲƯǓǕǗǙǛ", 'U'),
    ("ùúûüũūŭůűųưǔǖǘǚǜ", 'u'),
    ("Ŵ", 'W'),
    ("ŵ", 'w'),
    ("ÝŶŸ", 'Y'),
    ("ýÿŷ", 'y'),
    ("ŹŻŽ", 'Z'),
    ("źżžƶ", 'z'),
];

/// What looks like characters of 1252 and is none of its letters.
const WESTERN: &[(&str, char)] = &[
    ("Γ", 'G'),
    ("Θ", 'T'),
    ("Σ", 'S'),
    ("Φ", 'F'),
    ("Ω", 'O'),
    ("α", 'a'),
    ("β", 'ß'),
    ("δ", 'd'),
    ("ε", 'e'),
    ("μ", 'µ'),
    ("π", 'p'),
    ("σ", 's'),
    ("τ", 't'),
    ("φ", 'f'),
    ("ʹʼˈ′", '\''),
    ("ʺ", '"'),
    ("ˋ‵", '`'),
    ("ˍ", '_'),
    ("˚∘", '°'),
    ("‐‑−", '-'),
    ("‗≡≤≥", '='),
    ("⁄∕", '/'),
    ("∖", '\\'),
    ("∗", '*'),
    ("∙⋅", '·'),
    ("√", 'v'),
    ("∞", '8'),
    ("∣", '|'),
    ("∩", 'n'),
    ("∶", ':'),
    ("∼", '~'),
    ("≈", '˜'),
    ("≪", '«'),
    ("≫", '»'),
    ("∅", 'Ø'),
    ("∓", '±'),
    ("₤", '£'),
    ("₧", 'P'),
    ("ⁿ", 'n'),
    ("ℂ", 'C'),
    ("ℓ", 'l'),
    ("ℕ", 'N'),
    ("ℙ", 'P'),
    ("ℚ", 'Q'),
    ("ℝ", 'R'),
    ("ℤ", 'Z'),
    ("K", 'K'),
    ("Å", 'Å'),
    ("〈", '<'),
    ("〉", '>'),
    ("・", '·'),
];

/// Superscript and subscript digits of 1252's neighbourhood, and spaces: what they are the same as in every code page.
fn plain(c: char) -> Option<char> {
    let digit = |first: u32| char::from_u32(u32::from(b'0') + (c as u32 - first));
    match c {
        '\u{2000}'..='\u{2006}' | '\u{3000}' => Some(' '),
        '\u{2074}'..='\u{2079}' => digit(0x2070),
        '\u{2080}'..='\u{2089}' => digit(0x2080),
        '\u{FF01}'..='\u{FF5E}' => char::from_u32(c as u32 - 0xFEE0),
        _ => None,
    }
}

fn listed(list: &[(&str, char)], c: char) -> Option<char> {
    list.iter().find(|(all, _)| all.contains(c)).map(|(_, like)| *like)
}

/// The character that is written in the place of one that a code page lacks.
pub(super) fn look_alike(page: CodePage, c: char) -> Option<char> {
    let own = (page == CodePage::Western).then(|| listed(WESTERN, c)).flatten();
    own.or_else(|| plain(c)).or_else(|| listed(LETTERS, c))
}
