//! Probes: what the machine itself can do, to measure ourselves against.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::{AlignedBuffer, BLOCK, Disk, File, OpenOptions, clock};

/// Bytes of the file that is written round and round.
const FILE_BYTES: u64 = 16 << 20;

/// The outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Writes made in all.
    pub writes: u64,
    /// Writes a second.
    pub writes_per_second: f64,
    /// Half of the writes took no longer than these microseconds.
    pub p50_us: u64,
    /// 99 of 100 writes took no longer than these microseconds.
    pub p99_us: u64,
    /// Whether the writes went round the page cache.
    pub direct: bool,
}

/// Makes durable writes of `write_bytes` each, one after another, into a prewritten file in the folder `dir`, for
/// `duration` and at least once. `write_bytes` is a multiple of [`BLOCK`] and at most 16 MiB. The file is removed.
///
/// # Errors
/// What the file system answers.
pub fn durable_writes(dir: impl AsRef<Path>, write_bytes: usize, duration: Duration) -> io::Result<Probe> {
    let valid = write_bytes > 0 && write_bytes.is_multiple_of(BLOCK) && write_bytes as u64 <= FILE_BYTES;
    if !valid {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let path = dir.as_ref().join(format!("probe-{}", std::process::id()));
    let (disk, path) = (Disk::real(), RemovedAtEnd(path));
    let options = OpenOptions { create: true, direct: true, durable_writes: true, read_only: false };
    let file = disk.open(&path.0, options)?;
    file.prewrite(0, FILE_BYTES)?;
    measure(&file, write_bytes, duration)
}

struct RemovedAtEnd(PathBuf);

impl Drop for RemovedAtEnd {
    fn drop(&mut self) {
        // There is no one to tell: the probe has its answer, or its error, already.
        let _ = Disk::real().remove_file(&self.0);
    }
}

fn measure(file: &File, write_bytes: usize, duration: Duration) -> io::Result<Probe> {
    let mut content = AlignedBuffer::zeroed(write_bytes);
    let mut times_us = Vec::new();
    let mut offset = 0;
    let start = clock::now_us();
    let end = start.saturating_add(u64::try_from(duration.as_micros()).unwrap_or(u64::MAX));
    let mut now = start;
    while times_us.is_empty() || now < end {
        if offset + write_bytes as u64 > FILE_BYTES {
            offset = 0;
        }
        // Other bytes each time, so that no layer below can take the write for one it has.
        content[..8].copy_from_slice(&now.to_le_bytes());
        file.write_durable_at(&content, offset)?;
        offset += write_bytes as u64;
        let before = std::mem::replace(&mut now, clock::now_us());
        times_us.push(now.saturating_sub(before));
    }
    times_us.sort_unstable();
    let writes = times_us.len();
    let at = |percent: usize| times_us[(writes * percent / 100).min(writes - 1)];
    Ok(Probe {
        writes: writes as u64,
        writes_per_second: writes as f64 * 1e6 / now.saturating_sub(start).max(1) as f64,
        p50_us: at(50),
        p99_us: at(99),
        direct: file.is_direct(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_probe_writes_and_cleans_up() {
        let folder = std::env::temp_dir().join(format!("pikepole-probe-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let probe = durable_writes(&folder, BLOCK, Duration::ZERO).expect("a probe");
        assert_eq!(probe.writes, 1);
        assert!(probe.writes_per_second > 0.0 && probe.p50_us <= probe.p99_us);
        assert_eq!(Disk::real().list(&folder).expect("a list"), Vec::<String>::new());
        for refused in [0, 100, 32 << 20] {
            let error = durable_writes(&folder, refused, Duration::ZERO).expect_err("refused");
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        }
        std::fs::remove_dir(&folder).expect("it is empty");
    }
}
