//! Indexes of xml: definitions that are kept, shown and dropped like others, as columnstores are.
//!
//! An index of xml promises that methods find nodes sooner, and nothing about what they find. Methods read the documents
//! themselves here, and what is checked is what SQL Server checks.

use super::Definer;
use super::columnstore::check_name_is_free;
use super::table_definition;
use crate::access::Table;
use crate::expression::Fault;
use pikepole_engine::{Index, SecondaryXmlIndex, StorageOptions, TableRecord, XmlIndex, XmlIndexPurpose};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// A primary index of xml keeps the columns of the table's key, and has room for so many and one less.
const KEY_COLUMNS_MAX: usize = 16;

impl Definer<'_> {
    /// CREATE [PRIMARY] XML INDEX.
    ///
    /// # Errors
    /// 1088 for a table that is not there; 1911, 6330, 6334 and 6342 for what is no column of xml; 6331 and 6332 for a primary index
    /// that is there or lacks its key; 6343 and 6344 for a secondary one without its primary one; 1913 for a name that is taken.
    pub(super) async fn create_xml_index(&mut self, create: &tree::CreateIndex) -> Result<(), Fault> {
        let missing = || Box::new(SqlError::object_not_found(create.table.dotted()));
        let name = create.name.text.as_str();
        if self.context.catalog().view(&create.table)?.is_some() {
            return Err(Box::new(SqlError::xml_index_of_no_table(create.table.dotted())));
        }
        let mut table = self.context.catalog().table(&create.table)?.ok_or_else(missing)?;
        let column = xml_column(create, &table)?;
        if table_definition::is_on(&create.options, "DROP_EXISTING") {
            let former = table.engine.indexes.iter().find(|index| index.name.eq_ignore_ascii_case(name));
            if !create.primary && former.is_some_and(Index::is_primary_xml) {
                return Err(Box::new(SqlError::primary_xml_index_to_secondary(name)));
            }
            self.drop_replaced(&table, name).await?;
            table = self.context.catalog().table(&create.table)?.ok_or_else(missing)?;
        }
        check_name_is_free(&table, name)?;
        let secondary = secondary(create, &table, column)?;
        let index = |record: &TableRecord| Index {
            included: vec![column],
            xml: Some(XmlIndex { secondary, disabled: false }),
            options: StorageOptions::in_filegroup(record.row_filegroup()),
            ..Index::definition(record.next_xml_index_id(), name)
        };
        self.add_defined_index(&table, &index).await
    }
}

/// The place of the one column that is indexed.
fn xml_column(create: &tree::CreateIndex, table: &Table) -> Result<usize, Fault> {
    let [column] = create.columns.as_slice() else {
        return Err(Box::new(SqlError::incorrect_syntax(",")));
    };
    let place = table.column(&column.name.text);
    let place = place.ok_or_else(|| Box::new(SqlError::key_column_unknown(&column.name.text)))?;
    let column = &table.columns[place];
    if column.ty != SqlType::Xml {
        return Err(Box::new(SqlError::xml_index_of_other_type(&column.name, &table.name)));
    }
    if column.computed {
        return Err(Box::new(SqlError::xml_index_of_computed(&create.name.text, &table.name, &column.name)));
    }
    Ok(place)
}

/// What makes it a secondary index; None for a primary one.
fn secondary(create: &tree::CreateIndex, table: &Table, column: usize) -> Result<Option<SecondaryXmlIndex>, Fault> {
    let of_column = || table.engine.indexes.iter().filter(|index| index.is_primary_xml() && index.included == [column]);
    let column = &table.columns[column].name;
    if create.primary {
        if let Some(other) = of_column().next() {
            return Err(Box::new(SqlError::primary_xml_index_exists(&other.name, column, &table.name)));
        }
        let key = table.engine.indexes.iter().find(|index| index.clustered && index.primary_key);
        if key.is_none_or(|key| key.columns.len() >= KEY_COLUMNS_MAX) {
            return Err(Box::new(SqlError::xml_index_without_key(&table.name, KEY_COLUMNS_MAX)));
        }
        return Ok(None);
    }
    let using = create.using.as_ref();
    let using = using.ok_or_else(|| SqlError::secondary_xml_index_of_none(&create.name.text))?;
    let primary = of_column().find(|index| using.primary.is(&index.name));
    let missing = || SqlError::primary_xml_index_missing(&using.primary.text, &table.name, column);
    let primary = primary.ok_or_else(missing)?.index_id;
    let purpose = match using.purpose {
        tree::XmlIndexPurpose::Path => XmlIndexPurpose::Path,
        tree::XmlIndexPurpose::Property => XmlIndexPurpose::Property,
        tree::XmlIndexPurpose::Value => XmlIndexPurpose::Value,
    };
    Ok(Some(SecondaryXmlIndex { primary, purpose }))
}
