//! Tables WITH (MEMORY_OPTIMIZED = ON): in-memory ones, and those that are like any others.
//!
//! Such a table is an in-memory table, and so is each variable of such a table type, whose rows are not durable. Tables with DURABILITY =
//! SCHEMA_AND_DATA that have a period or a columnstore index are ordinary: their rows are in pages, logged and locked, and a hash index,
//! which finds equal keys and nothing else, is an ordered one.
//!
//! ```text
//!   CREATE TABLE ──► kind_of ──► Ordinary    the definition without HASH and BUCKET_COUNT
//!                        └─────► InMemory    the definition as it is; what such tables do not have is refused
//!   other definitions ──► check_in_memory    refuses what would copy rows or build indexes
//! ```

use super::Definer;
use crate::access::Table;
use crate::expression::Fault;
use pikepole_engine::{ColumnDefinition, HashIndex, InMemory, InMemoryDurability, Residence, generated_name};
use pikepole_tsql::{self as tree, AlterTableAction, ObjectName, StatementKind, TableElement};
use pikepole_types::{SqlError, SqlType};

/// The kinds of tables that MEMORY_OPTIMIZED tells apart.
pub(super) enum TableKind {
    /// Nothing: it is not said.
    OnDisk,
    /// A table like any other, by this definition.
    Ordinary(Box<tree::CreateTable>),
    /// An in-memory table.
    InMemory(InMemory),
}

const BUCKET_COUNT: &str = "BUCKET_COUNT";

/// The kind of a table to be made.
///
/// # Errors
/// 10779 for the DURABILITY of a table on disk, 12322 for a temporary table; 10789, 10790 and 41303 for the buckets of indexes; 41321 for a
/// durable table without a primary key; as of [`check`].
pub(super) fn kind_of(create: &tree::CreateTable, residence: Residence) -> Result<TableKind, Fault> {
    let is_on = |option: &tree::SettingOption| option.name == "MEMORY_OPTIMIZED" && option.on_off() == Some(true);
    let durability = create.options.iter().find(|option| option.name == "DURABILITY");
    let word = durability.map(|option| match &option.value {
        Some(tree::SettingValue::Word(word)) => word.as_str(),
        _ => "",
    });
    if !create.options.iter().any(is_on) {
        return match word {
            Some(word) => Err(Box::new(SqlError::durability_on_disk(word.to_lowercase()))),
            None => Ok(TableKind::OnDisk),
        };
    }
    if create.name.is_in_tempdb() {
        return Err(Box::new(SqlError::temporary_table_in_memory()));
    }
    // The variable that a type is made by has a name before which there is something.
    let name = create.name.name.text.trim_start_matches("@ ");
    let indexes = declared(&create.elements, name);
    for index in &indexes {
        check_buckets(index, name)?;
    }
    let durability = match word {
        None if residence == Residence::Variable => InMemoryDurability::SchemaOnly,
        None | Some("SCHEMA_AND_DATA") => InMemoryDurability::SchemaAndData,
        Some("SCHEMA_ONLY") => InMemoryDurability::SchemaOnly,
        Some(other) => return Err(Box::new(SqlError::incorrect_syntax(other))),
    };
    if durability == InMemoryDurability::SchemaAndData && stays_ordinary(create, &indexes) {
        return Ok(TableKind::Ordinary(Box::new(without_hashes(create))));
    }
    check(create, &indexes, name)?;
    if durability == InMemoryDurability::SchemaAndData && !indexes.iter().any(|index| index.primary) {
        return Err(Box::new(SqlError::primary_key_missing_in_memory(name)));
    }
    Ok(TableKind::InMemory(InMemory::new(durability)))
}

/// Tells if a table has a period or is ordered by columns, neither of which in-memory tables have.
fn stays_ordinary(create: &tree::CreateTable, indexes: &[Declared<'_>]) -> bool {
    let of_period = |element: &TableElement| match element {
        TableElement::Period(..) => true,
        TableElement::Column(column) => column.generated.is_some(),
        TableElement::Constraint(_) | TableElement::Index(_) => false,
    };
    let is_versioned = create.options.iter().any(|option| option.name == "SYSTEM_VERSIONING");
    is_versioned || create.elements.iter().any(of_period) || indexes.iter().any(|index| index.columnstore)
}

/// A key or an index as a table's text declares it.
struct Declared<'t> {
    /// Its name, or one made up.
    name: String,
    primary: bool,
    clustered: Option<bool>,
    columnstore: bool,
    hash: bool,
    columns: &'t [tree::IndexColumn],
    options: &'t [tree::SettingOption],
    includes: bool,
    filtered: bool,
    placed: bool,
}

impl<'t> Declared<'t> {
    fn key(name: Option<&tree::Name>, kind: &'t tree::ConstraintKind, table: &str) -> Option<Declared<'t>> {
        let tree::ConstraintKind::Key(key) = kind else { return None };
        let generated = || generated_name(if key.primary { "PK" } else { "UQ" }, table, "", 0);
        Some(Declared {
            name: name.map_or_else(generated, |name| name.text.clone()),
            primary: key.primary,
            clustered: key.clustered,
            columnstore: false,
            hash: key.hash,
            columns: &key.columns,
            options: &key.options,
            includes: false,
            filtered: false,
            placed: key.on.is_some(),
        })
    }

    fn index(index: &'t tree::InlineIndex) -> Declared<'t> {
        Declared {
            name: index.name.text.clone(),
            primary: false,
            clustered: index.clustered,
            columnstore: index.kind == tree::IndexKind::Columnstore,
            hash: index.hash,
            columns: &index.columns,
            options: &index.options,
            includes: !index.include.is_empty(),
            filtered: index.filter.is_some(),
            placed: index.on.is_some(),
        }
    }
}

/// The keys and indexes in the text of a table, or in what is added to one.
fn declared<'t>(elements: &'t [TableElement], table: &str) -> Vec<Declared<'t>> {
    let mut found = Vec::new();
    for element in elements {
        match element {
            TableElement::Column(column) => {
                let constraints = column.constraints.iter();
                found.extend(constraints.filter_map(|own| Declared::key(own.name.as_ref(), &own.kind, table)));
                found.extend(column.indexes.iter().map(Declared::index));
            }
            TableElement::Constraint(own) => found.extend(Declared::key(own.name.as_ref(), &own.kind, table)),
            TableElement::Index(index) => found.push(Declared::index(index)),
            TableElement::Period(..) => {}
        }
    }
    found
}

/// The definition with ordered indexes in the place of hash indexes.
fn without_hashes(create: &tree::CreateTable) -> tree::CreateTable {
    let order = |hash: &mut bool, options: &mut Vec<tree::SettingOption>| {
        *hash = false;
        options.retain(|option| option.name != BUCKET_COUNT);
    };
    let order_key = |constraint: &mut tree::ConstraintKind| {
        if let tree::ConstraintKind::Key(key) = constraint {
            order(&mut key.hash, &mut key.options);
        }
    };
    let mut table = create.clone();
    for element in &mut table.elements {
        match element {
            TableElement::Column(column) => {
                column.constraints.iter_mut().for_each(|constraint| order_key(&mut constraint.kind));
                column.indexes.iter_mut().for_each(|index| order(&mut index.hash, &mut index.options));
            }
            TableElement::Constraint(constraint) => order_key(&mut constraint.kind),
            TableElement::Index(index) => order(&mut index.hash, &mut index.options),
            TableElement::Period(..) => {}
        }
    }
    table
}

/// Checks that a hash index has buckets, and no other index.
fn check_buckets(index: &Declared<'_>, table: &str) -> Result<(), Fault> {
    let said = index.options.iter().any(|option| option.name == BUCKET_COUNT);
    if !index.hash && said {
        return Err(Box::new(SqlError::buckets_without_hash(BUCKET_COUNT)));
    }
    if index.hash && !said {
        return Err(Box::new(SqlError::buckets_missing(BUCKET_COUNT.to_lowercase(), &index.name, table)));
    }
    if index.hash && buckets(index.options).is_none() {
        return Err(Box::new(SqlError::bucket_count_invalid(HashIndex::BUCKETS_MAX)));
    }
    Ok(())
}

fn buckets(options: &[tree::SettingOption]) -> Option<HashIndex> {
    let option = options.iter().find(|option| option.name == BUCKET_COUNT)?;
    let Some(tree::SettingValue::Expr(expr)) = &option.value else { return None };
    let tree::Literal::Int(count) = expr.literal()? else { return None };
    HashIndex::with_buckets(u32::try_from(*count).ok()?)
}

/// The hash index that HASH and the options of a key or an index ask for.
///
/// # Errors
/// 10791 where no BUCKET_COUNT has been checked: only in-memory tables have hash indexes.
pub(super) fn hash_index(hash: bool, options: &[tree::SettingOption]) -> Result<Option<HashIndex>, Fault> {
    if !hash {
        return Ok(None);
    }
    buckets(options).map(Some).ok_or_else(|| Box::new(SqlError::hash_index_on_disk()))
}

/// Checks the text of an in-memory table.
///
/// # Errors
/// 10794 by name for what such tables do not have, 12317 for a clustered index, 10664 for INCLUDE, 41327 for no index at all.
fn check(create: &tree::CreateTable, indexes: &[Declared<'_>], name: &str) -> Result<(), Fault> {
    let refused = |kind: &str, name: &str| -> Result<(), Fault> { Err(Box::new(SqlError::not_in_memory(kind, name))) };
    if create.on.is_some() {
        return refused("feature", "ON");
    }
    if create.textimage_on.is_some() {
        return refused("feature", "TEXTIMAGE_ON");
    }
    let others = create.options.iter().filter(|option| !matches!(&*option.name, "MEMORY_OPTIMIZED" | "DURABILITY"));
    if let Some(option) = others.into_iter().find(|option| option.on_off() != Some(false)) {
        return refused("option", &option.name);
    }
    check_elements(&create.elements, indexes)?;
    if indexes.is_empty() {
        return Err(Box::new(SqlError::index_missing_in_memory(name)));
    }
    Ok(())
}

/// Checks the columns, keys and indexes of an in-memory table, or those that are added to one.
fn check_elements(elements: &[TableElement], indexes: &[Declared<'_>]) -> Result<(), Fault> {
    let refused = |kind: &str, name: &str| -> Result<(), Fault> { Err(Box::new(SqlError::not_in_memory(kind, name))) };
    for element in elements {
        match element {
            TableElement::Column(column) if column.sparse => return refused("feature", "SPARSE"),
            TableElement::Column(column) if column.generated.is_some() => {
                return refused("feature", "GENERATED ALWAYS");
            }
            TableElement::Period(..) => return refused("feature", "PERIOD FOR SYSTEM_TIME"),
            TableElement::Column(_) | TableElement::Constraint(_) | TableElement::Index(_) => {}
        }
    }
    for index in indexes {
        if index.columnstore {
            return refused("feature", "COLUMNSTORE");
        }
        // A primary key says NONCLUSTERED: elsewhere it is clustered.
        if index.clustered.unwrap_or(index.primary && !index.hash) {
            return Err(Box::new(SqlError::clustered_in_memory()));
        }
        if index.filtered {
            return Err(Box::new(SqlError::filtered_in_memory()));
        }
        if index.includes {
            return Err(Box::new(SqlError::included_columns_in_memory()));
        }
        if index.placed {
            return refused("feature", "ON");
        }
        if let Some(option) = index.options.iter().find(|option| option.name != BUCKET_COUNT) {
            return Err(Box::new(SqlError::index_option_in_memory(option.name.to_lowercase())));
        }
        if index.hash && index.columns.iter().any(|column| column.descending) {
            return Err(Box::new(SqlError::index_option_in_memory("desc")));
        }
    }
    Ok(())
}

/// Checks the types of the columns of an in-memory table.
///
/// # Errors
/// 10794 for those that it does not hold.
pub(super) fn check_types<'c>(
    columns: impl IntoIterator<Item = &'c ColumnDefinition>,
    rowversion: bool,
) -> Result<(), Fault> {
    let is_held =
        |ty: &SqlType| !ty.is_text_or_image() && !matches!(ty, SqlType::Xml | SqlType::Clr(_) | SqlType::Variant);
    let refused = columns.into_iter().map(|column| column.ty).find(|ty| !is_held(ty)).map(|ty| ty.name());
    match refused.or(rowversion.then_some("timestamp")) {
        Some(name) => Err(Box::new(SqlError::not_in_memory("type", name))),
        None => Ok(()),
    }
}

fn not_done(operation: &str) -> Result<(), Fault> {
    Err(Box::new(SqlError::not_in_memory("operation", operation)))
}

/// Checks a change of an in-memory table.
fn check_change(table: &Table, action: &AlterTableAction) -> Result<(), Fault> {
    match action {
        AlterTableAction::Add { elements, .. } => {
            let indexes = declared(elements, &table.name);
            for index in &indexes {
                check_buckets(index, &table.name)?;
            }
            check_elements(elements, &indexes)
        }
        AlterTableAction::Drop(elements) => elements.iter().try_for_each(|element| check_drop(table, element)),
        AlterTableAction::AlterColumnProperty { .. } => not_done("ALTER TABLE ALTER COLUMN"),
        AlterTableAction::Rebuild { .. } => not_done("ALTER TABLE REBUILD"),
        AlterTableAction::Switch { .. } => not_done("ALTER TABLE SWITCH"),
        AlterTableAction::Set(options) if options.iter().any(|option| option.name == "SYSTEM_VERSIONING") => {
            Err(Box::new(SqlError::not_in_memory("option", "SYSTEM_VERSIONING")))
        }
        AlterTableAction::AlterColumn { .. }
        | AlterTableAction::Set(_)
        | AlterTableAction::AlterColumnMask { .. }
        | AlterTableAction::SetConstraints { .. }
        | AlterTableAction::SetTriggers { .. } => Ok(()),
    }
}

/// Checks that a table keeps what its rows are found and logged by.
fn check_drop(table: &Table, element: &tree::DropElement) -> Result<(), Fault> {
    if element.kind == tree::DropElementKind::Period {
        return not_done("ALTER TABLE DROP PERIOD");
    }
    let is_index = matches!(element.kind, tree::DropElementKind::Constraint | tree::DropElementKind::Index);
    let dropped = table.engine.indexes.iter().find(|index| is_index && element.name.is(&index.name));
    let Some(dropped) = dropped else { return Ok(()) };
    if dropped.primary_key && table.engine.is_logged_in_memory() {
        return Err(Box::new(SqlError::primary_key_missing_in_memory(&table.name)));
    }
    if table.engine.indexes.len() == 1 {
        return Err(Box::new(SqlError::index_missing_in_memory(&table.name)));
    }
    Ok(())
}

impl Definer<'_> {
    /// Checks that a definition asks nothing of an in-memory table that it does not do.
    ///
    /// # Errors
    /// 10794 for statements and changes that such tables do not have; those of [`check_change`].
    pub(super) fn check_in_memory(&self, statement: &StatementKind) -> Result<(), Fault> {
        let found = match statement {
            StatementKind::AlterTable(alter) => {
                return self.in_memory(&alter.table)?.map_or(Ok(()), |table| check_change(&table, &alter.action));
            }
            StatementKind::CreateIndex(create) => self.in_memory(&create.table)?.map(|_| ("operation", "CREATE INDEX")),
            StatementKind::AlterIndex(alter) => self.in_memory(&alter.table)?.map(|_| ("operation", "ALTER INDEX")),
            StatementKind::Truncate(name) => self.in_memory(name)?.map(|_| ("statement", "TRUNCATE TABLE")),
            StatementKind::DropIndex(drop) => {
                let mut found = None;
                for index in &drop.indexes {
                    found = found.or(self.in_memory(&index.table)?.map(|_| ("operation", "DROP INDEX")));
                }
                found
            }
            _ => None,
        };
        match found {
            Some((kind, name)) => Err(Box::new(SqlError::not_in_memory(kind, name))),
            None => Ok(()),
        }
    }

    /// The table of a name, if it is an in-memory one.
    fn in_memory(&self, name: &ObjectName) -> Result<Option<std::sync::Arc<Table>>, Fault> {
        let table = self.context.catalog().table(name)?;
        Ok(table.filter(|table| table.engine.is_in_memory()))
    }
}
