//! The line of a batch that an error is about, and a caret below what the message names.

use super::{DIM, RED, View, cut, one_line, width};
use pikepole::SqlError;
use std::fmt::Write;
use std::ops::Range;

/// The lines to be shown behind the message; empty when the error tells no line of the batch.
pub(super) fn excerpt(view: &View, error: &SqlError, batch: &str) -> String {
    let Some((at, line)) = error.line.checked_sub(1).and_then(|at| Some((at, batch.lines().nth(at as usize)?))) else {
        return String::new();
    };
    let margin = format!("{:>5} | ", at + 1);
    let room = view.width.map_or(usize::MAX, |width| width.saturating_sub(margin.len() + 1));
    let named = named_place(line, &error.message);
    let from = named.as_ref().map_or(0, |place| start_for(line, place, room));
    let mut shown = String::new();
    let _ = writeln!(shown, "{}{}", view.painted(DIM, &margin), cut(&one_line(&line[from..]), room));
    if let Some(place) = named {
        let before = width(&one_line(&line[from..place.start]));
        let carets = "^".repeat(width(&one_line(&line[place])).max(1).min(room.saturating_sub(before).max(1)));
        let _ = writeln!(shown, "{}{}", " ".repeat(margin.len() + before), view.painted(RED, &carets));
    }
    shown
}

/// Where the line has what the message names in quotes; None where it has not.
fn named_place(line: &str, message: &str) -> Option<Range<usize>> {
    let mut quoted = message.split('\'').skip(1).step_by(2).filter(|name| !name.is_empty());
    quoted.find_map(|name| place_of(line, name).or_else(|| place_of(line, name.rsplit('.').next()?)))
}

/// Where the word stands in the line, and no longer word around it.
fn place_of(line: &str, word: &str) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || "_@#$".contains(c);
    // Small letters have the length of the line's own where both are ASCII; elsewhere only the same letters are found.
    let (line_small, word_small) = (line.to_ascii_lowercase(), word.to_ascii_lowercase());
    let found = line_small.match_indices(&word_small).find(|(at, found)| {
        let before = line[..*at].chars().next_back().filter(|_| word.starts_with(is_word));
        let after = line[at + found.len()..].chars().next().filter(|_| word.ends_with(is_word));
        !word.is_empty() && !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    found.map(|(at, found)| at..at + found.len())
}

/// Where the shown part of a line begins so that the place is in it.
fn start_for(line: &str, place: &Range<usize>, room: usize) -> usize {
    if width(&one_line(&line[..place.end])) < room {
        return 0;
    }
    let mut from = place.start;
    for (at, c) in line[..place.start].char_indices().rev() {
        if width(&one_line(&line[at..place.end])) + 1 >= room || c == '\n' {
            break;
        }
        from = at;
    }
    from
}
