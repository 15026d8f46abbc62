//! The SET options that change how statements run.

use pikepole_engine::MemoryLevel;
use pikepole_tsql as tree;
use pikepole_types::{Context, DateFormat, Language};

/// Isolation levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Isolation {
    /// Reads as READ COMMITTED: there are no dirty reads here.
    ReadUncommitted,
    /// Every statement reads what was committed when it began.
    #[default]
    ReadCommitted,
    /// A transaction's reads can be repeated.
    RepeatableRead,
    /// Every statement of a transaction reads what was committed when the transaction began.
    Snapshot,
    /// Transactions behave as if one ran after another.
    Serializable,
}

impl Isolation {
    /// The level that SET TRANSACTION ISOLATION LEVEL names.
    pub(crate) fn of(level: tree::IsolationLevel) -> Isolation {
        match level {
            tree::IsolationLevel::ReadUncommitted => Isolation::ReadUncommitted,
            tree::IsolationLevel::ReadCommitted => Isolation::ReadCommitted,
            tree::IsolationLevel::RepeatableRead => Isolation::RepeatableRead,
            tree::IsolationLevel::Snapshot => Isolation::Snapshot,
            tree::IsolationLevel::Serializable => Isolation::Serializable,
        }
    }
}

impl Isolation {
    /// As tools spell it.
    pub fn name(self) -> &'static str {
        match self {
            Isolation::ReadUncommitted => "read uncommitted",
            Isolation::ReadCommitted => "read committed",
            Isolation::RepeatableRead => "repeatable read",
            Isolation::Snapshot => "snapshot",
            Isolation::Serializable => "serializable",
        }
    }
}

/// What SET SHOWPLAN_... shows of statements, which are not run then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowPlan {
    /// Lines of text.
    Text,
    /// A row for each operator.
    All,
    /// A document.
    Xml,
}

impl ShowPlan {
    /// The format that an option of this name, in upper case, asks for.
    pub fn of(option: &str) -> Option<ShowPlan> {
        Some(match option {
            "SHOWPLAN_TEXT" => ShowPlan::Text,
            "SHOWPLAN_ALL" => ShowPlan::All,
            "SHOWPLAN_XML" => ShowPlan::Xml,
            _ => return None,
        })
    }
}

/// Whether columns of which nothing is said take NULL: ANSI_NULL_DFLT_ON and ANSI_NULL_DFLT_OFF.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NullDefault {
    /// ANSI_NULL_DFLT_ON is on: they do.
    #[default]
    On,
    /// ANSI_NULL_DFLT_OFF is on: they do not.
    Off,
    /// Both are off: as the database's ANSI_NULL_DEFAULT says, which is off here.
    OfDatabase,
}

impl NullDefault {
    /// What is in force after SET of an option of the two, in upper case, and on or off.
    pub fn after(self, option: &str, on: bool) -> NullDefault {
        let own = if option == "ANSI_NULL_DFLT_ON" { NullDefault::On } else { NullDefault::Off };
        match on {
            true => own,
            false if self == own => NullDefault::OfDatabase,
            false => self,
        }
    }
}

/// The options of one session that the machine obeys. A procedure restores them when it ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// NOCOUNT: no row counts in `done`.
    pub nocount: bool,
    /// XACT_ABORT: an error ends the batch and rolls the transaction back.
    pub xact_abort: bool,
    /// IMPLICIT_TRANSACTIONS: a statement that touches a table begins a transaction.
    pub implicit_transactions: bool,
    /// NOEXEC: batches are compiled only.
    pub noexec: bool,
    /// PARSEONLY: batches are parsed only.
    pub parseonly: bool,
    /// FMTONLY: statements give their columns, read no rows and change nothing.
    pub fmtonly: bool,
    /// NO_BROWSETABLE: results tell which columns of which tables theirs are, and have the tables' keys.
    pub browses: bool,
    /// SHOWPLAN_TEXT, SHOWPLAN_ALL, SHOWPLAN_XML: statements are shown, not run.
    pub show_plan: Option<ShowPlan>,
    /// STATISTICS PROFILE: each statement's plan follows it, with the rows of its operators.
    pub statistics_profile: bool,
    /// STATISTICS XML: the same as a document.
    pub statistics_xml: bool,
    /// STATISTICS IO: each statement tells what it read of each table.
    pub statistics_io: bool,
    /// STATISTICS TIME: each statement tells how long it took.
    pub statistics_time: bool,
    /// CURSOR_CLOSE_ON_COMMIT: the end of a transaction closes cursors.
    pub cursor_close_on_commit: bool,
    /// ANSI_NULLS: nothing is equal to NULL, and nothing differs from it.
    pub ansi_nulls: bool,
    /// CONCAT_NULL_YIELDS_NULL: a text joined with NULL is NULL.
    pub concat_null_yields_null: bool,
    /// ANSI_NULL_DFLT_ON and ANSI_NULL_DFLT_OFF.
    pub null_default: NullDefault,
    /// ANSI_PADDING: columns that are made keep the blanks and zeros that values end in.
    pub ansi_padding: bool,
    /// ANSI_WARNINGS: no text is cut to fit into a column, and NULLs that an aggregate leaves out are told.
    pub ansi_warnings: bool,
    /// ARITHABORT: with it, or with ANSI_WARNINGS, arithmetic that fails is an error; without both its value is NULL.
    pub arithabort: bool,
    /// ARITHIGNORE: nothing is told of such a NULL.
    pub arithignore: bool,
    /// QUOTED_IDENTIFIER.
    pub quoted_identifier: bool,
    /// ROWCOUNT: a statement stops after so many rows; 0 means all.
    pub row_count: u64,
    /// TEXTSIZE: bytes of a long value that are sent at most; -1 means all.
    pub text_size: i32,
    /// LOCK_TIMEOUT in milliseconds; -1 waits for ever.
    pub lock_timeout_ms: i32,
    /// DATEFIRST, 1 (Monday) to 7 (Sunday).
    pub date_first: u8,
    /// DATEFORMAT.
    pub date_format: DateFormat,
    /// LANGUAGE.
    pub language: &'static Language,
    /// TRANSACTION ISOLATION LEVEL.
    pub isolation: Isolation,
    /// The level of in-memory tables in an atomic block; None: outside of one, where hints and the session's level decide.
    pub memory_level: Option<MemoryLevel>,
}

/// What a session's options say of the columns that it makes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ColumnOptions {
    /// Whether a column takes NULL of which nothing is said.
    pub(crate) nulls: NullDefault,
    /// ANSI_PADDING.
    pub(crate) padded: bool,
}

impl Settings {
    /// What sessions begin with whose clients do not say that they are of the kind of ODBC, as of DB-Library: standard SQL is what they
    /// have to ask for. ANSI_PADDING is on all the same, without which columns of `varchar` would be refused, and TEXTSIZE is not 4096.
    pub fn of_db_library() -> Settings {
        Settings {
            ansi_nulls: false,
            ansi_warnings: false,
            arithabort: false,
            concat_null_yields_null: false,
            null_default: NullDefault::OfDatabase,
            quoted_identifier: false,
            ..Settings::default()
        }
    }

    pub(crate) fn column_options(&self) -> ColumnOptions {
        ColumnOptions { nulls: self.null_default, padded: self.ansi_padding }
    }

    /// SET LANGUAGE: it brings its order of dates and its first day of weeks.
    pub fn set_language(&mut self, language: &'static Language) {
        self.language = language;
        self.date_format = language.date_format;
        self.date_first = language.date_first;
    }

    /// Whether operators count what they do.
    #[inline]
    pub fn profiles_plans(&self) -> bool {
        self.statistics_profile || self.statistics_xml
    }

    /// Tells if the client wants to know more of its statements than their results, or less.
    #[inline]
    pub(crate) fn watches_statements(&self) -> bool {
        self.profiles_plans() || self.statistics_io || self.statistics_time || self.fmtonly
    }

    /// Tells functions and conversions what they need to know of the options.
    pub(crate) fn inform(&self, functions: &mut Context) {
        functions.date_first = self.date_first;
        functions.date_format = self.date_format;
        functions.language = self.language;
        functions.cuts_silently = !self.ansi_warnings;
        functions.joins_nulls = !self.concat_null_yields_null;
        functions.fails_to_null = !self.ansi_warnings && !self.arithabort;
    }
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            nocount: false,
            xact_abort: false,
            implicit_transactions: false,
            noexec: false,
            parseonly: false,
            fmtonly: false,
            browses: false,
            show_plan: None,
            statistics_profile: false,
            statistics_xml: false,
            statistics_io: false,
            statistics_time: false,
            cursor_close_on_commit: false,
            ansi_nulls: true,
            concat_null_yields_null: true,
            null_default: NullDefault::default(),
            ansi_padding: true,
            ansi_warnings: true,
            arithabort: true,
            arithignore: false,
            quoted_identifier: true,
            row_count: 0,
            text_size: i32::MAX,
            lock_timeout_ms: -1,
            date_first: 7,
            date_format: DateFormat::default(),
            language: Language::ENGLISH,
            isolation: Isolation::default(),
            memory_level: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_two_defaults_of_null_one_switches_the_other_off() {
        let off = NullDefault::On.after("ANSI_NULL_DFLT_OFF", true);
        assert_eq!(off, NullDefault::Off);
        assert_eq!(off.after("ANSI_NULL_DFLT_ON", false), NullDefault::Off);
        assert_eq!(off.after("ANSI_NULL_DFLT_OFF", false), NullDefault::OfDatabase);
        assert_eq!(off.after("ANSI_NULL_DFLT_ON", true), NullDefault::On);
        assert_eq!(NullDefault::On.after("ANSI_NULL_DFLT_ON", false), NullDefault::OfDatabase);
    }
}
