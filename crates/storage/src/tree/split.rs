//! Making room: splits, and the growth of the root.
//!
//! One split holds the latches of a parent and one child, and at the end of the new page's and the map page's, and is one
//! log record for all four. If the parent has no room, it is split first, as the child of its own parent; if there is no
//! parent, the root grows. Each of these steps leaves a sound tree, and the operation that wanted room begins again.
//!
//! Where a leaf is split:
//!
//! | the row goes | split | effect |
//! |---|---|---|
//! | behind the last one of the last leaf | behind all: the new page is empty | ascending keys fill pages |
//! | where this cursor's inserts go up | at the row: it stays left, what follows moves | every session's range gets pages of its own, and fills them |
//! | elsewhere | in the middle, by bytes | |

use pikepole_contention::Counter;
use pikepole_contention::sync::hint::spin_loop;

use super::insert::ASCENTS_MIN;
use super::*;
use crate::allocation::NewPage;
use crate::error::Need;
use crate::fault;
use crate::page::Page;
use crate::page::inner::Seek;
use crate::pool::{Exclusive, FreeFrame};
use crate::records::Record;
use crate::row::LogContext;

/// Tries to latch a page as it was found before that becomes a need.
const LATCH_TRIES: u32 = 100;

/// Where a page is cut: the entries from `at` on move; `separator` becomes the fence between.
struct Cut {
    at: usize,
    separator: Vec<u8>,
}

/// Whether a leaf has the room that is wanted.
type Fits<'a> = &'a dyn Fn(Page<'_>) -> bool;

/// What `Tree::split` is asked for.
struct Wanted<'a> {
    key: &'a [u8],
    context: &'a LogContext,
    ascending: bool,
    fits: Fits<'a>,
}

impl Tree {
    /// Makes room in the leaf of `key`, unless it `fits` already, and moves the cursor.
    #[cold]
    pub(super) fn split_leaf(
        &self,
        cursor: &mut TreeCursor,
        context: &LogContext,
        key: &[u8],
        fits: Fits<'_>,
    ) -> Result<(), Stop> {
        let ascents = cursor.ascents;
        self.split(&Wanted { key, context, ascending: ascents >= ASCENTS_MIN, fits }, 0)?;
        // The way upwards goes on in whatever leaf the key belongs to now.
        let guard = self.leaf_exclusive(Seek::At(key))?;
        *cursor = TreeCursor { page: guard.page().id(), frame: guard.frame, slot: 0, ascents };
        Ok(())
    }

    /// Splits the page of `level` on the way to the key, or does what has to be done before.
    fn split(&self, wanted: &Wanted<'_>, level: u8) -> Result<(), Stop> {
        let pool = &self.store.pool;
        // Everything that can be lacking is collected before the first latch.
        let spare = pool.take_free()?;
        let (mut parent, found_level) = self.latch_at_level(wanted.key, level + 1)?;
        let parent_id = parent.page().id();
        if found_level <= level {
            if found_level != level || parent_id != self.root {
                return Err(StorageError::corrupt(parent_id, "only the root has no parent").into());
            }
            let enough = self.has_room(wanted, parent.page());
            return if enough { Ok(()) } else { self.grow_root(wanted, parent, spare) };
        }
        if !parent.page().has_room_for_child(self.key_bytes_max) {
            drop((parent, spare));
            return self.split(wanted, level + 1);
        }
        let (_, child) = pool
            .words(parent.frame)
            .seek(Seek::At(wanted.key))
            .ok_or_else(|| StorageError::corrupt(parent_id, "its children cannot be read"))?;
        let child = pool.exclusive(child)?;
        let page = child.page();
        let kind = if level == 0 { PageKind::Leaf } else { PageKind::Inner };
        let is_child = page.object() == self.object && page.level() == level && page.kind() == Some(kind);
        if !is_child || !page.covers(wanted.key) {
            return Err(StorageError::corrupt(page.id(), "it is not the child that its parent names").into());
        }
        if self.has_room(wanted, page) {
            return Ok(());
        }
        let cut =
            if level == 0 { leaf_cut(page, wanted.key, wanted.ascending) } else { inner_cut(page, wanted.ascending) };
        self.split_at(wanted.context, &mut parent, child, spare, &cut)
    }

    /// Whether a page has what is wanted of it: others may have split it since it was found full.
    fn has_room(&self, wanted: &Wanted<'_>, page: Page<'_>) -> bool {
        if page.level() == 0 { (wanted.fits)(page) } else { page.has_room_for_child(self.key_bytes_max) }
    }

    /// The page of this level on the way to a key (the root, if it is lower), latched, and its level.
    fn latch_at_level(&self, key: &[u8], level: u8) -> Result<(Exclusive<'_>, u8), Stop> {
        for _ in 0..LATCH_TRIES {
            let found = self.find_at_level(key, level)?;
            if self.store.pool.header(found.frame).try_exclusive_from(found.word) {
                return Ok((self.store.pool.adopt(found.frame), found.level));
            }
            spin_loop();
        }
        Err(Stop::Need(Need::PageLatch(self.root)))
    }

    /// The split itself; all latches but the new page's and the map's are held.
    fn split_at<'a>(
        &'a self,
        context: &LogContext,
        parent: &mut Exclusive<'a>,
        mut child: Exclusive<'a>,
        spare: FreeFrame<'_>,
        cut: &Cut,
    ) -> Result<(), Stop> {
        let new = self.store.new_page(self.object, slot::current(), context.is_clr())?;
        let right_id = new.id;
        let right = self.moved_page(child.page(), right_id, cut);
        let changes = (!self.unlogged).then(|| {
            let mut changes = ChangeList::new();
            changes.image(Page(&right));
            if !fault::half_split() {
                changes.truncate(child.page().id(), cut.at, &cut.separator, Some(right_id));
            }
            changes.add_child(parent.page().id(), right_id, &cut.separator);
            changes
        });
        let mut left = Box::new(*child.page().0);
        PageMut::new(&mut left).truncate(cut.at, &cut.separator, Some(right_id));
        let mut above = Box::new(*parent.page().0);
        PageMut::new(&mut above).add_child(right_id, &cut.separator);

        let page_lsn = child.page().lsn().max(parent.page().lsn());
        let range = self.store.log_new_page(context, page_lsn, spare, new, &right, changes)?;
        for (guard, bytes) in [(&mut child, &mut left), (parent, &mut above)] {
            PageMut::new(bytes).set_lsn(range.end.0);
            guard.set_page(bytes);
            guard.logged(range);
        }
        self.store.pool.statistics.add(Counter::PageSplits, 1);
        Ok(())
    }

    /// The root's content moves into a new page, its only child.
    fn grow_root(&self, wanted: &Wanted<'_>, mut root: Exclusive<'_>, spare: FreeFrame<'_>) -> Result<(), Stop> {
        let new = self.store.new_page(self.object, slot::current(), wanted.context.is_clr())?;
        let level = root.page().level();
        let child = self.moved_page(root.page(), new.id, &Cut { at: 0, separator: Vec::new() });
        let mut above = Box::new([0; PAGE_BYTES]);
        let mut grown = PageMut::new(&mut above);
        grown.format(self.root, self.object, PageKind::Inner, level + 1);
        grown.add_child(new.id, &[]);
        let changes = (!self.unlogged).then(|| {
            let mut changes = ChangeList::new();
            changes.image(Page(&child));
            changes.image(Page(&above));
            changes
        });

        let page_lsn = root.page().lsn();
        let range = self.store.log_new_page(wanted.context, page_lsn, spare, new, &child, changes)?;
        PageMut::new(&mut above).set_lsn(range.end.0);
        root.set_page(&above);
        root.formatted(range);
        Ok(())
    }

    /// A page of the entries of `page` from the cut on.
    fn moved_page(&self, page: Page<'_>, id: PageId, cut: &Cut) -> Box<PageBytes> {
        let mut bytes = Box::new([0; PAGE_BYTES]);
        let mut moved = PageMut::new(&mut bytes);
        let inner = page.level() > 0;
        let kind = if inner { PageKind::Inner } else { PageKind::Leaf };
        moved.format(id, page.object(), kind, page.level());
        let has_low_fence = !inner || self.key_bytes_max <= LOW_FENCED_KEY_BYTES_MAX;
        moved.set_fences(if has_low_fence { &cut.separator } else { &[] }, page.high_fence());
        moved.set_next(page.next());
        if inner {
            // The first child's separator is the page's low fence now.
            moved.add_child(page.inner_entry(cut.at).1, &[]);
        }
        moved.append_entries(page, cut.at + usize::from(inner));
        bytes
    }
}

/// Where to cut a leaf that has no room for `key`.
fn leaf_cut(page: Page<'_>, key: &[u8], ascending: bool) -> Cut {
    let slots = page.slots();
    assert!(slots > 0, "an empty leaf has room for any row");
    let at = match page.find(key) {
        Err(slot) if slot == slots && (ascending || page.high_fence().is_none()) => slots,
        Err(slot) if slot > 0 && ascending => slot,
        _ if slots == 1 => usize::from(page.leaf_key(0) < key),
        _ => middle(page),
    };
    let first_right = if at == slots { key } else { page.leaf_key(at) };
    let last_left = match page.find(key) {
        Err(slot) if slot == at && at < slots => key,
        _ => page.leaf_key(at - 1),
    };
    Cut { at, separator: separator(last_left, first_right) }
}

fn inner_cut(page: Page<'_>, ascending: bool) -> Cut {
    let slots = page.slots();
    assert!(slots >= 2, "an inner page without room has several children");
    let at = if ascending && page.high_fence().is_none() { slots - 1 } else { inner_middle(page) };
    Cut { at, separator: page.inner_entry(at).0.to_vec() }
}

/// The slot that halves the bytes of an inner page's entries, whose separator there goes to the parent. Of four or more
/// children both sides get at least two: so a tree of the longest keys stays low, whatever their order.
fn inner_middle(page: Page<'_>) -> usize {
    let slots = page.slots();
    let bytes = |slot: usize| page.slot(slot).1;
    let mut left = 0;
    let mut right: usize = (0..slots).map(bytes).sum();
    let mut best = (usize::MAX, 1);
    for at in 1..slots {
        left += bytes(at - 1);
        right -= bytes(at - 1);
        best = best.min((left.max(right - page.inner_entry(at).0.len()), at));
    }
    if slots >= 4 { best.1.clamp(2, slots - 2) } else { best.1 }
}

/// The slot that halves the bytes of the entries; both sides get at least one of the two or more.
fn middle(page: Page<'_>) -> usize {
    let slots = page.slots();
    let total: usize = (0..slots).map(|slot| page.slot(slot).1).sum();
    let mut left = 0;
    for slot in 0..slots {
        left += page.slot(slot).1;
        if left * 2 >= total {
            return (slot + 1).clamp(1, slots - 1);
        }
    }
    slots - 1
}

/// The shortest key above `left` and at most `right`.
fn separator(left: &[u8], right: &[u8]) -> Vec<u8> {
    debug_assert!(left < right);
    let common = left.iter().zip(right).take_while(|(a, b)| a == b).count();
    right[..common + 1].to_vec()
}

impl Store {
    /// Logs `changes`, which contain the image of a new page, with the map's change, and puts the page into a frame. Without
    /// changes only the use of the page is logged. If
    /// the log refuses, frame and page are free again. `page_lsn` is the highest of the other pages that they change; what
    /// the new page was before, its map page has seen the end of.
    pub(crate) fn log_new_page(
        &self,
        context: &LogContext,
        page_lsn: u64,
        spare: FreeFrame<'_>,
        new: NewPage<'_>,
        bytes: &PageBytes,
        changes: Option<ChangeList>,
    ) -> Result<LsnRange, Stop> {
        let (mut frame, fresh) = self.pool.install(spare, new.id)?;
        let logged = self.latch_map(new.id).and_then(|map| {
            let page_lsn = page_lsn.max(map.page().lsn());
            let range = match changes {
                Some(mut changes) => {
                    changes.use_page(map.page().id(), new.id, new.object);
                    self.append(context, page_lsn, &changes.record())?
                }
                None => {
                    let (page, object) = (new.id.0, new.object);
                    self.append(context, page_lsn, &Record::UsePage { flags: 0, xid: 0, page, object })?
                }
            };
            Ok((range, map))
        });
        let (range, mut map) = match logged {
            Ok(logged) => logged,
            Err(stop) => {
                // A frame that a former use of the page left behind stays as it is.
                if fresh {
                    self.pool.discard(frame);
                }
                return Err(stop);
            }
        };
        map.page_mut().use_page(new.id, new.object);
        map.logged(range);
        new.used();
        frame.set_page(bytes);
        if frame.page().level() == 0 {
            frame.formatted(range);
        } else {
            // An inner page is never written in place: its lsn goes in with the copy.
            let mut copy = Box::new(*bytes);
            PageMut::new(&mut copy).set_lsn(range.end.0);
            frame.set_page(&copy);
            frame.formatted(range);
        }
        Ok(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Fixture, context};

    /// Two threads find the same inner page full; the one that comes second finds it split, and maybe with a single
    /// child, which nothing can be split from.
    #[test]
    fn a_page_that_others_have_split_is_left_alone() {
        const KEY_BYTES: usize = 400;
        let fixture = Fixture::new(2048);
        let store = &fixture.store;
        let tree = store.until_done(|| Tree::create(store, 20, KEY_BYTES)).expect("a tree");
        let mut cursor = TreeCursor::new();
        let splits = || store.pool.statistics.counter(Counter::PageSplits);
        let mut levels = 0;
        for number in 0..1_000u64 {
            // Keys with a long common part have long separators, so that inner pages fill soon.
            let mut key = [0; KEY_BYTES];
            key[KEY_BYTES - 8..].copy_from_slice(&number.to_be_bytes());
            store.until_done(|| tree.insert(&mut cursor, &context(1), &key, &[7; 1_000])).expect("an insert");
            let (level, room) = {
                let (page, level) = store.until_done(|| tree.latch_at_level(&key, 1)).expect("a page");
                (level, page.page().has_room_for_child(KEY_BYTES))
            };
            if level == 1 && room {
                let before = splits();
                let wanted = Wanted { key: &key, context: &context(1), ascending: true, fits: &|_| true };
                store.until_done(|| tree.split(&wanted, 1)).expect("nothing to do");
                assert_eq!(splits(), before, "row {number}");
            }
            levels = levels.max(store.until_done(|| tree.latch_at_level(&key, u8::MAX)).expect("the root").1);
        }
        assert!(levels >= 2, "inner pages were split");
        assert!(store.check().expect("a check").is_sound());
    }

    /// Keys that differ at their end alone, as long as keys can be: inner pages have room for few children. In each order a
    /// full one leaves two with two children or more, so that the tree is no higher than a binary one.
    #[test]
    fn trees_of_the_longest_keys_stay_low() {
        const ROWS: u64 = 120;
        let descending = |i: u64| ROWS - i;
        let inwards = |i: u64| if i.is_multiple_of(2) { i } else { 2 * ROWS - i };
        let outwards = |i: u64| if i.is_multiple_of(2) { ROWS + i } else { ROWS - i };
        let scattered = |i: u64| i * 7_919 % 10_007;
        let orders: [&dyn Fn(u64) -> u64; 5] = [&|i| i, &descending, &inwards, &outwards, &scattered];
        for key_bytes in [LOW_FENCED_KEY_BYTES_MAX, KEY_BYTES_MAX] {
            for (object, order) in (20..).zip(orders) {
                let fixture = Fixture::new(2048);
                let store = &fixture.store;
                let tree = store.until_done(|| Tree::create(store, object, key_bytes)).expect("a tree");
                let mut cursor = TreeCursor::new();
                let rest = vec![7; tree.row_bytes_max() - key_bytes];
                for number in 0..ROWS {
                    let mut key = vec![0; key_bytes];
                    key[key_bytes - 8..].copy_from_slice(&order(number).to_be_bytes());
                    store.until_done(|| tree.insert(&mut cursor, &context(1), &key, &rest)).expect("an insert");
                }
                let levels = store.until_done(|| tree.latch_at_level(&[], u8::MAX)).expect("the root").1;
                assert!(levels <= 8, "keys of {key_bytes} bytes, order {object}: {levels} levels");
                let report = store.check().expect("a check");
                assert!(report.is_sound(), "keys of {key_bytes} bytes, order {object}");
            }
        }
    }

    #[test]
    fn separators_are_short_and_between() {
        assert_eq!(separator(b"", b"abc"), b"a");
        assert_eq!(separator(b"abc", b"abd"), b"abd");
        assert_eq!(separator(b"abc", b"b"), b"b");
        assert_eq!(separator(b"abc", b"abcdef"), b"abcd");
    }

    fn leaf(keys: &[u8]) -> Box<PageBytes> {
        let mut bytes = Box::new([0; PAGE_BYTES]);
        let mut page = PageMut::new(&mut bytes);
        page.format(PageId(1), 20, PageKind::Leaf, 0);
        for (slot, &key) in keys.iter().enumerate() {
            page.insert_leaf(slot, RowHeader::default(), &[key], &[0; 100]);
        }
        bytes
    }

    #[test]
    fn cuts_follow_ascending_inserts() {
        let page = leaf(&[10, 20, 30, 40]);
        let cut = |key, ascending| {
            let cut = leaf_cut(Page(&page), &[key], ascending);
            (cut.at, cut.separator[0])
        };
        assert_eq!(cut(50, false), (4, 50), "the last leaf grows to the right");
        assert_eq!(cut(25, true), (2, 30), "the range keeps its page");
        assert_eq!(cut(25, false), (2, 30));
        assert_eq!(cut(5, true), (2, 30));
        let one = leaf(&[10]);
        let cut = |key: u8| leaf_cut(Page(&one), &[key], false).at;
        assert_eq!((cut(5), cut(15)), (0, 1));
    }
}
