//! Whether a shape is what its kind asks for.
//!
//! A line may cross itself, but has no stretch twice. A ring neither crosses itself nor has a stretch twice. A polygon's holes lie in its
//! outer ring and not in each other, and rings meet in single points, so few of them that its inside stays in one piece. The polygons of
//! a MULTIPOLYGON meet in points at most, the lines of a MULTILINESTRING have no stretch in common; members of a GEOMETRYCOLLECTION need
//! not know of each other.
//!
//! On the earth the same is asked of the shape as it is seen from the middle of the earth ([`super::earth::flattened`]), and that a hole
//! is wound against its outer ring.

use super::{Point, Shape, System, earth};
use std::collections::{HashMap, HashSet};

/// A stretch between two places.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Segment {
    /// Where it begins.
    pub from: [f64; 2],
    /// Where it ends.
    pub to: [f64; 2],
}

/// How two segments meet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meeting {
    /// Not at all.
    Apart,
    /// In one place, which is an end of one of them.
    Touch([f64; 2]),
    /// In one place inside of both.
    Cross,
    /// In a stretch.
    Stretch,
}

/// On which side of the line from `a` to `b` a place lies: 1 on the left, 0 where rounding decides.
fn side(a: [f64; 2], b: [f64; 2], place: [f64; 2]) -> i8 {
    let left = (b[0] - a[0]) * (place[1] - a[1]);
    let right = (b[1] - a[1]) * (place[0] - a[0]);
    let bound = 4.0 * f64::EPSILON * (left.abs() + right.abs());
    let difference = left - right;
    if difference.abs() <= bound { 0 } else { difference.signum() as i8 }
}

/// How two segments, of some length each, meet.
pub fn meeting(one: &Segment, other: &Segment) -> Meeting {
    let sides = [
        side(one.from, one.to, other.from),
        side(one.from, one.to, other.to),
        side(other.from, other.to, one.from),
        side(other.from, other.to, one.to),
    ];
    if sides[0] * sides[1] < 0 && sides[2] * sides[3] < 0 {
        return Meeting::Cross;
    }
    let ends = [(other.from, one), (other.to, one), (one.from, other), (one.to, other)];
    let mut touch: Option<[f64; 2]> = None;
    for ((end, segment), side) in ends.into_iter().zip(sides) {
        if side != 0 || !segment.spans(end) {
            continue;
        }
        match touch {
            Some(known) if known != end => return Meeting::Stretch,
            _ => touch = Some(end),
        }
    }
    touch.map_or(Meeting::Apart, Meeting::Touch)
}

impl Segment {
    /// Whether a place of the segment's line lies between its ends.
    fn spans(&self, place: [f64; 2]) -> bool {
        (0..2).all(|axis| {
            let (from, to) = (self.from[axis], self.to[axis]);
            (from.min(to)..=from.max(to)).contains(&place[axis])
        })
    }

    fn low(&self, axis: usize) -> f64 {
        self.from[axis].min(self.to[axis])
    }

    fn high(&self, axis: usize) -> f64 {
        self.from[axis].max(self.to[axis])
    }
}

/// A closed or open line, without repeated points.
type Chain = Vec<[f64; 2]>;

fn chain(points: &[Point]) -> Chain {
    // Without a negative zero, equal places have equal bits.
    let mut chain: Chain = points.iter().map(|point| [point.x + 0.0, point.y + 0.0]).collect();
    chain.dedup();
    chain
}

fn segments(chains: &[&Chain]) -> Vec<(usize, usize, Segment)> {
    let mut list = Vec::new();
    for (of, chain) in chains.iter().enumerate() {
        let own = chain.windows(2).map(|ends| Segment { from: ends[0], to: ends[1] });
        list.extend(own.enumerate().map(|(at, segment)| (of, at, segment)));
    }
    list.sort_by(|(.., a), (.., b)| a.low(0).total_cmp(&b.low(0)));
    list
}

/// Shows each meeting of two segments of these chains: of which they are, their numbers in these, and how they meet. Stops where
/// `visit` says false, and says then false itself.
fn each_meeting(chains: &[&Chain], mut visit: impl FnMut([(usize, usize); 2], Meeting) -> bool) -> bool {
    let list = segments(chains);
    for (at, (of, place, segment)) in list.iter().enumerate() {
        for (other_of, other_place, other) in &list[at + 1..] {
            if other.low(0) > segment.high(0) {
                break;
            }
            if other.low(1) > segment.high(1) || other.high(1) < segment.low(1) {
                continue;
            }
            let met = meeting(segment, other);
            if met != Meeting::Apart && !visit([(*of, *place), (*other_of, *other_place)], met) {
                return false;
            }
        }
    }
    true
}

/// Whether a shape is what its kind asks for.
pub fn is_valid(system: System, shape: &Shape) -> bool {
    match system {
        System::Plane => is_valid_flat(shape, true),
        System::Earth => {
            earth::flattened(shape).is_none_or(|flat| is_valid_flat(&flat, false)) && holes_turn_back(shape)
        }
    }
}

fn is_valid_flat(shape: &Shape, plane: bool) -> bool {
    match shape {
        Shape::Line(points) => is_line(points, plane),
        Shape::Polygon(rings) => rings.is_empty() || polygon(rings).is_some(),
        Shape::MultiLine(members) => {
            let lines: Vec<Chain> = members.iter().map(|member| chain(&member.points())).collect();
            members.iter().all(|member| is_valid_flat(member, plane))
                && each_meeting(&lines.iter().collect::<Vec<_>>(), |[one, other], met| {
                    one.0 == other.0 || met != Meeting::Stretch
                })
        }
        Shape::MultiPolygon(members) => multi_polygon(members),
        Shape::Collection(members) => members.iter().all(|member| is_valid_flat(member, plane)),
        // Curves are taken as they come.
        _ => true,
    }
}

fn is_line(points: &[Point], plane: bool) -> bool {
    let chain = chain(points);
    let stops = plane && points.len() > 1 && points[points.len() - 1].is_at(&points[points.len() - 2]);
    if points.is_empty() {
        return true;
    }
    chain.len() > 1 && !stops && each_meeting(&[&chain], |_, met| met != Meeting::Stretch)
}

/// The rings of a valid polygon: the outer one, and the holes; None for one that is not.
fn polygon(rings: &[Vec<Point>]) -> Option<Vec<Chain>> {
    let mut loops = Vec::with_capacity(rings.len());
    for (at, ring) in rings.iter().enumerate() {
        let mut lobes = lobes(chain(ring))?;
        // Lobes of the outer ring are holes that meet it; a hole has none.
        if at > 0 && lobes.len() > 1 {
            return None;
        }
        loops.append(&mut lobes);
    }
    let mut touches = Touches::default();
    let all: Vec<&Chain> = loops.iter().collect();
    let apart = each_meeting(&all, |[one, other], met| match met {
        _ if one.0 == other.0 => true,
        Meeting::Touch(place) => {
            touches.add(one.0, other.0, place);
            true
        }
        _ => false,
    });
    if !apart || !touches.leave_one_piece(loops.len()) {
        return None;
    }
    let (outer, holes) = loops.split_first()?;
    let nested = holes.iter().enumerate().any(|(at, hole)| {
        let samples = touches.samples(at + 1, hole);
        !samples.iter().all(|place| is_inside(*place, outer))
            || holes.iter().enumerate().any(|(other, ring)| other != at && is_inside(samples[0], ring))
    });
    (!nested).then_some(loops)
}

/// The parts of a ring that comes back to places where it has been: the greatest one first, and what lies in it and is wound against
/// it. None for a ring that crosses itself, encloses nothing, or has other parts.
fn lobes(ring: Chain) -> Option<Vec<Chain>> {
    let count = ring.len().checked_sub(1).filter(|count| *count >= 3)?;
    let mut places: Vec<Vec<[f64; 2]>> = vec![Vec::new(); count];
    let simple = each_meeting(&[&ring], |[(_, one), (_, other)], met| {
        let (low, high) = (one.min(other), one.max(other));
        match met {
            Meeting::Touch(place) => {
                let neighbours = high - low == 1 || low == 0 && high == count - 1;
                let corner = if high - low == 1 { ring[high] } else { ring[0] };
                if !(neighbours && place == corner) {
                    places[low].push(place);
                    places[high].push(place);
                }
                true
            }
            _ => false,
        }
    });
    if !simple {
        return None;
    }
    if places.iter().all(Vec::is_empty) {
        return (area(&ring) != 0.0).then(|| vec![ring]);
    }
    let mut parts = split(&with_places(&ring, &mut places));
    parts.sort_by(|a, b| area(b).abs().total_cmp(&area(a).abs()));
    let (outer, others) = parts.split_first()?;
    let turned = others.iter().all(|part| {
        let middle = [(part[0][0] + part[1][0]) / 2.0, (part[0][1] + part[1][1]) / 2.0];
        part.len() > 3 && area(part) * area(outer) < 0.0 && is_inside(middle, outer)
    });
    turned.then_some(parts)
}

/// The ring with these places, of each segment, among its points.
fn with_places(ring: &Chain, places: &mut [Vec<[f64; 2]>]) -> Chain {
    let mut whole = Chain::new();
    for (ends, inner) in ring.windows(2).zip(places) {
        let from = ends[0];
        let distance = |place: &[f64; 2]| (place[0] - from[0]).hypot(place[1] - from[1]);
        inner.sort_by(|a, b| distance(a).total_cmp(&distance(b)));
        whole.push(from);
        whole.append(inner);
    }
    whole.push(ring[0]);
    whole.dedup();
    whole
}

/// A ring as rings that come to no place twice.
fn split(ring: &Chain) -> Vec<Chain> {
    let mut parts = Vec::new();
    let mut way: Chain = Vec::new();
    for place in ring {
        if let Some(before) = way.iter().rposition(|known| known == place) {
            let mut part = way.split_off(before);
            way.push(*place);
            part.push(*place);
            parts.push(part);
        } else {
            way.push(*place);
        }
    }
    parts
}

/// Where rings touch.
#[derive(Default)]
struct Touches {
    /// The rings of each place.
    rings: HashMap<[u64; 2], HashSet<usize>>,
}

impl Touches {
    fn add(&mut self, one: usize, other: usize, place: [f64; 2]) {
        self.rings.entry(place.map(f64::to_bits)).or_default().extend([one, other]);
    }

    /// Whether no chain of rings that touch is closed, which would cut off a part of what is inside.
    fn leave_one_piece(&self, count: usize) -> bool {
        let mut group: Vec<usize> = (0..count + self.rings.len()).collect();
        let root = |group: &mut Vec<usize>, mut at: usize| {
            while group[at] != at {
                group[at] = group[group[at]];
                at = group[at];
            }
            at
        };
        for (place, rings) in self.rings.values().enumerate() {
            for ring in rings {
                let (a, b) = (root(&mut group, count + place), root(&mut group, *ring));
                if a == b {
                    return false;
                }
                group[a] = b;
            }
        }
        true
    }

    /// Places of a ring that lie on no other one, of each of its pieces between others.
    fn samples(&self, ring: usize, chain: &Chain) -> Vec<[f64; 2]> {
        let own =
            |place: &[f64; 2]| self.rings.get(&place.map(f64::to_bits)).is_some_and(|rings| rings.contains(&ring));
        if !self.rings.values().any(|rings| rings.contains(&ring)) {
            return chain[..1].to_vec();
        }
        let on: Vec<[f64; 2]> =
            self.rings.keys().map(|bits| bits.map(f64::from_bits)).filter(|place| own(place)).collect();
        let mut samples = Vec::new();
        for ends in chain.windows(2) {
            let segment = Segment { from: ends[0], to: ends[1] };
            let mut stops = vec![ends[0], ends[1]];
            stops.extend(on.iter().filter(|place| side(ends[0], ends[1], **place) == 0 && segment.spans(**place)));
            stops.sort_by(|a, b| {
                let distance = |place: &[f64; 2]| (place[0] - ends[0][0]).hypot(place[1] - ends[0][1]);
                distance(a).total_cmp(&distance(b))
            });
            stops.dedup();
            samples.extend(
                stops.windows(2).map(|pair| [(pair[0][0] + pair[1][0]) / 2.0, (pair[0][1] + pair[1][1]) / 2.0]),
            );
        }
        samples
    }
}

fn multi_polygon(members: &[Shape]) -> bool {
    let mut polygons = Vec::new();
    for member in members {
        match member {
            Shape::Polygon(rings) if rings.is_empty() => {}
            Shape::Polygon(rings) => match polygon(rings) {
                Some(loops) => polygons.push(loops),
                None => return false,
            },
            _ => return false,
        }
    }
    let all: Vec<&Chain> = polygons.iter().flatten().collect();
    let owner: Vec<usize> = polygons.iter().enumerate().flat_map(|(at, loops)| vec![at; loops.len()]).collect();
    let mut touches = Touches::default();
    let apart = each_meeting(&all, |[one, other], met| match met {
        _ if owner[one.0] == owner[other.0] => true,
        Meeting::Touch(place) => {
            touches.add(one.0, other.0, place);
            true
        }
        _ => false,
    });
    let mut first = 0;
    apart
        && polygons.iter().enumerate().all(|(at, loops)| {
            let samples = touches.samples(first, &loops[0]);
            first += loops.len();
            polygons
                .iter()
                .enumerate()
                .all(|(other, around)| other == at || !samples.iter().any(|place| is_in_polygon(*place, around)))
        })
}

fn is_in_polygon(place: [f64; 2], loops: &[Chain]) -> bool {
    let mut rings = loops.iter().map(|ring| is_inside(place, ring));
    rings.next() == Some(true) && !rings.any(|inside| inside)
}

/// Whether a place that is not on a ring lies inside of it: a ray to the right meets it an odd number of times.
fn is_inside(place: [f64; 2], ring: &Chain) -> bool {
    let mut inside = false;
    for ends in ring.windows(2) {
        let [from, to] = [ends[0], ends[1]];
        if (from[1] > place[1]) != (to[1] > place[1]) {
            let upwards = to[1] > from[1];
            let side = side(from, to, place);
            inside ^= if upwards { side > 0 } else { side < 0 };
        }
    }
    inside
}

/// Twice what a ring encloses: above zero when it goes round to the left.
fn area(ring: &Chain) -> f64 {
    let origin = ring[0];
    ring.windows(2)
        .map(|ends| {
            let [from, to] = [ends[0], ends[1]].map(|place| [place[0] - origin[0], place[1] - origin[1]]);
            from[0] * to[1] - from[1] * to[0]
        })
        .sum()
}

/// Whether each hole of a polygon of the earth leaves out what its outer ring has.
fn holes_turn_back(shape: &Shape) -> bool {
    let large = |ring: &[Point]| earth::steradians(ring) > 2.0 * std::f64::consts::PI;
    match shape {
        Shape::Polygon(rings) => match rings.split_first() {
            Some((outer, holes)) if !large(outer) => holes.iter().all(|hole| large(hole)),
            _ => true,
        },
        _ => shape.members().unwrap_or_default().iter().all(holes_turn_back),
    }
}
