//! The page of a prediction: its curves over sessions with the published points, and the published figures beside it.

use super::svg::{self, Line};
use super::{document, escape, figure};
use crate::experiment::Spread;
use crate::predict::{Curve, POINTS, Prediction};
use crate::show::counted;
use std::fmt::Write;

/// The page.
pub fn prediction_page(prediction: &Prediction) -> String {
    let mut body = String::new();
    let text = prediction.text();
    let head: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).collect();
    let title = format!("Predicted: {}", prediction.machine);
    // Writing to a string cannot fail; so everywhere below.
    let _ = write!(
        body,
        "<p class='meta'>pikepole lab predict</p><h1>{}</h1><p class='question'>{}</p><p class='meta'>{}</p>",
        escape(&title),
        escape(&result(prediction)),
        head.iter().map(|line| escape(line)).collect::<Vec<_>>().join("<br>")
    );
    for durability in ["DELAYED", "FULL"] {
        let curves: Vec<&Curve> = prediction.curves.iter().filter(|curve| curve.durability == durability).collect();
        if !curves.is_empty() {
            chart(&mut body, prediction, durability, &curves);
        }
    }
    if !prediction.figures.is_empty() {
        published(&mut body, prediction);
    }
    let json = serde_json::to_string(prediction).unwrap_or_default().replace("</", "<\\/");
    let _ = write!(body, "<script type='application/json' id='prediction'>{json}</script>");
    document(&title, &body)
}

/// One sentence of result.
fn result(prediction: &Prediction) -> String {
    let best = |curve: &Curve| {
        let rate = |point: &crate::predict::CurvePoint| point.rows_per_second.median;
        let most = curve.points.iter().max_by(|a, b| rate(a).total_cmp(&rate(b)))?;
        let figure = crate::experiment::figure(rate(most));
        Some(format!(
            "{} ({}): at most {figure} rows a second, with {}",
            curve.name(),
            curve.durability,
            counted(most.sessions, "session")
        ))
    };
    let mut sentences: Vec<String> = prediction.curves.iter().filter_map(best).collect();
    if !prediction.figures.is_empty() {
        sentences.push(prediction.inside());
    }
    sentences.join("; ")
}

fn chart(body: &mut String, prediction: &Prediction, durability: &str, curves: &[&Curve]) {
    let is_published = durability == "DELAYED" && !prediction.figures.is_empty();
    let points = if is_published { &POINTS[..] } else { &[] };
    let mut sessions: Vec<usize> =
        curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.sessions)).collect();
    sessions.extend(points.iter().map(|(sessions, _, _)| *sessions));
    sessions.sort_unstable();
    sessions.dedup();
    let names: Vec<String> = curves.iter().map(|curve| curve.name()).collect();
    let of_curve = |curve: &&Curve| {
        let spread = |sessions: &usize| {
            let point = curve.points.iter().find(|point| point.sessions == *sessions)?;
            let rate = &point.rows_per_second;
            Some(Spread { median: rate.median, low: rate.low, high: rate.high, count: prediction.draws })
        };
        sessions.iter().map(spread).collect::<Vec<_>>()
    };
    let mut lines: Vec<Line<'_>> = Vec::new();
    for (place, curve) in curves.iter().enumerate() {
        lines.push(Line { place, name: &names[place], figures: of_curve(curve) });
    }
    let mut near: Vec<Line<'_>> = Vec::new();
    for (number, (at, rate, name)) in points.iter().enumerate() {
        let spread = Spread { median: *rate, low: *rate, high: *rate, count: 1 };
        let figures = sessions.iter().map(|sessions| (sessions == at).then_some(spread)).collect();
        near.push(Line { place: curves.len() + number, name, figures });
    }
    let all = names.iter().map(String::as_str).chain(points.iter().map(|(_, _, name)| *name));
    lines.extend(near);
    let title = "rows a second, by sessions: the middle of the draws, whiskers from the least to the most";
    card(body, &format!("{durability} durability"), title, &all.collect::<Vec<_>>(), &sessions, &lines);
    if is_published {
        paced(body, prediction);
    }
}

fn card(body: &mut String, head: &str, title: &str, names: &[&str], sessions: &[usize], lines: &[Line<'_>]) {
    let legend = |(place, name): (usize, &&str)| {
        format!("<span><svg viewBox='-7 -7 14 14'>{}</svg>{}</span>", svg::mark(place, 0.0, 0.0), escape(name))
    };
    let legend: String = names.iter().enumerate().map(legend).collect();
    let _ = write!(body, "<h2>{head}</h2><div class='card'><div class='legend'>{legend}</div><div class='charts'>");
    figure(body, title, &svg::over_sessions(title, sessions, lines));
    body.push_str("</div></div>");
}

/// The published points beside predictions at the published pace, which is far below this engine's: a chart of its own.
fn paced(body: &mut String, prediction: &Prediction) {
    let mut sessions: Vec<usize> = POINTS.iter().map(|(sessions, _, _)| *sessions).collect();
    sessions.sort_unstable();
    let predicted = |sessions: &usize| {
        let prefix = format!("inserts/s, {sessions} threads");
        let found = prediction.figures.iter().find(|figure| figure.what.starts_with(&prefix))?;
        let rate = &found.at_pace;
        Some(Spread { median: rate.median, low: rate.low, high: rate.high, count: prediction.draws })
    };
    let published = |sessions: &usize| {
        let (_, rate, _) = POINTS.iter().find(|(at, _, _)| at == sessions)?;
        Some(Spread { median: *rate, low: *rate, high: *rate, count: 1 })
    };
    let names = ["predicted at the published pace", "published"];
    let lines = [
        Line { place: 0, name: names[0], figures: sessions.iter().map(predicted).collect() },
        Line { place: 1, name: names[1], figures: sessions.iter().map(published).collect() },
    ];
    let title = "rows a second: 36 threads with 8015, 38 without the log writer's core, 40 with the default mask";
    card(body, "At the published pace", title, &names, &sessions, &lines);
}

fn published(body: &mut String, prediction: &Prediction) {
    body.push_str(
        "<h2>Published figures</h2><div class='card'><p>By constants alone: this engine's code on the published hardware. At the \
         published pace: an insert takes the CPU time with which one figure comes out, which is fitted; the others are tested.</p>\
         <div class='wide'><table><tr><th>figure</th><th class='n'>published</th><th class='n'>constants alone</th><th>inside</th>\
         <th class='n'>published pace</th><th>inside</th><th>the model</th></tr>",
    );
    let word = |inside: bool| if inside { "yes" } else { "<b>no</b>" };
    for figure in &prediction.figures {
        let _ = write!(
            body,
            "<tr><td>{}</td><td class='n'>{}</td><td class='n'>{}</td><td>{}</td><td class='n'>{}</td><td>{}</td><td>{}</td></tr>",
            escape(figure.what),
            escape(figure.published),
            figure.shown(&figure.by_constants),
            word(figure.by_constants_inside),
            figure.shown(&figure.at_pace),
            figure.at_pace_inside.map_or("fitted", word),
            escape(figure.note)
        );
    }
    let _ = write!(body, "</table></div><p>{}</p></div>", escape(&prediction.inside()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_a_chart_the_points_and_the_figures() {
        let page = prediction_page(&crate::predict::example());
        assert_eq!(page.matches("<svg viewBox='0 0").count(), 2, "{page}");
        for phrase in
            ["Predicted: 2x10x2", "published, default mask", "the ratio &lt;of&gt; both", "<b>no</b>", "fitted"]
        {
            assert!(page.contains(phrase), "{phrase}\n{page}");
        }
        let (shown, _) = page.split_once("<script").expect("the figures are in it as JSON");
        assert!(!shown.contains("NaN") && !shown.contains("<of>"), "{shown}");
    }
}
