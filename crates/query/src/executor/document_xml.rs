//! Rows as elements of XML.

use super::document::Writer;
use crate::expression::Fault;
use crate::plan::Member;
use crate::xml_text::escape_xml;
use pikepole_types::{SqlError, SqlType, Value, base64, float_in_document, iso_text, write_text};

/// An element to write.
pub(super) struct Element<'e> {
    /// Without one, only the members are written.
    pub(super) name: &'e str,
    pub(super) members: &'e [Member],
    /// The declarations of the outermost elements, if it is one.
    pub(super) declared: &'e str,
    /// It is left open for what comes within.
    pub(super) open: bool,
}

impl Writer<'_> {
    /// `nil` says that NULLs have elements, too.
    ///
    /// # Errors
    /// 9322 for a comment that would end too early.
    pub(super) fn element(&mut self, element: &Element<'_>, nil: bool) -> Result<(), Fault> {
        let Element { name, members, declared, open } = *element;
        // Without an element around them, its members are the outermost.
        let declared_within = if name.is_empty() { declared } else { "" };
        if !name.is_empty() {
            self.out.extend(["<", name, declared]);
            for member in members {
                if let Member::Attribute { name, value } = member
                    && !self.row[*value].is_null()
                {
                    self.out.extend([" ", name, "=\""]);
                    self.text(*value, true);
                    self.out.push('"');
                }
            }
            self.out.push('>');
        }
        let start = self.out.len();
        let mut after_list = false;
        for member in members {
            self.member(member, declared_within, nil, &mut after_list)?;
        }
        if !name.is_empty() && !open {
            self.end(name, start);
        }
        Ok(())
    }

    /// Ends the element whose content begins at `start`.
    pub(super) fn end(&mut self, name: &str, start: usize) {
        if self.out.len() == start {
            self.out.pop();
            self.out.push_str("/>");
        } else {
            self.out.extend(["</", name, ">"]);
        }
    }

    fn member(&mut self, member: &Member, declared: &str, nil: bool, after_list: &mut bool) -> Result<(), Fault> {
        let was_list = std::mem::replace(after_list, false);
        match member {
            Member::Attribute { .. } => {}
            Member::Text { value, .. } if self.row[*value].is_null() => *after_list = was_list,
            Member::Text { value, raw, list } => {
                if *list && was_list {
                    self.out.push(' ');
                }
                *after_list = *list;
                self.content(*value, *raw);
            }
            Member::Comment { value } | Member::Instruction { value, .. } if self.row[*value].is_null() => {}
            Member::Comment { value } => self.comment(*value)?,
            Member::Instruction { target, value } => {
                self.out.extend(["<?", target, " "]);
                self.plain(*value);
                self.out.push_str("?>");
            }
            Member::Value { name, value, .. } if self.row[*value].is_null() => {
                if nil {
                    self.out.extend(["<", name, declared, " xsi:nil=\"true\"/>"]);
                }
            }
            Member::Value { name, value, raw } => {
                self.out.extend(["<", name, declared, ">"]);
                let start = self.out.len();
                self.content(*value, *raw);
                self.end(name, start);
            }
            Member::Group { name, members } if nil || self.has_value(member) => {
                self.element(&Element { name, members, declared, open: false }, nil)?;
            }
            Member::Group { .. } => {}
        }
        Ok(())
    }

    fn comment(&mut self, value: usize) -> Result<(), Fault> {
        self.out.push_str("<!--");
        let start = self.out.len();
        self.plain(value);
        let text = &self.out[start..];
        if text.contains("--") || text.ends_with('-') {
            let state = if text.contains("--") { 2 } else { 3 };
            return Err(Box::new(SqlError { state, ..SqlError::xml_comment_dashes("") }));
        }
        self.out.push_str("-->");
        Ok(())
    }

    fn content(&mut self, value: usize, raw: bool) {
        if raw { self.plain(value) } else { self.text(value, false) }
    }

    /// A value without references for characters.
    pub(super) fn plain(&mut self, value: usize) {
        match &self.row[value] {
            Value::Str(text) => self.out.push_str(text),
            _ => self.text(value, false),
        }
    }

    pub(super) fn text(&mut self, value: usize, in_attribute: bool) {
        let ty = &self.plan.types[value];
        match &self.row[value] {
            Value::Null => {}
            Value::Str(text) => escape_xml(text, in_attribute, self.out),
            Value::Bin(bytes) => base64(bytes, self.out),
            Value::Float(number) => float_in_document(*number, self.out),
            Value::Real(number) => float_in_document(f64::from(*number), self.out),
            value if is_moment(ty) => iso_text(value, ty, self.out),
            value => write_text(value, ty, self.out),
        }
    }
}

fn is_moment(ty: &SqlType) -> bool {
    matches!(
        ty,
        SqlType::Date
            | SqlType::Time(_)
            | SqlType::DateTime
            | SqlType::SmallDateTime
            | SqlType::DateTime2(_)
            | SqlType::DateTimeOffset(_)
    )
}
