//! `pikepole log dump`: the records of a log, one a line.

use super::Which;
use crate::command::CommandError;
use pikepole_engine::{LogRow, LogView};
use pikepole_log::Lsn;
use pikepole_log::field::FieldValue;
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::process::ExitCode;

/// Which records.
#[derive(clap::Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    which: Which,
    /// Records that begin here or behind it, as 12345 or 00000000:00000000:3039
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    from: Option<Lsn>,
    /// Records that begin here or before it
    #[arg(long, value_name = "LSN", value_parser = lsn)]
    to: Option<Lsn>,
    /// Records of these kinds, by name or number
    #[arg(long, value_name = "KIND,...", value_delimiter = ',')]
    kind: Vec<String>,
    /// Records of this transaction; 0 is the system
    #[arg(long, value_name = "ID")]
    transaction: Option<u64>,
    /// At most so many records
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
    /// As a JSON array, an object a record
    #[arg(long)]
    json: bool,
}

const HELP: &str = "\
A line a record: its position (LSN), its bytes with the length in front, its kind, its
fields, and the table (and index) whose page it changes:

    1365    48 Insert flags=3 xid=9 page=24 slot=0 key=0x8000... rest=0x06... dbo.t.PK_t

docs/understand/format.md lists the kinds and their fields. Flags: 1 the first record of its
transaction, 2 the record is a whole transaction, 4 it undoes.

A record that cannot be read is shown as it is. The dump ends at the end of the log or at
damage; then the exit status is 1.

Examples:
  pikepole log dump ./data --database stress --kind commit,abort --limit 10
  pikepole log dump ./data --database stress --transaction 4711 --json
  pikepole log dump ./data --from 100000 --to 120000";

fn lsn(text: &str) -> Result<Lsn, String> {
    Lsn::parse(text).ok_or_else(|| "a position is a number, or three in hexadecimal with colons between".to_string())
}

/// Prints the records; status 1 when the log is damaged.
pub fn run(arguments: &Arguments) -> Result<ExitCode, CommandError> {
    let databases = arguments.which.databases()?;
    let [database] = &databases[..] else {
        return Err(CommandError::Usage(format!("which database? --database takes one of {}", databases.join(", "))));
    };
    let view = arguments.which.look(database)?;
    let mut out = BufWriter::new(io::stdout().lock());
    let read = dump(arguments, &view, &mut out)?;
    out.flush().map_err(CommandError::io("standard output"))?;
    drop(out);
    read?;
    match view.files().damage() {
        Some(damage) if arguments.limit.is_none() && arguments.to.is_none() => {
            // Without a standard error there is nobody to tell.
            let _ = writeln!(io::stderr(), "pikepole: {damage}");
            Ok(ExitCode::FAILURE)
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Prints the records. The inner result is the log's.
fn dump(arguments: &Arguments, view: &LogView, out: &mut impl Write) -> Result<Result<(), CommandError>, CommandError> {
    let (mut printed, mut failed) = (0, None);
    if arguments.json {
        write!(out, "[").map_err(CommandError::io("standard output"))?;
    }
    let read = view.each(arguments.from.unwrap_or_default(), &mut |row| {
        if arguments.to.is_some_and(|to| row.lsn > to) || arguments.limit.is_some_and(|limit| printed >= limit) {
            return ControlFlow::Break(());
        }
        if !arguments.wants(row) {
            return ControlFlow::Continue(());
        }
        let wrote = if arguments.json {
            write!(out, "{}{}", if printed > 0 { ",\n " } else { "" }, object(row))
        } else {
            line(row, out)
        };
        printed += 1;
        match wrote {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    });
    if let Some(error) = failed {
        return Err(CommandError::io("standard output")(error));
    }
    if arguments.json {
        writeln!(out, "]").map_err(CommandError::io("standard output"))?;
    }
    Ok(read.map_err(CommandError::from))
}

impl Arguments {
    fn wants(&self, row: &LogRow<'_>) -> bool {
        let kind = row.bytes.first().copied().unwrap_or(0);
        let record = row.record.as_ref().ok();
        let named = |wanted: &String| {
            record.is_some_and(|record| record.name().eq_ignore_ascii_case(wanted)) || *wanted == kind.to_string()
        };
        (self.kind.is_empty() || self.kind.iter().any(named))
            && (self.transaction.is_none() || self.transaction == record.and_then(|record| record.xid()))
    }
}

fn line(row: &LogRow<'_>, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{:>10} {:>5} ", row.lsn.0, row.end.0 - row.lsn.0)?;
    match &row.record {
        Ok(record) => write!(out, "{record}")?,
        Err(why) => write!(out, "{why}: {}", FieldValue::Bytes(row.bytes))?,
    }
    match row.owner {
        Some(owner) => writeln!(out, " {owner}"),
        None => writeln!(out),
    }
}

fn object(row: &LogRow<'_>) -> Value {
    let record = row.record.as_ref().ok();
    let mut object = json!({
        "lsn": row.lsn.0,
        "end": row.end.0,
        "length": row.end.0 - row.lsn.0,
        "kind": row.bytes.first(),
        "name": record.map(|record| record.name()),
        "transaction": record.and_then(|record| record.xid()),
        "previous_lsn": row.previous.map(|lsn| lsn.0),
        "page": record.and_then(|record| record.page()).map(|page| page.0),
        "table": row.owner,
    });
    match &row.record {
        Ok(record) => object["fields"] = fields(record.fields()),
        Err(why) => {
            object["error"] = why.to_string().into();
            object["bytes"] = FieldValue::Bytes(row.bytes).to_string().into();
        }
    }
    object
}

fn fields(fields: Vec<(&'static str, FieldValue<'_>)>) -> Value {
    let value = |value: FieldValue<'_>| match value {
        FieldValue::Unsigned(number) => number.into(),
        FieldValue::Signed(number) => number.into(),
        FieldValue::Bytes(_) | FieldValue::Text(_) => value.to_string().into(),
    };
    Value::Object(fields.into_iter().map(|(name, field)| (name.to_string(), value(field))).collect::<Map<_, _>>())
}
