//! Tests of the door for names in statements: each hostile name, for each use.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::backup::SetWriterForTests as Writer;

/// A server's folder with the files that a server makes, and a folder outside of it.
struct Place {
    root: PathBuf,
}

impl Place {
    fn new() -> Place {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let root = std::env::temp_dir().join(format!("pikepole-doors-{}-{number}", std::process::id()));
        std::fs::create_dir_all(root.join("data/master/log")).expect("folders");
        std::fs::create_dir_all(root.join("out")).expect("a folder");
        let place = Place { root };
        for own in ["server-key.pem", "server-certificate.pem", "error.log", "error.log.1", "pikepole.toml", "lock"] {
            place.write(&format!("data/{own}"), own);
        }
        place.write("data/master/database.toml", "x");
        place.write("data/master/log/1", "x");
        place.write("data/rows.csv", "1,2");
        place.write("out/rows.csv", "1,2");
        place.write("out/other", &"other ".repeat(4_000));
        place
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn text(&self, path: &str) -> String {
        self.at(path).display().to_string()
    }

    fn write(&self, path: &str, content: &str) {
        std::fs::write(self.at(path), content).expect("a file");
    }

    fn folders(&self, backups: &[&str], loads: &[&str]) -> StatementFolders {
        StatementFolders::new(&ServerOptions {
            backup_folders: backups.iter().map(|path| self.at(path)).collect(),
            load_folders: loads.iter().map(|path| self.at(path)).collect(),
            ..ServerOptions::new(self.at("data"))
        })
    }

    /// Every file with its content, device and mode: what a refused statement leaves as it was.
    fn all(&self) -> Vec<(PathBuf, u32, Vec<u8>)> {
        fn below(folder: &Path, all: &mut Vec<(PathBuf, u32, Vec<u8>)>) {
            for entry in std::fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                let about = path.symlink_metadata().expect("it is there");
                let content = if about.is_file() { std::fs::read(&path).expect("a file") } else { Vec::new() };
                all.push((path.clone(), about.mode(), content));
                if about.is_dir() {
                    below(&path, all);
                }
            }
        }
        let mut all = Vec::new();
        below(&self.root, &mut all);
        all.sort();
        all
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn back_up(folders: &StatementFolders, name: &str, format: bool) -> Result<(), i32> {
    let device = folders.backup(name, true).map_err(|error| error.number)?;
    Writer::write(&device, format).map_err(|error| error.number)
}

#[test]
fn a_backup_replaces_nothing_but_a_backup() {
    let place = Place::new();
    std::fs::create_dir_all(place.at("out/sub")).expect("a folder");
    symlink(place.at("data/server-key.pem"), place.at("out/link.bak")).expect("a link");
    symlink(place.at("data"), place.at("out/folder-link")).expect("a link");
    symlink(place.at("out/new"), place.at("out/dangling.bak")).expect("a link");
    std::fs::hard_link(place.at("data/server-key.pem"), place.at("out/hard.bak")).expect("a link");
    place.write("out/empty", "");
    assert!(Command::new("mkfifo").arg(place.at("out/pipe")).status().expect("mkfifo").success());
    let folders = place.folders(&["out"], &[]);
    assert_eq!(back_up(&folders, "none/x.bak", true), Err(3201));
    let before = place.all();
    let outside = ["data/server-key.pem", "data/error.log", "data/pikepole.toml", "data/x.bak", "data/master/x.bak"];
    let absolute = outside.iter().map(|path| (place.text(path), 3201));
    let within = [
        ("link.bak", 3201),
        ("dangling.bak", 3201),
        ("hard.bak", 3201),
        ("pipe", 3201),
        ("sub", 3201),
        ("folder-link/server-key.pem", 3201),
        ("folder-link/x.bak", 3201),
        ("../data/server-key.pem", 3201),
        ("sub/../../data/x.bak", 3201),
        ("other", 3242),
        ("rows.csv", 3242),
        ("empty", 3254),
        ("", 3201),
        ("sub/", 3201),
        ("/dev/full", 3201),
        ("/dev/zero", 3201),
        ("/etc/passwd", 3201),
        ("a\0b", 3201),
    ];
    let names = within.map(|(name, number)| (name.to_owned(), number)).into_iter().chain(absolute);
    for (name, number) in names {
        for format in [false, true] {
            assert_eq!(back_up(&folders, &name, format), Err(number), "{name:?}");
        }
    }
    assert_eq!(place.all(), before, "what is refused changes nothing");
    assert!(std::fs::metadata("/dev/full").expect("the device").mode() & 0o170_000 == 0o020_000);
}

#[test]
fn backups_go_into_their_folders() {
    let place = Place::new();
    let default = place.folders(&[], &[]);
    for name in ["x.bak".to_owned(), place.text("data/backup/y.bak")] {
        back_up(&default, &name, false).expect("a backup");
        back_up(&default, &name, true).expect("a backup in place of a backup");
    }
    assert_eq!(back_up(&default, &place.text("out/x.bak"), false), Err(3201));
    let mode = |path: &str| std::fs::metadata(place.at(path)).expect("it is there").mode() & 0o777;
    assert_eq!((mode("data/backup"), mode("data/backup/x.bak"), mode("data/backup/y.bak")), (0o700, 0o600, 0o600));

    let other = place.folders(&["out"], &[]);
    std::fs::create_dir(place.at("out/sub")).expect("a folder");
    for name in ["x.bak".to_owned(), "sub/x.bak".to_owned(), place.text("out/y.bak"), place.text("data/backup/x.bak")] {
        back_up(&other, &name, false).expect("a backup");
    }
    assert!(place.at("out/sub/x.bak").exists() && place.at("out/y.bak").exists());
    // The server's own folder is none for backups, even when it is configured as one.
    assert_eq!(back_up(&place.folders(&["data"], &[]), "x.bak", false), Err(3201));
    assert_eq!(back_up(&place.folders(&["data/master"], &[]), "x.bak", false), Err(3201));
    assert_eq!(back_up(&place.folders(&["."], &[]), "data/x.bak", false), Err(3201));
}

#[test]
fn a_replaced_backup_keeps_its_mode_and_foreign_files_beside_it_stay() {
    let place = Place::new();
    let folders = place.folders(&["out"], &[]);
    back_up(&folders, "x.bak", false).expect("a backup");
    std::fs::set_permissions(place.at("out/x.bak"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    place.write("out/x.bak.new", "somebody's");
    symlink(place.at("data/server-key.pem"), place.at("out/x.bak.1.new")).expect("a link");
    back_up(&folders, "x.bak", true).expect("a backup");
    assert_eq!(std::fs::metadata(place.at("out/x.bak")).expect("it is there").mode() & 0o777, 0o640);
    assert_eq!(std::fs::read_to_string(place.at("out/x.bak.new")).expect("it is there"), "somebody's");
    assert_eq!(std::fs::read_to_string(place.at("data/server-key.pem")).expect("it is there"), "server-key.pem");
    // What a crash has left is cleared away: it says what it is.
    std::fs::write(place.at("out/y.bak.new"), [b"PIKEPART".as_slice(), &[0; 4088]].concat()).expect("a file");
    back_up(&folders, "y.bak", false).expect("a backup");
    assert!(!place.at("out/y.bak.new").exists());
}

#[test]
fn a_discarded_backup_touches_no_device() {
    let place = Place::new();
    let folders = place.folders(&[], &[]);
    for name in ["NUL", "nul", "NUL:", "/dev/null"] {
        back_up(&folders, name, true).expect("it is thrown away");
        let device = folders.backup(name, true).expect("a device");
        assert_eq!(Writer::open(&device).err(), Some(3201), "nothing is there to restore");
    }
    assert!(std::fs::metadata("/dev/null").expect("the device").mode() & 0o170_000 == 0o020_000);
    assert!(!place.at("data/backup").exists());
}

#[test]
fn loads_read_anything_but_what_is_the_servers() {
    let place = Place::new();
    symlink(place.at("data/server-key.pem"), place.at("out/link.csv")).expect("a link");
    symlink(place.at("out/rows.csv"), place.at("out/good.csv")).expect("a link");
    let folders = place.folders(&["out/backups"], &[]);
    std::fs::create_dir_all(place.at("out/backups")).expect("a folder");
    place.write("out/backups/x.bak", "x");
    for name in
        ["rows.csv".to_owned(), "../out/rows.csv".to_owned(), place.text("out/rows.csv"), place.text("out/good.csv")]
    {
        folders.load(&name).unwrap_or_else(|error| panic!("{name}: {error}"));
    }
    let own = ["server-key.pem", "error.log", "error.log.1", "pikepole.toml", "lock", "master/log/1", "master"];
    let absolute = own.map(|name| place.text(&format!("data/{name}")));
    let others = ["/proc/self/environ", "/sys/kernel/uevent_seqnum", "/dev/zero", "/dev/null", "master/../lock"];
    let others =
        others.map(str::to_owned).into_iter().chain([place.text("out/link.csv"), place.text("out/backups/x.bak")]);
    for name in own.map(str::to_owned).into_iter().chain(absolute).chain(others) {
        let error = folders.load(&name).expect_err(&name);
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied, "{name}: {error}");
    }
    assert_eq!(folders.load("none.csv").expect_err("none").kind(), io::ErrorKind::NotFound);

    let confined = place.folders(&[], &["out"]);
    confined.load("rows.csv").expect("a file");
    confined.load(&place.text("out/rows.csv")).expect("a file");
    for name in
        ["good.csv".to_owned(), place.text("data/rows.csv"), "/etc/passwd".to_owned(), "../data/rows.csv".to_owned()]
    {
        assert_eq!(confined.load(&name).expect_err(&name).kind(), io::ErrorKind::PermissionDenied, "{name}");
    }
}

#[test]
fn refused_rows_go_into_new_files_only() {
    let place = Place::new();
    symlink(place.at("out/new"), place.at("out/dangling.txt")).expect("a link");
    let default = place.folders(&[], &[]);
    default.load_errors("bad.txt").expect("new files").write(b"rows", b"notes").expect("written");
    assert_eq!(std::fs::read_to_string(place.at("data/bad.txt.Error.Txt")).expect("it is there"), "notes");
    assert_eq!(std::fs::metadata(place.at("data/bad.txt")).expect("it is there").mode() & 0o777, 0o600);
    let confined = place.folders(&[], &["out"]);
    confined.load_errors("bad.txt").expect("new files");
    let kind = |folders: &StatementFolders, name: &str| folders.load_errors(name).expect_err(name).kind();
    assert_eq!(kind(&default, "bad.txt"), io::ErrorKind::AlreadyExists);
    assert_eq!(kind(&confined, "dangling.txt"), io::ErrorKind::AlreadyExists);
    let out = place.text("out/bad.txt");
    for name in [
        "newdatabase",
        "error.log.9",
        "pikepole.toml.new",
        "master/x.txt",
        "../x.txt",
        "/tmp/x.txt",
        &out,
        "backup/x.txt",
    ] {
        let error = default.load_errors(name).expect_err(name);
        assert!(matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::NotFound), "{name}: {error}");
    }
    assert_eq!(kind(&confined, &place.text("data/x.txt")), io::ErrorKind::PermissionDenied);
}

/// A name that the server gives a file of its own must be in the table, or loads could read it.
#[test]
fn every_file_that_a_start_makes_is_known_as_its_own() {
    let disk = Disk::simulated(pikepole_machine::SimulatedDisk::new(1));
    let options = ServerOptions {
        disk: disk.clone(),
        schedulers: crate::server::SchedulerChoice::Simulated { seed: 1, count: 1 },
        small: true,
        ..ServerOptions::new("/server")
    };
    let server = Server::open(options).expect("a server");
    server.set_policy("LOG_RESERVATION", "SPINLOCK").expect("a policy");
    for name in disk.list("/server").expect("a folder") {
        assert!(server.open_load_file(&name).is_err(), "{name}");
        assert!(disk.is_dir(Path::new("/server").join(&name)) || is_own_file(&name), "{name}");
    }
}
