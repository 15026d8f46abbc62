//! Documents as text, as SQL Server writes them: `<a/>` for what is empty, quotes around attributes, declarations before attributes.

use super::document::{Document, Kind, Name, NodeId, ROOT};
use super::name::is_blank;
use crate::error::SqlError;
use std::sync::Arc;

impl Document {
    /// Bytes of the whole value as text, at a guess that is seldom too low.
    pub(super) fn text_bytes_max(&self) -> usize {
        self.text.len() * 2 + self.nodes.len() * 32
    }

    /// The whole value.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(self.text.len() + self.nodes.len() * 8);
        Writer { scope: Vec::new(), known: &[], generated: &mut 0, out: &mut out }.write(self, ROOT);
        out
    }
}

/// Writes nodes.
pub(super) struct Writer<'w> {
    /// What is declared around the place, the innermost last, with the end of the element that declares it.
    scope: Vec<(Box<str>, Box<str>, NodeId)>,
    /// Prefixes and namespaces that are taken for nodes whose declarations stand outside of what is written.
    known: &'w [(String, String)],
    /// How many prefixes have been made up.
    generated: &'w mut usize,
    out: &'w mut String,
}

impl<'w> Writer<'w> {
    pub(super) fn new(known: &'w [(String, String)], generated: &'w mut usize, out: &'w mut String) -> Writer<'w> {
        Writer { scope: Vec::new(), known, generated, out }
    }

    /// A node with all that is in it.
    pub(super) fn write(&mut self, document: &Document, node: NodeId) {
        // Where elements end, and what they are called.
        let mut ends: Vec<(NodeId, String)> = Vec::new();
        let mut id = node;
        let end = document.node(node).end;
        while id < end {
            self.close(&mut ends, id);
            match document.kind(id) {
                Kind::Root => id += 1,
                Kind::Element => id = self.open(document, id, &mut ends),
                Kind::Namespace | Kind::Attribute => id += 1,
                Kind::Text => {
                    escape_text(document.own_value(id), self.out);
                    id += 1;
                }
                Kind::Comment => {
                    self.put(&["<!--", document.own_value(id), "-->"]);
                    id += 1;
                }
                Kind::Instruction => {
                    let data = document.own_value(id);
                    let blank = if data.is_empty() { "" } else { " " };
                    self.put(&["<?", &document.name(id).local, blank, data, "?>"]);
                    id += 1;
                }
            }
        }
        self.close(&mut ends, end);
    }

    fn put(&mut self, parts: &[&str]) {
        parts.iter().for_each(|part| self.out.push_str(part));
    }

    fn close(&mut self, ends: &mut Vec<(NodeId, String)>, id: NodeId) {
        while let Some((_, name)) = ends.pop_if(|(end, _)| *end <= id) {
            self.put(&["</", &name, ">"]);
        }
        self.scope.retain(|(_, _, end)| *end > id);
    }

    /// The start of an element; where its content begins.
    fn open(&mut self, document: &Document, id: NodeId, ends: &mut Vec<(NodeId, String)>) -> NodeId {
        let end = document.node(id).end;
        let declared = self.scope.len();
        let own = |kind: Kind| document.attributes(id).filter(move |&id| document.kind(id) == kind);
        for place in own(Kind::Namespace) {
            self.scope.push((document.name(place).local.clone(), document.own_value(place).into(), end));
        }
        let written = self.scope.len();
        let name = self.qualified(document.name(id), end, false);
        self.put(&["<", &name]);
        for place in declared..written {
            self.declaration(place);
        }
        let mut next = written;
        self.declarations(&mut next);
        for place in own(Kind::Attribute) {
            let name = self.qualified(document.name(place), end, true);
            self.declarations(&mut next);
            self.put(&[" ", &name, "=\""]);
            escape_attribute(document.own_value(place), self.out);
            self.out.push('"');
        }
        let content = document.attributes(id).last().map_or(id + 1, |last| last + 1);
        if content == end {
            self.out.push_str("/>");
        } else {
            self.out.push('>');
            ends.push((end, name));
        }
        content
    }

    fn declarations(&mut self, next: &mut usize) {
        while *next < self.scope.len() {
            self.declaration(*next);
            *next += 1;
        }
    }

    fn declaration(&mut self, place: usize) {
        let (prefix, uri, _) = self.scope[place].clone();
        let colon = if prefix.is_empty() { "" } else { ":" };
        self.put(&[" xmlns", colon, &prefix, "=\""]);
        escape_attribute(&uri, self.out);
        self.out.push('"');
    }

    fn bound(&self, prefix: &str) -> &str {
        self.scope.iter().rev().find(|(known, _, _)| **known == *prefix).map_or("", |(_, uri, _)| uri)
    }

    /// A name with a prefix that means its namespace here. What the scope does not know is declared, under a prefix that the
    /// query declares or a new one.
    fn qualified(&mut self, name: &Name, end: NodeId, attribute: bool) -> String {
        let with = |prefix: &str| match prefix {
            "" => name.local.to_string(),
            prefix => format!("{prefix}:{}", name.local),
        };
        if &*name.prefix == "xml" {
            return with("xml");
        }
        if name.uri.is_empty() {
            if !attribute && !self.bound("").is_empty() {
                self.scope.push(("".into(), "".into(), end));
            }
            return with("");
        }
        if self.bound(&name.prefix) == &*name.uri && !(attribute && name.prefix.is_empty()) {
            return with(&name.prefix);
        }
        let prefix = self.prefix_for(&name.uri, attribute);
        let qualified = with(&prefix);
        if self.bound(&prefix) != &*name.uri {
            self.scope.push((prefix.into(), name.uri.clone(), end));
        }
        qualified
    }

    fn prefix_for(&mut self, uri: &str, attribute: bool) -> String {
        let usable = |prefix: &str| !(attribute && prefix.is_empty());
        let in_scope = self
            .scope
            .iter()
            .rev()
            .find(|(prefix, known, _)| **known == *uri && usable(prefix) && self.bound(prefix) == uri);
        if let Some((prefix, _, _)) = in_scope {
            return prefix.to_string();
        }
        if let Some((prefix, _)) = self.known.iter().find(|(prefix, known)| known == uri && usable(prefix)) {
            return prefix.clone();
        }
        loop {
            *self.generated += 1;
            let prefix = format!("p{}", self.generated);
            if self.bound(&prefix).is_empty() && self.known.iter().all(|(known, _)| *known != prefix) {
                return prefix;
            }
        }
    }
}

/// The text of an element. Blanks alone would be dropped when they are read again: the last is written by its number.
pub(super) fn escape_text(text: &str, out: &mut String) {
    let by_number = text.chars().next_back().filter(|_| text.chars().all(|c| is_blank(c) && c != '\r'));
    let plain = &text[..text.len() - by_number.map_or(0, char::len_utf8)];
    escape(plain, out, |c| match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '\r' => "&#x0D;",
        _ => "",
    });
    out.push_str(match by_number {
        Some('\t') => "&#x09;",
        Some('\n') => "&#x0A;",
        Some(_) => "&#x20;",
        None => "",
    });
}

fn escape_attribute(text: &str, out: &mut String) {
    escape(text, out, |c| match c {
        '&' => "&amp;",
        '<' => "&lt;",
        '>' => "&gt;",
        '"' => "&quot;",
        '\t' => "&#x09;",
        '\n' => "&#x0A;",
        '\r' => "&#x0D;",
        _ => "",
    });
}

fn escape(text: &str, out: &mut String, reference: impl Fn(char) -> &'static str) {
    let mut rest = text;
    while let Some(at) = rest.find(|c| !reference(c).is_empty()) {
        out.push_str(&rest[..at]);
        let special = &rest[at..];
        out.push_str(special.chars().next().map_or("", &reference));
        // All of them are ASCII.
        rest = &special[1..];
    }
    out.push_str(rest);
}

/// A document that is also there as text: what a session keeps of the value that a method read last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Kept {
    last: Option<(Arc<str>, Arc<Document>)>,
}

/// The longest text that is kept with its document.
const KEPT_BYTES_MAX: usize = 1 << 26;

impl Kept {
    /// The document of a value.
    ///
    /// # Errors
    /// As [`Document::read`]; none for the text of a value.
    pub(crate) fn document(&mut self, text: &str) -> Result<Arc<Document>, SqlError> {
        if let Some((known, document)) = &self.last
            && **known == *text
        {
            return Ok(Arc::clone(document));
        }
        let document = Arc::new(Document::read(text)?);
        self.last = (text.len() <= KEPT_BYTES_MAX).then(|| (Arc::from(text), Arc::clone(&document)));
        Ok(document)
    }
}
