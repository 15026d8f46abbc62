//! Blocks by one thread and by many, with the pieces that they leave.

use std::collections::{BTreeMap, HashSet};
use std::sync::mpsc;
use std::thread;

use super::*;

/// Blocks that are out, by their bytes.
static OUT: Mutex<BTreeMap<usize, i64>> = Mutex::new(BTreeMap::new());

/// Counts a block that is taken, or freed.
pub(crate) fn note_out(bytes: usize, change: i64) {
    *lock(&OUT).entry(bytes).or_default() += change;
}

/// Blocks of so many bytes that have been taken and not freed.
pub(crate) fn blocks_out(bytes: usize) -> i64 {
    lock(&OUT).get(&bytes).copied().unwrap_or(0)
}

#[test]
fn each_number_of_bytes_has_the_next_size() {
    for bytes in 1..=BLOCK_MAX {
        let size = size_of_bytes(bytes);
        let room = bytes_of_size(size);
        assert!(room >= bytes && room.is_multiple_of(8), "{bytes} in {room}");
        assert!(size == 0 || bytes_of_size(size - 1) < bytes, "{bytes} fit into less than {room}");
        assert!(room <= bytes.next_multiple_of(8) || room * 8 <= bytes * 9 + 8, "{bytes} in {room}");
    }
}

/// The number of slabs in the pool, when all lists have been looked through.
fn pooled(shared: &Slabs) -> usize {
    shared.gather();
    assert!(shared.lists.iter().all(|list| lock(list).is_empty()), "slabs are on lists whose blocks are all free");
    assert_eq!(shared.listed.load(Ordering::Relaxed), 0);
    lock(&shared.pool).len()
}

/// Writes all over a block; what is there must be what its owner has written.
struct Filled(NonNull<u8>, usize, u8);

// SAFETY: a block belongs to who has it.
unsafe impl Send for Filled {}

impl Filled {
    fn new(block: NonNull<u8>, bytes: usize, with: u8) -> Filled {
        assert_eq!(block.addr().get() % ALIGN, 0);
        // SAFETY: the block has so many bytes.
        unsafe { block.write_bytes(with, bytes) };
        Filled(block, bytes, with)
    }

    fn free(self, shared: &Slabs) {
        let Filled(block, bytes, with) = self;
        // SAFETY: as above; nothing uses it any more.
        unsafe {
            let content = NonNull::slice_from_raw_parts(block, bytes);
            assert!(content.as_ref().iter().all(|byte| *byte == with), "a block belongs to two");
            free_block(block, shared);
        }
    }
}

#[test]
fn blocks_are_used_again_and_pieces_go_back() {
    let shared = Slabs::new();
    let local = Local::new();
    let mut seen = HashSet::new();
    for round in 0..4 {
        // More than a piece has.
        let blocks: Vec<Filled> = (0..60_000_usize)
            .map(|at| {
                let bytes = 80 + at % 3 * 60;
                Filled::new(local.take(size_of_bytes(bytes), &shared), bytes, at as u8)
            })
            .collect();
        let before = seen.len();
        seen.extend(blocks.iter().map(|block| block.0.addr()));
        assert!(round == 0 || seen.len() < before + 60_000, "no block is used again");
        blocks.into_iter().for_each(|block| block.free(&shared));
    }
    local.leave(&shared);
    assert!(pooled(&shared) <= 2 * SLABS, "pieces without a block in use are given back");
}

#[test]
fn threads_free_each_others_blocks() {
    let (threads, blocks) = if cfg!(miri) { (2, 900) } else { (4, 60_000) };
    let shared = Slabs::new();
    thread::scope(|scope| {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::channel::<Filled>()).unzip();
        for (number, receiver) in receivers.into_iter().enumerate() {
            let (next, shared) = (senders[(number + 1) % threads].clone(), &shared);
            scope.spawn(move || {
                let local = Local::new();
                let mut kept = Vec::new();
                for at in 0..blocks {
                    let bytes = 16 + (at * 7 + number) % 900;
                    let block = Filled::new(local.take(size_of_bytes(bytes), shared), bytes, (at + number) as u8);
                    match at % 3 {
                        0 => kept.push(block),
                        1 => block.free(shared),
                        _ => next.send(block).expect("it listens to the end"),
                    }
                    receiver.try_iter().for_each(|block| block.free(shared));
                }
                local.leave(shared);
                kept.into_iter().for_each(|block| block.free(shared));
                drop(next);
                receiver.iter().for_each(|block| block.free(shared));
            });
        }
        drop(senders);
    });
    assert!(pooled(&shared) > 0);
}

#[test]
fn blocks_of_rows_outlive_their_thread() {
    let made = thread::spawn(|| (0..1000).map(|at| Filled::new(allocate(200), 200, at as u8)).collect::<Vec<_>>());
    for Filled(block, bytes, with) in made.join().expect("it ends") {
        // SAFETY: the block has so many bytes, and nothing else uses it.
        unsafe {
            assert!(NonNull::slice_from_raw_parts(block, bytes).as_ref().iter().all(|byte| *byte == with));
            free(block, bytes);
        }
    }
}

#[test]
fn large_blocks_are_the_allocators() {
    let block = allocate(BLOCK_MAX + 1);
    // SAFETY: allocated with this size.
    unsafe { free(block, BLOCK_MAX + 1) };
}
