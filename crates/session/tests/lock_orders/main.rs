//! Random lock orders against the real engine, on a machine that is busy with other things.
//!
//! ```text
//!   sessions   loops of short transactions that lock the same things in different orders, on real schedulers
//!   spinners   threads that take the CPUs away between any two instructions of a session
//!   watchdog   ends the process with a picture of the waits when a session makes no progress
//! ```
//! Each scenario runs for a slice of the time, on tables of its own. Whatever the order: each circle of waits has a victim, so
//! every session goes on; no lock is left when all are done.
//!
//! ```sh
//! cargo test -p pikepole-session --test lock_orders -- --seconds 1800
//! cargo test -p pikepole-session --test lock_orders -- --only create_index --spinners 12
//! ```

mod scenarios;

use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Collected;
use pikepole_scheduler::Placement;
use pikepole_session::{Registry, Session, SessionOptions};
use scenarios::{Random, SCENARIOS, Scenario};
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Seconds of a run of which nothing else is said.
const SECONDS: u64 = 25;
/// Threads that spin beside the sessions.
const SPINNERS: u64 = 6;
/// A session that ends no statement for so long is in a circle that has no victim.
const PATIENCE: Duration = Duration::from_secs(20);
/// A scenario runs so long, then the next one does.
const SLICE: Duration = Duration::from_millis(1500);
const DEADLOCK: i32 = 1205;
const CANCELLED: i32 = 3617;

/// Errors that statements of the scenarios may end with.
const EXPECTED: &[i32] = &[
    DEADLOCK, CANCELLED, // Timeouts, conflicts of snapshots and of keys.
    1222, 3960, 3961, 2627, 2601, 547, // Definitions that others have made or dropped meanwhile.
    1913, 3701, 3728, 4924, 2705, 207, 208, 4922, 1779, 1750, 5074, 4902, 2714, 213, 4712,
    // A transaction that a caught error has doomed, or that is there no more.
    3902, 3903, 3930, 3998, // Application locks that are not held; KILL of a session that has gone.
    1223, 15626, 6104, 6106,
];

struct Arguments {
    seconds: u64,
    seed: u64,
    spinners: u64,
    only: Option<String>,
}

impl Arguments {
    fn read() -> Arguments {
        let arguments: Vec<String> = std::env::args().skip(1).collect();
        let text = |name: &str| {
            let place = arguments.iter().position(|argument| argument == name)?;
            arguments.get(place + 1).cloned()
        };
        let number = |name: &str| text(name).map(|value| value.parse().expect("a number behind the option"));
        Arguments {
            seconds: number("--seconds").unwrap_or(SECONDS),
            seed: number("--seed").unwrap_or(1),
            spinners: number("--spinners").unwrap_or(SPINNERS),
            only: text("--only"),
        }
    }
}

fn main() {
    let arguments = Arguments::read();
    let _spinners: Vec<_> = (0..arguments.spinners).map(|_| std::thread::spawn(spin)).collect();
    let wanted = |scenario: &&Scenario| arguments.only.as_deref().is_none_or(|only| scenario.name == only);
    let chosen: Vec<&Scenario> = SCENARIOS.iter().filter(wanted).collect();
    assert!(!chosen.is_empty(), "no scenario has this name");
    let fixture = Fixture::open();
    let (begun, mut seed) = (Instant::now(), arguments.seed);
    let mut totals: BTreeMap<&str, Totals> = BTreeMap::new();
    let mut rounds = 0;
    while begun.elapsed().as_secs() < arguments.seconds {
        for scenario in &chosen {
            totals.entry(scenario.name).or_default().add(fixture.run(scenario, seed));
            seed += 1;
        }
        rounds += 1;
    }
    println!("scenario                  statements  deadlocks     killed");
    for (name, totals) in &totals {
        println!("{name:<24} {:>11} {:>10} {:>10}", totals.statements, totals.deadlocks, totals.killed);
    }
    let found: u64 = totals.values().map(|totals| totals.deadlocks).sum();
    let number = |sql: &str| fixture.number(sql);
    let counted = number(
        "SELECT MAX(cntr_value) FROM sys.dm_os_performance_counters WHERE counter_name LIKE 'Number of Deadlocks/sec%'",
    );
    let by_monitor = number("SELECT COUNT(*) FROM sys.dm_pikepole_deadlocks WHERE found_by_monitor = 1");
    let kept = number("SELECT COUNT(*) FROM sys.dm_pikepole_deadlocks WHERE deadlock_graph IS NOT NULL");
    println!(
        "lock_orders: no hang in {:.0} s, {rounds} rounds, {} spinners, {found} deadlocks found and ended; counted: {counted}, \
         graphs kept: {kept}, of these found by the monitor: {by_monitor}",
        begun.elapsed().as_secs_f64(),
        arguments.spinners
    );
    assert!(found > 0, "a run without a deadlock shows nothing");
    assert!(kept > 0, "no deadlock has a graph");
    assert_eq!(by_monitor, 0, "a circle that no wait has found");
    // The spinners have no end but the process's.
    std::process::exit(0);
}

fn spin() {
    loop {
        std::hint::spin_loop();
    }
}

#[derive(Default)]
struct Totals {
    statements: u64,
    deadlocks: u64,
    killed: u64,
}

impl Totals {
    fn add(&mut self, other: Totals) {
        self.statements += other.statements;
        self.deadlocks += other.deadlocks;
        self.killed += other.killed;
    }
}

/// What a session of a scenario shows to the watchdog.
#[derive(Default)]
struct Progress {
    statements: AtomicU64,
    deadlocks: AtomicU64,
    killed: AtomicU64,
    done: AtomicBool,
    running: Mutex<String>,
}

impl Progress {
    fn begin(&self, text: &str) {
        text.clone_into(&mut self.running.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

struct Fixture {
    server: Arc<Server>,
    registry: Arc<Registry>,
}

impl Fixture {
    fn open() -> Arc<Fixture> {
        let options = ServerOptions {
            disk: Disk::simulated(SimulatedDisk::new(3)),
            schedulers: SchedulerChoice::Threads { cpus: None, pin: false },
            ..ServerOptions::new("/server")
        };
        let server = Server::open(options).expect("an empty disk can be opened");
        let registry = Registry::new(server.statistics());
        let fixture = Fixture { server, registry };
        fixture.must("CREATE DATABASE lock_orders; ALTER DATABASE lock_orders SET ALLOW_SNAPSHOT_ISOLATION ON");
        Arc::new(fixture)
    }

    fn session(&self, database: &str) -> Session {
        let options = SessionOptions { database: database.to_owned(), ..SessionOptions::default() };
        let (server, registry) = (Arc::clone(&self.server), Arc::clone(&self.registry));
        Session::new(server, registry, options).expect("a session begins")
    }

    /// Runs a batch in a session of its own, from a thread that is no scheduler's.
    fn collect(&self, sql: &str) -> Collected {
        let mut session = self.session("master");
        let (info, text) = (session.task_info(), sql.to_owned());
        let task = self.server.schedulers().spawn(info, Placement::LeastLoaded, async move {
            let mut output = Collected::default();
            session.run(&text, &mut [], &mut output).await;
            session.close().await;
            output
        });
        task.join().expect("no panic")
    }

    fn number(&self, sql: &str) -> i64 {
        let output = self.collect(sql);
        let first = output.rows().first().and_then(|row| row.first()).and_then(|value| value.as_i64());
        first.unwrap_or_else(|| panic!("{sql}: {:?}", output.errors()))
    }

    fn must(&self, sql: &str) {
        let output = self.collect(sql);
        assert!(output.errors().is_empty(), "{sql}: {:?}", output.errors());
    }

    fn run(self: &Arc<Self>, scenario: &Scenario, seed: u64) -> Totals {
        self.must(&format!("USE lock_orders; {}", scenario.setup));
        let stop = Arc::new(AtomicBool::new(false));
        let progress: Vec<Arc<Progress>> = scenario.sessions.iter().map(|_| Arc::default()).collect();
        for (number, (of_session, progress)) in scenario.sessions.iter().zip(&progress).enumerate() {
            let (fixture, stop, progress) = (Arc::clone(self), Arc::clone(&stop), Arc::clone(progress));
            let random = Random::new(seed << 8 | number as u64);
            let (session, next) = (self.session("lock_orders"), *of_session);
            let info = session.task_info();
            let work = async move { fixture.work(session, next, random, &stop, &progress).await };
            drop(self.server.schedulers().spawn(info, Placement::LeastLoaded, work));
        }
        self.watch(scenario, seed, &stop, &progress);
        let totals = progress.iter().fold(Totals::default(), |mut totals, progress| {
            totals.add(Totals {
                statements: progress.statements.load(Ordering::Relaxed),
                deadlocks: progress.deadlocks.load(Ordering::Relaxed),
                killed: progress.killed.load(Ordering::Relaxed),
            });
            totals
        });
        let left = self.collect("SELECT * FROM sys.dm_tran_locks WHERE request_session_id <> @@SPID");
        assert!(left.rows().is_empty(), "{}: locks are left: {:?}", scenario.name, left.rows());
        self.must(&format!("USE lock_orders; {}", scenario.cleanup));
        totals
    }

    /// One session: batches until it is to stop.
    async fn work(
        &self,
        mut session: Session,
        next: scenarios::Next,
        mut random: Random,
        stop: &AtomicBool,
        progress: &Progress,
    ) {
        while !stop.load(Ordering::Relaxed) {
            let batch = next(&mut random, session.id());
            progress.begin(&batch);
            let mut output = Collected::default();
            session.run(&batch, &mut [], &mut output).await;
            let numbers: Vec<i32> = output.errors().iter().map(|error| error.number).collect();
            let killed = session.cancel_switch().swap(false, Ordering::Relaxed);
            for error in output.errors() {
                let known = EXPECTED.contains(&error.number) || killed;
                assert!(known, "{batch}: {error:?}");
            }
            progress.statements.fetch_add(1, Ordering::Relaxed);
            let victims = numbers.iter().filter(|number| **number == DEADLOCK).count() as u64;
            let rows = output.rows();
            let values = rows.iter().flat_map(|row| row.iter());
            let caught = values.filter(|value| value.as_str() == Some("deadlock")).count() as u64;
            progress.deadlocks.fetch_add(victims + caught, Ordering::Relaxed);
            if killed || numbers.contains(&CANCELLED) {
                progress.killed.fetch_add(1, Ordering::Relaxed);
                session.close().await;
                session = self.session("lock_orders");
                continue;
            }
            progress.begin("ROLLBACK");
            session.run("IF @@TRANCOUNT > 0 ROLLBACK", &mut [], &mut Collected::default()).await;
        }
        session.close().await;
        progress.done.store(true, Ordering::Relaxed);
    }

    /// Lets the sessions run for a slice, then until each has seen that it is to stop; ends the process if one cannot.
    fn watch(&self, scenario: &Scenario, seed: u64, stop: &AtomicBool, progress: &[Arc<Progress>]) {
        let begun = Instant::now();
        let mut seen: Vec<(u64, Instant)> = progress.iter().map(|_| (0, begun)).collect();
        while !progress.iter().all(|progress| progress.done.load(Ordering::Relaxed)) {
            std::thread::sleep(Duration::from_millis(10));
            if begun.elapsed() >= SLICE {
                stop.store(true, Ordering::Relaxed);
            }
            for (progress, seen) in progress.iter().zip(&mut seen) {
                let now = progress.statements.load(Ordering::Relaxed);
                if now != seen.0 || progress.done.load(Ordering::Relaxed) {
                    *seen = (now, Instant::now());
                }
            }
            if seen.iter().any(|(_, since)| since.elapsed() > PATIENCE) {
                self.hang(scenario, seed, progress, &seen);
            }
        }
    }

    fn hang(&self, scenario: &Scenario, seed: u64, progress: &[Arc<Progress>], seen: &[(u64, Instant)]) -> ! {
        let mut out = std::io::stderr().lock();
        let _ = writeln!(out, "lock_orders: {} hangs at --seed {seed} --only {}", scenario.name, scenario.name);
        for (number, (progress, seen)) in progress.iter().zip(seen).enumerate() {
            let running = progress.running.lock().unwrap_or_else(PoisonError::into_inner).clone();
            let (count, quiet) = (seen.0, seen.1.elapsed().as_secs());
            let _ = writeln!(out, "  worker {number}: {count} batches, none for {quiet} s: {running}");
        }
        for sql in [
            "SELECT session_id, wait_duration_ms, wait_type, blocking_session_id, resource_description \
             FROM sys.dm_os_waiting_tasks WHERE session_id > 50",
            "SELECT request_session_id, resource_type, resource_description, resource_associated_entity_id, \
             request_mode, request_status FROM sys.dm_tran_locks WHERE request_session_id > 50",
        ] {
            let _ = writeln!(out, "  {sql}");
            for row in self.collect(sql).rows() {
                let _ = writeln!(out, "    {row:?}");
            }
        }
        std::process::exit(1);
    }
}
