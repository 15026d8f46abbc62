//! The kind of table that the built-in inserts go to.

/// A kind of table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TableKind {
    /// An ordinary one, of pages.
    #[default]
    Disk,
    /// `MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA`.
    Memory,
    /// `MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY`.
    SchemaOnly,
}

/// Buckets that a hash index begins with; it gets more as rows come.
const BUCKETS: u32 = 1 << 20;

impl TableKind {
    /// Every kind, the ordinary one first.
    pub const ALL: [TableKind; 3] = [TableKind::Disk, TableKind::Memory, TableKind::SchemaOnly];

    /// The name on the command line, in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            TableKind::Disk => "disk",
            TableKind::Memory => "memory",
            TableKind::SchemaOnly => "schema-only",
        }
    }

    /// True when its definition asks for rows in memory.
    pub fn asks_for_memory(self) -> bool {
        self != TableKind::Disk
    }

    /// The options of its definition, without their parentheses; none of an ordinary table.
    pub fn options(self) -> Option<&'static str> {
        match self {
            TableKind::Disk => None,
            TableKind::Memory => Some("MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA"),
            TableKind::SchemaOnly => Some("MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY"),
        }
    }

    /// The primary key over a column `id`, as a table of this kind takes it.
    pub(super) fn primary_key(self) -> String {
        if self.asks_for_memory() {
            format!("PRIMARY KEY NONCLUSTERED HASH (id) WITH (BUCKET_COUNT = {BUCKETS})")
        } else {
            "PRIMARY KEY CLUSTERED (id)".to_owned()
        }
    }
}
