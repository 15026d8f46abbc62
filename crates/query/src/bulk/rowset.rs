//! OPENROWSET(BULK ...) of rows: a file as a table.

use std::sync::Arc;

use super::convert::FieldTarget;
use super::file::BulkFile;
use super::format_file::FieldFormat;
use super::options::BulkOptions;
use crate::progress::Progress;

/// A file whose rows a statement reads.
#[derive(Debug)]
pub struct FileTable {
    /// The name as it was written.
    pub(crate) name: String,
    pub(crate) options: BulkOptions,
    /// What becomes of each field: its value goes to the column of that number.
    pub(crate) targets: Vec<FieldTarget>,
    /// What the fields are, when they are not as the options say.
    pub(crate) fields: Option<Arc<[FieldFormat]>>,
    /// How many columns the rows have.
    pub(crate) columns: usize,
}

impl FileTable {
    /// The file, to be read from its beginning.
    pub(crate) fn open(&self, progress: Arc<Progress>) -> BulkFile {
        BulkFile::new(&self.options, self.targets.clone(), self.fields.clone(), progress)
    }
}
