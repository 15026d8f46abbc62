//! Logging in: verifying passwords, and making guessing them slow without making logging in slow.
//!
//! ```text
//!   name ──not there, or no password──────────────────────▶ fails, later, as if it had been hashed
//!    │ there
//!    ├─ its right password, seen before (a keyed tag) ─────▶ lets in, microseconds
//!    ├─ a wrong one, seen before ──────────────────────────▶ fails, later
//!    ├─ the last failure's delay is not over (name, address) ─▶ fails, later, not looked at
//!    └─ LoginQueue: fair to addresses and names ── Argon2id ─▶ lets in, or fails, later
//! ```
//! A client learns nothing but that it failed: whatever the reason, the answer comes when the delay of its failures is over,
//! counted from its arrival. A hash is done by then, or the answer of an unknown name comes as late as lately those of hashes
//! did. What it was is given to the caller apart, for the server's own log.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pikepole_contention::Counter;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use pikepole_contention::sync::{Condvar, Mutex, MutexGuard};
use pikepole_types::{Language, SqlError};

use super::failures::{LoginFailures, delay};
use super::login_queue::LoginQueue;
use super::password::is_password;
use super::principal::{LoginDetails, Principal, PrincipalKind, Principals, SA, SA_SID};
use super::token::SecurityToken;
use super::verified::{Known, VerifiedPasswords};
use crate::database::{Database, Durability};
use crate::server::{MASTER, Server};

/// Hashes of logins computed at a time: at most so many, and half of the CPUs. The others are for sessions.
const HASHES_MAX: usize = 4;
/// Hashes of new passwords computed at a time.
const NEW_HASHES_MAX: usize = 2;
/// The times of hashes that are remembered.
const TIMES: usize = 32;
/// How long a hash is taken to last before one was measured.
const TIME_GUESS_US: u64 = 30_000;
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
    /// The name has failed from this address just now.
    TooSoon,
    /// Too many logins of this name or address wait already.
    QueueFull,
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
            LoginFailureReason::TooSoon => {
                "The login has failed from this address just now; the password was not looked at."
            }
            LoginFailureReason::QueueFull => "Too many logins wait; the password was not looked at.",
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

/// What logging in shares in a server.
pub(crate) struct LoginGate {
    failures: LoginFailures,
    queue: Arc<LoginQueue>,
    verified: VerifiedPasswords,
    times: HashTimes,
    hashing: Mutex<usize>,
    hashed: Condvar,
}

impl Default for LoginGate {
    fn default() -> Self {
        let cpus = pikepole_contention::sync::thread::available_parallelism().map_or(1, usize::from);
        LoginGate {
            failures: LoginFailures::default(),
            queue: Arc::new(LoginQueue::new((cpus / 2).clamp(1, HASHES_MAX))),
            verified: VerifiedPasswords::default(),
            times: HashTimes::default(),
            hashing: Mutex::new(0),
            hashed: Condvar::new(),
        }
    }
}

/// How long lately it took from a login's arrival to its password's hash, queue included.
#[derive(Default)]
struct HashTimes {
    recent_us: Mutex<Vec<u64>>,
    /// Where the next one is noted, and where the next one is taken from.
    next: AtomicUsize,
    drawn: AtomicUsize,
    measured: AtomicBool,
}

impl HashTimes {
    fn note(&self, time: Duration) {
        let time_us = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        let mut recent = lock(&self.recent_us);
        if recent.len() < TIMES {
            return recent.push(time_us);
        }
        // Relaxed: the number says only which place is overwritten.
        let place = self.next.fetch_add(1, Ordering::Relaxed) % TIMES;
        recent[place] = time_us;
    }

    /// One of them after the other.
    fn draw(&self) -> Duration {
        let recent = lock(&self.recent_us);
        // Relaxed: as above.
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        Duration::from_micros(if recent.is_empty() { TIME_GUESS_US } else { recent[drawn % recent.len()] })
    }

    /// Whether the caller is to measure one, as the first who asks.
    fn is_to_be_measured(&self) -> bool {
        // Relaxed: it only chooses one caller.
        lock(&self.recent_us).is_empty() && !self.measured.swap(true, Ordering::Relaxed)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl LoginGate {
    /// Computes the hash of a new password, in turn. Blocks.
    fn hash<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut running = lock(&self.hashing);
        while *running >= NEW_HASHES_MAX {
            running = self.hashed.wait(running).unwrap_or_else(|e| e.into_inner());
        }
        *running += 1;
        drop(running);
        let _turn = NewHash(self);
        work()
    }
}

/// What a client says, from where and when.
struct Attempt<'a> {
    name: &'a str,
    password: &'a str,
    host: &'a str,
    arrived: Instant,
    arrived_us: u64,
}

/// Held while a new password's hash is computed.
struct NewHash<'a>(&'a LoginGate);

impl Drop for NewHash<'_> {
    fn drop(&mut self) {
        *lock(&self.0.hashing) -= 1;
        self.0.hashed.notify_one();
    }
}

fn now_us() -> u64 {
    pikepole_machine::clock::now_us()
}

impl Server {
    /// Verifies a name and a password for a client at `host` (an address; empty: not known). When it fails, the caller logs why
    /// and tells the client after [`Server::hold_failure`]. Dropped, it takes its place in the queue with it.
    ///
    /// # Errors
    /// See [`LoginFailure`].
    pub async fn verify_login(
        self: &Arc<Self>,
        name: &str,
        password: &str,
        host: &str,
    ) -> Result<LoginPrincipal, Box<LoginFailure>> {
        let attempt = Attempt { name, password, host, arrived: Instant::now(), arrived_us: now_us() };
        let gate = self.login_gate();
        let looked = match self.logins() {
            Ok(logins) => self.look_at_login(&logins, &attempt).await,
            Err(_) => Err((LoginFailureReason::NoCatalog, Duration::ZERO)),
        };
        let (reason, least) = match looked {
            Ok(principal) => {
                gate.failures.forget(name, host);
                return Ok(principal);
            }
            Err(failed) => failed,
        };
        let failures = match reason {
            LoginFailureReason::TooSoon => gate.failures.may_look(name, host, attempt.arrived_us).err().unwrap_or(1),
            // From its arrival on: who waits for the answer and tries again is looked at.
            _ => gate.failures.count(name, host, attempt.arrived_us),
        };
        let error = match reason {
            LoginFailureReason::Disabled => SqlError::login_disabled(name),
            _ => SqlError::login_failed(name),
        };
        let delay = delay(failures).max(least).saturating_sub(attempt.arrived.elapsed());
        Err(Box::new(LoginFailure { error, reason, failures, delay }))
    }

    /// [`Server::verify_login`], waited for on a thread that is no scheduler's.
    ///
    /// # Errors
    /// See [`LoginFailure`].
    pub fn verify_login_from(
        self: &Arc<Self>,
        name: &str,
        password: &str,
        host: &str,
    ) -> Result<LoginPrincipal, Box<LoginFailure>> {
        self.schedulers().block_on(self.verify_login(name, password, host))
    }

    /// Waits before a client hears of its failure. When many of an address wait already, there is no wait: they would take the
    /// connections.
    pub async fn hold_failure(&self, host: &str, delay: Duration) {
        if let Some(_held) = self.login_gate().failures.hold(host) {
            pikepole_scheduler::sleep(delay).await;
        }
    }

    /// Who it is; else why not, and how long after its arrival the answer comes at the soonest.
    async fn look_at_login(
        self: &Arc<Self>,
        logins: &Arc<Principals>,
        attempt: &Attempt<'_>,
    ) -> Result<LoginPrincipal, (LoginFailureReason, Duration)> {
        let gate = self.login_gate();
        let (name, password) = (attempt.name, attempt.password);
        let found = logins.find(name).filter(|login| login.kind == PrincipalKind::Login);
        let stored = found.and_then(|login| Some((login, login.login.as_ref()?)));
        let hash = stored.and_then(|(login, details)| Some((login.id, details.password.clone()?)));
        let known = hash.as_ref().and_then(|(id, hash)| gate.verified.known(*id, hash, password));
        if known != Some(Known::Right) && gate.failures.may_look(name, attempt.host, attempt.arrived_us).is_err() {
            return Err((LoginFailureReason::TooSoon, Duration::ZERO));
        }
        let (Some((login, details)), Some((id, hash))) = (stored, hash) else {
            if gate.times.is_to_be_measured() {
                self.measure_hash(attempt).await;
            }
            let reason = if found.is_some() { LoginFailureReason::NoPassword } else { LoginFailureReason::UnknownName };
            return Err((reason, gate.times.draw()));
        };
        let is_right = match known {
            Some(known) => self.is_known_right(known),
            None => self.compare(id, &hash, attempt).await.map_err(|why| (why, Duration::ZERO))?,
        };
        if !is_right {
            return Err((LoginFailureReason::WrongPassword, Duration::ZERO));
        }
        may_log_in(logins, login, details).map_err(|why| (why, Duration::ZERO))
    }

    /// Hashes a password in its turn, and compares.
    async fn compare(self: &Arc<Self>, id: i32, hash: &str, attempt: &Attempt<'_>) -> Result<bool, LoginFailureReason> {
        let (gate, password) = (self.login_gate(), attempt.password);
        let has_failed = gate.failures.has_failed(attempt.name, attempt.host, attempt.arrived_us);
        let turn = gate.queue.turn(attempt.host, &attempt.name.to_lowercase(), has_failed).await;
        let turn = turn.ok_or(LoginFailureReason::QueueFull)?;
        // Others of the same name may have failed meanwhile, or shown what it is.
        let known = gate.verified.known(id, hash, password);
        if let Some(known) = known {
            return Ok(self.is_known_right(known));
        }
        if gate.failures.may_look(attempt.name, attempt.host, attempt.arrived_us).is_err() {
            return Err(LoginFailureReason::TooSoon);
        }
        self.statistics().add(Counter::PasswordHashes, 1);
        let (hash_too, password_too) = (hash.to_owned(), password.to_owned());
        let work = move || {
            // The turn ends with the work, also when its client has gone.
            let _turn = turn;
            is_password(&password_too, &hash_too)
        };
        let is_right = pikepole_scheduler::run_blocking(work).await;
        gate.times.note(attempt.arrived.elapsed());
        gate.verified.keep(id, hash, password, is_right);
        Ok(is_right)
    }

    /// True for a right password; counts it.
    fn is_known_right(&self, known: Known) -> bool {
        let is_right = known == Known::Right;
        self.statistics().add(Counter::LoginsFromCache, u64::from(is_right));
        is_right
    }

    /// Hashes something once, to know how long that takes.
    async fn measure_hash(self: &Arc<Self>, attempt: &Attempt<'_>) {
        let gate = self.login_gate();
        let Some(turn) = gate.queue.turn(attempt.host, "", true).await else { return };
        let cost = self.password_cost();
        let work = move || {
            let _turn = turn;
            cost.hash("").is_ok()
        };
        if pikepole_scheduler::run_blocking(work).await {
            gate.times.note(attempt.arrived.elapsed());
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
        let set = self.schedulers().block_on(set_password(&master, SA, hash));
        self.forget_verified_password(SA);
        set
    }

    /// Sets a login's own password, durably, for one that has just said its old one.
    ///
    /// # Errors
    /// 15117 for one that is too long; what keeps master from being changed.
    pub async fn change_password(self: &Arc<Self>, login: i32, password: &str) -> Result<(), SqlError> {
        let hash = self.hash_password(password).await?;
        let set = set_password(&*self.database(MASTER)?, login, hash).await;
        self.forget_verified_password(login);
        set
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

    /// Whether a login has this password: for one that changes its own.
    pub async fn is_password_of(self: &Arc<Self>, name: &str, password: &str) -> bool {
        let Ok(logins) = self.logins() else { return false };
        let attempt = Attempt { name, password, host: "", arrived: Instant::now(), arrived_us: now_us() };
        self.look_at_login(&logins, &attempt).await.is_ok()
    }

    /// ALTER LOGIN, DROP LOGIN: the next password of the login is hashed, whatever was verified before.
    pub fn forget_verified_password(&self, login: i32) {
        self.login_gate().verified.forget(login);
    }

    /// ALTER LOGIN ... UNLOCK: the failures of a name count no more.
    pub fn forget_login_failures(&self, name: &str) {
        self.login_gate().failures.forget_name(name);
    }
}

/// Whether a login whose password was right may come in.
fn may_log_in(
    logins: &Arc<Principals>,
    login: &Principal,
    details: &LoginDetails,
) -> Result<LoginPrincipal, LoginFailureReason> {
    if details.disabled {
        return Err(LoginFailureReason::Disabled);
    }
    let principal = LoginPrincipal::of(login, details);
    match SecurityToken::may_log_in(&principal, logins) {
        true => Ok(principal),
        false => Err(LoginFailureReason::ConnectDenied),
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
