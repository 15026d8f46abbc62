//! SET options that the machine does not obey itself: accepted where this engine does what they ask, refused by name where
//! it does not.

use crate::unsupported;
use pikepole_query::{ExecutionContext, Output, ShowPlan};
use pikepole_tsql::{ExprKind, Literal, OptionSetting, SetOption, Statement, StatementKind, UnaryOp};
use pikepole_types::{DateFormat, Language, SqlError};

/// What a session's SET statements left behind.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ClientOptions {
    /// DEADLOCK_PRIORITY, -10 to 10; the context has it too, for its waits.
    pub(crate) deadlock_priority: i32,
}

/// Options that are always off here; ON would change what statements do.
const ALWAYS_OFF: &[&str] = &["NUMERIC_ROUNDABORT", "FORCEPLAN", "REMOTE_PROC_TRANSACTIONS"];
/// The options that ANSI_DEFAULTS sets at once.
const ANSI_DEFAULTS: &[&str] = &[
    "ANSI_NULLS",
    "ANSI_NULL_DFLT_ON",
    "ANSI_PADDING",
    "ANSI_WARNINGS",
    "CURSOR_CLOSE_ON_COMMIT",
    "IMPLICIT_TRANSACTIONS",
    "QUOTED_IDENTIFIER",
];
/// Options that make no difference here, whatever they are set to.
const INDIFFERENT: &[&str] = &["OFFSETS"];

impl ClientOptions {
    /// Whether the batch is to run at all: PARSEONLY keeps it from running, and NOEXEC if nothing in it ends that. Errors of syntax are
    /// reported all the same.
    pub(crate) fn allows_running(
        &mut self,
        sql: &str,
        context: &mut ExecutionContext,
        output: &mut dyn Output,
    ) -> bool {
        if !context.settings.parseonly && !context.settings.noexec {
            return true;
        }
        let batch = match pikepole_tsql::parse(sql) {
            Ok(batch) => batch,
            Err(error) => {
                context.state.last_error = error.number;
                output.error(&syntax_error(&error));
                return false;
            }
        };
        let ends = |name: &str| {
            batch.statements.iter().any(|statement| match &statement.kind {
                StatementKind::SetOption(option) => {
                    option.value == OptionSetting::Off && option.names.iter().any(|own| own == name)
                }
                _ => false,
            })
        };
        if context.settings.parseonly {
            context.settings.parseonly = !ends("PARSEONLY");
            return false;
        }
        // What stands before the statement that ends it is not run.
        ends("NOEXEC")
    }

    /// Obeys a SET statement.
    pub(crate) fn set(
        &mut self,
        statement: &Statement,
        option: &SetOption,
        context: &mut ExecutionContext,
        output: &mut dyn Output,
    ) -> Result<(), SqlError> {
        for name in &option.names {
            self.set_one(name, &option.value, context, output).map_err(|error| error.at_line(statement.line()))?;
        }
        Ok(())
    }

    fn set_one(
        &mut self,
        name: &str,
        value: &OptionSetting,
        context: &mut ExecutionContext,
        output: &mut dyn Output,
    ) -> Result<(), SqlError> {
        let on = *value == OptionSetting::On;
        let settings = &mut context.settings;
        match (name, value) {
            ("NOCOUNT", _) => settings.nocount = on,
            ("XACT_ABORT", _) => settings.xact_abort = on,
            ("IMPLICIT_TRANSACTIONS", _) => settings.implicit_transactions = on,
            ("QUOTED_IDENTIFIER", _) if context.state.procedure_id != 0 => {}
            ("QUOTED_IDENTIFIER", _) => settings.quoted_identifier = on,
            ("PARSEONLY", _) => settings.parseonly = on,
            ("NOEXEC", _) => settings.noexec = on,
            ("FMTONLY", _) => settings.fmtonly = on,
            ("NO_BROWSETABLE", _) => settings.browses = on,
            ("SHOWPLAN_TEXT" | "SHOWPLAN_ALL" | "SHOWPLAN_XML", _) => show_plan(name, on, context)?,
            ("STATISTICS PROFILE", _) => {
                may_see_plans(on, context)?;
                context.settings.statistics_profile = on;
            }
            ("STATISTICS XML", _) => {
                may_see_plans(on, context)?;
                context.settings.statistics_xml = on;
            }
            ("STATISTICS IO", _) => settings.statistics_io = on,
            ("STATISTICS TIME", _) => settings.statistics_time = on,
            ("CURSOR_CLOSE_ON_COMMIT", _) => settings.cursor_close_on_commit = on,
            ("CONTEXT_INFO", _) => context.context_info = Some(context_info(value)?),
            ("QUERY_GOVERNOR_COST_LIMIT", _) if number(value) == Some(0) => {}
            ("DATEFIRST", _) => settings.date_first = date_first(value)?,
            ("TEXTSIZE", _) => settings.text_size = text_size(value)?,
            ("ANSI_NULL_DFLT_ON" | "ANSI_NULL_DFLT_OFF", _) => {
                settings.null_default = settings.null_default.after(name, on);
            }
            // A module keeps what was set when it was made.
            ("ANSI_NULLS", _) if context.state.procedure_id != 0 => {}
            ("ANSI_NULLS", _) => settings.ansi_nulls = on,
            ("CONCAT_NULL_YIELDS_NULL", _) => settings.concat_null_yields_null = on,
            ("ANSI_PADDING", _) => settings.ansi_padding = on,
            ("ANSI_WARNINGS", _) => settings.ansi_warnings = on,
            ("ANSI_DEFAULTS", _) => {
                for name in ANSI_DEFAULTS {
                    self.set_one(name, value, context, output)?;
                }
            }
            ("ARITHABORT", _) => settings.arithabort = on,
            ("ARITHIGNORE", _) => settings.arithignore = on,
            ("DEADLOCK_PRIORITY", _) => {
                self.deadlock_priority = deadlock_priority(value)?;
                context.deadlock_priority = self.deadlock_priority;
            }
            ("LANGUAGE", _) => {
                let language = language(value)?;
                // The language that there is changes nothing: what DATEFIRST and DATEFORMAT were set to holds.
                if language != settings.language {
                    settings.set_language(language);
                }
                output.message(&SqlError::changed_language(language.name));
            }
            ("DATEFORMAT", _) => settings.date_format = date_format(value)?,
            _ if INDIFFERENT.contains(&name) => {}
            (_, OptionSetting::Off) if ALWAYS_OFF.contains(&name) => {}
            _ if ALWAYS_OFF.contains(&name) => return Err(unsupported(format!("SET {name} ON"))),
            _ => return Err(unsupported(format!("SET {name}"))),
        }
        Ok(())
    }
}

/// SET SHOWPLAN_...: OFF ends what the same option began.
fn show_plan(name: &str, on: bool, context: &mut ExecutionContext) -> Result<(), SqlError> {
    let format = ShowPlan::of(name);
    may_see_plans(on, context)?;
    if on {
        context.settings.show_plan = format;
    } else if context.settings.show_plan == format {
        context.settings.show_plan = None;
    }
    Ok(())
}

/// Plans tell of tables and of what is in them: whoever switches them on needs a permission for that.
fn may_see_plans(on: bool, context: &ExecutionContext) -> Result<(), SqlError> {
    if on { context.require_show_plan() } else { Ok(()) }
}

/// A parser's error as a session reports it.
pub(crate) fn syntax_error(error: &pikepole_tsql::SyntaxError) -> SqlError {
    let mut sql_error = SqlError::new(error.number, error.severity, error.state, error.message.clone());
    sql_error.line = error.line;
    sql_error
}

/// The number that an option is set to, when it is written out.
fn number(value: &OptionSetting) -> Option<i64> {
    let OptionSetting::Value(expr) = value else { return None };
    match &expr.kind {
        ExprKind::Literal(Literal::Int(number)) => Some(i64::from(*number)),
        ExprKind::Literal(Literal::Decimal(text)) => text.parse().ok(),
        ExprKind::Unary(UnaryOp::Minus, inner) => match inner.literal() {
            Some(Literal::Int(number)) => Some(-i64::from(*number)),
            _ => None,
        },
        _ => None,
    }
}

/// The bytes of CONTEXT_INFO, once it is set.
pub(crate) const CONTEXT_INFO_BYTES: usize = 128;

/// What CONTEXT_INFO is when it is set to so many bytes: zeros follow.
pub(crate) fn whole_context_info(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(CONTEXT_INFO_BYTES, 0);
    bytes
}

/// The bytes that CONTEXT_INFO is set to.
fn context_info(value: &OptionSetting) -> Result<Vec<u8>, SqlError> {
    let OptionSetting::Value(expr) = value else { return Err(unsupported("SET CONTEXT_INFO with a variable")) };
    match expr.literal() {
        Some(Literal::Binary(bytes)) if bytes.len() <= CONTEXT_INFO_BYTES => Ok(whole_context_info(bytes.clone())),
        Some(Literal::Int(number)) => Ok(whole_context_info(number.to_be_bytes().to_vec())),
        _ => Err(unsupported("SET CONTEXT_INFO with a variable or more than 128 bytes")),
    }
}

/// The word or text that an option is set to.
fn word(value: &OptionSetting) -> Option<&str> {
    match value {
        OptionSetting::Word(name) => Some(name.as_str()),
        OptionSetting::Value(expr) => match expr.literal() {
            Some(Literal::String { value, .. }) => Some(value),
            _ => None,
        },
        _ => None,
    }
}

fn date_first(value: &OptionSetting) -> Result<u8, SqlError> {
    match number(value) {
        Some(day @ 1..=7) => Ok(day as u8),
        Some(day) => Err(SqlError::new(2742, 16, 1, format!("SET DATEFIRST {day} is out of range."))),
        None => Err(unsupported("SET DATEFIRST with a variable")),
    }
}

fn text_size(value: &OptionSetting) -> Result<i32, SqlError> {
    match number(value) {
        // 0 is the default that SQL Server has for clients which say nothing; -1 means the largest size.
        Some(0) => Ok(4096),
        Some(size @ -1..) => Ok(i32::try_from(size).unwrap_or(i32::MAX)),
        Some(size) => Err(unsupported(format!("SET TEXTSIZE {size}"))),
        None => Err(unsupported("SET TEXTSIZE with a variable")),
    }
}

fn deadlock_priority(value: &OptionSetting) -> Result<i32, SqlError> {
    let named = word(value).map(str::to_ascii_uppercase);
    match (named.as_deref(), number(value)) {
        (Some("LOW"), _) => Ok(-5),
        (Some("NORMAL"), _) => Ok(0),
        (Some("HIGH"), _) => Ok(5),
        (_, Some(priority @ -10..=10)) => Ok(priority as i32),
        _ => Err(unsupported("SET DEADLOCK_PRIORITY with a variable or a value out of range")),
    }
}

fn language(value: &OptionSetting) -> Result<&'static Language, SqlError> {
    let name = word(value).ok_or_else(|| unsupported("SET LANGUAGE with a variable"))?;
    Language::by_name(name).ok_or_else(|| SqlError::language_unknown(name))
}

fn date_format(value: &OptionSetting) -> Result<DateFormat, SqlError> {
    let name = word(value).unwrap_or_default();
    DateFormat::by_name(name.trim_end_matches(' '))
        .ok_or_else(|| SqlError::new(2741, 16, 1, format!("SET DATEFORMAT date order '{name}' is invalid.")))
}
