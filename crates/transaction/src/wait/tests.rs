use super::*;
use pikepole_contention::Statistics;
use pikepole_log::{Log, LogOptions};
use pikepole_machine::{Disk, SimulatedDisk};

use crate::id::TransactionIds;
use crate::registry::HeldLock;
use crate::transaction::Transaction;

/// The transactions of a database whose sessions are in `graph`.
fn database(graph: &Arc<WaitGraph>) -> Arc<Transactions> {
    let statistics = Statistics::new();
    let log = Log::create(&Disk::simulated(SimulatedDisk::new(1)), "/log", LogOptions::small(), &statistics);
    let log = std::sync::Arc::new(log.expect("an empty disk"));
    Transactions::new(log, statistics, TransactionId(1), TransactionIds::default(), Arc::clone(graph))
}

/// A session that has changed something.
fn writer(home: &Arc<Transactions>, session_id: i32, log_bytes: u64) -> Transaction {
    let mut transaction = home.session(session_id);
    transaction.announce();
    transaction.cell.log_bytes.store(log_bytes, Ordering::Relaxed);
    transaction
}

fn end_of(other: &Transaction) -> WaitedFor {
    WaitedFor::Transaction(other.id().expect("it has changed something"))
}

fn begin(transaction: &Transaction, waited: WaitedFor) -> Result<Edge, TransactionError> {
    let standing = Standing { session_id: transaction.session_id(), ..Standing::default() };
    transaction.home.graph.begin(transaction.cell.owner, waited, &transaction.home, standing)
}

fn is_doomed(edge: &Edge) -> bool {
    lock(&edge.verdict.state).is_doomed
}

/// Shows the owner of `transaction` as a holder of `table`, as a grant does in its second step.
fn show(transaction: &Transaction, table: &TableLock, mode: LockMode) {
    lock(&transaction.cell.held).push(HeldLock { object: table.object(), mode, address: table.address() });
}

#[test]
fn the_last_wait_of_a_circle_finds_it() {
    let home = database(&Arc::default());
    let (mut a, b, c) = (writer(&home, 51, 10), writer(&home, 52, 10), writer(&home, 53, 10));
    let table = Arc::new(TableLock::new(5));
    a.try_lock(&table, LockMode::IX).expect("it is free");
    let of_a = begin(&a, end_of(&b)).expect("b does not wait");
    let of_b = begin(&b, end_of(&c)).expect("c does not wait");
    let strong = || WaitedFor::Lock(Arc::clone(&table), LockMode::SchM, Vec::new());
    assert!(matches!(begin(&c, strong()), Err(TransactionError::Deadlock)), "the youngest of equals");
    assert_eq!(table.blockers(1), None, "nothing is left of it");
    assert!(!is_doomed(&of_a) && !is_doomed(&of_b));
    drop(of_b);
    assert!(begin(&c, strong()).is_ok());
}

#[test]
fn who_stands_behind_a_waiting_strong_lock_waits_for_it() {
    let home = database(&Arc::default());
    let (mut a, b, c) = (writer(&home, 51, 10), writer(&home, 52, 10), writer(&home, 53, 10));
    let table = Arc::new(TableLock::new(5));
    a.try_lock(&table, LockMode::IX).expect("it is free");
    let _of_a = begin(&a, end_of(&c)).expect("c does not wait");
    let _of_b = begin(&b, WaitedFor::Lock(Arc::clone(&table), LockMode::X, Vec::new())).expect("a waits for c only");
    // c stands behind b, which has not been polled yet.
    let weak = WaitedFor::Lock(Arc::clone(&table), LockMode::IX, Vec::new());
    assert!(matches!(begin(&c, weak), Err(TransactionError::Deadlock)));
}

#[test]
fn the_victim_has_the_lowest_priority_and_then_the_least_log() {
    for (priorities, logged, victim) in [
        ([0, 0, 0], [10, 5, 7], 1),
        ([0, 0, -5], [10, 5, 700], 2),
        ([-5, 0, 0], [10, 5, 7], 0),
        ([1, 1, 1], [5, 5, 5], 2),
    ] {
        let graph = Arc::<WaitGraph>::default();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        graph.observe(move |deadlock| {
            let sessions: Vec<i32> = deadlock.processes.iter().map(|process| process.standing.session_id).collect();
            lock(&kept).push((sessions, deadlock.victim, deadlock.by_monitor));
        });
        let home = database(&graph);
        let all: Vec<Transaction> = (0..3).map(|at| writer(&home, 51 + at, logged[at as usize])).collect();
        let begin = |at: usize| {
            let standing = Standing { session_id: 51 + at as i32, priority: priorities[at], ..Standing::default() };
            graph.begin(all[at].cell.owner, end_of(&all[(at + 1) % 3]), &home, standing)
        };
        let edges = [begin(0), begin(1), begin(2)];
        for (at, edge) in edges.iter().enumerate() {
            assert_eq!(edge.as_ref().map_or(true, is_doomed), at == victim, "{priorities:?} {logged:?} {at}");
        }
        let seen = lock(&seen);
        assert_eq!(seen.len(), 1);
        let (sessions, at, by_monitor) = &seen[0];
        assert_eq!((sessions[*at], *by_monitor), (51 + victim as i32, false));
        let counted = home.statistics.counter(Counter::Deadlocks);
        assert_eq!(counted, 1);
    }
}

#[test]
fn a_circle_through_two_databases_is_found() {
    let graph = Arc::<WaitGraph>::default();
    let (one, other) = (database(&graph), database(&graph));
    // Each has changed a row of one database, and both go by the same id there.
    let (a, b) = (writer(&one, 51, 10), writer(&other, 52, 10));
    assert_eq!(a.id(), b.id());
    let (a_there, b_there) = (other.session_of(&a), one.session_of(&b));
    let edge = begin(&a_there, end_of(&b)).expect("b does not wait yet");
    assert!(matches!(begin(&b_there, end_of(&a)), Err(TransactionError::Deadlock)));
    assert_eq!(graph.all(&other.registry)[&a.cell.owner].len(), 1);
    assert_eq!(graph.all(&one.registry)[&a.cell.owner].len(), 0);
    drop(edge);
    assert!(begin(&b_there, end_of(&a)).is_ok());
}

#[test]
fn the_monitor_finds_what_no_wait_has_closed() {
    let graph = Arc::<WaitGraph>::default();
    let home = database(&graph);
    let (a, b) = (writer(&home, 51, 10), writer(&home, 52, 10));
    let bystander = writer(&home, 53, 10);
    let table = Arc::new(TableLock::new(5));
    let of_a = begin(&a, end_of(&b)).expect("b does not wait");
    let of_b = begin(&b, WaitedFor::Lock(Arc::clone(&table), LockMode::X, Vec::new())).expect("nobody has it");
    let of_other = begin(&bystander, end_of(&a)).expect("nobody waits for it");
    assert_eq!(graph.search(), 0);
    show(&a, &table, LockMode::IX);
    assert_eq!(graph.search(), 1);
    assert!(is_doomed(&of_b) && !is_doomed(&of_a) && !is_doomed(&of_other));
    assert_eq!(graph.search(), 0, "a victim waits for nobody");
}

#[test]
fn a_family_that_comes_to_hold_what_another_waits_for_is_looked_at() {
    use crate::nested::NestedTransactions;
    let home = database(&Arc::default());
    let (mut parent, other) = (writer(&home, 51, 10), writer(&home, 52, 10));
    let table = Arc::new(TableLock::new(5));
    let children = parent.try_begin_children(NestedTransactions::Private, 2, true);
    let mut children = children.unwrap_or_else(|_| panic!("there are none yet"));
    let of_child = begin(&children[0], end_of(&other)).expect("the other does not wait");
    let of_other = begin(&other, WaitedFor::Lock(Arc::clone(&table), LockMode::X, Vec::new())).expect("it is free");
    assert!(!is_doomed(&of_other));
    // It stands behind the other, which waits for nothing of the family yet: the wait is granted by hand.
    let grant = table.try_acquire(0, &[LockMode::IX], LockMode::IX);
    assert!(grant.is_some());
    children[1].hold_for_test(&table, grant.expect("just looked at"));
    assert!(is_doomed(&of_other), "the youngest wait of the circle");
    assert!(!is_doomed(&of_child));
    drop((of_child, of_other));
}

#[test]
fn own_locks_of_all_transactions_count_as_own() {
    let home = database(&Arc::default());
    let mut one = writer(&home, 51, 10);
    let mut two = home.session_of(&one);
    let table = Arc::new(TableLock::new(5));
    one.try_lock(&table, LockMode::IX).expect("it is free");
    two.try_lock(&table, LockMode::X).expect("only its own session has it");
    let mut other = writer(&home, 52, 10);
    assert!(other.try_lock(&table, LockMode::SchS).is_ok());
    assert!(other.try_lock(&table, LockMode::IX).is_err());
}
