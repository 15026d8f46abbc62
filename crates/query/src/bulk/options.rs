//! What WITH says of a file, and what it means.

use std::sync::Arc;

use super::format_file::{FieldFormat, FormatFile};
use crate::errors;
use crate::expression::Fault;
use pikepole_tsql::{Expr, ExprKind, Literal, SettingOption, SettingValue};
use pikepole_types::{CodePage, SqlError};

/// Rows that may be refused when MAXERRORS does not say.
const ERRORS_MAX_DEFAULT: u64 = 10;

/// How bytes become characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// A code page; 1252 is also what ACP, OEM and RAW mean here.
    Page(CodePage),
    Utf8,
    /// DATAFILETYPE = 'widechar': UTF-16, little-endian. Becomes UTF-8 as it is read.
    Utf16,
}

impl Encoding {
    /// What texts of a code page are in.
    pub(crate) fn of(page: CodePage) -> Encoding {
        match page {
            CodePage::Utf8 => Encoding::Utf8,
            CodePage::UnicodeOnly => Encoding::Page(CodePage::Western),
            page => Encoding::Page(page),
        }
    }

    /// How many bytes of the file these have been.
    pub(crate) fn bytes_in_file(self, bytes: &[u8]) -> u64 {
        match self {
            Encoding::Utf16 => 2 * String::from_utf8_lossy(bytes).encode_utf16().count() as u64,
            Encoding::Page(_) | Encoding::Utf8 => bytes.len() as u64,
        }
    }
}

/// How fields and rows end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TextFormat {
    pub(crate) encoding: Encoding,
    pub(crate) field_end: Vec<u8>,
    pub(crate) row_end: Vec<u8>,
    /// The same with line feeds alone, where ROWTERMINATOR says `\n`: what ends the rows of a file that has none of the other.
    pub(crate) bare_row_end: Option<Vec<u8>>,
    /// Files whose fields differ: what each is. Nothing else here but the encoding counts then.
    pub(crate) fields: Option<Arc<[FieldFormat]>>,
    /// FORMAT = 'CSV': the quote; and a row's end may stand behind a carriage return.
    pub(crate) csv: Option<Csv>,
}

/// What only FORMAT = 'CSV' has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Csv {
    pub(crate) quote: u8,
    pub(crate) drops_return: bool,
}

/// What says which fields a file has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layout {
    /// The columns of the table; fields are text and end alike.
    Text,
    /// The columns of the table; `bcp -n`, or with UTF-16 `bcp -N`, has written them.
    Native { wide: bool },
    /// A format file.
    Described(Arc<FormatFile>),
}

/// The options of a load.
#[derive(Debug, Clone)]
pub(crate) struct BulkOptions {
    pub(crate) format: TextFormat,
    pub(crate) layout: Layout,
    /// FORMATFILE, whose content becomes the layout.
    pub(crate) format_file: Option<String>,
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
    native: Option<Layout>,
    encoding: Option<Encoding>,
    field_end: Option<String>,
    row_end: Option<String>,
    quote: Option<String>,
}

impl BulkOptions {
    /// What the options of a `statement` mean.
    ///
    /// # Errors
    /// 155 for an unknown option; 102 for a value that is none; 4868, 4880; options that are refused by name.
    pub(crate) fn of(options: &[SettingOption], statement: &'static str) -> Result<BulkOptions, Fault> {
        let written_options = options;
        let mut written = Written::default();
        let mut options = BulkOptions {
            format: TextFormat {
                encoding: Encoding::Page(CodePage::Western),
                field_end: Vec::new(),
                row_end: Vec::new(),
                bare_row_end: None,
                fields: None,
                csv: None,
            },
            layout: Layout::Text,
            format_file: None,
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
        for option in written_options {
            options.take(option, &mut written, statement)?;
        }
        if options.first_row > options.last_row {
            return Err(Box::new(SqlError::bulk_first_behind_last()));
        }
        options.layout = written.native.take().unwrap_or(Layout::Text);
        options.format = written.format()?;
        Ok(options)
    }

    /// The format file was read.
    ///
    /// # Errors
    /// Fields that differ, for FORMAT = 'CSV', are refused by name.
    pub(crate) fn set_described(&mut self, described: Arc<FormatFile>) -> Result<(), Fault> {
        if let Some(csv) = &mut self.format.csv {
            let fields = described.fields.split_last();
            let (Some((last, others)), true) = (fields, described.fields.iter().all(FieldFormat::is_delimited)) else {
                return Err(errors::unsupported(
                    "FORMAT = 'CSV' with a format file of other fields than delimited text",
                ));
            };
            if let [first, rest @ ..] = others {
                if rest.iter().any(|field| field.terminator != first.terminator) {
                    return Err(errors::unsupported(
                        "FORMAT = 'CSV' with a format file whose fields end in several ways",
                    ));
                }
                self.format.field_end.clone_from(&first.terminator);
            }
            csv.drops_return = matches!(last.terminator.as_slice(), b"\n" | b"\r\n");
            self.format.row_end = if csv.drops_return { b"\n".to_vec() } else { last.terminator.clone() };
        } else if self.format.encoding == Encoding::Utf16 {
            // The fields say themselves which of them are UTF-16.
            self.format.encoding = Encoding::Page(CodePage::Western);
        }
        self.layout = Layout::Described(described);
        Ok(())
    }

    fn take(&mut self, option: &SettingOption, written: &mut Written, statement: &'static str) -> Result<(), Fault> {
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
            "DATAFILETYPE" => {
                (written.wide, written.native) = match text(option)?.to_ascii_lowercase().as_str() {
                    "char" => (false, None),
                    "widechar" => (true, None),
                    "native" => (false, Some(Layout::Native { wide: false })),
                    "widenative" => (false, Some(Layout::Native { wide: true })),
                    _ => return Err(incorrect(option)),
                };
            }
            "FORMATFILE" => self.format_file = Some(text(option)?),
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
            name @ ("FORMATFILE_DATA_SOURCE" | "DATA_SOURCE" | "ERRORFILE_DATA_SOURCE") => {
                return Err(errors::unsupported(format!("{name} of {statement}")));
            }
            name => return Err(Box::new(SqlError::option_not_recognized(name, statement))),
        }
        Ok(())
    }
}

impl Written {
    fn format(self) -> Result<TextFormat, Fault> {
        let encoding =
            if self.wide { Encoding::Utf16 } else { self.encoding.unwrap_or(Encoding::Page(CodePage::Western)) };
        let bytes = |text: &str| terminator(text, encoding, "\r\n");
        let field_end = bytes(self.field_end.as_deref().unwrap_or(if self.csv { "," } else { "\\t" }))?;
        let row_end = self.row_end.as_deref().unwrap_or("\\n");
        // What ends the lines of a CSV file is as often a line feed alone.
        let drops_return = self.csv && matches!(row_end, "\\n" | "\\r\\n");
        let bare = terminator(row_end, encoding, "\n")?;
        let row_end = if drops_return { b"\n".to_vec() } else { bytes(row_end)? };
        let bare_row_end = Some(bare).filter(|bare| !self.csv && *bare != row_end);
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
        Ok(TextFormat { encoding, field_end, row_end, bare_row_end, fields: None, csv })
    }
}

/// A terminator's bytes: `\n` is `new_line`, a carriage return and a line feed in SQL Server, `0x0a` the byte itself.
fn terminator(text: &str, encoding: Encoding, new_line: &str) -> Result<Vec<u8>, Fault> {
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
                    'n' => out.push_str(new_line),
                    'r' => out.push('\r'),
                    '0' => out.push('\0'),
                    _ => out.push('\\'),
                }
            }
            _ => out.push(c),
        }
    }
    let Encoding::Page(page) = encoding else { return Ok(out.into_bytes()) };
    if !out.chars().all(|c| page.holds(c)) {
        return Err(errors::unsupported("A terminator with characters outside of the file's code page"));
    }
    let mut bytes = Vec::new();
    page.encode(&out, &mut bytes);
    Ok(bytes)
}

/// The bytes of pairs of hexadecimal digits.
pub(super) fn hexadecimal(digits: &[u8]) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pair = |pair: &[u8]| Some(digit(pair[0])? << 4 | digit(*pair.get(1)?)?);
    digits.chunks(2).map(pair).collect()
}

fn code_page(name: &str) -> Result<Encoding, Fault> {
    match name.to_ascii_uppercase().as_str() {
        "RAW" | "ACP" | "OEM" => Ok(Encoding::Page(CodePage::Western)),
        number => match number.parse().ok().and_then(CodePage::by_number) {
            Some(page) => Ok(Encoding::of(page)),
            None => Err(Box::new(SqlError::bulk_code_page_missing(name))),
        },
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
