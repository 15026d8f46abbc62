//! The machine below the engine: CPUs, memory, files (real and simulated), clock.
//!
//! Everything above this crate meets the operating system here, and the file system in four forms with one shape:
//! [`Disk::real`], [`Disk::memory`], [`Disk::simulated`] and [`Disk::null`]. The third keeps, beside what a program sees, what a
//! power failure would leave, so that the same engine code can be crashed thousands of times a second; the last forgets.
//!
//! Linux only: direct I/O, memory mappings and affinity are written against its system calls.

#[cfg(not(target_os = "linux"))]
compile_error!("pikepole-machine is written for Linux");

pub mod affinity;
pub mod allocator;
pub mod clock;
pub mod interrupt;
pub mod memory;
pub mod node_memory;
pub mod probe;
pub mod sampler;

mod aligned;
mod available_memory;
mod confined;
mod cpu_limits;
mod disk;
mod error;
mod folder_lock;
mod idle_states;
mod large_pages;
mod mapping;
mod memory_disk;
mod named_files;
mod null;
mod real;
mod simulated;
mod slow;
mod system_files;
mod topology;
mod volume;
mod write_queue;

pub use aligned::AlignedBuffer;
pub use available_memory::available_memory;
pub use confined::{ConfinedFolder, Found};
pub use cpu_limits::CpuLimits;
pub use disk::{Disk, File, OpenOptions};
pub use error::{FileError, FolderBusy, is_crash, is_full};
pub use folder_lock::{FolderLock, LOCK_FILE};
pub use idle_states::ShallowIdle;
pub use large_pages::{LARGE_PAGE, LargePageUse, MemoryGrant, Pages, ReservedPages};
pub use mapping::{NodePart, Region, RingMapping};
pub use node_memory::NodeGrant;
pub use simulated::{Operation, SimulatedDisk};
pub use slow::SlowDevice;
pub use system_files::{Shape, SystemFiles, list_text, parse_list};
pub use topology::{Cache, CacheKind, Cpu, MemoryNode, Topology};
pub use volume::Volume;
pub use write_queue::{DurableMethod, DurableWrite, Finished, WriteQueue};

/// Bytes that a device writes whole or not at all: the grain at which a power failure tears a write.
pub const SECTOR: usize = 512;

/// Alignment, in bytes, of direct I/O: of buffers in memory, and of offsets and lengths in files.
pub const BLOCK: usize = 4096;

#[cfg(test)]
mod tests;
