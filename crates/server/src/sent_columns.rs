//! The columns of result sets, as they are sent. A client that calls a statement again gets its columns in the bytes of the first time.
//!
//! ```text
//!   columns --(those of a result set that is kept?)-- yes --> its token, copied
//!                            | no
//!                            `--> set_column each, write the token --> kept in the place of the oldest
//! ```

use pikepole_session::{ColumnInfo, DecimalName, Provenance};
use pikepole_tds::{Column, ColumnFlags, ColumnsToken, MessageWriter};
use pikepole_types::SqlType;

/// Result sets that are kept: more than the SELECTs of TPC-C's transactions.
const KEPT_MAX: usize = 32;
/// Result sets of more columns are not kept.
const COLUMNS_MAX: usize = 32;

/// See the module.
#[derive(Default)]
pub(crate) struct SentColumns {
    kept: Vec<ResultSet>,
    /// Of a cursor, or of many columns.
    other: Vec<Column>,
    /// The one of `kept` whose rows are sent; `None`: `other`.
    current: Option<usize>,
    /// The one that leaves next.
    oldest: usize,
}

#[derive(Default)]
struct ResultSet {
    /// The address of the statement's columns, which tells most statements apart; `of` decides.
    address: usize,
    of: Vec<ColumnInfo>,
    text_bytes_max: u32,
    columns: Vec<Column>,
    token: ColumnsToken,
}

impl SentColumns {
    /// Columns of the rows that are sent.
    pub(crate) fn current(&self) -> &[Column] {
        self.current.map_or(&self.other, |at| &self.kept[at].columns)
    }

    /// The columns of rows that begin in another way.
    pub(crate) fn set(&mut self, columns: Vec<Column>) {
        (self.other, self.current) = (columns, None);
    }

    /// Begins a result set.
    pub(crate) fn begin(&mut self, columns: &[ColumnInfo], text_bytes_max: u32, writer: &mut MessageWriter) {
        if columns.len() > COLUMNS_MAX {
            self.current = None;
            set_columns(&mut self.other, columns, writer, text_bytes_max);
            return writer.columns(&self.other);
        }
        let address = columns.as_ptr().addr();
        let is_same =
            |set: &ResultSet| set.address == address && set.text_bytes_max == text_bytes_max && set.of == columns;
        if let Some(at) = self.kept.iter().position(is_same) {
            self.current = Some(at);
            return writer.columns_again(&self.kept[at].token);
        }
        if self.kept.len() < KEPT_MAX {
            self.oldest = self.kept.len();
            self.kept.push(ResultSet::default());
        }
        let set = &mut self.kept[self.oldest];
        (set.address, set.text_bytes_max) = (address, text_bytes_max);
        set.of.clear();
        set.of.extend_from_slice(columns);
        set_columns(&mut set.columns, columns, writer, text_bytes_max);
        writer.columns_kept(&set.columns, &mut set.token);
        self.current = Some(self.oldest);
        self.oldest = (self.oldest + 1) % KEPT_MAX;
    }
}

/// Makes columns these, as they are sent; their room is used again.
fn set_columns(sent: &mut Vec<Column>, columns: &[ColumnInfo], writer: &MessageWriter, text_bytes_max: u32) {
    sent.truncate(columns.len());
    for (place, column) in columns.iter().enumerate() {
        match sent.get_mut(place) {
            Some(sent) => set_column(sent, column, writer, text_bytes_max),
            None => sent.push(column_of(column, writer, text_bytes_max)),
        }
    }
}

/// A column as it is sent.
pub(crate) fn column_of(column: &ColumnInfo, writer: &MessageWriter, text_bytes_max: u32) -> Column {
    let mut sent = Column::new("", SqlType::Int, ColumnFlags::default(), writer.version());
    set_column(&mut sent, column, writer, text_bytes_max);
    sent
}

/// Makes a column this one, as it is sent; the name's room is used again.
fn set_column(sent: &mut Column, column: &ColumnInfo, writer: &MessageWriter, text_bytes_max: u32) {
    let (provenance, collation) = (column.provenance, column.collated.shown());
    let flags = ColumnFlags {
        nullable: column.nullable,
        case_sensitive: column.ty.is_string() && collation.is_case_sensitive(),
        identity: provenance == Provenance::Identity,
        computed: matches!(provenance, Provenance::Computed | Provenance::Expression),
        updateable: provenance == Provenance::Stored,
        rowversion: provenance == Provenance::RowVersion,
        hidden: column.origin.as_ref().is_some_and(|origin| origin.hidden),
        numeric: column.decimal_name == DecimalName::Numeric,
        ..ColumnFlags::default()
    };
    let ty = if column.ty == SqlType::Null { SqlType::Int } else { column.ty };
    let ty = writer.type_sent(ty, collation);
    sent.set(&column.name, ty, flags, writer.version());
    sent.set_collation(collation);
    sent.set_text_bytes_max(text_bytes_max);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pikepole_tds::TdsVersion;
    use pikepole_types::{Collated, Collation, Length};

    #[test]
    fn columns_carry_their_collations() {
        let sent = |ty, collated| {
            let column = ColumnInfo { collated, ..ColumnInfo::new("c", ty, true) };
            column_of(&column, &MessageWriter::new(TdsVersion::V7_4, 51), u32::MAX).info().collation().to_bytes()
        };
        let text = SqlType::NVarChar(Length::Limit(9));
        assert_eq!(sent(text, Collated::Default), Collation::default().wire_bytes());
        assert_eq!(sent(text, Collated::Implicit(Collation::BINARY)), [0x09, 0x04, 0x00, 0x02, 0x00]);
        let accents = Collation::by_name("Latin1_General_100_CI_AI").expect("a collation");
        assert_eq!(sent(SqlType::Char(3), Collated::Explicit(accents)), [0x09, 0x04, 0xF0, 0x20, 0x00]);
    }

    #[test]
    fn texts_in_utf8_are_sent_as_what_the_client_reads() {
        let utf8 = Collation::by_name("Latin1_General_100_CI_AS_SC_UTF8").expect("a collation");
        let sent = |ty, knows_utf8| {
            let mut writer = MessageWriter::new(TdsVersion::V7_4, 51);
            writer.set_knows_utf8(knows_utf8);
            let collated = Collated::Implicit(utf8);
            *column_of(&ColumnInfo { collated, ..ColumnInfo::new("c", ty, true) }, &writer, u32::MAX).sql_type()
        };
        let text = SqlType::VarChar(Length::Limit(8000));
        assert_eq!(sent(text, true), text);
        assert_eq!(sent(text, false), SqlType::NVarChar(Length::Max));
        assert_eq!(sent(SqlType::Char(4000), false), SqlType::NChar(4000));
        assert_eq!(sent(SqlType::Char(4001), false), SqlType::NVarChar(Length::Max));
    }

    /// The user type and the flags that a column is sent with.
    fn flags_of(column: &ColumnInfo) -> (u8, u16) {
        let mut writer = MessageWriter::new(TdsVersion::V7_4, 51);
        writer.columns(&[column_of(column, &writer, u32::MAX)]);
        writer.finish();
        // Behind the packet's header, the token and the count.
        let bytes = &writer.ready()[11..];
        (bytes[0], u16::from_le_bytes([bytes[4], bytes[5]]))
    }

    #[test]
    fn columns_tell_where_their_values_come_from() {
        let sent = |provenance| flags_of(&ColumnInfo { provenance, ..ColumnInfo::new("c", SqlType::Int, false) });
        assert_eq!(sent(Provenance::Stored), (0, 0x08));
        assert_eq!(sent(Provenance::Identity), (0, 0x10));
        assert_eq!(sent(Provenance::Computed), (0, 0x20));
        assert_eq!(sent(Provenance::Expression), (0, 0x20));
        assert_eq!(sent(Provenance::RowVersion), (80, 0));
        let collated = Collated::Implicit(Collation::BINARY);
        let text = ColumnInfo { collated, ..ColumnInfo::new("c", SqlType::VarChar(Length::Limit(1)), true) };
        assert_eq!(flags_of(&text), (0, 0x0B));
        assert_eq!(flags_of(&ColumnInfo { ty: SqlType::Int, ..text }), (0, 0x09));
    }

    fn columns(names: &[&str], ty: SqlType) -> Vec<ColumnInfo> {
        names.iter().map(|name| ColumnInfo::new(*name, ty, true)).collect()
    }

    /// Begins a result set as [`SentColumns`] does it, which is as it would be done alone.
    fn begin(sent: &mut SentColumns, of: &[ColumnInfo], text_bytes_max: u32) {
        let write = |sent: &mut SentColumns| {
            let mut writer = MessageWriter::new(TdsVersion::V7_4, 51);
            sent.begin(of, text_bytes_max, &mut writer);
            writer.finish();
            writer.ready().to_vec()
        };
        let mut alone = SentColumns::default();
        assert_eq!(write(sent), write(&mut alone));
        assert_eq!(sent.current(), alone.current());
        assert!(sent.kept.len() <= KEPT_MAX);
    }

    #[test]
    fn columns_that_are_known_are_sent_as_new_ones_are() {
        let mut sent = SentColumns::default();
        let mut of = columns(&["a", "b"], SqlType::Int);
        for _ in 0..3 {
            begin(&mut sent, &of, u32::MAX);
        }
        assert_eq!(sent.kept.len(), 1);
        // Other columns at the same place.
        of[1].ty = SqlType::Text;
        begin(&mut sent, &of, u32::MAX);
        begin(&mut sent, &of, 4096);
        of[0].name.push('x');
        begin(&mut sent, &of, 4096);
        begin(&mut sent, &of[..1], 4096);
        begin(&mut sent, &[], 4096);
        assert_eq!(sent.kept.len(), 6);
        let names: Vec<String> = (0..=COLUMNS_MAX).map(|number| format!("c{number}")).collect();
        let wide = columns(&names.iter().map(String::as_str).collect::<Vec<_>>(), SqlType::Int);
        begin(&mut sent, &wide, u32::MAX);
        begin(&mut sent, &wide[1..], u32::MAX);
        sent.set(Vec::new());
        assert_eq!(sent.current(), []);
        begin(&mut sent, &of, 4096);
    }

    #[test]
    fn more_result_sets_than_are_kept_come_in_turn() {
        let mut sent = SentColumns::default();
        let sets: Vec<Vec<ColumnInfo>> = (0..KEPT_MAX + 5)
            .map(|number| {
                columns(&["a", "b", "c"][..1 + number % 3], if number % 3 == 0 { SqlType::Int } else { SqlType::Xml })
            })
            .collect();
        for of in sets.iter().chain(&sets).chain(sets.iter().rev()) {
            begin(&mut sent, of, u32::MAX);
        }
        assert_eq!(sent.kept.len(), KEPT_MAX);
    }
}
