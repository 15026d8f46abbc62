//! `pikepole log stat`: what is in logs.

use super::picture::{LEGEND, Picture};
use super::{Which, size};
use crate::command::CommandError;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets::ASCII_MARKDOWN};
use pikepole_engine::{LogRow, LogView};
use pikepole_log::{Lsn, Stretch};
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Which logs.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// As a JSON array, an object a database
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
For each database: records and their bytes by kind, a histogram of their sizes, blocks and
what is not records in them, and a picture of the segments.

The bytes of a record are those in the log, the length in front included. Padding is what
lies between records (space that was reserved and not used) and behind the records of a
block up to the next 4096 bytes.

Example:
  pikepole log stat ./data --database stress";

/// What one log holds.
#[derive(Debug, Default, Serialize)]
struct Statistics {
    database: String,
    start_lsn: u64,
    end_lsn: u64,
    records: u64,
    record_bytes: u64,
    /// Bytes between records.
    gap_bytes: u64,
    transactions_ended: u64,
    kinds: Vec<Kind>,
    sizes: Vec<Size>,
    blocks: u64,
    block_bytes: u64,
    block_header_bytes: u64,
    /// Bytes behind the records of blocks.
    block_padding_bytes: u64,
    segments: u64,
    segment_bytes: u64,
    damage: Option<String>,
}

/// The records of one kind.
#[derive(Debug, Clone, Serialize)]
struct Kind {
    kind: u8,
    name: String,
    records: u64,
    bytes: u64,
    bytes_min: u64,
    bytes_max: u64,
}

/// Records of more than half of `bytes_max` bytes and at most so many.
#[derive(Debug, Serialize)]
struct Size {
    bytes_max: u64,
    records: u64,
    bytes: u64,
}

/// Prints the statistics.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let mut all = Vec::new();
    for database in arguments.which.databases()? {
        let view = arguments.which.look(&database)?;
        let (statistics, picture) = gather(&view)?;
        if arguments.json {
            all.push(statistics);
        } else {
            print(&statistics, &picture, &mut io::stdout().lock()).map_err(CommandError::io("standard output"))?;
        }
    }
    if arguments.json {
        let text = serde_json::to_string_pretty(&all).map_err(|error| CommandError::io("JSON")(error.into()))?;
        writeln!(io::stdout(), "{text}").map_err(CommandError::io("standard output"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn gather(view: &LogView) -> Result<(Statistics, Picture), CommandError> {
    let files = view.files();
    let extent = files.extent();
    let mut statistics = Statistics {
        database: view.database().to_string(),
        start_lsn: extent.start.0,
        end_lsn: extent.end.0,
        segments: files.segments().len() as u64,
        segment_bytes: files.segments().iter().map(|segment| segment.bytes).sum(),
        damage: files.damage().map(ToString::to_string),
        ..Statistics::default()
    };
    let mut picture = Picture::new(files.segments());
    files.walk(&mut |stretch| {
        picture.draw(&stretch);
        if let Stretch::Block(block) = stretch
            && block.of_the_log
        {
            statistics.blocks += 1;
            statistics.block_bytes += block.bytes;
            statistics.block_header_bytes += block.bytes - block.payload_bytes - block.padding_bytes;
            statistics.block_padding_bytes += block.padding_bytes;
        }
    })?;
    let mut kinds: BTreeMap<u8, Kind> = BTreeMap::new();
    let mut sizes: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    let mut behind: Option<Lsn> = None;
    let read = view.each(Lsn::OLDEST, &mut |row| {
        let bytes = row.end.0 - row.lsn.0;
        statistics.records += 1;
        statistics.record_bytes += bytes;
        statistics.gap_bytes += behind.map_or(0, |behind| row.lsn.0 - behind.0);
        behind = Some(row.end);
        statistics.transactions_ended += u64::from(row.record.as_ref().is_ok_and(|record| record.ends_transaction()));
        count(&mut kinds, row, bytes);
        let size = sizes.entry(bytes.next_power_of_two()).or_default();
        *size = (size.0 + 1, size.1 + bytes);
        ControlFlow::Continue(())
    });
    if let Err(error) = read {
        statistics.damage.get_or_insert(error.to_string());
    }
    statistics.kinds = kinds.into_values().collect();
    statistics.sizes =
        sizes.into_iter().map(|(bytes_max, (records, bytes))| Size { bytes_max, records, bytes }).collect();
    Ok((statistics, picture))
}

fn count(kinds: &mut BTreeMap<u8, Kind>, row: &LogRow<'_>, bytes: u64) {
    let kind = row.bytes.first().copied().unwrap_or(0);
    let name = row.record.as_ref().map_or("(unreadable)", |record| record.name());
    let new = || Kind { kind, name: name.to_string(), records: 0, bytes: 0, bytes_min: u64::MAX, bytes_max: 0 };
    let counted = kinds.entry(kind).or_insert_with(new);
    counted.records += 1;
    counted.bytes += bytes;
    counted.bytes_min = counted.bytes_min.min(bytes);
    counted.bytes_max = counted.bytes_max.max(bytes);
}

fn print(statistics: &Statistics, picture: &Picture, out: &mut impl Write) -> io::Result<()> {
    let name = &statistics.database;
    writeln!(
        out,
        "{name}: {} records, {}, LSN {} to {}; {} transactions end in it",
        statistics.records,
        size(statistics.record_bytes),
        statistics.start_lsn,
        statistics.end_lsn,
        statistics.transactions_ended
    )?;
    writeln!(out, "{}", kinds_table(statistics))?;
    writeln!(out, "{}", sizes_table(statistics))?;
    writeln!(
        out,
        "{} blocks, {} on disk: records {}, headers {}, padding {}; between records {}",
        statistics.blocks,
        size(statistics.block_bytes),
        size(statistics.block_bytes - statistics.block_header_bytes - statistics.block_padding_bytes),
        size(statistics.block_header_bytes),
        size(statistics.block_padding_bytes),
        size(statistics.gap_bytes)
    )?;
    writeln!(out, "{} segments, {}:", statistics.segments, size(statistics.segment_bytes))?;
    picture.print(out)?;
    writeln!(out, "  {LEGEND}")?;
    if let Some(damage) = &statistics.damage {
        writeln!(out, "DAMAGE: {damage}")?;
    }
    writeln!(out)
}

fn kinds_table(statistics: &Statistics) -> Table {
    let mut table = table(&["kind", "record", "records", "bytes", "of all", "smallest", "average", "largest"]);
    let mut kinds = statistics.kinds.clone();
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.bytes));
    for kind in kinds {
        table.add_row([
            right(kind.kind),
            Cell::new(&kind.name),
            right(kind.records),
            right(kind.bytes),
            right(percent(kind.bytes, statistics.record_bytes)),
            right(kind.bytes_min),
            right(format!("{:.1}", kind.bytes as f64 / kind.records.max(1) as f64)),
            right(kind.bytes_max),
        ]);
    }
    table
}

fn sizes_table(statistics: &Statistics) -> Table {
    let mut table = table(&["bytes up to", "records", "bytes", "of all records", ""]);
    let most = statistics.sizes.iter().map(|size| size.records).max().unwrap_or(1).max(1);
    for size in &statistics.sizes {
        table.add_row([
            right(size.bytes_max),
            right(size.records),
            right(size.bytes),
            right(percent(size.records, statistics.records)),
            Cell::new("#".repeat((size.records * 32).div_ceil(most) as usize)),
        ]);
    }
    table
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1}%", part as f64 * 100.0 / of.max(1) as f64)
}

fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_content_arrangement(ContentArrangement::Disabled);
    table.set_header(header.iter().map(Cell::new));
    table
}

fn right(value: impl ToString) -> Cell {
    Cell::new(value.to_string()).set_alignment(CellAlignment::Right)
}
