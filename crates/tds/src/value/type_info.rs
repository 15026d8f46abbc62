//! TYPE_INFO: a type with its parameters, as columns and parameters carry it.

use super::collation::WireCollation;
use crate::error::TdsError;
use crate::put::Put;
use crate::read::Reader;
use crate::version::TdsVersion;
use pikepole_types::{ClrType, CodePage, Length, SqlType};

/// The most digits of a decimal.
const PRECISION_MAX: u8 = 38;
/// The most bytes of a string or binary that is not a (max) type.
const BYTES_MAX: u32 = 8000;
/// Bytes of a `uniqueidentifier`.
const GUID_BYTES: u32 = 16;
/// The most bytes of a `sql_variant`, as its columns tell it.
const VARIANT_BYTES_MAX: u32 = 8009;
/// The most bytes of a `text`, `ntext` and `image`.
const TEXT_BYTES_MAX: u32 = i32::MAX as u32;
const NTEXT_BYTES_MAX: u32 = TEXT_BYTES_MAX - 1;
/// The length of a (max) type where other types have theirs.
const MAX_LENGTH: u32 = 0xFFFF;

macro_rules! tokens {
    ($($(#[$doc:meta])* $name:ident = $byte:literal,)*) => {
        /// The byte that names a type.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum TypeToken { $($(#[$doc])* $name = $byte,)* }

        impl TypeToken {
            /// The type of a byte; `None` for one that no version knows.
            pub fn from_byte(byte: u8) -> Option<TypeToken> {
                match byte {
                    $($byte => Some(TypeToken::$name),)*
                    _ => None,
                }
            }
        }
    };
}

tokens! {
    /// NULL without a type.
    Null = 0x1F,
    /// `image`.
    Image = 0x22,
    /// `text`.
    Text = 0x23,
    /// `uniqueidentifier`.
    Guid = 0x24,
    /// `varbinary` with a length of one byte.
    OldVarBinary = 0x25,
    /// Any integer type, nullable.
    IntN = 0x26,
    /// `varchar` with a length of one byte.
    OldVarChar = 0x27,
    /// `date`.
    Date = 0x28,
    /// `time`.
    Time = 0x29,
    /// `datetime2`.
    DateTime2 = 0x2A,
    /// `datetimeoffset`.
    DateTimeOffset = 0x2B,
    /// `binary` with a length of one byte.
    OldBinary = 0x2D,
    /// `char` with a length of one byte.
    OldChar = 0x2F,
    /// `tinyint`.
    Int1 = 0x30,
    /// `bit`.
    Bit = 0x32,
    /// `smallint`.
    Int2 = 0x34,
    /// `decimal` of clients before 7.0.
    OldDecimal = 0x37,
    /// `int`.
    Int4 = 0x38,
    /// `smalldatetime`.
    DateTime4 = 0x3A,
    /// `real`.
    Float4 = 0x3B,
    /// `money`.
    Money = 0x3C,
    /// `datetime`.
    DateTime = 0x3D,
    /// `float`.
    Float8 = 0x3E,
    /// `numeric` of clients before 7.0.
    OldNumeric = 0x3F,
    /// `sql_variant`.
    Variant = 0x62,
    /// `ntext`.
    NText = 0x63,
    /// `bit`, nullable.
    BitN = 0x68,
    /// `decimal`.
    DecimalN = 0x6A,
    /// `numeric`.
    NumericN = 0x6C,
    /// `real` or `float`, nullable.
    FloatN = 0x6D,
    /// `smallmoney` or `money`, nullable.
    MoneyN = 0x6E,
    /// `smalldatetime` or `datetime`, nullable.
    DateTimeN = 0x6F,
    /// `smallmoney`.
    Money4 = 0x7A,
    /// `bigint`.
    Int8 = 0x7F,
    /// `varbinary`.
    VarBinary = 0xA5,
    /// `varchar`.
    VarChar = 0xA7,
    /// `binary`.
    Binary = 0xAD,
    /// `char`.
    Char = 0xAF,
    /// `nvarchar`.
    NVarChar = 0xE7,
    /// `nchar`.
    NChar = 0xEF,
    /// A type of the user's own, in the CLR.
    Udt = 0xF0,
    /// `xml`.
    Xml = 0xF1,
    /// A table.
    Table = 0xF3,
    /// `json`.
    Json = 0xF4,
    /// `vector`.
    Vector = 0xF5,
}

use TypeToken as T;

/// How a value's length travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Framing {
    /// Not at all: always so many bytes.
    Fixed(usize),
    /// One byte; 0 is NULL.
    Byte,
    /// Two bytes; 0xFFFF is NULL.
    Short,
    /// `text` and its like.
    Long,
    /// Chunks.
    Chunks,
    /// Four bytes, and a type inside.
    Variant,
}

/// A type as it travels. Built from an [`SqlType`] to send, or read from a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeInfo {
    token: TypeToken,
    /// Bytes a value may have; [`MAX_LENGTH`] for a (max) type.
    length: u32,
    precision: u8,
    scale: u8,
    collation: WireCollation,
    /// Which type a [`TypeToken::Udt`] is.
    clr: Option<ClrType>,
}

impl TypeInfo {
    /// NULL without a type.
    pub const NULL: TypeInfo = TypeInfo::plain(T::Null, 0);

    const fn plain(token: TypeToken, length: u32) -> TypeInfo {
        TypeInfo { token, length, precision: 0, scale: 0, collation: WireCollation::DEFAULT, clr: None }
    }

    fn scaled(token: TypeToken, scale: u8, length: u32) -> TypeInfo {
        TypeInfo { scale, ..TypeInfo::plain(token, length) }
    }

    /// A type as it is without parameters.
    pub(super) fn bare(token: TypeToken) -> TypeInfo {
        let length = match TypeInfo::plain(token, 0).framing() {
            Framing::Fixed(length) => length as u32,
            _ if token == T::Guid => 16,
            _ if token == T::Date => 3,
            _ => 0,
        };
        TypeInfo::plain(token, length)
    }

    /// The same time type with a scale.
    pub(super) fn with_scale(self, scale: u8) -> TypeInfo {
        let more = match self.token {
            T::DateTime2 => 3,
            T::DateTimeOffset => 5,
            _ => 0,
        };
        TypeInfo { scale, length: time_bytes(scale) + more, ..self }
    }

    /// The same decimal type with a precision and scale, as a `sql_variant` has it: its values are as long as the longest.
    pub(super) fn with_precision(self, precision: u8, scale: u8) -> TypeInfo {
        TypeInfo { precision, scale, length: DECIMAL_BYTES_MAX.into(), ..self }
    }

    /// The same string or binary type with a length in bytes and a collation.
    pub(super) fn with_length(self, length: u16, collation: WireCollation) -> TypeInfo {
        TypeInfo { length: length.into(), collation, ..self }
    }

    /// Whether the type can have its parameters, in the newest version.
    pub(super) fn is_possible_anywhere(&self) -> bool {
        self.is_possible(TdsVersion::V8_0)
    }

    /// The same type; of `text`, `ntext` and `image` with a shorter length where this is one.
    #[must_use]
    pub(crate) fn with_text_bytes_max(self, bytes: u32) -> TypeInfo {
        match self.token {
            T::Text | T::NText | T::Image => TypeInfo { length: self.length.min(bytes), ..self },
            _ => self,
        }
    }

    /// The same type with a collation, which strings alone have.
    #[must_use]
    pub(crate) fn with_collation(self, collation: WireCollation) -> TypeInfo {
        TypeInfo { collation, ..self }
    }

    /// The same type; if it is a string type whose collation a client leaves open, its bytes are those of this page.
    #[must_use]
    pub(crate) fn or_page(self, page: CodePage) -> TypeInfo {
        TypeInfo { collation: self.collation.or_page(page), ..self }
    }

    /// The same type by the name of `numeric`, where it is a decimal.
    #[must_use]
    pub fn called_numeric(self) -> TypeInfo {
        let token = if self.token == T::DecimalN { T::NumericN } else { self.token };
        TypeInfo { token, ..self }
    }

    /// The type to send values of `ty` as. Types that a version does not know go as the ones its clients expect instead:
    /// dates as text, (max) types as `text`, `ntext` and `image`.
    pub fn of(ty: &SqlType, nullable: bool, version: TdsVersion) -> TypeInfo {
        let pick = |fixed: TypeToken, nullable_one: TypeToken, length| {
            TypeInfo::plain(if nullable { nullable_one } else { fixed }, length)
        };
        match *ty {
            SqlType::Null => TypeInfo::plain(T::IntN, 4),
            SqlType::Bit => pick(T::Bit, T::BitN, 1),
            SqlType::TinyInt => pick(T::Int1, T::IntN, 1),
            SqlType::SmallInt => pick(T::Int2, T::IntN, 2),
            SqlType::Int => pick(T::Int4, T::IntN, 4),
            SqlType::BigInt => pick(T::Int8, T::IntN, 8),
            SqlType::Money => pick(T::Money, T::MoneyN, 8),
            SqlType::SmallMoney => pick(T::Money4, T::MoneyN, 4),
            SqlType::Real => pick(T::Float4, T::FloatN, 4),
            SqlType::Float => pick(T::Float8, T::FloatN, 8),
            SqlType::DateTime => pick(T::DateTime, T::DateTimeN, 8),
            SqlType::SmallDateTime => pick(T::DateTime4, T::DateTimeN, 4),
            SqlType::Decimal { precision, scale } => {
                TypeInfo { precision, ..TypeInfo::scaled(T::DecimalN, scale, decimal_bytes(precision)) }
            }
            SqlType::UniqueIdentifier => TypeInfo::plain(T::Guid, GUID_BYTES),
            SqlType::Variant => TypeInfo::plain(T::Variant, VARIANT_BYTES_MAX),
            SqlType::Xml if !version.is_wide() => TypeInfo::plain(T::NText, NTEXT_BYTES_MAX),
            SqlType::Xml => TypeInfo::bare(T::Xml),
            SqlType::Clr(_) if !version.is_wide() => TypeInfo::plain(T::Image, i32::MAX as u32),
            SqlType::Clr(clr) => TypeInfo::of_clr(clr),
            // As texts to older clients: 0001-01-01, 00:00:00.0000000, both, both with +00:00.
            SqlType::Date if !version.has_date_types() => TypeInfo::plain(T::NVarChar, 10 * 2),
            SqlType::Time(_) if !version.has_date_types() => TypeInfo::plain(T::NVarChar, 16 * 2),
            SqlType::DateTime2(_) if !version.has_date_types() => TypeInfo::plain(T::NVarChar, 27 * 2),
            SqlType::DateTimeOffset(_) if !version.has_date_types() => TypeInfo::plain(T::NVarChar, 34 * 2),
            SqlType::Date => TypeInfo::plain(T::Date, 3),
            SqlType::Time(scale) => TypeInfo::scaled(T::Time, scale, time_bytes(scale)),
            SqlType::DateTime2(scale) => TypeInfo::scaled(T::DateTime2, scale, time_bytes(scale) + 3),
            SqlType::DateTimeOffset(scale) => TypeInfo::scaled(T::DateTimeOffset, scale, time_bytes(scale) + 5),
            SqlType::Char(n) => TypeInfo::plain(T::Char, u32::from(n)),
            SqlType::NChar(n) => TypeInfo::plain(T::NChar, u32::from(n) * 2),
            SqlType::Binary(n) => TypeInfo::plain(T::Binary, u32::from(n)),
            SqlType::VarChar(length) => TypeInfo::varying(T::VarChar, T::Text, length, 1, version),
            SqlType::NVarChar(length) => TypeInfo::varying(T::NVarChar, T::NText, length, 2, version),
            SqlType::VarBinary(length) => TypeInfo::varying(T::VarBinary, T::Image, length, 1, version),
            SqlType::Text => TypeInfo::plain(T::Text, TEXT_BYTES_MAX),
            SqlType::NText => TypeInfo::plain(T::NText, NTEXT_BYTES_MAX),
            SqlType::Image => TypeInfo::plain(T::Image, TEXT_BYTES_MAX),
        }
    }

    fn of_clr(clr: ClrType) -> TypeInfo {
        let length = u32::try_from(SqlType::Clr(clr).max_length()).unwrap_or(MAX_LENGTH);
        TypeInfo { clr: Some(clr), ..TypeInfo::plain(T::Udt, length) }
    }

    fn varying(token: TypeToken, old_max: TypeToken, length: Length, unit: u32, version: TdsVersion) -> TypeInfo {
        match length {
            Length::Limit(n) => TypeInfo::plain(token, u32::from(n) * unit),
            Length::Max if version.is_wide() => TypeInfo::plain(token, MAX_LENGTH),
            Length::Max if old_max == T::NText => TypeInfo::plain(old_max, NTEXT_BYTES_MAX),
            Length::Max => TypeInfo::plain(old_max, TEXT_BYTES_MAX),
        }
    }

    /// The type's name on the wire.
    pub fn token(&self) -> TypeToken {
        self.token
    }

    /// The collation of a string type; the default one for others.
    pub fn collation(&self) -> WireCollation {
        self.collation
    }

    pub(crate) fn length(&self) -> u32 {
        self.length
    }

    pub(crate) fn scale(&self) -> u8 {
        self.scale
    }

    pub(crate) fn precision(&self) -> u8 {
        self.precision
    }

    pub(crate) fn page(&self) -> Option<CodePage> {
        self.collation.page()
    }

    pub(crate) fn framing(&self) -> Framing {
        match self.token {
            T::Null => Framing::Fixed(0),
            T::Int1 | T::Bit => Framing::Fixed(1),
            T::Int2 => Framing::Fixed(2),
            T::Int4 | T::DateTime4 | T::Float4 | T::Money4 => Framing::Fixed(4),
            T::Money | T::DateTime | T::Float8 | T::Int8 => Framing::Fixed(8),
            T::Text | T::NText | T::Image => Framing::Long,
            T::Variant => Framing::Variant,
            T::Xml | T::Udt | T::Json => Framing::Chunks,
            T::VarBinary | T::VarChar | T::NVarChar if self.length == MAX_LENGTH => Framing::Chunks,
            T::VarBinary | T::VarChar | T::Binary | T::Char | T::NVarChar | T::NChar => Framing::Short,
            _ => Framing::Byte,
        }
    }

    /// Bytes that a NULL takes in a row.
    pub(crate) fn null_bytes(&self) -> usize {
        match self.framing() {
            Framing::Fixed(_) => 0,
            Framing::Byte | Framing::Long => 1,
            Framing::Short => 2,
            Framing::Variant => 4,
            Framing::Chunks => 8,
        }
    }

    /// The T-SQL type of the values. Strings in UTF-8 and in other code pages than 1252 are `nvarchar` or `ntext` here, because a `varchar`
    /// of the database cannot hold all of them;
    /// `xml` is its text.
    pub fn sql_type(&self) -> SqlType {
        let bytes = Length::Limit(self.length.clamp(1, BYTES_MAX) as u16);
        let units = (self.length / 2).clamp(1, BYTES_MAX / 2) as u16;
        let is_max = self.framing() == Framing::Chunks;
        let is_wide = self.page().is_some_and(|page| page != CodePage::Western);
        match self.token {
            T::Udt => self.clr.map_or(SqlType::Null, SqlType::Clr),
            T::Null | T::Table | T::Vector => SqlType::Null,
            T::Variant => SqlType::Variant,
            T::Bit | T::BitN => SqlType::Bit,
            T::Int1 => SqlType::TinyInt,
            T::Int2 => SqlType::SmallInt,
            T::Int4 => SqlType::Int,
            T::Int8 => SqlType::BigInt,
            T::IntN => match self.length {
                1 => SqlType::TinyInt,
                2 => SqlType::SmallInt,
                4 => SqlType::Int,
                _ => SqlType::BigInt,
            },
            T::Float4 => SqlType::Real,
            T::Float8 => SqlType::Float,
            T::FloatN => {
                if self.length == 4 {
                    SqlType::Real
                } else {
                    SqlType::Float
                }
            }
            T::Money4 => SqlType::SmallMoney,
            T::Money => SqlType::Money,
            T::MoneyN => {
                if self.length == 4 {
                    SqlType::SmallMoney
                } else {
                    SqlType::Money
                }
            }
            T::DateTime4 => SqlType::SmallDateTime,
            T::DateTime => SqlType::DateTime,
            T::DateTimeN => {
                if self.length == 4 {
                    SqlType::SmallDateTime
                } else {
                    SqlType::DateTime
                }
            }
            T::DecimalN | T::NumericN | T::OldDecimal | T::OldNumeric => {
                SqlType::Decimal { precision: self.precision, scale: self.scale }
            }
            T::Guid => SqlType::UniqueIdentifier,
            T::Date => SqlType::Date,
            T::Time => SqlType::Time(self.scale),
            T::DateTime2 => SqlType::DateTime2(self.scale),
            T::DateTimeOffset => SqlType::DateTimeOffset(self.scale),
            T::Xml | T::Json => SqlType::NVarChar(Length::Max),
            T::Text if !is_wide => SqlType::Text,
            T::Text | T::NText => SqlType::NText,
            T::Image => SqlType::Image,
            T::VarChar if is_max && !is_wide => SqlType::VarChar(Length::Max),
            T::VarBinary if is_max => SqlType::VarBinary(Length::Max),
            T::NVarChar | T::VarChar if is_max => SqlType::NVarChar(Length::Max),
            T::Char | T::VarChar | T::OldChar | T::OldVarChar if is_wide => {
                SqlType::NVarChar(if self.length <= BYTES_MAX / 2 { bytes } else { Length::Max })
            }
            T::Char | T::OldChar => SqlType::Char(self.length.clamp(1, BYTES_MAX) as u16),
            T::NChar => SqlType::NChar(units),
            T::NVarChar => SqlType::NVarChar(Length::Limit(units)),
            T::Binary | T::OldBinary => SqlType::Binary(self.length.clamp(1, BYTES_MAX) as u16),
            T::VarChar | T::OldVarChar => SqlType::VarChar(bytes),
            T::VarBinary | T::OldVarBinary => SqlType::VarBinary(bytes),
        }
    }

    /// Reads a type from the front of `bytes`.
    ///
    /// # Errors
    /// As for the messages that types are part of: unknown types, parameters that a type cannot have, types not offered.
    pub fn parse(bytes: &mut &[u8], version: TdsVersion) -> Result<TypeInfo, TdsError> {
        let mut reader = Reader::new(bytes);
        let info = TypeInfo::read(&mut reader, version)?;
        *bytes = reader.rest();
        Ok(info)
    }

    /// As [`TypeInfo::read`], of what a server tells: it says more of a type that is an assembly's.
    pub(crate) fn read_told(reader: &mut Reader<'_>, version: TdsVersion) -> Result<TypeInfo, TdsError> {
        const WHAT: &str = "a type of an assembly";
        if reader.rest().first() != Some(&(T::Udt as u8)) {
            return TypeInfo::read(reader, version);
        }
        let (_token, _length) = (reader.u8(WHAT)?, reader.u16(WHAT)?);
        let info = clr_type(reader)?;
        reader.long_text(WHAT)?;
        Ok(info)
    }

    pub(crate) fn read(reader: &mut Reader<'_>, version: TdsVersion) -> Result<TypeInfo, TdsError> {
        TypeInfo::read_unchecked(reader)?.checked(version)
    }

    /// As [`TypeInfo::read`], for what a client sends of its own, a parameter or a column of a table. A driver that knows no precision,
    /// because there is no value but NULL, sends 0 for it: that is any.
    pub(crate) fn read_sent(reader: &mut Reader<'_>, version: TdsVersion) -> Result<TypeInfo, TdsError> {
        let mut info = TypeInfo::read_unchecked(reader)?;
        if matches!(info.token, T::DecimalN | T::NumericN) && (info.precision, info.scale) == (0, 0) {
            info = info.with_precision(PRECISION_MAX, 0);
        }
        info.checked(version)
    }

    /// As [`TypeInfo::read`], for a column of a bulk load. There is a driver that says the type once more where the length of decimals
    /// belongs; each value says its own.
    pub(crate) fn read_of_load(reader: &mut Reader<'_>, version: TdsVersion) -> Result<TypeInfo, TdsError> {
        let mut info = TypeInfo::read_unchecked(reader)?;
        if matches!(info.token, T::DecimalN | T::NumericN) {
            info.length = DECIMAL_BYTES_MAX.into();
        }
        info.checked(version)
    }

    fn checked(self, version: TdsVersion) -> Result<TypeInfo, TdsError> {
        if self.is_possible(version) { Ok(self) } else { Err(TdsError::InvalidLength(self.token as u8)) }
    }

    fn read_unchecked(reader: &mut Reader<'_>) -> Result<TypeInfo, TdsError> {
        const WHAT: &str = "a type";
        let byte = reader.u8(WHAT)?;
        let token = TypeToken::from_byte(byte).ok_or(TdsError::UnknownType(byte))?;
        let refuse = |name: &str| Err(TdsError::Unsupported(format!("A value of type {name} from a client")));
        let mut info = TypeInfo::bare(token);
        match token {
            T::Udt => info = clr_type(reader)?,
            T::Json => return refuse("json"),
            T::Vector => return refuse("vector"),
            T::Table => return refuse("table in this place"),
            T::Time | T::DateTime2 | T::DateTimeOffset => {
                info = info.with_scale(reader.u8(WHAT)?);
            }
            T::DecimalN | T::NumericN | T::OldDecimal | T::OldNumeric => {
                let [length, precision, scale] = reader.array(WHAT)?;
                info = TypeInfo { length: u32::from(length), precision, scale, ..info };
            }
            // mssql-jdbc, for NULL, says no length either.
            T::Guid => {
                info.length = match reader.u8(WHAT)? {
                    0 => GUID_BYTES,
                    length => length.into(),
                };
            }
            T::IntN | T::BitN | T::FloatN | T::MoneyN | T::DateTimeN => info.length = reader.u8(WHAT)?.into(),
            T::OldVarBinary | T::OldVarChar | T::OldBinary | T::OldChar => info.length = reader.u8(WHAT)?.into(),
            T::VarBinary | T::Binary => info.length = reader.u16(WHAT)?.into(),
            T::VarChar | T::Char | T::NVarChar | T::NChar => {
                info.length = reader.u16(WHAT)?.into();
                info.collation = WireCollation::read(reader)?;
            }
            T::Image | T::Variant => info.length = reader.u32(WHAT)?,
            T::Text | T::NText => {
                info.length = reader.u32(WHAT)?;
                info.collation = WireCollation::read(reader)?;
            }
            T::Xml => skip_schema(reader)?,
            _ => {}
        }
        Ok(info)
    }

    /// Whether the type can have its parameters.
    fn is_possible(&self, version: TdsVersion) -> bool {
        let length = self.length;
        match self.token {
            T::IntN => matches!(length, 1 | 2 | 4 | 8),
            T::BitN => length == 1,
            T::FloatN | T::MoneyN | T::DateTimeN => matches!(length, 4 | 8),
            T::Guid => length == GUID_BYTES,
            T::DecimalN | T::NumericN | T::OldDecimal | T::OldNumeric => {
                (1..=PRECISION_MAX).contains(&self.precision)
                    && self.scale <= self.precision
                    && (2..=17).contains(&length)
            }
            T::Time | T::DateTime2 | T::DateTimeOffset => self.scale <= 7,
            T::VarBinary | T::VarChar => length <= BYTES_MAX || length == MAX_LENGTH && version.is_wide(),
            T::NVarChar => length <= BYTES_MAX && length.is_multiple_of(2) || length == MAX_LENGTH && version.is_wide(),
            T::Binary | T::Char => length <= BYTES_MAX,
            T::NChar => length <= BYTES_MAX && length.is_multiple_of(2),
            _ => true,
        }
    }

    /// Appends the type.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.put_u8(self.token as u8);
        match self.token {
            T::Time | T::DateTime2 | T::DateTimeOffset => out.put_u8(self.scale),
            T::DecimalN | T::NumericN | T::OldDecimal | T::OldNumeric => {
                out.extend_from_slice(&[DECIMAL_BYTES_MAX, self.precision, self.scale]);
            }
            T::Guid | T::IntN | T::BitN | T::FloatN | T::MoneyN | T::DateTimeN => out.put_u8(self.length as u8),
            T::OldVarBinary | T::OldVarChar | T::OldBinary | T::OldChar => out.put_u8(self.length as u8),
            T::VarBinary | T::Binary => out.put_u16(self.length as u16),
            T::VarChar | T::Char | T::NVarChar | T::NChar => {
                out.put_u16(self.length as u16);
                out.extend_from_slice(&self.collation.to_bytes());
            }
            T::Image | T::Variant => out.put_u32(self.length),
            T::Text | T::NText => {
                out.put_u32(self.length);
                out.extend_from_slice(&self.collation.to_bytes());
            }
            T::Xml => out.put_u8(0),
            T::Udt => self.write_clr(out),
            _ => {}
        }
    }

    fn write_clr(&self, out: &mut Vec<u8>) {
        let Some(clr) = self.clr else { return };
        out.put_u16(self.length as u16);
        ["master", "sys", clr.name()].iter().for_each(|part| out.put_short_text(part));
        out.put_long_text(&clr.qualified_name(), usize::MAX);
    }
}

/// A type of an assembly: its database, its schema and its name, of which the last one says which it is.
fn clr_type(reader: &mut Reader<'_>) -> Result<TypeInfo, TdsError> {
    const WHAT: &str = "the name of a type";
    let (_database, _schema) = (reader.short_text(WHAT)?, reader.short_text(WHAT)?);
    let name = reader.short_text(WHAT)?;
    let known = ClrType::by_name(&name).map(TypeInfo::of_clr);
    known.ok_or_else(|| TdsError::Unsupported(format!("A value of type {name} from a client")))
}

/// The schema of an `xml`, which is only named.
fn skip_schema(reader: &mut Reader<'_>) -> Result<(), TdsError> {
    const WHAT: &str = "the schema of an xml type";
    if reader.u8(WHAT)? != 0 {
        reader.short_text(WHAT)?;
        reader.short_text(WHAT)?;
        reader.long_text(WHAT)?;
    }
    Ok(())
}

/// Bytes of the longest decimal. Types say this length whatever their precision; clients show it as the column's size.
const DECIMAL_BYTES_MAX: u8 = 17;

/// Bytes of a decimal: a sign and the digits.
fn decimal_bytes(precision: u8) -> u32 {
    match precision {
        0..=9 => 5,
        10..=19 => 9,
        20..=28 => 13,
        _ => 17,
    }
}

/// Bytes of a time of day.
pub(crate) fn time_bytes(scale: u8) -> u32 {
    match scale {
        0..=2 => 3,
        3..=4 => 4,
        _ => 5,
    }
}
