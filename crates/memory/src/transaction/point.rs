//! The row of a whole key of a unique index: one at most, found without a scan, and changed where it was found.

use crossbeam_epoch::Guard;
use pikepole_contention::sync::Arc;

use super::{Level, MemoryTransaction};
use crate::guarded::Guarded;
use crate::index::KeyRange;
use crate::row::{Row, Version};
use crate::statistics::Count;
use crate::table::{MemoryTable, Refusal};

impl MemoryTransaction {
    /// Gives `read` the bytes of the row that has a key in a unique index, as the transaction sees it. None: it sees none.
    pub fn look_up<T>(
        &mut self,
        table: &Arc<MemoryTable>,
        index: usize,
        key: &[u8],
        level: Level,
        read: impl FnOnce(&[u8]) -> T,
    ) -> Option<T> {
        let guard = crossbeam_epoch::pin();
        let (_, version) = self.find_one(table, index, key, level, &guard)?;
        version.body().map(read)
    }

    /// The same for changing the row, whose bytes are copied to `body`: [`MemoryTransaction::replace_current`] and
    /// [`MemoryTransaction::delete_current`] change it, in the same statement. False: the transaction sees none.
    ///
    /// # Errors
    /// A conflict: another transaction has changed it since the snapshot, or is about to.
    pub fn find_current(
        &mut self,
        table: &Arc<MemoryTable>,
        index: usize,
        key: &[u8],
        level: Level,
        body: &mut Vec<u8>,
    ) -> Result<bool, Refusal> {
        let guard = crossbeam_epoch::pin();
        self.current = None;
        match self.find_one(table, index, key, level, &guard) {
            Some((row, _)) => self.hold_current(table, row, body, &guard),
            None => Ok(false),
        }
    }

    /// Gives the row that was found last other values, with the same keys. False: it is gone.
    ///
    /// # Errors
    /// As of [`MemoryTransaction::find_current`].
    pub fn replace_current(&mut self, table: &Arc<MemoryTable>, body: &[u8]) -> Result<bool, Refusal> {
        let replaced = self.change_current(table, Some(body))?;
        table.counters.add(Count::Updates, u64::from(replaced));
        Ok(replaced)
    }

    /// Deletes the row that was found last. False: it is gone.
    ///
    /// # Errors
    /// As of [`MemoryTransaction::find_current`].
    pub fn delete_current(&mut self, table: &Arc<MemoryTable>) -> Result<bool, Refusal> {
        self.change_current(table, None)
    }

    fn change_current(&mut self, table: &Arc<MemoryTable>, body: Option<&[u8]>) -> Result<bool, Refusal> {
        let guard = crossbeam_epoch::pin();
        let Some(current) = self.current.filter(|current| current.table == Arc::as_ptr(table)) else {
            return Ok(false);
        };
        // SAFETY: as of `row`.
        let row = unsafe { Guarded::new(current.row, &guard) };
        loop {
            let Some(former) = self.writable(table, row, &guard)? else { return Ok(false) };
            let nodes = if body.is_some() { former.nodes() } else { &[] };
            // SAFETY: its nodes are put here.
            let new = unsafe { Version::new(self.writer(), self.statement, nodes.len(), body) };
            for (at, node) in nodes.iter().enumerate() {
                // SAFETY: no other thread has seen the version, and it has as many.
                unsafe { Version::put_node(new, at, *node) };
            }
            if self.put_version(table, row, former, new, body.map(<[u8]>::len)) {
                return Ok(true);
            }
            // SAFETY: no other thread has seen it.
            unsafe { Version::free(new) };
        }
    }

    /// The row of a key, and the version of it that is seen.
    fn find_one<'g>(
        &mut self,
        table: &'g Arc<MemoryTable>,
        index: usize,
        key: &[u8],
        level: Level,
        guard: &'g Guard,
    ) -> Option<(Guarded<'g, Row>, Guarded<'g, Version>)> {
        debug_assert!(table.indexes[index].shape.unique, "a key finds one row at most");
        if level >= Level::RepeatableRead {
            self.keep_table(table);
        }
        if level >= Level::Serializable {
            self.note_scan(table, index, &KeyRange::Equal(key.to_vec()), level);
        }
        let sight = self.sight();
        let mut found = None;
        table.indexes[index].index.find(key, key.len(), guard, |node| {
            let row = node.row(guard);
            // Another version may be found by this node, not the one that is seen.
            let is_there =
                |version: &Guarded<'g, Version>| version.body_len().is_some() && version.is_found_by(node, index);
            found = sight.version(row, guard).filter(is_there).map(|version| (row, version));
            found.is_some()
        });
        self.note_seen(&sight);
        let (row, version) = found?;
        self.note_read(row, version, level, guard);
        Some((row, version))
    }
}

#[cfg(all(test, not(shuttle)))]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::{Fingers, IndexKind, IndexShape, Invalid, Keys, MemoryTransactions};

    fn table(kind: IndexKind) -> Arc<MemoryTable> {
        let by_value = IndexShape { kind: IndexKind::Range, unique: false };
        Arc::new(MemoryTable::new(&[by_value, IndexShape { kind, unique: true }]))
    }

    fn insert(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, value: u8) -> Result<(), Refusal> {
        let mut keys = Keys::default();
        for part in [0, key] {
            let pushed = keys.push::<()>(|bytes| {
                bytes.push(part);
                Ok(())
            });
            pushed.expect("nothing fails");
        }
        tx.begin_statement();
        tx.insert(table, &keys, &[key, value], &mut Fingers::default(), &crossbeam_epoch::pin()).map(|_| ())
    }

    fn find(tx: &mut MemoryTransaction, table: &Arc<MemoryTable>, key: u8, level: Level) -> Option<u8> {
        tx.begin_statement();
        tx.look_up(table, 1, &[key], level, |body| {
            assert_eq!(body[0], key);
            body[1]
        })
    }

    /// Changes or deletes the row of a key; its value before that.
    fn change(
        tx: &mut MemoryTransaction,
        table: &Arc<MemoryTable>,
        key: u8,
        value: Option<u8>,
    ) -> Result<Option<u8>, Refusal> {
        tx.begin_statement();
        let mut body = Vec::new();
        if !tx.find_current(table, 1, &[key], Level::Snapshot, &mut body)? {
            return Ok(None);
        }
        let changed = match value {
            Some(value) => tx.replace_current(table, &[key, value])?,
            None => tx.delete_current(table)?,
        };
        assert!(changed, "it was found in this statement");
        Ok(Some(body[1]))
    }

    fn commit(tx: &mut MemoryTransaction) -> Result<(), Invalid> {
        let prepared = tx.prepare();
        if prepared.is_ok() {
            tx.commit(1)
        } else {
            tx.rollback()
        }
        prepared
    }

    #[test]
    fn rows_are_found_and_changed_as_a_map_says() {
        for kind in [IndexKind::Range, IndexKind::Hash { buckets: 2 }] {
            let (home, table) = (Arc::new(MemoryTransactions::default()), table(kind));
            let mut tx = home.session();
            let (mut kept, mut random) = (BTreeMap::new(), 7_u32);
            for round in 0..200 {
                let mut rows = kept.clone();
                for _ in 0..8 {
                    random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let [what, key, value, _] = random.to_be_bytes();
                    let key = key % 16;
                    assert_eq!(find(&mut tx, &table, key, Level::Snapshot), rows.get(&key).copied(), "round {round}");
                    let before = match what % 3 {
                        0 if !rows.contains_key(&key) => {
                            insert(&mut tx, &table, key, value).expect("the key is free");
                            rows.insert(key, value);
                            continue;
                        }
                        0 | 1 => change(&mut tx, &table, key, Some(value)),
                        _ => change(&mut tx, &table, key, None),
                    };
                    let expected = if what % 3 == 2 { rows.remove(&key) } else { rows.get(&key).copied() };
                    assert_eq!(before, Ok(expected), "round {round}");
                    if what % 3 != 2 && expected.is_some() {
                        rows.insert(key, value);
                    }
                }
                if round % 3 == 0 {
                    tx.rollback();
                } else {
                    commit(&mut tx).expect("no other transaction is there");
                    kept = rows;
                }
            }
            assert!(kept.len() > 3);
        }
    }

    #[test]
    fn changes_of_others_are_conflicts_and_reads_hold_as_promised() {
        let (home, table) = (Arc::new(MemoryTransactions::default()), table(IndexKind::Range));
        let (mut a, mut b) = (home.session(), home.session());
        insert(&mut a, &table, 1, 10).expect("free");
        commit(&mut a).expect("alone");
        // Not committed yet, and committed since the snapshot.
        assert_eq!(find(&mut b, &table, 1, Level::Snapshot), Some(10));
        assert_eq!(change(&mut a, &table, 1, Some(11)), Ok(Some(10)));
        assert_eq!(change(&mut b, &table, 1, Some(12)), Err(Refusal::Conflict));
        b.rollback();
        assert_eq!(find(&mut b, &table, 1, Level::RepeatableRead), Some(10));
        commit(&mut a).expect("alone");
        assert_eq!(change(&mut b, &table, 1, None), Err(Refusal::Conflict));
        assert_eq!(commit(&mut b), Err(Invalid::RepeatableRead));
        // A key that was not there must not be there.
        assert_eq!(find(&mut b, &table, 2, Level::Serializable), None);
        insert(&mut a, &table, 2, 20).expect("free");
        commit(&mut a).expect("alone");
        assert_eq!(commit(&mut b), Err(Invalid::Serializable));
        assert_eq!(find(&mut b, &table, 2, Level::Serializable), Some(20));
    }
}
