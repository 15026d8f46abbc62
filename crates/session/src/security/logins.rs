//! CREATE, ALTER and DROP LOGIN.

use super::change::{Change, apply};
use super::{check_name, option_name, option_text, principals, require};
use crate::host::SessionHost;
use crate::unsupported;
use pikepole_engine::{LoginDetails, Permission, Principal, PrincipalKind, Principals, SA, Securable};
use pikepole_query::ExecutionContext;
use pikepole_tsql::{SettingOption, SettingValue};
use pikepole_types::{Language, SqlError};

/// What WITH says of a login.
#[derive(Debug, Default)]
struct Options {
    password: Option<String>,
    old_password: Option<String>,
    name: Option<String>,
    default_database: Option<String>,
    default_language: Option<&'static Language>,
    check_policy: Option<bool>,
    check_expiration: Option<bool>,
    unlock: bool,
}

impl Options {
    fn read(host: &SessionHost, written: &[SettingOption], alter: bool) -> Result<Options, SqlError> {
        let mut options = Options::default();
        let switch = |option: &SettingOption| match option.value {
            Some(SettingValue::On) => Ok(true),
            Some(SettingValue::Off) => Ok(false),
            _ => Err(SqlError::incorrect_syntax(&option.name)),
        };
        for refused in ["HASHED", "MUST_CHANGE", "SID"] {
            if written.iter().any(|option| option.name == refused) {
                return Err(unsupported(format!("The login option {refused}")));
            }
        }
        for option in written {
            match option.name.as_str() {
                "PASSWORD" => options.password = Some(option_text(option)?),
                "OLD_PASSWORD" if alter => options.old_password = Some(option_text(option)?),
                "NAME" if alter => options.name = Some(option_name(option)?),
                "UNLOCK" if alter => options.unlock = true,
                "DEFAULT_DATABASE" => {
                    let database = host.server.database(&option_name(option)?)?;
                    options.default_database = Some(database.name().to_owned());
                }
                "DEFAULT_LANGUAGE" => {
                    let name = option_name(option)?;
                    let language = Language::by_name(&name).ok_or_else(|| SqlError::language_unknown(&name))?;
                    options.default_language = Some(language);
                }
                "CHECK_POLICY" => options.check_policy = Some(switch(option)?),
                "CHECK_EXPIRATION" => options.check_expiration = Some(switch(option)?),
                other => return Err(unsupported(format!("The login option {other}"))),
            }
        }
        Ok(options)
    }

    /// Whether the new password of a login is what the policy asks for, where the login is under it.
    ///
    /// # Errors
    /// 15116, 15117, 15118.
    fn check_password(&self, host: &SessionHost, name: &str, is_checked: bool) -> Result<(), SqlError> {
        let is_checked = self.check_policy.unwrap_or(is_checked) && host.registry.checks_passwords();
        match self.password.as_ref().filter(|_| is_checked) {
            Some(password) => check_policy(name, password),
            None => Ok(()),
        }
    }

    /// The hash of the new password.
    async fn hash(&self, host: &SessionHost) -> Result<Option<String>, SqlError> {
        match &self.password {
            None => Ok(None),
            Some(password) => host.server.hash_password(password).await.map(Some),
        }
    }

    /// Puts into a login what was said of it.
    fn fill(self, hash: Option<String>, details: &mut LoginDetails) -> Result<(), SqlError> {
        details.set_password(hash);
        if let Some(database) = self.default_database {
            details.default_database = database;
        }
        if let Some(language) = self.default_language {
            details.default_language = language.name.to_owned();
        }
        details.check_policy = self.check_policy.unwrap_or(details.check_policy);
        details.check_expiration = self.check_expiration.unwrap_or(details.check_expiration);
        if details.check_expiration && !details.check_policy {
            return Err(SqlError::expiration_needs_policy());
        }
        if self.check_expiration == Some(true) {
            return Err(unsupported("CHECK_EXPIRATION = ON"));
        }
        Ok(())
    }
}

/// The fewest characters of a password under CHECK_POLICY.
const PASSWORD_MIN: usize = 8;
/// A name of fewer characters may be part of a password.
const NAME_MIN: usize = 3;

/// What CHECK_POLICY asks of a password: a length, three kinds of characters out of four, and that the login's name is no part of it.
///
/// # Errors
/// 15116, 15117, 15118.
fn check_policy(name: &str, password: &str) -> Result<(), SqlError> {
    if password.chars().count() < PASSWORD_MIN {
        return Err(SqlError::password_too_short());
    }
    let is_other = |c: char| !(c.is_uppercase() || c.is_lowercase() || c.is_numeric());
    let kinds = [char::is_uppercase, char::is_lowercase, char::is_numeric, is_other];
    let found = kinds.into_iter().filter(|is_kind| password.chars().any(is_kind)).count();
    let has_name = name.chars().count() >= NAME_MIN && password.to_lowercase().contains(&name.to_lowercase());
    if found < 3 || has_name { Err(SqlError::password_too_simple()) } else { Ok(()) }
}

/// CREATE LOGIN ... WITH PASSWORD.
pub(super) async fn create(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    require(context, Permission::AlterAnyLogin, Securable::Server)?;
    if let Some((clause, _)) = written.clauses.first() {
        return Err(unsupported(format!("CREATE LOGIN ... {clause}")));
    }
    let name = written.name.text.as_str();
    check_name(name)?;
    let options = Options::read(host, &written.options, false)?;
    if options.password.is_none() {
        return Err(SqlError::incorrect_syntax(name));
    }
    if principals(host, context, PrincipalKind::Login)?.find(name).is_some() {
        return Err(SqlError::login_exists(name));
    }
    options.check_password(host, name, true)?;
    let hash = options.hash(host).await?;
    let create = Change::create(name, PrincipalKind::Login, move |login: &mut Principal, _: &Principals| {
        let details = login.become_login()?;
        options.fill(hash, details)
    });
    apply(host, context, vec![create]).await
}

/// ALTER LOGIN: its password and options, or ENABLE and DISABLE.
pub(super) async fn alter(
    host: &SessionHost,
    written: &pikepole_tsql::Principal,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    let name = written.name.text.as_str();
    let missing = || SqlError::item_missing("alter", "login", name);
    let logins = principals(host, context, PrincipalKind::Login)?;
    let login = logins.find(name).filter(|login| login.kind == PrincipalKind::Login).ok_or_else(missing)?;
    let options = Options::read(host, &written.options, true)?;
    let own = context.token().login().id == login.id;
    let only_password = options.name.is_none()
        && options.default_database.is_none()
        && options.default_language.is_none()
        && options.check_policy.is_none()
        && options.check_expiration.is_none()
        && written.clauses.is_empty();
    if own && only_password && options.old_password.is_some() {
        let (name, old) = (login.name.clone(), options.old_password.clone().unwrap_or_default());
        if !host.server.is_password_of(&name, &old).await {
            return Err(SqlError::item_missing("alter", "login", name));
        }
    } else {
        check_may_alter(context, login)?;
    }
    let mut enabled = None;
    for (clause, _) in &written.clauses {
        enabled = match clause.as_str() {
            "ENABLE" => Some(true),
            "DISABLE" => Some(false),
            other => return Err(unsupported(format!("ALTER LOGIN ... {other}"))),
        };
    }
    if let Some(new) = &options.name {
        check_name(new)?;
        if login.id == SA {
            return Err(SqlError::principal_cannot("alter", "login", name));
        }
        if logins.find(new).is_some_and(|other| other.id != login.id) {
            return Err(SqlError::login_exists(new));
        }
    }
    let is_checked = login.login.as_ref().is_some_and(|details| details.check_policy);
    options.check_password(host, options.name.as_deref().unwrap_or(&login.name), is_checked)?;
    let hash = options.hash(host).await?;
    if options.unlock {
        host.server.forget_login_failures(&login.name);
    }
    let id = login.id;
    let alter = Change::alter(login, move |login| {
        if let Some(name) = options.name.clone() {
            login.name = name;
        }
        let Some(details) = &mut login.login else { return Err(SqlError::no_permission()) };
        details.disabled = enabled.map_or(details.disabled, |enabled| !enabled);
        options.fill(hash, details)
    });
    apply(host, context, vec![alter]).await?;
    host.server.forget_verified_password(id);
    Ok(())
}

/// Only who may do everything changes one who may.
fn check_may_alter(context: &ExecutionContext, login: &Principal) -> Result<(), SqlError> {
    let token = context.token();
    let is_administrator = pikepole_engine::is_member(token.logins(), login.id, pikepole_engine::SYSADMIN);
    let allowed = if is_administrator || login.id == SA {
        token.has(Permission::ControlServer, Securable::Server)
    } else {
        token.has(Permission::Alter, Securable::Login(login.id))
    };
    if allowed { Ok(()) } else { Err(SqlError::item_missing("alter", "login", &login.name)) }
}

/// DROP LOGIN.
pub(super) async fn drop(
    host: &SessionHost,
    login: &Principal,
    context: &mut ExecutionContext,
) -> Result<(), SqlError> {
    if check_may_alter(context, login).is_err() {
        return Err(SqlError::item_missing("drop", "login", &login.name));
    }
    if login.is_fixed() {
        return Err(SqlError::principal_cannot("drop", "login", &login.name));
    }
    if host.registry.rows().iter().any(|session| session.login_id == login.id) {
        return Err(SqlError::login_is_in_use(&login.name));
    }
    apply(host, context, vec![Change::Drop(login.id, PrincipalKind::Login)]).await?;
    host.server.forget_verified_password(login.id);
    Ok(())
}
