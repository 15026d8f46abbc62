//! `cargo xtask tidy`: the checks of the source tree, for people. `cargo xtask instructions`: what an inserted row costs; with
//! `--wire`, a call over the wire.
//! `cargo xtask profile`: the profile that optimised builds use, made from a run of the program.
//! `cargo xtask picture FILE ARGUMENTS...`: what the release build prints, as a picture for documents.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use xtask::instructions::Loop;

fn main() -> ExitCode {
    match std::env::args().nth(1).as_deref() {
        Some("tidy") => tidy(),
        Some("instructions") => instructions(std::env::args().skip(2)),
        Some("profile") => profile(),
        Some("picture") => picture(&std::env::args().skip(2).collect::<Vec<_>>()),
        _ => {
            eprintln!(
                "usage: cargo xtask tidy | instructions [PROGRAM] [--memory | --native-row | --native-loop | --wire [CALL]] | profile | picture FILE ARGUMENTS..."
            );
            ExitCode::from(2)
        }
    }
}

/// The folder of builds.
fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| xtask::root().join("target"), PathBuf::from)
}

/// The release build's program.
fn built() -> PathBuf {
    target().join("release/pikepole")
}

fn profile() -> ExitCode {
    match xtask::profile::make(&xtask::root(), &target()) {
        Ok(profile) => {
            println!("{}", profile.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("cannot make the profile: {error}");
            ExitCode::FAILURE
        }
    }
}

fn picture(words: &[String]) -> ExitCode {
    let [file, arguments @ ..] = words else {
        eprintln!("usage: cargo xtask picture FILE ARGUMENTS...");
        return ExitCode::from(2);
    };
    let program = std::env::var_os("PIKEPOLE_BINARY").map_or_else(built, PathBuf::from);
    let typed = format!("pikepole {}", arguments.join(" "));
    match xtask::picture::draw(Path::new(file), &typed, Command::new(program).arg0("pikepole").args(arguments)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("cannot draw {file}: {error}");
            ExitCode::FAILURE
        }
    }
}

/// `[PROGRAM] [--wire [CALL]]`: with a call's name, or a part of it, its functions are told too.
fn instructions(mut words: impl Iterator<Item = String>) -> ExitCode {
    let mut word = words.next();
    let program = word.take_if(|word| !word.starts_with("--")).map_or_else(built, PathBuf::from);
    let word = word.or_else(|| words.next());
    let counted = match word.as_deref() {
        Some("--wire") => xtask::wire::count(&program, Path::new("."), words.next().as_deref()),
        word => {
            let of = word.map_or(Some(Loop::Ordinary), Loop::of);
            let of =
                of.ok_or_else(|| std::io::Error::other(format!("{} is none of the loops", word.unwrap_or_default())));
            of.and_then(|of| xtask::instructions::count(&program, Path::new("."), of)).map(|report| report.to_string())
        }
    };
    match counted {
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
