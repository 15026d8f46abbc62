//! Members called as a statement calls them. What is expected of them is what SQL Server answers.

use super::*;
use pikepole_types::spatial::Instance;
use pikepole_types::{convert, hierarchy::Path};

fn shape(ty: ClrType, text: &str) -> Value {
    let system = ty.system().expect("a type of shapes");
    Instance::parse(text, system, system.default_srid()).expect(text).to_value()
}

/// The answer of a member; shapes as their texts.
fn answer(ty: ClrType, form: Form, name: &str, receiver: &Value, arguments: &[Value]) -> Result<Value, SqlError> {
    let method = find(ty, form, name).expect(name);
    assert!(method.is_there(), "{name}");
    let found = method.call(ty, receiver, arguments)?;
    match (method.result, found) {
        (Kind::Own, found @ Value::Bin(_)) => convert(&found, &SqlType::Clr(ty), &Kind::Text.sql_type(ty), None),
        (_, found) => Ok(found),
    }
}

fn plane(name: &str, text: &str, arguments: &[Value]) -> Result<Value, SqlError> {
    answer(ClrType::Geometry, Form::Method, name, &shape(ClrType::Geometry, text), arguments)
}

fn earth(name: &str, text: &str, arguments: &[Value]) -> Result<Value, SqlError> {
    answer(ClrType::Geography, Form::Method, name, &shape(ClrType::Geography, text), arguments)
}

fn two(name: &str, one: &str, other: &str) -> Value {
    plane(name, one, &[shape(ClrType::Geometry, other)]).expect(name)
}

fn text(value: Value) -> String {
    match value {
        Value::Str(text) => text,
        other => format!("{other:?}"),
    }
}

#[test]
fn matrices_are_those_of_sql_server() {
    let questions =
        ["STIntersects", "STContains", "STWithin", "STTouches", "STCrosses", "STOverlaps", "STDisjoint", "STEquals"];
    for (one, other, matrix, bits) in [
        ("POINT(1 1)", "POINT(1 1)", "0FFFFFFF2", "11100001"),
        ("POINT(1 1)", "POINT(2 2)", "FF0FFF0F2", "00000010"),
        ("POINT(1 1)", "LINESTRING(0 0, 2 2)", "0FFFFF102", "10100000"),
        ("POINT(0 0)", "LINESTRING(0 0, 2 2)", "F0FFFF102", "10010000"),
        ("POINT(2 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "0FFFFF212", "10100000"),
        ("POINT(0 0)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "F0FFFF212", "10010000"),
        ("LINESTRING(0 0, 2 2)", "LINESTRING(0 0, 1 1, 2 2)", "1FFF0FFF2", "11100001"),
        ("LINESTRING(0 0, 2 2)", "LINESTRING(2 2, 0 0)", "1FFF0FFF2", "11100001"),
        ("LINESTRING(0 0, 2 0)", "LINESTRING(1 -1, 1 1)", "0F1FF0102", "10001000"),
        ("LINESTRING(0 0, 2 0)", "LINESTRING(2 0, 4 0)", "FF1F00102", "10010000"),
        ("LINESTRING(0 0, 2 0)", "LINESTRING(1 0, 3 0)", "1010F0102", "10000100"),
        ("LINESTRING(0 0, 4 0)", "LINESTRING(1 0, 3 0)", "101FF0FF2", "11000000"),
        ("LINESTRING(-1 2, 5 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "101FF0212", "10001000"),
        ("LINESTRING(1 1, 3 3)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "1FF0FF212", "10100000"),
        ("LINESTRING(0 0, 0 4)", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "F1FF0F212", "10010000"),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "2FFF1FFF2", "11100001"),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((1 1,3 1,3 3,1 3,1 1))", "212FF1FF2", "11000000"),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((2 2,6 2,6 6,2 6,2 2))", "212101212", "10000100"),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((4 0,8 0,8 4,4 4,4 0))", "FF2F11212", "10010000"),
        ("POLYGON((0 0,4 0,4 4,0 4,0 0))", "POLYGON((5 5,6 5,6 6,5 6,5 5))", "FF2FF1212", "00000010"),
        ("POLYGON((0 0,6 0,6 6,0 6,0 0),(2 2,4 2,4 4,2 4,2 2))", "POINT(3 3)", "FF2FF10F2", "00000010"),
        ("MULTIPOINT((0 0),(5 5))", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "F00FFF212", "10010000"),
        ("MULTILINESTRING((0 0,2 0),(2 0,4 0))", "POINT(2 0)", "0F1FF0FF2", "11000000"),
        ("MULTILINESTRING((0 0,2 0),(2 0,4 0),(2 0,2 2))", "POINT(2 0)", "FF10F0FF2", "10010000"),
        ("POINT EMPTY", "POINT(0 0)", "FFFFFF0F2", "00000010"),
        ("POLYGON EMPTY", "POLYGON EMPTY", "FFFFFFFF2", "00000011"),
        ("GEOMETRYCOLLECTION EMPTY", "POLYGON((0 0,4 0,4 4,0 4,0 0))", "FFFFFF212", "00000010"),
        ("POINT(1 1 5 7)", "POINT(1 1)", "0FFFFFFF2", "11100001"),
    ] {
        let pattern = Value::Str(matrix.to_owned());
        let related = plane("STRelate", one, &[shape(ClrType::Geometry, other), pattern]);
        assert_eq!(related, Ok(Value::Bit(true)), "{one} {other} {matrix}");
        let found: String =
            questions.iter().map(|name| if two(name, one, other) == Value::Bit(true) { '1' } else { '0' }).collect();
        assert_eq!(found, bits, "{one} {other}");
    }
}

#[test]
fn measures_of_the_plane() {
    for (name, of, expected) in [
        ("STArea", "POLYGON((0 0,0 3,3 3,3 0,0 0),(1 1,1 2,2 2,2 1,1 1))", 8.0),
        ("STArea", "LINESTRING(0 0,3 4)", 0.0),
        ("STLength", "LINESTRING(0 0,3 4,3 0)", 9.0),
        ("STLength", "GEOMETRYCOLLECTION(POLYGON((0 0,0 2,2 2,2 0,0 0)),LINESTRING(0 0,3 4))", 13.0),
        ("STLength", "POINT(1 2)", 0.0),
    ] {
        assert_eq!(plane(name, of, &[]), Ok(Value::Float(expected)), "{name} {of}");
    }
    for (one, other, expected) in [
        ("POINT(-3 4)", "LINESTRING(0 0, 4 0)", 5.0),
        ("POINT(2 2)", "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0),(1 1, 1 3, 3 3, 3 1, 1 1))", 1.0),
        ("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", "POLYGON((3 0, 4 0, 4 1, 3 1, 3 0))", 2.0),
        ("MULTIPOINT((0 0),(10 10))", "MULTIPOINT((3 4),(20 20))", 5.0),
        ("LINESTRING(0 0, 4 4)", "LINESTRING(0 4, 4 0)", 0.0),
    ] {
        assert_eq!(two("STDistance", one, other), Value::Float(expected), "{one} {other}");
        assert_eq!(two("STDistance", other, one), Value::Float(expected), "{one} {other}");
    }
    assert_eq!(two("STDistance", "POINT EMPTY", "POINT(3 4)"), Value::Null);
}

fn close(found: Result<Value, SqlError>, expected: f64, tolerance: f64, what: &str) {
    match found {
        Ok(Value::Float(found)) => {
            let off = (found - expected).abs() / expected.abs().max(1e-300);
            assert!(off <= tolerance, "{what}: {found}, not {expected}");
        }
        other => panic!("{what}: {other:?}"),
    }
}

#[test]
fn measures_of_the_earth() {
    for (of, expected) in [
        ("LINESTRING(0 0, 0 1)", 110574.38849340599),
        ("LINESTRING(0 0, 1 0)", 111319.49073588519),
        ("LINESTRING(0 0, 1 1)", 156899.5679650511),
        ("POLYGON((0 0,1 0,1 1,0 1,0 0))", 443770.9170048034),
    ] {
        close(earth("STLength", of, &[]), expected, 1e-8, of);
    }
    for (of, expected, tolerance) in [
        ("POLYGON((0 0, 0.01 0, 0.01 0.01, 0 0.01, 0 0))", 1_230_907.204_877_243, 1e-9),
        ("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", 12308776255.868843, 1e-9),
        ("POLYGON((-10 40, 10 40, 10 55, -10 55, -10 40))", 2489995392880.062, 1e-9),
        ("POLYGON((0 89, 1 89, 1 89.5, 0 89.5, 0 89))", 81645307.09980054, 1e-9),
        ("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0),(0.2 0.2, 0.2 0.8, 0.8 0.8, 0.8 0.2, 0.2 0.2))", 7877653739.931041, 1e-9),
        ("POLYGON((0 0, 90 0, 90 90, 0 90, 0 0))", 63758201600773.19, 1e-7),
        ("POLYGON((0 0, 90 0, 0 90, 0 0))", 63758201600773.19, 1e-7),
        ("POLYGON((0 0, 90 0, 180 0, 270 0, 0 0))", 255032806403092.7, 1e-7),
        ("POLYGON((0 60, 90 60, 180 60, 270 60, 0 60))", 23453971598496.586, 1e-4),
        ("POLYGON((0 0, 0 0.01, 0.01 0.01, 0.01 0, 0 0))", 510065620480089.25, 1e-9),
    ] {
        close(earth("STArea", of, &[]), expected, tolerance, of);
    }
    for (one, other, expected, tolerance) in [
        ("POINT(-122.35 47.62)", "POINT(2.35 48.86)", 8064123.530150785, 1e-8),
        ("POINT(0 0)", "POINT(180 0)", 20003931.458240643, 1e-8),
        ("POINT(45 60)", "LINESTRING(-122.35 47.62, 2.35 48.86)", 2953566.2952130623, 1e-9),
        ("POINT(0 10)", "LINESTRING(-30 0, 30 0)", 1105854.8440379163, 1e-8),
        (
            "POINT(0.5 0.5)",
            "POLYGON((0 0, 1 0, 1 1, 0 1, 0 0),(0.2 0.2, 0.2 0.8, 0.8 0.8, 0.8 0.2, 0.2 0.2))",
            33171.99278780328,
            1e-9,
        ),
        ("LINESTRING(0 0, 10 0)", "LINESTRING(20 1, 30 8)", 1118617.1615951585, 1e-9),
        ("POLYGON((0 0, 1 0, 1 1, 0 1, 0 0))", "POLYGON((3 0, 4 0, 4 1, 3 1, 3 0))", 222605.29426164986, 1e-8),
    ] {
        close(earth("STDistance", one, &[shape(ClrType::Geography, other)]), expected, tolerance, one);
    }
    let crossing =
        earth("STDistance", "LINESTRING(-1 -1, 1 1)", &[shape(ClrType::Geography, "LINESTRING(-1 1, 1 -1)")]);
    assert_eq!(crossing, Ok(Value::Float(0.0)));
}

#[test]
fn edges_of_the_earth_are_arcs() {
    let asked = |one: &str, name: &str, other: &str| earth(name, one, &[shape(ClrType::Geography, other)]).expect(name);
    let square = "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))";
    for (place, within) in [("POINT(2 4)", true), ("POINT(2 4.002)", true), ("POINT(2 4.003)", false)] {
        assert_eq!(asked(place, "STWithin", square), Value::Bit(within), "{place}");
    }
    let band = "POLYGON((179 0, -179 0, -179 2, 179 2, 179 0))";
    assert_eq!(asked(band, "STContains", "POINT(180 1)"), Value::Bit(true));
    assert_eq!(asked(band, "STContains", "POINT(178 1)"), Value::Bit(false));
    let cap = "POLYGON((0 80, 120 80, -120 80, 0 80))";
    assert_eq!(asked(cap, "STContains", "POINT(0 90)"), Value::Bit(true));
    assert_eq!(asked("LINESTRING(0 0, 2 2)", "STEquals", "LINESTRING(0 0, 1 1, 2 2)"), Value::Bit(false));
}

#[test]
fn two_shapes_make_a_third() {
    let square = "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))";
    for (name, one, other, expected) in [
        ("STIntersection", square, "LINESTRING(-1 2, 5 2)", "LINESTRING (0 2, 4 2)"),
        ("STDifference", "LINESTRING(-1 2, 5 2)", square, "MULTILINESTRING ((-1 2, 0 2), (4 2, 5 2))"),
        ("STIntersection", "LINESTRING(0 0, 2 0)", "LINESTRING(1 0, 3 0)", "LINESTRING (1 0, 2 0)"),
        ("STIntersection", "LINESTRING(0 0, 2 2)", "LINESTRING(0 2, 2 0)", "POINT (1 1)"),
        ("STUnion", "LINESTRING(0 0, 2 0)", "LINESTRING(2 0, 3 1)", "LINESTRING (0 0, 2 0, 3 1)"),
        ("STIntersection", square, "POLYGON((4 1, 6 1, 6 3, 4 3, 4 1))", "LINESTRING (4 1, 4 3)"),
        ("STIntersection", square, "POLYGON((4 4, 6 4, 6 6, 4 6, 4 4))", "POINT (4 4)"),
        ("STIntersection", square, "POINT(9 9)", "GEOMETRYCOLLECTION EMPTY"),
        ("STUnion", "POINT(1 1)", "POINT(2 2)", "MULTIPOINT ((1 1), (2 2))"),
        ("STDifference", "MULTIPOINT(1 1, 9 9)", square, "POINT (9 9)"),
        ("STDifference", square, "POLYGON EMPTY", "POLYGON ((0 0, 4 0, 4 4, 0 4, 0 0))"),
    ] {
        assert_eq!(text(two(name, one, other)), expected, "{name} {one} {other}");
    }
    // Where a ring begins is not said; what it encloses is.
    for (name, other, area) in [
        ("STIntersection", "POLYGON((2 2, 6 2, 6 6, 2 6, 2 2))", 4.0),
        ("STUnion", "POLYGON((2 2, 6 2, 6 6, 2 6, 2 2))", 28.0),
        ("STDifference", "POLYGON((2 2, 6 2, 6 6, 2 6, 2 2))", 12.0),
        ("STSymDifference", "POLYGON((2 2, 6 2, 6 6, 2 6, 2 2))", 24.0),
        ("STUnion", "POLYGON((4 0, 6 0, 6 4, 4 4, 4 0))", 24.0),
        ("STUnion", "POINT(2 2)", 16.0),
    ] {
        let made = find(ClrType::Geometry, Form::Method, name).expect(name);
        let made = made
            .call(ClrType::Geometry, &shape(ClrType::Geometry, square), &[shape(ClrType::Geometry, other)])
            .expect(name);
        let found = answer(ClrType::Geometry, Form::Method, "STArea", &made, &[]);
        close(found, area, 1e-8, name);
        assert_eq!(answer(ClrType::Geometry, Form::Method, "STIsValid", &made, &[]), Ok(Value::Bit(true)), "{name}");
    }
}

#[test]
fn shapes_are_made_of_one() {
    for (name, of, expected) in [
        ("STEnvelope", "LINESTRING(0 0, 2 3)", "POLYGON ((0 0, 2 0, 2 3, 0 3, 0 0))"),
        ("STBoundary", "LINESTRING(0 0, 2 2, 0 2, 2 0)", "MULTIPOINT ((2 0), (0 0))"),
        ("STBoundary", "POLYGON((0 0, 2 0, 2 2, 0 0))", "LINESTRING (0 0, 2 0, 2 2, 0 0)"),
        ("STBoundary", "POINT(1 1)", "GEOMETRYCOLLECTION EMPTY"),
        ("STCentroid", "POLYGON((0 0, 2 0, 2 2, 0 2, 0 0))", "POINT (1 1)"),
        ("STConvexHull", "MULTIPOINT(0 0, 2 0, 1 1, 2 2, 0 2)", "POLYGON ((2 0, 2 2, 0 2, 0 0, 2 0))"),
        ("STExteriorRing", "POLYGON((0 0, 2 0, 2 2, 0 0))", "LINESTRING (0 0, 2 0, 2 2, 0 0)"),
        ("MakeValid", "POINT(1 2 3)", "POINT (1 2 3)"),
    ] {
        assert_eq!(text(plane(name, of, &[]).expect(name)), expected, "{name} {of}");
    }
    let reduced = plane("Reduce", "LINESTRING(0 0, 1 0.1, 2 0)", &[Value::Float(0.5)]);
    assert_eq!(reduced.map(text).as_deref(), Ok("LINESTRING (0 0, 2 0)"));
    for (of, expected) in [
        ("POLYGON((0 0, 1 1, 1 0, 0 1, 0 0))", "MULTIPOLYGON"),
        ("LINESTRING(0 0, 2 0, 1 0)", "LINESTRING (0 0, 1 0, 2 0)"),
        ("LINESTRING(1 1, 1 1)", "POINT (1 1)"),
    ] {
        let made = text(plane("MakeValid", of, &[]).expect(of));
        assert!(made.starts_with(expected), "{of}: {made}");
        assert_eq!(plane("STIsValid", &made, &[]), Ok(Value::Bit(true)), "{made}");
    }
    for (distance, of, area) in [
        (1.0, "POINT(0 0)", std::f64::consts::PI),
        (1.0, "LINESTRING(0 0, 10 0)", 20.0 + std::f64::consts::PI),
        (-1.0, "POLYGON((0 0, 4 0, 4 4, 0 4, 0 0))", 4.0),
    ] {
        let buffer = find(ClrType::Geometry, Form::Method, "STBuffer").expect("a method");
        let buffer =
            buffer.call(ClrType::Geometry, &shape(ClrType::Geometry, of), &[Value::Float(distance)]).expect(of);
        close(answer(ClrType::Geometry, Form::Method, "STArea", &buffer, &[]), area, 0.003, of);
    }
    let around = find(ClrType::Geography, Form::Method, "STBuffer").expect("a method");
    let around = around
        .call(ClrType::Geography, &shape(ClrType::Geography, "POINT(7 51)"), &[Value::Float(1000.0)])
        .expect("a circle");
    close(
        answer(ClrType::Geography, Form::Method, "STArea", &around, &[]),
        std::f64::consts::PI * 1e6,
        0.005,
        "a circle",
    );
}

#[test]
fn parts_and_kinds() {
    for (name, of, expected) in [
        ("STNumPoints", "POLYGON((0 0,0 3,3 3,3 0,0 0),(1 1,1 2,2 2,2 1,1 1))", 10),
        ("STNumInteriorRing", "POLYGON((0 0,0 3,3 3,3 0,0 0),(1 1,1 2,2 2,2 1,1 1))", 1),
        ("STNumGeometries", "POINT EMPTY", 0),
        ("STNumGeometries", "POINT(1 2)", 1),
        ("STDimension", "GEOMETRYCOLLECTION EMPTY", -1),
        ("STDimension", "GEOMETRYCOLLECTION(POINT(1 2),POLYGON((0 0,0 1,1 1,0 0)))", 2),
        ("MinDbCompatibilityLevel", "CIRCULARSTRING(0 0, 1 1, 2 0)", 110),
    ] {
        assert_eq!(plane(name, of, &[]), Ok(Value::Int(expected)), "{name} {of}");
    }
    for (name, of, expected) in [
        ("STIsClosed", "MULTILINESTRING((0 0,1 1,0 1,0 0))", Value::Bit(true)),
        ("STIsClosed", "MULTILINESTRING((0 0,1 1),(2 2,3 3))", Value::Bit(false)),
        ("STIsClosed", "POINT(1 2)", Value::Bit(false)),
        ("STIsRing", "LINESTRING(0 0,0 1,1 1,0 0)", Value::Bit(true)),
        ("STIsRing", "POLYGON((0 0,0 1,1 1,0 0))", Value::Null),
        ("STIsSimple", "LINESTRING(0 0, 2 2, 2 0, 0 2)", Value::Bit(false)),
        ("STIsSimple", "LINESTRING(0 0, 2 2, 2 0)", Value::Bit(true)),
        ("STIsEmpty", "GEOMETRYCOLLECTION(POINT EMPTY)", Value::Bit(true)),
    ] {
        assert_eq!(plane(name, of, &[]), Ok(expected), "{name} {of}");
    }
    assert_eq!(plane("STPointN", "LINESTRING(0 0, 1 1)", &[Value::Int(9)]), Ok(Value::Null));
    let refused = plane("STPointN", "LINESTRING(0 0, 1 1)", &[Value::Int(0)]).expect_err("no number");
    assert!(
        refused.message.contains("24102: ") && refused.message.contains("Parameter name: n"),
        "{}",
        refused.message
    );
    let refused = plane("STArea", "POLYGON((0 0, 2 2, 0 2, 2 0, 0 0))", &[]).expect_err("an invalid one");
    assert!(refused.message.contains("System.ArgumentException: 24144: "), "{}", refused.message);
    let turned = earth("ReorientObject", "POLYGON((0 0,1 0,1 1,0 1,0 0))", &[]);
    assert_eq!(turned.map(text).as_deref(), Ok("POLYGON ((0 0, 0 1, 1 1, 1 0, 0 0))"));
}

#[test]
fn well_known_binary_is_that_of_sql_server() {
    let hex = |value: Value| match value {
        Value::Bin(bytes) => bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>(),
        other => format!("{other:?}"),
    };
    for (name, of, expected) in [
        ("STAsBinary", "POINT(1 2 3 4)", "0101000000000000000000F03F0000000000000040"),
        ("AsBinaryZM", "POINT(1 2 3 4)", "01B90B0000000000000000F03F000000000000004000000000000008400000000000001040"),
        (
            "STAsBinary",
            "LINESTRING(0 0,1 1)",
            "01020000000200000000000000000000000000000000000000000000000000F03F000000000000F03F",
        ),
    ] {
        assert_eq!(hex(plane(name, of, &[]).expect(name)), expected, "{name} {of}");
    }
    for of in [
        "POINT EMPTY",
        "POLYGON ((0 0, 0 3, 3 3, 3 0, 0 0), (1 1, 1 2, 2 2, 2 1, 1 1))",
        "MULTIPOINT ((0 0), (1 1))",
        "GEOMETRYCOLLECTION (POINT (1 2), LINESTRING (0 0, 1 1))",
        "COMPOUNDCURVE ((1 0, 0 1), CIRCULARSTRING (0 1, 1 2, 2 1))",
        "CURVEPOLYGON (CIRCULARSTRING (0 0, 2 2, 4 0, 2 -2, 0 0))",
    ] {
        let bytes = plane("STAsBinary", of, &[]).expect(of);
        let read = answer(ClrType::Geometry, Form::Static, "STGeomFromWKB", &Value::Null, &[bytes, Value::Int(0)]);
        assert_eq!(read.map(text).as_deref(), Ok(of));
    }
    let big = Value::Bin(vec![0, 0, 0, 0, 1, 0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0x40, 0, 0, 0, 0, 0, 0, 0]);
    let read = answer(ClrType::Geometry, Form::Static, "STGeomFromWKB", &Value::Null, &[big, Value::Int(0)]);
    assert_eq!(read.map(text).as_deref(), Ok("POINT (1 2)"));
    for bytes in [&[][..], &[1, 1], &[1, 11, 0, 0, 0], &[1, 2, 0, 0, 0, 255, 255, 255, 255]] {
        let read = answer(
            ClrType::Geometry,
            Form::Static,
            "STGeomFromWKB",
            &Value::Null,
            &[Value::Bin(bytes.to_vec()), Value::Int(0)],
        );
        assert!(read.expect_err("no shape").message.contains("24115"), "{bytes:?}");
    }
}

#[test]
fn nulls_and_reference_systems() {
    let null = |name: &str, receiver: &Value, arguments: &[Value]| {
        answer(ClrType::Geometry, Form::Method, name, receiver, arguments)
    };
    let point = shape(ClrType::Geometry, "POINT(1 2)");
    assert_eq!(null("STArea", &Value::Null, &[]), Ok(Value::Null));
    assert_eq!(null("STIntersects", &point, &[Value::Null]), Ok(Value::Null));
    let elsewhere =
        Instance::parse("POINT(1 2)", pikepole_types::spatial::System::Plane, 4326).expect("a point").to_value();
    assert_eq!(null("STIntersects", &point, &[elsewhere]), Ok(Value::Null));
    assert_eq!(null("STBuffer", &point, &[Value::Null]).map_err(|error| error.number), Err(6569));
    let refused = null("STRelate", &point, &[point.clone(), Value::Null]).expect_err("no pattern");
    assert!(refused.message.contains("has 0 characters"), "{}", refused.message);
    let places = [Value::Float(47.6), Value::Float(-122.3), Value::Int(4326)];
    let made = answer(ClrType::Geography, Form::Static, "Point", &Value::Null, &places);
    assert_eq!(made.map(text).as_deref(), Ok("POINT (-122.3 47.6)"));
    for (srid, code) in [(-5, "24100"), (1234, "24204")] {
        let refused = answer(
            ClrType::Geography,
            Form::Static,
            "Point",
            &Value::Null,
            &[Value::Float(1.0), Value::Float(1.0), Value::Int(srid)],
        );
        assert!(refused.expect_err("no system").message.contains(code));
    }
    let moved = answer(ClrType::Geometry, Form::Setter, "STSrid", &point, &[Value::Int(7)]).map(text);
    assert_eq!(moved.as_deref(), Ok("POINT (1 2)"));
}

#[test]
fn places_in_a_tree() {
    let place = |text: &str| Path::parse(text).and_then(|path| path.to_value()).expect(text);
    let call = |name: &str, of: &str, arguments: &[Value]| {
        answer(ClrType::HierarchyId, Form::Method, name, &place(of), arguments)
    };
    assert_eq!(call("GetLevel", "/1/2.5/3/", &[]), Ok(Value::SmallInt(3)));
    assert_eq!(call("GetAncestor", "/1/2/3/", &[Value::Int(1)]).map(text).as_deref(), Ok("/1/2/"));
    assert_eq!(call("GetAncestor", "/1/", &[Value::Int(2)]), Ok(Value::Null));
    assert!(call("GetAncestor", "/1/", &[Value::Int(-1)]).expect_err("no level").message.contains("24011"));
    assert_eq!(call("IsDescendantOf", "/1/2/", &[place("/1/")]), Ok(Value::Bit(true)));
    assert_eq!(call("IsDescendantOf", "/1/2/", &[Value::Null]), Ok(Value::Null));
    assert_eq!(call("GetDescendant", "/1/", &[Value::Null, Value::Null]).map(text).as_deref(), Ok("/1/1/"));
    let moved = call("GetReparentedValue", "/1/2/3/", &[place("/1/"), place("/9/")]);
    assert_eq!(moved.map(text).as_deref(), Ok("/9/2/3/"));
    assert!(find(ClrType::HierarchyId, Form::Method, "getlevel").is_none());
    assert!(!find(ClrType::HierarchyId, Form::Method, "Read").expect("a method").is_there());
}
