//! The appender for plain threads.

use crate::mailbox::Mailbox;
use crate::parameter::Parameters;
use crate::rows::Column;
use crate::{Error, appender};
use std::sync::Arc;

/// Inserts many rows; see [`super::Connection::appender`]. What was not flushed is lost when it is dropped without [`Appender::finish`].
#[must_use = "rows come in with `flush` and `finish`"]
pub struct Appender<'a> {
    appender: appender::Appender<'a>,
    mailbox: Arc<Mailbox>,
}

impl<'a> Appender<'a> {
    pub(super) fn new(appender: appender::Appender<'a>, mailbox: Arc<Mailbox>) -> Appender<'a> {
        Appender { appender, mailbox }
    }

    /// The columns that a row has values for.
    pub fn columns(&self) -> &[Column] {
        self.appender.columns()
    }

    /// Appends a row, a value for each column: `params![1, "log"]`. Sends a portion when it is full.
    ///
    /// # Errors
    /// As [`crate::Appender::append`].
    pub fn append(&mut self, row: impl Parameters) -> Result<(), Error> {
        if self.appender.take(row)? { self.flush() } else { Ok(()) }
    }

    /// Inserts what was appended since the last time.
    ///
    /// # Errors
    /// As [`crate::Appender::flush`].
    pub fn flush(&mut self) -> Result<(), Error> {
        self.mailbox.block_on(self.appender.flush())
    }

    /// Inserts what is left; how many rows have come in through it.
    ///
    /// # Errors
    /// As [`crate::Appender::finish`].
    pub fn finish(self) -> Result<u64, Error> {
        self.mailbox.block_on(self.appender.finish())
    }
}
