//! The cost of logging in, for a server on this machine: logins a second of one client that connects, logs in and goes, and the server's
//! CPU time for each.
//!
//! ```sh
//! PIKEPOLE_SA_PASSWORD='Correct horse 1' pikepole serve -d /tmp/logins --listen 127.0.0.1:14330 &
//! cargo run --release -p pikepole-server --example login_cost -- \
//!     127.0.0.1:14330 'Correct horse 1' /tmp/logins/server-certificate.pem $! 200
//! ```
//! The arguments: the server's address, the password of `sa`, the server's certificate, the server's process, logins of a run. Each way to
//! connect has three runs, in turn; printed are their medians.

#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../tests/server/client.rs"]
mod client;

use client::{Client, Token};
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

const RUNS: usize = 3;
/// The word of a client about encryption at PRELOGIN.
const ON: u8 = 1;

/// A way to connect.
struct Way {
    name: &'static str,
    tls: Option<Arc<ClientConfig>>,
    is_strict: bool,
}

/// The figures of a run.
struct Run {
    logins_a_second: f64,
    cpu_us: f64,
    resumed: usize,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, password, certificate, process, logins] = arguments.as_slice() else {
        eprintln!("login_cost ADDRESS:PORT SA_PASSWORD CERTIFICATE PROCESS LOGINS");
        std::process::exit(2);
    };
    let address: SocketAddr = address.parse().expect("an address and a port");
    let logins: usize = logins.parse().expect("a number");
    let tls = |is_strict, resumes| Some(config(certificate, is_strict, resumes));
    let ways = [
        Way { name: "no TLS", tls: None, is_strict: false },
        Way { name: "TLS 1.2 within PRELOGIN, full handshakes", tls: tls(false, false), is_strict: false },
        Way { name: "TLS 1.2 within PRELOGIN, resumed", tls: tls(false, true), is_strict: false },
        Way { name: "TLS 1.3 (TDS 8.0), full handshakes", tls: tls(true, false), is_strict: true },
        Way { name: "TLS 1.3 (TDS 8.0), resumed", tls: tls(true, true), is_strict: true },
    ];
    let mut runs: Vec<Vec<Run>> = ways.iter().map(|_| Vec::new()).collect();
    for _ in 0..RUNS {
        for (way, runs) in ways.iter().zip(&mut runs) {
            runs.push(run(way, address, password, process, logins));
        }
    }
    println!("| way to connect | logins a second | server's CPU a login, us | resumed of {logins} |");
    println!("|---|---|---|---|");
    for (way, runs) in ways.iter().zip(&runs) {
        let rate = median(runs.iter().map(|run| run.logins_a_second));
        let cpu = median(runs.iter().map(|run| run.cpu_us));
        let resumed = median(runs.iter().map(|run| run.resumed as f64));
        println!("| {} | {rate:.0} | {cpu:.0} | {resumed:.0} |", way.name);
    }
}

fn config(certificate: &str, is_strict: bool, resumes: bool) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(certificate).expect("a file in PEM")).expect("a certificate");
    let version = if is_strict { &rustls::version::TLS13 } else { &rustls::version::TLS12 };
    let builder = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()));
    let builder = builder.with_protocol_versions(&[version]).expect("a version");
    let mut config = builder.with_root_certificates(roots).with_no_client_auth();
    if is_strict {
        config.alpn_protocols = vec![b"tds/8.0".to_vec()];
    }
    if !resumes {
        config.resumption = Resumption::disabled();
    }
    Arc::new(config)
}

fn run(way: &Way, address: SocketAddr, password: &str, process: &str, logins: usize) -> Run {
    let (begun, cpu_before) = (Instant::now(), cpu_ns(process));
    let resumed = (0..logins).filter(|_| log_in(way, address, password)).count();
    let (time, cpu) = (begun.elapsed(), cpu_ns(process) - cpu_before);
    Run { logins_a_second: logins as f64 / time.as_secs_f64(), cpu_us: cpu as f64 / 1e3 / logins as f64, resumed }
}

/// Connects, logs in and goes; whether its TLS session was resumed.
fn log_in(way: &Way, address: SocketAddr, password: &str) -> bool {
    let mut client = Client::connect(address);
    client.socket().set_nodelay(true).expect("a socket");
    let Some(config) = &way.tls else {
        client.log_in("sa", password);
        return false;
    };
    let name = "localhost".try_into().expect("a name");
    let tls = ClientConnection::new(Arc::clone(config), name).expect("a client");
    if way.is_strict {
        client.encrypt_first(tls);
        client.pre_login(ON);
    } else {
        client.pre_login(ON);
        client.encrypt_within_prelogin(tls);
    }
    let tokens = client.log_in_encrypted("sa", password, false);
    assert!(tokens.iter().any(|token| matches!(token, Token::LoginAck(_))), "{tokens:?}");
    client.tls().and_then(|tls| tls.handshake_kind()) == Some(HandshakeKind::Resumed)
}

/// CPU time that the threads of a process have had.
fn cpu_ns(process: &str) -> u64 {
    let tasks = std::fs::read_dir(format!("/proc/{process}/task")).expect("a process");
    let time = |task: std::fs::DirEntry| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    tasks.flatten().filter_map(time).sum()
}

fn median(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut numbers: Vec<f64> = numbers.collect();
    numbers.sort_unstable_by(f64::total_cmp);
    numbers[numbers.len() / 2]
}
