//! Waiting for another transaction, and finding those who wait for each other.
//!
//! ```text
//!   session 51 --waits for--> end of 130 --run by--> session 52 --waits for--> lock on t --held by--> session 51 : deadlock
//! ```
//!
//! A row's lock is its writer's id, so waiting for a row is waiting for the end of that transaction.
//!
//! # The graph has no edges of its own
//! It lists the waits. Who is in the way of one is asked of the lock it is for, at the moment of the search: the list of a
//! table lock, the list of an object's keys, the sessions' cells. So nothing is stored that a grant, a release or another wait
//! could make untrue.
//!
//! # Every circle is found by the last wait that comes to it
//! A wait enters the list of its lock, and the graph, and the circles through its owner are searched: one step, under the mutex
//! of the graph. The edges of a circle come into being when
//!
//! | event | why its circle is found |
//! |---|---|
//! | a wait enters, and so waits for others, and others for it | its own search sees all of that |
//! | a session that does not wait comes to hold something | it has no edge out; when it waits, that wait's search sees what it holds |
//! | one of a family holds something while another of it waits | [`WaitGraph::look_again`] searches |
//! | a wait is granted | it has no edge out from the same step on; as the two above |
//! | something is released, a wait is left | no edge comes into being |
//!
//! A search reads one lock after the other. It sees no circle that is none: a session of the graph that waits throughout has
//! done nothing in between, and no session that does not wait is part of a circle. [`WaitGraph::search`] looks at all waits, as
//! a backstop.
//!
//! # The victim
//! is of the circle's sessions the one with the lowest DEADLOCK_PRIORITY, of these the one that has logged least, and then the
//! one whose wait is youngest. Its wait is marked, has no edges any more, and ends with [`TransactionError::Deadlock`].
//!
//! The databases of a server share one graph: a session that is in several of them has one number in all, and each wait says in
//! which of them it is.
//!
//! # No end is missed
//! A waiter marks the status word (WAITED) under the lock of its shard, where it leaves its waker; the end swaps the word
//! and, if it was marked, takes the wakers under the same lock. Whoever comes too late to mark finds the word ended.

use std::collections::{HashMap, HashSet};
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use pikepole_contention::fault::planted;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, Mutex, OnceLock};
use pikepole_contention::{Counter, WaitType};
use pikepole_machine::clock;
use pikepole_scheduler as scheduler;

use crate::deadlock::{Deadlock, DeadlockProcess, Standing};
use crate::error::TransactionError;
use crate::id::TransactionId;
use crate::key_lock::KeyLock;
use crate::lock::{Blocker, LockMode, TableLock};
use crate::registry::{LockedThing, Registry, lock};
use crate::status::{Status, StatusTable};
use crate::transactions::Transactions;

const SHARDS: usize = 16;

/// What a session wants to wait for.
#[derive(Clone)]
pub(crate) enum WaitedFor {
    Transaction(TransactionId),
    /// With the modes in which its owner holds the lock already.
    Lock(Arc<TableLock>, LockMode, Vec<LockMode>),
    Keys(KeyLock),
}

impl WaitedFor {
    /// Enters the lock's own list: the number there.
    fn enter(&self, owner: u64, home: &Transactions) -> u64 {
        match self {
            WaitedFor::Transaction(_) => 0,
            WaitedFor::Lock(table, mode, own) => table.enter(owner, own, *mode),
            WaitedFor::Keys(keys) => home.keys.enter(owner, keys),
        }
    }

    fn leave(&self, ticket: u64, home: &Transactions) {
        match self {
            WaitedFor::Transaction(_) => (),
            WaitedFor::Lock(table, ..) => table.leave(ticket),
            WaitedFor::Keys(keys) => home.keys.leave(keys.object, ticket),
        }
    }

    fn thing(&self) -> (LockedThing, LockMode) {
        match self {
            WaitedFor::Transaction(id) => (LockedThing::RowOf(*id), LockMode::X),
            WaitedFor::Lock(table, mode, _) => (LockedThing::Object(table.object()), *mode),
            WaitedFor::Keys(keys) => (LockedThing::Keys(keys.object, keys.hash()), keys.mode),
        }
    }
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
    observer: OnceLock<Observer>,
}

/// Hears of each deadlock before its victim does.
type Observer = Box<dyn Fn(&Deadlock) + Send + Sync>;

/// How a search ends a wait.
#[derive(Default)]
struct Verdict {
    state: Mutex<VerdictState>,
}

#[derive(Default)]
struct VerdictState {
    is_doomed: bool,
    waker: Option<Waker>,
}

impl Verdict {
    fn doom(&self) {
        let mut state = lock(&self.state);
        state.is_doomed = true;
        let waker = state.waker.take();
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Whether the wait is to end; if not, `context` is woken when it is.
    fn poll_doomed(&self, context: &mut Context<'_>) -> bool {
        let mut state = lock(&self.state);
        if !state.is_doomed && !state.waker.as_ref().is_some_and(|waker| waker.will_wake(context.waker())) {
            state.waker = Some(context.waker().clone());
        }
        state.is_doomed
    }
}

struct Wait {
    /// Later ones have higher numbers.
    number: u64,
    waited: WaitedFor,
    /// In the list of the lock.
    ticket: u64,
    /// Of the database that it waits in.
    home: Arc<Transactions>,
    standing: Standing,
    since_us: u64,
    verdict: Arc<Verdict>,
    /// A victim: it waits for nobody any more.
    is_chosen: bool,
}

impl Wait {
    /// Who is in the way of it, at this moment.
    fn blockers(&self, owner: u64) -> Vec<Blocker> {
        if self.is_chosen {
            return Vec::new();
        }
        match &self.waited {
            WaitedFor::Transaction(id) => {
                let is_active = matches!(self.home.status.status(*id), Status::Active);
                let holder = self.home.registry.owner_of(*id).filter(|holder| is_active && *holder != owner);
                holder.map(|owner| Blocker { owner, mode: LockMode::X, is_holder: true }).into_iter().collect()
            }
            WaitedFor::Lock(table, mode, _) => {
                let Some(mut blockers) = table.blockers(self.ticket) else {
                    // It was granted, and its task has not run since.
                    return Vec::new();
                };
                if !mode.is_weak() {
                    blockers.extend(self.home.registry.weak_holders(table.address(), *mode, owner));
                }
                blockers
            }
            WaitedFor::Keys(keys) => self.home.keys.blockers(keys.object, self.ticket).unwrap_or_default(),
        }
    }
}

/// An edge of the graph as a search has found it: a wait of `owner` for another owner.
#[derive(Clone, Copy)]
struct Link {
    owner: u64,
    number: u64,
    blocker: Blocker,
}

#[derive(Default)]
struct Waits {
    by_owner: HashMap<u64, Vec<Wait>>,
    number_next: u64,
}

impl Waits {
    fn of(&self, owner: u64) -> &[Wait] {
        self.by_owner.get(&owner).map_or(&[], |waits| waits)
    }

    fn find(&self, owner: u64, number: u64) -> Option<&Wait> {
        self.of(owner).iter().find(|wait| wait.number == number)
    }

    fn remove(&mut self, owner: u64, number: u64) -> Option<Wait> {
        let waits = self.by_owner.get_mut(&owner)?;
        let at = waits.iter().position(|wait| wait.number == number)?;
        let wait = waits.swap_remove(at);
        if waits.is_empty() {
            self.by_owner.remove(&owner);
        }
        Some(wait)
    }

    /// The edges out of `owner`, at this moment.
    fn links(&self, owner: u64) -> Vec<Link> {
        let of_wait = |wait: &Wait| {
            let number = wait.number;
            wait.blockers(owner).into_iter().map(move |blocker| Link { owner, number, blocker })
        };
        self.of(owner).iter().flat_map(of_wait).collect()
    }

    /// A circle of waits through `owner`, if there is one; `links` gives the edges out of an owner.
    fn circle_through(owner: u64, mut links: impl FnMut(u64) -> Vec<Link>) -> Option<Vec<Link>> {
        let mut reached: HashMap<u64, Link> = HashMap::new();
        let mut open = vec![owner];
        while let Some(at) = open.pop() {
            for link in links(at) {
                let next = link.blocker.owner;
                if next == owner {
                    let mut circle = vec![link];
                    while circle[circle.len() - 1].owner != owner {
                        circle.push(reached[&circle[circle.len() - 1].owner]);
                    }
                    circle.reverse();
                    return Some(circle);
                }
                reached.entry(next).or_insert_with(|| {
                    open.push(next);
                    link
                });
            }
        }
        None
    }

    /// Chooses a victim for each circle through `owner`.
    fn end_circles_through(&mut self, owner: u64, by_monitor: bool) -> Vec<Found> {
        let mut found = Vec::new();
        while let Some(circle) = Waits::circle_through(owner, |at| self.links(at)) {
            let Some(chosen) = self.choose(&circle, by_monitor) else {
                break;
            };
            found.push(chosen);
        }
        found
    }

    /// Chooses the victim of a circle. None: it is of waits that are not there.
    fn choose(&mut self, circle: &[Link], by_monitor: bool) -> Option<Found> {
        let now_us = clock::now_us();
        let process = |link: &Link| {
            let wait = self.find(link.owner, link.number)?;
            let (id, logged) = wait.home.registry.of_owner(link.owner);
            let (thing, wanted) = wait.waited.thing();
            Some(DeadlockProcess {
                standing: wait.standing,
                transaction: id,
                log_bytes: wait.standing.elsewhere_bytes + logged,
                waited_us: now_us.saturating_sub(wait.since_us),
                home: Arc::clone(&wait.home),
                thing,
                wanted,
                held: link.blocker.mode,
                is_held: link.blocker.is_holder,
                number: wait.number,
            })
        };
        let processes = circle.iter().map(process).collect::<Option<Vec<DeadlockProcess>>>()?;
        let rank = |process: &DeadlockProcess| {
            (process.standing.priority, process.log_bytes, std::cmp::Reverse(process.number))
        };
        let victim = (0..processes.len()).min_by_key(|at| rank(&processes[*at]))?;
        let Link { owner, number, .. } = circle[victim];
        let wait = self.by_owner.get_mut(&owner)?.iter_mut().find(|wait| wait.number == number)?;
        wait.is_chosen = true;
        wait.home.statistics.add(Counter::Deadlocks, 1);
        let verdict = Arc::clone(&wait.verdict);
        Some(Found { deadlock: Deadlock { processes, victim, by_monitor }, verdict })
    }
}

/// A deadlock whose victim has not been woken yet.
struct Found {
    deadlock: Deadlock,
    verdict: Arc<Verdict>,
}

impl WaitGraph {
    /// A number for a session in the lock and wait tables.
    pub(crate) fn new_owner(&self) -> u64 {
        self.owners_dealt.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Has `observer` hear of each deadlock from now on, before its victim does. Only the first call counts.
    pub fn observe(&self, observer: impl Fn(&Deadlock) + Send + Sync + 'static) {
        let _ = self.observer.set(Box::new(observer));
    }

    /// What each owner that waits in the database of `registry` waits for, and how it wants it.
    pub(crate) fn all(&self, registry: &Arc<Registry>) -> HashMap<u64, Vec<(LockedThing, LockMode)>> {
        let waits = lock(&self.waits);
        let here = |wait: &&Wait| Arc::ptr_eq(&wait.home.registry, registry);
        let of_owner = |(owner, waits): (&u64, &Vec<Wait>)| {
            (*owner, waits.iter().filter(here).map(|wait| wait.waited.thing()).collect())
        };
        waits.by_owner.iter().map(of_owner).collect()
    }

    /// One of those that `owner` waits for, whose wait is for keys.
    pub(crate) fn key_blocker(&self, owner: u64) -> Option<u64> {
        let waits = lock(&self.waits);
        let for_keys = waits.of(owner).iter().filter(|wait| matches!(wait.waited, WaitedFor::Keys(_)));
        for_keys.flat_map(|wait| wait.blockers(owner)).map(|blocker| blocker.owner).next()
    }

    /// Begins a wait: puts it into the list of its lock and into the graph, and ends the circles that it closes.
    ///
    /// # Errors
    /// Deadlock: its owner is the victim of one.
    pub(crate) fn begin(
        self: &Arc<Self>,
        owner: u64,
        waited: WaitedFor,
        home: &Arc<Transactions>,
        standing: Standing,
    ) -> Result<Edge, TransactionError> {
        let verdict = Arc::<Verdict>::default();
        let mut waits = lock(&self.waits);
        let ticket = waited.enter(owner, home);
        waits.number_next += 1;
        let number = waits.number_next;
        let (kept, since_us) = (waited.clone(), clock::now_us());
        let wait = Wait {
            number,
            waited: kept,
            ticket,
            home: Arc::clone(home),
            standing,
            since_us,
            verdict: Arc::clone(&verdict),
            is_chosen: false,
        };
        waits.by_owner.entry(owner).or_default().push(wait);
        let found = if planted("looks_for_no_circle") { Vec::new() } else { waits.end_circles_through(owner, false) };
        if planted("enters_list_late") {
            waited.leave(ticket, home);
        }
        drop(waits);
        let mut edge = Edge { graph: Arc::clone(self), owner, number, ticket, waited, home: Arc::clone(home), verdict };
        self.tell(found);
        if lock(&edge.verdict.state).is_doomed {
            return Err(TransactionError::Deadlock);
        }
        if planted("enters_list_late") {
            edge.enter_late();
        }
        Ok(edge)
    }

    /// Looks for circles through an owner that has come to hold something while another of its transactions may wait.
    #[cold]
    pub(crate) fn look_again(&self, owner: u64) {
        let mut waits = lock(&self.waits);
        if waits.of(owner).is_empty() || planted("families_look_once") {
            return;
        }
        let found = waits.end_circles_through(owner, false);
        drop(waits);
        self.tell(found);
    }

    /// Looks for circles among all waits and ends them: how many there were.
    pub fn search(&self) -> usize {
        let mut waits = lock(&self.waits);
        let blockers = |owner: &u64| waits.links(*owner).into_iter().map(|link| link.blocker.owner).collect();
        let mut waiting: HashMap<u64, HashSet<u64>> = waits.by_owner.keys().map(|o| (*o, blockers(o))).collect();
        // Who waits for nobody that waits is in no circle. The usual case ends here.
        loop {
            let suspects: HashSet<u64> = waiting.keys().copied().collect();
            waiting.retain(|_, blockers| !blockers.is_disjoint(&suspects));
            if waiting.len() == suspects.len() {
                break;
            }
        }
        let found: Vec<Found> = waiting.keys().flat_map(|o| waits.end_circles_through(*o, true)).collect();
        drop(waits);
        let count = found.len();
        self.tell(found);
        count
    }

    /// Has the observer hear of deadlocks, then wakes their victims.
    fn tell(&self, found: Vec<Found>) {
        for Found { deadlock, verdict } in found {
            if let Some(observer) = self.observer.get() {
                observer(&deadlock);
            }
            verdict.doom();
        }
    }
}

/// A wait that is in the graph, and in the list of its lock; gone from both when it is over, cancelled or not.
pub(crate) struct Edge {
    graph: Arc<WaitGraph>,
    owner: u64,
    number: u64,
    ticket: u64,
    waited: WaitedFor,
    home: Arc<Transactions>,
    verdict: Arc<Verdict>,
}

impl Edge {
    /// Its number in the list of the lock.
    pub fn ticket(&self) -> u64 {
        self.ticket
    }

    /// Awaits what it is for, unless it becomes a victim.
    ///
    /// # Errors
    /// Deadlock.
    pub async fn awaited<F: Future>(&self, wait_type: WaitType, future: F) -> Result<F::Output, TransactionError> {
        let mut future = std::pin::pin!(future);
        let unless_doomed = std::future::poll_fn(|context| {
            if self.verdict.poll_doomed(context) {
                return Poll::Ready(Err(TransactionError::Deadlock));
            }
            future.as_mut().poll(context).map(Ok)
        });
        scheduler::wait(wait_type, unless_doomed).await
    }

    /// The fault of a model: the list is entered when the search is over.
    fn enter_late(&mut self) {
        self.ticket = self.waited.enter(self.owner, &self.home);
        let mut waits = lock(&self.graph.waits);
        let own = waits.by_owner.get_mut(&self.owner).into_iter().flatten();
        own.filter(|wait| wait.number == self.number).for_each(|wait| wait.ticket = self.ticket);
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        // First, so that nobody waits behind a wait which is not in the graph.
        self.waited.leave(self.ticket, &self.home);
        lock(&self.graph.waits).remove(self.owner, self.number);
    }
}

#[cfg(test)]
mod tests;
