//! Whether two expressions are written alike: the same but for what makes no difference to what they compute.
//!
//! ```text
//!   YEAR(o.ordered)             year(Ordered)          the case of names, and what stands before a column
//!   DATEDIFF(mm, a, b)          DATEDIFF(MONTH, a, b)  the names of a date part
//!   CAST(x AS date)             CONVERT(date, x)       the spelling of a conversion
//! ```
//! Columns count as alike by their names alone: whether `a.id` and `b.id` are one column is known to who binds them.

use super::{
    Case, CaseBranches, Chain, Condition, DataType, Expr, ExprKind, FunctionArgument, FunctionCall, InList, Link, Name,
};

impl Expr {
    /// Whether both are written alike; see the module's page.
    pub fn is_alike(&self, other: &Expr) -> bool {
        match (&self.kind, &other.kind) {
            (ExprKind::Column(a), ExprKind::Column(b)) => a.is_virtual == b.is_virtual && same_name(&a.name, &b.name),
            (ExprKind::Variable(a), ExprKind::Variable(b)) | (ExprKind::Global(a), ExprKind::Global(b)) => {
                same_name(a, b)
            }
            (ExprKind::Unary(op, a), ExprKind::Unary(other, b)) => op == other && a.is_alike(b),
            (ExprKind::Chain(a), ExprKind::Chain(b)) => chains(a, b),
            (ExprKind::Function(a), ExprKind::Function(b)) => calls(a, b),
            (ExprKind::Case(a), ExprKind::Case(b)) => cases(a, b),
            (ExprKind::Cast(_) | ExprKind::Convert(_), ExprKind::Cast(_) | ExprKind::Convert(_)) => {
                conversions(&self.kind, &other.kind)
            }
            (ExprKind::Trim(a), ExprKind::Trim(b)) => {
                a.side == b.side && a.characters.is_alike(&b.characters) && a.expr.is_alike(&b.expr)
            }
            (ExprKind::Iif(a), ExprKind::Iif(b)) => {
                conditions(&a.condition, &b.condition) && a.then.is_alike(&b.then) && a.otherwise.is_alike(&b.otherwise)
            }
            (ExprKind::Coalesce(a), ExprKind::Coalesce(b)) => all(a, b),
            (ExprKind::NullIf(a), ExprKind::NullIf(b)) | (ExprKind::AtTimeZone(a), ExprKind::AtTimeZone(b)) => {
                all(a.as_slice(), b.as_slice())
            }
            (ExprKind::Collate(a, collation), ExprKind::Collate(b, other)) => {
                same_name(collation, other) && a.is_alike(b)
            }
            (a, b) => a == b,
        }
    }
}

fn same_name(a: &Name, b: &Name) -> bool {
    a.text == b.text || a.text.to_lowercase() == b.text.to_lowercase()
}

fn all(a: &[Expr], b: &[Expr]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_alike(b))
}

fn both(a: Option<&Expr>, b: Option<&Expr>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.is_alike(b),
        (None, None) => true,
        _ => false,
    }
}

fn chains(a: &Chain, b: &Chain) -> bool {
    let links = |(a, b): (&Link, &Link)| a.op == b.op && a.operand.is_alike(&b.operand);
    a.rest.len() == b.rest.len() && a.first.is_alike(&b.first) && a.rest.iter().zip(&b.rest).all(links)
}

fn calls(a: &FunctionCall, b: &FunctionCall) -> bool {
    let is_plain = |call: &FunctionCall| call.within_group.is_empty() && call.over.is_none() && call.nulls.is_none();
    if !is_plain(a) || !is_plain(b) {
        return a == b;
    }
    let part = |name: &Option<Name>| name.as_ref().map(|name| name.text.to_lowercase());
    let parts = |place: usize| (a.date_part(place), b.date_part(place));
    let arguments = |(place, (a, b)): (usize, (&FunctionArgument, &FunctionArgument))| match (a.expr(), b.expr()) {
        (Some(a), Some(b)) => match parts(place) {
            (None, None) => a.is_alike(b),
            (a, b) => a == b,
        },
        (a, b) => a.is_none() && b.is_none(),
    };
    same_name(&a.name.name, &b.name.name)
        && part(&a.name.schema) == part(&b.name.schema)
        && part(&a.name.database) == part(&b.name.database)
        && (a.star, a.distinct, a.arguments.len()) == (b.star, b.distinct, b.arguments.len())
        && a.arguments.iter().zip(&b.arguments).enumerate().all(arguments)
}

fn cases(a: &Case, b: &Case) -> bool {
    let branches = match (&a.branches, &b.branches) {
        (
            CaseBranches::Simple { operand, branches },
            CaseBranches::Simple { operand: other, branches: other_branches },
        ) => {
            let pair = |(a, b): (&(Expr, Expr), &(Expr, Expr))| a.0.is_alike(&b.0) && a.1.is_alike(&b.1);
            operand.is_alike(other)
                && branches.len() == other_branches.len()
                && branches.iter().zip(other_branches).all(pair)
        }
        (CaseBranches::Searched(a), CaseBranches::Searched(b)) => {
            let pair = |(a, b): (&(Condition, Expr), &(Condition, Expr))| conditions(&a.0, &b.0) && a.1.is_alike(&b.1);
            a.len() == b.len() && a.iter().zip(b).all(pair)
        }
        _ => return false,
    };
    branches && both(a.otherwise.as_ref(), b.otherwise.as_ref())
}

/// What CAST and CONVERT without a style have in common: the value, the type, and whether a failure is NULL.
fn conversion(kind: &ExprKind) -> Option<(&Expr, &DataType, bool)> {
    match kind {
        ExprKind::Cast(cast) if !cast.parse => Some((&cast.expr, &cast.data_type, cast.lenient)),
        ExprKind::Convert(convert) if convert.style.is_none() => {
            Some((&convert.expr, &convert.data_type, convert.lenient))
        }
        _ => None,
    }
}

fn conversions(a: &ExprKind, b: &ExprKind) -> bool {
    let same_type = |a: &DataType, b: &DataType| {
        same_name(&a.name, &b.name) && (&a.schema, &a.arguments) == (&b.schema, &b.arguments)
    };
    match (conversion(a), conversion(b)) {
        (Some((a, ty, lenient)), Some((b, other, other_lenient))) => {
            lenient == other_lenient && same_type(ty, other) && a.is_alike(b)
        }
        (None, None) => match (a, b) {
            (ExprKind::Convert(a), ExprKind::Convert(b)) => {
                a.lenient == b.lenient
                    && same_type(&a.data_type, &b.data_type)
                    && both(a.style.as_ref(), b.style.as_ref())
                    && a.expr.is_alike(&b.expr)
            }
            _ => a == b,
        },
        _ => false,
    }
}

fn conditions(a: &Condition, b: &Condition) -> bool {
    match (a, b) {
        (Condition::Compare(a), Condition::Compare(b)) => {
            a.op == b.op && a.left.is_alike(&b.left) && a.right.is_alike(&b.right)
        }
        (Condition::And(a), Condition::And(b)) | (Condition::Or(a), Condition::Or(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| conditions(a, b))
        }
        (Condition::Not(a), Condition::Not(b)) => conditions(a, b),
        (Condition::IsNull { expr: a, negated }, Condition::IsNull { expr: b, negated: other }) => {
            negated == other && a.is_alike(b)
        }
        (Condition::IsDistinct { operands: a, negated }, Condition::IsDistinct { operands: b, negated: other }) => {
            negated == other && all(a.as_slice(), b.as_slice())
        }
        (
            Condition::Between { expr: a, bounds, negated },
            Condition::Between { expr: b, bounds: other_bounds, negated: other },
        ) => negated == other && a.is_alike(b) && all(bounds.as_slice(), other_bounds.as_slice()),
        (
            Condition::In { expr: a, list: InList::Values(values), negated },
            Condition::In { expr: b, list: InList::Values(others), negated: other },
        ) => negated == other && a.is_alike(b) && all(values, others),
        (Condition::Like(a), Condition::Like(b)) => {
            a.negated == b.negated
                && a.expr.is_alike(&b.expr)
                && a.pattern.is_alike(&b.pattern)
                && both(a.escape.as_ref(), b.escape.as_ref())
        }
        (a, b) => a == b,
    }
}

#[cfg(test)]
mod tests {
    use crate::parse_expression;

    #[test]
    fn alike_is_what_computes_the_same() {
        let alike = |a: &str, b: &str| {
            let parsed = |text: &str| parse_expression(text).expect(text);
            parsed(a).is_alike(&parsed(b))
        };
        for (a, b) in [
            ("YEAR(o.ordered)", "year(Ordered)"),
            ("a + t.b * 2 - 1", "T.A + B * 2 - 1"),
            ("DATEDIFF(mm, @From, d)", "datediff(MONTH, @from, d)"),
            ("CAST(x AS Date)", "CONVERT(date, x)"),
            ("TRY_CONVERT(int, x)", "try_cast(x as INT)"),
            ("CONVERT(varchar(10), d, 120)", "convert(VARCHAR(10), t.d, 120)"),
            (
                "CASE WHEN a = 1 AND b IS NULL THEN 'x' ELSE c END",
                "case when t.a = 1 and B is null then 'x' else t.c end",
            ),
            ("CASE a WHEN 1 THEN b END", "CASE t.a WHEN 1 THEN b END"),
            ("COALESCE(a, NULLIF(b, ''))", "coalesce(t.a, nullif(B, ''))"),
            ("IIF(a LIKE 'x%' OR b IN (1, 2), 1, 0)", "iif(t.a like 'x%' or b in (1, 2), 1, 0)"),
        ] {
            assert!(alike(a, b) && alike(b, a), "{a} / {b}");
        }
        for (a, b) in [
            ("a", "b"),
            ("a + b", "b + a"),
            ("a + b + c", "a + c"),
            ("DATEPART(mm, d)", "DATEPART(mi, d)"),
            ("YEAR(d)", "dbo.YEAR(d)"),
            ("CAST(x AS int)", "TRY_CAST(x AS int)"),
            ("CAST(x AS varchar(5))", "CAST(x AS varchar(6))"),
            ("CONVERT(varchar(10), d, 120)", "CONVERT(varchar(10), d)"),
            ("PARSE(x AS int)", "CAST(x AS int)"),
            ("'a'", "'A'"),
            ("CASE WHEN a = 1 THEN 1 END", "CASE WHEN a = 1 THEN 1 ELSE 0 END"),
            ("IIF(a BETWEEN 1 AND 2, 1, 0)", "IIF(a NOT BETWEEN 1 AND 2, 1, 0)"),
            ("f(DISTINCT a)", "f(a)"),
        ] {
            assert!(!alike(a, b) && !alike(b, a), "{a} / {b}");
        }
    }
}
