//! Conversions: CAST, CONVERT, TRY_CAST and assignment.
//!
//! One function per target kind, in the files beside this one; [`conversion`] says which pairs of types convert at all
//! and which of them without being asked.

mod binary;
mod dates;
mod numbers;
mod text;

pub(crate) use dates::{moment_of, time_of};
pub(crate) use numbers::{as_f64, exact, float_in, money_from_decimal};
pub(crate) use text::{Writing, float_text, money_text, pad, push_blanks, scientific};

use crate::clr;
use crate::code_page::CodePage;
use crate::datetime::{DateFormat, Language, Reading};
use crate::error::SqlError;
use crate::functions::Context;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use crate::variant::Variant;
use crate::xml;

/// Whether and how one type converts to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conversion {
    /// Without being asked for.
    Implicit,
    /// Only by CAST or CONVERT.
    Explicit,
    /// Never.
    None,
}

/// What is assigned to.
#[derive(Debug, Clone, Copy)]
pub enum Target<'a> {
    /// A variable or parameter: a string that is too long is cut off silently.
    Variable,
    /// A column: a string that is too long is error 2628.
    Column {
        /// The table's three-part name, `database.schema.table`.
        table: &'a str,
        /// The column's name.
        column: &'a str,
    },
}

/// Whether and how `from` converts to `to`.
pub fn conversion(from: &SqlType, to: &SqlType) -> Conversion {
    use Conversion::{Explicit, Implicit, None};
    use SqlType::*;
    if from == to || *from == Null {
        return Implicit;
    }
    let (from_number, to_number) = (from.is_number(), to.is_number());
    match (from, to) {
        (_, Null) => None,
        (Clr(_), _) if to.is_string() || to.is_binary() => Explicit,
        (_, Clr(_)) if from.is_string() || from.is_binary() => Implicit,
        (Clr(_), _) | (_, Clr(_)) => None,
        _ if from.is_text_or_image() || to.is_text_or_image() => of_text_or_image(from, to),
        (_, Variant) if crate::variant::Variant::holds(from) => Implicit,
        (_, Variant) => None,
        (Variant, Xml) => None,
        (Variant, _) => Explicit,
        (_, Xml) if from.is_string() || from.is_binary() => Implicit,
        (_, Xml) => None,
        (Xml, _) if to.is_string() || to.is_binary() => Explicit,
        (Xml, _) => None,
        _ if from.is_string() => {
            if to.is_binary() {
                Explicit
            } else {
                Implicit
            }
        }
        (Money | SmallMoney, _) if to.is_string() => Explicit,
        (UniqueIdentifier, _) => {
            if to.is_string() || to.is_binary() {
                Implicit
            } else {
                None
            }
        }
        _ if to.is_string() => Implicit,
        (_, UniqueIdentifier) => {
            if from.is_binary() {
                Implicit
            } else {
                None
            }
        }
        _ if from_number && to_number => Implicit,
        _ if from.is_binary() && to.is_binary() => Implicit,
        _ if from.is_binary() => match to {
            Real | Float => None,
            DateTime | SmallDateTime => Implicit,
            _ if to_number => Implicit,
            _ => Explicit,
        },
        _ if from_number && to.is_binary() => Implicit,
        _ if to.is_binary() => Explicit,
        _ if from_number => {
            if matches!(to, DateTime | SmallDateTime) {
                Implicit
            } else {
                None
            }
        }
        (DateTime | SmallDateTime, _) if to_number => Explicit,
        _ if to_number => None,
        (Date, Time(_)) | (Time(_), Date) => None,
        _ => Implicit,
    }
}

/// The same where one of the two is `text`, `ntext` or `image`: a string or binary of its kind, and nothing else, without being asked for.
fn of_text_or_image(from: &SqlType, to: &SqlType) -> Conversion {
    use SqlType::{Char, Image, VarChar, Xml};
    let converts = match (from, to) {
        (Image, _) => to.is_binary(),
        (Char(_) | VarChar(_), Image) => true,
        (_, Image) => from.is_binary(),
        _ if from.is_string() => to.is_string() || *to == Xml,
        _ => false,
    };
    if converts { Conversion::Implicit } else { Conversion::None }
}

/// `CAST(value AS to)` and `CONVERT(to, value, style)`; `from` is the type of `value`. NULL stays NULL.
///
/// # Errors
/// 529 where the types never convert; 245, 241, 242, 8114, 8115, 220 ... where this value does not; 281 for a style that
/// is not known.
pub fn convert(value: &Value, from: &SqlType, to: &SqlType, style: Option<i32>) -> Result<Value, SqlError> {
    let mut out = Value::Null;
    convert_into(value, from, to, style, &mut out)?;
    Ok(out)
}

/// [`convert`] into a place whose buffer is used again.
///
/// # Errors
/// As [`convert`]; `out` is then unspecified.
#[inline]
pub fn convert_into(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    style: Option<i32>,
    out: &mut Value,
) -> Result<(), SqlError> {
    convert_in(CodePage::Western, value, from, to, style, out)
}

/// [`convert_into`] where `char` and `varchar` have a code page: of a text it is that of the result, of a binary that of the text which
/// it is made of or made into.
///
/// # Errors
/// As [`convert`]; `out` is then unspecified.
#[inline]
pub fn convert_in(
    page: CodePage,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    style: Option<i32>,
    out: &mut Value,
) -> Result<(), SqlError> {
    match (value, to) {
        (Value::Null, _) => *out = Value::Null,
        (Value::Int(v), SqlType::Int) => *out = Value::Int(*v),
        (Value::BigInt(v), SqlType::BigInt) => *out = Value::BigInt(*v),
        (Value::Int(v), SqlType::BigInt) => *out = Value::BigInt(i64::from(*v)),
        (Value::DateTime(v), SqlType::DateTime) => *out = Value::DateTime(*v),
        _ => return convert_slowly(page, value, from, to, style, out),
    }
    Ok(())
}

fn convert_slowly(
    page: CodePage,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    style: Option<i32>,
    out: &mut Value,
) -> Result<(), SqlError> {
    use SqlType::*;
    if conversion(from, to) == Conversion::None {
        return Err(SqlError::explicit_conversion_not_allowed(from.error_name(), to.error_name()));
    }
    if let (Value::Variant(variant), true) = (value, *to != Variant) {
        // Dates within are written as datetime always was.
        let style = if to.is_string() && variant.ty().is_date_or_time() { style.or(Some(0)) } else { style };
        return convert_in(page, variant.value(), variant.ty(), to, style, out);
    }
    if let (Xml, Value::Str(text)) = (from, value) {
        match to {
            Binary(_) | VarBinary(_) => return xml::to_binary(text, to, style, out),
            Char(_) | VarChar(_) | NChar(_) | NVarChar(_) => return xml::to_text(text, to, page, style, out),
            _ => {}
        }
    }
    if let (Clr(ty), Value::Bin(bytes), true) = (from, value, to.is_string()) {
        return clr::to_text(bytes, *ty, to, out);
    }
    if let (Clr(ty), Value::Bin(bytes), true) = (from, value, to.is_binary()) {
        clr::check_room(bytes, *ty, to)?;
    }
    match to {
        Null => *out = Value::Null,
        Clr(ty) => clr::from_value(value, from, *ty, out)?,
        Xml => xml::from_value(value, from, style, out)?,
        Variant => *out = in_variant(value, from)?,
        Bit | TinyInt | SmallInt | Int | BigInt | Decimal { .. } | Money | SmallMoney | Real | Float => {
            *out = numbers::to_number(value, from, to)?;
        }
        Date | Time(_) | DateTime | SmallDateTime | DateTime2(_) | DateTimeOffset(_) => {
            *out = dates::to_date(value, from, to, style)?;
        }
        Char(_) | VarChar(_) | NChar(_) | NVarChar(_) | Text | NText => {
            let writing = Writing { page, language: Language::ENGLISH };
            text::to_text(value, from, to, style, writing, out)?;
        }
        Binary(_) | VarBinary(_) | Image => binary::to_binary(value, from, to, page, style, out)?,
        UniqueIdentifier => *out = binary::to_guid(value)?,
    }
    Ok(())
}

/// A value, of type `from`, as a `sql_variant`.
fn in_variant(value: &Value, from: &SqlType) -> Result<Value, SqlError> {
    if let Value::Variant(_) = value {
        return Ok(value.clone());
    }
    let clash = || SqlError::operand_type_clash(from.error_name(), SqlType::Variant.error_name());
    let variant = Variant::new(*from, value.clone()).ok_or_else(clash)?;
    Ok(Value::Variant(Box::new(variant)))
}

/// Converts a value to the type of what it is assigned to. Whether NULL is allowed there is the caller's to check.
///
/// # Errors
/// 206 or 257 where there is no implicit conversion, 2628 when a string does not fit into a column, and those of
/// [`convert`].
#[inline]
pub fn assign(
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    target: Target<'_>,
    out: &mut Value,
) -> Result<(), SqlError> {
    assign_in(CodePage::Western, value, from, to, target, out)
}

/// [`assign`] to what has a code page.
///
/// # Errors
/// As [`assign`].
#[inline]
pub fn assign_in(
    page: CodePage,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    target: Target<'_>,
    out: &mut Value,
) -> Result<(), SqlError> {
    match (value, to) {
        (Value::Null, _) => *out = Value::Null,
        (Value::Int(v), SqlType::Int) => *out = Value::Int(*v),
        (Value::BigInt(v), SqlType::BigInt) => *out = Value::BigInt(*v),
        (Value::DateTime(v), SqlType::DateTime) => *out = Value::DateTime(*v),
        _ => return assign_slowly(page, value, from, to, target, out),
    }
    Ok(())
}

fn assign_slowly(
    page: CodePage,
    value: &Value,
    from: &SqlType,
    to: &SqlType,
    target: Target<'_>,
    out: &mut Value,
) -> Result<(), SqlError> {
    if from != to {
        match (conversion(from, to), target) {
            (Conversion::Implicit, _) => {}
            (Conversion::None, _) => return Err(SqlError::operand_type_clash(from.error_name(), to.error_name())),
            (Conversion::Explicit, Target::Variable) => {
                return Err(SqlError::implicit_conversion_not_allowed(from.error_name(), to.error_name()));
            }
            (Conversion::Explicit, Target::Column { table, column }) => {
                let (from, to) = (from.error_name(), to.error_name());
                return Err(SqlError::implicit_conversion_not_allowed_in_column(from, to, table, column));
            }
        }
    }
    if let Target::Column { table, column } = target {
        check_length(page, value, to, table, column)?;
    }
    convert_in(page, value, from, to, None, out)
}

/// Error 2628 when a string is longer than its column; blanks at its end, and of bytes zeros, do not count.
#[inline]
fn check_length(page: CodePage, value: &Value, to: &SqlType, table: &str, column: &str) -> Result<(), SqlError> {
    let Some(Length::Limit(limit)) = to.declared_length() else {
        return Ok(());
    };
    let limit = usize::from(limit);
    match value {
        Value::Str(text) if text.len() > limit && to.is_string() => {
            let start = page.of(to).prefix(text, limit);
            if text[start.len()..].bytes().any(|byte| byte != b' ') {
                return Err(too_long(start, table, column));
            }
        }
        Value::Bin(bytes) if to.is_binary() && bytes.iter().skip(limit).any(|byte| *byte != 0) => {
            return Err(too_long("", table, column));
        }
        _ => {}
    }
    Ok(())
}

#[cold]
fn too_long(start: &str, table: &str, column: &str) -> SqlError {
    if table.is_empty() { SqlError::truncated() } else { SqlError::truncated_in_column(table, column, start) }
}

/// Conversions by the session's DATEFORMAT and language. Those without a session read texts as `mdy` and name months in English.
impl Context {
    /// [`convert`] in this session.
    ///
    /// # Errors
    /// As [`convert`].
    pub fn convert(&self, value: &Value, from: &SqlType, to: &SqlType, style: Option<i32>) -> Result<Value, SqlError> {
        let mut out = Value::Null;
        self.convert_into(value, from, to, style, &mut out)?;
        Ok(out)
    }

    /// [`convert_into`] in this session.
    ///
    /// # Errors
    /// As [`convert_into`].
    #[inline]
    pub fn convert_into(
        &self,
        value: &Value,
        from: &SqlType,
        to: &SqlType,
        style: Option<i32>,
        out: &mut Value,
    ) -> Result<(), SqlError> {
        if self.date_format == DateFormat::default() && !self.language.has_own_names() {
            return convert_in(self.code_page, value, from, to, style, out);
        }
        let (reads, writes) = (to.is_date_or_time(), to.is_string());
        match value {
            Value::Variant(variant) if reads || writes => {
                self.convert_into(variant.value(), variant.ty(), to, style, out)
            }
            Value::Str(text) if reads => {
                let reading = Reading { format: self.date_format, language: self.language, ..Reading::default() };
                *out = dates::from_text(text, from, to, style, reading)?;
                Ok(())
            }
            _ if writes && from.is_date_or_time() && !value.is_null() => {
                let writing = Writing { page: self.code_page, language: self.language };
                text::to_text(value, from, to, style, writing, out)
            }
            _ => convert_in(self.code_page, value, from, to, style, out),
        }
    }

    /// TRY_CAST and TRY_CONVERT: NULL where this value does not convert. Of a `sql_variant` its type is a matter of the value.
    ///
    /// # Errors
    /// 529 where the types never convert; 701.
    pub fn try_convert(
        &self,
        value: &Value,
        from: &SqlType,
        to: &SqlType,
        style: Option<i32>,
    ) -> Result<Value, SqlError> {
        match self.convert(value, from, to, style) {
            Err(error) if error.number == 701 => Err(error),
            Err(error) if error.number != 529 || *from == SqlType::Variant => Ok(Value::Null),
            result => result,
        }
    }

    /// [`assign`] in this session.
    ///
    /// # Errors
    /// As [`assign`].
    #[inline]
    pub fn assign(
        &self,
        value: &Value,
        from: &SqlType,
        to: &SqlType,
        target: Target<'_>,
        out: &mut Value,
    ) -> Result<(), SqlError> {
        // Texts convert to dates and times without being asked.
        if matches!(value, Value::Str(_)) && to.is_date_or_time() {
            return self.convert_into(value, from, to, None, out);
        }
        if self.language.has_own_names() && from.is_date_or_time() && to.is_string() {
            let text = self.convert(value, from, &SqlType::VarChar(Length::Max), None)?;
            return assign_in(self.code_page, &text, &SqlType::VarChar(Length::Max), to, target, out);
        }
        assign_in(self.code_page, value, from, to, target, out)
    }
}
