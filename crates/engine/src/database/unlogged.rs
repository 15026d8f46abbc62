//! The new trees of a table, which may be filled without logging what goes in: index builds, loads into empty tables.
//!
//! ```text
//!   new trees, of a table with many rows, under SIMPLE or BULK_LOGGED      NewTrees: handles that do not log
//!   filled, by one task or by workers
//!   Database::settle          under BULK_LOGGED notes which pages the next log backup takes; waits for a checkpoint.
//!                             Or logs the pages, if somebody needs them in the log now
//!   the definition that names the trees is stored, the transaction commits
//! ```
//! A tree that was not settled belongs to no definition that recovery knows, and is given back with the transaction.

use pikepole_storage::{LoggedPages, Tree};
use pikepole_transaction::{Need, Structure};
use pikepole_types::SqlError;

use super::build::PAGES_MIN;
use super::{Database, RecoveryModel};
use crate::error::Blocked;
use crate::fault;
use crate::table::Table;
use crate::temporary::TEMPDB_ID;
use crate::transaction::Transaction;

/// Handles on the trees that a table has and its former version has not, for filling them.
pub(crate) struct NewTrees {
    base: Option<Tree>,
    /// For each of the table's other indexes.
    indexes: Vec<Option<Tree>>,
    unlogged: bool,
}

impl NewTrees {
    /// Those of `new`, which succeeds `old`; `unlogged`: as [`Database::may_fill_unlogged`] says.
    pub fn of(old: &Table, new: &Table, unlogged: bool) -> NewTrees {
        let handle = |structure: &Structure| match structure {
            Structure::Tree(tree) if unlogged => Some(tree.unlogged()),
            Structure::Tree(tree) => Some(tree.clone()),
            Structure::Heap(_) => None,
        };
        let base_is_new = old.base.object() != new.base.object();
        let mut indexes = vec![None; new.secondary.len()];
        for at in new.new_indexes(old) {
            indexes[at] = handle(&new.secondary[at].structure);
        }
        let base = if base_is_new { handle(&new.base) } else { None };
        let has_any = base.is_some() || indexes.iter().any(Option::is_some);
        NewTrees { base, indexes, unlogged: unlogged && has_any }
    }

    /// The tree of the rows themselves, if it is new and one.
    pub fn base(&self) -> Option<&Tree> {
        self.base.as_ref()
    }

    /// The tree of one of the other indexes, if it is new.
    pub fn index(&self, at: usize) -> Option<&Tree> {
        self.indexes[at].as_ref()
    }
}

impl Database {
    /// Whether trees that get the rows of this table are to be filled without logging.
    pub(crate) fn may_fill_unlogged(&self, rows_of: &Table) -> bool {
        // Nobody waits for the log of tempdb; and a checkpoint costs more than the log of a few pages.
        self.id() != TEMPDB_ID
            && !self.options().recovery.logs_all_rows()
            && self.store.can_leave_rows_out()
            && self.store.pages_of(rows_of.base.object()).0 >= PAGES_MIN as u64
    }

    /// Makes what the trees were filled with as safe as if it had been logged. Nobody fills them any more.
    ///
    /// # Errors
    /// A checkpoint that failed; 9002 when pages are logged and there is no room.
    pub(crate) async fn settle(&self, tx: &mut Transaction, trees: &NewTrees) -> Result<(), SqlError> {
        if !trees.unlogged || fault::settles_nothing() {
            return Ok(());
        }
        // A backup that came and went meanwhile has perhaps taken the notes and not the pages as they are.
        while let Some(before) = self.store.rows_unneeded() {
            if self.options().recovery == RecoveryModel::BulkLogged {
                self.each_part(tx, trees, Tree::note_pages).await?;
            }
            let Some(end) = self.store.unlogged_end(before) else { continue };
            let is_safe =
                || if self.store.redo_start() < end { Err(Blocked::Need(Need::Checkpoint(end))) } else { Ok(()) };
            return self.run(tx, |_| is_safe()).await;
        }
        self.each_part(tx, trees, Tree::log_page).await
    }

    /// Calls `log` for one part of each tree after the other.
    async fn each_part(
        &self,
        tx: &mut Transaction,
        trees: &NewTrees,
        log: fn(&Tree, &mut LoggedPages) -> Result<bool, pikepole_storage::Stop>,
    ) -> Result<(), SqlError> {
        for tree in trees.base.iter().chain(trees.indexes.iter().flatten()) {
            let mut at = LoggedPages::default();
            let mut next =
                |tx: &mut Transaction| log(tree, &mut at).map_err(|stop| self.stopped(tx, "sys.objects", stop.into()));
            while self.run(tx, &mut next).await? {
                pikepole_scheduler::yield_if_due().await;
            }
        }
        Ok(())
    }
}
