//! How long a session waits for what other sessions hold.

use pikepole_contention::sync::Arc;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_scheduler as scheduler;
use pikepole_transaction::Need;
use pikepole_types::SqlError;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::Duration;

/// Who waits looks this often whether its request was cancelled.
const CANCEL_LOOK_MS: u64 = 100;

/// LOCK_TIMEOUT, the client's or KILL's word to give the request up, and whom a deadlock ends rather. By default waits have no end.
#[derive(Debug, Clone, Default)]
pub struct Patience {
    timeout_ms: Option<u64>,
    cancelled: Option<Arc<AtomicBool>>,
    /// DEADLOCK_PRIORITY.
    priority: i32,
}

impl Patience {
    /// Takes over what is in force now.
    #[inline]
    pub(crate) fn set(&mut self, timeout_ms: Option<u64>, cancelled: &Arc<AtomicBool>, priority: i32) {
        self.timeout_ms = timeout_ms;
        self.priority = priority;
        if !self.cancelled.as_ref().is_some_and(|known| Arc::ptr_eq(known, cancelled)) {
            self.cancelled = Some(Arc::clone(cancelled));
        }
    }

    /// DEADLOCK_PRIORITY, -10 to 10.
    pub(crate) fn priority(&self) -> i32 {
        self.priority
    }

    /// Awaits a wait for others.
    ///
    /// # Errors
    /// 1222 when the time has passed, 3617 for a cancelled request, and the wait's own.
    pub(crate) async fn awaited(&self, wait: impl Future<Output = Result<(), SqlError>>) -> Result<(), Box<SqlError>> {
        let is_cancelled = || self.cancelled.as_ref().is_some_and(|cancelled| cancelled.load(Ordering::Relaxed));
        let look = || if is_cancelled() { Err(Box::new(SqlError::cancelled())) } else { Ok(()) };
        awaited(wait, self.timeout_ms, look).await
    }
}

/// Whether a need is another session's to give.
pub fn is_for_lock(need: &Need) -> bool {
    matches!(need, Need::TransactionEnd(_) | Need::Lock(..) | Need::Keys(_))
}

/// Awaits a wait for a lock or for a time: to its end, for `left_ms` at most where that is set, or until `look` says no, which is asked
/// now and then and whenever the task is polled: who cancels a request polls it.
///
/// # Errors
/// 1222 when the time has passed, what `look` says, and the wait's own.
pub async fn awaited(
    wait: impl Future<Output = Result<(), SqlError>>,
    mut left_ms: Option<u64>,
    look: impl Fn() -> Result<(), Box<SqlError>>,
) -> Result<(), Box<SqlError>> {
    let mut wait = pin!(wait);
    loop {
        let slice_ms = left_ms.map_or(CANCEL_LOOK_MS, |left| left.min(CANCEL_LOOK_MS));
        let slice = scheduler::sleep(Duration::from_millis(slice_ms));
        if let Some(result) = first(wait.as_mut(), slice, &look).await? {
            return result.map_err(Box::from);
        }
        look()?;
        left_ms = left_ms.map(|left| left - slice_ms);
        if left_ms == Some(0) {
            return Err(Box::new(SqlError::lock_timeout()));
        }
    }
}

/// What `wanted` gives, unless `other` ends first.
///
/// # Errors
/// What `look` says.
async fn first<T>(
    wanted: Pin<&mut impl Future<Output = T>>,
    other: impl Future,
    look: impl Fn() -> Result<(), Box<SqlError>>,
) -> Result<Option<T>, Box<SqlError>> {
    let (mut wanted, mut other) = (wanted, pin!(other));
    poll_fn(|context| match wanted.as_mut().poll(context) {
        Poll::Ready(value) => Poll::Ready(Ok(Some(value))),
        Poll::Pending => match look() {
            Ok(()) => other.as_mut().poll(context).map(|_| Ok(None)),
            Err(fault) => Poll::Ready(Err(fault)),
        },
    })
    .await
}
