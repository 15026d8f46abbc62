//! What two shapes have in common, and what they have together.
//!
//! Areas are left to `geo`. Lines are cut where they, and the borders of areas, meet: each piece is then in a shape as a whole or not at
//! all, and what is kept is put together again. Points are kept where nothing else of the result is. Areas are computed on a grid of some
//! thirty bits in each direction: what is closer to one than that is on it.

use super::planar::Plane;
use super::relate;
use crate::{Answer, Call};
use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::line_measures::{Distance, Euclidean};
use geo::{BooleanOps, Coord, CoordsIter, Geometry, LineString, MultiLineString, MultiPoint, MultiPolygon, OpType};
use pikepole_types::Value;
use pikepole_types::spatial::{Instance, Meeting, Segment, Shape, meeting};
use std::collections::HashMap;

/// Sides of the grid that areas are computed on, as a part of the whole.
const GRID: f64 = 4e-9;

/// A shape by the dimensions of its parts.
struct Parts {
    points: Vec<Coord>,
    lines: Vec<LineString>,
    areas: MultiPolygon,
}

impl Parts {
    fn of(geometry: &Geometry) -> Parts {
        let mut parts = Parts::of_areas(MultiPolygon::new(Vec::new()));
        parts.add(geometry);
        parts
    }

    fn of_areas(areas: MultiPolygon) -> Parts {
        Parts { points: Vec::new(), lines: Vec::new(), areas }
    }

    fn add(&mut self, geometry: &Geometry) {
        match geometry {
            Geometry::Point(point) => self.points.push(point.0),
            Geometry::MultiPoint(points) => self.points.extend(points.iter().map(|point| point.0)),
            Geometry::LineString(line) => self.lines.push(line.clone()),
            Geometry::MultiLineString(lines) => self.lines.extend(lines.iter().cloned()),
            Geometry::Polygon(area) => self.areas = self.areas.union(area),
            Geometry::MultiPolygon(areas) => self.areas = self.areas.union(areas),
            Geometry::GeometryCollection(list) => list.iter().for_each(|member| self.add(member)),
            _ => {}
        }
    }

    fn rings(&self) -> impl Iterator<Item = &LineString> {
        self.areas.iter().flat_map(|area| std::iter::once(area.exterior()).chain(area.interiors()))
    }

    /// How far a place is from the nearest part; of nothing, without end.
    fn distance(&self, place: Coord) -> f64 {
        let point = geo::Point::from(place);
        let points = self.points.iter().map(|other| Euclidean.distance(point, geo::Point::from(*other)));
        let lines = self.lines.iter().map(|line| Euclidean.distance(&point, line));
        let areas = self.areas.iter().map(|area| Euclidean.distance(&point, area));
        points.chain(lines).chain(areas).fold(f64::INFINITY, f64::min)
    }

    /// The simplest shape that is all this.
    fn geometry(self) -> Geometry {
        let Parts { points, lines, areas } = self;
        let points: Vec<geo::Point> = points.into_iter().map(geo::Point::from).collect();
        match (points.len(), lines.len(), areas.0.len()) {
            (1, 0, 0) => Geometry::Point(points[0]),
            (0, 1, 0) => Geometry::LineString(lines.into_iter().next().unwrap_or_else(|| LineString::new(Vec::new()))),
            (0, 0, 1) => areas.0.into_iter().next().map_or_else(nothing, Geometry::Polygon),
            (0, 0, 0) => nothing(),
            (_, 0, 0) => Geometry::MultiPoint(MultiPoint::new(points)),
            (0, _, 0) => Geometry::MultiLineString(MultiLineString::new(lines)),
            (0, 0, _) => Geometry::MultiPolygon(areas),
            _ => {
                let points = points.into_iter().map(Geometry::Point);
                let lines = lines.into_iter().map(Geometry::LineString);
                let areas = areas.0.into_iter().map(Geometry::Polygon);
                Geometry::GeometryCollection(geo::GeometryCollection::new_from(
                    areas.chain(lines).chain(points).collect(),
                ))
            }
        }
    }
}

fn nothing() -> Geometry {
    Geometry::GeometryCollection(geo::GeometryCollection::new_from(Vec::new()))
}

/// `STUnion`, `STIntersection`, `STDifference`, `STSymDifference`
pub(super) fn combined(call: &Call<'_>, op: OpType) -> Answer {
    let Some((own, other)) = relate::pair(call)? else { return Ok(Value::Null) };
    // Where one is nothing, the answer is the other one, or nothing.
    let kept = match (own.shape.is_empty(), other.shape.is_empty(), op) {
        (false, false, _) => None,
        (_, true, OpType::Union | OpType::Difference | OpType::Xor) => Some(own.shape.clone()),
        (true, false, OpType::Union | OpType::Xor) => Some(other.shape.clone()),
        _ => Some(Shape::Collection(Vec::new())),
    };
    if let Some(kept) = kept {
        let kept = if kept.is_empty() { Shape::Collection(Vec::new()) } else { kept };
        return Ok(own.with(kept)?.to_value());
    }
    let plane = Plane::of(call, &[&own, &other])?;
    let result = overlaid(&plane.seen(&own), &plane.seen(&other), op);
    Ok(own.with(plane.shape(&result))?.to_value())
}

/// A valid shape that is as much like the receiver as one can be.
pub(super) fn made_valid(call: &Call<'_>) -> Answer {
    let own = call.any()?;
    if own.valid {
        return Ok(own.to_value());
    }
    let plane = Plane::of(call, &[&own])?;
    let mut parts = Parts::of(&plane.seen(&own));
    // Lines are cut where they meet themselves, and pieces that come twice are kept once.
    let lines = std::mem::take(&mut parts.lines);
    let ends: Vec<Coord> = lines
        .iter()
        .filter(|line| line.lines().all(|edge| edge.start == edge.end))
        .flat_map(|line| line.0.first())
        .copied()
        .collect();
    let pieces = Pieces::of([lines.iter().collect(), Vec::new()], [Vec::new(), Vec::new()]);
    parts.lines = joined(pieces.of.into_keys().map(Piece::ends).collect());
    parts.points.extend(ends);
    Ok(Instance::new(own.system, own.srid, plane.shape(&parts.geometry()))?.to_value())
}

fn overlaid(one: &Geometry, other: &Geometry, op: OpType) -> Geometry {
    let near = GRID
        * one
            .coords_iter()
            .chain(other.coords_iter())
            .map(|coord| coord.x.abs().max(coord.y.abs()))
            .fold(0.0, f64::max);
    let sides = [Parts::of(one), Parts::of(other)];
    let mut result = Parts::of_areas(sides[0].areas.boolean_op(&sides[1].areas, op));
    let pieces = Pieces::of(
        [0, 1].map(|side| sides[side].lines.iter().collect()),
        [0, 1].map(|side| sides[side].rings().collect()),
    );
    let mut kept = Vec::new();
    for (piece, of) in &pieces.of {
        let ends = piece.ends();
        let middle = (ends[0] + ends[1]) / 2.0;
        let within = [0, 1].map(|side| {
            of.line[side] || of.ring[side] || sides[side].areas.coordinate_position(&middle) == CoordPos::Inside
        });
        let wanted = match op {
            OpType::Union => of.line[0] || of.line[1],
            OpType::Intersection => within[0] && within[1],
            OpType::Difference => of.line[0] && !within[1],
            OpType::Xor => of.line[0] && !within[1] || of.line[1] && !within[0],
        };
        // No lines and points are there yet.
        if wanted && result.distance(middle) > near {
            kept.push(ends);
        }
    }
    result.lines = joined(kept);
    let mut candidates: Vec<(Coord, bool)> = Vec::new();
    for (side, parts) in sides.iter().enumerate() {
        candidates.extend(parts.points.iter().map(|point| (*point, side == 0)));
    }
    if op == OpType::Intersection {
        candidates.extend(pieces.of.keys().flat_map(|piece| piece.ends()).map(|place| (place, true)));
    }
    for (place, first) in candidates {
        let wanted = match op {
            OpType::Union => true,
            OpType::Intersection => sides.iter().all(|side| side.distance(place) <= near),
            OpType::Difference => first && sides[1].distance(place) > near,
            OpType::Xor => sides[usize::from(first)].distance(place) > near,
        };
        if wanted && result.distance(place) > near {
            result.points.push(place);
        }
    }
    result.geometry()
}

/// A stretch between two places, whichever is first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Piece([[u64; 2]; 2]);

impl Piece {
    fn between(from: [f64; 2], to: [f64; 2]) -> Piece {
        let mut ends = [from, to].map(|end| end.map(|number| (number + 0.0).to_bits()));
        ends.sort_unstable();
        Piece(ends)
    }

    fn ends(self) -> [Coord; 2] {
        self.0.map(|[x, y]| Coord { x: f64::from_bits(x), y: f64::from_bits(y) })
    }
}

/// Of which shape's lines and borders a piece is a part.
#[derive(Debug, Clone, Copy, Default)]
struct Of {
    line: [bool; 2],
    ring: [bool; 2],
}

struct Pieces {
    of: HashMap<Piece, Of>,
}

impl Pieces {
    /// The pieces of the lines and rings of two shapes, cut where they meet.
    fn of(lines: [Vec<&LineString>; 2], rings: [Vec<&LineString>; 2]) -> Pieces {
        let mut segments: Vec<(Segment, Of, Vec<[f64; 2]>)> = Vec::new();
        let mut add = |line: &LineString, of: Of| {
            for edge in line.lines().filter(|edge| edge.start != edge.end) {
                let segment = Segment { from: [edge.start.x, edge.start.y], to: [edge.end.x, edge.end.y] };
                segments.push((segment, of, Vec::new()));
            }
        };
        for side in 0..2 {
            let own = |wanted: bool| [wanted && side == 0, wanted && side == 1];
            lines[side].iter().for_each(|line| add(line, Of { line: own(true), ring: own(false) }));
            rings[side].iter().for_each(|line| add(line, Of { line: own(false), ring: own(true) }));
        }
        cut(&mut segments);
        let mut of: HashMap<Piece, Of> = HashMap::new();
        for (segment, own, mut stops) in segments {
            let along = |place: &[f64; 2]| (place[0] - segment.from[0]).hypot(place[1] - segment.from[1]);
            stops.extend([segment.from, segment.to]);
            stops.sort_by(|a, b| along(a).total_cmp(&along(b)));
            stops.dedup();
            for ends in stops.windows(2) {
                let known = of.entry(Piece::between(ends[0], ends[1])).or_default();
                for side in 0..2 {
                    known.line[side] |= own.line[side];
                    known.ring[side] |= own.ring[side];
                }
            }
        }
        Pieces { of }
    }
}

/// Notes for each segment where others meet it.
fn cut(segments: &mut [(Segment, Of, Vec<[f64; 2]>)]) {
    let low = |segment: &Segment, axis: usize| segment.from[axis].min(segment.to[axis]);
    let high = |segment: &Segment, axis: usize| segment.from[axis].max(segment.to[axis]);
    segments.sort_by(|(a, ..), (b, ..)| low(a, 0).total_cmp(&low(b, 0)));
    for at in 0..segments.len() {
        let (before, behind) = segments.split_at_mut(at + 1);
        let (one, _, stops) = &mut before[at];
        for (other, _, other_stops) in behind {
            if low(other, 0) > high(one, 0) {
                break;
            }
            if low(other, 1) > high(one, 1) || high(other, 1) < low(one, 1) {
                continue;
            }
            match meeting(one, other) {
                Meeting::Apart => {}
                Meeting::Touch(place) => {
                    stops.push(place);
                    other_stops.push(place);
                }
                Meeting::Cross => {
                    let place = crossing(one, other);
                    stops.push(place);
                    other_stops.push(place);
                }
                Meeting::Stretch => {
                    stops.extend([other.from, other.to].into_iter().filter(|place| spans(one, place)));
                    other_stops.extend([one.from, one.to].into_iter().filter(|place| spans(other, place)));
                }
            }
        }
    }
}

fn spans(segment: &Segment, place: &[f64; 2]) -> bool {
    (0..2).all(|axis| {
        let (from, to) = (segment.from[axis], segment.to[axis]);
        (from.min(to)..=from.max(to)).contains(&place[axis])
    })
}

/// Where two segments cross.
fn crossing(one: &Segment, other: &Segment) -> [f64; 2] {
    let way = |segment: &Segment| [segment.to[0] - segment.from[0], segment.to[1] - segment.from[1]];
    let (first, second) = (way(one), way(other));
    let gap = [other.from[0] - one.from[0], other.from[1] - one.from[1]];
    let part = (gap[0] * second[1] - gap[1] * second[0]) / (first[0] * second[1] - first[1] * second[0]);
    [one.from[0] + first[0] * part, one.from[1] + first[1] * part]
}

/// Pieces as lines that are as long as they can be: through all places where two pieces meet and no more.
fn joined(mut pieces: Vec<[Coord; 2]>) -> Vec<LineString> {
    let key = |place: &Coord| [(place.x + 0.0).to_bits(), (place.y + 0.0).to_bits()];
    let order = |a: &Coord, b: &Coord| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y));
    pieces.iter_mut().for_each(|ends| ends.sort_by(order));
    pieces.sort_by(|a, b| order(&a[0], &b[0]).then(order(&a[1], &b[1])));
    let mut at: HashMap<[u64; 2], Vec<usize>> = HashMap::new();
    for (number, ends) in pieces.iter().enumerate() {
        ends.iter().for_each(|end| at.entry(key(end)).or_default().push(number));
    }
    let passes = |place: &Coord| at.get(&key(place)).is_some_and(|list| list.len() == 2);
    let mut used = vec![false; pieces.len()];
    let mut lines = Vec::new();
    let mut follow = |start: Coord, first: usize, used: &mut Vec<bool>| {
        let mut way = vec![start];
        let mut next = Some(first);
        while let Some(number) = next {
            used[number] = true;
            let [from, to] = pieces[number];
            let end = if way.last() == Some(&from) { to } else { from };
            way.push(end);
            next = at[&key(&end)].iter().copied().find(|other| !used[*other]).filter(|_| passes(&end));
        }
        lines.push(LineString::new(way));
    };
    // From the ends of lines first; what is left then are rings.
    for open in [true, false] {
        for number in 0..pieces.len() {
            let start = pieces[number].into_iter().find(|end| !open || !passes(end));
            if let Some(start) = start.filter(|_| !used[number]) {
                follow(start, number, &mut used);
            }
        }
    }
    lines
}
