//! What joins cost, as far as that can be guessed before they run.
//!
//! What is known: about how many pages each table has, which keys are unique, which columns must be equal to each other, and of some
//! columns what statistics say ([`crate::optimizer::statistics`]). The rest are the guesses of System R (Selinger et al., 1979): one row in ten has a
//! wanted value, one in three is on the wanted side of a bound.
//!
//! ```text
//!   a.x = b.y AND b.y = c.z     a class of columns: x, y, z. Joining any two members of it leaves one pair in `values`:
//!                               as many as the smallest table has rows that has one of the columns as its whole unique key
//! ```
//! Costs are in rows read. The inner side of a join is looked up in an index for each outer row, kept in a hash table, or read
//! again and again: see [`crate::bind::join`].

use std::sync::Arc;

use crate::access::{Table, changes_max};
use crate::bind::join::{JoinTree, Leaf, is_short_list};
use crate::bind::open_query::OpenQuery;
use crate::bind::scope::Source;
use crate::expression::{Comparison, Expr, Predicate};
use crate::optimizer::cardinality::{self, known_of_column, table_rows};
use crate::optimizer::equality::{Class, Side, Way, equality, read_by_sides, slots_equal, with_slot};
use crate::optimizer::rules::index_seek::burden;
use crate::optimizer::rules::join_order::{Implied, Member, Placed, Set, Step, owners};
use crate::optimizer::statistics::{Known, Knows, share_of, share_of_all};
use crate::optimizer::variable_values::VariableValues;
use crate::plan::{Registers, TableSize};

/// Finding a place in an index.
pub(crate) const LOOKUP: f64 = 8.0;
/// Making a row, reading it a second time and putting it into a hash table; a join needs memory for it, too.
pub(crate) const KEEP: f64 = 5.0;
/// Finding rows in a hash table.
pub(crate) const PROBE: f64 = 2.0;
/// Testing a row that lies in memory.
const TEST: f64 = 0.1;
/// The share of the rows whose value a subquery has, at least, and where nothing is known of the values.
const FOUND_SHARE: f64 = 0.05;
/// What reading a row costs in a batch, as all rows of a large table are read, and as rows beyond the first ones are joined.
const IN_BATCH: f64 = 0.35;
/// Putting a row of a batch into a hash table, in rows of a batch that are read.
const KEEP_IN_BATCH: f64 = 5.0;
/// Finding the rows of a batch in a hash table that the processor's cache holds, likewise; in a larger one it is as much as reading them.
const PROBE_IN_CACHE: f64 = 0.5;
/// A hash table of so many rows at most stays in the processor's cache.
const CACHED_ROWS_MAX: f64 = 50_000.0;
/// A table of so many pages is large.
const LARGE_PAGES_MIN: u64 = 1024;
/// So many rows at least are joined one by one.
const FIRST_ROWS: f64 = 20_000.0;
/// How often a subquery is taken to run that reads the row outside it, or the member of a recursive common table.
const OPENINGS: f64 = 100.0;

/// What is done once for each of so many rows.
fn bulk(rows: f64) -> f64 {
    rows.min(FIRST_ROWS) + (rows - FIRST_ROWS).max(0.0) * IN_BATCH
}

/// The share of the rows for which a condition holds of which nothing is known.
pub(crate) fn guessed(condition: &Predicate) -> f64 {
    let list = |items: usize| (items as f64 / 10.0).min(0.5);
    let compared = |op: &Comparison| match op {
        Comparison::Equal => 0.1,
        Comparison::NotEqual => 0.9,
        _ => 1.0 / 3.0,
    };
    match condition {
        Predicate::Const(truth) => f64::from(u8::from(*truth == Some(true))),
        Predicate::Integers(op, _) | Predicate::Values(op, _, _) => compared(op),
        Predicate::And(parts) => parts.iter().map(guessed).product(),
        Predicate::Or(parts) => parts.iter().map(guessed).sum::<f64>().min(1.0),
        Predicate::Not(inner) => 1.0 - guessed(inner),
        Predicate::IsNull(_) | Predicate::Like { .. } | Predicate::LikeConst(..) => 0.1,
        Predicate::InIntegers(_, values, _) => list(values.len()),
        Predicate::InValues(_, values, _) => list(values.len()),
        Predicate::Slot(_) => 0.5,
    }
}

/// A condition that makes no class.
#[derive(Debug)]
struct Other {
    reads: Set,
    share: f64,
    /// What the sides of an equality read.
    sides: Option<(Set, Set)>,
}

/// How the rows of a member are found again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    /// By an index or in a hash table.
    Table,
    /// In a hash table.
    Hash,
    /// By testing all of a list.
    List,
    /// They are made anew.
    Anew,
}

/// A key of a table, by its slots.
#[derive(Debug)]
struct Key {
    slots: Vec<usize>,
    unique: bool,
    secondary: bool,
}

/// What is known about a member's rows.
#[derive(Debug)]
struct Relation {
    found: Found,
    /// The table whose rows come first, and its registers.
    head: Option<(Arc<Table>, Registers)>,
    /// All rows, what making them costs, and what each costs.
    rows: f64,
    read: f64,
    row: f64,
    /// It is a large table, or begins with one.
    is_large: bool,
    /// The share that conditions on this member alone leave, equalities aside.
    own: f64,
    /// The slots that such conditions bound.
    ranged: Vec<usize>,
    /// The share of rows that all bounds of such a slot leave, where statistics say so.
    ranges: Vec<(usize, f64)>,
    keys: Vec<Key>,
    /// Its slots in classes.
    joins: Vec<(usize, usize)>,
}

impl Relation {
    fn of(tree: &JoinTree, sources: &[Source], values: &VariableValues) -> Relation {
        let plain = |found, rows: f64, read: f64| Relation {
            found,
            head: None,
            rows,
            read,
            row: 1.0,
            is_large: false,
            own: 1.0,
            ranged: Vec::new(),
            ranges: Vec::new(),
            keys: Vec::new(),
            joins: Vec::new(),
        };
        match tree {
            JoinTree::Leaf(source, Leaf::Table(table)) => {
                let rows = table_rows(table);
                let registers = sources[*source].registers;
                let keys = keys(table, registers);
                let is_large = table.engine.pages_guessed() >= LARGE_PAGES_MIN;
                let head = Some((Arc::clone(table), registers));
                Relation { head, keys, is_large, ..plain(Found::Table, rows, rows) }
            }
            JoinTree::Leaf(_, Leaf::Rows(node)) => {
                let size = cardinality::of(node, values);
                let found = if cardinality::is_at_hand(node) { Found::List } else { Found::Anew };
                plain(found, size.rows, size.cost + size.once)
            }
            JoinTree::Leaf(_, Leaf::Derived(bound) | Leaf::Common(_, bound)) => {
                let size = cardinality::of(&bound.node, values);
                let found = match is_short_list(&bound.node) {
                    true => Found::List,
                    false if bound.node.is_fixed(values.variables()) => Found::Hash,
                    false => Found::Anew,
                };
                plain(found, size.rows, size.cost + size.once)
            }
            JoinTree::Leaf(source, Leaf::Open(query)) => Relation::of_open(query, sources[*source].registers, values),
            JoinTree::Leaf(_, Leaf::Work(_)) => plain(Found::List, 1.0, 0.0),
            JoinTree::Marked(inner, _) => Relation::of(inner, sources, values),
            JoinTree::Full { left, right, .. } => {
                let (left, right) = (Relation::of(left, sources, values), Relation::of(right, sources, values));
                plain(Found::Anew, left.rows + right.rows, left.read + right.read * KEEP)
            }
            JoinTree::Join { left, right, kind, .. } => {
                let (left, right) = (Relation::of(left, sources, values), Relation::of(right, sources, values));
                let inner = *kind == crate::plan::JoinKind::Inner;
                let (first, second) = if inner && right.rows > left.rows { (right, left) } else { (left, right) };
                Relation { read: first.read + second.read, row: first.row + second.row + LOOKUP, ..first }
            }
        }
    }

    /// A query that is planned when conditions on its columns are known: its keys are those of its first table that its columns
    /// show.
    fn of_open(query: &OpenQuery, registers: Registers, values: &VariableValues) -> Relation {
        let first = Relation::of(&query.from, &query.scope.sources, values);
        let shown = |slot: &usize| {
            let place = query.values.iter().position(|value| matches!(value, Expr::Slot(own) if own == slot));
            place.map(|place| registers.first + place)
        };
        let key = |key: &Key| {
            let slots: Vec<usize> = key.slots.iter().map_while(shown).collect();
            let unique = key.unique && slots.len() == key.slots.len();
            (!slots.is_empty()).then_some(Key { slots, unique, secondary: key.secondary })
        };
        let keys: Vec<Key> = first.keys.iter().filter_map(key).collect();
        let mut reads_row = false;
        query.visit_read(&mut |slot| reads_row |= (values.variables()..query.first).contains(&slot));
        let found = match first.found {
            _ if reads_row => Found::Anew,
            Found::Table if keys.is_empty() => Found::Hash,
            found => found,
        };
        let conditions: Vec<&Predicate> = query.conditions.iter().collect();
        let rows = first.rows * share_of_all(&conditions, Knows::new(&|slot| first.knows(slot), values));
        Relation { found, keys, rows: rows.max(1.0), ..first }
    }

    /// Takes the conditions on its own rows.
    fn restrict(&mut self, own: &[&Predicate], knows: Knows<'_, '_>) {
        self.own = share_of_all(own, knows);
        for slot in self.ranged.clone() {
            let reads = |condition: &&&Predicate| {
                let mut reads = false;
                condition.visit_slots(&mut |other| reads |= other == slot);
                reads
            };
            if knows.column(slot).is_some() && !self.ranges.iter().any(|(own, _)| *own == slot) {
                let bounds: Vec<&Predicate> = own.iter().filter(reads).copied().collect();
                self.ranges.push((slot, share_of_all(&bounds, knows)));
            }
        }
    }

    /// Statistics of a slot of the first table.
    fn knows(&self, slot: usize) -> Option<Known<'_>> {
        known_of(self.head.as_ref()?, slot)
    }

    /// A key that at most one row has the bound values of.
    fn unique_key(&self, bound: &dyn Fn(usize) -> bool) -> Option<&Key> {
        self.keys.iter().find(|key| key.unique && key.slots.iter().all(|slot| bound(*slot)))
    }

    fn is_unique(&self, bound: &dyn Fn(usize) -> bool) -> bool {
        self.unique_key(bound).is_some()
    }
}

fn keys(table: &Table, registers: Registers) -> Vec<Key> {
    let is_unique = |id: Option<i32>| {
        let is_it = |index: &&pikepole_engine::Index| id.map_or(index.clustered, |id| index.index_id == id);
        let index = table.engine.indexes.iter().find(is_it);
        index.is_some_and(|index| index.unique && index.filter.is_none())
    };
    let clustered = (!table.key.is_empty()).then_some((&table.key, None));
    let secondary = table.indexes.iter().filter(|index| index.serves_equality());
    let secondary = secondary.map(|index| (&index.key, Some(index.id)));
    let keys = clustered.into_iter().chain(secondary).map(|(columns, id)| Key {
        slots: columns.iter().map(|key| registers.first + key.column).collect(),
        unique: is_unique(id),
        secondary: id.is_some() && !table.engine.is_in_memory(),
    });
    keys.collect()
}

/// Statistics of a slot, if it is one of the table.
fn known_of<'t>((table, registers): &'t (Arc<Table>, Registers), slot: usize) -> Option<Known<'t>> {
    let column = registers.range().contains(&slot).then(|| slot - registers.first)?;
    known_of_column(table, column)
}

/// The part of a table that a range of a key leaves.
struct Access<'k> {
    share: f64,
    prefix: &'k [usize],
    secondary: bool,
}

/// The costs of joining the members of a run.
pub(crate) struct Costs {
    relations: Vec<Relation>,
    classes: Vec<Class>,
    others: Vec<Other>,
    /// How often the run is opened.
    openings: f64,
    /// Questions to the statistics of tables.
    asked: Vec<Asked>,
}

/// Questions to the statistics of a table.
struct Asked {
    table: Arc<Table>,
    /// The columns of which more should be known.
    wanted: Vec<usize>,
    /// The table's count of changes up to which what is known is good.
    changes_max: u64,
}

/// The share of rows that a condition leaves of those that the conditions leave which follow from it.
fn share_beyond(share: f64, implied: &[Predicate], knows: Knows<'_, '_>) -> f64 {
    let of_implied: f64 = implied.iter().map(|condition| share_of(condition, knows)).product();
    if of_implied > 0.0 { (share / of_implied).min(1.0) } else { 1.0 }
}

/// A table, and where its columns are.
type Heads = (Arc<Table>, Registers);

impl Costs {
    /// Looks at the members and at the pool of conditions. A slot that is no member's is of a row outside, but for the variables,
    /// which are the first slots.
    pub(crate) fn of(
        members: &[Member],
        sources: &[Source],
        pool: &[Predicate],
        implied: &[Implied],
        values: &VariableValues,
    ) -> Costs {
        let owners = owners(members, sources.len());
        let owner = |slot: usize| {
            let source = sources.iter().position(|source| source.registers.range().contains(&slot))?;
            owners[source]
        };
        let relations: Vec<Relation> =
            members.iter().map(|member| Relation::of(&member.tree, sources, values)).collect();
        let heads: Vec<Heads> = relations.iter().filter_map(|relation: &Relation| relation.head.clone()).collect();
        let columns = |slot: usize| heads.iter().find_map(|head| known_of(head, slot));
        let knows = Knows::new(&columns, values);
        let recurs = members.iter().any(|member| matches!(member.tree, JoinTree::Leaf(_, Leaf::Work(_))));
        let openings = if recurs { OPENINGS } else { 1.0 };
        let mut costs = Costs { relations, classes: Vec::new(), others: Vec::new(), openings, asked: Vec::new() };
        let mut rest: Vec<(usize, &Predicate)> = Vec::new();
        for (at, condition) in pool.iter().enumerate() {
            if !costs.take_pair(condition, &owner) {
                rest.push((at, condition));
            }
        }
        let mut own: Vec<Vec<&Predicate>> = vec![Vec::new(); members.len()];
        for (at, condition) in rest {
            let others = costs.others.len();
            let taken = costs.take(condition, &owner, values.variables(), knows);
            taken.into_iter().for_each(|member| own[member].push(condition));
            let implied =
                implied.iter().find(|implied| implied.by == at).map(|implied| &pool[implied.conditions.clone()]);
            if let (Some(other), Some(implied)) = (costs.others.get_mut(others), implied) {
                other.share = share_beyond(other.share, implied, knows);
            }
        }
        for (relation, own) in costs.relations.iter_mut().zip(&own) {
            relation.restrict(own, knows);
        }
        costs.count_values(knows);
        costs.note_asked(pool, &heads);
        costs
    }

    /// Of a member's rows only those are left whose value in a slot one of so many rows has, or of so many values where that is known.
    pub(crate) fn reduce(&mut self, member: usize, slot: usize, rows: f64, values: Option<f64>) {
        let relation = &mut self.relations[member];
        let known = relation.head.as_ref().and_then(|head| known_of(head, slot));
        // Where many joins and conditions make the rows, estimates of them are low more often than high.
        let share = known.map_or(FOUND_SHARE, |known| known.of_some(rows, values).max(FOUND_SHARE));
        relation.own *= share;
        if let Some(head) = relation.head.clone() {
            self.note_slot(slot, &[head]);
        }
    }

    /// The class of a slot, which is made when there is none; none when it is compared in another way there.
    fn class(&mut self, slot: usize, member: usize, way: Way) -> Option<usize> {
        match self.classes.iter().position(|class| class.has(slot)) {
            Some(at) => (self.classes[at].way == way).then_some(at),
            None => {
                self.classes.push(Class::new(slot, member, way));
                Some(self.classes.len() - 1)
            }
        }
    }

    /// Takes an equality between columns of two members.
    fn take_pair(&mut self, condition: &Predicate, owner: &dyn Fn(usize) -> Option<usize>) -> bool {
        let Some((Side::Slot(a), Side::Slot(b), way)) = equality(condition) else { return false };
        let (Some(left), Some(right)) = (owner(a), owner(b)) else { return false };
        if left == right {
            return false;
        }
        let (Some(into), Some(from)) = (self.class(a, left, way), self.class(b, right, way)) else { return false };
        if into != from {
            let (into, from) = (into.min(from), into.max(from));
            let merged = self.classes.remove(from);
            let class = &mut self.classes[into];
            class.slots.extend(merged.slots);
            class.pairs.extend(merged.pairs);
            class.members = Set::of(class.slots.iter().map(|(_, member)| *member));
            class.pairs.push((a, b));
        } else {
            self.classes[into].pairs.push((a, b));
        }
        true
    }

    /// Takes any other condition. One on the rows of a member alone is that member's.
    fn take(
        &mut self,
        condition: &Predicate,
        owner: &dyn Fn(usize) -> Option<usize>,
        variables: usize,
        knows: Knows<'_, '_>,
    ) -> Option<usize> {
        let mut reads = Set::default();
        let mut outside = false;
        condition.visit_slots(&mut |slot| match owner(slot) {
            Some(owner) => reads = reads.with(owner),
            None => outside |= slot >= variables,
        });
        if outside {
            self.openings = OPENINGS;
        }
        let member = (0..self.relations.len()).find(|member| reads.has(*member))?;
        if reads.count() == 1 {
            if self.bind(condition, member, owner, outside, knows) {
                return None;
            }
            let relation = &mut self.relations[member];
            condition.visit_slots(&mut |slot| {
                if owner(slot).is_some() && matches!(condition, Predicate::Integers(..) | Predicate::Values(..)) {
                    relation.ranged.push(slot);
                }
            });
            return Some(member);
        }
        let sides = read_by_sides(condition).map(|[a, b]| {
            let members = |slots: Vec<usize>| Set::of(slots.into_iter().filter_map(owner));
            (members(a), members(b))
        });
        self.others.push(Other { reads, share: share_of(condition, knows), sides });
        None
    }

    /// Takes the equality of a column with a value from elsewhere.
    fn bind(
        &mut self,
        condition: &Predicate,
        member: usize,
        owner: &dyn Fn(usize) -> Option<usize>,
        outside: bool,
        knows: Knows<'_, '_>,
    ) -> bool {
        let Some((left, right, way)) = equality(condition) else { return false };
        let own = |side: Side| match side {
            Side::Slot(slot) if owner(slot).is_some() => Some(slot),
            _ => None,
        };
        let (slot, other) = match (own(left), own(right)) {
            (Some(slot), None) => (slot, right),
            (None, Some(slot)) => (slot, left),
            _ => return false,
        };
        let mut computed_of_own = 0;
        condition.visit_slots(&mut |slot| computed_of_own += usize::from(owner(slot).is_some()));
        if computed_of_own > 1 {
            return false;
        }
        let Some(at) = self.class(slot, member, way) else { return false };
        let class = &mut self.classes[at];
        // What is computed may be dear, or another value each time; a constant says more than the row outside does.
        let is_better = class.passed.is_none() || (!outside && !class.passes_constant);
        if other != Side::Computed && is_better {
            class.passed = Some((condition.clone(), slot));
            class.passes_constant = !outside;
        }
        if !outside && knows.column(slot).is_some() {
            let share = share_of(condition, knows);
            class.of_constant = Some(class.of_constant.map_or(share, |known| known.min(share)));
        }
        class.constant |= !outside;
        class.outside |= outside;
        true
    }

    /// Notes what conditions ask of the statistics of tables.
    fn note_asked(&mut self, pool: &[Predicate], heads: &[Heads]) {
        pool.iter().for_each(|condition| condition.visit_slots(&mut |slot| self.note_slot(slot, heads)));
    }

    /// Notes that the values of a slot are asked about, if it is one of these tables'.
    fn note_slot(&mut self, slot: usize, heads: &[Heads]) {
        let Some((table, registers)) = heads.iter().find(|(_, registers)| registers.range().contains(&slot)) else {
            return;
        };
        let asked = &mut self.asked;
        let at = asked.iter().position(|own| Arc::ptr_eq(&own.table, table)).unwrap_or_else(|| {
            asked.push(Asked { table: Arc::clone(table), wanted: Vec::new(), changes_max: u64::MAX });
            asked.len() - 1
        });
        let (own, column) = (&mut asked[at], slot - registers.first);
        if table.wants_statistics(column) {
            if !own.wanted.contains(&column) {
                own.wanted.push(column);
            }
        } else if let Some(known) = table.statistics_of(column) {
            own.changes_max = own.changes_max.min(changes_max(known));
        }
    }

    /// The sizes of tables that have decided this, and for a dear plan what it asks of their statistics.
    pub(crate) fn sizes(&self, is_dear: bool) -> impl Iterator<Item = TableSize> {
        let of = move |(table, _): &Heads| {
            let pages = table.engine.pages_guessed();
            let asked = self.asked.iter().find(|own| is_dear && Arc::ptr_eq(&own.table, table));
            let (wanted, changes_max) =
                asked.map_or((Vec::new(), u64::MAX), |own| (own.wanted.clone(), own.changes_max));
            TableSize { table: Arc::clone(&table.engine), pages, changes_max, wanted }
        };
        self.relations.iter().filter_map(|relation| relation.head.as_ref()).map(of)
    }

    /// Guesses how many values each class has, and notes the classes of each member.
    fn count_values(&mut self, knows: Knows<'_, '_>) {
        for (at, class) in self.classes.iter_mut().enumerate() {
            let (mut largest, mut key, mut counted) = (1.0f64, None::<f64>, None::<f64>);
            for (slot, member) in &class.slots {
                let relation = &mut self.relations[*member];
                relation.joins.push((*slot, at));
                if relation.is_unique(&|bound| bound == *slot) {
                    key = Some(key.map_or(relation.rows, |key| key.min(relation.rows)));
                }
                largest = largest.max(relation.rows);
                if let Some(known) = knows.column(*slot) {
                    counted = Some(counted.unwrap_or(1.0).max(known.distinct()));
                }
            }
            class.known = key.is_some() || counted.is_some();
            class.values = key.or(counted).unwrap_or(largest / 10.0);
        }
    }

    /// The range of a key that the binder takes when these slots have values.
    fn access<'r>(&self, relation: &'r Relation, bound: &dyn Fn(usize) -> bool) -> Access<'r> {
        let mut best = Access { share: 1.0, prefix: &[], secondary: false };
        let mut least = f64::INFINITY;
        for key in &relation.keys {
            let length = key.slots.iter().take_while(|slot| bound(**slot)).count();
            let (prefix, rest) = key.slots.split_at(length);
            let bounds = rest.first().map_or(0, |slot| relation.ranged.iter().filter(|own| *own == slot).count());
            let point = key.unique && rest.is_empty();
            let own = burden(length, bounds, point, key.secondary);
            if prefix.is_empty() && (key.secondary || bounds == 0) || own >= least {
                continue;
            }
            let of_slot = |slot: &usize| {
                let class = self.classes.iter().find(|class| class.has(*slot));
                class.map_or(0.1, Class::share)
            };
            let ranged = rest.first().and_then(|slot| relation.ranges.iter().find(|(own, _)| own == slot));
            let of_bounds = ranged.map_or_else(|| (1.0f64 / 3.0).powi(bounds.min(2) as i32), |(_, share)| *share);
            let guessed = prefix.iter().map(of_slot).product::<f64>() * if bounds > 0 { of_bounds } else { 1.0 };
            let share = if point { 1.0 / relation.rows } else { guessed };
            best = Access { share, prefix, secondary: key.secondary };
            least = own;
        }
        best
    }

    /// Joins a member to those placed.
    pub(crate) fn step(&self, before: &Placed, next: usize) -> Step {
        let relation = &self.relations[next];
        let (placed, outer) = (&before.members, before.rows);
        let (mut fixed, mut by_row) = (Vec::new(), Vec::new());
        let (mut constant, mut joined) = (1.0, 1.0);
        for (slot, class) in &relation.joins {
            let class = &self.classes[*class];
            if class.constant {
                fixed.push(*slot);
                constant *= class.share();
            } else if class.outside || class.members.meets(placed) {
                by_row.push(*slot);
                joined *= class.share();
            }
        }
        let bound = |slot: usize| fixed.contains(&slot) || by_row.contains(&slot);
        let mut matches = match relation.unique_key(&bound) {
            // One row, if it has the values that other columns must have.
            Some(key) => {
                let rest = relation.joins.iter().filter(|(slot, _)| bound(*slot) && !key.slots.contains(slot));
                relation.own * rest.map(|(_, class)| self.classes[*class].share()).product::<f64>()
            }
            None => relation.rows * relation.own * constant * joined.max(self.share_of_keys(placed, next)),
        };
        let mut hashed = !by_row.is_empty();
        let here = placed.with(next);
        for other in self.others.iter().filter(|other| other.reads.has(next) && other.reads.is_within(&here)) {
            matches *= other.share;
            let own = Set::of([next]);
            hashed |= other.sides.is_some_and(|(a, b)| (a == own && !b.has(next)) || (b == own && !a.has(next)));
        }
        let rows = (outer * matches).max(1.0);
        let alone = self.access(relation, &|slot| fixed.contains(&slot));
        // Batches come of joins that begin with a large table.
        let in_bulk = if *placed == Set::default() { relation.is_large } else { before.in_bulk };
        let bulk = |rows: f64| if in_bulk { bulk(rows) } else { rows };
        let in_batch = relation.is_large && in_bulk && alone.prefix.is_empty() && alone.share >= 1.0;
        let weight = if in_batch { IN_BATCH } else { 1.0 };
        let read = relation.read * weight * alone.share * if alone.secondary { LOOKUP } else { 1.0 };
        // Rows that are asked for once pass by without being kept; those that a large table's own conditions leave out are not kept.
        let is_kept = outer * self.openings > 1.0;
        let kept_rows = relation.rows * alone.share * relation.own * constant;
        let keep = if in_batch { read + kept_rows * IN_BATCH * KEEP_IN_BATCH } else { read * KEEP };
        let probe = match in_bulk {
            true if kept_rows <= CACHED_ROWS_MAX => outer * PROBE_IN_CACHE * IN_BATCH,
            true => outer * IN_BATCH,
            false => outer * PROBE,
        };
        let kept = if is_kept { keep / self.openings + probe } else { read };
        let again = outer * (LOOKUP + read * relation.row);
        let (cost, keeps) = match relation.found {
            Found::Table => {
                let found = self.access(relation, &bound);
                let by_index = found.prefix.iter().any(|slot| by_row.contains(slot));
                let each = relation.row * if found.secondary { LOOKUP } else { 1.0 };
                let looked_up = outer * (LOOKUP + relation.rows * found.share * each);
                let kept = kept + rows * (relation.row - 1.0);
                // Only the rows of a table alone are kept instead.
                let is_alone = relation.row <= 1.0;
                match (by_index, hashed) {
                    (true, _) if looked_up <= kept || !is_alone => (looked_up, false),
                    (true, _) => (kept, true),
                    (false, true) => (kept, false),
                    (false, false) => (again, false),
                }
            }
            Found::Hash if hashed => (kept, false),
            Found::Hash => (read + outer * relation.rows * TEST, false),
            Found::List => (relation.read + outer * relation.rows * TEST, false),
            Found::Anew => (again, false),
        };
        Step { cost: cost + bulk(rows), rows, keeps, in_bulk }
    }

    /// The share of all pairs that can match because a row of `next` finds no more than one row of a placed member.
    fn share_of_keys(&self, placed: &Set, next: usize) -> f64 {
        let share = |relation: &Relation| {
            let bound = |slot: usize| {
                let class = self.classes.iter().find(|class| class.has(slot));
                class.is_some_and(|class| class.constant || class.members.has(next))
            };
            if relation.is_unique(&bound) { 1.0 / relation.rows } else { 0.0 }
        };
        let placed = self.relations.iter().enumerate().filter(|(at, _)| placed.has(*at));
        placed.map(|(_, relation)| share(relation)).fold(0.0, f64::max)
    }

    /// How often the run is opened.
    pub(crate) fn openings(&self) -> f64 {
        self.openings
    }

    /// Adds what follows from equalities: a constant for each column of a class, or an equality for each member that is
    /// joined to none that a condition names.
    pub(crate) fn add_implied(&self, order: &[usize], pool: &mut Vec<Predicate>) {
        for class in &self.classes {
            if let Some((condition, from)) = &class.passed {
                let rest = class.slots.iter().map(|(slot, _)| *slot).filter(|slot| slot != from);
                let all: Vec<Predicate> = rest.map(|slot| with_slot(condition, *from, slot)).collect();
                // All columns equal one value: that they equal each other need not be tested.
                pool.retain(|condition| !class.is_pair(condition));
                pool.extend(all);
                continue;
            }
            let mut placed: Vec<usize> = Vec::new();
            for member in order {
                let own = || class.slots.iter().filter(|(_, of)| of == member).map(|(slot, _)| *slot);
                let is_joined = own().any(|slot| placed.iter().any(|other| class.names(slot, *other)));
                if let (false, Some(slot), Some(other)) = (is_joined, own().next(), placed.first()) {
                    pool.push(slots_equal(*other, slot, class.way));
                }
                placed.extend(own());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expression::Integer;

    /// A slot's column has this value: one row in ten does.
    fn equal(slot: usize, value: i64) -> Predicate {
        Predicate::Integers(Comparison::Equal, Box::new([Integer::Slot(slot), Integer::Const(Some(value))]))
    }

    #[test]
    fn an_or_of_pairs_does_not_count_twice_what_follows_from_it() {
        let pair = |a, b| Predicate::And(vec![equal(1, a), equal(2, b)]);
        let pairs = Predicate::Or(vec![pair(1, 2), pair(2, 1)]);
        let implied = [1, 2].map(|slot| Predicate::Or(vec![equal(slot, 1), equal(slot, 2)]));
        let values = VariableValues::default();
        let knows = Knows::new(&|_| None, &values);
        let whole = share_of(&pairs, knows);
        let together =
            share_beyond(whole, &implied, knows) * implied.iter().map(|own| share_of(own, knows)).product::<f64>();
        assert!((together - whole).abs() < 1e-9, "{together} instead of {whole}");
    }
}
