//! The memory of a server: one limit, clerks who say what has it, and the question who may take more.
//!
//! ```text
//!                     limit
//!   0 ---------------------------------------------------------------------------->
//!   | heap | log rings | frames of buffer pools ...      | ask()      | small things |
//!                                               caches stop ^    asks end ^
//! ```
//! - Caches (frames, plans) take what is free up to three quarters of the limit.
//! - What stays when its statement is over, such as rows of tables in memory, has the room of caches, which give way to it
//!   ([`ask_to_keep`]).
//! - Who is about to make something large asks first ([`ask`]): caches give way, and when that is not enough the answer is no.
//! - Small things are not asked for. The allocator counts them; when they pass the alarm, statements look at their next stop
//!   ([`is_pressed`], [`Budget::relieve`]) and those that hold much end. The last eighth is kept for the others.
//!
//! What the process really has is read from the system now and then ([`Budget::look`]): stacks, and what the allocator
//! keeps for later, count too. Memory that is promised may be in the heap already and not yet touched, so that the system
//! does not show it: a look takes it from what it compares with.
//!
//! Invariants
//! - what a clerk counts is outside the heap, or is a part of it that views name: nothing counts twice;
//! - a cache gives way without waiting: the thread that needs memory asks it, whatever that thread holds;
//! - what is large is granted to one thread at a time, after a look: two never get the same room.

#[cfg(debug_assertions)]
mod audit;
mod heap;
mod limit;

use std::cell::{Cell, RefCell};
use std::sync::{Arc, PoisonError, Weak};

use pikepole_contention::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard, OnceLock};

use crate::SystemFiles;
use crate::clock;

#[cfg(debug_assertions)]
pub use audit::audit_to;
pub use heap::{
    CountingAllocator, LARGE, TaskHeap, count_block, for_others, forget_task_heap, hand_over, heap_bytes, is_pressed,
    task_heap, turn_begins,
};
pub use limit::{LimitSource, MemoryLimit};

macro_rules! clerks {
    ($($name:ident $type:literal $description:literal)*) => {
        /// The owners of memory outside the heap.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Clerk {
            $(#[doc = $description] $name,)*
        }

        impl Clerk {
            /// All of them.
            pub const ALL: &[Clerk] = &[$(Clerk::$name),*];

            /// The name in `sys.dm_os_memory_clerks`.
            pub fn type_name(self) -> &'static str {
                match self { $(Clerk::$name => $type,)* }
            }
        }
    };
}

clerks! {
    BufferPool "MEMORYCLERK_SQLBUFFERPOOL" "Frames of buffer pools that have memory."
    LogPool "MEMORYCLERK_SQLLOGPOOL" "Rings of the logs, as far as they were used."
}

/// The name of the clerk for the parts of the heap that no other one counts.
pub const GENERAL_CLERK: &str = "MEMORYCLERK_SQLGENERAL";
/// The name of the clerk for compiled texts, a part of the heap.
pub const PLAN_CLERK: &str = "CACHESTORE_SQLCP";
/// The name of the clerk for what statements sort and hash in, a part of the heap.
pub const WORKSPACE_CLERK: &str = "MEMORYCLERK_SQLQERESERVATIONS";

/// The name of the clerk for the rows and indexes of tables in memory, a part of the heap.
pub const XTP_CLERK: &str = "MEMORYCLERK_XTP";

/// Sizes below this are made without asking.
pub const ASK_BYTES: usize = 64 << 10;

/// The part of the limit that only small things may use, and how much that is at most.
const RESERVE_PART: u64 = 8;
const RESERVE_BYTES_MAX: u64 = 512 << 20;
/// The part of the limit that caches leave free, and how much that is at most.
const CACHE_PART: u64 = 4;
const CACHE_BYTES_MAX: u64 = 1 << 30;
/// The part of the limit that a statement holds at least when it is ended to relieve others.
const MUCH_PART: u64 = 64;
/// Bytes that are asked for between two looks at the process's account.
const LOOK_BYTES: u64 = 1 << 20;

/// Bytes beyond what is counted that are worth the time that giving back takes, and how often that may be for the same bytes.
const KEPT_BYTES: u64 = 16 << 20;
const GIVE_BACK_EVERY_US: u64 = 200_000;

/// Passes through the caches to make room for one ask.
const PASSES_MAX: usize = 8;

/// Hundredths of the limit that one session has at most in large blocks.
pub const SESSION_SHARE_PERCENT: u64 = 40;

/// There is not enough memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused;

/// Gives memory back when others need it.
pub trait Cache: Send + Sync {
    /// Bytes that it has.
    fn bytes(&self) -> u64;

    /// Gives back about so many bytes, without waiting for anything; how many it gave.
    fn give_way(&self, bytes: u64) -> u64;
}

/// The memory of a server.
pub struct Budget {
    limit: AtomicU64,
    /// Bytes of the server below which caches give nothing back.
    floor: AtomicU64,
    /// Bytes outside the heap, by clerk.
    mapped: [AtomicI64; Clerk::ALL.len()],
    /// Bytes that were asked for and may not be taken yet.
    promised: AtomicI64,
    /// Bytes that the process has beyond what is counted, and those that were promised then, as of the last look.
    uncounted: AtomicU64,
    promised_at_look: AtomicI64,
    /// The heap as of the last look, where the allocator does not count.
    looked_heap: AtomicU64,
    asked_since_look: AtomicU64,
    /// When the allocator gave back what it kept.
    gave_back_us: AtomicU64,
    /// Bytes beyond what is counted that it could not give back then.
    kept_at_least: AtomicU64,
    refusals: AtomicU64,
    given_way: AtomicU64,
    caches: Mutex<Vec<Weak<dyn Cache>>>,
    /// Held while something large is granted.
    granting: Mutex<()>,
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("limit", &self.limit()).field("used", &self.used()).finish_non_exhaustive()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A panic elsewhere leaves these lists whole: each is changed by single calls.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Budget>>> = const { RefCell::new(None) };
    /// Bytes that this thread has asked for last and may not have taken yet.
    static PROMISE: Cell<i64> = const { Cell::new(0) };
}

/// Notes the budget that this thread's asks are answered from; for who starts the thread.
pub fn set_budget(budget: Option<Arc<Budget>>) {
    CURRENT.with(|current| *current.borrow_mut() = budget);
}

/// The budget that this thread's asks are answered from.
pub fn budget() -> Option<Arc<Budget>> {
    CURRENT.with(|current| current.borrow().clone())
}

/// Asks for memory for something large that is about to be made. Small sizes are always granted.
///
/// # Errors
/// When the server or the session has no more, also after caches have given way.
#[inline]
pub fn ask(bytes: usize) -> Result<(), Refused> {
    if bytes < ASK_BYTES { Ok(()) } else { ask_large(bytes) }
}

/// Asks for memory that stays when the statement is over: data, not work. Callers add small sizes up to [`ASK_BYTES`] before they ask.
///
/// # Errors
/// When caches have no more to give, and the rest is for statements to work in.
#[cold]
pub fn ask_to_keep(bytes: usize) -> Result<(), Refused> {
    CURRENT.with(|current| match &*current.borrow() {
        Some(budget) => budget.keep(bytes as u64),
        None => Ok(()),
    })
}

#[cold]
fn ask_large(bytes: usize) -> Result<(), Refused> {
    CURRENT.with(|current| match &*current.borrow() {
        Some(budget) => budget.take(bytes as u64),
        None => Ok(()),
    })
}

/// Looks at something that grows by small steps without being asked for: the task had `since` bytes of the heap when it began.
///
/// # Errors
/// As of [`ask`].
pub fn look_at_growth(since: i64) -> Result<(), Refused> {
    CURRENT.with(|current| match &*current.borrow() {
        Some(budget) => budget.look_at_growth(since),
        None => Ok(()),
    })
}

/// A statement that holds so many bytes stops for a moment: see [`Budget::relieve`].
///
/// # Errors
/// As of that.
pub fn relieve(held: i64) -> Result<(), Refused> {
    CURRENT.with(|current| match &*current.borrow() {
        Some(budget) => budget.relieve(held),
        None => Ok(()),
    })
}

/// The present turn of a task is over: what it has asked for is taken by now, or will not be.
#[inline]
pub fn turn_ends() -> TaskHeap {
    if PROMISE.get() != 0 {
        keep_promise();
    }
    task_heap()
}

#[cold]
fn keep_promise() {
    let promised = PROMISE.take();
    CURRENT.with(|current| {
        if let Some(budget) = &*current.borrow() {
            budget.promised.fetch_sub(promised, Ordering::Relaxed);
            // The last look may have met it untouched, and taken it for room.
            budget.look_if_due(promised as u64);
        }
    });
}

/// The alarms of the process's budgets, by their addresses.
static ALARMS: OnceLock<Mutex<Vec<(usize, i64)>>> = OnceLock::new();

fn set_alarm(budget: usize, bytes: Option<i64>) {
    let mut alarms = lock(ALARMS.get_or_init(Mutex::default));
    alarms.retain(|(known, _)| *known != budget);
    alarms.extend(bytes.map(|bytes| (budget, bytes)));
    heap::set_alarm(alarms.iter().map(|(_, bytes)| *bytes).min().unwrap_or(i64::MAX));
}

impl Drop for Budget {
    fn drop(&mut self) {
        set_alarm(std::ptr::from_ref(self).addr(), None);
    }
}

impl Budget {
    /// Of which nothing is taken.
    pub fn new(limit: u64) -> Arc<Budget> {
        let budget = Arc::new(Budget {
            limit: AtomicU64::new(limit.max(1)),
            floor: AtomicU64::new(0),
            mapped: std::array::from_fn(|_| AtomicI64::new(0)),
            promised: AtomicI64::new(0),
            uncounted: AtomicU64::new(0),
            promised_at_look: AtomicI64::new(0),
            looked_heap: AtomicU64::new(0),
            asked_since_look: AtomicU64::new(LOOK_BYTES),
            gave_back_us: AtomicU64::new(0),
            kept_at_least: AtomicU64::new(0),
            refusals: AtomicU64::new(0),
            given_way: AtomicU64::new(0),
            caches: Mutex::default(),
            granting: Mutex::default(),
        });
        budget.set_limits(limit, 0);
        budget
    }

    /// Changes the limit, and the size below which caches give nothing back. What is above the limit is given back as caches can.
    pub fn set_limits(&self, limit: u64, floor: u64) {
        self.limit.store(limit.max(1), Ordering::Relaxed);
        self.floor.store(floor.min(limit), Ordering::Relaxed);
        self.tell_alarm();
        self.balance();
    }

    /// Bytes that the server has at most.
    pub fn limit(&self) -> u64 {
        self.limit.load(Ordering::Relaxed)
    }

    /// Bytes up to which asks are granted.
    fn most(&self) -> u64 {
        let limit = self.limit();
        limit - (limit / RESERVE_PART).min(RESERVE_BYTES_MAX)
    }

    /// Bytes up to which caches grow.
    pub fn caches_most(&self) -> u64 {
        let limit = self.limit();
        limit - (limit / CACHE_PART).min(CACHE_BYTES_MAX)
    }

    /// Bytes of the heap.
    pub fn heap(&self) -> u64 {
        heap_bytes().unwrap_or_else(|| self.looked_heap.load(Ordering::Relaxed))
    }

    /// Bytes of a clerk.
    pub fn mapped(&self, clerk: Clerk) -> u64 {
        u64::try_from(self.mapped[clerk as usize].load(Ordering::Relaxed)).unwrap_or(0)
    }

    /// Bytes that the process has beyond what clerks and heap count, as of the last look.
    pub fn uncounted(&self) -> u64 {
        self.uncounted.load(Ordering::Relaxed)
    }

    /// Bytes that the server has.
    pub fn used(&self) -> u64 {
        let mapped: u64 = Clerk::ALL.iter().map(|clerk| self.mapped(*clerk)).sum();
        // What was promised at the look counts there.
        let promised = self.promised.load(Ordering::Relaxed) - self.promised_at_look.load(Ordering::Relaxed);
        self.heap() + mapped + self.uncounted() + u64::try_from(promised).unwrap_or(0)
    }

    /// Asks that were refused, and bytes that caches have given back.
    pub fn totals(&self) -> (u64, u64) {
        (self.refusals.load(Ordering::Relaxed), self.given_way.load(Ordering::Relaxed))
    }

    /// Counts bytes of a clerk that are taken whatever the limit; negative ones are given back.
    pub fn map(&self, clerk: Clerk, bytes: i64) {
        if bytes != 0 {
            self.mapped[clerk as usize].fetch_add(bytes, Ordering::Relaxed);
            self.tell_alarm();
        }
    }

    /// Says what a clerk has altogether.
    pub fn set_mapped(&self, clerk: Clerk, bytes: u64) {
        self.mapped[clerk as usize].store(i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
        self.tell_alarm();
    }

    fn tell_alarm(&self) {
        let mapped: u64 = Clerk::ALL.iter().map(|clerk| self.mapped(*clerk)).sum();
        let alarm = self.most().saturating_sub(mapped + self.uncounted());
        set_alarm(std::ptr::from_ref(self).addr(), Some(i64::try_from(alarm).unwrap_or(i64::MAX)));
    }

    /// Adds a cache to those who give way.
    pub fn add_cache(&self, cache: Weak<dyn Cache>) {
        let mut caches = lock(&self.caches);
        caches.retain(|known| known.strong_count() > 0);
        caches.push(cache);
    }

    /// The caches, the largest first.
    fn caches(&self) -> Vec<(u64, Arc<dyn Cache>)> {
        let caches: Vec<Arc<dyn Cache>> = lock(&self.caches).iter().filter_map(Weak::upgrade).collect();
        let mut caches: Vec<(u64, Arc<dyn Cache>)> = caches.into_iter().map(|cache| (cache.bytes(), cache)).collect();
        caches.sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
        caches
    }

    /// Has caches give back so many bytes; how many they gave.
    fn make_way(&self, bytes: u64) -> u64 {
        let above_floor = self.used().saturating_sub(self.floor.load(Ordering::Relaxed));
        let wanted = bytes.min(above_floor);
        let mut given = 0;
        for (_, cache) in self.caches() {
            if given >= wanted {
                break;
            }
            given += cache.give_way(wanted - given);
        }
        self.given_way.fetch_add(given, Ordering::Relaxed);
        given
    }

    /// Lets a cache that has `own` bytes take so many more. One that has less than half of the largest takes from that.
    pub fn grow_cache(&self, clerk: Clerk, bytes: u64, own: u64) -> bool {
        let fits = || self.used() + bytes <= self.caches_most();
        if !fits() {
            let Some((most, largest)) = self.caches().into_iter().next() else { return false };
            if most / 2 <= own + bytes || largest.give_way(bytes) < bytes || !fits() {
                return false;
            }
        }
        self.map(clerk, bytes as i64);
        true
    }

    /// See [`ask`].
    fn take(&self, bytes: u64) -> Result<(), Refused> {
        // What this thread has asked for before is taken by now, or will not be.
        keep_promise();
        let _turn = (bytes >= LOOK_BYTES).then(|| lock(&self.granting));
        self.look_if_due(bytes);
        let own = u64::try_from(task_heap().large).unwrap_or(0);
        if own.saturating_add(bytes) > self.session_share() || !self.has_room(bytes) {
            self.refusals.fetch_add(1, Ordering::Relaxed);
            return Err(Refused);
        }
        let promise = i64::try_from(bytes).unwrap_or(i64::MAX);
        self.promised.fetch_add(promise, Ordering::Relaxed);
        PROMISE.set(promise);
        #[cfg(debug_assertions)]
        audit::granted(promise);
        Ok(())
    }

    /// See [`ask_to_keep`].
    fn keep(&self, bytes: u64) -> Result<(), Refused> {
        self.look_if_due(bytes);
        if self.has_room_below(self.caches_most(), bytes) {
            return Ok(());
        }
        self.refusals.fetch_add(1, Ordering::Relaxed);
        Err(Refused)
    }

    /// True when so many bytes more are there, after caches have given way.
    pub fn has_room(&self, bytes: u64) -> bool {
        self.has_room_below(self.most(), bytes)
    }

    fn has_room_below(&self, most: u64, bytes: u64) -> bool {
        let missing = || (self.used().saturating_add(bytes)).saturating_sub(most);
        if missing() == 0 {
            return true;
        }
        // A cache may find more to give the next time: others free what it could not, or had just taken what it gave up.
        for _ in 0..PASSES_MAX {
            if missing() == 0 || self.make_way(missing()) == 0 {
                break;
            }
        }
        if missing() > 0 && self.uncounted() > KEPT_BYTES {
            self.give_back();
        }
        missing() == 0
    }

    /// Has the allocator give back what was freed between blocks in use, unless it did a moment ago.
    fn give_back(&self) {
        let (now, last) = (clock::now_us(), self.gave_back_us.load(Ordering::Relaxed));
        let has_grown = self.uncounted() > self.kept_at_least.load(Ordering::Relaxed) + KEPT_BYTES;
        let is_due = has_grown || now.saturating_sub(last) > GIVE_BACK_EVERY_US;
        // One thread does it; those that come too early do not put it off.
        if is_due && self.gave_back_us.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            crate::allocator::give_small_blocks_back();
            self.look(&SystemFiles::below("/"));
            self.kept_at_least.store(self.uncounted(), Ordering::Relaxed);
        }
    }

    /// A statement of a task that holds so many bytes stops for a moment while memory is short.
    ///
    /// # Errors
    /// When caches cannot help and the statement holds much.
    pub fn relieve(&self, held: i64) -> Result<(), Refused> {
        self.look_if_due(LOOK_BYTES);
        if self.has_room(0) {
            heap::set_pressed(false);
            return Ok(());
        }
        let held = u64::try_from(held.max(task_heap().large)).unwrap_or(0);
        if held < self.limit() / MUCH_PART {
            return Ok(());
        }
        self.refusals.fetch_add(1, Ordering::Relaxed);
        Err(Refused)
    }

    /// See [`look_at_growth`].
    fn look_at_growth(&self, since: i64) -> Result<(), Refused> {
        self.look_if_due(ASK_BYTES as u64);
        let grown = u64::try_from(task_heap().all - since).unwrap_or(0);
        if grown <= self.session_share() && self.has_room(0) {
            return Ok(());
        }
        if grown < ASK_BYTES as u64 && heap_bytes().is_some() {
            // Others have it all; this one takes little.
            return Ok(());
        }
        self.refusals.fetch_add(1, Ordering::Relaxed);
        Err(Refused)
    }

    /// Bytes that one session has at most in large blocks.
    pub fn session_share(&self) -> u64 {
        self.limit() / 100 * SESSION_SHARE_PERCENT
    }

    /// The system is asked when much may have been taken since.
    fn look_if_due(&self, bytes: u64) {
        if self.asked_since_look.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) >= LOOK_BYTES {
            self.look(&SystemFiles::below("/"));
        }
    }

    /// Reads what the process really has.
    pub fn look(&self, files: &SystemFiles) {
        self.asked_since_look.store(0, Ordering::Relaxed);
        let Some(private) = private_bytes(files) else { return };
        // Rings are shared memory; frames are private.
        let frames = self.mapped(Clerk::BufferPool);
        let promised = self.promised.load(Ordering::Relaxed);
        let most = private + u64::try_from(promised).unwrap_or(0);
        match heap_bytes() {
            Some(heap) => self.uncounted.store(most.saturating_sub(heap + frames), Ordering::Relaxed),
            None => self.looked_heap.store(most.saturating_sub(frames), Ordering::Relaxed),
        }
        self.promised_at_look.store(promised, Ordering::Relaxed);
        heap::looked();
        self.tell_alarm();
    }

    /// Has caches give way when they have more than is theirs now.
    pub fn balance(&self) {
        let above = self.used().saturating_sub(self.caches_most());
        if above > 0 {
            self.make_way(above);
        }
        if self.used() <= self.most() {
            heap::set_pressed(false);
        }
    }
}

/// Bytes of memory of the process's own: resident, and neither of files nor shared.
pub fn private_bytes(files: &SystemFiles) -> Option<u64> {
    let text = files.read("proc/self/statm")?;
    let mut pages = text.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (pages.next()?.ok()?, pages.next()?.ok()?);
    Some(resident.saturating_sub(shared) * crate::BLOCK as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_contention::sync::atomic::AtomicU64;

    /// A cache that gives at most so many bytes at a time.
    struct Spare(AtomicU64, Weak<Budget>, u64);

    impl Cache for Spare {
        fn bytes(&self) -> u64 {
            self.0.load(Ordering::Relaxed)
        }

        fn give_way(&self, bytes: u64) -> u64 {
            let given = bytes.min(self.bytes()).min(self.2);
            self.0.fetch_sub(given, Ordering::Relaxed);
            if let Some(budget) = self.1.upgrade() {
                budget.map(Clerk::BufferPool, -(given as i64));
            }
            given
        }
    }

    fn spare(budget: &Arc<Budget>) -> Arc<Spare> {
        spare_of(budget, u64::MAX)
    }

    fn spare_of(budget: &Arc<Budget>, at_a_time: u64) -> Arc<Spare> {
        let cache = Arc::new(Spare(AtomicU64::new(0), Arc::downgrade(budget), at_a_time));
        let weak: Weak<Spare> = Arc::downgrade(&cache);
        budget.add_cache(weak);
        cache
    }

    const MB: u64 = 1 << 20;

    /// What the process of this test has anyway is within the limit.
    fn budget() -> Arc<Budget> {
        Budget::new(16 << 30)
    }

    #[test]
    fn caches_fill_what_is_free_and_give_way() {
        let budget = budget();
        let (first, second) = (spare(&budget), spare(&budget));
        while budget.grow_cache(Clerk::BufferPool, 256 * MB, first.bytes()) {
            first.0.fetch_add(256 * MB, Ordering::Relaxed);
        }
        let filled = first.bytes();
        assert!(filled > 13 << 30 && budget.used() <= budget.caches_most(), "{budget:?}");
        assert!(budget.grow_cache(Clerk::BufferPool, 256 * MB, 0), "one that has nothing takes from the largest");
        second.0.fetch_add(256 * MB, Ordering::Relaxed);
        assert_eq!(first.bytes(), filled - 256 * MB);
        assert!(budget.has_room(6 << 30));
        assert!(first.bytes() + second.bytes() < 10 << 30, "caches have made room for it");
        assert!(!budget.has_room(17 << 30));
        assert_eq!(first.bytes() + second.bytes(), 0);
    }

    #[test]
    fn what_stays_takes_the_room_of_caches_and_no_more() {
        let budget = budget();
        let cache = spare(&budget);
        while budget.grow_cache(Clerk::BufferPool, 256 * MB, cache.bytes()) {
            cache.0.fetch_add(256 * MB, Ordering::Relaxed);
        }
        let before = cache.bytes();
        assert_eq!(budget.keep(1 << 30), Ok(()));
        assert!(cache.bytes() <= before - (1 << 30) + 256 * MB, "the cache has given way");
        budget.map(Clerk::LogPool, (budget.caches_most() - budget.used() + cache.bytes()) as i64);
        assert_eq!(budget.keep(64 * MB), Err(Refused), "{budget:?}");
        assert!(budget.has_room(64 * MB), "statements have room to work in");
        assert_eq!((cache.bytes(), budget.totals().0), (0, 1));
    }

    #[test]
    fn a_cache_that_gives_a_part_is_asked_again() {
        let budget = budget();
        let cache = spare_of(&budget, 1 << 30);
        while budget.grow_cache(Clerk::BufferPool, 256 * MB, cache.bytes()) {
            cache.0.fetch_add(256 * MB, Ordering::Relaxed);
        }
        assert!(budget.has_room(5 << 30), "{budget:?}");
    }

    #[test]
    fn no_session_takes_more_than_a_share_and_none_above_the_limit() {
        let budget = budget();
        set_budget(Some(Arc::clone(&budget)));
        assert_eq!(ask(ASK_BYTES - 1), Ok(()));
        assert_eq!(ask(1 << 30), Ok(()));
        assert!(budget.used() >= 1 << 30, "what is granted counts before it is taken");
        assert_eq!(ask(2 << 30), Ok(()));
        assert!(budget.used() < 3 << 30, "and once only");
        assert_eq!(ask(7 << 30), Err(Refused), "more than a session's share");
        turn_ends();
        assert!(budget.used() < 1 << 30);
        budget.map(Clerk::LogPool, 14 << 30);
        assert_eq!(ask(4 << 30), Err(Refused));
        assert_eq!(ask(64 << 20), Ok(()));
        turn_ends();
        budget.map(Clerk::LogPool, 2 << 30);
        assert_eq!(ask(ASK_BYTES), Err(Refused));
        assert_eq!(budget.relieve(0), Ok(()), "who holds little goes on");
        assert_eq!(budget.relieve(1 << 30), Err(Refused));
        assert_eq!(budget.totals().0, 4);
        set_budget(None);
        assert_eq!(ask(usize::MAX), Ok(()), "a thread of no server");
    }

    #[test]
    fn a_floor_is_kept() {
        let budget = budget();
        let cache = spare(&budget);
        assert!(budget.grow_cache(Clerk::BufferPool, 1 << 30, 0));
        cache.0.fetch_add(1 << 30, Ordering::Relaxed);
        budget.set_limits(2 << 30, 2 << 30);
        assert!(!budget.has_room(1 << 30));
        assert_eq!(cache.bytes(), 1 << 30);
        budget.set_limits(2 << 30, 0);
        assert!(budget.has_room(1 << 30) && cache.bytes() < 1 << 30);
    }

    #[test]
    fn what_the_process_has_beside_is_read() {
        let files = SystemFiles::listing("proc/self/statm 900000 300000 50000 10 0 5 0");
        assert_eq!(private_bytes(&files), Some(250_000 * 4096));
        let budget = budget();
        budget.look(&files);
        assert_eq!(budget.heap() + budget.uncounted(), 250_000 * 4096);
    }

    #[test]
    fn what_is_promised_and_not_touched_yet_is_no_room() {
        let budget = budget();
        set_budget(Some(Arc::clone(&budget)));
        assert_eq!(ask(1 << 30), Ok(()));
        // The process has it, and the system does not show it.
        budget.look(&SystemFiles::listing("proc/self/statm 900000 300000 50000 10 0 5 0"));
        assert_eq!(budget.used(), 250_000 * 4096 + (1 << 30), "it counts, and once");
        turn_ends();
        assert!(budget.used() < 1 << 30, "its turn is over: what it has was read");
        set_budget(None);
    }

    #[test]
    fn several_threads_never_get_the_same_room() {
        const THREADS: usize = 4;
        for _ in 0..2_000 {
            let (budget, barrier) = (budget(), std::sync::Barrier::new(THREADS));
            std::thread::scope(|scope| {
                for _ in 0..THREADS {
                    scope.spawn(|| {
                        set_budget(Some(Arc::clone(&budget)));
                        barrier.wait();
                        let granted = ask(5 << 30).is_ok();
                        barrier.wait();
                        let promised = budget.promised.load(Ordering::Relaxed) as u64;
                        barrier.wait();
                        assert!(promised <= budget.most() && promised >= 10 << 30, "{promised}, {granted}");
                        turn_ends();
                    });
                }
            });
        }
    }
}
