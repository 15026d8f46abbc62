//! Compiled batches and procedures, shared by all sessions of a server.
//!
//! A batch is found by its database, its parameters' declarations, the settings that change its meaning, and its text; a
//! procedure by its database and object id, and it counts only while the stored text is the one it was compiled from. Plans
//! within a program follow the catalog by themselves, so a definition that changes drops no program.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use crate::program::Program;
use pikepole_contention::sync::Mutex;

/// Texts kept; beyond that the cache of a shard starts anew.
const PROGRAMS_PER_SHARD_MAX: usize = 512;
/// Texts longer than this, in bytes, are compiled each time: scripts, not statements.
const TEXT_BYTES_MAX: usize = 64 * 1024;
const SHARDS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Batch { database: i32, quoted_identifier: bool, parameters: Box<str>, text: Box<str> },
    Procedure { database: i32, object_id: i32 },
}

struct Entry {
    /// The text of a procedure when it was compiled.
    text: Option<Arc<str>>,
    program: Arc<Program>,
}

/// The cache.
pub struct PlanCache {
    shards: Vec<Mutex<HashMap<Key, Entry>>>,
    hasher: RandomState,
}

impl Default for PlanCache {
    fn default() -> Self {
        PlanCache { shards: (0..SHARDS).map(|_| Mutex::new(HashMap::new())).collect(), hasher: RandomState::new() }
    }
}

impl PlanCache {
    /// An empty cache.
    pub fn new() -> Arc<PlanCache> {
        Arc::new(PlanCache::default())
    }

    fn shard(&self, key: &Key) -> &Mutex<HashMap<Key, Entry>> {
        let hash = self.hasher.hash_one(key);
        &self.shards[hash as usize % SHARDS]
    }

    fn find(&self, key: &Key, text: Option<&str>) -> Option<Arc<Program>> {
        let shard = self.shard(key).lock().unwrap_or_else(|e| e.into_inner());
        let entry = shard.get(key)?;
        if let (Some(wanted), Some(own)) = (text, &entry.text)
            && **own != *wanted
        {
            return None;
        }
        Some(Arc::clone(&entry.program))
    }

    fn store(&self, key: Key, entry: Entry) {
        let mut shard = self.shard(&key).lock().unwrap_or_else(|e| e.into_inner());
        if shard.len() >= PROGRAMS_PER_SHARD_MAX {
            shard.clear();
        }
        shard.insert(key, entry);
    }

    /// A compiled batch.
    pub(crate) fn batch(&self, database: i32, quoted: bool, parameters: &str, text: &str) -> Option<Arc<Program>> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        self.find(&batch_key(database, quoted, parameters, text), None)
    }

    /// Keeps a compiled batch.
    pub(crate) fn keep_batch(&self, database: i32, quoted: bool, parameters: &str, text: &str, program: &Arc<Program>) {
        if text.len() <= TEXT_BYTES_MAX {
            let entry = Entry { text: None, program: Arc::clone(program) };
            self.store(batch_key(database, quoted, parameters, text), entry);
        }
    }

    /// A compiled procedure whose text is still `text`.
    pub(crate) fn procedure(&self, database: i32, object_id: i32, text: &str) -> Option<Arc<Program>> {
        let key = Key::Procedure { database, object_id };
        self.find(&key, Some(text))
    }

    /// Keeps a compiled procedure.
    pub(crate) fn keep_procedure(&self, database: i32, object_id: i32, text: &str, program: &Arc<Program>) {
        let key = Key::Procedure { database, object_id };
        let entry = Entry { text: Some(text.into()), program: Arc::clone(program) };
        self.store(key, entry);
    }

    /// Forgets everything (DBCC FREEPROCCACHE).
    pub fn clear(&self) {
        for shard in &self.shards {
            shard.lock().unwrap_or_else(|e| e.into_inner()).clear();
        }
    }
}

fn batch_key(database: i32, quoted_identifier: bool, parameters: &str, text: &str) -> Key {
    Key::Batch { database, quoted_identifier, parameters: parameters.into(), text: text.into() }
}
