//! OPENJSON.

use super::Binder;
use super::data_type::{TypePlace, sql_type};
use super::join::{JoinTree, Leaf};
use super::scope::SourceColumn;
use super::source::{rename, too_few_arguments};
use super::typed::Typed;
use crate::expression::Fault;
use crate::plan::{More, Node, OpenColumn, OpenJson};
use pikepole_tsql as tree;
use pikepole_types::json::Path;
use pikepole_types::{Length, SqlError, SqlType};

impl Binder<'_> {
    /// OPENJSON in FROM: `key`, `value` and `type` of each member, or the columns of WITH.
    pub(super) fn open_json(&mut self, function: &tree::TableFunction, lateral: bool) -> Result<JoinTree, Fault> {
        // Arguments do not see the siblings in FROM; those at the right side of APPLY do.
        let sources = if lateral { Vec::new() } else { std::mem::take(&mut self.scope().sources) };
        let arguments = self.open_arguments(&function.call);
        if !lateral {
            self.scope().sources = sources;
        }
        let (json, path) = arguments?;
        let alias = match &function.alias {
            Some(alias) => alias.text.clone(),
            None => function.call.name.name.text.clone(),
        };
        let with = self.open_columns(&function.schema)?;
        let mut columns: Vec<SourceColumn> = match with.is_empty() {
            true => [
                ("key", SqlType::NVarChar(Length::Limit(4000)), false),
                ("value", SqlType::NVarChar(Length::Max), true),
                ("type", SqlType::TinyInt, false),
            ]
            .map(|(name, ty, nullable)| SourceColumn::new(name, ty, nullable))
            .into(),
            false => {
                let named = function.schema.iter().zip(&with);
                named
                    .map(|(written, column)| SourceColumn::new(&written.definition.name.text, column.ty, true))
                    .collect()
            }
        };
        rename(&mut columns, &function.columns, &alias)?;
        let registers = self.registers(columns.len());
        let open = OpenJson { json: json.expr, path: path.map(|path| path.expr), columns: with, registers };
        self.add(alias, None, columns, Leaf::Rows(Node::More(Box::new(More::OpenJson(open)))))
    }

    fn open_arguments(&mut self, call: &tree::FunctionCall) -> Result<(Typed, Option<Typed>), Fault> {
        if call.arguments.len() > 2 {
            return Err(Box::new(SqlError::too_many_arguments("OPENJSON")));
        }
        let mark = self.pending.len();
        let mut bound = Vec::with_capacity(2);
        for (argument, position) in call.arguments.iter().zip(1..) {
            let expr = argument.expr().ok_or_else(|| SqlError::incorrect_syntax("DEFAULT"))?;
            let typed = self.expr(expr)?;
            if !typed.ty.is_string() && typed.ty != SqlType::Null {
                return Err(Box::new(SqlError::argument_type_invalid(typed.ty.error_name(), position, "OPENJSON")));
            }
            bound.push(typed);
        }
        if self.pending.len() > mark {
            return Err(Box::new(SqlError::subquery_not_allowed()));
        }
        let mut bound = bound.into_iter();
        let json = bound.next().ok_or_else(|| too_few_arguments("OPENJSON"))?;
        Ok((json, bound.next()))
    }

    fn open_columns(&self, written: &[tree::JsonColumn]) -> Result<Vec<OpenColumn>, Fault> {
        let column = |(column, position): (&tree::JsonColumn, usize)| {
            let tree::ColumnKind::Stored(data_type) = &column.definition.kind else {
                return Err(Box::new(SqlError::incorrect_syntax(&column.definition.name.text)));
            };
            let ty = sql_type(&self.names.catalog.catalog, data_type, TypePlace::Declaration, position)?;
            if column.as_json && ty != SqlType::NVarChar(Length::Max) {
                let text = "AS JSON option can be specified only for column of nvarchar(max) type in WITH clause.";
                return Err(Box::new(SqlError::new(13618, 16, 1, text)));
            }
            let path = match &column.path {
                Some(path) => Path::parse(path)?,
                None => Path::to_key(&column.definition.name.text),
            };
            Ok(OpenColumn { path, ty, as_json: column.as_json })
        };
        written.iter().zip(1..).map(column).collect()
    }
}
