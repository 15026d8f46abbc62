//! Filegroups: named sets of data files, in which tables and indexes are placed.
//!
//! Filegroup 1 is PRIMARY; it is always there, and stored only once something about it has changed. Others have the
//! numbers from 2 on. A filegroup shares its range of numbers with partition schemes, which have theirs from
//! [`super::partition::SCHEME_FIRST`] on: both are data spaces.

use serde::{Deserialize, Serialize};

/// The number of the filegroup that every database has.
pub const PRIMARY_FILEGROUP: i32 = 1;
/// Its name.
pub const PRIMARY_FILEGROUP_NAME: &str = "PRIMARY";
/// The highest number of a filegroup.
pub(crate) const FILEGROUP_MAX: i32 = 32_767;

/// The contents of a filegroup.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum FilegroupContents {
    /// Rows.
    #[default]
    Rows,
    /// `CONTAINS MEMORY_OPTIMIZED_DATA`. Tables optimized for memory are stored like any others, so it holds nothing.
    MemoryOptimized,
}

impl FilegroupContents {
    /// `type` and `type_desc` of `sys.filegroups`.
    pub fn kind(self) -> (&'static str, &'static str) {
        match self {
            FilegroupContents::Rows => ("FG", "ROWS_FILEGROUP"),
            FilegroupContents::MemoryOptimized => ("FX", "MEMORY_OPTIMIZED_DATA_FILEGROUP"),
        }
    }
}

/// A filegroup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filegroup {
    /// Its number among data spaces.
    pub data_space_id: i32,
    /// Its name.
    pub name: String,
    /// Its contents.
    #[serde(default)]
    pub contents: FilegroupContents,
    /// `DEFAULT`: tables and indexes that name no filegroup are placed here.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_default: bool,
    /// `AUTOGROW_ALL_FILES`: when one of its files grows, all of them do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub grows_all_files: bool,
}

impl Filegroup {
    /// The filegroup of a new database.
    pub(crate) fn primary() -> Filegroup {
        Filegroup {
            data_space_id: PRIMARY_FILEGROUP,
            name: PRIMARY_FILEGROUP_NAME.to_owned(),
            contents: FilegroupContents::Rows,
            is_default: true,
            grows_all_files: false,
        }
    }
}
