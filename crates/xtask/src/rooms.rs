//! The rooms of a crate that has many: each of its modules uses only those below it.

use crate::Finding;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The rooms of a crate.
struct House {
    name: &'static str,
    /// Its modules from the bottom up. Those of one line use each other; no other may.
    floors: &'static [&'static [&'static str]],
    /// Pairs of a room and one above it that it still uses. An entry that is no longer needed is one too many.
    upwards: &'static [(&'static str, &'static str)],
}

const HOUSES: &[House] = &[House {
    name: "query",
    floors: &[
        &["clock", "progress", "settings", "xml_text"],
        &["expression", "errors"],
        &["host", "output", "state"],
        &["security"],
        &["access", "plan", "rules"],
        &["bulk"],
        // The body of a function is compiled where a query that calls it is bound. The binder asks for the optimizer's rules while it
        // makes plans.
        &["bind", "optimizer", "program"],
        &["executor"],
        &["show"],
        &["activity", "cache", "prepared_handles", "reading", "runs"],
        &["application_lock", "context"],
        &["ddl"],
        &["procedural"],
    ],
    upwards: &[
        // A session's state holds parts of all rooms, and expressions reach it by way of the host.
        ("expression", "context"),
        ("expression", "host"),
        ("expression", "state"),
        ("host", "context"),
        ("bind", "context"),
        ("cache", "context"),
        ("executor", "context"),
        ("security", "access"),
        ("security", "context"),
        ("security", "program"),
        ("context", "ddl"),
        ("context", "procedural"),
        // Programs carry their own counters.
        ("program", "runs"),
        // Readers of files give batches.
        ("bulk", "executor"),
        // What stops a row's way names what the executor waits for.
        ("access", "optimizer"),
        ("access", "bulk"),
        ("access", "executor"),
        ("plan", "bulk"),
    ],
}];

/// Reads the sources of the crates that have rooms, and reports a use that does not point downwards.
pub fn check(root: &Path) -> std::io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for house in HOUSES {
        let folder = Path::new("crates").join(house.name).join("src");
        let mut uses = BTreeSet::new();
        for path in crate::with_extension(&root.join(&folder), "rs")? {
            let Some(room) = room_of(path.strip_prefix(root.join(&folder)).unwrap_or(&path)) else { continue };
            let text = std::fs::read_to_string(&path)?;
            let used = used_rooms(&text).into_iter().filter(|used| *used != room);
            uses.extend(used.map(|used| (room.clone(), used, path.clone())));
        }
        findings.extend(violations(house, &uses).into_iter().map(|(path, what)| Finding {
            path: path.strip_prefix(root).unwrap_or(&path).to_owned(),
            line: 0,
            what,
        }));
    }
    Ok(findings)
}

/// The module that a source belongs to; none for the crate's root and its tests.
fn room_of(path: &Path) -> Option<String> {
    let first = path.iter().next()?.to_str()?;
    let room = first.strip_suffix(".rs").unwrap_or(first);
    let is_test = room == "tests" || path.file_name().is_some_and(|name| name == "tests.rs");
    (room != "lib" && !is_test).then(|| room.to_owned())
}

/// The modules of its own crate that a text names, but for those of its tests.
fn used_rooms(text: &str) -> BTreeSet<String> {
    let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let mut used = BTreeSet::new();
    for line in code {
        for behind in line.split("crate::").skip(1) {
            let end = behind.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(behind.len());
            if behind[end..].starts_with("::") {
                used.insert(behind[..end].to_owned());
            }
        }
    }
    used
}

type Use = (String, String, PathBuf);

fn violations(house: &House, uses: &BTreeSet<Use>) -> Vec<(PathBuf, String)> {
    let floor = |room: &str| house.floors.iter().position(|rooms| rooms.contains(&room));
    let mut found = Vec::new();
    for (room, used, path) in uses {
        match (floor(room), floor(used)) {
            (None, _) => found.push((path.clone(), format!("`{room}` has no place in xtask's list of rooms"))),
            (_, None) => {}
            (Some(own), Some(other)) if own >= other => {}
            _ if house.upwards.contains(&(room.as_str(), used.as_str())) => {}
            _ => found.push((path.clone(), format!("`{room}` uses `{used}`, which is not below it"))),
        }
    }
    for (room, used) in house.upwards {
        if !uses.iter().any(|(own, other, _)| (own.as_str(), other.as_str()) == (*room, *used)) {
            let what = format!("`{room}` no longer uses `{used}`: take it from xtask's list of rooms");
            found.push((Path::new("crates").join(house.name), what));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUSE: House = House { name: "query", floors: &[&["plan"], &["executor"]], upwards: &[] };

    fn found(house: &House, path: &str, text: &str) -> Vec<String> {
        let room = room_of(Path::new(path));
        let used = room.into_iter().flat_map(|room| {
            let used = used_rooms(text).into_iter().filter(|used| *used != room).collect::<Vec<_>>();
            used.into_iter().map(move |used| (room.clone(), used, PathBuf::from("a.rs")))
        });
        violations(house, &used.collect()).into_iter().map(|(_, what)| what).collect()
    }

    #[test]
    fn an_upward_use_is_found_but_in_tests_and_comments() {
        assert_eq!(found(&HOUSE, "plan/mod.rs", "use crate::executor::Run;\n").len(), 1);
        assert_eq!(found(&HOUSE, "plan/mod.rs", "/// See [`crate::executor::Run`].\n").len(), 0);
        assert_eq!(found(&HOUSE, "plan.rs", "#[cfg(test)]\nmod tests {\nuse crate::executor::Run;\n").len(), 0);
        assert_eq!(found(&HOUSE, "tests/a.rs", "use crate::executor::Run;\n").len(), 0);
        assert_eq!(found(&HOUSE, "executor/a.rs", "use crate::plan::{Node, Plan};\n").len(), 0);
    }

    #[test]
    fn a_room_without_a_place_is_found() {
        assert_eq!(found(&HOUSE, "attic.rs", "use crate::plan::Node;\n").len(), 1);
    }

    #[test]
    fn an_exception_holds_as_long_as_it_is_needed() {
        let house = House { upwards: &[("plan", "executor")], ..HOUSE };
        assert_eq!(found(&house, "plan/mod.rs", "use crate::executor::Run;\n").len(), 0);
        assert_eq!(found(&house, "plan/mod.rs", "").len(), 1);
    }
}
