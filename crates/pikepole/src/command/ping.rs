//! `pikepole ping`: whether a server answers.

use super::CommandError;
use pikepole_client::Address;
use pikepole_contention::sync::thread;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// How long one try may take.
const TRY: Duration = Duration::from_secs(5);
/// How long it is until the next try.
const PAUSE: Duration = Duration::from_millis(50);
/// Bytes of the health port's answer that are read.
const ANSWER_BYTES: u64 = 4096;

/// Whom to ask.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The server, as HOST, HOST:PORT or HOST,PORT
    #[arg(value_name = "SERVER", default_value = "localhost", conflicts_with = "health")]
    server: Address,
    /// Asks /healthz at this address, which also says when a server shuts down
    #[arg(long, value_name = "ADDRESS:PORT")]
    health: Option<SocketAddr>,
    /// Waits until it answers, so long at most
    #[arg(long, value_name = "SECONDS", default_value_t = 0)]
    wait: u64,
}

const HELP: &str = "\
Without --health it makes the first step of a connection, which needs neither a login nor
TLS, so it works with any server of the protocol.

Exit status: 0 it answers, 1 it does not.

Examples:
  pikepole ping
  pikepole ping db.example:1500 --wait 60
  pikepole ping --health 127.0.0.1:9433";

/// Asks until there is an answer or the time is over.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let begun = Instant::now();
    let limit = Duration::from_secs(arguments.wait);
    loop {
        let asked = Instant::now();
        let answer = match arguments.health {
            Some(address) => healthy(address).map_err(|why| CommandError::Usage(format!("{address}: {why}"))),
            None => pikepole_client::ping(&arguments.server, TRY).map_err(CommandError::from),
        };
        let Err(error) = answer else {
            let what = arguments.health.map_or_else(|| arguments.server.to_string(), |address| address.to_string());
            let time = asked.elapsed().as_secs_f64() * 1e3;
            let mut out = io::stdout();
            writeln!(out, "{what} answers in {time:.1} ms").map_err(CommandError::io("standard output"))?;
            return Ok(ExitCode::SUCCESS);
        };
        if begun.elapsed() + PAUSE >= limit {
            return Err(error);
        }
        thread::sleep(PAUSE);
    }
}

/// Asks for `/healthz`; why the server is not healthy.
fn healthy(address: SocketAddr) -> Result<(), String> {
    let ask = || -> io::Result<String> {
        let mut socket = TcpStream::connect_timeout(&address, TRY)?;
        socket.set_read_timeout(Some(TRY))?;
        socket.write_all(b"GET /healthz HTTP/1.0\r\n\r\n")?;
        let mut answer = Vec::new();
        socket.take(ANSWER_BYTES).read_to_end(&mut answer)?;
        Ok(String::from_utf8_lossy(&answer).into_owned())
    };
    let answer = ask().map_err(|error| error.to_string())?;
    let status = answer.split_whitespace().nth(1);
    match status {
        Some("200") => Ok(()),
        _ => Err(answer.lines().last().unwrap_or("no answer").to_owned()),
    }
}
