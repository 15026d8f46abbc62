//! The README's example of embedding, compiled and run: its lines are those between the marks below.

use std::path::Path;

#[rustfmt::skip]
fn example() -> Result<(), pikepole_embedded::Error> {
    // begin
use pikepole_embedded::{Engine, Options, params};

let engine = Engine::open(Options::new("./data"))?; // or Engine::in_memory()
let mut connection = engine.connect_blocking()?;
connection.execute("CREATE TABLE dbo.reading (id int PRIMARY KEY, celsius float NOT NULL)", [])?;
connection.execute("INSERT dbo.reading VALUES (@id, @celsius)", params![@id = 1, @celsius = 21.5])?;
for row in &connection.query("SELECT id, celsius FROM dbo.reading", [])? {
    println!("{} {}", row.get::<i32>("id")?, row.get::<f64>("celsius")?);
}
    // end
    Ok(())
}

/// The README.
const README: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../README.md"));

#[test]
fn the_example_is_the_one_of_the_readme() {
    let own = include_str!("readme.rs");
    let lines =
        own.split_once("// begin\n").and_then(|(_, rest)| rest.split_once("    // end\n")).map(|(lines, _)| lines);
    let shown = README.split_once("```rust\n").and_then(|(_, rest)| rest.split_once("```")).map(|(lines, _)| lines);
    assert!(lines.is_some());
    assert_eq!(shown, lines);
}

#[test]
fn the_example_runs() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("pikepole-readme-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    std::env::set_current_dir(&folder).expect("the folder is there");
    let ran = example();
    std::env::set_current_dir("/").expect("the root is there");
    std::fs::remove_dir_all(&folder).expect("the folder is there");
    ran.expect("it runs");
}

#[test]
fn the_readme_stays_short() {
    let words = README.split_whitespace().count();
    assert!(words <= 900, "README.md has {words} words: docs/ is the place for more");
}
