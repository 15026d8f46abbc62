//! The events, the actors, and what a run has counted.

use super::random::Random;
use super::scenario::{Ids, Places, Policies, Scenario};
use serde::Serialize;
use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

/// Events of a run at most: a scenario that stands still ends, too.
const EVENTS_MAX: u64 = 60_000_000;
/// Cooperative quantum of a scheduler.
pub(super) const QUANTUM_NS: f64 = 4e6;

/// The three spinlocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockId {
    Ids,
    Cache,
    Queue,
}

/// One step of an actor.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op {
    /// CPU.
    Work(f64),
    /// Takes a spinlock and gives it back.
    Lock(LockId),
    /// Adds to the word that all appenders share.
    Add,
    /// Takes bytes of the ring.
    Append(f64),
    /// Waits until what was appended is durable.
    Commit,
    /// The insert is done.
    Done,
    /// A writer's burst that takes a block out of the ring is over.
    Sealed,
    /// A writer's burst that completes blocks is over.
    Completed,
}

#[derive(Debug, Clone, Copy)]
pub(super) enum Event {
    /// The actor's present operation is over.
    Step(usize),
    /// The lock's line has arrived at the actor's CPU.
    Try(usize),
    /// A spinner looks at the lock.
    Look(usize),
    /// The holder begins to give the lock back.
    Release(usize),
    /// The lock is free.
    Freed(usize),
    /// A log writer has its CPU, if it still waits for it since this version.
    WriterRuns(usize, u64),
    /// A log writer's timer.
    WriterTick(usize, u64),
    /// A sleeping scheduler's thread runs.
    SchedulerWakes(usize),
    /// The device has finished a block.
    Written(u64),
}

/// An event in its place in time; of equal times, the one made first comes first.
struct Timed {
    at: f64,
    number: u64,
    event: Event,
}

impl PartialEq for Timed {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Timed {}

impl PartialOrd for Timed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Timed {
    // The heap gives the greatest: the earliest is that.
    fn cmp(&self, other: &Self) -> Ordering {
        other.at.total_cmp(&self.at).then(other.number.cmp(&self.number))
    }
}

/// A session, a log writer, or a scheduler that writes for its sessions.
pub(super) struct Actor {
    pub cpu: usize,
    pub ops: VecDeque<Op>,
    /// The lock that it wants or holds.
    pub lock: LockId,
    pub pauses: u32,
    pub looks: u64,
    pub backoffs: u64,
    pub spins_since: f64,
    /// The end of its last record.
    pub end: f64,
    /// Bytes left of a writer's seal, and the blocks that it completes.
    pub sealed: f64,
    /// Bytes of its chunk that are free.
    pub chunk: f64,
}

/// A CPU's threads.
#[derive(Default)]
pub(super) struct Cpu {
    /// Its scheduler.
    pub scheduler: Option<usize>,
    /// The log writer that has it now.
    pub writer: Option<usize>,
    pub writer_since: f64,
    /// Events of the session that the writer has displaced, and how long after the writer's begin they were due.
    pub deferred: Vec<(Event, f64)>,
    /// By how much the session's next event is late.
    pub owed: f64,
    /// Some actor is at work there.
    pub busy: bool,
}

/// A scheduler.
#[derive(Default)]
pub(super) struct Scheduler {
    pub cpu: usize,
    pub ready: VecDeque<usize>,
    pub running: Option<usize>,
    pub turn_since: f64,
    pub idle_since: f64,
    /// A wake-up is on its way.
    pub waking: bool,
    /// Its thread waits for the device.
    pub in_device: bool,
    /// The highest end that one of its sessions waits for.
    pub wanted: f64,
}

/// The counts of one spinlock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct LockOutcome {
    /// Acquisitions.
    pub acquisitions: u64,
    /// Acquisitions that met a holder.
    pub collisions: u64,
    /// Looks of spinners.
    pub spins: u64,
    /// Back-offs.
    pub backoffs: u64,
    /// CPU time of spinners, sleeps left out.
    pub spin_ns: f64,
}

/// The result of a simulated run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Rows that count.
    pub rows: u64,
    /// Rows a second.
    pub rows_per_second: f64,
    /// XDESMGR.
    pub ids: LockOutcome,
    /// LOGCACHE_ACCESS.
    pub cache: LockOutcome,
    /// LOGFLUSHQ.
    pub queue: LockOutcome,
    /// Blocks written.
    pub blocks: u64,
    /// Bytes of log a second.
    pub log_bytes_per_second: f64,
    /// Appends that found the ring full.
    pub ring_full: u64,
    /// The part of the schedulers' CPU time that went to spinning and backing off.
    pub backoff_share: f64,
    /// The run ended before its rows were done: nothing went on, or too slowly.
    pub stalled: bool,
}

impl Outcome {
    /// Collisions of the three locks for a thousand rows.
    pub fn collisions_per_1000(&self) -> [f64; 3] {
        let rows = self.rows.max(1) as f64;
        [self.ids, self.cache, self.queue].map(|lock| lock.collisions as f64 * 1000.0 / rows)
    }
}

/// A spinlock's state.
#[derive(Default)]
pub(super) struct Lock {
    pub holder: Option<usize>,
    pub last_cpu: Option<usize>,
    pub spinners: u32,
    /// A spinner has read the line since the lock was taken, from this CPU.
    pub read_by: Option<usize>,
    pub counted: LockOutcome,
}

/// A run under way.
pub(super) struct Simulation<'a> {
    pub scenario: &'a Scenario,
    pub now: f64,
    heap: BinaryHeap<Timed>,
    events: u64,
    pub random: Random,
    /// Sessions, then log writers, then the schedulers as writers.
    pub actors: Vec<Actor>,
    pub cpus: Vec<Cpu>,
    pub schedulers: Vec<Scheduler>,
    pub locks: [Lock; 3],
    pub busy_cpus: usize,
    /// The shared word of atomic reservation: free from this time, last on this CPU.
    pub word: (f64, usize),
    pub log: super::writers::LogState,
    pub writers: Vec<super::writers::Writer>,
    pub rows: u64,
    pub warm_up: u64,
    pub warm_since: Option<(f64, f64)>,
    pub ring_full: u64,
    pub full_backoff_ns: f64,
}

impl<'a> Simulation<'a> {
    pub fn new(scenario: &'a Scenario) -> Self {
        let layout = &scenario.layout;
        let mut cpus: Vec<Cpu> = layout.cpus.iter().map(|_| Cpu::default()).collect();
        let scheduler = |(number, cpu): (usize, &usize)| {
            cpus[*cpu].scheduler = Some(number);
            Scheduler { cpu: *cpu, ..Scheduler::default() }
        };
        let schedulers: Vec<Scheduler> = layout.schedulers.iter().enumerate().map(scheduler).collect();
        let actor = |cpu: usize| Actor {
            cpu,
            ops: VecDeque::new(),
            lock: LockId::Ids,
            pauses: 1,
            looks: 0,
            backoffs: 0,
            spins_since: 0.0,
            end: 0.0,
            sealed: 0.0,
            chunk: 0.0,
        };
        let mut actors: Vec<Actor> = Vec::new();
        actors.extend((0..scenario.sessions).map(|session| actor(schedulers[session % schedulers.len()].cpu)));
        actors.extend(layout.writers.iter().map(|cpu| actor(cpu.unwrap_or(cpus.len() - 1))));
        actors.extend(schedulers.iter().map(|scheduler| actor(scheduler.cpu)));
        Self {
            scenario,
            now: 0.0,
            heap: BinaryHeap::new(),
            events: 0,
            random: Random::new(scenario.seed),
            actors,
            cpus,
            schedulers,
            locks: Default::default(),
            busy_cpus: 0,
            word: (0.0, 0),
            log: super::writers::LogState::default(),
            writers: layout.writers.iter().map(|_| super::writers::Writer::default()).collect(),
            rows: 0,
            warm_up: scenario.rows / 5,
            warm_since: None,
            ring_full: 0,
            full_backoff_ns: 0.0,
        }
    }

    pub fn policies(&self) -> &'a Policies {
        &self.scenario.policies
    }

    /// The actor of a log writer.
    pub fn writer_actor(&self, writer: usize) -> usize {
        self.scenario.sessions + writer
    }

    /// The actor of a scheduler that writes.
    pub fn flusher_actor(&self, scheduler: usize) -> usize {
        self.scenario.sessions + self.writers.len() + scheduler
    }

    /// The log writer that an actor is.
    pub fn as_writer(&self, actor: usize) -> Option<usize> {
        actor.checked_sub(self.scenario.sessions).filter(|writer| *writer < self.writers.len())
    }

    pub fn at(&mut self, at: f64, event: Event) {
        self.events += 1;
        self.heap.push(Timed { at, number: self.events, event });
    }

    pub fn after(&mut self, ns: f64, event: Event) {
        self.at(self.now + ns, event);
    }

    /// Runs to the end of the rows.
    pub fn run(mut self) -> Outcome {
        for session in 0..self.scenario.sessions {
            let scheduler = session % self.schedulers.len();
            self.schedulers[scheduler].ready.push_back(session);
        }
        for writer in 0..self.writers.len() {
            self.rest(writer);
        }
        for scheduler in 0..self.schedulers.len() {
            self.dispatch(scheduler);
        }
        let wanted = self.warm_up + self.scenario.rows;
        while self.rows < wanted && self.events < EVENTS_MAX {
            let Some(Timed { at, event, .. }) = self.heap.pop() else { break };
            self.now = at;
            self.handle(event);
        }
        self.outcome(wanted)
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Step(actor)
            | Event::Try(actor)
            | Event::Look(actor)
            | Event::Release(actor)
            | Event::Freed(actor) => {
                if self.is_displaced(actor, event) {
                    return;
                }
                match event {
                    Event::Try(_) => self.try_lock(actor),
                    Event::Look(_) => self.look(actor),
                    Event::Release(_) => self.release(actor),
                    Event::Freed(_) => self.freed(actor),
                    _ => self.advance(actor),
                }
            }
            Event::WriterRuns(writer, version) => self.writer_runs(writer, version),
            Event::WriterTick(writer, version) => self.writer_ticks(writer, version),
            Event::SchedulerWakes(scheduler) => {
                self.schedulers[scheduler].waking = false;
                self.dispatch(scheduler);
            }
            Event::Written(block) => self.written(block),
        }
    }

    /// True when a log writer has, or had, the CPU of the actor: its event comes later then.
    fn is_displaced(&mut self, actor: usize, event: Event) -> bool {
        if self.as_writer(actor).is_some() {
            return false;
        }
        let cpu = &mut self.cpus[self.actors[actor].cpu];
        if cpu.owed > 0.0 {
            let owed = std::mem::take(&mut cpu.owed);
            self.after(owed, event);
            return true;
        }
        if cpu.writer.is_none() {
            return false;
        }
        cpu.deferred.push((event, self.now - cpu.writer_since));
        true
    }

    /// Goes on with the actor's operations.
    pub fn advance(&mut self, actor: usize) {
        while let Some(op) = self.actors[actor].ops.pop_front() {
            match op {
                Op::Work(ns) => {
                    let ns = ns * self.slowness(self.actors[actor].cpu);
                    return self.after(ns, Event::Step(actor));
                }
                Op::Lock(lock) => return self.acquire(actor, lock),
                Op::Add => return self.add(actor),
                Op::Append(bytes) => {
                    if !self.append(actor, bytes) {
                        return;
                    }
                }
                Op::Commit => {
                    if !self.commit(actor) {
                        return;
                    }
                }
                Op::Done => return self.insert_done(actor),
                Op::Sealed => return self.sealed(actor),
                Op::Completed => return self.completed(actor),
            }
        }
    }

    /// How much longer work takes on the CPU, by who works beside it.
    pub fn slowness(&self, cpu: usize) -> f64 {
        let constants = &self.scenario.constants;
        let places = &self.scenario.layout.cpus;
        let others = self.busy_cpus.saturating_sub(usize::from(self.cpus[cpu].busy)) as f64;
        let all = (self.cpus.len() - 1).max(1) as f64;
        let mut slowness = 1.0 + (1.0 / constants.together - 1.0) * others / all;
        // Hyper-threads of a core have neighbouring places in the layout.
        let near = cpu.saturating_sub(3)..(cpu + 4).min(places.len());
        let sibling = |other: usize| other != cpu && places[other] == places[cpu] && self.cpus[other].busy;
        if near.into_iter().any(sibling) {
            slowness /= constants.sibling;
        }
        slowness
    }

    pub fn set_busy(&mut self, cpu: usize, busy: bool) {
        let before = std::mem::replace(&mut self.cpus[cpu].busy, busy);
        self.busy_cpus = self.busy_cpus + usize::from(busy) - usize::from(before);
    }

    /// An insert's operations.
    pub fn insert(&mut self) -> VecDeque<Op> {
        let (constants, policies) = (&self.scenario.constants, &self.scenario.policies);
        let mut ops = VecDeque::with_capacity(16);
        let work = self.random.around(constants.insert_ns, self.scenario.spread);
        ops.push_back(Op::Work(work * 0.4));
        if policies.ids == Ids::Spinlock {
            ops.push_back(Op::Lock(LockId::Ids));
        }
        let records = constants.records.max(1);
        for _ in 0..records {
            ops.push_back(Op::Work(work * 0.4 / f64::from(records)));
            match policies.places {
                Places::Spinlock => ops.push_back(Op::Lock(LockId::Cache)),
                Places::Atomic => ops.push_back(Op::Add),
                Places::Chunk(_) => {}
            }
            ops.push_back(Op::Append(constants.log_bytes / f64::from(records)));
        }
        ops.push_back(Op::Work(work * 0.2));
        if policies.ids == Ids::Spinlock {
            ops.push_back(Op::Lock(LockId::Ids));
        }
        if self.scenario.full_durability {
            ops.push_back(Op::Work(constants.commit_ns));
            if policies.queue_locked {
                ops.push_back(Op::Lock(LockId::Queue));
            }
            ops.push_back(Op::Commit);
        }
        ops.push_back(Op::Done);
        ops
    }

    fn outcome(&self, wanted: u64) -> Outcome {
        let (since, bytes) = self.warm_since.unwrap_or((self.now, self.log.reserved));
        let ns = self.now - since;
        let rows = self.rows.saturating_sub(self.warm_up);
        let per_second = |count: f64| if ns > 0.0 { count * 1e9 / ns } else { 0.0 };
        let [ids, cache, queue] = [0, 1, 2].map(|lock| self.locks[lock].counted);
        let spun = ids.spin_ns + cache.spin_ns + queue.spin_ns + self.full_backoff_ns;
        let running = self.schedulers.len().min(self.scenario.sessions) as f64 * ns;
        Outcome {
            rows,
            rows_per_second: per_second(rows as f64),
            ids,
            cache,
            queue,
            blocks: self.log.blocks_written,
            log_bytes_per_second: per_second(self.log.reserved - bytes),
            ring_full: self.ring_full,
            backoff_share: if running > 0.0 { spun / running } else { 0.0 },
            stalled: self.rows < wanted,
        }
    }

    /// From here on counts.
    pub fn warmed_up(&mut self) {
        self.warm_since = Some((self.now, self.log.reserved));
        self.locks.iter_mut().for_each(|lock| lock.counted = LockOutcome::default());
        self.log.blocks_written = 0;
        self.ring_full = 0;
        self.full_backoff_ns = 0.0;
    }
}
