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

/// A number in the fewest digits that are read as the same one; with an exponent where it has more than 15 places or begins behind
/// four zeros.
pub fn number_text(number: f64) -> String {
    let mut out = String::new();
    self::number(number, &mut out);
    out
}

fn number(number: f64, out: &mut String) {
    let scientific = format!("{number:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    // A write to a string does not fail.
    let _ = match exponent {
        -4..=14 => write!(out, "{number}"),
        15.. => write!(out, "{digits}E+{exponent:02}"),
        _ => write!(out, "{digits}E-{:02}", -exponent),
    };
}
