//! Types and values as they travel.
//!
//! ```text
//!   TypeInfo:  token | length (1, 2 or 4 bytes) or scale or precision | collation
//!   value:     fixed types         the bytes
//!              nullable ones       length (1 byte, 0 is NULL) and the bytes
//!              strings, binaries   length (2 bytes, 0xFFFF is NULL) and the bytes
//!              (max) types         length (8 bytes, all ones NULL, one less unknown), chunks (4 bytes length), 0
//!              text, ntext, image  in rows a pointer, then a length (4 bytes); in parameters the length alone
//! ```

mod collation;
mod decode;
mod encode;
mod type_info;
mod variant;

pub use collation::WireCollation;
pub(crate) use decode::Place;
pub use type_info::{TypeInfo, TypeToken};
pub(crate) use variant::read_variant;
