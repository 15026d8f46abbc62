//! Kills a real process that backs up and restores, on the real disk, and looks for anything lost or half done.
//!
//! ```text
//!   parent, once                         source: rows inserted for two seconds, each with the times before and after its commit;
//!                                        a full backup before, a log backup after
//!   parent                               child (this program, started again)
//!     start child ---------------------->  for ever: restores `copy` over itself to a second, backs up `copy`
//!     wait a random time, SIGKILL ------>  gone
//!     reopen the folder:
//!       `source` is as it was; `copy` is not there, restoring, or whole;
//!       the backup under way is whole or refused, never half taken; the restore can be done now,
//!       and has all that was acknowledged before the second, and nothing that was asked for after it
//! ```
//!
//! The canary restores to a second later than the one that is checked: the check must object.
//!
//! `cargo test --release -p pikepole --test restore_crash -- --rounds 20 [--seed N]`

use pikepole::{Engine, Options, Value, blocking::Connection};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

type Failure = Box<dyn std::error::Error>;

/// A row of `source`, and when its commit was asked for and acknowledged, in microseconds since 1970.
struct Row {
    id: i64,
    asked_us: u64,
    acknowledged_us: u64,
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [role, folder, second] = arguments.as_slice()
        && role == "child"
    {
        return child(Path::new(folder), second);
    }
    let number = |name: &str| -> Option<u64> {
        let place = arguments.iter().position(|argument| argument == name)?;
        arguments.get(place + 1)?.parse().ok()
    };
    let rounds = number("--rounds").unwrap_or(if cfg!(debug_assertions) { 3 } else { 8 });
    let mut random = Random(number("--seed").unwrap_or(now_us()) | 1);
    println!("seed {}", random.0);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("restore-crash-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let rows = prepare(&folder)?;
    let (first, last) = rows.first().zip(rows.last()).ok_or("no row was inserted")?;
    // The one next to the middle: more than a second of rows on both sides, so that a second later is in the log as well.
    let second_us = ((first.asked_us + last.asked_us) / 2 + 500_000) / 1_000_000 * 1_000_000;
    let second = text_of(second_us / 1_000_000);
    let before = rows.iter().filter(|row| row.acknowledged_us < second_us).count();
    let after = rows.iter().filter(|row| row.asked_us >= second_us).count();
    println!("{} rows, {before} acknowledged before {second}, {after} asked for from then on", rows.len());
    if before == 0 || after == 0 {
        return Err("the second does not divide the rows".into());
    }
    let mut found = [0; 4];
    for round in 0..rounds {
        let state = round_in(&folder, &rows, &second, second_us, &mut random);
        found[state.map_err(|failure| format!("round {round}: {failure}"))? as usize] += 1;
    }
    canary(&folder, &rows, second_us)?;
    std::fs::remove_dir_all(&folder)?;
    let [absent, restoring, suspect, online] = found;
    println!("{rounds} kills: copy was absent {absent}, restoring {restoring}, online {online} times; 0 losses");
    if suspect > 0 {
        return Err(format!("copy could not be opened {suspect} times").into());
    }
    Ok(())
}

fn now_us() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros() as u64)
}

/// A second since 1970 as STOPAT takes it, UTC. The calendar is that of days from 0000-03-01, whose years end with February.
fn text_of(second: u64) -> String {
    let days = second / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = if month < 10 { (year, month + 3) } else { (year + 1, month - 9) };
    let (year, hour, minute, second) = (year + era * 400, second / 3600 % 24, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Makes `source` and its backups; what is in it.
fn prepare(folder: &Path) -> Result<Vec<Row>, Failure> {
    let engine = Engine::open(Options::new(folder))?;
    let mut connection = engine.connect_blocking()?;
    for sql in [
        "CREATE DATABASE source",
        "ALTER DATABASE source SET RECOVERY FULL",
        "USE source",
        "CREATE TABLE dbo.t (id bigint NOT NULL PRIMARY KEY, filler varchar(200) NOT NULL)",
        "BACKUP DATABASE source TO DISK = 'source.bak' WITH INIT",
    ] {
        connection.execute(sql, &[])?;
    }
    let mut rows = Vec::new();
    let begun = now_us();
    while now_us() < begun + 3_200_000 {
        let (id, asked_us) = (rows.len() as i64, now_us());
        connection.execute("INSERT dbo.t VALUES (@id, REPLICATE('x', @id % 200))", &[("@id", Value::BigInt(id))])?;
        rows.push(Row { id, asked_us, acknowledged_us: now_us() });
    }
    connection.execute("BACKUP LOG source TO DISK = 'source.trn' WITH INIT", &[])?;
    drop(connection);
    engine.shutdown()?;
    Ok(rows)
}

/// What `copy` was found to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Absent,
    Restoring,
    Suspect,
    Online,
}

/// One kill and one check.
fn round_in(folder: &Path, rows: &[Row], second: &str, second_us: u64, random: &mut Random) -> Result<State, Failure> {
    let mut child = start_child(folder, second)?;
    std::thread::sleep(Duration::from_millis(random.below(600)));
    child.kill()?;
    let status = child.wait()?;
    if status.code().is_some() {
        return Err(format!("the child ended by itself: {status}").into());
    }
    let engine = Engine::open(Options::new(folder))?;
    let mut connection = engine.connect_blocking()?;
    let all: Vec<i64> = rows.iter().map(|row| row.id).collect();
    if ids(&mut connection, "source")? != all {
        return Err("source is not as it was".into());
    }
    let state = state_of(&mut connection)?;
    if state == State::Online {
        check(&ids(&mut connection, "copy")?, rows, second_us)?;
    }
    if folder.join("backup/copy.bak").exists()
        && connection.execute("RESTORE VERIFYONLY FROM DISK = 'copy.bak'", &[]).is_ok()
    {
        connection.execute("RESTORE DATABASE again FROM DISK = 'copy.bak' WITH REPLACE", &[])?;
        check(&ids(&mut connection, "again")?, rows, second_us)?;
        connection.execute("DROP DATABASE again", &[])?;
    }
    restore(&mut connection, second)?;
    check(&ids(&mut connection, "copy")?, rows, second_us)?;
    drop(connection);
    engine.shutdown()?;
    Ok(state)
}

fn state_of(connection: &mut Connection) -> Result<State, Failure> {
    let found = connection.query("SELECT state_desc FROM sys.databases WHERE name = 'copy'", &[])?;
    let Some(row) = found.iter().next() else { return Ok(State::Absent) };
    match row.get::<String>(0)?.as_str() {
        "ONLINE" => Ok(State::Online),
        "RESTORING" => Ok(State::Restoring),
        _ => Ok(State::Suspect),
    }
}

fn ids(connection: &mut Connection, database: &str) -> Result<Vec<i64>, Failure> {
    connection.execute(&format!("USE {database}"), &[])?;
    let found = connection.query("SELECT id FROM dbo.t ORDER BY id", &[])?;
    let ids: Result<Vec<i64>, _> = found.iter().map(|row| row.get(0)).collect();
    // What is restored or dropped has no session in it.
    connection.execute("USE master", &[])?;
    Ok(ids?)
}

/// What was acknowledged before the second is there, what was asked for from then on is not.
fn check(found: &[i64], rows: &[Row], second_us: u64) -> Result<(), Failure> {
    let surely = rows.iter().filter(|row| row.acknowledged_us < second_us).count();
    let perhaps = rows.iter().filter(|row| row.asked_us < second_us).count();
    // The rows were inserted one after the other.
    let is_prefix = found.iter().copied().eq(0..found.len() as i64);
    match is_prefix && (surely..=perhaps).contains(&found.len()) {
        true => Ok(()),
        false => Err(format!("{} rows at the second, not {surely} to {perhaps}", found.len()).into()),
    }
}

fn restore(connection: &mut Connection, second: &str) -> Result<(), pikepole::Error> {
    connection.execute("RESTORE DATABASE copy FROM DISK = 'source.bak' WITH REPLACE, NORECOVERY", &[])?;
    let log = format!("RESTORE LOG copy FROM DISK = 'source.trn' WITH STOPAT = '{second}', RECOVERY");
    connection.execute(&log, &[]).map(|_| ())
}

/// The planted fault must be caught: a restore to another second.
fn canary(folder: &Path, rows: &[Row], second_us: u64) -> Result<(), Failure> {
    let engine = Engine::open(Options::new(folder))?;
    let mut connection = engine.connect_blocking()?;
    restore(&mut connection, &text_of(second_us / 1_000_000 + 1))?;
    let caught = check(&ids(&mut connection, "copy")?, rows, second_us).err();
    drop(connection);
    engine.shutdown()?;
    match caught {
        Some(failure) => println!("canary (a second later) caught: {failure}"),
        None => return Err("a restore to another second was not caught".into()),
    }
    Ok(())
}

/// Starts this program again as the one to kill, and waits until it works.
fn start_child(folder: &Path, second: &str) -> Result<Child, Failure> {
    let mut child = Command::new(std::env::current_exe()?)
        .args(["child".as_ref(), folder.as_os_str(), second.as_ref()])
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

fn child(folder: &Path, second: &str) -> Result<(), Failure> {
    let engine = Engine::open(Options::new(folder))?;
    let mut connection = engine.connect_blocking()?;
    let mut stdout = std::io::stdout();
    stdout.write_all(b"r")?;
    stdout.flush()?;
    loop {
        restore(&mut connection, second)?;
        connection.execute("BACKUP DATABASE copy TO DISK = 'copy.bak' WITH INIT", &[])?;
    }
}

/// A small generator of numbers (xorshift, Marsaglia 2003).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}
