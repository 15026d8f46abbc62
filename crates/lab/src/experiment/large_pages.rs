//! The experiment on the size of the pages that the buffer pool's memory is in.

use super::catalog::{claim, lines, published};
use super::plan::{Arm, Claim, Expect, Machine, Metric, Panel, Plan};
use crate::stress::{Durability, Workload, scan_pool_bytes};
use pikepole_machine::ReservedPages;

const SMALL: usize = 0;
const TRANSPARENT: usize = 1;
const RESERVED: usize = 2;

/// Memory that must stay free beside the buffer pool: the log's ring, the heap of this process, and the machine's own work.
const SPARE_BYTES: u64 = 256 << 20;
/// Frame headers, as a part of the pool: 64 bytes for 8 KB.
const HEADERS: u64 = 128;
/// The ring of the log.
const RING_BYTES: u64 = 32 << 20;

/// Large pages that a server takes for a table of so many bytes.
fn pages_wanted(table_bytes: u64) -> usize {
    let pool = scan_pool_bytes(table_bytes);
    [pool, pool / HEADERS, RING_BYTES].into_iter().map(|bytes| ReservedPages::wanted(bytes as usize)).sum()
}

fn claims(has_reserved: bool) -> Vec<Claim> {
    // With reserved pages, all memory is in large ones for certain.
    let large = if has_reserved { RESERVED } else { TRANSPARENT };
    let mut claims = vec![
        published(
            "More pages are looked up a second in pages of 2 MB",
            "x 1.19",
            0,
            (SMALL, large),
            Metric::PageLookups,
            Expect::Higher,
        ),
        published("A scan takes less time", "-28%", 0, (SMALL, large), Metric::ScanMilliseconds, Expect::Lower),
        claim(
            "Without large pages, none are in use",
            0,
            (SMALL, SMALL),
            Metric::LargePageMegabytes,
            Expect::Below(1.0),
        ),
        claim("The kernel grants large pages", 0, (SMALL, large), Metric::LargePageMegabytes, Expect::Higher),
    ];
    if has_reserved {
        claims.push(published(
            "Starting takes longer with reserved pages",
            "slower",
            0,
            (SMALL, RESERVED),
            Metric::StartMilliseconds,
            Expect::Higher,
        ));
        claims.push(claim(
            "Transparent pages do as well as reserved ones",
            0,
            (RESERVED, TRANSPARENT),
            Metric::PageLookups,
            Expect::Same,
        ));
    }
    claims
}

/// What is run and claimed for a table of [`Machine::table_bytes`].
pub(super) fn plan(machine: &Machine) -> Plan {
    let (table_bytes, pool) = (machine.table_bytes, scan_pool_bytes(machine.table_bytes));
    let megabytes = |bytes: u64| crate::show::grouped(bytes >> 20);
    let short = |available: &u64| *available < pool + SPARE_BYTES;
    let refused = machine.available_memory.filter(short).map(|available| {
        format!(
            "a table of {} MB takes {} MB of memory, and {} MB are available; --table-mb asks for a smaller one",
            megabytes(table_bytes),
            megabytes(pool + SPARE_BYTES),
            megabytes(available)
        )
    });
    let pages = |name: &str, value: &str| Arm::new(name).policies(&[("LARGE_PAGES", value)]);
    let mut arms = vec![pages("4 KB", "NONE"), pages("2 MB, transparent", "TRANSPARENT")];
    let (wanted, reserved) = (pages_wanted(table_bytes), machine.reserved_pages);
    let mut cannot = Vec::new();
    let has_reserved = reserved.available >= wanted;
    if has_reserved {
        arms.push(pages("2 MB, reserved", "RESERVED"));
    } else {
        cannot.push(format!("reserved pages of 2 MB: {}; sysctl vm.nr_hugepages={wanted}", reserved.why_not(wanted)));
    }
    if table_bytes < 118 << 30 {
        cannot.push(format!(
            "a table of {} MB is not 118 GB: its entries of the page tables fit into the caches sooner",
            megabytes(table_bytes)
        ));
    }
    let cpus = machine.cpus.len().max(1);
    Plan {
        shows: lines(&[
            "one table that is in the buffer pool as a whole, scanned by one session and by one for each CPU; each run is a start of its own, whose first scan, which reads from disk, does not count",
        ]),
        cannot,
        refused,
        panels: vec![Panel {
            title: format!("a heap of {} MB in memory, scanned", megabytes(table_bytes)),
            workload: Workload::Scan { table_bytes },
            durability: Durability::Full,
            slow_device: None,
            sessions: if cpus > 1 { vec![1, cpus] } else { vec![1] },
            arms,
            charts: vec![
                Metric::PageLookups,
                Metric::ScanMilliseconds,
                Metric::Rows,
                Metric::StartMilliseconds,
                Metric::LargePageMegabytes,
            ],
        }],
        claims: claims(has_reserved),
        questions: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_embedded::SystemFiles;
    use pikepole_machine::Shape;

    fn machine() -> Machine {
        Machine::read(&SystemFiles::of_shape(&Shape::new(1, 1, 6, 1))).expect("a machine")
    }

    #[test]
    fn what_the_machine_cannot_do_is_said() {
        let plan = plan(&machine());
        assert_eq!((plan.panels[0].arms.len(), plan.refused), (2, None), "nothing is known of its memory");
        let wanted = pages_wanted(4 << 30);
        assert!(plan.cannot[0].contains(&format!("{wanted} of them are wanted and 0 of 0 set aside are free")));
        assert!(plan.claims.iter().all(|claim| claim.to < 2 && claim.from < 2));
    }

    #[test]
    fn reserved_pages_are_an_arm_where_there_are_enough() {
        let wanted = pages_wanted(4 << 30);
        for (available, arms) in [(wanted - 1, 2), (wanted, 3)] {
            let mut machine = machine();
            machine.reserved_pages = ReservedPages { total: wanted, available };
            assert_eq!(plan(&machine).panels[0].arms.len(), arms, "{available} of {wanted}");
        }
    }

    #[test]
    fn a_table_that_does_not_fit_is_refused_with_the_figures() {
        let mut machine = machine();
        machine.available_memory = Some(4 << 30);
        let why = plan(&machine).refused.expect("refused");
        assert_eq!(
            why,
            "a table of 4,096 MB takes 4,928 MB of memory, and 4,096 MB are available; --table-mb asks for a smaller one"
        );
        machine.table_bytes = 1 << 30;
        assert_eq!(plan(&machine).refused, None);
    }
}
