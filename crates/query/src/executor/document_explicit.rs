//! FOR XML EXPLICIT: each row begins an element within one that is still open, and ends those that are not its parents.

use super::document::Writer;
use crate::expression::Fault;
use crate::plan::{ExplicitColumn, ExplicitForm, ExplicitTag};
use pikepole_types::SqlError;

/// An element that has not ended.
pub(super) struct OpenTag {
    /// Its place among the tags.
    tag: usize,
    /// Where its content begins.
    start: usize,
}

impl Writer<'_> {
    /// Writes one row. `declared` is what elements that are in none declare.
    ///
    /// # Errors
    /// 6803 to 6807 and 6833 for numbers that name no element, or one that is not open.
    pub(super) fn explicit_row(
        &mut self,
        tags: &[ExplicitTag],
        declared: &str,
        open: &mut Vec<OpenTag>,
    ) -> Result<(), Fault> {
        let failed = |error: SqlError| Err(Box::new(SqlError { state: 2, ..error }));
        let known = |number: i64| tags.iter().position(|tag| i64::from(tag.number) == number);
        let number = match self.row[0].as_i64() {
            Some(number) if number > 0 => number,
            _ => return failed(SqlError::xml_tag_invalid()),
        };
        let parent = self.row[1].as_i64().unwrap_or(0);
        if parent < 0 {
            return failed(SqlError::xml_parent_invalid());
        }
        let Some(tag) = known(number) else {
            return failed(SqlError::xml_tag_undeclared(number));
        };
        let within = match parent {
            0 => 0,
            parent => {
                let Some(parent_tag) = known(parent) else {
                    return failed(SqlError::xml_parent_undeclared(parent));
                };
                let place = open.iter().rposition(|open| open.tag == parent_tag);
                place.ok_or_else(|| Box::new(SqlError::xml_parent_not_open(parent)))? + 1
            }
        };
        self.close_tags(tags, open, within);
        if open.iter().any(|open| open.tag == tag) {
            return failed(SqlError::xml_tags_circular());
        }
        let start = self.explicit_start(&tags[tag], if within == 0 { declared } else { "" });
        open.push(OpenTag { tag, start });
        let content = tags[tag].columns.iter().filter(|column| column.form != ExplicitForm::Attribute);
        content.for_each(|column| self.explicit_content(column));
        Ok(())
    }

    /// Ends the open elements but for so many.
    pub(super) fn close_tags(&mut self, tags: &[ExplicitTag], open: &mut Vec<OpenTag>, kept: usize) {
        for ended in open.drain(kept..).rev() {
            self.end(&tags[ended.tag].name, ended.start);
        }
    }

    /// The beginning of an element with its attributes; where its content begins.
    fn explicit_start(&mut self, tag: &ExplicitTag, declared: &str) -> usize {
        self.out.extend(["<", &tag.name, declared]);
        for column in &tag.columns {
            if column.form == ExplicitForm::Attribute && !self.row[column.value].is_null() {
                self.out.extend([" ", &column.name, "=\""]);
                self.text(column.value, true);
                self.out.push('"');
            }
        }
        self.out.push('>');
        self.out.len()
    }

    /// A value within its element, perhaps in one of its own.
    fn explicit_content(&mut self, column: &ExplicitColumn) {
        let (name, value) = (&column.name, column.value);
        let is_nil = column.form == ExplicitForm::ElementNil;
        match (self.row[value].is_null(), name.is_empty()) {
            (true, false) if is_nil => self.out.extend(["<", name, " xsi:nil=\"true\"/>"]),
            (true, _) => {}
            (false, true) => self.explicit_value(column),
            (false, false) => {
                self.out.extend(["<", name, ">"]);
                let start = self.out.len();
                self.explicit_value(column);
                self.end(name, start);
            }
        }
    }

    fn explicit_value(&mut self, column: &ExplicitColumn) {
        match column.form {
            ExplicitForm::Xml => self.plain(column.value),
            ExplicitForm::Cdata => {
                self.out.push_str("<![CDATA[");
                let start = self.out.len();
                self.plain(column.value);
                // What would end the section ends it between its brackets.
                let text = self.out.split_off(start).replace("]]>", "]]]><![CDATA[]>");
                self.out.push_str(&text);
                self.out.push_str("]]>");
            }
            _ => self.text(column.value, false),
        }
    }
}
