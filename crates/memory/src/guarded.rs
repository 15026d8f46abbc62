//! A pointer that stays good while a guard is held.

use std::marker::PhantomData;
use std::ops::Deref;
use std::ptr::NonNull;

use crossbeam_epoch::Guard;

/// A pointer to what the epochs do not free while the guard `'g` is held. Unlike a reference it reaches what is behind the `T` in the same
/// block, too.
pub(crate) struct Guarded<'g, T>(NonNull<T>, PhantomData<&'g T>);

impl<T> Clone for Guarded<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Guarded<'_, T> {}

impl<'g, T> Guarded<'g, T> {
    /// The pointer as long as the guard is held.
    ///
    /// # Safety
    /// The place that it leads to is alive, and goes through the epochs before it is freed, or stays by other means as long as the guard.
    pub unsafe fn new(pointer: NonNull<T>, _guard: &'g Guard) -> Self {
        Self(pointer, PhantomData)
    }

    /// The same of a pointer that may be null.
    ///
    /// # Safety
    /// As of [`Guarded::new`].
    pub unsafe fn of_raw(pointer: *mut T, _guard: &'g Guard) -> Option<Self> {
        NonNull::new(pointer).map(|pointer| Self(pointer, PhantomData))
    }

    /// The address, for the whole block.
    pub fn pointer(self) -> NonNull<T> {
        self.0
    }

    pub fn as_ptr(self) -> *mut T {
        self.0.as_ptr()
    }

    /// The value, as long as the guard is held.
    pub fn get(self) -> &'g T {
        // SAFETY: `new` demands that it is alive as long as the guard; the fields that change are atomics.
        unsafe { self.0.as_ref() }
    }
}

impl<T> Deref for Guarded<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.get()
    }
}

/// Asks the processor for so many lines of memory that are about to be read: they come together rather than one after the other.
#[inline(always)]
pub(crate) fn prefetch(start: *const u8, lines: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in 0..lines {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch of any address does nothing that a program can see.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(start.cast::<i8>().wrapping_add(LINE * line)) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (start, lines);
}

/// Bytes of a line of the processor's caches.
pub(crate) const LINE: usize = 64;
