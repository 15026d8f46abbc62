//! Options of SQL Server that are kept and shown. But for those of the server's memory they change nothing here: their work is done otherwise, or
//! not at all.

use pikepole_types::SqlError;

/// An option that is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeptOption {
    /// The name.
    pub name: &'static str,
    /// The number by which tools ask for it.
    pub number: i32,
    /// The value that it has unless it is set.
    pub default: i32,
    /// The least value but for the default.
    pub minimum: i32,
    /// The greatest value.
    pub maximum: i32,
    /// It would take effect while the server runs.
    pub dynamic: bool,
    /// It is one that SQL Server shows when advanced options are shown.
    pub advanced: bool,
    /// What becomes of it here.
    pub description: &'static str,
}

const NOW: bool = true;
const AT_START: bool = false;
const BASIC: bool = false;
const ADVANCED: bool = true;

const fn kept(
    (name, number): (&'static str, i32),
    (default, minimum, maximum): (i32, i32, i32),
    (dynamic, advanced): (bool, bool),
    description: &'static str,
) -> KeptOption {
    KeptOption { name, number, default, minimum, maximum, dynamic, advanced, description }
}

const MAX: i32 = i32::MAX;

/// Below this caches give no memory back.
pub(super) const MIN_SERVER_MEMORY: KeptOption = kept(
    ("min server memory (MB)", 1543),
    (0, 0, MAX),
    (NOW, ADVANCED),
    "Buffer pools and plans give no memory back while the server has less",
);

/// The server's memory at most.
pub(super) const MAX_SERVER_MEMORY: KeptOption = kept(
    ("max server memory (MB)", 1544),
    (MAX, 128, MAX),
    (NOW, ADVANCED),
    "All memory of the server; at most four fifths of the control group's or the machine's",
);

/// All of them, by their numbers.
pub const KEPT_OPTIONS: &[KeptOption] = &[
    kept(("recovery interval (min)", 101), (0, 0, 32767), (NOW, ADVANCED), "Checkpoints come by the log's size"),
    kept(("user connections", 103), (0, 0, 32767), (AT_START, ADVANCED), "Connections are as many as come"),
    kept(("locks", 106), (0, 5000, MAX), (AT_START, ADVANCED), "Locks are as many as are asked for"),
    kept(("open objects", 107), (0, 0, MAX), (AT_START, ADVANCED), "Objects are as many as there are"),
    kept(("fill factor (%)", 109), (0, 0, 100), (AT_START, ADVANCED), "Pages are filled"),
    kept(("server trigger recursion", 116), (1, 0, 1), (NOW, BASIC), "There are no triggers of the server"),
    kept(("remote access", 117), (1, 0, 1), (AT_START, BASIC), "No other server calls procedures"),
    kept(
        ("max worker threads", 503),
        (0, 128, 65535),
        (NOW, ADVANCED),
        "Sessions are tasks on the schedulers' threads",
    ),
    kept(
        ("network packet size (B)", 505),
        (4096, 512, 32767),
        (NOW, ADVANCED),
        "Packets are as large as clients ask for",
    ),
    kept(("show advanced options", 518), (0, 0, 1), (NOW, BASIC), "Every option is always shown"),
    kept(("remote proc trans", 542), (0, 0, 1), (NOW, BASIC), "No procedure of another server is called"),
    kept(
        ("index create memory (KB)", 1505),
        (0, 704, MAX),
        (NOW, ADVANCED),
        "Indexes are built in the workspace memory",
    ),
    kept(("priority boost", 1517), (0, 0, 1), (AT_START, ADVANCED), "Threads have the system's priority"),
    kept(("remote login timeout (s)", 1519), (10, 0, MAX), (NOW, BASIC), "No other server is asked"),
    kept(("remote query timeout (s)", 1520), (600, 0, MAX), (NOW, BASIC), "No other server is asked"),
    kept(("cursor threshold", 1531), (-1, -1, MAX), (NOW, ADVANCED), "Cursors are filled when they are opened"),
    kept(("set working set size", 1532), (0, 0, 1), (AT_START, ADVANCED), "Memory is the system's to give"),
    kept(("max text repl size (B)", 1536), (65536, -1, MAX), (NOW, BASIC), "There is no replication"),
    kept(("media retention", 1537), (0, 0, 365), (NOW, ADVANCED), "Backups are kept until they are written over"),
    kept(
        ("cost threshold for parallelism", 1538),
        (5, 0, 32767),
        (NOW, ADVANCED),
        "Plans are parallel by the pages that they read",
    ),
    MIN_SERVER_MEMORY,
    MAX_SERVER_MEMORY,
    kept(
        ("blocked process threshold (s)", 1569),
        (0, 0, 86400),
        (NOW, ADVANCED),
        "Blocked sessions are reported by no event",
    ),
    kept(("in-doubt xact resolution", 1570), (0, 0, 2), (NOW, ADVANCED), "No transaction is distributed"),
    kept(("remote admin connections", 1576), (0, 0, 1), (NOW, BASIC), "No connection is kept apart for administrators"),
    kept(
        ("optimize for ad hoc workloads", 1581),
        (0, 0, 1),
        (NOW, ADVANCED),
        "Plans are kept when they are first made",
    ),
    kept(
        ("access check cache bucket count", 1582),
        (0, 0, 65536),
        (NOW, ADVANCED),
        "What has been allowed is kept with plans",
    ),
    kept(("access check cache quota", 1583), (0, 0, MAX), (NOW, ADVANCED), "What has been allowed is kept with plans"),
    kept(
        ("automatic soft-NUMA disabled", 1585),
        (0, 0, 1),
        (AT_START, ADVANCED),
        "Nodes are split by ALTER SERVER CONFIGURATION SET SOFTNUMA",
    ),
    kept(("clr strict security", 1587), (1, 0, 1), (NOW, ADVANCED), "Assemblies are not loaded"),
    kept(
        ("tempdb metadata memory-optimized", 1589),
        (0, 0, 1),
        (AT_START, ADVANCED),
        "What is a session's own is in no catalog",
    ),
    kept(("ADR cleaner retry timeout (min)", 1591), (15, 0, 32767), (NOW, ADVANCED), "Versions of rows are in memory"),
    kept(("ADR Preallocation Factor", 1592), (4, 0, 32767), (NOW, ADVANCED), "Versions of rows are in memory"),
    kept(("ADR Cleaner Thread Count", 1598), (1, 1, 32767), (NOW, ADVANCED), "Versions of rows are in memory"),
    kept(("SMO and DMO XPs", 16387), (1, 0, 1), (NOW, ADVANCED), "Tools ask the views"),
    kept(("suppress recovery model errors", 16400), (0, 0, 1), (NOW, ADVANCED), "Every recovery model can be set"),
    kept(("openrowset auto_create_statistics", 16401), (1, 0, 1), (NOW, ADVANCED), "Rowsets have no statistics"),
];

impl KeptOption {
    /// The one of this name, whatever its case.
    pub(super) fn find(name: &str) -> Option<&'static KeptOption> {
        KEPT_OPTIONS.iter().find(|option| option.name.eq_ignore_ascii_case(name.trim()))
    }

    /// # Errors
    /// 15129 for a text that is no value of it.
    pub(super) fn value(&self, text: &str) -> Result<i32, SqlError> {
        let allowed = |value: &i32| *value == self.default || (self.minimum..=self.maximum).contains(value);
        let value = text.trim().parse().ok().filter(allowed);
        value.ok_or_else(|| SqlError::configuration_value_invalid(text, self.name))
    }
}
