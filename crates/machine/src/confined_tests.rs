//! Tests of confined names: what a name from outside must not reach.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::process::Command;

use super::*;
use crate::SimulatedDisk;
use crate::tests::TestFolder;

const READ: OpenOptions = OpenOptions { create: false, direct: false, durable_writes: false, read_only: true };
const WRITE: OpenOptions = OpenOptions { create: false, direct: false, durable_writes: false, read_only: false };

fn kind<T: std::fmt::Debug>(result: io::Result<T>) -> io::ErrorKind {
    result.expect_err("refused").kind()
}

#[test]
fn names_stay_beneath_the_folder() {
    let outside = TestFolder::new("confined-outside");
    std::fs::write(outside.path().join("secret"), "x").expect("a file");
    let folder = TestFolder::new("confined");
    let root = folder.path();
    std::fs::create_dir(root.join("sub")).expect("a folder");
    std::fs::write(root.join("sub/file"), "y").expect("a file");
    symlink(outside.path(), root.join("folder-link")).expect("a link");
    symlink(outside.path().join("secret"), root.join("link")).expect("a link");
    symlink(outside.path().join("new"), root.join("dangling")).expect("a link");
    std::fs::hard_link(outside.path().join("secret"), root.join("hard")).expect("a link");

    let confined = Disk::real().confine(root).expect("a folder");
    for below in ["..", "sub/../..", "/etc", "sub/.."] {
        assert_eq!(kind(confined.subfolder(Path::new(below))), io::ErrorKind::PermissionDenied, "{below}");
        assert_eq!(kind(confined.open(below, READ)), io::ErrorKind::PermissionDenied, "{below}");
        assert_eq!(kind(confined.create_new(below, WRITE)), io::ErrorKind::PermissionDenied, "{below}");
    }
    assert!(confined.subfolder(Path::new("folder-link")).is_err(), "a link to a folder is not followed");
    for name in ["link", "dangling", "sub"] {
        assert_eq!(confined.look(name).expect("a look"), Some(Found::Other), "{name}");
        assert_eq!(kind(confined.open(name, READ)), io::ErrorKind::PermissionDenied, "{name}");
        assert_eq!(kind(confined.create_new(name, WRITE)), io::ErrorKind::AlreadyExists, "{name}");
    }
    assert_eq!(confined.look("hard").expect("a look"), Some(Found::File { has_other_names: true }));
    assert_eq!(
        kind(confined.open("hard", WRITE)),
        io::ErrorKind::PermissionDenied,
        "others may know it by another name"
    );
    assert!(!outside.path().join("new").exists());

    let sub = confined.subfolder(Path::new("./sub")).expect("a folder");
    assert_eq!(sub.open("file", READ).expect("a file").len().expect("a length"), 1);
    assert_eq!(sub.look("none").expect("a look"), None);
    assert_eq!(kind(sub.open("none", WRITE)), io::ErrorKind::NotFound);
}

/// Kernels without `openat2` and container filters that refuse it take this way.
#[test]
fn the_way_by_components_refuses_the_same() {
    let folder = TestFolder::new("components");
    std::fs::create_dir_all(folder.path().join("a/b")).expect("folders");
    symlink(folder.path().join("a"), folder.path().join("link")).expect("a link");
    let root = rustix::fs::open(folder.path(), FOLDER, Mode::empty()).expect("a folder");
    for (below, there) in [("a", true), ("a/b", true), ("link", false), ("link/b", false), ("a/none", false)] {
        assert_eq!(open_by_components(&root, Path::new(below)).is_ok(), there, "{below}");
        assert_eq!(open_beneath(&root, Path::new(below)).is_ok(), there, "{below}");
    }
}

#[test]
fn pipes_sockets_and_devices_are_not_opened() {
    let folder = TestFolder::new("special");
    let pipe = folder.path().join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("mkfifo").success());
    let _socket = UnixListener::bind(folder.path().join("socket")).expect("a socket");
    let confined = Disk::real().confine(folder.path()).expect("a folder");
    for name in ["pipe", "socket"] {
        assert_eq!(confined.look(name).expect("a look"), Some(Found::Other));
        assert_eq!(kind(confined.open(name, WRITE)), io::ErrorKind::PermissionDenied, "{name}");
        assert_eq!(kind(Disk::real().open_proper(folder.path().join(name))), io::ErrorKind::PermissionDenied, "{name}");
    }
    for device in ["/dev/null", "/dev/full", "/dev/zero", "/dev"] {
        assert_eq!(kind(Disk::real().open_proper(device)), io::ErrorKind::PermissionDenied, "{device}");
    }
    let devices = Disk::real().confine("/dev").expect("a folder");
    assert_eq!(kind(devices.open("null", WRITE)), io::ErrorKind::PermissionDenied);
}

#[test]
fn new_files_are_their_owners_and_take_over_modes() {
    let folder = TestFolder::new("modes");
    let confined = Disk::real().confine(folder.path()).expect("a folder");
    let direct = OpenOptions { direct: true, ..WRITE };
    confined.create_new("old", direct).expect("a file");
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).expect("it is there").mode() & 0o7777;
    assert_eq!(mode("old"), 0o600);
    std::fs::set_permissions(folder.path().join("old"), std::fs::Permissions::from_mode(0o640)).expect("a mode");
    let new = confined.create_new("new", WRITE).expect("a file");
    assert_eq!(kind(confined.create_new("new", WRITE)), io::ErrorKind::AlreadyExists);
    confined.adopt_mode("old", &new).expect("its own file");
    confined.rename("new", "old").expect("a rename");
    confined.sync().expect("a sync");
    assert_eq!(mode("old"), 0o640);
    confined.remove("old").expect("it is there");
    assert_eq!(confined.look("old").expect("a look"), None);
}

#[test]
fn a_proper_file_says_where_it_is() {
    let folder = TestFolder::new("proper");
    let there = folder.path().canonicalize().expect("it is there");
    std::fs::write(there.join("file"), "abc").expect("a file");
    symlink(there.join("file"), there.join("link")).expect("a link");
    let (file, real) = Disk::real().open_proper(there.join("link")).expect("a file");
    assert_eq!((file.len().expect("a length"), real), (3, there.join("file")));
    assert_eq!(Disk::real().real_path(there.join("link")), there.join("file"));
    assert_eq!(Disk::real().real_path(there.join("none")), there.join("none"));
    assert_eq!(kind(Disk::real().open_proper(there.join("none"))), io::ErrorKind::NotFound);
}

#[test]
fn a_simulated_folder_confines_names_too() {
    let disk = Disk::simulated(SimulatedDisk::new(1));
    disk.create_dir_all("/folder/sub").expect("folders");
    let confined = disk.confine("/folder").expect("a folder");
    assert_eq!(kind(disk.confine("/none")), io::ErrorKind::NotFound);
    assert_eq!(kind(confined.create_new("../out", WRITE)), io::ErrorKind::PermissionDenied);
    assert_eq!(kind(confined.create_new("sub", WRITE)), io::ErrorKind::AlreadyExists);
    let file = confined.create_new("a", WRITE).expect("a file");
    file.write_at(b"1", 0).expect("written");
    confined.adopt_mode("a", &file).expect("there are no modes");
    confined.rename("a", "b").expect("renamed");
    confined.sync().expect("synced");
    assert_eq!(confined.look("b").expect("a look"), Some(Found::File { has_other_names: false }));
    assert_eq!(disk.read("/folder/b").expect("a file"), b"1");
}
