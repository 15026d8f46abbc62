//! INSERT ... SELECT into a heap by workers, page by page.
//!
//! ```text
//!   worker: batch ──► columns of the table ──► row bytes ──► BulkWriter (pages of its own) under a child transaction
//! ```
//! A batch whose values have an error, or lack one that the table requires, is looked through row by row, so that the error is
//! that which rows inserted one after the other would have met first.

use std::sync::Arc;

use arrow_array::Array;

use super::{PacketList, Part, Worker};
use crate::access::Table;
use crate::batch::{Batch, Code, Vector, evaluate};
use crate::errors;
use crate::expression::Fault;
use crate::plan::{ColumnSource, Insert};
use crate::run::{Run, check_required};
use pikepole_engine::{Blocked, BulkWriter, Database, EncodedRows, Transaction};
use pikepole_types::{ColumnValues, RowBytes, SqlType, Value};

/// What is inserted where, shared by the workers.
pub(crate) struct InsertWork {
    database: Arc<Database>,
    table: Arc<Table>,
    /// One source per column.
    sources: Vec<ColumnSource>,
    template: Vec<Value>,
    required: Vec<usize>,
    /// Where inserted rows go under EXCHANGE = PACKETS.
    packets: Option<Arc<PacketList>>,
}

impl InsertWork {
    /// The work of an INSERT that workers can do: of a query's rows, without identity values, of expressions that do not
    /// need the session.
    pub(crate) fn of(insert: &Insert, database: &Arc<Database>) -> Option<InsertWork> {
        let [sources] = insert.rows.as_slice() else {
            return None;
        };
        let portable = |source: &ColumnSource| match source {
            ColumnSource::Template => true,
            ColumnSource::Value(expr) => expr.is_portable(),
            ColumnSource::Identity => false,
        };
        if insert.table.identity.is_some() || !sources.iter().all(portable) {
            return None;
        }
        Some(InsertWork {
            database: Arc::clone(database),
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
            Vector::Coded(..) => {
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

/// What a worker does; leaves its transaction and the number of rows it has inserted.
pub(crate) async fn insert(
    mut worker: Worker,
    (mut child, mut writer): (Transaction, BulkWriter),
    part: Arc<Part<InsertWork>>,
) -> ((Transaction, u64), Result<(), (u64, Fault)>) {
    let mut rows = 0;
    let result = fill(&mut worker, &mut child, &mut writer, &part, &mut rows).await;
    ((child, rows), result.map_err(|fault| worker.failed(fault)))
}

async fn fill(
    worker: &mut Worker,
    child: &mut Transaction,
    writer: &mut BulkWriter,
    part: &Part<InsertWork>,
    rows: &mut u64,
) -> Result<(), Fault> {
    let work = &part.rest;
    let (database, table) = (&work.database, &work.table.engine);
    let mut bytes = RowBytes::default();
    while let Some(batch) = worker.next(part).await? {
        {
            let (mut run, _) = worker.run(part);
            let columns = work.columns(&batch, &mut run)?;
            work.encode(&columns, batch.rows, &mut bytes)?;
        }
        let mut rest = match bytes.row_bytes() {
            Some(row_bytes) => EncodedRows::Fixed { row_bytes, bytes: bytes.bytes() },
            None => EncodedRows::Varying { lengths: bytes.lengths(), bytes: bytes.bytes() },
        };
        while !rest.is_empty() {
            match database.try_bulk_append(child, table, writer, rest) {
                Ok(taken) => rest = rest.skip(taken),
                Err(blocked) => satisfy(database, child, blocked).await?,
            }
        }
        *rows += batch.rows as u64;
        if let Some(packets) = &work.packets {
            packets.give(batch).await;
        }
    }
    while let Err(blocked) = database.try_bulk_finish(child, table, writer) {
        satisfy(database, child, blocked).await?;
    }
    Ok(())
}

async fn satisfy(database: &Database, child: &mut Transaction, blocked: Blocked) -> Result<(), Fault> {
    match blocked {
        Blocked::Need(need) => database.satisfy(child, need).await.map_err(Fault::from),
        Blocked::Error(error) => Err(error),
        Blocked::Stale => Err(errors::definition_changed()),
    }
}
