//! XQuery, as the methods of xml take it: compiled with the statement, run for each value.
//!
//! ```text
//! text ── parse ──► expression with its type ── checks of form ──► Compiled
//!                        (names resolved; values from SQL noted)      │
//! value ── read ──► Document ─────────────────────────────────────── run ──► items ──► value, text, nodes
//! ```
//! What SQL Server has of XQuery is a part: axes down and to the parent, its functions, FLWOR, constructors, and changes of its own.
//! What it refuses by name is refused here by the same numbers.

mod atomic;
mod construct;
mod eval;
mod functions;
mod make;
mod modify;
mod parse;
mod path;
mod scan;
mod syntax;
mod text;
mod types;

use super::document::{Document, Kind, NodeId, ROOT, XmlNode};
use super::name::is_character;
use super::write::{Writer, escape_text};
use crate::error::SqlError;
use crate::functions::Context;
use crate::sql_type::{Length, SqlType};
use crate::value::Value;
use atomic::{Atomic, AtomicType};
use eval::{Item, Run};
use std::sync::Arc;
use syntax::{Change, Expr};

/// A method of xml.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A value of SQL.
    Value,
    /// Another xml.
    Query,
    /// Whether there is anything.
    Exist,
    /// Rows.
    Nodes,
    /// A change of the value.
    Modify,
}

impl Method {
    /// A method by its name, whose case matters.
    pub fn by_name(name: &str) -> Option<Method> {
        Some(match name {
            "value" => Method::Value,
            "query" => Method::Query,
            "exist" => Method::Exist,
            "nodes" => Method::Nodes,
            "modify" => Method::Modify,
            _ => return None,
        })
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Value => "value",
            Method::Query => "query",
            Method::Exist => "exist",
            Method::Nodes => "nodes",
            Method::Modify => "modify",
        }
    }
}

/// A value from SQL that a query reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Accessor {
    /// `sql:variable("@v")`
    Variable(String),
    /// `sql:column("t.c")`
    Column(String),
}

/// Prefixes and what they stand for, as WITH XMLNAMESPACES declares them; the default has none.
pub type Namespaces = [(String, String)];

/// A query that can be run.
#[derive(Debug)]
pub struct Compiled {
    body: Body,
    /// The prefixes that results use.
    prefixes: Vec<(String, String)>,
    /// The types of the values from SQL.
    inputs: Vec<SqlType>,
}

#[derive(Debug)]
enum Body {
    Query(Expr),
    Change(Change),
}

/// What a method is called on.
#[derive(Debug, Clone, Copy, Default)]
pub struct Receiver<'r> {
    /// How messages call it: `t.c`; empty for what is no column.
    pub name: &'r str,
    /// Its type names a collection of schemas. Which nodes there is one of, and which are simple, stands there, and is believed: of
    /// several items the first is taken.
    pub of_schemas: bool,
}

impl Compiled {
    /// Compiles a query. `receiver` is what the method is called on, for messages: `t.c`, or nothing for a variable. `read` is asked for
    /// the type of each value from SQL, in the order in which they are passed to the methods.
    ///
    /// # Errors
    /// 2201 to 2399 and 9300 to 9345 for what is no query, or none that the method takes; those of `read`.
    pub fn new(
        method: Method,
        text: &str,
        receiver: Receiver<'_>,
        namespaces: &Namespaces,
        read: &mut dyn FnMut(&Accessor) -> Result<SqlType, SqlError>,
    ) -> Result<Compiled, SqlError> {
        if text.trim().is_empty() {
            return Err(SqlError::xquery_empty());
        }
        let dot = if receiver.name.is_empty() { "" } else { "." };
        let place = format!("{}{dot}{}()", receiver.name, method.name());
        if let Some(illegal) = text.chars().find(|c| !is_character(*c)) {
            return Err(SqlError::xquery_illegal_character(&place, format_args!("0x{:02x}", u32::from(illegal))));
        }
        let mut parser = parse::Parser::new(text, place, receiver.of_schemas, namespaces, read);
        let body = match method {
            Method::Modify => Body::Change(parser.change()?),
            _ => Body::Query(parser.query(method)?),
        };
        let (prefixes, inputs) = parser.into_parts();
        Ok(Compiled { body, prefixes, inputs })
    }

    /// Runs `value`, `query`, `exist` or `modify` on a value of type xml that is not NULL; `inputs` are the values from SQL. What
    /// `value` finds is converted to `to`.
    ///
    /// # Errors
    /// Those of conversions, and 6305 to 6335 for results that are no xml.
    pub fn run(
        &self,
        method: Method,
        target: &Value,
        inputs: &[Value],
        context: &mut Context,
        to: &SqlType,
    ) -> Result<Value, SqlError> {
        let (document, node) = located(target, context)?;
        let values = self.values(inputs)?;
        let mut run = Run::new(&document, node, &values);
        let expr = match &self.body {
            Body::Query(expr) => expr,
            Body::Change(change) => {
                return Ok(match run.changed(change)? {
                    Some(changed) => Value::Str(self.written(&changed)),
                    None => target.clone(),
                });
            }
        };
        let items = run.eval(expr)?;
        match method {
            Method::Exist => Ok(Value::Bit(!items.is_empty())),
            Method::Value => match items.into_iter().next() {
                None => Ok(Value::Null),
                Some(item) => converted(&run.value_of(item), to, context),
            },
            _ => self.text_of(items, &document).map(Value::Str),
        }
    }

    /// The rows of `nodes`.
    ///
    /// # Errors
    /// As [`Compiled::run`].
    pub fn nodes(&self, target: &Value, inputs: &[Value], context: &mut Context) -> Result<Vec<XmlNode>, SqlError> {
        if target.is_null() {
            return Ok(Vec::new());
        }
        let (document, node) = located(target, context)?;
        let values = self.values(inputs)?;
        let Body::Query(expr) = &self.body else {
            return Ok(Vec::new());
        };
        let items = Run::new(&document, node, &values).eval(expr)?;
        let nodes = items.into_iter().filter_map(|item| match item {
            Item::Node(node) => Some(XmlNode { document: Arc::clone(&document), node }),
            _ => None,
        });
        Ok(nodes.collect())
    }

    fn values(&self, inputs: &[Value]) -> Result<Vec<Option<Item>>, SqlError> {
        inputs.iter().zip(&self.inputs).map(|(value, ty)| eval::from_sql(value, ty)).collect()
    }

    fn written(&self, document: &Document) -> String {
        let mut out = String::new();
        Writer::new(&self.prefixes, &mut 0, &mut out).write(document, ROOT);
        out
    }

    /// What `query` gives.
    fn text_of(&self, items: Vec<Item>, document: &Document) -> Result<String, SqlError> {
        let mut out = String::new();
        let mut generated = 0;
        let mut after_value = false;
        for item in items {
            let is_value = matches!(item, Item::Atomic(_));
            match item {
                Item::Atomic(atomic) => {
                    if after_value {
                        out.push(' ');
                    }
                    escape_text(&atomic.content()?, &mut out);
                }
                Item::Node(node) if document.kind(node) != Kind::Attribute => {
                    Writer::new(&self.prefixes, &mut generated, &mut out).write(document, node);
                }
                Item::Built(built) => Writer::new(&self.prefixes, &mut generated, &mut out).write(&built, ROOT),
                Item::Node(_) | Item::BuiltAttribute(_) => return Err(SqlError::xml_attribute_outside()),
            }
            after_value = is_value;
        }
        Ok(out)
    }

    /// The types of the values from SQL.
    pub fn inputs(&self) -> &[SqlType] {
        &self.inputs
    }
}

/// The document of a value and the node in it.
fn located(target: &Value, context: &mut Context) -> Result<(Arc<Document>, NodeId), SqlError> {
    match target {
        Value::Node(node) => Ok((Arc::clone(&node.document), node.node)),
        Value::Str(text) => Ok((context.document.document(text)?, ROOT)),
        _ => Ok((Arc::new(Document::read("")?), ROOT)),
    }
}

/// What `value` found, in the type that it asks for: binaries are written in base 64, or in hexadecimal digits where the query says so.
fn converted(found: &Atomic, to: &SqlType, context: &Context) -> Result<Value, SqlError> {
    let text = found.text();
    if to.is_binary() {
        let is_hexadecimal = found.ty == AtomicType::Hexadecimal;
        let bytes = if is_hexadecimal { text::hexadecimal_bytes(&text) } else { crate::display::base64_bytes(&text) };
        return Ok(match bytes {
            None => Value::Null,
            Some(bytes) => {
                let from = SqlType::VarBinary(Length::Max);
                crate::convert(&Value::Bin(bytes), &from, to, None)?
            }
        });
    }
    if *to == SqlType::Bit {
        let truth = match text.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        };
        if let Some(truth) = truth {
            return Ok(Value::Bit(truth));
        }
    }
    context.convert(&Value::Str(text), &SqlType::NVarChar(Length::Max), to, None)
}
