//! Spinlocks: who holds one, who spins, and how its line travels.

use super::simulation::{Event, LockId, Simulation};

/// Pauses between two looks grow to this many.
const PAUSES_MAX: u32 = 64;
/// Looks before a back-off.
const LOOKS_BEFORE_BACKOFF: u64 = 256;
/// Back-offs that yield; later ones sleep.
const YIELDS_MAX: u64 = 8;

impl Simulation<'_> {
    /// Nanoseconds until a line that was last on `from` is on `to`.
    pub fn handoff(&self, from: usize, to: usize) -> f64 {
        if from == to {
            return 0.0;
        }
        let cpus = &self.scenario.layout.cpus;
        self.scenario.constants.handoff.between(cpus[from], cpus[to])
    }

    /// The actor wants the lock: its line comes to the actor's CPU first.
    pub fn acquire(&mut self, actor: usize, lock: LockId) {
        let cpu = self.actors[actor].cpu;
        self.actors[actor].lock = lock;
        let from = self.locks[lock as usize].last_cpu.unwrap_or(cpu);
        let ns = self.handoff(from, cpu);
        self.after(ns, Event::Try(actor));
    }

    pub fn try_lock(&mut self, actor: usize) {
        let cpu = self.actors[actor].cpu;
        let lock = &mut self.locks[self.actors[actor].lock as usize];
        if lock.holder.is_none() {
            return self.hold(actor, false);
        }
        lock.counted.collisions += 1;
        lock.spinners += 1;
        lock.read_by = Some(cpu);
        let state = &mut self.actors[actor];
        (state.pauses, state.looks, state.backoffs, state.spins_since) = (1, 0, 0, self.now);
        self.after(self.scenario.constants.pause_ns, Event::Look(actor));
    }

    /// The lock is free, and the actor's. A spinner's line comes with its look; who tries has waited for it already.
    fn hold(&mut self, actor: usize, is_spinner: bool) {
        if let Some(writer) = self.as_writer(actor) {
            self.return_to_cpu(writer);
        }
        let constants = &self.scenario.constants;
        let (cpu, id) = (self.actors[actor].cpu, self.actors[actor].lock);
        let from = self.locks[id as usize].last_cpu.unwrap_or(cpu);
        let lines = constants.lines_held[id as usize] + f64::from(u8::from(is_spinner));
        let moved = self.handoff(from, cpu) * lines;
        let lock = &mut self.locks[id as usize];
        lock.holder = Some(actor);
        lock.last_cpu = Some(cpu);
        lock.read_by = None;
        lock.counted.acquisitions += 1;
        let hold = match id {
            LockId::Ids => constants.id_hold_ns,
            LockId::Cache => constants.cache_hold_ns,
            LockId::Queue => constants.queue_hold_ns,
        };
        self.after(hold + moved, Event::Release(actor));
    }

    /// The holder writes the lock's word: spinners that have read it make that longer.
    pub fn release(&mut self, actor: usize) {
        let (cpu, id) = (self.actors[actor].cpu, self.actors[actor].lock);
        let lock = &self.locks[id as usize];
        match lock.read_by {
            Some(reader) => {
                let ns = self.handoff(reader, cpu) + self.scenario.constants.growth_ns * f64::from(lock.spinners);
                self.after(ns, Event::Freed(actor));
            }
            None => self.freed(actor),
        }
    }

    pub fn freed(&mut self, actor: usize) {
        self.locks[self.actors[actor].lock as usize].holder = None;
        self.advance(actor);
    }

    pub fn look(&mut self, actor: usize) {
        let (cpu, id) = (self.actors[actor].cpu, self.actors[actor].lock);
        let constants = &self.scenario.constants;
        let lock = &mut self.locks[id as usize];
        let state = &mut self.actors[actor];
        state.looks += 1;
        lock.counted.spins += 1;
        if lock.holder.is_none() {
            lock.spinners -= 1;
            lock.counted.spin_ns += self.now - state.spins_since;
            self.set_busy(cpu, true);
            return self.hold(actor, true);
        }
        lock.read_by = Some(cpu);
        if !state.looks.is_multiple_of(LOOKS_BEFORE_BACKOFF) {
            state.pauses = (state.pauses * 2).min(PAUSES_MAX);
            let ns = constants.pause_ns * f64::from(state.pauses);
            return self.after(ns, Event::Look(actor));
        }
        state.pauses = 1;
        state.backoffs += 1;
        lock.counted.backoffs += 1;
        let is_asleep = state.backoffs > YIELDS_MAX;
        let ns = if is_asleep { constants.sleep_ns } else { constants.yield_ns };
        if is_asleep {
            // Time asleep is no CPU time.
            lock.counted.spin_ns += self.now - state.spins_since;
            state.spins_since = self.now + ns;
        }
        self.after(ns, Event::Look(actor));
        match self.as_writer(actor) {
            // The holder may be the session that it has displaced.
            Some(writer) => self.leave_cpu(writer),
            None => self.cpu_offered(cpu),
        }
    }
}
