//! The earth: reference systems, places as directions, and what shapes on it must keep to.
//!
//! An edge between two places of a `geography` lies in the plane through both and the middle of the earth: a great ellipse. Stretched
//! along its axis the ellipsoid becomes a sphere, planes stay planes, and edges become great circles: so a place is a unit vector here,
//! from its reduced latitude, and all that is asked about edges meeting is asked on the sphere.

use super::{Class, Point, Shape, System};
use crate::error::SqlError;
use std::f64::consts::PI;

/// The form of the earth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ellipsoid {
    /// The greater half axis, in metres.
    pub a: f64,
    /// The lesser one.
    pub b: f64,
}

/// A row of `sys.spatial_reference_systems`.
#[derive(Debug)]
pub struct ReferenceSystem {
    /// Its number, which is EPSG's too.
    pub srid: i32,
    name: &'static str,
    datum: &'static str,
    spheroid: &'static str,
    a: f64,
    inverse_flattening: f64,
}

const fn reference(
    srid: i32,
    name: &'static str,
    datum: &'static str,
    spheroid: (&'static str, f64, f64),
) -> ReferenceSystem {
    ReferenceSystem { srid, name, datum, spheroid: spheroid.0, a: spheroid.1, inverse_flattening: spheroid.2 }
}

const GRS_1980: (&str, f64, f64) = ("GRS 1980", 6_378_137.0, 298.257_222_101);
const INTERNATIONAL: (&str, f64, f64) = ("International 1924", 6_378_388.0, 297.0);

/// The systems that places on the earth may be given in: angles of degrees, lengths of metres.
pub const REFERENCE_SYSTEMS: &[ReferenceSystem] = &[
    reference(4230, "ED50", "European Datum 1950", INTERNATIONAL),
    reference(4258, "ETRS89", "European Terrestrial Reference System 1989", GRS_1980),
    reference(4267, "NAD27", "North American Datum 1927", ("Clarke 1866", 6_378_206.4, 294.978_698_213_901)),
    reference(4269, "NAD83", "North American Datum 1983", GRS_1980),
    reference(4277, "OSGB 1936", "OSGB 1936", ("Airy 1830", 6_377_563.396, 299.324_964_6)),
    reference(4283, "GDA94", "Geocentric Datum of Australia 1994", GRS_1980),
    reference(4322, "WGS 72", "World Geodetic System 1972", ("WGS 72", 6_378_135.0, 298.26)),
    reference(4326, "WGS 84", "World Geodetic System 1984", ("WGS 84", 6_378_137.0, 298.257_223_563)),
    reference(4612, "JGD2000", "Japanese Geodetic Datum 2000", GRS_1980),
];

impl ReferenceSystem {
    /// Its well-known text.
    pub fn well_known_text(&self) -> String {
        let ReferenceSystem { name, datum, spheroid, a, inverse_flattening, .. } = self;
        format!(
            "GEOGCS[\"{name}\", DATUM[\"{datum}\", ELLIPSOID[\"{spheroid}\", {a}, {inverse_flattening}]], PRIMEM[\"Greenwich\", 0], \
             UNIT[\"Degree\", 0.0174532925199433]]"
        )
    }
}

impl Ellipsoid {
    /// The form of a reference system.
    pub fn of(srid: i32) -> Option<Ellipsoid> {
        let system = REFERENCE_SYSTEMS.iter().find(|system| system.srid == srid)?;
        Some(Ellipsoid { a: system.a, b: system.a * (1.0 - 1.0 / system.inverse_flattening) })
    }

    /// The direction of a place on the sphere that the ellipsoid is stretched to.
    pub fn direction(&self, point: &Point) -> Vector {
        let (longitude, latitude) = (point.x.to_radians(), point.y.to_radians());
        // At the poles the tangent has no end; sine and cosine of the reduced latitude have.
        let (sine, cosine) = (self.b * latitude.sin(), self.a * latitude.cos());
        let length = sine.hypot(cosine);
        let (sine, cosine) = (sine / length, cosine / length);
        Vector([cosine * longitude.cos(), cosine * longitude.sin(), sine])
    }

    /// The place of a direction.
    pub fn place(&self, direction: &Vector) -> Point {
        let [x, y, z] = direction.0;
        let latitude = (self.a * z).atan2(self.b * x.hypot(y));
        Point::flat(y.atan2(x).to_degrees(), latitude.to_degrees())
    }
}

/// A vector of three dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector(pub [f64; 3]);

impl Vector {
    /// The product that is a number.
    pub fn dot(&self, other: &Vector) -> f64 {
        self.0.iter().zip(&other.0).map(|(a, b)| a * b).sum()
    }

    /// The product that is a vector.
    #[must_use]
    pub fn cross(&self, other: &Vector) -> Vector {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Vector([b * f - c * e, c * d - a * f, a * e - b * d])
    }

    /// The sum of a part of it and a part of another.
    #[must_use]
    pub fn mix(&self, own: f64, other: &Vector, part: f64) -> Vector {
        let [a, b, c] = self.0;
        let [d, e, f] = other.0;
        Vector([a * own + d * part, b * own + e * part, c * own + f * part])
    }

    /// Its length.
    pub fn length(&self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The same direction, of length 1; None for no direction.
    pub fn unit(&self) -> Option<Vector> {
        let length = self.length();
        (length > 1e-12).then(|| self.mix(1.0 / length, self, 0.0))
    }

    /// The angle between two.
    pub fn angle(&self, other: &Vector) -> f64 {
        self.cross(other).length().atan2(self.dot(other))
    }
}

/// Edges shorter than half a turn by less than this are none.
const ANTIPODAL: f64 = 1e-8;

/// Refuses edges that do not say which way round the earth they go.
pub(super) fn check(shape: &Shape) -> Result<(), SqlError> {
    let ellipsoid = Ellipsoid { a: 1.0, b: 1.0 };
    let antipodal = |points: &[Point]| {
        points.windows(2).any(|edge| {
            let [from, to] = [&edge[0], &edge[1]].map(|point| ellipsoid.direction(point));
            from.angle(&to) > PI - ANTIPODAL
        })
    };
    let mut found = false;
    each_line(shape, &mut |points| found |= antipodal(points));
    if found {
        return Err(System::Earth.refused(
            Class::Geodetic,
            "24206: The specified input cannot be accepted because it contains an edge with antipodal points. For information about using \
             spatial methods with FullGlobe objects, see Types of Spatial Data in SQL Server Books Online.",
        ));
    }
    Ok(())
}

/// The lines and rings of a shape.
fn each_line(shape: &Shape, visit: &mut impl FnMut(&[Point])) {
    match shape {
        Shape::Line(points) => visit(points),
        Shape::Polygon(rings) => rings.iter().for_each(|ring| visit(ring)),
        _ => shape.members().unwrap_or_default().iter().for_each(|member| each_line(member, visit)),
    }
}

/// Whether a shape covers more than half of the earth, or all of it.
pub(super) fn is_large(shape: &Shape) -> bool {
    let mut area = 0.0;
    each_polygon(shape, &mut |rings| {
        area += rings.iter().map(|ring| steradians(ring)).sum::<f64>() - 4.0 * PI * (rings.len() - 1) as f64
    });
    *shape == Shape::FullGlobe || area > 2.0 * PI
}

fn each_polygon(shape: &Shape, visit: &mut impl FnMut(&[Vec<Point>])) {
    match shape {
        Shape::Polygon(rings) if !rings.is_empty() => visit(rings),
        _ => shape.members().unwrap_or_default().iter().for_each(|member| each_polygon(member, visit)),
    }
}

/// What lies to the left of a ring on the unit sphere, which has 4π: what lies between its edges and the equator, added up.
pub(super) fn steradians(ring: &[Point]) -> f64 {
    let (mut area, mut turn) = (0.0, 0.0);
    for edge in ring.windows(2) {
        let mut east = (edge[1].x - edge[0].x).to_radians() % (2.0 * PI);
        if east > PI {
            east -= 2.0 * PI;
        } else if east <= -PI {
            east += 2.0 * PI;
        }
        let [from, to] = [&edge[0], &edge[1]].map(|point| (point.y.to_radians() / 2.0).tan());
        area -= 2.0 * ((east / 2.0).tan() * (from + to)).atan2(1.0 + from * to);
        turn += east;
    }
    if turn.abs() > PI {
        area += 2.0 * PI;
    }
    area.rem_euclid(4.0 * PI)
}

/// How far from the middle of what is looked at a place may be.
const VIEW: f64 = 1.4;

/// A view from the middle of the earth onto a plane that touches the sphere: great circles are straight lines there. It shows less than
/// half of the earth.
#[derive(Debug, Clone, Copy)]
pub struct View {
    ellipsoid: Ellipsoid,
    axes: [Vector; 3],
}

impl View {
    /// The view that has all these points; None when they are too far apart.
    pub fn of(ellipsoid: Ellipsoid, points: &[Point]) -> Option<View> {
        let directions: Vec<Vector> = points.iter().map(|point| ellipsoid.direction(point)).collect();
        let sum = directions.iter().fold(Vector([0.0; 3]), |sum, next| sum.mix(1.0, next, 1.0));
        let middle = sum.unit()?;
        if directions.iter().any(|direction| direction.angle(&middle) > VIEW) {
            return None;
        }
        // East of the middle; at a pole any direction will do.
        let east = Vector([0.0, 0.0, 1.0]).cross(&middle).unit().unwrap_or(Vector([1.0, 0.0, 0.0]));
        let north = middle.cross(&east);
        Some(View { ellipsoid, axes: [east, north, middle] })
    }

    /// Where a place is seen.
    pub fn seen(&self, point: &Point) -> Point {
        let direction = self.ellipsoid.direction(point);
        let [x, y, z] = self.axes.map(|axis| axis.dot(&direction));
        Point { x: x / z, y: y / z, ..*point }
    }

    /// The place that is seen somewhere.
    pub fn place(&self, seen: &Point) -> Point {
        let [east, north, middle] = &self.axes;
        let direction = middle.mix(1.0, east, seen.x).mix(1.0, north, seen.y);
        let place = self.ellipsoid.place(&direction);
        Point { z: seen.z, m: seen.m, ..place }
    }
}

impl Shape {
    /// The same shape with other points.
    #[must_use]
    pub fn mapped(&self, map: &impl Fn(&Point) -> Point) -> Shape {
        let line = |points: &[Point]| points.iter().map(map).collect::<Vec<Point>>();
        let list = |shapes: &[Shape]| shapes.iter().map(|shape| shape.mapped(map)).collect::<Vec<Shape>>();
        match self {
            Shape::Point(point) => Shape::Point(point.as_ref().map(map)),
            Shape::Line(points) => Shape::Line(line(points)),
            Shape::Arcs(points) => Shape::Arcs(line(points)),
            Shape::Polygon(rings) => Shape::Polygon(rings.iter().map(|ring| line(ring)).collect()),
            Shape::Compound(curves) => Shape::Compound(
                curves.iter().map(|curve| super::Curve { arc: curve.arc, points: line(&curve.points) }).collect(),
            ),
            Shape::CurvePolygon(rings) => Shape::CurvePolygon(list(rings)),
            Shape::MultiPoint(members) => Shape::MultiPoint(list(members)),
            Shape::MultiLine(members) => Shape::MultiLine(list(members)),
            Shape::MultiPolygon(members) => Shape::MultiPolygon(list(members)),
            Shape::Collection(members) => Shape::Collection(list(members)),
            Shape::FullGlobe => Shape::FullGlobe,
        }
    }
}

/// A shape as it is seen from the middle of the earth; None for one that is too large for that.
pub(super) fn flattened(shape: &Shape) -> Option<Shape> {
    let view = View::of(Ellipsoid { a: 1.0, b: 1.0 }, &shape.points())?;
    Some(shape.mapped(&|point| view.seen(point)))
}
