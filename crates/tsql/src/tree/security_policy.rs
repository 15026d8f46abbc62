//! Security policies.

use super::{FunctionCall, ObjectName};

/// `CREATE SECURITY POLICY`, `ALTER SECURITY POLICY`
#[derive(Debug, Clone, PartialEq)]
pub struct SecurityPolicy {
    /// True for ALTER.
    pub alter: bool,
    /// Its name.
    pub name: ObjectName,
    /// What becomes of its predicates, in the order written.
    pub changes: Vec<PredicateChange>,
    /// `STATE = ON`
    pub enabled: Option<bool>,
    /// `SCHEMABINDING = ON`
    pub schema_bound: Option<bool>,
    /// `NOT FOR REPLICATION`
    pub not_for_replication: bool,
}

/// What is done to one predicate of a security policy.
#[derive(Debug, Clone, PartialEq)]
pub struct PredicateChange {
    /// `ADD`, `ALTER` or `DROP`
    pub verb: PredicateVerb,
    /// `BLOCK`; otherwise `FILTER`.
    pub block: bool,
    /// The call of the function whose rows let a row pass; none where it is dropped.
    pub call: Option<Box<FunctionCall>>,
    /// The table.
    pub target: ObjectName,
    /// What a block predicate is about; none: all of it.
    pub operation: Option<BlockOperation>,
}

/// See [`PredicateChange::verb`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredicateVerb {
    /// `ADD`
    Add,
    /// `ALTER`
    Alter,
    /// `DROP`
    Drop,
}

/// Which rows of which statements a block predicate looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BlockOperation {
    /// `AFTER INSERT`
    AfterInsert,
    /// `AFTER UPDATE`
    AfterUpdate,
    /// `BEFORE UPDATE`
    BeforeUpdate,
    /// `BEFORE DELETE`
    BeforeDelete,
}
