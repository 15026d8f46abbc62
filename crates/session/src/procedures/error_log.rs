//! `sp_readerrorlog` and `sp_enumerrorlogs`: the lines of the server's log, and its files.

use super::Arguments;
use crate::error_log::{self, Entry, FILES_KEPT};
use crate::result_set::{ResultSet, string, text};
use crate::unsupported;
use pikepole_engine::{Permission, Securable};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{Length, SqlError, SqlType, Value, convert};

fn check_permission(context: &ExecutionContext) -> Result<(), SqlError> {
    let token = context.token();
    match token.is_sysadmin() || token.has(Permission::ViewServerState, Securable::Server) {
        true => Ok(()),
        false => Err(SqlError::server_permission_denied(Permission::ViewServerState.name())),
    }
}

/// The files there are: their numbers, when they were last written, and their bytes.
pub(super) async fn enumerate(context: &mut ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    check_permission(context)?;
    let folder = context.server().folder().to_path_buf();
    let files = pikepole_scheduler::run_blocking(move || error_log::files(&folder)).await;
    let mut set =
        ResultSet::new(&[("Archive #", SqlType::Int), ("Date", text(25)), ("Log File Size (Byte)", SqlType::Int)]);
    for file in files {
        let bytes = i32::try_from(file.bytes).unwrap_or(i32::MAX);
        set.push(vec![Value::Int(file.number as i32), string(file.written), Value::Int(bytes)]);
    }
    set.send(output);
    Ok(())
}

/// The lines of a file, those that hold both texts if they are given. The arguments: the file's number, the kind of log, two texts.
pub(super) async fn read(
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    check_permission(context)?;
    let [number, kind, first, second] = std::array::from_fn(|at| arguments.text(at));
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
