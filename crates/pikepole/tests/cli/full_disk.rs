//! No room: error 1105 or 9002 for the statement, which leaves nothing behind; reading goes on, and writing when there is
//! room again.
//!
//! A limit on the size of files stands for the full disk where only the data file or only the log is to meet it; it is
//! raised while the server runs. A small file system of its own is the real thing, where mounting one is allowed.

use crate::tool::{Done, Folder};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

/// A script's way to wait for room: it tries until an insert succeeds, some seconds at the most.
const UNTIL_THERE_IS_ROOM: &str = "
SET NOCOUNT ON;
DECLARE @tries int = 0, @done bit = 0;
WHILE @done = 0 AND @tries < 1000
BEGIN
    BEGIN TRY
        INSERT dbo.filled VALUES (-1, REPLICATE('z', 7000));
        SET @done = 1;
    END TRY
    BEGIN CATCH
        SET @tries += 1;
        WAITFOR DELAY '00:00:00.010';
    END CATCH;
END;
PRINT CONCAT('room: ', @done);
";

const TABLES: &str = "
SET NOCOUNT ON;
CREATE TABLE dbo.kept (id int NOT NULL PRIMARY KEY, n int NOT NULL);
INSERT dbo.kept VALUES (1, 0);
CREATE TABLE dbo.spare (id int NOT NULL PRIMARY KEY, text char(7000) NOT NULL);
CREATE TABLE dbo.filled (id int NOT NULL PRIMARY KEY, text char(7000) NOT NULL);
DECLARE @i int = 0;
WHILE @i < 100 BEGIN INSERT dbo.spare VALUES (@i, REPLICATE('s', 7000)); SET @i += 1; END;
GO
ALTER DATABASE master SET DELAYED_DURABILITY = FORCED;
GO
";

/// Starts a script in which no file may be longer than `bytes`.
fn start_limited(folder: &Folder, script: &str, bytes: u64) -> Child {
    let mut command = folder.command(["sql", "-d", "data", "-Q", script]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let limit = libc::rlimit { rlim_cur: bytes, rlim_max: libc::RLIM_INFINITY };
    // SAFETY: between fork and exec only these two calls are made; both are safe to make there and neither allocates.
    unsafe {
        command.pre_exec(move || {
            // The refused write is to fail, not to end the process.
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            match libc::setrlimit(libc::RLIMIT_FSIZE, &raw const limit) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            }
        });
    }
    command.spawn().expect("the binary starts")
}

/// Takes the limit away when the script prints `full`, and waits for its end.
fn raise_when_full(mut child: Child) -> Done {
    // Read beside it: a script with many errors would wait for somebody to take them.
    let mut errors = child.stderr.take().expect("it was asked for");
    let errors = std::thread::spawn(move || {
        let mut err = String::new();
        errors.read_to_string(&mut err).map(|_| err)
    });
    let mut out = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("it was asked for"));
    while !out.ends_with("full\n") {
        assert_ne!(lines.read_line(&mut out).expect("text"), 0, "{out}");
    }
    let limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
    let pid = libc::pid_t::try_from(child.id()).expect("a process id");
    // SAFETY: `limit` is alive during the call; the old limit is not asked for.
    let raised = unsafe { libc::prlimit(pid, libc::RLIMIT_FSIZE, &raw const limit, std::ptr::null_mut()) };
    assert_eq!(raised, 0, "{}", std::io::Error::last_os_error());
    lines.read_to_string(&mut out).expect("text");
    let mut output = child.wait_with_output().expect("the binary ends");
    output.stdout = out.into_bytes();
    output.stderr = errors.join().expect("it only reads").expect("text").into_bytes();
    Done::from(output)
}

/// The number after a name in what the script printed.
#[track_caller]
fn printed(done: &Done, name: &str) -> i64 {
    let line = done.out.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.and_then(|number| number.parse().ok()).unwrap_or_else(|| panic!("no {name} in {done:?}"))
}

#[test]
fn a_data_file_that_cannot_grow() {
    let folder = Folder::new("data-full");
    let script = format!(
        "{TABLES}
SET NOCOUNT ON;
DECLARE @i int = 0, @error int = 0;
WHILE @error = 0
BEGIN
    INSERT dbo.filled VALUES (@i, REPLICATE('x', 7000));
    SET @error = @@ERROR;
    IF @error = 0 SET @i += 1;
END;
PRINT CONCAT('acknowledged: ', @i);
GO
DECLARE @counted int = (SELECT COUNT(*) FROM dbo.filled WHERE text = REPLICATE('x', 7000));
DECLARE @kept int = (SELECT COUNT(*) FROM dbo.kept);
PRINT CONCAT('counted: ', @counted);
PRINT CONCAT('kept: ', @kept);
GO
SET NOCOUNT ON;
DROP TABLE dbo.spare;
GO
{UNTIL_THERE_IS_ROOM}
GO
SET NOCOUNT ON;
DELETE dbo.filled WHERE id = -1;
DECLARE @i int = 1000000;
WHILE @i < 1001000
BEGIN
    BEGIN TRY
        INSERT dbo.filled VALUES (@i, REPLICATE('y', 7000));
    END TRY
    BEGIN CATCH
        BREAK;
    END CATCH;
    SET @i += 1;
END;
PRINT CONCAT('more: ', @i - 1000000);
PRINT 'full';
GO
{UNTIL_THERE_IS_ROOM}
GO
DECLARE @end int = (SELECT COUNT(*) FROM dbo.filled);
PRINT CONCAT('end: ', @end);"
    );
    let done = raise_when_full(start_limited(&folder, &script, 40 << 20));
    assert_eq!(done.status, 1);
    assert_eq!(
        done.err,
        "Msg 1105, Level 17, State 2, Line 17\n\
         Could not allocate space for object 'dbo.filled' in database 'master' because the 'PRIMARY' filegroup is full. \
         Create disk space by deleting unneeded files, dropping objects in the filegroup, adding additional files to the \
         filegroup, or setting autogrowth on for existing files in the filegroup.\n"
    );
    let (acknowledged, more) = (printed(&done, "acknowledged"), printed(&done, "more"));
    assert!(acknowledged > 4_000, "{acknowledged} pages of 40 MB");
    assert_eq!(printed(&done, "counted"), acknowledged);
    assert_eq!(printed(&done, "kept"), 1);
    assert!((50..1000).contains(&more), "what was dropped is used again: {more}");
    assert_eq!(done.out.matches("room: 1\n").count(), 2, "{}", done.out);
    assert_eq!(printed(&done, "end"), acknowledged + more + 1);
    assert_eq!(folder.check().status, 0);
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.filled"), acknowledged + more + 1);
}

/// Fills the log with one transaction; then the room comes from its rollback, and more from the disk.
fn log_script() -> String {
    format!(
        "{TABLES}
SET NOCOUNT ON;
DECLARE @i int = 0, @error int = 0;
BEGIN TRANSACTION;
UPDATE dbo.kept SET n = 1;
WHILE @error = 0
BEGIN
    UPDATE dbo.spare SET text = REPLICATE(CHAR(97 + @i % 26), 7000) WHERE id = @i % 100;
    SET @error = @@ERROR;
    SET @i += 1;
END;
PRINT CONCAT('open: ', @@TRANCOUNT);
GO
DECLARE @read int = (SELECT COUNT(*) FROM dbo.spare);
ROLLBACK TRANSACTION;
DECLARE @kept int = (SELECT n FROM dbo.kept);
DECLARE @undone int = (SELECT COUNT(*) FROM dbo.spare WHERE text = REPLICATE('s', 7000));
PRINT CONCAT('read: ', @read);
PRINT CONCAT('kept: ', @kept);
PRINT CONCAT('undone: ', @undone);
PRINT 'full';
GO
{UNTIL_THERE_IS_ROOM}"
    )
}

#[track_caller]
fn log_was_full_and_is_not_any_more(done: &Done) {
    assert_eq!(
        done.err,
        "Msg 9002, Level 17, State 4, Line 19\n\
         The transaction log for database 'master' is full due to 'ACTIVE_TRANSACTION'.\n"
    );
    let numbers = ["open", "read", "kept", "undone", "room"].map(|name| printed(done, name));
    assert_eq!(numbers, [1, 100, 0, 100, 1], "{}", done.out);
}

#[test]
fn a_log_that_cannot_grow() {
    let folder = Folder::new("log-full");
    // Segments grow with the log: the fourth one would be longer.
    let done = raise_when_full(start_limited(&folder, &log_script(), 36 << 20));
    assert_eq!(done.status, 1);
    log_was_full_and_is_not_any_more(&done);
    assert_eq!(folder.check().status, 0);
    assert_eq!(folder.number("SELECT COUNT(*) FROM dbo.filled"), 1);
}

/// Runs a shell script as root of a mount namespace of its own, whose mounts end with it.
fn in_namespace(folder: &Folder, script: &str) -> std::process::Output {
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", env!("CARGO_BIN_EXE_pikepole")]);
    command.current_dir(folder.path()).output().expect("sh and unshare are there")
}

#[test]
fn a_log_that_cannot_grow_is_used_again_after_checkpoints() {
    let folder = Folder::new("log-again");
    // Some 100 MB of log, where at most 64 MB fit: whoever finds it full waits for the checkpoint that makes room.
    let script = format!(
        "{TABLES}
SET NOCOUNT ON;
DECLARE @i int = 0;
WHILE @i < 8000
BEGIN
    UPDATE dbo.spare SET text = REPLICATE(CHAR(97 + @i % 26), 7000) WHERE id = @i % 100;
    SET @i += 1;
END;
PRINT CONCAT('turns: ', @i);
PRINT 'full';"
    );
    let done = raise_when_full(start_limited(&folder, &script, 36 << 20));
    assert_eq!((done.status, done.err.as_str()), (0, ""));
    assert_eq!(printed(&done, "turns"), 8000);
    assert_eq!(folder.check().status, 0);
}

#[test]
fn a_full_file_system() {
    let folder = Folder::new("disk-full");
    let mount = "mkdir -p disk && mount -t tmpfs -o size=";
    let probe = in_namespace(&folder, &format!("{mount}1m pikepole disk"));
    if !probe.status.success() {
        // The limits above have shown the same without a mount.
        println!("no file system of its own: {}", String::from_utf8_lossy(&probe.stderr));
        return;
    }
    folder.write("log.sql", log_script());
    // Too small for a database, then room for one, filled by its log, then more while it runs.
    let script = format!(
        "{mount}8m pikepole disk || exit 9
         \"$1\" sql -d disk/data -Q 'PRINT 1' >small.out 2>small.err; echo $? >>small.out
         mount -o remount,size=64m disk || exit 9
         \"$1\" sql -d disk/data -i log.sql 2>log.err | while read -r line; do
             echo \"$line\"
             if [ \"$line\" = full ]; then mount -o remount,size=400m disk; fi
         done >log.out
         \"$1\" check disk/data >check.out 2>&1; echo $? >>check.out"
    );
    let output = in_namespace(&folder, &script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("the shell wrote it");
    assert_eq!(read("small.out"), "1\n");
    let small = read("small.err");
    assert!(small.starts_with("pikepole: the database master could not be created: "), "{small}");
    assert!(small.ends_with("No space left on device (os error 28)\n"), "{small}");
    log_was_full_and_is_not_any_more(&Done { status: 1, out: read("log.out"), err: read("log.err") });
    assert!(read("check.out").ends_with("no damage found\n0\n"), "{}", read("check.out"));
}

/// Each statement needs a file that is not there yet, or replaces one.
const NEED_FILES: &str = "
SET NOCOUNT ON;
SELECT COUNT(*) FROM (SELECT TOP (100000) t, id FROM dbo.t ORDER BY t, id DESC) x;
GO
CREATE TABLE #t (i int);
GO
DBCC CHECKDB WITH NO_INFOMSGS;
GO
ALTER DATABASE master SET RECURSIVE_TRIGGERS ON;
GO
EXEC sp_configure 'max workspace memory (MB)', 2;
RECONFIGURE;
GO
CREATE DATABASE x;
GO
BACKUP DATABASE master TO DISK = 'b.bak';
GO
SET NOCOUNT ON;
SELECT COUNT(*) AS rows FROM dbo.t;
GO
";

#[test]
fn a_full_file_system_is_named_by_all_that_make_files() {
    let folder = Folder::new("disk-full-files");
    let mount = "mkdir -p disk && mount -t tmpfs -o size=256m pikepole disk";
    let probe = in_namespace(&folder, mount);
    if !probe.status.success() {
        println!("no file system of its own: {}", String::from_utf8_lossy(&probe.stderr));
        return;
    }
    folder.write("need.sql", NEED_FILES);
    let table = "CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, t char(200)); \
                 INSERT dbo.t SELECT value, 'x' FROM GENERATE_SERIES(1, 20000); \
                 EXEC sp_configure 'show advanced options', 1; RECONFIGURE;";
    let little = "EXEC sp_configure 'max workspace memory (MB)', 1; RECONFIGURE;";
    let script = format!(
        "{mount} || exit 9
         \"$1\" sql -d disk/data -Q \"{table}\" >/dev/null || exit 8
         \"$1\" sql -d disk/data -Q \"{little}\" >/dev/null || exit 7
         cat /dev/zero 2>/dev/null >disk/fill
         \"$1\" sql -d disk/data --csv -i need.sql >full.out 2>full.err
         rm disk/fill
         \"$1\" sql -d disk/data --csv -i need.sql >room.out 2>room.err
         \"$1\" check disk/data >check.out 2>&1; echo $? >>check.out"
    );
    let output = in_namespace(&folder, &script);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("the shell wrote it");
    let errors = read("full.err");
    let numbers: Vec<&str> = errors.lines().filter_map(|line| line.strip_prefix("Msg ")?.split(',').next()).collect();
    assert_eq!(numbers, ["1105", "1105", "1105", "1105", "1105", "1802", "3202"], "{errors}");
    for object in ["<temporary system object>", "database.toml", "pikepole.toml"] {
        assert!(errors.contains(&format!("for object '{object}'")), "{object}: {errors}");
    }
    assert!(read("full.out").ends_with("rows\n20000\n"), "{}", read("full.out"));
    // What is said beside errors goes there, too.
    assert!(!read("room.err").contains("Msg "), "{}", read("room.err"));
    assert!(read("check.out").ends_with("no damage found\n0\n"), "{}", read("check.out"));
}
