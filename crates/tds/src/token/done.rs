//! DONE, DONEINPROC, DONEPROC: a statement, a statement of a procedure, a procedure has ended.

use crate::packet::MessageWriter;
use crate::put::Put;

/// What has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DoneKind {
    /// A statement of a batch; also a whole request that has none.
    Statement,
    /// A statement inside a procedure.
    InProcedure,
    /// A procedure called by the client.
    Procedure,
}

/// What kind of statement has ended, for clients that look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Command {
    /// None that is told.
    None,
    /// SELECT.
    Select,
    /// INSERT.
    Insert,
    /// DELETE.
    Delete,
    /// UPDATE.
    Update,
    /// MERGE.
    Merge,
    /// EXECUTE.
    Execute,
    /// BEGIN TRANSACTION.
    BeginTransaction,
    /// COMMIT.
    Commit,
    /// ROLLBACK.
    Rollback,
    /// INSERT BULK.
    BulkInsert,
    /// A definition, by its number in the protocol.
    Definition(u16),
}

impl Command {
    fn number(self) -> u16 {
        match self {
            Command::None => 0,
            Command::Select => 0xC1,
            Command::Insert => 0xC3,
            Command::Delete => 0xC4,
            Command::Update => 0xC5,
            Command::Rollback => 0xD2,
            Command::BeginTransaction => 0xD4,
            Command::Commit => 0xD5,
            Command::Execute => 0xE0,
            Command::BulkInsert => 0xF0,
            Command::Merge => 0x117,
            Command::Definition(number) => number,
        }
    }
}

/// How it has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Done {
    /// What kind of statement it was.
    pub command: Command,
    /// Rows it returned or changed; `None` when they are not counted.
    pub rows: Option<u64>,
    /// More of the reply follows.
    pub more: bool,
    /// It failed; the error's own token came before.
    pub error: bool,
    /// A transaction is open.
    pub in_transaction: bool,
    /// The client's attention has been heeded. It stands alone at a reply's end.
    pub attention: bool,
    /// The error was so severe that the results before it do not count.
    pub server_error: bool,
}

impl Done {
    /// The end of something that went well and counted nothing.
    pub fn new(command: Command) -> Done {
        Done {
            command,
            rows: None,
            more: false,
            error: false,
            in_transaction: false,
            attention: false,
            server_error: false,
        }
    }

    /// The acknowledgement of an attention.
    pub fn attention() -> Done {
        Done { attention: true, ..Done::new(Command::None) }
    }

    fn status(&self) -> u16 {
        u16::from(self.more)
            | u16::from(self.error) << 1
            | u16::from(self.in_transaction) << 2
            | u16::from(self.rows.is_some()) << 4
            | u16::from(self.attention) << 5
            | u16::from(self.server_error) << 8
    }
}

impl MessageWriter {
    /// Something has ended.
    pub fn done(&mut self, kind: DoneKind, done: &Done) {
        let is_wide = self.version.is_wide();
        let out = &mut self.pending;
        out.put_u8(match kind {
            DoneKind::Statement => 0xFD,
            DoneKind::Procedure => 0xFE,
            DoneKind::InProcedure => 0xFF,
        });
        out.put_u16(done.status());
        out.put_u16(done.command.number());
        let rows = done.rows.unwrap_or(0);
        if is_wide {
            out.put_u64(rows);
        } else {
            out.put_u32(u32::try_from(rows).unwrap_or(u32::MAX));
        }
        self.cut();
    }
}
