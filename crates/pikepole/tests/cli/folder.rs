//! Folders that cannot be used: open elsewhere, read-only, not a folder.

use crate::tool::{Done, Folder};
use pikepole::{Engine, Error, Options};
use std::fs::Permissions;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The user id that owns nothing.
const NOBODY: u32 = 65534;

#[test]
fn a_folder_that_is_open_elsewhere_names_the_process() {
    let folder = Folder::new("busy");
    let options = || Options::new(folder.data()).buffer_pool_bytes(16 << 20);
    let engine = Engine::open(options()).expect("the folder is free");
    let pid = std::process::id();
    let commands: [&[&str]; 3] =
        [&["sql", "-d", "data", "-Q", "PRINT 1"], &["check", "data"], &["stress", "-d", "data", "-r", "1"]];
    for arguments in commands {
        let done = folder.run(arguments);
        assert_eq!((done.status, done.out.as_str()), (1, ""));
        let expected = "pikepole: the folder data is in use by another server:";
        assert!(done.err.starts_with(expected) && done.err.ends_with(&format!("process {pid}\n")), "{}", done.err);
    }
    let Err(Error::Open(why)) = Engine::open(options()) else { panic!("one process has it once") };
    assert!(why.contains("this process"), "{why}");
    // Whoever was refused has taken nothing from the one that has it.
    let mut connection = engine.connect_blocking().expect("it is open");
    connection
        .execute("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY); INSERT dbo.t VALUES (1)", &[])
        .expect("it works");
    drop(connection);
    engine.shutdown().expect("it closes");
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.t"), 1);
}

/// Runs the binary as somebody whom permission bits bind.
fn run_bound(folder: &Folder, arguments: &[&str]) -> Done {
    // SAFETY: the call takes nothing and cannot fail.
    if unsafe { libc::geteuid() } != 0 {
        return folder.run(arguments);
    }
    // Through a descriptor: the way to the binary may be closed to that user.
    let binary = std::fs::File::open(env!("CARGO_BIN_EXE_pikepole")).expect("the binary is there");
    let mut command = Command::new(format!("/proc/self/fd/{}", binary.as_raw_fd()));
    command.args(arguments).current_dir(folder.path()).uid(NOBODY).gid(NOBODY);
    Done::from(command.output().expect("the binary starts"))
}

#[test]
fn a_read_only_folder_is_named() {
    // Below the system's folder for temporary files, which all users may enter.
    let folder = Folder::below(&std::env::temp_dir(), "read-only");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    folder.sql_clean("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);\nINSERT dbo.t VALUES (1);");
    let close = |mode: u32, file_mode: u32| {
        for path in [folder.path().to_path_buf(), folder.path().join("empty"), folder.data()] {
            std::fs::set_permissions(path, Permissions::from_mode(mode)).expect("the folder is ours");
        }
        std::fs::set_permissions(folder.data().join("lock"), Permissions::from_mode(file_mode))
            .expect("the file is ours");
    };
    close(0o555, 0o444);
    let commands: [&[&str]; 4] = [
        &["sql", "-d", "new", "-Q", "PRINT 1"],
        &["sql", "-d", "empty", "-Q", "PRINT 1"],
        &["sql", "-d", "data", "-Q", "SELECT id FROM dbo.t"],
        &["check", "data"],
    ];
    let results: Vec<Done> = commands.iter().map(|arguments| run_bound(&folder, arguments)).collect();
    close(0o755, 0o644);
    for (arguments, done) in commands.iter().zip(results) {
        assert_eq!((done.status, done.out.as_str()), (1, ""), "{arguments:?}");
        let name = arguments.iter().find(|name| ["new", "empty", "data"].contains(name)).expect("a folder");
        assert!(done.err.starts_with(&format!("pikepole: the folder {name} cannot be used: ")), "{}", done.err);
        assert!(done.err.ends_with("Permission denied (os error 13)\n"), "{}", done.err);
    }
    assert_eq!(folder.number("SELECT id FROM dbo.t"), 1);
}

#[test]
fn what_is_no_folder_is_named() {
    let folder = Folder::new("no-folder");
    folder.write("file", "text");
    for arguments in [&["sql", "-d", "file", "-Q", "PRINT 1"][..], &["check", "file"], &["stress", "-d", "file"]] {
        folder.run(arguments).failed_saying("pikepole: file is a file, not a folder\n");
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("file")).expect("it is there"), "text");
    for place in ["file/data", "/proc/nothing"] {
        let done = folder.run(["sql", "-d", place, "-Q", "PRINT 1"]);
        assert_eq!((done.status, done.out.as_str()), (1, ""));
        assert!(done.err.starts_with("pikepole: the folder ") && done.err.contains(place), "{}", done.err);
    }
}
