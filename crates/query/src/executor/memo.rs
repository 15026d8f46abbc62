//! Results of a subquery, remembered by the values of the row outside that decide them
//! ([`crate::optimizer::rules::memoize`]).

use hashbrown::HashMap;

use super::Run;
use crate::access::Stop;
use crate::executor::spill::Charge;
use pikepole_types::Value;

/// Rows that are asked about before anything is remembered: what touches a row or two pays nothing for it.
pub(crate) const ROWS_BEFORE: u32 = 4;

/// Bytes of one key at most.
const KEY_BYTES_MAX: usize = 1 << 10;

/// Bytes that are kept at most. Beyond it all are forgotten, and the next ones are kept.
const BYTES_MAX: usize = 8 << 20;

/// Bytes of an entry beside its key and its value's text.
const ENTRY_BYTES: usize = 64;

/// Rows after which what has been found is looked at, and the share of it that is enough to go on, one in so many.
const ROWS_JUDGED: u32 = 16 << 10;
const SHARE_FOUND: u32 = 8;

/// The results of one subquery.
#[derive(Default)]
pub(super) struct Memo {
    results: HashMap<Box<[u8]>, Value>,
    charge: Charge,
    /// The values of the present row; empty when its result is not to be remembered.
    key: Vec<u8>,
    /// Rows asked about since it was judged, and those whose result was known.
    asked: u32,
    found: u32,
    state: State,
}

#[derive(Default)]
enum State {
    #[default]
    Waiting,
    Remembering,
    /// Values hardly come again.
    GivenUp,
}

impl Memo {
    /// The result for the present row, if it is known.
    ///
    /// # Errors
    /// A wait for memory, after which the call is made again.
    pub(super) fn find(&mut self, slots: &[usize], run: &Run<'_>) -> Result<Option<&Value>, Stop> {
        if !self.charge.settle_in_order(run)? || self.charge.bytes() > BYTES_MAX {
            self.forget_results();
        }
        self.key.clear();
        self.asked = self.asked.wrapping_add(1);
        match self.state {
            State::Waiting if self.asked <= ROWS_BEFORE => return Ok(None),
            State::Waiting => self.begin(),
            State::Remembering if self.asked > ROWS_JUDGED => self.judge(),
            State::Remembering => {}
            State::GivenUp => return Ok(None),
        }
        for slot in slots {
            if !run.slots[*slot].push_loose(&mut self.key) || self.key.len() > KEY_BYTES_MAX {
                self.key.clear();
                return Ok(None);
            }
        }
        let result = self.results.get(self.key.as_slice());
        self.found += u32::from(result.is_some());
        Ok(result)
    }

    fn begin(&mut self) {
        (self.asked, self.found) = (0, 0);
        self.state = State::Remembering;
    }

    fn judge(&mut self) {
        let is_enough = self.found >= self.asked / SHARE_FOUND;
        self.begin();
        if !is_enough {
            self.state = State::GivenUp;
            self.forget_results();
        }
    }

    /// Remembers the result of the row that [`Memo::find`] was asked about.
    pub(super) fn keep(&mut self, result: &Value) {
        if !self.key.is_empty() {
            self.charge.keep(ENTRY_BYTES + self.key.len() + result.heap_bytes());
            self.results.insert(self.key.as_slice().into(), result.clone());
            self.key.clear();
        }
    }

    fn forget_results(&mut self) {
        self.results = HashMap::new();
        self.charge.clear();
    }

    /// Forgets all: the statement has ended.
    pub(super) fn forget(&mut self) {
        *self = Memo::default();
    }
}
