//! Files that go out and come back, and files that no writer ever wrote: no bytes are a panic, or take the memory.

use super::read::ParquetRows;
use super::write::Writer;
use crate::command::shell::transfer::Source;
use bytes::Bytes;
use parquet::basic::{Compression, Encoding};
use parquet::file::properties::{WriterProperties, WriterPropertiesBuilder, WriterVersion};
use pikepole::{Column, Date, DateTime2, DateTimeOffset, Decimal, Row, SqlType, Time, Value};
use pikepole_types::Length;
use std::sync::Arc;

const ROWS: i64 = 40;
/// Rows that are read of a file that says it has many.
const ROWS_READ_MAX: usize = 2_000;

/// A column for each way that values are written.
fn columns() -> Vec<Column> {
    let types = [
        SqlType::Bit,
        SqlType::TinyInt,
        SqlType::Int,
        SqlType::BigInt,
        SqlType::Decimal { precision: 9, scale: 2 },
        SqlType::Decimal { precision: 38, scale: 10 },
        SqlType::Real,
        SqlType::Float,
        SqlType::Date,
        SqlType::Time(7),
        SqlType::DateTime2(7),
        SqlType::DateTimeOffset(3),
        SqlType::NVarChar(Length::Max),
        SqlType::UniqueIdentifier,
        SqlType::VarBinary(Length::Max),
    ];
    let columns = types.into_iter().enumerate().map(|(place, sql_type)| {
        // Those of the end are NOT NULL.
        Column { name: format!("c{place}"), sql_type, nullable: place < 12 }
    });
    columns.collect()
}

fn values(row: i64) -> Option<Vec<Value>> {
    Some(vec![
        Value::Bit(row % 3 == 0),
        Value::TinyInt(row as u8),
        Value::Int(row as i32 * 1000),
        Value::BigInt(i64::MIN + row),
        Value::Decimal(Decimal::new(i128::from(row) * 111, 9, 2)?),
        Value::Decimal(Decimal::new(i128::from(row) * 10_i128.pow(36), 38, 10)?),
        Value::Real(row as f32 / 3.0),
        Value::Float(row as f64 / 7.0),
        Value::Date(Date::from_days(700_000 + row as i32)?),
        Value::Time(Time::from_ticks(row * 10_000_001)?),
        Value::DateTime2(DateTime2::from_ticks(630_000_000_000_000_000 + row)?),
        Value::DateTimeOffset(DateTimeOffset::new(630_000_000_000_000_000 + row * 10_000, 60)?),
        Value::Str(format!("text {}", row % 7)),
        Value::Guid([row as u8; 16]),
        Value::Bin(vec![row as u8; (row % 5) as usize]),
    ])
}

fn file(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let columns = columns();
    let names: Vec<String> = columns.iter().map(|column| column.name.clone()).collect();
    let mut writer = Writer::with(Vec::new(), &columns, &names, properties.build()).expect("a file");
    let of_rows: Arc<[Column]> = columns.into();
    for row in 0..ROWS {
        let mut values = values(row).expect("values of their types");
        for (value, column) in values.iter_mut().zip(&*of_rows) {
            if column.nullable && row % 4 == 1 {
                *value = Value::Null;
            }
        }
        writer.row(&Row::new(Arc::clone(&of_rows), values)).expect("written");
    }
    writer.finish().expect("written").0
}

/// Files of all encodings.
fn files() -> Vec<Vec<u8>> {
    let plain = || WriterProperties::builder().set_dictionary_enabled(false);
    let mut delta = plain().set_writer_version(WriterVersion::PARQUET_2_0).set_compression(Compression::UNCOMPRESSED);
    for (column, encoding) in [
        ("c0", Encoding::RLE),
        ("c2", Encoding::DELTA_BINARY_PACKED),
        ("c3", Encoding::DELTA_BINARY_PACKED),
        ("c6", Encoding::BYTE_STREAM_SPLIT),
        ("c7", Encoding::BYTE_STREAM_SPLIT),
        ("c12", Encoding::DELTA_BYTE_ARRAY),
        ("c13", Encoding::BYTE_STREAM_SPLIT),
        ("c14", Encoding::DELTA_LENGTH_BYTE_ARRAY),
    ] {
        delta = delta.set_column_encoding(column.into(), encoding);
    }
    let two = WriterProperties::builder().set_writer_version(WriterVersion::PARQUET_2_0);
    vec![
        file(WriterProperties::builder().set_compression(Compression::SNAPPY)),
        file(plain().set_compression(Compression::UNCOMPRESSED)),
        file(two.set_compression(Compression::SNAPPY)),
        file(delta),
    ]
}

/// All rows of a file, or why it has none.
fn rows(bytes: Vec<u8>) -> Result<Vec<String>, String> {
    let mut source = ParquetRows::new(Bytes::from(bytes))?;
    source.types()?;
    let mut rows = Vec::new();
    while let Some(row) = source.next()? {
        rows.push(row);
        if rows.len() == ROWS_READ_MAX {
            break;
        }
    }
    Ok(rows)
}

/// Pseudorandom numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }
}

#[test]
fn all_encodings_give_the_same_rows() {
    let mut files = files().into_iter();
    let first = rows(files.next().expect("a file")).expect("rows");
    assert_eq!(first.len(), ROWS as usize);
    assert_eq!(
        first[2],
        "(0, 2, 2000, -9223372036854775806, N'2.22', N'200000000000000000000000000.0000000000', 6.666666865348816E-1, \
         2.857142857142857E-1, CAST(N'1917-07-18' AS date), CAST(N'00:00:02.0000002' AS time(7)), \
         CAST(N'1997-05-23 16:00:00.0000002' AS datetime2(7)), CAST(N'1997-05-23 16:00:00.002000' AS datetime2(6)), \
         N'text 2', N'02020202-0202-0202-0202-020202020202', 0x0202)"
    );
    assert!(first[1].starts_with("(NULL, NULL, "), "{}", first[1]);
    for file in files {
        assert_eq!(rows(file), Ok(first.clone()));
    }
}

#[test]
fn types_are_those_that_were_written() {
    let file = ParquetRows::new(Bytes::from(files().remove(0))).expect("a file");
    let types = file.types().expect("sound");
    let expected = "bit NULL, tinyint NULL, int NULL, bigint NULL, decimal(9,2) NULL, decimal(38,10) NULL, real NULL, float NULL, \
        date NULL, time(7) NULL, datetime2(7) NULL, datetime2(6) NULL, nvarchar(4000) NOT NULL, uniqueidentifier NOT NULL, \
        varbinary(max) NOT NULL";
    assert_eq!(types.join(", "), expected);
}

#[test]
fn a_file_that_ends_early_is_an_error() {
    for file in files() {
        for length in 0..file.len() {
            assert!(rows(file[..length].to_vec()).is_err(), "{length} of {} bytes", file.len());
        }
    }
}

#[test]
fn no_changed_bit_is_a_panic() {
    for (place, file) in files().into_iter().enumerate() {
        for at in (place..file.len()).step_by(5) {
            for bit in 0..8 {
                let mut changed = file.clone();
                changed[at] ^= 1 << bit;
                // It may be an error, or another value.
                let _ = rows(changed);
            }
        }
    }
}

#[test]
fn no_changed_bytes_are_a_panic() {
    for (seed, file) in files().iter().enumerate() {
        let mut random = Random(seed as u64);
        for _ in 0..3_000 {
            let mut changed = file.clone();
            for _ in 0..=random.below(4) {
                let at = random.below(changed.len());
                changed[at] = [0, 1, 0x7f, 0x80, 0xff, random.below(256) as u8][random.below(6)];
            }
            let _ = rows(changed);
        }
    }
}
