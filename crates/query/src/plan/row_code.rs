//! Machine code that makes the rows of an INSERT; `program::native` makes it.

use std::sync::OnceLock;

use pikepole_engine::{MadeRow, RowRecipe};
use pikepole_native::{Code, SLACK_BYTES};
use pikepole_types::{DateTime, DateTimeOffset, Moment, SqlType};

/// A form of the present time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    is_utc: bool,
    /// As `datetime` counts it, not as `datetime2(7)` does.
    is_rounded: bool,
}

impl Clock {
    /// The form that a function gives, if it is that of a type.
    pub(crate) fn of(function: &str, ty: &SqlType) -> Option<Clock> {
        let (is_utc, is_rounded) = match function {
            "GETDATE" | "CURRENT_TIMESTAMP" => (false, true),
            "GETUTCDATE" => (true, true),
            "SYSDATETIME" => (false, false),
            "SYSUTCDATETIME" => (true, false),
            _ => return None,
        };
        let own = if is_rounded { SqlType::DateTime } else { SqlType::DateTime2(7) };
        (*ty == own).then_some(Clock { is_utc, is_rounded })
    }

    /// The number that this time is in the form.
    #[inline]
    pub(crate) fn number(self, now: DateTimeOffset) -> Option<i64> {
        let moment = if self.is_utc { Moment::local(now.utc_ticks()) } else { now.moment() };
        if self.is_rounded { DateTime::from_moment(moment).map(DateTime::ticks) } else { Some(moment.ticks) }
    }
}

/// The code of a statement's rows; made when a session first asks for it. A copy has none yet: it may become another statement's.
#[derive(Default)]
pub struct RowCodeCell(OnceLock<Option<Box<RowCode>>>);

impl Clone for RowCodeCell {
    fn clone(&self) -> RowCodeCell {
        RowCodeCell::default()
    }
}

impl std::fmt::Debug for RowCodeCell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowCodeCell").finish_non_exhaustive()
    }
}

/// See the module.
pub(crate) struct RowCode {
    pub(crate) code: Code,
    pub(crate) recipe: RowRecipe,
    /// The forms in which the code awaits the present time, and their places among its inputs.
    pub(crate) clocks: Box<[(usize, Clock)]>,
    /// The place of the identity value among them.
    pub(crate) identity: Option<usize>,
}

impl RowCode {
    /// Room for a row.
    pub(crate) fn room(&self) -> MadeRow {
        MadeRow::new(&self.recipe, SLACK_BYTES)
    }
}

impl RowCodeCell {
    /// The code, which is made if none has been asked for yet; None: the rows have none.
    #[inline]
    pub(crate) fn get_or_make(&self, make: impl FnOnce() -> Option<RowCode>) -> Option<&RowCode> {
        self.0.get_or_init(|| make().map(Box::new)).as_deref()
    }
}
