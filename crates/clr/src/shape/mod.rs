//! Members of `geometry` and `geography`.
//!
//! A member that asks about more than a shape's text and coordinates asks for a valid one (24144); two shapes are compared only within
//! one reference system, and otherwise the answer is NULL.

mod derive;
mod make;
mod measure;
mod overlay;
mod parts;
mod planar;
mod relate;
mod wkb;

use crate::{Answer, Call, Form, Kind, Method, Of, Run, bytes, member, missing};
use geo::OpType;
use pikepole_types::spatial::{Class, Instance, Point, Shape, System};
use pikepole_types::{SqlError, Value};

pub(crate) use relate::{Question, asked};

use Form::{Property, Static, StaticProperty};
use Kind::{Binary, Bit, Float, Int, Own, ShortText, Text};
use Of::{Geography, Geometry};

/// The members of both types.
pub(crate) static METHODS: &[Method] = &[
    // Shapes from texts, bytes and numbers.
    member(Static, "Parse", &[Text], Own, make::parse),
    member(Static, "STGeomFromText", &[Text, Int], Own, |call| make::from_text(call, None)),
    member(Static, "STPointFromText", &[Text, Int], Own, |call| make::from_text(call, Some(1))),
    member(Static, "STLineFromText", &[Text, Int], Own, |call| make::from_text(call, Some(2))),
    member(Static, "STPolyFromText", &[Text, Int], Own, |call| make::from_text(call, Some(3))),
    member(Static, "STMPointFromText", &[Text, Int], Own, |call| make::from_text(call, Some(4))),
    member(Static, "STMLineFromText", &[Text, Int], Own, |call| make::from_text(call, Some(5))),
    member(Static, "STMPolyFromText", &[Text, Int], Own, |call| make::from_text(call, Some(6))),
    member(Static, "STGeomCollFromText", &[Text, Int], Own, |call| make::from_text(call, Some(7))),
    member(Static, "STGeomFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, None)),
    member(Static, "STPointFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(1))),
    member(Static, "STLineFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(2))),
    member(Static, "STPolyFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(3))),
    member(Static, "STMPointFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(4))),
    member(Static, "STMLineFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(5))),
    member(Static, "STMPolyFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(6))),
    member(Static, "STGeomCollFromWKB", &[Binary, Int], Own, |call| make::from_wkb(call, Some(7))),
    member(Static, "Point", &[Float, Float, Int], Own, make::point),
    member(StaticProperty, "Null", &[], Own, |_| Ok(Value::Null)),
    // Texts and bytes from shapes.
    member(Form::Method, "ToString", &[], Text, |call| Ok(Value::Str(call.any()?.to_text(true)))),
    member(Form::Method, "STAsText", &[], Text, |call| Ok(Value::Str(call.any()?.to_text(false)))),
    member(Form::Method, "AsTextZM", &[], Text, |call| Ok(Value::Str(call.any()?.to_text(true)))),
    member(Form::Method, "STAsBinary", &[], Binary, |call| Ok(Value::Bin(wkb::write(&call.any()?.shape, false)))),
    member(Form::Method, "AsBinaryZM", &[], Binary, |call| Ok(Value::Bin(wkb::write(&call.any()?.shape, true)))),
    // Numbers of a shape.
    member(Property, "STSrid", &[], Int, |call| Ok(Value::Int(call.any()?.srid))),
    member(Form::Setter, "STSrid", &[Int], Own, make::with_srid).taking_null(),
    member(Property, "STX", &[], Float, |call| call.coordinate(|point| Some(point.x))).of(Geometry),
    member(Property, "STY", &[], Float, |call| call.coordinate(|point| Some(point.y))).of(Geometry),
    member(Property, "Long", &[], Float, |call| call.coordinate(|point| Some(point.x))).of(Geography),
    member(Property, "Lat", &[], Float, |call| call.coordinate(|point| Some(point.y))).of(Geography),
    member(Property, "Z", &[], Float, |call| call.coordinate(|point| point.z)),
    member(Property, "M", &[], Float, |call| call.coordinate(|point| point.m)),
    member(Property, "HasZ", &[], Bit, |call| call.has(|point| point.z.is_some())),
    member(Property, "HasM", &[], Bit, |call| call.has(|point| point.m.is_some())),
    member(Property, "IsNull", &[], Bit, |_| Ok(Value::Bit(false))),
    member(Form::Method, "MinDbCompatibilityLevel", &[], Int, |call| {
        let is_new = bytes(call.receiver).get(4) == Some(&2);
        Ok(Value::Int(if is_new { 110 } else { 100 }))
    }),
    // What a shape is.
    member(Form::Method, "STGeometryType", &[], ShortText, |call| Ok(Value::Str(call.own()?.shape.kind().to_owned()))),
    member(Form::Method, "InstanceOf", &[ShortText], Bit, parts::instance_of),
    member(Form::Method, "STDimension", &[], Int, |call| Ok(Value::Int(parts::dimension(&call.own()?.shape)))),
    member(Form::Method, "STIsEmpty", &[], Bit, |call| Ok(Value::Bit(call.any()?.shape.is_empty()))),
    member(Form::Method, "STIsValid", &[], Bit, |call| Ok(Value::Bit(call.any()?.valid))),
    member(Form::Method, "STIsClosed", &[], Bit, |call| Ok(Value::Bit(parts::is_closed(&call.own()?.shape)))),
    member(Form::Method, "STIsRing", &[], Bit, parts::is_ring).of(Geometry),
    member(Form::Method, "STIsSimple", &[], Bit, parts::is_simple).of(Geometry),
    // Parts of a shape.
    member(Form::Method, "STNumPoints", &[], Int, |call| count(call.own()?.shape.points().len())),
    member(Form::Method, "STPointN", &[Int], Own, parts::point_n),
    member(Form::Method, "STStartPoint", &[], Own, |call| call.point_of(|points| points.first().copied())),
    member(Form::Method, "STEndPoint", &[], Own, |call| call.point_of(|points| points.last().copied())),
    member(Form::Method, "STNumGeometries", &[], Int, |call| count(parts::members(&call.own()?.shape).len())),
    member(Form::Method, "STGeometryN", &[Int], Own, parts::geometry_n),
    member(Form::Method, "STExteriorRing", &[], Own, |call| {
        let own = call.own()?;
        parts::ring(&own, 0)
    })
    .of(Geometry),
    member(Form::Method, "STNumInteriorRing", &[], Int, parts::hole_count).of(Geometry),
    member(Form::Method, "STInteriorRingN", &[Int], Own, |call| parts::ring_n(call, 0)).of(Geometry),
    member(Form::Method, "NumRings", &[], Int, parts::ring_count).of(Geography),
    member(Form::Method, "RingN", &[Int], Own, |call| parts::ring_n(call, 1)).of(Geography),
    member(Form::Method, "ReorientObject", &[], Own, parts::reoriented).of(Geography),
    // Two shapes.
    question("STEquals", relate::equals),
    question("STDisjoint", relate::disjoint),
    question("STIntersects", |matrix, own, other| !relate::disjoint(matrix, own, other)),
    question("Filter", |matrix, own, other| !relate::disjoint(matrix, own, other)),
    question("STContains", relate::contains),
    question("STWithin", relate::within),
    question("STOverlaps", relate::overlaps),
    question("STTouches", relate::touches).of(Geometry),
    question("STCrosses", relate::crosses).of(Geometry),
    member(Form::Method, "STRelate", &[Own, ShortText], Bit, relate::relate).taking_null().of(Geometry),
    member(Form::Method, "STUnion", &[Own], Own, |call| overlay::combined(call, OpType::Union)),
    member(Form::Method, "STIntersection", &[Own], Own, |call| overlay::combined(call, OpType::Intersection)),
    member(Form::Method, "STDifference", &[Own], Own, |call| overlay::combined(call, OpType::Difference)),
    member(Form::Method, "STSymDifference", &[Own], Own, |call| overlay::combined(call, OpType::Xor)),
    member(Form::Method, "STDistance", &[Own], Float, measure::between),
    // Measures, and shapes that are made of one.
    member(Form::Method, "STLength", &[], Float, measure::length),
    member(Form::Method, "STArea", &[], Float, measure::area),
    member(Form::Method, "MakeValid", &[], Own, overlay::made_valid),
    member(Form::Method, "STEnvelope", &[], Own, derive::envelope).of(Geometry),
    member(Form::Method, "EnvelopeCenter", &[], Own, derive::envelope_center).of(Geography),
    member(Form::Method, "STBoundary", &[], Own, derive::boundary).of(Geometry),
    member(Form::Method, "STCentroid", &[], Own, derive::centroid).of(Geometry),
    member(Form::Method, "STPointOnSurface", &[], Own, derive::point_on_surface).of(Geometry),
    member(Form::Method, "STConvexHull", &[], Own, derive::convex_hull),
    member(Form::Method, "STBuffer", &[Float], Own, derive::buffer),
    member(Form::Method, "BufferWithTolerance", &[Float, Float, Bit], Own, derive::buffer_with_tolerance),
    member(Form::Method, "Reduce", &[Float], Own, derive::reduced),
    // What is known and not there.
    missing(Form::Static, "GeomFromGml", &[Kind::Xml, Int], Own),
    missing(Form::Static, "UnionAggregate", &[Own], Own),
    missing(Form::Static, "EnvelopeAggregate", &[Own], Own),
    missing(Form::Static, "CollectionAggregate", &[Own], Own),
    missing(Form::Static, "ConvexHullAggregate", &[Own], Own),
    missing(Form::Method, "AsGml", &[], Kind::Xml),
    missing(Form::Method, "IsValidDetailed", &[], ShortText),
    missing(Form::Method, "ShortestLineTo", &[Own], Own),
    missing(Form::Method, "BufferWithCurves", &[Float], Own),
    missing(Form::Method, "STCurveToLine", &[], Own),
    missing(Form::Method, "CurveToLineWithTolerance", &[Float, Bit], Own),
    missing(Form::Method, "STNumCurves", &[], Int),
    missing(Form::Method, "STCurveN", &[Int], Own),
    missing(Form::Method, "EnvelopeAngle", &[], Float).of(Geography),
];

const fn question(name: &'static str, question: relate::Question) -> Method {
    let asked = member(Form::Method, name, &[Own], Bit, |_| Ok(Value::Null));
    Method { run: Run::Ask(question), ..asked }
}

fn count(number: usize) -> Answer {
    Ok(Value::Int(i32::try_from(number).unwrap_or(i32::MAX)))
}

impl Call<'_> {
    /// What coordinates mean.
    fn system(&self) -> System {
        self.ty.system().unwrap_or(System::Plane)
    }

    fn refused(&self, class: Class, text: &str) -> SqlError {
        self.system().refused(class, text)
    }

    /// The receiver, valid or not.
    fn any(&self) -> Result<Instance, SqlError> {
        Instance::read(bytes(self.receiver), self.system())
    }

    /// The receiver, valid.
    fn own(&self) -> Result<Instance, SqlError> {
        self.valid(self.any()?)
    }

    fn valid(&self, instance: Instance) -> Result<Instance, SqlError> {
        if instance.valid {
            return Ok(instance);
        }
        Err(self.refused(
            Class::Argument,
            "24144: This operation cannot be completed because the instance is not valid. Use MakeValid to convert the instance to a valid \
             instance. Note that MakeValid may cause the points of a geometry instance to shift slightly.",
        ))
    }

    /// A coordinate of a receiver that is a point.
    fn coordinate(&self, of: fn(&Point) -> Option<f64>) -> Answer {
        Ok(match self.any()?.shape {
            Shape::Point(Some(point)) => of(&point).map_or(Value::Null, Value::Float),
            _ => Value::Null,
        })
    }

    fn has(&self, is: fn(&Point) -> bool) -> Answer {
        let mut found = false;
        self.any()?.shape.each_point(&mut |point| found |= is(point));
        Ok(Value::Bit(found))
    }

    fn point_of(&self, of: fn(&[Point]) -> Option<Point>) -> Answer {
        let own = self.own()?;
        let found = of(&own.shape.points());
        found.map_or(Ok(Value::Null), |point| part(&own, Shape::Point(Some(point))))
    }
}

/// A part of an instance.
fn part(whole: &Instance, shape: Shape) -> Answer {
    Ok(whole.with(shape)?.to_value())
}
