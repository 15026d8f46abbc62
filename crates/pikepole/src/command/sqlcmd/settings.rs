//! The variables that rule sqlcmd: set by options, by the environment, and some of them by `:setvar`.

use super::super::script::Variables;
use super::options::Options;

/// Set once, when sqlcmd starts or connects.
const READ_ONLY: &[&str] = &[
    "SQLCMDUSER",
    "SQLCMDPASSWORD",
    "SQLCMDSERVER",
    "SQLCMDWORKSTATION",
    "SQLCMDDBNAME",
    "SQLCMDPACKETSIZE",
    "SQLCMDINI",
];

/// The variables that are always there, each with what it is where nothing sets it.
const DEFAULTS: &[(&str, &str)] = &[
    ("SQLCMDCOLSEP", " "),
    ("SQLCMDCOLWIDTH", "0"),
    ("SQLCMDDBNAME", ""),
    ("SQLCMDEDITOR", "vi"),
    ("SQLCMDERRORLEVEL", "0"),
    ("SQLCMDHEADERS", "0"),
    ("SQLCMDINI", ""),
    ("SQLCMDLOGINTIMEOUT", "8"),
    ("SQLCMDMAXFIXEDTYPEWIDTH", "0"),
    ("SQLCMDMAXVARTYPEWIDTH", "256"),
    ("SQLCMDPACKETSIZE", "4096"),
    ("SQLCMDSERVER", "localhost"),
    ("SQLCMDSTATTIMEOUT", "0"),
    ("SQLCMDUSER", ""),
    ("SQLCMDWORKSTATION", ""),
];

/// Variables of an older tool, which count where those of the new name are not set.
const OLDER: &[(&str, &str)] =
    &[("SQLCMDUSER", "OSQLUSER"), ("SQLCMDPASSWORD", "OSQLPASSWORD"), ("SQLCMDSERVER", "OSQLSERVER")];

/// The environment's variable of this name, or of its older name; an empty one is none.
pub fn environment(name: &str) -> Option<String> {
    let older = OLDER.iter().find(|(new, _)| *new == name).map(|(_, old)| *old);
    let value = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    value(name).or_else(|| older.and_then(value))
}

/// The variables that a script begins with.
///
/// # Errors
/// A variable of the environment with a value that it cannot have.
pub fn variables(options: &Options) -> Result<Variables, String> {
    let is_restricted = options.restricted.is_some();
    let mut variables = Variables::new(&[], options.no_variables).unwrap_or_default();
    for (name, default) in DEFAULTS {
        let own = || (!is_restricted).then(|| environment(name)).flatten();
        let value = options.setting(name).map(str::to_owned).or_else(own);
        if let Some(value) = &value
            && !is_valid(name, value)
        {
            return Err(format!("The environment variable: '{name}' has invalid value: '{value}'."));
        }
        variables.set(name, Some(value.unwrap_or_else(|| (*default).to_owned())));
    }
    for (name, value) in &options.variables {
        variables.set(name, Some(value.clone()));
    }
    let variables = variables.with_read_only(READ_ONLY).checked_by(is_valid);
    Ok(if is_restricted { variables.without_environment() } else { variables })
}

/// Returns whether a variable may have a value; those of scripts may have any.
fn is_valid(name: &str, value: &str) -> bool {
    let within = |from: i64, to: i64| value.parse().is_ok_and(|number| (from..=to).contains(&number));
    match name {
        "SQLCMDCOLSEP" => value.chars().count() == 1,
        "SQLCMDCOLWIDTH" => value == "0" || within(9, 65535),
        "SQLCMDERRORLEVEL" => within(-1, 25),
        "SQLCMDHEADERS" => within(-1, i64::from(i32::MAX)),
        "SQLCMDLOGINTIMEOUT" | "SQLCMDSTATTIMEOUT" => within(0, 65534),
        "SQLCMDMAXFIXEDTYPEWIDTH" | "SQLCMDMAXVARTYPEWIDTH" => within(0, 8000),
        "SQLCMDPACKETSIZE" => within(512, 32767),
        _ => true,
    }
}

/// A variable's value; where it was dropped, what it is at first.
pub fn text(variables: &Variables, name: &str) -> String {
    let default = || DEFAULTS.iter().find(|(other, _)| *other == name).map_or("", |(_, default)| *default);
    variables.set_value(name).unwrap_or_else(default).to_owned()
}

/// The same as a number.
pub fn number<T: std::str::FromStr + Default>(variables: &Variables, name: &str) -> T {
    text(variables, name).parse().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_that_rules_sqlcmd_is_looked_at() {
        let options = Options::parse(&["-w".to_owned(), "100".to_owned(), "-X".to_owned()]).expect("options");
        let mut variables = variables(&options).expect("variables");
        assert_eq!(number::<usize>(&variables, "SQLCMDCOLWIDTH"), 100);
        assert_eq!(variables.assign("SqlCmdColWidth", None), Ok(()));
        assert_eq!(
            (number::<usize>(&variables, "SQLCMDCOLWIDTH"), text(&variables, "SQLCMDCOLSEP")),
            (0, " ".to_owned())
        );
        let refused = |name: &str, value: &str, variables: &mut Variables| {
            variables.assign(name, Some(value.to_owned())).err().map(|error| error.to_string())
        };
        let text = refused("SQLCMDCOLWIDTH", "8", &mut variables);
        assert_eq!(text.as_deref(), Some("The environment variable: 'SQLCMDCOLWIDTH' has invalid value: '8'."));
        let text = refused("SQLCMDUSER", "sa", &mut variables);
        assert_eq!(text.as_deref(), Some("The scripting variable: 'SQLCMDUSER' is read-only"));
        assert_eq!(refused("own", "8", &mut variables), None);
    }
}
