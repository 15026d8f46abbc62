//! `sys.dm_os_wait_stats`, `dm_os_latch_stats`, `dm_os_spinlock_stats`, `dm_os_performance_counters`.

use super::Kind::{BigInt, Int, Real, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_contention::{CounterKind, SpinlockClass};
use pikepole_engine::NodeMemory;
use pikepole_machine::memory::Clerk;
use pikepole_types::{SqlError, Value};

/// Microseconds of a millisecond, the unit of these views.
const MS: u64 = 1_000;
/// What a counter's object is prefixed with, as the default instance of the engine people know.
const OBJECT_PREFIX: &str = "SQLServer:";

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_wait_stats",
        columns: &[
            ("wait_type", Text(60), No),
            ("waiting_tasks_count", BigInt, No),
            ("wait_time_ms", BigInt, No),
            ("max_wait_time_ms", BigInt, No),
            ("signal_wait_time_ms", BigInt, No),
        ],
        rows: waits,
    },
    View {
        schema: "sys",
        name: "dm_os_latch_stats",
        columns: &[
            ("latch_class", Text(60), No),
            ("waiting_requests_count", BigInt, No),
            ("wait_time_ms", BigInt, No),
            ("max_wait_time_ms", BigInt, No),
        ],
        rows: latches,
    },
    View {
        schema: "sys",
        name: "dm_os_spinlock_stats",
        columns: &[
            ("name", Text(256), No),
            ("collisions", BigInt, No),
            ("spins", BigInt, No),
            ("spins_per_collision", Real, No),
            ("sleep_time", BigInt, No),
            ("backoffs", Int, No),
            ("acquisitions", BigInt, Yes),
        ],
        rows: spinlocks,
    },
    View {
        schema: "sys",
        name: "dm_os_performance_counters",
        columns: &[
            ("object_name", Text(128), No),
            ("counter_name", Text(128), No),
            ("instance_name", Text(128), No),
            ("cntr_value", BigInt, No),
            ("cntr_type", Int, No),
        ],
        rows: counters,
    },
];

fn waits(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.statistics().waits();
    Ok(rows
        .iter()
        .map(|row| {
            view.row()
                .text("wait_type", row.wait_type)
                .integer("waiting_tasks_count", row.waiting_tasks_count)
                .integer("wait_time_ms", row.wait_time_us / MS)
                .integer("max_wait_time_ms", row.max_wait_time_us / MS)
                .integer("signal_wait_time_ms", row.signal_wait_time_us / MS)
                .done()
        })
        .collect())
}

fn latches(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.statistics().latches();
    Ok(rows
        .iter()
        .map(|row| {
            view.row()
                .text("latch_class", row.class)
                .integer("waiting_requests_count", row.waiting_requests_count)
                .integer("wait_time_ms", row.wait_time_us / MS)
                .integer("max_wait_time_ms", row.max_wait_time_us / MS)
                .done()
        })
        .collect())
}

/// The classes that are no locks, so that nothing counts their acquisitions: latches that spin, and waits for transactions that commit.
const UNCOUNTED: [SpinlockClass; 2] = [SpinlockClass::LATCH_SPIN_STATS, SpinlockClass::XTP_COMMIT];

fn spinlocks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let rows = source.server.statistics().spinlocks();
    Ok(rows
        .iter()
        .map(|row| {
            let per_collision = if row.collisions == 0 { 0.0 } else { row.spins as f32 / row.collisions as f32 };
            let built = view
                .row()
                .text("name", row.name)
                .integer("collisions", row.collisions)
                .integer("spins", row.spins)
                .value("spins_per_collision", Value::Real(per_collision))
                .integer("sleep_time", row.sleep_time_us / MS)
                .integer("backoffs", row.backoffs);
            match UNCOUNTED.iter().any(|class| class.name() == row.name) {
                true => built.done(),
                false => built.integer("acquisitions", row.acquisitions).done(),
            }
        })
        .collect())
}

/// The server's counters, those of each database, and those of each memory node.
fn counters(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |object: &str, name: &'static str, instance: &str, value: u64, kind: CounterKind| {
        view.row()
            .text("object_name", format!("{OBJECT_PREFIX}{object}"))
            .text("counter_name", name)
            .text("instance_name", instance)
            .integer("cntr_value", value)
            .integer("cntr_type", kind.cntr_type())
            .done()
    };
    let counted = source.server.statistics().counters();
    let counted = counted.iter().map(|of| row(of.object, of.name, &of.instance, of.value, of.kind));
    let nodes = source.server.memory_nodes();
    let of_node =
        |of: &NodeMemory| row("Buffer Node", "Database pages", &format!("{:03}", of.node), of.pages, CounterKind::Raw);
    let memory = memory_counters(source).into_iter();
    let memory = memory.map(|(name, value)| row("Memory Manager", name, "", value, CounterKind::Raw));
    Ok(counted.chain(nodes.iter().map(of_node)).chain(memory).collect())
}

/// Sizes of the server's memory, by the names of their counters.
fn memory_counters(source: &Source<'_>) -> [(&'static str, u64); 7] {
    let (budget, workspace) = (source.server.budget(), source.server.workspace().totals());
    let pools = budget.mapped(Clerk::BufferPool);
    [
        ("Total Server Memory (KB)", budget.used() >> 10),
        ("Target Server Memory (KB)", budget.limit() >> 10),
        ("Database Cache Memory (KB)", pools >> 10),
        ("Free Memory (KB)", budget.limit().saturating_sub(budget.used()) >> 10),
        ("Granted Workspace Memory (KB)", workspace.given_bytes >> 10),
        ("Memory Grants Outstanding", workspace.grants as u64),
        ("Memory Grants Pending", workspace.waiting as u64),
    ]
}
