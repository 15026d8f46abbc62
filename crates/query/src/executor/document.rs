//! All rows as one text, in JSON or XML.

use super::Run;
use super::cursor::Cursor;
use super::document_explicit::OpenTag;
use super::document_xml::Element;
use crate::access::Stop;
use crate::expression::Fault;
use crate::plan::{Document, Language, Level, Member};
use pikepole_types::json::{escaped_bytes_max, write_json, write_name};
use pikepole_types::memory;
use pikepole_types::{Collation, Length, SqlType, Value, convert, order};

/// Bytes that a row takes beside its values, at a guess.
const ROW_BYTES: usize = 256;

/// The state of a [`Document`].
pub(crate) struct DocumentCursor {
    input: Cursor,
    text: String,
    /// The values of the row before; none before the first.
    last: Option<Vec<Value>>,
    /// Of EXPLICIT, the elements that have not ended.
    open_tags: Vec<OpenTag>,
    given: bool,
}

impl DocumentCursor {
    pub(crate) fn new(input: Cursor) -> DocumentCursor {
        let open_tags = Vec::new();
        DocumentCursor { input, text: String::new(), last: None, open_tags, given: false }
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.text.clear();
        self.last = None;
        self.open_tags.clear();
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
        let DocumentCursor { input, text, last, open_tags, .. } = self;
        while input.take(&plan.input, run, |run| add_row(plan, text, last, open_tags, run))? {}
        self.given = true;
        let mut text = std::mem::take(&mut self.text);
        let has_rows = self.last.take().is_some();
        if has_rows {
            let mut writer = Writer { plan, row: &[], out: &mut text };
            match &plan.language {
                Language::Explicit { tags, .. } => writer.close_tags(tags, &mut self.open_tags, 0),
                _ => writer.close(0),
            }
        } else if plan.root.is_none() {
            run.slots[plan.slot] = Value::Null;
            return Ok(plan.is_always);
        }
        memory::ask(text.len()).map_err(Box::new)?;
        let text = Value::Str(framed(plan, text));
        run.slots[plan.slot] = match plan.typed {
            false => text,
            // Blanks in it are values.
            true => convert(&text, &SqlType::NVarChar(Length::Max), &SqlType::Xml, Some(1)).map_err(Box::new)?,
        };
        Ok(true)
    }
}

/// Appends the row in the registers to the text.
fn add_row(
    plan: &Document,
    text: &mut String,
    last: &mut Option<Vec<Value>>,
    open_tags: &mut Vec<OpenTag>,
    run: &mut Run<'_>,
) -> Result<(), Fault> {
    let mut row = Vec::with_capacity(plan.values.len());
    for value in &plan.values {
        row.push(value.eval(&mut run.env())?);
    }
    let row_bytes: usize = row.iter().map(written_bytes).sum();
    memory::reserve_text(text, row_bytes + ROW_BYTES).map_err(Box::new)?;
    let mut writer = Writer { plan, row: &row, out: text };
    if let Language::Explicit { tags, declarations } = &plan.language {
        let declared = if plan.root.is_none() { declarations } else { "" };
        writer.explicit_row(tags, declared, open_tags)?;
    } else {
        let from = match last {
            None => 0,
            Some(last) => {
                let same = |value: usize| order(&last[value], &row[value], Collation::BINARY).is_eq();
                first_new(&plan.levels, same)
            }
        };
        writer.row(from, last.is_some())?;
    }
    *last = Some(row);
    Ok(())
}

/// Bytes that a value has in a document: of a long text at most, of others at a guess, which the names around them are part of.
fn written_bytes(value: &Value) -> usize {
    match value {
        Value::Str(text) if text.len() >= memory::SMALL_BYTES => escaped_bytes_max(text),
        value => 2 * value.heap_bytes(),
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
    match (&plan.language, &plan.root) {
        (Language::Json { array: false, .. }, _) => text,
        (Language::Json { .. }, None) => {
            let mut framed = String::with_capacity(text.len() + 2);
            framed.push('[');
            framed.push_str(&text);
            framed.push(']');
            framed
        }
        (Language::Json { .. }, Some(root)) => {
            let mut framed = String::with_capacity(text.len() + root.len() + 8);
            framed.push('{');
            write_name(root, &mut framed);
            framed.push_str(":[");
            framed.push_str(&text);
            framed.push_str("]}");
            framed
        }
        (Language::Xml { .. } | Language::Explicit { .. }, None) => text,
        (Language::Xml { declarations, .. } | Language::Explicit { declarations, .. }, Some(root)) => {
            match text.is_empty() {
                true => format!("<{root}{declarations}/>"),
                false => format!("<{root}{declarations}>{text}</{root}>"),
            }
        }
    }
}

/// Writes one row.
pub(super) struct Writer<'w> {
    pub(super) plan: &'w Document,
    pub(super) row: &'w [Value],
    pub(super) out: &'w mut String,
}

impl Writer<'_> {
    /// Closes the rows of the levels from `from` on, if there are any, and begins new ones.
    fn row(&mut self, from: usize, begun: bool) -> Result<(), Fault> {
        if begun {
            self.close(from);
        }
        let plan = self.plan;
        for (number, level) in plan.levels.iter().enumerate().skip(from) {
            let is_last = number + 1 == plan.levels.len();
            match &plan.language {
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
                    self.json_members(&level.members, *nulls);
                }
                Language::Xml { nil, declarations } => {
                    let declared = if plan.root.is_none() && number == 0 { declarations } else { "" };
                    let element = Element { name: &level.name, members: &level.members, declared, open: !is_last };
                    self.element(&element, *nil)?;
                }
                Language::Explicit { .. } => {}
            }
        }
        Ok(())
    }

    /// Closes the rows of the levels from `from` on, the innermost first.
    fn close(&mut self, from: usize) {
        let plan = self.plan;
        for (number, level) in plan.levels.iter().enumerate().skip(from).rev() {
            let is_last = number + 1 == plan.levels.len();
            match &plan.language {
                Language::Json { .. } => self.out.push_str(if number > from { "}]" } else { "}" }),
                Language::Xml { .. } if !is_last && !level.name.is_empty() => {
                    self.out.extend(["</", &level.name, ">"]);
                }
                Language::Xml { .. } | Language::Explicit { .. } => {}
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
                Member::Attribute { .. }
                | Member::Text { .. }
                | Member::Comment { .. }
                | Member::Instruction { .. } => {}
            }
        }
    }

    pub(super) fn has_value(&self, member: &Member) -> bool {
        let mut found = false;
        member.visit_values(&mut |value| found |= !self.row[value].is_null());
        found
    }
}
