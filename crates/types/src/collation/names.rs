//! The names of the collations, and what they say of them.
//!
//! A Windows collation's name is its family's, its version and what it tells apart: `Polish_100_CI_AS_KS_SC_UTF8`.
//! Which endings there are
//! depends on the version:
//!
//! ```text
//!    80    _BIN _BIN2 and the sixteen of case, accents, kana and width
//!    90    these, and each of the sixteen with _SC
//!   100    as well _BIN2_UTF8, and each of the sixteen with _SC_UTF8
//!   140    _BIN _BIN2 _BIN2_UTF8; the sixteen, which all are of supplementary characters, with _VSS or not, each with _UTF8 or not
//! ```

use super::families::{FAMILIES, Family, SQL};
use super::{
    ACCENT_INSENSITIVE, BINARY, BINARY2, CASE_INSENSITIVE, Collation, KANA_INSENSITIVE, LETTERS, PLACE_AT, SQL_BLIND,
    SQL_COLLATION, SUPPLEMENTARY, UTF8, VARIATION_SENSITIVE, VERSION_AT, WIDTH_INSENSITIVE,
};
use crate::code_page::CodePage;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What the versions are called in names; the place is the version's number in the wire protocol.
const VERSIONS: [&str; 4] = ["", "_90", "_100", "_140"];

/// Every collation with its name.
struct Names {
    /// Ascending by name.
    all: Vec<(String, Collation)>,
    places: HashMap<Collation, usize>,
    /// By the name in lower case.
    by_name: HashMap<String, Collation>,
}

static NAMES: LazyLock<Names> = LazyLock::new(|| {
    let mut all = Vec::with_capacity(6000);
    for (place, known) in SQL.iter().enumerate() {
        let order = if known.family == FAMILIES[0].name { LETTERS } else { 0 };
        let flags = SQL_COLLATION | order | (place as u32) << PLACE_AT | sql_flags(known.name);
        all.push((known.name.to_owned(), Collation(flags)));
    }
    for (place, family) in FAMILIES.iter().enumerate() {
        let order = if place == 0 { LETTERS } else { 0 };
        for version in (0..4u32).filter(|version| family.versions >> version & 1 == 1) {
            let base = order | version << VERSION_AT | (place as u32) << PLACE_AT;
            push_versions(family, version, base, &mut all);
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    let places = all.iter().enumerate().map(|(place, (_, collation))| (*collation, place)).collect();
    let by_name = all.iter().map(|(name, collation)| (name.to_ascii_lowercase(), *collation)).collect();
    Names { all, places, by_name }
});

/// What the name of an SQL collation says of its comparisons.
fn sql_flags(name: &str) -> u32 {
    if name.ends_with("_BIN") {
        return BINARY;
    }
    if name.ends_with("_BIN2") {
        return BINARY2;
    }
    let case = if name.contains("_CI_") { CASE_INSENSITIVE } else { 0 };
    let accents = if name.ends_with("_AI") { ACCENT_INSENSITIVE } else { 0 };
    SQL_BLIND | case | accents
}

/// Appends the collations of a family's version.
fn push_versions(family: &Family, version: u32, base: u32, all: &mut Vec<(String, Collation)>) {
    let prefix = format!("{}{}", family.name, VERSIONS[version as usize]);
    all.push((format!("{prefix}_BIN"), Collation(base | BINARY)));
    all.push((format!("{prefix}_BIN2"), Collation(base | BINARY2)));
    if version >= 2 {
        all.push((format!("{prefix}_BIN2_UTF8"), Collation(base | BINARY2 | UTF8)));
    }
    const PLAIN: (u32, &str) = (0, "");
    const WHOLE: (u32, &str) = (SUPPLEMENTARY, "_SC");
    let endings: &[(u32, &str)] = match version {
        0 => &[PLAIN],
        1 => &[PLAIN, WHOLE],
        2 => &[PLAIN, WHOLE, (SUPPLEMENTARY | UTF8, "_SC_UTF8")],
        _ => &[
            (SUPPLEMENTARY, ""),
            (SUPPLEMENTARY | UTF8, "_UTF8"),
            (SUPPLEMENTARY | VARIATION_SENSITIVE, "_VSS"),
            (SUPPLEMENTARY | VARIATION_SENSITIVE | UTF8, "_VSS_UTF8"),
        ],
    };
    for blind in 0..=(CASE_INSENSITIVE | ACCENT_INSENSITIVE | KANA_INSENSITIVE | WIDTH_INSENSITIVE) {
        let part = |flag: u32, is_blind: &'static str, sees: &'static str| match blind & flag {
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
            |(flags, ending): &(u32, &str)| (format!("{prefix}{name}{ending}"), Collation(base | blind | flags));
        all.extend(endings.iter().map(named));
    }
}

/// Windows' numbers of what a comparison passes over.
const IGNORE_CASE: i32 = 1;
const IGNORE_NONSPACE: i32 = 2;
const IGNORE_KANA: i32 = 0x1_0000;
const IGNORE_WIDTH: i32 = 0x2_0000;

impl Collation {
    /// Every collation that there is, ascending by name.
    pub fn all() -> impl Iterator<Item = Collation> {
        NAMES.all.iter().map(|(_, collation)| *collation)
    }

    /// A collation by its name, upper or lower case.
    pub fn by_name(name: &str) -> Option<Collation> {
        if name == SQL[0].name {
            return Some(Collation::DEFAULT);
        }
        NAMES.by_name.get(&name.to_ascii_lowercase()).copied()
    }

    /// The collation's name.
    pub fn name(self) -> &'static str {
        let named = self.named();
        if named == Collation::DEFAULT {
            return SQL[0].name;
        }
        // No collation is made elsewhere than in the list.
        NAMES.places.get(&named).map_or("", |place| &NAMES.all[*place].0)
    }

    /// The number of an SQL collation's sort order; 0 for the others.
    pub fn sort_order(self) -> u8 {
        if self.is_sql() { SQL.get(self.place()).map_or(0, |known| known.order) } else { 0 }
    }

    /// The family of its language and order.
    pub(super) fn family(self) -> &'static Family {
        let family = match SQL.get(self.place()) {
            Some(known) if self.is_sql() => FAMILIES.iter().find(|family| family.name == known.family),
            _ => FAMILIES.get(self.place()),
        };
        family.unwrap_or(&FAMILIES[0])
    }

    /// The language's number.
    pub fn lcid(self) -> i32 {
        self.family().lcid as i32
    }

    /// Which revision of its family it is.
    pub fn version(self) -> u8 {
        (self.0 >> VERSION_AT & 3) as u8
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

    /// What the wire protocol says of it beside the sort order: the language in the bits up to 19; from 20 on what its
    /// comparisons
    /// pass over, that it is binary, and that it is of UTF-8; from 28 on the version.
    pub fn wire_info(self) -> u32 {
        let flags = self.0 & (UTF8 | (UTF8 - 1));
        self.lcid() as u32 | flags << 20 | u32::from(self.version()) << 28
    }

    /// Its five bytes in the wire protocol.
    pub fn wire_bytes(self) -> [u8; 5] {
        let [a, b, c, d] = self.wire_info().to_le_bytes();
        [a, b, c, d, self.sort_order()]
    }

    /// The code page of `char` and `varchar` that the wire protocol's words mean: the first four bytes, and the sort
    /// order.
    pub fn wire_code_page(info: u32, order: u8) -> Option<CodePage> {
        if info >> 20 & UTF8 != 0 {
            return Some(CodePage::Utf8);
        }
        if order != 0 {
            return SQL.iter().find(|known| known.order == order).map(|known| known.page);
        }
        let lcid = info & 0xF_FFFF;
        let of = |mask: u32| FAMILIES.iter().find(|family| family.lcid & mask == lcid & mask).map(|family| family.page);
        // A language that has no collation of its own country is that of another: German in Austria.
        of(0xF_FFFF).or_else(|| of(0xFFFF)).or_else(|| of(0x3FF))
    }

    /// What `fn_helpcollations` says of it.
    pub fn description(self) -> String {
        let version = VERSIONS[usize::from(self.version())];
        let mut text = format!("{}{version}", self.family().name).replace('_', "-");
        if self.is_binary() {
            text.push_str(if self.0 & BINARY != 0 { ", binary sort" } else { ", binary code point comparison sort" });
        } else {
            self.describe_comparison(&mut text);
        }
        match self.sort_order() {
            0 if self.is_utf8() => text.push_str(", UTF8"),
            0 => {}
            order => {
                let page = self.code_page().number();
                text.push_str(" for Unicode Data, SQL Server Sort Order ");
                text.push_str(&format!("{order} on Code Page {page} for non-Unicode Data"));
            }
        }
        text
    }

    fn describe_comparison(self, text: &mut String) {
        let parts = [
            (CASE_INSENSITIVE, "case"),
            (ACCENT_INSENSITIVE, "accent"),
            (KANA_INSENSITIVE, "kanatype"),
            (WIDTH_INSENSITIVE, "width"),
        ];
        for (flag, of) in parts {
            text.push_str(&format!(", {of}-{}", if self.0 & flag == 0 { "sensitive" } else { "insensitive" }));
        }
        if self.counts_characters() {
            text.push_str(", supplementary characters");
        }
        if self.version() == 3 {
            let is_blind = self.0 & VARIATION_SENSITIVE == 0;
            text.push_str(", variation selector ");
            text.push_str(if is_blind { "insensitive" } else { "sensitive" });
        }
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
