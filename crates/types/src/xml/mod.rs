//! Values of the type xml: reading, keeping, writing, and XQuery over them.
//!
//! ```text
//! text or bytes ── read ──► Document ── write ──► the value: its text in one canonical form
//!                              ▲                        │
//!                              └──────── read ──────────┘  for a method: value, query, exist, nodes, modify
//! ```
//! A value is content, not a document: there may be several elements beside each other, and text beside them. It is kept as text:
//! rows, variables and clients take that as it is, and only methods need the tree, which the session keeps from call to call
//! ([`Document`]).
//!
//! The reader is our own. SQL Server tells what is wrong with a text by one of forty numbers and the place where its parser
//! stopped, and content has no root; roxmltree reads documents of one root and names other errors, and quick-xml leaves names,
//! characters and prefixes to its caller. The tests hold the reader against roxmltree.

mod build;
mod convert;
mod document;
mod name;
mod query;
mod read;
mod schema;
mod write;

#[cfg(test)]
mod tests;

pub use document::{Document, XmlNode};
pub use name::{continues_name, is_character, starts_name};
pub use query::{Accessor, Compiled, Method, Namespaces, Receiver};
pub use schema::{schema_spaces, schema_text};

pub(crate) use convert::{from_value, to_binary, to_text};
pub(crate) use write::Kept;

/// Elements within each other.
const LEVELS_MAX: usize = 128;

/// Bytes of a value's text.
const BYTES_MAX: usize = i32::MAX as usize;

/// The namespace of the prefix `xml`.
pub const XML_SPACE: &str = "http://www.w3.org/XML/1998/namespace";
