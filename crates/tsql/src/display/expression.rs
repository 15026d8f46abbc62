//! Expressions and conditions, with the parentheses they need and no others.

use std::fmt::{Display, Formatter, Result};

use super::{Bracketed, Commas, Quoted, is_plain, optional, words};
use crate::lexer::Keyword;
use crate::tree::*;

/// Functions that are no reserved words but have a syntax of their own: as ordinary functions they stand in brackets.
const SPECIAL: &[&str] = &["CAST", "IIF", "JSON_ARRAY", "JSON_OBJECT", "PARSE", "TRIM", "TRY_CAST", "TRY_PARSE"];

// What binds how strongly, the weakest first.
pub(super) const SUM: u8 = 1;
pub(super) const SIGN: u8 = 2;
pub(super) const PRODUCT: u8 = 3;
pub(super) const TILDE: u8 = 4;
pub(super) const SUFFIX: u8 = 5;

/// How strongly the outermost operator of an expression binds.
fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Chain(chain) if chain.is_product() => PRODUCT,
        ExprKind::Chain(_) => SUM,
        ExprKind::Unary(UnaryOp::BitNot, _) => TILDE,
        ExprKind::Unary(..) => SIGN,
        ExprKind::Collate(..) | ExprKind::AtTimeZone(..) => SUFFIX,
        _ => SUFFIX + 1,
    }
}

/// Whether a method can be called on an expression without parentheses around that.
pub(super) fn is_bare_receiver(expr: &Expr) -> bool {
    matches!(
        expr.kind,
        ExprKind::Variable(_)
            | ExprKind::Function(_)
            | ExprKind::Method(_)
            | ExprKind::Static(_)
            | ExprKind::Subquery(_)
            | ExprKind::Cast(_)
            | ExprKind::Convert(_)
    )
}

/// The arguments of a method; nothing for a property.
fn write_arguments(f: &mut Formatter<'_>, arguments: Option<&[Expr]>) -> Result {
    arguments.map_or(Ok(()), |arguments| write!(f, "({})", Commas(arguments)))
}

/// An expression, in parentheses when it binds more weakly than its place wants.
struct Operand<'a>(&'a Expr, u8);

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if strength(self.0) < self.1 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

impl MakeJson {
    /// The function's name, with its parenthesis.
    pub(super) fn function(&self) -> &'static str {
        if self.object { "JSON_OBJECT(" } else { "JSON_ARRAY(" }
    }

    /// What is said of NULLs where it is not what is meant without a word.
    pub(super) fn on_null(&self) -> &'static str {
        match (self.object, self.absent_on_null) {
            (true, true) => " ABSENT ON NULL",
            (false, false) => " NULL ON NULL",
            _ => "",
        }
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.kind {
            ExprKind::Literal(literal) => literal.fmt(f),
            ExprKind::Column(column) => column.fmt(f),
            ExprKind::Variable(name) | ExprKind::Global(name) => f.write_str(&name.text),
            ExprKind::Unary(op, operand) => {
                f.write_str(match op {
                    UnaryOp::Minus => "-",
                    UnaryOp::Plus => "+",
                    UnaryOp::BitNot => "~",
                })?;
                // Two minus signs side by side begin a comment.
                words(f, matches!(operand.kind, ExprKind::Unary(..)), " ")?;
                let level = match (op, &operand.kind) {
                    (UnaryOp::BitNot, _) => TILDE,
                    (_, ExprKind::Unary(..)) => SIGN,
                    _ => PRODUCT,
                };
                Operand(operand, level).fmt(f)
            }
            ExprKind::Chain(chain) => {
                let level = strength(self);
                // A chain of this level on the left would be a part of this one.
                Operand(&chain.first, level).fmt(f)?;
                chain.rest.iter().try_for_each(|link| write!(f, " {} {}", link.op, Operand(&link.operand, level + 1)))
            }
            ExprKind::Function(call) => call.fmt(f),
            ExprKind::Method(call) => {
                match is_bare_receiver(&call.receiver) {
                    true => call.receiver.fmt(f)?,
                    false => write!(f, "({})", call.receiver)?,
                }
                write!(f, ".{}", call.method)?;
                write_arguments(f, call.arguments.as_deref())
            }
            ExprKind::Static(call) => {
                write!(f, "{}::{}", call.ty, call.method)?;
                write_arguments(f, call.arguments.as_deref())
            }
            ExprKind::Niladic(niladic) => f.write_str(match niladic {
                Niladic::CurrentTimestamp => "CURRENT_TIMESTAMP",
                Niladic::CurrentDate => "CURRENT_DATE",
                Niladic::CurrentUser => "CURRENT_USER",
                Niladic::SessionUser => "SESSION_USER",
                Niladic::SystemUser => "SYSTEM_USER",
                Niladic::User => "USER",
            }),
            ExprKind::Case(case) => case.fmt(f),
            ExprKind::Cast(cast) => cast.fmt(f),
            ExprKind::Convert(convert) => {
                f.write_str(if convert.lenient { "TRY_CONVERT(" } else { "CONVERT(" })?;
                write!(f, "{}, {}", convert.data_type, convert.expr)?;
                optional(f, ", ", &convert.style, "")?;
                f.write_str(")")
            }
            ExprKind::Json(json) => {
                f.write_str(json.function())?;
                for (place, (key, value)) in json.members.iter().enumerate() {
                    words(f, place > 0, ", ")?;
                    if let Some(key) = key {
                        write!(f, "{key}:")?;
                    }
                    value.fmt(f)?;
                }
                f.write_str(json.on_null())?;
                f.write_str(")")
            }
            ExprKind::Iif(iif) => write!(f, "IIF({}, {}, {})", iif.condition, iif.then, iif.otherwise),
            ExprKind::Trim(trim) => {
                let side = match trim.side {
                    TrimSide::Both => "",
                    TrimSide::Leading => "LEADING ",
                    TrimSide::Trailing => "TRAILING ",
                };
                write!(f, "TRIM({side}{} FROM {})", trim.characters, trim.expr)
            }
            ExprKind::Coalesce(values) => write!(f, "COALESCE({})", Commas(values)),
            ExprKind::NullIf(values) => write!(f, "NULLIF({})", Commas(&values[..])),
            ExprKind::Subquery(query) => write!(f, "({query})"),
            ExprKind::Collate(expr, collation) => write!(f, "{} COLLATE {collation}", Operand(expr, SUFFIX)),
            ExprKind::AtTimeZone(pair) => {
                write!(f, "{} AT TIME ZONE {}", Operand(&pair[0], SUFFIX), Operand(&pair[1], SUFFIX + 1))
            }
            ExprKind::NextValue(next) => {
                write!(f, "NEXT VALUE FOR {}", next.sequence)?;
                if next.order_by.is_empty() { Ok(()) } else { write!(f, " OVER (ORDER BY {})", Commas(&next.order_by)) }
            }
        }
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Literal::Null => f.write_str("NULL"),
            Literal::Int(value) => value.fmt(f),
            Literal::Decimal(digits) => f.write_str(digits),
            Literal::Float(value) => write!(f, "{value:e}"),
            Literal::Money(value) => {
                let sign = if *value < 0 { "-" } else { "" };
                let value = value.unsigned_abs();
                write!(f, "${sign}{}.{:04}", value / 10_000, value % 10_000)
            }
            Literal::String { value, national } => {
                words(f, *national, "N")?;
                Quoted(value).fmt(f)
            }
            Literal::Binary(bytes) => {
                f.write_str("0x")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02X}"))
            }
        }
    }
}

impl Display for ColumnRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        optional(f, "", &self.qualifier, ".")?;
        if self.is_virtual { f.write_str(&self.name.text) } else { self.name.fmt(f) }
    }
}

impl Display for BinaryOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            BinaryOp::Add => "+",
            BinaryOp::Subtract => "-",
            BinaryOp::Multiply => "*",
            BinaryOp::Divide => "/",
            BinaryOp::Modulo => "%",
            BinaryOp::BitAnd => "&",
            BinaryOp::BitOr => "|",
            BinaryOp::BitXor => "^",
            BinaryOp::Concat => "||",
            BinaryOp::ShiftLeft => "<<",
            BinaryOp::ShiftRight => ">>",
        })
    }
}

/// Whether a built-in function can be called by its name without brackets. Some reserved words are functions, and some
/// functions are not what their bare name calls.
pub(super) fn is_bare_function(name: &str) -> bool {
    if SPECIAL.iter().any(|word| word.eq_ignore_ascii_case(name)) {
        return false;
    }
    match Keyword::of(name) {
        Some(
            Keyword::Left
            | Keyword::Right
            | Keyword::Identity
            | Keyword::Contains
            | Keyword::Freetext
            | Keyword::OpenRowset
            | Keyword::OpenQuery
            | Keyword::OpenXml
            | Keyword::OpenDatasource
            | Keyword::ContainsTable
            | Keyword::FreetextTable,
        ) => true,
        _ => is_plain(name),
    }
}

fn function_name(f: &mut Formatter<'_>, call: &FunctionCall) -> Result {
    let text = call.name.name.text.as_str();
    if call.name.schema.is_some() || call.name.database.is_some() {
        return call.name.fmt(f);
    }
    let plain_trim = text.eq_ignore_ascii_case("TRIM") && call.arguments.len() == 1 && !call.distinct;
    if plain_trim || is_bare_function(text) { f.write_str(text) } else { Bracketed(text).fmt(f) }
}

impl Display for FunctionCall {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        function_name(f, self)?;
        f.write_str("(")?;
        words(f, self.distinct, "DISTINCT ")?;
        words(f, self.star, "*")?;
        words(f, self.star && !self.arguments.is_empty(), ", ")?;
        write!(f, "{})", Commas(&self.arguments))?;
        if !self.within_group.is_empty() {
            write!(f, " WITHIN GROUP (ORDER BY {})", Commas(&self.within_group))?;
        }
        match self.nulls {
            Some(NullTreatment::Ignore) => f.write_str(" IGNORE NULLS")?,
            Some(NullTreatment::Respect) => f.write_str(" RESPECT NULLS")?,
            None => {}
        }
        match &self.over {
            Some(Over::Name(name)) => write!(f, " OVER {name}"),
            Some(Over::Window(window)) => write!(f, " OVER {window}"),
            None => Ok(()),
        }
    }
}

impl Display for FunctionArgument {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            FunctionArgument::Expr(expr) => expr.fmt(f),
            FunctionArgument::Default => f.write_str("DEFAULT"),
        }
    }
}

impl Display for Window {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("(")?;
        let mut blank = "";
        if let Some(base) = &self.base {
            base.fmt(f)?;
            blank = " ";
        }
        if !self.partition_by.is_empty() {
            write!(f, "{blank}PARTITION BY {}", Commas(&self.partition_by))?;
            blank = " ";
        }
        if !self.order_by.is_empty() {
            write!(f, "{blank}ORDER BY {}", Commas(&self.order_by))?;
            blank = " ";
        }
        if let Some(frame) = &self.frame {
            write!(f, "{blank}{} ", if frame.rows { "ROWS" } else { "RANGE" })?;
            match &frame.end {
                Some(end) => write!(f, "BETWEEN {} AND {end}", frame.start)?,
                None => frame.start.fmt(f)?,
            }
        }
        f.write_str(")")
    }
}

impl Display for FrameBound {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            FrameBound::UnboundedPreceding => f.write_str("UNBOUNDED PRECEDING"),
            FrameBound::Preceding(count) => write!(f, "{count} PRECEDING"),
            FrameBound::CurrentRow => f.write_str("CURRENT ROW"),
            FrameBound::Following(count) => write!(f, "{count} FOLLOWING"),
            FrameBound::UnboundedFollowing => f.write_str("UNBOUNDED FOLLOWING"),
        }
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("CASE")?;
        match &self.branches {
            CaseBranches::Simple { operand, branches } => {
                write!(f, " {operand}")?;
                for (value, result) in branches {
                    write!(f, " WHEN {value} THEN {result}")?;
                }
            }
            CaseBranches::Searched(branches) => {
                for (condition, result) in branches {
                    write!(f, " WHEN {condition} THEN {result}")?;
                }
            }
        }
        optional(f, " ELSE ", &self.otherwise, "")?;
        f.write_str(" END")
    }
}

impl Display for Cast {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        words(f, self.lenient, "TRY_")?;
        f.write_str(if self.parse { "PARSE(" } else { "CAST(" })?;
        write!(f, "{} AS {}", self.expr, self.data_type)?;
        optional(f, " USING ", &self.culture, "")?;
        f.write_str(")")
    }
}

/// How strongly a condition binds: OR 1, AND 2, NOT 3, tests 4.
fn condition_strength(condition: &Condition) -> u8 {
    match condition {
        Condition::Or(_) => 1,
        Condition::And(_) => 2,
        Condition::Not(_) => 3,
        _ => 4,
    }
}

/// A condition, in parentheses when it binds more weakly than its place wants.
struct Term<'a>(&'a Condition, u8);

impl Display for Term<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if condition_strength(self.0) < self.1 { write!(f, "({})", self.0) } else { self.0.fmt(f) }
    }
}

fn joined(f: &mut Formatter<'_>, terms: &[Condition], word: &str, level: u8) -> Result {
    for (index, term) in terms.iter().enumerate() {
        words(f, index > 0, word)?;
        Term(term, level).fmt(f)?;
    }
    Ok(())
}

impl Display for Condition {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let not = |negated: &bool| if *negated { "NOT " } else { "" };
        match self {
            Condition::Compare(compare) => write!(f, "{} {} {}", compare.left, compare.op, compare.right),
            Condition::CompareQuery(compare) => {
                let quantifier = if compare.all { "ALL" } else { "ANY" };
                write!(f, "{} {} {quantifier} ({})", compare.left, compare.op, compare.query)
            }
            Condition::And(terms) => joined(f, terms, " AND ", 3),
            Condition::Or(terms) => joined(f, terms, " OR ", 2),
            Condition::Not(condition) => write!(f, "NOT {}", Term(condition, 3)),
            Condition::IsNull { expr, negated } => write!(f, "{expr} IS {}NULL", not(negated)),
            Condition::IsDistinct { operands, negated } => {
                write!(f, "{} IS {}DISTINCT FROM {}", operands[0], not(negated), operands[1])
            }
            Condition::Between { expr, bounds, negated } => {
                write!(f, "{expr} {}BETWEEN {} AND {}", not(negated), bounds[0], bounds[1])
            }
            Condition::In { expr, list, negated } => {
                write!(f, "{expr} {}IN (", not(negated))?;
                match list {
                    InList::Values(values) => Commas(values).fmt(f)?,
                    InList::Query(query) => query.fmt(f)?,
                }
                f.write_str(")")
            }
            Condition::Like(like) => {
                write!(f, "{} {}LIKE {}", like.expr, not(&like.negated), like.pattern)?;
                optional(f, " ESCAPE ", &like.escape, "")
            }
            Condition::Exists(query) => write!(f, "EXISTS ({query})"),
            Condition::Updated(column) => write!(f, "UPDATE({column})"),
            Condition::FullText(call) => call.fmt(f),
        }
    }
}

impl Display for CompareOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            CompareOp::Equal => "=",
            CompareOp::NotEqual => "<>",
            CompareOp::Less => "<",
            CompareOp::LessOrEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterOrEqual => ">=",
        })
    }
}
