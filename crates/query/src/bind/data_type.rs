//! Types as written become types.

use std::sync::Arc;

use crate::expression::Fault;
use pikepole_engine::{Catalog, UserType, UserTypeKind};
use pikepole_tsql::{DataType, TypeArguments};
use pikepole_types::{ClrType, Length, SecondName, SqlError, SqlType};

/// Where a type stands, which decides the default length of strings, and what errors say of a length that is too large.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TypePlace<'n> {
    /// A declaration that has no name to tell: `varchar` is `varchar(1)`, as in all of them.
    Declaration,
    /// That of a table's column.
    Column(&'n str),
    /// That of a variable or parameter.
    Variable(&'n str),
    /// CAST and CONVERT: `varchar` is `varchar(30)`.
    Conversion,
}

/// What a type as written stands for.
#[derive(Debug, Clone)]
pub enum Declared {
    /// A type of the system, by its first name.
    System(SqlType),
    /// A type of the system by another name of the system's.
    Second(&'static SecondName, SqlType),
    /// A user's name for one, or xml with a collection of schemas.
    Alias(Arc<UserType>, SqlType),
    /// The shape of a table.
    Table(Arc<UserType>),
}

impl Declared {
    /// The type of a value; None for a table.
    pub fn scalar(&self) -> Option<SqlType> {
        match self {
            Declared::System(ty) | Declared::Second(_, ty) | Declared::Alias(_, ty) => Some(*ty),
            Declared::Table(_) => None,
        }
    }

    /// The user's type.
    pub fn user_type(&self) -> Option<&Arc<UserType>> {
        match self {
            Declared::System(_) | Declared::Second(..) => None,
            Declared::Alias(user_type, _) | Declared::Table(user_type) => Some(user_type),
        }
    }

    /// The system's second name that was written.
    pub fn second_name(&self) -> Option<&'static SecondName> {
        match self {
            Declared::Second(second, _) => Some(second),
            _ => None,
        }
    }

    /// The number of the name that was written, if it is not the type's first.
    pub fn user_type_id(&self) -> Option<i32> {
        let own = self.user_type().map(|user_type| user_type.user_type_id);
        own.or_else(|| self.second_name().map(|second| second.user_type_id))
    }

    /// The number of the alias type that was written, or of `sysname`.
    pub fn alias_type(&self) -> Option<i32> {
        let is_alias =
            |ty: SqlType| ty != SqlType::Xml && !matches!((self, ty), (Declared::Second(..), SqlType::Decimal { .. }));
        self.user_type_id().filter(|_| self.scalar().is_some_and(is_alias))
    }

    /// Whether a column of the type may hold NULL when nothing is said about it.
    pub fn is_nullable(&self) -> bool {
        match (self.second_name(), self.user_type().map(|user_type| &user_type.kind)) {
            (Some(second), _) => second.nullable,
            (_, Some(UserTypeKind::Alias { nullable, .. })) => *nullable,
            _ => true,
        }
    }
}

/// What `written` names, where columns, variables and parameters are declared; `position` is its number among them, for errors.
/// Names without a schema are those of the system first.
///
/// # Errors
/// As [`sql_type`].
pub(crate) fn declared(catalog: &Catalog, written: &DataType, position: usize) -> Result<Declared, Fault> {
    declared_at(catalog, written, TypePlace::Declaration, position)
}

/// What `written` names at a place whose name errors tell.
///
/// # Errors
/// As [`sql_type`].
pub(crate) fn declared_at(
    catalog: &Catalog,
    written: &DataType,
    place: TypePlace<'_>,
    position: usize,
) -> Result<Declared, Fault> {
    if let TypeArguments::Collection(name) = &written.arguments {
        let schema = name.schema_str().unwrap_or("dbo");
        let found = catalog.schema_collection(schema, &name.name.text);
        let found = found.ok_or_else(|| SqlError::schema_collection_unknown(&name.name.text))?;
        return Ok(Declared::Alias(Arc::clone(found), SqlType::Xml));
    }
    let system = written.schema.as_ref().is_none_or(|schema| schema.is("sys"));
    let fault = match system.then(|| system_type(written, place, position)) {
        Some(Ok(ty)) => {
            let second = SecondName::by_name(&written.name.text);
            return Ok(second.map_or(Declared::System(ty), |second| Declared::Second(second, ty)));
        }
        Some(Err(fault)) if fault.number != UNKNOWN => return Err(fault),
        Some(Err(fault)) => fault,
        None => Box::new(SqlError::type_unknown(position, shown(written))),
    };
    let schema = written.schema.as_ref().map_or("dbo", |schema| schema.as_str());
    let found = catalog.user_type(schema, &written.name.text).ok_or(fault)?;
    if written.arguments != TypeArguments::None {
        return Err(Box::new(SqlError::width_not_allowed(position, &written.name.text)));
    }
    Ok(match &found.kind {
        UserTypeKind::Alias { ty, .. } => Declared::Alias(Arc::clone(found), *ty),
        UserTypeKind::Table(_) => Declared::Table(Arc::clone(found)),
        // They are not found by the names of types.
        UserTypeKind::SchemaCollection { .. } => Declared::Alias(Arc::clone(found), SqlType::Xml),
    })
}

/// The type of a value that `written` names; `position` is the number of the column, parameter or variable, for errors.
///
/// # Errors
/// 2715 for an unknown type and for a table type, 2716 for a length where none belongs, 131, 1001, 1002, 2717, 2750, 2751 for
/// sizes out of range; 6314 for an unknown collection of schemas; 243 for a conversion to a type that is none of the system's,
/// 291 for one to a type with a length where none belongs.
pub(crate) fn sql_type(
    catalog: &Catalog,
    written: &DataType,
    place: TypePlace<'_>,
    position: usize,
) -> Result<SqlType, Fault> {
    if place == TypePlace::Conversion && !matches!(written.arguments, TypeArguments::Collection(_)) {
        let unknown = || Box::new(SqlError::not_a_system_type(&written.name.text));
        if written.schema.as_ref().is_some_and(|schema| !schema.is("sys")) {
            return Err(unknown());
        }
        let found = system_type(written, place, position);
        return found.map_err(|fault| if fault.number == UNKNOWN { unknown() } else { fault });
    }
    let unknown = || Box::new(SqlError::type_unknown(position, shown(written)));
    declared(catalog, written, position)?.scalar().ok_or_else(unknown)
}

/// Whether it names a type of the system's, and one that there is.
pub(super) fn is_system_type(written: &DataType) -> bool {
    written.schema.is_none() && system_type(written, TypePlace::Declaration, 1).is_ok()
}

/// A type's name with its schema, as it was written.
fn shown(written: &DataType) -> String {
    let schema = written.schema.as_ref().map_or(String::new(), |schema| format!("{}.", schema.text));
    format!("{schema}{}", written.name.text)
}

/// The longest text of Unicode that is no MAX.
const UNICODE_MAX: u16 = 4000;

/// The number of the error for a type that is not there.
const UNKNOWN: i32 = 2715;

/// A length where none belongs.
fn misplaced_length(name: &str, place: TypePlace<'_>, position: usize) -> Fault {
    Box::new(match place {
        TypePlace::Conversion => SqlError::invalid_type_attributes(name),
        _ => SqlError::width_not_allowed(position, name),
    })
}

/// Digits behind the second are the only length or precision that may be none.
fn check_not_zero(written: &DataType, name: &str) -> Result<(), Fault> {
    let is_zero = matches!(written.arguments, TypeArguments::One(0) | TypeArguments::Two(0, _));
    if is_zero && !matches!(name, "time" | "datetime2" | "datetimeoffset") {
        let line = written.name.span.line;
        return Err(Box::new(SqlError::length_invalid(line, 0).at_line(line)));
    }
    Ok(())
}

fn system_type(written: &DataType, place: TypePlace<'_>, position: usize) -> Result<SqlType, Fault> {
    let name = written.name.text.to_ascii_lowercase();
    let plain = |ty: SqlType| match written.arguments {
        TypeArguments::None => Ok(ty),
        _ => check_not_zero(written, &name).and(Err(misplaced_length(&name, place, position))),
    };
    let length = |maximum: u16| length(written, &name, place, position, maximum);
    match name.as_str() {
        "bit" => plain(SqlType::Bit),
        "tinyint" => plain(SqlType::TinyInt),
        "smallint" => plain(SqlType::SmallInt),
        "int" | "integer" => plain(SqlType::Int),
        "bigint" => plain(SqlType::BigInt),
        "decimal" | "dec" | "numeric" => decimal(written, place, position),
        "money" => plain(SqlType::Money),
        "smallmoney" => plain(SqlType::SmallMoney),
        "real" => plain(SqlType::Real),
        "float" => match written.arguments {
            TypeArguments::None => Ok(SqlType::Float),
            TypeArguments::One(1..=24) => Ok(SqlType::Real),
            TypeArguments::One(25..=53) => Ok(SqlType::Float),
            TypeArguments::One(precision) => check_not_zero(written, &name)
                .and(Err(Box::new(SqlError::precision_too_large(position, precision, 53)))),
            _ => plain(SqlType::Float),
        },
        "date" => plain(SqlType::Date),
        "datetime" => plain(SqlType::DateTime),
        "smalldatetime" => plain(SqlType::SmallDateTime),
        "time" => Ok(SqlType::Time(fraction(written, place, position)?)),
        "datetime2" => Ok(SqlType::DateTime2(fraction(written, place, position)?)),
        "datetimeoffset" => Ok(SqlType::DateTimeOffset(fraction(written, place, position)?)),
        "char" | "character" => match length(8000)? {
            Length::Limit(n) => Ok(SqlType::Char(n)),
            Length::Max => Err(Box::new(SqlError::incorrect_syntax("max"))),
        },
        "nchar" => match length(UNICODE_MAX)? {
            Length::Limit(n) => Ok(SqlType::NChar(n)),
            Length::Max => Err(Box::new(SqlError::incorrect_syntax("max"))),
        },
        "binary" => match length(8000)? {
            Length::Limit(n) => Ok(SqlType::Binary(n)),
            Length::Max => Err(Box::new(SqlError::incorrect_syntax("max"))),
        },
        "varchar" => Ok(SqlType::VarChar(length(8000)?)),
        "nvarchar" => Ok(SqlType::NVarChar(length(UNICODE_MAX)?)),
        "varbinary" => Ok(SqlType::VarBinary(length(8000)?)),
        "text" => plain(SqlType::Text),
        "ntext" => plain(SqlType::NText),
        "json" => plain(SqlType::NVarChar(Length::Max)),
        "xml" => plain(SqlType::Xml),
        "image" => plain(SqlType::Image),
        "sysname" => plain(SqlType::NVarChar(Length::Limit(128))),
        "uniqueidentifier" => plain(SqlType::UniqueIdentifier),
        "sql_variant" => plain(SqlType::Variant),
        // Only a column gets its numbers by itself; elsewhere it is the eight bytes of one.
        "rowversion" | "timestamp" => plain(SqlType::Binary(8)),
        _ if let Some(ty) = ClrType::by_name(&name) => plain(SqlType::Clr(ty)),
        _ => Err(Box::new(SqlError::type_unknown(position, shown(written)))),
    }
}

fn length(
    written: &DataType,
    name: &str,
    place: TypePlace<'_>,
    position: usize,
    maximum: u16,
) -> Result<Length, Fault> {
    check_not_zero(written, name)?;
    match written.arguments {
        TypeArguments::None if place == TypePlace::Conversion => Ok(Length::Limit(30)),
        TypeArguments::None => Ok(Length::Limit(1)),
        TypeArguments::Max => Ok(Length::Max),
        TypeArguments::One(n) if n <= u32::from(maximum) => Ok(Length::Limit(u16::try_from(n).unwrap_or(maximum))),
        TypeArguments::One(n) => Err(Box::new(too_long(n, name, place, maximum))),
        _ => Err(misplaced_length(name, place, position)),
    }
}

/// A length that a type cannot have: that of Unicode is told of otherwise.
fn too_long(length: u32, name: &str, place: TypePlace<'_>, maximum: u16) -> SqlError {
    match place {
        TypePlace::Conversion if maximum == UNICODE_MAX => {
            SqlError::size_exceeds_maximum(length, "convert specification", name, maximum)
        }
        TypePlace::Column(own) | TypePlace::Variable(own) if maximum == UNICODE_MAX => {
            SqlError::parameter_size_too_large(length, "parameter", own, maximum)
        }
        TypePlace::Column(own) => SqlError::size_exceeds_maximum(length, "column", own, maximum),
        _ => SqlError::size_exceeds_maximum(length, "type", name, 8000),
    }
}

fn decimal(written: &DataType, place: TypePlace<'_>, position: usize) -> Result<SqlType, Fault> {
    let (precision, scale) = match written.arguments {
        TypeArguments::None => (18, 0),
        TypeArguments::One(precision) => (precision, 0),
        TypeArguments::Two(precision, scale) => (precision, scale),
        _ => return Err(misplaced_length("decimal", place, position)),
    };
    check_not_zero(written, "decimal")?;
    if precision > 38 {
        return Err(Box::new(SqlError::precision_too_large(position, precision, 38)));
    }
    if scale > precision {
        return Err(Box::new(SqlError::scale_too_large(position, scale, precision)));
    }
    // Both are at most 38 here.
    Ok(SqlType::Decimal { precision: precision as u8, scale: scale as u8 })
}

fn fraction(written: &DataType, place: TypePlace<'_>, position: usize) -> Result<u8, Fault> {
    match written.arguments {
        TypeArguments::None => Ok(7),
        TypeArguments::One(scale @ 0..=7) => Ok(scale as u8),
        TypeArguments::One(scale) => {
            let line = written.name.span.line;
            Err(Box::new(SqlError::type_scale_invalid(line, scale).at_line(line)))
        }
        _ => Err(misplaced_length(&written.name.text, place, position)),
    }
}
