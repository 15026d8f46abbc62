//! All rows as one text, in JSON or XML.

use super::Run;
use super::cursor::Cursor;
use crate::access::{Pace, Stop};
use crate::plan::{Document, Language, Level, Member};
use pikepole_types::json::{write_json, write_name};
use pikepole_types::{
    Collation, Length, SqlType, Value, base64, convert, float_in_document, iso_text, order, write_text,
};
use std::fmt::Write;

const NIL_SPACE: &str = " xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\"";

/// The state of a [`Document`].
pub(crate) struct DocumentCursor {
    input: Cursor,
    text: String,
    /// The values of the row before; none before the first.
    last: Option<Vec<Value>>,
    given: bool,
    pace: Pace,
}

impl DocumentCursor {
    pub(crate) fn new(input: Cursor) -> DocumentCursor {
        DocumentCursor { input, text: String::new(), last: None, given: false, pace: Pace::default() }
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.text.clear();
        self.last = None;
        self.given = false;
    }

    pub(crate) fn forget(&mut self) {
        self.text = String::new();
        self.last = None;
        self.input.forget();
    }

    pub(crate) fn next(&mut self, plan: &Document, run: &mut Run<'_>) -> Result<bool, Stop> {
        if self.given {
            return Ok(false);
        }
        while self.input.next(&plan.input, run)? {
            self.pace.step()?;
            let mut row = Vec::with_capacity(plan.values.len());
            for value in &plan.values {
                row.push(value.eval(&mut run.env())?);
            }
            let from = match &self.last {
                None => 0,
                Some(last) => {
                    let same = |value: usize| order(&last[value], &row[value], Collation::BINARY).is_eq();
                    first_new(&plan.levels, same)
                }
            };
            let begun = self.last.is_some();
            Writer { plan, row: &row, out: &mut self.text }.row(from, begun);
            self.last = Some(row);
        }
        self.given = true;
        let mut text = std::mem::take(&mut self.text);
        let has_rows = self.last.take().is_some();
        if has_rows {
            Writer { plan, row: &[], out: &mut text }.close(0);
        } else if plan.root.is_none() {
            run.slots[plan.slot] = Value::Null;
            return Ok(plan.typed);
        }
        let text = Value::Str(framed(plan, text));
        run.slots[plan.slot] = match plan.typed {
            false => text,
            // Blanks in it are values.
            true => convert(&text, &SqlType::NVarChar(Length::Max), &SqlType::Xml, Some(1)).map_err(Box::new)?,
        };
        Ok(true)
    }
}

/// The first level whose row is a new one.
fn first_new(levels: &[Level], same: impl Fn(usize) -> bool) -> usize {
    let is_new = |level: &Level| {
        let mut differs = false;
        level.members.iter().for_each(|member| member.visit_values(&mut |value| differs |= !same(value)));
        differs
    };
    levels.iter().position(is_new).unwrap_or(levels.len() - 1)
}

/// The text with what stands around all rows.
fn framed(plan: &Document, text: String) -> String {
    match (plan.language, &plan.root) {
        (Language::Json { array: false, .. }, _) => text,
        (Language::Json { .. }, None) => format!("[{text}]"),
        (Language::Json { .. }, Some(root)) => {
            let mut framed = String::with_capacity(text.len() + root.len() + 8);
            framed.push('{');
            write_name(root, &mut framed);
            framed.push_str(":[");
            framed.push_str(&text);
            framed.push_str("]}");
            framed
        }
        (Language::Xml { .. }, None) => text,
        (Language::Xml { nil }, Some(root)) => {
            let root = xml_name(root);
            let space = if nil { NIL_SPACE } else { "" };
            match text.is_empty() {
                true => format!("<{root}{space}/>"),
                false => format!("<{root}{space}>{text}</{root}>"),
            }
        }
    }
}

/// Writes one row.
struct Writer<'w> {
    plan: &'w Document,
    row: &'w [Value],
    out: &'w mut String,
}

impl Writer<'_> {
    /// Closes the rows of the levels from `from` on, if there are any, and begins new ones.
    fn row(&mut self, from: usize, begun: bool) {
        if begun {
            self.close(from);
        }
        let plan = self.plan;
        for (number, level) in plan.levels.iter().enumerate().skip(from) {
            let is_last = number + 1 == plan.levels.len();
            match plan.language {
                Language::Json { nulls, .. } => {
                    if begun && number == from {
                        self.out.push(',');
                    } else if number > 0 {
                        if !self.out.ends_with('{') {
                            self.out.push(',');
                        }
                        write_name(&level.name, self.out);
                        self.out.push_str(":[");
                    }
                    self.out.push('{');
                    self.json_members(&level.members, nulls);
                }
                Language::Xml { nil } => {
                    let space = nil && plan.root.is_none() && number == 0;
                    self.xml_element(&level.name, &level.members, nil, space, !is_last);
                }
            }
        }
    }

    /// Closes the rows of the levels from `from` on, the innermost first.
    fn close(&mut self, from: usize) {
        let plan = self.plan;
        for (number, level) in plan.levels.iter().enumerate().skip(from).rev() {
            let is_last = number + 1 == plan.levels.len();
            match plan.language {
                Language::Json { .. } => self.out.push_str(if number > from { "}]" } else { "}" }),
                Language::Xml { .. } if !is_last && !level.name.is_empty() => {
                    self.out.extend(["</", &xml_name(&level.name), ">"]);
                }
                Language::Xml { .. } => {}
            }
        }
    }

    fn json_members(&mut self, members: &[Member], nulls: bool) {
        for member in members {
            if !nulls && !self.has_value(member) {
                continue;
            }
            if !self.out.ends_with('{') {
                self.out.push(',');
            }
            match member {
                Member::Value { name, value, raw } => {
                    write_name(name, self.out);
                    self.out.push(':');
                    match (&self.row[*value], raw) {
                        (Value::Str(json), true) => self.out.push_str(json),
                        (value_of, _) => write_json(value_of, &self.plan.types[*value], self.out),
                    }
                }
                Member::Group { name, members } => {
                    write_name(name, self.out);
                    self.out.push_str(":{");
                    self.json_members(members, nulls);
                    self.out.push('}');
                }
                Member::Attribute { .. } | Member::Text { .. } => {}
            }
        }
    }

    fn has_value(&self, member: &Member) -> bool {
        let mut found = false;
        member.visit_values(&mut |value| found |= !self.row[value].is_null());
        found
    }

    /// An element with its members; without a name only these. With `open` it is left open for what comes within.
    fn xml_element(&mut self, name: &str, members: &[Member], nil: bool, space: bool, open: bool) {
        let name = xml_name(name);
        if !name.is_empty() {
            self.out.extend(["<", &name]);
            if space {
                self.out.push_str(NIL_SPACE);
            }
            for member in members {
                if let Member::Attribute { name, value } = member
                    && !self.row[*value].is_null()
                {
                    self.out.extend([" ", &xml_name(name), "=\""]);
                    self.xml_value(*value, true);
                    self.out.push('"');
                }
            }
            self.out.push('>');
        }
        let start = self.out.len();
        let mut after_list = false;
        for member in members {
            self.xml_member(member, nil, &mut after_list);
        }
        if name.is_empty() || open {
            return;
        }
        if self.out.len() == start {
            self.out.pop();
            self.out.push_str("/>");
        } else {
            self.out.extend(["</", &name, ">"]);
        }
    }

    fn xml_member(&mut self, member: &Member, nil: bool, after_list: &mut bool) {
        let was_list = std::mem::replace(after_list, false);
        match member {
            Member::Attribute { .. } => {}
            Member::Text { value, .. } if self.row[*value].is_null() => *after_list = was_list,
            Member::Text { value, raw, list } => {
                if *list && was_list {
                    self.out.push(' ');
                }
                *after_list = *list;
                self.xml_content(*value, *raw);
            }
            Member::Value { name, value, .. } if self.row[*value].is_null() => {
                if nil {
                    self.out.extend(["<", &xml_name(name), " xsi:nil=\"true\"/>"]);
                }
            }
            Member::Value { name, value, raw } => {
                let name = xml_name(name);
                self.out.extend(["<", &name, ">"]);
                let start = self.out.len();
                self.xml_content(*value, *raw);
                if self.out.len() == start {
                    self.out.pop();
                    self.out.push_str("/>");
                } else {
                    self.out.extend(["</", &name, ">"]);
                }
            }
            Member::Group { name, members } if nil || self.has_value(member) => {
                self.xml_element(name, members, nil, false, false);
            }
            Member::Group { .. } => {}
        }
    }

    fn xml_content(&mut self, value: usize, raw: bool) {
        match (&self.row[value], raw) {
            (Value::Str(xml), true) => self.out.push_str(xml),
            _ => self.xml_value(value, false),
        }
    }

    fn xml_value(&mut self, value: usize, in_attribute: bool) {
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

/// Appends a text as XML has it, within an element or an attribute.
pub(crate) fn escape_xml(text: &str, in_attribute: bool, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&quot;"),
            '\t' | '\n' if !in_attribute => out.push(character),
            control if control < ' ' => {
                let written = write!(out, "&#x{:02X};", u32::from(control));
                debug_assert!(written.is_ok(), "writing to a string cannot fail");
            }
            plain => out.push(plain),
        }
    }
}

/// A name as XML takes it: characters that cannot stand in one are written by their number.
fn xml_name(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for (place, character) in name.chars().enumerate() {
        let fits = character.is_alphabetic()
            || character == '_'
            || (character == ':' && place > 0)
            || (place > 0 && (character.is_numeric() || matches!(character, '-' | '.')));
        if fits {
            encoded.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            let written = write!(encoded, "_x{unit:04X}_");
            debug_assert!(written.is_ok(), "writing to a string cannot fail");
        }
    }
    encoded
}
