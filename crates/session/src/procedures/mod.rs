//! System procedures: which there are, how their arguments are matched, and calling one.

pub(crate) mod application_lock;
mod called_columns;
mod constraint;
mod depends;
mod describe;
mod error_log;
mod extended_property;
mod help;
mod help_database;
mod help_files;
mod managed;
mod message;
mod native_statistics;
mod odbc;
mod odbc_routines;
mod odbc_type_info;
mod odbc_types;
pub(crate) mod parameter_types;
mod parameters;
mod principals;
mod privileges;
mod rename;
mod sequence;
mod server;
mod space;
mod statistics;
mod table_option;
mod trigger_order;

use crate::host::SessionHost;
use crate::names;
use crate::security::{MemberOf, change_membership};
use crate::unsupported;
pub(crate) use odbc::described_columns;
use odbc_types::Odbc;
use pikepole_engine::{Permission, PrincipalKind, Securable};
use pikepole_query::{Argument, ExecutionContext, Output};
use pikepole_types::{SqlError, SqlType, Target, Value};

/// A system procedure: its name and its parameters in order, with how many of them must be given.
struct Procedure {
    name: &'static str,
    parameters: &'static [&'static str],
    required: usize,
}

/// The parameters of `sp_special_columns` and `sp_special_columns_100`.
const SPECIAL_COLUMNS: &[&str] =
    &["@table_name", "@table_owner", "@qualifier", "@col_type", "@scope", "@nullable", "@ODBCVer"];

/// Procedures of msdb for what this server has not: an agent that runs jobs, and mail. Their numbers follow those of the others.
const REFUSED: &[&str] = &[
    "sp_add_alert",
    "sp_add_category",
    "sp_add_job",
    "sp_add_jobschedule",
    "sp_add_jobserver",
    "sp_add_jobstep",
    "sp_add_notification",
    "sp_add_operator",
    "sp_add_schedule",
    "sp_attach_schedule",
    "sp_delete_job",
    "sp_delete_jobstep",
    "sp_delete_schedule",
    "sp_detach_schedule",
    "sp_help_job",
    "sp_help_jobactivity",
    "sp_help_jobhistory",
    "sp_help_jobschedule",
    "sp_help_jobstep",
    "sp_purge_jobhistory",
    "sp_send_dbmail",
    "sp_start_job",
    "sp_stop_job",
    "sp_update_job",
    "sp_update_jobstep",
    "sp_update_schedule",
    "sysmail_add_account_sp",
    "sysmail_add_profile_sp",
    "sysmail_help_profile_sp",
    "sysmail_start_sp",
];

/// Every system procedure; a procedure's number is its place here.
const PROCEDURES: &[Procedure] = &[
    Procedure { name: "sp_flush_log", parameters: &[], required: 0 },
    Procedure { name: "sp_configure", parameters: &["@configname", "@configvalue"], required: 0 },
    Procedure {
        name: "sp_addmessage",
        parameters: &["@msgnum", "@severity", "@msgtext", "@lang", "@with_log", "@replace"],
        required: 3,
    },
    Procedure { name: "sp_altermessage", parameters: &["@message_id", "@parameter", "@parameter_value"], required: 3 },
    Procedure { name: "sp_dropmessage", parameters: &["@msgnum", "@lang"], required: 1 },
    Procedure { name: "sp_who", parameters: &["@loginame"], required: 0 },
    Procedure { name: "sp_validatelogins", parameters: &[], required: 0 },
    Procedure { name: "sp_databases", parameters: &[], required: 0 },
    Procedure { name: "sp_readerrorlog", parameters: &["@p1", "@p2", "@p3", "@p4"], required: 0 },
    Procedure { name: "sp_enumerrorlogs", parameters: &["@p1"], required: 0 },
    Procedure { name: "xp_enumerrorlogs", parameters: &["@p1"], required: 0 },
    Procedure { name: "xp_readerrorlog", parameters: &["@p1", "@p2", "@p3", "@p4"], required: 0 },
    Procedure {
        name: "xp_instance_regread",
        parameters: &["@rootkey", "@key", "@value_name", "@value", "@no_output"],
        required: 2,
    },
    Procedure {
        name: "xp_regread",
        parameters: &["@rootkey", "@key", "@value_name", "@value", "@no_output"],
        required: 2,
    },
    Procedure { name: "xp_msver", parameters: &["@optname"], required: 0 },
    Procedure { name: "sp_help", parameters: &["@objname"], required: 0 },
    Procedure { name: "sp_helptext", parameters: &["@objname", "@columnname"], required: 1 },
    Procedure {
        name: "sp_columns",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@column_name", "@ODBCVer"],
        required: 1,
    },
    Procedure { name: "sp_spaceused", parameters: space::PARAMETERS, required: 0 },
    Procedure { name: "sp_settriggerorder", parameters: trigger_order::PARAMETERS, required: 3 },
    Procedure { name: "sp_addrolemember", parameters: &["@rolename", "@membername"], required: 2 },
    Procedure { name: "sp_droprolemember", parameters: &["@rolename", "@membername"], required: 2 },
    Procedure { name: "sp_addsrvrolemember", parameters: &["@loginame", "@rolename"], required: 2 },
    Procedure { name: "sp_dropsrvrolemember", parameters: &["@loginame", "@rolename"], required: 2 },
    Procedure {
        name: "sp_columns_100",
        parameters: &[
            "@table_name",
            "@table_owner",
            "@table_qualifier",
            "@column_name",
            "@NameScope",
            "@ODBCVer",
            "@fUsePattern",
        ],
        required: 1,
    },
    Procedure {
        name: "sp_table_type_columns_100",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@column_name", "@ODBCVer", "@fUsePattern"],
        required: 1,
    },
    Procedure {
        name: "sp_tables",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@table_type", "@fUsePattern"],
        required: 0,
    },
    Procedure {
        name: "sp_tableswc",
        parameters: &[
            "@table_name",
            "@table_owner",
            "@table_qualifier",
            "@table_type",
            "@fUsePattern",
            "@fTableCreated",
        ],
        required: 0,
    },
    Procedure { name: "sp_pkeys", parameters: &["@table_name", "@table_owner", "@table_qualifier"], required: 1 },
    Procedure {
        name: "sp_fkeys",
        parameters: &[
            "@pktable_name",
            "@pktable_owner",
            "@pktable_qualifier",
            "@fktable_name",
            "@fktable_owner",
            "@fktable_qualifier",
        ],
        required: 0,
    },
    Procedure {
        name: "sp_statistics",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@index_name", "@is_unique", "@accuracy"],
        required: 1,
    },
    Procedure {
        name: "sp_statistics_100",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@index_name", "@is_unique", "@accuracy"],
        required: 1,
    },
    Procedure { name: "sp_special_columns", parameters: SPECIAL_COLUMNS, required: 1 },
    Procedure { name: "sp_special_columns_100", parameters: SPECIAL_COLUMNS, required: 1 },
    Procedure {
        name: "sp_table_privileges",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@fUsePattern"],
        required: 1,
    },
    Procedure {
        name: "sp_column_privileges",
        parameters: &["@table_name", "@table_owner", "@table_qualifier", "@column_name"],
        required: 1,
    },
    Procedure { name: "sp_helpconstraint", parameters: &["@objname", "@nomsg"], required: 1 },
    Procedure {
        name: "sp_sproc_columns",
        parameters: &[
            "@procedure_name",
            "@procedure_owner",
            "@procedure_qualifier",
            "@column_name",
            "@ODBCVer",
            "@fUsePattern",
        ],
        required: 0,
    },
    Procedure {
        name: "sp_sproc_columns_100",
        parameters: &[
            "@procedure_name",
            "@procedure_owner",
            "@procedure_qualifier",
            "@column_name",
            "@ODBCVer",
            "@fUsePattern",
        ],
        required: 0,
    },
    Procedure {
        name: "sp_columns_managed",
        parameters: &["@Catalog", "@Owner", "@Table", "@Column", "@SchemaType"],
        required: 0,
    },
    Procedure { name: "sp_indexes_managed", parameters: &["@Catalog", "@Owner", "@Table", "@Name"], required: 0 },
    Procedure {
        name: "sp_indexcolumns_managed",
        parameters: &["@Catalog", "@Owner", "@Table", "@ConstraintName", "@Column"],
        required: 0,
    },
    Procedure {
        name: "sp_procedure_params_100_managed",
        parameters: &["@procedure_name", "@group_number", "@procedure_schema", "@parameter_name"],
        required: 1,
    },
    Procedure {
        name: "sp_stored_procedures",
        parameters: &["@sp_name", "@sp_owner", "@sp_qualifier", "@fUsePattern"],
        required: 0,
    },
    Procedure { name: "sp_datatype_info", parameters: &["@data_type", "@ODBCVer"], required: 0 },
    Procedure { name: "sp_datatype_info_100", parameters: &["@data_type", "@ODBCVer"], required: 0 },
    Procedure { name: "sp_server_info", parameters: &["@attribute_id"], required: 0 },
    Procedure { name: "sp_helpindex", parameters: &["@objname"], required: 1 },
    Procedure { name: "sp_helplanguage", parameters: &["@language"], required: 0 },
    Procedure { name: "sp_who2", parameters: &["@loginame"], required: 0 },
    Procedure {
        name: "sp_describe_first_result_set",
        parameters: &["@tsql", "@params", "@browse_information_mode"],
        required: 1,
    },
    Procedure { name: "sp_describe_undeclared_parameters", parameters: &["@tsql", "@params"], required: 1 },
    Procedure { name: "sp_refreshview", parameters: &["@viewname"], required: 1 },
    Procedure { name: "sp_refreshsqlmodule", parameters: &["@name", "@namespace"], required: 1 },
    Procedure { name: "sp_renamedb", parameters: &["@dbname", "@newname"], required: 2 },
    Procedure { name: "sp_rename", parameters: &["@objname", "@newname", "@objtype"], required: 2 },
    Procedure {
        name: "sp_getapplock",
        parameters: &["@Resource", "@LockMode", "@LockOwner", "@LockTimeout", "@DbPrincipal"],
        required: 2,
    },
    Procedure { name: "sp_releaseapplock", parameters: &["@Resource", "@LockOwner", "@DbPrincipal"], required: 1 },
    Procedure { name: "sp_set_session_context", parameters: &["@key", "@value", "@read_only"], required: 2 },
    Procedure { name: "sp_sequence_get_range", parameters: sequence::PARAMETERS, required: 3 },
    Procedure { name: "sp_addextendedproperty", parameters: extended_property::WITH_VALUE, required: 1 },
    Procedure { name: "sp_updateextendedproperty", parameters: extended_property::WITH_VALUE, required: 1 },
    Procedure { name: "sp_dropextendedproperty", parameters: extended_property::WITHOUT_VALUE, required: 1 },
    Procedure { name: "sp_xtp_control_proc_exec_stats", parameters: native_statistics::OF_CALLS, required: 0 },
    Procedure { name: "sp_xtp_control_query_exec_stats", parameters: native_statistics::OF_STATEMENTS, required: 0 },
    Procedure { name: "sp_updatestats", parameters: &["@resample"], required: 0 },
    Procedure { name: "sp_helpstats", parameters: &["@objname", "@results"], required: 1 },
    Procedure {
        name: "sp_tableoption",
        parameters: &["@TableNamePattern", "@OptionName", "@OptionValue"],
        required: 3,
    },
    Procedure { name: "sp_tablecollations_100", parameters: &["@object_name"], required: 1 },
    Procedure { name: "sp_depends", parameters: &["@objname"], required: 1 },
    Procedure { name: "sp_catalogs", parameters: &["@server_name"], required: 1 },
    Procedure { name: "sp_helpdb", parameters: &["@dbname"], required: 0 },
    Procedure { name: "sp_helpfile", parameters: &["@filename"], required: 0 },
    Procedure { name: "sp_helpfilegroup", parameters: &["@filegroupname"], required: 0 },
    Procedure { name: "sp_helpuser", parameters: &["@name_in_db"], required: 0 },
    Procedure { name: "sp_helprole", parameters: &["@rolename"], required: 0 },
    Procedure { name: "sp_helprolemember", parameters: &["@rolename"], required: 0 },
    Procedure { name: "sp_recompile", parameters: &["@objname"], required: 1 },
    Procedure { name: "sp_addrole", parameters: &["@rolename", "@ownername"], required: 1 },
    Procedure { name: "sp_droprole", parameters: &["@rolename"], required: 1 },
];

/// The system procedure called `name`.
pub(crate) fn find(name: &str) -> Option<u32> {
    let known = PROCEDURES.iter().map(|procedure| procedure.name);
    let place = known.chain(REFUSED.iter().copied()).position(|own| own.eq_ignore_ascii_case(name))?;
    Some(place as u32)
}

/// The names of those that do something, as they are written.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    PROCEDURES.iter().map(|procedure| procedure.name)
}

/// The values of a call's parameters, in the procedure's order; NULL for those not given.
struct Arguments<'a> {
    values: Vec<Option<&'a Value>>,
}

impl<'a> Arguments<'a> {
    fn of(procedure: &Procedure, given: &'a [Argument]) -> Result<Self, SqlError> {
        let mut values = vec![None; procedure.parameters.len()];
        for (place, argument) in given.iter().enumerate() {
            let place = match &argument.name {
                None => place,
                Some(name) => {
                    let found = procedure.parameters.iter().position(|parameter| parameter.eq_ignore_ascii_case(name));
                    found.ok_or_else(|| SqlError::not_a_parameter(name, procedure.name))?
                }
            };
            let slot = values.get_mut(place).ok_or_else(|| SqlError::too_many_arguments(procedure.name))?;
            *slot = Some(&argument.value);
        }
        for (value, parameter) in values.iter().zip(procedure.parameters).take(procedure.required) {
            if value.is_none() {
                return Err(SqlError::parameter_not_supplied(procedure.name, parameter));
            }
        }
        Ok(Arguments { values })
    }

    /// The dialect of ODBC that is asked for.
    fn dialect(&self, procedure: &Procedure) -> Odbc {
        let version = procedure.parameters.iter().position(|name| *name == "@ODBCVer");
        Odbc::asked(procedure.name, version.and_then(|place| self.text(place)).as_deref())
    }

    /// A parameter's text; numbers are given as they are written; none for NULL.
    fn text(&self, place: usize) -> Option<String> {
        let mut text = self.text_as_given(place)?;
        text.truncate(text.trim_end_matches(' ').len());
        Some(text)
    }

    /// The same with the blanks at its end: a text that is kept or compared byte by byte.
    fn text_as_given(&self, place: usize) -> Option<String> {
        match self.values.get(place).copied().flatten()? {
            Value::Null => None,
            Value::Str(text) => Some(text.clone()),
            other => other.as_i64().map(|number| number.to_string()),
        }
    }
}

/// What was given for a parameter of the type sql_variant, at its place or by its name; none for NULL.
///
/// # Errors
/// 206 for a value of a type that is none of those which it holds.
fn sql_variant(given: &[Argument], place: usize, parameter: &str) -> Result<Option<Value>, SqlError> {
    let mut given = given.iter().enumerate();
    let given = given.find(|(at, argument)| match &argument.name {
        Some(name) => name.eq_ignore_ascii_case(parameter),
        None => *at == place,
    });
    let Some((_, argument)) = given else { return Ok(None) };
    let mut value = Value::Null;
    pikepole_types::assign(&argument.value, &argument.ty, &SqlType::Variant, Target::Variable, &mut value)?;
    Ok(Some(value).filter(|value| !value.is_null()))
}

fn may_configure(context: &ExecutionContext) -> bool {
    context.token().has(Permission::AlterSettings, Securable::Server)
}

/// Whether the procedure of a number only reads the catalog.
pub(crate) fn reads_catalog(id: u32) -> bool {
    const OTHERS: [&str; 10] = [
        "sp_tables",
        "sp_tableswc",
        "sp_table_privileges",
        "sp_column_privileges",
        "sp_sproc_columns",
        "sp_sproc_columns_100",
        "sp_procedure_params_100_managed",
        "sp_columns_managed",
        "sp_indexes_managed",
        "sp_indexcolumns_managed",
    ];
    let name = PROCEDURES.get(id as usize).map_or("", |procedure| procedure.name);
    QUALIFIED.contains(&name) || OTHERS.contains(&name)
}

/// The catalog procedures whose qualifiers can only be the current database.
const QUALIFIED: [&str; 9] = [
    "sp_columns",
    "sp_columns_100",
    "sp_fkeys",
    "sp_pkeys",
    "sp_special_columns",
    "sp_special_columns_100",
    "sp_statistics",
    "sp_statistics_100",
    "sp_stored_procedures",
];

/// # Errors
/// 15250 for a qualifier that is another database, and for the name of an object of one.
fn check_qualifiers(procedure: &Procedure, arguments: &Arguments<'_>, database: &str) -> Result<(), SqlError> {
    // sp_rename looks at names itself: of a column they have a part more.
    if procedure.parameters.first() == Some(&"@objname") && procedure.name != "sp_rename" {
        let named = arguments.text(0).and_then(|name| names::parts(&name)?.database);
        return match named {
            Some(named) if !named.eq_ignore_ascii_case(database) => Err(SqlError::qualifier_is_another_database()),
            _ => Ok(()),
        };
    }
    if !QUALIFIED.contains(&procedure.name) {
        return Ok(());
    }
    let qualifiers = procedure.parameters.iter().enumerate().filter(|(_, name)| name.ends_with("_qualifier"));
    let mut given = qualifiers.filter_map(|(place, _)| arguments.text(place));
    match given.any(|qualifier| !qualifier.eq_ignore_ascii_case(database)) {
        true => Err(SqlError::qualifier_is_another_database()),
        false => Ok(()),
    }
}

/// The procedures that older scripts put members into roles with.
async fn change_role(
    name: &str,
    arguments: &Arguments<'_>,
    host: &SessionHost,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let of_server = name.ends_with("srvrolemember");
    let (first, second) = (arguments.text(0).unwrap_or_default(), arguments.text(1).unwrap_or_default());
    let (role, member) = if of_server { (&second, &first) } else { (&first, &second) };
    let kind = if of_server { PrincipalKind::ServerRole } else { PrincipalKind::Role };
    let adds = name.starts_with("sp_add");
    change_membership(host, context, &MemberOf { kind, role, member, adds }).await
}

/// `sp_set_session_context`: a value by a key, for good if it is to be read only.
fn set_session_context(host: &mut SessionHost, given: &[Argument], arguments: &Arguments<'_>) -> Result<(), SqlError> {
    let value = sql_variant(given, 1, "@value")?;
    let wrong = || SqlError::invalid_parameter_or_option("sys.sp_set_session_context");
    let key = arguments.text(0).filter(|key| !key.is_empty()).ok_or_else(wrong)?;
    host.session_context.set(&key, value, arguments.text(2).is_some_and(|flag| flag != "0"))
}

/// What a procedure returns that has raised an error: those of application locks say more than others.
pub(crate) fn failure_status(id: u32) -> i32 {
    match PROCEDURES.get(id as usize).map(|procedure| procedure.name) {
        Some("sp_getapplock" | "sp_releaseapplock") => application_lock::FAILED,
        _ => 1,
    }
}

/// # Errors
/// 15247 for who may not change the configuration or bring statistics up to date.
fn check_permitted(
    procedure: &Procedure,
    arguments: &Arguments<'_>,
    context: &ExecutionContext,
) -> Result<(), SqlError> {
    let is_permitted = match procedure.name {
        "sp_configure" => arguments.text(1).is_none() || may_configure(context),
        "sp_updatestats" => context.token().has(Permission::Control, Securable::Database),
        _ => true,
    };
    if is_permitted { Ok(()) } else { Err(SqlError::no_permission()) }
}

/// Calls the procedure that [`find`] gave this number; the result is its return status.
pub(crate) async fn call(
    host: &mut SessionHost,
    id: u32,
    given: &mut [Argument],
    context: &mut ExecutionContext,
    output: &mut dyn Output,
) -> Result<i32, SqlError> {
    if let Some(refused) = (id as usize).checked_sub(PROCEDURES.len()).and_then(|place| REFUSED.get(place)) {
        return Err(unsupported(format!("The procedure {refused}")));
    }
    let procedure = PROCEDURES.get(id as usize).ok_or_else(|| SqlError::procedure_unknown(id))?;
    let arguments = Arguments::of(procedure, given).map_err(|error| error.in_procedure(procedure.name))?;
    context.refresh_security().map_err(|fault| *fault)?;
    check_qualifiers(procedure, &arguments, context.database().name())?;
    check_permitted(procedure, &arguments, context)?;
    let odbc = arguments.dialect(procedure);
    match procedure.name {
        "sp_addrolemember" | "sp_droprolemember" | "sp_addsrvrolemember" | "sp_dropsrvrolemember" => {
            change_role(procedure.name, &arguments, host, context).await?;
        }
        "sp_updatestats" => statistics::update_all(arguments.text(0).as_deref(), context, output).await?,
        "sp_helpstats" => statistics::help(&arguments, context, output)?,
        "sp_getapplock" => return application_lock::get(&arguments, context).await,
        "sp_releaseapplock" => return application_lock::release(&arguments, context),
        "sp_set_session_context" => set_session_context(host, given, &arguments)?,
        name if name.starts_with("sp_xtp_control_") => native_statistics::control(procedure, given, context)?,
        "sp_flush_log" => server::flush_log(host, context).await?,
        "sp_configure" => server::configure(host, arguments.text(0), arguments.text(1), output)?,
        "sp_validatelogins" => server::validate_logins(output),
        "sp_who" => server::who(host, arguments.text(0).as_deref(), context, output),
        "sp_readerrorlog" | "xp_readerrorlog" => error_log::read(&arguments, context, output).await?,
        "sp_enumerrorlogs" | "xp_enumerrorlogs" => error_log::enumerate(context, output).await?,
        "xp_instance_regread" | "xp_regread" => server::read_registry(output),
        "xp_msver" => server::version(host, arguments.text(0).as_deref(), output),
        "sp_databases" => server::databases(host, output),
        "sp_helpdb" => help_database::help(host, arguments.text(0).as_deref(), output)?,
        "sp_helpfile" | "sp_helpfilegroup" => help_files::help(procedure.name, &arguments, context, output)?,
        "sp_helpuser" | "sp_helprole" | "sp_helprolemember" => {
            principals::help(procedure.name, &arguments, host, context, output)?;
        }
        "sp_addrole" | "sp_droprole" => principals::change_role(procedure.name, &arguments, host, context).await?,
        "sp_recompile" => describe::recompile(&arguments.text(0).unwrap_or_default(), host, context, output)?,
        "sp_catalogs" => return Err(server::not_linked(host, &arguments.text(0).unwrap_or_default())),
        "sp_help" => help::help(arguments.text(0).as_deref(), host, context, output)?,
        "sp_helptext" => describe::help_text(&arguments.text(0).unwrap_or_default(), context, output)?,
        "sp_columns" | "sp_columns_100" | "sp_table_type_columns_100" => {
            let (table, owner, column) = (arguments.text(0), arguments.text(1), arguments.text(3));
            let wanted =
                describe::Wanted { table: table.as_deref(), owner: owner.as_deref(), column: column.as_deref() };
            match procedure.name {
                "sp_table_type_columns_100" => describe::columns_of_types(odbc, &wanted, context, output),
                name => describe::columns((name == "sp_columns_100", odbc), &wanted, host, context, output),
            }
        }
        "sp_tables" | "sp_tableswc" => odbc::tables(&arguments, host, context, output),
        "sp_pkeys" => odbc::primary_keys(&arguments, context, output),
        "sp_fkeys" => odbc::foreign_keys(&arguments, context, output),
        "sp_statistics" | "sp_statistics_100" => odbc::statistics(&arguments, context, output),
        "sp_table_privileges" => privileges::of_tables(&arguments, context, output),
        "sp_column_privileges" => privileges::of_columns(&arguments, context, output),
        "sp_helpconstraint" => constraint::of_call(&arguments, context, output)?,
        "sp_special_columns" | "sp_special_columns_100" => odbc::special_columns(&arguments, odbc, context, output),
        "sp_sproc_columns" => odbc_routines::columns(&arguments, (false, odbc), context, output),
        "sp_sproc_columns_100" => odbc_routines::columns(&arguments, (true, odbc), context, output),
        name if name.ends_with("_managed") => managed::call(name, host, &arguments, context, output).await?,
        "sp_stored_procedures" => odbc::procedures(&arguments, context, output),
        "sp_datatype_info" | "sp_datatype_info_100" => odbc_type_info::data_types(&arguments, odbc, output),
        "sp_server_info" => odbc::server_info(&arguments, output),
        "sp_tablecollations_100" => odbc::table_collations(&arguments, context, output),
        "sp_depends" => depends::depends(&arguments.text(0).unwrap_or_default(), host, context, output)?,
        "sp_helpindex" => help::help_index(&arguments.text(0).unwrap_or_default(), context, output)?,
        "sp_helplanguage" => server::languages(arguments.text(0).as_deref(), output)?,
        "sp_who2" => server::who2(host, arguments.text(0).as_deref(), context, output),
        "sp_describe_first_result_set" => called_columns::describe(&arguments, host, context, output).await?,
        "sp_describe_undeclared_parameters" => parameters::describe_undeclared(host, &arguments, context, output)?,
        "sp_sequence_get_range" => sequence::get_range(given, context).await?,
        "sp_addextendedproperty" | "sp_updateextendedproperty" | "sp_dropextendedproperty" => {
            extended_property::change(procedure, &arguments, given, context).await?;
        }
        "sp_refreshview" | "sp_refreshsqlmodule" => {
            describe::refresh(procedure.name, &arguments, context, host).await?;
        }
        "sp_settriggerorder" => trigger_order::set(&arguments, context).await?,
        name if name.ends_with("message") => message::change(name, host, &arguments, context).await?,
        "sp_tableoption" => table_option::set(&arguments, context)?,
        "sp_rename" | "sp_renamedb" => rename::rename(procedure.name, &arguments, host, context, output).await?,
        _ => space::used(&arguments, context, output).await?,
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(name: Option<&str>, value: i32) -> Argument {
        Argument {
            name: name.map(str::to_string),
            value: Value::Int(value),
            ty: SqlType::Int,
            output: false,
            table: None,
        }
    }

    #[test]
    fn arguments_are_matched_by_place_and_by_name() {
        let procedure = &PROCEDURES[find("SP_CONFIGURE").expect("it is there") as usize];
        let given = [argument(Some("@configvalue"), 5)];
        let arguments = Arguments::of(procedure, &given).expect("they fit");
        assert_eq!((arguments.text(0), arguments.text(1).as_deref()), (None, Some("5")));
        let wrong = [argument(Some("@other"), 1)];
        assert_eq!(Arguments::of(procedure, &wrong).err().map(|error| error.number), Some(8145));
        let many = [argument(None, 1), argument(None, 2), argument(None, 3)];
        assert_eq!(Arguments::of(procedure, &many).err().map(|error| error.number), Some(8144));
        let procedure = &PROCEDURES[find("sp_helptext").expect("it is there") as usize];
        assert_eq!(Arguments::of(procedure, &[]).err().map(|error| error.number), Some(201));
    }
}
