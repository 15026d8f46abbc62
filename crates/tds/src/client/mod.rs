//! The client's side, as far as the project's own client needs it: the login, batches and calls as bytes, and the tokens of
//! replies.
//!
//! What a server sends is read with the same care as what a client sends: every length is checked, nothing panics.

mod login;
mod request;
mod tokens;

pub use login::{ClientLogin, client_pre_login, encryption_of_reply};
pub use request::{put_batch, put_call, put_next_call, put_parameter};
pub use tokens::{ReplyToken, TokenReader};
