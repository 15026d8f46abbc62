//! DECLARE, SET and cursors.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    AssignOp, CursorDefinition, CursorName, DeclareCursor, Fetch, FetchDirection, IsolationLevel, OptionSetting,
    SetOption, SetValue, SetVariable, StatementKind, TableVariable, VariableDeclaration, VariableKind,
};

/// The options of SET that take ON, OFF or a value.
const SET_OPTIONS: &[&str] = &[
    "ANSI_DEFAULTS",
    "ANSI_NULLS",
    "ANSI_NULL_DFLT_OFF",
    "ANSI_NULL_DFLT_ON",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "ARITHABORT",
    "ARITHIGNORE",
    "CONCAT_NULL_YIELDS_NULL",
    "CONTEXT_INFO",
    "CURSOR_CLOSE_ON_COMMIT",
    "DATEFIRST",
    "DATEFORMAT",
    "DEADLOCK_PRIORITY",
    "FIPS_FLAGGER",
    "FMTONLY",
    "FORCEPLAN",
    "IMPLICIT_TRANSACTIONS",
    "LANGUAGE",
    "LOCK_TIMEOUT",
    "NOCOUNT",
    "NOEXEC",
    "NO_BROWSETABLE",
    "NUMERIC_ROUNDABORT",
    "OFFSETS",
    "PARSEONLY",
    "QUERY_GOVERNOR_COST_LIMIT",
    "QUOTED_IDENTIFIER",
    "REMOTE_PROC_TRANSACTIONS",
    "ROWCOUNT",
    "SHOWPLAN_ALL",
    "SHOWPLAN_TEXT",
    "SHOWPLAN_XML",
    "TEXTSIZE",
    "XACT_ABORT",
];

/// What STATISTICS counts.
const STATISTICS: &[&str] = &["IO", "PROFILE", "TIME", "XML"];

impl Parser<'_> {
    pub(super) fn declare(&mut self) -> Parsed<StatementKind> {
        self.bump();
        if !self.at_variable() {
            return self.declare_cursor();
        }
        let behind = 1 + usize::from(self.nth_keyword(1, Keyword::As));
        if self.nth_keyword(behind, Keyword::Table) {
            let name = self.variable()?;
            self.eat_keyword(Keyword::As);
            self.bump();
            let elements = self.table_elements()?;
            return Ok(StatementKind::DeclareTable(Box::new(TableVariable { name, elements })));
        }
        self.list(Self::variable_declaration).map(StatementKind::Declare)
    }

    fn variable_declaration(&mut self) -> Parsed<VariableDeclaration> {
        let name = self.variable()?;
        self.eat_keyword(Keyword::As);
        if self.eat_keyword(Keyword::Cursor) {
            return Ok(VariableDeclaration { name, kind: VariableKind::Cursor });
        }
        let data_type = self.data_type()?;
        // NULL says nothing; NOT NULL is for natively compiled modules, and there is no such code here.
        if self.at_keyword(Keyword::Not) {
            let not = self.peek();
            return Err(SyntaxError::near(not.line, &self.plain(not)));
        }
        self.optional_nullable()?;
        let initial = if self.eat_symbol(Symbol::Equal) { Some(self.expression()?) } else { None };
        Ok(VariableDeclaration { name, kind: VariableKind::Value { data_type, initial } })
    }

    fn declare_cursor(&mut self) -> Parsed<StatementKind> {
        let name = self.name()?;
        let mut properties = Vec::new();
        while self.at_word("INSENSITIVE") || self.at_word("SCROLL") {
            properties.push(self.upper_word()?);
        }
        self.expect_keyword(Keyword::Cursor)?;
        let definition = self.cursor_definition(properties)?;
        Ok(StatementKind::DeclareCursor(Box::new(DeclareCursor { name, definition })))
    }

    /// A cursor behind the word CURSOR.
    fn cursor_definition(&mut self, mut properties: Vec<String>) -> Parsed<CursorDefinition> {
        while !self.at_keyword(Keyword::For) {
            if self.peek().kind != TokenKind::Word {
                return Err(self.unexpected());
            }
            properties.push(self.upper_word()?);
        }
        self.bump();
        let with = self.optional_with()?;
        let query = self.query_statement(with)?;
        let mut definition = CursorDefinition { properties, query, read_only: false, update: None };
        if self.eat_words(&["FOR", "READ", "ONLY"]) {
            definition.read_only = true;
        } else if self.eat_words(&["FOR", "UPDATE"]) {
            definition.update = Some(match self.eat_keyword(Keyword::Of) {
                true => self.list(Self::name)?,
                false => Vec::new(),
            });
        }
        Ok(definition)
    }

    /// OPEN, CLOSE, DEALLOCATE, FETCH.
    pub(super) fn cursor_statement(&mut self, keyword: Keyword) -> Parsed<StatementKind> {
        self.bump();
        Ok(match keyword {
            Keyword::Open => StatementKind::OpenCursor(self.cursor_name()?),
            Keyword::Close => StatementKind::CloseCursor(self.cursor_name()?),
            Keyword::Deallocate => StatementKind::DeallocateCursor(self.cursor_name()?),
            _ => StatementKind::Fetch(Box::new(self.fetch()?)),
        })
    }

    pub(super) fn cursor_name(&mut self) -> Parsed<CursorName> {
        let global = self.at_word("GLOBAL") && self.nth_name(1);
        if global {
            self.bump();
        }
        let name = if self.at_variable() { self.variable()? } else { self.name()? };
        Ok(CursorName { global, name })
    }

    fn fetch(&mut self) -> Parsed<Fetch> {
        let word = if self.peek().kind == TokenKind::Word {
            self.source(self.peek()).to_ascii_uppercase()
        } else {
            String::new()
        };
        // A cursor may be called like a direction when no FROM follows.
        let plain = self.nth_keyword(1, Keyword::From);
        let direction = match word.as_str() {
            "NEXT" if plain => FetchDirection::Next,
            "PRIOR" if plain => FetchDirection::Prior,
            "FIRST" if plain => FetchDirection::First,
            "LAST" if plain => FetchDirection::Last,
            "ABSOLUTE" | "RELATIVE" if !self.nth_keyword(1, Keyword::Into) => {
                self.bump();
                let count = self.literal_or_variable()?;
                self.expect_keyword(Keyword::From)?;
                if word == "ABSOLUTE" { FetchDirection::Absolute(count) } else { FetchDirection::Relative(count) }
            }
            _ => FetchDirection::Next,
        };
        if plain && matches!(word.as_str(), "NEXT" | "PRIOR" | "FIRST" | "LAST") {
            self.bump();
        }
        self.eat_keyword(Keyword::From);
        let cursor = self.cursor_name()?;
        let into = if self.eat_keyword(Keyword::Into) { self.list(Self::variable)? } else { Vec::new() };
        Ok(Fetch { direction, cursor, into })
    }

    pub(super) fn set(&mut self) -> Parsed<StatementKind> {
        self.bump();
        match self.peek().kind {
            TokenKind::Variable => self.set_variable(),
            TokenKind::Keyword(Keyword::Transaction | Keyword::Tran) => self.set_isolation(),
            TokenKind::Keyword(Keyword::IdentityInsert) => {
                self.bump();
                let table = self.object_name()?;
                Ok(StatementKind::SetIdentityInsert { table, on: self.on_off()? })
            }
            _ => self.set_option().map(StatementKind::SetOption),
        }
    }

    pub(super) fn on_off(&mut self) -> Parsed<bool> {
        if self.eat_keyword(Keyword::On) {
            return Ok(true);
        }
        self.expect_keyword(Keyword::Off)?;
        Ok(false)
    }

    fn set_variable(&mut self) -> Parsed<StatementKind> {
        let variable = self.variable()?;
        if self.at_method() {
            self.bump();
            let value = SetValue::Method(self.name()?, self.method_arguments()?);
            return Ok(StatementKind::SetVariable(Box::new(SetVariable { variable, op: AssignOp::Set, value })));
        }
        if self.eat_symbol(Symbol::Dot) {
            let property = self.name()?;
            let op = self.assign_op()?;
            if op != AssignOp::Set {
                return Err(self.unexpected());
            }
            let value = SetValue::Property(property, self.expression()?);
            return Ok(StatementKind::SetVariable(Box::new(SetVariable { variable, op, value })));
        }
        let op = self.assign_op()?;
        let value = if self.eat_keyword(Keyword::Cursor) {
            SetValue::Cursor(Box::new(self.cursor_definition(Vec::new())?))
        } else {
            SetValue::Expr(self.expression()?)
        };
        Ok(StatementKind::SetVariable(Box::new(SetVariable { variable, op, value })))
    }

    fn set_isolation(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.expect_words(&["ISOLATION", "LEVEL"])?;
        let levels = [
            (&["READ", "UNCOMMITTED"][..], IsolationLevel::ReadUncommitted),
            (&["READ", "COMMITTED"], IsolationLevel::ReadCommitted),
            (&["REPEATABLE", "READ"], IsolationLevel::RepeatableRead),
            (&["SNAPSHOT"], IsolationLevel::Snapshot),
            (&["SERIALIZABLE"], IsolationLevel::Serializable),
        ];
        match levels.iter().find(|(words, _)| self.eat_words(words)) {
            Some((_, level)) => Ok(StatementKind::SetIsolation(*level)),
            None => Err(self.unexpected()),
        }
    }

    fn set_option(&mut self) -> Parsed<SetOption> {
        let names = if self.eat_keyword(Keyword::Statistics) {
            self.list(|parser| Ok(format!("STATISTICS {}", parser.option_name(STATISTICS)?)))?
        } else {
            self.list(|parser| parser.option_name(SET_OPTIONS))?
        };
        let value = match self.peek().kind {
            TokenKind::Keyword(Keyword::On | Keyword::Off) => match self.on_off()? {
                true => OptionSetting::On,
                false => OptionSetting::Off,
            },
            TokenKind::Word | TokenKind::QuotedName { .. } => OptionSetting::Word(self.name()?),
            _ => OptionSetting::Value(self.literal_or_variable()?),
        };
        Ok(SetOption { names, value })
    }

    fn option_name(&mut self, known: &[&str]) -> Parsed<String> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(Keyword::Rowcount | Keyword::Textsize | Keyword::Offsets) => self.upper_word(),
            TokenKind::Word => {
                let name = self.source(token).to_ascii_uppercase();
                if !known.contains(&name.as_str()) {
                    return Err(SyntaxError::unrecognized_option(token.line, self.source(token)));
                }
                self.bump();
                Ok(name)
            }
            _ => Err(self.unexpected()),
        }
    }
}
