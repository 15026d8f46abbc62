//! A value as a tree.
//!
//! ```text
//! <r a="1"><b>x</b></r>y        0 root  (end 6)
//!                               1   element r  (end 5)
//!                               2     attribute a
//!                               3     element b  (end 5)
//!                               4       text x
//!                               5   text y
//! ```
//! Nodes stand in document order, and a node's end is the number behind its last descendant. So numbers compare as nodes do, the
//! descendants of a node are a range, and its next sibling is its end. A namespace's declaration is a node like an attribute, before
//! the attributes.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// The number of a node.
pub(super) type NodeId = u32;

/// The node that all others are in.
pub(super) const ROOT: NodeId = 0;

/// What a node is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Root,
    Element,
    /// Its name is what it declares, its value what for.
    Namespace,
    Attribute,
    Text,
    Comment,
    Instruction,
}

/// A name with its namespace. Names are equal when `local` and `uri` are.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(super) struct Name {
    pub(super) prefix: Box<str>,
    pub(super) local: Box<str>,
    pub(super) uri: Box<str>,
}

#[derive(Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) name: u32,
    pub(super) parent: NodeId,
    pub(super) end: NodeId,
    pub(super) value: Range<u32>,
}

/// A value of the type xml, read.
#[derive(Debug)]
pub struct Document {
    pub(super) nodes: Vec<Node>,
    pub(super) names: Vec<Name>,
    pub(super) text: String,
}

/// A node of a document: what a row of `nodes()` is.
#[derive(Debug, Clone)]
pub struct XmlNode {
    pub(super) document: Arc<Document>,
    pub(super) node: NodeId,
}

impl PartialEq for XmlNode {
    fn eq(&self, other: &XmlNode) -> bool {
        Arc::ptr_eq(&self.document, &other.document) && self.node == other.node
    }
}

impl Document {
    pub(super) fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id as usize]
    }

    pub(super) fn kind(&self, id: NodeId) -> Kind {
        self.node(id).kind
    }

    pub(super) fn name(&self, id: NodeId) -> &Name {
        &self.names[self.node(id).name as usize]
    }

    /// What stands in the node itself: of attributes, texts, comments, instructions and declarations.
    pub(super) fn own_value(&self, id: NodeId) -> &str {
        let range = &self.node(id).value;
        &self.text[range.start as usize..range.end as usize]
    }

    /// The node above; none above the root.
    pub(super) fn parent(&self, id: NodeId) -> Option<NodeId> {
        (id != ROOT).then(|| self.node(id).parent)
    }

    /// The declarations and attributes of a node.
    pub(super) fn attributes(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        (id + 1..self.node(id).end).take_while(|&id| matches!(self.kind(id), Kind::Namespace | Kind::Attribute))
    }

    pub(super) fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        let end = self.node(id).end;
        let first = self.attributes(id).last().map_or(id + 1, |last| last + 1);
        let within = move |child: &NodeId| *child < end;
        std::iter::successors(Some(first).filter(within), move |&child| Some(self.node(child).end).filter(within))
    }

    /// All nodes within a node that are no attributes.
    pub(super) fn descendants(&self, id: NodeId) -> impl Iterator<Item = NodeId> {
        (id + 1..self.node(id).end).filter(|&id| !matches!(self.kind(id), Kind::Namespace | Kind::Attribute))
    }

    /// What a node says: an element, all text within it.
    pub(super) fn string_value(&self, id: NodeId) -> Cow<'_, str> {
        if !matches!(self.kind(id), Kind::Root | Kind::Element) {
            return Cow::Borrowed(self.own_value(id));
        }
        let mut texts = self.descendants(id).filter(|&id| self.kind(id) == Kind::Text).map(|id| self.own_value(id));
        match (texts.next(), texts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => {
                Cow::Owned([first, second].into_iter().chain(texts).collect::<Vec<_>>().concat())
            }
        }
    }
}
