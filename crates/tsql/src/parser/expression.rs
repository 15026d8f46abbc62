//! Scalar expressions: operators, constants, names. Highest first: COLLATE and AT TIME ZONE; `~`; `* / %`; signs and
//! `+ - & ^ | || << >>`. Operators of one level go from left to right.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, TokenKind, value};
use crate::tree::{
    BinaryOp, Chain, ColumnRef, Expr, ExprKind, Literal, MethodCall, Name, Niladic, ObjectName, Query, QueryBody,
    StaticCall, UnaryOp,
};
use std::ops::Range;

impl Parser<'_> {
    /// An expression.
    pub(super) fn expression(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.sum(None))
    }

    /// An operand of a comparison.
    pub(super) fn operand(&mut self) -> Parsed<Expr> {
        self.part(|parser| parser.sum(None))
    }

    /// Operands joined by the weaker operators. `first` is an operand that has been read, with its height in `self.height`;
    /// without it the height must be 0.
    pub(super) fn sum(&mut self, first: Option<Expr>) -> Parsed<Expr> {
        let mut left = self.product(first)?;
        while let Some(op) = self.sum_operator() {
            self.bump();
            let right = self.part(|parser| parser.product(None))?;
            left = self.chained(left, op, right)?;
        }
        Ok(left)
    }

    fn product(&mut self, first: Option<Expr>) -> Parsed<Expr> {
        let (mut signs, mut left) = match first {
            Some(first) => (self.at..self.at, self.suffixes(first)?),
            None => self.factor()?,
        };
        // A sign binds weaker than these operators: `100 / -10 / 2` is `100 / -(10 / 2)`. What waits for what follows a sign.
        let mut waiting = Vec::new();
        while let Some(op) = self.product_operator() {
            self.bump();
            let (own, right) = self.part(Self::factor)?;
            if own.is_empty() {
                left = self.chained(left, op, right)?;
            } else {
                waiting.push((std::mem::replace(&mut signs, own), std::mem::replace(&mut left, right), op));
            }
        }
        let mut product = self.signed(signs, left)?;
        while let Some((signs, left, op)) = waiting.pop() {
            let whole = self.chained(left, op, product)?;
            product = self.signed(signs, whole)?;
        }
        Ok(product)
    }

    /// `left op right`; only the first operator of a chain makes the tree higher.
    #[inline(never)]
    pub(super) fn chained(&mut self, left: Expr, op: BinaryOp, right: Expr) -> Parsed<Expr> {
        let chained = Chain::of(left, op, right);
        if matches!(&chained.kind, ExprKind::Chain(chain) if chain.rest.len() == 1) {
            self.grow()?;
        }
        Ok(chained)
    }

    fn sum_operator(&self) -> Option<BinaryOp> {
        let TokenKind::Symbol(symbol) = self.peek().kind else { return None };
        Some(match symbol {
            Symbol::Plus => BinaryOp::Add,
            Symbol::Minus => BinaryOp::Subtract,
            Symbol::Ampersand => BinaryOp::BitAnd,
            Symbol::Bar => BinaryOp::BitOr,
            Symbol::Caret => BinaryOp::BitXor,
            Symbol::DoubleBar => BinaryOp::Concat,
            Symbol::ShiftLeft => BinaryOp::ShiftLeft,
            Symbol::ShiftRight => BinaryOp::ShiftRight,
            _ => return None,
        })
    }

    fn product_operator(&self) -> Option<BinaryOp> {
        let TokenKind::Symbol(symbol) = self.peek().kind else { return None };
        Some(match symbol {
            Symbol::Star => BinaryOp::Multiply,
            Symbol::Slash => BinaryOp::Divide,
            Symbol::Percent => BinaryOp::Modulo,
            _ => return None,
        })
    }

    /// Where the signs before an operand stand, and the operand with those that bind stronger than any operator: tildes right before it.
    /// Many signs are read in a loop, not by recursion.
    fn factor(&mut self) -> Parsed<(Range<usize>, Expr)> {
        let first = self.at;
        let mut last_sign = first;
        while let TokenKind::Symbol(symbol @ (Symbol::Minus | Symbol::Plus | Symbol::Tilde)) = self.peek().kind {
            self.bump();
            if symbol != Symbol::Tilde {
                last_sign = self.at;
            }
        }
        let tildes = last_sign..self.at;
        let operand = self.primary()?;
        let operand = self.suffixes(operand)?;
        Ok((first..last_sign, self.signed(tildes, operand)?))
    }

    /// An expression behind the signs at these places.
    fn signed(&mut self, signs: Range<usize>, mut expr: Expr) -> Parsed<Expr> {
        for at in signs.rev() {
            let sign = self.tokens[at];
            let op = match sign.kind {
                TokenKind::Symbol(Symbol::Minus) => UnaryOp::Minus,
                TokenKind::Symbol(Symbol::Plus) => UnaryOp::Plus,
                _ => UnaryOp::BitNot,
            };
            self.grow()?;
            let span = self.span_of(sign).to(expr.span);
            expr = Expr::new(ExprKind::Unary(op, Box::new(expr)), span);
        }
        Ok(expr)
    }

    /// COLLATE, AT TIME ZONE and calls of methods behind an operand.
    pub(super) fn suffixes(&mut self, mut expr: Expr) -> Parsed<Expr> {
        let mut collated = false;
        loop {
            if self.at_member() {
                expr = self.method_of(expr)?;
            } else if self.at_keyword(Keyword::Collate) {
                if std::mem::replace(&mut collated, true) {
                    return Err(self.unexpected());
                }
                self.bump();
                let collation = self.name()?;
                let span = expr.span.to(collation.span);
                expr = Expr::new(ExprKind::Collate(Box::new(expr), collation), span);
            } else if self.peek().kind == TokenKind::Word && self.eat_words(&["AT", "TIME", "ZONE"]) {
                let zone = self.part(Self::primary)?;
                let span = expr.span.to(zone.span);
                expr = Expr::new(ExprKind::AtTimeZone(Box::new([expr, zone])), span);
            } else {
                return Ok(expr);
            }
            self.grow()?;
        }
    }

    /// Whether `.method(` comes next.
    pub(super) fn at_method(&self) -> bool {
        self.at_symbol(Symbol::Dot) && self.nth_name(1) && self.nth_symbol(2, Symbol::Open)
    }

    /// Whether `.method(` or `.property` comes next.
    fn at_member(&self) -> bool {
        self.at_symbol(Symbol::Dot) && self.nth_name(1)
    }

    fn method_of(&mut self, receiver: Expr) -> Parsed<Expr> {
        self.expect_symbol(Symbol::Dot)?;
        let method = self.name()?;
        let arguments = self.member_arguments()?;
        let span = receiver.span.to(self.span_from(self.tokens[self.at - 1]));
        Ok(Expr::new(ExprKind::Method(Box::new(MethodCall { receiver, method, arguments })), span))
    }

    /// What a method is given; None behind the name of a property.
    fn member_arguments(&mut self) -> Parsed<Option<Vec<Expr>>> {
        if self.at_symbol(Symbol::Open) { self.method_arguments().map(Some) } else { Ok(None) }
    }

    /// `::method(...)` behind the name of a type.
    #[inline(never)]
    fn static_call(&mut self, ty: ObjectName) -> Parsed<Expr> {
        self.expect_symbol(Symbol::DoubleColon)?;
        let method = self.name()?;
        let arguments = self.member_arguments()?;
        let span = ty.span().to(self.span_from(self.tokens[self.at - 1]));
        self.grow()?;
        Ok(Expr::new(ExprKind::Static(Box::new(StaticCall { ty, method, arguments })), span))
    }

    /// What a method is given, with the parentheses.
    pub(super) fn method_arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect_symbol(Symbol::Open)?;
        let arguments = if self.at_symbol(Symbol::Close) { Vec::new() } else { self.list(Self::expression)? };
        self.expect_symbol(Symbol::Close)?;
        Ok(arguments)
    }

    /// An operand without signs and suffixes.
    pub(super) fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match token.kind {
            TokenKind::Word => self.word_operand(),
            TokenKind::QuotedName { .. } => self.named_operand(),
            TokenKind::Variable => {
                let name = self.variable()?;
                Ok(Expr { span: name.span, kind: ExprKind::Variable(name) })
            }
            TokenKind::Global => Ok(self.global()),
            TokenKind::VirtualColumn => Ok(virtual_column(ObjectName::of(self.virtual_name()))),
            TokenKind::Symbol(Symbol::Open) => self.parenthesized_value(),
            TokenKind::Symbol(Symbol::OpenBrace) => self.escape(),
            TokenKind::Keyword(keyword) => self.keyword_operand(keyword),
            _ => self.literal(),
        }
    }

    pub(super) fn at_literal(&self) -> bool {
        matches!(
            self.peek().kind,
            TokenKind::Text { .. }
                | TokenKind::Integer
                | TokenKind::Decimal
                | TokenKind::Float
                | TokenKind::Money
                | TokenKind::Binary
                | TokenKind::Keyword(Keyword::Null)
        )
    }

    /// `@@name` of the system's, which stands here.
    #[inline(never)]
    pub(super) fn global(&mut self) -> Expr {
        let token = self.peek();
        self.bump();
        let name = Name { text: self.source(token).to_string(), span: self.span_of(token) };
        Expr { span: name.span, kind: ExprKind::Global(name) }
    }

    /// A constant without a sign.
    #[inline(never)]
    pub(super) fn literal(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let literal = match token.kind {
            TokenKind::Text { national, .. } => Literal::String { value: self.text_value(token), national },
            TokenKind::Keyword(Keyword::Null) => Literal::Null,
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float | TokenKind::Money | TokenKind::Binary => {
                value(token.kind, self.source(token), token.line)?
            }
            _ => return Err(self.unexpected()),
        };
        self.bump();
        Ok(Expr::new(ExprKind::Literal(literal), self.span_of(token)))
    }

    /// A constant, perhaps with a sign: what options and parameters take.
    pub(super) fn signed_literal(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let op = match token.kind {
            TokenKind::Symbol(Symbol::Minus) => UnaryOp::Minus,
            TokenKind::Symbol(Symbol::Plus) => UnaryOp::Plus,
            _ => return self.literal(),
        };
        self.bump();
        let operand = self.literal()?;
        let span = self.span_of(token).to(operand.span);
        Ok(Expr::new(ExprKind::Unary(op, Box::new(operand)), span))
    }

    /// A number without a sign.
    pub(super) fn number(&mut self) -> Parsed<Expr> {
        match self.peek().kind {
            TokenKind::Integer | TokenKind::Decimal | TokenKind::Float => self.literal(),
            _ => Err(self.unexpected()),
        }
    }

    /// A whole number with its sign, or a variable.
    pub(super) fn whole_number_or_variable(&mut self) -> Parsed<Expr> {
        let signs = usize::from(matches!(self.peek().kind, TokenKind::Symbol(Symbol::Minus | Symbol::Plus)));
        let number = self.nth(signs);
        match number.kind {
            TokenKind::Variable if signs == 0 => self.literal_or_variable(),
            TokenKind::Integer if self.source(number).parse::<i32>().is_ok() => self.signed_literal(),
            TokenKind::Integer | TokenKind::Decimal => {
                Err(SyntaxError::integer_out_of_range(number.line, self.source(number)))
            }
            _ => {
                self.at += signs;
                Err(self.unexpected())
            }
        }
    }

    /// A constant with its sign, or a variable.
    pub(super) fn literal_or_variable(&mut self) -> Parsed<Expr> {
        if self.at_variable() {
            let name = self.variable()?;
            return Ok(Expr { span: name.span, kind: ExprKind::Variable(name) });
        }
        self.signed_literal()
    }

    #[inline(never)]
    fn parenthesized_value(&mut self) -> Parsed<Expr> {
        self.expect_symbol(Symbol::Open)?;
        let expr = if self.at_keyword(Keyword::Select) { self.subquery()? } else { self.expression()? };
        let expr = self.more_set_operands(expr)?;
        self.expect_symbol(Symbol::Close)?;
        Ok(expr)
    }

    /// A query as a value, without its parentheses.
    #[inline(never)]
    pub(super) fn subquery(&mut self) -> Parsed<Expr> {
        let query = self.query()?;
        self.grow()?;
        Ok(Expr { span: query.span, kind: ExprKind::Subquery(Box::new(query)) })
    }

    /// `((SELECT 1) UNION SELECT 2)`: when a query in parentheses turns out to be the first operand of a set operator, the rest
    /// of them. Only then does it become clear what the outer parentheses hold.
    #[inline(never)]
    pub(super) fn more_set_operands(&mut self, expr: Expr) -> Parsed<Expr> {
        if !self.at_set_operator() {
            return Ok(expr);
        }
        match expr.kind {
            ExprKind::Subquery(query) => {
                let query = self.continue_query(*query)?;
                Ok(Expr { span: query.span, kind: ExprKind::Subquery(Box::new(query)) })
            }
            _ => Err(self.unexpected()),
        }
    }

    #[inline(never)]
    fn word_operand(&mut self) -> Parsed<Expr> {
        if self.nth_symbol(1, Symbol::Open)
            && let Some(expr) = self.special_function()?
        {
            return Ok(expr);
        }
        if self.at_word("NEXT") && self.nth_word(1, "VALUE") && self.nth_keyword(2, Keyword::For) {
            return self.next_value();
        }
        self.named_operand()
    }

    /// A column, or a call of a function by name.
    #[inline(never)]
    fn named_operand(&mut self) -> Parsed<Expr> {
        let first = self.name()?;
        if self.at_symbol(Symbol::Open) {
            return self.function_call(ObjectName::of(first));
        }
        if self.at_symbol(Symbol::DoubleColon) {
            return self.static_call(ObjectName::of(first));
        }
        if !self.at_symbol(Symbol::Dot) {
            let span = first.span;
            return Ok(Expr::new(ExprKind::Column(ColumnRef::new(None, first)), span));
        }
        let mut is_virtual = false;
        let name = self.dotted_name(Some(first), |parser| {
            is_virtual = parser.peek().kind == TokenKind::VirtualColumn;
            if is_virtual { Ok(parser.virtual_name()) } else { parser.name() }
        })?;
        if is_virtual {
            return Ok(virtual_column(name));
        }
        if self.at_symbol(Symbol::Open) {
            return self.function_call(name);
        }
        if self.at_symbol(Symbol::DoubleColon) {
            return self.static_call(name);
        }
        let span = name.span();
        Ok(Expr::new(ExprKind::Column(column_of(name)), span))
    }

    /// `%%physloc%%`, which stands here.
    #[inline(never)]
    fn virtual_name(&mut self) -> Name {
        let token = self.bump();
        Name { text: self.source(token).to_string(), span: self.span_of(token) }
    }

    /// The name of a column.
    pub(super) fn column_ref(&mut self) -> Parsed<ColumnRef> {
        Ok(column_of(self.object_name()?))
    }

    /// Operands that begin with a reserved word.
    #[inline(never)]
    fn keyword_operand(&mut self, keyword: Keyword) -> Parsed<Expr> {
        let niladic = match keyword {
            Keyword::Null => return self.literal(),
            Keyword::Case => return self.nested(Self::case),
            Keyword::Convert | Keyword::TryConvert => return self.convert(keyword == Keyword::TryConvert),
            Keyword::Coalesce => return self.coalesce(),
            Keyword::Nullif => return self.nullif(),
            Keyword::Left | Keyword::Right | Keyword::Identity if self.nth_symbol(1, Symbol::Open) => {
                let name = self.any_word()?;
                return self.function_call(ObjectName::of(name));
            }
            Keyword::IdentityCol | Keyword::Rowguidcol => {
                let name = self.any_word()?;
                let span = name.span;
                return Ok(Expr::new(ExprKind::Column(ColumnRef::new(None, name)), span));
            }
            Keyword::CurrentTimestamp => Niladic::CurrentTimestamp,
            Keyword::CurrentDate => Niladic::CurrentDate,
            Keyword::CurrentUser => Niladic::CurrentUser,
            Keyword::SessionUser => Niladic::SessionUser,
            Keyword::SystemUser => Niladic::SystemUser,
            Keyword::User => Niladic::User,
            _ => return Err(self.unexpected()),
        };
        let token = self.bump();
        Ok(Expr::new(ExprKind::Niladic(niladic), self.span_of(token)))
    }

    /// The rest of a query whose first operand of a set operator has been read.
    pub(super) fn continue_query(&mut self, mut query: Query) -> Parsed<Query> {
        let first = query.span;
        let has_top = matches!(&query.body, QueryBody::Select(select) if select.top.is_some());
        if !query.order_by.is_empty() && !has_top {
            return Err(self.unexpected());
        }
        if !query.order_by.is_empty() {
            // The order and TOP are of these rows alone.
            query = Query::bare(QueryBody::Part(Box::new(query)), first);
        }
        query.body = self.set_operations(query.body, 0)?;
        self.query_tail(&mut query)?;
        query.span = first.to(self.span_from(self.tokens[self.at - 1]));
        self.check_inner(&query)?;
        Ok(query)
    }
}

/// A name of several parts as a column with its qualifier.
pub(super) fn column_of(name: ObjectName) -> ColumnRef {
    let ObjectName { server, database, schema, name } = name;
    let qualifier =
        schema.map(|table| Box::new(ObjectName { server: None, database: server, schema: database, name: table }));
    ColumnRef::new(qualifier, name)
}

fn virtual_column(name: ObjectName) -> Expr {
    let span = name.span();
    Expr::new(ExprKind::Column(ColumnRef { is_virtual: true, ..column_of(name) }), span)
}
