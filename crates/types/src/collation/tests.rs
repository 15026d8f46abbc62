use super::*;

/// Of `nvarchar`.
const CI: Collation = Collation::DEFAULT;
/// Of `varchar`.
const NARROW: Collation = Collation(CI.0 | OF_BYTES);

#[test]
fn case_and_trailing_blanks_do_not_count_accents_do() {
    assert_eq!(CI.compare("Hello", "hELLO   "), Ordering::Equal);
    assert_eq!(CI.compare("É", "é"), Ordering::Equal);
    assert_ne!(CI.compare("e", "é"), Ordering::Equal);
    assert_ne!(CI.compare("ð", "đ"), Ordering::Equal);
    assert_eq!(CI.compare("ß", "ss"), Ordering::Equal);
    assert_ne!(NARROW.compare("ß", "ss"), Ordering::Equal);
    assert_eq!(CI.compare(" a", "a"), Ordering::Less);
    assert_eq!(Collation::BINARY.compare("a ", "a"), Ordering::Equal);
    assert_eq!(Collation::BINARY.compare("B", "a"), Ordering::Less);
}

#[test]
fn accents_decide_only_between_equal_letters() {
    let ascending =
        ["\ta", "", "-", "0", "9", "a", "a\u{301}b", "co", "cote", "coté", "côte", "côté", "cotea", "z", "ω"];
    for pair in ascending[3..].windows(2) {
        if pair[0].contains('\u{301}') || pair[1].contains('\u{301}') {
            continue;
        }
        assert_eq!(CI.compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
    }
    assert_eq!(NARROW.compare("a\t", "a"), Ordering::Less);
    assert_eq!(CI.compare("a\t", "a"), Ordering::Greater);
    assert_eq!(CI.compare("a", "a b"), Ordering::Less);
}

#[test]
fn keys_compare_as_strings_do() {
    let alphabet = [
        'a', 'A', 'b', ' ', '-', '\t', 'é', 'É', 'e', 'ß', 's', 'Ω', '€', '9', '\0', 'æ', '\u{301}', 'ﬃ', 'Ａ', 'ア',
        '²', '中', '😀', 'Š', '\u{FE00}', '\u{FFFD}', '\u{1}', 'þ',
    ];
    let mut strings = vec![String::new()];
    for &a in &alphabet {
        strings.push(a.to_string());
        for &b in &alphabet {
            strings.push(format!("{a}{b}"));
            strings.push(format!("x{a}{b}y"));
        }
    }
    // Of languages those whose orders differ most: each of them is another crate's matter.
    let languages =
        ["Czech_CI_AI", "Danish_Norwegian_CS_AI", "Thai_CI_AS", "Turkish_100_CS_AS_SC_UTF8", "Japanese_CS_AS_KS_WS"];
    let others =
        ["Latin1_General_BIN", "Latin1_General_100_BIN2_UTF8", "SQL_Latin1_General_CP1251_CS_AS", "Japanese_BIN2"];
    let is_tried = |of: &Collation| {
        let is_latin = of.name().starts_with("Latin1_General") && of.0 & (SUPPLEMENTARY | UTF8) == 0;
        is_latin
            || of.name().starts_with("SQL_Latin1_General_CP1_")
            || languages.contains(&of.name())
            || others.contains(&of.name())
    };
    let narrow = SqlType::VarChar(crate::sql_type::Length::Max);
    let tried = Collation::all().filter(is_tried).flat_map(|of| [of, of.comparing(&narrow)]);
    for collation in tried {
        let keys: Vec<Vec<u8>> = strings
            .iter()
            .map(|text| {
                let mut key = Vec::new();
                collation.write_key(text, &mut key);
                assert_eq!(collation.key_length(key.iter().copied()), Some(key.len()), "{collation:?} {text:?}");
                key
            })
            .collect();
        for (a, key_a) in strings.iter().zip(&keys) {
            for (b, key_b) in strings.iter().zip(&keys) {
                let order = collation.compare(a, b);
                assert_eq!(order, key_a.cmp(key_b), "{a:?} {b:?}");
                assert!(
                    order == Ordering::Equal || !key_b.starts_with(key_a),
                    "{collation:?} {a:?} is a prefix of {b:?}"
                );
                assert!(
                    order != Ordering::Equal || collation.hash(a) == collation.hash(b),
                    "{collation:?} {a:?} {b:?}"
                );
            }
        }
    }
}

#[test]
fn each_level_counts_where_the_name_says_so() {
    let of = |name: &str| Collation::by_name(name).expect("a collation");
    let equal = |name: &str, a: &str, b: &str| of(name).compare(a, b) == Ordering::Equal;
    assert!(equal("Latin1_General_CI_AI", "Éa", "eA") && equal("Latin1_General_CS_AI", "é", "e"));
    assert!(!equal("Latin1_General_CS_AI", "É", "e") && !equal("Latin1_General_CS_AS", "a", "A"));
    assert_eq!(of("Latin1_General_CS_AS").compare("A", "à"), Ordering::Less, "accents come before case");
    assert!(equal("Latin1_General_100_CS_AS", "a ", "a") && equal("SQL_Latin1_General_CP1_CI_AI", "ß", "SS"));
    assert!(equal("Latin1_General_CS_AS", "ß", "ss") && !equal("Latin1_General_CS_AS", "ß", "SS"));
    let sorted = |name: &str| {
        let mut texts = ["B", "Aa", "b", "A", "á", "aa", "áb", "a"];
        texts.sort_by(|a, b| of(name).compare(a, b));
        texts
    };
    assert_eq!(sorted("Latin1_General_CS_AS"), ["a", "A", "á", "aa", "Aa", "áb", "b", "B"]);
    assert_eq!(sorted("Latin1_General_BIN2"), ["A", "Aa", "B", "a", "aa", "b", "á", "áb"]);
    assert_eq!(sorted("Latin1_General_BIN"), sorted("Latin1_General_BIN2"));
}

#[test]
fn binary_collations_see_bytes() {
    let narrow = SqlType::VarChar(crate::sql_type::Length::Max);
    let order = |name: &str, of_bytes: bool, a: &str, b: &str| {
        let collation = Collation::by_name(name).expect(name);
        let collation = if of_bytes { collation.comparing(&narrow) } else { collation };
        collation.compare(a, b)
    };
    // 0x80 and 0xE9 of the code page; U+20AC and U+00E9.
    assert_eq!(order("Latin1_General_BIN2", true, "€", "é"), Ordering::Less);
    assert_eq!(order("Latin1_General_BIN2", false, "€", "é"), Ordering::Greater);
    // Pairs come before U+E000 in UTF-16 and behind it in UTF-8.
    assert_eq!(order("Latin1_General_BIN2", false, "😀", "\u{E000}"), Ordering::Less);
    assert_eq!(order("Latin1_General_100_BIN2_UTF8", true, "😀", "\u{E000}"), Ordering::Greater);
    // Behind the first unit _BIN looks at the lower byte first.
    assert_eq!(order("Latin1_General_BIN", false, "\u{201}", "\u{102}"), Ordering::Greater);
    assert_eq!(order("Latin1_General_BIN", false, "a\u{201}", "a\u{102}"), Ordering::Less);
    assert_eq!(order("Latin1_General_BIN2", false, "a\u{201}", "a\u{102}"), Ordering::Greater);
    assert_eq!(order("Latin1_General_BIN2", false, "a\t", "a"), Ordering::Less, "an end is filled up with blanks");
}

#[test]
fn varchar_of_sql_collations_has_sort_order_52() {
    // By the bytes of code page 1252, each line ascending; what is joined differs in case or accent alone.
    let western = |bytes: &[u8]| {
        let mut text = String::new();
        CodePage::Western.decode(bytes, &mut text);
        text
    };
    let mut ascending: Vec<String> = (1..0x20u8).chain(0x20..0x30).map(|byte| western(&[byte])).collect();
    ascending.retain(|text| text != " ");
    ascending
        .extend((0x3A..0x41u8).chain(0x5B..0x61).chain(0x7B..0xC0).chain([0xD7, 0xF7]).map(|byte| western(&[byte])));
    ascending.extend((b'0'..=b'9').map(|byte| western(&[byte])));
    let letters = "a à á â ã ä å æ b c ç d e è é ê ë f g h i ì í î ï j k l m n ñ o ò ó ô õ ö ø p q r s ß t u ù ú û ü v w x y ý ÿ z ð þ";
    ascending.extend(letters.split(' ').map(str::to_owned));
    for pair in ascending.windows(2) {
        assert_eq!(NARROW.compare(&pair[0], &pair[1]), Ordering::Less, "{pair:?}");
    }
    let less = [
        ("co-op", "coop"),
        ("ae", "æ"),
        ("æ", "af"),
        ("àz", "b"),
        ("az", "àz"),
        ("à", "Ao"),
        ("Çm", "cn"),
        ("ss", "ß"),
    ];
    for (a, b) in less {
        assert_eq!(NARROW.compare(a, b), Ordering::Less, "{a} {b}");
    }
    assert_eq!(NARROW.compare("Éa", "éA"), Ordering::Equal);
    assert_ne!(NARROW.compare("Š", "š"), Ordering::Equal, "symbols of that order");
    let cs = Collation::by_name("SQL_Latin1_General_CP1_CS_AS").expect("a collation");
    let cs = cs.comparing(&SqlType::Char(1));
    assert_eq!((cs.compare("A", "a"), cs.compare("aB", "Ab")), (Ordering::Less, Ordering::Greater));
    assert_eq!(cs.compare("b", "A"), Ordering::Greater);
    let cyrillic =
        Collation::by_name("SQL_Latin1_General_CP1251_CI_AS").expect("a collation").comparing(&SqlType::Char(1));
    assert_eq!((cyrillic.compare("ПРИВЕТ", "привет"), cyrillic.compare("z", "а")), (Ordering::Equal, Ordering::Less));
    assert_eq!((cyrillic.compare("е", "ё"), cyrillic.compare("ё", "ж")), (Ordering::Less, Ordering::Less));
}

#[test]
fn nvarchar_has_the_order_of_windows() {
    let known = "\u{A0} \t \n \u{B} \u{C} \r ! \" # $ % & ( ) * , . / : ; ? @ [ \\ ] ^ _ ` { | } ~ ¡ ¦ ¨ ¯ ´ ¸ ¿ ‘ ’ ‚ “ ” „ ‹ › ¢ £ ¤ ¥ € \
        + < = > ± « » × ÷ § © ¬ ® ° µ ¶ · … † ‡ • ‰ 0 ¼ ½ ¾ 1 2 3 9 a á à â ä ã å b c ç d đ ð e é è ê ë f ƒ g h i í ì î ï j k l ł m n ñ o ó ò ô ö õ ø p q r s š t \
        ™ u ú ù û ü v w x y ý ÿ z ž α β ω а е ж я あ か";
    let known: Vec<&str> = known.split(' ').filter(|text| !text.is_empty()).collect();
    for pair in known.windows(2) {
        assert_eq!(CI.compare(pair[0], pair[1]), Ordering::Less, "{pair:?}");
    }
    let less =
        [("coop", "co-op"), ("co-op", "cop"), ("cant", "can't"), ("A", "'A"), ("az", "àz"), ("à", "Ao"), ("ab", "a-c")];
    for (a, b) in less {
        assert_eq!(CI.compare(a, b), Ordering::Less, "{a} {b}");
    }
    let equal = [
        ("Straße", "STRASSE"),
        ("æ", "AE"),
        ("Œ", "oe"),
        ("Þ", "th"),
        ("ĳ", "IJ"),
        ("ﬁ", "fi"),
        ("ﬃ", "ffi"),
        ("ǆ", "dž"),
        ("ＡＢ", "ab"),
        ("x²", "x2"),
        ("①", "1"),
        ("e\u{301}", "É"),
        ("ᾶ", ""),
        ("😀", "😁"),
        ("a\0b", "ab"),
        ("カ", "か"),
        ("ｶ", "カ"),
        ("ガ", "ｶﾞ"),
        ("Σ", "ς"),
        ("K", "k"),
        ("Å", "å"),
    ];
    for (a, b) in equal {
        assert_eq!(CI.compare(a, b), Ordering::Equal, "{a} {b}");
    }
    let different = [
        ("co-op", "coop"),
        ("a", "ª"),
        ("ø", "o"),
        ("i", "ı"),
        ("か", "が"),
        ("カ", "ヵ"),
        ("'", "-"),
        ("é", "e\u{300}"),
    ];
    for (a, b) in different {
        assert_ne!(CI.compare(a, b), Ordering::Equal, "{a} {b}");
    }
    let equal = |name: &str, a: &str, b: &str| Collation::by_name(name).expect(name).compare(a, b).is_eq();
    for (name, a, b, wanted) in [
        ("Latin1_General_CI_AS_WS", "Ａ", "A", false),
        ("Latin1_General_CI_AS_WS", "²", "2", false),
        ("Latin1_General_CI_AS_KS", "カ", "か", false),
        ("Latin1_General_CI_AI", "ø", "O", true),
        ("Latin1_General_CI_AI", "カ", "ヵ", true),
        ("Latin1_General_CI_AI", "co-op", "coop", false),
        ("Latin1_General_100_CI_AS", "😀", "😁", false),
        ("Latin1_General_100_CI_AS", "😀", "", false),
        ("Latin1_General_100_CI_AI", "ᾶ", "α", true),
        ("Latin1_General_100_CI_AS", "a\u{AD}b", "ab", true),
        ("Latin1_General_CI_AS", "a\u{AD}b", "ab", false),
        ("Japanese_XJIS_140_CI_AS_VSS", "一\u{FE00}", "一", false),
    ] {
        assert_eq!(equal(name, a, b), wanted, "{name} {a} {b}");
    }
    let cs = Collation::by_name("Latin1_General_CS_AS").expect("a collation");
    assert_eq!((cs.compare("a", "A"), cs.compare("A", "b")), (Ordering::Less, Ordering::Less));
    assert_eq!(cs.compare("Ab", "aB"), Ordering::Greater);
}

#[test]
fn keys_stay_short() {
    let length = |of: Collation, text: &str| {
        let mut key = Vec::new();
        of.write_key(text, &mut key);
        key.len()
    };
    assert_eq!((length(CI, "Customer 0017"), length(NARROW, "Customer 0017")), (14, 15));
    assert_eq!((length(CI, "Café"), length(CI, "co-op")), (10, 11));
    assert_eq!((length(Collation::BINARY, "Customer 0017"), length(Collation::BINARY, "")), (14, 1));
}

#[test]
fn characters_fold_as_strings_compare() {
    let of = |name: &str| Collation::by_name(name).expect("a collation");
    let same = |name: &str, a, b| of(name).is_same(a, b);
    assert!(same("Latin1_General_CI_AI", 'É', 'e') && !same("Latin1_General_CS_AI", 'É', 'e'));
    assert!(same("Latin1_General_CS_AI", 'É', 'E') && !same("Latin1_General_CI_AS", 'É', 'e'));
    assert!(same("Latin1_General_CI_AS", 'É', 'é') && same("Latin1_General_CI_AS", 'Ａ', 'a'));
    let narrow = |name: &str| of(name).comparing(&SqlType::Char(1));
    assert_eq!(narrow("SQL_Latin1_General_CP1_CI_AI").fold('É'), 'e');
    assert_eq!(narrow("SQL_Latin1_General_CP1_CI_AS").fold('É'), 'é');
    assert_eq!(narrow("SQL_Latin1_General_CP1_CS_AS").fold('É'), 'É');
    assert_eq!(narrow("SQL_Latin1_General_CP1_CI_AS").fold('Š'), 'Š');
    assert!(of("Latin1_General_CS_AS").in_range('B', 'a', 'c') && !of("Latin1_General_CS_AS").in_range('C', 'a', 'c'));
}

#[test]
fn names_are_read_back() {
    for collation in Collation::all() {
        assert_eq!(Collation::by_name(&collation.name().to_lowercase()), Some(collation));
        let stored: &str = collation.into();
        assert_eq!(Collation::try_from(stored.to_owned()), Ok(collation));
    }
    assert_eq!(Collation::default().name(), "SQL_Latin1_General_CP1_CI_AS");
    let none = ["", "Latin1_General", "Latin1_General_CI", "SQL_Latin1_General_CP1_CS_AI", "Latin1_General_CI_AS_SC"];
    let none_either = ["Pashto_CI_AS", "Latin1_General_140_BIN", "Albanian_BIN2_UTF8", "Japanese_XJIS_140_CI_AS_SC"];
    for name in none.into_iter().chain(none_either) {
        assert_eq!(Collation::by_name(name), None, "{name}");
    }
}

#[test]
fn a_name_says_language_code_page_and_bytes() {
    let known = [
        ("Cyrillic_General_CI_AS", 0x0419, 1251, [0x19, 0x04, 0xD0, 0x00, 0]),
        ("German_PhoneBook_100_CI_AS_KS_WS_SC_UTF8", 0x1_0407, 65001, [0x07, 0x04, 0x11, 0x24, 0]),
        ("Chinese_PRC_CI_AS", 0x0804, 936, [0x04, 0x08, 0xD0, 0x00, 0]),
        ("Japanese_XJIS_140_CI_AS_KS_WS_VSS", 0x0411, 932, [0x11, 0x04, 0x10, 0x30, 0]),
        ("Thai_100_BIN2", 0x041E, 874, [0x1E, 0x04, 0x00, 0x22, 0]),
        ("SQL_Polish_CP1250_CS_AS", 0x0415, 1250, [0x15, 0x04, 0xC0, 0x00, 87]),
        ("SQL_Latin1_General_CP850_BIN2", 0x0409, 850, [0x09, 0x04, 0x00, 0x02, 45]),
        ("Maori_100_CI_AI", 0x0481, 0, [0x81, 0x04, 0xF0, 0x20, 0]),
    ];
    for (name, lcid, page, bytes) in known {
        let collation = Collation::by_name(name).expect(name);
        assert_eq!((collation.lcid(), collation.code_page().number()), (lcid, page), "{name}");
        assert_eq!(collation.wire_bytes(), bytes, "{name}");
        let known = Collation::wire_code_page(collation.wire_info(), collation.sort_order());
        assert_eq!(known, Some(collation.code_page()), "{name}");
    }
    let described = |name: &str| Collation::by_name(name).expect(name).description();
    assert_eq!(
        described("Japanese_XJIS_140_CI_AS_KS_WS_VSS"),
        "Japanese-XJIS-140, case-insensitive, accent-sensitive, kanatype-sensitive, width-sensitive, supplementary \
         characters, variation selector sensitive"
    );
    assert_eq!(described("Greek_BIN2"), "Greek, binary code point comparison sort");
    assert_eq!(
        described("SQL_Polish_CP1250_CS_AS"),
        "Polish, case-sensitive, accent-sensitive, kanatype-insensitive, width-insensitive for Unicode Data, SQL Server \
         Sort Order 87 on Code Page 1250 for non-Unicode Data"
    );
    assert_eq!(Collation::wire_code_page(0, 0), None);
    assert_eq!(Collation::wire_code_page(0x00D0_0C07, 0), Some(CodePage::Western), "German in Austria");
}

/// Texts in the order of a collation.
fn sorted<'t>(name: &str, texts: &[&'t str]) -> Vec<&'t str> {
    let collation = Collation::by_name(name).expect(name);
    let mut sorted = texts.to_vec();
    sorted.sort_by(|a, b| collation.compare(a, b));
    sorted
}

#[test]
fn languages_have_their_orders() {
    let ascending: [(&str, &[&str]); 14] = [
        ("Finnish_Swedish_CI_AS", &["a", "z", "å", "ä", "ö"]),
        ("Danish_Norwegian_CI_AS", &["a", "z", "æ", "ø", "å"]),
        ("German_PhoneBook_CI_AS", &["ad", "ä", "af"]),
        ("Traditional_Spanish_CI_AS", &["cz", "ch", "d", "lz", "ll", "m", "nz", "ñ"]),
        ("Modern_Spanish_CI_AS", &["ch", "cz", "d", "nz", "ñ", "o"]),
        ("Czech_CI_AS", &["c", "č", "d", "h", "ch", "i"]),
        ("Polish_CI_AS", &["l", "ł", "m", "z", "ź", "ż"]),
        ("Hungarian_CI_AS", &["cz", "cs", "d"]),
        ("Turkish_CI_AS", &["h", "ı", "i", "j"]),
        ("Cyrillic_General_CI_AS", &["а", "б", "е", "ж", "я"]),
        ("Greek_CI_AS", &["α", "β", "ω"]),
        ("Chinese_PRC_CI_AS", &["啊", "北", "中"]),
        ("Chinese_PRC_Stroke_CI_AS", &["一", "人", "中", "北"]),
        ("Japanese_CI_AS", &["あ", "か", "が", "ん", "一"]),
    ];
    for (name, texts) in ascending {
        let mut shuffled = texts.to_vec();
        shuffled.reverse();
        assert_eq!(sorted(name, &shuffled), texts, "{name}");
    }
    assert_eq!(sorted("Estonian_CS_AS", &["Z", "t", "z", "õ"]), ["z", "Z", "t", "õ"]);
}

#[test]
fn languages_are_blind_to_what_their_names_say() {
    let equal = |name: &str, a: &str, b: &str| Collation::by_name(name).expect(name).compare(a, b).is_eq();
    assert!(equal("Turkish_CI_AS", "ı", "I") && equal("Turkish_CI_AS", "i", "İ") && !equal("Turkish_CI_AS", "i", "I"));
    assert!(equal("Cyrillic_General_CI_AS", "ПРИВЕТ  ", "привет"));
    assert!(!equal("Cyrillic_General_CS_AS", "ПРИВЕТ", "привет"));
    assert!(equal("Greek_CI_AI", "ΆΛΦΑ", "αλφα") && !equal("Greek_CI_AS", "ά", "α"));
    assert!(equal("Greek_CS_AI", "ά", "α") && !equal("Greek_CS_AI", "Ά", "α"));
    let kana = [("あ", "ア"), ("ア", "ｱ"), ("a", "ａ")];
    for (name, wanted) in [
        ("Japanese_CI_AS", [true, true, true]),
        ("Japanese_CS_AS", [true, true, true]),
        ("Japanese_CI_AS_KS", [false, true, true]),
        ("Japanese_CI_AI_WS", [true, false, false]),
        ("Japanese_CS_AS_KS_WS", [false, false, false]),
    ] {
        assert_eq!(kana.map(|(a, b)| equal(name, a, b)), wanted, "{name}");
    }
    let of = |name: &str| Collation::by_name(name).expect(name);
    assert_eq!((of("Turkish_CI_AS").fold('I'), of("Turkish_CI_AS").fold('İ')), ('ı', 'i'));
    assert_eq!((of("Turkish_CI_AS").upper_case('i'), of("Turkish_CI_AS").lower_case('I')), ('İ', 'ı'));
    assert_eq!((of("French_CI_AI").fold('É'), of("Finnish_Swedish_CI_AI").fold('Ä')), ('e', 'ä'));
    assert!(of("Cyrillic_General_CI_AS").in_range('Б', 'а', 'в'));
}
