//! The clock of a traced request: which of its steps is under way, and how long each has taken.

use pikepole_machine::clock;
use pikepole_scheduler::{self as scheduler, WaitTimes};
use pikepole_session::TracedCall;
use pikepole_tds::PacketKind;

/// A step of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Decode,
    Run,
    Answer,
    Send,
}

/// See the module. One that is off does nothing.
#[derive(Default)]
pub(crate) struct CallClock {
    under_way: Option<UnderWay>,
    /// When the last answer was handed to the system; 0: it was not traced.
    sent_at: u64,
}

struct UnderWay {
    step: Step,
    /// When it began, in ticks.
    since: u64,
    /// Ticks of each step.
    ticks: [u64; 4],
    cpu: u64,
    waits: WaitTimes,
    call: TracedCall,
}

/// The name of a kind of requests.
fn name(kind: PacketKind) -> &'static str {
    match kind {
        PacketKind::SqlBatch => "BATCH",
        PacketKind::Rpc => "RPC",
        PacketKind::TransactionManager => "TRANSACTION",
        PacketKind::BulkLoad => "BULK LOAD",
        PacketKind::Attention => "ATTENTION",
        _ => "OTHER",
    }
}

fn ns(ticks: u64) -> u64 {
    ticks.saturating_mul(1000) / clock::ticks_per_us().max(1)
}

fn cpu_ticks() -> u64 {
    scheduler::meter(clock::ticks()).own
}

impl CallClock {
    /// A request is there.
    pub(crate) fn begin(&mut self, kind: PacketKind, session_id: i32) {
        let now = clock::ticks();
        let idle = if self.sent_at == 0 { 0 } else { now.saturating_sub(self.sent_at) };
        let call = TracedCall {
            session_id,
            kind: name(kind),
            received_us: crate::connection::now_us(),
            idle_ns: ns(idle),
            ..TracedCall::default()
        };
        let (cpu, waits) = (cpu_ticks(), scheduler::wait_times());
        self.under_way = Some(UnderWay { step: Step::Decode, since: now, ticks: [0; 4], cpu, waits, call });
    }

    /// The next step begins.
    #[inline]
    pub(crate) fn step(&mut self, step: Step) {
        if let Some(under_way) = &mut self.under_way {
            under_way.go_on(step);
        }
    }

    /// Another procedure is called.
    #[inline]
    pub(crate) fn count_call(&mut self) {
        if let Some(under_way) = &mut self.under_way {
            under_way.call.calls += 1;
        }
    }

    /// The answer has been handed to the system: the request's time line, if it is traced. `compiled` are ticks.
    pub(crate) fn end(&mut self, compiled: u64) -> Option<TracedCall> {
        let Some(mut under_way) = self.under_way.take() else {
            self.sent_at = 0;
            return None;
        };
        under_way.go_on(Step::Send);
        self.sent_at = under_way.since;
        let of = |step: Step| ns(under_way.ticks[step as usize]);
        let (before, now) = (under_way.waits, scheduler::wait_times());
        let waited = |before: u64, now: u64| now.saturating_sub(before) * 1000;
        Some(TracedCall {
            decode_ns: of(Step::Decode),
            run_ns: of(Step::Run),
            answer_ns: of(Step::Answer),
            send_ns: of(Step::Send),
            compile_ns: ns(compiled),
            log_wait_ns: waited(before.log_us, now.log_us),
            other_wait_ns: waited(before.others_us, now.others_us),
            signal_wait_ns: waited(before.signal_us, now.signal_us),
            cpu_ns: ns(cpu_ticks().saturating_sub(under_way.cpu)),
            ..under_way.call
        })
    }
}

impl UnderWay {
    fn go_on(&mut self, step: Step) {
        let now = clock::ticks();
        self.ticks[self.step as usize] += now.saturating_sub(self.since);
        (self.step, self.since) = (step, now);
    }
}
