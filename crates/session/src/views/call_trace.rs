//! `sys.dm_pikepole_call_trace`: where the time of the last requests over the network went.

use super::Kind::{BigInt, DateTime, Float, Int, Text};
use super::Nullable::No;
use super::{Rows, Source, View};
use crate::call_trace::TracedCall;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_pikepole_call_trace",
    columns: &[
        ("request_number", BigInt, No),
        ("session_id", Int, No),
        ("kind", Text(20), No),
        ("calls", Int, No),
        ("received_at", DateTime, No),
        ("idle_us", Float, No),
        ("decode_us", Float, No),
        ("run_us", Float, No),
        ("compile_us", Float, No),
        ("log_wait_us", Float, No),
        ("other_wait_us", Float, No),
        ("signal_wait_us", Float, No),
        ("answer_us", Float, No),
        ("send_us", Float, No),
        ("cpu_us", Float, No),
    ],
    rows: calls,
}];

fn calls(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let us = |nanoseconds: u64| nanoseconds as f64 / 1000.0;
    let row = |(number, call): &(u64, TracedCall)| {
        view.row()
            .integer("request_number", *number)
            .integer("session_id", call.session_id)
            .text("kind", call.kind)
            .integer("calls", call.calls)
            .moment("received_at", call.received_us)
            .float("idle_us", us(call.idle_ns))
            .float("decode_us", us(call.decode_ns))
            .float("run_us", us(call.run_ns))
            .float("compile_us", us(call.compile_ns))
            .float("log_wait_us", us(call.log_wait_ns))
            .float("other_wait_us", us(call.other_wait_ns))
            .float("signal_wait_us", us(call.signal_wait_ns))
            .float("answer_us", us(call.answer_ns))
            .float("send_us", us(call.send_ns))
            .float("cpu_us", us(call.cpu_ns))
            .done()
    };
    Ok(source.registry.traced_calls(source.server.traced_calls()).iter().map(row).collect())
}
