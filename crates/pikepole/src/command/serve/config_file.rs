//! Settings in a file: sections and names as `mssql.conf` has them.
//!
//! ```text
//! [network]
//! tcpport = 1433            ; ipaddress, forceencryption, tlscert, tlskey
//! [filelocation]
//! defaultdatadir = /srv/data ; defaultbackupdir
//! [memory]
//! memorylimitmb = 2048
//! ```

use super::super::CommandError;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The settings that there are.
const KNOWN: [(&str, &str); 8] = [
    ("network", "tcpport"),
    ("network", "ipaddress"),
    ("network", "tlscert"),
    ("network", "tlskey"),
    ("network", "forceencryption"),
    ("filelocation", "defaultdatadir"),
    ("filelocation", "defaultbackupdir"),
    ("memory", "memorylimitmb"),
];

/// A value, and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The value, without what stands around it.
    pub value: String,
    /// The file and the line, for errors.
    pub place: String,
    /// What relative paths in it are of.
    folder: PathBuf,
}

impl Setting {
    /// The value as a path; a relative one is of the file's folder.
    pub fn path(&self) -> PathBuf {
        self.folder.join(&self.value)
    }

    /// An error about the value.
    pub fn wrong(&self, wanted: &str) -> CommandError {
        CommandError::Usage(format!("{}: `{}` is not {wanted}", self.place, self.value))
    }
}

/// The settings of all files that were read; what a later file says replaces what an earlier one said.
#[derive(Debug, Default)]
pub struct ConfigFiles {
    settings: BTreeMap<(String, String), Setting>,
    /// A line for each file that has settings without effect.
    pub notes: Vec<String>,
}

impl ConfigFiles {
    /// Reads one more file.
    ///
    /// # Errors
    /// A file that cannot be read, or has a line that is neither a section, a setting nor a comment.
    pub fn read(&mut self, path: &Path) -> Result<(), CommandError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path).map_err(CommandError::io(&name))?;
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        let mut section = String::new();
        let mut unknown = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim().trim_start_matches('\u{FEFF}');
            if line.is_empty() || line.starts_with(['#', ';']) {
                continue;
            }
            let place = format!("{name}, line {number}");
            if let Some(inner) = line.strip_prefix('[') {
                let inner = inner.strip_suffix(']').map(str::trim).filter(|inner| !inner.is_empty());
                let wrong = || CommandError::Usage(format!("{place}: a section is [NAME]"));
                section = inner.ok_or_else(wrong)?.to_ascii_lowercase();
                continue;
            }
            let Some((key, value)) = line.split_once('=') else {
                return Err(CommandError::Usage(format!("{place}: a setting is NAME = VALUE")));
            };
            let key = (section.clone(), key.trim().to_ascii_lowercase());
            if KNOWN.contains(&(key.0.as_str(), key.1.as_str())) {
                let setting = Setting { value: value.trim().to_owned(), place, folder: folder.clone() };
                self.settings.insert(key, setting);
            } else {
                unknown.push(format!("[{}] {}", key.0, key.1));
            }
        }
        if !unknown.is_empty() {
            self.notes.push(format!("{name}: without effect here: {}", unknown.join(", ")));
        }
        Ok(())
    }

    /// A setting; an empty one is as none.
    pub fn get(&self, section: &str, name: &str) -> Option<&Setting> {
        debug_assert!(KNOWN.contains(&(section, name)));
        self.settings.get(&(section.to_owned(), name.to_owned())).filter(|setting| !setting.value.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<ConfigFiles, CommandError> {
        let path = std::env::temp_dir().join(format!("pikepole-conf-{}-{}", std::process::id(), text.len()));
        std::fs::write(&path, text).expect("a file");
        let mut files = ConfigFiles::default();
        let done = files.read(&path).map(|()| files);
        std::fs::remove_file(&path).expect("it was there");
        done
    }

    #[test]
    fn sections_and_names_are_those_of_mssql_conf() {
        let text = "\u{FEFF}# comment\n[EULA]\naccepteula = Y\n\n[Network]\nTcpPort=1500\ntlscert = a.pem\n\
            [filelocation]\ndefaultdatadir = /srv/a=b\n; more\n[sqlagent]\nenabled = false\n";
        let files = read(text).expect("it is read");
        let value = |section, name| files.get(section, name).map(|setting| setting.value.as_str());
        assert_eq!(value("network", "tcpport"), Some("1500"));
        assert_eq!(value("filelocation", "defaultdatadir"), Some("/srv/a=b"));
        assert_eq!(value("memory", "memorylimitmb"), None);
        assert_eq!(files.get("network", "tlscert").map(Setting::path), Some(std::env::temp_dir().join("a.pem")));
        assert_eq!(files.notes.len(), 1);
        assert!(files.notes[0].ends_with(": without effect here: [eula] accepteula, [sqlagent] enabled"));
    }

    #[test]
    fn what_is_no_setting_is_named_with_its_line() {
        for (text, wanted) in [("[network]\ntcpport", "line 2: a setting is"), ("\n[network", "line 2: a section is")] {
            let error = read(text).expect_err("it is wrong").to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
