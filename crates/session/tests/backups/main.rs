//! BACKUP and RESTORE, from outside.

mod bulk_logged;
mod faults;
mod fixture;
mod statements;
