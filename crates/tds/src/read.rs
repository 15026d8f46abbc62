//! The cursor that every parser reads untrusted bytes through.

use crate::error::TdsError;

/// A place in a client's bytes. Every length is checked against what is left before anything is taken.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Reader<'a> {
        Reader { rest: bytes }
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    /// The next `count` bytes; `what` says inside what the bytes end if they do.
    pub(crate) fn take(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], TdsError> {
        let Some((taken, rest)) = self.rest.split_at_checked(count) else { return Err(TdsError::Truncated(what)) };
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], TdsError> {
        let Some((taken, rest)) = self.rest.split_first_chunk::<N>() else { return Err(TdsError::Truncated(what)) };
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, TdsError> {
        self.array::<1>(what).map(|[byte]| byte)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, TdsError> {
        self.array(what).map(u16::from_le_bytes)
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, TdsError> {
        self.array(what).map(u32::from_le_bytes)
    }

    pub(crate) fn u64(&mut self, what: &'static str) -> Result<u64, TdsError> {
        self.array(what).map(u64::from_le_bytes)
    }

    /// `B_VARCHAR`: a byte that counts UTF-16 units, and the text.
    pub(crate) fn short_text(&mut self, what: &'static str) -> Result<String, TdsError> {
        let mut text = String::new();
        self.short_text_into(&mut text, what)?;
        Ok(text)
    }

    /// The same into a text whose room is used again.
    pub(crate) fn short_text_into(&mut self, text: &mut String, what: &'static str) -> Result<(), TdsError> {
        text.clear();
        let units = usize::from(self.u8(what)?);
        push_utf16(self.take(units * 2, what)?, text, what)
    }

    /// `US_VARCHAR`: two bytes that count UTF-16 units, and the text.
    pub(crate) fn long_text(&mut self, what: &'static str) -> Result<String, TdsError> {
        let units = usize::from(self.u16(what)?);
        text_of_utf16(self.take(units * 2, what)?, what)
    }
}

/// The text of little-endian UTF-16 bytes.
pub(crate) fn text_of_utf16(bytes: &[u8], what: &'static str) -> Result<String, TdsError> {
    let mut text = String::new();
    push_utf16(bytes, &mut text, what)?;
    Ok(text)
}

/// Appends the text of little-endian UTF-16 bytes.
///
/// # Errors
/// An odd number of bytes; half of a surrogate pair alone, which no text here can hold.
pub(crate) fn push_utf16(bytes: &[u8], text: &mut String, what: &'static str) -> Result<(), TdsError> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    if !odd.is_empty() {
        return Err(TdsError::malformed(format!("{what} has an odd number of bytes")));
    }
    text.reserve(pairs.len());
    let rest = push_ascii(pairs, text);
    for unit in char::decode_utf16(rest.iter().map(|pair| u16::from_le_bytes(*pair))) {
        let Ok(character) = unit else {
            return Err(TdsError::Unsupported(format!("Half of a surrogate pair in {what}")));
        };
        text.push(character);
    }
    Ok(())
}

/// Appends the characters up to the first one outside ASCII, which is all of most texts; gives the others. In pieces that
/// a compiler turns into a few wide instructions.
fn push_ascii<'a>(mut pairs: &'a [[u8; 2]], text: &mut String) -> &'a [[u8; 2]] {
    const PIECE: usize = 64;
    while !pairs.is_empty() {
        let (piece, rest) = pairs.split_at(pairs.len().min(PIECE));
        let mut bytes = [0; PIECE];
        let mut other = 0;
        for (byte, [low, high]) in bytes.iter_mut().zip(piece) {
            *byte = *low;
            other |= high | low & 0x80;
        }
        match std::str::from_utf8(&bytes[..piece.len()]) {
            Ok(ascii) if other == 0 => text.push_str(ascii),
            _ => return pairs,
        }
        pairs = rest;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_taken_that_is_not_there() {
        let mut reader = Reader::new(&[1, 2, 3]);
        assert_eq!(reader.u32("a number"), Err(TdsError::Truncated("a number")));
        assert_eq!(reader.u16("a number"), Ok(0x0201));
        assert_eq!(reader.take(usize::MAX, "all"), Err(TdsError::Truncated("all")));
        assert_eq!(reader.u8("the last"), Ok(3));
        assert!(reader.is_empty());
    }

    #[test]
    fn text_is_utf16() {
        let bytes: Vec<u8> = "aé😀z".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(text_of_utf16(&bytes, "text").as_deref(), Ok("aé😀z"));
        for at in 0..200 {
            let text = format!("{}é{}", "a".repeat(at), "b".repeat(200 - at));
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            assert_eq!(text_of_utf16(&bytes, "text"), Ok(text));
        }
        assert!(matches!(text_of_utf16(&bytes[..3], "text"), Err(TdsError::Malformed(_))));
        assert!(matches!(text_of_utf16(&[0x3D, 0xD8, b'a', 0], "text"), Err(TdsError::Unsupported(_))));
    }
}
