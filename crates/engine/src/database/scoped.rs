//! The configurations of ALTER DATABASE SCOPED CONFIGURATION: kept by their names, and shown by `sys.database_scoped_configurations`.
//! MAXDOP is the workers of the database's statements, PARAMETER_SNIFFING says if plans are made for the values of a call, CLEAR PROCEDURE_CACHE
//! forgets plans; the others change nothing here.

use pikepole_types::SqlError;
use serde::{Deserialize, Serialize};

/// What a configuration can be set to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopedKind {
    /// ON and OFF.
    Switch,
    /// A number from 0 to this one.
    Number(i32),
    /// One of these words, which it is kept as the place of.
    Word(&'static [&'static str]),
}

struct Definition {
    id: i32,
    name: &'static str,
    kind: ScopedKind,
    usual: i32,
    /// The state of error 12110, for one that secondaries cannot have for themselves.
    primary_only: Option<u8>,
}

const ELEVATIONS: ScopedKind = ScopedKind::Word(&["OFF", "WHEN_SUPPORTED", "FAIL_UNSUPPORTED"]);

const fn of(id: i32, name: &'static str, kind: ScopedKind, usual: i32) -> Definition {
    Definition { id, name, kind, usual, primary_only: None }
}

const fn switch(id: i32, name: &'static str, usual: i32) -> Definition {
    of(id, name, ScopedKind::Switch, usual)
}

const fn of_primary(definition: Definition, state: u8) -> Definition {
    Definition { primary_only: Some(state), ..definition }
}

const MAXDOP: usize = 0;
const PARAMETER_SNIFFING: usize = 2;
const PAUSED_MINUTES: &str = "PAUSED_RESUMABLE_INDEX_ABORT_DURATION_MINUTES";

/// The configurations of SQL Server 2022, in the order of their numbers.
const DEFINITIONS: [Definition; 35] = [
    of(1, "MAXDOP", ScopedKind::Number(32_767), 0),
    switch(2, "LEGACY_CARDINALITY_ESTIMATION", 0),
    switch(3, "PARAMETER_SNIFFING", 1),
    switch(4, "QUERY_OPTIMIZER_HOTFIXES", 0),
    of_primary(switch(6, "IDENTITY_CACHE", 1), 1),
    switch(7, "INTERLEAVED_EXECUTION_TVF", 1),
    switch(8, "BATCH_MODE_MEMORY_GRANT_FEEDBACK", 1),
    switch(9, "BATCH_MODE_ADAPTIVE_JOINS", 1),
    switch(10, "TSQL_SCALAR_UDF_INLINING", 1),
    of_primary(of(11, "ELEVATE_ONLINE", ELEVATIONS, 0), 2),
    of_primary(of(12, "ELEVATE_RESUMABLE", ELEVATIONS, 0), 3),
    switch(13, "OPTIMIZE_FOR_AD_HOC_WORKLOADS", 0),
    switch(14, "XTP_PROCEDURE_EXECUTION_STATISTICS", 0),
    switch(15, "XTP_QUERY_EXECUTION_STATISTICS", 0),
    switch(16, "ROW_MODE_MEMORY_GRANT_FEEDBACK", 1),
    switch(17, "ISOLATE_SECURITY_POLICY_CARDINALITY", 0),
    switch(18, "BATCH_MODE_ON_ROWSTORE", 1),
    switch(19, "DEFERRED_COMPILATION_TV", 1),
    switch(20, "ACCELERATED_PLAN_FORCING", 1),
    of_primary(switch(21, "GLOBAL_TEMPORARY_TABLE_AUTO_DROP", 1), 4),
    switch(22, "LIGHTWEIGHT_QUERY_PROFILING", 1),
    switch(23, "VERBOSE_TRUNCATION_WARNINGS", 1),
    switch(24, "LAST_QUERY_PLAN_STATS", 0),
    of_primary(of(25, PAUSED_MINUTES, ScopedKind::Number(71_582), 1_440), 5),
    of(26, "DW_COMPATIBILITY_LEVEL", ScopedKind::Number(0), 0),
    switch(27, "EXEC_QUERY_STATS_FOR_SCALAR_FUNCTIONS", 1),
    switch(28, "PARAMETER_SENSITIVE_PLAN_OPTIMIZATION", 1),
    switch(29, "ASYNC_STATS_UPDATE_WAIT_AT_LOW_PRIORITY", 0),
    switch(31, "CE_FEEDBACK", 1),
    switch(33, "MEMORY_GRANT_FEEDBACK_PERSISTENCE", 1),
    switch(34, "MEMORY_GRANT_FEEDBACK_PERCENTILE_GRANT", 1),
    switch(35, "OPTIMIZED_PLAN_FORCING", 1),
    switch(37, "DOP_FEEDBACK", 0),
    of(38, "LEDGER_DIGEST_STORAGE_ENDPOINT", ScopedKind::Word(&["OFF"]), 0),
    switch(39, "FORCE_SHOWPLAN_RUNTIME_PARAMETER_COLLECTION", 0),
];

/// What a secondary has that is as the primary.
const AS_PRIMARY: i32 = -1;
/// What stands behind a name in the file that is a secondary's.
const SECONDARY: &str = " FOR SECONDARY";

/// A configuration by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopedName(usize);

impl ScopedName {
    /// The configuration of a name in upper case.
    pub fn of(name: &str) -> Option<ScopedName> {
        DEFINITIONS.iter().position(|definition| definition.name == name).map(ScopedName)
    }

    /// What it can be set to.
    pub fn kind(self) -> ScopedKind {
        DEFINITIONS[self.0].kind
    }
}

/// A value of ALTER DATABASE SCOPED CONFIGURATION.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopedValue {
    /// A number, 0 and 1 of a switch, or the place of a word.
    Of(i64),
    /// `PRIMARY`, of a secondary.
    Primary,
}

/// A row of `sys.database_scoped_configurations`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScopedRow {
    /// The number.
    pub id: i32,
    /// The name.
    pub name: &'static str,
    /// What its values are.
    pub kind: ScopedKind,
    /// Its value.
    pub value: i32,
    /// The secondaries' own value, if they have one.
    pub secondary: Option<i32>,
    /// Whether it is as in a new database.
    pub is_usual: bool,
}

/// The value of every configuration. A file has those that are not as in a new database, `MAXDOP=4` and the like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<String>", from = "Vec<String>")]
pub struct ScopedConfiguration {
    primary: [i32; DEFINITIONS.len()],
    secondary: [i32; DEFINITIONS.len()],
}

impl Default for ScopedConfiguration {
    fn default() -> Self {
        ScopedConfiguration::USUAL
    }
}

impl ScopedConfiguration {
    /// That of a new database.
    pub const USUAL: ScopedConfiguration = {
        let mut primary = [0; DEFINITIONS.len()];
        let mut place = 0;
        while place < DEFINITIONS.len() {
            primary[place] = DEFINITIONS[place].usual;
            place += 1;
        }
        ScopedConfiguration { primary, secondary: [AS_PRIMARY; DEFINITIONS.len()] }
    };

    /// Sets one, of the database or of its secondaries.
    ///
    /// # Errors
    /// 12108 and 12121 for a number out of range, 12109 for PRIMARY of the database itself, 12110 for one that secondaries cannot
    /// have for themselves.
    pub fn set(&mut self, name: ScopedName, secondary: bool, value: ScopedValue) -> Result<(), SqlError> {
        let definition = &DEFINITIONS[name.0];
        if let (true, Some(state)) = (secondary, definition.primary_only) {
            return Err(SqlError { state, ..SqlError::scoped_configuration_of_primary(definition.name) });
        }
        let number = match value {
            ScopedValue::Primary if secondary => AS_PRIMARY,
            ScopedValue::Primary => return Err(SqlError::scoped_configuration_is_primary()),
            ScopedValue::Of(number) => {
                let greatest = match definition.kind {
                    ScopedKind::Switch => 1,
                    ScopedKind::Number(greatest) => greatest,
                    ScopedKind::Word(words) => i32::try_from(words.len()).unwrap_or(i32::MAX) - 1,
                };
                let fitting = i32::try_from(number).ok().filter(|number| (0..=greatest).contains(number));
                fitting.ok_or_else(|| match definition.name {
                    PAUSED_MINUTES => SqlError::paused_index_minutes_invalid(number),
                    name => SqlError::scoped_configuration_out_of_range(number, name),
                })?
            }
        };
        let values = if secondary { &mut self.secondary } else { &mut self.primary };
        values[name.0] = number;
        Ok(())
    }

    /// MAXDOP; 0: the server's.
    pub fn degree(&self) -> u16 {
        u16::try_from(self.primary[MAXDOP]).unwrap_or(0)
    }

    /// PARAMETER_SNIFFING.
    pub fn sniffs_parameters(&self) -> bool {
        self.primary[PARAMETER_SNIFFING] != 0
    }

    /// All of them.
    pub fn rows(&self) -> impl Iterator<Item = ScopedRow> {
        let values = self.primary.iter().zip(&self.secondary);
        DEFINITIONS.iter().zip(values).map(|(definition, (value, secondary))| ScopedRow {
            id: definition.id,
            name: definition.name,
            kind: definition.kind,
            value: *value,
            secondary: Some(*secondary).filter(|secondary| *secondary != AS_PRIMARY),
            is_usual: *value == definition.usual,
        })
    }

    /// Whether all are as in a new database.
    pub(crate) fn is_usual(&self) -> bool {
        *self == ScopedConfiguration::USUAL
    }
}

impl From<ScopedConfiguration> for Vec<String> {
    fn from(configuration: ScopedConfiguration) -> Vec<String> {
        let mut lines = Vec::new();
        for row in configuration.rows() {
            if !row.is_usual {
                lines.push(format!("{}={}", row.name, row.value));
            }
            if let Some(value) = row.secondary {
                lines.push(format!("{}{SECONDARY}={value}", row.name));
            }
        }
        lines
    }
}

impl From<Vec<String>> for ScopedConfiguration {
    /// Names and values that are none, of a later build, say nothing here.
    fn from(lines: Vec<String>) -> ScopedConfiguration {
        let mut configuration = ScopedConfiguration::USUAL;
        for line in &lines {
            let Some((name, value)) = line.split_once('=') else { continue };
            let (name, secondary) = name.strip_suffix(SECONDARY).map_or((name, false), |name| (name, true));
            if let (Some(name), Ok(value)) = (ScopedName::of(name), value.parse()) {
                let _ = configuration.set(name, secondary, ScopedValue::Of(value));
            }
        }
        configuration
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> ScopedName {
        ScopedName::of(name).expect("it is one")
    }

    #[test]
    fn what_is_set_is_kept_by_its_name() {
        let mut set = ScopedConfiguration::USUAL;
        for (name, secondary, value) in
            [("MAXDOP", false, 4), ("MAXDOP", true, 2), ("ELEVATE_ONLINE", false, 1), ("IDENTITY_CACHE", false, 1)]
        {
            set.set(named(name), secondary, ScopedValue::Of(value)).expect("it can be set");
        }
        let lines: Vec<String> = set.into();
        assert_eq!(lines, ["MAXDOP=4", "MAXDOP FOR SECONDARY=2", "ELEVATE_ONLINE=1"]);
        let later = ["LATER=1", "MAXDOP=-3", "nonsense"].map(str::to_string);
        assert_eq!(ScopedConfiguration::from([lines, later.to_vec()].concat()), set);
        assert_eq!((set.degree(), set.is_usual()), (4, false));
        set.set(named("MAXDOP"), true, ScopedValue::Primary).expect("it can be set");
        assert_eq!(set.rows().next().map(|row| (row.value, row.secondary)), Some((4, None)));
    }

    #[test]
    fn what_cannot_be_set_says_why() {
        let mut set = ScopedConfiguration::USUAL;
        let mut refused = |name, secondary, value| {
            let error = set.set(named(name), secondary, value).expect_err("it cannot be set");
            (error.number, error.state)
        };
        assert_eq!(refused("MAXDOP", false, ScopedValue::Of(32_768)), (12108, 1));
        assert_eq!(refused("MAXDOP", false, ScopedValue::Primary), (12109, 1));
        assert_eq!(refused("ELEVATE_RESUMABLE", true, ScopedValue::Of(0)), (12110, 3));
        assert_eq!(refused(PAUSED_MINUTES, false, ScopedValue::Of(71_583)), (12121, 1));
        assert!(set.is_usual());
        assert!(DEFINITIONS.is_sorted_by(|one, next| one.id < next.id));
    }
}
