//! `/healthz` and `/metrics`, as plain HTTP on a port of their own.
//!
//! Metrics are those of the management views, in the text format of Prometheus: what the names of waits, latches, spinlocks and
//! counters are there, is a label here.

use crate::Shared;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::{CounterKind, CounterRow};
use pikepole_scheduler::JoinHandle;
use std::collections::HashMap;
use std::fmt::Write;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes of a request's head at most.
const HEAD_BYTES_MAX: usize = 8 * 1024;
/// Requests read and answered at a time.
const REQUESTS_MAX: usize = 64;
/// How long a request and its answer may take.
const REQUEST_TIME: Duration = Duration::from_secs(5);
/// How long nothing is accepted after the system had no room for a connection.
const PAUSE: Duration = Duration::from_millis(100);
/// The type of Prometheus's text.
const METRICS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves at a socket that listens.
pub(crate) fn start(socket: std::net::TcpListener, shared: &Arc<Shared>) -> JoinHandle<()> {
    let accepting = accept(socket, Arc::clone(shared));
    shared.server.schedulers().hidden("HEALTH", None, accepting)
}

/// Accepts and answers, all in this task: what asks for the server's health does not wait for the schedulers of sessions.
async fn accept(socket: std::net::TcpListener, shared: Arc<Shared>) {
    let socket = match tokio::net::TcpListener::from_std(socket) {
        Ok(socket) => socket,
        Err(error) => return tracing::error!("the health port could not be watched: {error}"),
    };
    let mut asking = Asking::default();
    loop {
        let accepted = std::future::poll_fn(|context| {
            asking.poll(context);
            socket.poll_accept(context)
        });
        match accepted.await {
            Ok((client, address)) => asking.add(address.ip(), Arc::clone(&shared), client),
            Err(_) => {
                let mut pause = std::pin::pin!(pikepole_scheduler::sleep(PAUSE));
                let paused = std::future::poll_fn(|context| {
                    asking.poll(context);
                    pause.as_mut().poll(context)
                });
                paused.await;
            }
        }
    }
}

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The clients whose requests are read or answered, the oldest first.
#[derive(Default)]
struct Asking {
    clients: Vec<(IpAddr, Work)>,
}

impl Asking {
    /// Takes one more. When there are many, the oldest of the address that has most makes room: who asks in time and says what it
    /// wants at once is answered, however many others say nothing.
    fn add(&mut self, from: IpAddr, shared: Arc<Shared>, client: tokio::net::TcpStream) {
        if self.clients.len() >= REQUESTS_MAX {
            self.make_room();
        }
        let work = async move {
            // A client that is slow or wrong is left alone.
            let _ = tokio::time::timeout(REQUEST_TIME, answer(client, &shared)).await;
        };
        self.clients.push((from, Box::pin(work)));
    }

    fn make_room(&mut self) {
        let mut counts = HashMap::<IpAddr, usize>::new();
        for (from, _) in &self.clients {
            *counts.entry(*from).or_default() += 1;
        }
        let most = counts.values().max().copied().unwrap_or_default();
        if let Some(oldest) = self.clients.iter().position(|(from, _)| counts.get(from) == Some(&most)) {
            drop(self.clients.remove(oldest));
        }
    }

    /// Goes on with all of them.
    fn poll(&mut self, context: &mut Context<'_>) {
        self.clients.retain_mut(|(_, work)| work.as_mut().poll(context).is_pending());
    }
}

async fn answer(mut client: tokio::net::TcpStream, shared: &Shared) -> io::Result<()> {
    let mut head = Vec::new();
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        let mut part = [0; 1024];
        let count = client.read(&mut part).await?;
        if count == 0 || head.len() + count > HEAD_BYTES_MAX {
            return Ok(());
        }
        head.extend_from_slice(&part[..count]);
    }
    let (status, kind, body) = respond(&head, shared);
    let response = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    );
    client.write_all(response.as_bytes()).await?;
    client.shutdown().await
}

/// The status, the type and the body for a request's head.
fn respond(head: &[u8], shared: &Shared) -> (&'static str, &'static str, String) {
    const TEXT: &str = "text/plain; charset=utf-8";
    let line = head.split(|byte| *byte == b'\r').next().unwrap_or_default();
    let mut words = line.split(|byte| *byte == b' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method != b"GET" {
        return ("405 Method Not Allowed", TEXT, "GET only\n".to_string());
    }
    match path {
        b"/healthz" => match unhealthy(shared) {
            None => ("200 OK", TEXT, "ok\n".to_string()),
            Some(why) => ("503 Service Unavailable", TEXT, format!("{why}\n")),
        },
        b"/metrics" => ("200 OK", METRICS_TYPE, metrics(shared)),
        _ => ("404 Not Found", TEXT, "/healthz, /metrics\n".to_string()),
    }
}

/// Why the server is not to be sent work.
fn unhealthy(shared: &Shared) -> Option<String> {
    if shared.is_closing() {
        return Some("shutting down".to_string());
    }
    shared.server.database("master").err().map(|error| error.message)
}

fn metrics(shared: &Shared) -> String {
    let statistics = shared.server.statistics();
    let mut text = Metrics::default();
    text.head("pikepole_connections", "gauge", "Connections to the server's port.");
    text.line("pikepole_connections", &[], shared.connections.load(Ordering::Relaxed) as f64);
    text.head("pikepole_sessions", "gauge", "Sessions.");
    text.line("pikepole_sessions", &[], shared.registry.count() as f64);
    let waits = statistics.waits();
    text.head("pikepole_waits_total", "counter", "Waits that have ended, by type.");
    for row in &waits {
        text.line("pikepole_waits_total", &[("wait_type", row.wait_type)], row.waiting_tasks_count as f64);
    }
    text.head("pikepole_wait_seconds_total", "counter", "Time waited, signal time included, by type.");
    for row in &waits {
        text.line("pikepole_wait_seconds_total", &[("wait_type", row.wait_type)], seconds(row.wait_time_us));
    }
    text.head(
        "pikepole_signal_wait_seconds_total",
        "counter",
        "Time from the signal to running again, by type of wait.",
    );
    for row in &waits {
        text.line(
            "pikepole_signal_wait_seconds_total",
            &[("wait_type", row.wait_type)],
            seconds(row.signal_wait_time_us),
        );
    }
    let latches = statistics.latches();
    text.head("pikepole_latch_waits_total", "counter", "Latch requests that waited, by class.");
    for row in &latches {
        text.line("pikepole_latch_waits_total", &[("latch_class", row.class)], row.waiting_requests_count as f64);
    }
    text.head("pikepole_latch_wait_seconds_total", "counter", "Time waited for latches, by class.");
    for row in &latches {
        text.line("pikepole_latch_wait_seconds_total", &[("latch_class", row.class)], seconds(row.wait_time_us));
    }
    let spinlocks = statistics.spinlocks();
    text.head("pikepole_spinlock_collisions_total", "counter", "Acquisitions that found a holder, by spinlock.");
    for row in &spinlocks {
        text.line("pikepole_spinlock_collisions_total", &[("spinlock", row.name)], row.collisions as f64);
    }
    text.head("pikepole_spinlock_spins_total", "counter", "Turns of spin loops, by spinlock.");
    for row in &spinlocks {
        text.line("pikepole_spinlock_spins_total", &[("spinlock", row.name)], row.spins as f64);
    }
    counters(&statistics.counters(), &mut text);
    text.0
}

fn seconds(microseconds: u64) -> f64 {
    microseconds as f64 / 1e6
}

/// The counters of `dm_os_performance_counters`: those that only grow, and the others.
fn counters(rows: &[CounterRow], text: &mut Metrics) {
    for (name, kind, help) in [
        ("pikepole_counter_total", "counter", "Growing counters of sys.dm_os_performance_counters."),
        ("pikepole_counter", "gauge", "The other counters of sys.dm_os_performance_counters."),
    ] {
        text.head(name, kind, help);
        for row in rows.iter().filter(|row| (row.kind == CounterKind::PerSecond) == (kind == "counter")) {
            let labels = [("object", row.object), ("counter", row.name), ("instance", row.instance.as_str())];
            text.line(name, &labels, row.value as f64);
        }
    }
}

/// Prometheus's text format.
#[derive(Default)]
struct Metrics(String);

impl Metrics {
    fn head(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a String cannot fail, here and below.
        let _ = writeln!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}");
    }

    fn line(&mut self, name: &str, labels: &[(&str, &str)], value: f64) {
        self.0.push_str(name);
        for (place, (label, value)) in labels.iter().enumerate() {
            let open = if place == 0 { '{' } else { ',' };
            let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
            let _ = write!(self.0, "{open}{label}=\"{value}\"");
        }
        let close = if labels.is_empty() { "" } else { "}" };
        let _ = writeln!(self.0, "{close} {value}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_its_labels_escaped() {
        let mut text = Metrics::default();
        text.head("a_total", "counter", "What it counts.");
        text.line("a_total", &[("x", "say \"so\""), ("y", "")], 3.0);
        text.line("a_total", &[], 0.25);
        let expected = "# HELP a_total What it counts.\n# TYPE a_total counter\n\
            a_total{x=\"say \\\"so\\\"\",y=\"\"} 3\na_total 0.25\n";
        assert_eq!(text.0, expected);
    }
}
