use super::*;
use proptest::prelude::*;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

fn plane(text: &str) -> Instance {
    Instance::parse(text, System::Plane, 0).expect(text)
}

fn earth(text: &str) -> Instance {
    Instance::parse(text, System::Earth, 4326).expect(text)
}

#[test]
fn texts_have_one_form() {
    for (text, expected) in [
        ("  point ( 1.50 2 )  ", "POINT (1.5 2)"),
        ("LINESTRING(0 0, 1 1, 2 2)", "LINESTRING (0 0, 1 1, 2 2)"),
        (
            "POLYGON((0 0,0 3,3 3,3 0,0 0),(1 1,1 2,2 2,1 1))",
            "POLYGON ((0 0, 0 3, 3 3, 3 0, 0 0), (1 1, 1 2, 2 2, 1 1))",
        ),
        ("MULTIPOINT(0 0, 1 1)", "MULTIPOINT ((0 0), (1 1))"),
        ("MULTIPOINT((0 0),EMPTY)", "MULTIPOINT ((0 0), EMPTY)"),
        ("MULTILINESTRING((0 0,1 1),EMPTY)", "MULTILINESTRING ((0 0, 1 1), EMPTY)"),
        ("MULTIPOLYGON(((0 0,0 1,1 1,0 0)))", "MULTIPOLYGON (((0 0, 0 1, 1 1, 0 0)))"),
        ("GEOMETRYCOLLECTION(POINT EMPTY, POINT(1 2))", "GEOMETRYCOLLECTION (POINT EMPTY, POINT (1 2))"),
        ("GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)))", "GEOMETRYCOLLECTION (GEOMETRYCOLLECTION (POINT (1 2)))"),
        ("MULTIPOLYGON EMPTY", "MULTIPOLYGON EMPTY"),
        ("POINT(1 2 3)", "POINT (1 2 3)"),
        ("POINT(1 2 NULL 4)", "POINT (1 2 NULL 4)"),
        ("POINT(-0 1e10)", "POINT (0 10000000000)"),
        ("POINT(0.000001 1e30)", "POINT (1E-06 1E+30)"),
        ("POINT(1.123456789012345678 0.0001)", "POINT (1.1234567890123457 0.0001)"),
        ("CIRCULARSTRING(0 0, 1 1, 2 0)", "CIRCULARSTRING (0 0, 1 1, 2 0)"),
        (
            "COMPOUNDCURVE((1 0, 0 1),CIRCULARSTRING(0 1, 1 2, 2 1),(2 1, 3 3))",
            "COMPOUNDCURVE ((1 0, 0 1), CIRCULARSTRING (0 1, 1 2, 2 1), (2 1, 3 3))",
        ),
        (
            "CURVEPOLYGON(CIRCULARSTRING(0 0, 2 2, 4 0, 2 -2, 0 0),(1 0, 2 1, 3 0, 1 0))",
            "CURVEPOLYGON (CIRCULARSTRING (0 0, 2 2, 4 0, 2 -2, 0 0), (1 0, 2 1, 3 0, 1 0))",
        ),
    ] {
        let instance = plane(text);
        assert_eq!(instance.to_text(true), expected);
        assert_eq!(Instance::read(&instance.to_bytes(), System::Plane), Ok(instance), "{text}");
    }
    assert_eq!(plane("POINT(1 2 3 4)").to_text(false), "POINT (1 2)");
    assert_eq!(earth("FULLGLOBE").to_text(true), "FULLGLOBE");
}

#[test]
fn bytes_are_those_of_sql_server() {
    let point = Instance::parse("POINT(1 2)", System::Plane, 4326).expect("a point");
    assert_eq!(hex(&point.to_bytes()), "E6100000010C000000000000F03F0000000000000040");
    for (text, bytes) in [
        ("POINT EMPTY", "000000000104000000000000000001000000FFFFFFFFFFFFFFFF01"),
        ("POINT(1 2 3)", "00000000010D000000000000F03F00000000000000400000000000000840"),
        ("LINESTRING(1 2, 3 4)", "000000000114000000000000F03F000000000000004000000000000008400000000000001040"),
        (
            "GEOMETRYCOLLECTION(GEOMETRYCOLLECTION(POINT(1 2)))",
            "00000000010401000000000000000000F03F000000000000004001000000010000000003000000FFFFFFFF0000000007000000000000000007010000\
             000000000001",
        ),
    ] {
        assert_eq!(hex(&plane(text).to_bytes()), bytes, "{text}");
    }
    for (text, bytes) in [
        ("POINT(1 2)", "E6100000010C0000000000000040000000000000F03F"),
        (
            "LINESTRING(0 0,1 1,2 2)",
            "E610000001040300000000000000000000000000000000000000000000000000F03F000000000000F03F0000000000000040000000000000004001\
             000000010000000001000000FFFFFFFF0000000002",
        ),
        // One that is not valid is of version 2, where rings are lines.
        (
            "POLYGON ((0 0, 1 0, -1 1, 2 2, 0 0))",
            "E6100000020005000000000000000000000000000000000000000000000000000000000000000000F03F000000000000F03F000000000000F0BF000000\
             00000000400000000000000040000000000000000000000000000000000100000001000000000\
             1000000FFFFFFFF0000000003",
        ),
    ] {
        assert_eq!(hex(&earth(text).to_bytes()), bytes.replace(' ', ""), "{text}");
    }
}

#[test]
fn what_is_no_text_of_a_shape_is_refused_in_its_words() {
    for (text, expected) in [
        (
            "NONSENSE(1 2) EXTRA",
            "24114: The label NONSENSE(1 2) EXTRA in the input well-known text (WKT) is not valid.",
        ),
        ("  BAD (1 2)", "24114: The label BAD (1 2) in the input"),
        ("POINTX(1 2)", "24142: Expected \"(\" at position 5. The input has \"X\"."),
        ("LINESTRING Z (1 2 3, 4 5 6)", "24142: Expected \"(\" at position 11. The input has \"Z\"."),
        ("MULTIPOINT((0 0), 1 1)", "24142: Expected \"(\" at position 18. The input has \"1\"."),
        ("POINT(1)", "24141: A number is expected at position 7 of the input. The input has )."),
        ("POINT(1 X)", "24141: A number is expected at position 9 of the input. The input has X."),
        ("LINESTRING(funky chicken)", "24141: A number is expected at position 16 of the input. The input has funky."),
        ("LINESTRING(0 0,)", "24141: A number is expected at position 15 of the input. The input has )."),
        ("POINT(1 2", "24209: Unexpected end of input."),
        ("GEOMETRYCOLLECTION(POINT(1 2)", "24209: "),
        ("POINT(1 2)X", "24111: The well-known text (WKT) input is not valid."),
        ("", "24112: The well-known text (WKT) input is empty."),
        ("LINESTRING(0 0)", "24117: The LineString input is not valid because it does not have enough points."),
        (
            "POLYGON((0 0,0 1,1 1))",
            "24118: The Polygon input is not valid because the exterior ring does not have enough points.",
        ),
        (
            "POLYGON((0 0,0 1,1 1,1 0))",
            "24119: The Polygon input is not valid because the start and end points of the exterior ring",
        ),
        (
            "POLYGON((0 0,0 1,1 1,0 0),(1 1,1 2))",
            "24120: The Polygon input is not valid because the interior ring number 1 does",
        ),
        ("POLYGON((0 0,0 3,3 3,0 0),(1 1,1 2,2 2,1 9))", "24121: "),
        ("FULLGLOBE", "24303: "),
    ] {
        let error = Instance::parse(text, System::Plane, 0).expect_err(text);
        assert_eq!(error.number, 6522);
        let start = "A .NET Framework error occurred during execution of user-defined routine or aggregate \"geometry\": \r\n\
                     System.FormatException: ";
        let behind = error.message.strip_prefix(start).expect("the routine");
        assert!(behind.starts_with(expected), "{text}: {behind}");
        assert!(behind.ends_with("\r\nSystem.FormatException: \r\n."), "{behind}");
    }
    for (text, expected) in [
        ("POINT(2 200)", "24201"),
        ("POLYGON((0 0,0 1,1 1))", "24305"),
        ("LINESTRING(0 90, 0 -90)", "24206"),
        ("LINESTRING(0 0, 180 0.00000057)", "24206"),
    ] {
        let error = Instance::parse(text, System::Earth, 4326).expect_err(text);
        assert!(error.message.contains(expected), "{text}: {}", error.message);
    }
    assert!(Instance::parse("LINESTRING(0 0, 180 0.00000058)", System::Earth, 4326).is_ok());
    let refused = |text: &str, kind| Instance::parse_kind(text, System::Plane, 0, kind).expect_err(text).message;
    assert!(refused("LINESTRING(0 0,1 1)", 1).contains("Expected \"POINT\" at position 1. The input has \"LINES\"."));
    assert!(refused("PO", 1).contains("Expected \"POINT\" at position 0. The input has \"P\"."));
    assert!(refused("POINT(1 2)", 2).contains("Expected \"LINESTRING\" at position 0. The input has \"POINT(1 2)\"."));
    assert!(refused("POINT(1 2)", 3).contains("Expected \"POLYGON\" at position 1. The input has \"POINT(1\"."));
}

#[test]
fn shapes_of_the_plane_are_valid_as_in_sql_server() {
    for (text, valid) in [
        ("POLYGON((0 0, 2 2, 0 2, 2 0, 0 0))", false),
        ("POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))", true),
        ("LINESTRING(0 0, 2 2, 2 0, 0 2)", true),
        ("LINESTRING(0 0, 1 1, 0 0)", false),
        ("LINESTRING(0 0, 0 0)", false),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1))", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(5 5,6 5,6 6,5 6,5 5))", false),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,3 1,3 3,1 3,1 1),(2 2,3 2,3 3,2 3,2 2))", false),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 0,2 0,2 2,0 2,0 0))", false),
        ("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((1 1,3 1,3 3,1 3,1 1)))", false),
        ("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((2 0,4 0,4 2,2 2,2 0)))", false),
        ("MULTIPOINT((0 0),(0 0))", true),
        ("MULTILINESTRING((0 0,2 2),(0 0,2 2))", false),
        ("POLYGON((0 0,0 0,0 0,0 0))", false),
        ("POLYGON((0 0,2 0,2 0,0 0,0 0))", false),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 0,4 0,4 4,0 4,0 0))", false),
        ("GEOMETRYCOLLECTION(POINT(0 0),POINT(0 0))", true),
        ("LINESTRING(0 0,1 1,1 1,2 2)", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 1,2 1,2 3,0 3,0 1))", false),
        ("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((2 2,4 2,4 4,2 4,2 2)))", true),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0, 0 0))", true),
        ("POLYGON((0 0,2 0,1 2,0 0),(0 0,2 0,1 1,0 0))", false),
        ("LINESTRING(0 0, 2 0, 1 0)", false),
        ("LINESTRING(0 0, 2 0, 1 1)", true),
        ("LINESTRING(0 0, 2 0, 2 0)", false),
        ("LINESTRING(0 0, 2 2, 2 0, 0 2, 0 0)", true),
        ("MULTILINESTRING((0 0,2 0),(1 0,3 0))", false),
        ("MULTILINESTRING((0 0,2 0),(2 0,4 0))", true),
        ("MULTILINESTRING((0 0,2 0),(1 -1,1 1))", true),
        ("POINT EMPTY", true),
        ("POLYGON EMPTY", true),
        ("GEOMETRYCOLLECTION(POLYGON((0 0, 2 2, 0 2, 2 0, 0 0)))", false),
        ("GEOMETRYCOLLECTION(POLYGON((0 0,2 0,2 2,0 2,0 0)),POLYGON((1 1,3 1,3 3,1 3,1 1)))", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1),(2 2,3 2,3 3,2 3,2 2))", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 0,2 2,2 0,0 0))", false),
        ("MULTIPOLYGON(((0 0,4 0,4 4,0 4,0 0)),((1 1,2 1,2 2,1 2,1 1)))", false),
        ("POLYGON((0 0,1 1,2 0,3 1,4 0,4 4,0 4,0 0))", true),
        ("POLYGON((0 0,2 0,2 2,1 2,1 1,3 1,3 3,0 3,0 0))", false),
        ("LINESTRING(0 0, 0 0, 2 0)", true),
        ("LINESTRING(0 0, 2 0, 2 0, 4 0)", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1),(2 1,3 1,3 2,2 2,2 1))", false),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 2,1 1,2 2,1 3,0 2))", true),
        ("POLYGON((0 0,2 0,2 2,0 2,0 0),(0 0,1 1,1 0,0 0))", false),
        ("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((0 0,-2 0,-2 -2,0 -2,0 0)))", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1),(1 1,0.5 0.5,1.5 0.5,1 1))", true),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 2,2 1,4 2,2 3,0 2))", false),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0),(0 1,2 2,0 3,0 1))", false),
        (
            "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,2 1,2 2,1 2,1 1),(2 2,3 2,3 3,2 3,2 2),(2 1,3 1,3 2,2 2,2 1),(1 2,2 2,2 3,1 3,1 2))",
            false,
        ),
        ("MULTIPOLYGON(((0 0,2 0,2 2,0 2,0 0)),((0 2,2 2,2 4,0 4,0 2)))", false),
    ] {
        assert_eq!(plane(text).valid, valid, "{text}");
    }
}

#[test]
fn shapes_of_the_earth_are_valid_as_in_sql_server() {
    for (text, valid) in [
        ("LINESTRING(0 0, 2 0, 2 0)", true),
        ("LINESTRING(0 0, 2 2, 1 1)", true),
        ("LINESTRING(0 0, 0 0)", false),
        ("LINESTRING(0 0, 4 0, 2 0)", false),
        ("MULTILINESTRING((0 0, 2 0), (1 0, 3 0))", false),
        ("POLYGON((0 0, 1 1, 1 0, 0 1, 0 0))", false),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 1 3, 3 3, 3 1, 1 1))", true),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0), (1 1, 3 1, 3 3, 1 3, 1 1))", false),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0), (0 1, 1 2, 1 1, 0 1))", true),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0), (5 5, 5 6, 6 6, 6 5, 5 5))", false),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0, 1 2, 2 1, 0 0))", true),
        ("POLYGON((0 0, 4 0, 4 4, 0 4, 0 0, 2 1, 1 2, 0 0))", false),
        ("POLYGON((0 0, 2 0, 2 2, 0 0, -2 0, -2 -2, 0 0))", false),
        ("POLYGON((0 -80, 120 -80, -120 -80, 0 -80))", true),
        ("MULTIPOLYGON(((0 0, 2 0, 2 2, 0 2, 0 0)), ((2 2, 4 2, 4 4, 2 4, 2 2)))", true),
        ("MULTIPOLYGON(((0 0, 2 0, 2 2, 0 2, 0 0)), ((2 0, 4 0, 4 2, 2 2, 2 0)))", false),
    ] {
        assert_eq!(earth(text).valid, valid, "{text}");
    }
}

#[test]
fn a_ring_that_is_wound_to_the_right_is_larger_than_a_hemisphere() {
    let small = earth("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))").to_bytes();
    let large = earth("POLYGON((0 0, 0 1, 1 1, 1 0, 0 0))").to_bytes();
    assert_eq!((&small[4..6], &large[4..6]), (&[1, 4][..], &[2, 0x24][..]));
    let read = Instance::read(&large, System::Earth).expect("a polygon");
    assert_eq!(read.to_bytes(), large);
}

fn any_point() -> impl Strategy<Value = Point> {
    let number = prop_oneof![-90.0..90.0f64, (-90i8..90).prop_map(f64::from)];
    let more = prop::option::of(-5.0..5.0f64);
    (number.clone(), number, more.clone(), more).prop_map(|(x, y, z, m)| Point { x, y, z, m })
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let points = |least: usize| prop::collection::vec(any_point(), least..6);
    let ring = prop::collection::vec(any_point(), 3..6).prop_map(|mut ring| {
        ring.push(ring[0]);
        ring
    });
    let leaf = prop_oneof![
        prop::option::of(any_point()).prop_map(Shape::Point),
        points(2).prop_map(Shape::Line),
        prop::collection::vec(ring, 0..3).prop_map(Shape::Polygon),
        prop::collection::vec(any_point().prop_map(|point| Shape::Point(Some(point))), 0..4)
            .prop_map(Shape::MultiPoint),
        prop::collection::vec(points(2).prop_map(Shape::Line), 0..3).prop_map(Shape::MultiLine),
        prop::collection::vec(any_point(), 1..3).prop_map(|points| {
            let count = points.len() * 2 + 1;
            Shape::Arcs(points.into_iter().cycle().take(count).collect())
        }),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| prop::collection::vec(inner, 0..4).prop_map(Shape::Collection))
}

proptest! {
    #[test]
    fn every_shape_goes_and_comes_back(shape in any_shape()) {
        for system in [System::Plane, System::Earth] {
            let Ok(instance) = Instance::new(system, system.default_srid(), shape.clone()) else { continue };
            prop_assert_eq!(&Instance::read(&instance.to_bytes(), system).expect("an instance"), &instance);
            let text = instance.to_text(true);
            let read = Instance::parse(&text, system, instance.srid);
            // A height or measure in another place of a line's points is none that a text shows otherwise.
            prop_assert_eq!(read.map(|read| read.to_text(true)), Ok(text));
        }
    }

    #[test]
    fn no_bytes_panic(shape in any_shape(), at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let instance = Instance { system: System::Plane, srid: 0, valid: true, shape };
        let mut bytes = instance.to_bytes();
        let place = at.index(bytes.len());
        bytes[place] = byte;
        for bytes in [&bytes[..], &bytes[..cut.index(bytes.len())]] {
            for system in [System::Plane, System::Earth] {
                if let Ok(read) = Instance::read(bytes, system) {
                    let _ = (read.to_text(true), read.to_bytes(), is_valid(system, &read.shape));
                }
            }
        }
    }

    #[test]
    fn no_text_panics(text in "[A-Z(), 0-9.eE+-]{0,40}", word in prop::sample::select(vec!["POINT", "POLYGON", "COMPOUNDCURVE", "GEOMETRYCOLLECTION", "é"])) {
        for system in [System::Plane, System::Earth] {
            let _ = Instance::parse(&text, system, 0);
            let _ = Instance::parse(&format!("{word}{text}"), system, 4326);
            let _ = Instance::parse_kind(&text, system, 0, 3);
        }
    }
}
