//! Checking long values: every pointer of a row leads to all its parts, and every part belongs to a row.

use std::collections::HashSet;
use std::ops::Bound;

use pikepole_storage::{Direction, Rid, RowHeader, ScanRange, StorageError};
use pikepole_transaction::{RID_BYTES, Structure};

use super::Table;
use super::overflow::{Overflow, Pointers, Unread, Walk};
use crate::database::Database;

/// What was seen of a table's long values.
struct Seen<'a> {
    table: &'a Table,
    overflow: &'a Overflow,
    parts: HashSet<[u8; RID_BYTES]>,
    damage: &'a mut Vec<String>,
}

impl Database {
    /// Follows the pointers of all rows. Blocks; nothing may change meanwhile, and no transaction is open.
    ///
    /// # Errors
    /// I/O that fails. What does not hold, a damaged page among it, goes to `damage`.
    pub(crate) fn check_long_values(&self, damage: &mut Vec<String>) -> Result<(), StorageError> {
        for table in self.current_catalog().tables() {
            let Some(overflow) = &table.overflow else { continue };
            let mut seen = Seen { table, overflow, parts: HashSet::new(), damage };
            let checked = seen.rows(self).and_then(|()| seen.orphans(self));
            match checked {
                // The check of pages has named it.
                Ok(()) | Err(StorageError::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Seen<'_> {
    fn find(&mut self, what: &str) {
        self.damage.push(format!("long values of {}: {what}", self.table.full_name()));
    }

    fn rows(&mut self, database: &Database) -> Result<(), StorageError> {
        let store = database.store();
        match &self.table.base {
            Structure::Tree(tree) => {
                let direction = Direction::Forward;
                let mut scan = tree.scan(ScanRange { low: Bound::Unbounded, high: Bound::Unbounded, direction });
                while store.until_done(|| scan.next_batch())? {
                    for row in scan.rows() {
                        self.row(database, row.header, row.rest)?;
                    }
                }
            }
            Structure::Heap(heap) => {
                let mut scan = heap.scan();
                while store.until_done(|| scan.next_batch())? {
                    for row in scan.rows() {
                        self.row(database, row.header, row.rest)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn row(&mut self, database: &Database, header: RowHeader, rest: &[u8]) -> Result<(), StorageError> {
        if header.is_ghost() {
            return Ok(());
        }
        let Some((_, pointers)) = Pointers::split(rest) else {
            self.find("the end of a row is neither a mark nor pointers");
            return Ok(());
        };
        for pointer in pointers.iter() {
            let mut walk = Walk::new(pointer);
            while let Some(at) = walk.next {
                let mut next = walk.clone();
                let step = database.store().until_done(|| {
                    next = walk.clone();
                    match next.step(&self.overflow.structure, |header, _| header.is_ghost()) {
                        Ok(ghost) => Ok(Ok(ghost == Some(true))),
                        Err(Unread::Stop(stop)) => Err(stop),
                        Err(lost) => Ok(Err(lost)),
                    }
                });
                match step {
                    Ok(Ok(ghost)) => {
                        if ghost {
                            self.find(&format!(
                                "page {}, slot {}: the part of a row that is there is deleted",
                                at.page, at.slot
                            ));
                        }
                        if !self.parts.insert(at.to_bytes()) {
                            self.find(&format!("page {}, slot {}: two rows lead to it", at.page, at.slot));
                        }
                        walk = next;
                    }
                    Ok(Err(lost)) => {
                        if let Unread::Lost(page, why) = lost {
                            self.find(&format!("page {page}: {why}"));
                        }
                        break;
                    }
                    // The check of pages has named it; the other values are looked at all the same.
                    Err(StorageError::Corrupt { .. }) => break,
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }

    /// Parts that no row leads to.
    fn orphans(&mut self, database: &Database) -> Result<(), StorageError> {
        let Structure::Heap(heap) = &self.overflow.structure else {
            return Ok(());
        };
        let mut scan = heap.scan();
        while database.store().until_done(|| scan.next_batch())? {
            let orphans: Vec<Rid> = scan
                .rows()
                .filter(|row| !row.header.is_ghost() && !self.parts.contains(&row.rid.to_bytes()))
                .map(|row| row.rid)
                .collect();
            for rid in orphans {
                self.find(&format!("page {}, slot {}: no row leads to this part", rid.page, rid.slot));
            }
        }
        Ok(())
    }
}
