//! Checks of the source tree that no compiler makes: the layers go one way, files and functions stay small,
//! every module says what it is, every row of the statistics has a call site, links of the documents go somewhere, and
//! nothing unfinished or machine-specific is left behind.
//!
//! `cargo xtask tidy` prints the findings; the test `tidy` fails on any. [`instructions`] and [`wire`] count what no clock
//! measures here.

mod files;
pub mod instructions;
mod layers;
mod links;
mod locked;
pub mod picture;
pub mod profile;
mod rooms;
mod rows;
mod sources;
mod versions;
pub mod wire;

use std::path::{Path, PathBuf};

pub use layers::LAYERS;

/// One thing found, with its place as `path:line` (line 0: the whole file).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Path from the repository's root.
    pub path: PathBuf,
    /// Line, counted from one; zero means the whole file.
    pub line: usize,
    /// What is wrong and what to do about it.
    pub what: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {}", self.path.display(), self.line, self.what)
    }
}

/// The repository's root, found from this crate's own folder. That is asked when it runs: clones that share a target folder share
/// binaries, and the one that this was built in may be gone.
pub fn root() -> PathBuf {
    let here = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    let here = Path::new(&here);
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// Runs every check over the tree at `root`.
pub fn tidy(root: &Path) -> std::io::Result<Vec<Finding>> {
    let mut findings = layers::check(root)?;
    findings.extend(sources::check(root)?);
    findings.extend(rooms::check(root)?);
    findings.extend(rows::check(root)?);
    findings.extend(links::check(root)?);
    findings.extend(versions::check(root)?);
    Ok(findings)
}

/// The files below a folder whose names end so, sorted; nothing of builds and of hidden folders.
fn with_extension(folder: &Path, extension: &str) -> std::io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let is_left_out =
            path.file_name().is_some_and(|name| name == "target" || name.as_encoded_bytes().starts_with(b"."));
        if is_left_out {
            continue;
        }
        if path.is_dir() {
            found.extend(with_extension(&path, extension)?);
        } else if path.extension().is_some_and(|own| own == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
