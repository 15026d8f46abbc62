//! What a server is started with, wherever it was said.
//!
//! ```text
//!   options > PIKEPOLE_* > MSSQL_* > --config FILE > pikepole.conf, mssql.conf in the data folder > what holds without
//! ```
//!
//! The variables are those of SQL Server's image. Each that is set is taken, or a line says that it has no effect.

use super::super::CommandError;
use super::config_file::ConfigFiles;
use super::listen::Listen;
use super::{Arguments, Encryption};
use pikepole_server::PORT;
use pikepole_types::Collation;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};

/// Variables without effect, and why.
const WITHOUT_EFFECT: [(&str, &str); 8] = [
    ("ACCEPT_EULA", "there is no licence agreement to accept"),
    ("MSSQL_PID", "there is one edition, without a key"),
    ("MSSQL_LCID", "messages are in English; languages are those of logins and of SET LANGUAGE"),
    ("MSSQL_AGENT_ENABLED", "there is no agent"),
    ("MSSQL_ENABLE_HADR", "there are no availability groups"),
    ("MSSQL_LOG_DIR", "each log is in the folder of its database"),
    ("MSSQL_MASTER_DATA_FILE", "master is in the data folder"),
    ("MSSQL_MASTER_LOG_FILE", "master is in the data folder"),
];
/// Variables that are taken.
const TAKEN: [&str; 11] = [
    "SA_PASSWORD",
    "MSSQL_SA_PASSWORD",
    "MSSQL_TCP_PORT",
    "MSSQL_IP_ADDRESS",
    "MSSQL_DATA_DIR",
    "MSSQL_BACKUP_DIR",
    "MSSQL_MEMORY_LIMIT_MB",
    "MSSQL_COLLATION",
    "MSSQL_DB",
    "MSSQL_USER",
    "MSSQL_PASSWORD",
];
/// The variables that may hold the password of `sa`, the first that is set counts.
const PASSWORDS: [&str; 3] = [super::PASSWORD_VARIABLE, "MSSQL_SA_PASSWORD", "SA_PASSWORD"];
/// The data folder that holds without another one.
const DATA_FOLDER: &str = "pikepole-data";
/// The files in the data folder that settings are read from, the later one first.
const CONFIG_FILES: [&str; 2] = ["mssql.conf", "pikepole.conf"];

/// A database that is made at the first start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FirstDatabase {
    /// Its name.
    pub name: String,
    /// Its collation, when it is not the server's.
    pub collation: Option<String>,
    /// The login that it belongs to, and its password; none: `sa`.
    pub owner: Option<(String, String)>,
}

/// What a server is started with.
#[derive(Debug)]
pub struct Settings {
    pub data: PathBuf,
    pub listen: Vec<Listen>,
    /// The address of those that are only a port.
    pub address: IpAddr,
    pub encryption: Encryption,
    pub certificate: Option<PathBuf>,
    pub key: Option<PathBuf>,
    pub memory_mb: Option<String>,
    /// A folder for backups that no option names.
    pub backups: Option<PathBuf>,
    /// The password of `sa`, and the variable that has it.
    pub password: Option<(&'static str, String)>,
    pub first: Option<FirstDatabase>,
    /// Lines for the log.
    pub notes: Vec<String>,
}

impl Settings {
    /// Gathers what is said by options, the environment and files.
    ///
    /// # Errors
    /// A value that cannot be; a file that cannot be read.
    pub fn gather(arguments: &Arguments, environment: BTreeMap<String, String>) -> Result<Settings, CommandError> {
        let mut variables = Variables::new(environment);
        let mut files = ConfigFiles::default();
        let named = |files: &mut ConfigFiles| arguments.config.iter().try_for_each(|path| files.read(path));
        named(&mut files)?;
        let data = data_folder(arguments, &mut variables, &files);
        let own: Vec<PathBuf> = CONFIG_FILES.iter().map(|name| data.join(name)).filter(|path| path.is_file()).collect();
        if !own.is_empty() {
            // Those that are named win, so they are read last.
            files = ConfigFiles::default();
            own.iter().try_for_each(|path| files.read(path))?;
            named(&mut files)?;
        }
        let (listen, address) = listening(arguments, &mut variables, &files)?;
        let (encryption, certificate, key) = encryption(arguments, &files)?;
        let memory_mb = match (variables.take("MSSQL_MEMORY_LIMIT_MB"), files.get("memory", "memorylimitmb")) {
            (Some(value), _) => Some(number("MSSQL_MEMORY_LIMIT_MB", value)?),
            (None, Some(setting)) if setting.value.parse::<u32>().is_err() => return Err(setting.wrong("a number")),
            (None, setting) => setting.map(|setting| setting.value.clone()),
        };
        let backups = backup_folder(arguments, &mut variables, &files, &data);
        let password = variables.password();
        let first = variables.first_database()?;
        let mut notes = files.notes;
        notes.extend(variables.into_notes());
        Ok(Settings { data, listen, address, encryption, certificate, key, memory_mb, backups, password, first, notes })
    }
}

fn data_folder(arguments: &Arguments, variables: &mut Variables, files: &ConfigFiles) -> PathBuf {
    let variable = variables.take("MSSQL_DATA_DIR").map(PathBuf::from);
    if let Some(folder) = &arguments.data {
        if variable.is_some_and(|other| other != *folder) {
            variables.overruled("MSSQL_DATA_DIR", "--data");
        }
        return folder.clone();
    }
    let setting = files.get("filelocation", "defaultdatadir").map(super::config_file::Setting::path);
    variable.or(setting).unwrap_or_else(|| PathBuf::from(DATA_FOLDER))
}

/// Where to listen, and the address of what is only a port.
fn listening(
    arguments: &Arguments,
    variables: &mut Variables,
    files: &ConfigFiles,
) -> Result<(Vec<Listen>, IpAddr), CommandError> {
    let address = match (variables.take("MSSQL_IP_ADDRESS"), files.get("network", "ipaddress")) {
        (Some(value), _) => value
            .parse()
            .map_err(|_| CommandError::Usage(format!("MSSQL_IP_ADDRESS: `{value}` is not an IP address")))?,
        (None, Some(setting)) => setting.value.parse().map_err(|_| setting.wrong("an IP address"))?,
        (None, None) => IpAddr::V4(Ipv4Addr::LOCALHOST),
    };
    let is_port = |value: &str| value.parse::<u16>().ok();
    let port = match (variables.take("MSSQL_TCP_PORT"), files.get("network", "tcpport")) {
        (Some(value), _) => {
            is_port(&value).ok_or_else(|| CommandError::Usage(format!("MSSQL_TCP_PORT: `{value}` is not a port")))?
        }
        (None, Some(setting)) => is_port(&setting.value).ok_or_else(|| setting.wrong("a port"))?,
        (None, None) => PORT,
    };
    if arguments.listen.is_empty() {
        return Ok((vec![Listen::at(address, port)], address));
    }
    for name in ["MSSQL_TCP_PORT", "MSSQL_IP_ADDRESS"] {
        if variables.is_set(name) {
            variables.overruled(name, "--listen");
        }
    }
    Ok((arguments.listen.clone(), address))
}

type Certificates = (Encryption, Option<PathBuf>, Option<PathBuf>);

fn encryption(arguments: &Arguments, files: &ConfigFiles) -> Result<Certificates, CommandError> {
    let forced = match files.get("network", "forceencryption") {
        None => Encryption::Optional,
        Some(setting) => match setting.value.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" => Encryption::Required,
            "0" | "false" | "no" => Encryption::Optional,
            _ => return Err(setting.wrong("0 or 1")),
        },
    };
    let encryption = arguments.tls.unwrap_or(forced);
    if arguments.certificate.is_some() {
        return Ok((encryption, arguments.certificate.clone(), arguments.key.clone()));
    }
    let (certificate, key) = (files.get("network", "tlscert"), files.get("network", "tlskey"));
    match (certificate, key) {
        (Some(only), None) => Err(CommandError::Usage(format!("{}: tlscert needs tlskey", only.place))),
        (None, Some(only)) => Err(CommandError::Usage(format!("{}: tlskey needs tlscert", only.place))),
        (certificate, key) => Ok((encryption, certificate.map(|file| file.path()), key.map(|file| file.path()))),
    }
}

/// The folder for backups, unless an option names one. Of the data folder only `backup` is for them.
fn backup_folder(
    arguments: &Arguments,
    variables: &mut Variables,
    files: &ConfigFiles,
    data: &Path,
) -> Option<PathBuf> {
    const NAME: &str = "MSSQL_BACKUP_DIR";
    let variable = variables.take(NAME).map(PathBuf::from);
    let setting = files.get("filelocation", "defaultbackupdir");
    if arguments.folders.has_backups() {
        if variable.is_some() {
            variables.overruled(NAME, "--backup-folder");
        }
        return None;
    }
    let (what, folder) = match (variable, setting) {
        (Some(folder), _) => (NAME.to_owned(), folder),
        (None, Some(setting)) => (setting.place.clone(), setting.path()),
        (None, None) => return None,
    };
    if folder.starts_with(data) {
        let own = data.join(pikepole_engine::BACKUP_FOLDER);
        if folder != own {
            let text = "of the data folder only its folder backup is for backups, which they go into";
            variables.notes.push(format!("{what} has no effect: {text}"));
        }
        return None;
    }
    Some(folder)
}

fn number(name: &str, value: String) -> Result<String, CommandError> {
    match value.parse::<u32>() {
        Ok(_) => Ok(value),
        Err(_) => Err(CommandError::Usage(format!("{name}: `{value}` is not a number"))),
    }
}

/// The password of `sa` that the environment gives, and its variable.
pub fn given_password() -> Option<(&'static str, String)> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    PASSWORDS.into_iter().find_map(|name| Some((name, set(name)?)))
}

/// The environment's variables, and what there is to say of them.
struct Variables {
    values: BTreeMap<String, String>,
    notes: Vec<String>,
}

impl Variables {
    /// Those that have a value.
    fn new(environment: BTreeMap<String, String>) -> Variables {
        let values: BTreeMap<_, _> = environment.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        Variables { values, notes: Vec::new() }
    }

    fn is_set(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of a variable that is taken.
    fn take(&self, name: &str) -> Option<String> {
        debug_assert!(TAKEN.contains(&name));
        self.values.get(name).cloned()
    }

    fn overruled(&mut self, name: &str, by: &str) {
        self.notes.push(format!("{name} has no effect: {by} is given"));
    }

    /// The first password of `sa`.
    fn password(&mut self) -> Option<(&'static str, String)> {
        let mut given = PASSWORDS.into_iter().filter_map(|name| Some((name, self.values.get(name)?.clone())));
        let first = given.next()?;
        let others: Vec<&str> = given.filter(|other| other.1 != first.1).map(|other| other.0).collect();
        for other in others {
            self.overruled(other, first.0);
        }
        Some(first)
    }

    /// MSSQL_DB, MSSQL_USER, MSSQL_PASSWORD, and MSSQL_COLLATION for the database.
    fn first_database(&mut self) -> Result<Option<FirstDatabase>, CommandError> {
        let collation = self.collation();
        let (name, user, password) = (self.take("MSSQL_DB"), self.take("MSSQL_USER"), self.take("MSSQL_PASSWORD"));
        let Some(name) = name else {
            for variable in ["MSSQL_USER", "MSSQL_PASSWORD"] {
                if self.is_set(variable) {
                    self.notes.push(format!("{variable} has no effect: MSSQL_DB names no database"));
                }
            }
            if collation.is_some() {
                let text = "databases have their collations by CREATE DATABASE ... COLLATE, the server's is";
                self.notes.push(format!("MSSQL_COLLATION has no effect: {text} {}", Collation::DEFAULT.name()));
            }
            return Ok(None);
        };
        let owner = match (user, password) {
            (Some(user), _) if user.eq_ignore_ascii_case("sa") => {
                if self.is_set("MSSQL_PASSWORD") {
                    self.notes.push("MSSQL_PASSWORD has no effect: MSSQL_SA_PASSWORD is for sa".to_owned());
                }
                None
            }
            (Some(user), Some(password)) => Some((user, password)),
            (Some(_), None) => return Err(CommandError::Usage("MSSQL_USER needs MSSQL_PASSWORD".to_owned())),
            (None, Some(_)) => {
                self.notes.push("MSSQL_PASSWORD has no effect: MSSQL_USER names no login".to_owned());
                None
            }
            (None, None) => None,
        };
        Ok(Some(FirstDatabase { name, collation, owner }))
    }

    /// The collation, when it is one and not the server's.
    fn collation(&mut self) -> Option<String> {
        let name = self.take("MSSQL_COLLATION")?;
        match Collation::by_name(&name) {
            Some(Collation::DEFAULT) => None,
            Some(_) => Some(name),
            None => {
                self.notes.push(format!("MSSQL_COLLATION has no effect: there is no collation {name}"));
                None
            }
        }
    }

    /// A line for each variable without effect.
    fn into_notes(mut self) -> Vec<String> {
        let known = |name: &str| WITHOUT_EFFECT.iter().find(|(known, _)| *known == name).map(|(_, why)| *why);
        for name in self.values.keys() {
            match known(name) {
                Some(why) => self.notes.push(format!("{name} has no effect: {why}")),
                None if name.starts_with("MSSQL_") && !TAKEN.contains(&name.as_str()) => {
                    self.notes.push(format!("{name} has no effect: there is no such setting here"));
                }
                None => {}
            }
        }
        self.notes
    }
}

#[cfg(test)]
mod tests;
