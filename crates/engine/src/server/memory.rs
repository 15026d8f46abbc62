//! The system's memory that databases have, and in which pages.

use std::collections::BTreeSet;

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
    /// Frames that hold a page.
    pub pages: u64,
    /// Bytes of the frames that have memory.
    pub pool_bytes: u64,
    /// Bytes of the ring that have memory.
    pub ring_bytes: u64,
    /// The ring of its log.
    pub log_buffer: MemoryGrant,
}

/// What the buffer pools of the open databases have of a memory node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodeMemory {
    /// The node, as the hardware counts.
    pub node: usize,
    /// Frames with addresses of its memory.
    pub frames: u64,
    /// The most of them that are to hold pages.
    pub target: u64,
    /// Those that hold a page.
    pub pages: u64,
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
                pages: database.store().pool_parts().map(|part| part.pages).sum(),
                pool_bytes: database.store().pool_bytes(),
                ring_bytes: database.log().ring_bytes_used(),
                log_buffer: database.log().memory().clone(),
            }),
            Entry::Restoring(_) | Entry::Suspect { .. } | Entry::Offline { .. } | Entry::Unused { .. } => None,
        };
        let mut all: Vec<DatabaseMemory> = read(&self.databases).values().filter_map(of_entry).collect();
        all.sort_by_key(|memory| memory.database_id);
        all
    }

    /// What the buffer pools have of the memory nodes that have schedulers, ascending. A pool that is not parted counts for the first.
    pub fn memory_nodes(&self) -> Vec<NodeMemory> {
        let near: BTreeSet<usize> = self.placement.nodes.iter().map(|node| node.memory_node).collect();
        let mut nodes: Vec<NodeMemory> =
            near.into_iter().map(|node| NodeMemory { node, frames: 0, target: 0, pages: 0 }).collect();
        if nodes.is_empty() {
            nodes.push(NodeMemory { node: 0, frames: 0, target: 0, pages: 0 });
        }
        for entry in read(&self.databases).values() {
            let Entry::Online(database) = entry else { continue };
            for part in database.store().pool_parts() {
                let at = nodes.iter().position(|known| Some(known.node) == part.node).unwrap_or(0);
                nodes[at].frames += part.frames;
                nodes[at].target += part.target;
                nodes[at].pages += part.pages;
            }
        }
        nodes
    }
}
