//! CREATE DATABASE and ALTER DATABASE.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    AlterDatabase, AlterDatabaseAction, CreateDatabase, FileGroup, FileSize, FileSpec, SettingOption, SettingValue,
    SizeUnit, StatementKind, Termination,
};

impl Parser<'_> {
    /// CREATE DATABASE behind its two words.
    pub(super) fn create_database(&mut self) -> Parsed<StatementKind> {
        let name = self.name()?;
        let mut database = CreateDatabase {
            name,
            containment: None,
            primary: Vec::new(),
            filegroups: Vec::new(),
            log: Vec::new(),
            collation: None,
            options: Vec::new(),
            attach: None,
            snapshot_of: None,
        };
        if self.eat_word("CONTAINMENT") {
            self.expect_symbol(Symbol::Equal)?;
            database.containment = Some(self.upper_word()?);
        }
        if self.eat_keyword(Keyword::On) {
            self.database_files(&mut database)?;
        }
        if self.eat_words(&["LOG", "ON"]) {
            database.log = self.list(Self::file_spec)?;
        }
        if self.eat_keyword(Keyword::Collate) {
            database.collation = Some(self.name()?);
        }
        if self.eat_keyword(Keyword::For) {
            database.attach = Some(self.upper_word()?);
        }
        if self.eat_words(&["AS", "SNAPSHOT", "OF"]) {
            database.snapshot_of = Some(self.name()?);
        }
        if self.eat_keyword(Keyword::With) {
            database.options = self.list(Self::database_option)?;
        }
        Ok(StatementKind::CreateDatabase(Box::new(database)))
    }

    /// `PRIMARY (...), (...), FILEGROUP g (...), ...` behind ON.
    fn database_files(&mut self, database: &mut CreateDatabase) -> Parsed<()> {
        self.eat_keyword(Keyword::Primary);
        loop {
            if self.eat_word("FILEGROUP") {
                let group = self.file_group()?;
                database.filegroups.push(group);
            } else {
                let file = self.file_spec()?;
                match database.filegroups.last_mut() {
                    Some(group) => group.files.push(file),
                    None => database.primary.push(file),
                }
            }
            if !self.eat_symbol(Symbol::Comma) {
                return Ok(());
            }
        }
    }

    fn file_group(&mut self) -> Parsed<FileGroup> {
        let name = self.filegroup()?;
        let contains = self.optional_contains()?;
        let default = self.eat_keyword(Keyword::Default);
        Ok(FileGroup { name, contains, default, files: vec![self.file_spec()?] })
    }

    fn optional_contains(&mut self) -> Parsed<Option<String>> {
        if self.eat_keyword(Keyword::Contains) { self.upper_word().map(Some) } else { Ok(None) }
    }

    fn file_spec(&mut self) -> Parsed<FileSpec> {
        let first = self.expect_symbol(Symbol::Open)?;
        let mut file = FileSpec {
            name: None,
            new_name: None,
            filename: None,
            size: None,
            max_size: None,
            growth: None,
            offline: false,
            span: self.span_of(first),
        };
        self.list(|parser| parser.file_property(&mut file))?;
        self.expect_symbol(Symbol::Close)?;
        file.span = self.span_from(first);
        Ok(file)
    }

    fn file_property(&mut self, file: &mut FileSpec) -> Parsed<()> {
        if self.eat_word("OFFLINE") {
            file.offline = true;
            return Ok(());
        }
        const PROPERTIES: [&str; 6] = ["NAME", "NEWNAME", "FILENAME", "SIZE", "MAXSIZE", "FILEGROWTH"];
        let Some(property) = PROPERTIES.iter().find(|word| self.at_word(word)) else {
            return Err(self.unexpected());
        };
        self.bump();
        self.expect_symbol(Symbol::Equal)?;
        match *property {
            "NAME" => file.name = Some(self.name_or_text()?),
            "NEWNAME" => file.new_name = Some(self.name_or_text()?),
            "FILENAME" => file.filename = Some(self.text()?),
            "SIZE" => file.size = Some(self.file_size()?),
            "MAXSIZE" => file.max_size = Some(self.file_size()?),
            _ => file.growth = Some(self.file_size()?),
        }
        Ok(())
    }

    fn name_or_text(&mut self) -> Parsed<String> {
        if self.at_text() { self.text() } else { self.name().map(|name| name.text) }
    }

    fn file_size(&mut self) -> Parsed<FileSize> {
        if self.eat_word("UNLIMITED") {
            return Ok(FileSize::Unlimited);
        }
        let token = self.peek();
        if token.kind != TokenKind::Integer {
            return Err(self.unexpected());
        }
        let Ok(count) = self.source(token).parse() else { return Err(self.unexpected()) };
        self.bump();
        if self.eat_symbol(Symbol::Percent) {
            return Ok(FileSize::Percent(count));
        }
        let units = [
            ("KB", SizeUnit::Kilobytes),
            ("MB", SizeUnit::Megabytes),
            ("GB", SizeUnit::Gigabytes),
            ("TB", SizeUnit::Terabytes),
        ];
        let unit = units.iter().find(|(word, _)| self.eat_word(word)).map_or(SizeUnit::Megabytes, |(_, unit)| *unit);
        Ok(FileSize::Of(count, unit))
    }

    /// ALTER DATABASE behind its two words.
    pub(super) fn alter_database(&mut self) -> Parsed<StatementKind> {
        if self.eat_words(&["SCOPED", "CONFIGURATION"]) {
            let action = self.scoped_configuration()?;
            return Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name: None, action })));
        }
        let name = if self.eat_keyword(Keyword::Current) { None } else { Some(self.name()?) };
        let action = self.alter_database_action()?;
        Ok(StatementKind::AlterDatabase(Box::new(AlterDatabase { name, action })))
    }

    fn scoped_configuration(&mut self) -> Parsed<AlterDatabaseAction> {
        let secondary = self.eat_keyword(Keyword::For);
        if secondary {
            self.expect_word("SECONDARY")?;
        }
        if self.eat_word("CLEAR") {
            self.expect_word("PROCEDURE_CACHE")?;
            // The handle of the one plan that is meant: it goes with all others.
            if self.at_literal() {
                self.bump();
            }
            let name = "PROCEDURE_CACHE".to_string();
            return Ok(AlterDatabaseAction::ScopedConfiguration { name, secondary, value: None });
        }
        self.expect_keyword(Keyword::Set)?;
        let name = self.upper_word()?;
        self.expect_symbol(Symbol::Equal)?;
        let value = Some(self.setting_value()?);
        Ok(AlterDatabaseAction::ScopedConfiguration { name, secondary, value })
    }

    fn alter_database_action(&mut self) -> Parsed<AlterDatabaseAction> {
        if self.eat_keyword(Keyword::Set) {
            let options = self.list(Self::database_option)?;
            let termination = if self.eat_keyword(Keyword::With) { Some(self.termination()?) } else { None };
            return Ok(AlterDatabaseAction::Set { options, termination });
        }
        if self.eat_keyword(Keyword::Add) {
            return self.add_to_database();
        }
        if self.eat_keyword(Keyword::Collate) {
            return self.name().map(AlterDatabaseAction::Collate);
        }
        if self.eat_word("REMOVE") {
            if self.eat_keyword(Keyword::File) {
                return self.name().map(AlterDatabaseAction::RemoveFile);
            }
            self.expect_word("FILEGROUP")?;
            return self.name().map(AlterDatabaseAction::RemoveFilegroup);
        }
        self.expect_word("MODIFY")?;
        if self.eat_keyword(Keyword::File) {
            return self.file_spec().map(AlterDatabaseAction::ModifyFile);
        }
        if self.eat_word("FILEGROUP") {
            return self.modify_filegroup();
        }
        self.expect_word("NAME")?;
        self.expect_symbol(Symbol::Equal)?;
        self.name().map(AlterDatabaseAction::Rename)
    }

    fn add_to_database(&mut self) -> Parsed<AlterDatabaseAction> {
        if self.eat_word("FILEGROUP") {
            let name = self.name()?;
            return Ok(AlterDatabaseAction::AddFilegroup { name, contains: self.optional_contains()? });
        }
        if self.eat_word("LOG") {
            self.expect_keyword(Keyword::File)?;
            return self.list(Self::file_spec).map(AlterDatabaseAction::AddLogFiles);
        }
        self.expect_keyword(Keyword::File)?;
        let files = self.list(Self::file_spec)?;
        let filegroup = if self.eat_words(&["TO", "FILEGROUP"]) { Some(self.filegroup()?) } else { None };
        Ok(AlterDatabaseAction::AddFiles { files, filegroup })
    }

    fn modify_filegroup(&mut self) -> Parsed<AlterDatabaseAction> {
        let name = self.filegroup()?;
        let property = self.upper_word()?;
        let mut new_name = None;
        if property == "NAME" {
            self.expect_symbol(Symbol::Equal)?;
            new_name = Some(self.name()?);
        }
        Ok(AlterDatabaseAction::ModifyFilegroup { name, property, new_name })
    }

    /// `RECOVERY SIMPLE`, `AUTO_CLOSE OFF`, `DELAYED_DURABILITY = FORCED`, `SINGLE_USER`
    fn database_option(&mut self) -> Parsed<SettingOption> {
        let first = self.peek();
        if let Some(word) = ["HADR", "PARTNER", "WITNESS"].into_iter().find(|word| self.at_word(word)) {
            return Err(SyntaxError::not_supported(first.line, &format!("ALTER DATABASE ... SET {word}")));
        }
        let mut option = self.setting_option()?;
        if option.value.is_some() {
            return Ok(option);
        }
        option.value = match self.peek().kind {
            TokenKind::Keyword(Keyword::On | Keyword::Off) => Some(self.setting_value()?),
            TokenKind::Keyword(Keyword::Full) => Some(SettingValue::Word(self.upper_word()?)),
            TokenKind::Word => {
                let all = self.nth_keyword(1, Keyword::All);
                let mut word = self.upper_word()?;
                // QUERY_STORE CLEAR ALL
                if all {
                    word = format!("{word} {}", self.upper_word()?);
                }
                Some(SettingValue::Word(word))
            }
            _ => None,
        };
        option.span = self.span_from(first);
        Ok(option)
    }

    fn termination(&mut self) -> Parsed<Termination> {
        if self.eat_word("NO_WAIT") {
            return Ok(Termination::NoWait);
        }
        self.expect_keyword(Keyword::Rollback)?;
        if self.eat_word("IMMEDIATE") {
            return Ok(Termination::RollbackImmediate);
        }
        self.expect_word("AFTER")?;
        let seconds = self.literal()?;
        self.eat_word("SECONDS");
        Ok(Termination::RollbackAfter(seconds))
    }
}
