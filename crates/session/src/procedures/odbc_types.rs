//! What the catalog procedures say of types, in the numbers of ODBC.
//!
//! They have two dialects. By `@ODBCVer` dates have the numbers of ODBC 2, which is what who asks for nothing gets, or of ODBC 3. The procedures without
//! `_100` in their names are those of clients from before `date`, `time`, `datetime2` and `datetimeoffset`: to them these are texts,
//! which is what such a client is sent them as.

use pikepole_types::{SecondName, SqlType};

const WIDE_TEXT: i16 = -9;

/// A dialect.
#[derive(Debug, Clone, Copy)]
pub(super) struct Odbc {
    is_three: bool,
    knows_times: bool,
}

/// What is said of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) data_type: i16,
    pub(super) sql_data_type: i16,
    /// Its number among dates and times.
    pub(super) sub: Option<i16>,
    /// Digits or characters.
    pub(super) precision: i32,
    /// Bytes of a value as ODBC hands it out.
    pub(super) length: i32,
    pub(super) scale: Option<i16>,
    pub(super) radix: Option<i16>,
}

impl Odbc {
    /// The one that the caller of a procedure asks for. Microsoft's driver says 4 when it speaks ODBC 3.8.
    pub(super) fn asked(procedure: &str, version: Option<&str>) -> Odbc {
        let version = version.and_then(|version| version.trim().parse::<i32>().ok());
        Odbc { is_three: version.is_some_and(|version| version >= 3), knows_times: procedure.ends_with("_100") }
    }

    /// What is said of a type that may be called by its second name.
    pub(super) fn shown(self, ty: &SqlType, second: Option<&SecondName>) -> Shown {
        let characters = match ty {
            SqlType::Date => Some(10),
            SqlType::Time(scale) => Some(8 + fraction(*scale)),
            SqlType::DateTime2(scale) => Some(19 + fraction(*scale)),
            SqlType::DateTimeOffset(scale) => Some(26 + fraction(*scale)),
            _ => None,
        };
        if let Some(characters) = characters.filter(|_| !self.knows_times) {
            let (data_type, precision, length) = (WIDE_TEXT, characters, characters * 2);
            return Shown {
                data_type,
                sql_data_type: data_type,
                sub: None,
                precision,
                length,
                scale: None,
                radix: None,
            };
        }
        let (data_type, sub) = number(ty, second);
        let data_type = match data_type {
            91 | 93 if !self.is_three => data_type - 82,
            other => other,
        };
        let (precision, length) = sizes(ty);
        let scale = match ty {
            SqlType::Real | SqlType::Float | SqlType::Bit => None,
            SqlType::Date => None,
            _ => (ty.is_number() || ty.is_date_or_time()).then(|| ty.scale().into()),
        };
        let radix = (ty.is_number() && *ty != SqlType::Bit).then_some(10);
        let sql_data_type = if sub.is_some_and(|sub| sub > 0) { 9 } else { data_type };
        Shown { data_type, sql_data_type, sub, precision, length, scale, radix }
    }
}

/// Characters of a fraction of a second, with its point.
fn fraction(scale: u8) -> i32 {
    if scale == 0 { 0 } else { i32::from(scale) + 1 }
}

/// The precision and the length of a type.
fn sizes(ty: &SqlType) -> (i32, i32) {
    use pikepole_types::Length::{Limit, Max};
    let bytes = i32::from(ty.max_length());
    match (ty, ty.units_max(), ty.declared_length()) {
        // Two more than digits, for the sign and the point.
        (SqlType::Decimal { precision, .. }, ..) => ((*precision).into(), i32::from(*precision) + 2),
        (SqlType::Money, ..) => (19, 21),
        (SqlType::SmallMoney, ..) => (10, 12),
        (SqlType::Float, ..) => (15, 8),
        (SqlType::Real, ..) => (7, 4),
        (SqlType::UniqueIdentifier, ..) => (36, 16),
        // Those of ODBC's structures, and the characters of their texts.
        (SqlType::DateTime | SqlType::SmallDateTime, ..) => (ty.precision().into(), 16),
        (SqlType::Date, ..) => (10, 6),
        (SqlType::Time(scale), ..) => (8 + fraction(*scale), 12),
        (SqlType::DateTime2(scale), ..) => (19 + fraction(*scale), 16),
        (SqlType::DateTimeOffset(scale), ..) => (26 + fraction(*scale), 20),
        (_, Some(units), _) => (units, units * if ty.is_unicode() { 2 } else { 1 }),
        (_, None, Some(Limit(units))) => (units.into(), bytes),
        // Without a limit, as ODBC's clients know it.
        (SqlType::Xml, ..) | (_, None, Some(Max)) => (0, 0),
        (SqlType::Clr(_), None, None) => (bytes.max(0), bytes.max(0)),
        (_, None, None) => (ty.precision().into(), bytes),
    }
}

/// A type's number in ODBC 3, and its number among dates and times. Of the second names one has a number of its own.
fn number(ty: &SqlType, second: Option<&SecondName>) -> (i16, Option<i16>) {
    match ty {
        SqlType::Decimal { .. } if second.is_some() => (2, None),
        SqlType::Bit => (-7, None),
        SqlType::TinyInt => (-6, None),
        SqlType::SmallInt => (5, None),
        SqlType::Int | SqlType::Null => (4, None),
        SqlType::BigInt => (-5, None),
        SqlType::Decimal { .. } | SqlType::Money | SqlType::SmallMoney => (3, None),
        SqlType::Real => (7, None),
        SqlType::Float => (6, None),
        SqlType::Date => (91, Some(1)),
        SqlType::Time(_) => (-154, Some(0)),
        SqlType::DateTime | SqlType::SmallDateTime | SqlType::DateTime2(_) => (93, Some(3)),
        SqlType::DateTimeOffset(_) => (-155, Some(0)),
        SqlType::Char(_) => (1, None),
        SqlType::Text => (-1, None),
        SqlType::VarChar(_) => (12, None),
        SqlType::NChar(_) => (-8, None),
        SqlType::NText => (-10, None),
        SqlType::NVarChar(_) => (WIDE_TEXT, None),
        SqlType::Binary(_) => (-2, None),
        SqlType::Image => (-4, None),
        SqlType::VarBinary(_) => (-3, None),
        SqlType::UniqueIdentifier => (-11, None),
        SqlType::Variant => (-150, None),
        SqlType::Xml => (-152, None),
        SqlType::Clr(_) => (-151, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_have_the_numbers_that_the_client_knows() {
        let number = |procedure, version, ty| Odbc::asked(procedure, version).shown(&ty, None).data_type;
        for (ty, texts, two, three) in [
            (SqlType::DateTime, 11, 11, 93),
            (SqlType::Date, WIDE_TEXT, 9, 91),
            (SqlType::DateTime2(7), WIDE_TEXT, 11, 93),
            (SqlType::Time(7), WIDE_TEXT, -154, -154),
            (SqlType::DateTimeOffset(7), WIDE_TEXT, -155, -155),
        ] {
            assert_eq!(number("sp_columns", None, ty), texts, "{ty}");
            assert_eq!(number("sp_columns_100", Some("2"), ty), two, "{ty}");
            assert_eq!(number("sp_columns_100", Some("3"), ty), three, "{ty}");
            assert_eq!(number("sp_columns_100", Some("4"), ty), three, "{ty} for ODBC 3.8");
        }
        let shown = Odbc::asked("sp_columns", Some("3")).shown(&SqlType::DateTime2(7), None);
        assert_eq!((shown.precision, shown.length, shown.scale, shown.sub), (27, 54, None, None));
        let shown = Odbc::asked("sp_columns", None).shown(&SqlType::Decimal { precision: 18, scale: 2 }, None);
        assert_eq!((shown.precision, shown.length, shown.scale, shown.radix), (18, 20, Some(2), Some(10)));
    }
}
