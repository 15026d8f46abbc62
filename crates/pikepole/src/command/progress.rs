//! The progress line of a batch that runs long, on a terminal.
//!
//! ```text
//!   the batch runs and prints          a thread draws on standard error once a second, after a while of silence
//!   ─────────────────────────          ─────────────────────────────────────────────────────────────────────────
//!   an event comes: printing()  ─────▶ the line is erased, and no line comes while the event is printed
//!   the batch ends              ─────▶ the line is erased, and no line of this batch comes any more
//! ```
//! What the line says comes from `sys.dm_exec_requests`, by a session of its own. `percent_complete` is the only measure that the rest
//! is estimated from; statements that do not report it show the pages that they have read, and no estimate.

use super::session::Session;
use super::terminal;
use pikepole_contention::sync::atomic::{AtomicBool, Ordering};
use pikepole_contention::sync::{Arc, Mutex, MutexGuard, thread};
use std::io::{self, Write};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// Silence before the first line.
const FIRST: Duration = Duration::from_secs(2);
/// Time between two lines.
const EACH: Duration = Duration::from_secs(1);
/// Milliseconds that a look waits for locks.
const LOCK_TIMEOUT_MS: u32 = 200;

/// Gives another session of the same login.
pub type Another = Box<dyn Fn() -> Option<Session> + Send>;

/// The line. Clones are the same one.
#[derive(Clone, Default)]
pub struct Line(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Something else has the terminal.
    is_hidden: AtomicBool,
}

#[derive(Default)]
struct State {
    is_shown: bool,
    /// Batches that have ended: a thread draws for one of them.
    ended: u64,
    /// When something was printed last.
    printed: Option<Instant>,
    /// Percent done of something that the shell does in many statements.
    own: Option<f64>,
}

/// No line comes while this lives.
pub struct Printing<'a>(MutexGuard<'a, State>);

impl Drop for Printing<'_> {
    fn drop(&mut self) {
        self.0.printed = Some(Instant::now());
    }
}

impl State {
    fn erase(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            show("\r\x1b[K");
        }
    }
}

fn show(text: &str) {
    let mut out = io::stderr();
    // A terminal that has gone needs no line.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is a single store.
        self.0.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Something is about to be printed.
    pub fn printing(&self) -> Printing<'_> {
        let mut state = self.state();
        state.erase();
        Printing(state)
    }

    /// So much is done, of something that the batches at hand are parts of.
    pub fn tell(&self, done: u64, whole: u64) {
        self.state().own = Some(done as f64 * 100.0 / whole.max(1) as f64);
    }

    /// Something else, as a pager, has the terminal, or has it no more. The line is erased before, by [`Line::printing`].
    pub fn hide(&self, is_hidden: bool) {
        self.0.is_hidden.store(is_hidden, Ordering::Relaxed);
    }

    /// Runs a batch of a session, and draws the line meanwhile.
    pub fn during<T>(&self, looker: &Arc<Mutex<Looker>>, run: impl FnOnce() -> T) -> T {
        let (end, ended) = mpsc::channel::<()>();
        let (line, looker) = (self.clone(), Arc::clone(looker));
        let batch = self.state().ended;
        thread::spawn(move || line.draw_until(&ended, batch, &looker));
        let done = run();
        drop(end);
        let mut state = self.state();
        state.ended += 1;
        state.erase();
        (state.printed, state.own) = (None, None);
        done
    }

    fn draw_until(&self, ended: &mpsc::Receiver<()>, batch: u64, looker: &Mutex<Looker>) {
        let (begun, mut pause, mut estimate) = (Instant::now(), FIRST, Estimate::default());
        while ended.recv_timeout(pause) == Err(RecvTimeoutError::Timeout) {
            pause = EACH;
            if !self.is_wanted(&self.state(), batch) {
                continue;
            }
            // Another batch's thread may still look.
            let mut look = looker.try_lock().ok().and_then(|mut looker| looker.look());
            if let Some(percent) = self.state().own {
                let none = Look { percent, pages: 0, blocker: 0, wait: None };
                look = Some(Look { percent, ..look.unwrap_or(none) });
            }
            let rest = look.as_ref().and_then(|look| estimate.rest(Instant::now(), look.percent));
            let text = line(begun.elapsed(), look.as_ref(), rest);
            let width = terminal::size().map_or(80, |(columns, _)| columns);
            let text: String = text.chars().take(width.saturating_sub(1)).collect();
            let mut state = self.state();
            if self.is_wanted(&state, batch) {
                show(&format!("\r\x1b[K{text}"));
                state.is_shown = true;
            }
        }
    }

    fn is_wanted(&self, state: &State, batch: u64) -> bool {
        let is_silent = state.printed.is_none_or(|printed| printed.elapsed() >= EACH);
        state.ended == batch && is_silent && !self.0.is_hidden.load(Ordering::Relaxed)
    }
}

/// Looks at what a session runs, by another one, which is opened at the first look.
pub struct Looker {
    another: Another,
    /// The session that is looked at.
    id: i32,
    session: Option<Session>,
}

/// What is known of a request.
#[derive(Debug, Clone, PartialEq)]
struct Look {
    /// 0: the statement does not report it.
    percent: f64,
    pages: i64,
    blocker: i64,
    wait: Option<String>,
}

impl Looker {
    /// Looks at the session of this number.
    pub fn new(another: Another, id: i32) -> Arc<Mutex<Looker>> {
        Arc::new(Mutex::new(Looker { another, id, session: None }))
    }

    /// Ends the session of its own.
    pub fn close(&mut self) {
        self.session = None;
    }

    /// None: it may not be looked at, or cannot be now.
    fn look(&mut self) -> Option<Look> {
        if self.session.is_none() {
            let mut session = (self.another)()?;
            session.execute(&format!("SET LOCK_TIMEOUT {LOCK_TIMEOUT_MS}")).ok()?;
            self.session = Some(session);
        }
        let sql = format!(
            "SELECT percent_complete, logical_reads, blocking_session_id, wait_type FROM sys.dm_exec_requests WHERE session_id = {}",
            self.id
        );
        let rows = self.session.as_mut()?.query(&sql).ok()?;
        let row = rows.iter().next()?;
        let wait = Some(row.text(3)).filter(|wait| wait != "NULL");
        Some(Look {
            percent: row.text(0).parse().ok()?,
            pages: row.text(1).parse().ok()?,
            blocker: row.text(2).parse().ok()?,
            wait,
        })
    }
}

/// Estimates the rest of a statement from how fast its percentage grows.
#[derive(Default)]
struct Estimate {
    first: Option<(Instant, f64)>,
    last: f64,
}

impl Estimate {
    /// None: the statement does not report how far it is, or has not come further since the first look.
    fn rest(&mut self, now: Instant, percent: f64) -> Option<Duration> {
        if percent < self.last {
            // Another statement.
            self.first = None;
        }
        self.last = percent;
        if percent <= 0.0 {
            return None;
        }
        let (at, before) = *self.first.get_or_insert((now, percent));
        let grown = percent - before;
        let seconds = now.duration_since(at).as_secs_f64() * (100.0 - percent) / grown;
        (grown > 0.0).then(|| Duration::try_from_secs_f64(seconds).ok()).flatten()
    }
}

/// What the line says.
fn line(elapsed: Duration, look: Option<&Look>, rest: Option<Duration>) -> String {
    let mut parts = vec![seconds(elapsed)];
    if let Some(look) = look {
        let has_percent = look.percent > 0.0;
        if has_percent {
            parts.push(format!("{:.0} % done", look.percent.floor()));
        } else if look.pages > 0 {
            parts.push(format!("{} pages read", look.pages));
        }
        match (&look.wait, look.blocker) {
            (Some(wait), 1..) => parts.push(format!("waits for session {} ({wait})", look.blocker)),
            (Some(wait), _) if !has_percent => parts.push(format!("waits ({wait})")),
            _ => {}
        }
        parts.push(match rest {
            Some(rest) => format!("about {} left", seconds(rest)),
            None if has_percent => "no estimate yet".to_owned(),
            None => "no estimate of the rest".to_owned(),
        });
    }
    format!("{} (Ctrl-C ends it)", parts.join(", "))
}

fn seconds(time: Duration) -> String {
    match (time.as_secs() / 60, time.as_secs() % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes @ 1..60, seconds) => format!("{minutes} min {seconds} s"),
        (minutes, _) => format!("{} h {} min", minutes / 60, minutes % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_is_estimated_from_percentages_alone() {
        let (begun, mut estimate) = (Instant::now(), Estimate::default());
        let at = |seconds| begun + Duration::from_secs(seconds);
        assert_eq!(estimate.rest(at(1), 0.0), None, "not reported");
        assert_eq!(estimate.rest(at(2), 10.0), None, "one look says nothing of the pace");
        assert_eq!(estimate.rest(at(3), 10.0), None, "it stands still");
        assert_eq!(estimate.rest(at(12), 60.0), Some(Duration::from_secs(8)));
        assert_eq!(estimate.rest(at(13), 5.0), None, "another statement");
        assert_eq!(estimate.rest(at(14), 100.0), Some(Duration::ZERO));
    }

    #[test]
    fn the_line_says_what_is_known() {
        let look = |percent, pages, blocker, wait: Option<&str>| Look {
            percent,
            pages,
            blocker,
            wait: wait.map(str::to_owned),
        };
        let said =
            |look: Option<&Look>, rest: Option<u64>| line(Duration::from_secs(75), look, rest.map(Duration::from_secs));
        let end = " (Ctrl-C ends it)";
        assert_eq!(said(None, None), format!("1 min 15 s{end}"));
        let rows = look(0.0, 4711, 0, None);
        assert_eq!(said(Some(&rows), None), format!("1 min 15 s, 4711 pages read, no estimate of the rest{end}"));
        let load = look(45.9, 9, 0, Some("LOGBUFFER"));
        assert_eq!(said(Some(&load), None), format!("1 min 15 s, 45 % done, no estimate yet{end}"));
        assert_eq!(said(Some(&load), Some(7_300)), format!("1 min 15 s, 45 % done, about 2 h 1 min left{end}"));
        let waits = look(0.0, 0, 52, Some("LCK_M_X"));
        let expected = format!("1 min 15 s, waits for session 52 (LCK_M_X), no estimate of the rest{end}");
        assert_eq!(said(Some(&waits), None), expected);
    }
}
