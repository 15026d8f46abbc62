//! CREATE, ALTER and DROP: of what, and the small ones among them.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, TokenKind};
use crate::tree::{
    ChangeOwner, CreateSchema, CreateSequence, CreateSynonym, CreateType, Drop, DropKind, ModuleMode, Securable,
    SequenceOption, StatementKind, TransferToSchema, TypeKind,
};

impl Parser<'_> {
    pub(super) fn create(&mut self) -> Parsed<StatementKind> {
        if self.nth_keyword(1, Keyword::Or) && self.nth_keyword(2, Keyword::Alter) {
            return self.module(ModuleMode::CreateOrAlter);
        }
        if self.is_module(1) {
            return self.module(ModuleMode::Create);
        }
        if self.nth_keyword(1, Keyword::Schema) {
            return self.create_schema();
        }
        self.first_statement = false;
        self.bump();
        if self.at_create_index() {
            return self.create_index();
        }
        match self.peek().kind {
            TokenKind::Keyword(keyword @ (Keyword::Table | Keyword::Database | Keyword::Statistics)) => {
                self.bump();
                match keyword {
                    Keyword::Table => self.create_table(),
                    Keyword::Database => self.create_database(),
                    _ => self.create_statistics(),
                }
            }
            TokenKind::Keyword(Keyword::User) => self.principal(false),
            TokenKind::Word if self.at_principal() => self.principal(false),
            TokenKind::Word => self.create_word(),
            _ => Err(self.unexpected()),
        }
    }

    fn create_word(&mut self) -> Parsed<StatementKind> {
        if self.at_partition_object() {
            return self.create_partition();
        }
        if self.eat_word("TYPE") {
            return self.create_type();
        }
        if self.eat_words(&["XML", "SCHEMA", "COLLECTION"]) {
            return self.schema_collection(Keyword::As);
        }
        if self.eat_word("SEQUENCE") {
            return self.sequence(false);
        }
        if self.eat_word("SYNONYM") {
            let name = self.object_name()?;
            self.expect_keyword(Keyword::For)?;
            let target = self.object_name()?;
            return Ok(StatementKind::CreateSynonym(Box::new(CreateSynonym { name, target })));
        }
        if self.eat_words(&["SECURITY", "POLICY"]) {
            return self.security_policy(false);
        }
        Err(self.unexpected())
    }

    pub(super) fn alter(&mut self) -> Parsed<StatementKind> {
        if self.is_module(1) {
            return self.module(ModuleMode::Alter);
        }
        self.first_statement = false;
        self.bump();
        match self.peek().kind {
            TokenKind::Keyword(keyword @ (Keyword::Table | Keyword::Database | Keyword::Index | Keyword::Schema)) => {
                self.bump();
                match keyword {
                    Keyword::Table => self.alter_table(),
                    Keyword::Database => self.alter_database(),
                    Keyword::Index => self.alter_index(),
                    _ => self.transfer(),
                }
            }
            TokenKind::Keyword(Keyword::Authorization) => self.change_owner(),
            TokenKind::Keyword(Keyword::User) => self.principal(true),
            TokenKind::Word if self.at_partition_object() => self.alter_partition(),
            TokenKind::Word if self.at_principal() => self.principal(true),
            TokenKind::Word if self.eat_words(&["SERVER", "CONFIGURATION", "SET"]) => self.server_configuration(),
            TokenKind::Word if self.eat_word("SEQUENCE") => self.sequence(true),
            TokenKind::Word if self.eat_words(&["SECURITY", "POLICY"]) => self.security_policy(true),
            TokenKind::Word if self.eat_words(&["XML", "SCHEMA", "COLLECTION"]) => self.schema_collection(Keyword::Add),
            _ => Err(self.unexpected()),
        }
    }

    /// ALTER SCHEMA behind its two words.
    fn transfer(&mut self) -> Parsed<StatementKind> {
        let schema = self.name()?;
        self.expect_word("TRANSFER")?;
        let class = self.optional_class()?;
        let object = self.object_name()?;
        Ok(StatementKind::TransferToSchema(Box::new(TransferToSchema { schema, class, object })))
    }

    /// ALTER AUTHORIZATION behind its first word.
    fn change_owner(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.expect_keyword(Keyword::On)?;
        let Securable { class, name, columns } = self.securable()?;
        if !columns.is_empty() {
            return Err(self.unexpected());
        }
        self.expect_keyword(Keyword::To)?;
        let of_schema = self.nth_keyword(0, Keyword::Schema);
        let owner = if of_schema { None } else { Some(self.principal_name()?) };
        if of_schema {
            self.bump();
            self.expect_word("OWNER")?;
        }
        Ok(StatementKind::ChangeOwner(Box::new(ChangeOwner { class, name, owner })))
    }

    fn create_schema(&mut self) -> Parsed<StatementKind> {
        self.must_be_first("CREATE SCHEMA")?;
        self.bump();
        self.bump();
        let name = if self.at_name() { Some(self.name()?) } else { None };
        let owner = if self.eat_keyword(Keyword::Authorization) { Some(self.name()?) } else { None };
        if name.is_none() && owner.is_none() {
            return Err(self.unexpected());
        }
        let mut elements = Vec::new();
        while self.at_schema_element() {
            // A view inside CREATE SCHEMA is first of its own.
            self.first_statement = true;
            elements.push(self.statement()?);
        }
        Ok(StatementKind::CreateSchema(Box::new(CreateSchema { name, owner, elements })))
    }

    fn at_schema_element(&self) -> bool {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Create) => {
                self.nth_keyword(1, Keyword::Table) || self.nth_keyword(1, Keyword::View)
            }
            TokenKind::Keyword(Keyword::Grant | Keyword::Deny | Keyword::Revoke) => true,
            _ => false,
        }
    }

    /// CREATE or ALTER XML SCHEMA COLLECTION behind its words; AS or ADD comes before the schemas.
    fn schema_collection(&mut self, before: Keyword) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        self.expect_keyword(before)?;
        let kind = TypeKind::SchemaCollection { text: self.expression()?, add: before == Keyword::Add };
        Ok(StatementKind::CreateType(Box::new(CreateType { name, kind })))
    }

    /// CREATE TYPE behind its two words.
    fn create_type(&mut self) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let kind = if self.eat_keyword(Keyword::From) {
            let data_type = self.data_type()?;
            TypeKind::Alias { data_type, nullable: self.optional_nullable()? }
        } else {
            if self.at_keyword(Keyword::External) {
                return Err(SyntaxError::not_supported(self.peek().line, "EXTERNAL NAME"));
            }
            self.expect_keyword(Keyword::As)?;
            self.expect_keyword(Keyword::Table)?;
            let elements = self.table_elements()?;
            TypeKind::Table { elements, options: self.optional_with_options()? }
        };
        Ok(StatementKind::CreateType(Box::new(CreateType { name, kind })))
    }

    /// CREATE SEQUENCE or ALTER SEQUENCE behind its two words.
    fn sequence(&mut self, alter: bool) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        let mut options = Vec::new();
        while let Some(option) = self.sequence_option()? {
            options.push(option);
        }
        Ok(StatementKind::CreateSequence(Box::new(CreateSequence { alter, name, options })))
    }

    fn sequence_option(&mut self) -> Parsed<Option<SequenceOption>> {
        let option = if self.eat_keyword(Keyword::As) {
            SequenceOption::Type(self.data_type()?)
        } else if self.eat_words(&["START", "WITH"]) {
            SequenceOption::Start(self.signed_literal()?)
        } else if self.eat_word("RESTART") {
            let value = if self.eat_keyword(Keyword::With) { Some(self.signed_literal()?) } else { None };
            SequenceOption::Restart(value)
        } else if self.eat_words(&["INCREMENT", "BY"]) {
            SequenceOption::Increment(self.signed_literal()?)
        } else if self.eat_word("MINVALUE") {
            SequenceOption::Minimum(Some(self.signed_literal()?))
        } else if self.eat_word("MAXVALUE") {
            SequenceOption::Maximum(Some(self.signed_literal()?))
        } else if self.eat_word("CYCLE") {
            SequenceOption::Cycle(true)
        } else if self.eat_word("CACHE") {
            SequenceOption::Cache(if self.at_literal() { Some(self.literal()?) } else { None })
        } else if self.eat_words(&["NO", "MINVALUE"]) {
            SequenceOption::Minimum(None)
        } else if self.eat_words(&["NO", "MAXVALUE"]) {
            SequenceOption::Maximum(None)
        } else if self.eat_words(&["NO", "CYCLE"]) {
            SequenceOption::Cycle(false)
        } else if self.eat_words(&["NO", "CACHE"]) {
            SequenceOption::NoCache
        } else {
            return Ok(None);
        };
        Ok(Some(option))
    }

    pub(super) fn drop_statement(&mut self) -> Parsed<StatementKind> {
        self.bump();
        if self.eat_keyword(Keyword::Index) {
            return self.drop_index();
        }
        if self.at_partition_object() {
            return self.drop_partition();
        }
        let kind = self.drop_kind()?;
        // A login is dropped that is there.
        let if_exists = kind != DropKind::Login && self.eat_words(&["IF", "EXISTS"]);
        let names = self.list(Self::object_name)?;
        let at_trigger_place = kind == DropKind::Trigger && self.eat_keyword(Keyword::On);
        let trigger_on = if at_trigger_place { Some(self.trigger_target()?) } else { None };
        Ok(StatementKind::Drop(Box::new(Drop { kind, if_exists, names, trigger_on })))
    }

    fn drop_kind(&mut self) -> Parsed<DropKind> {
        let kinds = [
            (&["TABLE"][..], DropKind::Table),
            (&["VIEW"], DropKind::View),
            (&["PROCEDURE"], DropKind::Procedure),
            (&["PROC"], DropKind::Procedure),
            (&["FUNCTION"], DropKind::Function),
            (&["TRIGGER"], DropKind::Trigger),
            (&["SCHEMA"], DropKind::Schema),
            (&["DATABASE"], DropKind::Database),
            (&["TYPE"], DropKind::Type),
            (&["XML", "SCHEMA", "COLLECTION"], DropKind::SchemaCollection),
            (&["SEQUENCE"], DropKind::Sequence),
            (&["SYNONYM"], DropKind::Synonym),
            (&["SECURITY", "POLICY"], DropKind::SecurityPolicy),
            (&["STATISTICS"], DropKind::Statistics),
            (&["LOGIN"], DropKind::Login),
            (&["USER"], DropKind::User),
            (&["ROLE"], DropKind::Role),
            (&["SERVER", "ROLE"], DropKind::ServerRole),
            (&["APPLICATION", "ROLE"], DropKind::ApplicationRole),
        ];
        match kinds.iter().find(|(words, _)| self.eat_words(words)) {
            Some((_, kind)) => Ok(*kind),
            None => Err(self.unexpected()),
        }
    }
}
