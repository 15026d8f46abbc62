//! Shapes of the plane as the crate `geo` knows them, and back.
//!
//! A shape of the earth comes here as it is seen from the middle of the earth, where edges are straight ([`View`]); what comes out goes
//! back the same way. Heights and measures stay behind. Arcs are not known here, and refused by name.

use crate::Call;
use geo::{Coord, Geometry, LineString, MultiLineString, MultiPoint, MultiPolygon, Polygon};
use pikepole_types::SqlError;
use pikepole_types::spatial::{Class, Ellipsoid, Instance, Point, Shape, System, View};

/// What is looked at from one place.
pub(super) struct Plane {
    view: Option<View>,
}

impl Plane {
    /// The plane of these instances.
    ///
    /// # Errors
    /// 6522 for arcs, and for what lies too far apart on the earth.
    pub(super) fn of(call: &Call<'_>, instances: &[&Instance]) -> Result<Plane, SqlError> {
        if instances.iter().any(|instance| instance.shape.is_curved()) {
            return Err(not_there(call, "circular arcs"));
        }
        if call.system() == System::Plane {
            return Ok(Plane { view: None });
        }
        let large = |instance: &&Instance| instance.to_bytes().get(5).is_some_and(|properties| properties & 32 != 0);
        if instances.iter().any(|instance| instance.shape == Shape::FullGlobe || large(instance)) {
            return Err(not_there(call, "instances larger than a hemisphere"));
        }
        let points: Vec<Point> = instances.iter().flat_map(|instance| instance.shape.points()).collect();
        let Some(ellipsoid) = instances.first().and_then(|instance| Ellipsoid::of(instance.srid)) else {
            return Err(not_there(call, "this reference system"));
        };
        if points.is_empty() {
            return Ok(Plane { view: None });
        }
        let view = View::of(ellipsoid, &points)
            .ok_or_else(|| not_there(call, "instances that are farther apart than a hemisphere"))?;
        Ok(Plane { view: Some(view) })
    }

    /// A shape as it is seen.
    pub(super) fn seen(&self, instance: &Instance) -> Geometry {
        let place = |point: &Point| {
            let seen = self.view.as_ref().map_or(*point, |view| view.seen(point));
            Coord { x: seen.x, y: seen.y }
        };
        geometry(&instance.shape, &place)
    }

    /// The shape that is seen so.
    pub(super) fn shape(&self, geometry: &Geometry) -> Shape {
        let place = |coord: &Coord| {
            let point = Point::flat(coord.x + 0.0, coord.y + 0.0);
            self.view.as_ref().map_or(point, |view| view.place(&point))
        };
        shape(geometry, &place)
    }
}

/// Error 6522 for what is known and not there, by its name.
pub(super) fn not_there(call: &Call<'_>, what: &str) -> SqlError {
    call.refused(Class::Argument, &format!("This operation on {what} is not supported in this version of Pikepole."))
}

fn line(points: &[Point], place: &impl Fn(&Point) -> Coord) -> LineString {
    points.iter().map(place).collect()
}

fn polygon(rings: &[Vec<Point>], place: &impl Fn(&Point) -> Coord) -> Polygon {
    let mut rings = rings.iter().map(|ring| line(ring, place));
    let outer = rings.next().unwrap_or_else(|| LineString::new(Vec::new()));
    Polygon::new(outer, rings.collect())
}

fn geometry(shape: &Shape, place: &impl Fn(&Point) -> Coord) -> Geometry {
    let lines = |list: &[Shape]| {
        let lines = list.iter().filter_map(|member| match member {
            Shape::Line(points) if !points.is_empty() => Some(line(points, place)),
            _ => None,
        });
        lines.collect::<Vec<_>>()
    };
    match shape {
        Shape::Point(Some(point)) => Geometry::Point(place(point).into()),
        Shape::Line(points) => Geometry::LineString(line(points, place)),
        Shape::Polygon(rings) => Geometry::Polygon(polygon(rings, place)),
        Shape::MultiPoint(_) => {
            Geometry::MultiPoint(MultiPoint::new(shape.points().iter().map(|point| place(point).into()).collect()))
        }
        Shape::MultiLine(list) => Geometry::MultiLineString(MultiLineString::new(lines(list))),
        Shape::MultiPolygon(list) => {
            let polygons = list.iter().filter_map(|member| match member {
                Shape::Polygon(rings) if !rings.is_empty() => Some(polygon(rings, place)),
                _ => None,
            });
            Geometry::MultiPolygon(MultiPolygon::new(polygons.collect()))
        }
        Shape::Collection(list) => {
            let members = list.iter().filter(|member| !member.is_empty()).map(|member| geometry(member, place));
            Geometry::GeometryCollection(geo::GeometryCollection::new_from(members.collect()))
        }
        _ => Geometry::GeometryCollection(geo::GeometryCollection::new_from(Vec::new())),
    }
}

fn shape(geometry: &Geometry, place: &impl Fn(&Coord) -> Point) -> Shape {
    let line = |line: &LineString| line.coords().map(place).collect::<Vec<Point>>();
    let rings = |polygon: &Polygon| {
        // The outer ring goes round to the left, and holes to the right.
        let outer = std::iter::once((polygon.exterior(), true));
        let all = outer.chain(polygon.interiors().iter().map(|hole| (hole, false)));
        all.map(|(ring, left)| {
            let mut points = line(ring);
            if is_left(ring) != left {
                points.reverse();
            }
            points
        })
        .collect::<Vec<_>>()
    };
    match geometry {
        Geometry::Point(point) => Shape::Point(Some(place(&point.0))),
        Geometry::LineString(own) => Shape::Line(line(own)),
        Geometry::Polygon(own) => Shape::Polygon(rings(own)),
        Geometry::MultiPoint(points) => {
            Shape::MultiPoint(points.iter().map(|point| Shape::Point(Some(place(&point.0)))).collect())
        }
        Geometry::MultiLineString(lines) => Shape::MultiLine(lines.iter().map(|own| Shape::Line(line(own))).collect()),
        Geometry::MultiPolygon(list) => {
            Shape::MultiPolygon(list.iter().map(|own| Shape::Polygon(rings(own))).collect())
        }
        Geometry::GeometryCollection(list) => {
            Shape::Collection(list.iter().map(|member| shape(member, place)).collect())
        }
        Geometry::Line(own) => Shape::Line(vec![place(&own.start), place(&own.end)]),
        Geometry::Rect(own) => Shape::Polygon(rings(&own.to_polygon())),
        Geometry::Triangle(own) => Shape::Polygon(rings(&own.to_polygon())),
    }
}

/// Whether a ring goes round to the left.
fn is_left(ring: &LineString) -> bool {
    ring.lines().map(|line| line.determinant()).sum::<f64>() > 0.0
}
