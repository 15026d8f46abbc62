//! Links of the documents: a file that is linked is there, a heading too, and each page of `docs/` is in its index. Pages that
//! comments and other texts name are there too.

use crate::Finding;
use std::collections::HashSet;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The index of the site.
const INDEX: &str = "docs/SUMMARY.md";

/// Checks the links of every document.
pub fn check(root: &Path) -> io::Result<Vec<Finding>> {
    let documents: Vec<PathBuf> = crate::with_extension(root, "md")?
        .into_iter()
        .map(|path| path.strip_prefix(root).map(Path::to_path_buf).unwrap_or(path))
        .collect();
    let mut findings = Vec::new();
    for document in &documents {
        let text = std::fs::read_to_string(root.join(document))?;
        for link in links(&text) {
            if let Some(what) = broken(root, document, &text, link.target) {
                findings.push(Finding { path: document.clone(), line: link.line, what });
            }
        }
    }
    findings.extend(left_out(root, &documents)?);
    findings.extend(mentions(root)?);
    Ok(findings)
}

/// Pages that sources and documents name without a link, and that are not there.
fn mentions(root: &Path) -> io::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for extension in ["rs", "toml", "md", "sql", "py"] {
        for path in crate::with_extension(root, extension)? {
            let own = path.strip_prefix(root).unwrap_or(&path);
            // The check's own examples.
            if own.starts_with("crates/xtask") {
                continue;
            }
            let text = std::fs::read_to_string(&path)?;
            for (line, number) in text.lines().zip(1..) {
                let missing = named(line).into_iter().filter(|page| !root.join(page).exists());
                findings.extend(missing.map(|page| Finding {
                    path: own.to_path_buf(),
                    line: number,
                    what: format!("it names {page}, which is not there"),
                }));
            }
        }
    }
    Ok(findings)
}

/// The pages that a line names: `docs/PATH.md`, with nothing of a path before it.
fn named(line: &str) -> Vec<&str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '-' | '_');
    let begins = line.match_indices("docs/").filter(|(at, _)| !line[..*at].ends_with(is_path));
    begins
        .filter_map(|(at, _)| {
            let rest = &line[at..];
            let path = &rest[..rest.find(|c| !is_path(c)).unwrap_or(rest.len())];
            path.rfind(".md").map(|end| &path[..end + ".md".len()])
        })
        .collect()
}

/// Pages that the index leaves out.
fn left_out(root: &Path, documents: &[PathBuf]) -> io::Result<Vec<Finding>> {
    let Ok(index) = std::fs::read_to_string(root.join(INDEX)) else { return Ok(Vec::new()) };
    let listed: HashSet<PathBuf> = links(&index).map(|link| Path::new("docs").join(link.target)).collect();
    let pages = documents.iter().filter(|path| path.starts_with("docs") && *path != Path::new(INDEX));
    let missing = pages.filter(|path| !listed.contains(*path));
    let what = || format!("the page is not in {INDEX}, so the site does not have it");
    Ok(missing.map(|path| Finding { path: path.clone(), line: 0, what: what() }).collect())
}

/// A link: `[text](target)`.
struct Link<'t> {
    line: usize,
    target: &'t str,
}

/// The links of a document, outside of code.
fn links(text: &str) -> impl Iterator<Item = Link<'_>> {
    let mut is_code = false;
    text.lines().zip(1..).flat_map(move |(line, number)| {
        is_code ^= line.trim_start().starts_with("```");
        let found = if is_code { Vec::new() } else { targets(line) };
        found.into_iter().map(move |target| Link { line: number, target })
    })
}

/// What the links of a line point at.
fn targets(line: &str) -> Vec<&str> {
    let mut found = Vec::new();
    // Every second part is code.
    for part in line.split('`').step_by(2) {
        let mut rest = part;
        while let Some((_, behind)) = rest.split_once("](") {
            let Some((target, after)) = behind.split_once(')') else { break };
            found.push(target);
            rest = after;
        }
    }
    found
}

/// Why a link goes nowhere; None for one that does not, and for those to other places, which this does not follow.
fn broken(root: &Path, document: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, heading) = target.split_once('#').map_or((target, None), |(file, heading)| (file, Some(heading)));
    let linked = if file.is_empty() {
        document.to_path_buf()
    } else {
        normal(&document.parent().unwrap_or(Path::new("")).join(file))
    };
    if !root.join(&linked).exists() {
        return Some(format!("the link goes to {}, which is not there", linked.display()));
    }
    if document.starts_with("docs") && !linked.starts_with("docs") {
        return Some(format!("the site has no {}: name the file without a link", linked.display()));
    }
    let heading = heading?;
    let other = if file.is_empty() { text.to_owned() } else { std::fs::read_to_string(root.join(&linked)).ok()? };
    let has = other.lines().filter_map(|line| line.strip_prefix('#')).any(|line| anchor(line) == heading);
    (!has).then(|| format!("the link goes to #{heading}, a heading that {} does not have", linked.display()))
}

/// A path without `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut out, part| {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            part => out.push(part),
        }
        out
    })
}

/// What a heading is linked by: small letters and digits, hyphens in place of blanks.
fn anchor(heading: &str) -> String {
    let heading = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_that_go_nowhere_are_found() {
        let root = std::env::temp_dir().join(format!("pikepole-links-{}", std::process::id()));
        std::fs::create_dir_all(root.join("docs/use")).expect("a folder");
        let write = |name: &str, text: &str| std::fs::write(root.join(name), text).expect("a file");
        write("docs/SUMMARY.md", "- [one](use/one.md)\n");
        write(
            "docs/use/one.md",
            "# The one\n\n[a](#the-one) [b](#the-two) `[c](x.md)`\n```\n[d](y.md)\n```\n[`e`](../two.md#in-code) [f](z.md)\n\
             [h](../../top.md)\n",
        );
        write("top.md", "docs/two.md, `docs/three.md`. other/docs/four.md\n");
        write("docs/two.md", "## In `code`\n[g](https://example.org)\n");
        let findings = check(&root).expect("it can be read");
        std::fs::remove_dir_all(&root).expect("it was there");
        let told: Vec<String> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "docs/use/one.md:3: the link goes to #the-two, a heading that docs/use/one.md does not have",
                "docs/use/one.md:7: the link goes to docs/use/z.md, which is not there",
                "docs/use/one.md:8: the site has no top.md: name the file without a link",
                "docs/two.md:0: the page is not in docs/SUMMARY.md, so the site does not have it",
                "top.md:1: it names docs/three.md, which is not there",
            ]
        );
    }
}
