//! Collations as five bytes: language id and comparison flags in four, a sort order's number in one.

use crate::error::TdsError;
use crate::read::Reader;
use pikepole_types::{CodePage, Collation};

/// The bit of [`WireCollation`] that says that `varchar` is UTF-8.
const UTF8: u32 = 1 << 26;

/// A collation as it travels with every string type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WireCollation {
    /// Bits 0 to 19: the language id. 20 to 27: case, accent, kana, width not told apart; binary; binary by code point;
    /// UTF-8. 28 to 31: a version.
    info: u32,
    /// The sort order of an SQL collation; 0 for a Windows one.
    sort: u8,
    /// What the two say of the bytes of a `varchar`. None: a collation that is not known here, of which only ASCII is.
    page: Option<CodePage>,
}

impl WireCollation {
    /// `SQL_Latin1_General_CP1_CI_AS`.
    pub const DEFAULT: WireCollation = WireCollation { info: 0x00D0_0409, sort: 52, page: Some(CodePage::Western) };

    /// The bytes that stand for one of our collations.
    pub fn of(collation: Collation) -> WireCollation {
        WireCollation { info: collation.wire_info(), sort: collation.sort_order(), page: Some(collation.code_page()) }
    }

    /// The same order with the code page of its language in the place of UTF-8.
    pub(crate) fn without_utf8(self) -> WireCollation {
        if self.info & UTF8 == 0 {
            return self;
        }
        let info = self.info & !UTF8;
        WireCollation { info, page: Collation::wire_code_page(info, self.sort), ..self }
    }

    /// The five bytes.
    pub fn to_bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.info.to_le_bytes();
        [a, b, c, d, self.sort]
    }

    /// From the five bytes; any five are one.
    pub fn from_bytes([a, b, c, d, sort]: [u8; 5]) -> WireCollation {
        let info = u32::from_le_bytes([a, b, c, d]);
        let page = match (info, sort) {
            (0x00D0_0409, 52) => return WireCollation::DEFAULT,
            // A client without a collation of its own has the server's, unless it is known which one it has.
            _ if is_unsaid(info, sort) => Some(CodePage::Western),
            _ => Collation::wire_code_page(info, sort),
        };
        WireCollation { info, sort, page }
    }

    /// The same collation; where a client names none, its bytes are those of this page.
    #[must_use]
    pub(crate) fn or_page(self, page: CodePage) -> WireCollation {
        if is_unsaid(self.info, self.sort) { WireCollation { page: Some(page), ..self } } else { self }
    }

    pub(crate) fn read(reader: &mut Reader<'_>) -> Result<WireCollation, TdsError> {
        Ok(WireCollation::from_bytes(reader.array("a collation")?))
    }

    /// What the bytes of a `varchar` are; none when that is not known.
    pub(crate) fn page(self) -> Option<CodePage> {
        self.page
    }
}

/// Whether the bytes name no language, and no order that goes without one.
fn is_unsaid(info: u32, sort: u8) -> bool {
    info & 0xF_FFFF == 0 && sort == 0 && info & UTF8 == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_has_the_bytes_that_clients_know() {
        assert_eq!(WireCollation::DEFAULT.to_bytes(), [0x09, 0x04, 0xD0, 0x00, 0x34]);
        assert_eq!(WireCollation::of(Collation::default()), WireCollation::DEFAULT);
        let of = |name| WireCollation::of(Collation::by_name(name).expect("a collation")).to_bytes();
        assert_eq!(of("Latin1_General_BIN2"), [0x09, 0x04, 0x00, 0x02, 0x00]);
        assert_eq!(of("Latin1_General_CI_AS"), [0x09, 0x04, 0xD0, 0x00, 0x00]);
        assert_eq!(of("SQL_Latin1_General_CP1_CS_AS"), [0x09, 0x04, 0xC0, 0x00, 0x33]);
        assert_eq!(of("Latin1_General_100_CI_AI_SC_UTF8"), [0x09, 0x04, 0xF0, 0x24, 0x00]);
        assert_eq!(WireCollation::from_bytes([0x09, 0x04, 0xD0, 0x00, 0x34]), WireCollation::DEFAULT);
    }

    #[test]
    fn a_collation_says_its_code_page() {
        let of = |bytes| WireCollation::from_bytes(bytes).page();
        assert_eq!(WireCollation::DEFAULT.page(), Some(CodePage::Western));
        assert_eq!(of([0, 0, 0, 0, 0]), Some(CodePage::Western), "a client without a collation of its own");
        assert_eq!(of([0x07, 0x04, 0xD0, 0x00, 0]), Some(CodePage::Western), "German");
        assert_eq!(of([0x11, 0x04, 0xD0, 0x00, 0]), Some(CodePage::Japanese));
        assert_eq!(of([0x09, 0x04, 0xD0, 0x04, 0]), Some(CodePage::Utf8));
        assert_eq!(of([0x19, 0x04, 0xD0, 0x00, 106]), Some(CodePage::Cyrillic));
        assert_eq!(of([0x19, 0x04, 0xD0, 0x00, 255]), None, "an order that there is not");
    }
}
