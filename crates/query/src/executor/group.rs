//! Grouping and aggregates, by hash over the grouping values.
//!
//! ```text
//!   rows ──► groups in memory ──full──► rows of further groups ──► parts on tapes, each grouped by itself when its turn comes
//!                │                      values of DISTINCT that are new to their group ──► parts on tapes, each looked through once
//!                └─ given: few groups in the order of the grouping values, many as they have come
//! ```
//! Once memory is full it stays so until the groups in it are given: a value that went to a tape is of a group that is on tapes alone,
//! or is one that its group in memory has not counted.

use hashbrown::HashMap;
use std::cmp::Ordering;
use std::sync::Arc;

use super::Run;
use super::cursor::Cursor;
use super::group_values::{Seen, State};
use crate::access::{Pace, Stop};
use crate::executor::spill::{Charge, LEVELS_MAX, Partitions, Tape, TapeReader, row_bytes};
use crate::expression::{Fault, ask_for};
use crate::plan::{Aggregate, More, Node, SortKey};
use pikepole_types::{SqlType, Value, hash};

/// Groups that are given in the order of their values, at most.
pub(crate) const GROUPS_SORTED_MAX: usize = 8192;

/// What a group costs in memory, beside its values and states.
const GROUP_BYTES: usize = size_of::<Group>() + 40;

/// The state of a [`Node::Group`].
pub(crate) struct GroupCursor {
    input: Cursor,
    stage: Stage,
    table: Table,
    /// The parts that are to be grouped yet, and how often their rows were divided.
    parts: Vec<(u32, Arc<Tape>)>,
    next: usize,
    pace: Pace,
}

enum Stage {
    /// Rows come from the input.
    Reading,
    /// They come from a part.
    Loading(TapeReader),
    /// All have come; what went to tapes is written, and what DISTINCT left there is counted.
    Ending,
    /// Groups are given.
    Giving,
}

/// The groups in memory.
#[derive(Default)]
struct Table {
    /// Per hash, the newest group with it; groups of one hash are chained.
    index: HashMap<u64, usize>,
    groups: Vec<Group>,
    key: Vec<Value>,
    charge: Charge,
    /// Bytes that the last row has added and nobody has counted.
    bytes: usize,
    is_full: bool,
    /// How often the rows were divided that it is made of.
    level: u32,
    /// Rows of groups that found no room.
    over: Option<Partitions>,
    seen: Seen,
}

struct Group {
    keys: Vec<Value>,
    states: Vec<State>,
    chained: Option<usize>,
}

/// Where a row's grouping values and arguments are.
#[derive(Clone, Copy)]
enum Source<'r> {
    /// They are to be evaluated.
    Slots,
    /// They are in this row: the grouping values, then for each aggregate its argument and its separator where it has them.
    Row(&'r [Value]),
}

impl GroupCursor {
    pub(crate) fn new(input: Cursor) -> GroupCursor {
        let (table, pace) = (Table::default(), Pace::default());
        GroupCursor { input, stage: Stage::Reading, table, parts: Vec::new(), next: 0, pace }
    }

    pub(crate) fn input_cursor(&self) -> &Cursor {
        &self.input
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.drop_rows();
    }

    pub(crate) fn forget(&mut self) {
        self.input.forget();
        self.drop_rows();
    }

    fn drop_rows(&mut self) {
        self.stage = Stage::Reading;
        self.table.clear();
        self.table.level = 0;
        self.parts.clear();
        self.next = 0;
    }

    pub(crate) fn next(
        &mut self,
        node: &Node,
        keys: &[(SortKey, usize)],
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        loop {
            match &mut self.stage {
                Stage::Reading => {
                    if keys.is_empty()
                        && aggregates.iter().all(counts_rows)
                        && let Some(count) = self.input.count(node, run)?
                    {
                        (self.stage, self.next) = (Stage::Giving, 1);
                        for aggregate in aggregates {
                            run.slots[aggregate.slot] = count_value(aggregate, count)?;
                        }
                        return Ok(true);
                    }
                    let table = &mut self.table;
                    loop {
                        table.settle(run)?;
                        let take = |run: &mut Run<'_>| table.take_row(Source::Slots, keys, aggregates, run);
                        if !self.input.take(node, run, take)? {
                            break;
                        }
                    }
                    self.table.add_groups_of_nothing(node, keys.len(), aggregates, run)?;
                    self.stage = Stage::Ending;
                }
                Stage::Loading(reader) => {
                    let table = &mut self.table;
                    loop {
                        table.settle(run)?;
                        self.pace.step()?;
                        let taken = reader.take(|row| table.take_row(Source::Row(&row), keys, aggregates, run));
                        if taken?.is_none() {
                            break;
                        }
                    }
                    self.stage = Stage::Ending;
                }
                Stage::Ending => {
                    let level = self.table.level + 1;
                    let over = self.table.end(aggregates, run)?;
                    let is_whole = over.is_empty() && level == 1;
                    self.parts.extend(over.into_iter().rev().map(|tape| (level, tape)));
                    if is_whole && self.table.groups.len() <= GROUPS_SORTED_MAX {
                        self.table.sort(node, keys);
                    }
                    self.stage = Stage::Giving;
                }
                Stage::Giving => {
                    if self.give(keys, aggregates, run)? {
                        return Ok(true);
                    }
                    let Some((level, tape)) = self.parts.pop() else {
                        return Ok(false);
                    };
                    self.table.clear();
                    self.table.level = level;
                    self.next = 0;
                    self.stage = Stage::Loading(TapeReader::new(&tape));
                }
            }
        }
    }

    fn give(&mut self, keys: &[(SortKey, usize)], aggregates: &[Aggregate], run: &mut Run<'_>) -> Result<bool, Fault> {
        let Some(group) = self.table.groups.get_mut(self.next) else {
            return Ok(false);
        };
        self.next += 1;
        for ((_, slot), value) in keys.iter().zip(&mut group.keys) {
            std::mem::swap(&mut run.slots[*slot], value);
        }
        for (aggregate, state) in aggregates.iter().zip(&group.states) {
            run.slots[aggregate.slot] = state.finish()?;
        }
        Ok(true)
    }
}

impl Table {
    fn clear(&mut self) {
        self.index.clear();
        self.groups.clear();
        self.charge.clear();
        self.bytes = 0;
        self.is_full = false;
        self.over = None;
        self.seen = Seen::default();
    }

    /// Counts what the last row has added, and writes what it has put on tapes. Comes before the next row.
    #[inline]
    fn settle(&mut self, run: &Run<'_>) -> Result<(), Stop> {
        self.charge.keep(std::mem::take(&mut self.bytes));
        if !self.is_full {
            // What was divided as often as it can be is of one hash.
            let has_room = self.charge.settle(run)?;
            self.is_full = !has_room && self.level < LEVELS_MAX;
        } else {
            self.charge.force(run)?;
        }
        if let Some(over) = &mut self.over {
            over.settle()?;
        }
        self.seen.settle()
    }

    fn take_row(
        &mut self,
        source: Source<'_>,
        keys: &[(SortKey, usize)],
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        // Without grouping values all rows are of one group.
        let at = match keys.is_empty() && !self.groups.is_empty() {
            true => Some(0),
            false => self.group_of(source, keys, aggregates, run)?,
        };
        let Some(at) = at else {
            return Ok(());
        };
        let mut place = keys.len();
        let Table { groups, seen, is_full, bytes, .. } = self;
        for (number, (aggregate, state)) in aggregates.iter().zip(&mut groups[at].states).enumerate() {
            let Some(input) = &aggregate.input else {
                state.add_row();
                continue;
            };
            let mut scratch = Value::Null;
            let value = match source {
                Source::Slots => input.eval_ref(&mut run.env(), &mut scratch)?,
                Source::Row(row) => &row[place],
            };
            place += 1 + usize::from(aggregate.separator.is_some());
            if value.is_null() {
                run.null_eliminated = true;
            } else if state.is_new(value, aggregate, *is_full, bytes) {
                if *is_full && aggregate.distinct {
                    let value = &value.clone();
                    seen.push([at, number], value, aggregate.collation, run)?;
                } else {
                    state.add(value, aggregate, bytes)?;
                }
            }
        }
        Ok(())
    }

    /// The group of a row: a new one if it is the first of it, none if that finds no room, and the row went to its part.
    fn group_of(
        &mut self,
        source: Source<'_>,
        keys: &[(SortKey, usize)],
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<Option<usize>, Fault> {
        self.key.resize(keys.len(), Value::Null);
        let mut code = 0u64;
        for (place, ((key, _), value)) in keys.iter().zip(&mut self.key).enumerate() {
            match source {
                Source::Slots => key.expr.eval_into(&mut run.env(), value)?,
                Source::Row(row) => {
                    ask_for([&row[place]], 1)?;
                    value.clone_from(&row[place]);
                }
            }
            code = code.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash(value, key.collation);
        }
        let head = self.index.get(&code).copied();
        let mut found = head;
        while let Some(at) = found {
            if SortKey::same(keys.iter().map(|(key, _)| key), &self.groups[at].keys, &self.key) {
                return Ok(found);
            }
            found = self.groups[at].chained;
        }
        if self.is_full {
            self.put_over(code, source, keys.len(), aggregates, run)?;
            return Ok(None);
        }
        let separators = match source {
            Source::Slots => separators(aggregates, run)?,
            Source::Row(row) => separators_of(&row[keys.len()..], aggregates),
        };
        ask_for(&self.key, 1)?;
        let group = Group::new(self.key.clone(), head, aggregates, separators)?;
        self.bytes += GROUP_BYTES + row_bytes(&group.keys) + size_of_val(group.states.as_slice());
        self.groups.push(group);
        self.index.insert(code, self.groups.len() - 1);
        Ok(Some(self.groups.len() - 1))
    }

    /// Puts a row to its part.
    fn put_over(
        &mut self,
        code: u64,
        source: Source<'_>,
        keys: usize,
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        let over = match &mut self.over {
            Some(over) => over,
            None => self.over.insert(Partitions::new(self.level, run)?),
        };
        if let Source::Row(row) = source {
            over.push(code, row);
            return Ok(());
        }
        let mut values = Vec::new();
        for aggregate in aggregates {
            for expr in aggregate.input.iter().chain(&aggregate.separator) {
                values.push(expr.eval(&mut run.env())?);
            }
        }
        over.push(code, self.key[..keys].iter().chain(&values));
        Ok(())
    }

    /// All rows are taken: gives the parts of those that found no room.
    fn end(&mut self, aggregates: &[Aggregate], run: &Run<'_>) -> Result<Vec<Arc<Tape>>, Stop> {
        self.settle(run)?;
        if self.seen.begin_counting() {
            let states = self.groups.iter_mut().flat_map(|group| &mut group.states);
            self.charge.remove(states.map(State::forget_seen).sum());
        }
        let Table { seen, charge, groups, bytes, .. } = self;
        let mut add = |[group, number]: [usize; 2], value: &Value| match groups
            .get_mut(group)
            .and_then(|group| group.states.get_mut(number))
        {
            Some(state) => state.add(value, &aggregates[number], bytes),
            None => Ok(()),
        };
        while seen.take_new(aggregates, charge, run, &mut add)? {}
        let Some(over) = &mut self.over else {
            return Ok(Vec::new());
        };
        over.finish()?;
        let tapes = self.over.take().map(Partitions::into_tapes).unwrap_or_default();
        Ok(tapes.into_iter().filter(|tape| tape.rows() > 0).collect())
    }

    /// Puts the groups in the order of their values. Those of grouping sets come before the set that leaves a value of theirs out.
    fn sort(&mut self, node: &Node, keys: &[(SortKey, usize)]) {
        let order = |place: usize, a: &Group, b: &Group| keys[place].0.order(&a.keys[place], &b.keys[place]);
        if expands(node) {
            let by_value = |a: &Group, b: &Group| {
                let mut pairs = (1..keys.len()).step_by(2).map(|value| order(value + 1, a, b).then(order(value, a, b)));
                pairs.find(|ordering| ordering.is_ne()).unwrap_or_else(|| order(0, a, b))
            };
            self.groups.sort_by(by_value);
        } else {
            let by_value = |a: &Group, b: &Group| {
                (0..keys.len())
                    .map(|place| order(place, a, b))
                    .find(|ordering| ordering.is_ne())
                    .unwrap_or(Ordering::Equal)
            };
            self.groups.sort_by(by_value);
        }
    }

    /// The groups that there are without any row: the only one without grouping values, and the grouping sets without values. The keys
    /// of these are the set's number, and the value and its being left out for each grouping value.
    fn add_groups_of_nothing(
        &mut self,
        node: &Node,
        keys: usize,
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        if !self.groups.is_empty() {
            return Ok(());
        }
        let mut empty = Vec::new();
        if keys == 0 {
            empty.push(Vec::new());
        } else if let Node::More(more) = node
            && let More::Expand(expand) = more.as_ref()
        {
            let without = expand.sets.iter().enumerate().filter(|(_, set)| set.iter().all(|has| !has));
            for (number, _) in without {
                let key = |at: usize| match at {
                    0 => Value::Int(number as i32),
                    at if at % 2 == 1 => Value::Null,
                    _ => Value::TinyInt(1),
                };
                empty.push((0..keys).map(key).collect());
            }
        }
        for keys in empty {
            let separators = separators(aggregates, run)?;
            self.groups.push(Group::new(keys, None, aggregates, separators)?);
        }
        Ok(())
    }
}

/// Whether rows come once for every grouping set.
fn expands(node: &Node) -> bool {
    matches!(node, Node::More(more) if matches!(more.as_ref(), More::Expand(_)))
}

/// COUNT(*), which reads no column.
fn counts_rows(aggregate: &Aggregate) -> bool {
    use pikepole_types::Aggregate as Function;
    aggregate.input.is_none() && matches!(aggregate.function, Function::Count | Function::CountBig)
}

fn count_value(aggregate: &Aggregate, count: u64) -> Result<Value, Fault> {
    if aggregate.function == pikepole_types::Aggregate::CountBig {
        return Ok(Value::BigInt(i64::try_from(count).unwrap_or(i64::MAX)));
    }
    match i32::try_from(count) {
        Ok(count) => Ok(Value::Int(count)),
        Err(_) => Err(crate::errors::arithmetic_overflow(&SqlType::Int)),
    }
}

/// What stands between the texts of a group, for the aggregates that have such.
fn separators(aggregates: &[Aggregate], run: &mut Run<'_>) -> Result<Vec<Value>, Fault> {
    aggregates
        .iter()
        .filter_map(|aggregate| aggregate.separator.as_ref())
        .map(|expr| expr.eval(&mut run.env()))
        .collect()
}

/// The same of a row of arguments.
fn separators_of(mut arguments: &[Value], aggregates: &[Aggregate]) -> Vec<Value> {
    let mut found = Vec::new();
    for aggregate in aggregates.iter().filter(|aggregate| aggregate.input.is_some()) {
        let (own, rest) = arguments.split_at(1 + usize::from(aggregate.separator.is_some()));
        found.extend(own.get(1).cloned());
        arguments = rest;
    }
    found
}

impl Group {
    fn new(
        keys: Vec<Value>,
        chained: Option<usize>,
        aggregates: &[Aggregate],
        separators: Vec<Value>,
    ) -> Result<Group, Fault> {
        let mut separators = separators.into_iter();
        let state = |aggregate: &Aggregate| {
            let separator = aggregate.separator.as_ref().and_then(|_| separators.next());
            State::new(aggregate, separator)
        };
        let states = aggregates.iter().map(state).collect::<Result<_, Fault>>()?;
        Ok(Group { keys, states, chained })
    }
}
