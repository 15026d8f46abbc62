//! Memory that queries work in: hash tables, sorts, rows that are kept.
//!
//! ```text
//!   statement, up to 128 KB        asks nobody
//!   needs more                     waits for its first part, in the order of coming (RESOURCE_SEMAPHORE, error 8645)
//!   needs still more               is given it at once, or goes on in files of tempdb
//!   cannot do with less            is given it at once, above its share, or ends (error 701)
//!   ends                           gives all of it back: who waits is given his first part
//! ```
//! Invariants
//! - nobody waits who has a part: so who waits is waited for by nobody here;
//! - what is granted is never more than the whole, but for what a smaller whole, set later, finds granted;
//! - while somebody waits, nobody is given more than the part he has.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_machine::clock;

/// How much there is, and what a statement gets of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkspaceLimits {
    /// Bytes of all statements together.
    pub total_bytes: u64,
    /// Bytes that a statement is given at first.
    pub first_bytes: u64,
    /// Hundredths of the whole that a statement has at most.
    pub share_percent: u64,
    /// How long a statement waits for its first part.
    pub wait_ms: u64,
}

impl WorkspaceLimits {
    /// Bytes that a statement has at most; `percent` is its own wish.
    pub fn share_bytes(&self, percent: Option<f64>) -> u64 {
        let percent = percent.unwrap_or(self.share_percent as f64).clamp(0.0, 100.0);
        ((self.total_bytes as f64 * percent / 100.0) as u64).max(self.first_bytes.min(self.total_bytes))
    }
}

/// A statement's part, or its place among those who wait, as the views show it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRow {
    /// Whose it is.
    pub session_id: i32,
    /// When it was asked for, as [`clock::now_us`] counts.
    pub asked_us: u64,
    /// When it was given; None: it is waited for.
    pub given_us: Option<u64>,
    /// Bytes that were asked for first.
    pub asked_bytes: u64,
    /// Bytes given.
    pub given_bytes: u64,
    /// Bytes in use, as of the last change.
    pub used_bytes: u64,
    /// The most that was in use.
    pub used_bytes_max: u64,
    /// The place among those who wait, from 0.
    pub place: Option<usize>,
}

/// All parts together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkspaceTotals {
    /// See [`WorkspaceLimits::total_bytes`].
    pub total_bytes: u64,
    /// Bytes given to statements.
    pub given_bytes: u64,
    /// Bytes of these in use.
    pub used_bytes: u64,
    /// Statements that have a part.
    pub grants: usize,
    /// Statements that wait.
    pub waiting: usize,
    /// Statements that have waited in vain.
    pub timeouts: u64,
    /// Parts given above a statement's share.
    pub forced: u64,
}

/// The memory that statements work in.
#[derive(Debug)]
pub struct Workspace(Mutex<State>);

#[derive(Debug)]
struct State {
    limits: WorkspaceLimits,
    given_bytes: u64,
    /// Those who have a part and those who wait, by their numbers.
    rows: BTreeMap<u64, GrantRow>,
    /// Those who wait, the first comer first.
    waiting: VecDeque<(u64, Option<Waker>)>,
    next: u64,
    timeouts: u64,
    forced: u64,
}

/// A statement's part, or its wish for one. Dropping it gives all back.
#[derive(Debug)]
pub struct MemoryGrant {
    workspace: Arc<Workspace>,
    number: u64,
}

impl Workspace {
    /// Of which nothing is given.
    pub fn new(limits: WorkspaceLimits) -> Arc<Workspace> {
        Arc::new(Workspace(Mutex::new(State {
            limits,
            given_bytes: 0,
            rows: BTreeMap::new(),
            waiting: VecDeque::new(),
            next: 0,
            timeouts: 0,
            forced: 0,
        })))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is complete before anything can fail.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// How much there is.
    pub fn limits(&self) -> WorkspaceLimits {
        self.lock().limits
    }

    /// Changes how much there is; what is given stays so.
    pub fn set_limits(&self, limits: WorkspaceLimits) {
        let mut state = self.lock();
        state.limits = limits;
        let woken = state.give_first_parts();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }

    /// Asks for a first part: [`MemoryGrant::poll`] says when it is there.
    pub fn ask(self: &Arc<Self>, session_id: i32) -> MemoryGrant {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        let row = GrantRow {
            session_id,
            asked_us: clock::now_us(),
            given_us: None,
            asked_bytes: state.limits.first_bytes.min(state.limits.total_bytes),
            given_bytes: 0,
            used_bytes: 0,
            used_bytes_max: 0,
            place: None,
        };
        state.rows.insert(number, row);
        state.waiting.push_back((number, None));
        let woken = state.give_first_parts();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
        MemoryGrant { workspace: Arc::clone(self), number }
    }

    /// Every part and every wish, in the order of asking.
    pub fn rows(&self) -> Vec<GrantRow> {
        let state = self.lock();
        let place = |number: &u64| state.waiting.iter().position(|(waiting, _)| waiting == number);
        state.rows.iter().map(|(number, row)| GrantRow { place: place(number), ..row.clone() }).collect()
    }

    /// All parts together.
    pub fn totals(&self) -> WorkspaceTotals {
        let state = self.lock();
        WorkspaceTotals {
            total_bytes: state.limits.total_bytes,
            given_bytes: state.given_bytes,
            used_bytes: state.rows.values().map(|row| row.used_bytes).sum(),
            grants: state.rows.len() - state.waiting.len(),
            waiting: state.waiting.len(),
            timeouts: state.timeouts,
            forced: state.forced,
        }
    }
}

impl State {
    /// Gives first parts to those who wait, as long as there is enough; gives those who are to be told.
    fn give_first_parts(&mut self) -> Vec<Waker> {
        let mut woken = Vec::new();
        while let Some((number, _)) = self.waiting.front() {
            let Some(row) = self.rows.get_mut(number) else {
                self.waiting.pop_front();
                continue;
            };
            if self.given_bytes + row.asked_bytes > self.limits.total_bytes && self.given_bytes > 0 {
                break;
            }
            self.given_bytes += row.asked_bytes;
            row.given_bytes = row.asked_bytes;
            row.given_us = Some(clock::now_us());
            woken.extend(self.waiting.pop_front().and_then(|(_, waker)| waker));
        }
        woken
    }

    fn give(&mut self, number: u64, bytes: u64) -> bool {
        if self.given_bytes + bytes > self.limits.total_bytes {
            return false;
        }
        let Some(row) = self.rows.get_mut(&number) else {
            return false;
        };
        row.given_bytes += bytes;
        self.given_bytes += bytes;
        true
    }
}

impl MemoryGrant {
    /// Whether the first part is there: so many bytes. Who is told to wait is woken then.
    pub fn poll(&self, context: &Context<'_>) -> Poll<u64> {
        let mut state = self.workspace.lock();
        if let Some((_, waker)) = state.waiting.iter_mut().find(|(number, _)| *number == self.number) {
            *waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        Poll::Ready(state.rows.get(&self.number).map_or(0, |row| row.given_bytes))
    }

    /// The bytes given; None while the first part is waited for.
    pub fn given(&self) -> Option<u64> {
        let state = self.workspace.lock();
        let row = state.rows.get(&self.number)?;
        row.given_us.map(|_| row.given_bytes)
    }

    /// Nobody waits for it any more: the time was over.
    pub fn has_waited_in_vain(&self) {
        self.workspace.lock().timeouts += 1;
    }

    /// More, if nobody waits and there is as much.
    pub fn grow(&self, bytes: u64) -> bool {
        let mut state = self.workspace.lock();
        state.waiting.is_empty() && state.give(self.number, bytes)
    }

    /// More, whoever waits, if there is as much.
    pub fn force(&self, bytes: u64) -> bool {
        let mut state = self.workspace.lock();
        let given = state.give(self.number, bytes);
        state.forced += u64::from(given);
        given
    }

    /// Tells the views how much is in use.
    pub fn set_used(&self, bytes: u64) {
        if let Some(row) = self.workspace.lock().rows.get_mut(&self.number) {
            row.used_bytes = bytes;
            row.used_bytes_max = row.used_bytes_max.max(bytes);
        }
    }
}

impl Drop for MemoryGrant {
    fn drop(&mut self) {
        let mut state = self.workspace.lock();
        if let Some(row) = state.rows.remove(&self.number) {
            state.given_bytes -= row.given_bytes;
        }
        state.waiting.retain(|(number, _)| *number != self.number);
        let woken = state.give_first_parts();
        drop(state);
        woken.into_iter().for_each(Waker::wake);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspace(total_bytes: u64) -> Arc<Workspace> {
        Workspace::new(WorkspaceLimits { total_bytes, first_bytes: 100, share_percent: 50, wait_ms: 1000 })
    }

    fn is_given(grant: &MemoryGrant) -> bool {
        grant.poll(&Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn who_comes_when_nothing_is_left_waits_in_turn() {
        let workspace = workspace(250);
        let (first, second) = (workspace.ask(51), workspace.ask(52));
        let (third, fourth) = (workspace.ask(53), workspace.ask(54));
        assert!(is_given(&first) && is_given(&second));
        assert!(!is_given(&third) && !is_given(&fourth));
        assert!(!first.grow(10), "somebody waits");
        assert!(first.force(50));
        assert!(!first.force(1), "nothing is left");
        let places: Vec<Option<usize>> = workspace.rows().iter().map(|row| row.place).collect();
        assert_eq!(places, [None, None, Some(0), Some(1)]);
        drop(first);
        assert!(is_given(&third) && !is_given(&fourth));
        drop(second);
        assert!(is_given(&fourth));
        assert!(third.grow(50) && !third.grow(1));
        drop((third, fourth));
        let totals = workspace.totals();
        assert_eq!((totals.given_bytes, totals.grants, totals.waiting, totals.forced), (0, 0, 0, 1));
    }

    #[test]
    fn who_gives_up_makes_way() {
        let workspace = workspace(100);
        let first = workspace.ask(51);
        let (second, third) = (workspace.ask(52), workspace.ask(53));
        second.has_waited_in_vain();
        drop(second);
        drop(first);
        assert!(is_given(&third));
        assert_eq!(workspace.totals().timeouts, 1);
    }

    #[test]
    fn a_whole_smaller_than_a_first_part_is_one_statement_s() {
        let workspace = workspace(60);
        let (first, second) = (workspace.ask(51), workspace.ask(52));
        assert_eq!(first.given(), Some(60));
        assert!(!is_given(&second));
        workspace.set_limits(WorkspaceLimits { total_bytes: 1000, ..workspace.limits() });
        assert!(is_given(&second));
        assert_eq!(workspace.limits().share_bytes(None), 500);
        assert_eq!(workspace.limits().share_bytes(Some(1.0)), 100, "never less than the first part");
    }
}
