//! A value on cache lines of its own.

use std::ops::{Deref, DerefMut};

/// Keeps its value on cache lines that nothing else shares. 128 bytes, because x86 prefetches lines in pairs.
#[derive(Debug, Default, Clone, Copy)]
#[repr(align(128))]
pub struct CachePadded<T>(T);

impl<T> CachePadded<T> {
    /// Pads `value`.
    pub const fn new(value: T) -> Self {
        Self(value)
    }

    /// The value, without its padding.
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for CachePadded<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for CachePadded<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::CachePadded;

    #[test]
    fn neighbours_share_no_line() {
        let pair = [CachePadded::new(1u8), CachePadded::new(2u8)];
        let distance = (&raw const *pair[1]).addr() - (&raw const *pair[0]).addr();
        assert_eq!(distance, 128);
        assert_eq!(pair[0].into_inner() + *pair[1], 3);
    }
}
