//! The time lines of the last requests of clients over the network: what `sys.dm_pikepole_call_trace` shows.
//!
//! The option `call trace` says how many are kept. While it is 0, which it is by itself, a request costs one comparison for this.

use pikepole_contention::sync::Mutex;
use std::collections::VecDeque;

/// The time line of a request. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TracedCall {
    /// The session that it was of.
    pub session_id: i32,
    /// Its kind: BATCH, RPC, TRANSACTION and so on.
    pub kind: &'static str,
    /// The number of procedure calls in it.
    pub calls: u32,
    /// When its last byte was there, in microseconds since 1970.
    pub received_us: u64,
    /// From the answer before it, handed to the system, to its last byte: the client and the network, and the scheduler's way to notice.
    pub idle_ns: u64,
    /// Packets and parameters read, plans looked up by handle.
    pub decode_ns: u64,
    /// Run, with all waits and with what is compiled.
    pub run_ns: u64,
    /// The part of it that texts were compiled, or looked up among those that have been.
    pub compile_ns: u64,
    /// The part of it that the log was waited for.
    pub log_wait_ns: u64,
    /// The part of it that anything else was waited for.
    pub other_wait_ns: u64,
    /// The part of both waits that the session could have run and waited for its scheduler.
    pub signal_wait_ns: u64,
    /// Ends and output parameters put into packets.
    pub answer_ns: u64,
    /// The answer handed to the system.
    pub send_ns: u64,
    /// Time on a CPU, of all of it.
    pub cpu_ns: u64,
}

/// The requests that are kept, the oldest first, each with its number.
#[derive(Default)]
pub(crate) struct CallTrace {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    calls: VecDeque<(u64, TracedCall)>,
    number: u64,
}

impl CallTrace {
    /// Keeps a request, and no more than `room` of them.
    pub(crate) fn keep(&self, call: TracedCall, room: usize) {
        // Nothing in here can leave it in halves.
        let mut kept = self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        kept.number += 1;
        let number = kept.number;
        kept.calls.push_back((number, call));
        let surplus = kept.calls.len().saturating_sub(room);
        kept.calls.drain(..surplus);
    }

    /// The last `room` requests that are kept.
    pub(crate) fn calls(&self, room: usize) -> Vec<(u64, TracedCall)> {
        let mut kept = self.kept.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let surplus = kept.calls.len().saturating_sub(room);
        kept.calls.drain(..surplus);
        kept.calls.iter().copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_calls_are_kept_and_none_when_there_is_no_room() {
        let trace = CallTrace::default();
        for session_id in 0..5 {
            trace.keep(TracedCall { session_id, ..TracedCall::default() }, 3);
        }
        let shown =
            |room| trace.calls(room).iter().map(|(number, call)| (*number, call.session_id)).collect::<Vec<_>>();
        assert_eq!(shown(3), [(3, 2), (4, 3), (5, 4)]);
        assert_eq!(shown(1), [(5, 4)]);
        assert_eq!(shown(0), []);
    }
}
