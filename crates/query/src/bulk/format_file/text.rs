//! The format file that is a table of words.

use super::super::options::Encoding;
use super::{FIELDS_MAX, FieldFormat, FormatColumn, FormatFile, Host, encoding_of, terminator, type_named};
use pikepole_types::{SqlError, SqlType};

/// Versions of bcp whose files have all the words: `8.0` and later.
const VERSIONS: std::ops::RangeInclusive<u32> = 8..=16;

/// Digits of a decimal that says itself how many it has.
const DECIMAL_DIGITS: u8 = 38;

/// A word of a line, or what stands between quotes.
struct Word<'a> {
    text: &'a str,
    quoted: bool,
}

/// The words of a line.
fn words(line: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let mut rest = line.trim_start();
    while !rest.is_empty() {
        let (word, behind) = match rest.strip_prefix('"') {
            Some(inner) => {
                let close = closing_quote(inner).unwrap_or(inner.len());
                (Word { text: &inner[..close], quoted: true }, inner.get(close + 1..).unwrap_or_default())
            }
            None => {
                let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
                (Word { text: &rest[..end], quoted: false }, &rest[end..])
            }
        };
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

/// Where the quote stands that no backslash escapes.
fn closing_quote(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !escaped => return Some(at),
            _ => escaped = c == '\\' && !escaped,
        }
    }
    None
}

pub(super) fn parse(text: &str, name: &str) -> Result<FormatFile, SqlError> {
    let mut lines = text.lines();
    let version = lines.next().unwrap_or_default().trim();
    let major = version.strip_suffix(".0").and_then(|major| major.parse().ok());
    if !major.is_some_and(|major: u32| VERSIONS.contains(&major)) {
        return Err(SqlError::format_version_unknown(name));
    }
    let count = lines.next().and_then(|line| line.trim().parse::<usize>().ok());
    let count = count.ok_or_else(|| SqlError::format_count_not_read(name))?;
    if count == 0 || count > FIELDS_MAX {
        return Err(SqlError::format_count_invalid(name));
    }
    let mut format = FormatFile { fields: Vec::new(), columns: Vec::new() };
    for number in 1..=count {
        let line = lines.next().ok_or_else(|| SqlError::format_number_invalid(name))?;
        field(&words(line), number, name, &mut format)?;
    }
    if lines.any(|line| !line.trim().is_empty()) {
        return Err(SqlError::format_count_invalid(name));
    }
    format.columns.sort_by_key(|column| column.place);
    Ok(format)
}

/// Number, type, prefix, length, terminator, column's number and name, collation.
fn field(words: &[Word<'_>], number: usize, file: &str, format: &mut FormatFile) -> Result<(), SqlError> {
    let text = |at: usize| words.get(at).map_or("", |word| word.text);
    if text(0).parse() != Ok(number) {
        return Err(SqlError::format_number_invalid(file));
    }
    let prefix_bytes = text(2).parse().ok().filter(|bytes| matches!(bytes, 0 | 1 | 2 | 4 | 8));
    let prefix_bytes = prefix_bytes.ok_or_else(|| SqlError::format_prefix_invalid(number, file))?;
    let length = text(3).parse::<i32>().ok().and_then(|length| usize::try_from(length).ok());
    let length = length.ok_or_else(|| SqlError::format_length_invalid(number, file))?;
    let ended = words.get(4).filter(|word| word.quoted).and_then(|word| terminator(word.text));
    let terminator = ended.ok_or_else(|| SqlError::format_terminator_invalid(number, file))?;
    let place = text(5).parse::<usize>().ok().filter(|place| *place <= FIELDS_MAX);
    let place = place.ok_or_else(|| SqlError::format_place_invalid(number, file))?;
    let name = words.get(6).ok_or_else(|| SqlError::format_name_not_read(number, file))?.text;
    let encoding = encoding_of(text(7)).map_err(|()| SqlError::format_collation_invalid(number, file))?;
    let ty = rowset_type(text(1), length).ok_or_else(|| SqlError::format_type_invalid(number, file))?;
    let field = format.fields.len();
    format.fields.push(FieldFormat { host: host(&ty, encoding), prefix_bytes, length, terminator });
    let Some(place) = place.checked_sub(1) else {
        return Ok(());
    };
    if format.columns.iter().any(|column| column.place == place) {
        return Err(SqlError::format_place_invalid(number, file));
    }
    format.columns.push(FormatColumn { field, place, name: name.to_owned(), ty, nullable: true });
    Ok(())
}

/// The type of the field's column in a rowset: the length of a text counts bytes.
fn rowset_type(name: &str, length: usize) -> Option<SqlType> {
    let bytes = if name.eq_ignore_ascii_case("SQLNCHAR") { length.div_ceil(2) } else { length };
    type_named(name, bytes, DECIMAL_DIGITS, None)
}

pub(super) fn host(ty: &SqlType, encoding: Option<Encoding>) -> Host {
    match ty {
        SqlType::VarChar(_) => Host::Text(encoding),
        SqlType::NVarChar(_) => Host::Wide,
        ty => Host::Native(*ty),
    }
}
