//! What CREATE TABLE and ALTER TABLE say, as the engine wants it.

use crate::bind::{TypePlace, sql_type};
use crate::errors;
use crate::expression::Fault;
use pikepole_engine::{ColumnDefinition, Identity, IndexDefinition, IndexKind, TableDefinition};
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType};

/// The text of a statement and where it begins in its batch.
pub(crate) struct Described<'t> {
    pub(crate) text: &'t str,
    pub(crate) start: u32,
}

impl Described<'_> {
    /// The text of an expression, in parentheses as the catalog views show it.
    pub(crate) fn expression(&self, expr: &tree::Expr) -> String {
        let span = expr.span;
        let from = span.start.saturating_sub(self.start) as usize;
        let to = span.end.saturating_sub(self.start) as usize;
        format!("({})", self.text.get(from..to).unwrap_or_default())
    }
}

/// The definition of a table to be made.
///
/// # Errors
/// Types, keys and identities that cannot be; constraints that are not supported, by name.
pub(crate) fn table(
    create: &tree::CreateTable,
    schema: String,
    described: &Described<'_>,
) -> Result<TableDefinition, Fault> {
    for option in &create.options {
        let plain = matches!(option.value, Some(tree::SettingValue::Off) | None);
        let special = ["MEMORY_OPTIMIZED", "SYSTEM_VERSIONING", "LEDGER"];
        if special.contains(&option.name.as_str()) && !plain {
            return Err(errors::unsupported(format!("The table option {}", option.name)));
        }
    }
    let name = create.name.name.text.clone();
    let mut columns = Vec::new();
    let mut indexes = Vec::new();
    for element in &create.elements {
        match element {
            tree::TableElement::Column(definition) => {
                let position = columns.len() + 1;
                columns.push(column(definition, position, &name, described)?);
                for constraint in &definition.constraints {
                    let own = Some(&definition.name);
                    let index = constraint_index(&constraint.kind, constraint.name.as_ref(), own)?;
                    indexes.push(index);
                }
                for inline in &definition.indexes {
                    indexes.push(inline_index(inline, Some(&definition.name))?);
                }
            }
            tree::TableElement::Constraint(constraint) => {
                let name = constraint.name.as_ref();
                indexes.push(constraint_index(&constraint.kind, name, None)?);
            }
            tree::TableElement::Index(inline) => indexes.push(inline_index(inline, None)?),
            tree::TableElement::Period(..) => {
                return Err(errors::unsupported("PERIOD FOR SYSTEM_TIME"));
            }
        }
    }
    check_keys(create, &indexes)?;
    let indexes = clustered_defaults(indexes);
    Ok(TableDefinition { schema, name, columns, indexes })
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
}

/// A primary key is clustered unless it says otherwise or another index says CLUSTERED; everything else is not.
fn clustered_defaults(indexes: Vec<Wanted>) -> Vec<IndexDefinition> {
    let said = indexes.iter().any(|index| index.clustered == Some(true));
    indexes
        .into_iter()
        .map(|index| {
            let primary = index.definition.kind == IndexKind::PrimaryKey;
            IndexDefinition { clustered: index.clustered.unwrap_or(primary && !said), ..index.definition }
        })
        .collect()
}

/// A column of a table.
///
/// # Errors
/// Types, identities, constructs not supported.
pub(crate) fn column(
    definition: &tree::ColumnDefinition,
    position: usize,
    table: &str,
    described: &Described<'_>,
) -> Result<ColumnDefinition, Fault> {
    let name = &definition.name.text;
    let tree::ColumnKind::Stored(data_type) = &definition.kind else {
        return Err(errors::unsupported("A computed column"));
    };
    if definition.generated.is_some() || definition.masked.is_some() {
        return Err(errors::unsupported("GENERATED ALWAYS or MASKED"));
    }
    if let Some(collation) = &definition.collation {
        check_collation(collation)?;
    }
    let ty = sql_type(data_type, TypePlace::Declaration, position)?;
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
            Some((default.name.as_ref().map(|name| name.text.clone()), described.expression(&default.expr)))
        }
    };
    Ok(ColumnDefinition {
        name: name.clone(),
        ty,
        nullable: definition.nullable.unwrap_or(identity.is_none()),
        default,
        identity,
    })
}

/// The collations that are the database's own under another name.
fn check_collation(collation: &tree::Name) -> Result<(), Fault> {
    let own = ["SQL_Latin1_General_CP1_CI_AS", "Latin1_General_CI_AS", "database_default"];
    if own.iter().any(|name| collation.is(name)) {
        return Ok(());
    }
    Err(errors::unsupported(format!("COLLATE {}", collation.text)))
}

fn identity(
    definition: &tree::ColumnDefinition,
    identity: &tree::Identity,
    ty: &SqlType,
    table: &str,
) -> Result<Identity, Fault> {
    let name = &definition.name.text;
    let whole = ty.is_integer() || matches!(ty, SqlType::Decimal { scale: 0, .. });
    if !whole {
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
        return Err(Box::new(SqlError::identity_type_invalid(name)));
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
        tree::ConstraintKind::Foreign(_) => {
            return Err(errors::unsupported("A FOREIGN KEY constraint"));
        }
        tree::ConstraintKind::Check { .. } => {
            return Err(errors::unsupported("A CHECK constraint"));
        }
        tree::ConstraintKind::Default { .. } => {
            return Err(errors::unsupported("DEFAULT ... FOR here"));
        }
    };
    if key.hash {
        return Err(errors::unsupported("A HASH index"));
    }
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
        },
        clustered: key.clustered,
    })
}

fn inline_index(inline: &tree::InlineIndex, own_column: Option<&tree::Name>) -> Result<Wanted, Fault> {
    if inline.kind != tree::IndexKind::Rows || inline.hash {
        return Err(errors::unsupported("A columnstore or HASH index"));
    }
    if inline.filter.is_some() {
        return Err(errors::unsupported("A filtered index"));
    }
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
        },
        clustered: inline.clustered,
    })
}

/// The columns of a key, true for DESC.
pub(crate) fn key_columns(columns: &[tree::IndexColumn]) -> Vec<(String, bool)> {
    columns.iter().map(|column| (column.name.text.clone(), column.descending)).collect()
}

impl Wanted {
    /// The definition for a table that exists: clustered when it says so, or when it is a primary key and nothing is.
    pub(crate) fn for_table(self, has_clustered: bool) -> IndexDefinition {
        let primary = self.definition.kind == IndexKind::PrimaryKey;
        IndexDefinition { clustered: self.clustered.unwrap_or(primary && !has_clustered), ..self.definition }
    }
}
