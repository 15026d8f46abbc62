//! The families of collations: what a language's collations have in common, version by version, and the SQL collations one by one.

use crate::code_page::CodePage;

/// Collations of one language and order, whose names differ in version and in what they are blind to.
pub(super) struct Family {
    /// The name's beginning, without the version.
    pub(super) name: &'static str,
    /// Which versions there are: a bit for each of 80 (without a number in the name), 90, 100 and 140.
    pub(super) versions: u8,
    /// The language's number; from bit 16 on one of its orders.
    pub(super) lcid: u32,
    /// Of `char` and `varchar`.
    pub(super) page: CodePage,
    /// The order in the words of Unicode's locales.
    pub(super) locale: &'static str,
}

/// An SQL collation.
pub(super) struct SqlCollation {
    pub(super) name: &'static str,
    /// The number of its sort order.
    pub(super) order: u8,
    pub(super) page: CodePage,
    /// The family that its texts of `nchar` and `nvarchar` are ordered as.
    pub(super) family: &'static str,
}

const V80: u8 = 1;
const V90: u8 = 1 << 1;
const V100: u8 = 1 << 2;
const V140: u8 = 1 << 3;
const OLD_AND_NEW: u8 = V80 | V100;

const fn family(name: &'static str, versions: u8, lcid: u32, page: CodePage, locale: &'static str) -> Family {
    Family { name, versions, lcid, page, locale }
}

use CodePage::{
    Arabic, Baltic, Central, Cyrillic, Dos437, Dos850, Greek, Hebrew, Japanese, Korean, SimplifiedChinese, Thai,
    TraditionalChinese, Turkish, UnicodeOnly, Vietnamese, Western,
};

/// The Windows collations. The first family is the one that has an order of its own ([`super::letters`]).
pub(super) const FAMILIES: [Family; 88] = [
    family("Latin1_General", OLD_AND_NEW, 0x0409, Western, "und"),
    family("Albanian", OLD_AND_NEW, 0x041C, Central, "sq"),
    family("Arabic", OLD_AND_NEW, 0x0401, Arabic, "ar"),
    family("Assamese", V100, 0x044D, UnicodeOnly, "as"),
    family("Azeri_Cyrillic", V100, 0x082C, Cyrillic, "az-Cyrl"),
    family("Azeri_Latin", V100, 0x042C, Turkish, "az"),
    family("Bashkir", V100, 0x046D, Cyrillic, "ba"),
    family("Bengali", V100, 0x0445, UnicodeOnly, "bn"),
    family("Bosnian_Cyrillic", V100, 0x201A, Cyrillic, "bs-Cyrl"),
    family("Bosnian_Latin", V100, 0x141A, Central, "bs"),
    family("Breton", V100, 0x047E, Western, "br"),
    family("Chinese_Hong_Kong_Stroke", V90, 0x0C04, TraditionalChinese, "zh-Hant-u-co-stroke"),
    family("Chinese_PRC", V80 | V90, 0x0804, SimplifiedChinese, "zh-u-co-pinyin"),
    family("Chinese_PRC_Stroke", V80 | V90, 0x2_0804, SimplifiedChinese, "zh-u-co-stroke"),
    family("Chinese_Simplified_Pinyin", V100, 0x0804, SimplifiedChinese, "zh-u-co-pinyin"),
    family("Chinese_Simplified_Stroke_Order", V100, 0x2_0804, SimplifiedChinese, "zh-u-co-stroke"),
    family("Chinese_Taiwan_Bopomofo", V80 | V90, 0x3_0404, TraditionalChinese, "zh-u-co-zhuyin"),
    family("Chinese_Taiwan_Stroke", V80 | V90, 0x0404, TraditionalChinese, "zh-Hant-u-co-stroke"),
    family("Chinese_Traditional_Bopomofo", V100, 0x3_0404, TraditionalChinese, "zh-u-co-zhuyin"),
    family("Chinese_Traditional_Pinyin", V100, 0x1404, TraditionalChinese, "zh-u-co-pinyin"),
    family("Chinese_Traditional_Stroke_Count", V100, 0x0404, TraditionalChinese, "zh-Hant-u-co-stroke"),
    family("Chinese_Traditional_Stroke_Order", V100, 0x2_1404, TraditionalChinese, "zh-Hant-u-co-stroke"),
    family("Corsican", V100, 0x0483, Western, "co"),
    family("Croatian", OLD_AND_NEW, 0x041A, Central, "hr"),
    family("Cyrillic_General", OLD_AND_NEW, 0x0419, Cyrillic, "ru"),
    family("Czech", OLD_AND_NEW, 0x0405, Central, "cs"),
    family("Danish_Greenlandic", V100, 0x0406, Western, "da"),
    family("Danish_Norwegian", V80, 0x0406, Western, "da"),
    family("Dari", V100, 0x048C, Arabic, "fa-AF"),
    family("Divehi", V90 | V100, 0x0465, UnicodeOnly, "dv"),
    family("Estonian", OLD_AND_NEW, 0x0425, Baltic, "et"),
    family("Finnish_Swedish", OLD_AND_NEW, 0x040B, Western, "fi"),
    family("French", OLD_AND_NEW, 0x040C, Western, "fr"),
    family("Frisian", V100, 0x0462, Western, "fy"),
    family("Georgian_Modern_Sort", OLD_AND_NEW, 0x1_0437, Western, "ka"),
    family("German_PhoneBook", OLD_AND_NEW, 0x1_0407, Western, "de-u-co-phonebk"),
    family("Greek", OLD_AND_NEW, 0x0408, Greek, "el"),
    family("Hebrew", OLD_AND_NEW, 0x040D, Hebrew, "he"),
    family("Hungarian", OLD_AND_NEW, 0x040E, Central, "hu"),
    family("Hungarian_Technical", OLD_AND_NEW, 0x1_040E, Central, "und"),
    family("Icelandic", OLD_AND_NEW, 0x040F, Western, "is"),
    family("Indic_General", V90 | V100, 0x0439, UnicodeOnly, "hi"),
    family("Japanese", V80 | V90, 0x0411, Japanese, "ja"),
    family("Japanese_Bushu_Kakusu", V100 | V140, 0x4_0411, Japanese, "ja-u-co-unihan"),
    family("Japanese_Unicode", V80, 0x1_0411, Japanese, "und"),
    family("Japanese_XJIS", V100 | V140, 0x0411, Japanese, "ja"),
    family("Kazakh", V90 | V100, 0x043F, Cyrillic, "kk"),
    family("Khmer", V100, 0x0453, UnicodeOnly, "km"),
    family("Korean", V90 | V100, 0x0412, Korean, "ko"),
    family("Korean_Wansung", V80, 0x0412, Korean, "ko"),
    family("Lao", V100, 0x0454, UnicodeOnly, "lo"),
    family("Latvian", OLD_AND_NEW, 0x0426, Baltic, "lv"),
    family("Lithuanian", OLD_AND_NEW, 0x0427, Baltic, "lt"),
    family("Macedonian_FYROM", V90 | V100, 0x042F, Cyrillic, "mk"),
    family("Maltese", V100, 0x043A, UnicodeOnly, "mt"),
    family("Maori", V100, 0x0481, UnicodeOnly, "mi"),
    family("Mapudungan", V100, 0x047A, Western, "arn"),
    family("Modern_Spanish", OLD_AND_NEW, 0x0C0A, Western, "es"),
    family("Mohawk", V100, 0x047C, Western, "moh"),
    family("Nepali", V100, 0x0461, UnicodeOnly, "ne"),
    family("Norwegian", V100, 0x0414, Western, "nb"),
    family("Pashto", V100, 0x0463, UnicodeOnly, "ps"),
    family("Persian", V100, 0x0429, Arabic, "fa"),
    family("Polish", OLD_AND_NEW, 0x0415, Central, "pl"),
    family("Romanian", OLD_AND_NEW, 0x0418, Central, "ro"),
    family("Romansh", V100, 0x0417, Western, "rm"),
    family("Sami_Norway", V100, 0x043B, Western, "se"),
    family("Sami_Sweden_Finland", V100, 0x083B, Western, "se"),
    family("Serbian_Cyrillic", V100, 0x0C1A, Cyrillic, "sr"),
    family("Serbian_Latin", V100, 0x081A, Central, "sr-Latn"),
    family("Slovak", OLD_AND_NEW, 0x041B, Central, "sk"),
    family("Slovenian", OLD_AND_NEW, 0x0424, Central, "sl"),
    family("Syriac", V90 | V100, 0x045A, UnicodeOnly, "syr"),
    family("Tamazight", V100, 0x085F, Western, "und"),
    family("Tatar", V90 | V100, 0x0444, Cyrillic, "tt"),
    family("Thai", OLD_AND_NEW, 0x041E, Thai, "th"),
    family("Tibetan", V100, 0x0451, UnicodeOnly, "bo"),
    family("Traditional_Spanish", OLD_AND_NEW, 0x040A, Western, "es-u-co-trad"),
    family("Turkish", OLD_AND_NEW, 0x041F, Turkish, "tr"),
    family("Turkmen", V100, 0x0442, Central, "tk"),
    family("Uighur", V100, 0x0480, Arabic, "ug"),
    family("Ukrainian", OLD_AND_NEW, 0x0422, Cyrillic, "uk"),
    family("Upper_Sorbian", V100, 0x042E, Western, "hsb"),
    family("Urdu", V100, 0x0420, Arabic, "ur"),
    family("Uzbek_Latin", V90 | V100, 0x0443, Turkish, "uz"),
    family("Vietnamese", OLD_AND_NEW, 0x042A, Vietnamese, "vi"),
    family("Welsh", V100, 0x0452, Western, "cy"),
    family("Yakut", V100, 0x0485, Cyrillic, "sah"),
];

const fn sql(order: u8, name: &'static str, page: CodePage, family: &'static str) -> SqlCollation {
    SqlCollation { name, order, page, family }
}

const LATIN: &str = "Latin1_General";

/// The SQL collations. The first four have the order of Latin1_General's family.
pub(super) const SQL: [SqlCollation; 76] = [
    sql(52, "SQL_Latin1_General_CP1_CI_AS", Western, LATIN),
    sql(51, "SQL_Latin1_General_CP1_CS_AS", Western, LATIN),
    sql(54, "SQL_Latin1_General_CP1_CI_AI", Western, LATIN),
    sql(53, "SQL_Latin1_General_Pref_CP1_CI_AS", Western, LATIN),
    sql(30, "SQL_Latin1_General_CP437_BIN", Dos437, LATIN),
    sql(31, "SQL_Latin1_General_CP437_CS_AS", Dos437, LATIN),
    sql(32, "SQL_Latin1_General_CP437_CI_AS", Dos437, LATIN),
    sql(33, "SQL_Latin1_General_Pref_CP437_CI_AS", Dos437, LATIN),
    sql(34, "SQL_Latin1_General_CP437_CI_AI", Dos437, LATIN),
    sql(35, "SQL_Latin1_General_CP437_BIN2", Dos437, LATIN),
    sql(40, "SQL_Latin1_General_CP850_BIN", Dos850, LATIN),
    sql(41, "SQL_Latin1_General_CP850_CS_AS", Dos850, LATIN),
    sql(42, "SQL_Latin1_General_CP850_CI_AS", Dos850, LATIN),
    sql(43, "SQL_Latin1_General_Pref_CP850_CI_AS", Dos850, LATIN),
    sql(44, "SQL_Latin1_General_CP850_CI_AI", Dos850, LATIN),
    sql(45, "SQL_Latin1_General_CP850_BIN2", Dos850, LATIN),
    sql(49, "SQL_1xCompat_CP850_CI_AS", Dos850, LATIN),
    sql(55, "SQL_AltDiction_CP850_CS_AS", Dos850, LATIN),
    sql(56, "SQL_AltDiction_Pref_CP850_CI_AS", Dos850, LATIN),
    sql(57, "SQL_AltDiction_CP850_CI_AI", Dos850, LATIN),
    sql(58, "SQL_Scandinavian_Pref_CP850_CI_AS", Dos850, "Danish_Norwegian"),
    sql(59, "SQL_Scandinavian_CP850_CS_AS", Dos850, "Danish_Norwegian"),
    sql(60, "SQL_Scandinavian_CP850_CI_AS", Dos850, "Danish_Norwegian"),
    sql(61, "SQL_AltDiction_CP850_CI_AS", Dos850, LATIN),
    sql(81, "SQL_Latin1_General_CP1250_CS_AS", Central, LATIN),
    sql(82, "SQL_Latin1_General_CP1250_CI_AS", Central, LATIN),
    sql(83, "SQL_Czech_CP1250_CS_AS", Central, "Czech"),
    sql(84, "SQL_Czech_CP1250_CI_AS", Central, "Czech"),
    sql(85, "SQL_Hungarian_CP1250_CS_AS", Central, "Hungarian"),
    sql(86, "SQL_Hungarian_CP1250_CI_AS", Central, "Hungarian"),
    sql(87, "SQL_Polish_CP1250_CS_AS", Central, "Polish"),
    sql(88, "SQL_Polish_CP1250_CI_AS", Central, "Polish"),
    sql(89, "SQL_Romanian_CP1250_CS_AS", Central, "Romanian"),
    sql(90, "SQL_Romanian_CP1250_CI_AS", Central, "Romanian"),
    sql(91, "SQL_Croatian_CP1250_CS_AS", Central, "Croatian"),
    sql(92, "SQL_Croatian_CP1250_CI_AS", Central, "Croatian"),
    sql(93, "SQL_Slovak_CP1250_CS_AS", Central, "Slovak"),
    sql(94, "SQL_Slovak_CP1250_CI_AS", Central, "Slovak"),
    sql(95, "SQL_Slovenian_CP1250_CS_AS", Central, "Slovenian"),
    sql(96, "SQL_Slovenian_CP1250_CI_AS", Central, "Slovenian"),
    sql(105, "SQL_Latin1_General_CP1251_CS_AS", Cyrillic, LATIN),
    sql(106, "SQL_Latin1_General_CP1251_CI_AS", Cyrillic, LATIN),
    sql(107, "SQL_Ukrainian_CP1251_CS_AS", Cyrillic, "Ukrainian"),
    sql(108, "SQL_Ukrainian_CP1251_CI_AS", Cyrillic, "Ukrainian"),
    sql(113, "SQL_Latin1_General_CP1253_CS_AS", Greek, LATIN),
    sql(114, "SQL_Latin1_General_CP1253_CI_AS", Greek, LATIN),
    sql(120, "SQL_MixDiction_CP1253_CS_AS", Greek, "Greek"),
    sql(121, "SQL_AltDiction_CP1253_CS_AS", Greek, "Greek"),
    sql(122, "SQL_AltDiction2_CP1253_CS_AS", Greek, "Greek"),
    sql(124, "SQL_Latin1_General_CP1253_CI_AI", Greek, LATIN),
    sql(129, "SQL_Latin1_General_CP1254_CS_AS", Turkish, "Turkish"),
    sql(130, "SQL_Latin1_General_CP1254_CI_AS", Turkish, "Turkish"),
    sql(137, "SQL_Latin1_General_CP1255_CS_AS", Hebrew, LATIN),
    sql(138, "SQL_Latin1_General_CP1255_CI_AS", Hebrew, LATIN),
    sql(145, "SQL_Latin1_General_CP1256_CS_AS", Arabic, LATIN),
    sql(146, "SQL_Latin1_General_CP1256_CI_AS", Arabic, LATIN),
    sql(153, "SQL_Latin1_General_CP1257_CS_AS", Baltic, LATIN),
    sql(154, "SQL_Latin1_General_CP1257_CI_AS", Baltic, LATIN),
    sql(155, "SQL_Estonian_CP1257_CS_AS", Baltic, "Estonian"),
    sql(156, "SQL_Estonian_CP1257_CI_AS", Baltic, "Estonian"),
    sql(157, "SQL_Latvian_CP1257_CS_AS", Baltic, "Latvian"),
    sql(158, "SQL_Latvian_CP1257_CI_AS", Baltic, "Latvian"),
    sql(159, "SQL_Lithuanian_CP1257_CS_AS", Baltic, "Lithuanian"),
    sql(160, "SQL_Lithuanian_CP1257_CI_AS", Baltic, "Lithuanian"),
    sql(183, "SQL_Danish_Pref_CP1_CI_AS", Western, "Danish_Norwegian"),
    sql(184, "SQL_SwedishPhone_Pref_CP1_CI_AS", Western, "Finnish_Swedish"),
    sql(185, "SQL_SwedishStd_Pref_CP1_CI_AS", Western, "Finnish_Swedish"),
    sql(186, "SQL_Icelandic_Pref_CP1_CI_AS", Western, "Icelandic"),
    sql(210, "SQL_EBCDIC037_CP1_CS_AS", Western, LATIN),
    sql(211, "SQL_EBCDIC273_CP1_CS_AS", Western, LATIN),
    sql(212, "SQL_EBCDIC277_CP1_CS_AS", Western, "Danish_Norwegian"),
    sql(213, "SQL_EBCDIC278_CP1_CS_AS", Western, "Finnish_Swedish"),
    sql(214, "SQL_EBCDIC280_CP1_CS_AS", Western, LATIN),
    sql(215, "SQL_EBCDIC284_CP1_CS_AS", Western, "Modern_Spanish"),
    sql(216, "SQL_EBCDIC285_CP1_CS_AS", Western, LATIN),
    sql(217, "SQL_EBCDIC297_CP1_CS_AS", Western, "French"),
];
