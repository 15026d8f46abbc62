//! Numbers of tables and indexes in the process: what a session keeps of one between transactions has its number, for it may be dropped.

#![allow(
    clippy::disallowed_types,
    reason = "models of several threads share it, which a model's own atomics do not allow"
)]

use std::sync::atomic::{AtomicU64, Ordering};

/// A number that no table or index has had; never zero.
pub(crate) fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}
