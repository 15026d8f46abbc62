//! Base 64 and hexadecimal digits, read.

/// The bytes of a text in base 64; blanks in it do not count. None for what is no such text.
pub(super) fn base64_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let written: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let padding = written.iter().rev().take_while(|byte| **byte == b'=').count();
    if !written.len().is_multiple_of(4) || padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(written.len() / 4 * 3);
    for group in written.chunks(4) {
        let mut bits = 0_u32;
        for &byte in group {
            bits = bits << 6 | u32::from(if byte == b'=' { 0 } else { digit(byte)? });
        }
        bytes.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    // A sign that fills up stands at the end alone.
    if written[..written.len() - padding].contains(&b'=') {
        return None;
    }
    bytes.truncate(bytes.len() - padding);
    Some(bytes)
}

/// The bytes of a text of hexadecimal digits. None for what is no such text.
pub(super) fn hexadecimal_bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    if !text.len().is_multiple_of(2) {
        return None;
    }
    let byte = |pair: &[u8]| u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).ok();
    text.as_bytes().chunks_exact(2).map(byte).collect()
}
