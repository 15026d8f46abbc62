//! System procedures of which a call runs a text: `sp_addtype` and `sp_droptype` the statement that took their place,
//! `sp_MSforeachtable` and `sp_MSforeachdb` a loop over names, `sp_delete_backuphistory` and its kin changes of msdb.

use super::Machine;
use super::recover::Origin;
use crate::errors::first_error;
use crate::expression::Fault;
use crate::program::Execute;
use pikepole_tsql::{DataType, bracketed};
use pikepole_types::{SqlError, SqlType, Value};

/// One of these procedures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextProcedure {
    AddType,
    DropType,
    ForEachTable,
    ForEachDatabase,
    DeleteBackupHistory,
    DeleteDatabaseHistory,
}

/// The tables that `sp_MSforeachtable` visits, as `?` stands for them; `@whereand` goes on from here and knows both sources by these names.
const TABLES: &str = "SELECT QUOTENAME(SCHEMA_NAME(syso.schema_id)) + N'.' + QUOTENAME(o.name) FROM sys.sysobjects AS o \
    JOIN sys.all_objects AS syso ON o.id = syso.object_id WHERE OBJECTPROPERTY(o.id, N'IsUserTable') = 1";
/// The databases that `sp_MSforeachdb` visits.
const DATABASES: &str = "SELECT d.name FROM sys.databases AS d WHERE d.state = 0 AND HAS_DBACCESS(d.name) = 1";

impl TextProcedure {
    pub(crate) fn of(name: &str) -> Option<TextProcedure> {
        let all = [
            TextProcedure::AddType,
            TextProcedure::DropType,
            TextProcedure::ForEachTable,
            TextProcedure::ForEachDatabase,
            TextProcedure::DeleteBackupHistory,
            TextProcedure::DeleteDatabaseHistory,
        ];
        all.into_iter().find(|procedure| procedure.name().eq_ignore_ascii_case(name))
    }

    fn name(self) -> &'static str {
        match self {
            TextProcedure::AddType => "sp_addtype",
            TextProcedure::DropType => "sp_droptype",
            TextProcedure::ForEachTable => "sp_MSforeachtable",
            TextProcedure::ForEachDatabase => "sp_MSforeachdb",
            TextProcedure::DeleteBackupHistory => "sp_delete_backuphistory",
            TextProcedure::DeleteDatabaseHistory => "sp_delete_database_backuphistory",
        }
    }

    /// Whether it does the same wherever it is called.
    pub(crate) fn is_of_all_databases(self) -> bool {
        matches!(
            self,
            TextProcedure::ForEachDatabase | TextProcedure::DeleteBackupHistory | TextProcedure::DeleteDatabaseHistory
        )
    }

    /// Its parameters, in order, and how many of them must be given.
    fn parameters(self) -> (&'static [&'static str], usize) {
        match self {
            TextProcedure::AddType => (&["@typename", "@phystype", "@nulltype", "@owner"], 2),
            TextProcedure::DropType => (&["@typename"], 1),
            TextProcedure::ForEachTable => (
                &["@command1", "@replacechar", "@command2", "@command3", "@whereand", "@precommand", "@postcommand"],
                1,
            ),
            TextProcedure::DeleteBackupHistory => (&["@oldest_date"], 1),
            TextProcedure::DeleteDatabaseHistory => (&["@database_name"], 1),
            TextProcedure::ForEachDatabase => {
                (&["@command1", "@replacechar", "@command2", "@command3", "@precommand", "@postcommand"], 1)
            }
        }
    }

    /// The text, from what was given for the parameters.
    fn text(self, given: &[Option<String>]) -> Result<String, SqlError> {
        let text = |at: usize| given[at].as_deref().unwrap_or_default();
        let name = bracketed(text(0));
        match self {
            TextProcedure::ForEachTable => {
                Ok(for_each(&format!("{TABLES} {}", text(4)), &given[..4], [text(5), text(6)]))
            }
            TextProcedure::ForEachDatabase => Ok(for_each(DATABASES, &given[..4], [text(4), text(5)])),
            TextProcedure::DeleteBackupHistory => {
                Ok(delete_history(&format!("backup_finish_date < CAST({} AS datetime)", literal(text(0)))))
            }
            TextProcedure::DeleteDatabaseHistory => {
                Ok(delete_history(&format!("database_name = {}", literal(text(0)))))
            }
            TextProcedure::DropType => Ok(format!("DROP TYPE {name}")),
            TextProcedure::AddType => {
                let null = match text(2).trim().to_ascii_uppercase().as_str() {
                    "" | "NULL" => "NULL",
                    "NOT NULL" | "NONULL" => "NOT NULL",
                    _ => return Err(SqlError::invalid_parameter_or_option("sys.sp_addtype")),
                };
                let owner = given[3].as_deref().map_or(String::new(), |owner| format!("{}.", bracketed(owner)));
                let base = type_of(text(1)).ok_or_else(|| SqlError::data_type_missing(text(1)))?;
                Ok(format!("CREATE TYPE {owner}{name} FROM {base} {null}"))
            }
        }
    }
}

/// The type that a text names, if it names one and says nothing else.
fn type_of(text: &str) -> Option<DataType> {
    let declared = pikepole_tsql::parse_parameters(&format!("@p {text}")).ok()?;
    let [only] = declared.as_slice() else { return None };
    let is_plain = only.default.is_none() && only.nullable.is_none() && !only.output && !only.readonly;
    is_plain.then(|| only.data_type.clone())
}

/// A loop over the names that a query gives. `given` is the first command, what in the commands stands for a name, and the other
/// commands; around the loop a text runs before it and one after it.
fn for_each(names: &str, given: &[Option<String>], around: [&str; 2]) -> String {
    let quoted = literal;
    let mark = quoted(given[1].as_deref().unwrap_or("?"));
    let commands = [&given[0], &given[2], &given[3]].into_iter().flatten();
    let commands: String = commands
        .map(|command| format!("SET @command = REPLACE({}, {mark}, @name); EXEC (@command);\n", quoted(command)))
        .collect();
    let [before, behind] =
        around.map(|text| if text.is_empty() { String::new() } else { format!("EXEC ({});\n", quoted(text)) });
    format!(
        "DECLARE @name nvarchar(517), @command nvarchar(max);\n{before}\
         DECLARE each_name CURSOR LOCAL STATIC FOR {names};\n\
         OPEN each_name; FETCH NEXT FROM each_name INTO @name;\n\
         WHILE @@FETCH_STATUS = 0 BEGIN\n{commands}FETCH NEXT FROM each_name INTO @name;\nEND;\n\
         CLOSE each_name; DEALLOCATE each_name;\n{behind}"
    )
}

fn literal(text: &str) -> String {
    format!("N'{}'", text.replace('\'', "''"))
}

/// Deletes from msdb the sets that a condition is true of, and all that refers to them.
fn delete_history(condition: &str) -> String {
    let of_sets = "WHERE backup_set_id IN (SELECT id FROM @sets)";
    let of_restores = "WHERE restore_history_id IN (SELECT id FROM @restores)";
    let of_media = "WHERE media_set_id IN (SELECT media FROM @sets) \
        AND media_set_id NOT IN (SELECT media_set_id FROM msdb.dbo.backupset)";
    format!(
        "SET NOCOUNT ON;\n\
         DECLARE @sets table (id int PRIMARY KEY, media int NOT NULL);\n\
         DECLARE @restores table (id int PRIMARY KEY);\n\
         INSERT @sets SELECT backup_set_id, media_set_id FROM msdb.dbo.backupset WHERE {condition};\n\
         INSERT @restores SELECT restore_history_id FROM msdb.dbo.restorehistory {of_sets};\n\
         DELETE msdb.dbo.restorefile {of_restores};\n\
         DELETE msdb.dbo.restorefilegroup {of_restores};\n\
         DELETE msdb.dbo.restorehistory {of_restores};\n\
         DELETE msdb.dbo.backupfile {of_sets};\n\
         DELETE msdb.dbo.backupfilegroup {of_sets};\n\
         DELETE msdb.dbo.backupset {of_sets};\n\
         DELETE msdb.dbo.backupmediafamily {of_media};\n\
         DELETE msdb.dbo.backupmediaset {of_media};"
    )
}

/// A moment or a text as a literal can say it.
fn given_text(value: &Value) -> Option<String> {
    let ty = match value {
        Value::Str(text) => return Some(text.clone()),
        Value::DateTime(_) => SqlType::DateTime,
        Value::SmallDateTime(_) => SqlType::SmallDateTime,
        Value::Date(_) => SqlType::Date,
        Value::DateTime2(_) => SqlType::DateTime2(3),
        _ => return None,
    };
    // datetime takes three digits of a second at most.
    Some(pikepole_types::to_text(value, &ty))
}

impl Machine<'_> {
    /// Calls one of these procedures.
    pub(crate) fn execute_text_procedure(&mut self, procedure: TextProcedure, call: &Execute) -> Result<(), Fault> {
        let (parameters, required) = procedure.parameters();
        let mut given: Vec<Option<String>> = vec![None; parameters.len()];
        for (at, argument) in call.arguments.iter().enumerate() {
            let at = match &argument.name {
                None => at,
                Some(name) => {
                    let found = parameters.iter().position(|parameter| parameter.eq_ignore_ascii_case(name));
                    found.ok_or_else(|| {
                        SqlError::not_a_parameter(name, procedure.name()).in_procedure(procedure.name())
                    })?
                }
            };
            let place = given.get_mut(at);
            let place =
                place.ok_or_else(|| SqlError::too_many_arguments(procedure.name()).in_procedure(procedure.name()))?;
            *place = match argument.value.as_ref().map(|value| value.eval(&mut self.env())).transpose()? {
                Some(value) => given_text(&value),
                None => None,
            };
        }
        if let Some(at) = given[..required].iter().position(Option::is_none) {
            let missing = SqlError::parameter_not_supplied(procedure.name(), parameters[at]);
            return Err(Box::new(missing.in_procedure(procedure.name())));
        }
        let text = procedure.text(&given)?;
        let program = crate::prepare(&text, "", self.context, &*self.host).map_err(first_error);
        let program = program.inspect_err(|_| self.origin = Origin::Callee)?;
        self.call(&program, &[], call.status, procedure.name())
    }
}
