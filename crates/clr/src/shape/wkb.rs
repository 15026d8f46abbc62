//! Well-known binary:
//!
//! ```text
//! | order 1 | kind 4 | what the kind has |      order: 0 big-endian, 1 little-endian; kind: + 1000 with z, + 2000 with m
//! point: its numbers | line: count 4, points | polygon: count 4, rings as lines | others: count 4, shapes with order and kind
//! ```

use pikepole_types::spatial::{Curve, DEPTH_MAX, Point, Shape};

/// The bytes of a shape, with heights and measures if asked for.
pub(super) fn write(shape: &Shape, all: bool) -> Vec<u8> {
    let mut more = [false; 2];
    if all {
        shape.each_point(&mut |point| {
            more[0] |= point.z.is_some();
            more[1] |= point.m.is_some();
        });
    }
    let mut out = Vec::new();
    Writer { more, out: &mut out }.shape(shape);
    out
}

struct Writer<'o> {
    /// Whether points have a height and a measure.
    more: [bool; 2],
    out: &'o mut Vec<u8>,
}

impl Writer<'_> {
    fn head(&mut self, kind: u32) {
        let kind = kind + u32::from(self.more[0]) * 1000 + u32::from(self.more[1]) * 2000;
        self.out.push(1);
        self.out.extend_from_slice(&kind.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.out.extend_from_slice(&(count as u32).to_le_bytes());
    }

    fn shape(&mut self, shape: &Shape) {
        self.head(if *shape == Shape::FullGlobe { 126 } else { shape.code().into() });
        match shape {
            Shape::Point(point) => self.point(&point.unwrap_or(Point::flat(f64::NAN, f64::NAN))),
            Shape::Line(points) | Shape::Arcs(points) => self.line(points),
            Shape::Polygon(rings) => {
                self.count(rings.len());
                rings.iter().for_each(|ring| self.line(ring));
            }
            Shape::Compound(curves) => {
                self.count(curves.len());
                for curve in curves {
                    self.head(if curve.arc { 8 } else { 2 });
                    self.line(&curve.points);
                }
            }
            Shape::CurvePolygon(list)
            | Shape::MultiPoint(list)
            | Shape::MultiLine(list)
            | Shape::MultiPolygon(list)
            | Shape::Collection(list) => {
                self.count(list.len());
                list.iter().for_each(|member| self.shape(member));
            }
            Shape::FullGlobe => {}
        }
    }

    fn line(&mut self, points: &[Point]) {
        self.count(points.len());
        points.iter().for_each(|point| self.point(point));
    }

    fn point(&mut self, point: &Point) {
        let more = [point.z, point.m].into_iter().zip(self.more).filter(|(_, wanted)| *wanted);
        let more = more.map(|(number, _)| number.unwrap_or(f64::NAN));
        for number in [point.x, point.y].into_iter().chain(more) {
            self.out.extend_from_slice(&number.to_le_bytes());
        }
    }
}

/// The shape that bytes are; None for bytes that are none.
pub(super) fn read(bytes: &[u8]) -> Option<Shape> {
    let mut reader = Reader { bytes, big: false, more: [false; 2] };
    let shape = reader.shape(0)?;
    reader.bytes.is_empty().then_some(shape)
}

struct Reader<'b> {
    bytes: &'b [u8],
    big: bool,
    more: [bool; 2],
}

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (own, behind) = self.bytes.split_first_chunk::<N>()?;
        self.bytes = behind;
        let mut own = *own;
        if self.big {
            own.reverse();
        }
        Some(own)
    }

    fn float(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    /// A length of a list whose items have so many bytes at least.
    fn count(&mut self, item_bytes: usize) -> Option<usize> {
        let count = u32::from_le_bytes(self.take()?) as usize;
        (count.checked_mul(item_bytes)? <= self.bytes.len()).then_some(count)
    }

    fn head(&mut self) -> Option<u8> {
        let [order] = self.take()?;
        self.big = match order {
            0 => true,
            1 => false,
            _ => return None,
        };
        let kind = u32::from_le_bytes(self.take()?);
        self.more = match kind / 1000 {
            0 => [false, false],
            1 => [true, false],
            2 => [false, true],
            3 => [true, true],
            _ => return None,
        };
        u8::try_from(kind % 1000).ok()
    }

    fn shape(&mut self, depth: usize) -> Option<Shape> {
        let kind = self.head().filter(|_| depth < DEPTH_MAX)?;
        Some(match kind {
            1 => {
                let point = self.point()?;
                Shape::Point((!point.x.is_nan()).then_some(point))
            }
            2 => Shape::Line(self.line(2)?),
            3 => {
                let rings = (0..self.count(4)?).map(|_| self.ring());
                Shape::Polygon(rings.collect::<Option<_>>()?)
            }
            4 => Shape::MultiPoint(self.list(depth, |member| matches!(member, Shape::Point(_)))?),
            5 => Shape::MultiLine(self.list(depth, |member| matches!(member, Shape::Line(_)))?),
            6 => Shape::MultiPolygon(self.list(depth, |member| matches!(member, Shape::Polygon(_)))?),
            7 => Shape::Collection(self.list(depth, |member| *member != Shape::FullGlobe)?),
            8 => Shape::Arcs(self.line(3).filter(|points| points.is_empty() || points.len() % 2 == 1)?),
            9 => Shape::Compound(self.curves(depth)?),
            10 => Shape::CurvePolygon(
                self.list(depth, |ring| matches!(ring, Shape::Line(_) | Shape::Arcs(_) | Shape::Compound(_)))?,
            ),
            126 if depth == 0 => Shape::FullGlobe,
            _ => return None,
        })
    }

    fn list(&mut self, depth: usize, fits: fn(&Shape) -> bool) -> Option<Vec<Shape>> {
        let members = (0..self.count(5)?).map(|_| self.shape(depth + 1).filter(fits));
        members.collect()
    }

    fn curves(&mut self, depth: usize) -> Option<Vec<Curve>> {
        let list = self.list(depth, |part| matches!(part, Shape::Line(_) | Shape::Arcs(_)))?;
        let curves: Vec<Curve> =
            list.into_iter().map(|part| Curve { arc: matches!(part, Shape::Arcs(_)), points: part.points() }).collect();
        let joined = curves.windows(2).all(|pair| pair[0].points.last() == pair[1].points.first());
        joined.then_some(curves)
    }

    fn ring(&mut self) -> Option<Vec<Point>> {
        let ring = self.line(4)?;
        let closed = ring.first().zip(ring.last()).is_some_and(|(first, last)| first.is_at(last));
        closed.then_some(ring)
    }

    /// Points: none, or so many at least.
    fn line(&mut self, least: usize) -> Option<Vec<Point>> {
        let points: Vec<Point> = (0..self.count(16)?).map(|_| self.point()).collect::<Option<_>>()?;
        let whole = points.iter().all(|point| point.x.is_finite() && point.y.is_finite());
        (whole && (points.is_empty() || points.len() >= least)).then_some(points)
    }

    fn point(&mut self) -> Option<Point> {
        let mut point = Point::flat(self.float()? + 0.0, self.float()? + 0.0);
        let known = |number: f64| number.is_finite().then_some(number);
        if self.more[0] {
            point.z = known(self.float()?);
        }
        if self.more[1] {
            point.m = known(self.float()?);
        }
        let whole = point.x.is_finite() && point.y.is_finite() || point.x.is_nan() && point.y.is_nan();
        whole.then_some(point)
    }
}
