//! Damaged files: the damage is named with its place, `check` fails, and the other databases stay usable.

use crate::tool::{Done, Folder};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// A row's text, to be found in the files.
const MARK: &[u8] = b"a text to look for";
/// Rows of the table: some tens of pages.
const ROWS: i64 = 3_000;

/// A server with two databases, closed in order: `sound` and `hurt`, each with a table of `ROWS` rows.
fn server(name: &str) -> Folder {
    let folder = Folder::new(name);
    for database in ["sound", "hurt"] {
        folder.sql_clean(&format!("CREATE DATABASE {database}"));
        folder.sql_clean(&format!(
            "SET NOCOUNT ON;
             USE {database};
             CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY, text varchar(100) NOT NULL);
             DECLARE @i int = 0;
             BEGIN TRANSACTION;
             WHILE @i < {ROWS} BEGIN INSERT dbo.t VALUES (@i, 'a text to look for'); SET @i += 1; END;
             COMMIT;"
        ));
    }
    let done = folder.check();
    assert_eq!((done.status, done.out.lines().last()), (0, Some("no damage found")), "{}", done.out);
    folder
}

fn file(folder: &Folder, path: &str) -> PathBuf {
    folder.data().join("hurt").join(path)
}

/// The place of each row's text in a file.
fn rows_in(path: &Path) -> Vec<usize> {
    let bytes = std::fs::read(path).expect("the file is there");
    let places = bytes.windows(MARK.len()).enumerate().filter(|(_, window)| *window == MARK);
    places.map(|(place, _)| place).collect()
}

/// Changes the byte of a file at a place.
fn flip(path: &Path, place: usize) {
    let mut bytes = std::fs::read(path).expect("the file is there");
    bytes[place] ^= 0x20;
    std::fs::write(path, bytes).expect("the file can be written");
}

/// The line of `check` about the damage; nothing is wrong with the other databases.
#[track_caller]
fn damage(folder: &Folder) -> String {
    let done = folder.check();
    assert_eq!(done.status, 1, "{done:?}");
    let lines: Vec<&str> = done.out.lines().filter(|line| line.starts_with("DAMAGE: ")).collect();
    assert!(!lines.is_empty() && lines.iter().all(|line| line.starts_with("DAMAGE: hurt: ")), "{}", done.out);
    assert!(done.out.contains("sound: tree 32 of dbo.t:") && done.out.contains(&format!(" {ROWS} rows,")));
    lines[0].to_string()
}

/// The place of the damaged block that `check` names in the log's first segment.
#[track_caller]
fn damaged_block(folder: &Folder) -> usize {
    let line = damage(folder);
    assert!(line.contains("segment-00000001"), "{line}");
    let block = line.split("at byte ").nth(1).and_then(|rest| rest.split(' ').next()).expect("a place");
    block.parse().expect("a number")
}

/// What the server says when the hurt database is asked for its rows, after it has shown that the other one works.
#[track_caller]
fn asked(folder: &Folder) -> Done {
    folder.sql_clean("USE sound;\nINSERT dbo.t VALUES (-1, 'still written');\nDELETE dbo.t WHERE id = -1;");
    folder.sql_clean("CREATE DATABASE other;\nDROP DATABASE other;");
    let count = "SET NOCOUNT ON;\nUSE sound;\nSELECT COUNT(*) AS n FROM dbo.t;";
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", count]);
    assert_eq!((done.status, done.out), (0, format!("n\n{ROWS}\n")));
    folder.run(["sql", "-d", "data", "--csv", "-b", "-Q", "USE hurt;\nGO\nSELECT COUNT(*) FROM dbo.t;"])
}

#[track_caller]
fn is_suspect(folder: &Folder, why: &str) {
    let done = asked(folder);
    done.failed_with("Msg 926, Level 14, State 1, Line 1");
    assert!(done.err.contains("'hurt'") && done.err.contains(why), "{}", done.err);
    let query = "SELECT name FROM sys.databases WHERE state_desc = 'SUSPECT'";
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", query]);
    assert_eq!(done.out, "name\nhurt\n");
}

#[test]
fn a_truncated_data_file() {
    let folder = server("truncated");
    let pages = std::fs::OpenOptions::new().write(true).open(file(&folder, "data/pages")).expect("the file");
    pages.set_len(24 * 8192).expect("the file can be cut");
    drop(pages);
    let why = "the data file was cut off: it has 24 of 4096 pages";
    assert!(damage(&folder).ends_with(why));
    is_suspect(&folder, why);
    // What is suspect can be looked at again, and dropped.
    assert!(damage(&folder).ends_with(why));
    folder.sql_clean("DROP DATABASE hurt");
    assert_eq!(folder.check().status, 0);
}

#[test]
fn a_flipped_byte_in_a_page() {
    let folder = server("page");
    let pages = file(&folder, "data/pages");
    let place = rows_in(&pages)[500];
    flip(&pages, place);
    let page = place / 8192;
    let line = damage(&folder);
    assert!(line.contains(&format!("page {page} ")) && line.contains("checksum"), "{line}");
    let done = asked(&folder);
    done.failed_with("Msg 824, Level 24, State 2, Line 3");
    assert!(done.err.contains(&format!("page {page} ")), "{}", done.err);
    // Each page and kind of damage is noted once, with the number of errors.
    let noted = "USE hurt;\nGO\nSELECT COUNT(*) FROM dbo.t;\nGO\nSELECT COUNT(*) FROM dbo.t;\nGO\nSET NOCOUNT ON;
        SELECT DB_NAME(database_id) AS name, file_id, page_id, event_type, SIGN(error_count) AS errors,
          DATEDIFF(hour, last_update_date, GETUTCDATE()) AS hours FROM msdb.dbo.suspect_pages;";
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", noted]);
    assert!(done.out.ends_with(&format!("hurt,1,{page},2,1,0\n")), "{done:?}");
    // The rows of the other pages can still be read.
    let done = folder.run(["sql", "-d", "data", "--csv", "-Q", "USE hurt;\nGO\nSELECT id FROM dbo.t WHERE id = 0;"]);
    assert_eq!((done.status, done.out.as_str()), (0, "id\n0\n"), "{}", done.err);
}

#[test]
fn a_flipped_byte_in_the_log_below_what_was_durable() {
    let folder = server("log");
    let log = file(&folder, "log/segment-00000001");
    let place = rows_in(&log)[0];
    flip(&log, place);
    // Before the last checkpoint stand the blocks of one large transaction.
    let block = damaged_block(&folder);
    assert!((block..block + (1 << 20)).contains(&place), "block {block}, byte {place}");
    // It was closed in order, so that opening needs nothing of what is damaged: all rows are there.
    let done = asked(&folder);
    assert_eq!(done.status, 0, "{done:?}");
}

/// Inserts more rows into the hurt database, each durable by itself, and kills the process.
fn insert_and_kill(folder: &Folder, rows: i64) {
    let script = format!(
        "SET NOCOUNT ON;
         USE hurt;
         DECLARE @i int = {ROWS};
         WHILE @i < {ROWS} + {rows} BEGIN INSERT dbo.t VALUES (@i, 'a text to look for'); SET @i += 1; END;\nGO
         SELECT 'all are in' AS answer;\nGO
         WAITFOR DELAY '23:59:59';\nGO\n"
    );
    folder.write("killed.sql", script);
    let mut command = folder.command(["sql", "-d", "data", "-i", "killed.sql"]);
    let mut running = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary starts");
    let mut screen = running.stdout.take().expect("it was asked for");
    let (mut seen, mut bytes) = (String::new(), [0; 256]);
    while !seen.contains("all are in") {
        let count = screen.read(&mut bytes).expect("its output");
        assert!(count > 0, "it ended early: {seen}");
        seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    running.kill().expect("it runs");
    running.wait().expect("it was killed");
}

#[test]
fn a_flipped_byte_in_a_log_that_recovery_needs() {
    let folder = server("needed");
    insert_and_kill(&folder, 100);
    // The last rows in the file are those of the process that was killed, each in a block of its own.
    let log = file(&folder, "log/segment-00000001");
    let places = rows_in(&log);
    let place = places[places.len() - 50];
    flip(&log, place);
    let block = damaged_block(&folder);
    assert!((block..block + 4096).contains(&place), "block {block}, byte {place}");
    is_suspect(&folder, &format!("the log is damaged in segment-00000001 at byte {block} "));
}

#[test]
fn a_truncated_log_and_missing_files() {
    let folder = server("missing");
    let log = file(&folder, "log/segment-00000001");
    let whole = std::fs::read(&log).expect("the file");
    std::fs::write(&log, &whole[..5_000_000]).expect("the file can be cut");
    assert!(damage(&folder).contains("segment-00000001") && damage(&folder).contains("shorter than it was made"));
    is_suspect(&folder, "the file is shorter than it was made");
    std::fs::remove_file(&log).expect("it is there");
    assert!(damage(&folder).contains("there is no log in data/hurt/log"));
    std::fs::write(&log, &whole).expect("it comes back");
    assert_eq!(folder.check().status, 0);
    std::fs::write(file(&folder, "database.toml"), "nonsense").expect("it can be written");
    assert!(damage(&folder).contains("database.toml"));
}

#[test]
fn a_damaged_master_says_why() {
    let folder = Folder::new("master");
    folder.sql_clean("PRINT 'made'");
    std::fs::write(folder.data().join("master/data/pages"), b"").expect("the file can be cut");
    assert_eq!(folder.check().status, 1);
    let done = folder.sql("PRINT 'never'");
    done.failed_with("pikepole: Msg 926");
    assert!(done.err.contains("the data file was cut off"), "{}", done.err);
}

#[test]
fn check_tells_what_it_looked_at() {
    let folder = Folder::new("check");
    folder.sql_clean("CREATE TABLE dbo.t (id int NOT NULL PRIMARY KEY);\nINSERT dbo.t VALUES (1), (2), (3);\nDELETE dbo.t WHERE id = 2;");
    let done = folder.check();
    assert_eq!((done.status, done.err.as_str()), (0, "checking master\n"));
    for part in
        ["master: log: 1 segments,", "master: pages: ", "of dbo.t: 1 pages, 2 rows,", "master: catalog: 1 tables"]
    {
        assert!(done.out.contains(part), "{part}\n{}", done.out);
    }
    assert!(done.out.ends_with("no damage found\n"));
    std::fs::create_dir(folder.path().join("empty")).expect("a folder");
    folder.run(["check", "empty"]).failed_saying("pikepole: empty holds no databases\n");
    let nothing = "pikepole: the folder nothing cannot be opened: No such file or directory (os error 2)\n";
    folder.run(["check", "nothing"]).failed_saying(nothing);
    assert!(!folder.path().join("nothing").exists());
}
