//! Puts documents together, node by node in their order.

use super::document::{Document, Kind, Name, Node, NodeId, ROOT};
use super::{BYTES_MAX, LEVELS_MAX};
use crate::error::SqlError;
use crate::memory::{Growth, ask, reserve_text};
use std::collections::HashMap;

/// A document that is not finished.
pub(super) struct Builder {
    document: Document,
    known: HashMap<Name, u32>,
    growth: Growth,
    /// The root and the elements that are open, each with whether it has a child.
    open: Vec<(NodeId, bool)>,
}

impl Builder {
    pub(super) fn new() -> Builder {
        let root = Node { kind: Kind::Root, name: 0, parent: ROOT, end: 1, value: 0..0 };
        let document = Document { nodes: vec![root], names: vec![Name::default()], text: String::new() };
        Builder {
            document,
            known: HashMap::from([(Name::default(), 0)]),
            growth: Growth::begin(),
            open: vec![(ROOT, false)],
        }
    }

    /// Elements that are open.
    pub(super) fn levels(&self) -> usize {
        self.open.len() - 1
    }

    fn current(&self) -> NodeId {
        self.open.last().map_or(ROOT, |(id, _)| *id)
    }

    /// Whether the open element, or the root, has a child: attributes come before all children.
    pub(super) fn has_children(&self) -> bool {
        self.open.last().is_some_and(|(_, has)| *has)
    }

    /// Whether the open element has an attribute of this name.
    pub(super) fn has_attribute(&self, name: &Name) -> bool {
        let own = self.document.nodes[self.current() as usize + 1..].iter();
        own.take_while(|node| matches!(node.kind, Kind::Namespace | Kind::Attribute)).any(|node| {
            let known = &self.document.names[node.name as usize];
            node.kind == Kind::Attribute && (&known.local, &known.uri) == (&name.local, &name.uri)
        })
    }

    /// # Errors
    /// 6335 below the deepest level, 6365 for more text than a value has.
    pub(super) fn open(&mut self, name: Name) -> Result<(), SqlError> {
        if self.levels() >= LEVELS_MAX {
            return Err(SqlError { state: 102, ..SqlError::xml_too_deep(LEVELS_MAX) });
        }
        let id = self.push(Kind::Element, name, "")?;
        self.open.push((id, false));
        Ok(())
    }

    /// Ends the element that is open.
    pub(super) fn close(&mut self) {
        if let Some((id, _)) = self.open.pop_if(|(id, _)| *id != ROOT) {
            self.document.nodes[id as usize].end = self.document.nodes.len() as NodeId;
        }
    }

    /// A node that has none within it. Text beside text is one node; an empty text is none.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub(super) fn leaf(&mut self, kind: Kind, name: Name, value: &str) -> Result<(), SqlError> {
        if self.levels() >= LEVELS_MAX {
            return Err(SqlError { state: 101, ..SqlError::xml_too_deep(LEVELS_MAX) });
        }
        if kind == Kind::Text {
            if value.is_empty() {
                return Ok(());
            }
            let current = self.current();
            if let Some(last) = self.document.nodes.last_mut().filter(|last| last.kind == Kind::Text)
                && last.parent == current
                && last.value.end as usize == self.document.text.len()
            {
                reserve_text(&mut self.document.text, value.len())?;
                self.document.text.push_str(value);
                last.value.end = offset(self.document.text.len())?;
                return Ok(());
            }
        }
        self.push(kind, name, value).map(|_| ())
    }

    fn push(&mut self, kind: Kind, name: Name, value: &str) -> Result<NodeId, SqlError> {
        self.growth.step()?;
        let start = offset(self.document.text.len())?;
        reserve_text(&mut self.document.text, value.len())?;
        self.document.text.push_str(value);
        let end = offset(self.document.text.len())?;
        let id = offset(self.document.nodes.len())?;
        let name = match self.known.get(&name) {
            Some(&known) => known,
            None => {
                let number = offset(self.document.names.len())?;
                self.document.names.push(name.clone());
                self.known.insert(name, number);
                number
            }
        };
        if self.document.nodes.len() == self.document.nodes.capacity() {
            ask(self.document.nodes.len() * 2 * size_of::<Node>())?;
        }
        self.document.nodes.push(Node { kind, name, parent: self.current(), end: id + 1, value: start..end });
        if let Some((_, has_children)) = self.open.last_mut() {
            *has_children |= !matches!(kind, Kind::Namespace | Kind::Attribute);
        }
        Ok(id)
    }

    /// A node of another document with all that is in it; the root gives its children.
    ///
    /// # Errors
    /// As [`Builder::open`].
    pub(super) fn copy(&mut self, from: &Document, node: NodeId) -> Result<(), SqlError> {
        let mut ends = Vec::new();
        for id in node..from.node(node).end {
            while ends.last().is_some_and(|&end| end <= id) {
                ends.pop();
                self.close();
            }
            match from.kind(id) {
                Kind::Root => {}
                Kind::Element => {
                    self.open(from.name(id).clone())?;
                    ends.push(from.node(id).end);
                }
                kind => self.leaf(kind, from.name(id).clone(), from.own_value(id))?,
            }
        }
        ends.iter().for_each(|_| self.close());
        Ok(())
    }

    pub(super) fn finish(mut self) -> Document {
        while self.levels() > 0 {
            self.close();
        }
        self.document.nodes[ROOT as usize].end = self.document.nodes.len() as NodeId;
        self.document
    }
}

fn offset(place: usize) -> Result<u32, SqlError> {
    if place > BYTES_MAX {
        return Err(SqlError::xml_too_long());
    }
    // It fits 31 bits.
    Ok(place as u32)
}
