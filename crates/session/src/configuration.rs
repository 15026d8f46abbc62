//! The server's configuration as `sp_configure` and `sys.configurations` show it: the policies of the serialisation points.

use crate::affinity_mask::AffinityMask;
use pikepole_engine::{Effect, PolicyRow, PolicySet, Server, first_number};
use pikepole_types::SqlError;

/// Options that cannot be set here: what this engine does is what they say.
const FIXED: &[Fixed] = &[
    ("Ad Hoc Distributed Queries", 16391, 0, 0, 1, true, "There are no other servers to ask"),
    ("Agent XPs", 16384, 0, 0, 1, true, "There is no agent"),
    ("allow filesystem enumeration", 16398, 1, 0, 1, true, "Drives are listed"),
    ("allow polybase export", 16397, 0, 0, 1, false, "There are no external tables"),
    ("allow updates", 102, 0, 0, 1, false, "The catalog is changed by statements"),
    ("backup checksum default", 1584, 0, 0, 1, false, "Backups have checksums of their own"),
    ("backup compression algorithm", 1602, 0, 0, 3, false, "Backups are compressed by deflate"),
    ("backup compression default", 1579, 0, 0, 1, false, "Backups are compressed where WITH says so"),
    ("c2 audit mode", 544, 0, 0, 1, true, "There are no audits"),
    ("clr enabled", 1562, 0, 0, 1, false, "Assemblies are not loaded"),
    ("column encryption enclave type", 1588, 0, 0, 2, false, "No columns are encrypted"),
    ("common criteria compliance enabled", 1577, 0, 0, 1, true, "There are no audits"),
    ("contained database authentication", 16393, 0, 0, 1, false, "Logins are the server's"),
    ("cross db ownership chaining", 400, 0, 0, 1, false, "No chain of owners leads into another database"),
    ("Data processed daily limit in TB", 1595, i32::MAX, 0, i32::MAX, false, "No data is counted"),
    ("Data processed monthly limit in TB", 1597, i32::MAX, 0, i32::MAX, false, "No data is counted"),
    ("Data processed weekly limit in TB", 1596, i32::MAX, 0, i32::MAX, false, "No data is counted"),
    ("Database Mail XPs", 16386, 0, 0, 1, true, "There is no mail"),
    ("default full-text language", 1126, 1033, 0, i32::MAX, true, "There is no full-text search"),
    ("default language", 124, 0, 0, 9999, false, "The language of new logins that name none: us_english"),
    ("default trace enabled", 1568, 0, 0, 1, true, "There are no traces"),
    ("disallow results from triggers", 114, 0, 0, 1, true, "Triggers may send rows"),
    ("EKM provider enabled", 1578, 0, 0, 1, true, "Keys are kept by no provider"),
    ("external scripts enabled", 1586, 0, 0, 1, false, "No scripts of other languages are run"),
    ("filestream access level", 1580, 0, 0, 2, false, "There are no file streams"),
    ("ft crawl bandwidth (max)", 1567, 100, 0, 32767, true, "There is no full-text search"),
    ("ft crawl bandwidth (min)", 1566, 0, 0, 32767, true, "There is no full-text search"),
    ("ft notify bandwidth (max)", 1565, 100, 0, 32767, true, "There is no full-text search"),
    ("ft notify bandwidth (min)", 1564, 0, 0, 32767, true, "There is no full-text search"),
    ("hadoop connectivity", 16394, 0, 0, 7, false, "There are no external tables"),
    ("hardware offload config", 1600, 0, 0, 255, true, "No hardware compresses"),
    ("hardware offload enabled", 1599, 0, 0, 1, true, "No hardware compresses"),
    ("hardware offload mode", 1601, 0, 0, 255, true, "No hardware compresses"),
    ("lightweight pooling", 1546, 0, 0, 1, true, "Workers are threads"),
    ("max full-text crawl range", 1563, 4, 0, 256, true, "There is no full-text search"),
    ("nested triggers", 115, 1, 0, 1, false, "What a trigger does fires triggers"),
    ("Ole Automation Procedures", 16388, 0, 0, 1, true, "There is no OLE automation"),
    ("PH timeout (s)", 1557, 60, 1, 3600, true, "There is no full-text search"),
    ("polybase enabled", 16399, 0, 0, 1, false, "There are no external tables"),
    ("polybase network encryption", 16395, 1, 0, 1, false, "There are no external tables"),
    ("precompute rank", 1556, 0, 0, 1, true, "There is no full-text search"),
    ("query governor cost limit", 1545, 0, 0, i32::MAX, true, "No query is refused for its cost"),
    ("remote data archive", 16396, 0, 0, 1, false, "Rows stay in their database"),
    ("Replication XPs", 16392, 0, 0, 1, true, "There is no replication"),
    ("scan for startup procs", 1547, 0, 0, 1, true, "No procedure is run at the start"),
    ("transform noise words", 1555, 0, 0, 1, true, "There is no full-text search"),
    ("two digit year cutoff", 1127, 2049, 1753, 9999, true, "The last year that two digits can mean"),
    ("user options", 1534, 0, 0, 32767, false, "Sessions begin with the options that their clients set"),
    ("xp_cmdshell", 16390, 0, 0, 1, true, "No programs are run"),
];

/// Name, number by which tools ask for it, value, least and greatest value, whether it is an advanced one, description.
type Fixed = (&'static str, i32, i32, i32, i32, bool, &'static str);

/// The numbers of policies that SQL Server has, too; the others are numbered by their places, which are lower.
const NUMBERS: &[(&str, i32)] =
    &[("max degree of parallelism", 1539), ("min memory per query (KB)", 1540), ("query wait (s)", 1541)];

/// One option. All values are numbers; those of words are their places.
pub(crate) struct ConfigurationOption {
    pub(crate) name: &'static str,
    pub(crate) number: i32,
    /// What it is set to; taken at the next start when it differs from `running`.
    pub(crate) configured: i32,
    pub(crate) running: i32,
    pub(crate) minimum: i32,
    pub(crate) maximum: i32,
    pub(crate) description: String,
    /// It takes effect while the server runs.
    pub(crate) dynamic: bool,
    /// It is one that SQL Server shows when advanced options are shown.
    pub(crate) advanced: bool,
    kind: Kind,
}

/// Who keeps an option.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A policy of this engine.
    Policy,
    /// It is only kept.
    Kept,
    /// 32 CPUs of an affinity.
    Mask(AffinityMask),
    Fixed,
}

/// Every option, by name.
pub(crate) fn options(server: &Server) -> Vec<ConfigurationOption> {
    let policies = server.policies().into_iter().enumerate();
    let mut options: Vec<ConfigurationOption> = policies.map(|(place, policy)| of_policy(place, &policy)).collect();
    options.extend(server.kept_options().into_iter().map(|(option, configured, running)| ConfigurationOption {
        name: option.name,
        number: option.number,
        configured,
        running,
        minimum: option.minimum,
        maximum: option.maximum,
        description: option.description.to_owned(),
        dynamic: option.dynamic,
        advanced: option.advanced,
        kind: Kind::Kept,
    }));
    options.extend(AffinityMask::ALL.map(|affinity| {
        let mask = affinity.value(server);
        ConfigurationOption {
            name: affinity.name(),
            number: affinity.number(),
            configured: mask,
            running: mask,
            minimum: i32::MIN,
            maximum: i32::MAX,
            description: affinity.description().to_owned(),
            dynamic: true,
            advanced: true,
            kind: Kind::Mask(affinity),
        }
    }));
    options.extend(FIXED.iter().map(|&(name, number, value, minimum, maximum, advanced, description)| {
        let (configured, running, description) = (value, value, description.to_owned());
        let (dynamic, kind) = (false, Kind::Fixed);
        ConfigurationOption {
            name,
            number,
            configured,
            running,
            minimum,
            maximum,
            description,
            dynamic,
            advanced,
            kind,
        }
    }));
    options.sort_by_key(|option| option.name.to_lowercase());
    options
}

fn of_policy(place: usize, policy: &PolicyRow) -> ConfigurationOption {
    let number = |text: Option<&&str>| text.and_then(|text| text.parse::<i32>().ok());
    let bounds = number(policy.allowed.first()).zip(number(policy.allowed.last()));
    let known = NUMBERS.iter().find(|(name, _)| policy.name == *name);
    let (bounds, words) = match bounds {
        Some(bounds) => (bounds, String::new()),
        None => {
            let first = first_number(policy.allowed);
            let last = first + policy.allowed.len().saturating_sub(1);
            let words = policy.allowed.iter().enumerate();
            let words = words.map(|(place, word)| format!("{} {word}", first + place)).collect::<Vec<_>>();
            ((first as i32, last as i32), format!("; {}", words.join(", ")))
        }
    };
    // Words come behind, and whole: what they are about may be cut.
    let room = DESCRIPTION_CHARACTERS.saturating_sub(words.chars().count());
    let about: String = policy.description.chars().take(room).collect();
    ConfigurationOption {
        name: policy.name,
        number: known.map_or(place as i32 + 1, |(_, number)| *number),
        configured: policy.number,
        running: policy.running_number,
        minimum: bounds.0,
        maximum: bounds.1,
        description: about + &words,
        dynamic: policy.takes_effect == Effect::Now,
        advanced: true,
        kind: Kind::Policy,
    }
}

/// The option whose change may wait for a start in some parts.
const MAX_SERVER_MEMORY: &str = "max server memory (MB)";

/// The name that sets all policies.
pub(crate) const POLICIES: &str = "POLICIES";

/// The longest description that the view shows.
const DESCRIPTION_CHARACTERS: usize = 255;

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
        2.. => Err(SqlError::configuration_option_ambiguous(name)),
        _ => Err(SqlError::configuration_option_unknown(name)),
    }
}

/// Sets an option and says what has changed.
pub(crate) fn set(server: &Server, name: &str, value: &str) -> Result<SqlError, SqlError> {
    let option = find(server, name)?;
    let before = said(server, &option);
    let effect = match option.kind {
        Kind::Policy | Kind::Kept => server.set_policy(option.name, value)?,
        Kind::Mask(affinity) => {
            let mask = value.trim().parse().map_err(|_| SqlError::configuration_value_invalid(value, option.name))?;
            affinity.set(server, mask)?;
            Effect::Now
        }
        Kind::Fixed if value.trim().parse() == Ok(option.running) => Effect::Now,
        Kind::Fixed => return Err(SqlError::configuration_value_invalid(value, option.name)),
    };
    let after = said(server, &find(server, option.name)?);
    // As SQL Server asks for RECONFIGURE; a policy is in force without it, or needs a start.
    let note = match (option.kind, effect) {
        (Kind::Kept | Kind::Mask(_) | Kind::Fixed, _) => " Run the RECONFIGURE statement to install.",
        (Kind::Policy, Effect::Now) => "",
        (Kind::Policy, Effect::NextStart) => " It takes effect at the next start.",
    };
    let mut text = format!("Configuration option '{}' changed from {before} to {after}.{note}", option.name);
    if option.name == MAX_SERVER_MEMORY {
        for sentence in server.memory_waiting_for_start() {
            text = format!("{text} {sentence}");
        }
    }
    Ok(SqlError::new(15457, 0, 1, text))
}

/// Sets every policy of a set, and says which need a start.
pub(crate) fn set_policies(server: &Server, set: &str) -> Result<SqlError, SqlError> {
    let name = || server.policy_set().map_or("MIXED", PolicySet::name);
    let before = name();
    server.set_policy(POLICIES, set)?;
    let note = match server.policies_waiting_for_start().as_slice() {
        [] => String::new(),
        [one] => format!(" {one} takes effect at the next start."),
        several => format!(" {} take effect at the next start.", several.join(", ")),
    };
    let text = format!("Configuration option '{POLICIES}' changed from {before} to {}.{note}", name());
    Ok(SqlError::new(15457, 0, 1, text))
}

/// What an option is set to, as messages say it: a policy by its word.
fn said(server: &Server, option: &ConfigurationOption) -> String {
    let policy = server.policies().into_iter().find(|policy| policy.name == option.name);
    policy.map_or_else(|| option.configured.to_string(), |policy| policy.value.into_owned())
}
