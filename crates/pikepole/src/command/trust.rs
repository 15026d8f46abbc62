//! `pikepole trust`: an authority of this user, and a certificate of it for the server of a folder.
//!
//! The authority is made once and kept in the user's own folder; who trusts it trusts the servers of all folders that it has signed for.

use super::{CommandError, DataFolder};
use pikepole_machine::Disk;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// For which server, and under which names.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    folder: DataFolder,
    /// A name or address that clients connect by, beside localhost and this machine's name; may be given several times
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,
    /// Where the authority is kept [without it: $XDG_DATA_HOME/pikepole or ~/.local/share/pikepole]
    #[arg(long, value_name = "FOLDER")]
    authority: Option<PathBuf>,
}

const HELP: &str = "\
The authority is made at the first call, the certificate at each. No server may have the
folder open; the next one uses the certificate. Clients accept it when they trust the
authority's certificate, whose path is printed with what makes them do that.

The key of the authority (authority-key.pem) signs for any name: keep it to yourself.

Examples:
  pikepole trust -d ./data
  pikepole trust -d ./data --host db.example --host 10.0.0.7";

/// Makes the certificate and says how clients come to trust it.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let disk = Disk::real();
    let home = match &arguments.authority {
        Some(folder) => folder.clone(),
        None => home()?,
    };
    let (certificate_file, certificate, key) = authority(&disk, &home)?;
    let failed = |path: &Path| CommandError::io(path.display().to_string());
    disk.create_dir_all(&arguments.folder.data).map_err(failed(&arguments.folder.data))?;
    let lock = disk.lock_folder(&arguments.folder.data).map_err(failed(&arguments.folder.data))?;
    let now_us = pikepole_machine::clock::unix_time_us();
    let signed = pikepole_server::make_signed_pair((&certificate, &key), &arguments.hosts, now_us);
    let (chain, own_key, [year, month, day]) = signed.map_err(CommandError::Usage)?;
    let [own_certificate_file, own_key_file] = pikepole_server::own_pair_files(&arguments.folder.data);
    disk.replace(&own_key_file, own_key.as_bytes()).map_err(failed(&own_key_file))?;
    disk.replace(&own_certificate_file, chain.as_bytes()).map_err(failed(&own_certificate_file))?;
    drop(lock);
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()).display().to_string();
    let (authority, server) = (absolute(&certificate_file), absolute(&own_certificate_file));
    write!(
        std::io::stdout(),
        "the authority's certificate is {authority}\n\
         the server's certificate is {server}, until {year}-{month:02}-{day:02}\n\
         clients accept the server when they trust the authority:\n  \
         pikepole sql       --certificate {authority}\n  \
         Debian, Ubuntu     sudo cp {authority} /usr/local/share/ca-certificates/pikepole.crt && sudo update-ca-certificates\n  \
         Fedora             sudo cp {authority} /etc/pki/ca-trust/source/anchors/pikepole.pem && sudo update-ca-trust\n  \
         Node               NODE_EXTRA_CA_CERTS={authority}\n  \
         Go, OpenSSL        SSL_CERT_FILE={authority}\n  \
         Java               keytool -importcert -noprompt -alias pikepole -file {authority} -keystore trust.p12 -storepass changeit\n"
    )
    .map_err(CommandError::io("standard output"))?;
    Ok(ExitCode::SUCCESS)
}

/// The user's own folder for it.
fn home() -> Result<PathBuf, CommandError> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = variable("XDG_DATA_HOME").or_else(|| Some(variable("HOME")?.join(".local/share")));
    let missing = || CommandError::Usage("neither XDG_DATA_HOME nor HOME is set: give --authority FOLDER".to_owned());
    Ok(data.ok_or_else(missing)?.join("pikepole"))
}

/// The authority in a folder, which is made when it is not there: its certificate's file, its certificate and its key.
fn authority(disk: &Disk, folder: &Path) -> Result<(PathBuf, String, String), CommandError> {
    let [certificate_file, key_file] = ["authority-certificate.pem", "authority-key.pem"].map(|name| folder.join(name));
    let failed = |path: &Path| CommandError::io(path.display().to_string());
    if !disk.exists(&certificate_file) || !disk.exists(&key_file) {
        let (certificate, key) = pikepole_server::make_authority().map_err(CommandError::Usage)?;
        disk.create_dir_all(folder).map_err(failed(folder))?;
        // A certificate without its key is made again, a key without its certificate was never used.
        disk.replace(&key_file, key.as_bytes()).map_err(failed(&key_file))?;
        disk.replace(&certificate_file, certificate.as_bytes()).map_err(failed(&certificate_file))?;
        return Ok((certificate_file, certificate, key));
    }
    let read = |path: &Path| std::fs::read_to_string(path).map_err(failed(path));
    let (certificate, key) = (read(&certificate_file)?, read(&key_file)?);
    Ok((certificate_file, certificate, key))
}
