//! The examples of this crate, which `cargo test` builds, run as programs.

use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An example's program, beside the tests'.
fn example(name: &str) -> Command {
    let own = std::env::current_exe().expect("this program has a path");
    let folder = own.ancestors().nth(2).map(PathBuf::from).expect("it lies in deps");
    let program = folder.join("examples").join(name);
    assert!(program.exists(), "{} is not there: `cargo test -p pikepole-embedded` makes it", program.display());
    Command::new(program)
}

#[test]
fn embedding_prints_what_it_finds() {
    let ran = example("embedding").output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    let expected = "bridge: 2 readings, 11.8 degrees on average\nsluice: 1 readings, 9.8 degrees on average\n\
                    weir: 1 readings without a value\nwarmest: bridge\n";
    assert_eq!(said, expected, "{}", String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success());
}

#[test]
fn serving_listens_until_its_input_ends() {
    let ran = example("serving").stdin(Stdio::null()).output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with("python3 examples/python/orders.py ") && lines[0].ends_with(" deep-Water7"), "{said}");
    assert_eq!(lines[1..], ["tables in master at the end: 0"], "{said}");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
