//! Files of rows, made once for each scale: fields are separated by `|`, and a row ends with a line feed.
//!
//! ```text
//!   FOLDER/scale-0.1/region.tbl, nation.tbl, ...    finished files
//!                    lineitem.part                  a file that is being written
//! ```

use crate::Failure;
use crate::schema::{TABLES, Table};
use std::fmt::{Display, Write as _};
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};

/// Bytes that are written to a file at once.
const WRITE_BYTES: usize = 1 << 20;

/// The files of a scale.
pub struct Files {
    folder: PathBuf,
}

impl Files {
    /// Makes the files that are missing, and reports each on the standard error output.
    pub fn make(folder: &Path, scale: f64) -> Result<Files, Failure> {
        let folder = folder.join(format!("scale-{scale}"));
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        // Servers have working folders of their own.
        let files = Files { folder: folder.canonicalize()? };
        for table in &TABLES {
            let path = files.path(table);
            if path.exists() {
                continue;
            }
            let begun = Instant::now();
            let part = path.with_extension("part");
            let rows = write(table, scale, &part).map_err(|error| format!("{}: {error}", part.display()))?;
            fs::rename(&part, &path)?;
            eprintln!("{}: {rows} rows made in {:.1} s", path.display(), begun.elapsed().as_secs_f64());
        }
        Ok(files)
    }

    /// The file of a table.
    pub fn path(&self, table: &Table) -> PathBuf {
        self.folder.join(table.name).with_extension("tbl")
    }
}

/// Writes the rows of a table and returns their number.
fn write(table: &Table, scale: f64, path: &Path) -> io::Result<u64> {
    let mut out = BufWriter::with_capacity(WRITE_BYTES, File::create(path)?);
    let rows = match table.name {
        "region" => lines(RegionGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "nation" => lines(NationGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "supplier" => lines(SupplierGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "customer" => lines(CustomerGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "part" => lines(PartGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "partsupp" => lines(PartSuppGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "orders" => lines(OrderGenerator::new(scale, 1, 1).iter(), &mut out)?,
        "lineitem" => lines(LineItemGenerator::new(scale, 1, 1).iter(), &mut out)?,
        name => return Err(io::Error::other(format!("no rows are known of a table `{name}`"))),
    };
    out.into_inner()?.sync_all()?;
    Ok(rows)
}

/// Writes rows without the separator that the generator puts behind the last field.
fn lines(rows: impl Iterator<Item: Display>, out: &mut impl Write) -> io::Result<u64> {
    let (mut line, mut count) = (String::new(), 0);
    for row in rows {
        line.clear();
        write!(line, "{row}").map_err(io::Error::other)?;
        writeln!(out, "{}", line.strip_suffix('|').unwrap_or(&line))?;
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_no_separator_behind_them() {
        let mut bytes = Vec::new();
        let count = lines(RegionGenerator::new(0.01, 1, 1).iter(), &mut bytes).expect("rows");
        let text = String::from_utf8(bytes).expect("a text");
        assert_eq!((count, text.lines().count()), (5, 5));
        assert!(text.starts_with("0|AFRICA|") && text.lines().all(|line| line.matches('|').count() == 2), "{text}");
    }
}
