//! The names of the collations, and what they say of them.

use super::{
    ACCENT_INSENSITIVE, BINARY, BINARY2, CASE_INSENSITIVE, Collation, KANA_INSENSITIVE, SUPPLEMENTARY, UTF8,
    WIDTH_INSENSITIVE, WINDOWS, WINDOWS_100,
};
use std::sync::LazyLock;

/// SQL collations: the flags beside those of kana and width, the name, and the number of the sort order.
const SQL: [(u16, &str, u8); 3] = [
    (CASE_INSENSITIVE | ACCENT_INSENSITIVE, "SQL_Latin1_General_CP1_CI_AI", 54),
    (CASE_INSENSITIVE, "SQL_Latin1_General_CP1_CI_AS", 52),
    (0, "SQL_Latin1_General_CP1_CS_AS", 51),
];

/// Every collation with its name, ascending by it.
static ALL: LazyLock<Vec<(String, Collation)>> = LazyLock::new(|| {
    let sql = SQL.map(|(flags, name, _)| (name.to_owned(), Collation(flags | KANA_INSENSITIVE | WIDTH_INSENSITIVE)));
    let mut all = Vec::from(sql);
    for (family, prefix) in [(WINDOWS, "Latin1_General"), (WINDOWS_100, "Latin1_General_100")] {
        all.push((format!("{prefix}_BIN"), Collation(family | BINARY)));
        all.push((format!("{prefix}_BIN2"), Collation(family | BINARY2)));
        let newer = family == WINDOWS_100;
        if newer {
            all.push((format!("{prefix}_BIN2_UTF8"), Collation(family | BINARY2 | UTF8)));
        }
        let endings: &[(u16, &str)] =
            if newer { &[(0, ""), (SUPPLEMENTARY, "_SC"), (SUPPLEMENTARY | UTF8, "_SC_UTF8")] } else { &[(0, "")] };
        for blind in 0..=(CASE_INSENSITIVE | ACCENT_INSENSITIVE | KANA_INSENSITIVE | WIDTH_INSENSITIVE) {
            let part = |flag: u16, is_blind: &'static str, sees: &'static str| match blind & flag {
                0 => sees,
                _ => is_blind,
            };
            let name = [
                part(CASE_INSENSITIVE, "_CI", "_CS"),
                part(ACCENT_INSENSITIVE, "_AI", "_AS"),
                part(KANA_INSENSITIVE, "", "_KS"),
                part(WIDTH_INSENSITIVE, "", "_WS"),
            ]
            .concat();
            let named =
                |(flags, ending): &(u16, &str)| (format!("{prefix}{name}{ending}"), Collation(family | blind | flags));
            all.extend(endings.iter().map(named));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    all
});

/// Windows' numbers of what a comparison passes over.
const IGNORE_CASE: i32 = 1;
const IGNORE_NONSPACE: i32 = 2;
const IGNORE_KANA: i32 = 0x1_0000;
const IGNORE_WIDTH: i32 = 0x2_0000;

impl Collation {
    /// Every collation that there is, ascending by name.
    pub fn all() -> impl Iterator<Item = Collation> {
        ALL.iter().map(|(_, collation)| *collation)
    }

    /// A collation by its name, upper or lower case.
    pub fn by_name(name: &str) -> Option<Collation> {
        ALL.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, collation)| *collation)
    }

    /// The collation's name.
    pub fn name(self) -> &'static str {
        // No collation is made elsewhere than in the list.
        ALL.iter().find(|(_, collation)| *collation == self).map_or("", |(name, _)| name)
    }

    /// The number of an SQL collation's sort order; 0 for the others.
    pub fn sort_order(self) -> u8 {
        let of = |flags: u16| Collation(flags | KANA_INSENSITIVE | WIDTH_INSENSITIVE);
        SQL.iter().find(|(flags, ..)| of(*flags) == self).map_or(0, |(_, _, order)| *order)
    }

    /// The language's number.
    pub fn lcid(self) -> i32 {
        0x0409
    }

    /// The code page of `char` and `varchar`.
    pub fn code_page(self) -> i32 {
        if self.is_utf8() { 65_001 } else { 1_252 }
    }

    /// Which revision of its family it is.
    pub fn version(self) -> u8 {
        if self.0 & WINDOWS_100 != 0 { 2 } else { 0 }
    }

    /// What comparisons pass over, as Windows numbers it.
    pub fn comparison_style(self) -> i32 {
        let styles = [
            (CASE_INSENSITIVE, IGNORE_CASE),
            (ACCENT_INSENSITIVE, IGNORE_NONSPACE),
            (KANA_INSENSITIVE, IGNORE_KANA),
            (WIDTH_INSENSITIVE, IGNORE_WIDTH),
        ];
        styles.iter().filter(|(flag, _)| self.0 & flag != 0).map(|(_, style)| style).sum()
    }

    /// What the wire protocol says of it beside the sort order: the language in the bits up to 19; from 20 on what its comparisons
    /// pass over, that it is binary, and that it is of UTF-8; from 28 on the version.
    pub fn wire_info(self) -> u32 {
        let flags = u32::from(self.0 & (UTF8 | (UTF8 - 1)));
        self.lcid() as u32 | flags << 20 | u32::from(self.version()) << 28
    }

    /// Its five bytes in the wire protocol.
    pub fn wire_bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.wire_info().to_le_bytes();
        [a, b, c, d, self.sort_order()]
    }

    /// What `fn_helpcollations` says of it.
    pub fn description(self) -> String {
        let mut text = String::from(if self.0 & WINDOWS_100 != 0 { "Latin1-General-100" } else { "Latin1-General" });
        if self.is_binary() {
            text.push_str(if self.0 & BINARY != 0 { ", binary sort" } else { ", binary code point comparison sort" });
        } else {
            let parts = [
                (CASE_INSENSITIVE, "case"),
                (ACCENT_INSENSITIVE, "accent"),
                (KANA_INSENSITIVE, "kanatype"),
                (WIDTH_INSENSITIVE, "width"),
            ];
            for (flag, of) in parts {
                text.push_str(&format!(", {of}-{}", if self.0 & flag == 0 { "sensitive" } else { "insensitive" }));
            }
            if self.0 & SUPPLEMENTARY != 0 {
                text.push_str(", supplementary characters");
            }
        }
        match self.sort_order() {
            0 if self.is_utf8() => text.push_str(", UTF8"),
            0 => {}
            order => {
                text.push_str(" for Unicode Data, SQL Server Sort Order ");
                text.push_str(&format!("{order} on Code Page 1252 for non-Unicode Data"));
            }
        }
        text
    }
}

impl From<Collation> for &'static str {
    fn from(collation: Collation) -> &'static str {
        collation.name()
    }
}

impl TryFrom<String> for Collation {
    type Error = String;

    fn try_from(name: String) -> Result<Collation, String> {
        Collation::by_name(&name).ok_or_else(|| format!("the collation {name} is unknown"))
    }
}
