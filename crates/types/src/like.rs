//! LIKE and PATINDEX: `%` any text, `_` one character, `[a-f]` one of a set, `[^a-f]` one outside it.

use crate::collation::{Collation, Places};
use std::fmt::{self, Display, Formatter, Write};
use std::str::Chars;
use std::sync::OnceLock;

/// A compiled pattern. Matching takes time in proportion to the text times the pattern at worst and allocates nothing
/// for ASCII text.
///
/// Blanks at the end of the text may be left over, as for `char` and `varchar` in SQL Server. Where a character can
/// stand for several, as in
/// `Straße` LIKE 'strass%', such patterns and texts match by units and not by characters.
#[derive(Debug, Clone)]
pub struct LikePattern {
    parts: Vec<Part>,
    collation: Collation,
    /// Each character of it is one unit.
    plain: bool,
    /// The parts by units, made when a text first asks for them.
    runs: OnceLock<Vec<Run>>,
    /// What it asks of ASCII texts, made when there are many texts; none where that is more than to have some pieces in order.
    pieces: OnceLock<Option<Pieces>>,
    /// A set without its bracket, or an escape without its character: matches nothing.
    malformed: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Any,
    One,
    Char(char),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

/// A part of a pattern by units.
#[derive(Debug, Clone)]
enum Run {
    Any,
    One,
    Text(Places),
    Set { negated: bool, ranges: Vec<(char, char)> },
}

/// `x%`, `%x%`, `%x%y%` and the like, for ASCII texts.
#[derive(Debug, Clone)]
struct Pieces {
    /// The first one stands at the text's beginning.
    is_anchored: bool,
    /// Of each character the two bytes that are it, in either case.
    pieces: Vec<Vec<[u8; 2]>>,
}

impl Pieces {
    fn are_in(&self, text: &[u8]) -> bool {
        let mut rest = text;
        for (number, piece) in self.pieces.iter().enumerate() {
            let is_it = |bytes: &[u8]| bytes.iter().zip(piece).all(|(byte, pair)| pair.contains(byte));
            let mut starts = rest.windows(piece.len());
            let found = match self.is_anchored && number == 0 {
                true => starts.next().filter(|bytes| is_it(bytes)).map(|_| 0),
                false => starts.position(is_it),
            };
            let Some(at) = found else { return false };
            rest = &rest[at + piece.len()..];
        }
        true
    }
}

/// The pattern as it compares: its characters folded, and those that stand for themselves in brackets.
impl Display for LikePattern {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part {
                Part::Any => f.write_char('%')?,
                Part::One => f.write_char('_')?,
                Part::Char(c @ ('%' | '_' | '[')) => write!(f, "[{c}]")?,
                Part::Char(c) => f.write_char(*c)?,
                Part::Set { negated, ranges } => {
                    f.write_str(if *negated { "[^" } else { "[" })?;
                    for (first, last) in ranges {
                        if first == last { f.write_char(*first)? } else { write!(f, "{first}-{last}")? }
                    }
                    f.write_char(']')?;
                }
            }
        }
        Ok(())
    }
}

impl LikePattern {
    /// Compiles a pattern; `escape` makes the character after it stand for itself.
    pub fn new(pattern: &str, escape: Option<char>, collation: Collation) -> LikePattern {
        let plain = collation.is_single(pattern);
        let (runs, pieces) = (OnceLock::new(), OnceLock::new());
        let mut compiled = LikePattern { parts: Vec::new(), collation, plain, runs, pieces, malformed: false };
        let mut chars = pattern.chars();
        while let Some(c) = chars.next() {
            let part = match c {
                _ if Some(c) == escape => chars.next().map(|c| Part::Char(collation.fold(c))),
                '%' => Some(Part::Any),
                '_' => Some(Part::One),
                '[' => read_set(&mut chars, escape),
                _ => Some(Part::Char(collation.fold(c))),
            };
            match part {
                Some(Part::Any) if compiled.parts.last() == Some(&Part::Any) => {}
                Some(part) => compiled.parts.push(part),
                None => compiled.malformed = true,
            }
        }
        compiled
    }

    /// Whether the whole text matches.
    pub fn matches(&self, text: &str) -> bool {
        !self.malformed
            && if self.is_by_characters(text) {
                self.matches_from(&self.parts, text)
            } else {
                let places = Places::of(self.collation, text);
                self.runs_match(self.runs(), text, &places, 0)
            }
    }

    /// [`LikePattern::matches`] for one of many texts.
    pub fn matches_one_of_many(&self, text: &str) -> bool {
        match self.pieces.get_or_init(|| self.make_pieces()) {
            Some(pieces) if text.bytes().all(|byte| byte.is_ascii() && byte != 0) => pieces.are_in(text.as_bytes()),
            _ => self.matches(text),
        }
    }

    /// None for patterns that end otherwise than with `%`, and for those with `_`, sets and characters that are no single byte or two.
    fn make_pieces(&self) -> Option<Pieces> {
        if self.malformed || !self.plain || self.parts.last() != Some(&Part::Any) {
            return None;
        }
        let mut pieces = Vec::new();
        for run in self.parts.split(|part| *part == Part::Any).filter(|run| !run.is_empty()) {
            let pair = |part: &Part| {
                let same = |byte: &u8| matches!(part, Part::Char(_)) && self.part_matches(part, char::from(*byte));
                let bytes: Vec<u8> = (1..0x80).filter(same).collect();
                match *bytes.as_slice() {
                    [byte] => Some([byte; 2]),
                    [one, other] => Some([one, other]),
                    _ => None,
                }
            };
            pieces.push(run.iter().map(pair).collect::<Option<Vec<_>>>()?);
        }
        Some(Pieces { is_anchored: self.parts.first() != Some(&Part::Any), pieces })
    }

    fn is_by_characters(&self, text: &str) -> bool {
        self.plain && self.collation.is_single(text)
    }

    fn runs(&self) -> &[Run] {
        self.runs.get_or_init(|| {
            let mut runs = Vec::new();
            let mut text = String::new();
            let ended = |text: &mut String, runs: &mut Vec<Run>| {
                if !text.is_empty() {
                    runs.push(Run::Text(Places::of(self.collation, text)));
                    text.clear();
                }
            };
            for part in &self.parts {
                let run = match part {
                    Part::Char(c) => {
                        text.push(*c);
                        continue;
                    }
                    Part::Any => Run::Any,
                    Part::One => Run::One,
                    Part::Set { negated, ranges } => Run::Set { negated: *negated, ranges: ranges.clone() },
                };
                ended(&mut text, &mut runs);
                runs.push(run);
            }
            ended(&mut text, &mut runs);
            runs
        })
    }

    /// Whether runs match the rest of a text from one of its places, where a character begins.
    fn runs_match(&self, runs: &[Run], text: &str, places: &Places, start: usize) -> bool {
        let (mut at, mut place) = (0, start);
        // Where to go on after a mismatch: behind the last `%`, one character later.
        let mut retry: Option<(usize, usize)> = None;
        loop {
            let next = match runs.get(at) {
                Some(Run::Any) => {
                    at += 1;
                    if at == runs.len() {
                        return true;
                    }
                    retry = Some((at, place));
                    continue;
                }
                None if places.is_blank_from(text, place) => return true,
                None => None,
                Some(Run::Text(run)) => places.behind_run(place, run),
                Some(Run::One) => places.character(text, place).map(|_| places.behind(place)),
                Some(Run::Set { negated, ranges }) => {
                    let inside = |c: char| ranges.iter().any(|&(first, last)| self.collation.in_range(c, first, last));
                    let found = places.character(text, place).filter(|c| inside(*c) != *negated);
                    found.map(|_| places.behind(place))
                }
            };
            if let Some(next) = next {
                (at, place) = (at + 1, next);
                continue;
            }
            match &mut retry {
                Some((part, from)) if *from < places.len() => {
                    *from = places.behind(*from);
                    (at, place) = (*part, *from);
                }
                _ => return false,
            }
        }
    }

    /// The byte offset at which the pattern, less a leading `%`, first matches: PATINDEX.
    pub(crate) fn find(&self, text: &str) -> Option<usize> {
        if self.malformed {
            return None;
        }
        if !self.is_by_characters(text) {
            return self.find_by_units(text);
        }
        match self.parts.split_first() {
            Some((Part::Any, rest)) => {
                let starts = text.char_indices().map(|(at, _)| at).chain([text.len()]);
                starts.into_iter().find(|&at| self.matches_from(rest, &text[at..]))
            }
            _ => self.matches_from(&self.parts, text).then_some(0),
        }
    }

    fn find_by_units(&self, text: &str) -> Option<usize> {
        let places = Places::of(self.collation, text);
        let Some((Run::Any, rest)) = self.runs().split_first() else {
            return self.runs_match(self.runs(), text, &places, 0).then_some(0);
        };
        let mut starts = (0..=places.len()).filter(|&at| places.begins(at));
        let found = starts.find(|&at| self.runs_match(rest, text, &places, at))?;
        Some(if found < places.len() { places.bytes(found).0 } else { text.len() })
    }

    fn matches_from(&self, parts: &[Part], text: &str) -> bool {
        let (mut at, mut chars) = (0, text.chars());
        // Where to go on after a mismatch: behind the last `%`, one character later.
        let mut retry: Option<(usize, Chars<'_>)> = None;
        loop {
            match parts.get(at) {
                Some(Part::Any) => {
                    at += 1;
                    if at == parts.len() {
                        return true;
                    }
                    retry = Some((at, chars.clone()));
                    continue;
                }
                None if chars.as_str().bytes().all(|byte| byte == b' ') => return true,
                None => {}
                Some(part) => match chars.next() {
                    Some(c) if self.part_matches(part, c) => {
                        at += 1;
                        continue;
                    }
                    Some(_) => {}
                    // The text is over: starting later cannot help.
                    None => return false,
                },
            }
            let Some((part, from)) = &mut retry else {
                return false;
            };
            if from.next().is_none() {
                return false;
            }
            at = *part;
            chars = from.clone();
        }
    }

    fn part_matches(&self, part: &Part, c: char) -> bool {
        match part {
            Part::Any | Part::One => true,
            Part::Char(wanted) => c == *wanted || self.collation.is_same(c, *wanted),
            Part::Set { negated, ranges } => {
                let inside = ranges.iter().any(|&(first, last)| {
                    self.collation.is_same(first, c) || first != last && self.collation.in_range(c, first, last)
                });
                inside != *negated
            }
        }
    }
}

/// A set after its opening bracket; `None` when it is never closed.
fn read_set(chars: &mut Chars<'_>, escape: Option<char>) -> Option<Part> {
    let negated = chars.as_str().starts_with('^');
    if negated {
        chars.next();
    }
    let mut ranges = Vec::new();
    // Nothing is left out.
    if negated && chars.as_str().starts_with(']') {
        chars.next();
        return Some(Part::Set { negated, ranges });
    }
    loop {
        let mut c = chars.next()?;
        if c == ']' && !ranges.is_empty() {
            return Some(Part::Set { negated, ranges });
        }
        if Some(c) == escape {
            c = chars.next()?;
        }
        let mut ahead = chars.clone();
        let last = match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) if last != ']' => {
                *chars = ahead;
                if Some(last) == escape { chars.next()? } else { last }
            }
            _ => c,
        };
        ranges.push((c, last));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn like(text: &str, pattern: &str) -> bool {
        LikePattern::new(pattern, None, Collation::default()).matches(text)
    }

    #[test]
    fn wildcards() {
        let yes = [
            ("Hello", "h%o"),
            ("", "%"),
            ("abc", "a_c"),
            ("abc", "%b%"),
            ("abc", "ABC"),
            ("abc   ", "abc"),
            ("aXbXc", "a%X%c"),
            ("aaa", "%aa"),
            ("x5", "x[0-9]"),
            ("x", "[^]"),
            ("xq", "x[^0-9]"),
            ("xB", "x[a-c]"),
            ("[", "[[]"),
            ("a]", "a[]]"),
            ("50%", "50[%]"),
            ("é", "É"),
            ("-", "[a-]"),
            ("mississippi", "m%iss%ip%i"),
        ];
        for (text, pattern) in yes {
            assert!(like(text, pattern), "{text} LIKE {pattern}");
        }
        let no = [
            ("Hello", "h%x"),
            ("", "_"),
            ("abc", "a_"),
            ("abc", "ab"),
            ("x", "[x"),
            ("xd", "x[a-c]"),
            ("e", "é"),
            ("abc", "abc "),
            ("", "a"),
        ];
        for (text, pattern) in no {
            assert!(!like(text, pattern), "{text} LIKE {pattern}");
        }
    }

    #[test]
    fn escape_and_position() {
        let escaped = LikePattern::new("50!%%", Some('!'), Collation::default());
        assert!(escaped.matches("50% off") && !escaped.matches("500"));
        assert!(!LikePattern::new("a!", Some('!'), Collation::default()).matches("a"));
        let find = |pattern: &str, text: &str| LikePattern::new(pattern, None, Collation::default()).find(text);
        assert_eq!(find("%b%", "abc"), Some(1));
        assert_eq!(find("b%", "abc"), None);
        assert_eq!(find("%[0-9]%", "ab12"), Some(2));
        assert_eq!(find("%c", "abcbc"), Some(4));
    }

    #[test]
    fn every_character_is_like_itself() {
        for name in ["German_PhoneBook_CI_AI", "Turkish_CI_AI", "Traditional_Spanish_CI_AI", "Latin1_General_CI_AI"] {
            let collation = Collation::by_name(name).expect(name);
            for c in ('!'..'\u{3100}').filter(|c| !"%_[".contains(*c)) {
                let text = c.to_string();
                assert!(LikePattern::new(&text, None, collation).matches(&text), "{name} {text}");
            }
        }
    }

    #[test]
    fn what_stands_for_several_matches_them() {
        let yes = [
            ("Straße", "strasse"),
            ("Straße", "STRASS%"),
            ("Æther", "aether"),
            ("aether", "Æ%"),
            ("e\u{301}t\u{e9}", "\u{e9}te\u{301}"),
            ("ﬁn", "fin"),
            ("co-op", "co-op"),
            ("a\0b", "ab"),
            ("a\0", "a_"),
            ("é", "[d-f]"),
            ("ＡＢ", "a_"),
            ("x\u{e9} ", "x_"),
        ];
        for (text, pattern) in yes {
            assert!(like(text, pattern), "{text} LIKE {pattern}");
        }
        // A set is of characters, and a match begins and ends where one does.
        let no = [
            ("Strasse", "stra[ß]e%"),
            ("Straße", "%s%se"),
            ("Straße", "stras_e"),
            ("e\u{301}", "e%"),
            ("co-op", "coop"),
            ("Straße", "stras%e"),
            ("é", "e"),
        ];
        for (text, pattern) in no {
            assert!(!like(text, pattern), "{text} LIKE {pattern}");
        }
        let find = |pattern: &str, text: &str| LikePattern::new(pattern, None, Collation::default()).find(text);
        assert_eq!((find("%ss%", "Straße"), find("%Æ%", "Caesar"), find("%e", "éte")), (Some(4), Some(1), Some(3)));
    }

    #[test]
    fn many_texts_match_as_each_of_them() {
        let texts = [
            "",
            " ",
            "green",
            "Green apple",
            "a GREEN one",
            "gree",
            "special requests",
            "the SPECIAL ones, and requests",
            "requests special",
            "specialrequests",
            "aaab",
            "aab",
            "ab",
            "PROMO BRUSHED",
            "promo",
            "PROM",
            "50%",
            "Straße",
            "a\0b",
            "ss",
            "éa",
            "x  ",
        ];
        let patterns = [
            "%",
            "green%",
            "%green%",
            "%special%requests%",
            "promo%",
            "%a%a%b%",
            "%aab%",
            "ab%",
            "%50[%]%",
            "_a%",
            "%s%",
            "é%",
            "x %",
            "x",
        ];
        for name in [
            "Latin1_General_CI_AS",
            "Latin1_General_CS_AS",
            "Latin1_General_BIN2",
            "SQL_Latin1_General_CP1_CI_AS",
            "Turkish_CI_AI",
        ] {
            let collation = Collation::by_name(name).expect(name);
            for pattern in patterns {
                let compiled = LikePattern::new(pattern, None, collation);
                for text in texts {
                    let [one, many] = [compiled.matches(text), compiled.matches_one_of_many(text)];
                    assert_eq!(many, one, "{text} LIKE {pattern} in {name}");
                }
            }
        }
        let pieces = |pattern: &str| LikePattern::new(pattern, None, Collation::default()).make_pieces().is_some();
        assert!(pieces("%green%") && pieces("promo%") && !pieces("%green") && !pieces("a_%"));
    }

    #[test]
    fn a_hostile_pattern_does_not_explode() {
        let pattern = "%a".repeat(50) + "b";
        assert!(!like(&"a".repeat(5000), &pattern));
    }
}
