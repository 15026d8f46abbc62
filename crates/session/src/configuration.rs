//! The server's configuration as `sp_configure` and `sys.configurations` show it: the policies of the serialisation points.

use pikepole_engine::Server;
use pikepole_types::SqlError;

/// The option that scripts switch on before others; every option is shown here whatever it says.
const SHOW_ADVANCED: &str = "show advanced options";

/// Options that cannot be set here: what this engine does is what they say.
const FIXED: &[Fixed] = &[
    ("Ad Hoc Distributed Queries", 16391, 0, 0, 1, "There are no other servers to ask"),
    ("Agent XPs", 16384, 0, 0, 1, "There is no agent"),
    ("backup compression default", 1579, 0, 0, 1, "Backups are compressed where WITH says so"),
    ("blocked process threshold (s)", 1569, 0, 0, 86400, "Blocked sessions are reported by no event"),
    ("c2 audit mode", 544, 0, 0, 1, "There are no audits"),
    ("clr enabled", 1562, 0, 0, 1, "Assemblies are not loaded"),
    ("common criteria compliance enabled", 1577, 0, 0, 1, "There are no audits"),
    ("contained database authentication", 16393, 0, 0, 1, "Logins are the server's"),
    ("cross db ownership chaining", 400, 0, 0, 1, "No chain of owners leads into another database"),
    ("Database Mail XPs", 16386, 0, 0, 1, "There is no mail"),
    ("default full-text language", 1126, 1033, 0, i32::MAX, "There is no full-text search"),
    ("default language", 124, 0, 0, 9999, "The language of new logins that name none: us_english"),
    ("default trace enabled", 1568, 0, 0, 1, "There are no traces"),
    ("disallow results from triggers", 114, 0, 0, 1, "Triggers may send rows"),
    ("EKM provider enabled", 1578, 0, 0, 1, "Keys are kept by no provider"),
    ("external scripts enabled", 1586, 0, 0, 1, "No scripts of other languages are run"),
    ("filestream access level", 1580, 0, 0, 2, "There are no file streams"),
    ("fill factor (%)", 109, 0, 0, 100, "Pages are filled"),
    ("lightweight pooling", 1546, 0, 0, 1, "Workers are threads"),
    ("nested triggers", 115, 1, 0, 1, "What a trigger does fires triggers"),
    ("Ole Automation Procedures", 16388, 0, 0, 1, "There is no OLE automation"),
    ("optimize for ad hoc workloads", 1581, 0, 0, 1, "Plans are kept when they are first made"),
    ("priority boost", 1517, 0, 0, 1, "Threads have the system's priority"),
    ("query governor cost limit", 1545, 0, 0, i32::MAX, "No query is refused for its cost"),
    ("remote access", 117, 0, 0, 1, "No other server calls procedures"),
    ("remote admin connections", 1576, 0, 0, 1, "No connection is kept apart for administrators"),
    ("Replication XPs", 16389, 0, 0, 1, "There is no replication"),
    ("scan for startup procs", 1547, 0, 0, 1, "No procedure is run at the start"),
    ("transform noise words", 1555, 0, 0, 1, "There is no full-text search"),
    ("two digit year cutoff", 1127, 2049, 1753, 9999, "The last year that two digits can mean"),
    ("user options", 1534, 0, 0, 32767, "Sessions begin with the options that their clients set"),
    ("xp_cmdshell", 16390, 0, 0, 1, "No programs are run"),
];

/// Name, number by which tools ask for it, value, least and greatest value, description.
type Fixed = (&'static str, i32, i32, i32, i32, &'static str);

/// The numbers of other options; policies that SQL Server does not have are numbered by their places, which are lower.
const NUMBERS: &[(&str, i32)] = &[
    (SHOW_ADVANCED, 518),
    ("max degree of parallelism", 1539),
    ("min memory per query (KB)", 1540),
    ("query wait (s)", 1541),
];

/// One option.
pub(crate) struct ConfigurationOption {
    pub(crate) name: String,
    /// What it is set to; taken at the next start when it differs from `running`.
    pub(crate) configured: String,
    pub(crate) running: String,
    pub(crate) minimum: Option<String>,
    pub(crate) maximum: Option<String>,
    /// The values it can have, when these are words.
    pub(crate) allowed: Vec<String>,
    pub(crate) description: String,
    /// It takes effect while the server runs.
    pub(crate) dynamic: bool,
}

/// Every option, by name.
pub(crate) fn options(server: &Server) -> Vec<ConfigurationOption> {
    let mut options: Vec<ConfigurationOption> = server
        .policies()
        .into_iter()
        .map(|policy| {
            let is_numeric = policy.allowed.iter().all(|value| value.parse::<i64>().is_ok());
            let bound = |value: Option<&&str>| value.filter(|_| is_numeric).map(|value| (*value).to_string());
            let words = if is_numeric { &[] } else { policy.allowed };
            ConfigurationOption {
                name: policy.name.to_string(),
                configured: policy.value.to_string(),
                running: policy.running.to_string(),
                minimum: bound(policy.allowed.first()),
                maximum: bound(policy.allowed.last()),
                allowed: words.iter().map(|value| (*value).to_string()).collect(),
                description: policy.description.to_string(),
                dynamic: policy.takes_effect == pikepole_engine::Effect::Now,
            }
        })
        .collect();
    options.push(ConfigurationOption {
        name: SHOW_ADVANCED.to_string(),
        configured: "1".to_string(),
        running: "1".to_string(),
        minimum: Some("0".to_string()),
        maximum: Some("1".to_string()),
        allowed: Vec::new(),
        description: "Accepted for scripts; every option is always shown".to_string(),
        dynamic: true,
    });
    options.extend(FIXED.iter().map(|&(name, _, value, minimum, maximum, description)| ConfigurationOption {
        name: name.to_string(),
        configured: value.to_string(),
        running: value.to_string(),
        minimum: Some(minimum.to_string()),
        maximum: Some(maximum.to_string()),
        allowed: Vec::new(),
        description: description.to_string(),
        dynamic: false,
    }));
    options.sort_by_key(|option| option.name.to_lowercase());
    options
}

/// The number of an option, which is at this place among all.
pub(crate) fn number(option: &ConfigurationOption, place: usize) -> usize {
    let fixed = FIXED.iter().map(|&(name, number, ..)| (name, number));
    let known = NUMBERS.iter().copied().chain(fixed).find(|(name, _)| option.name == *name);
    known.map_or(place + 1, |(_, number)| number as usize)
}

/// Options whose name begins with, or contains, what was asked for, as `sp_configure` finds them.
pub(crate) fn find(server: &Server, name: &str) -> Result<ConfigurationOption, SqlError> {
    let wanted = name.to_lowercase();
    let mut found: Vec<ConfigurationOption> =
        options(server).into_iter().filter(|option| option.name.to_lowercase().contains(&wanted)).collect();
    if let Some(exact) = found.iter().position(|option| option.name.eq_ignore_ascii_case(name)) {
        return Ok(found.swap_remove(exact));
    }
    match found.len() {
        1 => Ok(found.remove(0)),
        _ => Err(SqlError::configuration_option_unknown(name)),
    }
}

/// Sets an option and says what has changed.
pub(crate) fn set(server: &Server, name: &str, value: &str) -> Result<SqlError, SqlError> {
    let option = find(server, name)?;
    if option.name == SHOW_ADVANCED {
        if !matches!(value, "0" | "1") {
            return Err(SqlError::configuration_value_invalid(value, &option.name));
        }
        return Ok(changed(&option, &option.running, ""));
    }
    if FIXED.iter().any(|(name, ..)| option.name == *name) {
        return match value == option.running {
            true => Ok(changed(&option, value, "")),
            false => Err(SqlError::configuration_value_invalid(value, &option.name)),
        };
    }
    let effect = server.set_policy(&option.name, value)?;
    let note = match effect {
        pikepole_engine::Effect::Now => "",
        pikepole_engine::Effect::NextStart => " It takes effect at the next start.",
    };
    Ok(changed(&option, &value.to_ascii_uppercase(), note))
}

fn changed(option: &ConfigurationOption, value: &str, note: &str) -> SqlError {
    let (name, before) = (&option.name, &option.configured);
    let text = format!("Configuration option '{name}' changed from {before} to {value}.{note}");
    SqlError::new(15457, 0, 1, text)
}
