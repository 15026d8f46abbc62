//! Profiles: adding, shares, text; and one of a thread whose work is known.

use super::*;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, thread};
use std::time::{Duration, Instant};

/// main calls spin (30), append (60, of which 20 in spin) and begin (10, all in spin).
pub(super) fn profile() -> Profile {
    let stack = |frames: &[u32], samples| Stack { frames: frames.to_vec(), samples };
    Profile {
        samples: 100,
        lost: 0,
        cut: 0,
        collector_seconds: 0.002,
        cpu_seconds: 0.4,
        areas: BTreeMap::from([("back-off".to_owned(), 60), ("log copy".to_owned(), 40)]),
        functions: ["main", "append", "spin", "begin"].map(str::to_owned).to_vec(),
        stacks: vec![stack(&[2, 0], 30), stack(&[2, 1, 0], 20), stack(&[1, 0], 40), stack(&[2, 3, 0], 10)],
    }
}

#[test]
fn profiles_add_up_by_name() {
    let mut sum = profile();
    let other = Profile {
        samples: 5,
        areas: BTreeMap::from([("I/O".to_owned(), 5)]),
        functions: vec!["write".to_owned(), "main".to_owned(), "spin".to_owned()],
        stacks: vec![Stack { frames: vec![0, 1], samples: 3 }, Stack { frames: vec![2, 1], samples: 2 }],
        ..Profile::default()
    };
    sum.add(&other);
    assert_eq!((sum.samples, sum.stacks.len(), sum.functions.len()), (105, 5, 5));
    let shares = sum.shares();
    assert_eq!((shares[0].name, shares[0].own.round()), ("spin", 59.0));
    let main = shares.iter().find(|share| share.name == "main").expect("main");
    assert_eq!((main.own, main.total), (0.0, 100.0));
    assert_eq!(sum.areas.values().sum::<u64>(), 105);
    let mut from_nothing = Profile::default();
    from_nothing.add(&profile());
    assert_eq!(from_nothing.shares(), profile().shares());
}

#[test]
fn the_text_names_areas_functions_and_callers() {
    let text = profile().text();
    for wanted in [
        "100 samples of 0.4 s of CPU time; unwinding them took 2 ms (0.50%)",
        " 60.00%  back-off\n",
        " 60.00%  60.00%  spin\n 40.00%  60.00%  append\n",
        " 60.00%  spin\n 30.00%    main\n 20.00%    append\n 20.00%      main\n",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in\n{text}");
    }
    assert!(!text.contains("I/O"), "an area without samples");
    assert_eq!(Profile::default().share(Area::Io), 0.0);
}

#[inline(never)]
fn known_work(stop: &AtomicBool) -> u64 {
    let mut sum = 0_u64;
    while !stop.load(Ordering::Relaxed) {
        sum = known_part(sum);
    }
    sum
}

#[inline(never)]
fn known_part(mut sum: u64) -> u64 {
    for i in 0..20_000 {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
    }
    sum
}

/// A thread that does nothing but call one function is seen in it, called by its caller.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_thread_is_seen_where_it_works() {
    let stop = Arc::new(AtomicBool::new(false));
    let worker = thread::spawn({
        let stop = Arc::clone(&stop);
        move || known_work(&stop)
    });
    let profiler = Profiler::new();
    let mut found = Profile::default();
    let begun = Instant::now();
    let known = |profile: &Profile| {
        let is_known = |stack: &&Stack| {
            let names: Vec<&str> = stack.frames.iter().map(|place| profile.name(Some(*place))).collect();
            names.first().is_some_and(|name| name.ends_with("tests::known_part"))
                && names.get(1).is_some_and(|name| name.ends_with("tests::known_work"))
        };
        profile.stacks.iter().filter(is_known).map(|stack| stack.samples).sum::<u64>()
    };
    while known(&found) < 10 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{}", found.text());
        let running = profiler.start().expect("a profile");
        assert!(profiler.start().is_err(), "one at a time");
        thread::sleep(Duration::from_millis(100));
        found.add(&running.stop().expect("a profile").named());
    }
    stop.store(true, Ordering::Relaxed);
    worker.join().expect("it ends");
    assert_eq!(found.samples, found.stacks.iter().map(|stack| stack.samples).sum::<u64>());
    assert_eq!(found.samples, found.areas.values().sum::<u64>());
    assert!(found.share(Area::Driver) > 0.0, "{}", found.text());
}
