//! A picture of a terminal, for documents: what a command printed, as SVG. Nothing in it is drawn by hand.

use std::fmt::Write as _;
use std::io;
use std::path::Path;
use std::process::Command;

/// Columns of the terminal: longer lines go on in the next one.
const COLUMNS: usize = 112;
/// Rows of the terminal: below them a row of dots stands for the rest.
const ROWS: usize = 33;
/// Sizes in pixels: a character's cell, the space around the text, the bar above it.
const CELL: (f32, usize) = (8.4, 19);
const MARGIN: usize = 18;
const BAR: usize = 34;

/// Runs a command and writes what it printed as a picture, below the line that was typed.
pub fn draw(picture: &Path, typed: &str, command: &mut Command) -> io::Result<()> {
    let output = command.env("COLUMNS", COLUMNS.to_string()).env("NO_COLOR", "1").output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        return Err(io::Error::other(format!("{}: {said}", output.status)));
    }
    std::fs::write(picture, svg(typed, &String::from_utf8_lossy(&output.stdout)))
}

/// The picture of a terminal.
fn svg(typed: &str, printed: &str) -> String {
    let mut lines: Vec<String> = printed.trim_end().lines().flat_map(cut).collect();
    if lines.len() > ROWS {
        lines.truncate(ROWS);
        lines.push("...".to_owned());
    }
    let height = BAR + MARGIN + (lines.len() + 1) * CELL.1;
    let width = (COLUMNS as f32 * CELL.0).ceil() as usize + 2 * MARGIN;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\">\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1d2430\"/>\n\
         <circle cx=\"22\" cy=\"17\" r=\"6\" fill=\"#e0665a\"/><circle cx=\"42\" cy=\"17\" r=\"6\" fill=\"#d9a83f\"/>\
         <circle cx=\"62\" cy=\"17\" r=\"6\" fill=\"#5fae5a\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace\" font-size=\"14\" \
         fill=\"#d5dbe5\" xml:space=\"preserve\">\n"
    );
    let mut add = |line: &str, row: usize, colour: &str| {
        // The length keeps columns below each other, whatever the font.
        let length = line.chars().count() as f32 * CELL.0;
        let y = BAR + row * CELL.1 + 14;
        let _infallible = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{y}\"{colour} textLength=\"{length:.1}\" lengthAdjust=\"spacingAndGlyphs\">{}</text>",
            escaped(line)
        );
    };
    add(&format!("$ {typed}"), 0, " fill=\"#8fd18a\"");
    for (line, row) in lines.iter().zip(1..).filter(|(line, _)| !line.is_empty()) {
        add(line, row, "");
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// A line as the terminal shows it: in as many rows as it needs.
fn cut(line: &str) -> Vec<String> {
    let characters: Vec<char> = line.chars().collect();
    if characters.is_empty() {
        return vec![String::new()];
    }
    characters.chunks(COLUMNS).map(|row| row.iter().collect::<String>().trim_end().to_owned()).collect()
}

/// A text with blanks that no reader of SVG drops.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace(' ', "\u{a0}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_is_in_the_picture() {
        let printed = format!("a < b & c\n\n{}\n", "x".repeat(COLUMNS + 1));
        let picture = svg("pikepole demo", &printed);
        let rows: Vec<&str> = picture
            .lines()
            .filter_map(|line| line.strip_suffix("</text>")?.rsplit_once('>'))
            .map(|(_, row)| row)
            .collect();
        let long = "x".repeat(COLUMNS);
        assert_eq!(rows, ["$\u{a0}pikepole\u{a0}demo", "a\u{a0}&lt;\u{a0}b\u{a0}&amp;\u{a0}c", &long, "x"]);
    }

    #[test]
    fn a_long_output_ends_with_dots() {
        let picture = svg("pikepole demo", &"line\n".repeat(ROWS + 1));
        assert_eq!((picture.matches(">line<").count(), picture.matches(">...<").count()), (ROWS, 1));
    }

    #[test]
    fn a_command_that_fails_gives_no_picture() {
        let picture = std::env::temp_dir().join(format!("pikepole-picture-{}.svg", std::process::id()));
        assert!(draw(&picture, "false", &mut Command::new("false")).is_err());
        assert!(!picture.exists());
    }
}
