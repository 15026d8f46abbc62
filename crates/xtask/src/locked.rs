//! Locked instructions of a row: each of them takes a line of memory for its CPU alone. On lines that other sessions write, too, CPUs take
//! turns, which neither instructions nor waits tell of.
//!
//! ```text
//!   callgrind ──► executions by address ┐
//!   objdump ────► `lock` and `xchg`     ┴──► those that rows pass ──addr2line──► where they stand
//! ```
//! For x86-64, and programs with line tables.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

/// Instructions that fewer rows pass are left out: those of pages, of buffers that grow.
const LEAST: f64 = 0.5;
/// The folder of the project's own sources.
const OWN: &str = "crates/";
/// The folder of the standard library's sources.
const RUSTC: &str = "/rustc/";

/// A locked instruction.
#[derive(Debug, PartialEq)]
pub struct Locked {
    /// Executions a row.
    pub count: f64,
    text: String,
    /// The line of the source, and the line of the project's own that it stands in, or of another library's.
    places: String,
}

impl fmt::Display for Locked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:8.1} {:<40} {}", self.count, self.text, self.places)
    }
}

/// The locked instructions of a program that were executed so often by so many rows.
///
/// # Errors
/// Where objdump or addr2line is not there or fails.
pub(crate) fn of(program: &Path, executions: &HashMap<u64, u64>, rows: f64) -> io::Result<Vec<Locked>> {
    let mut found = Vec::new();
    for (address, text) in instructions(program)? {
        let count = executions.get(&address).map_or(0.0, |count| *count as f64 / rows);
        if count >= LEAST {
            found.push((address, Locked { count, text, places: String::new() }));
        }
    }
    for (address, locked) in &mut found {
        locked.places = places(program, *address)?;
    }
    Ok(found.into_iter().map(|(_, locked)| locked).collect())
}

/// All locked instructions of a program, by their addresses.
fn instructions(program: &Path) -> io::Result<Vec<(u64, String)>> {
    let mut command = Command::new("objdump");
    command.args(["--disassemble", "--no-show-raw-insn"]).arg(program).stdout(Stdio::piped());
    let named = |error: io::Error| io::Error::new(error.kind(), format!("objdump: {error}"));
    let mut dump = command.spawn().map_err(named)?;
    let text = dump.stdout.take().map(BufReader::new).into_iter().flat_map(BufRead::lines);
    let mut found = Vec::new();
    for line in text {
        found.extend(locked(&line?));
    }
    match dump.wait()?.success() {
        true => Ok(found),
        false => Err(io::Error::other("objdump failed")),
    }
}

/// The address and text of a line of objdump's with a locked instruction; XCHG with memory is one without the prefix.
fn locked(line: &str) -> Option<(u64, String)> {
    let (address, text) = line.split_once(':')?;
    let text = text.trim();
    let is_locked = text.starts_with("lock ") || (text.starts_with("xchg ") && text.contains('('));
    let address = is_locked.then(|| u64::from_str_radix(address.trim(), 16).ok())??;
    Some((address, text.split_whitespace().collect::<Vec<_>>().join(" ")))
}

/// The line of an address, and the innermost line of the project's own that it stands in, or of another library's.
fn places(program: &Path, address: u64) -> io::Result<String> {
    let mut command = Command::new("addr2line");
    command.args(["--inlines", "--exe"]).arg(program).arg(format!("{address:#x}"));
    let output = command.output().map_err(|error| io::Error::new(error.kind(), format!("addr2line: {error}")))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let first = text.lines().next().unwrap_or_default();
    let own = text.lines().find(|line| line.contains(OWN));
    let last = own.or_else(|| text.lines().find(|line| !line.contains(RUSTC))).unwrap_or(first);
    let short = last.rfind(OWN).map_or_else(|| tail(last), |at| &last[at..]);
    Ok(if first == last { short.to_owned() } else { format!("{} in {short}", tail(first)) })
}

/// The last two parts of a path.
fn tail(path: &str) -> &str {
    path.rmatch_indices('/').nth(1).map_or(path, |(at, _)| &path[at + 1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exchanges_with_memory_are_locked_without_a_prefix() {
        let lines = [
            "  4011f0:\tlock xadd %rdi,0x80(%rax)",
            "  4011f8:\txchg   %rax,0x80(%r14)",
            "  4011fc:\txchg   %ax,%ax",
            "  401200:\tmov    (%rax),%rdi",
            "0000000000401200 <lock ring>:",
        ];
        let found: Vec<_> = lines.iter().filter_map(|line| locked(line)).collect();
        let wanted = [(0x4011f0, "lock xadd %rdi,0x80(%rax)"), (0x4011f8, "xchg %rax,0x80(%r14)")];
        assert_eq!(found, wanted.map(|(address, text)| (address, text.to_owned())));
    }

    #[test]
    fn a_path_is_told_by_its_last_parts() {
        assert_eq!((tail("/a/sync/atomic.rs:31"), tail("atomic.rs:31")), ("sync/atomic.rs:31", "atomic.rs:31"));
    }
}
