//! Grouping and aggregates, by hash over the grouping values.

use hashbrown::HashMap;

use super::Run;
use super::cursor::Cursor;
use crate::access::Stop;
use crate::expression::Fault;
use crate::plan::{Aggregate, More, Node, SortKey};
use pikepole_types::{Accumulator, SqlType, Value, hash, order};

/// The state of a [`Node::Group`].
pub(crate) struct GroupCursor {
    input: Cursor,
    filled: bool,
    /// Per hash, the newest group with it; groups of one hash are chained.
    index: HashMap<u64, usize>,
    groups: Vec<Group>,
    next: usize,
    key: Vec<Value>,
}

struct Group {
    keys: Vec<Value>,
    states: Vec<State>,
    chained: Option<usize>,
}

/// One aggregate's state in one group.
struct State {
    accumulator: Accumulator,
    /// The values seen, when each counts once.
    seen: Option<HashMap<u64, Vec<Value>>>,
}

impl GroupCursor {
    pub(crate) fn new(input: Cursor) -> GroupCursor {
        GroupCursor { input, filled: false, index: HashMap::new(), groups: Vec::new(), next: 0, key: Vec::new() }
    }

    pub(crate) fn input_cursor(&mut self) -> &mut Cursor {
        &mut self.input
    }

    pub(crate) fn open(&mut self) {
        self.input.open();
        self.filled = false;
        self.index.clear();
        self.groups.clear();
        self.next = 0;
    }

    pub(crate) fn next(
        &mut self,
        node: &Node,
        keys: &[(SortKey, usize)],
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<bool, Stop> {
        if !self.filled
            && keys.is_empty()
            && aggregates.iter().all(counts_rows)
            && let Some(count) = self.input.count(node, run)?
        {
            self.filled = true;
            self.next = 1;
            for aggregate in aggregates {
                run.slots[aggregate.slot] = count_value(aggregate, count)?;
            }
            return Ok(true);
        }
        if !self.filled {
            while self.input.next(node, run)? {
                self.take_row(keys, aggregates, run)?;
            }
            if keys.is_empty() && self.groups.is_empty() {
                let group = Group::new(Vec::new(), None, aggregates, run)?;
                self.groups.push(group);
            }
            if self.groups.is_empty() {
                self.add_empty_sets(node, keys.len(), aggregates, run)?;
            }
            self.filled = true;
        }
        let Some(group) = self.groups.get_mut(self.next) else {
            return Ok(false);
        };
        self.next += 1;
        for ((_, slot), value) in keys.iter().zip(&mut group.keys) {
            std::mem::swap(&mut run.slots[*slot], value);
        }
        for (aggregate, state) in aggregates.iter().zip(&group.states) {
            run.slots[aggregate.slot] = state.accumulator.finish().map_err(Fault::from)?;
        }
        Ok(true)
    }

    /// Without any row, the grouping sets without values still have a group each, as a query without GROUP BY has. The keys
    /// are the set's number, and the value and its being left out for each grouping value.
    fn add_empty_sets(
        &mut self,
        node: &Node,
        keys: usize,
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        let Node::More(more) = node else {
            return Ok(());
        };
        let More::Expand(expand) = more.as_ref() else {
            return Ok(());
        };
        for (number, _) in expand.sets.iter().enumerate().filter(|(_, set)| set.iter().all(|has| !has)) {
            let key = |at: usize| match at {
                0 => Value::Int(number as i32),
                at if at % 2 == 1 => Value::Null,
                _ => Value::TinyInt(1),
            };
            let group = Group::new((0..keys).map(key).collect(), None, aggregates, run)?;
            self.groups.push(group);
        }
        Ok(())
    }

    fn take_row(
        &mut self,
        keys: &[(SortKey, usize)],
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<(), Fault> {
        // Without grouping values all rows are of one group.
        let at = if keys.is_empty() && !self.groups.is_empty() { 0 } else { self.group_of(keys, aggregates, run)? };
        for (aggregate, state) in aggregates.iter().zip(&mut self.groups[at].states) {
            state.take(aggregate, run)?;
        }
        Ok(())
    }

    /// The group of the row that the input is at; a new one if it is the first of it.
    fn group_of(
        &mut self,
        keys: &[(SortKey, usize)],
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<usize, Fault> {
        self.key.resize(keys.len(), Value::Null);
        let mut code = 0u64;
        for ((key, _), value) in keys.iter().zip(&mut self.key) {
            key.expr.eval_into(&mut run.env(), value)?;
            code = code.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ hash(value, key.collation);
        }
        let head = self.index.get(&code).copied();
        let mut found = head;
        while let Some(at) = found {
            if SortKey::same(keys.iter().map(|(key, _)| key), &self.groups[at].keys, &self.key) {
                break;
            }
            found = self.groups[at].chained;
        }
        if let Some(at) = found {
            return Ok(at);
        }
        let group = Group::new(self.key.clone(), head, aggregates, run)?;
        self.groups.push(group);
        self.index.insert(code, self.groups.len() - 1);
        Ok(self.groups.len() - 1)
    }
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

impl Group {
    fn new(
        keys: Vec<Value>,
        chained: Option<usize>,
        aggregates: &[Aggregate],
        run: &mut Run<'_>,
    ) -> Result<Group, Fault> {
        let mut states = Vec::with_capacity(aggregates.len());
        for aggregate in aggregates {
            let collation = aggregate.collation;
            let accumulator = match &aggregate.separator {
                None => Accumulator::new(aggregate.function, &aggregate.input_type, collation)?,
                Some(separator) => {
                    let separator = separator.eval(&mut run.env())?;
                    Accumulator::joining(&separator, &aggregate.input_type, collation)?
                }
            };
            states.push(State { accumulator, seen: aggregate.distinct.then(HashMap::new) });
        }
        Ok(Group { keys, states, chained })
    }
}

impl State {
    fn take(&mut self, aggregate: &Aggregate, run: &mut Run<'_>) -> Result<(), Fault> {
        let Some(input) = &aggregate.input else {
            self.accumulator.add_row();
            return Ok(());
        };
        let mut scratch = Value::Null;
        let value = input.eval_ref(&mut run.env(), &mut scratch)?;
        if value.is_null() {
            run.null_eliminated = true;
            return Ok(());
        }
        if let Some(seen) = &mut self.seen {
            let collation = aggregate.collation;
            let bucket = seen.entry(hash(value, collation)).or_default();
            if bucket.iter().any(|old| order(old, value, collation).is_eq()) {
                return Ok(());
            }
            bucket.push(value.clone());
        }
        self.accumulator.add(value)?;
        Ok(())
    }
}
