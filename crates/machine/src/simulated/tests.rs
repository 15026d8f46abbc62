//! What a power failure may and must not leave, and that the disk catches programs that hope for more.

use std::collections::BTreeSet;

use pikepole_contention::sync::thread;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use crate::{Disk, File, SECTOR, is_crash};

const CREATE: OpenOptions = OpenOptions { create: true, direct: false, durable_writes: false, read_only: false };
const SEEDS: u64 = 300;

fn new_disk(seed: u64) -> (SimulatedDisk, Disk) {
    let simulated = SimulatedDisk::new(seed);
    (simulated.clone(), Disk::simulated(simulated))
}

/// A file whose name is durable.
fn new_file(disk: &Disk, path: &str) -> File {
    let file = disk.open(path, CREATE).expect("a file");
    disk.sync_dir("/").expect("a sync");
    file
}

/// The contents of `path` after power failures of many seeds; `None` where it is not there.
fn outcomes(disk: &SimulatedDisk, path: &str) -> BTreeSet<Option<Vec<u8>>> {
    let after = |seed| Disk::simulated(disk.crash(seed)).read(path).ok();
    (0..SEEDS).map(after).collect()
}

#[test]
fn writes_are_lost_torn_and_reordered_until_they_are_synced() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    file.prewrite(0, 8192).expect("zeros");
    file.write_at(&[1; 4096], 0).expect("a write");
    file.write_at(&[2; 4096], 4096).expect("a write");
    let outcomes_before = outcomes(&simulated, "/f");
    let contents: Vec<_> = outcomes_before.into_iter().map(|content| content.expect("it is there")).collect();
    let whole = |content: &[u8], value| content.iter().all(|byte| *byte == value);
    assert!(contents.iter().any(|content| whole(content, 0)), "both lost");
    assert!(contents.iter().any(|c| whole(&c[..4096], 1) && whole(&c[4096..], 2)), "both there");
    assert!(contents.iter().any(|c| whole(&c[..4096], 0) && whole(&c[4096..], 2)), "the later alone");
    let torn = |content: &[u8]| content.contains(&0) && content.contains(&1);
    assert!(contents.iter().any(|content| torn(&content[..4096])), "torn");
    for content in &contents {
        assert_eq!(content.len(), 8192);
        for sector in content.chunks(SECTOR) {
            assert!(whole(sector, sector[0]), "a sector is whole");
        }
    }
    file.sync().expect("a sync");
    let mut expected = vec![1; 4096];
    expected.resize(8192, 2);
    assert_eq!(outcomes(&simulated, "/f"), BTreeSet::from([Some(expected)]));
}

#[test]
fn a_durable_write_makes_its_own_bytes_durable_and_no_others() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    file.prewrite(0, 4096).expect("zeros");
    file.write_at(&[1; 1024], 0).expect("a write");
    file.write_durable_at(&[2; 512], 512).expect("a write");
    let outcomes = outcomes(&simulated, "/f");
    let firsts: BTreeSet<u8> = outcomes.iter().flatten().map(|content| content[0]).collect();
    assert_eq!(firsts, BTreeSet::from([0, 1]), "the earlier write elsewhere is pending");
    for content in outcomes.iter().flatten() {
        assert_eq!(content[512..1024], [2; 512], "an older write never comes back over it");
    }
}

#[test]
fn a_durable_write_finds_its_file_long_enough() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    file.write_durable_at(&[9; 1000], 3000).expect("a write");
    let mut expected = vec![0; 3000];
    expected.resize(4000, 9);
    assert_eq!(outcomes(&simulated, "/f"), BTreeSet::from([Some(expected.clone())]));
    // A cut that is pending cannot take back what was made durable after it.
    file.set_len(0).expect("cut");
    assert!(outcomes(&simulated, "/f").contains(&Some(Vec::new())));
    assert!(outcomes(&simulated, "/f").contains(&Some(expected)));
    file.write_durable_at(&[8; 512], 0).expect("a write");
    assert_eq!(outcomes(&simulated, "/f"), BTreeSet::from([Some(vec![8; 512])]));
}

#[test]
fn lengths_and_bytes_arrive_apart() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    file.write_at(&[5; 2048], 0).expect("a write");
    let outcomes = outcomes(&simulated, "/f");
    assert!(outcomes.contains(&Some(Vec::new())), "nothing");
    assert!(outcomes.contains(&Some(vec![0; 2048])), "the length without the bytes");
    assert!(outcomes.contains(&Some(vec![5; 2048])), "all");
}

#[test]
fn a_new_name_needs_a_sync_of_its_folder() {
    let (simulated, disk) = new_disk(0);
    let file = disk.open("/f", CREATE).expect("a file");
    file.write_durable_at(b"content", 0).expect("a write");
    let lost_or_whole = BTreeSet::from([None, Some(b"content".to_vec())]);
    assert_eq!(outcomes(&simulated, "/f"), lost_or_whole);
    disk.sync_dir("/").expect("a sync");
    disk.remove_file("/f").expect("removed");
    assert_eq!(outcomes(&simulated, "/f"), lost_or_whole);
    disk.sync_dir("/").expect("a sync");
    assert_eq!(outcomes(&simulated, "/f"), BTreeSet::from([None]));
}

#[test]
fn a_name_in_a_folder_that_is_lost_is_lost() {
    let (simulated, disk) = new_disk(0);
    simulated.create_dir(Path::new("/d")).expect("a folder");
    disk.open("/d/f", CREATE).expect("a file");
    disk.sync_dir("/d").expect("a sync");
    assert_eq!(outcomes(&simulated, "/d/f"), BTreeSet::from([None, Some(Vec::new())]));
    disk.create_dir_all("/e/f").expect("folders");
    assert!((0..SEEDS).all(|seed| simulated.crash(seed).is_dir(Path::new("/e/f"))));
}

#[test]
fn a_rename_happens_whole_or_not_at_all() {
    let (simulated, disk) = new_disk(0);
    disk.create_dir_all("/to").expect("a folder");
    disk.replace("/to/f", b"old").expect("written");
    disk.replace("/new", b"new").expect("written");
    disk.rename("/new", "/to/f").expect("renamed");
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let after = Disk::simulated(simulated.crash(seed));
        let content = after.read("/to/f").expect("one of the two");
        assert_eq!(after.exists("/new"), content == b"old");
        seen.insert(content);
    }
    assert_eq!(seen.len(), 2);
    // A sync of either folder is one of both ends.
    disk.sync_dir("/").expect("a sync");
    assert_eq!(outcomes(&simulated, "/to/f"), BTreeSet::from([Some(b"new".to_vec())]));
    assert_eq!(outcomes(&simulated, "/new"), BTreeSet::from([None]));
}

#[test]
fn a_sync_of_a_folder_takes_what_it_builds_on() {
    let (simulated, disk) = new_disk(0);
    disk.create_dir_all("/d").expect("a folder");
    disk.open("/a", CREATE).expect("a file").write_durable_at(b"a", 0).expect("a write");
    disk.open("/other", CREATE).expect("a file");
    disk.rename("/a", "/d/b").expect("renamed");
    disk.sync_dir("/d").expect("a sync");
    assert_eq!(outcomes(&simulated, "/a"), BTreeSet::from([None]));
    assert_eq!(outcomes(&simulated, "/d/b"), BTreeSet::from([Some(b"a".to_vec())]));
    assert_eq!(outcomes(&simulated, "/other").len(), 2, "another name of the first folder is pending still");
}

#[test]
fn names_that_a_failed_sync_lost_no_later_sync_brings_back() {
    let mut lost = 0;
    for seed in 0..SEEDS {
        let (simulated, disk) = new_disk(seed);
        disk.open("/f", CREATE).expect("a file");
        simulated.fail_nth(Operation::SyncDir, 1);
        assert!(!is_crash(&disk.sync_dir("/").expect_err("the fault")));
        disk.sync_dir("/").expect("the disk believes that nothing is left to do");
        assert!(disk.exists("/f"));
        lost += u64::from(!simulated.crash(seed).exists(Path::new("/f")));
    }
    assert!(lost > SEEDS / 4 && lost < SEEDS, "{lost}");
}

#[test]
fn replacing_a_file_never_shows_half_of_it() {
    for n in 1.. {
        let (simulated, disk) = new_disk(n);
        disk.replace("/f", b"old").expect("written");
        simulated.crash_after_ops(n);
        let replaced = disk.replace("/f", &[b'n'; 2000]);
        let after = outcomes(&simulated, "/f");
        let old = Some(b"old".to_vec());
        let new = Some(vec![b'n'; 2000]);
        match replaced {
            Ok(()) => {
                assert_eq!(after, BTreeSet::from([new]));
                return;
            }
            Err(error) => assert!(is_crash(&error)),
        }
        assert!(after.iter().all(|content| *content == old || *content == new), "{n}");
    }
}

#[test]
fn what_a_failed_sync_lost_no_later_sync_brings_back() {
    let mut lost = 0;
    for seed in 0..SEEDS {
        let (simulated, disk) = new_disk(seed);
        let file = new_file(&disk, "/f");
        file.prewrite(0, 4096).expect("zeros");
        file.write_at(&[1; 4096], 0).expect("a write");
        simulated.fail_nth(Operation::Sync, 1);
        let error = file.sync().expect_err("the fault");
        assert!(!is_crash(&error));
        let again = disk.open("/f", OpenOptions::default()).expect("the file");
        again.sync().expect("the disk believes that nothing is left to do");
        assert_eq!(disk.read("/f").expect("a read"), [1; 4096], "the cache shows it");
        let after = Disk::simulated(simulated.crash(seed)).read("/f").expect("a read");
        lost += u64::from(after != [1; 4096]);
    }
    assert!(lost > SEEDS / 4 && lost < SEEDS, "{lost}");
}

#[test]
fn a_failed_durable_write_may_be_there_or_not() {
    let mut seen = BTreeSet::new();
    for seed in 0..SEEDS {
        let (simulated, disk) = new_disk(seed);
        let file = new_file(&disk, "/f");
        file.set_len(1024).expect("a length");
        simulated.fail_nth(Operation::DurableWrite, 2);
        file.write_durable_at(&[1; 1024], 0).expect("the first goes well");
        file.write_durable_at(&[2; 1024], 0).expect_err("the fault");
        seen.insert(Disk::simulated(simulated.crash(0)).read("/f").expect("a read"));
    }
    assert!(seen.contains(&vec![1; 1024]) && seen.contains(&vec![2; 1024]) && seen.len() > 2);
}

#[test]
fn a_full_disk_takes_what_fits_and_goes_on_when_there_is_room() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    simulated.set_capacity(Some(3 * 4096));
    let error = file.write_at(&[1; 5 * 4096], 0).expect_err("full");
    assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    assert_eq!(simulated.used(), 3 * 4096);
    file.write_at(&[2; 4096], 0).expect("space it has already");
    assert!(file.allocate(0, 4 * 4096).is_err());
    let other = new_file(&disk, "/g");
    assert!(other.write_durable_at(&[1; 1], 0).is_err());
    drop(file);
    disk.remove_file("/f").expect("removed");
    assert_eq!(simulated.used(), 0);
    let again = disk.open("/g", OpenOptions::default()).expect("the file");
    again.write_durable_at(&[1; 3 * 4096], 0).expect("room again");
    disk.sync_dir("/").expect("a sync");
    assert_eq!(simulated.crash(0).used(), 3 * 4096);
    assert!(disk.open("/h", CREATE).expect("a name").write_at(&[1], 0).is_err());
    simulated.set_capacity(None);
    again.prewrite(0, 1 << 20).expect("no end");
}

#[test]
fn damage_is_durable() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    file.write_durable_at(&[8; 100], 0).expect("a write");
    simulated.flip_bit("/f", 99).expect("damaged");
    assert!(simulated.flip_bit("/f", 100).is_err());
    simulated.truncate("/f", 100).expect("nothing to cut");
    let after = Disk::simulated(simulated.crash(0)).read("/f").expect("a read");
    assert_eq!((after[98], after[99]), (8, 9));
    simulated.truncate("/f", 10).expect("cut");
    assert_eq!(outcomes(&simulated, "/f"), BTreeSet::from([Some(vec![8; 10])]));
    assert_eq!(file.len().expect("a length"), 10);
}

#[test]
fn after_the_crash_point_everything_fails() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    let before = simulated.mutations();
    simulated.crash_after_ops(2);
    file.write_at(&[1; 10], 0).expect("the first");
    assert!(!simulated.is_off());
    assert!(is_crash(&file.write_at(&[2; 10], 0).expect_err("the second")));
    assert!(simulated.is_off());
    assert!(is_crash(&file.read_at(&mut [0], 0).expect_err("off")));
    assert!(is_crash(&file.sync().expect_err("off")));
    assert!(is_crash(&file.len().expect_err("off")));
    assert!(is_crash(&disk.open("/f", CREATE).expect_err("off")));
    assert!(is_crash(&disk.list("/").expect_err("off")));
    assert!(is_crash(&disk.sync_dir("/").expect_err("off")));
    assert!(is_crash(&disk.lock_folder("/").expect_err("off")));
    assert_eq!(simulated.mutations() - before, 2);
    let after = simulated.crash(0);
    assert!(!after.is_off() && after.mutations() == 0);
}

#[test]
fn locks_end_with_the_power() {
    let (simulated, disk) = new_disk(0);
    let _lock = disk.lock_folder("/").expect("a lock");
    assert!(disk.lock_folder("/").is_err());
    Disk::simulated(simulated.crash(0)).lock_folder("/").expect("nobody has it");
}

#[test]
fn space_of_files_that_are_gone_is_given_back() {
    let (simulated, disk) = new_disk(0);
    for round in 0..20u8 {
        let file = new_file(&disk, "/f");
        file.write_durable_at(&[round; 8192], 0).expect("a write");
        disk.remove_file("/f").expect("removed");
        assert_eq!(simulated.used(), 8192, "an open file keeps its space");
        disk.sync_dir("/").expect("a sync");
        drop(file);
        assert_eq!(simulated.used(), 0);
    }
}

#[test]
fn threads_keep_what_was_made_durable() {
    let (simulated, disk) = new_disk(0);
    let file = new_file(&disk, "/f");
    thread::scope(|scope| {
        for number in 0..4u64 {
            let file = &file;
            scope.spawn(move || {
                for round in 0..200u64 {
                    let offset = (round * 4 + number) * SECTOR as u64;
                    file.write_durable_at(&[number as u8 + 1; SECTOR], offset).expect("a write");
                    file.write_at(&[9; SECTOR], (1000 + number) * SECTOR as u64).expect("a write");
                }
            });
        }
    });
    for seed in 0..20 {
        let after = Disk::simulated(simulated.crash(seed)).read("/f").expect("a read");
        for (index, sector) in after.chunks(SECTOR).take(800).enumerate() {
            assert_eq!(sector, [index as u8 % 4 + 1; SECTOR]);
        }
    }
}

/// A prewritten sector-a-record log that acknowledges what it has written, and how it can be wrong.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Logger {
    Right,
    AcknowledgesBeforeSync,
    ForgetsTheFolder,
    SyncsBeforeTheWrite,
    RenamesUnsynced,
}

/// Runs until the crash point and returns how many records were acknowledged.
fn run_logger(disk: &Disk, logger: Logger) -> io::Result<u64> {
    fn note<T>(result: io::Result<T>) -> Option<T> {
        result.map_err(|error| assert!(is_crash(&error), "{error}")).ok()
    }
    let file = disk.open("/log.new", CREATE)?;
    file.set_len(16 * SECTOR as u64)?;
    if logger != Logger::RenamesUnsynced {
        file.sync()?;
    }
    disk.rename("/log.new", "/log")?;
    if logger != Logger::ForgetsTheFolder {
        disk.sync_dir("/")?;
    }
    for record in 0..16u64 {
        let (bytes, offset) = ([record as u8 + 1; SECTOR], record * SECTOR as u64);
        let written = match logger {
            Logger::AcknowledgesBeforeSync => file.write_at(&bytes, offset),
            Logger::SyncsBeforeTheWrite => file.sync().and_then(|()| file.write_at(&bytes, offset)),
            // Every other record goes the long way.
            _ if record % 2 == 0 => file.write_at(&bytes, offset).and_then(|()| file.sync()),
            _ => file.write_durable_at(&bytes, offset),
        };
        if note(written).is_none() {
            return Ok(record);
        }
    }
    Ok(16)
}

/// Crashes the logger at every point, in several ways; whether an acknowledged record was ever lost, or the log was
/// there without its length.
fn loses(logger: Logger) -> bool {
    let (counted, disk) = new_disk(0);
    run_logger(&disk, logger).expect("no crash");
    for point in 1..=counted.mutations() + 1 {
        let (simulated, disk) = new_disk(point);
        simulated.crash_after_ops(point);
        let acknowledged = match run_logger(&disk, logger) {
            Ok(records) => records,
            Err(error) => {
                assert!(is_crash(&error));
                0
            }
        };
        for seed in 0..20 {
            let after = Disk::simulated(simulated.crash(seed)).read("/log").ok();
            // A log that has its name has its length.
            if after.as_ref().is_some_and(|after| after.len() != 16 * SECTOR) {
                return true;
            }
            let after = after.unwrap_or_default();
            let mut sectors = after.chunks(SECTOR);
            let whole = |record| sectors.next() == Some([record as u8 + 1; SECTOR].as_slice());
            if !(0..acknowledged).all(whole) {
                return true;
            }
        }
    }
    false
}

#[test]
fn planted_faults_are_caught_and_the_right_program_is_not() {
    assert!(!loses(Logger::Right));
    assert!(loses(Logger::AcknowledgesBeforeSync));
    assert!(loses(Logger::ForgetsTheFolder));
    assert!(loses(Logger::SyncsBeforeTheWrite));
    assert!(loses(Logger::RenamesUnsynced));
}

/// Everything on the disk.
fn dump(disk: &SimulatedDisk) -> Vec<(String, Vec<u8>)> {
    let disk = Disk::simulated(disk.clone());
    let names = disk.list("/").expect("a list");
    let content = |name: String| {
        let content = disk.read(format!("/{name}")).expect("a file");
        (name, content)
    };
    names.into_iter().map(content).collect()
}

/// One step against the model.
#[derive(Clone, Debug)]
enum Step {
    Write { offset: u64, len: u64 },
    DurableWrite { offset: u64, len: u64 },
    Resize { len: u64 },
    Allocate { offset: u64, len: u64 },
    Sync,
}

const MODEL_SECTORS: usize = 12;
const MODEL_BYTES: u64 = (MODEL_SECTORS * SECTOR) as u64;

/// Offsets and lengths at sector borders and anywhere.
fn position() -> impl Strategy<Value = u64> {
    prop_oneof![0..=MODEL_BYTES / 2, (0..=MODEL_SECTORS as u64 / 2).prop_map(|sector| sector * SECTOR as u64),]
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (position(), position()).prop_map(|(offset, len)| Step::Write { offset, len }),
        3 => (position(), position()).prop_map(|(offset, len)| Step::DurableWrite { offset, len }),
        2 => position().prop_map(|len| Step::Resize { len: len * 2 }),
        1 => (position(), position()).prop_map(|(offset, len)| Step::Allocate { offset, len }),
        1 => Just(Step::Sync),
    ]
}

/// What may be there after a crash: for each sector, the states it had since it was last durable; for the length, a
/// range.
struct Model {
    live: Vec<u8>,
    len: u64,
    states: Vec<Vec<Vec<u8>>>,
    len_min: u64,
    len_max: u64,
}

impl Model {
    fn new() -> Self {
        let states = vec![vec![vec![0; SECTOR]]; MODEL_SECTORS];
        Self { live: vec![0; MODEL_BYTES as usize], len: 0, states, len_min: 0, len_max: 0 }
    }

    fn sector(&self, number: usize) -> Vec<u8> {
        self.live[number * SECTOR..(number + 1) * SECTOR].to_vec()
    }

    fn note(&mut self) {
        for number in 0..MODEL_SECTORS {
            let state = self.sector(number);
            self.states[number].push(state);
        }
        self.len_max = self.len_max.max(self.len);
    }

    fn apply(&mut self, step: &Step, value: u8) {
        match *step {
            Step::Write { offset, len } | Step::DurableWrite { offset, len } => {
                self.live[offset as usize..(offset + len) as usize].fill(value);
                if len > 0 {
                    self.len = self.len.max(offset + len);
                }
            }
            Step::Resize { len } => {
                self.live[len as usize..].fill(0);
                self.len = len;
                self.len_min = self.len_min.min(len);
            }
            Step::Allocate { offset, len } if len > 0 => self.len = self.len.max(offset + len),
            Step::Allocate { .. } | Step::Sync => {}
        }
        self.note();
        let durable = match *step {
            Step::Sync => 0..MODEL_SECTORS,
            Step::DurableWrite { offset, len } if len > 0 => {
                self.len_min = self.len_min.max(offset + len);
                offset as usize / SECTOR..((offset + len) as usize).div_ceil(SECTOR)
            }
            _ => return,
        };
        for number in durable {
            self.states[number] = vec![self.sector(number)];
        }
        if let Step::Sync = step {
            (self.len_min, self.len_max) = (self.len, self.len);
        }
    }

    fn allows(&self, content: &[u8]) -> Result<(), String> {
        let len = content.len() as u64;
        if !(self.len_min..=self.len_max).contains(&len) {
            return Err(format!("length {len}, not in {}..={}", self.len_min, self.len_max));
        }
        for (number, sector) in content.chunks(SECTOR).enumerate() {
            if !self.states[number].iter().any(|state| state[..sector.len()] == *sector) {
                return Err(format!("sector {number} is {sector:?}"));
            }
        }
        Ok(())
    }
}

fn do_step(file: &File, step: &Step, value: u8) -> io::Result<()> {
    match *step {
        Step::Write { offset, len } => file.write_at(&vec![value; len as usize], offset),
        Step::DurableWrite { offset, len } => file.write_durable_at(&vec![value; len as usize], offset),
        Step::Resize { len } => file.set_len(len),
        Step::Allocate { offset, len } => file.allocate(offset, len),
        Step::Sync => file.sync(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() })]

    /// Durable bytes are never lost, and every sector is in one of the states it had.
    #[test]
    fn a_crash_leaves_what_the_model_allows(
        steps in prop::collection::vec(step(), 1..25),
        seed in any::<u64>(),
    ) {
        let (simulated, disk) = new_disk(seed);
        let file = new_file(&disk, "/f");
        let mut model = Model::new();
        for (number, step) in steps.iter().enumerate() {
            let value = number as u8 + 1;
            do_step(&file, step, value).expect("no fault");
            model.apply(step, value);
            let mut live = vec![0; model.len as usize];
            file.read_at(&mut live, 0).expect("a read");
            prop_assert_eq!(&live[..], &model.live[..model.len as usize]);
            for seed in 0..6 {
                let after = Disk::simulated(simulated.crash(seed)).read("/f").expect("a read");
                let allowed = model.allows(&after);
                prop_assert!(allowed.is_ok(), "step {}: {}", number, allowed.unwrap_err());
            }
        }
    }

    /// At the crash point, the step that is cut short has happened in part at most, and all before it stands.
    #[test]
    fn a_crash_point_leaves_what_the_model_allows(
        steps in prop::collection::vec(step(), 1..25),
        point in 1u64..25,
        seed in any::<u64>(),
    ) {
        let (simulated, disk) = new_disk(seed);
        let file = new_file(&disk, "/f");
        let mut model = Model::new();
        simulated.crash_after_ops(point);
        for (number, step) in steps.iter().enumerate() {
            let value = number as u8 + 1;
            if let Err(error) = do_step(&file, step, value) {
                prop_assert!(is_crash(&error));
                // What the cut step would have made durable is not; what it would have written may be there.
                match *step {
                    Step::DurableWrite { offset, len } => model.apply(&Step::Write { offset, len }, value),
                    Step::Sync => {}
                    _ => model.apply(step, value),
                }
                break;
            }
            model.apply(step, value);
        }
        for seed in 0..20 {
            let after = Disk::simulated(simulated.crash(seed)).read("/f").expect("a read");
            let allowed = model.allows(&after);
            prop_assert!(allowed.is_ok(), "{}", allowed.unwrap_err());
        }
    }

    /// Each name leads to something it led to since its folder was last synced.
    #[test]
    fn names_after_a_crash_are_ones_that_were(
        steps in prop::collection::vec((0..4u8, 0..3usize, 0..3usize), 1..20),
        seed in any::<u64>(),
    ) {
        const NAMES: [&str; 3] = ["/a", "/b", "/c"];
        let (simulated, disk) = new_disk(seed);
        let read = |disk: &Disk| NAMES.map(|name| disk.read(name).ok());
        let mut states = vec![read(&disk)];
        for (number, (kind, from, to)) in steps.iter().enumerate() {
            let (from, to) = (NAMES[*from], NAMES[*to]);
            // Some of these fail, as they would anywhere.
            let _ = match kind {
                0 if !disk.exists(from) => disk.open(from, CREATE).and_then(|file| {
                    file.write_durable_at(&[number as u8], 0)
                }),
                1 => disk.remove_file(from),
                2 => disk.rename(from, to),
                3 => disk.sync_dir("/").map(|()| states.clear()),
                _ => Ok(()),
            };
            states.push(read(&disk));
            // A name that was created and not synced may lead nowhere, or to a file that is empty yet.
            for seed in 0..10 {
                let after = read(&Disk::simulated(simulated.crash(seed)));
                for (index, content) in after.iter().enumerate() {
                    let was = states.iter().any(|state| state[index] == *content);
                    prop_assert!(was, "{}: {:?} after step {}", NAMES[index], content, number);
                }
                let contents: Vec<_> = after.iter().flatten().collect();
                let distinct: BTreeSet<_> = contents.iter().collect();
                prop_assert_eq!(contents.len(), distinct.len(), "no file has two names");
            }
        }
    }

    /// The same seed and the same calls end in the same disk, with faults and crash points too.
    #[test]
    fn the_same_seed_ends_the_same(
        steps in prop::collection::vec(step(), 1..25),
        point in 1u64..30,
        fault in 1u64..10,
        seed in any::<u64>(),
    ) {
        let run = || {
            let (simulated, disk) = new_disk(seed);
            let file = new_file(&disk, "/f");
            simulated.fail_nth(Operation::Write, fault);
            simulated.fail_nth(Operation::DurableWrite, fault);
            simulated.crash_after_ops(point);
            let outcome = |(number, step)| do_step(&file, step, number as u8).is_ok();
            let outcomes: Vec<bool> = steps.iter().enumerate().map(outcome).collect();
            (outcomes, dump(&simulated.crash(seed)))
        };
        prop_assert_eq!(run(), run());
    }
}
