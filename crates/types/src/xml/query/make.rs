//! Reads constructors, written as tags or computed, and changes.

use super::atomic::AtomicType;
use super::parse::{Parser, Typed};
use super::syntax::{Change, Constructor, Element, Expr, Part, Place};
use super::types::{ItemType, NodeType, Occurs, Type};
use crate::error::SqlError;
use crate::xml::name::{is_blank, leading_name};

impl<'q> Parser<'q> {
    fn built(constructor: Constructor, node: NodeType) -> Typed {
        (Expr::Build(Box::new(constructor)), Type::built(node))
    }

    /// `<a>`, `<!-- -->` or `<? ?>`.
    pub(super) fn direct_constructor(&mut self) -> Result<Typed, SqlError> {
        if self.rest().starts_with("<!--") {
            return Ok(Self::built(self.comment()?, NodeType::Comment));
        }
        if self.rest().starts_with("<?") {
            return Ok(Self::built(self.instruction()?, NodeType::Instruction));
        }
        let element = self.deeper(Self::element)?;
        Ok(Self::built(Constructor::Element(element), NodeType::Element(None)))
    }

    fn comment(&mut self) -> Result<Constructor, SqlError> {
        self.at += 4;
        let rest = self.rest();
        let Some(end) = rest.find("--").filter(|end| rest[*end..].starts_with("-->")) else {
            return Err(SqlError::xml_comment_dashes(format_args!("XQuery [{}]: ", self.place)));
        };
        self.at += end + 3;
        Ok(Constructor::Comment(rest[..end].to_owned()))
    }

    fn instruction(&mut self) -> Result<Constructor, SqlError> {
        self.at += 2;
        let target = leading_name(self.rest());
        if target.is_empty() || target.eq_ignore_ascii_case("xml") {
            return self.syntax();
        }
        self.at += target.len();
        let rest = self.rest();
        let Some(end) = rest.find("?>") else {
            return self.syntax();
        };
        self.at += end + 2;
        Ok(Constructor::Instruction(target.to_owned(), rest[..end].trim_start_matches(is_blank).to_owned()))
    }

    fn element(&mut self) -> Result<Element, SqlError> {
        self.at += 1;
        let outer = self.prefixes.len();
        let (prefix, local) = self.tag_name()?;
        let mut attributes: Vec<(&'q str, &'q str, Part)> = Vec::new();
        let mut declared = Vec::new();
        let empty = loop {
            self.blanks();
            if self.rest().starts_with("/>") {
                self.at += 2;
                break true;
            }
            if self.rest().starts_with('>') {
                self.at += 1;
                break false;
            }
            let (prefix, local) = self.tag_name()?;
            self.blanks();
            if !self.rest().starts_with('=') {
                return self.syntax();
            }
            self.at += 1;
            self.blanks();
            let value = self.attribute_value()?;
            let declares = match (prefix, local) {
                ("", "xmlns") => Some(""),
                ("xmlns", local) => Some(local),
                _ => None,
            };
            match (declares, value) {
                (None, value) => attributes.push((prefix, local, value)),
                (Some(prefix), Part::Text(uri)) => declared.push((prefix.to_owned(), uri)),
                (Some(_), Part::Expr(_)) => return Err(SqlError::xquery_namespace_not_literal(&self.place)),
            }
        };
        self.prefixes.extend(declared.iter().cloned());
        let name = self.resolved(prefix, local, false)?;
        let mut named = Vec::with_capacity(attributes.len());
        for (prefix, local, value) in attributes {
            let name = self.resolved(prefix, local, true)?;
            if named.iter().any(|(known, _)| *known == name) {
                return Err(SqlError::xquery_attribute_twice(&self.place, local));
            }
            named.push((name, value));
        }
        let content = if empty { Vec::new() } else { self.content(prefix, local)? };
        self.prefixes.truncate(outer);
        Ok(Element { name, declared, attributes: named, content })
    }

    /// A name in a tag: blanks do not come before it.
    fn tag_name(&mut self) -> Result<(&'q str, &'q str), SqlError> {
        if leading_name(self.rest()).is_empty() {
            return self.syntax();
        }
        self.name()
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start_matches(is_blank).len();
    }

    /// A text, or one expression.
    fn attribute_value(&mut self) -> Result<Part, SqlError> {
        let Some(quote) = self.peek().filter(|quote| matches!(quote, '"' | '\'')) else {
            return Err(SqlError::xquery_literal_expected(&self.place));
        };
        self.at += 1;
        let mut text = String::new();
        let mut expr = None;
        loop {
            let rest = self.rest();
            let Some(end) = rest.find([quote, '&', '{', '}', '<']) else {
                return self.syntax();
            };
            text.push_str(&rest[..end]);
            self.at += end;
            let special = &rest[end..];
            match special.as_bytes()[0] {
                b'&' => text.push(self.entity()?),
                b'{' | b'}' if special.as_bytes().get(1) == special.as_bytes().first() => {
                    text.push_str(&special[..1]);
                    self.at += 2;
                }
                b'{' if expr.is_none() && text.is_empty() => expr = Some(self.enclosed()?),
                b'{' => return Err(SqlError::xquery_attribute_mixed(&self.place)),
                b'}' | b'<' => return self.syntax(),
                _ if special[1..].starts_with(quote) => {
                    text.push(quote);
                    self.at += 2;
                }
                _ => {
                    self.at += 1;
                    return match expr {
                        Some(_) if !text.is_empty() => Err(SqlError::xquery_attribute_mixed(&self.place)),
                        Some((expr, ty)) => {
                            self.unbuilt(&ty, "data()")?;
                            Ok(Part::Expr(expr))
                        }
                        None => Ok(Part::Text(text)),
                    };
                }
            }
        }
    }

    /// `{ ... }`
    fn enclosed(&mut self) -> Result<Typed, SqlError> {
        self.expect("{")?;
        if self.eat("}") {
            return Ok((Expr::Sequence(Vec::new()), Type::nothing()));
        }
        let inside = self.expr()?;
        if inside.1.item == ItemType::Xml {
            return Err(SqlError::xquery_xml_not_here(&self.place));
        }
        self.expect("}")?;
        Ok(inside)
    }

    /// What is in an element, and its end tag. Blanks alone between tags and expressions are none of it.
    fn content(&mut self, prefix: &str, local: &str) -> Result<Vec<Part>, SqlError> {
        let mut parts = Vec::new();
        let mut text = String::new();
        let mut meant = false;
        loop {
            let rest = self.rest();
            let Some(end) = rest.find(['<', '{', '}', '&']) else {
                self.at += rest.len();
                return self.syntax();
            };
            text.push_str(&rest[..end]);
            self.at += end;
            let special = &rest[end..];
            if special.starts_with('&') {
                text.push(self.entity()?);
                meant = true;
                continue;
            }
            if special.starts_with("{{") || special.starts_with("}}") {
                text.push_str(&special[..1]);
                self.at += 2;
                continue;
            }
            if let Some(inside) = special.strip_prefix("<![CDATA[") {
                let Some(end) = inside.find("]]>") else {
                    return self.syntax();
                };
                text.push_str(&inside[..end]);
                self.at += "<![CDATA[".len() + end + 3;
                meant = true;
                continue;
            }
            let written = std::mem::take(&mut text);
            if std::mem::take(&mut meant) || written.contains(|c| !is_blank(c)) {
                parts.push(Part::Text(written));
            }
            if special.starts_with("</") {
                self.at += 2;
                let close = self.tag_name()?;
                let same = close == (prefix, local);
                self.blanks();
                if !same {
                    let name = if prefix.is_empty() { local.to_owned() } else { format!("{prefix}:{local}") };
                    return Err(SqlError::xquery_end_tag_expected(&self.place, name));
                }
                if !self.rest().starts_with('>') {
                    return self.syntax();
                }
                self.at += 1;
                return Ok(parts);
            }
            if special.starts_with('}') {
                return self.syntax();
            }
            let (expr, _) = if special.starts_with('{') { self.enclosed()? } else { self.direct_constructor()? };
            parts.push(Part::Expr(expr));
        }
    }

    /// `element a {...}`, `attribute a {...}`, `text {...}`; nothing where none begins.
    pub(super) fn computed_constructor(&mut self) -> Result<Option<Typed>, SqlError> {
        if self.at_word_before("text", "{") {
            self.eat_word("text");
            self.expect("{")?;
            let (expr, ty) = self.one()?;
            self.unbuilt(&ty, "data()")?;
            self.expect("}")?;
            return Ok(Some(Self::built(Constructor::Text(expr), NodeType::Text)));
        }
        for (word, refused) in [("comment", "comment"), ("processing-instruction", "processing-instruction")] {
            if self.at_word_before(word, "{") {
                return self.unsupported(refused);
            }
        }
        let start = self.at;
        for (word, attribute) in [("element", false), ("attribute", true)] {
            if self.at_word_before(word, "{") {
                return Err(SqlError::xquery_name_not_constant(&self.place));
            }
            if !self.eat_word(word) {
                continue;
            }
            self.skip();
            if leading_name(self.rest()).is_empty() {
                self.at = start;
                return Ok(None);
            }
            let (prefix, local) = self.name()?;
            if !self.eat("{") {
                self.at = start;
                return Ok(None);
            }
            return self.computed(prefix, local, attribute).map(Some);
        }
        Ok(None)
    }

    fn computed(&mut self, prefix: &str, local: &str, attribute: bool) -> Result<Typed, SqlError> {
        let name = self.resolved(prefix, local, attribute)?;
        let content = if self.eat("}") {
            None
        } else {
            let (expr, ty) = self.expr()?;
            if attribute {
                self.unbuilt(&ty, "data()")?;
            }
            self.expect("}")?;
            Some(expr)
        };
        if attribute {
            if prefix.is_empty() && local == "xmlns" {
                return Err(SqlError::xquery_xmlns_constructed(&self.place));
            }
            let node = NodeType::Attribute(Some(local.to_owned()));
            return Ok(Self::built(Constructor::Attribute(name, content), node));
        }
        let content = content.into_iter().map(Part::Expr).collect();
        let element = Element { name, declared: Vec::new(), attributes: Vec::new(), content };
        Ok(Self::built(Constructor::Element(element), NodeType::Element(Some(local.to_owned()))))
    }

    /// What `modify` is given.
    pub(super) fn change(&mut self) -> Result<Change, SqlError> {
        self.prologue()?;
        let change = if self.eat_word("delete") {
            let (target, ty) = self.expr()?;
            if !ty.is_node() && ty.item != ItemType::Nothing || ty.item == ItemType::Node(NodeType::Root) {
                return Err(SqlError::xquery_delete_target(&self.place, ty));
            }
            Change::Delete(target)
        } else if self.eat_words(&["replace", "value", "of"]) {
            self.replace()?
        } else if self.eat_word("insert") {
            self.insert()?
        } else {
            self.expr()?;
            self.end()?;
            return Err(SqlError::xml_change_expected());
        };
        self.end()?;
        Ok(change)
    }

    fn replace(&mut self) -> Result<Change, SqlError> {
        let (target, ty) = self.one()?;
        if ty.occurs == Occurs::Many && !self.of_schemas || !ty.is_node() && ty.item != ItemType::Nothing {
            return Err(SqlError::xquery_replace_target_single(&self.place, ty));
        }
        let is_simple = self.of_schemas && matches!(ty.item, ItemType::Node(NodeType::Element(_)));
        if !is_simple && matches!(ty.item, ItemType::Node(NodeType::Element(_) | NodeType::Root | NodeType::Any)) {
            return Err(SqlError::xquery_replace_target(&self.place, ty));
        }
        if !self.eat_word("with") {
            return Err(SqlError::xquery_expected(&self.place, "with"));
        }
        let (value, of_value) = self.one()?;
        if of_value.built {
            return Err(SqlError::xquery_replaced_by_constructed(&self.place));
        }
        let by_nothing = of_value.item == ItemType::Nothing;
        Ok(Change::Replace { target, value, by_nothing })
    }

    fn insert(&mut self) -> Result<Change, SqlError> {
        let (content, of_content) = self.one()?;
        let place = if self.eat_words(&["as", "first"]) {
            self.expect_word("into")?;
            Place::First
        } else if self.eat_words(&["as", "last"]) {
            self.expect_word("into")?;
            Place::Last
        } else if self.eat_word("into") {
            Place::Last
        } else if self.eat_word("before") {
            Place::Before
        } else if self.eat_word("after") {
            Place::After
        } else {
            let near = self.near();
            return Err(SqlError::xquery_insert_place_expected(&self.place, near));
        };
        let (target, ty) = self.one()?;
        if ty.occurs == Occurs::Many || !ty.is_node() {
            return Err(SqlError::xquery_insert_target_single(&self.place, ty));
        }
        if matches!(of_content.item, ItemType::Atomic(_) | ItemType::Node(NodeType::Root)) {
            return Err(SqlError::xquery_insert_not_nodes(&self.place, of_content));
        }
        let beside = matches!(place, Place::Before | Place::After);
        if beside && of_content.is_attribute() {
            return Err(SqlError::xquery_attribute_beside(&self.place, of_content));
        }
        match &ty.item {
            ItemType::Node(NodeType::Element(_) | NodeType::Any) => {}
            ItemType::Node(NodeType::Attribute(_) | NodeType::Root) if beside => {
                return Err(SqlError::xquery_insert_beside_target(&self.place, ty));
            }
            ItemType::Node(NodeType::Root) => {}
            _ if !beside => return Err(SqlError::xquery_insert_into_target(&self.place, ty)),
            _ => {}
        }
        debug_assert!(of_content.as_atomic() != Some(AtomicType::Untyped));
        Ok(Change::Insert { content, place, target })
    }
}
