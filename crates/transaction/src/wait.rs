//! Waiting for another transaction, and finding those who wait for each other.
//!
//! ```text
//!   session 51 --waits for--> end of 130 --run by--> session 52 --waits for--> lock on t --held by--> session 51 : deadlock
//! ```
//!
//! A row's lock is its writer's id, so waiting for a row is waiting for the end of that transaction. Who is about to wait
//! draws its edge in the graph and looks whether it leads back to itself, both under one mutex: of the edges of a circle the
//! last one drawn finds it. Its session is the victim.
//!
//! # No end is missed
//! A waiter marks the status word (WAITED) under the lock of its shard, where it leaves its waker; the end swaps the word
//! and, if it was marked, takes the wakers under the same lock. Whoever comes too late to mark finds the word ended.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pikepole_contention::sync::{Arc, Mutex};

use crate::id::TransactionId;
use crate::lock::{LockMode, TableLock};
use crate::registry::{LockedThing, Registry, lock};
use crate::status::{Status, StatusTable};

const SHARDS: usize = 16;

/// What a session waits for.
#[derive(Debug, Clone)]
pub(crate) enum WaitedFor {
    Transaction(TransactionId),
    Lock(Arc<TableLock>, LockMode),
}

/// Sleepers by the id whose end they wait for.
#[derive(Default)]
pub(crate) struct Sleepers {
    shards: [Mutex<HashMap<TransactionId, Vec<Waker>>>; SHARDS],
}

impl Sleepers {
    fn shard(&self, id: TransactionId) -> &Mutex<HashMap<TransactionId, Vec<Waker>>> {
        &self.shards[id.0 as usize % SHARDS]
    }

    /// Wakes all who wait for `id`, whose word is ended.
    pub fn wake(&self, id: TransactionId) {
        let sleepers = lock(self.shard(id)).remove(&id).unwrap_or_default();
        pikepole_scheduler::wake_all(sleepers);
    }
}

/// Completes when the transaction `id` has ended.
pub(crate) struct EndWait<'a> {
    pub id: TransactionId,
    pub sleepers: &'a Sleepers,
    pub table: &'a StatusTable,
}

impl Future for EndWait<'_> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut shard = lock(self.sleepers.shard(self.id));
        loop {
            match self.table.status(self.id) {
                Status::Active if self.table.mark_waited(self.id) => {
                    let sleepers = shard.entry(self.id).or_default();
                    if !sleepers.iter().any(|w| w.will_wake(context.waker())) {
                        sleepers.push(context.waker().clone());
                    }
                    return Poll::Pending;
                }
                // The word moved between the two looks.
                Status::Active => continue,
                // It is between two instructions of its commit: the others may run meanwhile.
                Status::Committing => {
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                Status::Committed(_) | Status::Aborted => return Poll::Ready(()),
            }
        }
    }
}

/// Who waits for what.
#[derive(Default)]
pub(crate) struct WaitGraph {
    waits: Mutex<HashMap<u64, WaitedFor>>,
}

impl WaitGraph {
    /// What each owner that waits waits for, and how it wants it.
    pub fn all(&self) -> HashMap<u64, (LockedThing, LockMode)> {
        let waits = lock(&self.waits);
        let thing = |waited: &WaitedFor| match waited {
            WaitedFor::Transaction(id) => (LockedThing::RowOf(*id), LockMode::X),
            WaitedFor::Lock(table, mode) => (LockedThing::Object(table.object()), *mode),
        };
        waits.iter().map(|(owner, waited)| (*owner, thing(waited))).collect()
    }

    /// Draws the edge of `owner`. False: it would close a circle and was not drawn.
    pub fn begin(&self, owner: u64, waited: WaitedFor, registry: &Registry) -> bool {
        let mut waits = lock(&self.waits);
        waits.insert(owner, waited);
        let mut seen = Vec::new();
        let mut open = vec![owner];
        while let Some(at) = open.pop() {
            let Some(waited) = waits.get(&at) else {
                continue;
            };
            for next in blockers(at, waited, registry) {
                if next == owner {
                    waits.remove(&owner);
                    return false;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                    open.push(next);
                }
            }
        }
        true
    }

    /// The wait is over.
    pub fn end(&self, owner: u64) {
        lock(&self.waits).remove(&owner);
    }
}

fn blockers(owner: u64, waited: &WaitedFor, registry: &Registry) -> Vec<u64> {
    match waited {
        WaitedFor::Transaction(id) => registry.owner_of(*id).into_iter().collect(),
        WaitedFor::Lock(table, mode) => {
            let mut owners = table.strong_blockers(owner, *mode);
            owners.extend(registry.holders(table.object(), *mode, owner));
            owners
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_contention::sync::atomic::Ordering;

    #[test]
    fn the_last_edge_of_a_circle_finds_it() {
        let registry = Registry::new();
        let cells: Vec<_> = (0..3).map(|i| registry.register(51 + i)).collect();
        for (i, cell) in cells.iter().enumerate() {
            cell.id.store(100 + i as u64, Ordering::Relaxed);
        }
        let graph = WaitGraph::default();
        let table = Arc::new(TableLock::new(5));
        lock(&cells[0].held).push((5, LockMode::IX));
        let on = |id| WaitedFor::Transaction(TransactionId(id));
        assert!(graph.begin(cells[0].owner, on(101), &registry));
        assert!(graph.begin(cells[1].owner, on(102), &registry));
        let of_table = WaitedFor::Lock(table, LockMode::SchM);
        assert!(!graph.begin(cells[2].owner, of_table.clone(), &registry));
        graph.end(cells[1].owner);
        assert!(graph.begin(cells[2].owner, of_table, &registry));
    }
}
