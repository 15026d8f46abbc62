//! Keys that cut a tree into parts of about as many leaves each: for workers that each scan some of them.
//!
//! The separators of inner pages are such keys, those of one level after the other until there are enough. They are read without
//! regard to splits in between: any ascending keys cut the tree into parts that have every row once, only of other sizes.

use super::*;

impl Tree {
    /// Ascending keys that cut the tree into at most `parts_max` parts; none for a tree of one leaf.
    ///
    /// # Errors
    /// Needs, then call again; a damaged page.
    pub fn cuts(&self, parts_max: usize) -> Result<Vec<Vec<u8>>, Stop> {
        let mut cuts = Vec::new();
        let mut pages = vec![self.root];
        loop {
            let mut below = Vec::new();
            let mut deeper = Vec::new();
            for (at, &page) in pages.iter().enumerate() {
                if at > 0 {
                    // Between this page and the one before.
                    deeper.push(std::mem::take(&mut cuts[at - 1]));
                }
                if !self.children_of(page, &mut below, &mut deeper)? {
                    // A root that is a leaf.
                    return Ok(Vec::new());
                }
            }
            cuts = deeper;
            let above_leaves = match below.first() {
                None => true,
                Some(&page) => self.store.pool.shared(page)?.page().level() == 0,
            };
            if above_leaves || below.len() >= parts_max {
                break;
            }
            pages = below;
        }
        Ok(thinned(cuts, parts_max))
    }

    /// Notes the children of an inner page and the separators between them. False: it is a leaf.
    fn children_of(
        &self,
        page: PageId,
        children: &mut Vec<PageId>,
        separators: &mut Vec<Vec<u8>>,
    ) -> Result<bool, Stop> {
        let guard = self.store.pool.shared(page)?;
        let page = guard.page();
        if page.object() != self.object || !matches!(page.kind(), Some(PageKind::Leaf | PageKind::Inner)) {
            return Err(StorageError::corrupt(page.id(), "it is not the child that its parent names").into());
        }
        if page.level() == 0 {
            return Ok(false);
        }
        for slot in 0..page.slots() {
            let (separator, child) = page.inner_entry(slot);
            if slot > 0 {
                separators.push(separator.to_vec());
            }
            children.push(child);
        }
        Ok(true)
    }
}

/// Evenly chosen keys, so that there are at most so many parts.
fn thinned(cuts: Vec<Vec<u8>>, parts_max: usize) -> Vec<Vec<u8>> {
    let parts = cuts.len() + 1;
    let each = parts.div_ceil(parts_max.max(1));
    cuts.into_iter().enumerate().filter(|(at, _)| (at + 1).is_multiple_of(each)).map(|(_, cut)| cut).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::{Fixture, context};
    use std::ops::Bound;

    #[test]
    fn parts_have_every_row_once() {
        const KEY_BYTES: usize = 400;
        let fixture = Fixture::new(2048);
        let store = &fixture.store;
        let tree = store.until_done(|| Tree::create(store, 20, KEY_BYTES)).expect("a tree");
        let cuts = |parts| store.until_done(|| tree.cuts(parts)).expect("cuts");
        assert_eq!(cuts(8), Vec::<Vec<u8>>::new(), "a single leaf");
        let mut cursor = TreeCursor::new();
        for number in 0..1_000u64 {
            let mut key = [0; KEY_BYTES];
            key[KEY_BYTES - 8..].copy_from_slice(&(number * 7 % 1_000).to_be_bytes());
            store.until_done(|| tree.insert(&mut cursor, &context(1), &key, &[7; 1_000])).expect("an insert");
        }
        for parts_max in [1, 2, 3, 7, 50, 100_000] {
            let cuts = cuts(parts_max);
            assert!(cuts.len() < parts_max && cuts.is_sorted(), "{} cuts for {parts_max}", cuts.len());
            assert!((cuts.len() + 1) * 4 >= parts_max.min(200), "{} cuts for {parts_max}", cuts.len());
            let mut found = Vec::new();
            for part in 0..=cuts.len() {
                let low = part.checked_sub(1).map_or(Bound::Unbounded, |at| Bound::Included(&cuts[at][..]));
                let high = cuts.get(part).map_or(Bound::Unbounded, |cut| Bound::Excluded(&cut[..]));
                let mut scan = tree.scan(ScanRange { low, high, direction: Direction::Forward });
                let before = found.len();
                while store.until_done(|| scan.next_batch()).expect("a batch") {
                    found.extend(scan.rows().map(|row| row.key.to_vec()));
                }
                let rows = found.len() - before;
                assert!(rows * (cuts.len() + 1) < 5_000, "part {part} of {}: {rows} rows", cuts.len() + 1);
            }
            assert_eq!(found.len(), 1_000);
            assert!(found.is_sorted_by(|a, b| a < b));
        }
    }
}
