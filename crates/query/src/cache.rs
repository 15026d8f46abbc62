//! Compiled batches and procedures, shared by all sessions of a server.
//!
//! A batch is found by its database, its parameters' declarations, the settings that change its meaning, and its text; a
//! procedure by its database and object id, and it counts only while the stored text is the one it was compiled from. Plans
//! within a program follow the catalog by themselves, so a definition that changes drops no program.

use hashbrown::hash_table::Entry as TableEntry;
use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;
use std::sync::{Arc, Weak};

use crate::context::ExecutionContext;
use crate::program::{Program, TextHandle};
use crate::settings::Settings;
use pikepole_contention::sync::Mutex;
use pikepole_contention::sync::atomic::{AtomicU64, Ordering};
use pikepole_machine::clock::ticks;
use pikepole_machine::memory::{Budget, Cache};

/// Texts kept; beyond that the cache of a shard starts anew.
const PROGRAMS_PER_SHARD_MAX: usize = 512;
/// Texts longer than this, in bytes, are compiled each time: scripts, not statements.
const TEXT_BYTES_MAX: usize = 64 * 1024;
const SHARDS: usize = 16;

/// Bytes that a program is taken for: so many for each byte of its text, and a few more.
const BYTES_A_TEXT_BYTE: u64 = 64;
const PROGRAM_BYTES: u64 = 4 << 10;
/// All of them together: the part of the server's memory that they have at most, and how much that is without a server.
const CACHE_PART: u64 = 8;
const CACHE_BYTES: u64 = 256 << 20;

/// The settings that change what a text means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Meaning {
    quoted_identifier: bool,
    ansi_nulls: bool,
    browses: bool,
}

impl Meaning {
    pub(crate) fn of(settings: &Settings) -> Meaning {
        let Settings { quoted_identifier, ansi_nulls, browses, .. } = *settings;
        Meaning { quoted_identifier, ansi_nulls, browses }
    }
}

#[derive(Debug)]
enum Key {
    Batch { database: i32, meaning: Meaning, schema: Option<Arc<str>>, parameters: Box<str>, text: Arc<str> },
    Procedure { database: i32, object_id: i32 },
}

/// A key as it is looked up: nothing is copied for that.
#[derive(PartialEq, Eq, Hash)]
enum Wanted<'a> {
    Batch { database: i32, meaning: Meaning, schema: Option<&'a str>, parameters: &'a str, text: &'a str },
    Procedure { database: i32, object_id: i32 },
}

impl Key {
    fn wanted(&self) -> Wanted<'_> {
        match self {
            Key::Batch { database, meaning, schema, parameters, text } => {
                Wanted::Batch { database: *database, meaning: *meaning, schema: schema.as_deref(), parameters, text }
            }
            Key::Procedure { database, object_id } => Wanted::Procedure { database: *database, object_id: *object_id },
        }
    }
}

/// The programs of a shard.
type Shard = HashTable<Entry>;

struct Entry {
    key: Key,
    program: Arc<Program>,
    /// How often it was put here or found; counted under the shard's mutex, which who looks for it has.
    uses: u64,
}

/// What the views show of a kept program.
#[derive(Debug, Clone)]
pub struct CachedProgram {
    /// The program.
    pub program: Arc<Program>,
    /// Whether its parameters were declared, as those of a text that a client prepares.
    pub is_prepared: bool,
    /// How often it was compiled or looked up.
    pub uses: u64,
    /// How many hold it beside the cache.
    pub holders: usize,
}

/// The cache.
pub struct PlanCache {
    shards: Vec<Mutex<Shard>>,
    hasher: DefaultHashBuilder,
    /// How often programs were dropped: who keeps one himself looks whether it may still be here.
    dropped: AtomicU64,
    /// Bytes that the programs are taken for.
    bytes: AtomicU64,
    /// The server's memory.
    budget: Option<Arc<Budget>>,
}

/// The bytes that a program is taken for.
fn bytes_of(program: &Program) -> u64 {
    program.text().len() as u64 * BYTES_A_TEXT_BYTE + PROGRAM_BYTES
}

impl Default for PlanCache {
    fn default() -> Self {
        let shards = (0..SHARDS).map(|_| Mutex::new(Shard::new())).collect();
        PlanCache {
            shards,
            hasher: DefaultHashBuilder::default(),
            dropped: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            budget: None,
        }
    }
}

impl PlanCache {
    /// An empty cache.
    pub fn new() -> Arc<PlanCache> {
        Arc::new(PlanCache::default())
    }

    /// An empty cache that gives way when the server needs memory.
    pub fn of_server(budget: &Arc<Budget>) -> Arc<PlanCache> {
        let cache = Arc::new(PlanCache { budget: Some(Arc::clone(budget)), ..PlanCache::default() });
        let weak: Weak<PlanCache> = Arc::downgrade(&cache);
        budget.add_cache(weak);
        cache
    }

    /// Bytes that all programs have at most.
    fn bytes_max(&self) -> u64 {
        self.budget.as_ref().map_or(CACHE_BYTES, |budget| budget.limit() / CACHE_PART)
    }

    /// Drops the programs of a shard; the bytes that they were taken for.
    fn drop_shard(&self, shard: &mut Shard) -> u64 {
        let bytes = shard.iter().map(|entry| bytes_of(&entry.program)).sum();
        shard.clear();
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        self.dropped.fetch_add(1, Ordering::Relaxed);
        bytes
    }

    /// The shard of a hash, by bits that a table does not look at.
    fn shard(&self, hash: u64) -> &Mutex<Shard> {
        &self.shards[(hash >> 32) as usize % SHARDS]
    }

    fn find(&self, wanted: &Wanted<'_>, text: Option<&str>) -> Option<Arc<Program>> {
        let hash = self.hasher.hash_one(wanted);
        let mut shard = self.shard(hash).lock().unwrap_or_else(|e| e.into_inner());
        let entry = shard.find_mut(hash, |entry| entry.key.wanted() == *wanted)?;
        if text.is_some_and(|wanted| entry.program.text() != wanted) {
            return None;
        }
        entry.uses += 1;
        Some(Arc::clone(&entry.program))
    }

    fn store(&self, key: Key, program: &Arc<Program>) {
        let hash = self.hasher.hash_one(key.wanted());
        let mut shard = self.shard(hash).lock().unwrap_or_else(|e| e.into_inner());
        if shard.len() >= PROGRAMS_PER_SHARD_MAX
            || self.bytes.load(Ordering::Relaxed) + bytes_of(program) > self.bytes_max()
        {
            self.drop_shard(&mut shard);
        }
        self.bytes.fetch_add(bytes_of(program), Ordering::Relaxed);
        let rehash = |entry: &Entry| self.hasher.hash_one(entry.key.wanted());
        match shard.entry(hash, |entry| entry.key.wanted() == key.wanted(), rehash) {
            TableEntry::Occupied(mut entry) => {
                let entry = entry.get_mut();
                self.bytes.fetch_sub(bytes_of(&entry.program), Ordering::Relaxed);
                (entry.program, entry.uses) = (Arc::clone(program), 1);
            }
            TableEntry::Vacant(place) => {
                place.insert(Entry { key, program: Arc::clone(program), uses: 1 });
            }
        }
    }

    /// A compiled batch. `schema` is where its names are looked up first.
    pub(crate) fn batch(
        &self,
        database: i32,
        (meaning, schema): (Meaning, &Option<Arc<str>>),
        parameters: &str,
        text: &str,
    ) -> Option<Arc<Program>> {
        if text.len() > TEXT_BYTES_MAX {
            return None;
        }
        self.find(&Wanted::Batch { database, meaning, schema: schema.as_deref(), parameters, text }, None)
    }

    /// Keeps a compiled batch.
    pub(crate) fn keep_batch(&self, looked_up: (Meaning, &Option<Arc<str>>), parameters: &str, program: &Arc<Program>) {
        if let Some(source) = program.source.as_ref().filter(|source| source.text.len() <= TEXT_BYTES_MAX) {
            let (meaning, schema) = looked_up;
            let (text, schema) = (Arc::clone(&source.text), schema.clone());
            let key =
                Key::Batch { database: program.database_id, meaning, schema, parameters: parameters.into(), text };
            self.store(key, program);
        }
    }

    /// A compiled procedure whose text is still `text`.
    pub(crate) fn procedure(&self, database: i32, object_id: i32, text: &str) -> Option<Arc<Program>> {
        self.find(&Wanted::Procedure { database, object_id }, Some(text))
    }

    /// Counts uses of a procedure that is known from an earlier one. False: it is not kept, or as one of another database.
    pub(crate) fn count_uses(&self, database: i32, program: &Arc<Program>, uses: u64) -> bool {
        let Some(object_id) = program.procedure.as_ref().map(|procedure| procedure.object_id) else { return false };
        let wanted = Wanted::Procedure { database, object_id };
        let hash = self.hasher.hash_one(&wanted);
        let mut shard = self.shard(hash).lock().unwrap_or_else(|e| e.into_inner());
        let entry = shard.find_mut(hash, |entry| entry.key.wanted() == wanted);
        let entry = entry.filter(|entry| Arc::ptr_eq(&entry.program, program));
        entry.map(|entry| entry.uses += uses).is_some()
    }

    /// Keeps a compiled procedure.
    pub(crate) fn keep_procedure(&self, database: i32, object_id: i32, program: &Arc<Program>) {
        self.store(Key::Procedure { database, object_id }, program);
    }

    /// Bytes that the programs are taken for.
    pub fn bytes_held(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// All that is kept.
    pub fn programs(&self) -> Vec<CachedProgram> {
        let mut programs = Vec::new();
        for shard in &self.shards {
            let shard = shard.lock().unwrap_or_else(|e| e.into_inner());
            programs.extend(shard.iter().map(|entry| CachedProgram {
                program: Arc::clone(&entry.program),
                is_prepared: matches!(&entry.key, Key::Batch { parameters, .. } if !parameters.is_empty()),
                uses: entry.uses,
                holders: Arc::strong_count(&entry.program) - 1,
            }));
        }
        programs
    }

    /// A program of the text that has this handle.
    pub fn by_handle(&self, handle: TextHandle) -> Option<Arc<Program>> {
        self.shards.iter().find_map(|shard| {
            let shard = shard.lock().unwrap_or_else(|e| e.into_inner());
            let found = shard.iter().find(|entry| entry.program.handle() == Some(handle));
            found.map(|entry| Arc::clone(&entry.program))
        })
    }

    /// A number that changes when programs are dropped.
    #[inline]
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Forgets everything (DBCC FREEPROCCACHE).
    pub fn clear(&self) {
        for shard in &self.shards {
            self.drop_shard(&mut shard.lock().unwrap_or_else(|e| e.into_inner()));
        }
    }
}

impl Cache for PlanCache {
    fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn give_way(&self, bytes: u64) -> u64 {
        let mut given = 0;
        for shard in &self.shards {
            if given >= bytes {
                break;
            }
            // One that is in use gives nothing: its user may be the one who asks.
            if let Ok(mut shard) = shard.try_lock() {
                given += self.drop_shard(&mut shard);
            }
        }
        given
    }
}

impl ExecutionContext {
    /// Does what compiles, or looks up what has been compiled, and counts the time. What it calls may count too: the outermost counts.
    pub(crate) fn count_compiling<T>(&self, compile: impl FnOnce() -> T) -> T {
        let (before, began) = (self.compile_ticks.load(Ordering::Relaxed), ticks());
        let done = compile();
        self.compile_ticks.store(before + ticks().saturating_sub(began), Ordering::Relaxed);
        done
    }
}
