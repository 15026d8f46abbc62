use super::*;

const CI: Collation = Collation::DEFAULT;

#[test]
fn case_and_trailing_blanks_do_not_count_accents_do() {
    assert_eq!(CI.compare("Hello", "hELLO   "), Ordering::Equal);
    assert_eq!(CI.compare("É", "é"), Ordering::Equal);
    assert_ne!(CI.compare("e", "é"), Ordering::Equal);
    assert_ne!(CI.compare("ð", "đ"), Ordering::Equal);
    assert_ne!(CI.compare("ß", "ss"), Ordering::Equal);
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
    assert_eq!(CI.compare("a\t", "a"), Ordering::Less);
    assert_eq!(CI.compare("a", "a b"), Ordering::Less);
}

#[test]
fn keys_compare_as_strings_do() {
    let alphabet = ['a', 'A', 'b', ' ', '-', '\t', 'é', 'É', 'e', 'ß', 's', 'Ω', 'ω', '€', '9', '\0'];
    let mut strings = vec![String::new()];
    for &a in &alphabet {
        strings.push(a.to_string());
        for &b in &alphabet {
            strings.push(format!("{a}{b}"));
            strings.push(format!("x{a}{b}y"));
        }
    }
    for collation in Collation::all() {
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
                assert!(order == Ordering::Equal || !key_b.starts_with(key_a), "{a:?} is a prefix of {b:?}");
                assert!(order != Ordering::Equal || collation.hash(a) == collation.hash(b), "{a:?} {b:?}");
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
fn characters_fold_as_strings_compare() {
    let of = |name: &str| Collation::by_name(name).expect("a collation");
    assert_eq!(of("Latin1_General_CI_AI").fold('É'), 'e');
    assert_eq!(of("Latin1_General_CS_AI").fold('É'), 'E');
    assert_eq!(of("Latin1_General_CI_AS").fold('É'), 'é');
    assert_eq!(of("Latin1_General_CS_AS").fold('É'), 'É');
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
    for name in ["", "Latin1_General", "Latin1_General_CI", "SQL_Latin1_General_CP1_CS_AI", "Latin1_General_CI_AS_SC"] {
        assert_eq!(Collation::by_name(name), None, "{name}");
    }
}
