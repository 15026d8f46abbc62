//! How often statements and modules have run and what that took, for `sys.dm_exec_query_stats` and its like.
//!
//! ```text
//!   session 51, its buffers of a statement ── cell ──┐
//!   session 52                             ── cell ──┤── Runs (of the statement, in its program): who looks adds them up
//!   cells of sessions that have let go     ── gone ──┘
//! ```
//! A cell is written by the one task that has the buffers it belongs to, with plain loads and stores: runs share no line. The list
//! of cells is locked when a session meets a statement for the first time, and by who looks.

use std::ops::Deref;
use std::sync::Arc;

use crate::host::Host;
use crate::program::{FunctionResult, Instruction, Program};
use crate::show;
use pikepole_contention::CachePadded;
use pikepole_contention::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use pikepole_contention::sync::{Mutex, MutexGuard};
use pikepole_engine::{UseCount, UseCounter};
use pikepole_machine::clock;
use pikepole_scheduler::{self as scheduler, CpuReading};

/// Cells in the list before the first look for those that nobody has any more.
const CELLS_BEFORE_SWEEP: usize = 16;

/// What one run took: times in ticks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Taken {
    /// When it began.
    pub(crate) began: u64,
    pub(crate) elapsed: u64,
    pub(crate) worker: u64,
    /// Pages looked up, and those of them that had to be read from disk.
    pub(crate) read: [u64; 2],
    pub(crate) rows: u64,
}

/// A turn of the task in a run: from here to its end nothing is awaited.
#[derive(Clone, Copy)]
pub(crate) struct Turn {
    began: u64,
    cpu: CpuReading,
    read: [u64; 2],
}

impl Turn {
    /// A turn begins.
    #[inline]
    pub(crate) fn begin() -> Turn {
        let began = clock::ticks();
        Turn { began, cpu: scheduler::meter_turn(began), read: pikepole_engine::pages_read() }
    }

    /// It has ended: a run that is nothing but this turn.
    #[inline]
    pub(crate) fn end(self) -> Taken {
        let now = clock::ticks();
        let elapsed = now.saturating_sub(self.began);
        let worker = scheduler::meter_turn(now).own.saturating_sub(self.cpu.own).min(elapsed);
        let read = pikepole_engine::pages_read();
        let read = [read[0].wrapping_sub(self.read[0]), read[1].wrapping_sub(self.read[1])];
        Taken { began: self.began, elapsed, worker, read, rows: 0 }
    }
}

/// CPU time since a reading: a task alone uses at most the time that has passed, its workers add theirs.
#[inline]
fn worker_since(before: CpuReading, now: u64, elapsed: u64) -> u64 {
    let cpu = scheduler::meter(now);
    cpu.own.saturating_sub(before.own).min(elapsed) + cpu.workers.saturating_sub(before.workers)
}

/// A run that has awaited something and goes on later.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Paused {
    taken: Taken,
    /// CPU time of the task when the run began.
    cpu: CpuReading,
}

impl Paused {
    /// A turn has ended, the first one of a run when there is none so far.
    pub(crate) fn after(before: Option<Paused>, begun: Turn, turn: &Taken) -> Paused {
        match before {
            None => Paused { taken: *turn, cpu: begun.cpu },
            Some(Paused { mut taken, cpu }) => {
                taken.elapsed = turn.began.saturating_sub(taken.began).wrapping_add(turn.elapsed);
                taken.read = [taken.read[0].wrapping_add(turn.read[0]), taken.read[1].wrapping_add(turn.read[1])];
                Paused { taken, cpu }
            }
        }
    }

    /// The run has ended. What was done for it while it awaited something is known from the task's own clock.
    pub(crate) fn end(self) -> Taken {
        Taken { worker: worker_since(self.cpu, clock::ticks(), self.taken.elapsed), ..self.taken }
    }
}

/// What a call of a module had found when it began.
#[derive(Debug)]
pub(crate) struct Call {
    cell: OwnCell,
    at: u64,
    cpu: CpuReading,
    read: [u64; 2],
}

impl Call {
    /// Of a module whose calls are counted in this cell.
    pub(crate) fn of(cell: OwnCell) -> Call {
        Call { cell, at: 0, cpu: CpuReading::default(), read: [0; 2] }
    }

    /// A call begins; `read` is what the session has read so far.
    pub(crate) fn begins(&mut self, read: [u64; 2]) {
        let now = clock::ticks();
        (self.at, self.cpu, self.read) = (now, scheduler::meter(now), read);
    }

    /// It has come to its end.
    pub(crate) fn ends(&self, read: [u64; 2]) {
        let now = clock::ticks();
        let elapsed = now.saturating_sub(self.at);
        self.cell.add(&Taken {
            began: self.at,
            elapsed,
            worker: worker_since(self.cpu, now, elapsed),
            read: [read[0].wrapping_sub(self.read[0]), read[1].wrapping_sub(self.read[1])],
            rows: 0,
        });
    }
}

/// One measure of many runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Of all runs.
    pub total: u64,
    /// Of the run that began last.
    pub last: u64,
    /// The least of a run.
    pub min: u64,
    /// The most of a run.
    pub max: u64,
}

impl Measure {
    const NONE: Measure = Measure { total: 0, last: 0, min: u64::MAX, max: 0 };

    fn add(&mut self, other: &Measure, is_later: bool) {
        self.total = self.total.wrapping_add(other.total);
        self.last = if is_later { other.last } else { self.last };
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    fn in_us(self) -> Measure {
        let us = clock::ticks_to_us;
        Measure { total: us(self.total), last: us(self.last), min: us(self.min), max: us(self.max) }
    }
}

/// What all runs of a statement or a module took. Times are microseconds, moments those of [`clock::now_us`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunTotals {
    /// When it was compiled last.
    pub compiled_us: u64,
    /// How often it was compiled.
    pub compilations: u64,
    /// Runs that came to their end.
    pub count: u64,
    /// When the last of them began.
    pub began_us: u64,
    /// Time on the processor.
    pub worker: Measure,
    /// Time by the clock.
    pub elapsed: Measure,
    /// Pages looked up.
    pub logical_reads: Measure,
    /// Pages that had to be read from disk.
    pub physical_reads: Measure,
    /// Rows given or changed.
    pub rows: Measure,
}

/// The sum of some cells.
#[derive(Debug, Clone, Copy)]
struct Sum {
    count: u64,
    began: u64,
    /// Worker, elapsed, logical and physical reads, rows.
    measures: [Measure; 5],
}

impl Sum {
    const NOTHING: Sum = Sum { count: 0, began: 0, measures: [Measure::NONE; 5] };

    fn add(&mut self, other: &Sum) {
        if other.count == 0 {
            return;
        }
        let is_later = other.began >= self.began;
        self.count += other.count;
        self.began = self.began.max(other.began);
        for (own, other) in self.measures.iter_mut().zip(&other.measures) {
            own.add(other, is_later);
        }
    }
}

/// A measure of one session's runs.
#[derive(Debug)]
struct MeasureCell {
    total: AtomicU64,
    last: AtomicU64,
    min: AtomicU64,
    max: AtomicU64,
}

/// Adds to what one task alone writes.
#[inline]
fn raise(cell: &AtomicU64, by: u64) {
    cell.store(cell.load(Ordering::Relaxed).wrapping_add(by), Ordering::Relaxed);
}

impl MeasureCell {
    fn new() -> MeasureCell {
        let [total, last, min, max] = [0, 0, u64::MAX, 0].map(AtomicU64::new);
        MeasureCell { total, last, min, max }
    }

    /// A value that is another one each time.
    #[inline]
    fn add(&self, value: u64) {
        raise(&self.total, value);
        self.last.store(value, Ordering::Relaxed);
        if value < self.min.load(Ordering::Relaxed) {
            self.min.store(value, Ordering::Relaxed);
        }
        if value > self.max.load(Ordering::Relaxed) {
            self.max.store(value, Ordering::Relaxed);
        }
    }

    /// A value that is mostly the one it was before: 0 to begin with.
    #[inline]
    fn add_alike(&self, value: u64, is_first: bool) {
        let last = self.last.load(Ordering::Relaxed);
        if value != last {
            // Zeros before the first change were not noted as the least.
            if !is_first && last < self.min.load(Ordering::Relaxed) {
                self.min.store(last, Ordering::Relaxed);
            }
            self.add(value);
        } else if value != 0 {
            raise(&self.total, value);
        }
    }

    fn read(&self) -> Measure {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        let [total, last, min, max] = [&self.total, &self.last, &self.min, &self.max].map(read);
        Measure { total, last, min: min.min(last), max }
    }
}

/// Where one session counts the runs of one statement or module.
#[derive(Debug)]
pub(crate) struct RunCell(CachePadded<Cells>);

#[derive(Debug)]
struct Cells {
    count: AtomicU64,
    began: AtomicU64,
    elapsed: MeasureCell,
    worker: MeasureCell,
    logical: MeasureCell,
    physical: MeasureCell,
    rows: MeasureCell,
    /// Nobody counts here any more.
    at_rest: AtomicBool,
}

impl RunCell {
    fn new() -> RunCell {
        RunCell(CachePadded::new(Cells {
            count: AtomicU64::new(0),
            began: AtomicU64::new(0),
            elapsed: MeasureCell::new(),
            worker: MeasureCell::new(),
            logical: MeasureCell::new(),
            physical: MeasureCell::new(),
            rows: MeasureCell::new(),
            at_rest: AtomicBool::new(false),
        }))
    }

    /// A run has ended. Only the task that has the cell calls this.
    #[inline]
    pub(crate) fn add(&self, run: &Taken) {
        let cells = &*self.0;
        let before = cells.count.load(Ordering::Relaxed);
        cells.count.store(before + 1, Ordering::Relaxed);
        cells.began.store(run.began, Ordering::Relaxed);
        cells.elapsed.add(run.elapsed);
        cells.worker.add(run.worker);
        cells.logical.add_alike(run.read[0], before == 0);
        cells.physical.add_alike(run.read[1], before == 0);
        cells.rows.add_alike(run.rows, before == 0);
    }

    fn sum(&self) -> Sum {
        let cells = &*self.0;
        let measures = [&cells.worker, &cells.elapsed, &cells.logical, &cells.physical, &cells.rows];
        Sum {
            count: cells.count.load(Ordering::Relaxed),
            began: cells.began.load(Ordering::Relaxed),
            measures: measures.map(MeasureCell::read),
        }
    }
}

impl UseCounter for RunCell {
    fn runs(&self) -> UseCount {
        let read = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
        UseCount { count: read(&self.0.count), last: read(&self.0.began) }
    }

    fn is_at_rest(&self) -> bool {
        // Acquire pairs with the Release of the owner's end: what he stored is seen.
        self.0.at_rest.load(Ordering::Acquire)
    }
}

/// The cell of who writes it.
#[derive(Debug)]
pub(crate) struct OwnCell(Arc<RunCell>);

impl OwnCell {
    /// The cell as those see it who add up uses.
    pub(crate) fn counter(&self) -> Arc<dyn UseCounter> {
        Arc::clone(&self.0) as Arc<dyn UseCounter>
    }
}

impl Deref for OwnCell {
    type Target = RunCell;

    fn deref(&self) -> &RunCell {
        &self.0
    }
}

impl Drop for OwnCell {
    fn drop(&mut self) {
        self.0.0.at_rest.store(true, Ordering::Release);
    }
}

/// The runs of a statement or a module.
#[derive(Debug)]
pub(crate) struct Runs(Mutex<List>);

#[derive(Debug)]
struct List {
    compiled_us: u64,
    compilations: u64,
    cells: Vec<Arc<RunCell>>,
    /// Of cells that nobody has any more.
    gone: Sum,
    /// The length of the list at which it is next looked through for such.
    sweep_at: usize,
}

impl Runs {
    /// Of what is compiled now.
    pub(crate) fn new() -> Runs {
        Runs(Mutex::new(List {
            compiled_us: clock::now_us(),
            compilations: 1,
            cells: Vec::new(),
            gone: Sum::NOTHING,
            sweep_at: CELLS_BEFORE_SWEEP,
        }))
    }

    /// It was compiled again.
    pub(crate) fn compiled_again(&self) {
        let mut list = self.lock();
        list.compiled_us = clock::now_us();
        list.compilations += 1;
    }

    /// A cell for who begins to run it.
    pub(crate) fn cell(&self) -> OwnCell {
        let cell = Arc::new(RunCell::new());
        let mut list = self.lock();
        if list.cells.len() >= list.sweep_at {
            list.sweep();
            list.sweep_at = (list.cells.len() * 2).max(CELLS_BEFORE_SWEEP);
        }
        list.cells.push(Arc::clone(&cell));
        OwnCell(cell)
    }

    /// All runs so far; None: there was none.
    pub(crate) fn totals(&self) -> Option<RunTotals> {
        let list = self.lock();
        let mut sum = list.gone;
        list.cells.iter().for_each(|cell| sum.add(&cell.sum()));
        let [worker, elapsed, logical_reads, physical_reads, rows] = sum.measures;
        let passed = clock::ticks_to_us(clock::ticks().saturating_sub(sum.began));
        (sum.count > 0).then(|| RunTotals {
            compiled_us: list.compiled_us,
            compilations: list.compilations,
            count: sum.count,
            began_us: clock::now_us().saturating_sub(passed),
            worker: worker.in_us(),
            elapsed: elapsed.in_us(),
            logical_reads,
            physical_reads,
            rows,
        })
    }

    fn lock(&self) -> MutexGuard<'_, List> {
        // What it holds is right after each of its changes.
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl List {
    /// Takes over what cells hold that nobody else has.
    fn sweep(&mut self) {
        for cell in std::mem::take(&mut self.cells) {
            if cell.is_at_rest() {
                self.gone.add(&cell.sum());
            } else {
                self.cells.push(cell);
            }
        }
    }
}

/// A number for the shape of a statement: blanks, comments, the case of letters and what literals say make no difference.
pub(crate) fn shape_of(text: &str) -> u64 {
    use std::hash::{DefaultHasher, Hasher};
    let mut hasher = DefaultHasher::new();
    let mut rest = text.as_bytes();
    while let Some(first) = rest.first() {
        let (length, told): (usize, Option<&[u8]>) = match first {
            b'-' if rest.starts_with(b"--") => (up_to(rest, 2, b"\n"), None),
            b'/' if rest.starts_with(b"/*") => (up_to(rest, 2, b"*/"), None),
            b'\'' => (end_of_string(rest), Some(b"?")),
            b'0'..=b'9' => (while_in(rest, |byte| byte.is_ascii_alphanumeric() || byte == b'.'), Some(b"?")),
            byte if byte.is_ascii_whitespace() => (1, None),
            _ => {
                let is_word =
                    |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'@' | b'#' | b'$' | 128..);
                let length = while_in(rest, is_word).max(1);
                (length, Some(&rest[..length]))
            }
        };
        if let Some(told) = told {
            hasher.write(&told.to_ascii_lowercase());
            hasher.write_u8(0);
        }
        rest = &rest[length..];
    }
    hasher.finish()
}

/// A number for the shape of a plan: its operators and what they read.
fn shape_of_plan(plan: &show::Shown) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    fn tell(plan: &show::Shown, hasher: &mut DefaultHasher) {
        (plan.physical, plan.logical, plan.inputs.len()).hash(hasher);
        if let Some(object) = &plan.object {
            (&object.table, &object.index).hash(hasher);
        }
        plan.inputs.iter().for_each(|input| tell(input, hasher));
    }
    let mut hasher = DefaultHasher::new();
    tell(plan, &mut hasher);
    hasher.finish()
}

/// How many bytes there are up to the end of `end`, looked for from a place on.
fn up_to(text: &[u8], from: usize, end: &[u8]) -> usize {
    let found = memchr::memmem::find(&text[from..], end);
    found.map_or(text.len(), |at| from + at + end.len())
}

/// The length of a string that begins here; a quote within it stands twice.
fn end_of_string(text: &[u8]) -> usize {
    let mut end = up_to(text, 1, b"'");
    while text.get(end) == Some(&b'\'') {
        end = up_to(text, end + 1, b"'");
    }
    end
}

fn while_in(text: &[u8], is_in: impl Fn(u8) -> bool) -> usize {
    text.iter().position(|byte| !is_in(*byte)).unwrap_or(text.len())
}

/// A statement of a program that has run.
#[derive(Debug, Clone)]
pub struct StatementRuns {
    /// Where it stands in the text, as the views count: its first and its last character, in bytes of UTF-16.
    pub place: (i32, i32),
    /// A number that statements of one shape share.
    pub shape: u64,
    /// A number that plans of one shape share.
    pub plan_shape: u64,
    /// What its runs took.
    pub totals: RunTotals,
}

impl Program {
    /// Its statements that have run, in their order.
    pub fn statement_runs(&self, host: &dyn Host) -> Vec<StatementRuns> {
        let run = |(at, instruction): (usize, &Instruction)| {
            let Instruction::Statement(index) = instruction else { return None };
            let late = self.late.get(*index)?;
            let totals = late.runs.totals()?;
            let plan = late.plan.lock().unwrap_or_else(|e| e.into_inner()).clone();
            let plan_shape =
                plan.map_or(0, |plan| shape_of_plan(&show::operators(&plan, &self.variables, host, None, 0)));
            Some(StatementRuns { place: self.place_of(at)?, shape: shape_of(&late.text), plan_shape, totals })
        };
        self.instructions.iter().enumerate().filter_map(run).collect()
    }

    /// Calls of the module that it is, when there were any.
    pub fn calls(&self) -> Option<RunTotals> {
        self.runs.totals()
    }

    /// Whether it is a function that gives one value.
    pub fn is_scalar_function(&self) -> bool {
        matches!(self.returns, Some(FunctionResult::Value(..)))
    }

    /// Whether it is a function.
    pub fn is_function(&self) -> bool {
        self.returns.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_that_are_let_go_are_counted_all_the_same() {
        let runs = Runs::new();
        assert_eq!(runs.totals(), None);
        let kept = runs.cell();
        for round in 0..100 {
            let run = Taken { rows: round, began: round, ..Taken::default() };
            runs.cell().add(&run);
            kept.add(&Taken { rows: 1, began: 1_000, ..Taken::default() });
        }
        let totals = runs.totals().expect("it has run");
        assert_eq!(totals.count, 200);
        assert_eq!(totals.rows, Measure { total: 99 * 50 + 100, last: 1, min: 0, max: 99 });
        assert!(runs.lock().cells.len() <= CELLS_BEFORE_SWEEP, "the list does not grow");
    }

    #[test]
    fn literals_do_not_change_the_shape() {
        let shape = shape_of("SELECT a FROM t WHERE b = 'it''s' AND c = 1.5");
        assert_eq!(shape, shape_of("select  a\nFROM t /* of it */ WHERE b='' and c = 0x7f -- all"));
        assert_ne!(shape, shape_of("SELECT a FROM u WHERE b = 'it''s' AND c = 1.5"));
        assert_ne!(shape_of("SELECT a1"), shape_of("SELECT a 1"));
        assert_ne!(shape_of("/* open"), shape_of("'open"));
    }
}
