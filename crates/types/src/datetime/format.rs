//! Dates and times as text, in the numbered styles of CONVERT.

use super::{Language, Moment, SECOND, hijri, ymd_from_days};
use crate::sql_type::SqlType;
use std::fmt::Write;

/// How one style writes a date, the gap and a time.
///
/// Date: `Y` four digits of the year, `y` two, `m` month, `N` its short name, `K` the name of a Hijri one, `d` day, `D` day filled up with
/// a blank.
/// Time: `H` hour of 24, `h` hour of 12 filled up with a blank, `i` minute, `s` second, `f` fraction behind a colon (a
/// point for the newer types), `F` fraction behind a point, `Z` the same but left out when it is zero, `A` AM or PM.
/// All others stand for themselves.
struct Layout {
    date: &'static str,
    gap: &'static str,
    time: &'static str,
}

fn layout(style: i32) -> Option<Layout> {
    let both = |date, time| Layout { date, gap: " ", time };
    let date = |date| Layout { date, gap: "", time: "" };
    let time = |time| Layout { date: "", gap: "", time };
    Some(match style {
        0 | 100 => both("N D Y", "h:iA"),
        1 => date("m/d/y"),
        101 => date("m/d/Y"),
        2 => date("y.m.d"),
        102 => date("Y.m.d"),
        3 => date("d/m/y"),
        103 => date("d/m/Y"),
        4 => date("d.m.y"),
        104 => date("d.m.Y"),
        5 => date("d-m-y"),
        105 => date("d-m-Y"),
        6 => date("d N y"),
        106 => date("d N Y"),
        7 => date("N d, y"),
        107 => date("N d, Y"),
        8 | 24 | 108 => time("H:i:s"),
        9 | 109 => both("N D Y", "h:i:sfA"),
        10 => date("m-d-y"),
        110 => date("m-d-Y"),
        11 => date("y/m/d"),
        111 => date("Y/m/d"),
        12 => date("ymd"),
        112 => date("Ymd"),
        13 | 113 => both("d N Y", "H:i:sf"),
        14 | 114 => time("H:i:sf"),
        20 | 120 => both("Y-m-d", "H:i:s"),
        21 | 25 | 121 => both("Y-m-d", "H:i:sF"),
        22 => both("m/d/y", "h:i:s A"),
        23 => date("Y-m-d"),
        130 => both("D K Y", "h:i:sfA"),
        131 => both("D/m/Y", "h:i:sfA"),
        126 | 127 => Layout { date: "Y-m-d", gap: "T", time: "H:i:sZ" },
        _ => return None,
    })
}

/// Whether a style has the Hijri calendar.
pub(super) fn is_hijri(style: i32) -> bool {
    matches!(style, 130 | 131)
}

/// Whether dates or times can be written in a style.
pub(crate) fn is_style(style: i32) -> bool {
    layout(style).is_some()
}

/// Appends a moment of type `ty` in a style, its month in a language; gives false, and appends nothing, when the style is not known or writes
/// only the part that the type does not have, or the day is before the calendar of the style.
pub(crate) fn style_text(moment: Moment, ty: &SqlType, style: i32, language: &Language, out: &mut String) -> bool {
    let Some(layout) = layout(style) else {
        return false;
    };
    let date = if matches!(ty, SqlType::Time(_)) { "" } else { layout.date };
    let time = if *ty == SqlType::Date { "" } else { layout.time };
    if date.is_empty() && time.is_empty() {
        return false;
    }
    // Style 127 is in UTC, marked by a Z.
    let utc = style == 127 && moment.offset_minutes.is_some();
    let shift = if utc { i64::from(moment.offset_minutes.unwrap_or(0)) * 60 * SECOND } else { 0 };
    let moment = Moment { ticks: moment.ticks - shift, ..moment };
    if is_hijri(style) && !date.is_empty() {
        let Some(ymd) = hijri::ymd(moment.days()) else { return false };
        write_date(ymd, date, language, out);
    } else {
        write_date(ymd_from_days(moment.days()), date, language, out);
    }
    if !date.is_empty() && !time.is_empty() {
        out.push_str(layout.gap);
    }
    write_time(moment, time, ty, out);
    if utc {
        out.push('Z');
    } else if let (Some(offset), false) = (moment.offset_minutes, time.is_empty()) {
        let sign = if offset < 0 { '-' } else { '+' };
        let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
        let gap = if style == 126 { "" } else { " " };
        put(out, format_args!("{gap}{sign}{hours:02}:{minutes:02}"));
    }
    true
}

/// Writes to a string, which cannot fail.
fn put(out: &mut String, arguments: std::fmt::Arguments<'_>) {
    out.write_fmt(arguments).unwrap_or_default();
}

fn write_date((year, month, day): (i32, i32, i32), layout: &str, language: &Language, out: &mut String) {
    for c in layout.chars() {
        match c {
            'Y' => put(out, format_args!("{year:04}")),
            'y' => put(out, format_args!("{:02}", year % 100)),
            'm' => put(out, format_args!("{month:02}")),
            'K' => out.push_str(hijri::month_name(month)),
            'N' => out.push_str(language.short_months[month as usize - 1]),
            'd' => put(out, format_args!("{day:02}")),
            'D' => put(out, format_args!("{day:2}")),
            _ => out.push(c),
        }
    }
}

fn write_time(moment: Moment, layout: &str, ty: &SqlType, out: &mut String) {
    let ticks = moment.time_ticks();
    let (seconds, fraction) = (ticks / SECOND, ticks % SECOND);
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    for c in layout.chars() {
        match c {
            'H' => put(out, format_args!("{hour:02}")),
            'h' => put(out, format_args!("{:2}", (hour + 11) % 12 + 1)),
            'i' => put(out, format_args!("{minute:02}")),
            's' => put(out, format_args!("{second:02}")),
            'f' | 'F' | 'Z' => write_fraction(fraction, c, ty, out),
            'A' => out.push_str(if hour < 12 { "AM" } else { "PM" }),
            _ => out.push(c),
        }
    }
}

fn write_fraction(fraction: i64, kind: char, ty: &SqlType, out: &mut String) {
    let old_type = matches!(ty, SqlType::DateTime | SqlType::SmallDateTime);
    let digits = if old_type { 3 } else { u32::from(ty.scale()) };
    let unit = 10i64.pow(7 - digits.min(7));
    let shown = if old_type { (fraction + unit / 2) / unit } else { fraction / unit };
    if digits == 0 || kind == 'Z' && shown == 0 {
        return;
    }
    let mark = if kind == 'f' && old_type { ':' } else { '.' };
    put(out, format_args!("{mark}{shown:0width$}", width = digits as usize));
}
