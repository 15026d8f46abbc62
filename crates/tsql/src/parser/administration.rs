//! Statements about the server.

use super::Parser;
use crate::error::Parsed;
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    Backup, Dbcc, DbccArgument, Kill, Name, Permission, PermissionAction, Principal, Securable, ServerConfiguration,
    SettingOption, SettingValue, StatementKind,
};

impl Parser<'_> {
    /// The statements that are left when a keyword begins none of the others.
    pub(super) fn administration(&mut self, keyword: Keyword) -> Parsed<StatementKind> {
        match keyword {
            Keyword::Use => {
                self.bump();
                self.name().map(StatementKind::Use)
            }
            Keyword::Checkpoint => {
                self.bump();
                let seconds = if self.at_literal() { Some(self.literal()?) } else { None };
                Ok(StatementKind::Checkpoint(seconds))
            }
            Keyword::Dbcc => self.dbcc(),
            Keyword::Reconfigure => {
                self.bump();
                Ok(StatementKind::Reconfigure { with_override: self.eat_words(&["WITH", "OVERRIDE"]) })
            }
            Keyword::Kill => {
                self.bump();
                let target = self.literal_or_variable()?;
                Ok(StatementKind::Kill(Kill { target, status_only: self.eat_words(&["WITH", "STATUSONLY"]) }))
            }
            Keyword::Shutdown => {
                self.bump();
                Ok(StatementKind::Shutdown { nowait: self.eat_words(&["WITH", "NOWAIT"]) })
            }
            Keyword::Backup => self.backup().map(|backup| StatementKind::Backup(Box::new(backup))),
            Keyword::Restore => self.backup().map(|backup| StatementKind::Restore(Box::new(backup))),
            Keyword::Grant => self.permission(PermissionAction::Grant),
            Keyword::Deny => self.permission(PermissionAction::Deny),
            Keyword::Revoke => self.permission(PermissionAction::Revoke),
            _ => Err(self.unexpected()),
        }
    }

    fn dbcc(&mut self) -> Parsed<StatementKind> {
        self.bump();
        let name = self.upper_word()?;
        let mut arguments = Vec::new();
        if self.eat_symbol(Symbol::Open) {
            if !self.at_symbol(Symbol::Close) {
                arguments = self.list(Self::dbcc_argument)?;
            }
            self.expect_symbol(Symbol::Close)?;
        }
        let options = self.optional_with_bare_options()?;
        Ok(StatementKind::Dbcc(Box::new(Dbcc { name, arguments, options })))
    }

    fn dbcc_argument(&mut self) -> Parsed<DbccArgument> {
        match self.peek().kind {
            TokenKind::Word | TokenKind::QuotedName { .. } => self.object_name().map(DbccArgument::Name),
            TokenKind::Keyword(keyword) if keyword != Keyword::Null => {
                self.any_word().map(crate::tree::ObjectName::of).map(DbccArgument::Name)
            }
            TokenKind::Global => Ok(DbccArgument::Expr(self.global())),
            _ => self.literal_or_variable().map(DbccArgument::Expr),
        }
    }

    /// ALTER SERVER CONFIGURATION SET behind its words.
    pub(super) fn server_configuration(&mut self) -> Parsed<StatementKind> {
        let configuration = if self.eat_words(&["PROCESS", "AFFINITY"]) {
            self.affinity()?
        } else if self.eat_word("SOFTNUMA") {
            ServerConfiguration::SoftNuma(self.on_off()?)
        } else if self.eat_word("PIKEPOLE") {
            let name = self.any_word()?;
            self.expect_symbol(Symbol::Equal)?;
            ServerConfiguration::Pikepole { name, value: self.setting_value()? }
        } else {
            self.other_configuration()?
        };
        Ok(StatementKind::AlterServerConfiguration(configuration))
    }

    fn affinity(&mut self) -> Parsed<ServerConfiguration> {
        let cpu = self.eat_word("CPU");
        if !cpu {
            self.expect_word("NUMANODE")?;
        }
        self.expect_symbol(Symbol::Equal)?;
        if cpu && self.eat_word("AUTO") {
            return Ok(ServerConfiguration::AffinityCpu(Vec::new()));
        }
        let ranges = self.list(|parser| {
            let first = parser.small_number()?;
            let last = if parser.eat_keyword(Keyword::To) { parser.small_number()? } else { first };
            Ok((first, last))
        })?;
        Ok(if cpu { ServerConfiguration::AffinityCpu(ranges) } else { ServerConfiguration::AffinityNumaNode(ranges) })
    }

    fn other_configuration(&mut self) -> Parsed<ServerConfiguration> {
        let mut words = vec![self.upper_word()?];
        while self.peek().kind == TokenKind::Word {
            words.push(self.upper_word()?);
        }
        let value = if self.eat_symbol(Symbol::Equal)
            || matches!(self.peek().kind, TokenKind::Keyword(Keyword::On | Keyword::Off))
        {
            Some(self.setting_value()?)
        } else {
            None
        };
        Ok(ServerConfiguration::Other { name: words.join(" "), value })
    }

    /// BACKUP or RESTORE.
    fn backup(&mut self) -> Parsed<Backup> {
        let restore = self.bump().kind == TokenKind::Keyword(Keyword::Restore);
        let kind = self.upper_word()?;
        let mut backup = Backup { kind, database: None, parts: Vec::new(), devices: Vec::new(), options: Vec::new() };
        if self.at_variable() {
            backup.database = Some(self.variable()?);
        } else if self.at_name() {
            backup.database = Some(self.name()?);
        }
        if matches!(self.peek().kind, TokenKind::Word | TokenKind::Keyword(Keyword::File)) {
            backup.parts = self.list(Self::setting_option)?;
        }
        if self.eat_keyword(if restore { Keyword::From } else { Keyword::To }) {
            backup.devices = self.list(Self::device)?;
        }
        if self.eat_keyword(Keyword::With) {
            backup.options = self.list(Self::backup_option)?;
        }
        Ok(backup)
    }

    /// `DISK = 'file'`, or the name of a logical device.
    fn device(&mut self) -> Parsed<SettingOption> {
        let first = self.peek();
        if self.at_variable() {
            let name = self.variable()?.text;
            return Ok(SettingOption { name, value: None, span: self.span_from(first) });
        }
        self.setting_option()
    }

    /// An option of BACKUP or RESTORE; `MOVE 'a' TO 'b'` is stored as the list of both.
    fn backup_option(&mut self) -> Parsed<SettingOption> {
        let first = self.peek();
        if !self.eat_word("MOVE") {
            return self.setting_option();
        }
        let from = self.literal_or_variable()?;
        self.expect_keyword(Keyword::To)?;
        let to = self.literal_or_variable()?;
        let span = self.span_from(first);
        let part =
            |name: &str, value| SettingOption { name: name.to_string(), value: Some(SettingValue::Expr(value)), span };
        let value = Some(SettingValue::List(vec![part("FROM", from), part("TO", to)]));
        Ok(SettingOption { name: "MOVE".to_string(), value, span })
    }

    fn permission(&mut self, action: PermissionAction) -> Parsed<StatementKind> {
        self.bump();
        let grant_option_for = action == PermissionAction::Revoke && self.eat_words(&["GRANT", "OPTION", "FOR"]);
        let permissions = self.list(Self::permission_words)?;
        let on = if self.eat_keyword(Keyword::On) { Some(self.securable()?) } else { None };
        if !self.eat_keyword(Keyword::To) {
            if action != PermissionAction::Revoke {
                return Err(self.unexpected());
            }
            self.expect_keyword(Keyword::From)?;
        }
        let principals = self.list(Self::principal_name)?;
        let with_grant_option = self.eat_words(&["WITH", "GRANT", "OPTION"]);
        let cascade = self.eat_keyword(Keyword::Cascade);
        let grantor = if self.eat_keyword(Keyword::As) { Some(self.principal_name()?) } else { None };
        let permission =
            Permission { action, grant_option_for, permissions, on, principals, with_grant_option, cascade, grantor };
        Ok(StatementKind::Permission(Box::new(permission)))
    }

    fn permission_words(&mut self) -> Parsed<(String, Vec<Name>)> {
        let mut words = vec![self.upper_word()?];
        while !matches!(self.peek().kind, TokenKind::Keyword(Keyword::On | Keyword::To | Keyword::From))
            && matches!(self.peek().kind, TokenKind::Word | TokenKind::Keyword(_))
        {
            words.push(self.upper_word()?);
        }
        Ok((words.join(" "), self.optional_name_list()?))
    }

    pub(super) fn securable(&mut self) -> Parsed<Securable> {
        let class = self.optional_class()?;
        let name = self.object_name()?;
        Ok(Securable { class, name, columns: self.optional_name_list()? })
    }

    /// `CLASS::`, if it comes next: `APPLICATION ROLE::x` and `XML SCHEMA COLLECTION::x` have one of several words.
    pub(super) fn optional_class(&mut self) -> Parsed<Option<String>> {
        let words = (0..4).find(|ahead| self.nth_symbol(*ahead, Symbol::DoubleColon)).unwrap_or(0);
        if words == 0 {
            return Ok(None);
        }
        let parts = (0..words).map(|_| self.upper_word()).collect::<Parsed<Vec<_>>>()?;
        self.bump();
        Ok(Some(parts.join(" ")))
    }

    /// PUBLIC is a reserved word and the name of a role.
    pub(super) fn principal_name(&mut self) -> Parsed<Name> {
        if self.at_keyword(Keyword::Public) { self.any_word() } else { self.name() }
    }

    /// Whether a principal that is no reserved word comes behind CREATE or ALTER.
    pub(super) fn at_principal(&self) -> bool {
        self.at_word("LOGIN")
            || self.at_word("ROLE")
            || ((self.at_word("SERVER") || self.at_word("APPLICATION")) && self.nth_word(1, "ROLE"))
    }

    /// A principal behind CREATE or ALTER.
    pub(super) fn principal(&mut self, alter: bool) -> Parsed<StatementKind> {
        let mut kind = self.upper_word()?;
        if kind == "SERVER" || kind == "APPLICATION" {
            kind = format!("{kind} {}", self.upper_word()?);
        }
        let name = self.principal_name()?;
        let mut clauses = Vec::new();
        while let Some(clause) = self.principal_clause()? {
            clauses.push(clause);
        }
        let mut options = Vec::new();
        if self.eat_keyword(Keyword::With) {
            for options_of_one in self.list(Self::principal_option)? {
                options.extend(options_of_one);
            }
        }
        Ok(StatementKind::Principal(Box::new(Principal { alter, kind, name, clauses, options })))
    }

    fn principal_clause(&mut self) -> Parsed<Option<(String, Option<Name>)>> {
        const NAMED: &[&[&str]] = &[
            &["FOR", "LOGIN"],
            &["FROM", "LOGIN"],
            &["FOR", "CERTIFICATE"],
            &["FROM", "CERTIFICATE"],
            &["FOR", "ASYMMETRIC", "KEY"],
            &["FROM", "ASYMMETRIC", "KEY"],
            &["ADD", "CREDENTIAL"],
            &["DROP", "CREDENTIAL"],
            &["AUTHORIZATION"],
            &["ADD", "MEMBER"],
            &["DROP", "MEMBER"],
        ];
        const ALONE: &[&[&str]] = &[
            &["WITHOUT", "LOGIN"],
            &["FROM", "WINDOWS"],
            &["FOR", "EXTERNAL", "PROVIDER"],
            &["FROM", "EXTERNAL", "PROVIDER"],
            &["ENABLE"],
            &["DISABLE"],
        ];
        if let Some(words) = NAMED.iter().find(|words| self.eat_words(words)) {
            return Ok(Some((words.join(" "), Some(self.principal_name()?))));
        }
        Ok(ALONE.iter().find(|words| self.eat_words(words)).map(|words| (words.join(" "), None)))
    }

    /// `PASSWORD = 'x' MUST_CHANGE`, `PASSWORD = 'x' OLD_PASSWORD = 'y'`, `DEFAULT_SCHEMA = dbo`: an option, and those that
    /// follow it without a comma.
    fn principal_option(&mut self) -> Parsed<Vec<SettingOption>> {
        const NAMES: &[&str] = &["NAME", "LOGIN", "DEFAULT_DATABASE", "DEFAULT_SCHEMA", "DEFAULT_LANGUAGE"];
        let first = self.peek();
        let is_name = NAMES.iter().any(|name| self.at_word(name)) && self.nth_symbol(1, Symbol::Equal);
        if is_name && !matches!(self.nth(2).kind, TokenKind::Keyword(_)) {
            let name = self.upper_word()?;
            self.bump();
            let value = Some(SettingValue::Name(self.object_name()?));
            return Ok(vec![SettingOption { name, value, span: self.span_from(first) }]);
        }
        let mut options = vec![self.setting_option()?];
        while ["HASHED", "MUST_CHANGE", "UNLOCK", "OLD_PASSWORD"].iter().any(|word| self.at_word(word)) {
            options.push(self.setting_option()?);
        }
        Ok(options)
    }
}
