//! Paths to the parts of a document.

use super::{Kind, Malformed, Members, Scanner, unescaped, unexpected};
use crate::error::SqlError;
use crate::value::Value;

/// The states of error 13607: what was being read.
const NO_ROOT: u8 = 22;
const IN_NAME: u8 = 14;
const IN_INDEX: u8 = 21;

/// One step of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// Where something stands in a document; by default the whole of it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Path {
    pub(super) strict: bool,
    pub(super) steps: Vec<Step>,
}

impl Step {
    /// Whether it leads to the member with this key, in its quotes, at this place.
    pub(super) fn is(&self, quoted: &str, place: usize) -> bool {
        match self {
            Step::Key(key) => unescaped(quoted) == key.as_str(),
            Step::Index(index) => place == *index,
        }
    }
}

impl Path {
    /// Reads a path.
    ///
    /// # Errors
    /// 13607 for what is none.
    pub fn parse(source: &str) -> Result<Path, SqlError> {
        Path::read(source).map_err(|(at, state)| unexpected(13607, state, "path", source, at))
    }

    /// The path, or the byte that does not belong into it and the error's state.
    fn read(source: &str) -> Result<Path, (usize, u8)> {
        let mut scanner = Scanner::new(source);
        let mut path = Path::default();
        scanner.blanks();
        for (word, strict) in [("lax", false), ("strict", true)] {
            let rest = source[scanner.at..].strip_prefix(word);
            if rest.is_some_and(|rest| rest.starts_with([' ', '\t', '\n', '\r'])) {
                scanner.at += word.len();
                path.strict = strict;
                break;
            }
        }
        scanner.blanks();
        if !scanner.eat(b'$') {
            return Err((scanner.at, if scanner.peek().is_none() { IN_NAME } else { NO_ROOT }));
        }
        loop {
            match scanner.peek() {
                None => return Ok(path),
                Some(b'.') => path.steps.push(key_step(&mut scanner, source).map_err(|at| (at, IN_NAME))?),
                Some(b'[') => path.steps.push(index_step(&mut scanner, source).map_err(|at| (at, IN_INDEX))?),
                Some(_) => {
                    scanner.blanks();
                    return if scanner.peek().is_none() { Ok(path) } else { Err((scanner.at, IN_NAME)) };
                }
            }
        }
    }

    /// The path to the member of this key.
    pub fn to_key(key: &str) -> Path {
        Path { strict: false, steps: vec![Step::Key(key.to_owned())] }
    }

    /// Where the path leads: the value and its text. In lax mode nothing when it leads nowhere.
    pub(crate) fn find<'j>(&self, json: &'j str) -> Result<Option<(Kind, &'j str)>, SqlError> {
        let malformed = |malformed: Malformed| malformed.error(json);
        let found = self.follow(json).map_err(malformed)?;
        if found.is_none() {
            // That it is not there can be said of a whole document only.
            Scanner::new(json).document().map_err(malformed)?;
            if self.strict {
                return Err(SqlError::new(13608, 16, 5, "Property cannot be found on the specified JSON path."));
            }
        }
        Ok(found)
    }

    /// As [`find`](Self::find), in any value of a document that has been read; nothing when it leads nowhere.
    pub(super) fn find_value<'j>(&self, json: &'j str) -> Result<Option<(Kind, &'j str)>, SqlError> {
        self.follow_from(Scanner::new(json), json).map_err(|malformed| malformed.error(json))
    }

    fn follow<'j>(&self, json: &'j str) -> Result<Option<(Kind, &'j str)>, Malformed> {
        let mut scanner = Scanner::new(json);
        scanner.begin()?;
        self.follow_from(scanner, json)
    }

    fn follow_from<'j>(&self, mut scanner: Scanner<'j>, json: &'j str) -> Result<Option<(Kind, &'j str)>, Malformed> {
        for step in &self.steps {
            let mut members = match (step, scanner.peek()) {
                (Step::Key(_), Some(b'{')) => Members::of_object(&mut scanner),
                (Step::Index(_), Some(b'[')) => Members::of_array(&mut scanner),
                _ => return Ok(None),
            };
            let mut place = 0;
            loop {
                let Some((start, end)) = members.next(&mut scanner)? else {
                    return Ok(None);
                };
                // Of equal keys the first one counts.
                if step.is(&json[start..end], place) {
                    break;
                }
                scanner.value(0)?;
                place += 1;
            }
        }
        let start = scanner.at;
        let kind = scanner.value(0)?;
        Ok(Some((kind, &json[start..scanner.at])))
    }

    /// The error in strict mode, NULL in lax mode.
    pub(crate) fn or_null(&self, number: i32, state: u8, message: &str) -> Result<Value, SqlError> {
        if self.strict { Err(SqlError::new(number, 16, state, message)) } else { Ok(Value::Null) }
    }
}

/// `.name` or `."name"`.
fn key_step(scanner: &mut Scanner<'_>, source: &str) -> Result<Step, usize> {
    scanner.at += 1;
    if scanner.peek() == Some(b'"') {
        let (start, end) = scanner.quoted().map_err(|malformed| match malformed {
            Malformed::At(at) => at,
            Malformed::TooDeep => source.len(),
        })?;
        return Ok(Step::Key(unescaped(&source[start..end])));
    }
    let rest = &source[scanner.at..];
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
    if length == 0 || rest.starts_with(|c: char| c.is_numeric()) {
        return Err(scanner.at);
    }
    scanner.at += length;
    Ok(Step::Key(rest[..length].to_owned()))
}

/// `[n]`
fn index_step(scanner: &mut Scanner<'_>, source: &str) -> Result<Step, usize> {
    scanner.at += 1;
    let start = scanner.at;
    scanner.digits().map_err(|_| start)?;
    let index = source[start..scanner.at].parse().map_err(|_| start)?;
    scanner.expect(b']').map_err(|_| scanner.at)?;
    Ok(Step::Index(index))
}
