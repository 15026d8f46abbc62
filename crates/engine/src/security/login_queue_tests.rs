//! Tests of the queue: order, bounds, and clients that have gone.

use super::*;
use std::future::Future;
use std::pin::Pin;

type Waiting = Pin<Box<dyn Future<Output = Option<Turn>>>>;

fn enter(queue: &Arc<LoginQueue>, host: &str, name: &str) -> Waiting {
    enter_having(queue, host, name, false)
}

fn enter_having(queue: &Arc<LoginQueue>, host: &str, name: &str, has_failed: bool) -> Waiting {
    let (queue, host, name) = (Arc::clone(queue), host.to_owned(), name.to_owned());
    Box::pin(async move { queue.turn(&host, &name, has_failed).await })
}

fn look(waiting: &mut Waiting) -> Poll<Option<Turn>> {
    waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn taken(waiting: &mut Waiting) -> Turn {
    match look(waiting) {
        Poll::Ready(Some(turn)) => turn,
        Poll::Ready(None) => panic!("refused"),
        Poll::Pending => panic!("it waits"),
    }
}

/// Lets everybody in who waits, one after the other; in what order they were called.
fn order(mut first: Turn, mut waiting: Vec<(usize, Waiting)>) -> Vec<usize> {
    let mut called = Vec::new();
    while !waiting.is_empty() {
        drop(first);
        let ready = |(at, (number, waiting)): (usize, &mut (usize, Waiting))| match look(waiting) {
            Poll::Ready(Some(turn)) => Some((at, *number, turn)),
            _ => None,
        };
        let (at, number, turn) = waiting.iter_mut().enumerate().find_map(ready).expect("somebody is called");
        first = turn;
        called.push(number);
        drop(waiting.remove(at));
    }
    called
}

#[test]
fn turns_go_round_addresses_and_names() {
    let queue = Arc::new(LoginQueue::new(1));
    let first = taken(&mut enter(&queue, "z", "z"));
    let asked = [("a", "x"), ("a", "x"), ("a", "x"), ("a", "y"), ("b", "x"), ("c", "x"), ("c", "y")];
    let mut waiting: Vec<(usize, Waiting)> = Vec::new();
    for (number, (host, name)) in asked.into_iter().enumerate() {
        let mut ticket = enter(&queue, host, name);
        assert!(look(&mut ticket).is_pending());
        waiting.push((number, ticket));
    }
    assert_eq!(order(first, waiting), [0, 4, 5, 3, 6, 1, 2]);
    assert_eq!((queue.waiting(), lock(&queue.state).running), (0, 0));
}

#[test]
fn names_that_have_not_failed_come_before_those_that_have() {
    let queue = Arc::new(LoginQueue::new(1));
    let first = taken(&mut enter(&queue, "z", "z"));
    let asked = [("a", "guessed", true), ("a", "guessed too", true), ("b", "guessed", true), ("a", "new", false)];
    let mut waiting: Vec<(usize, Waiting)> = Vec::new();
    for (number, (host, name, has_failed)) in asked.into_iter().enumerate() {
        let mut ticket = enter_having(&queue, host, name, has_failed);
        assert!(look(&mut ticket).is_pending());
        waiting.push((number, ticket));
    }
    assert_eq!(order(first, waiting), [3, 2, 0, 1]);
}

#[test]
fn a_client_that_has_gone_takes_no_turn() {
    let queue = Arc::new(LoginQueue::new(1));
    let first = taken(&mut enter(&queue, "a", "x"));
    let (mut gone, mut stays) = (enter(&queue, "a", "x"), enter(&queue, "a", "x"));
    assert!(look(&mut gone).is_pending() && look(&mut stays).is_pending());
    drop(gone);
    assert_eq!(queue.waiting(), 1);
    drop(first);
    let turn = taken(&mut stays);
    // One that goes when it has been called already passes its turn on.
    let (mut called, mut next) = (enter(&queue, "a", "x"), enter(&queue, "b", "x"));
    assert!(look(&mut called).is_pending() && look(&mut next).is_pending());
    drop(turn);
    drop(called);
    drop(taken(&mut next));
    let state = lock(&queue.state);
    assert_eq!((state.waiting, state.running), (0, 0));
    assert!(state.addresses.is_empty() && state.turns.is_empty());
}

#[test]
fn a_flood_of_one_name_or_address_makes_room_for_others() {
    let queue = Arc::new(LoginQueue::new(1));
    let _first = taken(&mut enter(&queue, "a", "x"));
    let mut flood: Vec<Waiting> = Vec::new();
    let mut refused = 0;
    for number in 0..200 {
        let mut ticket = enter(&queue, "a", &format!("name {}", number % 20));
        match look(&mut ticket) {
            Poll::Pending => flood.push(ticket),
            Poll::Ready(turn) => refused += usize::from(turn.is_none()),
        }
    }
    assert_eq!((queue.waiting(), refused > 0), (ADDRESS_MAX, true));
    // Another name of the same address: one of those that have several makes room.
    let mut newcomer = enter(&queue, "a", "good");
    assert!(look(&mut newcomer).is_pending());
    let made_room = flood.iter_mut().map(look).filter(|looked| matches!(looked, Poll::Ready(None))).count();
    assert_eq!((made_room > 0, queue.waiting()), (true, ADDRESS_MAX));
    let mut others: Vec<Waiting> = Vec::new();
    for number in 0..2 * WAITING_MAX {
        let mut ticket = enter(&queue, &format!("host {}", number % 40), &number.to_string());
        if look(&mut ticket).is_pending() {
            others.push(ticket);
        }
    }
    assert!(queue.waiting() <= WAITING_MAX, "{}", queue.waiting());
    let mut stranger = enter(&queue, "a host that was not there", "good");
    assert!(look(&mut stranger).is_pending(), "an address without tickets finds room");
}

#[test]
fn nobody_is_out_of_the_queue_and_not_called() {
    use pikepole_contention::sync::thread;
    let queue = Arc::new(LoginQueue::new(1));
    let first = taken(&mut enter(&queue, "a", "x"));
    let mut goes = enter(&queue, "b", "x");
    assert!(look(&mut goes).is_pending());
    let ticket = lock(&queue.state).addresses["b"].names["x"].front().cloned().expect("a ticket");
    // Its call is held up: a client that goes now must find its ticket in the queue, or have to wait for the queue.
    let call = lock(&ticket.call);
    let passes = thread::spawn(move || drop(first));
    for _ in 0..10_000 {
        if let Ok(state) = queue.state.try_lock() {
            assert_eq!(state.waiting, 1);
        }
        thread::yield_now();
    }
    drop(call);
    passes.join().expect("nothing panics");
    drop(goes);
    assert_eq!((queue.waiting(), lock(&queue.state).running), (0, 0));
}
