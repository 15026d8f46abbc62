//! Looking at a log's files: all of them, the damage in them, and nothing changed by it.

use super::*;
use crate::tests::{FOLDER, append, flush, new_log, open, read_all};
use crate::{Log, LogOptions};
use pikepole_machine::SimulatedDisk;

const SEGMENT: &str = "segment-00000001";

fn look(disk: &SimulatedDisk) -> Result<LogFiles, LogError> {
    LogFiles::open(&Disk::simulated(disk.clone()), FOLDER)
}

/// A log of five blocks with a record each, not shut down. The first block is the one that begins the incarnation.
fn five_blocks() -> (SimulatedDisk, Log) {
    let (disk, log) = new_log(LogOptions::small());
    for number in 0..5u8 {
        append(&log, &[number; 100]).unwrap();
        flush(&log);
    }
    (disk, log)
}

fn stretches(files: &LogFiles) -> Vec<Stretch> {
    let mut all = Vec::new();
    files.walk(&mut |stretch| all.push(stretch)).unwrap();
    all
}

fn content(disk: &SimulatedDisk) -> Vec<(String, Vec<u8>)> {
    let disk = Disk::simulated(disk.clone());
    let names = disk.list(FOLDER).unwrap();
    names.into_iter().map(|name| (name.clone(), disk.read(Path::new(FOLDER).join(name)).unwrap())).collect()
}

#[test]
fn every_byte_of_every_segment_is_told_once_and_none_is_changed() {
    let (disk, log) = new_log(LogOptions::small());
    for number in 0..200u8 {
        append(&log, &[number; 700]).unwrap();
        flush(&log);
        log.prepare_step();
    }
    log.truncate(Lsn(log.durable().0 / 2));
    drop(log);
    drop(open(&disk, Lsn::OLDEST).unwrap());
    let before = content(&disk);
    let files = look(&disk).unwrap();
    let (mut at, mut of_the_log, mut left) = (vec![BLOCK as u64; files.segments().len()], 0, 0);
    for stretch in stretches(&files) {
        let (segment, offset, bytes) = match stretch {
            Stretch::Block(block) => {
                of_the_log += u64::from(block.of_the_log);
                left += u64::from(!block.of_the_log);
                assert_eq!(block.bytes, block.payload_bytes + block.padding_bytes + BLOCK_HEADER_BYTES as u64);
                (block.segment, block.offset, block.bytes)
            }
            Stretch::Empty { segment, offset, bytes } => (segment, offset, bytes),
            Stretch::Broken { .. } => panic!("{stretch:?}"),
        };
        assert_eq!(offset, at[segment], "in the order of the bytes");
        at[segment] += bytes;
    }
    let lengths: Vec<u64> = files.segments().iter().map(|segment| segment.bytes).collect();
    assert_eq!(at, lengths);
    assert_eq!(of_the_log, files.extent().blocks);
    assert!(left > 0, "recycled segments keep their former blocks");
    assert!(files.segments().iter().any(|segment| segment.usage == SegmentUsage::Free), "{:?}", files.segments());
    assert!(files.damage().is_none());
    assert_eq!(content(&disk), before);
}

#[test]
fn reading_near_a_position_gives_all_records_from_there_on() {
    let (disk, log) = new_log(LogOptions::small());
    for number in 0..150u8 {
        append(&log, &[number; 900]).unwrap();
        flush(&log);
        log.prepare_step();
    }
    let files = look(&disk).unwrap();
    assert!(files.segments().len() > 2);
    let all = read_all(&mut files.read()).unwrap();
    assert_eq!(all.len(), 150);
    for place in [0, 1, 40, 77, 149] {
        let wanted = all[place].0;
        let mut read = read_all(&mut files.read_near(wanted).unwrap()).unwrap();
        read.retain(|(lsn, _, _)| *lsn >= wanted);
        assert_eq!(read, all[place..], "record {place}");
    }
    // Near the end less is read than from the start on.
    let mut near = files.read_near(all[149].0).unwrap();
    read_all(&mut near).unwrap();
    assert!(near.blocks_read() < 150, "{}", near.blocks_read());
    assert!(read_all(&mut files.read_near(Lsn(u64::MAX)).unwrap()).unwrap().len() < 150);
}

#[test]
fn a_damaged_block_is_told_with_its_place_and_the_log_before_it_is_read() {
    let (disk, log) = five_blocks();
    let end = look(&disk).unwrap().extent().end;
    assert_eq!(end, log.durable());
    // The header's block, the incarnation's block, then the records' blocks: this one holds the third.
    let offset = 4 * BLOCK as u64;
    disk.flip_bit(Path::new(FOLDER).join(SEGMENT), offset + 70).unwrap();
    let files = look(&disk).unwrap();
    let Some(LogError::Corrupt { segment, offset: at, lsn, .. }) = files.damage() else { panic!("no damage") };
    assert_eq!((segment.as_str(), *at), (SEGMENT, offset));
    assert_eq!(*lsn, files.extent().end);
    assert_eq!(read_all(&mut files.read()).unwrap().len(), 2);
    let all = stretches(&files);
    assert!(all.contains(&Stretch::Broken { segment: 0, offset }));
    let good = |of_the_log: bool| {
        all.iter().filter(|stretch| matches!(stretch, Stretch::Block(block) if block.of_the_log == of_the_log)).count()
    };
    assert_eq!((good(true), good(false)), (3, 2));
    assert!(matches!(Log::check(&Disk::simulated(disk), FOLDER), Err(LogError::Corrupt { .. })));
}

#[test]
fn the_last_block_of_a_crash_is_no_damage() {
    let (disk, _log) = five_blocks();
    disk.flip_bit(Path::new(FOLDER).join(SEGMENT), 6 * BLOCK as u64 + 70).unwrap();
    let files = look(&disk).unwrap();
    assert!(files.damage().is_none());
    assert_eq!(read_all(&mut files.read()).unwrap().len(), 4);
    assert!(stretches(&files).contains(&Stretch::Broken { segment: 0, offset: 6 * BLOCK as u64 }));
}

#[test]
fn a_block_that_was_on_its_way_is_no_damage_and_one_that_stays_away_is() {
    let (disk, log) = five_blocks();
    let path = Path::new(FOLDER).join(SEGMENT);
    let offset = 4 * BLOCK as u64 + 70;
    disk.flip_bit(&path, offset).unwrap();
    let mut looks = 0;
    let files = LogFiles::settle(&mut || {
        looks += 1;
        if looks == 2 {
            // The block arrives between the two looks.
            disk.flip_bit(&path, offset).unwrap();
        }
        look(&disk)
    });
    let files = files.unwrap();
    assert!(files.damage().is_none() && looks == 2);
    assert!(files.extent().end < log.durable(), "the log as it was at the first look");
    disk.flip_bit(&path, offset).unwrap();
    let files = LogFiles::open_live(&Disk::simulated(disk.clone()), FOLDER).unwrap();
    assert!(matches!(files.damage(), Some(LogError::Corrupt { .. })));
}

#[test]
fn what_is_no_log_is_refused() {
    let disk = SimulatedDisk::new(1);
    assert!(matches!(look(&disk), Err(LogError::Missing(_))));
    assert!(matches!(LogFiles::open_live(&Disk::simulated(disk), FOLDER), Err(LogError::Missing(_))));
}
