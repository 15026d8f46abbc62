//! Table hints: what a scan locks, and what it does about the locks of others. Those that say how to find rows change no result. Query hints
//! about the values of variables.

use super::Binder;
use crate::access::Table;
use crate::expression::{Expr, Fault};
use pikepole_engine::{MemoryLevel, ReadHints, ReadLevel, ReadMode};
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// The locking hints of a source of FROM.
///
/// # Errors
/// 1047 for two that contradict each other.
pub(super) fn read_hints<'h>(hints: impl IntoIterator<Item = &'h tree::TableHint>) -> Result<ReadHints, Fault> {
    let mut read = ReadHints::default();
    let mut is_dirty = false;
    for hint in hints {
        let level = match hint.name.as_str() {
            "NOLOCK" | "READUNCOMMITTED" => {
                is_dirty = true;
                Some(ReadLevel::Uncommitted)
            }
            "READCOMMITTED" => Some(ReadLevel::ReadCommitted),
            "SNAPSHOT" => Some(ReadLevel::Versions),
            "READCOMMITTEDLOCK" => Some(ReadLevel::Committed),
            "REPEATABLEREAD" => Some(ReadLevel::Repeatable),
            "HOLDLOCK" | "SERIALIZABLE" => Some(ReadLevel::Serializable),
            _ => None,
        };
        if let Some(level) = level {
            if read.level.is_some_and(|former| former != level) {
                return Err(Box::new(SqlError::hints_conflict()));
            }
            read.level = Some(level);
        }
        match hint.name.as_str() {
            "UPDLOCK" => read.mode = read.mode.max(ReadMode::Update),
            "XLOCK" => read.mode = ReadMode::Exclusive,
            "TABLOCK" => read.table = true,
            "TABLOCKX" => read.table_exclusive = true,
            "READPAST" => read.skips = true,
            "NOWAIT" => read.no_wait = true,
            _ => {}
        }
    }
    let locks = read.mode != ReadMode::Shared || read.skips || read.table || read.table_exclusive;
    if is_dirty && locks {
        return Err(Box::new(SqlError::hints_conflict()));
    }
    Ok(read)
}

/// The locking hints of a table whose rows are changed: those of FROM, and those behind its name.
///
/// # Errors
/// As of [`read_hints`]; 1065 for one that asks for uncommitted rows.
pub(super) fn target_hints(in_from: &[tree::TableHint], of_target: &[tree::TableHint]) -> Result<ReadHints, Fault> {
    if of_target.iter().any(|hint| matches!(hint.name.as_str(), "NOLOCK" | "READUNCOMMITTED")) {
        return Err(Box::new(SqlError::nolock_on_target()));
    }
    // A lock of the whole table is taken for each change.
    let hints = read_hints(in_from.iter().chain(of_target))?;
    Ok(ReadHints { changes: true, table_exclusive: hints.table_exclusive || hints.table, ..hints })
}

/// The hints that ask for locks, which in-memory tables do not have.
const LOCKING: [&str; 10] = [
    "HOLDLOCK",
    "NOWAIT",
    "PAGLOCK",
    "READCOMMITTEDLOCK",
    "READPAST",
    "ROWLOCK",
    "TABLOCK",
    "TABLOCKX",
    "UPDLOCK",
    "XLOCK",
];

/// Checks the hints of a table against its kind.
///
/// # Errors
/// 10794 for one of an in-memory table that asks for locks.
pub(super) fn check_memory_hints(table: &Table, hints: &[tree::TableHint]) -> Result<(), Fault> {
    let asks = |hint: &&tree::TableHint| LOCKING.contains(&hint.name.as_str());
    match hints.iter().find(asks).filter(|_| table.engine.is_in_memory()) {
        Some(hint) => Err(Box::new(SqlError::hint_not_in_memory(hint.name.to_lowercase()))),
        None => Ok(()),
    }
}

/// The hints of a table as its kind takes them: an in-memory table is read at a level of its own and without locks. NOLOCK, READUNCOMMITTED
/// and READCOMMITTED say nothing of it.
pub(super) fn hints_of(table: &Table, hints: ReadHints) -> ReadHints {
    if !table.engine.is_in_memory() {
        return hints;
    }
    let memory = match hints.level {
        Some(ReadLevel::Versions) => Some(MemoryLevel::Snapshot),
        Some(ReadLevel::Repeatable) => Some(MemoryLevel::RepeatableRead),
        Some(ReadLevel::Serializable) => Some(MemoryLevel::Serializable),
        Some(ReadLevel::Uncommitted | ReadLevel::ReadCommitted | ReadLevel::Committed) | None => None,
    };
    ReadHints { memory, changes: hints.changes, ..ReadHints::default() }
}

/// Checks that the indexes that hints name are there and can be read; no plan is chosen by them.
///
/// # Errors
/// 307 and 308 for an index that is not there or is hypothetical, 309 for one of xml, 315 and 316 for a disabled one.
pub(super) fn check_index_hints(
    table: &Table,
    name: &tree::ObjectName,
    hints: &[tree::TableHint],
) -> Result<(), Fault> {
    for hint in hints {
        let named = match hint.name.as_str() {
            "INDEX" => &hint.arguments[..],
            // Behind the index are its columns.
            "FORCESEEK" => hint.arguments.get(..1).unwrap_or_default(),
            _ => &[],
        };
        for argument in named {
            check_index_hint(table, name, argument).map_err(|error| error.at_line(argument.span.line))?;
        }
    }
    Ok(())
}

fn check_index_hint(table: &Table, name: &tree::ObjectName, argument: &tree::Expr) -> Result<(), SqlError> {
    let shown = name.dotted();
    let indexes = || table.engine.indexes.iter().filter(|index| index.hypothetical.is_none());
    match &argument.kind {
        tree::ExprKind::Column(column) => {
            let written = &column.name.text;
            let found = indexes().find(|index| index.name.to_lowercase() == written.to_lowercase());
            let index = found.ok_or_else(|| SqlError::hinted_index_unknown(written, &shown))?;
            match index {
                index if index.xml.is_some() => Err(SqlError::hinted_index_is_xml(written, shown)),
                index if index.disabled => Err(SqlError::hinted_index_disabled(written, shown)),
                _ => Ok(()),
            }
        }
        tree::ExprKind::Literal(tree::Literal::Int(number)) => {
            // The heap, or the clustered index without a look-up.
            if *number == 0 {
                return Ok(());
            }
            let found = indexes().find(|index| index.index_id == *number);
            match found {
                None => Err(SqlError::hinted_number_unknown(number, shown)),
                Some(index) if index.disabled => Err(SqlError::hinted_number_disabled(number, shown)),
                Some(_) => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

impl Binder<'_> {
    /// Takes the values of variables that OPTION asks plans to be made for.
    ///
    /// # Errors
    /// 137 for a variable that is not declared; those of values that are none of its type.
    pub(super) fn value_hints(&mut self, hints: &[tree::QueryHint]) -> Result<(), Fault> {
        let mut named = Vec::new();
        for (variable, value) in hints.iter().filter(|hint| hint.name == "OPTIMIZE FOR").flat_map(|hint| &hint.list) {
            let tree::ExprKind::Variable(name) = &variable.kind else {
                return Err(Box::new(SqlError::incorrect_syntax("OPTIMIZE FOR")));
            };
            let (slot, ty) = self.variable(&name.text)?;
            let value = match value.as_ref().map(|value| self.expr(value)).transpose()? {
                Some(typed) => match &typed.expr {
                    Expr::Const(value) => Some(pikepole_types::convert(value, &typed.ty, &ty, None)?),
                    _ => return Err(Box::new(SqlError::incorrect_syntax("OPTIMIZE FOR"))),
                },
                None => None,
            };
            self.values.optimize_for(slot, value);
            named.push(slot);
        }
        let is_unknown = |item: &tree::Expr| match item.literal() {
            Some(tree::Literal::String { value, .. }) => value.eq_ignore_ascii_case("DISABLE_PARAMETER_SNIFFING"),
            _ => false,
        };
        let uses =
            |hint: &tree::QueryHint| hint.name == "USE HINT" && hint.list.iter().any(|(item, _)| is_unknown(item));
        if hints.iter().any(|hint| hint.name == "OPTIMIZE FOR UNKNOWN" || uses(hint)) {
            self.values.optimize_for_unknown(&named);
        }
        Ok(())
    }
}
