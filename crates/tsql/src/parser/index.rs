//! Indexes, statistics, and ALTER TABLE.

use super::Parser;
use super::refused::CHANGE_TRACKING;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    AlterIndex, AlterIndexAction, AlterTable, AlterTableAction, CreateIndex, CreateStatistics, DropElement,
    DropElementKind, DropIndex, DroppedIndex, Expr, IndexColumn, IndexKind, InlineIndex, Name, ObjectName,
    StatementKind, UpdateStatistics, UsingXmlIndex, XmlIndexPurpose,
};

impl Parser<'_> {
    /// CLUSTERED or NONCLUSTERED, if it comes next.
    pub(super) fn optional_clustered(&mut self) -> Option<bool> {
        if self.eat_keyword(Keyword::Clustered) {
            return Some(true);
        }
        self.eat_keyword(Keyword::Nonclustered).then_some(false)
    }

    pub(super) fn index_columns(&mut self) -> Parsed<Vec<IndexColumn>> {
        self.parenthesized(|parser| {
            let name = parser.name()?;
            let descending = parser.direction();
            Ok(IndexColumn { name, descending })
        })
    }

    fn optional_include(&mut self) -> Parsed<Vec<Name>> {
        if self.eat_word("INCLUDE") { self.name_list() } else { Ok(Vec::new()) }
    }

    fn index_filter(&mut self) -> Parsed<Option<crate::tree::Condition>> {
        if self.eat_keyword(Keyword::Where) { self.condition().map(Some) } else { Ok(None) }
    }

    /// `INDEX i ...` in a table; the word INDEX has been taken.
    pub(super) fn inline_index(&mut self) -> Parsed<InlineIndex> {
        let name = self.name()?;
        let unique = self.eat_keyword(Keyword::Unique);
        let clustered = self.optional_clustered();
        let kind = if self.eat_word("COLUMNSTORE") { IndexKind::Columnstore } else { IndexKind::Rows };
        let hash = self.eat_word("HASH");
        let columns = if self.at_symbol(Symbol::Open) { self.index_columns()? } else { Vec::new() };
        let include = self.optional_include()?;
        let filter = self.index_filter()?;
        let options = self.optional_with_options()?;
        let on = self.optional_placement()?;
        Ok(InlineIndex { name, unique, clustered, kind, hash, columns, include, filter, options, on })
    }

    /// Whether an index comes behind CREATE.
    pub(super) fn at_create_index(&self) -> bool {
        match self.peek().kind {
            TokenKind::Keyword(
                Keyword::Unique | Keyword::Clustered | Keyword::Nonclustered | Keyword::Index | Keyword::Primary,
            ) => true,
            TokenKind::Word => {
                (self.at_word("COLUMNSTORE") || self.at_word("XML") || self.at_word("SPATIAL"))
                    && self.nth_keyword(1, Keyword::Index)
            }
            _ => false,
        }
    }

    /// CREATE INDEX behind the word CREATE.
    pub(super) fn create_index(&mut self) -> Parsed<StatementKind> {
        let unique = self.eat_keyword(Keyword::Unique);
        let clustered = self.optional_clustered();
        let primary = self.eat_keyword(Keyword::Primary);
        if primary && !self.at_word("XML") {
            return Err(self.unexpected());
        }
        let is_plain = !unique && clustered.is_none();
        let kind = if self.eat_word("COLUMNSTORE") {
            IndexKind::Columnstore
        } else if is_plain && self.eat_word("XML") {
            IndexKind::Xml
        } else if is_plain && self.eat_word("SPATIAL") {
            IndexKind::Spatial
        } else {
            IndexKind::Rows
        };
        self.expect_keyword(Keyword::Index)?;
        let name = self.name()?;
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let columns = if kind == IndexKind::Columnstore && !self.at_symbol(Symbol::Open) {
            Vec::new()
        } else {
            self.index_columns()?
        };
        if kind == IndexKind::Spatial {
            self.tessellation()?;
        }
        let using = if kind == IndexKind::Xml && !primary { self.using_xml_index()? } else { None };
        // An index of xml has neither.
        let (include, filter) = match kind {
            IndexKind::Xml => (Vec::new(), None),
            _ => (self.optional_include()?, self.index_filter()?),
        };
        let options = self.index_options()?;
        let on = self.optional_placement()?;
        let index =
            CreateIndex { unique, clustered, kind, primary, name, table, columns, using, include, filter, options, on };
        Ok(StatementKind::CreateIndex(Box::new(index)))
    }

    /// `USING XML INDEX primary FOR PATH`, if it comes next.
    fn using_xml_index(&mut self) -> Parsed<Option<UsingXmlIndex>> {
        if !self.eat_words(&["USING", "XML"]) {
            return Ok(None);
        }
        self.expect_keyword(Keyword::Index)?;
        let primary = self.name()?;
        self.expect_keyword(Keyword::For)?;
        let purpose = if self.eat_word("PATH") {
            XmlIndexPurpose::Path
        } else if self.eat_word("PROPERTY") {
            XmlIndexPurpose::Property
        } else {
            self.expect_word("VALUE")?;
            XmlIndexPurpose::Value
        };
        Ok(Some(UsingXmlIndex { primary, purpose }))
    }

    /// `USING scheme` and `WITH (BOUNDING_BOX = (...), ...)` of a spatial index. As such indexes are refused, nothing is kept of them.
    fn tessellation(&mut self) -> Parsed<()> {
        if self.eat_word("USING") {
            self.name()?;
        }
        if self.eat_keyword(Keyword::With) { self.skip_parenthesized() } else { Ok(()) }
    }

    /// Parentheses and all that they hold, of which nothing is kept.
    pub(super) fn skip_parenthesized(&mut self) -> Parsed<()> {
        self.expect_symbol(Symbol::Open)?;
        let mut open = 1;
        while open > 0 {
            match self.peek().kind {
                TokenKind::Symbol(Symbol::Open) => open += 1,
                TokenKind::Symbol(Symbol::Close) => open -= 1,
                TokenKind::End | TokenKind::Bad => return Err(self.unexpected()),
                _ => {}
            }
            self.bump();
        }
        Ok(())
    }

    /// `WITH (...)`, or the older `WITH FILLFACTOR = 80, DROP_EXISTING` without parentheses.
    fn index_options(&mut self) -> Parsed<Vec<crate::tree::SettingOption>> {
        const BARE: &[&str] =
            &["FILLFACTOR", "PAD_INDEX", "DROP_EXISTING", "IGNORE_DUP_KEY", "SORT_IN_TEMPDB", "STATISTICS_NORECOMPUTE"];
        if self.at_keyword(Keyword::With) && BARE.iter().any(|word| self.nth_spells(1, word)) {
            return self.optional_with_bare_options();
        }
        self.optional_with_options()
    }

    /// ALTER INDEX behind its two words.
    pub(super) fn alter_index(&mut self) -> Parsed<StatementKind> {
        let name = if self.eat_keyword(Keyword::All) { None } else { Some(self.name()?) };
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let mut index = AlterIndex { name, table, action: AlterIndexAction::Set, partition: None, options: Vec::new() };
        if self.eat_keyword(Keyword::Set) {
            index.options = self.option_list()?;
            return Ok(StatementKind::AlterIndex(Box::new(index)));
        }
        if self.eat_word("DISABLE") {
            index.action = AlterIndexAction::Disable;
            return Ok(StatementKind::AlterIndex(Box::new(index)));
        }
        if let Some(word) = ["ABORT", "PAUSE", "RESUME"].into_iter().find(|word| self.at_word(word)) {
            return Err(SyntaxError::not_supported(self.peek().line, &format!("ALTER INDEX ... {word}")));
        }
        if self.eat_word("REORGANIZE") {
            index.action = AlterIndexAction::Reorganize;
        } else {
            self.expect_word("REBUILD")?;
            index.action = AlterIndexAction::Rebuild;
        }
        index.partition = self.optional_partition()?;
        index.options = self.optional_with_options()?;
        Ok(StatementKind::AlterIndex(Box::new(index)))
    }

    /// `PARTITION = n`, if it comes next; none for ALL.
    fn optional_partition(&mut self) -> Parsed<Option<Expr>> {
        if !self.eat_word("PARTITION") {
            return Ok(None);
        }
        self.eat_symbol(Symbol::Equal);
        if self.eat_keyword(Keyword::All) { Ok(None) } else { self.literal_or_variable().map(Some) }
    }

    /// DROP INDEX behind its two words.
    pub(super) fn drop_index(&mut self) -> Parsed<StatementKind> {
        let if_exists = self.eat_words(&["IF", "EXISTS"]);
        let indexes = self.list(|parser| {
            let name = parser.object_name()?;
            if parser.eat_keyword(Keyword::On) {
                let table = parser.object_name()?;
                let options = parser.optional_with_options()?;
                return Ok(DroppedIndex { name: name.name, table, options });
            }
            // The older spelling: DROP INDEX t.i.
            let ObjectName { server: _, database, schema: Some(table), name } = name else {
                return Err(parser.unexpected());
            };
            let table = ObjectName { server: None, database: None, schema: database, name: table };
            Ok(DroppedIndex { name, table, options: Vec::new() })
        })?;
        Ok(StatementKind::DropIndex(Box::new(DropIndex { if_exists, indexes })))
    }

    /// CREATE STATISTICS behind its two words.
    pub(super) fn create_statistics(&mut self) -> Parsed<StatementKind> {
        let name = self.name()?;
        self.expect_keyword(Keyword::On)?;
        let table = self.object_name()?;
        let columns = self.name_list()?;
        let filter = self.index_filter()?;
        let options = self.statistics_options()?;
        Ok(StatementKind::CreateStatistics(Box::new(CreateStatistics { name, table, columns, filter, options })))
    }

    pub(super) fn update_statistics(&mut self) -> Parsed<StatementKind> {
        self.bump();
        self.bump();
        let table = self.object_name()?;
        let names = if self.at_symbol(Symbol::Open) {
            self.name_list()?
        } else if self.at_alias() {
            vec![self.name()?]
        } else {
            Vec::new()
        };
        let options = self.statistics_options()?;
        Ok(StatementKind::UpdateStatistics(Box::new(UpdateStatistics { table, names, options })))
    }

    /// `WITH FULLSCAN, SAMPLE 10 PERCENT, NORECOMPUTE`
    fn statistics_options(&mut self) -> Parsed<Vec<crate::tree::SettingOption>> {
        if !self.eat_keyword(Keyword::With) {
            return Ok(Vec::new());
        }
        self.list(|parser| {
            let first = parser.peek();
            let mut option = parser.setting_option()?;
            if option.name == "SAMPLE" && option.value.is_none() {
                let count = parser.literal_or_variable()?;
                let unit = if parser.eat_word("ROWS") {
                    "ROWS"
                } else {
                    parser.expect_keyword(Keyword::Percent)?;
                    "PERCENT"
                };
                option.value = Some(crate::tree::SettingValue::Measure(count, unit.to_string()));
                option.span = parser.span_from(first);
            }
            Ok(option)
        })
    }

    /// ALTER TABLE behind its two words.
    pub(super) fn alter_table(&mut self) -> Parsed<StatementKind> {
        let table = self.object_name()?;
        let check = if self.eat_words(&["WITH", "CHECK"]) {
            Some(true)
        } else if self.eat_words(&["WITH", "NOCHECK"]) {
            Some(false)
        } else {
            None
        };
        let action = self.alter_table_action(check)?;
        Ok(StatementKind::AlterTable(Box::new(AlterTable { table, action })))
    }

    fn alter_table_action(&mut self, check: Option<bool>) -> Parsed<AlterTableAction> {
        let token = self.peek();
        match token.kind {
            TokenKind::Keyword(Keyword::Add) => {
                self.bump();
                Ok(AlterTableAction::Add { check, elements: self.added_elements()? })
            }
            TokenKind::Keyword(Keyword::Check | Keyword::Nocheck) => {
                let enable = self.bump().kind == TokenKind::Keyword(Keyword::Check);
                self.expect_keyword(Keyword::Constraint)?;
                Ok(AlterTableAction::SetConstraints { check, enable, names: self.names_or_all()? })
            }
            _ if check.is_some() => Err(self.unexpected()),
            TokenKind::Keyword(Keyword::Alter) => {
                self.bump();
                if self.at_keyword(Keyword::Index) {
                    return Err(SyntaxError::not_supported(token.line, "ALTER TABLE ... ALTER INDEX"));
                }
                self.expect_keyword(Keyword::Column)?;
                self.alter_column()
            }
            TokenKind::Keyword(Keyword::Drop) => {
                self.bump();
                self.drop_elements()
            }
            TokenKind::Keyword(Keyword::Set) => {
                self.bump();
                self.option_list().map(AlterTableAction::Set)
            }
            _ => self.alter_table_word(),
        }
    }

    fn alter_table_word(&mut self) -> Parsed<AlterTableAction> {
        if self.at_word("ENABLE") || self.at_word("DISABLE") {
            let enable = self.eat_word("ENABLE");
            if !enable {
                self.bump();
            }
            let refused = [("CHANGE_TRACKING", CHANGE_TRACKING), ("FILETABLE_NAMESPACE", "FILETABLE_NAMESPACE")];
            if let Some((_, refused)) = refused.into_iter().find(|(word, _)| self.at_word(word)) {
                return Err(SyntaxError::not_supported(self.peek().line, refused));
            }
            self.expect_keyword(Keyword::Trigger)?;
            return Ok(AlterTableAction::SetTriggers { enable, names: self.names_or_all()? });
        }
        if self.eat_word("REBUILD") {
            let partition = self.optional_partition()?;
            return Ok(AlterTableAction::Rebuild { partition, options: self.optional_with_options()? });
        }
        self.expect_word("SWITCH")?;
        let partition = self.optional_partition()?;
        self.expect_keyword(Keyword::To)?;
        let target = Box::new(self.object_name()?);
        let target_partition = self.optional_partition()?;
        let options = self.optional_with_options()?;
        Ok(AlterTableAction::Switch { partition, target, target_partition, options })
    }

    fn names_or_all(&mut self) -> Parsed<Vec<Name>> {
        if self.eat_keyword(Keyword::All) { Ok(Vec::new()) } else { self.list(Self::name) }
    }

    fn alter_column(&mut self) -> Parsed<AlterTableAction> {
        let column = self.name()?;
        let add = self.at_keyword(Keyword::Add);
        if add || self.at_keyword(Keyword::Drop) {
            self.bump();
            if self.at_word("MASKED") {
                let function = if add {
                    Some(self.mask()?)
                } else {
                    self.bump();
                    None
                };
                return Ok(AlterTableAction::AlterColumnMask { column, function });
            }
            let property =
                if self.not_for_replication() { "NOT FOR REPLICATION".to_string() } else { self.upper_word()? };
            let options = self.optional_with_options()?;
            return Ok(AlterTableAction::AlterColumnProperty { column, add, property, options });
        }
        let column = Box::new(self.altered_column(column)?);
        Ok(AlterTableAction::AlterColumn { column, options: self.optional_with_options()? })
    }

    /// `CONSTRAINT a, b, COLUMN c, d`: a kind holds until the next one is said.
    fn drop_elements(&mut self) -> Parsed<AlterTableAction> {
        let mut kind = DropElementKind::Constraint;
        let mut if_exists = false;
        let elements = self.list(|parser| {
            let said = if parser.eat_keyword(Keyword::Constraint) {
                Some(DropElementKind::Constraint)
            } else if parser.eat_keyword(Keyword::Column) {
                Some(DropElementKind::Column)
            } else if parser.eat_keyword(Keyword::Index) {
                Some(DropElementKind::Index)
            } else if parser.eat_words(&["PERIOD", "FOR"]) {
                Some(DropElementKind::Period)
            } else {
                None
            };
            if let Some(said) = said {
                kind = said;
                if_exists = parser.eat_words(&["IF", "EXISTS"]);
            }
            let name = parser.name()?;
            Ok(DropElement { kind, if_exists, name, options: parser.optional_with_options()? })
        })?;
        Ok(AlterTableAction::Drop(elements))
    }
}
