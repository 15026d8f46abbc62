//! The pass over the log when a database is opened, and who is told how far it is.

use std::sync::Arc;
use std::time::Duration;

use pikepole_log::{LsnRange, Reader};
use pikepole_machine::clock;
use pikepole_storage::{Master, Redo, Store};
use pikepole_transaction::Analysis;

/// Recoveries that take longer are reported.
const QUIET: Duration = Duration::from_secs(2);
/// How often, from then on.
const EVERY: Duration = Duration::from_secs(1);
/// Records between two looks at the clock.
const LOOK_EVERY: u64 = 8192;

/// How far the recovery of a database is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryProgress {
    /// The database.
    pub database: String,
    /// Bytes to go through: of the log, and after that of the rows of in-memory tables.
    pub bytes: u64,
    /// Bytes done.
    pub bytes_done: u64,
    /// Since it began.
    pub elapsed: Duration,
}

/// Is told once a second how far a recovery is that takes longer than two seconds.
#[derive(Clone)]
pub struct RecoveryWatch(Arc<dyn Fn(&RecoveryProgress) + Send + Sync>);

impl RecoveryWatch {
    /// Calls `tell`, on the thread that recovers.
    pub fn new(tell: impl Fn(&RecoveryProgress) + Send + Sync + 'static) -> RecoveryWatch {
        RecoveryWatch(Arc::new(tell))
    }
}

impl std::fmt::Debug for RecoveryWatch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RecoveryWatch")
    }
}

/// Reports to a watch when it is time to.
pub(crate) struct Teller<'a> {
    watch: &'a RecoveryWatch,
    database: &'a str,
    from: u64,
    to: u64,
    begun_us: u64,
    next_us: u64,
}

impl<'a> Teller<'a> {
    /// Reports on the bytes from one position to another, from now on.
    pub fn new(watch: &'a RecoveryWatch, database: &'a str, from: u64, to: u64) -> Teller<'a> {
        let begun_us = clock::now_us();
        Teller { watch, database, from, to, begun_us, next_us: begun_us + QUIET.as_micros() as u64 }
    }

    /// Reports that all up to a position is done, if the last report is long ago.
    pub fn look(&mut self, position: u64, now_us: u64) {
        if now_us < self.next_us {
            return;
        }
        self.next_us = now_us + EVERY.as_micros() as u64;
        (self.watch.0)(&RecoveryProgress {
            database: self.database.to_owned(),
            bytes: self.to - self.from,
            bytes_done: position.saturating_sub(self.from),
            elapsed: Duration::from_micros(now_us - self.begun_us),
        });
    }
}

/// Redoes what the pages lack, and finds the transactions that did not end.
///
/// # Errors
/// What is damaged, for people.
pub(super) fn pass_over_log(
    store: &Arc<Store>,
    reader: &mut Reader,
    master: &Master,
    database: &str,
    watch: Option<&RecoveryWatch>,
) -> Result<Analysis, String> {
    let (from, to) = (reader.position().0, reader.end().0);
    let mut teller = watch.map(|watch| Teller::new(watch, database, from, to));
    let mut redo = Redo::new(store);
    let mut analysis = Analysis::default();
    let read = loop {
        let (start, record, end) = match reader.next() {
            Ok(Some(entry)) => entry,
            Ok(None) => break Ok(()),
            Err(error) => break Err(error.to_string()),
        };
        if start < master.recovery_lsn {
            // It is for in-memory tables.
            continue;
        }
        if start >= master.redo_lsn {
            redo.record(LsnRange { start, end }, record).map_err(|e| e.to_string())?;
        }
        analysis.record(record).map_err(|e| e.to_string())?;
        if let Some(teller) = &mut teller
            && analysis.records().is_multiple_of(LOOK_EVERY)
        {
            teller.look(end.0, clock::now_us());
        }
    };
    // What was dealt out comes first: a record that could not be applied lies before the one that could not be read.
    redo.finish().map_err(|e| e.to_string())?;
    read.map(|()| analysis)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_contention::sync::Mutex;

    #[test]
    fn a_watch_is_told_after_two_seconds_and_once_a_second() {
        let told = Arc::new(Mutex::new(Vec::new()));
        let seen = told.clone();
        let watch = RecoveryWatch::new(move |progress| seen.lock().expect("no panic").push(progress.clone()));
        let mut teller =
            Teller { watch: &watch, database: "sales", from: 100, to: 1100, begun_us: 7, next_us: 2_000_007 };
        for (position, now_us) in [(200, 1_000_000), (600, 2_000_007), (700, 2_900_000), (1100, 3_100_000)] {
            teller.look(position, now_us);
        }
        let told = told.lock().expect("no panic");
        let seen: Vec<(u64, u64, u64)> =
            told.iter().map(|p| (p.bytes_done, p.bytes, p.elapsed.as_micros() as u64)).collect();
        assert_eq!(seen, [(500, 1000, 2_000_000), (1000, 1000, 3_099_993)]);
        assert_eq!(told[0].database, "sales");
    }
}
