//! `pikepole lab topology`.

use super::{CommandError, json, say};
use pikepole::SystemFiles;
use pikepole_lab::topology::TopologyReport;
use pikepole_machine::Shape;
use std::path::PathBuf;
use std::process::ExitCode;

/// Which machine to draw.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// A folder that holds another machine's /sys and /proc
    #[arg(long, value_name = "FOLDER", conflicts_with = "like")]
    root: Option<PathBuf>,
    /// A machine of SOCKETSxCORESxTHREADS, or SOCKETSxNODESxCORESxTHREADS, in the place of this one
    #[arg(long, value_name = "SHAPE")]
    like: Option<String>,
    /// As JSON
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
A bracket is a core with the numbers of its CPUs (hyper-threads). The table below shows
what the rules for schedulers, nodes and log writers give on the machine; docs/understand/lab.md
states them. Nodes of a shape are those of a socket, cores those of a node.

Examples:
  pikepole lab topology
  pikepole lab topology --like 2x10x2
  pikepole lab topology --like 2x4x6x2    two sockets of four sub-NUMA clusters";

/// Draws the machine.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let files = match (&arguments.root, &arguments.like) {
        (Some(root), _) => SystemFiles::below(root),
        (None, None) => SystemFiles::below("/"),
        (None, Some(text)) => {
            let shape = Shape::parse(text).ok_or_else(|| {
                let wanted = "--like takes a shape such as 2x10x2 or 2x4x6x2, of at most 4,096 CPUs";
                CommandError::Usage(format!("{wanted}, not `{text}`"))
            })?;
            SystemFiles::of_shape(&shape)
        }
    };
    let report = TopologyReport::read(&files).map_err(CommandError::io("the machine"))?;
    say(&if arguments.json { json(&report)? } else { report.text() })?;
    Ok(ExitCode::SUCCESS)
}
