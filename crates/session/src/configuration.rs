//! The server's configuration as `sp_configure` and `sys.configurations` show it: the policies of the serialisation points.

use pikepole_engine::Server;
use pikepole_types::SqlError;

/// The option that scripts switch on before others; every option is shown here whatever it says.
const SHOW_ADVANCED: &str = "show advanced options";

/// Options that cannot be set here: what this engine does is what they say. Name, value, least and greatest value, description.
const FIXED: &[(&str, i32, i32, i32, &str)] = &[
    ("default full-text language", 1033, 0, i32::MAX, "There is no full-text search"),
    ("default language", 0, 0, 9999, "The language of new logins that name none: us_english"),
    ("nested triggers", 1, 0, 1, "What a trigger does fires triggers"),
    ("transform noise words", 0, 0, 1, "There is no full-text search"),
    ("two digit year cutoff", 2049, 1753, 9999, "The last year that two digits can mean"),
];

/// The numbers by which tools ask for options; policies have their places, which are lower ones.
const NUMBERS: &[(&str, i32)] = &[
    ("nested triggers", 115),
    ("default language", 124),
    (SHOW_ADVANCED, 518),
    ("default full-text language", 1126),
    ("two digit year cutoff", 1127),
    ("max degree of parallelism", 1539),
    ("min memory per query (KB)", 1540),
    ("query wait (s)", 1541),
    ("transform noise words", 1555),
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
    options.extend(FIXED.iter().map(|&(name, value, minimum, maximum, description)| ConfigurationOption {
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
    let known = NUMBERS.iter().find(|(name, _)| option.name == *name);
    known.map_or(place + 1, |(_, number)| *number as usize)
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
