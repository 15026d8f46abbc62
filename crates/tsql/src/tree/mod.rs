//! The syntax tree: what a batch says, with no name looked up.
//!
//! Two trees are equal when they say the same, wherever it stands in the text: [`Span`]s compare as equal. Names of
//! variables keep their `@`, names of globals their `@@`; other identifiers are stored without brackets or quotes, in the case
//! they were written in. The height of trees is bounded
//! ([`crate::NESTING_MAX`], [`crate::HEIGHT_MAX`]), so walking one by recursion is safe.

mod administration;
mod alike;
mod control;
mod database;
mod expression;
mod index;
mod modification;
mod module;
mod name;
mod partition;
mod parts;
mod query;
mod security_policy;
mod statement;
mod table;

pub use administration::*;
pub use control::*;
pub use database::*;
pub use expression::*;
pub use index::*;
pub use modification::*;
pub use module::*;
pub use name::*;
pub use partition::*;
pub use parts::Part;
pub use query::*;
pub use security_policy::*;
pub use statement::*;
pub use table::*;
