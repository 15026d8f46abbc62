//! The files of a database as statements describe them: their names, sizes, steps of growth and limits.
//!
//! File 1 is the pages, file 2 the log. Both are always there, and stored only once a statement has said something of
//! them. Further files are room in the same: SIZE of each adds to the file of pages, or to the log.

use super::filegroup::PRIMARY_FILEGROUP;
use crate::temporary::TEMPDB;
use serde::{Deserialize, Serialize};

/// The number of the file of pages.
pub const DATA_FILE: i32 = 1;
/// The number of the log.
pub const LOG_FILE: i32 = 2;
/// The filegroup of files of the log.
pub(crate) const LOG_GROUP: i32 = 0;

/// `FILEGROWTH`
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Growth {
    /// Nothing was said: the file doubles, in steps of bounded size.
    #[default]
    Doubling,
    /// So many bytes; 0: the file does not grow.
    Bytes(u64),
    /// So many percent of the file.
    Percent(u32),
}

/// The settings of a file, as statements have said them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileSettings {
    /// Its number.
    pub file_id: i32,
    /// The number of its filegroup; 0: it is one of the log.
    pub filegroup: i32,
    /// Its logical name, if one was said; see [`FileSettings::name_in`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `SIZE`, in bytes; 0: nothing was said.
    #[serde(default)]
    pub size_bytes: u64,
    /// `FILEGROWTH`
    #[serde(default)]
    pub growth: Growth,
    /// `MAXSIZE`, in bytes; None: UNLIMITED.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u64>,
}

impl FileSettings {
    /// Its logical name in a database: that of the database, of the log with `_log` behind it, where none was said. The
    /// files of tempdb have names of their own, which scripts that make it larger know.
    pub fn name_in(&self, database: &str) -> String {
        let is_tempdb = database.eq_ignore_ascii_case(TEMPDB);
        match (&self.name, self.file_id) {
            (Some(name), _) => name.clone(),
            (None, LOG_FILE) if is_tempdb => "templog".to_owned(),
            (None, LOG_FILE) => format!("{database}_log"),
            (None, _) if is_tempdb => "tempdev".to_owned(),
            (None, _) => database.to_owned(),
        }
    }

    /// True for a file of the log.
    pub fn is_log(&self) -> bool {
        self.filegroup == LOG_GROUP
    }

    /// The settings of a file of which nothing was said.
    pub(crate) fn unsaid(file_id: i32) -> FileSettings {
        let filegroup = if file_id == LOG_FILE { LOG_GROUP } else { PRIMARY_FILEGROUP };
        FileSettings { file_id, filegroup, name: None, size_bytes: 0, growth: Growth::Doubling, max_bytes: None }
    }
}
