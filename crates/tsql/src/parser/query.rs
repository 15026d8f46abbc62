//! Queries: SELECT, set operators, WITH, ORDER BY, OPTION.

use super::Parser;
use super::refused::CHANGE_TRACKING;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, Token, TokenKind};
use crate::tree::{
    AssignOp, CommonTable, Expr, ForClause, ForFormat, GroupingItem, Name, Query, QueryBody, QueryHint, Select,
    SelectItem, SetOperation, SetOperator, Span, Top, Window, With, XmlNamespace,
};

impl Parser<'_> {
    /// A query without WITH and OPTION: a subquery, a derived table, the rows of a cursor.
    pub(super) fn query(&mut self) -> Parsed<Query> {
        let around = std::mem::replace(&mut self.orders_parts, true);
        let query = self.query_where(true)?;
        self.orders_parts = around;
        Ok(query)
    }

    /// A query. Within another one each `SELECT TOP (n) ... ORDER BY ...` of a set operation has its own order; in a statement the last
    /// ORDER BY is that of all rows, and there is no other.
    fn query_where(&mut self, is_within: bool) -> Parsed<Query> {
        self.nested(|parser| {
            let first = parser.peek();
            let body = parser.query_body(0)?;
            let mut query = Query::bare(body, Span::default());
            parser.query_tail(&mut query)?;
            while is_within && parser.at_set_operator() && is_ordered_only(&query) && order_last(&mut query) {
                parser.grow()?;
                query.body = parser.set_operations(query.body, 0)?;
                parser.query_tail(&mut query)?;
            }
            if is_within && matches!(query.body, QueryBody::SetOperation(_)) && is_ordered_only(&query) {
                order_last(&mut query);
            }
            query.span = parser.span_from(first);
            if is_within {
                parser.check_inner(&query)?;
            }
            Ok(query)
        })
    }

    /// A query that gives its rows to another one has an order only where that decides which rows these are, or how they become a document.
    ///
    /// It makes no table either.
    ///
    /// # Errors
    /// 1033, and 156 for INTO.
    pub(super) fn check_inner(&self, query: &Query) -> Parsed<()> {
        if let QueryBody::Select(select) = &query.body
            && let Some(into) = &select.into
        {
            return Err(SyntaxError::near_keyword(into.span().line, "INTO"));
        }
        let makes_document = query.for_clause.as_ref().is_some_and(|clause| clause.format != ForFormat::Browse);
        let has_top = matches!(&query.body, QueryBody::Select(select) if select.top.is_some());
        let decides = query.offset.is_some() || makes_document || has_top;
        // Behind an order no set operator can stand: that is what is wrong then.
        if query.order_by.is_empty() || decides || self.at_set_operator() {
            return Ok(());
        }
        let next = self.peek();
        let line = if next.kind == TokenKind::End { self.tokens[self.at - 1].line } else { next.line };
        Err(SyntaxError::inner_order(line))
    }

    /// The query of a statement, with OPTION; WITH has been read.
    pub(super) fn query_statement(&mut self, with: With) -> Parsed<Query> {
        let mut query = self.query_where(false)?;
        query.with = with;
        query.options = self.query_options()?;
        // FOR may stand behind OPTION, too.
        if !query.options.is_empty() && query.for_clause.is_none() {
            query.for_clause = self.optional_for()?;
        }
        Ok(query)
    }

    /// The query of a view or an inline function; WITH has been read.
    pub(super) fn inner_statement(&mut self, with: With) -> Parsed<Query> {
        let mut query = self.query_where(true)?;
        query.with = with;
        query.options = self.query_options()?;
        Ok(query)
    }

    /// `WITH XMLNAMESPACES (...), a AS (...), ...`, if it comes next.
    pub(super) fn optional_with(&mut self) -> Parsed<With> {
        let mut with = With::default();
        if !self.eat_keyword(Keyword::With) {
            return Ok(with);
        }
        if self.at_word("CHANGE_TRACKING_CONTEXT") && self.nth_symbol(1, Symbol::Open) {
            return Err(SyntaxError::not_supported(self.peek().line, CHANGE_TRACKING));
        }
        if self.eat_word("XMLNAMESPACES") {
            with.namespaces = self.parenthesized(Self::xml_namespace)?;
            if !self.eat_symbol(Symbol::Comma) {
                return Ok(with);
            }
        }
        with.tables = self.list(|parser| {
            let name = parser.name()?;
            let columns = parser.optional_name_list()?;
            parser.expect_keyword(Keyword::As)?;
            parser.expect_symbol(Symbol::Open)?;
            let query = parser.query()?;
            parser.expect_symbol(Symbol::Close)?;
            Ok(CommonTable { name, columns, query })
        })?;
        Ok(with)
    }

    fn xml_namespace(&mut self) -> Parsed<XmlNamespace> {
        if self.eat_keyword(Keyword::Default) {
            return Ok(XmlNamespace { prefix: None, uri: self.text()? });
        }
        let uri = self.text()?;
        self.expect_keyword(Keyword::As)?;
        Ok(XmlNamespace { prefix: Some(self.name()?), uri })
    }

    /// ORDER BY, OFFSET, FETCH and FOR.
    pub(super) fn query_tail(&mut self, query: &mut Query) -> Parsed<()> {
        if self.at_keyword(Keyword::Order) {
            query.order_by = self.order_by()?;
            if self.eat_word("OFFSET") {
                query.offset = Some(self.expression()?);
                self.row_word()?;
                if self.eat_keyword(Keyword::Fetch) {
                    if !self.eat_word("NEXT") {
                        self.expect_word("FIRST")?;
                    }
                    query.fetch = Some(self.expression()?);
                    self.row_word()?;
                    self.expect_word("ONLY")?;
                }
            } else if self.at_fetch_without_offset() {
                return Err(SyntaxError::fetch_without_offset(self.nth(1).line, self.source(self.nth(1))));
            }
        }
        query.for_clause = self.optional_for()?;
        Ok(())
    }

    /// `FETCH NEXT 1 ...` behind ORDER BY, where OFFSET is missing; `FETCH NEXT FROM ...` is the next statement.
    fn at_fetch_without_offset(&self) -> bool {
        let is_count = matches!(self.nth(2).kind, TokenKind::Integer | TokenKind::Symbol(Symbol::Open));
        self.at_keyword(Keyword::Fetch) && is_count && (self.nth_word(1, "NEXT") || self.nth_word(1, "FIRST"))
    }

    fn optional_for(&mut self) -> Parsed<Option<ForClause>> {
        if !self.at_keyword(Keyword::For) {
            return Ok(None);
        }
        if self.nth_word(1, "XML") || self.nth_word(1, "JSON") || self.nth_keyword(1, Keyword::Browse) {
            self.bump();
            return self.for_clause().map(Some);
        }
        Ok(None)
    }

    /// FOR READ ONLY and FOR UPDATE are for cursors.
    ///
    /// # Errors
    /// 1003 where one comes next.
    pub(super) fn check_no_cursor_clause(&self) -> Parsed<()> {
        let clause = match self.at_keyword(Keyword::For) {
            true if self.nth_keyword(1, Keyword::Update) => "FOR UPDATE",
            true if self.nth_keyword(1, Keyword::Read) && self.nth_word(2, "ONLY") => "READ ONLY",
            _ => return Ok(()),
        };
        Err(SyntaxError::cursor_clause(self.peek().line, clause))
    }

    fn row_word(&mut self) -> Parsed<()> {
        if self.eat_word("ROWS") { Ok(()) } else { self.expect_word("ROW") }
    }

    fn for_clause(&mut self) -> Parsed<ForClause> {
        let format = match self.upper_word()?.as_str() {
            "XML" => ForFormat::Xml,
            "JSON" => ForFormat::Json,
            _ => return Ok(ForClause { format: ForFormat::Browse, directives: Vec::new() }),
        };
        let directives = self.list(|parser| {
            let mut word = parser.upper_word()?;
            for (first, second) in [("ELEMENTS", "XSINIL"), ("ELEMENTS", "ABSENT"), ("BINARY", "BASE64")] {
                if word == first && parser.eat_word(second) {
                    word.push(' ');
                    word.push_str(second);
                }
            }
            let mut text = None;
            if parser.eat_symbol(Symbol::Open) {
                text = Some(parser.text()?);
                parser.expect_symbol(Symbol::Close)?;
            }
            Ok((word, text))
        })?;
        Ok(ForClause { format, directives })
    }

    /// `OPTION (...)`, if it comes next.
    pub(super) fn query_options(&mut self) -> Parsed<Vec<QueryHint>> {
        if !self.eat_keyword(Keyword::Option) {
            return Ok(Vec::new());
        }
        self.parenthesized(Self::query_hint)
    }

    fn query_hint(&mut self) -> Parsed<QueryHint> {
        let mut name = self.upper_word()?;
        while matches!(self.peek().kind, TokenKind::Word | TokenKind::Keyword(_)) {
            name.push(' ');
            name.push_str(&self.upper_word()?);
        }
        self.eat_symbol(Symbol::Equal);
        let mut hint = QueryHint { name, value: None, list: Vec::new(), table: None };
        if hint.name == "TABLE HINT" {
            hint.table = Some(self.hinted_table()?);
        } else if self.at_literal() {
            hint.value = Some(self.literal()?);
        } else if self.at_symbol(Symbol::Open) {
            hint.list = self.parenthesized(|parser| {
                let item = parser.literal_or_variable()?;
                let value = match parser.eat_symbol(Symbol::Equal) {
                    true => Some(parser.signed_literal()?),
                    false => None,
                };
                parser.eat_word("UNKNOWN");
                Ok((item, value))
            })?;
        }
        Ok(hint)
    }

    pub(super) fn at_set_operator(&self) -> bool {
        matches!(self.peek().kind, TokenKind::Keyword(Keyword::Union | Keyword::Except | Keyword::Intersect))
    }

    fn query_body(&mut self, above: u8) -> Parsed<QueryBody> {
        let first = self.query_term()?;
        self.set_operations(first, above)
    }

    /// The set operators behind `left` that bind more strongly than `above`.
    pub(super) fn set_operations(&mut self, mut left: QueryBody, above: u8) -> Parsed<QueryBody> {
        loop {
            let op = match self.peek().kind {
                TokenKind::Keyword(Keyword::Union) if self.nth_keyword(1, Keyword::All) => SetOperator::UnionAll,
                TokenKind::Keyword(Keyword::Union) => SetOperator::Union,
                TokenKind::Keyword(Keyword::Except) => SetOperator::Except,
                TokenKind::Keyword(Keyword::Intersect) => SetOperator::Intersect,
                _ => return Ok(left),
            };
            if op.strength() <= above {
                return Ok(left);
            }
            self.bump();
            if op == SetOperator::UnionAll {
                self.bump();
            } else if self.at_keyword(Keyword::All) {
                return Err(SyntaxError::no_such_all(self.peek().line, op.words()));
            }
            let right = self.part(|parser| parser.query_body(op.strength()))?;
            left = match left {
                QueryBody::SetOperation(mut chain) if chain.strength() == op.strength() => {
                    chain.rest.push((op, right));
                    QueryBody::SetOperation(chain)
                }
                first => {
                    self.grow()?;
                    QueryBody::SetOperation(Box::new(SetOperation { first, rest: vec![(op, right)] }))
                }
            };
        }
    }

    fn query_term(&mut self) -> Parsed<QueryBody> {
        if self.eat_symbol(Symbol::Open) {
            let first = self.peek();
            let body = self.nested(|parser| parser.query_body(0))?;
            let body = self.ordered_part(first, body)?;
            self.expect_symbol(Symbol::Close)?;
            return Ok(body);
        }
        self.select().map(|select| QueryBody::Select(Box::new(select)))
    }

    /// `SELECT TOP (n) ... ORDER BY ...` in parentheses may be a part of a set operation within another query.
    fn ordered_part(&mut self, first: Token, body: QueryBody) -> Parsed<QueryBody> {
        let has_top = matches!(&body, QueryBody::Select(select) if select.top.is_some());
        if !has_top || !self.orders_parts || !self.at_keyword(Keyword::Order) {
            return Ok(body);
        }
        let mut query = Query::bare(body, Span::default());
        query.order_by = self.order_by()?;
        query.span = self.span_from(first);
        self.grow()?;
        Ok(QueryBody::Part(Box::new(query)))
    }

    fn select(&mut self) -> Parsed<Select> {
        let first = self.expect_keyword(Keyword::Select)?;
        let distinct = self.eat_keyword(Keyword::Distinct);
        if !distinct {
            self.eat_keyword(Keyword::All);
        }
        let top = self.optional_top()?;
        let items = self.list(Self::select_item)?;
        let into = if self.eat_keyword(Keyword::Into) { Some(self.object_name()?) } else { None };
        let into_on = if into.is_some() { self.optional_placement()?.map(Box::new) } else { None };
        let from = self.optional_from()?;
        let filter = if self.eat_keyword(Keyword::Where) { Some(self.condition()?) } else { None };
        let group_by = if self.eat_keyword(Keyword::Group) { self.group_by()? } else { Vec::new() };
        let having = if self.eat_keyword(Keyword::Having) { Some(self.condition()?) } else { None };
        let windows = if self.at_window_clause() { self.window_clause()? } else { Vec::new() };
        self.grow()?;
        let span = self.span_from(first);
        Ok(Select { distinct, top, items, into, into_on, from, filter, group_by, having, windows, span })
    }

    /// `FROM a, b`, if it comes next.
    pub(super) fn optional_from(&mut self) -> Parsed<Vec<crate::tree::TableSource>> {
        if self.eat_keyword(Keyword::From) { self.list(Self::table_source) } else { Ok(Vec::new()) }
    }

    /// Whether WINDOW begins a clause: a table could have that alias.
    pub(super) fn at_window_clause(&self) -> bool {
        self.at_word("WINDOW")
            && self.nth_name(1)
            && self.nth_keyword(2, Keyword::As)
            && self.nth_symbol(3, Symbol::Open)
    }

    fn window_clause(&mut self) -> Parsed<Vec<(Name, Window)>> {
        self.bump();
        self.list(|parser| {
            let name = parser.name()?;
            parser.expect_keyword(Keyword::As)?;
            Ok((name, parser.window()?))
        })
    }

    /// `TOP (n)`, `TOP n`, if it comes next.
    pub(super) fn optional_top(&mut self) -> Parsed<Option<Top>> {
        if !self.eat_keyword(Keyword::Top) {
            return Ok(None);
        }
        let count = if self.eat_symbol(Symbol::Open) {
            let count = if self.at_keyword(Keyword::Select) { self.subquery()? } else { self.expression()? };
            self.expect_symbol(Symbol::Close)?;
            count
        } else {
            self.number()?
        };
        let percent = self.eat_keyword(Keyword::Percent);
        let with_ties = self.eat_words(&["WITH", "TIES"]);
        Ok(Some(Top { count, percent, with_ties }))
    }

    /// One item of a select list or of OUTPUT.
    pub(super) fn select_item(&mut self) -> Parsed<SelectItem> {
        if let Some(item) = self.star_item()? {
            return Ok(item);
        }
        match (self.peek().kind, self.nth(1).kind) {
            (TokenKind::Variable, _) if self.nth_assign_op(1).is_some() => {
                let variable = self.variable()?;
                let op = self.assign_op()?;
                return Ok(SelectItem::Assign { variable, op, value: self.expression()? });
            }
            (
                TokenKind::Word | TokenKind::QuotedName { .. } | TokenKind::Text { .. },
                TokenKind::Symbol(Symbol::Equal),
            ) => {
                let alias = Some(self.alias_name()?);
                self.bump();
                return Ok(SelectItem::Expr { expr: self.expression()?, alias });
            }
            _ => {}
        }
        let expr = self.expression()?;
        let alias = if self.eat_keyword(Keyword::As) || (self.at_alias() || self.at_text()) {
            Some(self.alias_name()?)
        } else {
            None
        };
        Ok(SelectItem::Expr { expr, alias })
    }

    /// `*` or `t.*`
    fn star_item(&mut self) -> Parsed<Option<SelectItem>> {
        let first = self.peek();
        let mut star = 0;
        while self.nth_name(star) && self.nth_symbol(star + 1, Symbol::Dot) {
            star += 2;
        }
        if !self.nth_symbol(star, Symbol::Star) {
            return Ok(None);
        }
        let qualifier = if star == 0 { None } else { Some(Box::new(self.star_qualifier()?)) };
        self.expect_symbol(Symbol::Star)?;
        Ok(Some(SelectItem::Star { qualifier, span: self.span_from(first) }))
    }

    /// The `a.b.` before a star.
    fn star_qualifier(&mut self) -> Parsed<crate::tree::ObjectName> {
        let mut parts = [None, None, None, Some(self.name()?)];
        self.expect_symbol(Symbol::Dot)?;
        while !self.at_symbol(Symbol::Star) {
            if parts[0].is_some() {
                return Err(self.unexpected());
            }
            parts.rotate_left(1);
            parts[3] = Some(self.name()?);
            self.expect_symbol(Symbol::Dot)?;
        }
        let [server, database, schema, name] = parts;
        let Some(name) = name else { return Err(self.unexpected()) };
        Ok(crate::tree::ObjectName { server, database, schema, name })
    }

    /// Whether a name comes next that can be an alias: not a label.
    pub(super) fn at_alias(&self) -> bool {
        self.at_name() && !self.nth_symbol(1, Symbol::Colon)
    }

    /// The name of an output column: a name, or a text.
    fn alias_name(&mut self) -> Parsed<Name> {
        let token = self.peek();
        if self.at_text() {
            self.bump();
            return Ok(Name { text: self.text_value(token), span: self.span_of(token) });
        }
        self.name_as_written()
    }

    /// An assignment operator.
    pub(super) fn assign_op(&mut self) -> Parsed<AssignOp> {
        let Some((op, tokens)) = self.nth_assign_op(0) else { return Err(self.unexpected()) };
        (0..tokens).for_each(|_| {
            self.bump();
        });
        Ok(op)
    }

    /// The assignment operator that is so many tokens away, and of how many tokens it is.
    pub(super) fn nth_assign_op(&self, away: usize) -> Option<(AssignOp, usize)> {
        assign_op(self.nth(away).kind, self.nth(away + 1).kind)
    }

    fn group_by(&mut self) -> Parsed<Vec<GroupingItem>> {
        self.expect_keyword(Keyword::By)?;
        if self.at_keyword(Keyword::All) {
            return Err(SyntaxError::not_supported(self.peek().line, "GROUP BY ALL"));
        }
        let items = self.list(Self::grouping_item)?;
        // The older spelling: GROUP BY a, b WITH ROLLUP.
        if self.eat_words(&["WITH", "ROLLUP"]) {
            return Ok(vec![GroupingItem::Rollup(items)]);
        }
        if self.eat_words(&["WITH", "CUBE"]) {
            return Ok(vec![GroupingItem::Cube(items)]);
        }
        Ok(items)
    }

    fn grouping_item(&mut self) -> Parsed<GroupingItem> {
        if self.at_symbol(Symbol::Open) && self.nth_symbol(1, Symbol::Close) {
            self.bump();
            self.bump();
            return Ok(GroupingItem::Composite(Vec::new()));
        }
        if let Some(item) = self.grouping_operator()? {
            return Ok(item);
        }
        self.expression().map(GroupingItem::Expr)
    }

    fn grouping_operator(&mut self) -> Parsed<Option<GroupingItem>> {
        if self.nth_symbol(1, Symbol::Open) {
            if self.eat_word("ROLLUP") {
                return Ok(Some(GroupingItem::Rollup(self.parenthesized(Self::grouping_element)?)));
            }
            if self.eat_word("CUBE") {
                return Ok(Some(GroupingItem::Cube(self.parenthesized(Self::grouping_element)?)));
            }
        } else if self.eat_words(&["GROUPING", "SETS"]) {
            let sets = self.nested(|parser| parser.parenthesized(Self::grouping_set))?;
            self.grow()?;
            return Ok(Some(GroupingItem::Sets(sets)));
        }
        Ok(None)
    }

    fn grouping_set(&mut self) -> Parsed<GroupingItem> {
        match self.grouping_operator()? {
            Some(item) => Ok(item),
            None => self.grouping_element(),
        }
    }

    /// `a`, `(a, b)` or `()` inside ROLLUP, CUBE and GROUPING SETS.
    fn grouping_element(&mut self) -> Parsed<GroupingItem> {
        if !self.at_symbol(Symbol::Open) {
            return self.expression().map(GroupingItem::Expr);
        }
        if self.nth_symbol(1, Symbol::Close) {
            self.bump();
            self.bump();
            return Ok(GroupingItem::Composite(Vec::new()));
        }
        self.parenthesized(Self::expression).map(GroupingItem::Composite)
    }

    /// Rows of a VALUES list; the word has been taken.
    pub(super) fn value_rows(&mut self) -> Parsed<Vec<Vec<Expr>>> {
        self.list(|parser| parser.parenthesized(Self::expression))
    }
}

/// Whether what stands behind the rows of a query is an order and nothing else.
fn is_ordered_only(query: &Query) -> bool {
    !query.order_by.is_empty() && query.offset.is_none() && query.fetch.is_none() && query.for_clause.is_none()
}

/// Gives the order of a query to its last operand, when that is a SELECT with TOP.
fn order_last(query: &mut Query) -> bool {
    let mut last = &mut query.body;
    while let QueryBody::SetOperation(chain) = last {
        last = match chain.rest.last_mut() {
            Some((_, operand)) => operand,
            None => return false,
        };
    }
    let span = match last {
        QueryBody::Select(select) if select.top.is_some() => select.span,
        _ => return false,
    };
    let body = std::mem::replace(last, QueryBody::Values(Vec::new()));
    let mut part = Query::bare(body, span);
    part.order_by = std::mem::take(&mut query.order_by);
    *last = QueryBody::Part(Box::new(part));
    true
}

/// An assignment operator, and of how many tokens it is: the equals sign may stand apart, as in `+ =`.
fn assign_op(symbol: TokenKind, next: TokenKind) -> Option<(AssignOp, usize)> {
    let TokenKind::Symbol(symbol) = symbol else { return None };
    let apart = next == TokenKind::Symbol(Symbol::Equal);
    Some(match symbol {
        Symbol::Equal => (AssignOp::Set, 1),
        Symbol::PlusEqual => (AssignOp::Add, 1),
        Symbol::MinusEqual => (AssignOp::Subtract, 1),
        Symbol::StarEqual => (AssignOp::Multiply, 1),
        Symbol::SlashEqual => (AssignOp::Divide, 1),
        Symbol::PercentEqual => (AssignOp::Modulo, 1),
        Symbol::AmpersandEqual => (AssignOp::BitAnd, 1),
        Symbol::BarEqual => (AssignOp::BitOr, 1),
        Symbol::CaretEqual => (AssignOp::BitXor, 1),
        Symbol::DoubleBarEqual => (AssignOp::Concat, 1),
        Symbol::Plus if apart => (AssignOp::Add, 2),
        Symbol::Minus if apart => (AssignOp::Subtract, 2),
        Symbol::Star if apart => (AssignOp::Multiply, 2),
        Symbol::Slash if apart => (AssignOp::Divide, 2),
        Symbol::Percent if apart => (AssignOp::Modulo, 2),
        Symbol::Ampersand if apart => (AssignOp::BitAnd, 2),
        Symbol::Bar if apart => (AssignOp::BitOr, 2),
        Symbol::Caret if apart => (AssignOp::BitXor, 2),
        Symbol::DoubleBar if apart => (AssignOp::Concat, 2),
        _ => return None,
    })
}
