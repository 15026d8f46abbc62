//! Procedures, functions, views and triggers.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    CreateFunction, CreateProcedure, CreateTrigger, CreateView, DataType, Expr, ExprKind, FunctionReturns, Literal,
    ModuleBody, ModuleMode, ModuleOption, Name, ObjectName, Parameter, SetTrigger, StatementKind, TriggerTarget,
    TypeArguments,
};

/// Parameters of a procedure or function.
const PARAMETERS_MAX: usize = 2_100;

impl Parser<'_> {
    /// Whether the token `ahead` names a kind of module.
    pub(super) fn is_module(&self, ahead: usize) -> bool {
        matches!(
            self.nth(ahead).kind,
            TokenKind::Keyword(
                Keyword::Procedure | Keyword::Proc | Keyword::Function | Keyword::View | Keyword::Trigger
            )
        )
    }

    /// An error unless nothing but semicolons came before in the batch.
    pub(super) fn must_be_first(&self, statement: &str) -> Parsed<()> {
        if self.first_statement { Ok(()) } else { Err(SyntaxError::not_first(self.peek().line, statement)) }
    }

    pub(super) fn module(&mut self, mode: ModuleMode) -> Parsed<StatementKind> {
        let words = if mode == ModuleMode::CreateOrAlter { 3 } else { 1 };
        if !self.is_module(words) {
            for _ in 0..words {
                self.bump();
            }
            return Err(self.unexpected());
        }
        let verb = if mode == ModuleMode::Alter { "ALTER" } else { "CREATE" };
        let keyword = self.nth(words).kind;
        match keyword {
            TokenKind::Keyword(Keyword::View) => self.must_be_first(&format!("{verb} VIEW"))?,
            TokenKind::Keyword(Keyword::Function) => self.must_be_first(&format!("{verb} FUNCTION"))?,
            TokenKind::Keyword(Keyword::Trigger) => self.must_be_first(&format!("{verb} TRIGGER"))?,
            _ => self.must_be_first("CREATE/ALTER PROCEDURE")?,
        }
        self.first_statement = false;
        for _ in 0..=words {
            self.bump();
        }
        match keyword {
            TokenKind::Keyword(Keyword::View) => self.view(mode),
            TokenKind::Keyword(Keyword::Function) => self.function(mode),
            TokenKind::Keyword(Keyword::Trigger) => self.trigger(mode),
            _ => self.procedure(mode),
        }
    }

    fn procedure(&mut self, mode: ModuleMode) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let number = self.procedure_number()?;
        let parameters = if self.at_symbol(Symbol::Open) {
            self.bump();
            let parameters = self.parameters()?;
            self.expect_symbol(Symbol::Close)?;
            parameters
        } else if self.at_variable() {
            self.parameters()?
        } else {
            Vec::new()
        };
        self.check_parameter_count("CREATE PROCEDURE", &parameters)?;
        let options = self.module_options()?;
        let for_replication = self.eat_words(&["FOR", "REPLICATION"]);
        self.expect_keyword(Keyword::As)?;
        let body = self.module_body(true)?;
        let procedure = CreateProcedure { mode, name, number, parameters, options, for_replication, body };
        Ok(StatementKind::CreateProcedure(Box::new(procedure)))
    }

    /// What a module runs: for a procedure or trigger all that follows in the batch, which for a procedure can be nothing.
    fn module_body(&mut self, to_the_end: bool) -> Parsed<ModuleBody> {
        if self.at_keyword(Keyword::External) {
            self.bump();
            self.expect_word("NAME")?;
            return self.object_name().map(ModuleBody::External);
        }
        if self.at_keyword(Keyword::Begin) && self.nth_word(1, "ATOMIC") {
            self.bump();
            self.bump();
            self.expect_keyword(Keyword::With)?;
            let options = self.parenthesized(Self::atomic_option)?;
            let statements = self.statements_until(|parser| parser.at_keyword(Keyword::End))?;
            self.bump();
            return Ok(ModuleBody::Atomic { options, statements });
        }
        if to_the_end {
            let statements = self.statements_until(|parser| parser.peek().kind == TokenKind::End)?;
            return Ok(ModuleBody::Statements(statements));
        }
        if !self.at_keyword(Keyword::Begin) {
            return Err(self.unexpected());
        }
        let block = self.statement()?;
        match block.kind {
            StatementKind::Block(statements) => Ok(ModuleBody::Statements(statements)),
            _ => Err(self.unexpected()),
        }
    }

    /// `TRANSACTION ISOLATION LEVEL = SNAPSHOT`, `LANGUAGE = N'english'`
    fn atomic_option(&mut self) -> Parsed<crate::tree::SettingOption> {
        let first = self.peek();
        let mut name = self.upper_word()?;
        while !self.at_symbol(Symbol::Equal) {
            name.push(' ');
            name.push_str(&self.upper_word()?);
        }
        self.bump();
        let mut words = Vec::new();
        while matches!(self.peek().kind, TokenKind::Word) || self.at_keyword(Keyword::Read) {
            words.push(self.upper_word()?);
        }
        let value =
            if words.is_empty() { self.setting_value()? } else { crate::tree::SettingValue::Word(words.join(" ")) };
        Ok(crate::tree::SettingOption { name, value: Some(value), span: self.span_from(first) })
    }

    /// Error 180 for more parameters than a module may have.
    fn check_parameter_count(&self, statement: &str, parameters: &[Parameter]) -> Parsed<()> {
        if parameters.len() > PARAMETERS_MAX {
            return Err(SyntaxError::too_many_parameters(self.peek().line, statement, PARAMETERS_MAX));
        }
        Ok(())
    }

    /// Parameters without parentheses around them.
    pub(super) fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        self.list(Self::parameter)
    }

    fn parameter(&mut self) -> Parsed<Parameter> {
        let name = self.variable()?;
        self.eat_keyword(Keyword::As);
        let token = self.peek();
        let data_type = if self.eat_keyword(Keyword::Cursor) {
            let name = Name { text: self.source(token).to_ascii_lowercase(), span: self.span_of(token) };
            DataType { schema: None, name, arguments: TypeArguments::None }
        } else {
            self.data_type()?
        };
        let varying = self.eat_keyword(Keyword::Varying);
        let nullable = self.optional_nullable()?;
        let default = if self.eat_symbol(Symbol::Equal) { Some(self.parameter_default()?) } else { None };
        let mut parameter = Parameter { name, data_type, varying, nullable, default, output: false, readonly: false };
        loop {
            if self.eat_word("OUTPUT") || self.eat_word("OUT") {
                parameter.output = true;
            } else if self.eat_word("READONLY") {
                parameter.readonly = true;
            } else {
                return Ok(parameter);
            }
        }
    }

    /// A constant, or a global such as `@@SERVERNAME`; a bare word is the text it spells.
    fn parameter_default(&mut self) -> Parsed<Expr> {
        if self.peek().kind == TokenKind::Global {
            return self.expression();
        }
        if self.at_name() {
            let word = self.name()?;
            return Ok(Expr {
                span: word.span,
                kind: ExprKind::Literal(Literal::String { value: word.text, national: false }),
            });
        }
        self.signed_literal()
    }

    /// `WITH RECOMPILE, EXECUTE AS OWNER`, if it comes next.
    fn module_options(&mut self) -> Parsed<Vec<ModuleOption>> {
        if self.eat_keyword(Keyword::With) { self.list(Self::module_option) } else { Ok(Vec::new()) }
    }

    fn module_option(&mut self) -> Parsed<ModuleOption> {
        let token = self.peek();
        if self.eat_keyword(Keyword::Execute) || self.eat_keyword(Keyword::Exec) {
            self.expect_keyword(Keyword::As)?;
            return self.parameter_default().map(ModuleOption::ExecuteAs);
        }
        if self.eat_word("INLINE") {
            self.expect_symbol(Symbol::Equal)?;
            return self.on_off().map(ModuleOption::Inline);
        }
        for words in [&["RETURNS", "NULL", "ON", "NULL", "INPUT"][..], &["CALLED", "ON", "NULL", "INPUT"]] {
            if self.eat_words(words) {
                return Ok(ModuleOption::Word(words.join(" ")));
            }
        }
        match token.kind {
            TokenKind::Word => self.upper_word().map(ModuleOption::Word),
            _ => Err(self.unexpected()),
        }
    }

    fn function(&mut self, mode: ModuleMode) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        self.expect_symbol(Symbol::Open)?;
        let parameters = if self.at_symbol(Symbol::Close) { Vec::new() } else { self.parameters()? };
        self.expect_symbol(Symbol::Close)?;
        self.check_parameter_count("CREATE FUNCTION", &parameters)?;
        self.expect_word("RETURNS")?;
        let (returns, options) = if self.eat_keyword(Keyword::Table) {
            if self.at_symbol(Symbol::Open) {
                return Err(SyntaxError::not_supported(self.peek().line, "EXTERNAL NAME"));
            }
            let options = self.module_options()?;
            self.eat_keyword(Keyword::As);
            self.expect_keyword(Keyword::Return)?;
            (FunctionReturns::Inline(Box::new(self.inline_query()?)), options)
        } else if self.at_variable() {
            let variable = self.variable()?;
            self.expect_keyword(Keyword::Table)?;
            let elements = self.table_elements()?;
            let options = self.module_options()?;
            self.eat_keyword(Keyword::As);
            (FunctionReturns::Table { variable, elements, body: self.module_body(false)? }, options)
        } else {
            let data_type = self.data_type()?;
            let options = self.module_options()?;
            self.eat_keyword(Keyword::As);
            (FunctionReturns::Scalar { data_type, body: self.module_body(false)? }, options)
        };
        self.expect_batch_end()?;
        Ok(StatementKind::CreateFunction(Box::new(CreateFunction { mode, name, parameters, returns, options })))
    }

    /// The query of an inline function, in parentheses or not.
    fn inline_query(&mut self) -> Parsed<crate::tree::Query> {
        // `RETURN (WITH ... SELECT ...)` has its WITH inside the parentheses.
        if self.at_symbol(Symbol::Open) && self.nth_keyword(1, Keyword::With) {
            self.bump();
            let with = self.optional_with()?;
            let mut query = self.query()?;
            query.with = with;
            self.expect_symbol(Symbol::Close)?;
            return Ok(query);
        }
        // What parentheses hold has an ORDER BY of its own when it has a TOP.
        if self.at_symbol(Symbol::Open) && self.nth_keyword(1, Keyword::Select) {
            self.bump();
            let query = self.query()?;
            self.expect_symbol(Symbol::Close)?;
            return if self.at_set_operator() { self.continue_query(query) } else { Ok(query) };
        }
        let with = self.optional_with()?;
        self.inner_statement(with)
    }

    /// A view or function is alone in its batch.
    fn expect_batch_end(&mut self) -> Parsed<()> {
        let behind = self.at;
        self.eat_semicolons();
        if self.peek().kind == TokenKind::End {
            // They are no part of the statement.
            self.at = behind;
            return Ok(());
        }
        Err(self.unexpected())
    }

    fn view(&mut self, mode: ModuleMode) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let columns = self.optional_name_list()?;
        let options = self.module_options()?;
        self.expect_keyword(Keyword::As)?;
        let with = self.optional_with()?;
        let query = self.inner_statement(with)?;
        if !query.options.is_empty() {
            return Err(SyntaxError::near_keyword(self.tokens[self.at - 1].line, "OPTION"));
        }
        let check_option = self.eat_words(&["WITH", "CHECK", "OPTION"]);
        if !self.at_schema_view_end() {
            self.expect_batch_end()?;
        }
        Ok(StatementKind::CreateView(Box::new(CreateView { mode, name, columns, options, query, check_option })))
    }

    /// Whether this view is an element of CREATE SCHEMA and the next element follows.
    fn at_schema_view_end(&self) -> bool {
        self.tokens.first().is_some_and(|first| first.kind == TokenKind::Keyword(Keyword::Create))
            && self.tokens.get(1).is_some_and(|second| second.kind == TokenKind::Keyword(Keyword::Schema))
    }

    fn trigger(&mut self, mode: ModuleMode) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        self.expect_keyword(Keyword::On)?;
        let on = self.trigger_target()?;
        let options = self.module_options()?;
        let instead_of = self.eat_words(&["INSTEAD", "OF"]);
        if !instead_of && !self.eat_keyword(Keyword::For) {
            self.expect_word("AFTER")?;
        }
        let events = self.list(Self::upper_word)?;
        let not_for_replication = self.not_for_replication();
        self.expect_keyword(Keyword::As)?;
        let body = self.module_body(true)?;
        if matches!(&body, ModuleBody::Statements(statements) if statements.is_empty()) {
            return Err(self.unexpected());
        }
        let trigger = CreateTrigger { mode, name, on, options, instead_of, events, not_for_replication, body };
        Ok(StatementKind::CreateTrigger(Box::new(trigger)))
    }

    pub(super) fn trigger_target(&mut self) -> Parsed<TriggerTarget> {
        if self.eat_keyword(Keyword::Database) {
            return Ok(TriggerTarget::Database);
        }
        if self.eat_words(&["ALL", "SERVER"]) {
            return Ok(TriggerTarget::Server);
        }
        self.object_name().map(TriggerTarget::Table)
    }

    /// ENABLE TRIGGER, DISABLE TRIGGER
    pub(super) fn set_trigger(&mut self) -> Parsed<StatementKind> {
        let enable = self.at_word("ENABLE");
        self.bump();
        self.bump();
        let names: Vec<ObjectName> =
            if self.eat_keyword(Keyword::All) { Vec::new() } else { self.list(Self::object_name)? };
        self.expect_keyword(Keyword::On)?;
        let on = self.trigger_target()?;
        Ok(StatementKind::SetTrigger(Box::new(SetTrigger { enable, names, on })))
    }
}
