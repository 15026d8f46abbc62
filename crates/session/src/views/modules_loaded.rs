//! `sys.dm_os_loaded_modules`: the program and the libraries in the process, as the kernel's map of its memory names them.

use super::Kind::{Bit, Bytes, LongText, Text};
use super::Nullable::Yes;
use super::{Rows, Source, View};
use pikepole_machine::SystemFiles;
use pikepole_types::SqlError;
use std::collections::BTreeMap;

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "dm_os_loaded_modules",
    columns: &[
        ("base_address", Bytes(8), Yes),
        ("file_version", Text(23), Yes),
        ("product_version", Text(23), Yes),
        ("debug", Bit, Yes),
        ("patched", Bit, Yes),
        ("prerelease", Bit, Yes),
        ("private_build", Bit, Yes),
        ("special_build", Bit, Yes),
        ("language", super::Kind::Int, Yes),
        ("company", Text(256), Yes),
        ("description", Text(256), Yes),
        ("name", LongText, Yes),
    ],
    rows: loaded_modules,
}];

fn loaded_modules(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let map = SystemFiles::below("/").read("proc/self/maps").unwrap_or_default();
    let row = |(name, address): (&str, u64)| view.row().address("base_address", address).text("name", name).done();
    Ok(modules(&map).into_iter().map(row).collect())
}

/// The files that are mapped as code, each with its lowest address.
///
/// ```text
/// 55d0a1c00000-55d0a1e00000 r-xp 00000000 fe:00 1234    /usr/bin/pikepole
/// ```
fn modules(map: &str) -> BTreeMap<&str, u64> {
    let mut lowest: BTreeMap<&str, (u64, bool)> = BTreeMap::new();
    for line in map.lines() {
        let mut fields = line.split_ascii_whitespace();
        let (Some(range), Some(access)) = (fields.next(), fields.next()) else { continue };
        let Some(name) = line.find('/').map(|at| &line[at..]) else { continue };
        let Some(begin) = range.split('-').next().and_then(|begin| u64::from_str_radix(begin, 16).ok()) else {
            continue;
        };
        let known = lowest.entry(name).or_insert((begin, false));
        *known = (known.0.min(begin), known.1 || access.contains('x'));
    }
    lowest.into_iter().filter(|(_, (_, is_code))| *is_code).map(|(name, (begin, _))| (name, begin)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_hold_code_are_modules() {
        let map = "5000-6000 r--p 0 fe:00 1 /usr/bin/a b\n6000-7000 r-xp 0 fe:00 1 /usr/bin/a b\n\
                   7000-8000 rw-p 0 fe:00 2 /data/master.log\n9000-a000 r-xp 0 00:00 0 [vdso]\nbad\n";
        assert_eq!(modules(map), BTreeMap::from([("/usr/bin/a b", 0x5000)]));
    }
}
