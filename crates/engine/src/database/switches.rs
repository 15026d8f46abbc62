//! The switches of ALTER DATABASE ... SET. Queries make statistics and bring them up to date as three of them say, and read in-memory tables by one; the
//! others are kept to be shown: nothing here works otherwise by them, and tools look whether what they have set is so.

use serde::{Deserialize, Serialize};

/// The switch by which statements read in-memory tables as of SNAPSHOT without a hint.
pub(super) const ELEVATE: &str = "MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT";

/// The switches: the option, its column of `sys.databases`, and what it is in a new database.
const SWITCHES: &[(&str, &str, bool)] = &[
    ("ANSI_NULLS", "is_ansi_nulls_on", true),
    ("ANSI_NULL_DEFAULT", "is_ansi_null_default_on", false),
    ("ANSI_PADDING", "is_ansi_padding_on", true),
    ("ANSI_WARNINGS", "is_ansi_warnings_on", true),
    ("ARITHABORT", "is_arithabort_on", true),
    ("AUTO_CLOSE", "is_auto_close_on", false),
    ("AUTO_CREATE_STATISTICS", "is_auto_create_stats_on", true),
    ("AUTO_SHRINK", "is_auto_shrink_on", false),
    ("AUTO_UPDATE_STATISTICS", "is_auto_update_stats_on", true),
    ("AUTO_UPDATE_STATISTICS_ASYNC", "is_auto_update_stats_async_on", false),
    ("CONCAT_NULL_YIELDS_NULL", "is_concat_null_yields_null_on", true),
    ("CURSOR_CLOSE_ON_COMMIT", "is_cursor_close_on_commit_on", false),
    ("DATE_CORRELATION_OPTIMIZATION", "is_date_correlation_on", false),
    ("DB_CHAINING", "is_db_chaining_on", false),
    ("ENABLE_BROKER", "is_broker_enabled", false),
    ("HONOR_BROKER_PRIORITY", "is_honor_broker_priority_on", false),
    (ELEVATE, "is_memory_optimized_elevate_to_snapshot_on", false),
    ("NUMERIC_ROUNDABORT", "is_numeric_roundabort_on", false),
    ("QUOTED_IDENTIFIER", "is_quoted_identifier_on", true),
    ("TRUSTWORTHY", "is_trustworthy_on", false),
];

/// The name of a switch that is not as in a new database, in the database's file. Statistics were kept by nothing once, and these two
/// off in new databases: a file of that time that has their plain names says that they are on.
fn stored_name(name: &str) -> String {
    match name {
        "AUTO_CREATE_STATISTICS" | "AUTO_UPDATE_STATISTICS" => format!("{name} OFF"),
        name => name.to_owned(),
    }
}

/// Which switches of a database are not as in a new one. A file has their names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(into = "Vec<String>", from = "Vec<String>")]
pub struct Switches(u32);

impl Switches {
    /// None of them.
    pub const USUAL: Switches = Switches(0);

    fn place(option: &str) -> Option<usize> {
        SWITCHES.iter().position(|(name, _, _)| *name == option)
    }

    /// The switch that an option in upper case is.
    pub fn named(option: &str) -> Option<&'static str> {
        Switches::place(option).map(|place| SWITCHES[place].0)
    }

    /// The same with one switch set; an option that is none changes nothing.
    #[must_use]
    pub fn with(self, option: &str, on: bool) -> Switches {
        let Some(place) = Switches::place(option) else { return self };
        let bit = 1 << place;
        Switches(if on == SWITCHES[place].2 { self.0 & !bit } else { self.0 | bit })
    }

    /// True for a switch that is on.
    pub fn is_on(self, option: &str) -> bool {
        Switches::place(option).is_some_and(|place| SWITCHES[place].2 ^ (self.0 & (1 << place) != 0))
    }

    /// Each column of `sys.databases` with what it shows.
    pub fn columns(self) -> impl Iterator<Item = (&'static str, bool)> {
        SWITCHES
            .iter()
            .enumerate()
            .map(move |(place, (_, column, usual))| (*column, usual ^ (self.0 & (1 << place) != 0)))
    }

    /// Whether all are as in a new database.
    pub(crate) fn are_usual(&self) -> bool {
        *self == Switches::USUAL
    }
}

impl From<Switches> for Vec<String> {
    fn from(switches: Switches) -> Vec<String> {
        let is_set = |(place, (name, _, _)): (usize, &(&str, &str, bool))| {
            (switches.0 & (1 << place) != 0).then(|| stored_name(name))
        };
        SWITCHES.iter().enumerate().filter_map(is_set).collect()
    }
}

impl From<Vec<String>> for Switches {
    /// Names that are none, of a later build, say nothing here.
    fn from(names: Vec<String>) -> Switches {
        let is_set = |place: &usize| names.iter().any(|name| *name == stored_name(SWITCHES[*place].0));
        Switches((0..SWITCHES.len()).filter(is_set).fold(0, |bits, place| bits | 1 << place))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_set_is_kept_by_its_name_and_shown() {
        let shows =
            |switches: Switches, wanted: &str| switches.columns().find(|(name, _)| *name == wanted).map(|(_, on)| on);
        let set = Switches::USUAL.with("AUTO_CLOSE", true).with("ANSI_NULLS", false).with("TRUSTWORTHY", false);
        let names: Vec<String> = set.into();
        assert_eq!(names, ["ANSI_NULLS", "AUTO_CLOSE"]);
        assert_eq!(Switches::from([names, vec!["LATER".to_string()]].concat()), set);
        assert_eq!((shows(set, "is_auto_close_on"), shows(set, "is_ansi_nulls_on")), (Some(true), Some(false)));
        assert!(set.with("AUTO_CLOSE", false).with("ANSI_NULLS", true).are_usual());
        assert_eq!(set.with("NOTHING", true), set);
        assert_eq!((Switches::named("DB_CHAINING"), Switches::named("RECOVERY")), (Some("DB_CHAINING"), None));
        assert!(SWITCHES.len() <= 32);
    }
}
