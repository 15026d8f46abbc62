//! BACKUP and RESTORE, from outside.

mod bulk_logged;
mod definitions;
mod faults;
mod fixture;
mod statements;
