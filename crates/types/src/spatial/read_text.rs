//! Well-known text is read: `POINT (1 2)`, `POLYGON ((0 0, 4 0, 4 4, 0 0))`, with heights and measures behind x and y.
//!
//! What is wrong is told as SQL Server tells it, with the place where it was found, counted from 0.

use super::{Class, Curve, DEPTH_MAX, Instance, Point, Shape, System};
use crate::error::SqlError;

/// The words that shapes begin with, by their kinds' numbers from 1. A word that another one begins with comes behind it in no case.
const LABELS: [&str; 11] = [
    "POINT",
    "LINESTRING",
    "POLYGON",
    "MULTIPOINT",
    "MULTILINESTRING",
    "MULTIPOLYGON",
    "GEOMETRYCOLLECTION",
    "CIRCULARSTRING",
    "COMPOUNDCURVE",
    "CURVEPOLYGON",
    "FULLGLOBE",
];

impl Instance {
    /// The instance that a text says.
    ///
    /// # Errors
    /// 6522: 24100, 24111 to 24142, 24201 ... for what is no text of a shape, and for numbers of no reference system.
    pub fn parse(text: &str, system: System, srid: i32) -> Result<Instance, SqlError> {
        let mut reader = Reader::new(text, system);
        let shape = reader.whole(None)?;
        Instance::new(system, srid, shape)
    }

    /// [`Instance::parse`] of a shape of one kind, by its number.
    ///
    /// # Errors
    /// As [`Instance::parse`]; 24142 for another kind.
    pub fn parse_kind(text: &str, system: System, srid: i32, kind: u8) -> Result<Instance, SqlError> {
        let mut reader = Reader::new(text, system);
        let shape = reader.whole(Some(kind))?;
        Instance::new(system, srid, shape)
    }
}

struct Reader<'t> {
    text: &'t str,
    at: usize,
    system: System,
}

impl<'t> Reader<'t> {
    fn new(text: &'t str, system: System) -> Reader<'t> {
        Reader { text, at: 0, system }
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn failed(&self, text: &str) -> SqlError {
        self.system.refused(Class::Format, text)
    }

    fn ended(&self) -> SqlError {
        self.failed("24209: Unexpected end of input. Check that the input data is complete and has not been truncated.")
    }

    fn whole(&mut self, kind: Option<u8>) -> Result<Shape, SqlError> {
        self.blanks();
        if self.rest().is_empty() {
            return Err(self.failed(
                "24112: The well-known text (WKT) input is empty. To input an empty instance, specify an empty instance of one of the \
                 following types: Point, LineString, Polygon, MultiPoint, MultiLineString, MultiPolygon, CircularString, CompoundCurve, \
                 CurvePolygon or GeometryCollection.",
            ));
        }
        let shape = match kind {
            None => self.tagged(0)?,
            Some(kind) => {
                self.label(LABELS[usize::from(kind) - 1])?;
                self.body(kind, 0)?
            }
        };
        self.blanks();
        match self.rest() {
            "" => Ok(shape),
            _ => Err(self.failed("24111: The well-known text (WKT) input is not valid.")),
        }
    }

    fn at_word(&self, word: &str) -> bool {
        self.rest().get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word))
    }

    /// A word that must come next.
    fn label(&mut self, label: &str) -> Result<(), SqlError> {
        if self.at_word(label) {
            self.at += label.len();
            return Ok(());
        }
        let rest = self.rest();
        let length = rest.chars().count();
        let (place, shown) = match length.cmp(&label.len()) {
            std::cmp::Ordering::Less => (0, 1),
            std::cmp::Ordering::Equal => (0, length),
            std::cmp::Ordering::Greater => (1, label.len()),
        };
        let shown: String = rest.chars().take(shown).collect();
        Err(self.expected(label, self.at + place, &shown))
    }

    fn expected(&self, what: &str, place: usize, found: &str) -> SqlError {
        self.failed(&format!("24142: Expected \"{what}\" at position {place}. The input has \"{found}\"."))
    }

    /// A shape with its word.
    fn tagged(&mut self, depth: usize) -> Result<Shape, SqlError> {
        self.blanks();
        let Some(at) = LABELS.iter().position(|label| self.at_word(label)) else {
            return Err(self.failed(&format!(
                "24114: The label {} in the input well-known text (WKT) is not valid. Valid labels are POINT, LINESTRING, POLYGON, \
                 MULTIPOINT, MULTILINESTRING, MULTIPOLYGON, GEOMETRYCOLLECTION, CIRCULARSTRING, COMPOUNDCURVE, CURVEPOLYGON and \
                 FULLGLOBE (geography Data Type only).",
                self.rest().trim_end()
            )));
        };
        self.at += LABELS[at].len();
        self.body(at as u8 + 1, depth)
    }

    /// What stands behind the word.
    fn body(&mut self, kind: u8, depth: usize) -> Result<Shape, SqlError> {
        if depth >= DEPTH_MAX {
            return Err(self.failed("24111: The well-known text (WKT) input is not valid."));
        }
        if kind == 11 {
            return self.globe(depth);
        }
        if self.empty() {
            return Shape::empty(kind).ok_or_else(|| self.ended());
        }
        Ok(match kind {
            1 => {
                self.open()?;
                let point = self.point()?;
                self.close()?;
                Shape::Point(Some(point))
            }
            2 => Shape::Line(self.line()?),
            3 => Shape::Polygon(self.polygon()?),
            4 => Shape::MultiPoint(self.multi_point()?),
            5 => Shape::MultiLine(self.list(|reader| {
                let line = if reader.empty() { Vec::new() } else { reader.line()? };
                Ok(Shape::Line(line))
            })?),
            6 => Shape::MultiPolygon(self.list(|reader| {
                let rings = if reader.empty() { Vec::new() } else { reader.polygon()? };
                Ok(Shape::Polygon(rings))
            })?),
            8 => Shape::Arcs(self.arcs()?),
            9 => Shape::Compound(self.compound()?),
            10 => Shape::CurvePolygon(self.list(Self::curved_ring)?),
            _ => Shape::Collection(self.list(|reader| reader.tagged(depth + 1))?),
        })
    }

    fn globe(&self, depth: usize) -> Result<Shape, SqlError> {
        match (self.system, depth) {
            (System::Earth, 0) => Ok(Shape::FullGlobe),
            (System::Earth, _) => Err(self.failed(
                "24150: FullGlobe instances cannot be objects in the GeometryCollection. GeometryCollections can contain the following \
                 instances: Points, MultiPoints, LineStrings, MultiLineStrings, Polygons, MultiPolygons, CircularStrings, CompoundCurves, \
                 CurvePolygons and GeometryCollections.",
            )),
            (System::Plane, _) => {
                Err(self.failed("24303: The OpenGisGeometryType provided, FullGlobe, is not valid."))
            }
        }
    }

    /// `EMPTY`, if it comes next.
    fn empty(&mut self) -> bool {
        self.blanks();
        let found = self.at_word("EMPTY");
        if found {
            self.at += "EMPTY".len();
        }
        found
    }

    fn sign(&mut self, sign: char) -> Result<(), SqlError> {
        self.blanks();
        match self.rest().chars().next() {
            None => Err(self.ended()),
            Some(found) if found == sign => {
                self.at += 1;
                Ok(())
            }
            Some(found) => Err(self.expected(&sign.to_string(), self.at, &found.to_string())),
        }
    }

    fn open(&mut self) -> Result<(), SqlError> {
        self.sign('(')
    }

    fn close(&mut self) -> Result<(), SqlError> {
        self.sign(')')
    }

    fn comma(&mut self) -> bool {
        self.blanks();
        let found = self.rest().starts_with(',');
        self.at += usize::from(found);
        found
    }

    /// Items in parentheses.
    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> Result<T, SqlError>) -> Result<Vec<T>, SqlError> {
        self.open()?;
        let mut items = vec![item(self)?];
        while self.comma() {
            items.push(item(self)?);
        }
        self.close()?;
        Ok(items)
    }

    fn points(&mut self) -> Result<Vec<Point>, SqlError> {
        self.list(Self::point)
    }

    fn line(&mut self) -> Result<Vec<Point>, SqlError> {
        let points = self.points()?;
        if points.len() < 2 {
            return Err(self.failed(
                "24117: The LineString input is not valid because it does not have enough points. A LineString must have at least two \
                 points.",
            ));
        }
        Ok(points)
    }

    fn arcs(&mut self) -> Result<Vec<Point>, SqlError> {
        let points = self.points()?;
        if points.len() < 3 {
            return Err(self.failed(
                "24212: The CircularString input is not valid because it does not have enough points. A CircularString must have at \
                 least three points.",
            ));
        }
        if points.len().is_multiple_of(2) {
            return Err(self.failed(
                "24213: The CircularString input is not valid because it has an even number of points. A CircularString must have an \
                 odd number of points greater than one.",
            ));
        }
        Ok(points)
    }

    /// Points, each with parentheses or all without.
    fn multi_point(&mut self) -> Result<Vec<Shape>, SqlError> {
        self.open()?;
        self.blanks();
        let wrapped = self.rest().starts_with('(') || self.at_word("EMPTY");
        let mut points = Vec::new();
        loop {
            let point = if !wrapped {
                Some(self.point()?)
            } else if self.empty() {
                None
            } else {
                self.open()?;
                let point = self.point()?;
                self.close()?;
                Some(point)
            };
            points.push(Shape::Point(point));
            if !self.comma() {
                break;
            }
        }
        self.close()?;
        Ok(points)
    }

    fn polygon(&mut self) -> Result<Vec<Vec<Point>>, SqlError> {
        let mut number = 0;
        self.list(|reader| {
            let ring = reader.points()?;
            number += 1;
            reader.check_ring(&ring, number)?;
            Ok(ring)
        })
    }

    /// Refuses a ring that has too few points or does not end where it begins; the first one is number 1.
    fn check_ring(&self, ring: &[Point], number: usize) -> Result<(), SqlError> {
        let (code, which) = match (self.system, number) {
            (System::Earth, _) => ([24305, 24306], format!("ring number {number}")),
            (System::Plane, 1) => ([24118, 24119], "exterior ring".to_owned()),
            (System::Plane, _) => ([24120, 24121], format!("interior ring number {}", number - 1)),
        };
        if ring.len() < 4 {
            return Err(self.failed(&format!(
                "{}: The Polygon input is not valid because the {which} does not have enough points. Each ring of a polygon must contain \
                 at least four points.",
                code[0]
            )));
        }
        if !ring[0].is_at(&ring[ring.len() - 1]) {
            return Err(self.failed(&format!(
                "{}: The Polygon input is not valid because the start and end points of the {which} are not the same. Each ring of a \
                 polygon must have the same start and end points.",
                code[1]
            )));
        }
        Ok(())
    }

    fn compound(&mut self) -> Result<Vec<Curve>, SqlError> {
        let curves = self.list(|reader| {
            reader.blanks();
            let arc = reader.at_word(LABELS[7]);
            if arc {
                reader.at += LABELS[7].len();
                return Ok(Curve { arc, points: reader.arcs()? });
            }
            Ok(Curve { arc, points: reader.line()? })
        })?;
        let apart = curves.windows(2).any(|pair| pair[0].points.last() != pair[1].points.first());
        if apart {
            return Err(self.failed(
                "24134: Sequential parts of a compound curve must have one common endpoint. Add a common endpoint. All coordinates, \
                 including optional Z and M, must be equal.",
            ));
        }
        Ok(curves)
    }

    fn curved_ring(&mut self) -> Result<Shape, SqlError> {
        self.blanks();
        for (label, kind) in [(LABELS[7], 8), (LABELS[8], 9)] {
            if self.at_word(label) {
                self.at += label.len();
                return self.body(kind, 1);
            }
        }
        self.line().map(Shape::Line)
    }

    fn point(&mut self) -> Result<Point, SqlError> {
        let (x, y) = (self.number()?, self.number()?);
        let z = self.more()?;
        let m = if z.is_some() { self.more()? } else { None };
        if self.system == System::Earth && !(-90.0..=90.0).contains(&y) {
            return Err(self.failed("24201: Latitude values must be between -90 and 90 degrees."));
        }
        Ok(Point { x, y, z: z.flatten(), m: m.flatten() })
    }

    /// A number, or NULL, if one comes next.
    fn more(&mut self) -> Result<Option<Option<f64>>, SqlError> {
        self.blanks();
        if self.at_word("NULL") {
            self.at += "NULL".len();
            return Ok(Some(None));
        }
        match self.rest().chars().next() {
            None => Err(self.ended()),
            Some(',' | ')') => Ok(None),
            Some(_) => self.number().map(|number| Some(Some(number))),
        }
    }

    fn number(&mut self) -> Result<f64, SqlError> {
        self.blanks();
        let rest = self.rest();
        let first = rest.chars().next().ok_or_else(|| self.ended())?;
        let end = rest.find([' ', ',', '(', ')', '\t', '\r', '\n']).unwrap_or(rest.len());
        let token = &rest[..end];
        let plain = token.bytes().all(|byte| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E'));
        let number = token.parse().ok().filter(|number: &f64| plain && number.is_finite());
        let Some(number) = number else {
            let found = if token.is_empty() { &rest[..first.len_utf8()] } else { token };
            return Err(self.failed(&format!(
                "24141: A number is expected at position {} of the input. The input has {found}.",
                self.at + token.len()
            )));
        };
        self.at += end;
        // There is no negative zero in a shape.
        Ok(number + 0.0)
    }
}
