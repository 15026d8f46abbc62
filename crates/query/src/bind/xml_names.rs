//! Names in documents of XML: what prefixes stand for, which names are refused, and how others are written.

use super::Binder;
use super::common_table::names_of;
use super::scope::CommonTable;
use crate::expression::Fault;
use crate::xml_text::escape_xml;
use pikepole_tsql as tree;
use pikepole_types::SqlError;
use pikepole_types::xml::{XML_SPACE, continues_name, is_character, starts_name};
use std::fmt::Write;

const NIL_SPACE: &str = " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

impl Binder<'_> {
    /// The common tables of a WITH clause, with numbers for those that the query with this body names more than once; without a body none
    /// has one. What the clause says of prefixes holds until the statement's end, but not in views and functions.
    ///
    /// # Errors
    /// 6869 to 6875 for prefixes that cannot be declared so.
    pub(super) fn with_clause(
        &mut self,
        with: &tree::With,
        body: Option<&tree::QueryBody>,
    ) -> Result<Vec<CommonTable>, Fault> {
        if !with.namespaces.is_empty() {
            self.namespaces = declared(&with.namespaces)?;
        }
        for (at, table) in with.tables.iter().enumerate() {
            if with.tables[..at].iter().any(|earlier| table.name.is(&earlier.name.text)) {
                return Err(Box::new(SqlError::common_table_twice(&table.name.text)));
            }
        }
        let names = body.map_or_else(|| vec![0; with.tables.len()], |body| names_of(&with.tables, body));
        let numbered = with.tables.iter().zip(names).map(|(table, names)| {
            let number = (names > 1).then(|| {
                self.common_tables += 1;
                self.common_tables
            });
            (table.clone(), number)
        });
        Ok(CommonTable::list(numbered))
    }

    /// The declarations that the outermost elements of a document have, the last one first.
    ///
    /// # Errors
    /// 6873 for a prefix of ELEMENTS XSINIL's that is declared otherwise.
    pub(super) fn declarations(&self, nil: bool) -> Result<String, Fault> {
        let mut text = String::new();
        if nil {
            if self.namespaces.iter().any(|(prefix, _)| prefix == "xsi") {
                return Err(Box::new(SqlError::xml_prefix_of_nil()));
            }
            text.push_str(NIL_SPACE);
        }
        for (prefix, uri) in self.namespaces.iter().rev().filter(|(prefix, _)| prefix != "xml") {
            text.push_str(" xmlns");
            if !prefix.is_empty() {
                text.extend([":", prefix]);
            }
            text.push_str("=\"");
            escape_xml(uri, true, &mut text);
            text.push('"');
        }
        Ok(text)
    }

    /// Refuses a name that a document takes as it is written: `kind` is what messages call it, `whole` what they quote.
    ///
    /// # Errors
    /// 6867, 6846 and 6850.
    pub(super) fn check_xml_name(&self, kind: &str, name: &str, whole: &str) -> Result<(), Fault> {
        let prefix = name.split_once(':').map(|(prefix, _)| prefix);
        if name == "xmlns" || prefix == Some("xmlns") {
            return Err(Box::new(SqlError::xml_name_is_xmlns()));
        }
        if let Some(prefix) = prefix.filter(|prefix| *prefix != "xml" && !prefix.is_empty())
            && !self.namespaces.iter().any(|(known, _)| known == prefix)
        {
            return Err(Box::new(SqlError::xml_prefix_missing(prefix, kind, whole)));
        }
        let kind = match kind {
            "row" => "Row",
            "column" => "Column",
            kind => kind,
        };
        check_identifier(kind, name, whole, true)
    }
}

/// # Errors
/// 6850 for what is no name of XML; `colon` says that one may stand in it, though not in front.
pub(super) fn check_identifier(kind: &str, name: &str, whole: &str, colon: bool) -> Result<(), Fault> {
    let may_stand = |at: usize, c: char| fits(c, at == 0) || (colon && c == ':' && at > 0);
    match name.char_indices().find(|(at, c)| !may_stand(*at, *c)) {
        None => Ok(()),
        Some((_, c)) => Err(Box::new(SqlError::xml_name_invalid(kind, whole, c, code(c)))),
    }
}

/// A name of the catalog as a name of XML: characters that cannot stand in one are written by their number, and so is an underscore
/// that could be taken for the beginning of such a number.
pub(super) fn encoded(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    let mut rest = name.chars().peekable();
    while let Some(c) = rest.next() {
        let is_first = encoded.is_empty();
        let escapes = c == '_' && rest.peek() == Some(&'x');
        if !escapes && c <= '\u{FFFF}' && (fits(c, is_first) || (c == ':' && !is_first)) {
            encoded.push(c);
            continue;
        }
        let width = if c > '\u{FFFF}' { 6 } else { 4 };
        let written = write!(encoded, "_x{:0width$X}_", u32::from(c));
        debug_assert!(written.is_ok(), "writing to a string cannot fail");
    }
    encoded
}

fn fits(c: char, first: bool) -> bool {
    if first { starts_name(c) } else { continues_name(c) }
}

/// A character's number, as messages write it.
fn code(c: char) -> String {
    format!("0x{:04X}", u32::from(c))
}

/// What the prefixes of XMLNAMESPACES stand for; the default's is empty.
fn declared(namespaces: &[tree::XmlNamespace]) -> Result<Vec<(String, String)>, Fault> {
    let mut known: Vec<(String, String)> = Vec::with_capacity(namespaces.len());
    for tree::XmlNamespace { prefix, uri } in namespaces {
        let prefix = prefix.as_ref().map_or("", tree::Name::as_str);
        let bad = prefix.char_indices().find(|(at, c)| !fits(*c, *at == 0));
        let bad_in_uri = uri.chars().find(|c| !is_character(*c));
        let fault = match (prefix, uri.as_str()) {
            ("xmlns", _) => Some(SqlError::xml_prefix_reserved(prefix)),
            _ if bad.is_some() => bad.map(|(_, c)| SqlError::xml_prefix_invalid(prefix, c, code(c))),
            ("xml", XML_SPACE) => None,
            ("xml", _) => Some(SqlError::xml_prefix_of_xml()),
            (_, XML_SPACE) => Some(SqlError { state: 2, ..SqlError::xml_prefix_of_xml() }),
            (_, "") => Some(SqlError::xml_space_empty()),
            _ => bad_in_uri.map(|c| SqlError::xml_space_has_no_such_character(uri, c, code(c))),
        };
        if let Some(fault) = fault {
            return Err(Box::new(fault));
        }
        if known.iter().any(|(known, _)| known == prefix) {
            let shown = if prefix.is_empty() { "default" } else { prefix };
            return Err(Box::new(SqlError::xml_prefix_twice(shown)));
        }
        known.push((prefix.to_owned(), uri.clone()));
    }
    Ok(known)
}
