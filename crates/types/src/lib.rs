//! T-SQL's types: values, conversions, operators, functions and the row codec.
//!
//! | for | use |
//! |---|---|
//! | a type, a value | [`SqlType`], [`Value`] |
//! | values of Rust's types, and back | `Value::from`, `try_from`, [`ValueMismatch`] |
//! | an error with SQL Server's number and wording | [`SqlError`]'s constructors |
//! | CAST, CONVERT, TRY_CAST | [`convert`], [`convert_into`], [`Context::try_convert`] |
//! | storing into a column or variable | [`assign`] |
//! | `+ - * / % & \| ^`, unary `-` and `~` | [`arithmetic`], [`arithmetic_into`], [`operator_type`], [`negate`], [`bit_not`] |
//! | `= < >`, ORDER BY, GROUP BY | [`compare`], [`order`], [`hash`] |
//! | the type two operands meet at | [`implicit_type`] |
//! | LIKE | [`LikePattern`] |
//! | built-in functions, aggregates | [`lookup`], [`Accumulator`] |
//! | rows on pages and keys in trees | [`RowLayout`] |
//! | result sets as text | [`to_text`] |
//! | bytes of `char` and `varchar` | [`CodePage`] |
//! | masks of columns | [`Mask`] |
//! | memory for large values | [`memory`] |
//! | places in a tree, shapes | [`hierarchy`], [`spatial`] |

mod aggregate;
mod aggregate_more;
mod arithmetic;
mod clr;
mod code_page;
mod collation;
mod compare;
mod convert;
mod datetime;
mod decimal;
mod display;
mod error;
mod functions;
pub mod hierarchy;
pub mod json;
mod like;
mod mask;
pub mod memory;
mod row;
mod rust_types;
mod second_name;
mod sort_prefix;
pub mod spatial;
mod sql_type;
mod time_zone;
mod value;
mod variant;
pub mod xml;

pub use aggregate::{Accumulator, Aggregate, aggregate_type};
pub use aggregate_more::percentile;
pub use arithmetic::{ArithmeticOp, arithmetic, arithmetic_into, bit_not, negate, operator_type};
pub use clr::{CLR_ASSEMBLY, CLR_ASSEMBLY_FULL, ClrType, shown as clr_text};
pub use code_page::CodePage;
pub use collation::{Collated, Collation, Search};
pub use compare::{compare, hash, hash_code, hash_text, order};
pub use convert::{Conversion, Target, assign, assign_in, conversion, convert, convert_in, convert_into};
pub use datetime::{
    Date, DateFormat, DatePart, DateTime, DateTime2, DateTimeOffset, Language, Moment, SmallDateTime, Time,
};
pub use decimal::{Decimal, PRECISION_MAX, add_type, divide_type, multiply_type, remainder_type};
pub use display::{base64, base64_bytes, float_in_document, iso_text, to_text, write_text};
pub use error::{CANCELLED, ERRORS, ErrorTemplate, SqlError};
pub use functions::{
    AT_TIME_ZONE, Context, Eval, FUNCTIONS, Function, JSON_ARRAY, JSON_OBJECT, PARSE, ResultType, TRY_PARSE, WRITE,
    cut_message, format_message, lookup,
};
pub use like::LikePattern;
pub use mask::{Mask, without_row_values, without_values};
pub use row::{
    CODED_DIGITS_MAX, ColumnData, ColumnReader, ColumnType, ColumnValues, KeyColumn, KeyPiece, NumberForm, Projection,
    RestPiece, RestSplice, RestTemplate, RowBytes, RowError, RowLayout, RowPlaces, content_bytes_max, number_of,
};
pub use rust_types::ValueMismatch;
pub use second_name::SecondName;
pub use sort_prefix::PrefixMaker;
pub use sql_type::{Length, SqlType, implicit_type};
pub use time_zone::{TimeZone, ZoneOffset};
pub use value::Value;
pub use variant::Variant;
pub use xml::XmlNode;
