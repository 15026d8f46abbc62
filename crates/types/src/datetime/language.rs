//! The languages of sessions: how each orders the numbers of a date, where its weeks begin, and what it calls months and days.

use super::{DateFormat, ymd_from_days};

/// A language as `sys.syslanguages` has it.
#[derive(Debug)]
pub struct Language {
    /// Its number.
    pub id: i16,
    /// What it calls itself.
    pub name: &'static str,
    /// What it is called in English.
    pub alias: &'static str,
    /// The culture whose names and marks it has, as .NET calls it.
    pub culture: &'static str,
    /// What stands before the digits behind the point.
    pub decimal_mark: char,
    /// What may stand between thousands; a blank means any of the blanks that do not break.
    pub group_mark: char,
    /// The sign of its money.
    pub currency: &'static str,
    /// Its number in Windows.
    pub lcid: i32,
    /// The number of the language that its messages are in.
    pub message_lcid: i16,
    /// DATEFORMAT of its sessions.
    pub date_format: DateFormat,
    /// DATEFIRST of its sessions.
    pub date_first: u8,
    /// The months, January first.
    pub months: [&'static str; 12],
    /// The months, shortened.
    pub short_months: [&'static str; 12],
    /// The days of the week, Monday first.
    pub days: [&'static str; 7],
}

const ENGLISH_MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const ENGLISH_SHORT_MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const ENGLISH_DAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// Every language, in the order of their numbers.
const LANGUAGES: &[Language] = &[
    Language {
        id: 0,
        name: "us_english",
        alias: "English",
        culture: "en-US",
        decimal_mark: '.',
        group_mark: ',',
        currency: "$",
        lcid: 1033,
        message_lcid: 1033,
        date_format: DateFormat::Mdy,
        date_first: 7,
        months: ENGLISH_MONTHS,
        short_months: ENGLISH_SHORT_MONTHS,
        days: ENGLISH_DAYS,
    },
    Language {
        id: 1,
        name: "Deutsch",
        alias: "German",
        culture: "de-DE",
        decimal_mark: ',',
        group_mark: '.',
        currency: "€",
        lcid: 1031,
        message_lcid: 1031,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: [
            "Januar",
            "Februar",
            "März",
            "April",
            "Mai",
            "Juni",
            "Juli",
            "August",
            "September",
            "Oktober",
            "November",
            "Dezember",
        ],
        short_months: ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"],
        days: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
    },
    Language {
        id: 2,
        name: "Français",
        alias: "French",
        culture: "fr-FR",
        decimal_mark: ',',
        group_mark: ' ',
        currency: "€",
        lcid: 1036,
        message_lcid: 1036,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: [
            "janvier",
            "février",
            "mars",
            "avril",
            "mai",
            "juin",
            "juillet",
            "août",
            "septembre",
            "octobre",
            "novembre",
            "décembre",
        ],
        short_months: ["janv", "févr", "mars", "avr", "mai", "juin", "juil", "août", "sept", "oct", "nov", "déc"],
        days: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    },
    Language {
        id: 3,
        name: "日本語",
        alias: "Japanese",
        culture: "ja-JP",
        decimal_mark: '.',
        group_mark: ',',
        currency: "¥",
        lcid: 1041,
        message_lcid: 1041,
        date_format: DateFormat::Ymd,
        date_first: 7,
        months: ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"],
        short_months: ["01", "02", "03", "04", "05", "06", "07", "08", "09", "10", "11", "12"],
        days: ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"],
    },
    Language {
        id: 4,
        name: "Dansk",
        alias: "Danish",
        culture: "da-DK",
        decimal_mark: ',',
        group_mark: '.',
        currency: "kr.",
        lcid: 1030,
        message_lcid: 1030,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: [
            "januar",
            "februar",
            "marts",
            "april",
            "maj",
            "juni",
            "juli",
            "august",
            "september",
            "oktober",
            "november",
            "december",
        ],
        short_months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        days: ["mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag"],
    },
    Language {
        id: 5,
        name: "Español",
        alias: "Spanish",
        culture: "es-ES",
        decimal_mark: ',',
        group_mark: '.',
        currency: "€",
        lcid: 3082,
        message_lcid: 3082,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: [
            "Enero",
            "Febrero",
            "Marzo",
            "Abril",
            "Mayo",
            "Junio",
            "Julio",
            "Agosto",
            "Septiembre",
            "Octubre",
            "Noviembre",
            "Diciembre",
        ],
        short_months: ["Ene", "Feb", "Mar", "Abr", "May", "Jun", "Jul", "Ago", "Sep", "Oct", "Nov", "Dic"],
        days: ["Lunes", "Martes", "Miércoles", "Jueves", "Viernes", "Sábado", "Domingo"],
    },
    Language {
        id: 6,
        name: "Italiano",
        alias: "Italian",
        culture: "it-IT",
        decimal_mark: ',',
        group_mark: '.',
        currency: "€",
        lcid: 1040,
        message_lcid: 1040,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: [
            "gennaio",
            "febbraio",
            "marzo",
            "aprile",
            "maggio",
            "giugno",
            "luglio",
            "agosto",
            "settembre",
            "ottobre",
            "novembre",
            "dicembre",
        ],
        short_months: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
        days: ["lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"],
    },
    Language {
        id: 7,
        name: "Nederlands",
        alias: "Dutch",
        culture: "nl-NL",
        decimal_mark: ',',
        group_mark: '.',
        currency: "€",
        lcid: 1043,
        message_lcid: 1043,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: [
            "januari",
            "februari",
            "maart",
            "april",
            "mei",
            "juni",
            "juli",
            "augustus",
            "september",
            "oktober",
            "november",
            "december",
        ],
        short_months: ["jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        days: ["maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"],
    },
    Language {
        id: 11,
        name: "Svenska",
        alias: "Swedish",
        culture: "sv-SE",
        decimal_mark: ',',
        group_mark: ' ',
        currency: "kr",
        lcid: 1053,
        message_lcid: 1053,
        date_format: DateFormat::Ymd,
        date_first: 1,
        months: [
            "januari",
            "februari",
            "mars",
            "april",
            "maj",
            "juni",
            "juli",
            "augusti",
            "september",
            "oktober",
            "november",
            "december",
        ],
        short_months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
        days: ["måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"],
    },
    Language {
        id: 23,
        name: "British",
        alias: "British English",
        culture: "en-GB",
        decimal_mark: '.',
        group_mark: ',',
        currency: "£",
        lcid: 2057,
        message_lcid: 1033,
        date_format: DateFormat::Dmy,
        date_first: 1,
        months: ENGLISH_MONTHS,
        short_months: ENGLISH_SHORT_MONTHS,
        days: ENGLISH_DAYS,
    },
];

impl Default for &'static Language {
    fn default() -> Self {
        Language::ENGLISH
    }
}

/// Each language is there once, and has a number of its own.
impl PartialEq for Language {
    #[inline]
    fn eq(&self, other: &Language) -> bool {
        self.id == other.id
    }
}

impl Eq for Language {}

impl Language {
    /// The language of a server.
    pub const ENGLISH: &'static Language = &LANGUAGES[0];

    /// Every language, in the order of their numbers.
    pub fn all() -> &'static [Language] {
        LANGUAGES
    }

    /// A language by its name or what it is called in English, in any case.
    pub fn by_name(name: &str) -> Option<&'static Language> {
        let lower = name.to_lowercase();
        LANGUAGES
            .iter()
            .find(|language| language.name.to_lowercase() == lower || language.alias.to_lowercase() == lower)
    }

    /// The language of a culture's name, in any case.
    pub(crate) fn by_culture(name: &str) -> Option<&'static Language> {
        LANGUAGES.iter().find(|language| language.culture.eq_ignore_ascii_case(name))
    }

    /// Whether a character may stand between thousands.
    pub(crate) fn is_group_mark(&self, character: char) -> bool {
        character == self.group_mark || self.group_mark == ' ' && matches!(character, '\u{a0}' | '\u{202f}')
    }

    /// Whether it names months and days otherwise than English. The lower ten bits of a language's number in Windows leave out its
    /// region; 9 is English.
    pub(crate) fn has_own_names(&self) -> bool {
        self.lcid & 0x3FF != 9
    }

    /// The month, 1 to 12, of a name or a shortened one, in any case.
    pub(super) fn month(&self, name: &[u8]) -> Option<i32> {
        let name = std::str::from_utf8(name).ok()?;
        let is = |month: &str| {
            month.eq_ignore_ascii_case(name) || !name.is_ascii() && month.to_lowercase() == name.to_lowercase()
        };
        let months = self.months.iter().zip(&self.short_months);
        let place = months.into_iter().position(|(long, short)| is(long) || is(short))?;
        Some(place as i32 + 1)
    }

    /// The name of a day's weekday.
    pub(crate) fn weekday(&self, days: i32) -> &'static str {
        self.days[days.rem_euclid(7) as usize]
    }

    /// The name of a day's month.
    pub(crate) fn month_of(&self, days: i32) -> &'static str {
        self.months[ymd_from_days(days).1 as usize - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages_are_found_by_both_names_and_know_their_months() {
        for language in Language::all() {
            assert_eq!(Language::by_name(&language.name.to_uppercase()), Some(language));
            assert_eq!(Language::by_name(&language.alias.to_lowercase()), Some(language));
            for (place, (long, short)) in language.months.iter().zip(language.short_months).enumerate() {
                assert_eq!(language.month(long.to_uppercase().as_bytes()), Some(place as i32 + 1), "{long}");
                assert_eq!(language.month(short.as_bytes()), Some(place as i32 + 1), "{short}");
            }
        }
        assert!(Language::all().iter().all(|own| own.has_own_names() == (own.months != ENGLISH_MONTHS)));
        assert_eq!(Language::by_name("Klingon"), None);
        assert!(Language::all().is_sorted_by_key(|language| language.id));
    }
}
