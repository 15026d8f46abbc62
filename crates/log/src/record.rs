//! The table of records: an engine declares each of its log records once.
//!
//! ```text
//!   record_table! { enum ... }  -->  the enum          what code builds and matches
//!                                    encoded_len       exact, for the reservation
//!                                    encode / decode   no allocation; decoding borrows from the log
//!                                    Display           one line of a dump
//!                                    TABLE             kinds, names, fields and docs, for docs/understand/format.md
//! ```
//! The bytes of a record are `[kind u8][field]...`, each field as its [kind](crate::field) says. The log puts the
//! length in front.

use crate::field::RecordError;

/// What the log needs to know of a record that it appends. [`record_table!`](crate::record_table) implements it.
pub trait LogRecord {
    /// How many bytes [`encode`](Self::encode) writes: the kind byte and the fields. At least 1.
    fn encoded_len(&self) -> usize;
    /// Writes the record into `out`, which is exactly [`encoded_len`](Self::encoded_len) long.
    fn encode(&self, out: &mut [u8]);
}

/// One record of a table, described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecordDoc {
    /// The first byte of the record.
    pub kind: u8,
    /// Its name.
    pub name: &'static str,
    /// What it says.
    pub text: &'static str,
    /// Its fields in order.
    pub fields: &'static [FieldDoc],
}

/// One field of a record, described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldDoc {
    /// Its name.
    pub name: &'static str,
    /// The name of its kind, as [`field`](crate::field) lists them.
    pub kind: &'static str,
    /// What it means.
    pub text: &'static str,
}

/// A table of records as Markdown: one row a record.
pub fn docs_table(table: &[RecordDoc]) -> String {
    let mut text = String::from("| kind | record | fields | meaning |\n|---|---|---|---|\n");
    for record in table {
        let fields: Vec<String> = record.fields.iter().map(|field| format!("{} {}", field.name, field.kind)).collect();
        text.push_str(&format!(
            "| {} | {} | {} | {} |\n",
            record.kind,
            record.name,
            fields.join(", "),
            record.text.trim()
        ));
    }
    text
}

/// Checks that all fields were read. For [`record_table!`](crate::record_table).
#[doc(hidden)]
pub fn finish<T>(record: T, from: &crate::field::FieldReader<'_>) -> Result<T, RecordError> {
    match from.left() {
        0 => Ok(record),
        left => Err(RecordError::Trailing(left)),
    }
}

/// Declares an engine's records.
///
/// Each line gives the kind byte, the name and the fields with their [kinds](crate::field), which must be in scope.
/// A kind byte, once in a log on somebody's disk, keeps its meaning for ever. At least one field of the table must
/// borrow ([`Bytes`](crate::field::Bytes) or [`Rest`](crate::field::Rest)), or the lifetime would have no use.
///
/// ```
/// use pikepole_log::field::{Byte, Rest, Varint};
/// use pikepole_log::{LogRecord, record_table};
///
/// record_table! {
///     /// The records of a small engine.
///     pub enum Record<'a> {
///         /// A value was stored under a key.
///         1 = Put {
///             /// The writing transaction.
///             xid: Varint,
///             /// Bit 0: the first record of its transaction.
///             flags: Byte,
///             /// Key and value.
///             entry: Rest,
///         },
///         /// A transaction committed.
///         2 = Commit {
///             /// Which.
///             xid: Varint,
///         },
///     }
/// }
///
/// let record = Record::Put { xid: 300, flags: 1, entry: b"k=v" };
/// let mut bytes = vec![0; record.encoded_len()];
/// record.encode(&mut bytes);
/// assert_eq!(bytes, b"\x01\xAC\x02\x01k=v");
/// assert_eq!(Record::decode(&bytes), Ok(record));
/// assert_eq!(record.to_string(), "Put xid=300 flags=1 entry=0x6B3D76");
/// assert_eq!(record.fields()[0].1.to_string(), "300");
/// assert_eq!(Record::TABLE[1].name, "Commit");
/// ```
#[macro_export]
macro_rules! record_table {
    (
        $(#[$meta:meta])*
        $vis:vis enum $table:ident<$lt:lifetime> {
            $(
                $(#[doc = $doc:literal])*
                $kind:literal = $name:ident {
                    $( $(#[doc = $field_doc:literal])* $field:ident : $field_kind:ident ),* $(,)?
                }
            ),* $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        $vis enum $table<$lt> {
            $(
                $(#[doc = $doc])*
                $name {
                    $( $(#[doc = $field_doc])* $field: <$field_kind as $crate::field::FieldKind>::Value<$lt> ),*
                }
            ),*
        }

        impl<$lt> $table<$lt> {
            /// Every record with its fields, for dumps and documentation.
            $vis const TABLE: &'static [$crate::RecordDoc] = &[
                $( $crate::RecordDoc {
                    kind: $kind,
                    name: stringify!($name),
                    text: concat!($($doc),*),
                    fields: &[ $( $crate::FieldDoc {
                        name: stringify!($field),
                        kind: stringify!($field_kind),
                        text: concat!($($field_doc),*),
                    } ),* ],
                } ),*
            ];

            /// The kind byte.
            $vis fn kind(&self) -> u8 {
                match self {
                    $( Self::$name { .. } => $kind ),*
                }
            }

            /// The record's name.
            $vis fn name(&self) -> &'static str {
                match self {
                    $( Self::$name { .. } => stringify!($name) ),*
                }
            }

            /// Every field in order: its name, as in [`TABLE`](Self::TABLE), and its value.
            $vis fn fields(&self) -> ::std::vec::Vec<(&'static str, $crate::field::FieldValue<$lt>)> {
                match *self {
                    $(
                        Self::$name { $($field),* } => ::std::vec![
                            $( (stringify!($field), <$field_kind as $crate::field::FieldKind>::value($field)) ),*
                        ]
                    ),*
                }
            }

            /// Reads a record, kind byte first. What it holds is borrowed from `bytes`.
            ///
            /// # Errors
            /// When the bytes are not exactly one record of this table.
            $vis fn decode(bytes: &$lt [u8]) -> ::core::result::Result<Self, $crate::field::RecordError> {
                let mut from = $crate::field::FieldReader::new(bytes);
                match <$crate::field::Byte as $crate::field::FieldKind>::decode(&mut from)? {
                    $(
                        $kind => {
                            $( let $field = <$field_kind as $crate::field::FieldKind>::decode(&mut from)?; )*
                            $crate::finish(Self::$name { $($field),* }, &from)
                        }
                    )*
                    kind => Err($crate::field::RecordError::Kind(kind)),
                }
            }
        }

        impl $crate::LogRecord for $table<'_> {
            #[inline]
            fn encoded_len(&self) -> usize {
                match *self {
                    $(
                        Self::$name { $($field),* } => {
                            1 $( + <$field_kind as $crate::field::FieldKind>::encoded_len($field) )*
                        }
                    ),*
                }
            }

            #[inline]
            fn encode(&self, out: &mut [u8]) {
                let len = out.len();
                let mut out = $crate::field::FieldWriter::new(out);
                match *self {
                    $(
                        Self::$name { $($field),* } => {
                            out.put_byte($kind);
                            $( <$field_kind as $crate::field::FieldKind>::encode($field, &mut out); )*
                        }
                    ),*
                }
                assert_eq!(out.written(), len, "a record fills exactly the place that it asked for");
            }
        }

        impl ::core::fmt::Display for $table<'_> {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                match *self {
                    $(
                        Self::$name { $($field),* } => {
                            f.write_str(stringify!($name))?;
                            $(
                                f.write_str(concat!(" ", stringify!($field), "="))?;
                                <$field_kind as $crate::field::FieldKind>::show($field, f)?;
                            )*
                            Ok(())
                        }
                    ),*
                }
            }
        }
    };
}

#[cfg(all(test, not(loom)))]
#[path = "record_tests.rs"]
mod tests;
