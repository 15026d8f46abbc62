//! Little-endian numbers and counted texts, appended to a buffer.

/// Appends what tokens consist of.
pub(crate) trait Put {
    fn put_u8(&mut self, value: u8);
    fn put_u16(&mut self, value: u16);
    fn put_u32(&mut self, value: u32);
    fn put_u64(&mut self, value: u64);
    /// UTF-16 units, little-endian, without a count.
    fn put_utf16(&mut self, text: &str);
    /// `B_VARCHAR`: a byte that counts UTF-16 units, and the text, cut after 255 units.
    fn put_short_text(&mut self, text: &str);
    /// `US_VARCHAR`: two bytes that count UTF-16 units, and the text, cut after `limit` units.
    fn put_long_text(&mut self, text: &str, limit: usize);
}

impl Put for Vec<u8> {
    #[inline]
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    #[inline]
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    fn put_utf16(&mut self, text: &str) {
        if is_ascii(text) {
            let at = self.len();
            self.resize(at + text.len() * 2, 0);
            self[at..].as_chunks_mut::<2>().0.iter_mut().zip(text.bytes()).for_each(|(unit, byte)| unit[0] = byte);
        } else {
            self.reserve(text.len() * 2);
            self.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
        }
    }

    fn put_short_text(&mut self, text: &str) {
        let (text, units) = cut(text, 255);
        self.put_u8(units as u8);
        self.put_utf16(text);
    }

    fn put_long_text(&mut self, text: &str, limit: usize) {
        let (text, units) = cut(text, limit.min(usize::from(u16::MAX)));
        self.put_u16(units as u16);
        self.put_utf16(text);
    }
}

/// Whether a text is in ASCII. It looks at all bytes without a branch: what is asked about is short, or copied next.
#[inline]
pub(crate) fn is_ascii(text: &str) -> bool {
    text.bytes().fold(0, |all, byte| all | byte) < 0x80
}

/// The number of UTF-16 units of a text.
pub(crate) fn utf16_units(text: &str) -> usize {
    if is_ascii(text) { text.len() } else { text.encode_utf16().count() }
}

/// The longest start of a text that has at most `limit` UTF-16 units, and how many it has.
fn cut(text: &str, limit: usize) -> (&str, usize) {
    let mut units = 0;
    for (at, character) in text.char_indices() {
        if units + character.len_utf16() > limit {
            return (&text[..at], units);
        }
        units += character.len_utf16();
    }
    (text, units)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pair_is_not_cut_in_two() {
        assert_eq!(cut("a😀b", 2), ("a", 1));
        assert_eq!(cut("a😀b", 3), ("a😀", 3));
        assert_eq!(cut("abc", 9), ("abc", 3));
        let mut bytes = Vec::new();
        bytes.put_short_text(&"x".repeat(300));
        assert_eq!((bytes.len(), bytes[0]), (511, 255));
    }
}
