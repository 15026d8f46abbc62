//! What log backups take beside the log: under BULK_LOGGED the log names pages whose rows it does not have.
//!
//! ```text
//!   A: where the log backup begins             S: rows are logged from here on           B: where it ends
//!   |--- UsePage, BulkPages: pages without ----|--- pages named before S are copied -----|
//!        their rows                            |                                         |
//!        heap: each page, when it has them     begin_backup, the log hardened            durable when they are
//!        new trees: when they are full                                                   copied: no page is newer
//!
//!   RESTORE LOG    pages and log staged    --recovery--> pages put in, oldest backup first; the master says so; redo
//! ```
//!
//! # What is remembered, and where
//! The log is the map of what was changed. It is kept from A until the log backup that begins there has been made, so
//! nothing else need be written, made durable, cleared, or undone: a crash leaves both or neither of a page's use and
//! the mention of it, and the backup that moves A lets go of both in the one write of `database.toml`.
//! [`LogChain::bulk_logged`](super::LogChain) only spares the reading where the database was never BULK_LOGGED since A:
//! it is durable before the first row is left out, and goes when A moves.
//!
//! # Why the log backup has all rows
//! - A page of a heap gets its rows and its record at once; a tree's pages are named when the last row is in. Both
//!   while nobody needs rows in the log: a backup that begins waits for those who are at it, and from then on rows are
//!   logged. A tree whose naming a backup overlaps is named again, or logged page by page. So a page that lacks rows in
//!   the log is named between A and S, with its rows in it, in memory at least.
//! - A checkpoint between S and the copying brings it to the disk. What is copied may be newer, but no newer than B.
//! - A page that nobody uses any more when the copying begins is left out: who uses it next is logged as a whole. The
//!   log still says that it lacked rows, so it cannot be restored to a point between.
//! - Transactions may be open at B: redo makes all pages those of B, and undo takes out of use what the transaction had
//!   filled.
//!
//! # Why it restores
//! A page from a log backup is as old as its lsn, as one of a full backup is. The difference is what the records below
//! that lsn say: one takes the page into use with rows that no record has. So redo looks at such a page before it
//! believes the record ([`pikepole_storage::Redo`]). The pages are staged until recovery: those of an interrupted
//! RESTORE LOG are not put over what an earlier log ends with. The master that tells redo is written behind the pages,
//! `database.toml` behind that; an interrupted recovery puts the pages in once more, or redoes once more with the same
//! master, until the first checkpoint replaces it.
//!
//! Of a log that lacks rows only the end can be restored: before, the pages are of a later time than the log (error
//! 4341).
//!
//! # Full backups
//! They copy all pages behind a checkpoint of their own, also those of loads that are under way; what these fill from
//! then on is logged. They move no A: a chain that they begin has A where they end, and what was left out of the log
//! before is in their pages.

use pikepole_log::{LogFiles, Lsn};
use pikepole_storage::records::Record;
use pikepole_storage::{PageId, PagesInUse};
use pikepole_transaction::TransactionId;

use super::Database;

impl Database {
    /// The pages of the data file that records between two places name as changed without their rows in the log, used
    /// or not by now. The log must be kept, and durable. Blocks.
    ///
    /// # Errors
    /// Why the log cannot be read, for people.
    pub(crate) fn bulk_changed(&self, from: Lsn, to: Lsn) -> Result<PagesInUse, String> {
        let files = LogFiles::open_live(self.disk(), self.folder().join("log")).map_err(|error| error.to_string())?;
        if files.extent().end < to {
            return Err(format!("it ends at LSN {}, and is durable up to {to}", files.extent().end));
        }
        let (mut changed, file_pages) = (PagesInUse::default(), self.store().file_pages());
        let mut reader = files.read_near(from).map_err(|error| error.to_string())?;
        while let Some((lsn, bytes, _)) = reader.next().map_err(|error| error.to_string())? {
            if lsn >= to {
                break;
            }
            if lsn < from {
                continue;
            }
            match Record::decode(bytes).map_err(|error| format!("the record at {lsn}: {error}"))? {
                Record::UsePage { xid, page, .. } if xid != TransactionId::SYSTEM.0 && page < file_pages => {
                    changed.insert(PageId(page));
                }
                Record::BulkPages { page, used, .. } if page < file_pages => {
                    changed.insert_of_extent(PageId(page), used);
                }
                _ => {}
            }
        }
        Ok(changed)
    }

    /// What a check says of the log backup that would come next: that the log still goes back to where it begins, and
    /// how many pages it would take. None without a chain.
    pub(super) fn check_next_log_backup(&self) -> Result<Option<String>, String> {
        let Some(chain) = self.log_chain() else { return Ok(None) };
        let (from, to) = (Lsn(chain.backed_up_to), self.log().durable());
        if from > to {
            return Err(format!("it would begin at LSN {from}, and the log ends at {to}"));
        }
        self.log().blocks(from, to).map_err(|error| error.to_string())?;
        let mut pages = if chain.bulk_logged { self.bulk_changed(from, to)? } else { PagesInUse::default() };
        self.store().keep_taken(&mut pages);
        Ok(Some(format!("log backups: made up to LSN {from}; {} pages go with the next one", pages.count())))
    }
}
