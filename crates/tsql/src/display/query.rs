//! Queries and sources of rows.

use std::fmt::{Display, Formatter, Result};

use super::{Commas, Parens, Quoted, Write, optional, words};
use crate::tree::*;

/// `WITH XMLNAMESPACES (...), a AS (...), ...` and a blank.
pub(super) fn with_clause(f: &mut Formatter<'_>, with: &With) -> Result {
    match (with.namespaces.as_slice(), with.tables.as_slice()) {
        ([], []) => Ok(()),
        ([], tables) => write!(f, "WITH {} ", Commas(tables)),
        (namespaces, []) => write!(f, "WITH XMLNAMESPACES ({}) ", Commas(namespaces)),
        (namespaces, tables) => write!(f, "WITH XMLNAMESPACES ({}), {} ", Commas(namespaces), Commas(tables)),
    }
}

/// ` OPTION (...)`
pub(super) fn options(f: &mut Formatter<'_>, hints: &[QueryHint]) -> Result {
    if hints.is_empty() { Ok(()) } else { write!(f, " OPTION ({})", Commas(hints)) }
}

/// ` FROM a, b`
pub(super) fn from(f: &mut Formatter<'_>, sources: &[TableSource]) -> Result {
    if sources.is_empty() { Ok(()) } else { write!(f, " FROM {}", Commas(sources)) }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        with_clause(f, &self.with)?;
        self.body.fmt(f)?;
        if !self.order_by.is_empty() {
            write!(f, " ORDER BY {}", Commas(&self.order_by))?;
        }
        optional(f, " OFFSET ", &self.offset, " ROWS")?;
        optional(f, " FETCH NEXT ", &self.fetch, " ROWS ONLY")?;
        optional(f, " FOR ", &self.for_clause, "")?;
        options(f, &self.options)
    }
}

impl Display for XmlNamespace {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match &self.prefix {
            None => write!(f, "DEFAULT {}", Quoted(&self.uri)),
            Some(prefix) => write!(f, "{} AS {prefix}", Quoted(&self.uri)),
        }
    }
}

impl Display for CommonTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "{}{} AS ({})", self.name, Parens(&self.columns), self.query)
    }
}

impl Display for OrderItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.expr.fmt(f)?;
        words(f, self.descending, " DESC")
    }
}

impl Display for ForClause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self.format {
            ForFormat::Xml => "XML ",
            ForFormat::Json => "JSON ",
            ForFormat::Browse => return f.write_str("BROWSE"),
        })?;
        for (index, (word, text)) in self.directives.iter().enumerate() {
            words(f, index > 0, ", ")?;
            f.write_str(word)?;
            optional(f, "(", &text.as_deref().map(Quoted), ")")?;
        }
        Ok(())
    }
}

impl Display for QueryHint {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.name)?;
        let equal = matches!(self.name.as_str(), "LABEL" | "MAX_GRANT_PERCENT" | "MIN_GRANT_PERCENT");
        optional(f, if equal { " = " } else { " " }, &self.value, "")?;
        if let Some((table, hints)) = &self.table {
            write!(f, " ({table}")?;
            hints.iter().try_for_each(|hint| write!(f, ", {hint}"))?;
            return f.write_str(")");
        }
        if self.list.is_empty() {
            return Ok(());
        }
        f.write_str(" (")?;
        for (index, (item, value)) in self.list.iter().enumerate() {
            words(f, index > 0, ", ")?;
            item.fmt(f)?;
            match value {
                Some(value) => write!(f, " = {value}")?,
                None => words(f, matches!(item.kind, ExprKind::Variable(_)), " UNKNOWN")?,
            }
        }
        f.write_str(")")
    }
}

impl Display for QueryBody {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let operand = |f: &mut Formatter<'_>, body: &QueryBody, least: u8| match body {
            QueryBody::SetOperation(inner) if inner.strength() < least => write!(f, "({body})"),
            _ => body.fmt(f),
        };
        match self {
            QueryBody::Select(select) => select.fmt(f),
            QueryBody::Values(rows) => write!(f, "VALUES {}", Rows(rows)),
            QueryBody::Part(query) => write!(f, "({query})"),
            QueryBody::SetOperation(set) => {
                operand(f, &set.first, set.strength())?;
                for (op, body) in &set.rest {
                    write!(f, " {} ", op.words())?;
                    operand(f, body, set.strength() + 1)?;
                }
                Ok(())
            }
        }
    }
}

/// `(a, b), (c, d)`
pub(super) struct Rows<'a, T>(pub(super) &'a [Vec<T>]);

impl<T: Display> Display for Rows<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        for (index, row) in self.0.iter().enumerate() {
            words(f, index > 0, ", ")?;
            write!(f, "({})", Commas(row))?;
        }
        Ok(())
    }
}

impl Display for Select {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str("SELECT ")?;
        words(f, self.distinct, "DISTINCT ")?;
        optional(f, "", &self.top, " ")?;
        Commas(&self.items).fmt(f)?;
        optional(f, " INTO ", &self.into, "")?;
        optional(f, " ON ", &self.into_on, "")?;
        from(f, &self.from)?;
        optional(f, " WHERE ", &self.filter, "")?;
        if !self.group_by.is_empty() {
            write!(f, " GROUP BY {}", Commas(&self.group_by))?;
        }
        optional(f, " HAVING ", &self.having, "")?;
        for (index, (name, window)) in self.windows.iter().enumerate() {
            f.write_str(if index == 0 { " WINDOW " } else { ", " })?;
            write!(f, "{name} AS {window}")?;
        }
        Ok(())
    }
}

impl Display for Top {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self.count.kind {
            // Its own parentheses are enough.
            ExprKind::Subquery(_) => write!(f, "TOP {}", self.count)?,
            _ => write!(f, "TOP ({})", self.count)?,
        }
        words(f, self.percent, " PERCENT")?;
        words(f, self.with_ties, " WITH TIES")
    }
}

impl Display for SelectItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SelectItem::Star { qualifier, .. } => {
                optional(f, "", qualifier, ".")?;
                f.write_str("*")
            }
            SelectItem::Expr { expr, alias } => {
                expr.fmt(f)?;
                optional(f, " AS ", &alias.as_ref().map(Alias), "")
            }
            SelectItem::Assign { variable, op, value } => write!(f, "{variable} {op} {value}"),
        }
    }
}

/// The name of an output column, which may be empty and may begin with `@` when it was written as a text.
struct Alias<'a>(&'a Name);

impl Display for Alias<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let text = &self.0.text;
        if text.is_empty() || text.starts_with('@') || text.len() > 128 { Quoted(text).fmt(f) } else { self.0.fmt(f) }
    }
}

impl Display for AssignOp {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(match self {
            AssignOp::Set => "=",
            AssignOp::Add => "+=",
            AssignOp::Subtract => "-=",
            AssignOp::Multiply => "*=",
            AssignOp::Divide => "/=",
            AssignOp::Modulo => "%=",
            AssignOp::BitAnd => "&=",
            AssignOp::BitOr => "|=",
            AssignOp::BitXor => "^=",
            AssignOp::Concat => "||=",
        })
    }
}

impl Display for GroupingItem {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            GroupingItem::Expr(expr) => expr.fmt(f),
            GroupingItem::Composite(items) => write!(f, "({})", Commas(items)),
            GroupingItem::Rollup(items) => write!(f, "ROLLUP({})", Commas(items)),
            GroupingItem::Cube(items) => write!(f, "CUBE({})", Commas(items)),
            GroupingItem::Sets(items) => write!(f, "GROUPING SETS ({})", Commas(items)),
        }
    }
}

impl Display for TableSource {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            TableSource::Table(table) => table.fmt(f),
            TableSource::Variable { name, alias } => {
                name.fmt(f)?;
                optional(f, " AS ", alias, "")
            }
            TableSource::Function(function) => function.fmt(f),
            TableSource::Bulk(rowset) => rowset.fmt(f),
            TableSource::Derived(table) => {
                write!(f, "({}) AS {}{}", table.query, table.alias, Parens(&table.columns))
            }
            TableSource::Join(join) => join.fmt(f),
            TableSource::Pivot(pivot) => {
                single(f, &pivot.source)?;
                write!(
                    f,
                    " PIVOT ({} FOR {} IN ({})) AS {}",
                    pivot.aggregate,
                    pivot.column,
                    Commas(&pivot.values),
                    pivot.alias
                )
            }
            TableSource::Unpivot(unpivot) => {
                single(f, &unpivot.source)?;
                let columns = Commas(&unpivot.columns);
                write!(f, " UNPIVOT ({} FOR {} IN ({columns})) AS {}", unpivot.value, unpivot.column, unpivot.alias)
            }
        }
    }
}

/// A source where no bare join can stand.
fn single(f: &mut Formatter<'_>, source: &TableSource) -> Result {
    match source {
        TableSource::Join(_) => write!(f, "({source})"),
        _ => source.fmt(f),
    }
}

impl Display for Join {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let words = match self.kind {
            JoinKind::Inner => "INNER",
            JoinKind::Left => "LEFT",
            JoinKind::Right => "RIGHT",
            JoinKind::Full => "FULL",
            JoinKind::Cross => "CROSS JOIN",
            JoinKind::CrossApply => "CROSS APPLY",
            JoinKind::OuterApply => "OUTER APPLY",
        };
        write!(f, "{} {words}", self.left)?;
        if !matches!(self.kind, JoinKind::Cross | JoinKind::CrossApply | JoinKind::OuterApply) {
            f.write_str(match self.hint {
                Some(JoinHint::Loop) => " LOOP JOIN",
                Some(JoinHint::Hash) => " HASH JOIN",
                Some(JoinHint::Merge) => " MERGE JOIN",
                Some(JoinHint::Remote) => " REMOTE JOIN",
                None => " JOIN",
            })?;
        }
        f.write_str(" ")?;
        single(f, &self.right)?;
        optional(f, " ON ", &self.on, "")
    }
}

impl Display for TableRef {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.name.fmt(f)?;
        optional(f, " FOR SYSTEM_TIME ", &self.system_time, "")?;
        optional(f, " AS ", &self.alias, "")?;
        if let Some(sample) = &self.sample {
            write!(f, " TABLESAMPLE ({} {})", sample.count, if sample.rows { "ROWS" } else { "PERCENT" })?;
            optional(f, " REPEATABLE (", &sample.seed, ")")?;
        }
        hints(f, &self.hints)
    }
}

/// ` WITH (hints)`
pub(super) fn hints(f: &mut Formatter<'_>, hints: &[TableHint]) -> Result {
    if hints.is_empty() { Ok(()) } else { write!(f, " WITH ({})", Commas(hints)) }
}

impl Display for TableHint {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        f.write_str(&self.name)?;
        match self.arguments.split_first() {
            None => Ok(()),
            Some((index, columns)) if self.name == "FORCESEEK" => write!(f, "({index} ({}))", Commas(columns)),
            Some((count, _)) if self.name == "SPATIAL_WINDOW_MAX_CELLS" => write!(f, " = {count}"),
            Some(_) => write!(f, "({})", Commas(&self.arguments)),
        }
    }
}

impl Display for SystemTime {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            SystemTime::AsOf(time) => write!(f, "AS OF {time}"),
            SystemTime::FromTo(times) => write!(f, "FROM {} TO {}", times[0], times[1]),
            SystemTime::Between(times) => write!(f, "BETWEEN {} AND {}", times[0], times[1]),
            SystemTime::ContainedIn(times) => write!(f, "CONTAINED IN ({}, {})", times[0], times[1]),
            SystemTime::All => f.write_str("ALL"),
        }
    }
}

impl Display for BulkRowset {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "OPENROWSET(BULK {}", Quoted(&self.file))?;
        self.options.iter().try_for_each(|option| write!(f, ", {option}"))?;
        if !self.order.is_empty() {
            write!(f, ", ORDER{}", Parens(&self.order))?;
            words(f, self.unique, " UNIQUE")?;
        }
        f.write_str(")")?;
        if !self.schema.is_empty() {
            let column = |column: &BulkColumn| {
                let column = column.clone();
                Write(move |f: &mut Formatter<'_>| {
                    column.definition.fmt(f)?;
                    optional(f, " ", &column.field, "")
                })
            };
            let columns: Vec<_> = self.schema.iter().map(column).collect();
            write!(f, " WITH ({})", Commas(&columns))?;
        }
        optional(f, " AS ", &self.alias, "")?;
        if self.columns.is_empty() { Ok(()) } else { Parens(&self.columns).fmt(f) }
    }
}

impl Display for TableFunction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        if let Some(receiver) = &self.receiver {
            write!(f, "{receiver}.")?;
        }
        self.call.fmt(f)?;
        if !self.schema.is_empty() {
            let column = |column: &JsonColumn| {
                let column = column.clone();
                Write(move |f: &mut Formatter<'_>| {
                    column.definition.fmt(f)?;
                    optional(f, " ", &column.path.as_deref().map(Quoted), "")?;
                    words(f, column.as_json, " AS JSON")
                })
            };
            let columns: Vec<_> = self.schema.iter().map(column).collect();
            write!(f, " WITH ({})", Commas(&columns))?;
        }
        optional(f, " AS ", &self.alias, "")?;
        Parens(&self.columns).fmt(f)
    }
}
