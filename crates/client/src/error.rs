//! What can go wrong between a client and its server.

use pikepole_tds::TdsError;
use pikepole_types::SqlError;
use std::io;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// A statement failed, or the login was refused.
    #[error("Msg {}, Level {}, State {}, Line {}: {}", .0.number, .0.severity, .0.state, .0.line, .0.message)]
    Sql(SqlError),
    /// Nobody answers there.
    #[error("{address}: {error}")]
    Unreachable {
        /// Where to.
        address: String,
        /// What the system said.
        error: io::Error,
    },
    /// No encrypted connection could be made, or what is to be trusted could not be read.
    #[error("{text}")]
    Tls {
        /// The failure.
        text: String,
        /// The way out for the caller, where one is known: each program names its own options.
        cure: Option<TlsCure>,
    },
    /// The connection broke: what was under way may have happened or not.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// What the server sends is not the protocol's, or what is to be sent does not fit it.
    #[error("{0}")]
    Protocol(#[from] TdsError),
    /// The call asks for something that cannot be.
    #[error("{0}")]
    Usage(String),
}

/// Ways out when no encrypted connection could be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TlsCure {
    /// The server has no TLS: connect without encryption.
    Unencrypted,
    /// The server takes encrypted connections only: connect with encryption.
    Encrypted,
    /// The certificate is for other names: connect by one of those, or believe it.
    OtherName,
    /// The certificate is no longer, or not yet, valid: make another one, or believe it.
    OtherTime,
    /// Nothing that is trusted has signed the certificate: trust what has, or believe it.
    UnknownSigner,
}

impl ClientError {
    pub(crate) fn tls(text: impl Into<String>, cure: Option<TlsCure>) -> ClientError {
        ClientError::Tls { text: text.into(), cure }
    }
}

impl From<io::Error> for ClientError {
    fn from(error: io::Error) -> Self {
        ClientError::Broken(error)
    }
}

impl From<SqlError> for ClientError {
    fn from(error: SqlError) -> Self {
        ClientError::Sql(error)
    }
}
