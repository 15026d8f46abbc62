//! The text that a module is kept with.

use crate::ParseOptions;
use crate::lexer;
use crate::tree::{FunctionReturns, ModuleMode, Parameter, Statement, StatementKind, TableElement};

/// What is kept of a batch whose statement defines a module: all of it, with the comments around the statement, so that the
/// module's lines are counted as whoever wrote the batch counts them. It says CREATE also where the batch says ALTER or CREATE OR
/// ALTER. None for statements that define no module.
pub fn module_text(batch: &str, statement: &Statement) -> Option<String> {
    let mode = match &statement.kind {
        StatementKind::CreateProcedure(create) => create.mode,
        StatementKind::CreateFunction(create) => create.mode,
        StatementKind::CreateView(create) => create.mode,
        StatementKind::CreateTrigger(create) => create.mode,
        // The text of each view in it is a part of the batch's.
        StatementKind::CreateSchema(create) if !create.elements.is_empty() => return Some(batch.to_owned()),
        _ => return None,
    };
    let tokens = lexer::lex(batch, true).tokens;
    let first = tokens.iter().position(|token| token.start == statement.span.start)?;
    let (said, words) = match mode {
        ModuleMode::Create => return Some(batch.to_owned()),
        ModuleMode::Alter => (0..1, "CREATE"),
        ModuleMode::CreateOrAlter => (1..3, ""),
    };
    let mut text = String::with_capacity(batch.len() + words.len());
    let mut at = 0;
    for token in tokens.get(first + said.start..first + said.end)? {
        text.push_str(batch.get(at..token.start as usize)?);
        text.push_str(words);
        at = token.end as usize;
    }
    text.push_str(batch.get(at..)?);
    Some(text)
}

/// The names of the parameters that the text of a procedure or function declares, and of the columns of the table that it declares to
/// return. None of either where the text is of something else.
pub fn declared_names(text: &str) -> (Vec<String>, Vec<String>) {
    let unquoted = ParseOptions { quoted_identifier: false };
    let batch = crate::parse(text).or_else(|_| crate::parse_with(text, unquoted));
    let statement = batch.ok().and_then(|batch| batch.statements.into_iter().next());
    let names = |parameters: Vec<Parameter>| parameters.into_iter().map(|parameter| parameter.name.text).collect();
    match statement.map(|statement| statement.kind) {
        Some(StatementKind::CreateProcedure(create)) => (names(create.parameters), Vec::new()),
        Some(StatementKind::CreateFunction(create)) => {
            let columns = match create.returns {
                FunctionReturns::Table { elements, .. } => elements.into_iter().filter_map(column_name).collect(),
                FunctionReturns::Scalar { .. } | FunctionReturns::Inline(_) => Vec::new(),
            };
            (names(create.parameters), columns)
        }
        _ => (Vec::new(), Vec::new()),
    }
}

fn column_name(element: TableElement) -> Option<String> {
    match element {
        TableElement::Column(column) => Some(column.name.text),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse;

    fn kept(batch: &str) -> Option<String> {
        module_text(batch, &parse(batch).expect("a batch").statements[0])
    }

    #[test]
    fn a_module_keeps_its_batch_and_says_create() {
        let plain = "-- why\n\nCREATE VIEW v AS SELECT 1 AS a -- end\n";
        assert_eq!(kept(plain).as_deref(), Some(plain));
        let altered = kept("/* c */ alter /* x */ PROCEDURE p AS SELECT 'ALTER'\n");
        assert_eq!(altered.as_deref(), Some("/* c */ CREATE /* x */ PROCEDURE p AS SELECT 'ALTER'\n"));
        let either = kept("CREATE OR ALTER FUNCTION f() RETURNS int AS BEGIN RETURN 1 END");
        assert_eq!(either.as_deref(), Some("CREATE   FUNCTION f() RETURNS int AS BEGIN RETURN 1 END"));
        assert_eq!(kept("SELECT 1"), None);
    }

    #[test]
    fn names_are_those_that_a_module_declares() {
        let names = |list: &[&str]| list.iter().map(ToString::to_string).collect::<Vec<_>>();
        let of = |text: &str| declared_names(text);
        assert_eq!(of("CREATE PROC p @a int, @B int = 1 OUTPUT AS RETURN"), (names(&["@a", "@B"]), names(&[])));
        let rows =
            "CREATE FUNCTION f (@a int) RETURNS @t TABLE (x int, [y z] int, PRIMARY KEY (x)) AS BEGIN RETURN END";
        assert_eq!(of(rows), (names(&["@a"]), names(&["x", "y z"])));
        assert_eq!(of("CREATE VIEW v AS SELECT 1 AS a"), (names(&[]), names(&[])));
        assert_eq!(of("no text"), (names(&[]), names(&[])));
    }
}
