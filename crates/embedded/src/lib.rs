//! The embedded API: open a folder of databases, run T-SQL, read typed rows.
//!
//! ```text
//!   your thread or task            one of the engine's schedulers
//!     Connection  -- request -->     session (a task of its own)
//!                 <-- events ---     columns, rows, row counts, messages, errors
//! ```
//!
//! A connection's session runs as a task on one of the engine's schedulers, so the engine's work stays on its own
//! threads whatever runtime the caller lives in; requests and events pass through a mailbox. A result set streams: the
//! session waits (ASYNC_NETWORK_IO) when the caller does not take its rows. [`Connection`] is the async form,
//! [`blocking::Connection`] the form for plain threads.
//!
//! | for | use |
//! |---|---|
//! | a folder of databases, one in memory, one for a test | [`Engine::open`], [`Engine::in_memory`], [`Engine::temporary`] |
//! | parameters | [`params!`], [`ToSql`] |
//! | one row, one value | [`Connection::query_row`], [`Connection::query_opt`], [`Connection::query_value`] |
//! | a text that runs often | [`Connection::prepare`], [`Connection::prepare_typed`] |
//! | a transaction that cannot be forgotten | [`Connection::transaction`] |
//! | many rows | [`Connection::appender`] |
//! | results that are larger than memory, messages | [`Connection::run`] |
//! | clients of other processes | `Engine::serve`, with the feature `serve` |
//!
//! Features, none of which is on by default: `serve` adds the network server; `chrono`, `jiff`, `uuid` and `rust_decimal` let values of
//! these crates be parameters and results.

mod answer;
mod appender;
pub mod blocking;
mod connection;
mod engine;
mod error;
mod foreign;
mod mailbox;
mod parameter;
mod rows;
#[cfg(feature = "serve")]
mod serve;
mod statement;
mod task;
mod temporary;
mod transaction;

pub use answer::{Event, Gathering, Message, Outcome};
pub use appender::Appender;
pub use connection::{Canceller, Connection, Events};
pub use engine::{CheckReport, Engine, Options, Policy, check};
pub use error::Error;
pub use parameter::{GivenParameter, Parameter, Parameters, ToSql};
pub use rows::{Column, ColumnIndex, FromSql, Row, Rows};
#[cfg(feature = "serve")]
pub use serve::{ServeOptions, Serving, TlsMode};
pub use statement::{Statement, Text, ToStatement};
pub use transaction::Transaction;

pub use pikepole_engine::{DatabaseMemory, RecoveryProgress, placement};
pub use pikepole_machine::memory::CountingAllocator;
pub use pikepole_machine::{SlowDevice, SystemFiles};
pub use pikepole_types::{
    Date, DateTime, DateTime2, DateTimeOffset, Decimal, SmallDateTime, SqlError, SqlType, Time, Value, ValueMismatch,
};
