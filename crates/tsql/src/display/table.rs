//! Tables and indexes.

use std::fmt::{Display, Formatter, Result};

use super::definition::with_options;
use super::{Commas, Parens, Quoted, optional, words};
use crate::tree::*;

/// ` NULL` or ` NOT NULL`
pub(super) fn nullable(f: &mut Formatter<'_>, nullable: Option<bool>) -> Result {
    match nullable {
        Some(true) => f.write_str(" NULL"),
        Some(false) => f.write_str(" NOT NULL"),
        None => Ok(()),
    }
}

/// ` CLUSTERED` or ` NONCLUSTERED`
fn clustered(f: &mut Formatter<'_>, clustered: Option<bool>) -> Result {
    match clustered {
        Some(true) => f.write_str(" CLUSTERED"),
        Some(false) => f.write_str(" NONCLUSTERED"),
        None => Ok(()),
    }
}

impl Display for CreateTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE TABLE {} ({})", self.name, Commas(&self.elements))?;
        optional(f, " ON ", &self.on, "")?;
        optional(f, " TEXTIMAGE_ON ", &self.textimage_on, "")?;
        with_options(f, &self.options)
    }
}

impl Display for Placement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        optional(f, " (", &self.column, ")")
    }
}

impl Display for TableElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TableElement::Column(column) => column.fmt(f),
            TableElement::Constraint(constraint) => {
                optional(f, "CONSTRAINT ", &constraint.name, " ")?;
                constraint.kind.fmt(f)
            }
            TableElement::Index(index) => index.fmt(f),
            TableElement::Period(start, end) => write!(f, "PERIOD FOR SYSTEM_TIME ({start}, {end})"),
        }
    }
}

impl Display for ColumnDefinition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        match &self.kind {
            ColumnKind::Stored(data_type) => write!(f, " {data_type}")?,
            ColumnKind::Computed { expr, persisted } => {
                write!(f, " AS ({expr})")?;
                words(f, *persisted, " PERSISTED")?;
            }
        }
        optional(f, " COLLATE ", &self.collation, "")?;
        words(f, self.sparse, " SPARSE")?;
        optional(f, " MASKED WITH (FUNCTION = ", &self.masked.as_deref().map(Quoted), ")")?;
        optional(f, " GENERATED ALWAYS AS ", &self.generated, "")?;
        words(f, self.hidden, " HIDDEN")?;
        if let Some(identity) = &self.identity {
            f.write_str(" IDENTITY")?;
            if let Some((seed, step)) = &identity.range {
                write!(f, "({seed}, {step})")?;
            }
            words(f, identity.not_for_replication, " NOT FOR REPLICATION")?;
        }
        words(f, self.rowguidcol, " ROWGUIDCOL")?;
        nullable(f, self.nullable)?;
        if let Some(default) = &self.default {
            optional(f, " CONSTRAINT ", &default.name, "")?;
            write!(f, " DEFAULT ({})", default.expr)?;
            words(f, default.with_values, " WITH VALUES")?;
        }
        for constraint in &self.constraints {
            optional(f, " CONSTRAINT ", &constraint.name, "")?;
            write!(f, " {}", constraint.kind)?;
        }
        self.indexes.iter().try_for_each(|index| write!(f, " {index}"))
    }
}

impl Display for ConstraintKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            ConstraintKind::Key(key) => {
                f.write_str(if key.primary { "PRIMARY KEY" } else { "UNIQUE" })?;
                clustered(f, key.clustered)?;
                words(f, key.hash, " HASH")?;
                Parens(&key.columns).fmt(f)?;
                with_options(f, &key.options)?;
                optional(f, " ON ", &key.on, "")
            }
            ConstraintKind::Foreign(key) => {
                f.write_str("FOREIGN KEY")?;
                write!(f, "{} REFERENCES {}{}", Parens(&key.columns), key.table, Parens(&key.referenced))?;
                action(f, " ON DELETE ", key.on_delete)?;
                action(f, " ON UPDATE ", key.on_update)?;
                words(f, key.not_for_replication, " NOT FOR REPLICATION")
            }
            ConstraintKind::Check { not_for_replication, condition } => {
                f.write_str("CHECK ")?;
                words(f, *not_for_replication, "NOT FOR REPLICATION ")?;
                write!(f, "({condition})")
            }
            ConstraintKind::Default { expr, column, with_values } => {
                write!(f, "DEFAULT ({expr}) FOR {column}")?;
                words(f, *with_values, " WITH VALUES")
            }
        }
    }
}

fn action(f: &mut Formatter<'_>, before: &str, action: ReferentialAction) -> Result {
    let word = match action {
        ReferentialAction::NoAction => return Ok(()),
        ReferentialAction::Cascade => "CASCADE",
        ReferentialAction::SetNull => "SET NULL",
        ReferentialAction::SetDefault => "SET DEFAULT",
    };
    write!(f, "{before}{word}")
}

impl Display for IndexColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        words(f, self.descending, " DESC")
    }
}

impl Display for InlineIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "INDEX {}", self.name)?;
        words(f, self.unique, " UNIQUE")?;
        clustered(f, self.clustered)?;
        words(f, self.kind == IndexKind::Columnstore, " COLUMNSTORE")?;
        words(f, self.hash, " HASH")?;
        Parens(&self.columns).fmt(f)?;
        index_tail(f, &self.include, &self.filter, &self.options, &self.on)
    }
}

fn index_tail(
    f: &mut Formatter<'_>,
    include: &[Name],
    filter: &Option<Condition>,
    options: &[SettingOption],
    on: &Option<Placement>,
) -> Result {
    words(f, !include.is_empty(), " INCLUDE")?;
    Parens(include).fmt(f)?;
    optional(f, " WHERE ", filter, "")?;
    with_options(f, options)?;
    optional(f, " ON ", on, "")
}

impl Display for CreateIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CREATE")?;
        words(f, self.unique, " UNIQUE")?;
        clustered(f, self.clustered)?;
        f.write_str(match self.kind {
            IndexKind::Rows => " INDEX",
            IndexKind::Columnstore => " COLUMNSTORE INDEX",
            IndexKind::Xml if self.primary => " PRIMARY XML INDEX",
            IndexKind::Xml => " XML INDEX",
            IndexKind::Spatial => " SPATIAL INDEX",
        })?;
        write!(f, " {} ON {}{}", self.name, self.table, Parens(&self.columns))?;
        if let Some(using) = &self.using {
            let purpose = match using.purpose {
                XmlIndexPurpose::Path => "PATH",
                XmlIndexPurpose::Property => "PROPERTY",
                XmlIndexPurpose::Value => "VALUE",
            };
            write!(f, " USING XML INDEX {} FOR {purpose}", using.primary)?;
        }
        index_tail(f, &self.include, &self.filter, &self.options, &self.on)
    }
}

impl Display for AlterIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.name {
            Some(name) => write!(f, "ALTER INDEX {name} ON {}", self.table)?,
            None => write!(f, "ALTER INDEX ALL ON {}", self.table)?,
        }
        f.write_str(match self.action {
            AlterIndexAction::Rebuild => " REBUILD",
            AlterIndexAction::Reorganize => " REORGANIZE",
            AlterIndexAction::Disable => " DISABLE",
            AlterIndexAction::Set => return write!(f, " SET ({})", Commas(&self.options)),
        })?;
        optional(f, " PARTITION = ", &self.partition, "")?;
        with_options(f, &self.options)
    }
}

impl Display for DropIndex {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("DROP INDEX ")?;
        words(f, self.if_exists, "IF EXISTS ")?;
        for (position, index) in self.indexes.iter().enumerate() {
            words(f, position > 0, ", ")?;
            write!(f, "{} ON {}", index.name, index.table)?;
            with_options(f, &index.options)?;
        }
        Ok(())
    }
}

fn names_or_all(f: &mut Formatter<'_>, names: &[Name]) -> Result {
    if names.is_empty() { f.write_str("ALL") } else { Commas(names).fmt(f) }
}

fn check_words(f: &mut Formatter<'_>, check: Option<bool>) -> Result {
    match check {
        Some(true) => f.write_str("WITH CHECK "),
        Some(false) => f.write_str("WITH NOCHECK "),
        None => Ok(()),
    }
}

impl Display for AlterTableAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            AlterTableAction::Add { check, elements } => {
                check_words(f, *check)?;
                write!(f, "ADD {}", Commas(elements))
            }
            AlterTableAction::AlterColumn { column, options } => {
                write!(f, "ALTER COLUMN {column}")?;
                with_options(f, options)
            }
            AlterTableAction::AlterColumnProperty { column, add, property, options } => {
                write!(f, "ALTER COLUMN {column} {} {property}", if *add { "ADD" } else { "DROP" })?;
                with_options(f, options)
            }
            AlterTableAction::AlterColumnMask { column, function: None } => {
                write!(f, "ALTER COLUMN {column} DROP MASKED")
            }
            AlterTableAction::AlterColumnMask { column, function: Some(function) } => {
                write!(f, "ALTER COLUMN {column} ADD MASKED WITH (FUNCTION = {})", Quoted(function))
            }
            AlterTableAction::Drop(elements) => write!(f, "DROP {}", Commas(elements)),
            AlterTableAction::SetConstraints { check, enable, names } => {
                check_words(f, *check)?;
                f.write_str(if *enable { "CHECK CONSTRAINT " } else { "NOCHECK CONSTRAINT " })?;
                names_or_all(f, names)
            }
            AlterTableAction::SetTriggers { enable, names } => {
                f.write_str(if *enable { "ENABLE TRIGGER " } else { "DISABLE TRIGGER " })?;
                names_or_all(f, names)
            }
            AlterTableAction::Rebuild { partition, options } => {
                f.write_str("REBUILD")?;
                optional(f, " PARTITION = ", partition, "")?;
                with_options(f, options)
            }
            AlterTableAction::Set(options) => write!(f, "SET ({})", Commas(options)),
            AlterTableAction::Switch { partition, target, target_partition, options } => {
                f.write_str("SWITCH")?;
                optional(f, " PARTITION ", partition, "")?;
                write!(f, " TO {target}")?;
                optional(f, " PARTITION ", target_partition, "")?;
                with_options(f, options)
            }
        }
    }
}

impl Display for DropElement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.kind {
            DropElementKind::Constraint => "CONSTRAINT ",
            DropElementKind::Column => "COLUMN ",
            DropElementKind::Index => "INDEX ",
            DropElementKind::Period => "PERIOD FOR ",
        })?;
        words(f, self.if_exists, "IF EXISTS ")?;
        self.name.fmt(f)?;
        with_options(f, &self.options)
    }
}
