//! The folder of a temporary engine: made for it alone, and removed with it.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// What its owner may do; others may do nothing.
const OWNER_ONLY: u32 = 0o700;

/// A path in the system's folder for temporary files that nothing has, and that cannot be guessed.
pub(crate) fn new_path() -> PathBuf {
    let process = std::process::id();
    let chance = RandomState::new().hash_one(process);
    std::env::temp_dir().join(format!("pikepole-{process}-{chance:016x}"))
}

/// A folder that is removed when this is dropped. A process that is killed leaves it.
pub(crate) struct TemporaryFolder(PathBuf);

impl TemporaryFolder {
    /// Makes the folder.
    ///
    /// # Errors
    /// `AlreadyExists`; what the file system answers.
    pub(crate) fn make(path: &Path) -> io::Result<TemporaryFolder> {
        std::fs::DirBuilder::new().mode(OWNER_ONLY).create(path)?;
        Ok(TemporaryFolder(path.to_path_buf()))
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // What cannot be removed is in the system's folder for temporary files, which others look after.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
