//! Rows, versions and nodes are freed, each once, and not before nothing leads to them: freed blocks are written over in tests.

use super::*;
use crate::node::Node;
use crate::row::{Row, Version};
use crate::slabs::blocks_out;

/// Bytes of rows and of keys whose blocks have sizes that no other test's have.
const NEW_BODY: usize = 850;
const BODY: usize = 3_100;
const KEY: usize = 1_500;

fn long_keys(key: u8, value: u8) -> Keys {
    let mut keys = Keys::default();
    for part in [key, value, value] {
        keys.push::<()>(|bytes| {
            bytes.resize(bytes.len() + KEY, part);
            Ok(())
        })
        .expect("nothing fails");
    }
    keys
}

fn put(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, value: u8) -> Result<(), Refusal> {
    tx.begin_statement();
    let mark = tx.mark();
    let (keys, body) = (long_keys(key, value), vec![key ^ value; NEW_BODY]);
    let done = tx.insert(table, &keys, &body, &mut Fingers::default(), &pin()).map(|_| ());
    if done.is_err() {
        tx.rollback_to(mark);
    }
    done
}

/// Gives the row of a key another value, or deletes it.
fn set(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, value: Option<u8>) {
    tx.begin_statement();
    let mut scan = MemoryScan::default();
    scan.restart(0, KeyRange::Equal(vec![key; KEY]), false);
    assert!(tx.scan(&mut scan, table, Level::Snapshot) && scan.next_row(), "the row is there");
    let name = scan.row().0.to_vec();
    assert_eq!(tx.read_current(table, &name, &mut Vec::new()), Ok(true));
    let done = match value {
        Some(value) => {
            let body = vec![key ^ value; BODY];
            tx.update(table, &name, &long_keys(key, value), &body, &mut Vec::new())
        }
        None => tx.delete(table, &name),
    };
    assert_eq!(done, Ok(true));
}

/// The rows that each index leads to: their keys and values, by what their bytes are.
fn found(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>) -> Vec<u8> {
    tx.begin_statement();
    let all = [0, 1, 2].map(|index| {
        let (mut scan, mut rows) = (MemoryScan::default(), Vec::new());
        scan.restart(index, all(), false);
        while tx.scan(&mut scan, table, Level::Snapshot) {
            while scan.next_row() {
                let body = scan.row().1;
                assert!(body.iter().all(|byte| *byte == body[0]), "the bytes of a row");
                rows.push(body[0]);
            }
        }
        rows.sort_unstable();
        rows
    });
    assert!(all.iter().all(|rows| *rows == all[0]), "indexes agree");
    all.into_iter().next().unwrap_or_default()
}

#[test]
fn what_nothing_leads_to_is_freed_and_nothing_else() {
    let key_len = |at| KEY + if at == 0 { 0 } else { 8 };
    let node = |at| size_of::<usize>() + Node::size(key_len(at));
    let sizes = [Row::size(3, NEW_BODY, key_len), Version::size(3, Some(BODY)), node(0), node(1)];
    let before = sizes.map(blocks_out);
    for kind in KINDS {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(kind));
        let mut tx = home.session();
        for round in 0..20_u8 {
            put(&mut tx, &table, 1, round).expect("a new key");
            put(&mut tx, &table, 2, 200).expect("a new key");
            assert_eq!(put(&mut tx, &table, 1, 77), Err(Refusal::Duplicate(0)));
            commit(&mut tx).expect("alone");
            set(&mut tx, &table, 1, Some(round ^ 0x55));
            set(&mut tx, &table, 1, Some(round ^ 0x33));
            commit(&mut tx).expect("alone");
            home.sweep();
            pin().flush();
            let expected = [1 ^ round ^ 0x33, 2 ^ 200];
            let mut sorted = expected.to_vec();
            sorted.sort_unstable();
            assert_eq!(found(&mut tx, &table), sorted, "round {round}");
            // What is undone.
            put(&mut tx, &table, 3, round).expect("a new key");
            set(&mut tx, &table, 3, Some(round ^ 1));
            set(&mut tx, &table, 2, Some(100));
            set(&mut tx, &table, 2, None);
            tx.rollback();
            home.sweep();
            pin().flush();
            assert_eq!(found(&mut tx, &table), sorted, "round {round}");
            set(&mut tx, &table, 1, None);
            set(&mut tx, &table, 2, Some(round));
            set(&mut tx, &table, 2, None);
            commit(&mut tx).expect("alone");
            assert_eq!(found(&mut tx, &table), [], "round {round}");
            home.sweep();
        }
        drop(tx);
        home.sweep();
        drop((table, home));
    }
    free_until(|| sizes.map(blocks_out) == before);
    assert_eq!(sizes.map(blocks_out), before);
}
