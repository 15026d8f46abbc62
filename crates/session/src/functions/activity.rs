//! What the server has done since it started: `@@CPU_BUSY`, `@@TOTAL_READ` and their kin, which `sp_monitor` shows in SQL Server.
//!
//! Times are in ticks of [`TICK_US`]; like the counts they are `int`, and stay at its greatest value once they are above it.

use super::{Answer, Call, int};
use crate::cpu_history;
use pikepole_contention::Counter;
use pikepole_engine::Database;
use pikepole_machine::clock;
use std::sync::Arc;

/// `@@TIMETICKS`: microseconds of a tick.
pub(super) const TICK_US: u64 = 31_250;

fn count(number: u64) -> Answer {
    int(i32::try_from(number).unwrap_or(i32::MAX))
}

fn ticks(microseconds: u64) -> Answer {
    count(microseconds / TICK_US)
}

/// A sum over the open databases.
fn over_databases(call: &Call<'_>, of: fn(&Database) -> u64) -> u64 {
    let server = &call.host.server;
    let databases = server.databases().into_iter().filter_map(|info| server.database_by_id(info.id));
    databases.map(|database: Arc<Database>| of(&database)).sum()
}

pub(super) fn connections(call: &Call<'_>) -> Answer {
    count(call.host.server.statistics().counter(Counter::Logins))
}

pub(super) fn cpu_busy(_: &Call<'_>) -> Answer {
    ticks(cpu_history::process_us())
}

/// The CPUs' time since the start that the process has not used.
pub(super) fn idle(call: &Call<'_>) -> Answer {
    let server = &call.host.server;
    let up_us = u64::try_from(clock::unix_time_us() - server.started_us()).unwrap_or(0);
    let all_us = up_us.saturating_mul(server.schedulers().count() as u64);
    ticks(all_us.saturating_sub(cpu_history::process_us()))
}

pub(super) fn io_busy(call: &Call<'_>) -> Answer {
    ticks(over_databases(call, |database| {
        let data = database.store().data_io();
        data.read_us + data.write_us + database.log_stats().flush_write_us
    }))
}

pub(super) fn packets_received(call: &Call<'_>) -> Answer {
    count(call.host.registry.packets().0)
}

pub(super) fn packets_sent(call: &Call<'_>) -> Answer {
    count(call.host.registry.packets().1)
}

pub(super) fn total_read(call: &Call<'_>) -> Answer {
    count(over_databases(call, |database| database.store().data_io().reads))
}

pub(super) fn total_write(call: &Call<'_>) -> Answer {
    count(over_databases(call, |database| database.store().data_io().writes + database.log_stats().flushes))
}
