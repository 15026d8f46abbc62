//! Everyday statements: they parse, and what they print parses to the same tree.

use pikepole_tsql::{Batch, parse, split_batches};

/// The files of the corpus. Batches are separated by GO.
const FILES: &[(&str, &str)] = &[
    ("administration", include_str!("corpus/administration.sql")),
    ("batches", include_str!("corpus/batches.sql")),
    ("execute", include_str!("corpus/execute.sql")),
    ("expressions", include_str!("corpus/expressions.sql")),
    ("modification", include_str!("corpus/modification.sql")),
    ("modules", include_str!("corpus/modules.sql")),
    ("select", include_str!("corpus/select.sql")),
    ("tables", include_str!("corpus/tables.sql")),
];

fn corpus() -> impl Iterator<Item = (String, &'static str)> {
    FILES.iter().flat_map(|(file, script)| {
        split_batches(script).into_iter().map(move |batch| (format!("{file}.sql:{}", batch.line), batch.text))
    })
}

fn must_parse(place: &str, text: &str) -> Result<Batch, String> {
    parse(text).map_err(|error| format!("{place}: {error}\n{text}\n"))
}

/// What is wrong with a batch: it does not parse, or what it prints is another tree.
fn round_trip(place: &str, text: &str) -> Result<(), String> {
    let tree = must_parse(place, text)?;
    let printed = tree.to_string();
    let again = must_parse(&format!("{place}, printed"), &printed)?;
    if tree == again { Ok(()) } else { Err(format!("{place}: prints something else\n{text}\n{printed}\n")) }
}

#[test]
fn the_corpus_parses_and_prints() {
    let results: Vec<_> = corpus().map(|(place, text)| round_trip(&place, text)).collect();
    let failures: Vec<_> = results.iter().filter_map(|result| result.as_ref().err().cloned()).collect();
    assert!(failures.is_empty(), "{} of {} fail\n{}", failures.len(), results.len(), failures.join("\n"));
    assert!(results.len() >= 150, "only {} batches", results.len());
}

#[test]
fn line_ends_make_no_difference() {
    for (place, text) in corpus() {
        let windows = text.replace('\n', "\r\n");
        // Texts that span lines differ; there is one, and it is not the point here.
        if !text.contains("line\nbreak") {
            assert!(must_parse(&place, text).unwrap() == must_parse(&place, &windows).unwrap(), "{place}");
        }
    }
}

/// Every beginning and every end of every text is an error or a tree, and never a panic.
#[test]
fn pieces_never_panic() {
    for (_, text) in corpus() {
        for at in (0..text.len()).filter(|at| text.is_char_boundary(*at)) {
            let _ = parse(&text[..at]);
            let _ = parse(&text[at..]);
        }
    }
}

/// Texts near the everyday ones: a word missing, two words exchanged, a word from elsewhere. What still parses prints as itself.
#[test]
fn damaged_texts_are_errors_or_print_as_themselves() {
    let strangers: Vec<&str> = corpus().flat_map(|(_, text)| text.split_whitespace()).collect();
    let mut parsed = 0;
    for (place, text) in corpus() {
        let words: Vec<&str> = text.split_inclusive(char::is_whitespace).collect();
        for at in 0..words.len() {
            let mut missing = words.clone();
            missing.remove(at);
            let mut exchanged = words.clone();
            exchanged.swap(at, (at + 1) % words.len());
            let mut replaced = words.clone();
            let stranger = format!("{} ", strangers[(at * 7919 + text.len()) % strangers.len()]);
            replaced[at] = &stranger;
            for damaged in [missing.concat(), exchanged.concat(), replaced.concat()] {
                if parse(&damaged).is_ok() {
                    parsed += 1;
                    round_trip(&place, &damaged).unwrap_or_else(|failure| panic!("{failure}"));
                }
            }
        }
    }
    assert!(parsed > 1000, "only {parsed} of the damaged texts parse");
}
