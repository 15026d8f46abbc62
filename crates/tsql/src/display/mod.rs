//! Trees as T-SQL text. Parsing the text gives an equal tree.

mod administration;
mod control;
mod definition;
mod expression;
mod modification;
mod module;
mod query;
mod security_policy;
mod stored;
mod table;

pub use stored::{stored_condition, stored_expression, stored_filter};

use std::fmt::{Display, Formatter, Result};

use crate::lexer::Keyword;
use crate::tree::{Batch, DataType, Name, ObjectName, Statement, TypeArguments};

/// Words that are not reserved but mean something where a name could stand; in brackets they are names everywhere.
const CONTEXTUAL: &[&str] = &[
    "AT",
    "ATOMIC",
    "BOTH",
    "CATCH",
    "CONTENT",
    "CUBE",
    "DELAY",
    "DISABLE",
    "DOCUMENT",
    "ENABLE",
    "FILEGROUP",
    "GLOBAL",
    "GROUPING",
    "IGNORE",
    "INCLUDE",
    "INSENSITIVE",
    "LEADING",
    "MATCHED",
    "MAX",
    "NEXT",
    "NO",
    "OFFSET",
    "OUTPUT",
    "PARTITION",
    "PERIOD",
    "PERSISTED",
    "RANGE",
    "RESPECT",
    "ROLLUP",
    "ROWS",
    "SCROLL",
    "THROW",
    "TRAILING",
    "TRY",
    "UNBOUNDED",
    "USING",
    "WINDOW",
    "WITHIN",
    "WORK",
];

/// Items with a comma and a blank between them.
pub(crate) struct Commas<'a, T>(pub(crate) &'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// Items in parentheses; nothing when there are none.
pub(crate) struct Parens<'a, T>(pub(crate) &'a [T]);

impl<T: Display> Display for Parens<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.0.is_empty() { Ok(()) } else { write!(f, " ({})", Commas(self.0)) }
    }
}

/// What a closure writes.
pub(crate) struct Write<F>(pub(crate) F);

impl<F: Fn(&mut Formatter<'_>) -> Result> Display for Write<F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        (self.0)(f)
    }
}

/// Text in quotes.
pub(crate) struct Quoted<'a>(pub(crate) &'a str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "'{}'", self.0.replace('\'', "''"))
    }
}

/// A name in brackets.
pub(crate) struct Bracketed<'a>(pub(crate) &'a str);

impl Display for Bracketed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "[{}]", self.0.replace(']', "]]"))
    }
}

/// A name in brackets, which every name can stand in.
pub fn bracketed(name: &str) -> String {
    Bracketed(name).to_string()
}

/// `before`, the item and `behind`, if there is an item.
pub(crate) fn optional<T: Display>(f: &mut Formatter<'_>, before: &str, item: &Option<T>, behind: &str) -> Result {
    match item {
        Some(item) => write!(f, "{before}{item}{behind}"),
        None => Ok(()),
    }
}

/// Words, if they are wanted.
pub(crate) fn words(f: &mut Formatter<'_>, wanted: bool, words: &str) -> Result {
    if wanted { f.write_str(words) } else { Ok(()) }
}

/// Statements, each with a semicolon and a line of its own.
pub(crate) fn statements(f: &mut Formatter<'_>, statements: &[Statement]) -> Result {
    for statement in statements {
        writeln!(f, "{statement};")?;
    }
    Ok(())
}

impl Display for Batch {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        statements(f, &self.statements)
    }
}

/// Whether a name reads as itself without brackets.
fn is_plain(name: &str) -> bool {
    let mut letters = name.chars();
    let first = letters.next().is_some_and(|letter| letter.is_alphabetic() || "_#".contains(letter));
    let pseudo =
        name.starts_with('$') && name[1..].starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    (first || pseudo)
        && letters.all(|letter| letter.is_alphanumeric() || "_@#$".contains(letter))
        && Keyword::of(name).is_none()
        && !CONTEXTUAL.iter().any(|word| word.eq_ignore_ascii_case(name))
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if self.text.starts_with('@') || is_plain(&self.text) {
            return f.write_str(&self.text);
        }
        Bracketed(&self.text).fmt(f)
    }
}

impl Display for ObjectName {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let parts = [&self.server, &self.database, &self.schema];
        let first = parts.iter().position(|part| part.is_some()).unwrap_or(parts.len());
        for part in &parts[first..] {
            if let Some(part) = part {
                part.fmt(f)?;
            }
            f.write_str(".")?;
        }
        self.name.fmt(f)
    }
}

impl Display for DataType {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        optional(f, "", &self.schema, ".")?;
        if self.name.is("cursor") {
            f.write_str(&self.name.text)?
        } else {
            self.name.fmt(f)?
        };
        match &self.arguments {
            TypeArguments::None => Ok(()),
            TypeArguments::Max => f.write_str("(max)"),
            TypeArguments::One(length) => write!(f, "({length})"),
            TypeArguments::Two(precision, scale) => write!(f, "({precision}, {scale})"),
            TypeArguments::Collection(name) => write!(f, "({name})"),
        }
    }
}
