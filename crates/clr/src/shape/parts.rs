//! What a shape is, and its parts.

use super::{count, part};
use crate::{Answer, Call};
use pikepole_types::Value;
use pikepole_types::spatial::{Class, Curve, Instance, Meeting, Point, Segment, Shape, System, meeting};

/// The dimension: -1 for nothing.
pub(super) fn dimension(shape: &Shape) -> i32 {
    match shape {
        Shape::FullGlobe => 2,
        _ if shape.is_empty() => -1,
        Shape::Point(_) | Shape::MultiPoint(_) => 0,
        Shape::Line(_) | Shape::MultiLine(_) | Shape::Arcs(_) | Shape::Compound(_) => 1,
        Shape::Polygon(_) | Shape::MultiPolygon(_) | Shape::CurvePolygon(_) => 2,
        Shape::Collection(list) => list.iter().map(dimension).max().unwrap_or(-1),
    }
}

/// The kinds that `InstanceOf` knows; what is one of them is also what stands behind it.
const KINDS: [(&str, &[&str]); 16] = [
    ("Geometry", &[]),
    ("Point", &["Geometry"]),
    ("Curve", &["Geometry"]),
    ("LineString", &["Curve", "Geometry"]),
    ("CircularString", &["Curve", "Geometry"]),
    ("CompoundCurve", &["Curve", "Geometry"]),
    ("Surface", &["Geometry"]),
    ("Polygon", &["Surface", "Geometry"]),
    ("CurvePolygon", &["Surface", "Geometry"]),
    ("GeometryCollection", &["Geometry"]),
    ("MultiSurface", &["GeometryCollection", "Geometry"]),
    ("MultiPolygon", &["MultiSurface", "GeometryCollection", "Geometry"]),
    ("MultiCurve", &["GeometryCollection", "Geometry"]),
    ("MultiLineString", &["MultiCurve", "GeometryCollection", "Geometry"]),
    ("MultiPoint", &["GeometryCollection", "Geometry"]),
    ("FullGlobe", &["Surface", "Geometry"]),
];

pub(super) fn instance_of(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let asked = call.text(0);
    let known = KINDS.iter().any(|(name, _)| name.eq_ignore_ascii_case(asked));
    if !known || call.system() == System::Plane && asked.eq_ignore_ascii_case("FullGlobe") {
        return Err(call.refused(
            Class::Argument,
            &format!(
                "24105: The geometryType argument in InstanceOf ('{asked}') is not valid. This argument must contain one of the following \
                 types: Geometry, Point, LineString, Curve, Polygon, Surface, MultiPoint, MultiLineString, MultiPolygon, MultiCurve, \
                 MultiSurface, GeometryCollection, CircularString, CompoundCurve, CurvePolygon or FullGlobe (geography Data Type only)."
            ),
        ));
    }
    let kind = own.shape.kind();
    let above = KINDS.iter().find(|(name, _)| *name == kind).map_or(&[][..], |(_, above)| above);
    let is = |name: &&str| name.eq_ignore_ascii_case(asked);
    Ok(Value::Bit(is(&kind) || above.iter().any(is)))
}

fn ends_meet(points: &[Point]) -> bool {
    points.first().zip(points.last()).is_some_and(|(first, last)| first.is_at(last))
}

/// Whether each part ends where it begins; polygons do, points do not.
pub(super) fn is_closed(shape: &Shape) -> bool {
    match shape {
        Shape::Point(_) => false,
        Shape::Line(_) | Shape::Arcs(_) | Shape::Compound(_) => ends_meet(&shape.points()),
        Shape::Polygon(rings) => !rings.is_empty(),
        Shape::CurvePolygon(rings) => !rings.is_empty(),
        Shape::FullGlobe => true,
        _ => shape.members().is_some_and(|list| !list.is_empty() && list.iter().all(is_closed)),
    }
}

pub(super) fn is_ring(call: &Call<'_>) -> Answer {
    let own = call.any()?;
    Ok(match &own.shape {
        Shape::Line(points) => Value::Bit(ends_meet(points) && is_simple_line(points)),
        _ => Value::Null,
    })
}

pub(super) fn is_simple(call: &Call<'_>) -> Answer {
    fn simple(shape: &Shape) -> bool {
        match shape {
            Shape::Line(points) => is_simple_line(points),
            Shape::MultiPoint(list) => {
                let points: Vec<Point> = list.iter().flat_map(Shape::points).collect();
                points.iter().enumerate().all(|(at, point)| !points[..at].iter().any(|other| other.is_at(point)))
            }
            Shape::MultiLine(list) => list.iter().all(simple) && meet_at_ends_only(list),
            _ => shape.members().is_none_or(|list| list.iter().all(simple)),
        }
    }
    Ok(Value::Bit(simple(&call.own()?.shape)))
}

fn segments(points: &[Point]) -> Vec<Segment> {
    let place = |point: &Point| [point.x, point.y];
    let ends = points.windows(2).filter(|ends| !ends[0].is_at(&ends[1]));
    ends.map(|ends| Segment { from: place(&ends[0]), to: place(&ends[1]) }).collect()
}

/// Whether a line comes to no place twice, but for its ends.
fn is_simple_line(points: &[Point]) -> bool {
    let list = segments(points);
    let last = list.len().saturating_sub(1);
    list.iter().enumerate().all(|(at, one)| {
        list[at + 1..].iter().enumerate().all(|(further, other)| match meeting(one, other) {
            Meeting::Apart => true,
            Meeting::Touch(place) => {
                further == 0 && place == one.to
                    || at == 0 && at + 1 + further == last && place == one.from && place == other.to
            }
            Meeting::Cross | Meeting::Stretch => false,
        })
    })
}

fn meet_at_ends_only(lines: &[Shape]) -> bool {
    let lines: Vec<Vec<Point>> = lines.iter().map(Shape::points).collect();
    let is_end = |points: &[Point], place: [f64; 2]| {
        !ends_meet(points) && [points.first(), points.last()].into_iter().flatten().any(|end| [end.x, end.y] == place)
    };
    lines.iter().enumerate().all(|(at, one)| {
        lines[at + 1..].iter().all(|other| {
            segments(one).iter().all(|first| {
                segments(other).iter().all(|second| match meeting(first, second) {
                    Meeting::Apart => true,
                    Meeting::Touch(place) => is_end(one, place) && is_end(other, place),
                    Meeting::Cross | Meeting::Stretch => false,
                })
            })
        })
    })
}

/// Numbers count from 1.
fn number(call: &Call<'_>, text: impl Fn(i32) -> String) -> Result<usize, pikepole_types::SqlError> {
    match usize::try_from(call.int(0)) {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(call.refused(Class::OutOfRange, &format!("{}\r\nParameter name: n", text(call.int(0))))),
    }
}

pub(super) fn point_n(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let number = number(call, |n| {
        format!(
            "24102: The point index n ({n}) passed to STPointN is less than 1. This number must be greater than or equal to 1 and less than \
             or equal to the number of points returned by STNumPoints."
        )
    })?;
    let points = own.shape.points();
    points.get(number - 1).map_or(Ok(Value::Null), |point| part(&own, Shape::Point(Some(*point))))
}

/// The members of a collection; of another shape that is not empty, itself.
pub(super) fn members(shape: &Shape) -> Vec<&Shape> {
    match shape.members() {
        Some(list) => list.iter().collect(),
        None if shape.is_empty() => Vec::new(),
        None => vec![shape],
    }
}

pub(super) fn geometry_n(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let number = number(call, |n| {
        format!(
            "24103: The geometry index n ({n}) passed to STGeometryN is less than 1. The number must be greater than or equal to 1 and \
             should be less than or equal to the number of instances returned by STNumGeometries."
        )
    })?;
    members(&own.shape).get(number - 1).map_or(Ok(Value::Null), |member| part(&own, (*member).clone()))
}

/// The rings of a polygon, as lines.
fn rings(shape: &Shape) -> Option<Vec<Shape>> {
    match shape {
        Shape::Polygon(rings) => Some(rings.iter().cloned().map(Shape::Line).collect()),
        Shape::CurvePolygon(rings) => Some(rings.clone()),
        _ => None,
    }
}

pub(super) fn ring(own: &Instance, at: usize) -> Answer {
    let found = rings(&own.shape).and_then(|rings| rings.into_iter().nth(at));
    found.map_or(Ok(Value::Null), |ring| part(own, ring))
}

pub(super) fn hole_count(call: &Call<'_>) -> Answer {
    match rings(&call.own()?.shape) {
        None => Ok(Value::Null),
        Some(rings) => count(rings.len().saturating_sub(1)),
    }
}

pub(super) fn ring_count(call: &Call<'_>) -> Answer {
    rings(&call.own()?.shape).map_or(Ok(Value::Null), |rings| count(rings.len()))
}

/// A ring by its number; the outer one has the number `first`.
pub(super) fn ring_n(call: &Call<'_>, first: usize) -> Answer {
    let own = call.own()?;
    let number = number(call, |n| {
        format!(
            "24104: The ring index n ({n}) passed to STInteriorRingN is less than 1. The number must be greater than or equal to 1 and \
             should be less than or equal to the number of rings returned by STNumInteriorRing."
        )
    })?;
    ring(&own, number - first)
}

/// The same rings, wound the other way: all that the polygon has not had.
pub(super) fn reoriented(call: &Call<'_>) -> Answer {
    fn turned(shape: &Shape) -> Shape {
        let back = |points: &[Point]| points.iter().rev().copied().collect::<Vec<Point>>();
        match shape {
            Shape::Polygon(rings) => Shape::Polygon(rings.iter().map(|ring| back(ring)).collect()),
            Shape::CurvePolygon(rings) => Shape::CurvePolygon(
                rings
                    .iter()
                    .map(|ring| match ring {
                        Shape::Line(points) => Shape::Line(back(points)),
                        Shape::Arcs(points) => Shape::Arcs(back(points)),
                        Shape::Compound(curves) => Shape::Compound(
                            curves
                                .iter()
                                .rev()
                                .map(|curve| Curve { arc: curve.arc, points: back(&curve.points) })
                                .collect(),
                        ),
                        other => other.clone(),
                    })
                    .collect(),
            ),
            Shape::MultiPolygon(list) => Shape::MultiPolygon(list.iter().map(turned).collect()),
            Shape::Collection(list) => Shape::Collection(list.iter().map(turned).collect()),
            other => other.clone(),
        }
    }
    let own = call.own()?;
    part(&own, turned(&own.shape))
}
