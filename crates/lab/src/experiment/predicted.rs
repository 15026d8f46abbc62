//! The predictor's verdicts: what a larger machine would say to the claims that this one cannot judge.

use super::Verdict;
use super::claims::{Here, PUBLISHED_CLAIMS};
use super::record::{Outcome, PredictionRecord};
use crate::predict::{Answer, ClaimPredictions};

/// The verdict of an answer.
fn verdict(answer: &Answer) -> Verdict {
    if answer.is_inside { Verdict::Predicted } else { Verdict::PredictedOtherwise }
}

/// The numbers of the published claims that a claim of an experiment judges.
fn numbers(experiment: &str, text: &str) -> Vec<usize> {
    let judges = |here: &Here| matches!(here, Here::Judged(name, claim) if *name == experiment && *claim == text);
    (1..).zip(&PUBLISHED_CLAIMS).filter(|(_, claim)| judges(&claim.here)).map(|(number, _)| number).collect()
}

/// Puts the predictor's answers beside the claims of an outcome that this machine cannot judge.
pub fn predict_outcome(outcome: &mut Outcome, predictions: &ClaimPredictions) {
    for claim in outcome.claims.iter_mut().filter(|claim| claim.verdict == Verdict::CannotBeJudged) {
        let answer =
            predictions.of_experiment(&outcome.experiment, &claim.text, &numbers(&outcome.experiment, &claim.text));
        claim.prediction = answer.map(|answer| PredictionRecord {
            verdict: verdict(&answer),
            words: format!("{}: {}", predictions.source, answer.words),
        });
    }
}

/// The predictor's verdict on the published claim of this number; `None` where it has none.
pub fn predicted_verdict(number: usize, predictions: Option<&ClaimPredictions>) -> Option<Verdict> {
    predictions.and_then(|predictions| predictions.of_number(number)).as_ref().map(verdict)
}

/// The predictor's answer to the published claim of this number, for the table of all claims; empty where it has none.
pub fn prediction_words(number: usize, predictions: Option<&ClaimPredictions>) -> String {
    let answer = predictions.and_then(|predictions| predictions.of_number(number));
    answer.map_or_else(String::new, |answer| format!("{}: {}", verdict(&answer).words(), answer.intervals))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::example_outcome;
    use crate::predict::example_predictions;

    #[test]
    fn what_cannot_be_judged_is_predicted_or_predicted_otherwise() {
        let text = "XDESMGR spins rise: the next bottleneck";
        for (inside, wanted) in [(true, Verdict::Predicted), (false, Verdict::PredictedOtherwise)] {
            let mut outcome = example_outcome();
            text.clone_into(&mut outcome.claims[0].text);
            outcome.claims[0].verdict = Verdict::CannotBeJudged;
            predict_outcome(&mut outcome, &example_predictions(inside));
            let found = outcome.claims[0].prediction.clone().expect("a prediction");
            assert_eq!(found.verdict, wanted, "{found:?}");
            let said = if inside { "inside" } else { "outside" };
            assert!(found.words.contains(&format!("1.50 to 2.50 (published: 2.34, {said})")), "{found:?}");
            assert_eq!(outcome.claims[0].verdict, Verdict::CannotBeJudged, "beside it, not in its place");
        }
    }

    #[test]
    fn what_was_judged_here_needs_no_prediction_and_what_no_model_has_gets_none() {
        let mut outcome = example_outcome();
        outcome.claims[0].text = "XDESMGR spins rise: the next bottleneck".to_owned();
        predict_outcome(&mut outcome, &example_predictions(true));
        assert_eq!((outcome.claims[0].verdict, &outcome.claims[0].prediction), (Verdict::Seen, &None));
        outcome.claims[0].verdict = Verdict::CannotBeJudged;
        outcome.claims[0].text = "It is the log writer's core that matters, not any core of its node".to_owned();
        predict_outcome(&mut outcome, &example_predictions(true));
        assert_eq!(outcome.claims[0].prediction, None);
    }

    #[test]
    fn the_table_has_the_intervals() {
        let predictions = example_predictions(false);
        assert_eq!(prediction_words(6, Some(&predictions)), "predicted otherwise: 1.50 to 2.50");
        assert_eq!(prediction_words(1, Some(&example_predictions(true))), "predicted: 1.50 to 2.50");
        assert_eq!(
            (prediction_words(1, None), prediction_words(9, Some(&predictions))),
            (String::new(), String::new())
        );
    }
}
