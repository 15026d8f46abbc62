//! What WITH says of a file, and what it means.

use crate::errors;
use crate::expression::Fault;
use pikepole_tsql::{BulkInsert, Expr, ExprKind, Literal, SettingOption, SettingValue};
use pikepole_types::SqlError;

/// Rows that may be refused when MAXERRORS does not say.
const ERRORS_MAX_DEFAULT: u64 = 10;

/// How bytes become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Code page 1252, which is also what ACP, OEM and RAW mean here.
    Latin,
    Utf8,
    /// DATAFILETYPE = 'widechar': UTF-16, little-endian. Becomes UTF-8 as it is read.
    Utf16,
}

impl Encoding {
    /// How many bytes of the file these have been.
    pub(crate) fn bytes_in_file(self, bytes: &[u8]) -> u64 {
        match self {
            Encoding::Utf16 => 2 * String::from_utf8_lossy(bytes).encode_utf16().count() as u64,
            Encoding::Latin | Encoding::Utf8 => bytes.len() as u64,
        }
    }
}

/// How fields and rows end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFormat {
    pub(crate) encoding: Encoding,
    pub(crate) field_end: Vec<u8>,
    pub(crate) row_end: Vec<u8>,
    /// FORMAT = 'CSV': the quote; and a row's end may stand behind a carriage return.
    pub(crate) csv: Option<Csv>,
}

/// What only FORMAT = 'CSV' has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Csv {
    pub(crate) quote: u8,
    pub(crate) drops_return: bool,
}

/// The options of a BULK INSERT.
#[derive(Debug, Clone)]
pub(crate) struct BulkOptions {
    pub(crate) format: TextFormat,
    pub(crate) first_row: u64,
    pub(crate) last_row: u64,
    pub(crate) batch_rows: u64,
    pub(crate) errors_max: u64,
    pub(crate) error_file: Option<String>,
    pub(crate) keeps_nulls: bool,
    pub(crate) keeps_identity: bool,
    pub(crate) locks_table: bool,
    /// FIRE_TRIGGERS
    pub(crate) fires_triggers: bool,
    pub(crate) checks_constraints: bool,
}

/// The options as they were written.
#[derive(Default)]
struct Written {
    csv: bool,
    wide: bool,
    encoding: Option<Encoding>,
    field_end: Option<String>,
    row_end: Option<String>,
    quote: Option<String>,
}

impl BulkOptions {
    /// What a statement's options mean.
    ///
    /// # Errors
    /// 155 for an unknown option; 102 for a value that is none; 4868, 4880; options that are refused by name.
    pub(crate) fn of(statement: &BulkInsert) -> Result<BulkOptions, Fault> {
        let mut written = Written::default();
        let mut options = BulkOptions {
            format: TextFormat { encoding: Encoding::Latin, field_end: Vec::new(), row_end: Vec::new(), csv: None },
            first_row: 1,
            last_row: u64::MAX,
            batch_rows: u64::MAX,
            errors_max: ERRORS_MAX_DEFAULT,
            error_file: None,
            keeps_nulls: false,
            keeps_identity: false,
            locks_table: false,
            fires_triggers: false,
            checks_constraints: false,
        };
        for option in &statement.options {
            options.take(option, &mut written)?;
        }
        if options.first_row > options.last_row {
            return Err(Box::new(SqlError::bulk_first_behind_last()));
        }
        options.format = written.format()?;
        Ok(options)
    }

    fn take(&mut self, option: &SettingOption, written: &mut Written) -> Result<(), Fault> {
        let or_all = |number: u64| if number == 0 { u64::MAX } else { number };
        match option.name.as_str() {
            "FIELDTERMINATOR" => written.field_end = Some(text(option)?),
            "ROWTERMINATOR" => written.row_end = Some(text(option)?),
            "FIELDQUOTE" => written.quote = Some(text(option)?),
            "FORMAT" => match text(option)?.to_ascii_uppercase().as_str() {
                "CSV" => written.csv = true,
                other => return Err(errors::unsupported(format!("FORMAT = '{other}'"))),
            },
            "CODEPAGE" => written.encoding = Some(code_page(&text(option)?)?),
            "DATAFILETYPE" => match text(option)?.to_ascii_lowercase().as_str() {
                "char" => written.wide = false,
                "widechar" => written.wide = true,
                other @ ("native" | "widenative") => {
                    return Err(errors::unsupported(format!("DATAFILETYPE = '{other}'")));
                }
                _ => return Err(incorrect(option)),
            },
            "FIRSTROW" => self.first_row = number(option)?.max(1),
            "LASTROW" => self.last_row = or_all(number(option)?),
            "BATCHSIZE" => self.batch_rows = or_all(number(option)?),
            "MAXERRORS" => self.errors_max = number(option)?,
            "ERRORFILE" => self.error_file = Some(text(option)?),
            // How many there will be: a hint for a plan that does not depend on it here.
            "ROWS_PER_BATCH" | "KILOBYTES_PER_BATCH" => {
                number(option)?;
            }
            "KEEPNULLS" => self.keeps_nulls = flag(option)?,
            "KEEPIDENTITY" => self.keeps_identity = flag(option)?,
            "TABLOCK" => self.locks_table = flag(option)?,
            "CHECK_CONSTRAINTS" => self.checks_constraints = flag(option)?,
            "FIRE_TRIGGERS" => self.fires_triggers = flag(option)?,
            name @ ("FORMATFILE" | "FORMATFILE_DATA_SOURCE" | "DATA_SOURCE" | "ERRORFILE_DATA_SOURCE") => {
                return Err(errors::unsupported(format!("{name} of BULK INSERT")));
            }
            name => return Err(Box::new(SqlError::option_not_recognized(name, "BULK INSERT"))),
        }
        Ok(())
    }
}

impl Written {
    fn format(self) -> Result<TextFormat, Fault> {
        let encoding = if self.wide { Encoding::Utf16 } else { self.encoding.unwrap_or(Encoding::Latin) };
        let bytes = |text: &str| terminator(text, encoding);
        let field_end = bytes(self.field_end.as_deref().unwrap_or(if self.csv { "," } else { "\\t" }))?;
        let row_end = self.row_end.as_deref().unwrap_or("\\n");
        // What ends the lines of a CSV file is as often a line feed alone.
        let drops_return = self.csv && matches!(row_end, "\\n" | "\\r\\n");
        let row_end = if drops_return { b"\n".to_vec() } else { bytes(row_end)? };
        let csv = match (self.csv, self.quote.as_deref().unwrap_or("\"").as_bytes()) {
            (false, _) if self.quote.is_some() => {
                return Err(errors::unsupported("FIELDQUOTE without FORMAT = 'CSV'"));
            }
            (false, _) => None,
            (true, [quote]) => Some(Csv { quote: *quote, drops_return }),
            (true, _) => return Err(errors::unsupported("A FIELDQUOTE that is not one character of ASCII")),
        };
        if field_end.is_empty() || row_end.is_empty() {
            return Err(errors::unsupported("An empty terminator"));
        }
        Ok(TextFormat { encoding, field_end, row_end, csv })
    }
}

/// A terminator's bytes: `\n` is a carriage return and a line feed, `0x0a` the byte itself.
fn terminator(text: &str, encoding: Encoding) -> Result<Vec<u8>, Fault> {
    if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        let bytes = hexadecimal(digits.as_bytes()).ok_or_else(|| Box::new(SqlError::incorrect_syntax(text)))?;
        if encoding == Encoding::Utf16 && bytes.len().is_multiple_of(2) {
            let units: Vec<u16> = bytes.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            return Ok(String::from_utf16_lossy(&units).into_bytes());
        }
        return Ok(bytes);
    }
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, chars.clone().next()) {
            ('\\', Some(escaped @ ('t' | 'n' | 'r' | '0' | '\\'))) => {
                chars.next();
                match escaped {
                    't' => out.push('\t'),
                    // Behind `\r` it is the line feed alone.
                    'n' if out.ends_with('\r') => out.push('\n'),
                    'n' => out.push_str("\r\n"),
                    'r' => out.push('\r'),
                    '0' => out.push('\0'),
                    _ => out.push('\\'),
                }
            }
            _ => out.push(c),
        }
    }
    if encoding != Encoding::Latin {
        return Ok(out.into_bytes());
    }
    let bytes: Option<Vec<u8>> = out.chars().map(pikepole_types::code_page::to_byte).collect();
    bytes.ok_or_else(|| errors::unsupported("A terminator with characters outside of the file's code page"))
}

/// The bytes of pairs of hexadecimal digits.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(pair).collect()
}

fn code_page(name: &str) -> Result<Encoding, Fault> {
    match name.to_ascii_uppercase().as_str() {
        "RAW" | "ACP" | "OEM" | "1252" => Ok(Encoding::Latin),
        "65001" => Ok(Encoding::Utf8),
        _ => Err(Box::new(SqlError::bulk_code_page_missing(name))),
    }
}

fn incorrect(option: &SettingOption) -> Fault {
    Box::new(SqlError::incorrect_syntax(&option.name))
}

fn literal(option: &SettingOption) -> Result<&Literal, Fault> {
    match &option.value {
        Some(SettingValue::Expr(Expr { kind: ExprKind::Literal(literal), .. })) => Ok(literal),
        _ => Err(incorrect(option)),
    }
}

fn text(option: &SettingOption) -> Result<String, Fault> {
    match literal(option)? {
        Literal::String { value, .. } => Ok(value.clone()),
        _ => Err(incorrect(option)),
    }
}

fn number(option: &SettingOption) -> Result<u64, Fault> {
    let number = match literal(option)? {
        Literal::Int(number) => u64::try_from(*number).ok(),
        Literal::Decimal(digits) => digits.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| incorrect(option))
}

fn flag(option: &SettingOption) -> Result<bool, Fault> {
    if option.value.is_none() { Ok(true) } else { Err(incorrect(option)) }
}
