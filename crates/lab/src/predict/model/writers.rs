//! The log: horizons, blocks, the device, log writers, and schedulers that write for their sessions.

use super::simulation::{Event, LockId, Op, Simulation};
use std::collections::VecDeque;

/// How long records lie in the buffer while no session asks for them.
const TICK_NS: f64 = 1e6;
/// The part of a block's fixed CPU that its completion takes.
const COMPLETION_PART: f64 = 0.5;
/// Blocks of this many bytes are the least that the device writes.
const WRITE_BYTES_MIN: f64 = 4096.0;

/// A block on its way.
struct Block {
    end: f64,
    by: usize,
    is_done: bool,
}

/// The log's horizons, and who waits for them.
#[derive(Default)]
pub(super) struct LogState {
    pub reserved: f64,
    /// Up to here somebody has begun to seal.
    pub claimed: f64,
    /// Up to here the ring is free again.
    pub written: f64,
    pub durable: f64,
    asked: f64,
    /// The writer that seals now, and those that would like to.
    sealing: Option<usize>,
    seal_waiters: Vec<usize>,
    blocks: VecDeque<Block>,
    /// The number of the first of `blocks`.
    first_block: u64,
    pub blocks_written: u64,
    /// Ends and sessions of waiting commits.
    pub committers: VecDeque<(f64, usize)>,
    /// Sessions that wait for room.
    pub space_waiters: VecDeque<usize>,
    device_free_at: f64,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum WriterIs {
    #[default]
    Asleep,
    /// Awake, and without a CPU.
    Ready,
    Running,
    /// Its thread waits for the device.
    InDevice,
}

/// A log writer.
#[derive(Default)]
pub(super) struct Writer {
    state: WriterIs,
    /// Grows with each change of state, so that old timers do nothing.
    version: u64,
    in_flight: u32,
    finished: u32,
    /// Its timer was over and no block had been written meanwhile.
    is_due: bool,
    written_at_tick: f64,
    slice_since: f64,
    ticks: bool,
    /// It waits because its CPU is in use: another one that becomes free will do as well.
    is_kept_waiting: bool,
}

impl Simulation<'_> {
    /// Something was appended: a writer without a timer begins to watch, and a full block may be asked for.
    pub fn appended(&mut self) {
        let unclaimed = self.log.reserved - self.log.claimed;
        if self.policies().blocks_queued && unclaimed >= f64::from(self.policies().block_bytes) {
            self.ask_writers(self.log.reserved);
        }
        if let Some(first) = self.writers.first()
            && first.state == WriterIs::Asleep
            && !first.ticks
        {
            self.start_tick(0);
        }
    }

    fn start_tick(&mut self, writer: usize) {
        let written = self.log.written;
        let state = &mut self.writers[writer];
        state.version += 1;
        state.ticks = true;
        state.written_at_tick = written;
        let version = state.version;
        self.after(TICK_NS, Event::WriterTick(writer, version));
    }

    pub fn writer_ticks(&mut self, writer: usize, version: u64) {
        if self.writers[writer].version != version {
            return;
        }
        self.writers[writer].ticks = false;
        self.writers[writer].is_due = self.log.written == self.writers[writer].written_at_tick;
        if self.is_to_write(writer) {
            return self.wants_cpu(writer, 0.0);
        }
        self.rest(writer);
    }

    /// Asks for the log up to `end`. Returns whether a sleeping writer was woken.
    pub fn ask_writers(&mut self, end: f64) -> bool {
        self.log.asked = self.log.asked.max(end);
        let Some(writer) = self.writers.iter().position(|writer| writer.state == WriterIs::Asleep) else {
            return false;
        };
        self.wants_cpu(writer, self.scenario.constants.wake_ns);
        true
    }

    fn is_to_write(&self, writer: usize) -> bool {
        let log = &self.log;
        let unclaimed = log.reserved - log.claimed;
        let is_first = writer == 0;
        unclaimed > 0.0
            && (log.asked > log.claimed
                || (is_first && !log.space_waiters.is_empty())
                || (is_first && unclaimed >= f64::from(self.policies().stream_bytes))
                || self.writers[writer].is_due)
    }

    /// The CPU is not in use by a scheduler's thread.
    fn is_idle(&self, cpu: usize) -> bool {
        let state = &self.cpus[cpu];
        state.writer.is_none() && state.scheduler.is_none_or(|scheduler| self.schedulers[scheduler].running.is_none())
    }

    /// The writer is awake in so many nanoseconds where a CPU is idle; else later.
    fn wants_cpu(&mut self, writer: usize, wake_ns: f64) {
        let actor = self.writer_actor(writer);
        let last = self.actors[actor].cpu;
        let cpu = match self.scenario.layout.writers[writer] {
            Some(cpu) => cpu,
            None if self.is_idle(last) => last,
            None => (0..self.cpus.len()).find(|cpu| self.is_idle(*cpu)).unwrap_or(last),
        };
        self.actors[actor].cpu = cpu;
        let is_idle = self.is_idle(cpu);
        let wait = match is_idle {
            true => wake_ns,
            false => self.random.between(0.0, 2.0 * self.scenario.constants.busy_wake_ns),
        };
        self.is_ready(writer, wait, !is_idle);
    }

    fn is_ready(&mut self, writer: usize, wait_ns: f64, is_kept_waiting: bool) {
        let state = &mut self.writers[writer];
        state.is_kept_waiting = is_kept_waiting;
        state.state = WriterIs::Ready;
        state.version += 1;
        state.ticks = false;
        let version = state.version;
        self.after(wait_ns, Event::WriterRuns(writer, version));
    }

    /// A scheduler's thread does not use its CPU for now: a writer that waits for one has it.
    pub fn cpu_offered(&mut self, cpu: usize) {
        if self.cpus[cpu].writer.is_some() {
            return;
        }
        let homes = &self.scenario.layout.writers;
        let waits = |writer: &usize| {
            let state = &self.writers[*writer];
            state.state == WriterIs::Ready && state.is_kept_waiting && homes[*writer].is_none_or(|home| home == cpu)
        };
        if let Some(writer) = (0..self.writers.len()).find(waits) {
            let actor = self.writer_actor(writer);
            self.actors[actor].cpu = cpu;
            self.run_writer(writer);
        }
    }

    pub fn writer_runs(&mut self, writer: usize, version: u64) {
        if self.writers[writer].version == version && self.writers[writer].state == WriterIs::Ready {
            self.run_writer(writer);
        }
    }

    fn run_writer(&mut self, writer: usize) {
        let cpu = self.actors[self.writer_actor(writer)].cpu;
        if self.cpus[cpu].writer.is_some() {
            // Another writer's turn: it is over within a slice.
            return self.is_ready(writer, self.scenario.constants.slice_ns.min(100e3), true);
        }
        self.cpus[cpu].writer = Some(writer);
        self.cpus[cpu].writer_since = self.now;
        self.set_busy(cpu, true);
        let state = &mut self.writers[writer];
        state.state = WriterIs::Running;
        state.version += 1;
        state.slice_since = self.now;
        self.next_burst(writer);
    }

    /// The next step of a running writer.
    fn next_burst(&mut self, writer: usize) {
        let actor = self.writer_actor(writer);
        let cpu = self.actors[actor].cpu;
        let is_displacing = self.cpus[cpu].scheduler.is_some_and(|one| self.schedulers[one].running.is_some());
        let slice = self.scenario.constants.slice_ns;
        if is_displacing && self.now - self.writers[writer].slice_since >= slice {
            self.leave_cpu(writer);
            return self.is_ready(writer, slice, true);
        }
        if self.writers[writer].finished > 0 {
            self.writers[writer].finished = 0;
            self.actors[actor].ops = self.completion_ops();
            return self.advance(actor);
        }
        let may_write = self.writers[writer].in_flight < self.policies().writes_in_flight;
        if may_write && self.is_to_write(writer) {
            if self.log.sealing.is_none() {
                self.begin_seal(actor);
                return self.advance(actor);
            }
            self.log.seal_waiters.push(actor);
        }
        self.leave_cpu(writer);
        self.rest(writer);
    }

    /// The writer has nothing to do but to wait.
    pub fn rest(&mut self, writer: usize) {
        let state = &mut self.writers[writer];
        let is_in_device = state.in_flight >= self.scenario.policies.writes_in_flight;
        state.state = if is_in_device { WriterIs::InDevice } else { WriterIs::Asleep };
        state.version += 1;
        state.ticks = false;
        if writer == 0 && !is_in_device && self.log.reserved > self.log.claimed {
            self.start_tick(0);
        }
    }

    /// A running writer that had left its CPU in a back-off has it again, if no other one has.
    pub fn return_to_cpu(&mut self, writer: usize) {
        let cpu = self.actors[self.writer_actor(writer)].cpu;
        if self.cpus[cpu].writer.is_none() {
            self.cpus[cpu].writer = Some(writer);
            self.cpus[cpu].writer_since = self.now;
            self.set_busy(cpu, true);
        }
    }

    /// The session that the writer has displaced goes on.
    pub fn leave_cpu(&mut self, writer: usize) {
        let cpu = self.actors[self.writer_actor(writer)].cpu;
        let state = &mut self.cpus[cpu];
        if state.writer != Some(writer) {
            return;
        }
        let burst = self.now - state.writer_since;
        state.writer = None;
        let deferred = std::mem::take(&mut state.deferred);
        let scheduler = state.scheduler;
        let is_running = scheduler.is_some_and(|one| self.schedulers[one].running.is_some());
        if deferred.is_empty() && is_running {
            self.cpus[cpu].owed += burst;
        }
        for (event, late) in deferred {
            self.after(late, event);
        }
        self.set_busy(cpu, is_running);
        let Some(scheduler) = scheduler.filter(|_| !is_running) else { return };
        if !self.schedulers[scheduler].ready.is_empty() {
            self.dispatch(scheduler);
        }
    }

    fn completion_ops(&self) -> VecDeque<Op> {
        let policies = self.policies();
        let mut ops = VecDeque::with_capacity(4);
        if policies.blocks_queued || (policies.queue_locked && self.scenario.full_durability) {
            ops.push_back(Op::Lock(LockId::Queue));
        }
        if policies.writer_takes_cache {
            ops.push_back(Op::Lock(LockId::Cache));
        }
        ops.push_back(Op::Work(self.scenario.constants.block_ns * COMPLETION_PART));
        ops.push_back(Op::Completed);
        ops
    }

    /// Takes up to a block for the actor, and gives it the work of sealing that.
    fn begin_seal(&mut self, actor: usize) {
        let (constants, policies) = (&self.scenario.constants, self.policies());
        let bytes = (self.log.reserved - self.log.claimed).min(f64::from(policies.block_bytes));
        self.log.claimed += bytes;
        self.log.sealing = Some(actor);
        if let Some(writer) = self.as_writer(actor) {
            self.writers[writer].is_due = false;
        }
        let work = constants.block_ns * (1.0 - COMPLETION_PART) + constants.byte_ns * bytes;
        let state = &mut self.actors[actor];
        state.end = self.log.claimed;
        state.sealed = bytes;
        let is_writer = actor < self.scenario.sessions + self.writers.len();
        if is_writer && policies.blocks_queued {
            state.ops.push_back(Op::Lock(LockId::Queue));
        }
        if is_writer && policies.writer_takes_cache {
            state.ops.push_back(Op::Lock(LockId::Cache));
        }
        state.ops.push_back(Op::Work(work));
        state.ops.push_back(Op::Sealed);
    }

    /// A scheduler without work writes for its sessions.
    pub fn begin_flush(&mut self, scheduler: usize) {
        let actor = self.flusher_actor(scheduler);
        if self.log.sealing.is_some() {
            self.log.seal_waiters.push(actor);
            self.schedulers[scheduler].idle_since = self.now;
            return;
        }
        self.schedulers[scheduler].running = Some(actor);
        self.set_busy(self.schedulers[scheduler].cpu, true);
        self.begin_seal(actor);
        self.advance(actor);
    }

    /// The block is ready: the ring is free up to its end, and the device has it.
    pub fn sealed(&mut self, actor: usize) {
        let (end, bytes) = (self.actors[actor].end, self.actors[actor].sealed);
        self.log.written = end;
        self.log.sealing = None;
        let number = self.log.first_block + self.log.blocks.len() as u64;
        self.log.blocks.push_back(Block { end, by: actor, is_done: false });
        let done = self.submit(bytes);
        self.at(done, Event::Written(number));
        match self.as_writer(actor) {
            Some(writer) => {
                self.writers[writer].in_flight += 1;
                self.next_burst(writer);
            }
            None => {
                let scheduler = actor - self.scenario.sessions - self.writers.len();
                let cpu = self.schedulers[scheduler].cpu;
                self.schedulers[scheduler].running = None;
                self.schedulers[scheduler].in_device = true;
                self.set_busy(cpu, false);
                self.cpu_offered(cpu);
            }
        }
        for waiter in std::mem::take(&mut self.log.space_waiters) {
            self.signal(waiter);
        }
        for waiter in std::mem::take(&mut self.log.seal_waiters) {
            match self.as_writer(waiter) {
                Some(writer) if self.writers[writer].state == WriterIs::Asleep && self.is_to_write(writer) => {
                    self.wants_cpu(writer, 0.0);
                }
                Some(_) => {}
                None => self.dispatch(waiter - self.scenario.sessions - self.writers.len()),
            }
        }
    }

    /// When the device is done with a write that it gets now.
    fn submit(&mut self, bytes: f64) -> f64 {
        let device = &self.scenario.constants.device;
        let beyond = (bytes - WRITE_BYTES_MIN).max(0.0);
        let transfer = device.gap_ns + device.byte_ns * beyond;
        let begin = self.log.device_free_at.max(self.now);
        self.log.device_free_at = begin + transfer;
        begin + transfer + self.random.around((device.write_ns - device.gap_ns).max(0.0), self.scenario.spread)
    }

    pub fn written(&mut self, number: u64) {
        let Some(place) = number.checked_sub(self.log.first_block) else { return };
        let Some(block) = self.log.blocks.get_mut(place as usize) else { return };
        block.is_done = true;
        let by = block.by;
        self.log.blocks_written += 1;
        if let Some(writer) = self.as_writer(by) {
            let state = &mut self.writers[writer];
            state.in_flight -= 1;
            state.finished += 1;
            if matches!(state.state, WriterIs::Asleep | WriterIs::InDevice) {
                self.wants_cpu(writer, 0.0);
            }
            return;
        }
        let scheduler = by - self.scenario.sessions - self.writers.len();
        self.schedulers[scheduler].in_device = false;
        self.schedulers[scheduler].running = Some(by);
        self.set_busy(self.schedulers[scheduler].cpu, true);
        self.actors[by].ops =
            VecDeque::from([Op::Work(self.scenario.constants.block_ns * COMPLETION_PART), Op::Completed]);
        self.after(0.0, Event::Step(by));
    }

    /// Moves the durable horizon over the blocks that are done, and ends the waits below it.
    pub fn completed(&mut self, actor: usize) {
        while self.log.blocks.front().is_some_and(|block| block.is_done) {
            if let Some(block) = self.log.blocks.pop_front() {
                self.log.durable = block.end;
                self.log.first_block += 1;
            }
        }
        let durable = self.log.durable;
        let mut ended = Vec::new();
        self.log.committers.retain(|(end, session)| {
            let is_over = *end <= durable;
            if is_over {
                ended.push(*session);
            }
            !is_over
        });
        let mut waker_ns = 0.0;
        for session in ended {
            waker_ns += self.signal(session);
        }
        if waker_ns > 0.0 {
            // Once more through here, with nothing left to wake.
            self.actors[actor].ops = VecDeque::from([Op::Work(waker_ns), Op::Completed]);
            return self.advance(actor);
        }
        match self.as_writer(actor) {
            Some(writer) => self.next_burst(writer),
            None => {
                let scheduler = actor - self.scenario.sessions - self.writers.len();
                self.schedulers[scheduler].running = None;
                self.dispatch(scheduler);
            }
        }
    }
}
