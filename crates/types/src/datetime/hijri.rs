//! The Hijri calendar of styles 130 and 131, by the Kuwaiti algorithm: months of 30 and 29 days in turn, and eleven
//! years of thirty with a day more.

use super::days_from_ymd;

/// Days of thirty years.
const CYCLE: i32 = 10_631;

/// The months' names, as style 130 writes them.
const MONTHS: [&str; 12] = [
    "محرم",
    "صفر",
    "ربيع الاول",
    "ربيع الثاني",
    "جمادى الاولى",
    "جمادى الثانية",
    "رجب",
    "شعبان",
    "رمضان",
    "شوال",
    "ذو القعدة",
    "ذو الحجة",
];

/// The calendar's first day: 0622-07-18.
fn first_day() -> i32 {
    days_from_ymd(622, 7, 18).unwrap_or(0)
}

/// Days of a year of the thirty, from 1.
fn year_days(year: i32) -> i32 {
    354 + i32::from((year * 11 + 14) % 30 < 11)
}

fn month_days(month: i32, year: i32) -> i32 {
    if month == 12 { year_days(year) - 325 } else { 29 + month % 2 }
}

/// Year, month and day; none for days before the calendar's first.
pub(super) fn ymd(days: i32) -> Option<(i32, i32, i32)> {
    let since = Some(days - first_day()).filter(|since| *since >= 0)?;
    let (cycle, mut rest) = (since / CYCLE, since % CYCLE);
    let (mut year, mut month) = (1, 1);
    while rest >= year_days(year) {
        rest -= year_days(year);
        year += 1;
    }
    while rest >= month_days(month, year) {
        rest -= month_days(month, year);
        month += 1;
    }
    Some((cycle * 30 + year, month, rest + 1))
}

/// The day of a date, as [`days_from_ymd`] counts; none when there is no such day.
pub(super) fn days(year: i32, month: i32, day: i32) -> Option<i32> {
    if !(1..=9666).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let (cycle, of_cycle) = ((year - 1) / 30, (year - 1) % 30 + 1);
    if !(1..=month_days(month, of_cycle)).contains(&day) {
        return None;
    }
    let before: i32 =
        (1..of_cycle).map(year_days).sum::<i32>() + (1..month).map(|of| month_days(of, of_cycle)).sum::<i32>();
    let days = first_day() + cycle * CYCLE + before + day - 1;
    (days <= days_from_ymd(9999, 12, 31)?).then_some(days)
}

/// The name of a month, from 1.
pub(super) fn month_name(month: i32) -> &'static str {
    usize::try_from(month - 1).ok().and_then(|at| MONTHS.get(at)).copied().unwrap_or("")
}

/// A text with the number of a month between slashes for its name.
pub(super) fn without_name(text: &str) -> Option<String> {
    let (at, place) = MONTHS.iter().enumerate().find_map(|(at, name)| Some((at, text.find(name)?)))?;
    let (before, behind) = (text[..place].trim_end(), text[place + MONTHS[at].len()..].trim_start());
    Some(format!("{before}/{}/{behind}", at + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_the_calendar() {
        let of = |year, month, day| ymd(days_from_ymd(year, month, day).expect("a day"));
        assert_eq!(of(2006, 12, 30), Some((1427, 12, 10)));
        assert_eq!(of(2000, 8, 7), Some((1421, 5, 7)));
        assert_eq!((of(622, 7, 18), of(622, 7, 17)), (Some((1, 1, 1)), None));
        for day in (first_day()..first_day() + 40 * CYCLE).step_by(17).chain(days_from_ymd(9999, 12, 31)) {
            let (year, month, of_month) = ymd(day).expect("a date");
            assert_eq!(days(year, month, of_month), Some(day));
        }
        assert_eq!((days(1427, 13, 1), days(1427, 2, 30), days(0, 1, 1), days(9667, 1, 1)), (None, None, None, None));
    }
}
