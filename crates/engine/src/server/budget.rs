//! The memory limit of a server, and the task that looks after it.
//!
//! | what | from |
//! |---|---|
//! | the limit | four fifths of what the control group, or else the machine, has; `max server memory (MB)` when that is less |
//! | what caches keep | `min server memory (MB)` |
//! | a buffer pool | [`ServerOptions::buffer_pool_bytes`], or else what caches may have of the limit |
//! | log buffers, and the pages that memory is in | the limit at the start |
//! | the monitor | looks twice a second at what the process really has, has caches give way, and has the allocator give back what was freed |

use std::sync::{Arc, Weak};
use std::time::Duration;

use pikepole_contention::WaitType;
use pikepole_contention::sync::RwLock;
use pikepole_log::LogOptions;
use pikepole_machine::memory::{Budget, Clerk, LimitSource, MemoryLimit};
use pikepole_machine::{Pages, SystemFiles, allocator};
use pikepole_scheduler as scheduler;
use pikepole_storage::{Store, StoreOptions};

use super::configuration::ServerConfiguration;
use super::{Databases, Entry, Server, ServerOptions, read};

/// The limit where the system says of none.
const LIMIT_UNKNOWN: u64 = 1 << 30;

/// How often the monitor looks.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// Bytes that the process has beyond what is counted before the allocator is to give back what it keeps, and the part of the limit
/// that does as well.
const KEPT_BYTES: u64 = 64 << 20;
const KEPT_PART: u64 = 8;

/// Looks between two times that the allocator gives back in vain.
const LOOKS_AFTER_VAIN: u32 = 120;

/// Servers with less memory than this take it in pages of 4 KB: a large page for each database would be much of it.
const SMALL_SERVER_BYTES: u64 = 1 << 30;
/// The part of the server's memory that the ring of a log has at most.
const RING_PART: u64 = 32;
/// The smallest ring that takes the records of pages.
const RING_BYTES_MIN: usize = 8 << 20;
/// Bytes of a pool in reserved large pages, which are taken at once, unless a size is set.
const RESERVED_POOL_BYTES: u64 = 1 << 30;

/// The largest ring of a log in a server that is started with so little memory; `None`: no memory is as little.
fn ring_bytes_max(limit: u64) -> Option<usize> {
    let ring = usize::try_from(limit / RING_PART).unwrap_or(usize::MAX).next_power_of_two() / 2;
    (limit < SMALL_SERVER_BYTES).then_some(ring.max(RING_BYTES_MIN))
}

/// Sizes that suit the server's memory. Buffer pools have addresses for all that the limit can become while the server runs.
pub(super) fn fit_to_memory(
    budget: &Arc<Budget>,
    system: MemoryLimit,
    options: &ServerOptions,
    log: &mut LogOptions,
    store: &mut StoreOptions,
) {
    if let Some(ring) = ring_bytes_max(budget.limit()) {
        log.memory_pages = log.memory_pages.min(Pages::Small);
        store.memory_pages = store.memory_pages.min(Pages::Small);
        log.record_bytes_max = log.record_bytes_max.min(24 << 10);
        log.ring_bytes = log.ring_bytes.min(ring);
    }
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    if store.memory_pages == Pages::Reserved {
        if options.buffer_pool_bytes.is_none() && !options.small {
            store.pool_bytes = bytes(RESERVED_POOL_BYTES.min(budget.limit() / 4));
        }
    } else {
        let set = (options.buffer_pool_bytes.is_some() || options.small).then_some(store.pool_bytes);
        store.pool_bytes_max = set.unwrap_or_else(|| bytes(of_system(system)));
        store.pool_bytes = store.pool_bytes_max.min(bytes(budget.caches_most()));
    }
    store.budget = Some(Arc::clone(budget));
}

/// The most that a server takes of the memory that the system has.
fn of_system(system: MemoryLimit) -> u64 {
    match system.source {
        LimitSource::Unknown => LIMIT_UNKNOWN,
        LimitSource::Machine | LimitSource::ControlGroup => system.bytes / 5 * 4,
    }
}

/// The memory that a server may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerMemory {
    /// Memory of the control group or of the machine.
    pub system: MemoryLimit,
    /// Bytes that the server takes of it at most.
    pub limit: u64,
}

impl ServerConfiguration {
    /// Limit and floor of the server's memory where the system has so much.
    fn memory_limits(&self, system: MemoryLimit) -> (u64, u64) {
        let (most, least) = self.server_memory();
        let limit = most.unwrap_or(u64::MAX).min(of_system(system));
        (limit, least.min(limit))
    }

    /// A budget for a server that is started with this configuration.
    pub(super) fn budget(&self, system: MemoryLimit) -> Arc<Budget> {
        let (limit, floor) = self.memory_limits(system);
        let budget = Budget::new(limit);
        budget.set_limits(limit, floor);
        budget
    }

    pub(super) fn put_memory_in_force(&self, budget: &Budget, system: MemoryLimit) {
        let (limit, floor) = self.memory_limits(system);
        budget.set_limits(limit, floor);
    }
}

impl Server {
    /// The server's memory, by which everything that is large is asked for.
    pub fn budget(&self) -> &Arc<Budget> {
        &self.budget
    }

    /// The limit, and its source.
    pub fn memory_limit(&self) -> ServerMemory {
        ServerMemory { system: self.memory_system, limit: self.budget.limit() }
    }

    /// Gives a buffer pool the size that the limit of now leaves it. Where reserved large pages are asked for, it keeps its own.
    pub(super) fn put_pool_in_force(&self, store: &Store) {
        let options = &self.context.store;
        if options.budget.is_some() && options.memory_pages != Pages::Reserved {
            let most = usize::try_from(self.budget.caches_most()).unwrap_or(usize::MAX);
            store.set_pool_bytes(options.pool_bytes_max.min(most));
        }
    }

    /// The parts that do not follow the limit before the next start, where it would be another one then: sentences for people.
    pub fn memory_waiting_for_start(&self) -> Vec<&'static str> {
        let (at_start, _) = self.started.memory_limits(self.memory_system);
        let mut waiting = Vec::new();
        if ring_bytes_max(at_start) != ring_bytes_max(self.budget.limit()) {
            waiting.push("Log buffers keep their size until the next start.");
        }
        if self.context.store.memory_pages == Pages::Reserved {
            waiting.push("Buffer pools keep their size until the next start, because LARGE_PAGES is RESERVED.");
        }
        waiting
    }

    /// Starts the task that looks after the server's memory.
    pub(super) fn start_memory_monitor(&self) {
        let (budget, databases) = (Arc::clone(&self.budget), Arc::downgrade(&self.databases));
        self.schedulers.hidden("RESOURCE MONITOR", None, monitor(budget, databases));
    }
}

/// One look at what the process and the databases have; versions of rows in memory that no snapshot sees are freed.
fn look(budget: &Budget, databases: &RwLock<Databases>) {
    let mut rings = 0;
    let mut stores = Vec::new();
    for entry in read(databases).values() {
        if let Entry::Online(database) = entry {
            rings += database.log().ring_bytes_used();
            database.memory().sweep();
            stores.push(Arc::clone(database.store()));
        }
    }
    budget.set_mapped(Clerk::LogPool, rings);
    budget.look(&SystemFiles::below("/"));
    budget.balance();
    // Room for the next step of every pool: those that were refused may ask again.
    let step = (pikepole_machine::LARGE_PAGE * stores.len().max(1)) as u64;
    if budget.used() + step <= budget.caches_most() {
        stores.iter().for_each(|store| store.lift_pool_limit());
    }
}

/// Looks until the server is closed.
async fn monitor(budget: Arc<Budget>, databases: Weak<RwLock<Databases>>) {
    let mut looks_to_wait = 0;
    loop {
        scheduler::wait(WaitType::SLEEP_TASK, scheduler::sleep(LOOK_EVERY)).await;
        match databases.upgrade() {
            Some(databases) => look(&budget, &databases),
            None => return,
        }
        looks_to_wait = u32::saturating_sub(looks_to_wait, 1);
        let before = budget.uncounted();
        if before > KEPT_BYTES.min(budget.limit() / KEPT_PART) && looks_to_wait == 0 {
            scheduler::run_blocking(allocator::give_small_blocks_back).await;
            budget.look(&SystemFiles::below("/"));
            // Stacks, and what lies between blocks in use, stay.
            if budget.uncounted() > before / 4 * 3 {
                looks_to_wait = LOOKS_AFTER_VAIN;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(settings: &[(&str, &str)], listing: &str) -> (u64, u64) {
        let mut configuration = ServerConfiguration::default();
        for (name, value) in settings {
            configuration.set(name, value).expect("a value");
        }
        configuration.memory_limits(MemoryLimit::of(&SystemFiles::listing(listing)))
    }

    #[test]
    fn the_least_of_group_machine_and_setting_is_the_limit() {
        const MB: u64 = 1 << 20;
        let machine = "proc/meminfo MemTotal: 10240000 kB\n";
        assert_eq!(limits(&[], ""), (LIMIT_UNKNOWN, 0));
        assert_eq!(limits(&[], machine), (8000 * MB, 0));
        let group = format!("{machine}proc/self/cgroup 0::/a/b\nsys/fs/cgroup/a/memory.max 268435456\n");
        assert_eq!(limits(&[], &group), (268_435_456 / 5 * 4, 0));
        let setting = [("max server memory (MB)", "150"), ("min server memory (MB)", "100")];
        assert_eq!(limits(&setting, &group), (150 * MB, 100 * MB));
        assert_eq!(limits(&[("max server memory (MB)", "4000")], &group), (268_435_456 / 5 * 4, 0));
        assert_eq!(limits(&[("min server memory (MB)", "4000")], &group).1, 268_435_456 / 5 * 4);
    }
}
