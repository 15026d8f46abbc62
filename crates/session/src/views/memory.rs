//! `sys.dm_os_process_memory` and `sys.dm_os_memory_clerks`: what the process has of the machine's memory, and in which pages.
//!
//! Memory in pages of 2 MB is what the kernel counts, not what was asked for. Of the clerks, what is reserved are addresses, and `pages_kb` is
//! what counts against the limit of the server: all clerks together are what `sys.dm_os_sys_info` has as `committed_kb`.

use super::Kind::{BigInt, Bit, Bytes, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::machine::ADDRESSES_KB;
use super::{Rows, Source, View, in_memory, in_memory_transactions};
use pikepole_engine::Database;
use pikepole_machine::memory::{Clerk, GENERAL_CLERK, PLAN_CLERK, WORKSPACE_CLERK, XTP_CLERK};
use pikepole_machine::{BLOCK, LARGE_PAGE, LargePageUse, MemoryGrant, Pages, SystemFiles};
use pikepole_types::SqlError;
use std::sync::Arc;

pub(super) const VIEWS: &[View] = &[
    View {
        schema: "sys",
        name: "dm_os_process_memory",
        columns: &[
            ("physical_memory_in_use_kb", BigInt, No),
            ("large_page_allocations_kb", BigInt, No),
            ("locked_page_allocations_kb", BigInt, No),
            ("total_virtual_address_space_kb", BigInt, No),
            ("virtual_address_space_reserved_kb", BigInt, No),
            ("virtual_address_space_committed_kb", BigInt, No),
            ("virtual_address_space_available_kb", BigInt, No),
            ("page_fault_count", BigInt, No),
            ("memory_utilization_percentage", Int, No),
            ("available_commit_limit_kb", BigInt, No),
            ("process_physical_memory_low", Bit, No),
            ("process_virtual_memory_low", Bit, No),
        ],
        rows: process_memory,
    },
    View {
        schema: "sys",
        name: "dm_os_memory_clerks",
        columns: &[
            ("memory_clerk_address", Bytes(8), No),
            ("type", Text(60), No),
            ("name", Text(256), No),
            ("memory_node_id", SmallInt, No),
            ("pages_kb", BigInt, No),
            ("virtual_memory_reserved_kb", BigInt, No),
            ("virtual_memory_committed_kb", BigInt, No),
            ("awe_allocated_kb", BigInt, No),
            ("shared_memory_reserved_kb", BigInt, No),
            ("shared_memory_committed_kb", BigInt, No),
            ("page_size_in_bytes", BigInt, No),
            ("page_allocator_address", Bytes(8), No),
            ("host_address", Bytes(8), No),
            ("parent_memory_broker_address", Bytes(8), Yes),
        ],
        rows: memory_clerks,
    },
];

/// The kernel's account of this process.
struct Account {
    status: String,
    faults: u64,
}

impl Account {
    fn read(files: &SystemFiles) -> Account {
        let stat = files.read("proc/self/stat").unwrap_or_default();
        // Behind the command's name, which may hold blanks: minflt is the 8th field, majflt the 10th.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        Account { status: files.read("proc/self/status").unwrap_or_default(), faults: field(7) + field(9) }
    }

    /// A line of `/proc/self/status`, in KB.
    fn kb(&self, name: &str) -> u64 {
        kb_of(&self.status, name)
    }
}

/// The number behind a name in a text whose lines are `name:  1234 kB`; 0 when there is none.
pub(super) fn kb_of(text: &str, name: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

fn process_memory(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let files = SystemFiles::below("/");
    let account = Account::read(&files);
    let budget = source.server.budget();
    // Reserved large pages are not part of the resident set.
    let in_use = account.kb("VmRSS") + account.kb("HugetlbPages");
    let reserved = account.kb("VmSize");
    let row = view
        .row()
        .integer("physical_memory_in_use_kb", in_use)
        .integer("large_page_allocations_kb", LargePageUse::of(&files).total() >> 10)
        .integer("locked_page_allocations_kb", account.kb("VmLck"))
        .integer("total_virtual_address_space_kb", ADDRESSES_KB)
        .integer("virtual_address_space_reserved_kb", reserved)
        .integer("virtual_address_space_committed_kb", in_use + account.kb("VmSwap"))
        .integer("virtual_address_space_available_kb", ADDRESSES_KB.saturating_sub_unsigned(reserved))
        .integer("page_fault_count", account.faults)
        .integer("memory_utilization_percentage", in_use * 100 / (in_use + account.kb("VmSwap")).max(1))
        .integer("available_commit_limit_kb", budget.limit().saturating_sub(budget.used()) >> 10)
        .bit("process_physical_memory_low", budget.used() > budget.caches_most());
    Ok(vec![row.done()])
}

/// A row of the clerks.
struct ClerkRow<'c> {
    kind: &'static str,
    name: &'c str,
    number: u64,
    pages_kb: u64,
    /// Addresses, and pages, of memory that is mapped.
    grant: Option<&'c MemoryGrant>,
}

fn memory_clerks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |clerk: &ClerkRow<'_>| {
        let is_small = clerk.grant.is_none_or(|grant| grant.got == Pages::Small);
        view.row()
            .address("memory_clerk_address", clerk.number)
            .text("type", clerk.kind)
            .text("name", clerk.name)
            .integer("pages_kb", clerk.pages_kb)
            .integer("virtual_memory_reserved_kb", clerk.grant.map_or(0, |grant| grant.bytes as u64 >> 10))
            .integer("virtual_memory_committed_kb", clerk.grant.map_or(0, |_| clerk.pages_kb))
            .integer("page_size_in_bytes", (if is_small { BLOCK } else { LARGE_PAGE }) as u64)
            .done()
    };
    let memory = source.server.memory();
    let mut rows = Rows::new();
    for of in &memory {
        let number = u64::from(of.database_id.unsigned_abs()) << 8;
        let name = of.database.as_str();
        rows.push(row(&ClerkRow {
            kind: Clerk::BufferPool.type_name(),
            name,
            number: number | 1,
            pages_kb: of.pool_bytes >> 10,
            grant: Some(&of.buffer_pool),
        }));
        rows.push(row(&ClerkRow {
            kind: Clerk::LogPool.type_name(),
            name,
            number: number | 2,
            pages_kb: of.ring_bytes >> 10,
            grant: Some(&of.log_buffer),
        }));
    }
    // Parts of the heap: plans by a guess, workspaces as operators count them, in-memory tables by database, and all else.
    let budget = source.server.budget();
    let (plans, workspace) = (source.registry.plans().bytes_held(), source.server.workspace().totals().used_bytes);
    let garbage = in_memory_transactions::garbage(source).allocated_bytes;
    let in_memory =
        |database: &Arc<Database>| Some((format!("DB_ID_{}", database.id()), in_memory::bytes_of(database)?));
    let in_memory: Vec<(String, u64)> = source.every_database().iter().filter_map(in_memory).collect();
    let named = plans + workspace + garbage + in_memory.iter().map(|(_, bytes)| bytes).sum::<u64>();
    let general = (budget.heap() + budget.uncounted()).saturating_sub(named);
    let mut parts = vec![
        (PLAN_CLERK, "SQL Plans", plans),
        (WORKSPACE_CLERK, "Default", workspace),
        (GENERAL_CLERK, "Default", general),
        (XTP_CLERK, "Default", garbage),
    ];
    parts.extend(in_memory.iter().map(|(name, bytes)| (XTP_CLERK, name.as_str(), *bytes)));
    rows.extend(parts.into_iter().zip(1..).map(|((kind, name, bytes), number)| {
        row(&ClerkRow { kind, name, number, pages_kb: bytes >> 10, grant: None })
    }));
    Ok(rows)
}
