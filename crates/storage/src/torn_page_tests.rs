//! Pages that a crash tore, put back on disk by hand, and folders of the format before deltas.

use pikepole_machine::{Disk, OpenOptions, SimulatedDisk};

use crate::fault::{Fault, plant};
use crate::page::PAGE_BYTES;
use crate::store::{DOUBLE_WRITE_FILE, MASTER_FILE};
use crate::test_support::{FOLDER, Fixture, context};
use crate::{Heap, PAGES_FILE, PageId, RowHeader, StorageError};

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// A database whose heap has one page on disk as it was before and as it is after a change that only the log and the double-write
/// area have beside it: page, both versions.
fn overwritten() -> (Fixture, PageId, [Vec<u8>; 2]) {
    let fixture = Fixture::new(64);
    let heap = Heap::open(&fixture.store, 30);
    let insert = |byte: u8| fixture.store.until_done(|| heap.insert(&context(1), &[byte; 970])).expect("a row").0;
    let rids: Vec<_> = (0..8).map(insert).collect();
    assert!(rids.iter().all(|rid| rid.page == rids[0].page));
    fixture.checkpoint();
    let page_on_disk = || {
        let file = Disk::simulated(fixture.simulated.clone()).read(path(PAGES_FILE)).expect("the pages");
        file[rids[0].page.0 as usize * PAGE_BYTES..][..PAGE_BYTES].to_vec()
    };
    let old = page_on_disk();
    let (header, mut rest) = (RowHeader::new(0, 1), vec![5; 970]);
    rest[300..400].fill(99);
    let replace = || heap.replace(&context(1), rids[5], header, header, &rest, |_: RowHeader, _: &[u8]| ());
    fixture.store.until_done(replace).expect("a change");
    fixture.store.write_dirty_pages(fixture.log.reserved()).expect("written");
    let versions = [old, page_on_disk()];
    (fixture, rids[0].page, versions)
}

/// Puts a page on a disk that no store has open.
fn put_on_disk(disk: &SimulatedDisk, page: PageId, bytes: &[u8]) {
    let file = Disk::simulated(disk.clone()).open(path(PAGES_FILE), OpenOptions::default()).expect("the pages");
    file.write_durable_at(bytes, page.0 as u64 * PAGE_BYTES as u64).expect("a write");
}

/// Rows of the heap of [`overwritten`] whose columns are those of before and those of after the change.
fn rows_before_and_after(fixture: &Fixture) -> Result<[usize; 2], StorageError> {
    let mut scan = Heap::open(&fixture.store, 30).scan();
    let mut rows = [0; 2];
    while fixture.store.until_done(|| scan.next_batch())? {
        for row in scan.rows() {
            let is_changed = row.rest.iter().filter(|byte| **byte == 99).count() == 100;
            rows[usize::from(is_changed)] +=
                usize::from(is_changed || row.rest.iter().all(|byte| *byte == row.rest[0]));
        }
    }
    Ok(rows)
}

#[test]
fn a_page_torn_at_any_sector_is_rebuilt_when_the_store_is_opened() {
    let (fixture, page, [old, new]) = overwritten();
    let area = Disk::simulated(fixture.simulated.clone()).read(path(DOUBLE_WRITE_FILE)).expect("the area");
    assert!(area[512..].iter().all(|byte| *byte == 0), "the change takes less than a sector");
    for cut in (0..=PAGE_BYTES).step_by(512) {
        for torn in [[&new[..cut], &old[cut..]].concat(), [&old[..cut], &new[cut..]].concat()] {
            let disk = fixture.simulated.crash(1);
            put_on_disk(&disk, page, &torn);
            for threads in [0, 3] {
                let again = Fixture::recover_with(disk.crash(1), 64, threads).expect("it opens");
                assert_eq!(rows_before_and_after(&again).expect("all rows"), [7, 1], "cut at {cut}");
            }
        }
    }
    plant(Some(Fault::HalfRestored));
    let disk = fixture.simulated.crash(1);
    put_on_disk(&disk, page, &[&new[..512], &old[512..]].concat());
    let wrong = Fixture::recover(disk, 64).err();
    plant(None);
    assert!(matches!(wrong, Some(StorageError::Corrupt { page: named, .. }) if named == page), "{wrong:?}");
}

/// Gives both copies of the master another format version.
fn set_version(disk: &SimulatedDisk, version: u32) {
    let file = Disk::simulated(disk.clone()).open(path(MASTER_FILE), OpenOptions::default()).expect("the master");
    for at in [0, 4096] {
        let mut copy = [0; 68];
        file.read_at(&mut copy, at).expect("a copy");
        copy[8..12].copy_from_slice(&version.to_le_bytes());
        let crc = crc32c::crc32c(&copy[..64]);
        copy[64..].copy_from_slice(&crc.to_le_bytes());
        file.write_durable_at(&copy, at).expect("a write");
    }
}

fn version(disk: &SimulatedDisk) -> Vec<u32> {
    let master = Disk::simulated(disk.clone()).read(path(MASTER_FILE)).expect("the master");
    [0, 4096].map(|at| u32::from_le_bytes(master[at + 8..at + 12].try_into().expect("a number"))).to_vec()
}

#[test]
fn a_folder_of_the_first_format_opens_after_a_crash() {
    let (fixture, page, [old, new]) = overwritten();
    let disk = fixture.simulated.crash(1);
    set_version(&disk, 1);
    let area = Disk::simulated(disk.clone()).open(path(DOUBLE_WRITE_FILE), OpenOptions::default()).expect("the area");
    area.write_durable_at(&new, 0).expect("a write");
    put_on_disk(&disk, page, &[&new[..512], &old[512..]].concat());
    let again = Fixture::recover(disk, 64).expect("it opens");
    assert_eq!(rows_before_and_after(&again).expect("all rows"), [7, 1]);
    assert!(version(&again.simulated).contains(&2), "a former build is not to open what it cannot rebuild");
    set_version(&again.simulated, 3);
    let error = Fixture::recover(again.simulated.crash(1), 64).err().expect("an error");
    assert!(error.to_string().contains("format version 3; this program knows 1 and 2"), "{error}");
}

#[test]
fn a_folder_that_is_closed_in_order_opens_in_former_builds() {
    let (fixture, ..) = overwritten();
    fixture.store.checkpoint_now(&|| None, &|| 1, true).expect("a checkpoint");
    fixture.log.shutdown().expect("the log is closed");
    let disk = fixture.simulated.crash(1);
    assert_eq!(version(&disk)[(fixture.store.master().sequence % 2) as usize], 1);
    set_version(&disk, 1);
    let again = Fixture::recover(disk, 64).expect("it opens");
    assert_eq!(version(&again.simulated)[(again.store.master().sequence % 2) as usize], 2, "in use");
    assert_eq!(rows_before_and_after(&again).expect("all rows"), [7, 1]);
}
