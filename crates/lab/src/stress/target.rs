//! Where the driver's sessions are: in an engine of this process, or in a server.

use super::StressError;
use pikepole_client::ConnectOptions;
use pikepole_embedded::blocking::Connection;
use pikepole_embedded::{Engine, Options, Outcome, Rows, SqlType, Value};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// What the load goes to.
pub(super) enum Target {
    /// An engine of this process.
    Engine {
        /// The engine.
        engine: Engine,
        /// How long opening it took.
        start: Duration,
    },
    /// A server.
    Server(Box<ConnectOptions>),
}

impl Target {
    /// Opens an engine in this process.
    pub(super) fn open(options: Options) -> Result<Target, StressError> {
        let begun = Instant::now();
        let engine = Engine::open(options)?;
        Ok(Target::Engine { engine, start: begun.elapsed() })
    }

    /// The seconds that opening the engine took.
    pub(super) fn start_seconds(&self) -> Option<f64> {
        match self {
            Target::Engine { start, .. } => Some(start.as_secs_f64()),
            Target::Server(_) => None,
        }
    }

    /// Memory that was asked for in reserved pages and is in others, and why; a server tells its own log.
    pub(super) fn refused_memory(&self) -> Vec<String> {
        match self {
            Target::Engine { engine, .. } => {
                let memory = engine.memory();
                memory.iter().filter(|memory| memory.is_refused()).map(ToString::to_string).collect()
            }
            Target::Server(_) => Vec::new(),
        }
    }

    /// A session of its own.
    pub(super) fn connect(&self) -> Result<Link, StressError> {
        Ok(match self {
            Target::Engine { engine, .. } => Link::Engine(engine.connect_blocking()?),
            Target::Server(options) => {
                let connection = pikepole_client::Connection::connect(options)?;
                Link::Server { connection: Box::new(connection), prepared: None }
            }
        })
    }

    /// Every policy of the server and its value.
    pub(super) fn policies(&self, control: &mut Link) -> Result<BTreeMap<String, String>, StressError> {
        if let Target::Engine { engine, .. } = self {
            return Ok(engine.policies().into_iter().map(|policy| (policy.name, policy.value)).collect());
        }
        let mut policies = BTreeMap::new();
        for row in &control.query("SELECT name, value_in_use FROM sys.dm_pikepole_policies")? {
            policies.insert(row.get("name")?, row.get("value_in_use")?);
        }
        Ok(policies)
    }

    /// The CPU seconds that a server has used; `None` for an engine of this process, whose time is this process's.
    pub(super) fn server_cpu_seconds(&self, control: &mut Link) -> Result<Option<f64>, StressError> {
        if let Target::Engine { .. } = self {
            return Ok(None);
        }
        let rows = control.query("SELECT process_user_time_ms + process_kernel_time_ms FROM sys.dm_os_sys_info")?;
        let first = rows.iter().next().map(|row| row.get::<i64>(0)).transpose()?;
        Ok(first.map(|milliseconds| milliseconds as f64 / 1000.0))
    }

    /// Whether a server's CPU time is time of this machine.
    pub(super) fn is_here(&self) -> bool {
        match self {
            Target::Engine { .. } => true,
            Target::Server(options) => options.address.is_loopback(),
        }
    }

    /// Ends the engine, if it is one of this process.
    pub(super) fn close(self) -> Result<(), StressError> {
        match self {
            Target::Engine { engine, .. } => Ok(engine.shutdown()?),
            Target::Server(_) => Ok(()),
        }
    }
}

/// A session.
pub(super) enum Link {
    Engine(Connection),
    Server {
        connection: Box<pikepole_client::Connection>,
        /// The text that was prepared last.
        prepared: Option<(String, pikepole_client::Statement)>,
    },
}

impl Link {
    /// Runs a batch to its end.
    pub(super) fn execute(&mut self, sql: &str) -> Result<Outcome, StressError> {
        match self {
            Link::Engine(connection) => Ok(connection.execute(sql, &[])?),
            Link::Server { connection, .. } => Ok(connection.execute(sql)?),
        }
    }

    /// Runs a batch with parameters; a server has it prepared when it comes again.
    pub(super) fn execute_with(&mut self, sql: &str, parameters: &[(&str, i64)]) -> Result<Outcome, StressError> {
        match self {
            Link::Engine(connection) => {
                let values: Vec<_> = parameters.iter().map(|(name, value)| (*name, Value::BigInt(*value))).collect();
                Ok(connection.execute(sql, &values)?)
            }
            Link::Server { connection, prepared } => {
                let statement = match prepared.take() {
                    Some((text, statement)) if text == sql => statement,
                    _ => {
                        let types: Vec<_> = parameters.iter().map(|(name, _)| (*name, SqlType::BigInt)).collect();
                        connection.prepare(sql, &types)?
                    }
                };
                let values: Vec<Value> = parameters.iter().map(|(_, value)| Value::BigInt(*value)).collect();
                connection.start(&statement, &values)?;
                *prepared = Some((sql.to_string(), statement));
                Ok(connection.finish()?)
            }
        }
    }

    /// Runs a batch and gives its first result set.
    pub(super) fn query(&mut self, sql: &str) -> Result<Rows, StressError> {
        match self {
            Link::Engine(connection) => Ok(connection.query(sql, &[])?),
            Link::Server { connection, .. } => Ok(connection.query(sql)?),
        }
    }
}
