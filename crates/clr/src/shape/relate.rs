//! What two shapes have to do with each other: the nine intersections of their insides, borders and outsides, and questions about them.

use super::planar::Plane;
use crate::{Answer, Call};
use geo::Geometry;
use geo::coordinate_position::CoordPos::{Inside, OnBoundary, Outside};
use geo::dimensions::Dimensions;
use geo::relate::{IntersectionMatrix, Relate};
use pikepole_types::spatial::{Class, Instance};
use pikepole_types::{SqlError, Value};

use super::parts::dimension;

/// A pair of shapes that can be compared; None where the answer is NULL.
pub(super) fn pair(call: &Call<'_>) -> Result<Option<(Instance, Instance)>, SqlError> {
    let (own, other) = (call.own()?, call.valid(Instance::read(call.bytes(0), call.system())?)?);
    Ok((own.srid == other.srid).then_some((own, other)))
}

/// The intersections of two shapes.
pub(super) fn matrix(call: &Call<'_>, own: &Instance, other: &Instance) -> Result<IntersectionMatrix, SqlError> {
    let plane = Plane::of(call, &[own, other])?;
    let [first, second] = [own, other].map(|instance| dissolved(plane.seen(instance)));
    Ok(first.relate(&second))
}

/// A collection of shapes of one kind as one of that kind, which is what the matrix is defined for.
fn dissolved(geometry: Geometry) -> Geometry {
    match geometry {
        Geometry::GeometryCollection(list) if list.0.is_empty() => {
            Geometry::MultiPoint(geo::MultiPoint::new(Vec::new()))
        }
        other => other,
    }
}

/// A question about the matrix, and the dimensions of both shapes.
pub(crate) type Question = fn(&IntersectionMatrix, i32, i32) -> bool;

pub(crate) fn asked(call: &Call<'_>, question: Question) -> Answer {
    let Some((own, other)) = pair(call)? else { return Ok(Value::Null) };
    let dimensions = (dimension(&own.shape), dimension(&other.shape));
    let matrix = matrix(call, &own, &other)?;
    Ok(Value::Bit(question(&matrix, dimensions.0, dimensions.1)))
}

pub(super) fn equals(matrix: &IntersectionMatrix, own: i32, other: i32) -> bool {
    own == -1 && other == -1 || own > -1 && other > -1 && is(matrix, "T*F**FFF*")
}

pub(super) fn disjoint(matrix: &IntersectionMatrix, own: i32, other: i32) -> bool {
    own == -1 || other == -1 || is(matrix, "FF*FF****")
}

pub(super) fn contains(matrix: &IntersectionMatrix, own: i32, other: i32) -> bool {
    own > -1 && other > -1 && is(matrix, "T*****FF*")
}

pub(super) fn within(matrix: &IntersectionMatrix, own: i32, other: i32) -> bool {
    own > -1 && other > -1 && is(matrix, "T*F**F***")
}

pub(super) fn touches(matrix: &IntersectionMatrix, _: i32, _: i32) -> bool {
    ["FT*******", "F**T*****", "F***T****"].iter().any(|pattern| is(matrix, pattern))
}

/// Of a line and a line where they meet in points; else of the shape of fewer dimensions.
pub(super) fn crosses(matrix: &IntersectionMatrix, own: i32, other: i32) -> bool {
    match (own, other) {
        (1, 1) => is(matrix, "0********"),
        _ => own > -1 && own < other && is(matrix, "T*T******"),
    }
}

pub(super) fn overlaps(matrix: &IntersectionMatrix, own: i32, other: i32) -> bool {
    let pattern = if own == 1 { "1*T***T**" } else { "T*T***T**" };
    own > -1 && own == other && is(matrix, pattern)
}

/// Whether a matrix is as a pattern of nine characters says.
fn is(matrix: &IntersectionMatrix, pattern: &str) -> bool {
    let places = [Inside, OnBoundary, Outside];
    let cells = places.into_iter().flat_map(|own| places.map(|other| matrix.get(own, other)));
    cells.zip(pattern.bytes()).all(|(found, wanted)| match wanted {
        b'T' => found != Dimensions::Empty,
        b'F' => found == Dimensions::Empty,
        b'0' => found == Dimensions::ZeroDimensional,
        b'1' => found == Dimensions::OneDimensional,
        b'2' => found == Dimensions::TwoDimensional,
        _ => true,
    })
}

/// `STRelate(other, pattern)`
pub(super) fn relate(call: &Call<'_>) -> Answer {
    let pattern = call.text(1);
    let length = pattern.chars().count();
    if length != 9 {
        return Err(call.refused(
            Class::Format,
            &format!(
                "24109: The intersectionPatternMatrix argument to STRelate is not valid. This argument must contain exactly 9 characters, \
                 but the string provided has {length} characters."
            ),
        ));
    }
    if let Some((at, found)) = pattern.chars().enumerate().find(|(_, found)| !"012TF*".contains(*found)) {
        return Err(call.refused(
            Class::Format,
            &format!(
                "24110: Character {at} ({found}) of the intersectionPatternMatrix argument to STRelate is not valid. This argument must \
                 only contain the characters 0, 1, 2, T, F, and *."
            ),
        ));
    }
    if call.arguments[0].is_null() {
        return Ok(Value::Null);
    }
    let Some((own, other)) = pair(call)? else { return Ok(Value::Null) };
    Ok(Value::Bit(is(&matrix(call, &own, &other)?, pattern)))
}
