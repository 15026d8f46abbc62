//! `sp_addmessage`, `sp_altermessage` and `sp_dropmessage`: messages that users add to the server.

use super::{Arguments, may_configure};
use crate::host::SessionHost;
use crate::unsupported;
use pikepole_engine::{Durability, MASTER, MessageChange, UserMessage};
use pikepole_query::ExecutionContext;
use pikepole_types::{Language, SqlError};
use std::sync::Arc;

/// Users' messages have numbers above this.
const NUMBER_MIN: i32 = 50_000;

fn check_permission(context: &ExecutionContext) -> Result<(), SqlError> {
    if may_configure(context) { Ok(()) } else { Err(SqlError::no_permission()) }
}

fn number(arguments: &Arguments<'_>) -> Option<i32> {
    arguments.text(0)?.parse().ok()
}

fn language(name: &str) -> Result<&'static Language, SqlError> {
    Language::by_name(name).ok_or_else(|| SqlError::not_an_official_language(name))
}

fn with_log(given: Option<String>) -> Result<bool, SqlError> {
    match given {
        None => Ok(false),
        Some(word) if word.eq_ignore_ascii_case("true") => Ok(true),
        Some(word) if word.eq_ignore_ascii_case("false") => Ok(false),
        Some(_) => Err(SqlError::with_log_invalid()),
    }
}

/// The procedure of this name, which adds, alters or drops a message.
pub(super) async fn change(
    name: &str,
    host: &SessionHost,
    arguments: &Arguments<'_>,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    check_permission(context)?;
    match name {
        "sp_addmessage" => add(host, arguments, context).await,
        "sp_altermessage" => alter(host, arguments, context).await,
        _ => drop(host, arguments, context).await,
    }
}

/// `sp_addmessage @msgnum, @severity, @msgtext, @lang, @with_log, @replace`
async fn add(host: &SessionHost, arguments: &Arguments<'_>, context: &mut ExecutionContext) -> Result<(), SqlError> {
    let number = number(arguments).filter(|number| *number > NUMBER_MIN).ok_or_else(SqlError::message_number_low)?;
    let severity = arguments.text(1).and_then(|severity| severity.parse().ok());
    let severity: u8 =
        severity.filter(|severity| (1..=25).contains(severity)).ok_or_else(SqlError::message_severity_invalid)?;
    let is_logged = with_log(arguments.text(4))?;
    let replaces = match arguments.text(5) {
        None => false,
        Some(word) if word.eq_ignore_ascii_case("replace") => true,
        Some(_) => return Err(SqlError::message_exists()),
    };
    let language = match arguments.text(3) {
        Some(name) => language(&name)?,
        None => context.settings.language,
    };
    let text = arguments.text_as_given(2).unwrap_or_default();
    let of = language.message_lcid;
    let change = move |found: Option<&UserMessage>| {
        let is_english = of == UserMessage::ENGLISH;
        let mut message = match found {
            Some(found) => found.clone(),
            None if is_english => UserMessage { number, severity, is_logged, texts: Vec::new() },
            None => return Err(SqlError::message_needs_english(language.name)),
        };
        if !is_english && message.severity != severity {
            return Err(SqlError::message_severities_differ(language.name, message.severity));
        }
        match message.texts.iter_mut().find(|(known, _)| *known == of) {
            Some(_) if !replaces => return Err(SqlError::message_exists()),
            Some((_, known)) => known.clone_from(&text),
            None => message.texts.push((of, text.clone())),
        }
        if is_english {
            (message.severity, message.is_logged) = (severity, is_logged);
        }
        Ok(Some(message))
    };
    apply(host, context, number, &change).await
}

/// `sp_altermessage @message_id, 'WITH_LOG', @parameter_value`
async fn alter(host: &SessionHost, arguments: &Arguments<'_>, context: &mut ExecutionContext) -> Result<(), SqlError> {
    if !arguments.text(1).is_some_and(|word| word.eq_ignore_ascii_case("WITH_LOG")) {
        return Err(SqlError::invalid_parameter_or_option("sys.sp_altermessage"));
    }
    let number = number(arguments).unwrap_or_default();
    let is_logged = with_log(arguments.text(2))?;
    let change = move |found: Option<&UserMessage>| match found {
        Some(found) => Ok(Some(UserMessage { is_logged, ..found.clone() })),
        None => Err(SqlError::message_missing(number)),
    };
    apply(host, context, number, &change).await
}

/// `sp_dropmessage @msgnum, @lang`
async fn drop(host: &SessionHost, arguments: &Arguments<'_>, context: &mut ExecutionContext) -> Result<(), SqlError> {
    let number = number(arguments).filter(|number| *number > NUMBER_MIN).ok_or_else(SqlError::message_not_droppable)?;
    let of = match arguments.text(1) {
        Some(name) if name.eq_ignore_ascii_case("all") => None,
        Some(name) => Some(language(&name)?.message_lcid),
        None => Some(context.settings.language.message_lcid),
    };
    let change = move |found: Option<&UserMessage>| {
        let mut message = found.cloned().ok_or_else(|| SqlError::message_missing(number))?;
        let Some(of) = of else { return Ok(None) };
        let place = message.texts.iter().position(|(known, _)| *known == of);
        let place = place.ok_or_else(|| SqlError::message_missing(number))?;
        if of == UserMessage::ENGLISH && message.texts.len() > 1 {
            return Err(SqlError::message_has_translations());
        }
        message.texts.remove(place);
        Ok(Some(message).filter(|message| !message.texts.is_empty()))
    };
    apply(host, context, number, &change).await
}

/// Changes a message of master: in the session's transaction where that is the current database, else in one of its own.
async fn apply(
    host: &SessionHost,
    context: &mut ExecutionContext,
    number: i32,
    change: MessageChange<'_>,
) -> Result<(), SqlError> {
    if context.database().name() == MASTER {
        context.begin_definition()?;
        let database = Arc::clone(context.database());
        database.change_message(context.transaction(), number, change).await?;
        return context.end_definition().await.map_err(|fault| *fault);
    }
    if context.state.transaction_count > 0 {
        return Err(unsupported("Changing messages within a transaction of another database than master"));
    }
    let master = host.server.database(MASTER)?;
    let mut tx = master.transaction(host.session_id);
    match master.change_message(&mut tx, number, change).await {
        Ok(()) => master.commit(&mut tx, Durability::Full).await,
        Err(error) => {
            // What went wrong first says more than what the rollback met.
            let _ = master.rollback(&mut tx).await;
            Err(error)
        }
    }
}
