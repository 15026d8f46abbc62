//! Running the binary in a folder of the test's own.

use std::ffi::OsStr;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// A folder of its own for a test, removed at the end.
pub struct Folder(PathBuf);

impl Folder {
    /// An empty folder.
    pub fn new(name: &str) -> Folder {
        Folder::below(Path::new(env!("CARGO_TARGET_TMPDIR")), name)
    }

    /// An empty folder below another one than the build's.
    pub fn below(parent: &Path, name: &str) -> Folder {
        let path = parent.join(format!("pikepole-cli-{name}-{}", std::process::id()));
        // Left behind by an earlier run that was killed.
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The databases of the test.
    pub fn data(&self) -> PathBuf {
        self.0.join("data")
    }

    /// Writes a file into it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, content).expect("the file is written");
        path
    }

    /// The binary, started in this folder.
    pub fn command<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pikepole"));
        command.args(arguments).current_dir(&self.0).stdin(Stdio::null());
        command
    }

    /// Runs the binary in this folder to its end.
    pub fn run<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>) -> Done {
        Done::from(self.command(arguments).output().expect("the binary starts"))
    }

    /// Runs the binary with a text as its standard input.
    pub fn run_with_input<I: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = I>, input: &[u8]) -> Done {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary starts");
        let mut stdin = child.stdin.take().expect("it was asked for");
        stdin.write_all(input).expect("the binary reads its input");
        drop(stdin);
        Done::from(child.wait_with_output().expect("the binary ends"))
    }

    /// Runs T-SQL on the databases of the test.
    pub fn sql(&self, text: &str) -> Done {
        self.run(["sql", "-d", "data", "-Q", text])
    }

    /// Runs T-SQL that must do without an error.
    pub fn sql_clean(&self, text: &str) -> String {
        let done = self.sql(text);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{text}");
        done.out
    }

    /// The one number that a query returns.
    pub fn number(&self, query: &str) -> i64 {
        let done = self.run(["sql", "-d", "data", "--csv", "-Q", query]);
        assert_eq!((done.status, done.err.as_str()), (0, ""), "{query}");
        done.out.lines().nth(1).and_then(|line| line.parse().ok()).expect("a number")
    }

    /// Verifies the databases of the test.
    pub fn check(&self) -> Done {
        self.run(["check", "data"])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A folder that stays behind is found by the next run.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a run of the binary left.
#[derive(Debug)]
pub struct Done {
    /// Its exit status.
    pub status: i32,
    /// Its standard output.
    pub out: String,
    /// Its standard error.
    pub err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        let out = String::from_utf8(output.stdout).expect("text");
        let err = String::from_utf8(output.stderr).expect("text");
        assert!(!err.contains("panicked"), "{err}");
        let Some(status) = output.status.code() else { panic!("{}: {out}{err}", output.status) };
        Done { status, out, err }
    }
}

impl Done {
    /// Asserts that it failed, and that standard error has a line that begins so.
    #[track_caller]
    pub fn failed_with(&self, line: &str) {
        assert_eq!(self.status, 1, "{self:?}");
        assert!(self.err.lines().any(|each| each.starts_with(line)), "{line}\n{}{}", self.out, self.err);
    }

    /// Asserts that it failed without a result, with exactly this on standard error.
    #[track_caller]
    pub fn failed_saying(&self, text: &str) {
        assert_eq!((self.status, self.out.as_str(), self.err.as_str()), (1, "", text));
    }
}
