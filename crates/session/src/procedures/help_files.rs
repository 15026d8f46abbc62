//! `sp_helpfilegroup` and `sp_helpfile`: the filegroups of the current database, or one with its files, and its files.

use super::Arguments;
use crate::result_set::{NAME, ResultSet, string, text};
use pikepole_engine::{Database, FileState, Growth};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{SqlError, SqlType, Value};

/// `sp_helpfile` or `sp_helpfilegroup`.
///
/// # Errors
/// 15325 for a name that is not there.
pub(super) fn help(
    procedure: &str,
    arguments: &Arguments<'_>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let name = arguments.text(0);
    match procedure {
        "sp_helpfile" => files(name.as_deref(), context, output),
        _ => filegroups(name.as_deref(), context, output),
    }
}

/// All filegroups, or the one that is named.
///
/// # Errors
/// 15325 for a filegroup that is not there.
fn filegroups(name: Option<&str>, context: &ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let catalog = context.catalog();
    let catalog = catalog.definitions();
    let mut shown: Vec<_> = catalog.filegroups().cloned().collect();
    if let Some(name) = name {
        shown.retain(|own| own.name.to_lowercase() == name.to_lowercase());
        if shown.is_empty() {
            return Err(SqlError::not_in_current_database("filegroup", name));
        }
    }
    shown.sort_by_key(|own| own.name.to_lowercase());
    let files = context.database().files();
    let mut set = ResultSet::new(&[("groupname", NAME), ("groupid", SqlType::SmallInt), ("filecount", SqlType::Int)]);
    for own in &shown {
        let id = i16::try_from(own.data_space_id).unwrap_or(i16::MAX);
        let files = files.iter().filter(|file| file.filegroup == own.data_space_id).count();
        let files = i32::try_from(files).unwrap_or(i32::MAX);
        set.push(vec![string(&own.name), Value::SmallInt(id), Value::Int(files)]);
    }
    set.send(output);
    let Some(group) = shown.first().filter(|_| name.is_some()) else { return Ok(()) };
    let mut set = ResultSet::new(&[
        ("file_in_group", NAME),
        ("fileid", SqlType::SmallInt),
        ("filename", text(260)),
        ("size", text(18)),
        ("maxsize", text(18)),
        ("growth", text(18)),
    ]);
    for file in files.iter().filter(|file| file.filegroup == group.data_space_id) {
        let [size, limit, growth] = sizes(file);
        set.push(vec![string(&file.name), number(file), string(path(context.database(), file)), size, limit, growth]);
    }
    set.send(output);
    Ok(())
}

/// All files, or the one that is named.
///
/// # Errors
/// 15325 for a file that is not there.
fn files(name: Option<&str>, context: &ExecutionContext, output: &mut dyn Output) -> Result<(), SqlError> {
    let mut files = context.database().files();
    if let Some(name) = name {
        files.retain(|file| file.name.to_lowercase() == name.to_lowercase());
        if files.is_empty() {
            return Err(SqlError::not_in_current_database("file", name));
        }
    }
    send(context.database(), &files, output);
    Ok(())
}

/// The result set of files.
pub(super) fn send(database: &Database, files: &[FileState], output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("name", NAME),
        ("fileid", SqlType::SmallInt),
        ("filename", text(260)),
        ("filegroup", NAME),
        ("size", text(18)),
        ("maxsize", text(18)),
        ("growth", text(18)),
        ("usage", text(9)),
    ]);
    let catalog = database.current_catalog();
    for file in files {
        let group = catalog.filegroup_by_id(file.filegroup).map_or(Value::Null, |group| string(&group.name));
        let usage = string(if file.is_log() { "log only" } else { "data only" });
        let [size, limit, growth] = sizes(file);
        set.push(vec![
            string(&file.name),
            number(file),
            string(path(database, file)),
            group,
            size,
            limit,
            growth,
            usage,
        ]);
    }
    set.send(output);
}

fn number(file: &FileState) -> Value {
    Value::SmallInt(i16::try_from(file.file_id).unwrap_or(i16::MAX))
}

fn path(database: &Database, file: &FileState) -> String {
    database.folder().join(if file.is_log() { "log" } else { "data" }).display().to_string()
}

/// Size, limit and step as texts.
fn sizes(file: &FileState) -> [Value; 3] {
    let kilobytes = |bytes: u64| string(format!("{} KB", bytes / 1024));
    let growth = match file.growth {
        Growth::Percent(percent) => string(format!("{percent}%")),
        Growth::Bytes(bytes) => kilobytes(bytes),
        Growth::Doubling => Value::Null,
    };
    [kilobytes(file.bytes), file.max_bytes.map_or_else(|| string("Unlimited"), kilobytes), growth]
}
