//! Scalar expressions and conditions. T-SQL keeps them apart: a condition is no value.

use super::{DataType, Name, ObjectName, OrderItem, Query, Span};

/// A scalar expression.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// What it is.
    pub kind: ExprKind,
    /// Where it stands, without the parentheses around it.
    pub span: Span,
}

impl Expr {
    /// An expression at a place.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// The line it begins in, counted from 1.
    pub fn line(&self) -> u32 {
        self.span.line
    }

    /// The literal, if it is one.
    pub fn literal(&self) -> Option<&Literal> {
        match &self.kind {
            ExprKind::Literal(literal) => Some(literal),
            _ => None,
        }
    }
}

/// The forms of scalar expressions.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A constant.
    Literal(Literal),
    /// `column`, `t.column`, `s.t.column`; also `$action`, `$identity`, `$rowguid`. The name of a date part
    /// (`DATEADD(day, ...)`) parses as a column as well.
    Column(ColumnRef),
    /// `@variable`, with its `@`.
    Variable(Name),
    /// `@@global`, with its `@@`.
    Global(Name),
    /// `-x`, `+x`, `~x`
    Unary(UnaryOp, Box<Expr>),
    /// `a + b`, `a - b + c`: operators of two values.
    Chain(Box<Chain>),
    /// A function call, also of aggregates and window functions.
    Function(Box<FunctionCall>),
    /// `x.method(...)`, where `x` is no name: `@x.query('...')`, `(SELECT ...).value(...)`, and the property `x.STX`. With a name before
    /// it, a method parses as the call of a function in a schema, and a property as a column.
    Method(Box<MethodCall>),
    /// `type::method(...)`
    Static(Box<StaticCall>),
    /// CURRENT_TIMESTAMP and its like, which take no parentheses.
    Niladic(Niladic),
    /// `CASE ... END`
    Case(Box<Case>),
    /// `CAST(x AS t)`, `TRY_CAST(x AS t)`
    Cast(Box<Cast>),
    /// `CONVERT(t, x [, style])`, `TRY_CONVERT(...)`
    Convert(Box<Convert>),
    /// `TRIM(characters FROM x)`, `TRIM(LEADING characters FROM x)`; `TRIM(x)` is a function.
    Trim(Box<Trim>),
    /// `JSON_OBJECT(key: value, ...)`, `JSON_ARRAY(value, ...)`
    Json(Box<MakeJson>),
    /// `IIF(condition, x, y)`
    Iif(Box<Iif>),
    /// `COALESCE(x, y, ...)`: at least two values.
    Coalesce(Vec<Expr>),
    /// `NULLIF(x, y)`
    NullIf(Box<[Expr; 2]>),
    /// `(SELECT ...)` as a value.
    Subquery(Box<Query>),
    /// `x COLLATE name`
    Collate(Box<Expr>, Name),
    /// `x AT TIME ZONE zone`
    AtTimeZone(Box<[Expr; 2]>),
    /// `NEXT VALUE FOR sequence [OVER (ORDER BY ...)]`
    NextValue(Box<NextValue>),
}

/// A constant as written.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `NULL`
    Null,
    /// A whole number that fits an int. The sign is an operator of its own.
    Int(i32),
    /// Any other exact number: its digits and perhaps a decimal point, at most 38 digits. Its type is
    /// decimal with the precision and scale it shows; whole numbers beyond int are of this kind, as in SQL Server.
    Decimal(String),
    /// `1e5`
    Float(f64),
    /// `$1.5`, in ten-thousandths.
    Money(i64),
    /// `'text'`, or `N'text'` with `national`.
    String {
        /// The text, quotes undoubled.
        value: String,
        /// True for `N'...'`.
        national: bool,
    },
    /// `0x1F`
    Binary(Vec<u8>),
}

/// The name of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRef {
    /// What stands before the column: an alias, or a table with its schema and database.
    pub qualifier: Option<Box<ObjectName>>,
    /// The column.
    pub name: Name,
    /// It is a virtual one, `%%physloc%%`, which tells where a row is stored. The name has the percent signs then.
    pub is_virtual: bool,
}

impl ColumnRef {
    /// A column that a table, or what stands for one, has by a name.
    pub fn new(qualifier: Option<Box<ObjectName>>, name: Name) -> ColumnRef {
        ColumnRef { qualifier, name, is_virtual: false }
    }
}

/// Operators of one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-`
    Minus,
    /// `+`
    Plus,
    /// `~`
    BitNot,
}

/// Operators of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
    /// `&`
    BitAnd,
    /// `|`
    BitOr,
    /// `^`
    BitXor,
    /// `||`, concatenation.
    Concat,
    /// `<<`
    ShiftLeft,
    /// `>>`
    ShiftRight,
}

impl BinaryOp {
    /// True for `*`, `/` and `%`, which bind more strongly than the others.
    pub fn is_product(self) -> bool {
        matches!(self, BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo)
    }
}

/// Operators of one precedence, applied from left to right: `a + b - c` is `(a + b) - c`. The tree of a chain is no higher for its
/// length, so walking one costs no stack.
#[derive(Debug, Clone, PartialEq)]
pub struct Chain {
    /// The leftmost operand.
    pub first: Expr,
    /// The operators with their right operands, in the order of the text; never empty.
    pub rest: Vec<Link>,
}

/// An operator of a [`Chain`] and its right operand.
#[derive(Debug, Clone, PartialEq)]
pub struct Link {
    /// The operator.
    pub op: BinaryOp,
    /// Its right operand.
    pub operand: Expr,
}

impl Chain {
    /// `left op right`. A left operand that is itself a chain of this precedence is continued: `(a + b) + c` is `a + b + c`.
    pub fn of(left: Expr, op: BinaryOp, right: Expr) -> Expr {
        let span = left.span.to(right.span);
        let link = Link { op, operand: right };
        let kind = match left.kind {
            ExprKind::Chain(mut chain) if chain.is_product() == op.is_product() => {
                chain.rest.push(link);
                ExprKind::Chain(chain)
            }
            kind => {
                let first = Expr { kind, span: left.span };
                ExprKind::Chain(Box::new(Chain { first, rest: vec![link] }))
            }
        };
        Expr { kind, span }
    }

    /// The precedence of its operators.
    pub fn is_product(&self) -> bool {
        self.rest.iter().any(|link| link.op.is_product())
    }

    /// All operands, in the order of the text.
    pub fn operands(&self) -> impl Iterator<Item = &Expr> {
        std::iter::once(&self.first).chain(self.rest.iter().map(|link| &link.operand))
    }
}

/// See [`ExprKind::Function`].
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionCall {
    /// The function's name; built-in functions have no schema.
    pub name: ObjectName,
    /// `COUNT(*)`: the star stands for the arguments.
    pub star: bool,
    /// `DISTINCT` before the arguments.
    pub distinct: bool,
    /// The arguments.
    pub arguments: Vec<FunctionArgument>,
    /// `WITHIN GROUP (ORDER BY ...)`
    pub within_group: Vec<OrderItem>,
    /// `IGNORE NULLS` or `RESPECT NULLS`.
    pub nulls: Option<NullTreatment>,
    /// `OVER (...)`
    pub over: Option<Over>,
}

impl FunctionCall {
    /// A call without arguments.
    pub fn named(name: ObjectName) -> FunctionCall {
        FunctionCall {
            name,
            star: false,
            distinct: false,
            arguments: Vec::new(),
            within_group: Vec::new(),
            nulls: None,
            over: None,
        }
    }

    /// The full name of the date part that the argument at `place` is.
    pub fn date_part(&self, place: usize) -> Option<&str> {
        let takes_part = ["dateadd", "datediff", "datediff_big", "datename", "datepart", "datetrunc", "date_bucket"];
        if place > 0 || !takes_part.iter().any(|function| self.name.name.is(function)) {
            return None;
        }
        let ExprKind::Column(ColumnRef { qualifier: None, name, is_virtual: false }) =
            &self.arguments.first()?.expr()?.kind
        else {
            return None;
        };
        Some(match name.text.to_ascii_lowercase().as_str() {
            "yy" | "yyyy" | "year" => "year",
            "qq" | "q" | "quarter" => "quarter",
            "mm" | "m" | "month" => "month",
            "dy" | "y" | "dayofyear" => "dayofyear",
            "dd" | "d" | "day" => "day",
            "wk" | "ww" | "week" => "week",
            "dw" | "w" | "weekday" => "weekday",
            "isowk" | "isoww" | "iso_week" => "iso_week",
            "hh" | "hour" => "hour",
            "mi" | "n" | "minute" => "minute",
            "ss" | "s" | "second" => "second",
            "ms" | "millisecond" => "millisecond",
            "mcs" | "microsecond" => "microsecond",
            "ns" | "nanosecond" => "nanosecond",
            "tz" | "tzoffset" => "tzoffset",
            _ => return None,
        })
    }
}

/// One argument of a function.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionArgument {
    /// A value.
    Expr(Expr),
    /// `DEFAULT`, for user-defined functions.
    Default,
}

impl FunctionArgument {
    /// The value, unless it is `DEFAULT`.
    pub fn expr(&self) -> Option<&Expr> {
        match self {
            FunctionArgument::Expr(expr) => Some(expr),
            FunctionArgument::Default => None,
        }
    }
}

/// See [`ExprKind::Method`].
#[derive(Debug, Clone, PartialEq)]
pub struct MethodCall {
    /// What it is called on.
    pub receiver: Expr,
    /// Its name.
    pub method: Name,
    /// Its arguments; None for a property.
    pub arguments: Option<Vec<Expr>>,
}

/// See [`ExprKind::Static`].
#[derive(Debug, Clone, PartialEq)]
pub struct StaticCall {
    /// The type.
    pub ty: ObjectName,
    /// The method's name.
    pub method: Name,
    /// Its arguments; None for a property.
    pub arguments: Option<Vec<Expr>>,
}

/// What a window function does with NULLs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NullTreatment {
    /// `IGNORE NULLS`
    Ignore,
    /// `RESPECT NULLS`
    Respect,
}

/// The OVER clause.
#[derive(Debug, Clone, PartialEq)]
pub enum Over {
    /// `OVER name`, defined in the WINDOW clause.
    Name(Name),
    /// `OVER (...)`
    Window(Box<Window>),
}

/// A window.
#[derive(Debug, Clone, PartialEq)]
pub struct Window {
    /// A window of the WINDOW clause that this one extends.
    pub base: Option<Name>,
    /// `PARTITION BY`
    pub partition_by: Vec<Expr>,
    /// `ORDER BY`
    pub order_by: Vec<OrderItem>,
    /// `ROWS ...` or `RANGE ...`
    pub frame: Option<Frame>,
}

/// The frame of a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// True for `ROWS`, false for `RANGE`.
    pub rows: bool,
    /// Where it starts.
    pub start: FrameBound,
    /// Where it ends; the current row when absent.
    pub end: Option<FrameBound>,
}

/// A bound of a frame.
#[derive(Debug, Clone, PartialEq)]
pub enum FrameBound {
    /// `UNBOUNDED PRECEDING`
    UnboundedPreceding,
    /// `n PRECEDING`
    Preceding(Expr),
    /// `CURRENT ROW`
    CurrentRow,
    /// `n FOLLOWING`
    Following(Expr),
    /// `UNBOUNDED FOLLOWING`
    UnboundedFollowing,
}

/// Functions written without parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Niladic {
    /// `CURRENT_TIMESTAMP`
    CurrentTimestamp,
    /// `CURRENT_DATE`
    CurrentDate,
    /// `CURRENT_USER`
    CurrentUser,
    /// `SESSION_USER`
    SessionUser,
    /// `SYSTEM_USER`
    SystemUser,
    /// `USER`
    User,
}

/// See [`ExprKind::Case`].
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// The branches.
    pub branches: CaseBranches,
    /// `ELSE`
    pub otherwise: Option<Expr>,
}

/// The branches of a CASE, at least one.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseBranches {
    /// `CASE x WHEN value THEN result ...`
    Simple {
        /// What is compared.
        operand: Expr,
        /// Values and results.
        branches: Vec<(Expr, Expr)>,
    },
    /// `CASE WHEN condition THEN result ...`
    Searched(Vec<(Condition, Expr)>),
}

/// See [`ExprKind::Cast`].
#[derive(Debug, Clone, PartialEq)]
pub struct Cast {
    /// What is converted.
    pub expr: Expr,
    /// To what.
    pub data_type: DataType,
    /// `TRY_CAST`, `TRY_PARSE`: a failure is NULL.
    pub lenient: bool,
    /// True for `PARSE` and `TRY_PARSE`.
    pub parse: bool,
    /// `USING culture` of PARSE.
    pub culture: Option<Expr>,
}

/// See [`ExprKind::Convert`].
#[derive(Debug, Clone, PartialEq)]
pub struct Convert {
    /// To what.
    pub data_type: DataType,
    /// What is converted.
    pub expr: Expr,
    /// The style.
    pub style: Option<Expr>,
    /// `TRY_CONVERT`: a failure is NULL.
    pub lenient: bool,
}

/// See [`ExprKind::Json`].
#[derive(Debug, Clone, PartialEq)]
pub struct MakeJson {
    /// Whether it is an object; its values have keys.
    pub object: bool,
    /// Keys, of an object, and values.
    pub members: Vec<(Option<Expr>, Expr)>,
    /// `ABSENT ON NULL`, which arrays say when they say nothing; `NULL ON NULL` is what objects say then.
    pub absent_on_null: bool,
}

/// See [`ExprKind::Trim`].
#[derive(Debug, Clone, PartialEq)]
pub struct Trim {
    /// Where characters are taken away.
    pub side: TrimSide,
    /// The characters.
    pub characters: Expr,
    /// From what.
    pub expr: Expr,
}

/// The ends TRIM works on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrimSide {
    /// `BOTH`, and when nothing is said.
    Both,
    /// `LEADING`
    Leading,
    /// `TRAILING`
    Trailing,
}

/// See [`ExprKind::Iif`].
#[derive(Debug, Clone, PartialEq)]
pub struct Iif {
    /// What decides.
    pub condition: Condition,
    /// The value when it holds.
    pub then: Expr,
    /// The value otherwise.
    pub otherwise: Expr,
}

/// See [`ExprKind::NextValue`].
#[derive(Debug, Clone, PartialEq)]
pub struct NextValue {
    /// The sequence.
    pub sequence: ObjectName,
    /// The order in which rows get their values.
    pub order_by: Vec<OrderItem>,
}

/// A condition: true, false or unknown.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// `a = b` and the other comparisons.
    Compare(Box<Compare>),
    /// `a = ANY (SELECT ...)`
    CompareQuery(Box<CompareQuery>),
    /// All must hold; at least two.
    And(Vec<Condition>),
    /// One must hold; at least two.
    Or(Vec<Condition>),
    /// `NOT c`
    Not(Box<Condition>),
    /// `x IS [NOT] NULL`
    IsNull {
        /// What is tested.
        expr: Expr,
        /// `NOT`
        negated: bool,
    },
    /// `a IS [NOT] DISTINCT FROM b`
    IsDistinct {
        /// What is compared.
        operands: Box<[Expr; 2]>,
        /// `NOT`
        negated: bool,
    },
    /// `x [NOT] BETWEEN low AND high`
    Between {
        /// What is tested.
        expr: Box<Expr>,
        /// The lower and the upper bound.
        bounds: Box<[Expr; 2]>,
        /// `NOT`
        negated: bool,
    },
    /// `x [NOT] IN (...)`
    In {
        /// What is tested.
        expr: Box<Expr>,
        /// Among what.
        list: InList,
        /// `NOT`
        negated: bool,
    },
    /// `x [NOT] LIKE pattern [ESCAPE c]`
    Like(Box<Like>),
    /// `EXISTS (SELECT ...)`
    Exists(Box<Query>),
    /// `UPDATE(column)` in a trigger.
    Updated(Name),
    /// `CONTAINS(...)`, `FREETEXT(...)`
    FullText(Box<FunctionCall>),
}

/// Comparison operators.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompareOp {
    /// `=`
    Equal,
    /// `<>`, `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`, `!>`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`, `!<`
    GreaterOrEqual,
}

/// See [`Condition::Compare`].
#[derive(Debug, Clone, PartialEq)]
pub struct Compare {
    /// The left operand.
    pub left: Expr,
    /// The operator.
    pub op: CompareOp,
    /// The right operand.
    pub right: Expr,
}

/// See [`Condition::CompareQuery`].
#[derive(Debug, Clone, PartialEq)]
pub struct CompareQuery {
    /// The left operand.
    pub left: Expr,
    /// The operator.
    pub op: CompareOp,
    /// True for `ALL`, false for `ANY` and `SOME`.
    pub all: bool,
    /// The rows it is compared with.
    pub query: Query,
}

/// What stands in the parentheses of IN.
#[derive(Debug, Clone, PartialEq)]
pub enum InList {
    /// Values, at least one.
    Values(Vec<Expr>),
    /// A query.
    Query(Box<Query>),
}

/// See [`Condition::Like`].
#[derive(Debug, Clone, PartialEq)]
pub struct Like {
    /// What is tested.
    pub expr: Expr,
    /// The pattern.
    pub pattern: Expr,
    /// `ESCAPE`
    pub escape: Option<Expr>,
    /// `NOT`
    pub negated: bool,
}
