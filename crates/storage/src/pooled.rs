//! The pages that the buffer pool holds, one by one, for who looks at them.

use crate::page::PageKind;
use crate::store::Store;
use pikepole_contention::sync::atomic::Ordering;

/// A page in the buffer pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PooledPage {
    /// Its number.
    pub page: u32,
    /// The object that it belongs to.
    pub object: u32,
    /// What it holds.
    pub kind: PageKind,
    /// Its level in its tree; 0 is that of the rows.
    pub level: u8,
    /// Its rows, or its entries.
    pub rows: usize,
    /// Bytes that are free on it, also between rows.
    pub free_bytes: usize,
    /// It has been changed since it was written.
    pub is_modified: bool,
}

impl Store {
    /// The pages in the buffer pool, as each of them is when it is looked at. One that somebody is changing at that moment is left out.
    pub fn pooled_pages(&self) -> Vec<PooledPage> {
        let of = |frame: u32| {
            let latch = self.pool.try_shared_at(frame)?;
            let header = latch.header();
            let number = header.page()?;
            let page = latch.page();
            Some(PooledPage {
                page: number,
                object: page.object(),
                kind: page.kind()?,
                level: page.level(),
                rows: page.slots(),
                free_bytes: page.free_bytes(),
                is_modified: header.rec_lsn.load(Ordering::Relaxed) != 0,
            })
        };
        self.pool.used().frames().filter_map(of).collect()
    }
}
