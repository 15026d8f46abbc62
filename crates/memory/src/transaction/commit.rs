//! The end of a transaction that changes something: it takes a time, looks at what it has read as of then, and says that it has committed.

use crossbeam_epoch::Guard;
use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::Ordering;

use super::{Invalid, MemoryTransaction, Refusal, Scanned, Write};
use crate::guarded::Guarded;
use crate::index::{Position, Wish};
use crate::row::{Row, Version};
use crate::transactions::{Garbage, NO_SNAPSHOT, free_left};
use crate::writer::State;

impl MemoryTransaction {
    /// Takes the time to commit at, and sees if what was read still holds then. It is to be followed at once by `commit`, `unprepare` or
    /// `rollback`: others wait for that.
    ///
    /// # Errors
    /// [`Invalid`]: the transaction must be rolled back.
    pub fn prepare(&mut self) -> Result<(), Invalid> {
        if !self.is_bound() {
            return Ok(());
        }
        let writer = self.writer();
        // SAFETY: the writer is the transaction's own until `end`.
        let writer = unsafe { writer.as_ref() };
        writer.set(State::Entering);
        let time = self.home.clock.next();
        writer.set(State::Preparing(time));
        self.prepared = Some(time);
        let valid = self.validate(time);
        if valid.is_err() {
            self.home.validation_failures.add(1);
            self.refusal = Some(Refusal::Conflict);
        }
        valid
    }

    /// The commit could not go on: it is prepared once more later.
    pub fn unprepare(&mut self) {
        if let (Some(_), Some(writer)) = (self.prepared.take(), self.writer) {
            // SAFETY: as of `prepare`.
            unsafe { writer.as_ref() }.set(State::Active);
        }
    }

    fn validate(&mut self, time: u64) -> Result<(), Invalid> {
        let is_nothing_noted = self.reads.is_empty() && self.scanned.is_empty();
        if is_nothing_noted || planted("memory: nothing is validated") {
            return Ok(());
        }
        let guard = crossbeam_epoch::pin();
        for read in &self.reads {
            // SAFETY: the version that was read belongs to the snapshot, which is in use still: it keeps its nodes, and they the row.
            let row = unsafe { Guarded::new(read.row, &guard) };
            if self.others_time(row, time, &guard) != Some(read.time) {
                return Err(Invalid::RepeatableRead);
            }
        }
        let snapshot = self.begin();
        for Scanned { table, index, range } in &self.scanned {
            let mut is_phantom = false;
            let position = Position::default();
            let own = &table.indexes[*index];
            own.index.walk(range, false, &position, &guard, |node| {
                let newer = self.others_version(node.row(&guard), time, &guard).filter(|(since, _)| *since > snapshot);
                is_phantom = newer.is_some_and(|(_, version)| version.is_found_by(node, *index));
                if is_phantom { Wish::Nothing } else { Wish::More }
            });
            if is_phantom {
                return Err(Invalid::Serializable);
            }
        }
        Ok(())
    }

    /// The version of a row that is the newest at a time, but for the transaction's own; its time.
    fn others_version<'g>(
        &self,
        row: Guarded<'g, Row>,
        time: u64,
        guard: &'g Guard,
    ) -> Option<(u64, Guarded<'g, Version>)> {
        let mut at = row.newest(guard);
        while let Some(version) = at {
            if !version.is_of(self.writer, guard)
                && let Some(since) = version.stands_by(time, |spinner| self.home.count_wait(&spinner), guard)
            {
                return Some((since, version));
            }
            at = version.older(guard);
        }
        None
    }

    fn others_time(&self, row: Guarded<'_, Row>, time: u64, guard: &Guard) -> Option<u64> {
        self.others_version(row, time, guard).map(|(since, _)| since)
    }

    /// Commits what was prepared, and ends. `position` is that of the commit in the log; of one that is not there, the position of what
    /// it acts on.
    pub fn commit(&mut self, position: u64) {
        if self.writes.is_empty() && self.time.is_some() {
            self.home.reads.add(1);
        }
        if let (Some(time), Some(writer)) = (self.prepared.take(), self.writer) {
            // SAFETY: the writer is the transaction's own until `end`.
            unsafe { writer.as_ref() }.commit(time, position);
            if !self.writes.is_empty() {
                let changed = self.writes.len();
                self.home.commits.add(1);
                self.commit_writes(time, position);
                free_left(changed);
                self.home.clock.pass(time);
            }
        }
        self.end();
    }

    /// Gives the versions their time, and leaves the rows that have older ones as garbage.
    fn commit_writes(&mut self, time: u64, position: u64) {
        for write in &self.writes {
            // SAFETY: as below.
            unsafe { write.version.as_ref() }.set_committed(time, position);
        }
        for Write { table, row, version } in self.writes.drain(..) {
            // SAFETY: no prune takes a version that is younger than a snapshot in use, and the transaction's own is.
            if !unsafe { version.as_ref() }.is_first() {
                self.garbage.push(Garbage { time, table, row });
            }
        }
        if !self.garbage.is_empty() {
            // Its own snapshot is in the way of what it leaves. Release: see `end`.
            self.snapshot.store(NO_SNAPSHOT, Ordering::Release);
            self.home.leave(&mut self.garbage, &self.tables);
        }
    }
}
