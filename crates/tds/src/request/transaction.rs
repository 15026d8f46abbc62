//! Transactions begun and ended by messages of their own, without T-SQL.

use super::Headers;
use crate::error::TdsError;
use crate::read::{Reader, text_of_utf16};
use crate::version::TdsVersion;

/// The isolation level that a transaction is to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WireIsolation {
    /// As the session has it.
    Unchanged,
    /// READ UNCOMMITTED.
    ReadUncommitted,
    /// READ COMMITTED.
    ReadCommitted,
    /// REPEATABLE READ.
    RepeatableRead,
    /// SERIALIZABLE.
    Serializable,
    /// SNAPSHOT.
    Snapshot,
}

/// What a client asks of its transaction. Names are empty where none is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TransactionRequest {
    /// Begin one, or count one level more.
    Begin {
        /// Its isolation level.
        isolation: WireIsolation,
        /// Its name.
        name: String,
    },
    /// Commit, and perhaps begin another.
    Commit {
        /// The transaction's name.
        name: String,
        /// The one to begin then.
        then: Option<(WireIsolation, String)>,
    },
    /// Roll back the transaction, or to a savepoint of that name, and perhaps begin another.
    Rollback {
        /// The transaction's or a savepoint's name.
        name: String,
        /// The one to begin then.
        then: Option<(WireIsolation, String)>,
    },
    /// Set a savepoint.
    Save {
        /// Its name, never empty.
        name: String,
    },
}

impl TransactionRequest {
    /// Reads a message of the kind [`TransactionManager`](crate::PacketKind::TransactionManager).
    ///
    /// # Errors
    /// Requests of distributed transactions, which are not offered, by name; bytes that are no request.
    pub fn parse(data: &[u8], version: TdsVersion) -> Result<(Headers, TransactionRequest), TdsError> {
        let mut reader = Reader::new(data);
        let headers = Headers::read(&mut reader, version)?;
        let kind = reader.u16(WHAT)?;
        let refuse = |what: &str| Err(TdsError::Unsupported(format!("{what} of a distributed transaction")));
        match kind {
            0 => return refuse("The coordinator's address"),
            1 => return refuse("The propagation"),
            6 => return refuse("The promotion"),
            5 | 7 | 8 | 9 => {}
            other => return Err(TdsError::malformed(format!("Transaction request {other} is unknown"))),
        }
        let request = payload(kind, &mut reader)?;
        if !reader.is_empty() {
            return Err(TdsError::malformed("A transaction request is longer than what it says"));
        }
        Ok((headers, request))
    }
}

const WHAT: &str = "a transaction request";

fn payload(kind: u16, reader: &mut Reader<'_>) -> Result<TransactionRequest, TdsError> {
    Ok(match kind {
        5 => {
            let (isolation, name) = begin(reader)?;
            TransactionRequest::Begin { isolation, name }
        }
        7 | 8 => {
            let name = name(reader)?;
            let then = match reader.u8(WHAT)? & 1 {
                0 => None,
                _ => Some(begin(reader)?),
            };
            if kind == 7 {
                TransactionRequest::Commit { name, then }
            } else {
                TransactionRequest::Rollback { name, then }
            }
        }
        _ => {
            let name = name(reader)?;
            if name.is_empty() {
                return Err(TdsError::malformed("A savepoint has no name"));
            }
            TransactionRequest::Save { name }
        }
    })
}

fn begin(reader: &mut Reader<'_>) -> Result<(WireIsolation, String), TdsError> {
    let isolation = match reader.u8(WHAT)? {
        0 => WireIsolation::Unchanged,
        1 => WireIsolation::ReadUncommitted,
        2 => WireIsolation::ReadCommitted,
        3 => WireIsolation::RepeatableRead,
        4 => WireIsolation::Serializable,
        5 => WireIsolation::Snapshot,
        other => return Err(TdsError::malformed(format!("Isolation level {other} is unknown"))),
    };
    Ok((isolation, name(reader)?))
}

fn name(reader: &mut Reader<'_>) -> Result<String, TdsError> {
    let length = usize::from(reader.u8(WHAT)?);
    text_of_utf16(reader.take(length, WHAT)?, "the name of a transaction")
}
