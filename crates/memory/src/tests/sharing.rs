//! What sessions share, and would change in turns for each row or transaction.

use std::collections::BTreeSet;
use std::sync::Weak;

use super::*;

/// The number of the row that was inserted.
fn number_of(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u32, fingers: &mut Fingers) -> u64 {
    tx.insert(table, &keys(key, 7), &body(key, 7), fingers, &pin()).expect("a new key")
}

#[test]
fn sessions_get_numbers_of_rows_by_pieces() {
    let home = Arc::new(MemoryTransactions::default());
    let tables = [table(IndexKind::Range), table(IndexKind::Hash { buckets: 2 })];
    let mut sessions: Vec<_> = (0..2).map(|_| (home.session(), Fingers::default())).collect();
    let mut numbers = [BTreeSet::new(), BTreeSet::new()];
    // Runs in one table, then in the other: what a session has got of one is not for the other.
    for key in 0..120 {
        let at = key as usize / 30 % 2;
        for (tx, fingers) in &mut sessions {
            let number = number_of(tx, &tables[at], 2 * key + numbers[at].len() as u32 % 2, fingers);
            assert!(numbers[at].insert(number), "the number is another row's");
        }
    }
    for (tx, _) in &mut sessions {
        commit(tx).expect("valid");
    }
    for (table, numbers) in tables.iter().zip(&numbers) {
        assert_eq!((table.rows(), table.counts().inserts, numbers.len()), (120, 120, 120));
        // Two sessions came to it twice.
        assert_eq!(table.deal_ids().start, 1 + 4 * 64);
    }
}

/// A table in its slot, with a row of a session whose transaction has ended.
fn written() -> (TableSlot, Weak<MemoryTable>, MemoryTransaction) {
    let home = Arc::new(MemoryTransactions::default());
    let slot = TableSlot::new(MemoryTable::new(&[IndexShape { kind: IndexKind::Range, unique: true }; 3]));
    let table = slot.get(&pin()).cloned().expect("it is there");
    let mut tx = home.session();
    insert(&mut tx, &table, 1, 1).expect("a new key");
    commit(&mut tx).expect("valid");
    (slot, Arc::downgrade(&table), tx)
}

fn is_gone(table: &Weak<MemoryTable>) -> bool {
    free_until(|| table.strong_count() == 0)
}

#[test]
fn a_session_that_rests_keeps_no_table() {
    let (slot, table, mut tx) = written();
    tx.rest();
    slot.empty();
    assert!(is_gone(&table));
}

#[test]
fn a_session_in_a_batch_keeps_a_dropped_table_to_the_end_of_its_next_transaction() {
    let (slot, table, mut tx) = written();
    slot.empty();
    let other = self::table(IndexKind::Range);
    insert(&mut tx, &other, 1, 1).expect("a new key");
    tx.rest();
    assert!(!is_gone(&table), "its transaction is open");
    tx.rollback();
    assert!(is_gone(&table));
}
