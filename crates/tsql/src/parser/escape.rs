//! ODBC's escapes, which drivers leave to the server: `{fn name(...)}`, `{d '...'}`, `{t '...'}`, `{ts '...'}`,
//! `{guid '...'}`. They become the expressions that T-SQL has for them.

use super::Parser;
use crate::error::Parsed;
use crate::lexer::{Keyword, Symbol, Token, TokenKind};
use crate::tree::{
    BinaryOp, Chain, ColumnRef, Convert, DataType, Expr, ExprKind, FunctionArgument, FunctionCall, Literal, Name,
    ObjectName, TypeArguments,
};

/// ODBC's functions that T-SQL has under another name, with the same arguments.
const RENAMED: &[(&str, &str)] = &[
    ("ATAN2", "ATN2"),
    ("DATABASE", "DB_NAME"),
    ("DAYOFMONTH", "DAY"),
    ("IFNULL", "ISNULL"),
    ("INSERT", "STUFF"),
    ("LCASE", "LOWER"),
    ("LENGTH", "LEN"),
    ("LOCATE", "CHARINDEX"),
    ("NOW", "GETDATE"),
    ("OCTET_LENGTH", "DATALENGTH"),
    ("REPEAT", "REPLICATE"),
    ("TIMESTAMPADD", "DATEADD"),
    ("TIMESTAMPDIFF", "DATEDIFF"),
    ("UCASE", "UPPER"),
    ("USER", "USER_NAME"),
];

/// ODBC's functions that are a part of a date: the name, T-SQL's function, the part.
const PARTS: &[(&str, &str, &str)] = &[
    ("DAYNAME", "DATENAME", "weekday"),
    ("DAYOFWEEK", "DATEPART", "weekday"),
    ("DAYOFYEAR", "DATEPART", "dayofyear"),
    ("HOUR", "DATEPART", "hour"),
    ("MINUTE", "DATEPART", "minute"),
    ("MONTHNAME", "DATENAME", "month"),
    ("QUARTER", "DATEPART", "quarter"),
    ("SECOND", "DATEPART", "second"),
    ("WEEK", "DATEPART", "week"),
];

/// The units of TIMESTAMPADD and TIMESTAMPDIFF.
const INTERVALS: &[(&str, &str)] = &[
    ("SQL_TSI_SECOND", "second"),
    ("SQL_TSI_MINUTE", "minute"),
    ("SQL_TSI_HOUR", "hour"),
    ("SQL_TSI_DAY", "day"),
    ("SQL_TSI_WEEK", "week"),
    ("SQL_TSI_MONTH", "month"),
    ("SQL_TSI_QUARTER", "quarter"),
    ("SQL_TSI_YEAR", "year"),
];

fn named<'a>(table: &'a [(&str, &str)], name: &str) -> Option<&'a str> {
    table.iter().find(|(odbc, _)| odbc.eq_ignore_ascii_case(name)).map(|&(_, own)| own)
}

impl Parser<'_> {
    /// An escape that is a value; its brace is next.
    #[inline(never)]
    pub(super) fn escape(&mut self) -> Parsed<Expr> {
        let first = self.expect_symbol(Symbol::OpenBrace)?;
        let kind = if self.eat_word("fn") {
            self.escaped_function(first)?
        } else {
            let ty = if self.eat_word("d") || self.eat_word("t") || self.eat_word("ts") {
                "datetime"
            } else {
                self.expect_word("guid")?;
                "uniqueidentifier"
            };
            if !matches!(self.peek().kind, TokenKind::Text { .. }) {
                return Err(self.unexpected());
            }
            let text = self.literal()?;
            self.conversion(first, text, ty, TypeArguments::None, None)
        };
        self.expect_symbol(Symbol::CloseBrace)?;
        self.grow()?;
        Ok(Expr::new(kind, self.span_from(first)))
    }

    /// `LIKE x {escape 'c'}`, when an escape follows.
    pub(super) fn like_escape(&mut self) -> Parsed<Option<Expr>> {
        if !(self.at_symbol(Symbol::OpenBrace) && self.nth_spells(1, "escape")) {
            return Ok(None);
        }
        self.bump();
        self.bump();
        let character = self.operand()?;
        self.expect_symbol(Symbol::CloseBrace)?;
        Ok(Some(character))
    }

    fn conversion(&self, first: Token, expr: Expr, ty: &str, arguments: TypeArguments, style: Option<i32>) -> ExprKind {
        let span = self.span_from(first);
        let data_type = DataType { schema: None, name: Name { text: ty.to_owned(), span }, arguments };
        let style = style.map(|style| Expr::new(ExprKind::Literal(Literal::Int(style)), span));
        ExprKind::Convert(Box::new(Convert { data_type, expr, style, lenient: false }))
    }

    /// `EXTRACT(part FROM x)` behind its name.
    fn extract(&mut self) -> Parsed<ExprKind> {
        self.expect_symbol(Symbol::Open)?;
        let part = self.any_word()?;
        self.expect_keyword(Keyword::From)?;
        let date = self.expression()?;
        self.expect_symbol(Symbol::Close)?;
        let span = part.span;
        let name = Name { text: "DATEPART".to_owned(), span };
        let part = Expr::new(ExprKind::Column(ColumnRef::new(None, part)), span);
        let arguments = vec![FunctionArgument::Expr(part), FunctionArgument::Expr(date)];
        Ok(ExprKind::Function(Box::new(FunctionCall { arguments, ..FunctionCall::named(ObjectName::of(name)) })))
    }

    fn escaped_function(&mut self, first: Token) -> Parsed<ExprKind> {
        let mut name = self.any_word()?;
        let is = |wanted: &str| name.text.eq_ignore_ascii_case(wanted);
        let (date, time) = (is("CURDATE") || is("CURRENT_DATE"), is("CURTIME") || is("CURRENT_TIME"));
        let (modulo, truncate, bits) = (is("MOD"), is("TRUNCATE"), is("BIT_LENGTH"));
        if is("EXTRACT") {
            return self.extract();
        }
        let interval = is("TIMESTAMPADD") || is("TIMESTAMPDIFF");
        let part = PARTS.iter().find(|(odbc, ..)| is(odbc));
        if let Some(own) = named(RENAMED, &name.text) {
            own.clone_into(&mut name.text);
        }
        let span = name.span;
        let mut call = self.call_arguments(ObjectName::of(name))?;
        let word = |text: &str| {
            let name = Name { text: text.to_owned(), span };
            FunctionArgument::Expr(Expr::new(ExprKind::Column(ColumnRef::new(None, name)), span))
        };
        if let Some(&(_, function, part)) = part {
            function.clone_into(&mut call.name.name.text);
            call.arguments.insert(0, word(part));
        } else if interval
            && let Some(FunctionArgument::Expr(Expr { kind: ExprKind::Column(unit), .. })) = call.arguments.first_mut()
            && let Some(own) = named(INTERVALS, &unit.name.text)
        {
            own.clone_into(&mut unit.name.text);
        } else if truncate {
            "ROUND".clone_into(&mut call.name.name.text);
            call.arguments.push(FunctionArgument::Expr(Expr::new(ExprKind::Literal(Literal::Int(1)), span)));
        } else if date || time {
            "GETDATE".clone_into(&mut call.name.name.text);
            let now = Expr::new(ExprKind::Function(call), span);
            let (length, style) = if date { (10, 23) } else { (8, 108) };
            return Ok(self.conversion(first, now, "varchar", TypeArguments::One(length), Some(style)));
        } else if bits {
            "DATALENGTH".clone_into(&mut call.name.name.text);
            let left = Expr::new(ExprKind::Function(call), span);
            let right = Expr::new(ExprKind::Literal(Literal::Int(8)), span);
            return Ok(Chain::of(left, BinaryOp::Multiply, right).kind);
        } else if modulo && call.arguments.len() == 2 {
            let mut operands = std::mem::take(&mut call.arguments).into_iter();
            if let (Some(FunctionArgument::Expr(left)), Some(FunctionArgument::Expr(right))) =
                (operands.next(), operands.next())
            {
                return Ok(Chain::of(left, BinaryOp::Modulo, right).kind);
            }
            return Err(self.unexpected());
        }
        Ok(ExprKind::Function(call))
    }
}
