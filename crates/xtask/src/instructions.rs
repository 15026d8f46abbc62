//! `cargo xtask instructions`: what a row inserted by a T-SQL loop costs in instructions, by function.
//!
//! Rates on a busy machine differ from minute to minute by more than most changes do; instructions do not. A program is run
//! twice under valgrind's callgrind with different numbers of rows, so that what starting costs falls out of the difference. Beside
//! them stand the locked instructions, see `locked`.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::{fs, io};

use crate::locked::{self, Locked};

/// The rows of the two runs.
const ROWS: [u32; 2] = [2_000, 22_000];
/// Functions with fewer instructions a row are left out of the table.
const LEAST: f64 = 10.0;
/// The functions of the C library that give memory.
const ALLOCATORS: [&str; 4] = ["malloc", "calloc", "realloc", "posix_memalign"];

/// What a row costs, or a call.
#[derive(Debug)]
pub struct Report {
    /// All instructions of the process.
    pub total: f64,
    /// Those of each function itself, most first.
    pub functions: Vec<(String, f64)>,
    /// The locked ones among them, where they were looked for.
    pub locked: Vec<Locked>,
}

/// The instructions of each function itself, and the calls that took memory.
#[derive(Debug, Default)]
pub(crate) struct Costs {
    functions: HashMap<String, u64>,
    pub(crate) allocations: u64,
    /// Executions by the instructions' addresses, of a run that counts them.
    executions: HashMap<u64, u64>,
}

impl std::fmt::Display for Report {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "{:8.0} instructions", self.total)?;
        for (name, count) in self.functions.iter().take_while(|(_, count)| *count >= LEAST) {
            writeln!(f, "{count:8.0} {name}")?;
        }
        if !self.locked.is_empty() {
            let count: f64 = self.locked.iter().map(|locked| locked.count).sum();
            writeln!(f, "{count:8.1} locked instructions")?;
        }
        self.locked.iter().try_for_each(|locked| writeln!(f, "{locked}"))
    }
}

/// Counts the instructions of a loop's rows in `program`, a `pikepole` with line tables, in a new folder below `folder`.
///
/// # Errors
/// Where valgrind is not there or fails, or the program does.
pub fn count(program: &Path, folder: &Path, of: Loop) -> io::Result<Report> {
    let folder = folder.join(format!("pikepole-instructions-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let costs = ROWS.map(|rows| run(program, &folder, rows, of));
    fs::remove_dir_all(&folder)?;
    let [few, many] = costs;
    let (costs, rows) = (many?.since(&few?), f64::from(ROWS[1] - ROWS[0]));
    let locked = locked::of(program, &costs.executions, rows)?;
    Ok(Report { locked, ..Report::of(&costs, rows) })
}

fn run(program: &Path, folder: &Path, rows: u32, of: Loop) -> io::Result<Costs> {
    let counted = folder.join(format!("{rows}.callgrind"));
    let mut command = Command::new("valgrind");
    command.args([
        "--quiet",
        "--tool=callgrind",
        "--dump-instr=yes",
        &format!("--callgrind-out-file={}", counted.display()),
    ]);
    command.arg(program).args(["sql", "--stop-on-error", "-d"]).arg(folder.join(rows.to_string()));
    command.args(["-Q", &script(rows, of)]);
    let output = command.output().map_err(|e| io::Error::new(e.kind(), format!("valgrind: {e}")))?;
    if !output.status.success() {
        let text = format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim());
        return Err(io::Error::other(text));
    }
    Ok(Costs::read(&fs::read_to_string(&counted)?))
}

/// The loop whose rows are counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Loop {
    /// Interpreted, into an ordinary table: the loop that `pikepole stress` runs.
    #[default]
    Ordinary,
    /// The same into an in-memory table with an ordered key.
    Memory,
    /// The same, each insert by a call of a natively compiled procedure, which is a transaction.
    NativeRow,
    /// A natively compiled procedure's own, 1,000 rows a call and a transaction.
    NativeLoop,
}

impl Loop {
    /// The loop of a word on the command line.
    pub fn of(word: &str) -> Option<Loop> {
        Some(match word {
            "--memory" => Loop::Memory,
            "--native-row" => Loop::NativeRow,
            "--native-loop" => Loop::NativeLoop,
            _ => return None,
        })
    }
}

/// The start of a natively compiled procedure's body.
const ATOMIC: &str = "WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')";

/// A script with a loop of so many rows, without waits for the disk.
fn script(rows: u32, of: Loop) -> String {
    let insert = |id: &str| {
        format!(
            "INSERT INTO dbo.one (id, created, filler, a, b, c)
        VALUES ({id}, GETDATE(), 'pikepole', 1, 2, NULL);"
        )
    };
    let (native, turn, step) = match of {
        Loop::Ordinary | Loop::Memory => (String::new(), insert("@@SPID * 10000000000 + @i"), 1),
        Loop::NativeRow => {
            let native = format!("CREATE PROCEDURE dbo.native @id bigint {ATOMIC} {} END;", insert("@id"));
            (native, "EXEC dbo.native @i;".to_owned(), 1)
        }
        Loop::NativeLoop => {
            let body = insert("@first + @i");
            let native = format!(
                "CREATE PROCEDURE dbo.native @first bigint, @rows bigint {ATOMIC}
    DECLARE @i bigint = 0;
    WHILE @i < @rows BEGIN {body} SET @i += 1; END;
END;"
            );
            (native, "EXEC dbo.native @i, 1000;".to_owned(), 1000)
        }
    };
    let (key, options) = match of {
        Loop::Ordinary => ("", ""),
        _ => (" NONCLUSTERED", " WITH (MEMORY_OPTIMIZED = ON)"),
    };
    format!(
        "ALTER DATABASE CURRENT SET DELAYED_DURABILITY = FORCED;
GO
CREATE TABLE dbo.one (id bigint NOT NULL PRIMARY KEY{key}, created datetime NOT NULL, filler varchar(100) NOT NULL, a int NOT NULL, b int NOT NULL, c bigint NULL){options};
GO
{native}
GO
CREATE PROCEDURE dbo.insert_rows @rows bigint AS
BEGIN
    SET NOCOUNT ON;
    DECLARE @i bigint = 0;
    WHILE @i < @rows
    BEGIN
        {turn}
        SET @i += {step};
    END;
END;
GO
EXEC dbo.insert_rows {rows};"
    )
}

impl Costs {
    /// Reads a file in callgrind's format: `fn=(7) name` begins a function, `fn=(7)` goes on with it, a line of position and cost
    /// is its own, and the one after `calls=` that of what it calls, whose name stands before in `cfn=`. Where `positions:` has
    /// instructions, a line begins with an address, or how far it is from the one of the line before.
    pub(crate) fn read(text: &str) -> Costs {
        let mut names: HashMap<&str, &str> = HashMap::new();
        let mut costs = Costs::default();
        let mut address = None;
        let (mut function, mut called, mut of_call) = ("", "", false);
        for line in text.lines() {
            if let Some(name) = line.strip_prefix("fn=") {
                function = named(name, &mut names);
            } else if let Some(name) = line.strip_prefix("cfn=") {
                called = named(name, &mut names);
            } else if let Some(calls) = line.strip_prefix("calls=") {
                of_call = true;
                if ALLOCATORS.contains(&called) && !ALLOCATORS.contains(&function) {
                    costs.allocations +=
                        calls.split(' ').next().and_then(|count| count.parse::<u64>().ok()).unwrap_or(0);
                }
            } else if line.starts_with("positions: instr") {
                address = Some(0);
            } else if line.starts_with(|c: char| c.is_ascii_digit() || "+-*".contains(c)) {
                let mut words = line.split(' ');
                if let Some(address) = &mut address {
                    *address = moved(*address, words.next().unwrap_or_default());
                }
                let cost = words.nth(1).and_then(|cost| cost.parse::<u64>().ok()).unwrap_or(0);
                if !std::mem::take(&mut of_call) {
                    *costs.functions.entry(function.to_owned()).or_default() += cost;
                    if let Some(address) = address {
                        *costs.executions.entry(address).or_default() += cost;
                    }
                }
            }
        }
        costs
    }

    /// All instructions.
    pub(crate) fn total(&self) -> u64 {
        self.functions.values().sum()
    }

    /// What these costs have more than others.
    fn since(mut self, other: &Costs) -> Costs {
        for (name, cost) in &mut self.functions {
            *cost = cost.saturating_sub(other.functions.get(name).copied().unwrap_or(0));
        }
        for (address, count) in &mut self.executions {
            *count = count.saturating_sub(other.executions.get(address).copied().unwrap_or(0));
        }
        self.allocations = self.allocations.saturating_sub(other.allocations);
        self
    }
}

/// The address behind a word of a position: `0x` and digits, `+` or `-` and a number of bytes, or `*` for the same.
fn moved(address: u64, word: &str) -> u64 {
    match (word.strip_prefix("0x"), word.strip_prefix('+'), word.strip_prefix('-')) {
        (Some(hex), ..) => u64::from_str_radix(hex, 16).unwrap_or(address),
        (_, Some(bytes), _) => address + bytes.parse::<u64>().unwrap_or(0),
        (.., Some(bytes)) => address - bytes.parse::<u64>().unwrap_or(0),
        _ => address,
    }
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

impl Report {
    /// The costs of so many rows, for one of them.
    pub(crate) fn of(costs: &Costs, rows: f64) -> Report {
        let a_row = |(name, cost): (&String, &u64)| (short(name), *cost as f64 / rows);
        let mut functions: Vec<(String, f64)> = costs.functions.iter().map(a_row).collect();
        functions.sort_by(|a, b| b.1.total_cmp(&a.1));
        Report { total: functions.iter().map(|(_, count)| count).sum(), functions, locked: Vec::new() }
    }
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
        let costs = Costs::read(FILE);
        assert_eq!((costs.functions["one::h0123456789abcdef"], costs.functions["two"]), (15, 300));
        assert_eq!((costs.total(), costs.allocations), (315, 0));
    }

    #[test]
    fn addresses_are_told_by_their_distance() {
        let text =
            "positions: instr line\nfn=(1) one\n0x4010 7 5\n+3 +1 2\ncfn=(2) two\ncalls=1 0x5000 9\n* * 90\n-3 * 4\n";
        let costs = Costs::read(text);
        assert_eq!(costs.executions, HashMap::from([(0x4010, 9), (0x4013, 2)]));
        assert_eq!(costs.total(), 11);
    }

    #[test]
    fn calls_that_take_memory_are_counted() {
        let text = "fn=(1) one\n10 5\ncfn=(2) malloc\ncalls=3 0\n* 90\nfn=(3) calloc\n1 2\ncfn=(2)\ncalls=7 0\n* 1\n";
        assert_eq!(Costs::read(text).allocations, 3);
    }

    #[test]
    fn a_row_costs_the_difference() {
        let costs = |of: &[(&str, u64)]| Costs {
            functions: of.iter().map(|(name, cost)| (name.to_string(), *cost)).collect(),
            ..Costs::default()
        };
        let few = costs(&[("one::h0123456789abcdef", 15)]);
        let report = Report::of(&costs(&[("one::h0123456789abcdef", 35), ("two", 300)]).since(&few), 10.0);
        assert_eq!(report.functions, [("two".to_owned(), 30.0), ("one".to_owned(), 2.0)]);
        assert_eq!(report.total, 32.0);
    }
}
