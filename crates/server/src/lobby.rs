//! Connections that have not logged in: how many there may be, and who makes room.
//!
//! A client that connects and says nothing would keep its place for as long as a login may take. So connections before their
//! login have a part of all places only, and when that is full the oldest of the address that has most of them is closed: a
//! flood of one address ends its own connections, not those of others. One that has been told to go no longer counts among all
//! connections: a newcomer does not depend on how soon its task has run.

use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
use std::collections::{BTreeMap, HashMap};
use std::future::poll_fn;
use std::net::IpAddr;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// The connections before their login, the oldest first.
pub(crate) struct Lobby {
    places: usize,
    visits: Mutex<Visits>,
}

#[derive(Default)]
struct Visits {
    next: u64,
    open: BTreeMap<u64, (IpAddr, Arc<Notice>)>,
    /// Those that have been told to go and have not gone.
    leaving: usize,
}

/// What tells a connection to go.
#[derive(Default)]
struct Notice {
    leave: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

/// A connection's place before its login; given back when it is dropped.
pub(crate) struct Visit {
    lobby: Arc<Lobby>,
    /// None once the place is given back.
    number: Option<u64>,
    notice: Arc<Notice>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Lobby {
    /// A lobby of so many places.
    pub(crate) fn new(places: usize) -> Lobby {
        Lobby { places: places.max(1), visits: Mutex::default() }
    }

    /// Takes a connection in; another one may have to go.
    pub(crate) fn enter(self: &Arc<Lobby>, from: IpAddr) -> Visit {
        let mut visits = lock(&self.visits);
        let leaves = if visits.open.len() >= self.places { visits.of_most() } else { None };
        visits.leaving += usize::from(leaves.is_some());
        let (number, notice) = (visits.next, Arc::new(Notice::default()));
        visits.next += 1;
        visits.open.insert(number, (from, Arc::clone(&notice)));
        drop(visits);
        if let Some(leaves) = leaves {
            leaves.tell();
        }
        Visit { lobby: Arc::clone(self), number: Some(number), notice }
    }

    /// How many have been told to go and have not gone.
    pub(crate) fn leaving(&self) -> usize {
        lock(&self.visits).leaving
    }

    /// Tells all of them to go.
    pub(crate) fn close(&self) {
        let mut visits = lock(&self.visits);
        let open = std::mem::take(&mut visits.open);
        visits.leaving += open.len();
        drop(visits);
        open.values().for_each(|(_, notice)| notice.tell());
    }
}

impl Visits {
    /// Takes out the oldest of the address that has most.
    fn of_most(&mut self) -> Option<Arc<Notice>> {
        let mut counts = HashMap::<IpAddr, usize>::new();
        for (from, _) in self.open.values() {
            *counts.entry(*from).or_default() += 1;
        }
        let most = counts.values().max().copied()?;
        let mut ways = self.open.iter();
        let number = ways.find_map(|(number, (from, _))| (counts.get(from) == Some(&most)).then_some(*number))?;
        self.open.remove(&number).map(|(_, notice)| notice)
    }
}

impl Notice {
    fn tell(&self) {
        // Release: pairs with the load in `Visit::told`. The waker's lock is taken after either, so one of the two sees the other.
        self.leave.store(true, Ordering::Release);
        if let Some(waker) = lock(&self.waker).take() {
            waker.wake();
        }
    }
}

impl Visit {
    /// Gives the place back; `false` where the connection has been told to go.
    pub(crate) fn end(mut self) -> bool {
        self.give_back()
    }

    fn give_back(&mut self) -> bool {
        let Some(number) = self.number.take() else { return false };
        let mut visits = lock(&self.lobby.visits);
        let stays = visits.open.remove(&number).is_some();
        visits.leaving -= usize::from(!stays);
        stays
    }

    /// Ready when the connection has to go.
    pub(crate) async fn told(&self) {
        poll_fn(|context| {
            *lock(&self.notice.waker) = Some(context.waker().clone());
            // Acquire: pairs with the store in `Notice::tell`.
            match self.notice.leave.load(Ordering::Acquire) {
                true => Poll::Ready(()),
                false => Poll::Pending,
            }
        })
        .await;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::Future;
    use std::net::Ipv4Addr;
    use std::pin::pin;
    use std::task::Context;

    fn leaves(visit: &Visit) -> bool {
        pin!(visit.told()).poll(&mut Context::from_waker(Waker::noop())).is_ready()
    }

    #[test]
    fn the_oldest_of_the_address_that_has_most_goes() {
        let lobby = Arc::new(Lobby::new(4));
        let from = |last: u8| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
        let visits = [1, 2, 2, 2].map(|last| lobby.enter(from(last)));
        let newcomer = lobby.enter(from(3));
        let gone: Vec<bool> = visits.iter().chain([&newcomer]).map(leaves).collect();
        assert_eq!(gone, [false, true, false, false, false]);
        assert_eq!(lobby.leaving(), 1);
        let [first, told, second, third] = visits;
        assert!(!told.end(), "it has been told to go");
        assert_eq!(lobby.leaving(), 0);
        assert!(newcomer.end());
        let another = lobby.enter(from(2));
        assert!(!leaves(&another) && !leaves(&first), "there is room again");
        drop((first, second, third, another));
        assert!(lock(&lobby.visits).open.is_empty());
    }
}
