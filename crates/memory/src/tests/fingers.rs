//! Rows that come in the order of their keys.

use std::collections::BTreeSet;
use std::collections::btree_map::Entry;

use super::*;

fn ordered() -> Arc<MemoryTable> {
    Arc::new(MemoryTable::new(&[IndexShape { kind: IndexKind::Range, unique: true }]))
}

/// A session and the places of its last rows.
struct Own {
    tx: MemoryTransaction,
    fingers: Fingers,
    keys: Keys,
    name: Vec<u8>,
}

impl Own {
    fn new(home: &Arc<MemoryTransactions>) -> Own {
        Own { tx: home.session(), fingers: Fingers::default(), keys: Keys::default(), name: Vec::new() }
    }

    fn insert(&mut self, table: &Arc<MemoryTable>, key: &[u8]) -> Result<(), Refusal> {
        self.keys.clear();
        self.keys
            .push::<()>(|bytes| {
                bytes.extend_from_slice(key);
                Ok(())
            })
            .expect("nothing fails");
        self.tx.begin_statement();
        let mark = self.tx.mark();
        match self.tx.insert(table, &self.keys, key, &mut self.fingers, &pin()) {
            Ok(number) => {
                self.keys.name_row(number, &mut self.name);
                Ok(())
            }
            Err(refusal) => {
                self.tx.rollback_to(mark);
                Err(refusal)
            }
        }
    }

    fn put(&mut self, table: &Arc<MemoryTable>, key: u64) {
        self.insert(table, &key.to_be_bytes()).expect("a new key");
    }

    fn keys_of(&mut self, table: &Arc<MemoryTable>) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        let mut scan = MemoryScan::default();
        scan.restart(0, all(), false);
        while self.tx.scan(&mut scan, table, Level::Snapshot) {
            while scan.next_row() {
                keys.push(scan.row().1.to_vec());
            }
        }
        keys
    }
}

fn randoms(mut seed: u64) -> impl FnMut() -> u64 {
    move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    }
}

/// Threads put rows at the ends of ranges of their own, by several fingers each, and delete some of them, so that leaves come and go.
#[test]
fn rows_at_the_ends_of_ranges_are_all_there() {
    const RANGE: u64 = 10_000_000_000;
    let (home, table) = (Arc::new(MemoryTransactions::default()), ordered());
    let work = |thread: u64| {
        let mut random = randoms(thread + 1);
        let mut owns = [Own::new(&home), Own::new(&home)];
        let mut next = [0, 0];
        let mut names: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for round in 0..15_000u64 {
            let at = usize::from(random().is_multiple_of(8));
            // Now and then a range ends, and a new one begins before or behind it.
            if random().is_multiple_of(500) {
                next[at] = random() % 1000 * 1_000_000;
            }
            let (own, key) = (&mut owns[at], (2 * thread + at as u64) * RANGE + next[at]);
            next[at] += 1 + random() % 2;
            if let Entry::Vacant(place) = names.entry(key) {
                own.put(&table, key);
                place.insert(own.name.clone());
            }
            // At times nearly all go.
            let goes = if round / 2_000 % 3 == 2 { 2 } else { u64::from(random().is_multiple_of(3)) };
            for _ in 0..goes {
                let Some((&key, _)) = names.range(random() % (16 * RANGE)..).next().or(names.iter().next()) else {
                    break;
                };
                let name = names.remove(&key).expect("it is there");
                assert_eq!(own.tx.delete(&table, &name), Ok(true));
            }
            commit(&mut own.tx).expect("a snapshot needs nothing more");
        }
        names
    };
    let left: BTreeSet<u64> = std::thread::scope(|threads| {
        let threads: Vec<_> = (0..6).map(|thread| threads.spawn(move || work(thread))).collect();
        threads.into_iter().flat_map(|thread| thread.join().expect("no panic").into_keys()).collect()
    });
    home.sweep();
    let seen: Vec<u64> = Own::new(&home)
        .keys_of(&table)
        .into_iter()
        .map(|key| u64::from_be_bytes(key.try_into().expect("eight bytes")))
        .collect();
    assert_eq!(seen, left.into_iter().collect::<Vec<_>>());
    assert_eq!((home.sweep(), table.rows()), (0, seen.len() as u64));
}

/// Keys of any length and with common beginnings, some of them there, in the order of their bytes and then not.
#[test]
fn keys_of_any_shape_may_ascend() {
    let (home, table) = (Arc::new(MemoryTransactions::default()), ordered());
    let mut own = Own::new(&home);
    let mut random = randoms(5);
    let mut there: BTreeSet<Vec<u8>> = BTreeSet::new();
    for _ in 0..60 {
        let mut some: Vec<Vec<u8>> = (0..random() % 100).map(|_| odd_key(random() / 3)).collect();
        let mut long = vec![9; 40 + (random() % 3) as usize];
        long.extend((random() % 1000).to_be_bytes());
        some.push(long);
        some.sort();
        for key in some {
            let expected = if there.contains(&key) { Err(Refusal::Duplicate(0)) } else { Ok(()) };
            assert_eq!(own.insert(&table, &key), expected, "{key:?}");
            there.insert(key);
        }
        commit(&mut own.tx).expect("valid");
        assert!(own.keys_of(&table).iter().eq(&there));
        own.tx.rollback();
    }
}

#[test]
fn fingers_outlive_tables_and_are_of_no_use_to_others() {
    let home = Arc::new(MemoryTransactions::default());
    let mut own = Own::new(&home);
    let mut tables = [ordered(), ordered()];
    for round in 0..100u64 {
        for table in &tables {
            for key in 0..3 {
                own.put(table, 1_000 * (round % 50) + 100 * (round / 50) + key);
            }
            commit(&mut own.tx).expect("valid");
        }
        if round % 10 == 9 {
            // The new one's pages may have the addresses of the old one's.
            tables = [ordered(), ordered()];
            own.put(&tables[1], 999_999);
            commit(&mut own.tx).expect("valid");
        }
    }
    let keys = own.keys_of(&tables[1]);
    assert_eq!(keys, [999_999u64.to_be_bytes()]);
}

/// Sessions in turn, each at the end of its range, among rows that were there: their leaves fill, and hold one session's rows.
#[test]
fn leaves_fill_at_the_ends_of_ranges() {
    const ROWS: u64 = 2_000;
    let (home, table) = (Arc::new(MemoryTransactions::default()), ordered());
    let mut owns: Vec<Own> = (0..16).map(|_| Own::new(&home)).collect();
    for at in 0..16 * ROWS {
        let session = at % 16;
        owns[session as usize].put(&table, session * 10_000_000_000 + at / 16);
    }
    owns.iter_mut().for_each(|own| commit(&mut own.tx).expect("valid"));
    let pages = table.pages(0).expect("an ordered index");
    assert!(pages.leaves * 60 < 16 * ROWS, "{pages:?}");
    assert_eq!(owns[0].keys_of(&table).len() as u64, 16 * ROWS);
}
