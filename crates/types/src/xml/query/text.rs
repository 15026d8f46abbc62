//! Hexadecimal digits, read.

/// The bytes of a text of hexadecimal digits. None for what is no such text.
pub(super) fn hexadecimal_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok();
    text.as_bytes().chunks_exact(2).map(byte).collect()
}
