//! Security policies as T-SQL text.

use std::fmt::{Display, Formatter, Result};

use super::{Commas, optional, words};
use crate::tree::{BlockOperation, PredicateChange, PredicateVerb, SecurityPolicy};

impl Display for SecurityPolicy {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{} SECURITY POLICY {}", if self.alter { "ALTER" } else { "CREATE" }, self.name)?;
        if !self.changes.is_empty() {
            write!(f, " {}", Commas(&self.changes))?;
        }
        let on = |on: bool| if on { "ON" } else { "OFF" };
        let options = [("STATE", self.enabled), ("SCHEMABINDING", self.schema_bound)];
        let options = options.into_iter().filter_map(|(name, value)| Some(format!("{name} = {}", on(value?))));
        let options: Vec<String> = options.collect();
        if !options.is_empty() {
            write!(f, " WITH ({})", Commas(&options))?;
        }
        words(f, self.not_for_replication, " NOT FOR REPLICATION")
    }
}

impl Display for PredicateChange {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.verb {
            PredicateVerb::Add => "ADD ",
            PredicateVerb::Alter => "ALTER ",
            PredicateVerb::Drop => "DROP ",
        })?;
        f.write_str(if self.block { "BLOCK PREDICATE" } else { "FILTER PREDICATE" })?;
        optional(f, " ", &self.call, "")?;
        write!(f, " ON {}", self.target)?;
        optional(f, " ", &self.operation, "")
    }
}

impl Display for BlockOperation {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            BlockOperation::AfterInsert => "AFTER INSERT",
            BlockOperation::AfterUpdate => "AFTER UPDATE",
            BlockOperation::BeforeUpdate => "BEFORE UPDATE",
            BlockOperation::BeforeDelete => "BEFORE DELETE",
        })
    }
}
