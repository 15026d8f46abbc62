//! Waking the one task that waits: a log writer.
//!
//! | `notified` | means | who changes it |
//! |---|---|---|
//! | false | nothing is asked for | the waiting task, when it goes on |
//! | true | the task is to go on | anybody |
//!
//! A waiting task stores its waker under the lock and then looks at the flag; a notifier sets the flag and then takes
//! the waker under the lock. Whoever comes second to the lock sees what the other did before.

use pikepole_contention::fault;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};

/// A flag that one task waits for.
#[derive(Default)]
pub(crate) struct Signal {
    notified: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Signal {
    /// Lets the task go on, now or when it next waits.
    pub fn notify(&self) {
        // Release pairs with the Acquire in `poll`. A flag that is set already has its notifier on the way to the lock.
        if self.notified.swap(true, Ordering::AcqRel) {
            return;
        }
        let waker = self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Ready when somebody has notified since the last time it was.
    pub fn poll(&self, cx: &mut Context<'_>) -> Poll<()> {
        let look_first = fault::planted("signal_looks_first");
        if look_first && self.take() {
            return Poll::Ready(());
        }
        let mut waker = self.waker.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        *waker = Some(cx.waker().clone());
        drop(waker);
        if !look_first && self.take() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn take(&self) -> bool {
        // Acquire pairs with the Release in `notify`.
        self.notified.swap(false, Ordering::AcqRel)
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use pikepole_contention::sync::atomic::AtomicUsize;
    use std::sync::Arc;
    use std::task::Wake;

    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn seen_or_woken() {
        loom::model(|| {
            let signal = loom::sync::Arc::new(Signal::default());
            let notifiers: Vec<_> = (0..2)
                .map(|_| {
                    let signal = loom::sync::Arc::clone(&signal);
                    loom::thread::spawn(move || signal.notify())
                })
                .collect();
            let count = Arc::new(Count(AtomicUsize::new(0)));
            let waker = Waker::from(Arc::clone(&count));
            let ready = signal.poll(&mut Context::from_waker(&waker)).is_ready();
            for notifier in notifiers {
                notifier.join().unwrap();
            }
            let woken = count.0.load(Ordering::Relaxed) > 0;
            assert!(ready || woken, "a notification was missed");
        });
    }

    #[test]
    fn loom_no_notification_is_missed() {
        seen_or_woken();
    }

    #[test]
    #[should_panic(expected = "a notification was missed")]
    fn loom_canary_signal_looks_first() {
        fault::plant("signal_looks_first");
        seen_or_woken();
    }
}
