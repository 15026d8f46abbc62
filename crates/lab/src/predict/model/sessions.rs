//! Sessions and their schedulers: turns, appends, commits, waits and signals.

use super::scenario::{CommitBy, Places};
use super::simulation::{Event, Op, QUANTUM_NS, Simulation};

/// A scheduler without work spins so long before it sleeps.
const SPIN_BEFORE_SLEEP_NS: f64 = 50e3;

impl Simulation<'_> {
    fn scheduler_of(&self, session: usize) -> usize {
        session % self.schedulers.len()
    }

    /// Runs the next session, if the scheduler is free.
    pub fn dispatch(&mut self, scheduler: usize) {
        let cpu = self.schedulers[scheduler].cpu;
        let state = &mut self.schedulers[scheduler];
        if state.running.is_some() || state.in_device || self.cpus[cpu].writer.is_some() {
            return;
        }
        let Some(session) = state.ready.pop_front() else { return self.without_work(scheduler) };
        state.running = Some(session);
        state.turn_since = self.now;
        self.set_busy(cpu, true);
        if self.actors[session].ops.is_empty() {
            self.actors[session].ops = self.insert();
        }
        self.after(0.0, Event::Step(session));
    }

    fn without_work(&mut self, scheduler: usize) {
        if self.policies().commit_by == CommitBy::Scheduler && self.schedulers[scheduler].wanted > self.log.claimed {
            return self.begin_flush(scheduler);
        }
        let cpu = self.schedulers[scheduler].cpu;
        self.schedulers[scheduler].idle_since = self.now;
        self.set_busy(cpu, false);
        self.cpu_offered(cpu);
    }

    /// The session on the scheduler waits: the next one runs.
    fn wait(&mut self, session: usize) {
        let scheduler = self.scheduler_of(session);
        self.schedulers[scheduler].running = None;
        self.dispatch(scheduler);
    }

    /// A session may go on. Returns the signaller's time for it.
    pub fn signal(&mut self, session: usize) -> f64 {
        let scheduler = self.scheduler_of(session);
        let constants = &self.scenario.constants;
        let state = &mut self.schedulers[scheduler];
        state.ready.push_back(session);
        if state.running.is_some() || state.in_device || state.waking {
            return 0.0;
        }
        if self.now - state.idle_since < SPIN_BEFORE_SLEEP_NS {
            self.dispatch(scheduler);
            return 0.0;
        }
        state.waking = true;
        self.after(constants.wake_ns, Event::SchedulerWakes(scheduler));
        constants.waker_ns
    }

    /// An addition to the shared word, which is on one CPU at a time.
    pub fn add(&mut self, actor: usize) {
        let cpu = self.actors[actor].cpu;
        let begin = self.word.0.max(self.now);
        let end = begin + self.handoff(self.word.1, cpu) + self.scenario.constants.add_ns;
        self.word = (end, cpu);
        self.at(end, Event::Step(actor));
    }

    /// True when the record has its place; else the actor goes on later.
    pub fn append(&mut self, actor: usize, bytes: f64) -> bool {
        if self.log.reserved + bytes - self.log.written > self.scenario.constants.ring_bytes {
            self.ring_full += 1;
            self.actors[actor].ops.push_front(Op::Append(bytes));
            self.ask_writers(self.log.reserved);
            if self.policies().full_backs_off {
                let ns = self.scenario.constants.sleep_ns;
                self.full_backoff_ns += ns;
                // It keeps its CPU: a log writer that shares it waits on.
                self.after(ns, Event::Step(actor));
            } else {
                self.log.space_waiters.push_back(actor);
                self.wait(actor);
            }
            return false;
        }
        if let Places::Chunk(size) = self.policies().places {
            if self.actors[actor].chunk < bytes {
                // The chunk's place is taken by an addition; the record then has it.
                self.actors[actor].chunk = f64::from(size).max(bytes);
                self.actors[actor].ops.push_front(Op::Append(bytes));
                self.add(actor);
                return false;
            }
            self.actors[actor].chunk -= bytes;
        }
        self.log.reserved += bytes;
        self.actors[actor].end = self.log.reserved;
        self.appended();
        true
    }

    /// True when all that the session appended is durable already; else it waits.
    pub fn commit(&mut self, session: usize) -> bool {
        let end = self.actors[session].end;
        if self.log.durable >= end {
            return true;
        }
        if self.policies().commit_by == CommitBy::LogWriter && self.ask_writers(end) {
            // The wake-up takes time of this CPU before the session waits.
            let ops = &mut self.actors[session].ops;
            ops.push_front(Op::Commit);
            ops.push_front(Op::Work(self.scenario.constants.waker_ns));
            return true;
        }
        let scheduler = self.scheduler_of(session);
        self.schedulers[scheduler].wanted = self.schedulers[scheduler].wanted.max(end);
        self.log.committers.push_back((end, session));
        self.wait(session);
        false
    }

    pub fn insert_done(&mut self, session: usize) {
        self.rows += 1;
        if self.rows == self.warm_up || (self.warm_since.is_none() && self.warm_up == 0) {
            self.warmed_up();
        }
        let scheduler = self.scheduler_of(session);
        let state = &mut self.schedulers[scheduler];
        if self.now - state.turn_since >= QUANTUM_NS && !state.ready.is_empty() {
            state.ready.push_back(session);
            state.running = None;
            return self.dispatch(scheduler);
        }
        self.actors[session].ops = self.insert();
        self.advance(session);
    }
}
