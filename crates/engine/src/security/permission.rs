//! Permissions: what may be granted on what, and which permission implies which.
//!
//! ```text
//!   SELECT on an object  <--  CONTROL on it
//!        ^                       ^
//!   SELECT on its schema <--  CONTROL on it
//!        ^                       ^
//!   SELECT on the database <- CONTROL on it  <--  CONTROL SERVER
//! ```
//!
//! A column of an object may have SELECT, UPDATE, REFERENCES and UNMASK of its own. What a principal was told of a column goes before what it
//! was told of the object, and a GRANT of a column before anybody's DENY of the object.
//!
//! Who asks for a permission walks from it along the arrows, see [`covering`] and [`covering_above`]. A DENY anywhere on the
//! way denies; otherwise a GRANT anywhere on the way grants.

use serde::{Deserialize, Serialize};

/// What a permission is granted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Class {
    /// The server.
    Server,
    /// A login.
    Login,
    /// A server role.
    ServerRole,
    /// A database.
    Database,
    /// A user.
    User,
    /// A database role.
    Role,
    /// A schema.
    Schema,
    /// A table, view or procedure.
    Object,
    /// A type that users made.
    Type,
}

impl Class {
    /// As GRANT ... ON class:: spells it, and `class_desc` but for objects and principals.
    pub fn name(self) -> &'static str {
        match self {
            Class::Server => "SERVER",
            Class::Login => "LOGIN",
            Class::ServerRole => "SERVER ROLE",
            Class::Database => "DATABASE",
            Class::User => "USER",
            Class::Role => "ROLE",
            Class::Schema => "SCHEMA",
            Class::Object => "OBJECT",
            Class::Type => "TYPE",
        }
    }

    /// `class` and `class_desc` of the views of permissions.
    pub fn shown(self) -> (u8, &'static str) {
        match self {
            Class::Server => (100, "SERVER"),
            Class::Login | Class::ServerRole => (101, "SERVER_PRINCIPAL"),
            Class::Database => (0, "DATABASE"),
            Class::User | Class::Role => (4, "DATABASE_PRINCIPAL"),
            Class::Schema => (3, "SCHEMA"),
            Class::Object => (1, "OBJECT_OR_COLUMN"),
            Class::Type => (6, "TYPE"),
        }
    }

    /// Whether it is granted to logins rather than to users.
    pub fn is_of_server(self) -> bool {
        matches!(self, Class::Server | Class::Login | Class::ServerRole)
    }
}

macro_rules! permissions {
    ($($name:ident $text:literal $code:literal [$($class:ident)*];)*) => {
        /// A permission.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Permission {
            $(#[doc = $text] $name),*
        }

        impl Permission {
            /// Every permission.
            pub const ALL: &[Permission] = &[$(Permission::$name),*];

            /// Its name.
            pub fn name(self) -> &'static str {
                match self { $(Permission::$name => $text),* }
            }

            /// Its type's code, as the views show it.
            pub fn code(self) -> &'static str {
                match self { $(Permission::$name => $code),* }
            }

            /// What it can be granted on.
            pub fn classes(self) -> &'static [Class] {
                match self { $(Permission::$name => &[$(Class::$class),*]),* }
            }
        }
    };
}

permissions! {
    Select "SELECT" "SL" [Object Schema Database];
    Insert "INSERT" "IN" [Object Schema Database];
    Update "UPDATE" "UP" [Object Schema Database];
    Delete "DELETE" "DL" [Object Schema Database];
    Execute "EXECUTE" "EX" [Object Type Schema Database];
    References "REFERENCES" "RF" [Object Type Schema Database];
    Alter "ALTER" "AL" [Object Schema Database User Role Login ServerRole];
    Control "CONTROL" "CL" [Object Type Schema Database User Role Login ServerRole];
    Unmask "UNMASK" "UMSK" [Object Schema Database];
    ViewDefinition "VIEW DEFINITION" "VW" [Object Type Schema Database User Role Login ServerRole];
    TakeOwnership "TAKE OWNERSHIP" "TO" [Object Type Schema Database Role ServerRole];
    Impersonate "IMPERSONATE" "IM" [User Login];
    Connect "CONNECT" "CO" [Database];
    CreateTable "CREATE TABLE" "CRTB" [Database];
    CreateView "CREATE VIEW" "CRVW" [Database];
    CreateProcedure "CREATE PROCEDURE" "CRPR" [Database];
    CreateFunction "CREATE FUNCTION" "CRFN" [Database];
    CreateType "CREATE TYPE" "CRTY" [Database];
    CreateSynonym "CREATE SYNONYM" "CRSN" [Database];
    CreateSchema "CREATE SCHEMA" "CRSM" [Database];
    CreateRole "CREATE ROLE" "CRRL" [Database];
    AlterAnySchema "ALTER ANY SCHEMA" "ALSM" [Database];
    AlterAnyUser "ALTER ANY USER" "ALUS" [Database];
    AlterAnyRole "ALTER ANY ROLE" "ALRL" [Database];
    AlterAnyMask "ALTER ANY MASK" "AAMK" [Database];
    AlterAnySecurityPolicy "ALTER ANY SECURITY POLICY" "ALSP" [Database];
    BackupDatabase "BACKUP DATABASE" "BADB" [Database];
    BackupLog "BACKUP LOG" "BALO" [Database];
    Checkpoint "CHECKPOINT" "CP" [Database];
    Showplan "SHOWPLAN" "SPLN" [Database];
    ViewDatabaseState "VIEW DATABASE STATE" "VWDS" [Database];
    ConnectSql "CONNECT SQL" "COSQ" [Server];
    ControlServer "CONTROL SERVER" "CL" [Server];
    ViewServerState "VIEW SERVER STATE" "VWSS" [Server];
    AlterServerState "ALTER SERVER STATE" "ALSS" [Server];
    AlterTrace "ALTER TRACE" "ALTR" [Server];
    AlterSettings "ALTER SETTINGS" "ALST" [Server];
    AlterAnyLogin "ALTER ANY LOGIN" "ALLG" [Server];
    AlterAnyServerRole "ALTER ANY SERVER ROLE" "ALSR" [Server];
    CreateServerRole "CREATE SERVER ROLE" "CRSR" [Server];
    AlterAnyDatabase "ALTER ANY DATABASE" "ALDB" [Server];
    CreateAnyDatabase "CREATE ANY DATABASE" "CRDB" [Server];
    ConnectAnyDatabase "CONNECT ANY DATABASE" "CADB" [Server];
    ViewAnyDatabase "VIEW ANY DATABASE" "VWDB" [Server];
    ViewAnyDefinition "VIEW ANY DEFINITION" "VWAD" [Server];
    AlterAnyConnection "ALTER ANY CONNECTION" "ALCO" [Server];
    AdministerBulkOperations "ADMINISTER BULK OPERATIONS" "ADBO" [Server];
    ImpersonateAnyLogin "IMPERSONATE ANY LOGIN" "IAL" [Server];
    Shutdown "SHUTDOWN" "SHDN" [Server];
}

impl Permission {
    /// Whether it can be granted on single columns of an object.
    pub fn is_of_columns(self) -> bool {
        matches!(self, Permission::Select | Permission::Update | Permission::References | Permission::Unmask)
    }

    /// The permission of this name, in upper case, on something of this class.
    pub fn find(name: &str, class: Class) -> Option<Permission> {
        let name = match name {
            "EXEC" => "EXECUTE",
            "CREATE PROC" => "CREATE PROCEDURE",
            name => name,
        };
        Permission::ALL.iter().copied().find(|p| p.name() == name && p.classes().contains(&class))
    }

    /// The class that a permission granted without ON is of.
    pub fn class_without_on(name: &str) -> Option<Class> {
        [Class::Database, Class::Server].into_iter().find(|class| Permission::find(name, *class).is_some())
    }
}

impl Permission {
    /// The permission on the same thing that implies this one.
    pub fn implied_by(self, class: Class) -> Option<Permission> {
        covering(class, self)
    }

    /// The permission on what the thing is in that implies this one, and what that is.
    pub fn implied_from_above(self, class: Class) -> Option<(Class, Permission)> {
        let above = match class {
            Class::Server => return None,
            Class::Login | Class::ServerRole | Class::Database => Class::Server,
            Class::User | Class::Role | Class::Schema => Class::Database,
            Class::Object | Class::Type => Class::Schema,
        };
        covering_above(class, self).map(|permission| (above, permission))
    }
}

/// The permission on the same thing that implies this one.
pub(crate) fn covering(class: Class, permission: Permission) -> Option<Permission> {
    use Permission as P;
    Some(match (class, permission) {
        (Class::Server, P::ControlServer) => return None,
        (Class::Server, P::CreateAnyDatabase) => P::AlterAnyDatabase,
        (Class::Server, P::CreateServerRole) => P::AlterAnyServerRole,
        (Class::Server, P::ViewServerState) => P::AlterServerState,
        (Class::Server, P::ViewAnyDatabase) => P::ViewAnyDefinition,
        (Class::Server, _) => P::ControlServer,
        (_, P::Control) => return None,
        (Class::Database, P::CreateSchema) => P::AlterAnySchema,
        (Class::Database, P::CreateRole) => P::AlterAnyRole,
        (
            Class::Database,
            P::CreateTable
            | P::CreateView
            | P::CreateProcedure
            | P::CreateFunction
            | P::CreateType
            | P::CreateSynonym
            | P::AlterAnySchema
            | P::AlterAnyUser
            | P::AlterAnyRole,
        ) => P::Alter,
        _ => P::Control,
    })
}

/// The permission on what the thing is in that implies this one.
pub(crate) fn covering_above(class: Class, permission: Permission) -> Option<Permission> {
    use Permission as P;
    Some(match (class, permission) {
        (Class::Server, _) => return None,
        (Class::Login, P::Alter) => P::AlterAnyLogin,
        (Class::Login, P::Impersonate) => P::ImpersonateAnyLogin,
        (Class::ServerRole, P::Alter) => P::AlterAnyServerRole,
        (Class::Login | Class::ServerRole, P::ViewDefinition) => P::ViewAnyDefinition,
        (Class::Login | Class::ServerRole, _) => P::ControlServer,
        (Class::Database, P::Connect) => P::ConnectAnyDatabase,
        (Class::Database, P::ViewDatabaseState) => P::ViewServerState,
        (Class::Database, P::Showplan) => P::AlterTrace,
        (Class::Database, P::ViewDefinition) => P::ViewAnyDefinition,
        (Class::Database, P::Alter) => P::AlterAnyDatabase,
        (Class::Database, _) => P::ControlServer,
        (Class::User, P::Alter) => P::AlterAnyUser,
        (Class::Role, P::Alter) => P::AlterAnyRole,
        (Class::User | Class::Role, P::ViewDefinition) => P::ViewDefinition,
        (Class::User | Class::Role, _) => P::Control,
        (Class::Schema, P::Alter) => P::AlterAnySchema,
        (Class::Schema | Class::Object | Class::Type, P::TakeOwnership) => P::Control,
        (Class::Schema | Class::Object | Class::Type, same) => same,
    })
}

/// What GRANT, DENY and REVOKE leave behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum GrantState {
    /// DENY.
    Deny,
    /// GRANT.
    Grant,
    /// GRANT ... WITH GRANT OPTION.
    GrantWithGrantOption,
    /// REVOKE of a column: what the principal was granted on the object does not hold for it.
    Revoke,
}

impl GrantState {
    /// Whether it is a GRANT.
    pub fn grants(self) -> bool {
        matches!(self, GrantState::Grant | GrantState::GrantWithGrantOption)
    }

    /// `state` and `state_desc` of the views of permissions.
    pub fn shown(self) -> (&'static str, &'static str) {
        match self {
            GrantState::Deny => ("D", "DENY"),
            GrantState::Grant => ("G", "GRANT"),
            GrantState::GrantWithGrantOption => ("W", "GRANT_WITH_GRANT_OPTION"),
            GrantState::Revoke => ("R", "REVOKE"),
        }
    }
}

/// A permission that a principal was granted or denied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// What kind of thing it is on.
    pub class: Class,
    /// The thing's number; zero for the server and the database.
    pub major: i32,
    /// The number of the object's column that it is on, from one; zero: the whole thing.
    #[serde(default, skip_serializing_if = "is_whole")]
    pub column: i32,
    /// The permission.
    pub permission: Permission,
    /// Granted or denied.
    pub state: GrantState,
    /// The principal that did it.
    pub grantor: i32,
}

fn is_whole(column: &i32) -> bool {
    *column == 0
}

/// What a fixed role may do, and what it may not, on its server or database.
pub(crate) fn of_fixed_role(class: Class, role: i32) -> (&'static [Permission], &'static [Permission]) {
    use Permission as P;
    match (class, role) {
        (Class::Server, super::PUBLIC_SERVER_ROLE) => (&[P::ConnectSql, P::ViewAnyDatabase], &[]),
        (Class::Server, super::SYSADMIN) => (&[P::ControlServer], &[]),
        (Class::Server, super::SECURITYADMIN) => (&[P::AlterAnyLogin], &[]),
        (Class::Server, super::SERVERADMIN) => (&[P::AlterSettings, P::AlterServerState, P::Shutdown], &[]),
        (Class::Server, super::PROCESSADMIN) => (&[P::AlterAnyConnection, P::AlterServerState], &[]),
        (Class::Server, super::DBCREATOR) => (&[P::AlterAnyDatabase], &[]),
        (Class::Database, super::DB_OWNER) => (&[P::Control], &[]),
        (Class::Database, super::DB_ACCESSADMIN) => (&[P::AlterAnyUser, P::CreateSchema, P::Connect], &[]),
        (Class::Database, super::DB_SECURITYADMIN) => (&[P::AlterAnyRole, P::CreateSchema, P::ViewDefinition], &[]),
        (Class::Database, super::DB_DDLADMIN) => (
            &[
                P::CreateTable,
                P::CreateView,
                P::CreateProcedure,
                P::CreateFunction,
                P::CreateType,
                P::CreateSynonym,
                P::AlterAnySchema,
                P::References,
                P::Checkpoint,
                P::ViewDefinition,
            ],
            &[],
        ),
        (Class::Database, super::DB_BACKUPOPERATOR) => (&[P::BackupDatabase, P::BackupLog, P::Checkpoint], &[]),
        (Class::Database, super::DB_DATAREADER) => (&[P::Select], &[]),
        (Class::Database, super::DB_DATAWRITER) => (&[P::Insert, P::Update, P::Delete], &[]),
        (Class::Database, super::DB_DENYDATAREADER) => (&[], &[P::Select]),
        (Class::Database, super::DB_DENYDATAWRITER) => (&[], &[P::Insert, P::Update, P::Delete]),
        _ => (&[], &[]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_up_ends_at_control_of_the_server() {
        for permission in Permission::ALL {
            for class in permission.classes() {
                let (mut class, mut permission, mut steps) = (*class, *permission, 0);
                loop {
                    assert!(permission.classes().contains(&class), "{permission:?} on {class:?}");
                    assert!(steps < 10, "{permission:?} on {class:?} goes in a circle");
                    steps += 1;
                    (class, permission) = match (covering(class, permission), covering_above(class, permission)) {
                        (Some(covering), _) => (class, covering),
                        (None, Some(above)) => (parent(class), above),
                        (None, None) => break,
                    };
                }
                assert_eq!((class, permission), (Class::Server, Permission::ControlServer));
            }
        }
    }

    #[test]
    fn what_covers_from_above_can_be_granted_there() {
        for permission in Permission::ALL {
            for class in permission.classes() {
                if let Some(above) = covering_above(*class, *permission) {
                    assert!(above.classes().contains(&parent(*class)), "{permission:?} on {class:?}: {above:?}");
                }
            }
        }
    }

    fn parent(class: Class) -> Class {
        match class {
            Class::Object | Class::Type => Class::Schema,
            Class::Schema | Class::User | Class::Role => Class::Database,
            _ => Class::Server,
        }
    }

    #[test]
    fn names_are_found_on_their_classes_only() {
        assert_eq!(Permission::find("EXEC", Class::Object), Some(Permission::Execute));
        assert_eq!(Permission::find("CREATE TABLE", Class::Object), None);
        assert_eq!(Permission::class_without_on("VIEW SERVER STATE"), Some(Class::Server));
        assert_eq!(Permission::class_without_on("CREATE TABLE"), Some(Class::Database));
        assert_eq!(Permission::class_without_on("NOTHING"), None);
    }
}
