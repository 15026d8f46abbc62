//! What another machine would do: curves over sessions, as intervals over draws of what is not known of it.
//!
//! | not known | drawn from |
//! |---|---|
//! | a cache line to a hyper-thread, another core, another socket | 8, 44 to 51, 108 to 197 ns: published core-to-core tables |
//! | a hyper-thread beside a working one, against alone | 0.55 to 0.70: two of them do 1.1 to 1.4 times the work of one |
//! | work of a core for each clock, against this machine's | 0.5 to 1, when the clock of another machine is named |
//! | wake-ups and time slices, against this machine's | 0.5 to 2 times |
//! | a CPU while others work, against alone | as here, to 1 |
//!
//! Each draw is one machine; all its runs have it, so that ratios are of like with like. The interval goes from the least to the most.

use super::calibration::{Calibration, median, own_layout};
use super::layout::Mask;
use super::model::{Constants, DeviceTimes, Handoff, Random, Scenario, simulate};
use crate::stress::{Durability, PolicySet};
use pikepole_contention::sync::thread;
use pikepole_machine::{SlowDevice, Topology};
use serde::Serialize;

/// Simulated rows of a run: enough that a ring fills if it does, and fewer where an insert is many events.
const ROWS_CLASSIC: u64 = 200_000;
const ROWS_BEST: u64 = 800_000;
const ROWS_DURABLE: u64 = 30_000;

/// The machine that is asked about.
#[derive(Debug, Clone)]
pub struct Target {
    /// Its name: `this machine`, or its shape.
    pub name: String,
    /// Its CPUs.
    pub topology: Topology,
    /// The CPUs that may be used.
    pub usable: Vec<usize>,
    /// It is this machine: nothing of it is unknown but noise.
    pub is_here: bool,
    /// Its clock in GHz; `None`: as here.
    pub clock_ghz: Option<f64>,
    /// Its log's device; `None`: as here.
    pub device: Option<SlowDevice>,
}

/// A question about a machine.
#[derive(Debug, Clone)]
pub struct Question {
    /// Numbers of sessions.
    pub sessions: Vec<usize>,
    /// Sets of policies.
    pub sets: Vec<PolicySet>,
    /// Masks.
    pub masks: Vec<Mask>,
    /// Durabilities.
    pub durabilities: Vec<Durability>,
    /// Machines drawn.
    pub draws: usize,
    /// The seed of all chances.
    pub seed: u64,
}

/// From the least to the most of the draws, and the middle.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Interval {
    /// The least.
    pub low: f64,
    /// The middle.
    pub median: f64,
    /// The most.
    pub high: f64,
}

impl Interval {
    /// That of figures.
    pub fn of(figures: &[f64]) -> Self {
        let low = figures.iter().copied().fold(f64::INFINITY, f64::min);
        let high = figures.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if figures.is_empty() { Self::default() } else { Self { low, median: median(figures.iter().copied()), high } }
    }
}

/// A curve's figures at one number of sessions.
#[derive(Debug, Clone, Serialize)]
pub struct CurvePoint {
    /// Sessions.
    pub sessions: usize,
    /// Rows a second.
    pub rows_per_second: Interval,
    /// The analytic bound, the middle of the draws'.
    pub bound_rows_per_second: f64,
    /// Collisions of XDESMGR, LOGCACHE_ACCESS and LOGFLUSHQ for a thousand rows, the middle of the draws'.
    pub collisions_per_1000: [f64; 3],
    /// The part of the schedulers' CPU time spent spinning and backing off, the middle of the draws'.
    pub backoff_share: f64,
}

/// A curve over sessions.
#[derive(Debug, Clone, Serialize)]
pub struct Curve {
    /// `classic` or `best`.
    pub policies: &'static str,
    /// `default` or `apart`.
    pub mask: &'static str,
    /// FULL or DELAYED.
    pub durability: &'static str,
    /// Its points.
    pub points: Vec<CurvePoint>,
}

impl Curve {
    /// The name in tables and legends.
    pub fn name(&self) -> String {
        let mask = if self.mask == "apart" { "log writer's core apart" } else { "default mask" };
        format!("{}, {mask}", self.policies)
    }
}

/// This machine's constants as they may be on another one.
pub(super) fn drawn(calibration: &Calibration, set: PolicySet, target: &Target, random: &mut Random) -> Constants {
    let here = calibration.constants(set);
    let device = target.device.map_or(here.device, |device| slow(device, here.device));
    let mut between = |low: f64, high: f64| random.between(low, high);
    // Every draw takes as many numbers, whatever it needs of them.
    let (per_clock, work) = (between(0.5, 1.0), between(0.9, 1.1));
    let waits = between(0.5, 2.0);
    let handoff = Handoff { core_ns: 8.0, socket_ns: between(44.0, 51.0), far_ns: between(108.0, 197.0) };
    let (sibling, together) = (between(0.55, 0.70), between(here.together, 1.0));
    if target.is_here {
        return Constants { insert_ns: here.insert_ns * work, device, ..here };
    }
    let clock = target.clock_ghz.filter(|_| calibration.clock_ghz > 0.0).map(|ghz| calibration.clock_ghz / ghz);
    let slower = clock.map_or(1.0, |clock| clock / per_clock);
    Constants {
        insert_ns: here.insert_ns * slower,
        commit_ns: here.commit_ns * slower,
        id_hold_ns: here.id_hold_ns * slower,
        cache_hold_ns: here.cache_hold_ns * slower,
        queue_hold_ns: here.queue_hold_ns * slower,
        add_ns: here.add_ns * slower,
        pause_ns: here.pause_ns * clock.unwrap_or(1.0),
        yield_ns: here.yield_ns * slower,
        block_ns: here.block_ns * slower,
        byte_ns: here.byte_ns * slower,
        waker_ns: here.waker_ns * slower,
        wake_ns: here.wake_ns * waits,
        busy_wake_ns: here.busy_wake_ns * waits,
        slice_ns: here.slice_ns * waits,
        handoff,
        sibling,
        together,
        device,
        ..here
    }
}

/// The device that a description names; what it leaves open is as here.
pub(super) fn slow(device: SlowDevice, here: DeviceTimes) -> DeviceTimes {
    let write_ns = device.delay.as_nanos() as f64;
    let byte_ns = device.bytes_per_second.map_or(here.byte_ns, |rate| 1e9 / rate.max(1) as f64);
    DeviceTimes { write_ns, gap_ns: here.gap_ns.min(write_ns), byte_ns }
}

/// Does one thing for each number below `count`, on as many threads as there are CPUs; results in their order.
pub(super) fn each<T: Send>(count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let threads = thread::available_parallelism().map_or(1, usize::from).min(count).max(1);
    let mut done: Vec<(usize, T)> = Vec::with_capacity(count);
    thread::scope(|scope| {
        let work = &work;
        let part =
            |first: usize| move || (first..count).step_by(threads).map(|one| (one, work(one))).collect::<Vec<_>>();
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(part(first))).collect();
        for part in parts {
            match part.join() {
                Ok(results) => done.extend(results),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, result)| result).collect()
}

/// Predicts the curves that are asked for.
pub fn answer(
    calibration: &Calibration,
    target: &Target,
    question: &Question,
    mut tell: impl FnMut(&str),
) -> Vec<Curve> {
    let mut curves = Vec::new();
    for durability in &question.durabilities {
        for set in &question.sets {
            for mask in &question.masks {
                tell(&format!("{}, {}, {}", set.name(), mask.name(), durability.name()));
                curves.push(curve(calibration, target, question, *set, *mask, *durability));
            }
        }
    }
    curves
}

fn curve(
    calibration: &Calibration,
    target: &Target,
    question: &Question,
    set: PolicySet,
    mask: Mask,
    durability: Durability,
) -> Curve {
    let layout = own_layout(&target.topology, &target.usable, set, mask);
    let (draws, counts) = (question.draws.max(1), &question.sessions);
    let runs = each(draws * counts.len(), |number| {
        let (draw, sessions) = (number % draws, counts[number / draws]);
        let seed = question.seed.wrapping_add(draw as u64);
        let rows = match (durability, set) {
            (Durability::Full, _) => ROWS_DURABLE,
            (Durability::Delayed, PolicySet::Classic) => ROWS_CLASSIC,
            (Durability::Delayed, PolicySet::Best) => ROWS_BEST,
        };
        let scenario = Scenario {
            layout: layout.clone(),
            constants: drawn(calibration, set, target, &mut Random::new(seed)),
            policies: Calibration::policies(set),
            full_durability: durability == Durability::Full,
            sessions,
            rows: if cfg!(debug_assertions) { rows / 50 } else { rows },
            spread: 0.3,
            seed,
        };
        (simulate(&scenario), scenario.bound_rows_per_second())
    });
    let point = |(runs, sessions): (&[(super::model::Outcome, f64)], &usize)| {
        let rates: Vec<f64> = runs.iter().map(|(run, _)| run.rows_per_second).collect();
        let middle = |lock: usize| median(runs.iter().map(|(run, _)| run.collisions_per_1000()[lock]));
        CurvePoint {
            sessions: *sessions,
            rows_per_second: Interval::of(&rates),
            bound_rows_per_second: median(runs.iter().map(|(_, bound)| *bound)),
            collisions_per_1000: [0, 1, 2].map(middle),
            backoff_share: median(runs.iter().map(|(run, _)| run.backoff_share)),
        }
    };
    let points = runs.chunks(draws).zip(counts).map(point).collect();
    Curve { policies: set.name(), mask: mask.name(), durability: durability.name(), points }
}

#[cfg(test)]
pub(super) fn target(shape: &str) -> Target {
    let parsed = pikepole_machine::Shape::parse(shape).expect("a shape");
    let files = pikepole_machine::SystemFiles::of_shape(&parsed);
    let topology = Topology::of(&files).expect("a machine");
    let usable = topology.cpus.iter().map(|cpu| cpu.id).collect();
    Target { name: shape.to_owned(), topology, usable, is_here: false, clock_ghz: Some(2.3), device: None }
}

#[cfg(test)]
mod tests {
    use super::super::calibration::example;
    use super::*;

    #[test]
    fn a_question_has_the_same_answer_twice_and_intervals_in_order() {
        let question = Question {
            sessions: vec![1, 8],
            sets: PolicySet::ALL.to_vec(),
            masks: vec![Mask::Default, Mask::Apart],
            durabilities: vec![Durability::Delayed, Durability::Full],
            draws: 3,
            seed: 5,
        };
        let target = target("2x4x2");
        let ask = || answer(&example(), &target, &question, |_| {});
        let (first, again) = (ask(), ask());
        let text = |curves: &[Curve]| serde_json::to_string(curves).expect("JSON");
        assert_eq!(text(&first), text(&again));
        assert_eq!(first.len(), 8);
        for point in first.iter().flat_map(|curve| &curve.points) {
            let Interval { low, median, high } = point.rows_per_second;
            assert!(0.0 < low && low <= median && median <= high, "{point:?}");
        }
    }

    #[test]
    fn a_slower_clock_is_a_slower_machine() {
        let rates = |clock_ghz| {
            let target = Target { clock_ghz: Some(clock_ghz), ..target("1x4x1") };
            let question = Question {
                sessions: vec![2],
                sets: vec![PolicySet::Best],
                masks: vec![Mask::Default],
                durabilities: vec![Durability::Delayed],
                draws: 2,
                seed: 1,
            };
            answer(&example(), &target, &question, |_| {})[0].points[0].rows_per_second
        };
        assert!(rates(1.3).median < 0.6 * rates(2.6).median);
    }

    #[test]
    fn results_come_in_their_order() {
        assert_eq!(each(7, |number| number * 2), [0, 2, 4, 6, 8, 10, 12]);
        assert!(each(0, |number| number).is_empty());
    }
}
