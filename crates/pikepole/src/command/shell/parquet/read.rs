//! Rows of a Parquet file, as VALUES has them.
//!
//! Columns lie one behind the other in a row group, so all of them are open at once: from each some values are read, then the rows that
//! they make are given one by one.

use super::column::{Column, Raw, TEXT_UNITS_MAX};
use super::guard::decoded;
use super::pages::{Budget, Pages};
use super::{footer, worded};
use crate::command::shell::transfer::Source;
use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::Result as ParquetResult;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
use parquet::file::reader::ChunkReader;
use std::sync::Arc;

/// Values of each column that are in memory at a time.
const VALUES_MAX: usize = 1024;

/// Values of a column; None: NULL.
type Values = Vec<Option<Raw>>;

/// The rows of a file.
pub struct ParquetRows<R: ChunkReader> {
    file: Arc<R>,
    metadata: ParquetMetaData,
    columns: Vec<Column>,
    /// Rows of all row groups.
    rows_all: u64,
    /// Rows that were given.
    rows_done: u64,
    /// The row group that is read next.
    group_next: usize,
    readers: Vec<ColumnReader>,
    /// Rows of the open row group that are not in `values`.
    rows_left: u64,
    /// Values of each column, and the place of the next row among them.
    values: Vec<Values>,
    at: usize,
}

impl<R: ChunkReader + 'static> ParquetRows<R> {
    /// Reads the columns of a file; an error says why it has none that a table could have.
    pub fn new(file: R) -> Result<ParquetRows<R>, String> {
        let metadata = footer::read(&file)?;
        let schema = metadata.file_metadata().schema_descr();
        let columns = schema.root_schema().get_fields().iter().map(|field| Column::of(field));
        let columns = columns.collect::<Result<Vec<Column>, String>>()?;
        if columns.is_empty() {
            return Err("it has no columns".to_owned());
        }
        let mut rows_all = 0_u64;
        for group in metadata.row_groups() {
            let rows = u64::try_from(group.num_rows()).ok().and_then(|rows| rows_all.checked_add(rows));
            rows_all = rows.ok_or_else(|| "its metadata is damaged: the number of rows".to_owned())?;
            if group.num_columns() != columns.len() {
                return Err("its metadata is damaged: a row group lacks columns".to_owned());
            }
        }
        Ok(ParquetRows {
            file: Arc::new(file),
            metadata,
            columns,
            rows_all,
            rows_done: 0,
            group_next: 0,
            readers: Vec::new(),
            rows_left: 0,
            values: Vec::new(),
            at: 0,
        })
    }

    /// Opens the next row group; false at the end.
    fn open_group(&mut self) -> Result<bool, String> {
        let Some(group) = self.metadata.row_groups().get(self.group_next) else { return Ok(false) };
        // Before those of the next group are opened, the pages of this one are given back.
        self.readers.clear();
        let budget = Budget::default();
        let readers = (0..self.columns.len()).map(|place| self.reader(group, place, &budget));
        self.readers = readers.collect::<Result<Vec<ColumnReader>, String>>()?;
        self.rows_left = u64::try_from(group.num_rows()).unwrap_or(0);
        self.group_next += 1;
        Ok(true)
    }

    fn reader(&self, group: &RowGroupMetaData, place: usize, budget: &Budget) -> Result<ColumnReader, String> {
        let chunk = group.column(place);
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        let pages = Pages::open(&self.file, chunk, rows, budget.clone());
        let pages = pages.map_err(|error| self.of_column(place, &worded(&error)))?;
        Ok(get_column_reader(chunk.column_descr_ptr(), Box::new(pages)))
    }

    /// Reads the next values of each column.
    fn fill(&mut self) -> Result<(), String> {
        let wanted = VALUES_MAX.min(usize::try_from(self.rows_left).unwrap_or(VALUES_MAX));
        let mut all = Vec::with_capacity(self.columns.len());
        for (place, reader) in self.readers.iter_mut().enumerate() {
            let is_required = self.columns[place].is_required;
            let values = decoded(|| values(reader, wanted, is_required)).and_then(|values| {
                let is_whole = values.len() == wanted;
                is_whole.then_some(values).ok_or_else(|| "it has fewer values than there are rows".to_owned())
            });
            match values {
                Ok(values) => all.push(values),
                Err(why) => return Err(self.of_column(place, &why)),
            }
        }
        self.values = all;
        self.at = 0;
        self.rows_left -= wanted as u64;
        Ok(())
    }

    fn of_column(&self, place: usize, why: &str) -> String {
        format!("column {} cannot be read: {why}", self.columns[place].name)
    }

    /// True if no text of a column is longer than [`TEXT_UNITS_MAX`].
    fn is_short(&self, place: usize) -> Result<bool, String> {
        let is_long = |raw: &Raw| match raw {
            Raw::Bytes(bytes) if bytes.data().len() > TEXT_UNITS_MAX => {
                String::from_utf8_lossy(bytes.data()).encode_utf16().count() > TEXT_UNITS_MAX
            }
            _ => false,
        };
        for group in self.metadata.row_groups() {
            let mut reader = self.reader(group, place, &Budget::default())?;
            let is_required = self.columns[place].is_required;
            loop {
                let values = decoded(|| values(&mut reader, VALUES_MAX, is_required));
                let values = values.map_err(|why| self.of_column(place, &why))?;
                if values.iter().flatten().any(is_long) {
                    return Ok(false);
                }
                if values.len() < VALUES_MAX {
                    break;
                }
            }
        }
        Ok(true)
    }
}

impl<R: ChunkReader + 'static> Source for ParquetRows<R> {
    fn names(&self) -> Vec<String> {
        self.columns.iter().map(|column| column.name.clone()).collect()
    }

    /// Texts are looked through for the longest.
    fn types(&self) -> Result<Vec<String>, String> {
        let types = self.columns.iter().enumerate().map(|(place, column)| {
            let is_short = column.is_text() && self.is_short(place)?;
            let null = if column.is_required { "NOT NULL" } else { "NULL" };
            Ok(format!("{} {null}", column.sql_type(is_short)))
        });
        types.collect()
    }

    fn next(&mut self) -> Result<Option<String>, String> {
        while self.at == self.values.first().map_or(0, Vec::len) {
            if self.rows_left > 0 {
                self.fill()?;
            } else if !self.open_group()? {
                return Ok(None);
            }
        }
        let mut row = String::from("(");
        for (column, values) in self.columns.iter().zip(&self.values) {
            if row.len() > 1 {
                row.push_str(", ");
            }
            match values.get(self.at).and_then(Option::as_ref) {
                Some(raw) => row.push_str(&column.literal(raw)?),
                None => row.push_str("NULL"),
            }
        }
        row.push(')');
        self.at += 1;
        self.rows_done += 1;
        Ok(Some(row))
    }

    fn unit(&self) -> &'static str {
        "row"
    }

    fn place(&self) -> u64 {
        self.rows_done + 1
    }

    fn progress(&self) -> (u64, u64) {
        (self.rows_done, self.rows_all)
    }
}

/// Up to `count` values of a column; fewer at its end.
fn values(reader: &mut ColumnReader, count: usize, is_required: bool) -> ParquetResult<Values> {
    match reader {
        ColumnReader::BoolColumnReader(reader) => typed(reader, count, is_required, Raw::Bool),
        ColumnReader::Int32ColumnReader(reader) => typed(reader, count, is_required, |number| Raw::Int(number.into())),
        ColumnReader::Int64ColumnReader(reader) => typed(reader, count, is_required, Raw::Int),
        ColumnReader::Int96ColumnReader(reader) => typed(reader, count, is_required, |number| {
            let mut words = [0; 3];
            words.iter_mut().zip(number.data()).for_each(|(word, from)| *word = *from);
            Raw::Int96(words)
        }),
        ColumnReader::FloatColumnReader(reader) => {
            typed(reader, count, is_required, |number| Raw::Float(number.into()))
        }
        ColumnReader::DoubleColumnReader(reader) => typed(reader, count, is_required, Raw::Float),
        ColumnReader::ByteArrayColumnReader(reader) => typed(reader, count, is_required, bytes),
        ColumnReader::FixedLenByteArrayColumnReader(reader) => {
            typed(reader, count, is_required, |value| bytes(value.into()))
        }
    }
}

/// A value that a decoder has left out has no bytes, and asking for them is a panic: here it is an error.
fn bytes(value: ByteArray) -> Raw {
    let _ = value.data();
    Raw::Bytes(value)
}

fn typed<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    count: usize,
    is_required: bool,
    raw: impl Fn(T::T) -> Raw,
) -> ParquetResult<Values> {
    let (mut levels, mut values) = (Vec::new(), Vec::new());
    reader.read_records(count, Some(&mut levels), None, &mut values)?;
    let mut values = values.into_iter().map(raw);
    Ok(match is_required {
        true => values.map(Some).collect(),
        false => levels.into_iter().map(|level: i16| if level > 0 { values.next() } else { None }).collect(),
    })
}
