//! The INSERT of one row.

use std::sync::Arc;

use super::super::Machine;
use super::is_in_memory;
use crate::access::{Stop, check_required};
use crate::plan::{ColumnSource, Insert, Node, RowCode, Statement};
use crate::program::{Program, row_code_of};
use pikepole_engine::{MadeRow, MemoryLevel, MemoryUse, Table, TableWriter};
use pikepole_native::{Frame, Leave};
use pikepole_types::{Value, number_of};

#[cfg(test)]
std::thread_local! {
    /// Rows that this thread has inserted as machine code has made them.
    pub(crate) static MADE: std::cell::Cell<u32> = const { std::cell::Cell::new(0) };
}

/// The row that an INSERT makes, again and again: its constants stay where they are.
pub(super) struct NewRow {
    table: Arc<Table>,
    hint: Option<MemoryLevel>,
    writer: TableWriter,
    row: Vec<Value>,
    /// The columns whose values are computed.
    computed: Box<[usize]>,
    /// The columns that may not have got a value that they must have.
    required: Box<[usize]>,
    /// Room for what the statement's code makes.
    made: Option<MadeRow>,
}

/// Tells if a statement inserts one row into an in-memory table and does nothing else.
pub(super) fn inserts_one(plan: &Statement, insert: &Insert) -> bool {
    let is_one = matches!(plan.source, Node::One) && insert.rows.len() == 1 && insert.output.is_none();
    let is_alone = insert.table_lock.is_none() && insert.explicit_identity.is_none();
    is_one && is_alone && is_in_memory(&insert.table) && !insert.table.engine.ignores_duplicates()
}

impl NewRow {
    pub(super) fn of(insert: &Insert) -> NewRow {
        let sources = &insert.rows[0];
        let is_constant = |column: usize| matches!(sources[column], ColumnSource::Template);
        let is_computed = |column: &usize| matches!(sources[*column], ColumnSource::Value(_));
        let (table, row) = (Arc::clone(&insert.table.engine), insert.template.clone());
        let writer = table.writer().with_constants(&table, &row, is_constant);
        let may_lack = |column: &usize| !is_constant(*column) || row[*column].is_null();
        NewRow {
            hint: insert.memory_level,
            writer,
            computed: (0..sources.len()).filter(is_computed).collect(),
            required: insert.required.iter().copied().filter(may_lack).collect(),
            made: None,
            table,
            row,
        }
    }

    pub(super) fn table(&self) -> &Table {
        &self.table
    }

    /// The level that the statement asks for.
    pub(super) fn hint(&self) -> Option<MemoryLevel> {
        self.hint
    }
}

impl Machine<'_> {
    pub(super) fn insert_shortly(
        &mut self,
        program: &Program,
        insert: &Insert,
        new: &mut NewRow,
        used: MemoryUse,
    ) -> Result<(), Stop> {
        let code = insert.code.get_or_make(|| row_code_of(program, insert));
        let needs_identity = code.is_some_and(|code| code.identity.is_some());
        if needs_identity {
            self.identity(insert, &mut new.row)?;
        }
        let length = code.and_then(|code| self.make_row(code, insert, new));
        if length.is_none() {
            self.evaluate_row(insert, new)?;
        }
        // Mostly there is none, and none to be forgotten.
        if !needs_identity && (insert.table.identity.is_some() || !self.context.state.identity.is_null()) {
            self.identity(insert, &mut new.row)?;
        }
        let (database, tx) = self.context.engine();
        match (length, &mut new.made) {
            (Some(length), Some(made)) => {
                database.try_insert_made(tx, &new.table, used, made, length)?;
                #[cfg(test)]
                MADE.set(MADE.get() + 1);
            }
            _ => {
                check_required(&insert.table, new.required.iter().copied(), &new.row, "INSERT")?;
                database.try_insert_used(tx, &new.table, used, &mut new.writer, &new.row)?;
            }
        }
        self.changed_shortly(&insert.table);
        Ok(())
    }

    /// Has the statement's code make the row: the length of its bytes. None: a value of it is to be evaluated.
    fn make_row(&mut self, code: &RowCode, insert: &Insert, new: &mut NewRow) -> Option<usize> {
        let made = new.made.get_or_insert_with(|| code.room());
        let (keys, rest) = made.room();
        let (keys, row) = (keys.as_mut_ptr(), rest.as_mut_ptr());
        let mut frame = Frame { keys, row, ..Frame::new(self.frame.slots.as_mut_ptr().cast(), 0) };
        for (input, clock) in &code.clocks {
            frame.inputs[*input] = clock.number(self.functions.now)?;
        }
        if let (Some(input), Some(column)) = (code.identity, insert.table.identity) {
            frame.inputs[input] = number_of(&new.row[column]).unwrap_or(0);
        }
        // SAFETY: the slots are those of the program's frame, of which the code reads variables. It writes into the two places of the room that was
        // made for it, and calls nothing.
        let exit = unsafe { code.code.run(&mut frame, 0) };
        (exit.leave == Leave::End).then_some(frame.row_len)
    }

    fn evaluate_row(&mut self, insert: &Insert, new: &mut NewRow) -> Result<(), Stop> {
        for column in &new.computed {
            if let ColumnSource::Value(expr) = &insert.rows[0][*column] {
                expr.eval_into(&mut self.env(), &mut new.row[*column])?;
            }
        }
        Ok(())
    }
}
