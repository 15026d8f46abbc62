//! The command line as a user meets it: the real binary, its output, its exit status, and what it says about bad input.

mod commands;
mod cpu_time;
mod damage;
mod demo;
mod folder;
mod full_disk;
mod help;
mod init;
mod lab;
mod log;
mod modes;
mod output;
mod parallel;
mod reference;
mod script;
mod serve;
mod server;
mod serving;
mod shell;
mod shell_view;
mod sqlcmd;
mod start;
mod stress;
mod terminal;
mod tool;
mod typing;
