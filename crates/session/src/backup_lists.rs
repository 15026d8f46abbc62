//! What RESTORE HEADERONLY, FILELISTONLY and LABELONLY show of a file of backups, with the columns of SQL Server 2022, into tables of which
//! scripts put them. What a backup does not say of itself is NULL.

use crate::backups::guid;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::views::datetime;
use pikepole_engine::{BackupKind, BackupSetRow, MediaRow, RecoveryModel};
use pikepole_query::Output;
use pikepole_types::{Collation, Decimal, Length, SqlType, Value};

/// Log sequence numbers, and sizes in bytes.
const LSN: SqlType = SqlType::Decimal { precision: 25, scale: 0 };
const SIZE: SqlType = SqlType::Decimal { precision: 20, scale: 0 };
const GUID: SqlType = SqlType::UniqueIdentifier;

type Columns = &'static [(&'static str, SqlType)];

const HEADER: Columns = &[
    ("BackupName", NAME),
    ("BackupDescription", text(255)),
    ("BackupType", SqlType::SmallInt),
    ("ExpirationDate", SqlType::DateTime),
    ("Compressed", SqlType::TinyInt),
    ("Position", SqlType::SmallInt),
    ("DeviceType", SqlType::TinyInt),
    ("UserName", NAME),
    ("ServerName", NAME),
    ("DatabaseName", NAME),
    ("DatabaseVersion", SqlType::Int),
    ("DatabaseCreationDate", SqlType::DateTime),
    ("BackupSize", SIZE),
    ("FirstLSN", LSN),
    ("LastLSN", LSN),
    ("CheckpointLSN", LSN),
    ("DatabaseBackupLSN", LSN),
    ("BackupStartDate", SqlType::DateTime),
    ("BackupFinishDate", SqlType::DateTime),
    ("SortOrder", SqlType::SmallInt),
    ("CodePage", SqlType::SmallInt),
    ("UnicodeLocaleId", SqlType::Int),
    ("UnicodeComparisonStyle", SqlType::Int),
    ("CompatibilityLevel", SqlType::TinyInt),
    ("SoftwareVendorId", SqlType::Int),
    ("SoftwareVersionMajor", SqlType::Int),
    ("SoftwareVersionMinor", SqlType::Int),
    ("SoftwareVersionBuild", SqlType::Int),
    ("MachineName", NAME),
    ("Flags", SqlType::Int),
    ("BindingID", GUID),
    ("RecoveryForkID", GUID),
    ("Collation", NAME),
    ("FamilyGUID", GUID),
    ("HasBulkLoggedData", SqlType::Bit),
    ("IsSnapshot", SqlType::Bit),
    ("IsReadOnly", SqlType::Bit),
    ("IsSingleUser", SqlType::Bit),
    ("HasBackupChecksums", SqlType::Bit),
    ("IsDamaged", SqlType::Bit),
    ("BeginsLogChain", SqlType::Bit),
    ("HasIncompleteMetaData", SqlType::Bit),
    ("IsForceOffline", SqlType::Bit),
    ("IsCopyOnly", SqlType::Bit),
    ("FirstRecoveryForkID", GUID),
    ("ForkPointLSN", LSN),
    ("RecoveryModel", text(60)),
    ("DifferentialBaseLSN", LSN),
    ("DifferentialBaseGUID", GUID),
    ("BackupTypeDescription", text(60)),
    ("BackupSetGUID", GUID),
    ("CompressedBackupSize", SqlType::BigInt),
    ("Containment", SqlType::TinyInt),
    ("KeyAlgorithm", text(32)),
    ("EncryptorThumbprint", SqlType::VarBinary(Length::Limit(20))),
    ("EncryptorType", text(32)),
    ("LastValidRestoreTime", SqlType::DateTime),
    ("TimeZone", SqlType::TinyInt),
    ("CompressionAlgorithm", text(32)),
];

const FILE: Columns = &[
    ("LogicalName", NAME),
    ("PhysicalName", text(260)),
    ("Type", SqlType::Char(1)),
    ("FileGroupName", NAME),
    ("Size", SIZE),
    ("MaxSize", SIZE),
    ("FileId", SqlType::BigInt),
    ("CreateLSN", LSN),
    ("DropLSN", LSN),
    ("UniqueId", GUID),
    ("ReadOnlyLSN", LSN),
    ("ReadWriteLSN", LSN),
    ("BackupSizeInBytes", SqlType::BigInt),
    ("SourceBlockSize", SqlType::Int),
    ("FileGroupId", SqlType::Int),
    ("LogGroupGUID", GUID),
    ("DifferentialBaseLSN", LSN),
    ("DifferentialBaseGUID", GUID),
    ("IsReadOnly", SqlType::Bit),
    ("IsPresent", SqlType::Bit),
    ("TDEThumbprint", SqlType::VarBinary(Length::Limit(32))),
    ("SnapshotUrl", text(360)),
];

const LABEL: Columns = &[
    ("MediaName", NAME),
    ("MediaSetId", GUID),
    ("FamilyCount", SqlType::Int),
    ("FamilySequenceNumber", SqlType::Int),
    ("MediaFamilyId", GUID),
    ("MediaSequenceNumber", SqlType::Int),
    ("MediaLabelPresent", SqlType::TinyInt),
    ("MediaDescription", text(255)),
    ("SoftwareName", NAME),
    ("SoftwareVendorId", SqlType::Int),
    ("MediaDate", SqlType::DateTime),
    ("Mirror_Count", SqlType::Int),
    ("IsCompressed", SqlType::Bit),
];

/// A row of these columns: what is known of them, the rest NULL.
fn row(columns: Columns, known: Vec<(&str, Value)>) -> Vec<Value> {
    let mut row = vec![Value::Null; columns.len()];
    for (name, value) in known {
        let place = columns.iter().position(|(column, _)| *column == name);
        row[place.unwrap_or_else(|| panic!("a list of backups has no column `{name}`"))] = value;
    }
    row
}

fn lsn(lsn: u64) -> Value {
    Decimal::new(i128::from(lsn), 25, 0).map_or(Value::Null, Value::Decimal)
}

fn size(bytes: u64) -> Value {
    Decimal::new(i128::from(bytes), 20, 0).map_or(Value::Null, Value::Decimal)
}

fn big(number: u64) -> Value {
    i64::try_from(number).map_or(Value::Null, Value::BigInt)
}

/// HEADERONLY: the sets of a file.
pub(crate) fn headers<'a>(sets: impl Iterator<Item = &'a BackupSetRow>, output: &mut dyn Output) {
    let mut set = ResultSet::new(HEADER);
    sets.for_each(|shown| set.push(header(shown)));
    set.send(output);
}

fn header(set: &BackupSetRow) -> Vec<Value> {
    let (kind, description) = match set.kind {
        BackupKind::Database => (1, "Database"),
        BackupKind::Log => (2, "Transaction Log"),
    };
    let recovery = match set.recovery {
        RecoveryModel::BulkLogged => "BULK-LOGGED",
        model => model.name(),
    };
    let or_null = |text: &str| if text.is_empty() { Value::Null } else { string(text) };
    let off = || Value::Bit(false);
    let known = vec![
        ("BackupName", or_null(&set.name)),
        ("BackupDescription", or_null(&set.description)),
        ("BackupType", Value::SmallInt(kind)),
        ("Compressed", Value::TinyInt(u8::from(set.compressed))),
        ("Position", Value::SmallInt(set.position as i16)),
        ("DeviceType", Value::TinyInt(2)),
        ("DatabaseName", string(&set.database)),
        ("DatabaseCreationDate", datetime(set.database_created_us)),
        ("BackupSize", size(set.plain_bytes)),
        ("FirstLSN", lsn(set.first_lsn)),
        ("LastLSN", lsn(set.last_lsn)),
        ("CheckpointLSN", lsn(set.checkpoint_lsn)),
        ("DatabaseBackupLSN", lsn(set.database_backup_lsn)),
        ("BackupStartDate", datetime(set.started_us)),
        ("BackupFinishDate", datetime(set.finished_us)),
        ("UnicodeLocaleId", Value::Int(Collation::default().lcid())),
        ("UnicodeComparisonStyle", Value::Int(Collation::default().comparison_style())),
        ("RecoveryForkID", Value::Guid(guid(set.log_id))),
        ("FamilyGUID", Value::Guid(guid(set.family))),
        ("HasBulkLoggedData", Value::Bit(set.bulk_logged)),
        ("IsSnapshot", off()),
        ("IsReadOnly", off()),
        ("IsSingleUser", off()),
        ("HasBackupChecksums", Value::Bit(true)),
        ("IsDamaged", Value::Bit(set.damaged)),
        ("HasIncompleteMetaData", off()),
        ("IsForceOffline", off()),
        ("IsCopyOnly", Value::Bit(set.copy_only)),
        ("RecoveryModel", string(recovery)),
        ("BackupTypeDescription", string(description)),
        ("BackupSetGUID", Value::Guid(guid(set.set_id))),
        ("CompressedBackupSize", big(set.bytes)),
        ("Containment", Value::TinyInt(0)),
    ];
    row(HEADER, known)
}

/// The logical names of the pages and the log of a database that was backed up.
pub(crate) fn logical_names(set: &BackupSetRow) -> [String; 2] {
    let name = |place: usize| set.files.get(place).cloned().unwrap_or_default();
    [name(0), name(1)]
}

/// FILELISTONLY: the files of pages and the log.
pub(crate) fn files(set: &BackupSetRow, output: &mut dyn Output) {
    /// Bytes of a page, and of the blocks that the disk is written in.
    const PAGE: u64 = 8_192;
    const BLOCK: i32 = 4_096;
    let [data, log] = logical_names(set);
    let pages = u64::from(set.file_pages) * PAGE;
    let both = |name: String, path: &str, kind: &str, bytes: u64, id: i64| {
        vec![
            ("LogicalName", string(name)),
            ("PhysicalName", string(path)),
            ("Type", string(kind)),
            ("Size", size(bytes)),
            ("FileId", Value::BigInt(id)),
            ("BackupSizeInBytes", big(bytes)),
            ("SourceBlockSize", Value::Int(BLOCK)),
            ("FileGroupId", Value::Int(i32::from(kind == "D"))),
            ("IsReadOnly", Value::Bit(false)),
            ("IsPresent", Value::Bit(true)),
        ]
    };
    let mut of_pages = both(data, "data/pages", "D", pages, 1);
    of_pages.push(("FileGroupName", string("PRIMARY")));
    let mut list = ResultSet::new(FILE);
    list.push(row(FILE, of_pages));
    list.push(row(FILE, both(log, "log", "L", set.log_bytes, 2)));
    list.send(output);
}

/// LABELONLY: the one file of the media.
pub(crate) fn label(media: &MediaRow, output: &mut dyn Output) {
    let known = vec![
        ("MediaSetId", Value::Guid(guid(media.media_id))),
        ("FamilyCount", Value::Int(1)),
        ("FamilySequenceNumber", Value::Int(1)),
        ("MediaSequenceNumber", Value::Int(1)),
        ("MediaLabelPresent", Value::TinyInt(0)),
        ("SoftwareName", string("Pikepole")),
        ("Mirror_Count", Value::Int(1)),
        ("IsCompressed", Value::Bit(false)),
    ];
    let mut set = ResultSet::new(LABEL);
    set.push(row(LABEL, known));
    set.send(output);
}
