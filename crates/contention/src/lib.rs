//! Spinlocks, latches, waits and counters, over one facade for atomics and locks.
//!
//! Every point where threads take turns has a class here, is counted in a [`Statistics`] that the server owns and
//! hands down, and costs no shared write while nothing contends:
//!
//! ```text
//!   Spinlock<T> --\                     slot 0  [ spinlocks | latches | waits | counters ]   written by one thread
//!   Latch ---------+--> Statistics -->  slot 1  [ ...                                    ]   each, read by the
//!   wait(..) -----/                     ...                                                  views, which sum
//!   add(Counter) /
//! ```
//!
//! - [`sync`] is the only door to atomics, locks and threads: std's, or a model's under `--cfg loom` and `--cfg shuttle`;
//! - [`slot`] gives each live thread an index of its own;
//! - [`SpinlockClass`], [`LatchClass`], [`WaitType`] and [`Counter`] are the four tables of names.
//!
//! The loom models run with `RUSTFLAGS="--cfg loom" cargo test -p pikepole-contention --release --lib loom`. Each
//! has a canary: the same model with a fault planted (see [`fault`]) must fail.

mod backoff_events;
mod cache_padded;
mod cells;
pub mod clock;
mod counted_mutex;
mod database_cells;
pub mod fault;
mod inbox;
mod latch;
#[cfg(all(test, loom))]
mod loom_tests;
mod run_state;
#[cfg(all(shuttle, not(loom)))]
pub mod shuttle_runs;
pub mod slot;
mod spinlock;
mod statistics;
pub mod sync;
mod tables;

pub use backoff_events::BackoffEvent;
pub use cache_padded::CachePadded;
pub use cells::{SlotCounter, SlotCounters};
pub use counted_mutex::CountedMutex;
pub use inbox::{Chain, Inbox, Link, Linked};
pub use latch::{Acquire, Fairness, Latch, LatchGuard, LatchMode, OwnedLatchGuard};
pub use run_state::{RunState, RunStateName};
pub use spinlock::{Spinlock, SpinlockGuard, Spinner};
pub use statistics::{CounterRow, LatchRow, SpinlockRow, Statistics, WaitRow};
pub use tables::{Counter, CounterKind, LatchClass, SpinlockClass, WaitType};
