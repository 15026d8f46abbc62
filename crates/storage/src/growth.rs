//! The size of the file of pages: the step by which it grows, the limit of its size, and room that is taken ahead.
//!
//! A thread that makes the file longer holds the turn `growth`; inserts look at none of this before they find no free extent.

use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::is_full;

use crate::allocation::{EXTENT_BYTES, EXTENT_PAGES, EXTENTS_AHEAD, EXTENTS_FREE_MIN};
use crate::error::StorageError;
use crate::page::PAGE_BYTES;
use crate::pool::PAGES_MAX;
use crate::store::{Store, lock};

const GROWTH_BYTES_MIN: u64 = 8 << 20;
const GROWTH_BYTES_MAX: u64 = 256 << 20;

/// The step by which the file of pages grows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FileGrowth {
    /// By as much as there is, from 8 MB to 256 MB, and before the last free extents are in use.
    #[default]
    Doubling,
    /// By so many bytes, rounded up to extents of 64 KB; 0: it does not grow.
    Bytes(u64),
    /// By so many percent of the file.
    Percent(u32),
}

/// The steps and the limit of the growth of the file of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FileLimits {
    /// The step.
    pub growth: FileGrowth,
    /// The bytes that it may have; None: as many as the disk has room for.
    pub bytes_max: Option<u64>,
    /// Its size was said: it grows when it must, and not ahead.
    pub is_sized: bool,
}

fn full(why: &str) -> StorageError {
    StorageError::DataFull { why: why.to_owned() }
}

impl Store {
    /// Sets how the file grows, and how far.
    pub fn set_file_limits(&self, limits: FileLimits) {
        *lock(&self.file_limits) = limits;
    }

    /// The bytes that the file of a new store has.
    pub fn first_bytes(&self) -> u64 {
        GROWTH_BYTES_MIN.min(self.options.growth_bytes_max)
    }

    /// The bytes by which the file would grow now; 0: it has its largest size.
    pub fn growth_bytes(&self) -> u64 {
        self.growth_step(u64::from(self.file_pages()) * PAGE_BYTES as u64).unwrap_or(0)
    }

    /// Free extents below which the lazy writer makes the file grow. One whose size or step was said grows when it must.
    pub(crate) fn extents_ahead(&self) -> u32 {
        let limits = *lock(&self.file_limits);
        let grows_ahead = limits.growth == FileGrowth::Doubling && !limits.is_sized;
        if grows_ahead { EXTENTS_AHEAD } else { EXTENTS_FREE_MIN }
    }

    /// The step of a file of `bytes`: whole extents.
    fn growth_step(&self, bytes: u64) -> Result<u64, StorageError> {
        let limits = *lock(&self.file_limits);
        let step = match limits.growth {
            FileGrowth::Doubling => {
                bytes.next_power_of_two().clamp(GROWTH_BYTES_MIN, GROWTH_BYTES_MAX).min(self.options.growth_bytes_max)
            }
            FileGrowth::Bytes(0) => return Err(full("the data file does not grow")),
            FileGrowth::Bytes(step) => step.max(EXTENT_BYTES),
            FileGrowth::Percent(percent) => (bytes / 100).saturating_mul(u64::from(percent)).max(EXTENT_BYTES),
        };
        let left_of_pages = (u64::from(PAGES_MAX / EXTENT_PAGES) * EXTENT_BYTES).saturating_sub(bytes);
        let left = limits.bytes_max.map_or(u64::MAX, |most| most.saturating_sub(bytes)) / EXTENT_BYTES * EXTENT_BYTES;
        if step.div_ceil(EXTENT_BYTES) > left_of_pages / EXTENT_BYTES || left == 0 {
            return Err(full("the data file has its largest size"));
        }
        Ok(step.div_ceil(EXTENT_BYTES).saturating_mul(EXTENT_BYTES).min(left))
    }

    /// Makes the file longer by a step, if it has fewer free extents than that. Blocks.
    pub(crate) fn grow(&self, free_min: u32) -> Result<(), StorageError> {
        let _turn = self.growth.lock();
        let (old, free) = {
            let space = self.space.lock();
            (space.extents(), space.free_extents())
        };
        if free >= free_min {
            return Ok(());
        }
        let bytes = u64::from(old) * EXTENT_BYTES;
        let mut step = self.growth_step(bytes)?;
        loop {
            match self.take_room(bytes, step) {
                Ok(()) => return self.use_room(old, step),
                // Less than a step may still be there.
                Err(error) if is_full(&error) && step > 8 * EXTENT_BYTES => {
                    step = (step / 4).next_multiple_of(EXTENT_BYTES)
                }
                Err(error) => return Err(not_grown(error)),
            }
        }
    }

    /// Makes the file at least `bytes` long, whatever its step and its limit are. It keeps its length after a crash once the
    /// log is durable up to here. Blocks.
    ///
    /// # Errors
    /// A full disk, failed writes; what was taken until then stays.
    pub fn prepare_file(&self, bytes: u64) -> Result<(), StorageError> {
        let mut grown = false;
        loop {
            let _turn = self.growth.lock();
            let old = self.space.lock().extents();
            let has = u64::from(old) * EXTENT_BYTES;
            if has >= bytes {
                return if grown { self.sync_length() } else { Ok(()) };
            }
            grown = true;
            let step = (bytes - has).min(GROWTH_BYTES_MAX).next_multiple_of(EXTENT_BYTES);
            if u64::from(old) + step / EXTENT_BYTES > u64::from(PAGES_MAX / EXTENT_PAGES) {
                return Err(full("the data file has its largest size"));
            }
            self.take_room(has, step).map_err(not_grown)?;
            self.use_room(old, step)?;
        }
    }

    fn sync_length(&self) -> Result<(), StorageError> {
        self.data.sync().map_err(|error| self.poison(format!("syncing the data file: {error}")))
    }

    /// Takes room for pages behind the file's `bytes`, and for their stamps.
    fn take_room(&self, bytes: u64, step: u64) -> std::io::Result<()> {
        self.data.allocate(bytes, step)?;
        self.data_reaches(bytes + step)?;
        lock(&self.stamps).allocate(((bytes + step) / PAGE_BYTES as u64) as u32)
    }

    /// Makes the extents of room that was taken ones of the store.
    fn use_room(&self, old: u32, step: u64) -> Result<(), StorageError> {
        let new = old + (step / EXTENT_BYTES) as u32;
        self.format_maps(old, new)?;
        self.space.lock().extend(new);
        self.pool.statistics.add(Counter::DataFilesSize, step >> 10);
        self.pages_in_file.fetch_max(new * EXTENT_PAGES, Ordering::Release);
        Ok(())
    }

    /// File systems without preallocation do not extend the file by it.
    fn data_reaches(&self, bytes: u64) -> std::io::Result<()> {
        if self.data.len()? < bytes { self.data.set_len(bytes) } else { Ok(()) }
    }
}

fn not_grown(error: std::io::Error) -> StorageError {
    if is_full(&error) { full(&error.to_string()) } else { StorageError::io("growing the data file", error) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::Fixture;

    const MB: u64 = 1 << 20;

    fn bytes(store: &Store) -> u64 {
        let bytes = u64::from(store.file_pages()) * PAGE_BYTES as u64;
        assert!(store.data.len().expect("a length") >= bytes, "the file is so long");
        bytes
    }

    #[test]
    fn a_prepared_file_is_so_long_also_after_a_crash() {
        let fixture = Fixture::new(64);
        assert_eq!(bytes(&fixture.store), fixture.store.first_bytes());
        fixture.store.prepare_file(150 * MB + 1).expect("there is room");
        let prepared = bytes(&fixture.store);
        assert_eq!(prepared, 150 * MB + EXTENT_BYTES);
        fixture.store.prepare_file(20 * MB).expect("nothing to do");
        assert_eq!(bytes(&fixture.store), prepared);
        fixture.flush();
        let after = Fixture::recover(fixture.simulated.crash(3), 64).expect("it recovers");
        assert_eq!(bytes(&after.store), prepared);
    }

    #[test]
    fn steps_and_limits_hold() {
        let fixture = Fixture::new(64);
        let store = &fixture.store;
        let all = || store.space.lock().free_extents() + 1;
        let first = bytes(store);
        let set = |growth: FileGrowth, bytes_max: Option<u64>| {
            store.set_file_limits(FileLimits { growth, bytes_max, is_sized: false })
        };
        set(FileGrowth::Bytes(MB), None);
        store.grow(all()).expect("there is room");
        assert_eq!(bytes(store), first + MB);
        set(FileGrowth::Bytes(1), None);
        store.grow(all()).expect("there is room");
        assert_eq!(bytes(store), first + MB + EXTENT_BYTES);
        set(FileGrowth::Percent(50), None);
        assert_eq!(store.growth_bytes(), (bytes(store) / 2).next_multiple_of(EXTENT_BYTES));
        let now = bytes(store);
        set(FileGrowth::Bytes(MB), Some(now + 3 * EXTENT_BYTES + 5));
        assert_eq!(store.growth_bytes(), 3 * EXTENT_BYTES);
        store.grow(all()).expect("there is room");
        let full = |store: &Store| matches!(store.grow(all()), Err(StorageError::DataFull { .. }));
        assert!(full(store), "the limit is reached");
        set(FileGrowth::Bytes(0), None);
        assert!(full(store), "it does not grow");
        assert_eq!((store.growth_bytes(), store.extents_ahead()), (0, EXTENTS_FREE_MIN));
        set(FileGrowth::Doubling, None);
        assert_eq!(store.extents_ahead(), EXTENTS_AHEAD);
        assert!(store.growth_bytes() >= GROWTH_BYTES_MIN);
    }
}
