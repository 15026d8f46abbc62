//! Batches and calls as a client sends them: headers, then the text, or the procedure and its parameters.

use crate::error::TdsError;
use crate::put::Put;
use crate::request::SystemProcedure;
use crate::value::TypeInfo;
use crate::version::TdsVersion;
use pikepole_types::{SqlType, Value};

/// The one version that the client speaks in requests; 8.0 is the same.
const VERSION: TdsVersion = TdsVersion::V7_4;

/// The headers of a request: one, which names the transaction.
fn put_headers(transaction: u64, out: &mut Vec<u8>) {
    out.put_u32(22);
    out.put_u32(18);
    out.put_u16(2);
    out.put_u64(transaction);
    out.put_u32(1);
}

/// Appends the message of a batch.
pub fn put_batch(text: &str, transaction: u64, out: &mut Vec<u8>) {
    put_headers(transaction, out);
    out.put_utf16(text);
}

/// Appends the beginning of a message that calls a system procedure; its parameters follow.
pub fn put_call(procedure: SystemProcedure, transaction: u64, out: &mut Vec<u8>) {
    put_headers(transaction, out);
    put_procedure(procedure, out);
}

/// Appends the beginning of another call to a message of calls; its parameters follow.
pub fn put_next_call(procedure: SystemProcedure, out: &mut Vec<u8>) {
    out.put_u8(0xFF);
    put_procedure(procedure, out);
}

fn put_procedure(procedure: SystemProcedure, out: &mut Vec<u8>) {
    out.put_u16(0xFFFF);
    out.put_u16(procedure.number());
    out.put_u16(0);
}

/// Appends a parameter without a name. `output`: its value is to come back.
///
/// # Errors
/// A value that does not fit its type: nothing is written then.
pub fn put_parameter(output: bool, ty: &SqlType, value: &Value, out: &mut Vec<u8>) -> Result<(), TdsError> {
    let start = out.len();
    out.put_u8(0);
    out.put_u8(u8::from(output));
    let info = TypeInfo::of(ty, true, VERSION);
    info.write(out);
    let written = info.write_value(ty, value, out);
    if written.is_err() {
        out.truncate(start);
    }
    written
}
