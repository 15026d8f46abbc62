//! The server from outside, over sockets, in the protocol's own bytes.

mod browse;
mod bulk;
mod call_trace;
mod client;
mod column_types;
mod cursor_changes;
mod cursors;
mod encryption;
mod fixture;
mod garbage;
mod logins;
mod mars;
mod recovery;
mod requests;
mod sessions;
mod tables;
