//! `master.dbo.spt_values`: names of numbers that older procedures of the system were written with, and, under type `P`, the numbers
//! from 0 to 2,047, which scripts make series of.
//!
//! SQL Server does not document it. What is here are the numbers, and those names that published scripts read: bytes of a page, answers,
//! and the kinds, modes and states of locks that `syslockinfo` has.

use super::Kind::{Code, Int, Text};
use super::Nullable::{No, Yes};
use super::{Rows, Source, View};
use pikepole_types::SqlError;

pub(super) const VIEWS: &[View] = &[View {
    schema: "dbo",
    name: "spt_values",
    columns: &[
        ("name", Text(35), Yes),
        ("number", Int, No),
        ("type", Code, No),
        ("low", Int, Yes),
        ("high", Int, Yes),
        ("status", Int, Yes),
    ],
    rows: values,
}];

/// Numbers of type `P`.
const NUMBERS: i32 = 2_048;

/// Bytes of a page in memory, as tools ask for them to turn pages into kilobytes.
const PAGE_BYTES: i32 = 8_192;

/// A type, its own name, and the names of its numbers.
type Named = (&'static str, &'static str, &'static [(i32, &'static str)]);

const NAMED: &[Named] = &[
    ("B", "YES OR NO", &[(0, "no"), (1, "yes"), (2, "none")]),
    (
        "L",
        "LOCK TYPES",
        &[
            (1, "NULL"),
            (2, "Sch-S"),
            (3, "Sch-M"),
            (4, "S"),
            (5, "U"),
            (6, "X"),
            (7, "IS"),
            (8, "IU"),
            (9, "IX"),
            (10, "SIU"),
            (11, "SIX"),
            (12, "UIX"),
            (13, "BU"),
            (14, "RangeS-S"),
            (15, "RangeS-U"),
            (16, "RangeIn-Null"),
            (17, "RangeIn-S"),
            (18, "RangeIn-U"),
            (19, "RangeIn-X"),
            (20, "RangeX-S"),
            (21, "RangeX-U"),
            (22, "RangeX-X"),
        ],
    ),
    (
        "LR",
        "LOCK RESOURCES",
        &[
            (1, "NUL"),
            (2, "DB"),
            (3, "FIL"),
            (4, "IDX"),
            (5, "TAB"),
            (6, "PAG"),
            (7, "KEY"),
            (8, "EXT"),
            (9, "RID"),
            (10, "APP"),
            (11, "MD"),
            (12, "HBT"),
            (13, "AU"),
        ],
    ),
    ("LS", "LOCK REQ STATUS", &[(1, "GRANT"), (2, "CNVT"), (3, "WAIT")]),
];

fn values(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let row = |number: i32, kind: &str| view.row().integer("number", number).text("type", kind).integer("status", 0);
    let mut rows = Vec::new();
    rows.push(row(-1, "E").text("name", "SQLSERVER HOST TYPE").integer("low", 0).integer("high", 0).done());
    rows.push(row(1, "E").text("name", "WINDOWS/NT").integer("low", PAGE_BYTES).done());
    for (kind, name, numbers) in NAMED {
        rows.push(row(-1, kind).text("name", *name).done());
        rows.extend(numbers.iter().map(|(number, name)| row(*number, kind).text("name", *name).done()));
    }
    // `low` and `high` are the byte, counted from one, and the bit in it that a bitmap has for the number.
    let numbered = |number: i32| row(number, "P").integer("low", number / 8 + 1).integer("high", 1_i32 << (number % 8));
    rows.extend((0..NUMBERS).map(|number| numbered(number).done()));
    Ok(rows)
}
