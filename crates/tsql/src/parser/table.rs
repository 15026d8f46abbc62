//! CREATE TABLE and ALTER TABLE.

use super::Parser;
use super::refused::GRAPH;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    ColumnConstraint, ColumnDefinition, ColumnKind, ConstraintKind, CreateTable, DefaultConstraint, ForeignKey,
    Identity, KeyConstraint, Name, Placement, ReferentialAction, StatementKind, TableConstraint, TableElement,
};

impl Parser<'_> {
    /// CREATE TABLE behind its two words.
    pub(super) fn create_table(&mut self) -> Parsed<StatementKind> {
        let name = self.object_name()?;
        self.refuse_table_kind()?;
        let elements = self.table_elements()?;
        let mut table = CreateTable { name, elements, on: None, textimage_on: None, options: Vec::new() };
        loop {
            self.refuse_table_kind()?;
            if self.at_keyword(Keyword::On) {
                table.on = self.optional_placement()?;
            } else if self.eat_word("TEXTIMAGE_ON") || self.eat_word("FILESTREAM_ON") {
                table.textimage_on = Some(self.filegroup()?);
            } else if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
                table.options = self.optional_with_options()?;
            } else {
                return Ok(StatementKind::CreateTable(Box::new(table)));
            }
        }
    }

    /// `AS NODE`, `AS EDGE`, `AS FILETABLE`
    fn refuse_table_kind(&self) -> Parsed<()> {
        let refused = match () {
            () if !self.at_keyword(Keyword::As) => return Ok(()),
            () if self.nth_word(1, "NODE") || self.nth_word(1, "EDGE") => GRAPH,
            () if self.nth_word(1, "FILETABLE") => "CREATE TABLE ... AS FILETABLE",
            () => return Ok(()),
        };
        Err(SyntaxError::not_supported(self.peek().line, refused))
    }

    /// The name of a filegroup: also PRIMARY, DEFAULT, or a text.
    pub(super) fn filegroup(&mut self) -> Parsed<Name> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(Keyword::Primary | Keyword::Default) => self.any_word(),
            TokenKind::Text { .. } => Ok(Name { text: self.text()?, span: self.span_of(token) }),
            _ => self.name(),
        }
    }

    /// `ON filegroup`, `ON scheme (column)`, if it comes next.
    pub(super) fn optional_placement(&mut self) -> Parsed<Option<Placement>> {
        if self.eat_keyword(Keyword::On) { self.placement().map(Some) } else { Ok(None) }
    }

    /// `filegroup` or `scheme (column)`
    pub(super) fn placement(&mut self) -> Parsed<Placement> {
        let name = self.filegroup()?;
        let mut column = None;
        if self.eat_symbol(Symbol::Open) {
            column = Some(self.name()?);
            self.expect_symbol(Symbol::Close)?;
        }
        Ok(Placement { name, column })
    }

    /// The columns, constraints and indexes of a table in their parentheses; a comma may stand behind the last one.
    pub(super) fn table_elements(&mut self) -> Parsed<Vec<TableElement>> {
        self.expect_symbol(Symbol::Open)?;
        let mut elements = self.elements_in_row()?;
        while self.eat_symbol(Symbol::Comma) {
            if self.at_symbol(Symbol::Close) {
                break;
            }
            elements.append(&mut self.elements_in_row()?);
        }
        self.expect_symbol(Symbol::Close)?;
        Ok(elements)
    }

    /// What ALTER TABLE ... ADD takes.
    pub(super) fn added_elements(&mut self) -> Parsed<Vec<TableElement>> {
        Ok(self.list(Self::elements_in_row)?.into_iter().flatten().collect())
    }

    /// One element, and the constraints that follow it without a comma.
    fn elements_in_row(&mut self) -> Parsed<Vec<TableElement>> {
        let mut elements = vec![self.table_element()?];
        while self.at_table_constraint() {
            elements.push(self.table_element()?);
        }
        Ok(elements)
    }

    fn at_table_constraint(&self) -> bool {
        matches!(
            self.peek().kind,
            TokenKind::Keyword(
                Keyword::Constraint
                    | Keyword::Primary
                    | Keyword::Unique
                    | Keyword::Foreign
                    | Keyword::Check
                    | Keyword::Default
            )
        )
    }

    /// One column, constraint or index.
    fn table_element(&mut self) -> Parsed<TableElement> {
        if self.at_table_constraint() {
            let name = self.constraint_name()?;
            let kind = self.table_constraint_kind()?;
            return Ok(TableElement::Constraint(TableConstraint { name, kind }));
        }
        if self.eat_keyword(Keyword::Index) {
            return self.inline_index().map(TableElement::Index);
        }
        if self.at_word("PERIOD") && self.nth_keyword(1, Keyword::For) {
            self.expect_words(&["PERIOD", "FOR", "SYSTEM_TIME"])?;
            self.expect_symbol(Symbol::Open)?;
            let start = self.name()?;
            self.expect_symbol(Symbol::Comma)?;
            let end = self.name()?;
            self.expect_symbol(Symbol::Close)?;
            return Ok(TableElement::Period(start, end));
        }
        self.column_definition().map(TableElement::Column)
    }

    fn constraint_name(&mut self) -> Parsed<Option<Name>> {
        if self.eat_keyword(Keyword::Constraint) { self.name().map(Some) } else { Ok(None) }
    }

    fn table_constraint_kind(&mut self) -> Parsed<ConstraintKind> {
        match self.peek().kind {
            TokenKind::Keyword(Keyword::Primary | Keyword::Unique) => {
                let mut key = self.key_constraint()?;
                if key.columns.is_empty() {
                    return Err(self.unexpected());
                }
                self.key_tail(&mut key)?;
                Ok(ConstraintKind::Key(key))
            }
            TokenKind::Keyword(Keyword::Foreign) => {
                self.bump();
                self.expect_keyword(Keyword::Key)?;
                // Without columns it is that of the one column before it, or an error of who looks for them.
                let columns = self.optional_name_list()?;
                self.references(columns).map(ConstraintKind::Foreign)
            }
            TokenKind::Keyword(Keyword::Check) => self.check(),
            TokenKind::Word if self.at_word("CONNECTION") => Err(SyntaxError::not_supported(self.peek().line, GRAPH)),
            TokenKind::Keyword(Keyword::Default) => {
                self.bump();
                let expr = self.expression()?;
                self.expect_keyword(Keyword::For)?;
                let column = self.name()?;
                let with_values = self.eat_words(&["WITH", "VALUES"]);
                Ok(ConstraintKind::Default { expr, column, with_values })
            }
            _ => Err(self.unexpected()),
        }
    }

    /// `PRIMARY KEY` or `UNIQUE` with its columns, if they come.
    fn key_constraint(&mut self) -> Parsed<KeyConstraint> {
        let primary = self.eat_keyword(Keyword::Primary);
        self.expect_keyword(if primary { Keyword::Key } else { Keyword::Unique })?;
        let clustered = self.optional_clustered();
        let hash = self.eat_word("HASH");
        let columns = if self.at_symbol(Symbol::Open) { self.index_columns()? } else { Vec::new() };
        Ok(KeyConstraint { primary, clustered, hash, columns, options: Vec::new(), on: None })
    }

    /// Options and place of a key.
    fn key_tail(&mut self, key: &mut KeyConstraint) -> Parsed<()> {
        if self.at_keyword(Keyword::With) && self.nth_keyword(1, Keyword::Fillfactor) {
            self.bump();
            key.options = vec![self.setting_option()?];
        } else {
            key.options = self.optional_with_options()?;
        }
        key.on = self.optional_placement()?;
        Ok(())
    }

    fn check(&mut self) -> Parsed<ConstraintKind> {
        self.bump();
        let not_for_replication = self.not_for_replication();
        self.expect_symbol(Symbol::Open)?;
        let condition = self.condition()?;
        self.expect_symbol(Symbol::Close)?;
        Ok(ConstraintKind::Check { not_for_replication, condition })
    }

    pub(super) fn not_for_replication(&mut self) -> bool {
        self.eat_words(&["NOT", "FOR", "REPLICATION"])
    }

    fn references(&mut self, columns: Vec<Name>) -> Parsed<ForeignKey> {
        self.expect_keyword(Keyword::References)?;
        let table = self.object_name()?;
        let referenced = self.optional_name_list()?;
        let mut key = ForeignKey {
            columns,
            table,
            referenced,
            on_delete: ReferentialAction::NoAction,
            on_update: ReferentialAction::NoAction,
            not_for_replication: false,
        };
        loop {
            if self.eat_words(&["ON", "DELETE"]) {
                key.on_delete = self.referential_action()?;
            } else if self.eat_words(&["ON", "UPDATE"]) {
                key.on_update = self.referential_action()?;
            } else if self.not_for_replication() {
                key.not_for_replication = true;
            } else {
                return Ok(key);
            }
        }
    }

    fn referential_action(&mut self) -> Parsed<ReferentialAction> {
        if self.eat_words(&["NO", "ACTION"]) {
            return Ok(ReferentialAction::NoAction);
        }
        if self.eat_keyword(Keyword::Cascade) {
            return Ok(ReferentialAction::Cascade);
        }
        self.expect_keyword(Keyword::Set)?;
        if self.eat_keyword(Keyword::Null) {
            return Ok(ReferentialAction::SetNull);
        }
        self.expect_keyword(Keyword::Default)?;
        Ok(ReferentialAction::SetDefault)
    }

    /// `NULL` or `NOT NULL`, if it comes next.
    pub(super) fn optional_nullable(&mut self) -> Parsed<Option<bool>> {
        if self.eat_keyword(Keyword::Null) {
            return Ok(Some(true));
        }
        if self.at_keyword(Keyword::Not) && self.nth_keyword(1, Keyword::Null) {
            self.bump();
            self.bump();
            return Ok(Some(false));
        }
        Ok(None)
    }

    fn column_definition(&mut self) -> Parsed<ColumnDefinition> {
        let name = self.name()?;
        if self.eat_keyword(Keyword::As) {
            let expr = self.expression()?;
            let persisted = self.eat_word("PERSISTED");
            let mut column = bare_column(name, ColumnKind::Computed { expr, persisted });
            self.column_properties(&mut column)?;
            return Ok(column);
        }
        // `timestamp` is a column's name and type at once.
        let lone_timestamp = name.is("timestamp") && (self.at_symbol(Symbol::Comma) || self.at_symbol(Symbol::Close));
        let data_type = if lone_timestamp {
            crate::tree::DataType { schema: None, name: name.clone(), arguments: crate::tree::TypeArguments::None }
        } else {
            self.data_type()?
        };
        let mut column = bare_column(name, ColumnKind::Stored(data_type));
        self.column_properties(&mut column)?;
        Ok(column)
    }

    /// What stands behind a column's type, in any order.
    fn column_properties(&mut self, column: &mut ColumnDefinition) -> Parsed<()> {
        loop {
            if let Some(nullable) = self.optional_nullable()? {
                column.nullable = Some(nullable);
                continue;
            }
            let token = self.peek();
            match token.kind {
                TokenKind::Keyword(Keyword::Collate) => {
                    self.bump();
                    column.collation = Some(self.name()?);
                }
                TokenKind::Keyword(Keyword::Identity) => {
                    self.bump();
                    column.identity = Some(self.identity()?);
                }
                TokenKind::Keyword(Keyword::Rowguidcol) => {
                    self.bump();
                    column.rowguidcol = true;
                }
                TokenKind::Keyword(Keyword::Index) => {
                    self.bump();
                    let index = self.inline_index()?;
                    column.indexes.push(index);
                }
                TokenKind::Keyword(
                    Keyword::Constraint
                    | Keyword::Default
                    | Keyword::Primary
                    | Keyword::Unique
                    | Keyword::Check
                    | Keyword::References
                    | Keyword::Foreign,
                ) => {
                    if !self.column_constraint(column)? {
                        return Ok(());
                    }
                }
                TokenKind::Word => {
                    if !self.column_word(column)? {
                        return Ok(());
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn identity(&mut self) -> Parsed<Identity> {
        let mut range = None;
        if self.eat_symbol(Symbol::Open) {
            let seed = self.signed_digits()?;
            self.expect_symbol(Symbol::Comma)?;
            range = Some((seed, self.signed_digits()?));
            self.expect_symbol(Symbol::Close)?;
        }
        Ok(Identity { range, not_for_replication: self.not_for_replication() })
    }

    fn signed_digits(&mut self) -> Parsed<String> {
        let minus = self.eat_symbol(Symbol::Minus);
        if !minus {
            self.eat_symbol(Symbol::Plus);
        }
        let token = self.peek();
        if token.kind != TokenKind::Integer {
            return Err(self.unexpected());
        }
        self.bump();
        Ok(format!("{}{}", if minus { "-" } else { "" }, self.source(token)))
    }

    /// A constraint behind a column. False when it is one of the table that only lacks its comma.
    fn column_constraint(&mut self, column: &mut ColumnDefinition) -> Parsed<bool> {
        let kind_at = if self.at_keyword(Keyword::Constraint) { 2 } else { 0 };
        if self.is_table_constraint(kind_at) {
            return Ok(false);
        }
        let name = self.constraint_name()?;
        let kind = match self.peek().kind {
            TokenKind::Keyword(Keyword::Default) => {
                self.bump();
                let expr = self.expression()?;
                let with_values = self.eat_words(&["WITH", "VALUES"]);
                if column.default.is_none() {
                    column.default = Some(DefaultConstraint { name, expr, with_values });
                    return Ok(true);
                }
                // One too many, which whoever makes the column refuses.
                ConstraintKind::Default { expr, column: column.name.clone(), with_values }
            }
            TokenKind::Keyword(Keyword::Primary | Keyword::Unique) => {
                let mut key = self.key_constraint()?;
                self.key_tail(&mut key)?;
                ConstraintKind::Key(key)
            }
            TokenKind::Keyword(Keyword::Foreign) => {
                self.bump();
                self.expect_keyword(Keyword::Key)?;
                ConstraintKind::Foreign(self.references(Vec::new())?)
            }
            TokenKind::Keyword(Keyword::References) => ConstraintKind::Foreign(self.references(Vec::new())?),
            TokenKind::Keyword(Keyword::Check) => self.check()?,
            _ => return Err(self.unexpected()),
        };
        column.constraints.push(ColumnConstraint { name, kind });
        Ok(true)
    }

    /// Whether the constraint `ahead` names its columns and so belongs to the table.
    fn is_table_constraint(&self, ahead: usize) -> bool {
        match self.nth(ahead).kind {
            TokenKind::Keyword(Keyword::Foreign) => self.nth_symbol(ahead + 2, Symbol::Open),
            TokenKind::Keyword(Keyword::Primary | Keyword::Unique) => {
                let mut behind = ahead + 1;
                while matches!(
                    self.nth(behind).kind,
                    TokenKind::Keyword(Keyword::Key | Keyword::Clustered | Keyword::Nonclustered)
                ) {
                    behind += 1;
                }
                self.nth_symbol(behind, Symbol::Open)
            }
            _ => false,
        }
    }

    /// Properties that are no reserved words. False when the word is none of them.
    fn column_word(&mut self, column: &mut ColumnDefinition) -> Parsed<bool> {
        if self.eat_word("SPARSE") {
            column.sparse = true;
        } else if self.eat_word("HIDDEN") {
            column.hidden = true;
        } else if self.eat_word("PERSISTED") {
            if let ColumnKind::Computed { persisted, .. } = &mut column.kind {
                *persisted = true;
            }
        } else if self.eat_word("GENERATED") {
            self.expect_words(&["ALWAYS", "AS"])?;
            let first = self.upper_word()?;
            column.generated = Some(format!("{first} {}", self.upper_word()?));
        } else if self.at_word("MASKED") && may_be_masked(column) {
            column.masked = Some(self.mask()?);
        } else {
            self.refuse_column_word()?;
            return Ok(false);
        }
        Ok(true)
    }

    /// `MASKED WITH (FUNCTION = 'f()')`
    pub(super) fn mask(&mut self) -> Parsed<String> {
        self.bump();
        self.expect_keyword(Keyword::With)?;
        self.expect_symbol(Symbol::Open)?;
        self.expect_keyword(Keyword::Function)?;
        self.expect_symbol(Symbol::Equal)?;
        let function = self.text()?;
        self.expect_symbol(Symbol::Close)?;
        Ok(function)
    }

    /// Properties of columns that there are no rules for.
    fn refuse_column_word(&self) -> Parsed<()> {
        let refused = match () {
            () if self.at_word("ENCRYPTED") && self.nth_keyword(1, Keyword::With) => "Always Encrypted",
            () if self.at_word("FILESTREAM") => "FILESTREAM",
            () if self.at_word("COLUMN_SET") => "COLUMN_SET",
            () => return Ok(()),
        };
        Err(SyntaxError::not_supported(self.peek().line, refused))
    }

    /// A column's new type in ALTER COLUMN.
    pub(super) fn altered_column(&mut self, name: Name) -> Parsed<ColumnDefinition> {
        let kind = ColumnKind::Stored(self.data_type()?);
        let mut column = bare_column(name, kind);
        loop {
            if self.eat_keyword(Keyword::Collate) {
                column.collation = Some(self.name()?);
            } else if self.eat_word("SPARSE") {
                column.sparse = true;
            } else if self.at_word("MASKED") && may_be_masked(&column) {
                column.masked = Some(self.mask()?);
            } else if let Some(nullable) = self.optional_nullable()? {
                column.nullable = Some(nullable);
            } else {
                self.refuse_column_word()?;
                return Ok(column);
            }
        }
    }
}

/// Whether MASKED may come now: it stands before NULL, constraints and IDENTITY.
fn may_be_masked(column: &ColumnDefinition) -> bool {
    let is_stored = column.data_type().is_some() && column.masked.is_none();
    let is_bare = column.nullable.is_none() && column.default.is_none() && column.identity.is_none();
    is_stored && is_bare && column.constraints.is_empty() && column.indexes.is_empty()
}

/// A column of which nothing but the name and the kind is said.
pub(super) fn bare_column(name: Name, kind: ColumnKind) -> ColumnDefinition {
    ColumnDefinition {
        name,
        kind,
        collation: None,
        nullable: None,
        default: None,
        identity: None,
        constraints: Vec::new(),
        indexes: Vec::new(),
        sparse: false,
        rowguidcol: false,
        hidden: false,
        generated: None,
        masked: None,
    }
}
