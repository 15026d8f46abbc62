//! The columns of a call of a system procedure, for those who describe it: one that only reads is run for them, and its rows are dropped.

use super::{Arguments, PROCEDURES, odbc};
use crate::host::SessionHost;
use pikepole_query::{Argument, ColumnInfo, Done, ExecutionContext, Host, Output};
use pikepole_tsql::{ExecuteTarget, StatementKind};
use pikepole_types::{SqlError, SqlType, Value};

/// Procedures that read no catalog, nor change anything.
const OTHERS: [&str; 6] =
    ["sp_databases", "sp_datatype_info", "sp_datatype_info_100", "sp_helplanguage", "sp_server_info", "sp_who"];

/// Keeps the columns of the first result.
#[derive(Default)]
struct First {
    columns: Option<Vec<ColumnInfo>>,
}

impl Output for First {
    fn columns(&mut self, columns: &[ColumnInfo]) {
        self.columns.get_or_insert_with(|| columns.to_vec());
    }
    fn row(&mut self, _: &[Value]) {}
    fn done(&mut self, _: Done) {}
    fn message(&mut self, _: &SqlError) {}
    fn error(&mut self, _: &SqlError) {}
}

/// `sp_describe_first_result_set`.
pub(super) async fn describe(
    arguments: &Arguments<'_>,
    host: &mut SessionHost,
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let (sql, declared) = (arguments.text(0).unwrap_or_default(), arguments.text(1).unwrap_or_default());
    let columns = match odbc::columns_of_text(&sql, &declared, context, host)? {
        None => of_text(&sql, host, context).await,
        known => known,
    };
    odbc::described(columns, context).send(output);
    Ok(())
}

/// The columns of the first call of such a procedure in a text; None: there is none.
async fn of_text(text: &str, host: &mut SessionHost, context: &mut ExecutionContext) -> Option<Vec<ColumnInfo>> {
    let batch = pikepole_tsql::parse(text).ok()?;
    let id = batch.statements.iter().find_map(|statement| match &statement.kind {
        StatementKind::Execute(call) => match &call.target {
            ExecuteTarget::Procedure { name, .. } => super::find(&name.name.text),
            _ => None,
        },
        _ => None,
    })?;
    let procedure = PROCEDURES.get(id as usize)?;
    if !super::reads_catalog(id) && !OTHERS.contains(&procedure.name) {
        return None;
    }
    // Names that nothing has: it is about the columns only.
    let nothing = || Argument {
        name: None,
        value: Value::Str(String::new()),
        ty: SqlType::NVarChar(pikepole_types::Length::Limit(1)),
        output: false,
        table: None,
    };
    let mut given: Vec<Argument> = std::iter::repeat_with(nothing).take(procedure.required).collect();
    let mut first = First::default();
    host.call_procedure(id, &mut given, context, &mut first).await.ok()?;
    first.columns
}
