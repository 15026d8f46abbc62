//! Random values as TPC-C and YCSB define them.

use std::ops::RangeInclusive;

/// A source of random numbers.
pub use fastrand::Rng;

/// The syllables of last names (TPC-C 4.3.2.3).
const SYLLABLES: [&str; 10] = ["BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"];
/// The constants C of NURand (TPC-C 2.1.6), as BenchBase has them. Those of last names differ by an amount that 2.1.6.1 allows.
const ITEM_C: i32 = 7911;
const CUSTOMER_C: i32 = 259;
const LAST_NAME_LOAD_C: i32 = 157;
const LAST_NAME_RUN_C: i32 = 223;

/// NURand(A, x, y) of TPC-C 2.1.6.
fn non_uniform(random: &mut Rng, a: i32, c: i32, range: RangeInclusive<i32>) -> i32 {
    let (min, max) = (*range.start(), *range.end());
    ((random.i32(0..=a) | random.i32(range)) + c) % (max - min + 1) + min
}

/// The number of an item that an order asks for.
pub fn item_id(random: &mut Rng, items: i32) -> i32 {
    non_uniform(random, 8191, ITEM_C, 1..=items)
}

/// The number of a customer within a district.
pub fn customer_id(random: &mut Rng, customers: i32) -> i32 {
    non_uniform(random, 1023, CUSTOMER_C, 1..=customers)
}

/// The last name of a number from 0 to 999.
pub fn last_name(number: i32) -> String {
    let syllable = |digit: i32| SYLLABLES[digit as usize % 10];
    [syllable(number / 100), syllable(number / 10 % 10), syllable(number % 10)].concat()
}

/// A last name for a customer that is loaded.
pub fn loaded_last_name(random: &mut Rng) -> String {
    last_name(non_uniform(random, 255, LAST_NAME_LOAD_C, 0..=999))
}

/// A last name that a transaction asks for.
pub fn asked_last_name(random: &mut Rng) -> String {
    last_name(non_uniform(random, 255, LAST_NAME_RUN_C, 0..=999))
}

/// A text of letters and digits.
pub fn text(random: &mut Rng, length: RangeInclusive<usize>) -> String {
    let length = random.usize(length);
    (0..length).map(|_| random.alphanumeric()).collect()
}

/// A text of digits.
pub fn digits(random: &mut Rng, length: usize) -> String {
    (0..length).map(|_| random.digit(10)).collect()
}

/// Ranks from 0 on, of which the first are the most frequent: rank `r` has the weight `1 / (r + 1)^skew`. The method is that of
/// Gray et al., "Quickly Generating Billion-Record Synthetic Databases" (SIGMOD 1994), which YCSB uses.
#[derive(Debug, Clone)]
pub struct Zipf {
    count: u64,
    alpha: f64,
    eta: f64,
    /// The sum of all weights, and that of the first two.
    total: f64,
    first_two: f64,
}

impl Zipf {
    /// Ranks of `count` rows, at least 1; `skew` is above 0 and below 1.
    pub fn new(count: u64, skew: f64) -> Zipf {
        let weights = |count: u64| (1..=count).map(|rank| (rank as f64).powf(-skew)).sum::<f64>();
        let (total, first_two) = (weights(count), weights(count.min(2)));
        let eta = (1.0 - (2.0 / count as f64).powf(1.0 - skew)) / (1.0 - first_two / total);
        Zipf { count, alpha: 1.0 / (1.0 - skew), eta, total, first_two }
    }

    /// A rank.
    pub fn next(&self, random: &mut Rng) -> u64 {
        let place = random.f64();
        let weight = place * self.total;
        if weight < 1.0 {
            return 0;
        }
        if weight < self.first_two {
            return 1;
        }
        let rank = self.count as f64 * (self.eta * place - self.eta + 1.0).powf(self.alpha);
        (rank as u64).min(self.count - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_names_are_made_of_syllables() {
        assert_eq!(last_name(0), "BARBARBAR");
        assert_eq!(last_name(371), "PRICALLYOUGHT");
        assert_eq!(last_name(999), "EINGEINGEING");
    }

    #[test]
    fn non_uniform_numbers_follow_their_formula() {
        let (mut random, mut counts) = (Rng::with_seed(1), [0u32; 4]);
        for _ in 0..160_000 {
            counts[non_uniform(&mut random, 3, 1, 0..=3) as usize] += 1;
        }
        // Two numbers of two bits each: their OR is 0 in 1 of 16 cases, 1 or 2 in 3 each, 3 in 9; then 1 is added, modulo 4.
        for (count, expected) in counts.into_iter().zip([90_000, 10_000, 30_000, 30_000]) {
            assert!((f64::from(count) / f64::from(expected) - 1.0).abs() < 0.05, "{counts:?}");
        }
        for _ in 0..10_000 {
            assert!((1..=100_000).contains(&item_id(&mut random, 100_000)));
            assert!((1..=3000).contains(&customer_id(&mut random, 3000)));
        }
    }

    #[test]
    fn texts_have_the_asked_lengths() {
        let mut random = Rng::with_seed(2);
        for _ in 0..1000 {
            assert!((8..=16).contains(&text(&mut random, 8..=16).len()));
        }
        let digits = digits(&mut random, 16);
        assert!(digits.len() == 16 && digits.bytes().all(|byte| byte.is_ascii_digit()));
    }

    #[test]
    fn ranks_are_as_frequent_as_their_weights() {
        const SKEW: f64 = 0.99;
        let zipf = Zipf::new(1000, SKEW);
        let share_of = |rank: u64| ((rank + 1) as f64).powf(-SKEW) / zipf.total;
        let mut random = Rng::with_seed(3);
        let mut counts = vec![0u32; 1000];
        const DRAWN: u32 = 1_000_000;
        for _ in 0..DRAWN {
            counts[zipf.next(&mut random) as usize] += 1;
        }
        for rank in [0, 1] {
            let share = f64::from(counts[rank]) / f64::from(DRAWN);
            assert!((share / share_of(rank as u64) - 1.0).abs() < 0.02, "rank {rank}: {share}");
        }
        // Beyond the first two the method is an approximation of whole groups of ranks.
        let drawn: u32 = counts[100..].iter().sum();
        let expected: f64 = (100..1000).map(share_of).sum();
        assert!((f64::from(drawn) / f64::from(DRAWN) / expected - 1.0).abs() < 0.05, "{drawn}");
    }

    #[test]
    fn a_single_rank_is_always_the_first() {
        let (zipf, mut random) = (Zipf::new(1, 0.99), Rng::with_seed(4));
        assert!((0..100).all(|_| zipf.next(&mut random) == 0));
    }
}
