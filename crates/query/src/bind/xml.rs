//! Methods of xml: what they are called on, their queries, and the values from SQL that these read.

use std::sync::Arc;

use super::Binder;
use super::data_type::{TypePlace, sql_type};
use super::function::check_count;
use super::join::{JoinTree, Leaf};
use super::scope::{ColumnAccess, SourceColumn};
use super::source::rename;
use super::typed::Typed;
use crate::expression::{Expr, Fault, XmlMethod};
use crate::plan::{More, Node, XmlNodes};
use pikepole_tsql as tree;
use pikepole_types::xml::{self, Accessor, Compiled, Method};
use pikepole_types::{SqlError, SqlType};

/// What a method is called on.
struct Receiver {
    typed: Typed,
    /// See [`xml::Receiver`].
    name: String,
    of_schemas: bool,
}

impl Receiver {
    fn of(typed: Typed) -> Receiver {
        Receiver { typed, name: String::new(), of_schemas: false }
    }

    fn checked(self) -> Result<Receiver, Fault> {
        match self.typed.ty {
            SqlType::Xml => Ok(self),
            ty => Err(Box::new(SqlError::methods_on_type(ty.name()))),
        }
    }
}

/// A query that has been compiled, with the values from SQL that it reads.
type Query = (Arc<Compiled>, Box<[Expr]>);

impl Binder<'_> {
    /// `x.method(...)`, where `x` is no name.
    pub(super) fn method(&mut self, call: &tree::MethodCall) -> Result<Typed, Fault> {
        let typed = self.maybe_node(&call.receiver)?;
        let arguments: Option<Vec<&tree::Expr>> = call.arguments.as_ref().map(|list| list.iter().collect());
        if let SqlType::Clr(ty) = typed.ty {
            return self.member(ty, Some(typed), &call.method, arguments.as_deref());
        }
        let receiver = Receiver::of(typed).checked()?;
        let arguments = arguments.ok_or_else(|| Box::new(SqlError::not_a_method(&call.method.text)))?;
        self.xml_method(receiver, &call.method, &arguments)
    }

    /// `c.method(...)`, where `c` is a column of a type that has methods; None for what is the call of a function in a schema.
    pub(super) fn column_method(&mut self, call: &tree::FunctionCall) -> Result<Option<Typed>, Fault> {
        let known = Method::by_name(call.name.name.as_str()).is_some();
        let Some(receiver) = self
            .column_receiver(&call.name)
            .filter(|receiver| known || matches!(receiver.typed.ty, SqlType::Xml | SqlType::Clr(_)))
        else {
            return Ok(None);
        };
        if let SqlType::Clr(ty) = receiver.typed.ty {
            return self.member(ty, Some(receiver.typed), &call.name.name, Some(&expressions(call)?)).map(Some);
        }
        self.xml_method(receiver.checked()?, &call.name.name, &expressions(call)?).map(Some)
    }

    /// The column that stands before the last part of a name, if there is one.
    fn column_receiver(&mut self, name: &tree::ObjectName) -> Option<Receiver> {
        let column = name.schema.clone()?;
        let qualifier = name
            .database
            .clone()
            .map(|table| Box::new(tree::ObjectName { schema: name.server.clone(), ..tree::ObjectName::of(table) }));
        let column = tree::ColumnRef::new(qualifier, column);
        let found = self.resolve(&column).ok()?;
        self.check_grouped(&found).ok()?;
        let of_schemas = self.seen_column(&column).is_some_and(|column| column.of_schemas);
        let typed = Typed::new(Expr::Slot(found.slot), found.ty, found.nullable);
        Some(Receiver { typed, name: found.display, of_schemas })
    }

    /// An expression where a row of `nodes()` may stand: before a method and before IS NULL.
    pub(super) fn maybe_node(&mut self, expr: &tree::Expr) -> Result<Typed, Fault> {
        if let tree::ExprKind::Column(column) = &expr.kind
            && let Ok(found) = self.resolve(column)
            && found.access == ColumnAccess::Node
        {
            self.check_grouped(&found)?;
            return Ok(Typed::new(Expr::Slot(found.slot), found.ty, found.nullable));
        }
        self.expr(expr)
    }

    fn xml_method(&mut self, receiver: Receiver, name: &tree::Name, arguments: &[&tree::Expr]) -> Result<Typed, Fault> {
        let method = match Method::by_name(&name.text) {
            None | Some(Method::Nodes) => return Err(Box::new(SqlError::not_a_method(&name.text))),
            Some(Method::Modify) => return Err(Box::new(SqlError::non_mutator_expected(&name.text))),
            Some(method) => method,
        };
        self.calls_methods = true;
        let count = if method == Method::Value { 2 } else { 1 };
        check_count(&name.text, arguments.len(), count, count)?;
        let text = literal(arguments[0], 1, method)?;
        let to = match method {
            Method::Value => self.value_type(literal(arguments[1], 2, method)?)?,
            Method::Exist => SqlType::Bit,
            _ => SqlType::Xml,
        };
        let (query, inputs) = self.xquery(method, text, &receiver)?;
        let of = XmlMethod { method, query, receiver: receiver.typed.expr, inputs, to, name: "".into() };
        Ok(Typed::new(Expr::Xml(Box::new(of)), to, true))
    }

    /// The value of a column or a variable after `modify`; `name` is what messages of conversions call it.
    pub(crate) fn mutated(
        &mut self,
        old: Typed,
        name: &str,
        receiver: xml::Receiver<'_>,
        method: &tree::Name,
        arguments: &[tree::Expr],
    ) -> Result<Typed, Fault> {
        if let SqlType::Clr(ty) = old.ty {
            return Err(super::clr::no_mutator(ty, &method.text));
        }
        let xml::Receiver { name: place, of_schemas } = receiver;
        let receiver = Receiver { typed: old, name: place.to_owned(), of_schemas }.checked()?;
        let known = match Method::by_name(&method.text) {
            None => return Err(Box::new(SqlError::not_a_method(&method.text))),
            Some(Method::Modify) => Method::Modify,
            Some(_) => return Err(Box::new(SqlError::mutator_expected(&method.text))),
        };
        check_count(&method.text, arguments.len(), 1, 1)?;
        let text = literal(&arguments[0], 1, known)?;
        let (query, inputs) = self.xquery(known, text, &receiver)?;
        let of = XmlMethod {
            method: known,
            query,
            receiver: receiver.typed.expr,
            inputs,
            to: SqlType::Xml,
            name: name.into(),
        };
        Ok(Typed::new(Expr::Xml(Box::new(of)), SqlType::Xml, true))
    }

    fn xquery(&mut self, method: Method, text: &str, receiver: &Receiver) -> Result<Query, Fault> {
        let mut inputs = Vec::new();
        let namespaces = self.namespaces.clone();
        let mut read = |accessor: &Accessor| {
            let typed = self.sql_value(accessor).map_err(|fault| *fault)?;
            inputs.push(typed.expr);
            Ok(typed.ty)
        };
        let receiver = xml::Receiver { name: &receiver.name, of_schemas: receiver.of_schemas };
        let compiled = Compiled::new(method, text, receiver, &namespaces, &mut read)?;
        Ok((Arc::new(compiled), inputs.into()))
    }

    /// What `sql:variable` and `sql:column` stand for.
    fn sql_value(&mut self, accessor: &Accessor) -> Result<Typed, Fault> {
        match accessor {
            Accessor::Variable(name) => {
                let written = tree::Name { text: name.clone(), span: tree::Span::default() };
                if let Ok(Some(argument)) = self.parameter(&written) {
                    return Ok(argument);
                }
                let (slot, ty) = self.variable(name).map_err(|_| SqlError::xquery_sql_variable_unknown(name))?;
                Ok(Typed::new(Expr::Slot(slot), ty, true))
            }
            Accessor::Column(text) => {
                let name = tree::ObjectName::read(text).ok_or_else(|| SqlError::invalid_column(text))?;
                let tree::ObjectName { name, schema, database, server } = name;
                let qualifier = schema.map(|table| {
                    Box::new(tree::ObjectName { schema: database, database: server, ..tree::ObjectName::of(table) })
                });
                let column = tree::ColumnRef::new(qualifier, name);
                let span = column.name.span;
                self.expr(&tree::Expr::new(tree::ExprKind::Column(column), span))
            }
        }
    }

    /// The type that `value` is asked for.
    fn value_type(&self, text: &str) -> Result<SqlType, Fault> {
        let invalid = || Box::new(SqlError::value_type_invalid(text));
        let parameters = tree::parse_parameters(&format!("@value {text}")).map_err(|_| invalid())?;
        let [parameter] = parameters.as_slice() else {
            return Err(invalid());
        };
        let written = &parameter.data_type;
        let is_alone = parameter.default.is_none() && !parameter.output && !parameter.readonly;
        let refused = ["xml", "text", "ntext", "image", "sql_variant", "json"];
        if !is_alone || written.schema.is_some() || refused.iter().any(|name| written.name.is(name)) {
            return Err(invalid());
        }
        sql_type(&self.catalog().catalog, written, TypePlace::Declaration, 1).map_err(|_| invalid())
    }

    /// `x.nodes('...') AS t (c)` in FROM; None for other functions.
    pub(super) fn nodes(&mut self, function: &tree::TableFunction, lateral: bool) -> Result<Option<JoinTree>, Fault> {
        let call = &function.call;
        // What it is called on does not see the siblings in FROM; at the right side of APPLY it does.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let receiver = match &function.receiver {
            Some(expr) => self.maybe_node(expr).and_then(|typed| Receiver::of(typed).checked()).map(Some),
            None if call.name.name.text == Method::Nodes.name() => Ok(self.column_receiver(&call.name)),
            None => Ok(None),
        };
        let of_schemas = receiver.as_ref().is_ok_and(|found| found.as_ref().is_some_and(|found| found.of_schemas));
        let rows = receiver.and_then(|receiver| receiver.map(|receiver| self.node_rows(receiver, call)).transpose());
        if !lateral {
            self.scope().sources = sources;
        }
        let Some(rows) = rows? else {
            return Ok(None);
        };
        let (Some(alias), false) = (&function.alias, function.columns.is_empty()) else {
            return Err(Box::new(SqlError::nodes_without_alias()));
        };
        let column =
            SourceColumn { access: ColumnAccess::Node, of_schemas, ..SourceColumn::new("", SqlType::Xml, true) };
        let mut columns = vec![column];
        rename(&mut columns, &function.columns, &alias.text)?;
        let leaf = Leaf::Rows(Node::More(Box::new(More::Nodes(rows))));
        self.add(alias.text.clone(), None, columns, leaf).map(Some)
    }

    fn node_rows(&mut self, receiver: Receiver, call: &tree::FunctionCall) -> Result<XmlNodes, Fault> {
        let receiver = receiver.checked()?;
        if call.name.name.text != Method::Nodes.name() {
            return Err(Box::new(SqlError::not_a_method(&call.name.name.text)));
        }
        let arguments = expressions(call)?;
        check_count(Method::Nodes.name(), arguments.len(), 1, 1)?;
        let text = literal(arguments[0], 1, Method::Nodes)?;
        let (query, inputs) = self.xquery(Method::Nodes, text, &receiver)?;
        Ok(XmlNodes { receiver: receiver.typed.expr, query, inputs, registers: self.registers(1) })
    }
}

/// The arguments of a call.
fn expressions(call: &tree::FunctionCall) -> Result<Vec<&tree::Expr>, Fault> {
    let expr = |argument: &'_ tree::FunctionArgument| match argument {
        tree::FunctionArgument::Expr(_) => Ok(()),
        tree::FunctionArgument::Default => Err(Box::new(SqlError::incorrect_syntax("DEFAULT"))),
    };
    call.arguments.iter().try_for_each(expr)?;
    Ok(call.arguments.iter().filter_map(tree::FunctionArgument::expr).collect())
}

/// An argument, which is a text that is written out.
fn literal(expr: &tree::Expr, position: usize, method: Method) -> Result<&str, Fault> {
    match &expr.kind {
        tree::ExprKind::Literal(tree::Literal::String { value, .. }) => Ok(value),
        _ => Err(Box::new(SqlError::method_argument_not_literal(position, method.name()))),
    }
}
