//! Files that are opened: in the crates that hear statements, by the sources listed here only.
//!
//! A name of a client becomes an open file through one door, `engine::server::statement_files`. A source that opens
//! a file elsewhere in these crates is found here, unless the table below has it with the reason why its names are no client's.

use crate::Finding;
use std::path::Path;

/// The crates in which names of statements are at hand.
const CRATES: [&str; 3] = ["engine", "query", "session"];

/// What opens, makes, renames or removes files.
const OPENINGS: [&str; 16] = [
    "std::fs",
    "File::open(",
    "File::create(",
    "File::options(",
    "OpenOptions",
    ".confine(",
    ".open_proper(",
    "disk.open(",
    "disk.read(",
    "disk.replace(",
    "disk.rename(",
    "disk.remove_file(",
    "disk.remove_dir_all(",
    "disk.create_dir_all(",
    "disk.list(",
    "disk()",
];

/// The sources that may, and why the names are none of statements.
const MAY_OPEN: [(&str, &str); 21] = [
    ("crates/engine/src/server/statement_files.rs", "the door"),
    ("crates/engine/src/backup/media.rs", "a file of the door's folder"),
    ("crates/engine/src/chunk.rs", "a test's"),
    ("crates/engine/src/in_memory/files.rs", "fixed names in a database's folder"),
    ("crates/engine/src/in_memory/checkpoint.rs", "fixed names in a database's folder"),
    ("crates/engine/src/in_memory/load.rs", "fixed names in a database's folder"),
    ("crates/engine/src/backup/restore.rs", "fixed names in a database's folder"),
    ("crates/engine/src/database/files.rs", "fixed names in a database's folder"),
    ("crates/engine/src/database/open.rs", "fixed names in a database's folder"),
    ("crates/engine/src/server/mod.rs", "folders of databases, whose names are escaped; fixed names"),
    ("crates/engine/src/server/backups.rs", "folders of databases, whose names are escaped"),
    ("crates/engine/src/server/affinity.rs", "the configuration"),
    ("crates/engine/src/server/start.rs", "the configuration"),
    ("crates/engine/src/database/bulk_changed.rs", "a database's own log"),
    ("crates/engine/src/log_view.rs", "a database's own log"),
    ("crates/query/src/executor/spill/file.rs", "numbered names in tempdb's folder"),
    ("crates/session/src/error_log.rs", "numbered names in the server's folder"),
    ("crates/session/src/views/machine.rs", "the system's files"),
    ("crates/session/src/views/threads.rs", "the system's files"),
    ("crates/session/src/registry.rs", "the system's files"),
    ("crates/session/src/views/volumes.rs", "sys.dm_os_file_exists, which looks and opens nothing"),
];

/// Whether code has these words, and not as the end of a longer one.
fn names(code: &str, words: &str) -> bool {
    let is_whole = |at: usize| !code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
    let begins_with_a_word = words.starts_with(char::is_alphanumeric);
    code.match_indices(words).any(|(at, _)| !begins_with_a_word || is_whole(at))
}

/// Checks a source.
pub fn check_text(path: &Path, product: &str, findings: &mut Vec<Finding>) {
    let is_listening = CRATES.iter().any(|name| path.starts_with(Path::new("crates").join(name).join("src")));
    if !is_listening || MAY_OPEN.iter().any(|(may, _)| path == Path::new(may)) {
        return;
    }
    for (number, line) in product.lines().enumerate() {
        let code = line.split("//").next().unwrap_or("");
        if let Some(opening) = OPENINGS.iter().find(|opening| names(code, opening)) {
            findings.push(Finding {
                path: path.to_path_buf(),
                line: number + 1,
                what: format!(
                    "`{opening}`: files that statements name are opened by `engine::server::statement_files`; others are in the table \
                     of xtask's files.rs, with why"
                ),
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, text: &str) -> usize {
        let mut findings = Vec::new();
        check_text(Path::new(path), text, &mut findings);
        findings.len()
    }

    #[test]
    fn a_file_that_is_opened_beside_the_door_is_found() {
        let text = "//! A.\nlet file = server.disk().open(server.folder().join(&name), options)?;\n";
        assert_eq!(found("crates/session/src/export.rs", text), 1);
        assert_eq!(found("crates/query/src/run/export.rs", "let bytes = std::fs::read(name)?;\n"), 1);
        assert_eq!(found("crates/engine/src/server/export.rs", "self.options.disk.replace(&name, &bytes)?;\n"), 1);
        assert_eq!(found("crates/engine/src/server/statement_files.rs", text), 0);
        assert_eq!(found("crates/storage/src/store.rs", text), 0, "no statement is heard there");
    }

    #[test]
    fn the_table_names_sources_that_open_files() {
        for (path, _) in MAY_OPEN {
            let text = std::fs::read_to_string(crate::root().join(path)).expect(path);
            assert!(OPENINGS.iter().any(|opening| names(&text, opening)), "{path} opens nothing");
        }
    }
}
