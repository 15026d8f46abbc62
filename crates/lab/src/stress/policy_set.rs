//! Policies that belong together, so that whole ways of doing things can be compared in one call.

/// A named set of policies; the server knows the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PolicySet {
    /// Each serialisation point as the classic engine has it.
    Classic,
    /// Each as it is by default.
    Best,
}

impl PolicySet {
    /// Every one, the classic way first.
    pub const ALL: [PolicySet; 2] = [PolicySet::Classic, PolicySet::Best];

    /// The name on the command line, in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            PolicySet::Classic => "classic",
            PolicySet::Best => "best",
        }
    }

    /// The policy that sets all policies of the set.
    pub fn policy(self) -> (String, String) {
        ("POLICIES".to_owned(), self.name().to_owned())
    }
}
