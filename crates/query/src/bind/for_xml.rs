//! FOR XML: what is in a row's elements.

use super::Binder;
use super::document::{Directives, Part};
use super::scope::Source;
use super::xml_names::{check_identifier, encoded};
use crate::expression::Fault;
use crate::plan::{ExplicitForm, ExplicitTag, Language, Level, Member};
use pikepole_types::SqlError;

impl Binder<'_> {
    /// FOR XML EXPLICIT: the prefix of nil is declared as soon as a column could need it.
    pub(super) fn explicit(&self, directives: &Directives, tags: Vec<ExplicitTag>) -> Result<Language, Fault> {
        self.check_root(directives)?;
        let mut columns = tags.iter().flat_map(|tag| &tag.columns);
        let nil = columns.any(|column| column.form == ExplicitForm::ElementNil);
        Ok(Language::Explicit { tags, declarations: self.declarations(nil)? })
    }

    fn check_root(&self, directives: &Directives) -> Result<(), Fault> {
        match directives.root.as_deref() {
            None => Ok(()),
            Some("") => Err(Box::new(SqlError::xml_root_empty())),
            Some(root) => self.check_xml_name("ROOT", root, root),
        }
    }

    /// The levels of a document, and the declarations of its outermost elements.
    pub(super) fn xml_levels(
        &mut self,
        directives: &Directives,
        parts: &[Part],
    ) -> Result<(Vec<Level>, String), Fault> {
        if let Some(row) = directives.row.as_deref().filter(|row| !row.is_empty()) {
            self.check_xml_name("row", row, row)?;
        }
        self.check_root(directives)?;
        let row = directives.row.as_deref().unwrap_or("row").to_owned();
        let flat = |place: usize| {
            let part = &parts[place];
            let name = encoded(&part.name);
            match (directives.elements || part.raw, name.is_empty()) {
                (false, true) => Err(Box::new(SqlError::xml_unnamed())),
                (true, true) => Ok(Member::Text { value: place, raw: part.raw, list: false }),
                (true, false) => Ok(Member::Value { name, value: place, raw: part.raw }),
                (false, false) => Ok(Member::Attribute { name, value: place }),
            }
        };
        let levels = match directives.mode.as_str() {
            "PATH" => vec![Level { members: self.xml_path(parts, row.is_empty())?, name: row }],
            "RAW" if row.is_empty() && !directives.elements => return Err(Box::new(SqlError::xml_row_omitted())),
            "RAW" => {
                let members = (0..parts.len()).map(flat).collect::<Result<_, Fault>>()?;
                vec![Level { name: row, members }]
            }
            "AUTO" if self.scope().sources.is_empty() => return Err(Box::new(SqlError::xml_auto_without_table())),
            "AUTO" => {
                let level = |(name, places): (String, Vec<usize>)| {
                    if name.is_empty() {
                        return Err(Box::new(SqlError::xml_unnamed()));
                    }
                    let members = places.into_iter().map(flat).collect::<Result<_, Fault>>()?;
                    Ok(Level { name: encoded(&name), members })
                };
                let shown = |source: &Source| {
                    // An alias hides the schema.
                    let written = source.written.as_ref().filter(|_| source.schema.is_some());
                    written.unwrap_or(&source.alias).clone()
                };
                self.by_table(parts, shown).into_iter().map(level).collect::<Result<_, Fault>>()?
            }
            _ => return Err(Box::new(SqlError::incorrect_syntax("XML"))),
        };
        Ok((levels, self.declarations(directives.nil)?))
    }

    /// The members of FOR XML PATH: `@name` is an attribute, `a/b` an element in an element, what has no name is text.
    fn xml_path(&self, parts: &[Part], bare: bool) -> Result<Vec<Member>, Fault> {
        let mut members = Vec::new();
        for (value, part) in parts.iter().enumerate() {
            self.put_at(&mut members, &part.name, part, value)?;
        }
        if bare && members.iter().any(|member| matches!(member, Member::Attribute { .. })) {
            return Err(Box::new(SqlError::xml_row_omitted()));
        }
        Ok(members)
    }

    fn put_at(&self, inside: &mut Vec<Member>, path: &str, part: &Part, value: usize) -> Result<(), Fault> {
        let whole = &part.name;
        if let Some((element, below)) = path.split_once('/') {
            if element.is_empty() || below.is_empty() {
                return Err(Box::new(SqlError::xml_path_empty_step(whole)));
            }
            self.check_xml_name("column", element, whole)?;
            if let Some(members) = last_named(inside, element) {
                return self.put_at(members, below, part, value);
            }
            let mut members = Vec::new();
            self.put_at(&mut members, below, part, value)?;
            inside.push(Member::Group { name: element.to_owned(), members });
            return Ok(());
        }
        let member = match path {
            "" | "*" | "node()" => Member::Text { value, raw: part.raw, list: false },
            "text()" | "data()" | "comment()" if part.raw => return Err(Box::new(SqlError::xml_in_text_step(whole))),
            "text()" => Member::Text { value, raw: false, list: false },
            "data()" => Member::Text { value, raw: false, list: true },
            "comment()" => Member::Comment { value },
            _ => match (instruction_target(path), path.strip_prefix('@').filter(|name| !name.is_empty())) {
                (Some(target), _) => instruction(target, part, value)?,
                (None, Some(name)) => self.attribute(inside, name, part, value)?,
                (None, None) => {
                    self.check_xml_name("column", path, whole)?;
                    // Neighbours of one name share their element.
                    if let Some(members) = last_named(inside, path) {
                        members.push(Member::Text { value, raw: part.raw, list: false });
                        return Ok(());
                    }
                    Member::Value { name: path.to_owned(), value, raw: part.raw }
                }
            },
        };
        inside.push(member);
        Ok(())
    }

    fn attribute(&self, inside: &[Member], name: &str, part: &Part, value: usize) -> Result<Member, Fault> {
        self.check_xml_name("column", name, &part.name)?;
        if part.raw {
            return Err(Box::new(SqlError::xml_in_attribute(&part.name)));
        }
        match inside.iter().all(|member| matches!(member, Member::Attribute { .. })) {
            true => Ok(Member::Attribute { name: name.to_owned(), value }),
            false => Err(Box::new(SqlError::xml_attribute_late(&part.name))),
        }
    }
}

/// The members of the last element, if it has the name; one that has been a value gets members.
fn last_named<'m>(inside: &'m mut [Member], wanted: &str) -> Option<&'m mut Vec<Member>> {
    let last = inside.last_mut()?;
    if let Member::Value { name, value, raw } = last
        && name == wanted
    {
        let text = Member::Text { value: *value, raw: *raw, list: false };
        *last = Member::Group { name: std::mem::take(name), members: vec![text] };
    }
    match last {
        Member::Group { name, members } if name == wanted => Some(members),
        _ => None,
    }
}

/// What stands in the parentheses of `processing-instruction(...)`.
fn instruction_target(step: &str) -> Option<&str> {
    step.strip_prefix("processing-instruction(")?.strip_suffix(')')
}

fn instruction(target: &str, part: &Part, value: usize) -> Result<Member, Fault> {
    if part.raw {
        return Err(Box::new(SqlError::xml_in_text_step(&part.name)));
    }
    match target {
        "" => Err(Box::new(SqlError::xml_instruction_alias(&part.name))),
        "xml" => Err(Box::new(SqlError::xml_instruction_is_declaration())),
        target => {
            // SQL Server does not say what kind of name it is.
            check_identifier("", target, &part.name, false)?;
            Ok(Member::Instruction { target: target.to_owned(), value })
        }
    }
}
