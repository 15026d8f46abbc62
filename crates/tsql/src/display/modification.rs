//! Statements that change rows.

use std::fmt::{Display, Formatter, Result};

use super::query::{Rows, from, hints, options, with_clause};
use super::{Commas, Parens, Quoted, optional};
use crate::tree::*;

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Target::Table { name, hints: all } => {
                name.fmt(f)?;
                hints(f, all)
            }
            Target::Variable(name) => name.fmt(f),
            Target::Function(call) => call.fmt(f),
        }
    }
}

impl Display for InsertValue {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            InsertValue::Expr(expr) => expr.fmt(f),
            InsertValue::Default => f.write_str("DEFAULT"),
        }
    }
}

impl Display for Insert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        with_clause(f, &self.with)?;
        f.write_str("INSERT ")?;
        optional(f, "", &self.top, " ")?;
        write!(f, "INTO {}{}", self.target, Parens(&self.columns))?;
        optional(f, " ", &self.output, "")?;
        match &self.source {
            InsertSource::Values(rows) => write!(f, " VALUES {}", Rows(rows))?,
            InsertSource::Query(query) => write!(f, " {query}")?,
            InsertSource::Execute(call) => write!(f, " {call}")?,
            InsertSource::DefaultValues => f.write_str(" DEFAULT VALUES")?,
        }
        options(f, &self.options)
    }
}

impl Display for OutputClause {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Some(into) = &self.into else { return write!(f, "OUTPUT {}", Commas(&self.items)) };
        write!(f, "OUTPUT {} INTO {}{}", Commas(&self.into_items), into.target, Parens(&into.columns))?;
        if let Some(through) = &into.through {
            write!(f, " SELECT {} FROM {}{}", Commas(&through.items), through.alias, Parens(&through.columns))?;
            through.filter.iter().try_for_each(|filter| write!(f, " WHERE {filter}"))?;
        }
        if self.items.is_empty() { Ok(()) } else { write!(f, " OUTPUT {}", Commas(&self.items)) }
    }
}

impl Display for Assignment {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            Assignment::Column { column, op, value } => write!(f, "{column} {op} {value}"),
            Assignment::Variable { variable, op, value } => write!(f, "{variable} {op} {value}"),
            Assignment::Both { variable, column, op, value } => write!(f, "{variable} = {column} {op} {value}"),
            Assignment::Method { column, method, arguments } => write!(f, "{column}.{method}({})", Commas(arguments)),
        }
    }
}

impl Display for RowFilter {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            RowFilter::Condition(condition) => condition.fmt(f),
            RowFilter::CurrentOf(cursor) => write!(f, "CURRENT OF {cursor}"),
        }
    }
}

impl Display for Update {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        with_clause(f, &self.with)?;
        f.write_str("UPDATE ")?;
        optional(f, "", &self.top, " ")?;
        write!(f, "{} SET {}", self.target, Commas(&self.assignments))?;
        optional(f, " ", &self.output, "")?;
        from(f, &self.from)?;
        optional(f, " WHERE ", &self.filter, "")?;
        options(f, &self.options)
    }
}

impl Display for Delete {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        with_clause(f, &self.with)?;
        f.write_str("DELETE ")?;
        optional(f, "", &self.top, " ")?;
        write!(f, "FROM {}", self.target)?;
        optional(f, " ", &self.output, "")?;
        from(f, &self.from)?;
        optional(f, " WHERE ", &self.filter, "")?;
        options(f, &self.options)
    }
}

impl Display for Merge {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        with_clause(f, &self.with)?;
        f.write_str("MERGE ")?;
        optional(f, "", &self.top, " ")?;
        write!(f, "INTO {}", self.target)?;
        optional(f, " AS ", &self.alias, "")?;
        write!(f, " USING {} ON {}", self.source, self.on)?;
        for clause in &self.clauses {
            f.write_str(match clause.when {
                MergeWhen::Matched => " WHEN MATCHED",
                MergeWhen::NotMatchedByTarget => " WHEN NOT MATCHED BY TARGET",
                MergeWhen::NotMatchedBySource => " WHEN NOT MATCHED BY SOURCE",
            })?;
            optional(f, " AND ", &clause.condition, "")?;
            write!(f, " THEN {}", clause.action)?;
        }
        optional(f, " ", &self.output, "")?;
        options(f, &self.options)?;
        // A MERGE is not complete without it.
        f.write_str(";")
    }
}

impl Display for MergeAction {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        match self {
            MergeAction::Update(assignments) => write!(f, "UPDATE SET {}", Commas(assignments)),
            MergeAction::Delete => f.write_str("DELETE"),
            MergeAction::Insert { columns, values } if values.is_empty() => {
                write!(f, "INSERT{} DEFAULT VALUES", Parens(columns))
            }
            MergeAction::Insert { columns, values } => {
                write!(f, "INSERT{} VALUES ({})", Parens(columns), Commas(values))
            }
        }
    }
}

impl Display for BulkInsert {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        write!(f, "BULK INSERT {} FROM {}", self.table, Quoted(&self.file))?;
        let order = (!self.order.is_empty()).then(|| format!("ORDER{}", Parens(&self.order)));
        let options: Vec<String> = self.options.iter().map(ToString::to_string).chain(order).collect();
        if options.is_empty() { Ok(()) } else { write!(f, " WITH ({})", options.join(", ")) }
    }
}
