//! PIVOT and UNPIVOT, as the queries that they stand for.
//!
//! ```text
//!   t PIVOT (SUM(a) FOR c IN (x, y))     SELECT rest, SUM(CASE WHEN c = 'x' THEN a END) AS x, ... FROM t GROUP BY rest
//!   t UNPIVOT (v FOR n IN (a, b))        SELECT rest, v, n FROM t CROSS APPLY (VALUES (a, 'a'), (b, 'b')) AS p (v, n) WHERE v IS NOT NULL
//! ```
//! The rest is every column of the source that the clause does not name. To know it the source is bound once for its columns alone.

use super::join::JoinTree;
use super::scope::{Scope, SourceColumn};
use super::{Binder, function};
use crate::expression::Fault;
use pikepole_tsql as tree;
use pikepole_tsql::bracketed;
use pikepole_types::{Length, SqlError, SqlType, Value};

/// The table of UNPIVOT's values, beside the source whatever that is called.
const VALUES_ALIAS: &str = "[#unpivot]";

impl Binder<'_> {
    /// A source turned by PIVOT.
    ///
    /// # Errors
    /// 207 for columns that are not there, 265 for a value that is one, 473 for a value that the column cannot have.
    pub(super) fn pivot(&mut self, pivot: &tree::Pivot) -> Result<JoinTree, Fault> {
        let columns = self.columns_of(&pivot.source)?;
        let aggregate = &pivot.aggregate;
        let argument = match aggregate.arguments.as_slice() {
            [argument] if !aggregate.star && function::aggregate(&aggregate.name.name.text).is_some() => {
                argument.expr()
            }
            _ => None,
        };
        let Some(tree::Expr { kind: tree::ExprKind::Column(value), .. }) = argument else {
            return Err(Box::new(SqlError::incorrect_syntax(aggregate).at_line(aggregate.name.name.span.line)));
        };
        let by = column(&columns, &pivot.column.name)?;
        column(&columns, &value.name)?;
        let rest: Vec<&SourceColumn> = columns
            .iter()
            .filter(|column| !value.name.is(&column.name) && !pivot.column.name.is(&column.name))
            .collect();
        let mut items: Vec<String> = rest.iter().map(|column| bracketed(&column.name)).collect();
        for (at, name) in pivot.values.iter().enumerate() {
            let line = name.span.line;
            if rest.iter().any(|column| name.is(&column.name)) {
                return Err(Box::new(SqlError::pivot_column_conflicts(&name.text, "PIVOT").at_line(line)));
            }
            if pivot.values[..at].iter().any(|other| other.is(&name.text)) {
                return Err(Box::new(SqlError::column_twice_in_table(&name.text, &pivot.alias.text).at_line(line)));
            }
            let text = SqlType::NVarChar(Length::Limit(4000));
            let written = Value::Str(name.text.clone());
            if by.ty != SqlType::Null && pikepole_types::convert(&written, &text, &by.ty, None).is_err() {
                return Err(Box::new(SqlError::pivot_value_incorrect(&name.text).at_line(line)));
            }
            let (call, literal) = (&aggregate.name.name, literal(&name.text));
            items.push(format!(
                "{call}(CASE WHEN {} = {literal} THEN {} END) AS {}",
                pivot.column,
                value,
                bracketed(&name.text)
            ));
        }
        let groups: Vec<String> = rest.iter().map(|column| bracketed(&column.name)).collect();
        let grouped = if groups.is_empty() { String::new() } else { format!(" GROUP BY {}", groups.join(", ")) };
        let mut query = parsed(&format!("SELECT {} FROM x{grouped}", items.join(", ")))?;
        if let tree::QueryBody::Select(select) = &mut query.body {
            select.from = vec![pivot.source.clone()];
        }
        self.derived(&tree::DerivedTable { query, alias: pivot.alias.clone(), columns: Vec::new() }, false)
    }

    /// A source turned by UNPIVOT.
    ///
    /// # Errors
    /// 207 for columns that are not there, 265 for a name that one has, 8156 for a column that is named twice, 8167 for
    /// columns of different types.
    pub(super) fn unpivot(&mut self, unpivot: &tree::Unpivot) -> Result<JoinTree, Fault> {
        let columns = self.columns_of(&unpivot.source)?;
        let mut first: Option<&SourceColumn> = None;
        for (at, named) in unpivot.columns.iter().enumerate() {
            let (found, line) = (column(&columns, &named.name)?, named.name.span.line);
            if unpivot.columns[..at].iter().any(|other| other.name.is(&named.name.text)) {
                let (name, table) = (&named.name.text, &unpivot.alias.text);
                return Err(Box::new(SqlError::column_twice_in_table(name, table).at_line(line)));
            }
            if first.is_some_and(|first| first.ty != found.ty) {
                return Err(Box::new(SqlError::unpivot_types_differ(&named.name.text).at_line(line)));
            }
            first = first.or(Some(found));
        }
        let rest: Vec<&SourceColumn> =
            columns.iter().filter(|column| !unpivot.columns.iter().any(|named| named.name.is(&column.name))).collect();
        for name in [&unpivot.value, &unpivot.column] {
            if rest.iter().any(|column| name.is(&column.name)) {
                let error = SqlError::pivot_column_conflicts(&name.text, "UNPIVOT");
                return Err(Box::new(error.at_line(name.span.line)));
            }
        }
        let mut items: Vec<String> = rest.iter().map(|column| bracketed(&column.name)).collect();
        let (value, name) = (bracketed(&unpivot.value.text), bracketed(&unpivot.column.text));
        items.extend([&value, &name].map(|own| format!("{VALUES_ALIAS}.{own}")));
        let rows: Vec<String> = unpivot
            .columns
            .iter()
            .map(|named| format!("({named}, CAST({} AS nvarchar(128)))", literal(&named.name.text)))
            .collect();
        let text = format!(
            "SELECT {} FROM x CROSS APPLY (VALUES {}) AS {VALUES_ALIAS} ({value}, {name}) WHERE {VALUES_ALIAS}.{value} IS NOT NULL",
            items.join(", "),
            rows.join(", ")
        );
        let mut query = parsed(&text)?;
        if let tree::QueryBody::Select(select) = &mut query.body
            && let [tree::TableSource::Join(join)] = select.from.as_mut_slice()
        {
            join.left = unpivot.source.clone();
        }
        self.derived(&tree::DerivedTable { query, alias: unpivot.alias.clone(), columns: Vec::new() }, false)
    }

    /// The columns that a source has. What was bound to find out is forgotten.
    fn columns_of(&mut self, source: &tree::TableSource) -> Result<Vec<SourceColumn>, Fault> {
        let (sources, pending) = (self.virtual_sources.len(), std::mem::take(&mut self.pending));
        self.scopes.push(Scope::default());
        let bound = self.table_source(source);
        let scope = self.scopes.pop();
        self.pending = pending;
        self.virtual_sources.truncate(sources);
        bound?;
        let sources = scope.map(|scope| scope.sources).unwrap_or_default();
        Ok(sources.into_iter().filter(|source| !source.hidden).flat_map(|source| source.columns).collect())
    }
}

fn column<'c>(columns: &'c [SourceColumn], name: &tree::Name) -> Result<&'c SourceColumn, Fault> {
    let found = columns.iter().find(|column| name.is(&column.name));
    found.ok_or_else(|| Box::new(SqlError::invalid_column(&name.text).at_line(name.span.line)))
}

fn parsed(text: &str) -> Result<tree::Query, Fault> {
    let batch = tree::parse(text).map_err(|error| Box::new(crate::errors::syntax_error(&error)))?;
    match batch.statements.into_iter().next().map(|statement| statement.kind) {
        Some(tree::StatementKind::Select(query)) => Ok(*query),
        _ => Err(Box::new(SqlError::incorrect_syntax(text))),
    }
}

fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}
