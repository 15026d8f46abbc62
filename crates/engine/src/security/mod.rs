//! Who may do what: logins and server roles in master's catalog, users and roles in each database's.
//!
//! ```text
//!   master's catalog     sa, logins, server roles  --sid-->  users, roles    a database's catalog
//!                              \                               /
//!                               SecurityToken: who a session is, and all its roles
//!                                          |
//!                          decides on (permission, securable), see `permission`
//! ```
//!
//! # Invariants
//! - A principal is one stored object, with its memberships and the permissions it was granted: it changes in one step, in a
//!   transaction, and is as durable as a table's definition.
//! - What every server and database has from its beginning is in no catalog until something of it changes.
//! - A permission is kept under an object's number. Numbers are given again, so whoever drops an object removes its
//!   permissions in the same transaction.
//! - A password is kept as an Argon2id PHC string, and leaves this module neither whole nor hashed. What is kept in memory of one
//!   that was looked at is a tag that says nothing without a key of this process.

mod change;
mod failures;
mod login_queue;
mod logins;
mod password;
mod permission;
mod principal;
mod token;
mod verified;

pub(crate) use logins::LoginGate;
pub use logins::{LoginFailure, LoginFailureReason, LoginPrincipal};
pub use password::PasswordCost;
pub use permission::{Class, Grant, GrantState, Permission};
pub(crate) use principal::Level;
pub use principal::{
    DB_ACCESSADMIN, DB_BACKUPOPERATOR, DB_DATAREADER, DB_DATAWRITER, DB_DDLADMIN, DB_DENYDATAREADER, DB_DENYDATAWRITER,
    DB_OWNER, DB_SECURITYADMIN, DBCREATOR, DBO, GUEST, LoginDetails, PROCESSADMIN, PUBLIC_ROLE, PUBLIC_SERVER_ROLE,
    Principal, PrincipalKind, Principals, SA, SECURITYADMIN, SERVERADMIN, SYSADMIN,
};
pub use token::{Securable, SecurityToken, is_member};
