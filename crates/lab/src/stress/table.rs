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

    /// The primary key over a column `id`, as a table of this kind takes it: in order in all of them.
    pub(super) fn primary_key(self) -> &'static str {
        if self.asks_for_memory() { "PRIMARY KEY NONCLUSTERED (id)" } else { "PRIMARY KEY CLUSTERED (id)" }
    }
}
