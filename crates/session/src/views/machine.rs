//! `sys.dm_os_nodes`, `dm_os_memory_nodes`, `dm_os_sys_info`, `dm_os_host_info`: what the machine is, and what the server has of it.
//!
//! Schedulers belong to the node of the CPU that they are pinned to; those that are not pinned, to the first one. Memory nodes are the
//! hardware's, with the parts of buffer pools that have memory of each.

use super::Kind::{BigInt, Bit, Bytes, DateTime, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_engine::placement::PlannedNode;
use pikepole_engine::{NodeMemory, Server};
use pikepole_machine::{Pages, clock};
use pikepole_scheduler::SchedulerRow;
use pikepole_types::SqlError;

/// Schedulers of system tasks have ids from here on.
const HIDDEN_SCHEDULERS: u32 = 1_048_576;
/// Bytes of a page, in KB.
const PAGE_KB: u64 = 8;
/// Stack of a scheduler's thread, in bytes: std's for a thread.
const STACK_BYTES: i32 = 2 << 20;
/// What a process can address on a 64-bit machine, in KB: 47 bits.
pub(super) const ADDRESSES_KB: i64 = (1 << 47) / 1024;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_nodes",
        columns: &[
            ("node_id", SmallInt, No),
            ("node_state_desc", Text(256), No),
            ("memory_object_address", Bytes(8), Yes),
            ("memory_clerk_address", Bytes(8), Yes),
            ("io_completion_worker_address", Bytes(8), Yes),
            ("memory_node_id", SmallInt, No),
            ("cpu_affinity_mask", BigInt, No),
            ("online_scheduler_count", SmallInt, No),
            ("idle_scheduler_count", SmallInt, No),
            ("active_worker_count", Int, No),
            ("avg_load_balance", Int, No),
            ("timer_task_affinity_mask", BigInt, Yes),
            ("permanent_task_affinity_mask", BigInt, Yes),
            ("resource_monitor_state", Bit, Yes),
            ("online_scheduler_mask", BigInt, No),
            ("processor_group", SmallInt, No),
            ("cpu_count", Int, No),
        ],
        rows: nodes,
    },
    View {
        schema: "sys",
        name: "dm_os_memory_nodes",
        columns: &[
            ("memory_node_id", SmallInt, No),
            ("virtual_address_space_reserved_kb", BigInt, No),
            ("virtual_address_space_committed_kb", BigInt, No),
            ("locked_page_allocations_kb", BigInt, No),
            ("pages_kb", BigInt, No),
            ("shared_memory_reserved_kb", BigInt, No),
            ("shared_memory_committed_kb", BigInt, No),
            ("cpu_affinity_mask", BigInt, No),
            ("online_scheduler_mask", BigInt, No),
            ("processor_group", SmallInt, No),
            ("foreign_committed_kb", BigInt, No),
            ("target_kb", BigInt, No),
        ],
        rows: memory_nodes,
    },
    View {
        schema: "sys",
        name: "dm_os_sys_info",
        columns: &[
            ("cpu_ticks", BigInt, No),
            ("ms_ticks", BigInt, No),
            ("cpu_count", Int, No),
            ("hyperthread_ratio", Int, No),
            ("physical_memory_kb", BigInt, No),
            ("virtual_memory_kb", BigInt, No),
            ("committed_kb", BigInt, No),
            ("committed_target_kb", BigInt, No),
            ("visible_target_kb", BigInt, No),
            ("stack_size_in_bytes", Int, No),
            ("os_quantum", BigInt, No),
            ("os_error_mode", Int, Yes),
            ("os_priority_class", Int, Yes),
            ("max_workers_count", Int, Yes),
            ("scheduler_count", Int, No),
            ("scheduler_total_count", Int, No),
            ("deadlock_monitor_serial_number", Int, Yes),
            ("sqlserver_start_time_ms_ticks", BigInt, No),
            ("sqlserver_start_time", DateTime, No),
            ("affinity_type", Int, No),
            ("affinity_type_desc", Text(60), No),
            ("process_kernel_time_ms", BigInt, No),
            ("process_user_time_ms", BigInt, No),
            ("time_source", Int, Yes),
            ("time_source_desc", Text(60), Yes),
            ("virtual_machine_type", Int, No),
            ("virtual_machine_type_desc", Text(60), No),
            ("softnuma_configuration", Int, No),
            ("softnuma_configuration_desc", Text(60), No),
            ("process_physical_affinity", Text(3072), Yes),
            ("sql_memory_model", Int, No),
            ("sql_memory_model_desc", Text(120), No),
            ("socket_count", Int, No),
            ("cores_per_socket", Int, No),
            ("numa_node_count", Int, No),
            ("container_type", Int, No),
            ("container_type_desc", Text(60), No),
        ],
        rows: sys_info,
    },
    View {
        schema: "sys",
        name: "dm_os_host_info",
        columns: &[
            ("host_platform", Text(256), No),
            ("host_distribution", Text(256), No),
            ("host_release", Text(256), No),
            ("host_service_pack_level", Text(256), No),
            ("host_sku", Int, Yes),
            ("os_language_version", Int, No),
            ("host_architecture", Text(256), No),
        ],
        rows: host_info,
    },
];

/// The unit of times in `stat` files.
pub(super) const TICK_MS: u64 = 10;

/// Milliseconds since the machine started; since the server's clock did, where the system does not tell.
pub(super) fn ms_ticks() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds = text.split_whitespace().next().and_then(|seconds| seconds.parse::<f64>().ok());
    seconds.map_or_else(|| clock::now_us() / 1000, |seconds| (seconds * 1000.0) as u64)
}

/// The system that the server runs on, as it names itself.
fn host_info(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let text = std::fs::read_to_string("/etc/os-release").unwrap_or_default();
    let named = |key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix('='));
        line.unwrap_or_default().trim_matches('"').to_string()
    };
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "X64",
        other => other,
    };
    let row = view.row().text("host_platform", "Linux").text("host_distribution", named("NAME"));
    let row = row.text("host_release", named("VERSION_ID")).text("host_service_pack_level", "");
    Ok(vec![row.integer("os_language_version", 0u64).text("host_architecture", architecture).done()])
}

/// The node of each of these schedulers, by their order.
pub(super) fn nodes_of(server: &Server, schedulers: &[SchedulerRow]) -> Vec<usize> {
    let placement = server.placement();
    schedulers.iter().map(|row| row.cpu_id.map_or(0, |cpu| placement.node_of(cpu))).collect()
}

/// A set of small numbers as a mask; what does not fit into 63 bits is left out.
pub(super) fn mask(numbers: impl Iterator<Item = usize>) -> i64 {
    numbers.filter(|number| *number < 63).fold(0, |mask, number| mask | 1 << number)
}

fn nodes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let mut schedulers = source.server.schedulers().snapshot();
    schedulers.retain(|row| row.scheduler_id < HIDDEN_SCHEDULERS);
    let of_node = nodes_of(source.server, &schedulers);
    let mut nodes = source.server.placement().nodes.clone();
    if nodes.is_empty() {
        let cpus = source.server.topology().cpus.iter().map(|cpu| cpu.id).collect();
        nodes.push(PlannedNode { id: 0, memory_node: 0, cpus });
    }
    let row = |node: &PlannedNode| {
        let mine = || schedulers.iter().zip(&of_node).filter(|(_, of)| **of == node.id).map(|(row, _)| row);
        let online = || mine().filter(|row| row.is_online);
        let count = online().count() as u64;
        let tasks: u64 = mine().map(|row| row.current_tasks_count).sum();
        view.row()
            .integer("node_id", node.id as u64)
            .integer("memory_node_id", node.memory_node as u64)
            .text("node_state_desc", if count > 0 { "ONLINE" } else { "OFFLINE" })
            .integer("cpu_affinity_mask", mask(node.cpus.iter().copied()))
            .integer("online_scheduler_count", count)
            .integer("idle_scheduler_count", online().filter(|row| row.is_idle).count() as u64)
            .integer("active_worker_count", tasks)
            .integer("avg_load_balance", tasks / count.max(1))
            .integer("online_scheduler_mask", mask(online().map(|row| row.scheduler_id as usize)))
            .integer("cpu_count", node.cpus.len() as u64)
            .done()
    };
    Ok(nodes.iter().map(row).collect())
}

fn memory_nodes(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let (server, topology) = (source.server, source.server.topology());
    let mut schedulers = server.schedulers().snapshot();
    schedulers.retain(|row| row.scheduler_id < HIDDEN_SCHEDULERS);
    let of_node = nodes_of(server, &schedulers);
    let row = |memory: &NodeMemory| {
        let is_near = |node: usize| server.placement().nodes.get(node).is_none_or(|of| of.memory_node == memory.node);
        let near = schedulers.iter().zip(&of_node).filter(|(row, node)| row.is_online && is_near(**node));
        let cpus = topology.cpus.iter().filter(|cpu| cpu.node == memory.node);
        let pages_kb = memory.pages * PAGE_KB;
        view.row()
            .integer("memory_node_id", memory.node as u64)
            .integer("virtual_address_space_reserved_kb", memory.frames * PAGE_KB)
            .integer("virtual_address_space_committed_kb", pages_kb)
            .integer("pages_kb", pages_kb)
            .integer("cpu_affinity_mask", mask(cpus.map(|cpu| cpu.id)))
            .integer("online_scheduler_mask", mask(near.map(|(row, _)| row.scheduler_id as usize)))
            .integer("target_kb", memory.target * PAGE_KB)
            .done()
    };
    Ok(server.memory_nodes().iter().map(row).collect())
}

/// The memory of the control group, or of the machine, in KB.
pub(crate) fn physical_memory_kb(server: &Server) -> u64 {
    server.memory_limit().system.bytes >> 10
}

/// Time of this process in the kernel and outside of it, in milliseconds.
fn process_times_ms() -> (u64, u64) {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // Behind the command's name, which is in parentheses and may hold blanks: utime is the 12th field, stime the 13th.
    let fields: Vec<&str> = text.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0) * TICK_MS;
    (field(12), field(11))
}

fn sys_info(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let schedulers = source.server.schedulers().snapshot();
    let visible = schedulers.iter().filter(|row| row.scheduler_id < HIDDEN_SCHEDULERS).count() as u64;
    let topology = source.server.topology();
    let (cpus, sockets) = (topology.cpus.len() as u64, topology.sockets().len().max(1) as u64);
    let (used_kb, target_kb) = (source.server.budget().used() >> 10, source.server.budget().limit() >> 10);
    let (kernel_ms, user_ms) = process_times_ms();
    let is_masked = source.server.process_affinity().is_some();
    let is_soft = source.server.soft_numa();
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let is_virtual = flags.split_whitespace().any(|flag| flag == "hypervisor");
    let memory = source.server.memory();
    let is_large = !memory.is_empty() && memory.iter().all(|of| of.buffer_pool.got == Pages::Reserved);
    let ms_ticks = ms_ticks();
    let up_ms = super::now_us().saturating_sub(u64::try_from(source.server.started_us()).unwrap_or(0)) / 1000;
    let row = view
        .row()
        .integer("cpu_ticks", clock::ticks())
        .integer("ms_ticks", ms_ticks)
        .integer("cpu_count", cpus)
        .integer("hyperthread_ratio", cpus / sockets)
        .integer("physical_memory_kb", physical_memory_kb(source.server))
        .integer("virtual_memory_kb", ADDRESSES_KB)
        .integer("committed_kb", used_kb)
        .integer("committed_target_kb", target_kb)
        .integer("visible_target_kb", target_kb)
        .integer("stack_size_in_bytes", STACK_BYTES)
        .integer("os_quantum", schedulers.first().map_or(0, |row| row.quantum_length_us / 1000))
        .integer("scheduler_count", visible)
        .integer("scheduler_total_count", schedulers.len() as u64)
        .integer("sqlserver_start_time_ms_ticks", ms_ticks.saturating_sub(up_ms))
        .moment("sqlserver_start_time", source.server.started_us())
        .integer("affinity_type", if is_masked { 1 } else { 2 })
        .text("affinity_type_desc", if is_masked { "MANUAL" } else { "AUTO" })
        .integer("process_kernel_time_ms", kernel_ms)
        .integer("process_user_time_ms", user_ms)
        .integer("virtual_machine_type", i64::from(is_virtual))
        .text("virtual_machine_type_desc", if is_virtual { "HYPERVISOR" } else { "NONE" })
        .integer("softnuma_configuration", i64::from(is_soft))
        .text("softnuma_configuration_desc", if is_soft { "ON" } else { "OFF" })
        .integer("sql_memory_model", if is_large { 3 } else { 1 })
        .text("sql_memory_model_desc", if is_large { "LARGE_PAGES" } else { "CONVENTIONAL" })
        .integer("socket_count", sockets)
        .integer("cores_per_socket", topology.cores().len() as u64 / sockets)
        .integer("numa_node_count", topology.nodes().len().max(1) as u64)
        // Of Windows, which there are none of.
        .integer("container_type", 0)
        .text("container_type_desc", "NONE");
    Ok(vec![row.done()])
}
