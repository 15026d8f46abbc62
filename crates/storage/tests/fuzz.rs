//! Fuzz of the engine's log records: no bytes make the decoder, or what reads a record's parts, panic or loop.
//!
//! `cargo test -p pikepole-storage --test fuzz -- --seconds 60`; a failure names its input: `-- --seed N` runs it again.

#[path = "../../log/tests/fuzz/mutate.rs"]
mod mutate;
#[path = "../../log/tests/fuzz/watch.rs"]
mod watch;

use mutate::{Random, mutate};
use pikepole_log::LogRecord;
use pikepole_storage::records::Record;
use pikepole_storage::{Glance, RowHeader};

fn main() {
    let run = watch::Run::from_arguments();
    let samples = samples();
    let disk = pikepole_machine::Disk::null();
    let mut glance = Glance::at(&disk, std::path::Path::new("/none")).expect("nothing is there");
    run.each("engine records", |seed| decode_changed(&samples, &mut glance, seed));
}

/// A record of each kind, with values from everyday ones to the largest.
fn samples() -> Vec<Vec<u8>> {
    let (old_header, new_header) = (RowHeader::new(1, 700), RowHeader::new(3, RowHeader::XID_MAX));
    // Of the list of a split: an image of 9 bytes, a truncation, a child, a page taken into use.
    let changes = [&[9, 1, 9][..], &[7; 9], &[3, 2, 4, 4], b"high", &[9, 2, 3, 9, 4], b"high", &[0, 4, 9, 32]].concat();
    let records = [
        Record::Insert { flags: 0x33, xid: 700, page: 16, slot: 2, key: b"\x80\0\0\x01", rest: b"rest" },
        Record::Insert { flags: 1, xid: RowHeader::XID_MAX, page: u32::MAX, slot: 65_535, key: b"", rest: b"" },
        Record::Replace {
            flags: 0,
            xid: 1,
            page: 2,
            slot: 3,
            key: b"key",
            old_header,
            new_header,
            old_rest: &[5; 200],
            rest: b"new",
        },
        Record::SetHeader { flags: 4, xid: 1, page: 2, slot: 3, old_header, new_header, key: b"key" },
        Record::Remove { flags: 4, xid: 0, page: 2, slot: 3, key: b"" },
        Record::Structure { changes: &changes },
        Record::FreeExtents { page: 0, object: 33 },
        Record::Commit { xid: 700, time_us: u64::MAX },
        Record::Abort { xid: 700 },
        Record::Checkpoint { time_us: 1 },
        Record::InsertPage { flags: 1, xid: 700, page: 17, object: 32, rows: 3, row_bytes: 4, body: b"abcdefghijkl" },
        Record::InsertPage { flags: 0, xid: 700, page: 18, object: 32, rows: 2, row_bytes: 0, body: b"\x02ab\x01c" },
        Record::UsePage { flags: 1, xid: 700, page: 17, object: 32 },
        Record::FreePage { flags: 4, xid: 700, page: 17 },
        Record::BulkPages { page: 16, used: 3, object: 32 },
        Record::ReplacePart {
            flags: 0,
            xid: 1,
            page: 2,
            slot: 3,
            key: b"key",
            old_header,
            new_header,
            at: 17,
            old_part: &[5; 20],
            part: b"new",
        },
        Record::InMemory { flags: 3, xid: 700, time: u64::MAX, changes: b"\x82\x01\x0crow\x0dkey" },
    ];
    assert_eq!(records.iter().map(Record::kind).max(), Record::TABLE.iter().map(|doc| doc.kind).max(), "all kinds");
    records.iter().map(encoded).collect()
}

fn encoded(record: &Record<'_>) -> Vec<u8> {
    let mut bytes = vec![0; record.encoded_len()];
    record.encode(&mut bytes);
    bytes
}

fn decode_changed(samples: &[Vec<u8>], glance: &mut Glance, seed: u64) {
    let mut random = Random::new(seed);
    let mut bytes = samples[random.below(samples.len())].clone();
    let other = samples[random.below(samples.len())].clone();
    mutate(&mut bytes, &other, &mut random);
    let Ok(record) = Record::decode(&bytes) else { return };
    assert!(record.to_string().starts_with(record.name()));
    let doc = Record::TABLE.iter().find(|doc| doc.kind == record.kind()).expect("it is in the table");
    assert!(record.fields().iter().map(|(name, _)| *name).eq(doc.fields.iter().map(|field| field.name)));
    let change = record.row_change();
    assert!(change.is_none() || (record.xid().is_some() && record.page().is_some()));
    let _ = (record.time_us(), record.ends_transaction());
    glance.note(&record);
    assert_eq!(Record::decode(&encoded(&record)), Ok(record));
}
