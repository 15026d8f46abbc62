//! `cargo xtask instructions`: what a row inserted by a T-SQL loop costs in instructions, by function.
//!
//! Rates on a busy machine differ from minute to minute by more than most changes do; instructions do not. A program is run
//! twice under valgrind's callgrind with different numbers of rows, so that what starting costs falls out of the difference.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// The rows of the two runs.
const ROWS: [u32; 2] = [2_000, 22_000];
/// Functions with fewer instructions a row are left out of the table.
const LEAST: f64 = 10.0;

/// What a row costs.
#[derive(Debug)]
pub struct Report {
    /// All instructions of the process.
    pub total: f64,
    /// Those of each function itself, most first.
    pub functions: Vec<(String, f64)>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:8.0} instructions a row, {} rows", self.total, ROWS[1] - ROWS[0])?;
        for (name, count) in self.functions.iter().take_while(|(_, count)| *count >= LEAST) {
            writeln!(f, "{count:8.0} {name}")?;
        }
        Ok(())
    }
}

/// Counts the instructions of `program`, a `pikepole` with line tables, in a new folder below `folder`.
///
/// # Errors
/// Where valgrind is not there or fails, or the program does.
pub fn count(program: &Path, folder: &Path) -> io::Result<Report> {
    let folder = folder.join(format!("pikepole-instructions-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let costs = ROWS.map(|rows| run(program, &folder, rows));
    fs::remove_dir_all(&folder)?;
    let [few, many] = costs;
    Ok(report(&few?, &many?, f64::from(ROWS[1] - ROWS[0])))
}

fn run(program: &Path, folder: &Path, rows: u32) -> io::Result<HashMap<String, u64>> {
    let counted = folder.join(format!("{rows}.callgrind"));
    let mut command = Command::new("valgrind");
    command.args(["--quiet", "--tool=callgrind", &format!("--callgrind-out-file={}", counted.display())]);
    command.arg(program).args(["sql", "--stop-on-error", "-d"]).arg(folder.join(rows.to_string()));
    command.args(["-Q", &script(rows)]);
    let output = command.output().map_err(|e| io::Error::new(e.kind(), format!("valgrind: {e}")))?;
    if !output.status.success() {
        let text = format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        return Err(io::Error::other(text));
    }
    Ok(self_costs(&fs::read_to_string(&counted)?))
}

/// The loop that `pikepole stress` runs, of so many rows, without waits for the disk.
fn script(rows: u32) -> String {
    format!(
        "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED;
GO
CREATE TABLE dbo.one (id bigint NOT NULL PRIMARY KEY, created datetime NOT NULL, filler varchar(100) NOT NULL, a int NOT NULL, b int NOT NULL, c bigint NULL);
GO
CREATE PROCEDURE dbo.insert_rows @rows bigint AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = 0;
    WHILE @i < @rows
    BEGIN
        INSERT INTO dbo.one (id, created, filler, a, b, c)
        VALUES (@@SPID * 10000000000 + @i, GETDATE(), 'pikepole', 1, 2, NULL);
        SET @i += 1;
    END;
END;
GO
EXEC dbo.insert_rows {rows};"
    )
}

/// The instructions of each function itself, from a file in callgrind's format: `fn=(7) name` begins a function, `fn=(7)` goes
/// on with it, a line of position and cost is its own, and the one after `calls=` that of what it calls.
fn self_costs(text: &str) -> HashMap<String, u64> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let mut costs = HashMap::new();
    let (mut function, mut of_call) = ("", false);
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("fn=") {
            function = named(name, &mut names);
        } else if let Some(name) = line.strip_prefix("cfn=") {
            named(name, &mut names);
        } else if line.starts_with("calls=") {
            of_call = true;
        } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
            let cost = line.split(' ').nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
            if !std::mem::take(&mut of_call) {
                *costs.entry(function.to_owned()).or_default() += cost;
            }
        }
    }
    costs
}

/// The name in `(7) name`, or the one that `(7)` had before.
fn named<'t>(text: &'t str, names: &mut HashMap<&'t str, &'t str>) -> &'t str {
    match text.split_once(' ') {
        Some((number, name)) => {
            names.insert(number, name);
            name
        }
        None => names.get(text).copied().unwrap_or(text),
    }
}

fn report(few: &HashMap<String, u64>, many: &HashMap<String, u64>, rows: f64) -> Report {
    let a_row = |name: &String, cost: &u64| {
        let less = few.get(name).copied().unwrap_or(0);
        (*cost as f64 - less as f64) / rows
    };
    let mut functions: Vec<(String, f64)> = many.iter().map(|(name, cost)| (short(name), a_row(name, cost))).collect();
    functions.sort_by(|a, b| b.1.total_cmp(&a.1));
    Report { total: functions.iter().map(|(_, count)| count).sum(), functions }
}

/// A symbol without the hash that ends it.
fn short(name: &str) -> String {
    let mut out = String::new();
    for part in name.split("::").filter(|part| !is_hash(part)) {
        let _infallible = write!(out, "{}{part}", if out.is_empty() { "" } else { "::" });
    }
    out
}

fn is_hash(part: &str) -> bool {
    part.len() == 17 && part.starts_with('h') && part[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "events: Ir\n\nfl=(1) a.rs\nfn=(1) one::h0123456789abcdef\n10 5\n+1 7\ncfn=(2) two\ncalls=3 0\n* 900\n-2 1\n\
                        fn=(2)\n20 300\nfn=(1)\n12 2\n";

    #[test]
    fn what_a_function_calls_is_not_its_own() {
        let costs = self_costs(FILE);
        assert_eq!((costs["one::h0123456789abcdef"], costs["two"]), (15, 300));
    }

    #[test]
    fn a_row_costs_the_difference() {
        let few = HashMap::from([("one::h0123456789abcdef".to_owned(), 15)]);
        let many = HashMap::from([("one::h0123456789abcdef".to_owned(), 35), ("two".to_owned(), 300)]);
        let report = report(&few, &many, 10.0);
        assert_eq!(report.functions, [("two".to_owned(), 30.0), ("one".to_owned(), 2.0)]);
        assert_eq!(report.total, 32.0);
    }
}
