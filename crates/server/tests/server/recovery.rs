//! Sessions that their clients recover when a connection breaks.

use crate::client::{Call, Client, Token, errors, utf16};
use crate::fixture::{Fixture, PASSWORD};
use pikepole_types::Value;
use std::collections::BTreeMap;

/// What a driver keeps of its session.
#[derive(Default)]
struct Kept {
    initial: Vec<u8>,
    changed: BTreeMap<u8, (bool, Vec<u8>)>,
    next: u32,
}

impl Kept {
    /// Logs in; `before` is the session to go on with.
    fn log_in(fixture: &Fixture, before: Option<Vec<u8>>) -> (Client, Kept, Vec<Token>) {
        let mut client = Client::connect(fixture.address());
        let tokens = client.try_log_in_recovering("sa", PASSWORD, before.unwrap_or_default());
        let mut kept = Kept::default();
        for token in &tokens {
            if let Token::Features(features) = token {
                assert_eq!(features.len(), 1, "only this was asked for");
                kept.initial.clone_from(&features[0].1);
            }
        }
        (client, kept, tokens)
    }

    /// Takes in an answer, where a state is followed by the last end.
    fn hear(&mut self, tokens: &[Token]) -> bool {
        assert!(errors(tokens).is_empty(), "{tokens:?}");
        let place = tokens.iter().position(|token| matches!(token, Token::State(..)));
        let Some(Token::State(sequence, recoverable, states)) = place.map(|place| &tokens[place]) else { return false };
        assert_eq!(place, Some(tokens.len() - 2), "the end follows: {tokens:?}");
        assert!(matches!(tokens.last(), Some(Token::Done(..))));
        assert_eq!(*sequence, self.next);
        self.next += 1;
        for (number, value) in states {
            self.changed.insert(*number, (*recoverable, value.clone()));
        }
        true
    }

    fn is_recoverable(&self) -> bool {
        self.changed.values().all(|(recoverable, _)| *recoverable)
    }

    /// What is brought along: the session as it began, and what changed since.
    fn data(&self, database: &str, language: &str) -> Vec<u8> {
        let text = |text: &str| [vec![text.len() as u8], utf16(text)].concat();
        let part = |database: &str, language: &str, states: Vec<u8>| {
            let part = [text(database), vec![0], text(language), states].concat();
            [&(part.len() as u32).to_le_bytes()[..], &part].concat()
        };
        let changed = self.changed.iter().flat_map(|(number, (_, value))| {
            let mut state = vec![*number, value.len() as u8];
            state.extend(value);
            state
        });
        [part("master", "us_english", self.initial.clone()), part(database, language, changed.collect())].concat()
    }
}

#[test]
fn a_session_goes_on_over_another_connection() {
    let fixture = Fixture::new();
    let mut watcher = fixture.client();
    watcher.run("CREATE DATABASE shop");
    let (mut client, mut kept, _) = Kept::log_in(&fixture, None);
    let answer = client.batch("SELECT 1");
    assert!(!kept.hear(&answer), "nothing has changed");
    let answer = client.batch(
        "USE shop; SET LANGUAGE Italiano; SET DATEFIRST 3; SET LOCK_TIMEOUT 1234; SET NOCOUNT ON; SET CONTEXT_INFO 0x0102; \
         SET TRANSACTION ISOLATION LEVEL SERIALIZABLE; SET ARITHABORT OFF",
    );
    assert!(kept.hear(&answer) && kept.is_recoverable());
    let answer = client.batch("SELECT @@DATEFIRST");
    assert!(!kept.hear(&answer), "it knows that");
    let session = client.scalar("SELECT @@SPID");
    let Value::SmallInt(session) = session else { panic!("{session:?}") };
    watcher.run(&format!("KILL {session}"));

    let (mut client, mut kept, tokens) = Kept::log_in(&fixture, Some(kept.data("shop", "Italiano")));
    assert!(errors(&tokens).is_empty(), "{tokens:?}");
    let state = |client: &mut Client| {
        client.scalar(
            "SELECT CONCAT(DB_NAME(), '|', @@LANGUAGE, '|', @@DATEFIRST, '|', @@LOCK_TIMEOUT, '|', \
             CONVERT(varchar(20), CONVERT(varbinary(2), CONTEXT_INFO()), 1), '|', transaction_isolation_level, '|', arithabort) \
             FROM sys.dm_exec_sessions WHERE session_id = @@SPID",
        )
    };
    assert_eq!(state(&mut client), Value::Str("shop|Italiano|3|1234|0x0102|4|0".into()));
    // A pool that gives the connection to somebody else begins with the login again.
    let answer = client.call(&[Call::name("sp_reset_connection")]);
    kept.hear(&answer);
    assert_eq!(state(&mut client), Value::Str("master|us_english|7|-1||2|1".into()));
}

#[test]
fn what_ends_with_a_session_keeps_it_from_being_recovered() {
    let fixture = Fixture::new();
    let (mut client, mut kept, _) = Kept::log_in(&fixture, None);
    client.run("CREATE TABLE dbo.t (id int)");
    for (begins, ends) in [
        ("BEGIN TRANSACTION; SET DATEFIRST 2", "COMMIT"),
        ("CREATE TABLE #t (id int)", "DROP TABLE #t"),
        ("CREATE PROCEDURE #p AS SELECT 1", "DROP PROCEDURE #p"),
        ("DECLARE c CURSOR GLOBAL FOR SELECT 1", "DEALLOCATE c"),
        ("EXEC sp_getapplock 'a', 'Exclusive', 'Session'", "EXEC sp_releaseapplock 'a', 'Session'"),
        ("EXEC sp_set_session_context 'a', 1", "EXEC sp_set_session_context 'a', NULL"),
        ("SET SHOWPLAN_TEXT ON", "SET SHOWPLAN_TEXT OFF"),
        ("DBCC TRACEON (3604)", "DBCC TRACEOFF (3604)"),
    ] {
        let answer = client.batch(begins);
        assert!(kept.hear(&answer) && !kept.is_recoverable(), "{begins}");
        let answer = client.batch(ends);
        assert!(kept.hear(&answer) && kept.is_recoverable(), "{ends}");
    }
    // A cursor of the driver's.
    let opened = client.call(&[Call::number(2).output("").text("SELECT id FROM dbo.t")]);
    assert!(kept.hear(&opened) && !kept.is_recoverable());
    // An answer that is cut short tells what it left behind, too.
    client.send_batch("BEGIN TRANSACTION; WAITFOR DELAY '01:00'");
    client.attention();
    kept.hear(&client.reply());
    assert!(!kept.is_recoverable());
}

#[test]
fn no_states_of_others_are_taken() {
    let fixture = Fixture::new();
    let (_client, mut kept, _) = Kept::log_in(&fixture, None);
    let refused = |kept: &Kept, database: &str, language: &str| {
        let (_, _, tokens) = Kept::log_in(&fixture, Some(kept.data(database, language)));
        errors(&tokens)
    };
    assert!(refused(&kept, "", "").is_empty());
    assert_eq!(refused(&kept, "nowhere", ""), [911]);
    assert_eq!(refused(&kept, "", "Klingon"), [2740]);
    kept.initial[3] ^= 0x40;
    kept.changed.insert(0, (true, vec![1, 2, 3]));
    assert_eq!(refused(&kept, "", ""), [4002]);
    let mut client = Client::connect(fixture.address());
    assert_eq!(errors(&client.try_log_in_recovering("sa", PASSWORD, vec![9; 7])), [4002]);
}
