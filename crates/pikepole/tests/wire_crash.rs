//! Kills a server that 32 connections write to under full durability, starts it again, and looks for anything lost.
//!
//! ```text
//!   32 connections of this program          pikepole serve
//!     insert, BEGIN .. COMMIT, messages of several inserts  ---------->
//!     each counts what was acknowledged
//!   SIGKILL at a random time ------------>  gone; every connection breaks
//!   SELECT ------------------------------>  started again on the folder: recovers
//!     each connection's transactions are there, whole, up to the last that was acknowledged; the one that was under way is
//!     there whole or not at all, of a message as many of its inserts as it came to; nothing behind it
//! ```
//!
//! A message's last call waits for the log itself. In every second round there are only messages whose last call writes nothing: all
//! that their answers stand for is the one wait behind the calls.
//!
//! The canary is the same with delayed durability forced: the server acknowledges before the flush, and that must be found
//! within 20 rounds.
//!
//! `cargo test --release -p pikepole --test wire_crash -- --rounds 20 [--seed N]`

use pikepole::{SqlType, Value};
use pikepole_client::Length;
use pikepole_client::{ClientError, ConnectOptions, Connection, Encryption, Statement};
use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SESSIONS: u64 = 32;
const PASSWORD: &str = "deep-Water7";
const CANARY_ROUNDS_MAX: u32 = 20;
/// Transactions of a connection in a round, at most.
const TURNS_MAX: u64 = 1_000_000;
/// Rows of a transaction with BEGIN and COMMIT, and of a message; a key is `turn * PARTS + part`.
const PARTS: u64 = 3;

type Failure = Box<dyn std::error::Error + Send + Sync>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |name: &str| -> Option<u64> {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)?.parse().ok()
    };
    let rounds = number("--rounds").unwrap_or(if cfg!(debug_assertions) { 3 } else { 20 }) as u32;
    let clock = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    let mut random = Random(number("--seed").unwrap_or(clock) | 1);
    println!("seed {}", random.0);
    let folder = folder("rounds");
    let mut acknowledged = 0;
    for round in 0..rounds {
        acknowledged +=
            kill_in(&folder, "DISABLED", round, &mut random).map_err(|failure| format!("round {round}: {failure}"))?;
    }
    std::fs::remove_dir_all(&folder)?;
    println!("{rounds} rounds, {acknowledged} transactions acknowledged, 0 losses");
    canary(&mut random)
}

/// The planted fault must be caught.
fn canary(random: &mut Random) -> Result<(), Failure> {
    for round in 0..CANARY_ROUNDS_MAX {
        let folder = folder("canary");
        let caught = kill_in(&folder, "FORCED", 0, random).err();
        std::fs::remove_dir_all(&folder)?;
        if let Some(failure) = caught {
            println!("canary (acknowledges before the flush) caught in round {}: {failure}", round + 1);
            return Ok(());
        }
    }
    Err(format!("acknowledging before the flush was not caught in {CANARY_ROUNDS_MAX} rounds").into())
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("wire-crash-{name}-{}", std::process::id()))
}

/// One kill and one check; gives how many transactions had been acknowledged.
fn kill_in(folder: &Path, durability: &str, round: u32, random: &mut Random) -> Result<u64, Failure> {
    let mut server = Server::start(folder)?;
    let mut control = server.connect()?;
    control.execute("IF DB_ID('crash') IS NULL CREATE DATABASE crash")?;
    control.execute("USE crash")?;
    control.execute(&format!("ALTER DATABASE crash SET DELAYED_DURABILITY = {durability}"))?;
    control.execute(
        "IF OBJECT_ID('dbo.notes') IS NULL
             CREATE TABLE dbo.notes (id bigint NOT NULL PRIMARY KEY, payload varchar(100) NOT NULL)",
    )?;
    let work = if round.is_multiple_of(2) { Work::Mixed } else { Work::Messages };
    let connections = (0..SESSIONS).map(|_| Writer::new(&server, work)).collect::<Result<Vec<_>, _>>()?;
    let acknowledged: Vec<AtomicU64> = (0..SESSIONS).map(|_| AtomicU64::new(0)).collect();
    let base = |session: u64| (u64::from(round) * SESSIONS + session) * TURNS_MAX;
    let pause = Duration::from_millis(100 + random.below(500));
    std::thread::scope(|scope| -> Result<(), Failure> {
        let mut writers = Vec::new();
        for (session, mut writer) in connections.into_iter().enumerate() {
            let (count, base) = (&acknowledged[session], base(session as u64));
            writers.push(scope.spawn(move || writer.write_until_it_breaks(base, count)));
        }
        std::thread::sleep(pause);
        server.kill()?;
        for writer in writers {
            match writer.join().map_err(|_| "a writer panicked")? {
                ClientError::Broken(_) => {}
                other => return Err(format!("a connection ended otherwise: {other}").into()),
            }
        }
        Ok(())
    })?;
    let mut server = Server::start(folder)?;
    let found = read(&server, base(0))?;
    for session in 0..SESSIONS {
        let count = acknowledged[session as usize].load(Ordering::Relaxed);
        compare(&found, work, base(session), count).map_err(|why| format!("connection {session}: {why}"))?;
    }
    server.stop()?;
    let report = pikepole::check(folder, &mut |_| {})?;
    match report.damage.first() {
        Some(damage) => Err(format!("damage: {damage}").into()),
        None => Ok(acknowledged.iter().map(|count| count.load(Ordering::Relaxed)).sum()),
    }
}

/// How the rows of a turn are sent.
#[derive(PartialEq)]
enum Sent {
    Alone,
    InTransaction,
    /// As calls of one message, each a transaction of its own.
    InMessage,
}

/// What the connections of a round send.
#[derive(Clone, Copy)]
enum Work {
    Mixed,
    Messages,
}

impl Work {
    fn sent(self, turn: u64) -> Sent {
        match (self, turn % 4) {
            (Work::Messages, _) | (Work::Mixed, 2) => Sent::InMessage,
            (Work::Mixed, 0) => Sent::InTransaction,
            (Work::Mixed, _) => Sent::Alone,
        }
    }

    fn rows_of(self, turn: u64) -> u64 {
        if self.sent(turn) == Sent::Alone { 1 } else { PARTS }
    }
}

fn values(key: u64) -> [Value; 2] {
    [Value::BigInt(key as i64), Value::Str(payload(key))]
}

fn payload(key: u64) -> String {
    format!("{key}:{}", "x".repeat((key % 60) as usize))
}

/// A connection that writes.
struct Writer {
    connection: Connection,
    insert: Statement,
    work: Work,
}

impl Writer {
    fn new(server: &Server, work: Work) -> Result<Writer, Failure> {
        let mut connection = server.connect()?;
        connection.execute("USE crash")?;
        let types = [("@id", SqlType::BigInt), ("@payload", SqlType::VarChar(Length::Limit(100)))];
        let insert = connection.prepare("IF @id >= 0 INSERT dbo.notes (id, payload) VALUES (@id, @payload)", &types)?;
        Ok(Writer { connection, insert, work })
    }

    /// Transactions one after another; counts those that were acknowledged. The error that ended it.
    fn write_until_it_breaks(&mut self, base: u64, acknowledged: &AtomicU64) -> ClientError {
        for turn in 0..TURNS_MAX {
            let keys = (base + turn) * PARTS..(base + turn) * PARTS + self.work.rows_of(turn);
            let done = match self.work.sent(turn) {
                Sent::InMessage => self.message(keys),
                way => self.transaction(keys, way == Sent::InTransaction),
            };
            if let Err(error) = done {
                return error;
            }
            acknowledged.store(turn + 1, Ordering::Relaxed);
        }
        ClientError::Usage("the round never ended".to_string())
    }

    fn transaction(&mut self, keys: Range<u64>, begins: bool) -> Result<(), ClientError> {
        if begins {
            self.connection.execute("BEGIN TRANSACTION")?;
        }
        for key in keys {
            self.connection.start(&self.insert, &values(key))?;
            self.connection.finish()?;
        }
        if begins {
            self.connection.execute("COMMIT TRANSACTION")?;
        }
        Ok(())
    }

    fn message(&mut self, keys: Range<u64>) -> Result<(), ClientError> {
        let mut calls: Vec<[Value; 2]> = keys.map(values).collect();
        if let Work::Messages = self.work {
            calls.push([Value::BigInt(-1), Value::Null]);
        }
        self.connection.start_all(&self.insert, calls.iter().map(|values| &values[..]))?;
        self.connection.finish().map(|_| ())
    }
}

/// The rows of this round.
fn read(server: &Server, base: u64) -> Result<HashMap<u64, String>, Failure> {
    let mut connection = server.connect()?;
    connection.execute("USE crash")?;
    let rows = connection.query(&format!("SELECT id, payload FROM dbo.notes WHERE id >= {}", base * PARTS))?;
    let mut found = HashMap::new();
    for row in &rows {
        found.insert(row.get::<i64>("id")? as u64, row.get("payload")?);
    }
    Ok(found)
}

fn first_keys(turn: u64, count: u64) -> Vec<u64> {
    (0..count).map(|part| turn * PARTS + part).collect()
}

fn compare(found: &HashMap<u64, String>, work: Work, base: u64, acknowledged: u64) -> Result<(), String> {
    // The one that was under way, and what could only be there if it had been sent.
    for turn in 0..acknowledged + 2 {
        let keys = (0..PARTS).map(|part| (base + turn) * PARTS + part);
        let there: Vec<u64> = keys.filter(|key| found.contains_key(key)).collect();
        let count = there.len() as u64;
        if turn < acknowledged && count == 0 {
            return Err(format!("acknowledged transaction {turn} of {acknowledged} is lost"));
        }
        // The calls of a message are carried out in their order.
        let is_begun =
            turn == acknowledged && work.sent(turn) == Sent::InMessage && there == first_keys(base + turn, count);
        if count != 0 && (count != work.rows_of(turn) || turn > acknowledged) && !is_begun {
            return Err(format!("transaction {turn} has {count} rows, {acknowledged} were acknowledged"));
        }
        if let Some(key) = there.iter().find(|key| found[*key] != payload(**key)) {
            return Err(format!("the row {key} holds {:?}", found[key]));
        }
    }
    Ok(())
}

/// `pikepole serve` on a folder.
struct Server {
    program: Child,
    port: u16,
}

impl Server {
    fn start(folder: &Path) -> Result<Server, Failure> {
        let mut program = Command::new(env!("CARGO_BIN_EXE_pikepole"))
            .args(["serve", "--listen", "127.0.0.1:0", "--tls", "off", "-d"])
            .arg(folder)
            .env("PIKEPOLE_SA_PASSWORD", PASSWORD)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let mut line = String::new();
        BufReader::new(program.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.ok_or_else(|| format!("the server did not start: {line:?}"))?;
        Ok(Server { program, port })
    }

    fn connect(&self) -> Result<Connection, ClientError> {
        let address = format!("127.0.0.1:{}", self.port).parse().map_err(ClientError::Usage)?;
        Connection::connect(&ConnectOptions {
            encryption: Encryption::Off,
            ..ConnectOptions::new(address, "sa", PASSWORD)
        })
    }

    fn kill(&mut self) -> Result<(), Failure> {
        self.program.kill()?;
        let status = self.program.wait()?;
        // Killed, not ended by itself.
        if status.code().is_some() { Err(format!("the server ended by itself: {status}").into()) } else { Ok(()) }
    }

    fn stop(&mut self) -> Result<(), Failure> {
        // SAFETY: the process is our child and has not been waited for, so the number is its own.
        unsafe { libc::kill(self.program.id() as i32, libc::SIGTERM) };
        let status = self.program.wait()?;
        if status.success() { Ok(()) } else { Err(format!("the server ended with {status}").into()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended, unless the round failed.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// A small generator (xorshift64*, after Vigna) so that a seed can be replayed.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) % bound.max(1)
    }
}
