//! `cargo xtask tidy`: the checks of the source tree, for people. `cargo xtask instructions`: what an inserted row costs.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy(),
        Some("instructions") => instructions(std::env::args_os().nth(2).map(PathBuf::from)),
        _ => {
            eprintln!("usage: cargo xtask tidy | instructions [PROGRAM]");
            ExitCode::from(2)
        }
    }
}

fn instructions(program: Option<PathBuf>) -> ExitCode {
    let built = || {
        let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| xtask::root().join("target"), PathBuf::from);
        target.join("release/pikepole")
    };
    match xtask::instructions::count(&program.unwrap_or_else(built), Path::new(".")) {
        Ok(report) => {
            print!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot count: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tidy() -> ExitCode {
    match xtask::tidy(&xtask::root()) {
        Ok(findings) if findings.is_empty() => {
            println!("tidy");
            ExitCode::SUCCESS
        }
        Ok(findings) => {
            for finding in &findings {
                println!("{finding}");
            }
            println!("{} findings", findings.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("cannot read the tree: {error}");
            ExitCode::FAILURE
        }
    }
}
