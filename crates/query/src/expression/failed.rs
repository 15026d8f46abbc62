//! Arithmetic that fails while ARITHABORT and ANSI_WARNINGS are off: its value is NULL, and a message says so when the statement ends.

use super::Fault;
use pikepole_types::{Context, SqlError};

/// Takes an error of arithmetic for a NULL, if that is what is wanted.
///
/// # Errors
/// The error, if it is another one.
#[cold]
pub(super) fn null_instead(fault: Fault, functions: &mut Context) -> Result<(), Fault> {
    let told = match fault.number {
        _ if !functions.fails_to_null => return Err(fault),
        220 | 232 | 8115 => SqlError::overflow_occurred(),
        8134 => SqlError::divide_by_zero_occurred(),
        3623 => SqlError::invalid_floating_point_occurred(),
        _ => return Err(fault),
    };
    // Once for a statement, however many rows it is of.
    if functions.failed.iter().all(|known| known.number != told.number) {
        functions.failed.push(told);
    }
    Ok(())
}
