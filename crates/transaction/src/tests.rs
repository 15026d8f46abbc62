//! The protocol of ids, status words and snapshots under real threads.
//!
//! Writers deal ids and commit at the ticks of a clock, readers hold snapshots, and every 1024 ids a sweep gives status pages
//! back. What a reader sees of an id must not change while it holds its snapshot, and must be what the clock says.

use pikepole_contention::Statistics;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Arc, thread};
use pikepole_log::Lsn;

use crate::id::{Dealer, RANGE_IDS, TransactionId, TransactionIds};
use crate::registry::{NONE, Registry};
use crate::status::{SnapshotsSeen, Status, StatusTable};
use crate::wait::WaitGraph;

const PUBLISHED: usize = 512;

struct World {
    table: StatusTable,
    dealer: Dealer,
    registry: Registry,
    clock: AtomicU64,
    /// Ids that have begun, and where they committed (0: not yet).
    published: Vec<(AtomicU64, AtomicU64)>,
    stop: AtomicBool,
    /// Sweeps do not look at the snapshots: a fault that the test must find.
    blind: bool,
}

impl World {
    fn new(policy: TransactionIds, blind: bool) -> Arc<World> {
        let first = TransactionId(RANGE_IDS);
        Arc::new(World {
            table: StatusTable::new(first),
            dealer: Dealer::new(first, policy, &Statistics::new()),
            registry: Registry::new(),
            clock: AtomicU64::new(1),
            published: (0..PUBLISHED).map(|_| Default::default()).collect(),
            stop: AtomicBool::new(false),
            blind,
        })
    }

    fn now(&self) -> Lsn {
        Lsn(self.clock.load(Ordering::Acquire))
    }

    fn sweep(&self) {
        let mut seen = self.registry.snapshots(|| self.now());
        if self.blind {
            seen = SnapshotsSeen { horizon: seen.horizon, held: Vec::new() };
        }
        self.table.sweep(&seen);
    }

    fn write(&self, at: usize) {
        let dealt = self.dealer.deal(&self.table, || self.sweep());
        let place = self.table.locate(dealt.id);
        let (id, end) = &self.published[at % PUBLISHED];
        end.store(0, Ordering::SeqCst);
        id.store(dealt.id.0, Ordering::SeqCst);
        self.table.committing_single(place);
        let lsn = self.clock.fetch_add(1, Ordering::AcqRel) + 1;
        self.table.committed_single(place, Lsn(lsn));
        end.store(lsn, Ordering::SeqCst);
        self.dealer.retire(dealt);
    }

    fn sees(&self, id: u64, snapshot: Lsn) -> bool {
        loop {
            match self.table.status(TransactionId(id)) {
                Status::Committing => thread::yield_now(),
                Status::Committed(lsn) => return lsn <= snapshot,
                Status::Active | Status::Aborted => return false,
            }
        }
    }

    /// Whether what one snapshot sees is right and stays so.
    fn read(&self, cell: &crate::registry::SessionCell) -> Result<(), String> {
        let snapshot = self.registry.take_snapshot(cell, || self.now());
        let mut seen = Vec::new();
        for (id, end) in &self.published {
            let (id_now, end_now) = (id.load(Ordering::SeqCst), end.load(Ordering::SeqCst));
            if id_now == 0 || id.load(Ordering::SeqCst) != id_now {
                continue;
            }
            let visible = self.sees(id_now, snapshot);
            if end_now != 0 && visible != (end_now <= snapshot.0) {
                return Err(format!("{id_now} committed at {end_now}, {snapshot} sees it: {visible}"));
            }
            seen.push((id_now, visible));
        }
        for _ in 0..20 {
            thread::yield_now();
        }
        for (id, visible) in seen {
            if self.sees(id, snapshot) != visible {
                return Err(format!("{snapshot} saw {id}: {visible}, and then not"));
            }
        }
        cell.snapshot.store(NONE, Ordering::SeqCst);
        Ok(())
    }
}

fn run(policy: TransactionIds, blind: bool, rounds: usize) -> Result<(), String> {
    let world = World::new(policy, blind);
    let writers: Vec<_> = (0..2)
        .map(|writer| {
            let world = world.clone();
            thread::spawn(move || {
                for at in 0.. {
                    if world.stop.load(Ordering::Relaxed) {
                        return;
                    }
                    world.write(at * 2 + writer);
                }
            })
        })
        .collect();
    let cell = world.registry.register(WaitGraph::default().new_owner(), 51);
    let result = (0..rounds).try_for_each(|_| world.read(&cell));
    world.stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.join().expect("the writer ends");
    }
    result
}

#[test]
fn a_snapshot_never_changes_its_mind() {
    for policy in [TransactionIds::AtomicRanges, TransactionIds::Spinlock] {
        run(policy, false, 300).expect("snapshots hold");
    }
}

#[test]
fn a_sweep_that_ignores_snapshots_is_caught() {
    let caught = (0..20).any(|_| run(TransactionIds::AtomicRanges, true, 2_000).is_err());
    assert!(caught, "the planted fault went unnoticed");
}
