//! INSERT, UPDATE, DELETE, TRUNCATE, BULK INSERT.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    Assignment, BulkInsert, ChangedRows, ColumnRef, Delete, Insert, InsertSource, InsertValue, ObjectName,
    OutputClause, OutputInto, RowFilter, StatementKind, Target, Top, Update, With,
};

impl Parser<'_> {
    /// INSERT, UPDATE, DELETE or MERGE behind the tables of a WITH.
    pub(super) fn modification(&mut self, with: With) -> Parsed<StatementKind> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Insert) => self.insert(with),
            TokenKind::Keyword(Keyword::Update) if with.is_empty() && self.nth_keyword(1, Keyword::Statistics) => {
                self.update_statistics()
            }
            TokenKind::Keyword(Keyword::Update) => self.update(with),
            TokenKind::Keyword(Keyword::Delete) => self.delete(with),
            _ => self.merge(with),
        }
    }

    /// What is changed, with hints behind it.
    pub(super) fn target(&mut self) -> Parsed<Target> {
        if self.at_variable() {
            return self.variable().map(Target::Variable);
        }
        if let TokenKind::Keyword(Keyword::OpenQuery | Keyword::OpenRowset | Keyword::OpenDatasource) = self.peek().kind
        {
            let name = ObjectName::of(self.any_word()?);
            return self.call_arguments(name).map(Target::Function);
        }
        let name = self.object_name()?;
        let hints = if self.at_keyword(Keyword::With) { self.optional_hints()? } else { Vec::new() };
        Ok(Target::Table { name, hints })
    }

    /// TOP of a statement that changes rows, whose count is in parentheses.
    pub(super) fn changed_top(&mut self) -> Parsed<Option<Top>> {
        if self.at_keyword(Keyword::Top) && !self.nth_symbol(1, Symbol::Open) {
            self.bump();
            return Err(self.unexpected());
        }
        self.optional_top()
    }

    fn insert(&mut self, with: With) -> Parsed<StatementKind> {
        self.bump();
        let top = self.changed_top()?;
        self.eat_keyword(Keyword::Into);
        let target = self.target()?;
        let columns = if self.at_symbol(Symbol::Open) && !self.at_query_in_parentheses() {
            self.parenthesized(Self::insert_column)?
        } else {
            Vec::new()
        };
        let output = self.optional_output()?;
        if self.at_changed_rows() {
            if top.is_some() || output.is_some() {
                return Err(SyntaxError::not_supported(self.peek().line, "TOP or OUTPUT of such an INSERT"));
            }
            return self.insert_changed(with, target, columns);
        }
        let source = self.insert_source()?;
        let options = self.query_options()?;
        Ok(StatementKind::Insert(Box::new(Insert { with, top, target, columns, output, source, options })))
    }

    /// Whether a SELECT comes next whose FROM begins with a changing statement in parentheses.
    fn at_changed_rows(&self) -> bool {
        if !self.at_keyword(Keyword::Select) {
            return false;
        }
        let mut depth = 0;
        let is_changing = |ahead| {
            [Keyword::Insert, Keyword::Update, Keyword::Delete, Keyword::Merge]
                .into_iter()
                .any(|keyword| self.nth_keyword(ahead, keyword))
        };
        for ahead in 1.. {
            match self.nth(ahead).kind {
                TokenKind::Symbol(Symbol::Open) => depth += 1,
                TokenKind::Symbol(Symbol::Close) if depth > 0 => depth -= 1,
                TokenKind::Keyword(Keyword::From) if depth == 0 => {
                    return self.nth_symbol(ahead + 1, Symbol::Open) && is_changing(ahead + 2);
                }
                TokenKind::Symbol(Symbol::Close | Symbol::Semicolon) | TokenKind::End | TokenKind::Bad => return false,
                _ => {}
            }
        }
        false
    }

    /// INSERT of the rows that a changing statement in FROM gives: that statement, with its OUTPUT on the way into the target.
    ///
    /// # Errors
    /// 10716 to 10722 for what neither of the two may have.
    fn insert_changed(&mut self, with: With, target: Target, columns: Vec<crate::tree::Name>) -> Parsed<StatementKind> {
        let select = self.bump();
        if self.at_keyword(Keyword::Distinct) {
            return Err(SyntaxError::beside_changed_rows(10722, select.line, "The DISTINCT keyword"));
        }
        if self.at_keyword(Keyword::Top) {
            return Err(SyntaxError::beside_changed_rows(10717, select.line, "The TOP or OFFSET clause"));
        }
        let items = self.list(Self::select_item)?;
        self.expect_keyword(Keyword::From)?;
        self.expect_symbol(Symbol::Open)?;
        let first = self.peek();
        let mut statement = self.nested(|parser| parser.modification(with))?;
        self.expect_symbol(Symbol::Close)?;
        self.eat_keyword(Keyword::As);
        let alias = self.name()?;
        let names = self.optional_name_list()?;
        let filter = if self.eat_keyword(Keyword::Where) { Some(self.condition()?) } else { None };
        let after = [
            (Keyword::Group, "The GROUP BY clause"),
            (Keyword::Having, "The HAVING clause"),
            (Keyword::Order, "The ORDER BY clause"),
        ];
        if let Some((_, clause)) = after.into_iter().find(|(keyword, _)| self.at_keyword(*keyword)) {
            return Err(SyntaxError::beside_changed_rows(10717, self.peek().line, clause));
        }
        let output = match &mut statement {
            StatementKind::Insert(insert) => &mut insert.output,
            StatementKind::Update(update) => &mut update.output,
            StatementKind::Delete(delete) => &mut delete.output,
            StatementKind::Merge(merge) => &mut merge.output,
            _ => return Err(self.unexpected()),
        };
        let Some(output) = output else { return Err(SyntaxError::changed_rows_not_output(first.line)) };
        if output.into.is_some() {
            return Err(SyntaxError::changed_rows_output_into(first.line));
        }
        output.into_items = std::mem::take(&mut output.items);
        let through = Some(Box::new(ChangedRows { items, alias, columns: names, filter }));
        output.into = Some(OutputInto { target, columns, through });
        Ok(statement)
    }

    /// A column of INSERT; a table's name before it says nothing.
    fn insert_column(&mut self) -> Parsed<crate::tree::Name> {
        self.column_ref().map(|column| column.name)
    }

    fn at_query_in_parentheses(&self) -> bool {
        let behind = (1..).find(|ahead| !self.nth_symbol(*ahead, Symbol::Open)).unwrap_or(1);
        self.nth_keyword(behind, Keyword::Select)
    }

    fn insert_source(&mut self) -> Parsed<InsertSource> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Values) => {
                self.bump();
                self.list(|parser| parser.parenthesized(Self::insert_value)).map(InsertSource::Values)
            }
            TokenKind::Keyword(Keyword::Default) => {
                self.bump();
                self.expect_keyword(Keyword::Values)?;
                Ok(InsertSource::DefaultValues)
            }
            TokenKind::Keyword(Keyword::Exec | Keyword::Execute) => {
                self.execute().map(|call| InsertSource::Execute(Box::new(call)))
            }
            TokenKind::Keyword(Keyword::Select) | TokenKind::Symbol(Symbol::Open) => {
                self.query_statement(With::default()).map(|query| InsertSource::Query(Box::new(query)))
            }
            _ => Err(self.unexpected()),
        }
    }

    /// An expression or DEFAULT.
    pub(super) fn insert_value(&mut self) -> Parsed<InsertValue> {
        if self.eat_keyword(Keyword::Default) {
            return Ok(InsertValue::Default);
        }
        self.expression().map(InsertValue::Expr)
    }

    /// `OUTPUT ...`, if it comes next.
    pub(super) fn optional_output(&mut self) -> Parsed<Option<OutputClause>> {
        if !self.eat_word("OUTPUT") {
            return Ok(None);
        }
        let items = self.list(Self::select_item)?;
        if !self.eat_keyword(Keyword::Into) {
            return Ok(Some(OutputClause { into_items: Vec::new(), into: None, items }));
        }
        let target = if self.at_variable() {
            Target::Variable(self.variable()?)
        } else {
            Target::Table { name: self.object_name()?, hints: Vec::new() }
        };
        let columns = if self.at_query_in_parentheses() { Vec::new() } else { self.optional_name_list()? };
        let into = Some(OutputInto { target, columns, through: None });
        let sent = if self.eat_word("OUTPUT") { self.list(Self::select_item)? } else { Vec::new() };
        Ok(Some(OutputClause { into_items: items, into, items: sent }))
    }

    fn update(&mut self, with: With) -> Parsed<StatementKind> {
        self.bump();
        let top = self.changed_top()?;
        let target = self.target()?;
        self.expect_keyword(Keyword::Set)?;
        let assignments = self.list(Self::assignment)?;
        let output = self.optional_output()?;
        let from = self.optional_from()?;
        let filter = self.row_filter()?;
        let options = self.query_options()?;
        Ok(StatementKind::Update(Box::new(Update { with, top, target, assignments, output, from, filter, options })))
    }

    /// One assignment of SET.
    pub(super) fn assignment(&mut self) -> Parsed<Assignment> {
        if self.at_variable() {
            return self.variable_assignment();
        }
        let column = self.column_ref()?;
        if self.at_symbol(Symbol::Open) {
            return self.method(column);
        }
        let op = self.assign_op()?;
        Ok(Assignment::Column { column, op, value: self.insert_value()? })
    }

    fn variable_assignment(&mut self) -> Parsed<Assignment> {
        let variable = self.variable()?;
        if self.at_symbol(Symbol::Equal) && self.at_column_assignment() {
            self.bump();
            let column = self.column_ref()?;
            let op = self.assign_op()?;
            return Ok(Assignment::Both { variable, column, op, value: self.expression()? });
        }
        let op = self.assign_op()?;
        Ok(Assignment::Variable { variable, op, value: self.expression()? })
    }

    /// Whether `= column =` comes next, with any assignment operator in the second place.
    fn at_column_assignment(&self) -> bool {
        let mut behind = 1;
        while self.nth_name(behind) && self.nth_symbol(behind + 1, Symbol::Dot) {
            behind += 2;
        }
        self.nth_name(behind) && self.nth_assign_op(behind + 1).is_some()
    }

    /// `column.WRITE(...)`: the last part of the name is the method.
    fn method(&mut self, column: ColumnRef) -> Parsed<Assignment> {
        let Some(qualifier) = column.qualifier else { return Err(self.unexpected()) };
        let ObjectName { server, database, schema, name } = *qualifier;
        let method = column.name;
        let column = super::expression::column_of(ObjectName { server, database, schema, name });
        let arguments = self.method_arguments()?;
        Ok(Assignment::Method { column, method, arguments })
    }

    fn row_filter(&mut self) -> Parsed<Option<RowFilter>> {
        if !self.eat_keyword(Keyword::Where) {
            return Ok(None);
        }
        if self.eat_words(&["CURRENT", "OF"]) {
            return self.cursor_name().map(RowFilter::CurrentOf).map(Some);
        }
        self.condition().map(RowFilter::Condition).map(Some)
    }

    fn delete(&mut self, with: With) -> Parsed<StatementKind> {
        self.bump();
        let top = self.changed_top()?;
        self.eat_keyword(Keyword::From);
        let target = self.target()?;
        let output = self.optional_output()?;
        let from = self.optional_from()?;
        let filter = self.row_filter()?;
        let options = self.query_options()?;
        Ok(StatementKind::Delete(Box::new(Delete { with, top, target, output, from, filter, options })))
    }

    pub(super) fn truncate(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.expect_keyword(Keyword::Table)?;
        let name = self.object_name()?;
        if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
            return Err(SyntaxError::not_supported(self.peek().line, "TRUNCATE TABLE ... WITH (PARTITIONS)"));
        }
        Ok(StatementKind::Truncate(name))
    }

    pub(super) fn bulk_insert(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.expect_keyword(Keyword::Insert)?;
        let table = self.object_name()?;
        self.expect_keyword(Keyword::From)?;
        let file = self.text()?;
        let (mut options, mut order) = (Vec::new(), Vec::new());
        if self.eat_keyword(Keyword::With) {
            self.parenthesized(|parser| {
                if parser.eat_keyword(Keyword::Order) {
                    order = parser.index_columns()?;
                } else {
                    options.push(parser.setting_option()?);
                }
                Ok(())
            })?;
        }
        Ok(StatementKind::BulkInsert(Box::new(BulkInsert { table, file, options, order })))
    }
}
