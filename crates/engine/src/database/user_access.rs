//! Who may be in a database: everybody, its owners and the server's administrators, or one session at a time.
//!
//! ```text
//!   sessions        how many are in: one for each session there, and one for each part of a transaction there
//!   sole_user       under SINGLE_USER, the session that was let in last; it counts while `sessions` is above zero
//! ```
//! Under SINGLE_USER whoever comes into an empty database has it, and comes and goes, until it is empty again.

use std::sync::Arc;

use pikepole_types::SqlError;
use serde::{Deserialize, Serialize};

use super::{Database, lock};

/// SINGLE_USER, RESTRICTED_USER, MULTI_USER.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum UserAccess {
    /// Everybody.
    #[default]
    Multi,
    /// One session at a time.
    Single,
    /// Who controls the database, or may alter every one.
    Restricted,
}

impl UserAccess {
    /// As `sys.databases` spells it.
    pub fn name(self) -> &'static str {
        match self {
            UserAccess::Multi => "MULTI_USER",
            UserAccess::Single => "SINGLE_USER",
            UserAccess::Restricted => "RESTRICTED_USER",
        }
    }

    /// As `sys.databases` numbers it.
    pub fn number(self) -> i32 {
        match self {
            UserAccess::Multi => 0,
            UserAccess::Single => 1,
            UserAccess::Restricted => 2,
        }
    }
}

/// A place in a database for a session that has been let in and has not entered by itself yet.
#[derive(Debug)]
pub struct Admission(Arc<Database>);

impl Drop for Admission {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl Database {
    /// Lets a session in.
    ///
    /// # Errors
    /// 924 when another one is in a database for one.
    pub fn admit(self: &Arc<Self>, session_id: i32) -> Result<Admission, SqlError> {
        // Held until the session is counted: of two that come at once one is the first.
        let mut sole_user = lock(&self.sole_user);
        if self.options().user_access == UserAccess::Single && self.sessions() > 0 && *sole_user != session_id {
            return Err(SqlError::database_single_user(self.name()));
        }
        *sole_user = session_id;
        self.enter();
        Ok(Admission(Arc::clone(self)))
    }

    /// Whether the database is for one session, and that is another one than this.
    pub fn is_of_another(&self, session_id: i32) -> bool {
        let sole_user = lock(&self.sole_user);
        self.options().user_access == UserAccess::Single && self.sessions() > 0 && *sole_user != session_id
    }

    /// The session that a database for one belongs to while it is in there.
    pub fn set_sole_user(&self, session_id: i32) {
        *lock(&self.sole_user) = session_id;
    }
}
