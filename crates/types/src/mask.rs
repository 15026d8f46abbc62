//! Masks of columns: what takes the place of a value for who may not see it.

use crate::datetime::{Date, DateTime, DateTime2, DateTimeOffset, Moment, SmallDateTime, Time};
use crate::decimal::Decimal;
use crate::display::to_text;
use crate::error::{ERRORS, SqlError};
use crate::functions::Context;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use crate::variant::Variant;
use std::fmt;

/// What `default()` shows of a text.
const TEXT: &str = "xxxx";
/// What `email()` puts behind the first character.
const EMAIL: &str = "XXX@XXXX.com";
/// What `default()` shows of a binary: the digit zero.
const BINARY: u8 = b'0';
/// What an error says in the place of a value.
const HIDDEN: &str = "******";
/// The year that `datetime("Y")` shows.
const YEAR: i32 = 2000;

const TICKS_PER_SECOND: i64 = 10_000_000;
const TICKS_PER_DAY: i64 = 86_400 * TICKS_PER_SECOND;
const SECONDS: [(DatePiece, i64, i64); 3] =
    [(DatePiece::Hour, 3600, 24), (DatePiece::Minute, 60, 60), (DatePiece::Second, 1, 60)];

/// A mask over values of one type.
#[derive(Debug, Clone, PartialEq)]
pub struct Mask {
    function: MaskFunction,
    ty: SqlType,
}

#[derive(Debug, Clone, PartialEq)]
enum MaskFunction {
    Default,
    Email,
    Random { low: Value, high: Value },
    Partial { prefix: usize, padding: String, suffix: usize },
    DateTime(DatePiece),
}

/// What `datetime()` masks of a date and time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DatePiece {
    Year,
    Month,
    Day,
    Hour,
    Minute,
    Second,
}

/// By the letters of T-SQL, which tell upper case from lower.
const PIECES: [(&str, DatePiece); 6] = [
    ("Y", DatePiece::Year),
    ("M", DatePiece::Month),
    ("D", DatePiece::Day),
    ("h", DatePiece::Hour),
    ("m", DatePiece::Minute),
    ("s", DatePiece::Second),
];

impl DatePiece {
    fn is_of_day(self) -> bool {
        matches!(self, DatePiece::Year | DatePiece::Month | DatePiece::Day)
    }
}

impl Mask {
    /// The mask of values of a type that no other is said of.
    pub fn default_of(ty: SqlType) -> Mask {
        Mask { function: MaskFunction::Default, ty }
    }

    /// What `MASKED WITH (FUNCTION = 'text')` says of a column.
    ///
    /// # Errors
    /// 16002 to 16006.
    pub fn parse(text: &str, ty: SqlType, column: &str) -> Result<Mask, SqlError> {
        if text.is_empty() {
            return Err(SqlError::mask_invalid(column));
        }
        let (name, rest) = text.split_once('(').ok_or_else(|| SqlError::mask_format_invalid(text, column))?;
        let (arguments, behind) = arguments(rest).ok_or_else(|| SqlError::mask_format_invalid(name, column))?;
        let miscounted = || SqlError::mask_arguments_miscounted(name, column);
        let invalid = || SqlError::mask_argument_invalid(name, column);
        if !behind.is_empty() {
            return Err(miscounted());
        }
        let known = ["default", "email", "random", "partial", "datetime"];
        let known = known.into_iter().find(|known| known.eq_ignore_ascii_case(name));
        let known = known.ok_or_else(|| SqlError::mask_invalid(column))?;
        let fits = match known {
            "default" => true,
            "random" => ty.is_number() || ty == SqlType::Bit,
            "datetime" => ty.is_date_or_time(),
            _ => ty.is_string() || matches!(ty, SqlType::Text | SqlType::NText),
        };
        if !fits {
            return Err(SqlError::mask_of_type(column, known));
        }
        let function = match (known, arguments.as_slice()) {
            ("default", []) => MaskFunction::Default,
            ("email", []) => MaskFunction::Email,
            ("random", [low, high]) => random(low, high, &ty).ok_or_else(invalid)?,
            ("partial", [prefix, padding, suffix]) => partial(prefix, padding, suffix).ok_or_else(invalid)?,
            ("datetime", [piece]) => MaskFunction::DateTime(date_piece(piece, &ty).ok_or_else(invalid)?),
            _ => return Err(miscounted()),
        };
        Ok(Mask { function, ty })
    }

    /// What is shown in the place of a value. NULL is no secret.
    pub fn apply(&self, value: &Value, context: &mut Context) -> Value {
        match (&self.function, value) {
            (_, Value::Null) => Value::Null,
            (MaskFunction::Default, value) => default_for(&self.ty, value),
            (MaskFunction::Random { low, high }, _) => between(low, high, context.random()),
            (MaskFunction::Email, Value::Str(text)) => match text.chars().next() {
                Some(first) => Value::Str(self.cut(&format!("{first}{EMAIL}"))),
                None => default_for(&self.ty, value),
            },
            (MaskFunction::Partial { prefix, padding, suffix }, Value::Str(text)) => {
                Value::Str(self.cut(&exposed(text, *prefix, padding, *suffix)))
            }
            (MaskFunction::DateTime(piece), value) => piece.hide(value).unwrap_or_else(|| default_for(&self.ty, value)),
            (MaskFunction::Email | MaskFunction::Partial { .. }, value) => default_for(&self.ty, value),
        }
    }

    /// Whether it is for values of a type.
    pub fn is_of(&self, ty: &SqlType) -> bool {
        self.ty == *ty
    }

    fn cut(&self, text: &str) -> String {
        cut(text, &self.ty)
    }
}

/// As `sys.masked_columns` shows it.
impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.function {
            MaskFunction::Default => write!(f, "default()"),
            MaskFunction::Email => write!(f, "email()"),
            MaskFunction::Random { low, high } => {
                write!(f, "random({}, {})", bound_text(low, &self.ty), bound_text(high, &self.ty))
            }
            MaskFunction::Partial { prefix, padding, suffix } => {
                write!(f, "partial({prefix}, \"{}\", {suffix})", padding.replace('"', "\"\""))
            }
            MaskFunction::DateTime(piece) => {
                let letter = PIECES.iter().find(|(_, known)| known == piece).map_or("Y", |(letter, _)| letter);
                write!(f, "datetime(\"{letter}\")")
            }
        }
    }
}

/// An error that says nothing of the values that it arose from.
pub fn without_values(error: SqlError) -> SqlError {
    let template = ERRORS.iter().find(|template| template.number == error.number);
    let message = match template {
        Some(template) => template.filled(std::iter::repeat_with(|| HIDDEN.to_owned())),
        None => {
            let parts: Vec<&str> = error.message.split('\'').collect();
            let hidden = parts.iter().enumerate().map(|(at, part)| if at % 2 == 1 { HIDDEN } else { part });
            hidden.collect::<Vec<_>>().join("'")
        }
    };
    SqlError { message, ..error }
}

/// Errors of expressions that tell of a value.
const TELLS_VALUES: [i32; 7] = [220, 232, 244, 245, 248, 2628, 9819];
/// Errors of keys, which tell of one at their end.
const TELLS_KEYS: [i32; 3] = [1505, 2601, 2627];

/// The same of an error that arose somewhere in a statement: only where it is one that tells of a value of a row. That of a key keeps
/// the names of what it is a key of.
pub fn without_row_values(error: SqlError) -> SqlError {
    if TELLS_VALUES.contains(&error.number) {
        return without_values(error);
    }
    let template = ERRORS.iter().find(|template| TELLS_KEYS.contains(&error.number) && template.number == error.number);
    let before =
        template.and_then(|template| template.text.rsplit_once('{')).and_then(|(text, _)| text.rsplit_once('}'));
    match before.and_then(|(_, words)| error.message.split_once(words).map(|(start, _)| format!("{start}{words}"))) {
        Some(start) => SqlError { message: format!("{start}({HIDDEN})."), ..error },
        None => error,
    }
}

/// The arguments up to the closing parenthesis, blanks around them apart, and what stands behind it. A comma or parenthesis in
/// double quotes is part of a text.
fn arguments(text: &str) -> Option<(Vec<String>, &str)> {
    let (mut arguments, mut current, mut quoted) = (Vec::new(), String::new(), false);
    for (at, character) in text.char_indices() {
        match character {
            ')' if !quoted => {
                if !arguments.is_empty() || !current.trim().is_empty() {
                    arguments.push(current.trim().to_owned());
                }
                return Some((arguments, &text[at + 1..]));
            }
            ',' if !quoted => arguments.push(std::mem::take(&mut current).trim().to_owned()),
            character => {
                quoted ^= character == '"';
                current.push(character);
            }
        }
    }
    None
}

/// A text in double quotes; two of them within it are one.
fn unquoted(argument: &str) -> Option<String> {
    let inner = argument.strip_prefix('"')?.strip_suffix('"')?;
    let plain = inner.replace("\"\"", "\u{0}");
    (!plain.contains('"')).then(|| plain.replace('\u{0}', "\""))
}

fn partial(prefix: &str, padding: &str, suffix: &str) -> Option<MaskFunction> {
    let count = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse::<usize>().ok())?;
    Some(MaskFunction::Partial { prefix: count(prefix)?, padding: unquoted(padding)?, suffix: count(suffix)? })
}

fn random(low: &str, high: &str, ty: &SqlType) -> Option<MaskFunction> {
    let bound = |text: &str| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
        let whole = ty.is_integer() || *ty == SqlType::Bit;
        if digits.is_empty() || !is_plain || whole && digits.contains('.') {
            return None;
        }
        let number = Decimal::from_literal(digits)?;
        let number = if digits.len() < text.len() { number.negate() } else { number };
        if *ty == SqlType::Bit {
            return matches!(number.mantissa(), 0 | 1).then(|| Value::Bit(number.mantissa() == 1));
        }
        crate::convert(&Value::Decimal(number), &number.sql_type(), ty, None).ok()
    };
    let (low, high) = (bound(low)?, bound(high)?);
    let is_range = crate::order(&low, &high, crate::Collation::default()).is_le();
    is_range.then_some(MaskFunction::Random { low, high })
}

fn date_piece(argument: &str, ty: &SqlType) -> Option<DatePiece> {
    let letter = unquoted(argument)?;
    let (_, piece) = PIECES.into_iter().find(|(known, _)| *known == letter)?;
    let has = match ty {
        SqlType::Date => piece.is_of_day(),
        SqlType::Time(_) => !piece.is_of_day(),
        _ => true,
    };
    has.then_some(piece)
}

/// A bound of `random()`: without the zeros that `money` has behind it.
fn bound_text(value: &Value, ty: &SqlType) -> String {
    let text = to_text(value, ty);
    match ty {
        SqlType::Money | SqlType::SmallMoney => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        _ => text,
    }
}

/// As much of a text as a type holds.
fn cut(text: &str, ty: &SqlType) -> String {
    let limit = ty.declared_length().map_or(usize::MAX, Length::limit);
    let mut units = 0;
    let fits = |character: &char| {
        units += if ty.is_unicode() { character.len_utf16() } else { 1 };
        units <= limit
    };
    text.chars().take_while(fits).collect()
}

/// The first and the last characters of a text around a padding; of one that is not longer than these, the padding alone.
fn exposed(text: &str, prefix: usize, padding: &str, suffix: usize) -> String {
    let count = text.chars().count();
    let Some(hidden) = prefix.checked_add(suffix).filter(|exposed| *exposed < count) else {
        return padding.to_owned();
    };
    let head = text.chars().take(prefix);
    let tail = text.chars().skip(prefix + count - hidden);
    head.chain(padding.chars()).chain(tail).collect()
}

/// What `default()` shows in the place of a value of a type.
fn default_for(ty: &SqlType, value: &Value) -> Value {
    match ty {
        SqlType::Variant => {
            let Value::Variant(variant) = value else { return Value::Null };
            let limit = Length::Limit(TEXT.len() as u16);
            // A text in it is as long as any.
            let ty = match variant.ty() {
                SqlType::Char(_) | SqlType::VarChar(_) => SqlType::VarChar(limit),
                SqlType::NChar(_) | SqlType::NVarChar(_) => SqlType::NVarChar(limit),
                other => *other,
            };
            let inner = default_for(&ty, variant.value());
            Variant::new(ty, inner).map_or(Value::Null, |variant| Value::Variant(Box::new(variant)))
        }
        SqlType::Xml => Value::from("<masked />"),
        SqlType::UniqueIdentifier => Value::Guid([0; 16]),
        SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image => Value::Bin(vec![BINARY]),
        SqlType::Time(_) => Time::from_ticks(0).map_or(Value::Null, Value::Time),
        ty if ty.is_string() || matches!(ty, SqlType::Text | SqlType::NText) => Value::Str(cut(TEXT, ty)),
        ty if ty.is_date_or_time() => {
            let from = SqlType::Char(8);
            crate::convert(&Value::from("19000101"), &from, ty, None).unwrap_or_default()
        }
        // An empty place or shape says as little as none.
        SqlType::Clr(_) => Value::Null,
        ty => crate::convert(&Value::Int(0), &SqlType::Int, ty, None).unwrap_or_default(),
    }
}

/// A value from `low` to `high`, which are of one type, by random bits.
fn between(low: &Value, high: &Value, bits: u64) -> Value {
    let whole = |low: i128, high: i128| {
        let width = (high - low).unsigned_abs().saturating_add(1);
        low.saturating_add_unsigned(u128::from(bits) % width)
    };
    let share = (bits >> 11) as f64 / (1u64 << 53) as f64;
    match (low, high) {
        (Value::Bit(low), Value::Bit(high)) => Value::Bit(whole((*low).into(), (*high).into()) == 1),
        (Value::TinyInt(low), Value::TinyInt(high)) => Value::TinyInt(whole((*low).into(), (*high).into()) as u8),
        (Value::SmallInt(low), Value::SmallInt(high)) => Value::SmallInt(whole((*low).into(), (*high).into()) as i16),
        (Value::Int(low), Value::Int(high)) => Value::Int(whole((*low).into(), (*high).into()) as i32),
        (Value::BigInt(low), Value::BigInt(high)) => Value::BigInt(whole((*low).into(), (*high).into()) as i64),
        (Value::Money(low), Value::Money(high)) => Value::Money(whole((*low).into(), (*high).into()) as i64),
        (Value::SmallMoney(low), Value::SmallMoney(high)) => {
            Value::SmallMoney(whole((*low).into(), (*high).into()) as i32)
        }
        (Value::Decimal(low), Value::Decimal(high)) => {
            let mantissa = whole(low.mantissa(), high.mantissa());
            Decimal::new(mantissa, low.precision(), low.scale()).map_or(Value::Decimal(*low), Value::Decimal)
        }
        (Value::Real(low), Value::Real(high)) => Value::Real((high - low).mul_add(share as f32, *low)),
        (Value::Float(low), Value::Float(high)) => Value::Float((high - low).mul_add(share, *low)),
        _ => Value::Null,
    }
}

impl DatePiece {
    /// A date or time whose piece says nothing, and whose fractions of seconds are gone.
    fn hide(self, value: &Value) -> Option<Value> {
        Some(match value {
            Value::Date(date) => Value::Date(self.hide_in_day(*date)?),
            Value::Time(time) => Value::Time(Time::from_ticks(self.hide_in_time(time.ticks()))?),
            Value::DateTime(time) => {
                Value::DateTime(DateTime::from_moment(Moment::local(self.hide_in_moment(time.moment().ticks)?))?)
            }
            Value::SmallDateTime(time) => {
                let moment = Moment::local(self.hide_in_moment(time.moment().ticks)?);
                Value::SmallDateTime(SmallDateTime::from_moment(moment)?)
            }
            Value::DateTime2(time) => Value::DateTime2(DateTime2::from_ticks(self.hide_in_moment(time.ticks())?)?),
            Value::DateTimeOffset(time) => {
                let shift = time.moment().ticks - time.utc_ticks();
                let local = self.hide_in_moment(time.moment().ticks)?;
                Value::DateTimeOffset(DateTimeOffset::new(local - shift, time.offset_minutes())?)
            }
            _ => return None,
        })
    }

    fn hide_in_day(self, date: Date) -> Option<Date> {
        let (year, month, day) = date.ymd();
        match self {
            DatePiece::Year => Date::from_ymd(YEAR, month, day),
            DatePiece::Month => Date::from_ymd(year, 1, day),
            DatePiece::Day => Date::from_ymd(year, month, 1),
            _ => Some(date),
        }
    }

    fn hide_in_time(self, ticks: i64) -> i64 {
        let seconds = ticks / TICKS_PER_SECOND;
        let hidden = SECONDS.iter().find(|(piece, ..)| *piece == self);
        let hidden = hidden.map_or(0, |(_, size, count)| seconds / size % count * size);
        (seconds - hidden) * TICKS_PER_SECOND
    }

    fn hide_in_moment(self, ticks: i64) -> Option<i64> {
        let day = i32::try_from(ticks.div_euclid(TICKS_PER_DAY)).ok().and_then(Date::from_days)?;
        let day = i64::from(self.hide_in_day(day)?.days());
        Some(day * TICKS_PER_DAY + self.hide_in_time(ticks.rem_euclid(TICKS_PER_DAY)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, ty: SqlType) -> Result<String, i32> {
        Mask::parse(text, ty, "a").map(|mask| mask.to_string()).map_err(|error| error.number)
    }

    const TEXT_9: SqlType = SqlType::VarChar(Length::Limit(9));
    const PRICE: SqlType = SqlType::Decimal { precision: 6, scale: 2 };

    #[test]
    fn functions_are_shown_in_one_form() {
        for (text, ty, shown) in [
            ("partial(1, \"x\", 1)", TEXT_9, "partial(1, \"x\", 1)"),
            ("PARTIAL( 01 , \"a\"\"b\" , 0 )", TEXT_9, "partial(1, \"a\"\"b\", 0)"),
            ("partial(0,\"a,)b\",0)", TEXT_9, "partial(0, \"a,)b\", 0)"),
            ("EMAIL()", TEXT_9, "email()"),
            ("default( )", SqlType::Xml, "default()"),
            ("random(1.555, 3)", PRICE, "random(1.56, 3.00)"),
            ("random(1, 2.12345)", SqlType::Money, "random(1, 2.1235)"),
            ("random(1.50, 2.500)", SqlType::Float, "random(1.5, 2.5)"),
            ("Random( 01 , 003 )", SqlType::Int, "random(1, 3)"),
            ("random(-5, 0)", SqlType::SmallInt, "random(-5, 0)"),
            ("datetime(\"D\")", SqlType::Date, "datetime(\"D\")"),
        ] {
            assert_eq!(parsed(text, ty).as_deref(), Ok(shown), "{text}");
        }
    }

    #[test]
    fn what_is_no_function_of_the_type_has_its_error() {
        for (text, ty, number) in [
            ("foo()", TEXT_9, 16002),
            ("", TEXT_9, 16002),
            (" default()", TEXT_9, 16002),
            ("partial(1,\"x\",1)", SqlType::Int, 16003),
            ("EMAIL()", SqlType::Int, 16003),
            ("random(1,2)", TEXT_9, 16003),
            ("datetime(\"Y\")", TEXT_9, 16003),
            ("  Default ( ) ", TEXT_9, 16004),
            ("default(1)", TEXT_9, 16004),
            ("email() x", TEXT_9, 16004),
            ("random(1,2,3)", SqlType::Int, 16004),
            ("partial(-1,\"x\",1)", TEXT_9, 16005),
            ("partial(1,x,1)", TEXT_9, 16005),
            ("partial(1.0,\"x\",1)", TEXT_9, 16005),
            ("random(10,1)", SqlType::Int, 16005),
            ("random(1.5,2)", SqlType::Int, 16005),
            ("random(1,1e3)", SqlType::Float, 16005),
            ("random(-5,300)", SqlType::TinyInt, 16005),
            ("random(0,2)", SqlType::Bit, 16005),
            ("random(1,99999)", PRICE, 16005),
            ("datetime(\"Q\")", SqlType::DateTime, 16005),
            ("datetime(\"y\")", SqlType::DateTime, 16005),
            ("datetime(\"h\")", SqlType::Date, 16005),
            ("datetime(\"Y\")", SqlType::Time(7), 16005),
            ("default", TEXT_9, 16006),
            ("default)", TEXT_9, 16006),
            ("partial(1,\"x\",1", TEXT_9, 16006),
        ] {
            assert_eq!(parsed(text, ty), Err(number), "{text}");
        }
    }

    #[test]
    fn random_values_stay_between_their_bounds() {
        let now = DateTimeOffset::new(0, 0).expect("in range");
        let mut context = Context::new(now, 7);
        for (text, ty) in [
            ("random(5, 9)", SqlType::Int),
            ("random(1.5, 2.5)", PRICE),
            ("random(-0.25, 0.25)", SqlType::Float),
            ("random(0, 1)", SqlType::Bit),
            ("random(-9223372036854775808, 9223372036854775807)", SqlType::BigInt),
        ] {
            let mask = Mask::parse(text, ty, "a").expect("is a mask");
            let MaskFunction::Random { low, high } = &mask.function else { panic!("{text}") };
            for _ in 0..100 {
                let value = mask.apply(&Value::Int(0), &mut context);
                let is_le = |a: &Value, b: &Value| crate::order(a, b, crate::Collation::default()).is_le();
                assert!(is_le(low, &value) && is_le(&value, high), "{text}: {value:?}");
            }
        }
    }

    #[test]
    fn errors_say_nothing_of_values() {
        let error =
            SqlError::new(245, 16, 1, "Conversion failed when converting the varchar value 'secret' to data type int.");
        let hidden = "Conversion failed when converting the ****** value '******' to data type ******.";
        assert_eq!(without_values(error).message, hidden);
        let error = SqlError::new(99_999, 16, 1, "It is 'this' or 'that'.");
        assert_eq!(without_values(error).message, "It is '******' or '******'.");
    }

    #[test]
    fn an_error_of_a_key_keeps_its_names() {
        let error = SqlError::duplicate_key("PRIMARY KEY", "pk", "dbo.t", "(1, a (b))");
        let shown = "Violation of PRIMARY KEY constraint 'pk'. Cannot insert duplicate key in object 'dbo.t'. The duplicate key value is (******).";
        assert_eq!(without_row_values(error).message, shown);
        let error = SqlError::duplicate_key_in_index("dbo.t", "ix", "(1)");
        let shown = "Cannot insert duplicate key row in object 'dbo.t' with unique index 'ix'. The duplicate key value is (******).";
        assert_eq!(without_row_values(error).message, shown);
        let error = SqlError::truncated_in_column("master.dbo.t", "name", "abc");
        assert!(!without_row_values(error).message.contains("abc"));
        assert_eq!(without_row_values(SqlError::divide_by_zero()), SqlError::divide_by_zero());
    }
}
