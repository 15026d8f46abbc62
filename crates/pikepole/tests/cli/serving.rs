//! A server that a test starts as its users do: options, variables, what it says on either stream.

use crate::tool::{Done, Folder};
use std::fs::File;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// The password that tests give to `sa`.
pub const PASSWORD: &str = "deep-Water7";

/// A server in the folder `data` of a test's folder.
pub struct Serving<'a> {
    folder: &'a Folder,
    program: Child,
    name: String,
    /// Where it listens; empty when it has ended before.
    pub address: String,
}

/// What starts it, with the two streams going to files.
fn command(folder: &Folder, name: &str, variables: &[(&str, &str)], arguments: &[&str]) -> Command {
    let file = |ending: &str| File::create(folder.path().join(format!("{name}.{ending}"))).expect("a file");
    let mut command = folder.command([&["serve"], arguments].concat());
    command.envs(variables.iter().copied()).stdout(file("out")).stderr(file("err"));
    command
}

impl<'a> Serving<'a> {
    /// Starts it and waits until it is ready. `-d data --listen 127.0.0.1:0` unless the arguments have others.
    pub fn start(folder: &'a Folder, variables: &[(&str, &str)], arguments: &[&str]) -> Serving<'a> {
        let own = ["-d", "data", "--listen", "127.0.0.1:0"];
        Serving::start_bare(folder, variables, &[&own, arguments].concat())
    }

    /// The same without options that were not asked for.
    pub fn start_bare(folder: &'a Folder, variables: &[(&str, &str)], arguments: &[&str]) -> Serving<'a> {
        let mut serving = Serving::spawn(folder, variables, arguments);
        serving.wait_for_out("Recovery is complete.");
        let place = "listening at ";
        let out = serving.out();
        let line = out.lines().find_map(|line| line.split_once(place)).map(|(_, rest)| rest.to_owned());
        let end = |c: char| c == '"' || c.is_whitespace();
        serving.address = line.and_then(|rest| rest.split(end).next().map(str::to_owned)).expect("an address");
        serving
    }

    /// Starts it without waiting.
    pub fn spawn(folder: &'a Folder, variables: &[(&str, &str)], arguments: &[&str]) -> Serving<'a> {
        let name = format!("serve-{}", std::fs::read_dir(folder.path()).expect("a folder").count());
        let program = command(folder, &name, variables, arguments).spawn().expect("the binary starts");
        Serving { folder, program, name, address: String::new() }
    }

    /// Runs one that must end by itself.
    pub fn run(folder: &Folder, variables: &[(&str, &str)], arguments: &[&str]) -> Done {
        let mut serving = Serving::spawn(folder, variables, arguments);
        let status = serving.program.wait().expect("it ends");
        Done { status: status.code().unwrap_or(-1), out: serving.out(), err: serving.err() }
    }

    fn read(&self, ending: &str) -> String {
        std::fs::read_to_string(self.folder.path().join(format!("{}.{ending}", self.name))).expect("text")
    }

    /// What it has said on standard output.
    pub fn out(&self) -> String {
        self.read("out")
    }

    /// What it has said on standard error.
    pub fn err(&self) -> String {
        self.read("err")
    }

    /// Waits until standard output has this.
    #[track_caller]
    pub fn wait_for_out(&mut self, text: &str) {
        self.wait_for(text, Serving::out);
    }

    /// Waits until standard error has this.
    #[track_caller]
    pub fn wait_for_err(&mut self, text: &str) {
        self.wait_for(text, Serving::err);
    }

    #[track_caller]
    fn wait_for(&mut self, text: &str, said: fn(&Self) -> String) {
        let begun = Instant::now();
        while !said(self).contains(text) {
            let ended = self.program.try_wait().expect("it is ours");
            let is_late = begun.elapsed() > Duration::from_secs(60);
            assert!(ended.is_none() && !is_late, "no {text:?}, {ended:?}: {}{}", self.out(), self.err());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Runs a query as a login; the lines of its result as CSV.
    pub fn query_as(&self, login: &str, password: &str, query: &str) -> Done {
        let arguments =
            ["sql", "-S", &self.address, "-U", login, "-P", password, "--encrypt", "off", "--csv", "-Q", query];
        self.folder.run(arguments)
    }

    /// The first field of the first row of a query of `sa`.
    #[track_caller]
    pub fn value(&self, query: &str) -> String {
        let done = self.query_as("sa", PASSWORD, query);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{query}: {}", self.err());
        done.out.lines().nth(1).unwrap_or_default().to_owned()
    }

    /// Sends a signal.
    pub fn signal(&self, signal: libc::c_int) {
        // SAFETY: the process is our child and has not been waited for, so the number is its own.
        unsafe { libc::kill(self.program.id() as i32, signal) };
    }

    /// Ends it in order; what it has said on both streams.
    pub fn end(mut self) -> Done {
        self.signal(libc::SIGTERM);
        let status = self.program.wait().expect("it ends");
        let done = Done { status: status.code().unwrap_or(-1), out: self.out(), err: self.err() };
        assert!(!done.err.contains("panicked"), "{done:?}");
        done
    }

    /// Kills it.
    pub fn kill(mut self) {
        self.signal(libc::SIGKILL);
        self.program.wait().expect("it ends");
    }
}

impl Drop for Serving<'_> {
    fn drop(&mut self) {
        // One that was waited for already is no process any more.
        if matches!(self.program.try_wait(), Ok(None)) {
            let _ = self.program.kill();
            let _ = self.program.wait();
        }
    }
}
