//! Models of hardening in order: two writes end on two threads while a committer waits for the second block.

use super::InFlight;
use crate::Lsn;
use crate::commit::Commits;
use crate::policy::FlushQueue;
use loom::thread;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
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

struct World {
    in_flight: InFlight,
    commits: Commits,
    /// Whether the device has each block.
    on_disk: [AtomicBool; 2],
}

impl World {
    fn write(&self, sequence: u64) {
        // Relaxed: that a reader of the horizon sees it is what the model checks.
        self.on_disk[sequence as usize].store(true, Ordering::Relaxed);
        if self.in_flight.finish(sequence, &self.commits) {
            let mut wakers = Vec::new();
            self.commits.wake_durable(&mut wakers);
            wakers.into_iter().for_each(Waker::wake);
        }
    }

    fn check(&self) {
        let durable = self.commits.durable();
        for (block, on_disk) in self.on_disk.iter().enumerate() {
            let is_promised = durable > block as u64;
            assert!(!is_promised || on_disk.load(Ordering::Relaxed), "promised before it was written");
        }
    }
}

fn two_writes(wait_for: u64) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(3);
    builder.check(move || {
        let commits = Commits::new(0, FlushQueue::LockFree, &Statistics::new());
        let world = loom::sync::Arc::new(World {
            in_flight: InFlight::new(0, 0, &Statistics::new()),
            commits,
            on_disk: [AtomicBool::new(false), AtomicBool::new(false)],
        });
        world.in_flight.begin(1);
        world.in_flight.begin(2);
        let other = loom::sync::Arc::clone(&world);
        let writer = thread::spawn(move || other.write(1));
        let other = loom::sync::Arc::clone(&world);
        let committer = thread::spawn(move || {
            let count = Arc::new(Count(AtomicUsize::new(0)));
            let waker = Waker::from(Arc::clone(&count));
            let mut waiter = None;
            let polled = other.commits.poll(0, Lsn(wait_for), &mut waiter, &mut Context::from_waker(&waker));
            other.check();
            (polled.is_ready(), count)
        });
        world.write(0);
        writer.join().unwrap();
        let (ready, count) = committer.join().unwrap();
        world.check();
        assert_eq!(world.commits.durable(), 2, "a finished block was left behind");
        assert!(ready || count.0.load(Ordering::Relaxed) == 1, "a wake-up was missed");
    });
}

#[test]
fn loom_blocks_harden_in_order_and_wake_whom_they_cover() {
    two_writes(2);
    two_writes(1);
}

#[test]
#[should_panic(expected = "promised before it was written")]
fn loom_canary_harden_out_of_order() {
    fault::plant("harden_out_of_order");
    two_writes(2);
}

#[test]
#[should_panic(expected = "a finished block was left behind")]
fn loom_canary_harden_one_block() {
    fault::plant("harden_one_block");
    two_writes(2);
}
