//! EXECUTE and transactions.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    BeginTransaction, BinaryOp, ColumnDefinition, ColumnKind, Commit, Execute, ExecuteArgument, ExecuteAs,
    ExecuteTarget, Expr, ExprKind, Literal, Name, ResultSets, StatementKind, TransactionName,
};

impl Parser<'_> {
    pub(super) fn execute_statement(&mut self) -> Parsed<StatementKind> {
        if self.nth_keyword(1, Keyword::As) {
            return self.execute_as();
        }
        self.execute().map(|call| StatementKind::Execute(Box::new(call)))
    }

    /// `EXEC ...`
    pub(super) fn execute(&mut self) -> Parsed<Execute> {
        self.bump();
        if self.at_symbol(Symbol::Open) {
            return self.execute_text();
        }
        let status = if self.at_variable() && self.nth_symbol(1, Symbol::Equal) {
            let status = self.variable()?;
            self.bump();
            Some(status)
        } else {
            None
        };
        self.call(status)
    }

    /// What is called, and with what.
    pub(super) fn call(&mut self, status: Option<Name>) -> Parsed<Execute> {
        let target = if self.at_variable() {
            ExecuteTarget::Variable(self.variable()?)
        } else {
            let name = self.object_name()?;
            ExecuteTarget::Procedure { name, number: self.procedure_number()? }
        };
        let arguments = if self.at_argument() { self.arguments()? } else { Vec::new() };
        let mut call = Execute { status, target, arguments, recompile: false, result_sets: None };
        self.execute_options(&mut call)?;
        Ok(call)
    }

    /// The `;n` of a group of procedures. A semicolon before anything else ends the statement.
    pub(super) fn procedure_number(&mut self) -> Parsed<Option<i32>> {
        if !(self.at_symbol(Symbol::Semicolon) && self.nth(1).kind == TokenKind::Integer) {
            return Ok(None);
        }
        self.bump();
        let number = self.small_number()?;
        Ok(Some(i32::try_from(number).unwrap_or(i32::MAX)))
    }

    fn at_argument(&self) -> bool {
        match self.peek().kind {
            TokenKind::Variable | TokenKind::Global | TokenKind::Symbol(Symbol::Minus | Symbol::Plus) => true,
            TokenKind::Keyword(Keyword::Default) => true,
            TokenKind::Word | TokenKind::QuotedName { .. } => !self.nth_symbol(1, Symbol::Colon),
            _ => self.at_literal(),
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<ExecuteArgument>> {
        let mut named = false;
        let mut position = 0;
        self.list(|parser| {
            position += 1;
            let line = parser.peek().line;
            let argument = parser.argument()?;
            if named && argument.name.is_none() {
                return Err(SyntaxError::unnamed_argument(line, position));
            }
            named = argument.name.is_some();
            Ok(argument)
        })
    }

    fn argument(&mut self) -> Parsed<ExecuteArgument> {
        let name = if self.at_variable() && self.nth_symbol(1, Symbol::Equal) {
            let name = self.variable()?;
            self.bump();
            Some(name)
        } else {
            None
        };
        if self.eat_keyword(Keyword::Default) {
            return Ok(ExecuteArgument { name, value: None, output: false });
        }
        let token = self.peek();
        let value = match token.kind {
            TokenKind::Global => {
                self.bump();
                let global = Name { text: self.source(token).to_string(), span: self.span_of(token) };
                Expr { span: global.span, kind: ExprKind::Global(global) }
            }
            TokenKind::Word | TokenKind::QuotedName { .. } => {
                let word = self.name()?;
                Expr { span: word.span, kind: ExprKind::Literal(Literal::String { value: word.text, national: false }) }
            }
            _ => self.literal_or_variable()?,
        };
        let output = token.kind == TokenKind::Variable && (self.eat_word("OUTPUT") || self.eat_word("OUT"));
        Ok(ExecuteArgument { name, value: Some(value), output })
    }

    /// `WITH RECOMPILE`, `WITH RESULT SETS ...`
    fn execute_options(&mut self, call: &mut Execute) -> Parsed<()> {
        if !(self.at_keyword(Keyword::With) && (self.nth_word(1, "RECOMPILE") || self.nth_word(1, "RESULT"))) {
            return Ok(());
        }
        self.bump();
        let mut result_sets = None;
        self.list(|parser| {
            if parser.eat_word("RECOMPILE") {
                call.recompile = true;
                return Ok(());
            }
            parser.expect_words(&["RESULT", "SETS"])?;
            result_sets = Some(parser.result_sets()?);
            Ok(())
        })?;
        call.result_sets = result_sets;
        Ok(())
    }

    fn result_sets(&mut self) -> Parsed<ResultSets> {
        if self.eat_word("UNDEFINED") {
            return Ok(ResultSets::Undefined);
        }
        if self.eat_word("NONE") {
            return Ok(ResultSets::None);
        }
        self.parenthesized(Self::result_set).map(ResultSets::Sets)
    }

    fn result_set(&mut self) -> Parsed<Vec<ColumnDefinition>> {
        if self.at_keyword(Keyword::As) {
            return Err(SyntaxError::not_supported(self.peek().line, "WITH RESULT SETS (AS ...)"));
        }
        self.parenthesized(Self::result_column)
    }

    fn result_column(&mut self) -> Parsed<ColumnDefinition> {
        let name = self.name()?;
        let kind = ColumnKind::Stored(self.data_type()?);
        let mut column = super::table::bare_column(name, kind);
        if self.eat_keyword(Keyword::Collate) {
            column.collation = Some(self.name()?);
        }
        column.nullable = self.optional_nullable()?;
        Ok(column)
    }

    /// `EXEC ('text', values) AS USER = 'u' AT server`
    fn execute_text(&mut self) -> Parsed<Execute> {
        self.expect_symbol(Symbol::Open)?;
        let mut text = self.executed_part()?;
        while self.eat_symbol(Symbol::Plus) {
            let part = self.executed_part()?;
            text = self.chained(text, BinaryOp::Add, part)?;
        }
        let parameters = if self.eat_symbol(Symbol::Comma) { self.arguments()? } else { Vec::new() };
        self.expect_symbol(Symbol::Close)?;
        let mut run_as = None;
        if self.eat_keyword(Keyword::As) {
            let kind = self.upper_word()?;
            self.expect_symbol(Symbol::Equal)?;
            run_as = Some((kind, self.literal_or_variable()?));
        }
        let at = if self.eat_word("AT") { Some(self.name()?) } else { None };
        let target = ExecuteTarget::Text { text, parameters, run_as, at };
        let mut call = Execute { status: None, target, arguments: Vec::new(), recompile: false, result_sets: None };
        self.execute_options(&mut call)?;
        Ok(call)
    }

    /// A part of a text that is executed: a text as written, a variable or one of the system's, and nothing that would have to be computed.
    fn executed_part(&mut self) -> Parsed<Expr> {
        match self.peek().kind {
            TokenKind::Text { .. } => self.literal(),
            TokenKind::Variable => self.literal_or_variable(),
            TokenKind::Global => Ok(self.global()),
            _ => Err(self.unexpected()),
        }
    }

    fn execute_as(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.bump();
        let kind = self.upper_word()?;
        let name = if self.eat_symbol(Symbol::Equal) { Some(self.literal_or_variable()?) } else { None };
        if self.at_keyword(Keyword::With) && self.nth_word(1, "COOKIE") {
            return Err(SyntaxError::not_supported(self.peek().line, "EXECUTE AS ... WITH COOKIE"));
        }
        let no_revert = self.eat_words(&["WITH", "NO", "REVERT"]);
        Ok(StatementKind::ExecuteAs(Box::new(ExecuteAs { kind, name, no_revert })))
    }

    /// TRAN or TRANSACTION, if it comes next.
    fn eat_transaction(&mut self) -> bool {
        self.eat_keyword(Keyword::Tran) || self.eat_keyword(Keyword::Transaction)
    }

    fn optional_transaction_name(&mut self) -> Parsed<Option<TransactionName>> {
        if self.at_variable() {
            return self.variable().map(TransactionName::Variable).map(Some);
        }
        if self.at_alias() {
            return self.name().map(TransactionName::Name).map(Some);
        }
        Ok(None)
    }

    pub(super) fn begin_transaction(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let distributed = self.eat_keyword(Keyword::Distributed);
        if !self.eat_transaction() {
            return Err(self.unexpected());
        }
        let name = self.optional_transaction_name()?;
        let mut mark = None;
        if self.eat_words(&["WITH", "MARK"]) {
            mark = Some(if self.at_text() || self.at_variable() { Some(self.literal_or_variable()?) } else { None });
        }
        Ok(StatementKind::BeginTransaction(BeginTransaction { distributed, name, mark }))
    }

    pub(super) fn commit(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let name = if self.eat_transaction() {
            self.optional_transaction_name()?
        } else {
            self.eat_word("WORK");
            None
        };
        let mut delayed_durability = None;
        if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
            self.bump();
            self.bump();
            self.expect_word("DELAYED_DURABILITY")?;
            self.expect_symbol(Symbol::Equal)?;
            delayed_durability = Some(self.on_off()?);
            self.expect_symbol(Symbol::Close)?;
        }
        Ok(StatementKind::Commit(Commit { name, delayed_durability }))
    }

    pub(super) fn rollback(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let name = if self.eat_transaction() {
            self.optional_transaction_name()?
        } else {
            self.eat_word("WORK");
            None
        };
        Ok(StatementKind::Rollback(name))
    }

    pub(super) fn save_transaction(&mut self) -> Parsed<StatementKind> {
        self.bump();
        if !self.eat_transaction() {
            return Err(self.unexpected());
        }
        match self.optional_transaction_name()? {
            Some(name) => Ok(StatementKind::SaveTransaction(name)),
            None => Err(self.unexpected()),
        }
    }
}
