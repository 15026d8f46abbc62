//! Fuzz of the block reader and of the record decoder: no bytes on disk make the log panic, loop or ask for much memory.
//!
//! ```text
//!   real logs of a disk in memory --> their segment files --> changed --> check, look at the files, read, open, append
//!   records of a table with every kind of field ----------> changed --> decode, show, encode again
//! ```
//! A program of its own on stable Rust, without coverage feedback: the mutator knows the format instead. It changes fields of
//! headers to values at the edges, and puts the checksum right again, so that the code behind the checksum meets them.
//!
//! `cargo test -p pikepole-log --test fuzz -- --seconds 60`; a failure names its input: `-- --seed N` runs that one again.

mod mutate;
mod watch;

use mutate::{Random, mutate};
use pikepole_contention::Statistics;
use pikepole_log::field::{Byte, Bytes, Fixed64, Rest, Varint, Varint32, Zigzag};
use pikepole_log::{FlushOutcome, Log, LogFiles, LogOptions, LogRecord, Lsn, Reader, record_table};
use pikepole_machine::{BLOCK, Disk, OpenOptions, SimulatedDisk};
use std::path::Path;

record_table! {
    /// Every kind of field.
    enum Sample<'a> {
        /// All kinds at once.
        1 = All {
            /// A byte.
            byte: Byte,
            /// A varint.
            varint: Varint,
            /// A short varint.
            short: Varint32,
            /// A signed number.
            signed: Zigzag,
            /// Eight bytes.
            fixed: Fixed64,
            /// Bytes with a length.
            name: Bytes,
            /// The other bytes.
            rest: Rest,
        },
        /// Two lengths.
        2 = Two {
            /// The first.
            one: Bytes,
            /// The second.
            two: Bytes,
        },
        /// Nothing at all.
        255 = Empty {},
    }
}

fn main() {
    let run = watch::Run::from_arguments();
    let samples = samples();
    run.each("record decoder", |seed| decode_changed(&samples, seed));
    let logs: Vec<Image> = (1..=6).map(real_log).collect();
    for log in &logs {
        read_all(&log.put(), false);
    }
    run.each("block reader", |seed| read_changed(&logs, seed));
}

fn encoded(record: &Sample<'_>) -> Vec<u8> {
    let mut bytes = vec![0; record.encoded_len()];
    record.encode(&mut bytes);
    bytes
}

fn samples() -> Vec<Vec<u8>> {
    let all =
        |varint, signed, name| Sample::All { byte: 7, varint, short: 300, signed, fixed: 9, name, rest: b"the rest" };
    vec![
        encoded(&all(0, -1, b"")),
        encoded(&all(u64::MAX, i64::MIN, &[7; 200])),
        encoded(&Sample::Two { one: b"one", two: b"" }),
        encoded(&Sample::Empty {}),
    ]
}

fn decode_changed(samples: &[Vec<u8>], seed: u64) {
    let mut random = Random::new(seed);
    let mut bytes = samples[random.below(samples.len())].clone();
    let other = samples[random.below(samples.len())].clone();
    mutate(&mut bytes, &other, &mut random);
    let Ok(record) = Sample::decode(&bytes) else { return };
    assert!(!record.to_string().is_empty() && record.kind() == bytes[0]);
    assert!(record.fields().len() <= bytes.len() * 8);
    // A varint may be longer than it must be, so the bytes may differ; the record may not.
    assert_eq!(Sample::decode(&encoded(&record)), Ok(record));
}

const FOLDER: &str = "/log";

/// The files of a log.
#[derive(Clone)]
struct Image(Vec<(String, Vec<u8>)>);

impl Image {
    /// Takes the files of a disk.
    fn of(disk: &Disk) -> Image {
        let names = disk.list(FOLDER).expect("a folder");
        Image(
            names
                .into_iter()
                .map(|name| (name.clone(), disk.read(Path::new(FOLDER).join(name)).expect("a file")))
                .collect(),
        )
    }

    /// Puts the files on a disk of their own.
    fn put(&self) -> Disk {
        let disk = Disk::simulated(SimulatedDisk::new(1));
        disk.create_dir_all(FOLDER).expect("a folder");
        for (name, bytes) in &self.0 {
            let options = OpenOptions { create: true, ..OpenOptions::default() };
            let file = disk.open(Path::new(FOLDER).join(name), options).expect("a file");
            file.write_at(bytes, 0).expect("room");
            file.sync().expect("it is there");
        }
        disk.sync_dir(FOLDER).expect("a folder");
        disk
    }
}

/// A log with several incarnations, segments in each state, records over block ends, and perhaps no shutdown.
fn real_log(seed: u64) -> Image {
    let mut random = Random::new(seed);
    let disk = Disk::simulated(SimulatedDisk::new(seed));
    let statistics = Statistics::new();
    let options = LogOptions { block_bytes_max: [4096, 8192, 16 << 10][random.below(3)], ..LogOptions::small() };
    let mut log = Log::create(&disk, FOLDER, options.clone(), &statistics).expect("a log");
    for opening in 0..3 {
        for _ in 0..40 + random.below(150) {
            let len = 1 + random.below(900);
            if log.append(len, |record, lsn| record.fill(lsn.0 as u8)).is_err() {
                log.truncate(log.durable());
            }
            if random.below(3) == 0 {
                while matches!(log.flush_step(), FlushOutcome::Wrote(_)) {}
            }
        }
        while matches!(log.flush_step(), FlushOutcome::Wrote(_)) {}
        if random.below(2) == 0 {
            log.truncate(Lsn(log.durable().0 / 2));
        }
        if opening < 2 {
            drop(log);
            log = Log::open(&disk, FOLDER, options.clone(), &statistics, Lsn::OLDEST).expect("it opens").0;
        }
    }
    if random.below(2) == 0 {
        log.shutdown().expect("in order");
    }
    drop(log);
    Image::of(&disk)
}

fn read_changed(logs: &[Image], seed: u64) {
    let mut random = Random::new(seed);
    let mut image = logs[random.below(logs.len())].clone();
    let other = logs[random.below(logs.len())].clone();
    if random.below(3) == 0 {
        shift(&mut image, &mut random);
    }
    for _ in 0..random.below(4) {
        change(&mut image, &other, &mut random);
    }
    read_all(&image.put(), random.below(2) == 0);
}

/// Moves one kind of number in all headers alike, so that the log holds together but for its numbers: to the ends of
/// their range, mostly.
fn shift(image: &mut Image, random: &mut Random) {
    // In block headers; in segment headers.
    let kinds: [(&[usize], &[usize]); 4] =
        [(&[16], &[16]), (&[24, 48], &[48]), (&[32, 40], &[32, 40, 56]), (&[], &[24])];
    let (in_blocks, in_segments) = kinds[random.below(kinds.len())];
    let by = if random.below(2) == 0 { 0u64.wrapping_sub(random.below(400) as u64) } else { random.edge() };
    for (_, bytes) in &mut image.0 {
        for at in headers(bytes) {
            let is_block = bytes[at..].starts_with(b"PKLB");
            // A free segment has no numbers.
            if !is_block && bytes[at + 24..at + 32] == [0; 8] {
                continue;
            }
            for field in if is_block { in_blocks } else { in_segments } {
                let place = at + field..at + field + 8;
                let old = u64::from_le_bytes(bytes[place.clone()].try_into().expect("eight bytes"));
                bytes[place].copy_from_slice(&old.wrapping_add(by).to_le_bytes());
            }
            seal(bytes, at);
        }
    }
}

/// Where headers begin, of the segment and of blocks.
fn headers(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len() / BLOCK).map(|block| block * BLOCK).filter(|at| bytes[*at..].starts_with(b"PKL")).collect()
}

/// Changes one of the files.
fn change(image: &mut Image, other: &Image, random: &mut Random) {
    let place = random.below(image.0.len());
    if random.below(12) == 0 {
        // A segment that is lost, there twice, or of another log.
        match random.below(3) {
            0 => drop(image.0.remove(place)),
            1 => image.0.push(("segment-00000099".to_string(), image.0[place].1.clone())),
            _ => image.0[place].1 = other.0[random.below(other.0.len())].1.clone(),
        }
        image.0.dedup_by(|a, b| a.0 == b.0);
        if image.0.is_empty() {
            *image = other.clone();
        }
        return;
    }
    let bytes = &mut image.0[place].1;
    let blocks = headers(bytes);
    let Some(&at) = blocks.get(random.below(blocks.len())) else { return };
    let from = blocks[random.below(blocks.len())];
    match random.below(6) {
        // Fields of a header, with the right checksum.
        0 | 1 => {
            for _ in 0..=random.below(2) {
                let field = 8 + 8 * random.below(8);
                let old = u64::from_le_bytes(bytes[at + field..at + field + 8].try_into().expect("eight bytes"));
                let value = if random.below(2) == 0 {
                    random.edge()
                } else {
                    old.wrapping_add(random.edge() % 5).wrapping_sub(2)
                };
                bytes[at + field..at + field + 8].copy_from_slice(&value.to_le_bytes());
            }
            seal(bytes, at);
        }
        // Records, with the right checksum.
        2 => {
            let end = (at + 64 + random.below(BLOCK - 64)).min(bytes.len());
            let mut payload = bytes[at + 64..end].to_vec();
            mutate(&mut payload, &other.0[0].1, random);
            payload.resize(end - at - 64, 0);
            bytes[at + 64..end].copy_from_slice(&payload);
            seal(bytes, at);
        }
        // A torn block, a block in the wrong place, a flipped bit, a short file.
        3 => bytes[at + 512 * (1 + random.below(7))..at + BLOCK].fill(0),
        4 => bytes.copy_within(from..from + BLOCK, at),
        _ if random.below(8) == 0 => bytes.truncate(at + random.below(BLOCK)),
        _ => bytes[at + random.below(BLOCK)] ^= 1 << random.below(8),
    }
}

/// Puts the checksum of the header at `at` right, of a block as far as its payload's length makes sense.
fn seal(bytes: &mut [u8], at: usize) {
    let covered = if bytes[at..].starts_with(b"PKLS") {
        80
    } else {
        let payload = u32::from_le_bytes(bytes[at + 56..at + 60].try_into().expect("four bytes")) as usize;
        64usize.saturating_add(payload).min(bytes.len() - at)
    };
    let crc = crc32c::crc32c(&bytes[at + 8..at + covered]);
    bytes[at + 4..at + 8].copy_from_slice(&crc.to_le_bytes());
}

/// Everything that reads a log, and then a log that goes on behind what was read.
fn read_all(disk: &Disk, append: bool) {
    let checked = Log::check(disk, FOLDER);
    if let Ok(files) = LogFiles::open(disk, FOLDER) {
        let mut bytes = 0;
        files.walk(&mut |_| bytes += 1).expect("the disk is whole");
        let extent = files.extent();
        assert!(extent.start <= extent.end);
        read(files.read());
        if let Ok(reader) = files.read_near(Lsn(extent.end.0 / 2)) {
            read(reader);
        }
        assert!(checked.is_err() || files.damage().is_none(), "a check finds the damage that a look finds");
    }
    let _ = LogFiles::open_live(disk, FOLDER);
    let statistics = Statistics::new();
    let Ok((log, reader)) = Log::open(disk, FOLDER, LogOptions::small(), &statistics, Lsn::OLDEST) else { return };
    read(reader);
    if append && log.append(100, |record, _| record.fill(1)).is_ok() {
        while matches!(log.flush_step(), FlushOutcome::Wrote(_)) {}
        let _ = log.shutdown();
    }
}

fn read(mut reader: Reader) {
    let mut behind = Lsn::ZERO;
    while let Ok(Some((lsn, record, end))) = reader.next() {
        assert!(lsn >= behind && end > lsn && !record.is_empty());
        behind = end;
    }
}
