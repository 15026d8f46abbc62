//! Values of other types as xml, and back.

use super::name::is_character;
use super::read::{Reading, read};
use crate::code_page::CodePage;
use crate::convert::push_blanks;
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;

/// A text, or bytes, as xml. Styles of CONVERT: 1 keeps blanks between tags, 2 takes definitions of types, 3 does both.
///
/// # Errors
/// 6358 for another style, those of [`Document::read`], 9401 for bytes in an encoding that is not known.
pub(crate) fn from_value(value: &Value, from: &SqlType, style: Option<i32>, out: &mut Value) -> Result<(), SqlError> {
    let style = style.unwrap_or(0);
    if !(0..=3).contains(&style) {
        return Err(SqlError::xml_style_invalid(style));
    }
    let mut reading = Reading { keep_blanks: style & 1 != 0, takes_definitions: style & 2 != 0, wide: None };
    let document = match value {
        Value::Str(text) if *from == SqlType::Xml => {
            text.clone_into(out.string_buffer());
            return Ok(());
        }
        Value::Str(text) => {
            reading.wide = Some(from.is_unicode());
            read(text, reading)?
        }
        Value::Bin(bytes) => read(&decoded(bytes)?, reading)?,
        _ => return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), SqlType::Xml.error_name())),
    };
    crate::memory::ask(document.text_bytes_max())?;
    *out = Value::Str(document.to_text());
    Ok(())
}

/// The text that bytes are, by their mark, their first character or their declaration; otherwise they are UTF-8.
fn decoded(bytes: &[u8]) -> Result<String, SqlError> {
    let units = |bytes: &[u8], unit: fn([u8; 2]) -> u16| {
        let units = bytes.chunks(2).map(|pair| unit([pair[0], pair.get(1).copied().unwrap_or(0)]));
        // What is no character is refused where it stands.
        char::decode_utf16(units).map(|c| c.unwrap_or('\u{FFFF}')).collect()
    };
    Ok(match bytes {
        [0xFF, 0xFE, rest @ ..] => units(rest, u16::from_le_bytes),
        [0xFE, 0xFF, rest @ ..] => units(rest, u16::from_be_bytes),
        [b'<', 0, ..] => units(bytes, u16::from_le_bytes),
        [0, b'<', ..] => units(bytes, u16::from_be_bytes),
        _ => {
            let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
            match declared_encoding(bytes).map(|name| name.to_ascii_lowercase()).as_deref() {
                None | Some("utf-8" | "us-ascii") => utf_8(bytes),
                Some("windows-1252" | "iso-8859-1") => {
                    let mut text = String::with_capacity(bytes.len());
                    CodePage::Western.decode(bytes, &mut text);
                    text
                }
                Some("utf-16" | "ucs-2") => {
                    return Err(at_declaration(bytes, SqlError::xml_encoding_not_switched));
                }
                Some(_) => return Err(at_declaration(bytes, SqlError::xml_encoding_unknown)),
            }
        }
    })
}

fn at_declaration(bytes: &[u8], report: fn(usize, usize) -> SqlError) -> SqlError {
    let end = bytes.iter().position(|&byte| byte == b'>').unwrap_or(0);
    let before = String::from_utf8_lossy(&bytes[..end]);
    report(before.matches('\n').count() + 1, before.rsplit('\n').next().map_or(0, |line| line.chars().count()) + 1)
}

/// The encoding in `<?xml ... encoding="name" ...?>`.
fn declared_encoding(bytes: &[u8]) -> Option<&str> {
    let end = bytes.starts_with(b"<?xml").then(|| bytes.windows(2).position(|pair| pair == b"?>"))??;
    let declaration = std::str::from_utf8(&bytes[..end]).ok()?;
    let (_, behind) = declaration.split_once("encoding")?;
    let behind = behind.trim_start().strip_prefix('=')?.trim_start();
    let quote = behind.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    behind[1..].split(quote).next()
}

/// UTF-8; what is none becomes a character that XML has not, so that it is refused where it stands.
fn utf_8(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('\u{FFFF}');
        }
    }
    debug_assert!(!is_character('\u{FFFF}'));
    text
}

/// xml as a string type, which must hold all of it.
///
/// # Errors
/// 6360 for a style that there is not, 6354 where it is too long, 6355 where the code page lacks a character.
pub(crate) fn to_text(
    text: &str,
    to: &SqlType,
    page: CodePage,
    style: Option<i32>,
    out: &mut Value,
) -> Result<(), SqlError> {
    check_style(style)?;
    let page = page.of(to);
    let units = page.units(text);
    check_length(units, to)?;
    if !text.chars().all(|c| page.holds(c)) {
        return Err(SqlError::xml_not_in_code_page());
    }
    let buffer = out.string_buffer();
    buffer.push_str(text);
    if let SqlType::Char(n) | SqlType::NChar(n) = *to {
        push_blanks(usize::from(n).saturating_sub(units), buffer);
    }
    Ok(())
}

/// xml as a binary type: UTF-16 behind its mark.
///
/// # Errors
/// As [`to_text`].
pub(crate) fn to_binary(text: &str, to: &SqlType, style: Option<i32>, out: &mut Value) -> Result<(), SqlError> {
    check_style(style)?;
    let bytes = out.binary_buffer();
    bytes.extend_from_slice(&[0xFF, 0xFE]);
    bytes.extend(text.encode_utf16().flat_map(u16::to_le_bytes));
    check_length(bytes.len(), to)?;
    if let SqlType::Binary(n) = *to {
        bytes.resize(n.into(), 0);
    }
    Ok(())
}

fn check_style(style: Option<i32>) -> Result<(), SqlError> {
    match style {
        None | Some(0..=3) => Ok(()),
        Some(style) => Err(SqlError::xml_target_style_invalid(style)),
    }
}

fn check_length(length: usize, to: &SqlType) -> Result<(), SqlError> {
    match to.declared_length() {
        Some(Length::Limit(limit)) if length > limit.into() => Err(SqlError::xml_target_too_small()),
        _ => Ok(()),
    }
}

impl super::XmlNode {
    /// The node alone, as text.
    pub(crate) fn to_text(&self) -> String {
        let mut out = String::new();
        super::write::Writer::new(&[], &mut 0, &mut out).write(&self.document, self.node);
        out
    }
}
