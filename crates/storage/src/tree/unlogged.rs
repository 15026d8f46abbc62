//! Filling a tree without logging its rows.
//!
//! ```text
//!   Tree::create            logged: an empty root
//!   unlogged().insert       pages change, and no record tells of it; of each new page the log has that it is in use
//!   note_pages()            for log backups, which take them: an extent's pages, a record each
//!   unlogged_end() = E      nobody needed the rows in the log since before: safe once the redo start is at E or above
//!   or else log_page()      each page as it is then, a record each: safe as any other change
//!   from here on            logged changes, as of any tree
//! ```
//! Invariants
//! - the tree belongs to nobody but a transaction that made it and whose rollback, also that of recovery, gives it back as a whole;
//! - the transaction makes no logged change of the tree, and does not commit, before the tree is safe. So redo, which begins at or
//!   above E for a tree that anybody needs, never meets a page whose rows were not in the log;
//! - a page keeps the lsn of the record with which it came into use. It is enough for the write-ahead rule: what it lacks
//!   is lost with the page.

use super::*;
use crate::allocation::{EXTENT_PAGES, page_bit};
use crate::records::Record;

/// How far the pages of a tree have been logged.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoggedPages {
    /// The extent at hand among those of the object.
    extent: usize,
    /// The page at hand in it.
    page: u32,
}

impl Tree {
    /// The same tree, to be filled by [`Tree::insert`] without logging; see the module for what the caller owes.
    pub fn unlogged(&self) -> Tree {
        Tree { unlogged: true, ..self.clone() }
    }

    /// Whether the tree is as it was made: its root has no rows, also no deleted ones, and no children.
    ///
    /// # Errors
    /// Needs, then call again; a damaged page.
    pub fn is_bare(&self) -> Result<bool, Stop> {
        let root = self.store.pool.shared(self.root)?;
        Ok(root.page().kind() == Some(PageKind::Leaf) && root.page().slots() == 0)
    }

    /// Notes the pages of the tree's next extent in the log, as changed without logging; false: there is none left.
    /// Nobody changes the tree meanwhile.
    ///
    /// # Errors
    /// Needs, then call again; a full log.
    pub fn note_pages(&self, at: &mut LoggedPages) -> Result<bool, Stop> {
        let Some((extent, used)) = self.store.space.lock().extent_of(self.object, at.extent) else {
            return Ok(false);
        };
        let record = Record::BulkPages { page: extent * EXTENT_PAGES, used, object: self.object };
        // It changes no page, and so comes behind nothing but what is durable by now.
        self.store.append(&LogContext::default(), 0, &record)?;
        *at = LoggedPages { extent: at.extent + 1, page: 0 };
        Ok(true)
    }

    /// Puts the next page of the tree into the log as it is; false: there is none left. Nobody changes the tree meanwhile.
    ///
    /// # Errors
    /// Needs, then call again; a full log; a damaged page.
    pub fn log_page(&self, at: &mut LoggedPages) -> Result<bool, Stop> {
        loop {
            let Some((extent, used)) = self.store.space.lock().extent_of(self.object, at.extent) else {
                return Ok(false);
            };
            while at.page < EXTENT_PAGES {
                let page = PageId(extent * EXTENT_PAGES + at.page);
                if used & page_bit(page) != 0 {
                    self.log_image(page)?;
                    at.page += 1;
                    return Ok(true);
                }
                at.page += 1;
            }
            *at = LoggedPages { extent: at.extent + 1, page: 0 };
        }
    }

    fn log_image(&self, page: PageId) -> Result<(), Stop> {
        let mut guard = self.store.pool.exclusive(page)?;
        let mut changes = ChangeList::new();
        changes.image(guard.page());
        let range = self.store.append(&LogContext::default(), guard.page().lsn(), &changes.record())?;
        if guard.page().level() > 0 {
            // An inner page is never written in place: its lsn goes in with the copy.
            let mut copy = Box::new(*guard.page().0);
            PageMut::new(&mut copy).set_lsn(range.end.0);
            guard.set_page(&copy);
        }
        guard.formatted(range);
        Ok(())
    }
}
