//! Messages that users have added to the server: `sp_addmessage`. They are in master.

use serde::{Deserialize, Serialize};

/// A message, by its number, in one language or more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserMessage {
    /// Its number, above 50000.
    pub number: i32,
    /// How severe it is, in every language.
    pub severity: u8,
    /// `@with_log`: it is written to the server's log whenever it is raised.
    pub is_logged: bool,
    /// What it says, by the number of the language; us_english is always among them.
    pub texts: Vec<(i16, String)>,
}

impl UserMessage {
    /// The number of us_english.
    pub const ENGLISH: i16 = 1033;

    /// What it says in a language, or else in us_english.
    pub fn text(&self, language: i16) -> Option<&str> {
        let of = |wanted: i16| self.texts.iter().find(|(of, _)| *of == wanted).map(|(_, text)| text.as_str());
        of(language).or_else(|| of(UserMessage::ENGLISH))
    }
}
