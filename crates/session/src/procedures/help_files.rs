//! `sp_helpfilegroup`: the filegroups of the current database, or one with its files.

use crate::result_set::{NAME, ResultSet, string};
use pikepole_engine::PRIMARY_FILEGROUP;
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{SqlError, SqlType, Value};

/// All filegroups, or the one that is named.
///
/// # Errors
/// 15325 for a filegroup that is not there.
pub(super) fn filegroups(
    name: Option<&str>,
    context: &ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
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
    let mut set = ResultSet::new(&[("groupname", NAME), ("groupid", SqlType::SmallInt), ("filecount", SqlType::Int)]);
    for own in &shown {
        let id = i16::try_from(own.data_space_id).unwrap_or(i16::MAX);
        let files = i32::from(own.data_space_id == PRIMARY_FILEGROUP);
        set.push(vec![string(&own.name), Value::SmallInt(id), Value::Int(files)]);
    }
    set.send(output);
    Ok(())
}
