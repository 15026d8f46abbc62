//! Databases: CREATE DATABASE and ALTER DATABASE.

use super::{Expr, Name, SettingOption, Span};

/// `CREATE DATABASE`
#[derive(Debug, Clone, PartialEq)]
pub struct CreateDatabase {
    /// Its name.
    pub name: Name,
    /// `CONTAINMENT = NONE | PARTIAL`, in upper case.
    pub containment: Option<String>,
    /// The files of the primary filegroup.
    pub primary: Vec<FileSpec>,
    /// The other filegroups.
    pub filegroups: Vec<FileGroup>,
    /// `LOG ON`
    pub log: Vec<FileSpec>,
    /// `COLLATE name`
    pub collation: Option<Name>,
    /// `WITH ...`
    pub options: Vec<SettingOption>,
    /// `FOR ATTACH`, `FOR ATTACH_REBUILD_LOG`: the word in upper case.
    pub attach: Option<String>,
    /// `AS SNAPSHOT OF database`
    pub snapshot_of: Option<Name>,
}

/// `FILEGROUP name (...), (...)`
#[derive(Debug, Clone, PartialEq)]
pub struct FileGroup {
    /// Its name.
    pub name: Name,
    /// `CONTAINS FILESTREAM`, `CONTAINS MEMORY_OPTIMIZED_DATA`: the word behind CONTAINS in upper case.
    pub contains: Option<String>,
    /// `DEFAULT`
    pub default: bool,
    /// Its files.
    pub files: Vec<FileSpec>,
}

/// One file: `(NAME = n, FILENAME = 'f', SIZE = 8 MB, MAXSIZE = UNLIMITED, FILEGROWTH = 10%)`.
#[derive(Debug, Clone, PartialEq)]
pub struct FileSpec {
    /// `NAME`
    pub name: Option<String>,
    /// `NEWNAME`, in ALTER DATABASE ... MODIFY FILE.
    pub new_name: Option<String>,
    /// `FILENAME`
    pub filename: Option<String>,
    /// `SIZE`
    pub size: Option<FileSize>,
    /// `MAXSIZE`
    pub max_size: Option<FileSize>,
    /// `FILEGROWTH`
    pub growth: Option<FileSize>,
    /// `OFFLINE`
    pub offline: bool,
    /// Where it stands.
    pub span: Span,
}

/// A size of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileSize {
    /// So many of a unit.
    Of(u64, SizeUnit),
    /// So many percent.
    Percent(u64),
    /// `UNLIMITED`
    Unlimited,
}

impl FileSize {
    /// The size in bytes; none for percentages and UNLIMITED, and for sizes beyond 64 bits.
    pub fn bytes(self) -> Option<u64> {
        match self {
            FileSize::Of(count, unit) => count.checked_mul(unit.bytes()),
            FileSize::Percent(_) | FileSize::Unlimited => None,
        }
    }
}

/// Units of sizes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SizeUnit {
    /// `KB`
    Kilobytes,
    /// `MB`, and when no unit is said.
    Megabytes,
    /// `GB`
    Gigabytes,
    /// `TB`
    Terabytes,
}

impl SizeUnit {
    /// Bytes in one.
    pub fn bytes(self) -> u64 {
        match self {
            SizeUnit::Kilobytes => 1 << 10,
            SizeUnit::Megabytes => 1 << 20,
            SizeUnit::Gigabytes => 1 << 30,
            SizeUnit::Terabytes => 1 << 40,
        }
    }
}

/// `ALTER DATABASE`
#[derive(Debug, Clone, PartialEq)]
pub struct AlterDatabase {
    /// The database; none for CURRENT.
    pub name: Option<Name>,
    /// What is done.
    pub action: AlterDatabaseAction,
}

/// What ALTER DATABASE does.
#[derive(Debug, Clone, PartialEq)]
pub enum AlterDatabaseAction {
    /// `SET option value, ... [WITH termination]`. Both spellings are stored alike: `RECOVERY SIMPLE` and
    /// `DELAYED_DURABILITY = FORCED` have a name and a word; `SINGLE_USER` has a name alone.
    Set {
        /// The options.
        options: Vec<SettingOption>,
        /// `WITH ROLLBACK ...` or `WITH NO_WAIT`
        termination: Option<Termination>,
    },
    /// `ADD FILE ... [TO FILEGROUP g]`
    AddFiles {
        /// The files.
        files: Vec<FileSpec>,
        /// The filegroup.
        filegroup: Option<Name>,
    },
    /// `ADD LOG FILE ...`
    AddLogFiles(Vec<FileSpec>),
    /// `REMOVE FILE f`
    RemoveFile(Name),
    /// `MODIFY FILE (...)`
    ModifyFile(FileSpec),
    /// `ADD FILEGROUP g [CONTAINS x]`
    AddFilegroup {
        /// Its name.
        name: Name,
        /// The word behind CONTAINS, in upper case.
        contains: Option<String>,
    },
    /// `REMOVE FILEGROUP g`
    RemoveFilegroup(Name),
    /// `MODIFY FILEGROUP g ...`
    ModifyFilegroup {
        /// Its name.
        name: Name,
        /// What it becomes, in upper case: `DEFAULT`, `READ_ONLY`, `READ_WRITE`, `AUTOGROW_ALL_FILES`; `NAME` with the new name.
        property: String,
        /// The new name.
        new_name: Option<Name>,
    },
    /// `MODIFY NAME = n`
    Rename(Name),
    /// `COLLATE c`
    Collate(Name),
    /// `SCOPED CONFIGURATION [FOR SECONDARY] SET name = value` or `CLEAR PROCEDURE_CACHE`
    ScopedConfiguration {
        /// The name in upper case.
        name: String,
        /// `FOR SECONDARY`
        secondary: bool,
        /// The value; none for CLEAR.
        value: Option<super::SettingValue>,
    },
}

/// What becomes of transactions that are in the way of ALTER DATABASE.
#[derive(Debug, Clone, PartialEq)]
pub enum Termination {
    /// `ROLLBACK IMMEDIATE`
    RollbackImmediate,
    /// `ROLLBACK AFTER n [SECONDS]`
    RollbackAfter(Expr),
    /// `NO_WAIT`
    NoWait,
}
