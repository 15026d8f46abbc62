use pikepole_machine::{Disk, OpenOptions, SimulatedDisk};
use proptest::prelude::*;

use super::*;
use crate::fault::{Fault, plant};
use crate::page::{PageKind, PageMut};
use crate::row::RowHeader;
use crate::test_support::Random;

const SECTOR: usize = pikepole_machine::SECTOR;
const PAGE: PageId = PageId(1);
const REDO_LSN: u64 = 100;

/// A file of pages, and the area that belongs to it.
struct Files {
    simulated: SimulatedDisk,
    disk: Disk,
    data: File,
}

impl Files {
    fn on(simulated: SimulatedDisk) -> Files {
        let disk = Disk::simulated(simulated.clone());
        let options = OpenOptions { create: true, ..OpenOptions::default() };
        let data = disk.open("/pages", options).expect("a file");
        disk.open("/double-write", options).expect("a file");
        disk.sync_dir("/").expect("durable names");
        Files { simulated, disk, data }
    }

    fn new() -> Files {
        let files = Files::on(SimulatedDisk::new(1));
        files.area().allocate().expect("room");
        files
    }

    fn area(&self) -> DoubleWrite {
        DoubleWrite::new(self.disk.open("/double-write", OpenOptions::default()).expect("a file"))
    }

    fn put(&self, page: &PageBytes) {
        self.data.write_at(page, PAGE.0 as u64 * PAGE_BYTES as u64).expect("a write");
        self.data.sync().expect("synced");
    }

    /// The page as a restore leaves it.
    fn restored(&self) -> PageBytes {
        self.area().restore(&self.data, REDO_LSN).expect("a restore");
        let mut page = [0; PAGE_BYTES];
        self.data.read_at(&mut page, PAGE.0 as u64 * PAGE_BYTES as u64).expect("a page");
        page
    }
}

/// A leaf with eight rows of 980 bytes, before and after one of them was changed, and what was noted of that.
fn versions() -> (PageBytes, PageBytes, Lines) {
    let mut old = [0; PAGE_BYTES];
    let mut page = PageMut::new(&mut old);
    page.format(PAGE, 20, PageKind::Leaf, 0);
    for key in 0..8u8 {
        page.insert_leaf(key as usize, RowHeader::new(0, 1), &[key], &[key; 970]);
    }
    page.set_lsn(REDO_LSN + 10);
    page.seal();
    let mut new = old;
    let mut page = PageMut::new(&mut new);
    let mut rest = [5; 970];
    rest[300..400].fill(77);
    page.replace_leaf(5, RowHeader::new(0, 2), &[5], &rest);
    page.set_lsn(REDO_LSN + 20);
    page.seal();
    let changed = page.changed();
    (old, new, changed)
}

/// Mixes of two pages: cut at each sector either way round, at any sectors, and at any bytes.
fn mixes(old: &PageBytes, new: &PageBytes) -> Vec<PageBytes> {
    let mut random = Random(3);
    let mut mixes = Vec::new();
    let mut mix = |unit: usize, is_new: &mut dyn FnMut(usize) -> bool| {
        let mut page = *old;
        for at in (0..PAGE_BYTES).step_by(unit) {
            if is_new(at) {
                page[at..at + unit].copy_from_slice(&new[at..at + unit]);
            }
        }
        mixes.push(page);
    };
    for cut in (0..=PAGE_BYTES).step_by(SECTOR) {
        mix(SECTOR, &mut |at| at < cut);
        mix(SECTOR, &mut |at| at >= cut);
    }
    for _ in 0..50 {
        mix(SECTOR, &mut |_| random.below(2) == 0);
        mix(1, &mut |_| random.below(2) == 0);
    }
    mixes
}

/// The number of mixes that are neither version after a restore.
fn not_rebuilt(policy: TornPages) -> usize {
    let (old, new, changed) = versions();
    let files = Files::new();
    files.area().write([(PAGE, &new, changed)].into_iter(), policy).expect("a batch");
    let torn = mixes(&old, &new);
    let mut count = 0;
    for page in &torn {
        files.put(page);
        let restored = files.restored();
        let expected = if *page == old { old } else { new };
        count += usize::from(restored != expected);
    }
    count
}

#[test]
fn a_page_torn_anywhere_is_rebuilt() {
    assert_eq!(not_rebuilt(TornPages::Delta), 0);
    assert_eq!(not_rebuilt(TornPages::Whole), 0);
}

#[test]
fn deltas_that_lack_something_rebuild_nothing_wrong() {
    for fault in [Fault::ShortDelta, Fault::HalfRestored, Fault::UnnotedChanges] {
        plant(Some(fault));
        let missed = not_rebuilt(TornPages::Delta);
        plant(None);
        assert!(missed > 20, "{fault:?}: {missed}");
    }
}

#[test]
fn a_batch_has_the_bytes_of_the_document() {
    let (_, new, changed) = versions();
    let files = Files::new();
    let bytes = files.area().write([(PAGE, &new, changed)].into_iter(), TornPages::Delta).expect("a batch");
    assert_eq!(bytes, BLOCK);
    let area = files.disk.read("/double-write").expect("the area");
    assert_eq!(area.len(), AREA_BYTES);
    let runs: Vec<_> = changed.with(Lines::HEADER).runs().collect();
    let payload: usize = runs.iter().map(|run| run.len()).sum();
    assert!(payload < 400, "{payload} bytes for a row header and 100 bytes of columns");
    let end = 16 + 8 + 4 * runs.len() + payload;
    assert_eq!(get_u32(&area, 0), crc32c::crc32c(&area[4..end]));
    assert_eq!((&area[4..8], get_u32(&area, 8), get_u32(&area, 12)), (&b"PKDW"[..], end as u32, 1));
    assert_eq!((get_u32(&area, 16), get_u32(&area, 20)), (PAGE.0, runs.len() as u32));
    let piece = |at: usize| u16::from_le_bytes([area[at], area[at + 1]]) as usize;
    assert_eq!((piece(24), piece(26)), (0, runs[0].len()), "the header's line");
    assert_eq!(area[24 + 4 * runs.len()..][..runs[0].len()], new[runs[0].clone()]);
    assert!(area[end..].iter().all(|byte| *byte == 0));
}

#[test]
fn a_page_with_many_changes_is_written_whole() {
    let half = Lines::of(0..PAGE_BYTES / 2);
    assert_eq!(lines_of_record(half, TornPages::Delta), half);
    assert_eq!(lines_of_record(half, TornPages::Whole), Lines::ALL);
    assert_eq!(lines_of_record(Lines::of(64..PAGE_BYTES / 2 + 64), TornPages::Delta), Lines::ALL);
    assert_eq!(lines_of_record(Lines::NONE, TornPages::Delta), Lines::HEADER);
}

#[test]
fn a_full_batch_of_whole_pages_fits() {
    let (old, new, _) = versions();
    let files = Files::new();
    let pages = (0..BATCH_PAGES as u32).map(|page| (PageId(page), &new, Lines::ALL));
    let bytes = files.area().write(pages, TornPages::Delta).expect("a batch");
    assert!((AREA_BYTES - BLOCK..=AREA_BYTES).contains(&bytes), "{bytes}");
    let mut torn = old;
    torn[..SECTOR].copy_from_slice(&new[..SECTOR]);
    files.put(&torn);
    assert!(files.restored() == new);
}

#[test]
fn a_batch_that_was_cut_off_rebuilds_nothing() {
    let (old, new, changed) = versions();
    for seed in 0..60 {
        let files = Files::on(SimulatedDisk::new(seed));
        files.area().allocate().expect("room");
        files.put(&old);
        // The batch before is longer, and about the page as it was before.
        let former = (0..40).map(|page| (PageId(page), &old, Lines::ALL));
        files.area().write(former, TornPages::Delta).expect("a batch");
        files.simulated.crash_after_ops(1);
        let mut area = files.area();
        let records = (0..40).map(|page| (PageId(page), &new, changed));
        assert!(area.write(records, TornPages::Delta).is_err(), "cut off");
        let files = Files::on(files.simulated.crash(seed));
        assert!(files.restored() == old, "seed {seed}");
    }
}

#[test]
fn a_delta_of_another_version_changes_nothing() {
    let (old, new, changed) = versions();
    let files = Files::new();
    files.area().write([(PAGE, &new, changed)].into_iter(), TornPages::Delta).expect("a batch");
    let mut other = old;
    other[5_000] ^= 1;
    files.put(&other);
    assert!(files.restored() == other, "its checksum would not hold");
    // At or below the redo start a record counts no more.
    files.put(&[9; PAGE_BYTES]);
    files.area().restore(&files.data, REDO_LSN + 20).expect("a restore");
    assert!(files.restored() == [9; PAGE_BYTES]);
}

#[test]
fn an_area_of_the_first_format_is_understood() {
    let (old, new, _) = versions();
    let files = Files::new();
    // The youngest of the images of a page counts, wherever it lies.
    for (at, page) in [&new, &old, &[0; PAGE_BYTES]].into_iter().enumerate() {
        files.area().file.write_durable_at(page, (at * PAGE_BYTES) as u64).expect("a write");
    }
    for page in mixes(&old, &new) {
        files.put(&page);
        assert!(files.restored() == if page == old { old } else { new });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any bytes, under a checksum that holds, are read without a panic, and put nothing over a whole page.
    #[test]
    fn senseless_batches_are_survived(
        numbers in proptest::collection::vec(prop_oneof![0..3u32, Just(64 << 16), any::<u32>()], 0..200),
        count in any::<u32>(),
        bytes in prop_oneof![Just(None), any::<u32>().prop_map(Some)],
    ) {
        let mut batch = vec![0; HEADER_BYTES];
        numbers.iter().for_each(|number| batch.extend_from_slice(&number.to_le_bytes()));
        batch[4..8].copy_from_slice(MAGIC);
        let len = batch.len() as u32;
        batch[8..12].copy_from_slice(&bytes.unwrap_or(len).to_le_bytes());
        batch[12..16].copy_from_slice(&count.to_le_bytes());
        let crc = crc32c::crc32c(&batch[4..]);
        batch[..4].copy_from_slice(&crc.to_le_bytes());
        let (old, ..) = versions();
        let files = Files::new();
        files.put(&old);
        files.area().file.write_durable_at(&batch, 0).expect("a write");
        prop_assert!(files.restored() == old);
    }
}
