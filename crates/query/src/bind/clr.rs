//! Members of CLR types: methods, properties, static calls, and what changes a value in its place.
//!
//! `t.g.STX` parses as a column with a qualifier, and `t.g.STArea()` as the call of a function in a schema: they are members where the
//! part before the last one names a column of such a type, and the whole does not name one.

use super::Binder;
use super::typed::{Typed, assign_to};
use crate::errors;
use crate::expression::{ClrCall, Expr, Fault};
use pikepole_clr::{Form, Method, find};
use pikepole_tsql as tree;
use pikepole_types::{ClrType, SqlError, SqlType};

/// What stands behind a member's name.
type Arguments<'t> = Option<&'t [&'t tree::Expr]>;

impl Binder<'_> {
    /// `type::member(...)`
    pub(super) fn static_member(&mut self, call: &tree::StaticCall) -> Result<Typed, Fault> {
        let unknown = || Box::new(SqlError::not_a_system_type(&call.ty.name.text));
        let ty = ClrType::by_name(&call.ty.name.text).ok_or_else(unknown)?;
        if call.ty.database.is_some() || call.ty.schema_str().is_some_and(|schema| !super::function::is_system(schema))
        {
            return Err(unknown());
        }
        let arguments: Option<Vec<&tree::Expr>> = call.arguments.as_ref().map(|list| list.iter().collect());
        self.member(ty, None, &call.method, arguments.as_deref())
    }

    /// A member of a value; of a type without a receiver.
    pub(super) fn member(
        &mut self,
        ty: ClrType,
        receiver: Option<Typed>,
        name: &tree::Name,
        arguments: Arguments<'_>,
    ) -> Result<Typed, Fault> {
        let form = match (&receiver, arguments) {
            (None, Some(_)) => Form::Static,
            (None, None) => Form::StaticProperty,
            (Some(_), Some(_)) => Form::Method,
            (Some(_), None) => Form::Property,
        };
        let method = known(ty, form, &name.text)?;
        let given = self.given(ty, method, arguments.unwrap_or_default())?;
        let nullable = receiver.as_ref().is_none_or(|receiver| receiver.nullable) || method.name != "IsNull";
        let constant = given.iter().all(Expr::is_const);
        let call =
            ClrCall { method, ty, receiver: receiver.map(|receiver| receiver.expr), arguments: given, name: "".into() };
        let constant = constant && call.receiver.as_ref().is_none_or(Expr::is_const);
        let typed = Typed::new(Expr::Clr(Box::new(call)), method.result.sql_type(ty), nullable);
        Ok(if constant { typed.folded() } else { typed })
    }

    /// The arguments of a member, as the types of its parameters.
    fn given(&mut self, ty: ClrType, method: &Method, arguments: &[&tree::Expr]) -> Result<Box<[Expr]>, Fault> {
        let count = method.parameters.len();
        if arguments.len() != count {
            return Err(Box::new(SqlError::function_needs_arguments(method.name, count)));
        }
        let mut given = Vec::with_capacity(count);
        for (argument, kind) in arguments.iter().zip(method.parameters) {
            let typed = self.expr(argument)?;
            given.push(assign_to(typed, &kind.sql_type(ty), self.collation(), None)?);
        }
        Ok(given.into())
    }

    /// `c.property`, where `c` is a column of a CLR type and the whole names no column.
    pub(super) fn property(&mut self, column: &tree::ColumnRef) -> Result<Option<Typed>, Fault> {
        let Some(qualifier) = &column.qualifier else { return Ok(None) };
        let tree::ObjectName { server, database, schema, name } = (**qualifier).clone();
        let above = schema.map(|table| {
            Box::new(tree::ObjectName { schema: database, database: server, ..tree::ObjectName::of(table) })
        });
        let inner = tree::ColumnRef::new(above, name);
        let Ok(found) = self.resolve(&inner) else { return Ok(None) };
        let SqlType::Clr(ty) = found.ty else { return Ok(None) };
        let receiver = self.expr(&tree::Expr::new(tree::ExprKind::Column(inner), column.name.span))?;
        self.member(ty, Some(receiver), &column.name, None).map(Some)
    }

    /// The value of a column or a variable after a property has got a value; `name` is what messages call it.
    pub(crate) fn with_property(
        &mut self,
        old: Typed,
        name: &str,
        property: &tree::Name,
        value: &tree::Expr,
    ) -> Result<Typed, Fault> {
        let SqlType::Clr(ty) = old.ty else {
            return Err(Box::new(SqlError::methods_on_type(old.ty.error_name())));
        };
        let Some(method) = find(ty, Form::Setter, &property.text) else {
            known(ty, Form::Property, &property.text)?;
            return Err(Box::new(SqlError::property_is_read_only(&property.text, ty.class())));
        };
        let arguments = self.given(ty, method, &[value])?;
        let call = ClrCall { method, ty, receiver: Some(old.expr), arguments, name: name.into() };
        Ok(Typed::new(Expr::Clr(Box::new(call)), SqlType::Clr(ty), true))
    }
}

/// A member that is there.
fn known(ty: ClrType, form: Form, name: &str) -> Result<&'static Method, Fault> {
    let Some(method) = find(ty, form, name) else {
        return Err(Box::new(match form {
            Form::Static | Form::Method => SqlError::method_unknown(name, ty.class()),
            _ => SqlError::property_unknown(name, ty.class()),
        }));
    };
    if !method.is_there() {
        return Err(errors::unsupported(format!("The method {name} of {}", ty.name())));
    }
    Ok(method)
}

/// The error of a method that is called to change a value.
pub(super) fn no_mutator(ty: ClrType, name: &str) -> Fault {
    match known(ty, Form::Method, name) {
        Ok(_) => Box::new(SqlError::member_is_no_mutator(name, ty.class())),
        Err(fault) => fault,
    }
}
