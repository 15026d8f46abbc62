//! Rows that come in the order of their keys.

use super::*;

/// Instructions of inserts, to be counted from outside: `PIKEPOLE_KEYS` says how they come.
///
/// ```sh
/// valgrind --tool=callgrind --toggle-collect='*put_node*' target/release/deps/pikepole_memory-... --ignored inserts_to_count
/// ```
#[test]
#[ignore = "nothing but inserts, for a profiler"]
fn inserts_to_count() {
    const ROWS: u64 = 20_000;
    let home = Arc::new(MemoryTransactions::default());
    let ordered = IndexShape { kind: IndexKind::Range, unique: true };
    let table = Arc::new(MemoryTable::new(&[ordered]));
    let mut tx = home.session();
    let order = std::env::var("PIKEPOLE_KEYS").unwrap_or_default();
    let mut keys = Keys::default();
    let mut name = Vec::new();
    let mut fingers: Vec<Fingers> = (0..16).map(|_| Fingers::default()).collect();
    let mut seed = 7u64;
    for at in 0..ROWS {
        let key = match order.as_str() {
            "random" => {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed
            }
            // Sessions in turn, each at the end of its range.
            "ranges" => at % 16 * 10_000_000_000 + at / 16,
            _ => at,
        };
        keys.clear();
        keys.push::<()>(|bytes| {
            bytes.extend_from_slice(&key.to_be_bytes());
            Ok(())
        })
        .expect("nothing fails");
        let own = &mut fingers[if order == "ranges" { at as usize % 16 } else { 0 }];
        tx.begin_statement();
        tx.insert(&table, &keys, &key.to_be_bytes(), own, &mut name).expect("a new key");
        if at % 100 == 99 {
            commit(&mut tx).expect("valid");
        }
    }
}
