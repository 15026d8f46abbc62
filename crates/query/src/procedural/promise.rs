//! EXEC ... WITH RESULT SETS: what a call sends goes to the client under the names and as the types that the caller has written.

use super::Machine;
use super::call::convert_argument;
use super::output_rows::cut_long_values;
use crate::expression::{Fault, ask_for};
use crate::output::{ColumnInfo, Done, Output};
use pikepole_types::{CodePage, Context, SqlError, SqlType, Value};
use std::sync::Arc;

/// Copies of a row's values that are made to send it: in UTF-16, where a text can be twice as long, and once more in packets.
const COPIES_TO_SEND: usize = 4;

/// The result sets that a call is to send.
pub(crate) struct Promise {
    sets: Arc<[Vec<ColumnInfo>]>,
    /// How many have begun.
    begun: usize,
    /// The types of the one that has begun last, as it is sent.
    types: Vec<SqlType>,
    /// The number of frames below the call.
    pub(super) depth: usize,
}

impl Promise {
    /// The columns that the client sees for these.
    ///
    /// # Errors
    /// 11535 for one set too many, 11537 for another number of columns.
    fn columns(&mut self, columns: &[ColumnInfo]) -> Result<Vec<ColumnInfo>, Fault> {
        let Some(set) = self.sets.get(self.begun) else {
            return Err(Box::new(SqlError::more_result_sets(self.sets.len())));
        };
        self.begun += 1;
        if set.len() != columns.len() {
            return Err(Box::new(SqlError::other_result_columns(set.len(), self.begun, columns.len())));
        }
        self.types = columns.iter().map(|column| column.ty).collect();
        Ok(set.clone())
    }

    /// A row as the client sees it.
    ///
    /// # Errors
    /// 11553 for a NULL that was not to come; what converting says.
    fn row(&self, row: &[Value], functions: &mut Context, page: CodePage) -> Result<Vec<Value>, Fault> {
        let set = self.begun.checked_sub(1).and_then(|at| self.sets.get(at)).map_or(&[][..], Vec::as_slice);
        let mut converted = vec![Value::Null; set.len()];
        for (at, (column, place)) in set.iter().zip(&mut converted).enumerate() {
            let (value, from) = (&row[at], &self.types[at]);
            if value.is_null() && !column.nullable {
                return Err(Box::new(SqlError::null_result_value(at + 1, self.begun)));
            }
            convert_argument(functions, page, value, from, &column.ty, place)?;
        }
        Ok(converted)
    }
}

impl Machine<'_> {
    /// From here on these sets are to come.
    pub(super) fn promise(&mut self, sets: &Arc<[Vec<ColumnInfo>]>) {
        let (sets, depth) = (Arc::clone(sets), self.callers.len());
        self.promises.push(Promise { sets, begun: 0, types: Vec::new(), depth });
    }

    /// The call has ended.
    ///
    /// # Errors
    /// 11536 when sets are missing.
    pub(super) fn fulfil(&mut self) -> Result<(), Fault> {
        let Some(promise) = self.promises.pop() else { return Ok(()) };
        let (promised, sent) = (promise.sets.len(), promise.begun);
        if sent == promised { Ok(()) } else { Err(Box::new(SqlError::fewer_result_sets(promised, sent))) }
    }

    /// The output as what was promised shapes it.
    fn promised(&mut self) -> Promised<'_> {
        let page = self.context.database().code_page();
        Promised::new(&mut self.promises, &mut self.functions, page, self.output)
    }

    /// A result set begins.
    ///
    /// # Errors
    /// 11535 and 11537 where other sets were promised.
    pub(crate) fn send_columns(&mut self, columns: &[ColumnInfo]) -> Result<(), Fault> {
        self.output.text_size(self.context.settings.text_size);
        if self.promises.is_empty() {
            self.output.columns(columns);
            return Ok(());
        }
        let mut output = self.promised();
        output.columns(columns);
        output.end()
    }

    /// One row of it, whose long values are cut as TEXTSIZE says.
    ///
    /// # Errors
    /// 11553 and what converting says where other types were promised.
    pub(crate) fn send_row(&mut self, row: &mut [Value], columns: &[ColumnInfo]) -> Result<(), Fault> {
        cut_long_values(row, columns, self.context.settings.text_size);
        ask_for(row.iter(), COPIES_TO_SEND)?;
        if self.promises.is_empty() {
            self.output.row(row);
            return Ok(());
        }
        let mut output = self.promised();
        output.row(row);
        output.end()
    }
}

/// An output that keeps promises.
pub(super) struct Promised<'a> {
    promises: &'a mut [Promise],
    functions: &'a mut Context,
    page: CodePage,
    output: &'a mut dyn Output,
    /// What went wrong first. From there on nothing is sent.
    fault: Option<Fault>,
}

impl<'a> Promised<'a> {
    pub(super) fn new(
        promises: &'a mut [Promise],
        functions: &'a mut Context,
        page: CodePage,
        output: &'a mut dyn Output,
    ) -> Self {
        Self { promises, functions, page, output, fault: None }
    }

    /// What went wrong.
    pub(super) fn end(self) -> Result<(), Fault> {
        self.fault.map_or(Ok(()), Err)
    }

    /// The innermost call's promise shapes the rows first.
    fn try_columns(&mut self, columns: &[ColumnInfo]) -> Result<(), Fault> {
        let mut sent = columns.to_vec();
        for promise in self.promises.iter_mut().rev() {
            sent = promise.columns(&sent)?;
        }
        self.output.columns(&sent);
        Ok(())
    }

    fn try_row(&mut self, row: &[Value]) -> Result<(), Fault> {
        let mut sent = row.to_vec();
        for promise in self.promises.iter().rev() {
            sent = promise.row(&sent, self.functions, self.page)?;
        }
        self.output.row(&sent);
        Ok(())
    }
}

impl Output for Promised<'_> {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        if self.fault.is_none() {
            self.fault = self.try_columns(columns).err();
        }
    }
    fn row(&mut self, row: &[Value]) {
        if self.fault.is_none() {
            self.fault = self.try_row(row).err();
        }
    }
    fn done(&mut self, done: Done) {
        if self.fault.is_none() {
            self.output.done(done);
        }
    }
    fn done_in_procedure(&mut self, done: Done) {
        if self.fault.is_none() {
            self.output.done_in_procedure(done);
        }
    }
    fn message(&mut self, message: &SqlError) {
        self.output.message(message);
    }
    fn push(&mut self) {
        self.output.push();
    }
    fn error(&mut self, error: &SqlError) {
        self.output.error(error);
    }
    fn failed(&mut self) {
        self.output.failed();
    }
}
