//! The order in which inner joins run.
//!
//! A run of joins is what inner and cross joins put together, in whatever way they are nested: its members are tables, queries,
//! outer joins and the right sides of APPLY, and the conditions of all its ONs and of WHERE are one pool. The members are joined
//! one after the other, each as the inner side of a nested loop over all before it. The left side of a LEFT JOIN is taken apart, too,
//! where its right side may be joined later (see [`outer_joins`]).
//!
//! ```text
//!   FROM a, b JOIN (c LEFT JOIN d ON ..) ON .. , e      members   a   b   c-d   e
//!                                                       order     e   a   c-d   b      (((e a) c-d) b)
//! ```
//! The order is the cheapest that [`crate::optimizer::cost`] knows: found among all orders for a few members, as System R does it (Selinger et
//! al., "Access Path Selection in a Relational Database Management System", 1979); among those that take the cheapest next
//! member again and again for more. What is known about the rows is little and mostly guessed, so an order counts as better
//! than that of FROM only when it is so by far: so the order of FROM stays where it matters little.

use std::ops::Range;
use std::rc::Rc;

use self::outer_joins::{members_and_tails, place_tails, take_conditions};
use crate::bind::join::{JoinTree, Leaf};
use crate::bind::{Binder, conjunction, conjuncts};
use crate::expression::{Expr, Predicate};
use crate::optimizer::Rule;
use crate::optimizer::cost::Costs;
use crate::plan::JoinKind;

/// Joins whose order of FROM costs no more, in rows read, are not thought about.
const CHEAP: f64 = 2_000.0;
/// Joins that cost more, in rows read, are worth statistics of their tables.
const STATISTICS_COST_MIN: f64 = 20_000.0;
/// How many times cheaper than that of FROM an order must seem to be.
const GAIN_MIN: f64 = 2.0;
/// The same where that of FROM costs so much that the order of FROM is unlikely to be one that somebody has tried.
const DEAR_GAIN_MIN: f64 = 1.15;
const DEAR: f64 = 500_000.0;
/// Members that are tried in all orders, at most.
const EXHAUSTIVE_MAX: usize = 8;
/// Members each of which is tried as the first one, at most.
const STARTS_MAX: usize = 20;
/// Members that are ordered at all, at most.
const MEMBERS_MAX: usize = 256;

/// A set of members of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Set([u64; MEMBERS_MAX / 64]);

impl Set {
    /// The set with these members; those beyond the largest one possible are left out.
    pub(crate) fn of(members: impl IntoIterator<Item = usize>) -> Set {
        members.into_iter().fold(Set::default(), Set::with)
    }

    pub(crate) fn with(mut self, member: usize) -> Set {
        if let Some(word) = self.0.get_mut(member / 64) {
            *word |= 1 << (member % 64);
        }
        self
    }

    pub(crate) fn has(&self, member: usize) -> bool {
        self.0.get(member / 64).is_some_and(|word| word >> (member % 64) & 1 == 1)
    }

    pub(crate) fn is_within(&self, other: &Set) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & !other == 0)
    }

    pub(crate) fn meets(&self, other: &Set) -> bool {
        self.0.iter().zip(other.0).any(|(own, other)| own & other != 0)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }
}

/// What it comes to when a member is joined to those before it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Step {
    /// What is read and tested for it, in rows.
    pub(crate) cost: f64,
    /// The rows that there are then.
    pub(crate) rows: f64,
    /// Its rows are better kept in a hash table than looked up in an index.
    pub(crate) keeps: bool,
    /// The rows come in batches.
    pub(crate) in_bulk: bool,
}

/// The members that are joined already.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Placed {
    pub(crate) members: Set,
    pub(crate) rows: f64,
    /// Their rows come in batches: the first of them is a large table.
    pub(crate) in_bulk: bool,
}

impl Placed {
    /// None: one row without columns.
    pub(crate) fn none() -> Placed {
        Placed { members: Set::default(), rows: 1.0, in_bulk: false }
    }

    fn with(&self, next: usize, step: &Step) -> Placed {
        Placed { members: self.members.with(next), rows: step.rows, in_bulk: step.in_bulk }
    }
}

/// The cost of a step: the members that are placed, and the one to come.
pub(crate) type Steps<'a> = &'a dyn Fn(&Placed, usize) -> Step;

/// Conditions that follow from another one, by their places in a pool.
pub(crate) struct Implied {
    pub(crate) by: usize,
    pub(crate) conditions: Range<usize>,
}

/// A member of a run.
pub(crate) struct Member {
    pub(crate) tree: JoinTree,
    /// The right side of CROSS APPLY, or such a one at the left end of what it is joined to.
    pub(crate) lateral: bool,
}

/// Where a member stands in the order.
pub(crate) struct Place {
    pub(crate) member: Member,
    /// See [`Step::keeps`].
    pub(crate) keeps: bool,
    /// The conditions of a LEFT JOIN, whose right side it is.
    pub(crate) on: Option<Vec<Predicate>>,
}

fn is_table(member: &Member) -> bool {
    matches!(member.tree, JoinTree::Leaf(_, Leaf::Table(_)))
}

/// Takes a tree of inner joins apart. The conditions go to the pool, those of outer joins before those within.
fn members_of(tree: JoinTree, lateral: bool, members: &mut Vec<Member>, pool: &mut Vec<Predicate>) {
    match tree {
        // What stands at the right of APPLY stays together.
        JoinTree::Join { left, right, kind: JoinKind::Inner, lateral: inner, on } if !lateral => {
            pool.extend(on);
            members_of(*left, false, members, pool);
            members_of(*right, inner, members, pool);
        }
        tree => members.push(Member { tree, lateral }),
    }
}

impl Binder<'_> {
    /// The members of a run of inner joins in the order in which they are to be joined. Conditions that follow from others
    /// are added where the order makes use of them.
    pub(crate) fn places(&mut self, tree: JoinTree, pool: &mut Vec<Predicate>) -> Vec<Place> {
        let keeps_order = self.keeps_order || self.scope().keeps_order;
        let (mut members, mut tails) = (Vec::new(), Vec::new());
        match keeps_order || !self.active_rules.has(Rule::JoinOrder) {
            true => members_of(tree, false, &mut members, pool),
            false => (members, tails) = members_and_tails(tree, &self.scope().sources, pool),
        }
        let in_place = |member| Place { member, keeps: false, on: None };
        if members.len() < 2 || members.len() > MEMBERS_MAX {
            let order: Vec<usize> = (0..members.len()).collect();
            let places = members.into_iter().map(in_place).collect();
            return place_tails(places, tails, &order, &vec![1.0; order.len()]);
        }
        let of_tails = take_conditions(&tails, &self.scope().sources, pool);
        let adds_implied = !keeps_order && self.active_rules.has(Rule::ImpliedPredicates);
        let implied = if adds_implied { self.add_restrictions(&members, pool) } else { Vec::new() };
        let after = self.dependencies(&members);
        let values = Rc::clone(&self.values);
        let mut costs = Costs::of(&members, &self.scope().sources, pool, &implied, &values);
        let owners = owners(&members, self.scope().sources.len());
        for test in self.scope().early.iter().filter(|test| test.is_of(test.source)) {
            if let (Some(member), Some((slot, rows, of_table))) = (owners[test.source], test.looked_for(&values)) {
                costs.reduce(member, slot, rows, of_table);
            }
        }
        let steps = |placed: &Placed, next: usize| costs.step(placed, next);
        let order = match keeps_order || !self.active_rules.has(Rule::JoinOrder) {
            true => (0..members.len()).collect(),
            false => choose(&after, &steps, CHEAP / costs.openings()),
        };
        let is_dear = cost_of(&order, &steps) > STATISTICS_COST_MIN / costs.openings();
        let kept: Vec<bool> = walk(&order, &steps).map(|step| step.keeps).collect();
        let rows: Vec<f64> = walk(&order, &steps).map(|step| step.rows).collect();
        let joined = rows.last().copied().unwrap_or(0.0);
        for test in &mut self.scope().early {
            if let Some(member) = owners[test.source].filter(|member| is_table(&members[*member])) {
                test.choose(steps(&Placed::none(), member).rows, joined);
            }
        }
        let chooses_method = self.active_rules.has(Rule::JoinMethod);
        if adds_implied {
            costs.add_implied(&order, pool);
        }
        self.sizes.extend(costs.sizes(is_dear));
        pool.extend(of_tails);
        let mut members: Vec<Option<Member>> = members.into_iter().map(Some).collect();
        let member = |(at, keeps): (&usize, bool)| {
            members[*at].take().map(|member| Place { keeps: keeps && chooses_method, ..in_place(member) })
        };
        let places = order.iter().zip(kept).filter_map(member).collect();
        place_tails(places, tails, &order, &rows)
    }

    /// Keeps the order of FROM when what the next row is depends on what a SELECT has assigned for those before it.
    pub(crate) fn keep_order_of_assigned(
        &mut self,
        from: &JoinTree,
        conditions: &[Predicate],
        assignments: &[(usize, Expr)],
    ) {
        let assigned = |slot: usize| assignments.iter().any(|(variable, _)| *variable == slot);
        let mut reads = false;
        from.visit_read(&mut |slot| reads |= assigned(slot));
        conditions.iter().for_each(|condition| condition.visit_slots(&mut |slot| reads |= assigned(slot)));
        self.scope().keeps_order |= reads;
    }

    /// Which members each one must come after: those whose columns it reads. The right side of APPLY stays behind all that
    /// stand before it, since it is made anew for each of their rows.
    fn dependencies(&mut self, members: &[Member]) -> Vec<Set> {
        let sources = &self.scope().sources;
        let owners = owners(members, sources.len());
        let mut after = Vec::with_capacity(members.len());
        for (at, member) in members.iter().enumerate() {
            let mut set = if member.lateral { Set::of(0..at) } else { Set::default() };
            member.tree.visit_read(&mut |slot| {
                let source = sources.iter().position(|source| source.registers.range().contains(&slot));
                if let Some(owner) = source.and_then(|source| owners[source]).filter(|owner| *owner != at) {
                    set = set.with(owner);
                }
            });
            after.push(set);
        }
        after
    }

    /// Adds what an OR over several members says about each of them alone: of `(a.x = 1 AND b.y = 2) OR (a.x = 3 AND b.y = 4)`,
    /// `a.x = 1 OR a.x = 3`. Returns for each such OR the places in the pool of the conditions that it implies.
    fn add_restrictions(&mut self, members: &[Member], pool: &mut Vec<Predicate>) -> Vec<Implied> {
        let sources = &self.scope().sources;
        let owners = owners(members, sources.len());
        let owner = |slot: usize| {
            let source = sources.iter().position(|source| source.registers.range().contains(&slot))?;
            owners[source]
        };
        let read_by = |condition: &Predicate| {
            let mut read = Set::default();
            condition.visit_slots(&mut |slot| read = owner(slot).map_or(read, |owner| read.with(owner)));
            read
        };
        let (mut added, mut implied) = (Vec::new(), Vec::new());
        for (at, condition) in pool.iter().enumerate() {
            let Predicate::Or(branches) = condition else { continue };
            let read = read_by(condition);
            if read.count() < 2 {
                continue;
            }
            let first = pool.len() + added.len();
            for member in (0..members.len()).filter(|member| read.has(*member)) {
                let alone = |branch: &Predicate| {
                    let mut parts = Vec::new();
                    conjuncts(branch.clone(), &mut parts);
                    parts.retain(|part| read_by(part) == Set::of([member]));
                    conjunction(parts)
                };
                let parts: Option<Vec<Predicate>> = branches.iter().map(alone).collect();
                added.extend(parts.map(Predicate::Or));
            }
            implied.push(Implied { by: at, conditions: first..pool.len() + added.len() });
        }
        pool.append(&mut added);
        implied
    }
}

/// The member that each source of the scope belongs to.
pub(crate) fn owners(members: &[Member], sources: usize) -> Vec<Option<usize>> {
    let mut owners = vec![None; sources];
    for (at, member) in members.iter().enumerate() {
        member.tree.visit_leaves(&mut |source, _: &Leaf| owners[source] = Some(at));
    }
    owners
}

/// The steps of an order.
fn walk<'a>(order: &'a [usize], steps: Steps<'a>) -> impl Iterator<Item = Step> + 'a {
    order.iter().scan(Placed::none(), move |placed, next| {
        let step = steps(placed, *next);
        *placed = placed.with(*next, &step);
        Some(step)
    })
}

fn cost_of(order: &[usize], steps: Steps<'_>) -> f64 {
    walk(order, steps).map(|step| step.cost).sum()
}

/// The order to join members in; `after` says for each which others it must come after. An order of FROM that costs no more
/// than `cheap` stays.
pub(crate) fn choose(after: &[Set], steps: Steps<'_>, cheap: f64) -> Vec<usize> {
    let written: Vec<usize> = (0..after.len()).collect();
    let cost = cost_of(&written, steps);
    if cost <= cheap {
        return written;
    }
    let found = if after.len() <= EXHAUSTIVE_MAX { exhaustive(after, steps) } else { greedy(after, steps) };
    let gain_min = if cost >= DEAR { DEAR_GAIN_MIN } else { GAIN_MIN };
    match found {
        Some(found) if cost_of(&found, steps) * gain_min < cost => found,
        _ => written,
    }
}

/// The cheapest way to join a set of members.
#[derive(Clone)]
struct Best {
    cost: f64,
    placed: Placed,
    order: Vec<usize>,
}

/// The cheapest of all orders; of equal ones one that begins as FROM does. For each set of members the cheapest way whose rows come in
/// batches is kept beside the cheapest one in which they do not, because the steps to come cost less in batches.
fn exhaustive(after: &[Set], steps: Steps<'_>) -> Option<Vec<usize>> {
    let mut best: Vec<[Option<Best>; 2]> = vec![[None, None]; 1 << after.len()];
    best[0][0] = Some(Best { cost: 0.0, placed: Placed::none(), order: Vec::new() });
    for bits in 0..best.len() {
        for from in best[bits].clone().into_iter().flatten() {
            for (next, needs) in after.iter().enumerate() {
                if from.placed.members.has(next) || !needs.is_within(&from.placed.members) {
                    continue;
                }
                let step = steps(&from.placed, next);
                let cost = from.cost + step.cost;
                let known = &mut best[bits | 1 << next][usize::from(step.in_bulk)];
                if known.as_ref().is_none_or(|known| cost < known.cost) {
                    let order = from.order.iter().copied().chain([next]).collect();
                    *known = Some(Best { cost, placed: from.placed.with(next, &step), order });
                }
            }
        }
    }
    let all = best.pop()?.into_iter().flatten();
    all.min_by(|a, b| a.cost.total_cmp(&b.cost)).map(|best| best.order)
}

/// Orders that go on with the cheapest next member, from the cheapest first one or from each.
fn greedy(after: &[Set], steps: Steps<'_>) -> Option<Vec<usize>> {
    let mut starts: Vec<usize> = (0..after.len()).filter(|member| after[*member] == Set::default()).collect();
    if after.len() > STARTS_MAX {
        let first = cheapest(starts.iter().copied(), &Placed::none(), steps).map(|(first, _)| first);
        starts = first.into_iter().collect();
    }
    let orders = starts.into_iter().filter_map(|start| greedy_from(start, after, steps));
    let by_cost = |a: &(f64, Vec<usize>), b: &(f64, Vec<usize>)| a.0.total_cmp(&b.0);
    orders.map(|order| (cost_of(&order, steps), order)).min_by(by_cost).map(|(_, order)| order)
}

fn greedy_from(start: usize, after: &[Set], steps: Steps<'_>) -> Option<Vec<usize>> {
    let mut order = vec![start];
    let none = Placed::none();
    let mut placed = none.with(start, &steps(&none, start));
    while order.len() < after.len() {
        let members = placed.members;
        let free = (0..after.len()).filter(|next| !members.has(*next) && after[*next].is_within(&members));
        let (next, step) = cheapest(free, &placed, steps)?;
        order.push(next);
        placed = placed.with(next, &step);
    }
    Some(order)
}

/// The member whose step leaves the least to do: what it costs, and the rows that all to come is done for.
fn cheapest(members: impl Iterator<Item = usize>, placed: &Placed, steps: Steps<'_>) -> Option<(usize, Step)> {
    let weight = |step: &Step| step.cost + step.rows;
    let candidates = members.map(|member| (member, steps(placed, member)));
    candidates.min_by(|(_, a), (_, b)| weight(a).total_cmp(&weight(b)))
}

mod outer_joins;
#[cfg(test)]
mod tests;
