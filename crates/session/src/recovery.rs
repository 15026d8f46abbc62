//! What of a session its client can take along when the connection breaks, and bring to a new one: the SET options and CONTEXT_INFO.
//!
//! The client keeps bytes that it does not understand: each is of one length for good, because there are clients that do not note when
//! a state gets shorter, and of less than 128 bytes, because Microsoft's JDBC driver before version 12.2 takes longer ones for ones of
//! negative length. What else a session has (a transaction, temporary tables, cursors ...) ends with it, and a session that
//! has any of that is not recovered.

use crate::options::{CONTEXT_INFO_BYTES, ClientOptions, whole_context_info};
use crate::session::Session;
use pikepole_query::{Collected, Event, Isolation, NullDefault, Settings};
use pikepole_types::{DateFormat, SqlError};

/// The state that says nothing but whether the session can be recovered.
const HELD: u8 = 1;
/// Flags (4), isolation, default of NULL, order of dates, first day, priority (4), TEXTSIZE (4), LOCK_TIMEOUT (4), ROWCOUNT (8),
/// one more than the bytes of CONTEXT_INFO, or 0.
const OPTIONS_BYTES: usize = 4 + 4 + 4 + 4 + 4 + 8 + 1;
/// The states that tell what a session is like, each with its length: the SET options, and the halves of CONTEXT_INFO.
const PARTS: &[(u8, usize)] = &[(0, OPTIONS_BYTES), (2, CONTEXT_INFO_BYTES / 2), (3, CONTEXT_INFO_BYTES / 2)];
const PARTS_BYTES: usize = OPTIONS_BYTES + CONTEXT_INFO_BYTES;
/// What numbers mean, in the order that is for good: another version of the server may be asked to recover a session.
const ISOLATIONS: &[Isolation] = &[
    Isolation::ReadUncommitted,
    Isolation::ReadCommitted,
    Isolation::RepeatableRead,
    Isolation::Snapshot,
    Isolation::Serializable,
];
const NULL_DEFAULTS: &[NullDefault] = &[NullDefault::On, NullDefault::Off, NullDefault::OfDatabase];
const DATE_FORMATS: &[DateFormat] =
    &[DateFormat::Mdy, DateFormat::Myd, DateFormat::Dmy, DateFormat::Dym, DateFormat::Ymd, DateFormat::Ydm];

/// A session as far as another connection can go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoverableState {
    settings: Settings,
    options: ClientOptions,
    context_info: Option<Vec<u8>>,
    /// It has something that ends with it.
    holds: bool,
}

/// What a client is to be told of a session's states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateChange {
    /// Whether the session can be recovered.
    pub recoverable: bool,
    /// The states, by their numbers.
    pub states: Vec<(u8, Vec<u8>)>,
}

impl RecoverableState {
    /// The states to begin with.
    pub fn initial(&self) -> Vec<(u8, Vec<u8>)> {
        let mut bytes = self.bytes();
        PARTS.iter().map(|(number, len)| (*number, bytes.drain(..len).collect())).collect()
    }

    /// What a client does not know that knows a former state. What it was told while the session could not be recovered counts as
    /// unrecoverable for it, so it is told all again when the session can be.
    pub fn change_since(&self, known: &RecoverableState) -> Option<StateChange> {
        let has_changed = (&self.settings, &self.options, &self.context_info)
            != (&known.settings, &known.options, &known.context_info);
        let mut states = Vec::new();
        if has_changed || (known.holds && !self.holds) {
            states = self.initial();
        }
        if self.holds != known.holds {
            states.push((HELD, vec![u8::from(self.holds)]));
        }
        (!states.is_empty()).then_some(StateChange { recoverable: !self.holds, states })
    }

    /// The same, of a session that has something that ends with it, or has not.
    #[must_use]
    pub fn holding(mut self, holds: bool) -> RecoverableState {
        self.holds = holds;
        self
    }

    fn bytes(&self) -> Vec<u8> {
        let RecoverableState { mut settings, options, .. } = self.clone();
        let flags = flags(&mut settings);
        let flags = flags.iter().enumerate().fold(0u32, |bits, (place, flag)| bits | u32::from(**flag) << place);
        let mut out = flags.to_le_bytes().to_vec();
        out.extend([place(ISOLATIONS, settings.isolation), place(NULL_DEFAULTS, settings.null_default)]);
        out.extend([place(DATE_FORMATS, settings.date_format), settings.date_first]);
        out.extend(options.deadlock_priority.to_le_bytes());
        out.extend(settings.text_size.to_le_bytes());
        out.extend(settings.lock_timeout_ms.to_le_bytes());
        out.extend(settings.row_count.to_le_bytes());
        // One more than its bytes; 0: there is none.
        let context_info = self.context_info.as_deref();
        out.push(context_info.map_or(0, |info| info.len() as u8 + 1));
        out.extend(context_info.unwrap_or_default());
        out.resize(PARTS_BYTES, 0);
        out
    }
}

impl Session {
    /// What a client that may recover the session is to know of it.
    pub fn recoverable_state(&self) -> RecoverableState {
        let context = self.context();
        let settings = &context.settings;
        // What must not be shown to everybody is not left to the client to say.
        let shows_plans = settings.show_plan.is_some() || settings.profiles_plans();
        RecoverableState {
            settings: settings.clone(),
            options: self.host.options.clone(),
            context_info: context.context_info.clone(),
            holds: shows_plans
                || context.holds_what_ends_with_it()
                || !self.host.trace_flags.is_empty()
                || !self.host.session_context.is_empty(),
        }
    }

    /// Gives a session that has just begun the database, the language and the states of one that is gone, as its client kept them
    /// (empty: those of the login). False: the states are none of this server's.
    ///
    /// # Errors
    /// What USE says of the database, and SET LANGUAGE of the language.
    pub async fn recover(
        &mut self,
        database: &str,
        language: &str,
        states: &[(u8, Vec<u8>)],
    ) -> Result<bool, SqlError> {
        if !database.is_empty() && !database.eq_ignore_ascii_case(self.database_name()) {
            self.run_for_itself(&format!("USE [{}]", database.replace(']', "]]"))).await?;
        }
        if !language.is_empty() && !language.eq_ignore_ascii_case(self.language().name) {
            self.run_for_itself(&format!("SET LANGUAGE N'{}'", language.replace('\'', "''"))).await?;
        }
        Ok(self.take_states(states))
    }

    async fn run_for_itself(&mut self, statement: &str) -> Result<(), SqlError> {
        let mut output = Collected::default();
        self.run(statement, &mut [], &mut output).await;
        let error = output.events.into_iter().find_map(|event| match event {
            Event::Error(error) => Some(error),
            _ => None,
        });
        error.map_or(Ok(()), Err)
    }

    fn take_states(&mut self, states: &[(u8, Vec<u8>)]) -> bool {
        let (context, host) = self.parts();
        // Of what a client was told at its login and later, the last counts.
        let last = |wanted: u8| states.iter().rfind(|(number, _)| *number == wanted).map(|(_, bytes)| &bytes[..]);
        let parts: Vec<&[u8]> = PARTS.iter().filter_map(|(number, _)| last(*number)).collect();
        if !parts.is_empty() {
            let mut read = RecoverableState {
                settings: context.settings.clone(),
                options: host.options.clone(),
                context_info: None,
                holds: false,
            };
            if read.read(&parts.concat()).is_none() {
                return false;
            }
            context.set_isolation(read.settings.isolation);
            context.settings = read.settings;
            context.context_info = read.context_info;
            context.deadlock_priority = read.options.deadlock_priority;
            host.options = read.options;
        }
        host.cell.show_settings(context, &host.options);
        true
    }
}

impl RecoverableState {
    /// Reads what [`RecoverableState::bytes`] wrote; None for anything else: the bytes come from a client.
    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let bytes = <&[u8; PARTS_BYTES]>::try_from(bytes).ok()?;
        let (bits, rest) = bytes.split_first_chunk()?;
        let bits = u32::from_le_bytes(*bits);
        let (settings, options) = (&mut self.settings, &mut self.options);
        for (place, flag) in flags(settings).into_iter().enumerate() {
            *flag = bits >> place & 1 == 1;
        }
        let ([isolation, null_default, date_format, date_first], rest) = rest.split_first_chunk()?;
        settings.isolation = *ISOLATIONS.get(usize::from(*isolation))?;
        settings.null_default = *NULL_DEFAULTS.get(usize::from(*null_default))?;
        settings.date_format = *DATE_FORMATS.get(usize::from(*date_format))?;
        settings.date_first = Some(*date_first).filter(|day| (1..=7).contains(day))?;
        let (priority, rest) = rest.split_first_chunk()?;
        options.deadlock_priority = Some(i32::from_le_bytes(*priority)).filter(|level| (-10..=10).contains(level))?;
        let (text_size, rest) = rest.split_first_chunk()?;
        settings.text_size = Some(i32::from_le_bytes(*text_size)).filter(|bytes| *bytes >= -1)?;
        let (lock_timeout, rest) = rest.split_first_chunk()?;
        settings.lock_timeout_ms = Some(i32::from_le_bytes(*lock_timeout)).filter(|wait| *wait >= -1)?;
        let (row_count, rest) = rest.split_first_chunk()?;
        settings.row_count = u64::from_le_bytes(*row_count);
        let (context_info, rest) = rest.split_first()?;
        self.context_info = match usize::from(*context_info) {
            0 => None,
            more => Some(whole_context_info(rest.get(..more - 1)?.to_vec())),
        };
        Some(())
    }
}

/// The options that are on or off, each at its place.
fn flags(settings: &mut Settings) -> [&mut bool; 17] {
    [
        &mut settings.nocount,
        &mut settings.xact_abort,
        &mut settings.implicit_transactions,
        &mut settings.noexec,
        &mut settings.parseonly,
        &mut settings.fmtonly,
        &mut settings.browses,
        &mut settings.statistics_io,
        &mut settings.statistics_time,
        &mut settings.cursor_close_on_commit,
        &mut settings.ansi_nulls,
        &mut settings.concat_null_yields_null,
        &mut settings.ansi_warnings,
        &mut settings.quoted_identifier,
        &mut settings.arithabort,
        &mut settings.arithignore,
        &mut settings.ansi_padding,
    ]
}

fn place<T: PartialEq>(all: &[T], one: T) -> u8 {
    all.iter().position(|other| *other == one).unwrap_or(0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_read_as_they_were_written() {
        let mut written = RecoverableState {
            settings: Settings::default(),
            options: ClientOptions { deadlock_priority: -3 },
            context_info: Some(vec![7; CONTEXT_INFO_BYTES]),
            holds: false,
        };
        written.settings.isolation = Isolation::Snapshot;
        written.settings.null_default = NullDefault::OfDatabase;
        written.settings.date_format = DateFormat::Ymd;
        written.settings.date_first = 3;
        written.settings.lock_timeout_ms = 1500;
        written.settings.text_size = 4096;
        written.settings.row_count = u64::MAX;
        written.settings.nocount = true;
        written.settings.arithignore = true;
        written.settings.quoted_identifier = false;
        let bytes = written.bytes();
        let states = written.initial();
        assert!(states.iter().all(|(_, state)| state.len() < 0x80), "some clients read longer ones wrongly");
        assert_eq!(states.into_iter().flat_map(|(_, state)| state).collect::<Vec<u8>>(), bytes);
        let begins = || RecoverableState {
            settings: Settings::default(),
            options: ClientOptions::default(),
            context_info: None,
            holds: false,
        };
        let mut read = begins();
        read.read(&bytes).expect("its own bytes");
        assert_eq!(read, written);

        // Each byte says something that is checked, or any value of it will do; nothing panics.
        for at in 0..bytes.len() {
            for value in 0..=u8::MAX {
                let mut other = bytes.clone();
                other[at] = value;
                let _ = begins().read(&other);
            }
        }
        for (at, value) in [(4, 5), (5, 3), (6, 6), (7, 0), (7, 8), (8, 11), (15, 0x80), (28, 130)] {
            let mut other = bytes.clone();
            other[at] = value;
            assert!(begins().read(&other).is_none(), "byte {at} is {value}");
        }
        assert!(begins().read(&bytes[1..]).is_none());
    }

    #[test]
    fn a_client_hears_what_changed() {
        let begins = RecoverableState {
            settings: Settings::default(),
            options: ClientOptions::default(),
            context_info: None,
            holds: false,
        };
        assert_eq!(begins.change_since(&begins), None);
        let holds = RecoverableState { holds: true, ..begins.clone() };
        let change = holds.change_since(&begins).expect("a transaction has begun");
        assert_eq!(change, StateChange { recoverable: false, states: vec![(HELD, vec![1])] });
        // The options may have been told while the session could not be recovered.
        let change = begins.change_since(&holds).expect("it has ended");
        assert_eq!(
            change,
            StateChange { recoverable: true, states: [begins.initial(), vec![(HELD, vec![0])]].concat() }
        );
    }
}
