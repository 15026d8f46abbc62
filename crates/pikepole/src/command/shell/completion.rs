//! What the tab key completes: keywords, and the names of the database that the session is in.
//!
//! Names come from a session of its own, opened when they are first asked for: the user's session keeps its `@@ROWCOUNT`, its open
//! transaction and its SET options. That session waits for no lock for long.

use crate::command::session::Session;
use pikepole_contention::sync::{Arc, Mutex};
use rustyline::completion::Completer;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::validate::Validator;
use rustyline::{Context, Helper};
use std::time::{Duration, Instant};

/// Names that are offered of a kind.
const NAMES_MAX: usize = 5000;
/// How long names are good for.
const AGE_MAX: Duration = Duration::from_secs(2);
/// Milliseconds that names wait for locks.
const LOCK_TIMEOUT_MS: u32 = 200;

/// Gives another session of the same login.
pub type Another = Box<dyn Fn() -> Option<Session> + Send>;

/// Where names come from; the editor and the shell share it.
pub struct Names {
    another: Another,
    session: Option<Session>,
    /// The database of the user's session.
    database: String,
    /// Schemas, and objects with their schemas.
    known: Known,
    asked: Option<(Instant, String)>,
}

#[derive(Default)]
struct Known {
    objects: Vec<(String, String)>,
    columns: Vec<String>,
}

impl Names {
    /// Nothing has been asked for.
    pub fn new(another: Another) -> Arc<Mutex<Names>> {
        let known = Known::default();
        Arc::new(Mutex::new(Names { another, session: None, database: String::new(), known, asked: None }))
    }

    /// The user's session is in this database from now on.
    pub fn set_database(&mut self, database: &str) {
        database.clone_into(&mut self.database);
    }

    /// Ends the session of its own.
    pub fn close(&mut self) {
        self.session = None;
    }

    fn refresh(&mut self) {
        let is_fresh = |(at, database): &(Instant, String)| at.elapsed() < AGE_MAX && *database == self.database;
        if self.asked.as_ref().is_some_and(is_fresh) {
            return;
        }
        self.asked = Some((Instant::now(), self.database.clone()));
        if self.session.is_none() {
            self.session = (self.another)();
        }
        // What cannot be asked now is asked another time; keywords are completed all the same.
        let Some(session) = &mut self.session else { return };
        if let Some(known) = ask(session, &self.database) {
            self.known = known;
        }
    }
}

fn ask(session: &mut Session, database: &str) -> Option<Known> {
    let quoted = database.replace(']', "]]");
    let begin = format!("SET LOCK_TIMEOUT {LOCK_TIMEOUT_MS}; USE [{quoted}];");
    let objects = format!(
        "{begin} SELECT TOP ({NAMES_MAX}) SCHEMA_NAME(schema_id) AS s, name FROM sys.objects
         WHERE type IN ('U', 'V', 'P', 'FN', 'IF', 'TF', 'SN') ORDER BY name;"
    );
    let columns = format!(
        "SELECT DISTINCT TOP ({NAMES_MAX}) c.name FROM sys.columns AS c JOIN sys.objects AS o ON o.object_id = c.object_id
         WHERE o.type IN ('U', 'V') ORDER BY c.name;"
    );
    let objects = session.query(&objects).ok()?;
    let columns = session.query(&columns).ok()?;
    Some(Known {
        objects: objects.iter().map(|row| (row.text(0), row.text(1))).collect(),
        columns: columns.iter().map(|row| row.text(0)).collect(),
    })
}

/// What rustyline asks.
pub struct Assistant {
    names: Arc<Mutex<Names>>,
}

impl Assistant {
    /// Completes these names.
    pub fn new(names: &Arc<Mutex<Names>>) -> Assistant {
        Assistant { names: Arc::clone(names) }
    }
}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<String>)> {
        let (start, word) = word_before(&line[..at]);
        if word.is_empty() {
            return Ok((at, Vec::new()));
        }
        let mut names = self.names.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        names.refresh();
        Ok((start, candidates(word, &names.known)))
    }
}

/// Where the word before the cursor begins, and the word.
fn word_before(line: &str) -> (usize, &str) {
    let is_part = |c: char| c.is_alphanumeric() || "_@#$.[]".contains(c);
    let start = line.char_indices().rev().take_while(|(_, c)| is_part(*c)).last().map_or(line.len(), |(at, _)| at);
    (start, &line[start..])
}

/// What the word may become: names first as they are written, keywords in the word's own case.
fn candidates(word: &str, known: &Known) -> Vec<String> {
    let begins = |name: &str, part: &str| {
        name.get(..part.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(part)) || name.starts_with(part)
    };
    let bare = |part: &str| part.trim_start_matches('[').to_owned();
    let mut found: Vec<String> = Vec::new();
    if let Some((schema, part)) = word.rsplit_once('.') {
        let of_schema = |known_schema: &str| known_schema.eq_ignore_ascii_case(schema.trim_matches(['[', ']']));
        let part = bare(part);
        let objects =
            known.objects.iter().filter(|(known_schema, name)| of_schema(known_schema) && begins(name, &part));
        found.extend(objects.map(|(_, name)| format!("{schema}.{}", quoted(name))));
        // An alias or a table before a column.
        if found.is_empty() {
            let columns = known.columns.iter().filter(|name| begins(name, &part));
            found.extend(columns.map(|name| format!("{schema}.{}", quoted(name))));
        }
    } else {
        let part = bare(word);
        let schemas = known.objects.iter().map(|(schema, _)| schema).filter(|schema| begins(schema, &part));
        found.extend(schemas.map(|schema| format!("{}.", quoted(schema))));
        let names = known.objects.iter().map(|(_, name)| name).chain(&known.columns);
        found.extend(names.filter(|name| begins(name, &part)).map(|name| quoted(name)));
        if !word.starts_with('[') {
            let is_small = !word.chars().any(|c| c.is_ascii_uppercase());
            let keywords = pikepole_tsql::reserved_words().filter(|keyword| begins(keyword, word));
            found.extend(
                keywords.map(|keyword| if is_small { keyword.to_ascii_lowercase() } else { keyword.to_owned() }),
            );
        }
    }
    found.sort_by_key(|name| name.to_lowercase());
    found.dedup();
    found
}

/// A name as T-SQL takes it.
fn quoted(name: &str) -> String {
    let is_plain = name.starts_with(|c: char| c.is_alphabetic() || "_#".contains(c))
        && name.chars().all(|c| c.is_alphanumeric() || "_@#$".contains(c))
        && !pikepole_tsql::reserved_words().any(|word| word.eq_ignore_ascii_case(name));
    if is_plain { name.to_owned() } else { format!("[{}]", name.replace(']', "]]")) }
}

impl Highlighter for Assistant {}

impl Hinter for Assistant {
    type Hint = String;
}

impl Validator for Assistant {}

impl Helper for Assistant {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_become_keywords_and_names() {
        let object = |schema: &str, name: &str| (schema.to_owned(), name.to_owned());
        let objects = vec![object("dbo", "orders"), object("dbo", "order lines"), object("sales", "order")];
        let known = Known { objects, columns: vec!["order_date".to_owned(), "id".to_owned()] };
        let of = |word: &str| candidates(word, &known);
        assert_eq!(of("ord"), ["[order lines]", "[order]", "order", "order_date", "orders"]);
        assert_eq!(of("SEL"), ["SELECT"]);
        assert_eq!(of("sel"), ["select"]);
        assert_eq!(of("db"), ["dbcc", "dbo."]);
        assert_eq!(of("dbo.o"), ["dbo.[order lines]", "dbo.orders"]);
        assert_eq!(of("o.i"), ["o.id"]);
        assert_eq!(of("[ord"), ["[order lines]", "[order]", "order_date", "orders"]);
        assert_eq!(of("é"), Vec::<String>::new());
        assert_eq!(word_before("SELECT a, dbo.t"), (10, "dbo.t"));
        assert_eq!(word_before("SELECT "), (7, ""));
    }
}
