//! The system's memory that databases have, and in which pages.

use pikepole_machine::{MemoryGrant, Pages};

use super::{Entry, Server, read};

/// The system's memory that a database has, and in which pages.
#[derive(Debug, Clone)]
pub struct DatabaseMemory {
    /// The database's id.
    pub database_id: i32,
    /// Its name.
    pub database: String,
    /// Its pages and their headers.
    pub buffer_pool: MemoryGrant,
    /// The ring of its log.
    pub log_buffer: MemoryGrant,
}

impl DatabaseMemory {
    /// Whether reserved pages were asked for, and something is in others.
    pub fn is_refused(&self) -> bool {
        [&self.buffer_pool, &self.log_buffer]
            .iter()
            .any(|grant| grant.asked == Pages::Reserved && grant.got != grant.asked)
    }
}

/// One line for people.
impl std::fmt::Display for DatabaseMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "memory of database {}: buffer pool of {}; log buffer of {}",
            self.database, self.buffer_pool, self.log_buffer
        )
    }
}

impl Server {
    /// The system's memory that the open databases have, by their ids.
    pub fn memory(&self) -> Vec<DatabaseMemory> {
        let of_entry = |entry: &Entry| match entry {
            Entry::Online(database) => Some(DatabaseMemory {
                database_id: database.id(),
                database: database.name().to_owned(),
                buffer_pool: database.store().memory().clone(),
                log_buffer: database.log().memory().clone(),
            }),
            Entry::Restoring(_) | Entry::Suspect { .. } => None,
        };
        let mut all: Vec<DatabaseMemory> = read(&self.databases).values().filter_map(of_entry).collect();
        all.sort_by_key(|memory| memory.database_id);
        all
    }
}
