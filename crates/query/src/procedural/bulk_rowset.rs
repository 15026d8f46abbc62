//! OPENROWSET(BULK ...): files as values and as rows, and the format files that say what the rows are.

use std::sync::Arc;

use super::Machine;
use crate::access::Stop;
use crate::bulk::{self, Begun, BulkFile, FileRows, FileTable, FileValue, FormatFile, OpenFile, ReadAhead};
use crate::errors;
use crate::expression::Fault;
use pikepole_contention::WaitType;
use pikepole_engine::{Permission, Securable, Server};
use pikepole_scheduler as scheduler;
use pikepole_types::{SqlError, Value};

impl Machine<'_> {
    /// Whoever reads the server's files needs a permission of the server.
    pub(super) fn check_may_load(&mut self) -> Result<(), Fault> {
        self.context.refresh_security()?;
        match self.context.token().has(Permission::AdministerBulkOperations, Securable::Server) {
            true => Ok(()),
            false => Err(Box::new(SqlError::bulk_load_denied())),
        }
    }

    /// Does what blocks, on a thread for that, until it is done or the batch is cancelled.
    pub(super) async fn read_blocking<T: Send + 'static>(
        &mut self,
        read: impl FnOnce(&Server) -> Result<T, SqlError> + Send + 'static,
    ) -> Result<T, Fault> {
        let server = Arc::clone(self.context.server());
        let read = scheduler::run_blocking(move || read(&server));
        let mut result = None;
        let kept = async {
            result = Some(scheduler::wait(WaitType::IMPROV_IOWAIT, read).await?);
            Ok(())
        };
        self.context.unless_cancelled(kept).await?;
        result.ok_or_else(errors::unexpected)
    }

    /// Reads a format file.
    pub(super) async fn read_format_file(&mut self, name: String) -> Result<Arc<FormatFile>, Fault> {
        let read = move |server: &Server| {
            let file = OpenFile::open(server, &name)?;
            FormatFile::parse(&file.read_all_of(&name, bulk::FORMAT_FILE_BYTES_MAX)?, &name)
        };
        self.read_blocking(read).await.map(Arc::new)
    }

    /// Reads the format file that the present statement cannot be bound without.
    pub(super) async fn fetch_format_file(&mut self, name: String) -> Result<(), Fault> {
        self.check_may_load()?;
        let file = self.read_format_file(name.clone()).await?;
        self.context.format_files.put(name, file);
        Ok(())
    }

    /// Reads a file whose bytes are a value.
    pub(super) async fn file_value(&mut self, file: &FileValue) -> Result<Value, Fault> {
        self.check_may_load()?;
        let file = file.clone();
        self.read_blocking(move |server| file.read(server)).await
    }

    /// Reads the rows of a file. Those that are refused are told.
    pub(super) async fn file_rows(&mut self, table: &FileTable) -> Result<Vec<Vec<Value>>, Fault> {
        self.check_may_load()?;
        let name = table.name.clone();
        let open = move |server: &Server| OpenFile::open(server, &name);
        let opened = self.read_blocking(open).await?;
        let file = Arc::new(table.open(Arc::clone(&self.context.progress)));
        file.start(ReadAhead::start(opened, self.context.state.session_id), &table.name, &table.options);
        let rows = self.rows_of(&file, table.columns).await;
        self.context.progress.clear();
        let caught = rows.is_err() && self.find_handler(false).is_some();
        if !caught {
            for error in file.refused_from(0) {
                self.output.error(&error.at_line(self.line()));
            }
        }
        match rows {
            Err(fault) if bulk::is_fatal(&fault) => Err(self.provider_error(*fault, caught)),
            rows => rows,
        }
    }

    async fn rows_of(&mut self, file: &Arc<BulkFile>, columns: usize) -> Result<Vec<Vec<Value>>, Fault> {
        while let Begun::Wait(ahead) = file.begin_batch(u64::MAX)? {
            self.context.await_file(&ahead).await?;
        }
        let (mut source, mut rows) = (FileRows::new(file), Vec::new());
        loop {
            match source.next() {
                Ok(None) => return Ok(rows),
                Ok(Some(batch)) => rows.extend((0..batch.rows).map(|row| {
                    let mut values = vec![Value::Null; columns];
                    batch.read(row, &mut values);
                    values
                })),
                Err(Stop::File(ahead)) => self.context.await_file(&ahead).await?,
                Err(Stop::Yield) => {
                    self.check_cancelled()?;
                    scheduler::yield_now().await;
                }
                Err(Stop::Error(fault)) => return Err(fault),
                Err(_) => return Err(errors::unexpected()),
            }
        }
    }
}
