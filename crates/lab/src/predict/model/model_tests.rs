//! The model against what is known without it: sums, laws of closed networks, and the shapes that policies must have.

use super::*;

/// Sockets x cores x threads, a scheduler on each CPU, a log writer on none in particular.
fn layout(sockets: usize, cores: usize, threads: usize) -> Layout {
    let place = |cpu: usize| CpuPlace { core: cpu / threads, socket: cpu / threads / cores };
    let cpus: Vec<CpuPlace> = (0..sockets * cores * threads).map(place).collect();
    let schedulers = (0..cpus.len()).collect();
    Layout { cpus, schedulers, writers: vec![None] }
}

fn constants() -> Constants {
    Constants {
        insert_ns: 1000.0,
        commit_ns: 500.0,
        records: 1,
        log_bytes: 64.0,
        id_hold_ns: 15.0,
        cache_hold_ns: 12.0,
        queue_hold_ns: 30.0,
        lines_held: [0.0, 1.0, 1.0],
        add_ns: 5.0,
        growth_ns: 0.0,
        handoff: Handoff { core_ns: 8.0, socket_ns: 48.0, far_ns: 150.0 },
        pause_ns: 15.0,
        yield_ns: 500.0,
        sleep_ns: 110e3,
        wake_ns: 30e3,
        waker_ns: 5e3,
        busy_wake_ns: 1e6,
        slice_ns: 3e6,
        block_ns: 10e3,
        byte_ns: 0.3,
        together: 1.0,
        sibling: 1.0,
        device: DeviceTimes { write_ns: 100e3, gap_ns: 20e3, byte_ns: 0.5 },
        ring_bytes: (16 << 20) as f64,
    }
}

fn scenario(layout: Layout, sessions: usize, policies: Policies) -> Scenario {
    Scenario {
        layout,
        constants: constants(),
        policies,
        full_durability: false,
        sessions,
        rows: 20_000,
        spread: 0.3,
        seed: 7,
    }
}

fn near(found: f64, wanted: f64, part: f64) -> bool {
    (found - wanted).abs() <= wanted * part
}

#[test]
fn the_same_seed_gives_the_same_outcome_and_another_one_another() {
    for policies in [Policies::classic(), Policies::best()] {
        for full_durability in [false, true] {
            let run = Scenario { full_durability, ..scenario(layout(2, 4, 2), 16, policies) };
            let (first, again) = (simulate(&run), simulate(&run));
            assert_eq!(first, again);
            assert!(!first.stalled && first.rows >= run.rows, "{first:?}");
            assert_ne!(first, simulate(&Scenario { seed: 8, ..run }));
        }
    }
}

#[test]
fn one_session_takes_the_sum_of_its_service_times() {
    for policies in [Policies::classic(), Policies::best()] {
        // A CPU more than schedulers: the log writer is in no session's way.
        let layout = Layout { schedulers: vec![0], ..layout(1, 2, 1) };
        let run = Scenario { spread: 0.0, ..scenario(layout, 1, policies) };
        let outcome = simulate(&run);
        assert!(near(outcome.rows_per_second, 1e9 / run.service_ns(), 0.001), "{outcome:?} {}", run.service_ns());
        assert_eq!(outcome.collisions_per_1000(), [0.0; 3]);
    }
}

#[test]
fn one_durable_session_takes_the_sum_and_the_device() {
    let layout = Layout { schedulers: vec![0], ..layout(1, 2, 1) };
    let own = Scenario { full_durability: true, spread: 0.0, ..scenario(layout, 1, Policies::best()) };
    let c = &own.constants;
    let seal = c.block_ns + c.byte_ns * c.log_bytes;
    let sum = own.service_ns() + seal + c.device.write_ns;
    assert!(near(simulate(&own).rows_per_second, 1e9 / sum, 0.01), "{:?} {sum}", simulate(&own));
    // A log writer is woken, and wakes: both ways are in the time.
    let woken = Scenario { policies: Policies::classic(), ..own.clone() };
    let sum = woken.service_ns() + seal + c.device.write_ns + c.queue_hold_ns + 2.0 * c.wake_ns;
    assert!(near(simulate(&woken).rows_per_second, 1e9 / sum, 0.05), "{:?} {sum}", simulate(&woken));
}

#[test]
fn without_contention_more_cpus_are_as_many_times_the_rate() {
    let light = |run: Scenario| {
        let device = DeviceTimes { byte_ns: 0.0, ..constants().device };
        Scenario { constants: Constants { log_bytes: 8.0, byte_ns: 0.01, device, ..constants() }, ..run }
    };
    let one = Layout { schedulers: vec![0], ..layout(1, 33, 1) };
    let one = simulate(&light(scenario(one, 1, Policies::best())));
    for cpus in [2, 4, 8, 16, 32] {
        let layout = Layout { schedulers: (0..cpus).collect(), ..layout(1, 33, 1) };
        let run = light(Scenario { rows: 20_000 * cpus as u64, ..scenario(layout, cpus, Policies::best()) });
        let many = simulate(&run);
        assert!(near(many.rows_per_second, one.rows_per_second * cpus as f64, 0.02), "{cpus}: {many:?}");
    }
}

#[test]
fn no_run_is_above_its_analytic_bound() {
    for policies in [Policies::classic(), Policies::best()] {
        for full_durability in [false, true] {
            for (sockets, cores, threads) in [(1, 1, 1), (1, 2, 1), (2, 4, 2), (2, 10, 2)] {
                for sessions in [1, 3, 40] {
                    let layout = layout(sockets, cores, threads);
                    let run = Scenario { full_durability, rows: 4_000, ..scenario(layout, sessions, policies) };
                    let (outcome, bound) = (simulate(&run), run.bound_rows_per_second());
                    assert!(outcome.rows_per_second <= bound * 1.02, "{run:?}\n{outcome:?} {bound}");
                    assert!(outcome.rows_per_second > 0.0 && !outcome.stalled, "{run:?}\n{outcome:?}");
                }
            }
        }
    }
}

#[test]
fn a_lock_that_is_the_bottleneck_carries_one_hold_after_the_other() {
    let mut run = scenario(layout(1, 16, 1), 16, Policies { ids: Ids::Spinlock, ..Policies::best() });
    run.constants.id_hold_ns = 2_000.0;
    run.constants.handoff = Handoff::default();
    let outcome = simulate(&run);
    let bound = run.bound_rows_per_second();
    assert!(outcome.rows_per_second > 0.6 * bound && outcome.rows_per_second <= bound * 1.001, "{outcome:?} {bound}");
    assert!(outcome.ids.collisions > outcome.rows && outcome.ids.backoffs > 0, "{outcome:?}");
}

#[test]
fn a_farther_line_costs_more_and_collides_more() {
    let near = simulate(&scenario(layout(1, 8, 1), 8, Policies::classic()));
    let far = simulate(&scenario(layout(8, 1, 1), 8, Policies::classic()));
    assert!(far.rows_per_second < near.rows_per_second, "{far:?} {near:?}");
    let met = |outcome: &Outcome| outcome.ids.collisions + outcome.cache.collisions;
    assert!(met(&far) > met(&near), "{far:?} {near:?}");
}

#[test]
fn a_full_ring_stops_appenders() {
    let mut run = scenario(layout(1, 4, 1), 4, Policies::best());
    run.constants.ring_bytes = (1 << 20) as f64;
    run.constants.device = DeviceTimes { write_ns: 1e6, gap_ns: 1e6, byte_ns: 20.0 };
    run.rows = 400_000;
    let outcome = simulate(&run);
    // 64 bytes a row through a device of 20 ns a byte: 780,000 rows a second, and less for its gaps.
    assert!(outcome.ring_full > 0 && outcome.rows_per_second < 781_250.0, "{outcome:?}");
    let backs_off = Scenario { policies: Policies { full_backs_off: true, ..run.policies }, ..run.clone() };
    let outcome = simulate(&backs_off);
    assert!(outcome.ring_full > 0 && outcome.backoff_share > 0.1, "{outcome:?}");
}

#[test]
fn a_writer_that_shares_a_core_slows_the_session_there() {
    let mut run = scenario(layout(1, 2, 1), 2, Policies::best());
    run.constants.byte_ns = 10.0;
    run.constants.device = DeviceTimes { write_ns: 20e3, gap_ns: 5e3, byte_ns: 0.1 };
    run.rows = 200_000;
    let shared = simulate(&run);
    let mut apart = run.clone();
    apart.layout = Layout { schedulers: vec![0, 1], writers: vec![Some(2)], ..layout(1, 3, 1) };
    let apart = simulate(&apart);
    // A row brings 640 ns of the writer's CPU to 1,000 ns of its own.
    assert!(shared.rows_per_second < 0.9 * apart.rows_per_second, "{shared:?} {apart:?}");
}

#[test]
fn committers_share_writes() {
    let run = Scenario { full_durability: true, rows: 4_000, ..scenario(layout(1, 2, 1), 32, Policies::best()) };
    let outcome = simulate(&run);
    assert!(outcome.blocks * 4 < outcome.rows, "{outcome:?}");
    let one = simulate(&Scenario { sessions: 1, ..run });
    assert!(outcome.rows_per_second > 8.0 * one.rows_per_second, "{outcome:?} {one:?}");
}

#[test]
fn several_writers_meet_at_the_flush_queue() {
    let mut run = scenario(layout(2, 4, 1), 8, Policies { writes_in_flight: 4, ..Policies::classic() });
    run.policies.block_bytes = 4096;
    run.constants.device = DeviceTimes { write_ns: 20e3, gap_ns: 1e3, byte_ns: 0.0 };
    run.constants.queue_hold_ns = 500.0;
    let one = simulate(&run);
    run.layout.writers = vec![None; 4];
    let four = simulate(&run);
    assert_eq!(one.queue.collisions, 0, "{one:?}");
    assert!(four.queue.collisions > 0, "{four:?}");
}

#[test]
fn a_writer_that_displaces_the_holder_of_its_lock_gives_way() {
    // One CPU for all: the writer wants LOGCACHE_ACCESS while the session below it may hold it.
    let mut run = scenario(layout(1, 1, 1), 4, Policies { block_bytes: 4096, ..Policies::classic() });
    run.constants.cache_hold_ns = 700.0;
    run.constants.busy_wake_ns = 1e3;
    run.rows = 200_000;
    let outcome = simulate(&run);
    assert!(!outcome.stalled && outcome.cache.backoffs > 0, "{outcome:?}");
}
