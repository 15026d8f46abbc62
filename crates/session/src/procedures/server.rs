//! Procedures about the server: the log, the configuration, who is there, which databases.

use crate::configuration;
use crate::functions::PRODUCT_VERSION;
use crate::host::SessionHost;
use crate::registry::SessionRow;
use crate::result_set::{NAME, ResultSet, string, text};
use crate::views::machine::physical_memory_kb;
use pikepole_engine::{Permission, Securable};
use pikepole_query::{ExecutionContext, Output};
use pikepole_types::{Language, Length, SqlError, SqlType, Value};
use std::sync::Arc;

/// `sp_flush_log`: what delayed commits have left in memory becomes durable.
pub(super) async fn flush_log(_: &SessionHost, context: &mut ExecutionContext) -> Result<(), SqlError> {
    let database = Arc::clone(context.database());
    database.flush_log(context.transaction()).await
}

/// `xp_regread` and `xp_instance_regread`: there is no registry. Nothing is found in it, and what an OUTPUT parameter held stays.
pub(super) fn read_registry(output: &mut dyn Output) {
    let text = "RegOpenKeyEx() returned error 2, 'The system cannot find the file specified.'";
    output.message(&SqlError::new(22001, 1, 1, text));
}

/// `sp_validatelogins`: logins of Windows that are no more there. None is of Windows.
pub(super) fn validate_logins(output: &mut dyn Output) {
    ResultSet::new(&[("SID", SqlType::VarBinary(Length::Limit(85))), ("NT Login", NAME)]).send(output);
}

/// What asks for the catalogs of a linked server is told: there is this server alone, and it is not linked to itself.
pub(super) fn not_linked(host: &SessionHost, server: &str) -> SqlError {
    if server.eq_ignore_ascii_case(host.registry.server_name()) {
        return SqlError::server_not_configured(server, "DATA ACCESS");
    }
    SqlError::server_not_found(server)
}

/// `xp_msver`: what the server and its machine are, or one line of that.
pub(super) fn version(host: &SessionHost, wanted: Option<&str>, output: &mut dyn Output) {
    let major: i32 = PRODUCT_VERSION.split('.').next().and_then(|major| major.parse().ok()).unwrap_or(0);
    let processors = host.server.topology().cpus.len();
    let memory_kb = physical_memory_kb(&host.server);
    let memory_mb = memory_kb >> 10;
    let platform = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let lines = [
        (1, "ProductName", None, "Microsoft SQL Server".to_owned()),
        (2, "ProductVersion", Some(i64::from(major) << 16), PRODUCT_VERSION.to_owned()),
        (3, "Language", Some(1033), "English (United States)".to_owned()),
        (4, "Platform", None, platform),
        (5, "Comments", None, "Pikepole".to_owned()),
        (8, "FileVersion", None, env!("CARGO_PKG_VERSION").to_owned()),
        (16, "ProcessorCount", i64::try_from(processors).ok(), processors.to_string()),
        (19, "PhysicalMemory", i64::try_from(memory_mb).ok(), format!("{memory_mb} ({})", memory_kb << 10)),
    ];
    let mut set = ResultSet::new(&[
        ("Index", SqlType::SmallInt),
        ("Name", NAME),
        ("Internal_Value", SqlType::Int),
        ("Character_Value", text(512)),
    ]);
    for (number, name, internal, shown) in lines {
        if wanted.is_none_or(|wanted| wanted.eq_ignore_ascii_case(name)) {
            let internal = internal.and_then(|value| i32::try_from(value).ok()).map_or(Value::Null, Value::Int);
            set.push(vec![Value::SmallInt(number), string(name), internal, string(shown)]);
        }
    }
    set.send(output);
}

/// `sp_configure`: shows every option, or one, or sets one.
pub(super) fn configure(
    host: &SessionHost,
    name: Option<String>,
    value: Option<String>,
    output: &mut dyn Output,
) -> Result<(), SqlError> {
    let options = match (name, value) {
        (None, _) => configuration::options(&host.server),
        (Some(name), None) => vec![configuration::find(&host.server, &name)?],
        (Some(name), Some(value)) => {
            let message = configuration::set(&host.server, &name, &value)?;
            output.message(&message);
            return Ok(());
        }
    };
    let int = SqlType::Int;
    let columns = [("minimum", int), ("maximum", int), ("config_value", int), ("run_value", int)];
    let mut set = ResultSet::new(&[&[("name", text(35))][..], &columns].concat());
    for option in options {
        let numbers = [option.minimum, option.maximum, option.configured, option.running];
        set.push([string(option.name)].into_iter().chain(numbers.map(Value::Int)).collect());
    }
    set.send(output);
    Ok(())
}

/// The sessions that the caller may see and asks for, each with its command and its database's name.
fn shown_sessions(
    host: &SessionHost,
    wanted: Option<&str>,
    context: &ExecutionContext,
) -> Vec<(SessionRow, &'static str, Value)> {
    let sees_all = context.token().has(Permission::ViewServerState, Securable::Server);
    let tasks = host.server.schedulers().tasks();
    let databases = host.server.databases();
    let active = wanted.is_some_and(|wanted| wanted.eq_ignore_ascii_case("active"));
    let number: Option<i32> = wanted.and_then(|wanted| wanted.parse().ok());
    let mut shown = Vec::new();
    for session in host.registry.rows() {
        let is_seen = sees_all || session.session_id == host.session_id;
        let is_wanted = (!active || session.running) && number.is_none_or(|number| number == session.session_id);
        if !is_seen || !is_wanted {
            continue;
        }
        let task = tasks.iter().find(|task| task.session_id == Some(session.session_id));
        let command = task.filter(|_| session.running).map_or("AWAITING COMMAND", |task| task.command);
        let database = databases.iter().find(|database| database.id == session.database_id);
        let database = database.map_or(Value::Null, |database| string(&database.name));
        shown.push((session, command, database));
    }
    shown
}

/// `sp_who`: one row for each session that the caller may see; `active` leaves out those that wait for a batch, a number shows one.
pub(super) fn who(host: &SessionHost, wanted: Option<&str>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("spid", SqlType::SmallInt),
        ("ecid", SqlType::SmallInt),
        ("status", text(30)),
        ("loginame", NAME),
        ("hostname", NAME),
        ("blk", SqlType::Char(5)),
        ("dbname", NAME),
        ("cmd", text(26)),
        ("request_id", SqlType::Int),
    ]);
    for (session, command, database) in shown_sessions(host, wanted, context) {
        set.push(vec![
            Value::SmallInt(session.session_id as i16),
            Value::SmallInt(0),
            string(if session.running { "runnable" } else { "sleeping" }),
            string(session.login_name),
            string(session.host_name),
            string("0    "),
            database,
            string(command),
            Value::Int(0),
        ]);
    }
    set.send(output);
}

/// `sp_who2`: as `sp_who`, with what each session has used.
pub(super) fn who2(host: &SessionHost, wanted: Option<&str>, context: &ExecutionContext, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[
        ("SPID", SqlType::Char(5)),
        ("Status", text(30)),
        ("Login", NAME),
        ("HostName", NAME),
        ("BlkBy", SqlType::Char(5)),
        ("DBName", NAME),
        ("Command", text(26)),
        ("CPUTime", text(30)),
        ("DiskIO", text(30)),
        ("LastBatch", text(48)),
        ("ProgramName", NAME),
        ("SPID", SqlType::Char(5)),
        ("REQUESTID", SqlType::Char(5)),
    ]);
    for (session, command, database) in shown_sessions(host, wanted, context) {
        let spid = string(format!("{:<5}", session.session_id));
        set.push(vec![
            spid.clone(),
            string(if session.running { "RUNNABLE" } else { "sleeping" }),
            string(session.login_name),
            string(session.host_name),
            string("  .  "),
            database,
            string(command),
            Value::Null,
            Value::Null,
            Value::Null,
            string(session.program_name),
            spid,
            string("0    "),
        ]);
    }
    set.send(output);
}

/// `sp_databases`: name, size in KB, remarks.
pub(super) fn databases(host: &SessionHost, output: &mut dyn Output) {
    let mut set = ResultSet::new(&[("DATABASE_NAME", NAME), ("DATABASE_SIZE", SqlType::Int), ("REMARKS", text(254))]);
    let mut databases = host.server.databases();
    databases.sort_by_key(|database| database.name.to_lowercase());
    for info in databases {
        let open = host.server.database_by_id(info.id);
        let bytes = open.map(|database| crate::views::files::data_bytes(&database) + database.log_stats().bytes);
        let kilobytes = bytes.map_or(Value::Null, |bytes| Value::Int(i32::try_from(bytes / 1024).unwrap_or(i32::MAX)));
        set.push(vec![string(info.name), kilobytes, Value::Null]);
    }
    set.send(output);
}

/// `sp_helplanguage`: every language, or the one of a name.
pub(super) fn languages(name: Option<&str>, output: &mut dyn Output) -> Result<(), SqlError> {
    let found: Vec<&Language> = match name {
        None => Language::all().iter().collect(),
        Some(name) => Language::by_name(name).into_iter().collect(),
    };
    if let (Some(name), []) = (name, found.as_slice()) {
        return Err(SqlError::not_an_official_language(name));
    }
    let mut set = ResultSet::new(&[
        ("langid", SqlType::SmallInt),
        ("dateformat", SqlType::NChar(3)),
        ("datefirst", SqlType::TinyInt),
        ("upgrade", SqlType::Int),
        ("name", NAME),
        ("alias", NAME),
        ("months", text(372)),
        ("shortmonths", text(132)),
        ("days", text(217)),
        ("lcid", SqlType::Int),
        ("msglangid", SqlType::SmallInt),
    ]);
    for language in found {
        set.push(vec![
            Value::SmallInt(language.id),
            string(language.date_format.name()),
            Value::TinyInt(language.date_first),
            Value::Int(0),
            string(language.name),
            string(language.alias),
            string(language.months.join(",")),
            string(language.short_months.join(",")),
            string(language.days.join(",")),
            Value::Int(language.lcid),
            Value::SmallInt(language.message_lcid),
        ]);
    }
    set.send(output);
    Ok(())
}
