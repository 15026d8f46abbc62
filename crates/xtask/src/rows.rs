//! Rows of the statistics: each row of the tables of spinlocks, latches and waits has a call site in the product.
//!
//! A row is named at its call site as `Table::ROW`. What only adds rows up, and tests, are no call sites.

use crate::Finding;
use crate::sources::is_test_path;
use std::collections::HashSet;
use std::path::Path;

/// The file of the tables.
const TABLES: &str = "crates/contention/src/tables.rs";
/// The tables whose rows the views show.
const NAMES: [&str; 3] = ["SpinlockClass", "LatchClass", "WaitType"];
/// Sources that name rows and move none: the tables, the sums over them, and what says which policy moves a row.
const NO_CALL_SITES: [&str; 3] =
    [TABLES, "crates/contention/src/statistics.rs", "crates/engine/src/server/policy_table.rs"];

/// Finds the rows that nothing can move.
pub fn check(root: &Path) -> std::io::Result<Vec<Finding>> {
    let tables = std::fs::read_to_string(root.join(TABLES))?;
    let mut used = HashSet::new();
    for file in crate::with_extension(&root.join("crates"), "rs")? {
        let path = file.strip_prefix(root).unwrap_or(&file);
        if !is_call_site(path) {
            continue;
        }
        used.extend(rows_named(product_of(&std::fs::read_to_string(&file)?)));
    }
    let unused = rows_declared(&tables).into_iter().filter(|(_, row)| !used.contains(row));
    let what = |row: &str| format!("nothing can move the row `{row}`: give it a call site or remove it");
    Ok(unused.map(|(line, row)| Finding { path: TABLES.into(), line, what: what(&row) }).collect())
}

/// Whether rows that a source names are counted there. Models, benches and tools count for themselves.
fn is_call_site(path: &Path) -> bool {
    let is_model = path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("_models"));
    let is_tool =
        ["lab", "xtask", "peers", "oltp", "tpch"].iter().any(|name| path.starts_with(Path::new("crates").join(name)));
    let is_in_source = path.components().any(|part| part.as_os_str() == "src");
    is_in_source
        && !is_model
        && !is_tool
        && !is_test_path(path)
        && !NO_CALL_SITES.iter().any(|no| path == Path::new(no))
}

/// A source without the module of its tests, if that is in it.
fn product_of(text: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| {
        let module = text[at + 1..].lines().find(|line| !line.starts_with("#["));
        module.is_some_and(|line| line.starts_with("mod ") && line.ends_with('{'))
    };
    let at = text.match_indices("\n#[cfg(test)]").chain(text.match_indices("\n#[cfg(all(test,")).find(begins);
    at.map_or(text, |(at, _)| &text[..at])
}

/// The rows that the tables declare, as `Table::ROW`, each with its line.
fn rows_declared(tables: &str) -> Vec<(usize, String)> {
    let mut rows = Vec::new();
    let mut table = None;
    for (number, line) in tables.lines().enumerate() {
        let line = line.trim();
        if let Some(name) = NAMES.iter().find(|name| line == format!("{name} {{")) {
            table = Some(*name);
        } else if line == "}" {
            table = None;
        } else if let (Some(table), Some((row, _))) = (table, line.split_once(": \"")) {
            rows.push((number + 1, format!("{table}::{row}")));
        }
    }
    rows
}

/// The rows that a source names outside of its comments.
fn rows_named(product: &str) -> Vec<String> {
    let mut rows = Vec::new();
    for line in product.lines() {
        let code = line.split("//").next().unwrap_or("");
        for name in NAMES {
            for (at, _) in code.match_indices(&format!("{name}::")) {
                let row: String = code[at + name.len() + 2..]
                    .chars()
                    .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                    .collect();
                rows.push(format!("{name}::{row}"));
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str =
        "name_table! {\n    /// Locks.\n    SpinlockClass {\n        A: \"One.\",\n        B_C: \"Two.\",\n    }\n}\n";

    #[test]
    fn rows_are_found_where_they_are_declared_and_named() {
        let declared = rows_declared(TABLE);
        assert_eq!(declared, [(4, "SpinlockClass::A".to_owned()), (5, "SpinlockClass::B_C".to_owned())]);
        let named = rows_named("lock(SpinlockClass::B_C, 1); // SpinlockClass::A\nwait(WaitType::X)");
        assert_eq!(named, ["SpinlockClass::B_C", "WaitType::X"]);
    }

    #[test]
    fn a_module_of_tests_is_no_call_site() {
        let text = "//! A.\n#[cfg(test)]\nmod models;\nfn f() {}\n#[cfg(test)]\nmod tests {\n    WaitType::A\n}\n";
        assert_eq!(product_of(text), "//! A.\n#[cfg(test)]\nmod models;\nfn f() {}");
    }

    #[test]
    fn tests_models_and_tools_move_nothing() {
        for path in ["crates/log/src/flush.rs", "crates/session/src/registry.rs"] {
            assert!(is_call_site(Path::new(path)), "{path}");
        }
        for path in [
            "crates/log/src/writer_tests.rs",
            "crates/log/tests/fuzz.rs",
            "crates/log/examples/commit_bench.rs",
            "crates/log/src/commit_models.rs",
            "crates/lab/src/log_bench/append.rs",
            TABLES,
        ] {
            assert!(!is_call_site(Path::new(path)), "{path}");
        }
    }
}
