//! How the cultures of the languages write numbers, money and dates: what .NET has of them on Windows.

use crate::datetime::Language;

/// What FORMAT knows of a culture beyond its language: pictures, and where signs stand.
pub(super) struct Culture {
    name: &'static str,
    /// `d`
    pub(super) short_date: &'static str,
    /// `D`
    pub(super) long_date: &'static str,
    /// `t`
    pub(super) short_time: &'static str,
    /// `T`
    pub(super) long_time: &'static str,
    /// `M`
    pub(super) month_day: &'static str,
    /// `Y`
    pub(super) year_month: &'static str,
    /// What `/` stands for.
    pub(super) date_separator: &'static str,
    /// What `tt` gives in the morning and from noon on.
    pub(super) halves: [&'static str; 2],
    /// What `MMM` gives, January first.
    pub(super) months: [&'static str; 12],
    /// What `ddd` gives, Monday first.
    pub(super) days: [&'static str; 7],
    /// `C` of a positive and of a negative amount: `n` the digits, `$` the sign of the money.
    pub(super) money: [&'static str; 2],
    /// Digits behind the point of money.
    pub(super) money_places: u8,
    /// `P` of a positive number; the minus of a negative one stands first.
    pub(super) percent: &'static str,
}

impl Culture {
    /// What goes with a language.
    pub(super) fn of(language: &Language) -> &'static Culture {
        CULTURES.iter().find(|culture| culture.name == language.culture).unwrap_or(&CULTURES[0])
    }

    /// The name of a month or a day, which begins with a capital letter in English and German only.
    pub(super) fn named(&self, name: &str) -> String {
        if matches!(self.name, "en-US" | "en-GB" | "de-DE") { name.to_owned() } else { name.to_lowercase() }
    }
}

const ENGLISH_MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ENGLISH_DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const NO_HALVES: [&str; 2] = ["", ""];

const CULTURES: &[Culture] = &[
    Culture {
        name: "en-US",
        short_date: "M/d/yyyy",
        long_date: "dddd, MMMM d, yyyy",
        short_time: "h:mm tt",
        long_time: "h:mm:ss tt",
        month_day: "MMMM d",
        year_month: "MMMM yyyy",
        date_separator: "/",
        halves: ["AM", "PM"],
        months: ENGLISH_MONTHS,
        days: ENGLISH_DAYS,
        money: ["$n", "($n)"],
        money_places: 2,
        percent: "n%",
    },
    Culture {
        name: "en-GB",
        short_date: "dd/MM/yyyy",
        long_date: "dd MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d MMMM",
        year_month: "MMMM yyyy",
        date_separator: "/",
        halves: ["AM", "PM"],
        months: ENGLISH_MONTHS,
        days: ENGLISH_DAYS,
        money: ["$n", "-$n"],
        money_places: 2,
        percent: "n%",
    },
    Culture {
        name: "de-DE",
        short_date: "dd.MM.yyyy",
        long_date: "dddd, d. MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d. MMMM",
        year_month: "MMMM yyyy",
        date_separator: ".",
        halves: NO_HALVES,
        months: ["Jan", "Feb", "Mrz", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"],
        days: ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"],
        money: ["n $", "-n $"],
        money_places: 2,
        percent: "n %",
    },
    Culture {
        name: "fr-FR",
        short_date: "dd/MM/yyyy",
        long_date: "dddd d MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d MMMM",
        year_month: "MMMM yyyy",
        date_separator: "/",
        halves: NO_HALVES,
        months: ["janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."],
        days: ["lun.", "mar.", "mer.", "jeu.", "ven.", "sam.", "dim."],
        money: ["n $", "-n $"],
        money_places: 2,
        percent: "n %",
    },
    Culture {
        name: "ja-JP",
        short_date: "yyyy/MM/dd",
        long_date: "yyyy'年'M'月'd'日'",
        short_time: "H:mm",
        long_time: "H:mm:ss",
        month_day: "M'月'd'日'",
        year_month: "yyyy'年'M'月'",
        date_separator: "/",
        halves: ["午前", "午後"],
        months: ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"],
        days: ["月", "火", "水", "木", "金", "土", "日"],
        money: ["$n", "-$n"],
        money_places: 0,
        percent: "n%",
    },
    Culture {
        name: "es-ES",
        short_date: "dd/MM/yyyy",
        long_date: "dddd, d' de 'MMMM' de 'yyyy",
        short_time: "H:mm",
        long_time: "H:mm:ss",
        month_day: "d' de 'MMMM",
        year_month: "MMMM' de 'yyyy",
        date_separator: "/",
        halves: NO_HALVES,
        months: ["ene.", "feb.", "mar.", "abr.", "may.", "jun.", "jul.", "ago.", "sep.", "oct.", "nov.", "dic."],
        days: ["lu.", "ma.", "mi.", "ju.", "vi.", "sá.", "do."],
        money: ["n $", "-n $"],
        money_places: 2,
        percent: "n %",
    },
    Culture {
        name: "it-IT",
        short_date: "dd/MM/yyyy",
        long_date: "dddd d MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d MMMM",
        year_month: "MMMM yyyy",
        date_separator: "/",
        halves: NO_HALVES,
        months: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
        days: ["lun", "mar", "mer", "gio", "ven", "sab", "dom"],
        money: ["n $", "-n $"],
        money_places: 2,
        percent: "n%",
    },
    Culture {
        name: "nl-NL",
        short_date: "d-M-yyyy",
        long_date: "dddd d MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d MMMM",
        year_month: "MMMM yyyy",
        date_separator: "-",
        halves: NO_HALVES,
        months: ["jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        days: ["ma", "di", "wo", "do", "vr", "za", "zo"],
        money: ["$ n", "$ -n"],
        money_places: 2,
        percent: "n%",
    },
    Culture {
        name: "sv-SE",
        short_date: "yyyy-MM-dd",
        long_date: "'den 'd MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "'den 'd MMMM",
        year_month: "MMMM yyyy",
        date_separator: "-",
        halves: NO_HALVES,
        months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        days: ["må", "ti", "on", "to", "fr", "lö", "sö"],
        money: ["n $", "-n $"],
        money_places: 2,
        percent: "n %",
    },
    Culture {
        name: "da-DK",
        short_date: "dd-MM-yyyy",
        long_date: "d. MMMM yyyy",
        short_time: "HH:mm",
        long_time: "HH:mm:ss",
        month_day: "d. MMMM",
        year_month: "MMMM yyyy",
        date_separator: "-",
        halves: NO_HALVES,
        months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        days: ["ma", "ti", "on", "to", "fr", "lø", "sø"],
        money: ["n $", "-n $"],
        money_places: 2,
        percent: "n %",
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_its_culture() {
        for language in Language::all() {
            assert_eq!(Culture::of(language).name, language.culture);
        }
    }
}
