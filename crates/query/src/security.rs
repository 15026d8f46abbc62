//! Who a session is, and what plans need permission for.
//!
//! ```text
//!   plan: requirements     (permission, object)      found once, when the plan is bound, for everybody
//!   session: token, serial                           another serial whenever what it may do can be another
//!   statement of a frame: checked == serial ?        all that a statement costs which ran before
//! ```
//!
//! A change of the current database's users, roles or permissions is a change of its catalog: the plan is bound again, which
//! looks at the token first. A change of logins is seen at the next batch, and after each quantum.
//!
//! # Ownership chains
//! A procedure's statements are not asked about objects of the procedure's own owner, nor a view about tables of the view's:
//! who may use the outer one may use what it is made of, in its way only. A text that a procedure runs is no part of it.

use std::collections::HashSet;
use std::sync::Arc;

use crate::access::{CatalogStamp, CatalogView, Place};
use crate::context::ExecutionContext;
use crate::expression::Fault;
use crate::program::Program;
use pikepole_engine::{Database, LoginPrincipal, Module, Permission, Principal, Securable, SecurityToken, UserAccess};
use pikepole_tsql::ObjectName;
use pikepole_types::SqlError;

/// A permission that a plan needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    /// The permission.
    pub permission: Permission,
    /// The database of the object.
    pub database: i32,
    /// The object.
    pub securable: Securable,
    /// The principal that owns the object.
    pub owner: i32,
    /// The object's schema, for the error.
    pub schema: String,
    /// The object's name, for the error.
    pub name: String,
    /// The columns that it is needed on, by their numbers from one, when they can have permissions of their own: with none of them it
    /// is needed on any. None: on the object as a whole.
    pub columns: Option<Vec<(i32, String)>>,
    /// Whether it is named by the statement itself rather than by a view: then a procedure of the same owner may use it.
    pub named_by_statement: bool,
}

impl Requirement {
    /// It is needed on this column too.
    pub(crate) fn add_column(&mut self, column: (i32, String)) {
        let columns = self.columns.get_or_insert_default();
        if !columns.contains(&column) {
            columns.push(column);
        }
    }

    /// It is needed on the column at this place too.
    pub(crate) fn add_column_at(&mut self, place: usize, name: &str) {
        self.add_column((column_number(place), name.to_owned()));
    }

    /// A permission on the object of a name; None when there is no such object.
    pub(crate) fn of(
        catalog: &CatalogView,
        name: &ObjectName,
        permission: Permission,
    ) -> Result<Option<Requirement>, Fault> {
        // What all sessions see of tempdb's temporary objects they may also use.
        match catalog.place_itself(name)?.filter(|_| !name.is_in_tempdb()) {
            Some(place) => Ok(Requirement::on(&place, permission)),
            None => Ok(None),
        }
    }

    /// A permission on what the synonym of a name stands for; None when who may use the synonym may use that, because both have
    /// one owner.
    pub(crate) fn behind(
        catalog: &CatalogView,
        name: &ObjectName,
        permission: Permission,
    ) -> Result<Option<Requirement>, Fault> {
        let Some(synonym) = catalog.place_itself(name)?.filter(|_| !name.is_in_tempdb()) else { return Ok(None) };
        let Some(place) = synonym.behind()? else { return Ok(None) };
        let (outer, inner) = (Requirement::on(&synonym, permission), Requirement::on(&place, permission));
        let place_of = |need: &Requirement| (need.database, need.owner);
        let is_chained = outer.as_ref().map(place_of) == inner.as_ref().map(place_of);
        Ok(inner.filter(|_| !is_chained))
    }

    fn on(place: &Place<'_>, permission: Permission) -> Option<Requirement> {
        let object = place.object()?;
        let catalog = &place.view.catalog;
        let securable = catalog.securable(object);
        let Securable::Object { schema_id, owner, .. } = securable else { return None };
        let schema = catalog.schema_by_id(schema_id).map_or("dbo", |schema| schema.name.as_str());
        Some(Requirement {
            permission,
            database: place.view.database.id(),
            securable,
            owner,
            schema: schema.to_owned(),
            name: object.name().to_owned(),
            columns: None,
            named_by_statement: true,
        })
    }

    fn denied(&self, database: &str) -> Fault {
        Box::new(SqlError::permission_denied(self.permission.name(), &self.name, database, &self.schema))
    }

    /// Whether what a token may do with the object's columns can differ.
    fn is_of_columns(&self, token: &SecurityToken) -> bool {
        self.columns.is_some() && token.tells_columns(self.permission, self.securable)
    }

    /// Asks for the permission, on each column where columns can differ: 229 when the token has it nowhere, 230 for the first
    /// column that it lacks it on.
    fn ask(&self, token: &SecurityToken, database: &str) -> Result<(), Fault> {
        let (permission, object) = (self.permission, self.securable);
        let columns = self.columns.as_ref().filter(|_| self.is_of_columns(token));
        let Some(columns) = columns else {
            return if token.has(permission, object) { Ok(()) } else { Err(self.denied(database)) };
        };
        if !token.has_in_part(permission, object) {
            return Err(self.denied(database));
        }
        match columns.iter().find(|(column, _)| !token.has_on_column(permission, object, *column)) {
            None => Ok(()),
            Some((_, column)) => Err(Box::new(SqlError::column_permission_denied(
                permission.name(),
                column,
                &self.name,
                database,
                &self.schema,
            ))),
        }
    }
}

/// A masked column that values of a plan are made of, and the slot that says whether the session may see what is in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MaskedColumn {
    /// The database of the table.
    pub database: i32,
    /// The table; the database, of a table variable.
    pub securable: Securable,
    /// The column's number, from one.
    pub column: i32,
    /// The slot, which every run of the plan fills anew: plans are shared by those who may and those who may not.
    pub slot: usize,
}

impl MaskedColumn {
    fn is_seen_by(&self, token: &SecurityToken) -> bool {
        token.is_dbo() || token.has_on_column(Permission::Unmask, self.securable, self.column)
    }
}

/// The number of the column at a place.
pub(crate) fn column_number(place: usize) -> i32 {
    i32::try_from(place + 1).unwrap_or(i32::MAX)
}

/// RESTRICTED_USER: whether somebody may come into a database.
fn check_access(database: &Database, token: &SecurityToken) -> Result<(), SqlError> {
    if database.options().user_access == UserAccess::Restricted && !is_welcome(token) {
        return Err(SqlError::database_restricted(database.name()));
    }
    Ok(())
}

/// Whether RESTRICTED_USER lets somebody be in a database.
pub fn is_welcome(token: &SecurityToken) -> bool {
    token.has(Permission::Control, Securable::Database) || token.has(Permission::AlterAnyDatabase, Securable::Server)
}

/// Who EXECUTE AS made a session.
#[derive(Debug, Clone)]
pub(crate) enum Impersonated {
    Login(LoginPrincipal),
    /// A user, by its id, of the database with this id.
    User(i32, i32),
}

/// Who EXECUTE AS made a session, and what that may do; None: nobody else.
pub(crate) type Acting = (Option<Impersonated>, Arc<SecurityToken>);

/// Whether a principal is one that a session can be.
fn is_person(user: &Principal) -> bool {
    /// The ids of INFORMATION_SCHEMA and sys.
    const OF_THE_SYSTEM: [i32; 2] = [3, 4];
    !user.kind.is_role() && !OF_THE_SYSTEM.contains(&user.id)
}

fn may_act_for(own: &SecurityToken, user: &Principal) -> bool {
    let may = user.id == own.user().id || own.has(Permission::Impersonate, Securable::User(user.id));
    is_person(user) && may && (user.id != pikepole_engine::DBO || own.is_dbo())
}

/// Who a session is at the moment.
#[derive(Debug)]
pub struct SessionSecurity {
    /// Who has logged in.
    login: LoginPrincipal,
    /// Who that is in the current database, and then who each EXECUTE AS made of it.
    tokens: Vec<Acting>,
    /// Never zero, and another one whenever the token is another.
    serial: u64,
    /// What the tokens were last compared with.
    seen: Option<(CatalogStamp, u64)>,
    /// Objects that the present token was found to have a permission on.
    allowed: HashSet<(i32, Permission)>,
}

impl SessionSecurity {
    /// A session of `sa` in a database.
    pub(crate) fn of_sa(database: &Database) -> SessionSecurity {
        let login = LoginPrincipal::sa();
        let catalog = database.current_catalog();
        let token = SecurityToken::of_login(&login, catalog.logins(), catalog.users(), database.name());
        let token = token.expect("sa may use every database");
        SessionSecurity { login, tokens: vec![(None, Arc::new(token))], serial: 1, seen: None, allowed: HashSet::new() }
    }

    /// Who has logged in, whoever it acts for.
    pub fn login(&self) -> &LoginPrincipal {
        &self.login
    }

    /// Who it acts for.
    pub fn token(&self) -> &Arc<SecurityToken> {
        &self.tokens.last().expect("the login's own is always there").1
    }

    /// How many EXECUTE AS are in force.
    pub(crate) fn depth(&self) -> usize {
        self.tokens.len()
    }

    fn set_tokens(&mut self, tokens: Vec<Acting>) {
        self.tokens = tokens;
        self.changed();
    }

    fn changed(&mut self) {
        self.serial += 1;
        self.allowed.clear();
    }

    /// Ends every EXECUTE AS beyond `depth`.
    pub(crate) fn revert_to(&mut self, depth: usize) {
        if self.tokens.len() > depth.max(1) {
            self.tokens.truncate(depth.max(1));
            self.changed();
        }
    }
}

impl ExecutionContext {
    /// Who the session is at the moment.
    pub fn security(&self) -> &SessionSecurity {
        &self.security
    }

    /// Who the session acts for.
    pub fn token(&self) -> &Arc<SecurityToken> {
        self.security.token()
    }

    /// A number that changes whenever the session may be allowed something else.
    #[inline]
    pub(crate) fn security_serial(&self) -> u64 {
        self.security.serial
    }

    /// The session begins, as this login.
    ///
    /// # Errors
    /// 916 when it may not use the current database, 923 when only its owners may.
    pub fn log_in(&mut self, login: LoginPrincipal) -> Result<(), SqlError> {
        self.security.login = login;
        self.security.tokens.truncate(1);
        self.security.seen = None;
        let database = Arc::clone(self.database());
        let token = self.login_token(&self.security.login, &database)?;
        check_access(&database, &token)?;
        self.security.set_tokens(vec![(None, Arc::new(token))]);
        Ok(())
    }

    /// Who a login is in a database, as the session sees both.
    fn login_token(&self, login: &LoginPrincipal, database: &Arc<Database>) -> Result<SecurityToken, SqlError> {
        let current = self.catalog();
        let is_current = Arc::ptr_eq(database, self.database());
        let catalog = if is_current { Arc::clone(current.definitions()) } else { database.current_catalog() };
        // In master the session's own uncommitted logins count.
        let logins = if database.name() == pikepole_engine::MASTER {
            Arc::clone(catalog.logins())
        } else {
            self.server().logins()?
        };
        SecurityToken::of_login(login, &logins, catalog.users(), database.name())
    }

    /// Who the session would be in another database; None when it may not use that.
    pub fn token_in(&self, database: &Arc<Database>) -> Option<SecurityToken> {
        match self.security.tokens.last() {
            Some((Some(Impersonated::User(..)), token)) if Arc::ptr_eq(database, self.database()) => {
                Some(SecurityToken::clone(token))
            }
            Some((Some(Impersonated::User(..)), _)) | None => None,
            Some((Some(Impersonated::Login(login)), _)) => self.login_token(login, database).ok(),
            Some((None, _)) => self.login_token(&self.security.login, database).ok(),
        }
    }

    /// Makes the token true again if what it was made from has changed.
    ///
    /// # Errors
    /// 916 when the session may not use the current database any more: then it may do nothing.
    pub fn refresh_security(&mut self) -> Result<(), Fault> {
        if self.security.login.id == pikepole_engine::SA && self.security.depth() == 1 {
            return Ok(());
        }
        let seen = (self.catalog_stamp(), self.server().logins_version());
        if self.security.seen == Some(seen) {
            return Ok(());
        }
        let database = Arc::clone(self.database());
        let base = match self.login_token(&self.security.login, &database) {
            Ok(token) => token,
            Err(error) => return Err(self.lose_rights(error)),
        };
        self.security.seen = Some(seen);
        if self.token().is_of(base.logins(), base.users()) {
            return Ok(());
        }
        let mut tokens = vec![(None, Arc::new(base))];
        for (impersonated, former) in &self.security.tokens[1..] {
            let token = match impersonated {
                Some(Impersonated::Login(login)) => self.login_token(login, &database).ok(),
                Some(Impersonated::User(id, of)) if *of == database.id() => {
                    let base: &Arc<SecurityToken> = &tokens[0].1;
                    base.users().get(*id).map(|user| base.of_user(user))
                }
                _ => None,
            };
            let Some(token) = token else {
                let error = SqlError::database_access_denied(&former.user().name, database.name());
                return Err(self.lose_rights(error));
            };
            tokens.push((impersonated.clone(), Arc::new(token)));
        }
        self.security.set_tokens(tokens);
        Ok(())
    }

    /// The session is about to be in a database that it may not use.
    #[cold]
    pub(crate) fn lose_rights_in(&mut self, database: &Arc<Database>) {
        let error = SqlError::database_access_denied(&self.token().login().name, database.name());
        // Each batch begins by looking whether it may be there, and says so.
        drop(self.lose_rights(error));
    }

    #[cold]
    fn lose_rights(&mut self, error: SqlError) -> Fault {
        for (_, token) in &mut self.security.tokens {
            *token = Arc::new(token.without_rights());
        }
        self.security.changed();
        self.security.seen = None;
        Box::new(error)
    }

    /// USE: who the session is in the database to come.
    pub(crate) fn enter_database(&mut self, database: &Arc<Database>) -> Result<(), Fault> {
        let denied = || SqlError::database_access_denied(&self.token().login().name, database.name());
        let token = self.token_in(database).ok_or_else(denied)?;
        check_access(database, &token)?;
        let base = self.login_token(&self.security.login, database);
        let mut tokens = self.security.tokens.clone();
        for (impersonated, former) in &mut tokens {
            // A database that the impersonated login may use need not be one of the session's own login.
            *former = Arc::new(match impersonated {
                None => base.clone().unwrap_or_else(|_| former.without_rights()),
                Some(Impersonated::Login(login)) => {
                    self.login_token(login, database).unwrap_or_else(|_| former.without_rights())
                }
                Some(Impersonated::User(..)) => former.without_rights(),
            });
        }
        if let Some((_, last)) = tokens.last_mut() {
            *last = Arc::new(token);
        }
        self.security.set_tokens(tokens);
        self.security.seen = None;
        Ok(())
    }

    /// EXECUTE AS LOGIN.
    ///
    /// # Errors
    /// 15406 when there is no such login or the session may not act for it.
    pub fn execute_as_login(&mut self, name: &str) -> Result<(), SqlError> {
        let database = Arc::clone(self.database());
        let refused = || SqlError::cannot_execute_as_login(name);
        let own = self.token_in(&database).ok_or_else(refused)?;
        let login = LoginPrincipal::find(own.logins(), name).ok_or_else(refused)?;
        let may = login.id == own.login().id || own.has(Permission::Impersonate, Securable::Login(login.id));
        // Whoever is sysadmin acts for others; nobody becomes one by acting.
        let token = self.login_token(&login, &database)?;
        if !may || token.is_sysadmin() && !own.is_sysadmin() {
            return Err(refused());
        }
        self.security.tokens.push((Some(Impersonated::Login(login)), Arc::new(token)));
        self.security.changed();
        self.security.seen = None;
        Ok(())
    }

    /// EXECUTE AS USER.
    ///
    /// # Errors
    /// 15517 when there is no such user or the session may not act for it.
    pub fn execute_as_user(&mut self, name: &str) -> Result<(), SqlError> {
        let database = Arc::clone(self.database());
        let refused = || SqlError::cannot_execute_as_user(name);
        let own = self.token_in(&database).ok_or_else(refused)?;
        let user = own.users().find(name).cloned().filter(|user| may_act_for(&own, user)).ok_or_else(refused)?;
        let impersonated = Impersonated::User(user.id, database.id());
        self.act_as((Some(impersonated), Arc::new(own.of_user(&user))));
        Ok(())
    }

    fn act_as(&mut self, acting: Acting) {
        self.security.tokens.push(acting);
        self.security.changed();
        self.security.seen = None;
    }

    /// EXECUTE AS CALLER: in a module that acts for another, who has called it. Elsewhere the session is that already.
    pub fn execute_as_caller(&mut self) {
        if self.module_acts {
            let caller = self.security.tokens[self.impersonations_below - 2].clone();
            self.act_as(caller);
        }
    }

    /// Who the statements of a module of `owner`'s that is to be made act for, by what its EXECUTE AS says.
    ///
    /// # Errors
    /// 15517 when there is no such user or the session may not act for it.
    pub(crate) fn module_principal(&self, says: &str, owner: i32) -> Result<Option<i32>, SqlError> {
        let own = &*self.token_of_now();
        let is = |word: &str| says.eq_ignore_ascii_case(word);
        if is("CALLER") {
            return Ok(None);
        }
        if is("SELF") {
            return Ok(Some(own.user().id));
        }
        let users = own.users();
        let user = if is("OWNER") { users.get(owner) } else { users.find(says) };
        let user = user.filter(|user| may_act_for(own, user));
        let user = user.ok_or_else(|| SqlError::cannot_execute_as_user(says))?;
        Ok(Some(if is("OWNER") { Module::AS_OWNER } else { user.id }))
    }

    /// The token with the users that there are now: that of the server's first login, whose rights never change, is not made anew
    /// when users come.
    fn token_of_now(&self) -> Arc<SecurityToken> {
        let is_kept = self.security.login.id == pikepole_engine::SA && self.security.depth() == 1;
        let fresh = is_kept.then(|| self.token_in(self.database())).flatten();
        fresh.map_or_else(|| Arc::clone(self.token()), Arc::new)
    }

    /// Who a module of the current database acts for when this one calls it.
    ///
    /// # Errors
    /// 15517 when its owner is a role.
    pub(crate) fn module_context(&self, program: &Program) -> Result<Option<Acting>, Fault> {
        let Some(identity) = &program.procedure else { return Ok(None) };
        let Some(id) = identity.execute_as else { return Ok(None) };
        let id = if id == Module::AS_OWNER { identity.owner } else { id };
        let own = self.token_of_now();
        let user = own.users().get(id).filter(|user| is_person(user));
        let user = user.ok_or_else(|| SqlError::cannot_execute_as_user(identity.name.as_str()))?;
        let impersonated = Impersonated::User(user.id, self.database().id());
        Ok(Some((Some(impersonated), Arc::new(own.of_user(user)))))
    }

    /// The module that has just been entered acts for another.
    pub(crate) fn begin_module_context(&mut self, acting: Option<Acting>) {
        if let Some(acting) = acting {
            self.act_as(acting);
            self.impersonations_below = self.security.depth();
            self.module_acts = true;
        }
    }

    /// EXECUTE AS ends with what it was said in, and with the module that it is said of; `before` was so of the caller.
    pub(crate) fn end_module_context(&mut self, before: (usize, bool)) {
        self.security.revert_to(self.impersonations_below - usize::from(self.module_acts));
        (self.impersonations_below, self.module_acts) = before;
    }

    /// What is entered now has begun no EXECUTE AS yet; the result is for [`ExecutionContext::end_module_context`].
    pub(crate) fn enter_module_context(&mut self) -> (usize, bool) {
        let before = (self.impersonations_below, self.module_acts);
        (self.impersonations_below, self.module_acts) = (self.security.depth(), false);
        before
    }

    /// REVERT: ends the newest EXECUTE AS of the running procedure or batch, if there is any.
    pub fn revert(&mut self) {
        let depth = self.security.depth();
        if depth > self.impersonations_below.max(1) {
            self.security.revert_to(depth - 1);
        }
    }

    /// Checks what a plan needs; `caller` owns the procedure that it runs in.
    ///
    /// # Errors
    /// 229 for the first permission that the session lacks, 230 for one that it lacks on a column.
    pub(crate) fn check(&mut self, requirements: &[Requirement], caller: Option<i32>) -> Result<(), Fault> {
        for requirement in requirements {
            let is_chained = caller == Some(requirement.owner) && requirement.database == self.database().id();
            if !(requirement.named_by_statement && is_chained) {
                self.require(requirement)?;
            }
        }
        Ok(())
    }

    /// Checks one permission on an object.
    ///
    /// # Errors
    /// 229 when the session lacks it, 230 when it does on a column.
    pub(crate) fn require(&mut self, requirement: &Requirement) -> Result<(), Fault> {
        if requirement.database != self.database().id() {
            return self.require_elsewhere(requirement);
        }
        if self.token().is_dbo() {
            return Ok(());
        }
        let (_, id) = requirement.securable.key();
        let key = (id, requirement.permission);
        if self.security.allowed.contains(&key) {
            return Ok(());
        }
        requirement.ask(self.token(), self.database().name())?;
        if !requirement.is_of_columns(self.token()) {
            self.security.allowed.insert(key);
        }
        Ok(())
    }

    /// Checks one permission on an object of another database.
    fn require_elsewhere(&self, requirement: &Requirement) -> Result<(), Fault> {
        let unknown = || SqlError::database_unknown(requirement.database);
        let database = self.server().database_by_id(requirement.database).ok_or_else(unknown)?;
        let denied = || SqlError::database_access_denied(&self.token().login().name, database.name());
        let token = self.token_in(&database).ok_or_else(denied)?;
        if token.is_dbo() { Ok(()) } else { requirement.ask(&token, database.name()) }
    }

    /// Whether the session may see what is in a masked column.
    pub(crate) fn sees(&self, column: &MaskedColumn) -> bool {
        if column.database == self.database().id() {
            return column.is_seen_by(self.token());
        }
        let database = self.server().database_by_id(column.database);
        let token = database.and_then(|database| self.token_in(&database));
        token.is_some_and(|token| column.is_seen_by(&token))
    }

    /// Checks a permission on the current database.
    ///
    /// # Errors
    /// 262 when the session lacks it.
    pub fn require_of_database(&self, permission: Permission) -> Result<(), SqlError> {
        if self.token().has(permission, Securable::Database) {
            return Ok(());
        }
        Err(SqlError::database_permission_denied(permission.name(), self.database().name()))
    }

    /// Checks that the session may see plans of the current database.
    ///
    /// # Errors
    /// 262 when it may not.
    pub fn require_show_plan(&self) -> Result<(), SqlError> {
        self.require_of_database(Permission::Showplan).map_err(|error| SqlError { state: 4, ..error })
    }
}
