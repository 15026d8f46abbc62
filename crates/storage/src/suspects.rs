//! Pages that were found damaged, until they are taken for a list.

use std::collections::BTreeMap;

use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::Ordering;
use pikepole_machine::clock;

use crate::error::PageId;
use crate::store::{Store, lock};

/// Most pages that are noted at a time: as many as the list of SQL Server takes.
const PAGES_MAX: usize = 1000;

/// A page that was found damaged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SuspectPage {
    /// The page.
    pub page: PageId,
    /// Its checksum does not match; otherwise it is not what it must be in another way, such as an older state of it.
    pub bad_checksum: bool,
    /// How often it was met.
    pub errors: u32,
    /// When it was met last, in microseconds since 1970.
    pub last_us: i64,
}

/// See the module.
#[derive(Default)]
pub(crate) struct Suspects(Mutex<BTreeMap<(u32, bool), SuspectPage>>);

impl Store {
    /// Notes a damaged page.
    pub(crate) fn suspect(&self, page: PageId, bad_checksum: bool) {
        let mut suspects = lock(&self.suspects.0);
        let key = (page.0, bad_checksum);
        if suspects.len() >= PAGES_MAX && !suspects.contains_key(&key) {
            return;
        }
        let new = SuspectPage { page, bad_checksum, errors: 0, last_us: 0 };
        let suspect = suspects.entry(key).or_insert(new);
        suspect.errors = suspect.errors.saturating_add(1);
        suspect.last_us = clock::unix_time_us();
        drop(suspects);
        // Release pairs with the Acquire in `Server::take_suspect_pages`, which takes the lock then.
        self.options.damage_seen.store(true, Ordering::Release);
    }

    /// The pages that were found damaged since the last call.
    pub fn take_suspects(&self) -> Vec<SuspectPage> {
        std::mem::take(&mut *lock(&self.suspects.0)).into_values().collect()
    }
}
