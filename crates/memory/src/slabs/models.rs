//! Slabs of seven blocks under threads that are switched by chance, by shuttle: each thread frees blocks of the others. No block is out twice,
//! and in the end all are back.

use pikepole_contention::fault;
use pikepole_contention::shuttle_runs::{canary, check, runs};
use pikepole_contention::sync::{Arc, thread};
use std::collections::HashSet;

use super::*;

const RUNS: usize = 300;
const RUNS_TO_NOTICE: usize = 8000;
const FAILURES: [&str; 3] = ["a block is out twice", "blocks are lost", "exceeded max_steps bound"];
const THREADS: usize = 3;
/// Bytes of a block: a slab has seven.
const BYTES: usize = 416;

struct Out(NonNull<u8>);

// SAFETY: a block belongs to who has it.
unsafe impl Send for Out {}

/// The blocks that are out.
#[derive(Default)]
struct World {
    out: HashSet<usize>,
    given: Vec<Out>,
}

fn slabs() -> Slabs {
    Slabs {
        lists: std::array::from_fn(|_| Mutex::default()),
        pool: Mutex::default(),
        listed: AtomicI64::new(0),
        whole: AtomicI64::new(0),
    }
}

fn free_out(world: &Mutex<World>, block: Out, shared: &Slabs) {
    lock(world).out.remove(&block.0.addr().get());
    // SAFETY: it was taken, and nothing uses it.
    unsafe { free_block(block.0, shared) };
}

fn blocks_of_others() {
    let (shared, world) = (Arc::new(slabs()), Arc::new(Mutex::new(World::default())));
    let threads: Vec<_> = (0..THREADS)
        .map(|number| {
            let (shared, world) = (shared.clone(), world.clone());
            thread::spawn(move || {
                let local = Local::new();
                for _ in 0..30 {
                    let block = local.take(size_of_bytes(BYTES), &shared);
                    let mut now = lock(&world);
                    assert!(now.out.insert(block.addr().get()), "a block is out twice");
                    now.given.push(Out(block));
                    // The oldest one, which mostly is another thread's.
                    let oldest = (now.given.len() > number).then(|| now.given.remove(0));
                    drop(now);
                    if let Some(oldest) = oldest {
                        free_out(&world, oldest, &shared);
                    }
                }
                local.leave(&shared);
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("a thread failed"));
    let left = std::mem::take(&mut lock(&world).given);
    left.into_iter().for_each(|block| free_out(&world, block, &shared));
    shared.gather();
    let is_back = shared.lists.iter().all(|list| lock(list).is_empty());
    let pool = lock(&shared.pool);
    // SAFETY: a slab of the piece is in the pool.
    let in_pool = |slab: &SlabAt| unsafe { slab.piece().head() }.in_pool.load(Ordering::Relaxed) as usize;
    assert!(is_back && pool.iter().all(|slab| in_pool(slab) == SLABS), "blocks are lost");
}

#[test]
fn shuttle_blocks_of_others() {
    check(blocks_of_others, runs(RUNS));
}

#[test]
fn shuttle_canary_blocks_that_are_freed_meanwhile_are_overlooked() {
    canary(
        "slabs::models::shuttle_canary_blocks_that_are_freed_meanwhile_are_overlooked",
        || fault::plant("memory: blocks that are freed meanwhile are overlooked"),
        blocks_of_others,
        RUNS_TO_NOTICE,
        &FAILURES,
    );
}
