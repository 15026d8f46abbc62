//! What CREATE TABLE and ALTER TABLE say, as the engine wants it.

use super::columnstore::WantedColumnstore;
use super::filegroup;
use super::in_memory::{self, TableKind};
use super::index_filter::{FilterColumn, FilterOf};
use super::period::WantedBound;
use crate::bind::{ColumnDefaults, TypePlace, column_collation, declared, declared_at};
use crate::errors;
use crate::expression::Fault;
use crate::settings::{ColumnOptions, NullDefault};
use pikepole_engine::{
    Catalog, ColumnDefinition, Compression, Identity, IndexDefinition, IndexExtras, IndexKind, Residence, StorageWish,
    TableDefinition,
};
use pikepole_tsql as tree;
use pikepole_types::{Collation, Mask, SqlError, SqlType};

/// What a table's definition says beside columns and keys.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) checks: Vec<WantedCheck>,
    pub(crate) foreign_keys: Vec<WantedKey>,
    /// Computed columns: the name, the expression, its text, PERSISTED, NOT NULL.
    pub(crate) computed: Vec<WantedComputed>,
    /// The rowversion column.
    pub(crate) rowversion: Option<String>,
    /// SPARSE columns.
    pub(crate) sparse: Vec<String>,
    /// MASKED columns, and what their masks are.
    pub(crate) masked: Vec<(String, String)>,
    /// GENERATED ALWAYS columns.
    pub(crate) generated: Vec<WantedBound>,
    /// PERIOD FOR SYSTEM_TIME.
    pub(crate) period: Option<(tree::Name, tree::Name)>,
    /// Columnstore indexes.
    pub(crate) columnstores: Vec<WantedColumnstore>,
}

/// A CHECK constraint.
#[derive(Debug)]
pub(crate) struct WantedCheck {
    pub(crate) name: Option<String>,
    pub(crate) condition: tree::Condition,
    /// The column it stands behind.
    pub(crate) column: Option<String>,
}

/// A FOREIGN KEY constraint.
#[derive(Debug)]
pub(crate) struct WantedKey {
    pub(crate) name: Option<String>,
    pub(crate) key: tree::ForeignKey,
}

/// A computed column.
#[derive(Debug)]
pub(crate) struct WantedComputed {
    pub(crate) name: String,
    pub(crate) expr: tree::Expr,
    pub(crate) text: String,
    pub(crate) persisted: bool,
    pub(crate) not_null: bool,
}

impl Wishes {
    /// Takes what an element of a table wants; the index when it is a key.
    ///
    /// # Errors
    /// Other constraints are refused by name.
    pub(crate) fn constraint(
        &mut self,
        kind: &tree::ConstraintKind,
        name: Option<&tree::Name>,
        own_column: Option<&tree::Name>,
    ) -> Result<Option<Wanted>, Fault> {
        let given = name.map(|name| name.text.clone());
        match kind {
            tree::ConstraintKind::Check { condition, .. } => {
                let column = own_column.map(|column| column.text.clone());
                self.checks.push(WantedCheck { name: given, condition: condition.clone(), column });
                Ok(None)
            }
            tree::ConstraintKind::Foreign(key) => {
                let mut key = key.clone();
                if key.columns.is_empty() {
                    key.columns.extend(own_column.cloned());
                }
                self.foreign_keys.push(WantedKey { name: given, key });
                Ok(None)
            }
            _ => constraint_index(kind, name, own_column).map(Some),
        }
    }

    /// Notes what a column is beside its type.
    pub(crate) fn column(&mut self, definition: &tree::ColumnDefinition) {
        let name = definition.name.text.clone();
        if definition.sparse {
            self.sparse.push(name.clone());
        }
        self.masked.extend(definition.masked.iter().map(|mask| (name.clone(), mask.clone())));
        self.generated.extend(WantedBound::of(definition));
        match &definition.kind {
            tree::ColumnKind::Computed { expr, persisted } => self.computed.push(WantedComputed {
                name,
                expr: expr.clone(),
                text: tree::stored_expression(expr),
                persisted: *persisted,
                not_null: definition.nullable == Some(false),
            }),
            tree::ColumnKind::Stored(data_type) if data_type.is_rowversion() => self.rowversion = Some(name),
            tree::ColumnKind::Stored(_) => {}
        }
    }
}

/// The definition of a table to be made, and what is added to it then. Computed columns have no type yet. Types are looked up
/// in the first catalog, filegroups in the second.
///
/// # Errors
/// Types, keys and identities that cannot be; constraints that are not supported, by name.
pub(crate) fn table(
    create: &tree::CreateTable,
    schema: String,
    residence: Residence,
    (catalog, filegroups): (&Catalog, &Catalog),
    defaults: ColumnDefaults,
    options: ColumnOptions,
) -> Result<(TableDefinition, Wishes), Fault> {
    for option in &create.options {
        let plain = matches!(option.value, Some(tree::SettingValue::Off) | None);
        if option.name == "LEDGER" && !plain {
            return Err(errors::unsupported("The table option LEDGER"));
        }
    }
    let kind = in_memory::kind_of(create, residence)?;
    let (create, memory) = match &kind {
        TableKind::OnDisk => (create, None),
        TableKind::Ordinary(ordinary) => (&**ordinary, None),
        TableKind::InMemory(memory) => (create, Some(*memory)),
    };
    let name = create.name.name.text.clone();
    let mut columns = Vec::new();
    let mut indexes = Vec::new();
    let mut wishes = Wishes::default();
    for definition in create.columns() {
        let position = columns.len() + 1;
        columns.push(column(definition, position, &name, catalog, defaults, options)?);
        wishes.column(definition);
    }
    let inline_index = |inline: &tree::InlineIndex, own: Option<&tree::Name>| {
        let of_column = |name: &str| {
            let written = create.columns().zip(&columns).find(|(written, _)| written.name.is(name))?;
            Some(FilterColumn { ty: written.1.ty, computed: written.0.data_type().is_none() })
        };
        let of = FilterOf { index: &inline.name.text, table: &name, catalog, column: &of_column };
        self::inline_index(inline, own, &of)
    };
    for element in &create.elements {
        match element {
            tree::TableElement::Column(definition) => {
                for constraint in &definition.constraints {
                    let own = Some(&definition.name);
                    indexes.extend(wishes.constraint(&constraint.kind, constraint.name.as_ref(), own)?);
                }
                for inline in &definition.indexes {
                    if inline.kind == tree::IndexKind::Columnstore {
                        wishes.columnstores.push(WantedColumnstore::inline(inline)?);
                        continue;
                    }
                    indexes.push(inline_index(inline, Some(&definition.name))?);
                }
            }
            tree::TableElement::Constraint(constraint) => {
                let name = constraint.name.as_ref();
                indexes.extend(wishes.constraint(&constraint.kind, name, None)?);
            }
            tree::TableElement::Index(inline) if inline.kind == tree::IndexKind::Columnstore => {
                wishes.columnstores.push(WantedColumnstore::inline(inline)?);
            }
            tree::TableElement::Index(inline) => indexes.push(inline_index(inline, None)?),
            tree::TableElement::Period(start, end) => wishes.take_period(start, end)?,
        }
    }
    wishes.check_period(&columns)?;
    check_rowversions(create)?;
    check_keys(create, &indexes)?;
    for index in &mut indexes {
        index.place(filegroups)?;
    }
    let filegroup = filegroup::placed(filegroups, create.on.as_ref())?;
    let text_filegroup = text_filegroup(create, &columns, filegroups)?;
    match memory {
        Some(_) => in_memory::check_types(&columns, wishes.rowversion.is_some())?,
        None => indexes.iter().try_for_each(Wanted::check_on_disk)?,
    }
    // Neither beside a clustered columnstore nor in memory are the rows in an index.
    let has_rows = memory.is_some() || wishes.columnstores.iter().any(WantedColumnstore::is_clustered);
    let indexes = clustered_defaults(indexes, has_rows);
    Ok((TableDefinition { schema, name, columns, indexes, filegroup, text_filegroup, memory }, wishes))
}

/// The filegroup that TEXTIMAGE_ON names.
///
/// # Errors
/// 1709 for a table without long values, 1921 for a filegroup that is not there.
fn text_filegroup(
    create: &tree::CreateTable,
    columns: &[ColumnDefinition],
    filegroups: &Catalog,
) -> Result<Option<i32>, Fault> {
    let Some(name) = &create.textimage_on else { return Ok(None) };
    let is_long = |ty: &SqlType| ty.is_max() || ty.is_text_or_image() || matches!(ty, SqlType::Xml | SqlType::Clr(_));
    if !columns.iter().any(|column| is_long(&column.ty)) {
        return Err(Box::new(SqlError::text_filegroup_without_text()));
    }
    filegroup::filegroup(filegroups, name).map(Some)
}

/// A second rowversion is error 2738, a second ROWGUIDCOL 8196.
fn check_rowversions(create: &tree::CreateTable) -> Result<(), Fault> {
    let is_one = |column: &&tree::ColumnDefinition| matches!(&column.kind, tree::ColumnKind::Stored(data_type) if data_type.is_rowversion());
    match create.columns().filter(is_one).nth(1) {
        None if create.columns().filter(|column| column.rowguidcol).nth(1).is_some() => {
            Err(Box::new(SqlError::row_guid_column_twice()))
        }
        None => Ok(()),
        Some(second) => Err(Box::new(SqlError::rowversion_exists(&create.name.name.text, &second.name.text))),
    }
}

/// A key on a column that was declared NULL is error 8111.
fn check_keys(create: &tree::CreateTable, indexes: &[Wanted]) -> Result<(), Fault> {
    let primary = indexes.iter().filter(|index| index.definition.kind == IndexKind::PrimaryKey);
    for index in primary {
        for (name, _) in &index.definition.columns {
            let declared_null = create.columns().any(|column| column.name.is(name) && column.nullable == Some(true));
            if declared_null {
                let table = &create.name.name.text;
                return Err(Box::new(SqlError::primary_key_on_nullable(table)));
            }
        }
    }
    Ok(())
}

/// An index and whether CLUSTERED or NONCLUSTERED was said.
pub(crate) struct Wanted {
    pub(crate) definition: IndexDefinition,
    clustered: Option<bool>,
    /// `MAXDOP`
    pub(crate) degree: Option<u16>,
    /// A key's filegroup or partition scheme
    pub(crate) on: Option<tree::Placement>,
}

/// A primary key is clustered unless it says otherwise or another index says CLUSTERED; everything else is not.
fn clustered_defaults(indexes: Vec<Wanted>, by_column: bool) -> Vec<IndexDefinition> {
    let said = by_column || indexes.iter().any(|index| index.clustered == Some(true));
    indexes
        .into_iter()
        .map(|index| {
            let primary = index.definition.kind == IndexKind::PrimaryKey;
            IndexDefinition { clustered: index.clustered.unwrap_or(primary && !said), ..index.definition }
        })
        .collect()
}

/// Bytes of a rowversion.
const ROWVERSION_BYTES: u16 = 8;

/// A column of a table; `catalog` is where its type is looked up.
///
/// # Errors
/// Types, identities, constructs not supported.
pub(crate) fn column(
    definition: &tree::ColumnDefinition,
    position: usize,
    table: &str,
    catalog: &Catalog,
    defaults: ColumnDefaults,
    options: ColumnOptions,
) -> Result<ColumnDefinition, Fault> {
    let name = &definition.name.text;
    if definition.sparse {
        check_sparse(definition, catalog, position, table)?;
    }
    check_once(definition, table)?;
    let tree::ColumnKind::Stored(data_type) = &definition.kind else {
        check_computed(definition)?;
        return Ok(ColumnDefinition {
            name: name.clone(),
            ty: SqlType::Null,
            nullable: definition.nullable.unwrap_or(true),
            default: None,
            identity: None,
            user_type: None,
            collation: Collation::default(),
        });
    };
    if data_type.is_rowversion() {
        if definition.default.is_some() {
            return Err(Box::new(SqlError::default_on_rowversion(table, name)));
        }
        let nullable = definition.nullable.unwrap_or(false);
        let ty = SqlType::Binary(ROWVERSION_BYTES);
        let (name, collation) = (name.clone(), Collation::default());
        return Ok(ColumnDefinition { name, ty, nullable, default: None, identity: None, user_type: None, collation });
    }
    if let Some(words) = definition.generated.as_ref().filter(|_| WantedBound::of(definition).is_none()) {
        return Err(errors::unsupported(format!("GENERATED ALWAYS AS {words}")));
    }
    if definition.hidden && definition.generated.is_none() {
        return Err(Box::new(SqlError::incorrect_syntax("HIDDEN")));
    }
    if definition.generated.is_some() && definition.nullable == Some(true) {
        return Err(Box::new(SqlError::period_column_nullable(name)));
    }
    let declared = declared_at(catalog, data_type, TypePlace::Column(name), position)?;
    let ty = declared.scalar().ok_or_else(|| Box::new(SqlError::column_of_table_type(name)))?;
    check_padding(&ty, options)?;
    if let Some(mask) = &definition.masked {
        Mask::parse(mask, ty, name)?;
    }
    if definition.rowguidcol && ty != SqlType::UniqueIdentifier {
        return Err(Box::new(SqlError::row_guid_type_invalid()));
    }
    let collation = column_collation(definition, &ty, defaults)?;
    let identity = match &definition.identity {
        None => None,
        Some(identity) => Some(self::identity(definition, identity, &ty, table)?),
    };
    let default = match &definition.default {
        None => None,
        Some(_) if identity.is_some() => {
            return Err(Box::new(SqlError::default_on_identity(table, name)));
        }
        Some(default) => {
            Some((default.name.as_ref().map(|name| name.text.clone()), tree::stored_expression(&default.expr)))
        }
    };
    Ok(ColumnDefinition {
        name: name.clone(),
        ty,
        nullable: definition.nullable.unwrap_or_else(|| {
            // A user's type says it itself.
            let by_default = options.nulls == NullDefault::On || declared.user_type().is_some();
            identity.is_none() && definition.generated.is_none() && declared.is_nullable() && by_default
        }),
        default,
        identity,
        user_type: declared.user_type_id(),
        collation,
    })
}

/// A column says each kind of constraint once, and is one kind of key.
///
/// # Errors
/// 8148 and 8151.
fn check_once(definition: &tree::ColumnDefinition, table: &str) -> Result<(), Fault> {
    let kind = |constraint: &tree::ColumnConstraint| match &constraint.kind {
        tree::ConstraintKind::Key(key) if key.primary => "PRIMARY KEY",
        tree::ConstraintKind::Key(_) => "UNIQUE",
        tree::ConstraintKind::Check { .. } => "CHECK",
        tree::ConstraintKind::Foreign(_) => "FOREIGN KEY",
        tree::ConstraintKind::Default { .. } => "DEFAULT",
    };
    let column = &definition.name.text;
    let default = definition.default.iter().map(|_| "DEFAULT");
    let kinds: Vec<&str> = default.chain(definition.constraints.iter().map(kind)).collect();
    if kinds.contains(&"PRIMARY KEY") && kinds.contains(&"UNIQUE") {
        return Err(Box::new(SqlError::column_keys_of_both_kinds(column, table)));
    }
    match kinds.iter().enumerate().find(|(at, kind)| kinds[..*at].contains(kind)) {
        Some((_, kind)) => Err(Box::new(SqlError::column_constraint_twice(kind, column, table))),
        None => Ok(()),
    }
}

/// A column made while ANSI_PADDING is off loses the blanks or zeros that its values end in.
///
/// # Errors
/// Such columns are not supported.
pub(super) fn check_padding(ty: &SqlType, options: ColumnOptions) -> Result<(), Fault> {
    let is_trimmed = matches!(ty, SqlType::Char(_) | SqlType::VarChar(_) | SqlType::Binary(_) | SqlType::VarBinary(_));
    match is_trimmed && !options.padded {
        true => Err(errors::unsupported(format!("A column of {} made while ANSI_PADDING is off", ty.name()))),
        false => Ok(()),
    }
}

/// A computed column has no number and no DEFAULT, is never said to take NULL, and takes rules only where its values are stored.
///
/// # Errors
/// 8183.
pub(super) fn check_computed(definition: &tree::ColumnDefinition) -> Result<(), Fault> {
    let tree::ColumnKind::Computed { persisted, .. } = definition.kind else { return Ok(()) };
    let is_key = |constraint: &tree::ColumnConstraint| matches!(constraint.kind, tree::ConstraintKind::Key(_));
    let ruled = definition.nullable.is_some() || !definition.constraints.iter().all(is_key);
    let never = definition.identity.is_some() || definition.default.is_some() || definition.nullable == Some(true);
    if never || ruled && !persisted {
        return Err(Box::new(SqlError::constraint_needs_persisted()));
    }
    Ok(())
}

/// A SPARSE column takes NULL and is of a type of the system's without text of its own.
///
/// # Errors
/// 1731.
fn check_sparse(
    definition: &tree::ColumnDefinition,
    catalog: &Catalog,
    position: usize,
    table: &str,
) -> Result<(), Fault> {
    let refused = || Err(Box::new(SqlError::column_not_sparse(&definition.name.text, table)));
    let tree::ColumnKind::Stored(data_type) = &definition.kind else { return refused() };
    let declared = declared(catalog, data_type, position)?;
    let is_of_system = declared.user_type().is_none() && !data_type.is_rowversion();
    let may_be = |ty: SqlType| !matches!(ty, SqlType::Text | SqlType::NText | SqlType::Image | SqlType::Clr(_));
    let takes_null = definition.nullable != Some(false) && definition.identity.is_none() && !definition.rowguidcol;
    if is_of_system && takes_null && declared.scalar().is_some_and(may_be) { Ok(()) } else { refused() }
}

/// Whether an identity column can be of a type.
pub(super) fn counts(ty: &SqlType) -> bool {
    ty.is_integer() || matches!(ty, SqlType::Decimal { scale: 0, .. })
}

fn identity(
    definition: &tree::ColumnDefinition,
    identity: &tree::Identity,
    ty: &SqlType,
    table: &str,
) -> Result<Identity, Fault> {
    let name = &definition.name.text;
    if !counts(ty) {
        return Err(Box::new(SqlError::identity_type_invalid(name)));
    }
    if definition.nullable == Some(true) {
        return Err(Box::new(SqlError::identity_on_nullable(name, table)));
    }
    let parse = |digits: &str| {
        let parsed = digits.parse::<i64>();
        parsed.map_err(|_| Box::new(SqlError::identity_type_invalid(name)))
    };
    let (seed, increment) = match &identity.range {
        None => (1, 1),
        Some((seed, increment)) => (parse(seed)?, parse(increment)?),
    };
    if increment == 0 {
        return Err(Box::new(SqlError::identity_increment_invalid(name)));
    }
    Ok(Identity { seed, increment })
}

/// The index of a PRIMARY KEY or UNIQUE constraint.
///
/// # Errors
/// Other constraints are refused by name.
pub(crate) fn constraint_index(
    kind: &tree::ConstraintKind,
    name: Option<&tree::Name>,
    own_column: Option<&tree::Name>,
) -> Result<Wanted, Fault> {
    let key = match kind {
        tree::ConstraintKind::Key(key) => key,
        tree::ConstraintKind::Foreign(_)
        | tree::ConstraintKind::Check { .. }
        | tree::ConstraintKind::Default { .. } => {
            return Err(errors::unsupported("DEFAULT ... FOR here"));
        }
    };
    let mut columns = key_columns(&key.columns);
    if columns.is_empty()
        && let Some(own) = own_column
    {
        columns.push((own.text.clone(), false));
    }
    Ok(Wanted {
        definition: IndexDefinition {
            name: name.map(|name| name.text.clone()),
            kind: if key.primary { IndexKind::PrimaryKey } else { IndexKind::UniqueConstraint },
            unique: true,
            clustered: false,
            columns,
            extras: IndexExtras {
                ignores_duplicates: is_on(&key.options, IGNORE_DUP_KEY),
                storage: storage_wish(&key.options)?,
                hash: in_memory::hash_index(key.hash, &key.options)?,
                ..IndexExtras::default()
            },
            replaces: false,
        },
        clustered: key.clustered,
        degree: degree(&key.options)?,
        on: key.on.clone(),
    })
}

pub(crate) fn inline_index(
    inline: &tree::InlineIndex,
    own_column: Option<&tree::Name>,
    of: &FilterOf<'_>,
) -> Result<Wanted, Fault> {
    if inline.kind != tree::IndexKind::Rows {
        return Err(errors::unsupported("An index of this kind in a table"));
    }
    check_ignores_duplicates(&inline.options, inline.unique)?;
    let mut columns = key_columns(&inline.columns);
    if columns.is_empty()
        && let Some(own) = own_column
    {
        columns.push((own.text.clone(), false));
    }
    Ok(Wanted {
        definition: IndexDefinition {
            name: Some(inline.name.text.clone()),
            kind: IndexKind::Index,
            unique: inline.unique,
            clustered: false,
            columns,
            extras: IndexExtras {
                hash: in_memory::hash_index(inline.hash, &inline.options)?,
                ..extras(&inline.include, inline.filter.as_ref(), &inline.options, of)?
            },
            replaces: false,
        },
        clustered: inline.clustered,
        degree: degree(&inline.options)?,
        on: inline.on.clone(),
    })
}

/// What `WITH (MAXDOP = n)` says.
///
/// # Errors
/// 102 for a number of workers that is none.
pub(crate) fn degree(options: &[tree::SettingOption]) -> Result<Option<u16>, Fault> {
    let Some(option) = options.iter().find(|option| option.name == "MAXDOP") else {
        return Ok(None);
    };
    let literal = match &option.value {
        Some(tree::SettingValue::Expr(expr)) => expr.literal(),
        _ => None,
    };
    let degree = match literal {
        Some(tree::Literal::Int(degree)) => u16::try_from(*degree).ok(),
        _ => None,
    };
    degree.map(Some).ok_or_else(|| Box::new(SqlError::incorrect_syntax(&option.name)))
}

/// What options say of how rows and entries lie. What is said of some partitions only is not kept.
///
/// # Errors
/// 129 for a FILLFACTOR that is no percentage of a page.
pub(crate) fn storage_wish(options: &[tree::SettingOption]) -> Result<StorageWish, Fault> {
    let mut wish = StorageWish::default();
    for option in options {
        match (option.name.as_str(), &option.value) {
            ("FILLFACTOR", Some(tree::SettingValue::Expr(expr))) => {
                let Some(tree::Literal::Int(percent)) = expr.literal() else {
                    return Err(Box::new(SqlError::incorrect_syntax(&option.name)));
                };
                let given = u8::try_from(*percent).ok().filter(|percent| (1..=100).contains(percent));
                wish.fill_factor = Some(given.ok_or_else(|| SqlError::fill_factor_invalid(percent))?);
            }
            ("PAD_INDEX", _) => wish.padded = Some(is_on(options, "PAD_INDEX")),
            ("DATA_COMPRESSION", Some(tree::SettingValue::Word(word))) => {
                wish.compression = Compression::ALL.into_iter().find(|known| known.name() == word);
            }
            _ => {}
        }
    }
    Ok(wish)
}

/// Whether an option is on; to name it alone is to say so.
pub(crate) fn is_on(options: &[tree::SettingOption], name: &str) -> bool {
    let said = options.iter().find(|option| option.name == name);
    said.is_some_and(|option| matches!(option.value, None | Some(tree::SettingValue::On)))
}

/// The option by which an INSERT leaves rows out whose keys are there.
pub(crate) const IGNORE_DUP_KEY: &str = "IGNORE_DUP_KEY";

/// Only keys of which there is one can be there already.
///
/// # Errors
/// 1916 for IGNORE_DUP_KEY of an index whose keys may repeat.
pub(crate) fn check_ignores_duplicates(options: &[tree::SettingOption], unique: bool) -> Result<(), Fault> {
    if is_on(options, IGNORE_DUP_KEY) && !unique {
        return Err(Box::new(SqlError::index_options_exclude("nonunique", "ignore_dup_key")));
    }
    Ok(())
}

/// What an index has beside its key.
///
/// # Errors
/// As of [`FilterOf::read`]; 10618 for IGNORE_DUP_KEY of a filtered index.
pub(crate) fn extras(
    include: &[tree::Name],
    filter: Option<&tree::Condition>,
    options: &[tree::SettingOption],
    of: &FilterOf<'_>,
) -> Result<IndexExtras, Fault> {
    let mut extras = IndexExtras {
        included: include.iter().map(|name| name.text.clone()).collect(),
        filter: filter.map(tree::stored_filter),
        ignores_duplicates: is_on(options, IGNORE_DUP_KEY),
        storage: storage_wish(options)?,
        ..IndexExtras::default()
    };
    if let Some(filter) = filter {
        if extras.ignores_duplicates {
            return Err(Box::new(SqlError::filtered_index_ignores_duplicates("create", of.index, of.table)));
        }
        of.read(filter, &mut extras)?;
    }
    Ok(extras)
}

/// The columns of a key, true for DESC.
pub(crate) fn key_columns(columns: &[tree::IndexColumn]) -> Vec<(String, bool)> {
    columns.iter().map(|column| (column.name.text.clone(), column.descending)).collect()
}

impl Wanted {
    /// Notes the filegroup that `ON` names.
    ///
    /// # Errors
    /// 1921 for one that is not there.
    pub(crate) fn place(&mut self, filegroups: &Catalog) -> Result<(), Fault> {
        self.definition.extras.storage.filegroup = filegroup::placed(filegroups, self.on.as_ref())?;
        Ok(())
    }

    /// Checks that it is an index that tables on disk have.
    ///
    /// # Errors
    /// 10791 for a hash index.
    pub(crate) fn check_on_disk(&self) -> Result<(), Fault> {
        match self.definition.extras.hash {
            Some(_) => Err(Box::new(SqlError::hash_index_on_disk())),
            None => Ok(()),
        }
    }

    /// The definition for a table that exists: clustered when it says so, or when it is a primary key and nothing is.
    pub(crate) fn for_table(self, has_clustered: bool) -> IndexDefinition {
        let primary = self.definition.kind == IndexKind::PrimaryKey;
        IndexDefinition { clustered: self.clustered.unwrap_or(primary && !has_clustered), ..self.definition }
    }
}
