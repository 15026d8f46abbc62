//! Files and filegroups (`views::files`). What is used of further files is counted with the first.

use super::{Answer, Call, flag, int};
use crate::views::files::{DATA_FILE_ID, PAGE_BYTES};
use crate::views::log::LOG_FILE_ID;
use pikepole_engine::{FileState, Filegroup, PRIMARY_FILEGROUP};
use pikepole_types::Value;
use std::sync::Arc;

/// The file of the current database that a name means.
fn file_of(call: &Call<'_>) -> Option<FileState> {
    let name = call.text(0)?.to_lowercase();
    call.context.database().files().into_iter().find(|file| file.name.to_lowercase() == name)
}

/// FILE_ID and FILE_IDEX.
pub(super) fn file_id(call: &Call<'_>) -> Answer {
    Ok(file_of(call).map(|file| Value::Int(file.file_id)))
}

pub(super) fn file_id_small(call: &Call<'_>) -> Answer {
    Ok(file_of(call).and_then(|file| i16::try_from(file.file_id).ok()).map(Value::SmallInt))
}

pub(super) fn file_name(call: &Call<'_>) -> Answer {
    let Some(id) = call.number(0) else { return Ok(None) };
    let found = call.context.database().files().into_iter().find(|file| file.file_id == id);
    Ok(found.map(|file| Value::Str(file.name)))
}

pub(super) fn file_property(call: &Call<'_>) -> Answer {
    let (Some(file), Some(property)) = (file_of(call), call.text(1)) else { return Ok(None) };
    let database = call.context.database();
    match property.to_ascii_lowercase().as_str() {
        "isreadonly" => int(0),
        "isprimaryfile" => Ok(flag(file.file_id == DATA_FILE_ID)),
        "islogfile" => Ok(flag(file.is_log())),
        "spaceused" => {
            let pages = if file.file_id > LOG_FILE_ID {
                0
            } else if file.file_id == DATA_FILE_ID {
                database.store().used_pages()
            } else {
                database.log_stats().bytes_used / PAGE_BYTES
            };
            int(i32::try_from(pages).unwrap_or(i32::MAX))
        }
        _ => Ok(None),
    }
}

/// The filegroup of the current database that the first argument names.
fn filegroup_of(call: &Call<'_>) -> Option<Arc<Filegroup>> {
    let name = call.text(0)?;
    call.context.catalog().definitions().filegroup(name.trim_end_matches(' ')).cloned()
}

pub(super) fn filegroup_id(call: &Call<'_>) -> Answer {
    Ok(filegroup_of(call).map(|filegroup| Value::Int(filegroup.data_space_id)))
}

pub(super) fn filegroup_name(call: &Call<'_>) -> Answer {
    let Some(id) = call.number(0) else { return Ok(None) };
    Ok(call.context.catalog().definitions().filegroup_by_id(id).map(|filegroup| Value::Str(filegroup.name.clone())))
}

pub(super) fn filegroup_property(call: &Call<'_>) -> Answer {
    let (Some(filegroup), Some(property)) = (filegroup_of(call), call.text(1)) else { return Ok(None) };
    match property.to_ascii_lowercase().as_str() {
        "isreadonly" => int(0),
        "isuserdefinedfg" => Ok(flag(filegroup.data_space_id != PRIMARY_FILEGROUP)),
        "isdefault" => Ok(flag(filegroup.is_default)),
        _ => Ok(None),
    }
}

/// The numbers in a value of `%%physloc%%`: of a file, of a page in it and of a slot there.
pub(crate) struct StoredPlace {
    pub(crate) file: u16,
    /// Of the second half of all pages, it is negative: the system's own functions have no larger type for it.
    pub(crate) page: i32,
    pub(crate) slot: u16,
}

/// The place that a value names as a `binary(8)`: zeros are put behind shorter ones, numbers are of eight bytes. None: of
/// NULL.
pub(crate) fn row_place(value: &Value) -> Option<StoredPlace> {
    let mut bytes = [0; 8];
    match value {
        Value::Bin(given) => bytes.iter_mut().zip(given).for_each(|(byte, given)| *byte = *given),
        value => bytes = value.as_i64()?.to_be_bytes(),
    }
    let [a, b, c, d, e, f, g, h] = bytes;
    let (file, slot) = (u16::from_le_bytes([e, f]), u16::from_le_bytes([g, h]));
    Some(StoredPlace { file, page: i32::from_le_bytes([a, b, c, d]), slot })
}
