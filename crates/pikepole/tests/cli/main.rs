//! The command line as a user meets it: the real binary, its output, its exit status, and what it says about bad input.

mod cpu_time;
mod damage;
mod folder;
mod full_disk;
mod help;
mod lab;
mod log;
mod modes;
mod output;
mod parallel;
mod script;
mod serve;
mod server;
mod shell;
mod shell_view;
mod stress;
mod terminal;
mod tool;
mod typing;
