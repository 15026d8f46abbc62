//! Who a session is: a login and a user with all their roles, and what they may do.
//!
//! A token is made from the principals of the server and of the database at one moment. They are immutable and shared, so
//! whether a token is still true is two pointers compared ([`SecurityToken::is_of`]); each decision is made on them alone.

use std::sync::Arc;

use pikepole_types::SqlError;

use super::permission::{Class, Grant, GrantState, Permission, covering, covering_above, of_fixed_role};
use super::principal::{DB_SECURITYADMIN, Level, Principal, PrincipalKind};
use super::{DBO, GUEST, LoginPrincipal, PUBLIC_ROLE, PUBLIC_SERVER_ROLE, Principals, SA, SYSADMIN};
use crate::server::MASTER;

/// The databases that every login may use, as `guest`.
const OPEN_TO_GUESTS: [&str; 2] = [MASTER, "tempdb"];

/// Something that permissions are granted on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Securable {
    /// The server.
    Server,
    /// A login.
    Login(i32),
    /// A server role.
    ServerRole(i32),
    /// The database.
    Database,
    /// A user.
    User(i32),
    /// A database role.
    Role {
        /// Its id.
        id: i32,
        /// The principal that owns it.
        owner: i32,
    },
    /// A schema.
    Schema {
        /// Its id.
        id: i32,
        /// The principal that owns it.
        owner: i32,
    },
    /// A table, view or procedure.
    Object {
        /// Its id.
        id: i32,
        /// Its schema's id.
        schema_id: i32,
        /// The principal that owns the schema, and so the object.
        owner: i32,
    },
    /// A type that users made.
    Type {
        /// Its id.
        id: i32,
        /// Its schema's id.
        schema_id: i32,
        /// The principal that owns the schema, and so the type.
        owner: i32,
    },
}

impl Securable {
    /// Its class and number, as grants name it.
    pub fn key(self) -> (Class, i32) {
        match self {
            Securable::Server => (Class::Server, 0),
            Securable::Login(id) => (Class::Login, id),
            Securable::ServerRole(id) => (Class::ServerRole, id),
            Securable::Database => (Class::Database, 0),
            Securable::User(id) => (Class::User, id),
            Securable::Role { id, .. } => (Class::Role, id),
            Securable::Schema { id, .. } => (Class::Schema, id),
            Securable::Object { id, .. } => (Class::Object, id),
            Securable::Type { id, .. } => (Class::Type, id),
        }
    }

    /// The database principal that owns it.
    fn owner(self) -> Option<i32> {
        match self {
            Securable::Role { owner, .. }
            | Securable::Schema { owner, .. }
            | Securable::Object { owner, .. }
            | Securable::Type { owner, .. } => Some(owner),
            _ => None,
        }
    }

    fn above(self) -> Option<Securable> {
        match self {
            Securable::Server => None,
            Securable::Login(_) | Securable::ServerRole(_) | Securable::Database => Some(Securable::Server),
            Securable::User(_) | Securable::Role { .. } | Securable::Schema { .. } => Some(Securable::Database),
            Securable::Object { schema_id, owner, .. } | Securable::Type { schema_id, owner, .. } => {
                Some(Securable::Schema { id: schema_id, owner })
            }
        }
    }
}

/// What a walk from a permission upwards has met.
#[derive(Default)]
struct Met {
    granted: bool,
    grant_option: bool,
    denied: bool,
}

/// See the module.
#[derive(Debug, Clone)]
pub struct SecurityToken {
    login: LoginPrincipal,
    user: Arc<Principal>,
    logins: Arc<Principals>,
    users: Arc<Principals>,
    /// The login and its server roles.
    server_ids: Vec<i32>,
    /// The user and its roles.
    database_ids: Vec<i32>,
    is_sysadmin: bool,
}

impl SecurityToken {
    /// Who a login is in a database: the user with its security id; `dbo` for its owner and for `sysadmin`; `guest` where that
    /// may connect.
    ///
    /// # Errors
    /// 916 when it may not use the database.
    pub fn of_login(
        login: &LoginPrincipal,
        logins: &Arc<Principals>,
        users: &Arc<Principals>,
        database: &str,
    ) -> Result<SecurityToken, SqlError> {
        // Ids are given again: a login that was dropped is not the one that has its id now.
        if login.id != SA && logins.get(login.id).is_none_or(|known| known.sid != login.sid) {
            return Err(SqlError::database_access_denied(&login.name, database));
        }
        let token = SecurityToken::assemble(login, logins, users);
        let is_open = token.user.id == GUEST && OPEN_TO_GUESTS.iter().any(|open| open.eq_ignore_ascii_case(database));
        if is_open || token.has(Permission::Connect, Securable::Database) {
            return Ok(token);
        }
        Err(SqlError::database_access_denied(&login.name, database))
    }

    /// Whether a login may log in at all.
    pub(crate) fn may_log_in(login: &LoginPrincipal, logins: &Arc<Principals>) -> bool {
        let users = Arc::new(Principals::built_in(Level::Database));
        SecurityToken::assemble(login, logins, &users).has(Permission::ConnectSql, Securable::Server)
    }

    fn assemble(login: &LoginPrincipal, logins: &Arc<Principals>, users: &Arc<Principals>) -> SecurityToken {
        let server_ids = with_roles(logins, login.id, PUBLIC_SERVER_ROLE);
        let is_sysadmin = login.id == SA || server_ids.contains(&SYSADMIN);
        let fixed = |id: i32| users.get(id).expect("every database has it").clone();
        let user = match users.find_sid(&login.sid) {
            _ if is_sysadmin => fixed(DBO),
            Some(user) => user.clone(),
            None => fixed(GUEST),
        };
        let database_ids = with_roles(users, user.id, PUBLIC_ROLE);
        let (login, logins, users) = (login.clone(), logins.clone(), users.clone());
        SecurityToken { login, user, logins, users, server_ids, database_ids, is_sysadmin }
    }

    /// The token of EXECUTE AS USER: that user and its roles, and nothing of the server but what everybody has.
    pub fn of_user(&self, user: &Arc<Principal>) -> SecurityToken {
        let of_user = self.logins.find_sid(&user.sid).and_then(|login| LoginPrincipal::find(&self.logins, &login.name));
        let without = || LoginPrincipal { id: 0, name: user.name.clone(), sid: user.sid.clone(), ..self.login.clone() };
        SecurityToken {
            login: of_user.unwrap_or_else(without),
            user: user.clone(),
            logins: self.logins.clone(),
            users: self.users.clone(),
            server_ids: vec![PUBLIC_SERVER_ROLE],
            database_ids: with_roles(&self.users, user.id, PUBLIC_ROLE),
            is_sysadmin: false,
        }
    }

    /// The token of a session that has lost its place: it may do nothing.
    pub fn without_rights(&self) -> SecurityToken {
        let guest = self.users.get(GUEST).expect("every database has it").clone();
        let (server_ids, database_ids) = (Vec::new(), Vec::new());
        SecurityToken { user: guest, server_ids, database_ids, is_sysadmin: false, ..self.clone() }
    }

    /// Whether the token was made from these principals.
    pub fn is_of(&self, logins: &Arc<Principals>, users: &Arc<Principals>) -> bool {
        Arc::ptr_eq(&self.logins, logins) && Arc::ptr_eq(&self.users, users)
    }

    /// The login.
    pub fn login(&self) -> &LoginPrincipal {
        &self.login
    }

    /// The database user.
    pub fn user(&self) -> &Arc<Principal> {
        &self.user
    }

    /// The server's principals that it was made from.
    pub fn logins(&self) -> &Arc<Principals> {
        &self.logins
    }

    /// The database's principals that it was made from.
    pub fn users(&self) -> &Arc<Principals> {
        &self.users
    }

    /// The login and the server roles that it is in.
    pub fn server_ids(&self) -> &[i32] {
        &self.server_ids
    }

    /// The user and the roles that it is in.
    pub fn database_ids(&self) -> &[i32] {
        &self.database_ids
    }

    /// Whether it may do everything on the server.
    pub fn is_sysadmin(&self) -> bool {
        self.is_sysadmin
    }

    /// Whether it may do everything in the database: nothing about its objects need be asked.
    pub fn is_dbo(&self) -> bool {
        self.is_sysadmin || self.user.id == DBO
    }

    /// Whether it is in a server role, which `sysadmin` counts for all.
    pub fn is_in_server_role(&self, role: i32) -> bool {
        self.is_sysadmin || self.server_ids.contains(&role)
    }

    /// Whether it is in a database role; `dbo` is in `db_owner`.
    pub fn is_in_role(&self, role: i32) -> bool {
        self.database_ids.contains(&role) || role == super::DB_OWNER && self.is_dbo()
    }

    /// Whether it has a permission.
    pub fn has(&self, permission: Permission, securable: Securable) -> bool {
        if self.owns(securable) {
            return true;
        }
        let met = self.walk(permission, securable, |_| true);
        met.granted && !met.denied
    }

    /// Whether somebody that it is was told of this permission on a column of the object: then its columns can differ.
    pub fn tells_columns(&self, permission: Permission, object: Securable) -> bool {
        self.grants_of_columns(permission, object).next().is_some()
    }

    /// Whether it has a permission on a column of an object, by its number from one.
    pub fn has_on_column(&self, permission: Permission, object: Securable, column: i32) -> bool {
        if self.owns(object) {
            return true;
        }
        let told = || self.grants_of_columns(permission, object).filter(|(_, grant)| grant.column == column);
        if told().any(|(_, grant)| grant.state == GrantState::Deny) {
            return false;
        }
        let granted = told().any(|(_, grant)| grant.state.grants());
        let met = self.walk(permission, object, |id| !granted && !told().any(|(of, _)| of == id));
        (granted || met.granted) && !met.denied
    }

    /// Whether it has a permission on the object or on one of its columns at least.
    pub fn has_in_part(&self, permission: Permission, object: Securable) -> bool {
        let told = || self.grants_of_columns(permission, object).filter(|(_, grant)| grant.state.grants());
        self.has(permission, object) || told().any(|(_, grant)| self.has_on_column(permission, object, grant.column))
    }

    /// What its principals were told of single columns, and which of them.
    fn grants_of_columns(&self, permission: Permission, object: Securable) -> impl Iterator<Item = (i32, &Grant)> {
        let (class, major) = object.key();
        // Only these have columns.
        let ids = if class == Class::Object { &self.database_ids[..] } else { &[] };
        let all = ids.iter().filter_map(|id| Some((*id, self.users.get(*id)?)));
        let all = all.flat_map(|(id, principal)| principal.grants.iter().map(move |grant| (id, grant)));
        all.filter(move |(_, grant)| {
            grant.column != 0 && grant.class == class && grant.major == major && grant.permission == permission
        })
    }

    /// Whether it may grant a permission on these columns of an object to others.
    pub fn may_grant_columns(&self, permission: Permission, object: Securable, columns: &[i32]) -> bool {
        let has_option = |column: &i32| {
            let told = self.grants_of_columns(permission, object).filter(|(_, grant)| grant.column == *column);
            let mut states = told.map(|(_, grant)| grant.state);
            states.any(|state| state == GrantState::GrantWithGrantOption)
                && self.has_on_column(permission, object, *column)
        };
        self.may_grant(permission, object) || !columns.is_empty() && columns.iter().all(has_option)
    }

    /// Whether it may grant a permission to others.
    pub fn may_grant(&self, permission: Permission, securable: Securable) -> bool {
        let (class, _) = securable.key();
        let control = if class == Class::Server { Permission::ControlServer } else { Permission::Control };
        if self.has(control, securable) || !class.is_of_server() && self.is_in_role(DB_SECURITYADMIN) {
            return true;
        }
        let met = self.walk(permission, securable, |_| true);
        met.grant_option && !met.denied
    }

    /// Whether it has any permission, and so may know that the thing is there.
    pub fn sees(&self, securable: Securable) -> bool {
        let (class, _) = securable.key();
        let of_class = Permission::ALL.iter().filter(|permission| permission.classes().contains(&class));
        self.owns(securable) || of_class.copied().any(|permission| self.has_in_part(permission, securable))
    }

    /// Whether there is nothing to ask: the server's administrator, the database's owner, the thing's owner.
    fn owns(&self, securable: Securable) -> bool {
        let (class, _) = securable.key();
        self.is_sysadmin
            || !class.is_of_server() && self.is_dbo()
            || securable.owner().is_some_and(|owner| self.database_ids.contains(&owner))
    }

    /// Looks at a permission and at all that imply it. `counts` says of which principals that counts which they were told of this
    /// permission on the thing itself.
    fn walk(&self, permission: Permission, securable: Securable, counts: impl Fn(i32) -> bool) -> Met {
        let mut met = Met::default();
        let mut seen: Vec<(Securable, Permission)> = vec![(securable, permission)];
        let mut next = 0;
        while let Some((at, permission)) = seen.get(next).copied() {
            next += 1;
            self.meet(permission, at, &mut met, |id| next > 1 || counts(id));
            let (class, _) = at.key();
            let same = covering(class, permission).map(|covering| (at, covering));
            let above = at.above().zip(covering_above(class, permission));
            for step in same.into_iter().chain(above) {
                if !seen.contains(&step) {
                    seen.push(step);
                }
            }
        }
        met
    }

    /// Looks at what the token's principals were granted and denied of one permission on one thing.
    fn meet(&self, permission: Permission, at: Securable, met: &mut Met, counts: impl Fn(i32) -> bool) {
        let (class, major) = at.key();
        let (principals, ids) = match class.is_of_server() {
            true => (&self.logins, &self.server_ids),
            false => (&self.users, &self.database_ids),
        };
        for id in ids.iter().filter(|id| counts(**id)) {
            if matches!(class, Class::Server | Class::Database) {
                let (granted, denied) = of_fixed_role(class, *id);
                met.granted |= granted.contains(&permission);
                met.denied |= denied.contains(&permission);
            }
            let grants = principals.get(*id).map_or(&[][..], |principal| &principal.grants);
            for grant in grants {
                let is_whole = grant.column == 0;
                if is_whole && grant.class == class && grant.major == major && grant.permission == permission {
                    match grant.state {
                        GrantState::Revoke => {}
                        GrantState::Deny => met.denied = true,
                        GrantState::Grant => met.granted = true,
                        GrantState::GrantWithGrantOption => (met.granted, met.grant_option) = (true, true),
                    }
                }
            }
        }
    }
}

/// A principal, `public`, and the roles that it is in, directly and through roles.
fn with_roles(principals: &Principals, id: i32, public: i32) -> Vec<i32> {
    let mut ids = vec![id];
    let mut next = 0;
    while let Some(id) = ids.get(next).copied() {
        next += 1;
        let roles = principals.get(id).map_or(&[][..], |principal| &principal.roles);
        for role in roles {
            if !ids.contains(role) && principals.get(*role).is_some_and(|role| role.kind.is_role()) {
                ids.push(*role);
            }
        }
    }
    if !ids.contains(&public) {
        ids.push(public);
    }
    ids
}

/// Whether `role` is `of`, or is in it directly or through roles.
pub fn is_member(principals: &Principals, role: i32, of: i32) -> bool {
    let public = match principals.get(role).map(|principal| principal.kind) {
        Some(PrincipalKind::Login | PrincipalKind::ServerRole) => PUBLIC_SERVER_ROLE,
        _ => PUBLIC_ROLE,
    };
    with_roles(principals, role, public).contains(&of)
}

#[cfg(test)]
mod tests {
    use super::super::principal::{DB_DATAREADER, DB_DENYDATAREADER};
    use super::*;
    use GrantState::{Deny, Grant as Granted, GrantWithGrantOption as WithOption};

    const ANN: i32 = 300;
    const ANN_USER: i32 = 5;
    const TABLE: Securable = Securable::Object { id: 1_000_001, schema_id: 1, owner: DBO };
    const SCHEMA: Securable = Securable::Schema { id: 1, owner: DBO };

    fn login() -> LoginPrincipal {
        LoginPrincipal { id: ANN, name: "ann".into(), sid: vec![7; 16], ..LoginPrincipal::sa() }
    }

    /// The token of a login with a user, the user with these roles and grants.
    fn token(roles: &[i32], grants: &[(Permission, Securable, GrantState)]) -> SecurityToken {
        let mut logins = Principals::built_in(Level::Server);
        logins.put(Principal { sid: vec![7; 16], ..Principal::new(ANN, "ann", PrincipalKind::Login) });
        let mut users = Principals::built_in(Level::Database);
        let grant = |(permission, securable, state): &(Permission, Securable, GrantState)| {
            let (class, major) = securable.key();
            Grant { class, major, column: 0, permission: *permission, state: *state, grantor: DBO }
        };
        let connect = (Permission::Connect, Securable::Database, Granted);
        let grants = grants.iter().chain([&connect]).map(grant).collect();
        let user = Principal::new(ANN_USER, "ann", PrincipalKind::User);
        users.put(Principal { sid: vec![7; 16], roles: roles.to_vec(), grants, ..user });
        SecurityToken::of_login(&login(), &Arc::new(logins), &Arc::new(users), "d").expect("it may connect")
    }

    #[test]
    fn a_permission_is_implied_from_above_and_by_control() {
        use Permission::{Control, Select};
        for (permission, securable) in
            [(Select, TABLE), (Select, SCHEMA), (Select, Securable::Database), (Control, TABLE), (Control, SCHEMA)]
        {
            let token = token(&[], &[(permission, securable, Granted)]);
            assert!(token.has(Select, TABLE), "{permission:?} on {securable:?}");
            assert_eq!(token.has(Permission::Insert, TABLE), permission == Control);
            assert!(token.sees(TABLE));
        }
        assert!(!token(&[], &[]).has(Select, TABLE));
        assert!(!token(&[], &[]).sees(TABLE));
    }

    #[test]
    fn a_denial_anywhere_wins() {
        use Permission::{Control, Select};
        for (permission, securable) in
            [(Select, TABLE), (Select, SCHEMA), (Control, TABLE), (Select, Securable::Database)]
        {
            let grants = [(Select, TABLE, Granted), (permission, securable, Deny)];
            assert!(!token(&[DB_DATAREADER], &grants).has(Select, TABLE), "{permission:?} on {securable:?}");
        }
        assert!(!token(&[DB_DATAREADER, DB_DENYDATAREADER], &[]).has(Select, TABLE));
        assert!(!token(&[super::super::DB_OWNER, DB_DENYDATAREADER], &[]).has(Select, TABLE));
    }

    #[test]
    fn owners_and_administrators_are_not_asked() {
        let own = Securable::Object { id: 9, schema_id: 8, owner: ANN_USER };
        let token = token(&[], &[(Permission::Select, own, Deny)]);
        assert!(token.has(Permission::Select, own));
        let (logins, users) = (token.logins().clone(), token.users().clone());
        let sa = SecurityToken::of_login(&LoginPrincipal::sa(), &logins, &users, "d").expect("sa may do everything");
        assert!(
            sa.is_dbo() && sa.has(Permission::Control, TABLE) && sa.has(Permission::ControlServer, Securable::Server)
        );
        let as_user = sa.of_user(users.get(ANN_USER).expect("it is there"));
        assert!(!as_user.is_dbo() && !as_user.has(Permission::ViewServerState, Securable::Server));
    }

    /// The token of a user in `db_datareader`'s stead of a role, which it is in, with grants on columns of the table for each.
    fn told_of_columns(of_user: &[(i32, GrantState)], of_role: &[(i32, GrantState)]) -> SecurityToken {
        const ROLE: i32 = 20;
        let token = token(&[ROLE], &[]);
        let (class, major) = TABLE.key();
        let grants = |told: &[(i32, GrantState)]| -> Vec<Grant> {
            let grant = |&(column, state): &(i32, GrantState)| Grant {
                class,
                major,
                column,
                permission: Permission::Select,
                state,
                grantor: DBO,
            };
            told.iter().map(grant).collect()
        };
        let mut users = Principals::clone(token.users());
        let mut user = Principal::clone(users.get(ANN_USER).expect("it is there"));
        user.grants.extend(grants(of_user));
        users.put(user);
        users.put(Principal { grants: grants(of_role), ..Principal::new(ROLE, "r", PrincipalKind::Role) });
        SecurityToken::of_login(&login(), token.logins(), &Arc::new(users), "d").expect("ann may connect")
    }

    #[test]
    fn what_is_told_of_a_column_goes_before_what_is_told_of_the_table() {
        let columns = |of_user: &[(i32, GrantState)], of_role: &[(i32, GrantState)]| {
            let token = told_of_columns(of_user, of_role);
            [1, 2].map(|column| token.has_on_column(Permission::Select, TABLE, column))
        };
        let revoked = GrantState::Revoke;
        assert_eq!(columns(&[], &[]), [false, false]);
        assert_eq!(columns(&[(1, Granted)], &[]), [true, false]);
        assert_eq!(columns(&[(0, Granted), (1, Deny)], &[]), [false, true]);
        assert_eq!(columns(&[(0, Deny), (1, Granted)], &[]), [true, false], "a column's GRANT beats the table's DENY");
        assert_eq!(columns(&[(1, Granted)], &[(0, Deny)]), [true, false], "whoever was denied the table");
        assert_eq!(columns(&[(1, Granted)], &[(1, Deny)]), [false, false], "but no column's DENY");
        assert_eq!(columns(&[(0, Granted), (1, revoked)], &[]), [false, true]);
        assert_eq!(columns(&[(0, Granted), (1, revoked)], &[(0, Granted)]), [true, true], "the role was granted it");
        let token = told_of_columns(&[(2, WithOption)], &[]);
        assert!(!token.has(Permission::Select, TABLE) && token.has_in_part(Permission::Select, TABLE));
        assert!(token.sees(TABLE) && !token.tells_columns(Permission::Update, TABLE));
        assert!(token.may_grant_columns(Permission::Select, TABLE, &[2]));
        assert!(!token.may_grant_columns(Permission::Select, TABLE, &[1, 2]));
        assert!(!token.may_grant_columns(Permission::Select, TABLE, &[]));
    }

    #[test]
    fn only_the_grant_option_lets_one_grant() {
        use Permission::Select;
        assert!(token(&[], &[(Select, SCHEMA, WithOption)]).may_grant(Select, TABLE));
        assert!(!token(&[], &[(Select, TABLE, Granted)]).may_grant(Select, TABLE));
        assert!(token(&[DB_SECURITYADMIN], &[]).may_grant(Select, TABLE));
        assert!(!token(&[DB_SECURITYADMIN], &[]).may_grant(Permission::ViewServerState, Securable::Server));
    }

    #[test]
    fn a_login_without_a_user_is_refused_unless_guest_may_connect() {
        let mut logins = Principals::built_in(Level::Server);
        logins.put(Principal { sid: vec![7; 16], ..Principal::new(ANN, "ann", PrincipalKind::Login) });
        let (logins, mut users) = (Arc::new(logins), Principals::built_in(Level::Database));
        let token = |users: &Principals| SecurityToken::of_login(&login(), &logins, &Arc::new(users.clone()), "d");
        assert_eq!(token(&users).err().map(|error| error.number), Some(916));
        let mut guest = Principal::clone(users.get(GUEST).expect("it is there"));
        let (class, major) = Securable::Database.key();
        let state = Granted;
        guest.grants.push(Grant { class, major, column: 0, permission: Permission::Connect, state, grantor: DBO });
        users.put(guest);
        assert_eq!(token(&users).map(|token| token.user().id), Ok(GUEST));
    }

    #[test]
    fn roles_within_roles_count_and_circles_end() {
        let mut users = Principals::built_in(Level::Database);
        for (id, roles) in [(10, vec![11]), (11, vec![12]), (12, vec![10, DB_DATAREADER])] {
            users.put(Principal { roles, ..Principal::new(id, &format!("r{id}"), PrincipalKind::Role) });
        }
        assert_eq!(with_roles(&users, 10, PUBLIC_ROLE), [10, 11, 12, DB_DATAREADER, PUBLIC_ROLE]);
        assert!(is_member(&users, 10, DB_DATAREADER) && !is_member(&users, DB_DATAREADER, 10));
    }
}
