//! Logins, users, roles and permissions, as sessions of several principals meet them.

mod columns;
mod crash;
mod definitions;
mod fixture;
mod logins;
mod permissions;
mod visibility;
