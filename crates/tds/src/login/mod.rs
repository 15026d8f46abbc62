//! From the first byte to the login: PRELOGIN, who encrypts what, LOGIN7.

mod login7;
mod prelogin;
mod recovery;

pub use login7::{Feature, Login7, Password};
pub use prelogin::{ClientEncryption, PreLogin, PreLoginReply, Secrecy, TlsPolicy, negotiate_encryption};
pub use recovery::KeptSession;
