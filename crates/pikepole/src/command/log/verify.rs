//! `pikepole log verify`: every block and every record of logs.

use super::picture::{LEGEND, Picture};
use super::{Which, size};
use crate::command::CommandError;
use pikepole_engine::LogView;
use pikepole_log::{BlockInfo, Lsn, SegmentUsage, Stretch};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Which logs.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
}

const HELP: &str = "\
For each database it reads every block of every segment and every record up to the end of
the log, and tells where the log ends and what lies behind its end:

  left over   good blocks from before a restart, or of a segment's earlier use: normal
  cut off     good blocks of the last run behind a hole: written when the power failed,
              promised to nobody, and gone at the next start: normal after a crash
  torn        blocks that are not whole, behind the end: likewise

Damage is a block that is missing or not whole although a later one says that it was
durable; a segment that lost its header; a record that cannot be read. Each is a line
DAMAGE with the segment, the byte and the LSN.

Exit status: 0 no damage, 1 damage, or a log cannot be looked at.

Example:
  pikepole log verify ./data";

/// Prints what was found; status 1 on damage.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let mut damaged = 0;
    for database in arguments.which.databases()? {
        let mut out = io::stdout().lock();
        let found = match arguments.which.look(&database) {
            Ok(view) => verify(&view, &mut out)?,
            Err(CommandError::Look(error)) => vec![error.to_string()],
            Err(error) => return Err(error),
        };
        for damage in &found {
            writeln!(out, "DAMAGE: {database}: {damage}").map_err(CommandError::io("standard output"))?;
        }
        damaged += found.len();
    }
    let words = match damaged {
        0 => "no damage found".to_string(),
        1 => "1 damaged place".to_string(),
        count => format!("{count} damaged places"),
    };
    writeln!(io::stdout(), "{words}").map_err(CommandError::io("standard output"))?;
    Ok(if damaged == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What the blocks of a log are, counted.
#[derive(Default)]
struct Blocks {
    good: u64,
    bytes: u64,
    torn: u64,
    left_over: u64,
    cut_off: u64,
    /// The first good block behind the end that goes on with the log.
    resumes: Option<BlockInfo>,
}

fn verify(view: &LogView, out: &mut impl Write) -> Result<Vec<String>, CommandError> {
    let files = view.files();
    let extent = files.extent();
    let mut picture = Picture::new(files.segments());
    let mut blocks = Blocks::default();
    let mut last_incarnation = 0;
    let mut behind = Vec::new();
    files.walk(&mut |stretch| {
        picture.draw(&stretch);
        match stretch {
            Stretch::Block(block) if block.of_the_log => {
                blocks.good += 1;
                blocks.bytes += block.bytes;
                last_incarnation = last_incarnation.max(block.incarnation);
            }
            Stretch::Block(block) if block.sequence > extent.next_sequence => behind.push(block),
            Stretch::Block(_) => blocks.left_over += 1,
            Stretch::Broken { .. } => blocks.torn += 1,
            Stretch::Empty { .. } => {}
        }
    })?;
    behind.sort_by_key(|block| block.sequence);
    for block in behind {
        if block.incarnation >= last_incarnation && block.start >= extent.end {
            blocks.cut_off += 1;
            blocks.resumes.get_or_insert(block);
        } else {
            blocks.left_over += 1;
        }
    }
    let mut damage = Vec::new();
    if let Some(error) = files.damage() {
        let resumes = blocks.resumes.map(|block| {
            let segment = &files.segments()[block.segment].name;
            format!(
                "; good blocks go on with block {} in {segment} at byte {} (LSN {})",
                block.sequence, block.offset, block.start
            )
        });
        damage.push(format!("{error}{}", resumes.unwrap_or_default()));
    }
    let (records, record_bytes) = read_records(view, &mut damage);
    print(view, &blocks, (records, record_bytes), out).map_err(CommandError::io("standard output"))?;
    picture.print(out).and_then(|()| writeln!(out, "  {LEGEND}")).map_err(CommandError::io("standard output"))?;
    Ok(damage)
}

/// Reads every record; those that are none are damage.
fn read_records(view: &LogView, damage: &mut Vec<String>) -> (u64, u64) {
    let (mut records, mut bytes, mut unreadable) = (0, 0, 0);
    let mut first = None;
    let read = view.each(Lsn::OLDEST, &mut |row| {
        records += 1;
        bytes += row.end.0 - row.lsn.0;
        if let Err(why) = &row.record {
            unreadable += 1;
            first.get_or_insert_with(|| format!("the record at LSN {} cannot be read: {why}", row.lsn));
        }
        ControlFlow::Continue(())
    });
    if let Some(first) = first {
        damage.push(if unreadable > 1 { format!("{first}; {} more", unreadable - 1) } else { first });
    }
    if let Err(error) = read {
        damage.push(error.to_string());
    }
    (records, bytes)
}

fn print(view: &LogView, blocks: &Blocks, records: (u64, u64), out: &mut impl Write) -> io::Result<()> {
    let (files, name) = (view.files(), view.database());
    let extent = files.extent();
    let count = |usage: fn(&SegmentUsage) -> bool| files.segments().iter().filter(|s| usage(&s.usage)).count();
    let active = count(|usage| matches!(usage, SegmentUsage::Active { .. }));
    let free = count(|usage| matches!(usage, SegmentUsage::Free));
    let without = count(|usage| matches!(usage, SegmentUsage::NoHeader));
    writeln!(
        out,
        "{name}: {} segments: {active} in use, {free} free, {without} being prepared or without a header",
        files.segments().len()
    )?;
    writeln!(
        out,
        "{name}: {} blocks, {}; {} records, {}; LSN {} to {}",
        blocks.good,
        size(blocks.bytes),
        records.0,
        size(records.1),
        extent.start,
        extent.end
    )?;
    writeln!(
        out,
        "{name}: ends in {} at byte {} (LSN {}), before block {}; opened {} times",
        files.segments()[extent.end_segment].name,
        extent.end_offset,
        extent.end,
        extent.next_sequence,
        extent.incarnation
    )?;
    writeln!(
        out,
        "{name}: not of the log: {} blocks left over, {} cut off, {} torn",
        blocks.left_over, blocks.cut_off, blocks.torn
    )?;
    if let (Some(block), None) = (blocks.resumes, files.damage()) {
        writeln!(
            out,
            "{name}: a hole behind the end: blocks {} to {} are missing, block {} is there",
            extent.next_sequence,
            block.sequence - 1,
            block.sequence
        )?;
    }
    Ok(())
}
