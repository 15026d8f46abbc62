//! Call trees out of stacks: from the outermost function down, and turned round, from the functions that ran to their callers.

use super::Profile;
use std::collections::HashMap;
use std::fmt::Write;

/// A function with those below it: what it called, or, turned round, what called it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// The function's place among the profile's; none for the root.
    pub function: Option<u32>,
    /// Samples in it or below it.
    pub samples: u64,
    /// The nodes below, those with the most samples first.
    pub below: Vec<Node>,
}

/// Nodes as they are built: those below by function.
#[derive(Default)]
struct Growing {
    samples: u64,
    below: HashMap<u32, Growing>,
}

impl Growing {
    fn add(&mut self, stack: impl Iterator<Item = u32>, samples: u64) {
        self.samples += samples;
        let mut node = self;
        for function in stack {
            node = node.below.entry(function).or_default();
            node.samples += samples;
        }
    }

    fn done(self, function: Option<u32>) -> Node {
        let mut below: Vec<Node> = self.below.into_iter().map(|(function, node)| node.done(Some(function))).collect();
        below.sort_by_key(|node| (std::cmp::Reverse(node.samples), node.function));
        Node { function, samples: self.samples, below }
    }
}

/// What called what: the root's samples are all.
pub(super) fn calls(profile: &Profile) -> Node {
    let mut root = Growing::default();
    for stack in &profile.stacks {
        root.add(stack.frames.iter().rev().copied(), stack.samples);
    }
    root.done(None)
}

/// The inverted tree: functions that ran, and below each who called it.
pub(super) fn callers(profile: &Profile) -> Node {
    let mut root = Growing::default();
    for stack in &profile.stacks {
        root.add(stack.frames.iter().copied(), stack.samples);
    }
    root.done(None)
}

/// The inverted tree as text: what has at least this percentage of all samples, to this depth.
pub(super) fn text(profile: &Profile, percent_least: f64, depth_most: usize) -> String {
    let root = callers(profile);
    let mut text = String::new();
    let all = root.samples.max(1) as f64;
    lines(&mut text, profile, &root, all, percent_least, 0, depth_most);
    text
}

fn lines(text: &mut String, profile: &Profile, node: &Node, all: f64, least: f64, depth: usize, most: usize) {
    if depth == most {
        return;
    }
    for below in &node.below {
        let percent = 100.0 * below.samples as f64 / all;
        if percent < least {
            break;
        }
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{percent:6.2}%  {}{}", "  ".repeat(depth), profile.name(below.function));
        lines(text, profile, below, all, least, depth + 1, most);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::profile;
    use super::*;

    #[test]
    fn trees_add_up_and_turn_round() {
        let profile = profile();
        let down = calls(&profile);
        assert_eq!((down.samples, down.below.len()), (100, 1));
        let main = &down.below[0];
        assert_eq!((profile.name(main.function), main.samples), ("main", 100));
        let shares: Vec<(&str, u64)> =
            main.below.iter().map(|node| (profile.name(node.function), node.samples)).collect();
        assert_eq!(shares, [("append", 60), ("spin", 30), ("begin", 10)]);
        let up = callers(&profile);
        let shares: Vec<(&str, u64)> =
            up.below.iter().map(|node| (profile.name(node.function), node.samples)).collect();
        assert_eq!(shares, [("spin", 60), ("append", 40)], "what ran");
        let of_spin: Vec<(&str, u64)> =
            up.below[0].below.iter().map(|node| (profile.name(node.function), node.samples)).collect();
        assert_eq!(of_spin, [("main", 30), ("append", 20), ("begin", 10)], "who called it");
    }

    #[test]
    fn the_text_leaves_out_what_is_small_or_deep() {
        let all =
            " 60.00%  spin\n 30.00%    main\n 20.00%    append\n 10.00%    begin\n 40.00%  append\n 40.00%    main\n";
        assert_eq!(text(&profile(), 1.0, 2), all);
        assert_eq!(text(&profile(), 50.0, 9), " 60.00%  spin\n");
    }
}
