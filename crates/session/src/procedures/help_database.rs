//! `sp_helpdb`: the databases of the server, or one with its files.

use super::help_files;
use crate::host::SessionHost;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::views::databases::COMPATIBILITY_LEVEL;
use crate::views::{self, files};
use pikepole_engine::{DBO, Database, DatabaseInfo};
use pikepole_query::Output;
use pikepole_types::{SqlError, SqlType, Value, convert};

const CREATED: SqlType = text(11);
const BYTES_PER_MB: f64 = 1_048_576.0;

/// Every database, or the one that is named and its files.
///
/// # Errors
/// 15010 for a database that is not there.
pub(super) fn help(host: &SessionHost, name: Option<&str>, output: &mut dyn Output) -> Result<(), SqlError> {
    let mut shown = host.server.databases();
    if let Some(name) = name {
        shown.retain(|database| database.name.to_lowercase() == name.to_lowercase());
        if shown.is_empty() {
            return Err(SqlError::database_of_procedure_unknown(name));
        }
    }
    shown.sort_by_key(|database| database.name.to_lowercase());
    let mut set = ResultSet::new(&[
        ("name", NAME),
        ("db_size", text(13)),
        ("owner", NAME),
        ("dbid", SqlType::SmallInt),
        ("created", CREATED),
        ("status", text(600)),
        ("compatibility_level", SqlType::TinyInt),
    ]);
    for info in &shown {
        let open = host.server.database_by_id(info.id);
        let size = open.as_ref().map(|open| files::data_bytes(open) + open.log_stats().bytes);
        let size = size.map_or(Value::Null, |bytes| string(format!("{:>10.2} MB", bytes as f64 / BYTES_PER_MB)));
        let owner = open.as_ref().and_then(|open| owner(host, open)).map_or(Value::Null, string);
        // The day, with the month in letters.
        let created = convert(&views::datetime(info.created_us), &SqlType::DateTime, &CREATED, Some(0))?;
        set.push(vec![
            string(&info.name),
            size,
            owner,
            Value::SmallInt(info.id as i16),
            created,
            string(status(info)),
            Value::TinyInt(COMPATIBILITY_LEVEL as u8),
        ]);
    }
    set.send(output);
    let named = name.and_then(|_| shown.first()).and_then(|info| host.server.database_by_id(info.id));
    if let Some(database) = named {
        help_files::send(&database, &database.files(), output);
    }
    Ok(())
}

/// The login that owns a database.
fn owner(host: &SessionHost, database: &Database) -> Option<String> {
    let sid = database.current_catalog().users().get(DBO).map(|dbo| dbo.sid.clone())?;
    let master = host.server.database_by_id(1)?;
    let logins = master.current_catalog();
    logins.logins().iter().find(|login| login.sid == sid).map(|login| login.name.clone())
}

fn status(info: &DatabaseInfo) -> String {
    let options = &info.options;
    format!(
        "Status={}, Updateability=READ_WRITE, UserAccess={}, Recovery={}, Collation={}",
        info.state.name(),
        options.user_access.name(),
        options.recovery.name(),
        options.collation.name(),
    )
}
