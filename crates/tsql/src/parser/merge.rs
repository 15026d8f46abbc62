//! MERGE.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{Merge, MergeAction, MergeClause, MergeWhen, StatementKind, With};

impl Parser<'_> {
    pub(super) fn merge(&mut self, with: With) -> Parsed<StatementKind> {
        self.expect_keyword(Keyword::Merge)?;
        let top = self.changed_top()?;
        self.eat_keyword(Keyword::Into);
        let target = self.target()?;
        let alias = if self.eat_keyword(Keyword::As) || (self.at_name() && !self.at_word("USING")) {
            Some(self.name()?)
        } else {
            None
        };
        self.expect_word("USING")?;
        let source = self.table_source()?;
        self.expect_keyword(Keyword::On)?;
        let on = self.condition()?;
        let mut clauses = Vec::new();
        while self.at_keyword(Keyword::When) {
            clauses.push(self.merge_clause()?);
        }
        if clauses.is_empty() {
            return Err(self.unexpected());
        }
        let output = self.optional_output()?;
        let options = self.query_options()?;
        // In parentheses it gives rows to an INSERT.
        if !self.at_symbol(Symbol::Semicolon) && !self.at_symbol(Symbol::Close) {
            return Err(self.merge_unterminated());
        }
        Ok(StatementKind::Merge(Box::new(Merge { with, top, target, alias, source, on, clauses, output, options })))
    }

    fn merge_unterminated(&self) -> Box<SyntaxError> {
        let token = match self.peek().kind {
            TokenKind::Bad => return self.unexpected(),
            TokenKind::End => self.tokens[self.at - 1],
            _ => self.peek(),
        };
        SyntaxError::merge_unterminated(token.line)
    }

    fn merge_clause(&mut self) -> Parsed<MergeClause> {
        self.bump();
        let when = if self.eat_keyword(Keyword::Not) {
            self.expect_word("MATCHED")?;
            if self.eat_words(&["BY", "SOURCE"]) {
                MergeWhen::NotMatchedBySource
            } else {
                if self.at_keyword(Keyword::By) {
                    self.expect_words(&["BY", "TARGET"])?;
                }
                MergeWhen::NotMatchedByTarget
            }
        } else {
            self.expect_word("MATCHED")?;
            MergeWhen::Matched
        };
        let condition = if self.eat_keyword(Keyword::And) { Some(self.condition()?) } else { None };
        self.expect_keyword(Keyword::Then)?;
        let action = self.merge_action(when)?;
        Ok(MergeClause { when, condition, action })
    }

    fn merge_action(&mut self, when: MergeWhen) -> Parsed<MergeAction> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Insert) if when == MergeWhen::NotMatchedByTarget => {
                self.bump();
                let columns = self.optional_name_list()?;
                if self.eat_keyword(Keyword::Default) {
                    self.expect_keyword(Keyword::Values)?;
                    return Ok(MergeAction::Insert { columns, values: Vec::new() });
                }
                self.expect_keyword(Keyword::Values)?;
                let values = self.parenthesized(Self::insert_value)?;
                Ok(MergeAction::Insert { columns, values })
            }
            TokenKind::Keyword(Keyword::Update) if when != MergeWhen::NotMatchedByTarget => {
                self.bump();
                self.expect_keyword(Keyword::Set)?;
                self.list(Self::assignment).map(MergeAction::Update)
            }
            TokenKind::Keyword(Keyword::Delete) if when != MergeWhen::NotMatchedByTarget => {
                self.bump();
                Ok(MergeAction::Delete)
            }
            TokenKind::Keyword(Keyword::Insert) => {
                let clause = if when == MergeWhen::Matched { "WHEN MATCHED" } else { "WHEN NOT MATCHED BY SOURCE" };
                Err(SyntaxError::merge_insert_misplaced(self.peek().line, clause))
            }
            TokenKind::Keyword(keyword @ (Keyword::Update | Keyword::Delete)) => {
                let action = if keyword == Keyword::Update { "UPDATE" } else { "DELETE" };
                Err(SyntaxError::merge_action_misplaced(self.peek().line, action))
            }
            _ => Err(self.unexpected()),
        }
    }
}
