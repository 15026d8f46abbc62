//! The place of a row in the store, and the name of its lock.

use pikepole_storage::{PageId, Rid};
use pikepole_transaction::{LockMode, RID_BYTES, Structure, key_hash};

use super::{Locator, Table};
use crate::database::Database;
use crate::error::Blocked;
use crate::transaction::Transaction;

/// The number of the file that has a database's pages.
const PAGES_FILE_ID: u16 = 1;

/// The page and the slot of a row, as they were when it was looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowPlace {
    page: PageId,
    slot: u16,
}

impl RowPlace {
    /// The page in four bytes, the file in two and the slot in two, each with its lowest byte first.
    pub fn to_bytes(self) -> [u8; 8] {
        let [a, b, c, d] = self.page.0.to_le_bytes();
        let ([e, f], [g, h]) = (PAGES_FILE_ID.to_le_bytes(), self.slot.to_le_bytes());
        [a, b, c, d, e, f, g, h]
    }
}

/// The name of a lock of keys in the views, from its number.
pub fn lock_description(hash: u64) -> String {
    format!("({:012x})", hash & 0xffff_ffff_ffff)
}

impl Locator {
    /// The name that the views of locks give a lock of this row.
    pub fn lock_description(&self) -> String {
        lock_description(key_hash(&self.0))
    }
}

impl Database {
    /// The place of a row in the table's own tree or heap. None: it is not there any more.
    ///
    /// # Errors
    /// Needs; damage; a definition that is no longer current.
    pub fn try_row_place(
        &self,
        tx: &mut Transaction,
        table: &Table,
        row: &Locator,
    ) -> Result<Option<RowPlace>, Blocked> {
        if tx.is_elsewhere(table) {
            return tx.elsewhere(table, |database, tx| database.try_row_place(tx, table, row));
        }
        // The wait may have given the lock back.
        self.lock_for(tx, table, LockMode::SchS)?;
        let place = match &table.base {
            Structure::Heap(_) => {
                let bytes: Result<[u8; RID_BYTES], _> = row.as_bytes().try_into();
                Ok(bytes.ok().map(Rid::from_bytes).map(|rid| (rid.page, rid.slot)))
            }
            Structure::Tree(tree) => tree.place_of(row.as_bytes()),
        };
        let place = place.map_err(|stop| self.place(tx, &table.full_name()).stop(stop.into()))?;
        Ok(place.map(|(page, slot)| RowPlace { page, slot }))
    }
}
