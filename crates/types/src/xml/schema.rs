//! Schemas of xml, as far as collections of them need them: that they are schemas, and of which namespaces.

use super::document::{Document, Kind, ROOT};
use crate::SqlError;

/// The namespace of schemas themselves.
const SCHEMA_SPACE: &str = "http://www.w3.org/2001/XMLSchema";

/// The namespaces that the schemas in a text are about, in its order; the empty one for a schema that names none.
///
/// # Errors
/// 9400 to 9465 for what is no XML; 2378 for what is no schema, or nothing.
pub fn schema_spaces(text: &str) -> Result<Vec<String>, SqlError> {
    let document = Document::read(text)?;
    let mut spaces = Vec::new();
    for id in document.children(ROOT).filter(|&id| matches!(document.kind(id), Kind::Element | Kind::Text)) {
        let is_schema = document.kind(id) == Kind::Element
            && &*document.name(id).local == "schema"
            && &*document.name(id).uri == SCHEMA_SPACE;
        if !is_schema {
            return Err(SqlError::xml_schema_expected());
        }
        let is_target = |&id: &u32| {
            document.kind(id) == Kind::Attribute
                && &*document.name(id).local == "targetNamespace"
                && document.name(id).uri.is_empty()
        };
        let target = document.attributes(id).find(is_target);
        spaces.push(target.map_or(String::new(), |id| document.own_value(id).to_owned()));
    }
    if spaces.is_empty() { Err(SqlError::xml_schema_expected()) } else { Ok(spaces) }
}

/// The text of schemas as others can follow it: without a declaration.
///
/// # Errors
/// As [`schema_spaces`].
pub fn schema_text(text: &str) -> Result<&str, SqlError> {
    schema_spaces(text)?;
    let text = text.trim_start_matches('\u{FEFF}').trim_start();
    let declared = text.strip_prefix("<?xml").filter(|rest| rest.starts_with(char::is_whitespace));
    Ok(declared.and_then(|rest| rest.split_once("?>")).map_or(text, |(_, schemas)| schemas))
}

#[cfg(test)]
mod tests {
    use super::{schema_spaces, schema_text};

    #[test]
    fn schemas_have_a_namespace_or_none() {
        let two =
            "<?xml version='1.0'?><xsd:schema xmlns:xsd='http://www.w3.org/2001/XMLSchema' targetNamespace='urn:a'>
            <xsd:element name='x'/></xsd:schema> <schema xmlns='http://www.w3.org/2001/XMLSchema'/>";
        assert_eq!(schema_spaces(two).expect("they are schemas"), ["urn:a", ""]);
        let text = schema_text(two).expect("they are schemas");
        assert!(text.starts_with("<xsd:schema"), "{text}");
        assert_eq!(schema_spaces(&text.repeat(2)).map(|spaces| spaces.len()).ok(), Some(4));
        for (text, number) in [("<schema/>", 2378), ("", 2378), ("x", 2378), ("<schema", 9400)] {
            assert_eq!(schema_spaces(text).expect_err("it is none").number, number, "{text}");
        }
    }
}
