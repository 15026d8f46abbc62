//! CREATE, ALTER and DROP of what is no table and no module; lists of options.

use std::fmt::{Display, Formatter, Result};

use super::{Commas, Parens, optional, words};
use crate::tree::*;

/// ` WITH (options)`
pub(super) fn with_options(f: &mut Formatter<'_>, options: &[SettingOption]) -> Result {
    if options.is_empty() { Ok(()) } else { write!(f, " WITH ({})", Commas(options)) }
}

/// ` WITH options`
pub(super) fn with_bare_options(f: &mut Formatter<'_>, options: &[SettingOption]) -> Result {
    if options.is_empty() { Ok(()) } else { write!(f, " WITH {}", Commas(options)) }
}

impl Display for PartitionStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            PartitionStatement::CreateFunction { name, data_type, right, boundaries } => {
                let side = if *right { "RIGHT" } else { "LEFT" };
                let values = Commas(boundaries);
                write!(f, "CREATE PARTITION FUNCTION {name} ({data_type}) AS RANGE {side} FOR VALUES ({values})")
            }
            PartitionStatement::AlterFunction { name, split, boundary } => {
                let action = if *split { "SPLIT" } else { "MERGE" };
                write!(f, "ALTER PARTITION FUNCTION {name} () {action} RANGE ({boundary})")
            }
            PartitionStatement::CreateScheme { name, function, all, filegroups } => {
                let all = if *all { "ALL " } else { "" };
                write!(f, "CREATE PARTITION SCHEME {name} AS PARTITION {function} {all}TO ({})", Commas(filegroups))
            }
            PartitionStatement::AlterScheme { name, next_used } => {
                write!(f, "ALTER PARTITION SCHEME {name} NEXT USED")?;
                optional(f, " ", next_used, "")
            }
            PartitionStatement::Drop { scheme, name } => {
                write!(f, "DROP PARTITION {} {name}", if *scheme { "SCHEME" } else { "FUNCTION" })
            }
        }
    }
}

impl Display for SettingOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.name)?;
        match &self.value {
            None => Ok(()),
            Some(SettingValue::Measure(count, unit)) if self.name == "SAMPLE" => write!(f, " {count} {unit}"),
            Some(SettingValue::List(pair)) if self.name == "MOVE" => {
                let mut values = pair.iter().filter_map(|part| part.value.as_ref());
                optional(f, " ", &values.next(), "")?;
                optional(f, " TO ", &values.next(), "")
            }
            Some(value @ (SettingValue::Place(_) | SettingValue::OnPartitions(None, _))) => write!(f, " {value}"),
            Some(value) => write!(f, " = {value}"),
        }
    }
}

impl Display for SettingValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SettingValue::On => f.write_str("ON"),
            SettingValue::Off => f.write_str("OFF"),
            SettingValue::Word(word) => f.write_str(word),
            SettingValue::Expr(expr) => expr.fmt(f),
            SettingValue::Measure(count, unit) => write!(f, "{count} {unit}"),
            SettingValue::List(options) => write!(f, "({})", Commas(options)),
            SettingValue::OnWith(options) => write!(f, "ON ({})", Commas(options)),
            // A bare word of one part would read as a word.
            SettingValue::Name(name) if name.schema.is_none() => write!(f, "[{}]", name.name.text.replace(']', "]]")),
            SettingValue::Name(name) => name.fmt(f),
            SettingValue::Place(place) => place.fmt(f),
            SettingValue::OnPartitions(value, ranges) => {
                optional(f, "", value, " ")?;
                f.write_str("ON PARTITIONS (")?;
                for (place, (first, last)) in ranges.iter().enumerate() {
                    write!(f, "{}{first}", if place > 0 { ", " } else { "" })?;
                    optional(f, " TO ", last, "")?;
                }
                f.write_str(")")
            }
        }
    }
}

pub(super) fn definition(f: &mut Formatter<'_>, kind: &StatementKind) -> Result {
    match kind {
        StatementKind::CreateTable(table) => table.fmt(f),
        StatementKind::AlterTable(table) => write!(f, "ALTER TABLE {} {}", table.table, table.action),
        StatementKind::CreateIndex(index) => index.fmt(f),
        StatementKind::AlterIndex(index) => index.fmt(f),
        StatementKind::DropIndex(index) => index.fmt(f),
        StatementKind::CreateStatistics(statistics) => {
            write!(f, "CREATE STATISTICS {} ON {}{}", statistics.name, statistics.table, Parens(&statistics.columns))?;
            optional(f, " WHERE ", &statistics.filter, "")?;
            with_bare_options(f, &statistics.options)
        }
        StatementKind::UpdateStatistics(statistics) => {
            write!(f, "UPDATE STATISTICS {}{}", statistics.table, Parens(&statistics.names))?;
            with_bare_options(f, &statistics.options)
        }
        StatementKind::CreateProcedure(procedure) => procedure.fmt(f),
        StatementKind::CreateFunction(function) => function.fmt(f),
        StatementKind::CreateView(view) => view.fmt(f),
        StatementKind::CreateTrigger(trigger) => trigger.fmt(f),
        StatementKind::SetTrigger(set) => {
            f.write_str(if set.enable { "ENABLE TRIGGER " } else { "DISABLE TRIGGER " })?;
            if set.names.is_empty() {
                f.write_str("ALL")?
            } else {
                Commas(&set.names).fmt(f)?
            };
            write!(f, " ON {}", set.on)
        }
        StatementKind::CreateType(create) => {
            let (verb, kind) = match create.kind {
                TypeKind::SchemaCollection { add, .. } => {
                    (if add { "ALTER" } else { "CREATE" }, DropKind::SchemaCollection)
                }
                _ => ("CREATE", DropKind::Type),
            };
            write!(f, "{verb} {kind} {}", create.name)?;
            match &create.kind {
                TypeKind::Alias { data_type, nullable } => {
                    write!(f, " FROM {data_type}")?;
                    super::table::nullable(f, *nullable)
                }
                TypeKind::SchemaCollection { text, add } => write!(f, " {} {text}", if *add { "ADD" } else { "AS" }),
                TypeKind::Table { elements, options } => {
                    write!(f, " AS TABLE ({})", Commas(elements))?;
                    with_options(f, options)
                }
            }
        }
        StatementKind::CreateSequence(sequence) => {
            write!(f, "{} SEQUENCE {}", if sequence.alter { "ALTER" } else { "CREATE" }, sequence.name)?;
            sequence.options.iter().try_for_each(|option| write!(f, " {option}"))
        }
        StatementKind::Partition(partition) => partition.fmt(f),
        StatementKind::CreateSynonym(synonym) => write!(f, "CREATE SYNONYM {} FOR {}", synonym.name, synonym.target),
        StatementKind::SecurityPolicy(policy) => policy.fmt(f),
        StatementKind::CreateSchema(schema) => {
            f.write_str("CREATE SCHEMA")?;
            optional(f, " ", &schema.name, "")?;
            optional(f, " AUTHORIZATION ", &schema.owner, "")?;
            schema.elements.iter().try_for_each(|element| write!(f, " {element}"))
        }
        StatementKind::TransferToSchema(transfer) => {
            write!(f, "ALTER SCHEMA {} TRANSFER ", transfer.schema)?;
            optional(f, "", &transfer.class, "::")?;
            transfer.object.fmt(f)
        }
        StatementKind::ChangeOwner(change) => {
            f.write_str("ALTER AUTHORIZATION ON ")?;
            optional(f, "", &change.class, "::")?;
            write!(f, "{} TO ", change.name)?;
            match &change.owner {
                Some(owner) => owner.fmt(f),
                None => f.write_str("SCHEMA OWNER"),
            }
        }
        StatementKind::Drop(drop) => drop.fmt(f),
        _ => super::administration::administration(f, kind),
    }
}

impl Display for SequenceOption {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SequenceOption::Type(data_type) => write!(f, "AS {data_type}"),
            SequenceOption::Start(value) => write!(f, "START WITH {value}"),
            SequenceOption::Restart(value) => {
                f.write_str("RESTART")?;
                optional(f, " WITH ", value, "")
            }
            SequenceOption::Increment(value) => write!(f, "INCREMENT BY {value}"),
            SequenceOption::Minimum(Some(value)) => write!(f, "MINVALUE {value}"),
            SequenceOption::Minimum(None) => f.write_str("NO MINVALUE"),
            SequenceOption::Maximum(Some(value)) => write!(f, "MAXVALUE {value}"),
            SequenceOption::Maximum(None) => f.write_str("NO MAXVALUE"),
            SequenceOption::Cycle(cycle) => f.write_str(if *cycle { "CYCLE" } else { "NO CYCLE" }),
            SequenceOption::Cache(count) => {
                f.write_str("CACHE")?;
                optional(f, " ", count, "")
            }
            SequenceOption::NoCache => f.write_str("NO CACHE"),
        }
    }
}

impl Display for DropKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            DropKind::Table => "TABLE",
            DropKind::View => "VIEW",
            DropKind::Procedure => "PROCEDURE",
            DropKind::Function => "FUNCTION",
            DropKind::Trigger => "TRIGGER",
            DropKind::Schema => "SCHEMA",
            DropKind::Database => "DATABASE",
            DropKind::Type => "TYPE",
            DropKind::SchemaCollection => "XML SCHEMA COLLECTION",
            DropKind::Sequence => "SEQUENCE",
            DropKind::Synonym => "SYNONYM",
            DropKind::SecurityPolicy => "SECURITY POLICY",
            DropKind::Statistics => "STATISTICS",
            DropKind::Login => "LOGIN",
            DropKind::User => "USER",
            DropKind::Role => "ROLE",
            DropKind::ServerRole => "SERVER ROLE",
            DropKind::ApplicationRole => "APPLICATION ROLE",
        })
    }
}

impl Display for Drop {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "DROP {} ", self.kind)?;
        words(f, self.if_exists, "IF EXISTS ")?;
        Commas(&self.names).fmt(f)?;
        optional(f, " ON ", &self.trigger_on, "")
    }
}
