//! TDS, the protocol that SQL Server's clients speak: the server's side, bytes in, values out, and back; and as much of the
//! client's side as the project's own client needs.
//!
//! ```text
//!  socket ──bytes──▶ Reassembler ──Message──▶ by its kind
//!                    packets to messages      PreLogin            parse, reply
//!                    limits                   Login7              parse
//!                                             SqlBatch            text
//!                                             RpcMessage          procedures, parameters: TypeInfo, Value
//!                                             TransactionRequest  begin, commit, rollback, save
//!                                             BulkLoad            columns and rows, in parts as they come
//!                                             Attention           nothing inside
//!
//!  socket ◀──bytes── MessageWriter ◀─tokens── columns, row, done, error, info, environment, login ack ...
//!                    messages to packets      TypeInfo, Value
//! ```
//!
//! Nothing here knows a socket, a session or a runtime. What a client sends is not to be trusted: each parser reads through
//! one cursor that checks every length against the bytes at hand before anything is allocated for it, gives a [`TdsError`]
//! where the bytes make no sense, and never panics. [`Limits`] bounds what may be gathered.
//!
//! Versions 7.1 to 7.4 and 8.0 are spoken ([`TdsVersion`]); what older ones lack is written the way they know it.

mod client;
mod error;
mod limits;
mod login;
mod packet;
mod put;
mod read;
mod request;
mod smp;
mod token;
mod value;
mod version;

pub use client::{
    ClientLogin, ReplyToken, TokenReader, client_pre_login, encryption_of_reply, put_batch, put_call, put_next_call,
    put_parameter,
};
pub use error::TdsError;
pub use limits::Limits;
pub use login::{
    ClientEncryption, Feature, KeptSession, Login7, Password, PreLogin, PreLoginReply, Secrecy, TlsPolicy,
    negotiate_encryption,
};
pub use packet::{
    HEADER_BYTES, Message, MessageWriter, PACKET_BYTES_DEFAULT, PACKET_BYTES_MAX, PACKET_BYTES_MIN, PacketHeader,
    PacketKind, PacketStatus, Reassembler, write_packets,
};
pub use request::{
    Argument, BulkColumn, BulkLoad, Headers, Parameter, ParameterRoom, Procedure, Rpc, RpcMessage, SqlBatch,
    SystemProcedure, TableArgument, TableColumn, TransactionRequest, WireIsolation,
};
pub use smp::{FrameHeader, FrameKind, Mux, Queue, Region, SESSIONS_MAX, SMP_HEADER_BYTES};
pub use token::{
    Column, ColumnFlags, ColumnOrigin, ColumnsToken, Command, Done, DoneKind, EnvChange, FeatureAck, LoginAck,
    ReturnValue, SessionState,
};
pub use value::{TypeInfo, TypeToken, WireCollation};
pub use version::TdsVersion;
