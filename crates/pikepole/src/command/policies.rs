//! Policies on the command line: `--policies SET` and `--policy NAME=VALUE`.

use super::CommandError;
use pikepole_lab::stress::PolicySet;

/// A named set of policies.
#[derive(Clone, Copy, clap::ValueEnum)]
pub enum SetChoice {
    /// Each point as the classic engine has it: spinlocks, latches, one log writer that writes for commits in blocks of 60 KB
    Classic,
    /// The defaults
    Best,
}

impl SetChoice {
    /// The set as the load driver names it.
    pub fn set(self) -> PolicySet {
        match self {
            SetChoice::Classic => PolicySet::Classic,
            SetChoice::Best => PolicySet::Best,
        }
    }
}

/// The policies of a start: those of a set first, so that `NAME=VALUE` arguments stand against it.
///
/// # Errors
/// An argument that is no `NAME=VALUE`.
pub fn policies(set: Option<SetChoice>, arguments: &[String]) -> Result<Vec<(String, String)>, CommandError> {
    let mut pairs: Vec<_> = set.into_iter().map(|set| set.set().policy()).collect();
    for argument in arguments {
        let Some((name, value)) = argument.split_once('=') else {
            return Err(CommandError::Usage(format!("--policy takes NAME=VALUE, not `{argument}`")));
        };
        pairs.push((name.trim().to_string(), value.trim().to_string()));
    }
    Ok(pairs)
}
