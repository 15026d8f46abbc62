//! Rows that are made once and found by equality: spools and full joins.
//!
//! ```text
//!   Spool opened the 1st time    rows pass by, those with the wanted keys are given; nothing is kept
//!   Spool opened the 2nd time    rows are made once more and kept, with a table from keys' hashes to rows
//!   from then on                 rows are looked up
//! ```
//! So an inner side that is read once costs nothing more, and one that is read for every outer row is read twice in all.

use hashbrown::hash_map::{Entry, HashMap};

use super::Run;
use super::cursor::Cursor;
use crate::access::{Pace, Stop};
use crate::expression::{Expr, Fault};
use crate::plan::{FullJoin, JoinKey, Spool};
use pikepole_types::{Value, hash, order};

/// Rows by the hash of their keys.
#[derive(Default)]
struct Kept {
    /// Per row, its keys and then the carried values.
    rows: Vec<Vec<Value>>,
    /// Per hash, the first row and the last one; each row knows the next with its hash.
    heads: HashMap<u64, (usize, usize)>,
    next: Vec<usize>,
}

/// Behind the last row of a chain.
const NONE: usize = usize::MAX;

fn code(keys: &[JoinKey], values: &[Value]) -> u64 {
    let mut code = 0u64;
    for (key, value) in keys.iter().zip(values) {
        code = code.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash(value, key.collation);
    }
    code
}

/// Keys that equal something: a NULL equals nothing.
fn equal(keys: &[JoinKey], left: &[Value], right: &[Value]) -> bool {
    let mut pairs = keys.iter().zip(left.iter().zip(right));
    pairs.all(|(key, (left, right))| !left.is_null() && order(left, right, key.collation).is_eq())
}

impl Kept {
    fn add(&mut self, keys: &[JoinKey], row: Vec<Value>) {
        let code = code(keys, &row);
        let at = self.rows.len();
        self.rows.push(row);
        self.next.push(NONE);
        match self.heads.entry(code) {
            Entry::Occupied(mut chain) => {
                let (_, last) = chain.get_mut();
                self.next[*last] = at;
                *last = at;
            }
            Entry::Vacant(chain) => {
                chain.insert((at, at));
            }
        }
    }

    /// The first row that may have these keys.
    fn first(&self, keys: &[JoinKey], wanted: &[Value]) -> usize {
        if wanted.iter().any(Value::is_null) {
            return NONE;
        }
        self.heads.get(&code(keys, wanted)).map_or(NONE, |(first, _)| *first)
    }

    /// The next row with these keys, from `at` on.
    fn find(&self, mut at: usize, keys: &[JoinKey], wanted: &[Value]) -> Option<usize> {
        while let Some(row) = self.rows.get(at) {
            if equal(keys, wanted, row) {
                return Some(at);
            }
            at = self.next[at];
        }
        None
    }
}

fn values<'e>(exprs: impl Iterator<Item = &'e Expr>, run: &mut Run<'_>) -> Result<Vec<Value>, Fault> {
    exprs.map(|expr| expr.eval(&mut run.env())).collect()
}

/// How far a spool has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Never opened in this statement.
    New,
    /// Opened once: rows pass by.
    Passing,
    /// Opened again: the rows are being kept.
    Filling,
    /// All rows are kept.
    Full,
}

/// The state of a [`Spool`].
pub(crate) struct SpoolCursor {
    input: Cursor,
    stage: Stage,
    kept: Kept,
    /// The keys wanted; none before the first row of an opening.
    wanted: Option<Vec<Value>>,
    at: usize,
    pace: Pace,
}

impl SpoolCursor {
    pub(crate) fn new(input: Cursor) -> SpoolCursor {
        let pace = Pace::default();
        SpoolCursor { input, stage: Stage::New, kept: Kept::default(), wanted: None, at: NONE, pace }
    }

    pub(crate) fn open(&mut self) {
        self.wanted = None;
        match self.stage {
            Stage::New => {
                self.input.open();
                self.stage = Stage::Passing;
            }
            Stage::Passing => {
                self.input.open();
                self.stage = Stage::Filling;
            }
            // What is being made is the same for every outer row.
            Stage::Filling | Stage::Full => {}
        }
    }

    pub(crate) fn forget(&mut self) {
        self.input.forget();
        self.kept = Kept::default();
        self.stage = Stage::New;
        self.wanted = None;
    }

    pub(crate) fn next(&mut self, plan: &Spool, run: &mut Run<'_>) -> Result<bool, Stop> {
        while self.stage == Stage::Filling {
            if !self.input.next(&plan.input, run)? {
                self.stage = Stage::Full;
                break;
            }
            let mut row = values(plan.keys.iter().map(|key| &key.inner), run)?;
            row.extend(plan.carry.iter().map(|slot| run.slots[*slot].clone()));
            self.kept.add(&plan.keys, row);
        }
        let wanted = match &self.wanted {
            Some(wanted) => wanted,
            None => {
                let wanted = values(plan.keys.iter().map(|key| &key.outer), run)?;
                self.at = if self.stage == Stage::Full { self.kept.first(&plan.keys, &wanted) } else { NONE };
                self.wanted.insert(wanted)
            }
        };
        if self.stage == Stage::Full {
            self.pace.step()?;
            let Some(found) = self.kept.find(self.at, &plan.keys, wanted) else {
                self.at = NONE;
                return Ok(false);
            };
            self.at = self.kept.next[found];
            let row = &self.kept.rows[found][plan.keys.len()..];
            for (slot, value) in plan.carry.iter().zip(row) {
                run.slots[*slot].clone_from(value);
            }
            return Ok(true);
        }
        if wanted.iter().any(Value::is_null) {
            return Ok(false);
        }
        while self.input.next(&plan.input, run)? {
            let keys = values(plan.keys.iter().map(|key| &key.inner), run)?;
            if equal(&plan.keys, wanted, &keys) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The state of a [`FullJoin`].
pub(crate) struct FullCursor {
    left: Cursor,
    right: Cursor,
    filled: bool,
    kept: Kept,
    /// Which right rows have been joined.
    matched: Vec<bool>,
    /// The keys of the left row at hand, and whether it has been joined.
    wanted: Option<Vec<Value>>,
    joined: bool,
    at: usize,
    /// The next right row to look at when all left rows are done.
    rest: Option<usize>,
    pace: Pace,
}

impl FullCursor {
    pub(crate) fn new(left: Cursor, right: Cursor) -> FullCursor {
        FullCursor {
            left,
            right,
            filled: false,
            kept: Kept::default(),
            matched: Vec::new(),
            wanted: None,
            joined: false,
            at: NONE,
            rest: None,
            pace: Pace::default(),
        }
    }

    pub(crate) fn open(&mut self) {
        self.left.open();
        self.right.open();
        self.filled = false;
        self.kept = Kept::default();
        self.matched.clear();
        self.wanted = None;
        self.rest = None;
    }

    pub(crate) fn forget(&mut self) {
        self.left.forget();
        self.right.forget();
        self.kept = Kept::default();
        self.filled = false;
    }

    pub(crate) fn next(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        self.fill(plan, run)?;
        while self.rest.is_none() {
            if self.wanted.is_none() {
                if !self.left.next(&plan.left, run)? {
                    self.rest = Some(0);
                    break;
                }
                let wanted = values(plan.keys.iter().map(|key| &key.outer), run)?;
                self.at = self.kept.first(&plan.keys, &wanted);
                self.wanted = Some(wanted);
                self.joined = false;
            }
            if self.partner(plan, run)? {
                return Ok(true);
            }
            self.wanted = None;
            if !self.joined {
                plan.right_registers.iter().for_each(|registers| run.slots[registers.range()].fill(Value::Null));
                return Ok(true);
            }
        }
        let from = self.rest.unwrap_or(0);
        let Some(at) = (from..self.matched.len()).find(|at| !self.matched[*at]) else {
            self.rest = Some(self.matched.len());
            return Ok(false);
        };
        self.rest = Some(at + 1);
        plan.left_registers.iter().for_each(|registers| run.slots[registers.range()].fill(Value::Null));
        self.read(at, plan, run);
        Ok(true)
    }

    fn fill(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<(), Stop> {
        while !self.filled {
            if !self.right.next(&plan.right, run)? {
                self.filled = true;
                self.matched = vec![false; self.kept.rows.len()];
                break;
            }
            let mut row = values(plan.keys.iter().map(|key| &key.inner), run)?;
            row.extend(plan.carry.iter().map(|slot| run.slots[*slot].clone()));
            self.kept.add(&plan.keys, row);
        }
        Ok(())
    }

    /// Moves to the next right row that the left row at hand is joined to.
    fn partner(&mut self, plan: &FullJoin, run: &mut Run<'_>) -> Result<bool, Stop> {
        loop {
            let Some(wanted) = &self.wanted else {
                return Ok(false);
            };
            self.pace.step()?;
            let Some(found) = self.kept.find(self.at, &plan.keys, wanted) else {
                return Ok(false);
            };
            self.read(found, plan, run);
            let joins = match &plan.on {
                None => true,
                Some(on) => on.holds(&mut run.env())?,
            };
            self.at = self.kept.next[found];
            if joins {
                self.matched[found] = true;
                self.joined = true;
                return Ok(true);
            }
        }
    }

    fn read(&self, at: usize, plan: &FullJoin, run: &mut Run<'_>) {
        for (slot, value) in plan.carry.iter().zip(&self.kept.rows[at][plan.keys.len()..]) {
            run.slots[*slot].clone_from(value);
        }
    }
}
