//! Code pages: the bytes of `char` and `varchar`, and lengths in them and in UTF-16 units.
//!
//! Strings are UTF-8 in memory, whatever their type. What a type adds is which characters a value may have and what its declared
//! length counts:
//!
//! ```text
//!   nchar, nvarchar                  any character     UTF-16 units    CodePage::Utf16
//!   char, varchar, most collations   its code page's   bytes           Western (1252) and the others of one byte
//!   ... of East Asian collations     its code page's   bytes, 1 or 2   932, 936, 949, 950
//!   ... of UTF-8 collations          any character     bytes, 1 to 4   65001
//! ```
//!
//! The code page of a text is its collation's. Every code page has ASCII's bytes for ASCII: texts of these never look into a table.
//! A character that a code page lacks is written as one that looks like it, where there is such ([`best_fit`]), else as `?`.

mod best_fit;
mod double;
mod single;

use crate::sql_type::SqlType;
use std::borrow::Cow;

/// What the texts of a type are made of. The numbers are those that Windows gives code pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum CodePage {
    /// Of collations that `char` and `varchar` cannot have.
    UnicodeOnly = 0,
    /// MS-DOS in the United States.
    Dos437 = 437,
    /// MS-DOS in western Europe.
    Dos850 = 850,
    /// Thai.
    Thai = 874,
    /// Japanese: Shift JIS.
    Japanese = 932,
    /// Chinese, simplified: GBK.
    SimplifiedChinese = 936,
    /// Korean.
    Korean = 949,
    /// Chinese, traditional: Big5.
    TraditionalChinese = 950,
    /// What `nchar` and `nvarchar` have.
    Utf16 = 1200,
    /// Central Europe.
    Central = 1250,
    /// Cyrillic.
    Cyrillic = 1251,
    /// Western Europe: that of the default collation.
    Western = 1252,
    /// Greek.
    Greek = 1253,
    /// Turkish.
    Turkish = 1254,
    /// Hebrew.
    Hebrew = 1255,
    /// Arabic.
    Arabic = 1256,
    /// Baltic.
    Baltic = 1257,
    /// Vietnamese.
    Vietnamese = 1258,
    /// UTF-8.
    Utf8 = 65001,
}

impl CodePage {
    /// The code pages that characters are bytes in.
    pub const ALL: [CodePage; 17] = [
        CodePage::Dos437,
        CodePage::Dos850,
        CodePage::Thai,
        CodePage::Japanese,
        CodePage::SimplifiedChinese,
        CodePage::Korean,
        CodePage::TraditionalChinese,
        CodePage::Central,
        CodePage::Cyrillic,
        CodePage::Western,
        CodePage::Greek,
        CodePage::Turkish,
        CodePage::Hebrew,
        CodePage::Arabic,
        CodePage::Baltic,
        CodePage::Vietnamese,
        CodePage::Utf8,
    ];

    /// Windows' number of it.
    pub fn number(self) -> u16 {
        self as u16
    }

    /// The code page of a number.
    pub fn by_number(number: u16) -> Option<CodePage> {
        CodePage::ALL.into_iter().find(|page| page.number() == number)
    }

    /// What a type's texts are made of whose collation has this code page.
    #[inline]
    pub fn of(self, ty: &SqlType) -> CodePage {
        if matches!(ty, SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Text) { self } else { CodePage::Utf16 }
    }

    /// Whether it has all characters.
    #[inline]
    pub fn is_unicode(self) -> bool {
        matches!(self, CodePage::Utf8 | CodePage::Utf16 | CodePage::UnicodeOnly)
    }

    /// The most units that a character of one unit in another code page has here.
    pub fn width_max(self) -> usize {
        match self {
            CodePage::Utf8 => 3,
            _ if double::is_double(self) => 2,
            _ => 1,
        }
    }

    /// Whether it has a character itself.
    pub fn holds(self, c: char) -> bool {
        c.is_ascii() || self.is_unicode() || self.code(c).is_some()
    }

    /// The number of a character: one byte, or two with the first one in the upper half.
    fn code(self, c: char) -> Option<u16> {
        if double::is_double(self) { double::code(self, c) } else { single::to_byte(self, c).map(u16::from) }
    }

    /// The code that a character is written with, or one that looks like it.
    fn nearest(self, c: char) -> Option<u16> {
        self.code(c).or_else(|| best_fit::look_alike(self, c).and_then(|like| self.code(like)))
    }

    /// How many units a character takes.
    #[inline]
    fn width(self, c: char) -> usize {
        match self {
            _ if c.is_ascii() => 1,
            CodePage::Utf8 => c.len_utf8(),
            CodePage::Utf16 | CodePage::UnicodeOnly => c.len_utf16(),
            _ => match self.nearest(c) {
                None => c.len_utf16(),
                Some(code) => 1 + usize::from(code > 0xFF),
            },
        }
    }

    /// The text as it is in this code page: what it lacks is replaced, by `?` once for each UTF-16 unit where nothing looks like it.
    pub fn replace_foreign(self, text: &str) -> Cow<'_, str> {
        if text.is_ascii() || self.is_unicode() || text.chars().all(|c| self.holds(c)) {
            return Cow::Borrowed(text);
        }
        let mut replaced = String::with_capacity(text.len());
        for c in text.chars() {
            if self.holds(c) {
                replaced.push(c);
            } else {
                match best_fit::look_alike(self, c).filter(|like| self.holds(*like)) {
                    Some(like) => replaced.push(like),
                    None => (0..c.len_utf16()).for_each(|_| replaced.push('?')),
                }
            }
        }
        Cow::Owned(replaced)
    }

    /// Length in units.
    #[inline]
    pub fn units(self, text: &str) -> usize {
        if text.is_ascii() || self == CodePage::Utf8 {
            return text.len();
        }
        text.chars().map(|c| self.width(c)).sum()
    }

    /// Bytes that a text takes where it is stored or sent in this code page: those of UTF-16 are two a unit.
    pub fn bytes(self, text: &str) -> usize {
        if self == CodePage::Utf16 { self.units(text) * 2 } else { self.units(text) }
    }

    /// The longest start of a text that has at most `limit` units.
    #[inline]
    pub fn prefix(self, text: &str, limit: usize) -> &str {
        // No character has more units than bytes in memory.
        if text.len() <= limit {
            return text;
        }
        if text.is_ascii() {
            return &text[..limit];
        }
        let mut left = limit;
        for (offset, c) in text.char_indices() {
            let width = self.width(c);
            if left < width {
                return &text[..offset];
            }
            left -= width;
        }
        text
    }

    /// Appends the bytes of a text.
    pub fn encode(self, text: &str, out: &mut Vec<u8>) {
        match self {
            CodePage::Utf16 | CodePage::UnicodeOnly => out.extend(text.encode_utf16().flat_map(u16::to_le_bytes)),
            CodePage::Utf8 => out.extend_from_slice(text.as_bytes()),
            _ if text.is_ascii() => out.extend_from_slice(text.as_bytes()),
            _ => {
                for c in text.chars() {
                    match self.nearest(c) {
                        _ if c.is_ascii() => out.push(c as u8),
                        Some(code) if code > 0xFF => out.extend_from_slice(&code.to_be_bytes()),
                        Some(code) => out.push(code as u8),
                        None => out.extend(std::iter::repeat_n(b'?', c.len_utf16())),
                    }
                }
            }
        }
    }

    /// Appends the text that bytes stand for; what is no character becomes U+FFFD.
    pub fn decode(self, bytes: &[u8], out: &mut String) {
        match self {
            CodePage::Utf16 | CodePage::UnicodeOnly => {
                let pair = |pair: &[u8]| u16::from_le_bytes([pair[0], pair.get(1).copied().unwrap_or(0)]);
                let units = bytes.chunks(2).map(pair);
                out.extend(char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)));
            }
            CodePage::Utf8 => out.push_str(&String::from_utf8_lossy(bytes)),
            _ if bytes.is_ascii() => out.push_str(&String::from_utf8_lossy(bytes)),
            _ if double::is_double(self) => double::decode(self, bytes, out),
            _ => out.extend(bytes.iter().map(|&byte| single::from_byte(self, byte))),
        }
    }
}

/// The byte offset of a position, counted in characters or in UTF-16 units from 0, or the text's length. A surrogate pair is not
/// split: a position inside it is the pair's start.
pub(crate) fn offset_of(text: &str, at: usize, by_characters: bool) -> usize {
    if text.is_ascii() {
        return at.min(text.len());
    }
    let mut left = at;
    for (offset, c) in text.char_indices() {
        let width = if by_characters { 1 } else { c.len_utf16() };
        if left < width {
            return offset;
        }
        left -= width;
    }
    text.len()
}

/// A text's length in characters or in UTF-16 units.
#[inline]
pub(crate) fn length_of(text: &str, by_characters: bool) -> usize {
    match by_characters {
        _ if text.is_ascii() => text.len(),
        true => text.chars().count(),
        false => text.encode_utf16().count(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(page: CodePage, text: &str) -> Vec<u8> {
        let mut bytes = Vec::new();
        page.encode(text, &mut bytes);
        bytes
    }

    fn decoded(page: CodePage, bytes: &[u8]) -> String {
        let mut text = String::new();
        page.decode(bytes, &mut text);
        text
    }

    #[test]
    fn what_a_code_page_gives_it_takes() {
        for page in CodePage::ALL {
            assert_eq!(CodePage::by_number(page.number()), Some(page));
            for c in (0..=0xFFFF).filter_map(char::from_u32) {
                let text = c.to_string();
                let bytes = encoded(page, &text);
                assert_eq!(page.units(&text), bytes.len(), "{page:?} {c:?}");
                assert_eq!(page.holds(c), decoded(page, &bytes) == text, "{page:?} {c:?}");
                assert_eq!(encoded(page, &page.replace_foreign(&text)), bytes, "{page:?} {c:?}");
            }
        }
        for byte in 0..=255u8 {
            assert_eq!(encoded(CodePage::Western, &decoded(CodePage::Western, &[byte])), [byte]);
        }
    }

    #[test]
    fn characters_have_the_bytes_that_clients_know() {
        let known: [(CodePage, &str, &[u8]); 15] = [
            (CodePage::Western, "€ naïve", b"\x80 na\xEFve"),
            (CodePage::Cyrillic, "Привет", b"\xCF\xF0\xE8\xE2\xE5\xF2"),
            (CodePage::Greek, "Γειά", b"\xC3\xE5\xE9\xDC"),
            (CodePage::Central, "Łódź", b"\xA3\xF3d\x9F"),
            (CodePage::Turkish, "İı", b"\xDD\xFD"),
            (CodePage::Hebrew, "שלום", b"\xF9\xEC\xE5\xED"),
            (CodePage::Arabic, "سلام", b"\xD3\xE1\xC7\xE3"),
            (CodePage::Baltic, "ąė", b"\xE0\xEB"),
            (CodePage::Vietnamese, "đ₫", b"\xF0\xFE"),
            (CodePage::Thai, "ไทย", b"\xE4\xB7\xC2"),
            (CodePage::Japanese, "日本ｱ", b"\x93\xFA\x96\x7B\xB1"),
            (CodePage::SimplifiedChinese, "中文€", b"\xD6\xD0\xCE\xC4\x80"),
            (CodePage::Korean, "한글", b"\xC7\xD1\xB1\xDB"),
            (CodePage::TraditionalChinese, "中文", b"\xA4\xA4\xA4\xE5"),
            (CodePage::Dos850, "Öø", b"\x99\x9B"),
        ];
        for (page, text, bytes) in known {
            assert_eq!(encoded(page, text), bytes, "{page:?}");
            assert_eq!(decoded(page, bytes), text, "{page:?}");
        }
        assert_eq!(encoded(CodePage::Dos437, "αß½"), b"\xE0\xE1\xAB");
        assert_eq!(encoded(CodePage::Utf8, "é"), b"\xC3\xA9");
        assert_eq!(encoded(CodePage::Utf16, "é"), b"\xE9\x00");
    }

    #[test]
    fn foreign_characters_become_like_ones_or_question_marks() {
        assert_eq!(CodePage::Western.replace_foreign("naïve €"), "naïve €");
        assert_eq!(CodePage::Western.replace_foreign("aΩbЖ"), "aOb?");
        assert_eq!(CodePage::Western.replace_foreign("Łódź Ａ"), "Lódz A");
        assert_eq!(CodePage::Western.replace_foreign("😀"), "??");
        assert_eq!(CodePage::Cyrillic.replace_foreign("éЖΩ"), "eЖ?");
        assert_eq!(CodePage::Japanese.replace_foreign("日é"), "日e");
        assert_eq!(CodePage::Utf8.replace_foreign("😀"), "😀");
    }

    #[test]
    fn units_and_prefixes() {
        assert_eq!(CodePage::Utf16.units("é😀"), 3);
        assert_eq!(CodePage::Western.units("éa"), 2);
        assert_eq!(CodePage::Japanese.units("日a"), 3);
        assert_eq!(CodePage::Utf8.units("日é"), 5);
        assert_eq!(CodePage::Western.prefix("éab", 2), "éa");
        assert_eq!(CodePage::Utf16.prefix("a😀b", 2), "a");
        assert_eq!(CodePage::Utf16.prefix("a😀b", 3), "a😀");
        assert_eq!(CodePage::Utf8.prefix("aéb", 2), "a");
        assert_eq!(CodePage::Japanese.prefix("a日本", 4), "a日");
        assert_eq!(offset_of("a😀b", 9, false), 6);
        assert_eq!((offset_of("a😀b", 2, false), offset_of("a😀b", 2, true)), (1, 5));
        assert_eq!((length_of("a😀", false), length_of("a😀", true)), (3, 2));
    }
}
