//! An exchange that gathers rows: the policy EXCHANGE = PACKETS, the classic way.
//!
//! ```text
//!   worker 0 ── packet ──┐
//!   worker 1 ── packet ──┼──► PacketList (bounded, X_PACKET_LIST) ──► session counts the rows
//!   worker 2 ── packet ──┘
//!     full: CXPACKET                                     empty: CXCONSUMER
//! ```
//! A packet is a batch of rows that its worker has inserted. Under COUNTS, the default, there is no list: each worker leaves the
//! number of its rows when it ends.
//!
//! Invariants
//! - a list holds at most `packets_max` packets; room for their places is taken when the list is made, so nothing is allocated and
//!   nothing freed under the spinlock, nor is anybody woken;
//! - who finds the list full, or empty, leaves its waker under the same hold of the spinlock: no wake is missed;
//! - a packet that is taken wakes all who wait for room, so one that was cancelled meanwhile keeps nobody waiting.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use crate::executor::batch::Batch;
use pikepole_contention::{Spinlock, SpinlockClass, Statistics, WaitType};
use pikepole_scheduler as scheduler;

/// Packets on their way for each worker, at most.
const PACKETS_PER_WORKER: usize = 2;

/// The packets that workers have given and their session has not taken.
pub(crate) struct PacketList {
    state: Spinlock<State>,
    packets_max: usize,
    workers: usize,
}

struct State {
    packets: VecDeque<Batch>,
    producers: Vec<Waker>,
    consumer: Option<Waker>,
}

impl PacketList {
    /// A list for so many workers.
    pub(crate) fn new(workers: usize, statistics: &Arc<Statistics>) -> Arc<PacketList> {
        let packets_max = workers * PACKETS_PER_WORKER;
        let state = State {
            packets: VecDeque::with_capacity(packets_max),
            producers: Vec::with_capacity(workers),
            consumer: None,
        };
        let state = Spinlock::new(SpinlockClass::X_PACKET_LIST, statistics, state);
        Arc::new(PacketList { state, packets_max, workers })
    }

    /// Gives a packet; waits while there is no room.
    pub(crate) async fn give(&self, packet: Batch) {
        let mut packet = Some(packet);
        scheduler::wait(WaitType::CXPACKET, poll_fn(|context| self.poll_give(&mut packet, context))).await;
    }

    fn poll_give(&self, packet: &mut Option<Batch>, context: &Context<'_>) -> Poll<()> {
        let waker = context.waker().clone();
        let mut state = self.state.lock();
        if state.packets.len() == self.packets_max {
            if !state.producers.iter().any(|waiting| waiting.will_wake(&waker)) {
                state.producers.push(waker);
            }
            return Poll::Pending;
        }
        state.packets.extend(packet.take());
        let consumer = state.consumer.take();
        drop(state);
        if let Some(consumer) = consumer {
            consumer.wake();
        }
        Poll::Ready(())
    }

    /// Takes the packet that has waited longest. When there is none, the session is woken by the next one.
    pub(super) fn poll_take(&self, context: &Context<'_>) -> Poll<Batch> {
        let waker = context.waker().clone();
        let producers = Vec::with_capacity(self.workers);
        let mut state = self.state.lock();
        let Some(packet) = state.packets.pop_front() else {
            let former = state.consumer.replace(waker);
            drop(state);
            drop(former);
            return Poll::Pending;
        };
        let producers = std::mem::replace(&mut state.producers, producers);
        drop(state);
        scheduler::wake_all(producers);
        Poll::Ready(packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    #[derive(Default)]
    struct Woken(AtomicUsize);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_full_list_and_an_empty_one_make_wait() {
        let list = PacketList::new(1, &Statistics::new());
        let (producer, consumer) = (Arc::new(Woken::default()), Arc::new(Woken::default()));
        let (given_by, taken_by) = (Waker::from(Arc::clone(&producer)), Waker::from(Arc::clone(&consumer)));
        let give = |rows| list.poll_give(&mut Some(Batch::new(rows)), &Context::from_waker(&given_by)).is_ready();
        let take = || match list.poll_take(&Context::from_waker(&taken_by)) {
            Poll::Ready(packet) => Some(packet.rows),
            Poll::Pending => None,
        };
        let woken = || (producer.0.load(Ordering::Relaxed), consumer.0.load(Ordering::Relaxed));
        assert_eq!(take(), None);
        assert!(give(1));
        assert_eq!(woken(), (0, 1));
        assert!(give(2));
        // Two packets are all that one worker has on their way.
        assert!(!give(3));
        assert_eq!((woken(), take()), ((0, 1), Some(1)));
        assert_eq!(woken(), (1, 1));
        assert!(give(3));
        assert_eq!([take(), take(), take()], [Some(2), Some(3), None]);
        assert_eq!(woken(), (1, 1));
    }
}
