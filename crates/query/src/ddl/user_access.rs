//! ALTER DATABASE ... SET SINGLE_USER, OFFLINE and their like: who may be in a database, and what becomes of those who are.

use std::sync::Arc;
use std::time::Duration;

use super::Definer;
use super::define::is_of_the_server;
use crate::expression::Fault;
use pikepole_contention::WaitType;
use pikepole_engine::{Database, DatabaseOption, MASTER, UserAccess};
use pikepole_scheduler as scheduler;
use pikepole_tsql::{Literal, Termination};
use pikepole_types::SqlError;

/// How often it is looked whether the others have gone.
const LOOK_EVERY: Duration = Duration::from_millis(10);
/// The error of a database that is offline.
const OFFLINE: i32 = 942;
/// The error of a database that others use.
const IN_USE: i32 = 3101;

impl Definer<'_> {
    /// Says who may be in a database. Those who are and may not be any more are ended at once or after a while, as the statement
    /// says, or waited for.
    ///
    /// # Errors
    /// 5064 when the database is another session's alone; 5070 under NO_WAIT when there are others.
    pub(super) async fn set_user_access(
        &mut self,
        name: &str,
        access: UserAccess,
        termination: Option<&Termination>,
    ) -> Result<(), Fault> {
        let server = Arc::clone(self.context.server());
        let database = server.database(name)?;
        let session_id = self.context.state.session_id;
        if database.is_of_another(session_id) {
            return Err(Box::new(SqlError::database_has_its_user(database.name())));
        }
        self.give_time(&database, access, termination).await?;
        if access == UserAccess::Single {
            database.set_sole_user(session_id);
        }
        server.set_database_option(name, DatabaseOption::UserAccess(access))?;
        if access == UserAccess::Multi {
            return Ok(());
        }
        self.end_others(&database, access, termination).await?;
        // Whoever came before the option was set.
        self.until_alone(&database, access, None).await
    }

    /// Sets READ_COMMITTED_SNAPSHOT, for statements that begin from now on. It waits for no session by itself; a termination
    /// clause is obeyed as SQL Server does, which has to be alone for the change.
    ///
    /// # Errors
    /// 5070 under NO_WAIT when there are others.
    pub(super) async fn set_versioned_reads(
        &mut self,
        name: &str,
        versioned: bool,
        termination: Option<&Termination>,
    ) -> Result<(), Fault> {
        let server = Arc::clone(self.context.server());
        let database = server.database(name)?;
        if termination.is_some() && database.options().read_committed_snapshot != versioned {
            self.give_time(&database, UserAccess::Single, termination).await?;
            self.end_others(&database, UserAccess::Single, termination).await?;
        }
        Ok(server.set_database_option(name, DatabaseOption::ReadCommittedSnapshot(versioned))?)
    }

    /// SET OFFLINE: closes a database. Those who are in it are ended or waited for as under SINGLE_USER; the session itself goes to
    /// master.
    ///
    /// # Errors
    /// 5058 for master and tempdb; 5064 and 5070 as above; what closing it ends with.
    pub(super) async fn take_offline(&mut self, name: &str, termination: Option<&Termination>) -> Result<(), Fault> {
        let server = Arc::clone(self.context.server());
        let database = match server.database(name) {
            Ok(database) if is_of_the_server(name) => {
                return Err(Box::new(SqlError::database_option_not_settable("OFFLINE", database.name())));
            }
            Ok(database) => database,
            Err(error) if error.number == OFFLINE => return Ok(()),
            Err(error) => return Err(Box::new(error)),
        };
        if database.is_of_another(self.context.state.session_id) {
            return Err(Box::new(SqlError::database_has_its_user(database.name())));
        }
        loop {
            self.give_time(&database, UserAccess::Single, termination).await?;
            self.end_others(&database, UserAccess::Single, termination).await?;
            if database.id() == self.context.database().id() {
                self.context.use_database(MASTER)?;
                self.output.message(&SqlError::changed_database(MASTER).at_line(self.line()));
            }
            match server.set_offline(name).await {
                // Somebody has come meanwhile.
                Err(error) if error.number == IN_USE => self.context.check_cancelled()?,
                done => return Ok(done?),
            }
        }
    }

    /// Waits for those who are in a database and may not be under `access`, as long as the statement gives them time.
    async fn give_time(
        &mut self,
        database: &Database,
        access: UserAccess,
        termination: Option<&Termination>,
    ) -> Result<(), Fault> {
        match termination {
            _ if access == UserAccess::Multi => Ok(()),
            Some(Termination::RollbackImmediate) => Ok(()),
            Some(Termination::NoWait) if self.has_others(database, access) => {
                Err(Box::new(SqlError::database_has_users(database.name())))
            }
            Some(Termination::NoWait) => Ok(()),
            Some(Termination::RollbackAfter(seconds)) => {
                let seconds = match seconds.literal() {
                    Some(Literal::Int(seconds)) => u64::try_from(*seconds).unwrap_or(0),
                    _ => 0,
                };
                self.until_alone(database, access, Some(Duration::from_secs(seconds))).await
            }
            None => self.until_alone(database, access, None).await,
        }
    }

    /// Ends those who are still in a database, if the statement says so.
    async fn end_others(
        &mut self,
        database: &Database,
        access: UserAccess,
        termination: Option<&Termination>,
    ) -> Result<(), Fault> {
        let ends = matches!(termination, Some(Termination::RollbackImmediate | Termination::RollbackAfter(_)));
        if ends && self.host.unwelcome_sessions(database, access, true) > 0 {
            self.say_rolled_back(0);
            self.until_alone(database, access, None).await?;
            self.say_rolled_back(100);
        }
        Ok(())
    }

    fn say_rolled_back(&mut self, percent: u8) {
        let message = SqlError::transactions_being_rolled_back(percent).at_line(self.line());
        self.output.message(&message);
    }

    /// Whether others are in a database than may be under `access`.
    fn has_others(&self, database: &Database, access: UserAccess) -> bool {
        let own = i32::from(database.id() == self.context.database().id());
        match access {
            UserAccess::Multi => false,
            UserAccess::Single => database.sessions() > own,
            UserAccess::Restricted => self.host.unwelcome_sessions(database, access, false) > 0,
        }
    }

    /// Waits until nobody is in a database who may not be under `access`, for so long at most.
    async fn until_alone(
        &mut self,
        database: &Database,
        access: UserAccess,
        mut left: Option<Duration>,
    ) -> Result<(), Fault> {
        while self.has_others(database, access) && left != Some(Duration::ZERO) {
            let slice = left.map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY));
            scheduler::wait(WaitType::LCK_M_X, scheduler::sleep(slice)).await;
            left = left.map(|left| left - slice);
            self.context.check_cancelled()?;
        }
        Ok(())
    }
}
