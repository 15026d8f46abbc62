//! The sentence of result on top of a page: what was seen, with its figure, or why nothing could be concluded.

use crate::experiment::{ClaimRecord, Outcome, Verdict};
use crate::show::counted;

/// Reasons named for claims that say nothing.
const REASONS_MOST: usize = 2;

/// The result of an outcome in one sentence.
pub(super) fn sentence(outcome: &Outcome) -> String {
    let claims = &outcome.claims;
    let is_judged = |claim: &&ClaimRecord| matches!(claim.verdict, Verdict::Seen | Verdict::NotSeen);
    let silent: Vec<&ClaimRecord> = claims.iter().filter(|claim| !is_judged(claim)).collect();
    let headline =
        claims.iter().filter(is_judged).max_by_key(|claim| (claim.published.is_some(), is_first(claims, claim)));
    let Some(headline) = headline else {
        let why = if claims.is_empty() { "this machine has nothing to compare".to_owned() } else { reasons(&silent) };
        return format!("Nothing could be concluded here, because {why}.");
    };
    let seen = claims.iter().filter(|claim| claim.verdict == Verdict::Seen).count();
    let not_seen = claims.len() - silent.len() - seen;
    let mut sentence = format!("{}: {}{}", headline.text, headline.verdict.words(), figures(headline));
    if claims.len() > 1 {
        sentence.push_str(&format!("; of {}, {seen} {} seen", counted(claims.len(), "claim"), was(seen)));
        if not_seen > 0 {
            sentence.push_str(&format!(", {not_seen} {} not", was(not_seen)));
        }
        if !silent.is_empty() {
            sentence.push_str(&format!(", and nothing is concluded on {}, because {}", silent.len(), reasons(&silent)));
        }
    }
    sentence.push('.');
    sentence
}

/// Orders claims so that the first is the greatest.
fn is_first(claims: &[ClaimRecord], claim: &ClaimRecord) -> std::cmp::Reverse<usize> {
    std::cmp::Reverse(claims.iter().position(|other| std::ptr::eq(other, claim)).unwrap_or(usize::MAX))
}

fn was(count: usize) -> &'static str {
    if count == 1 { "was" } else { "were" }
}

/// The ratio here and the published figure.
fn figures(claim: &ClaimRecord) -> String {
    // A fall to a thousandth is more than its digits say.
    let ratio =
        claim.ratio.map(|ratio| if ratio < 0.01 { "less than x 0.01".to_owned() } else { format!("x {ratio:.2}") });
    let here = ratio.map(|ratio| format!("{ratio} here"));
    let published = claim.published.as_ref().map(|figure| format!("published: {figure}"));
    let both: Vec<String> = here.into_iter().chain(published).collect();
    if both.is_empty() { String::new() } else { format!(" ({})", both.join(", ")) }
}

/// The reasons of claims that say nothing, those of most claims first.
fn reasons(claims: &[&ClaimRecord]) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for claim in claims {
        let reason = claim.reason.clone().unwrap_or_else(|| general(claim.verdict).to_owned());
        match counts.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => counts.push((reason, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let is_one = counts.len() == 1;
    let mut words: Vec<String> = counts
        .iter()
        .take(REASONS_MOST)
        .map(|(reason, count)| if is_one { reason.clone() } else { format!("{reason} ({})", counted(*count, "claim")) })
        .collect();
    if counts.len() > REASONS_MOST {
        words.push("others stand below".to_owned());
    }
    words.join("; ")
}

/// The reason of a verdict in general, for outcomes that were written without theirs.
fn general(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::TooNoisy => "the machine's noise is larger than the differences",
        Verdict::CannotBeJudged => "this machine cannot show it",
        Verdict::Open => "there are too few runs",
        Verdict::Seen | Verdict::NotSeen | Verdict::Predicted | Verdict::PredictedOtherwise => "it was judged",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;
    use super::*;

    fn claim(text: &str, verdict: Verdict, reason: Option<&str>) -> ClaimRecord {
        ClaimRecord {
            text: text.to_owned(),
            published: None,
            verdict,
            words: String::new(),
            ratio: None,
            reason: reason.map(str::to_owned),
            prediction: None,
        }
    }

    fn of(claims: Vec<ClaimRecord>) -> String {
        sentence(&Outcome { claims, ..outcome() })
    }

    #[test]
    fn a_result_is_the_published_claim_and_the_count_of_the_others() {
        let published = ClaimRecord {
            published: Some("x 2.34".to_owned()),
            ratio: Some(1.5),
            ..claim("Rates rise", Verdict::Seen, None)
        };
        assert_eq!(of(vec![published.clone()]), "Rates rise: seen (x 1.50 here, published: x 2.34).");
        let noisy = claim("C", Verdict::TooNoisy, Some("the runs of an arm differ by more than the arms do"));
        let sentence = of(vec![claim("A", Verdict::NotSeen, None), published, noisy]);
        assert_eq!(
            sentence,
            "Rates rise: seen (x 1.50 here, published: x 2.34); of 3 claims, 1 was seen, 1 was not, and nothing is concluded \
             on 1, because the runs of an arm differ by more than the arms do."
        );
    }

    #[test]
    fn nothing_is_concluded_from_noise_or_from_too_small_a_machine() {
        let small = || claim("A", Verdict::CannotBeJudged, Some("it takes 8 CPUs or more, and here there are 2"));
        let noisy = claim("B", Verdict::TooNoisy, None);
        assert_eq!(
            of(vec![small(), noisy, small()]),
            "Nothing could be concluded here, because it takes 8 CPUs or more, and here there are 2 (2 claims); the machine's \
             noise is larger than the differences (1 claim)."
        );
        assert_eq!(of(Vec::new()), "Nothing could be concluded here, because this machine has nothing to compare.");
    }

    #[test]
    fn a_fall_to_almost_nothing_is_said_as_one() {
        let fallen = ClaimRecord { ratio: Some(0.0002), ..claim("Waits fall", Verdict::Seen, None) };
        assert_eq!(of(vec![fallen]), "Waits fall: seen (less than x 0.01 here).");
    }
}
