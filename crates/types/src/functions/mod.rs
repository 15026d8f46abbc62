//! Built-in functions: one table by name, a file per subject.
//!
//! A function sees its arguments as values with their declared types, and a [`Context`] for what is not in them: the
//! time, the random state, the collation. So the same statement with the same context gives the same result, which
//! simulation relies on.
//!
//! CASE, COALESCE, IIF, CAST and CONVERT are not here: they decide what is evaluated, or take a type, and belong to the
//! binder.

mod bits;
mod bucket;
mod checksum;
mod compress;
mod date;
mod format;
mod hash;
mod json;
mod math;
mod message;
mod other;
mod parse;
mod passphrase;
mod string;
mod table;
mod words;
mod zone;

pub use message::{cut_message, format_message};
pub use table::{AT_TIME_ZONE, FUNCTIONS, JSON_ARRAY, JSON_OBJECT, PARSE, TRY_PARSE, WRITE};

use crate::code_page::CodePage;
use crate::collation::Collation;
use crate::convert;
use crate::datetime::{DateFormat, DatePart, DateTimeOffset, Language, SUNDAY};
use crate::error::SqlError;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use std::borrow::Cow;

/// Gives a function's result type from those of its arguments.
pub type ResultType = fn(&[SqlType]) -> Result<SqlType, SqlError>;

/// Computes a function from its arguments' values and types.
pub type Eval = fn(&mut Context, &[Value], &[SqlType]) -> Result<Value, SqlError>;

/// A built-in function.
#[derive(Debug)]
pub struct Function {
    /// Its name in upper case.
    pub name: &'static str,
    /// The fewest arguments it takes.
    pub min_args: usize,
    /// The most arguments it takes.
    pub max_args: usize,
    /// Whether its first argument is a bare word that names a date part (`DATEADD(day, ...)`); it is passed as a string.
    pub date_part: bool,
    /// Whether equal arguments always give equal results.
    pub deterministic: bool,
    /// The type of its result; an error when it does not take these types.
    pub result_type: ResultType,
    /// Computes it. The caller has checked the number of arguments and passes as many types as values.
    pub eval: Eval,
}

impl Function {
    /// Whether its result depends on the session's DATEFIRST or language. `part`: the word that names the date part.
    pub fn reads_session(&self, part: Option<&str>) -> bool {
        match part.filter(|_| self.date_part).and_then(DatePart::by_name) {
            Some(DatePart::Week | DatePart::Weekday) => matches!(self.name, "DATENAME" | "DATEPART" | "DATETRUNC"),
            Some(DatePart::Month) => self.name == "DATENAME",
            _ => false,
        }
    }

    /// Whether it may stand in a value that is stored or indexed: for equal arguments it always gives equal results, whatever the
    /// session, the server and their settings are. `part`: the word that names the date part; `count`: how many arguments there are.
    pub fn is_deterministic(&self, part: Option<&str>, count: usize) -> bool {
        let is_seeded = self.name == "RAND" && count > 0;
        is_seeded || self.deterministic && !self.reads_session(part) && !NOT_DETERMINISTIC.contains(&self.name)
    }

    /// Whether calling it changes something, so that no function may.
    pub fn has_side_effects(&self) -> bool {
        SIDE_EFFECTS.contains(&self.name)
    }

    /// Checks the number of arguments.
    ///
    /// # Errors
    /// 174 or 189.
    pub fn check_count(&self, count: usize) -> Result<(), SqlError> {
        let name = self.name.to_ascii_lowercase();
        match (self.min_args, self.max_args) {
            (min, max) if (min..=max).contains(&count) => Ok(()),
            (min, max) if min == max => Err(SqlError::function_needs_arguments(name, min)),
            (min, max) => Err(SqlError::function_needs_argument_range(name, min, max)),
        }
    }
}

/// Functions that give equal results within a statement and a session, but are documented as not deterministic: their results hang on
/// a language, a catalog of messages or time zones, a way of compressing, or keys. Ascending by name.
const NOT_DETERMINISTIC: [&str; 11] = [
    "AT TIME ZONE",
    "COMPRESS",
    "CURRENT_TIMEZONE",
    "CURRENT_TIMEZONE_ID",
    "DATENAME",
    "DECOMPRESS",
    "DECRYPTBYPASSPHRASE",
    "FORMATMESSAGE",
    "ISDATE",
    "PWDCOMPARE",
    "SQL_VARIANT_PROPERTY",
];

/// Functions that take from a stream of random numbers.
const SIDE_EFFECTS: [&str; 3] = ["CRYPT_GEN_RANDOM", "NEWID", "RAND"];

/// A function by its name, upper or lower case.
pub fn lookup(name: &str) -> Option<&'static Function> {
    let upper = name.to_ascii_uppercase();
    let at = FUNCTIONS.binary_search_by(|function| function.name.cmp(upper.as_str())).ok()?;
    Some(&FUNCTIONS[at])
}

/// Refuses a text where a function takes a number only; `place` counts from zero.
fn refuse_text(types: &[SqlType], place: usize, function: &str) -> Result<(), SqlError> {
    match types.get(place) {
        Some(ty) if ty.is_string() => Err(SqlError::argument_type_invalid(ty.error_name(), place + 1, function)),
        _ => Ok(()),
    }
}

/// What functions need to know beyond their arguments.
#[derive(Debug, Clone)]
pub struct Context {
    /// The time, read by the caller once per statement; its offset gives the server's local time.
    pub now: DateTimeOffset,
    /// What the function called now compares texts by.
    pub collation: Collation,
    /// What texts of `char` and `varchar` have that are converted now.
    pub code_page: CodePage,
    /// DATEFIRST: the first day of weeks, 1 (Monday) to 7 (Sunday).
    pub date_first: u8,
    /// DATEFORMAT: how texts are read as dates.
    pub date_format: DateFormat,
    /// LANGUAGE: what months and days are called.
    pub language: &'static Language,
    /// ANSI_WARNINGS is off: a text that is too long for its column is cut to fit.
    pub cuts_silently: bool,
    /// CONCAT_NULL_YIELDS_NULL is off: NULL joined with a text is that text.
    pub joins_nulls: bool,
    /// ARITHABORT and ANSI_WARNINGS are off: what overflows or is divided by zero is NULL.
    pub fails_to_null: bool,
    /// What is to be told of values that have become NULL so.
    pub failed: Vec<SqlError>,
    /// The value so far of a chain of operators that is evaluated piece by piece; the evaluator's own.
    pub carried: crate::Value,
    /// The document that a method of xml read last.
    pub(crate) document: crate::xml::Kept,
    random: [u64; 2],
    /// The two states of RAND.
    rand: [u32; 2],
}

impl Context {
    /// A context; `seed` feeds RAND and NEWID and must differ between sessions.
    pub fn new(now: DateTimeOffset, seed: u128) -> Context {
        let random = [seed as u64, (seed >> 64) as u64];
        let (collation, date_format) = (Collation::default(), DateFormat::default());
        Context {
            now,
            collation,
            code_page: CodePage::Western,
            date_first: SUNDAY,
            date_format,
            language: Language::ENGLISH,
            cuts_silently: false,
            joins_nulls: false,
            fails_to_null: false,
            failed: Vec::new(),
            carried: crate::Value::Null,
            document: crate::xml::Kept::default(),
            random,
            rand: rand_states(seed as u32, (seed >> 32) as u32),
        }
    }

    /// The next 64 random bits: two SplitMix64 streams, so that all 128 bits of the seed matter.
    pub(crate) fn random(&mut self) -> u64 {
        let mut mixed = 0;
        for (state, step) in self.random.iter_mut().zip([0x9E37_79B9_7F4A_7C15, 0xD1B5_4A32_D192_ED03u64]) {
            *state = state.wrapping_add(step);
            let z = (*state ^ *state >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
            mixed = (z ^ z >> 31) ^ u64::rotate_left(mixed, 32);
        }
        mixed
    }

    /// A context with random numbers of its own, for what runs beside this one.
    pub fn fork(&mut self) -> Context {
        let (random, rand) = ([self.random(), self.random()], self.random());
        Context { random, rand: rand_states(rand as u32, (rand >> 32) as u32), ..self.clone() }
    }

    /// The next number of RAND: L'Ecuyer's combination of two generators ("Efficient and portable combined random number generators",
    /// CACM 31, 1988), whose numbers for a seed are those that SQL Server's documentation shows.
    pub(crate) fn rand(&mut self) -> f64 {
        let [first, second] = &mut self.rand;
        *first = (u64::from(*first) * 40014 % u64::from(RAND_MODULI[0])) as u32;
        *second = (u64::from(*second) * 40692 % u64::from(RAND_MODULI[1])) as u32;
        let mut number = i64::from(*first) - i64::from(*second);
        if number < 1 {
            number += i64::from(RAND_MODULI[0]) - 1;
        }
        number as f64 * 4.656_613e-10
    }

    /// Where RAND is in its sequence.
    pub fn rand_state(&self) -> [u32; 2] {
        self.rand
    }

    /// RAND goes on from there.
    pub fn set_rand_state(&mut self, state: [u32; 2]) {
        self.rand = state;
    }

    /// RAND with a seed: starts its sequence over. A sign says nothing; what the first generator cannot start with is as 0.
    pub(crate) fn seed_rand(&mut self, seed: i32) {
        let seed = Some(seed.unsigned_abs()).filter(|seed| (1..RAND_MODULI[0]).contains(seed));
        self.rand = [seed.unwrap_or(12345), 67890];
    }
}

/// The moduli of RAND's generators.
const RAND_MODULI: [u32; 2] = [2_147_483_563, 2_147_483_399];

/// States that the generators of RAND can have.
fn rand_states(first: u32, second: u32) -> [u32; 2] {
    [1 + first % (RAND_MODULI[0] - 1), 1 + second % (RAND_MODULI[1] - 1)]
}

/// An argument as text.
fn text<'v>(context: &Context, values: &'v [Value], types: &[SqlType], at: usize) -> Result<Cow<'v, str>, SqlError> {
    match &values[at] {
        Value::Str(text) => Ok(Cow::Borrowed(text)),
        other => {
            let text_type = SqlType::VarChar(Length::Max);
            match context.convert(other, &types[at], &text_type, None)? {
                Value::Str(text) => Ok(Cow::Owned(text)),
                _ => Ok(Cow::Borrowed("")),
            }
        }
    }
}

/// An argument as a whole number.
fn whole(values: &[Value], types: &[SqlType], at: usize) -> Result<i64, SqlError> {
    if let Some(number) = values[at].as_i64() {
        return Ok(number);
    }
    let number = convert::convert(&values[at], &types[at], &SqlType::Int, None)?;
    Ok(number.as_i64().unwrap_or(0))
}

/// An argument as a float.
fn float(values: &[Value], types: &[SqlType], at: usize) -> Result<f64, SqlError> {
    if let Some(number) = convert::as_f64(&values[at]) {
        return Ok(number);
    }
    let number = convert::convert(&values[at], &types[at], &SqlType::Float, None)?;
    Ok(convert::as_f64(&number).unwrap_or(0.0))
}

/// The string type of an argument's text: its own if it is a string, else `varchar` that holds any number or date.
fn text_type(ty: &SqlType) -> SqlType {
    match *ty {
        SqlType::Char(n) => SqlType::VarChar(Length::Limit(n)),
        SqlType::NChar(n) => SqlType::NVarChar(Length::Limit(n)),
        SqlType::VarChar(_) | SqlType::NVarChar(_) => *ty,
        SqlType::Text | SqlType::NText => ty.without_text_or_image(),
        SqlType::Binary(n) => SqlType::VarChar(Length::Limit(n)),
        SqlType::VarBinary(length) => SqlType::VarChar(length),
        _ => SqlType::VarChar(Length::Limit(50)),
    }
}

/// `varchar(8000)`, `nvarchar(4000)` or their `(max)`, whichever the types lead to.
fn longest_text(types: &[SqlType]) -> SqlType {
    let unicode = types.iter().any(SqlType::is_unicode);
    let max = types.iter().any(SqlType::is_max);
    match (unicode, max) {
        (true, true) => SqlType::NVarChar(Length::Max),
        (true, false) => SqlType::NVarChar(Length::Limit(4000)),
        (false, true) => SqlType::VarChar(Length::Max),
        (false, false) => SqlType::VarChar(Length::Limit(8000)),
    }
}

#[cfg(test)]
mod fit_tests;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_found_in_any_case() {
        for pair in FUNCTIONS.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} is out of order", pair[1].name);
        }
        assert_eq!(lookup("dateAdd").map(|function| function.name), Some("DATEADD"));
        assert!(lookup("NO_SUCH_FUNCTION").is_none());
        let len = lookup("len").expect("LEN");
        assert_eq!(len.check_count(2).unwrap_err().message, "The len function requires 1 argument(s).");
    }

    #[test]
    fn the_same_seed_gives_the_same_numbers() {
        let now = DateTimeOffset::new(0, 0).expect("a time");
        let numbers = |seed| {
            let mut context = Context::new(now, seed);
            [context.random(), context.random(), context.random()]
        };
        assert_eq!(numbers(7), numbers(7));
        assert_ne!(numbers(7), numbers(7 | 1 << 100));
    }
}
