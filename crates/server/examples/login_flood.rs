//! Logging in while a flood of failing logins comes: how long good logins take, on loopback only.
//!
//! ```sh
//! PIKEPOLE_SA_PASSWORD='Correct horse 1' pikepole serve -d /tmp/flood --listen 127.0.0.1:14330 --tls off &
//! cargo run --release -p pikepole-server --example login_flood -- 127.0.0.1:14330 'Correct horse 1' 1000 20
//! ```
//! The arguments: the server's address, the password of `sa`, failing logins a second, seconds.
//!
//! | of 20 failing logins | |
//! |---|---|
//! | 8 | names that are not there, each another one |
//! | 6 | names that are there, each time another wrong password |
//! | 3 | names that are there, always the same wrong password |
//! | 3 | names that are there, and a client that hangs up at once |
//!
//! Half of the names that are attacked are those of working logins. 32 working logins come in turn, one at a time; another 32 that
//! have never logged in before come among them, once each.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/server/client.rs"]
mod client;

use client::{Client, login7};
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::thread;
use pikepole_tds::{PacketKind, PacketStatus, write_packets};
use std::collections::VecDeque;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

const WORKING: usize = 32;
const FLOODERS: u64 = 8;
/// How long a failing client waits for its answer: longer than any is delayed.
const PATIENCE: Duration = Duration::from_secs(4);
const PASSWORD: &str = "Working login 1";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, password, rate, seconds] = arguments.as_slice() else {
        eprintln!("login_flood ADDRESS:PORT SA_PASSWORD LOGINS_A_SECOND SECONDS");
        std::process::exit(2);
    };
    let address: SocketAddr = address.parse().expect("an address and a port");
    assert!(address.ip().is_loopback(), "it floods this machine only");
    let (rate, seconds): (u64, u64) = (rate.parse().expect("a number"), seconds.parse().expect("a number"));
    make_logins(address, password);

    println!("| phase | logins | failed | p50 ms | p99 ms | longest ms |");
    println!("|---|---|---|---|---|---|");
    let mut quiet = Times::default();
    for _ in 0..3 {
        for number in 0..WORKING {
            quiet.add(log_in(address, &format!("work{number}")));
        }
    }
    quiet.print("quiet");
    let ends = Arc::new(AtomicBool::new(false));
    let sent = Arc::new(AtomicU64::new(0));
    let flooders: Vec<_> = (0..FLOODERS)
        .map(|flooder| {
            let (ends, sent) = (Arc::clone(&ends), Arc::clone(&sent));
            thread::spawn(move || flood(address, flooder, rate, &ends, &sent))
        })
        .collect();
    thread::sleep(Duration::from_secs(2));
    let (mut warm, mut cold) = (Times::default(), Times::default());
    let (begun, time, mut turn) = (Instant::now(), Duration::from_secs(seconds), 0);
    while begun.elapsed() < time {
        warm.add(log_in(address, &format!("work{}", turn % WORKING)));
        // The others are spread over the time.
        let due = begun.elapsed().as_millis() as usize * WORKING / time.as_millis() as usize;
        if cold.count() < due.min(WORKING) {
            cold.add(log_in(address, &format!("cold{}", cold.count())));
        }
        turn += 1;
        thread::sleep(Duration::from_millis(5));
    }
    let flooded = begun.elapsed() + Duration::from_secs(2);
    ends.store(true, Ordering::Relaxed);
    warm.print("flood");
    cold.print("flood, first login of a name");
    for flooder in flooders {
        flooder.join().expect("it ends");
    }
    println!("\n{:.0} failing logins a second", sent.load(Ordering::Relaxed) as f64 / flooded.as_secs_f64());
}

fn make_logins(address: SocketAddr, password: &str) {
    let mut sa = Client::connect(address);
    sa.log_in("sa", password);
    for name in ["work", "cold", "idle"] {
        for number in 0..WORKING {
            let sql = format!(
                "IF SUSER_ID('{name}{number}') IS NULL CREATE LOGIN {name}{number} WITH PASSWORD = '{PASSWORD}', CHECK_POLICY = OFF"
            );
            sa.batch(&sql);
        }
    }
}

/// The bytes of a login without PRELOGIN, as clients without encryption may begin.
fn login_bytes(user: &str, password: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    write_packets(PacketKind::Login7, PacketStatus::default(), &login7(user, password, ""), 4096, &mut bytes);
    bytes
}

/// How long a good login took; none when it failed.
fn log_in(address: SocketAddr, user: &str) -> Result<Duration, Duration> {
    const HEADER_BYTES: usize = 8;
    /// The first token of an answer that lets a client in.
    const ENVIRONMENT: u8 = 0xE3;
    let begun = Instant::now();
    let enter = || -> std::io::Result<bool> {
        let mut socket = TcpStream::connect_timeout(&address, Duration::from_secs(60))?;
        socket.set_nodelay(true)?;
        socket.set_read_timeout(Some(Duration::from_secs(60)))?;
        socket.write_all(&login_bytes(user, PASSWORD))?;
        let mut start = [0; HEADER_BYTES + 1];
        socket.read_exact(&mut start)?;
        Ok(start[HEADER_BYTES] == ENVIRONMENT)
    };
    match enter() {
        Ok(true) => Ok(begun.elapsed()),
        Ok(false) | Err(_) => Err(begun.elapsed()),
    }
}

fn flood(address: SocketAddr, flooder: u64, rate: u64, ends: &AtomicBool, sent: &AtomicU64) {
    let mut open: VecDeque<(Instant, TcpStream)> = VecDeque::new();
    let (begun, mut number) = (Instant::now(), 0_u64);
    while !ends.load(Ordering::Relaxed) {
        let due = Duration::from_micros(number * 1_000_000 * FLOODERS / rate);
        thread::sleep(due.saturating_sub(begun.elapsed()));
        while open.front().is_some_and(|(since, _)| since.elapsed() > PATIENCE) {
            open.pop_front();
        }
        let known = if number.is_multiple_of(2) { "work" } else { "idle" };
        let name = format!("{known}{}", number / 2 % WORKING as u64);
        let (name, password, stays) = match number % 20 {
            0..8 => (format!("absent-{flooder}-{number}"), "guess".to_string(), true),
            8..14 => (name, format!("guess {flooder} {number}"), true),
            14..17 => (name, "the old password".to_string(), true),
            _ => (name, format!("guess {flooder} {number}"), false),
        };
        if let Ok(mut socket) = TcpStream::connect(address)
            && socket.write_all(&login_bytes(&name, &password)).is_ok()
        {
            sent.fetch_add(1, Ordering::Relaxed);
            if stays {
                open.push_back((Instant::now(), socket));
            }
        }
        number += 1;
    }
}

#[derive(Default)]
struct Times {
    good: Vec<Duration>,
    failed: Vec<Duration>,
}

impl Times {
    fn add(&mut self, time: Result<Duration, Duration>) {
        match time {
            Ok(time) => self.good.push(time),
            Err(time) => self.failed.push(time),
        }
    }

    fn count(&self) -> usize {
        self.good.len() + self.failed.len()
    }

    fn print(&self, phase: &str) {
        let mut times: Vec<Duration> = self.good.iter().chain(&self.failed).copied().collect();
        times.sort_unstable();
        let at = |hundredths: usize| {
            times.get(times.len().saturating_sub(1) * hundredths / 100).copied().unwrap_or_default()
        };
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let (half, most, longest) = (ms(at(50)), ms(at(99)), ms(at(100)));
        println!("| {phase} | {} | {} | {half:.1} | {most:.1} | {longest:.1} |", times.len(), self.failed.len());
    }
}
