//! Databases and the server.

use std::fmt::{Display, Formatter, Result};

use super::definition::with_bare_options;
use super::{Commas, Parens, Quoted, optional, words};
use crate::tree::*;

pub(super) fn administration(f: &mut Formatter<'_>, kind: &StatementKind) -> Result {
    match kind {
        StatementKind::CreateDatabase(database) => database.fmt(f),
        StatementKind::AlterDatabase(alter) => alter.fmt(f),
        StatementKind::Use(name) => write!(f, "USE {name}"),
        StatementKind::Checkpoint(seconds) => {
            f.write_str("CHECKPOINT")?;
            optional(f, " ", seconds, "")
        }
        StatementKind::Dbcc(dbcc) => {
            write!(f, "DBCC {}{}", dbcc.name, Parens(&dbcc.arguments))?;
            with_bare_options(f, &dbcc.options)
        }
        StatementKind::AlterServerConfiguration(configuration) => {
            write!(f, "ALTER SERVER CONFIGURATION SET {configuration}")
        }
        StatementKind::Reconfigure { with_override } => {
            f.write_str("RECONFIGURE")?;
            words(f, *with_override, " WITH OVERRIDE")
        }
        StatementKind::Kill(kill) => {
            write!(f, "KILL {}", kill.target)?;
            words(f, kill.status_only, " WITH STATUSONLY")
        }
        StatementKind::Shutdown { nowait } => {
            f.write_str("SHUTDOWN")?;
            words(f, *nowait, " WITH NOWAIT")
        }
        StatementKind::Backup(backup) => {
            write!(f, "BACKUP {}", backup.kind)?;
            backup_tail(f, backup, " TO ")
        }
        StatementKind::Restore(restore) => {
            write!(f, "RESTORE {}", restore.kind)?;
            backup_tail(f, restore, " FROM ")
        }
        StatementKind::Permission(permission) => permission.fmt(f),
        StatementKind::Principal(principal) => principal.fmt(f),
        // All others are written by the functions that call this one.
        _ => Ok(()),
    }
}

fn backup_tail(f: &mut Formatter<'_>, backup: &Backup, direction: &str) -> Result {
    optional(f, " ", &backup.database, "")?;
    if !backup.parts.is_empty() {
        write!(f, " {}", Commas(&backup.parts))?;
    }
    if !backup.devices.is_empty() {
        write!(f, "{direction}{}", Commas(&backup.devices))?;
    }
    with_bare_options(f, &backup.options)
}

impl Display for CreateDatabase {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "CREATE DATABASE {}", self.name)?;
        optional(f, " CONTAINMENT = ", &self.containment, "")?;
        if !self.primary.is_empty() || !self.filegroups.is_empty() {
            f.write_str(" ON ")?;
            words(f, !self.primary.is_empty(), "PRIMARY ")?;
            Commas(&self.primary).fmt(f)?;
            words(f, !self.primary.is_empty() && !self.filegroups.is_empty(), ", ")?;
            Commas(&self.filegroups).fmt(f)?;
        }
        if !self.log.is_empty() {
            write!(f, " LOG ON {}", Commas(&self.log))?;
        }
        optional(f, " COLLATE ", &self.collation, "")?;
        optional(f, " FOR ", &self.attach, "")?;
        optional(f, " AS SNAPSHOT OF ", &self.snapshot_of, "")?;
        for (index, option) in self.options.iter().enumerate() {
            f.write_str(if index == 0 { " WITH " } else { ", " })?;
            database_option(f, option)?;
        }
        Ok(())
    }
}

impl Display for FileGroup {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "FILEGROUP {}", self.name)?;
        optional(f, " CONTAINS ", &self.contains, "")?;
        words(f, self.default, " DEFAULT")?;
        write!(f, " {}", Commas(&self.files))
    }
}

impl Display for FileSpec {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let mut before = "(";
        let texts = [("NAME", &self.name), ("NEWNAME", &self.new_name), ("FILENAME", &self.filename)];
        for (word, text) in texts {
            if let Some(text) = text {
                write!(f, "{before}{word} = {}", Quoted(text))?;
                before = ", ";
            }
        }
        for (word, size) in [("SIZE", self.size), ("MAXSIZE", self.max_size), ("FILEGROWTH", self.growth)] {
            if let Some(size) = size {
                write!(f, "{before}{word} = {size}")?;
                before = ", ";
            }
        }
        if self.offline {
            write!(f, "{before}OFFLINE")?;
        }
        f.write_str(")")
    }
}

impl Display for FileSize {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            FileSize::Of(count, SizeUnit::Kilobytes) => write!(f, "{count} KB"),
            FileSize::Of(count, SizeUnit::Megabytes) => write!(f, "{count} MB"),
            FileSize::Of(count, SizeUnit::Gigabytes) => write!(f, "{count} GB"),
            FileSize::Of(count, SizeUnit::Terabytes) => write!(f, "{count} TB"),
            FileSize::Percent(count) => write!(f, "{count}%"),
            FileSize::Unlimited => f.write_str("UNLIMITED"),
        }
    }
}

impl Display for AlterDatabase {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("ALTER DATABASE ")?;
        if let AlterDatabaseAction::ScopedConfiguration { name, secondary, value } = &self.action {
            f.write_str("SCOPED CONFIGURATION ")?;
            words(f, *secondary, "FOR SECONDARY ")?;
            return match value {
                Some(value) => write!(f, "SET {name} = {value}"),
                None => write!(f, "CLEAR {name}"),
            };
        }
        match &self.name {
            Some(name) => write!(f, "{name} "),
            None => f.write_str("CURRENT "),
        }?;
        self.action.fmt(f)
    }
}

impl Display for AlterDatabaseAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            AlterDatabaseAction::Set { options, termination } => {
                for (index, option) in options.iter().enumerate() {
                    f.write_str(if index == 0 { "SET " } else { ", " })?;
                    database_option(f, option)?;
                }
                match termination {
                    Some(Termination::RollbackImmediate) => f.write_str(" WITH ROLLBACK IMMEDIATE"),
                    Some(Termination::RollbackAfter(seconds)) => write!(f, " WITH ROLLBACK AFTER {seconds} SECONDS"),
                    Some(Termination::NoWait) => f.write_str(" WITH NO_WAIT"),
                    None => Ok(()),
                }
            }
            AlterDatabaseAction::AddFiles { files, filegroup } => {
                write!(f, "ADD FILE {}", Commas(files))?;
                optional(f, " TO FILEGROUP ", filegroup, "")
            }
            AlterDatabaseAction::AddLogFiles(files) => write!(f, "ADD LOG FILE {}", Commas(files)),
            AlterDatabaseAction::RemoveFile(name) => write!(f, "REMOVE FILE {name}"),
            AlterDatabaseAction::ModifyFile(file) => write!(f, "MODIFY FILE {file}"),
            AlterDatabaseAction::AddFilegroup { name, contains } => {
                write!(f, "ADD FILEGROUP {name}")?;
                optional(f, " CONTAINS ", contains, "")
            }
            AlterDatabaseAction::RemoveFilegroup(name) => write!(f, "REMOVE FILEGROUP {name}"),
            AlterDatabaseAction::ModifyFilegroup { name, property, new_name } => {
                write!(f, "MODIFY FILEGROUP {name} {property}")?;
                optional(f, " = ", new_name, "")
            }
            AlterDatabaseAction::Rename(name) => write!(f, "MODIFY NAME = {name}"),
            AlterDatabaseAction::Collate(name) => write!(f, "COLLATE {name}"),
            AlterDatabaseAction::ScopedConfiguration { name, .. } => f.write_str(name),
        }
    }
}

/// `RECOVERY SIMPLE`, but `DELAYED_DURABILITY = FORCED`.
fn database_option(f: &mut Formatter<'_>, option: &SettingOption) -> Result {
    const WITHOUT_EQUAL: &[&str] = &["CURSOR_DEFAULT", "PAGE_VERIFY", "PARAMETERIZATION", "RECOVERY"];
    const WITH_EQUAL: &[&str] = &["CHANGE_TRACKING", "QUERY_STORE"];
    match &option.value {
        Some(value @ SettingValue::Word(_)) if WITHOUT_EQUAL.contains(&option.name.as_str()) => {
            write!(f, "{} {value}", option.name)
        }
        Some(value @ (SettingValue::On | SettingValue::Off)) if !WITH_EQUAL.contains(&option.name.as_str()) => {
            write!(f, "{} {value}", option.name)
        }
        _ => option.fmt(f),
    }
}

impl Display for DbccArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            DbccArgument::Expr(expr) => expr.fmt(f),
            DbccArgument::Name(name) => name.fmt(f),
        }
    }
}

impl Display for ServerConfiguration {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ranges = |f: &mut Formatter<'_>, all: &[(u32, u32)]| {
            for (index, (first, last)) in all.iter().enumerate() {
                words(f, index > 0, ", ")?;
                if first == last {
                    write!(f, "{first}")?
                } else {
                    write!(f, "{first} TO {last}")?
                };
            }
            Ok(())
        };
        match self {
            ServerConfiguration::AffinityCpu(cpus) if cpus.is_empty() => f.write_str("PROCESS AFFINITY CPU = AUTO"),
            ServerConfiguration::AffinityCpu(cpus) => {
                f.write_str("PROCESS AFFINITY CPU = ")?;
                ranges(f, cpus)
            }
            ServerConfiguration::AffinityNumaNode(nodes) => {
                f.write_str("PROCESS AFFINITY NUMANODE = ")?;
                ranges(f, nodes)
            }
            ServerConfiguration::SoftNuma(on) => write!(f, "SOFTNUMA {}", if *on { "ON" } else { "OFF" }),
            ServerConfiguration::Pikepole { name, value } => write!(f, "PIKEPOLE {name} = {value}"),
            ServerConfiguration::Other { name, value } => {
                f.write_str(name)?;
                optional(f, " = ", value, "")
            }
        }
    }
}

impl Display for Permission {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.action {
            PermissionAction::Grant => "GRANT ",
            PermissionAction::Deny => "DENY ",
            PermissionAction::Revoke => "REVOKE ",
        })?;
        words(f, self.grant_option_for, "GRANT OPTION FOR ")?;
        for (index, (permission, columns)) in self.permissions.iter().enumerate() {
            words(f, index > 0, ", ")?;
            write!(f, "{permission}{}", Parens(columns))?;
        }
        if let Some(on) = &self.on {
            f.write_str(" ON ")?;
            optional(f, "", &on.class, "::")?;
            write!(f, "{}{}", on.name, Parens(&on.columns))?;
        }
        let direction = if self.action == PermissionAction::Revoke { "FROM" } else { "TO" };
        write!(f, " {direction} {}", Commas(&self.principals))?;
        words(f, self.with_grant_option, " WITH GRANT OPTION")?;
        words(f, self.cascade, " CASCADE")?;
        optional(f, " AS ", &self.grantor, "")
    }
}

impl Display for Principal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} {} {}", if self.alter { "ALTER" } else { "CREATE" }, self.kind, self.name)?;
        for (clause, name) in &self.clauses {
            write!(f, " {clause}")?;
            optional(f, " ", name, "")?;
        }
        with_bare_options(f, &self.options)
    }
}
