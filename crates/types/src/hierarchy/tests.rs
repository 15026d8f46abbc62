use super::*;
use proptest::prelude::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn path(text: &str) -> Path {
    Path::parse(text).expect("a place")
}

#[test]
fn bytes_are_those_of_sql_server() {
    for (text, bytes) in [
        ("/", ""),
        ("/0/", "48"),
        ("/1/", "58"),
        ("/3/", "78"),
        ("/4/", "84"),
        ("/7/", "9C"),
        ("/8/", "A2"),
        ("/15/", "BE"),
        ("/16/", "C110"),
        ("/79/", "DBF0"),
        ("/80/", "E00440"),
        ("/1103/", "EEEFC0"),
        ("/1104/", "F00088"),
        ("/5199/", "F7DDF8"),
        ("/5200/", "F80000000220"),
        ("/4294972495/", "FBFFFFBF77E0"),
        ("/4294972496/", "FC00000000000110"),
        ("/281479271683151/", "FFFFF7FFFFDFBBF0"),
        ("/-1/", "3F80"),
        ("/-8/", "3880"),
        ("/-9/", "2DF8"),
        ("/-72/", "2088"),
        ("/-73/", "1BEEFC"),
        ("/-4168/", "180044"),
        ("/-4169/", "17FFFFBF77E0"),
        ("/-4294971464/", "140000000220"),
        ("/-4294971465/", "13FFF7FFFFDFBBF0"),
        ("/-281479271682120/", "1000000000000110"),
        ("/1/-2.18/", "59FB0540"),
        ("/1/2.3.4/", "5BA084"),
        ("/79.80/1103/", "E00438011EEEFC"),
        ("/0.-281479271682120/", "508000000000000880"),
        ("/281479271683150.0/", "FFFFF7FFFFDFBBE480"),
    ] {
        let place = path(text);
        assert_eq!(hex(&place.to_bytes().expect("bytes")), bytes, "{text}");
        assert_eq!(Path::read(&place.to_bytes().expect("bytes")), Ok(place.clone()), "{text}");
        assert_eq!(place.to_string(), text);
    }
}

#[test]
fn what_is_no_place_is_refused() {
    for text in [
        "",
        "/1",
        "1/",
        "//",
        "/1//2/",
        "/a/",
        "/1..2/",
        "/.1/",
        "/1./",
        "/+1/",
        "/ 1/",
        "/01/",
        "/-0/",
        "/-/",
        "/281479271683152/",
        "/-281479271682121/",
        "/281479271683151.1/",
        "/9223372036854775808/",
    ] {
        let error = Path::parse(text).expect_err(text);
        assert_eq!((error.number, error.state), (6522, 2), "{text}");
        assert!(error.message.contains("24001: "), "{}", error.message);
    }
    for bytes in [&[0x59][..], &[0], &[0xFF, 0xFF], &[0x0F], &[0x40], &[0x58, 0]] {
        let error = Path::read(bytes).expect_err("no place");
        assert!(error.message.contains("24000: "), "{bytes:?}: {}", error.message);
    }
}

#[test]
fn children_come_between_others() {
    let child = |parent: &str, after: Option<&str>, before: Option<&str>| {
        let child = path(parent).descendant(after.map(path).as_ref(), before.map(path).as_ref());
        child.map(|child| child.to_string())
    };
    for (after, before, expected) in [
        (None, None, "/9/1/"),
        (Some("/9/1/"), None, "/9/2/"),
        (None, Some("/9/1/"), "/9/0/"),
        (Some("/9/1/"), Some("/9/3/"), "/9/2/"),
        (Some("/9/1/"), Some("/9/2/"), "/9/1.1/"),
        (Some("/9/1.1/"), Some("/9/2/"), "/9/1.2/"),
        (Some("/9/1/"), Some("/9/1.1/"), "/9/1.0/"),
        (Some("/9/1.5/"), Some("/9/1.6/"), "/9/1.5.1/"),
        (Some("/9/-1/"), Some("/9/0/"), "/9/-1.1/"),
    ] {
        assert_eq!(child("/9/", after, before).as_deref(), Ok(expected), "{after:?} {before:?}");
    }
    for (after, before, code) in
        [(Some("/2/"), None, "24008"), (None, Some("/9/1/1/"), "24008"), (Some("/9/2/"), Some("/9/2/"), "24009")]
    {
        let error = child("/9/", after, before).expect_err("no child");
        assert!(error.message.contains(code), "{}", error.message);
    }
    let beyond = path("/").descendant(Some(&path("/281479271683151/")), None).expect("a place");
    assert!(beyond.to_bytes().expect_err("no range").message.contains("24006"));
}

fn any_path() -> impl Strategy<Value = Path> {
    let number = prop_oneof![
        -20i64..20,
        -5000i64..6000,
        -281_479_271_682_120i64..281_479_271_683_150,
        prop::sample::select(RANGES.iter().flat_map(|range| [range.first, range.last - 1]).collect::<Vec<_>>()),
    ];
    let label = prop::collection::vec(number, 1..4);
    prop::collection::vec(label, 0..5).prop_map(|levels| Path { levels })
}

proptest! {
    #[test]
    fn every_place_goes_and_comes_back(place in any_path()) {
        let bytes = place.to_bytes().expect("bytes");
        prop_assert_eq!(&Path::read(&bytes).expect("a place"), &place);
        prop_assert_eq!(&Path::parse(&place.to_string()).expect("a place"), &place);
    }

    #[test]
    fn bytes_are_in_the_order_of_the_tree(left in any_path(), right in any_path()) {
        let bytes = [&left, &right].map(|place| place.to_bytes().expect("bytes"));
        prop_assert_eq!(bytes[0].cmp(&bytes[1]), left.levels.cmp(&right.levels));
    }

    #[test]
    fn a_child_between_two_is_between_them(parent in any_path(), mut labels in prop::collection::vec(prop::collection::vec(-3i64..4, 1..4), 2)) {
        labels.sort();
        prop_assume!(labels[0] < labels[1]);
        let [after, before] = [0, 1].map(|at| parent.child(labels[at].clone()));
        let child = parent.descendant(Some(&after), Some(&before)).expect("a child");
        let [low, middle, high] = [&after, &child, &before].map(|place| place.to_bytes().expect("bytes"));
        prop_assert!(low < middle && middle < high, "{} {} {}", after, child, before);
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
        if let Ok(place) = Path::read(&bytes) {
            prop_assert_eq!(place.to_bytes().expect("bytes"), bytes);
        }
    }
}
