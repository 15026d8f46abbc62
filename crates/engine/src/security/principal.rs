//! Principals: logins and server roles, users and database roles, as they are stored and found.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::permission::{Class, Grant};
use pikepole_types::{Language, SqlError};
use serde::{Deserialize, Serialize};

/// The id of the login `sa`.
pub const SA: i32 = 1;
/// The id of the server role that every login is in.
pub const PUBLIC_SERVER_ROLE: i32 = 2;
/// The id of the server role `sysadmin`.
pub const SYSADMIN: i32 = 3;
/// The id of the database role that every user is in.
pub const PUBLIC_ROLE: i32 = 0;
/// The id of the user `dbo`.
pub const DBO: i32 = 1;
/// The id of the user `guest`.
pub const GUEST: i32 = 2;
/// The id of the server role `securityadmin`.
pub const SECURITYADMIN: i32 = 4;
/// The id of the server role `serveradmin`.
pub const SERVERADMIN: i32 = 5;
/// The id of the server role `processadmin`.
pub const PROCESSADMIN: i32 = 7;
/// The id of the server role `dbcreator`.
pub const DBCREATOR: i32 = 9;
/// The id of the database role `db_owner`.
pub const DB_OWNER: i32 = 16_384;
/// The id of the database role `db_accessadmin`.
pub const DB_ACCESSADMIN: i32 = 16_385;
/// The id of the database role `db_securityadmin`.
pub const DB_SECURITYADMIN: i32 = 16_386;
/// The id of the database role `db_ddladmin`.
pub const DB_DDLADMIN: i32 = 16_387;
/// The id of the database role `db_backupoperator`.
pub const DB_BACKUPOPERATOR: i32 = 16_389;
/// The id of the database role `db_datareader`.
pub const DB_DATAREADER: i32 = 16_390;
/// The id of the database role `db_datawriter`.
pub const DB_DATAWRITER: i32 = 16_391;
/// The id of the database role `db_denydatareader`.
pub const DB_DENYDATAREADER: i32 = 16_392;
/// The id of the database role `db_denydatawriter`.
pub const DB_DENYDATAWRITER: i32 = 16_393;
/// The first id of logins and server roles that a user makes.
const SERVER_ID_FIRST: i32 = 256;
/// The first id of users and roles that a user makes.
const DATABASE_ID_FIRST: i32 = 5;

/// Roles that every server has, with their ids.
const SERVER_ROLES: &[(i32, &str)] = &[
    (PUBLIC_SERVER_ROLE, "public"),
    (SYSADMIN, "sysadmin"),
    (SECURITYADMIN, "securityadmin"),
    (SERVERADMIN, "serveradmin"),
    (PROCESSADMIN, "processadmin"),
    (DBCREATOR, "dbcreator"),
];

/// Roles that every database has, with their ids.
const DATABASE_ROLES: &[(i32, &str)] = &[
    (PUBLIC_ROLE, "public"),
    (DB_OWNER, "db_owner"),
    (DB_ACCESSADMIN, "db_accessadmin"),
    (DB_SECURITYADMIN, "db_securityadmin"),
    (DB_DDLADMIN, "db_ddladmin"),
    (DB_BACKUPOPERATOR, "db_backupoperator"),
    (DB_DATAREADER, "db_datareader"),
    (DB_DATAWRITER, "db_datawriter"),
    (DB_DENYDATAREADER, "db_denydatareader"),
    (DB_DENYDATAWRITER, "db_denydatawriter"),
];

/// Users that every database has, with their ids.
const DATABASE_USERS: &[(i32, &str)] = &[(DBO, "dbo"), (GUEST, "guest"), (3, "INFORMATION_SCHEMA"), (4, "sys")];

/// The security id of `sa`.
pub(crate) const SA_SID: &[u8] = &[1];

/// Whether principals are a server's or a database's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Server,
    Database,
}

/// What a principal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PrincipalKind {
    /// A login with a password.
    Login,
    /// A server role.
    ServerRole,
    /// A user of a database.
    User,
    /// A role of a database.
    Role,
}

impl PrincipalKind {
    pub(crate) fn level(self) -> Level {
        match self {
            PrincipalKind::Login | PrincipalKind::ServerRole => Level::Server,
            PrincipalKind::User | PrincipalKind::Role => Level::Database,
        }
    }

    /// What kind of thing it is to permissions on it.
    pub fn class(self) -> Class {
        match self {
            PrincipalKind::Login => Class::Login,
            PrincipalKind::ServerRole => Class::ServerRole,
            PrincipalKind::User => Class::User,
            PrincipalKind::Role => Class::Role,
        }
    }

    /// What error texts call it.
    pub fn name(self) -> &'static str {
        match self {
            PrincipalKind::Login => "login",
            PrincipalKind::ServerRole => "server role",
            PrincipalKind::User => "user",
            PrincipalKind::Role => "role",
        }
    }

    /// Whether it has members.
    pub fn is_role(self) -> bool {
        matches!(self, PrincipalKind::ServerRole | PrincipalKind::Role)
    }
}

/// What only logins have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoginDetails {
    /// The Argon2id PHC string; none: nobody can log in with it.
    pub(crate) password: Option<String>,
    /// ALTER LOGIN ... DISABLE.
    pub disabled: bool,
    /// The database of its sessions that ask for none.
    pub default_database: String,
    /// The language of its sessions that ask for none, by its name.
    #[serde(default = "english")]
    pub default_language: String,
    /// CHECK_POLICY, which is kept and asks nothing of a password here.
    pub check_policy: bool,
    /// CHECK_EXPIRATION, which is kept; passwords do not expire here.
    pub check_expiration: bool,
    /// When the password was set, in microseconds since 1970.
    pub password_set_us: u64,
}

/// The language of logins that say none.
fn english() -> String {
    Language::ENGLISH.name.to_owned()
}

impl Default for LoginDetails {
    fn default() -> Self {
        LoginDetails {
            password: None,
            disabled: false,
            default_database: crate::server::MASTER.to_owned(),
            default_language: english(),
            check_policy: true,
            check_expiration: false,
            password_set_us: 0,
        }
    }
}

impl LoginDetails {
    /// Sets the PHC string of a new password; None leaves the password as it is.
    pub fn set_password(&mut self, hash: Option<String>) {
        if hash.is_some() {
            self.password = hash;
            self.password_set_us = crate::database::now_us();
        }
    }

    /// Whether it has a password.
    pub fn has_password(&self) -> bool {
        self.password.is_some()
    }
}

/// A login, user or role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Principal {
    /// Its id among the server's principals, or among the database's.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: PrincipalKind,
    /// What makes a login and a user the same; empty for database roles and users without a login.
    pub sid: Vec<u8>,
    /// Who owns a role; 1 otherwise.
    pub owner: i32,
    /// Where a user's names without a schema are looked up.
    #[serde(default)]
    pub default_schema: Option<String>,
    /// Set for logins.
    #[serde(default)]
    pub login: Option<LoginDetails>,
    /// The roles that it is in, `public` left out.
    #[serde(default)]
    pub roles: Vec<i32>,
    /// What it was granted and denied.
    #[serde(default)]
    pub grants: Vec<Grant>,
    /// When it was created, in microseconds since 1970.
    pub created_us: u64,
    /// When it changed last, in microseconds since 1970.
    pub modified_us: u64,
}

impl Principal {
    /// A principal of which nothing is known but what it must have.
    pub(crate) fn new(id: i32, name: &str, kind: PrincipalKind) -> Principal {
        Principal {
            id,
            name: name.to_owned(),
            kind,
            sid: Vec::new(),
            owner: 1,
            default_schema: None,
            login: None,
            roles: Vec::new(),
            grants: Vec::new(),
            created_us: 0,
            modified_us: 0,
        }
    }

    /// Makes a login of it: a new security id, and what a login has by default.
    ///
    /// # Errors
    /// 15465 when the machine gives no random bytes.
    pub fn become_login(&mut self) -> Result<&mut LoginDetails, SqlError> {
        self.sid = super::password::random_bytes()?;
        Ok(self.login.insert(LoginDetails::default()))
    }

    /// Whether every server or database has it.
    pub fn is_fixed(&self) -> bool {
        match self.kind.level() {
            Level::Server => self.id < SERVER_ID_FIRST,
            Level::Database => self.id < DATABASE_ID_FIRST || self.id >= DB_OWNER && self.id < DB_OWNER + 256,
        }
    }
}

/// The principals of a server or a database at one moment.
#[derive(Debug, Clone)]
pub struct Principals {
    by_id: BTreeMap<i32, Arc<Principal>>,
    names: BTreeMap<String, i32>,
    level: Level,
}

impl Principals {
    /// What every server or database has.
    pub(crate) fn built_in(level: Level) -> Principals {
        let mut principals = Principals { by_id: BTreeMap::new(), names: BTreeMap::new(), level };
        let (roles, kind) = match level {
            Level::Server => (SERVER_ROLES, PrincipalKind::ServerRole),
            Level::Database => (DATABASE_ROLES, PrincipalKind::Role),
        };
        for (id, name) in roles {
            principals.put(Principal::new(*id, name, kind));
        }
        match level {
            Level::Server => principals.put(sa()),
            Level::Database => {
                for (id, name) in DATABASE_USERS {
                    let sid = if *id == DBO { SA_SID.to_vec() } else { Vec::new() };
                    let schema = Some(if *id == GUEST { "guest" } else { *name }.to_owned());
                    let user = Principal::new(*id, name, PrincipalKind::User);
                    principals.put(Principal { sid, default_schema: schema, ..user });
                }
            }
        }
        principals
    }

    /// The principal of this id.
    pub fn get(&self, id: i32) -> Option<&Arc<Principal>> {
        self.by_id.get(&id)
    }

    /// The principal of this name, whatever its case.
    pub fn find(&self, name: &str) -> Option<&Arc<Principal>> {
        self.by_id.get(self.names.get(&name.to_lowercase())?)
    }

    /// The principal with this security id, which is not empty.
    pub fn find_sid(&self, sid: &[u8]) -> Option<&Arc<Principal>> {
        self.by_id.values().find(|principal| !sid.is_empty() && principal.sid == sid)
    }

    /// All of them, by id.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Principal>> {
        self.by_id.values()
    }

    /// An id that none has.
    pub(crate) fn free_id(&self) -> i32 {
        let first = match self.level {
            Level::Server => SERVER_ID_FIRST,
            Level::Database => DATABASE_ID_FIRST,
        };
        let free = (first..).find(|id| !self.by_id.contains_key(id));
        free.expect("there are fewer principals than ids")
    }

    pub(crate) fn put(&mut self, principal: Principal) {
        self.remove(principal.id);
        self.names.insert(principal.name.to_lowercase(), principal.id);
        self.by_id.insert(principal.id, Arc::new(principal));
    }

    pub(crate) fn remove(&mut self, id: i32) {
        if let Some(principal) = self.by_id.remove(&id) {
            self.names.remove(&principal.name.to_lowercase());
        }
    }
}

fn sa() -> Principal {
    let principal = Principal::new(SA, "sa", PrincipalKind::Login);
    Principal { sid: SA_SID.to_vec(), login: Some(LoginDetails::default()), roles: vec![SYSADMIN], ..principal }
}
