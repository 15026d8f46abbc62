//! FOR JSON and FOR XML: which values of a row stand where in the text.

use super::scope::Source;
use super::{Binder, Bound, Typed};
use crate::errors;
use crate::expression::{Expr, Fault};
use crate::output::ColumnInfo;
use crate::plan::{Document, Language, Level, Member, More, Node};
use pikepole_tsql as tree;
use pikepole_types::{Length, SqlError, SqlType, Value};

/// The names that clients see for a document's column.
const JSON_COLUMN: &str = "JSON_F52E2B61-18A1-11d1-B105-00805F49916B";
const XML_COLUMN: &str = "XML_F52E2B61-18A1-11d1-B105-00805F49916B";

/// The directives of a clause.
#[derive(Default)]
pub(super) struct Directives {
    pub(super) mode: String,
    /// What stood in parentheses behind the mode.
    pub(super) row: Option<String>,
    pub(super) root: Option<String>,
    nulls: bool,
    bare: bool,
    /// BINARY BASE64, which all modes but EXPLICIT have without being asked.
    pub(super) base64: bool,
    pub(super) elements: bool,
    pub(super) nil: bool,
    xml_type: bool,
}

impl Directives {
    fn read(clause: &tree::ForClause) -> Result<Directives, Fault> {
        let mut read = Directives::default();
        let is_json = clause.format == tree::ForFormat::Json;
        for (place, (word, text)) in clause.directives.iter().enumerate() {
            match word.as_str() {
                "PATH" | "AUTO" | "RAW" if place == 0 && !(is_json && word == "RAW") => {
                    read.mode.clone_from(word);
                    read.row.clone_from(text);
                }
                "EXPLICIT" if place == 0 && !is_json => {
                    read.mode.clone_from(word);
                    read.row.clone_from(text);
                }
                "ROOT" if place > 0 => read.root = Some(text.clone().unwrap_or_else(|| "root".to_owned())),
                "INCLUDE_NULL_VALUES" if is_json && place > 0 => read.nulls = true,
                "WITHOUT_ARRAY_WRAPPER" if is_json && place > 0 => read.bare = true,
                "ELEMENTS" | "ELEMENTS ABSENT" if !is_json && place > 0 => read.elements = true,
                "ELEMENTS XSINIL" if !is_json && place > 0 => (read.elements, read.nil) = (true, true),
                "TYPE" if !is_json && place > 0 => read.xml_type = true,
                "BINARY BASE64" if !is_json && place > 0 => read.base64 = true,
                "XMLSCHEMA" | "XMLDATA" if !is_json => return Err(errors::unsupported("FOR XML with a schema")),
                _ => return Err(Box::new(SqlError::incorrect_syntax(word))),
            }
        }
        if read.root.is_some() && read.bare {
            let text = "ROOT option and WITHOUT_ARRAY_WRAPPER option cannot be used together in FOR JSON. Remove one of these \
                        options.";
            return Err(Box::new(SqlError::new(13620, 16, 1, text)));
        }
        Ok(read)
    }
}

/// A value of the select list on its way into a document.
pub(super) struct Part {
    pub(super) name: String,
    /// The text is JSON already, or the value is xml.
    pub(super) raw: bool,
    /// The table it is read from, by its place in FROM.
    source: Option<usize>,
}

impl Binder<'_> {
    /// The rows of a query, or the text that its FOR clause asks for; `trees` are the values as they were written.
    pub(super) fn in_format(
        &mut self,
        rows: Bound,
        trees: &[Option<tree::Expr>],
        query: &tree::Query,
    ) -> Result<Bound, Fault> {
        let Some(clause) = &query.for_clause else {
            return Ok(rows);
        };
        if clause.format == tree::ForFormat::Browse {
            return Err(errors::unsupported("FOR BROWSE"));
        }
        let is_json = clause.format == tree::ForFormat::Json;
        if !is_json && !self.namespaces.is_empty() {
            let needs_none = |(word, _): &(String, _)| ["EXPLICIT", "XMLSCHEMA", "XMLDATA"].contains(&word.as_str());
            if clause.directives.iter().any(needs_none) {
                return Err(Box::new(SqlError::xml_spaces_unsupported()));
            }
        }
        let directives = Directives::read(clause)?;
        let sources = &self.scope().sources;
        let part = |(place, column): (usize, &ColumnInfo)| {
            let slot = match rows.values.get(place) {
                Some(Expr::Slot(slot)) => Some(*slot),
                _ => None,
            };
            let reads = |slot: usize| sources.iter().position(|source| source.registers.range().contains(&slot));
            let tree = trees.get(place).and_then(Option::as_ref);
            let raw = if is_json { tree.is_some_and(gives_json) } else { column.ty == SqlType::Xml };
            Part { name: column.name.clone(), raw, source: slot.and_then(reads) }
        };
        let parts: Vec<Part> = rows.columns.iter().enumerate().map(part).collect();
        let (language, levels) = match is_json {
            true => {
                let levels = self.json_levels(&directives, &parts)?;
                (Language::Json { array: !directives.bare, nulls: directives.nulls }, levels)
            }
            false if directives.mode == "EXPLICIT" => {
                let tags = super::xml_explicit::tags(&directives, &parts, &rows.columns)?;
                (self.explicit(&directives, tags)?, Vec::new())
            }
            false => {
                let (levels, declarations) = self.xml_levels(&directives, &parts)?;
                (Language::Xml { nil: directives.nil, declarations }, levels)
            }
        };
        let slot = self.register();
        let document = Document {
            input: rows.node,
            types: rows.columns.iter().map(|column| column.ty).collect(),
            values: rows.values,
            root: directives.root,
            levels,
            language,
            typed: directives.xml_type,
            is_always: directives.xml_type || self.scopes.len() > 1,
            slot,
        };
        let name = match (is_json, directives.xml_type) {
            (true, _) => JSON_COLUMN,
            (false, false) => XML_COLUMN,
            (false, true) => "",
        };
        let ty = if directives.xml_type { SqlType::Xml } else { SqlType::NVarChar(Length::Max) };
        Ok(Bound {
            node: Node::More(Box::new(More::Document(document))),
            columns: vec![ColumnInfo::new(name, ty, true)],
            values: vec![Expr::Slot(slot)],
        })
    }

    /// The places of the select list by table, in the order in which the tables first come: what is of no table belongs to the
    /// one before it.
    pub(super) fn by_table(&mut self, parts: &[Part], shown: impl Fn(&Source) -> String) -> Vec<(String, Vec<usize>)> {
        let mut tables: Vec<(Option<usize>, Vec<usize>)> = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let known = match part.source {
                None => tables.len().checked_sub(1),
                source => tables.iter().position(|(other, _)| *other == source),
            };
            match known {
                Some(known) => tables[known].1.push(place),
                None => tables.push((part.source, vec![place])),
            }
        }
        let sources = &self.scope().sources;
        let alias = |source: Option<usize>| source.or(Some(0)).and_then(|source| sources.get(source));
        let named = |(source, places)| (alias(source).map_or_else(String::new, &shown), places);
        tables.into_iter().map(named).collect()
    }

    fn json_levels(&mut self, directives: &Directives, parts: &[Part]) -> Result<Vec<Level>, Fault> {
        if parts.iter().any(|part| part.name.is_empty()) {
            let text = "Column expressions and data sources without names or aliases cannot be formatted as JSON text using FOR \
                        JSON clause. Add alias to the unnamed column or table.";
            return Err(Box::new(SqlError::new(13605, 16, 1, text)));
        }
        let value =
            |place: usize| Member::Value { name: parts[place].name.clone(), value: place, raw: parts[place].raw };
        if directives.mode == "AUTO" {
            if self.scope().sources.is_empty() {
                let text = "FOR JSON AUTO requires at least one table for generating JSON objects. Use FOR JSON PATH or add a \
                            FROM clause with a table name.";
                return Err(Box::new(SqlError::new(13600, 16, 1, text)));
            }
            let tables = self.by_table(parts, |source| source.alias.clone());
            return tables
                .into_iter()
                .map(|(name, places)| {
                    let mut members = Vec::new();
                    for place in places {
                        refuse_twice(&members, &parts[place].name, &parts[place].name)?;
                        members.push(value(place));
                    }
                    Ok(Level { name, members })
                })
                .collect();
        }
        if directives.mode.is_empty() {
            return Err(Box::new(SqlError::incorrect_syntax("JSON")));
        }
        let mut members = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            let path: Vec<&str> = part.name.split('.').collect();
            let Some((last, groups)) = path.split_last() else { continue };
            let mut inside = &mut members;
            for group in groups {
                inside = group_named(inside, group, &part.name)?;
            }
            refuse_twice(inside, last, &part.name)?;
            inside.push(Member::Value { name: (*last).to_owned(), value: place, raw: part.raw });
        }
        Ok(vec![Level { name: String::new(), members }])
    }
}

fn is_named(member: &Member, wanted: &str) -> bool {
    matches!(member, Member::Value { name, .. } | Member::Group { name, .. } if name == wanted)
}

fn refuse_twice(members: &[Member], name: &str, path: &str) -> Result<(), Fault> {
    if !members.iter().any(|member| is_named(member, name)) {
        return Ok(());
    }
    let text = format!(
        "Property '{path}' cannot be generated in JSON output due to a conflict with another column name or alias. Use different \
         names and aliases for each column in SELECT list."
    );
    Err(Box::new(SqlError::new(13601, 16, 1, text)))
}

/// The members under a name, which is new or that of the last member: an object is written in one piece.
fn group_named<'m>(members: &'m mut Vec<Member>, wanted: &str, path: &str) -> Result<&'m mut Vec<Member>, Fault> {
    let is_open = matches!(members.last(), Some(Member::Group { name, .. }) if name == wanted);
    if !is_open {
        refuse_twice(members, wanted, path)?;
        members.push(Member::Group { name: wanted.to_owned(), members: Vec::new() });
    }
    match members.last_mut() {
        Some(Member::Group { members, .. }) => Ok(members),
        _ => Err(Box::new(SqlError::incorrect_syntax(wanted))),
    }
}

impl Binder<'_> {
    /// JSON_OBJECT and JSON_ARRAY.
    pub(super) fn make_json(&mut self, json: &tree::MakeJson) -> Result<Typed, Fault> {
        let flag = |on: bool| Typed::constant(Value::Bit(on), SqlType::Bit);
        let mut arguments = vec![flag(json.absent_on_null)];
        for (key, value) in &json.members {
            if let Some(key) = key {
                arguments.push(self.expr(key)?);
            }
            arguments.push(flag(gives_json(value)));
            arguments.push(self.expr(value)?);
        }
        let function = if json.object { &pikepole_types::JSON_OBJECT } else { &pikepole_types::JSON_ARRAY };
        super::function::built_in(function, arguments, self.collation())
    }
}

/// Whether an expression's text is JSON by how it is made.
pub(super) fn gives_json(tree: &tree::Expr) -> bool {
    match &tree.kind {
        tree::ExprKind::Json(_) => true,
        tree::ExprKind::Function(call) => {
            call.name.schema.is_none() && (call.name.name.is("JSON_QUERY") || call.name.name.is("JSON_MODIFY"))
        }
        tree::ExprKind::Subquery(query) => query.for_clause.as_ref().is_some_and(|clause| {
            let is_bare = clause.directives.iter().any(|(word, _)| word == "WITHOUT_ARRAY_WRAPPER");
            clause.format == tree::ForFormat::Json && !is_bare
        }),
        _ => false,
    }
}
