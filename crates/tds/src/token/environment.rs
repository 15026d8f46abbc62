//! ENVCHANGE: what the client's side of a session is to know.

use crate::packet::MessageWriter;
use crate::put::Put;
use pikepole_types::Collation;

const ENVIRONMENT: u8 = 0xE3;

/// A change, with what was before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EnvChange<'a> {
    /// The database in use.
    Database {
        /// Its name.
        new: &'a str,
        /// The one before.
        old: &'a str,
    },
    /// The language.
    Language {
        /// Its name.
        new: &'a str,
        /// The one before.
        old: &'a str,
    },
    /// The packet size in bytes. Packets from the next reply on have it.
    PacketBytes {
        /// The size.
        new: usize,
        /// The one before.
        old: usize,
    },
    /// The collation of the database.
    Collation {
        /// The collation.
        new: Collation,
        /// The one before; `None` at login.
        old: Option<Collation>,
    },
    /// A transaction has begun; clients name it in the headers of their requests.
    Begin(u64),
    /// It is committed.
    Commit(u64),
    /// It is rolled back.
    Rollback(u64),
    /// It has ended without a request for it.
    TransactionEnded(u64),
    /// The session has been reset.
    ResetConnection,
}

impl MessageWriter {
    /// Something of the session's surroundings has changed.
    pub fn env_change(&mut self, change: &EnvChange<'_>) {
        let number = |bytes: usize| bytes.to_string();
        let wire = |collation: Collation| self.collation_told(collation).to_bytes();
        let collations = match *change {
            EnvChange::Collation { new, old } => Some((wire(new), old.map(wire))),
            _ => None,
        };
        self.counted(ENVIRONMENT, |out| match *change {
            EnvChange::Database { new, old } => texts(out, 1, new, old),
            EnvChange::Language { new, old } => texts(out, 2, new, old),
            EnvChange::PacketBytes { new, old } => texts(out, 4, &number(new), &number(old)),
            EnvChange::Collation { .. } => {
                if let Some((new, old)) = &collations {
                    bytes(out, 7, new, old.as_ref().map_or(&[], |old| old));
                }
            }
            EnvChange::Begin(id) => bytes(out, 8, &id.to_le_bytes(), &[]),
            EnvChange::Commit(id) => bytes(out, 9, &[], &id.to_le_bytes()),
            EnvChange::Rollback(id) => bytes(out, 10, &[], &id.to_le_bytes()),
            EnvChange::TransactionEnded(id) => bytes(out, 17, &[], &id.to_le_bytes()),
            EnvChange::ResetConnection => bytes(out, 18, &[], &[]),
        });
        self.cut();
    }
}

fn texts(out: &mut Vec<u8>, kind: u8, new: &str, old: &str) {
    out.put_u8(kind);
    out.put_short_text(new);
    out.put_short_text(old);
}

fn bytes(out: &mut Vec<u8>, kind: u8, new: &[u8], old: &[u8]) {
    out.put_u8(kind);
    for value in [new, old] {
        out.put_u8(value.len() as u8);
        out.extend_from_slice(value);
    }
}
