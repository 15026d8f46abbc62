//! Durable writes that are begun and finished apart, so that one thread can have several on their way.
//!
//! ```text
//!   submit --> [ on its way: the queue owns the bytes ] --> reap, in any order --> the bytes come back, with the outcome
//!                 a power failure leaves any part of any of them              \-> durable, if the outcome is good
//! ```
//! The queue is an io_uring where the kernel grants one. On a simulated disk it is a list, whose writes are finished in an
//! order that follows from the disk's seed. Elsewhere there is none: then [`File::write_durable_at`] is the way.
//!
//! Why the memory that the kernel reads stays: a write's buffer and file move into the queue when it is submitted, and
//! out of it when its completion was seen. A queue that is dropped waits for all of its writes first.

use std::io;
use std::ops::Range;

use io_uring::{IoUring, opcode, types};
use pikepole_contention::sync::atomic::{AtomicUsize, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};

use crate::real::is_refusal;
use crate::{AlignedBuffer, Disk, File};

/// How a durable write is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurableMethod {
    /// Submitted to an io_uring with `RWF_DSYNC`, by those that have something else to run meanwhile; `WriteFlag` for
    /// those that have not.
    IoUring,
    /// `pwritev2` with `RWF_DSYNC`.
    WriteFlag,
    /// `pwrite` through a descriptor opened with `O_DSYNC`.
    Dsync,
    /// `pwrite`, then `fdatasync`.
    WriteThenSync,
    /// On a disk in memory.
    Simulated,
}

impl DurableMethod {
    /// The name, as views and options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Self::IoUring => "IO_URING",
            Self::WriteFlag => "RWF_DSYNC",
            Self::Dsync => "O_DSYNC",
            Self::WriteThenSync => "FDATASYNC",
            Self::Simulated => "SIMULATED",
        }
    }
}

/// A durable write: `bytes` of `buffer` to `offset` of `file`. With direct I/O all three are multiples of
/// [`BLOCK`](crate::BLOCK).
#[derive(Debug)]
pub struct DurableWrite {
    /// The file.
    pub file: File,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// What holds the bytes.
    pub buffer: AlignedBuffer,
    /// Which bytes of the buffer.
    pub bytes: Range<usize>,
}

impl DurableWrite {
    fn content(&self) -> &[u8] {
        &self.buffer[self.bytes.clone()]
    }

    /// Makes the write on this thread.
    ///
    /// # Errors
    /// As [`File::write_durable_at`].
    pub fn make(&self) -> io::Result<()> {
        self.file.write_durable_at(self.content(), self.offset)
    }
}

/// A write that is on its way no more.
#[derive(Debug)]
pub struct Finished {
    /// What it was submitted with.
    pub tag: u64,
    /// The write.
    pub write: DurableWrite,
    /// Whether it is durable. Errors as [`File::write_durable_at`].
    pub outcome: io::Result<()>,
}

/// See the module. All methods may be called from several threads at once.
#[derive(Debug)]
pub struct WriteQueue {
    kind: Kind,
    /// Writes submitted and not reaped; changed under the lock of the kind.
    in_flight: AtomicUsize,
}

#[derive(Debug)]
enum Kind {
    Ring(Box<Ring>),
    Simulated(Mutex<Vec<(u64, DurableWrite)>>),
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Whoever panicked did so in an assertion before it changed anything.
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl WriteQueue {
    /// A queue for at most `depth` writes at a time to files of `disk`; None when the kernel refuses one.
    pub fn new(disk: &Disk, depth: u32) -> Option<Self> {
        let kind = match disk.as_simulated() {
            Some(_) => Kind::Simulated(Mutex::new(Vec::new())),
            // A slower device is acted by whoever makes the write.
            None if disk.is_real() && !disk.is_slowed() => Kind::Ring(Box::new(Ring::new(depth).ok()?)),
            None => return None,
        };
        Some(Self { kind, in_flight: AtomicUsize::new(0) })
    }

    /// Whether its writes are those of a simulated disk.
    pub fn is_simulated(&self) -> bool {
        matches!(self.kind, Kind::Simulated(_))
    }

    /// Writes submitted and not reaped yet.
    #[inline]
    pub fn in_flight(&self) -> usize {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// Begins a write, which [`reap`](Self::reap) will return with `tag`.
    ///
    /// # Errors
    /// Gives the write back when the queue cannot take it: it is full, or the kernel has no memory. Nothing was begun.
    pub fn submit(&self, tag: u64, write: DurableWrite) -> Result<(), DurableWrite> {
        if write.file.check_durable(write.content(), write.offset).is_err() {
            // Made by the caller, it fails with the reason.
            return Err(write);
        }
        match &self.kind {
            Kind::Simulated(writes) => {
                let mut writes = lock(writes);
                let Some(file) = write.file.as_simulated() else { return Err(write) };
                if file.begin_durable(write.content(), write.offset).is_err() {
                    return Err(write);
                }
                writes.push((tag, write));
                self.in_flight.store(writes.len(), Ordering::Relaxed);
                Ok(())
            }
            Kind::Ring(ring) => ring.submit(tag, write, &self.in_flight),
        }
    }

    /// Moves the writes that the device has finished to `finished`. Never waits for the device.
    pub fn reap(&self, finished: &mut Vec<Finished>) {
        if self.in_flight() == 0 {
            return;
        }
        match &self.kind {
            Kind::Simulated(writes) => {
                let mut writes = lock(writes);
                while let Some((_, first)) = writes.first() {
                    // One in three is still on its way; the order is the disk's.
                    let chance =
                        first.file.as_simulated().map_or(0, |file| file.draw(3 * writes.len() as u64)) as usize;
                    if chance >= 2 * writes.len() {
                        break;
                    }
                    self.finish_simulated(&mut writes, chance / 2, finished);
                }
            }
            Kind::Ring(ring) => ring.reap(finished, &self.in_flight),
        }
    }

    /// Waits until some write has been finished, about a millisecond at most, and reaps.
    pub fn wait(&self, finished: &mut Vec<Finished>) {
        match &self.kind {
            Kind::Simulated(writes) => {
                let mut writes = lock(writes);
                if !writes.is_empty() {
                    self.finish_simulated(&mut writes, 0, finished);
                }
            }
            Kind::Ring(ring) => {
                ring.wait();
                ring.reap(finished, &self.in_flight);
            }
        }
    }

    fn finish_simulated(&self, writes: &mut Vec<(u64, DurableWrite)>, at: usize, finished: &mut Vec<Finished>) {
        let (tag, write) = writes.remove(at);
        self.in_flight.store(writes.len(), Ordering::Relaxed);
        let outcome = write.make();
        finished.push(Finished { tag, write, outcome });
    }
}

/// An io_uring.
struct Ring {
    ring: IoUring,
    /// The writes on their way, by the number that the kernel knows them by. Its lock is also the turn at both of the
    /// ring's queues.
    writes: Mutex<Vec<Option<(u64, DurableWrite)>>>,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").finish_non_exhaustive()
    }
}

/// How long [`Ring::wait`] sleeps at most: somebody else may reap what it waits for.
const WAIT_NS: u32 = 1_000_000;

impl Ring {
    /// Asks the kernel for a ring. One that cannot bound its waits (before Linux 5.11) is none.
    fn new(depth: u32) -> io::Result<Self> {
        let ring = IoUring::new(depth.max(1))?;
        if !ring.params().is_feature_ext_arg() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        Ok(Self { ring, writes: Mutex::new((0..depth.max(1)).map(|_| None).collect()) })
    }

    fn submit(&self, tag: u64, write: DurableWrite, in_flight: &AtomicUsize) -> Result<(), DurableWrite> {
        let mut writes = lock(&self.writes);
        let Some(number) = writes.iter().position(Option::is_none) else { return Err(write) };
        let Some(file) = write.file.as_real() else { return Err(write) };
        let content = write.content();
        let entry = opcode::Write::new(types::Fd(file.descriptor()), content.as_ptr(), content.len() as u32)
            .offset(write.offset)
            .rw_flags(libc::RWF_DSYNC)
            .build()
            .user_data(number as u64);
        // SAFETY: the lock makes this the only handle of the submission queue. The entry names memory of `write` and
        // its file's descriptor; `write` goes into `writes` below and stays there until its completion was seen, and
        // moving it does not move its buffer's memory.
        let pushed = unsafe { self.ring.submission_shared().push(&entry) };
        if pushed.is_err() {
            return Err(write);
        }
        writes[number] = Some((tag, write));
        in_flight.fetch_add(1, Ordering::Relaxed);
        // An entry that the kernel did not take now stays in the ring, and goes with the next submission or wait.
        let _taken = self.ring.submitter().submit();
        Ok(())
    }

    fn reap(&self, finished: &mut Vec<Finished>, in_flight: &AtomicUsize) {
        // Somebody else reaps.
        let Ok(mut writes) = self.writes.try_lock() else { return };
        // SAFETY: the lock makes this the only handle of the completion queue.
        let completions = unsafe { self.ring.completion_shared() };
        for completion in completions {
            let Some((tag, write)) = writes[completion.user_data() as usize].take() else { continue };
            in_flight.fetch_sub(1, Ordering::Relaxed);
            let outcome = outcome_of(completion.result(), &write);
            finished.push(Finished { tag, write, outcome });
        }
    }

    fn wait(&self) {
        let time = types::Timespec::new().nsec(WAIT_NS);
        let arguments = types::SubmitArgs::new().timespec(&time);
        // The end of the time, or a signal, is as good as a completion: the caller looks again.
        let _woken = self.ring.submitter().submit_with_args(1, &arguments);
    }
}

/// What the kernel's answer means.
fn outcome_of(result: i32, write: &DurableWrite) -> io::Result<()> {
    match usize::try_from(result) {
        Ok(count) if count == write.bytes.len() => Ok(()),
        // A short write is made again as a whole: the same bytes to the same place.
        Ok(_) => write.make(),
        Err(_) => {
            let error = io::Error::from_raw_os_error(-result);
            let is_again = matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::EINTR));
            if is_again || is_refusal(&error) { write.make() } else { Err(write.file.failed_durable(error)) }
        }
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let on_its_way = |ring: &Self| lock(&ring.writes).iter().any(Option::is_some);
        let unused = AtomicUsize::new(usize::MAX / 2);
        while on_its_way(self) {
            self.wait();
            self.reap(&mut Vec::new(), &unused);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BLOCK, OpenOptions, SimulatedDisk, is_crash};

    const OPTIONS: OpenOptions = OpenOptions { create: true, direct: true, durable_writes: true, read_only: false };

    fn write_of(file: &File, number: u64) -> DurableWrite {
        let mut buffer = AlignedBuffer::zeroed(2 * BLOCK);
        buffer[BLOCK..].fill(number as u8 + 1);
        DurableWrite { file: file.clone(), offset: number * BLOCK as u64, buffer, bytes: BLOCK..2 * BLOCK }
    }

    fn all_finish(disk: &Disk, path: &std::path::Path) {
        let file = disk.open(path, OPTIONS).expect("a file");
        file.prewrite(0, 16 * BLOCK as u64).expect("room");
        let Some(queue) = WriteQueue::new(disk, 4) else {
            println!("the kernel grants no queue");
            return;
        };
        let mut finished = Vec::new();
        for number in 0..16 {
            let mut write = write_of(&file, number);
            while let Err(back) = queue.submit(number, write) {
                queue.wait(&mut finished);
                write = back;
            }
            assert!(queue.in_flight() > 0);
        }
        while finished.len() < 16 {
            queue.wait(&mut finished);
            queue.reap(&mut finished);
        }
        assert_eq!(queue.in_flight(), 0);
        let mut tags: Vec<u64> = finished.iter().map(|finished| finished.tag).collect();
        tags.sort_unstable();
        assert_eq!(tags, (0..16).collect::<Vec<_>>());
        assert!(finished.iter().all(|finished| finished.outcome.is_ok()));
        let mut content = AlignedBuffer::zeroed(16 * BLOCK);
        file.read_at(&mut content, 0).expect("a read");
        assert!(content.chunks(BLOCK).enumerate().all(|(at, block)| block.iter().all(|byte| *byte == at as u8 + 1)));
        // A queue that goes away with a write on its way waits for it.
        queue.submit(0, write_of(&file, 0)).expect("there is room");
    }

    #[test]
    fn every_write_comes_back_once_with_its_tag() {
        all_finish(&Disk::simulated(SimulatedDisk::new(1)), "/f".as_ref());
        let path = std::env::temp_dir().join(format!("pikepole-queue-{}", std::process::id()));
        all_finish(&Disk::real(), &path);
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn errors_come_with_the_write_they_are_of() {
        let path = std::env::temp_dir().join(format!("pikepole-queue-ro-{}", std::process::id()));
        let disk = Disk::real();
        disk.open(&path, OPTIONS).and_then(|file| file.prewrite(0, 2 * BLOCK as u64)).expect("a file");
        let read_only = OpenOptions { create: false, read_only: true, ..OPTIONS };
        let file = disk.open(&path, read_only).expect("a file");
        if let Some(queue) = WriteQueue::new(&disk, 4) {
            queue.submit(7, write_of(&file, 1)).expect("the queue takes it");
            let mut finished = Vec::new();
            while finished.is_empty() {
                queue.wait(&mut finished);
            }
            assert_eq!(finished[0].tag, 7);
            finished[0].outcome.as_ref().expect_err("the file is read-only");
            // The file takes no more.
            queue.submit(8, write_of(&file, 1)).expect_err("refused");
        }
        std::fs::remove_file(path).expect("it was there");
    }

    #[test]
    fn a_crash_takes_any_of_those_on_their_way_and_none_that_was_reaped() {
        let (mut lost, mut kept, mut behind_a_hole) = (0, 0, 0);
        for seed in 0..60 {
            let simulated = SimulatedDisk::new(seed);
            let disk = Disk::simulated(simulated.clone());
            let file = disk.open("/f", OPTIONS).expect("a file");
            file.prewrite(0, 4 * BLOCK as u64).expect("room");
            disk.sync_dir("/").expect("a sync");
            let queue = WriteQueue::new(&disk, 4).expect("a queue");
            for number in 0..4 {
                queue.submit(number, write_of(&file, number)).expect("there is room");
            }
            let mut finished = Vec::new();
            queue.reap(&mut finished);
            let after = Disk::simulated(simulated.crash(seed)).read("/f").expect("a read");
            let is_there = |at: u64| after[at as usize * BLOCK..][..BLOCK].iter().all(|byte| *byte == at as u8 + 1);
            assert!(finished.iter().all(|finished| is_there(finished.tag)));
            let there: Vec<bool> = (0..4).map(is_there).collect();
            lost += there.iter().filter(|there| !**there).count();
            kept += there.iter().filter(|there| **there).count() - finished.len();
            behind_a_hole += usize::from(there.windows(2).any(|pair| !pair[0] && pair[1]));
        }
        assert!(lost > 0 && kept > 0 && behind_a_hole > 0, "{lost} {kept} {behind_a_hole}");
    }

    #[test]
    fn a_crash_point_is_met_when_a_write_is_finished() {
        let simulated = SimulatedDisk::new(3);
        let disk = Disk::simulated(simulated.clone());
        let file = disk.open("/f", OPTIONS).expect("a file");
        file.prewrite(0, 4 * BLOCK as u64).expect("room");
        let queue = WriteQueue::new(&disk, 4).expect("a queue");
        simulated.crash_after_ops(1);
        queue.submit(0, write_of(&file, 0)).expect("begun");
        let mut finished = Vec::new();
        queue.wait(&mut finished);
        assert!(is_crash(finished[0].outcome.as_ref().expect_err("the power failed")));
        queue.submit(1, write_of(&file, 1)).expect_err("the power is off");
    }
}
