//! Cursors.

use std::sync::Arc;

use super::compile::Compiler;
use super::{CursorKind, CursorOperation, FetchTo, Instruction, Parameter, Variable};
use crate::expression::Fault;
use pikepole_tsql::{self as tree, Statement, StatementKind};
use pikepole_types::{Collation, SqlError, SqlType};

impl Compiler<'_> {
    pub(super) fn cursor(&mut self, statement: &Statement) -> Result<(), Fault> {
        let operation = match &statement.kind {
            StatementKind::DeclareCursor(cursor) => {
                let local = cursor.definition.properties.iter().any(|property| property == "LOCAL");
                let name = cursor.name.text.as_str().into();
                declaration(statement, &cursor.definition, name, local, false)?
            }
            StatementKind::OpenCursor(name) => CursorOperation::Open(name.clone()),
            StatementKind::CloseCursor(name) => CursorOperation::Close(name.clone()),
            StatementKind::DeallocateCursor(name) => CursorOperation::Deallocate(name.clone()),
            StatementKind::Fetch(fetch) => {
                let mut into = Vec::with_capacity(fetch.into.len());
                for variable in &fetch.into {
                    into.push(self.variable(variable)?);
                }
                let direction = self.fetch_direction(&fetch.direction)?;
                CursorOperation::Fetch { cursor: fetch.cursor.clone(), direction, into }
            }
            _ => return Err(crate::errors::unsupported("This statement")),
        };
        self.emit(Instruction::Cursor(Box::new(operation)));
        Ok(())
    }

    fn fetch_direction(&self, direction: &tree::FetchDirection) -> Result<FetchTo, Fault> {
        let count = |expr: &tree::Expr| {
            let typed = self.bind_expr(expr)?;
            crate::bind::assign_to(typed, &SqlType::BigInt, Collation::default(), None)
        };
        Ok(match direction {
            tree::FetchDirection::Next => FetchTo::Next,
            tree::FetchDirection::Prior => FetchTo::Prior,
            tree::FetchDirection::First => FetchTo::First,
            tree::FetchDirection::Last => FetchTo::Last,
            tree::FetchDirection::Absolute(place) => FetchTo::Absolute(count(place)?),
            tree::FetchDirection::Relative(step) => FetchTo::Relative(count(step)?),
        })
    }

    /// `@c CURSOR VARYING OUTPUT`: a cursor variable, whose cursor is the caller's when the call has ended.
    pub(super) fn cursor_parameter(&mut self, parameter: &tree::Parameter) -> Result<Parameter, Fault> {
        let is_cursor = parameter.data_type.name.is("cursor");
        if !(is_cursor && parameter.varying && parameter.output) || parameter.default.is_some() {
            return Err(Box::new(SqlError::cursor_parameter_not_varying_output()));
        }
        self.cursors.push(parameter.name.clone());
        // Parameters and variables have the same numbers.
        self.variables.push(Variable::new("", SqlType::Int));
        let (name, ty) = (parameter.name.text.clone(), SqlType::Int);
        Ok(Parameter { name, ty, default: None, output: true, cursor: true, table: None })
    }

    /// Whether a variable is one for cursors.
    pub(super) fn is_cursor(&self, variable: &tree::Name) -> bool {
        self.cursors.iter().any(|cursor| variable.is(&cursor.text))
    }

    /// `SET @c = @other` or `SET @c = name`: the variable stands for the same cursor.
    pub(super) fn share_cursor(&mut self, variable: &tree::Name, value: &tree::Expr) -> Result<(), Fault> {
        let of = match &value.kind {
            tree::ExprKind::Variable(other) if self.is_cursor(other) => other,
            tree::ExprKind::Variable(other) => {
                let ty = self.variable(other)?.1;
                return Err(Box::new(SqlError::operand_type_clash(ty.error_name(), "cursor")));
            }
            tree::ExprKind::Column(column) if column.qualifier.is_none() => &column.name,
            _ => return Err(Box::new(SqlError::variable_not_declared(&variable.text))),
        };
        let (variable, of) = (variable.text.as_str().into(), tree::CursorName { name: of.clone(), global: false });
        self.emit(Instruction::Cursor(Box::new(CursorOperation::Share { variable, of })));
        Ok(())
    }

    /// `SET @c = CURSOR ... FOR ...`
    pub(super) fn set_cursor(
        &mut self,
        statement: &Statement,
        variable: &tree::Name,
        definition: &tree::CursorDefinition,
    ) -> Result<(), Fault> {
        if !self.is_cursor(variable) {
            return Err(Box::new(SqlError::variable_not_declared(&variable.text)));
        }
        let operation = declaration(statement, definition, variable.text.as_str().into(), true, true)?;
        self.emit(Instruction::Cursor(Box::new(operation)));
        Ok(())
    }
}

/// A cursor's rows are found when it is opened, those of a DYNAMIC one too. One that promises locks is refused by name.
fn declaration(
    statement: &Statement,
    definition: &tree::CursorDefinition,
    name: Arc<str>,
    local: bool,
    replaces: bool,
) -> Result<CursorOperation, Fault> {
    let has = |word: &str| definition.properties.iter().any(|property| property == word);
    if has("SCROLL_LOCKS") {
        return Err(crate::errors::unsupported("A cursor with SCROLL_LOCKS"));
    }
    let forward = has("FORWARD_ONLY") || has("FAST_FORWARD");
    let scroll = has("SCROLL") || (!forward && (has("STATIC") || has("KEYSET") || has("DYNAMIC")));
    let fixed = ["STATIC", "INSENSITIVE", "FAST_FORWARD", "READ_ONLY"].iter().any(|word| has(word));
    let kind = match () {
        () if has("KEYSET") => CursorKind::Keyset,
        () if has("DYNAMIC") => CursorKind::Dynamic,
        () if has("STATIC") || has("INSENSITIVE") || has("FAST_FORWARD") => CursorKind::Static,
        () => CursorKind::Unsaid,
    };
    let columns = definition.update.iter().flatten().map(|column| column.text.clone());
    let updates = (!fixed && !definition.read_only).then(|| columns.collect());
    let query = StatementKind::Select(Box::new(definition.query.clone()));
    let query = Arc::new(Statement { kind: query, span: statement.span });
    Ok(CursorOperation::Declare { name, local, scroll, replaces, updates, locks: false, kind, query })
}
