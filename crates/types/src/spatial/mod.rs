//! `geometry` and `geography`: shapes, their serialized form and their texts.
//!
//! | for | use |
//! |---|---|
//! | a value's bytes | [`Instance::read`], [`Instance::to_value`] |
//! | well-known text | [`Instance::parse`], [`Instance::to_text`] |
//! | whether a shape is what its kind asks for | `valid` |
//!
//! A point has `x` and `y`; on the earth these are longitude and latitude, in degrees, as in texts. Bytes have them the other way round
//! there. An instance knows whether it is valid: that is looked at once, when a shape is made, and kept with it.

mod binary;
mod earth;
mod read_text;
mod valid;
mod write_text;

pub use earth::{Ellipsoid, REFERENCE_SYSTEMS, ReferenceSystem, Vector, View};
pub use valid::{Meeting, Segment, is_valid, meeting};
pub use write_text::number_text;

use crate::clr::ClrType;
use crate::error::SqlError;
use crate::value::Value;

/// What coordinates mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    /// `geometry`.
    Plane,
    /// `geography`.
    Earth,
}

impl System {
    /// The type of the system's shapes.
    pub fn ty(self) -> ClrType {
        match self {
            System::Plane => ClrType::Geometry,
            System::Earth => ClrType::Geography,
        }
    }

    /// The reference system of shapes that name none.
    pub fn default_srid(self) -> i32 {
        match self {
            System::Plane => 0,
            System::Earth => 4326,
        }
    }

    /// Refuses numbers that are no reference systems.
    ///
    /// # Errors
    /// 6522: 24100, and 24204 for one that has no ellipsoid.
    pub fn check_srid(self, srid: i32) -> Result<(), SqlError> {
        if !(0..=999_999).contains(&srid) {
            return Err(self.refused(
                Class::Argument,
                "24100: The spatial reference identifier (SRID) is not valid. SRIDs must be between 0 and 999999.",
            ));
        }
        if self == System::Earth && Ellipsoid::of(srid).is_none() {
            return Err(self.refused(
                Class::Argument,
                "24204: The spatial reference identifier (SRID) is not valid. The specified SRID must match one of the supported SRIDs \
                 displayed in the sys.spatial_reference_systems catalog view.",
            ));
        }
        Ok(())
    }

    /// Error 6522 of the type's library.
    #[cold]
    pub fn refused(self, class: Class, text: &str) -> SqlError {
        SqlError::clr_exception(self.ty().name(), class.name(), text)
    }
}

/// The class of an exception.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// What was read is none.
    Format,
    /// An argument is not possible.
    Argument,
    /// An argument is too small or too great.
    OutOfRange,
    /// An argument is NULL.
    Null,
    /// The library of the earth's shapes.
    Geodetic,
}

impl Class {
    fn name(self) -> &'static str {
        match self {
            Class::Format => "System.FormatException",
            Class::Argument => "System.ArgumentException",
            Class::OutOfRange => "System.ArgumentOutOfRangeException",
            Class::Null => "System.ArgumentNullException",
            Class::Geodetic => "Microsoft.SqlServer.Types.GLArgumentException",
        }
    }
}

/// A point with what else it is given.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// To the right; longitude.
    pub x: f64,
    /// Upwards; latitude.
    pub y: f64,
    /// Height.
    pub z: Option<f64>,
    /// Measure.
    pub m: Option<f64>,
}

impl Point {
    /// A point without height and measure.
    pub fn flat(x: f64, y: f64) -> Point {
        Point { x, y, z: None, m: None }
    }

    /// Whether two points are one place.
    pub fn is_at(&self, other: &Point) -> bool {
        self.x == other.x && self.y == other.y
    }
}

/// A part of a compound curve.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// Whether each two segments, three points, are an arc.
    pub arc: bool,
    /// Its points; the first one is the last one of the part before.
    pub points: Vec<Point>,
}

/// A shape.
#[derive(Debug, Clone, PartialEq)]
pub enum Shape {
    /// `POINT`; without coordinates it is empty.
    Point(Option<Point>),
    /// `LINESTRING`
    Line(Vec<Point>),
    /// `POLYGON`: the outer ring, and the holes.
    Polygon(Vec<Vec<Point>>),
    /// `MULTIPOINT`, of points.
    MultiPoint(Vec<Shape>),
    /// `MULTILINESTRING`, of lines.
    MultiLine(Vec<Shape>),
    /// `MULTIPOLYGON`, of polygons.
    MultiPolygon(Vec<Shape>),
    /// `GEOMETRYCOLLECTION`
    Collection(Vec<Shape>),
    /// `CIRCULARSTRING`
    Arcs(Vec<Point>),
    /// `COMPOUNDCURVE`
    Compound(Vec<Curve>),
    /// `CURVEPOLYGON`: rings that are lines, arcs or compound curves.
    CurvePolygon(Vec<Shape>),
    /// `FULLGLOBE`
    FullGlobe,
}

impl Shape {
    /// The kind's number in bytes.
    pub fn code(&self) -> u8 {
        match self {
            Shape::Point(_) => 1,
            Shape::Line(_) => 2,
            Shape::Polygon(_) => 3,
            Shape::MultiPoint(_) => 4,
            Shape::MultiLine(_) => 5,
            Shape::MultiPolygon(_) => 6,
            Shape::Collection(_) => 7,
            Shape::Arcs(_) => 8,
            Shape::Compound(_) => 9,
            Shape::CurvePolygon(_) => 10,
            Shape::FullGlobe => 11,
        }
    }

    /// The kind's name, as `STGeometryType` says it.
    pub fn kind(&self) -> &'static str {
        KINDS[usize::from(self.code()) - 1]
    }

    /// An empty shape of a number in bytes.
    pub fn empty(code: u8) -> Option<Shape> {
        Some(match code {
            1 => Shape::Point(None),
            2 => Shape::Line(Vec::new()),
            3 => Shape::Polygon(Vec::new()),
            4 => Shape::MultiPoint(Vec::new()),
            5 => Shape::MultiLine(Vec::new()),
            6 => Shape::MultiPolygon(Vec::new()),
            7 => Shape::Collection(Vec::new()),
            8 => Shape::Arcs(Vec::new()),
            9 => Shape::Compound(Vec::new()),
            10 => Shape::CurvePolygon(Vec::new()),
            11 => Shape::FullGlobe,
            _ => return None,
        })
    }

    /// The shapes that a collection of any kind has; none for others.
    pub fn members(&self) -> Option<&[Shape]> {
        match self {
            Shape::MultiPoint(list) | Shape::MultiLine(list) | Shape::MultiPolygon(list) | Shape::Collection(list) => {
                Some(list)
            }
            _ => None,
        }
    }

    /// Whether it has no points.
    pub fn is_empty(&self) -> bool {
        match self {
            Shape::FullGlobe => false,
            _ => {
                let mut none = true;
                self.each_point(&mut |_| none = false);
                none
            }
        }
    }

    /// Whether an arc is part of it.
    pub fn is_curved(&self) -> bool {
        match self {
            Shape::Arcs(_) | Shape::Compound(_) | Shape::CurvePolygon(_) => true,
            _ => self.members().is_some_and(|list| list.iter().any(Shape::is_curved)),
        }
    }

    /// All its points, in their order.
    pub fn each_point(&self, visit: &mut impl FnMut(&Point)) {
        match self {
            Shape::Point(point) => point.iter().for_each(visit),
            Shape::Line(points) | Shape::Arcs(points) => points.iter().for_each(visit),
            Shape::Polygon(rings) => rings.iter().flatten().for_each(visit),
            Shape::Compound(curves) => curve_points(curves).into_iter().for_each(|point| visit(&point)),
            Shape::CurvePolygon(list)
            | Shape::MultiPoint(list)
            | Shape::MultiLine(list)
            | Shape::MultiPolygon(list)
            | Shape::Collection(list) => list.iter().for_each(|shape| shape.each_point(visit)),
            Shape::FullGlobe => {}
        }
    }

    /// All its points.
    pub fn points(&self) -> Vec<Point> {
        let mut points = Vec::new();
        self.each_point(&mut |point| points.push(*point));
        points
    }
}

/// The names of kinds, by their numbers from 1.
const KINDS: [&str; 11] = [
    "Point",
    "LineString",
    "Polygon",
    "MultiPoint",
    "MultiLineString",
    "MultiPolygon",
    "GeometryCollection",
    "CircularString",
    "CompoundCurve",
    "CurvePolygon",
    "FullGlobe",
];

/// The points of a compound curve: where parts meet, one.
fn curve_points(curves: &[Curve]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::new();
    for curve in curves {
        let known = usize::from(!points.is_empty());
        points.extend(curve.points.iter().skip(known));
    }
    points
}

/// Shapes nest at most this deep.
pub const DEPTH_MAX: usize = 64;

/// A value of a spatial type.
#[derive(Debug, Clone, PartialEq)]
pub struct Instance {
    /// What its coordinates mean.
    pub system: System,
    /// The number of the reference system.
    pub srid: i32,
    /// Whether the shape is what its kind asks for.
    pub valid: bool,
    /// The shape.
    pub shape: Shape,
}

impl Instance {
    /// An instance of a shape, whose validity is looked at.
    ///
    /// # Errors
    /// 6522: those of [`System::check_srid`]; on the earth 24201 for latitudes, 24206 for edges between antipodes.
    pub fn new(system: System, srid: i32, shape: Shape) -> Result<Instance, SqlError> {
        system.check_srid(srid)?;
        if system == System::Earth {
            earth::check(&shape)?;
        }
        let valid = valid::is_valid(system, &shape);
        Ok(Instance { system, srid, valid, shape })
    }

    /// Another shape in the same place.
    ///
    /// # Errors
    /// As [`Instance::new`].
    pub fn with(&self, shape: Shape) -> Result<Instance, SqlError> {
        Instance::new(self.system, self.srid, shape)
    }

    /// The value.
    pub fn to_value(&self) -> Value {
        Value::Bin(self.to_bytes())
    }
}

#[cfg(test)]
mod tests;
