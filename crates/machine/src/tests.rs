//! Tests of files and folders, on the operating system and on the simulated disk with one program.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::{AlignedBuffer, BLOCK, Disk, FileError, FolderBusy, OpenOptions, SimulatedDisk};
use crate::{Operation, is_crash, is_full};

/// A folder of a test's own, removed at its end.
pub(crate) struct TestFolder(PathBuf);

impl TestFolder {
    pub(crate) fn new(purpose: &str) -> Self {
        static MADE: AtomicU64 = AtomicU64::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let name = format!("pikepole-machine-{purpose}-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        // What is left behind is in the folder for such things.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const CREATE: OpenOptions = OpenOptions { create: true, direct: false, durable_writes: false, read_only: false };
const DIRECT: OpenOptions = OpenOptions { create: true, direct: true, durable_writes: true, read_only: false };

/// Runs `test` on a real folder and on a simulated one.
fn on_both(test: impl Fn(&Disk, &Path)) {
    let folder = TestFolder::new("both");
    test(&Disk::real(), folder.path());
    let disk = Disk::simulated(SimulatedDisk::new(1));
    disk.create_dir_all("/folder").expect("a folder");
    test(&disk, Path::new("/folder"));
}

#[test]
fn a_slowed_disk_keeps_what_is_written_and_makes_it_wait() {
    let device = crate::SlowDevice { delay: std::time::Duration::from_millis(3), bytes_per_second: None };
    on_both(|disk, folder| {
        let disk = disk.clone().slowed(device);
        assert!(disk.is_slowed() && disk.is_real() == disk.as_simulated().is_none());
        let file = disk.open(folder.join("slow"), DIRECT).expect("a file");
        let mut page = AlignedBuffer::zeroed(BLOCK);
        page.fill(7);
        let begun = std::time::Instant::now();
        file.write_durable_at(&page, 0).expect("a write");
        file.sync().expect("a sync");
        assert!(begun.elapsed() >= 2 * device.delay);
        let mut read = AlignedBuffer::zeroed(BLOCK);
        file.read_at(&mut read, 0).expect("a read");
        assert_eq!(read[..], page[..]);
    });
    // Its writes are made by whoever waits for them: the kernel's queue knows of no slower device.
    assert!(crate::WriteQueue::new(&Disk::real().slowed(device), 2).is_none());
}

#[test]
fn direct_files_read_what_was_written() {
    on_both(|disk, folder| {
        let path = folder.join("pages");
        let file = disk.open(&path, DIRECT).expect("a file");
        file.prewrite(0, 8 * BLOCK as u64).expect("zeros");
        assert_eq!(file.len().expect("a length"), 8 * BLOCK as u64);
        let mut page = AlignedBuffer::zeroed(2 * BLOCK);
        page.fill(7);
        file.write_durable_at(&page, BLOCK as u64).expect("a write");
        file.write_at(&page[..BLOCK], 6 * BLOCK as u64).expect("a write");
        file.sync().expect("a sync");
        let mut all = AlignedBuffer::zeroed(8 * BLOCK);
        file.read_at(&mut all, 0).expect("a read");
        for (block, content) in all.chunks(BLOCK).enumerate() {
            let expected = if [1, 2, 6].contains(&block) { 7 } else { 0 };
            assert!(content.iter().all(|byte| *byte == expected), "block {block}");
        }
        let mut behind = AlignedBuffer::zeroed(BLOCK);
        let error = file.read_at(&mut behind, 8 * BLOCK as u64).expect_err("the end");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert!(error.to_string().contains("pages"), "{error}");
    });
}

#[test]
fn buffered_files_take_any_bytes() {
    on_both(|disk, folder| {
        let path = folder.join("text");
        disk.replace(&path, b"first").expect("written");
        disk.replace(&path, b"the second").expect("written");
        assert_eq!(disk.read(&path).expect("read"), b"the second");
        assert_eq!(disk.list(folder).expect("a list"), ["text"]);
        let file = disk.open(&path, OpenOptions::default()).expect("a file");
        file.write_durable_at(b"T", 0).expect("a write");
        file.write_at(b"!", 12).expect("a write");
        assert_eq!(disk.read(&path).expect("read"), b"The second\0\0!");
        file.set_len(3).expect("cut");
        file.set_len(5).expect("extended");
        assert_eq!(disk.read(&path).expect("read"), b"The\0\0");
        file.allocate(0, 10).expect("space");
        assert_eq!(file.len().expect("a length"), 10);
    });
}

#[test]
fn names_behave() {
    on_both(|disk, folder| {
        let deep = folder.join("a/b/c");
        disk.create_dir_all(&deep).expect("folders");
        disk.create_dir_all(&deep).expect("again");
        assert!(disk.is_dir(&deep) && disk.exists(&deep));
        let missing = disk.open(deep.join("x"), OpenOptions::default()).expect_err("missing");
        assert_eq!(missing.kind(), io::ErrorKind::NotFound);
        drop(disk.open(deep.join("x"), CREATE).expect("a file"));
        disk.rename(deep.join("x"), deep.join("y")).expect("renamed");
        disk.rename(folder.join("a"), folder.join("z")).expect("a folder renamed");
        assert_eq!(disk.list(folder.join("z/b/c")).expect("a list"), ["y"]);
        disk.sync_dir(folder).expect("synced");
        disk.remove_file(folder.join("z/b/c/y")).expect("removed");
        assert_eq!(disk.list(folder.join("z/b/c")).expect("a list"), Vec::<String>::new());
        drop(disk.open(folder.join("z/f"), CREATE).expect("a file"));
        disk.remove_dir_all(folder.join("z")).expect("removed");
        assert!(!disk.exists(folder.join("z")));
        let under_file = disk.open(folder.join("f"), CREATE).and_then(|_| disk.open(folder.join("f/g"), CREATE));
        assert_eq!(under_file.expect_err("no folder").kind(), io::ErrorKind::NotADirectory);
        assert!(disk.create_dir_all(folder.join("f")).is_err());
    });
}

#[test]
fn read_only_files_refuse_changes() {
    on_both(|disk, folder| {
        let path = folder.join("f");
        disk.replace(&path, b"content").expect("written");
        let options = OpenOptions { read_only: true, ..CREATE };
        let file = disk.open(&path, options).expect("a file");
        assert!(file.write_at(b"x", 0).is_err());
        assert!(file.write_durable_at(b"x", 0).is_err());
        assert!(file.set_len(0).is_err());
        assert_eq!(disk.read(&path).expect("read"), b"content");
        assert!(disk.open(folder.join("none"), options).is_err());
    });
}

#[test]
fn unaligned_direct_io_is_refused_everywhere() {
    on_both(|disk, folder| {
        let file = disk.open(folder.join("f"), DIRECT).expect("a file");
        let page = AlignedBuffer::zeroed(2 * BLOCK);
        let refused = |bytes: &[u8], offset| {
            let write = || file.write_at(bytes, offset);
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(write)).is_err()
        };
        assert!(refused(&page[..100], 0));
        assert!(refused(&page[..BLOCK], 512));
        assert!(refused(&page[512..512 + BLOCK], 0));
        assert!(!refused(&page[..BLOCK], 0));
    });
}

#[test]
fn errors_say_what_and_where_and_keep_the_kind() {
    on_both(|disk, folder| {
        let path = folder.join("missing");
        let error = disk.remove_file(&path).expect_err("missing");
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FileError>());
        assert_eq!(inner.map(FileError::path), Some(path.as_path()));
        assert!(error.to_string().starts_with("cannot remove "), "{error}");
        assert!(!is_crash(&error) && !is_full(&error));
    });
}

#[test]
fn after_a_failed_sync_there_is_no_next_one() {
    let simulated = SimulatedDisk::new(3);
    let disk = Disk::simulated(simulated.clone());
    for failing in [Operation::Sync, Operation::DurableWrite] {
        let file = disk.open(format!("/{failing:?}"), CREATE).expect("a file");
        file.write_at(b"content", 0).expect("a write");
        simulated.fail_nth(failing, 1);
        let first = match failing {
            Operation::Sync => file.sync(),
            _ => file.write_durable_at(b"more", 7),
        };
        assert!(first.is_err());
        let calls = (simulated.count(Operation::Sync), simulated.count(Operation::DurableWrite));
        assert!(file.sync().is_err());
        assert!(file.clone().write_durable_at(b"x", 0).is_err());
        let now = (simulated.count(Operation::Sync), simulated.count(Operation::DurableWrite));
        assert_eq!(calls, now, "the disk is not asked again");
        assert!(file.write_at(b"x", 0).is_ok());
    }
}

#[test]
fn a_lack_of_room_does_not_end_durable_writes() {
    let simulated = SimulatedDisk::new(3);
    let file = Disk::simulated(simulated.clone()).open("/f", DIRECT).expect("a file");
    simulated.set_capacity(Some(2 * BLOCK as u64));
    let error = file.prewrite(0, 4 * BLOCK as u64).expect_err("full");
    assert!(is_full(&error) && error.kind() == io::ErrorKind::StorageFull, "{error}");
    let page = AlignedBuffer::zeroed(4 * BLOCK);
    assert!(is_full(&file.write_durable_at(&page, 0).expect_err("full")));
    simulated.set_capacity(None);
    file.write_durable_at(&page, 0).expect("room again");
    file.sync().expect("a sync");
}

#[test]
fn a_folder_has_one_owner_in_a_process() {
    on_both(|disk, folder| {
        let first = disk.lock_folder(folder).expect("a lock");
        let error = disk.lock_folder(folder.join("../").join(folder.file_name().expect("a name")));
        let error = error.expect_err("taken");
        assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
        assert!(error.to_string().contains("already open in this process"), "{error}");
        let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<FolderBusy>());
        assert_eq!(inner.and_then(|busy| busy.process), Some(std::process::id()));
        drop(first);
        drop(disk.lock_folder(folder).expect("free again"));
        assert!(disk.lock_folder(folder.join("missing")).is_err());
    });
}

/// An owner may remove the lock file, and the next one makes it again: there is never more than one.
#[test]
fn a_lock_file_that_was_removed_locks_nothing() {
    let folder = TestFolder::new("removed-lock");
    let owners = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let Ok(lock) = Disk::real().lock_folder(folder.path()) else { continue };
                    assert_eq!(owners.fetch_add(1, Ordering::Relaxed), 0, "two owners");
                    std::thread::yield_now();
                    owners.fetch_sub(1, Ordering::Relaxed);
                    // From here on another one may come.
                    std::fs::remove_file(folder.path().join(crate::LOCK_FILE)).expect("it is there");
                    drop(lock);
                }
            });
        }
    });
}

#[test]
fn a_folder_that_cannot_be_written_says_so() {
    // Not even the superuser can make files there.
    let error = Disk::real().lock_folder("/sys").expect_err("read-only");
    assert!(matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem), "{error}");
    assert!(error.to_string().contains("for writing"), "{error}");
    assert!(error.to_string().contains("/sys"), "{error}");
}

/// The other process of the next test; does nothing when run by itself.
#[test]
fn holds_the_folder_it_is_told() {
    let Some(folder) = std::env::var_os("PIKEPOLE_TEST_LOCK_FOLDER") else { return };
    let _lock = Disk::real().lock_folder(&folder).expect("a lock");
    println!("locked");
    // Ends when the parent closes the pipe.
    let _ = io::stdin().read_line(&mut String::new());
}

#[test]
fn a_folder_has_one_owner_among_processes() {
    use std::io::BufRead;
    let folder = TestFolder::new("lock");
    let mut other = Command::new(std::env::current_exe().expect("this program"))
        .args(["--exact", "tests::holds_the_folder_it_is_told", "--nocapture"])
        .env("PIKEPOLE_TEST_LOCK_FOLDER", folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("another process");
    let mut output = io::BufReader::new(other.stdout.take().expect("its output")).lines();
    let locked = output.any(|line| line.expect("a line").contains("locked"));
    assert!(locked);
    let error = Disk::real().lock_folder(folder.path()).expect_err("taken");
    assert_eq!(error.kind(), io::ErrorKind::ResourceBusy);
    assert!(error.to_string().ends_with(&format!("process {}", other.id())), "{error}");
    let owner = Disk::real().folder_owner(folder.path()).expect("a look");
    assert_eq!(owner.and_then(|owner| owner.process), Some(other.id()));
    drop(other.stdin.take());
    other.wait().expect("it ends");
    assert!(Disk::real().folder_owner(folder.path()).expect("a look").is_none());
    Disk::real().lock_folder(folder.path()).expect("free again");
}

/// One step of a program that runs on both disks.
#[derive(Clone, Debug)]
enum Step {
    Write { file: usize, offset: u64, len: usize, durable: bool },
    Read { file: usize, offset: u64, len: usize },
    Resize { file: usize, len: u64 },
    Allocate { file: usize, offset: u64, len: u64 },
    Open { file: usize, create: bool },
    Remove { file: usize },
    Rename { from: usize, to: usize },
    Sync { file: usize },
    SyncDir,
}

const FILES: usize = 3;

fn step() -> impl Strategy<Value = Step> {
    let (file, offset) = (0..FILES, 0..20_000u64);
    let len = 0..6_000usize;
    prop_oneof![
        4 => (file.clone(), offset.clone(), len.clone(), any::<bool>())
            .prop_map(|(file, offset, len, durable)| Step::Write { file, offset, len, durable }),
        3 => (file.clone(), offset.clone(), len)
            .prop_map(|(file, offset, len)| Step::Read { file, offset, len }),
        1 => (file.clone(), offset.clone()).prop_map(|(file, len)| Step::Resize { file, len }),
        1 => (file.clone(), offset.clone(), offset)
            .prop_map(|(file, offset, len)| Step::Allocate { file, offset, len }),
        3 => (file.clone(), any::<bool>()).prop_map(|(file, create)| Step::Open { file, create }),
        1 => file.clone().prop_map(|file| Step::Remove { file }),
        1 => (file.clone(), file.clone()).prop_map(|(from, to)| Step::Rename { from, to }),
        1 => file.prop_map(|file| Step::Sync { file }),
        1 => Just(Step::SyncDir),
    ]
}

/// Runs the steps and returns what a program sees.
fn run(disk: &Disk, folder: &Path, steps: &[Step]) -> Vec<String> {
    let path = |file: usize| folder.join(format!("f{file}"));
    let mut open: [Option<crate::File>; FILES] = [const { None }; FILES];
    let kind = |result: io::Result<()>| format!("{:?}", result.map_err(|error| error.kind()));
    let mut seen = Vec::new();
    for (number, step) in steps.iter().enumerate() {
        let on_file = |file: usize, act: &dyn Fn(&crate::File) -> io::Result<()>| match &open[file] {
            Some(file) => kind(act(file)),
            None => "closed".to_owned(),
        };
        seen.push(match step {
            Step::Write { file, offset, len, durable } => on_file(*file, &|file| {
                let bytes = vec![number as u8 + 1; *len];
                match durable {
                    true => file.write_durable_at(&bytes, *offset),
                    false => file.write_at(&bytes, *offset),
                }
            }),
            Step::Read { file, offset, len } => {
                let mut buffer = vec![0; *len];
                let read = open[*file].as_ref().map(|file| file.read_at(&mut buffer, *offset));
                // What a buffer holds after a read that failed is not promised.
                match read {
                    Some(Ok(())) => format!("{buffer:?}"),
                    other => format!("{:?}", other.map(kind)),
                }
            }
            Step::Resize { file, len } => on_file(*file, &|file| file.set_len(*len)),
            Step::Allocate { file, offset, len } => on_file(*file, &|file| file.allocate(*offset, *len)),
            Step::Open { file, create } => {
                let opened = disk.open(path(*file), OpenOptions { create: *create, ..CREATE });
                let outcome = kind(opened.as_ref().map(drop).map_err(|error| error.kind().into()));
                open[*file] = opened.ok();
                outcome
            }
            Step::Remove { file } => kind(disk.remove_file(path(*file))),
            Step::Rename { from, to } => kind(disk.rename(path(*from), path(*to))),
            Step::Sync { file } => on_file(*file, &|file| file.sync()),
            Step::SyncDir => kind(disk.sync_dir(folder)),
        });
    }
    seen.push(format!("{:?}", disk.list(folder).expect("a list")));
    for name in disk.list(folder).expect("a list") {
        seen.push(format!("{:?}", disk.read(folder.join(name)).expect("a file")));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// A program that does not crash cannot tell the simulated disk from the real one.
    #[test]
    fn the_simulated_disk_looks_like_the_real_one(steps in prop::collection::vec(step(), 1..40)) {
        let folder = TestFolder::new("parity");
        let real = run(&Disk::real(), folder.path(), &steps);
        let simulated = run(&Disk::simulated(SimulatedDisk::new(0)), Path::new("/"), &steps);
        prop_assert_eq!(real, simulated);
    }
}
