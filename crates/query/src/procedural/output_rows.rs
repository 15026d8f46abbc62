//! OUTPUT: what a statement tells of the rows it changes.
//!
//! The rows are kept while the statement works and leave the machine when it has committed, or has ended within its
//! transaction; so a statement that begins again has told nothing. Those of INTO are inserted when the last row is changed.

use super::Machine;
use super::modify::identity_value;
use super::statement::StatementState;
use super::statement_rows::quantum_over;
use crate::access::Stop;
use crate::access::check_required;
use crate::expression::Fault;
use crate::output::ColumnInfo;
use crate::plan::{ColumnSource, OutputInto, OutputPlan};
use pikepole_engine::{Placed, RowCount, TableWriter};
use pikepole_types::{Length, SqlError, SqlType, Value};

/// SET TEXTSIZE: cuts a row's values of the types without a limit to so many bytes; a negative size cuts nothing.
#[inline]
pub fn cut_long_values(row: &mut [Value], columns: &[ColumnInfo], bytes: i32) {
    let Ok(bytes) = usize::try_from(bytes) else { return };
    if bytes < i32::MAX as usize {
        row.iter_mut().zip(columns).for_each(|(value, column)| cut(value, &column.ty, bytes));
    }
}

fn cut(value: &mut Value, ty: &SqlType, bytes: usize) {
    match (ty, value) {
        (SqlType::VarBinary(Length::Max) | SqlType::Image, Value::Bin(all)) => all.truncate(bytes),
        // A character is a byte of the code page.
        (SqlType::VarChar(Length::Max) | SqlType::Text, Value::Str(text)) => {
            if let Some((end, _)) = text.char_indices().nth(bytes) {
                text.truncate(end);
            }
        }
        (SqlType::NVarChar(Length::Max) | SqlType::NText, Value::Str(text)) => {
            let mut units = bytes / 2;
            let end = text.char_indices().find(|(_, character)| match units.checked_sub(character.len_utf16()) {
                Some(left) => {
                    units = left;
                    false
                }
                None => true,
            });
            if let Some((end, _)) = end {
                text.truncate(end);
            }
        }
        _ => {}
    }
}

/// The rows a statement's OUTPUT has made.
#[derive(Default)]
pub(crate) struct OutputState {
    /// For the client, and how many have been sent.
    rows: Vec<Vec<Value>>,
    sent: usize,
    announced: bool,
    /// For the table of INTO, and how many have been inserted.
    into: Vec<Vec<Value>>,
    inserted: usize,
    /// True when the row to be inserted has its identity value.
    dealt: bool,
    writer: Option<TableWriter>,
}

impl OutputState {
    /// How many rows have gone into the table of INTO.
    pub(crate) fn inserted(&self) -> u64 {
        self.inserted as u64
    }

    pub(crate) fn reset(&mut self) {
        self.rows.clear();
        self.sent = 0;
        self.announced = false;
        self.into.clear();
        self.inserted = 0;
        self.dealt = false;
    }

    /// Puts the rows in the order of the ranks that `rank` gives their places, before any has been sent: clients of MERGE take the
    /// n-th for that of the n-th row they gave.
    pub(crate) fn sort_by<R: Ord>(&mut self, rank: impl Fn(usize) -> R) {
        for told in [&mut self.rows, &mut self.into] {
            let mut ranked: Vec<_> = told.drain(..).enumerate().map(|(at, row)| (rank(at), row)).collect();
            ranked.sort_by(|(left, _), (right, _)| left.cmp(right));
            told.extend(ranked.into_iter().map(|(_, row)| row));
        }
    }
}

impl Machine<'_> {
    /// Keeps what OUTPUT says of the row that was just changed: `new` is the new row, the old one is in its registers.
    pub(crate) fn keep_output(
        &mut self,
        output: &OutputPlan,
        new: Option<&[Value]>,
        state: &mut StatementState,
    ) -> Result<(), Fault> {
        if let Some(registers) = output.inserted {
            let slots = &mut self.frame.slots[registers.range()];
            match new {
                Some(new) => slots.iter_mut().zip(new).for_each(|(slot, value)| slot.clone_from(value)),
                None => slots.fill(Value::Null),
            }
        }
        if output.sends() {
            let mut row = Vec::with_capacity(output.values.len());
            for value in &output.values {
                row.push(value.eval(&mut self.env())?);
            }
            state.output.rows.push(row);
        }
        if let Some(into) = &output.into
            && self.passes(into)?
        {
            let mut row = into.insert.template.clone();
            for (source, value) in into.insert.rows.iter().flatten().zip(&mut row) {
                if let ColumnSource::Value(expr) = source {
                    expr.eval_into(&mut self.env(), value)?;
                }
            }
            state.output.into.push(row);
        }
        Ok(())
    }

    /// Whether what OUTPUT gives of a row passes the query before the table of INTO, whose slots have it then.
    fn passes(&mut self, into: &OutputInto) -> Result<bool, Fault> {
        let Some(through) = &into.through else { return Ok(true) };
        for (slot, value) in &through.values {
            self.frame.slots[*slot] = value.eval(&mut self.env())?;
        }
        match &through.filter {
            None => Ok(true),
            Some(filter) => Ok(filter.eval(&mut self.env())? == Some(true)),
        }
    }

    /// Inserts the rows of INTO. False: the quantum is over, there are more.
    pub(crate) fn insert_output(&mut self, into: &OutputInto, state: &mut StatementState) -> Result<bool, Stop> {
        let table = &into.insert.table;
        let OutputState { into: rows, inserted, dealt, writer, .. } = &mut state.output;
        let writer = writer.get_or_insert_with(|| table.engine.writer());
        while let Some(row) = rows.get_mut(*inserted) {
            let (database, tx) = self.context.engine();
            if let (Some(column), false) = (table.identity, *dealt) {
                if into.insert.explicit_identity.is_none() {
                    let value = database.try_next_identity(tx, &table.engine)?;
                    row[column] = identity_value(value, &table.columns[column].ty)?;
                } else if let Some(value) = row[column].as_i64() {
                    database.try_pass_identity(tx, &table.engine, value)?;
                }
                *dealt = true;
            }
            check_required(table, into.insert.required.iter().copied(), row, "INSERT")?;
            let placed = database.try_place(tx, &table.engine, writer, row, RowCount::Many)?;
            state.modify.left_out |= placed == Placed::LeftOut;
            *dealt = false;
            *inserted += 1;
            if quantum_over(*inserted as u64) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends the rows kept. False: the client lags behind, there are more.
    pub(crate) fn send_output(&mut self, output: &OutputPlan, state: &mut StatementState) -> Result<bool, Stop> {
        if !state.output.announced {
            state.output.announced = true;
            match self.captures.last_mut() {
                None => self.send_columns(&output.columns)?,
                Some(capture) => {
                    if !capture.begin_result(&output.columns) {
                        return Err(Stop::Error(Box::new(SqlError::values_do_not_match_table())));
                    }
                }
            }
        }
        while let Some(row) = state.output.rows.get_mut(state.output.sent) {
            match self.captures.last_mut() {
                None => self.send_row(row, &output.columns)?,
                Some(capture) => capture.push(std::mem::take(row)),
            }
            state.output.sent += 1;
            if quantum_over(state.output.sent as u64) || self.output.is_full() {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
