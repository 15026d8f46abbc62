//! Pages of 2 MB: which the kernel has, what was asked for and granted, what this process has in them now.
//!
//! | kind | what it takes | when memory comes |
//! |---|---|---|
//! | [`Pages::Small`] | nothing | 4 KB at each first touch |
//! | [`Pages::Transparent`] | `transparent_hugepage/enabled` (of shared memory: `shmem_enabled`) other than `never` | 2 MB at a first touch, where the kernel finds 2 MB in one piece |
//! | [`Pages::Reserved`] | `vm.nr_hugepages`, set by the machine's administrator | all of it at once, before it is used |
//!
//! Reserved pages are touched before they are handed out: what a limit of a control group or a memory node withholds shows then
//! as a refusal, where later it would end the process. That is what a start with them costs.

use crate::node_memory::NodeGrant;
use crate::system_files::SystemFiles;
use std::fmt;
use std::time::Duration;

/// Bytes of a large page.
pub const LARGE_PAGE: usize = 2 << 20;

const TRANSPARENT_FOLDER: &str = "sys/kernel/mm/transparent_hugepage";
const RESERVED_FOLDER: &str = "sys/kernel/mm/hugepages/hugepages-2048kB";

/// The pages that memory is asked for in, the smallest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pages {
    /// 4 KB.
    Small,
    /// 2 MB where the kernel finds them at the first touch, 4 KB elsewhere.
    #[default]
    Transparent,
    /// 2 MB out of those that the machine's administrator has set aside (`vm.nr_hugepages`), all of them or none.
    Reserved,
}

impl fmt::Display for Pages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Pages::Small => "pages of 4 KB",
            Pages::Transparent => "transparent pages of 2 MB",
            Pages::Reserved => "reserved pages of 2 MB",
        })
    }
}

/// What became of a wish for pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryGrant {
    /// What was asked for.
    pub asked: Pages,
    /// What there is. Of transparent pages that is the kernel's leave: how many it gives shows in [`LargePageUse`].
    pub got: Pages,
    /// Bytes of memory.
    pub bytes: usize,
    /// Why it is less than what was asked for.
    pub why: Option<String>,
    /// The memory nodes that it comes from.
    pub nodes: NodeGrant,
    /// The time that it took; with reserved pages, all of the memory was touched in it.
    pub took: Duration,
}

impl MemoryGrant {
    /// Both together: the lesser kind, and the first reason.
    #[must_use]
    pub fn with(self, other: MemoryGrant) -> MemoryGrant {
        MemoryGrant {
            asked: self.asked.max(other.asked),
            got: self.got.min(other.got),
            bytes: self.bytes + other.bytes,
            why: self.why.or(other.why),
            nodes: if matches!(other.nodes, NodeGrant::Refused(_)) { other.nodes } else { self.nodes },
            took: self.took + other.took,
        }
    }
}

/// `256 MB in reserved pages of 2 MB, taken in 61 ms`, or in which pages instead of which, and why; and of which nodes.
impl fmt::Display for MemoryGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} MB in {}", self.bytes >> 20, self.got)?;
        if let Some(why) = &self.why {
            write!(f, " instead of {}: {why}", self.asked)?;
        }
        write!(f, "{}, taken in {} ms", self.nodes, self.took.as_millis())
    }
}

/// The pages of 2 MB that the machine's administrator has set aside.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReservedPages {
    /// How many there are.
    pub total: usize,
    /// Those that no mapping has, or is promised.
    pub available: usize,
}

impl ReservedPages {
    /// As the kernel counts them; none where it knows of none.
    pub fn of(files: &SystemFiles) -> Self {
        let count = |name: &str| {
            let number = files.number(&format!("{RESERVED_FOLDER}/{name}"));
            number.and_then(|number| usize::try_from(number).ok()).unwrap_or(0)
        };
        let available = count("free_hugepages").saturating_sub(count("resv_hugepages"));
        Self { total: count("nr_hugepages"), available }
    }

    /// The pages that `bytes` take.
    pub fn wanted(bytes: usize) -> usize {
        bytes.div_ceil(LARGE_PAGE)
    }

    /// What is to be done about too few of them.
    pub fn why_not(self, wanted: usize) -> String {
        format!(
            "{wanted} of them are wanted and {} of {} set aside are free (vm.nr_hugepages)",
            self.available, self.total
        )
    }
}

/// Whose transparent pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Memory {
    /// The process's own: buffer pools.
    Private,
    /// Memory that is mapped twice: rings.
    Shared,
}

/// Why the kernel gives no transparent pages to memory that asks for them; `None` when it may.
pub(crate) fn why_not_transparent(files: &SystemFiles, memory: Memory) -> Option<String> {
    let name = match memory {
        Memory::Private => "enabled",
        Memory::Shared => "shmem_enabled",
    };
    // Kernels from 6.8 on have a setting for each size, which may leave it to the one for all.
    let own = format!("{TRANSPARENT_FOLDER}/hugepages-2048kB/{name}");
    let all = format!("{TRANSPARENT_FOLDER}/{name}");
    let (path, word) = match chosen(files, &own).filter(|word| word != "inherit") {
        Some(word) => (own, word),
        None => (all.clone(), chosen(files, &all).unwrap_or_else(|| "not there".to_owned())),
    };
    ["never", "deny", "not there"].contains(&word.as_str()).then(|| format!("/{path} is {word}"))
}

/// The word in brackets: the one that is in force.
fn chosen(files: &SystemFiles, path: &str) -> Option<String> {
    let text = files.read(path)?;
    let (_, behind) = text.split_once('[')?;
    behind.split_once(']').map(|(word, _)| word.to_owned())
}

/// What this process has in pages of 2 MB, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LargePageUse {
    /// Transparent ones.
    pub transparent: u64,
    /// Reserved ones.
    pub reserved: u64,
}

impl LargePageUse {
    /// As the kernel sums it up for the process (`/proc/self/smaps_rollup`); nothing where it does not. It looks at every
    /// page of the process: some milliseconds for each gigabyte of small ones.
    pub fn of(files: &SystemFiles) -> Self {
        let text = files.read("proc/self/smaps_rollup").unwrap_or_default();
        let sum = |names: &[&str]| {
            let of_line = |line: &str| {
                let (name, rest) = line.split_once(':')?;
                let kilobytes: u64 = rest.trim().strip_suffix("kB")?.trim().parse().ok()?;
                names.contains(&name).then_some(kilobytes << 10)
            };
            text.lines().filter_map(of_line).sum()
        };
        Self {
            transparent: sum(&["AnonHugePages", "ShmemPmdMapped"]),
            reserved: sum(&["Shared_Hugetlb", "Private_Hugetlb"]),
        }
    }

    /// Both.
    pub fn total(self) -> u64 {
        self.transparent + self.reserved
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(lines: &str) -> SystemFiles {
        SystemFiles::listing(lines)
    }

    #[test]
    fn pages_that_are_promised_are_not_available() {
        let machine = files(
            "sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages 100\n\
             sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages 60\n\
             sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages 45",
        );
        assert_eq!(ReservedPages::of(&machine), ReservedPages { total: 100, available: 15 });
        assert_eq!(ReservedPages::of(&files("")), ReservedPages::default());
        assert_eq!((ReservedPages::wanted(1), ReservedPages::wanted(4 << 20)), (1, 2));
        let why = ReservedPages::of(&machine).why_not(16);
        assert_eq!(why, "16 of them are wanted and 15 of 100 set aside are free (vm.nr_hugepages)");
    }

    #[test]
    fn the_setting_in_force_decides() {
        let folder = "sys/kernel/mm/transparent_hugepage";
        for (lines, memory, wanted) in [
            (format!("{folder}/enabled always [madvise] never"), Memory::Private, None),
            (format!("{folder}/enabled always madvise [never]"), Memory::Private, Some("/enabled is never")),
            (format!("{folder}/shmem_enabled always [advise] never deny"), Memory::Shared, None),
            (format!("{folder}/shmem_enabled always never [deny]"), Memory::Shared, Some("/shmem_enabled is deny")),
            (format!("{folder}/enabled [always] never"), Memory::Shared, Some("/shmem_enabled is not there")),
            (
                format!("{folder}/enabled [always] never\n{folder}/hugepages-2048kB/enabled always inherit [never]"),
                Memory::Private,
                Some("/hugepages-2048kB/enabled is never"),
            ),
            (
                format!("{folder}/enabled always [never]\n{folder}/hugepages-2048kB/enabled always [inherit] never"),
                Memory::Private,
                Some("transparent_hugepage/enabled is never"),
            ),
            (String::new(), Memory::Private, Some("is not there")),
        ] {
            let why = why_not_transparent(&files(&lines), memory);
            match wanted {
                None => assert_eq!(why, None, "{lines}"),
                Some(end) => assert!(why.as_ref().is_some_and(|why| why.ends_with(end)), "{lines}: {why:?}"),
            }
        }
    }

    #[test]
    fn the_kernel_s_sums_are_read() {
        let folder = std::env::temp_dir().join(format!("pikepole-rollup-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("proc/self")).expect("a folder");
        let text = "55d0-7ffc ---p 00000000 00:00 0 [rollup]\nRss: 9000 kB\nAnonHugePages:      4096 kB\n\
                    ShmemPmdMapped:     2048 kB\nFilePmdMapped: 8 kB\nShared_Hugetlb:     6144 kB\nPrivate_Hugetlb:    2048 kB\n";
        std::fs::write(folder.join("proc/self/smaps_rollup"), text).expect("a file");
        let use_now = LargePageUse::of(&SystemFiles::below(&folder));
        assert_eq!(use_now, LargePageUse { transparent: 6 << 20, reserved: 8 << 20 });
        assert_eq!((use_now.total(), LargePageUse::of(&files(""))), (14 << 20, LargePageUse::default()));
        std::fs::remove_dir_all(folder).expect("it was there");
    }

    #[test]
    fn two_grants_are_the_lesser_one() {
        let took = Duration::from_millis(5);
        let full = MemoryGrant {
            asked: Pages::Reserved,
            got: Pages::Reserved,
            bytes: 4 << 20,
            why: None,
            nodes: NodeGrant::FirstTouch,
            took,
        };
        let less = MemoryGrant { got: Pages::Small, bytes: 2 << 20, why: Some("none".to_owned()), ..full.clone() };
        assert_eq!(full.to_string(), "4 MB in reserved pages of 2 MB, taken in 5 ms");
        let both = full.with(less);
        assert_eq!(both.to_string(), "6 MB in pages of 4 KB instead of reserved pages of 2 MB: none, taken in 10 ms");
    }
}
