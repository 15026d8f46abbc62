//! DBCC CHECKCONSTRAINTS: a query that gives the rows which break a constraint.
//!
//! Each constraint is a SELECT of three columns: its table, its name, and the condition that finds the row again. Together
//! they are one query with UNION ALL, which runs as an executed text; where no row breaks anything, no result set is sent.

use pikepole_engine::{Catalog, Check, ForeignKey, Table};
use pikepole_tsql::{Dbcc, DbccArgument, ObjectName, bracketed};
use pikepole_types::SqlError;

use super::Machine;
use crate::bind::{self, Names};
use crate::ddl::table_columns;
use crate::errors::first_error;
use crate::expression::Fault;

fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

fn two_part(table: &Table) -> String {
    format!("{}.{}", bracketed(&table.schema), bracketed(&table.name))
}

/// One constraint's rows: `condition` holds for those that break it, and `columns` are what it is about.
fn broken_rows(table: &Table, constraint: &str, columns: &[usize], condition: &str) -> String {
    let shown = columns.iter().map(|column| {
        let name = bracketed(&table.columns[*column].name);
        let is_null = literal(&format!("{name} IS NULL"));
        let equals = literal(&format!("{name} = '"));
        format!("CASE WHEN c.{name} IS NULL THEN {is_null} ELSE CONCAT({equals}, CAST(c.{name} AS nvarchar(max)), N'''') END")
    });
    let shown: Vec<String> = shown.collect();
    let shown = if shown.is_empty() { "N''".to_owned() } else { shown.join(" + N' AND ' + ") };
    format!(
        "SELECT {} AS [Table], {} AS [Constraint], {shown} AS [Where] FROM {} AS c WHERE {condition}",
        literal(&two_part(table)),
        literal(&bracketed(constraint)),
        two_part(table),
    )
}

fn broken_key(table: &Table, key: &ForeignKey, catalog: &Catalog) -> Option<String> {
    let target = catalog.table_by_id(key.referenced)?;
    let own = |column: usize| bracketed(&table.columns[column].name);
    let not_null = key.columns.iter().map(|column| format!("c.{} IS NOT NULL", own(*column)));
    let pairs = key.columns.iter().zip(key.referenced_columns(target));
    let equal =
        pairs.map(|(column, other)| format!("p.{} = c.{}", bracketed(&target.columns[other].name), own(*column)));
    let condition = format!(
        "{} AND NOT EXISTS (SELECT 1 FROM {} AS p WHERE {})",
        not_null.collect::<Vec<String>>().join(" AND "),
        two_part(target),
        equal.collect::<Vec<String>>().join(" AND ")
    );
    Some(broken_rows(table, &key.name, &key.columns, &condition))
}

impl Machine<'_> {
    /// Runs the query; false: no constraint is to be looked at.
    pub(super) fn check_constraints(&mut self, command: &Dbcc) -> Result<bool, Fault> {
        let has = |name: &str| command.options.iter().any(|option| option.name == name);
        let known = ["ALL_CONSTRAINTS", "ALL_ERRORMSGS", "NO_INFOMSGS"];
        if command.options.iter().any(|option| !known.contains(&option.name.as_str())) {
            return Err(Box::new(SqlError::incorrect_dbcc()));
        }
        let queries = self.constraint_queries(command, has("ALL_CONSTRAINTS"))?;
        if queries.is_empty() {
            return Ok(false);
        }
        let rows = queries.join(" UNION ALL ");
        let told = if has("NO_INFOMSGS") { "" } else { "\nPRINT " };
        let told = match told {
            "" => String::new(),
            print => format!("{print}{}", literal(&SqlError::dbcc_completed().message)),
        };
        let text = format!("IF EXISTS ({rows}) {rows};{told}");
        let program = crate::prepare(&text, "", self.context, &*self.host).map_err(first_error)?;
        self.call(&program, &[], None, "")?;
        Ok(true)
    }

    fn constraint_queries(&mut self, command: &Dbcc, disabled_too: bool) -> Result<Vec<String>, Fault> {
        let view = self.context.catalog();
        let catalog = view.definitions();
        let wanted = command.arguments.first().and_then(DbccArgument::text);
        let name = match &wanted {
            Some(text) => Some(ObjectName::read(text).ok_or_else(|| SqlError::table_or_object_not_found(text))?),
            None => None,
        };
        let is_wanted = |table: &Table, constraint: &str, id: i32| match (&name, &wanted) {
            (Some(name), Some(text)) => {
                let schema = name.schema_str().unwrap_or(pikepole_engine::DEFAULT_SCHEMA);
                let of_schema = table.schema.eq_ignore_ascii_case(schema);
                let number = text.parse::<i32>().ok();
                number.is_some_and(|number| number == id || number == table.object_id)
                    || of_schema && (name.name.is(&table.name) || name.name.is(constraint))
            }
            _ => true,
        };
        let mut found = name.is_none();
        let mut queries = Vec::new();
        for table in catalog.tables() {
            found |= is_wanted(table, "", table.object_id);
            for check in &table.checks {
                if is_wanted(table, &check.name, check.object_id) {
                    found = true;
                    if disabled_too || !check.disabled {
                        queries.push(self.broken_check(table, check)?);
                    }
                }
            }
            for key in &table.foreign_keys {
                if is_wanted(table, &key.name, key.object_id) {
                    found = true;
                    if disabled_too || !key.disabled {
                        queries.extend(broken_key(table, key, catalog));
                    }
                }
            }
        }
        match wanted {
            Some(text) if !found => Err(Box::new(SqlError::table_or_object_not_found(text))),
            _ => Ok(queries),
        }
    }

    fn broken_check(&self, table: &Table, check: &Check) -> Result<String, Fault> {
        let view = self.context.catalog();
        let names = Names::of(&view, &*self.host);
        let read = match view.table(&ObjectName::read(&two_part(table)).ok_or_else(crate::errors::unexpected)?)? {
            Some(table) => bind::reads_columns(&check.text, true, &table_columns(&table), &names)?,
            None => Vec::new(),
        };
        Ok(broken_rows(table, &check.name, &read, &format!("NOT {}", check.text)))
    }
}
