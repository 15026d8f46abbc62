//! Every claim of the published studies of the log's path, and where this product stands on it.

use super::Verdict;
use super::predicted::{predicted_verdict, prediction_words};
use super::record::{ClaimRecord, Outcome};
use crate::predict::ClaimPredictions;

/// A published claim.
#[derive(Debug, Clone, Copy)]
pub struct PublishedClaim {
    /// One sentence.
    pub claim: &'static str,
    /// The published figure.
    pub figure: &'static str,
    /// The place in this product that shows it.
    pub here: Here,
}

/// The place that shows a published claim.
#[derive(Debug, Clone, Copy)]
pub enum Here {
    /// An experiment judges it: the experiment's name, and its claim.
    Judged(&'static str, &'static str),
    /// An experiment's charts, or a command, show the figures, without a verdict.
    Shown(&'static str),
    /// Not in this version: why.
    Missing(&'static str),
}

use Here::{Judged, Missing, Shown};

const fn claim(claim: &'static str, figure: &'static str, here: Here) -> PublishedClaim {
    PublishedClaim { claim, figure, here }
}

const APART: &str = "Inserts a second rise with the log writer's core out of the mask";
const FAR_FEWER: &str = "Workers wait for an unfair latch far less often";

/// All of them, in the order of the studies.
pub const PUBLISHED_CLAIMS: [PublishedClaim; 35] = [
    claim("The default mask, 40 threads", "186,915 inserts/s", Judged("affinity", APART)),
    claim("Without the log writer's core, 38 threads", "436,781 inserts/s", Judged("affinity", APART)),
    claim(
        "Back-off falls as a share of the CPU",
        "23.89% to 1.43%",
        Judged("affinity", "Back-off falls as a share of the sampled CPU"),
    ),
    claim("The log is written faster with that mask", "rises", Judged("affinity", "The log is written faster then")),
    claim(
        "LOGCACHE_ACCESS spins are equal with both masks",
        "about equal",
        Judged("affinity", "LOGCACHE_ACCESS spins stay about equal"),
    ),
    claim(
        "XDESMGR is the next bottleneck",
        "spins rise",
        Judged("affinity", "XDESMGR spins rise: the next bottleneck"),
    ),
    claim(
        "Only the log writer's core matters, no other of its node",
        "right core only",
        Judged("affinity", "It is the log writer's core that matters, not any core of its node"),
    ),
    claim(
        "8015 on top of the mask is the best of all; 8048",
        "over 500,000 inserts/s, 36 threads",
        Judged("trace-flags", "8015 raises the rate on top of the mask"),
    ),
    claim("T-SQL language processing", "12.32% of the CPU", Shown("`lab run policies --profile`: the area T-SQL")),
    claim(
        "XDESMGR's spin, found by inverting the call tree",
        "14.46% of the CPU",
        Shown("`lab run policies --profile`: the area id spinlock, and who calls it"),
    ),
    claim("Rate and spins against threads", "a curve", Shown("the charts of `affinity`, `stress --plot`")),
    claim(
        "LOGCACHE_ACCESS spins with the log writer's core apart, 22 sessions on 2 x 6 cores",
        "a tenth",
        Judged("affinity", "LOGCACHE_ACCESS spins stay about equal"),
    ),
    claim(
        "Memory and context switches cost",
        "167 cycles; 188 to 2,000",
        Shown("`lab cpu`: hand-off of a cache line, wake-up, random reads"),
    ),
    claim("More than 6 cores a socket are needed to see it", "6 cores", Missing("a machine with fewer cannot say")),
    claim(
        "A fair latch: the published insert",
        "5.5 s; 271,609 waits of NESTING_TRANSACTION_FULL",
        Judged("parallel-insert", "Under an unfair latch the rows are in sooner"),
    ),
    claim(
        "LATCH_EX under a fair latch",
        "271,458 waits, 21,949 ms, signal 2,644 ms",
        Judged("parallel-insert", FAR_FEWER),
    ),
    claim(
        "CXPACKET and CXCONSUMER change places",
        "69,597 and 6,784; then 280,905 and 1,043",
        Shown("`stress --workload parallel-insert --compare --policy EXCHANGE=PACKETS`"),
    ),
    claim(
        "X_PACKET_LIST and ALLOC_CACHES_HASH are contended",
        "collisions",
        Shown("the spinlocks of `stress --workload parallel-insert`, EXCHANGE = PACKETS, HEAP_INSERT_TARGETS = ONE"),
    ),
    claim("An unfair latch (3933)", "4.5 s; 56 waits, 1 ms at most", Judged("parallel-insert", FAR_FEWER)),
    claim(
        "LATCH_SPIN_STATS under it, 0 under a fair latch",
        "337,110 collisions, 221.9 M spins, 41 back-offs",
        Judged("parallel-insert", "They spin for it instead"),
    ),
    claim("Making the rows alone", "below 1 s", Shown("`stress --workload parallel-insert`: rows made in s")),
    claim(
        "Extents, log bytes and latch waits as counters",
        "a monitor's curves",
        Shown("`sys.dm_os_performance_counters`"),
    ),
    claim(
        "Minimal logging lowers the pressure; a serial insert takes no latch",
        "lower",
        Judged("serial-parallel", "With minimal logging they wait less for it"),
    ),
    claim(
        "A signalled thread goes to the head of the queue, up to 1,000 times",
        "1,000",
        Judged("boost", "Sessions that the log writer signals are boosted"),
    ),
    claim(
        "Large pages",
        "-28% elapsed; 222,220 to 263,766 lookups/s",
        Judged("large-pages", "More pages are looked up a second in pages of 2 MB"),
    ),
    claim(
        "A columnstore sorted by the join key is bigger and faster",
        "fewer cache misses",
        Missing("columnstore indexes are kept as ordinary ones"),
    ),
    claim(
        "Several log writers help full durability",
        "shape only",
        Judged("log-writers", "Several writers help full durability on a slower device"),
    ),
    claim(
        "Several log writers hurt delayed durability: LOGFLUSHQ spins",
        "shape only",
        Judged("log-writers", "Several writers hurt delayed durability on fast storage"),
    ),
    claim(
        "One log writer a node, 4 at most, all on node 0",
        "4",
        Shown("`LOG_WRITERS = PER NODE`, `sys.dm_exec_requests`"),
    ),
    claim(
        "One session on the log writer's core, its socket, the other socket",
        "+100%, +50 to 60%",
        Judged(
            "distance",
            "One session makes more inserts on the log writer's own core than on another core of the socket",
        ),
    ),
    claim(
        "LOGCACHE_ACCESS spins of one session",
        "24,192 against 1,710,336",
        Judged("distance", "LOGCACHE_ACCESS spins are far fewer there"),
    ),
    claim(
        "Two instances, a node each, have twice the spinlocks",
        "twice",
        Judged("instances", "Two instances, one a node, make more inserts a second than one on both"),
    ),
    claim(
        "In-memory tables log at commit, ids by one atomic addition",
        "no undo in the log",
        Judged(
            "in-memory",
            "A row of a durable in-memory table takes fewer bytes of log than one of an ordinary table",
        ),
    ),
    claim("The log writers' node cannot be chosen", "node 0", Shown("here it can: LOG_WRITER_CPUS is a list")),
    claim("A replica takes commits at the log's speed", "1 GB/s", Missing("there are no replicas")),
];

impl PublishedClaim {
    /// Names the place that shows it.
    pub fn place(&self) -> String {
        match self.here {
            Judged(experiment, claim) => format!("`{experiment}`: {claim}"),
            Shown(place) => place.to_owned(),
            Missing(why) => format!("not in this version: {why}"),
        }
    }

    /// The claim of an experiment that judges it, in these outcomes.
    fn record<'a>(&self, outcomes: &'a [Outcome]) -> Option<&'a ClaimRecord> {
        let Judged(experiment, text) = self.here else { return None };
        let outcome = outcomes.iter().find(|outcome| outcome.experiment == experiment)?;
        outcome.claims.iter().find(|claim| claim.text == text)
    }

    /// The verdict on it in words, with the predictor's where this machine cannot judge; also where there is none.
    pub fn verdict_words(&self, outcomes: &[Outcome], predicted: Option<Verdict>) -> String {
        let words = match (self.here, self.record(outcomes)) {
            (_, Some(claim)) => match predicted.filter(|_| claim.verdict == Verdict::CannotBeJudged) {
                Some(predicted) => return format!("{}; {}", claim.verdict.words(), predicted.words()),
                None => claim.verdict.words(),
            },
            (Judged(experiment, _), None) if outcomes.iter().any(|outcome| outcome.experiment == experiment) => {
                "no such arm here, or no profile"
            }
            (Judged(..), None) => "not run",
            (Shown(_), None) => "figures only",
            (Missing(_), None) => "missing",
        };
        words.to_owned()
    }
}

/// The table of all claims with their verdicts, as Markdown.
pub fn claims_table(outcomes: &[Outcome], predictions: Option<&ClaimPredictions>) -> String {
    let mut text =
        String::from("| # | claim | published | where | verdict | prediction |\n|---|---|---|---|---|---|\n");
    for (place, claim) in PUBLISHED_CLAIMS.iter().enumerate() {
        let number = place + 1;
        let verdict = claim.verdict_words(outcomes, predicted_verdict(number, predictions));
        let (place_words, predicted) = (claim.place(), prediction_words(number, predictions));
        text.push_str(&format!(
            "| {number} | {} | {} | {place_words} | {verdict} | {predicted} |\n",
            claim.claim, claim.figure
        ));
    }
    if let Some(predictions) = predictions {
        text.push_str(&format!("\nPredictions: {}.\n", predictions.source));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{EXPERIMENTS, Machine};
    use pikepole_embedded::SystemFiles;
    use pikepole_machine::Shape;

    #[test]
    fn what_is_judged_is_a_claim_of_its_experiment() {
        let machine = Machine::read(&SystemFiles::of_shape(&Shape::new(2, 1, 10, 2))).expect("a machine");
        for claim in PUBLISHED_CLAIMS {
            let Judged(name, text) = claim.here else { continue };
            let experiment = EXPERIMENTS.iter().find(|experiment| experiment.name == name).expect("an experiment");
            let plan = (experiment.plan)(&machine);
            assert!(plan.claims.iter().any(|claim| claim.text == text), "{name} has no claim {text}");
        }
    }

    #[test]
    fn the_table_has_a_row_for_each_claim() {
        let table = claims_table(&[], None);
        assert_eq!(table.lines().count(), 2 + PUBLISHED_CLAIMS.len());
        assert!(table.lines().all(|line| line.matches('|').count() == 7), "{table}");
        assert!(table.contains("| not run |") && table.contains("| figures only |") && table.contains("| missing |"));
    }
}
