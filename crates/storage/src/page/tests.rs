use std::collections::BTreeMap;

use pikepole_contention::sync::atomic::AtomicU64;
use proptest::prelude::*;

use super::inner::{Seek, Words};
use super::*;
use crate::row::RowHeader;

fn words(page: &PageBytes) -> Box<[AtomicU64; PAGE_BYTES / 8]> {
    let words: Vec<AtomicU64> =
        page.as_chunks::<8>().0.iter().map(|bytes| AtomicU64::new(u64::from_ne_bytes(*bytes))).collect();
    words.into_boxed_slice().try_into().expect("a page of words")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// A leaf is an ordered map as long as there is room, and stays sound through every change, image and seal.
    #[test]
    fn a_leaf_is_an_ordered_map(ops in proptest::collection::vec((0..3u8, 0..200u8, 0..400usize), 1..400)) {
        let mut bytes = [0; PAGE_BYTES];
        let mut page = PageMut::new(&mut bytes);
        page.format(PageId(7), 20, PageKind::Leaf, 0);
        page.set_fences(b"", Some(&[255]));
        let mut model: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
        for (op, key, len) in ops {
            let (key, rest) = (vec![key; 1 + key as usize % 40], vec![op; len]);
            let need = slotted::leaf_entry_bytes(key.len(), len);
            match (op, page.as_page().find(&key)) {
                (0, Err(slot)) if page.as_page().leaf_room(key.len()) >= need + SLOT_BYTES => {
                    page.insert_leaf(slot, RowHeader::default(), &key, &rest);
                    model.insert(key, rest);
                }
                (1, Ok(slot)) if page.replacement_fits(slot, need) => {
                    page.replace_leaf(slot, RowHeader::default(), &key, &rest);
                    model.insert(key, rest);
                }
                (2, Ok(slot)) => {
                    page.remove_row(slot);
                    model.remove(&key);
                }
                _ => {}
            }
            page.as_page().validate_structure().expect("a sound page");
        }
        let (head, tail) = page.as_page().image();
        let image = [head, tail].concat();
        let mut copy = [0; PAGE_BYTES];
        PageMut::new(&mut copy).set_image(&image).expect("an image");
        PageMut::new(&mut copy).seal();
        let page = Page(&copy);
        page.validate(PageId(7)).expect("a sound page");
        let rows: Vec<_> = (0..page.slots()).map(|slot| page.leaf_entry(slot)).collect();
        prop_assert!(rows.iter().map(|row| (row.key, row.rest)).eq(model.iter().map(|(k, r)| (&k[..], &r[..]))));
        for cut in (0..image.len()).step_by(97) {
            prop_assert!(PageMut::new(&mut copy).set_image(&image[..cut]).is_err());
        }
    }

    /// Both ways to find a child agree, for keys of every length.
    #[test]
    fn an_inner_page_leads_to_the_right_child(
        separators in proptest::collection::btree_set(proptest::collection::vec(0..3u8, 1..24), 1..100),
        keys in proptest::collection::vec(proptest::collection::vec(0..3u8, 0..24), 1..50),
    ) {
        let mut bytes = [0; PAGE_BYTES];
        let mut page = PageMut::new(&mut bytes);
        page.format(PageId(7), 20, PageKind::Inner, 1);
        page.add_child(PageId(1000), &[]);
        for (index, separator) in separators.iter().enumerate() {
            page.add_child(PageId(index as u32), separator);
        }
        page.as_page().validate_structure().expect("a sound page");
        let words = words(&bytes);
        for key in &keys {
            let at = separators.iter().rposition(|separator| separator <= key).map_or(1000, |index| index as u32);
            let before = separators.iter().rposition(|separator| separator < key).map_or(1000, |index| index as u32);
            prop_assert_eq!(Words(&words).seek(Seek::At(key)).map(|found| found.1), Some(PageId(at)));
            prop_assert_eq!(Words(&words).seek(Seek::Before(key)).map(|found| found.1), Some(PageId(before)));
        }
        let last = separators.len() as u32 - 1;
        prop_assert_eq!(Words(&words).seek(Seek::Last).map(|found| found.1), Some(PageId(last)));
    }

    /// Torn or senseless words give an answer or none, never a panic.
    #[test]
    fn senseless_words_are_survived(bytes in proptest::collection::vec(any::<u8>(), PAGE_BYTES), key in any::<[u8; 9]>()) {
        let words = words(bytes.as_slice().try_into().expect("a page"));
        let _ = Words(&words).seek(Seek::At(&key));
        let _ = Words(&words).seek(Seek::Last);
        let _ = Page(bytes.as_slice().try_into().expect("a page")).validate_structure();
    }
}

/// A full page of rows of 980 bytes with a column that has another length with each change: the bytes that a change touches.
fn bytes_changed(kind: PageKind, change: impl Fn(&mut PageMut<'_>, usize, &[u8])) -> Vec<usize> {
    let mut bytes = [0; PAGE_BYTES];
    let mut page = PageMut::new(&mut bytes);
    page.format(PageId(7), 20, kind, 0);
    let mut rows: Vec<Vec<u8>> = (0..8).map(|row| vec![row; 970]).collect();
    for (slot, rest) in rows.iter().enumerate() {
        match kind {
            PageKind::Leaf => page.insert_leaf(slot, RowHeader::default(), &[slot as u8], rest),
            _ => page.insert_heap(slot, RowHeader::default(), rest),
        }
    }
    let mut random = crate::test_support::Random(5);
    let mut counts = Vec::new();
    for step in 0..2_000u64 {
        let slot = random.below(8) as usize;
        let len = 950 + random.below(41) as usize;
        let rest = vec![step as u8; len];
        let mut changed = PageMut::new(page.change_all());
        change(&mut changed, slot, &rest);
        counts.push(changed.changed().runs().map(|run| run.len()).sum());
        rows[slot] = rest;
        page.as_page().validate_structure().expect("a sound page");
        for (slot, rest) in rows.iter().enumerate() {
            let entry = page.as_page().entry(slot);
            assert!(entry.ends_with(rest) && entry.len() < rest.len() + 11, "step {step}, slot {slot}");
        }
    }
    counts
}

#[test]
fn rows_that_change_their_length_keep_their_places() {
    let leaf = bytes_changed(PageKind::Leaf, |page, slot, rest| {
        page.replace_leaf(slot, RowHeader::default(), &[slot as u8], rest);
    });
    let heap = bytes_changed(PageKind::Heap, |page, slot, rest| page.replace_heap(slot, RowHeader::default(), rest));
    for counts in [leaf, heap] {
        let of_a_row = counts[200..].iter().filter(|bytes| **bytes <= 1_200).count();
        assert!(of_a_row * 100 >= counts[200..].len() * 95, "{of_a_row} of {}", counts[200..].len());
    }
}

#[test]
fn the_header_has_its_documented_places() {
    let mut bytes = [0; PAGE_BYTES];
    let mut page = PageMut::new(&mut bytes);
    page.format(PageId(0x0403_0201), 0x0807_0605, PageKind::Leaf, 0);
    page.set_lsn(0x1122_3344_5566_7788);
    page.set_fences(b"low", Some(b"high"));
    page.set_next(Some(PageId(9)));
    page.insert_leaf(0, RowHeader::new(1, 2), b"m", b"rest");
    page.seal();
    assert_eq!(bytes[4..8], [1, 2, 3, 4]);
    assert_eq!(bytes[8..16], 0x1122_3344_5566_7788u64.to_le_bytes());
    assert_eq!(bytes[16..20], [5, 6, 7, 8]);
    assert_eq!(bytes[20..26], [2, 0, 1, 0, 1, 0]);
    assert_eq!(bytes[38..44], [1, 0, 9, 0, 0, 0]);
    let start = PAGE_BYTES - 7 - 14;
    assert_eq!(bytes[26..28], (start as u16).to_le_bytes());
    assert_eq!(bytes[64..68], [start as u8, (start >> 8) as u8, 14, 0]);
    assert_eq!(bytes[start..start + 14], [2, 0, 0, 0, 0, 0, 0, 1, 1, b'm', b'r', b'e', b's', b't']);
    assert!(Page(&bytes).is_whole(PageId(0x0403_0201)));
}
