//! Which files run, and what they are.

use super::super::super::{CommandError, sql};
use flate2::read::MultiGzDecoder;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a packed script at most, unpacked.
const SCRIPT_BYTES_MAX: u64 = 1 << 30;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `.sql`
    Script,
    /// `.sql.gz`
    PackedScript,
    /// `.sh`
    Program,
    /// `.bak`
    Backup,
}

/// A file that runs once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub path: PathBuf,
    pub kind: Kind,
}

impl Step {
    /// The step that a file is; none: its name has no meaning here.
    fn of(path: &Path) -> Option<Step> {
        let name = path.file_name()?.to_str()?.to_ascii_lowercase();
        let kind = match name.rsplit_once('.')? {
            (_, "sql") => Kind::Script,
            (rest, "gz") if rest.ends_with(".sql") => Kind::PackedScript,
            (_, "sh") => Kind::Program,
            (_, "bak") => Kind::Backup,
            _ => return None,
        };
        Some(Step { path: path.to_path_buf(), kind })
    }

    /// The folder of a backup, without links on the way to it.
    pub fn backup_folder(&self) -> Option<PathBuf> {
        let real = (self.kind == Kind::Backup).then(|| std::fs::canonicalize(&self.path).ok())?;
        real?.parent().map(Path::to_path_buf)
    }

    /// A script's text.
    pub fn text(&self) -> Result<String, CommandError> {
        if self.kind == Kind::Script {
            return sql::read_script(&self.path);
        }
        let name = self.path.display().to_string();
        let file = std::fs::File::open(&self.path).map_err(CommandError::io(&name))?;
        let mut bytes = Vec::new();
        let mut unpacked = MultiGzDecoder::new(file).take(SCRIPT_BYTES_MAX + 1);
        unpacked.read_to_end(&mut bytes).map_err(CommandError::io(&name))?;
        if bytes.len() as u64 > SCRIPT_BYTES_MAX {
            let text = format!("{name}: a packed script has {SCRIPT_BYTES_MAX} bytes at most when it is unpacked");
            return Err(CommandError::Usage(text));
        }
        sql::decode(bytes, &name, None)
    }
}

/// The steps of files and folders, in the order of the names within a folder. Also a line for each file that is left out.
///
/// # Errors
/// What is not there, or is a file without a meaning.
pub fn steps(named: &[PathBuf]) -> Result<(Vec<Step>, Vec<String>), CommandError> {
    let (mut steps, mut notes) = (Vec::new(), Vec::new());
    for path in named {
        let name = path.display().to_string();
        let found = std::fs::metadata(path).map_err(CommandError::io(format!("--init {name}")))?;
        if !found.is_dir() {
            let wrong = || CommandError::Usage(format!("--init {name}: it is none of .sql, .sql.gz, .sh, .bak"));
            steps.push(Step::of(path).ok_or_else(wrong)?);
            continue;
        }
        let entries = std::fs::read_dir(path).map_err(CommandError::io(format!("--init {name}")))?;
        let mut files = Vec::new();
        for entry in entries {
            files.push(entry.map_err(CommandError::io(format!("--init {name}")))?.path());
        }
        files.sort();
        for file in files {
            match Step::of(&file).filter(|_| file.is_file()) {
                Some(step) => steps.push(step),
                // Kubernetes keeps the files of a volume behind such a name.
                None if file.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b".")) => {}
                None => notes.push(format!(
                    "init: {} is left out: it is no file that ends with .sql, .sql.gz, .sh or .bak",
                    file.display()
                )),
            }
        }
    }
    Ok((steps, notes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_by_their_names_and_taken_in_order() {
        let folder = std::env::temp_dir().join(format!("pikepole-steps-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("4.sql")).expect("a folder");
        for name in ["3.bak", "1.SQL", "2.sql.gz", "10.sh", "readme.md", "x.gz", ".hidden"] {
            std::fs::write(folder.join(name), "").expect("a file");
        }
        let (found, notes) = steps(std::slice::from_ref(&folder)).expect("a folder");
        let found: Vec<_> = found.iter().map(|step| (step.path.file_name().expect("a name"), step.kind)).collect();
        let expected = [
            ("1.SQL", Kind::Script),
            ("10.sh", Kind::Program),
            ("2.sql.gz", Kind::PackedScript),
            ("3.bak", Kind::Backup),
        ];
        assert_eq!(found, expected.map(|(name, kind)| (std::ffi::OsStr::new(name), kind)));
        assert_eq!(notes.len(), 3, "{notes:?}");
        for (wrong, why) in [("none", "No such file"), ("readme.md", "it is none of .sql")] {
            let error = steps(&[folder.join(wrong)]).expect_err("it is wrong").to_string();
            assert!(error.contains(why), "{error}");
        }
        std::fs::remove_dir_all(&folder).expect("it was there");
    }
}
