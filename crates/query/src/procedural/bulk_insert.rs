//! BULK INSERT: a file's rows, batch after batch, each a statement of its own.

use std::io;
use std::sync::Arc;

use super::Machine;
use super::frame::Alone;
use super::statement::StatementState;
use super::trigger::Fire;
use crate::bind::{Binder, Names};
use crate::bulk::{self, Begun, BulkFile, BulkOptions, OpenFile, ReadAhead};
use crate::expression::Fault;
use crate::output::{Done, DoneKind};
use crate::plan::{Action, Statement};
use pikepole_contention::WaitType;
use pikepole_engine::{LoadErrorFiles, TableRecord};
use pikepole_scheduler as scheduler;
use pikepole_tsql as tree;
use pikepole_types::SqlError;

/// A load under way.
pub(crate) struct BulkLoad {
    plan: Arc<Statement>,
    file: Arc<BulkFile>,
    options: BulkOptions,
    /// The files of refused rows, and their name.
    error_file: Option<(String, LoadErrorFiles)>,
    /// The batch under way, and its first row.
    batch: Option<(u64, Box<StatementState>)>,
    rows: i64,
    batches: u64,
}

impl Machine<'_> {
    /// Loads a file. Under autocommit each batch is committed by itself; a batch that fails is undone, those before it stay.
    /// False: a trigger runs first, and then it goes on.
    pub(crate) async fn bulk_insert(&mut self, statement: &tree::BulkInsert) -> Result<bool, Fault> {
        let mut load = match self.frame.alone.take() {
            Some(Alone::Load(load)) => load,
            _ => Box::new(self.begin_load(statement).await?),
        };
        let loaded = self.load(&mut load).await;
        if let Ok(Some(fire)) = loaded {
            self.frame.alone = Some(Alone::Load(load));
            self.enter_trigger(fire)?;
            return Ok(false);
        }
        self.context.progress.clear();
        let written = match &load.error_file {
            Some((name, files)) => load.file.write_refused(files, name),
            None => Ok(()),
        };
        loaded?;
        written?;
        Ok(true)
    }

    async fn begin_load(&mut self, statement: &tree::BulkInsert) -> Result<BulkLoad, Fault> {
        self.check_may_load()?;
        let mut options = BulkOptions::of(&statement.options, "BULK INSERT")?;
        if let Some(name) = options.format_file.clone() {
            options.set_described(self.read_format_file(name).await?)?;
        }
        let server = Arc::clone(self.context.server());
        let error_file = match options.error_file.clone() {
            Some(name) => Some((name.clone(), self.error_files(name).await?)),
            None => None,
        };
        let (mut plan, mut file) = self.bind_bulk(statement, &options)?;
        self.context.check(&plan.requirements, self.procedure_owner())?;
        let name = statement.file.clone();
        let opened = scheduler::run_blocking(move || OpenFile::open(&server, &name));
        let opened = scheduler::wait(WaitType::IMPROV_IOWAIT, opened).await?;
        if !options.checks_constraints && self.distrust_constraints(&plan).await? {
            (plan, file) = self.bind_bulk(statement, &options)?;
        }
        file.start(ReadAhead::start(opened, self.context.state.session_id), &statement.file, &options);
        Ok(BulkLoad { plan, file, options, error_file, batch: None, rows: 0, batches: 0 })
    }

    /// The files for refused rows, which must not be there.
    async fn error_files(&mut self, name: String) -> Result<LoadErrorFiles, Fault> {
        self.read_blocking(move |server| {
            server.load_error_files(&name).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => SqlError::bulk_file_not_opened(name, "80(The file exists.)"),
                _ => SqlError::bulk_file_not_opened(name, bulk::DENIED),
            })
        })
        .await
    }

    fn bind_bulk(
        &self,
        statement: &tree::BulkInsert,
        options: &BulkOptions,
    ) -> Result<(Arc<Statement>, Arc<BulkFile>), Fault> {
        let catalog = self.context.catalog();
        let variables = &self.frame.program.variables;
        let names = Names { variables, ..Names::of(&catalog, &*self.host) };
        let binder = Binder::new(&names, variables.len());
        binder.bulk_insert(statement, options, |targets, fields| {
            let progress = Arc::clone(&self.context.progress);
            BulkFile::new(options, targets, fields, progress)
        })
    }

    /// Constraints that the rows are not checked against are not to be trusted any more; whether there were any that were.
    pub(super) async fn distrust_constraints(&mut self, plan: &Statement) -> Result<bool, Fault> {
        let Action::Insert(insert) = &plan.action else { return Ok(false) };
        let table = &insert.table.engine;
        let checks = table.checks.iter().any(|check| !check.disabled && !check.not_trusted);
        let keys = table.foreign_keys.iter().any(|key| !key.disabled && !key.not_trusted);
        if !checks && !keys {
            return Ok(false);
        }
        self.context.check(&plan.requirements, self.procedure_owner())?;
        self.context.take_parts(&plan.others)?;
        self.context.begin_statement(true)?;
        let (database, tx) = self.context.engine();
        let change = |record: &mut TableRecord, _: &mut dyn FnMut() -> i32| {
            record.checks.iter_mut().for_each(|check| check.not_trusted = true);
            record.foreign_keys.iter_mut().for_each(|key| key.not_trusted = true);
            Ok(())
        };
        database.alter_definition(tx, table, &change).await?;
        self.context.end_definition().await?;
        Ok(true)
    }

    /// Loads what is left, or up to where a trigger is to run.
    async fn load(&mut self, load: &mut BulkLoad) -> Result<Option<Fire>, Fault> {
        let BulkLoad { plan, file, options, batch, rows, batches, .. } = load;
        loop {
            let (first_row, mut state) = match batch.take() {
                Some(batch) => batch,
                None => {
                    let first_row = match file.begin_batch(options.batch_rows)? {
                        Begun::Row(first_row) => first_row,
                        Begun::End => break,
                        Begun::Wait(file) => {
                            self.context.await_file(&file).await?;
                            continue;
                        }
                    };
                    self.check_cancelled()?;
                    (first_row, Box::new(Machine::state_of(Arc::clone(plan))))
                }
            };
            let loaded = self.drive_to_end(&mut state).await;
            if let Ok(Some(fire)) = loaded {
                *batch = Some((first_row, state));
                return Ok(Some(fire));
            }
            let caught = loaded.is_err() && self.find_handler(false).is_some();
            if !caught {
                for error in file.refused_from(first_row) {
                    self.output.error(&error.at_line(self.line()));
                }
            }
            match loaded {
                Err(fault) if bulk::is_fatal(&fault) => return Err(self.provider_error(*fault, caught)),
                Err(fault) => return Err(fault),
                Ok(_) => *rows += self.context.state.row_count,
            }
            *batches += 1;
        }
        if *batches == 0 {
            self.done(Done { rows: Some(0), kind: DoneKind::Insert });
        }
        self.context.state.row_count = *rows;
        Ok(None)
    }

    /// What is wrong with a file is told first, then that its rows cannot be fetched.
    pub(super) fn provider_error(&mut self, error: SqlError, caught: bool) -> Fault {
        if !caught {
            for error in [error, SqlError::bulk_provider_failed()] {
                self.output.error(&error.at_line(self.line()));
            }
        }
        Box::new(SqlError::bulk_row_not_fetched())
    }
}
