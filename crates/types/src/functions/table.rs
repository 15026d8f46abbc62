//! The table of functions, ascending by name.

use super::{
    Function, bits, bucket, checksum, compress, date, format, hash, json, math, message, other, parse, passphrase,
    string, words, zone,
};
use crate::value::Value;

/// A function that is NULL as soon as one of its arguments is.
macro_rules! strict {
    ($name:literal, $min:literal..=$max:literal, $result:expr, $eval:expr) => {
        Function {
            name: $name,
            min_args: $min,
            max_args: $max,
            date_part: false,
            deterministic: true,
            result_type: $result,
            eval: |context, values, types| {
                if values.iter().any(Value::is_null) { Ok(Value::Null) } else { $eval(context, values, types) }
            },
        }
    };
}

/// A strict function whose first argument names a date part.
macro_rules! of_part {
    ($name:literal, $count:literal, $result:expr, $eval:expr) => {
        Function { date_part: true, ..strict!($name, $count..=$count, $result, $eval) }
    };
}

/// A function that looks at NULLs itself.
macro_rules! lenient {
    ($name:literal, $min:literal..=$max:literal, $result:expr, $eval:expr) => {
        Function {
            name: $name,
            min_args: $min,
            max_args: $max,
            date_part: false,
            deterministic: true,
            result_type: $result,
            eval: $eval,
        }
    };
}

/// A function of the context.
macro_rules! changing {
    ($name:literal, $min:literal..=$max:literal, $result:expr, $eval:expr) => {
        Function { deterministic: false, ..lenient!($name, $min..=$max, $result, $eval) }
    };
}

/// `x AT TIME ZONE zone`, whose syntax is its own.
pub static AT_TIME_ZONE: Function = strict!("AT TIME ZONE", 2..=2, zone::at_time_zone_type, zone::at_time_zone);

/// What makes a JSON array of values, and of flags that say how to write them. The binder knows it: its syntax is its own.
pub static JSON_ARRAY: Function = lenient!("JSON_ARRAY", 1..=65_535, json::made_type, json::make_array);

/// What makes a JSON object, likewise.
pub static JSON_OBJECT: Function = lenient!("JSON_OBJECT", 1..=65_535, json::made_type, json::make_object);

/// The method WRITE of a column, with the column's name behind its arguments.
pub static WRITE: Function = lenient!(".WRITE", 5..=5, string::written_type, string::write);

/// PARSE, whose syntax is its own. The session's language is the culture of a text that says none.
pub static PARSE: Function = changing!("PARSE", 3..=3, parse::parse_type, parse::parse);

/// TRY_PARSE.
pub static TRY_PARSE: Function = changing!("TRY_PARSE", 3..=3, parse::try_parse_type, parse::try_parse);

/// Every built-in function, ascending by name.
pub static FUNCTIONS: &[Function] = &[
    strict!("ABS", 1..=1, math::same_number, math::abs),
    strict!("ACOS", 1..=1, math::float_type, math::acos),
    strict!("ASCII", 1..=1, string::int_type, string::ascii),
    strict!("ASIN", 1..=1, math::float_type, math::asin),
    strict!("ATAN", 1..=1, math::float_type, math::atan),
    strict!("ATN2", 2..=2, math::float_type, math::atn2),
    lenient!("BINARY_CHECKSUM", 1..=254, string::int_type, checksum::binary_checksum),
    strict!("BIT_COUNT", 1..=1, bits::bit_count_type, bits::bit_count),
    strict!("CEILING", 1..=1, math::whole_type, math::ceiling),
    strict!("CHAR", 1..=1, string::char_type, string::char_of),
    strict!("CHARINDEX", 2..=3, string::charindex_type, string::charindex),
    lenient!("CHECKSUM", 1..=254, string::int_type, checksum::checksum),
    lenient!("CHOOSE", 2..=254, other::choose_type, other::choose),
    strict!("COMPRESS", 1..=1, compress::compress_type, compress::compress),
    lenient!("CONCAT", 2..=254, string::concat_type, string::concat),
    lenient!("CONCAT_WS", 3..=254, string::concat_ws_type, string::concat_ws),
    strict!("COS", 1..=1, math::float_type, math::cos),
    strict!("COT", 1..=1, math::float_type, math::cot),
    changing!("CRYPT_GEN_RANDOM", 1..=2, hash::random_type, hash::crypt_gen_random),
    changing!("CURRENT_TIMESTAMP", 0..=0, date::datetime_type, date::getdate),
    lenient!("CURRENT_TIMEZONE", 0..=0, zone::name_type, zone::current_timezone),
    lenient!("CURRENT_TIMEZONE_ID", 0..=0, zone::name_type, zone::current_timezone_id),
    strict!("DATALENGTH", 1..=1, string::position_type, string::datalength),
    of_part!("DATEADD", 3, date::dateadd_type, date::dateadd),
    of_part!("DATEDIFF", 3, string::int_type, date::datediff),
    of_part!("DATEDIFF_BIG", 3, date::bigint_type, date::datediff_big),
    strict!("DATEFROMPARTS", 3..=3, date::date_type, date::datefromparts),
    of_part!("DATENAME", 2, date::name_type, date::datename),
    of_part!("DATEPART", 2, string::int_type, date::datepart),
    strict!("DATETIME2FROMPARTS", 8..=8, date::datetime2_type, date::datetime2fromparts),
    strict!("DATETIMEFROMPARTS", 7..=7, date::datetime_type, date::datetimefromparts),
    strict!("DATETIMEOFFSETFROMPARTS", 10..=10, date::datetimeoffset_type, zone::datetimeoffsetfromparts),
    of_part!("DATETRUNC", 2, zone::trunc_type, zone::datetrunc),
    Function { max_args: 4, ..of_part!("DATE_BUCKET", 3, bucket::bucket_type, bucket::date_bucket) },
    strict!("DAY", 1..=1, string::int_type, date::day),
    strict!("DECOMPRESS", 1..=1, compress::decompress_type, compress::decompress),
    lenient!("DECRYPTBYPASSPHRASE", 2..=4, passphrase::decrypt_type, passphrase::decrypt),
    strict!("DEGREES", 1..=1, math::angle_type, math::degrees),
    strict!("DIFFERENCE", 2..=2, string::int_type, words::difference),
    changing!("ENCRYPTBYPASSPHRASE", 2..=4, passphrase::encrypt_type, passphrase::encrypt),
    lenient!("EOMONTH", 1..=2, date::date_type, date::eomonth),
    strict!("EXP", 1..=1, math::float_type, math::exp),
    strict!("FLOOR", 1..=1, math::whole_type, math::floor),
    changing!("FORMAT", 2..=3, format::format_type, format::format),
    lenient!("FORMATMESSAGE", 1..=21, message::formatmessage_type, message::formatmessage),
    changing!("GETDATE", 0..=0, date::datetime_type, date::getdate),
    changing!("GETUTCDATE", 0..=0, date::datetime_type, date::getutcdate),
    strict!("GET_BIT", 2..=2, bits::get_bit_type, bits::get_bit),
    lenient!("GREATEST", 1..=254, other::meeting_type, other::greatest),
    strict!("HASHBYTES", 2..=2, hash::hashbytes_type, hash::hashbytes),
    lenient!("ISDATE", 1..=1, date::isdate_type, date::isdate),
    strict!("ISJSON", 1..=2, json::isjson_type, json::isjson),
    lenient!("ISNULL", 2..=2, other::isnull_type, other::isnull),
    lenient!("ISNUMERIC", 1..=1, string::int_type, other::isnumeric),
    lenient!("JSON_MODIFY", 3..=4, json::modify_type, json::modify),
    strict!("JSON_PATH_EXISTS", 2..=2, json::path_exists_type, json::path_exists),
    strict!("JSON_QUERY", 1..=2, json::query_type, json::query),
    strict!("JSON_VALUE", 2..=2, json::value_type, json::value),
    lenient!("LEAST", 1..=254, other::meeting_type, other::least),
    strict!("LEFT", 2..=2, string::same_text, string::left),
    strict!("LEFT_SHIFT", 2..=2, bits::left_shift_type, bits::left_shift),
    strict!("LEN", 1..=1, string::position_type, string::len),
    strict!("LOG", 1..=2, math::float_type, math::log),
    strict!("LOG10", 1..=1, math::float_type, math::log10),
    strict!("LOWER", 1..=1, string::same_text, string::lower),
    strict!("LTRIM", 1..=2, string::same_text, string::ltrim),
    strict!("MONTH", 1..=1, string::int_type, date::month),
    strict!("NCHAR", 1..=1, string::nchar_type, string::nchar),
    changing!("NEWID", 0..=0, other::guid_type, other::newid),
    lenient!("NULLIF", 2..=2, other::first_type, other::nullif),
    strict!("PATINDEX", 2..=2, string::position_type, string::patindex),
    strict!("PI", 0..=0, math::float_type, math::pi),
    strict!("POWER", 2..=2, math::power_type, math::power),
    strict!("PWDCOMPARE", 2..=3, string::int_type, hash::pwdcompare),
    changing!("PWDENCRYPT", 1..=1, hash::pwdencrypt_type, hash::pwdencrypt),
    strict!("QUOTENAME", 1..=2, string::quotename_type, string::quotename),
    strict!("RADIANS", 1..=1, math::angle_type, math::radians),
    changing!("RAND", 0..=1, math::float_type, math::rand),
    strict!("REPLACE", 3..=3, string::long_text, string::replace),
    strict!("REPLICATE", 2..=2, string::long_text, string::replicate),
    strict!("REVERSE", 1..=1, string::same_text, string::reverse),
    strict!("RIGHT", 2..=2, string::same_text, string::right),
    strict!("RIGHT_SHIFT", 2..=2, bits::right_shift_type, bits::right_shift),
    strict!("ROUND", 2..=3, math::round_type, math::round),
    strict!("RTRIM", 1..=2, string::same_text, string::rtrim),
    strict!("SET_BIT", 2..=3, bits::set_bit_type, bits::set_bit),
    strict!("SIGN", 1..=1, math::same_number, math::sign),
    strict!("SIN", 1..=1, math::float_type, math::sin),
    strict!("SMALLDATETIMEFROMPARTS", 5..=5, zone::smalldatetime_type, zone::smalldatetimefromparts),
    strict!("SOUNDEX", 1..=1, words::soundex_type, words::soundex),
    strict!("SPACE", 1..=1, string::long_text, string::space),
    lenient!("SQL_VARIANT_PROPERTY", 2..=2, other::variant_type, other::variant_property),
    strict!("SQRT", 1..=1, math::float_type, math::sqrt),
    strict!("SQUARE", 1..=1, math::float_type, math::square),
    lenient!("STR", 1..=3, string::long_text, string::str),
    strict!("STRING_ESCAPE", 2..=2, words::escape_type, words::string_escape),
    lenient!("STUFF", 4..=4, string::long_text, string::stuff),
    strict!("SUBSTRING", 3..=3, string::same_string, string::substring),
    strict!("SWITCHOFFSET", 2..=2, zone::offset_type, zone::switchoffset),
    changing!("SYSDATETIME", 0..=0, date::datetime2_type, date::sysdatetime),
    changing!("SYSDATETIMEOFFSET", 0..=0, date::datetimeoffset_type, date::sysdatetimeoffset),
    changing!("SYSUTCDATETIME", 0..=0, date::datetime2_type, date::sysutcdatetime),
    strict!("TAN", 1..=1, math::float_type, math::tan),
    strict!("TIMEFROMPARTS", 5..=5, zone::time_type, zone::timefromparts),
    strict!("TODATETIMEOFFSET", 2..=2, zone::offset_type, zone::todatetimeoffset),
    strict!("TRANSLATE", 3..=3, string::same_text, string::translate),
    strict!("TRIM", 1..=2, string::same_text, string::trim),
    strict!("UNICODE", 1..=1, string::int_type, string::unicode),
    strict!("UPPER", 1..=1, string::same_text, string::upper),
    strict!("YEAR", 1..=1, string::int_type, date::year),
];
