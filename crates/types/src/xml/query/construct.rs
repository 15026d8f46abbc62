//! Nodes that a query makes.

use super::atomic::Atomic;
use super::eval::{Item, Run};
use super::syntax::{Constructor, Element, Expr, Part};
use crate::error::SqlError;
use crate::xml::build::Builder;
use crate::xml::document::{Kind, Name, ROOT};
use std::sync::Arc;

impl Run<'_> {
    pub(super) fn build(&mut self, constructor: &Constructor) -> Result<Item, SqlError> {
        let mut builder = Builder::new();
        match constructor {
            Constructor::Attribute(name, value) => {
                let value = match value {
                    None => String::new(),
                    Some(value) => self.joined(value)?,
                };
                return Ok(Item::BuiltAttribute(Arc::new((name.clone(), value))));
            }
            Constructor::Element(element) => self.element(element, &mut builder)?,
            Constructor::Text(value) => builder.leaf(Kind::Text, Name::default(), &self.joined(value)?)?,
            Constructor::Comment(text) => builder.leaf(Kind::Comment, Name::default(), text)?,
            Constructor::Instruction(target, data) => {
                let name = Name { local: target.as_str().into(), ..Name::default() };
                builder.leaf(Kind::Instruction, name, data)?;
            }
        }
        Ok(Item::Built(Arc::new(builder.finish())))
    }

    /// The values of an expression with blanks between them.
    pub(super) fn joined(&mut self, expr: &Expr) -> Result<String, SqlError> {
        let items = self.eval(expr)?;
        let texts: Vec<String> = self.atomized(items).iter().map(Atomic::content).collect::<Result<_, _>>()?;
        Ok(texts.join(" "))
    }

    fn element(&mut self, element: &Element, builder: &mut Builder) -> Result<(), SqlError> {
        builder.open(element.name.clone())?;
        for (prefix, uri) in &element.declared {
            builder.leaf(Kind::Namespace, Name { local: prefix.as_str().into(), ..Name::default() }, uri)?;
        }
        for (name, value) in &element.attributes {
            let value = match value {
                Part::Text(text) => text.clone(),
                Part::Expr(expr) => self.joined(expr)?,
            };
            builder.leaf(Kind::Attribute, name.clone(), &value)?;
        }
        // Attributes come before the text that was written before them.
        let mut text = String::new();
        for part in &element.content {
            match part {
                Part::Text(written) => text.push_str(written),
                Part::Expr(Expr::Build(constructor)) if matches!(**constructor, Constructor::Element(_)) => {
                    flush(&mut text, builder)?;
                    if let Constructor::Element(inner) = &**constructor {
                        self.element(inner, builder)?;
                    }
                }
                Part::Expr(expr) => {
                    let items = self.eval(expr)?;
                    self.put_items(items, &mut text, builder)?;
                }
            }
        }
        flush(&mut text, builder)?;
        builder.close();
        Ok(())
    }

    fn put_items(&mut self, items: Vec<Item>, text: &mut String, builder: &mut Builder) -> Result<(), SqlError> {
        let mut after_value = false;
        for item in items {
            let is_value = matches!(item, Item::Atomic(_));
            match item {
                Item::Atomic(atomic) => {
                    if after_value {
                        text.push(' ');
                    }
                    text.push_str(&atomic.content()?);
                }
                Item::Node(node) if self.document.kind(node) == Kind::Attribute => {
                    attribute(self.document.name(node).clone(), self.document.own_value(node), builder)?;
                }
                Item::BuiltAttribute(built) => attribute(built.0.clone(), &built.1, builder)?,
                Item::Node(node) => {
                    flush(text, builder)?;
                    builder.copy(self.document, node)?;
                }
                Item::Built(document) => {
                    flush(text, builder)?;
                    builder.copy(&document, ROOT)?;
                }
            }
            after_value = is_value;
        }
        Ok(())
    }
}

fn flush(text: &mut String, builder: &mut Builder) -> Result<(), SqlError> {
    builder.leaf(Kind::Text, Name::default(), &std::mem::take(text))
}

fn attribute(name: Name, value: &str, builder: &mut Builder) -> Result<(), SqlError> {
    if builder.has_children() {
        return Err(SqlError::xml_attribute_outside());
    }
    if builder.has_attribute(&name) {
        return Err(SqlError::xml_attribute_twice(name.local));
    }
    builder.leaf(Kind::Attribute, name, value)
}
