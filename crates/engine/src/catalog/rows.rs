//! The catalog's own rows: how stored objects lie in the system tree.
//!
//! ```text
//!   key   [ kind 1 | id 4 | chunk 4 ]      all big-endian; an id's sign bit is flipped so that bytes compare as numbers
//!   rest  kind 1: [ format 1 | JSON ...]   cut into chunks of CHUNK_BYTES, so that a long procedure fits; format 2: a table with
//!                                          a place for long values; format 3: one with keys as `format_of` says; format 4: one with
//!                                          a column that is computed when it is read; format 5: one with a period, or a history; format 6: a trigger
//!                                          of definitions; format 7: a partition function or scheme; format 8: a collection of schemas of xml; format 9: a
//!                                          table with masked columns; format 10: a security policy; format 11:
//!                                          properties of filegroups and files; format 12: of parameters; format 13: a filegroup,
//!                                          or a file; format 14: statistics; format 15: an in-memory table
//!         kind 2: [ high-water mark 8 ]    of a table's identity values; id 0: of the rowversion numbers
//!         kinds 3, 4: a principal of the server (in master only), of the database; as kind 1
//!         kind 5: a type that users made; as kind 1
//!         kind 6: [ where a sequence stands 33 ], its chunk is the generation of the sequence
//!         kinds 7, 8, 9: the extended properties of an object, a schema or the database (id 0), of a principal, of a type; as kind 1
//!         kind 10: a message that users added to the server (in master only); as kind 1
//!         kinds 11, 12: a filegroup, a file; as kind 1
//!         kind 13: the statistics of a table; as kind 1
//! ```

use super::definition::{Column, StoredObject, TableRecord};
use super::index::Index;
use super::sequence::Position;
use super::user_type::{UserType, UserTypeKind};
use pikepole_types::SqlType;

/// The catalog's tree in the store.
pub(crate) const CATALOG_OBJECT: u32 = pikepole_storage::OBJECT_FIRST;
/// The longest key of the catalog's tree, in bytes.
pub(crate) const CATALOG_KEY_BYTES: usize = 9;
/// The first number for trees and heaps of tables.
pub(crate) const STORAGE_FIRST: u32 = CATALOG_OBJECT + 16;

const CHUNK_BYTES: usize = 3_000;
const FORMAT: u8 = 1;
/// A table whose rows end in marks: who does not know of them must not read its rows.
const FORMAT_MARKED: u8 = 2;
/// A table that programs before it would misread: see [`format_of`]. Its rows may end in marks.
const FORMAT_KEYED: u8 = 3;

/// A table with a column that is computed when it is read: programs before it would read the NULL that rows have in its place.
const FORMAT_WHEN_READ: u8 = 4;

/// A table with a period for SYSTEM_TIME, or one that holds the former rows of another: programs before it would fill no period and
/// keep no history. What the formats below tell it may have too.
const FORMAT_TEMPORAL: u8 = 5;

/// A trigger of definitions: programs before it would let definitions pass that it watches.
const FORMAT_WATCHED: u8 = 6;

/// A partition function or scheme, which programs before it do not know.
const FORMAT_PARTITIONS: u8 = 7;

/// A collection of schemas of xml, which is a kind of type that programs before it do not know.
const FORMAT_COLLECTIONS: u8 = 8;

/// A table, or a table type, with masked columns: programs before it would show what is masked. What the formats of tables above tell it
/// may have too.
const FORMAT_MASKED: u8 = 9;

/// A security policy: programs before it would show the rows that it hides.
const FORMAT_POLICIES: u8 = 10;
/// Properties of filegroups and files.
const FORMAT_FILE_PROPERTIES: u8 = 11;
/// Properties of parameters.
const FORMAT_PARAMETER_PROPERTIES: u8 = 12;
/// A filegroup or a file, which programs before it do not know.
const FORMAT_FILEGROUPS: u8 = 13;
/// Statistics, which programs before it do not know.
const FORMAT_STATISTICS: u8 = 14;
/// An in-memory table: programs before it would look for its rows in pages. What the formats of tables above tell it may have too.
const FORMAT_IN_MEMORY: u8 = 15;
/// A durable in-memory table: programs before it would not find its rows.
const FORMAT_DURABLE_IN_MEMORY: u8 = 16;
/// The newest format that is read.
const FORMAT_NEWEST: u8 = FORMAT_DURABLE_IN_MEMORY;

/// What a catalog row is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum RowKind {
    Object = 1,
    Identity = 2,
    ServerPrincipal = 3,
    DatabasePrincipal = 4,
    Type = 5,
    Sequence = 6,
    Properties = 7,
    PrincipalProperties = 8,
    TypeProperties = 9,
    Message = 10,
    Filegroup = 11,
    File = 12,
    Statistics = 13,
}

pub(crate) fn row_key(kind: RowKind, id: i32, chunk: u32) -> [u8; CATALOG_KEY_BYTES] {
    let mut key = [0; CATALOG_KEY_BYTES];
    key[0] = kind as u8;
    key[1..5].copy_from_slice(&((id as u32) ^ (1 << 31)).to_be_bytes());
    key[5..].copy_from_slice(&chunk.to_be_bytes());
    key
}

fn parse_key(key: &[u8]) -> Option<(u8, i32, u32)> {
    let key: &[u8; CATALOG_KEY_BYTES] = key.try_into().ok()?;
    let [kind, a, b, c, d, e, f, g, h] = *key;
    let id = (u32::from_be_bytes([a, b, c, d]) ^ (1 << 31)) as i32;
    Some((kind, id, u32::from_be_bytes([e, f, g, h])))
}

/// Older programs must not open a table whose keys, entries or trees they would misread: columns with collations of their own, clustered
/// keys that repeat, filters that say more than IS NOT NULL, disabled indexes.
fn format_of(object: &StoredObject) -> u8 {
    let is_new = |index: &Index| (index.clustered && !index.unique) || !index.tests.is_empty() || index.disabled;
    let is_keyed = |table: &TableRecord| table.has_collations() || table.indexes.iter().any(is_new);
    match object {
        StoredObject::PartitionFunction(_) | StoredObject::PartitionScheme(_) => FORMAT_PARTITIONS,
        StoredObject::Filegroup(_) | StoredObject::File(_) => FORMAT_FILEGROUPS,
        StoredObject::Statistics(_) => FORMAT_STATISTICS,
        StoredObject::DefinitionTrigger(_) => FORMAT_WATCHED,
        StoredObject::SecurityPolicy(_) => FORMAT_POLICIES,
        StoredObject::Properties(own) if own.has_files() => FORMAT_FILE_PROPERTIES,
        StoredObject::Properties(own) if own.has_parameters() => FORMAT_PARAMETER_PROPERTIES,
        StoredObject::Type(of) if of.is_collection() => FORMAT_COLLECTIONS,
        StoredObject::Table(table) if table.is_logged_in_memory() => FORMAT_DURABLE_IN_MEMORY,
        StoredObject::Table(table) if table.is_in_memory() => FORMAT_IN_MEMORY,
        StoredObject::Type(of) if of.table().is_some_and(TableRecord::is_in_memory) => FORMAT_IN_MEMORY,
        StoredObject::Table(table) if table.has_masks() => FORMAT_MASKED,
        StoredObject::Type(of) if of.table().is_some_and(TableRecord::has_masks) => FORMAT_MASKED,
        StoredObject::Table(table) if table.is_temporal() => FORMAT_TEMPORAL,
        StoredObject::Table(table) if table.is_computed_when_read() => FORMAT_WHEN_READ,
        StoredObject::Table(table) if is_keyed(table) => FORMAT_KEYED,
        StoredObject::Type(of) if of.table().is_some_and(is_keyed) => FORMAT_KEYED,
        StoredObject::Table(table) if table.overflow.is_some() => FORMAT_MARKED,
        _ => FORMAT,
    }
}

/// The types that columns are stored by a second name of another: `text` as `varchar(max)` and the number of `text`. Programs to
/// which these are no types of their own read such tables too.
const STORED_BY_NAME: [SqlType; 3] = [SqlType::Text, SqlType::NText, SqlType::Image];

/// A table, or the shape of a table type, whose columns `by_name` changes.
fn with_columns(object: &mut StoredObject, by_name: fn(&mut Column)) {
    match object {
        StoredObject::Table(table) => table.columns.iter_mut().for_each(by_name),
        StoredObject::Type(UserType { kind: UserTypeKind::Table(table), .. }) => {
            table.columns.iter_mut().for_each(by_name);
        }
        _ => {}
    }
}

fn store_by_name(column: &mut Column) {
    // A user's name for such a type leaves no place for its number.
    if column.ty.is_text_or_image() && column.user_type.is_none() {
        column.user_type = Some(column.ty.system_type_id().into());
        column.ty = column.ty.without_text_or_image();
    }
}

fn read_by_name(column: &mut Column) {
    let named = STORED_BY_NAME.into_iter().find(|ty| column.user_type == Some(ty.system_type_id().into()));
    if let Some(ty) = named.filter(|ty| ty.without_text_or_image() == column.ty) {
        (column.ty, column.user_type) = (ty, None);
    }
}

/// The chunks of an object.
pub(crate) fn encode(object: &StoredObject) -> Vec<Vec<u8>> {
    let mut stored = object.clone();
    with_columns(&mut stored, store_by_name);
    let json = serde_json::to_vec(&stored).expect("definitions are plain data");
    let mut bytes = Vec::with_capacity(json.len() + 1);
    bytes.push(format_of(object));
    bytes.extend_from_slice(&json);
    bytes.chunks(CHUNK_BYTES).map(<[u8]>::to_vec).collect()
}

/// Puts rows, given in key order, together to objects and high-water marks.
#[derive(Default)]
pub(crate) struct Decoder {
    pub objects: Vec<StoredObject>,
    marks: Vec<(i32, i64)>,
    /// Sequences' ids, generations and positions.
    pub positions: Vec<(i32, u32, Position)>,
    pub damage: Vec<String>,
    current: Option<((u8, i32), u32, Vec<u8>)>,
}

impl Decoder {
    pub fn row(&mut self, key: &[u8], rest: &[u8]) {
        let Some((kind, id, chunk)) = parse_key(key) else {
            self.damage.push(format!("a catalog key of {} bytes", key.len()));
            return;
        };
        if kind == RowKind::Identity as u8 {
            match rest.try_into() {
                Ok(bytes) => self.marks.push((id, i64::from_le_bytes(bytes))),
                Err(_) => self.damage.push(format!("the high-water mark of object {id}")),
            }
            return;
        }
        if kind == RowKind::Sequence as u8 {
            match Position::from_bytes(rest) {
                Some(position) => self.positions.push((id, chunk, position)),
                None => self.damage.push(format!("the position of sequence {id}")),
            }
            return;
        }
        match &mut self.current {
            Some((of, next, bytes)) if *of == (kind, id) && *next == chunk => {
                bytes.extend_from_slice(rest);
                *next += 1;
            }
            _ => {
                self.finish_object();
                if chunk == 0 {
                    self.current = Some(((kind, id), 1, rest.to_vec()));
                } else {
                    self.damage.push(format!("object {id} lacks its part {}", chunk - 1));
                }
            }
        }
    }

    fn finish_object(&mut self) {
        let Some(((_, id), _, bytes)) = self.current.take() else {
            return;
        };
        match bytes.split_first() {
            Some((&(FORMAT..=FORMAT_NEWEST), json)) => match serde_json::from_slice(json) {
                Ok(mut object) => {
                    with_columns(&mut object, read_by_name);
                    self.objects.push(object);
                }
                Err(error) => self.damage.push(format!("object {id}: {error}")),
            },
            Some((format, _)) => self.damage.push(format!("object {id} has the unknown format {format}")),
            None => self.damage.push(format!("object {id} is empty")),
        }
    }

    /// The high-water mark of the values of an object.
    pub fn mark(&self, id: i32) -> Option<i64> {
        self.marks.iter().find(|(of, _)| *of == id).map(|(_, mark)| *mark)
    }

    pub fn finish(mut self) -> Self {
        self.finish_object();
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::definition::Module;
    use super::*;
    use pikepole_types::Collation;

    fn module(id: i32, text: String) -> StoredObject {
        StoredObject::Procedure(Module {
            object_id: id,
            schema_id: 1,
            schema: "dbo".into(),
            name: format!("p{id}"),
            text,
            created_us: 1,
            modified_us: 2,
            execute_as: None,
            ansi_nulls: true,
            quoted_identifier: true,
            columns: Vec::new(),
        })
    }

    #[test]
    fn long_objects_are_cut_and_put_together() {
        let objects = [module(7, "x".repeat(10_000)), module(8, "y".into())];
        let mut decoder = Decoder::default();
        for object in &objects {
            for (chunk, bytes) in encode(object).iter().enumerate() {
                decoder.row(&row_key(RowKind::Object, object.stored_id(), chunk as u32), bytes);
            }
        }
        decoder.row(&row_key(RowKind::Identity, 7, 0), &41i64.to_le_bytes());
        let decoder = decoder.finish();
        assert_eq!(decoder.objects, objects);
        assert_eq!((decoder.mark(7), decoder.mark(8)), (Some(41), None));
        assert!(decoder.damage.is_empty());
    }

    #[test]
    fn a_text_is_stored_as_the_varchar_that_older_programs_know() {
        let column =
            r#"{"name":"w","ty":{"VarChar":"Max"},"nullable":true,"default":null,"identity":null,"user_type":35}"#;
        let table = format!(
            r#"{{"Table":{{"object_id":3,"schema_id":1,"schema":"dbo","name":"t","columns":[{column}],"indexes":[],
            "heap":null,"created_us":1,"modified_us":2}}}}"#
        );
        let read = |bytes: &[u8]| {
            let mut decoder = Decoder::default();
            decoder.row(&row_key(RowKind::Object, 3, 0), bytes);
            decoder.finish().objects.remove(0)
        };
        let old = read(&[&[FORMAT], table.as_bytes()].concat());
        let StoredObject::Table(record) = &old else { panic!("no table") };
        assert_eq!((record.columns[0].ty, record.columns[0].user_type), (SqlType::Text, None));
        let new = encode(&old).concat();
        assert!(String::from_utf8_lossy(&new).contains(r#""ty":{"VarChar":"Max"}"#));
        assert_eq!(read(&new), old);
    }

    #[test]
    fn a_table_with_collations_is_of_a_format_of_its_own() {
        let table = |collation: &str| {
            let column = format!(
                r#"{{"name":"w","ty":{{"Char":9}},"nullable":true,"default":null,"identity":null{collation}}}"#
            );
            let table = format!(
                r#"{{"Table":{{"object_id":3,"schema_id":1,"schema":"dbo","name":"t","columns":[{column}],"indexes":[],
                "heap":null,"created_us":1,"modified_us":2}}}}"#
            );
            serde_json::from_str::<StoredObject>(&table).expect("a table")
        };
        let (old, new) = (table(""), table(r#","collation":"Latin1_General_BIN2""#));
        assert_eq!((encode(&old)[0][0], encode(&new)[0][0]), (FORMAT, FORMAT_KEYED));
        let clock = table(r#","computed":{"text":"getdate()","persisted":false,"when_read":true}"#);
        let period = |of: &str| {
            table(&format!(
                r#","generated":"{of}"}},{{"name":"e","ty":{{"DateTime2":7}},"nullable":false,"default":null,"identity":null,"generated":"RowEnd""#
            ))
        };
        assert_eq!((encode(&period("RowStart"))[0][0], encode(&period("RowEnd"))[0][0]), (FORMAT_TEMPORAL, FORMAT));
        let stored = table(r#","computed":{"text":"1","persisted":false}"#);
        assert_eq!((encode(&clock)[0][0], encode(&stored)[0][0]), (FORMAT_WHEN_READ, FORMAT));
        let masked = table(r#","mask":"email()""#);
        assert_eq!(encode(&masked)[0][0], FORMAT_MASKED);
        for (object, collation) in [(old, Collation::default()), (new, Collation::BINARY)] {
            let mut decoder = Decoder::default();
            decoder.row(&row_key(RowKind::Object, 3, 0), &encode(&object)[0]);
            let decoder = decoder.finish();
            assert_eq!(decoder.objects, [object]);
            let [StoredObject::Table(table)] = decoder.objects.as_slice() else { panic!("no table") };
            assert_eq!(table.columns[0].collation, collation);
        }
        let mut decoder = Decoder::default();
        let known = encode(&table(r#","collation":"Latin1_General_BIN2""#)).concat();
        let unknown = String::from_utf8(known).expect("a text").replace("Latin1_General_BIN2", "Martian_CI_AS");
        decoder.row(&row_key(RowKind::Object, 3, 0), unknown.as_bytes());
        assert_eq!(decoder.finish().damage.len(), 1, "a collation that is not known is damage, and no other one");
    }

    #[test]
    fn an_in_memory_table_is_of_a_format_of_its_own() {
        let table = |memory: &str, hash: &str| {
            let index = format!(
                r#"{{"index_id":2,"name":"pk","constraint_id":4,"unique":true,"primary_key":true,"constraint":true,"clustered":false,
                "columns":[],{hash}"storage":{{"object":0,"root":null,"key_bytes_max":0}}}}"#
            );
            let table = format!(
                r#"{{"Table":{{"object_id":3,"schema_id":1,"schema":"dbo","name":"t","columns":[],"indexes":[{index}],{memory}
                "heap":null,"created_us":1,"modified_us":2}}}}"#
            );
            serde_json::from_str::<StoredObject>(&table).expect("a table")
        };
        let decoded = |bytes: &[u8]| {
            let mut decoder = Decoder::default();
            decoder.row(&row_key(RowKind::Object, 3, 0), bytes);
            decoder.finish()
        };
        let disk = encode(&table("", "")).concat();
        let text = String::from_utf8_lossy(&disk);
        assert!(disk[0] == FORMAT && !text.contains("memory") && !text.contains("hash"));
        let written = table(r#""memory":{"durability":"SchemaOnly"},"#, r#""hash":{"bucket_count":1024},"#);
        let mut bytes = encode(&written).concat();
        assert_eq!(bytes[0], FORMAT_IN_MEMORY);
        let read = decoded(&bytes);
        assert_eq!((read.objects.as_slice(), read.damage.len()), (&[written][..], 0));
        let [StoredObject::Table(record)] = read.objects.as_slice() else { panic!("no table") };
        assert!(record.is_in_memory());
        assert_eq!(record.indexes[0].hash.map(|hash| hash.bucket_count), Some(1_024));
        // A program that knows fewer formats refuses it as this one refuses the next.
        bytes[0] = FORMAT_NEWEST + 1;
        let refused = decoded(&bytes);
        assert!(refused.objects.is_empty());
        assert_eq!(refused.damage, [format!("object 3 has the unknown format {}", FORMAT_NEWEST + 1)]);
    }

    #[test]
    fn damage_is_reported_and_the_rest_is_read() {
        let mut decoder = Decoder::default();
        decoder.row(b"short", b"");
        let whole = encode(&module(9, "x".repeat(5_000)));
        decoder.row(&row_key(RowKind::Object, 9, 1), &whole[1]);
        decoder.row(&row_key(RowKind::Object, 10, 0), b"\x01{not json");
        decoder.row(&row_key(RowKind::Object, 11, 0), &encode(&module(11, "z".into()))[0]);
        let decoder = decoder.finish();
        assert_eq!(decoder.objects.len(), 1);
        assert_eq!(decoder.damage.len(), 3);
    }

    #[test]
    fn keys_compare_as_ids() {
        assert!(row_key(RowKind::Object, -1, 0) < row_key(RowKind::Object, 1, 0));
        assert!(row_key(RowKind::Object, 1, 9) < row_key(RowKind::Object, 2, 0));
    }
}
