//! Runs scripts that want more memory than there is against a server whose process has a hard limit, and looks whether it lives on and
//! serves others.
//!
//! ```text
//!   heavy sessions   REPLICATE towers, doubling loops, XML, JSON, bombs, ...  ---->  pikepole serve
//!   a light session  inserts a row, counts them                               ---->    in a control group of 512 MB, or killed by
//!   a new session    logs in, asks for one value, leaves                      ---->    this program when it has more
//! ```
//! Heavy scripts may end with any error. It is a failure when the process ends, when a session is cut off, or when the light or a new session
//! gets an error or waits for minutes. Nor may a debug build make a block of 32 MB that it has not asked for: in
//! this run there may be room for it, in another there is none.
//!
//! `cargo test -p pikepole --test memory_fuzz -- [--seconds N] [--seed N] [--limit MB] [--sessions N] [--kind N] [--binary PATH]`
//!
//! With `--binary` it runs another build: one that counts no memory does not survive this.

mod hard_limit;
mod scripts;

use hard_limit::HardLimit;
use pikepole_client::{ClientError, ConnectOptions, Connection, Encryption};
use scripts::Random;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

const PASSWORD: &str = "deep-Water7";
/// The longest that a light statement may take: machines that build something beside are slow.
const PATIENCE: Duration = Duration::from_secs(120);

type Failure = Box<dyn std::error::Error + Send + Sync>;

struct Arguments {
    seconds: u64,
    seed: u64,
    limit_mb: u64,
    sessions: u64,
    /// The kind of the scripts, instead of all.
    kind: Option<u64>,
    binary: PathBuf,
}

impl Arguments {
    fn read() -> Arguments {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let text = |name: &str| words.get(words.iter().position(|word| word == name)? + 1).cloned();
        let number = |name: &str| text(name).and_then(|value| value.parse::<u64>().ok());
        Arguments {
            seconds: number("--seconds").unwrap_or(20),
            seed: number("--seed").unwrap_or(1) | 1,
            limit_mb: number("--limit").unwrap_or(512),
            sessions: number("--sessions").unwrap_or(4),
            kind: number("--kind"),
            binary: text("--binary").unwrap_or_else(|| env!("CARGO_BIN_EXE_pikepole").to_owned()).into(),
        }
    }
}

/// The results of a run.
#[derive(Default)]
struct Tally {
    is_over: AtomicBool,
    scripts: AtomicU64,
    light: AtomicU64,
    logins: AtomicU64,
    /// How often each error came.
    errors: Mutex<BTreeMap<i32, u64>>,
    failures: Mutex<Vec<String>>,
    /// The scripts that the heavy sessions run, by their numbers.
    running: Mutex<BTreeMap<u64, String>>,
}

impl Tally {
    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed)
    }

    fn fail(&self, what: String) {
        self.is_over.store(true, Ordering::Relaxed);
        self.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(what);
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::read();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("memory-{}", std::process::id()));
    let limit = HardLimit::new(arguments.limit_mb << 20);
    println!("seed {}, {} s, {} MB by {limit}", arguments.seed, arguments.seconds, arguments.limit_mb);
    let mut server = Server::start(&arguments, &folder, &limit)?;
    let tally = Tally::default();
    let port = server.port;
    prepare(port)?;
    let ended = std::thread::scope(|scope| {
        for session in 0..arguments.sessions {
            let (tally, seed) = (&tally, arguments.seed.wrapping_add(session.wrapping_mul(0x9E37_79B9_7F4A_7C15)) | 1);
            let kind = arguments.kind;
            scope.spawn(move || heavy(port, session, seed, kind, tally));
        }
        scope.spawn(|| light(port, &tally));
        scope.spawn(|| logins(port, &tally));
        let end = Instant::now() + Duration::from_secs(arguments.seconds);
        let mut ended = None;
        while Instant::now() < end && !tally.is_over() && ended.is_none() {
            std::thread::sleep(Duration::from_millis(20));
            limit.watch(&mut server.program);
            ended = server.program.try_wait().ok().flatten();
        }
        tally.is_over.store(true, Ordering::Relaxed);
        if ended.is_none() {
            // What still runs is not waited for to its end.
            server.end_soon();
            ended = server.wait_for_end().filter(|status| !status.success());
        }
        ended
    });
    let peak = limit.peak();
    drop(server);
    let unasked = std::fs::read_to_string(unasked_file(&folder)).unwrap_or_default();
    let _ = std::fs::remove_file(unasked_file(&folder));
    std::fs::remove_dir_all(&folder)?;
    let errors = tally.errors.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    println!(
        "{} heavy scripts, {} light statements, {} logins; at most {} MB; errors {errors:?}",
        tally.scripts.load(Ordering::Relaxed),
        tally.light.load(Ordering::Relaxed),
        tally.logins.load(Ordering::Relaxed),
        peak >> 20,
    );
    let failures = tally.failures.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    if ended.is_some() || !failures.is_empty() {
        for script in tally.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).values() {
            println!("ran: {script}");
        }
    }
    match (ended, failures.first()) {
        (Some(status), _) => Err(format!("the server died: {status}; {failures:?}").into()),
        (None, Some(failure)) => Err(failure.clone().into()),
        (None, None) if !unasked.is_empty() => Err(format!("a large block that was not asked for:\n{unasked}").into()),
        (None, None) if tally.light.load(Ordering::Relaxed) == 0 => Err("the light session was never served".into()),
        (None, None) => Ok(()),
    }
}

/// The file in which a debug build tells of large blocks that were not asked for.
fn unasked_file(folder: &Path) -> PathBuf {
    folder.with_extension("unasked")
}

fn connect(port: u16) -> Result<Connection, ClientError> {
    let address = format!("127.0.0.1:{port}").parse().map_err(ClientError::Usage)?;
    Connection::connect(&ConnectOptions { encryption: Encryption::Off, ..ConnectOptions::new(address, "sa", PASSWORD) })
}

fn prepare(port: u16) -> Result<(), Failure> {
    let mut connection = connect(port)?;
    connection.execute("CREATE TABLE dbo.light (id int NOT NULL PRIMARY KEY, note varchar(50) NOT NULL)")?;
    connection.execute(
        "CREATE TABLE dbo.numbers (n int NOT NULL PRIMARY KEY);
         INSERT dbo.numbers SELECT TOP (20000) ROW_NUMBER() OVER (ORDER BY (SELECT NULL))
         FROM sys.all_columns AS a CROSS JOIN sys.all_columns AS b",
    )?;
    Ok(())
}

/// One heavy script after the other.
fn heavy(port: u16, session: u64, seed: u64, kind: Option<u64>, tally: &Tally) {
    let mut random = Random(seed);
    let mut connection = match connect(port) {
        Ok(connection) => connection,
        Err(error) => return tally.fail(format!("a heavy session cannot log in: {error}")),
    };
    while !tally.is_over() {
        let script = scripts::script(&mut random, kind);
        tally.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).insert(session, script.clone());
        let number = match connection.execute(&script) {
            Ok(_) => 0,
            Err(ClientError::Sql(error)) => error.number,
            Err(_) if tally.is_over() => return,
            Err(error) => return tally.fail(format!("a heavy session was cut off: {error}; it ran {script}")),
        };
        tally.scripts.fetch_add(1, Ordering::Relaxed);
        *tally.errors.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).entry(number).or_default() += 1;
    }
}

/// Small statements, all of which must be served.
fn light(port: u16, tally: &Tally) {
    let mut connection = match connect(port) {
        Ok(connection) => connection,
        Err(error) => return tally.fail(format!("the light session cannot log in: {error}")),
    };
    let mut id = 0;
    while !tally.is_over() {
        id += 1;
        let began = Instant::now();
        let done = connection.execute(&format!(
            "INSERT dbo.light VALUES ({id}, 'note {id}'); SELECT COUNT(*), MAX(note) FROM dbo.light WHERE id > {};",
            id - 10
        ));
        match done {
            Ok(_) if began.elapsed() < PATIENCE => tally.light.fetch_add(1, Ordering::Relaxed),
            Ok(_) => return tally.fail(format!("a light statement took {:?}", began.elapsed())),
            Err(_) if tally.is_over() => return,
            Err(error) => return tally.fail(format!("the light session was not served: {error}")),
        };
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sessions that come and go.
fn logins(port: u16, tally: &Tally) {
    while !tally.is_over() {
        match connect(port).and_then(|mut connection| connection.execute("SELECT 1")) {
            Ok(_) => tally.logins.fetch_add(1, Ordering::Relaxed),
            Err(_) if tally.is_over() => return,
            Err(error) => return tally.fail(format!("a new session was not served: {error}")),
        };
        std::thread::sleep(Duration::from_millis(500));
    }
}

struct Server {
    program: Child,
    port: u16,
}

impl Server {
    fn start(arguments: &Arguments, folder: &Path, limit: &HardLimit) -> Result<Server, Failure> {
        let mut command = limit.command(&arguments.binary);
        command
            .args(["serve", "--listen", "127.0.0.1:0", "--tls", "off", "-d"])
            .arg(folder)
            .args(limit.policy().map(|policy| ["--policy".to_owned(), policy]).into_iter().flatten())
            .env("PIKEPOLE_SA_PASSWORD", PASSWORD)
            .env("UNASKED_MEMORY_FILE", unasked_file(folder))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(if std::env::var_os("PIKEPOLE_SHOW_LOG").is_some() { Stdio::inherit() } else { Stdio::null() });
        let mut program = Command::spawn(&mut command)?;
        let mut line = String::new();
        BufReader::new(program.stdout.take().ok_or("no standard output")?).read_line(&mut line)?;
        let port = line.trim().rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.ok_or_else(|| format!("the server did not start: {line:?}"))?;
        Ok(Server { program, port })
    }

    /// Asks for the end.
    fn end_soon(&self) {
        // SAFETY: the process is our child and has not been waited for, so the number is its own.
        unsafe { libc::kill(self.program.id() as i32, libc::SIGTERM) };
    }

    /// The end's status; `None` when it does not come, and the process is killed.
    fn wait_for_end(&mut self) -> Option<std::process::ExitStatus> {
        let end = Instant::now() + PATIENCE;
        while Instant::now() < end {
            if let Ok(Some(status)) = self.program.try_wait() {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.program.kill();
        let _ = self.program.wait();
        None
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It has ended, unless the run failed.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
