//! INSERT ... SELECT by workers, each under a child transaction.
//!
//! ```text
//!   worker: batch ──► columns of the table ──┬──► row bytes ──► BulkWriter: pages of its own     a heap without indexes
//!                                            └──► rows ──► Portion: in the order of each key    any other table
//! ```
//! A batch whose values have an error, or lack one that the table requires, is looked through row by row, so that the error is
//! that which rows inserted one after the other would have met first.

use std::sync::Arc;

use arrow_array::Array;

use super::{PacketList, Part, Worker};
use crate::access::Table;
use crate::access::check_required;
use crate::errors;
use crate::executor::Run;
use crate::executor::batch::{Batch, Code, Vector, evaluate};
use crate::expression::Fault;
use crate::plan::{ColumnSource, Insert};
use pikepole_engine::{BulkWriter, Database, EncodedRows, Portion, Transaction};
use pikepole_scheduler as scheduler;
use pikepole_types::{ColumnValues, RowBytes, SqlType, Value};

/// What is inserted where, shared by the workers.
pub(crate) struct InsertWork {
    table: Arc<Table>,
    /// One source per column.
    sources: Vec<ColumnSource>,
    template: Vec<Value>,
    required: Vec<usize>,
    /// Where inserted rows go under EXCHANGE = PACKETS.
    packets: Option<Arc<PacketList>>,
}

impl InsertWork {
    /// The work of an INSERT that workers can do: of a query's rows, without identity values and OUTPUT, of expressions that do
    /// not need the session.
    pub(crate) fn of(insert: &Insert) -> Option<InsertWork> {
        let [sources] = insert.rows.as_slice() else {
            return None;
        };
        let portable = |source: &ColumnSource| match source {
            ColumnSource::Template => true,
            ColumnSource::Value(expr) => expr.is_portable(),
            ColumnSource::Identity => false,
        };
        // Rows in memory are no pages or runs of keys that workers could lay.
        let is_one_by_one = insert.table.identity.is_some() || insert.table.engine.is_in_memory();
        if is_one_by_one || insert.output.is_some() || !sources.iter().all(portable) {
            return None;
        }
        Some(InsertWork {
            table: Arc::clone(&insert.table),
            sources: sources.clone(),
            template: insert.template.clone(),
            required: insert.required.clone(),
            packets: None,
        })
    }

    /// The same work, with the inserted rows sent to a list.
    pub(crate) fn with_packets(self, packets: Option<Arc<PacketList>>) -> InsertWork {
        InsertWork { packets, ..self }
    }

    /// The columns of the table for a batch of the query's rows.
    fn columns(&self, batch: &Batch, run: &mut Run<'_>) -> Result<Vec<Vector>, Fault> {
        let mut columns = Vec::with_capacity(self.sources.len());
        for (source, constant) in self.sources.iter().zip(&self.template) {
            let column = match source {
                ColumnSource::Value(expr) => evaluate(expr, batch, run),
                ColumnSource::Template | ColumnSource::Identity => Ok(Vector::Same(constant.clone())),
            };
            match column {
                Ok(column) => columns.push(column),
                Err(fault) => return Err(self.first_error(batch, run).err().unwrap_or(fault)),
            }
        }
        if self.required.iter().any(|&column| columns[column].has_null()) {
            self.first_error(batch, run)?;
        }
        Ok(columns)
    }

    /// Evaluates row after row.
    fn first_error(&self, batch: &Batch, run: &mut Run<'_>) -> Result<(), Fault> {
        let mut values = self.template.clone();
        for row in 0..batch.rows {
            batch.read(row, run.slots);
            for (source, value) in self.sources.iter().zip(&mut values) {
                if let ColumnSource::Value(expr) = source {
                    expr.eval_into(&mut run.env(), value)?;
                }
            }
            check_required(&self.table, self.required.iter().copied(), &values, "INSERT")?;
        }
        Ok(())
    }

    /// The row bytes of columns.
    fn encode(&self, columns: &[Vector], rows: usize, out: &mut RowBytes) -> Result<(), Fault> {
        let types = self.table.columns.iter().map(|column| &column.ty);
        let forms: Vec<Form<'_>> = columns.iter().zip(types).map(|(column, ty)| Form::of(column, ty, rows)).collect();
        let given: Vec<ColumnValues<'_>> = forms.iter().map(Form::values).collect();
        let layout = self.table.engine.row_layout();
        layout.encode_rows(&given, rows, out).map_err(|_| errors::unexpected())
    }
}

/// A column as the row codec takes it.
enum Form<'a> {
    Same(&'a Value),
    Codes(&'a [i64], Option<Vec<bool>>),
    Values(std::borrow::Cow<'a, [Value]>),
}

impl<'a> Form<'a> {
    fn of(column: &'a Vector, ty: &SqlType, rows: usize) -> Form<'a> {
        match column {
            Vector::Same(value) => Form::Same(value),
            Vector::Coded(code, codes) if code.is_of(ty) => {
                let nulls = codes.nulls().filter(|nulls| nulls.null_count() > 0);
                Form::Codes(codes.values(), nulls.map(|nulls| nulls.iter().collect()))
            }
            Vector::Coded(..) | Vector::Texts(_) => {
                let mut values = vec![Value::Null; rows];
                values.iter_mut().enumerate().for_each(|(row, value)| column.read(row, value));
                Form::Values(values.into())
            }
            Vector::Any(values) => Form::Values((&**values).into()),
        }
    }

    fn values(&self) -> ColumnValues<'_> {
        match self {
            Form::Same(value) => ColumnValues::Same(value),
            Form::Codes(codes, valid) => ColumnValues::Codes { codes, valid: valid.as_deref() },
            Form::Values(values) => ColumnValues::Values(values),
        }
    }
}

impl Code {
    /// Whether it is the code of a type's values.
    fn is_of(self, ty: &SqlType) -> bool {
        match (self, ty) {
            (Code::Integer(width), _) => width.sql_type() == *ty,
            (Code::Money, SqlType::Money)
            | (Code::SmallMoney, SqlType::SmallMoney)
            | (Code::Date, SqlType::Date)
            | (Code::Time, SqlType::Time(_))
            | (Code::DateTime, SqlType::DateTime)
            | (Code::SmallDateTime, SqlType::SmallDateTime)
            | (Code::DateTime2, SqlType::DateTime2(_)) => true,
            _ => false,
        }
    }
}

/// Where a worker's rows go.
pub(crate) enum Target {
    /// Into pages of its own.
    Pages { writer: BulkWriter, bytes: RowBytes },
    /// Into trees, or beside the rows of others.
    Rows(Portion),
}

impl Target {
    /// The way into this table, which the transaction has locked.
    pub(crate) fn of(database: &Database, tx: &Transaction, table: &Table) -> Target {
        match database.bulk_writer(tx, &table.engine) {
            Some(writer) => Target::Pages { writer, bytes: RowBytes::default() },
            None => Target::Rows(table.engine.portion()),
        }
    }
}

/// What a worker does; leaves its transaction and the number of rows it has inserted.
pub(crate) async fn insert(
    mut worker: Worker,
    mut target: Target,
    part: Arc<Part<InsertWork>>,
) -> ((Option<Transaction>, u64), Result<(), (u64, Fault)>) {
    let mut rows = 0;
    let result = fill(&mut worker, &mut target, &part, &mut rows).await;
    let result = result.map_err(|fault| worker.failed(fault));
    ((worker.child, rows), result)
}

async fn fill(worker: &mut Worker, target: &mut Target, part: &Part<InsertWork>, rows: &mut u64) -> Result<(), Fault> {
    let work = &part.rest;
    let table = &work.table.engine;
    // What is in the portion at hand.
    let mut waiting = Vec::new();
    while let Some(batch) = worker.next(part).await? {
        let columns = work.columns(&batch, &mut worker.run(part).0)?;
        *rows += batch.rows as u64;
        let inserted = match target {
            Target::Pages { writer, bytes } => {
                work.encode(&columns, batch.rows, bytes)?;
                append(worker, table, writer, bytes).await?;
                true
            }
            Target::Rows(portion) => {
                for row in 0..batch.rows {
                    let values = portion.add_row().iter_mut();
                    columns.iter().zip(values).for_each(|(column, value)| column.read(row, value));
                }
                let due = portion.is_due(table);
                if due {
                    insert_portion(worker, table, portion).await?;
                }
                due
            }
        };
        if let Some(packets) = &work.packets {
            waiting.push(batch);
            if inserted {
                give(packets, &mut waiting).await;
            }
        }
    }
    match target {
        Target::Pages { writer, .. } => {
            worker.drive(|database, child| database.try_bulk_finish(child, table, writer)).await?;
        }
        Target::Rows(portion) => insert_portion(worker, table, portion).await?,
    }
    if let Some(packets) = &work.packets {
        give(packets, &mut waiting).await;
    }
    Ok(())
}

async fn give(packets: &PacketList, waiting: &mut Vec<Batch>) {
    for batch in waiting.drain(..) {
        packets.give(batch).await;
    }
}

/// Appends row bytes to a worker's pages.
async fn append(
    worker: &mut Worker,
    table: &pikepole_engine::Table,
    writer: &mut BulkWriter,
    bytes: &RowBytes,
) -> Result<(), Fault> {
    let mut rest = match bytes.row_bytes() {
        Some(row_bytes) => EncodedRows::Fixed { row_bytes, bytes: bytes.bytes() },
        None => EncodedRows::Varying { lengths: bytes.lengths(), bytes: bytes.bytes() },
    };
    while !rest.is_empty() {
        let taken = worker.drive(|database, child| database.try_bulk_append(child, table, writer, rest)).await?;
        rest = rest.skip(taken);
    }
    Ok(())
}

/// Inserts the rows of a portion.
async fn insert_portion(
    worker: &mut Worker,
    table: &pikepole_engine::Table,
    portion: &mut Portion,
) -> Result<(), Fault> {
    while !worker.drive(|database, child| database.try_insert_portion(child, table, portion)).await? {
        worker.look()?;
        scheduler::yield_now().await;
    }
    Ok(())
}
