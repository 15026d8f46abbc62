//! Expressions and conditions as SQL Server stores them: what DEFAULT, CHECK and computed columns say is parsed and printed anew,
//! and tools that compare a database with a model compare these texts.
//!
//! ```text
//! DEFAULT -1                              ((-1))
//! CHECK (a > 0 AND b IN (1, 2))           ([a]>(0) AND ([b]=(2) OR [b]=(1)))
//! AS CAST(a + b + 1 AS bigint)            (CONVERT([bigint],([a]+[b])+(1)))
//! ```
//!
//! Numbers stand in parentheses and names in brackets. IN and BETWEEN become comparisons, CAST becomes CONVERT, IIF becomes CASE;
//! functions, date parts and types have their usual names. Operators of one level are grouped by parentheses, also from left to
//! right; AND and OR only where their right side groups. Parsing the text and printing it gives the same text.

use std::fmt::{Display, Formatter, Result};

use super::expression::{PRODUCT, SIGN, SUFFIX, SUM, TILDE, is_bare_function, is_bare_receiver};
use super::{Bracketed, Commas, Write, optional, words};
use crate::tree::*;

/// The longest text in bytes. IN and BETWEEN repeat what they test, so a short text nests to one that no memory holds.
const TEXT_BYTES_MAX: usize = 1 << 20;

/// The text of a DEFAULT or a computed column, in its parentheses.
///
/// An expression that would be too long or, with parentheses around each operator, nested too deeply is written as it prints
/// otherwise.
pub fn stored_expression(expr: &Expr) -> String {
    let text = bounded(&Stored(expr)).filter(|text| crate::parse_expression(text).is_ok());
    text.unwrap_or_else(|| format!("({expr})"))
}

/// The text of a CHECK constraint, in its parentheses. See [`stored_expression`].
pub fn stored_condition(condition: &Condition) -> String {
    let text = bounded(&Stored(condition)).filter(|text| crate::parse_condition(text).is_ok());
    text.unwrap_or_else(|| format!("({condition})"))
}

/// The text of an index's filter, in its parentheses: that of a condition, but that a list stays one.
pub fn stored_filter(filter: &Condition) -> String {
    let mut tests = Vec::new();
    stored_tests(filter, &mut tests);
    format!("({})", tests.join(" AND "))
}

fn stored_tests(filter: &Condition, tests: &mut Vec<String>) {
    let bare = |stored: String| stored[1..stored.len() - 1].to_owned();
    match filter {
        Condition::And(parts) => parts.iter().for_each(|part| stored_tests(part, tests)),
        Condition::In { expr, list: InList::Values(values), negated: false } if values.len() > 1 => {
            let values: Vec<String> = values.iter().map(|value| bare(stored_expression(value))).collect();
            tests.push(format!("{} IN ({})", bare(stored_expression(expr)), values.join(", ")));
        }
        test => tests.push(bare(stored_condition(test))),
    }
}

/// What an item prints, in parentheses; none when it is too long.
fn bounded(item: &impl Display) -> Option<String> {
    struct Bounded(String);
    impl std::fmt::Write for Bounded {
        fn write_str(&mut self, text: &str) -> Result {
            if self.0.len() + text.len() > TEXT_BYTES_MAX {
                return Err(std::fmt::Error);
            }
            self.0.push_str(text);
            Ok(())
        }
    }
    let mut text = Bounded(String::new());
    std::fmt::Write::write_fmt(&mut text, format_args!("({item})")).ok().map(|()| text.0)
}

/// A piece of a tree that prints as SQL Server stores it.
struct Stored<'a, T>(&'a T);

impl Display for Stored<'_, ObjectName> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let parts = [&self.0.server, &self.0.database, &self.0.schema];
        let first = parts.iter().position(|part| part.is_some()).unwrap_or(parts.len());
        for part in &parts[first..] {
            if let Some(part) = part {
                Bracketed(&part.text).fmt(f)?;
            }
            f.write_str(".")?;
        }
        Bracketed(&self.0.name.text).fmt(f)
    }
}

impl Display for Stored<'_, DataType> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let DataType { schema, name, arguments } = self.0;
        if let Some(schema) = schema {
            write!(f, "{}.{}", Bracketed(&schema.text), Bracketed(&name.text))?;
        } else {
            let name = name.text.to_ascii_lowercase();
            Bracketed(match name.as_str() {
                "integer" => "int",
                "dec" => "decimal",
                "character" => "char",
                "rowversion" => "timestamp",
                usual => usual,
            })
            .fmt(f)?;
        }
        match arguments {
            TypeArguments::None => Ok(()),
            TypeArguments::Max => f.write_str("(max)"),
            TypeArguments::One(length) => write!(f, "({length})"),
            TypeArguments::Two(precision, scale) => write!(f, "({precision},{scale})"),
            TypeArguments::Collection(name) => write!(f, "({})", Stored(&**name)),
        }
    }
}

/// The number that an expression is, and whether it is below zero; a sign is part of a number.
fn number(expr: &Expr) -> Option<(bool, &Literal)> {
    match &expr.kind {
        ExprKind::Literal(Literal::Null | Literal::String { .. } | Literal::Binary(_)) => None,
        ExprKind::Literal(literal) => Some((false, literal)),
        ExprKind::Unary(UnaryOp::Plus, operand) => number(operand),
        ExprKind::Unary(UnaryOp::Minus, operand) => match number(operand)? {
            (false, literal) => Some((true, literal)),
            (true, _) => None,
        },
        _ => None,
    }
}

/// Writes a number as its type shows it: whole numbers that are no int end in a point, floats have 17 digits.
fn write_number(f: &mut Formatter<'_>, negative: bool, literal: &Literal) -> Result {
    /// The digits of the smallest int, which is one only with its sign.
    const INT_MIN_DIGITS: &str = "2147483648";
    f.write_str(if negative { "(-" } else { "(" })?;
    match literal {
        Literal::Decimal(digits) => {
            f.write_str(digits)?;
            let is_int = negative && digits == INT_MIN_DIGITS;
            words(f, !is_int && !digits.contains('.'), ".")?;
        }
        Literal::Float(value) => {
            let text = format!("{value:.16e}");
            let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let sign = if exponent.starts_with('-') { '-' } else { '+' };
            write!(f, "{digits}e{sign}{:0>3}", exponent.trim_start_matches('-'))?;
        }
        other => other.fmt(f)?,
    }
    f.write_str(")")
}

/// How strongly the outermost operator of a printed expression binds.
fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        _ if number(expr).is_some() => SUFFIX + 1,
        ExprKind::Chain(chain) if chain.is_product() => PRODUCT,
        ExprKind::Chain(_) => SUM,
        ExprKind::Unary(UnaryOp::BitNot, _) => TILDE,
        ExprKind::Unary(..) => SIGN,
        ExprKind::Collate(..) => SUFFIX,
        _ => SUFFIX + 1,
    }
}

/// An expression, in parentheses unless it binds more strongly than `level`.
struct Above<'a>(&'a Expr, u8);

impl Display for Above<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Above(expr, level) = *self;
        if strength(expr) > level { Stored(expr).fmt(f) } else { write!(f, "({})", Stored(expr)) }
    }
}

/// An operand of a test: tests bind like sums.
fn operand(expr: &Expr) -> Above<'_> {
    Above(expr, SUM)
}

/// Whether the text of an operand begins with a minus sign: behind another it would begin a comment.
fn begins_with_minus(Above(expr, level): &Above<'_>) -> bool {
    if strength(expr) <= *level || number(expr).is_some() {
        return false;
    }
    match &expr.kind {
        ExprKind::Unary(op, _) => *op == UnaryOp::Minus,
        // More than one operator begins with a parenthesis.
        ExprKind::Chain(chain) => chain.rest.len() == 1 && begins_with_minus(&Above(&chain.first, strength(expr))),
        _ => false,
    }
}

/// Writes an operand behind an operator.
fn behind(f: &mut Formatter<'_>, is_minus: bool, operand: Above<'_>) -> Result {
    if is_minus && begins_with_minus(&operand) { write!(f, "({})", Stored(operand.0)) } else { operand.fmt(f) }
}

/// Writes operators with parentheses around all that stands before each but the first.
fn write_chain(f: &mut Formatter<'_>, chain: &Chain, level: u8) -> Result {
    (1..chain.rest.len()).try_for_each(|_| f.write_str("("))?;
    Above(&chain.first, level).fmt(f)?;
    for (place, link) in chain.rest.iter().enumerate() {
        words(f, place > 0, ")")?;
        link.op.fmt(f)?;
        behind(f, link.op == BinaryOp::Subtract, Above(&link.operand, level))?;
    }
    Ok(())
}

impl Display for Stored<'_, Expr> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some((negative, literal)) = number(self.0) {
            return write_number(f, negative, literal);
        }
        match &self.0.kind {
            ExprKind::Literal(binary @ Literal::Binary(_)) => write!(f, "({binary})"),
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Column(column) => write_column(f, column),
            ExprKind::Variable(name) => f.write_str(&name.text),
            ExprKind::Global(name) => f.write_str(&name.text.to_ascii_lowercase()),
            ExprKind::Unary(op, operand) => {
                f.write_str(match op {
                    UnaryOp::Minus => "-",
                    UnaryOp::Plus => "+",
                    UnaryOp::BitNot => "~",
                })?;
                let level = if *op == UnaryOp::BitNot { PRODUCT } else { SIGN };
                behind(f, *op == UnaryOp::Minus, Above(operand, level))
            }
            ExprKind::Chain(chain) => write_chain(f, chain, strength(self.0)),
            ExprKind::Function(call) => write_call(f, call),
            ExprKind::Method(call) => {
                match is_bare_receiver(&call.receiver) {
                    true => Stored(&call.receiver).fmt(f)?,
                    false => write!(f, "({})", Stored(&call.receiver))?,
                }
                write!(f, ".[{}]", call.method.text)?;
                write_given(f, call.arguments.as_deref())
            }
            ExprKind::Static(call) => {
                let schema = call.ty.schema_str().map_or(String::new(), |schema| format!("[{schema}]."));
                write!(f, "{schema}[{}]::[{}]", call.ty.name.text, call.method.text)?;
                write_given(f, call.arguments.as_deref())
            }
            ExprKind::Niladic(niladic) => f.write_str(match niladic {
                Niladic::CurrentTimestamp => "getdate()",
                Niladic::CurrentDate => "CURRENT_DATE",
                Niladic::CurrentUser | Niladic::SessionUser | Niladic::User => "user_name()",
                Niladic::SystemUser => "suser_sname()",
            }),
            ExprKind::Case(case) => write_case(f, case),
            ExprKind::Cast(cast) => write_cast(f, cast),
            ExprKind::Convert(convert) => {
                f.write_str(if convert.lenient { "TRY_CONVERT(" } else { "CONVERT(" })?;
                write!(f, "{},{}", Stored(&convert.data_type), Stored(&convert.expr))?;
                optional(f, ",", &convert.style.as_ref().map(Stored), "")?;
                f.write_str(")")
            }
            ExprKind::Iif(iif) => {
                write!(f, "case when {} then {}", Stored(&iif.condition), Stored(&iif.then))?;
                write!(f, " else {} end", Stored(&iif.otherwise))
            }
            ExprKind::Json(json) => {
                f.write_str(json.function())?;
                for (place, (key, value)) in json.members.iter().enumerate() {
                    words(f, place > 0, ",")?;
                    if let Some(key) = key {
                        write!(f, "{}:", Stored(key))?;
                    }
                    Stored(value).fmt(f)?;
                }
                f.write_str(json.on_null())?;
                f.write_str(")")
            }
            ExprKind::Trim(trim) => {
                let side = match trim.side {
                    TrimSide::Both => "",
                    TrimSide::Leading => "LEADING ",
                    TrimSide::Trailing => "TRAILING ",
                };
                write!(f, "Trim({side}{} FROM {})", Stored(&trim.characters), Stored(&trim.expr))
            }
            ExprKind::Coalesce(values) => write_arguments(f, "coalesce", values.iter()),
            ExprKind::NullIf(values) => write_arguments(f, "nullif", values.iter()),
            ExprKind::Collate(expr, collation) => write!(f, "({}) collate {collation}", Stored(&**expr)),
            ExprKind::AtTimeZone(pair) => {
                write!(f, "({} AT TIME ZONE {})", Above(&pair[0], TILDE), Above(&pair[1], SUFFIX))
            }
            ExprKind::NextValue(next) => {
                write!(f, "NEXT VALUE FOR {}", Stored(&next.sequence))?;
                if next.order_by.is_empty() { Ok(()) } else { write!(f, " OVER (ORDER BY {})", Commas(&next.order_by)) }
            }
            // No definition of a table may hold a query.
            ExprKind::Subquery(_) => self.0.fmt(f),
        }
    }
}

/// The arguments of a method; nothing for a property.
fn write_given(f: &mut Formatter<'_>, arguments: Option<&[Expr]>) -> Result {
    let Some(arguments) = arguments else { return Ok(()) };
    let arguments: Vec<String> = arguments.iter().map(|argument| Stored(argument).to_string()).collect();
    write!(f, "({})", arguments.join(","))
}

fn write_column(f: &mut Formatter<'_>, column: &ColumnRef) -> Result {
    optional(f, "", &column.qualifier.as_deref().map(Stored), ".")?;
    if column.is_virtual {
        return f.write_str(&column.name.text);
    }
    // `$rowguid` and its like stand for the column that has the property: in brackets they would be names.
    if column.name.text.starts_with('$') { column.name.fmt(f) } else { Bracketed(&column.name.text).fmt(f) }
}

fn write_arguments<'a>(f: &mut Formatter<'_>, function: &str, arguments: impl Iterator<Item = &'a Expr>) -> Result {
    f.write_str(function)?;
    let mut before = "(";
    for argument in arguments {
        write!(f, "{before}{}", Stored(argument))?;
        before = ",";
    }
    f.write_str(")")
}

fn write_call(f: &mut Formatter<'_>, call: &FunctionCall) -> Result {
    let plain = !call.star && !call.distinct && call.within_group.is_empty();
    if !plain || call.nulls.is_some() || call.over.is_some() {
        // Aggregates and windows stand in no definition of a table.
        return call.fmt(f);
    }
    let name = call.name.name.text.to_ascii_lowercase();
    let arguments = call.arguments.as_slice();
    if call.name.schema.is_some() || call.name.database.is_some() {
        write!(f, "{}(", Stored(&call.name))?;
    } else {
        match (name.as_str(), arguments) {
            ("year" | "month" | "day", [FunctionArgument::Expr(date)]) => {
                return write!(f, "datepart({name},{})", Stored(date));
            }
            ("trim", [_]) => f.write_str("Trim(")?,
            _ if is_bare_function(&name) => write!(f, "{name}(")?,
            _ => write!(f, "{}(", Bracketed(&name))?,
        }
    }
    for (place, argument) in arguments.iter().enumerate() {
        words(f, place > 0, ",")?;
        match argument {
            FunctionArgument::Default => f.write_str("DEFAULT")?,
            FunctionArgument::Expr(expr) => match call.date_part(place) {
                Some(part) => f.write_str(part)?,
                None => Stored(expr).fmt(f)?,
            },
        }
    }
    f.write_str(")")
}

fn write_case(f: &mut Formatter<'_>, case: &Case) -> Result {
    f.write_str("case")?;
    match &case.branches {
        CaseBranches::Simple { operand, branches } => {
            write!(f, " {}", Stored(operand))?;
            for (value, result) in branches {
                write!(f, " when {} then {}", Stored(value), Stored(result))?;
            }
        }
        CaseBranches::Searched(branches) => {
            for (condition, result) in branches {
                write!(f, " when {} then {}", Stored(condition), Stored(result))?;
            }
        }
    }
    // Where ELSE is missing its blank stays.
    match &case.otherwise {
        Some(otherwise) => write!(f, " else {} end", Stored(otherwise)),
        None => f.write_str("  end"),
    }
}

fn write_cast(f: &mut Formatter<'_>, cast: &Cast) -> Result {
    if !cast.lenient && !cast.parse {
        return write!(f, "CONVERT({},{})", Stored(&cast.data_type), Stored(&cast.expr));
    }
    words(f, cast.lenient, "TRY_")?;
    f.write_str(if cast.parse { "PARSE(" } else { "CAST(" })?;
    write!(f, "{} AS {}", Stored(&cast.expr), Stored(&cast.data_type))?;
    optional(f, " USING ", &cast.culture.as_ref().map(Stored), "")?;
    f.write_str(")")
}

/// How strongly a printed condition binds: OR 1, AND 2, NOT and tests 3.
fn condition_strength(condition: &Condition) -> u8 {
    match condition {
        Condition::Or(_) => 1,
        Condition::And(_) | Condition::Between { negated: false, .. } => 2,
        Condition::In { list: InList::Values(values), negated: false, .. } if values.len() > 1 => 1,
        _ => 3,
    }
}

/// A condition, in parentheses unless it binds at least as strongly as `level`.
struct AtLeast<'a>(&'a Condition, u8);

impl Display for AtLeast<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let AtLeast(condition, level) = *self;
        if condition_strength(condition) >= level {
            Stored(condition).fmt(f)
        } else {
            write!(f, "({})", Stored(condition))
        }
    }
}

/// Writes conditions that AND or OR joins. They lean left: a group on the left needs no parentheses.
fn joined(f: &mut Formatter<'_>, terms: &[Condition], word: &str, level: u8) -> Result {
    for (place, term) in terms.iter().enumerate() {
        words(f, place > 0, word)?;
        AtLeast(term, if place == 0 { level } else { level + 1 }).fmt(f)?;
    }
    Ok(())
}

/// Writes NOT before a test that is negated. `groups`: what it stands for is more than one comparison.
fn negation(f: &mut Formatter<'_>, negated: bool, groups: bool, test: impl Display) -> Result {
    match (negated, groups) {
        (false, _) => test.fmt(f),
        (true, false) => write!(f, "NOT {test}"),
        (true, true) => write!(f, "NOT ({test})"),
    }
}

impl Display for Stored<'_, Condition> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.0 {
            Condition::Compare(compare) => {
                write!(f, "{}{}{}", operand(&compare.left), compare.op, operand(&compare.right))
            }
            Condition::And(terms) => joined(f, terms, " AND ", 2),
            Condition::Or(terms) => joined(f, terms, " OR ", 1),
            Condition::Not(condition) => write!(f, "NOT {}", AtLeast(condition, 3)),
            Condition::IsNull { expr, negated } => {
                write!(f, "{} IS {}NULL", operand(expr), if *negated { "NOT " } else { "" })
            }
            Condition::IsDistinct { operands, negated } => {
                let not = if *negated { "NOT " } else { "" };
                write!(f, "{} IS {not}DISTINCT FROM {}", operand(&operands[0]), operand(&operands[1]))
            }
            Condition::Between { expr, bounds, negated } => {
                let [low, high] = [operand(&bounds[0]), operand(&bounds[1])];
                let expr = operand(expr);
                negation(f, *negated, true, format_args!("{expr}>={low} AND {expr}<={high}"))
            }
            Condition::In { expr, list: InList::Values(values), negated } => {
                let equal = Write(|f: &mut Formatter<'_>| {
                    for (place, value) in values.iter().rev().enumerate() {
                        words(f, place > 0, " OR ")?;
                        write!(f, "{}={}", operand(expr), operand(value))?;
                    }
                    Ok(())
                });
                negation(f, *negated, values.len() > 1, equal)
            }
            Condition::Like(like) => {
                let test = Write(|f: &mut Formatter<'_>| {
                    write!(f, "{} like {}", operand(&like.expr), operand(&like.pattern))?;
                    optional(f, " escape ", &like.escape.as_ref().map(operand), "")
                });
                negation(f, like.negated, false, test)
            }
            // No definition of a table may hold these.
            Condition::In { list: InList::Query(_), .. }
            | Condition::CompareQuery(_)
            | Condition::Exists(_)
            | Condition::Updated(_)
            | Condition::FullText(_) => self.0.fmt(f),
        }
    }
}
