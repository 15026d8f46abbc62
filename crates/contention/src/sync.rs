//! The facade: the only door to atomics, locks and threads.
//!
//! The same source runs for real over std, with `--cfg loom` in a model checker that tries all orders of small models, and
//! with `--cfg shuttle` in one that tries orders by chance, of models as large as a whole log. Every other crate takes these
//! names from here. An `Arc` that only shares ownership may be std's; one whose drop takes part in a protocol is
//! taken from here.
//!
//! Differences that code under a model must know: loom's atomics cannot be built in a `const`, and its thread
//! module has no `park_timeout`, `scope` or `available_parallelism`. Shuttle has one order of memory, whatever an atomic
//! operation asks for.

#[cfg(loom)]
pub use loom::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(all(shuttle, not(loom)))]
pub use shuttle::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
#[cfg(not(any(loom, shuttle)))]
pub use std::sync::{Arc, Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard, Weak};
#[cfg(not(any(loom, shuttle)))]
pub use std::thread;

pub use std::sync::OnceLock;

/// Atomic integers, flags and pointers, and their orderings.
pub mod atomic {
    #[cfg(loom)]
    pub use loom::sync::atomic::*;
    #[cfg(all(shuttle, not(loom)))]
    pub use shuttle::sync::atomic::*;
    #[cfg(not(any(loom, shuttle)))]
    pub use std::sync::atomic::*;
}

/// The pause of a spin loop.
pub mod hint {
    /// Tells the CPU that this is a spin loop; in a model, lets another thread run.
    #[inline(always)]
    pub fn spin_loop() {
        #[cfg(not(any(loom, shuttle)))]
        std::hint::spin_loop();
        #[cfg(all(shuttle, not(loom)))]
        shuttle::thread::yield_now();
        #[cfg(loom)]
        loom::thread::yield_now();
    }
}

/// Threads of a loom model.
#[cfg(loom)]
pub mod thread {
    pub use loom::thread::*;

    /// Time stands still in a model: sleeping is letting others run.
    pub fn sleep(_duration: std::time::Duration) {
        yield_now();
    }
}

/// Threads of a shuttle model.
#[cfg(all(shuttle, not(loom)))]
pub mod thread {
    pub use shuttle::thread::*;
    pub use std::thread::available_parallelism;
}

/// A cell whose content is reached through raw pointers, so that a model sees each access.
#[cfg(loom)]
pub use loom::cell::UnsafeCell;

/// A cell whose content is reached through raw pointers, so that a model sees each access.
#[cfg(not(loom))]
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct UnsafeCell<T: ?Sized>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    /// Wraps `value`.
    pub const fn new(value: T) -> Self {
        Self(std::cell::UnsafeCell::new(value))
    }

    /// The value, for an owner that shares the cell with nobody.
    pub fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

#[cfg(not(loom))]
impl<T: ?Sized> UnsafeCell<T> {
    /// Hands `f` the address for reading. Dereferencing it is the caller's proof to give.
    #[inline(always)]
    pub fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
        f(self.0.get())
    }

    /// Hands `f` the address for writing. Dereferencing it is the caller's proof to give.
    #[inline(always)]
    pub fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
        f(self.0.get())
    }
}
