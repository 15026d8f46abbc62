//! What the server makes is its owner's alone, whatever the umask says.

use crate::tool::Folder;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The binary, started with a umask.
fn under(umask: &str, folder: &Folder, arguments: &[&str]) -> Command {
    let mut command = Command::new("sh");
    let binary = env!("CARGO_BIN_EXE_pikepole");
    command.args(["-c", "umask \"$0\" && exec \"$@\"", umask, binary]).args(arguments);
    command.current_dir(folder.path()).stdin(Stdio::null());
    command
}

/// Starts a server, waits until it listens, and ends it in order.
fn serve(umask: &str, folder: &Folder) {
    let arguments = ["serve", "-d", "data", "--listen", "127.0.0.1:0"];
    let mut server = under(umask, folder, &arguments)
        .env("PIKEPOLE_SA_PASSWORD", "Deep water 7")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("it starts");
    let mut line = String::new();
    BufReader::new(server.stdout.take().expect("it was asked for")).read_line(&mut line).expect("a line");
    assert!(line.starts_with("listening at "), "{line:?}");
    let pid = libc::pid_t::try_from(server.id()).expect("a process id");
    // SAFETY: the call takes no memory; the process is this test's own child, which has not been waited for.
    assert_eq!(unsafe { libc::kill(pid, libc::SIGTERM) }, 0);
    assert!(server.wait().expect("it ends").success());
}

/// Everything below a folder, itself included.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![folder.to_path_buf()];
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() { found.extend(all(&path)) } else { found.push(path) }
    }
    found
}

fn open_to_others(folder: &Folder) -> Vec<PathBuf> {
    let is_open = |path: &PathBuf| path.symlink_metadata().expect("it is there").mode() & 0o077 != 0;
    all(&folder.data()).into_iter().filter(is_open).collect()
}

#[test]
fn everything_that_is_made_is_the_owners_alone() {
    for umask in ["000", "022"] {
        let folder = Folder::new(&format!("modes-{umask}"));
        let script = "CREATE DATABASE d; ALTER DATABASE d SET RECOVERY FULL;
            CREATE TABLE d.dbo.t (i int); INSERT d.dbo.t VALUES (1); SELECT i INTO #t FROM d.dbo.t;
            CREATE LOGIN ada WITH PASSWORD = 'Lovelace 1815';
            BACKUP DATABASE d TO DISK = 'd.bak'; BACKUP LOG d TO DISK = 'd.bak';
            RESTORE DATABASE e FROM DISK = 'd.bak'; SELECT COUNT(*) FROM msdb.dbo.backupset;
            ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = 0";
        let done = under(umask, &folder, &["sql", "-d", "data", "-b", "-Q", script]).output().expect("it starts");
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        serve(umask, &folder);
        serve(umask, &folder);
        assert_eq!(open_to_others(&folder), [] as [PathBuf; 0], "umask {umask}");
        for made in
            ["backup/d.bak", "error.log", "error.log.1", "server-key.pem", "server-certificate.pem", "pikepole.toml"]
        {
            assert!(folder.data().join(made).is_file(), "{made}");
        }
    }
}

#[test]
fn modes_that_are_wider_are_said_and_left() {
    let folder = Folder::new("modes-wide");
    serve("022", &folder);
    let log = || std::fs::read_to_string(folder.data().join("error.log")).expect("a log");
    assert!(!log().contains("by others than their owner"), "{}", log());
    std::fs::set_permissions(folder.data(), std::fs::Permissions::from_mode(0o755)).expect("a mode");
    serve("022", &folder);
    assert!(
        log().contains("1 files and folders can be read or changed by others than their owner, data first"),
        "{}",
        log()
    );
    assert_eq!(folder.data().metadata().expect("it is there").mode() & 0o777, 0o755, "it is the user's to change");
}
