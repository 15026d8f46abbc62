//! In-memory tables: their definitions.

use pikepole_machine::SimulatedDisk;

use crate::tests::{Client, definition, index, server, stop, table_of};
use crate::*;

const SCHEMA_ONLY: InMemory = InMemory { durability: InMemoryDurability::SchemaOnly };

/// A table with a hash index of a thousand buckets for its primary key, and an ordered index.
fn in_memory(name: &str) -> TableDefinition {
    let mut key = index(IndexKind::PrimaryKey, false, &["k"]);
    key.extras.hash = HashIndex::with_buckets(1_000);
    let by_v = IndexDefinition { name: Some("by_v".into()), ..index(IndexKind::Index, false, &["v"]) };
    TableDefinition { memory: Some(SCHEMA_ONLY), ..definition(name, vec![key, by_v]) }
}

#[test]
fn a_definition_is_kept_over_a_restart() {
    let disk = SimulatedDisk::new(7);
    let first = server(&disk);
    let before = first.schedulers().block_on(async {
        first.create_database("d", pikepole_types::Collation::DEFAULT).await.expect("a new database");
        let db = first.database("d").expect("it is there");
        let mut a = Client::new(&db, 51);
        a.create(definition("disk", Vec::new())).await;
        a.create(in_memory("t")).await
    });
    stop(&first);
    drop(first);
    let second = server(&disk);
    let db = second.database("d").expect("it is there");
    let after = table_of(&db, "t");
    assert_eq!(after.definition(), before.definition());
    assert_eq!(after.memory, Some(SCHEMA_ONLY));
    assert!(after.is_in_memory() && after.is_heap() && after.clustered().is_none());
    assert!(!table_of(&db, "disk").is_in_memory());
    let hashes: Vec<Option<u32>> = after.indexes.iter().map(|index| index.hash.map(|hash| hash.bucket_count)).collect();
    assert_eq!(hashes, [Some(1_024), None]);
    stop(&second);
}
