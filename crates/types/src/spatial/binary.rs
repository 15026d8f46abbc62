//! The serialized form of a spatial value ([MS-SSCLRT] 2.1), little-endian:
//!
//! ```text
//! | SRID 4 | version 1 | properties 1 | points | figures | shapes | segments |
//!
//! points    | count 4 | x, y 16 each ... | z 8 each ... | m 8 each ... |       z and m where the properties say so; NaN for none
//! figures   | count 4 | attribute 1, first point 4 | ... |                     a point, a line, a ring
//! shapes    | count 4 | parent 4, first figure 4, kind 1 | ... |               -1 where there is none
//! segments  | count 4 | kind 1 | ... |                                         version 2, of compound curves
//! ```
//!
//! A valid point, and a line of two points, are their coordinates alone. On the earth y comes before x. Version 2 has what the first
//! one did not know: curves, what is larger than a hemisphere, and shapes on the earth that are not valid.

use super::{Class, Curve, DEPTH_MAX, Instance, Point, Shape, System, earth};
use crate::error::SqlError;

const HAS_Z: u8 = 1;
const HAS_M: u8 = 2;
const IS_VALID: u8 = 4;
const IS_POINT: u8 = 8;
const IS_LINE: u8 = 16;
const IS_LARGE: u8 = 32;

/// Attributes of figures of version 1, where they differ from those of version 2.
const INNER_RING: u8 = 0;
const STROKE: u8 = 1;
const OUTER_RING: u8 = 2;
/// Attributes of version 2.
const ARC: u8 = 2;
const COMPOUND: u8 = 3;

/// Kinds of segments: a line and an arc, and the first ones of their part.
const LINE_SEGMENT: u8 = 0;
const ARC_SEGMENT: u8 = 1;
const FIRST_LINE: u8 = 2;
const FIRST_ARC: u8 = 3;

/// A shape in flat lists.
#[derive(Default)]
struct Flat {
    points: Vec<Point>,
    figures: Vec<(u8, u32)>,
    shapes: Vec<(i32, i32, u8)>,
    segments: Vec<u8>,
    version: u8,
}

impl Flat {
    fn of(shape: &Shape, version: u8) -> Flat {
        let mut flat = Flat { version, ..Flat::default() };
        flat.add(shape, -1);
        flat
    }

    fn add(&mut self, shape: &Shape, parent: i32) {
        let own = self.shapes.len();
        let figure = if shape.is_empty() || *shape == Shape::FullGlobe { -1 } else { self.figures.len() as i32 };
        self.shapes.push((parent, figure, shape.code()));
        if let Some(list) = shape.members() {
            list.iter().for_each(|member| self.add(member, own as i32));
            return;
        }
        match shape {
            Shape::Point(Some(point)) => self.figure(STROKE, std::slice::from_ref(point)),
            Shape::Line(points) => self.figure(STROKE, points),
            Shape::Arcs(points) => self.figure(ARC, points),
            Shape::Polygon(rings) => {
                for (at, ring) in rings.iter().enumerate() {
                    let attribute = match (self.version, at) {
                        (1, 0) => OUTER_RING,
                        (1, _) => INNER_RING,
                        _ => STROKE,
                    };
                    self.figure(attribute, ring);
                }
            }
            Shape::Compound(curves) => self.compound(curves),
            Shape::CurvePolygon(rings) => {
                for ring in rings {
                    match ring {
                        Shape::Line(points) => self.figure(STROKE, points),
                        Shape::Arcs(points) => self.figure(ARC, points),
                        Shape::Compound(curves) => self.compound(curves),
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }

    fn figure(&mut self, attribute: u8, points: &[Point]) {
        if !points.is_empty() {
            self.figures.push((attribute, self.points.len() as u32));
            self.points.extend_from_slice(points);
        }
    }

    fn compound(&mut self, curves: &[Curve]) {
        let points = super::curve_points(curves);
        self.figure(COMPOUND, &points);
        for curve in curves {
            let (first, other, step) =
                if curve.arc { (FIRST_ARC, ARC_SEGMENT, 2) } else { (FIRST_LINE, LINE_SEGMENT, 1) };
            for at in 0..curve.points.len().saturating_sub(1) / step {
                self.segments.push(if at == 0 { first } else { other });
            }
        }
    }
}

impl Instance {
    /// The bytes of the value.
    pub fn to_bytes(&self) -> Vec<u8> {
        let large = self.valid && self.system == System::Earth && earth::is_large(&self.shape);
        let is_new = self.shape.is_curved()
            || self.shape == Shape::FullGlobe
            || large
            || self.system == System::Earth && !self.valid;
        let flat = Flat::of(&self.shape, if is_new { 2 } else { 1 });
        let has_z = flat.points.iter().any(|point| point.z.is_some());
        let has_m = flat.points.iter().any(|point| point.m.is_some());
        let switches = [(has_z, HAS_Z), (has_m, HAS_M), (self.valid, IS_VALID), (large, IS_LARGE)];
        let properties = switches.iter().filter(|(on, _)| *on).fold(0, |all, (_, switch)| all | switch);
        let short = match (&self.shape, flat.points.len()) {
            (Shape::Point(Some(_)), _) if self.valid => IS_POINT,
            (Shape::Line(_), 2) if self.valid => IS_LINE,
            _ => 0,
        };
        let mut out = Vec::with_capacity(6 + flat.points.len() * 16);
        out.extend_from_slice(&self.srid.to_le_bytes());
        out.extend_from_slice(&[flat.version, properties | short]);
        let count = |count: usize, out: &mut Vec<u8>| out.extend_from_slice(&(count as u32).to_le_bytes());
        if short == 0 {
            count(flat.points.len(), &mut out);
        }
        self.put_points(&flat.points, has_z, has_m, &mut out);
        if short != 0 {
            return out;
        }
        count(flat.figures.len(), &mut out);
        for (attribute, point) in &flat.figures {
            out.push(*attribute);
            out.extend_from_slice(&point.to_le_bytes());
        }
        count(flat.shapes.len(), &mut out);
        for (parent, figure, kind) in &flat.shapes {
            out.extend_from_slice(&parent.to_le_bytes());
            out.extend_from_slice(&figure.to_le_bytes());
            out.push(*kind);
        }
        if !flat.segments.is_empty() {
            count(flat.segments.len(), &mut out);
            out.extend_from_slice(&flat.segments);
        }
        out
    }

    fn put_points(&self, points: &[Point], has_z: bool, has_m: bool, out: &mut Vec<u8>) {
        for point in points {
            let pair = if self.system == System::Earth { [point.y, point.x] } else { [point.x, point.y] };
            pair.iter().for_each(|number| out.extend_from_slice(&number.to_le_bytes()));
        }
        let mut each = |wanted: bool, of: fn(&Point) -> Option<f64>| {
            for point in points.iter().filter(|_| wanted) {
                out.extend_from_slice(&of(point).unwrap_or(f64::NAN).to_le_bytes());
            }
        };
        each(has_z, |point| point.z);
        each(has_m, |point| point.m);
    }

    /// The value that bytes are.
    ///
    /// # Errors
    /// 6522: 24210 for a version that is not known; bytes that are none of the type's.
    pub fn read(bytes: &[u8], system: System) -> Result<Instance, SqlError> {
        if let Some(version) = bytes.get(4).filter(|version| !(1..=2).contains(*version)) {
            let name = if system == System::Earth { "Geography" } else { "Geometry" };
            return Err(system.refused(
                Class::Format,
                &format!(
                    "24210: {name} type with an unexpected version of {version} received; only versions up to 2 are accepted."
                ),
            ));
        }
        let read = Reader { bytes }.instance(system).filter(|instance| is_possible(instance, system));
        read.ok_or_else(|| system.refused(Class::Format, "One of the identified items was in an invalid format."))
    }
}

/// Whether the coordinates are ones of the system.
fn is_possible(instance: &Instance, system: System) -> bool {
    let mut possible = true;
    instance.shape.each_point(&mut |point| {
        possible &= point.x.is_finite() && point.y.is_finite();
        possible &= system == System::Plane || point.y.abs() <= 90.0;
    });
    possible && system.check_srid(instance.srid).is_ok()
}

struct Reader<'b> {
    bytes: &'b [u8],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (own, behind) = self.bytes.split_first_chunk()?;
        self.bytes = behind;
        Some(*own)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take().map(|[byte]| byte)
    }

    fn int(&mut self) -> Option<i32> {
        self.take().map(i32::from_le_bytes)
    }

    fn float(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// The length of a list whose items have so many bytes at least.
    fn count(&mut self, item_bytes: usize) -> Option<usize> {
        let count = usize::try_from(self.int()?).ok()?;
        (count.checked_mul(item_bytes)? <= self.bytes.len()).then_some(count)
    }

    fn instance(mut self, system: System) -> Option<Instance> {
        let srid = self.int()?;
        let version = self.byte()?;
        let properties = self.byte()?;
        let short = properties & (IS_POINT | IS_LINE);
        let count = match short {
            IS_POINT => 1,
            IS_LINE => 2,
            0 => self.count(16)?,
            _ => return None,
        };
        let points = self.points(count, properties, system)?;
        let shape = match (short, &points[..]) {
            (IS_POINT, [point]) => Shape::Point(Some(*point)),
            (IS_LINE, _) => Shape::Line(points),
            _ => self.lists(points, version)?.shape()?,
        };
        let whole = self.bytes.is_empty();
        whole.then_some(Instance { system, srid, valid: properties & IS_VALID != 0, shape })
    }

    fn points(&mut self, count: usize, properties: u8, system: System) -> Option<Vec<Point>> {
        let mut points = Vec::with_capacity(count);
        for _ in 0..count {
            let (first, second) = (self.float()?, self.float()?);
            points.push(match system {
                System::Plane => Point::flat(first, second),
                System::Earth => Point::flat(second, first),
            });
        }
        let known = |number: f64| (!number.is_nan()).then_some(number);
        if properties & HAS_Z != 0 {
            for point in &mut points {
                point.z = known(self.float()?);
            }
        }
        if properties & HAS_M != 0 {
            for point in &mut points {
                point.m = known(self.float()?);
            }
        }
        Some(points)
    }

    fn lists(&mut self, points: Vec<Point>, version: u8) -> Option<Lists> {
        let mut lists = Lists { points, version, ..Lists::default() };
        for _ in 0..self.count(5)? {
            let attribute = self.byte()?;
            lists.figures.push((attribute, usize::try_from(self.int()?).ok()?));
        }
        for _ in 0..self.count(9)? {
            lists.shapes.push((self.int()?, self.int()?, self.byte()?));
        }
        if !self.bytes.is_empty() {
            for _ in 0..self.count(1)? {
                lists.segments.push(self.byte()?);
            }
        }
        Some(lists)
    }
}

/// What was read, to be put together.
#[derive(Default)]
struct Lists {
    points: Vec<Point>,
    figures: Vec<(u8, usize)>,
    shapes: Vec<(i32, i32, u8)>,
    segments: Vec<u8>,
    version: u8,
    /// The shape and the segment that come next.
    shape_at: usize,
    segment_at: usize,
}

impl Lists {
    fn shape(mut self) -> Option<Shape> {
        let shape = self.next(-1, 0)?;
        (self.shape_at == self.shapes.len() && self.segment_at == self.segments.len()).then_some(shape)
    }

    /// The next shape, with those below it, which follow it.
    fn next(&mut self, parent: i32, depth: usize) -> Option<Shape> {
        let own = self.shape_at;
        let &(above, _, kind) = self.shapes.get(own).filter(|_| depth < DEPTH_MAX)?;
        self.shape_at += 1;
        (above == parent).then_some(())?;
        let mut shape = Shape::empty(kind)?;
        let figures = self.figures_of(own)?;
        match &mut shape {
            Shape::Point(point) => match figures.len() {
                0 => {}
                1 => *point = Some(*self.ring(figures.start)?.first()?),
                _ => return None,
            },
            Shape::Line(points) | Shape::Arcs(points) if figures.len() <= 1 => {
                for figure in figures {
                    *points = self.ring(figure)?;
                }
            }
            Shape::Polygon(rings) => {
                for figure in figures {
                    rings.push(self.ring(figure)?);
                }
            }
            Shape::Compound(curves) if figures.len() <= 1 => {
                for figure in figures {
                    *curves = self.curves(figure)?;
                }
            }
            Shape::CurvePolygon(rings) => {
                for figure in figures {
                    let ring = match self.figures[figure].0 {
                        COMPOUND => Shape::Compound(self.curves(figure)?),
                        ARC => Shape::Arcs(self.ring(figure)?),
                        _ => Shape::Line(self.ring(figure)?),
                    };
                    rings.push(ring);
                }
            }
            Shape::MultiPoint(list) | Shape::MultiLine(list) | Shape::MultiPolygon(list) | Shape::Collection(list) => {
                while self.shapes.get(self.shape_at).is_some_and(|(above, ..)| *above == own as i32) {
                    list.push(self.next(own as i32, depth + 1)?);
                }
            }
            Shape::FullGlobe => {}
            _ => return None,
        }
        is_of_its_kind(&shape).then_some(shape)
    }

    /// The figures of a shape: up to those of the next shape that has any.
    fn figures_of(&self, shape: usize) -> Option<std::ops::Range<usize>> {
        let first = self.shapes[shape].1;
        if first == -1 {
            return Some(0..0);
        }
        let start = usize::try_from(first).ok()?;
        let later = self.shapes[shape + 1..].iter().find(|(_, figure, _)| *figure >= 0);
        let end = match later {
            Some((_, figure, _)) => usize::try_from(*figure).ok()?,
            None => self.figures.len(),
        };
        (start <= end && end <= self.figures.len()).then_some(start..end)
    }

    /// The points of a figure.
    fn ring(&self, figure: usize) -> Option<Vec<Point>> {
        let start = self.figures.get(figure)?.1;
        let end = self.figures.get(figure + 1).map_or(self.points.len(), |next| next.1);
        let known = self.version > 1 || self.figures[figure].0 <= OUTER_RING;
        let points = self.points.get(start..end).filter(|points| known && !points.is_empty())?;
        Some(points.to_vec())
    }

    /// The parts of a compound curve.
    fn curves(&mut self, figure: usize) -> Option<Vec<Curve>> {
        let points = self.ring(figure)?;
        let mut curves: Vec<Curve> = Vec::new();
        let mut at = 0;
        while at + 1 < points.len() {
            let kind = *self.segments.get(self.segment_at)?;
            self.segment_at += 1;
            let arc = matches!(kind, ARC_SEGMENT | FIRST_ARC);
            let step = if arc { 2 } else { 1 };
            let own = points.get(at..=at + step)?;
            match (kind, curves.last_mut()) {
                (FIRST_LINE | FIRST_ARC, _) => curves.push(Curve { arc, points: own.to_vec() }),
                (LINE_SEGMENT | ARC_SEGMENT, Some(curve)) if curve.arc == arc => {
                    curve.points.extend_from_slice(&own[1..])
                }
                _ => return None,
            }
            at += step;
        }
        (at + 1 == points.len()).then_some(curves)
    }
}

/// Whether a shape has as many points, and such members, as its kind asks for.
fn is_of_its_kind(shape: &Shape) -> bool {
    let all = |list: &[Shape], of: fn(&Shape) -> bool| list.iter().all(of);
    match shape {
        Shape::Line(points) => points.len() != 1,
        Shape::Arcs(points) => points.is_empty() || points.len() > 2 && points.len() % 2 == 1,
        Shape::Polygon(rings) => rings
            .iter()
            .all(|ring| ring.len() > 3 && ring.first().zip(ring.last()).is_some_and(|(first, last)| first.is_at(last))),
        Shape::MultiPoint(list) => all(list, |member| matches!(member, Shape::Point(_))),
        Shape::MultiLine(list) => all(list, |member| matches!(member, Shape::Line(_))),
        Shape::MultiPolygon(list) => all(list, |member| matches!(member, Shape::Polygon(_))),
        Shape::Collection(list) => all(list, |member| *member != Shape::FullGlobe),
        _ => true,
    }
}
