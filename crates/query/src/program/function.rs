//! What a function of several statements may do: it changes nothing but its own variables, and sends nothing.

use crate::expression::Fault;
use pikepole_tsql::{self as tree, Statement, StatementKind, TableSource, Target};
use pikepole_types::SqlError;

/// Checks the statements of a function.
///
/// # Errors
/// 443 for a side effect, 444 for rows to the client, 455 when the last statement is no RETURN, 557 for a call.
pub(crate) fn check_statements(statements: &[Statement]) -> Result<(), Fault> {
    check_all(statements)?;
    let mut last = statements.last();
    while let Some(Statement { kind: StatementKind::Block(inner), .. }) = last {
        last = inner.last();
    }
    match last {
        Some(Statement { kind: StatementKind::Return(_), .. }) => Ok(()),
        last => {
            let error =
                SqlError::new(455, 16, 2, "The last statement included within a function must be a return statement.");
            Err(Box::new(error.at_line(last.map_or(1, Statement::line))))
        }
    }
}

fn check_all(statements: &[Statement]) -> Result<(), Fault> {
    statements
        .iter()
        .try_for_each(|statement| check(statement).map_err(|fault| Box::new(fault.at_line(statement.line()))))
}

fn check(statement: &Statement) -> Result<(), Fault> {
    match &statement.kind {
        StatementKind::Block(inner) => check_all(inner),
        StatementKind::If(branch) => {
            check_all(std::slice::from_ref(&branch.then))?;
            branch.otherwise.as_ref().map_or(Ok(()), |otherwise| check_all(std::slice::from_ref(otherwise)))
        }
        StatementKind::While(repeat) => check_all(std::slice::from_ref(&repeat.body)),
        StatementKind::Declare(_)
        | StatementKind::DeclareTable(_)
        | StatementKind::SetVariable(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return(_)
        | StatementKind::Goto(_)
        | StatementKind::Label(_)
        | StatementKind::DeclareCursor(_)
        | StatementKind::OpenCursor(_)
        | StatementKind::Fetch(_)
        | StatementKind::CloseCursor(_)
        | StatementKind::DeallocateCursor(_) => Ok(()),
        StatementKind::Select(query) => {
            let assigns =
                |select: &tree::Select| select.items.iter().all(|item| matches!(item, tree::SelectItem::Assign { .. }));
            match &query.body {
                tree::QueryBody::Select(select) if select.into.is_some() => Err(side_effect("SELECT INTO")),
                tree::QueryBody::Select(select) if assigns(select) => Ok(()),
                _ => Err(returns_rows()),
            }
        }
        StatementKind::Insert(insert) => {
            if matches!(insert.source, tree::InsertSource::Execute(_)) {
                return Err(side_effect("INSERT EXEC"));
            }
            check_target("INSERT", &insert.target, &[], insert.output.as_ref())
        }
        StatementKind::Update(update) => check_target("UPDATE", &update.target, &update.from, update.output.as_ref()),
        StatementKind::Delete(delete) => check_target("DELETE", &delete.target, &delete.from, delete.output.as_ref()),
        StatementKind::Merge(merge) => check_target("MERGE", &merge.target, &[], merge.output.as_ref()),
        StatementKind::Execute(call) if matches!(call.target, tree::ExecuteTarget::Text { .. }) => {
            Err(side_effect("EXECUTE STRING"))
        }
        StatementKind::Execute(_) => Err(Box::new(SqlError::new(
            557,
            16,
            2,
            "Only functions and some extended stored procedures can be executed from within a function.",
        ))),
        StatementKind::TryCatch(_) => Err(side_effect("BEGIN TRY")),
        StatementKind::BeginTransaction(_) => Err(side_effect("BEGIN TRANSACTION")),
        other => {
            let text = other.to_string();
            Err(side_effect(text.split_whitespace().next().unwrap_or_default()))
        }
    }
}

/// Only table variables can be changed, by their own names or by aliases of FROM, and OUTPUT goes into one.
fn check_target(
    verb: &str,
    target: &Target,
    from: &[TableSource],
    output: Option<&tree::OutputClause>,
) -> Result<(), Fault> {
    let own = match target {
        Target::Variable(_) => true,
        Target::Table { name, .. } => from.iter().any(|source| names_variable(source, name)),
        Target::Function(_) => false,
    };
    if !own {
        return Err(side_effect(verb));
    }
    match output.map(|output| &output.into) {
        None => Ok(()),
        Some(Some(into)) if matches!(into.target, Target::Variable(_)) => Ok(()),
        Some(Some(_)) => Err(side_effect("OUTPUT INTO")),
        Some(None) => Err(returns_rows()),
    }
}

/// Whether a name is the alias of a table variable.
fn names_variable(source: &TableSource, name: &tree::ObjectName) -> bool {
    match source {
        TableSource::Variable { alias: Some(alias), .. } => name.schema.is_none() && name.name.is(&alias.text),
        TableSource::Join(join) => names_variable(&join.left, name) || names_variable(&join.right, name),
        _ => false,
    }
}

fn side_effect(what: &str) -> Fault {
    let what = what.to_ascii_uppercase();
    let text = format!("Invalid use of a side-effecting operator '{what}' within a function.");
    Box::new(SqlError::new(443, 16, 15, text))
}

fn returns_rows() -> Fault {
    let text = "Select statements included within a function cannot return data to a client.";
    Box::new(SqlError::new(444, 16, 2, text))
}
