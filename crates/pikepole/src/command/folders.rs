//! The folders that statements may name files in, as options of the commands that open a folder of databases.

use pikepole::Options;
use std::path::PathBuf;

/// The folder of databases that a command is about while no server has it open.
#[derive(clap::Args)]
pub struct DataFolder {
    /// Folder of databases
    #[arg(
        short = 'd',
        long = "data",
        value_name = "FOLDER",
        default_value = "pikepole-data",
        env = "PIKEPOLE_DATA",
        hide_env_values = true
    )]
    pub data: PathBuf,
}

/// The folders that statements may read and write files in.
#[derive(clap::Args)]
pub struct FileFolders {
    /// A folder for backups, beside `backup` in the folder of databases; relative names are of the first one; may be given
    /// several times
    #[arg(long = "backup-folder", value_name = "FOLDER")]
    backups: Vec<PathBuf>,
    /// A folder that loads read from and write refused rows to, and from then on no other; may be given several times
    #[arg(long = "load-folder", value_name = "FOLDER")]
    loads: Vec<PathBuf>,
}

impl FileFolders {
    /// Whether a folder for backups is among them.
    pub fn has_backups(&self) -> bool {
        !self.backups.is_empty()
    }

    /// The options with these folders.
    pub fn add_to(&self, options: Options) -> Options {
        let options = self.backups.iter().fold(options, Options::backup_folder);
        self.loads.iter().fold(options, Options::load_folder)
    }
}
