//! Variables of scripts: what stands for `$(NAME)`.

use super::super::CommandError;
use super::ScriptError;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What `:setvar` and `-v` have set, in front of the environment's variables. Names are the same in any case.
#[derive(Debug, Default)]
pub struct Variables {
    /// By the name in upper case: the name as it was written, and the value.
    set: BTreeMap<String, (String, String)>,
    /// `-x`: `$(` means nothing.
    off: bool,
    /// Names in upper case that `:setvar` may not set.
    read_only: &'static [&'static str],
    /// Decides whether a variable, its name in upper case, may have a value.
    check: Option<fn(&str, &str) -> bool>,
    /// The environment's variables do not count.
    is_alone: bool,
}

impl Variables {
    /// What a command line says: `-v NAME=VALUE`, and `-x`.
    ///
    /// # Errors
    /// Something without a `=`, or without a name before it.
    pub fn new(given: &[String], off: bool) -> Result<Variables, CommandError> {
        let mut variables = Variables { off, ..Variables::default() };
        for given in given {
            let Some((name, value)) = given.split_once('=').filter(|(name, _)| !name.is_empty()) else {
                return Err(CommandError::Usage(format!("-v takes NAME=VALUE, not {given}")));
            };
            let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
            variables.set(name, Some(inner.unwrap_or(value).to_owned()));
        }
        Ok(variables)
    }

    /// The same, where `:setvar` refuses these names, which are in upper case.
    pub fn with_read_only(self, read_only: &'static [&'static str]) -> Variables {
        Variables { read_only, ..self }
    }

    /// The same, where `:setvar` refuses a value that this does not like; it gets the name in upper case.
    pub fn checked_by(self, check: fn(&str, &str) -> bool) -> Variables {
        Variables { check: Some(check), ..self }
    }

    /// The same without the environment's variables.
    pub fn without_environment(self) -> Variables {
        Variables { is_alone: true, ..self }
    }

    /// Whether `$(NAME)` is replaced at all.
    pub fn are_replaced(&self) -> bool {
        !self.off
    }

    /// Sets a variable, or forgets it.
    pub fn set(&mut self, name: &str, value: Option<String>) {
        let key = name.to_uppercase();
        match value {
            Some(value) => self.set.insert(key, (name.to_owned(), value)),
            None => self.set.remove(&key),
        };
    }

    /// Does what `:setvar` asks for.
    ///
    /// # Errors
    /// A variable that is read-only; a value that it cannot have.
    pub fn assign(&mut self, name: &str, value: Option<String>) -> Result<(), ScriptError> {
        let key = name.to_uppercase();
        if self.read_only.contains(&key.as_str()) {
            return Err(ScriptError::ReadOnly(name.to_owned()));
        }
        if let (Some(check), Some(value)) = (self.check, &value)
            && !check(&key, value)
        {
            return Err(ScriptError::Value { name: name.to_owned(), value: value.clone() });
        }
        self.set(name, value);
        Ok(())
    }

    /// A variable's value; that of the environment's where none is set.
    pub fn value(&self, name: &str) -> Option<String> {
        match self.set.get(&name.to_uppercase()) {
            Some((_, value)) => Some(value.clone()),
            None if self.is_alone => None,
            None => std::env::var(name).ok(),
        }
    }

    /// What has been set under this name; the environment's variable does not count.
    pub fn set_value(&self, name: &str) -> Option<&str> {
        self.set.get(&name.to_uppercase()).map(|(_, value)| value.as_str())
    }

    /// All that are set, a line each.
    pub fn list(&self) -> String {
        let mut list = String::new();
        for (name, value) in self.set.values() {
            let line_end = if list.is_empty() { "" } else { "\n" };
            write!(list, "{line_end}{name} = \"{}\"", value.replace('"', "\"\"")).unwrap_or_default();
        }
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_the_same_in_any_case_and_stand_before_the_environment() {
        let given = ["Path=a b".to_owned(), "q=\"x=y\"".to_owned()];
        let mut variables = Variables::new(&given, false).expect("they are well formed");
        assert_eq!(variables.value("PATH").as_deref(), Some("a b"));
        assert_eq!(variables.value("Q").as_deref(), Some("x=y"));
        assert_eq!(variables.list(), "Path = \"a b\"\nq = \"x=y\"");
        variables.set("path", None);
        assert_eq!(variables.value("PATH"), std::env::var("PATH").ok());
        assert_eq!(variables.value("no such variable"), None);
        assert!(Variables::new(&["x".to_owned()], false).is_err());
        assert_eq!(Variables::default().without_environment().value("PATH"), None);
    }

    #[test]
    fn a_read_only_variable_is_not_assigned() {
        let mut variables = Variables::default().with_read_only(&["SQLCMDUSER"]);
        variables.set("SQLCMDUSER", Some("sa".to_owned()));
        assert_eq!(
            variables.assign("SqlCmdUser", None).map_err(|error| error.to_string()),
            Err("The scripting variable: 'SqlCmdUser' is read-only".to_owned())
        );
        assert_eq!(variables.assign("other", Some("1".to_owned())), Ok(()));
        assert_eq!((variables.set_value("sqlcmduser"), variables.set_value("OTHER")), (Some("sa"), Some("1")));
    }
}
