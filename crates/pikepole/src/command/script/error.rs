//! Mistakes in a script, apart from its T-SQL.

use super::super::CommandError;

/// A reason why a script cannot be read on.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// Something behind a colon is no command, or not well formed.
    #[error("Syntax error at line {line} near command '{command}'.")]
    Syntax {
        /// The line, counted from 1.
        line: u32,
        /// The command, with its colon.
        command: String,
    },
    /// A variable without a value.
    #[error("'{0}' scripting variable not defined.")]
    Undefined(String),
    /// `:setvar` of a variable that the command line or the connection sets.
    #[error("The scripting variable: '{0}' is read-only")]
    ReadOnly(String),
    /// `:setvar` of a variable that rules the tool, with a value that it cannot have.
    #[error("The environment variable: '{name}' has invalid value: '{value}'.")]
    Value {
        /// The variable.
        name: String,
        /// The value.
        value: String,
    },
    /// A file that `:r` names cannot be read.
    #[error("{name}: {reason}")]
    File {
        /// The file.
        name: String,
        /// The reason.
        reason: String,
    },
    /// A file that `:r` names is no text.
    #[error("{0}")]
    Encoding(String),
    /// Scripts that read each other.
    #[error("{name} is read by scripts that read each other, {depth} deep")]
    Depth {
        /// The script that is not read any more.
        name: String,
        /// The number of scripts under way.
        depth: usize,
    },
}

impl From<ScriptError> for CommandError {
    fn from(error: ScriptError) -> CommandError {
        CommandError::Usage(error.to_string())
    }
}
