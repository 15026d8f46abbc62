//! The format file that is XML.

use roxmltree::{Document, Node, ParsingOptions};

use super::{FIELDS_MAX, FieldFormat, FormatColumn, FormatFile, Host, encoding_of, terminator, type_named};
use pikepole_types::SqlError;

const NAMESPACE: &str = "http://schemas.microsoft.com/sqlserver/2004/bulkload/format";
const INSTANCE: &str = "http://www.w3.org/2001/XMLSchema-instance";

/// Elements, attributes and texts that a file may have.
const NODES_MAX: u32 = 100_000;

/// The digits of a decimal when PRECISION does not say.
const PRECISION_DEFAULT: u8 = 18;

/// A document, and what errors name.
struct Source<'a> {
    document: &'a Document<'a>,
    file: &'a str,
}

/// A FIELD; what a native one is its COLUMN says.
struct Field<'a> {
    id: &'a str,
    format: FieldFormat,
    is_native: bool,
}

pub(super) fn parse(text: &str, file: &str) -> Result<FormatFile, SqlError> {
    let options = ParsingOptions { nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| {
        let at = error.pos();
        SqlError::format_xml_invalid("0xC00CEE2D", at.row, at.col, file)
    })?;
    Source { document: &document, file }.format()
}

impl<'a> Source<'a> {
    fn line(&self, node: Node<'_, '_>) -> u32 {
        self.document.text_pos_at(node.range().start).row
    }

    /// The elements within one; nothing else may be there.
    fn children(&self, parent: Node<'a, 'a>, names: &[&str]) -> Result<Vec<Node<'a, 'a>>, SqlError> {
        let mut elements = Vec::new();
        for node in parent.children() {
            if node.is_element() {
                self.expect(node, names)?;
                elements.push(node);
            } else if node.is_text() && !node.text().unwrap_or_default().trim().is_empty() {
                return Err(SqlError::format_item_unexpected(self.line(node), self.file));
            }
        }
        Ok(elements)
    }

    fn expect(&self, node: Node<'a, 'a>, names: &[&str]) -> Result<(), SqlError> {
        let tag = node.tag_name();
        if tag.namespace() == Some(NAMESPACE) && names.contains(&tag.name()) {
            return Ok(());
        }
        Err(SqlError::format_element_unexpected(self.line(node), self.file, tag.name()))
    }

    fn attribute(&self, node: Node<'a, 'a>, name: &str) -> Result<&'a str, SqlError> {
        let value = match name.strip_prefix("xsi:") {
            Some(local) => node.attribute((INSTANCE, local)),
            None => node.attribute(name),
        };
        value.ok_or_else(|| SqlError::format_attribute_missing(self.line(node), self.file, name))
    }

    fn bad(&self, node: Node<'a, 'a>, name: &str, value: &str) -> SqlError {
        SqlError::format_value_invalid(self.line(node), self.file, value, name)
    }

    /// A number that an attribute says, if it is there.
    fn number(&self, node: Node<'a, 'a>, name: &str) -> Result<Option<usize>, SqlError> {
        let Some(text) = node.attribute(name) else {
            return Ok(None);
        };
        let number = text.parse::<i32>().ok().and_then(|number| usize::try_from(number).ok());
        number.map(Some).ok_or_else(|| self.bad(node, name, text))
    }

    fn required(&self, node: Node<'a, 'a>, name: &str) -> Result<usize, SqlError> {
        self.attribute(node, name)?;
        Ok(self.number(node, name)?.unwrap_or_default())
    }

    fn format(&self) -> Result<FormatFile, SqlError> {
        let root = self.document.root_element();
        self.expect(root, &["BCPFORMAT"])?;
        let parts = self.children(root, &["RECORD", "ROW"])?;
        let [record, row] = parts.as_slice() else {
            let stray = parts.get(2).copied().unwrap_or(root);
            return Err(SqlError::format_element_unexpected(self.line(stray), self.file, stray.tag_name().name()));
        };
        self.expect(*record, &["RECORD"])?;
        self.expect(*row, &["ROW"])?;
        let mut fields: Vec<Field<'_>> = Vec::new();
        for node in self.children(*record, &["FIELD"])? {
            let field = self.field(node)?;
            if fields.iter().any(|other| other.id == field.id) {
                return Err(SqlError::format_id_twice(self.line(node), self.file, field.id));
            }
            fields.push(field);
        }
        let mut columns: Vec<FormatColumn> = Vec::new();
        for node in self.children(*row, &["COLUMN"])? {
            let column = self.column(node, columns.len(), &mut fields)?;
            if columns.iter().any(|other| other.field == column.field) {
                let id = fields[column.field].id;
                return Err(SqlError::format_id_used_twice(self.line(node), self.file, id));
            }
            columns.push(column);
        }
        if fields.is_empty() || fields.len() > FIELDS_MAX || columns.is_empty() {
            return Err(SqlError::format_count_invalid(self.file));
        }
        Ok(FormatFile { fields: fields.into_iter().map(|field| field.format).collect(), columns })
    }

    fn field(&self, node: Node<'a, 'a>) -> Result<Field<'a>, SqlError> {
        const KNOWN: [&str; 7] = ["ID", "type", "LENGTH", "PREFIX_LENGTH", "MAX_LENGTH", "COLLATION", "TERMINATOR"];
        if let Some(stray) = node.attributes().find(|attribute| !KNOWN.contains(&attribute.name())) {
            return Err(SqlError::format_attribute_unexpected(self.line(node), self.file, stray.name()));
        }
        let id = self.attribute(node, "ID")?;
        let kind = self.attribute(node, "xsi:type")?;
        let (what, ends) = ["Fixed", "Prefix", "Term"]
            .iter()
            .find_map(|ends| Some((kind.strip_suffix(ends)?, *ends)))
            .filter(|kind| matches!(kind, ("Char" | "NChar", _) | ("Native", "Fixed" | "Prefix")))
            .ok_or_else(|| self.bad(node, "xsi:type", kind))?;
        let collation = node.attribute("COLLATION").unwrap_or_default();
        let encoding = encoding_of(collation).map_err(|()| self.bad(node, "COLLATION", collation))?;
        let mut format = FieldFormat {
            host: if what == "NChar" { Host::Wide } else { Host::Text(encoding) },
            prefix_bytes: 0,
            length: self.number(node, "MAX_LENGTH")?.unwrap_or_default(),
            terminator: Vec::new(),
        };
        match ends {
            "Fixed" => format.length = self.required(node, "LENGTH")?,
            "Prefix" => {
                let text = self.attribute(node, "PREFIX_LENGTH")?;
                let bytes = text.parse().ok().filter(|bytes| matches!(bytes, 1 | 2 | 4 | 8));
                format.prefix_bytes = bytes.ok_or_else(|| self.bad(node, "PREFIX_LENGTH", text))?;
            }
            _ => {
                let text = self.attribute(node, "TERMINATOR")?;
                let bytes = terminator(text).filter(|bytes| !bytes.is_empty());
                format.terminator = bytes.ok_or_else(|| self.bad(node, "TERMINATOR", text))?;
            }
        }
        Ok(Field { id, format, is_native: what == "Native" })
    }

    fn column(&self, node: Node<'a, 'a>, place: usize, fields: &mut [Field<'_>]) -> Result<FormatColumn, SqlError> {
        const KNOWN: [&str; 7] = ["SOURCE", "NAME", "type", "LENGTH", "PRECISION", "SCALE", "NULLABLE"];
        if let Some(stray) = node.attributes().find(|attribute| !KNOWN.contains(&attribute.name())) {
            return Err(SqlError::format_attribute_unexpected(self.line(node), self.file, stray.name()));
        }
        let source = self.attribute(node, "SOURCE")?;
        let name = self.attribute(node, "NAME")?.to_owned();
        let field = fields.iter().position(|field| field.id == source);
        let field = field.ok_or_else(|| SqlError::format_id_unknown(self.line(node), self.file, source))?;
        let digits = |name: &str, most: u8| -> Result<Option<u8>, SqlError> {
            let number = self.number(node, name)?;
            let digits = number.map(|number| u8::try_from(number).ok().filter(|digits| *digits <= most));
            digits
                .map(|digits| digits.ok_or_else(|| self.bad(node, name, node.attribute(name).unwrap_or_default())))
                .transpose()
        };
        let precision = digits("PRECISION", 38)?.unwrap_or(PRECISION_DEFAULT).max(1);
        let kind = self.attribute(node, "xsi:type")?;
        let is_decimal = matches!(kind, "SQLDECIMAL" | "SQLNUMERIC");
        let scale = digits("SCALE", if is_decimal { precision } else { 7 })?;
        let length = self.number(node, "LENGTH")?.unwrap_or_default();
        let ty = type_named(kind, length, precision, scale).ok_or_else(|| self.bad(node, "xsi:type", kind))?;
        if fields[field].is_native {
            fields[field].format.host = super::text::host(&ty, None);
        }
        let nullable = match node.attribute("NULLABLE") {
            None | Some("YES") => true,
            Some("NO") => false,
            Some(other) => return Err(self.bad(node, "NULLABLE", other)),
        };
        Ok(FormatColumn { field, place, name, ty, nullable })
    }
}
