//! Panics of the decoders, as errors.
//!
//! `pages` refuses what would be too much memory. That is not enough: within a page, the decoders of the `parquet` crate index by lengths
//! that the page itself says, and a damaged page says wrong ones. A reader that has panicked is dropped, so nothing sees its state.

use super::worded;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// True while this thread decodes.
    static DECODES: Cell<bool> = const { Cell::new(false) };
}

/// Panics of threads that decode print nothing; those of others do what they did before.
fn keep_quiet() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !DECODES.get() {
                before(panic);
            }
        }));
    });
}

/// Runs a decoder; an error says what is wrong with the bytes.
pub fn decoded<T>(decode: impl FnOnce() -> parquet::errors::Result<T>) -> Result<T, String> {
    keep_quiet();
    DECODES.set(true);
    let decoded = catch_unwind(AssertUnwindSafe(decode));
    DECODES.set(false);
    match decoded {
        Ok(decoded) => decoded.map_err(|error| worded(&error)),
        Err(_) => Err("its bytes are damaged".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let wrong = vec![0; std::hint::black_box(0)];
        assert_eq!(decoded(|| Ok(wrong[7])), Err::<u8, _>("its bytes are damaged".to_owned()));
        assert_eq!(decoded(|| Ok(1)), Ok(1));
    }
}
