//! Times comparing, hashing and keying texts, by Unicode's order and by a SQL order, in turns: medians of nanoseconds
//! a text.
//!
//! `cargo run --release -p pikepole-types --example compare_texts`

use pikepole_types::{Collation, SqlType, Value, compare, hash};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 21;

fn main() {
    let unicode = Collation::DEFAULT;
    let sql = unicode.comparing(&SqlType::VarChar(pikepole_types::Length::Max));
    let texts = |form: &dyn Fn(usize) -> String| (0..1_000).map(|at| Value::Str(form(at))).collect::<Vec<_>>();
    let sets = [
        ("ascii", texts(&|at| format!("Customer {at:08}"))),
        ("case", texts(&|at| if at % 2 == 0 { "Customer Number One".into() } else { "CUSTOMER NUMBER ONE".into() })),
        ("hyphens", texts(&|at| format!("{at:04}-co-op-{at:04}"))),
        ("accents", texts(&|at| format!("Café Größe {at:04}"))),
    ];
    for (name, values) in &sets {
        let time = |work: &dyn Fn(Collation), collation| {
            let begun = Instant::now();
            work(collation);
            begun.elapsed().as_nanos() as f64 / values.len() as f64
        };
        let compared = |collation| {
            for pair in values.windows(2) {
                let _ = black_box(compare(&pair[0], &pair[1], collation));
            }
        };
        let hashed = |collation| {
            values.iter().for_each(|value| {
                black_box(hash(value, collation));
            })
        };
        for (what, work) in [("compare", &compared as &dyn Fn(Collation)), ("hash", &hashed)] {
            let mut rounds: Vec<(f64, f64)> = (0..ROUNDS).map(|_| (time(work, unicode), time(work, sql))).collect();
            rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
            let of_unicode = rounds[ROUNDS / 2].0;
            rounds.sort_by(|a, b| a.1.total_cmp(&b.1));
            println!("{name:8} {what:8} unicode {of_unicode:6.1} ns, SQL order {:6.1} ns", rounds[ROUNDS / 2].1);
        }
    }
}
