//! The layers: each crate depends only on crates below it.

use crate::Finding;
use std::path::Path;

/// The crates from the bottom up, by folder name. ARCHITECTURE.md shows the same list with what each holds.
pub const LAYERS: &[&str] = &[
    "contention",
    "machine",
    "scheduler",
    "log",
    "types",
    "native",
    "clr",
    "tds",
    "storage",
    "transaction",
    "memory",
    "engine",
    "tsql",
    "query",
    "session",
    "server",
    "embedded",
    "client",
    "lab",
    "pikepole",
];

/// Crates that stand beside the layers: tools that may use any of them and that none may use.
const BESIDE: &[&str] = &["xtask", "peers", "oltp", "tpch"];

/// Reads every crate's manifest and reports a dependency that does not point downwards.
pub fn check(root: &Path) -> std::io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for entry in std::fs::read_dir(root.join("crates"))? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let manifest = entry.path().join("Cargo.toml");
        if !manifest.exists() || BESIDE.contains(&name.as_str()) {
            continue;
        }
        let path = Path::new("crates").join(&name).join("Cargo.toml");
        let text = std::fs::read_to_string(&manifest)?;
        for what in violations(&name, &text) {
            findings.push(Finding { path: path.clone(), line: 0, what });
        }
    }
    Ok(findings)
}

fn violations(name: &str, manifest: &str) -> Vec<String> {
    let Some(own) = LAYERS.iter().position(|layer| *layer == name) else {
        return vec![format!("the crate `{name}` has no place in xtask's list of layers")];
    };
    let table: toml::Table = match manifest.parse() {
        Ok(table) => table,
        Err(error) => return vec![format!("not a manifest: {error}")],
    };
    let mut found = Vec::new();
    let empty = toml::Table::new();
    let dependencies = table.get("dependencies").and_then(|d| d.as_table()).unwrap_or(&empty);
    for dependency in dependencies.keys() {
        let folder = dependency.strip_prefix("pikepole-").unwrap_or(dependency);
        if let Some(other) = LAYERS.iter().position(|layer| *layer == folder)
            && (dependency.starts_with("pikepole"))
            && other >= own
        {
            found.push(format!("`{name}` depends on `{folder}`, which is not below it"));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::violations;

    #[test]
    fn an_upward_dependency_is_found() {
        let found = violations("log", "[dependencies]\npikepole-storage.workspace = true\n");
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("not below"));
    }

    #[test]
    fn a_downward_dependency_is_fine() {
        assert!(violations("storage", "[dependencies]\npikepole-log.workspace = true\n").is_empty());
    }

    #[test]
    fn a_crate_outside_the_list_is_found() {
        assert_eq!(violations("stowaway", "").len(), 1);
    }
}
