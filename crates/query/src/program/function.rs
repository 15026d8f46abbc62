//! What a function of several statements may do: it changes nothing but its own variables, and sends nothing.

use crate::expression::Fault;
use pikepole_tsql::{self as tree, Statement, StatementKind, TableSource, Target};
use pikepole_types::SqlError;

/// Checks the statements of a function.
///
/// # Errors
/// 443 for a side effect, 2772 for a temporary table, 444 for rows to the client, 455 when the last statement is no RETURN, 557 for a call.
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
        StatementKind::DeclareTable(table) => {
            let is_dealt = |element: &tree::TableElement| match element {
                tree::TableElement::Column(column) => column.data_type().is_some_and(tree::DataType::is_rowversion),
                _ => false,
            };
            match table.elements.iter().any(is_dealt) {
                true => Err(Box::new(SqlError::side_effect_in_function("TIMESTAMP").with_state(16))),
                false => Ok(()),
            }
        }
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
            Err(control("EXECUTE STRING"))
        }
        StatementKind::Execute(_) => Err(Box::new(SqlError::new(
            557,
            16,
            2,
            "Only functions and some extended stored procedures can be executed from within a function.",
        ))),
        StatementKind::CreateTable(create) if create.name.is_in_tempdb() => {
            Err(Box::new(SqlError::temporary_table_in_function()))
        }
        other => Err(refused(other)),
    }
}

/// The error for a statement that no function may have.
fn refused(kind: &StatementKind) -> Fault {
    let text = kind.to_string();
    let words: Vec<String> = text.split_whitespace().take(3).map(str::to_ascii_uppercase).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["PRINT" | "THROW" | "WAITFOR", ..] => control(words[0]),
        [word, ..] if word.starts_with("RAISERROR") => control("RAISERROR"),
        ["BEGIN", "TRY", ..] => control("BEGIN TRY"),
        ["BEGIN", ..] => side_effect("BEGIN TRANSACTION"),
        ["COMMIT", ..] => side_effect("COMMIT TRANSACTION"),
        ["ROLLBACK", ..] => side_effect("ROLLBACK TRANSACTION"),
        ["SAVE", ..] => side_effect("SAVEPOINT"),
        ["TRUNCATE", ..] => side_effect("TRUNCATE TABLE"),
        ["SET", ..] => side_effect(&set_option(&text.to_ascii_uppercase())),
        [verb @ ("CREATE" | "ALTER" | "DROP"), kind, ..] => side_effect(&format!("{verb} {kind}")),
        [word, ..] => side_effect(word),
        [] => side_effect(""),
    }
}

/// What errors call `SET ...` in upper case.
fn set_option(text: &str) -> String {
    let words: Vec<&str> = text.trim_end_matches(';').split_whitespace().collect();
    match words[..] {
        [_, "TRANSACTION", ..] => "SET TRANSACTION ISOLATION LEVEL".to_owned(),
        [_, "ROWCOUNT", ..] => "SET ROW COUNT".to_owned(),
        [_, "TEXTSIZE", ..] => "SET TEXTSIZE".to_owned(),
        [_, "STATISTICS", .., state] => format!("SET STATISTICS {state}"),
        [_, "IDENTITY_INSERT", .., state] => format!("SET IDENTITY_INSERT {state}"),
        [.., state @ ("ON" | "OFF")] => format!("SET OPTION {state}"),
        _ => "SET COMMAND".to_owned(),
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
        return Err(match target {
            Target::Table { name, .. } if name.is_in_tempdb() => Box::new(SqlError::temporary_table_in_function()),
            _ => side_effect(verb),
        });
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

/// A change of data or of a setting.
fn side_effect(what: &str) -> Fault {
    Box::new(SqlError::side_effect_in_function(what).with_state(15))
}

/// A message to somebody, a wait, a text that is run, or a TRY block.
fn control(what: &str) -> Fault {
    Box::new(SqlError::side_effect_in_function(what).with_state(14))
}

fn returns_rows() -> Fault {
    let text = "Select statements included within a function cannot return data to a client.";
    Box::new(SqlError::new(444, 16, 2, text))
}
