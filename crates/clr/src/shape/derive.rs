//! Shapes that are made of one: envelopes, borders, centres, hulls, buffers, what is left of fewer points.

use super::part;
use super::planar::{Plane, not_there};
use crate::{Answer, Call};
use geo::Geometry;
use geo::buffer::{BufferStyle, LineCap, LineJoin};
use geo::{BoundingRect, Buffer, Centroid, ConvexHull, InteriorPoint, Simplify};
use pikepole_types::Value;
use pikepole_types::spatial::{Class, Ellipsoid, Point, Shape, System, Vector, number_text};

/// What an empty shape is made into.
const NOTHING: Shape = Shape::Collection(Vec::new());

pub(super) fn envelope(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let Some(bounds) = Plane::of(call, &[&own])?.seen(&own).bounding_rect() else { return part(&own, NOTHING) };
    let (low, high) = (bounds.min(), bounds.max());
    let corner = |x: f64, y: f64| Point::flat(x, y);
    let shape = match (low.x == high.x, low.y == high.y) {
        (true, true) => Shape::Point(Some(corner(low.x, low.y))),
        (false, false) => {
            let ring = [(low.x, low.y), (high.x, low.y), (high.x, high.y), (low.x, high.y), (low.x, low.y)];
            Shape::Polygon(vec![ring.into_iter().map(|(x, y)| corner(x, y)).collect()])
        }
        _ => Shape::Line(vec![corner(low.x, low.y), corner(high.x, high.y)]),
    };
    part(&own, shape)
}

pub(super) fn boundary(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    if own.shape.is_curved() {
        return Err(not_there(call, "circular arcs"));
    }
    let (mut lines, mut rings) = (Vec::new(), Vec::new());
    borders(&own.shape, &mut lines, &mut rings);
    // An end is a border where an odd number of lines end.
    let mut ends: Vec<Point> = Vec::new();
    for line in lines {
        for end in [line[line.len() - 1], line[0]] {
            match ends.iter().position(|known| known.is_at(&end)) {
                Some(at) => drop(ends.remove(at)),
                None => ends.push(Point::flat(end.x, end.y)),
            }
        }
    }
    let shape = match (rings.len(), ends.len()) {
        (0, 0) => NOTHING,
        (0, 1) => Shape::Point(Some(ends[0])),
        (0, _) => Shape::MultiPoint(ends.into_iter().map(|end| Shape::Point(Some(end))).collect()),
        (1, 0) => Shape::Line(rings.remove(0)),
        (_, 0) => Shape::MultiLine(rings.into_iter().map(Shape::Line).collect()),
        _ => {
            let rings = rings.into_iter().map(Shape::Line);
            Shape::Collection(rings.chain(ends.into_iter().map(|end| Shape::Point(Some(end)))).collect())
        }
    };
    part(&own, shape)
}

fn borders(shape: &Shape, lines: &mut Vec<Vec<Point>>, rings: &mut Vec<Vec<Point>>) {
    match shape {
        Shape::Line(points) if !points.is_empty() => lines.push(points.clone()),
        Shape::Polygon(own) => rings.extend(own.iter().cloned()),
        _ => shape.members().unwrap_or_default().iter().for_each(|member| borders(member, lines, rings)),
    }
}

pub(super) fn centroid(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let seen = Plane::of(call, &[&own])?.seen(&own);
    let found = match &seen {
        Geometry::Polygon(area) => area.centroid(),
        Geometry::MultiPolygon(areas) => areas.centroid(),
        _ => None,
    };
    found.map_or(Ok(Value::Null), |point| part(&own, Shape::Point(Some(Point::flat(point.x(), point.y())))))
}

pub(super) fn point_on_surface(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let found = Plane::of(call, &[&own])?.seen(&own).interior_point();
    found.map_or(Ok(Value::Null), |point| part(&own, Shape::Point(Some(Point::flat(point.x(), point.y())))))
}

pub(super) fn convex_hull(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    if own.shape.is_empty() {
        return part(&own, NOTHING);
    }
    let plane = Plane::of(call, &[&own])?;
    let hull = plane.seen(&own).convex_hull();
    let mut places: Vec<_> = hull.exterior().coords().copied().collect();
    places.dedup();
    let degenerate = match places.as_slice() {
        [only] => Some(Geometry::Point((*only).into())),
        [from, to] | [from, to, _] => Some(Geometry::LineString(vec![*from, *to].into())),
        _ => None,
    };
    part(&own, plane.shape(&degenerate.unwrap_or(Geometry::Polygon(hull))))
}

pub(super) fn reduced(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let tolerance = call.float(0);
    if tolerance < 0.0 {
        return Err(call.refused(
            Class::OutOfRange,
            &format!(
                "24125: The tolerance ({}) passed to Reduce is not valid. Tolerances must be positive numbers.\r\nParameter name: tolerance",
                number_text(tolerance)
            ),
        ));
    }
    if call.system() == System::Earth {
        return Err(not_there(call, "the earth"));
    }
    let plane = Plane::of(call, &[&own])?;
    fn simple(geometry: Geometry, tolerance: f64) -> Geometry {
        match geometry {
            Geometry::LineString(line) => Geometry::LineString(line.simplify(tolerance)),
            Geometry::MultiLineString(lines) => Geometry::MultiLineString(lines.simplify(tolerance)),
            Geometry::Polygon(area) => Geometry::Polygon(area.simplify(tolerance)),
            Geometry::MultiPolygon(areas) => Geometry::MultiPolygon(areas.simplify(tolerance)),
            Geometry::GeometryCollection(list) => {
                let members = list.into_iter().map(|member| simple(member, tolerance)).collect();
                Geometry::GeometryCollection(geo::GeometryCollection::new_from(members))
            }
            other => other,
        }
    }
    part(&own, plane.shape(&simple(plane.seen(&own), tolerance)))
}

/// How much nearer than the distance an edge of a buffer may come, as a part of the distance.
const BUFFER_TOLERANCE: f64 = 0.001;

pub(super) fn buffer(call: &Call<'_>) -> Answer {
    buffered(call, BUFFER_TOLERANCE)
}

/// `BufferWithTolerance(distance, tolerance, relative)`
pub(super) fn buffer_with_tolerance(call: &Call<'_>) -> Answer {
    let tolerance = call.float(1);
    if tolerance <= 0.0 {
        return Err(call.refused(
            Class::OutOfRange,
            &format!(
                "24108: The tolerance ({}) passed to BufferWithTolerance is not valid. Tolerances must be positive numbers.\r\nParameter \
                 name: tolerance",
                number_text(tolerance)
            ),
        ));
    }
    let relative = call.arguments.get(2) == Some(&Value::Bit(true));
    buffered(call, if relative { tolerance } else { tolerance / call.float(0).abs().max(f64::MIN_POSITIVE) })
}

fn buffered(call: &Call<'_>, tolerance: f64) -> Answer {
    let own = call.own()?;
    let distance = call.float(0);
    if distance == 0.0 || own.shape.is_empty() {
        return if own.shape.is_empty() { part(&own, NOTHING) } else { Ok(own.to_value()) };
    }
    // An edge between two places of a circle is nearest in its middle.
    let angle = 2.0 * (1.0 - tolerance.clamp(1e-6, 0.5)).acos();
    if let (System::Earth, Some(earth)) = (call.system(), Ellipsoid::of(own.srid)) {
        return match &own.shape {
            Shape::Point(Some(point)) if distance > 0.0 && distance < earth.b => {
                part(&own, circle(&earth, point, distance, angle))
            }
            _ => Err(not_there(call, "the earth, of others than points")),
        };
    }
    let plane = Plane::of(call, &[&own])?;
    let style = BufferStyle::new(distance).line_join(LineJoin::Round(angle)).line_cap(LineCap::Round(angle));
    let mut areas = plane.seen(&own).buffer_with_style(style).0;
    let geometry = match areas.len() {
        0 => return part(&own, NOTHING),
        1 => Geometry::Polygon(areas.swap_remove(0)),
        _ => Geometry::MultiPolygon(geo::MultiPolygon::new(areas)),
    };
    part(&own, plane.shape(&geometry))
}

/// The places around a point of the earth at a distance, to the left.
fn circle(earth: &Ellipsoid, point: &Point, distance: f64, angle: f64) -> Shape {
    let count = (std::f64::consts::TAU / angle).ceil().max(8.0);
    let middle = earth.direction(point);
    let east = Vector([0.0, 0.0, 1.0]).cross(&middle).unit().unwrap_or(Vector([1.0, 0.0, 0.0]));
    let north = middle.cross(&east);
    let mut ring: Vec<Point> = (0..count as usize)
        .map(|number| {
            let bearing = std::f64::consts::TAU * number as f64 / count;
            let ahead = east.mix(bearing.cos(), &north, bearing.sin());
            let reached = super::measure::angle_of(earth, &middle, &ahead, distance);
            earth.place(&middle.mix(reached.cos(), &ahead, reached.sin()))
        })
        .collect();
    ring.push(ring[0]);
    Shape::Polygon(vec![ring])
}

pub(super) fn envelope_center(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    let Some(earth) = Ellipsoid::of(own.srid) else { return Ok(Value::Null) };
    let points = own.shape.points();
    let sum = points.iter().fold(Vector([0.0; 3]), |sum, point| sum.mix(1.0, &earth.direction(point), 1.0));
    match sum.unit() {
        None => Ok(Value::Null),
        Some(middle) => part(&own, Shape::Point(Some(earth.place(&middle)))),
    }
}
