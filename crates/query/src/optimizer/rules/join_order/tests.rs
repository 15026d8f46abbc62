//! Orders over sizes that are given, without tables.

use super::{CHEAP, Placed, Set, Step, choose};

/// Members of so many rows; a pair that is joined by a key gives as many rows as the larger one, any other pair all combinations.
fn order(rows: &[f64], joined: &[(usize, usize)], after: &[(usize, usize)]) -> Vec<usize> {
    let step = |placed: &Placed, next: usize| {
        let outer = placed.rows;
        let partner = |(a, b): &(usize, usize)| match next {
            next if next == *a => Some(*b),
            next if next == *b => Some(*a),
            _ => None,
        };
        let by_key: Vec<usize> = joined.iter().filter_map(partner).filter(|other| placed.members.has(*other)).collect();
        let smallest = by_key.iter().map(|other| rows[*other].max(rows[next])).fold(f64::INFINITY, f64::min);
        let (cost, matches) = match by_key.is_empty() {
            true => (outer * rows[next], rows[next]),
            false => (outer + rows[next], rows[next] / smallest),
        };
        Step { cost, rows: (outer * matches).max(1.0), keeps: false, in_bulk: false }
    };
    let mut needs = vec![Set::default(); rows.len()];
    for (member, other) in after {
        needs[*member] = needs[*member].with(*other);
    }
    choose(&needs, &step, CHEAP)
}

#[test]
fn tables_without_a_condition_in_common_are_not_multiplied() {
    // part, supplier, lineitem: the two first ones meet in the third.
    let found = order(&[20_000.0, 1_000.0, 600_000.0], &[(0, 2), (1, 2)], &[]);
    assert_ne!(found[2], 2, "{found:?}");
}

#[test]
fn cheap_joins_stay_in_the_order_of_from() {
    assert_eq!(order(&[10.0, 10.0, 10.0], &[(0, 2), (1, 2)], &[]), [0, 1, 2]);
}

#[test]
fn equal_joins_stay_in_the_order_of_from() {
    assert_eq!(order(&[1e5, 1e5, 1e5], &[(0, 1), (1, 2), (0, 2)], &[]), [0, 1, 2]);
}

#[test]
fn small_tables_that_nothing_joins_are_multiplied_before_a_large_one_is() {
    // Three lists of a few rows and a large table that each of them restricts.
    assert_eq!(order(&[1e6, 2.0, 3.0], &[], &[])[2], 0);
    assert_eq!(order(&[1e4, 2.0, 3.0], &[], &[]), [0, 1, 2], "too little is gained by another order");
}

#[test]
fn a_member_comes_after_those_it_reads() {
    let found = order(&[20_000.0, 1_000.0, 600_000.0], &[(0, 2), (1, 2)], &[(2, 1), (2, 0)]);
    assert_eq!(found[2], 2);
}

#[test]
fn many_members_are_ordered_too() {
    // A chain written so that no two neighbours of the text have a condition in common.
    let count = 30;
    let rows = vec![1_000.0; count];
    let place = |at: usize| at * 7 % count;
    let joined: Vec<(usize, usize)> = (1..count).map(|at| (place(at - 1), place(at))).collect();
    let found = order(&rows, &joined, &[]);
    let mut all = found.clone();
    all.sort_unstable();
    assert_eq!(all, (0..count).collect::<Vec<_>>());
    for (at, member) in found.iter().enumerate().skip(1) {
        let meets = |(a, b): &(usize, usize)| {
            (a == member && found[..at].contains(b)) || (b == member && found[..at].contains(a))
        };
        assert!(joined.iter().any(meets), "{member} is multiplied with all before it: {found:?}");
    }
}

#[test]
fn sets_hold_members_up_to_the_last() {
    let set = Set::of([0, 63, 64, 255]);
    assert!(set.has(255) && set.has(64) && !set.has(65));
    assert_eq!(set.count(), 4);
    assert!(Set::of([63]).is_within(&set) && Set::of([1, 64]).meets(&set) && !Set::of([1, 64]).is_within(&set));
}

#[test]
fn a_dear_beginning_in_batches_is_kept_beside_a_cheap_one() {
    // The two first ones are joined for less in the order 0 1, but the third costs a hundred times as much then.
    let step = |placed: &Placed, next: usize| {
        let in_bulk = if placed.members == Set::default() { next == 1 } else { placed.in_bulk };
        let cost = match next {
            1 if placed.members == Set::default() => 10_000.0,
            2 if placed.members.count() == 2 => {
                if in_bulk {
                    5_000.0
                } else {
                    500_000.0
                }
            }
            2 => 1e9,
            _ => 1_000.0,
        };
        Step { cost, rows: 1.0, keeps: false, in_bulk }
    };
    assert_eq!(choose(&[Set::default(); 3], &step, CHEAP), [1, 0, 2]);
}
