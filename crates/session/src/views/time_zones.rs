//! `sys.time_zone_info`.

use super::Kind::{Bit, Name, Text};
use super::Nullable::No;
use super::{Rows, Source, View};
use pikepole_types::{SqlError, TimeZone};

pub(super) const VIEWS: &[View] = &[View {
    schema: "sys",
    name: "time_zone_info",
    columns: &[("name", Name, No), ("current_utc_offset", Text(6), No), ("is_currently_dst", Bit, No)],
    rows: zones,
}];

/// Ticks of 100 ns from 0001-01-01 to 1970-01-01.
const EPOCH_TICKS: i64 = 719_162 * 864_000_000_000;

fn zones(view: &View, _: &Source<'_>) -> Result<Rows, SqlError> {
    let now = EPOCH_TICKS + i64::try_from(super::now_us()).unwrap_or(0) * 10;
    let row = |zone: &TimeZone| {
        let offset = zone.offset_at(now);
        let minutes = offset.seconds.abs() / 60;
        let sign = if offset.seconds < 0 { '-' } else { '+' };
        view.row()
            .text("name", zone.name)
            .text("current_utc_offset", format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60))
            .bit("is_currently_dst", offset.is_summer)
            .done()
    };
    Ok(TimeZone::all().map(row).collect())
}
