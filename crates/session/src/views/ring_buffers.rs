//! `sys.dm_os_ring_buffers`: of the buffers that SQL Server has, the one with the use of the CPUs.

use super::Kind::{BigInt, Bytes, LongText, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View, machine};
use crate::cpu_history::CpuSample;
use pikepole_machine::clock;
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_os_ring_buffers",
    columns: &[
        ("ring_buffer_address", Bytes(8), No),
        ("ring_buffer_type", Text(60), No),
        ("timestamp", BigInt, No),
        ("record", LongText, Yes),
    ],
    rows: ring_buffers,
}];

const SCHEDULER_MONITOR: &str = "RING_BUFFER_SCHEDULER_MONITOR";
/// Times of the process are told in units of 100 ns.
const UNITS_OF_US: u64 = 10;

fn ring_buffers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let samples = source.registry.cpu_history().look();
    let (now_us, ms_ticks) = (clock::now_us(), machine::ms_ticks());
    let row = |sample: &CpuSample| {
        let at_ms = ms_ticks.saturating_sub(now_us.saturating_sub(sample.at_us) / 1000);
        view.row()
            .address("ring_buffer_address", 1)
            .text("ring_buffer_type", SCHEDULER_MONITOR)
            .integer("timestamp", at_ms)
            .text("record", record(sample, at_ms))
            .done()
    };
    Ok(samples.iter().map(row).collect())
}

/// A record as XML, with the elements that scripts look for.
fn record(sample: &CpuSample, at_ms: u64) -> String {
    let CpuSample { id, process_percent, idle_percent, user_us, kernel_us, page_faults, .. } = *sample;
    let (user, kernel) = (user_us * UNITS_OF_US, kernel_us * UNITS_OF_US);
    format!(
        "<Record id = \"{id}\" type =\"{SCHEDULER_MONITOR}\" time =\"{at_ms}\"><SchedulerMonitorEvent><SystemHealth>\
         <ProcessUtilization>{process_percent}</ProcessUtilization><SystemIdle>{idle_percent}</SystemIdle>\
         <UserModeTime>{user}</UserModeTime><KernelModeTime>{kernel}</KernelModeTime>\
         <PageFaults>{page_faults}</PageFaults></SystemHealth></SchedulerMonitorEvent></Record>"
    )
}
