//! `docs/understand/format.md` says what the code does: its tables are the code's own, and its boxes are found in real files.

use pikepole_contention::Statistics;
use pikepole_log::{Log, LogOptions, RECORD_BYTES_MAX, docs_table};
use pikepole_machine::{Disk, SimulatedDisk};
use pikepole_storage::records::Record;
use pikepole_storage::*;
use std::sync::Arc;

const DATA: &str = "/db/data";
const LOG: &str = "/db/log";
const OBJECT: u32 = 20;
const KEY: &[u8] = b"key";
const REST: &[u8] = b"the rest";

fn document() -> String {
    let own = std::env::var("CARGO_MANIFEST_DIR").expect("cargo sets it");
    std::fs::read_to_string(format!("{own}/../../docs/understand/format.md")).expect("the document of the formats")
}

#[test]
fn the_tables_of_the_document_are_those_of_the_code() {
    let document = document();
    let records = docs_table(Record::TABLE);
    assert!(
        document.contains(&format!("\n{records}\n")),
        "the table of records in docs/understand/format.md is to be:\n{records}"
    );
    let rid = Rid { page: PageId(1), slot: 2 };
    let sizes = [
        ("page", PAGE_BYTES),
        ("page header", PAGE_HEADER_BYTES),
        ("row header", ROW_HEADER_BYTES),
        ("pages of an extent", EXTENT_PAGES as usize),
        ("extents of a map page", MAP_EXTENTS as usize),
        ("first object id that is not the store's own", OBJECT_FIRST as usize),
        ("longest key of a tree", KEY_BYTES_MAX),
        ("longest columns of a heap row", Heap::ROW_BYTES_MAX),
        ("rid", rid.to_bytes().len()),
        ("longest log record, kind byte included", RECORD_BYTES_MAX),
        ("format version of `data/`", FORMAT_VERSION as usize),
    ];
    let mut table = String::from("| what | value |\n|---|---|\n");
    sizes.iter().for_each(|(what, value)| table.push_str(&format!("| {what} | {value} |\n")));
    assert!(
        document.contains(&format!("\n{table}\n")),
        "the table of sizes in docs/understand/format.md is to be:\n{table}"
    );
}

/// A number of the file at `at`, little-endian.
fn number<const BYTES: usize>(file: &[u8], at: usize) -> u64 {
    file[at..at + BYTES].iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// A database with one row in a tree, checkpointed; the disk and the tree's root.
fn database() -> (Disk, PageId, Arc<Store>) {
    let disk = Disk::simulated(SimulatedDisk::new(1));
    disk.create_dir_all(DATA).expect("a folder");
    let statistics = Statistics::new();
    let options = LogOptions { ring_bytes: 32 << 20, record_bytes_max: 24 << 10, ..LogOptions::small() };
    let log = Arc::new(Log::create(&disk, LOG, options, &statistics).expect("a log"));
    let options = StoreOptions { pool_bytes: 1 << 20, touch_ahead: false, ..StoreOptions::default() };
    let store = Store::create(&disk, DATA, options, log, statistics).expect("a store");
    let tree = store.until_done(|| Tree::create(&store, OBJECT, 8)).expect("a tree");
    let context = LogContext::new(7);
    let inserted = store.until_done(|| tree.insert(&mut TreeCursor::new(), &context, KEY, REST));
    assert!(matches!(inserted, Ok(InsertOutcome::Done(_))));
    store.checkpoint_now(&|| None, &|| 8, true).expect("a checkpoint");
    (disk, tree.root(), store)
}

#[test]
fn the_boxes_of_the_document_are_found_in_the_files() {
    let (disk, root, store) = database();
    let file = |folder: &str, name: &str| disk.read(format!("{folder}/{name}")).expect("a file");

    let (master, known) = (file(DATA, "master"), store.master());
    let copy = (known.sequence % 2) as usize * 4096;
    assert_eq!(&master[copy..copy + 8], b"PIKEMSTR");
    let field = |at| number::<8>(&master, copy + at);
    assert_eq!(
        [number::<4>(&master, copy + 8), number::<4>(&master, copy + 12)],
        [1, 1 | 4],
        "version, closed in order, with stamps"
    );
    assert_eq!([field(16), field(24)], [known.sequence, known.checkpoint_lsn.0]);
    assert_eq!([field(32), field(40), field(48)], [known.redo_lsn.0, known.recovery_lsn.0, 8]);
    assert_eq!(number::<4>(&master, copy + 56), u64::from(store.file_pages()));
    assert_eq!(number::<4>(&master, copy + 64), u64::from(crc32c::crc32c(&master[copy..copy + 64])));
    let place = known.place.expect("a checkpoint notes where the log is");
    assert_eq!(number::<4>(&master, copy + 68), u64::from(crc32c::crc32c(&master[copy + 72..copy + 128])));
    assert_eq!([field(72), field(80), field(88)], [place.segment, place.offset, place.block]);
    assert_eq!([field(96), field(104)], [place.lsn.0, place.incarnation]);
    assert_eq!([field(112), field(120)], [known.end_lsn.0, known.sequence]);

    let pages = file(DATA, "pages");
    let at = root.0 as usize * PAGE_BYTES;
    let page = &pages[at..at + PAGE_BYTES];
    let entry = 8 + 1 + KEY.len() + REST.len();
    assert_eq!(number::<4>(page, 0), u64::from(crc32c::crc32c(&page[4..])));
    assert_eq!([number::<4>(page, 4), number::<4>(page, 16)], [u64::from(root.0), u64::from(OBJECT)]);
    assert!((1..=store.log().reserved().0).contains(&number::<8>(page, 8)), "lsn");
    assert_eq!(page[20..24], [PageKind::Leaf as u8, 0, 0, 0], "kind, level, flags");
    assert_eq!([number::<2>(page, 24), number::<2>(page, 26)], [1, (PAGE_BYTES - entry) as u64], "slots, start");
    assert_eq!([number::<2>(page, 38), number::<4>(page, 40)], [KEY.len() as u64, 0], "longest, next");
    assert_eq!([number::<2>(page, 64), number::<2>(page, 66)], [(PAGE_BYTES - entry) as u64, entry as u64], "slot 0");
    let bytes = [&[7, 0, 0, 0, 0, 0, 0, 0, KEY.len() as u8][..], KEY, REST].concat();
    assert_eq!(page[PAGE_BYTES - entry..], bytes, "row header, key length, key, rest");

    let extent = 64 + 8 * (root.0 / EXTENT_PAGES) as usize;
    assert_eq!(pages[20], PageKind::Map as u8);
    assert_eq!([number::<4>(&pages, 64), number::<4>(&pages, extent)], [1, u64::from(OBJECT)], "owners");
    assert_eq!(pages[extent + 4..extent + 8], [1 << (root.0 % EXTENT_PAGES), 0, 0, 0], "pages in use");

    // The first write of a block goes to its second copy.
    let stamps = file(DATA, "stamps");
    let (block, page_stamp) = (root.0 as usize / 336, 64 + 12 * (root.0 as usize % 336));
    let copies = [0, 1].map(|copy| &stamps[8192 * block + 4096 * copy..][..4096]);
    let copy = copies.into_iter().max_by_key(|copy| number::<8>(copy, 16)).expect("two copies");
    assert_eq!(number::<4>(copy, 0), u64::from(crc32c::crc32c(&copy[4..])));
    assert_eq!((&copy[4..8], number::<4>(copy, 8)), (&b"PKST"[..], block as u64));
    assert!(std::ptr::eq(copy, copies[(number::<8>(copy, 16) % 2) as usize]), "copy by sequence");
    assert_eq!(number::<8>(copy, page_stamp), number::<8>(page, 8), "lsn");
    assert_eq!(number::<4>(copy, page_stamp + 8), number::<4>(page, 0), "checksum");

    let segment = file(LOG, "segment-00000001");
    assert_eq!([&segment[0..4], &segment[4096..4100]], [b"PKLS", b"PKLB"]);
    assert_eq!(number::<4>(&segment, 4), u64::from(crc32c::crc32c(&segment[8..80])));
    assert_eq!([number::<4>(&segment, 64), number::<8>(&segment, 72)], [2, segment.len() as u64], "version, bytes");
    let payload = number::<4>(&segment, 4096 + 56) as usize;
    assert_eq!(number::<4>(&segment, 4096 + 4), u64::from(crc32c::crc32c(&segment[4096 + 8..4096 + 72 + payload])));
    assert_eq!([number::<2>(&segment, 4096 + 60), number::<2>(&segment, 4096 + 62)], [2, 1], "version, flags");
    let time_us = number::<8>(&segment, 4096 + 64);
    assert!(time_us <= pikepole_machine::clock::unix_time_us().unsigned_abs() && time_us > 1_577_836_800_000_000);
}
