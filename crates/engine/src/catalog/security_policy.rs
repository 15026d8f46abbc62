//! Security policies: which rows of tables are there for whom, and which changes of rows are refused.

use serde::{Deserialize, Serialize};

use super::definition::Module;

/// A security policy. It is an object of its own, but what a statement does to a table depends on the policies that name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityPolicy {
    /// Its name; the text is empty.
    pub module: Module,
    /// STATE = ON: its predicates are looked at.
    pub enabled: bool,
    /// SCHEMABINDING = ON: its functions are bound to the schema, and who uses the tables needs no permission on them.
    pub schema_bound: bool,
    /// NOT FOR REPLICATION was said.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not_for_replication: bool,
    /// Its predicates, by number.
    pub predicates: Vec<SecurityPredicate>,
    /// The highest number that a predicate has had.
    pub last_predicate: i32,
}

/// A predicate of a security policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecurityPredicate {
    /// Its number in the policy, from one.
    pub id: i32,
    /// The object id of the table.
    pub target: i32,
    /// The call of the function that gives a row for what passes, as T-SQL in parentheses.
    pub call: String,
    /// What it is for.
    pub kind: PredicateKind,
}

/// What a predicate is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PredicateKind {
    /// Rows that it does not let pass are not there.
    Filter,
    /// Changes of rows that it does not let pass fail; none: all changes.
    Block(Option<BlockedChange>),
}

/// What of a change a block predicate looks at, numbered as the views number it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BlockedChange {
    /// AFTER INSERT: the new row.
    AfterInsert = 1,
    /// AFTER UPDATE: what the row has become.
    AfterUpdate = 2,
    /// BEFORE UPDATE: what the row was.
    BeforeUpdate = 3,
    /// BEFORE DELETE: the row that goes.
    BeforeDelete = 4,
}

impl BlockedChange {
    /// Its name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            BlockedChange::AfterInsert => "AFTER INSERT",
            BlockedChange::AfterUpdate => "AFTER UPDATE",
            BlockedChange::BeforeUpdate => "BEFORE UPDATE",
            BlockedChange::BeforeDelete => "BEFORE DELETE",
        }
    }
}

impl PredicateKind {
    /// Its name in T-SQL.
    pub fn name(self) -> &'static str {
        match self {
            PredicateKind::Filter => "FILTER",
            PredicateKind::Block(_) => "BLOCK",
        }
    }

    /// Whether it looks at this of a change.
    pub fn blocks(self, change: BlockedChange) -> bool {
        matches!(self, PredicateKind::Block(of) if of.is_none_or(|of| of == change))
    }

    /// Whether the two are for the same.
    fn meets(self, other: PredicateKind) -> bool {
        match (self, other) {
            (PredicateKind::Filter, PredicateKind::Filter) => true,
            (PredicateKind::Block(one), PredicateKind::Block(other)) => {
                one.is_none() || other.is_none() || one == other
            }
            _ => false,
        }
    }
}

impl SecurityPredicate {
    /// Whether both are for the same rows of the same table.
    pub fn meets(&self, other: &SecurityPredicate) -> bool {
        self.target == other.target && self.kind.meets(other.kind)
    }
}
