//! Opening a folder, connecting, policies, checking.

use crate::connection::Connection;
use crate::mailbox::Mailbox;
use crate::task;
use crate::temporary::TemporaryFolder;
use crate::{Error, blocking};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::{
    DatabaseMemory, OpenError, PolicyRow, RecoveryProgress, RecoveryWatch, SchedulerChoice, Server, ServerOptions,
};
use pikepole_machine::memory::MemoryLimit;
use pikepole_machine::{Disk, SlowDevice, SystemFiles};
use pikepole_scheduler::{JoinHandle, Placement};
use pikepole_session::{Registry, Session, SessionOptions};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

/// How an engine is opened.
///
/// ```no_run
/// use pikepole_embedded::{Engine, Options};
///
/// let options = Options::new("./data").buffer_pool_bytes(64 << 20).policy("LOG_RESERVATION", "SPINLOCK");
/// let engine = Engine::open(options)?;
/// # Ok::<(), pikepole_embedded::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Options {
    folder: PathBuf,
    place: Place,
    create: bool,
    buffer_pool_bytes: Option<u64>,
    log_bytes_max: Option<u64>,
    cpus: Option<Vec<usize>>,
    policies: Vec<(String, String)>,
    trace_flags: Vec<i32>,
    slow_device: Option<SlowDevice>,
    machine: SystemFiles,
    recovery_watch: Option<RecoveryWatch>,
    backup_folders: Vec<PathBuf>,
    load_folders: Vec<PathBuf>,
    working_folder: Option<PathBuf>,
}

/// The place of an engine's folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Disk,
    /// On the disk, made for the engine and removed with it.
    Temporary,
    /// In memory, of so many bytes at most; `None`: half of what the process may have.
    Memory(Option<u64>),
}

/// The folder of an engine in memory, on a disk of its own.
const MEMORY_FOLDER: &str = "/pikepole-in-memory";
/// The part of the process's memory that an engine in memory has for its files.
const MEMORY_PART: u64 = 2;

impl Options {
    /// The folder of databases; it is made when it is not there.
    pub fn new(folder: impl Into<PathBuf>) -> Options {
        Options::at(Place::Disk, folder.into())
    }

    /// Databases in memory, which end with the engine: no file is written. Files of databases and of their logs have half of the memory that
    /// the process may have, unless [`Options::memory_bytes_max`] says otherwise; beyond it statements fail with error 1105 or 9002.
    /// BACKUP and loads find no files of the system.
    pub fn in_memory() -> Options {
        Options::at(Place::Memory(None), PathBuf::from(MEMORY_FOLDER))
    }

    /// A folder of databases in the system's folder for temporary files, made when the engine is opened and removed when it is closed.
    /// A process that is killed leaves it.
    pub fn temporary() -> Options {
        Options::at(Place::Temporary, crate::temporary::new_path())
    }

    /// Bytes that the files of an engine in memory may have; nothing else is concerned.
    pub fn memory_bytes_max(mut self, bytes: u64) -> Options {
        if let Place::Memory(bytes_max) = &mut self.place {
            *bytes_max = Some(bytes);
        }
        self
    }

    fn at(place: Place, folder: PathBuf) -> Options {
        Options {
            folder,
            place,
            create: true,
            buffer_pool_bytes: None,
            log_bytes_max: None,
            cpus: None,
            policies: Vec::new(),
            trace_flags: Vec::new(),
            slow_device: None,
            machine: SystemFiles::below("/"),
            recovery_watch: None,
            backup_folders: Vec::new(),
            load_folders: Vec::new(),
            working_folder: None,
        }
    }

    /// Whether a folder that is not there is made; it is unless this says no.
    pub fn create(mut self, create: bool) -> Options {
        self.create = create;
        self
    }

    /// Bytes of pages that each database keeps in memory at most; without it all databases together have what the server's memory leaves
    /// them.
    pub fn buffer_pool_bytes(mut self, bytes: u64) -> Options {
        self.buffer_pool_bytes = Some(bytes);
        self
    }

    /// Bytes that the log of a database may take on disk at the most.
    pub fn log_bytes_max(mut self, bytes: u64) -> Options {
        self.log_bytes_max = Some(bytes);
        self
    }

    /// The CPUs to run on, one scheduler each; without it all that the process may use.
    pub fn cpus(mut self, cpus: Vec<usize>) -> Options {
        self.cpus = Some(cpus);
        self
    }

    /// A policy of a serialisation point, for this run; see [`Engine::policies`].
    pub fn policy(mut self, name: &str, value: &str) -> Options {
        self.policies.push((name.to_string(), value.to_string()));
        self
    }

    /// A trace flag that is on from the start, as `-T` of the command line; see `docs/understand/lab.md` for those that do something.
    pub fn trace_flag(mut self, flag: i32) -> Options {
        self.trace_flags.push(flag);
        self
    }

    /// Acts a slower device: durable writes and syncs take as long as on it.
    pub fn slow_device(mut self, device: SlowDevice) -> Options {
        self.slow_device = Some(device);
        self
    }

    /// Takes the machine's nodes and cores from these files in the place of the system's.
    pub fn machine(mut self, files: SystemFiles) -> Options {
        self.machine = files;
        self
    }

    /// Calls `tell` once a second while [`Engine::open`] recovers a database for longer than two seconds.
    pub fn on_recovery(mut self, tell: impl Fn(&RecoveryProgress) + Send + Sync + 'static) -> Options {
        self.recovery_watch = Some(RecoveryWatch::new(tell));
        self
    }

    /// A folder that BACKUP and RESTORE may name files in, beside `backup` in the folder of databases; relative names are of the
    /// first one given. May be called several times.
    pub fn backup_folder(mut self, folder: impl Into<PathBuf>) -> Options {
        self.backup_folders.push(folder.into());
        self
    }

    /// A folder that loads may name files in; relative names are of the first one given. With one, loads read no other files.
    /// May be called several times.
    pub fn load_folder(mut self, folder: impl Into<PathBuf>) -> Options {
        self.load_folders.push(folder.into());
        self
    }

    /// The folder that relative names of loads belong to when there are no load folders; the folder of databases unless this names another.
    pub fn working_folder(mut self, folder: impl Into<PathBuf>) -> Options {
        self.working_folder = Some(folder.into());
        self
    }

    /// The options of the engine itself, for a program that runs more than this API over it. A temporary folder is that program's to remove.
    pub fn into_server_options(self) -> ServerOptions {
        let disk = match self.place {
            Place::Disk | Place::Temporary => Disk::real(),
            Place::Memory(bytes_max) => {
                let half = || match MemoryLimit::of(&self.machine).bytes {
                    0 => u64::MAX,
                    bytes => bytes / MEMORY_PART,
                };
                Disk::memory(bytes_max.unwrap_or_else(half))
            }
        };
        ServerOptions {
            schedulers: SchedulerChoice::Threads { cpus: self.cpus, pin: true },
            buffer_pool_bytes: self.buffer_pool_bytes,
            log_bytes_max: self.log_bytes_max,
            policies: self.policies,
            trace_flags: self.trace_flags,
            machine: self.machine,
            disk: self.slow_device.map_or_else(|| disk.clone(), |device| disk.clone().slowed(device)),
            recovery_watch: self.recovery_watch,
            backup_folders: self.backup_folders,
            load_folders: self.load_folders,
            working_folder: self.working_folder,
            ..ServerOptions::new(self.folder)
        }
    }
}

/// A policy of a serialisation point.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: String,
    /// The values it can have, the classic way first.
    pub values: Vec<String>,
    /// What it is about.
    pub help: String,
}

/// An open folder of databases. Cheap to clone; the folder is closed by [`Engine::shutdown`], or when the last clone and the
/// last connection are gone.
///
/// ```
/// # let folder = std::env::temp_dir().join(format!("pikepole-doc-engine-{}", std::process::id()));
/// use pikepole_embedded::{Engine, Options, params};
///
/// let engine = Engine::open(Options::new(&folder))?;
/// let mut connection = engine.connect_blocking()?;
/// connection.execute("CREATE TABLE dbo.reading (id int PRIMARY KEY, celsius float NOT NULL)", [])?;
/// connection.execute("INSERT dbo.reading (id, celsius) VALUES (@id, @celsius)", params![@id = 1, @celsius = 21.5])?;
/// for row in &connection.query("SELECT id, celsius FROM dbo.reading", [])? {
///     let celsius: f64 = row.get("celsius")?;
///     assert_eq!(celsius, 21.5);
/// }
/// drop(connection);
/// engine.shutdown()?;
/// # std::fs::remove_dir_all(&folder).ok();
/// # Ok::<(), pikepole_embedded::Error>(())
/// ```
#[derive(Clone)]
pub struct Engine {
    opened: Arc<Opened>,
}

/// What the clones of an engine and its connections share.
pub(crate) struct Opened {
    registry: Arc<Registry>,
    running: Mutex<Running>,
}

struct Running {
    /// Absent after a shutdown: the folder is let go of with the last owner of the server.
    server: Option<Arc<Server>>,
    sessions: Vec<(Weak<Mailbox>, JoinHandle<()>)>,
    /// The folder, where it goes with the engine.
    temporary: Option<TemporaryFolder>,
    /// What serves clients of other processes, by number.
    #[cfg(feature = "serve")]
    services: std::collections::BTreeMap<ServiceId, pikepole_server::NetworkServer>,
}

/// The number of a service of an engine.
#[cfg(feature = "serve")]
pub(crate) type ServiceId = u64;

impl Running {
    fn new(server: Arc<Server>, temporary: Option<TemporaryFolder>) -> Running {
        Running {
            server: Some(server),
            sessions: Vec::new(),
            temporary,
            #[cfg(feature = "serve")]
            services: std::collections::BTreeMap::new(),
        }
    }
}

impl Opened {
    fn running(&self) -> MutexGuard<'_, Running> {
        // Each critical section changes the state in one step.
        self.running.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Serves as these options say; the number of the service, and its first address.
    #[cfg(feature = "serve")]
    pub(crate) fn start_service(
        &self,
        options: pikepole_server::Options,
    ) -> Result<(ServiceId, std::net::SocketAddr), Error> {
        let mut running = self.running();
        let server = Arc::clone(running.server.as_ref().ok_or(Error::Closed)?);
        let network = pikepole_server::NetworkServer::start(server, Arc::clone(&self.registry), options)
            .map_err(|error| Error::Open(error.to_string()))?;
        let none = || Error::Open("there is no address to listen at".to_owned());
        let address = *network.addresses().first().ok_or_else(none)?;
        let id = running.services.last_key_value().map_or(0, |(last, _)| last + 1);
        running.services.insert(id, network);
        Ok((id, address))
    }

    /// A service that is to be stopped, unless the engine has done so.
    #[cfg(feature = "serve")]
    pub(crate) fn take_service(&self, id: ServiceId) -> Option<pikepole_server::NetworkServer> {
        self.running().services.remove(&id)
    }

    /// Ends the sessions; the server, when it was not taken before.
    fn end_sessions(&self) -> Option<Arc<Server>> {
        #[cfg(feature = "serve")]
        {
            let services = std::mem::take(&mut self.running().services);
            services.into_values().for_each(pikepole_server::NetworkServer::stop);
        }
        let (server, sessions) = {
            let mut running = self.running();
            (running.server.take()?, std::mem::take(&mut running.sessions))
        };
        for (mailbox, session) in sessions {
            if let Some(mailbox) = mailbox.upgrade() {
                mailbox.close();
            }
            // A session that panicked has ended too; its transaction is rolled back with its database.
            let _ = session.join();
        }
        Some(server)
    }

    /// Ends the sessions, then the databases, then the threads.
    fn shutdown(&self) -> Result<(), Error> {
        let Some(server) = self.end_sessions() else { return Ok(()) };
        let result = server.schedulers().block_on(server.shutdown());
        server.schedulers().shutdown();
        drop(server);
        drop(self.running().temporary.take());
        result.map_err(Error::Sql)
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // Whoever wants to know whether all went well calls `Engine::shutdown`.
        let _ = self.shutdown();
    }
}

impl Engine {
    /// Opens a folder of databases and recovers what a crash left.
    ///
    /// # Errors
    /// [`Error::Open`], which says why: in use elsewhere, not writable, not a folder, another version's, a policy that is not
    /// one.
    pub fn open(options: Options) -> Result<Engine, Error> {
        let temporary = match options.place {
            Place::Disk => check_folder(&options).map(|()| None)?,
            Place::Temporary => Some(TemporaryFolder::make(&options.folder).map_err(|error| {
                Error::Open(format!("the folder {} cannot be made: {error}", options.folder.display()))
            })?),
            Place::Memory(_) => None,
        };
        let server = Server::open(options.into_server_options()).map_err(|error| refused(&error))?;
        let registry = Registry::of_server(&server);
        let running = Running::new(server, temporary);
        let opened = Opened { registry, running: Mutex::new(running) };
        Ok(Engine { opened: Arc::new(opened) })
    }

    /// An engine in memory; see [`Options::in_memory`].
    ///
    /// # Errors
    /// [`Error::Open`], which says why.
    pub fn in_memory() -> Result<Engine, Error> {
        Engine::open(Options::in_memory())
    }

    /// An engine in a folder that goes with it; see [`Options::temporary`].
    ///
    /// # Errors
    /// [`Error::Open`], which says why.
    pub fn temporary() -> Result<Engine, Error> {
        Engine::open(Options::temporary())
    }

    /// The folder of databases; that of an engine in memory is on no disk.
    pub fn folder(&self) -> Option<PathBuf> {
        self.opened.running().server.as_ref().map(|server| server.folder().to_path_buf())
    }

    /// What the clones of it share.
    #[cfg(feature = "serve")]
    pub(crate) fn opened(&self) -> &Arc<Opened> {
        &self.opened
    }

    /// An engine over a server that a program has opened itself, for work of its own beside what the server does. It ends with
    /// [`Engine::let_go`]; when it is dropped or shut down, the server is closed.
    pub fn over(server: Arc<Server>, registry: Arc<Registry>) -> Engine {
        let running = Running::new(server, None);
        Engine { opened: Arc::new(Opened { registry, running: Mutex::new(running) }) }
    }

    /// Ends every connection and leaves the server open.
    ///
    /// # Panics
    /// On one of the engine's own threads.
    pub fn let_go(self) {
        drop(self.opened.end_sessions());
    }

    /// A connection for async code of any runtime.
    ///
    /// # Errors
    /// [`Error::Closed`] after a shutdown; [`Error::Sql`] when the session cannot begin.
    pub fn connect(&self) -> Result<Connection, Error> {
        let mut running = self.opened.running();
        let server = Arc::clone(running.server.as_ref().ok_or(Error::Closed)?);
        let registry = Arc::clone(&self.opened.registry);
        let session = Session::new(Arc::clone(&server), registry, SessionOptions::default())?;
        let session_id = session.id();
        let mailbox = Arc::new(Mailbox::new(session.cancel_switch()));
        let info = session.task_info();
        let work = task::run(session, Arc::clone(&mailbox));
        let handle = server.schedulers().spawn(info, Placement::LeastLoaded, work);
        running.sessions.retain(|(_, session)| !session.is_finished());
        running.sessions.push((Arc::downgrade(&mailbox), handle));
        drop(running);
        Ok(Connection::new(mailbox, session_id, Arc::clone(&self.opened)))
    }

    /// A connection for plain threads.
    ///
    /// # Errors
    /// As [`Engine::connect`].
    pub fn connect_blocking(&self) -> Result<blocking::Connection, Error> {
        Ok(blocking::Connection::new(self.connect()?))
    }

    /// The policies of the serialisation points; none after a shutdown.
    pub fn policies(&self) -> Vec<Policy> {
        let Some(server) = self.opened.running().server.clone() else { return Vec::new() };
        let policy = |row: PolicyRow| Policy {
            name: row.name.to_string(),
            value: row.value.to_string(),
            values: row.allowed.iter().map(|value| (*value).to_string()).collect(),
            help: row.description.to_string(),
        };
        server.policies().into_iter().map(policy).collect()
    }

    /// The system's memory that each open database has, and in which pages; none after a shutdown.
    pub fn memory(&self) -> Vec<DatabaseMemory> {
        self.opened.running().server.as_ref().map_or_else(Vec::new, |server| server.memory())
    }

    /// Sets a policy, now and for later starts.
    ///
    /// # Errors
    /// [`Error::Usage`] for a name or value that is not one, which says which there are; [`Error::Closed`] after a shutdown.
    pub fn set_policy(&self, name: &str, value: &str) -> Result<(), Error> {
        let server = self.opened.running().server.clone().ok_or(Error::Closed)?;
        match server.set_policy(name, value) {
            Ok(_) => Ok(()),
            Err(error) => Err(Error::Usage(error.message)),
        }
    }

    /// Closes the folder: ends every connection, rolls back what is open, writes a last checkpoint.
    ///
    /// # Errors
    /// [`Error::Sql`] when a database could not be closed in order; it recovers at the next start.
    ///
    /// # Panics
    /// On one of the engine's own threads.
    pub fn shutdown(&self) -> Result<(), Error> {
        self.opened.shutdown()
    }
}

/// Says plainly what is wrong with a folder that cannot be one of databases.
fn check_folder(options: &Options) -> Result<(), Error> {
    let folder = &options.folder;
    match std::fs::metadata(folder) {
        Ok(found) if !found.is_dir() => Err(Error::Open(format!("{} is a file, not a folder", folder.display()))),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound && options.create => Ok(()),
        Err(error) => Err(Error::Open(format!("the folder {} cannot be opened: {error}", folder.display()))),
    }
}

fn refused(error: &OpenError) -> Error {
    Error::Open(error.to_string())
}

/// What [`check`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// What was looked at, a line each.
    pub lines: Vec<String>,
    /// What is wrong, a line each; empty when nothing is.
    pub damage: Vec<String>,
}

/// Verifies the databases of a folder that no engine has open: logs, page checksums, trees, row counts. A database that was
/// not closed in order is recovered by it. `progress` hears what is being looked at.
///
/// # Errors
/// [`Error::Open`] when the folder is in use or cannot be read.
pub fn check(folder: impl AsRef<Path>, progress: &mut dyn FnMut(&str)) -> Result<CheckReport, Error> {
    let folder = folder.as_ref();
    check_folder(&Options::new(folder).create(false))?;
    let disk = Disk::real();
    let report = Server::check(&disk, folder, progress).map_err(|error| refused(&error))?;
    Ok(CheckReport { lines: report.lines, damage: report.damage })
}
