//! A run: terminals that execute transactions, and what is counted of them.

use crate::cpu;
use crate::session::SessionError;
use crate::target::Target;
use crate::terminal::{Terminal, drive};
use crate::workloads::{Ending, Workload, draw};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// The span of time whose transactions are counted.
pub struct Window {
    begin: Instant,
    end: Instant,
    /// A terminal has failed: the others need not go on.
    stopped: AtomicBool,
}

impl Window {
    /// The span from `after` now, so long.
    pub fn new(after: Duration, length: Duration) -> Window {
        let begin = Instant::now() + after;
        Window { begin, end: begin + length, stopped: AtomicBool::new(false) }
    }

    fn is_over(&self) -> bool {
        Instant::now() >= self.end || self.stopped.load(Ordering::Relaxed)
    }
}

/// The transactions of some terminals within the window.
#[derive(Debug, Default, Clone)]
pub struct Tally {
    /// The time of each, in microseconds, by kind.
    pub times: Vec<Vec<u32>>,
    /// Commits by kind, within the window or not.
    pub committed: Vec<u64>,
    /// Attempts that another transaction was in the way of.
    pub retries: u64,
    /// Transactions that were rolled back as the workload intends it.
    pub rollbacks: u64,
}

impl Tally {
    fn new(kinds: usize) -> Tally {
        Tally { times: vec![Vec::new(); kinds], committed: vec![0; kinds], ..Tally::default() }
    }

    /// Adds that of another terminal.
    pub fn add(&mut self, other: Tally) {
        self.times.resize(self.times.len().max(other.times.len()), Vec::new());
        self.committed.resize(self.committed.len().max(other.committed.len()), 0);
        self.times.iter_mut().zip(other.times).for_each(|(all, times)| all.extend(times));
        self.committed.iter_mut().zip(other.committed).for_each(|(all, count)| *all += count);
        self.retries += other.retries;
        self.rollbacks += other.rollbacks;
    }

    /// All transactions.
    pub fn transactions(&self) -> u64 {
        self.times.iter().map(|times| times.len() as u64).sum()
    }
}

/// The result of a run.
pub struct Run {
    /// The transactions.
    pub tally: Tally,
    /// The window's length.
    pub length: Duration,
    /// The CPU time of the server meanwhile, when it is on this machine.
    pub server_cpu: Option<Duration>,
    /// The CPU time of this process meanwhile.
    pub client_cpu: Option<Duration>,
    /// The CPU time of the whole machine meanwhile.
    pub machine_cpu: Option<Duration>,
}

/// The settings of a run.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    /// Connections.
    pub terminals: usize,
    /// Threads that drive them.
    pub threads: usize,
    /// The time that transactions run before they are counted.
    pub warm_up: Duration,
    /// The time that they are counted.
    pub length: Duration,
    /// The seed of the terminals' random numbers.
    pub seed: u64,
}

/// Connects and prepares terminals, grouped by the threads that are to drive them.
pub fn terminals(target: &Target, workload: &Workload, setting: &Setting) -> Result<Vec<Vec<Terminal>>, SessionError> {
    let threads = setting.threads.clamp(1, setting.terminals.max(1));
    let mut groups: Vec<Vec<Terminal>> = (0..threads).map(|_| Vec::new()).collect();
    for number in 0..setting.terminals {
        let mut session = target.connect()?;
        session.prepare(workload.statements())?;
        let seed = setting.seed << 32 | number as u64;
        groups[number % threads].push(Terminal::new(session, number, seed, setting.terminals <= threads));
    }
    Ok(groups)
}

/// Runs a workload against a server.
///
/// # Errors
/// The first error of a terminal that is not to be tried again.
pub fn run(target: &Target, workload: &Workload, setting: &Setting) -> Result<Run, SessionError> {
    let process = target.process()?;
    let groups = terminals(target, workload, setting)?;
    let window = Window::new(setting.warm_up, setting.length);
    let mut tally = Tally::default();
    let [server_cpu, client_cpu, machine_cpu] = thread::scope(|scope| {
        let window = &window;
        let threads: Vec<_> =
            groups.into_iter().map(|group| scope.spawn(move || work(group, workload, window))).collect();
        // Before the connections are closed: a process of PostgreSQL that ends is waited for some time later.
        let cpu = || [process.and_then(|process| process.cpu()), cpu::own(), cpu::machine()];
        thread::sleep(window.begin.saturating_duration_since(Instant::now()));
        let before = cpu();
        thread::sleep(window.end.saturating_duration_since(Instant::now()));
        let after = cpu();
        for thread in threads {
            let (group, failure) = thread.join().map_err(|_| SessionError::other("a thread panicked"))??;
            tally.add(group);
            failure.map_or(Ok(()), Err)?;
        }
        let difference = |place: usize| Some(after[place]?.saturating_sub(before[place]?));
        Ok::<_, SessionError>([0, 1, 2].map(difference))
    })?;
    Ok(Run { tally, length: setting.length, server_cpu, client_cpu, machine_cpu })
}

/// Drives a group of terminals until the window is over: their transactions, and the first failure.
pub fn work(
    group: Vec<Terminal>,
    workload: &Workload,
    window: &Window,
) -> Result<(Tally, Option<SessionError>), SessionError> {
    let ended = drive(group, |terminal| transactions(terminal, workload, window))?;
    let (mut tally, mut failure) = (Tally::default(), None);
    for (own, error) in ended {
        tally.add(own);
        failure = failure.or(error);
    }
    Ok((tally, failure))
}

/// Runs transactions until the window is over, or one fails.
async fn transactions(mut terminal: Terminal, workload: &Workload, window: &Window) -> (Tally, Option<SessionError>) {
    let kinds = workload.kinds();
    let mut tally = Tally::new(kinds.len());
    while !window.is_over() {
        let kind = draw(kinds, &mut terminal.random);
        if let Err(error) = transaction(&mut terminal, workload, kind, window, &mut tally).await {
            window.stopped.store(true, Ordering::Relaxed);
            return (tally, Some(error));
        }
    }
    (tally, None)
}

/// Runs a transaction until it is not in another one's way.
async fn transaction(
    terminal: &mut Terminal,
    workload: &Workload,
    kind: usize,
    window: &Window,
    tally: &mut Tally,
) -> Result<(), SessionError> {
    let begun = Instant::now();
    let mut retries = 0;
    let ending = loop {
        match attempt(terminal, workload, kind).await {
            Ok(ending) => break ending,
            Err(SessionError::Conflict(_)) => {
                retries += 1;
                terminal.end(false).await?;
            }
            Err(error) => return Err(error),
        }
    };
    tally.committed[kind] += u64::from(ending == Ending::Commit);
    let now = Instant::now();
    if (window.begin..window.end).contains(&now) {
        let time = now.duration_since(begun).as_micros();
        tally.times[kind].push(u32::try_from(time).unwrap_or(u32::MAX));
        tally.retries += retries;
        tally.rollbacks += u64::from(ending == Ending::Rollback);
    }
    Ok(())
}

async fn attempt(terminal: &mut Terminal, workload: &Workload, kind: usize) -> Result<Ending, SessionError> {
    let ending = workload.run(terminal, kind).await?;
    terminal.end(ending == Ending::Commit).await?;
    Ok(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tallies_add_up_by_kind() {
        let mut all = Tally::default();
        for times in [vec![vec![1, 2], vec![]], vec![vec![3], vec![4]]] {
            all.add(Tally { times, committed: vec![1, 0], retries: 1, rollbacks: 2 });
        }
        assert_eq!(all.times, [vec![1, 2, 3], vec![4]]);
        assert_eq!((all.committed.as_slice(), all.transactions()), ([2, 0].as_slice(), 4));
        assert_eq!((all.retries, all.rollbacks), (2, 4));
    }
}
