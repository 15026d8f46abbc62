//! What a logged-in client asks for: batches, procedure calls, transactions, rows to load.

mod batch;
mod bulk;
mod headers;
mod rpc;
mod table;
mod transaction;

pub use batch::SqlBatch;
pub use bulk::{BulkColumn, BulkLoad};
pub use headers::Headers;
pub use rpc::{Argument, Parameter, ParameterRoom, Procedure, Rpc, RpcMessage, SystemProcedure};
pub use table::{TableArgument, TableColumn};
pub use transaction::{TransactionRequest, WireIsolation};
