use super::*;

fn pool(pool_growth: PoolGrowth) -> Pool {
    let options = StoreOptions { pool_bytes: 256 << 20, touch_ahead: false, pool_growth, ..StoreOptions::default() };
    Pool::new(&options, &Statistics::new()).expect("memory that is not touched yet")
}

/// How many frames can be taken before the lazy writer is to make room.
fn unhindered(pool: &Pool) -> usize {
    let mut taken = Vec::new();
    while !pool.is_short_of_frames() {
        taken.push(pool.take_free().expect("a frame"));
    }
    taken.len()
}

#[test]
fn a_pool_grows_by_the_pages_that_are_read() {
    let pool = pool(PoolGrowth::Reads);
    let share = FIRST_BYTES_MIN / PAGE_BYTES;
    assert_eq!(unhindered(&pool), share - share / 8 + 1, "an eighth of it is kept free");
    pool.count_reads(share);
    assert_eq!(unhindered(&pool), 2 * share - share / 4 + 1);
    pool.count_reads(100 * share);
    pool.count_reads(1);
    let all = pool.frames();
    assert_eq!(unhindered(&pool), all - all / 8 + 1, "never more than there is");
}

#[test]
fn a_pool_on_demand_takes_what_there_is() {
    let pool = pool(PoolGrowth::Demand);
    let all = pool.frames();
    assert_eq!(unhindered(&pool), all - all / 8 + 1);
}

#[test]
fn a_pool_takes_another_size_within_its_addresses() {
    const MB: usize = 1 << 20;
    let statistics = Statistics::new();
    let target = || statistics.counter(Counter::TargetPages) as usize;
    for pool_growth in [PoolGrowth::Demand, PoolGrowth::Reads] {
        let options = StoreOptions {
            pool_bytes: 32 * MB,
            pool_bytes_max: 64 * MB,
            touch_ahead: false,
            pool_growth,
            ..StoreOptions::default()
        };
        let before = target();
        let pool = Pool::new(&options, &statistics).expect("memory that is not touched yet");
        assert_eq!((pool.frames(), target() - before), (32 * MB / PAGE_BYTES, 32 * MB / PAGE_BYTES));
        for (asked, got) in [(48 * MB, 48 * MB), (1 << 40, 64 * MB), (8 * MB, 8 * MB), (0, FRAMES_MIN * PAGE_BYTES)] {
            pool.set_target(asked);
            let frames = got / PAGE_BYTES;
            assert_eq!((pool.frames(), target() - before), (frames, frames));
            assert_eq!(pool.part_uses().map(|part| part.target).sum::<u64>(), frames as u64);
            assert_eq!(unhindered(&pool), frames - frames / 8 + 1, "{pool_growth:?}: it grows to that and no further");
        }
    }
}

#[test]
fn pools_share_a_budget_and_give_way() {
    let budget = Budget::new(1 << 40);
    let options = StoreOptions {
        pool_bytes: 64 << 20,
        touch_ahead: false,
        budget: Some(Arc::clone(&budget)),
        ..StoreOptions::default()
    };
    let pool = Pool::new(&options, &Statistics::new()).expect("memory that is not touched yet");
    assert_eq!(budget.mapped(Clerk::BufferPool), 0, "nothing is granted before it is used");
    let mut taken: Vec<FreeFrame<'_>> = (0..3 * GRANT_FRAMES).map(|_| pool.take_free().expect("a frame")).collect();
    let granted = (3 * GRANT_FRAMES * PAGE_BYTES) as u64;
    assert_eq!((pool.granted_bytes(), budget.mapped(Clerk::BufferPool)), (granted, granted));
    taken[0].bytes_mut()[7] = 7;
    // Pages that were read are clean: they may leave.
    for (number, spare) in taken.drain(..2 * GRANT_FRAMES).enumerate() {
        let (guard, _) = pool.install(spare, PageId(number as u32)).unwrap_or_else(|_| panic!("a free frame"));
        drop(guard);
    }
    drop(taken);
    assert_eq!(pool.give_way(1 << 20), 1 << 20, "free frames go first");
    assert_eq!(pool.used_frames(), 2 * GRANT_FRAMES);
    assert_eq!(pool.give_way(1 << 40), granted - (1 << 20) - (KEPT_FRAMES * PAGE_BYTES) as u64);
    assert_eq!(pool.granted_bytes(), (KEPT_FRAMES * PAGE_BYTES) as u64, "a pool keeps something to work with");
    assert_eq!(budget.mapped(Clerk::BufferPool), pool.granted_bytes());
    assert_eq!(pool.give_way(1), 0);
    // No memory is left: who needs a frame takes those of the pool, whatever its region has room for.
    budget.set_limits(1, 0);
    let own = KEPT_FRAMES - pool.used_frames();
    let frames: Vec<FreeFrame<'_>> = (0..own).map(|_| pool.take_free().expect("a frame of its own")).collect();
    assert!(pool.take_free().is_err());
    assert_eq!((pool.frames(), pool.free_frames()), (KEPT_FRAMES, 0));
    drop(frames);
    budget.set_limits(1 << 40, 0);
    pool.lift_limit();
    assert!(pool.free_frames() > KEPT_FRAMES && pool.take_free().is_ok());
    drop(pool);
    assert_eq!(budget.mapped(Clerk::BufferPool), 0);
}
