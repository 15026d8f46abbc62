//! Atomic blocks as they run: begun, ended, undone.
//!
//! ```text
//!   BEGIN ATOMIC ── no transaction: one begins     END ── it commits            an error leaves ── it is rolled back
//!               └── in a transaction: a savepoint     └── the savepoint goes                   └── back to the savepoint
//! ```
//! An error that leaves a block ends it, whatever ends it in other modules: its caller sees a call that has failed. One that dooms the
//! transaction, as a write conflict does, dooms it here too.

use super::Machine;
use crate::access::Stop;
use crate::errors::Reach;
use crate::expression::Fault;
use crate::program::Atomic;
use crate::settings::{Isolation, Settings};
use pikepole_engine::{Mark, MemoryLevel};
use pikepole_types::SqlError;

/// The atomic block that runs in a frame.
pub(crate) struct AtomicBlock {
    begun: Begun,
    delayed: bool,
    /// The settings of its caller.
    outside: Settings,
}

/// The part of a transaction that an atomic block is.
enum Begun {
    /// All of it: the block has begun it.
    Transaction,
    /// The part behind this point.
    Savepoint(Mark),
    /// None of its own: it is the block of a function, and part of the statement that calls that.
    Nothing,
}

impl AtomicBlock {
    /// The settings of its caller.
    pub(super) fn into_outside(self) -> Settings {
        self.outside
    }
}

impl Machine<'_> {
    /// BEGIN ATOMIC.
    ///
    /// # Errors
    /// 41332 and 41333 for a session whose level goes with no native module; 515 for NULL in a parameter that takes none.
    pub(super) fn begin_atomic(&mut self, atomic: &Atomic) -> Result<(), Fault> {
        let is_open = self.context.state.transaction_count > 0;
        match self.context.settings.isolation {
            Isolation::Snapshot => return Err(Box::new(SqlError::memory_under_snapshot())),
            Isolation::RepeatableRead | Isolation::Serializable if is_open && atomic.level != MemoryLevel::Snapshot => {
                return Err(Box::new(SqlError::memory_needs_snapshot()));
            }
            _ => {}
        }
        atomic.check_parameters(&self.frame.program, &self.frame.slots)?;
        let inside = atomic.settings(&self.context.settings);
        let outside = self.put_settings(inside);
        let begun = if self.context.functions > 0 {
            Begun::Nothing
        } else if is_open {
            Begun::Savepoint(self.context.transaction().mark())
        } else {
            self.context.begin_transaction(None);
            self.host.transaction_changed(self.context);
            Begun::Transaction
        };
        self.frame.atomic = Some(AtomicBlock { begun, delayed: atomic.delayed, outside });
        Ok(())
    }

    /// The end of an atomic block. Called again after a need.
    ///
    /// # Errors
    /// Needs; what commits fail with.
    pub(super) fn end_atomic(&mut self) -> Result<(), Stop> {
        let Some(block) = &self.frame.atomic else { return Ok(()) };
        if matches!(block.begun, Begun::Transaction) {
            let delayed = block.delayed;
            self.context.try_commit_transaction(delayed)?;
            self.host.transaction_changed(self.context);
        }
        self.leave_atomic_block();
        Ok(())
    }

    /// The settings are those of the block's caller again.
    fn leave_atomic_block(&mut self) -> Option<Begun> {
        let AtomicBlock { begun, outside, .. } = self.frame.atomic.take()?;
        self.put_settings(outside);
        Some(begun)
    }

    /// Has other settings in force.
    pub(super) fn put_settings(&mut self, settings: Settings) -> Settings {
        let former = std::mem::replace(&mut self.context.settings, settings);
        let settings = &self.context.settings;
        settings.inform(&mut self.functions);
        let isolation = settings.isolation;
        self.context.set_isolation(isolation);
        former
    }

    /// Undoes the block of the current frame, which an error leaves. One that ends the transaction ends it all the same.
    pub(super) async fn undo_atomic_block(&mut self, reach: Reach) {
        match self.leave_atomic_block() {
            Some(Begun::Transaction) if self.context.state.transaction_count > 0 => {
                self.context.roll_back_all().await;
                self.host.transaction_changed(self.context);
            }
            Some(Begun::Savepoint(mark)) if reach != Reach::Transaction && !self.context.state.doomed => {
                let (database, tx) = self.context.engine();
                if database.rollback_to(tx, mark).await.is_err() {
                    // The log failed: nothing of the transaction can be kept.
                    self.context.roll_back_all().await;
                }
            }
            _ => {}
        }
    }

    /// Tells if an error that is caught in the frame of this depth, or nowhere, dooms the transaction because XACT_ABORT is on where it
    /// leaves an atomic block.
    pub(super) fn aborts_outside_atomic(&self, handler: Option<usize>) -> bool {
        let count = handler.map_or(self.callers.len() + 1, |depth| self.callers.len() - depth);
        let left = [&self.frame].into_iter().chain(self.callers.iter().rev()).take(count);
        let blocks = left.map_while(|frame| frame.atomic.as_ref());
        blocks.last().is_some_and(|block| block.outside.xact_abort)
    }
}
