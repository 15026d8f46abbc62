//! What FILLFACTOR, PAD_INDEX, DATA_COMPRESSION and ON say. It is kept and shown; pages are filled and written the same
//! way whatever it is.

use super::filegroup::PRIMARY_FILEGROUP;
use serde::{Deserialize, Serialize};

/// DATA_COMPRESSION, numbered as the views number it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Compression {
    /// NONE.
    #[default]
    None = 0,
    /// ROW.
    Row = 1,
    /// PAGE.
    Page = 2,
}

impl Compression {
    /// All of them.
    pub const ALL: [Compression; 3] = [Compression::None, Compression::Row, Compression::Page];

    /// Its name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            Compression::None => "NONE",
            Compression::Row => "ROW",
            Compression::Page => "PAGE",
        }
    }
}

/// What is said of how the rows of a heap or the entries of an index lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct StorageOptions {
    /// FILLFACTOR; zero where nobody has said one.
    #[serde(default)]
    pub fill_factor: u8,
    /// PAD_INDEX.
    #[serde(default)]
    pub padded: bool,
    /// DATA_COMPRESSION.
    #[serde(default)]
    pub compression: Compression,
    /// The number of the filegroup that `ON` names.
    #[serde(default = "primary", skip_serializing_if = "is_primary")]
    pub filegroup: i32,
}

fn primary() -> i32 {
    PRIMARY_FILEGROUP
}

fn is_primary(filegroup: &i32) -> bool {
    *filegroup == PRIMARY_FILEGROUP
}

impl Default for StorageOptions {
    fn default() -> StorageOptions {
        let compression = Compression::default();
        StorageOptions { fill_factor: 0, padded: false, compression, filegroup: PRIMARY_FILEGROUP }
    }
}

impl StorageOptions {
    /// The options of something of which only its filegroup is said.
    pub fn in_filegroup(filegroup: i32) -> StorageOptions {
        StorageOptions { filegroup, ..StorageOptions::default() }
    }

    /// Whether nothing is said.
    pub(crate) fn is_default(&self) -> bool {
        *self == StorageOptions::default()
    }
}

/// What a statement says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StorageWish {
    /// FILLFACTOR.
    pub fill_factor: Option<u8>,
    /// PAD_INDEX.
    pub padded: Option<bool>,
    /// DATA_COMPRESSION.
    pub compression: Option<Compression>,
    /// The number of the filegroup that `ON` names.
    pub filegroup: Option<i32>,
}

impl StorageWish {
    /// What holds then of something that had `former`.
    pub fn over(self, former: StorageOptions) -> StorageOptions {
        StorageOptions {
            fill_factor: self.fill_factor.unwrap_or(former.fill_factor),
            padded: self.padded.unwrap_or(former.padded),
            compression: self.compression.unwrap_or(former.compression),
            filegroup: self.filegroup.unwrap_or(former.filegroup),
        }
    }
}
