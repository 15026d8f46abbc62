//! Plans as people read them: what SET SHOWPLAN_TEXT, SHOWPLAN_ALL and SHOWPLAN_XML show of statements that are not run, and SET
//! STATISTICS PROFILE and XML of those that were.
//!
//! ```text
//!   plan::Statement ──► Shown, a tree of operators by their usual names
//!                         ├──► rows:  |--Sort(ORDER BY:([t].[a] ASC))
//!                         └──► XML    <RelOp PhysicalOp="Sort" ...>
//! ```
//! Estimates are the planner's own: rows, and costs counted in rows read. It has none of pages, of the processor and of the size
//! of rows, and none of sources that it knows nothing of; those are NULL, and left out of the XML.

mod expression;
mod object;
mod operator;
mod rows;
mod xml;

pub(crate) use operator::{Shown, operators};
pub(crate) use rows::{Statistics, columns, rows, text_columns, text_rows};
pub(crate) use xml::{document, xml_columns};

use crate::output::DoneKind;
use crate::plan::{self, Action};
use crate::program::{LateKind, Variable};
use pikepole_types::Value;

/// A statement and its plan, as they are shown.
pub(crate) struct ShownStatement {
    /// The text.
    pub(crate) text: String,
    /// Its number in the batch, from 1.
    pub(crate) number: i32,
    /// `SELECT`, `INSERT`, ...
    pub(crate) kind: &'static str,
    /// The operators.
    pub(crate) plan: Shown,
    /// How many rows it gave or changed; None when it was not run.
    pub(crate) rows: Option<u64>,
    /// The variables whose values its plan was made for.
    pub(crate) parameters: Vec<ShownParameter>,
}

/// A variable whose value a plan was made for.
pub(crate) struct ShownParameter {
    pub(crate) name: String,
    pub(crate) ty: String,
    pub(crate) value: String,
}

/// The parameters whose values a plan was made for.
pub(crate) fn parameters(plan: &plan::Statement, variables: &[Variable]) -> Vec<ShownParameter> {
    let shown = |(slot, value): &(usize, Value)| {
        let variable = variables.get(*slot)?;
        let (name, ty) = (variable.name.clone(), variable.ty.to_string());
        Some(ShownParameter { name, ty, value: expression::constant_text(value) })
    };
    plan.values.iter().filter_map(shown).collect()
}

/// What a statement that has a plan is called.
pub(crate) fn kind(late: &LateKind, plan: &plan::Statement) -> &'static str {
    match (late, &plan.action) {
        (LateKind::Value { .. }, _) => "ASSIGN",
        (LateKind::Condition { .. }, _) => "COND",
        (LateKind::Into(_), _) => "SELECT INTO",
        (_, Action::Select { .. } | Action::Assign { .. }) => "SELECT",
        (_, Action::Insert(_)) => "INSERT",
        (_, Action::Update(_)) => "UPDATE",
        (_, Action::Delete(_)) => "DELETE",
        (_, Action::Instead(instead)) => instead.event.name(),
        (_, Action::Change(change)) => match change.kind {
            DoneKind::Delete => "DELETE",
            DoneKind::Merge => "MERGE",
            _ => "UPDATE",
        },
    }
}
