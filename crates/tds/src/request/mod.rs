//! What a logged-in client asks for: batches, procedure calls, transactions.

mod batch;
mod headers;
mod rpc;
mod table;
mod transaction;

pub use batch::SqlBatch;
pub use headers::Headers;
pub use rpc::{Argument, Parameter, Procedure, Rpc, RpcMessage, SystemProcedure};
pub use table::{TableArgument, TableColumn};
pub use transaction::{TransactionRequest, WireIsolation};

#[cfg(test)]
mod tests;
