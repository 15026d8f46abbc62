//! Shapes as well-known text.

use super::{Curve, Instance, Point, Shape};
use std::fmt::Write;

impl Instance {
    /// The text of the shape, with heights and measures if asked for.
    pub fn to_text(&self, all: bool) -> String {
        let mut out = String::new();
        tagged(&self.shape, all, &mut out);
        out
    }
}

fn tagged(shape: &Shape, all: bool, out: &mut String) {
    out.push_str(&shape.kind().to_ascii_uppercase());
    if *shape != Shape::FullGlobe {
        out.push(' ');
        body(shape, all, out);
    }
}

fn body(shape: &Shape, all: bool, out: &mut String) {
    match shape {
        Shape::Point(Some(only)) => list(std::slice::from_ref(only), out, |one, out| point(one, all, out)),
        Shape::Line(points) | Shape::Arcs(points) => list(points, out, |one, out| point(one, all, out)),
        Shape::Polygon(rings) => list(rings, out, |ring, out| list(ring, out, |one, out| point(one, all, out))),
        Shape::MultiPoint(members) | Shape::MultiLine(members) | Shape::MultiPolygon(members) => {
            list(members, out, |member, out| body(member, all, out));
        }
        Shape::Collection(members) => list(members, out, |member, out| tagged(member, all, out)),
        Shape::Compound(curves) => list(curves, out, |curve, out| part(curve, all, out)),
        Shape::CurvePolygon(rings) => list(rings, out, |ring, out| match ring {
            Shape::Line(_) => body(ring, all, out),
            _ => tagged(ring, all, out),
        }),
        Shape::Point(None) | Shape::FullGlobe => out.push_str("EMPTY"),
    }
}

fn part(curve: &Curve, all: bool, out: &mut String) {
    if curve.arc {
        out.push_str("CIRCULARSTRING ");
    }
    list(&curve.points, out, |one, out| point(one, all, out));
}

fn list<T>(items: &[T], out: &mut String, mut item: impl FnMut(&T, &mut String)) {
    if items.is_empty() {
        return out.push_str("EMPTY");
    }
    for (at, one) in items.iter().enumerate() {
        out.push_str(if at == 0 { "(" } else { ", " });
        item(one, out);
    }
    out.push(')');
}

fn point(point: &Point, all: bool, out: &mut String) {
    number(point.x, out);
    out.push(' ');
    number(point.y, out);
    let more: &[Option<f64>] = match (point.z, point.m) {
        _ if !all => &[],
        (None, None) => &[],
        (z, None) => &[z],
        (z, m) => &[z, m],
    };
    for each in more {
        out.push(' ');
        match each {
            Some(each) => number(*each, out),
            None => out.push_str("NULL"),
        }
    }
}

/// A number in 15 digits when those are read as the same one, else in 17, without zeros at its end; with an exponent where it has
/// more places than that or begins behind four zeros. So .NET writes what is to be read again.
pub fn number_text(number: f64) -> String {
    let mut out = String::new();
    self::number(number, &mut out);
    out
}

fn number(number: f64, out: &mut String) {
    if number == 0.0 {
        return out.push('0');
    }
    let in_digits = |count: usize| format!("{:.*e}", count - 1, number.abs());
    let short = in_digits(15);
    let (scientific, precision) = if short.parse() == Ok(number.abs()) { (short, 15) } else { (in_digits(17), 17) };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let digits: String = mantissa.chars().filter(char::is_ascii_digit).collect();
    let digits = digits.trim_end_matches('0');
    if number < 0.0 {
        out.push('-');
    }
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    if (-4..0).contains(&exponent) {
        out.push_str("0.");
        out.push_str(&zeros(-exponent - 1));
        out.push_str(digits);
    } else if (0..precision).contains(&exponent) {
        let (whole, fraction) = digits.split_at(digits.len().min(exponent as usize + 1));
        out.push_str(whole);
        out.push_str(&zeros(exponent + 1 - whole.len() as i32));
        with_fraction(fraction, out);
    } else {
        let (whole, fraction) = digits.split_at(1);
        out.push_str(whole);
        with_fraction(fraction, out);
        let sign = if exponent < 0 { '-' } else { '+' };
        // A write to a string does not fail.
        let _ = write!(out, "E{sign}{:02}", exponent.abs());
    }
}

fn with_fraction(fraction: &str, out: &mut String) {
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
}

#[cfg(test)]
mod tests {
    use super::number_text;

    #[test]
    fn numbers_have_fifteen_digits_or_seventeen() {
        let texts = [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-122.36, "-122.36"),
            (0.1 + 0.2, "0.30000000000000004"),
            // Sixteen digits would do.
            (47.653_000_000_000_006, "47.653000000000006"),
            (0.123_456_789_012_345_6, "0.12345678901234559"),
            (1e14, "100000000000000"),
            (1e15, "1E+15"),
            (-1.5e15, "-1.5E+15"),
            (1_234_567_890_123_456.0, "1234567890123456"),
            (0.000_1, "0.0001"),
            (0.000_012_5, "1.25E-05"),
            (1e100, "1E+100"),
            (f64::MAX, "1.7976931348623157E+308"),
        ];
        for (number, text) in texts {
            assert_eq!(number_text(number), text);
            assert_eq!(text.parse(), Ok(number));
        }
    }
}
