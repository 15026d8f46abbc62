//! Columnstore indexes: definitions that are kept, shown and dropped like others.
//!
//! They promise how rows are stored and nothing about which rows there are, so statements mean the same without them. Tables keep their rows
//! where they are, in a heap or a tree, and no plan reads a columnstore. What is checked is what SQL Server checks, so that a
//! script that runs here runs there.

use super::Definer;
use super::filegroup;
use super::index_filter::{FilterColumn, FilterOf};
use super::table_definition;
use crate::access::Table;
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{Columnstore, Index, StorageOptions, TableRecord};
use pikepole_tsql::{self as tree, ObjectName};
use pikepole_types::{Length, SqlError, SqlType};

/// Minutes of COMPRESSION_DELAY at most: a week.
const DELAY_MAX: i32 = 10080;

/// A columnstore index as a statement asks for it.
#[derive(Debug)]
pub(crate) struct WantedColumnstore {
    name: String,
    clustered: bool,
    columns: Vec<tree::Name>,
    filter: Option<tree::Condition>,
    options: Vec<tree::SettingOption>,
    on: Option<tree::Placement>,
}

impl WantedColumnstore {
    /// That of CREATE INDEX.
    ///
    /// # Errors
    /// 35301, 35311, 35335 and 35336 for what no columnstore index has, or must have.
    pub(crate) fn of(create: &tree::CreateIndex) -> Result<WantedColumnstore, Fault> {
        if !create.include.is_empty() {
            return Err(Box::new(SqlError::columnstore_includes()));
        }
        let wanted = WantedColumnstore {
            name: create.name.text.clone(),
            clustered: create.clustered == Some(true),
            columns: create.columns.iter().map(|column| column.name.clone()).collect(),
            filter: create.filter.clone(),
            options: create.options.clone(),
            on: create.on.clone(),
        };
        wanted.checked(create.unique)
    }

    /// That of CREATE TABLE.
    ///
    /// # Errors
    /// As [`WantedColumnstore::of`].
    pub(crate) fn inline(inline: &tree::InlineIndex) -> Result<WantedColumnstore, Fault> {
        let wanted = WantedColumnstore {
            name: inline.name.text.clone(),
            clustered: inline.clustered == Some(true),
            columns: inline.columns.iter().map(|column| column.name.clone()).collect(),
            filter: inline.filter.clone(),
            options: inline.options.clone(),
            on: inline.on.clone(),
        };
        wanted.checked(inline.unique)
    }

    fn checked(self, unique: bool) -> Result<WantedColumnstore, Fault> {
        Err(Box::new(match (self.clustered, self.columns.is_empty()) {
            _ if unique => SqlError::columnstore_unique(),
            (true, false) => SqlError::columnstore_key_list(),
            (false, true) => SqlError::columnstore_key_list_missing(),
            _ => return Ok(self),
        }))
    }

    /// Whether it is one for all columns, beside which no other index is clustered.
    pub(crate) fn is_clustered(&self) -> bool {
        self.clustered
    }

    fn replaces(&self) -> bool {
        table_definition::is_on(&self.options, "DROP_EXISTING")
    }

    /// The places of its columns; none when it has them all.
    fn places(&self, table: &Table) -> Result<Vec<usize>, Fault> {
        let mut places = Vec::with_capacity(self.columns.len());
        for name in &self.columns {
            let place = table.column(&name.text);
            let place = place.ok_or_else(|| Box::new(SqlError::key_column_unknown(&name.text)))?;
            if places.contains(&place) {
                return Err(Box::new(SqlError::key_column_twice("index", &name.text)));
            }
            places.push(place);
        }
        let meant: Vec<usize> = if self.clustered { (0..table.columns.len()).collect() } else { places.clone() };
        for column in meant.into_iter().map(|place| &table.columns[place]) {
            if column.computed {
                return Err(Box::new(SqlError::columnstore_of_computed(&column.name, &table.name)));
            }
            if !may_be_in_columns(&column.ty, column.rowversion, self.clustered) {
                return Err(Box::new(SqlError::columnstore_type(&column.name)));
            }
        }
        Ok(places)
    }
}

/// Whether values of a type can be kept by column. Long ones are in clustered columnstores only.
fn may_be_in_columns(ty: &SqlType, rowversion: bool, clustered: bool) -> bool {
    match ty {
        SqlType::VarChar(Length::Max) | SqlType::NVarChar(Length::Max) | SqlType::VarBinary(Length::Max) => clustered,
        SqlType::Text | SqlType::NText | SqlType::Image | SqlType::Xml | SqlType::Variant | SqlType::Clr(_) => false,
        _ => !rowversion,
    }
}

/// COMPRESSION_DELAY, in minutes.
///
/// # Errors
/// 102 for a delay that is none.
pub(super) fn compression_delay(options: &[tree::SettingOption]) -> Result<Option<i32>, Fault> {
    let Some(option) = options.iter().find(|option| option.name == "COMPRESSION_DELAY") else { return Ok(None) };
    let said = match &option.value {
        Some(tree::SettingValue::Expr(expr)) => expr.literal(),
        Some(tree::SettingValue::Measure(expr, _)) => expr.literal(),
        _ => None,
    };
    match said {
        Some(tree::Literal::Int(minutes)) if (0..=DELAY_MAX).contains(minutes) => Ok(Some(*minutes)),
        _ => Err(Box::new(SqlError::incorrect_syntax("COMPRESSION_DELAY"))),
    }
}

impl Definer<'_> {
    /// Adds a columnstore index to a table's definition.
    ///
    /// # Errors
    /// 1088 for a table that is not there; 1911, 35307 and 35343 for columns; 1913, 7999, 35339 and 35372 for what the table has already.
    pub(super) async fn create_columnstore(
        &mut self,
        name: &ObjectName,
        wanted: &WantedColumnstore,
    ) -> Result<(), Fault> {
        let missing = || Box::new(SqlError::object_not_found(name.dotted()));
        let is_view = self.context.catalog().view(name)?.is_some();
        if is_view {
            return Err(errors::unsupported("An index on a view"));
        }
        let mut table = self.context.catalog().table(name)?.ok_or_else(missing)?;
        let included = wanted.places(&table)?;
        let filter = self.columnstore_filter(wanted, name, &table)?;
        let compression_delay = compression_delay(&wanted.options)?.unwrap_or(0);
        if wanted.replaces() {
            self.drop_replaced(&table, &wanted.name).await?;
            table = self.context.catalog().table(name)?.ok_or_else(missing)?;
        }
        check_beside(&table, wanted)?;
        let filegroup = filegroup::placed(&self.filegroups_of(name), wanted.on.as_ref())?;
        let columnstore = Columnstore { clustered: wanted.clustered, compression_delay, disabled: false };
        let index = |record: &TableRecord| Index {
            included: included.clone(),
            filter: filter.clone(),
            columnstore: Some(columnstore),
            options: StorageOptions::in_filegroup(filegroup.unwrap_or(record.row_filegroup())),
            ..Index::definition(
                if wanted.clustered { Index::CLUSTERED_ID } else { record.next_index_id() },
                &wanted.name,
            )
        };
        self.add_defined_index(&table, &index).await
    }

    /// DROP_EXISTING: the index of a name goes, before one of that name that is a definition comes.
    pub(super) async fn drop_replaced(&mut self, table: &Table, name: &str) -> Result<(), Fault> {
        let former = table.engine.indexes.iter().find(|index| index.name.eq_ignore_ascii_case(name));
        let former = former.ok_or_else(|| SqlError::index_to_replace_missing(name, &table.name))?;
        let (former, constraint) = (former.name.clone(), former.constraint);
        let (database, tx) = self.context.engine();
        database.drop_index(tx, &table.engine, &former, constraint).await?;
        Ok(())
    }

    /// Adds an index that is a definition to a table's.
    pub(super) async fn add_defined_index(
        &mut self,
        table: &Table,
        index: &(dyn Fn(&TableRecord) -> Index + Sync),
    ) -> Result<(), Fault> {
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            let index = index(record);
            if index.is_clustered() {
                record.options.filegroup = index.options.filegroup;
            }
            record.indexes.push(index);
            Ok(())
        };
        let (database, tx) = self.context.engine();
        database.alter_definition(tx, &table.engine, &change).await?;
        Ok(())
    }

    /// The text of its WHERE.
    fn columnstore_filter(
        &self,
        wanted: &WantedColumnstore,
        name: &ObjectName,
        table: &Table,
    ) -> Result<Option<String>, Fault> {
        let catalog = std::sync::Arc::clone(&self.context.catalog().catalog);
        let of_column = |name: &str| FilterColumn::of(table, name);
        let of = FilterOf { index: &wanted.name, table: &name.dotted(), catalog: &catalog, column: &of_column };
        Ok(table_definition::extras(&[], wanted.filter.as_ref(), &[], &of)?.filter)
    }
}

/// No two indexes of a table have one name.
pub(super) fn check_name_is_free(table: &Table, name: &str) -> Result<(), Fault> {
    if table.engine.indexes.iter().any(|index| index.name.eq_ignore_ascii_case(name)) {
        return Err(Box::new(SqlError::index_exists(name, "table", table.engine.full_name())));
    }
    Ok(())
}

/// Whether a table may have this columnstore beside its other indexes.
fn check_beside(table: &Table, wanted: &WantedColumnstore) -> Result<(), Fault> {
    check_name_is_free(table, &wanted.name)?;
    let indexes = &table.engine.indexes;
    if indexes.iter().any(|index| index.columnstore.is_some()) {
        return Err(Box::new(SqlError::columnstore_twice()));
    }
    if wanted.clustered && indexes.iter().any(Index::is_clustered) {
        return Err(Box::new(SqlError::columnstore_beside_clustered(table.engine.full_name())));
    }
    Ok(())
}
