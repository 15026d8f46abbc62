//! Reading CSV: records whose quoted fields are told from bare ones, so that NULL and an empty text are two things, and the types that
//! a file's columns have.

use std::io::{self, BufRead};

/// Bytes of a record.
const RECORD_BYTES_MAX: usize = 16 << 20;
/// UTF-16 units of an `nvarchar` that is not `(max)`.
const TEXT_UNITS_MAX: usize = 4000;
/// Digits of a decimal.
const DIGITS_MAX: usize = 38;

/// A field; None: NULL, which is a bare field without anything in it.
pub type Field = Option<String>;

/// Reads records.
pub struct Reader<R> {
    input: R,
    /// The line that the next record begins at.
    line: u64,
    /// Bytes before it.
    offset: u64,
}

impl<R: BufRead> Reader<R> {
    /// From the beginning of a file.
    pub fn new(input: R) -> Reader<R> {
        Reader { input, line: 1, offset: 0 }
    }

    /// The line that the next record begins at.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Bytes before the next record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The next record; None at the end. Lines without anything are passed over.
    pub fn record(&mut self) -> io::Result<Option<Vec<Field>>> {
        loop {
            let Some(bytes) = self.bytes()? else { return Ok(None) };
            let text = String::from_utf8(bytes).map_err(|_| invalid("is no UTF-8 text"))?;
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let text = text.strip_suffix('\r').unwrap_or(text);
            let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
            if !text.is_empty() {
                return fields(text).map(Some);
            }
        }
    }

    /// The bytes of a record: a line, and those behind it while a quoted field is open.
    fn bytes(&mut self) -> io::Result<Option<Vec<u8>>> {
        let (mut bytes, mut quotes) = (Vec::new(), 0);
        loop {
            let from = bytes.len();
            if self.input.read_until(b'\n', &mut bytes)? == 0 {
                return match quotes % 2 {
                    1 => Err(invalid("ends within quotes")),
                    _ => Ok((!bytes.is_empty()).then_some(bytes)),
                };
            }
            self.line += 1;
            self.offset += (bytes.len() - from) as u64;
            quotes += bytes[from..].iter().filter(|byte| **byte == b'"').count();
            if quotes % 2 == 0 {
                return Ok(Some(bytes));
            }
            if bytes.len() > RECORD_BYTES_MAX {
                return Err(invalid("has a record that is too long"));
            }
        }
    }
}

fn invalid(text: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text)
}

fn fields(text: &str) -> io::Result<Vec<Field>> {
    let (mut fields, mut rest) = (Vec::new(), text);
    loop {
        let (field, behind) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let (field, behind) = unquoted(quoted)?;
                (Some(field), behind)
            }
            None => {
                let end = rest.find(',').unwrap_or(rest.len());
                ((end > 0).then(|| rest[..end].to_owned()), &rest[end..])
            }
        };
        fields.push(field);
        match behind.strip_prefix(',') {
            Some(next) => rest = next,
            None if behind.is_empty() => return Ok(fields),
            None => return Err(invalid("has something behind a quoted field")),
        }
    }
}

/// A quoted field, and what stands behind its end.
fn unquoted(quoted: &str) -> io::Result<(String, &str)> {
    let (mut field, mut rest) = (String::new(), quoted);
    loop {
        let (part, behind) = rest.split_once('"').ok_or_else(|| invalid("has a field whose quotes do not end"))?;
        field.push_str(part);
        match behind.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None => return Ok((field, behind)),
        }
    }
}

/// The type that fits all values of a column.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inferred {
    kind: Option<Kind>,
    /// Digits before and behind the point.
    digits: (usize, usize),
    units: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Int,
    BigInt,
    Decimal,
    Float,
    Date,
    DateTime,
    Text,
}

impl Inferred {
    /// Takes a value of the column.
    pub fn add(&mut self, value: &str) {
        self.units = self.units.max(value.encode_utf16().count());
        let kind = kind_of(value);
        if matches!(kind, Kind::Int | Kind::BigInt | Kind::Decimal) {
            let bare = value.trim_start_matches('-');
            let (whole, fraction) = bare.split_once('.').unwrap_or((bare, ""));
            self.digits = (self.digits.0.max(whole.len()), self.digits.1.max(fraction.len()));
        }
        self.kind = Some(self.kind.map_or(kind, |before| both(before, kind)));
    }

    /// Its name in T-SQL.
    pub fn sql(&self) -> String {
        let (whole, fraction) = self.digits;
        match self.kind {
            Some(Kind::Int) => "int".to_owned(),
            Some(Kind::BigInt) => "bigint".to_owned(),
            Some(Kind::Decimal) if whole + fraction <= DIGITS_MAX => {
                format!("decimal({}, {fraction})", whole + fraction)
            }
            Some(Kind::Float) => "float".to_owned(),
            Some(Kind::Date) => "date".to_owned(),
            Some(Kind::DateTime) => "datetime2".to_owned(),
            _ if self.units > TEXT_UNITS_MAX => "nvarchar(max)".to_owned(),
            _ => format!("nvarchar({})", self.units.max(1)),
        }
    }
}

/// The kind that holds both.
fn both(one: Kind, other: Kind) -> Kind {
    let rank = |kind| [Kind::Int, Kind::BigInt, Kind::Decimal, Kind::Float].iter().position(|each| *each == kind);
    match (one, other) {
        (one, other) if one == other => one,
        (Kind::Date, Kind::DateTime) | (Kind::DateTime, Kind::Date) => Kind::DateTime,
        _ => match (rank(one), rank(other)) {
            (Some(first), Some(second)) => {
                if first > second {
                    one
                } else {
                    other
                }
            }
            _ => Kind::Text,
        },
    }
}

fn kind_of(value: &str) -> Kind {
    let bare = value.strip_prefix('-').unwrap_or(value);
    let are_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // 007 is no number: its zeros would be lost.
    let is_whole = |text: &str| are_digits(text) && (text.len() == 1 || !text.starts_with('0'));
    if is_whole(bare) {
        return match () {
            () if value.parse::<i32>().is_ok() => Kind::Int,
            () if value.parse::<i64>().is_ok() => Kind::BigInt,
            () if bare.len() <= DIGITS_MAX => Kind::Decimal,
            () => Kind::Text,
        };
    }
    if let Some((whole, fraction)) = bare.split_once('.')
        && is_whole(whole)
        && are_digits(fraction)
    {
        return if whole.len() + fraction.len() <= DIGITS_MAX { Kind::Decimal } else { Kind::Float };
    }
    let is_float = bare.contains(['e', 'E']) && bare.starts_with(|c: char| c.is_ascii_digit());
    if is_float && bare.parse::<f64>().is_ok_and(f64::is_finite) {
        return Kind::Float;
    }
    time_kind(value).unwrap_or(Kind::Text)
}

/// A date, or a date and a time, as ISO writes them.
fn time_kind(value: &str) -> Option<Kind> {
    let has_shape = |text: &str, shape: &str| {
        text.len() == shape.len()
            && text.bytes().zip(shape.bytes()).all(|(byte, wanted)| match wanted {
                b'0' => byte.is_ascii_digit(),
                _ => byte == wanted,
            })
    };
    let within = |text: &str, from: u32, to: u32| text.parse::<u32>().is_ok_and(|number| (from..=to).contains(&number));
    let date = value.get(..10).filter(|date| has_shape(date, "0000-00-00"))?;
    let month_days = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let month: usize = date[5..7].parse().ok()?;
    let days = *month_days.get(month.checked_sub(1)?)?;
    let year: u32 = date[..4].parse().ok()?;
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = if month == 2 && !is_leap { 28 } else { days };
    if year == 0 || !within(&date[8..], 1, days) {
        return None;
    }
    let Some(time) = value[10..].strip_prefix([' ', 'T']) else {
        return value[10..].is_empty().then_some(Kind::Date);
    };
    let (clock, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_clock = has_shape(clock, "00:00:00") || has_shape(clock, "00:00");
    let is_fraction = (1..=7).contains(&fraction.len()) && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let fits = is_clock && is_fraction && within(&clock[..2], 0, 23) && within(&clock[3..5], 0, 59);
    let seconds = clock.get(6..).is_none_or(|seconds| within(seconds, 0, 59));
    (fits && seconds).then_some(Kind::DateTime)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Vec<Vec<Field>> {
        let mut reader = Reader::new(text.as_bytes());
        std::iter::from_fn(|| reader.record().expect("well formed")).collect()
    }

    #[test]
    fn null_and_an_empty_text_are_two_things() {
        let some = |text: &str| Some(text.to_owned());
        let read = records("\u{FEFF}a,b\r\n1,\"\"\n\n,\"x \"\"y\"\"\nz, 1\"\n2,");
        let expected = vec![
            vec![some("a"), some("b")],
            vec![some("1"), some("")],
            vec![None, some("x \"y\"\nz, 1")],
            vec![some("2"), None],
        ];
        assert_eq!(read, expected);
    }

    #[test]
    fn what_is_no_csv_is_refused() {
        assert!(Reader::new(&b"a,\xff\n"[..]).record().is_err());
        assert!(Reader::new(&b"\"a"[..]).record().is_err());
        assert!(Reader::new(&b"\"a\"b,c\n"[..]).record().is_err());
    }

    #[test]
    fn types_fit_all_values() {
        let of = |values: &[&str]| {
            let mut inferred = Inferred::default();
            values.iter().for_each(|value| inferred.add(value));
            inferred.sql()
        };
        assert_eq!(of(&["1", "-20"]), "int");
        assert_eq!(of(&["1", "3000000000"]), "bigint");
        assert_eq!(of(&["1.5", "-120"]), "decimal(4, 1)");
        assert_eq!(of(&["1.5", "1e30"]), "float");
        assert_eq!(of(&["007"]), "nvarchar(3)");
        assert_eq!(of(&["2024-02-29"]), "date");
        assert_eq!(of(&["2023-02-29"]), "nvarchar(10)");
        assert_eq!(of(&["2024-01-01", "2024-01-01 12:30:00.123"]), "datetime2");
        assert_eq!(of(&["2024-01-01", "5"]), "nvarchar(10)");
        assert_eq!(of(&["99999999999999999999999999999999999999", "0.5"]), "nvarchar(38)");
        assert_eq!(of(&[]), "nvarchar(1)");
        assert_eq!(of(&["é😀"]), "nvarchar(3)");
        assert_eq!(of(&["nan", "1"]), "nvarchar(3)");
    }
}
