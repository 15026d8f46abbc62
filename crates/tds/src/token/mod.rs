//! Tokens: what a reply consists of. Each is a method of [`MessageWriter`](crate::MessageWriter).
//!
//! ```text
//!   a batch's reply:   (columns row* done | info | error | environment)*  with the last done final
//!   a call's reply:    the same with done in procedure, then return status, return values, done of the procedure
//! ```

mod columns;
mod done;
mod environment;
mod login;
mod message;
mod origins;
mod returns;
mod session_state;

pub use columns::{Column, ColumnFlags, ColumnsToken};
pub use done::{Command, Done, DoneKind};
pub use environment::EnvChange;
pub use login::{FeatureAck, LoginAck};
pub use origins::ColumnOrigin;
pub use returns::ReturnValue;
pub use session_state::SessionState;
