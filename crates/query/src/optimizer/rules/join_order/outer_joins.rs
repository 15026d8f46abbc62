//! LEFT JOINs among inner joins: what stands left of them takes part in the order.
//!
//! ```text
//!   FROM (sale LEFT JOIN return ON ..) JOIN day ON sale.day = day.id WHERE day.year = 2000
//!
//!   members   sale  day                 joined in the order of their costs
//!   tail      return                    joined to what is left of both, where the fewest rows are
//! ```
//! An inner join and a LEFT JOIN of other tables change places freely (Galindo-Legaria and Rosenthal, "Outerjoin simplification and reordering
//! for query optimization", 1997): the right side is looked up for each row of the left one, and no row is lost. Conditions on the
//! right side's columns are tested once it is there. One that is about another member, too, may be all that joins that one, so
//! such a right side stays where it is written.

use super::{Member, Place, members_of};
use crate::bind::join::JoinTree;
use crate::bind::scope::Source;
use crate::expression::Predicate;
use crate::plan::JoinKind;

/// The right side of a LEFT JOIN whose left side is taken apart.
pub(super) struct Tail {
    member: Member,
    on: Vec<Predicate>,
    /// The number of members, and of earlier tails, that it may read.
    behind: (usize, usize),
}

/// Takes a tree of inner joins apart, as [`members_of`] does, and LEFT JOINs whose right sides may be joined later.
pub(super) fn members_and_tails(
    tree: JoinTree,
    sources: &[Source],
    pool: &mut Vec<Predicate>,
) -> (Vec<Member>, Vec<Tail>) {
    let mut links: Vec<Vec<usize>> = pool.iter().map(|condition| read_by(condition, sources)).collect();
    visit_links(&tree, sources, &mut |read| links.push(read));
    let (mut members, mut tails) = (Vec::new(), Vec::new());
    take_apart(tree, &links, (&mut members, &mut tails), pool);
    (members, tails)
}

fn take_apart(
    tree: JoinTree,
    links: &[Vec<usize>],
    (members, tails): (&mut Vec<Member>, &mut Vec<Tail>),
    pool: &mut Vec<Predicate>,
) {
    match tree {
        JoinTree::Join { left, right, kind: JoinKind::Inner, lateral, on } => {
            pool.extend(on);
            take_apart(*left, links, (members, tails), pool);
            match lateral {
                true => members_of(*right, true, members, pool),
                false => take_apart(*right, links, (members, tails), pool),
            }
        }
        JoinTree::Join { left, right, kind: JoinKind::Left, lateral, on } if may_come_later(&left, &right, links) => {
            take_apart(*left, links, (members, tails), pool);
            let behind = (members.len(), tails.len());
            tails.push(Tail { member: Member { tree: *right, lateral }, on, behind });
        }
        tree => members.push(Member { tree, lateral: false }),
    }
}

/// The sources whose columns a condition reads.
fn read_by(condition: &Predicate, sources: &[Source]) -> Vec<usize> {
    let mut read = Vec::new();
    condition.visit_slots(&mut |slot| read.extend(source_of(slot, sources)));
    read
}

fn source_of(slot: usize, sources: &[Source]) -> Option<usize> {
    sources.iter().position(|source| source.registers.range().contains(&slot))
}

/// The sources of a tree.
fn sources_of(tree: &JoinTree) -> Vec<usize> {
    let mut own = Vec::new();
    tree.visit_leaves(&mut |source, _| own.push(source));
    own
}

/// Calls `visit` with what each condition of inner joins reads, and with each right side of CROSS APPLY and what it reads.
fn visit_links(tree: &JoinTree, sources: &[Source], visit: &mut dyn FnMut(Vec<usize>)) {
    let JoinTree::Join { left, right, kind, lateral, on } = tree else { return };
    visit_links(left, sources, visit);
    if *kind == JoinKind::Inner {
        on.iter().for_each(|condition| visit(read_by(condition, sources)));
        if *lateral {
            let mut linked = sources_of(right);
            right.visit_read(&mut |slot| linked.extend(source_of(slot, sources)));
            visit(linked);
        } else {
            visit_links(right, sources, visit);
        }
    }
}

/// True if nothing that reads the right side reads more than the two.
fn may_come_later(left: &JoinTree, right: &JoinTree, links: &[Vec<usize>]) -> bool {
    let (own, right_own) = (sources_of(left), sources_of(right));
    let is_free = |read: &Vec<usize>| {
        let reads_right = read.iter().any(|source| right_own.contains(source));
        !reads_right || read.iter().all(|source| own.contains(source) || right_own.contains(source))
    };
    !is_marked(right) && links.iter().all(is_free)
}

/// True if there is a slot for the rows' being there, which is no source's.
fn is_marked(tree: &JoinTree) -> bool {
    match tree {
        JoinTree::Leaf(..) => false,
        JoinTree::Join { left, right, .. } | JoinTree::Full { left, right, .. } => is_marked(left) || is_marked(right),
        JoinTree::Marked(..) => true,
    }
}

/// Takes the conditions out of the pool that read right sides: they are tested when these are there.
pub(super) fn take_conditions(tails: &[Tail], sources: &[Source], pool: &mut Vec<Predicate>) -> Vec<Predicate> {
    let mut own = Vec::new();
    for tail in tails {
        tail.member.tree.visit_leaves(&mut |source, _| own.push(sources[source].registers));
    }
    let reads_tail = |condition: &Predicate| {
        let mut reads = false;
        condition.visit_slots(&mut |slot| reads |= own.iter().any(|registers| registers.range().contains(&slot)));
        reads
    };
    let (taken, rest) = std::mem::take(pool).into_iter().partition(reads_tail);
    *pool = rest;
    taken
}

/// Puts right sides between members that are in order: `order` are their numbers, `rows` how many rows there are behind each.
pub(super) fn place_tails(places: Vec<Place>, tails: Vec<Tail>, order: &[usize], rows: &[f64]) -> Vec<Place> {
    let mut at = Vec::with_capacity(tails.len());
    for tail in &tails {
        let last = order.iter().rposition(|member| *member < tail.behind.0).unwrap_or(0);
        let first = at[..tail.behind.1].iter().copied().fold(last, usize::max);
        let fewest = (first..order.len()).rev().min_by(|a, b| rows[*a].total_cmp(&rows[*b]));
        at.push(fewest.unwrap_or(first));
    }
    let mut all = Vec::with_capacity(places.len() + tails.len());
    let mut tails: Vec<(usize, Tail)> = at.into_iter().zip(tails).collect();
    for (place, member) in places.into_iter().enumerate() {
        all.push(member);
        let (here, later) = tails.into_iter().partition(|(at, _)| *at == place);
        tails = later;
        all.extend(here.into_iter().map(|(_, tail)| Place { member: tail.member, keeps: false, on: Some(tail.on) }));
    }
    all
}
