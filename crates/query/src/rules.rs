//! What must hold for the rows of a table, and what follows from changing them: computed columns, CHECK and FOREIGN KEY.
//!
//! ```text
//!   row evaluated ─► computed columns ─► NOT NULL ─► CHECK ─► written, its keys noted
//!   all rows written ─► referring rows cascade ─► keys that must be gone are looked for ─► keys that must be there are too
//! ```
//! Foreign keys are looked at when the statement's last row is written: a statement may insert a row and the row it refers
//! to. The looks see what is newest, not the statement's snapshot (`pikepole_engine::Reference`).

use crate::expression::{Expr, Fault, Predicate};
use crate::plan::{Node, Registers};
use pikepole_engine::{PredicateKind, ReferentialAction, Table};
use std::sync::Arc;

/// The rules of a table that one statement has to keep.
#[derive(Debug, Default)]
pub struct Rules {
    /// The registers of the new row: all columns.
    pub(crate) registers: Registers,
    /// Computed columns and their values, already of their types.
    pub(crate) computed: Vec<(usize, Expr)>,
    /// The column that gets a new number with each change.
    pub(crate) rowversion: Option<usize>,
    /// The columns of PERIOD FOR SYSTEM_TIME.
    pub(crate) period: Option<PeriodRule>,
    /// Where a changed or deleted row is kept as it was.
    pub(crate) history: Option<HistoryRule>,
    pub(crate) checks: Vec<CheckRule>,
    /// The functions of several statements that conditions call, over one row.
    pub(crate) calls: Option<Node>,
    /// WITH CHECK OPTION of the views that rows are written through: each must hold, and not be unknown.
    pub(crate) check_options: Vec<Predicate>,
    /// What security policies want of the rows that are written.
    pub(crate) blocks: Vec<BlockRule>,
    /// Foreign keys of the table.
    pub(crate) references: Vec<ReferenceRule>,
    /// Foreign keys that refer to the table.
    pub(crate) referenced: Vec<ReferencedRule>,
    /// INSERT, UPDATE or DELETE, as error 547 says it.
    pub(crate) verb: &'static str,
    /// The database of the table.
    pub(crate) database: String,
    /// `schema.table`
    pub(crate) table: String,
    /// Why the rules could not be bound; the statement fails with it.
    pub(crate) fault: Option<Fault>,
    /// That is because the table is a history, which is known before anything runs.
    pub(crate) is_of_history: bool,
}

/// The columns that say since when a row is so, and until when.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PeriodRule {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Digits of a second that both have.
    pub(crate) scale: u8,
}

/// Where the former rows of a system-versioned table go.
#[derive(Debug)]
pub(crate) struct HistoryRule {
    pub(crate) table: Arc<Table>,
    pub(crate) period: PeriodRule,
    /// The versioned table, as errors name it.
    pub(crate) of: String,
}

/// A CHECK constraint.
#[derive(Debug)]
pub(crate) struct CheckRule {
    pub(crate) name: String,
    pub(crate) condition: Predicate,
    /// The only column it reads.
    pub(crate) column: Option<String>,
}

/// A block predicate.
#[derive(Debug)]
pub(crate) struct BlockRule {
    /// Which rows it is about.
    pub(crate) kind: PredicateKind,
    /// The registers of the row that it looks at: all columns.
    pub(crate) registers: Registers,
    /// The subqueries that it asks, over one row.
    pub(crate) asks: Option<Node>,
    /// What holds for a row that may be written.
    pub(crate) condition: Predicate,
    /// The table, as error 33504 names it.
    pub(crate) table: String,
}

/// A foreign key whose referring rows are inserted or changed.
#[derive(Debug)]
pub(crate) struct ReferenceRule {
    pub(crate) name: String,
    /// The referring columns.
    pub(crate) columns: Vec<usize>,
    /// The table referred to, and its columns.
    pub(crate) target: Arc<Table>,
    pub(crate) target_columns: Vec<usize>,
    pub(crate) same_table: bool,
}

/// A foreign key whose rows referred to are changed or deleted.
#[derive(Debug)]
pub(crate) struct ReferencedRule {
    pub(crate) name: String,
    /// The columns referred to, and their table.
    pub(crate) columns: Vec<usize>,
    pub(crate) own: Arc<Table>,
    /// The referring table and columns.
    pub(crate) source: Arc<Table>,
    pub(crate) source_columns: Vec<usize>,
    pub(crate) on_delete: ReferentialAction,
    pub(crate) on_update: ReferentialAction,
    pub(crate) same_table: bool,
}

impl Rules {
    /// Whether there is something to look at after the last row.
    pub(crate) fn has_late(&self) -> bool {
        !self.references.is_empty() || !self.referenced.is_empty()
    }
}
