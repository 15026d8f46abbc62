//! Results as Parquet: the types of their columns, and row groups of bounded size.

use super::{DAY, DAYS_TO_1970, swapped, worded};
use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type};
use parquet::column::writer::{ColumnWriter, ColumnWriterImpl};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::types::Type as Field;
use pikepole::{Column, DateTime, Row, SqlType, Value};
use std::io::Write;
use std::sync::Arc;

/// Rows and bytes of a row group.
const ROWS_MAX: usize = 64 << 10;
const BYTES_MAX: usize = 16 << 20;
/// Bytes that a value has in memory beside its own.
const VALUE_BYTES: usize = 40;

/// The type of a column in Parquet.
struct ParquetType {
    physical: Type,
    logical: Option<LogicalType>,
    /// Bytes of each value of FIXED_LEN_BYTE_ARRAY.
    length: usize,
    /// Digits, and those behind the point, of decimals.
    digits: Option<(u8, u8)>,
}

impl ParquetType {
    fn of(ty: &SqlType) -> ParquetType {
        match ty {
            SqlType::Bit => ParquetType::plain(Type::BOOLEAN),
            SqlType::TinyInt => ParquetType::new(Type::INT32, LogicalType::integer(8, false)),
            SqlType::SmallInt => ParquetType::new(Type::INT32, LogicalType::integer(16, true)),
            SqlType::Int | SqlType::Null => ParquetType::plain(Type::INT32),
            SqlType::BigInt => ParquetType::plain(Type::INT64),
            SqlType::Decimal { precision, scale } => ParquetType::decimal(*precision, *scale),
            SqlType::Money => ParquetType::decimal(19, 4),
            SqlType::SmallMoney => ParquetType::decimal(10, 4),
            SqlType::Real => ParquetType::plain(Type::FLOAT),
            SqlType::Float => ParquetType::plain(Type::DOUBLE),
            SqlType::Date => ParquetType::new(Type::INT32, LogicalType::Date),
            SqlType::Time(digits) => {
                let unit = unit(*digits);
                let physical = if unit == TimeUnit::MILLIS { Type::INT32 } else { Type::INT64 };
                ParquetType::new(physical, LogicalType::time(false, unit))
            }
            SqlType::DateTime | SqlType::SmallDateTime => {
                ParquetType::new(Type::INT64, LogicalType::timestamp(false, TimeUnit::MICROS))
            }
            SqlType::DateTime2(digits) => {
                ParquetType::new(Type::INT64, LogicalType::timestamp(false, timestamp_unit(*digits)))
            }
            SqlType::DateTimeOffset(digits) => {
                ParquetType::new(Type::INT64, LogicalType::timestamp(true, timestamp_unit(*digits)))
            }
            SqlType::UniqueIdentifier => {
                ParquetType { length: 16, ..ParquetType::new(Type::FIXED_LEN_BYTE_ARRAY, LogicalType::Uuid) }
            }
            SqlType::Binary(_) | SqlType::VarBinary(_) | SqlType::Image | SqlType::Clr(_) => {
                ParquetType::plain(Type::BYTE_ARRAY)
            }
            SqlType::Char(_)
            | SqlType::VarChar(_)
            | SqlType::NChar(_)
            | SqlType::NVarChar(_)
            | SqlType::Text
            | SqlType::NText
            | SqlType::Xml
            | SqlType::Variant => ParquetType::new(Type::BYTE_ARRAY, LogicalType::String),
        }
    }

    fn plain(physical: Type) -> ParquetType {
        ParquetType { physical, logical: None, length: 0, digits: None }
    }

    fn new(physical: Type, logical: LogicalType) -> ParquetType {
        ParquetType { logical: Some(logical), ..ParquetType::plain(physical) }
    }

    fn decimal(precision: u8, scale: u8) -> ParquetType {
        let (physical, length) = match precision {
            0..=9 => (Type::INT32, 0),
            10..=18 => (Type::INT64, 0),
            _ => (Type::FIXED_LEN_BYTE_ARRAY, decimal_bytes(precision)),
        };
        let logical = LogicalType::decimal(scale.into(), precision.into());
        ParquetType { length, digits: Some((precision, scale)), ..ParquetType::new(physical, logical) }
    }

    fn field(&self, name: &str, is_required: bool) -> Result<Field, String> {
        let repetition = if is_required { Repetition::REQUIRED } else { Repetition::OPTIONAL };
        let (precision, scale) = self.digits.map_or((-1, -1), |(precision, scale)| (precision.into(), scale.into()));
        Field::primitive_type_builder(name, self.physical)
            .with_repetition(repetition)
            .with_logical_type(self.logical.clone())
            .with_length(if self.length > 0 { self.length as i32 } else { -1 })
            .with_precision(precision)
            .with_scale(scale)
            .build()
            .map_err(|error| format!("column {name}: {}", worded(&error)))
    }
}

/// Bytes that hold all decimals of so many digits, with their sign.
fn decimal_bytes(precision: u8) -> usize {
    let most = 10_u128.pow(precision.into()) - 1;
    (129 - most.leading_zeros() as usize).div_ceil(8)
}

/// The unit that holds so many digits of a second's fraction.
fn unit(digits: u8) -> TimeUnit {
    match digits {
        0..=3 => TimeUnit::MILLIS,
        4..=6 => TimeUnit::MICROS,
        _ => TimeUnit::NANOS,
    }
}

/// The same for timestamps, which are never in milliseconds.
fn timestamp_unit(digits: u8) -> TimeUnit {
    if digits > 6 { TimeUnit::NANOS } else { TimeUnit::MICROS }
}

/// Values of a column, without its NULLs.
enum Values {
    Bool(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>, usize),
}

/// The values of a column that are not written yet.
struct ColumnBuffer {
    name: String,
    ty: SqlType,
    is_required: bool,
    /// For each row 0 for NULL, 1 for a value.
    levels: Vec<i16>,
    values: Values,
}

impl ColumnBuffer {
    fn new(name: &str, column: &Column, parquet_type: &ParquetType) -> ColumnBuffer {
        let values = match parquet_type.physical {
            Type::BOOLEAN => Values::Bool(Vec::new()),
            Type::INT32 => Values::Int32(Vec::new()),
            Type::INT64 | Type::INT96 => Values::Int64(Vec::new()),
            Type::FLOAT => Values::Float(Vec::new()),
            Type::DOUBLE => Values::Double(Vec::new()),
            Type::BYTE_ARRAY => Values::Bytes(Vec::new()),
            Type::FIXED_LEN_BYTE_ARRAY => Values::Fixed(Vec::new(), parquet_type.length),
        };
        let (name, ty) = (name.to_owned(), column.sql_type);
        ColumnBuffer { name, ty, is_required: !column.nullable, levels: Vec::new(), values }
    }

    /// Takes the value of a row.
    fn add(&mut self, row: &Row, place: usize) -> Result<(), String> {
        let value = row.values().get(place).unwrap_or(&Value::Null);
        if value.is_null() {
            if self.is_required {
                return Err("NULL in a column that has none".to_owned());
            }
            self.levels.push(0);
            return Ok(());
        }
        match (&mut self.values, value) {
            (Values::Bool(values), Value::Bit(bit)) => values.push(*bit),
            (Values::Float(values), Value::Real(number)) => values.push(*number),
            (Values::Double(values), Value::Float(number)) => values.push(*number),
            (Values::Bytes(values), Value::Str(text)) => values.push(text.as_str().into()),
            (Values::Bytes(values), Value::Bin(bytes)) => values.push(bytes.as_slice().into()),
            (Values::Bytes(values), _) => values.push(row.text(place).as_str().into()),
            (Values::Fixed(values, _), Value::Guid(guid)) => values.push(swapped(*guid).to_vec().into()),
            (Values::Int32(values), value) => {
                let number = number(value, &self.ty)?;
                values.push(i32::try_from(number).map_err(|_| too_large(value))?);
            }
            (Values::Int64(values), value) => {
                let number = number(value, &self.ty)?;
                values.push(i64::try_from(number).map_err(|_| too_large(value))?);
            }
            (Values::Fixed(values, length), value) => {
                let bytes = number(value, &self.ty)?.to_be_bytes();
                values.push(bytes[bytes.len() - (*length).min(bytes.len())..].to_vec().into());
            }
            _ => return Err(another_type()),
        }
        self.levels.push(1);
        Ok(())
    }

    fn write(&mut self, writer: &mut ColumnWriter<'_>) -> parquet::errors::Result<()> {
        let levels = std::mem::take(&mut self.levels);
        let levels = (!self.is_required).then_some(levels.as_slice());
        match (writer, &mut self.values) {
            (ColumnWriter::BoolColumnWriter(writer), Values::Bool(values)) => write_all(writer, values, levels),
            (ColumnWriter::Int32ColumnWriter(writer), Values::Int32(values)) => write_all(writer, values, levels),
            (ColumnWriter::Int64ColumnWriter(writer), Values::Int64(values)) => write_all(writer, values, levels),
            (ColumnWriter::FloatColumnWriter(writer), Values::Float(values)) => write_all(writer, values, levels),
            (ColumnWriter::DoubleColumnWriter(writer), Values::Double(values)) => write_all(writer, values, levels),
            (ColumnWriter::ByteArrayColumnWriter(writer), Values::Bytes(values)) => write_all(writer, values, levels),
            (ColumnWriter::FixedLenByteArrayColumnWriter(writer), Values::Fixed(values, _)) => {
                write_all(writer, values, levels)
            }
            _ => Err(parquet::errors::ParquetError::General(another_type())),
        }
    }
}

/// Writes values and forgets them.
fn write_all<T: DataType>(
    writer: &mut ColumnWriterImpl<'_, T>,
    values: &mut Vec<T::T>,
    levels: Option<&[i16]>,
) -> parquet::errors::Result<()> {
    writer.write_batch(&std::mem::take(values), levels, None).map(drop)
}

fn another_type() -> String {
    "a value is of another type than its column".to_owned()
}

fn too_large(value: &Value) -> String {
    match value {
        Value::DateTime2(_) | Value::DateTimeOffset(_) => {
            "a TIMESTAMP of nanoseconds, as 7 digits need it, holds 1677-09-21 to 2262-04-11; CAST it to 6 digits"
                .to_owned()
        }
        _ => another_type(),
    }
}

/// A value as the integer that Parquet has for it.
fn number(value: &Value, ty: &SqlType) -> Result<i128, String> {
    let since_1970 = |ticks: i64| ticks - DAYS_TO_1970 * DAY;
    let number = match (value, ty) {
        (Value::Decimal(decimal), SqlType::Decimal { precision, scale }) => {
            return decimal.rescale(*precision, *scale).map(|decimal| decimal.mantissa()).ok_or_else(another_type);
        }
        (Value::Money(number), _) => *number,
        (Value::SmallMoney(number), _) => (*number).into(),
        (Value::Date(date), _) => i64::from(date.days()) - DAYS_TO_1970,
        (Value::Time(time), SqlType::Time(digits)) => return Ok(in_unit(time.ticks(), unit(*digits))),
        (Value::DateTime(moment), _) => return Ok(milliseconds(*moment) * 1000),
        (Value::SmallDateTime(moment), _) => {
            return Ok(in_unit(since_1970(moment.moment().ticks), TimeUnit::MICROS));
        }
        (Value::DateTime2(moment), SqlType::DateTime2(digits)) => {
            return Ok(in_unit(since_1970(moment.ticks()), timestamp_unit(*digits)));
        }
        (Value::DateTimeOffset(moment), SqlType::DateTimeOffset(digits)) => {
            return Ok(in_unit(since_1970(moment.utc_ticks()), timestamp_unit(*digits)));
        }
        (value, _) => value.as_i64().ok_or_else(another_type)?,
    };
    Ok(number.into())
}

fn in_unit(ticks: i64, unit: TimeUnit) -> i128 {
    match unit {
        TimeUnit::MILLIS => ticks.div_euclid(10_000).into(),
        TimeUnit::MICROS => ticks.div_euclid(10).into(),
        TimeUnit::NANOS => i128::from(ticks) * 100,
    }
}

/// Milliseconds of a `datetime` since 1970, which are what it shows: .000, .003 and .007.
fn milliseconds(moment: DateTime) -> i128 {
    i128::from((moment.moment().ticks - DAYS_TO_1970 * DAY + 5_000).div_euclid(10_000))
}

/// Writes rows of a result to a Parquet file.
pub struct Writer<W: Write + Send> {
    file: SerializedFileWriter<W>,
    columns: Vec<ColumnBuffer>,
    /// Rows and bytes that are buffered.
    rows: usize,
    bytes: usize,
    rows_all: u64,
}

impl<W: Write + Send> Writer<W> {
    /// Begins a file with these columns; `names` are theirs, each once.
    pub fn new(out: W, columns: &[Column], names: &[String]) -> Result<Writer<W>, String> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_created_by(concat!("pikepole version ", env!("CARGO_PKG_VERSION")).to_owned());
        Writer::with(out, columns, names, properties.build())
    }

    /// The same with other encodings.
    pub(super) fn with(
        out: W,
        columns: &[Column],
        names: &[String],
        properties: WriterProperties,
    ) -> Result<Writer<W>, String> {
        let (mut fields, mut buffered) = (Vec::new(), Vec::new());
        for (column, name) in columns.iter().zip(names) {
            let parquet_type = ParquetType::of(&column.sql_type);
            fields.push(Arc::new(parquet_type.field(name, !column.nullable)?));
            buffered.push(ColumnBuffer::new(name, column, &parquet_type));
        }
        let schema = Field::group_type_builder("schema").with_fields(fields).build();
        let schema = schema.map_err(|error| worded(&error))?;
        let file = SerializedFileWriter::new(out, Arc::new(schema), Arc::new(properties));
        let file = file.map_err(|error| worded(&error))?;
        Ok(Writer { file, columns: buffered, rows: 0, bytes: 0, rows_all: 0 })
    }

    /// Takes a row; an error says which one cannot be written, and why.
    pub fn row(&mut self, row: &Row) -> Result<(), String> {
        for (place, column) in self.columns.iter_mut().enumerate() {
            let added = column.add(row, place);
            added.map_err(|why| format!("row {}, column {}: {why}", self.rows_all + 1, column.name))?;
            self.bytes += VALUE_BYTES + row.values().get(place).map_or(0, Value::text_bytes);
        }
        self.rows += 1;
        self.rows_all += 1;
        if self.rows == ROWS_MAX || self.bytes > BYTES_MAX { self.flush() } else { Ok(()) }
    }

    /// Writes what is buffered as a row group.
    fn flush(&mut self) -> Result<(), String> {
        if self.rows == 0 {
            return Ok(());
        }
        self.write_group().map_err(|error| worded(&error))?;
        self.rows = 0;
        self.bytes = 0;
        Ok(())
    }

    fn write_group(&mut self) -> parquet::errors::Result<()> {
        let mut group = self.file.next_row_group()?;
        for column in &mut self.columns {
            let Some(mut writer) = group.next_column()? else { break };
            column.write(writer.untyped())?;
            writer.close()?;
        }
        group.close().map(drop)
    }

    /// Ends the file; gives what it was written to, and the number of its rows.
    pub fn finish(mut self) -> Result<(W, u64), String> {
        self.flush()?;
        let out = self.file.into_inner().map_err(|error| worded(&error))?;
        Ok((out, self.rows_all))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole::{Date, DateTime2, DateTimeOffset, Decimal, Time};

    fn number_of(value: Value, ty: SqlType) -> i128 {
        number(&value, &ty).expect("a number")
    }

    #[test]
    fn decimals_have_bytes_for_all_their_digits() {
        assert_eq!([1, 2, 18, 19, 28, 38].map(decimal_bytes), [1, 1, 8, 9, 12, 16]);
        let decimal = Decimal::new(-1234, 4, 1).expect("a decimal");
        assert_eq!(number_of(Value::Decimal(decimal), SqlType::Decimal { precision: 9, scale: 3 }), -123_400);
        assert_eq!(number_of(Value::Money(-1), SqlType::Money), -1);
    }

    #[test]
    fn dates_and_times_count_from_1970() {
        let date = Date::from_ymd(1969, 12, 31).expect("a date");
        assert_eq!(number_of(Value::Date(date), SqlType::Date), -1);
        let time = Time::from_ticks(12_345_678).expect("a time");
        assert_eq!(number_of(Value::Time(time), SqlType::Time(7)), 1_234_567_800);
        assert_eq!(number_of(Value::Time(time), SqlType::Time(5)), 1_234_567);
        assert_eq!(number_of(Value::Time(time), SqlType::Time(0)), 1_234);
        let moment = DateTime2::from_ticks(DAYS_TO_1970 * DAY + 15).expect("a moment");
        assert_eq!(number_of(Value::DateTime2(moment), SqlType::DateTime2(7)), 1_500);
        assert_eq!(number_of(Value::DateTime2(moment), SqlType::DateTime2(3)), 1);
        let offset = DateTimeOffset::new(DAYS_TO_1970 * DAY, 120).expect("a moment");
        assert_eq!(number_of(Value::DateTimeOffset(offset), SqlType::DateTimeOffset(0)), 0);
        // 1/300 s is shown as .003.
        let moment = DateTime::from_ticks(25_567 * 86_400 * 300 + 1).expect("a moment");
        assert_eq!(number_of(Value::DateTime(moment), SqlType::DateTime), 3_000);
    }

    #[test]
    fn what_does_not_fit_nanoseconds_is_named() {
        let columns = [Column { name: "a".to_owned(), sql_type: SqlType::DateTime2(7), nullable: true }];
        let mut writer = Writer::new(Vec::new(), &columns, &["a".to_owned()]).expect("a file");
        let moment = DateTime2::from_ticks(0).expect("a moment");
        let row = Row::new(columns.into(), vec![Value::DateTime2(moment)]);
        let error = writer.row(&row).expect_err("too early");
        assert!(error.starts_with("row 1, column a: a TIMESTAMP of nanoseconds"), "{error}");
    }

    #[test]
    fn null_is_not_where_there_is_none() {
        let columns = [Column { name: "a".to_owned(), sql_type: SqlType::Int, nullable: false }];
        let mut writer = Writer::new(Vec::new(), &columns, &["a".to_owned()]).expect("a file");
        let row = Row::new(columns.into(), vec![Value::Null]);
        assert_eq!(writer.row(&row), Err("row 1, column a: NULL in a column that has none".to_owned()));
    }
}
