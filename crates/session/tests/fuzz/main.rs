//! Fuzz of all that a statement meets: scripts of T-SQL, changed token by token, are run in a server of their own.
//!
//! ```text
//!   scripts of `tests/scripts` --> changed --> run on a simulated disk --> the power fails --> recovered --> checked
//! ```
//!
//! No statement makes a task panic or run without obeying a cancel; whatever was done, the databases recover, and their checks
//! find nothing. `cargo test -p pikepole-session --test fuzz -- --seconds 60`; a failure names its input: `-- --seed N` runs
//! it again and prints it.

mod change;
#[path = "../../../log/tests/fuzz/mutate.rs"]
mod mutate;
#[path = "../../../log/tests/fuzz/watch.rs"]
mod watch;

use change::Corpus;
use mutate::Random;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_engine::{SchedulerChoice, Server, ServerOptions};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_query::Output;
use pikepole_scheduler::Placement;
use pikepole_session::{ColumnInfo, Done, Registry, Session, SessionOptions};
use pikepole_types::{SqlError, Value};
use std::path::Path;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A batch is cancelled after so long: a loop that a change made endless.
const BATCH_TIME_MAX: Duration = Duration::from_millis(500);
/// A script is long; what follows a change is of interest, but not for ever.
const BATCHES_MAX: usize = 12;
/// What a query of a few lines may ask for: sorts and long values have no limit of their own.
const ALLOCATION_BYTES_MAX: usize = 4 << 30;
/// Functions of values of hundreds of megabytes do not look up.
const INPUT_SECONDS_MAX: u64 = 180;

fn main() {
    let run = watch::Run::from_arguments();
    run.allow(ALLOCATION_BYTES_MAX, INPUT_SECONDS_MAX);
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    let corpus = Corpus::read(&Path::new(&own).join("tests/scripts"));
    let watchdog = Watchdog::start();
    run.each("scripts", |seed| {
        let mut random = Random::new(seed);
        let batches = corpus.changed_script(BATCHES_MAX, &mut random);
        if run.only {
            println!("{}", batches.join("\nGO\n"));
        }
        let disk = SimulatedDisk::new(seed);
        run_batches(&disk, seed, &batches, &watchdog);
        recover_and_check(&disk.crash(seed), seed);
    });
}

fn open(disk: &SimulatedDisk, seed: u64) -> Arc<Server> {
    let options = ServerOptions {
        disk: Disk::simulated(disk.clone()),
        schedulers: SchedulerChoice::Simulated { seed, count: 2 },
        small: true,
        ..ServerOptions::new("/server")
    };
    Server::open(options).expect("the server opens")
}

fn run_batches(disk: &SimulatedDisk, seed: u64, batches: &[String], watchdog: &Watchdog) {
    let server = open(disk, seed);
    let registry = Registry::new(server.statistics());
    let begin = || Session::new(Arc::clone(&server), Arc::clone(&registry), SessionOptions::default());
    let mut session = begin().expect("a session begins");
    for text in batches {
        let text = text.clone();
        let cancel = session.cancel_switch();
        watchdog.watch(Some(Arc::clone(&cancel)));
        let info = session.task_info();
        let task = server.schedulers().spawn(info, Placement::LeastLoaded, async move {
            session.run(&text, &mut [], &mut Nowhere).await;
            session
        });
        session = server.schedulers().block_on(task).expect("a batch does not panic");
        watchdog.watch(None);
        cancel.store(false, Ordering::Relaxed);
    }
    // The power fails while the session is still there.
    disk.power_off();
}

/// What is on the disk after the power failed is recovered, and is whole.
fn recover_and_check(disk: &SimulatedDisk, seed: u64) {
    let server = open(disk, seed);
    server.schedulers().block_on(server.shutdown()).expect("the databases close");
    drop(server);
    let report = Server::check(&Disk::simulated(disk.clone()), Path::new("/server"), &mut |_| ());
    let report = report.expect("the databases can be checked");
    assert!(report.damage.is_empty(), "{:?}", report.damage);
}

/// Rows and messages go nowhere.
struct Nowhere;

impl Output for Nowhere {
    fn columns(&mut self, _: &[ColumnInfo]) {}
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, _: &SqlError) {}
    fn error(&mut self, _: &SqlError) {}
}

/// A thread that cancels what takes too long.
struct Watchdog {
    watched: Mutex<Sender<Option<Arc<AtomicBool>>>>,
}

impl Watchdog {
    fn start() -> Watchdog {
        let (watched, changes) = channel::<Option<Arc<AtomicBool>>>();
        std::thread::spawn(move || {
            let mut current = None;
            loop {
                match changes.recv_timeout(BATCH_TIME_MAX) {
                    Ok(next) => current = next,
                    Err(RecvTimeoutError::Timeout) => {
                        if let Some(switch) = current.take() {
                            AtomicBool::store(&switch, true, Ordering::Relaxed);
                        }
                    }
                    Err(RecvTimeoutError::Disconnected) => return,
                }
            }
        });
        Watchdog { watched: Mutex::new(watched) }
    }

    /// This switch is switched when nothing else is said for too long.
    fn watch(&self, switch: Option<Arc<AtomicBool>>) {
        let watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        watched.send(switch).expect("the thread goes on");
    }
}
