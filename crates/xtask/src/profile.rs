//! `cargo xtask profile`: makes `profile/release.profdata`, which optimised builds use, from a run of the program.
//!
//! ```text
//!   build that counts ──► transactions and queries over the wire, rows in a loop ──► counts of each run ──► one file
//! ```
//! The counts of a function are found again by its symbol's name, which depends on the compiler and on the settings of the release
//! profile, not on the folder of the clone. Functions that did not run are left out: they are compiled as they always were.

use std::io;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

/// The workloads of `crates/oltp`.
const WORKLOADS: [&str; 5] = ["tpcc", "tatp", "smallbank", "ycsb-a", "ycsb-b"];
/// The scale of TPC-H.
const SCALE: &str = "0.1";
const PASSWORD: &str = "Correct horse 1";
/// Rows of in-memory tables that natively compiled procedures look up and change.
const ROWS_BY_KEY: &str = include_str!("../scripts/rows_by_key.sql");

/// A server of the build that counts; it writes its counts when it ends.
struct Server {
    process: Child,
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        // After an error its counts are not wanted; one that has ended already is as good.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Makes the profile of the tree at `root`, with its builds and databases below `target`.
///
/// # Errors
/// Where a build fails, or the program, or `llvm-profdata` is not there: the one of the compiler's own LLVM or a newer one, from rustup's
/// component llvm-tools, from the path, or named by LLVM_PROFDATA.
pub fn make(root: &Path, target: &Path) -> io::Result<PathBuf> {
    let merge = profdata()?;
    let folder = target.join("profile");
    let [counts, data] = ["counts", "data"].map(|name| folder.join(name));
    for old in [&counts, &data] {
        if old.exists() {
            std::fs::remove_dir_all(old)?;
        }
    }
    std::fs::create_dir_all(&data)?;
    step("building the program that counts", || {
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "-p", "pikepole"]).current_dir(root);
        // What the compiler runs at build time is not the program.
        build.env("PIKEPOLE_PROFILE_GENERATE", &counts).env("CARGO_TARGET_DIR", &folder);
        run(&mut build)
    })?;
    train(root, &folder.join("release/pikepole"), &data)?;
    let profile = root.join("profile/release.profdata");
    step("merging", || {
        let raw = std::fs::read_dir(&counts)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>()?;
        run(Command::new(&merge).args(["merge", "--sparse", "-o"]).arg(&profile).args(raw))
    })?;
    std::fs::remove_dir_all(&data)?;
    Ok(profile)
}

/// Has the program do what its users have it do.
fn train(root: &Path, program: &Path, data: &Path) -> io::Result<()> {
    let password = data.join("password");
    std::fs::write(&password, PASSWORD)?;
    let password = password.display().to_string();
    let mut server = start(program, &data.join("server"))?;
    let address = server.address.clone();
    let beside = |name: &str, arguments: &[&str]| {
        let mut command = Command::new("cargo");
        let manifest = root.join("crates").join(name).join("Cargo.toml");
        command.args(["run", "--release", "--quiet", "--manifest-path"]).arg(manifest).arg("--").args(arguments);
        run(command.args(["--pikepole", &address, "--password-file", &password]))
    };
    for workload in WORKLOADS {
        step(workload, || {
            beside("oltp", &["run", "--workload", workload, "--terminals", "8", "--seconds", "8", "--rounds", "1"])
        })?;
    }
    let files = data.join("files").display().to_string();
    step("TPC-H", || {
        beside("tpch", &["load", "--scale", SCALE, "--folder", &files])?;
        beside("tpch", &["run", "--rounds", "1"])
    })?;
    step("the server's end", || {
        run(Command::new("kill").arg(server.process.id().to_string()))?;
        server.process.wait().map(drop)
    })?;
    let loops: [&[&str]; 6] = [
        &["-n", "2", "--durability", "delayed"],
        &["-n", "8", "--durability", "full"],
        &["-n", "2", "--durability", "delayed", "--table", "memory"],
        &["-n", "2", "--durability", "delayed", "--table", "memory", "--native", "row"],
        &["-n", "2", "--durability", "delayed", "--table", "memory", "--native", "loop"],
        &["-n", "2", "--durability", "delayed", "--table", "schema-only", "--native", "loop"],
    ];
    for arguments in loops {
        step(&format!("rows in a loop {}", arguments.join(" ")), || {
            let mut stress = Command::new(program);
            run(stress.arg("stress").args(arguments).args(["--seconds", "3"]).current_dir(data))
        })?;
    }
    let rows = data.join("rows_by_key.sql");
    std::fs::write(&rows, ROWS_BY_KEY)?;
    step("rows by their keys", || {
        let mut sql = Command::new(program);
        run(sql.args(["sql", "--stop-on-error", "-d"]).arg(data.join("keys")).arg("-i").arg(&rows))
    })?;
    Ok(())
}

fn start(program: &Path, folder: &Path) -> io::Result<Server> {
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?.to_string();
    let mut serve = Command::new(program);
    serve.arg("serve").arg("-d").arg(folder).args(["--listen", &address, "--tls", "off"]);
    serve.env("MSSQL_SA_PASSWORD", PASSWORD).stdout(Stdio::null()).stderr(Stdio::null());
    let server = Server { process: serve.spawn()?, address };
    run(Command::new(program).args(["ping", "--wait", "120", &server.address]))?;
    Ok(server)
}

/// The program that merges counts.
fn profdata() -> io::Result<PathBuf> {
    if let Some(named) = std::env::var_os("LLVM_PROFDATA") {
        return Ok(named.into());
    }
    let told = |argument: [&str; 2]| {
        let output = Command::new("rustc").args(argument).output()?;
        Ok::<String, io::Error>(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (sysroot, host) = (told(["--print", "sysroot"])?, told(["--print", "host-tuple"])?);
    let own = Path::new(&sysroot).join("lib/rustlib").join(host).join("bin/llvm-profdata");
    Ok(if own.exists() { own } else { "llvm-profdata".into() })
}

/// Does a part of the work, and tells how long it took.
fn step(name: &str, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    eprintln!("{name} ...");
    let begun = Instant::now();
    work()?;
    eprintln!("{name}: {:.0} s", begun.elapsed().as_secs_f64());
    Ok(())
}

/// Runs a command to its end.
fn run(command: &mut Command) -> io::Result<()> {
    let name = command.get_program().to_owned();
    match command.stdout(Stdio::null()).status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(io::Error::other(format!("{name:?}: {status}"))),
        Err(error) => Err(io::Error::new(error.kind(), format!("{name:?}: {error}"))),
    }
}
