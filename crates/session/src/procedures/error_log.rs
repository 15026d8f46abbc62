//! `sp_readerrorlog`: the lines of the server's log.

use crate::error_log::{self, Entry, FILES_KEPT};
use crate::result_set::{ResultSet, string, text};
use crate::unsupported;
use pikepole_engine::{Permission, Securable};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{Length, SqlError, SqlType, Value, convert};

/// The lines of a file, those that hold both texts if they are given. `wanted`: the file's number, the kind of log, two texts.
pub(super) async fn read(
    wanted: [Option<String>; 4],
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let token = context.token();
    if !token.is_sysadmin() && !token.has(Permission::ViewServerState, Securable::Server) {
        return Err(SqlError::server_permission_denied(Permission::ViewServerState.name()));
    }
    let [number, kind, first, second] = wanted;
    let number = number.map_or(Some(0), |number| number.parse::<u32>().ok());
    let number = number.filter(|number| *number < FILES_KEPT);
    let number = number.ok_or_else(|| SqlError::new(22004, 16, 1, "There is no error log of this number."))?;
    if kind.is_some_and(|kind| kind != "1") {
        return Err(unsupported("The log of SQL Server Agent"));
    }
    let folder = context.server().folder().to_path_buf();
    // A server without a network writes none.
    let entries = pikepole_scheduler::run_blocking(move || error_log::read(&folder, number)).await.unwrap_or_default();
    let mut set = ResultSet::new(&[("LogDate", SqlType::DateTime), ("ProcessInfo", text(50)), ("Text", text(4000))]);
    let sought: Vec<String> = [first, second].into_iter().flatten().map(|text| text.to_lowercase()).collect();
    for entry in entries {
        let lower = entry.text.to_lowercase();
        if sought.iter().all(|sought| lower.contains(sought)) {
            set.push(row(entry));
        }
    }
    set.send(output);
    Ok(())
}

fn row(entry: Entry) -> Vec<Value> {
    let ty = SqlType::VarChar(Length::Limit(30));
    let date = convert(&Value::Str(entry.time), &ty, &SqlType::DateTime, None).unwrap_or(Value::Null);
    vec![date, string(entry.process), string(entry.text)]
}
