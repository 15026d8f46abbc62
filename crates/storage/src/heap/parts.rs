//! Heaps of parts: pieces of values that no row has room for.
//!
//! ```text
//!   part of more than half a page    a page of its own, by one record       [ part                    ]
//!   shorter part                     beside others, as any row              [ part | part | part | .. ]
//! ```
//! Parts are written once and never changed, so none ever moves. A page with a part of its own is no insertion target: nobody else puts
//! rows into it, and when its part is removed the page goes out of use as a whole, as every page of a heap does with its last row.
//!
//! Invariant: a row of more than [`SHARED_BYTES_MAX`] is the only one of its page.

use super::bulk::{check_length, place};
use super::*;
use crate::allocation::OWNER_FREE;

/// The longest part that shares a page with others.
const SHARED_BYTES_MAX: usize = Heap::ROW_BYTES_MAX / 2;

impl Heap {
    /// A handle on a heap of parts; as [`Heap::open`] otherwise.
    pub fn open_parts(store: &Arc<Store>, object: u32) -> Heap {
        Heap { of_parts: true, ..Heap::open(store, object) }
    }

    /// Whether a part of this length has a page of its own, which [`Heap::insert_alone`] gives it.
    pub fn is_alone(&self, rest_bytes: usize) -> bool {
        self.of_parts && rest_bytes > SHARED_BYTES_MAX
    }

    /// Inserts a part that has a page of its own. Undo takes the page out of use: [`Heap::free_page`].
    ///
    /// # Errors
    /// As of [`Heap::insert`].
    pub fn insert_alone(&self, context: &LogContext, rest: &[u8]) -> Result<(Rid, LsnRange), Stop> {
        assert!(self.is_alone(rest.len()), "a long part of a heap of parts");
        check_length(rest.len())?;
        let spare = self.store.pool.take_free()?;
        let new = self.store.new_page(self.object, slot::current(), context.is_clr())?;
        let rows = PackedRows { count: 1, row_bytes: rest.len(), body: rest };
        let placed = place(self, spare, new.id, false, context, &rows)?;
        new.used();
        Ok((Rid { page: placed.page, slot: 0 }, placed.range))
    }

    /// Removes a ghost that nobody needs, and with it its page if that was its own.
    ///
    /// # Errors
    /// As of [`Heap::remove`].
    pub fn remove_ghost(&self, context: &LogContext, rid: Rid, expected: RowHeader) -> Result<ChangeOutcome, Stop> {
        let guard = self.page_exclusive(rid.page)?;
        if let Err(outcome) = self.expect(guard.page(), rid, expected) {
            return Ok(outcome);
        }
        let is_here = matches!(home_entry(guard.page(), rid.slot), Some(Entry::Here(..)));
        if is_here && self.is_the_last(guard.page(), rid.slot) {
            return self.free_latched(guard, context).map(ChangeOutcome::Done);
        }
        self.remove_latched(guard, context, rid)
    }

    /// Returns true for the only entry of a page that is no target: the page can go with it.
    pub(super) fn is_the_last(&self, page: Page<'_>, slot: u16) -> bool {
        let own = occupied(PageKind::Heap, page.entry(slot as usize).len());
        page.entry_bytes() == own && !self.targets.have(page.id())
    }

    /// Takes a page out of use with the one entry that it has, under its latch: the next user of the page formats it behind
    /// this record. The page has no owner then, also for a thread that knew it as its target.
    pub(super) fn free_latched(&self, mut guard: Exclusive<'_>, context: &LogContext) -> Result<LsnRange, Stop> {
        let range = self.store.free_page(context, guard.page().id())?;
        guard.page_mut().set_object(OWNER_FREE);
        guard.logged(range);
        Ok(range)
    }
}
