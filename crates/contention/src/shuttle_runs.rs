//! Models under shuttle: so many runs of one, and the proof that it sees a fault.

use shuttle::scheduler::{PctScheduler, RandomScheduler};

/// Forced switches in a schedule by priority.
const SWITCHES: usize = 4;
/// Set in the process that has a fault planted.
const IN_CANARY: &str = "PIKEPOLE_CANARY";

/// The number in an environment variable.
fn number<T: std::str::FromStr>(name: &str) -> Option<T> {
    std::env::var(name).ok()?.parse().ok()
}

/// The runs that `PIKEPOLE_SHUTTLE_RUNS` asks for, or the usual ones.
pub fn runs(usual: usize) -> usize {
    number("PIKEPOLE_SHUTTLE_RUNS").unwrap_or(usual)
}

/// A number below `end` by chance, of a run's seed.
pub fn chance(end: u64) -> u64 {
    use shuttle::rand::Rng;
    shuttle::rand::thread_rng().gen_range(0..end)
}

/// Runs a model so many times with threads picked by chance, and so many with priorities that change at a few moments
/// (Burckhardt and others, ASPLOS 2010). `PIKEPOLE_SHUTTLE_SEED` gives other runs. One seed gives the same runs on one machine, and
/// others elsewhere: some choices of the code follow addresses.
pub fn check(model: fn(), runs: usize) {
    let mut config = shuttle::Config::new();
    config.stack_size = 1 << 20;
    config.silence_warnings = true;
    let seed = number("PIKEPOLE_SHUTTLE_SEED").unwrap_or(7);
    let by_chance = RandomScheduler::new_from_seed(seed, runs);
    shuttle::Runner::new(by_chance, config.clone()).run(model);
    let by_priority = PctScheduler::new_from_seed(seed, SWITCHES, runs);
    shuttle::Runner::new(by_priority, config).run(model);
}

/// Demands that a model fails, within so many runs and in one of these ways, once `plant` has planted a fault. It runs in a process of
/// its own, since a model that fails in the midst of its guards may take its process down: `name` is the test's path in its crate.
pub fn canary(name: &str, plant: impl FnOnce(), model: fn(), runs: usize, ways: &[&str]) {
    if std::env::var_os(IN_CANARY).is_some() {
        plant();
        return check(model, runs);
    }
    let run = std::process::Command::new(std::env::current_exe().expect("the path of this test"))
        .args(["--exact", name, "--nocapture"])
        .env(IN_CANARY, "1")
        .env("RUST_BACKTRACE", "0")
        .output()
        .expect("this test runs once more");
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(!run.status.success(), "the model did not see the fault");
    let seen = ways.iter().find(|words| said.contains(**words));
    println!("{name}: {}", seen.unwrap_or_else(|| panic!("the canary failed in another way:\n{said}")));
}
