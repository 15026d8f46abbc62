//! Kills a server in the middle of TPC-C, starts it again, and looks whether what it answered is there and whole.

use crate::measure::{Setting, Tally, Window, terminals, work};
use crate::random::Rng;
use crate::session::SessionError;
use crate::target::Target;
use crate::workloads::{Workload, tpcc};
use pikepole_client::{Address, ConnectOptions, Encryption};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// The longest start of a server.
const START_TIME: Duration = Duration::from_secs(120);
/// A run that is not killed ends by itself.
const LENGTH_MAX: Duration = Duration::from_secs(600);
/// The moment of a kill, in milliseconds from the first transaction on.
const KILL_AFTER_MS: std::ops::Range<u64> = 1000..5000;

/// The server to kill, and the load on it.
#[derive(clap::Args)]
pub struct KillArguments {
    /// Pikepole's binary
    #[arg(long, value_name = "FILE")]
    server: PathBuf,
    /// A folder of databases that is made for this; it is removed before and after
    #[arg(long, value_name = "FOLDER")]
    folder: PathBuf,
    /// Warehouses
    #[arg(long, default_value_t = 1)]
    scale: u32,
    /// Connections
    #[arg(long, default_value_t = 16)]
    terminals: usize,
    /// Number of kills
    #[arg(long, default_value_t = 10)]
    rounds: usize,
    /// Let commits not wait until they are durable: a planted fault, which is to be found
    #[arg(long)]
    delayed: bool,
    /// Seed of the random numbers
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// A server that is killed when it is dropped.
struct Server {
    process: Child,
}

impl Server {
    fn start(arguments: &KillArguments, address: &Address, password: &str) -> Result<Server, SessionError> {
        let log = std::fs::File::options().create(true).append(true).open(log_of(&arguments.folder))?;
        let process = Command::new(&arguments.server)
            .args(["serve", "--tls", "off", "--listen", &address.to_string(), "--data"])
            .arg(&arguments.folder)
            .env("PIKEPOLE_SA_PASSWORD", password)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .map_err(|error| SessionError::Other(format!("{}: {error}", arguments.server.display())))?;
        let mut server = Server { process };
        let begun = Instant::now();
        while let Err(error) = pikepole_client::ping(address, Duration::from_secs(1)) {
            if let Some(status) = server.process.try_wait()? {
                return Err(SessionError::Other(format!("the server has ended: {status}")));
            }
            if begun.elapsed() > START_TIME {
                return Err(SessionError::Other(format!("the server does not answer: {error}")));
            }
            thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // An error says that it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The file with the server's messages.
fn log_of(folder: &Path) -> PathBuf {
    folder.with_extension("log")
}

/// Rows that transactions leave one of each.
#[derive(Debug, Clone, Copy)]
struct Counts {
    orders: i64,
    payments: i64,
}

/// Kills a server again and again.
///
/// # Errors
/// A server that does not start or fails a transaction; a condition that does not hold.
pub fn kill(arguments: &KillArguments) -> Result<(), SessionError> {
    remove(&arguments.folder)?;
    let address = Address { host: "127.0.0.1".to_string(), port: free_port()? };
    let mut random = Rng::with_seed(arguments.seed);
    let password = format!("Kill-{}", crate::random::text(&mut Rng::new(), 20..=20));
    let mut options = ConnectOptions::new(address.clone(), "sa", password.clone());
    options.encryption = Encryption::Off;
    let target = Target::pikepole("Pikepole".to_string(), options);
    let workload = Workload::new("tpcc", Some(arguments.scale)).map_err(SessionError::Other)?;

    let mut server = Server::start(arguments, &address, &password)?;
    target.make_database()?;
    println!("loaded in {:.1} s", target.load(&workload)?.as_secs_f64());
    target.set_durability(!arguments.delayed)?;
    let mut before = counts(&target)?;
    for round in 1..=arguments.rounds {
        let after = Duration::from_millis(random.u64(KILL_AFTER_MS));
        let seed = arguments.seed + round as u64;
        let tally = interrupted(server, &target, &workload, arguments, after, seed)?;
        let restarted = Instant::now();
        server = Server::start(arguments, &address, &password)?;
        let recovery = restarted.elapsed();
        let now = counts(&target)?;
        let orders = compared("orders", tally.committed[0], now.orders - before.orders, arguments.terminals);
        let payments = compared("payments", tally.committed[1], now.payments - before.payments, arguments.terminals);
        let verdicts = tpcc::check(&mut *target.connect()?, target.dialect())?;
        let broken: Vec<String> = verdicts
            .iter()
            .filter(|verdict| verdict.violations > 0)
            .map(|verdict| format!("3.3.2.{} ({}): {} rows", verdict.number, verdict.text, verdict.violations))
            .chain([orders, payments].into_iter().filter_map(Result::err))
            .collect();
        let total: u64 = tally.committed.iter().sum();
        println!(
            "round {round:2}: killed after {:.1} s, {total} transactions committed, answers again after {:.1} s: {}",
            after.as_secs_f64(),
            recovery.as_secs_f64(),
            if broken.is_empty() { "whole".to_string() } else { broken.join("; ") }
        );
        if !broken.is_empty() {
            return Err(SessionError::Other(format!("{} is left as it is", arguments.folder.display())));
        }
        before = now;
    }
    drop(server);
    remove(&arguments.folder)
}

/// Runs transactions until the server is killed: those that it answered.
fn interrupted(
    mut server: Server,
    target: &Target,
    workload: &Workload,
    arguments: &KillArguments,
    after: Duration,
    seed: u64,
) -> Result<Tally, SessionError> {
    let (warm_up, threads) = (Duration::ZERO, 2);
    let setting = Setting { terminals: arguments.terminals, threads, warm_up, length: LENGTH_MAX, seed };
    let groups = terminals(target, workload, &setting)?;
    let window = Window::new(warm_up, LENGTH_MAX);
    thread::scope(|scope| {
        let window = &window;
        let threads: Vec<_> =
            groups.into_iter().map(|group| scope.spawn(move || work(group, workload, window))).collect();
        thread::sleep(after);
        if let Some(status) = server.process.try_wait()? {
            return Err(SessionError::Other(format!("the server has ended before it was killed: {status}")));
        }
        let failed_before = threads.iter().any(thread::ScopedJoinHandle::is_finished);
        server.process.kill()?;
        server.process.wait()?;
        let mut tally = Tally::default();
        for thread in threads {
            let (group, failure) = thread.join().map_err(|_| SessionError::other("a thread panicked"))??;
            tally.add(group);
            if failed_before && let Some(failure) = failure {
                return Err(failure);
            }
        }
        Ok(tally)
    })
}

/// Compares the rows that are there with those acknowledged. Each terminal may have one more, whose answer did not arrive.
fn compared(what: &str, acknowledged: u64, found: i64, terminals: usize) -> Result<(), String> {
    let acknowledged = i64::try_from(acknowledged).unwrap_or(i64::MAX);
    let allowed = acknowledged..=acknowledged.saturating_add(terminals as i64);
    match allowed.contains(&found) {
        true => Ok(()),
        false => Err(format!("{acknowledged} {what} acknowledged, {found} there")),
    }
}

fn counts(target: &Target) -> Result<Counts, SessionError> {
    let mut session = target.connect()?;
    let orders = session.run("SELECT COUNT_BIG(*) FROM oorder")?.integer(0, 0)?;
    let payments = session.run("SELECT COUNT_BIG(*) FROM history")?.integer(0, 0)?;
    Ok(Counts { orders, payments })
}

fn free_port() -> Result<u16, SessionError> {
    Ok(TcpListener::bind(("127.0.0.1", 0))?.local_addr()?.port())
}

/// Removes a folder and its log, where they are there.
fn remove(folder: &Path) -> Result<(), SessionError> {
    let is_absent = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    for result in [std::fs::remove_dir_all(folder), std::fs::remove_file(log_of(folder))] {
        result.or_else(|error| if is_absent(&error) { Ok(()) } else { Err(error) })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::compared;

    #[test]
    fn an_answer_may_be_missing_but_no_row() {
        assert!(compared("orders", 10, 10, 2).is_ok() && compared("orders", 10, 12, 2).is_ok());
        assert!(compared("orders", 10, 9, 2).is_err() && compared("orders", 10, 13, 2).is_err());
    }
}
