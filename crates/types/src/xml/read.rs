//! Texts as documents, by the rules of XML 1.0 and of its namespaces.
//!
//! An error names the character that the reading stopped at, or the last one where the text ends too soon. What concerns a whole tag,
//! such as its prefixes, is looked at when its `>` has been read, and reported there.

use super::build::Builder;
use super::document::{Document, Kind, Name};
use super::name::{continues_name, is_blank, is_character, leading_name, starts_name};
use super::{LEVELS_MAX, XML_SPACE};
use crate::error::SqlError;

/// Makes an error of a line and a character in it.
type Report = fn(usize, usize) -> SqlError;

/// How a text is read.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reading {
    /// Blanks alone between tags are kept: style 1 of CONVERT.
    pub(super) keep_blanks: bool,
    /// The text came as UTF-16 units, or as the bytes of a code page; its declaration must not say something else. Of bytes that
    /// were decoded by their declaration nothing is known.
    pub(super) wide: Option<bool>,
    /// Styles 2 and 3 of CONVERT, which take definitions of types.
    pub(super) takes_definitions: bool,
}

impl Document {
    /// The document of a value's text.
    ///
    /// # Errors
    /// 9400 to 9465 for what is no XML, 6359 for a definition of its type, 6335 for elements too deep within each other.
    pub fn read(text: &str) -> Result<Document, SqlError> {
        read(text, Reading::default())
    }
}

pub(super) fn read(text: &str, reading: Reading) -> Result<Document, SqlError> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut reader = Reader {
        text,
        at: 0,
        reading,
        builder: Builder::new(),
        open: Vec::new(),
        declared: Vec::new(),
        run: Run::default(),
        begun: false,
    };
    reader.content()?;
    Ok(reader.builder.finish())
}

/// An element that is open.
struct Open<'t> {
    name: &'t str,
    /// How many prefixes were declared before it.
    declared: usize,
    keeps_blanks: bool,
}

/// Text up to the next tag.
#[derive(Default)]
struct Run {
    text: String,
    /// Part of it was a reference or a CDATA section: it is not blanks between tags, whatever it says.
    by_markup: bool,
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    reading: Reading,
    builder: Builder,
    open: Vec<Open<'t>>,
    /// Prefixes and namespaces in scope, the innermost last.
    declared: Vec<(&'t str, String)>,
    run: Run,
    /// There was something else than blanks, comments and instructions.
    begun: bool,
}

/// An attribute as it was read: its name and its value.
type Attribute<'t> = (&'t str, String);

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn next(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The error at a place of the text, or at its last character.
    #[cold]
    fn fault(&self, at: usize, report: Report) -> SqlError {
        let last = self.text.char_indices().next_back().map_or(0, |(at, _)| at);
        let before = &self.text[..at.min(last)];
        let line = before.matches('\n').count() + before.matches('\r').count() - before.matches("\r\n").count() + 1;
        let in_line = before.rsplit(['\n', '\r']).next().unwrap_or(before);
        report(line, in_line.encode_utf16().count() + 1)
    }

    fn here<T>(&self, report: Report) -> Result<T, SqlError> {
        Err(self.fault(self.at, report))
    }

    /// The text ends here too soon, or something else stands here than must.
    fn unless_end<T>(&self, report: Report) -> Result<T, SqlError> {
        self.here(if self.at >= self.text.len() { SqlError::xml_end_of_input } else { report })
    }

    fn eat(&mut self, wanted: &str) -> bool {
        let is_next = self.rest().starts_with(wanted);
        self.at += if is_next { wanted.len() } else { 0 };
        is_next
    }

    /// Skips blanks; whether there were any.
    fn blanks(&mut self) -> bool {
        let rest = self.rest();
        let skipped = rest.len() - rest.trim_start_matches(is_blank).len();
        self.at += skipped;
        skipped > 0
    }

    fn content(&mut self) -> Result<(), SqlError> {
        while let Some(next) = self.next() {
            match next {
                '<' => self.markup()?,
                '&' => {
                    let character = self.reference()?;
                    self.run.text.push(character);
                    (self.run.by_markup, self.begun) = (true, true);
                }
                '\r' => {
                    self.run.text.push('\n');
                    self.at += 1;
                    self.eat("\n");
                }
                _ => self.plain_text()?,
            }
        }
        if !self.open.is_empty() {
            return self.here(SqlError::xml_end_of_input);
        }
        self.end_run()
    }

    /// Text up to what must be looked at.
    fn plain_text(&mut self) -> Result<(), SqlError> {
        let rest = self.rest();
        let end = rest.find(|c| matches!(c, '<' | '&' | '\r' | ']') || !is_character(c)).unwrap_or(rest.len());
        self.run.text.push_str(&rest[..end]);
        self.begun |= rest[..end].contains(|c| !is_blank(c));
        self.at += end;
        match self.next() {
            Some(']') if self.rest().starts_with("]]>") => self.here(SqlError::xml_cdata_end_in_content),
            Some(']') => {
                self.run.text.push(']');
                self.begun = true;
                self.at += 1;
                Ok(())
            }
            Some(c) if !is_character(c) => self.here(SqlError::xml_illegal_character),
            _ => Ok(()),
        }
    }

    /// Makes a node of the text before a tag. Blanks alone are none, unless something says that they are meant.
    fn end_run(&mut self) -> Result<(), SqlError> {
        let run = std::mem::take(&mut self.run);
        let kept = self.reading.keep_blanks || self.open.last().is_some_and(|open| open.keeps_blanks);
        if kept || run.by_markup || run.text.contains(|c| !is_blank(c)) {
            self.builder.leaf(Kind::Text, Name::default(), &run.text)?;
        }
        Ok(())
    }

    fn markup(&mut self) -> Result<(), SqlError> {
        if self.eat("<![CDATA[") {
            return self.character_data();
        }
        self.end_run()?;
        if self.eat("<!--") {
            return self.comment();
        }
        if self.rest().starts_with("<!DOCTYPE") {
            return Err(if self.reading.takes_definitions {
                SqlError::xml_definition_unsupported()
            } else {
                SqlError::xml_definition_not_allowed()
            });
        }
        self.at += 1;
        if self.eat("!") {
            return self.unless_end(SqlError::xml_incorrect_document);
        }
        if self.eat("?") {
            return self.instruction();
        }
        if self.rest().starts_with('/') {
            return self.end_tag();
        }
        self.start_tag()
    }

    fn character_data(&mut self) -> Result<(), SqlError> {
        let rest = self.rest();
        let Some(end) = rest.find("]]>") else {
            self.at = self.text.len();
            return self.here(SqlError::xml_end_of_input);
        };
        self.check_characters(&rest[..end])?;
        self.run.text.push_str(&lines(&rest[..end]));
        (self.run.by_markup, self.begun) = (true, true);
        self.at += end + 3;
        Ok(())
    }

    fn comment(&mut self) -> Result<(), SqlError> {
        let rest = self.rest();
        let Some(end) = rest.find("--") else {
            self.at = self.text.len();
            return self.here(SqlError::xml_end_of_input);
        };
        self.check_characters(&rest[..end])?;
        self.builder.leaf(Kind::Comment, Name::default(), &lines(&rest[..end]))?;
        self.at += end + 2;
        if self.eat(">") { Ok(()) } else { self.unless_end(SqlError::xml_incorrect_comment) }
    }

    fn check_characters(&self, text: &str) -> Result<(), SqlError> {
        match text.find(|c| !is_character(c)) {
            None => Ok(()),
            Some(at) => Err(self.fault(self.at + at, SqlError::xml_illegal_character)),
        }
    }

    /// `<?target data?>`, behind its `<?`. At the beginning of all, `<?xml` declares what the text is.
    fn instruction(&mut self) -> Result<(), SqlError> {
        let begins = self.at == 2;
        let target = leading_name(self.rest());
        if target.is_empty() {
            return self.unless_end(SqlError::xml_illegal_name_character);
        }
        self.at += target.len();
        if target == "xml" && begins {
            return self.declaration();
        }
        if target.eq_ignore_ascii_case("xml") {
            return self.here(SqlError::xml_declaration_not_first);
        }
        if !self.blanks() && !self.rest().starts_with("?>") {
            return self.unless_end(SqlError::xml_incorrect_instruction);
        }
        let rest = self.rest();
        let Some(end) = rest.find("?>") else {
            self.at = self.text.len();
            return self.here(SqlError::xml_end_of_input);
        };
        self.check_characters(&rest[..end])?;
        let name = Name { local: target.into(), ..Name::default() };
        self.builder.leaf(Kind::Instruction, name, &lines(&rest[..end]))?;
        self.at += end + 2;
        Ok(())
    }

    /// `version="1.0" encoding="..." standalone="..."?>`
    fn declaration(&mut self) -> Result<(), SqlError> {
        let incorrect: Report = SqlError::xml_incorrect_declaration;
        let mut encoding = None;
        for (place, name) in ["version", "encoding", "standalone"].into_iter().enumerate() {
            let blank = self.blanks();
            if !self.rest().starts_with(name) {
                if place == 0 {
                    return self.unless_end(incorrect);
                }
                continue;
            }
            if !blank {
                return self.here(incorrect);
            }
            self.at += name.len();
            let start = self.at;
            let value = self.quoted()?;
            match name {
                "version" if value != "1.0" => return Err(self.fault(start, incorrect)),
                "standalone" if !matches!(value, "yes" | "no") => return Err(self.fault(start, incorrect)),
                "encoding" => encoding = Some(value),
                _ => {}
            }
        }
        self.blanks();
        if !self.eat("?>") {
            return self.unless_end(incorrect);
        }
        let (Some(encoding), Some(wide)) = (encoding, self.reading.wide) else {
            return Ok(());
        };
        let last = self.at - 1;
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if !encoding.starts_with(|c: char| c.is_ascii_alphabetic()) || !encoding.chars().all(is_name) {
            return Err(self.fault(last, SqlError::xml_incorrect_encoding_name));
        }
        let of_units = ["utf-16", "ucs-2", "iso-10646-ucs-2", "utf-16le"];
        if of_units.iter().any(|known| encoding.eq_ignore_ascii_case(known)) != wide {
            return Err(self.fault(last, SqlError::xml_encoding_not_switched));
        }
        Ok(())
    }

    /// `= "..."` of a declaration.
    fn quoted(&mut self) -> Result<&'t str, SqlError> {
        self.equal()?;
        let quote = self.quote()?;
        let rest = self.rest();
        let Some(end) = rest.find(quote) else {
            self.at = self.text.len();
            return self.here(SqlError::xml_end_of_input);
        };
        self.at += end + 1;
        Ok(&rest[..end])
    }

    fn equal(&mut self) -> Result<(), SqlError> {
        self.blanks();
        if !self.eat("=") {
            return self.here(SqlError::xml_equal_expected);
        }
        self.blanks();
        Ok(())
    }

    fn quote(&mut self) -> Result<char, SqlError> {
        match self.next() {
            Some(quote @ ('"' | '\'')) => {
                self.at += 1;
                Ok(quote)
            }
            _ => self.here(SqlError::xml_literal_expected),
        }
    }

    /// `&...;`: the character that it stands for.
    fn reference(&mut self) -> Result<char, SqlError> {
        self.at += 1;
        if self.eat("#") {
            return self.numbered_character();
        }
        let rest = self.rest();
        if !rest.starts_with(starts_name) {
            return self.unless_end(SqlError::xml_illegal_name_character);
        }
        let name = leading_name(rest);
        self.at += name.len();
        self.semicolon()?;
        Ok(match name {
            "lt" => '<',
            "gt" => '>',
            "amp" => '&',
            "quot" => '"',
            "apos" => '\'',
            _ => return Err(self.fault(self.at - 1, SqlError::xml_undeclared_entity)),
        })
    }

    fn semicolon(&mut self) -> Result<(), SqlError> {
        if self.eat(";") { Ok(()) } else { self.here(SqlError::xml_semicolon_expected) }
    }

    fn numbered_character(&mut self) -> Result<char, SqlError> {
        let radix = if self.eat("x") { 16 } else { 10 };
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_digit(radix)).unwrap_or(rest.len());
        if end == 0 {
            return self.unless_end(match radix {
                16 => SqlError::xml_hexadecimal_digit_expected,
                _ => SqlError::xml_decimal_digit_expected,
            });
        }
        self.at += end;
        self.semicolon()?;
        let character = u32::from_str_radix(&rest[..end], radix).ok().and_then(char::from_u32);
        character.filter(|c| is_character(*c)).ok_or_else(|| self.fault(self.at - 1, SqlError::xml_illegal_character))
    }

    /// A name, perhaps with a prefix.
    fn qualified_name(&mut self) -> Result<&'t str, SqlError> {
        let illegal: Report = SqlError::xml_illegal_qualified_name_character;
        let start = self.at;
        self.at += leading_name(self.rest()).len();
        if self.at == start {
            return self.unless_end(illegal);
        }
        if self.eat(":") {
            let local = leading_name(self.rest()).len();
            if local == 0 {
                return self.unless_end(illegal);
            }
            self.at += local;
            if self.rest().starts_with(':') {
                return self.here(SqlError::xml_multiple_colons);
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn start_tag(&mut self) -> Result<(), SqlError> {
        self.begun = true;
        let name = self.qualified_name()?;
        let mut attributes: Vec<Attribute<'t>> = Vec::new();
        let empty = loop {
            let blank = self.blanks();
            match self.next() {
                Some('>') => break false,
                Some('/') => {
                    self.at += 1;
                    if !self.rest().starts_with('>') {
                        return self.here(SqlError::xml_greater_expected);
                    }
                    break true;
                }
                None => return self.here(SqlError::xml_end_of_input),
                Some(_) if !blank && attributes.is_empty() => {
                    return self.here(SqlError::xml_illegal_qualified_name_character);
                }
                Some(_) if !blank => return self.here(SqlError::xml_whitespace_expected),
                Some(_) => {}
            }
            let attribute = self.qualified_name()?;
            self.equal()?;
            attributes.push((attribute, self.attribute_value()?));
        };
        self.opened(name, attributes)?;
        self.at += 1;
        if empty {
            self.closed();
        }
        Ok(())
    }

    fn attribute_value(&mut self) -> Result<String, SqlError> {
        let quote = self.quote()?;
        let mut value = String::new();
        loop {
            let rest = self.rest();
            let special = |c: char| c == quote || matches!(c, '<' | '&' | '\t' | '\n' | '\r') || !is_character(c);
            let end = rest.find(special).unwrap_or(rest.len());
            value.push_str(&rest[..end]);
            self.at += end;
            match self.next() {
                None => return self.here(SqlError::xml_end_of_input),
                Some(c) if c == quote => {
                    self.at += 1;
                    return Ok(value);
                }
                Some('<') => return self.here(SqlError::xml_less_in_attribute),
                Some('&') => value.push(self.reference()?),
                // Blanks that are written, and not given by their number, are all the same here.
                Some('\t' | '\n' | '\r') => {
                    if !self.eat("\r\n") {
                        self.at += 1;
                    }
                    value.push(' ');
                }
                Some(_) => return self.here(SqlError::xml_illegal_character),
            }
        }
    }

    /// A start tag has been read up to its `>`: looks at prefixes and attributes, and makes the element.
    fn opened(&mut self, name: &'t str, attributes: Vec<Attribute<'t>>) -> Result<(), SqlError> {
        let before = self.declared.len();
        for (attribute, uri) in &attributes {
            if let Some(prefix) = declared_prefix(attribute) {
                self.declare(prefix, uri, before)?;
            }
        }
        let name_of_element = self.resolved(name, true)?;
        let mut keeps_blanks = self.open.last().is_some_and(|open| open.keeps_blanks);
        let mut named: Vec<(Name, &str)> = Vec::with_capacity(attributes.len());
        for (attribute, value) in &attributes {
            if declared_prefix(attribute).is_some() {
                continue;
            }
            let name = self.resolved(attribute, false)?;
            if named.iter().any(|(other, _)| (&other.local, &other.uri) == (&name.local, &name.uri)) {
                return self.here(SqlError::xml_duplicate_attribute);
            }
            if *attribute == "xml:space" {
                keeps_blanks = match value.as_str() {
                    "preserve" => true,
                    "default" => false,
                    _ => return self.here(SqlError::xml_space_invalid),
                };
            }
            named.push((name, value));
        }
        self.open.push(Open { name, declared: before, keeps_blanks });
        self.builder.open(name_of_element)?;
        if self.builder.levels() == LEVELS_MAX && !attributes.is_empty() {
            return Err(SqlError { state: 101, ..SqlError::xml_too_deep(LEVELS_MAX) });
        }
        for (prefix, uri) in &self.declared[before..] {
            self.builder.leaf(Kind::Namespace, Name { local: (*prefix).into(), ..Name::default() }, uri)?;
        }
        named.into_iter().try_for_each(|(name, value)| self.builder.leaf(Kind::Attribute, name, value))
    }

    /// `xmlns:prefix="uri"`; those of the same tag stand from `before` on.
    fn declare(&mut self, prefix: &'t str, uri: &str, before: usize) -> Result<(), SqlError> {
        if prefix == "xmlns" {
            return self.here(SqlError::xml_xmlns_declared);
        }
        if (prefix == "xml") != (uri == XML_SPACE) {
            return self.here(SqlError::xml_prefix_rebound);
        }
        if !prefix.is_empty() && uri.is_empty() {
            return self.here(SqlError::xml_empty_namespace);
        }
        if self.declared[before..].iter().any(|(known, _)| *known == prefix) {
            return self.here(SqlError::xml_prefix_redeclared);
        }
        self.declared.push((prefix, uri.to_owned()));
        Ok(())
    }

    fn resolved(&self, name: &str, element: bool) -> Result<Name, SqlError> {
        let (prefix, local) = name.split_once(':').unwrap_or(("", name));
        let uri = match self.declared.iter().rev().find(|(known, _)| *known == prefix) {
            Some((_, uri)) if element || !prefix.is_empty() => uri,
            _ if prefix == "xml" => XML_SPACE,
            _ if prefix.is_empty() => "",
            _ => return self.here(SqlError::xml_prefix_undeclared),
        };
        Ok(Name { prefix: prefix.into(), local: local.into(), uri: uri.into() })
    }

    fn closed(&mut self) {
        self.builder.close();
        if let Some(open) = self.open.pop() {
            self.declared.truncate(open.declared);
        }
    }

    /// `/name>`
    fn end_tag(&mut self) -> Result<(), SqlError> {
        if !self.begun {
            return self.here(SqlError::xml_illegal_qualified_name_character);
        }
        self.at += 1;
        let name = self.qualified_name()?;
        self.blanks();
        if !self.rest().starts_with('>') {
            return self.here(match self.next() {
                Some(c) if continues_name(c) || c == ':' => SqlError::xml_illegal_qualified_name_character,
                _ => SqlError::xml_greater_expected,
            });
        }
        if self.open.last().is_none_or(|open| open.name != name) {
            return self.here(SqlError::xml_tags_differ);
        }
        self.at += 1;
        self.closed();
        Ok(())
    }
}

/// The prefix that an attribute declares, empty for that of names without one.
fn declared_prefix(attribute: &str) -> Option<&str> {
    match attribute.strip_prefix("xmlns")? {
        "" => Some(""),
        rest => rest.strip_prefix(':'),
    }
}

/// A text whose lines end as XML has it.
fn lines(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}
