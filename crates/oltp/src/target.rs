//! Servers: how to reach one, what it is asked before a run, and whose CPU time is its own.

use crate::cpu::{self, ServerProcess};
use crate::load::Loader;
use crate::pikepole::PikepoleSession;
use crate::postgres::{PostgresOptions, PostgresSession};
use crate::schema::Dialect;
use crate::session::{Session, SessionError};
use crate::workloads::Workload;
use pikepole_client::ConnectOptions;
use std::time::{Duration, Instant};

/// The database that Pikepole has the tables in.
const DATABASE: &str = "oltp";

/// A server.
pub struct Target {
    /// Its name in tables.
    pub name: String,
    server: Server,
}

enum Server {
    Pikepole(Box<ConnectOptions>),
    Postgres(PostgresOptions),
}

impl Target {
    /// A server of Pikepole.
    pub fn pikepole(name: String, options: ConnectOptions) -> Target {
        Target { name, server: Server::Pikepole(Box::new(options)) }
    }

    /// A server of PostgreSQL.
    pub fn postgres(options: PostgresOptions) -> Target {
        Target { name: "PostgreSQL".to_string(), server: Server::Postgres(options) }
    }

    /// The language it speaks.
    pub fn dialect(&self) -> Dialect {
        match self.server {
            Server::Pikepole(_) => Dialect::Tsql,
            Server::Postgres(_) => Dialect::Postgres,
        }
    }

    /// Connects to the database of the tables.
    pub fn connect(&self) -> Result<Box<dyn Session>, SessionError> {
        Ok(match &self.server {
            Server::Pikepole(options) => {
                let mut options = options.clone();
                options.database = DATABASE.to_string();
                Box::new(PikepoleSession::connect(&options)?)
            }
            Server::Postgres(options) => Box::new(PostgresSession::connect(options)?),
        })
    }

    /// Makes Pikepole's database if there is none; that of PostgreSQL is to be there.
    pub fn make_database(&self) -> Result<(), SessionError> {
        if let Server::Pikepole(options) = &self.server {
            let mut session = PikepoleSession::connect(options)?;
            session.run(&format!("IF DB_ID('{DATABASE}') IS NULL CREATE DATABASE {DATABASE}"))?;
        }
        Ok(())
    }

    /// Sets whether sessions that connect from now on wait for their commits to be durable.
    pub fn set_durability(&self, is_full: bool) -> Result<(), SessionError> {
        let sql = match &self.server {
            Server::Pikepole(_) => {
                let delayed = if is_full { "DISABLED" } else { "FORCED" };
                format!("ALTER DATABASE {DATABASE} SET DELAYED_DURABILITY = {delayed}")
            }
            Server::Postgres(options) => {
                let commit = if is_full { "on" } else { "off" };
                format!("ALTER DATABASE {} SET synchronous_commit = {commit}", options.database)
            }
        };
        self.connect()?.run(&sql).map(|_| ())
    }

    /// Its process, when it is on this machine.
    pub fn process(&self) -> Result<Option<ServerProcess>, SessionError> {
        let mut session = self.connect()?;
        let number = |session: &mut dyn Session, sql| -> Result<Option<u32>, SessionError> {
            Ok(u32::try_from(session.run(sql)?.integer(0, 0)?).ok())
        };
        let process = match &self.server {
            Server::Pikepole(_) => {
                let process = number(&mut *session, "SELECT CAST(SERVERPROPERTY('ProcessID') AS int)")?;
                process.map(ServerProcess::Single)
            }
            Server::Postgres(_) => {
                let backend = number(&mut *session, "SELECT pg_backend_pid()")?;
                backend.and_then(cpu::parent).map(ServerProcess::Family)
            }
        };
        Ok(process.filter(|process| process.cpu().is_some()))
    }

    /// Writes what is dirty, so that no run pays for the one before it.
    pub fn checkpoint(&self) -> Result<(), SessionError> {
        self.connect()?.run("CHECKPOINT").map(|_| ())
    }

    /// The scale of a workload's rows, if they are there.
    pub fn loaded_scale(&self, workload: &Workload) -> Result<Option<u32>, SessionError> {
        let mut session = self.connect()?;
        session.run(match self.dialect() {
            Dialect::Tsql => {
                "IF OBJECT_ID('oltp_loads') IS NULL CREATE TABLE oltp_loads (name varchar(20) PRIMARY KEY, scale int NOT NULL)"
            }
            Dialect::Postgres => {
                "CREATE TABLE IF NOT EXISTS oltp_loads (name varchar(20) PRIMARY KEY, scale int NOT NULL)"
            }
        })?;
        let answer = session.run(&format!("SELECT scale FROM oltp_loads WHERE name = '{}'", workload.data_name()))?;
        match answer.rows.is_empty() {
            true => Ok(None),
            false => Ok(u32::try_from(answer.integer(0, 0)?).ok()),
        }
    }

    /// Makes the tables of a workload and loads their rows; former ones are dropped. Returns how long it took.
    pub fn load(&self, workload: &Workload) -> Result<Duration, SessionError> {
        let begun = Instant::now();
        let name = workload.data_name();
        self.loaded_scale(workload)?;
        let mut session = self.connect()?;
        session.run(&format!("DELETE FROM oltp_loads WHERE name = '{name}'"))?;
        let tables = workload.tables();
        for table in tables.iter().rev() {
            session.run(&format!("DROP TABLE IF EXISTS {}", table.name))?;
        }
        for table in tables {
            session.run(&table.create(self.dialect()))?;
        }
        workload.load(&mut Loader::new(&mut *session, tables))?;
        for table in tables {
            for index in table.create_indexes() {
                session.run(&index)?;
            }
            session.run(&match self.dialect() {
                Dialect::Tsql => format!("UPDATE STATISTICS {}", table.name),
                Dialect::Postgres => format!("VACUUM ANALYZE {}", table.name),
            })?;
        }
        session.run(&format!("INSERT INTO oltp_loads (name, scale) VALUES ('{name}', {})", workload.scale()))?;
        self.checkpoint()?;
        Ok(begun.elapsed())
    }
}
