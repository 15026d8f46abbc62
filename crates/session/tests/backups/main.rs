//! BACKUP and RESTORE, from outside.

mod faults;
mod fixture;
mod statements;
