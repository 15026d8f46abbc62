//! Parameters: Rust values on their way into a batch, each with its name.

use crate::{Error, SqlError, SqlType, Value};
use pikepole_types::{Date, DateTime, DateTime2, DateTimeOffset, Decimal, Length, SmallDateTime, Time};
use std::borrow::Cow;

/// UTF-16 units of an `nvarchar` that is not `(max)`.
const TEXT_UNITS_MAX: u16 = 4000;
/// Bytes of a `varbinary` that is not `(max)`.
const BINARY_BYTES_MAX: u16 = 8000;
const TEXT: SqlType = SqlType::NVarChar(Length::Limit(TEXT_UNITS_MAX));
const BINARY: SqlType = SqlType::VarBinary(Length::Limit(BINARY_BYTES_MAX));
/// Digits of the integers of 64 bits.
const LARGE: SqlType = SqlType::Decimal { precision: 20, scale: 0 };

/// The narrowest decimal: where it meets others, as in the rows of VALUES, they keep all of their digits.
pub(crate) const NULL_DECIMAL: SqlType = SqlType::Decimal { precision: 1, scale: 0 };

/// A Rust type that a parameter can have.
pub trait ToSql {
    /// The type of the parameter when it is NULL; the value itself says otherwise.
    const TYPE: SqlType;

    /// The value.
    ///
    /// # Errors
    /// [`Error::Usage`] when T-SQL has no such value, as a day after the year 9999.
    fn to_sql(self) -> Result<Value, Error>;
}

macro_rules! to_sql {
    ($($rust:ty: $ty:expr;)*) => {$(
        impl ToSql for $rust {
            const TYPE: SqlType = $ty;

            fn to_sql(self) -> Result<Value, Error> {
                Ok(Value::from(self))
            }
        }
    )*};
}

to_sql! {
    bool: SqlType::Bit;
    u8: SqlType::TinyInt;
    i8: SqlType::SmallInt;
    i16: SqlType::SmallInt;
    u16: SqlType::Int;
    i32: SqlType::Int;
    u32: SqlType::BigInt;
    i64: SqlType::BigInt;
    u64: LARGE;
    usize: LARGE;
    isize: SqlType::BigInt;
    f32: SqlType::Real;
    f64: SqlType::Float;
    &str: TEXT;
    String: TEXT;
    Box<str>: TEXT;
    Cow<'_, str>: TEXT;
    &[u8]: BINARY;
    Vec<u8>: BINARY;
    Value: TEXT;
    Decimal: NULL_DECIMAL;
    Date: SqlType::Date;
    Time: SqlType::Time(7);
    DateTime: SqlType::DateTime;
    SmallDateTime: SqlType::SmallDateTime;
    DateTime2: SqlType::DateTime2(7);
    DateTimeOffset: SqlType::DateTimeOffset(7);
}

impl<const N: usize> ToSql for [u8; N] {
    const TYPE: SqlType = BINARY;

    fn to_sql(self) -> Result<Value, Error> {
        Ok(Value::from(self))
    }
}

impl<T: ToSql> ToSql for Option<T> {
    const TYPE: SqlType = T::TYPE;

    fn to_sql(self) -> Result<Value, Error> {
        self.map_or(Ok(Value::Null), T::to_sql)
    }
}

impl<T: ToSql + Clone> ToSql for &T {
    const TYPE: SqlType = T::TYPE;

    fn to_sql(self) -> Result<Value, Error> {
        self.clone().to_sql()
    }
}

/// A value for a batch, with its name or without one; [`params!`](crate::params) makes them.
#[derive(Debug, Clone)]
pub struct Parameter {
    name: Option<Cow<'static, str>>,
    value: Result<Value, Error>,
    null_type: SqlType,
}

impl Parameter {
    /// A parameter with its name, `@` and all.
    pub fn named<T: ToSql>(name: impl Into<Cow<'static, str>>, value: T) -> Parameter {
        Parameter { name: Some(name.into()), value: value.to_sql(), null_type: T::TYPE }
    }

    /// A parameter that its place names: the first one is `@p1`.
    pub fn unnamed<T: ToSql>(value: T) -> Parameter {
        Parameter { name: None, value: value.to_sql(), null_type: T::TYPE }
    }

    /// The parameter for a request, at this place among its parameters.
    fn given(self, place: usize) -> Result<GivenParameter, Error> {
        let Parameter { name, value, null_type } = self;
        let (value, is_named) = (value?, name.is_some());
        let name = name.map_or_else(|| format!("@p{}", place + 1), Cow::into_owned);
        check(&value, place, &name)?;
        let ty = type_of(&value, null_type);
        Ok(GivenParameter { name, is_named, value, ty })
    }

    /// The value at this place of a row.
    fn of_row(self, place: usize) -> Result<Value, Error> {
        if self.name.is_some() {
            return Err(named_in_row());
        }
        let value = self.value?;
        check(&value, place, "")?;
        Ok(value)
    }
}

/// Refuses what is no number: T-SQL has neither infinities nor NaN.
///
/// # Errors
/// 8023.
fn check(value: &Value, place: usize, name: &str) -> Result<(), Error> {
    let ty = match value {
        Value::Real(number) if !number.is_finite() => SqlType::Real,
        Value::Float(number) if !number.is_finite() => SqlType::Float,
        _ => return Ok(()),
    };
    Err(SqlError::parameter_value_invalid(place + 1, name, ty.error_name()).into())
}

fn named_in_row() -> Error {
    Error::Usage("the values of a row have no names: their order is that of the columns".to_owned())
}

/// A parameter as a request carries it.
#[derive(Debug, Clone)]
pub struct GivenParameter {
    pub(crate) name: String,
    /// Whether the caller has given the name.
    pub(crate) is_named: bool,
    pub(crate) value: Value,
    pub(crate) ty: SqlType,
}

/// What can be passed as the parameters of a batch: [`params!`](crate::params), pairs of names and values, or `[]`.
pub trait Parameters {
    /// The parameters in their order.
    ///
    /// # Errors
    /// [`Error::Usage`] for a value that T-SQL does not have; [`Error::Sql`] 8023 for an infinity and what is no number.
    fn given(self) -> Result<Vec<GivenParameter>, Error>;

    /// The values as those of a row, which have no names.
    ///
    /// # Errors
    /// [`Error::Usage`] for a value with a name; as of [`Parameters::given`].
    fn row(self) -> Result<Vec<Value>, Error>
    where
        Self: Sized,
    {
        let value = |given: GivenParameter| if given.is_named { Err(named_in_row()) } else { Ok(given.value) };
        self.given()?.into_iter().map(value).collect()
    }
}

impl<const N: usize> Parameters for [Parameter; N] {
    fn given(self) -> Result<Vec<GivenParameter>, Error> {
        self.into_iter().enumerate().map(|(place, parameter)| parameter.given(place)).collect()
    }

    fn row(self) -> Result<Vec<Value>, Error> {
        self.into_iter().enumerate().map(|(place, parameter)| parameter.of_row(place)).collect()
    }
}

impl Parameters for Vec<Parameter> {
    fn given(self) -> Result<Vec<GivenParameter>, Error> {
        self.into_iter().enumerate().map(|(place, parameter)| parameter.given(place)).collect()
    }

    fn row(self) -> Result<Vec<Value>, Error> {
        self.into_iter().enumerate().map(|(place, parameter)| parameter.of_row(place)).collect()
    }
}

impl Parameters for &[(&str, Value)] {
    fn given(self) -> Result<Vec<GivenParameter>, Error> {
        let pairs = self.iter().enumerate();
        pairs.map(|(place, (name, value))| Parameter::named((*name).to_owned(), value).given(place)).collect()
    }
}

impl<const N: usize> Parameters for &[(&str, Value); N] {
    fn given(self) -> Result<Vec<GivenParameter>, Error> {
        self.as_slice().given()
    }
}

impl Parameters for &Vec<(&str, Value)> {
    fn given(self) -> Result<Vec<GivenParameter>, Error> {
        self.as_slice().given()
    }
}

/// The parameters of a batch, named as in T-SQL or by their places: `@p1`, `@p2` and so on.
///
/// ```
/// # use pikepole_embedded::{Engine, Error, Options, params};
/// # let engine = Engine::in_memory()?;
/// # let mut connection = engine.connect_blocking()?;
/// let (id, word) = (7, "log");
/// let sum: i32 = connection.query_value("SELECT @id + LEN(@word)", params![@id = id, @word = word])?;
/// assert_eq!(sum, 10);
/// let sum: i32 = connection.query_value("SELECT @p1 + LEN(@p2)", params![id, word])?;
/// assert_eq!(sum, 10);
/// let nothing: Option<i32> = connection.query_value("SELECT @p1", params![None::<i32>])?;
/// assert_eq!(nothing, None);
/// # Ok::<(), Error>(())
/// ```
#[macro_export]
macro_rules! params {
    ($(@ $name:ident = $value:expr),* $(,)?) => {
        [$($crate::Parameter::named(concat!("@", stringify!($name)), $value)),*]
    };
    ($($value:expr),+ $(,)?) => {
        [$($crate::Parameter::unnamed($value)),+]
    };
}

/// The type that a value is declared with; that of a NULL is given.
pub(crate) fn type_of(value: &Value, null_type: SqlType) -> SqlType {
    match value {
        Value::Null => null_type,
        Value::Bit(_) => SqlType::Bit,
        Value::TinyInt(_) => SqlType::TinyInt,
        Value::SmallInt(_) => SqlType::SmallInt,
        Value::Int(_) => SqlType::Int,
        Value::BigInt(_) => SqlType::BigInt,
        Value::Decimal(decimal) => decimal.sql_type(),
        Value::Money(_) => SqlType::Money,
        Value::SmallMoney(_) => SqlType::SmallMoney,
        Value::Real(_) => SqlType::Real,
        Value::Float(_) => SqlType::Float,
        Value::Date(_) => SqlType::Date,
        Value::Time(_) => SqlType::Time(7),
        Value::DateTime(_) => SqlType::DateTime,
        Value::SmallDateTime(_) => SqlType::SmallDateTime,
        Value::DateTime2(_) => SqlType::DateTime2(7),
        Value::DateTimeOffset(_) => SqlType::DateTimeOffset(7),
        Value::Str(text) if text.len() <= TEXT_UNITS_MAX.into() => TEXT,
        Value::Str(text) if text.encode_utf16().count() <= TEXT_UNITS_MAX.into() => TEXT,
        Value::Str(_) => SqlType::NVarChar(Length::Max),
        Value::Bin(bytes) if bytes.len() <= BINARY_BYTES_MAX.into() => BINARY,
        Value::Bin(_) => SqlType::VarBinary(Length::Max),
        Value::Guid(_) => SqlType::UniqueIdentifier,
        Value::Variant(_) => SqlType::Variant,
        Value::Node(_) => SqlType::Xml,
    }
}
