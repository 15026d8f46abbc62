//! What an expression gives, as far as its form tells: what SQL Server checks when a query is compiled, whatever the document is.

use super::atomic::AtomicType;
use std::fmt;

/// How many items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Occurs {
    One,
    Optional,
    Many,
}

impl Occurs {
    /// So many for each of so many.
    pub(super) fn times(self, each: Occurs) -> Occurs {
        match (self, each) {
            (Occurs::Many, _) | (_, Occurs::Many) => Occurs::Many,
            (Occurs::One, Occurs::One) => Occurs::One,
            _ => Occurs::Optional,
        }
    }
}

/// A kind of node, with the name that it is asked for by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NodeType {
    Any,
    Root,
    Element(Option<String>),
    Attribute(Option<String>),
    Text,
    Comment,
    Instruction,
}

/// What the items are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ItemType {
    /// There are none: `()`.
    Nothing,
    Node(NodeType),
    Atomic(AtomicType),
    /// A value of type xml from SQL, which only an insert takes.
    Xml,
}

/// The static type of an expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Type {
    pub(super) item: ItemType,
    pub(super) occurs: Occurs,
    /// Nodes that the query makes: they are given, and nothing else.
    pub(super) built: bool,
}

impl Type {
    pub(super) fn nothing() -> Type {
        Type { item: ItemType::Nothing, occurs: Occurs::Optional, built: false }
    }

    pub(super) fn atomic(ty: AtomicType, occurs: Occurs) -> Type {
        Type { item: ItemType::Atomic(ty), occurs, built: false }
    }

    pub(super) fn node(node: NodeType, occurs: Occurs) -> Type {
        Type { item: ItemType::Node(node), occurs, built: false }
    }

    pub(super) fn built(node: NodeType) -> Type {
        Type { built: true, ..Type::node(node, Occurs::One) }
    }

    pub(super) fn is_node(&self) -> bool {
        matches!(self.item, ItemType::Node(_))
    }

    pub(super) fn is_attribute(&self) -> bool {
        matches!(self.item, ItemType::Node(NodeType::Attribute(_)))
    }

    pub(super) fn as_atomic(&self) -> Option<AtomicType> {
        match self.item {
            ItemType::Atomic(ty) => Some(ty),
            _ => None,
        }
    }

    pub(super) fn is_numeric(&self) -> bool {
        self.as_atomic().is_some_and(AtomicType::is_numeric)
    }

    /// The type of the values of the items.
    pub(super) fn atomized(&self) -> Type {
        match self.item {
            ItemType::Node(_) => Type::atomic(AtomicType::Untyped, self.occurs),
            _ => self.clone(),
        }
    }

    /// The same items, so often.
    pub(super) fn occurring(self, occurs: Occurs) -> Type {
        Type { occurs, ..self }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.item {
            ItemType::Nothing => return f.write_str("empty"),
            ItemType::Atomic(ty) => f.write_str(ty.name())?,
            ItemType::Xml => f.write_str("xml")?,
            ItemType::Node(node) => match node {
                NodeType::Any => f.write_str("node()")?,
                NodeType::Root => f.write_str(
                    "document { (element(*,xdt:untyped) ? & text ? & comment ? & processing-instruction ?) * }",
                )?,
                NodeType::Element(name) => write!(f, "element({},xdt:untyped)", name.as_deref().unwrap_or("*"))?,
                NodeType::Attribute(name) => {
                    write!(f, "attribute({},xdt:untypedAtomic)", name.as_deref().unwrap_or("*"))?;
                }
                NodeType::Text => f.write_str("text")?,
                NodeType::Comment => f.write_str("comment")?,
                NodeType::Instruction => f.write_str("processing-instruction")?,
            },
        }
        f.write_str(match self.occurs {
            Occurs::One => "",
            Occurs::Optional => " ?",
            Occurs::Many => " *",
        })
    }
}
