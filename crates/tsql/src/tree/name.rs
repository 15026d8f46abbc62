//! Places, names and type names.

/// A piece of the batch's text: bytes `start..end`, the first of them in line `line`.
///
/// All spans compare as equal, so that trees compare by what they say.
#[derive(Debug, Clone, Copy, Default)]
pub struct Span {
    /// The offset of the first byte.
    pub start: u32,
    /// The offset behind the last byte.
    pub end: u32,
    /// The line of the first byte, counted from 1.
    pub line: u32,
}

impl Span {
    /// The bytes as a range, to slice the batch's text with.
    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The span from the beginning of this one to the end of `last`.
    pub fn to(self, last: Span) -> Span {
        Span { end: last.end.max(self.end), ..self }
    }
}

impl PartialEq for Span {
    fn eq(&self, _: &Span) -> bool {
        true
    }
}

impl Eq for Span {}

/// An identifier, or a variable with its `@`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    /// The name, without brackets or quotes.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// A name without the blanks at its end, which do not count where names are compared. One of blanks alone stays.
pub fn without_end_blanks(name: &str) -> &str {
    match name.trim_end_matches(' ') {
        "" => name,
        rest => rest,
    }
}

impl Name {
    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether it is `word`, without regard to ASCII case and to blanks at the end of the word.
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(without_end_blanks(word))
    }
}

/// The name of an object: one to four parts. `db..t` has a database and no schema.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectName {
    /// The linked server.
    pub server: Option<Name>,
    /// The database.
    pub database: Option<Name>,
    /// The schema.
    pub schema: Option<Name>,
    /// The object itself.
    pub name: Name,
}

impl ObjectName {
    /// A name of one part.
    pub fn of(name: Name) -> ObjectName {
        ObjectName { server: None, database: None, schema: None, name }
    }

    /// Where it stands, from the first part to the last.
    pub fn span(&self) -> Span {
        let first = self.server.as_ref().or(self.database.as_ref()).or(self.schema.as_ref());
        first.unwrap_or(&self.name).span.to(self.name.span)
    }

    /// The schema's name, when it is given.
    pub fn schema_str(&self) -> Option<&str> {
        self.schema.as_ref().map(Name::as_str)
    }

    /// The database's name, when it is given.
    pub fn database_str(&self) -> Option<&str> {
        self.database.as_ref().map(Name::as_str)
    }

    /// Reads a name that stands in a text of its own: one to four parts joined by dots, each perhaps in brackets or quotes, all but
    /// the last perhaps empty.
    pub fn read(text: &str) -> Option<ObjectName> {
        let mut parts = vec![String::new()];
        let mut characters = text.trim().chars().peekable();
        while let Some(character) = characters.next() {
            let part = parts.last_mut()?;
            let close = match character {
                '.' => {
                    parts.push(String::new());
                    continue;
                }
                '[' if part.is_empty() => ']',
                '"' if part.is_empty() => '"',
                plain => {
                    part.push(plain);
                    continue;
                }
            };
            loop {
                let inner = characters.next()?;
                if inner == close && characters.next_if_eq(&close).is_none() {
                    break;
                }
                part.push(inner);
            }
            if characters.peek().is_some_and(|next| *next != '.') {
                return None;
            }
        }
        if parts.len() > 4 || parts.last().is_none_or(String::is_empty) {
            return None;
        }
        let mut names = parts.into_iter().rev().map(|text| {
            let text = without_end_blanks(&text).to_owned();
            Name { text, span: Span::default() }
        });
        let name = names.next()?;
        let mut given = || names.next().filter(|name| !name.text.is_empty());
        Some(ObjectName { name, schema: given(), database: given(), server: given() })
    }

    /// Whether this is a temporary object of one session, `#t`.
    pub fn is_temporary(&self) -> bool {
        self.name.text.starts_with('#') && !self.is_global_temporary()
    }

    /// Whether this is a temporary object that all sessions see, `##t`.
    pub fn is_global_temporary(&self) -> bool {
        self.name.text.starts_with("##")
    }

    /// Whether this is a temporary object, of one session or of all.
    pub fn is_in_tempdb(&self) -> bool {
        self.name.text.starts_with('#')
    }

    /// The parts as written, joined by dots and without brackets: what error messages quote.
    pub fn dotted(&self) -> String {
        let mut text = String::new();
        let parts = [&self.server, &self.database, &self.schema];
        let first = parts.iter().position(|part| part.is_some()).unwrap_or(parts.len());
        for part in &parts[first..] {
            if let Some(part) = part {
                text.push_str(&part.text);
            }
            text.push('.');
        }
        text.push_str(&self.name.text);
        text
    }
}

/// A type as written. Spellings of several words are stored under their usual name: `character varying` is `varchar`,
/// `national char` is `nchar`, `double precision` is `float`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataType {
    /// The schema of a user-defined type.
    pub schema: Option<Name>,
    /// The type's name in the case it was written in.
    pub name: Name,
    /// What stands in parentheses behind it.
    pub arguments: TypeArguments,
}

impl DataType {
    /// Whether it names the system's type whose numbers the database deals, `rowversion` or `timestamp`, with or without its schema.
    pub fn is_rowversion(&self) -> bool {
        let is_system = self.schema.as_ref().is_none_or(|schema| schema.is("sys"));
        is_system && (self.name.is("rowversion") || self.name.is("timestamp"))
    }
}

/// The parenthesised part of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeArguments {
    /// Nothing.
    None,
    /// `(max)`
    Max,
    /// `(n)`: a length, a precision or a scale.
    One(u32),
    /// `(p, s)`: precision and scale.
    Two(u32, u32),
    /// `(collection)`, `(CONTENT collection)` or `(DOCUMENT collection)` of xml: the collection's name.
    Collection(Box<ObjectName>),
}
