//! Functions, and the expressions with a syntax of their own: CASE, CAST, CONVERT, IIF, COALESCE, NULLIF, TRIM, windows.

use super::Parser;
use crate::error::{Parsed, SyntaxError};
use crate::lexer::{Keyword, Symbol, Token, TokenKind};
use crate::tree::{
    Case, CaseBranches, Cast, Convert, Expr, ExprKind, Frame, FrameBound, FunctionArgument, FunctionCall, Iif,
    MakeJson, NextValue, NullTreatment, ObjectName, OrderItem, Over, Trim, TrimSide, Window,
};

impl Parser<'_> {
    fn finish(&mut self, first: Token, kind: ExprKind) -> Parsed<Expr> {
        self.grow()?;
        Ok(Expr::new(kind, self.span_from(first)))
    }

    /// Functions that are no reserved words and whose arguments are no list of expressions.
    #[inline(never)]
    pub(super) fn special_function(&mut self) -> Parsed<Option<Expr>> {
        let first = self.peek();
        let word = self.source(first);
        let is = |name: &str| word.eq_ignore_ascii_case(name);
        let expr = match word.len() {
            3 if is("IIF") => self.iif()?,
            4 if is("CAST") => self.cast(false, false)?,
            8 if is("TRY_CAST") => self.cast(true, false)?,
            5 if is("PARSE") => self.cast(false, true)?,
            9 if is("TRY_PARSE") => self.cast(true, true)?,
            10 if is("JSON_ARRAY") => self.make_json(false)?,
            11 if is("JSON_OBJECT") => self.make_json(true)?,
            4 if is("TRIM") => return self.trim().map(Some),
            _ => return Ok(None),
        };
        self.finish(first, expr).map(Some)
    }

    fn iif(&mut self) -> Parsed<ExprKind> {
        self.bump();
        self.expect_symbol(Symbol::Open)?;
        let condition = self.condition()?;
        self.expect_symbol(Symbol::Comma)?;
        let then = self.expression()?;
        self.expect_symbol(Symbol::Comma)?;
        let otherwise = self.expression()?;
        self.expect_symbol(Symbol::Close)?;
        Ok(ExprKind::Iif(Box::new(Iif { condition, then, otherwise })))
    }

    fn cast(&mut self, lenient: bool, parse: bool) -> Parsed<ExprKind> {
        self.bump();
        self.expect_symbol(Symbol::Open)?;
        let expr = self.expression()?;
        self.expect_keyword(Keyword::As)?;
        let data_type = self.data_type()?;
        let culture = if parse && self.eat_word("USING") { Some(self.expression()?) } else { None };
        self.expect_symbol(Symbol::Close)?;
        Ok(ExprKind::Cast(Box::new(Cast { expr, data_type, lenient, parse, culture })))
    }

    fn make_json(&mut self, object: bool) -> Parsed<ExprKind> {
        self.bump();
        self.expect_symbol(Symbol::Open)?;
        let mut members = Vec::new();
        let mut absent_on_null = self.on_null()?;
        while absent_on_null.is_none() && !self.at_symbol(Symbol::Close) {
            let first = self.expression()?;
            members.push(if object {
                self.expect_symbol(Symbol::Colon)?;
                (Some(first), self.expression()?)
            } else {
                (None, first)
            });
            absent_on_null = self.on_null()?;
            if absent_on_null.is_none() && !self.eat_symbol(Symbol::Comma) {
                break;
            }
            if absent_on_null.is_none() && self.at_symbol(Symbol::Close) {
                return Err(self.unexpected());
            }
        }
        if absent_on_null.is_none() && self.at_keyword(Keyword::Null) {
            // It begins what is said of NULL, which does not come.
            self.bump();
            return Err(self.unexpected());
        }
        self.expect_symbol(Symbol::Close)?;
        let absent_on_null = absent_on_null.unwrap_or(!object);
        Ok(ExprKind::Json(Box::new(MakeJson { object, members, absent_on_null })))
    }

    /// `NULL ON NULL`, `ABSENT ON NULL`, if one comes next: whether it is the latter.
    fn on_null(&mut self) -> Parsed<Option<bool>> {
        let absent = self.at_word("ABSENT");
        if !absent && !self.at_keyword(Keyword::Null) || !self.nth_keyword(1, Keyword::On) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        self.expect_keyword(Keyword::Null)?;
        Ok(Some(absent))
    }

    /// `TRIM(x)` is an ordinary function; `TRIM(c FROM x)` is not.
    fn trim(&mut self) -> Parsed<Expr> {
        let first = self.peek();
        let name = ObjectName::of(self.name()?);
        self.expect_symbol(Symbol::Open)?;
        let side = if self.nth_symbol(1, Symbol::Close) || self.nth_symbol(1, Symbol::Dot) {
            None
        } else if self.eat_word("LEADING") {
            Some(TrimSide::Leading)
        } else if self.eat_word("TRAILING") {
            Some(TrimSide::Trailing)
        } else if self.eat_word("BOTH") {
            Some(TrimSide::Both)
        } else {
            None
        };
        let characters = self.expression()?;
        let kind = if side.is_some() || self.at_keyword(Keyword::From) {
            self.expect_keyword(Keyword::From)?;
            let expr = self.expression()?;
            ExprKind::Trim(Box::new(Trim { side: side.unwrap_or(TrimSide::Both), characters, expr }))
        } else {
            let arguments = vec![FunctionArgument::Expr(characters)];
            ExprKind::Function(Box::new(FunctionCall { arguments, ..FunctionCall::named(name) }))
        };
        self.expect_symbol(Symbol::Close)?;
        self.finish(first, kind)
    }

    #[inline(never)]
    pub(super) fn case(&mut self) -> Parsed<Expr> {
        let first = self.bump();
        let branches = if self.at_keyword(Keyword::When) {
            let mut branches = Vec::new();
            while self.eat_keyword(Keyword::When) {
                let condition = self.condition()?;
                self.expect_keyword(Keyword::Then)?;
                branches.push((condition, self.expression()?));
            }
            CaseBranches::Searched(branches)
        } else {
            let operand = self.expression()?;
            let mut branches = Vec::new();
            loop {
                self.expect_keyword(Keyword::When)?;
                let value = self.expression()?;
                self.expect_keyword(Keyword::Then)?;
                branches.push((value, self.expression()?));
                if !self.at_keyword(Keyword::When) {
                    break CaseBranches::Simple { operand, branches };
                }
            }
        };
        let otherwise = if self.eat_keyword(Keyword::Else) { Some(self.expression()?) } else { None };
        self.expect_keyword(Keyword::End)?;
        self.finish(first, ExprKind::Case(Box::new(Case { branches, otherwise })))
    }

    #[inline(never)]
    pub(super) fn convert(&mut self, lenient: bool) -> Parsed<Expr> {
        let first = self.bump();
        self.expect_symbol(Symbol::Open)?;
        let data_type = self.data_type()?;
        self.expect_symbol(Symbol::Comma)?;
        let expr = self.expression()?;
        let style = if self.eat_symbol(Symbol::Comma) { Some(self.expression()?) } else { None };
        self.expect_symbol(Symbol::Close)?;
        self.finish(first, ExprKind::Convert(Box::new(Convert { data_type, expr, style, lenient })))
    }

    #[inline(never)]
    pub(super) fn coalesce(&mut self) -> Parsed<Expr> {
        let first = self.bump();
        self.expect_symbol(Symbol::Open)?;
        let mut values = vec![self.expression()?];
        self.expect_symbol(Symbol::Comma)?;
        values.extend(self.list(Self::expression)?);
        self.expect_symbol(Symbol::Close)?;
        self.finish(first, ExprKind::Coalesce(values))
    }

    #[inline(never)]
    pub(super) fn nullif(&mut self) -> Parsed<Expr> {
        let first = self.bump();
        self.expect_symbol(Symbol::Open)?;
        let left = self.expression()?;
        self.expect_symbol(Symbol::Comma)?;
        let right = self.expression()?;
        self.expect_symbol(Symbol::Close)?;
        self.finish(first, ExprKind::NullIf(Box::new([left, right])))
    }

    #[inline(never)]
    pub(super) fn next_value(&mut self) -> Parsed<Expr> {
        let first = self.peek();
        self.expect_words(&["NEXT", "VALUE", "FOR"])?;
        let sequence = self.object_name()?;
        let mut order_by = Vec::new();
        if self.eat_keyword(Keyword::Over) {
            self.expect_symbol(Symbol::Open)?;
            order_by = self.order_by()?;
            self.expect_symbol(Symbol::Close)?;
        }
        self.finish(first, ExprKind::NextValue(Box::new(NextValue { sequence, order_by })))
    }

    /// The call of a function whose name has been taken.
    #[inline(never)]
    pub(super) fn function_call(&mut self, name: ObjectName) -> Parsed<Expr> {
        let start = name.span();
        let mut call = self.call_arguments(name)?;
        if self.at_word("WITHIN") && self.nth_keyword(1, Keyword::Group) {
            self.expect_words(&["WITHIN", "GROUP"])?;
            self.expect_symbol(Symbol::Open)?;
            call.within_group = self.order_by()?;
            self.expect_symbol(Symbol::Close)?;
        }
        if self.eat_words(&["IGNORE", "NULLS"]) {
            call.nulls = Some(NullTreatment::Ignore);
        } else if self.eat_words(&["RESPECT", "NULLS"]) {
            call.nulls = Some(NullTreatment::Respect);
        }
        if self.eat_keyword(Keyword::Over) {
            call.over = Some(self.nested(Self::over)?);
        }
        self.grow()?;
        let span = start.to(self.span_from(self.tokens[self.at - 1]));
        Ok(Expr::new(ExprKind::Function(call), span))
    }

    /// A call with its parentheses and nothing behind them.
    #[inline(never)]
    pub(super) fn call_arguments(&mut self, name: ObjectName) -> Parsed<Box<FunctionCall>> {
        self.expect_symbol(Symbol::Open)?;
        let mut call = Box::new(FunctionCall::named(name));
        if self.at_symbol(Symbol::Star) && self.nth_symbol(1, Symbol::Close) {
            self.bump();
            call.star = true;
        } else if !self.at_symbol(Symbol::Close) {
            call.distinct = self.eat_keyword(Keyword::Distinct);
            if !call.distinct {
                self.eat_keyword(Keyword::All);
            }
            call.arguments = self.list(Self::function_argument)?;
        }
        self.expect_symbol(Symbol::Close)?;
        Ok(call)
    }

    fn function_argument(&mut self) -> Parsed<FunctionArgument> {
        if self.eat_keyword(Keyword::Default) {
            return Ok(FunctionArgument::Default);
        }
        self.expression().map(FunctionArgument::Expr)
    }

    #[inline(never)]
    fn over(&mut self) -> Parsed<Over> {
        if self.at_name() {
            return self.name().map(Over::Name);
        }
        let window = self.window()?;
        let is_name_alone = window.base.is_some()
            && window.partition_by.is_empty()
            && window.order_by.is_empty()
            && window.frame.is_none();
        if is_name_alone {
            // A name stands in parentheses with what is added to its window.
            return Err(SyntaxError::near(self.tokens[self.at - 1].line, ")"));
        }
        Ok(Over::Window(Box::new(window)))
    }

    /// A window in its parentheses.
    pub(super) fn window(&mut self) -> Parsed<Window> {
        self.expect_symbol(Symbol::Open)?;
        let starts_clause = |parser: &Self| {
            (parser.at_word("PARTITION") && parser.nth_keyword(1, Keyword::By))
                || parser.at_word("ROWS")
                || parser.at_word("RANGE")
        };
        let base = if self.at_name() && !starts_clause(self) { Some(self.name()?) } else { None };
        let mut window = Window { base, partition_by: Vec::new(), order_by: Vec::new(), frame: None };
        if self.eat_word("PARTITION") {
            self.expect_keyword(Keyword::By)?;
            window.partition_by = self.list(Self::expression)?;
        }
        if self.at_keyword(Keyword::Order) {
            window.order_by = self.order_by()?;
        }
        if self.at_word("ROWS") || self.at_word("RANGE") {
            window.frame = Some(self.frame()?);
        }
        self.expect_symbol(Symbol::Close)?;
        Ok(window)
    }

    fn frame(&mut self) -> Parsed<Frame> {
        let rows = self.at_word("ROWS");
        self.bump();
        if self.eat_keyword(Keyword::Between) {
            let start = self.frame_bound()?;
            self.expect_keyword(Keyword::And)?;
            return Ok(Frame { rows, start, end: Some(self.frame_bound()?) });
        }
        Ok(Frame { rows, start: self.frame_bound()?, end: None })
    }

    fn frame_bound(&mut self) -> Parsed<FrameBound> {
        if self.eat_keyword(Keyword::Current) {
            self.expect_word("ROW")?;
            return Ok(FrameBound::CurrentRow);
        }
        let count = if self.eat_word("UNBOUNDED") {
            None
        } else if self.peek().kind == TokenKind::Integer {
            Some(self.literal()?)
        } else {
            return Err(self.unexpected());
        };
        let preceding = self.at_word("PRECEDING");
        if !preceding && !self.at_word("FOLLOWING") {
            return Err(self.unexpected());
        }
        self.bump();
        Ok(match (count, preceding) {
            (None, true) => FrameBound::UnboundedPreceding,
            (None, false) => FrameBound::UnboundedFollowing,
            (Some(count), true) => FrameBound::Preceding(count),
            (Some(count), false) => FrameBound::Following(count),
        })
    }

    /// `ORDER BY ...`
    pub(super) fn order_by(&mut self) -> Parsed<Vec<OrderItem>> {
        self.expect_keyword(Keyword::Order)?;
        self.expect_keyword(Keyword::By)?;
        self.list(|parser| {
            let expr = parser.expression()?;
            let descending = parser.direction();
            Ok(OrderItem { expr, descending })
        })
    }

    /// Takes ASC or DESC; whether it was DESC.
    pub(super) fn direction(&mut self) -> bool {
        match self.peek().kind {
            TokenKind::Keyword(keyword @ (Keyword::Asc | Keyword::Desc)) => {
                self.bump();
                keyword == Keyword::Desc
            }
            _ => false,
        }
    }
}
