//! FOR XML EXPLICIT: what the names of columns say of elements.
//!
//! ```text
//!   Tag | Parent | name!number!attribute!directive | ...
//! ```
//!
//! The first two columns are numbers of elements: the row's own, and that of the one it is in. A row gives the values of the columns that
//! have its own number.

use super::document::{Directives, Part};
use crate::errors;
use crate::expression::Fault;
use crate::output::ColumnInfo;
use crate::plan::{ExplicitColumn, ExplicitForm, ExplicitTag};
use pikepole_types::{SqlError, SqlType};

/// Which directives a column's name has.
#[derive(Default)]
struct Said {
    form: Option<ExplicitForm>,
    forms: usize,
    identities: usize,
    hidden: usize,
}

/// The elements that a query's columns declare.
///
/// # Errors
/// 6801, 6803, 6804, 6820: the first columns are not what they must be; 6802, 6812 to 6817, 6824, 6835, 6843: names that say nothing, or too
/// much; 6825, 6829, 6859: options that do not go with it.
pub(super) fn tags(directives: &Directives, parts: &[Part], columns: &[ColumnInfo]) -> Result<Vec<ExplicitTag>, Fault> {
    if directives.row.is_some() {
        return Err(Box::new(SqlError::xml_row_of_mode()));
    }
    if directives.elements {
        return Err(Box::new(SqlError::xml_elements_of_explicit()));
    }
    if let Some(column) = columns.iter().find(|column| column.ty.is_binary() && !directives.base64) {
        return Err(Box::new(SqlError::xml_binary_url(&column.name)));
    }
    check_first(columns)?;
    let mut tags: Vec<ExplicitTag> = Vec::new();
    for (value, part) in parts.iter().enumerate().skip(2) {
        let (name, number, rest) = place(&part.name)?;
        let at = match tags.iter().position(|tag| tag.number == number) {
            Some(at) if tags[at].name != name => {
                return Err(Box::new(SqlError::xml_tag_redeclared(number, &tags[at].name, name)));
            }
            Some(at) => at,
            None => {
                tags.push(ExplicitTag { number, name: name.to_owned(), columns: Vec::new() });
                tags.len() - 1
            }
        };
        let mut rest = rest.into_iter();
        let attribute = rest.next().unwrap_or_default();
        let said = said(rest, &part.name)?;
        if said.hidden > 0 {
            continue;
        }
        if said.form == Some(ExplicitForm::Cdata) && part.raw {
            return Err(Box::new(SqlError::xml_typed_cdata(&part.name)));
        }
        let form = match said.form {
            _ if part.raw => ExplicitForm::Xml,
            Some(form) => form,
            None if attribute.is_empty() => ExplicitForm::Element,
            None => ExplicitForm::Attribute,
        };
        tags[at].columns.push(ExplicitColumn { name: attribute.to_owned(), value, form });
    }
    Ok(tags)
}

/// The columns for the numbers.
fn check_first(columns: &[ColumnInfo]) -> Result<(), Fault> {
    let [tag, parent, _, ..] = columns else {
        return Err(Box::new(SqlError::xml_explicit_columns_missing()));
    };
    for (place, (column, name)) in [(tag, "TAG"), (parent, "PARENT")].into_iter().enumerate() {
        if !column.name.eq_ignore_ascii_case(name) {
            return Err(Box::new(SqlError::xml_explicit_column_misnamed(place + 1, name, &column.name)));
        }
    }
    if tag.ty != SqlType::Int {
        return Err(Box::new(SqlError::xml_tag_invalid()));
    }
    if !matches!(parent.ty, SqlType::Int | SqlType::Null) {
        return Err(Box::new(SqlError::xml_parent_invalid()));
    }
    Ok(())
}

/// The element's name and number, and what stands behind them.
fn place(column: &str) -> Result<(&str, i32, Vec<&str>), Fault> {
    let invalid = || Box::new(SqlError::xml_explicit_name_invalid(column));
    let mut parts = column.split('!');
    let name = parts.next().filter(|name| !name.is_empty()).ok_or_else(invalid)?;
    let number = parts.next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
    let number: Option<i32> = number.and_then(|number| number.parse().ok()).filter(|number| *number > 0);
    Ok((name, number.ok_or_else(invalid)?, parts.collect()))
}

fn said<'p>(directives: impl Iterator<Item = &'p str>, column: &str) -> Result<Said, Fault> {
    let mut said = Said::default();
    for word in directives {
        let form = match word.to_ascii_lowercase().as_str() {
            "element" => ExplicitForm::Element,
            "elementxsinil" => ExplicitForm::ElementNil,
            "xml" => ExplicitForm::Xml,
            "cdata" => ExplicitForm::Cdata,
            // What a schema would say of the attribute; without one it is like any other.
            "id" | "idref" | "nmtoken" => {
                said.identities += 1;
                continue;
            }
            "hide" => {
                said.hidden += 1;
                continue;
            }
            known @ ("xmltext" | "idrefs" | "nmtokens") => {
                return Err(errors::unsupported(format!("The directive {known} of FOR XML EXPLICIT")));
            }
            _ => return Err(Box::new(SqlError::xml_directive_unknown(word))),
        };
        said.forms += 1;
        said.form.get_or_insert(form);
    }
    if said.hidden > 1 {
        return Err(Box::new(SqlError::xml_hidden_twice(column)));
    }
    if said.identities > 1 {
        return Err(Box::new(SqlError::xml_identities_combined(column)));
    }
    if said.forms > 1 {
        return Err(Box::new(SqlError::xml_forms_combined(column)));
    }
    if said.identities > 0 && said.hidden > 0 {
        return Err(Box::new(SqlError::xml_identity_hidden(column)));
    }
    Ok(said)
}
