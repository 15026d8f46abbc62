//! Checking pages of a store that is in use, some at a time.
//!
//! Each page is looked at as it is at one moment: as the disk has it, or as the pool does where the disk is behind. So what
//! is judged is what one page says by itself, and what the map says of it:
//!
//! - checksum, number and structure;
//! - that it is as it was last written (see `stamps`);
//! - that the object on the page is the owner of its extent;
//! - a page of a tree: its keys ascend and lie between its fences.
//!
//! How pages hang together is for whoever reads a tree from its first key to its last, as statements do: a scan follows
//! what splits and merges under it. A page that does not hold is looked at again for a while, since it can be on its way to
//! another owner or to the disk; it is damaged if it stays so.

use std::time::Duration;

use pikepole_contention::sync::atomic::Ordering;
use pikepole_contention::sync::thread;
use pikepole_machine::AlignedBuffer;

use crate::allocation::{EXTENT_PAGES, OWNER_FREE, OWNER_STORE};
use crate::check::Finding;
use crate::error::{PageId, StorageError};
use crate::frame::IO_IDLE;
use crate::page::{PAGE_BYTES, Page, PageBytes, PageKind, PageMut};
use crate::store::Store;

/// Extents that one step covers: a megabyte of pages.
const EXTENTS_AT_ONCE: u32 = 16;
/// How often a page that does not hold is looked at again, and the time between.
const LOOKS: u32 = 20;
const LOOK_PAUSE: Duration = Duration::from_millis(1);
/// Damage behind so many findings is not looked for.
const FINDINGS_MAX: usize = 1_000;

/// A check that is under way.
#[derive(Debug, Default)]
pub struct OnlineCheck {
    next: u32,
    /// Pages looked at.
    pub pages: u64,
    /// What is wrong.
    pub findings: Vec<Finding>,
}

/// An extent as the map has it.
struct Extent {
    number: u32,
    owner: u32,
    used: u8,
}

impl OnlineCheck {
    /// Looks at some pages of the objects that `wanted` takes; false behind the last extent. Blocks.
    ///
    /// # Errors
    /// I/O that fails; damage is not an error but a [`Finding`].
    pub fn step(&mut self, store: &Store, wanted: &dyn Fn(u32) -> bool) -> Result<bool, StorageError> {
        let (extents, all) = self.next_extents(store, wanted);
        let mut buffer = AlignedBuffer::zeroed(EXTENT_PAGES as usize * PAGE_BYTES);
        for extent in extents {
            let at = u64::from(extent.number) * buffer.len() as u64;
            store.data.read_at(&mut buffer, at).map_err(|error| StorageError::io("reading pages to check", error))?;
            for (place, bytes) in buffer.chunks_exact(PAGE_BYTES).enumerate() {
                if extent.used >> place & 1 != 0 {
                    let id = PageId(extent.number * EXTENT_PAGES + place as u32);
                    let bytes: &PageBytes = bytes.try_into().expect("a page's length");
                    self.page(store, id, extent.owner, bytes)?;
                }
            }
        }
        Ok(self.next < all && self.findings.len() < FINDINGS_MAX)
    }

    /// Percent of the extents that are behind it.
    pub fn percent(&self, store: &Store) -> u64 {
        let all = u64::from(store.file_pages() / EXTENT_PAGES).max(1);
        (u64::from(self.next) * 100 / all).min(100)
    }

    /// The next extents with pages in use, and how many there are of all.
    fn next_extents(&mut self, store: &Store, wanted: &dyn Fn(u32) -> bool) -> (Vec<Extent>, u32) {
        let space = store.space.lock();
        let all = space.extents();
        let end = self.next.saturating_add(EXTENTS_AT_ONCE).min(all);
        let entry = |number| space.entry(number).map(|(owner, used)| Extent { number, owner, used });
        let extents = (self.next..end).filter_map(entry);
        let extents = extents.filter(|extent| extent.used != 0 && extent.owner != OWNER_FREE && wanted(extent.owner));
        let extents = extents.collect();
        drop(space);
        self.next = end;
        (extents, all)
    }

    fn page(&mut self, store: &Store, id: PageId, owner: u32, bytes: &PageBytes) -> Result<(), StorageError> {
        self.pages += 1;
        let mut why = match judge(bytes, id, owner) {
            Ok(()) => match store.check_stamp(id, Page(bytes)) {
                Ok(None) => return Ok(()),
                Ok(Some(what)) => {
                    // The page is right, and its stamp has been put right by this look.
                    self.findings.push(Finding { page: id, object: owner, what });
                    return Ok(());
                }
                Err(StorageError::Corrupt { why, .. }) => why,
                Err(error) => return Err(error),
            },
            Err(why) => why,
        };
        let mut owner = owner;
        for _ in 0..LOOKS {
            let Some(now) = owner_of(store, id) else { return Ok(()) };
            owner = now;
            match look_again(store, id, owner)? {
                None => return Ok(()),
                Some(again) => why = again,
            }
            thread::sleep(LOOK_PAUSE);
        }
        store.suspect(id, Page(bytes).stored_crc() != Page(bytes).crc());
        self.findings.push(Finding { page: id, object: owner, what: why });
        Ok(())
    }
}

/// The owner of a page that is in use; pages of the map are the store's own.
fn owner_of(store: &Store, id: PageId) -> Option<u32> {
    if crate::allocation::is_map_page(id) { Some(OWNER_STORE) } else { store.object_of(id) }
}

/// The reason why a page does not hold now, as the pool has it where the disk is behind, or else as the disk has it.
fn look_again(store: &Store, id: PageId, owner: u32) -> Result<Option<String>, StorageError> {
    if let Some(page) = ahead_of_disk(store, id) {
        return Ok(judge(&page, id, owner).err());
    }
    let read = store.read_page(id).and_then(|bytes| match judge(&bytes, id, owner) {
        Ok(()) => of_stamp(store, id, &bytes),
        Err(why) => Ok(Some(why)),
    });
    match read {
        Err(StorageError::Corrupt { why, .. }) => Ok(Some(why)),
        read => read,
    }
}

/// A page that the disk does not have as it is, or is being given.
fn ahead_of_disk(store: &Store, id: PageId) -> Option<Box<PageBytes>> {
    store.pool.lookup(id)?;
    let copy = store.until_done(|| {
        store.pool.shared(id).map(|guard| {
            let header = guard.header();
            let is_ahead = header.rec_lsn.load(Ordering::Relaxed) != 0 || header.io.load(Ordering::Relaxed) != IO_IDLE;
            is_ahead.then(|| Box::new(*guard.page().0))
        })
    });
    let mut page = copy.ok()??;
    PageMut::new(&mut page).seal();
    Some(page)
}

/// The reason why a page, which is whole, is not the one that was last written.
fn of_stamp(store: &Store, id: PageId, bytes: &PageBytes) -> Result<Option<String>, StorageError> {
    match store.check_stamp(id, Page(bytes)) {
        Err(StorageError::Corrupt { why, .. }) => Ok(Some(why)),
        checked => checked,
    }
}

/// What does not hold of a page by itself.
fn judge(bytes: &PageBytes, id: PageId, owner: u32) -> Result<(), String> {
    let page = Page(bytes);
    page.validate(id).map_err(|error| match error {
        StorageError::Corrupt { why, .. } => why,
        error => error.to_string(),
    })?;
    match page.kind() {
        Some(PageKind::Map) if owner == OWNER_STORE => return Ok(()),
        Some(PageKind::Map) => return Err("it is a page of the allocation map".to_owned()),
        _ => {}
    }
    if page.object() != owner {
        return Err(format!("it says it belongs to object {}", page.object()));
    }
    match page.kind() {
        Some(PageKind::Leaf) => (0..page.slots()).try_for_each(|slot| {
            let key = page.leaf_entry(slot).key;
            if !page.covers(key) {
                return Err(format!("the key of slot {slot} is outside of the fences"));
            }
            if slot > 0 && page.leaf_key(slot - 1) >= key {
                return Err(format!("the key of slot {slot} is not above the one before"));
            }
            Ok(())
        }),
        // The first separator of an inner page is empty: it stands for the low fence.
        Some(PageKind::Inner) => (2..page.slots()).try_for_each(|slot| {
            let ascends = page.inner_entry(slot - 1).0 < page.inner_entry(slot).0;
            if ascends { Ok(()) } else { Err(format!("separator {} is not below the next one", slot - 1)) }
        }),
        _ => Ok(()),
    }
}
