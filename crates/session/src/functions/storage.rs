//! Files and filegroups. A database has two files: its pages and its log (`views::files`).

use super::{Answer, Call, flag, int, string};
use crate::views::files::{DATA_FILE_ID, PAGE_BYTES};
use crate::views::log::LOG_FILE_ID;
use pikepole_engine::{Filegroup, PRIMARY_FILEGROUP};
use pikepole_types::Value;
use std::sync::Arc;

/// The file of the current database that a name means.
fn file_id_of(call: &Call<'_>) -> Option<i32> {
    let (name, database) = (call.text(0)?.to_lowercase(), call.context.database().name().to_lowercase());
    if name == database { Some(DATA_FILE_ID) } else { (name.strip_suffix("_log")? == database).then_some(LOG_FILE_ID) }
}

/// FILE_ID and FILE_IDEX.
pub(super) fn file_id(call: &Call<'_>) -> Answer {
    Ok(file_id_of(call).map(Value::Int))
}

pub(super) fn file_id_small(call: &Call<'_>) -> Answer {
    Ok(file_id_of(call).and_then(|id| i16::try_from(id).ok()).map(Value::SmallInt))
}

pub(super) fn file_name(call: &Call<'_>) -> Answer {
    let name = call.context.database().name();
    match call.number(0) {
        Some(DATA_FILE_ID) => string(name),
        Some(LOG_FILE_ID) => string(format!("{name}_log")),
        _ => Ok(None),
    }
}

pub(super) fn file_property(call: &Call<'_>) -> Answer {
    let (Some(file), Some(property)) = (file_id_of(call), call.text(1)) else { return Ok(None) };
    let database = call.context.database();
    match property.to_ascii_lowercase().as_str() {
        "isreadonly" => int(0),
        "isprimaryfile" => Ok(flag(file == DATA_FILE_ID)),
        "islogfile" => Ok(flag(file == LOG_FILE_ID)),
        "spaceused" => {
            let pages = if file == DATA_FILE_ID {
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
