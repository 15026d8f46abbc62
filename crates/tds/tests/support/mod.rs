//! The client's side of the protocol, as far as tests need it.
#![allow(dead_code, reason = "each test program uses a part of it")]

use pikepole_tds::{TdsVersion, TypeInfo};
use pikepole_types::{SqlType, Value};

pub const VERSIONS: [TdsVersion; 6] =
    [TdsVersion::V7_1, TdsVersion::V7_2, TdsVersion::V7_3A, TdsVersion::V7_3B, TdsVersion::V7_4, TdsVersion::V8_0];

/// Bytes written as hexadecimal digits; white space is skipped.
pub fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u32> =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| c.to_digit(16).expect("a digit")).collect();
    digits.chunks(2).map(|pair| (pair[0] * 16 + pair[1]) as u8).collect()
}

pub fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

pub fn short_text(text: &str) -> Vec<u8> {
    [vec![text.encode_utf16().count() as u8], utf16(text)].concat()
}

pub fn long_text(text: &str) -> Vec<u8> {
    [(text.encode_utf16().count() as u16).to_le_bytes().to_vec(), utf16(text)].concat()
}

/// ALL_HEADERS with a transaction, where the version has them.
pub fn headers(version: TdsVersion, transaction: u64) -> Vec<u8> {
    if !version.is_wide() {
        return Vec::new();
    }
    let mut out = hex("16000000 12000000 0200");
    out.extend(transaction.to_le_bytes());
    out.extend(1u32.to_le_bytes());
    out
}

/// A type and a value of it, as a parameter has them.
pub fn typed(ty: &SqlType, value: &Value, version: TdsVersion) -> Vec<u8> {
    let info = TypeInfo::of(ty, true, version);
    let mut out = Vec::new();
    info.write(&mut out);
    info.write_value(ty, value, &mut out).expect("it fits");
    out
}

pub fn parameter(name: &str, status: u8, ty: &SqlType, value: &Value, version: TdsVersion) -> Vec<u8> {
    [short_text(name), vec![status], typed(ty, value, version)].concat()
}

/// A call by number.
pub fn call(number: u16, parameters: &[Vec<u8>]) -> Vec<u8> {
    [vec![0xFF, 0xFF], number.to_le_bytes().to_vec(), vec![0, 0], parameters.concat()].concat()
}

/// A call by name.
pub fn call_by_name(name: &str, parameters: &[Vec<u8>]) -> Vec<u8> {
    [long_text(name), vec![0, 0], parameters.concat()].concat()
}

/// A LOGIN7 message: user `sa`, password `Pässword😀`, and these features as bytes.
pub fn login7(version: TdsVersion, features: &[u8]) -> Vec<u8> {
    let fixed = if version.is_wide() { 94 } else { 86 };
    let obscured: Vec<u8> = utf16("Pässword😀").iter().map(|byte| byte.rotate_left(4) ^ 0xA5).collect();
    let texts = [
        utf16("host"),
        utf16("sa"),
        obscured,
        utf16("app"),
        utf16("server"),
        Vec::new(),
        utf16("library"),
        utf16("us_english"),
        utf16("data"),
    ];
    let mut places = Vec::new();
    let mut data = Vec::new();
    for (number, text) in texts.iter().enumerate() {
        let at = (fixed + data.len()) as u16;
        places.extend(at.to_le_bytes());
        if number == 5 && !features.is_empty() {
            // The extension: four bytes that say where the features are, right behind them.
            places.extend(4u16.to_le_bytes());
            data.extend((u32::from(at) + 4).to_le_bytes());
            data.extend_from_slice(features);
        } else {
            places.extend(((text.len() / 2) as u16).to_le_bytes());
            data.extend_from_slice(text);
        }
    }
    let mut out = vec![0; 4];
    out.extend(version.number().to_le_bytes());
    out.extend(8000u32.to_le_bytes());
    out.extend(hex("00000007 78563412 00000000"));
    out.extend([0xE0, 0x03, 0x20, if features.is_empty() { 0x08 } else { 0x18 }]);
    out.extend((-60i32).to_le_bytes());
    out.extend(0x0409u32.to_le_bytes());
    out.extend(places);
    out.extend(hex("010203040506 0000 0000 0000 0000"));
    if version.is_wide() {
        out.extend(hex("0000 0000 00000000"));
    }
    assert_eq!(out.len(), fixed);
    out.extend(data);
    let length = out.len() as u32;
    out[..4].copy_from_slice(&length.to_le_bytes());
    out
}

/// A bulk load's columns.
pub fn bulk_columns(columns: &[(&str, SqlType)], version: TdsVersion) -> Vec<u8> {
    let mut out = vec![0x81];
    out.extend((columns.len() as u16).to_le_bytes());
    for (name, ty) in columns {
        out.extend(if version.is_wide() { vec![0; 4] } else { vec![0; 2] });
        out.extend([9, 0]);
        let info = TypeInfo::of(ty, true, version);
        info.write(&mut out);
        if ty.is_max() && !version.is_wide() {
            out.extend(long_text("the table"));
        }
        out.extend(short_text(name));
    }
    out
}

/// A table-valued parameter: its type's name, its columns, and rows.
pub fn table(name: &str, columns: &[SqlType], rows: &[Vec<Value>], version: TdsVersion) -> Vec<u8> {
    let mut out = vec![0xF3, 0];
    out.extend(short_text("dbo"));
    out.extend(short_text(name));
    out.extend((columns.len() as u16).to_le_bytes());
    for ty in columns {
        out.extend(hex("00000000 0100"));
        TypeInfo::of(ty, true, version).write(&mut out);
        out.push(0);
    }
    out.push(0);
    for row in rows {
        out.push(1);
        for (ty, value) in columns.iter().zip(row) {
            TypeInfo::of(ty, true, version).write_value(ty, value, &mut out).expect("it fits");
        }
    }
    out.push(0);
    out
}
