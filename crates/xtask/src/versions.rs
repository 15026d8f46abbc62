//! The versions of what libraries depend on: a range each, which a program that uses them can share. Cargo.lock says which versions this
//! tree is built and tested with.
//!
//! What is written on disk must not change with a version that a dependant's Cargo.lock happens to choose, so a crate whose data
//! does that is pinned.

use crate::Finding;
use crate::layers::LAYERS;
use std::collections::BTreeSet;
use std::path::Path;

/// The last crate of the layers that other programs depend on; those above it are programs of this tree.
const LAST_LIBRARY: &str = "embedded";
/// Sort keys in indexes of a language's collation are in the order of these crates' data (docs/understand/format.md).
const PINNED: [&str; 5] =
    ["icu_collator", "icu_collator_data", "icu_locale_core", "icu_normalizer", "icu_normalizer_data"];

/// Reads the manifests, and reports a version that is exact and should be a range, or the other way round.
pub fn check(root: &Path) -> std::io::Result<Vec<Finding>> {
    let read = |path: &Path| -> std::io::Result<toml::Table> {
        std::fs::read_to_string(root.join(path))?.parse().map_err(std::io::Error::other)
    };
    let mut used = BTreeSet::new();
    for name in LAYERS.iter().take_while(|name| **name != LAST_LIBRARY).chain([&LAST_LIBRARY]) {
        let manifest = read(&Path::new("crates").join(name).join("Cargo.toml"))?;
        let dependencies = manifest.get("dependencies").and_then(|table| table.as_table());
        used.extend(dependencies.into_iter().flat_map(|table| table.keys().cloned()));
    }
    let path = Path::new("Cargo.toml");
    let findings = violations(&read(path)?, &used).into_iter();
    Ok(findings.map(|what| Finding { path: path.to_path_buf(), line: 0, what }).collect())
}

fn violations(workspace: &toml::Table, used: &BTreeSet<String>) -> Vec<String> {
    let versions = workspace.get("workspace").and_then(|table| table.get("dependencies")).and_then(|d| d.as_table());
    let mut found = Vec::new();
    for name in used.iter().map(String::as_str).chain(PINNED).collect::<BTreeSet<_>>() {
        let Some(wanted) = versions.and_then(|versions| versions.get(name)) else { continue };
        let version = wanted.as_str().or_else(|| wanted.get("version")?.as_str()).unwrap_or_default();
        match (version.starts_with('='), PINNED.contains(&name)) {
            (true, false) => found.push(format!("`{name}` is exact: a dependant's tree may need another version")),
            (false, true) => found.push(format!("`{name}` is a range: its data is in sort keys on disk")),
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::violations;

    #[test]
    fn what_libraries_share_is_a_range_and_what_is_on_disk_is_pinned() {
        let table = |text: &str| text.parse::<toml::Table>().expect("a manifest");
        let used = ["libc".to_owned(), "icu_collator".to_owned()].into();
        let manifest = |libc: &str, icu: &str| {
            table(&format!(
                "[workspace.dependencies]\nlibc = \"{libc}\"\nicu_collator = {{ version = \"{icu}\" }}\nclap = \"=4.0.0\""
            ))
        };
        assert!(violations(&manifest("0.2.1", "=2.4.0"), &used).is_empty());
        let found = violations(&manifest("=0.2.1", "2.4.0"), &used);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(found[0].contains("`icu_collator` is a range") && found[1].contains("`libc` is exact"), "{found:?}");
    }
}
