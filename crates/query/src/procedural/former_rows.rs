//! The periods of rows, and the rows of a system-versioned table as they were before a statement changed them.
//!
//! ```text
//!   row written ─► what it was is kept, with the transaction's time as its end ─► the next row is looked for
//!                                          └─ first it goes into the history table, as an ordinary row of it
//! ```
//! One row is kept at a time, until the history has it: a statement that awaits something in between goes on there.

use super::Machine;
use crate::access::Stop;
use crate::expression::Fault;
use crate::plan::Statement;
use crate::rules::{HistoryRule, PeriodRule};
use pikepole_engine::{RowCount, TableWriter};
use pikepole_types::{DateTime2, SqlError, Value};

/// Digits of a second that a `datetime2` has at most.
const SCALE_MAX: u8 = 7;
/// Ticks of 100 ns since 0001-01-01 of the last one in the year 9999.
const TICKS_MAX: i64 = 3_155_378_975_999_999_999;

/// The former row that is to be written.
#[derive(Default)]
pub(crate) struct Keeping {
    row: Option<Vec<Value>>,
    writer: Option<TableWriter>,
}

impl Keeping {
    pub(crate) fn reset(&mut self) {
        self.row = None;
        self.writer.iter_mut().for_each(TableWriter::begin_statement);
    }

    /// A row of a versioned table was changed or deleted that was `old`, in a transaction that began at `time`.
    ///
    /// # Errors
    /// 13535 when the row is younger than the transaction.
    pub(crate) fn note(&mut self, rule: &HistoryRule, old: &[Value], time: DateTime2) -> Result<(), Fault> {
        let end = rule.period.moment(time.ticks());
        if let (Value::DateTime2(start), Value::DateTime2(end)) = (&old[rule.period.start], &end)
            && start > end
        {
            return Err(Box::new(SqlError::period_starts_later(&rule.of)));
        }
        let row = self.row.insert(old.to_vec());
        row[rule.period.end] = end;
        Ok(())
    }
}

impl PeriodRule {
    /// A time as the columns hold it: cut off, since a row that began later than now would not be seen yet.
    fn moment(&self, ticks: i64) -> Value {
        let unit = 10_i64.pow(u32::from(SCALE_MAX.saturating_sub(self.scale)));
        DateTime2::from_ticks(ticks - ticks % unit).map_or(Value::Null, Value::DateTime2)
    }

    /// Gives a row the period that begins now and has no end.
    pub(crate) fn begin(&self, time: DateTime2, row: &mut [Value]) {
        row[self.start] = self.moment(time.ticks());
        row[self.end] = self.moment(TICKS_MAX);
    }
}

impl Machine<'_> {
    /// Writes the row that is kept, if there is one.
    #[inline]
    pub(crate) fn record_former(&mut self, plan: &Statement, keeping: &mut Keeping) -> Result<(), Stop> {
        match plan.rules.as_ref().and_then(|rules| rules.history.as_ref()) {
            None => Ok(()),
            Some(rule) => self.record_in(rule, keeping),
        }
    }

    fn record_in(&mut self, rule: &HistoryRule, keeping: &mut Keeping) -> Result<(), Stop> {
        let Some(row) = &keeping.row else { return Ok(()) };
        let writer = keeping.writer.get_or_insert_with(|| rule.table.writer());
        let (database, tx) = self.context.engine();
        database.try_insert(tx, &rule.table, writer, row, RowCount::Many)?;
        keeping.row = None;
        Ok(())
    }
}
