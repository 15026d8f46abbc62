//! Logging in: verifying passwords, and making guessing them slow.
//!
//! A client learns nothing but that it failed: an unknown name costs the same hash as a known one. What it was is given to the
//! caller apart, for the server's own log. Each failure of a name or of a host makes the next answer to it later, up to
//! [`DELAY_MAX`]; few hashes are computed at a time, because each takes its memory.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use pikepole_contention::sync::{Condvar, Mutex, MutexGuard, OnceLock, thread};
use pikepole_types::{Language, SqlError};

use super::password::is_password;
use super::principal::{LoginDetails, Principal, PrincipalKind, Principals, SA, SA_SID};
use super::token::SecurityToken;
use crate::database::{Database, Durability};
use crate::server::{MASTER, Server};

/// Hashes computed at a time.
const HASHES_MAX: usize = 4;
/// The delay of the first failure; each further one doubles it.
const DELAY_FIRST: Duration = Duration::from_millis(100);
/// The longest delay.
const DELAY_MAX: Duration = Duration::from_secs(3);
/// Failures older than this are forgotten.
const FAILURES_KEPT_US: u64 = 15 * 60 * 1_000_000;
/// Names and hosts whose failures are counted; beyond that the oldest are forgotten.
const COUNTED_MAX: usize = 4_096;
/// The session that changes made by the server itself name.
const SYSTEM_SESSION: i32 = 1;

/// Who a session is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginPrincipal {
    /// The login's id among the server's principals.
    pub id: i32,
    /// Its name.
    pub name: String,
    /// Its security id.
    pub sid: Vec<u8>,
    /// The database of its sessions that ask for none.
    pub default_database: String,
    /// The language of its sessions that ask for none.
    pub default_language: &'static Language,
}

impl LoginPrincipal {
    /// The login that may do everything: whoever has the files.
    pub fn sa() -> LoginPrincipal {
        LoginPrincipal {
            id: SA,
            name: "sa".to_owned(),
            sid: SA_SID.to_vec(),
            default_database: MASTER.to_owned(),
            default_language: Language::ENGLISH,
        }
    }
}

impl LoginPrincipal {
    fn of(login: &Principal, details: &LoginDetails) -> LoginPrincipal {
        LoginPrincipal {
            id: login.id,
            name: login.name.clone(),
            sid: login.sid.clone(),
            default_database: details.default_database.clone(),
            default_language: Language::by_name(&details.default_language).unwrap_or_default(),
        }
    }

    /// The login of this name, for EXECUTE AS LOGIN.
    pub fn find(logins: &Principals, name: &str) -> Option<LoginPrincipal> {
        let login = logins.find(name).filter(|login| login.kind == PrincipalKind::Login)?;
        Some(LoginPrincipal::of(login, login.login.as_ref()?))
    }
}

impl Default for LoginPrincipal {
    fn default() -> Self {
        LoginPrincipal::sa()
    }
}

/// Why a login failed: for the server's log, never for the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoginFailureReason {
    /// There is no login of this name.
    UnknownName,
    /// The password is another one.
    WrongPassword,
    /// The login has no password yet.
    NoPassword,
    /// ALTER LOGIN ... DISABLE.
    Disabled,
    /// DENY CONNECT SQL.
    ConnectDenied,
    /// The catalog of logins cannot be read: master is not open.
    NoCatalog,
}

impl LoginFailureReason {
    /// A sentence for the log.
    pub fn text(self) -> &'static str {
        match self {
            LoginFailureReason::UnknownName => "Could not find a login matching the name provided.",
            LoginFailureReason::WrongPassword => "Password did not match that for the login provided.",
            LoginFailureReason::NoPassword => "The login has no password.",
            LoginFailureReason::Disabled => "The account is disabled.",
            LoginFailureReason::ConnectDenied => "The login was denied CONNECT SQL.",
            LoginFailureReason::NoCatalog => "The database master is not open.",
        }
    }
}

/// A login that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginFailure {
    /// What the client is told: 18456 without a hint, or 18470.
    pub error: SqlError,
    /// What it was.
    pub reason: LoginFailureReason,
    /// The failures of this name or this host lately, whichever are more, this one included.
    pub failures: u32,
    /// How long to wait before the client is told.
    pub delay: Duration,
}

/// The failures of one name or host.
#[derive(Debug, Clone, Copy, Default)]
struct Failures {
    count: u32,
    last_us: u64,
}

/// What logging in shares in a server.
#[derive(Default)]
pub(crate) struct LoginGate {
    hashing: Mutex<usize>,
    hashed: Condvar,
    failures: Mutex<HashMap<String, Failures>>,
    /// What an unknown name's password is compared with.
    decoy: OnceLock<Option<String>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl LoginGate {
    /// Computes something that takes a hash's memory, in turn.
    fn hash<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut running = lock(&self.hashing);
        while *running >= HASHES_MAX {
            running = self.hashed.wait(running).unwrap_or_else(|e| e.into_inner());
        }
        *running += 1;
        drop(running);
        let _turn = Turn(self);
        work()
    }

    /// Counts a failure of each key; the most that one of them has.
    fn count(&self, keys: &[String], now_us: u64) -> u32 {
        let mut failures = lock(&self.failures);
        if failures.len() >= COUNTED_MAX {
            let newest = failures.values().map(|f| f.last_us).max().unwrap_or(0);
            let keep_us = newest.saturating_sub(FAILURES_KEPT_US);
            failures.retain(|_, counted| counted.last_us > keep_us);
            if failures.len() >= COUNTED_MAX {
                failures.clear();
            }
        }
        let mut most = 0;
        for key in keys {
            let counted = failures.entry(key.clone()).or_default();
            if now_us.saturating_sub(counted.last_us) > FAILURES_KEPT_US {
                counted.count = 0;
            }
            *counted = Failures { count: counted.count.saturating_add(1), last_us: now_us };
            most = most.max(counted.count);
        }
        most
    }

    fn forget(&self, keys: &[String]) {
        let mut failures = lock(&self.failures);
        for key in keys {
            failures.remove(key);
        }
    }
}

/// Held while a hash is computed.
struct Turn<'a>(&'a LoginGate);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        *lock(&self.0.hashing) -= 1;
        self.0.hashed.notify_one();
    }
}

fn keys(name: &str, host: &str) -> Vec<String> {
    let name = format!("name {}", name.to_lowercase());
    if host.is_empty() { vec![name] } else { vec![name, format!("host {host}")] }
}

fn delay(failures: u32) -> Duration {
    let doublings = failures.saturating_sub(1).min(16);
    DELAY_FIRST.saturating_mul(1 << doublings).min(DELAY_MAX)
}

fn now_us() -> u64 {
    u64::try_from(pikepole_machine::clock::unix_time_us()).unwrap_or(0)
}

impl Server {
    /// Verifies a name and a password. Takes some tens of milliseconds of CPU and blocks; a failure also blocks for its
    /// delay: not for a scheduler's thread.
    ///
    /// # Errors
    /// 18456 without a hint of what was wrong; 18470 for a disabled login whose password was right.
    pub fn verify_login(&self, name: &str, password: &str) -> Result<LoginPrincipal, SqlError> {
        self.verify_login_from(name, password, "").map_err(|failure| {
            thread::sleep(failure.delay);
            failure.error
        })
    }

    /// [`Server::verify_login`] for a client at `host` (an address; empty: not known), which leaves the delay to the caller
    /// and says what was wrong, for the server's log.
    ///
    /// # Errors
    /// See [`LoginFailure`].
    pub fn verify_login_from(
        &self,
        name: &str,
        password: &str,
        host: &str,
    ) -> Result<LoginPrincipal, Box<LoginFailure>> {
        let keys = keys(name, host);
        match self.check_login(name, password) {
            Ok(principal) => {
                // The host's count stays: one good login must not pay for guesses at others.
                self.login_gate().forget(&keys[..1]);
                Ok(principal)
            }
            Err(reason) => {
                let failures = self.login_gate().count(&keys, now_us());
                let error = match reason {
                    LoginFailureReason::Disabled => SqlError::login_disabled(name),
                    _ => SqlError::login_failed(name),
                };
                Err(Box::new(LoginFailure { error, reason, failures, delay: delay(failures) }))
            }
        }
    }

    fn check_login(&self, name: &str, password: &str) -> Result<LoginPrincipal, LoginFailureReason> {
        let logins = self.logins().map_err(|_| LoginFailureReason::NoCatalog)?;
        let found = logins.find(name).filter(|login| login.kind == PrincipalKind::Login);
        let details = found.and_then(|login| login.login.as_ref());
        let hash = details.and_then(|details| details.password.clone());
        let known = hash.is_some();
        let gate = self.login_gate();
        let cost = self.password_cost();
        let hash = hash.or_else(|| gate.decoy.get_or_init(|| gate.hash(|| cost.hash("").ok())).clone());
        let matches = gate.hash(|| hash.is_some_and(|hash| is_password(password, &hash)));
        let (Some(login), Some(details)) = (found, details) else {
            return Err(LoginFailureReason::UnknownName);
        };
        if !known {
            return Err(LoginFailureReason::NoPassword);
        }
        if !matches {
            return Err(LoginFailureReason::WrongPassword);
        }
        if details.disabled {
            return Err(LoginFailureReason::Disabled);
        }
        let principal = LoginPrincipal::of(login, details);
        if SecurityToken::may_log_in(&principal, &logins) {
            Ok(principal)
        } else {
            Err(LoginFailureReason::ConnectDenied)
        }
    }

    /// The logins and server roles.
    ///
    /// # Errors
    /// 926, 927 while master is not open.
    pub fn logins(&self) -> Result<Arc<Principals>, SqlError> {
        Ok(self.database(MASTER)?.current_catalog().logins().clone())
    }

    /// A number that changes when the logins and server roles may have changed: the version of master's definitions.
    pub fn logins_version(&self) -> u64 {
        self.database(MASTER).map_or(0, |master| master.committed_version())
    }

    /// Whether `sa` has a password.
    pub fn has_sa_password(&self) -> bool {
        let details = |logins: Arc<Principals>| logins.get(SA).and_then(|sa| sa.login.clone());
        self.logins().ok().and_then(details).is_some_and(|details| details.has_password())
    }

    /// Sets the password of `sa`, durably. Blocks: not for a scheduler's thread.
    ///
    /// # Errors
    /// 15117 for one that is too long; what keeps master from being changed.
    pub fn set_sa_password(&self, password: &str) -> Result<(), SqlError> {
        let hash = self.login_gate().hash(|| self.password_cost().hash(password))?;
        let master = self.database(MASTER)?;
        self.schedulers().block_on(set_password(&master, SA, hash))
    }

    /// Sets a login's own password, durably, for one that has just said its old one.
    ///
    /// # Errors
    /// 15117 for one that is too long; what keeps master from being changed.
    pub async fn change_password(self: &Arc<Self>, login: i32, password: &str) -> Result<(), SqlError> {
        let hash = self.hash_password(password).await?;
        set_password(&*self.database(MASTER)?, login, hash).await
    }

    /// The PHC string of a password, computed on a thread that may block.
    ///
    /// # Errors
    /// 15117 for one that is too long.
    pub async fn hash_password(self: &Arc<Self>, password: &str) -> Result<String, SqlError> {
        let (server, password) = (self.clone(), password.to_owned());
        let hash = move || server.login_gate().hash(|| server.password_cost().hash(&password));
        pikepole_scheduler::run_blocking(hash).await
    }

    /// Whether a login has this password, computed on a thread that may block.
    pub async fn is_password_of(self: &Arc<Self>, name: &str, password: &str) -> bool {
        let (server, name, password) = (self.clone(), name.to_owned(), password.to_owned());
        pikepole_scheduler::run_blocking(move || server.check_login(&name, &password).is_ok()).await
    }

    /// ALTER LOGIN ... UNLOCK: the failures of a name count no more.
    pub fn forget_login_failures(&self, name: &str) {
        self.login_gate().forget(&keys(name, ""));
    }
}

/// Sets a login's password in a transaction of its own.
async fn set_password(master: &Database, id: i32, hash: String) -> Result<(), SqlError> {
    let mut tx = master.transaction(SYSTEM_SESSION);
    let changed = master
        .change_principal(&mut tx, id, PrincipalKind::Login, |principal| {
            let details = principal.login.as_mut().expect("a login has a login's details");
            details.set_password(Some(hash));
            Ok(())
        })
        .await;
    match changed {
        Ok(()) => master.commit(&mut tx, Durability::Full).await,
        Err(error) => {
            // The change's error says more than one of its undoing would.
            let _ = master.rollback(&mut tx).await;
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_name_and_by_host_and_forgotten() {
        let gate = LoginGate::default();
        assert_eq!(gate.count(&keys("SA", "a"), 1), 1);
        assert_eq!(gate.count(&keys("sa", "b"), 2), 2);
        assert_eq!(gate.count(&keys("other", "b"), 3), 2);
        gate.forget(&keys("sa", "b")[..1]);
        assert_eq!(gate.count(&keys("sa", "c"), 4), 1);
        assert_eq!(gate.count(&keys("other", "d"), 5 + FAILURES_KEPT_US), 1);
    }

    #[test]
    fn many_names_do_not_fill_the_memory() {
        let gate = LoginGate::default();
        for number in 0..3 * COUNTED_MAX {
            gate.count(&keys(&number.to_string(), ""), number as u64);
        }
        assert!(lock(&gate.failures).len() <= COUNTED_MAX);
    }

    #[test]
    fn delays_grow_to_a_bound() {
        let delays: Vec<u128> = (1..8).map(|failures| delay(failures).as_millis()).collect();
        assert_eq!(delays, [100, 200, 400, 800, 1600, 3000, 3000]);
        assert_eq!(delay(u32::MAX), DELAY_MAX);
    }
}
