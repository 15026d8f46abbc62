//! `column.WRITE(value, offset, length)` of UPDATE: a part of a long value gives way to another.

use super::function::built_in;
use super::source::is_of_schemas;
use super::typed::Typed;
use super::{Binder, assign_to};
use crate::access::Table;
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_types::{SqlError, SqlType, Value, xml};

impl Binder<'_> {
    /// What a method of SET makes of the column's present value.
    pub(super) fn written(
        &mut self,
        table: &Table,
        index: usize,
        present: Typed,
        (method, arguments): (&tree::Name, &[tree::Expr]),
    ) -> Result<Typed, Fault> {
        let column = &table.columns[index];
        if !method.is("WRITE") || matches!(column.ty, SqlType::Clr(_)) {
            let place = format!("{}.{}", table.name, column.name);
            let receiver = xml::Receiver { name: &place, of_schemas: is_of_schemas(table, index) };
            return self.mutated(present, &column.name, receiver, method, arguments);
        }
        if !column.ty.is_max() || column.ty.is_text_or_image() {
            return Err(Box::new(SqlError::methods_on_type(column.ty.error_name())));
        }
        let [value, offset, length] = arguments else {
            return Err(Box::new(SqlError::incorrect_syntax(")")));
        };
        let mut given = vec![present];
        for (argument, ty) in [(value, column.ty), (offset, SqlType::BigInt), (length, SqlType::BigInt)] {
            let typed = self.expr(argument)?;
            given
                .push(Typed::new(assign_to(typed, &ty, column.collation, None)?, ty, true).collated(column.collated()));
        }
        let name = SqlType::VarChar(pikepole_types::Length::Limit(128));
        given.push(Typed::constant(Value::Str(column.name.clone()), name));
        built_in(&pikepole_types::WRITE, given, self.collation())
    }
}
