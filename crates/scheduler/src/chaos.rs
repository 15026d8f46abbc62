//! Stops by chance, for tests: whatever may stop its caller asks here first and stops as the seed says.
//!
//! ```text
//!   operator, statement, page, lock ── stops(Site)? ──► yes: "not now", the caller awaits and asks again
//!                                                  └──► no: it goes on
//! ```
//! Code that is called again after a stop must neither lose nor repeat what it did before. On an idle machine nearly nothing
//! stops; with chaos everything does, so a suite whose answers stay the same shows that nothing is lost.
//!
//! The state belongs to the calling thread, so it is for simulated schedulers, which run all tasks on one thread. It exists in
//! builds with debug assertions only: elsewhere [`stops`] is `false` and the compiler leaves the question out.
//!
//! How often: after a stop, a site lets between 0 and 127 questions pass; a short gap is as likely as a long one. A long gap
//! must be possible, because a stop at the bottom of a deep plan repeats the questions above it. From some thousand questions
//! of a [`heat`] on, the gaps grow with the number of questions: long scripts end.

use std::fmt;

/// Declares the places that ask.
macro_rules! sites {
    ($($(#[doc = $doc:literal])* $site:ident,)*) => {
        /// A kind of places that may stop their callers.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Site {
            $($(#[doc = $doc])* $site,)*
        }

        impl Site {
            /// All of them.
            pub const ALL: &'static [Site] = &[$(Site::$site,)*];
        }
    };
}

sites! {
    /// An operator asks its input for a row.
    Pull,
    /// A loop over rows looks at the quantum.
    Pace,
    /// A statement has worked on a row and looks at the quantum.
    Row,
    /// An operator asks its input for a batch.
    Batch,
    /// A page is to be latched.
    Page,
    /// A way down a tree is to be found.
    Descent,
    /// A table is to be locked.
    Table,
    /// A row, or a range of keys, is to be locked.
    Key,
    /// Memory for rows is to be counted.
    Memory,
    /// Memory for rows is to be had, or a file must do.
    Full,
    /// A block of a spill file is to be written.
    Write,
    /// A row of a spill file is to be read.
    Read,
    /// The client is to take a row.
    Client,
}

/// What a site was asked, and how often it stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SiteCount {
    /// The site.
    pub site: Site,
    /// Questions.
    pub asked: u64,
    /// Stops.
    pub stopped: u64,
}

impl fmt::Display for SiteCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {} of {}", self.site, self.stopped, self.asked)
    }
}

/// What chaos does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Says where it stops.
    pub seed: u64,
    /// Rows go to files though there is memory ([`Site::Full`]).
    pub fills_memory: bool,
    /// The planted fault: operators stop when they have taken a row and not kept it.
    pub loses_rows: bool,
}

impl Options {
    /// All that leaves answers as they are.
    pub fn of(seed: u64) -> Options {
        Options { seed, fills_memory: true, loses_rows: false }
    }
}

/// Whether the caller is to stop here, with a reason that is gone at once.
#[inline(always)]
pub fn stops(site: Site) -> bool {
    #[cfg(debug_assertions)]
    return state::stops(site);
    #[cfg(not(debug_assertions))]
    {
        let _ = site;
        false
    }
}

/// Whether an operator is to stop here and so lose a row: see [`Options::loses_rows`].
#[inline(always)]
pub fn loses_row() -> bool {
    #[cfg(debug_assertions)]
    return state::loses_row();
    #[cfg(not(debug_assertions))]
    false
}

#[cfg(debug_assertions)]
pub use state::{begin, end, heat};

/// Without debug assertions nothing begins.
#[cfg(not(debug_assertions))]
pub fn begin(_options: Options) {}

/// Without debug assertions nothing stops.
#[cfg(not(debug_assertions))]
pub fn heat() {}

/// Without debug assertions nothing was asked.
#[cfg(not(debug_assertions))]
pub fn end() -> Vec<SiteCount> {
    Vec::new()
}

#[cfg(debug_assertions)]
mod state {
    use super::{Options, Site, SiteCount};
    use std::cell::{Cell, RefCell};

    /// The widest gap between two stops is below two to this power while a site is hot.
    const GAP_BITS: u32 = 7;
    /// Questions after which the gaps begin to grow.
    const HOT: u64 = 4096;

    struct Chaos {
        chance: u64,
        options: Options,
        sites: Vec<SiteState>,
    }

    #[derive(Clone, Copy, Default)]
    struct SiteState {
        /// Questions that pass before the next stop.
        left: u64,
        /// Questions since the last [`heat`].
        warm: u64,
        asked: u64,
        stopped: u64,
    }

    thread_local! {
        static IS_ON: Cell<bool> = const { Cell::new(false) };
        static CHAOS: RefCell<Option<Chaos>> = const { RefCell::new(None) };
    }

    impl Chaos {
        /// The next number of the generator (splitmix64, Steele, Lea and Flood 2014).
        fn next(&mut self) -> u64 {
            self.chance = self.chance.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut word = self.chance;
            word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            word ^ (word >> 31)
        }

        fn gap(&mut self, warm: u64) -> u64 {
            let widest = GAP_BITS + (warm / HOT).checked_ilog2().map_or(0, |growth| growth + 1);
            let bits = self.next() % u64::from(widest + 1);
            self.next() % (1 << bits)
        }

        fn stops(&mut self, site: Site) -> bool {
            if site == Site::Full && !self.options.fills_memory {
                return false;
            }
            let at = site as usize;
            let own = &mut self.sites[at];
            own.asked += 1;
            own.warm += 1;
            if own.left > 0 {
                own.left -= 1;
                return false;
            }
            own.stopped += 1;
            let warm = own.warm;
            self.sites[at].left = self.gap(warm);
            true
        }
    }

    #[inline]
    pub(super) fn stops(site: Site) -> bool {
        IS_ON.get() && CHAOS.with_borrow_mut(|chaos| chaos.as_mut().is_some_and(|chaos| chaos.stops(site)))
    }

    /// From now on what runs on this thread is stopped.
    pub fn begin(options: Options) {
        let sites = vec![SiteState::default(); Site::ALL.len()];
        CHAOS.set(Some(Chaos { chance: options.seed, options, sites }));
        IS_ON.set(true);
    }

    /// Stops come as often again as at the beginning: something new is run.
    pub fn heat() {
        CHAOS.with_borrow_mut(|chaos| {
            let sites = chaos.iter_mut().flat_map(|chaos| &mut chaos.sites);
            sites.for_each(|site| (site.warm, site.left) = (0, site.left % (1 << GAP_BITS)));
        });
    }

    /// Nothing is stopped any more; gives what each site was asked.
    pub fn end() -> Vec<SiteCount> {
        IS_ON.set(false);
        let sites = CHAOS.take().map(|chaos| chaos.sites).unwrap_or_default();
        let count = |(site, own): (&Site, SiteState)| SiteCount { site: *site, asked: own.asked, stopped: own.stopped };
        Site::ALL.iter().zip(sites).map(count).collect()
    }

    pub(super) fn loses_row() -> bool {
        let loses = |chaos: &mut Option<Chaos>| {
            chaos.as_mut().is_some_and(|chaos| chaos.options.loses_rows && chaos.stops(Site::Pull))
        };
        IS_ON.get() && CHAOS.with_borrow_mut(loses)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        fn stops_of(seed: u64) -> Vec<bool> {
            begin(Options::of(seed));
            let stops = (0..1000).map(|_| super::stops(Site::Pull)).collect();
            end();
            stops
        }

        #[test]
        fn one_seed_stops_at_the_same_questions() {
            assert_eq!(stops_of(3), stops_of(3));
            assert_ne!(stops_of(3), stops_of(4));
            assert!(!super::stops(Site::Pull), "nothing is stopped before it begins or after its end");
        }

        #[test]
        fn stops_are_many_at_first_and_seldom_later() {
            begin(Options::of(1));
            let stopped = |questions: u64| (0..questions).filter(|_| super::stops(Site::Pace)).count();
            let (hot, cold) = (stopped(4096), stopped(1 << 20));
            heat();
            let hot_again = stopped(4096);
            let counts = end();
            assert!(hot > 150 && hot_again > 150, "{hot} and {hot_again} of 4096");
            assert!(cold < 4000, "{cold} of {}", 1 << 20);
            let all = counts.iter().find(|count| count.site == Site::Pace).expect("each site is counted");
            assert_eq!(all.stopped, (hot + cold + hot_again) as u64);
        }
    }
}
