//! Blocks that are too large to be made without asking, in debug builds: the memory fuzz fails for one.

use std::backtrace::Backtrace;
use std::cell::Cell;
use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::OnceLock;

/// Bytes by which one block may be larger than what its thread has asked for last. Above the 19 MB of a password's hash.
const UNASKED_MAX: i64 = 32 << 20;

static FILE: OnceLock<PathBuf> = OnceLock::new();

thread_local! {
    /// Bytes that the thread has asked for last and has not taken since.
    static LEFT: Cell<i64> = const { Cell::new(0) };
    static IS_WRITING: Cell<bool> = const { Cell::new(false) };
}

/// From here on such blocks, and who makes them, are written to a file.
pub fn audit_to(file: PathBuf) {
    FILE.get_or_init(|| file);
}

/// The thread has been granted so many bytes.
pub(super) fn granted(bytes: i64) {
    LEFT.set(bytes);
}

/// The thread has taken so many bytes in one block.
pub(super) fn taken(bytes: i64) {
    let left = LEFT.get();
    LEFT.set((left - bytes).max(0));
    if bytes > left + UNASKED_MAX
        && let Some(file) = FILE.get()
        && !IS_WRITING.replace(true)
    {
        let told = OpenOptions::new().create(true).append(true).open(file).and_then(|mut file| {
            writeln!(file, "{bytes} bytes in one block, {left} asked for\n{}", Backtrace::force_capture())
        });
        if let Err(error) = told {
            eprintln!("{bytes} bytes in one block, and it cannot be written who made it: {error}");
        }
        IS_WRITING.set(false);
    }
}
