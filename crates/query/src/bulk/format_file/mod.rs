//! Format files: what the fields of a data file are, and which of them become columns.
//!
//! ```text
//!   16.0                                      <BCPFORMAT ...>
//!   2                                          <RECORD> <FIELD ID="1" xsi:type="CharTerm" TERMINATOR=","/> ...
//!   1 SQLCHAR 0 12 ","    1 id   ""            <ROW>    <COLUMN SOURCE="1" NAME="id" xsi:type="SQLINT"/> ...
//!   2 SQLCHAR 0 40 "\r\n" 2 name ""
//!     [text]                                    [xml]
//!        └──────────────► FormatFile: fields, in the order of the file; columns ◄──────────┘
//! ```
//! Anybody may have written the file: no bytes make this panic, and its numbers are bounded before they are used.

mod text;
mod xml;

use super::options::Encoding;
use pikepole_types::{CodePage, Collation, Length, SqlError, SqlType};

#[cfg(test)]
mod tests;

/// A format file has at most so many bytes.
pub(crate) const FORMAT_FILE_BYTES_MAX: u64 = 1 << 20;

/// Fields that a file may have.
const FIELDS_MAX: usize = 1024;

/// What a format file says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormatFile {
    /// The fields, in the order of the data file.
    pub(crate) fields: Vec<FieldFormat>,
    /// What fields become, in the order of the table or rowset.
    pub(crate) columns: Vec<FormatColumn>,
}

/// A field of a data file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FieldFormat {
    pub(crate) host: Host,
    /// Bytes of the number before the value that says how many it has, all ones for NULL; 0: there is none.
    pub(crate) prefix_bytes: u8,
    /// The value's bytes: exactly so many where nothing else ends it, else at most; 0: it is not said.
    pub(crate) length: usize,
    /// What ends it; empty: nothing does.
    pub(crate) terminator: Vec<u8>,
}

/// What the bytes of a field are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    /// Characters; of the file's code page when none is said.
    Text(Option<Encoding>),
    /// UTF-16, little-endian.
    Wide,
    /// A value as `bcp -n` writes it.
    Native(SqlType),
}

/// What a field becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FormatColumn {
    /// Which field, from zero.
    pub(crate) field: usize,
    /// Which column of the table, from zero.
    pub(crate) place: usize,
    pub(crate) name: String,
    /// Its type in a rowset.
    pub(crate) ty: SqlType,
    pub(crate) nullable: bool,
}

impl FormatFile {
    /// Reads a format file of either kind; `name` is what errors call it.
    ///
    /// # Errors
    /// 4820 to 4829, 4839, 4882; 4855 to 4859, 4872 to 4874, 4883.
    pub(crate) fn parse(bytes: &[u8], name: &str) -> Result<FormatFile, SqlError> {
        let text = decode(bytes);
        let format = match text.trim_start().starts_with('<') {
            true => xml::parse(&text, name),
            false => text::parse(&text, name),
        }?;
        for (at, field) in format.fields.iter().enumerate() {
            if !field.has_end() {
                return Err(SqlError::format_end_missing(at + 1, name));
            }
        }
        Ok(format)
    }
}

/// A format file's text: UTF-16 and UTF-8 by their marks, else UTF-8 if it is that, and code page 1252 if not.
fn decode(bytes: &[u8]) -> String {
    if let Some(wide) = bytes.strip_prefix(&[0xFF, 0xFE]) {
        let (units, _) = wide.as_chunks::<2>();
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        return String::from_utf16_lossy(&units);
    }
    let bytes = bytes.strip_prefix("\u{FEFF}".as_bytes()).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let mut text = String::new();
            CodePage::Western.decode(bytes, &mut text);
            text
        }
    }
}

impl FieldFormat {
    /// The bytes of a value that has always as many; 0: it has not.
    pub(crate) fn fixed_bytes(&self) -> usize {
        match &self.host {
            Host::Native(ty) if self.length == 0 => super::native::bytes_of(ty).unwrap_or(0),
            _ => self.length,
        }
    }

    /// Whether it is text that ends at a terminator.
    pub(crate) fn is_delimited(&self) -> bool {
        matches!(self.host, Host::Text(_)) && self.prefix_bytes == 0 && !self.terminator.is_empty()
    }

    fn has_end(&self) -> bool {
        self.prefix_bytes > 0 || !self.terminator.is_empty() || self.fixed_bytes() > 0
    }
}

/// The bytes that a terminator stands for: `\t`, `\n`, `\r`, `\0`, `\\`, `\"` and `\'` are single ones, whatever ROWTERMINATOR makes of them.
/// None: it has characters outside of code page 1252.
fn terminator(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let c = match (c, chars.clone().next()) {
            ('\\', Some(escaped @ ('t' | 'n' | 'r' | '0' | '\\' | '"' | '\''))) => {
                chars.next();
                match escaped {
                    't' => '\t',
                    'n' => '\n',
                    'r' => '\r',
                    '0' => '\0',
                    other => other,
                }
            }
            _ => c,
        };
        if !CodePage::Western.holds(c) {
            return None;
        }
        CodePage::Western.encode(c.encode_utf8(&mut [0; 4]), &mut bytes);
    }
    Some(bytes)
}

/// The encoding of texts of a collation; `Ok(None)` when none is said.
fn encoding_of(collation: &str) -> Result<Option<Encoding>, ()> {
    if collation.is_empty() || collation.eq_ignore_ascii_case("RAW") {
        return Ok(None);
    }
    let collation = Collation::by_name(collation).ok_or(())?;
    Ok(Some(Encoding::of(collation.code_page())))
}

/// The type that a name such as SQLINT stands for, of both kinds of files. Texts and binaries have this many bytes at most (0: it is not said), times
/// and decimals these digits.
fn type_named(name: &str, bytes: usize, precision: u8, scale: Option<u8>) -> Option<SqlType> {
    let limit = |most: usize| match bytes {
        0 => Length::Limit(most as u16),
        bytes if bytes > most => Length::Max,
        bytes => Length::Limit(bytes as u16),
    };
    let time = scale.unwrap_or(7);
    Some(match name.to_ascii_uppercase().as_str() {
        "SQLCHAR" | "SQLVARYCHAR" => SqlType::VarChar(limit(8000)),
        "SQLNCHAR" | "SQLNVARCHAR" => SqlType::NVarChar(limit(4000)),
        "SQLBINARY" | "SQLVARYBIN" => SqlType::VarBinary(limit(8000)),
        "SQLBIT" => SqlType::Bit,
        "SQLTINYINT" => SqlType::TinyInt,
        "SQLSMALLINT" => SqlType::SmallInt,
        "SQLINT" => SqlType::Int,
        "SQLBIGINT" => SqlType::BigInt,
        "SQLFLT4" => SqlType::Real,
        "SQLFLT8" => SqlType::Float,
        "SQLMONEY" => SqlType::Money,
        "SQLMONEY4" => SqlType::SmallMoney,
        "SQLDECIMAL" | "SQLNUMERIC" => SqlType::Decimal { precision, scale: scale.unwrap_or(0) },
        "SQLUNIQUEID" => SqlType::UniqueIdentifier,
        "SQLDATETIME" => SqlType::DateTime,
        "SQLDATETIM4" => SqlType::SmallDateTime,
        "SQLDATE" => SqlType::Date,
        "SQLTIME" => SqlType::Time(time),
        "SQLDATETIME2" | "SQLDATETIM2" => SqlType::DateTime2(time),
        "SQLDATETIMEOFFSET" => SqlType::DateTimeOffset(time),
        _ => return None,
    })
}
