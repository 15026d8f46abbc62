//! Folders that a start makes: when it fails, they are gone again.

use std::io;
use std::path::{Path, PathBuf};

/// A folder before a start.
#[derive(Debug)]
pub struct Fresh {
    folder: PathBuf,
    /// Nothing was in it, or it was not there.
    was_empty: bool,
    /// What has to be made for it to be there, the innermost first.
    missing: Vec<PathBuf>,
}

impl Fresh {
    /// Looks at a folder that a start is about to make.
    pub fn look(folder: &Path) -> Fresh {
        let missing = folder.ancestors().filter(|path| !path.as_os_str().is_empty());
        let missing: Vec<PathBuf> = missing.take_while(|path| !path.exists()).map(Path::to_path_buf).collect();
        let is_empty = |mut entries: std::fs::ReadDir| entries.next().is_none();
        let was_empty = !missing.is_empty() || std::fs::read_dir(folder).is_ok_and(is_empty);
        Fresh { folder: folder.to_path_buf(), was_empty, missing }
    }

    /// Removes what a start that failed has put there, which held the folder's lock from its first file on. A folder that had
    /// something in it before is left as it is.
    ///
    /// # Errors
    /// What cannot be removed.
    pub fn undo(&self) -> io::Result<()> {
        if !self.was_empty || !self.folder.is_dir() {
            return Ok(());
        }
        for entry in std::fs::read_dir(&self.folder)? {
            let path = entry?.path();
            if path.is_dir() && !path.is_symlink() {
                std::fs::remove_dir_all(&path)?;
            } else {
                std::fs::remove_file(&path)?;
            }
        }
        // Not if something has come into them meanwhile.
        self.missing.iter().try_for_each(std::fs::remove_dir)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_there_goes_and_what_was_there_stays() {
        let root = std::env::temp_dir().join(format!("pikepole-fresh-{}", std::process::id()));
        let (deep, empty, full) = (root.join("a/b"), root.join("empty"), root.join("full"));
        for folder in [&empty, &full] {
            std::fs::create_dir_all(folder).expect("a folder");
        }
        std::fs::write(full.join("own"), "").expect("a file");
        let fresh = [&deep, &empty, &full].map(|folder| Fresh::look(folder));
        for folder in [&deep, &empty, &full] {
            std::fs::create_dir_all(folder.join("master")).expect("a folder");
            std::fs::write(folder.join("lock"), "").expect("a file");
        }
        fresh.iter().for_each(|fresh| fresh.undo().expect("it can be removed"));
        assert!(!root.join("a").exists());
        assert_eq!(std::fs::read_dir(&empty).expect("it stays").count(), 0);
        assert_eq!(std::fs::read_dir(&full).expect("it stays").count(), 3);
        std::fs::remove_dir_all(&root).expect("it was there");
    }
}
