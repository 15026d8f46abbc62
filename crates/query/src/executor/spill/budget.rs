//! What a session's statements may keep in memory, and what each operator has of it.
//!
//! A session starts with a little that it asks nobody for. When its operators need more it asks for a part of the server's workspace, waits
//! until that is there, and holds it until the last operator has given all back. Statements within a statement (functions, triggers)
//! work in the part of the outer one: so they never wait for each other.

use std::sync::{Arc, Weak};

use super::file::{SpillFile, SpillIo};
use crate::access::Stop;
use crate::executor::Run;
use crate::expression::Fault;
use pikepole_contention::WaitType;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::{MemoryGrant, Server, Workspace};
use pikepole_scheduler as scheduler;
use pikepole_scheduler::chaos::{self, Site};
use pikepole_types::SqlError;

/// The pool of memory that messages name.
pub(crate) const POOL: &str = "default";

/// What a wait that has lasted too long ends with.
const LOCK_TIMEOUT: i32 = 1222;

/// The share of a first part that needs no asking.
const FREE_PART: u64 = 8;

/// Bytes that an operator takes at once, at least and at most.
const STEP_BYTES: std::ops::Range<usize> = 8 << 10..4 << 20;

/// Bytes by which a part grows at once, at least.
const GROWTH_BYTES_MIN: u64 = 1 << 20;

/// What an operator waits for.
#[derive(Debug)]
pub(crate) enum MemoryWait {
    /// Memory, where others have it.
    Grant(Arc<MemoryGrant>),
    /// A block of a file.
    Io(Arc<SpillIo>),
}

/// What a session's statements may keep in memory.
pub(crate) struct Budget {
    server: Arc<Server>,
    session_id: i32,
    state: Mutex<State>,
    /// Whether operators have written to a file since the last statement began.
    has_spilled: AtomicBool,
    /// Whether [`Budget::begin`] has something to do.
    is_touched: AtomicBool,
}

#[derive(Default)]
struct State {
    used: u64,
    /// The part of the workspace; none so far.
    grant: Option<Arc<MemoryGrant>>,
    /// Bytes of it; 0 while it is waited for.
    granted: u64,
    /// MAX_GRANT_PERCENT of the running statement.
    percent: Option<f64>,
    file: Weak<SpillFile>,
}

/// What came of asking for bytes.
enum Answer {
    Granted,
    /// Only files are left.
    Full,
    Wait(Arc<MemoryGrant>),
    /// 701.
    Nothing,
}

impl std::fmt::Debug for Budget {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Budget").field("session", &self.session_id).finish_non_exhaustive()
    }
}

impl Budget {
    pub(crate) fn new(server: &Arc<Server>, session_id: i32) -> Arc<Budget> {
        Arc::new(Budget {
            server: Arc::clone(server),
            session_id,
            state: Mutex::default(),
            has_spilled: AtomicBool::new(false),
            is_touched: AtomicBool::new(false),
        })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can fail.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn workspace(&self) -> &Arc<Workspace> {
        self.server.workspace()
    }

    /// A statement begins that nothing waits for, with this MAX_GRANT_PERCENT.
    pub(crate) fn begin(&self, percent: Option<f64>) {
        let mut state = self.lock();
        state.percent = percent;
        let has_spilled = state.file.strong_count() > 0;
        self.has_spilled.store(has_spilled, Ordering::Relaxed);
        self.is_touched.store(has_spilled || percent.is_some(), Ordering::Relaxed);
    }

    /// Whether an earlier statement has left it otherwise than it was.
    #[inline]
    pub(crate) fn is_touched(&self) -> bool {
        self.is_touched.load(Ordering::Relaxed)
    }

    /// The file that the session's operators write to now.
    pub(super) fn file(&self) -> Arc<SpillFile> {
        let mut state = self.lock();
        if let Some(file) = state.file.upgrade() {
            return file;
        }
        let file = SpillFile::new(&self.server, self.session_id);
        state.file = Arc::downgrade(&file);
        self.has_spilled.store(true, Ordering::Relaxed);
        self.is_touched.store(true, Ordering::Relaxed);
        file
    }

    /// Whether rows may be in a file.
    #[inline]
    pub(crate) fn has_spilled(&self) -> bool {
        self.has_spilled.load(Ordering::Relaxed)
    }

    fn ask(&self, bytes: u64, forced: bool) -> Answer {
        let limits = self.workspace().limits();
        let mut state = self.lock();
        let wanted = state.used + bytes;
        let free = limits.first_bytes / FREE_PART;
        if wanted > state.granted.max(free) {
            let grant = match &state.grant {
                Some(grant) => Arc::clone(grant),
                None => Arc::clone(state.grant.insert(Arc::new(self.workspace().ask(self.session_id)))),
            };
            let Some(granted) = grant.given() else {
                return Answer::Wait(grant);
            };
            state.granted = granted.max(free);
            if wanted > state.granted {
                let more = wanted - state.granted;
                let share = limits.share_bytes(state.percent);
                if !forced && wanted > share {
                    return Answer::Full;
                }
                let ahead = more.max(GROWTH_BYTES_MIN).max(state.granted / 2);
                let ahead = ahead.min(share.saturating_sub(state.granted)).max(more);
                let given = [ahead, more].into_iter().find(|bytes| grant.grow(*bytes));
                match given.or_else(|| (forced && grant.force(more)).then_some(more)) {
                    Some(bytes) => state.granted += bytes,
                    None => return if forced { Answer::Nothing } else { Answer::Full },
                }
            }
        }
        state.used = wanted;
        if let Some(grant) = &state.grant {
            grant.set_used(wanted);
        }
        Answer::Granted
    }

    fn give_back(&self, bytes: u64) {
        let mut state = self.lock();
        state.used = state.used.saturating_sub(bytes);
        if state.used == 0 {
            (state.grant, state.granted) = (None, 0);
        }
        if let Some(grant) = &state.grant {
            grant.set_used(state.used);
        }
    }

    /// Forgets a grant that is not there at once.
    fn ask_no_more(&self) {
        drop(self.lock().grant.take_if(|grant| grant.given().is_none()));
    }

    /// Forgets a grant that was waited for in vain.
    fn give_up(&self) {
        let mut state = self.lock();
        if let Some(grant) = state.grant.take_if(|grant| grant.given().is_none()) {
            grant.has_waited_in_vain();
        }
    }

    /// Awaits what an operator waits for; `look` says whether the batch goes on.
    ///
    /// # Errors
    /// 8645 when no memory came in time, 1105 for a full disk, 823 and 824 for a broken one; what `look` says.
    pub(crate) async fn await_memory(
        &self,
        wait: MemoryWait,
        look: impl Fn() -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let grant = match wait {
            MemoryWait::Io(io) => {
                let done = scheduler::wait(WaitType::IO_COMPLETION, io.perform()).await;
                return done.and_then(|()| look());
            }
            MemoryWait::Grant(grant) => grant,
        };
        let given = std::future::poll_fn(|context| grant.poll(context).map(|_| Ok(())));
        let given = scheduler::wait(WaitType::RESOURCE_SEMAPHORE, given);
        let waited = pikepole_engine::awaited(given, Some(self.workspace().limits().wait_ms), look).await;
        let waited = waited.map_err(|fault| match fault.number {
            LOCK_TIMEOUT => Box::new(SqlError::memory_grant_timeout(POOL)),
            _ => fault,
        });
        if waited.is_err() {
            self.give_up();
        }
        waited
    }
}

/// What one operator keeps in memory.
#[derive(Default)]
pub(crate) struct Charge {
    budget: Option<Arc<Budget>>,
    /// Bytes that the budget counts for the operator.
    charged: usize,
    used: usize,
}

impl Charge {
    /// So many bytes more are kept. [`Charge::settle`] or [`Charge::force`] comes before the next ones.
    #[inline]
    pub(crate) fn keep(&mut self, bytes: usize) {
        self.used += bytes;
    }

    /// Counts what is kept. False: that was all, what comes next goes to a file.
    ///
    /// # Errors
    /// A wait for the first part, after which the call is made again.
    #[inline]
    pub(crate) fn settle(&mut self, run: &Run<'_>) -> Result<bool, Stop> {
        self.pause(run)?;
        if self.used <= self.charged { Ok(true) } else { self.ask(run, false) }
    }

    /// [`Charge::settle`] of an operator that gives the same rows in the same order when it uses a file, so that chaos may say
    /// that there is no room.
    #[inline]
    pub(crate) fn settle_in_order(&mut self, run: &Run<'_>) -> Result<bool, Stop> {
        let has_room = self.settle(run)?;
        Ok(has_room && !(self.used > 0 && run.budget().is_some() && chaos::stops(Site::Full)))
    }

    /// Counts what is kept that no file can take.
    ///
    /// # Errors
    /// As of [`Charge::settle`]; 701 when there is nothing left.
    #[inline]
    pub(crate) fn force(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        self.pause(run)?;
        if self.used <= self.charged { Ok(()) } else { self.ask(run, true).map(drop) }
    }

    #[inline]
    fn pause(&self, run: &Run<'_>) -> Result<(), Stop> {
        if run.budget().is_some() && chaos::stops(Site::Memory) { Err(Stop::Yield) } else { Ok(()) }
    }

    /// So many bytes are kept in all.
    pub(crate) fn set(&mut self, bytes: usize) {
        self.used = bytes;
    }

    /// Bytes that are kept.
    pub(crate) fn bytes(&self) -> usize {
        self.used
    }

    /// So many bytes are let go.
    pub(crate) fn remove(&mut self, bytes: usize) {
        self.used = self.used.saturating_sub(bytes);
    }

    /// Of a worker, out of the memory of its session. None: the session has none either.
    pub(crate) fn of_worker(budget: Option<&Arc<Budget>>) -> Charge {
        Charge { budget: budget.map(Arc::clone), ..Charge::default() }
    }

    /// Counts what a worker keeps where that is more than `free`, without waiting. False: there is no room for it, or chaos says so.
    pub(crate) fn settle_beyond(&mut self, free: usize) -> bool {
        if chaos::stops(Site::Full) {
            return false;
        }
        if self.used <= free.max(self.charged) {
            return true;
        }
        let has_room = matches!(self.ask_budget(false), Ok(true));
        if let Some(budget) = self.budget.as_ref().filter(|_| !has_room) {
            budget.ask_no_more();
        }
        has_room
    }

    /// Takes over what another operator of the session keeps.
    pub(crate) fn take_over(&mut self, mut other: Charge) {
        self.used += std::mem::take(&mut other.used);
        self.charged += std::mem::take(&mut other.charged);
        self.budget = self.budget.take().or(other.budget.take());
    }

    #[cold]
    fn ask(&mut self, run: &Run<'_>, forced: bool) -> Result<bool, Stop> {
        if let (None, Some(budget)) = (&self.budget, run.budget()) {
            self.budget = Some(Arc::clone(budget));
        }
        self.ask_budget(forced)
    }

    fn ask_budget(&mut self, forced: bool) -> Result<bool, Stop> {
        let Some(budget) = &self.budget else {
            return Ok(true);
        };
        let more = self.used - self.charged;
        let step = more.max((self.charged / 4).clamp(STEP_BYTES.start, STEP_BYTES.end));
        for bytes in [step, more] {
            // A step ahead is never worth a place beyond the share.
            match budget.ask(bytes as u64, forced && bytes == more) {
                Answer::Granted => {
                    self.charged += bytes;
                    return Ok(true);
                }
                Answer::Wait(grant) => return Err(Stop::Memory(MemoryWait::Grant(grant))),
                Answer::Full => {}
                Answer::Nothing => return Err(Stop::Error(Box::new(SqlError::insufficient_memory(POOL)))),
            }
        }
        Ok(false)
    }

    /// Nothing is kept any more.
    pub(crate) fn clear(&mut self) {
        let charged = std::mem::take(&mut self.charged);
        self.used = 0;
        if let Some(budget) = self.budget.as_ref().filter(|_| charged > 0) {
            budget.give_back(charged as u64);
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.clear();
    }
}
