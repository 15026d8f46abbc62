//! `sys.dm_os_ring_buffers`: the one with the use of the CPUs, and the last acquisitions of spinlocks that backed off, with the
//! data of the extended event `spinlock_backoff`.

use super::Kind::{BigInt, Bytes, LongText, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View, machine};
use crate::cpu_history::CpuSample;
use pikepole_contention::BackoffEvent;
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
const SPINLOCK_BACKOFF: &str = "RING_BUFFER_SPINLOCK_BACKOFF";
/// Times of the process are told in units of 100 ns.
const UNITS_OF_US: u64 = 10;

fn ring_buffers(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let samples = source.registry.cpu_history().look();
    let (now_us, ms_ticks) = (clock::now_us(), machine::ms_ticks());
    let at_ms = |at_us: u64| ms_ticks.saturating_sub(now_us.saturating_sub(at_us) / 1000);
    let row = |address: u64, kind: &str, at_ms: u64, record: String| {
        let row = view.row().address("ring_buffer_address", address).text("ring_buffer_type", kind);
        row.integer("timestamp", at_ms).text("record", record).done()
    };
    let of_sample = |sample: &CpuSample| {
        let at_ms = at_ms(sample.at_us);
        row(1, SCHEDULER_MONITOR, at_ms, record(sample, at_ms))
    };
    let of_event = |event: &BackoffEvent| {
        let at_ms = at_ms(event.at_us);
        row(2, SPINLOCK_BACKOFF, at_ms, backoff_record(event, at_ms))
    };
    let events = source.server.statistics().backoff_events();
    Ok(samples.iter().map(of_sample).chain(events.iter().map(of_event)).collect())
}

fn backoff_record(event: &BackoffEvent, at_ms: u64) -> String {
    let BackoffEvent { number, class, slot, spins, backoffs, sleep_time_us, .. } = *event;
    let spinlock = class.name();
    format!(
        "<Record id = \"{number}\" type =\"{SPINLOCK_BACKOFF}\" time =\"{at_ms}\"><event name=\"spinlock_backoff\" \
         package=\"sqlos\"><data name=\"type\"><text>{spinlock}</text></data><data name=\"scheduler_slot\">\
         <value>{slot}</value></data><data name=\"spins\"><value>{spins}</value></data><data name=\"backoffs\">\
         <value>{backoffs}</value></data><data name=\"sleep_time_us\"><value>{sleep_time_us}</value></data></event>\
         </Record>"
    )
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
