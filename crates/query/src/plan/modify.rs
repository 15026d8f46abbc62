//! What statements that change rows do beyond one table of one clause: OUTPUT, and changes by joined rows.

use std::sync::Arc;

use super::{ColumnSource, Insert, Registers, TopCount};
use crate::access::Table;
use crate::expression::{Expr, Predicate};
use crate::output::{ColumnInfo, DoneKind};

/// OUTPUT of a statement that changes rows.
#[derive(Debug, Clone)]
pub struct OutputPlan {
    /// The new row: a slot for each column of the table. Absent where there is none.
    pub inserted: Option<Registers>,
    /// The slot that holds MERGE's `$action`.
    pub action: Option<usize>,
    /// The columns sent to the client; empty with INTO alone.
    pub columns: Vec<ColumnInfo>,
    /// Their values.
    pub values: Vec<Expr>,
    /// OUTPUT ... INTO.
    pub into: Option<OutputInto>,
}

impl OutputPlan {
    /// Whether the statement is written as an INSERT of the rows that it changes.
    pub fn inserts_changed(&self) -> bool {
        self.into.as_ref().is_some_and(|into| into.through.is_some())
    }

    /// Whether it can fail when its row is written.
    pub fn can_fail(&self) -> bool {
        self.into.is_some() || !self.values.iter().all(|value| matches!(value, Expr::Slot(_) | Expr::Const(_)))
    }
}

/// `OUTPUT ... INTO table`
#[derive(Debug, Clone)]
pub struct OutputInto {
    /// How its rows are made; they are inserted when all rows have been changed.
    pub insert: Box<Insert>,
    /// What the rows pass on their way: INSERT ... SELECT from a changing statement.
    pub through: Option<Box<Through>>,
}

/// A query between OUTPUT and the table that its rows go into.
#[derive(Debug, Clone)]
pub struct Through {
    /// What OUTPUT gives, and the slots that the query reads it from.
    pub values: Vec<(usize, Expr)>,
    /// Rows for which it does not hold are left out.
    pub filter: Option<Predicate>,
}

/// Rows of one table that are changed as joined rows say: UPDATE and DELETE with FROM or through a common table, and MERGE.
/// All joined rows are found before the first row is changed. A row that somebody has changed in between ends the attempt: the
/// statement is undone and begins again.
#[derive(Debug, Clone)]
pub struct Change {
    /// The table.
    pub table: Arc<Table>,
    /// The registers of the row that is changed: its columns.
    pub registers: Registers,
    /// The slot of its place; NULL where a joined row has none.
    pub locator: usize,
    /// The slot that is NULL where a row of the table has no source row (MERGE).
    pub source: Option<usize>,
    /// What is kept of each joined row: the table's columns first, then whatever else is read.
    pub kept: Vec<usize>,
    /// What is done, the first that fits.
    pub branches: Vec<Branch>,
    /// TOP: how many rows are changed at most.
    pub top: Option<TopCount>,
    /// True when a row found twice is error 8672; otherwise the first time counts.
    pub refuses_twice: bool,
    /// MERGE: what its condition reads of the source. Rows for which one is NULL can have no row of the table, and OUTPUT tells of
    /// them first, as where they are joined in the order of the keys: clients rely on that.
    pub source_keys: Vec<usize>,
    /// OUTPUT.
    pub output: Option<OutputPlan>,
    /// The kind of the statement.
    pub kind: DoneKind,
}

impl Change {
    /// The columns that an UPDATE changes; None when rows are inserted or deleted as well.
    pub(crate) fn updates_alone(&self) -> Option<Vec<usize>> {
        match self.branches.as_slice() {
            [Branch { action: BranchAction::Update { assignments, .. }, .. }] => {
                Some(assignments.iter().map(|(column, _)| *column).collect())
            }
            _ => None,
        }
    }
}

/// The rows a branch is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BranchRows {
    /// Rows of the table with a source row.
    Matched,
    /// Source rows without a row of the table.
    NotMatchedByTarget,
    /// Rows of the table without a source row.
    NotMatchedBySource,
}

/// One WHEN.
#[derive(Debug, Clone)]
pub struct Branch {
    /// For which rows.
    pub rows: BranchRows,
    /// AND what.
    pub condition: Option<Predicate>,
    /// What is done.
    pub action: BranchAction,
}

/// What a branch does.
#[derive(Debug, Clone)]
pub enum BranchAction {
    /// Changes columns, and sets variables.
    Update {
        /// The columns changed and their new values, already of the column's type.
        assignments: Vec<(usize, Expr)>,
        /// Variables set to the new value of a column or to an expression.
        variables: Vec<(usize, Expr)>,
    },
    /// Deletes the row.
    Delete,
    /// Inserts one.
    Insert(Insert),
}

fn visit_insert(insert: &Insert, visit: &mut dyn FnMut(usize)) {
    for source in insert.rows.iter().flatten() {
        if let ColumnSource::Value(value) = source {
            value.visit_slots(visit);
        }
    }
}

impl OutputPlan {
    /// Calls `visit` with every slot it reads.
    pub fn visit_read(&self, visit: &mut dyn FnMut(usize)) {
        self.values.iter().for_each(|value| value.visit_slots(visit));
        if let Some(into) = &self.into {
            visit_insert(&into.insert, visit);
            if let Some(through) = &into.through {
                through.values.iter().for_each(|(_, value)| value.visit_slots(visit));
                through.filter.iter().for_each(|filter| filter.visit_slots(visit));
            }
        }
    }

    /// Whether rows go to the client.
    pub fn sends(&self) -> bool {
        !self.columns.is_empty()
    }
}

impl Change {
    /// Calls `visit` with every slot it reads.
    pub fn visit_read(&self, visit: &mut dyn FnMut(usize)) {
        self.registers.range().for_each(&mut *visit);
        visit(self.locator);
        self.source.iter().chain(&self.source_keys).for_each(|slot| visit(*slot));
        if let Some(TopCount::OfRow(count)) = &self.top {
            count.visit_slots(visit);
        }
        for branch in &self.branches {
            branch.condition.iter().for_each(|condition| condition.visit_slots(visit));
            match &branch.action {
                BranchAction::Update { assignments, variables } => {
                    assignments.iter().chain(variables).for_each(|(_, value)| value.visit_slots(visit));
                }
                BranchAction::Delete => {}
                BranchAction::Insert(insert) => visit_insert(insert, visit),
            }
        }
        self.output.iter().for_each(|output| output.visit_read(visit));
    }
}
