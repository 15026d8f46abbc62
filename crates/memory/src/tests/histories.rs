//! Random histories of transactions of several threads, and a checker of what their level promises (after Adya, 1999, and Elle: Kingsbury
//! and Alvaro, PVLDB 2020).
//!
//! A transaction begins at S and commits at C. A row's value is the number of the transaction that has put it, so a read says whose version
//! it has seen, and a change says whose it has replaced:
//!
//! ```text
//!   U has seen or replaced what T has put, or has begun behind T's end   C of T before S of U
//!   T has seen the version that U has replaced, or nothing before it     S of T before C of U
//!     the same at a level that promises it for such a read               C of T before C of U
//! ```
//! A history keeps its level if all of that can be in one order: there is no cycle. For SERIALIZABLE that is the order of a serial history,
//! in which none comes before another that had ended when it began.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// Keys that are there from the start, put by transaction 0. Others are inserted once, above them.
const FIRST_KEYS: u32 = 6;
/// Threads, whose keys to insert lie between each other's.
const THREADS: u32 = 4;

/// Something that a transaction has looked at: keys, and the writers of those that it has seen.
#[derive(Debug, Clone)]
struct Look {
    keys: RangeInclusive<u32>,
    seen: BTreeMap<u32, u32>,
}

/// A transaction that has committed.
#[derive(Debug, Clone, Default)]
struct Done {
    number: u32,
    /// Tickets of its begin and its end, of one counter for all.
    began: u64,
    ended: u64,
    looks: Vec<Look>,
    /// Keys that it has put or deleted, and the writers of the versions before; None: it has inserted the row.
    replaced: BTreeMap<u32, Option<u32>>,
    deleted: BTreeSet<u32>,
}

/// Orders of events: those of the transaction at place `t` are `2t`, when it begins, and `2t + 1`, when it commits.
struct Events {
    after: Vec<Vec<usize>>,
}

const fn begin(at: usize) -> usize {
    2 * at
}

const fn end(at: usize) -> usize {
    2 * at + 1
}

impl Events {
    fn before(&mut self, first: usize, second: usize) {
        if first != second {
            self.after[first].push(second);
        }
    }

    /// Events in cycles, and between them: without those that have none left before them, or none behind.
    fn in_cycles(&self) -> Vec<usize> {
        let mut before = vec![Vec::new(); self.after.len()];
        for (first, after) in self.after.iter().enumerate() {
            after.iter().for_each(|second| before[*second].push(first));
        }
        let mut left = vec![true; self.after.len()];
        peel(&before, &self.after, &mut left);
        peel(&self.after, &before, &mut left);
        (0..left.len()).filter(|at| left[*at]).collect()
    }
}

/// Takes away what has none of its `from` left, again and again; `to` is the opposite of `from`.
fn peel(from: &[Vec<usize>], to: &[Vec<usize>], left: &mut [bool]) {
    let mut waits: Vec<usize> = from.iter().map(|all| all.iter().filter(|other| left[**other]).count()).collect();
    let mut free: Vec<usize> = (0..waits.len()).filter(|at| left[*at] && waits[*at] == 0).collect();
    while let Some(gone) = free.pop() {
        left[gone] = false;
        for other in &to[gone] {
            waits[*other] -= 1;
            if left[*other] && waits[*other] == 0 {
                free.push(*other);
            }
        }
    }
}

/// Checks that a history keeps what its level promises.
fn check(history: &[Done], level: Level) -> Result<(), String> {
    let place: BTreeMap<u32, usize> = history.iter().enumerate().map(|(at, done)| (done.number, at)).collect();
    let of = |number: u32| place.get(&number).copied().ok_or(format!("{number} was seen, which has not committed"));
    // By keys and replaced writers: who has put the next version. An inserted row has none before it.
    let mut next: BTreeMap<(u32, Option<u32>), usize> = BTreeMap::new();
    for (at, done) in history.iter().enumerate() {
        for (key, before) in &done.replaced {
            if next.insert((*key, *before), at).is_some() {
                return Err(format!("two have replaced what {before:?} had put at {key}"));
            }
        }
    }
    let deleted: BTreeSet<u32> = history.iter().flat_map(|done| &done.deleted).copied().collect();
    let inserted: BTreeSet<u32> = next.keys().filter(|(_, before)| before.is_none()).map(|(key, _)| *key).collect();
    let mut events = Events { after: vec![Vec::new(); 2 * history.len()] };
    for (at, done) in history.iter().enumerate() {
        events.before(begin(at), end(at));
        for before in done.replaced.values().flatten() {
            events.before(end(of(*before)?), begin(at));
        }
        for look in &done.looks {
            for (key, writer) in &look.seen {
                events.before(end(of(*writer)?), begin(at));
                let promised = level >= Level::RepeatableRead;
                if let Some(later) = next.get(&(*key, Some(*writer))).filter(|later| **later != at) {
                    events.before(if promised { end(at) } else { begin(at) }, end(*later));
                }
            }
            // A row that was deleted once may have been looked for before or behind its time.
            let unseen = inserted.range(look.keys.clone()).filter(|key| !look.seen.contains_key(key));
            for key in unseen.filter(|key| !deleted.contains(key) && !done.replaced.contains_key(key)) {
                let promised = level >= Level::Serializable;
                if let Some(later) = next.get(&(*key, None)).filter(|later| **later != at) {
                    events.before(if promised { end(at) } else { begin(at) }, end(*later));
                }
            }
        }
    }
    in_their_time(history, &mut events);
    let left = events.in_cycles();
    let name = |event: &usize| format!("{} of {}", ["begin", "end"][event % 2], history[event / 2].number);
    let named = left.iter().filter(|event| **event < 2 * history.len()).take(12).map(name).collect::<Vec<_>>();
    if left.is_empty() { Ok(()) } else { Err(format!("a cycle among {}", named.join(", "))) }
}

/// Orders each transaction behind those that ended before it began. Events of the clock, each behind the one before, spare an order for each pair.
fn in_their_time(history: &[Done], events: &mut Events) {
    let mut tickets: Vec<(u64, usize)> = Vec::new();
    for (at, done) in history.iter().enumerate() {
        tickets.extend([(done.began, begin(at)), (done.ended, end(at))]);
    }
    tickets.sort_unstable();
    let mut clock = None;
    for (_, event) in tickets {
        if event % 2 == 0 {
            clock.into_iter().for_each(|clock| events.before(clock, event));
            continue;
        }
        let next = events.after.len();
        events.after.push(Vec::new());
        events.before(event, next);
        clock.into_iter().for_each(|clock| events.before(clock, next));
        clock = Some(next);
    }
}

/// Random numbers of a thread.
struct Random(u64);

impl Random {
    fn below(&mut self, below: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % u64::from(below)) as u32
    }
}

/// A session that runs random transactions.
struct Session<'a> {
    home: Arc<MemoryTransactions>,
    table: Arc<MemoryTable>,
    level: Level,
    tickets: &'a AtomicU64,
    random: Random,
    /// The number of its thread, its next transaction's, and how many keys it has inserted or tried to.
    thread: u32,
    number: u32,
    inserted: u32,
}

impl Session<'_> {
    /// The values that the transaction sees under some keys.
    fn look(&mut self, tx: &mut MemoryTransaction, keys: RangeInclusive<u32>) -> BTreeMap<u32, u32> {
        let bound = |key: &u32| Bound::Included(key.to_be_bytes().to_vec());
        let range = KeyRange::Between(bound(keys.start()), bound(keys.end()));
        // A hash index is looked through as a whole, and promises that for all keys.
        let range = if matches!(self.table.indexes[0].shape.kind, IndexKind::Range) { range } else { all() };
        let range = if keys.start() == keys.end() { equal(*keys.start()) } else { range };
        let rows = scan(tx, &self.table, 0, range, self.random.below(2) == 1, self.level);
        rows.into_iter().map(|(_, row)| row).filter(|(key, _)| keys.contains(key)).collect()
    }

    /// Some keys, of which there may be rows.
    fn keys(&mut self) -> RangeInclusive<u32> {
        let most = FIRST_KEYS + (self.inserted + 1) * THREADS;
        let first = self.random.below(most);
        let width = [0, 0, 3, most][self.random.below(4) as usize];
        first..=first + width
    }

    /// One transaction; None: it was refused.
    fn run(&mut self, tx: &mut MemoryTransaction) -> Option<Done> {
        self.number += 1;
        let number = (self.number * THREADS) + self.thread + 1;
        let mut done = Done { number, began: self.tickets.fetch_add(1, Ordering::SeqCst), ..Done::default() };
        let outcome = (0..1 + self.random.below(4)).try_for_each(|_| self.step(tx, &mut done));
        if outcome.is_err() || self.random.below(16) == 0 {
            tx.rollback();
            return None;
        }
        commit(tx).ok()?;
        done.ended = self.tickets.fetch_add(1, Ordering::SeqCst);
        Some(done)
    }

    fn step(&mut self, tx: &mut MemoryTransaction, done: &mut Done) -> Result<(), Refusal> {
        if self.random.below(5) == 0 {
            let key = FIRST_KEYS + self.inserted * THREADS + self.thread;
            self.inserted += 1;
            insert(tx, &self.table, key, done.number)?;
            done.replaced.insert(key, None);
            return Ok(());
        }
        let keys = self.keys();
        let mut seen = self.look(tx, keys.clone());
        // Its own changes say nothing of others.
        seen.retain(|_, writer| *writer != done.number);
        let to_change = seen.iter().next().map(|(key, writer)| (*key, *writer));
        done.looks.push(Look { keys, seen });
        let Some((key, writer)) = to_change.filter(|_| self.random.below(2) == 0) else { return Ok(()) };
        let to = if self.random.below(8) == 0 { None } else { Some((key, done.number)) };
        assert!(change(tx, &self.table, key, to)?, "a row that is seen is gone without a conflict");
        done.replaced.insert(key, Some(writer));
        if to.is_none() {
            done.deleted.insert(key);
        }
        Ok(())
    }
}

fn history(kind: IndexKind, way: Timestamps, level: Level, rounds: u32) -> Vec<Done> {
    let (home, table) = (home_by(way), table(kind));
    let tickets = AtomicU64::new(0);
    let mut tx = home.session();
    let mut setup = Done { began: tickets.fetch_add(1, Ordering::SeqCst), ..Done::default() };
    for key in 0..FIRST_KEYS {
        insert(&mut tx, &table, key, 0).expect("no conflict");
        setup.replaced.insert(key, None);
    }
    commit(&mut tx).expect("valid");
    setup.ended = tickets.fetch_add(1, Ordering::SeqCst);
    let mut history = vec![setup];
    let session = |thread: u32| Session {
        home: home.clone(),
        table: table.clone(),
        level,
        tickets: &tickets,
        random: Random(u64::from(thread + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        thread,
        number: 0,
        inserted: 0,
    };
    std::thread::scope(|threads| {
        let run = |thread| {
            let mut session = session(thread);
            threads.spawn(move || {
                let mut tx = session.home.session();
                (0..rounds).filter_map(|_| session.run(&mut tx)).collect::<Vec<Done>>()
            })
        };
        let handles: Vec<_> = (0..THREADS).map(run).collect();
        handles.into_iter().for_each(|handle| history.extend(handle.join().expect("no panic")));
    });
    drop(tx);
    assert_eq!(home.sweep(), 0, "no row waits without snapshots");
    history
}

#[test]
fn histories_keep_what_their_level_promises() {
    for level in [Level::Snapshot, Level::RepeatableRead, Level::Serializable] {
        for (kind, way) in KINDS.into_iter().flat_map(|kind| WAYS.map(|way| (kind, way))) {
            let history = history(kind, way, level, 400);
            assert!(history.len() > 50, "few have come through: {}", history.len());
            if let Err(why) = check(&history, level) {
                panic!("{level:?}, {kind:?}, {way:?}: {why}");
            }
        }
    }
}

/// Keys and the writers of their versions: those that a transaction has seen, and those that it has replaced.
type ByHand<'a> = (&'a [(u32, u32)], &'a [(u32, u32)]);

/// Transactions of a history made by hand, one behind the other unless `beside` says so.
fn by_hand(beside: bool, all: &[ByHand<'_>]) -> Vec<Done> {
    let mut setup = Done { began: 0, ended: 1, ..Done::default() };
    setup.replaced.extend((0..FIRST_KEYS).map(|key| (key, None)));
    let mut history = vec![setup];
    for (at, (seen, replaced)) in all.iter().enumerate() {
        let number = at as u32 + 1;
        let (began, ended) =
            if beside { (2, 3 + at as u64) } else { (2 * u64::from(number), 2 * u64::from(number) + 1) };
        let look = |(key, writer): &(u32, u32)| Look { keys: *key..=*key, seen: BTreeMap::from([(*key, *writer)]) };
        let replaced = replaced.iter().map(|(key, writer)| (*key, Some(*writer))).collect();
        let looks = seen.iter().map(look).collect();
        history.push(Done { number, began, ended, looks, replaced, ..Done::default() });
    }
    history
}

#[test]
fn the_checker_finds_what_levels_forbid() {
    let levels = [Level::Snapshot, Level::RepeatableRead, Level::Serializable];
    let kept = |history: &[Done]| levels.map(|level| check(history, level).is_ok());
    // Each changes one of two rows that both have seen.
    let skew: [ByHand<'_>; 2] = [(&[(0, 0), (1, 0)], &[(0, 0)]), (&[(0, 0), (1, 0)], &[(1, 0)])];
    assert_eq!(kept(&by_hand(true, &skew)), [true, false, false], "write skew");
    assert_eq!(kept(&by_hand(false, &skew)), [false; 3], "what had ended was not seen");
    assert_eq!(kept(&by_hand(true, &[(&[], &[(0, 0)]), (&[], &[(0, 0)])])), [false; 3], "a lost update");
    assert_eq!(
        kept(&by_hand(true, &[(&[], &[(0, 0), (1, 0)]), (&[(0, 1), (1, 0)], &[])])),
        [false; 3],
        "half of a commit"
    );
    assert_eq!(kept(&by_hand(true, &[(&[(0, 7)], &[])])), [false; 3], "7 has not committed");
    assert_eq!(kept(&by_hand(false, &[(&[(0, 0)], &[(0, 0)]), (&[(0, 1)], &[])])), [true; 3]);
    // Each inserts a row that the other has looked for.
    let mut phantoms = by_hand(true, &[(&[], &[]), (&[], &[])]);
    for (at, key) in [(1, 20), (2, 21)] {
        phantoms[at].replaced.insert(key, None);
        phantoms[at].looks.push(Look { keys: 20..=21, seen: BTreeMap::new() });
    }
    assert_eq!(kept(&phantoms), [true, true, false], "phantoms");
}
