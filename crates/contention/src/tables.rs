//! The four tables of names: spinlock classes, latch classes, wait types and performance counters.
//!
//! Each table is written once and gives the enum, its names in the views and its help text. The names are those
//! that the field knows from `sys.dm_os_spinlock_stats` and its kin; a variant is spelled as its name. A row of the first three tables
//! has a call site in the product: `cargo xtask tidy` finds those that nothing can move.

/// Declares one table of names: an enum whose variants are the names themselves.
macro_rules! name_table {
    ($(#[$meta:meta])* $table:ident { $($name:ident: $help:literal,)+ }) => {
        $(#[$meta])*
        #[allow(non_camel_case_types, reason = "a variant is spelled as the views spell it")]
        #[allow(clippy::upper_case_acronyms, reason = "a variant is spelled as the views spell it")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum $table { $(#[doc = $help] $name,)+ }

        impl $table {
            /// All rows of the table, in its order.
            pub const ALL: &'static [$table] = &[$($table::$name,)+];

            /// The name that the views show.
            pub const fn name(self) -> &'static str {
                match self { $($table::$name => stringify!($name),)+ }
            }

            /// One sentence on what it stands for.
            pub const fn help(self) -> &'static str {
                match self { $($table::$name => $help,)+ }
            }

            /// The row of this name, in any case.
            pub fn from_name(name: &str) -> Option<$table> {
                Self::ALL.iter().copied().find(|row| row.name().eq_ignore_ascii_case(name))
            }
        }
    };
}

name_table! {
    /// What a spinlock guards; one row of `sys.dm_os_spinlock_stats` each.
    SpinlockClass {
        XDESMGR: "Dealing out and retiring transaction ids.",
        LOGCACHE_ACCESS: "Reserving space in the log buffer.",
        LOGFLUSHQ: "The flush queue between committers and log writers.",
        LATCH_SPIN_STATS: "Spins of unfair latches before they wait.",
        ALLOC_CACHES_HASH: "The insertion targets of heaps.",
        SPACE_MANAGER: "Allocation of extents and pages.",
        X_PACKET_LIST: "Packets of an exchange.",
        BUF_FREE_LIST: "The free frames of the buffer pool.",
        BUF_PAGE_LATCH: "Spins on the latch word of a page before it counts as a wait.",
        VERSION_STORE: "A shard of the store of older row versions.",
        LOCK_HASH: "A bucket of the lock manager.",
        SESSION_TABLE: "The list of sessions.",
        IDENTITY_CACHE: "Dealing out identity values.",
        SEQUENCE_CACHE: "Dealing out numbers of a sequence.",
        XTP_COMMIT: "Waits for a transaction on in-memory tables that has its time and is about to end.",
    }
}

name_table! {
    /// What a latch guards; one row of `sys.dm_os_latch_stats` each.
    LatchClass {
        BUFFER: "A page of the buffer pool.",
        NESTING_TRANSACTION_FULL: "Log records of parallel workers under one parent that changes data.",
        NESTING_TRANSACTION_READONLY: "Nested transactions under one parent that only reads.",
        LOG_MANAGER: "Segments of the log: growth, reuse, truncation.",
        LOG_FLUSHER: "Making a block of what is in the log buffer, one thread at a time; one that is turned away counts with no time.",
        LOG_BLOCKS_IN_FLIGHT: "Log blocks on their way to the disk, and the durable horizon behind them.",
        LOG_LEFT_COMMITTERS: "Committers that were taken from the flush queue and wait for a later block.",
        DATABASE_CHECKPOINT: "One checkpoint of a database at a time.",
        FGCB_ADD_REMOVE: "Growing the files of a filegroup.",
    }
}

name_table! {
    /// What a task can wait for; one row of `sys.dm_os_wait_stats` each.
    WaitType {
        ASYNC_NETWORK_IO: "The client has not taken the rows sent so far.",
        BACKUPIO: "Reading or writing a backup.",
        CHECKPOINT_QUEUE: "The checkpoint task has nothing to do.",
        CXCONSUMER: "A consumer waits for a packet of its exchange.",
        CXPACKET: "A producer waits for room in its exchange.",
        IMPROV_IOWAIT: "A file that is being loaded has not been read so far.",
        IO_COMPLETION: "A file operation other than a page or the log.",
        LATCH_EX: "A latch other than a page's.",
        LAZYWRITER_SLEEP: "The lazy writer has nothing to do.",
        LCK_M_BU: "A bulk update lock.",
        LCK_M_IS: "An intent shared lock.",
        LCK_M_IX: "An intent exclusive lock.",
        LCK_M_RIn_NL: "A place for a new row, in a range that another transaction keeps.",
        LCK_M_RS_S: "A shared lock of a range of keys.",
        LCK_M_RS_U: "An update lock of a range of keys.",
        LCK_M_RX_X: "An exclusive lock of a range of keys.",
        LCK_M_S: "A shared lock.",
        LCK_M_SCH_M: "A lock to change a table's definition.",
        LCK_M_SCH_S: "A lock that keeps a table's definition.",
        LCK_M_U: "An update lock.",
        LCK_M_X: "An exclusive lock; also a row whose writer has not ended.",
        LOGBUFFER: "Room in the log buffer.",
        LOGMGR_FLUSH: "The log's content so far is to become durable.",
        LOGMGR_QUEUE: "A log writer has nothing to do.",
        LOGMGR_RESERVE_APPEND: "Space in the log, by truncation or growth.",
        PAGEIOLATCH_SH: "A page to be read.",
        PAGELATCH_EX: "A page in memory, to be changed.",
        PREEMPTIVE_OS_FILEOPS: "An operation of the file system on a thread of its own.",
        REQUEST_FOR_DEADLOCK_SEARCH: "The deadlock monitor, until its next search.",
        RESOURCE_SEMAPHORE: "Memory granted to a query.",
        SLEEP_BPOOL_FLUSH: "The checkpoint that a CHECKPOINT statement asked for.",
        SLEEP_TASK: "A system task has nothing to do.",
        SOS_SCHEDULER_YIELD: "The task gave the CPU to others at the end of its quantum.",
        WAITFOR: "The time named in a WAITFOR statement.",
        WRITELOG: "The commit's log records to become durable.",
        XACTWORKSPACE_SYNC: "Parallel parts of a transaction.",
    }
}

/// How the value of a counter is to be read; the number is `cntr_type` of `sys.dm_os_performance_counters`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum CounterKind {
    /// The value as it stands: a level, or a total that is meant to be read as such.
    Raw = 65792,
    /// A growing total; the rate is the difference of two readings over the time between them.
    PerSecond = 272696576,
    /// The numerator of a ratio, in the unit of the base that follows it.
    Fraction = 537003264,
    /// The numerator of an average over the base that follows it.
    Average = 1073874176,
    /// The denominator of the counter before it.
    Base = 1073939712,
}

impl CounterKind {
    /// The number that the view shows as `cntr_type`.
    pub const fn cntr_type(self) -> i32 {
        self as i32
    }
}

/// Declares the table of performance counters.
macro_rules! counter_table {
    ($($counter:ident: $object:literal, $name:literal, $kind:ident, $help:literal;)+) => {
        /// A performance counter; one row of `sys.dm_os_performance_counters`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum Counter { $(#[doc = $help] $counter,)+ }

        impl Counter {
            /// All counters, in the order of the table.
            pub const ALL: &'static [Counter] = &[$(Counter::$counter,)+];

            /// The object it belongs to, without the prefix of the server's instance.
            pub const fn object(self) -> &'static str {
                match self { $(Counter::$counter => $object,)+ }
            }

            /// The name that the view shows.
            pub const fn name(self) -> &'static str {
                match self { $(Counter::$counter => $name,)+ }
            }

            /// How its value is to be read.
            pub const fn kind(self) -> CounterKind {
                match self { $(Counter::$counter => CounterKind::$kind,)+ }
            }

            /// One sentence on what is counted, with its unit.
            pub const fn help(self) -> &'static str {
                match self { $(Counter::$counter => $help,)+ }
            }
        }
    };
}

counter_table! {
    LogBytesFlushed: "Databases", "Log Bytes Flushed/sec", PerSecond, "Bytes of log written, with padding and headers.";
    LogFlushes: "Databases", "Log Flushes/sec", PerSecond, "Durable writes of log blocks.";
    LogRecordBytes: "Databases", "Log Record Bytes/sec", PerSecond, "Bytes of log records written, with their lengths; without headers and padding.";
    LogFlushWaits: "Databases", "Log Flush Waits/sec", PerSecond, "Commits that waited for a flush.";
    LogFlushWaitTime: "Databases", "Log Flush Wait Time", Raw, "Milliseconds that commits waited for flushes; added in microseconds.";
    LogFlushWriteTime: "Databases", "Log Flush Write Time (ms)", Raw, "Milliseconds spent in durable writes of log blocks; added in microseconds.";
    LogPoolCacheMisses: "Databases", "Log Pool Cache Misses/sec", PerSecond, "Log blocks read back from disk.";
    GroupCommitTime: "Databases", "Group Commit Time/sec", PerSecond, "Microseconds that flushes were held back to gather commits.";
    LogGrowths: "Databases", "Log Growths", Raw, "Segments added to the log.";
    LogShrinks: "Databases", "Log Shrinks", Raw, "Segments given back by the log.";
    LogTruncations: "Databases", "Log Truncations", Raw, "Times that segments of the log became reusable.";
    LogFilesSize: "Databases", "Log File(s) Size (KB)", Raw, "Size of all segments, in KB.";
    LogFilesUsed: "Databases", "Log File(s) Used Size (KB)", Raw, "Size of the part of the log still needed, in KB.";
    PercentLogUsed: "Databases", "Percent Log Used", Raw, "Share of the log still needed, in percent.";
    DataFilesSize: "Databases", "Data File(s) Size (KB)", Raw, "Size of all data files, in KB.";
    ActiveTransactions: "Databases", "Active Transactions", Raw, "Transactions that have changed data and not ended.";
    Transactions: "Databases", "Transactions/sec", PerSecond, "Transactions begun: explicit ones, and statements outside of them that read or change tables.";
    WriteTransactions: "Databases", "Write Transactions/sec", PerSecond, "Transactions that changed data and committed.";
    RowsChanged: "Databases", "Rows Changed/sec", PerSecond, "Rows that statements have inserted, updated and deleted, also where their count is not told.";
    TrackedTransactions: "Databases", "Tracked transactions/sec", PerSecond, "Transactions whose state is kept for snapshots.";

    PageLookups: "Buffer Manager", "Page lookups/sec", PerSecond, "Requests for a page of the buffer pool.";
    BufferCacheHits: "Buffer Manager", "Buffer cache hit ratio", Fraction, "Requests for a page that found it in memory.";
    BufferCacheHitsBase: "Buffer Manager", "Buffer cache hit ratio base", Base, "Requests for a page.";
    PageReads: "Buffer Manager", "Page reads/sec", PerSecond, "Pages read from disk.";
    PageWrites: "Buffer Manager", "Page writes/sec", PerSecond, "Pages written to disk.";
    ReadaheadPages: "Buffer Manager", "Readahead pages/sec", PerSecond, "Pages read before they were asked for.";
    CheckpointPages: "Buffer Manager", "Checkpoint pages/sec", PerSecond, "Pages written by checkpoints.";
    BackgroundWriterPages: "Buffer Manager", "Background writer pages/sec", PerSecond, "Pages written by the background writer.";
    LazyWrites: "Buffer Manager", "Lazy writes/sec", PerSecond, "Pages written by the lazy writer to free frames.";
    DoubleWriteBytes: "Buffer Manager", "Double-write bytes/sec", PerSecond, "Bytes written to the double-write area, from which torn pages are rebuilt.";
    FreeListStalls: "Buffer Manager", "Free list stalls/sec", PerSecond, "Requests that had to wait for a free frame.";
    PageLifeExpectancy: "Buffer Manager", "Page life expectancy", Raw, "Seconds that a page stays in memory unused.";
    DatabasePages: "Buffer Manager", "Database pages", Raw, "Pages in the buffer pool.";
    TargetPages: "Buffer Manager", "Target pages", Raw, "Pages that the buffer pool is to hold at most.";

    PageSplits: "Access Methods", "Page Splits/sec", PerSecond, "Pages split because an entry did not fit.";
    PagesAllocated: "Access Methods", "Pages Allocated/sec", PerSecond, "Pages given to tables and indexes.";
    PageDeallocations: "Access Methods", "Page Deallocations/sec", PerSecond, "Pages taken back from tables and indexes.";
    ExtentsAllocated: "Access Methods", "Extents Allocated/sec", PerSecond, "Extents given to tables and indexes.";
    ExtentDeallocations: "Access Methods", "Extent Deallocations/sec", PerSecond, "Extents taken back from tables and indexes.";
    ForwardedRecords: "Access Methods", "Forwarded Records/sec", PerSecond, "Rows of heaps found through a forwarding entry.";
    FullScans: "Access Methods", "Full Scans/sec", PerSecond, "Scans of a whole table or index.";
    RangeScans: "Access Methods", "Range Scans/sec", PerSecond, "Scans of a range of an index.";
    ProbeScans: "Access Methods", "Probe Scans/sec", PerSecond, "Lookups of one row.";

    BatchRequests: "SQL Statistics", "Batch Requests/sec", PerSecond, "Batches received.";
    SqlCompilations: "SQL Statistics", "SQL Compilations/sec", PerSecond, "Compilations of batches and procedures.";
    SqlReCompilations: "SQL Statistics", "SQL Re-Compilations/sec", PerSecond, "Compilations because a definition had changed.";

    UserConnections: "General Statistics", "User Connections", Raw, "Sessions that are connected.";
    Logins: "General Statistics", "Logins/sec", PerSecond, "Sessions begun.";
    Logouts: "General Statistics", "Logouts/sec", PerSecond, "Sessions ended.";
    LoginsFromCache: "General Statistics", "Logins Verified From Cache/sec", PerSecond, "Passwords of logins known to be right from one that was verified before: no hash was computed.";
    PasswordHashes: "General Statistics", "Password Hashes/sec", PerSecond, "Passwords of logins that were hashed to be compared.";
    TlsHandshakes: "General Statistics", "TLS Handshakes/sec", PerSecond, "TLS handshakes completed.";
    TlsResumptions: "General Statistics", "TLS Resumptions/sec", PerSecond, "TLS handshakes that resumed a session, and so needed no signature.";
    ProcessesBlocked: "General Statistics", "Processes blocked", Raw, "Tasks that wait for another transaction.";

    LockRequests: "Locks", "Lock Requests/sec", PerSecond, "Locks asked for.";
    LockWaits: "Locks", "Lock Waits/sec", PerSecond, "Locks that had to be waited for.";
    LockWaitTime: "Locks", "Lock Wait Time (ms)", PerSecond, "Milliseconds waited for locks; added in microseconds.";
    LockTimeouts: "Locks", "Lock Timeouts/sec", PerSecond, "Locks given up after the session's time-out.";
    Deadlocks: "Locks", "Number of Deadlocks/sec", PerSecond, "Transactions ended as the victim of a deadlock.";

    VersionStoreSize: "Transactions", "Version Store Size (KB)", Raw, "Memory held by older row versions, in KB; added in bytes.";
    VersionGeneration: "Transactions", "Version Generation rate (KB/s)", PerSecond, "Older row versions made, in KB; added in bytes.";
    VersionCleanup: "Transactions", "Version Cleanup rate (KB/s)", PerSecond, "Older row versions removed, in KB; added in bytes.";
    SnapshotTransactions: "Transactions", "Snapshot Transactions", Raw, "Transactions that read a snapshot.";
    LongestTransactionRunningTime: "Transactions", "Longest Transaction Running Time", Raw, "Seconds since the oldest active transaction began.";

    SqlErrors: "SQL Errors", "Errors/sec", PerSecond, "Errors sent to clients.";
}

impl Counter {
    /// What one unit of the view's value is in units of what is added: bytes of a KB, microseconds of a millisecond.
    pub const fn divisor(self) -> u64 {
        match self {
            Counter::LogFlushWaitTime | Counter::LogFlushWriteTime | Counter::LockWaitTime => 1_000,
            Counter::VersionStoreSize | Counter::VersionGeneration | Counter::VersionCleanup => 1_024,
            _ => 1,
        }
    }

    /// Whether each database counts it for itself: the object Databases, and what a database holds of the buffer pool.
    pub const fn is_of_database(self) -> bool {
        self.is_shown_by_database() || matches!(self, Counter::DatabasePages | Counter::TargetPages)
    }

    /// Whether the view has a row of it for each database, and their sum as the instance `_Total`.
    pub const fn is_shown_by_database(self) -> bool {
        // The object's counters stand first in the table; a test holds the two together.
        (self as usize) <= Counter::TrackedTransactions as usize
    }

    /// Whether its value goes both ways, and goes away with what it measures. The others only grow.
    pub const fn is_level(self) -> bool {
        matches!(
            self,
            Counter::LogFilesSize
                | Counter::LogFilesUsed
                | Counter::PercentLogUsed
                | Counter::DataFilesSize
                | Counter::ActiveTransactions
                | Counter::DatabasePages
                | Counter::TargetPages
                | Counter::UserConnections
                | Counter::ProcessesBlocked
                | Counter::PageLifeExpectancy
                | Counter::VersionStoreSize
                | Counter::SnapshotTransactions
                | Counter::LongestTransactionRunningTime
        )
    }

    /// The instance of its one row: blank, or `_Total` in the objects that have instances.
    pub(crate) fn instance(self) -> &'static str {
        match self.object() {
            "Databases" | "Locks" | "SQL Errors" => TOTAL,
            _ => "",
        }
    }
}

/// The instance that sums over all others.
pub(crate) const TOTAL: &str = "_Total";

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_are_unique_and_found_again() {
        let names: HashSet<_> = WaitType::ALL.iter().map(|row| row.name()).collect();
        assert_eq!(names.len(), WaitType::ALL.len());
        assert_eq!(WaitType::from_name("writelog"), Some(WaitType::WRITELOG));
        assert_eq!(SpinlockClass::from_name("nothing"), None);
        for (index, class) in LatchClass::ALL.iter().enumerate() {
            assert_eq!(*class as usize, index);
            assert!(!class.help().is_empty());
        }
        let counters: HashSet<_> = Counter::ALL.iter().map(|row| (row.object(), row.name())).collect();
        assert_eq!(counters.len(), Counter::ALL.len());
    }

    #[test]
    fn kinds_are_those_that_tools_know() {
        assert_eq!(Counter::LogFlushes.kind().cntr_type(), 272_696_576);
        assert_eq!(Counter::PageLifeExpectancy.kind().cntr_type(), 65_792);
    }

    #[test]
    fn what_databases_show_is_the_object_databases() {
        for counter in Counter::ALL {
            assert_eq!(counter.is_shown_by_database(), counter.object() == "Databases", "{counter:?}");
            assert!(!counter.is_level() || counter.kind() == CounterKind::Raw, "{counter:?}");
        }
    }

    #[test]
    fn a_base_follows_what_it_divides() {
        for pair in Counter::ALL.windows(2) {
            let divided = matches!(pair[0].kind(), CounterKind::Fraction | CounterKind::Average);
            assert_eq!(divided, pair[1].kind() == CounterKind::Base);
            if divided {
                assert_eq!(pair[0].object(), pair[1].object());
            }
        }
    }
}
