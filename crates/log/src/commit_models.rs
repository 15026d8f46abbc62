//! Models of the flush queue: a committer waits while a flusher hardens. Either it sees the horizon, or it is woken.

use super::{Commits, Policy};
use crate::Lsn;
use loom::thread;
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::{Statistics, fault};
use std::sync::Arc;
use std::task::{Context, Wake, Waker};

/// Counts its wakes.
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Polls once for `end`; returns whether it was ready, and the count of wakes.
fn poll_once(commits: &Commits, slot: usize, end: u64) -> (bool, Arc<Count>) {
    let count = Arc::new(Count(AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&count));
    let mut waiter = None;
    let polled = commits.poll(slot, Lsn(end), &mut waiter, &mut Context::from_waker(&waker));
    (polled.is_ready(), count)
}

fn wake(wakers: Vec<Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

fn seen_or_woken(policy: Policy, poison: bool) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(4);
    builder.check(move || {
        let commits = loom::sync::Arc::new(Commits::new(0, policy, &Statistics::new()));
        let one = loom::sync::Arc::clone(&commits);
        let committer = thread::spawn(move || poll_once(&one, 0, 1));
        let mut wakers = Vec::new();
        if poison {
            commits.poison(&mut wakers);
        } else {
            commits.advance(1);
            commits.wake_durable(&mut wakers);
        }
        wake(wakers);
        let (ready, count) = committer.join().unwrap();
        assert!(ready || count.0.load(Ordering::Relaxed) == 1, "a wake-up was missed");
    });
}

#[test]
fn loom_lock_free_queue_misses_nobody() {
    seen_or_woken(Policy::LockFree, false);
    seen_or_woken(Policy::LockFree, true);
}

#[test]
fn loom_spinlock_queue_misses_nobody() {
    seen_or_woken(Policy::Spinlock, false);
}

#[test]
fn loom_two_committers_and_two_flushes() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let commits = loom::sync::Arc::new(Commits::new(0, Policy::LockFree, &Statistics::new()));
        let committers: Vec<_> = [1, 2]
            .into_iter()
            .map(|end| {
                let commits = loom::sync::Arc::clone(&commits);
                // Both on one slot: the tasks of a scheduler and a thread that took its slot over.
                thread::spawn(move || poll_once(&commits, 0, end))
            })
            .collect();
        for durable in [1, 2] {
            let mut wakers = Vec::new();
            commits.advance(durable);
            commits.wake_durable(&mut wakers);
            wake(wakers);
        }
        for committer in committers {
            let (ready, count) = committer.join().unwrap();
            assert!(ready || count.0.load(Ordering::Relaxed) == 1, "a wake-up was missed");
        }
    });
}

#[test]
#[should_panic(expected = "a wake-up was missed")]
fn loom_canary_commit_looks_once() {
    fault::plant("commit_looks_once");
    seen_or_woken(Policy::LockFree, false);
}
