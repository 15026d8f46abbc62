//! Expressions and conditions as the catalog views show those of defaults, constraints and computed columns: names in
//! brackets, numbers in parentheses, built-in functions in lower case, IN and BETWEEN as the comparisons that they stand for.
//!
//! ```text
//!   DEFAULT 0                         ((0))
//!   DEFAULT NEXT VALUE FOR s          (NEXT VALUE FOR [s])
//!   CHECK (a > 0 AND b IN (1, 2))     ([a]>(0) AND ([b]=(2) OR [b]=(1)))
//! ```
//!
//! Parsing the text gives an expression with the same value.

use std::fmt::{Display, Formatter, Result, Write};

use super::expression::strength;
use crate::tree::*;

/// An expression in its parentheses.
pub fn catalog_expression(expr: &Expr) -> String {
    match expr.literal() {
        // A text is in one pair of parentheses, a number in two: one is its own.
        Some(Literal::String { .. } | Literal::Null) => format!("({expr})"),
        _ => format!("({})", Value(expr)),
    }
}

/// A condition in its parentheses.
pub fn catalog_condition(condition: &Condition) -> String {
    format!("({})", Test(condition))
}

struct Value<'a>(&'a Expr);

/// An operand, in parentheses when it binds more weakly than its place wants.
struct Operand<'a>(&'a Expr, u8);

struct Test<'a>(&'a Condition);

/// A condition as a part of one that binds so strongly: 1 is OR, 2 is AND, 3 is NOT.
struct Term<'a>(&'a Condition, u8);

struct Bracketed<'a>(&'a str);

struct Dotted<'a>(&'a ObjectName);

/// Values with commas and no blanks.
struct List<'a>(&'a [Expr]);

impl Display for Bracketed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "[{}]", self.0.replace(']', "]]"))
    }
}

impl Display for Dotted<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ObjectName { server, database, schema, name } = self.0;
        let parts = [server, database, schema];
        let first = parts.iter().position(|part| part.is_some()).unwrap_or(parts.len());
        for part in &parts[first..] {
            if let Some(part) = part {
                Bracketed(&part.text).fmt(f)?;
            }
            f.write_char('.')?;
        }
        Bracketed(&name.text).fmt(f)
    }
}

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (at, value) in self.0.iter().enumerate() {
            write!(f, "{}{}", if at > 0 { "," } else { "" }, Value(value))?;
        }
        Ok(())
    }
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if strength(self.0) < self.1 { write!(f, "({})", Value(self.0)) } else { Value(self.0).fmt(f) }
    }
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.0.kind {
            ExprKind::Literal(Literal::String { .. } | Literal::Null | Literal::Binary(_)) => self.0.fmt(f),
            ExprKind::Literal(number) => write!(f, "({number})"),
            ExprKind::Column(column) => {
                if let Some(qualifier) = &column.qualifier {
                    write!(f, "{}.", Dotted(qualifier))?;
                }
                Bracketed(&column.name.text).fmt(f)
            }
            ExprKind::Unary(op, operand) => {
                let sign = match op {
                    UnaryOp::Minus => "-",
                    UnaryOp::Plus => "+",
                    UnaryOp::BitNot => "~",
                };
                match (op, operand.literal()) {
                    (UnaryOp::Minus, Some(number @ (Literal::Int(_) | Literal::Decimal(_) | Literal::Float(_)))) => {
                        write!(f, "(-{number})")
                    }
                    // Two minus signs side by side begin a comment.
                    _ if matches!(operand.kind, ExprKind::Unary(..)) => write!(f, "{sign}({})", Value(operand)),
                    _ => write!(f, "{sign}{}", Operand(operand, 3)),
                }
            }
            ExprKind::Binary(binary) => {
                let level = strength(self.0);
                write!(f, "{}{}{}", Operand(&binary.left, level), binary.op, Operand(&binary.right, level + 1))
            }
            ExprKind::Function(call) => function(f, self.0, call),
            ExprKind::Niladic(niladic) => f.write_str(match niladic {
                Niladic::CurrentTimestamp => "getdate()",
                Niladic::CurrentDate => "CURRENT_DATE",
                Niladic::CurrentUser | Niladic::SessionUser | Niladic::User => "user_name()",
                Niladic::SystemUser => "suser_sname()",
            }),
            ExprKind::Case(case) => self::case(f, case),
            ExprKind::Cast(cast) if !cast.parse => convert(f, cast.lenient, &cast.data_type, &cast.expr, None),
            ExprKind::Convert(made) => convert(f, made.lenient, &made.data_type, &made.expr, made.style.as_ref()),
            ExprKind::Iif(iif) => write!(
                f,
                "case when {} then {} else {} end",
                Test(&iif.condition),
                Value(&iif.then),
                Value(&iif.otherwise)
            ),
            ExprKind::Coalesce(values) => write!(f, "coalesce({})", List(values)),
            ExprKind::NullIf(values) => write!(f, "nullif({})", List(&values[..])),
            ExprKind::Collate(expr, collation) => write!(f, "{} collate {collation}", Operand(expr, 4)),
            ExprKind::NextValue(next) if next.order_by.is_empty() => {
                write!(f, "NEXT VALUE FOR {}", Dotted(&next.sequence))
            }
            _ => self.0.fmt(f),
        }
    }
}

fn function(f: &mut Formatter<'_>, expr: &Expr, call: &FunctionCall) -> Result {
    let values: Vec<&Expr> = call.arguments.iter().filter_map(FunctionArgument::expr).collect();
    let is_plain = !call.star
        && !call.distinct
        && call.within_group.is_empty()
        && call.nulls.is_none()
        && call.over.is_none()
        && values.len() == call.arguments.len();
    if !is_plain {
        return expr.fmt(f);
    }
    // The first argument of these is a word, and no column.
    const OF_DATE_PARTS: &[&str] = &["DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATENAME", "DATEPART", "DATETRUNC"];
    let name = call.name.name.text.as_str();
    match &call.name.schema {
        Some(_) => Dotted(&call.name).fmt(f)?,
        None => f.write_str(&name.to_lowercase())?,
    }
    f.write_char('(')?;
    let has_part = call.name.schema.is_none() && OF_DATE_PARTS.iter().any(|known| known.eq_ignore_ascii_case(name));
    for (at, value) in values.iter().enumerate() {
        f.write_str(if at > 0 { "," } else { "" })?;
        if at == 0 && has_part { value.fmt(f)? } else { Value(value).fmt(f)? }
    }
    f.write_char(')')
}

fn case(f: &mut Formatter<'_>, case: &Case) -> Result {
    f.write_str("case")?;
    match &case.branches {
        CaseBranches::Simple { operand, branches } => {
            write!(f, " {}", Value(operand))?;
            branches.iter().try_for_each(|(when, then)| write!(f, " when {} then {}", Value(when), Value(then)))?;
        }
        CaseBranches::Searched(branches) => {
            branches.iter().try_for_each(|(when, then)| write!(f, " when {} then {}", Test(when), Value(then)))?;
        }
    }
    if let Some(otherwise) = &case.otherwise {
        write!(f, " else {}", Value(otherwise))?;
    }
    f.write_str(" end")
}

fn convert(f: &mut Formatter<'_>, lenient: bool, data_type: &DataType, expr: &Expr, style: Option<&Expr>) -> Result {
    f.write_str(if lenient { "TRY_CONVERT(" } else { "CONVERT(" })?;
    if let Some(schema) = &data_type.schema {
        write!(f, "{}.", Bracketed(&schema.text))?;
    }
    Bracketed(&data_type.name.text).fmt(f)?;
    match &data_type.arguments {
        TypeArguments::None | TypeArguments::Collection(_) => {}
        TypeArguments::Max => f.write_str("(max)")?,
        TypeArguments::One(length) => write!(f, "({length})")?,
        TypeArguments::Two(precision, scale) => write!(f, "({precision},{scale})")?,
    }
    write!(f, ",{}", Value(expr))?;
    if let Some(style) = style {
        write!(f, ",{}", Value(style))?;
    }
    f.write_char(')')
}

fn condition_strength(condition: &Condition) -> u8 {
    match condition {
        Condition::Or(_) => 1,
        Condition::In { list: InList::Values(values), negated: false, .. } if values.len() > 1 => 1,
        Condition::And(_) | Condition::Between { negated: false, .. } => 2,
        Condition::Not(_) | Condition::Between { .. } | Condition::In { negated: true, .. } => 3,
        _ => 4,
    }
}

impl Display for Term<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if condition_strength(self.0) < self.1 { write!(f, "({})", Test(self.0)) } else { Test(self.0).fmt(f) }
    }
}

fn joined(f: &mut Formatter<'_>, terms: &[Condition], word: &str, level: u8) -> Result {
    for (at, term) in terms.iter().enumerate() {
        write!(f, "{}{}", if at > 0 { word } else { "" }, Term(term, level))?;
    }
    Ok(())
}

impl Display for Test<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Condition::Compare(compare) => write!(f, "{}{}{}", Value(&compare.left), compare.op, Value(&compare.right)),
            Condition::And(terms) => joined(f, terms, " AND ", 2),
            Condition::Or(terms) => joined(f, terms, " OR ", 1),
            Condition::Not(condition) => write!(f, "NOT {}", Term(condition, 3)),
            Condition::IsNull { expr, negated } => {
                write!(f, "{} IS {}NULL", Value(expr), if *negated { "NOT " } else { "" })
            }
            Condition::Between { expr, bounds, negated } => {
                let (value, low, high) = (Value(expr), Value(&bounds[0]), Value(&bounds[1]));
                let (before, behind) = if *negated { ("NOT (", ")") } else { ("", "") };
                write!(f, "{before}{value}>={low} AND {value}<={high}{behind}")
            }
            Condition::In { expr, list: InList::Values(values), negated } => {
                f.write_str(if *negated { "NOT (" } else { "" })?;
                for (at, value) in values.iter().rev().enumerate() {
                    write!(f, "{}{}={}", if at > 0 { " OR " } else { "" }, Value(expr), Value(value))?;
                }
                f.write_str(if *negated { ")" } else { "" })
            }
            Condition::Like(like) => {
                let not = if like.negated { "NOT " } else { "" };
                write!(f, "{not}{} like {}", Value(&like.expr), Value(&like.pattern))?;
                match &like.escape {
                    Some(escape) => write!(f, " escape {}", Value(escape)),
                    None => Ok(()),
                }
            }
            _ => self.0.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{parse_condition, parse_expression};

    #[test]
    fn expressions_are_shown_as_the_catalog_views_show_them() {
        let cases = [
            ("0", "((0))"),
            ("-1", "((-1))"),
            ("'it''s'", "('it''s')"),
            ("N'x'", "(N'x')"),
            ("NULL", "(NULL)"),
            ("GetDate()", "(getdate())"),
            ("CURRENT_TIMESTAMP", "(getdate())"),
            ("(1)+2", "((1)+(2))"),
            ("((a)+1)*(3)", "(([a]+(1))*(3))"),
            ("a-(b-c)", "([a]-([b]-[c]))"),
            ("- -a", "(-(-[a]))"),
            ("NEXT VALUE FOR dbo.s", "(NEXT VALUE FOR [dbo].[s])"),
            ("dbo.Twice(a, 2)", "([dbo].[Twice]([a],(2)))"),
            ("CAST(a AS varchar(10)) + ISNULL(b, '')", "(CONVERT([varchar](10),[a])+isnull([b],''))"),
            ("DATEADD(day, 1, GETDATE())", "(dateadd(day,(1),getdate()))"),
            ("CASE WHEN a > 1 THEN 'x' ELSE b END", "(case when [a]>(1) then 'x' else [b] end)"),
            ("IIF(a IS NULL, 1, 0)", "(case when [a] IS NULL then (1) else (0) end)"),
            ("COALESCE(a, NULLIF(b, 0))", "(coalesce([a],nullif([b],(0))))"),
        ];
        for (written, shown) in cases {
            let expr = parse_expression(written).expect(written);
            assert_eq!(catalog_expression(&expr), shown);
            let again = parse_expression(shown).expect(shown);
            assert_eq!(catalog_expression(&again), shown, "the shown form is its own");
        }
    }

    #[test]
    fn conditions_are_shown_as_the_catalog_views_show_them() {
        let cases = [
            ("a > 0", "([a]>(0))"),
            ("(a) > (0) AND ((b) != 5)", "([a]>(0) AND [b]<>(5))"),
            ("a IN (1, 2) AND b = 1", "(([a]=(2) OR [a]=(1)) AND [b]=(1))"),
            ("a IN ('x')", "([a]='x')"),
            ("a NOT IN (1, 2)", "(NOT ([a]=(2) OR [a]=(1)))"),
            ("a BETWEEN 1 AND 5", "([a]>=(1) AND [a]<=(5))"),
            ("a NOT BETWEEN 1 AND 5 OR b IS NOT NULL", "(NOT ([a]>=(1) AND [a]<=(5)) OR [b] IS NOT NULL)"),
            ("NOT (a = 1 OR b LIKE 'x%')", "(NOT ([a]=(1) OR [b] like 'x%'))"),
            ("a NOT LIKE '[0-9]!_' ESCAPE '!'", "(NOT [a] like '[0-9]!_' escape '!')"),
            ("NOT a BETWEEN 1 AND 5", "(NOT ([a]>=(1) AND [a]<=(5)))"),
        ];
        for (written, shown) in cases {
            let condition = parse_condition(written).expect(written);
            assert_eq!(catalog_condition(&condition), shown);
            let again = parse_condition(shown).expect(shown);
            assert_eq!(catalog_condition(&again), shown, "the shown form is its own");
        }
    }
}
