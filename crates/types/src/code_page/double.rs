//! Code pages of one and two bytes a character, of East Asia, by the crate `encoding_rs`.
//!
//! It decodes. For the other way each code page gets a table of all of Unicode's first 65,536 code points when it is first used: which
//! character every pair of bytes is. Where two pairs are one character the first pair is written, and none of those that Windows only
//! reads.

use super::CodePage;
use encoding_rs::Encoding;
use std::sync::LazyLock;

/// Whether a code page has characters of two bytes.
#[inline]
pub(super) fn is_double(page: CodePage) -> bool {
    use CodePage::{Japanese, Korean, SimplifiedChinese, TraditionalChinese};
    matches!(page, Japanese | SimplifiedChinese | Korean | TraditionalChinese)
}

fn encoding(page: CodePage) -> &'static Encoding {
    match page {
        CodePage::Japanese => encoding_rs::SHIFT_JIS,
        CodePage::SimplifiedChinese => encoding_rs::GBK,
        CodePage::Korean => encoding_rs::EUC_KR,
        _ => encoding_rs::BIG5,
    }
}

/// Pairs that stand for a character which another pair is written for, or that are the web's alone.
fn is_only_read(page: CodePage, code: u16) -> bool {
    match page {
        CodePage::Japanese => matches!(code >> 8, 0xED | 0xEE),
        CodePage::TraditionalChinese => code < 0xA140 || (0xC6A1..=0xC8FE).contains(&code),
        _ => false,
    }
}

type Codes = Box<[u16]>;

fn codes_of(page: CodePage) -> Codes {
    let mut codes = vec![0u16; 1 << 16].into_boxed_slice();
    let mut take = |bytes: &[u8], code: u16| {
        let (text, failed) = encoding(page).decode_without_bom_handling(bytes);
        let mut characters = text.chars();
        if let (Some(c), None, false) = (characters.next(), characters.next(), failed)
            && let Some(place) = codes.get_mut(c as usize)
            && *place == 0
            && code > 0x7F
        {
            *place = code;
        }
    };
    for byte in 0x80..=0xFFu8 {
        take(&[byte], byte.into());
    }
    for code in 0x8140..=0xFEFEu16 {
        let bytes = code.to_be_bytes();
        if bytes[1] >= 0x40 && !is_only_read(page, code) {
            take(&bytes, code);
        }
    }
    codes
}

/// The number of a character outside ASCII: a byte, or two.
pub(super) fn code(page: CodePage, c: char) -> Option<u16> {
    static JAPANESE: LazyLock<Codes> = LazyLock::new(|| codes_of(CodePage::Japanese));
    static SIMPLIFIED: LazyLock<Codes> = LazyLock::new(|| codes_of(CodePage::SimplifiedChinese));
    static KOREAN: LazyLock<Codes> = LazyLock::new(|| codes_of(CodePage::Korean));
    static TRADITIONAL: LazyLock<Codes> = LazyLock::new(|| codes_of(CodePage::TraditionalChinese));
    if c.is_ascii() {
        return Some(c as u16);
    }
    let codes = match page {
        CodePage::Japanese => &JAPANESE,
        CodePage::SimplifiedChinese => &SIMPLIFIED,
        CodePage::Korean => &KOREAN,
        _ => &TRADITIONAL,
    };
    codes.get(c as usize).copied().filter(|code| *code != 0)
}

/// Appends the text that bytes stand for.
pub(super) fn decode(page: CodePage, bytes: &[u8], out: &mut String) {
    out.push_str(&encoding(page).decode_without_bom_handling(bytes).0);
}
