//! Kills a real process that inserts under full durability, into a table on disk and one in memory, reopens its folder, and looks for
//! anything lost.
//!
//! ```text
//!   parent                               child (this program, started again)
//!     start child ---------------------->  opens the folder, 8 sessions insert, update, roll back, in both tables at once;
//!                                          each notes every acknowledged transaction in its side file; checkpoints
//!     wait a random time, SIGKILL ------>  gone
//!     reopen the folder, read everything:
//!       every acknowledged transaction is there, whole, with the right values;
//!       what was not acknowledged is there whole or not at all; what was rolled back is not there
//! ```
//!
//! The canary is the same child with delayed durability forced: it acknowledges before the flush, which is exactly the
//! mistake the harness exists to find, and the harness must find it within 20 rounds.
//!
//! `cargo test --release -p pikepole --test crash -- --rounds 100 [--seed N]`

use pikepole::{Engine, Options, Value, blocking::Connection};
use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const SESSIONS: u64 = 8;
const CANARY_ROUNDS_MAX: u32 = 20;
/// Rounds in one folder before a fresh one is taken.
const ROUNDS_PER_FOLDER: u32 = 10;
/// A key is `transaction * PARTS_MAX + part`.
const PARTS_MAX: u64 = 8;

type Failure = Box<dyn std::error::Error>;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, folder, durability, base] = arguments.as_slice()
        && role == "child"
    {
        return child(Path::new(folder), durability, base.parse()?);
    }
    let number = |name: &str| -> Option<u64> {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)?.parse().ok()
    };
    let rounds = number("--rounds").unwrap_or(if cfg!(debug_assertions) { 3 } else { 10 }) as u32;
    let clock = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() as u64;
    let mut random = Random(number("--seed").unwrap_or(clock) | 1);
    println!("seed {}", random.0);

    let mut acknowledged = 0;
    for round in 0..rounds {
        acknowledged += round_in(&folder(round / ROUNDS_PER_FOLDER), "DISABLED", round, &mut random)
            .map_err(|failure| format!("round {round}: {failure}"))?;
        if (round + 1) % ROUNDS_PER_FOLDER == 0 || round + 1 == rounds {
            std::fs::remove_dir_all(folder(round / ROUNDS_PER_FOLDER))?;
            println!("{} rounds, {acknowledged} transactions acknowledged, 0 losses", round + 1);
        }
    }
    canary(&mut random)?;
    Ok(())
}

/// The planted fault must be caught.
fn canary(random: &mut Random) -> Result<(), Failure> {
    for round in 0..CANARY_ROUNDS_MAX {
        let folder = folder(1_000_000 + round);
        let caught = round_in(&folder, "FORCED", 0, random).err();
        std::fs::remove_dir_all(&folder)?;
        if let Some(failure) = caught {
            println!("canary (acknowledges before the flush) caught in round {}: {failure}", round + 1);
            return Ok(());
        }
    }
    Err(format!("acknowledging before the flush was not caught in {CANARY_ROUNDS_MAX} rounds").into())
}

fn folder(number: u32) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("crash-{}-{number}", std::process::id()))
}

/// One kill and one check; gives how many transactions had been acknowledged.
fn round_in(folder: &Path, durability: &str, round: u32, random: &mut Random) -> Result<u64, Failure> {
    std::fs::create_dir_all(folder)?;
    let base = (u64::from(round) + 1) * 10_000_000;
    let mut child = start_child(folder, durability, base)?;
    std::thread::sleep(Duration::from_millis(5 + random.below(400)));
    child.kill()?;
    let status = child.wait()?;
    if status.code().is_some() {
        return Err(format!("the child ended by itself: {status}").into());
    }
    let notes = read_notes(folder, base)?;
    let found = read_rows(folder, base)?;
    compare(&notes, &found, base)?;
    Ok(notes.values().filter(|kind| **kind != Kind::RolledBack).count() as u64)
}

/// Starts this program again as the one to kill, and waits until its sessions run.
fn start_child(folder: &Path, durability: &str, base: u64) -> Result<Child, Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["child".as_ref(), folder.as_os_str(), durability.as_ref(), base.to_string().as_ref()])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut ready = [0; 1];
    let mut stdout = child.stdout.take().ok_or("no standard output")?;
    if stdout.read(&mut ready)? == 0 {
        let status = child.wait()?;
        return Err(format!("the child did not start: {status}").into());
    }
    Ok(child)
}

// ---- the child ----

/// What a transaction does; its number decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// One row, autocommitted: one log record.
    Single,
    /// Several rows in an explicit transaction.
    Several,
    /// Several rows, then an update of each, in one transaction.
    Updated,
    /// Several rows, rolled back.
    RolledBack,
}

impl Kind {
    fn of(transaction: u64) -> Kind {
        match transaction % 7 {
            0 => Kind::Several,
            1 => Kind::Updated,
            2 => Kind::RolledBack,
            _ => Kind::Single,
        }
    }

    fn parts(self, transaction: u64) -> u64 {
        if self == Kind::Single { 1 } else { 2 + transaction % (PARTS_MAX - 2) }
    }
}

/// What the row of a key must hold.
fn payload(transaction: u64, part: u64, kind: Kind) -> String {
    let letter = char::from(b'a' + (transaction % 26) as u8);
    let updated = if kind == Kind::Updated { "updated " } else { "" };
    let length = (transaction * 31 + part * 7) % 180;
    format!("{updated}{transaction}:{part}:{}", letter.to_string().repeat(length as usize))
}

fn child(folder: &Path, durability: &str, base: u64) -> Result<(), Failure> {
    let engine = Engine::open(Options::new(folder))?;
    let mut control = engine.connect_blocking()?;
    control.execute(
        "IF DB_ID('crash') IS NULL
             CREATE DATABASE crash",
        &[],
    )?;
    control.execute("USE crash", &[])?;
    control.execute(&format!("ALTER DATABASE crash SET DELAYED_DURABILITY = {durability}"), &[])?;
    control.execute(
        "IF OBJECT_ID('dbo.notes') IS NULL
             CREATE TABLE dbo.notes (id bigint NOT NULL PRIMARY KEY, session int NOT NULL, payload varchar(400) NOT NULL)",
        &[],
    )?;
    control.execute(
        "ALTER DATABASE crash SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT = ON;
         IF OBJECT_ID('dbo.memory_notes') IS NULL
             CREATE TABLE dbo.memory_notes (id bigint NOT NULL PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1000),
                 session int NOT NULL INDEX by_session, payload varchar(400) NOT NULL) WITH (MEMORY_OPTIMIZED = ON)",
        &[],
    )?;
    control.execute(
        "CREATE OR ALTER PROCEDURE dbo.put_memory_note @id bigint, @session int, @payload varchar(400)
         WITH NATIVE_COMPILATION, SCHEMABINDING AS
         BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
             INSERT INTO dbo.memory_notes (id, session, payload) VALUES (@id, @session, @payload)
         END",
        &[],
    )?;
    let mut sessions = Vec::new();
    for session in 0..SESSIONS {
        let mut connection = engine.connect_blocking()?;
        connection.execute("USE crash", &[])?;
        let notes = OpenOptions::new().create(true).append(true).open(notes_path(folder, base, session))?;
        sessions.push(std::thread::Builder::new().spawn(move || write_forever(connection, session, base, notes))?);
    }
    let mut stdout = std::io::stdout();
    stdout.write_all(b"r")?;
    stdout.flush()?;
    while !sessions.iter().any(std::thread::JoinHandle::is_finished) {
        control.execute("CHECKPOINT", &[])?;
        std::thread::sleep(Duration::from_millis(20));
    }
    for session in sessions {
        let error = session.join().map_err(|_| "a session panicked")?;
        eprintln!("a session ended: {error}");
    }
    Err("the sessions ended before the kill".into())
}

/// Runs transactions one after another and notes each acknowledged one; only an error ends it.
fn write_forever(mut connection: Connection, session: u64, base: u64, mut notes: File) -> String {
    for turn in 0.. {
        let transaction = base + turn * SESSIONS + session;
        if let Err(error) = run_transaction(&mut connection, session, transaction) {
            return error.to_string();
        }
        if let Err(error) = notes.write_all(&transaction.to_le_bytes()) {
            return error.to_string();
        }
    }
    String::new()
}

fn run_transaction(connection: &mut Connection, session: u64, transaction: u64) -> Result<(), pikepole::Error> {
    let kind = Kind::of(transaction);
    if kind == Kind::Single {
        return insert(connection, session, transaction, 0, kind);
    }
    connection.execute("BEGIN TRANSACTION", &[])?;
    for part in 0..kind.parts(transaction) {
        insert(connection, session, transaction, part, if kind == Kind::Updated { Kind::Several } else { kind })?;
        if kind == Kind::Updated {
            connection.execute(
                &format!("UPDATE {} SET payload = @payload WHERE id = @id", table(transaction, part)),
                &[("@payload", Value::Str(payload(transaction, part, kind))), ("@id", key(transaction, part))],
            )?;
        }
    }
    let end = if kind == Kind::RolledBack { "ROLLBACK TRANSACTION" } else { "COMMIT TRANSACTION" };
    connection.execute(end, &[]).map(|_| ())
}

fn insert(
    connection: &mut Connection,
    session: u64,
    transaction: u64,
    part: u64,
    kind: Kind,
) -> Result<(), pikepole::Error> {
    let parameters = [
        ("@id", key(transaction, part)),
        ("@session", Value::Int(session as i32)),
        ("@payload", Value::Str(payload(transaction, part, kind))),
    ];
    let table = table(transaction, part);
    // Half of the rows in memory are a natively compiled procedure's, which is a transaction or a part of one.
    let sql = match table == "dbo.memory_notes" && transaction % 4 < 2 {
        true => "EXEC dbo.put_memory_note @id, @session, @payload".to_owned(),
        false => format!("INSERT {table} (id, session, payload) VALUES (@id, @session, @payload)"),
    };
    connection.execute(&sql, &parameters).map(|_| ())
}

/// The table that a row is in: those of a transaction of several rows are in both.
fn table(transaction: u64, part: u64) -> &'static str {
    if (transaction / SESSIONS + part).is_multiple_of(2) { "dbo.notes" } else { "dbo.memory_notes" }
}

fn key(transaction: u64, part: u64) -> Value {
    Value::BigInt((transaction * PARTS_MAX + part) as i64)
}

// ---- the check ----

fn notes_path(folder: &Path, base: u64, session: u64) -> PathBuf {
    folder.with_extension(format!("notes-{base}-{session}"))
}

/// The acknowledged transactions; the side files are removed.
fn read_notes(folder: &Path, base: u64) -> Result<HashMap<u64, Kind>, Failure> {
    let mut notes = HashMap::new();
    for session in 0..SESSIONS {
        let path = notes_path(folder, base, session);
        let bytes = std::fs::read(&path)?;
        for number in bytes.as_chunks().0 {
            let transaction = u64::from_le_bytes(*number);
            notes.insert(transaction, Kind::of(transaction));
        }
        std::fs::remove_file(path)?;
    }
    Ok(notes)
}

/// The rows of this round, by transaction and part.
fn read_rows(folder: &Path, base: u64) -> Result<HashMap<u64, HashMap<u64, String>>, Failure> {
    let engine = Engine::open(Options::new(folder))?;
    let mut connection = engine.connect_blocking()?;
    connection.execute("USE crash", &[])?;
    let mut found: HashMap<u64, HashMap<u64, String>> = HashMap::new();
    let both = "SELECT id, payload FROM dbo.notes WHERE id >= @from
        UNION ALL SELECT id, payload FROM dbo.memory_notes WHERE id >= @from";
    let rows = connection.query(both, &[("@from", key(base, 0))])?;
    for row in &rows {
        let id = row.get::<i64>("id")? as u64;
        found.entry(id / PARTS_MAX).or_default().insert(id % PARTS_MAX, row.get("payload")?);
    }
    drop(connection);
    engine.shutdown()?;
    let report = pikepole::check(folder, &mut |_| {})?;
    match report.damage.first() {
        Some(damage) => Err(format!("damage: {damage}").into()),
        None => Ok(found),
    }
}

fn compare(notes: &HashMap<u64, Kind>, found: &HashMap<u64, HashMap<u64, String>>, base: u64) -> Result<(), Failure> {
    for (transaction, kind) in notes {
        if *kind != Kind::RolledBack && !found.contains_key(transaction) {
            let place = transaction - base;
            return Err(format!("acknowledged transaction {place} ({kind:?}) is lost").into());
        }
    }
    for (transaction, parts) in found {
        let kind = Kind::of(*transaction);
        if kind == Kind::RolledBack {
            return Err(format!("transaction {transaction} was rolled back and is there").into());
        }
        let expected = kind.parts(*transaction);
        if parts.len() as u64 != expected {
            return Err(format!("transaction {transaction} has {} of {expected} rows", parts.len()).into());
        }
        for (part, text) in parts {
            if *text != payload(*transaction, *part, kind) {
                return Err(format!("transaction {transaction} part {part} holds {text:?}").into());
            }
        }
    }
    Ok(())
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
