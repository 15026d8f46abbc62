//! What the demo prints: text for a person, or one JSON object for a program.

use super::strings::{Endpoint, VERIFIED};
use super::visit::{DATABASE, Visit};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

/// All that there is to say.
pub struct Report<'a> {
    pub endpoint: Endpoint<'a>,
    pub addresses: &'a [SocketAddr],
    /// From the folder to a server that listens.
    pub started: Duration,
    pub folder: &'a Path,
    pub is_kept: bool,
    /// The server goes on until a signal.
    pub stays: bool,
    pub visit: &'a Visit,
    /// This program, as it was called.
    pub program: String,
}

impl Report<'_> {
    /// For a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = self.facts(&mut text).and_then(|()| self.answers(&mut text));
        let _ = self.connecting(&mut text).and_then(|()| self.next(&mut text));
        text
    }

    fn facts(&self, out: &mut String) -> std::fmt::Result {
        let (visit, port, folder) = (self.visit, self.endpoint.port, self.folder.display());
        let fate = if self.is_kept { "which stays" } else { "which is removed at the end" };
        writeln!(out, "server   localhost:{port}, ready after {}; folder {folder}, {fate}", time(self.started))?;
        let encrypted =
            if visit.encrypted == "TRUE" { "encrypted (TLS), certificate verified" } else { "not encrypted" };
        writeln!(out, "client   connected as sa after {}: TDS 7.4, {encrypted}", time(visit.connected))?;
        let loaded = match visit.loaded {
            Some(loaded) => format!("loaded in {}", time(loaded)),
            None => "loaded by an earlier demo".to_owned(),
        };
        writeln!(out, "sample   database {DATABASE}: {} tables, {} rows, {loaded}", visit.tables, visit.rows)
    }

    fn answers(&self, out: &mut String) -> std::fmt::Result {
        for answer in &self.visit.answers {
            writeln!(out, "\n{}\n\n{}Time: {}", answer.sql, answer.text, time(answer.time))?;
        }
        Ok(())
    }

    fn connecting(&self, out: &mut String) -> std::fmt::Result {
        let password = match self.endpoint.password {
            Some(password) => format!("{password} (made for this run)"),
            None => "the one that was given".to_owned(),
        };
        writeln!(
            out,
            "\nConnect: localhost, port {}, database {DATABASE}, login sa, password {password}",
            self.endpoint.port
        )?;
        for (driver, string) in self.endpoint.strings() {
            writeln!(out, "  {driver:<12}{string}")?;
        }
        let file = self.endpoint.certificate.display();
        writeln!(
            out,
            "\nCertificate: made by this server for itself. The strings above accept any certificate, which is for this\n\
             computer only. Where it is to be verified, FILE is {file}:"
        )?;
        for (driver, change) in VERIFIED {
            writeln!(out, "  {driver:<12}{change}")?;
        }
        writeln!(
            out,
            "  {:<12}`{} trust` makes a certificate that all clients of this computer accept",
            "all", self.program
        )
    }

    fn next(&self, out: &mut String) -> std::fmt::Result {
        let (program, port, password) = (&self.program, self.endpoint.port, self.endpoint.password());
        let shell = format!(
            "PIKEPOLE_PASSWORD='{password}' {program} sql -S localhost:{port} -U sa --trust-server-certificate"
        );
        writeln!(out, "\nNext:")?;
        writeln!(out, "  {shell}\n      a T-SQL shell on this server; USE {DATABASE} leads to the sample")?;
        writeln!(out, "  {program} stress\n      1 to 32 sessions insert rows, and what they wait for")?;
        writeln!(out, "  {program} lab list\n      the experiments on log contention that run on this machine")?;
        writeln!(out, "  {program} serve -d FOLDER\n      a server that stays")?;
        match self.stays {
            true => writeln!(out, "\nServing until Ctrl-C."),
            false => writeln!(out),
        }
    }

    /// For a program.
    pub fn json(&self) -> String {
        let visit = self.visit;
        let names = self.endpoint.strings().into_iter().map(|(name, string)| (name.to_owned(), string.into()));
        let strings: Map<String, Value> = names.collect();
        let queries = visit.answers.iter().map(|answer| {
            // A result set is a line of its own; each query has one.
            let rows: Value = serde_json::from_str(&answer.text).unwrap_or(Value::Null);
            json!({ "sql": answer.sql, "rows": rows, "milliseconds": milliseconds(answer.time) })
        });
        let report = json!({
            "version": env!("CARGO_PKG_VERSION"),
            "process": std::process::id(),
            "server": {
                "host": "localhost",
                "port": self.endpoint.port,
                "addresses": self.addresses.iter().map(ToString::to_string).collect::<Vec<_>>(),
                "folder": self.folder.display().to_string(),
                "folder_stays": self.is_kept,
                "serves_on": self.stays,
                "ready_milliseconds": milliseconds(self.started),
            },
            "login": "sa",
            "password": self.endpoint.password,
            "database": DATABASE,
            "certificate": self.endpoint.certificate.display().to_string(),
            "client": { "encrypted": visit.encrypted == "TRUE", "connected_milliseconds": milliseconds(visit.connected) },
            "sample": {
                "tables": visit.tables,
                "rows": visit.rows,
                "loaded_milliseconds": visit.loaded.map(milliseconds),
            },
            "queries": queries.collect::<Vec<_>>(),
            "connect": strings,
        });
        format!("{report}\n")
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}

fn time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.1} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}
