//! The sources: sizes of files and functions, module headers, marks of unfinished work.

use crate::Finding;
use std::path::Path;

/// Lines a file may have before its unit tests.
const FILE_LINES_MAX: usize = 800;
/// Lines a function may have; the aim is 70, the rest is room for a table or a long match.
const FUNCTION_LINES_MAX: usize = 90;
/// A longer file says why on its first line, after this mark.
const LONG_FILE_MARK: &str = "// long file:";

/// Checks every Rust source under `crates/`.
pub fn check(root: &Path) -> std::io::Result<Vec<Finding>> {
    let files = crate::with_extension(&root.join("crates"), "rs")?;
    let mut findings = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file)?;
        let path = file.strip_prefix(root).unwrap_or(&file).to_path_buf();
        check_text(&path, &text, &mut findings);
    }
    Ok(findings)
}

fn check_text(path: &Path, text: &str, findings: &mut Vec<Finding>) {
    let is_test = is_test_path(path);
    let product = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    if !is_test {
        crate::files::check_text(path, product, findings);
    }
    let mut find = |line: usize, what: String| {
        findings.push(Finding { path: path.to_path_buf(), line, what });
    };
    let long_with_reason = text.starts_with(LONG_FILE_MARK);
    let lines = product.lines().count();
    if !is_test && lines > FILE_LINES_MAX && !long_with_reason {
        find(0, format!("{lines} lines; split it, or say why on its first line after `{LONG_FILE_MARK}`"));
    }
    let first = text.lines().find(|line| !line.starts_with(LONG_FILE_MARK)).unwrap_or("");
    if !is_test && !first.starts_with("//!") {
        find(1, "a module opens with `//!`: what it is".to_string());
    }
    for (line, door) in doors_round_the_facade(path, product) {
        find(line, format!("`{door}`: atomics, locks and threads come from `pikepole_contention::sync`"));
    }
    for (line, marker) in marks(text) {
        find(line, format!("`{marker}` is unfinished work"));
    }
    if !is_test {
        for (line, length) in long_functions(product) {
            find(line, format!("a function of {length} lines (at most {FUNCTION_LINES_MAX})"));
        }
    }
}

pub(crate) fn is_test_path(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "tests")
        || path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("tests"))
}

/// The marks are put together here so that this file does not find itself.
fn marks(text: &str) -> Vec<(usize, String)> {
    let unfinished =
        [["todo", "!("].concat(), ["unimplemented", "!("].concat(), ["FIX", "ME"].concat(), ["#[ig", "nore"].concat()];
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        if let Some(mark) = unfinished.iter().find(|mark| line.contains(mark.as_str())) {
            found.push((number + 1, mark.clone()));
        }
    }
    found
}

/// Sources that work below the facade: an allocator, whose counters a model's atomics would call again, and numbers that are the process's
/// own over all runs of all models.
const BELOW_THE_FACADE: [&str; 2] = ["crates/machine/src/memory/heap.rs", "crates/memory/src/numbers.rs"];

/// Uses of std's atomics, locks and threads, which loom cannot see. Only the facade's own crate may name them, and tools.
fn doors_round_the_facade(path: &Path, product: &str) -> Vec<(usize, &'static str)> {
    if is_test_path(path)
        || BELOW_THE_FACADE.iter().any(|source| path == Path::new(source))
        || ["contention", "xtask", "peers", "oltp", "tpch"]
            .iter()
            .any(|name| path.starts_with(Path::new("crates").join(name)))
    {
        return Vec::new();
    }
    let mut found = Vec::new();
    for (number, line) in product.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        if let Some(rest) = code.split("std::sync::").nth(1)
            && let Some(door) =
                ["atomic", "Mutex", "Condvar", "RwLock", "Barrier"].iter().find(|door| rest.contains(**door))
        {
            found.push((number + 1, *door));
        }
        if code.contains("std::thread::") {
            found.push((number + 1, "std::thread"));
        }
    }
    found
}

/// Functions by their indentation, as rustfmt leaves it: from the `fn` line to the brace that closes it.
fn long_functions(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut open: Option<(usize, usize)> = None;
    for (number, line) in text.lines().enumerate() {
        let body = line.trim_start();
        let indent = line.len() - body.len();
        if is_function(body) {
            open = (!body.ends_with(';') && !body.ends_with("{}")).then_some((number, indent));
        } else if let Some((start, depth)) = open
            && body.starts_with('}')
            && indent == depth
        {
            if number - start > FUNCTION_LINES_MAX {
                found.push((start + 1, number - start));
            }
            open = None;
        }
    }
    found
}

fn is_function(body: &str) -> bool {
    let mut rest = body;
    for prefix in ["pub ", "pub(crate) ", "pub(super) ", "const ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    rest.starts_with("fn ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> Vec<Finding> {
        let mut findings = Vec::new();
        check_text(Path::new(path), text, &mut findings);
        findings
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let text = format!("//! Lines.\n{}", "const A: u8 = 0;\n".repeat(FILE_LINES_MAX + 1));
        assert_eq!(found("crates/a/src/lib.rs", &text).len(), 1);
        let reasoned = format!("{LONG_FILE_MARK} one table\n{text}");
        assert!(found("crates/a/src/lib.rs", &reasoned).is_empty());
    }

    #[test]
    fn a_long_function_is_found() {
        let text = format!("//! F.\npub(crate) fn f() {{\n{}}}\n", "    g();\n".repeat(FUNCTION_LINES_MAX + 1));
        let findings = found("crates/a/src/lib.rs", &text);
        assert_eq!(findings.len(), 1);
        assert_eq!(findings[0].line, 2);
    }

    #[test]
    fn a_module_without_a_header_is_found() {
        assert_eq!(found("crates/a/src/b.rs", "use std::fmt;\n").len(), 1);
        assert!(found("crates/a/tests/b.rs", "use std::fmt;\n").is_empty());
    }

    #[test]
    fn a_way_round_the_facade_is_found() {
        let text = "//! A.\nuse std::sync::{Arc, Mutex};\nuse std::sync::Arc;\n";
        assert_eq!(found("crates/log/src/a.rs", text).len(), 1);
        assert!(found("crates/contention/src/a.rs", text).is_empty());
        assert!(found("crates/log/tests/a.rs", text).is_empty());
    }

    #[test]
    fn unfinished_work_is_found() {
        let text = ["//! A.\nfn f() { ", "todo", "!() }\n"].concat();
        assert_eq!(found("crates/a/src/lib.rs", &text).len(), 1);
    }
}
