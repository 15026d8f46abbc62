//! Rows as one text, in JSON or XML, and texts in JSON as rows.

use super::explicit::ExplicitTag;
use super::{Node, Registers};
use crate::expression::Expr;
use pikepole_types::SqlType;
use pikepole_types::json::Path;
use pikepole_types::xml::Compiled;
use std::sync::Arc;

/// FOR JSON and FOR XML: all rows as one text, in one row. Without rows there is none, but for what has a root and what other queries read.
#[derive(Debug, Clone)]
pub struct Document {
    /// The rows.
    pub input: Node,
    /// What each row gives.
    pub values: Vec<Expr>,
    /// Their types.
    pub types: Vec<SqlType>,
    /// The name around all rows.
    pub root: Option<String>,
    /// How rows are within each other: a row of a level begins anew where a value of it or of a level before it differs from the
    /// row before; of the last level, always. Without AUTO there is one level.
    pub levels: Vec<Level>,
    /// The language.
    pub language: Language,
    /// TYPE: the text is a value of xml.
    pub typed: bool,
    /// Without rows there is a NULL: of TYPE, and of what is read by another query.
    pub is_always: bool,
    /// Where the text goes.
    pub slot: usize,
}

/// The languages of documents.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Language {
    /// FOR JSON
    Json {
        /// In brackets: without WITHOUT_ARRAY_WRAPPER.
        array: bool,
        /// INCLUDE_NULL_VALUES
        nulls: bool,
    },
    /// FOR XML
    Xml {
        /// ELEMENTS XSINIL: what is NULL has an element that says so.
        nil: bool,
        /// What the outermost elements declare of prefixes, each behind a blank.
        declarations: String,
    },
    /// FOR XML EXPLICIT, whose rows are in no levels.
    Explicit {
        /// The elements that rows may be.
        tags: Vec<ExplicitTag>,
        /// As of other modes.
        declarations: String,
    },
}

/// One level of a [`Document`].
#[derive(Debug, Clone)]
pub struct Level {
    /// The name around a row; in JSON, of the array of rows in the row of the level before. Empty for none.
    pub name: String,
    /// What is in it.
    pub members: Vec<Member>,
}

/// A part of a row.
#[derive(Debug, Clone)]
pub enum Member {
    /// A value under a name.
    Value {
        /// The name.
        name: String,
        /// Which value.
        value: usize,
        /// The text is of the document's language already.
        raw: bool,
    },
    /// In XML, an attribute of what it is in.
    Attribute {
        /// The name.
        name: String,
        /// Which value.
        value: usize,
    },
    /// In XML, text.
    Text {
        /// Which value.
        value: usize,
        /// The text is XML already.
        raw: bool,
        /// `data()`: a blank stands between two of them.
        list: bool,
    },
    /// In XML, a comment.
    Comment {
        /// Which value.
        value: usize,
    },
    /// In XML, an instruction to who processes it.
    Instruction {
        /// Whom it is for.
        target: String,
        /// Which value.
        value: usize,
    },
    /// Members under a name.
    Group {
        /// The name.
        name: String,
        /// The members.
        members: Vec<Member>,
    },
}

impl Member {
    /// Calls `visit` with the number of every value in it.
    pub fn visit_values(&self, visit: &mut dyn FnMut(usize)) {
        match self {
            Member::Value { value, .. }
            | Member::Attribute { value, .. }
            | Member::Text { value, .. }
            | Member::Comment { value }
            | Member::Instruction { value, .. } => visit(*value),
            Member::Group { members, .. } => members.iter().for_each(|member| member.visit_values(visit)),
        }
    }
}

/// OPENJSON, made anew for each row outside.
#[derive(Debug, Clone)]
pub struct OpenJson {
    /// The document.
    pub json: Expr,
    /// The path to what is opened.
    pub path: Option<Expr>,
    /// The columns of WITH; none without it.
    pub columns: Vec<OpenColumn>,
    /// Where a row goes.
    pub registers: Registers,
}

/// `nodes()` of a value of xml, made anew for each row outside.
#[derive(Debug, Clone)]
pub struct XmlNodes {
    /// The value, or a row of another `nodes()`.
    pub receiver: Expr,
    /// The query.
    pub query: Arc<Compiled>,
    /// The values from SQL that it reads.
    pub inputs: Box<[Expr]>,
    /// Where a row goes.
    pub registers: Registers,
}

/// A column of OPENJSON's WITH.
#[derive(Debug, Clone)]
pub struct OpenColumn {
    /// Where its value is.
    pub path: Path,
    /// Its type.
    pub ty: SqlType,
    /// AS JSON
    pub as_json: bool,
}
