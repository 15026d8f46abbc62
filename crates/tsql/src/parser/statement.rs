//! Statements: which one it is, and the flow of control.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{Expr, If, RaiseError, Statement, StatementKind, Throw, TryCatch, WaitFor, While, With};

impl Parser<'_> {
    /// All statements of a batch.
    pub(super) fn batch_statements(&mut self) -> Parsed<Vec<Statement>> {
        let statements = self.statements_until(|parser| parser.peek().kind == TokenKind::End)?;
        self.check_labels()?;
        Ok(statements)
    }

    /// Statements up to a token that ends them. Semicolons between them are free, but a statement that begins with WITH, and
    /// THROW, need one before them, for the statement before could go on with these words.
    pub(super) fn statements_until(&mut self, ends: impl Fn(&Self) -> bool) -> Parsed<Vec<Statement>> {
        let mut statements = Vec::new();
        let mut separated = true;
        loop {
            separated |= self.eat_semicolons();
            if ends(self) {
                return Ok(statements);
            }
            if !separated && (self.at_keyword(Keyword::With) || self.at_word("THROW")) {
                return Err(self.unexpected());
            }
            statements.push(self.statement()?);
            separated = false;
        }
    }

    pub(super) fn eat_semicolons(&mut self) -> bool {
        let found = self.at_symbol(Symbol::Semicolon);
        while self.eat_symbol(Symbol::Semicolon) {}
        found
    }

    /// One statement, without a semicolon behind it.
    pub(super) fn statement(&mut self) -> Parsed<Statement> {
        self.nested(|parser| {
            let (at, first) = (parser.at, parser.peek());
            // Of these the first words would be the name of a database or a cursor.
            let names_by_words = matches!(
                first.kind,
                TokenKind::Keyword(Keyword::Open | Keyword::Close | Keyword::Backup | Keyword::Restore)
            ) || parser.nth_keyword(1, Keyword::Database);
            if names_by_words && let Some(error) = parser.refused(at) {
                return Err(error);
            }
            let kind = match first.kind {
                TokenKind::Keyword(keyword) => parser.keyword_statement(keyword),
                TokenKind::Word | TokenKind::QuotedName { .. } => parser.word_statement(),
                TokenKind::Symbol(Symbol::Open) => parser.select_statement(),
                _ => return Err(parser.unexpected()),
            };
            let kind = kind.map_err(|error| parser.refused(at).unwrap_or(error))?;
            parser.first_statement = false;
            Ok(Statement { kind, span: parser.span_from(first) })
        })
    }

    fn keyword_statement(&mut self, keyword: Keyword) -> Parsed<StatementKind> {
        if !matches!(keyword, Keyword::Create | Keyword::Alter) {
            self.first_statement = false;
        }
        match keyword {
            Keyword::Begin => self.begin(),
            Keyword::If => self.if_statement(),
            Keyword::While => self.while_statement(),
            Keyword::Break | Keyword::Continue => self.loop_statement(keyword),
            Keyword::Return => self.return_statement(),
            Keyword::Print => {
                self.bump();
                self.expression().map(StatementKind::Print)
            }
            Keyword::Raiserror => self.raise_error(),
            Keyword::Goto => self.goto(),
            Keyword::Waitfor => self.wait_for(),
            Keyword::Declare => self.declare(),
            Keyword::Set => self.set(),
            Keyword::Open | Keyword::Close | Keyword::Deallocate | Keyword::Fetch => self.cursor_statement(keyword),
            Keyword::Commit => self.commit(),
            Keyword::Rollback => self.rollback(),
            Keyword::Save => self.save_transaction(),
            Keyword::Exec | Keyword::Execute => self.execute_statement(),
            Keyword::Revert => {
                self.bump();
                if self.at_keyword(Keyword::With) && self.nth_word(1, "COOKIE") {
                    return Err(SyntaxError::not_supported(self.peek().line, "REVERT WITH COOKIE"));
                }
                Ok(StatementKind::Revert)
            }
            Keyword::Select => self.select_statement(),
            Keyword::With => self.with_statement(),
            Keyword::Insert | Keyword::Update | Keyword::Delete | Keyword::Merge => self.modification(With::default()),
            Keyword::Truncate => self.truncate(),
            Keyword::Bulk => self.bulk_insert(),
            Keyword::Create => self.create(),
            Keyword::Alter => self.alter(),
            Keyword::Drop => self.drop_statement(),
            _ => self.administration(keyword),
        }
    }

    /// Statements that begin with a word that is not reserved.
    fn word_statement(&mut self) -> Parsed<StatementKind> {
        if self.nth_symbol(1, Symbol::Colon) {
            return self.label();
        }
        if self.at_word("THROW") {
            return self.throw();
        }
        if self.nth_keyword(1, Keyword::Trigger) && (self.at_word("ENABLE") || self.at_word("DISABLE")) {
            return self.set_trigger();
        }
        // As the first words of a batch they would be a procedure's call.
        if let Some(error) = self.refused(self.at) {
            return Err(error);
        }
        if self.first_statement {
            return self.call(None).map(|call| StatementKind::Execute(Box::new(call)));
        }
        Err(self.unexpected())
    }

    fn select_statement(&mut self) -> Parsed<StatementKind> {
        self.select_rest(With::default())
    }

    fn with_statement(&mut self) -> Parsed<StatementKind> {
        let with = self.optional_with()?;
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Insert | Keyword::Update | Keyword::Delete | Keyword::Merge) => {
                self.modification(with)
            }
            _ => self.select_rest(with),
        }
    }

    fn select_rest(&mut self, with: With) -> Parsed<StatementKind> {
        self.orders_parts = false;
        let query = self.query_statement(with)?;
        self.orders_parts = true;
        self.check_no_cursor_clause()?;
        Ok(StatementKind::Select(Box::new(query)))
    }

    fn begin(&mut self) -> Parsed<StatementKind> {
        if self.nth_word(1, "TRY") {
            return self.try_catch();
        }
        if self.nth_word(1, "CATCH") {
            // It stands behind END TRY alone.
            let begin = self.peek();
            return Err(SyntaxError::near(begin.line, &self.plain(begin)));
        }
        if matches!(self.nth(1).kind, TokenKind::Keyword(Keyword::Tran | Keyword::Transaction | Keyword::Distributed)) {
            return self.begin_transaction();
        }
        self.bump();
        let statements = self.statements_until(|parser| parser.at_keyword(Keyword::End))?;
        self.check_not_empty(&statements)?;
        self.bump();
        Ok(StatementKind::Block(statements))
    }

    /// A block has statements; its END is told as a plain word where there are none.
    fn check_not_empty(&self, statements: &[Statement]) -> Parsed<()> {
        if !statements.is_empty() {
            return Ok(());
        }
        let end = self.peek();
        Err(SyntaxError::near(end.line, &self.plain(end)))
    }

    fn try_catch(&mut self) -> Parsed<StatementKind> {
        let body = self.guarded_block("TRY")?;
        self.eat_semicolons();
        if !(self.at_keyword(Keyword::Begin) && self.nth_word(1, "CATCH")) {
            return Err(self.unexpected());
        }
        let handler = self.guarded_block("CATCH")?;
        Ok(StatementKind::TryCatch(Box::new(TryCatch { body, handler })))
    }

    /// `BEGIN word ... END word`
    fn guarded_block(&mut self, word: &str) -> Parsed<Vec<Statement>> {
        self.bump();
        self.bump();
        let statements = self.statements_until(|parser| parser.at_keyword(Keyword::End))?;
        if word == "TRY" {
            self.check_not_empty(&statements)?;
        }
        self.bump();
        self.expect_word(word)?;
        Ok(statements)
    }

    fn if_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let condition = self.condition()?;
        let then = self.statement()?;
        // A semicolon may stand before ELSE.
        let semicolon = self.at_symbol(Symbol::Semicolon) && self.nth_keyword(1, Keyword::Else);
        if semicolon {
            self.bump();
        }
        let otherwise = if self.eat_keyword(Keyword::Else) { Some(self.statement()?) } else { None };
        Ok(StatementKind::If(Box::new(If { condition, then, otherwise })))
    }

    fn while_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let condition = self.condition()?;
        self.loops += 1;
        let body = self.statement()?;
        self.loops -= 1;
        Ok(StatementKind::While(Box::new(While { condition, body })))
    }

    fn loop_statement(&mut self, keyword: Keyword) -> Parsed<StatementKind> {
        let token = self.bump();
        let (number, word, kind) = match keyword {
            Keyword::Break => (135, "BREAK", StatementKind::Break),
            _ => (136, "CONTINUE", StatementKind::Continue),
        };
        if self.loops == 0 {
            return Err(SyntaxError::outside_while(number, token.line, word));
        }
        Ok(kind)
    }

    fn return_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let value = if self.at_expression() { Some(self.expression()?) } else { None };
        Ok(StatementKind::Return(value))
    }

    /// Whether the next token can only begin an expression, not a statement.
    fn at_expression(&self) -> bool {
        match self.peek().kind {
            TokenKind::Word => !self.nth_symbol(1, Symbol::Colon) && !self.at_word("THROW"),
            TokenKind::QuotedName { .. } => !self.nth_symbol(1, Symbol::Colon),
            TokenKind::Variable | TokenKind::Global => true,
            TokenKind::Symbol(Symbol::Open | Symbol::Minus | Symbol::Plus | Symbol::Tilde) => true,
            TokenKind::Keyword(keyword) => matches!(
                keyword,
                Keyword::Case
                    | Keyword::Coalesce
                    | Keyword::Convert
                    | Keyword::CurrentDate
                    | Keyword::CurrentTimestamp
                    | Keyword::CurrentUser
                    | Keyword::Left
                    | Keyword::Null
                    | Keyword::Nullif
                    | Keyword::Right
                    | Keyword::SessionUser
                    | Keyword::SystemUser
                    | Keyword::TryConvert
                    | Keyword::User
            ),
            _ => self.at_literal(),
        }
    }

    fn throw(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let is_signed = self.at_symbol(Symbol::Minus) || self.at_symbol(Symbol::Plus);
        if !(self.at_literal() || self.at_variable() || is_signed) {
            return Ok(StatementKind::Throw(None));
        }
        let number = self.whole_number_or_variable()?;
        self.expect_symbol(Symbol::Comma)?;
        let message = match self.peek().kind {
            TokenKind::Text { .. } | TokenKind::Variable => self.literal_or_variable()?,
            _ => return Err(self.unexpected()),
        };
        self.expect_symbol(Symbol::Comma)?;
        let state = self.whole_number_or_variable()?;
        Ok(StatementKind::Throw(Some(Box::new(Throw { number, message, state }))))
    }

    fn raise_error(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.expect_symbol(Symbol::Open)?;
        let message = match self.peek().kind {
            TokenKind::Text { .. } => self.literal()?,
            _ => self.whole_number_or_variable()?,
        };
        self.expect_symbol(Symbol::Comma)?;
        let severity = self.whole_number_or_variable()?;
        self.expect_symbol(Symbol::Comma)?;
        let state = self.whole_number_or_variable()?;
        let mut error =
            RaiseError { message, severity, state, arguments: Vec::new(), log: false, nowait: false, seterror: false };
        while self.eat_symbol(Symbol::Comma) {
            let argument = self.raise_argument()?;
            error.arguments.push(argument);
        }
        self.expect_symbol(Symbol::Close)?;
        if self.at_keyword(Keyword::With) {
            self.bump();
            self.list(|parser| {
                match parser.upper_word()?.as_str() {
                    "LOG" => error.log = true,
                    "NOWAIT" => error.nowait = true,
                    "SETERROR" => error.seterror = true,
                    _ => {
                        parser.at -= 1;
                        return Err(parser.unexpected());
                    }
                }
                Ok(())
            })?;
        }
        Ok(StatementKind::RaiseError(Box::new(error)))
    }

    fn raise_argument(&mut self) -> Parsed<Expr> {
        match self.peek().kind {
            TokenKind::Global => self.expression(),
            _ => self.literal_or_variable(),
        }
    }

    fn goto(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let label = self.name()?;
        self.gotos.push(label.clone());
        Ok(StatementKind::Goto(label))
    }

    fn label(&mut self) -> Parsed<StatementKind> {
        let label = self.name()?;
        self.expect_symbol(Symbol::Colon)?;
        self.labels.push(label.clone());
        Ok(StatementKind::Label(label))
    }

    /// Every label is there once, and every GOTO has its label. A module fills its batch, so a batch is one scope.
    fn check_labels(&self) -> Parsed<()> {
        if self.labels.is_empty() && self.gotos.is_empty() {
            return Ok(());
        }
        let mut known = std::collections::HashSet::new();
        for label in &self.labels {
            if !known.insert(label.text.to_lowercase()) {
                return Err(SyntaxError::label_twice(label.span.line, &label.text));
            }
        }
        match self.gotos.iter().find(|goto| !known.contains(&goto.text.to_lowercase())) {
            Some(goto) => Err(SyntaxError::label_missing(goto.span.line, &goto.text)),
            None => Ok(()),
        }
    }

    fn wait_for(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let delay = self.at_word("DELAY");
        if self.at_symbol(Symbol::Open) && (self.nth_word(1, "RECEIVE") || self.nth_word(1, "GET")) {
            return Err(SyntaxError::not_supported(self.peek().line, "WAITFOR of a queue"));
        }
        if !delay && !self.at_word("TIME") {
            return Err(self.unexpected());
        }
        self.bump();
        let value = match self.peek().kind {
            TokenKind::Text { .. } | TokenKind::Variable => self.literal_or_variable()?,
            _ => return Err(self.unexpected()),
        };
        Ok(StatementKind::WaitFor(if delay { WaitFor::Delay(value) } else { WaitFor::Time(value) }))
    }
}
