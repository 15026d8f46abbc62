//! Code pages of one byte a character.
//!
//! Those of Windows are taken from the crate `encoding_rs`, once each. Where these have no character for a byte from 0x80 to 0x9F, it is
//! the control character of that number, as in Windows.

use super::CodePage;
use std::sync::LazyLock;

/// Characters of the bytes 0x80 to 0x9F of 1252; its other bytes are the code points of the same number.
const WESTERN_CONTROLS: [char; 32] = [
    '\u{20AC}', '\u{81}', '\u{201A}', '\u{192}', '\u{201E}', '\u{2026}', '\u{2020}', '\u{2021}', '\u{2C6}', '\u{2030}',
    '\u{160}', '\u{2039}', '\u{152}', '\u{8D}', '\u{17D}', '\u{8F}', '\u{90}', '\u{2018}', '\u{2019}', '\u{201C}',
    '\u{201D}', '\u{2022}', '\u{2013}', '\u{2014}', '\u{2DC}', '\u{2122}', '\u{161}', '\u{203A}', '\u{153}', '\u{9D}',
    '\u{17E}', '\u{178}',
];

/// The upper half of MS-DOS's first code page.
const DOS_437: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀\
                       αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}";
/// The same of the one for western Europe.
const DOS_850: &str = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀\
                       ÓßÔÒõÕµþÞÚÛÙýÝ¯´\u{AD}±‗¾¶§÷¸°¨·¹³²■\u{A0}";

/// The upper half of a code page, both ways.
struct Table {
    characters: [char; 128],
    /// Ascending by character.
    bytes: Vec<(char, u8)>,
}

impl Table {
    fn new(characters: [char; 128]) -> Table {
        let mut bytes: Vec<(char, u8)> = characters.iter().copied().zip(0x80..=0xFF).collect();
        bytes.retain(|(c, _)| *c != char::REPLACEMENT_CHARACTER);
        bytes.sort_unstable();
        Table { characters, bytes }
    }

    fn of_text(text: &str) -> Table {
        let mut characters = [char::REPLACEMENT_CHARACTER; 128];
        for (place, c) in characters.iter_mut().zip(text.chars()) {
            *place = c;
        }
        Table::new(characters)
    }

    fn of_encoding(encoding: &'static encoding_rs::Encoding) -> Table {
        let mut characters = [char::REPLACEMENT_CHARACTER; 128];
        for (place, byte) in characters.iter_mut().zip(0x80..=0xFFu8) {
            let bytes = [byte];
            let (text, _) = encoding.decode_without_bom_handling(&bytes);
            *place = match text.chars().next() {
                Some(char::REPLACEMENT_CHARACTER) | None if byte < 0xA0 => char::from(byte),
                Some(c) => c,
                None => char::REPLACEMENT_CHARACTER,
            };
        }
        Table::new(characters)
    }
}

/// The tables other than that of 1252, which is in [`WESTERN_CONTROLS`].
fn table(page: CodePage) -> &'static Table {
    macro_rules! tables {
        ($($page:ident = $table:expr),* $(,)?) => {
            match page {
                $(CodePage::$page => {
                    static TABLE: LazyLock<Table> = LazyLock::new(|| $table);
                    &TABLE
                })*
                _ => {
                    static WESTERN: LazyLock<Table> = LazyLock::new(|| Table::of_encoding(encoding_rs::WINDOWS_1252));
                    &WESTERN
                }
            }
        };
    }
    tables! {
        Dos437 = Table::of_text(DOS_437),
        Dos850 = Table::of_text(DOS_850),
        Thai = Table::of_encoding(encoding_rs::WINDOWS_874),
        Central = Table::of_encoding(encoding_rs::WINDOWS_1250),
        Cyrillic = Table::of_encoding(encoding_rs::WINDOWS_1251),
        Greek = Table::of_encoding(encoding_rs::WINDOWS_1253),
        Turkish = Table::of_encoding(encoding_rs::WINDOWS_1254),
        Hebrew = Table::of_encoding(encoding_rs::WINDOWS_1255),
        Arabic = Table::of_encoding(encoding_rs::WINDOWS_1256),
        Baltic = Table::of_encoding(encoding_rs::WINDOWS_1257),
        Vietnamese = Table::of_encoding(encoding_rs::WINDOWS_1258),
    }
}

/// The character of a byte.
pub(super) fn from_byte(page: CodePage, byte: u8) -> char {
    match (page, byte) {
        (_, 0..=0x7F) => char::from(byte),
        (CodePage::Western, 0x80..=0x9F) => WESTERN_CONTROLS[usize::from(byte - 0x80)],
        (CodePage::Western, _) => char::from(byte),
        _ => table(page).characters[usize::from(byte - 0x80)],
    }
}

/// The byte of a character; `None` when the code page has none.
pub(super) fn to_byte(page: CodePage, c: char) -> Option<u8> {
    match (page, c as u32) {
        (_, code @ 0..=0x7F) => Some(code as u8),
        (CodePage::Western, code @ 0xA0..=0xFF) => Some(code as u8),
        (CodePage::Western, _) => WESTERN_CONTROLS.iter().position(|&high| high == c).map(|at| 0x80 + at as u8),
        _ => {
            let bytes = &table(page).bytes;
            bytes.binary_search_by_key(&c, |(of, _)| *of).ok().map(|at| bytes[at].1)
        }
    }
}
