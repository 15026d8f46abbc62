//! Changes of documents. Nothing is changed in place: the tree is copied, and on the way nodes are left out, put in and renamed.

use super::atomic::Atomic;
use super::eval::{Item, Run};
use super::syntax::{Change, Place};
use crate::error::SqlError;
use crate::xml::build::Builder;
use crate::xml::document::{Document, Kind, Name, NodeId, ROOT};
use std::collections::HashSet;

/// What is done to the nodes of a document.
enum Edit {
    Delete(HashSet<NodeId>),
    /// The node says this now; a text that says nothing is gone.
    Replace(NodeId, String),
    Insert {
        items: Vec<Item>,
        place: Place,
        target: NodeId,
    },
}

impl Run<'_> {
    /// The document after a change; none when nothing is changed.
    pub(super) fn changed(&mut self, change: &Change) -> Result<Option<Document>, SqlError> {
        let Some(edit) = self.edit(change)? else {
            return Ok(None);
        };
        let mut copy = Copy { document: self.document, edit, builder: Builder::new() };
        copy.inside(ROOT)?;
        Ok(Some(copy.builder.finish()))
    }

    fn edit(&mut self, change: &Change) -> Result<Option<Edit>, SqlError> {
        let node = |items: Vec<Item>| match items.first() {
            Some(Item::Node(node)) => Some(*node),
            _ => None,
        };
        match change {
            Change::Delete(target) => {
                let nodes = self.eval(target)?.into_iter().filter_map(|item| node(vec![item])).collect();
                Ok(Some(Edit::Delete(nodes)))
            }
            Change::Replace { target, value, by_nothing } => {
                let Some(target) = node(self.eval(target)?) else {
                    return Ok(None);
                };
                let items = self.eval(value)?;
                let values: Vec<String> = self.atomized(items).iter().map(Atomic::content).collect::<Result<_, _>>()?;
                let is_text = self.document.kind(target) == Kind::Text;
                if values.is_empty() && !(is_text && *by_nothing) {
                    return Err(if is_text {
                        SqlError::xquery_replaced_by_empty()
                    } else {
                        SqlError::xquery_replaced_by_nothing()
                    });
                }
                Ok(Some(Edit::Replace(target, values.join(" "))))
            }
            Change::Insert { content, place, target } => {
                let Some(target) = node(self.eval(target)?) else {
                    return Ok(None);
                };
                Ok(Some(Edit::Insert { items: self.eval(content)?, place: *place, target }))
            }
        }
    }
}

struct Copy<'c> {
    document: &'c Document,
    edit: Edit,
    builder: Builder,
}

impl Copy<'_> {
    /// What is inserted in this place, if it is the one.
    fn inserted(&self, place: Place, target: NodeId) -> Vec<Item> {
        match &self.edit {
            Edit::Insert { items, place: own, target: node } if *own == place && *node == target => items.clone(),
            _ => Vec::new(),
        }
    }

    fn put(&mut self, items: Vec<Item>) -> Result<(), SqlError> {
        for item in items {
            match item {
                Item::Node(node) if self.document.kind(node) != Kind::Attribute => {
                    self.builder.copy(self.document, node)?;
                }
                Item::Built(built) => self.builder.copy(&built, ROOT)?,
                // Attributes have been put at the start of their element.
                Item::Node(_) | Item::BuiltAttribute(_) | Item::Atomic(_) => {}
            }
        }
        Ok(())
    }

    /// The children of a node with what comes before and behind them.
    fn inside(&mut self, id: NodeId) -> Result<(), SqlError> {
        let first = self.inserted(Place::First, id);
        self.put(first)?;
        let document = self.document;
        for child in document.children(id) {
            let before = self.inserted(Place::Before, child);
            self.put(before)?;
            self.node(child)?;
            let after = self.inserted(Place::After, child);
            self.put(after)?;
        }
        let last = self.inserted(Place::Last, id);
        self.put(last)
    }

    fn node(&mut self, id: NodeId) -> Result<(), SqlError> {
        if matches!(&self.edit, Edit::Delete(nodes) if nodes.contains(&id)) {
            return Ok(());
        }
        let kind = self.document.kind(id);
        if kind != Kind::Element {
            return self.leaf(id);
        }
        self.builder.open(self.document.name(id).clone())?;
        self.attributes(id)?;
        match &self.edit {
            Edit::Replace(target, value) if *target == id => {
                self.builder.leaf(Kind::Text, Name::default(), value)?;
            }
            _ => self.inside(id)?,
        }
        self.builder.close();
        Ok(())
    }

    fn leaf(&mut self, id: NodeId) -> Result<(), SqlError> {
        let value = match &self.edit {
            Edit::Delete(nodes) if nodes.contains(&id) => return Ok(()),
            Edit::Replace(target, value) if *target == id => value.as_str(),
            _ => self.document.own_value(id),
        };
        self.builder.leaf(self.document.kind(id), self.document.name(id).clone(), value)
    }

    /// The attributes of an element. Those that come new are each put behind one that was there, as SQL Server does.
    fn attributes(&mut self, id: NodeId) -> Result<(), SqlError> {
        let mut added = Vec::new();
        for item in self.inserted(Place::First, id).into_iter().chain(self.inserted(Place::Last, id)) {
            match item {
                Item::Node(node) if self.document.kind(node) == Kind::Attribute => {
                    added.push((self.document.name(node).clone(), self.document.own_value(node).to_owned()));
                }
                Item::BuiltAttribute(built) => added.push((built.0.clone(), built.1.clone())),
                _ => {}
            }
        }
        let document = self.document;
        let same = |a: &Name, b: &Name| (&a.local, &a.uri) == (&b.local, &b.uri);
        for (place, (name, _)) in added.iter().enumerate() {
            let mut own = document.attributes(id).filter(|&own| document.kind(own) == Kind::Attribute);
            if own.any(|own| same(document.name(own), name))
                || added[..place].iter().any(|(other, _)| same(other, name))
            {
                return Err(SqlError::xml_attribute_twice(&name.local));
            }
        }
        let mut added = added.into_iter();
        for own in document.attributes(id) {
            self.leaf(own)?;
            if let Some((name, value)) = added.next() {
                self.builder.leaf(Kind::Attribute, name, &value)?;
            }
        }
        added.try_for_each(|(name, value)| self.builder.leaf(Kind::Attribute, name, &value))
    }
}
