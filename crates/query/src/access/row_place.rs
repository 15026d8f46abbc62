//! Steps of a scan before it reads the next row: a lock is given back, or the place of the row at hand is shown in virtual
//! columns.
//!
//! A row of a clustered table is looked for in its tree, whose pages may have to be read first. The row is in the registers
//! by then, and the scan stands behind it: what is left to do is noted, so that the next call gives this row and not the
//! one after it.

use super::{ScanCursor, Stop};
use crate::executor::Run;
use crate::plan::{RowPlace, Scan};
use pikepole_types::Value;

/// A step of a scan before it reads the next row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Nothing,
    /// The last row is of no use: it is not kept locked.
    LetGo,
    /// The row in the registers was not given: its place is lacking.
    ShowPlace,
}

impl RowPlace {
    /// Tells if a virtual column is read.
    pub(super) fn is_shown(&self) -> bool {
        self.physloc.is_some() || self.lockres.is_some()
    }
}

impl ScanCursor {
    /// Gives back the lock of the row that was passed over.
    pub(super) fn let_go(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Stop> {
        if let Some(scan) = &mut self.scan {
            let (database, tx) = run.engine()?;
            database.pass_over(tx, &plan.table.engine, scan)?;
        }
        self.before = Before::Nothing;
        Ok(())
    }

    /// Leaves the virtual columns of the row that was read in the plan's registers.
    #[cold]
    pub(super) fn show_place(&mut self, plan: &Scan, run: &mut Run<'_>) -> Result<(), Stop> {
        self.before = Before::ShowPlace;
        if let (Some(place), Some(scan)) = (&plan.place, &self.scan) {
            if let Some(slot) = place.physloc {
                let (database, tx) = run.engine()?;
                let found = database.try_row_place(tx, &plan.table.engine, scan.locator())?;
                run.slots[slot] = found.map_or(Value::Null, |found| Value::Bin(found.to_bytes().to_vec()));
            }
            if let Some(slot) = place.lockres {
                run.slots[slot] = Value::Str(scan.locator().lock_description());
            }
        }
        self.before = Before::Nothing;
        Ok(())
    }
}
