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
//! The databases of a server share one graph: a session that is in several of them has one number in all, and each edge says in
//! which of them it waits.
//!
//! # No end is missed
//! A waiter marks the status word (WAITED) under the lock of its shard, where it leaves its waker; the end swaps the word
//! and, if it was marked, takes the wakers under the same lock. Whoever comes too late to mark finds the word ended.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex};

use crate::id::TransactionId;
use crate::key_lock::{KeyLock, KeyLocks};
use crate::lock::{LockMode, TableLock};
use crate::registry::{LockedThing, Registry, lock};
use crate::status::{Status, StatusTable};

const SHARDS: usize = 16;

/// What a session waits for.
#[derive(Clone)]
pub(crate) enum WaitedFor {
    Transaction(TransactionId),
    Lock(Arc<TableLock>, LockMode),
    /// With the number of the wait.
    Keys(Arc<KeyLocks>, KeyLock, u64),
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

/// Who waits for what, in all databases of a server. An owner waits several times when several of its children do; it goes on
/// when all of them can.
#[derive(Default)]
pub struct WaitGraph {
    waits: Mutex<Waits>,
    owners_dealt: AtomicU64,
}

struct Wait {
    edge: u64,
    waited: WaitedFor,
    /// Of the database that it waits in.
    registry: Arc<Registry>,
}

#[derive(Default)]
struct Waits {
    edges: HashMap<u64, Vec<Wait>>,
    edge_next: u64,
}

impl Waits {
    fn remove(&mut self, owner: u64, edge: u64) {
        if let Some(edges) = self.edges.get_mut(&owner) {
            edges.retain(|wait| wait.edge != edge);
            if edges.is_empty() {
                self.edges.remove(&owner);
            }
        }
    }
}

impl WaitGraph {
    /// A number for a session in the lock and wait tables.
    pub(crate) fn new_owner(&self) -> u64 {
        self.owners_dealt.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// What each owner that waits in the database of `registry` waits for, and how it wants it.
    pub(crate) fn all(&self, registry: &Arc<Registry>) -> HashMap<u64, Vec<(LockedThing, LockMode)>> {
        let waits = lock(&self.waits);
        let thing = |wait: &Wait| match &wait.waited {
            WaitedFor::Transaction(id) => (LockedThing::RowOf(*id), LockMode::X),
            WaitedFor::Lock(table, mode) => (LockedThing::Object(table.object()), *mode),
            WaitedFor::Keys(_, lock, _) => (LockedThing::Keys(lock.object, lock.hash()), lock.mode),
        };
        let here = |wait: &&Wait| Arc::ptr_eq(&wait.registry, registry);
        waits.edges.iter().map(|(owner, edges)| (*owner, edges.iter().filter(here).map(thing).collect())).collect()
    }

    /// One of those that `owner` waits for, whose wait is for keys.
    pub(crate) fn key_blocker(&self, owner: u64) -> Option<u64> {
        let waits = lock(&self.waits);
        let blocker = |wait: &Wait| match &wait.waited {
            WaitedFor::Keys(locks, lock, ticket) => locks.blockers(owner, lock, *ticket).first().copied(),
            WaitedFor::Transaction(_) | WaitedFor::Lock(..) => None,
        };
        waits.edges.get(&owner)?.iter().find_map(blocker)
    }

    /// Draws an edge of `owner`. None: it would close a circle and was not drawn.
    pub(crate) fn draw(&self, owner: u64, waited: WaitedFor, registry: &Arc<Registry>) -> Option<Edge<'_>> {
        let edge = self.begin(owner, waited, registry)?;
        Some(Edge { graph: self, owner, edge })
    }

    /// Draws an edge; its number is for [`WaitGraph::end`].
    fn begin(&self, owner: u64, waited: WaitedFor, registry: &Arc<Registry>) -> Option<u64> {
        let mut waits = lock(&self.waits);
        waits.edge_next += 1;
        let edge = waits.edge_next;
        waits.edges.entry(owner).or_default().push(Wait { edge, waited, registry: registry.clone() });
        let mut seen = Vec::new();
        let mut open = vec![owner];
        while let Some(at) = open.pop() {
            let edges = waits.edges.get(&at).map_or(&[][..], |edges| edges);
            for next in edges.iter().flat_map(|wait| blockers(at, &wait.waited, &wait.registry)) {
                if next == owner {
                    waits.remove(owner, edge);
                    return None;
                }
                if !seen.contains(&next) {
                    seen.push(next);
                    open.push(next);
                }
            }
        }
        Some(edge)
    }

    /// The wait is over.
    fn end(&self, owner: u64, edge: u64) {
        lock(&self.waits).remove(owner, edge);
    }
}

/// An edge of the wait graph, gone when the wait is, cancelled or not.
pub(crate) struct Edge<'g> {
    graph: &'g WaitGraph,
    owner: u64,
    edge: u64,
}

impl Drop for Edge<'_> {
    fn drop(&mut self) {
        self.graph.end(self.owner, self.edge);
    }
}

fn blockers(owner: u64, waited: &WaitedFor, registry: &Registry) -> Vec<u64> {
    match waited {
        WaitedFor::Transaction(id) => registry.owner_of(*id).into_iter().collect(),
        WaitedFor::Lock(table, mode) => {
            let has_some = registry.holds(table.object(), owner);
            let mut owners = table.strong_blockers(owner, *mode, has_some);
            owners.extend(registry.holders(table.object(), *mode, owner));
            owners
        }
        WaitedFor::Keys(locks, lock, ticket) => locks.blockers(owner, lock, *ticket),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_edge_of_a_circle_finds_it() {
        let registry = Arc::new(Registry::new());
        let cells: Vec<_> = (0..3).map(|i| registry.register(1 + i as u64, 51 + i)).collect();
        for (i, cell) in cells.iter().enumerate() {
            cell.id.store(100 + i as u64, Ordering::Relaxed);
        }
        let graph = WaitGraph::default();
        let table = Arc::new(TableLock::new(5));
        lock(&cells[0].held).push((5, LockMode::IX));
        let on = |id| WaitedFor::Transaction(TransactionId(id));
        assert!(graph.begin(cells[0].owner, on(101), &registry).is_some());
        let edge = graph.begin(cells[1].owner, on(102), &registry).expect("no circle");
        let of_table = WaitedFor::Lock(table, LockMode::SchM);
        assert!(graph.begin(cells[2].owner, of_table.clone(), &registry).is_none());
        graph.end(cells[1].owner, edge);
        assert!(graph.begin(cells[2].owner, of_table, &registry).is_some());
    }

    #[test]
    fn a_circle_through_two_databases_is_found() {
        let (one, other) = (Arc::new(Registry::new()), Arc::new(Registry::new()));
        let graph = WaitGraph::default();
        let (a, b) = (graph.new_owner(), graph.new_owner());
        // Each has changed a row of one database, and both go by the same id there.
        let (in_one, in_other) = (one.register(a, 51), other.register(b, 52));
        in_one.id.store(100, Ordering::Relaxed);
        in_other.id.store(100, Ordering::Relaxed);
        let _idle = (other.register(a, 51), one.register(b, 52));
        let on = || WaitedFor::Transaction(TransactionId(100));
        let edge = graph.begin(a, on(), &other).expect("b does not wait yet");
        assert_eq!(graph.begin(b, on(), &one), None);
        assert_eq!((graph.all(&other)[&a].len(), graph.all(&one)[&a].len()), (1, 0));
        graph.end(a, edge);
        assert!(graph.begin(b, on(), &one).is_some());
    }
}
