//! `sp_datatype_info`: the types that columns can have, as ODBC's SQLGetTypeInfo gives them. A type that can count is there twice.

use super::Arguments;
use super::odbc::small;
use super::odbc_types::Odbc;
use crate::result_set::{NAME, ResultSet, string, text};
use pikepole_query::Output;
use pikepole_types::{Length, SecondName, SqlType, Value};

const SMALL: SqlType = SqlType::SmallInt;

/// A type by one of its names.
struct Named {
    name: &'static str,
    /// As wide as it can be declared.
    ty: SqlType,
    /// Its number among the types of the first servers; 0 for a younger one.
    user_type: i16,
    /// It is that of an identity column.
    counts: bool,
}

const fn named(name: &'static str, ty: SqlType, user_type: i16) -> Named {
    Named { name, ty, user_type, counts: false }
}

const fn counting(name: &'static str, ty: SqlType, user_type: i16) -> Named {
    Named { name, ty, user_type, counts: true }
}

const LONGEST: Length = Length::Limit(8000);
const WIDEST: SqlType = SqlType::Decimal { precision: 38, scale: 38 };

/// All of them. Those with the same numbers in ODBC are in this order.
const TYPES: &[Named] = &[
    named("datetimeoffset", SqlType::DateTimeOffset(7), 0),
    named("time", SqlType::Time(7), 0),
    named("xml", SqlType::Xml, 0),
    named("sql_variant", SqlType::Variant, 0),
    named("uniqueidentifier", SqlType::UniqueIdentifier, 0),
    named("ntext", SqlType::NText, 0),
    named("nvarchar", SqlType::NVarChar(Length::Limit(4000)), 0),
    named("sysname", NAME, 18),
    named("nchar", SqlType::NChar(4000), 0),
    named("bit", SqlType::Bit, 16),
    named("tinyint", SqlType::TinyInt, 5),
    counting("tinyint identity", SqlType::TinyInt, 5),
    named("bigint", SqlType::BigInt, 0),
    counting("bigint identity", SqlType::BigInt, 0),
    named("image", SqlType::Image, 20),
    named("varbinary", SqlType::VarBinary(LONGEST), 4),
    named("binary", SqlType::Binary(8000), 3),
    named("timestamp", SqlType::Binary(8), 80),
    named("text", SqlType::Text, 19),
    named("char", SqlType::Char(8000), 1),
    named("numeric", WIDEST, 10),
    counting("numeric() identity", WIDEST, 10),
    named("decimal", WIDEST, 24),
    counting("decimal() identity", WIDEST, 24),
    named("money", SqlType::Money, 11),
    named("smallmoney", SqlType::SmallMoney, 21),
    named("int", SqlType::Int, 7),
    counting("int identity", SqlType::Int, 7),
    named("smallint", SqlType::SmallInt, 6),
    counting("smallint identity", SqlType::SmallInt, 6),
    named("float", SqlType::Float, 8),
    named("real", SqlType::Real, 23),
    named("varchar", SqlType::VarChar(LONGEST), 2),
    named("date", SqlType::Date, 0),
    named("datetime2", SqlType::DateTime2(7), 0),
    named("datetime", SqlType::DateTime, 12),
    named("smalldatetime", SqlType::SmallDateTime, 22),
];

impl Named {
    /// The name of a type that goes by it, without what it counts.
    fn second(&self) -> Option<&'static SecondName> {
        SecondName::by_name(self.name.split("()").next().unwrap_or_default())
    }

    fn is_money(&self) -> bool {
        matches!(self.ty, SqlType::Money | SqlType::SmallMoney)
    }

    fn is_decimal(&self) -> bool {
        matches!(self.ty, SqlType::Decimal { .. })
    }

    /// A number, and not a truth value.
    fn is_number(&self) -> bool {
        self.ty.is_number() && self.ty != SqlType::Bit
    }

    fn precision(&self, shown: i32) -> i32 {
        match self.ty {
            // In bits, which is how they are declared.
            SqlType::Float => 53,
            SqlType::Real => 24,
            SqlType::Variant => 8000,
            _ => shown,
        }
    }

    /// What stands before and behind a literal.
    fn quotes(&self) -> [Value; 2] {
        let ty = &self.ty;
        if ty.is_binary() {
            return [string("0x"), Value::Null];
        }
        if self.is_money() {
            return [string("$"), Value::Null];
        }
        match ty.is_unicode() || *ty == SqlType::Xml {
            true => [string("N'"), string("'")],
            false if ty.is_string() || ty.is_date_or_time() || *ty == SqlType::UniqueIdentifier => {
                [string("'"), string("'")]
            }
            false => [Value::Null, Value::Null],
        }
    }

    /// What a declaration says behind the name, in a column of twenty characters.
    fn parameters(&self) -> Value {
        let words = match self.ty {
            _ if matches!(self.name, "sysname" | "timestamp") => return Value::Null,
            SqlType::Decimal { .. } if self.counts => "precision",
            SqlType::Decimal { .. } => "precision,scale",
            SqlType::Char(_) | SqlType::NChar(_) | SqlType::Binary(_) => "length",
            SqlType::VarChar(_) | SqlType::NVarChar(_) | SqlType::VarBinary(_) => "max length",
            SqlType::Time(_) | SqlType::DateTime2(_) | SqlType::DateTimeOffset(_) => "scale",
            _ => return Value::Null,
        };
        string(format!("{words:20}"))
    }

    /// How far conditions can be about it.
    fn searchable(&self) -> i16 {
        match self.ty {
            SqlType::Xml | SqlType::Image => 0,
            SqlType::Text | SqlType::NText => 1,
            ref ty if ty.is_string() || ty.is_date_or_time() => 3,
            _ => 2,
        }
    }

    /// Whether it is of identity columns; NULL for what is no number.
    fn auto_increment(&self) -> Option<i16> {
        self.is_number().then_some(self.counts.into())
    }

    fn scales(&self) -> [Value; 2] {
        match self.ty {
            SqlType::Date => [Value::Null, small(0)],
            SqlType::Decimal { precision, .. } if !self.counts => [small(0), small(precision.into())],
            SqlType::Time(scale) | SqlType::DateTime2(scale) | SqlType::DateTimeOffset(scale) => {
                [small(0), small(scale.into())]
            }
            SqlType::Float | SqlType::Real => [Value::Null, Value::Null],
            SqlType::Variant => [small(0), small(0)],
            ref ty if self.is_decimal() || ty.is_number() || ty.is_date_or_time() => {
                let scale = if self.is_decimal() { 0 } else { i16::from(ty.scale()) };
                [small(scale), small(scale)]
            }
            _ => [Value::Null, Value::Null],
        }
    }

    fn radix(&self) -> Value {
        match self.ty {
            SqlType::Float | SqlType::Real => Value::Int(2),
            SqlType::Variant => Value::Int(10),
            _ if self.is_number() => Value::Int(10),
            _ => Value::Null,
        }
    }
}

/// The types, by their numbers in ODBC.
pub(super) fn data_types(arguments: &Arguments<'_>, odbc: Odbc, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("TYPE_NAME", NAME),
        ("DATA_TYPE", SMALL),
        ("PRECISION", SqlType::Int),
        ("LITERAL_PREFIX", text(32)),
        ("LITERAL_SUFFIX", text(32)),
        ("CREATE_PARAMS", text(32)),
        ("NULLABLE", SMALL),
        ("CASE_SENSITIVE", SMALL),
        ("SEARCHABLE", SMALL),
        ("UNSIGNED_ATTRIBUTE", SMALL),
        ("MONEY", SMALL),
        ("AUTO_INCREMENT", SMALL),
        ("LOCAL_TYPE_NAME", NAME),
        ("MINIMUM_SCALE", SMALL),
        ("MAXIMUM_SCALE", SMALL),
        ("SQL_DATA_TYPE", SMALL),
        ("SQL_DATETIME_SUB", SMALL),
        ("NUM_PREC_RADIX", SqlType::Int),
        ("INTERVAL_PRECISION", SMALL),
        ("USERTYPE", SMALL),
    ]);
    let wanted: Option<i16> = arguments.text(0).and_then(|number| number.parse().ok()).filter(|number| *number != 0);
    let mut types: Vec<_> = TYPES.iter().map(|ty| (ty, odbc.shown(&ty.ty, ty.second()))).collect();
    types.retain(|(_, shown)| wanted.is_none_or(|wanted| wanted == shown.data_type));
    types.sort_by_key(|(ty, shown)| (shown.data_type, ty.auto_increment(), ty.is_money(), ty.user_type));
    for (ty, shown) in types {
        let ([prefix, suffix], [scale_min, scale_max]) = (ty.quotes(), ty.scales());
        let nullable = !ty.counts && !matches!(ty.name, "sysname" | "timestamp");
        let unsigned = ty.is_number().then_some(i16::from(ty.ty == SqlType::TinyInt));
        set.push(vec![
            string(ty.name),
            small(shown.data_type),
            Value::Int(ty.precision(shown.precision)),
            prefix,
            suffix,
            ty.parameters(),
            small(nullable.into()),
            small(0),
            small(ty.searchable()),
            unsigned.map_or(Value::Null, small),
            small(ty.is_money().into()),
            ty.auto_increment().map_or(Value::Null, small),
            string(ty.name),
            scale_min,
            scale_max,
            small(shown.sql_data_type),
            shown.sub.map_or(Value::Null, small),
            ty.radix(),
            Value::Null,
            small(ty.user_type),
        ]);
    }
    set.send(output);
}
