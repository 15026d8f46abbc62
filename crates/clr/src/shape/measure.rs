//! Lengths, areas and distances.
//!
//! On the earth an edge is an arc of a great ellipse. Its length, and the area between it and the equator, have no closed form: they are
//! sums over places of the arc that Gauss and Legendre chose, of pieces short enough for the sums to be exact to a few digits less than
//! a number has.

use super::planar::{Plane, not_there};
use super::relate;
use crate::{Answer, Call};
use geo::line_measures::{Distance, Euclidean};
use pikepole_types::spatial::{Ellipsoid, Instance, Point, Shape, System, Vector};
use pikepole_types::{SqlError, Value};
use std::f64::consts::PI;

/// Places between -1 and 1 and their weights, for either sign.
const GAUSS: [(f64, f64); 5] = [
    (0.148_874_338_981_631_2, 0.295_524_224_714_752_87),
    (0.433_395_394_129_247_2, 0.269_266_719_309_996_35),
    (0.679_409_568_299_024_4, 0.219_086_362_515_982_04),
    (0.865_063_366_688_984_5, 0.149_451_349_150_580_6),
    (0.973_906_528_517_171_7, 0.066_671_344_308_688_14),
];
/// The longest piece, as an angle.
const PIECE: f64 = 0.2;

/// The integral of a function from 0 to `end`.
fn integral(end: f64, of: impl Fn(f64) -> f64) -> f64 {
    let pieces = (end / PIECE).ceil().max(1.0);
    let half = end / pieces / 2.0;
    let mut sum = 0.0;
    for piece in 0..pieces as usize {
        let middle = half * (2.0 * piece as f64 + 1.0);
        for (place, weight) in GAUSS {
            sum += weight * (of(middle + half * place) + of(middle - half * place));
        }
    }
    sum * half
}

/// An arc of a great circle, from a direction to another.
struct Arc {
    from: Vector,
    /// A quarter turn further.
    ahead: Vector,
    angle: f64,
}

impl Arc {
    /// None for no length.
    fn between(from: &Vector, to: &Vector) -> Option<Arc> {
        let normal = from.cross(to).unit()?;
        Some(Arc { from: *from, ahead: normal.cross(from), angle: from.angle(to) })
    }

    fn at(&self, angle: f64) -> Vector {
        self.from.mix(angle.cos(), &self.ahead, angle.sin())
    }

    /// Its direction at an angle.
    fn towards(&self, angle: f64) -> Vector {
        self.from.mix(-angle.sin(), &self.ahead, angle.cos())
    }

    fn length(&self, earth: &Ellipsoid) -> f64 {
        integral(self.angle, |angle| {
            let [x, y, z] = self.towards(angle).0;
            (earth.a * x.hypot(y)).hypot(earth.b * z)
        })
    }
}

fn distance(earth: &Ellipsoid, from: &Vector, to: &Vector) -> f64 {
    Arc::between(from, to)
        .map_or_else(|| if from.dot(to) > 0.0 { 0.0 } else { half_meridian(earth) }, |arc| arc.length(earth))
}

/// The angle from a place at which a distance is reached.
pub(super) fn angle_of(earth: &Ellipsoid, from: &Vector, ahead: &Vector, distance: f64) -> f64 {
    let mut angle = distance / earth.a;
    for _ in 0..8 {
        let arc = Arc { from: *from, ahead: *ahead, angle };
        angle += (distance - arc.length(earth)) / earth.a;
    }
    angle
}

/// From a pole to the other: the shortest way between antipodes.
fn half_meridian(earth: &Ellipsoid) -> f64 {
    let arc = Arc { from: Vector([1.0, 0.0, 0.0]), ahead: Vector([0.0, 0.0, 1.0]), angle: PI };
    arc.length(earth)
}

/// The lines of a shape: rings too.
fn lines(shape: &Shape, into: &mut Vec<Vec<Point>>) {
    match shape {
        Shape::Line(points) => into.push(points.clone()),
        Shape::Polygon(rings) => into.extend(rings.iter().cloned()),
        _ => shape.members().unwrap_or_default().iter().for_each(|member| lines(member, into)),
    }
}

fn ellipsoid(call: &Call<'_>, instance: &Instance) -> Result<Ellipsoid, SqlError> {
    Ellipsoid::of(instance.srid).ok_or_else(|| not_there(call, "this reference system"))
}

pub(super) fn length(call: &Call<'_>) -> Answer {
    let own = call.any()?;
    if own.shape.is_curved() {
        return Err(not_there(call, "circular arcs"));
    }
    let mut all = Vec::new();
    lines(&own.shape, &mut all);
    let edges = all.iter().flat_map(|line| line.windows(2));
    let length: f64 = match call.system() {
        System::Plane => edges.map(|edge| (edge[1].x - edge[0].x).hypot(edge[1].y - edge[0].y)).sum(),
        System::Earth => {
            let earth = ellipsoid(call, &own)?;
            edges.map(|edge| distance(&earth, &earth.direction(&edge[0]), &earth.direction(&edge[1]))).sum()
        }
    };
    Ok(Value::Float(unsigned_zero(length)))
}

/// The polygons of a shape.
fn polygons<'s>(shape: &'s Shape, into: &mut Vec<&'s [Vec<Point>]>) {
    match shape {
        Shape::Polygon(rings) if !rings.is_empty() => into.push(rings),
        _ => shape.members().unwrap_or_default().iter().for_each(|member| polygons(member, into)),
    }
}

pub(super) fn area(call: &Call<'_>) -> Answer {
    let own = call.own()?;
    if own.shape.is_curved() {
        return Err(not_there(call, "circular arcs"));
    }
    let mut all = Vec::new();
    polygons(&own.shape, &mut all);
    let area = match call.system() {
        System::Plane => all.iter().map(|rings| flat_area(rings)).sum(),
        System::Earth => {
            let earth = ellipsoid(call, &own)?;
            let whole = 4.0 * PI * zone(&earth, 1.0) * earth.a * earth.a;
            match own.shape {
                Shape::FullGlobe => whole,
                _ => all.iter().map(|rings| round_area(&earth, rings, whole)).sum(),
            }
        }
    };
    Ok(Value::Float(unsigned_zero(area)))
}

fn flat_area(rings: &[Vec<Point>]) -> f64 {
    let ring = |ring: &Vec<Point>| {
        let origin = ring[0];
        let twice: f64 = ring
            .windows(2)
            .map(|edge| {
                (edge[0].x - origin.x) * (edge[1].y - origin.y) - (edge[1].x - origin.x) * (edge[0].y - origin.y)
            })
            .sum();
        twice.abs() / 2.0
    };
    ring(&rings[0]) - rings[1..].iter().map(ring).sum::<f64>()
}

/// The area of a zone from the equator, for an angle of longitude of 1 and a half axis of 1: `sine` is that of the reduced latitude.
fn zone(earth: &Ellipsoid, sine: f64) -> f64 {
    // ∫ cos β √(b² + (a² - b²) sin² β) dβ / a, as a function of s = sin β.
    let (ratio, second) = (earth.b / earth.a, 1.0 - (earth.b / earth.a).powi(2));
    let eccentricity = second.sqrt();
    let root = (ratio * ratio + second * sine * sine).sqrt();
    (sine * root + ratio * ratio / eccentricity * (eccentricity * sine / ratio).asinh()) / 2.0
}

/// What lies to the left of the rings of a polygon.
fn round_area(earth: &Ellipsoid, rings: &[Vec<Point>], whole: f64) -> f64 {
    let left = |ring: &Vec<Point>| {
        let (mut sum, mut turn) = (0.0, 0.0);
        for edge in ring.windows(2) {
            let [from, to] = [&edge[0], &edge[1]].map(|point| earth.direction(point));
            let (own, own_turn) = below(earth, &from, &to);
            sum += own;
            turn += own_turn;
        }
        let area = if turn.abs() > PI { whole / 2.0 - sum } else { -sum };
        area.rem_euclid(whole)
    };
    // Each hole's left side is all but the hole.
    rings.iter().map(left).sum::<f64>() - whole * (rings.len() - 1) as f64
}

/// The area between an arc and the equator, above zero towards the east, and the angle of longitude that the arc goes.
///
/// Near a pole longitude changes without bound, while what is left up to the pole vanishes: so that is what is summed up, and the area
/// up to the pole is known without a sum. At a pole itself the angle is what its places say.
fn below(earth: &Ellipsoid, from: &Vector, to: &Vector) -> (f64, f64) {
    let ([x, y, _], [to_x, to_y, _]) = (from.0, to.0);
    let turn = (x * to_y - y * to_x).atan2(x * to_x + y * to_y);
    let pole = if from.0[2] + to.0[2] < 0.0 { -1.0 } else { 1.0 };
    let to_pole = zone(earth, pole);
    let rest = Arc::between(from, to).map_or(0.0, |arc| {
        integral(arc.angle, |angle| {
            let ([x, y, z], [dx, dy, _]) = (arc.at(angle).0, arc.towards(angle).0);
            let around = x * x + y * y;
            if around < 1e-24 { 0.0 } else { (zone(earth, z.clamp(-1.0, 1.0)) - to_pole) * (x * dy - y * dx) / around }
        })
    });
    ((rest + to_pole * turn) * earth.a * earth.a, turn)
}

/// `STDistance`
pub(super) fn between(call: &Call<'_>) -> Answer {
    let Some((own, other)) = relate::pair(call)? else { return Ok(Value::Null) };
    if own.shape.is_empty() || other.shape.is_empty() {
        return Ok(Value::Null);
    }
    if call.system() == System::Plane {
        let plane = Plane::of(call, &[&own, &other])?;
        return Ok(Value::Float(Euclidean.distance(&plane.seen(&own), &plane.seen(&other))));
    }
    let earth = ellipsoid(call, &own)?;
    if let (Shape::Point(Some(from)), Shape::Point(Some(to))) = (&own.shape, &other.shape) {
        return Ok(Value::Float(distance(&earth, &earth.direction(from), &earth.direction(to))));
    }
    Ok(Value::Float(round_distance(call, &earth, &own, &other)?))
}

/// The distance of two shapes on the earth: none where they meet, else that of two edges.
fn round_distance(call: &Call<'_>, earth: &Ellipsoid, own: &Instance, other: &Instance) -> Result<f64, SqlError> {
    let meet = match Plane::of(call, &[own, other]) {
        Ok(_) => !relate::disjoint(&relate::matrix(call, own, other)?, 0, 0),
        // What is farther apart than a hemisphere does not meet, when none of both is that large itself.
        Err(_) => {
            Plane::of(call, &[own])?;
            Plane::of(call, &[other])?;
            false
        }
    };
    if meet {
        return Ok(0.0);
    }
    let mut nearest = f64::MAX;
    let [own, other] = [own, other].map(|instance| edges(earth, &instance.shape));
    for one in &own {
        for two in &other {
            for (point, edge) in [(&one.0, two), (&one.1, two), (&two.0, one), (&two.1, one)] {
                nearest = nearest.min(to_edge(earth, point, edge));
            }
        }
    }
    Ok(nearest)
}

/// The edges of a shape as directions; a point is an edge without length.
fn edges(earth: &Ellipsoid, shape: &Shape) -> Vec<(Vector, Vector)> {
    match shape {
        Shape::Point(Some(point)) => {
            let place = earth.direction(point);
            vec![(place, place)]
        }
        Shape::Line(points) => {
            let places: Vec<Vector> = points.iter().map(|point| earth.direction(point)).collect();
            places.windows(2).map(|edge| (edge[0], edge[1])).collect()
        }
        Shape::Polygon(rings) => rings.iter().flat_map(|ring| edges(earth, &Shape::Line(ring.clone()))).collect(),
        _ => shape.members().unwrap_or_default().iter().flat_map(|member| edges(earth, member)).collect(),
    }
}

/// The distance of a place from an edge: that of the ends, or of the place between them that is nearest.
fn to_edge(earth: &Ellipsoid, place: &Vector, edge: &(Vector, Vector)) -> f64 {
    let ends = distance(earth, place, &edge.0).min(distance(earth, place, &edge.1));
    let Some(arc) = Arc::between(&edge.0, &edge.1) else { return ends };
    let of = |angle: f64| distance(earth, place, &arc.at(angle));
    // On the sphere the nearest place is known; on the ellipsoid it is close to that.
    let foot = place.dot(&arc.ahead).atan2(place.dot(&arc.from)).clamp(0.0, arc.angle);
    let (mut low, mut high) = ((foot - 0.02).max(0.0), (foot + 0.02).min(arc.angle));
    for _ in 0..60 {
        let (left, right) = (low + (high - low) * 0.381_966, high - (high - low) * 0.381_966);
        if of(left) < of(right) {
            high = right;
        } else {
            low = left;
        }
    }
    ends.min(of((low + high) / 2.0))
}

/// A measure of nothing has no sign.
fn unsigned_zero(measure: f64) -> f64 {
    if measure == 0.0 { 0.0 } else { measure }
}
