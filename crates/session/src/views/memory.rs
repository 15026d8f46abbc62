//! `sys.dm_os_process_memory` and `sys.dm_os_memory_clerks`: what the process has of the machine's memory, and in which pages.
//!
//! Memory in pages of 2 MB is what the kernel counts, not what was asked for; of the clerks, what is reserved was granted when the
//! database was opened, and `pages_kb` are frames of the buffer pool that hold a page.

use super::Kind::{BigInt, Bit, Bytes, Int, SmallInt, Text};
use super::Nullable::{No, Yes};
use super::machine::ADDRESSES_KB;
use super::{Rows, Source, View};
use pikepole_machine::{BLOCK, LARGE_PAGE, LargePageUse, MemoryGrant, Pages, SystemFiles};
use pikepole_types::SqlError;

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

/// A page of the buffer pool, in KB.
const PAGE_KB: u64 = 8;

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

fn process_memory(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let files = SystemFiles::below("/");
    let account = Account::read(&files);
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
        .integer("available_commit_limit_kb", kb_of(&files.read("proc/meminfo").unwrap_or_default(), "MemAvailable"));
    Ok(vec![row.done()])
}

fn memory_clerks(view: &View, source: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |kind: &str, database: &str, database_id: i32, number: u64, pages_kb: u64, grant: &MemoryGrant| {
        let size = if grant.got == Pages::Small { BLOCK } else { LARGE_PAGE };
        view.row()
            .address("memory_clerk_address", (u64::from(database_id.unsigned_abs()) << 8) | number)
            .text("type", kind)
            .text("name", database)
            .integer("pages_kb", pages_kb)
            .integer("virtual_memory_reserved_kb", grant.bytes as u64 >> 10)
            .integer("page_size_in_bytes", size as u64)
            .done()
    };
    let rows = source.server.memory().into_iter().flat_map(|of| {
        let (name, id) = (of.database.as_str(), of.database_id);
        [
            row("MEMORYCLERK_SQLBUFFERPOOL", name, id, 1, of.pages * PAGE_KB, &of.buffer_pool),
            row("MEMORYCLERK_SQLLOGPOOL", name, id, 2, 0, &of.log_buffer),
        ]
    });
    Ok(rows.collect())
}
