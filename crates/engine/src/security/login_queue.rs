//! The queue of passwords that are to be hashed: bounded, and fair to addresses and names.
//!
//! ```text
//!   address a ── name x: ticket ticket
//!             └─ name y: ticket          turns go round the addresses, within one round its names:
//!   address b ── name x: ticket          a/x, b/x, a/y, a/x
//! ```
//! A hash takes tens of milliseconds of a CPU and 19 MiB, so few are computed at a time ([`LoginQueue::running_max`]). Who
//! floods from one address makes itself wait: each address has every n-th turn. Of an address those names come first that have
//! not failed there lately. A ticket that is dropped, because its client has gone, leaves the queue, and no hash is computed for
//! it.

use std::collections::{HashMap, VecDeque};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use pikepole_contention::sync::{Mutex, MutexGuard};

/// Tickets of one name from one address.
const PAIR_MAX: usize = 4;
/// Tickets of one address.
const ADDRESS_MAX: usize = 64;
/// Tickets.
const WAITING_MAX: usize = 1_024;

/// What became of a ticket.
#[derive(Debug)]
enum Call {
    Waiting(Option<Waker>),
    /// It is its turn.
    Called,
    /// It had to make room.
    Refused,
}

/// Somebody's place in the queue.
struct Ticket {
    call: Mutex<Call>,
}

#[derive(Default)]
struct Address {
    waiting: usize,
    names: HashMap<String, VecDeque<Arc<Ticket>>>,
    /// The names that have tickets, in the order of their turns, and whether they have failed lately.
    turns: VecDeque<(String, bool)>,
}

#[derive(Default)]
struct State {
    running: usize,
    waiting: usize,
    addresses: HashMap<String, Address>,
    /// The addresses that have tickets, in the order of their turns.
    turns: VecDeque<String>,
}

/// The queue.
pub(super) struct LoginQueue {
    running_max: usize,
    state: Mutex<State>,
}

/// The turn to compute one hash; the next is called when it is dropped.
pub(super) struct Turn(Arc<LoginQueue>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Ticket {
    /// Says what has become of it, and returns whom to wake. Under the lock of the queue it was in: a look that finds it gone from there
    /// finds it called.
    fn call(&self, call: Call) -> Option<Waker> {
        match std::mem::replace(&mut *lock(&self.call), call) {
            Call::Waiting(waker) => waker,
            Call::Called | Call::Refused => None,
        }
    }
}

impl Address {
    fn next(&mut self) -> Option<Arc<Ticket>> {
        let first = self.turns.iter().position(|(_, has_failed)| !has_failed).unwrap_or(0);
        let (name, has_failed) = self.turns.remove(first)?;
        let tickets = self.names.get_mut(&name)?;
        let ticket = tickets.pop_front();
        self.waiting -= usize::from(ticket.is_some());
        match tickets.is_empty() {
            true => drop(self.names.remove(&name)),
            false => self.turns.push_back((name, has_failed)),
        }
        ticket
    }

    /// Takes a ticket out; whether it was there.
    fn remove(&mut self, name: &str, ticket: &Arc<Ticket>) -> bool {
        let Some(tickets) = self.names.get_mut(name) else { return false };
        let before = tickets.len();
        tickets.retain(|other| !Arc::ptr_eq(other, ticket));
        let removed = before - tickets.len();
        self.waiting -= removed;
        if tickets.is_empty() {
            self.names.remove(name);
            self.turns.retain(|(other, _)| other != name);
        }
        removed > 0
    }

    /// The last ticket of the name that has most, if it has more than `than`.
    fn of_greediest(&self, than: usize) -> Option<(String, Arc<Ticket>)> {
        let (name, tickets) = self.names.iter().max_by_key(|(_, tickets)| tickets.len())?;
        let ticket = tickets.back().filter(|_| tickets.len() > than)?;
        Some((name.clone(), Arc::clone(ticket)))
    }
}

impl State {
    fn next(&mut self) -> Option<Arc<Ticket>> {
        let host = self.turns.pop_front()?;
        let address = self.addresses.get_mut(&host)?;
        let ticket = address.next();
        self.waiting -= usize::from(ticket.is_some());
        match address.waiting {
            0 => drop(self.addresses.remove(&host)),
            _ => self.turns.push_back(host),
        }
        ticket
    }

    fn remove(&mut self, host: &str, name: &str, ticket: &Arc<Ticket>) -> bool {
        let Some(address) = self.addresses.get_mut(host) else { return false };
        let removed = address.remove(name, ticket);
        self.waiting -= usize::from(removed);
        if address.waiting == 0 {
            self.addresses.remove(host);
            self.turns.retain(|other| other != host);
        }
        removed
    }

    /// Whether there is room for one more of this name and address; another one of the address, or of the address that has most,
    /// may have to go for it.
    fn make_room(&mut self, host: &str, name: &str) -> bool {
        let of = |address: &Address| (address.waiting, address.names.get(name).map_or(0, VecDeque::len));
        let (of_address, of_pair) = self.addresses.get(host).map_or((0, 0), of);
        if of_pair >= PAIR_MAX {
            return false;
        }
        let greedy = if of_address >= ADDRESS_MAX {
            Some((host.to_owned(), of_pair))
        } else if self.waiting >= WAITING_MAX {
            let most = self.addresses.iter().max_by_key(|(_, address)| address.waiting);
            match most.filter(|(_, address)| address.waiting > of_address + 1) {
                Some((other, _)) => Some((other.clone(), 0)),
                None => return false,
            }
        } else {
            None
        };
        let Some((other, than)) = greedy else { return true };
        let found = self.addresses.get(&other).and_then(|address| address.of_greediest(than));
        let Some((of_name, ticket)) = found else { return false };
        self.remove(&other, &of_name, &ticket);
        if let Some(waker) = ticket.call(Call::Refused) {
            waker.wake();
        }
        true
    }
}

impl LoginQueue {
    /// A queue that lets so many hashes be computed at a time.
    pub fn new(running_max: usize) -> LoginQueue {
        LoginQueue { running_max, state: Mutex::default() }
    }

    /// Waits for the turn of a password of `name` from `host`, which has failed there lately or not; none when there is no room.
    pub async fn turn(self: &Arc<Self>, host: &str, name: &str, has_failed: bool) -> Option<Turn> {
        let ticket = {
            let mut state = lock(&self.state);
            if state.running < self.running_max {
                state.running += 1;
                return Some(Turn(Arc::clone(self)));
            }
            if !state.make_room(host, name) {
                return None;
            }
            let ticket = Arc::new(Ticket { call: Mutex::new(Call::Waiting(None)) });
            state.waiting += 1;
            if !state.addresses.contains_key(host) {
                state.turns.push_back(host.to_owned());
            }
            let address = state.addresses.entry(host.to_owned()).or_default();
            address.waiting += 1;
            if !address.names.contains_key(name) {
                address.turns.push_back((name.to_owned(), has_failed));
            }
            address.names.entry(name.to_owned()).or_default().push_back(Arc::clone(&ticket));
            ticket
        };
        let mut place = Place { queue: self, host, name, ticket, over: false };
        poll_fn(|context| place.poll(context)).await
    }

    /// Calls the next, or notes that one fewer is at work.
    fn pass_on(&self) {
        let mut state = lock(&self.state);
        let waker = match state.next() {
            Some(ticket) => ticket.call(Call::Called),
            None => {
                state.running -= 1;
                None
            }
        };
        drop(state);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Tickets that wait.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        lock(&self.state).waiting
    }
}

/// A ticket in the queue, taken out when it is dropped.
struct Place<'a> {
    queue: &'a Arc<LoginQueue>,
    host: &'a str,
    name: &'a str,
    ticket: Arc<Ticket>,
    over: bool,
}

impl Place<'_> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Turn>> {
        let mut call = lock(&self.ticket.call);
        let turn = match &mut *call {
            Call::Waiting(waker) => {
                *waker = Some(context.waker().clone());
                return Poll::Pending;
            }
            Call::Called => Some(Turn(Arc::clone(self.queue))),
            Call::Refused => None,
        };
        drop(call);
        self.over = true;
        Poll::Ready(turn)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        if self.over || lock(&self.queue.state).remove(self.host, self.name, &self.ticket) {
            return;
        }
        // It was called or refused between its last look and now.
        if matches!(*lock(&self.ticket.call), Call::Called) {
            self.queue.pass_on();
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.0.pass_on();
    }
}

#[cfg(test)]
#[path = "login_queue_tests.rs"]
mod tests;
