//! The types themselves: parameters, names, sizes, precedence and the type two operands meet at.

use crate::clr::{ClrType, HIERARCHY_BYTES_MAX};
use crate::error::SqlError;
use std::fmt;

/// The declared length of a varying type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Length {
    /// At most this many of the type's own units: bytes for `varchar` and `varbinary`, UTF-16 units for `nvarchar`.
    Limit(u16),
    /// `(max)`.
    Max,
}

impl Length {
    /// The limit in the type's units; `usize::MAX` for `(max)`.
    pub fn limit(self) -> usize {
        match self {
            Length::Limit(n) => usize::from(n),
            Length::Max => usize::MAX,
        }
    }
}

/// A type with its parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum SqlType {
    /// The type of the bare word NULL; it gives way to every other type.
    Null,
    /// `bit`.
    Bit,
    /// `tinyint`.
    TinyInt,
    /// `smallint`.
    SmallInt,
    /// `int`.
    Int,
    /// `bigint`.
    BigInt,
    /// `decimal(precision, scale)`, `numeric` likewise.
    Decimal {
        /// Digits in all, 1 to 38.
        precision: u8,
        /// Digits after the point, at most `precision`.
        scale: u8,
    },
    /// `money`.
    Money,
    /// `smallmoney`.
    SmallMoney,
    /// `real`, also `float(1)` to `float(24)`.
    Real,
    /// `float`.
    Float,
    /// `date`.
    Date,
    /// `time(scale)`, 0 to 7.
    Time(u8),
    /// `datetime`.
    DateTime,
    /// `smalldatetime`.
    SmallDateTime,
    /// `datetime2(scale)`, 0 to 7.
    DateTime2(u8),
    /// `datetimeoffset(scale)`, 0 to 7.
    DateTimeOffset(u8),
    /// `char(n)`, bytes.
    Char(u16),
    /// `varchar(n | max)`, bytes.
    VarChar(Length),
    /// `nchar(n)`, UTF-16 units.
    NChar(u16),
    /// `nvarchar(n | max)`, UTF-16 units.
    NVarChar(Length),
    /// `binary(n)`.
    Binary(u16),
    /// `varbinary(n | max)`.
    VarBinary(Length),
    /// `uniqueidentifier`.
    UniqueIdentifier,
    /// `sql_variant`.
    Variant,
    /// `xml`, without a collection of schemas.
    Xml,
    /// `text`: a `varchar(max)` that can hardly be computed with.
    Text,
    /// `ntext`, likewise an `nvarchar(max)`.
    NText,
    /// `image`, likewise a `varbinary(max)`.
    Image,
    /// `hierarchyid`, `geometry`, `geography`.
    Clr(ClrType),
}

use SqlType::*;

impl SqlType {
    /// The type's name without parameters, as `sys.types` has it.
    pub fn name(&self) -> &'static str {
        match self {
            Null => "NULL",
            Bit => "bit",
            TinyInt => "tinyint",
            SmallInt => "smallint",
            Int => "int",
            BigInt => "bigint",
            Decimal { .. } => "decimal",
            Money => "money",
            SmallMoney => "smallmoney",
            Real => "real",
            Float => "float",
            Date => "date",
            Time(_) => "time",
            DateTime => "datetime",
            SmallDateTime => "smalldatetime",
            DateTime2(_) => "datetime2",
            DateTimeOffset(_) => "datetimeoffset",
            Char(_) => "char",
            VarChar(_) => "varchar",
            NChar(_) => "nchar",
            NVarChar(_) => "nvarchar",
            Binary(_) => "binary",
            VarBinary(_) => "varbinary",
            UniqueIdentifier => "uniqueidentifier",
            Variant => "sql_variant",
            Xml => "xml",
            Text => "text",
            NText => "ntext",
            Image => "image",
            Clr(ty) => ty.name(),
        }
    }

    /// The name that error messages use: as [`name`](Self::name), but a decimal is `numeric` there.
    pub fn error_name(&self) -> &'static str {
        match self {
            Decimal { .. } => "numeric",
            _ => self.name(),
        }
    }

    /// `system_type_id` of `sys.types`.
    pub fn system_type_id(&self) -> u8 {
        match self {
            Null | Int => 56,
            Bit => 104,
            TinyInt => 48,
            SmallInt => 52,
            BigInt => 127,
            Decimal { .. } => 106,
            Money => 60,
            SmallMoney => 122,
            Real => 59,
            Float => 62,
            Date => 40,
            Time(_) => 41,
            DateTime => 61,
            SmallDateTime => 58,
            DateTime2(_) => 42,
            DateTimeOffset(_) => 43,
            Char(_) => 175,
            VarChar(_) => 167,
            NChar(_) => 239,
            NVarChar(_) => 231,
            Binary(_) => 173,
            VarBinary(_) => 165,
            UniqueIdentifier => 36,
            Variant => 98,
            Xml => 241,
            Text => 35,
            NText => 99,
            Image => 34,
            Clr(_) => 240,
        }
    }

    /// `user_type_id` of `sys.types`.
    pub fn user_type_id(&self) -> i32 {
        match self {
            Clr(ty) => ty.user_type_id(),
            _ => self.system_type_id().into(),
        }
    }

    /// `max_length` of `sys.columns`: bytes, -1 for `(max)`, those of a pointer for `text`, `ntext` and `image`.
    pub fn max_length(&self) -> i16 {
        let varying = |length: Length, unit: u16| match length {
            Length::Limit(n) => (n * unit) as i16,
            Length::Max => -1,
        };
        match *self {
            Bit | TinyInt => 1,
            SmallInt => 2,
            Null | Int | SmallMoney | Real | SmallDateTime => 4,
            BigInt | Money | Float | DateTime => 8,
            Decimal { precision, .. } => match precision {
                0..=9 => 5,
                10..=19 => 9,
                20..=28 => 13,
                _ => 17,
            },
            Date => 3,
            Time(scale) => time_bytes(scale),
            DateTime2(scale) => time_bytes(scale) + 3,
            DateTimeOffset(scale) => time_bytes(scale) + 5,
            Char(n) | Binary(n) => n as i16,
            NChar(n) => (n * 2) as i16,
            VarChar(length) | VarBinary(length) => varying(length, 1),
            NVarChar(length) => varying(length, 2),
            UniqueIdentifier | Text | NText | Image => 16,
            Variant => 8016,
            Xml | Clr(ClrType::Geometry | ClrType::Geography) => -1,
            Clr(ClrType::HierarchyId) => HIERARCHY_BYTES_MAX as i16,
        }
    }

    /// `precision` of `sys.columns`: digits for numbers, characters of the longest text for dates, 0 otherwise.
    pub fn precision(&self) -> u8 {
        let fraction = |scale: u8| if scale == 0 { 0 } else { scale + 1 };
        match *self {
            Bit => 1,
            TinyInt => 3,
            SmallInt => 5,
            Null | Int | SmallMoney | Date => 10,
            BigInt | Money => 19,
            Decimal { precision, .. } => precision,
            Real => 24,
            Float => 53,
            Time(scale) => 8 + fraction(scale),
            DateTime => 23,
            SmallDateTime => 16,
            DateTime2(scale) => 19 + fraction(scale),
            DateTimeOffset(scale) => 26 + fraction(scale),
            _ => 0,
        }
    }

    /// `scale` of `sys.columns`: digits after the point.
    pub fn scale(&self) -> u8 {
        match *self {
            Decimal { scale, .. } | Time(scale) | DateTime2(scale) | DateTimeOffset(scale) => scale,
            Money | SmallMoney => 4,
            DateTime => 3,
            _ => 0,
        }
    }

    /// Whether values are character strings.
    #[inline]
    pub fn is_string(&self) -> bool {
        matches!(self, Char(_) | VarChar(_) | NChar(_) | NVarChar(_) | Text | NText)
    }

    /// Whether values are strings of UTF-16 units (`nchar`, `nvarchar`, `ntext`).
    #[inline]
    pub fn is_unicode(&self) -> bool {
        matches!(self, NChar(_) | NVarChar(_) | NText)
    }

    /// Whether values are binary strings.
    pub fn is_binary(&self) -> bool {
        matches!(self, Binary(_) | VarBinary(_) | Image)
    }

    /// Whether this is `text`, `ntext` or `image`, whose values are kept, sent and cut in parts, and neither compared nor computed with.
    #[inline]
    pub fn is_text_or_image(&self) -> bool {
        matches!(self, Text | NText | Image)
    }

    /// Whether this is `tinyint`, `smallint`, `int` or `bigint`.
    pub fn is_integer(&self) -> bool {
        matches!(self, TinyInt | SmallInt | Int | BigInt)
    }

    /// Whether this is a number of any kind, bit included.
    pub fn is_number(&self) -> bool {
        self.is_integer() || matches!(self, Bit | Decimal { .. } | Money | SmallMoney | Real | Float)
    }

    /// Whether this is a date, a time or both.
    pub fn is_date_or_time(&self) -> bool {
        matches!(self, Date | Time(_) | DateTime | SmallDateTime | DateTime2(_) | DateTimeOffset(_))
    }

    /// Whether values are compared, ordered and grouped.
    pub fn is_comparable(&self) -> bool {
        !matches!(self, Xml | Text | NText | Image | Clr(ClrType::Geometry | ClrType::Geography))
    }

    /// Whether values may be of any length: of strings and binaries declared `(max)`, of `xml`, `text`, `ntext`, `image` and shapes.
    pub fn is_max(&self) -> bool {
        let is_declared_so = self.declared_length() == Some(Length::Max);
        is_declared_so || !self.is_comparable()
    }

    /// The most characters or bytes that a value has, where the type's name alone says it.
    pub fn units_max(&self) -> Option<i32> {
        match self {
            Text | Image => Some(i32::MAX),
            NText => Some(i32::MAX / 2),
            _ => None,
        }
    }

    /// The type without a limit that the values of `text`, `ntext` and `image` are converted to where they are computed with after all.
    #[must_use]
    pub fn without_text_or_image(self) -> SqlType {
        match self {
            Text => VarChar(Length::Max),
            NText => NVarChar(Length::Max),
            Image => VarBinary(Length::Max),
            other => other,
        }
    }

    /// The declared length of a string or binary in its own units (bytes, or UTF-16 units for `nchar` and `nvarchar`).
    pub fn declared_length(&self) -> Option<Length> {
        match *self {
            Char(n) | NChar(n) | Binary(n) => Some(Length::Limit(n)),
            VarChar(length) | NVarChar(length) | VarBinary(length) => Some(length),
            _ => None,
        }
    }

    /// The decimal type that holds every value of an exact number type: `int` is `decimal(10, 0)`, `money` is
    /// `decimal(19, 4)`.
    pub fn as_decimal(&self) -> Option<(u8, u8)> {
        match *self {
            Bit => Some((1, 0)),
            TinyInt => Some((3, 0)),
            SmallInt => Some((5, 0)),
            Int => Some((10, 0)),
            BigInt => Some((19, 0)),
            SmallMoney => Some((10, 4)),
            Money => Some((19, 4)),
            Decimal { precision, scale } => Some((precision, scale)),
            _ => None,
        }
    }

    /// Rank in the order of precedence: of two operands the one with the lower rank gives way.
    pub fn precedence(&self) -> u8 {
        match self {
            Null => 0,
            Binary(_) => 1,
            VarBinary(_) => 2,
            Char(_) => 3,
            VarChar(_) => 4,
            NChar(_) => 5,
            NVarChar(_) => 6,
            UniqueIdentifier => 7,
            Image => 8,
            Text => 9,
            NText => 10,
            Bit => 11,
            TinyInt => 12,
            SmallInt => 13,
            Int => 14,
            BigInt => 15,
            SmallMoney => 16,
            Money => 17,
            Decimal { .. } => 18,
            Real => 19,
            Float => 20,
            Time(_) => 21,
            Date => 22,
            SmallDateTime => 23,
            DateTime => 24,
            DateTime2(_) => 25,
            DateTimeOffset(_) => 26,
            Xml => 27,
            Variant => 28,
            Clr(_) => 29,
        }
    }
}

fn time_bytes(scale: u8) -> i16 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}

impl fmt::Display for SqlType {
    /// The type as it is declared: `varchar(50)`, `decimal(10,2)`, `nvarchar(max)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())?;
        match *self {
            Decimal { precision, scale } => write!(f, "({precision},{scale})"),
            Time(scale) | DateTime2(scale) | DateTimeOffset(scale) => write!(f, "({scale})"),
            _ => match self.declared_length() {
                Some(Length::Limit(n)) => write!(f, "({n})"),
                Some(Length::Max) => f.write_str("(max)"),
                None => Ok(()),
            },
        }
    }
}

/// The type that two operands of a comparison, of CASE, COALESCE or UNION meet at, by the order of precedence.
///
/// # Errors
/// 206 when one cannot be converted to the other implicitly (`date` and `int`).
pub fn implicit_type(left: &SqlType, right: &SqlType) -> Result<SqlType, SqlError> {
    if left == right {
        return Ok(*left);
    }
    let (low, high) = if left.precedence() <= right.precedence() { (left, right) } else { (right, left) };
    if *low == Null {
        return Ok(*high);
    }
    if crate::convert::conversion(low, high) != crate::convert::Conversion::Implicit {
        return Err(SqlError::operand_type_clash(left.error_name(), right.error_name()));
    }
    Ok(match (*low, *high) {
        (_, Decimal { .. }) => match (low.as_decimal(), high.as_decimal()) {
            (Some(a), Some(b)) => crate::decimal::union_type(a, b),
            _ => *high,
        },
        (Time(a), Time(b)) => Time(a.max(b)),
        (DateTime2(a) | Time(a), DateTime2(b)) => DateTime2(a.max(b)),
        (DateTime, DateTime2(scale)) => DateTime2(scale.max(3)),
        (DateTimeOffset(a) | DateTime2(a) | Time(a), DateTimeOffset(b)) => DateTimeOffset(a.max(b)),
        (DateTime, DateTimeOffset(scale)) => DateTimeOffset(scale.max(3)),
        (_, Char(_) | VarChar(_) | NChar(_) | NVarChar(_) | Binary(_) | VarBinary(_)) => wider(low, high),
        _ => *high,
    })
}

/// The string or binary type of `high`'s kind that holds both; varying as soon as either varies.
fn wider(low: &SqlType, high: &SqlType) -> SqlType {
    let length = match (low.declared_length(), high.declared_length()) {
        (Some(Length::Limit(a)), Some(Length::Limit(b))) => Length::Limit(a.max(b)),
        (Some(_), Some(_)) => Length::Max,
        _ => return *high,
    };
    let varies = matches!(low, VarChar(_) | NVarChar(_) | VarBinary(_));
    match (high, length) {
        (Char(_), Length::Limit(n)) if !varies => Char(n),
        (NChar(_), Length::Limit(n)) if !varies => NChar(n.min(4000)),
        (Binary(_), Length::Limit(n)) if !varies => Binary(n),
        (Char(_) | VarChar(_), _) => VarChar(length),
        (NChar(_) | NVarChar(_), Length::Limit(n)) if n > 4000 => NVarChar(Length::Limit(4000)),
        (NChar(_) | NVarChar(_), _) => NVarChar(length),
        _ => VarBinary(length),
    }
}
