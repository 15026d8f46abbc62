//! FROM: tables, derived tables, functions, joins, hints.

use super::Parser;
use super::refused::{CHANGE_TRACKING, FULL_TEXT};
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind};
use crate::tree::{
    BulkColumn, BulkRowset, ColumnKind, DerivedTable, Expr, ExprKind, FunctionArgument, FunctionCall, Join, JoinHint,
    JoinKind, JsonColumn, MethodCall, Name, ObjectName, Pivot, Query, QueryBody, SystemTime, TableFunction, TableHint,
    TableRef, TableSample, TableSource, Unpivot,
};

/// The hints that are no reserved words and take no arguments.
const HINTS: &[&str] = &[
    "FASTFIRSTROW",
    "FORCESCAN",
    "FORCESEEK",
    "IGNORE_CONSTRAINTS",
    "IGNORE_TRIGGERS",
    "KEEPDEFAULTS",
    "KEEPIDENTITY",
    "NOEXPAND",
    "NOLOCK",
    "NOWAIT",
    "PAGLOCK",
    "READCOMMITTED",
    "READCOMMITTEDLOCK",
    "READPAST",
    "READUNCOMMITTED",
    "REPEATABLEREAD",
    "ROWLOCK",
    "SERIALIZABLE",
    "SNAPSHOT",
    "SPATIAL_WINDOW_MAX_CELLS",
    "TABLOCK",
    "TABLOCKX",
    "UPDLOCK",
    "XLOCK",
];

/// What parentheses in FROM hold: a query that still needs its alias, or sources.
enum Inside {
    Query(Box<Query>),
    Source(TableSource),
}

impl Parser<'_> {
    /// A source of rows with the joins behind it.
    pub(super) fn table_source(&mut self) -> Parsed<TableSource> {
        self.nested(|parser| {
            let first = parser.single_source()?;
            parser.joins(first)
        })
    }

    fn joins(&mut self, mut left: TableSource) -> Parsed<TableSource> {
        while self.at_join() {
            left = self.join(left)?;
        }
        Ok(left)
    }

    fn at_join(&self) -> bool {
        matches!(
            self.peek().kind,
            TokenKind::Keyword(
                Keyword::Join
                    | Keyword::Inner
                    | Keyword::Left
                    | Keyword::Right
                    | Keyword::Full
                    | Keyword::Cross
                    | Keyword::Outer
            )
        )
    }

    /// One join behind `left`.
    fn join(&mut self, left: TableSource) -> Parsed<TableSource> {
        let (kind, hint) = self.join_words()?;
        let right = self.nested(|parser| {
            let mut right = parser.single_source()?;
            // `a JOIN b JOIN c ON x ON y`: the inner join comes first.
            if !matches!(kind, JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply) {
                while parser.at_join() {
                    right = parser.join(right)?;
                }
            }
            Ok(right)
        })?;
        let on = match kind {
            JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply => None,
            _ => {
                self.expect_keyword(Keyword::On)?;
                Some(self.condition()?)
            }
        };
        self.grow()?;
        Ok(TableSource::Join(Box::new(Join { left, kind, hint, right, on })))
    }

    fn join_words(&mut self) -> Parsed<(JoinKind, Option<JoinHint>)> {
        if self.eat_keyword(Keyword::Cross) {
            if self.eat_word("APPLY") {
                return Ok((JoinKind::CrossApply, None));
            }
            self.expect_keyword(Keyword::Join)?;
            return Ok((JoinKind::Cross, None));
        }
        if self.eat_keyword(Keyword::Outer) {
            self.expect_word("APPLY")?;
            return Ok((JoinKind::OuterApply, None));
        }
        let kind = match self.peek().kind {
            TokenKind::Keyword(Keyword::Left) => JoinKind::Left,
            TokenKind::Keyword(Keyword::Right) => JoinKind::Right,
            TokenKind::Keyword(Keyword::Full) => JoinKind::Full,
            _ => JoinKind::Inner,
        };
        if self.eat_keyword(Keyword::Join) {
            return Ok((kind, None));
        }
        self.bump();
        if kind != JoinKind::Inner {
            self.eat_keyword(Keyword::Outer);
        }
        let hint = if self.eat_word("LOOP") {
            Some(JoinHint::Loop)
        } else if self.eat_word("HASH") {
            Some(JoinHint::Hash)
        } else if self.eat_word("REMOTE") {
            Some(JoinHint::Remote)
        } else if self.eat_keyword(Keyword::Merge) {
            Some(JoinHint::Merge)
        } else {
            None
        };
        self.expect_keyword(Keyword::Join)?;
        Ok((kind, hint))
    }

    fn single_source(&mut self) -> Parsed<TableSource> {
        let mut source = self.plain_source()?;
        loop {
            if self.eat_keyword(Keyword::Pivot) {
                source = self.pivot(source)?;
            } else if self.eat_keyword(Keyword::Unpivot) {
                source = self.unpivot(source)?;
            } else {
                return Ok(source);
            }
            self.grow()?;
        }
    }

    fn plain_source(&mut self) -> Parsed<TableSource> {
        match self.peek().kind {
            TokenKind::Symbol(Symbol::Open) => {
                let inside = self.parenthesized_source()?;
                match inside {
                    Inside::Query(query) => self.derived_table(*query),
                    Inside::Source(source) => Ok(source),
                }
            }
            // ODBC's escape around outer joins says nothing.
            TokenKind::Symbol(Symbol::OpenBrace) => {
                self.bump();
                self.expect_word("oj")?;
                let source = self.table_source()?;
                self.expect_symbol(Symbol::CloseBrace)?;
                Ok(source)
            }
            TokenKind::Variable if self.nth_symbol(1, Symbol::Dot) => {
                let operand = self.primary()?;
                self.table_method(operand)
            }
            TokenKind::Variable => {
                let name = self.variable()?;
                Ok(TableSource::Variable { name, alias: self.optional_alias()? })
            }
            // The system's functions were once called so.
            TokenKind::Symbol(Symbol::DoubleColon) => {
                self.bump();
                let name = ObjectName::of(self.name()?);
                self.table_function(name)
            }
            TokenKind::Keyword(Keyword::OpenRowset)
                if self.nth_symbol(1, Symbol::Open) && self.nth(2).kind == TokenKind::Keyword(Keyword::Bulk) =>
            {
                self.bulk_rowset()
            }
            TokenKind::Keyword(
                Keyword::ContainsTable
                | Keyword::FreetextTable
                | Keyword::SemanticKeyPhraseTable
                | Keyword::SemanticSimilarityTable
                | Keyword::SemanticSimilarityDetailsTable,
            ) => Err(SyntaxError::not_supported(self.peek().line, FULL_TEXT)),
            TokenKind::Word if self.at_word("CHANGETABLE") && self.nth_symbol(1, Symbol::Open) => {
                Err(SyntaxError::not_supported(self.peek().line, CHANGE_TRACKING))
            }
            // What other servers hold is refused when it is bound, so a module that has it in a branch can be made.
            TokenKind::Keyword(Keyword::OpenRowset | Keyword::OpenDatasource) => {
                let name = ObjectName::of(self.any_word()?);
                self.skip_parenthesized()?;
                if self.eat_symbol(Symbol::Dot) {
                    self.object_name()?;
                }
                self.function_rows(None, FunctionCall::named(name))
            }
            TokenKind::Keyword(Keyword::OpenQuery | Keyword::OpenXml) => {
                let name = ObjectName::of(self.any_word()?);
                self.table_function(name)
            }
            _ => {
                let name = self.object_name()?;
                if self.at_symbol(Symbol::Open) && !self.at_bare_hints() {
                    return self.table_function(name);
                }
                self.table_ref(name)
            }
        }
    }

    /// What parentheses hold, and the parentheses. `((SELECT 1) UNION SELECT 2)` and `((SELECT 1) AS a JOIN b ON ...)` begin alike.
    fn parenthesized_source(&mut self) -> Parsed<Inside> {
        let around = std::mem::replace(&mut self.orders_parts, true);
        let inside = self.inside_parentheses()?;
        self.orders_parts = around;
        Ok(inside)
    }

    fn inside_parentheses(&mut self) -> Parsed<Inside> {
        self.nested(|parser| {
            let first = parser.expect_symbol(Symbol::Open)?;
            if let TokenKind::Keyword(Keyword::Insert | Keyword::Update | Keyword::Delete | Keyword::Merge) =
                parser.peek().kind
            {
                return Err(SyntaxError::changed_rows_not_inserted(first.line));
            }
            let inside = if parser.at_keyword(Keyword::Select) {
                Inside::Query(Box::new(parser.query()?))
            } else if parser.eat_keyword(Keyword::Values) {
                let body = QueryBody::Values(parser.value_rows()?);
                Inside::Query(Box::new(Query::bare(body, parser.span_from(first))))
            } else if parser.at_symbol(Symbol::Open) {
                match parser.parenthesized_source()? {
                    Inside::Query(query) if parser.at_set_operator() => {
                        Inside::Query(Box::new(parser.continue_query(*query)?))
                    }
                    Inside::Query(query) if parser.at_symbol(Symbol::Close) => Inside::Query(query),
                    Inside::Query(query) => {
                        let source = parser.derived_table(*query)?;
                        Inside::Source(parser.joins(source)?)
                    }
                    Inside::Source(source) => Inside::Source(parser.joins(source)?),
                }
            } else {
                match parser.table_source()? {
                    // Parentheses are around joins.
                    TableSource::Table(_) => return Err(parser.unexpected()),
                    source => Inside::Source(source),
                }
            };
            parser.expect_symbol(Symbol::Close)?;
            Ok(inside)
        })
    }

    fn derived_table(&mut self, query: Query) -> Parsed<TableSource> {
        self.eat_keyword(Keyword::As);
        let alias = self.name()?;
        let columns = self.optional_name_list()?;
        self.grow()?;
        Ok(TableSource::Derived(Box::new(DerivedTable { query, alias, columns })))
    }

    /// `[AS] alias`, if it comes next.
    pub(super) fn optional_alias(&mut self) -> Parsed<Option<Name>> {
        if self.eat_keyword(Keyword::As) || (self.at_alias() && !self.at_window_clause()) {
            return self.name().map(Some);
        }
        Ok(None)
    }

    fn table_ref(&mut self, name: ObjectName) -> Parsed<TableSource> {
        let mut table = TableRef { name, system_time: None, alias: None, sample: None, hints: Vec::new() };
        // Hints in parentheses alone may stand before the alias too.
        if self.at_bare_hints() {
            table.hints = self.table_hints()?;
        }
        if self.at_keyword(Keyword::For) && self.nth_word(1, "SYSTEM_TIME") {
            self.bump();
            self.bump();
            table.system_time = Some(self.system_time()?);
        }
        table.alias = self.optional_alias()?;
        if self.eat_keyword(Keyword::TableSample) {
            table.sample = Some(self.table_sample()?);
        }
        table.hints.extend(self.optional_hints()?);
        Ok(TableSource::Table(Box::new(table)))
    }

    fn system_time(&mut self) -> Parsed<SystemTime> {
        if self.eat_keyword(Keyword::All) {
            return Ok(SystemTime::All);
        }
        if self.eat_keyword(Keyword::As) {
            self.expect_keyword(Keyword::Of)?;
            return Ok(SystemTime::AsOf(self.literal_or_variable()?));
        }
        if self.eat_keyword(Keyword::From) {
            let from = self.literal_or_variable()?;
            self.expect_keyword(Keyword::To)?;
            return Ok(SystemTime::FromTo(Box::new([from, self.literal_or_variable()?])));
        }
        if self.eat_keyword(Keyword::Between) {
            let low = self.literal_or_variable()?;
            self.expect_keyword(Keyword::And)?;
            return Ok(SystemTime::Between(Box::new([low, self.literal_or_variable()?])));
        }
        self.expect_words(&["CONTAINED", "IN"])?;
        self.expect_symbol(Symbol::Open)?;
        let low = self.literal_or_variable()?;
        self.expect_symbol(Symbol::Comma)?;
        let high = self.literal_or_variable()?;
        self.expect_symbol(Symbol::Close)?;
        Ok(SystemTime::ContainedIn(Box::new([low, high])))
    }

    fn table_sample(&mut self) -> Parsed<TableSample> {
        self.eat_word("SYSTEM");
        self.expect_symbol(Symbol::Open)?;
        let count = self.expression()?;
        let rows = self.eat_word("ROWS");
        if !rows {
            self.eat_keyword(Keyword::Percent);
        }
        self.expect_symbol(Symbol::Close)?;
        let mut seed = None;
        if self.eat_word("REPEATABLE") {
            self.expect_symbol(Symbol::Open)?;
            seed = Some(self.expression()?);
            self.expect_symbol(Symbol::Close)?;
        }
        Ok(TableSample { count, rows, seed })
    }

    /// Whether hints without WITH come next: `t (NOLOCK)`.
    fn at_bare_hints(&self) -> bool {
        if !self.at_symbol(Symbol::Open) {
            return false;
        }
        let token = self.nth(1);
        match token.kind {
            TokenKind::Keyword(Keyword::Holdlock) => true,
            TokenKind::Keyword(Keyword::Index) => true,
            TokenKind::Word => {
                let follows = self.nth(2).kind;
                is_hint(self.source(token))
                    && matches!(
                        follows,
                        TokenKind::Symbol(Symbol::Close | Symbol::Comma) | TokenKind::Word | TokenKind::Keyword(_)
                    )
            }
            _ => false,
        }
    }

    /// `WITH (hints)` or `(hints)`, if it comes next.
    pub(super) fn optional_hints(&mut self) -> Parsed<Vec<TableHint>> {
        if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
            self.bump();
            return self.table_hints();
        }
        if self.at_bare_hints() { self.table_hints() } else { Ok(Vec::new()) }
    }

    fn table_hints(&mut self) -> Parsed<Vec<TableHint>> {
        self.expect_symbol(Symbol::Open)?;
        let mut hints = vec![self.table_hint()?];
        while !self.eat_symbol(Symbol::Close) {
            self.eat_symbol(Symbol::Comma);
            hints.push(self.table_hint()?);
        }
        Ok(hints)
    }

    /// What `TABLE HINT` has in its parentheses.
    pub(super) fn hinted_table(&mut self) -> Parsed<(ObjectName, Vec<TableHint>)> {
        self.expect_symbol(Symbol::Open)?;
        let table = self.object_name()?;
        let hints = if self.eat_symbol(Symbol::Comma) { self.list(Self::table_hint)? } else { Vec::new() };
        self.expect_symbol(Symbol::Close)?;
        Ok((table, hints))
    }

    fn table_hint(&mut self) -> Parsed<TableHint> {
        let token = self.peek();
        let known = match token.kind {
            TokenKind::Keyword(Keyword::Holdlock | Keyword::Index) => true,
            TokenKind::Word => is_hint(self.source(token)),
            _ => return Err(self.unexpected()),
        };
        if !known {
            return Err(SyntaxError::unrecognized_hint(token.line, self.source(token)));
        }
        let name = self.upper_word()?;
        let mut arguments = Vec::new();
        let takes_value = matches!(name.as_str(), "INDEX" | "SPATIAL_WINDOW_MAX_CELLS");
        if takes_value && self.eat_symbol(Symbol::Equal) && !self.at_symbol(Symbol::Open) {
            arguments.push(self.hint_argument()?);
        } else if takes_value {
            arguments = self.parenthesized(Self::hint_argument)?;
        } else if name == "FORCESEEK" && self.eat_symbol(Symbol::Open) {
            arguments.push(self.hint_argument()?);
            arguments.extend(self.parenthesized(Self::hint_argument)?);
            self.expect_symbol(Symbol::Close)?;
        }
        Ok(TableHint { name, arguments })
    }

    /// The name or number of an index.
    fn hint_argument(&mut self) -> Parsed<Expr> {
        if self.at_name() {
            let column = crate::tree::ColumnRef::new(None, self.name()?);
            let span = column.name.span;
            return Ok(Expr::new(crate::tree::ExprKind::Column(column), span));
        }
        self.literal()
    }

    fn table_function(&mut self, name: ObjectName) -> Parsed<TableSource> {
        let start = name.span();
        let call = *self.part(|parser| parser.call_arguments(name))?;
        if self.at_method() {
            let span = start.to(self.span_from(self.tokens[self.at - 1]));
            return self.table_method(Expr::new(ExprKind::Function(Box::new(call)), span));
        }
        self.function_rows(None, call)
    }

    /// `x.nodes('...') AS t (c)`, behind the first operand of `x`.
    fn table_method(&mut self, operand: Expr) -> Parsed<TableSource> {
        let expr = self.part(|parser| parser.suffixes(operand))?;
        let ExprKind::Method(method) = expr.kind else { return Err(self.unexpected()) };
        let MethodCall { receiver, method, arguments } = *method;
        let Some(arguments) = arguments else { return Err(self.unexpected()) };
        let arguments = arguments.into_iter().map(FunctionArgument::Expr).collect();
        let call = FunctionCall { arguments, ..FunctionCall::named(ObjectName::of(method)) };
        self.function_rows(Some(receiver), call)
    }

    /// What stands behind the call of a function in FROM.
    fn function_rows(&mut self, receiver: Option<Expr>, call: FunctionCall) -> Parsed<TableSource> {
        let mut schema = Vec::new();
        if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
            self.bump();
            schema = self.parenthesized(Self::json_column)?;
        }
        let alias = self.optional_alias()?;
        let columns = if alias.is_some() { self.optional_name_list()? } else { Vec::new() };
        self.grow()?;
        Ok(TableSource::Function(Box::new(TableFunction { receiver, call, alias, columns, schema })))
    }

    /// `OPENROWSET(BULK 'file', options) AS t (a, b)`
    fn bulk_rowset(&mut self) -> Parsed<TableSource> {
        self.bump();
        self.expect_symbol(Symbol::Open)?;
        self.expect_keyword(Keyword::Bulk)?;
        let file = self.text()?;
        let (mut options, mut order, mut unique) = (Vec::new(), Vec::new(), false);
        while self.eat_symbol(Symbol::Comma) {
            if self.eat_keyword(Keyword::Order) {
                order = self.index_columns()?;
                unique = self.eat_keyword(Keyword::Unique);
            } else {
                options.push(self.setting_option()?);
            }
        }
        self.expect_symbol(Symbol::Close)?;
        let mut schema = Vec::new();
        if self.at_keyword(Keyword::With) && self.nth_symbol(1, Symbol::Open) {
            self.bump();
            schema = self.parenthesized(Self::bulk_column)?;
        }
        let alias = self.optional_alias()?;
        let columns = if alias.is_some() { self.optional_name_list()? } else { Vec::new() };
        self.grow()?;
        Ok(TableSource::Bulk(Box::new(BulkRowset { file, options, order, unique, schema, alias, columns })))
    }

    fn bulk_column(&mut self) -> Parsed<BulkColumn> {
        let name = self.name()?;
        let kind = ColumnKind::Stored(self.data_type()?);
        let mut definition = super::table::bare_column(name, kind);
        if self.eat_keyword(Keyword::Collate) {
            definition.collation = Some(self.name()?);
        }
        let ends = self.at_symbol(Symbol::Comma) || self.at_symbol(Symbol::Close);
        let field = if ends { None } else { Some(self.literal_or_variable()?) };
        Ok(BulkColumn { definition, field })
    }

    fn json_column(&mut self) -> Parsed<JsonColumn> {
        let name = self.name()?;
        let kind = ColumnKind::Stored(self.data_type()?);
        let mut definition = super::table::bare_column(name, kind);
        if self.eat_keyword(Keyword::Collate) {
            definition.collation = Some(self.name()?);
        }
        let path = if self.at_text() { Some(self.text()?) } else { None };
        let as_json = self.eat_words(&["AS", "JSON"]);
        Ok(JsonColumn { definition, path, as_json })
    }

    fn pivot(&mut self, source: TableSource) -> Parsed<TableSource> {
        self.expect_symbol(Symbol::Open)?;
        let name = self.object_name()?;
        let aggregate = *self.part(|parser| parser.call_arguments(name))?;
        self.expect_keyword(Keyword::For)?;
        let column = self.column_ref()?;
        self.expect_keyword(Keyword::In)?;
        let values = self.name_list()?;
        self.expect_symbol(Symbol::Close)?;
        self.eat_keyword(Keyword::As);
        let alias = self.name()?;
        Ok(TableSource::Pivot(Box::new(Pivot { source, aggregate, column, values, alias })))
    }

    fn unpivot(&mut self, source: TableSource) -> Parsed<TableSource> {
        self.expect_symbol(Symbol::Open)?;
        let value = self.name()?;
        self.expect_keyword(Keyword::For)?;
        let column = self.name()?;
        self.expect_keyword(Keyword::In)?;
        let columns = self.parenthesized(Self::column_ref)?;
        self.expect_symbol(Symbol::Close)?;
        self.eat_keyword(Keyword::As);
        let alias = self.name()?;
        Ok(TableSource::Unpivot(Box::new(Unpivot { source, value, column, columns, alias })))
    }
}

fn is_hint(word: &str) -> bool {
    HINTS.iter().any(|hint| hint.eq_ignore_ascii_case(word))
}
